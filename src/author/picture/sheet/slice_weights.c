/*
 * Weights at the forms of a sheet: which of them have a weight below -0.1 or above 1.1, as maps of weights are hatched.
 * Such a form takes more of an example than was sculpted, or its opposite. Beyond the range that is to be expected;
 * between examples it may be a surprise. Layers whose axes are their weights are left out, since a slider beyond 1 is
 * what was asked for.
 */
#include "author/picture/sheet/slice.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 1e-6 /* weights that are bounded come near to the bound */

double exi_outside(double weight) {
    const double below = EXI_OUTSIDE_LOW - weight, above = weight - EXI_OUTSIDE_HIGH;
    const double far = below > above ? below : above;
    return far > SLACK ? far : 0;
}

static bool is_weighed(const exi_slice *s, int layer) {
    const ex_weigher_info *info = ex_weigher_get_info(ex_rig_weigher(s->rig, layer));
    return info->has_points && !info->is_driven &&
           (s->def->textures || ex_rig_layer_stage(s->rig, layer) != EX_STAGE_TEXTURE);
}

/* Finds the weight that is farthest outside; weights are of all layers. */
static exi_far find_farthest(const exi_slice *s, const double *weights) {
    exi_far found = {.weight = 0};
    for (int layer = 0; layer < ex_rig_layer_count(s->rig); layer++) {
        const double *own = weights + ex_rig_first_example(s->rig, layer);
        const int count = is_weighed(s, layer) ? ex_weigher_example_count(ex_rig_weigher(s->rig, layer)) : 0;
        for (int k = 0; k < count; k++)
            if (exi_outside(own[k]) > exi_outside(found.weight))
                found = (exi_far){layer, k, own[k]};
    }
    return found;
}

ex_result exi_slice_weigh(exi_slice *s, ex_error *error) {
    const ex_rig *rig = s->rig;
    const ex_pose *from = s->def->pose;
    ex_pose pose = ex_pose_create(rig);
    double *weights = exi_array_allocate((size_t)ex_rig_example_count(rig), sizeof *weights);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    const bool good = pose.inputs && weights && scratch;
    s->outside_count = 0;
    s->farthest = 0;
    if (good && from && from->driver)
        pose.driver = from->driver;
    if (good && from && from->inputs && ex_rig_pose_size(rig) > 0)
        memcpy(pose.inputs, from->inputs, (size_t)ex_rig_pose_size(rig) * sizeof *from->inputs);
    if (good && from && from->joints && ex_rig_joint_count(rig) > 0)
        memcpy(pose.joints, from->joints, (size_t)ex_rig_joint_count(rig) * sizeof *from->joints);
    for (int i = 0; good && i < exi_slice_cell_count(s); i++) {
        exi_cell *cell = &s->cells[i];
        for (int a = 0; a < s->axis_count; a++)
            ex_rig_set_input(rig, s->axes[a].input, &cell->values[a], &pose);
        ex_rig_evaluate(rig, &pose, &(ex_output){.weights = weights}, NULL, scratch);
        cell->far = find_farthest(s, weights);
        s->outside_count += exi_outside(cell->far.weight) > 0;
        if (exi_outside(cell->far.weight) > exi_outside(s->cells[s->farthest].far.weight))
            s->farthest = i;
    }
    free(pose.inputs);
    free(weights);
    free(scratch);
    return good ? EX_OK : ex_error_memory(error, "the weights of a sheet", 0);
}

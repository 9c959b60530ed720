/*
 * edit_space - change a space at run time: move an example, and see the form change, in microseconds.
 *
 *   edit_space RIG.glb
 *
 * The rig is unchanged. The edit makes a new weigher, and evaluation uses it instead of the layer's own.
 */
#include "read_file.h"

#include <exemplar/rig_inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words) {
    ex_weigher *edited = NULL;
    ex_error error = {0};
    if (count != 2) {
        fprintf(stderr, "usage: edit_space RIG.glb\n");
        return 2;
    }
    ex_rig *rig = read_rig(words[1]);
    if (!rig)
        return 1;
    const ex_weigher *weigher = ex_rig_weigher(rig, 0);
    const int examples = ex_weigher_example_count(weigher), dimension = ex_weigher_dimension(weigher);

    /* Move the first example a tenth of the way to the last one. */
    double *at = malloc((size_t)dimension * sizeof *at);
    const double *first = ex_weigher_point(weigher, 0), *last = ex_weigher_point(weigher, examples - 1);
    for (int i = 0; i < dimension; i++)
        at[i] = first[i] + 0.1 * (last[i] - first[i]);
    const ex_edit move = {.kind = EX_EDIT_MOVE_EXAMPLE, .index = 0, .at = at};
    if (ex_weigher_edit(weigher, &move, 1, NULL, &edited, &error) != EX_OK) {
        fprintf(stderr, "edit_space: %s\n", error.text);
        free(at);
        ex_rig_destroy(rig);
        return 1;
    }

    /* At its old point the first example had weight 1; now the others have a share there. */
    const ex_weigher **weighers = calloc((size_t)ex_rig_layer_count(rig), sizeof *weighers);
    double *weights = malloc((size_t)ex_rig_example_count(rig) * sizeof *weights);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    const ex_output output = {.weights = weights};
    const ex_pose pose = {.inputs = malloc((size_t)ex_rig_pose_size(rig) * sizeof(double))};
    ex_rig_rest_pose(rig, &pose);
    memcpy(pose.inputs, first, (size_t)dimension * sizeof *first); /* all inputs of the rig are dials of this layer */
    for (int pass = 0; pass < 2; pass++) {
        weighers[0] = pass == 0 ? NULL : edited; /* NULL: the rig's own */
        ex_rig_evaluate(rig, &pose, &output, &(ex_evaluation){.weighers = weighers}, scratch);
        printf("%s\n", pass == 0 ? "before" : "after");
        for (int k = 0; k < examples; k++)
            printf("  %-12s %.4f\n", ex_rig_example_name(rig, 0, k), weights[k]);
    }
    free(pose.inputs);
    free(scratch);
    free(weights);
    free(weighers);
    free(at);
    ex_weigher_destroy(edited);
    ex_rig_destroy(rig);
    return 0;
}

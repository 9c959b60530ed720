/*
 * Refits the cage (Allen, Curless, Popovic, section 4.3): finds the control points A whose surface passes through the
 * displaced one at the control points, M A = V, at the pose in which it was measured. Each is then moved back to the
 * reference pose by its skinning.
 *
 * A cage vertex keeps its number at every level, so V are the first displaced vertices and M their rows. M is well
 * conditioned if most vertices have four edges (|M^-1| is 9 for a regular Catmull-Clark cage), and singular for a cube:
 * 3/8 - 1/2 + 1/8. So steps
 *
 *     A += (M^T M + e I)^-1 M^T (V - M A)
 *
 * are taken from the present cage: the components that M determines are exact after a few of them, and the others do
 * not change.
 */
#include "author/scan/map/map.h"

#include "author/base/array.h"
#include "author/solve/solve.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RIDGE 1e-6
enum { STEPS = 4 };

/* M by rows, for the cage's vertices only, and matrices derived from it. */
typedef struct fitting {
    int n;
    int *offsets, *indices; /* of all vertices of the level */
    double *rows;
    int *starts, *lower; /* M^T M + e I */
    double *values;
    double *wanted, *found, *step; /* [n][3]: V, A, and the right-hand side and solution */
} fitting;

static void close_fitting(fitting *f) {
    free(f->offsets);
    free(f->indices);
    free(f->rows);
    free(f->starts);
    free(f->lower);
    free(f->values);
    free(f->wanted);
    free(f->found);
    free(f->step);
}

/* ---- the matrix ---- */

static bool read_rows(const ex_stencils *stencils, int level, fitting *f) {
    const size_t count = level == 0 ? 0 : (size_t)ex_stencils_weight_count(stencils, level);
    f->offsets = exi_array_allocate((size_t)ex_stencils_vertex_count(stencils, level) + 1, sizeof *f->offsets);
    f->indices = exi_array_allocate(count, sizeof *f->indices);
    f->rows = exi_array_allocate(count, sizeof *f->rows);
    if (!f->offsets || !f->indices || !f->rows)
        return false;
    ex_stencils_read(stencils, level, f->offsets, f->indices, f->rows, NULL);
    return true;
}

/* Computes column j of M^T M from row j on: the rows of M that contain j, times their other entries. */
static bool multiply(fitting *f) {
    const size_t n = (size_t)f->n, entries = (size_t)f->offsets[f->n];
    int *heads = exi_array_allocate(n, sizeof *heads), *nexts = exi_array_allocate(entries, sizeof *nexts);
    int *row_of = exi_array_allocate(entries, sizeof *row_of);
    double *sums = calloc(n + 1, sizeof *sums);
    size_t capacity = 0, value_capacity = 0;
    f->starts = exi_array_allocate(n + 1, sizeof *f->starts);
    bool good = heads && nexts && row_of && sums && f->starts;
    for (size_t j = 0; good && j < n; j++)
        heads[j] = -1;
    for (int i = 0; good && i < f->n; i++)
        for (int e = f->offsets[i]; e < f->offsets[i + 1]; e++) {
            row_of[e] = i;
            nexts[e] = heads[f->indices[e]];
            heads[f->indices[e]] = e;
        }
    for (int j = 0, count = 0; good && j < f->n; j++) {
        sums[j] = RIDGE;
        for (int e = heads[j]; e >= 0; e = nexts[e])
            for (int k = f->offsets[row_of[e]]; k < f->offsets[row_of[e] + 1]; k++)
                sums[f->indices[k]] += f->rows[e] * f->rows[k];
        f->starts[j] = count;
        for (int k = j; good && k < f->n; k++) {
            if (sums[k] == 0)
                continue;
            int *lower = exi_array_grow(f->lower, &capacity, (size_t)count + 1, sizeof *lower);
            f->lower = lower ? lower : f->lower;
            double *values = exi_array_grow(f->values, &value_capacity, (size_t)count + 1, sizeof *values);
            f->values = values ? values : f->values;
            good = lower && values;
            if (good) {
                f->lower[count] = k;
                f->values[count++] = sums[k];
            }
        }
        f->starts[j + 1] = count;
        memset(sums, 0, n * sizeof *sums);
    }
    free(heads);
    free(nexts);
    free(row_of);
    free(sums);
    return good;
}

/* ---- the solve ---- */

/* step = M^T (wanted - M found) */
static void find_residual(fitting *f) {
    memset(f->step, 0, 3 * (size_t)f->n * sizeof *f->step);
    for (int i = 0; i < f->n; i++)
        for (size_t c = 0; c < 3; c++) {
            double left = f->wanted[3 * (size_t)i + c];
            for (int e = f->offsets[i]; e < f->offsets[i + 1]; e++)
                left -= f->rows[e] * f->found[3 * (size_t)f->indices[e] + c];
            for (int e = f->offsets[i]; e < f->offsets[i + 1]; e++)
                f->step[3 * (size_t)f->indices[e] + c] += f->rows[e] * left;
        }
}

static ex_result solve(fitting *f, ex_error *error) {
    const exi_symmetric system = {f->n, f->starts, f->lower, f->values};
    exi_factor *factor = NULL;
    ex_result result = exi_factor_create(&system, NULL, &factor, error);
    if (result != EX_OK)
        return ex_error_within(error, result, "refitting the template");
    void *work = malloc(exi_factor_work_size(factor));
    if (!work)
        result = ex_error_memory(error, "refitting the template", exi_factor_work_size(factor));
    for (int s = 0; work && s < STEPS; s++) {
        find_residual(f);
        exi_factor_solve(factor, f->step, work);
        for (size_t i = 0; i < 3 * (size_t)f->n; i++)
            f->found[i] += f->step[i];
    }
    free(work);
    exi_factor_destroy(factor);
    return result;
}

/* Computes V and the present cage at the pose. */
static ex_result read_forms(const ex_rig *rig, int level, const ex_transform *joints, const ex_displacement_map *map,
                            fitting *f, ex_error *error) {
    exi_map_surface surface = {0}, cage = {0};
    const size_t size = 3 * (size_t)f->n;
    f->wanted = exi_array_allocate(size, sizeof *f->wanted);
    f->found = exi_array_allocate(size, sizeof *f->found);
    f->step = exi_array_allocate(size, sizeof *f->step);
    ex_result result = f->wanted && f->found && f->step
                           ? exi_map_surface_make(rig, level, joints, NULL, &surface, error)
                           : ex_error_memory(error, "the cage", size * 24);
    if (result == EX_OK)
        result = exi_map_surface_make(rig, 0, joints, NULL, &cage, error);
    for (int i = 0; result == EX_OK && i < f->n; i++) {
        exi_map_displace(&surface, map, i, f->wanted + 3 * (size_t)i);
        for (size_t c = 0; c < 3; c++)
            f->found[3 * (size_t)i + c] = (double)cage.positions[3 * (size_t)i + c];
    }
    exi_map_surface_free(&surface);
    exi_map_surface_free(&cage);
    return result;
}

/* ---- back to the reference pose ---- */

static ex_result unpose(const ex_rig *rig, const ex_transform *joints, float *positions, ex_error *error) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    const ex_skin *skin = ex_rig_skin(rig);
    if (!skeleton || !skin)
        return EX_OK;
    const size_t count = (size_t)ex_rig_joint_count(rig), size = 3 * (size_t)ex_rig_vertex_count(rig);
    const ex_skinning method = ex_rig_skinning(rig);
    float *matrices = exi_array_allocate(12 * count, sizeof *matrices), *centres = exi_array_allocate(3 * count, 4);
    float *turns = exi_array_allocate(4 * count, sizeof *turns);
    float *rest = exi_array_allocate(size, sizeof *rest);
    double *out = exi_array_allocate(size, sizeof *out);
    void *scratch = malloc(ex_skeleton_scratch_size(skeleton) + 1);
    void *memory = malloc(ex_palette_size(method, (int)count));
    const bool good = matrices && centres && turns && rest && out && scratch && memory;
    if (good) {
        ex_skeleton_evaluate(skeleton, &(ex_skeleton_input){.locals = joints},
                             &(ex_skeleton_output){.matrices = matrices, .centres = centres, .turns = turns}, scratch);
        const ex_palette *palette = ex_palette_make(&(ex_palette_def){.method = method,
                                                                      .joint_count = (int)count,
                                                                      .matrices = matrices,
                                                                      .centres = centres,
                                                                      .turns = turns,
                                                                      .scale = ex_skeleton_scale(skeleton)},
                                                    memory);
        ex_rig_rest_mesh(rig, rest);
        ex_skin_unpose(skin, palette, &(ex_unpose_job){.posed = positions, .rest = rest, .out = out});
        for (size_t i = 0; i < size; i++)
            positions[i] = (float)out[i];
    }
    free(matrices);
    free(centres);
    free(turns);
    free(rest);
    free(out);
    free(scratch);
    free(memory);
    return good ? EX_OK : ex_error_memory(error, "un-posing the cage", count * 200 + size * 12);
}

/* ---- the entry point ---- */

ex_result ex_displacement_map_refit(const ex_rig *rig, int level, const ex_transform *joints,
                                    const ex_displacement_map *map, float *positions, ex_error *error) {
    if (!rig || !map || !positions)
        return exi_misuse_error(error, __func__, "no rig, no map, or no pointer for the positions");
    if (level == 0 || ex_rig_level_vertex_count(rig, level) == 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "refitting needs a level of subdivision that the template has; it has no level %d", level);
    fitting f = {.n = ex_rig_vertex_count(rig)};
    ex_result result = exi_map_check(map, ex_rig_level_vertex_count(rig, level), "the map", error);
    if (result == EX_OK)
        result = read_forms(rig, level, joints, map, &f, error);
    if (result == EX_OK)
        result = read_rows(ex_rig_stencils(rig), level, &f) && multiply(&f)
                     ? solve(&f, error)
                     : ex_error_memory(error, "refitting the template", (size_t)f.n * 400);
    for (size_t i = 0; result == EX_OK && i < 3 * (size_t)f.n; i++)
        positions[i] = (float)f.found[i];
    if (result == EX_OK)
        result = unpose(rig, joints, positions, error);
    close_fitting(&f);
    return result;
}

/*
 * from_arrays - make a rig from arrays, without files: a square that becomes wide, tall, or both.
 *
 * Three examples of the same four vertices are placed in a space of two axes. The rig interpolates between them and
 * extrapolates beyond them.
 */
#include <exemplar/rig_create.h>
#include <stdio.h>
#include <stdlib.h>

/* The mesh, and the difference of each example from it. */
static const float square[4][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
static const uint32_t triangles[2][3] = {{0, 1, 2}, {0, 2, 3}}, face_sizes[1] = {4}, corners[4] = {0, 1, 2, 3};
static const float none[4][3], wide[4][3] = {{0}, {1, 0, 0}, {1, 0, 0}, {0}},
                               tall[4][3] = {{0}, {0}, {0, 1, 0}, {0, 1, 0}};

static ex_result make_rig(ex_rig **rig, ex_error *error) {
    /* Points of the examples: [example][axis]. */
    static const double points[3][2] = {{0, 0}, {1, 0}, {0, 1}};
    static const char *const axis_names[] = {"width", "height"};
    static const char *const example_names[] = {"square", "wide", "tall"};
    const float *const deltas[] = {none[0], wide[0], tall[0]};
    const ex_axis axes[] = {ex_axis_scalar(0, 1, 0), ex_axis_scalar(0, 1, 0)};

    ex_layer_def layer = {.name = "size",
                          .weigh = ex_weigher_def_default(),
                          .axis_names = axis_names,
                          .example_names = example_names,
                          .form.deltas = deltas};
    layer.weigh.axes = axes;
    layer.weigh.axis_count = 2;
    layer.weigh.points = points[0];
    layer.weigh.example_count = 3;

    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = 4,
                             .positions = square[0],
                             .split_count = 4,
                             .face_count = 1,
                             .corner_count = 4,
                             .face_sizes = face_sizes,
                             .corners = corners,
                             .triangle_count = 2,
                             .triangles = triangles[0]};
    def.layers = &layer;
    def.layer_count = 1;
    return ex_rig_create(&def, NULL, rig, error);
}

int main(void) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    if (make_rig(&rig, &error) != EX_OK) {
        fprintf(stderr, "from_arrays: %s\n", error.text);
        return 1;
    }
    double dials[2] = {0.5, 2}; /* halfway to wide, twice as far as tall */
    float positions[4][3];
    double weights[3];
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    ex_rig_evaluate(rig, &(ex_pose){.inputs = dials}, &(ex_output){.positions = positions[0], .weights = weights}, NULL,
                    scratch);
    printf("weights: square %g, wide %g, tall %g\n", weights[0], weights[1], weights[2]);
    for (int v = 0; v < 4; v++)
        printf("vertex %d at %g %g %g\n", v, (double)positions[v][0], (double)positions[v][1], (double)positions[v][2]);
    free(scratch);
    ex_rig_destroy(rig);
    return 0;
}

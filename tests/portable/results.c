/*
 * Prints many results of the runtime, one per line ('name value…'), from a fixed sequence of pseudo-random numbers made
 * in integers: the same program built for another processor, compiler or SIMD set has to print the same numbers, within
 * 1e-6 (compare.py). Uses only the public headers, as a foreign program would, and the arm of the tests.
 */
#include <exemplar/exemplar.h>

#include "support/characters.h"
#include "support/mixtures.h"
#include "support/paths.h"
#include "support/tubes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    POINT_MAX = 16,
    DIMENSION_MAX = 16,
    EXAMPLE_MAX = 16,
    GRID = 7,
    VERTICES = GRID * GRID,
    QUADS = (GRID - 1) * (GRID - 1)
};

/* ---- numbers, printing ---- */

static uint64_t sequence = 1;

/* In [low, high). Steele, Lea and Flood's SplitMix64, then 53 bits of it: exact everywhere. */
static double draw(double low, double high) {
    sequence += 0x9e3779b97f4a7c15u;
    uint64_t z = sequence;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return low + (high - low) * ((double)(z >> 11) * 0x1p-53);
}

static void draw_rotation(double q[4]) {
    for (int i = 0; i < 4; i++) {
        q[i] = draw(-1, 1);
    }
}

static void print_doubles(const char *name, int number, const double *values, int count) {
    printf("%s.%d", name, number);
    for (int i = 0; i < count; i++) {
        printf(" %.17g", values[i]);
    }
    printf("\n");
}

static void print_floats(const char *name, int number, const float *values, int count) {
    printf("%s.%d", name, number);
    for (int i = 0; i < count; i++) {
        printf(" %.9g", (double)values[i]);
    }
    printf("\n");
}

static void must(ex_result result, const char *what, const ex_error *error) {
    if (result != EX_OK) {
        fprintf(stderr, "results: %s: %s (%s)\n", what, error->text, ex_result_text(result));
        exit(1);
    }
}

static void *must_allocate(size_t size) {
    void *memory = malloc(size);
    if (!memory) {
        fprintf(stderr, "results: no memory\n");
        exit(1);
    }
    return memory;
}

/* ---- weights ---- */

typedef struct space {
    ex_axis axes[4];
    double points[POINT_MAX * DIMENSION_MAX];
    ex_weigher_def def;
    int dimension;
} space;

/* A point of the space: scalars in the middle `spread` of their range, any rotation. */
static void draw_point(const space *s, double spread, double *point) {
    for (int i = 0; i < s->def.axis_count; i++) {
        const ex_axis *axis = &s->axes[i];
        if (axis->kind == EX_AXIS_SCALAR) {
            double middle = (axis->min + axis->max) / 2;
            double half = (axis->max - axis->min) / 2 * spread;
            *point++ = draw(middle - half, middle + half);
        } else {
            draw_rotation(point);
            point += 4;
        }
    }
}

/* Random examples; axes of the given kinds, the scalar ones with ranges of different size. */
static void make_space(space *s, const ex_axis_kind *kinds, int axis_count, int example_count) {
    const double about[3] = {0.3, 1, -0.2};
    s->def = ex_weigher_def_default();
    s->dimension = 0;
    for (int i = 0; i < axis_count; i++) {
        bool scalar = kinds[i] == EX_AXIS_SCALAR;
        s->axes[i] = scalar ? ex_axis_scalar(-10.0 * i, 5 + 20.0 * i, 1) : ex_axis_rotation(kinds[i], about);
        s->dimension += ex_axis_width(&s->axes[i]);
    }
    s->def.axes = s->axes;
    s->def.axis_count = axis_count;
    s->def.example_count = example_count;
    s->def.points = s->points;
    for (int i = 0; i < example_count; i++) {
        draw_point(s, 1, s->points + i * s->dimension);
    }
}

/* Inside, at an example, twenty ranges outside, and from a point that is not finite. */
static void print_weights(const char *name, const space *s, const ex_weigher *weigher) {
    double weights[EXAMPLE_MAX];
    double point[DIMENSION_MAX];
    int count = ex_weigher_example_count(weigher);
    for (int query = 0; query < 8; query++) {
        draw_point(s, query == 6 ? 40 : 1, point);
        if (query == 5 && s->def.points) {
            memcpy(point, s->def.points, sizeof(double) * (size_t)s->dimension);
        } else if (query == 7) {
            point[0] = NAN;
        }
        ex_weigher_evaluate(weigher, point, weights);
        print_doubles(name, query, weights, count);
    }
}

static void solve_and_print(const char *name, const space *s) {
    ex_error error;
    ex_weigher *weigher;
    must(ex_weigher_create(&s->def, NULL, &weigher, &error), name, &error);
    print_weights(name, s, weigher);
    double numbers[2];
    double point[DIMENSION_MAX];
    draw_point(s, 1, point);
    numbers[0] = ex_weigher_distance(weigher, point, s->points);
    must(ex_weigher_condition(weigher, NULL, &numbers[1], &error), name, &error);
    print_doubles("distance", 0, &numbers[0], 1);
    print_doubles("condition", 0, &numbers[1], 1);
    ex_weigher_destroy(weigher);
}

/* Both are definite only with a plane. */
static bool needs_plane(ex_kernel kernel) {
    return kernel == EX_KERNEL_THIN_PLATE || kernel == EX_KERNEL_TRIHARMONIC;
}

static void print_kernel(ex_kernel kernel, const ex_axis_kind *kinds, int mixture) {
    char name[64];
    for (int axis_count = 1; axis_count <= 3; axis_count++) {
        for (int linear = needs_plane(kernel) ? 1 : 0; linear < 2; linear++) {
            space s;
            make_space(&s, kinds, axis_count, 6 + 2 * axis_count);
            s.def.kernel = kernel;
            s.def.linear = linear == 1;
            snprintf(name, sizeof name, "cardinal.%s.%d.%d.%d", ex_kernel_name(kernel), mixture, axis_count, linear);
            solve_and_print(name, &s);
        }
    }
}

static void print_kernels(void) {
    static const ex_axis_kind kinds[3][3] = {
        {EX_AXIS_SCALAR, EX_AXIS_SCALAR, EX_AXIS_SCALAR},
        {EX_AXIS_ROTATION, EX_AXIS_SCALAR, EX_AXIS_SCALAR},
        {EX_AXIS_SCALAR, EX_AXIS_SWING, EX_AXIS_TWIST},
    };
    for (int kernel = 0; kernel < EX_KERNEL_COUNT; kernel++) {
        for (int mixture = 0; mixture < 3; mixture++) {
            print_kernel((ex_kernel)kernel, kinds[mixture], mixture);
        }
    }
}

/* A falloff for every point and axis, metrics, sets, and a falloff so wide that a ridge has to rise. */
static void print_gaussian(void) {
    static const ex_axis_kind kinds[] = {EX_AXIS_SCALAR, EX_AXIS_ROTATION, EX_AXIS_SWING, EX_AXIS_TWIST};
    space made, *s = &made;
    make_space(s, kinds, 4, 12);
    double falloffs[12 * 4], metrics[12] = {0, 4, 9}, set_weights[2 * 12];
    const uint32_t sets[2] = {0x0F5, 0xFFF};
    s->def.kind = EX_WEIGHER_GAUSSIAN;
    solve_and_print("gaussian", s);
    for (int i = 0; i < 12 * 4; i++) {
        falloffs[i] = draw(0.2, 0.5);
    }
    s->def.falloffs = falloffs;
    s->def.metrics = metrics;
    s->def.sets = sets;
    s->def.set_count = 2;
    solve_and_print("gaussian.falloffs", s);
    ex_error error;
    ex_weigher *weigher;
    must(ex_weigher_create(&s->def, NULL, &weigher, &error), "gaussian.sets", &error);
    ex_weigher_evaluate_sets(weigher, NULL, NULL, set_weights);
    print_doubles("gaussian.sets", 0, set_weights, ex_weigher_set_weight_count(weigher));
    ex_weigher_destroy(weigher);
    for (int i = 0; i < 12 * 4; i++) {
        falloffs[i] = 1e5;
    }
    s->def.metrics = NULL;
    must(ex_weigher_create(&s->def, NULL, &weigher, &error), "gaussian.ridge", &error);
    const ex_ridge ridge = ex_weigher_get_ridge(weigher);
    print_doubles("gaussian.ridge", 0, &ridge.ridge, 1);
    ex_weigher_destroy(weigher);
}

static void print_other_kinds(void) {
    static const ex_axis_kind kinds[] = {EX_AXIS_SCALAR, EX_AXIS_ROTATION, EX_AXIS_SWING, EX_AXIS_TWIST};
    static const ex_axis_kind scalars[] = {EX_AXIS_SCALAR, EX_AXIS_SCALAR, EX_AXIS_SCALAR, EX_AXIS_SCALAR};
    space s;
    make_space(&s, kinds, 4, 12);
    s.def.kind = EX_WEIGHER_SHEPARD;
    solve_and_print("shepard", &s);
    s.def.power = 3.5;
    solve_and_print("shepard.power", &s);
    s.def.kind = EX_WEIGHER_NEAREST;
    solve_and_print("nearest", &s);
    s.def.neighbours = 3;
    s.def.paper_form = true;
    solve_and_print("nearest.paper", &s);

    make_space(&s, scalars, 4, 4);
    s.axes[2].clamp = true;
    s.def.kind = EX_WEIGHER_DIRECT;
    s.def.points = NULL;
    ex_error error;
    ex_weigher *weigher;
    must(ex_weigher_create(&s.def, NULL, &weigher, &error), "direct", &error);
    print_weights("direct", &s, weigher);
    ex_weigher_destroy(weigher);
}

/* Pseudo-examples of both kinds, a ridge, and a chain of edits. */
static void print_edits(void) {
    static const ex_axis_kind kinds[] = {EX_AXIS_SCALAR, EX_AXIS_ROTATION};
    double places[5][DIMENSION_MAX];
    double given[EXAMPLE_MAX] = {0.5, 0.25, 0.25};
    space s;
    make_space(&s, kinds, 2, 7);
    for (int i = 0; i < 5; i++) {
        draw_point(&s, 1, places[i]);
    }
    ex_pseudo pseudos[] = {{.at = places[0], .from = places[1]}, {.at = places[2], .weights = given}};
    s.def.pseudos = pseudos;
    s.def.pseudo_count = 2;
    s.def.radius = 1.3;
    s.def.ridge = 1e-3;
    solve_and_print("pseudo", &s);

    ex_edit edits[] = {
        {.kind = EX_EDIT_MOVE_EXAMPLE, .index = 2, .at = places[3]},
        {.kind = EX_EDIT_ADD_EXAMPLE, .at = places[4]},
        {.kind = EX_EDIT_MOVE_PSEUDO, .index = 0, .at = places[1], .from = places[0]},
        {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 1},
    };
    ex_error error;
    ex_weigher *weigher, *edited;
    must(ex_weigher_create(&s.def, NULL, &weigher, &error), "pseudo", &error);
    must(ex_weigher_edit(weigher, edits, 4, NULL, &edited, &error), "edit", &error);
    print_weights("edited", &s, edited);
    ex_weigher_destroy(edited);
    ex_weigher_destroy(weigher);
}

/* ---- blends ---- */

static float *draw_form(int vertex_count, double size) {
    float *form = must_allocate(sizeof(float) * 3 * (size_t)vertex_count);
    for (int i = 0; i < 3 * vertex_count; i++) {
        form[i] = (float)draw(-size, size);
    }
    return form;
}

static void print_blend(int vertex_count, int example_count, ex_storage storage) {
    float *base = draw_form(vertex_count, 1);
    float *deltas[EXAMPLE_MAX];
    float weights[EXAMPLE_MAX];
    for (int k = 0; k < example_count; k++) {
        deltas[k] = draw_form(vertex_count, 0.3);
        weights[k] = k % 4 == 3 ? 0 : (float)draw(-0.5, 1.5);
    }
    ex_forms_def def = {vertex_count, example_count, base, (const float *const *)deltas, storage};
    ex_forms *forms;
    ex_error error;
    must(ex_forms_create(&def, NULL, &forms, &error), "forms", &error);

    /* once packed, once as the first member of a 20-byte vertex */
    float *positions = must_allocate(sizeof(float) * 5 * (size_t)vertex_count);
    void *scratch = must_allocate(ex_forms_scratch_size(forms) + 1);
    ex_forms_blend(forms, weights, positions, 0, NULL, scratch);
    print_floats(storage == EX_STORAGE_FLOAT ? "blend.float" : "blend.16", vertex_count, positions, 3 * vertex_count);
    ex_forms_blend(forms, weights, positions, 5 * sizeof(float), NULL, scratch);
    for (int v = 0; v < vertex_count; v++) {
        memmove(positions + (size_t)v * 3, positions + (size_t)v * 5, 3 * sizeof(float));
    }
    print_floats("blend.strided", vertex_count, positions, 3 * vertex_count);

    free(scratch);
    free(positions);
    ex_forms_destroy(forms);
    for (int k = 0; k < example_count; k++) {
        free(deltas[k]);
    }
    free(base);
}

static void print_blends(void) {
    static const int vertex_counts[] = {1, 15, 16, 37, 130};
    for (int i = 0; i < 5; i++) {
        for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
            print_blend(vertex_counts[i], 1 + 3 * i, (ex_storage)storage);
        }
    }
}

/* ---- rigs ---- */

enum { BATCH = 9, INPUTS_MAX = 16 };

static uint32_t faces[QUADS], corners[QUADS * 4], triangles[QUADS * 6], sources[VERTICES + 1];
static float texcoords[(VERTICES + 1) * 2];

/* A grid of quads whose last vertex has two texture coordinates. */
static ex_rig_mesh make_mesh(const float *positions) {
    for (int q = 0; q < QUADS; q++) {
        uint32_t a = (uint32_t)(q / (GRID - 1) * GRID + q % (GRID - 1));
        const uint32_t quad[4] = {a, a + 1, a + GRID + 1, a + GRID};
        const uint32_t two[6] = {quad[0], quad[1], quad[2], quad[0], quad[2], quad[3]};
        faces[q] = 4;
        memcpy(corners + q * 4, quad, sizeof quad);
        memcpy(triangles + q * 6, two, sizeof two);
    }
    corners[QUADS * 4 - 2]++; /* the last quad uses the second of the two */
    for (int v = 0; v <= VERTICES; v++) {
        sources[v] = (uint32_t)(v < VERTICES ? v : VERTICES - 1);
        texcoords[v * 2] = (float)draw(0, 1);
        texcoords[v * 2 + 1] = (float)draw(0, 1);
    }
    return (ex_rig_mesh){.vertex_count = VERTICES,
                         .positions = positions,
                         .split_count = VERTICES + 1,
                         .split_source = sources,
                         .texcoords = texcoords,
                         .face_count = QUADS,
                         .corner_count = QUADS * 4,
                         .face_sizes = faces,
                         .corners = corners,
                         .triangle_count = QUADS * 2,
                         .triangles = triangles};
}

/* One by one, then all at once, which has to give the same bits. */
static void print_poses(const char *name, const ex_rig *rig, double *inputs, const ex_evaluation *evaluation) {
    static float positions[2][BATCH][VERTICES * 3], boxes[2][BATCH][6];
    static double weights[2][BATCH][EXAMPLE_MAX];
    ex_pose poses[BATCH];
    ex_output outputs[2][BATCH];
    char label[64];
    for (int i = 0; i < BATCH; i++) {
        poses[i] = (ex_pose){.inputs = i == 0 ? NULL : inputs + i * ex_rig_pose_size(rig)};
        for (int way = 0; way < 2; way++) {
            outputs[way][i] =
                (ex_output){.positions = positions[way][i], .box = boxes[way][i], .weights = weights[way][i]};
        }
    }
    void *scratch = must_allocate(ex_rig_scratch_size(rig, NULL, BATCH) + 1);
    for (int i = 0; i < BATCH; i++) {
        ex_rig_evaluate(rig, &poses[i], &outputs[0][i], evaluation, scratch);
    }
    ex_rig_evaluate_many(rig, BATCH, poses, outputs[1], evaluation, scratch);
    free(scratch);
    bool same = memcmp(positions[0], positions[1], sizeof positions[0]) == 0 &&
                memcmp(boxes[0], boxes[1], sizeof boxes[0]) == 0 &&
                memcmp(weights[0], weights[1], sizeof weights[0]) == 0;
    printf("%s.many %s\n", name, same ? "same" : "different");
    for (int i = 0; i < BATCH; i++) {
        print_floats(name, i, positions[0][i], VERTICES * 3);
        snprintf(label, sizeof label, "%s.box", name);
        print_floats(label, i, boxes[0][i], 6);
        snprintf(label, sizeof label, "%s.weights", name);
        print_doubles(label, i, weights[0][i], ex_rig_example_count(rig));
    }
}

/* Through a pack and back, in both storages. */
static void print_packed(const ex_rig *rig, double *inputs) {
    size_t size = ex_rig_pack_size(rig);
    void *bytes = must_allocate(size);
    ex_error error;
    must(ex_rig_pack(rig, bytes, size, &error), "pack", &error);
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        ex_rig *again;
        must(ex_rig_unpack(bytes, size, &(ex_rig_options){.storage = (ex_storage)storage}, NULL, &again, &error),
             "unpack", &error);
        print_poses(storage == EX_STORAGE_FLOAT ? "unpacked" : "unpacked.16", again, inputs, NULL);
        ex_rig_destroy(again);
    }
    free(bytes);
}

static void print_rig(void) {
    static const ex_axis_kind kinds[2][2] = {{EX_AXIS_SCALAR, EX_AXIS_SCALAR}, {EX_AXIS_SCALAR, EX_AXIS_ROTATION}};
    static const char *const axis_names[2][2] = {{"bend", "thickness"}, {"bend", "shoulder"}};
    static const char *const example_names[] = {"a", "b", "c", "d", "e", "f", "g"};
    enum { EXAMPLES = 7 };
    space spaces[2];
    ex_layer_def layers[2] = {{0}};
    float *deltas[2][EXAMPLES];
    float mask[VERTICES];
    for (int v = 0; v < VERTICES; v++) {
        mask[v] = (float)draw(0, 1);
    }
    for (int i = 0; i < 2; i++) {
        make_space(&spaces[i], kinds[i], 2, EXAMPLES);
        for (int k = 0; k < EXAMPLES; k++) {
            deltas[i][k] = draw_form(VERTICES, 0.2);
        }
        layers[i] = (ex_layer_def){.name = i == 0 ? "first" : "second",
                                   .weigh = spaces[i].def,
                                   .axis_names = axis_names[i],
                                   .example_names = example_names,
                                   .form.deltas = (const float *const *)deltas[i],
                                   .mask = i == 1 ? mask : NULL};
    }
    float *positions = draw_form(VERTICES, 2);
    ex_rig_def def = ex_rig_def_default();
    def.mesh = make_mesh(positions);
    def.layers = layers;
    def.layer_count = 2;
    ex_rig *rig;
    ex_error error;
    must(ex_rig_create(&def, NULL, &rig, &error), "rig", &error);

    double inputs[BATCH * INPUTS_MAX];
    for (int i = 0; i < BATCH * ex_rig_pose_size(rig); i++) {
        inputs[i] = draw(-1, 6);
    }
    print_poses("rig", rig, inputs, NULL);
    const bool muted[2] = {true, false};
    print_poses("rig.muted", rig, inputs, &(ex_evaluation){.muted = muted});

    double place[2] = {0.5, 7};
    ex_edit edit = {.kind = EX_EDIT_MOVE_EXAMPLE, .index = 3, .at = place};
    ex_weigher *edited;
    must(ex_weigher_edit(ex_rig_weigher(rig, 0), &edit, 1, NULL, &edited, &error), "edit", &error);
    const ex_weigher *const weighers[2] = {edited, NULL};
    print_poses("rig.edited", rig, inputs, &(ex_evaluation){.weighers = weighers});
    ex_weigher_destroy(edited);

    print_packed(rig, inputs);
    ex_rig_destroy(rig);
    free(positions);
    for (int k = 0; k < EXAMPLES; k++) {
        free(deltas[0][k]);
        free(deltas[1][k]);
    }
}

/* ---- refinement ---- */

/* Groups of 1 to 40 rows over the same eight of twelve control vertices, of which the first three are a frame that
 * keeps the tangents apart. */
static void print_stencils(void) {
    enum { CONTROL = 12, SUPPORT = 8, GROUPS = 40, ROWS = GROUPS * (GROUPS + 1) / 2 };
    static int offsets[ROWS + 1], indices[ROWS * SUPPORT];
    static double weights[ROWS * SUPPORT], tangents[ROWS * SUPPORT * 2];
    static float positions[ROWS * 3], normals[ROWS * 3];
    float control[CONTROL * 3] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
    int row = 0;
    for (int g = 0; g < GROUPS; g++) {
        for (int r = 0; r <= g; r++, row++) {
            offsets[row + 1] = offsets[row] + SUPPORT;
            for (int i = 0; i < SUPPORT; i++) {
                int at = offsets[row] + i;
                indices[at] = i < 3 ? i : i + g % (CONTROL - SUPPORT + 1);
                weights[at] = draw(0, 0.25);
                tangents[2 * at] = draw(-0.1, 0.1) + (i == 1) - (i == 0);
                tangents[2 * at + 1] = draw(-0.1, 0.1) + (i == 2) - (i == 0);
            }
        }
    }
    for (int i = 9; i < CONTROL * 3; i++) {
        control[i] = (float)draw(-1, 1);
    }
    ex_stencil_rows rows = {ROWS, offsets, indices, weights, tangents};
    ex_stencils *stencils;
    ex_error error;
    must(ex_stencils_create(&(ex_stencils_def){.control_count = CONTROL, .limit = &rows}, NULL, &stencils, &error),
         "stencils", &error);
    ex_refine refine = {.level = EX_LEVEL_LIMIT, .control = control, .positions = positions, .normals = normals};
    void *scratch = malloc(ex_stencils_scratch_size(stencils));
    ex_stencils_apply(stencils, &refine, NULL, scratch);
    free(scratch);
    ex_stencils_destroy(stencils);
    for (int i = 0; i < ROWS; i += 20) {
        print_floats("refined", i, positions + 3 * i, 60);
        print_floats("refined.normal", i, normals + 3 * i, 60);
    }
}

static void print_normals(void) {
    int offsets[QUADS + 1], quads[QUADS * 4];
    float positions[VERTICES * 3], out[VERTICES * 3];
    for (int f = 0; f < QUADS; f++) {
        int first = f / (GRID - 1) * GRID + f % (GRID - 1),
            quad[4] = {first, first + 1, first + GRID + 1, first + GRID};
        offsets[f] = 4 * f;
        memcpy(quads + 4 * f, quad, sizeof quad);
    }
    offsets[QUADS] = 4 * QUADS;
    for (int v = 0; v < VERTICES; v++) {
        positions[3 * v] = (float)(v % GRID);
        positions[3 * v + 1] = (float)(v / GRID);
        positions[3 * v + 2] = (float)draw(0, 0.5);
    }
    for (int k = 0; k < EX_NORMAL_WEIGHTING_COUNT; k++) {
        ex_normals *normals;
        ex_error error;
        ex_normals_def def = {VERTICES, QUADS, offsets, quads, (ex_normal_weighting)k};
        must(ex_normals_create(&def, NULL, &normals, &error), "normals", &error);
        void *scratch = malloc(ex_normals_scratch_size(normals));
        ex_normals_compute(normals, positions, 0, out, 0, NULL, scratch);
        free(scratch);
        ex_normals_destroy(normals);
        print_floats("normals", k, out, VERTICES * 3);
    }
}

/* ---- skinning ---- */

enum { JOINTS = 12, SKINNED = 61, INFLUENCES = 6 };

/* A tree of joints, each turned by less than half a turn, some stretched; vertices with 1 to 6 influences. */
static void draw_skeleton(ex_skeleton **skeleton, ex_transform pose[JOINTS]) {
    int parents[JOINTS];
    ex_transform rest[JOINTS];
    for (int j = 0; j < JOINTS; j++) {
        parents[j] = j > 0 ? (int)draw(0, j) : -1;
        rest[j] = pose[j] = ex_transform_identity();
        for (int c = 0; c < 3; c++) {
            rest[j].translation[c] = pose[j].translation[c] = (float)draw(-0.3, 0.3);
            rest[j].rotation[c] = (float)draw(-1, 1);
            pose[j].rotation[c] = rest[j].rotation[c] + (float)draw(-0.3, 0.3);
            pose[j].scale[c] = (float)draw(0.8, 1.2);
        }
    }
    ex_error error;
    must(ex_skeleton_create(&(ex_skeleton_def){JOINTS, parents, rest, NULL, NULL}, NULL, skeleton, &error), "skeleton",
         &error);
}

static ex_skin *draw_skin(void) {
    uint32_t starts[SKINNED + 1] = {0}, joints[SKINNED * INFLUENCES];
    float weights[SKINNED * INFLUENCES];
    for (int v = 0; v < SKINNED; v++) {
        starts[v + 1] = starts[v] + 1 + (uint32_t)draw(0, INFLUENCES);
        for (uint32_t i = starts[v]; i < starts[v + 1]; i++) {
            joints[i] = (uint32_t)draw(0, JOINTS);
            weights[i] = (float)draw(0.1, 1);
        }
    }
    ex_skin *skin = NULL;
    ex_error error;
    must(ex_skin_create(&(ex_skin_def){SKINNED, JOINTS, starts, joints, weights}, NULL, &skin, &error), "skin", &error);
    return skin;
}

static void print_skinning(void) {
    ex_skeleton *skeleton = NULL;
    ex_transform pose[JOINTS];
    draw_skeleton(&skeleton, pose);
    ex_skin *skin = draw_skin();
    float matrices[12 * JOINTS], centres[3 * JOINTS], shifts[3 * JOINTS], x[3 * SKINNED], n[3 * SKINNED];
    float out_x[3 * SKINNED], out_n[3 * SKINNED], turns[4 * JOINTS];
    for (int i = 0; i < 3 * JOINTS; i++)
        shifts[i] = (float)draw(-0.1, 0.1);
    for (int i = 0; i < 3 * SKINNED; i++) {
        x[i] = (float)draw(-1, 1);
        n[i] = (float)draw(0.1, 1);
    }
    void *scratch = must_allocate(ex_skeleton_scratch_size(skeleton));
    ex_skeleton_evaluate(skeleton, &(ex_skeleton_input){pose, shifts},
                         &(ex_skeleton_output){.matrices = matrices, .centres = centres, .turns = turns}, scratch);
    print_floats("skeleton", 0, matrices, 12 * JOINTS);
    for (int method = 0; method < EX_SKINNING_COUNT; method++) {
        void *memory = must_allocate(ex_palette_size((ex_skinning)method, JOINTS));
        ex_palette_def def = {(ex_skinning)method, JOINTS, matrices, centres, false, turns, 1};
        const ex_palette *palette = ex_palette_make(&def, memory);
        ex_skin_job job = {.end = SKINNED, .positions = x, .normals = n, .out_positions = out_x, .out_normals = out_n};
        double back[3 * SKINNED];
        ex_skin_apply(skin, palette, &job);
        ex_skin_unpose(skin, palette, &(ex_unpose_job){.posed = x, .rest = n, .out = back});
        print_floats("skin.positions", method, out_x, 3 * SKINNED);
        print_floats("skin.normals", method, out_n, 3 * SKINNED);
        print_doubles("skin.unposed", method, back, 3 * SKINNED);
        free(memory);
    }
    free(scratch);
    ex_skin_destroy(skin);
    ex_skeleton_destroy(skeleton);
}

/* ---- a complete rig: joints read, skinned, refined, shaded, painted, through a pack and back ---- */

enum { RINGS = 6, SIDES = 5, TUBE = RINGS * SIDES, TUBE_MOST = TUBE + RINGS * SIDES, SCULPTS = 3 };

static void print_character_at(const ex_rig *rig, const ex_pose *pose, int level, int number) {
    float positions[3 * TUBE_MOST], normals[3 * TUBE_MOST], tangents[4 * TUBE_MOST], box[6];
    double weights[CHARACTER_EXAMPLES + 2 * SCULPTS];
    unsigned char pixels[CHARACTER_WIDTH * CHARACTER_HEIGHT * 4], *list[1] = {pixels};
    ex_evaluation how = {.level = level};
    ex_output output = {.positions = positions,
                        .normals = normals,
                        .tangents = level == 0 ? tangents : NULL,
                        .box = box,
                        .weights = weights,
                        .textures = list};
    void *scratch = must_allocate(ex_rig_scratch_size(rig, &how, 1));
    ex_rig_evaluate(rig, pose, &output, &how, scratch);
    free(scratch);
    const int count = ex_rig_level_vertex_count(rig, level);
    print_floats("character.positions", number, positions, 3 * count);
    print_floats("character.normals", number, normals, 3 * count);
    if (level == 0)
        print_floats("character.tangents", number, tangents, 4 * count);
    print_floats("character.box", number, box, 6);
    print_doubles("character.weights", number, weights, CHARACTER_EXAMPLES + 2 * SCULPTS);
    double colours[sizeof pixels];
    for (size_t i = 0; i < sizeof pixels; i++)
        colours[i] = pixels[i];
    print_doubles("character.pixels", number, colours, (int)sizeof pixels);
}

/* Two layers of offsets over the dial "size": at rest, each vertex among the examples that move it; and turned with the
 * skin, with separate falloffs. */
typedef struct sculpted {
    ex_layer_def layers[CHARACTER_LAYERS + 2];
    ex_offsets offsets[2][SCULPTS];
    uint32_t vertices[2][SCULPTS][TUBE];
    float deltas[2][SCULPTS][3 * TUBE];
    double points[SCULPTS], falloffs[SCULPTS];
} sculpted;

static void add_sculpts(sculpted *s, character *c) {
    static const char *const axis[1] = {"size"}, *const names[SCULPTS] = {"a", "b", "c"};
    memcpy(s->layers, c->layers, sizeof c->layers);
    for (int k = 0; k < SCULPTS; k++) {
        s->points[k] = 0.1 + 0.4 * k;
        s->falloffs[k] = 0.2 + 0.1 * k;
    }
    for (int l = 0; l < 2; l++) {
        for (int k = 0; k < SCULPTS; k++) {
            int count = 0;
            for (uint32_t v = 0; v < TUBE; v++) {
                if ((7 * v + 5 * (uint32_t)k + 3 * (uint32_t)l) % 5 > 2)
                    continue;
                for (int i = 0; i < 3; i++)
                    s->deltas[l][k][3 * count + i] = (float)((37 * (int)v + 11 * k + 7 * i + 5 * l) % 41 - 20) / 1000;
                s->vertices[l][k][count++] = v;
            }
            s->offsets[l][k] = (ex_offsets){count, s->vertices[l][k], s->deltas[l][k]};
        }
        ex_layer_def *layer = &s->layers[CHARACTER_LAYERS + l];
        *layer = (ex_layer_def){.name = l ? "turned" : "moved",
                                .domain = EX_DOMAIN_OFFSETS,
                                .weigh = ex_weigher_def_default(),
                                .axis_names = axis,
                                .example_names = names,
                                .offsets.examples = s->offsets[l],
                                .offsets.frame = l ? EX_OFFSET_FRAME_SKINNED : EX_OFFSET_FRAME_REST,
                                .offsets.moved = l == 0};
        layer->weigh.kind = EX_WEIGHER_GAUSSIAN;
        layer->weigh.axes = &c->form_axes[1];
        layer->weigh.axis_count = 1;
        layer->weigh.points = s->points;
        layer->weigh.example_count = SCULPTS;
        layer->weigh.falloffs = l ? s->falloffs : NULL;
    }
    c->def.layers = s->layers;
    c->def.layer_count = CHARACTER_LAYERS + 2;
}

static void print_characters(void) {
    for (int skinning = 0; skinning < EX_SKINNING_COUNT; skinning++) {
        character c;
        ex_error error = {0};
        ex_rig *made = NULL, *rig = NULL;
        static sculpted sculpts;
        character_open(&c, RINGS, SIDES, (ex_skinning)skinning);
        add_sculpts(&sculpts, &c);
        must(ex_rig_create(&c.def, NULL, &made, &error), "character", &error);
        size_t size = ex_rig_pack_size(made);
        void *bytes = must_allocate(size);
        must(ex_rig_pack(made, bytes, size, &error), "character", &error);
        must(ex_rig_unpack(bytes, size, NULL, NULL, &rig, &error), "character", &error);
        double inputs[CHARACTER_POSE], elbow = 63;
        ex_transform joints[CHARACTER_JOINTS];
        ex_pose pose = {.inputs = inputs, .joints = joints};
        ex_rig_rest_pose(rig, &pose);
        ex_rig_set_input(rig, ex_rig_input_find(rig, "elbow"), &elbow, &pose);
        for (int i = 0; i < CHARACTER_POSE; i++)
            inputs[i] = draw(0, 1);
        joints[0].rotation[1] = 0.25F;
        joints[2].translation[2] += 0.05F;
        print_character_at(rig, &pose, 0, 3 * skinning);
        print_character_at(rig, &pose, 1, 3 * skinning + 1);
        print_character_at(rig, &pose, EX_LEVEL_LIMIT, 3 * skinning + 2);
        free(bytes);
        ex_rig_destroy(made);
        ex_rig_destroy(rig);
        character_close(&c);
    }
}

/* ---- trajectories ---- */

/* A layer with everything, in both storages; at 4.5 some turns exceed the range of the polynomials. */
static void print_trajectories(void) {
    static const double ways[] = {0.4, 1.7, 2.5, 3.2, 4.5};
    float *mesh = draw_form(TUBE, 1), positions[3 * TUBE];
    static path_layer paths;
    path_layer_open(&paths, mesh, TUBE, PATHS_ALL, 3);
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = TUBE, .split_count = TUBE, .positions = mesh};
    def.layers = &paths.def;
    def.layer_count = 1;
    ex_error error = {0};
    ex_rig *made = NULL;
    must(ex_rig_create(&def, NULL, &made, &error), "trajectories", &error);
    const size_t size = ex_rig_pack_size(made);
    void *bytes = must_allocate(size);
    must(ex_rig_pack(made, bytes, size, &error), "trajectories", &error);
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        ex_rig *rig = NULL;
        const ex_rig_options options = {.storage = (ex_storage)storage};
        must(ex_rig_unpack(bytes, size, &options, NULL, &rig, &error), "trajectories", &error);
        void *scratch = must_allocate(ex_rig_scratch_size(rig, NULL, 1));
        for (int i = 0; i < 5; i++) {
            double way = ways[i];
            ex_rig_evaluate(rig, &(ex_pose){.inputs = &way}, &(ex_output){.positions = positions}, NULL, scratch);
            print_floats("trajectory", 5 * storage + i, positions, 3 * TUBE);
        }
        free(scratch);
        ex_rig_destroy(rig);
    }
    ex_rig_destroy(made);
    path_layer_close(&paths);
    free(bytes);
    free(mesh);
}

/* A layer with a mixture, in both storages, within the simplex of weights and beyond it. */
static void print_mixtures(void) {
    static const double weights[4][MIXED_EXAMPLES] = {
        {0.2, 0.3, 0.25, 0.25}, {0.5, 0, 0.5, 0}, {1, 0.2, 0, 1}, {-0.3, 0.1, 0.6, 0.2}};
    float *mesh = draw_form(TUBE, 1), positions[3 * TUBE];
    static mixed_layer mixed;
    mixed_layer_open(&mixed, mesh, TUBE, 0, MIXED_ALL, 3);
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = TUBE, .split_count = TUBE, .positions = mesh};
    def.layers = &mixed.def;
    def.layer_count = 1;
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        ex_error error = {0};
        ex_rig *rig = NULL;
        def.options.storage = (ex_storage)storage;
        must(ex_rig_create(&def, NULL, &rig, &error), "mixtures", &error);
        void *scratch = must_allocate(ex_rig_scratch_size(rig, NULL, 1));
        for (int i = 0; i < 4; i++) {
            double inputs[MIXED_EXAMPLES];
            memcpy(inputs, weights[i], sizeof inputs);
            ex_rig_evaluate(rig, &(ex_pose){.inputs = inputs}, &(ex_output){.positions = positions}, NULL, scratch);
            print_floats("mixture", 4 * storage + i, positions, 3 * TUBE);
        }
        free(scratch);
        ex_rig_destroy(rig);
    }
    mixed_layer_close(&mixed);
    free(mesh);
}

/* ---- drivers ---- */

/* A sleeve on a tube between its keys: one moving frame and three, without and with a residual by keys. Nothing
 * penetrates: the shortest way out may depend on the last bit. */
static void print_driven(void) {
    float form[3 * TUBE_VERTICES], positions[3 * TUBE_VERTICES];
    ex_error error = {0};
    for (int i = 0; i < 4; i++) {
        driven_tube *tube =
            driven_tube_make(i % 2 ? TUBE_FRAMES : 1, i < 2 ? EX_RESIDUAL_NONE : EX_RESIDUAL_KEYS, true);
        ex_rig *made = NULL, *rig = NULL;
        must(ex_rig_create(&tube->def, NULL, &made, &error), "driven", &error);
        const size_t size = ex_rig_pack_size(made);
        void *bytes = must_allocate(size);
        must(ex_rig_pack(made, bytes, size, &error), "driven", &error);
        must(ex_rig_unpack(bytes, size, NULL, NULL, &rig, &error), "driven", &error);
        void *scratch = must_allocate(ex_rig_scratch_size(rig, NULL, 1));
        for (int k = 0; k < 3; k++) {
            tube_bend(17 + 31 * k, 0.1, 0, form);
            ex_rig_evaluate(rig, &(ex_pose){.driver = form}, &(ex_output){.positions = positions}, NULL, scratch);
            print_floats("driven", 3 * i + k, positions, 3 * TUBE_VERTICES);
        }
        free(scratch);
        free(bytes);
        ex_rig_destroy(made);
        ex_rig_destroy(rig);
        free(tube);
    }
}

/* ---- closest points and rays ---- */

/* Made again and fitted to another form, with the same answers. Seen along their planes or as slivers, triangles have
 * uncertain coordinates; so points and distances are printed, and rays aim at triangles' middles. */
static void print_settling(void) {
    enum { TRIANGLES = 120, QUESTIONS = 40 };
    static uint32_t soup[TRIANGLES * 3];
    float *other = draw_form(3 * TRIANGLES, 1), *form = draw_form(3 * TRIANGLES, 1);
    for (uint32_t i = 0; i < TRIANGLES * 3; i++) {
        soup[i] = i;
    }
    ex_tree_def def = {
        .vertex_count = 3 * TRIANGLES, .positions = other, .triangle_count = TRIANGLES, .triangles = soup};
    ex_tree *tree;
    ex_error error;
    must(ex_tree_create(&def, NULL, &tree, &error), "tree", &error);
    void *memory = must_allocate(ex_bounds_size(tree));
    const ex_bounds *fit = ex_bounds_fit(tree, form, 0, memory, NULL);
    for (int i = 0; i < QUESTIONS; i++) {
        float point[3];
        ex_ray ray = {.t_min = 0, .t_max = INFINITY};
        ex_closest closest;
        ex_hit hit;
        for (int c = 0; c < 3; c++) {
            const float *corner = form + 9 * (i * TRIANGLES / QUESTIONS) + c;
            point[c] = (float)draw(-2, 2);
            ray.origin[c] = 4 * point[c];
            ray.direction[c] = (corner[0] + corner[3] + corner[6]) / 3 - ray.origin[c];
        }
        ex_bounds_closest(fit, point, INFINITY, &closest);
        ex_bounds_ray(fit, &ray, &hit);
        printf("settle.%d %d %d\n", i, closest.triangle, hit.triangle);
        print_floats("closest", i, (float[]){closest.point[0], closest.point[1], closest.point[2], closest.distance_sq},
                     4);
        print_floats("ray", i, (float[]){hit.u, hit.v, hit.t}, 3);
    }
    free(memory);
    free(other);
    free(form);
    ex_tree_destroy(tree);
}

/* usage: results [SET]: with that instruction set instead of the widest. */
int main(int count, char **arguments) {
    if (count > 1 && !ex_simd_use(arguments[1])) {
        printf("simd %s is not to be had here\n", arguments[1]);
        return 77;
    }
    printf("simd %s\n", ex_simd_name());
    print_kernels();
    print_other_kinds();
    print_edits();
    print_blends();
    print_rig();
    print_stencils();
    print_normals();
    print_skinning();
    print_characters();
    print_settling();
    print_gaussian();
    print_trajectories();
    print_mixtures();
    print_driven();
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

/*
 * bench/gpu/rigs.c - rigs for measurements, made with only the runtime. The mesh is a ring: `across` vertices along it
 * times `around` about it, closed, two triangles per vertex. Its vertices are ordered along the ring, as in a mesh
 * sorted for display.
 */
#include "bench/gpu/gpu.h"

#include <exemplar/rig_create.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXAMPLE_MAX = 64, DIALS = 3, INFLUENCES = 4 };

static const double two_pi = 6.283185307179586, radius = 1, thickness = 0.25;

/* Everything that a definition points to; released once the rig is made. */
typedef struct parts {
    int vertices;
    float *mesh, *forms[EXAMPLE_MAX], *turns[EXAMPLE_MAX], *correctors[EXAMPLE_MAX][EX_CORRECTOR_MAX];
    uint32_t *triangles, *face_sizes;
    uint16_t *segments;
    uint32_t *starts, *joints;
    float *weights;
    ex_skeleton *skeleton;
    ex_skin *skin;
    char names[EXAMPLE_MAX][16];
    const char *name_list[EXAMPLE_MAX];
    ex_axis axes[EXAMPLE_MAX];
    double points[EXAMPLE_MAX][DIALS];
} parts;

static void close_parts(parts *p) {
    free(p->mesh);
    for (int k = 0; k < EXAMPLE_MAX; k++) {
        free(p->forms[k]);
        free(p->turns[k]);
        for (int j = 0; j < EX_CORRECTOR_MAX; j++)
            free(p->correctors[k][j]);
    }
    free(p->triangles);
    free(p->face_sizes);
    free(p->segments);
    free(p->starts);
    free(p->joints);
    free(p->weights);
    ex_skeleton_destroy(p->skeleton);
    ex_skin_destroy(p->skin);
    free(p);
}

static ex_result no_memory(const parts *p, ex_error *error) {
    return ex_error_memory(error, "a rig to measure", p ? (size_t)p->vertices * 12 : sizeof *p);
}

/* ---- the mesh ---- */

static void place_on_ring(double along, double about, float place[3]) {
    const double out = radius + thickness * cos(two_pi * about);
    place[0] = (float)(out * cos(two_pi * along));
    place[1] = (float)(thickness * sin(two_pi * about));
    place[2] = (float)(out * sin(two_pi * along));
}

static bool make_mesh(parts *p, const exi_gpu_bench_case *c) {
    p->vertices = c->across * c->around;
    p->mesh = malloc((size_t)p->vertices * 3 * sizeof *p->mesh);
    for (int v = 0; p->mesh && v < p->vertices; v++)
        place_on_ring((double)(v / c->around) / c->across, (double)(v % c->around) / c->around,
                      p->mesh + 3 * (size_t)v);
    for (int k = 0; k < EXAMPLE_MAX; k++) {
        snprintf(p->names[k], sizeof p->names[k], "e%d", k);
        p->name_list[k] = p->names[k];
        p->axes[k] = ex_axis_scalar(0, 1, 0);
    }
    return p->mesh != NULL;
}

static bool make_triangles(parts *p, const exi_gpu_bench_case *c) {
    const size_t count = 2 * (size_t)p->vertices;
    p->triangles = malloc(3 * count * sizeof *p->triangles);
    p->face_sizes = malloc(count * sizeof *p->face_sizes);
    if (!p->triangles || !p->face_sizes)
        return false;
    for (int v = 0; v < p->vertices; v++) {
        const int ring = v / c->around, next = (ring + 1) % c->across;
        const int side = v % c->around, beside = (side + 1) % c->around;
        const uint32_t a = (uint32_t)v, b = (uint32_t)(ring * c->around + beside);
        const uint32_t d = (uint32_t)(next * c->around + side), e = (uint32_t)(next * c->around + beside);
        const uint32_t corners[6] = {a, b, e, a, e, d};
        for (int i = 0; i < 6; i++)
            p->triangles[6 * (size_t)v + (size_t)i] = corners[i];
    }
    for (size_t f = 0; f < count; f++)
        p->face_sizes[f] = 3;
    return true;
}

/* Vectors of at most `size` that vary over the ring, different for each `number`. */
static float *make_vectors(const parts *p, double size, int number) {
    float *vectors = malloc((size_t)p->vertices * 3 * sizeof *vectors);
    const double f[3] = {1 + 0.37 * number, 1.7 + 0.23 * number, 2.3 + 0.11 * number};
    for (int v = 0; vectors && v < p->vertices; v++) {
        const float *x = p->mesh + 3 * (size_t)v;
        for (int i = 0; i < 3; i++) {
            /* A parabola in a number that goes back and forth: smooth enough, and quick to compute. */
            const double at = f[i] * (double)x[i] + f[(i + 1) % 3] * (double)x[(i + 1) % 3] + 0.3 * number;
            const double back = 2 * (at - floor(at)) - 1;
            vectors[3 * (size_t)v + (size_t)i] = (float)(size * (1 - 2 * back * back) * 0.57);
        }
    }
    return vectors;
}

static bool make_forms(parts *p, int count, double size) {
    for (int k = 0; k < count; k++)
        if (!(p->forms[k] = make_vectors(p, size, k)))
            return false;
    return true;
}

static ex_result finish(const ex_rig_def *def, double bytes_a_vertex, exi_gpu_bench_subject *subject, ex_error *error) {
    subject->table_bytes = bytes_a_vertex * def->mesh.vertex_count;
    return ex_rig_create(def, NULL, &subject->rig, error);
}

static ex_rig_mesh mesh_of(const parts *p) {
    ex_rig_mesh mesh = {.vertex_count = p->vertices, .split_count = p->vertices, .positions = p->mesh};
    if (p->triangles) {
        mesh.face_count = mesh.triangle_count = 2 * p->vertices;
        mesh.corner_count = 6 * p->vertices;
        mesh.face_sizes = p->face_sizes;
        mesh.corners = mesh.triangles = p->triangles;
    }
    return mesh;
}

/* A weigher whose axes are the weights. */
static ex_weigher_def direct(const parts *p, int count) {
    return ex_weigher_def_direct(p->axes, count);
}

/* ---- sums of forms ---- */

ex_result exi_gpu_bench_make_blend(const exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error) {
    parts *p = calloc(1, sizeof *p);
    if (!p)
        return no_memory(p, error);
    ex_result result = EX_OK;
    if (make_mesh(p, c) && make_forms(p, c->examples, 0.1)) {
        const ex_layer_def layer = {.name = "l",
                                    .weigh = direct(p, c->examples),
                                    .axis_names = p->name_list,
                                    .example_names = p->name_list,
                                    .form.deltas = (const float *const *)p->forms};
        ex_rig_def def = ex_rig_def_default();
        def.mesh = mesh_of(p);
        def.layers = &layer;
        def.layer_count = 1;
        def.options = (ex_rig_options){.storage = c->storage, .without_normals = true};
        result = finish(&def, 12 + (c->storage == EX_STORAGE_FLOAT ? 12 : 6) * c->examples, subject, error);
    } else {
        result = no_memory(p, error);
    }
    close_parts(p);
    return result;
}

/* ---- trajectories ---- */

/* A root, and chains of up to three after it. */
static int parent_of(int segment) {
    return segment == 0 ? -1 : segment % 3 == 1 ? 0 : segment - 1;
}

static bool make_paths(parts *p, const exi_gpu_bench_case *c) {
    for (int k = 0; k < c->examples; k++) {
        if (c->turns && !(p->turns[k] = make_vectors(p, 1, 7 + k)))
            return false;
        for (int j = 0; j < c->correctors; j++)
            if (!(p->correctors[k][j] = make_vectors(p, 0.05, 11 + k + 3 * j)))
                return false;
    }
    p->segments = c->segments > 0 ? malloc((size_t)p->vertices * sizeof *p->segments) : NULL;
    for (int v = 0; p->segments && v < p->vertices; v++)
        p->segments[v] = (uint16_t)((long long)v * c->segments / p->vertices);
    return p->segments || c->segments == 0;
}

ex_result exi_gpu_bench_make_paths(const exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error) {
    enum { SEGMENT_MAX = 16 };
    static float curves[EX_CORRECTOR_MAX][EX_CURVE_SIZE];
    float bases[EXAMPLE_MAX][SEGMENT_MAX][6] = {{{0}}};
    int parents[SEGMENT_MAX];
    ex_trajectory paths[EXAMPLE_MAX] = {{0}};
    parts *p = calloc(1, sizeof *p);
    if (!p)
        return no_memory(p, error);
    ex_result result = EX_OK;
    for (int j = 0; j < EX_CORRECTOR_MAX; j++)
        curves[j][j] = 1;
    for (int s = 0; s < c->segments; s++)
        parents[s] = parent_of(s);
    if (make_mesh(p, c) && make_triangles(p, c) && make_forms(p, c->examples, 0.3) && make_paths(p, c)) {
        for (int k = 0; k < c->examples; k++) {
            paths[k].turns = p->turns[k];
            paths[k].corrector_count = c->correctors;
            paths[k].correctors = (const float *const *)p->correctors[k];
            paths[k].curves = curves[0];
            if (c->screw) {
                paths[k].screw.turn[1] = 0.7;
                paths[k].screw.move[0] = 0.2;
            }
            for (int s = 1; s < c->segments; s++)
                for (int i = 0; i < 6; i++)
                    bases[k][s][i] = (float)(i < 3 ? 0.3 : 0.1) / (float)(1 + (s + i) % 4);
            paths[k].bases = c->segments > 0 ? bases[k][0] : NULL;
        }
        const ex_layer_def layer = {.name = "l",
                                    .domain = EX_DOMAIN_TRAJECTORY,
                                    .weigh = direct(p, c->examples),
                                    .axis_names = p->name_list,
                                    .example_names = p->name_list,
                                    .form.deltas = (const float *const *)p->forms,
                                    .trajectory.examples = paths,
                                    .trajectory.reference = -1,
                                    .trajectory.segments = {c->segments, parents, p->segments}};
        ex_rig_def def = ex_rig_def_default();
        def.mesh = mesh_of(p);
        def.layers = &layer;
        def.layer_count = 1;
        def.options = (ex_rig_options){.storage = c->storage, .without_normals = true};
        const int forms = c->examples * (1 + c->turns + c->correctors);
        result = finish(&def, 12 + 12 * forms + (c->segments > 0 ? 2 : 0), subject, error);
    } else {
        result = no_memory(p, error);
    }
    close_parts(p);
    return result;
}

/* ---- crowds ---- */

/* Joints in a ring inside the mesh: a root, and two chains that start at it and end next to each other. */
static int parent_in_ring(int joint) {
    return joint == 0 ? -1 : joint <= EXI_GPU_BENCH_JOINTS / 2 ? joint - 1 : (joint + 1) % EXI_GPU_BENCH_JOINTS;
}

static void joint_place(int joint, double place[3]) {
    const double angle = two_pi * joint / EXI_GPU_BENCH_JOINTS;
    place[0] = radius * cos(angle);
    place[1] = 0;
    place[2] = radius * sin(angle);
}

static bool make_skeleton(parts *p) {
    int parents[EXI_GPU_BENCH_JOINTS];
    ex_transform rest[EXI_GPU_BENCH_JOINTS];
    for (int j = 0; j < EXI_GPU_BENCH_JOINTS; j++) {
        double here[3], there[3] = {0, 0, 0};
        parents[j] = parent_in_ring(j);
        joint_place(j, here);
        if (parents[j] >= 0)
            joint_place(parents[j], there);
        rest[j] = ex_transform_identity();
        for (int i = 0; i < 3; i++)
            rest[j].translation[i] = (float)(here[i] - there[i]);
    }
    const ex_skeleton_def def = {.joint_count = EXI_GPU_BENCH_JOINTS, .parents = parents, .rest = rest};
    return ex_skeleton_create(&def, NULL, &p->skeleton, NULL) == EX_OK;
}

/* The four nearest joints, with weights that fall to 0 at the distance of the fifth. */
static void weigh_vertex(const float *vertex, uint32_t *joints, float *weights) {
    double near[INFLUENCES + 1];
    uint32_t which[INFLUENCES + 1];
    int count = 0;
    for (int j = 0; j < EXI_GPU_BENCH_JOINTS; j++) {
        double place[3], square = 0;
        joint_place(j, place);
        for (int i = 0; i < 3; i++)
            square += (place[i] - (double)vertex[i]) * (place[i] - (double)vertex[i]);
        if (count > INFLUENCES && square >= near[INFLUENCES])
            continue;
        int at = count > INFLUENCES ? INFLUENCES : count++;
        for (; at > 0 && near[at - 1] > square; at--) {
            near[at] = near[at - 1];
            which[at] = which[at - 1];
        }
        near[at] = square;
        which[at] = (uint32_t)j;
    }
    double sum = 0, shares[INFLUENCES];
    for (int i = 0; i < INFLUENCES; i++) {
        shares[i] = 1.001 - sqrt(near[i] / near[INFLUENCES]);
        sum += shares[i] *= shares[i];
    }
    for (int i = 0; i < INFLUENCES; i++) {
        joints[i] = which[i];
        weights[i] = (float)(shares[i] / sum);
    }
}

static bool make_skin(parts *p) {
    const size_t vertices = (size_t)p->vertices;
    p->starts = malloc((vertices + 1) * sizeof *p->starts);
    p->joints = malloc(vertices * INFLUENCES * sizeof *p->joints);
    p->weights = malloc(vertices * INFLUENCES * sizeof *p->weights);
    if (!p->starts || !p->joints || !p->weights)
        return false;
    for (size_t v = 0; v < vertices; v++) {
        p->starts[v] = (uint32_t)(INFLUENCES * v);
        weigh_vertex(p->mesh + 3 * v, p->joints + INFLUENCES * v, p->weights + INFLUENCES * v);
    }
    p->starts[vertices] = (uint32_t)(INFLUENCES * vertices);
    const ex_skin_def def = {p->vertices, EXI_GPU_BENCH_JOINTS, p->starts, p->joints, p->weights};
    return ex_skin_create(&def, NULL, &p->skin, NULL) == EX_OK;
}

/* Examples at corners of the cube of three dials, weighed by cardinal functions. */
ex_result exi_gpu_bench_make_crowd(const exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error) {
    parts *p = calloc(1, sizeof *p);
    if (!p)
        return no_memory(p, error);
    ex_result result = EX_OK;
    if (make_mesh(p, c) && make_triangles(p, c) && make_forms(p, c->examples, 0.1) && make_skeleton(p) &&
        make_skin(p)) {
        ex_weigher_def weigh = ex_weigher_def_default();
        weigh.axes = p->axes;
        weigh.axis_count = DIALS;
        weigh.points = p->points[0];
        weigh.example_count = c->examples;
        for (int k = 0; k < c->examples; k++)
            for (int a = 0; a < DIALS; a++)
                p->points[k][a] = k >> a & 1;
        const ex_layer_def layer = {.name = "l",
                                    .weigh = weigh,
                                    .axis_names = p->name_list,
                                    .example_names = p->name_list,
                                    .form.deltas = (const float *const *)p->forms};
        ex_rig_def def = ex_rig_def_default();
        def.mesh = mesh_of(p);
        def.layers = &layer;
        def.layer_count = 1;
        def.skeleton = p->skeleton;
        def.skin = p->skin;
        def.skinning = c->skinning;
        def.options = (ex_rig_options){.storage = c->storage, .without_normals = !c->normals, .without_tangents = true};
        /* Forms, four influences of 6 bytes, and for normals six neighbours and their start. */
        const double forms = 12 + (c->storage == EX_STORAGE_FLOAT ? 12 : 6) * c->examples;
        result = finish(&def, forms + 24 + (c->normals ? 28 : 0), subject, error);
    } else {
        result = no_memory(p, error);
    }
    close_parts(p);
    return result;
}

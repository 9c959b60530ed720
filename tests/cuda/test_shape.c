/*
 * The GPU's shape stage, run on the host over the GPU's data: rigs of every kind, at random poses, against
 * ex_rig_evaluate. The runtime's own functions compute the input from the stage before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda/lay/lay.h"
#include "cuda/stages/prepare.inl"
#include "cuda/stages/shape_trajectory.inl"
#include "cuda/work.h"
#include "runtime/base/affine.h"
#include "runtime/base/memory.h"
#include "runtime/pose/skin.h"
#include "runtime/rig/rig.h"
#include "runtime/shape/mixture.h"
#include "support/check.h"
#include "support/mixtures.h"
#include "support/whole_rigs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTANCES = 3, LAYERS = 16 };

/* A rig, its GPU data, and the work of a few instances. */
typedef struct stage {
    ex_rig *rig;
    void *block;
    size_t size;
    exi_gpu head;
    exi_gpu_levels levels;
    exi_gpu_job job;
    char *work;
    size_t work_size;
    float *dials;
    ex_transform *joints;
    ex_pose poses[INSTANCES];
    float *expected[INSTANCES];
    double size_of_form, worst; /* the worst difference so far, relative to the size */
    int far;                    /* turns beyond the polynomials */
    bool muted[LAYERS];
} stage;

static void stage_open(stage *s, ex_rig *rig) {
    ex_error error = {0};
    *s = (stage){.rig = rig, .job = {.count = INSTANCES}};
    if (exi_gpu_lay(rig, NULL, NULL, NULL, &s->block, &s->size, &s->head, &s->levels, &error) != EX_OK)
        fail_msg("%s", error.text);
    s->work_size = exi_gpu_work_lay(&s->head, INSTANCES, NULL, &s->job.work);
    s->work = aligned_alloc(16, s->work_size + 16);
    exi_gpu_work_lay(&s->head, INSTANCES, s->work, &s->job.work);
    s->dials = malloc((size_t)(INSTANCES * ex_rig_pose_size(rig) + 1) * sizeof *s->dials);
    s->joints = malloc((size_t)(INSTANCES * ex_rig_joint_count(rig) + 1) * sizeof *s->joints);
    s->job.inputs = s->dials;
    s->job.joints = s->joints;
    for (int i = 0; i < INSTANCES; i++) {
        s->poses[i].inputs = malloc(((size_t)ex_rig_pose_size(rig) + 1) * sizeof(double));
        s->poses[i].joints = malloc(((size_t)ex_rig_joint_count(rig) + 1) * sizeof(ex_transform));
        s->expected[i] = malloc((size_t)ex_rig_vertex_count(rig) * 3 * sizeof(float));
    }
}

static void stage_close(stage *s) {
    for (int i = 0; i < INSTANCES; i++) {
        free(s->poses[i].inputs);
        free(s->poses[i].joints);
        free(s->expected[i]);
    }
    free(s->work);
    free(s->dials);
    free(s->joints);
    exi_release(NULL, s->block, s->size);
    ex_rig_destroy(s->rig);
}

/* ---- preparation ---- */

/* A sum as factors of the stored numbers. */
static void put_factors(const exi_sum *sum, bool is_float, float *factors) {
    for (int i = 0; i < sum->term_count; i++) {
        const exi_term *term = &sum->terms[i];
        factors[term->end / EXI_TILE_FLOATS - 1] = is_float ? term->factor : (float)term->whole * sum->unit;
    }
}

/* A layer of trajectories that is more than a sum. */
static void prepare_path(const stage *s, const exi_trajectories *paths, const double *weights, float *floats,
                         const exi_gpu_trajectory *at, exi_gpu_motion *motion, float *factors, float *appended) {
    const bool is_float = ex_rig_storage(s->rig) == EX_STORAGE_FLOAT;
    exi_term *terms = malloc(((size_t)paths->form_count + 1) * sizeof *terms);
    double(*room)[3] = malloc(((size_t)paths->segment_count + 1) * sizeof *room);
    float(*shifts)[3] = malloc(((size_t)paths->segment_count + 1) * sizeof *shifts);
    exi_trajectory path;
    exi_trajectories_open(paths, exi_rig_forms(s->rig), weights, floats, terms, room, shifts, &path);
    put_factors(&path.turns, is_float, factors);
    put_factors(&path.velocities, is_float, factors);
    put_factors(&path.correctors, is_float, factors);
    memcpy(motion->turn, path.turn, sizeof motion->turn);
    memcpy(motion->centre, path.centre, sizeof motion->centre);
    memcpy(motion->move, path.move, sizeof motion->move);
    motion->moves = path.moves;
    motion->active = 1;
    if (path.shifts)
        memcpy(appended + 3 * at->first_segment, shifts, (size_t)paths->segment_count * sizeof *shifts);
    memset(floats + paths->first_form, 0, (size_t)paths->form_count * sizeof *floats);
    free(terms);
    free(room);
    free(shifts);
}

/* The nodes of a mixture, after its weights. */
static void prepare_nodes(const exi_trajectories *paths, void *room, float *matrices) {
    exi_trajectory path;
    exi_mixture_open(paths, room, &path);
    for (int n = 0; n < paths->mixture.node_count; n++)
        memcpy(matrices + 12 * n, path.matrices + EXI_MATRIX_FLOATS * n, 12 * sizeof(float));
}

/* The weights of a layer of offsets; those of 1e-12 and less have no effect. */
static void prepare_offsets(const stage *s, int l, const ex_pose *pose, const double *weights, float *floats) {
    const exi_layer_record *layer = &exi_rig_layers(s->rig)[l];
    const int32_t *inputs = (const int32_t *)exi_rig_at(s->rig, s->rig->axis_inputs) + layer->first_axis;
    double *sets = calloc((size_t)layer->weight_count + 1, sizeof *sets), *point = calloc(64, sizeof *point),
           *to = point;
    double *again = calloc((size_t)layer->example_count + 1, sizeof *again);
    for (int i = 0; i < layer->axis_count; i++) {
        ex_rig_get_input(s->rig, inputs[i], pose, to);
        to += exi_rig_inputs(s->rig)[inputs[i]].axis.kind == EX_AXIS_SCALAR ? 1 : 4;
    }
    if (layer->flags & EXI_LAYER_MOVED)
        ex_weigher_evaluate_sets(ex_rig_weigher(s->rig, l), point, again, sets);
    else
        memcpy(sets, weights, (size_t)layer->weight_count * sizeof *sets);
    for (int k = 0; k < layer->weight_count; k++)
        floats[layer->first_weight + k] = s->muted[l] || fabs(sets[k]) < 1e-12 ? 0.0F : (float)sets[k];
    free(sets);
    free(point);
    free(again);
}

static void prepare_layers(const stage *s, int instance, const double *weights) {
    const exi_gpu *g = &s->head;
    const exi_gpu_work *w = &s->job.work;
    const ex_forms *forms = exi_rig_forms(s->rig);
    float *floats = calloc((size_t)g->forms + 1, sizeof *floats);
    float *factors = w->factors + (size_t)instance * (size_t)g->forms;
    exi_term *terms = malloc(((size_t)g->forms + 1) * sizeof *terms);
    exi_sum sum;
    for (int k = 0; k < g->forms; k++)
        factors[k] = 0;
    for (int l = 0, path = 0; l < ex_rig_layer_count(s->rig); l++) {
        const exi_layer_record *layer = &exi_rig_layers(s->rig)[l];
        const exi_trajectories *paths = exi_rig_trajectories_of(s->rig, l);
        const double *own = weights + layer->first_example;
        for (int k = 0; layer->domain == EX_DOMAIN_FORM && k < layer->example_count; k++)
            floats[layer->first_form + k] = (float)own[k];
        if (layer->domain == EX_DOMAIN_OFFSETS)
            prepare_offsets(s, l, &s->poses[instance], own,
                            w->offset_weights + (size_t)instance * (size_t)g->offset_weights);
        if (!paths)
            continue;
        exi_gpu_motion *motion = &w->motions[instance * g->path_count + path];
        void *room = malloc(exi_mixture_room_size(paths) + 1);
        *motion = (exi_gpu_motion){.active = 0};
        if (paths->mixture.node_count > 0)
            own = exi_mixture_weigh(paths, own, room, floats + paths->first_form);
        if (exi_trajectories_weigh(paths, own, floats + paths->first_form) && !exi_trajectories_is_sum(paths))
            prepare_path(s, paths, own, floats, &g->paths[path], motion, factors,
                         w->appended + 3 * instance * g->segments);
        if (paths->mixture.node_count > 0)
            prepare_nodes(paths, room,
                          w->matrices + 12 * (instance * g->mixed_nodes + g->paths[path].mixture.first_node));
        free(room);
        path++;
    }
    exi_forms_set_terms(forms, floats, 0, g->forms, false, terms, &sum);
    put_factors(&sum, forms->storage == EX_STORAGE_FLOAT, factors);
    free(floats);
    free(terms);
}

static void prepare_skin(const stage *s, int instance, const double *weights) {
    const exi_gpu *g = &s->head;
    const exi_gpu_work *w = &s->job.work;
    const ex_skeleton *skeleton = ex_rig_skeleton(s->rig);
    const size_t joints = (size_t)g->joints;
    float *matrices = malloc(joints * 22 * sizeof *matrices), *centres = matrices + joints * 12;
    float *turns = matrices + joints * 18;
    float *shifts = memset(matrices + joints * 15, 0, joints * 3 * sizeof *shifts);
    void *scratch = malloc(ex_skeleton_scratch_size(skeleton));
    void *memory = malloc(ex_palette_size((ex_skinning)g->skinning, g->joints));
    for (int i = 0; i < s->rig->counts.shifts; i++)
        for (size_t c = 0; c < 3 * joints; c++)
            shifts[c] += (float)weights[exi_rig_shifts(s->rig)[i].example] *
                         ((const float *)exi_rig_at(s->rig, exi_rig_shifts(s->rig)[i].data))[c];
    ex_skeleton_evaluate(skeleton, &(ex_skeleton_input){.locals = s->poses[instance].joints, .shifts = shifts},
                         &(ex_skeleton_output){.matrices = matrices, .centres = centres, .turns = turns}, scratch);
    const ex_palette *palette = ex_palette_make(&(ex_palette_def){.method = (ex_skinning)g->skinning,
                                                                  .joint_count = g->joints,
                                                                  .matrices = matrices,
                                                                  .centres = centres,
                                                                  .rotations = w->duals != NULL,
                                                                  .turns = turns,
                                                                  .scale = ex_skeleton_scale(skeleton)},
                                                memory);
    for (size_t j = 0; j < joints; j++) {
        const size_t at = (size_t)instance * joints + j;
        memcpy(w->palette + 12 * at, exi_palette_affine(palette) + EXI_MATRIX_FLOATS * j, 12 * sizeof(float));
        if (w->duals)
            memcpy(w->duals + 8 * at, exi_palette_duals(palette) + 8 * j, 8 * sizeof(float));
    }
    w->stretched[instance] = palette->stretched;
    free(matrices);
    free(scratch);
    free(memory);
}

/* ---- comparing ---- */

/* Evaluates random poses on the CPU, and prepares the work. reach: distance of inputs beyond [0, 1]. */
static void prepare(stage *s, uint64_t *random, double reach, bool rigid, const ex_evaluation *evaluation) {
    void *scratch = malloc(ex_rig_scratch_size(s->rig, evaluation, 1));
    double *weights = malloc(((size_t)ex_rig_example_count(s->rig) + 1) * sizeof *weights);
    s->job.skinned = s->head.skin_joints && !evaluation->unskinned;
    s->size_of_form = 0;
    for (int i = 0; i < INSTANCES; i++) {
        ex_rig_rest_pose(s->rig, &s->poses[i]);
        for (int k = 0; k < ex_rig_pose_size(s->rig); k++)
            s->poses[i].inputs[k] = (double)(float)random_between(random, -reach, 1 + reach);
        for (int k = 0; k < ex_rig_joint_count(s->rig); k++)
            for (int c = 0; c < 4; c++) {
                s->poses[i].joints[k].rotation[c] += (float)random_between(random, -0.5, 0.5);
                if (c < 3)
                    s->poses[i].joints[k].scale[c] *= rigid ? 1 : (float)random_between(random, 0.8, 1.2);
            }
        float box[6];
        ex_rig_evaluate(s->rig, &s->poses[i], &(ex_output){.positions = s->expected[i], .weights = weights, .box = box},
                        evaluation, scratch);
        for (int c = 0; c < 3; c++)
            s->size_of_form = fmax(s->size_of_form, (double)(box[3 + c] - box[c]));
        prepare_layers(s, i, weights);
        if (s->job.skinned)
            prepare_skin(s, i, weights);
    }
    free(scratch);
    free(weights);
}

static void compare(stage *s, int instance, int vertex, const float position[3], const char *what) {
    for (int c = 0; c < 3; c++) {
        const double expected = (double)s->expected[instance][3 * vertex + c];
        const double difference = fabs((double)position[c] - expected) / s->size_of_form;
        s->worst = fmax(s->worst, difference);
        if (!(difference <= 2e-6))
            fail_msg("%s: instance %d, vertex %d, axis %d: %g, not %g (%g of the form's size)", what, instance, vertex,
                     c, (double)position[c], expected, difference);
    }
}

static void check_vertices(stage *s, const char *what) {
    for (int i = 0; i < INSTANCES; i++)
        for (int v = 0; v < s->head.vertices; v++) {
            float position[3];
            exi_gpu_shape(&s->head, &s->job, i, v, position);
            compare(s, i, v, position, what);
        }
}

/* The nodes of all mixtures as the GPU computes them: of one instance, or of all of them together. */
static void place_nodes(stage *s, bool together, int parts) {
    float *room = malloc(EXI_MIX_SIDE * exi_gpu_mix_room(&s->head, parts) * sizeof *room);
    const exi_team team = {.lanes = 1};
    for (int path = 0; path < s->head.path_count; path++) {
        if (s->head.paths[path].mixture.node_count == 0)
            continue;
        for (int i = 0; i < (together ? 1 : INSTANCES); i++)
            exi_gpu_mix_nodes(&s->head, &s->job,
                              &(exi_gpu_mixes){.first = i,
                                               .last = INSTANCES - 1,
                                               .side = together ? EXI_MIX_SIDE : 1,
                                               .path = path,
                                               .parts = parts,
                                               .room = room},
                              team);
    }
    free(room);
}

/* With the present work, and as the GPU would have prepared it. */
static void check(stage *s, const char *what) {
    const int dials = s->head.pose_size, joints = s->head.joints;
    check_vertices(s, what);
    memset(s->work, 0xFF, s->work_size);
    memset(s->job.muted, 0, sizeof s->job.muted);
    for (int l = 0; l < LAYERS; l++)
        s->job.muted[0] |= (uint32_t)s->muted[l] << l;
    for (int i = 0; i < INSTANCES; i++) {
        for (int k = 0; k < dials; k++)
            s->dials[i * dials + k] = (float)s->poses[i].inputs[k];
        for (int k = 0; k < joints; k++)
            s->joints[i * joints + k] = s->poses[i].joints[k];
    }
    for (int i = 0; i < INSTANCES; i++)
        exi_gpu_prepare(&s->head, &s->job, i, (exi_team){.lanes = 1});
    place_nodes(s, false, 1);
    check_vertices(s, what);
    if (s->head.mixed_nodes > 0) {
        memset(s->job.work.matrices, 0xFF, INSTANCES * (size_t)s->head.mixed_nodes * 12 * sizeof(float));
        place_nodes(s, true, EXI_GPU_MIX_PARTS);
        check_vertices(s, what);
    }
}

/* By the path for one trajectory, if that is all there is. */
static void check_alone(stage *s, const char *what) {
    const exi_gpu *g = &s->head;
    const int examples = exi_trajectory_examples(&g->alone), correctors = g->alone.corrector_count;
    assert_true(exi_gpu_is_alone(g, &s->job));
    for (int v = 0; v < g->vertices; v++) {
        exi_trajectory_vertex vertex;
        exi_trajectory_read_vertex(g, v, examples, correctors, &vertex);
        for (int i = 0; i < INSTANCES; i++) {
            exi_trajectory_record record;
            exi_trajectory_site site = {.t = 0};
            exi_trajectory_open(g, &s->job.work, i, examples, correctors, &record);
            exi_trajectory_begin(&vertex, &record, examples, correctors, &site);
            s->far += site.t > 1;
            if (examples > 0)
                exi_trajectory_turn(&site, site.t > 1 ? exi_trajectory_far(site.t) : exi_trajectory_near(site.t));
            if (g->alone.segments)
                exi_trajectory_shift(g, v, &record, s->job.work.appended + 3 * i * g->segments, site.out);
            exi_trajectory_move(&record, site.out); /* some of a batch are not moved, and keep their place */
            if (g->alone.mask)
                exi_trajectory_mask(g, v, &vertex, site.out);
            compare(s, i, v, site.out, what);
        }
    }
}

/* One to six influences per vertex, each a tenth of the one before: the smallest matters too. */
static ex_skin *make_steep_skin(int vertices) {
    uint32_t *starts = malloc(((size_t)vertices + 1) * sizeof *starts), count = 0;
    uint32_t *joints = malloc((size_t)vertices * WHOLE_JOINTS * sizeof *joints);
    float *weights = malloc((size_t)vertices * WHOLE_JOINTS * sizeof *weights);
    for (int v = 0; v < vertices; v++) {
        float weight = 1;
        starts[v] = count;
        for (int k = 0; k <= v % WHOLE_JOINTS; k++, count++, weight /= 10) {
            joints[count] = (uint32_t)((k + v) % WHOLE_JOINTS);
            weights[count] = weight;
        }
    }
    starts[vertices] = count;
    ex_skin *skin = NULL;
    const ex_skin_def def = {vertices, WHOLE_JOINTS, starts, joints, weights};
    assert_int_equal(ex_skin_create(&def, NULL, &skin, NULL), EX_OK);
    free(starts);
    free(joints);
    free(weights);
    return skin;
}

/* ---- tests ---- */

static void test_whole_rigs(void **state) {
    (void)state;
    static const int parts[] = {0, WHOLE_SKELETON | WHOLE_SKIN, WHOLE_PATHS | WHOLE_PIXELS, WHOLE_OFFSETS,
                                WHOLE_SKELETON | WHOLE_SKIN | WHOLE_OFFSETS | WHOLE_PATHS | WHOLE_PIXELS};
    static const int counts[] = {5, 33, 64, 1100};
    uint64_t random = 11;
    double worst = 0;
    for (int i = 0; i < (int)(sizeof parts / sizeof *parts) * 16; i++) {
        const int of = parts[i / 16], count = counts[i / 4 % 4];
        whole_rig w;
        whole_rig_open(&w, count, of);
        w.def.options.storage = i & 1 ? EX_STORAGE_16_BIT : EX_STORAGE_FLOAT;
        w.def.skinning = i & 2 ? EX_SKINNING_DUAL_QUATERNION : EX_SKINNING_LINEAR;
        ex_skin *steep = (of & WHOLE_SKIN) && count == 64 ? make_steep_skin(count) : NULL;
        if (steep)
            w.def.skin = steep;
        stage s;
        stage_open(&s, rig_of(&w.def));
        whole_rig_close(&w);
        ex_skin_destroy(steep);
        for (int round = 0; round < 4; round++) {
            char what[64];
            snprintf(what, sizeof what, "parts %d, %d vertices, kind %d, round %d", of, count, i & 3, round);
            for (int l = 0; l < LAYERS; l++)
                s.muted[l] = round == 2 && random_bits(&random) % 2;
            prepare(&s, &random, 0.5, round == 1, &(ex_evaluation){.muted = s.muted, .unskinned = round == 3});
            check(&s, what);
        }
        worst = fmax(worst, s.worst);
        stage_close(&s);
    }
    print_message("worst difference of whole rigs: %.2g of the form's size\n", worst);
}

/* A rig of one layer of the first trajectories, whose weights are its dials. */
static void open_paths(stage *s, const float *mesh, int count, int parts, int examples, ex_storage storage) {
    static const char *const dials[PATHS_EXAMPLES] = {"a", "b", "c", "d"};
    static const ex_axis axes[PATHS_EXAMPLES] = {{.max = 1}, {.max = 1}, {.max = 1}, {.max = 1}};
    ex_rig_def def = ex_rig_def_default();
    path_layer layer;
    path_layer_open(&layer, mesh, count, parts, 5);
    if (parts & PATHS_TURNS)
        layer.trajectories[2].turns = mesh; /* so that turns are summed; the last has none */
    layer.def.weigh = ex_weigher_def_default();
    layer.def.weigh.kind = EX_WEIGHER_DIRECT;
    layer.def.weigh.axes = axes;
    layer.def.weigh.axis_count = layer.def.weigh.example_count = examples;
    layer.def.axis_names = dials;
    def.mesh = (ex_rig_mesh){.vertex_count = count, .split_count = count, .positions = mesh};
    def.layers = &layer.def;
    def.layer_count = 1;
    def.options.storage = storage;
    stage_open(s, rig_of(&def));
    path_layer_close(&layer);
}

static void test_paths(void **state) {
    (void)state;
    enum { COUNT = 45 };
    uint64_t random = 3;
    double worst = 0;
    float mesh[COUNT][3];
    for (int i = 0; i < 3 * COUNT; i++)
        mesh[i / 3][i % 3] = (float)random_between(&random, -1, 1);
    for (int parts = 0; parts <= PATHS_ALL; parts++)
        for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
            char what[64];
            stage s;
            open_paths(&s, mesh[0], COUNT, parts, PATHS_EXAMPLES, (ex_storage)storage);
            for (int round = 0; round < 2; round++) { /* the second turns further than polynomials go */
                snprintf(what, sizeof what, "paths %d, storage %d, round %d", parts, storage, round);
                prepare(&s, &random, 5 * round, true, &(ex_evaluation){0});
                check(&s, what);
            }
            worst = fmax(worst, s.worst);
            stage_close(&s);
        }
    print_message("worst difference of paths: %.2g of the form's size\n", worst);
}

/* Input of the kernel for many instances; one of the examples is the reference. */
static void test_paths_alone(void **state) {
    (void)state;
    enum { COUNT = 70 };
    static const struct {
        int parts, examples;
    } kinds[] = {{PATHS_TURNS, 2},
                 {PATHS_TURNS | PATHS_CORRECTORS, 2},
                 {PATHS_SCREWS, 2},
                 {PATHS_TURNS | PATHS_CORRECTORS | PATHS_SCREWS | PATHS_BASES | PATHS_MASK, 2},
                 {PATHS_TURNS, 3},
                 {PATHS_SCREWS | PATHS_MASK, 4},
                 {PATHS_TURNS | PATHS_SCREWS | PATHS_BASES | PATHS_OVERLAPS, 4},
                 {PATHS_TURNS | PATHS_CORRECTORS | PATHS_MASK, 3}};
    enum { KINDS = (int)(sizeof kinds / sizeof kinds[0]) };
    uint64_t random = 4;
    double worst = 0;
    int far = 0;
    float mesh[COUNT][3];
    for (int i = 0; i < 3 * COUNT; i++)
        mesh[i / 3][i % 3] = (float)random_between(&random, -1, 1);
    for (int kind = 0; kind < 2 * KINDS; kind++) {
        stage s;
        open_paths(&s, mesh[0], COUNT, kinds[kind / 2].parts, kinds[kind / 2].examples,
                   kind & 1 ? EX_STORAGE_16_BIT : EX_STORAGE_FLOAT);
        for (int round = 0; round < 3; round++) {
            char what[64];
            snprintf(what, sizeof what, "paths alone, kind %d, round %d", kind, round);
            s.muted[0] = round == 2;
            prepare(&s, &random, 5 * round, true, &(ex_evaluation){.muted = s.muted}); /* beyond polynomials */
            check_alone(&s, what);
        }
        worst = fmax(worst, s.worst);
        far += s.far;
        stage_close(&s);
    }
    print_message("worst difference of paths alone: %.2g of the form's size\n", worst);
    assert_true(far > 0);
}

/* The lists of nodes of groups of vertices, which only kernels read: each node with a share is where its place says. */
static void check_groups(const exi_gpu *g, const exi_gpu_mixture *m) {
    const uint16_t *nodes = (const void *)(g->block + m->nodes),
                   *places = (const void *)(g->block + m->places_in_group);
    const uint16_t *lists = (const void *)(g->block + m->group_nodes);
    const uint32_t *starts = (const void *)(g->block + m->group_starts);
    const float *shares = (const void *)(g->block + m->shares);
    for (int i = 0; i < EX_NODE_SHARES * g->vertices; i++) {
        const int group = i / (EX_NODE_SHARES * EXI_GPU_MIX_GROUP);
        assert_in_range(starts[group + 1] - starts[group], 1, m->most_nodes);
        assert_true(places[i] < starts[group + 1] - starts[group]);
        if (shares[i] != 0)
            assert_int_equal(lists[starts[group] + places[i]], nodes[i]);
    }
}

/* Mixtures with everything that one can have, within the simplex of weights and far beyond, alone and among other
 * layers. */
static void test_mixtures(void **state) {
    (void)state;
    enum { COUNT = 300 };
    uint64_t random = 5;
    double worst = 0;
    static float mesh[COUNT][3];
    for (int i = 0; i < 3 * COUNT; i++)
        mesh[i / 3][i % 3] = (float)random_between(&random, -1, 1);
    for (int parts = 0; parts <= MIXED_ALL; parts++)
        for (int kind = 0; kind < 4; kind++) {
            mixed_layer mixed[2];
            path_layer path;
            ex_layer_def layers[3];
            stage s;
            mixed_layer_open(&mixed[0], mesh[0], COUNT, 0, parts, 1 + (uint64_t)parts);
            mixed_layer_open(&mixed[1], mesh[0], COUNT, 0, MIXED_ALL, 7);
            path_layer_open(&path, mesh[0], COUNT, PATHS_ALL, 5);
            layers[0] = mixed[0].def;
            layers[1] = path.def;
            layers[2] = mixed[1].def;
            layers[2].name = "mixed too";
            ex_rig_def def = ex_rig_def_default();
            def.mesh = (ex_rig_mesh){.vertex_count = COUNT, .split_count = COUNT, .positions = mesh[0]};
            def.layers = layers;
            def.layer_count = kind / 2 ? 3 : 1;
            def.options.storage = kind % 2 ? EX_STORAGE_16_BIT : EX_STORAGE_FLOAT;
            stage_open(&s, rig_of(&def));
            check_groups(&s.head, &s.head.paths[0].mixture);
            check_groups(&s.head, &s.head.alone.mixture);
            for (int round = 0; round < 4; round++) {
                char what[64];
                snprintf(what, sizeof what, "mixture %d, kind %d, round %d", parts, kind, round);
                for (int l = 0; l < LAYERS; l++)
                    s.muted[l] = round == 3 && l % 2 == 0;
                prepare(&s, &random, round == 2 ? 4 : 0.2 * round, true, &(ex_evaluation){.muted = s.muted});
                check(&s, what);
            }
            worst = fmax(worst, s.worst);
            stage_close(&s);
            mixed_layer_close(&mixed[0]);
            mixed_layer_close(&mixed[1]);
            path_layer_close(&path);
        }
    print_message("worst difference of mixtures: %.2g of the form's size\n", worst);
}

/* Turns longer than the range of polynomials, up to infinite ones: the effect of an error on the path, relative to its
 * length. */
static void test_far_turns(void **state) {
    (void)state;
    double worst = 0;
    for (double angle = 5.66; angle < 3e5; angle *= 1.0007) {
        const float t = (float)(angle * angle * (2 / (double)EXI_TURN_FAR) - 1);
        const double z = ((double)t + 1) * ((double)EXI_TURN_FAR / 2);
        const exi_trajectory_factors factors = exi_trajectory_far(t);
        double a, b, sinc;
        exi_turn_factors(z, &a, &b, &sinc);
        worst = fmax(worst, fmax(fabs((double)factors.a - a) * sqrt(z), fabs((double)factors.b - b) * z));
    }
    print_message("worst error of far turns: %.2g of the way\n", worst);
    assert_true(worst < 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_rigs), cmocka_unit_test(test_paths),     cmocka_unit_test(test_paths_alone),
        cmocka_unit_test(test_mixtures),   cmocka_unit_test(test_far_turns),
    };
    return cmocka_run_group_tests_name("cuda.shape", tests, NULL, NULL);
}

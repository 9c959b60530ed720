/*
 * Layers of trajectories in a rig: rigid motions, ends, and sums of several examples against a simple evaluation in
 * double; 16 bits, threads, muting, other weighers, skin and levels after them; reading back; errors. Files of them are
 * in test_trajectory_pack.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/whole_rigs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 101 };

static const double pi = 3.14159265358979323846;

static const char *const dials[4] = {"a", "b", "c", "d"};
static const ex_axis dial = {.kind = EX_AXIS_SCALAR, .min = 0, .max = 1};
static const ex_axis dial_axes[4] = {{.max = 1}, {.max = 1}, {.max = 1}, {.max = 1}};

static float *draw_form(uint64_t *random, int vertex_count) {
    float *form = malloc(3 * (size_t)vertex_count * sizeof *form);
    for (int i = 0; i < 3 * vertex_count; i++)
        form[i] = (float)random_between(random, -1, 1);
    return form;
}

static ex_rig_def def_of(const float *mesh, int vertex_count, const ex_layer_def *layer) {
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = vertex_count, .split_count = vertex_count, .positions = mesh};
    def.layers = layer;
    def.layer_count = 1;
    return def;
}

/* Weights are the values of the dials. */
static void weigh_directly(ex_layer_def *layer) {
    layer->weigh = ex_weigher_def_default();
    layer->weigh.kind = EX_WEIGHER_DIRECT;
    layer->weigh.axes = dial_axes;
    layer->weigh.axis_count = layer->weigh.example_count = PATHS_EXAMPLES;
    layer->axis_names = dials;
}

static void evaluate(const ex_rig *rig, const double *inputs, const ex_evaluation *evaluation, float *positions) {
    void *scratch = malloc(ex_rig_scratch_size(rig, evaluation, 1));
    double own[16];
    memcpy(own, inputs, (size_t)ex_rig_pose_size(rig) * sizeof *own);
    ex_rig_evaluate(rig, &(ex_pose){.inputs = own}, &(ex_output){.positions = positions}, evaluation, scratch);
    free(scratch);
}

/* ---- rigid motions ---- */

/* x turned by t w about a point, and moved along: the expected place of a vertex. */
typedef struct motion {
    double w[3], about[3], along;
} motion;

static void move(const motion *m, double t, const double x[3], double out[3]) {
    const double angle = sqrt(m->w[0] * m->w[0] + m->w[1] * m->w[1] + m->w[2] * m->w[2]);
    double turn[3];
    for (int c = 0; c < 3; c++) {
        turn[c] = t * m->w[c];
        out[c] = x[c] - m->about[c];
    }
    plain_rotate(turn, out, out);
    for (int c = 0; c < 3; c++)
        out[c] += m->about[c] + t * m->along * m->w[c] / angle;
}

static motion draw_motion(uint64_t *random, double degrees, double distance, double along) {
    motion m = {.along = along};
    double size = 0, far = 0;
    for (int c = 0; c < 3; c++) {
        m.w[c] = random_between(random, -1, 1);
        m.about[c] = random_between(random, -1, 1);
        size += m.w[c] * m.w[c];
        far += m.about[c] * m.about[c];
    }
    for (int c = 0; c < 3; c++) {
        m.w[c] *= degrees * pi / 180 / sqrt(size);
        m.about[c] *= distance / sqrt(far);
    }
    return m;
}

/* The same motion as one screw, or as a turn for every vertex. */
static void check_motion(const motion *m, const float *mesh, bool by_screw, ex_storage storage, double tolerance) {
    float deltas[VERTICES][3], turns[VERTICES][3], out[VERTICES][3];
    const float *delta_list[1] = {deltas[0]};
    ex_trajectory path = {.turns = by_screw ? NULL : turns[0]};
    ex_layer_def layer = {.name = "way",
                          .domain = EX_DOMAIN_TRAJECTORY,
                          .weigh = ex_weigher_def_default(),
                          .axis_names = dials,
                          .example_names = dials,
                          .form.deltas = delta_list,
                          .trajectory.examples = &path,
                          .trajectory.reference = -1,
                          .trajectory.centre = {0.1, 0.2, -0.1}};
    layer.weigh.kind = EX_WEIGHER_DIRECT;
    layer.weigh.axes = &dial;
    layer.weigh.axis_count = layer.weigh.example_count = 1;
    const double angle = sqrt(m->w[0] * m->w[0] + m->w[1] * m->w[1] + m->w[2] * m->w[2]);
    for (int c = 0; by_screw && c < 3; c++) { /* the centre's velocity: w x (centre - about) + along */
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        path.screw.turn[c] = m->w[c];
        path.screw.move[c] = m->w[d] * (layer.trajectory.centre[e] - m->about[e]) -
                             m->w[e] * (layer.trajectory.centre[d] - m->about[d]) + m->along * m->w[c] / angle;
    }
    for (int v = 0; v < VERTICES; v++) {
        const double x[3] = {(double)mesh[3 * v], (double)mesh[3 * v + 1], (double)mesh[3 * v + 2]};
        double end[3];
        move(m, 1, x, end);
        for (int c = 0; c < 3; c++) {
            deltas[v][c] = (float)(end[c] - x[c]);
            turns[v][c] = (float)m->w[c];
        }
    }
    ex_rig_def def = def_of(mesh, VERTICES, &layer);
    def.options.storage = storage;
    ex_rig *rig = rig_of(&def);
    for (double t = 0; t <= 1.001; t += 0.125) {
        evaluate(rig, &t, NULL, out[0]);
        for (int v = 0; v < VERTICES; v++) {
            const double x[3] = {(double)mesh[3 * v], (double)mesh[3 * v + 1], (double)mesh[3 * v + 2]};
            double place[3];
            move(m, t, x, place);
            for (int c = 0; c < 3; c++)
                assert_near((double)out[v][c], place[c], tolerance);
        }
    }
    ex_rig_destroy(rig);
}

static void rigid_motions_are_exact(void **state) {
    (void)state;
    uint64_t random = 12;
    float *mesh = draw_form(&random, VERTICES);
    static const double degrees[] = {0.001, 5, 90, 150, 175, 250, 318}, distances[] = {0, 0.5, 5};
    for (int a = 0; a < 7; a++) /* the last two are beyond the required range, and have a looser tolerance */
        for (int d = 0; d < 3; d++)
            for (int way = 0; way < 4; way++) {
                const motion m = draw_motion(&random, degrees[a], distances[d], way % 2 ? 1.3 : 0);
                check_motion(&m, mesh, way / 2 != 0, EX_STORAGE_FLOAT, a < 5 ? 1e-5 : 4e-5);
                /* 16 bits: a part in 65536 of the longest velocity, which is 3 (distance + 2) here */
                if (way == 0 && a < 5)
                    check_motion(&m, mesh, false, EX_STORAGE_16_BIT, 3e-4 * (1 + distances[d]));
            }
    free(mesh);
}

/* ---- ends, and everywhere else ---- */

static const int part_sets[] = {0,
                                PATHS_CORRECTORS,
                                PATHS_TURNS,
                                PATHS_TURNS | PATHS_CORRECTORS,
                                PATHS_SCREWS,
                                PATHS_BASES,
                                PATHS_MASK,
                                PATHS_CORRECTORS | PATHS_OVERLAPS,
                                PATHS_ALL & ~PATHS_MASK,
                                PATHS_ALL};
enum { PART_SETS = sizeof part_sets / sizeof *part_sets };

static void ends_are_the_examples(void **state) {
    (void)state;
    uint64_t random = 13;
    float *mesh = draw_form(&random, VERTICES), out[VERTICES][3];
    for (int i = 0; i < PART_SETS; i++) {
        path_layer p;
        path_layer_open(&p, mesh, VERTICES, part_sets[i], 40 + (uint64_t)i);
        for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
            ex_rig_def def = def_of(mesh, VERTICES, &p.def);
            def.options.storage = (ex_storage)storage;
            ex_rig *rig = rig_of(&def);
            for (int k = 0; k < PATHS_EXAMPLES; k++) {
                evaluate(rig, &p.def.weigh.points[k], NULL, out[0]);
                for (int v = 0; v < VERTICES; v++)
                    for (int c = 0; c < 3; c++) {
                        const double mask = p.def.mask ? (double)p.def.mask[v] : 1;
                        const double end = k == PATHS_REFERENCE ? 0 : (double)p.delta_list[k][3 * v + c];
                        assert_near((double)out[v][c], (double)mesh[3 * v + c] + mask * end, storage ? 2e-4 : 2e-6);
                    }
            }
            ex_rig_destroy(rig);
        }
        path_layer_close(&p);
    }
    free(mesh);
}

static void sums_are_as_the_formula_has_them(void **state) {
    (void)state;
    uint64_t random = 14;
    float *mesh = draw_form(&random, VERTICES), out[VERTICES][3];
    for (int i = 0; i < PART_SETS; i++) {
        path_layer p;
        path_layer_open(&p, mesh, VERTICES, part_sets[i], 60 + (uint64_t)i);
        weigh_directly(&p.def);
        for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
            ex_rig_def def = def_of(mesh, VERTICES, &p.def);
            def.options.storage = (ex_storage)storage;
            ex_rig *rig = rig_of(&def);
            for (int round = 0; round < 5; round++) {
                double weights[4], plain[3];
                /* the last far beyond the examples: the first one's turns continue for up to 9 radians */
                for (int k = 0; k < 4; k++)
                    weights[k] = round == 4 ? 3 - k : random_between(&random, -0.5, 1.2);
                weights[3] = round == 1 || round == 2 ? 0 : weights[3];
                weights[2] = round == 2 ? 0 : weights[2]; /* one alone */
                evaluate(rig, weights, NULL, out[0]);
                for (int v = 0; v < VERTICES; v += 3) {
                    plain_path(&p.def, mesh, weights, v, plain);
                    for (int c = 0; c < 3; c++)
                        assert_near((double)out[v][c], (double)mesh[3 * v + c] + plain[c],
                                    (storage ? 3e-4 : 4e-6) * (round == 4 ? 10 : 1));
                }
            }
            ex_rig_destroy(rig);
        }
        path_layer_close(&p);
    }
    free(mesh);
}

/* Two layers of trajectories and one of forms, which share the dial. */
static void layers_add_up(void **state) {
    (void)state;
    uint64_t random = 21;
    float *mesh = draw_form(&random, VERTICES), out[VERTICES][3];
    path_layer p, q;
    path_layer_open(&p, mesh, VERTICES, PATHS_ALL, 70);
    path_layer_open(&q, mesh, VERTICES, PATHS_ALL & ~PATHS_SCREWS, 71);
    ex_layer_def layers[3] = {p.def, p.def, q.def};
    const float *deltas[PATHS_EXAMPLES] = {q.delta_list[0], q.delta_list[2], q.delta_list[3], q.delta_list[0]};
    layers[1].name = "forms";
    layers[1].domain = EX_DOMAIN_FORM;
    layers[1].form.deltas = deltas;
    layers[1].mask = NULL;
    layers[2].name = "more paths";
    ex_rig_def def = def_of(mesh, VERTICES, layers);
    def.layer_count = 3;
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        def.options.storage = (ex_storage)storage;
        ex_rig *rig = rig_of(&def);
        for (double way = 0.2; way < 3; way += 0.7) {
            double weights[3 * PATHS_EXAMPLES], a[3], b[3], dial_value = way;
            void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
            ex_rig_evaluate(rig, &(ex_pose){.inputs = &dial_value},
                            &(ex_output){.positions = out[0], .weights = weights}, NULL, scratch);
            free(scratch);
            for (int v = 0; v < VERTICES; v += 4) {
                plain_path(&p.def, mesh, weights, v, a);
                plain_path(&q.def, mesh, weights, v, b);
                for (int c = 0; c < 3; c++) {
                    double x = (double)mesh[3 * v + c] + a[c] + b[c];
                    for (int k = 0; k < PATHS_EXAMPLES; k++)
                        x += weights[k] * (double)deltas[k][3 * v + c];
                    assert_near((double)out[v][c], x, storage ? 6e-4 : 8e-6);
                }
            }
        }
        ex_rig_destroy(rig);
    }
    path_layer_close(&p);
    path_layer_close(&q);
    free(mesh);
}

/* In any layout, vertices are the same to the bit. */
static void strides_and_boxes(void **state) {
    (void)state;
    uint64_t random = 22;
    float *mesh = draw_form(&random, VERTICES), out[VERTICES][3], wide[VERTICES][5], box[6];
    path_layer p;
    path_layer_open(&p, mesh, VERTICES, PATHS_TURNS | PATHS_SCREWS | PATHS_CORRECTORS, 72);
    weigh_directly(&p.def);
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++)
        for (int alone = 0; alone < 2; alone++) {
            double weights[4] = {0.7, 0, alone ? 0 : 0.4, 0};
            ex_rig_def def = def_of(mesh, VERTICES, &p.def);
            def.options.storage = (ex_storage)storage;
            ex_rig *rig = rig_of(&def);
            void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
            evaluate(rig, weights, NULL, out[0]);
            ex_rig_evaluate(rig, &(ex_pose){.inputs = weights},
                            &(ex_output){.positions = wide[0], .position_stride = sizeof wide[0], .box = box}, NULL,
                            scratch);
            for (int v = 0; v < VERTICES; v++)
                assert_memory_equal(wide[v], out[v], sizeof out[v]);
            for (int c = 0; c < 3; c++) {
                float low = out[0][c], high = out[0][c];
                for (int v = 1; v < VERTICES; v++) {
                    low = out[v][c] < low ? out[v][c] : low;
                    high = out[v][c] > high ? out[v][c] : high;
                }
                assert_true(box[c] == low && box[3 + c] == high);
            }
            free(scratch);
            ex_rig_destroy(rig);
        }
    path_layer_close(&p);
    free(mesh);
}

/* Without turns, screws, segments and mask, a layer equals a layer of forms, to the bit. */
static void without_turns_it_is_a_sum_of_forms(void **state) {
    (void)state;
    uint64_t random = 15;
    float *mesh = draw_form(&random, VERTICES), out[VERTICES][3], straight[VERTICES][3];
    float zeros[3 * VERTICES] = {0};
    path_layer p;
    path_layer_open(&p, mesh, VERTICES, 0, 7);
    ex_rig_def def = def_of(mesh, VERTICES, &p.def);
    ex_rig *rig = rig_of(&def);
    ex_layer_def forms = p.def;
    const float *deltas[PATHS_EXAMPLES];
    for (int k = 0; k < PATHS_EXAMPLES; k++)
        deltas[k] = k == PATHS_REFERENCE ? zeros : p.delta_list[k];
    forms.domain = EX_DOMAIN_FORM;
    forms.form.deltas = deltas;
    def.layers = &forms;
    ex_rig *other = rig_of(&def);
    for (double t = -1; t < 4; t += 0.37) {
        evaluate(rig, &t, NULL, out[0]);
        evaluate(other, &t, NULL, straight[0]);
        assert_memory_equal(out, straight, sizeof out);
    }
    ex_rig_destroy(rig);
    ex_rig_destroy(other);
    path_layer_close(&p);
    free(mesh);
}

/* ---- the rest of a rig around it ---- */

/* Pieces of odd sizes, from the back. */
static void cut_oddly(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)grain;
    for (int end = count, size = 1 + *(int *)user % 3; end > 0; end -= size) {
        size = size < end ? size : end;
        body(context, end - size, end);
        ++*(int *)user;
    }
}

static void cuts_and_company_do_not_matter(void **state) {
    (void)state;
    enum { MANY = 5000, POSES = 5 };
    uint64_t random = 16;
    float *mesh = draw_form(&random, MANY), *one = malloc(MANY * 12 * POSES), *many = malloc(MANY * 12 * POSES);
    path_layer p;
    path_layer_open(&p, mesh, MANY, PATHS_ALL, 8);
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        ex_rig_def def = def_of(mesh, MANY, &p.def);
        def.options.storage = (ex_storage)storage;
        ex_rig *rig = rig_of(&def);
        double inputs[POSES];
        ex_pose poses[POSES];
        ex_output outputs[POSES];
        float boxes[POSES][6];
        for (int i = 0; i < POSES; i++) {
            inputs[i] = 0.3 + 0.6 * i;
            evaluate(rig, &inputs[i], NULL, one + (size_t)i * MANY * 3);
            poses[i] = (ex_pose){.inputs = &inputs[i]};
            outputs[i] = (ex_output){.positions = many + (size_t)i * MANY * 3, .box = boxes[i]};
        }
        int calls = 0;
        const ex_tasks tasks = {cut_oddly, &calls};
        const ex_evaluation evaluation = {.tasks = &tasks};
        void *scratch = malloc(ex_rig_scratch_size(rig, &evaluation, POSES));
        ex_rig_evaluate_many(rig, POSES, poses, outputs, &evaluation, scratch);
        assert_true(calls > 2);
        assert_memory_equal(one, many, MANY * 12 * POSES);
        for (int i = 0; i < POSES; i++)
            for (int c = 0; c < 3; c++) {
                float low = 1e9F;
                for (int v = 0; v < MANY; v++)
                    low = fminf(low, one[((size_t)i * MANY + (size_t)v) * 3 + (size_t)c]);
                assert_true(boxes[i][c] == low);
            }
        free(scratch);
        ex_rig_destroy(rig);
    }
    path_layer_close(&p);
    free(mesh);
    free(one);
    free(many);
}

static void muted_layers_and_other_weighers(void **state) {
    (void)state;
    uint64_t random = 17;
    float *mesh = draw_form(&random, VERTICES), out[VERTICES][3], other[VERTICES][3];
    path_layer p;
    path_layer_open(&p, mesh, VERTICES, PATHS_ALL, 9);
    ex_rig_def def = def_of(mesh, VERTICES, &p.def);
    ex_rig *rig = rig_of(&def);
    const bool muted[1] = {true};
    const double at = 1.6, elsewhere = 2.1;
    evaluate(rig, &at, &(ex_evaluation){.muted = muted}, out[0]);
    assert_memory_equal(out, mesh, sizeof out);
    double points[PATHS_EXAMPLES];
    for (int k = 0; k < PATHS_EXAMPLES; k++)
        points[k] = p.def.weigh.points[k] - 0.5;
    ex_weigher_def weigh = p.def.weigh;
    weigh.points = points;
    ex_weigher *moved = NULL;
    assert_int_equal(ex_weigher_create(&weigh, NULL, &moved, NULL), EX_OK);
    const ex_weigher *list[1] = {moved};
    evaluate(rig, &at, &(ex_evaluation){.weighers = list}, out[0]);
    evaluate(rig, &elsewhere, NULL, other[0]);
    for (int i = 0; i < 3 * VERTICES; i++)
        assert_near((double)out[i / 3][i % 3], (double)other[i / 3][i % 3], 1e-5);
    ex_weigher_destroy(moved);
    ex_rig_destroy(rig);
    path_layer_close(&p);
    free(mesh);
}

/* The layer's result, given as the mesh of a rig without layers, is posed and refined in the same way. */
static void skin_and_levels_follow(void **state) {
    (void)state;
    whole_rig w;
    whole_rig_open(&w, VERTICES, WHOLE_SKELETON | WHOLE_SKIN | WHOLE_LEVELS | WHOLE_LIMIT | WHOLE_PATHS);
    ex_rig_def def = w.def;
    def.layers = &w.layers[def.layer_count - 1];
    def.layer_count = 1;
    ex_rig *rig = rig_of(&def);
    float rest[VERTICES][3];
    ex_transform joints[WHOLE_JOINTS];
    double way = 1.3;
    ex_pose pose = {.joints = joints};
    ex_rig_rest_pose(rig, &pose);
    for (int j = 0; j < WHOLE_JOINTS; j++)
        joints[j].rotation[1] += 0.3F;
    pose.inputs = &way;
    void *scratch = malloc(ex_rig_scratch_size(rig, &(ex_evaluation){.level = 2}, 1) * 2);
    ex_rig_evaluate(rig, &pose, &(ex_output){.positions = rest[0]}, &(ex_evaluation){.unskinned = true}, scratch);
    def.layer_count = 0;
    def.mesh.positions = rest[0];
    ex_rig *bare = rig_of(&def);
    const int levels[] = {0, 1, 2, EX_LEVEL_LIMIT};
    for (int i = 0; i < 4; i++) {
        const size_t count = 3 * (size_t)ex_rig_level_vertex_count(rig, levels[i]);
        float *a = malloc(count * sizeof *a), *b = malloc(count * sizeof *b);
        ex_rig_evaluate(rig, &pose, &(ex_output){.positions = a}, &(ex_evaluation){.level = levels[i]}, scratch);
        ex_rig_evaluate(bare, &pose, &(ex_output){.positions = b}, &(ex_evaluation){.level = levels[i]}, scratch);
        for (size_t c = 0; c < count; c++)
            assert_near((double)a[c], (double)b[c], 1e-6);
        free(a);
        free(b);
    }
    free(scratch);
    ex_rig_destroy(rig);
    ex_rig_destroy(bare);
    whole_rig_close(&w);
}

/* An example's own skeleton has its weight, as with forms. */
static void examples_bring_joints(void **state) {
    (void)state;
    whole_rig w;
    whole_rig_open(&w, VERTICES, WHOLE_SKELETON | WHOLE_SKIN | WHOLE_PATHS);
    ex_layer_def layer = w.layers[w.def.layer_count - 1];
    const float *shifts[PATHS_EXAMPLES] = {NULL, NULL, w.shifts[0], NULL};
    layer.form.shifts = shifts;
    w.def.layers = &layer;
    w.def.layer_count = 1;
    ex_rig *rig = rig_of(&w.def);
    float read[WHOLE_JOINTS][3];
    assert_false(ex_rig_example_shifts(rig, 0, 0, read[0]));
    assert_true(ex_rig_example_shifts(rig, 0, 2, read[0]));
    assert_memory_equal(read, w.shifts, sizeof read);
    ex_rig_destroy(rig);
    whole_rig_close(&w);
}

/* ---- reading back ---- */

static void what_was_given_is_read_back(void **state) {
    (void)state;
    uint64_t random = 18;
    float *mesh = draw_form(&random, VERTICES), out[VERTICES][3], mask[VERTICES];
    path_layer p;
    path_layer_open(&p, mesh, VERTICES, PATHS_ALL, 10);
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        ex_rig_def def = def_of(mesh, VERTICES, &p.def);
        def.options.storage = (ex_storage)storage;
        ex_rig *rig = rig_of(&def);
        const double tolerance = storage ? 1e-4 : 0;
        double centre[3];
        assert_int_equal(ex_rig_layer_domain(rig, 0), EX_DOMAIN_TRAJECTORY);
        assert_int_equal(ex_rig_layer_reference(rig, 0), PATHS_REFERENCE);
        ex_rig_layer_centre(rig, 0, centre);
        assert_memory_equal(centre, p.def.trajectory.centre, sizeof centre);
        assert_memory_equal(ex_rig_layer_overlaps(rig, 0), p.overlaps, sizeof p.overlaps);
        assert_true(ex_rig_layer_mask(rig, 0, mask));
        assert_memory_equal(mask, p.def.mask, sizeof mask);
        const ex_segments segments = ex_rig_layer_segments(rig, 0);
        assert_int_equal(segments.count, PATHS_SEGMENTS);
        assert_memory_equal(segments.parents, p.def.trajectory.segments.parents, PATHS_SEGMENTS * sizeof(int));
        assert_memory_equal(segments.vertices, p.vertices, VERTICES * sizeof(uint16_t));
        for (int k = 0; k < PATHS_EXAMPLES; k++) {
            const ex_trajectory given = k == PATHS_REFERENCE ? (ex_trajectory){0} : p.trajectories[k];
            const ex_trajectory path = ex_rig_example_trajectory(rig, 0, k);
            assert_memory_equal(&path.screw, &given.screw, sizeof path.screw);
            assert_int_equal(path.corrector_count, given.corrector_count);
            if (path.corrector_count > 0)
                assert_memory_equal(path.curves, given.curves,
                                    (size_t)path.corrector_count * EX_CURVE_SIZE * sizeof(float));
            assert_int_equal(path.bases != NULL, given.bases != NULL);
            if (path.bases)
                assert_memory_equal(path.bases, given.bases, sizeof p.bases[0]);
            for (int j = 0; j < path.corrector_count; j++) {
                ex_rig_example_corrector(rig, 0, k, j, out[0]);
                for (int i = 0; i < 3 * VERTICES; i++)
                    assert_near((double)out[i / 3][i % 3], (double)given.correctors[j][i], tolerance);
            }
            assert_int_equal(ex_rig_example_turns(rig, 0, k, out[0]), given.turns != NULL);
            for (int i = 0; i < 3 * VERTICES; i++)
                assert_near((double)out[i / 3][i % 3], given.turns ? (double)given.turns[i] : 0, tolerance);
            ex_rig_example_delta(rig, 0, k, out[0]);
            for (int i = 0; i < 3 * VERTICES; i++)
                assert_near((double)out[i / 3][i % 3], k == PATHS_REFERENCE ? 0 : (double)p.delta_list[k][i],
                            2 * tolerance);
        }
        ex_rig_destroy(rig);
    }
    path_layer_close(&p);
    free(mesh);
}

/* ---- errors ---- */

typedef struct refusal {
    path_layer p;
    ex_trajectory trajectories[PATHS_EXAMPLES];
    float turns[3 * VERTICES], corrector[3 * VERTICES], delta[3 * VERTICES], mask[VERTICES];
    const float *correctors[3], *deltas[PATHS_EXAMPLES];
    uint16_t vertices[VERTICES];
    int parents[PATHS_SEGMENTS];
} refusal;

/* Changes one thing; returns a word of the sentence and the result, or NULL after the last. */
static const char *change(refusal *r, int which, ex_result *result) {
    ex_layer_def *def = &r->p.def;
    *result = EX_ERROR_DATA;
    switch (which) {
    case 0:
        r->turns[3 * 7 + 1] = 5.7F;
        return "layer 'paths', example 'all': vertex 7 turns";
    case 1:
        r->turns[3 * 8] = NAN;
        return "example 'all': vertex 8";
    case 2:
        r->corrector[3 * 9 + 2] = INFINITY;
        return "example 'corrected': corrector 1: the entry of vertex 9";
    case 3:
        r->delta[3 * 10] = NAN;
        return "example 'plain': the place of vertex 10";
    case 4:
        r->trajectories[0].screw.turn[1] = NAN;
        return "example 'all': its screw";
    case 5:
        r->trajectories[2].screw.move[1] = INFINITY;
        return "example 'corrected': its screw";
    case 6:
        r->p.curves[2][1][6] = NAN;
        return "the curve of corrector 1";
    case 7:
        r->p.bases[0][4][5] = NAN;
        return "the basis of segment 4";
    case 8:
        r->p.overlaps[1][2] = 1.5F;
        return "overlap of examples 2 and 3";
    case 9:
        r->p.overlaps[3][3] = 0.5F;
        return "overlap of examples 4 and 4";
    case 10:
        r->vertices[11] = PATHS_SEGMENTS;
        return "vertex 11 is in segment 5";
    case 11:
        r->parents[2] = PATHS_SEGMENTS;
        return "segment 2 is segment 5";
    case 12:
        r->parents[1] = 2;
        return "is its own ancestor";
    case 13:
        r->mask[12] = -0.5F;
        return "mask at vertex 12";
    case 14:
        def->trajectory.centre[1] = INFINITY;
        return "centre";
    case 15:
        *result = EX_ERROR_ARGUMENT;
        def->trajectory.reference = PATHS_EXAMPLES;
        return "reference";
    case 16:
        *result = EX_ERROR_ARGUMENT;
        def->trajectory.examples = NULL;
        return "trajectory";
    case 17:
        *result = EX_ERROR_ARGUMENT;
        r->deltas[3] = NULL;
        return "example 'plain' has no form";
    case 18:
        *result = EX_ERROR_ARGUMENT;
        r->trajectories[2].corrector_count = EX_CORRECTOR_MAX + 1;
        return "8 correctors";
    case 19:
        *result = EX_ERROR_ARGUMENT;
        r->correctors[1] = NULL;
        return "corrector 1 is missing";
    case 20:
        *result = EX_ERROR_ARGUMENT;
        r->trajectories[2].curves = NULL;
        return "curves";
    case 21:
        *result = EX_ERROR_LIMIT;
        def->trajectory.segments.count = EX_SEGMENT_MAX + 1;
        return "segments";
    case 22:
        *result = EX_ERROR_ARGUMENT;
        def->trajectory.segments.count = 0;
        return "bases";
    case 23:
        *result = EX_ERROR_ARGUMENT;
        def->trajectory.segments.parents = NULL;
        return "parents";
    case 24:
        r->parents[3] = -2;
        return "segment 3 is segment -2";
    case 25:
        r->trajectories[0].screw.turn[0] = 1001;
        return "1000 radians";
    default:
        return NULL;
    }
}

static void open_refusal(refusal *r, const float *mesh) {
    path_layer_open(&r->p, mesh, VERTICES, PATHS_ALL, 11);
    ex_layer_def *def = &r->p.def;
    memcpy(r->trajectories, r->p.trajectories, sizeof r->trajectories);
    memcpy(r->turns, r->trajectories[0].turns, sizeof r->turns);
    memcpy(r->corrector, r->trajectories[2].correctors[1], sizeof r->corrector);
    memcpy(r->delta, def->form.deltas[3], sizeof r->delta);
    memcpy(r->mask, def->mask, sizeof r->mask);
    memcpy(r->vertices, def->trajectory.segments.vertices, sizeof r->vertices);
    memcpy(r->parents, def->trajectory.segments.parents, sizeof r->parents);
    memcpy(r->deltas, def->form.deltas, sizeof r->deltas);
    memcpy(r->correctors, r->trajectories[2].correctors, sizeof r->correctors);
    r->trajectories[0].turns = r->turns;
    r->correctors[1] = r->corrector;
    r->trajectories[2].correctors = r->correctors;
    r->deltas[3] = r->delta;
    def->trajectory.examples = r->trajectories;
    def->form.deltas = r->deltas;
    def->mask = r->mask;
    def->trajectory.segments.vertices = r->vertices;
    def->trajectory.segments.parents = r->parents;
}

static void bad_definitions_are_told(void **state) {
    (void)state;
    uint64_t random = 19;
    float *mesh = draw_form(&random, VERTICES);
    refusal *r = malloc(sizeof *r);
    int count = 0;
    for (const char *word = ""; word; count++) {
        open_refusal(r, mesh);
        ex_result expected;
        word = change(r, count, &expected);
        ex_rig_def def = def_of(mesh, VERTICES, &r->p.def);
        ex_rig *rig = NULL;
        ex_error error = {0};
        const ex_result result = ex_rig_create(&def, NULL, &rig, &error);
        if (word) {
            assert_sentence(&error, expected, word);
            assert_int_equal(result, expected);
            assert_null(rig);
        } else {
            assert_int_equal(result, EX_OK);
            use_rig(rig);
        }
        ex_rig_destroy(rig);
        path_layer_close(&r->p);
    }
    assert_int_equal(count, 27);
    free(r);
    free(mesh);
}

static ex_result create(void *context, const ex_allocator *allocator) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    const ex_result result = ex_rig_create(context, allocator, &rig, &error);
    assert_true((result == EX_OK) == (rig != NULL));
    if (result != EX_OK)
        assert_sentence(&error, EX_ERROR_MEMORY, "memory");
    ex_rig_destroy(rig);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    uint64_t random = 20;
    float *mesh = draw_form(&random, VERTICES);
    path_layer p;
    path_layer_open(&p, mesh, VERTICES, PATHS_ALL, 12);
    ex_rig_def def = def_of(mesh, VERTICES, &p.def);
    assert_true(failing_allocator_sweep(create, &def) >= 5);
    path_layer_close(&p);
    free(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_motions_are_exact),
        cmocka_unit_test(ends_are_the_examples),
        cmocka_unit_test(sums_are_as_the_formula_has_them),
        cmocka_unit_test(layers_add_up),
        cmocka_unit_test(strides_and_boxes),
        cmocka_unit_test(without_turns_it_is_a_sum_of_forms),
        cmocka_unit_test(cuts_and_company_do_not_matter),
        cmocka_unit_test(muted_layers_and_other_weighers),
        cmocka_unit_test(skin_and_levels_follow),
        cmocka_unit_test(examples_bring_joints),
        cmocka_unit_test(what_was_given_is_read_back),
        cmocka_unit_test(bad_definitions_are_told),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Layers with a mixture in a rig: the whole formula against an evaluation in double, in float and 16 bits; exact at the
 * mesh and the examples; slopes without steps; company, cuts and threads; reading back; files; errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/checksum.h"
#include "runtime/rig/pack/pack.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/mixtures.h"
#include "support/whole_rigs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 30, TRIPLES = 3 * VERTICES };

static float mesh[3 * 2000];

static int draw_mesh(void **state) {
    (void)state;
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof mesh / sizeof *mesh; i++)
        mesh[i] = (float)random_between(&random, -1, 1);
    return 0;
}

static ex_rig_def def_of(const mixed_layer *m) {
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = m->vertex_count, .split_count = m->vertex_count, .positions = m->mesh};
    def.layers = &m->def;
    def.layer_count = 1;
    return def;
}

static ex_rig *make(const mixed_layer *m, ex_storage storage) {
    ex_rig_def def = def_of(m);
    def.options.storage = storage;
    return rig_of(&def);
}

static void evaluate(const ex_rig *rig, const double *weights, float *positions) {
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    double own[8];
    memcpy(own, weights, (size_t)ex_rig_pose_size(rig) * sizeof *own);
    ex_rig_evaluate(rig, &(ex_pose){.inputs = own}, &(ex_output){.positions = positions}, NULL, scratch);
    free(scratch);
}

/* Weights of the simplex, of two examples in full and negative ones, and of all kinds. */
static void draw_weights(uint64_t *random, int round, double *weights) {
    double sum = 0.2;
    for (int k = 0; k < MIXED_EXAMPLES; k++) {
        weights[k] = round % 3 == 2 ? random_between(random, -0.4, 1.2) : random_between(random, 0, 1);
        sum += weights[k];
    }
    for (int k = 0; k < MIXED_EXAMPLES; k++)
        weights[k] = round % 3 == 0   ? weights[k] / sum
                     : round % 3 == 1 ? (k == 0) + (k == 3) - 0.2 * (k == 2)
                                      : weights[k];
}

/* ---- the formula ---- */

static void rigs_are_as_the_formula_has_them(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int parts = 0; parts <= MIXED_ALL; parts++)
        for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
            mixed_layer m;
            mixed_layer_open(&m, mesh, VERTICES, 0, parts, 3);
            ex_rig *rig = make(&m, (ex_storage)storage);
            for (int round = 0; round < 9; round++) {
                double weights[MIXED_EXAMPLES];
                float positions[TRIPLES];
                draw_weights(&random, round, weights);
                evaluate(rig, weights, positions);
                for (int v = 0; v < VERTICES; v++) {
                    double expected[3];
                    plain_mixture(&m.def, mesh, weights, v, expected);
                    for (int c = 0; c < 3; c++)
                        assert_near((double)positions[3 * v + c], (double)mesh[3 * v + c] + expected[c],
                                    storage == EX_STORAGE_FLOAT ? 1e-5 : 4e-4);
                }
            }
            ex_rig_destroy(rig);
            mixed_layer_close(&m);
        }
}

static void examples_are_reached(void **state) {
    (void)state;
    for (int parts = 0; parts <= MIXED_ALL; parts++) {
        mixed_layer m;
        mixed_layer_open(&m, mesh, VERTICES, 0, parts & ~MIXED_MASK, 4);
        ex_rig *rig = make(&m, EX_STORAGE_FLOAT);
        float positions[TRIPLES];
        evaluate(rig, (double[MIXED_EXAMPLES]){0, parts & MIXED_REFERENCE ? 0.7 : 0}, positions);
        assert_memory_equal(positions, mesh, sizeof positions); /* to the bit */
        for (int k = 0; k < MIXED_EXAMPLES; k++) {
            double weights[MIXED_EXAMPLES] = {0};
            weights[k] = 1;
            evaluate(rig, weights, positions);
            for (int i = 0; k != m.def.trajectory.reference && i < TRIPLES; i++)
                assert_near((double)positions[i], (double)mesh[i] + (double)m.delta_list[k][i], 1.5e-6);
        }
        ex_rig_destroy(rig);
        mixed_layer_close(&m);
    }
}

/* A node that turns opposite ways for one vertex has no inverse there: the vertex ends near its place. */
static void what_has_no_inverse_ends_near(void **state) {
    (void)state;
    mixed_layer m;
    mixed_layer_open(&m, mesh, VERTICES, 0, 0, 5);
    const float half[3] = {0, 0, 1.5707964F};
    for (int c = 0; c < 3; c++) {
        m.turns[0][0][c] = half[c];
        m.turns[0][1][c] = -half[c];
    }
    for (int i = 0; i < 4; i++) {
        m.nodes[i] = (uint16_t)(i % 2);
        m.shares[i] = i < 2 ? 0.5F : 0;
    }
    ex_rig *rig = make(&m, EX_STORAGE_FLOAT);
    float positions[TRIPLES];
    evaluate(rig, (double[MIXED_EXAMPLES]){1}, positions);
    for (int i = 0; i < TRIPLES; i++) {
        assert_true(isfinite(positions[i]) && fabsf(positions[i]) < 10);
        if (i >= 3)
            assert_near((double)positions[i], (double)mesh[i] + (double)m.delta_list[0][i], 1.5e-6);
    }
    /* z, which the turns leave alone, is reached */
    assert_near((double)positions[2], (double)mesh[2] + (double)m.delta_list[0][2], 1e-5);
    ex_rig_destroy(rig);
    mixed_layer_close(&m);
}

/* One-sided slopes of second order on both sides of a border of the simplex. */
static void slopes_have_no_step(void **state) {
    (void)state;
    uint64_t random = 6;
    const double h = 4e-3;
    mixed_layer m;
    mixed_layer_open(&m, mesh, VERTICES, 0, MIXED_CORRECTORS | MIXED_OVERLAPS, 7);
    ex_rig *rig = make(&m, EX_STORAGE_FLOAT);
    for (int round = 0; round < 60; round++) {
        double at[MIXED_EXAMPLES], along[MIXED_EXAMPLES], over = 0;
        static float forms[5][TRIPLES];
        for (int k = 0; k < MIXED_EXAMPLES; k++) {
            at[k] = round % 3 == 0 && k == round % 4 ? 0 : random_between(&random, 0.05, 1);
            along[k] = random_between(&random, -1, 1);
            over += at[k] * (round % 3 == 1 ? (double)m.overlaps[round % 4][k] : 1);
        }
        for (int k = 0; k < MIXED_EXAMPLES; k++)
            at[k] /= round % 3 == 0 ? 1.3 * over : over;
        for (int step = 0; step < 5; step++) {
            double weights[MIXED_EXAMPLES];
            for (int k = 0; k < MIXED_EXAMPLES; k++)
                weights[k] = at[k] + (step - 2) * h * along[k];
            evaluate(rig, weights, forms[step]);
        }
        for (int i = 0; i < TRIPLES; i++) {
            const double f[5] = {(double)forms[0][i], (double)forms[1][i], (double)forms[2][i], (double)forms[3][i],
                                 (double)forms[4][i]};
            assert_near((4 * f[3] - 3 * f[2] - f[4]) / (2 * h), (3 * f[2] - 4 * f[1] + f[0]) / (2 * h), 2e-2);
        }
    }
    ex_rig_destroy(rig);
    mixed_layer_close(&m);
}

/* Two groups of nodes that hang on each other by a weight of a hundred-billionth. Their mean place is where it should
 * be, and each group keeps its form: edges within it are as without the other. */
static void weak_edges_do_no_harm(void **state) {
    (void)state;
    static const uint16_t edges[MIXED_EDGES][2] = {{0, 1}, {2, 1}, {0, 2}, {4, 3}, {3, 4}, {1, 3}, {4, 1}};
    const double weights[MIXED_EXAMPLES] = {0.3, 0, 0.4, 0.2};
    float forms[3][TRIPLES];
    for (int i = 0; i < 3; i++) {
        mixed_layer m;
        mixed_layer_open(&m, mesh, VERTICES, 0, 0, 16);
        memcpy(m.edges, edges, sizeof edges);
        for (int e = 0; e < MIXED_EDGES; e++)
            m.edge_weights[e] = e < 5 ? 1 : i == 0 ? 1e-4F : i == 1 ? 1e-11F : 1e-38F;
        ex_rig *rig = make(&m, EX_STORAGE_FLOAT);
        evaluate(rig, weights, forms[i]);
        for (int v = 0; i == 0 && v < VERTICES; v++) {
            double expected[3];
            plain_mixture(&m.def, mesh, weights, v, expected);
            for (int c = 0; c < 3; c++)
                assert_near((double)forms[0][3 * v + c], (double)mesh[3 * v + c] + expected[c], 2e-4);
        }
        ex_rig_destroy(rig);
        mixed_layer_close(&m);
    }
    for (int i = 0; i < TRIPLES; i++) {
        assert_near((double)forms[1][i], (double)forms[0][i], 2e-3);
        assert_near((double)forms[2][i], (double)forms[0][i], 2e-3);
    }
}

/* ---- company ---- */

/* Two mixtures and one layer of forms add up; the number of vertices, strides and many poses do not matter. */
static void layers_add_up(void **state) {
    (void)state;
    enum { MANY = 1037, POSES = 5 };
    uint64_t random = 8;
    mixed_layer a, b;
    mixed_layer_open(&a, mesh, MANY, 0, MIXED_ALL & ~MIXED_SCREWS, 9);
    mixed_layer_open(&b, mesh, MANY, 0, MIXED_SCREWS, 10);
    ex_layer_def layers[3] = {a.def, a.def, b.def};
    static const char *const other[MIXED_EXAMPLES] = {"e", "f", "g", "h"}, *const forms[1] = {"form"};
    layers[1] = (ex_layer_def){.name = "forms",
                               .domain = EX_DOMAIN_FORM,
                               .weigh = ex_weigher_def_direct(a.axes, 1),
                               .axis_names = forms,
                               .example_names = forms,
                               .form.deltas = b.delta_list};
    layers[2].name = "other";
    layers[2].axis_names = other;
    ex_rig_def def = def_of(&a);
    def.layers = layers;
    def.layer_count = 3;
    ex_rig *rig = rig_of(&def);
    static float positions[POSES][MANY][5];
    double inputs[POSES][9];
    ex_pose poses[POSES];
    ex_output outputs[POSES];
    for (int p = 0; p < POSES; p++) {
        draw_weights(&random, p, inputs[p]);
        inputs[p][4] = 0.3 * p;
        draw_weights(&random, p + 1, inputs[p] + 5);
        poses[p] = (ex_pose){.inputs = inputs[p]};
        outputs[p] = (ex_output){.positions = positions[p][0], .position_stride = sizeof positions[p][0]};
    }
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, POSES));
    ex_rig_evaluate_many(rig, POSES, poses, outputs, NULL, scratch);
    for (int p = 0; p < POSES; p++)
        for (int v = 0; v < MANY; v++) {
            double first[3], second[3];
            plain_mixture(&a.def, mesh, inputs[p], v, first);
            plain_mixture(&b.def, mesh, inputs[p] + 5, v, second);
            for (int c = 0; c < 3; c++)
                assert_near((double)positions[p][v][c],
                            (double)mesh[3 * v + c] + first[c] + second[c] +
                                inputs[p][4] * (double)b.delta_list[0][3 * v + c],
                            2e-5);
        }
    free(scratch);
    ex_rig_destroy(rig);
    mixed_layer_close(&a);
    mixed_layer_close(&b);
}

/* ---- reading back, files ---- */

static void assert_given(const ex_rig *rig, const mixed_layer *m, double tolerance) {
    const ex_mixture own = ex_rig_layer_mixture(rig, 0), *given = &m->def.trajectory.mixture;
    const int reference = m->def.trajectory.reference;
    const float zeros[MIXED_NODES][3] = {{0}};
    assert_int_equal(own.node_count, given->node_count);
    assert_int_equal(own.edge_count, given->edge_count);
    assert_int_equal(own.term_count, given->term_count);
    assert_int_equal(own.corrector_count, given->corrector_count);
    assert_null(own.correctors);
    assert_memory_equal(own.edges, given->edges, sizeof m->edges);
    assert_memory_equal(own.edge_weights, given->edge_weights, sizeof m->edge_weights);
    assert_memory_equal(own.nodes, given->nodes, 4 * VERTICES * sizeof *own.nodes);
    assert_memory_equal(own.shares, given->shares, 4 * VERTICES * sizeof *own.shares);
    assert_memory_equal(own.terms, given->terms, sizeof m->terms);
    assert_memory_equal(own.curves, given->curves, sizeof m->curves);
    assert_memory_equal(own.places, given->places, sizeof zeros);
    for (int k = 0; k < MIXED_EXAMPLES; k++) {
        const size_t row = (size_t)MIXED_NODES * 3;
        assert_memory_equal(own.places + (1 + (size_t)k) * row, k == reference ? zeros : m->places[1 + k],
                            sizeof zeros);
        assert_memory_equal(own.turns + (size_t)k * row, k == reference ? zeros : m->turns[k], sizeof zeros);
        float delta[TRIPLES];
        ex_rig_example_delta(rig, 0, k, delta);
        for (int i = 0; i < TRIPLES; i++)
            assert_near((double)delta[i], k == reference ? 0 : (double)m->delta_list[k][i], tolerance);
    }
    for (int j = 0; j < MIXED_COUNT; j++) {
        float values[TRIPLES];
        ex_rig_layer_corrector(rig, 0, j, values);
        for (int i = 0; i < TRIPLES; i++)
            assert_near((double)values[i], (double)m->corrector_list[j][i], tolerance);
    }
}

static char *packed(const ex_rig *rig, size_t *size) {
    *size = ex_rig_pack_size(rig);
    char *bytes = malloc(*size);
    assert_int_equal(ex_rig_pack(rig, bytes, *size, NULL), EX_OK);
    return bytes;
}

static void files_are_the_same(void **state) {
    (void)state;
    for (int parts = 0; parts < 2; parts++) {
        mixed_layer m;
        mixed_layer_open(&m, mesh, VERTICES, 0, parts ? MIXED_ALL : MIXED_CORRECTORS, 11);
        ex_rig *rig = make(&m, EX_STORAGE_FLOAT), *back = NULL, *small = NULL;
        assert_given(rig, &m, 0);
        size_t size = 0, again_size = 0;
        char *pack = packed(rig, &size);
        assert_int_equal(ex_rig_unpack(pack, size, NULL, NULL, &back, NULL), EX_OK);
        char *again = packed(back, &again_size);
        assert_int_equal(size, again_size);
        assert_memory_equal(pack, again, size);
        assert_given(back, &m, 0);
        assert_same_evaluation(rig, back, 4);
        const ex_rig_options options = {.storage = EX_STORAGE_16_BIT};
        assert_int_equal(ex_rig_unpack(pack, size, &options, NULL, &small, NULL), EX_OK);
        assert_given(small, &m, 2e-4);
        ex_rig_destroy(small);
        ex_rig_destroy(back);
        ex_rig_destroy(rig);
        free(pack);
        free(again);
        mixed_layer_close(&m);
    }
}

/* A layer without a mixture has none, and others have no correctors of one. */
static void other_layers_have_none(void **state) {
    (void)state;
    sample_rig s;
    sample_rig_open(&s, VERTICES);
    ex_rig *rig = rig_of(&s.def);
    assert_int_equal(ex_rig_layer_mixture(rig, 0).node_count, 0);
    ex_rig_destroy(rig);
    sample_rig_close(&s);
}

/* ---- damage ---- */

static exi_pack_entry *entries_of(char *bytes) {
    return (exi_pack_entry *)(void *)(bytes + sizeof(exi_pack_header));
}

static void seal(char *bytes, size_t size) {
    exi_pack_header *header = (exi_pack_header *)(void *)bytes;
    for (uint32_t i = 0; i < header->section_count; i++) {
        exi_pack_entry *entry = &entries_of(bytes)[i];
        if (entry->offset <= size && entry->size <= size - entry->offset)
            entry->checksum = exi_checksum(bytes + entry->offset, (size_t)entry->size);
    }
    header->checksum = 0;
    header->checksum = exi_checksum(bytes, header->header_size);
}

static ex_result try_unpack(const char *bytes, size_t size, ex_error *error) {
    char *copy = malloc(size);
    memcpy(copy, bytes, size);
    ex_rig *rig = NULL;
    *error = (ex_error){0};
    const ex_result result = ex_rig_unpack(copy, size, NULL, NULL, &rig, error);
    free(copy);
    assert_true((result == EX_OK) == (rig != NULL));
    if (rig)
        use_rig(rig);
    else
        assert_sentence(error, result, " ");
    ex_rig_destroy(rig);
    return result;
}

/* Every word of the section set to the most harmful values, with right checksums; and every length of the file. */
static void damaged_files_are_refused(void **state) {
    (void)state;
    static const uint32_t values[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FC00000, 0x00000001};
    mixed_layer m;
    mixed_layer_open(&m, mesh, 5, 0, MIXED_ALL, 12);
    ex_rig *rig = make(&m, EX_STORAGE_FLOAT);
    size_t size = 0;
    char *pack = packed(rig, &size), *copy = malloc(size);
    ex_error error;
    int refused = 0, sections = 0;
    for (size_t length = 0; length < size; length++)
        assert_int_not_equal(try_unpack(pack, length, &error), EX_OK);
    for (int s = 0; s < ex_pack_section_count(pack); s++) {
        const ex_section section = ex_pack_section(pack, s);
        if (section.kind != EX_SECTION_MIXTURE && section.kind != EX_SECTION_TRAJECTORIES)
            continue;
        sections++;
        for (size_t i = 0; i < section.size; i += 4)
            for (size_t v = 0; v < 7; v++) {
                memcpy(copy, pack, size);
                memcpy(copy + section.offset + i, &values[v], 4);
                seal(copy, size);
                const ex_result result = try_unpack(copy, size, &error);
                refused += result != EX_OK;
                if (section.kind == EX_SECTION_MIXTURE &&
                    i < sizeof(exi_pack_mixture)) /* no number of the head may differ */
                    assert_int_equal(result, EX_ERROR_DATA);
            }
    }
    assert_int_equal(sections, 2);
    assert_true(refused > 100);
    free(pack);
    free(copy);
    ex_rig_destroy(rig);
    mixed_layer_close(&m);
}

static void the_format_before_is_read(void **state) {
    (void)state;
    path_layer p;
    path_layer_open(&p, mesh, VERTICES, PATHS_ALL, 13);
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = VERTICES, .split_count = VERTICES, .positions = mesh};
    def.layers = &p.def;
    def.layer_count = 1;
    ex_rig *rig = rig_of(&def), *back = NULL;
    size_t size = 0;
    char *old = packed(rig, &size);
    assert_int_equal(((exi_pack_header *)(void *)old)->format, 7);
    ((exi_pack_header *)(void *)old)->format = 6;
    seal(old, size);
    assert_int_equal(ex_rig_unpack(old, size, NULL, NULL, &back, NULL), EX_OK);
    assert_same_evaluation(rig, back, 2);
    ex_rig_destroy(back);
    ex_rig_destroy(rig);
    free(old);
    path_layer_close(&p);
}

/* ---- errors ---- */

/* Changes one thing; returns a word of the sentence and the result, or NULL after the last. */
static const char *change(mixed_layer *m, int which, ex_result *result) {
    ex_mixture *x = &m->def.trajectory.mixture;
    static float turns[TRIPLES];
    static const float *missing[MIXED_COUNT];
    *result = EX_ERROR_DATA;
    switch (which) {
    case 0:
        m->edges[0][0] = m->edges[4][0] = 1; /* node 0 has no edges */
        m->edges[0][1] = 2;
        return "layer 'mixed': the nodes are in 2 groups";
    case 1:
        m->edges[1][1] = MIXED_NODES;
        return "edge 1 joins nodes 2 and 5";
    case 2:
        m->edges[1][1] = 2;
        return "edge 1 joins nodes 2 and 2";
    case 3:
        m->edge_weights[3] = 0;
        return "weight of edge 3 is 0";
    case 4:
        m->edge_weights[3] = INFINITY;
        return "weight of edge 3";
    case 5:
        m->shares[4 * 7] += 0.01F;
        return "shares of vertex 7 sum to 1.01";
    case 6:
        m->shares[4 * 7 + 1] = -0.1F;
        return "a share of vertex 7 is -0.1";
    case 7:
        m->shares[4 * 7 + 1] = NAN;
        return "a share of vertex 7";
    case 8:
        m->nodes[4 * 8] = MIXED_NODES;
        return "vertex 8 is moved by node 5";
    case 9:
        m->terms[2].corners[1] = 1 + MIXED_EXAMPLES;
        return "term 2 is for the corners 1, 5 and -1";
    case 10:
        m->terms[5].corners[2] = 1;
        return "term 5 is for the corners 0, 1 and 1";
    case 11:
        m->terms[0].corners[0] = -1;
        return "term 0";
    case 12:
        m->terms[0].power = 8;
        return "term 0 has the power 8";
    case 13:
        m->terms[6].power = 1;
        return "term 6 has the power 1";
    case 14:
        m->curves[1][2] = NAN;
        return "curve of corrector 1 of the mixture";
    case 15:
        m->places[0][3][1] = INFINITY;
        return "the mesh: the place of node 3";
    case 16:
        m->places[4][2][1] = NAN;
        return "example 'd': the place of node 2";
    case 17:
        m->turns[2][1][0] = NAN;
        return "example 'c': the turn of node 1";
    case 18:
        m->turns[2][1][0] = 1001;
        return "1000 radians";
    case 19:
        ((float *)(uintptr_t)m->corrector_list[1])[3 * 9] = NAN;
        return "layer 'mixed': corrector 1 of the mixture: the entry of vertex 9";
    case 20:
        ((float *)(uintptr_t)m->delta_list[0])[3 * 4 + 1] = NAN;
        return "example 'a': the place of vertex 4";
    default:
        break;
    }
    *result = EX_ERROR_LIMIT;
    switch (which) {
    case 21:
        x->node_count = EX_NODE_MAX + 1;
        return "at most 256 nodes, not 257";
    case 22:
        x->node_count = -1;
        return "nodes, not -1";
    case 23:
        x->edge_count = EX_NODE_EDGE_MAX + 1;
        return "edges";
    case 24:
        x->corrector_count = EX_MIXTURE_CORRECTOR_MAX + 1;
        return "correctors";
    case 25:
        x->term_count = EX_MIXTURE_TERM_MAX + 1;
        return "terms";
    default:
        break;
    }
    *result = EX_ERROR_ARGUMENT;
    switch (which) {
    case 26:
        x->shares = NULL;
        return "a mixture needs";
    case 27:
        x->curves = NULL;
        return "a mixture needs";
    case 28:
        missing[0] = m->corrector_list[0];
        x->correctors = missing;
        return "corrector 1 of the mixture is missing";
    case 29:
        m->trajectories[2].turns = turns;
        return "example 'c': it has turns";
    default:
        *result = EX_OK;
        return NULL;
    }
}

static void bad_definitions_are_told(void **state) {
    (void)state;
    int count = 0;
    for (const char *word = ""; word; count++) {
        mixed_layer m;
        mixed_layer_open(&m, mesh, VERTICES, 0, MIXED_ALL, 14);
        m.places[2][0][0] = NAN; /* those of the reference are ignored */
        m.turns[1][0][0] = NAN;
        ex_result expected;
        word = change(&m, count, &expected);
        ex_rig_def def = def_of(&m);
        ex_rig *rig = NULL;
        ex_error error = {0};
        const ex_result result = ex_rig_create(&def, NULL, &rig, &error);
        if (word)
            assert_sentence(&error, expected, word);
        else
            use_rig(rig);
        assert_int_equal(result, expected);
        assert_true((rig == NULL) == (word != NULL));
        ex_rig_destroy(rig);
        mixed_layer_close(&m);
    }
    assert_int_equal(count, 31);
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

static ex_result unpack(void *context, const ex_allocator *allocator) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    const ex_section *pack = context;
    const ex_result result =
        ex_rig_unpack((const void *)(uintptr_t)pack->offset, pack->size, NULL, allocator, &rig, &error);
    if (result != EX_OK)
        assert_sentence(&error, EX_ERROR_MEMORY, "memory");
    ex_rig_destroy(rig);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    mixed_layer m;
    mixed_layer_open(&m, mesh, VERTICES, 0, MIXED_ALL, 15);
    ex_rig_def def = def_of(&m);
    assert_true(failing_allocator_sweep(create, &def) >= 5);
    ex_rig *rig = rig_of(&def);
    size_t size = 0;
    char *pack = packed(rig, &size);
    assert_true(failing_allocator_sweep(unpack, &(ex_section){.offset = (size_t)(uintptr_t)pack, .size = size}) >= 5);
    free(pack);
    ex_rig_destroy(rig);
    mixed_layer_close(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigs_are_as_the_formula_has_them),
        cmocka_unit_test(examples_are_reached),
        cmocka_unit_test(what_has_no_inverse_ends_near),
        cmocka_unit_test(slopes_have_no_step),
        cmocka_unit_test(weak_edges_do_no_harm),
        cmocka_unit_test(layers_add_up),
        cmocka_unit_test(files_are_the_same),
        cmocka_unit_test(other_layers_have_none),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(the_format_before_is_read),
        cmocka_unit_test(bad_definitions_are_told),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, draw_mesh, NULL);
}

/*
 * Rigs that follow a driver: a tube that bends, and a sleeve around it that contracts at the bend. Keys come back from
 * their drivers, rigid motions of the driver only move the result, weights are convex, files and tasks and states
 * change nothing, and errors are refused.
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
#include "support/rigs.h"
#include "support/tubes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct result {
    float positions[TUBE_VERTICES * 3], unsettled[TUBE_VERTICES * 3];
    double weights[TUBE_KEYS], regions[TUBE_FRAMES * TUBE_KEYS];
    ex_driven driven;
} result;

static result evaluate_at(const ex_rig *rig, const float *form, double *inputs, void *state, bool unsettled) {
    result r;
    void *const states[1] = {state};
    ex_evaluation e = {.states = state ? states : NULL, .unsettled = unsettled};
    void *scratch = malloc(ex_rig_scratch_size(rig, &e, 1));
    r.driven = (ex_driven){.region_weights = r.regions, .unsettled = r.unsettled};
    ex_pose pose = {.driver = form, .inputs = inputs};
    ex_output output = {.positions = r.positions, .weights = r.weights, .driven = &r.driven};
    ex_rig_evaluate(rig, &pose, &output, &e, scratch);
    free(scratch);
    return r;
}

static double farthest(const float *a, const float *b) {
    double most = 0;
    for (int i = 0; i < 3 * TUBE_VERTICES; i++)
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

static const ex_residual residuals[] = {EX_RESIDUAL_NONE, EX_RESIDUAL_KEYS, EX_RESIDUAL_CLOSEST};

static void keys_come_back(void **state) {
    (void)state;
    for (int frames = 1; frames <= TUBE_FRAMES; frames += TUBE_FRAMES - 1)
        for (int i = 0; i < 3; i++) {
            driven_tube *d = driven_tube_make(frames, residuals[i], true);
            ex_rig *rig = rig_of(&d->def);
            for (int k = 0; k < TUBE_KEYS; k++) {
                const result r = evaluate_at(rig, d->keys[k], NULL, NULL, false);
                assert_true(farthest(r.positions, d->forms[k]) < 5e-6);
                assert_true(fabs(r.weights[k] - 1) < 2e-5);
                assert_true(r.driven.hull_distance < 1e-3); /* a difference of squares in float */
            }
            ex_rig_destroy(rig);
            free(d);
        }
}

/* Between keys, the sleeve is near its true form, and more so with frames of parts. */
static void between_keys_it_follows(void **state) {
    (void)state;
    double worst[2] = {0};
    for (int several = 0; several < 2; several++) {
        driven_tube *d = driven_tube_make(several ? TUBE_FRAMES : 1, EX_RESIDUAL_KEYS, false);
        ex_rig *rig = rig_of(&d->def);
        for (double degrees = 5; degrees < 120; degrees += 10) {
            float form[TUBE_VERTICES * 3], truth[TUBE_VERTICES * 3];
            tube_bend(degrees, 0.1, 0, form);
            tube_bend(degrees, 0.12, 0.012, truth);
            const result r = evaluate_at(rig, form, NULL, NULL, false);
            worst[several] = fmax(worst[several], farthest(r.positions, truth));
            double sum = 0, regions = 0;
            for (int k = 0; k < TUBE_KEYS; k++) {
                sum += r.weights[k];
                assert_true(r.weights[k] >= 0);
            }
            for (int k = 0; k < (several ? TUBE_FRAMES : 1) * TUBE_KEYS; k++)
                regions += r.regions[k];
            assert_true(fabs(sum - 1) < 1e-12);
            assert_true(fabs(regions - (several ? TUBE_FRAMES : 1)) < 1e-5);
        }
        ex_rig_destroy(rig);
        free(d);
    }
    assert_true(worst[0] < 0.01);
    assert_true(worst[1] < 0.003);
}

static void rigid_motions_are_all_that_changes(void **state) {
    (void)state;
    for (int frames = 1; frames <= TUBE_FRAMES; frames += TUBE_FRAMES - 1)
        for (int i = 0; i < 3; i++) {
            driven_tube *d = driven_tube_make(frames, residuals[i], true);
            ex_rig *rig = rig_of(&d->def);
            float form[TUBE_VERTICES * 3], moved[TUBE_VERTICES * 3], expected[TUBE_VERTICES * 3];
            tube_bend(47, 0.1, 0, form);
            const result r = evaluate_at(rig, form, NULL, NULL, false);
            const float c = 0.6F, s = 0.8F;
            for (int v = 0; v < TUBE_VERTICES; v++) {
                const float *from[2] = {form + 3 * v, r.positions + 3 * v};
                float *to[2] = {moved + 3 * v, expected + 3 * v};
                for (int j = 0; j < 2; j++) {
                    to[j][0] = c * from[j][2] + s * from[j][0] + 3;
                    to[j][1] = from[j][1] - 2;
                    to[j][2] = c * from[j][0] * -1 + s * from[j][2] + 1;
                }
            }
            const result there = evaluate_at(rig, moved, NULL, NULL, false);
            assert_true(farthest(there.positions, expected) < 1e-5);
            ex_rig_destroy(rig);
            free(d);
        }
}

/* Wrings the tube about its axis, by that many degrees from end to end. */
static void wring(double degrees, float *out) {
    tube_bend(0, 0.1, 0, out);
    for (int v = 0; v < TUBE_VERTICES; v++) {
        float *p = out + 3 * v;
        const double x = 0.1 * (v / TUBE_AROUND) - 0.6, turn = 0.017453292519943295 * degrees * x / 1.2;
        const double y = (double)p[1], z = (double)p[2];
        p[1] = (float)(cos(turn) * y - sin(turn) * z);
        p[2] = (float)(sin(turn) * y + cos(turn) * z);
    }
}

/* Vertices that three frames carry, whose ends turn by up to 330 degrees against each other. */
static void wringing_has_no_jump(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        driven_tube *d = driven_tube_make(TUBE_FRAMES, residuals[i], false);
        uint32_t carries = 0;
        for (int v = 0; v < 2 * TUBE_VERTICES; v++) {
            const double x = 0.1 * (v % TUBE_VERTICES / TUBE_AROUND) - 0.6;
            double shares[TUBE_FRAMES], sum = 0;
            for (int f = 0; f < TUBE_FRAMES; f++)
                sum += shares[f] = exp(-4 * (x - 0.5 * (f - 1)) * (x - 0.5 * (f - 1)));
            for (int f = 0; f < TUBE_FRAMES; f++) {
                d->carry_places[carries] = (uint16_t)f;
                d->carry_weights[carries++] = (float)(shares[f] / sum);
            }
            d->carry_starts[v + 1] = carries;
        }
        driven_tube_unpose(d);
        ex_rig *rig = rig_of(&d->def);
        float form[TUBE_VERTICES * 3];
        double typical = 0;
        wring(-400, form);
        result before = evaluate_at(rig, form, NULL, NULL, true);
        for (double degrees = -399.5; degrees <= 400; degrees += 0.5) {
            wring(degrees, form);
            const result now = evaluate_at(rig, form, NULL, NULL, true);
            const double step = farthest(now.positions, before.positions);
            typical = typical > 0 ? typical : step;
            if (step > 3 * typical)
                fail_msg("a step of %g, usually %g, at %g degrees", step, typical, degrees);
            before = now;
        }
        ex_rig_destroy(rig);
        free(d);
    }
}

static void files_are_the_same(void **state) {
    (void)state;
    for (int frames = 1; frames <= TUBE_FRAMES; frames += TUBE_FRAMES - 1) {
        driven_tube *d = driven_tube_make(frames, EX_RESIDUAL_KEYS, true);
        ex_rig *rig = rig_of(&d->def), *back = NULL;
        size_t size = 0, again_size = 0;
        char *pack = pack_of(rig, &size);
        ex_error error = {0};
        assert_int_equal(ex_rig_unpack(pack, size, NULL, NULL, &back, &error), EX_OK);
        char *again = pack_of(back, &again_size);
        assert_int_equal(size, again_size);
        assert_memory_equal(pack, again, size);
        float form[TUBE_VERTICES * 3];
        tube_bend(47, 0.1, 0, form);
        const result a = evaluate_at(rig, form, NULL, NULL, false), b = evaluate_at(back, form, NULL, NULL, false);
        assert_memory_equal(a.positions, b.positions, sizeof a.positions);
        ex_rig_driver driver;
        ex_region views[EX_DRIVER_FRAME_MAX];
        ex_influences regions;
        assert_true(ex_rig_get_driver(back, &driver, NULL));
        assert_string_equal(driver.name, "body");
        assert_int_equal(driver.driver.frame_count, frames);
        assert_memory_equal(driver.driver.reference, d->reference, sizeof d->reference);
        assert_int_equal(ex_rig_layer_regions(back, 0, views, &regions), frames);
        assert_int_equal(views[frames - 1].count, TUBE_VERTICES);
        assert_memory_equal(ex_rig_example_driver(back, 0, 3), d->keys[3], sizeof d->keys[3]);
        free(pack);
        free(again);
        ex_rig_destroy(rig);
        ex_rig_destroy(back);
        free(d);
    }
}

/* Every 7th length and byte; checksums catch the bytes, and bytes that pass must not crash either. */
static void damaged_files_are_refused(void **state) {
    (void)state;
    driven_tube *d = driven_tube_make(TUBE_FRAMES, EX_RESIDUAL_KEYS, true);
    ex_rig *rig = rig_of(&d->def), *back = NULL;
    size_t size = 0;
    char *pack = pack_of(rig, &size);
    for (size_t cut = 0; cut < size; cut += 997)
        assert_int_not_equal(ex_rig_unpack(pack, cut, NULL, NULL, &back, NULL), EX_OK);
    for (size_t i = 0; i < size; i += 1511) {
        pack[i] = (char)(pack[i] ^ 0x41);
        if (ex_rig_unpack(pack, size, NULL, NULL, &back, NULL) == EX_OK)
            ex_rig_destroy(back);
        pack[i] = (char)(pack[i] ^ 0x41);
    }
    free(pack);
    ex_rig_destroy(rig);
    free(d);
}

/* Returns a pack with one more section, the last of another pack's kind, and with one driver in its counts; all
 * checksums are right. */
static char *with_driver(const char *pack, size_t *size, const char *other) {
    const exi_pack_header *from = (const exi_pack_header *)(const void *)other;
    const exi_pack_entry *driver = (const exi_pack_entry *)(const void *)(other + sizeof *from);
    while (driver->kind != EX_SECTION_DRIVER)
        driver++;
    const size_t head = ((const exi_pack_header *)(const void *)pack)->header_size, more = sizeof(exi_pack_entry);
    const size_t at = (*size + more + 15) / 16 * 16;
    char *made = calloc(1, at + (size_t)driver->size);
    memcpy(made, pack, head);
    memcpy(made + head + more, pack + head, *size - head);
    memcpy(made + at, other + driver->offset, (size_t)driver->size);
    *size = at + (size_t)driver->size;
    exi_pack_header *header = (exi_pack_header *)(void *)made;
    exi_pack_entry *entries = (exi_pack_entry *)(void *)(made + sizeof *header);
    for (uint32_t i = 0; i < header->section_count; i++) {
        entries[i].offset += more;
        if (entries[i].kind == EX_SECTION_COUNTS)
            ((exi_rig_counts *)(void *)(made + entries[i].offset))->drivers = 1;
        entries[i].checksum = exi_checksum(made + entries[i].offset, (size_t)entries[i].size);
    }
    entries[header->section_count] = *driver;
    entries[header->section_count++].offset = at;
    header->header_size += (uint32_t)more;
    header->size = *size;
    header->checksum = 0;
    header->checksum = exi_checksum(made, header->header_size);
    return made;
}

/* A file with a driver that no layer follows: of a tube with one layer on a dial, which is fine without the driver. */
static void files_with_an_idle_driver_are_refused(void **state) {
    (void)state;
    driven_tube *d = driven_tube_make(TUBE_FRAMES, EX_RESIDUAL_NONE, true);
    const ex_axis dial = ex_axis_scalar(0, 1, 0);
    const char *const axis_names[] = {"dial"}, *const example_names[] = {"one"};
    ex_layer_def plain = {.name = "plain",
                          .weigh = ex_weigher_def_default(),
                          .axis_names = axis_names,
                          .example_names = example_names,
                          .form = {.deltas = d->delta_list}};
    plain.weigh.kind = EX_WEIGHER_DIRECT;
    plain.weigh.axes = &dial;
    plain.weigh.axis_count = plain.weigh.example_count = 1;
    ex_rig *driven = rig_of(&d->def), *rig, *back = NULL;
    d->def.driver = NULL;
    d->def.layers = &plain;
    rig = rig_of(&d->def);
    size_t size = 0, driven_size = 0;
    char *pack = pack_of(rig, &size), *other = pack_of(driven, &driven_size);
    assert_int_equal(ex_rig_unpack(pack, size, NULL, NULL, &back, NULL), EX_OK);
    ex_rig_destroy(back);
    char *idle = with_driver(pack, &size, other);
    ex_error error = {0};
    assert_int_equal(ex_rig_unpack(idle, size, NULL, NULL, &back, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "layers contradict each other");
    assert_null(back);
    free(idle);
    free(other);
    free(pack);
    ex_rig_destroy(rig);
    ex_rig_destroy(driven);
    free(d);
}

static void a_state_only_saves_time(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        driven_tube *d = driven_tube_make(TUBE_FRAMES, residuals[i], true);
        ex_rig *rig = rig_of(&d->def);
        void *kept = calloc(1, ex_rig_state_size(rig) + 1);
        for (double t = 0; t < 40; t++) {
            float form[TUBE_VERTICES * 3];
            tube_bend(60 + 50 * sin(0.3 * t + (t > 20 ? 2 : 0)), 0.1, 0, form);
            const result a = evaluate_at(rig, form, NULL, kept, false), b = evaluate_at(rig, form, NULL, NULL, false);
            assert_true(farthest(a.positions, b.positions) < 1e-6);
        }
        free(kept);
        ex_rig_destroy(rig);
        free(d);
    }
}

/* Two databases, soft and stiff: on the axis between them, forms change from one to the other. */
static void databases_are_an_axis(void **state) {
    (void)state;
    driven_tube *d = driven_tube_make(TUBE_FRAMES, EX_RESIDUAL_NONE, false);
    static const double values[TUBE_KEYS] = {0, 1, 0, 1, 0};
    memcpy(d->keys[1], d->keys[0], sizeof d->keys[0]);
    memcpy(d->keys[3], d->keys[2], sizeof d->keys[2]);
    driven_tube_unpose(d);
    d->layer.weigh.axis_count = 2;
    d->layer.weigh.points = values;
    ex_rig *rig = rig_of(&d->def);
    assert_int_equal(ex_rig_pose_size(rig), 1);
    for (double value = 0; value <= 1; value += 0.25) {
        double inputs[1] = {value};
        const result r = evaluate_at(rig, d->keys[0], inputs, NULL, false);
        assert_true(fabs(r.weights[0] - (1 - value)) < 1e-6);
        assert_true(fabs(r.weights[1] - value) < 1e-6);
    }
    ex_rig_destroy(rig);
    free(d);
}

/* The result without a muted layer is settled too, whatever the scratch memory held. */
static void muted_layers_leave_nothing_behind(void **state) {
    (void)state;
    for (int frames = 1; frames <= TUBE_FRAMES; frames += TUBE_FRAMES - 1) {
        driven_tube *d = driven_tube_make(frames, EX_RESIDUAL_KEYS, true);
        ex_rig *rig = rig_of(&d->def);
        const bool muted[1] = {true};
        const ex_evaluation e = {.muted = muted};
        const size_t size = ex_rig_scratch_size(rig, &e, 1);
        unsigned char *scratch = malloc(size);
        float form[TUBE_VERTICES * 3], positions[2][TUBE_VERTICES * 3];
        tube_bend(47, 0.1, 0, form);
        for (int i = 0; i < 2; i++) {
            const ex_pose pose = {.driver = form};
            const ex_output output = {.positions = positions[i]};
            memset(scratch, i ? 0x3f : 0, size); /* 0.747 wherever it is read as floats */
            ex_rig_evaluate(rig, &pose, &output, &e, scratch);
        }
        assert_memory_equal(positions[0], positions[1], sizeof positions[0]);
        free(scratch);
        ex_rig_destroy(rig);
        free(d);
    }
}

/* Instead of two databases, a weigher with all keys in one: it needs more memory than the layer's own. */
static void weighers_may_be_replaced(void **state) {
    (void)state;
    driven_tube *d = driven_tube_make(1, EX_RESIDUAL_NONE, false);
    static const double values[TUBE_KEYS] = {0, 1, 0, 1, 0};
    d->layer.weigh.axis_count = 2;
    d->layer.weigh.points = values;
    ex_rig *rig = rig_of(&d->def);
    ex_edit edits[2];
    const ex_weigher *own = ex_rig_weigher(rig, 0);
    ex_weigher *other = NULL;
    double points[2][TUBE_KEYS + 1];
    for (int i = 0; i < 2; i++) {
        memcpy(points[i], ex_weigher_point(own, 1 + 2 * i), sizeof points[i]);
        points[i][TUBE_KEYS] = 0;
        edits[i] = (ex_edit){.kind = EX_EDIT_MOVE_EXAMPLE, .index = 1 + 2 * i, .at = points[i]};
    }
    assert_int_equal(ex_weigher_edit(own, edits, 2, NULL, &other, NULL), EX_OK);
    const ex_weigher *const weighers[1] = {other};
    const ex_evaluation e = {.weighers = weighers};
    void *scratch = malloc(ex_rig_scratch_size(rig, &e, 1));
    float form[TUBE_VERTICES * 3];
    double weights[TUBE_KEYS], sum = 0;
    tube_bend(47, 0.1, 0, form);
    const ex_pose pose = {.driver = form};
    const ex_output output = {.weights = weights};
    ex_rig_evaluate(rig, &pose, &output, &e, scratch);
    for (int k = 0; k < TUBE_KEYS; k++)
        sum += weights[k];
    assert_true(fabs(sum - 1) < 1e-12);
    assert_true(weights[1] > 0.1); /* 30 degrees, which is of the other database in the layer's own */
    free(scratch);
    ex_weigher_destroy(other);
    ex_rig_destroy(rig);
    free(d);
}

/* A box requested alone is that of the settled form. */
static void boxes_are_settled(void **state) {
    (void)state;
    driven_tube *d = driven_tube_make(1, EX_RESIDUAL_NONE, true);
    ex_rig *rig = rig_of(&d->def);
    float form[TUBE_VERTICES * 3], positions[TUBE_VERTICES * 3], with[6], alone[6];
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    tube_bend(0, 0.15, 0, form); /* thicker than the sleeve */
    const ex_pose pose = {.driver = form};
    const ex_output both = {.positions = positions, .box = with}, box = {.box = alone};
    ex_rig_evaluate(rig, &pose, &both, NULL, scratch);
    ex_rig_evaluate(rig, &pose, &box, NULL, scratch);
    assert_true(with[4] > 0.14F);
    assert_memory_equal(with, alone, sizeof with);
    free(scratch);
    ex_rig_destroy(rig);
    free(d);
}

static void what_penetrates_is_pushed_out(void **state) {
    (void)state;
    driven_tube *d = driven_tube_make(1, EX_RESIDUAL_NONE, true);
    ex_rig *rig = rig_of(&d->def);
    float fat[TUBE_VERTICES * 3];
    tube_bend(30, 0.125, 0, fat);
    const result r = evaluate_at(rig, fat, NULL, NULL, false);
    assert_true(r.driven.settled.penetrating > TUBE_VERTICES / 2);
    assert_int_equal(r.driven.settled.left, 0);
    for (int v = 0; v < TUBE_VERTICES; v++)
        assert_true(hypot((double)r.positions[3 * v + 2], 0) < 0.2);
    const result plain = evaluate_at(rig, fat, NULL, NULL, true);
    assert_memory_equal(plain.positions, r.unsettled, sizeof plain.positions);
    assert_true(farthest(plain.positions, r.positions) > 0.004);
    ex_rig_destroy(rig);
    free(d);
}

/* Every vertex moves halfway towards the middle of its neighbours around, which contracts the rings of the tube. */
static ex_stencils *draw_rings_together(void) {
    static int offsets[TUBE_VERTICES + 1], indices[3 * TUBE_VERTICES];
    static double weights[3 * TUBE_VERTICES];
    for (int v = 0; v < TUBE_VERTICES; v++) {
        const int side = v % TUBE_AROUND, ring = v - side;
        double row[TUBE_AROUND] = {0};
        row[side] = 0.5;
        row[(side + 1) % TUBE_AROUND] = row[(side + TUBE_AROUND - 1) % TUBE_AROUND] = 0.25;
        offsets[v + 1] = offsets[v];
        for (int i = 0; i < TUBE_AROUND; i++)
            if (row[i] > 0) {
                indices[offsets[v + 1]] = ring + i;
                weights[offsets[v + 1]++] = row[i];
            }
    }
    const ex_stencil_rows limit = {TUBE_VERTICES, offsets, indices, weights, NULL};
    ex_stencils *stencils = NULL;
    assert_int_equal(
        ex_stencils_create(&(ex_stencils_def){.control_count = TUBE_VERTICES, .limit = &limit}, NULL, &stencils, NULL),
        EX_OK);
    return stencils;
}

/* The order of the stages: a refined level is the settled cage refined, to the bit, and is not pushed out again,
 * although these sums move it into the driver. */
static void the_cage_is_settled_then_refined(void **state) {
    (void)state;
    driven_tube *d = driven_tube_make(1, EX_RESIDUAL_NONE, true);
    ex_stencils *stencils = draw_rings_together();
    d->def.stencils = stencils;
    d->def.level = EX_LEVEL_LIMIT;
    ex_rig *rig = rig_of(&d->def);
    float fat[TUBE_VERTICES * 3], refined[TUBE_VERTICES * 3], expected[TUBE_VERTICES * 3];
    tube_bend(30, 0.125, 0, fat);
    const result cage = evaluate_at(rig, fat, NULL, NULL, false);
    assert_true(cage.driven.settled.pushed > TUBE_VERTICES / 2);

    const ex_evaluation how = {.level = EX_LEVEL_LIMIT};
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1));
    ex_rig_evaluate(rig, &(ex_pose){.driver = fat}, &(ex_output){.positions = refined}, &how, scratch);
    free(scratch);
    scratch = malloc(ex_stencils_scratch_size(stencils));
    const ex_refine job = {.level = EX_LEVEL_LIMIT, .control = cage.positions, .positions = expected};
    ex_stencils_apply(stencils, &job, NULL, scratch);
    free(scratch);
    assert_memory_equal(refined, expected, sizeof refined);
    double inwards = 0;
    for (int v = 0; v < TUBE_AROUND; v++) /* the first ring is upright around the x axis */
        inwards = fmax(inwards, 0.125 - hypot((double)refined[3 * v + 1], (double)refined[3 * v + 2]));
    assert_true(inwards > 0.01);
    ex_rig_destroy(rig);
    ex_stencils_destroy(stencils);
    free(d);
}

static ex_result create_with(void *context, const ex_allocator *allocator) {
    ex_rig *rig = NULL;
    const ex_result came = ex_rig_create(&((driven_tube *)context)->def, allocator, &rig, NULL);
    ex_rig_destroy(rig);
    return came;
}

static void memory_may_run_out(void **state) {
    (void)state;
    driven_tube *d = driven_tube_make(TUBE_FRAMES, EX_RESIDUAL_KEYS, true);
    assert_true(failing_allocator_sweep(create_with, d) > 20);
    free(d);
}

typedef struct wrong {
    const char *what;
    void (*change)(driven_tube *d);
} wrong;

static void no_driver(driven_tube *d) {
    d->def.driver = NULL;
}
static void other_name(driven_tube *d) {
    d->driver.name = "cat";
}
static void no_key(driven_tube *d) {
    d->key_list[2] = NULL;
}
static void key_not_finite(driven_tube *d) {
    d->keys[2][7] = NAN;
}
static void frame_out_of_range(driven_tube *d) {
    d->views[1].frame = TUBE_FRAMES;
}
static void vertex_out_of_range(driven_tube *d) {
    d->triangles[5] = TUBE_VERTICES;
}
static void carry_not_one(driven_tube *d) {
    d->carry_weights[9] = 7;
}
static void form_too_far(driven_tube *d) {
    d->deltas[2][7] = 3e18F;
}
static void no_view(driven_tube *d) {
    d->layer.driven.view_count = 0;
}
static void dial_and_convex(driven_tube *d) {
    d->axes[0] = ex_axis_scalar(0, 1, 0);
}
static void nothing_driven(driven_tube *d) {
    d->def.layer_count = 0;
}
static void thin(driven_tube *d) {
    d->driver.thickness = -1;
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    static const wrong wrongs[] = {{"no driver", no_driver},
                                   {"other name", other_name},
                                   {"no key", no_key},
                                   {"key not finite", key_not_finite},
                                   {"frame out of range", frame_out_of_range},
                                   {"vertex out of range", vertex_out_of_range},
                                   {"carry not one", carry_not_one},
                                   {"form too far", form_too_far},
                                   {"no view", no_view},
                                   {"dial and convex", dial_and_convex},
                                   {"nothing driven", nothing_driven},
                                   {"thin", thin}};
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        driven_tube *d = driven_tube_make(TUBE_FRAMES, EX_RESIDUAL_KEYS, true);
        wrongs[i].change(d);
        ex_rig *rig = NULL;
        ex_error error = {0};
        if (ex_rig_create(&d->def, NULL, &rig, &error) == EX_OK)
            fail_msg("%s was taken", wrongs[i].what);
        assert_true(strlen(error.text) > 20);
        free(d);
    }
}

/* Beside two driven layers, one on a dial: it has no regions. */
static void other_layers_have_no_regions(void **state) {
    (void)state;
    driven_tube *d = driven_tube_make(TUBE_FRAMES, EX_RESIDUAL_NONE, true);
    const ex_axis dial = ex_axis_scalar(0, 1, 0);
    const char *const axis_names[] = {"dial"}, *const example_names[] = {"one"};
    ex_layer_def layers[3] = {d->layer, d->layer};
    layers[1].name = "again";
    layers[2] = (ex_layer_def){.name = "plain",
                               .weigh = ex_weigher_def_default(),
                               .axis_names = axis_names,
                               .example_names = example_names,
                               .form = {.deltas = d->delta_list}};
    layers[2].weigh.kind = EX_WEIGHER_DIRECT;
    layers[2].weigh.axes = &dial;
    layers[2].weigh.axis_count = layers[2].weigh.example_count = 1;
    d->def.layers = layers;
    d->def.layer_count = 3;
    ex_rig *rig = rig_of(&d->def);
    assert_int_equal(ex_rig_layer_regions(rig, 0, NULL, NULL), TUBE_FRAMES);
    assert_int_equal(ex_rig_layer_regions(rig, 1, NULL, NULL), TUBE_FRAMES);
    assert_int_equal(ex_rig_layer_regions(rig, 2, NULL, NULL), 0);
    ex_rig_destroy(rig);
    free(d);
}

/* ---- mixtures ---- */

/* The tube follows a copy of itself along a mixture: three nodes on its axis, and a corrector. */
typedef struct mixed_tube {
    driven_tube *d;
    ex_trajectory paths[TUBE_KEYS];
    float places[1 + TUBE_KEYS][3][3], turns[TUBE_KEYS][3][3], shares[2 * TUBE_VERTICES][4];
    float corrector[2 * TUBE_VERTICES][3];
    const float *correctors[1];
    uint16_t nodes[2 * TUBE_VERTICES][4];
} mixed_tube;

static mixed_tube *mix_tube(ex_residual residual) {
    static const uint16_t edges[2][2] = {{0, 1}, {1, 2}};
    static const float weights[2] = {1, 2}, curves[2] = {1, -0.5F};
    static const ex_mixture_term terms[2] = {{{2, 3, -1}, 0}, {{3, 4, -1}, 1}};
    mixed_tube *m = calloc(1, sizeof *m);
    driven_tube *d = m->d = driven_tube_make(1, residual, false);
    memcpy(d->mesh, d->reference, sizeof d->mesh);
    memcpy(d->forms, d->keys, sizeof d->forms);
    driven_tube_unpose(d);
    for (int v = 0; v < 2 * TUBE_VERTICES; v++) {
        const int ring = v % TUBE_VERTICES / TUBE_AROUND, low = ring < TUBE_RINGS / 2 ? 0 : 1;
        const float t = (float)(ring - low * (TUBE_RINGS / 2)) / (TUBE_RINGS / 2);
        m->nodes[v][0] = (uint16_t)low;
        m->nodes[v][1] = (uint16_t)(low + 1);
        m->shares[v][0] = 1 - t;
        m->shares[v][1] = t;
        for (int c = 0; c < 3; c++)
            m->corrector[v][c] = 0.02F * (float)sin(v % TUBE_VERTICES + 2 * c);
    }
    for (int k = 0; k <= TUBE_KEYS; k++)
        for (int n = 0; n < 3; n++)
            for (int i = 0; i < 3 * TUBE_AROUND; i++) {
                const int at = n * (TUBE_RINGS / 2) * 3 * TUBE_AROUND + i;
                m->places[k][n][i % 3] += (d->mesh[at] + (k > 0 ? d->deltas[k - 1][at] : 0)) / TUBE_AROUND;
                if (k > 0)
                    m->turns[k - 1][n][2] = (float)((n - 1) * (k - 1) * 0.2617994);
            }
    m->correctors[0] = m->corrector[0];
    d->layer.domain = EX_DOMAIN_TRAJECTORY;
    d->layer.trajectory = (ex_layer_trajectory){.examples = m->paths,
                                                .reference = 0,
                                                .mixture = {.node_count = 3,
                                                            .places = m->places[0][0],
                                                            .turns = m->turns[0][0],
                                                            .edge_count = 2,
                                                            .edges = edges[0],
                                                            .edge_weights = weights,
                                                            .nodes = m->nodes[0],
                                                            .shares = m->shares[0],
                                                            .corrector_count = 1,
                                                            .correctors = m->correctors,
                                                            .term_count = 2,
                                                            .terms = terms,
                                                            .curves = curves}};
    return m;
}

static void close_mixed(mixed_tube *m) {
    free(m->d);
    free(m);
}

/* The driver is blended as the tube is, and so the residual is all that is between the blended tube and the driver. */
static void mixtures_are_driven(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
            mixed_tube *m = mix_tube(residuals[i]);
            m->d->def.options.storage = (ex_storage)storage;
            const double tolerance = storage == EX_STORAGE_FLOAT ? 5e-6 : 2e-4;
            ex_rig *rig = rig_of(&m->d->def);
            for (int k = 0; k < TUBE_KEYS; k++) {
                const result r = evaluate_at(rig, m->d->keys[k], NULL, NULL, false);
                assert_true(farthest(r.positions, m->d->forms[k]) < tolerance);
            }
            for (double degrees = 20; i > 0 && degrees < 120; degrees += 25) {
                float form[TUBE_VERTICES * 3];
                tube_bend(degrees, 0.105, 0.01, form);
                const result r = evaluate_at(rig, form, NULL, NULL, false);
                assert_true(farthest(r.unsettled, form) > 5e-3);
                assert_true(farthest(r.positions, form) < 2 * tolerance);
            }
            ex_rig_destroy(rig);
            close_mixed(m);
        }
}

static void files_of_driven_mixtures(void **state) {
    (void)state;
    mixed_tube *m = mix_tube(EX_RESIDUAL_KEYS);
    ex_rig *rig = rig_of(&m->d->def), *back = NULL;
    size_t size = 0, again_size = 0;
    char *pack = pack_of(rig, &size);
    assert_int_equal(ex_rig_unpack(pack, size, NULL, NULL, &back, NULL), EX_OK);
    char *again = pack_of(back, &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(pack, again, size);
    float form[TUBE_VERTICES * 3];
    tube_bend(77, 0.11, 0, form);
    const result a = evaluate_at(rig, form, NULL, NULL, false), b = evaluate_at(back, form, NULL, NULL, false);
    assert_memory_equal(a.positions, b.positions, sizeof a.positions);
    ex_region views[EX_DRIVER_FRAME_MAX];
    assert_int_equal(ex_rig_layer_regions(back, 0, views, NULL), 1);
    assert_int_equal(views[0].count, TUBE_VERTICES);
    ex_rig_destroy(back);
    ex_rig_destroy(rig);
    free(pack);
    free(again);
    assert_true(failing_allocator_sweep(create_with, m->d) > 20);
    ex_error error = {0};
    m->nodes[TUBE_VERTICES + 5][1] = 3;
    assert_int_equal(ex_rig_create(&m->d->def, NULL, &rig, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "the driver's vertices: vertex 5 is moved by node 3");
    m->nodes[TUBE_VERTICES + 5][1] = 0;
    m->corrector[TUBE_VERTICES + 6][1] = NAN;
    assert_int_equal(ex_rig_create(&m->d->def, NULL, &rig, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "the driver's vertices: corrector 0 of the mixture: the entry of vertex 6");
    close_mixed(m);
}

/* Runs pieces of one to three from the last to the first, some empty. */
static void cut_oddly(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int end = count, size = 1; end > 0; end -= size, size = size % 3 + 1) {
        size = size < end ? size : end;
        body(context, end, end);
        body(context, end - size, end);
    }
}

/* Many poses in one call, each with a state, are the same bits as each alone, for several frames. */
static void crowds_are_each_alone(void **state) {
    (void)state;
    enum { CROWD = 20, ROUNDS = 3 };
    driven_tube *d = driven_tube_make(TUBE_FRAMES, EX_RESIDUAL_KEYS, true);
    ex_rig *rig = rig_of(&d->def);
    static result made[CROWD];
    static float forms[CROWD][TUBE_VERTICES * 3];
    void *alone[CROWD], *together[CROWD];
    ex_pose poses[CROWD];
    ex_output outputs[CROWD];
    const ex_tasks tasks = {cut_oddly, NULL};
    for (int i = 0; i < CROWD; i++) {
        alone[i] = calloc(1, ex_rig_state_size(rig) + 1);
        together[i] = calloc(1, ex_rig_state_size(rig) + 1);
        assert_true(alone[i] && together[i]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        ex_evaluation e = {.states = together, .tasks = &tasks};
        for (int i = 0; i < CROWD; i++) {
            tube_bend(4.0 * i + 2.0 * round, 0.09 + 0.02 * (i % 3), 0, forms[i]);
            made[i].driven = (ex_driven){.region_weights = made[i].regions};
            poses[i] = (ex_pose){.driver = forms[i]};
            outputs[i] =
                (ex_output){.positions = made[i].positions, .weights = made[i].weights, .driven = &made[i].driven};
        }
        void *scratch = malloc(ex_rig_scratch_size(rig, &e, CROWD));
        ex_rig_evaluate_many(rig, CROWD, poses, outputs, &e, scratch);
        free(scratch);
        for (int i = 0; i < CROWD; i++) {
            const result r = evaluate_at(rig, forms[i], NULL, alone[i], false);
            assert_memory_equal(made[i].positions, r.positions, sizeof r.positions);
            assert_memory_equal(made[i].weights, r.weights, sizeof r.weights);
            assert_memory_equal(together[i], alone[i], ex_rig_state_size(rig));
        }
    }
    for (int i = 0; i < CROWD; i++) {
        free(alone[i]);
        free(together[i]);
    }
    ex_rig_destroy(rig);
    free(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_come_back),
        cmocka_unit_test(between_keys_it_follows),
        cmocka_unit_test(rigid_motions_are_all_that_changes),
        cmocka_unit_test(wringing_has_no_jump),
        cmocka_unit_test(files_are_the_same),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(files_with_an_idle_driver_are_refused),
        cmocka_unit_test(a_state_only_saves_time),
        cmocka_unit_test(databases_are_an_axis),
        cmocka_unit_test(muted_layers_leave_nothing_behind),
        cmocka_unit_test(weighers_may_be_replaced),
        cmocka_unit_test(boxes_are_settled),
        cmocka_unit_test(what_penetrates_is_pushed_out),
        cmocka_unit_test(the_cage_is_settled_then_refined),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(other_layers_have_no_regions),
        cmocka_unit_test(mixtures_are_driven),
        cmocka_unit_test(files_of_driven_mixtures),
        cmocka_unit_test(crowds_are_each_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

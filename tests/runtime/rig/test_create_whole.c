/*
 * Creating a complete rig: every contradiction between skeleton, skin, levels, textures and joints has its sentence,
 * and memory may run out anywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/characters.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/rigs.h"
#include "support/whole_rigs.h"

#include <math.h>
#include <string.h>

enum { RINGS = 5, SIDES = 4 };

static void unknown_skinning(character *c) {
    c->def.skinning = EX_SKINNING_COUNT;
}
static void skin_without_skeleton(character *c) {
    c->def.skeleton = NULL;
    c->form_sources[0].joint = -1;
    c->layers[0].form.shifts = NULL;
}
static void skin_of_another_mesh(character *c) {
    c->def.mesh.vertex_count -= SIDES;
}
static void level_without_stencils(character *c) {
    c->def.stencils = NULL;
}
static void no_such_level(character *c) {
    c->def.level = 2;
}
static void levels_without_faces(character *c) {
    c->def.levels = NULL;
}
static void level_of_another_size(character *c) {
    c->level.vertex_count--;
    c->level.split_count--;
}
static void level_corner_out_of_range(character *c) {
    ((uint32_t *)(uintptr_t)c->level.corners)[3] = 100000;
}
/* Stencils that end in another number of limit points than the last level has vertices; here without any level. */
static void limit_of_another_size(character *c) {
    static const int offsets[3] = {0, 1, 2}, indices[2] = {0, 1};
    static const double weights[2] = {1, 1};
    const ex_stencil_rows two = {.vertex_count = 2, .offsets = offsets, .indices = indices, .weights = weights};
    const ex_stencils_def def = {.control_count = RINGS * SIDES, .limit = &two};
    ex_stencils_destroy(c->stencils);
    assert_int_equal(ex_stencils_create(&def, NULL, &c->stencils, NULL), EX_OK);
    c->def.stencils = c->stencils;
}
static void joint_out_of_range(character *c) {
    c->form_sources[0].joint = CHARACTER_JOINTS;
}
static void joint_below_none(character *c) {
    c->form_sources[0].joint = -2;
}
static void rotation_for_a_number(character *c) {
    c->form_sources[0].reading.kind = EX_READING_ROTATION;
}
static void reading_of_nothing(character *c) {
    c->form_sources[0].reading.kind = EX_READING_NONE;
}
static void angle_about_nothing(character *c) {
    memset(c->form_sources[0].reading.about, 0, sizeof c->form_sources[0].reading.about);
}
static void shift_not_finite(character *c) {
    c->shifts[1][2] = NAN;
}
static void unknown_domain(character *c) {
    c->layers[1].domain = EX_DOMAIN_COUNT;
}
static void nameless_texture(character *c) {
    c->layers[1].pixels.texture = NULL;
}
static void no_pixels(character *c) {
    c->layers[1].pixels.width = 0;
}
static void too_many_pixels(character *c) {
    c->layers[2].pixels.height = 1 << 20;
}
static void no_image(character *c) {
    c->layers[2].pixels.images = NULL;
}
static void images_of_another_size(character *c) {
    c->layers[2].pixels.width--;
}
static void pixels_with_a_mask(character *c) {
    c->layers[1].mask = c->def.mesh.positions;
}
static void one_name_two_sources(character *c) {
    static const char *const names[] = {"elbow"};
    c->layers[1].axis_names = names;
    c->tan_axes[0].min = 0;
}

/* The elbow again, in the first layer of pixels, but not read in the same way. */
static ex_reading *elbow_again(character *c) {
    static const char *const names[] = {"elbow"};
    static ex_axis_source source;
    source = c->form_sources[0];
    c->tan_axes[0] = c->form_axes[0];
    c->layers[1].axis_names = names;
    c->layers[1].sources = &source;
    return &source.reading;
}
static void one_name_two_middles(character *c) {
    elbow_again(c)->middle += 90;
}
static void one_name_two_directions(character *c) {
    elbow_again(c)->about[0] += 1;
}
static void one_name_two_readings(character *c) {
    elbow_again(c)->kind = EX_READING_STRETCH;
}
static void one_name_two_units(character *c) {
    c->form_sources[0].reading.kind = EX_READING_SLIDE;
    elbow_again(c)->unit = 0.01;
}

static const struct {
    void (*spoil)(character *c);
    ex_result result;
    const char *words[3];
} cases[] = {
    {unknown_skinning, EX_ERROR_ARGUMENT, {"skinning"}},
    {skin_without_skeleton, EX_ERROR_ARGUMENT, {"3 joints", "skeleton 0"}},
    {skin_of_another_mesh, EX_ERROR_DATA, {"split vertex"}},
    {level_without_stencils, EX_ERROR_ARGUMENT, {"has no refined levels"}},
    {no_such_level, EX_ERROR_ARGUMENT, {"no level 2"}},
    {levels_without_faces, EX_ERROR_ARGUMENT, {"faces are missing"}},
    {level_of_another_size, EX_ERROR_ARGUMENT, {"level 1", "35", "36"}},
    {level_corner_out_of_range, EX_ERROR_DATA, {"level 1", "corner 3"}},
    {limit_of_another_size, EX_ERROR_ARGUMENT, {"limit has 2", "20"}},
    {joint_out_of_range, EX_ERROR_ARGUMENT, {"'arm'", "'elbow'", "joint 3"}},
    {joint_below_none, EX_ERROR_ARGUMENT, {"'elbow'", "joint -2"}},
    {rotation_for_a_number, EX_ERROR_ARGUMENT, {"'elbow'", "kind"}},
    {reading_of_nothing, EX_ERROR_ARGUMENT, {"'elbow'", "kind"}},
    {angle_about_nothing, EX_ERROR_ARGUMENT, {"'elbow'", "direction"}},
    {shift_not_finite, EX_ERROR_DATA, {"'big'", "'elbow'", "finite"}},
    {unknown_domain, EX_ERROR_ARGUMENT, {"'skin'", "domain"}},
    {nameless_texture, EX_ERROR_ARGUMENT, {"'skin'", "texture"}},
    {no_pixels, EX_ERROR_DATA, {"'skin'", "0 x 3"}},
    {too_many_pixels, EX_ERROR_DATA, {"'wet'", "1048576"}},
    {no_image, EX_ERROR_ARGUMENT, {"'wet'", "no image"}},
    {images_of_another_size, EX_ERROR_DATA, {"'wet'", "4 x 3", "5 x 3"}},
    {pixels_with_a_mask, EX_ERROR_ARGUMENT, {"'skin'", "mask"}},
    {one_name_two_sources, EX_ERROR_DATA, {"'elbow'", "'skin'", "'arm'"}},
    {one_name_two_middles, EX_ERROR_DATA, {"'elbow'", "reading", "'skin'"}},
    {one_name_two_directions, EX_ERROR_DATA, {"'elbow'", "reading", "'skin'"}},
    {one_name_two_readings, EX_ERROR_DATA, {"'elbow'", "reading", "'skin'"}},
    {one_name_two_units, EX_ERROR_DATA, {"'elbow'", "reading", "'skin'"}},
};

static void every_mistake_has_its_sentence(void **state) {
    (void)state;
    failing_allocator f;
    failing_allocator_open(&f);
    int failed = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        character c;
        character_open(&c, RINGS, SIDES, EX_SKINNING_LINEAR);
        cases[i].spoil(&c);
        ex_rig *rig = NULL;
        ex_error error = {0};
        ex_result result = ex_rig_create(&c.def, &f.allocator, &rig, &error);
        character_close(&c);
        assert_null(rig);
        failing_allocator_close(&f);
        bool said = result == cases[i].result;
        for (int word = 0; word < 3 && cases[i].words[word]; word++)
            said = said && strstr(error.text, cases[i].words[word]);
        if (!said) {
            print_error("case %zu (%s): result %d, '%s'\n", i, cases[i].words[0], (int)result, error.text);
            failed++;
        }
    }
    assert_int_equal(failed, 0);
}

static ex_result create(void *context, const ex_allocator *allocator) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    ex_result result = ex_rig_create(context, allocator, &rig, &error);
    assert_true((result == EX_OK) == (rig != NULL));
    if (result != EX_OK)
        assert_sentence(&error, EX_ERROR_MEMORY, "memory");
    ex_rig_destroy(rig);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    character c;
    character_open(&c, RINGS, SIDES, EX_SKINNING_DUAL_QUATERNION);
    assert_true(failing_allocator_sweep(create, &c.def) >= 12);
    failing_allocator f;
    failing_allocator_open(&f);
    ex_rig *rig = NULL;
    assert_int_equal(ex_rig_create(&c.def, &f.allocator, &rig, NULL), EX_OK);
    assert_int_equal(f.live, 1); /* one block is held */
    ex_rig_destroy(rig);
    failing_allocator_close(&f);
    character_close(&c);
}

static void one_name_one_input(void **state) {
    (void)state;
    character c;
    character_open(&c, RINGS, SIDES, EX_SKINNING_LINEAR);
    elbow_again(&c);
    ex_rig *rig = rig_of(&c.def);
    assert_int_equal(ex_rig_input_count(rig), CHARACTER_INPUTS - 1);
    assert_int_equal(ex_rig_layer_input(rig, 1, 0), ex_rig_layer_input(rig, 0, 0));
    ex_rig_destroy(rig);
    character_close(&c);
}

/* If two layers take different parts of one rotation, setting the input sets all of it; if both take the same, only
 * that part. */
static void parts_of_one_rotation(void **state) {
    (void)state;
    static const char *const axis[] = {"turn"}, *const example[] = {"only"};
    static const float positions[3] = {1, 2, 3}, delta[3] = {0, 0, 0}, *const deltas[] = {delta};
    static const double y[3] = {0, 1, 0}, point[4] = {0, 0, 0, 1}, turn[4] = {0.5, 0.5, 0.5, 0.5};
    const ex_transform rest = ex_transform_identity();
    const int parent = -1;
    ex_skeleton *skeleton = NULL;
    assert_int_equal(ex_skeleton_create(&(ex_skeleton_def){1, &parent, &rest, NULL, NULL}, NULL, &skeleton, NULL),
                     EX_OK);
    for (int same = 0; same < 2; same++) {
        const ex_axis_kind parts[2] = {EX_AXIS_SWING, same ? EX_AXIS_SWING : EX_AXIS_TWIST};
        ex_axis axes[2];
        ex_axis_source sources[2];
        ex_layer_def layers[2];
        for (int l = 0; l < 2; l++) {
            axes[l] = ex_axis_rotation(parts[l], y);
            sources[l] = (ex_axis_source){0, {.kind = EX_READING_ROTATION, .about = {0, 1, 0}, .part = (int)parts[l]}};
            layers[l] = (ex_layer_def){.name = l ? "second" : "first",
                                       .weigh = ex_weigher_def_default(),
                                       .axis_names = axis,
                                       .sources = &sources[l],
                                       .example_names = example,
                                       .form.deltas = deltas};
            layers[l].weigh.axes = &axes[l];
            layers[l].weigh.axis_count = layers[l].weigh.example_count = 1;
            layers[l].weigh.points = point;
        }
        ex_rig_def def = ex_rig_def_default();
        def.mesh = (ex_rig_mesh){.vertex_count = 1, .positions = positions, .split_count = 1};
        def.layers = layers;
        def.layer_count = 2;
        def.skeleton = skeleton;
        ex_rig *rig = rig_of(&def);
        ex_transform joint = rest;
        double read[4];
        assert_int_equal(ex_rig_input_count(rig), 1);
        ex_rig_set_input(rig, 0, turn, &(ex_pose){.joints = &joint});
        ex_rig_get_input(rig, 0, &(ex_pose){.joints = &joint}, read);
        if (same)
            assert_true(fabs(read[1]) < 1e-6); /* a swing about y has no turn about it */
        else
            assert_row_near(read, turn, 4, 1e-6);
        ex_rig_destroy(rig);
    }
    ex_skeleton_destroy(skeleton);
}

/* Given values come back, and a bare rig has none of them. */
static void parts_read_back(void **state) {
    (void)state;
    character c;
    character_open(&c, RINGS, SIDES, EX_SKINNING_DUAL_QUATERNION);
    ex_rig *rig = rig_of(&c.def);
    assert_int_equal(ex_rig_joint_count(rig), CHARACTER_JOINTS);
    assert_string_equal(ex_skeleton_name(ex_rig_skeleton(rig), 2), "wrist");
    assert_int_equal(ex_rig_skinning(rig), EX_SKINNING_DUAL_QUATERNION);
    assert_int_equal(ex_skin_vertex_count(ex_rig_skin(rig)), RINGS * SIDES);
    float shifts[CHARACTER_JOINTS][3];
    assert_true(ex_rig_example_shifts(rig, 0, 3, &shifts[0][0]));
    assert_memory_equal(shifts, c.shifts, sizeof shifts);
    assert_false(ex_rig_example_shifts(rig, 0, 1, &shifts[0][0]));
    assert_true(shifts[2][0] == 0);
    ex_rig_destroy(rig);
    c.def.layer_count = 0;
    c.def.skin = NULL;
    c.def.skeleton = NULL;
    c.def.stencils = NULL;
    c.def.level = 0;
    rig = rig_of(&c.def);
    assert_null(ex_rig_skeleton(rig));
    assert_null(ex_rig_skin(rig));
    assert_null(ex_rig_stencils(rig));
    assert_int_equal(ex_rig_joint_count(rig), 0);
    assert_int_equal(ex_rig_texture_count(rig), 0);
    assert_int_equal(ex_rig_level_count(rig), 0);
    use_rig(rig);
    ex_rig_destroy(rig);
    character_close(&c);
}

/* The table of domains' entries for a layer. */
static void layers_tell_where_they_act(void **state) {
    (void)state;
    static const struct {
        ex_domain domain;
        const char *word;
        ex_stage stage;
        bool is_sum, has_forms;
    } facts[] = {{EX_DOMAIN_FORM, "positions", EX_STAGE_REST, true, true},
                 {EX_DOMAIN_PIXELS, "pixels", EX_STAGE_TEXTURE, true, false},
                 {EX_DOMAIN_OFFSETS, "offsets", EX_STAGE_REST, true, false},
                 {EX_DOMAIN_TRAJECTORY, "trajectory", EX_STAGE_REST, false, true}};
    whole_rig w;
    whole_rig_open(&w, 40, WHOLE_ALL & ~WHOLE_LEVELS & ~WHOLE_LIMIT);
    ex_rig *rig = rig_of(&w.def);
    int seen = 0, posed = 0;
    for (int l = 0; l < ex_rig_layer_count(rig); l++)
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
            if (ex_rig_layer_domain(rig, l) != facts[i].domain)
                continue;
            const bool skinned = ex_rig_layer_frame(rig, l) == EX_OFFSET_FRAME_SKINNED;
            assert_int_equal(ex_rig_layer_stage(rig, l), skinned ? EX_STAGE_POSED : facts[i].stage);
            assert_int_equal(ex_rig_layer_is_sum(rig, l), facts[i].is_sum);
            assert_int_equal(ex_rig_layer_has_forms(rig, l), facts[i].has_forms);
            assert_string_equal(ex_domain_name(facts[i].domain), facts[i].word);
            seen |= 1 << i;
            posed += skinned;
        }
    assert_int_equal(seen, 15);
    assert_int_equal(posed, 1);
    assert_string_equal(ex_domain_name(EX_DOMAIN_COUNT), "unknown");
    assert_true(strlen(ex_domain_help(EX_DOMAIN_DISPLACEMENT)) > 0);
    assert_string_equal(ex_domain_help(EX_DOMAIN_COUNT), "");
    ex_rig_destroy(rig);
    whole_rig_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_has_its_sentence),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(one_name_one_input),
        cmocka_unit_test(parts_of_one_rotation),
        cmocka_unit_test(parts_read_back),
        cmocka_unit_test(layers_tell_where_they_act),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

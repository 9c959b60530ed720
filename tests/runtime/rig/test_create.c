/*
 * Creating and inspecting a rig: everything given can be read back; errors are named by layer, axis, example and
 * vertex; failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/rigs.h"

#include <math.h>
#include <string.h>

enum { VERTICES = 19 };

static int misuses;
static const char *misused;
static void count_misuse(const char *function, const char *what) {
    (void)what;
    misused = function;
    misuses++;
}

/* Exactly one misuse since the last time, of this function. */
static void assert_told(const char *function) {
    assert_int_equal(misuses, 1);
    assert_string_equal(misused, function);
    misuses = 0;
}

static void layers_and_inputs_read_back(void **state) {
    (void)state;
    sample_rig s;
    sample_rig_open(&s, VERTICES);
    ex_rig *rig = rig_of(&s.def);
    assert_int_equal(ex_rig_vertex_count(rig), VERTICES);
    assert_int_equal(ex_rig_layer_count(rig), RIG_LAYERS);
    assert_int_equal(ex_rig_example_count(rig), RIG_EXAMPLES);
    assert_int_equal(ex_rig_input_count(rig), RIG_INPUTS);
    assert_int_equal(ex_rig_pose_size(rig), RIG_POSE);
    assert_int_equal(ex_rig_storage(rig), EX_STORAGE_FLOAT);
    static const int first[] = {0, 3, 5}, layer_inputs[RIG_LAYERS][2] = {{0, 1}, {2, 0}, {3, 4}};
    for (int l = 0; l < RIG_LAYERS; l++) {
        assert_string_equal(ex_rig_layer_name(rig, l), s.layers[l].name);
        assert_int_equal(ex_rig_first_example(rig, l), first[l]);
        assert_int_equal(ex_weigher_example_count(ex_rig_weigher(rig, l)), s.layers[l].weigh.example_count);
        assert_int_equal(ex_weigher_get_kind(ex_rig_weigher(rig, l)), s.layers[l].weigh.kind);
        for (int k = 0; k < s.layers[l].weigh.example_count; k++)
            assert_string_equal(ex_rig_example_name(rig, l, k), s.layers[l].example_names[k]);
        for (int a = 0; a < 2; a++)
            assert_int_equal(ex_rig_layer_input(rig, l, a), layer_inputs[l][a]);
    }
    static const char *const names[] = {"bend", "turn", "weight", "smile", "frown"};
    static const int offsets[] = {0, 1, 5, 6, 7};
    for (int i = 0; i < RIG_INPUTS; i++) {
        assert_string_equal(ex_rig_input_name(rig, i), names[i]);
        assert_string_equal(ex_rig_input_unit(rig, i), i == 0 ? "\xC2\xB0" : "");
        assert_int_equal(ex_rig_input_offset(rig, i), offsets[i]);
        assert_int_equal(ex_rig_input_find(rig, names[i]), i);
    }
    assert_int_equal(ex_rig_input_find(rig, "ben"), -1);
    ex_axis axis = ex_rig_input_axis(rig, 0); /* as in the first layer, not the second */
    assert_true(axis.kind == EX_AXIS_SCALAR && axis.min == 0 && axis.max == 140 && axis.rest == 10);
    assert_int_equal(ex_rig_input_axis(rig, 1).kind, EX_AXIS_ROTATION);
    ex_rig_destroy(rig);
    sample_rig_close(&s);
    ex_rig_destroy(NULL);
}

static void mesh_forms_and_notes_read_back(void **state) {
    (void)state;
    sample_rig s;
    sample_rig_open(&s, VERTICES);
    ex_rig *rig = rig_of(&s.def);
    ex_rig_mesh mesh = ex_rig_get_mesh(rig);
    const size_t splits = VERTICES + 2;
    assert_int_equal(mesh.vertex_count, VERTICES);
    assert_int_equal(mesh.split_count, splits);
    assert_null(mesh.positions);
    assert_memory_equal(mesh.split_source, s.split_source, splits * sizeof(uint32_t));
    assert_memory_equal(mesh.texcoords, s.texcoords, splits * 2 * sizeof(float));
    assert_memory_equal(mesh.normals, s.normals, splits * 3 * sizeof(float));
    assert_int_equal(mesh.face_count, 2);
    assert_memory_equal(mesh.face_sizes, s.face_sizes, sizeof s.face_sizes);
    assert_int_equal(mesh.corner_count, 7);
    assert_memory_equal(mesh.corners, s.corners, sizeof s.corners);
    assert_int_equal(mesh.triangle_count, 3);
    assert_memory_equal(mesh.triangles, s.triangles, sizeof s.triangles);
    float room[3 * VERTICES];
    ex_rig_rest_mesh(rig, room);
    assert_memory_equal(room, s.positions, sizeof room);
    for (int l = 0, k = 0; l < RIG_LAYERS; l++)
        for (int e = 0; e < s.layers[l].weigh.example_count; e++, k++) {
            ex_rig_example_delta(rig, l, e, room);
            for (int i = 0; i < 3 * VERTICES; i++)
                assert_true(room[i] == s.deltas[k][i] * (l == 1 ? s.mask[i / 3] : 1)); /* the mask is in it */
        }
    assert_int_equal(ex_rig_attachment_count(rig), RIG_NOTES);
    for (int i = 0; i < RIG_NOTES; i++) {
        ex_attachment note = ex_rig_attachment(rig, i);
        assert_string_equal(note.kind, s.notes[i].kind);
        assert_int_equal(note.size, s.notes[i].size);
        assert_true(note.size == 0 || memcmp(note.data, s.notes[i].data, note.size) == 0);
    }
    ex_rig_destroy(rig);
    s.def.mesh.split_source = NULL;
    s.def.mesh.split_count = VERTICES;
    s.def.mesh.texcoords = s.def.mesh.normals = NULL;
    rig = rig_of(&s.def);
    mesh = ex_rig_get_mesh(rig);
    assert_true(!mesh.split_source && !mesh.texcoords && !mesh.normals && mesh.split_count == VERTICES);
    ex_rig_destroy(rig);
    sample_rig_close(&s);
}

static void numbers_out_of_range_are_misuse(void **state) {
    (void)state;
    sample_rig s;
    sample_rig_open(&s, VERTICES);
    ex_rig *rig = rig_of(&s.def);
    ex_set_misuse_hook(count_misuse);
    static const int bad[] = {-1, 1000};
    float room[3] = {5, 5, 5};
    for (int i = 0; i < 2; i++) {
        misuses = 0;
        assert_string_equal(ex_rig_layer_name(rig, bad[i]), "");
        assert_null(ex_rig_weigher(rig, bad[i]));
        assert_int_equal(ex_rig_first_example(rig, bad[i]), -1);
        assert_string_equal(ex_rig_example_name(rig, bad[i], 0), "");
        assert_string_equal(ex_rig_example_name(rig, 0, bad[i]), "");
        assert_string_equal(ex_rig_input_name(rig, bad[i]), "");
        assert_string_equal(ex_rig_input_unit(rig, bad[i]), "");
        assert_int_equal(ex_rig_input_axis(rig, bad[i]).kind, EX_AXIS_SCALAR);
        assert_int_equal(ex_rig_input_offset(rig, bad[i]), -1);
        assert_int_equal(ex_rig_layer_input(rig, bad[i], 0), -1);
        assert_int_equal(ex_rig_layer_input(rig, 0, bad[i]), -1);
        ex_rig_example_delta(rig, 0, bad[i], room);
        assert_int_equal(ex_rig_attachment(rig, bad[i]).size, 0);
        assert_int_equal(misuses, 13);
    }
    assert_true(room[0] == 5);
    ex_rig *none = NULL;
    assert_int_equal(ex_rig_create(NULL, NULL, &none, NULL), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_rig_create(&s.def, NULL, NULL, NULL), EX_ERROR_ARGUMENT);
    ex_rig_evaluate_many(NULL, 1, NULL, NULL, NULL, NULL);
    assert_int_equal(misuses, 16);
    ex_set_misuse_hook(NULL);
    ex_rig_destroy(rig);
    sample_rig_close(&s);
}

static void nothing_in_place_of_a_rig_is_misuse(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int (*count)(const ex_rig *rig);
    } counts[] = {
        {"ex_rig_attachment_count", ex_rig_attachment_count},
        {"ex_rig_example_count", ex_rig_example_count},
        {"ex_rig_input_count", ex_rig_input_count},
        {"ex_rig_jacobian_width", ex_rig_jacobian_width},
        {"ex_rig_joint_count", ex_rig_joint_count},
        {"ex_rig_layer_count", ex_rig_layer_count},
        {"ex_rig_level", ex_rig_level},
        {"ex_rig_level_count", ex_rig_level_count},
        {"ex_rig_pose_size", ex_rig_pose_size},
        {"ex_rig_texture_count", ex_rig_texture_count},
        {"ex_rig_vertex_count", ex_rig_vertex_count},
    };
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_int_equal(counts[i].count(NULL), 0);
        assert_told(counts[i].name);
    }
    assert_int_equal(ex_rig_level_vertex_count(NULL, 0), 0), assert_told("ex_rig_level_vertex_count");
    assert_int_equal(ex_rig_level_mesh(NULL, 0).vertex_count, 0), assert_told("ex_rig_level_mesh");
    assert_int_equal(ex_rig_get_mesh(NULL).vertex_count, 0), assert_told("ex_rig_get_mesh");
    assert_int_equal(ex_rig_scratch_size(NULL, NULL, 1), 0), assert_told("ex_rig_scratch_size");
    assert_int_equal(ex_rig_state_size(NULL), 0), assert_told("ex_rig_state_size");
    assert_int_equal(ex_rig_input_find(NULL, "bend"), -1), assert_told("ex_rig_input_find");
    assert_null(ex_rig_skeleton(NULL)), assert_told("ex_rig_skeleton");
    assert_null(ex_rig_skin(NULL)), assert_told("ex_rig_skin");
    assert_null(ex_rig_stencils(NULL)), assert_told("ex_rig_stencils");
    assert_null(ex_rig_weigher(NULL, 0)), assert_told("ex_rig_weigher");
    assert_int_equal(ex_rig_skinning(NULL), 0), assert_told("ex_rig_skinning");
    assert_int_equal(ex_rig_storage(NULL), 0), assert_told("ex_rig_storage");
    ex_rig_get_refinement(NULL), assert_told("ex_rig_get_refinement");
    assert_string_equal(ex_rig_texture(NULL, 0).name, ""), assert_told("ex_rig_texture");
    assert_string_equal(ex_rig_attachment(NULL, 0).kind, ""), assert_told("ex_rig_attachment");
    float position[3] = {5, 5, 5};
    ex_rig_rest_mesh(NULL, position), assert_told("ex_rig_rest_mesh");
    assert_true(position[0] == 5);
    double value = 7;
    const ex_pose pose = {.inputs = &value};
    ex_rig_driver driver;
    ex_rig_rest_pose(NULL, &pose), assert_told("ex_rig_rest_pose");
    ex_rig_set_input(NULL, 0, &value, &pose), assert_told("ex_rig_set_input");
    ex_rig_get_input(NULL, 0, &pose, &value), assert_told("ex_rig_get_input");
    assert_false(ex_rig_get_driver(NULL, &driver, NULL)), assert_told("ex_rig_get_driver");
    assert_true(value == 7);
    ex_set_misuse_hook(NULL);
}

/* Each is reported under the name of the function that was called, and nothing is written. */
static void nothing_in_place_of_a_value_is_misuse(void **state) {
    (void)state;
    sample_rig s;
    sample_rig_open(&s, VERTICES);
    ex_rig *rig = rig_of(&s.def);
    double inputs[RIG_POSE], value = 7;
    const ex_pose pose = {.inputs = inputs};
    for (int i = 0; i < RIG_POSE; i++)
        inputs[i] = 7;
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    for (int i = 0; i < RIG_INPUTS; i++) {
        ex_rig_set_input(rig, i, NULL, &pose), assert_told("ex_rig_set_input");
        ex_rig_set_input(rig, i, &value, NULL), assert_told("ex_rig_set_input");
        ex_rig_get_input(rig, i, &pose, NULL), assert_told("ex_rig_get_input");
    }
    ex_rig_set_input(rig, RIG_INPUTS, &value, &pose), assert_told("ex_rig_set_input");
    ex_rig_set_input(rig, -1, &value, &pose), assert_told("ex_rig_set_input");
    ex_rig_get_input(rig, -1, &pose, &value), assert_told("ex_rig_get_input");
    ex_rig_rest_pose(rig, NULL), assert_told("ex_rig_rest_pose");
    ex_rig_rest_mesh(rig, NULL), assert_told("ex_rig_rest_mesh");
    assert_false(ex_rig_get_driver(rig, NULL, NULL)), assert_told("ex_rig_get_driver");
    assert_int_equal(ex_rig_input_find(rig, NULL), -1), assert_told("ex_rig_input_find");
    assert_int_equal(ex_rig_input_find(rig, "nowhere"), -1);
    assert_int_equal(misuses, 0);
    assert_true(value == 7);
    for (int i = 0; i < RIG_POSE; i++)
        assert_true(inputs[i] == 7);
    ex_set_misuse_hook(NULL);
    ex_rig_destroy(rig);
    sample_rig_close(&s);
}

static void nothing_in_place_of_a_weigher_is_misuse(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int (*count)(const ex_weigher *weigher);
    } counts[] = {
        {"ex_weigher_axis_count", ex_weigher_axis_count},
        {"ex_weigher_dimension", ex_weigher_dimension},
        {"ex_weigher_example_count", ex_weigher_example_count},
        {"ex_weigher_pseudo_count", ex_weigher_pseudo_count},
        {"ex_weigher_set_weight_count", ex_weigher_set_weight_count},
    };
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_int_equal(counts[i].count(NULL), 0);
        assert_told(counts[i].name);
    }
    double number = 5;
    ex_weigher_def def = {.axis_count = 5};
    assert_int_equal(ex_weigher_state_size(NULL), 0), assert_told("ex_weigher_state_size");
    assert_int_equal(ex_weigher_scratch_size(NULL), 0), assert_told("ex_weigher_scratch_size");
    assert_int_equal(ex_weigher_get_kind(NULL), 0), assert_told("ex_weigher_get_kind");
    assert_string_equal(ex_weigher_get_info(NULL)->help, ""), assert_told("ex_weigher_get_info");
    assert_int_equal(ex_weigher_get_ridge(NULL).point, -1), assert_told("ex_weigher_get_ridge");
    assert_true(ex_weigher_distance(NULL, &number, &number) == 0), assert_told("ex_weigher_distance");
    assert_null(ex_weigher_point(NULL, 0)), assert_told("ex_weigher_point");
    ex_weigher_describe(NULL, &def, NULL, NULL), assert_told("ex_weigher_describe");
    assert_int_equal(ex_weigher_condition(NULL, NULL, &number, NULL), EX_ERROR_ARGUMENT);
    assert_told("ex_weigher_condition");
    assert_true(number == 5 && def.axis_count == 5);
    ex_set_misuse_hook(NULL);
}

/* ---- everything that can be wrong ---- */

static const char *const twice[] = {"same", "same", "same"}, *const nameless[] = {"a", NULL, "c"};
static const char *const broken[] = {"a", "b\n", "\xFF"}, *const empty[] = {"", "b", "c"};

static void no_positions(sample_rig *s) {
    s->def.mesh.positions = NULL;
}
static void no_vertices(sample_rig *s) {
    s->def.mesh.vertex_count = 0;
}
static void negative_layers(sample_rig *s) {
    s->def.layer_count = -1;
}
static void null_layers(sample_rig *s) {
    s->def.layers = NULL;
}
static void null_notes(sample_rig *s) {
    s->def.notes = NULL;
}
static void unknown_storage(sample_rig *s) {
    s->def.options.storage = EX_STORAGE_COUNT;
}
static void few_splits(sample_rig *s) {
    s->def.mesh.split_count = VERTICES - 1;
}
static void splits_without_map(sample_rig *s) {
    s->def.mesh.split_source = NULL;
}
static void sources_out_of_order(sample_rig *s) {
    s->split_source[3] = 5;
}
static void sources_fall(sample_rig *s) {
    for (uint32_t i = 0; i < VERTICES + 2; i++) /* every vertex has one, and each but one is the last or the next */
        s->split_source[i] = i < VERTICES ? i : i - 2;
}
static void source_behind_the_last(sample_rig *s) {
    s->split_source[VERTICES + 1] = VERTICES;
}
static void last_source_missing(sample_rig *s) {
    s->split_source[VERTICES + 1] = VERTICES - 2;
}
static void two_corners(sample_rig *s) {
    s->face_sizes[1] = 2;
}
static void other_corner_count(sample_rig *s) {
    s->face_sizes[0] = 5;
}
static void corner_out_of_range(sample_rig *s) {
    s->corners[5] = VERTICES + 2;
}
static void triangle_out_of_range(sample_rig *s) {
    s->triangles[7] = 0xFFFFFFFF;
}
static void negative_faces(sample_rig *s) {
    s->def.mesh.face_count = -1;
}
static void texcoord_not_finite(sample_rig *s) {
    s->texcoords[9] = INFINITY;
}
static void normal_not_finite(sample_rig *s) {
    s->normals[20] = NAN;
}
static void position_not_finite(sample_rig *s) {
    s->positions[3 * 17 + 1] = NAN;
}
static void delta_not_finite(sample_rig *s) {
    s->deltas[4][3 * 11 + 2] = INFINITY;
}
static void nameless_layer(sample_rig *s) {
    s->layers[1].name = NULL;
}
static void broken_layer_name(sample_rig *s) {
    s->layers[2].name = "a\tb";
}
static void two_layers_of_a_name(sample_rig *s) {
    s->layers[2].name = "arm";
}
static void nameless_axis(sample_rig *s) {
    s->layers[1].axis_names = nameless;
}
static void no_axis_names(sample_rig *s) {
    s->layers[1].axis_names = NULL;
}
static void two_axes_of_a_name(sample_rig *s) {
    s->layers[2].axis_names = twice;
}
static void broken_axis_name(sample_rig *s) {
    s->layers[2].axis_names = broken;
}
static void broken_unit(sample_rig *s) {
    s->layers[1].axis_units = broken + 1;
}
static void nameless_example(sample_rig *s) {
    s->layers[0].example_names = nameless;
}
static void empty_example_name(sample_rig *s) {
    s->layers[0].example_names = empty;
}
static void two_examples_of_a_name(sample_rig *s) {
    s->layers[0].example_names = twice;
}
static void example_without_form(sample_rig *s) {
    s->deltas[2] = NULL;
}
static void no_forms(sample_rig *s) {
    s->layers[1].form.deltas = NULL;
}
static void mask_above_one(sample_rig *s) {
    s->mask[7] = 1.5f;
}
static void mask_below_zero(sample_rig *s) {
    s->mask[7] = -0.1f;
}
static void mask_not_a_number(sample_rig *s) {
    s->mask[7] = NAN;
}
static void shared_axis_of_other_kind(sample_rig *s) {
    static const char *const names[] = {"weight", "turn"};
    s->layers[1].axis_names = names;
}
static void shared_axis_of_other_rest(sample_rig *s) {
    s->belly_axes[1].rest = 11;
}
static void bad_space(sample_rig *s) {
    s->arm_axes[0].max = -1;
}
static void no_axes(sample_rig *s) {
    s->layers[1].weigh.axis_count = 0;
}
static void fewer_than_no_axes(sample_rig *s) {
    s->def.layers = &s->layers[1];
    s->def.layer_count = 1;
    s->layers[1].weigh.axis_count = -1;
}
static void fewer_than_no_examples(sample_rig *s) {
    s->layers[1].weigh.example_count = -1;
}
static void examples_at_one_place(sample_rig *s) {
    static const double points[3][5] = {{0, 0, 0, 0, 1}, {140, 0, 0, 0, 1}, {140, 0, 0, 0, -1}};
    s->layers[0].weigh.points = points[0];
}
static void nameless_note(sample_rig *s) {
    s->notes[1].kind = NULL;
}
static void long_note_kind(sample_rig *s) {
    s->notes[1].kind = "sixteen letters!";
}
static void note_without_data(sample_rig *s) {
    s->notes[1].size = 5;
}

static const struct {
    void (*spoil)(sample_rig *s);
    ex_result result;
    const char *words[3];
} cases[] = {
    {no_positions, EX_ERROR_ARGUMENT, {"no positions"}},
    {no_vertices, EX_ERROR_DATA, {"no vertices"}},
    {negative_layers, EX_ERROR_ARGUMENT, {"count"}},
    {null_layers, EX_ERROR_ARGUMENT, {"count"}},
    {null_notes, EX_ERROR_ARGUMENT, {"count"}},
    {unknown_storage, EX_ERROR_ARGUMENT, {"storage"}},
    {few_splits, EX_ERROR_DATA, {"counts"}},
    {splits_without_map, EX_ERROR_DATA, {"21 split vertices", "19"}},
    {sources_out_of_order, EX_ERROR_DATA, {"split vertex 3", "vertex 5"}},
    {sources_fall, EX_ERROR_DATA, {"split vertex 19", "vertex 17", "order"}},
    {source_behind_the_last, EX_ERROR_DATA, {"19"}},
    {last_source_missing, EX_ERROR_DATA, {"vertex 18"}},
    {two_corners, EX_ERROR_DATA, {"face 1", "three"}},
    {other_corner_count, EX_ERROR_DATA, {"8 corners", "7"}},
    {corner_out_of_range, EX_ERROR_DATA, {"corner 5", "vertex 21, but there are 21"}},
    {triangle_out_of_range, EX_ERROR_DATA, {"triangle corner 7"}},
    {negative_faces, EX_ERROR_DATA, {"counts"}},
    {texcoord_not_finite, EX_ERROR_DATA, {"texture coordinate 4"}},
    {normal_not_finite, EX_ERROR_DATA, {"normal 6"}},
    {position_not_finite, EX_ERROR_DATA, {"mesh", "vertex 17"}},
    {delta_not_finite, EX_ERROR_DATA, {"'belly'", "'fat'", "vertex 11"}},
    {nameless_layer, EX_ERROR_ARGUMENT, {"layer 1", "name"}},
    {broken_layer_name, EX_ERROR_ARGUMENT, {"layer 2", "name"}},
    {two_layers_of_a_name, EX_ERROR_ARGUMENT, {"'arm'", "twice"}},
    {nameless_axis, EX_ERROR_ARGUMENT, {"'belly'", "axis 1", "name"}},
    {no_axis_names, EX_ERROR_ARGUMENT, {"'belly'", "axis 0", "name"}},
    {two_axes_of_a_name, EX_ERROR_ARGUMENT, {"'mix'", "axis 'same'", "twice"}},
    {broken_axis_name, EX_ERROR_ARGUMENT, {"'mix'", "axis 1", "name"}},
    {broken_unit, EX_ERROR_ARGUMENT, {"unit", "'weight'"}},
    {nameless_example, EX_ERROR_ARGUMENT, {"'arm'", "example 1", "name"}},
    {empty_example_name, EX_ERROR_ARGUMENT, {"'arm'", "example 0", "name"}},
    {two_examples_of_a_name, EX_ERROR_ARGUMENT, {"'arm'", "example 'same'", "twice"}},
    {example_without_form, EX_ERROR_ARGUMENT, {"'arm'", "'turned'", "form"}},
    {no_forms, EX_ERROR_ARGUMENT, {"'belly'", "'thin'", "form"}},
    {mask_above_one, EX_ERROR_DATA, {"'belly'", "vertex 7", "1.5"}},
    {mask_below_zero, EX_ERROR_DATA, {"'belly'", "vertex 7", "-0.1"}},
    {mask_not_a_number, EX_ERROR_DATA, {"'belly'", "vertex 7"}},
    {shared_axis_of_other_kind, EX_ERROR_DATA, {"'turn'", "'belly'", "'arm'"}},
    {shared_axis_of_other_rest, EX_ERROR_DATA, {"'bend'", "'belly'", "'arm'"}},
    {bad_space, EX_ERROR_ARGUMENT, {"'arm'", "axis 0", "greater"}},
    {no_axes, EX_ERROR_ARGUMENT, {"'belly'", "at least one axis"}},
    {fewer_than_no_axes, EX_ERROR_ARGUMENT, {"'belly'", "at least one axis"}},
    {fewer_than_no_examples, EX_ERROR_ARGUMENT, {"'belly'", "at least one example"}},
    {examples_at_one_place, EX_ERROR_SINGULAR, {"'arm'", "'bent'", "'turned'"}},
    {nameless_note, EX_ERROR_ARGUMENT, {"note 1"}},
    {long_note_kind, EX_ERROR_ARGUMENT, {"note 1"}},
    {note_without_data, EX_ERROR_ARGUMENT, {"note 1"}},
};

static void every_mistake_has_its_sentence(void **state) {
    (void)state;
    failing_allocator f;
    failing_allocator_open(&f);
    int failed = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample_rig s;
        sample_rig_open(&s, VERTICES);
        float *kept = s.deltas[2];
        cases[i].spoil(&s);
        ex_rig *rig = NULL;
        ex_error error = {0};
        ex_result result = ex_rig_create(&s.def, &f.allocator, &rig, &error);
        assert_int_equal(ex_rig_create(&s.def, &f.allocator, &rig, NULL), result);
        s.deltas[2] = kept;
        sample_rig_close(&s);
        assert_null(rig);
        failing_allocator_close(&f);
        if (result != cases[i].result || !strstr(error.text, cases[i].words[0])) {
            print_error("case %zu (%s): result %d, '%s'\n", i, cases[i].words[0], (int)result, error.text);
            failed++;
            continue;
        }
        for (int word = 0; word < 3 && cases[i].words[word]; word++)
            assert_sentence(&error, cases[i].result, cases[i].words[word]);
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
    sample_rig s;
    sample_rig_open(&s, VERTICES);
    assert_true(failing_allocator_sweep(create, &s.def) >= 5);
    s.def.options.storage = EX_STORAGE_16_BIT;
    assert_true(failing_allocator_sweep(create, &s.def) >= 5);
    failing_allocator f;
    failing_allocator_open(&f);
    ex_rig *rig = NULL;
    assert_int_equal(ex_rig_create(&s.def, &f.allocator, &rig, NULL), EX_OK);
    assert_int_equal(f.live, 1); /* one block is held */
    assert_int_equal((uintptr_t)rig % 64, 0);
    failing_allocator_arm(&f, 0);
    use_rig(rig);
    assert_int_equal(f.made, 0); /* and evaluating allocates nothing */
    ex_rig_destroy(rig);
    failing_allocator_close(&f);
    sample_rig_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_and_inputs_read_back),
        cmocka_unit_test(mesh_forms_and_notes_read_back),
        cmocka_unit_test(numbers_out_of_range_are_misuse),
        cmocka_unit_test(nothing_in_place_of_a_rig_is_misuse),
        cmocka_unit_test(nothing_in_place_of_a_value_is_misuse),
        cmocka_unit_test(nothing_in_place_of_a_weigher_is_misuse),
        cmocka_unit_test(every_mistake_has_its_sentence),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A rig for tests; see rigs.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/rigs.h"
#include "support/whole_rigs.h"

#include <stdlib.h>
#include <string.h>

static float *floats(uint64_t *random, int count, double low, double high) {
    float *values = malloc((size_t)count * sizeof *values);
    for (int i = 0; i < count; i++)
        values[i] = (float)random_between(random, low, high);
    return values;
}

static void set_mesh(sample_rig *s, int vertex_count, uint64_t *random) {
    s->positions = floats(random, 3 * vertex_count, 10, 12);
    s->texcoords = floats(random, 2 * (vertex_count + 2), 0, 1);
    s->normals = floats(random, 3 * (vertex_count + 2), -1, 1);
    s->split_source = malloc((size_t)(vertex_count + 2) * sizeof *s->split_source);
    for (int i = 0, v = 0; v < vertex_count; v++) /* vertices 1 and 3 are split in two */
        for (int part = 0; part < (v == 1 || v == 3 ? 2 : 1); part++)
            s->split_source[i++] = (uint32_t)v;
    memcpy(s->face_sizes, ((uint32_t[]){4, 3}), sizeof s->face_sizes);
    memcpy(s->corners, ((uint32_t[]){0, 1, 3, 4, 2, 3, 5}), sizeof s->corners);
    memcpy(s->triangles, ((uint32_t[]){0, 1, 3, 0, 3, 4, 2, 3, 5}), sizeof s->triangles);
    s->def.mesh = (ex_rig_mesh){.vertex_count = vertex_count,
                                .positions = s->positions,
                                .split_count = vertex_count + 2,
                                .split_source = s->split_source,
                                .texcoords = s->texcoords,
                                .normals = s->normals,
                                .face_count = 2,
                                .corner_count = 7,
                                .face_sizes = s->face_sizes,
                                .corners = s->corners,
                                .triangle_count = 3,
                                .triangles = s->triangles};
}

static ex_weigher_def space_of(ex_weigher_kind kind, const ex_axis *axes, const double *points, int example_count) {
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = kind;
    def.axes = axes;
    def.axis_count = 2;
    def.points = points;
    def.example_count = example_count;
    return def;
}

static void set_layers(sample_rig *s) {
    static const char *const arm_names[] = {"bend", "turn"}, *const arm_units[] = {"\xC2\xB0", NULL};
    static const char *const belly_names[] = {"weight", "bend"}, *const mix_names[] = {"smile", "frown"};
    static const char *const arm_examples[] = {"straight", "bent", "turned"}, *const belly_examples[] = {"thin", "fat"};
    static const double arm_points[3][5] = {{0, 0, 0, 0, 1}, {140, 0, 0, 0, 1}, {20, 0, 0.6, 0, 0.8}};
    static const double belly_points[2][2] = {{0, 0}, {1, 90}};
    static const double at[5] = {70, 0.6, 0, 0, 0.8}, from[5] = {50, 0, 0.28, 0, 0.96};
    s->arm_axes[0] = ex_axis_scalar(0, 140, 10);
    s->arm_axes[1] = ex_axis_rotation(EX_AXIS_ROTATION, NULL);
    s->belly_axes[0] = ex_axis_scalar(0, 1, 0.5);
    s->belly_axes[1] = ex_axis_scalar(0, 100, 10);
    s->mix_axes[0] = s->mix_axes[1] = ex_axis_scalar(0, 1, 0);
    s->pseudo = (ex_pseudo){.at = at, .from = from};
    s->layers[0] = (ex_layer_def){.name = "arm",
                                  .weigh = space_of(EX_WEIGHER_CARDINAL, s->arm_axes, arm_points[0], 3),
                                  .axis_names = arm_names,
                                  .axis_units = arm_units,
                                  .example_names = arm_examples,
                                  .form.deltas = (const float *const *)s->deltas};
    s->layers[0].weigh.pseudos = &s->pseudo;
    s->layers[0].weigh.pseudo_count = 1;
    s->layers[1] = (ex_layer_def){.name = "belly",
                                  .weigh = space_of(EX_WEIGHER_SHEPARD, s->belly_axes, belly_points[0], 2),
                                  .axis_names = belly_names,
                                  .example_names = belly_examples,
                                  .form.deltas = (const float *const *)s->deltas + 3,
                                  .mask = s->mask};
    s->layers[2] = (ex_layer_def){.name = "mix",
                                  .weigh = space_of(EX_WEIGHER_DIRECT, s->mix_axes, NULL, 2),
                                  .axis_names = mix_names,
                                  .example_names = mix_names,
                                  .form.deltas = (const float *const *)s->deltas + 5};
}

void sample_rig_open(sample_rig *s, int vertex_count) {
    uint64_t random = 90;
    memset(s, 0, sizeof *s);
    assert_true(vertex_count >= 4);
    s->def = ex_rig_def_default();
    set_mesh(s, vertex_count, &random);
    for (int k = 0; k < RIG_EXAMPLES; k++)
        s->deltas[k] = floats(&random, 3 * vertex_count, -1, 1);
    s->mask = floats(&random, vertex_count, 0, 1);
    s->mask[0] = 0;
    s->mask[1] = 1;
    set_layers(s);
    s->notes[0] = (ex_attachment){.kind = "groups", .data = "left right", .size = 10};
    s->notes[1] = (ex_attachment){.kind = "fifteen letters", .data = NULL, .size = 0};
    s->def.layers = s->layers;
    s->def.layer_count = RIG_LAYERS;
    s->def.notes = s->notes;
    s->def.note_count = RIG_NOTES;
}

void sample_rig_close(sample_rig *s) {
    free(s->positions);
    free(s->texcoords);
    free(s->normals);
    free(s->split_source);
    free(s->mask);
    for (int k = 0; k < RIG_EXAMPLES; k++)
        free(s->deltas[k]);
}

ex_rig *rig_of(const ex_rig_def *def) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    if (ex_rig_create(def, NULL, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_non_null(rig);
    return rig;
}

char *pack_of(const ex_rig *rig, size_t *size) {
    *size = ex_rig_pack_size(rig);
    assert_true(*size > 0);
    char *pack = malloc(*size);
    ex_error error = {0};
    if (ex_rig_pack(rig, pack, *size, &error) != EX_OK)
        fail_msg("%s", error.text);
    return pack;
}

static void put_u32(char *out, size_t value) {
    uint32_t word = (uint32_t)value;
    memcpy(out, &word, sizeof word);
}

char *wrap_in_glb(const char *pack, size_t size, size_t *file_size) {
    static const char json[] = "{\"asset\":{\"version\":\"2.0\"}}  ";
    const size_t json_size = (sizeof json - 1) / 4 * 4, bin_size = (size + 3) / 4 * 4;
    *file_size = 12 + 8 + json_size + 8 + bin_size;
    char *file = calloc(1, *file_size);
    memcpy(file, "glTF", 4);
    put_u32(file + 4, 2);
    put_u32(file + 8, *file_size);
    put_u32(file + 12, json_size);
    memcpy(file + 16, "JSON", 4);
    memcpy(file + 20, json, json_size);
    put_u32(file + 20 + json_size, bin_size);
    memcpy(file + 24 + json_size, "BIN", 4);
    memcpy(file + 28 + json_size, pack, size);
    return file;
}

void sample_rig_pose(uint64_t *random, double ranges, double *inputs) {
    static const double sizes[RIG_POSE] = {140, 1, 1, 1, 1, 1, 1, 1};
    for (int i = 0; i < RIG_POSE; i++)
        inputs[i] = random_between(random, i >= 1 && i <= 4 ? -1 : 0, 1) * (i >= 1 && i <= 4 ? 1 : ranges * sizes[i]);
}

static void read_everything(const ex_rig *rig, float *room) {
    size_t length = 0;
    for (int l = 0; l < ex_rig_layer_count(rig); l++) {
        const ex_weigher *weigher = ex_rig_weigher(rig, l);
        length += strlen(ex_rig_layer_name(rig, l));
        for (int k = 0; k < ex_weigher_example_count(weigher); k++) {
            length += strlen(ex_rig_example_name(rig, l, k));
            if (ex_rig_layer_domain(rig, l) != EX_DOMAIN_PIXELS)
                ex_rig_example_delta(rig, l, k, room);
            else
                length += ex_rig_example_image(rig, l, k)[0];
            length += ex_rig_example_turns(rig, l, k, room);
            for (int j = 0; j < ex_rig_example_trajectory(rig, l, k).corrector_count; j++)
                ex_rig_example_corrector(rig, l, k, j, room);
        }
        length += ex_rig_layer_mask(rig, l, room);
        for (int a = 0; a < ex_weigher_axis_count(weigher); a++)
            length += strlen(ex_rig_input_name(rig, ex_rig_layer_input(rig, l, a)));
    }
    for (int i = 0; i < ex_rig_input_count(rig); i++)
        length += strlen(ex_rig_input_unit(rig, i));
    for (int i = 0; i < ex_rig_attachment_count(rig); i++) {
        ex_attachment note = ex_rig_attachment(rig, i);
        length += strlen(note.kind);
        for (size_t b = 0; b < note.size; b++)
            length += ((const unsigned char *)note.data)[b];
    }
    for (int j = 0; j < ex_rig_joint_count(rig); j++)
        length += strlen(ex_skeleton_name(ex_rig_skeleton(rig), j));
    for (int i = 0; i < ex_rig_texture_count(rig); i++)
        length += strlen(ex_rig_texture(rig, i).name);
    assert_true(length < SIZE_MAX);
    ex_rig_rest_mesh(rig, room);
}

void use_rig(const ex_rig *rig) {
    const size_t vertices = (size_t)ex_rig_vertex_count(rig), pose_size = (size_t)ex_rig_pose_size(rig);
    float *positions = malloc(vertices * 3 * sizeof *positions), box[6];
    double *inputs = malloc(pose_size * sizeof *inputs + 1);
    double *weights = malloc((size_t)ex_rig_example_count(rig) * sizeof *weights + 1);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    const ex_output output = {.positions = positions, .box = box, .weights = weights};
    static const double values[] = {0, 0.3, -1, 70, 1e9};
    ex_rig_rest_pose(rig, &(ex_pose){.inputs = inputs});
    for (int i = 0; i < 6; i++) {
        ex_rig_evaluate(rig, &(ex_pose){.inputs = inputs}, &output, NULL, scratch);
        for (size_t k = 0; i < 5 && k < pose_size; k++)
            inputs[k] = values[i] + 0.1 * (double)k;
    }
    ex_rig_evaluate(rig, NULL, &output, NULL, scratch);
    read_everything(rig, positions);
    evaluate_everything(rig);
    size_t size = ex_rig_pack_size(rig);
    char *pack = malloc(size + 1);
    if (size > 0)
        assert_int_equal(ex_rig_pack(rig, pack, size, NULL), EX_OK);
    free(pack);
    free(positions);
    free(inputs);
    free(weights);
    free(scratch);
}

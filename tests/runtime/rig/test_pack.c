/*
 * Packing: a round trip gives the same bytes and the same rig, bare or in a .glb file; the directory is right; failing
 * memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/rigs.h"
#include "support/whole_rigs.h"

#include <stdlib.h>
#include <string.h>

enum { VERTICES = 41 };

static ex_rig *unpacked_as(const void *bytes, size_t size, const ex_rig_options *options) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    if (ex_rig_unpack(bytes, size, options, NULL, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_non_null(rig);
    return rig;
}

static ex_rig *unpacked(const void *bytes, size_t size) {
    return unpacked_as(bytes, size, NULL);
}

static void there_and_back_are_the_same_bytes(void **state) {
    (void)state;
    for (int seams = 0; seams < 2; seams++) {
        sample_rig s;
        sample_rig_open(&s, VERTICES);
        if (!seams) {
            s.def.mesh.split_source = NULL;
            s.def.mesh.split_count = VERTICES;
            s.def.mesh.texcoords = s.def.mesh.normals = NULL;
        }
        ex_rig *rig = rig_of(&s.def);
        size_t size = 0, again_size = 0, file_size = 0;
        char *pack = pack_of(rig, &size);
        ex_rig *back = unpacked(pack, size);
        char *again = pack_of(back, &again_size);
        assert_int_equal(again_size, size);
        assert_memory_equal(again, pack, size);
        assert_same_evaluation(rig, back, 40);
        char *file = wrap_in_glb(pack, size, &file_size);
        ex_rig *framed = unpacked(file, file_size);
        free(again);
        again = pack_of(framed, &again_size);
        assert_int_equal(again_size, size);
        assert_memory_equal(again, pack, size);
        ex_rig_destroy(framed);
        ex_rig_destroy(back);
        ex_rig_destroy(rig);
        free(pack);
        free(again);
        free(file);
        sample_rig_close(&s);
    }
}

/* Made twice, in memory with other earlier contents: the same bytes. */
static void the_same_rig_gives_the_same_bytes(void **state) {
    (void)state;
    char *packs[2];
    size_t sizes[2];
    failing_allocator f;
    failing_allocator_open(&f);
    for (int i = 0; i < 2; i++) {
        sample_rig s;
        sample_rig_open(&s, VERTICES);
        ex_rig *rig = NULL;
        assert_int_equal(ex_rig_create(&s.def, i ? &f.allocator : NULL, &rig, NULL), EX_OK);
        sizes[i] = ex_rig_pack_size(rig);
        packs[i] = malloc(sizes[i]);
        memset(packs[i], i ? 0xFF : 0x11, sizes[i]);
        assert_int_equal(ex_rig_pack(rig, packs[i], sizes[i], NULL), EX_OK);
        ex_rig_destroy(rig);
        sample_rig_close(&s);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(packs[0], packs[1], sizes[0]);
    free(packs[0]);
    free(packs[1]);
}

static void everything_survives(void **state) {
    (void)state;
    sample_rig s;
    sample_rig_open(&s, VERTICES);
    ex_rig *rig = rig_of(&s.def);
    size_t size = 0;
    char *pack = pack_of(rig, &size);
    ex_rig *back = unpacked(pack, size);
    assert_int_equal(ex_rig_input_find(back, "frown"), 4);
    assert_string_equal(ex_rig_input_unit(back, 0), "\xC2\xB0");
    assert_string_equal(ex_rig_example_name(back, 1, 1), "fat");
    assert_int_equal(ex_rig_pose_size(back), RIG_POSE);
    ex_rig_mesh mesh = ex_rig_get_mesh(back);
    assert_memory_equal(mesh.split_source, s.split_source, (VERTICES + 2) * sizeof(uint32_t));
    assert_memory_equal(mesh.texcoords, s.texcoords, (VERTICES + 2) * 2 * sizeof(float));
    assert_memory_equal(mesh.normals, s.normals, (VERTICES + 2) * 3 * sizeof(float));
    assert_memory_equal(mesh.corners, s.corners, sizeof s.corners);
    assert_memory_equal(mesh.triangles, s.triangles, sizeof s.triangles);
    ex_attachment note = ex_rig_attachment(back, 0);
    assert_string_equal(note.kind, "groups");
    assert_int_equal(note.size, 10);
    assert_memory_equal(note.data, "left right", 10);
    note = ex_rig_attachment(back, 1);
    assert_string_equal(note.kind, "fifteen letters");
    assert_int_equal(note.size, 0);
    float room[3 * VERTICES];
    ex_rig_rest_mesh(back, room);
    assert_memory_equal(room, s.positions, sizeof room);
    ex_rig_example_delta(back, 0, 2, room);
    assert_memory_equal(room, s.deltas[2], sizeof room);
    ex_rig_destroy(rig);
    ex_rig_destroy(back);
    free(pack);
    sample_rig_close(&s);
}

/* In the form of glTF: split vertices have their source's numbers. */
static void split_vertices_repeat_their_source(void **state) {
    (void)state;
    sample_rig s;
    sample_rig_open(&s, VERTICES);
    ex_rig *rig = rig_of(&s.def);
    size_t size = 0;
    char *pack = pack_of(rig, &size);
    int targets = 0;
    for (int i = 0; i < ex_pack_section_count(pack); i++) {
        ex_section section = ex_pack_section(pack, i);
        if (section.kind != EX_SECTION_POSITIONS && section.kind != EX_SECTION_TARGET)
            continue;
        assert_int_equal(section.size, (VERTICES + 2) * 12);
        const float *values = (const float *)(const void *)(pack + section.offset);
        const bool target = section.kind == EX_SECTION_TARGET;
        assert_true(!target || section.index == targets++);
        for (int k = 0; k < 3 * (VERTICES + 2); k++) {
            uint32_t v = s.split_source[k / 3];
            float expected =
                target ? s.deltas[section.index][3 * v + (uint32_t)k % 3] : s.positions[3 * v + (uint32_t)k % 3];
            if (target && (section.index == 3 || section.index == 4))
                expected *= s.mask[v];
            assert_true(values[k] == expected);
        }
    }
    assert_int_equal(targets, RIG_EXAMPLES);
    ex_rig_destroy(rig);
    free(pack);
    sample_rig_close(&s);
}

/* Sections in order, aligned, not overlapping, up to the end. */
static void the_directory_is_sound(void **state) {
    (void)state;
    sample_rig s;
    sample_rig_open(&s, VERTICES);
    ex_rig *rig = rig_of(&s.def);
    size_t size = 0;
    char *pack = pack_of(rig, &size);
    size_t end = ex_pack_header_size(pack);
    int count = ex_pack_section_count(pack);
    assert_int_equal(count, 6 + RIG_LAYERS + 3 + RIG_NOTES + 4 + RIG_EXAMPLES);
    for (int i = 0; i < count; i++) {
        ex_section section = ex_pack_section(pack, i);
        assert_int_equal(section.offset % 16, 0);
        assert_in_range(section.offset, end, end + 15);
        end = section.offset + section.size;
    }
    assert_int_equal(end, size);
    ex_rig_destroy(rig);
    free(pack);
    sample_rig_close(&s);
}

static void sixteen_bits_load_and_do_not_pack(void **state) {
    (void)state;
    sample_rig s;
    sample_rig_open(&s, VERTICES);
    ex_rig *rig = rig_of(&s.def);
    size_t size = 0;
    char *pack = pack_of(rig, &size);
    ex_rig *small = unpacked_as(pack, size, &(ex_rig_options){.storage = EX_STORAGE_16_BIT});
    assert_int_equal(ex_rig_storage(small), EX_STORAGE_16_BIT);
    assert_int_equal(ex_rig_pack_size(small), 0);
    ex_error error = {0};
    assert_int_equal(ex_rig_pack(small, pack, size, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "16-bit");
    s.def.options.storage = EX_STORAGE_16_BIT;
    ex_rig *made = rig_of(&s.def);
    assert_same_evaluation(made, small, 40);
    assert_int_equal(ex_rig_pack(rig, pack, size - 1, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "bytes");
    assert_int_equal(ex_rig_pack(rig, NULL, size, NULL), EX_ERROR_ARGUMENT);
    ex_rig_destroy(rig);
    ex_rig_destroy(small);
    ex_rig_destroy(made);
    free(pack);
    sample_rig_close(&s);
}

static void a_rig_without_layers_or_faces(void **state) {
    (void)state;
    sample_rig s;
    sample_rig_open(&s, VERTICES);
    s.def.layer_count = s.def.note_count = 0;
    s.def.mesh.face_count = s.def.mesh.corner_count = s.def.mesh.triangle_count = 0;
    ex_rig *rig = rig_of(&s.def);
    size_t size = 0, again_size = 0;
    char *pack = pack_of(rig, &size);
    ex_rig *back = unpacked(pack, size);
    char *again = pack_of(back, &again_size);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, pack, size);
    ex_rig_destroy(rig);
    ex_rig_destroy(back);
    free(pack);
    free(again);
    sample_rig_close(&s);
}

/* ---- rigs with everything ---- */

static const int part_sets[] = {0,
                                WHOLE_SKELETON,
                                WHOLE_SKELETON | WHOLE_SKIN,
                                WHOLE_LEVELS,
                                WHOLE_LIMIT,
                                WHOLE_LEVELS | WHOLE_LIMIT,
                                WHOLE_PIXELS,
                                WHOLE_PIXELS | WHOLE_SKELETON | WHOLE_LEVELS,
                                WHOLE_ALL};

static void every_mixture_comes_back(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof part_sets / sizeof *part_sets; i++)
        for (int method = 0; method < EX_SKINNING_COUNT; method++) {
            whole_rig w;
            whole_rig_open(&w, VERTICES, part_sets[i]);
            w.def.skinning = (ex_skinning)method;
            ex_rig *rig = rig_of(&w.def);
            size_t size = 0, again_size = 0;
            char *pack = pack_of(rig, &size);
            ex_rig *back = unpacked(pack, size);
            char *again = pack_of(back, &again_size);
            assert_int_equal(again_size, size);
            assert_memory_equal(again, pack, size);
            assert_int_equal(ex_rig_skinning(back), method);
            assert_same_evaluation(rig, back, 5);
            ex_rig_destroy(rig);
            ex_rig_destroy(back);
            free(pack);
            free(again);
            whole_rig_close(&w);
        }
}

/* The parts are the same blocks: made from the file, not only of the same effect. */
static void parts_are_the_same_blocks(void **state) {
    (void)state;
    whole_rig w;
    whole_rig_open(&w, VERTICES, WHOLE_ALL);
    ex_rig *rig = rig_of(&w.def);
    size_t size = 0;
    char *pack = pack_of(rig, &size);
    ex_rig *back = unpacked(pack, size);
    const ex_stencils *stencils = ex_rig_stencils(back);
    assert_int_equal(ex_stencils_size(stencils), ex_stencils_size(w.stencils));
    assert_memory_equal(stencils, w.stencils, ex_stencils_size(stencils));
    assert_memory_equal(ex_rig_skeleton(back), ex_rig_skeleton(rig),
                        *(const uint64_t *)(const void *)ex_rig_skeleton(rig));
    for (int v = 0; v < VERTICES; v++) {
        uint32_t joints[2][WHOLE_JOINTS];
        float weights[2][WHOLE_JOINTS];
        const int count = ex_skin_influences(w.skin, v, joints[0], weights[0]);
        assert_int_equal(ex_skin_influences(ex_rig_skin(back), v, joints[1], weights[1]), count);
        assert_int_equal(count, 1 + v % WHOLE_JOINTS);
        assert_memory_equal(joints[0], joints[1], (size_t)count * sizeof joints[0][0]);
        assert_memory_equal(weights[0], weights[1], (size_t)count * sizeof weights[0][0]);
    }
    for (int j = 0; j < WHOLE_JOINTS; j++) {
        assert_string_equal(ex_skeleton_name(ex_rig_skeleton(back), j), ex_skeleton_name(w.skeleton, j));
        const ex_transform a = ex_skeleton_rest(w.skeleton, j), b = ex_skeleton_rest(ex_rig_skeleton(back), j);
        assert_memory_equal(&a, &b, sizeof a);
    }
    ex_rig_destroy(rig);
    ex_rig_destroy(back);
    free(pack);
    whole_rig_close(&w);
}

static void whole_rigs_keep_what_they_hold(void **state) {
    (void)state;
    whole_rig w;
    whole_rig_open(&w, VERTICES, WHOLE_ALL);
    ex_rig *rig = rig_of(&w.def);
    size_t size = 0;
    char *pack = pack_of(rig, &size);
    ex_rig *back = unpacked(pack, size);
    float shifts[WHOLE_JOINTS][3];
    assert_true(ex_rig_example_shifts(back, 3, 1, shifts[0]));
    assert_memory_equal(shifts, w.shifts, sizeof shifts);
    assert_false(ex_rig_example_shifts(back, 3, 0, shifts[0]));
    assert_string_equal(ex_rig_layer_name(back, 3), "joints / \"moved\"");
    assert_int_equal(ex_rig_texture_count(back), 2);
    const ex_texture texture = ex_rig_texture(back, 0);
    assert_string_equal(texture.name, "base_color");
    assert_int_equal(texture.width, WHOLE_WIDTH);
    assert_int_equal(texture.height, WHOLE_HEIGHT);
    assert_true(texture.srgb && !ex_rig_texture(back, 1).srgb);
    assert_int_equal(ex_rig_layer_domain(back, 4), EX_DOMAIN_PIXELS);
    assert_memory_equal(ex_rig_example_image(back, 1, 1), w.pixels[1], sizeof w.pixels[1]);
    assert_memory_equal(ex_rig_example_image(back, 4, 0), w.pixels[2], WHOLE_WIDTH * 4);
    const int input = ex_rig_input_find(back, "slide");
    const ex_axis_source source = ex_rig_input_source(back, input);
    assert_int_equal(source.joint, 3);
    assert_int_equal(source.reading.kind, EX_READING_SLIDE);
    assert_true(source.reading.unit == 0.01 && source.reading.about[1] == 2);
    assert_int_equal(ex_rig_input_offset(back, input), -1);
    const ex_rig_mesh level = ex_rig_level_mesh(back, 1);
    assert_int_equal(level.split_count, VERTICES + 8);
    assert_memory_equal(level.split_source, w.levels[0].split_source, (VERTICES + 8) * 4);
    assert_memory_equal(level.texcoords, w.levels[0].texcoords, (VERTICES + 8) * 8);
    assert_memory_equal(level.corners, w.levels[0].corners, 40);
    assert_memory_equal(level.triangles, w.levels[0].triangles, 48);
    assert_null(ex_rig_level_mesh(back, 2).split_source);
    assert_int_equal(ex_rig_level(back), EX_LEVEL_LIMIT);
    float delta[3 * VERTICES];
    ex_rig_example_delta(back, 3, 1, delta);
    assert_memory_equal(delta, w.base.deltas[2], sizeof delta);
    ex_rig_destroy(rig);
    ex_rig_destroy(back);
    free(pack);
    whole_rig_close(&w);
}

/* For viewers: matrices column-major, influences heaviest first and unused ones 0. */
static void skins_are_as_in_gltf(void **state) {
    (void)state;
    whole_rig w;
    whole_rig_open(&w, VERTICES, WHOLE_ALL);
    ex_rig *rig = rig_of(&w.def);
    size_t size = 0;
    char *pack = pack_of(rig, &size);
    int sets = 0;
    for (int i = 0; i < ex_pack_section_count(pack); i++) {
        const ex_section section = ex_pack_section(pack, i);
        const char *bytes = pack + section.offset;
        if (section.kind == EX_SECTION_INVERSE_BINDS) {
            for (int j = 0; j < WHOLE_JOINTS; j++) {
                float rows[12];
                const float *m = (const float *)(const void *)bytes + 16 * j;
                ex_skeleton_inverse_bind(w.skeleton, j, rows);
                for (int k = 0; k < 12; k++)
                    assert_true(m[4 * (k % 4) + k / 4] == rows[k]);
                assert_true(m[3] == 0 && m[7] == 0 && m[11] == 0 && m[15] == 1);
            }
        } else if (section.kind == EX_SECTION_SKIN_JOINTS || section.kind == EX_SECTION_SKIN_WEIGHTS) {
            sets++;
            for (int s = 0; s < VERTICES + 2; s++)
                for (int k = 0; k < 4; k++) {
                    uint32_t joints[WHOLE_JOINTS];
                    float weights[WHOLE_JOINTS];
                    const int count = ex_skin_influences(w.skin, (int)w.base.split_source[s], joints, weights);
                    const int n = 4 * section.index + k;
                    if (section.kind == EX_SECTION_SKIN_JOINTS)
                        assert_int_equal(((const uint16_t *)(const void *)bytes)[4 * s + k], n < count ? joints[n] : 0);
                    else
                        assert_true(((const float *)(const void *)bytes)[4 * s + k] == (n < count ? weights[n] : 0));
                }
        }
    }
    assert_int_equal(sets, 4);
    ex_rig_destroy(rig);
    free(pack);
    whole_rig_close(&w);
}

/* Sections are ordered by kind, and within a kind by index. */
static void sections_are_in_order(void **state) {
    (void)state;
    whole_rig w;
    whole_rig_open(&w, VERTICES, WHOLE_ALL);
    ex_rig *rig = rig_of(&w.def);
    size_t size = 0;
    char *pack = pack_of(rig, &size);
    const int counts[EX_SECTION_KIND_COUNT] = {0, 1, 1, 1, 1, 1, 1, 10, 1, 1,  1, 4, 1, 3, 2, 3,
                                               3, 2, 3, 1, 2, 1, 1, 2,  2, 13, 9, 9, 1, 1, 2, 1};
    int found[EX_SECTION_KIND_COUNT] = {0};
    ex_section last = {0};
    for (int i = 0; i < ex_pack_section_count(pack); i++) {
        const ex_section section = ex_pack_section(pack, i);
        found[section.kind]++;
        assert_true(section.kind > last.kind || (section.kind == last.kind && section.index > last.index));
        last = section;
    }
    assert_memory_equal(found, counts, sizeof counts);
    ex_rig_destroy(rig);
    free(pack);
    whole_rig_close(&w);
}

/* The refinement by the functions that need the levels. */
static void assert_refinement(const ex_rig *whole, ex_rig_refinement r) {
    assert_int_equal(r.level_count, ex_rig_level_count(whole));
    assert_int_equal(r.level, ex_rig_level(whole));
    assert_int_equal(r.has_limit, ex_rig_level_vertex_count(whole, EX_LEVEL_LIMIT) > 0);
    assert_int_equal(r.all_on_limit, ex_rig_stencils(whole) && ex_stencils_on_limit(ex_rig_stencils(whole)));
    for (int i = 0; i < EX_RIG_LEVEL_MAX; i++)
        assert_int_equal(r.vertex_counts[i], i < r.level_count ? ex_rig_level_vertex_count(whole, i + 1) : 0);
}

static void parts_can_be_left_out(void **state) {
    (void)state;
    whole_rig w;
    whole_rig_open(&w, VERTICES, WHOLE_ALL);
    ex_rig *rig = rig_of(&w.def);
    size_t size = 0, again_size = 0;
    char *pack = pack_of(rig, &size);
    ex_error error = {0};
    for (int i = 0; i < 3; i++) {
        const ex_rig_options options = {
            .without_normals = i == 0, .without_tangents = i == 1, .without_levels = i == 2};
        ex_rig *back = unpacked_as(pack, size, &options);
        assert_refinement(rig, ex_rig_get_refinement(back));
        if (i < 2) { /* these follow from the rest, and so does the file */
            char *again = pack_of(back, &again_size);
            assert_int_equal(again_size, size);
            assert_memory_equal(again, pack, size);
            free(again);
        } else {
            assert_int_equal(ex_rig_level_count(back), 0);
            assert_int_equal(ex_rig_level(back), 0);
            assert_null(ex_rig_stencils(back));
            evaluate_everything(back);
            assert_int_equal(ex_rig_pack_size(back), 0);
            assert_int_equal(ex_rig_pack(back, pack, size, &error), EX_ERROR_ARGUMENT);
            assert_sentence(&error, EX_ERROR_ARGUMENT, "levels");
        }
        w.def.options = options;
        ex_rig *made = rig_of(&w.def);
        assert_int_equal(ex_rig_pack_size(made), i < 2 ? size : 0);
        assert_refinement(rig, ex_rig_get_refinement(made));
        ex_rig_destroy(made);
        ex_rig_destroy(back);
    }
    ex_rig_destroy(rig);
    free(pack);
    whole_rig_close(&w);
    whole_rig_open(&w, VERTICES, 0); /* one without any is complete */
    rig = rig_of(&w.def);
    pack = pack_of(rig, &size);
    ex_rig *back = unpacked_as(pack, size, &(ex_rig_options){.without_levels = true});
    assert_int_equal(ex_rig_pack_size(back), size);
    assert_refinement(rig, ex_rig_get_refinement(back));
    ex_rig_destroy(back);
    ex_rig_destroy(rig);
    free(pack);
    whole_rig_close(&w);
}

typedef struct bytes {
    const char *data;
    size_t size;
} bytes;

static ex_result unpack(void *context, const ex_allocator *allocator) {
    const bytes *b = context;
    ex_rig *rig = NULL;
    ex_error error = {0};
    ex_result result = ex_rig_unpack(b->data, b->size, NULL, allocator, &rig, &error);
    assert_true((result == EX_OK) == (rig != NULL));
    if (result != EX_OK)
        assert_sentence(&error, EX_ERROR_MEMORY, "memory");
    ex_rig_destroy(rig);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    for (int parts = 0; parts <= WHOLE_ALL; parts += WHOLE_ALL) {
        whole_rig w;
        whole_rig_open(&w, VERTICES, parts);
        ex_rig *rig = rig_of(&w.def);
        size_t size = 0;
        char *pack = pack_of(rig, &size);
        bytes b = {pack, size};
        assert_true(failing_allocator_sweep(unpack, &b) >= (parts ? 15 : 3));
        ex_rig_destroy(rig);
        free(pack);
        whole_rig_close(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back_are_the_same_bytes),
        cmocka_unit_test(the_same_rig_gives_the_same_bytes),
        cmocka_unit_test(everything_survives),
        cmocka_unit_test(split_vertices_repeat_their_source),
        cmocka_unit_test(the_directory_is_sound),
        cmocka_unit_test(sixteen_bits_load_and_do_not_pack),
        cmocka_unit_test(a_rig_without_layers_or_faces),
        cmocka_unit_test(every_mixture_comes_back),
        cmocka_unit_test(parts_are_the_same_blocks),
        cmocka_unit_test(whole_rigs_keep_what_they_hold),
        cmocka_unit_test(skins_are_as_in_gltf),
        cmocka_unit_test(sections_are_in_order),
        cmocka_unit_test(parts_can_be_left_out),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Packing: there and back gives the same bytes and the same rig, bare or in a .glb file; the directory says what is
 * where; memory may run out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/rigs.h"

#include <stdlib.h>
#include <string.h>

enum { VERTICES = 41 };

static ex_rig *unpacked(const void *bytes, size_t size, ex_storage storage) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    if (ex_rig_unpack(bytes, size, storage, NULL, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_non_null(rig);
    return rig;
}

/* Same results at random poses, to the bit. */
static void assert_same_results(const ex_rig *a, const ex_rig *b) {
    void *scratch = malloc(ex_rig_scratch_size(a, 1));
    uint64_t random = 97;
    for (int i = 0; i < 40; i++) {
        double inputs[RIG_POSE], weights[2][RIG_EXAMPLES];
        float positions[2][3 * VERTICES];
        sample_rig_pose(&random, 2, inputs);
        ex_rig_evaluate(a, &(ex_pose){inputs}, &(ex_output){.positions = positions[0], .weights = weights[0]}, NULL,
                        scratch);
        ex_rig_evaluate(b, &(ex_pose){inputs}, &(ex_output){.positions = positions[1], .weights = weights[1]}, NULL,
                        scratch);
        assert_memory_equal(positions[0], positions[1], sizeof positions[0]);
        assert_memory_equal(weights[0], weights[1], sizeof weights[0]);
    }
    free(scratch);
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
        ex_rig *back = unpacked(pack, size, EX_STORAGE_FLOAT);
        char *again = pack_of(back, &again_size);
        assert_int_equal(again_size, size);
        assert_memory_equal(again, pack, size);
        assert_same_results(rig, back);
        char *file = wrap_in_glb(pack, size, &file_size);
        ex_rig *framed = unpacked(file, file_size, EX_STORAGE_FLOAT);
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

/* Made twice, in memory that held other things before: the same bytes. */
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
    ex_rig *back = unpacked(pack, size, EX_STORAGE_FLOAT);
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
    ex_note note = ex_rig_note(back, 0);
    assert_string_equal(note.kind, "groups");
    assert_int_equal(note.size, 10);
    assert_memory_equal(note.data, "left right", 10);
    note = ex_rig_note(back, 1);
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

/* In the form of glTF: split vertices carry their source's numbers. */
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

/* Sections in order, aligned, apart from each other, up to the end. */
static void the_directory_is_sound(void **state) {
    (void)state;
    sample_rig s;
    sample_rig_open(&s, VERTICES);
    ex_rig *rig = rig_of(&s.def);
    size_t size = 0;
    char *pack = pack_of(rig, &size);
    size_t end = ex_pack_header_size(pack);
    int count = ex_pack_section_count(pack);
    assert_int_equal(count, 5 + RIG_LAYERS + 3 + RIG_NOTES + 4 + RIG_EXAMPLES);
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
    ex_rig *small = unpacked(pack, size, EX_STORAGE_16_BIT);
    assert_int_equal(ex_rig_storage(small), EX_STORAGE_16_BIT);
    assert_int_equal(ex_rig_pack_size(small), 0);
    ex_error error = {0};
    assert_int_equal(ex_rig_pack(small, pack, size, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "16-bit");
    s.def.storage = EX_STORAGE_16_BIT;
    ex_rig *made = rig_of(&s.def);
    assert_same_results(made, small);
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
    ex_rig *back = unpacked(pack, size, EX_STORAGE_FLOAT);
    char *again = pack_of(back, &again_size);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, pack, size);
    ex_rig_destroy(rig);
    ex_rig_destroy(back);
    free(pack);
    free(again);
    sample_rig_close(&s);
}

typedef struct bytes {
    const char *data;
    size_t size;
} bytes;

static ex_result unpack(void *context, const ex_allocator *allocator) {
    const bytes *b = context;
    ex_rig *rig = NULL;
    ex_error error = {0};
    ex_result result = ex_rig_unpack(b->data, b->size, EX_STORAGE_FLOAT, allocator, &rig, &error);
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
    ex_rig *rig = rig_of(&s.def);
    size_t size = 0;
    char *pack = pack_of(rig, &size);
    bytes b = {pack, size};
    assert_true(failing_allocator_sweep(unpack, &b) >= 2);
    ex_rig_destroy(rig);
    free(pack);
    sample_rig_close(&s);
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
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

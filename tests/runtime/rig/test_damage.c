/*
 * Damaged files: every truncation and every changed byte of a small rig, bare and in a .glb file, is an error with a
 * sentence or the same rig, never a crash; and no memory is allocated for files that promise more than they hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/checksum.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/whole_rigs.h"

#include <stdlib.h>
#include <string.h>

static char *pack, *file;
static size_t pack_size, file_size;

static int set_up_with(int parts) {
    whole_rig w;
    whole_rig_open(&w, 5, parts);
    ex_rig *rig = rig_of(&w.def);
    pack = pack_of(rig, &pack_size);
    file = wrap_in_glb(pack, pack_size, &file_size);
    ex_rig_destroy(rig);
    whole_rig_close(&w);
    return 0;
}

static int set_up(void **state) {
    (void)state;
    return set_up_with(0);
}

static int set_up_whole(void **state) {
    (void)state;
    return set_up_with(WHOLE_ALL & ~WHOLE_PATHS); /* test_trajectory.c damages those */
}

static int tear_down(void **state) {
    (void)state;
    free(pack);
    free(file);
    return 0;
}

/* Unpacks bytes [size] in memory that ends with them. True if they were read as a rig, which must then be the
 * original. */
static bool reads_as_the_same_rig(const char *bytes, size_t size) {
    char *copy = malloc(size + (size == 0));
    memcpy(copy, bytes, size);
    failing_allocator f;
    failing_allocator_open(&f);
    f.limit = 1000000;
    ex_rig *rig = NULL;
    ex_error error = {0};
    ex_result result = ex_rig_unpack(copy, size, NULL, &f.allocator, &rig, &error);
    free(copy);
    assert_true((result == EX_OK) == (rig != NULL));
    if (result != EX_OK) {
        assert_sentence(&error, result, " ");
        failing_allocator_close(&f);
        return false;
    }
    size_t again_size = 0;
    char *again = pack_of(rig, &again_size);
    assert_int_equal(again_size, pack_size);
    assert_memory_equal(again, pack, pack_size);
    free(again);
    ex_rig_destroy(rig);
    failing_allocator_close(&f);
    return true;
}

static void every_truncation_is_told(void **state) {
    (void)state;
    for (size_t size = 0; size < pack_size; size++)
        assert_false(reads_as_the_same_rig(pack, size));
    for (size_t size = 0; size < file_size; size++)
        assert_false(reads_as_the_same_rig(file, size));
    assert_true(reads_as_the_same_rig(pack, pack_size));
    assert_true(reads_as_the_same_rig(file, file_size));
}

static const unsigned char masks[] = {0x01, 0x80, 0xFF, 0x20, 0x5A};

/* True if unpacking reads this byte of the pack: all but the padding between sections. */
static bool is_read(size_t i) {
    bool used = i < ex_pack_header_size(pack);
    for (int s = 0; s < ex_pack_section_count(pack); s++) {
        ex_section section = ex_pack_section(pack, s);
        used = used || (i >= section.offset && i < section.offset + section.size);
    }
    return used;
}

/* Changes every byte of `bytes`, of which [quiet_begin, quiet_end) are not read and the pack starts at `start`. */
static void change_every_byte(const char *bytes, size_t size, size_t quiet_begin, size_t quiet_end, size_t start) {
    char *changed = malloc(size);
    memcpy(changed, bytes, size);
    for (size_t i = 0; i < size; i++)
        for (size_t m = 0; m < sizeof masks; m++) {
            changed[i] = (char)(changed[i] ^ masks[m]);
            bool same = reads_as_the_same_rig(changed, size);
            bool counts = i < quiet_begin || (i >= quiet_end && i < start) || (i >= start && is_read(i - start));
            if (same && counts)
                fail_msg("byte %zu, mask %d: read as if nothing had happened", i, masks[m]);
            changed[i] = (char)(changed[i] ^ masks[m]);
        }
    free(changed);
}

static void every_changed_byte_is_told(void **state) {
    (void)state;
    change_every_byte(pack, pack_size, 0, 0, 0);
    const size_t start = file_size - (pack_size + 3) / 4 * 4;
    change_every_byte(file, file_size, 16, start - 8, start); /* the runtime does not read the JSON chunk */
}

/* Pairs of bytes, at random. */
static void changes_in_several_places(void **state) {
    (void)state;
    uint64_t random = 98;
    for (int round = 0; round < 3000; round++) {
        char *copy = malloc(file_size);
        memcpy(copy, file, file_size);
        for (int i = 0; i < 1 + round % 4; i++)
            copy[random_bits(&random) % file_size] = (char)random_bits(&random);
        reads_as_the_same_rig(copy, file_size);
        free(copy);
    }
}

static void put_u32(char *at, uint32_t value) {
    memcpy(at, &value, sizeof value);
}

static void put_u64(char *at, uint64_t value) {
    memcpy(at, &value, sizeof value);
}

/* Unpacks with little memory and returns the error; allocations stay small. */
static ex_error refused(const char *bytes, size_t size) {
    char *copy = malloc(size);
    memcpy(copy, bytes, size);
    failing_allocator f;
    failing_allocator_open(&f);
    ex_rig *rig = NULL;
    ex_error error = {0};
    ex_result result = ex_rig_unpack(copy, size, NULL, &f.allocator, &rig, &error);
    free(copy);
    assert_true(result != EX_OK && !rig);
    assert_int_equal(error.result, result);
    assert_true(f.largest < 100000);
    failing_allocator_close(&f);
    return error;
}

/* 200 bytes: a header, and counts, that promise 3 GB in many ways. */
static void promises_of_three_gigabytes(void **state) {
    (void)state;
    enum { HEADER = 40, ENTRY = 32, COUNTS = 80, COUNTS_SIZE = 26 * 4 };
    char small[200] = {0};
    memcpy(small, pack, HEADER + ENTRY);
    put_u64(small + 24, 3000000000u); /* size */
    ex_error error = refused(small, sizeof small);
    assert_sentence(&error, EX_ERROR_FORMAT, "ends before");
    put_u64(small + 24, sizeof small);
    put_u32(small + 16, 90000000); /* sections, and the size of the directory to fit them */
    put_u32(small + 12, (uint32_t)(HEADER + (uint64_t)ENTRY * 90000000));
    error = refused(small, sizeof small);
    assert_sentence(&error, EX_ERROR_FORMAT, "directory");
    put_u32(small + 16, 1);
    put_u32(small + 12, HEADER + ENTRY);
    put_u64(small + HEADER + 8, COUNTS);
    for (int count = 0; count < COUNTS_SIZE / 4; count++) { /* each alone; vertices with split vertices */
        memcpy(small + COUNTS, pack + ex_pack_section(pack, 0).offset, COUNTS_SIZE);
        put_u32(small + COUNTS + 4 * count, 250000000);
        if (count == 0)
            put_u32(small + COUNTS + 4, 250000000);
        put_u64(small + HEADER + 24, exi_checksum(small + COUNTS, COUNTS_SIZE));
        put_u64(small + 32, 0);
        put_u64(small + 32, exi_checksum(small, HEADER + ENTRY));
        error = refused(small, sizeof small);
        assert_true(error.result == EX_ERROR_FORMAT || error.result == EX_ERROR_DATA);
        assert_non_null(strstr(error.text, error.result == EX_ERROR_DATA ? "counts" : "missing"));
    }
    error = refused(small, 0);
    assert_sentence(&error, EX_ERROR_FORMAT, "it is empty");
    memset(small, 0, sizeof small);
    memcpy(small, "glTF", 4);
    put_u32(small + 4, 2);
    put_u32(small + 8, 3000000000u);
    error = refused(small, sizeof small);
    assert_sentence(&error, EX_ERROR_FORMAT, "only 200 were given");
    put_u32(small + 8, sizeof small);
    put_u32(small + 12, 3000000000u); /* a chunk */
    error = refused(small, sizeof small);
    assert_sentence(&error, EX_ERROR_FORMAT, "cut short");
}

/* The length stated in a .glb file may be anything, also less than its own header. */
static void lengths_that_cannot_be(void **state) {
    (void)state;
    static const uint32_t lengths[] = {0, 1, 4, 11, 12, 13, 19};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char head[12];
        memcpy(head, file, sizeof head);
        put_u32(head + 8, lengths[i]);
        ex_error error = refused(head, sizeof head);
        assert_sentence(&error, EX_ERROR_FORMAT, "glb");
        char *copy = malloc(file_size);
        memcpy(copy, file, file_size);
        put_u32(copy + 8, lengths[i]);
        error = refused(copy, file_size);
        assert_sentence(&error, EX_ERROR_FORMAT, "glb");
        free(copy);
    }
}

static void other_files_are_told_apart(void **state) {
    (void)state;
    ex_error error = refused("solid cube\nfacet normal 0 0 1\n", 30);
    assert_sentence(&error, EX_ERROR_FORMAT, "not a rig");
    char copy[64] = {0};
    memcpy(copy, file, 20);
    put_u32(copy + 4, 1);
    put_u32(copy + 8, sizeof copy);
    error = refused(copy, sizeof copy);
    assert_sentence(&error, EX_ERROR_FORMAT, "version 1");
    put_u32(copy + 4, 2);
    put_u32(copy + 12, sizeof copy - 20); /* JSON alone */
    error = refused(copy, sizeof copy);
    assert_sentence(&error, EX_ERROR_FORMAT, "no binary chunk");
    char *other = malloc(file_size); /* a binary chunk that is not ours */
    memcpy(other, file, file_size);
    memset(other + file_size - pack_size, 'x', 16);
    error = refused(other, file_size);
    assert_sentence(&error, EX_ERROR_FORMAT, "no Exemplar pack");
    free(other);
}

static void newer_formats_say_so(void **state) {
    (void)state;
    static const uint32_t formats[] = {EX_FORMAT + 1, 77, 0xFFFFFFFF};
    for (int i = 0; i < 3; i++) {
        char *copy = malloc(pack_size);
        memcpy(copy, pack, pack_size);
        put_u32(copy + 8, formats[i]);
        ex_error error = refused(copy, pack_size);
        assert_sentence(&error, EX_ERROR_VERSION, "newer");
        free(copy);
    }
}

/* Format 1 had another header: only the place of its number is the same. */
static void early_formats_say_so(void **state) {
    (void)state;
    char old[88] = "EXEMPLAR\1\0\0\0\xB8";
    ex_error error = refused(old, sizeof old);
    assert_sentence(&error, EX_ERROR_VERSION,
                    "this rig was written in format 1 by an early version; build it again from its project");
    error = refused(old, 12);
    assert_sentence(&error, EX_ERROR_VERSION, "format 1");
    old[8] = 0;
    error = refused(old, sizeof old);
    assert_sentence(&error, EX_ERROR_FORMAT, "0");
}

static void damage_is_told_as_damage(void **state) {
    (void)state;
    char *copy = malloc(pack_size);
    memcpy(copy, pack, pack_size);
    copy[pack_size - 1] = (char)(copy[pack_size - 1] ^ 1);
    ex_error error = refused(copy, pack_size);
    assert_sentence(&error, EX_ERROR_CHECKSUM, "rearranged");
    memcpy(copy, pack, pack_size);
    copy[40] = (char)(copy[40] ^ 1);
    error = refused(copy, pack_size);
    assert_sentence(&error, EX_ERROR_CHECKSUM, "header");
    free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation_is_told),  cmocka_unit_test(every_changed_byte_is_told),
        cmocka_unit_test(changes_in_several_places), cmocka_unit_test(promises_of_three_gigabytes),
        cmocka_unit_test(lengths_that_cannot_be),    cmocka_unit_test(other_files_are_told_apart),
        cmocka_unit_test(newer_formats_say_so),      cmocka_unit_test(early_formats_say_so),
        cmocka_unit_test(damage_is_told_as_damage),
    };
    const struct CMUnitTest whole_tests[] = {
        cmocka_unit_test(every_truncation_is_told),
        cmocka_unit_test(every_changed_byte_is_told),
        cmocka_unit_test(changes_in_several_places),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down) +
           cmocka_run_group_tests_name("with everything", whole_tests, set_up_whole, tear_down);
}

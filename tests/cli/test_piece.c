/*
 * Pieces of the farm: the hash against values that xxHash's own program gives; a piece that is cut at every length, or
 * has any byte changed, is refused.
 */
#define _GNU_SOURCE

#include "../../cli/farm/piece.c"

#include "../../cli/farm/hash.c"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

/* The one function of cli/base/files.c that pieces use. */
char *exi_path_inside(const char *folder, const char *name, const char *ending) {
    const size_t size = strlen(folder) + strlen(name) + strlen(ending) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s%s", folder, name, ending);
    return path;
}

static uint64_t hash_of(const char *text) {
    exi_hash hash = exi_hash_start();
    exi_hash_add(&hash, text, strlen(text));
    return exi_hash_value(&hash);
}

static void test_hash_known(void **state) {
    (void)state;
    assert_true(hash_of("") == 0xef46db3751d8e999u);
    assert_true(hash_of("a") == 0xd24ec4f1a98c6e5bu);
    assert_true(hash_of("abc") == 0x44bc2cf5ad770999u);
    assert_true(hash_of("Nobody inspects the spammish repetition") == 0xfbcea83c8a378bf1u);
}

/* The same bytes in parts of any size give the same hash, and every byte counts. */
static void test_hash_parts(void **state) {
    unsigned char bytes[300];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 9);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        exi_hash whole = exi_hash_start();
        exi_hash_add(&whole, bytes, size);
        for (size_t step = 1; step < 70; step += 6) {
            exi_hash parts = exi_hash_start();
            for (size_t at = 0; at < size; at += step)
                exi_hash_add(&parts, bytes + at, at + step < size ? step : size - at);
            assert_true(exi_hash_value(&parts) == exi_hash_value(&whole));
        }
        if (size > 0) {
            exi_hash other = exi_hash_start();
            bytes[size / 2] ^= 1;
            exi_hash_add(&other, bytes, size);
            bytes[size / 2] ^= 1;
            assert_true(exi_hash_value(&other) != exi_hash_value(&whole));
        }
    }
}

static void test_hash_text(void **state) {
    char text[EXI_HASH_DIGITS + 1];
    uint64_t value = 0;
    (void)state;
    assert_string_equal(exi_hash_text(text, 0x0123456789abcdefu), "0123456789abcdef");
    assert_true(exi_hash_parse(text, &value) && value == 0x0123456789abcdefu);
    assert_false(exi_hash_parse("0123456789abcde", &value));
    assert_false(exi_hash_parse("0123456789abcdef0", &value));
    assert_false(exi_hash_parse("0123456789abcdeg", &value));
    assert_false(exi_hash_parse("", &value));
}

/* ---- pieces ---- */

#define FINGERPRINT 0xfeedu
static char folder[] = "/tmp/exemplar-piece-XXXXXX", path[64], out[64];

static void write_bytes(const char *name, const void *bytes, size_t size) {
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static int set_up(void **state) {
    (void)state;
    ex_error error;
    char name[64];
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/p.piece", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(name, sizeof name, "%s/a.txt", folder);
    write_bytes(name, "first file", 10);
    snprintf(name, sizeof name, "%s/b.bin", folder);
    write_bytes(name, "\0\1\2", 3);
    json_t *names = json_pack("[s, s]", "a.txt", "b.bin"), *record = json_pack("{s:s}", "piece", "000000000000feed");
    const ex_result result = exi_piece_write(path, folder, names, record, &error);
    json_decref(names);
    json_decref(record);
    return result != EX_OK;
}

static int tear_down(void **state) {
    (void)state;
    char command[80];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) != 0;
}

/* Result of opening the piece and checking all of it. */
static ex_result try_piece(const char *name, uint64_t fingerprint, ex_error *error) {
    exi_piece piece;
    *error = (ex_error){.result = EX_OK};
    ex_result result = exi_piece_open(name, fingerprint, &piece, error);
    if (result == EX_OK)
        result = exi_piece_check(&piece, error);
    exi_piece_close(&piece);
    return result;
}

static void test_piece_comes_back(void **state) {
    (void)state;
    ex_error error;
    exi_piece piece;
    char *bytes = NULL;
    size_t size = 0;
    assert_int_equal(exi_piece_open(path, FINGERPRINT, &piece, &error), EX_OK);
    assert_int_equal(piece.file_count, 2);
    assert_int_equal(exi_piece_find(&piece, "a.txt"), 0);
    assert_int_equal(exi_piece_find(&piece, "b.bin"), 1);
    assert_int_equal(exi_piece_find(&piece, "c"), -1);
    assert_int_equal(exi_piece_extract(&piece, 1, out, true, &error), EX_OK);
    assert_int_equal(ex_file_read(out, &bytes, &size, &error), EX_OK);
    assert_int_equal(size, 3);
    assert_memory_equal(bytes, "\0\1\2", 3);
    free(bytes);
    exi_piece_close(&piece);
}

static void test_piece_of_another_task(void **state) {
    (void)state;
    ex_error error;
    assert_int_equal(try_piece(path, FINGERPRINT + 1, &error), EX_ERROR_DATA);
    assert_string_equal(error.kind, "bad_piece");
}

static void test_piece_damaged(void **state) {
    (void)state;
    ex_error error;
    char *bytes = NULL, name[80];
    size_t size = 0;
    snprintf(name, sizeof name, "%s/damaged", folder);
    assert_int_equal(ex_file_read(path, &bytes, &size, &error), EX_OK);
    for (size_t length = 0; length < size; length++) {
        write_bytes(name, bytes, length);
        assert_int_equal(try_piece(name, FINGERPRINT, &error), EX_ERROR_DATA);
        assert_non_null(strstr(error.text, name));
    }
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x10;
        write_bytes(name, bytes, size);
        assert_int_equal(try_piece(name, FINGERPRINT, &error), EX_ERROR_DATA);
        assert_string_equal(error.kind, "bad_piece");
        bytes[i] ^= 0x10;
    }
    write_bytes(name, bytes, size);
    assert_int_equal(try_piece(name, FINGERPRINT, &error), EX_OK);
    free(bytes);
}

/* A record from elsewhere must not lead out of the folder that files are taken to. */
static void test_names_stay_inside(void **state) {
    (void)state;
    assert_true(is_inside("a"));
    assert_true(is_inside("a/b..c/d"));
    assert_false(is_inside(""));
    assert_false(is_inside("/a"));
    assert_false(is_inside(".."));
    assert_false(is_inside("../a"));
    assert_false(is_inside("a/../../b"));
    assert_false(is_inside("a/.."));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash_known),        cmocka_unit_test(test_hash_parts),
        cmocka_unit_test(test_hash_text),         cmocka_unit_test(test_piece_comes_back),
        cmocka_unit_test(test_piece_damaged),     cmocka_unit_test(test_piece_of_another_task),
        cmocka_unit_test(test_names_stay_inside),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/*
 * Files of displacement maps: by hand in text, exact round trips, every error with its sentence, truncation at every
 * byte, failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/displacement.h>

#include "support/fail_alloc.h"
#include "support/scratch.h"

#define HEAD "ply\nformat ascii 1.0\nelement vertex 3\n"

static ex_result read_text(const char *text, ex_displacement_map **map, ex_error *error) {
    scratch_write("m.ply", text, strlen(text));
    return ex_displacement_map_read(scratch_path("m.ply"), map, error);
}

static void by_hand(void **state) {
    (void)state;
    ex_displacement_map *map;
    ex_error error;
    /* Places and faces are skipped; the order of the properties does not matter. */
    assert_int_equal(read_text(HEAD "property float x\nproperty uchar state\nproperty double displacement\n"
                                    "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
                                    "9 1 0.25\n9 4 -2\n9 0 0\n3 0 1 2\n",
                               &map, &error),
                     EX_OK);
    const float values[] = {0.25F, -2, 0};
    const unsigned char states[] = {EX_DISPLACEMENT_MAP_HIT, EX_DISPLACEMENT_MAP_FILLED, EX_DISPLACEMENT_MAP_OUTSIDE};
    assert_int_equal(map->vertex_count, 3);
    assert_memory_equal(map->displacements, values, sizeof values);
    assert_memory_equal(map->states, states, sizeof states);
    ex_displacement_map_destroy(map);

    /* Without states everything counts as measured. */
    assert_int_equal(read_text(HEAD "property float displacement\nend_header\n1\n2\n3\n", &map, &error), EX_OK);
    for (int v = 0; v < 3; v++)
        assert_int_equal(map->states[v], EX_DISPLACEMENT_MAP_HIT);
    ex_displacement_map_destroy(map);
}

static void fill(ex_displacement_map *map) {
    for (int v = 0; v < map->vertex_count; v++) {
        map->displacements[v] = (float)sin(0.7 * v) * 1e-3F;
        map->states[v] = (unsigned char)(v % EX_DISPLACEMENT_MAP_STATE_COUNT);
    }
}

static void round_trip(void **state) {
    (void)state;
    enum { COUNT = 100 };
    ex_displacement_map *map = ex_displacement_map_create(COUNT), *again;
    ex_error error;
    assert_non_null(map);
    assert_true(map->displacements[COUNT - 1] == 0 && map->states[COUNT - 1] == EX_DISPLACEMENT_MAP_OUTSIDE);
    fill(map);
    assert_int_equal(ex_displacement_map_write(scratch_path("m.ply"), map, &error), EX_OK);
    assert_int_equal(ex_displacement_map_read(scratch_path("m.ply"), &again, &error), EX_OK);
    assert_int_equal(again->vertex_count, COUNT);
    assert_memory_equal(again->displacements, map->displacements, COUNT * sizeof(float));
    assert_memory_equal(again->states, map->states, COUNT);
    ex_displacement_map_destroy(again);

    map->displacements[7] = NAN;
    assert_int_equal(ex_displacement_map_write(scratch_path("n.ply"), map, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "vertex 7"));
    map->displacements[7] = 0;
    map->states[8] = EX_DISPLACEMENT_MAP_STATE_COUNT;
    assert_int_equal(ex_displacement_map_write(scratch_path("n.ply"), map, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "vertex 8"));
    ex_displacement_map_destroy(map);
    ex_displacement_map_destroy(NULL);
}

static void each_way_to_be_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text;
        ex_result result;
        const char *sentence;
    } cases[] = {
        {"solid\n", EX_ERROR_FORMAT, "ply"},
        {HEAD "property float x\nend_header\n1\n2\n3\n", EX_ERROR_DATA, "no property 'displacement'"},
        {HEAD "end_header\n", EX_ERROR_DATA, "no property 'displacement'"},
        {HEAD "property list uchar float displacement\nend_header\n1 1\n1 1\n1 1\n", EX_ERROR_DATA, "not lists"},
        {"ply\nformat ascii 1.0\nelement face 0\nproperty list uchar int vertex_indices\nend_header\n", EX_ERROR_DATA,
         "must begin with its vertices"},
        {"ply\nformat ascii 1.0\nelement vertex 0\nproperty float displacement\nend_header\n", EX_ERROR_DATA,
         "no vertices"},
        {"ply\nformat ascii 1.0\nelement vertex 900000000\nproperty float displacement\nend_header\n1\n",
         EX_ERROR_LIMIT, "can have at most"},
        {"ply\nformat ascii 1.0\nelement vertex 500000000\nproperty float displacement\nend_header\n1\n",
         EX_ERROR_FORMAT, "states 500000000"},
        {HEAD "property float displacement\nend_header\n1\n2\n", EX_ERROR_FORMAT, "ends too early"},
        {HEAD "property float displacement\nend_header\n1\nx\n3\n", EX_ERROR_FORMAT, "cannot read 'x'"},
        {HEAD "property float displacement\nend_header\n1\n1e60\n3\n", EX_ERROR_DATA, "vertex 1 is too large"},
        {HEAD "property float displacement\nproperty uchar state\nend_header\n1 0\n2 1\n3 5\n", EX_ERROR_DATA,
         "state of vertex 2 is 5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_displacement_map *map;
        ex_error error = {0};
        const ex_result result = read_text(cases[i].text, &map, &error);
        if (result != cases[i].result || !strstr(error.text, cases[i].sentence))
            fail_msg("case %zu: result %d, '%s'", i, (int)result, error.text);
        assert_null(map);
    }
    /* Bits that are not a number. */
    static const char head[] =
        "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float displacement\nend_header\n";
    char bytes[sizeof head - 1 + 4];
    const float none = NAN;
    memcpy(bytes, head, sizeof head - 1);
    memcpy(bytes + sizeof head - 1, &none, 4);
    scratch_write("m.ply", bytes, sizeof bytes);
    ex_displacement_map *map;
    ex_error error;
    assert_int_equal(ex_displacement_map_read(scratch_path("m.ply"), &map, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "not finite"));
    assert_int_equal(ex_displacement_map_read(scratch_path("none.ply"), &map, &error), EX_ERROR_FILE);
}

static void truncated(void **state) {
    (void)state;
    ex_displacement_map *map = ex_displacement_map_create(5), *again;
    ex_error error;
    assert_non_null(map);
    fill(map);
    assert_int_equal(ex_displacement_map_write(scratch_path("m.ply"), map, &error), EX_OK);
    ex_displacement_map_destroy(map);
    size_t size;
    char *bytes = scratch_read("m.ply", &size);
    for (size_t left = 0; left < size; left++) {
        scratch_write("t.ply", bytes, left);
        assert_int_not_equal(ex_displacement_map_read(scratch_path("t.ply"), &again, &error), EX_OK);
        assert_null(again);
    }
    free(bytes);
}

static ex_result attempt(void *context) {
    ex_displacement_map *map;
    ex_error error;
    (void)context;
    const ex_result result = ex_displacement_map_read(scratch_path("m.ply"), &map, &error);
    ex_displacement_map_destroy(map);
    return result;
}

static void memory(void **state) {
    (void)state;
    ex_displacement_map *map = ex_displacement_map_create(5);
    ex_error error;
    assert_non_null(map);
    assert_int_equal(ex_displacement_map_write(scratch_path("m.ply"), map, &error), EX_OK);
    ex_displacement_map_destroy(map);
    assert_true(fail_alloc_sweep(attempt, NULL) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),   cmocka_unit_test(round_trip), cmocka_unit_test(each_way_to_be_wrong),
        cmocka_unit_test(truncated), cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

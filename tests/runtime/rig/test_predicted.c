/*
 * Files of rigs that follow the motion of a driver: they come back, every changed byte of their predictor is told, and
 * predictors with right checksums and wrong contents are refused: sizes that lie, weights of another count, numbers
 * that are not finite, flags that do not agree. The layout is the contract here (docs/reference/rig.md).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/checksum.h"
#include "runtime/rig/pack/pack.h"
#include "runtime/rig/pack/records.h"
#include "runtime/rig/rig.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/rigs.h"
#include "support/tubes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *pack;
static size_t pack_size;

static int set_up(void **state) {
    (void)state;
    driven_tube *d = driven_tube_make(TUBE_FRAMES, EX_RESIDUAL_NONE, true);
    ex_predictor *predictor = driven_tube_follow(d);
    ex_rig *rig = rig_of(&d->def);
    pack = pack_of(rig, &pack_size);
    ex_rig_destroy(rig);
    ex_predictor_destroy(predictor);
    free(d);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(pack);
    return 0;
}

/* ---- the pack ---- */

static exi_pack_entry *find(char *bytes, ex_section_kind kind) {
    exi_pack_header header;
    memcpy(&header, bytes, sizeof header);
    for (uint32_t i = 0; i < header.section_count; i++) {
        exi_pack_entry *entry = (exi_pack_entry *)(void *)(bytes + sizeof header) + i;
        if (entry->kind == (uint32_t)kind)
            return entry;
    }
    return NULL;
}

/* Makes the checksums of a section and of the header right. */
static void seal(char *bytes, ex_section_kind kind) {
    exi_pack_header *header = (exi_pack_header *)(void *)bytes;
    exi_pack_entry *entry = find(bytes, kind);
    entry->checksum = exi_checksum(bytes + entry->offset, (size_t)entry->size);
    header->checksum = 0;
    header->checksum = exi_checksum(bytes, header->header_size);
}

static ex_result unpack(const char *bytes, ex_error *error) {
    failing_allocator f;
    failing_allocator_open(&f);
    f.limit = 10000000;
    ex_rig *rig = NULL;
    *error = (ex_error){0};
    const ex_result result = ex_rig_unpack(bytes, pack_size, NULL, &f.allocator, &rig, error);
    assert_true((result == EX_OK) == (rig != NULL));
    if (rig)
        use_rig(rig);
    else
        assert_sentence(error, result, " ");
    ex_rig_destroy(rig);
    failing_allocator_close(&f);
    return result;
}

static char *copy_of_pack(void) {
    char *copy = malloc(pack_size);
    assert_non_null(copy);
    memcpy(copy, pack, pack_size);
    return copy;
}

/* Writes bytes into the predictor, seals, and expects a refusal that names it. */
static void lie(size_t at, const void *bytes, size_t size) {
    char *copy = copy_of_pack();
    const exi_pack_entry *entry = find(copy, EX_SECTION_REGIONS);
    ex_error error;
    assert_true(at + size <= entry->size);
    memcpy(copy + entry->offset + at, bytes, size);
    seal(copy, EX_SECTION_REGIONS);
    if (unpack(copy, &error) == EX_OK)
        fail_msg("byte %zu: the lie was believed", at);
    assert_sentence(&error, EX_ERROR_DATA, "the predictor of the rig is broken");
    free(copy);
}

/* ---- tests ---- */

static void it_comes_back(void **state) {
    (void)state;
    ex_rig *rig = NULL;
    size_t size = 0;
    assert_int_equal(ex_rig_unpack(pack, pack_size, NULL, NULL, &rig, NULL), EX_OK);
    char *again = pack_of(rig, &size);
    assert_int_equal(size, pack_size);
    assert_memory_equal(again, pack, size);
    assert_non_null(ex_rig_layer_predictor(rig, 0));
    assert_int_equal(ex_rig_layer_regions(rig, 0, NULL, NULL), 0);
    for (int k = 0; k < TUBE_KEYS; k++)
        assert_null(ex_rig_example_driver(rig, 0, k));
    use_rig(rig);
    free(again);
    ex_rig_destroy(rig);
    assert_null(find(pack, EX_SECTION_DRIVER_KEY));
}

static void every_changed_byte_is_told(void **state) {
    (void)state;
    char *copy = copy_of_pack();
    const exi_pack_entry *entry = find(copy, EX_SECTION_REGIONS);
    const size_t first = (size_t)entry->offset, size = (size_t)entry->size;
    ex_error error;
    for (size_t i = 0; i < size; i++) {
        copy[first + i] = (char)(copy[first + i] ^ 0x20);
        assert_int_not_equal(unpack(copy, &error), EX_OK);
        copy[first + i] = (char)(copy[first + i] ^ 0x20);
    }
    free(copy);
}

static void counts_and_sizes_that_lie(void **state) {
    (void)state;
    static const int32_t counts[] = {0, 1, -1, 4, 6, 16, 17, 1000, INT32_MAX, INT32_MIN};
    static const uint64_t sizes[] = {0, 1, 87, 88, 1u << 20, UINT64_MAX};
    const char *predictor = pack + find(pack, EX_SECTION_REGIONS)->offset;
    for (size_t at = 8; at < 24; at += 4)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            if (memcmp(predictor + at, &counts[i], 4) != 0)
                lie(at, &counts[i], 4);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        lie(0, &sizes[i], 8);
    /* Other counts that give the same size: of weights, and of moving frames. */
    static const int32_t weights[4] = {3, 2, 1, 13}, frames[4] = {2, 3, 9, 5};
    lie(8, weights, sizeof weights);
    lie(8, frames, sizeof frames);
    static const uint32_t two = 2, one = 1;
    lie(24, &two, 4);
    lie(28, &one, 4);
    lie(44, &one, 4);
}

static void numbers_that_lie(void **state) {
    (void)state;
    static const double wrong[] = {-1, INFINITY, -INFINITY};
    const size_t size = (size_t)find(pack, EX_SECTION_REGIONS)->size;
    const double not = NAN;
    const float not_finite = NAN, long_up[3] = {0, 2, 0};
    for (size_t at = 48; at < 88; at += 8) {
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
            lie(at, &wrong[i], 8);
        lie(at, &not, 8);
    }
    lie(32, long_up, sizeof long_up);
    for (size_t at = 88; at + 4 <= size; at += 4)
        lie(at, &not_finite, 4);
}

/* A predictor of more weights than the layer has examples, complete and with its right size. */
static void weights_of_another_count(void **state) {
    (void)state;
    driven_tube *d = driven_tube_make(TUBE_FRAMES, EX_RESIDUAL_NONE, true);
    ex_predictor *predictor = driven_tube_follow(d);
    ex_rig *rig = NULL;
    ex_error error = {0};
    d->layer.weigh.example_count = TUBE_KEYS - 1;
    assert_int_not_equal(ex_rig_create(&d->def, NULL, &rig, &error), EX_OK);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "a predictor for its examples");
    d->layer.weigh.example_count = TUBE_KEYS;
    d->layer.driven.predictor = NULL;
    assert_int_not_equal(ex_rig_create(&d->def, NULL, &rig, &error), EX_OK);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "needs a predictor");
    d->layer.driven.predictor = predictor;
    d->driver.residual = EX_RESIDUAL_CLOSEST;
    assert_int_not_equal(ex_rig_create(&d->def, NULL, &rig, &error), EX_OK);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "carries no residual");
    ex_predictor_destroy(predictor);
    free(d);
}

/* A layer whose flags do not agree with its weigher, or that has flags alone. */
static void flags_that_lie(void **state) {
    (void)state;
    for (uint32_t flags = 0; flags < 32; flags++) {
        char *copy = copy_of_pack();
        exi_layer_record *layer = (exi_layer_record *)(void *)(copy + find(copy, EX_SECTION_LAYERS)->offset);
        ex_error error;
        layer->flags = flags;
        seal(copy, EX_SECTION_LAYERS);
        const ex_result result = unpack(copy, &error);
        assert_true((result == EX_OK) ==
                    ((flags | EXI_LAYER_MUTED) == (EXI_LAYER_DRIVEN | EXI_LAYER_PREDICTED | EXI_LAYER_MUTED)));
        free(copy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_changed_byte_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counts_and_sizes_that_lie, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_that_lie, set_up, tear_down),
        cmocka_unit_test(weights_of_another_count),
        cmocka_unit_test_setup_teardown(flags_that_lie, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

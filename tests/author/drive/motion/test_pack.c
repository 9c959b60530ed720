/*
 * Packs of rigs that follow motion: read back, they do the same to the last bit; and with changed bytes and right
 * checksums, as an attacker could write them, they are refused or can be evaluated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/checksum.h"
#include "runtime/rig/pack/pack.h"
#include "runtime/weigh/predictor.h"
#include "support/check.h"
#include "support/scratch.h"
#include "support/swings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 3 * DRIVE_DRIVEN_COUNT };

static ex_rig *rig;
static char *pack;
static size_t pack_size;

static int set_up(void **context) {
    static const int counts[1] = {30};
    swing_lesson l;
    ex_error error = {.result = EX_OK};
    scratch_set_up(context);
    swing_open(&l, 1, counts);
    l.def.form_count = 3;
    l.def.landmark_count = 20;
    l.def.options.frames = 2;
    if (ex_drive_learn(&l.def, &rig, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    swing_close(&l);
    pack_size = ex_rig_pack_size(rig);
    pack = malloc(pack_size);
    assert_int_equal(ex_rig_pack(rig, pack, pack_size, &error), EX_OK);
    return 0;
}

static int tear_down(void **context) {
    ex_rig_destroy(rig);
    free(pack);
    return scratch_tear_down(context);
}

/* Forms of some frames, [frames][NUMBERS]. */
static void run(const ex_rig *of, int frames, bool unsettled, float *forms) {
    const ex_evaluation room = {.unsettled = unsettled};
    void *scratch = malloc(ex_rig_scratch_size(of, &room, 1)), *state = calloc(ex_rig_state_size(of), 1);
    for (int f = 0; f < frames; f++) {
        float bar[3 * DRIVE_DRIVER_COUNT];
        ex_driven driven = {0};
        const drive_pose at = swing_at(0, f / 25.0);
        const ex_pose pose = {.driver = bar, .elapsed = f > 0 ? 0.04 : 0};
        const ex_output output = {.positions = forms + (size_t)f * NUMBERS, .driven = &driven};
        const ex_evaluation how = {.unsettled = unsettled, .states = &state};
        drive_form(&at, bar, NULL);
        ex_rig_evaluate(of, &pose, &output, &how, scratch);
        assert_true(driven.unfamiliar >= 0);
    }
    free(scratch);
    free(state);
}

static void a_pack_does_the_same(void **context) {
    (void)context;
    enum { FRAMES = 20 };
    static float forms[2][FRAMES * NUMBERS];
    ex_error error = {.result = EX_OK};
    ex_rig *read = NULL;
    assert_int_equal(ex_rig_unpack(pack, pack_size, NULL, NULL, &read, &error), EX_OK);
    run(rig, FRAMES, false, forms[0]);
    run(read, FRAMES, false, forms[1]);
    assert_memory_equal(forms[0], forms[1], sizeof forms[0]);
    assert_int_equal(ex_rig_pack_size(read), pack_size);
    char *again = malloc(pack_size);
    assert_int_equal(ex_rig_pack(read, again, pack_size, &error), EX_OK);
    assert_memory_equal(pack, again, pack_size);
    assert_non_null(ex_rig_layer_predictor(read, 0));
    assert_null(ex_rig_example_driver(read, 0, 0));
    free(again);
    ex_rig_destroy(read);
}

static exi_pack_entry *entries_of(char *bytes) {
    return (exi_pack_entry *)(void *)(bytes + sizeof(exi_pack_header));
}

static const exi_pack_entry *find(ex_section_kind kind) {
    const exi_pack_header *header = (const exi_pack_header *)(const void *)pack;
    for (uint32_t i = 0; i < header->section_count; i++)
        if (entries_of(pack)[i].kind == (uint32_t)kind)
            return &entries_of(pack)[i];
    fail_msg("no section %d", (int)kind);
    return NULL;
}

static void seal(char *bytes) {
    exi_pack_header *header = (exi_pack_header *)(void *)bytes;
    for (uint32_t i = 0; i < header->section_count; i++) {
        exi_pack_entry *entry = &entries_of(bytes)[i];
        entry->checksum = exi_checksum(bytes + entry->offset, (size_t)entry->size);
    }
    header->checksum = 0;
    header->checksum = exi_checksum(bytes, header->header_size);
}

/* Unpacks in memory that ends with the pack. True if it was read; it is then evaluated. */
static bool try_unpack(const char *bytes, float *forms) {
    ex_error error = {.result = EX_OK};
    ex_rig *read = NULL;
    char *copy = malloc(pack_size);
    memcpy(copy, bytes, pack_size);
    const ex_result result = ex_rig_unpack(copy, pack_size, NULL, NULL, &read, &error);
    free(copy);
    assert_true((result == EX_OK) == (read != NULL));
    if (!read) {
        assert_sentence(&error, result, " ");
        return false;
    }
    run(read, 3, true, forms);
    ex_rig_destroy(read);
    return true;
}

/* Changes one to three bits of the predictor, mostly of its head. Forms stay finite: they are sound themselves. */
static void damaged_predictors(void **context) {
    (void)context;
    const exi_pack_entry *entry = find(EX_SECTION_REGIONS);
    char *copy = malloc(pack_size);
    uint64_t random = 1;
    int read = 0, refused = 0;
    for (int round = 0; round < 600; round++) {
        static float forms[3 * NUMBERS];
        const size_t bits = 8 * (round % 3 ? sizeof(ex_predictor) : (size_t)entry->size);
        memcpy(copy, pack, pack_size);
        for (int flips = 1 + round % 2; flips > 0; flips--) {
            const size_t bit = (size_t)(random_bits(&random) % bits);
            copy[entry->offset + bit / 8] ^= (char)(1u << bit % 8);
        }
        seal(copy);
        if (!try_unpack(copy, forms)) {
            refused++;
            continue;
        }
        read++;
        for (int i = 0; i < 3 * NUMBERS; i++)
            assert_true(isfinite(forms[i]));
    }
    assert_true(read > 50 && refused > 50);
    free(copy);
}

/* Changes a bit of the records that say how all is laid out. */
static void damaged_records(void **context) {
    (void)context;
    static const ex_section_kind kinds[] = {EX_SECTION_COUNTS, EX_SECTION_LAYERS, EX_SECTION_WEIGHER,
                                            EX_SECTION_DRIVER};
    char *copy = malloc(pack_size);
    uint64_t random = 2;
    int refused = 0;
    for (int round = 0; round < 600; round++) {
        static float forms[3 * NUMBERS];
        const exi_pack_entry *entry = find(kinds[round % 4]);
        memcpy(copy, pack, pack_size);
        const size_t bytes = (size_t)entry->size < 200 ? (size_t)entry->size : 200;
        copy[entry->offset + random_bits(&random) % bytes] ^= (char)(1u << random_bits(&random) % 8);
        seal(copy);
        refused += !try_unpack(copy, forms);
    }
    assert_true(refused > 200);
    free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pack_does_the_same),
        cmocka_unit_test(damaged_predictors),
        cmocka_unit_test(damaged_records),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/*
 * Files of layers of trajectories: round trips, also between other layers and over seams; every truncation and changed
 * byte; false values with right checksums; failing memory; files of the previous format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/checksum.h"
#include "runtime/rig/pack/pack.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/whole_rigs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 33 };

/* The layer of trajectories of a complete rig between two layers of forms, all over a mesh with a seam. */
static ex_rig *make_rig(int vertex_count, bool alone) {
    whole_rig w;
    whole_rig_open(&w, vertex_count, WHOLE_PATHS);
    const ex_layer_def layers[3] = {w.layers[0], w.layers[w.def.layer_count - 1], w.layers[2]};
    w.def.layers = alone ? layers + 1 : layers;
    w.def.layer_count = alone ? 1 : 3;
    w.def.note_count = 0;
    ex_rig *rig = rig_of(&w.def);
    whole_rig_close(&w);
    return rig;
}

static ex_rig *unpacked(const char *pack, size_t size, ex_storage storage) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    if (ex_rig_unpack(pack, size, &(ex_rig_options){.storage = storage}, NULL, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    return rig;
}

static void there_and_back_are_the_same(void **state) {
    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        ex_rig *rig = make_rig(VERTICES, alone);
        size_t size = 0, again_size = 0;
        char *pack = pack_of(rig, &size);
        ex_rig *back = unpacked(pack, size, EX_STORAGE_FLOAT);
        char *again = pack_of(back, &again_size);
        assert_int_equal(size, again_size);
        assert_memory_equal(pack, again, size);
        assert_same_evaluation(rig, back, 4);
        ex_rig *small = unpacked(pack, size, EX_STORAGE_16_BIT);
        evaluate_everything(small);
        assert_int_equal(ex_rig_pack_size(small), 0);
        ex_rig_destroy(small);
        ex_rig_destroy(back);
        ex_rig_destroy(rig);
        free(pack);
        free(again);
    }
}

/* ---- damage ---- */

static char *pack;
static size_t pack_size;

static int set_up(void **state) {
    (void)state;
    ex_rig *rig = make_rig(5, true);
    pack = pack_of(rig, &pack_size);
    ex_rig_destroy(rig);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(pack);
    return 0;
}

/* Unpacks in memory that ends with the bytes; a resulting rig can be used. */
static ex_result try_unpack(const char *bytes, size_t size, ex_error *error) {
    char *copy = malloc(size + 1);
    memcpy(copy, bytes, size);
    copy = realloc(copy, size + (size == 0));
    failing_allocator f;
    failing_allocator_open(&f);
    f.limit = 1000000;
    ex_rig *rig = NULL;
    *error = (ex_error){0};
    const ex_result result = ex_rig_unpack(copy, size, NULL, &f.allocator, &rig, error);
    free(copy);
    assert_true((result == EX_OK) == (rig != NULL));
    if (rig)
        use_rig(rig);
    else
        assert_sentence(error, result, " ");
    ex_rig_destroy(rig);
    failing_allocator_close(&f);
    return result;
}

static void truncations_and_changed_bytes(void **state) {
    (void)state;
    ex_error error;
    for (size_t size = 0; size < pack_size; size++)
        assert_int_not_equal(try_unpack(pack, size, &error), EX_OK);
    char *changed = malloc(pack_size);
    for (int s = 0; s < ex_pack_section_count(pack); s++) {
        const ex_section section = ex_pack_section(pack, s);
        for (size_t i = section.offset; section.kind >= EX_SECTION_TRAJECTORIES && i < section.offset + section.size;
             i++) {
            memcpy(changed, pack, pack_size);
            changed[i] = (char)(changed[i] ^ 0x40);
            assert_int_equal(try_unpack(changed, pack_size, &error), EX_ERROR_CHECKSUM);
        }
    }
    free(changed);
}

static exi_pack_entry *entries_of(char *bytes) {
    return (exi_pack_entry *)(void *)(bytes + sizeof(exi_pack_header));
}

static exi_pack_entry *find(char *bytes, ex_section_kind kind, uint32_t index) {
    for (int i = 0; i < ex_pack_section_count(bytes); i++)
        if (entries_of(bytes)[i].kind == (uint32_t)kind && entries_of(bytes)[i].index == index)
            return &entries_of(bytes)[i];
    fail_msg("no section %d, %u", (int)kind, (unsigned)index);
    return NULL;
}

static void seal(char *bytes) {
    exi_pack_header *header = (exi_pack_header *)(void *)bytes;
    for (uint32_t i = 0; i < header->section_count; i++) {
        exi_pack_entry *entry = &entries_of(bytes)[i];
        if (entry->offset <= pack_size && entry->size <= pack_size - entry->offset)
            entry->checksum = exi_checksum(bytes + entry->offset, (size_t)entry->size);
    }
    header->checksum = 0;
    header->checksum = exi_checksum(bytes, header->header_size);
}

/* Every word of the sections of trajectories, and of their directory entries, set to the most harmful values. */
static void every_word_may_lie(void **state) {
    (void)state;
    static const uint32_t values[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FEFFFFF, 0xFFF00000};
    char *copy = malloc(pack_size);
    const size_t directory = ex_pack_header_size(pack);
    for (int s = 0; s < ex_pack_section_count(pack); s++) {
        const ex_section section = ex_pack_section(pack, s);
        if (section.kind < EX_SECTION_TARGET && section.kind != EX_SECTION_COUNTS && section.kind != EX_SECTION_LAYERS)
            continue;
        const size_t entry = directory - 32 * (size_t)(ex_pack_section_count(pack) - s);
        for (size_t i = 0; i < section.size + 24; i += 4)
            for (size_t v = 0; v < 9; v++) {
                const size_t at = i < 24 ? entry + i : section.offset + i - 24;
                uint32_t word = 0;
                if (at + 4 > pack_size)
                    continue;
                memcpy(copy, pack, pack_size);
                memcpy(&word, copy + at, sizeof word);
                word = v < 7 ? values[v] : v == 7 ? word + 1 : word - 1;
                memcpy(copy + at, &word, sizeof word);
                seal(copy);
                ex_error error;
                try_unpack(copy, pack_size, &error);
            }
    }
    free(copy);
}

/* An invalid number of the layer's head or of an example's record. */
typedef struct lie {
    const char *what;
    ex_section_kind kind;
    uint32_t index;
    size_t at;
    uint32_t word;
    const char *sentence;
} lie;

enum { RECORD = sizeof(exi_pack_trajectory) };
#define HEAD(field) EX_SECTION_TRAJECTORIES, 0, offsetof(exi_pack_trajectories, field)
#define PATH(number, field)                                                                                            \
    EX_SECTION_TRAJECTORIES, 0, sizeof(exi_pack_trajectories) + (number)*RECORD + offsetof(exi_pack_trajectory, field)
/* After the records: overlaps [4][4], curves [4][7], bases [5][6], parents [5], segments [5]. */
#define TABLES   (sizeof(exi_pack_trajectories) + PATHS_EXAMPLES * RECORD)
#define NAN_BITS 0x7FC00000

static const lie lies[] = {
    {"the reference", HEAD(reference), 4, "trajectories contradict"},
    {"no reference at all", HEAD(reference), (uint32_t)-2, "trajectories contradict"},
    {"a segment more", HEAD(segments), 6, "trajectories contradict"},
    {"no segments", HEAD(segments), 0, "trajectories contradict"},
    {"negative segments", HEAD(segments), (uint32_t)-1, "trajectories contradict"},
    {"no overlaps", HEAD(flags), EXI_PACK_MASK, "trajectories contradict"},
    {"no mask", HEAD(flags), EXI_PACK_OVERLAPS, "sections that this version"},
    {"unknown flags", HEAD(flags), 15, "trajectories contradict"},
    {"something reserved", HEAD(reserved), 1, "trajectories contradict"},
    {"a corrector more", PATH(0, correctors), 2, "trajectories contradict"},
    {"negative correctors", PATH(0, correctors), (uint32_t)-1, "trajectories contradict"},
    {"many correctors", PATH(2, correctors), 1 << 28, "trajectories contradict"},
    {"correctors of the reference", PATH(1, correctors), 1, "trajectories contradict"},
    {"no bases", PATH(0, flags), EXI_PATHS_TURNS, "trajectories contradict"},
    {"no turns", PATH(0, flags), EXI_PATHS_BASES, "section"},
    {"unknown flags of an example", PATH(3, flags), 8, "trajectories contradict"},
    {"an overlap beyond 1", EX_SECTION_TRAJECTORIES, 0, TABLES + 4, 0x40000000, "overlap of examples 1 and 2"},
    {"a curve that is no number", EX_SECTION_TRAJECTORIES, 0, TABLES + 64, NAN_BITS, "example 1: the curve"},
    {"a basis that is no number", EX_SECTION_TRAJECTORIES, 0, TABLES + 64 + 112, NAN_BITS, "basis of segment 0"},
    {"a parent outside", EX_SECTION_TRAJECTORIES, 0, TABLES + 64 + 112 + 120, 5, "segment 0 is segment 5"},
    {"a circle", EX_SECTION_TRAJECTORIES, 0, TABLES + 64 + 112 + 120, 2, "is its own ancestor"},
    {"a vertex of no segment", EX_SECTION_TRAJECTORIES, 0, TABLES + 64 + 112 + 120 + 20, 0xFFFF, "segment 65535"},
    {"a long turn", EX_SECTION_TURNS, 0, 12, 0x40C00000, "example 1 of the rig: vertex 1 turns by 6"},
    {"no turn", EX_SECTION_TURNS, 0, 12, NAN_BITS, "example 1 of the rig: vertex 1"},
    {"no corrector", EX_SECTION_CORRECTORS, 2, 60, NAN_BITS, "example 3 of the rig: corrector 1"},
    {"no place", EX_SECTION_TARGET, 3, 0, NAN_BITS, "example 4 of the rig: the place of vertex 0"},
    {"a negative mask", EX_SECTION_MASK, 0, 8, 0xBF800000, "mask at vertex 2"},
    {"a trajectory more", EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, trajectories), 5, "counts"},
    {"a trajectory less", EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, trajectories), 3, "layers"},
    {"forms for trajectories", EX_SECTION_LAYERS, 0, offsetof(exi_layer_record, domain), EX_DOMAIN_FORM, "layers"},
    {"a frame of trajectories", EX_SECTION_LAYERS, 0, offsetof(exi_layer_record, frame), 1, "layers"},
};

static void lies_are_refused(void **state) {
    (void)state;
    char *copy = malloc(pack_size);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        memcpy(copy, pack, pack_size);
        char *at = copy + find(copy, lies[i].kind, lies[i].index)->offset + lies[i].at;
        memcpy(at, &lies[i].word, sizeof lies[i].word);
        seal(copy);
        ex_error error;
        const ex_result result = try_unpack(copy, pack_size, &error);
        if ((result != EX_ERROR_DATA && result != EX_ERROR_FORMAT) || !strstr(error.text, lies[i].sentence))
            fail_msg("%s: %d, '%s'", lies[i].what, (int)result, error.text);
    }
    free(copy);
}

/* ---- the rest ---- */

static ex_result unpack(void *context, const ex_allocator *allocator) {
    (void)context;
    ex_rig *rig = NULL;
    ex_error error = {0};
    const ex_result result = ex_rig_unpack(pack, pack_size, NULL, allocator, &rig, &error);
    assert_true((result == EX_OK) == (rig != NULL));
    if (result != EX_OK)
        assert_sentence(&error, EX_ERROR_MEMORY, "memory");
    ex_rig_destroy(rig);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    assert_true(failing_allocator_sweep(unpack, NULL) >= 6);
}

/* Format 3 has one count less and no trajectories; otherwise it is the same, and is read. */
static void the_format_before_is_read(void **state) {
    (void)state;
    sample_rig s;
    sample_rig_open(&s, VERTICES);
    ex_rig *rig = rig_of(&s.def), *back = NULL;
    sample_rig_close(&s);
    size_t size = 0;
    char *old = pack_of(rig, &size);
    exi_pack_header *header = (exi_pack_header *)(void *)old;
    exi_pack_entry *counts = find(old, EX_SECTION_COUNTS, 0);
    header->format = 3;
    counts->size = 22 * 4;
    counts->checksum = exi_checksum(old + counts->offset, (size_t)counts->size);
    header->checksum = 0;
    header->checksum = exi_checksum(old, header->header_size);
    ex_error error = {0};
    if (ex_rig_unpack(old, size, NULL, NULL, &back, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_same_evaluation(rig, back, 2);
    ex_rig_destroy(back);
    ex_rig_destroy(rig);
    free(old);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back_are_the_same),
        cmocka_unit_test(truncations_and_changed_bytes),
        cmocka_unit_test(every_word_may_lie),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(the_format_before_is_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/*
 * exemplar_cuda_test - the same rigs on the GPU and here: random ones of every kind, at odd sizes and numbers of
 * instances, written in every way; then graphs, streams, edits, and calls after a failed one. Prints a line per kind
 * with the largest differences. Exits with 0 if all agree, 1 if something does not, 77 if there is no GPU.
 *
 * usage: exemplar_cuda_test [--quick | --least]    --quick leaves the large rigs out, for tools that watch every
 * access; --least all but two sizes, for those that watch the order of accesses
 */
#include "cuda/cuda_order.h"

#include "support/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOAT  EX_STORAGE_FLOAT
#define SHORT  EX_STORAGE_16_BIT
#define LINEAR EX_SKINNING_LINEAR
#define DUAL   EX_SKINNING_DUAL_QUATERNION
enum { LARGE = 1000003 };

static const rig_kind kinds[] = {
    {"nothing but a mesh", RIG_SEAMS, 0, 0, FLOAT, LINEAR},
    {"every weigher, over dials", RIG_WEIGHERS, 0, 0, FLOAT, LINEAR},
    {"every weigher, over rotations", RIG_TURNS, 0, 0, FLOAT, LINEAR},
    {"every weigher, in 16 bit", RIG_WEIGHERS | RIG_TURNS, 0, 0, SHORT, LINEAR},
    {"forms", RIG_FORMS, 0, 0, FLOAT, LINEAR},
    {"forms in 16 bit, masked", RIG_FORMS | RIG_MASKS | RIG_SEAMS, 0, 0, SHORT, LINEAR},
    {"layers left out", RIG_FORMS | RIG_WEIGHERS | RIG_OFFSETS | RIG_MUTED, PATHS_ALL, 0, FLOAT, LINEAR},
    {"a linear skin", RIG_SKIN, 0, 1, FLOAT, LINEAR},
    {"forms, a linear skin of 4", RIG_FORMS | RIG_SKIN, 0, 4, FLOAT, LINEAR},
    {"a linear skin of 12, stretched", RIG_FORMS | RIG_SKIN | RIG_STRETCH | RIG_SEAMS, 0, 12, SHORT, LINEAR},
    {"forms, dual quaternions", RIG_FORMS | RIG_SKIN, 0, 4, FLOAT, DUAL},
    {"dual quaternions of 12, stretched", RIG_FORMS | RIG_SKIN | RIG_STRETCH | RIG_SEAMS, 0, 12, FLOAT, DUAL},
    {"read from joints, shifted", RIG_READ | RIG_SKIN | RIG_SHIFTS, 0, 4, FLOAT, LINEAR},
    {"read, shifted, dual quaternions", RIG_READ | RIG_SKIN | RIG_SHIFTS | RIG_STRETCH, 0, 5, FLOAT, DUAL},
    {"offsets at rest", RIG_OFFSETS | RIG_MASKS, 0, 0, FLOAT, LINEAR},
    {"offsets, a linear skin", RIG_OFFSETS | RIG_FORMS | RIG_SKIN, 0, 5, FLOAT, LINEAR},
    {"offsets, dual quaternions", RIG_OFFSETS | RIG_FORMS | RIG_SKIN | RIG_STRETCH, 0, 5, FLOAT, DUAL},
    {"calm offsets", RIG_CALM, 0, 0, FLOAT, LINEAR},
    {"calm offsets, a skin, in 16 bit", RIG_CALM | RIG_SKIN | RIG_MASKS, 0, 4, SHORT, LINEAR},
    {"trajectories that are sums", 0, -1, 0, FLOAT, LINEAR},
    {"trajectories that turn", 0, PATHS_TURNS, 0, FLOAT, LINEAR},
    {"trajectories with correctors", 0, PATHS_CORRECTORS | PATHS_OVERLAPS, 0, FLOAT, LINEAR},
    {"trajectories with screws", 0, PATHS_SCREWS | PATHS_MASK, 0, FLOAT, LINEAR},
    {"trajectories with segments", 0, PATHS_BASES, 0, FLOAT, LINEAR},
    {"trajectories with everything", RIG_FORMS, PATHS_ALL, 0, FLOAT, LINEAR},
    {"the same in 16 bit, skinned", RIG_FORMS | RIG_SKIN, PATHS_ALL, 4, SHORT, LINEAR},
    {"a mixture with everything", RIG_MIXED | RIG_MASKS, 0, 0, FLOAT, LINEAR},
    {"a mixture of one node or many", RIG_MIXED_FEW, 0, 0, FLOAT, LINEAR},
    {"a mixture of 8 examples", RIG_MIXED_MANY, 0, 0, FLOAT, LINEAR},
    {"a mixture of 8 in 16 bit", RIG_MIXED_MANY, 0, 0, SHORT, LINEAR},
    {"mixtures, paths, forms, muted", RIG_MIXED_ANY | RIG_FORMS | RIG_MUTED, PATHS_ALL, 0, FLOAT, LINEAR},
    {"mixtures, offsets, a skin, levels", RIG_MIXED_ANY | RIG_OFFSETS | RIG_SKIN | RIG_LEVELS, 0, 4, FLOAT, DUAL},
    {"mixtures in 16 bit, skinned", RIG_MIXED_ANY | RIG_SKIN | RIG_FORMS, 0, 4, SHORT, LINEAR},
    {"levels and a limit", RIG_FORMS | RIG_LEVELS | RIG_SEAMS, 0, 0, FLOAT, LINEAR},
    {"levels of a skin", RIG_FORMS | RIG_LEVELS | RIG_SKIN, 0, 4, FLOAT, DUAL},
    {"levels displaced", RIG_FORMS | RIG_DISPLACED | RIG_SEAMS, 0, 0, FLOAT, LINEAR},
    {"levels displaced, in 16 bit", RIG_FORMS | RIG_DISPLACED | RIG_SKIN | RIG_MUTED, 0, 2, SHORT, LINEAR},
    {"everything",
     RIG_FORMS | RIG_TURNS | RIG_READ | RIG_OFFSETS | RIG_SKIN | RIG_SHIFTS | RIG_STRETCH | RIG_DISPLACED | RIG_MASKS |
         RIG_SEAMS,
     PATHS_ALL, 8, FLOAT, DUAL},
};

/* Kinds that are also evaluated at a million vertices. */
static const char *const large[] = {"forms",
                                    "forms in 16 bit, masked",
                                    "forms, a linear skin of 4",
                                    "offsets, dual quaternions",
                                    "trajectories with everything",
                                    "a mixture of 8 examples"};

/* Ways to evaluate a rig: all of its levels; unskinned; with other layers muted than the rig's. */
static int list_ways(const ex_rig *rig, int parts, const bool *muted, setting ways[8]) {
    int count = 0;
    ways[count++] = (setting){0};
    if (parts & RIG_SEAMS)
        ways[count++] = (setting){.split = true};
    if (parts & (RIG_SKIN | RIG_MUTED))
        ways[count++] = (setting){.unskinned = true, .muted = muted};
    if (ex_rig_level_count(rig) == 0)
        return count;
    ways[count++] = (setting){.level = 1};
    ways[count++] = (setting){.level = 2, .split = true};
    ways[count++] = (setting){.level = EX_LEVEL_LIMIT, .split = (parts & RIG_SEAMS) == 0};
    if (parts & RIG_DISPLACED)
        ways[count++] = (setting){.level = 2, .muted = muted};
    return count;
}

/* One rig at several numbers of instances: with three, every possible output; with others, some of them. */
static void check_rig(const rig_kind *kind, int vertices, const int *counts, int count_count, findings *f) {
    ex_rig *rig = make_rig(kind, vertices, 1 + (uint64_t)vertices);
    ex_cuda_rig *gpu = NULL;
    ex_error error = {0};
    const int layers = ex_rig_layer_count(rig);
    bool *muted = must_allocate((size_t)layers, sizeof *muted);
    for (int l = 0; l < layers; l++) /* the last one displaces, if any does */
        muted[l] = l % 3 == 1 || l == layers - 1;
    setting ways[8];
    const int way_count = list_ways(rig, kind->parts, muted, ways);
    if (ex_cuda_rig_create(rig, NULL, &gpu, &error) != EX_OK) {
        snprintf(f->where, sizeof f->where, "%s of %d vertices", kind->name, vertices);
        complain(f, "%s", error.text);
    }
    for (int i = 0, turn = vertices; gpu && i < count_count; i++)
        for (int w = 0; w < way_count; w++, turn++) {
            pose_set poses;
            expected e;
            make_poses(rig, kind->parts, counts[i], 7 + (uint64_t)i, &poses);
            expect(rig, &poses, &ways[w], &e);
            for (int r = 0; r < request_count; r++) {
                if (counts[i] != 3 && r != 0 && r != 1 + turn % (request_count - 1))
                    continue;
                snprintf(f->where, sizeof f->where, "%s, %d vertices, %d instances, level %d, way %d, %s", kind->name,
                         vertices, counts[i], ways[w].level, w, requests[r].name);
                compare(gpu, rig, &poses, &ways[w], &e, &requests[r], f);
            }
            free_expected(&e);
            free_poses(&poses);
        }
    free(muted);
    ex_cuda_rig_destroy(gpu);
    ex_rig_destroy(rig);
}

typedef enum extent { WHOLE, QUICK, LEAST } extent;

/* 1236 is a multiple of four, for which crowds use another path than for 1009. */
static void check_kind(const rig_kind *kind, extent e, findings *f) {
    static const int sizes[] = {1, 31, 33, 1009, 1236}, counts[] = {0, 1, 3, 17, 1000}, few[] = {1, 3}, crowd[] = {9};
    for (size_t s = 0; e == LEAST && s < 5; s += 4)
        check_rig(kind, sizes[s], s == 4 ? crowd : few, 1, f);
    for (int s = 0; e != LEAST && s < 5; s++)
        check_rig(kind, sizes[s], counts, e == WHOLE && (sizes[s] == 33 || sizes[s] == 1009) ? 5 : 4, f);
    for (size_t i = 0; e == WHOLE && i < sizeof large / sizeof *large; i++)
        if (strcmp(kind->name, large[i]) == 0)
            check_rig(kind, LARGE, few, 2, f);
}

static void print_header(void) {
    printf(
        "Compared with the runtime on the CPU, entry by entry: positions, in parts of the form's size, and normals.\n"
        "  within: by %g at most; of positions with the largest difference\n"
        "  as sure: by more, but no more than rounding of the CPU's own positions may turn its normal, or, by its\n"
        "    limit normal, move a displaced position; with the largest part of that which was used\n"
        "  unsure: normals that rounding may turn by more than %g radians, which are not compared\n"
        "Weights: the largest difference.\n\n",
        TOLERANCE, EXI_SURETY_UNSURE);
    printf("%-34s %-33s  %-7s  %s\n", "", "positions", "weights", "normals");
    printf("%-34s %9s %-9s %-13s  %-7s  %9s %8s        %s\n", "", "within", "", "as sure", "", "within", "as sure",
           "unsure");
}

/* Number of entries within the uncertainty, and the largest fraction of it. */
static void print_sure(const tally *t, int width) {
    printf(" %*ld", width, t->by_surety);
    if (t->by_surety > 0)
        printf(" (%.2f)", t->used);
    else
        printf("       ");
}

static void print_findings(const char *name, const findings *f) {
    printf("%-34s %9ld (%.1e)", name, f->positions.within, f->positions.largest);
    print_sure(&f->positions, 6);
    printf("  %.1e  %9ld", f->weight, f->normals.within);
    print_sure(&f->normals, 8);
    printf(" %6ld%s\n", f->normals.unsure, f->failures ? "  FAILED" : "");
    fflush(stdout);
}

int main(int argc, char **argv) {
    const extent e = argc != 2 ? WHOLE : strcmp(argv[1], "--quick") == 0 ? QUICK : LEAST;
    if (argc > 2 || (e == LEAST && strcmp(argv[1], "--least") != 0)) {
        fprintf(stderr, "usage: exemplar_cuda_test [--quick | --least]\n");
        return 2;
    }
    if (ex_cuda_device_count() == 0) {
        printf("skipped: no GPU\n");
        return 77;
    }
    ex_cuda_device device;
    ex_error error = {0};
    must(ex_cuda_get_device(0, &device, &error) == EX_OK, "the GPU", &error);
    printf("%s, compute capability %d.%d\n", device.name, device.major, device.minor);
    print_header();
    int failures = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        findings f = {0};
        check_kind(&kinds[i], e, &f);
        print_findings(kinds[i].name, &f);
        failures += f.failures;
    }
    static const struct {
        const char *name;
        void (*check)(findings *f);
    } orders[] = {{"captured graphs", check_graphs},
                  {"several streams", check_streams},
                  {"edited weighers", check_edits},
                  {"after errors", check_errors}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        findings f = {0};
        orders[i].check(&f);
        print_findings(orders[i].name, &f);
        failures += f.failures;
    }
    printf("%s: %d differences that are larger than they may be\n", failures ? "FAILED" : "agrees", failures);
    return failures > 0;
}

/*
 * The drivers and garments of the demos `sleeve` and `shirt`: drivers are closed, cross themselves in no pose and are
 * at rest before the motion begins; garments are open in the right places and outside their drivers; simulated, they
 * stay there, and the result is the same every time.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "surfaces.h"

#include "author/mesh/crossings.h"
#include "demos/garment/cloth_parts.h"
#include "demos/garment/garment.h"
#include "support/check.h"
#include "support/fail_alloc.h"

/* Number of edges with one triangle; every edge occurs at most once in each direction. */
static int count_open_edges(const ex_mesh *mesh) {
    const size_t count = (size_t)mesh->corner_count;
    int(*edges)[2] = malloc(count * sizeof *edges), open = 0;
    assert_non_null(edges);
    for (int h = 0; h < mesh->corner_count; h++) {
        edges[h][0] = mesh->corners[h];
        edges[h][1] = mesh->corners[h % 3 == 2 ? h - 2 : h + 1];
    }
    qsort(edges, count, sizeof *edges, compare_edges);
    for (size_t i = 0; i < count; i++) {
        const int back[2] = {edges[i][1], edges[i][0]};
        assert_true(i == 0 || compare_edges(edges[i - 1], edges[i]) < 0);
        open += !bsearch(back, edges, count, sizeof *edges, compare_edges);
    }
    free(edges);
    return open;
}

/* The least distance of the vertices of a form from the driver, negative inside. */
static double least_distance(const exi_garment *garment, const double *driver, const double *driven) {
    exi_cloth_driver d;
    double least = 1;
    assert_int_equal(exi_cloth_driver_make(garment->driver, &d, NULL), EX_OK);
    exi_cloth_driver_next(&d, driver);
    exi_cloth_driver_move(&d, 1);
    for (int v = 0; v < garment->driven->vertex_count; v++) {
        exi_cloth_contact contact;
        if (exi_cloth_driver_touch(&d, driven + 3 * v, 1, &contact))
            least = fmin(least, contact.distance);
    }
    exi_cloth_driver_free(&d);
    return least;
}

/* holes: of the driven surface, which is otherwise a sphere. */
static void check_garment(const exi_garment *garment, int holes) {
    const ex_mesh *driver = garment->driver, *driven = garment->driven;
    check_sphere(driver);
    /* Of a closed surface, edges are half of the corners; open ones are there once. */
    const int edges = (driven->corner_count + count_open_edges(driven)) / 2;
    assert_int_equal(driven->vertex_count - edges + driven->face_count, 2 - holes);
    const double least = least_distance(garment, driver->positions, driven->positions);
    print_message("%s: at rest at least %.2f mm from its driver\n", garment->name, 1000 * least);
    assert_true(least > 0);
    double *form = malloc(3 * sizeof(double) * (size_t)driver->vertex_count), apart = 0;
    exi_crossings *crossings = NULL;
    assert_non_null(form);
    assert_int_equal(exi_crossings_create(driver->vertex_count, driver->positions, driver->face_count, driver->corners,
                                          &crossings, NULL),
                     EX_OK);
    for (int motion = 0; motion < GARMENT_MOTIONS; motion++) {
        garment->pose(garment, (exi_garment_motion)motion, 0.7, 0, form);
        for (int i = 0; i < 3 * driver->vertex_count; i++)
            assert_near(form[i], driver->positions[i], 2e-6);
        for (int k = 0; k < 4; k++) {
            int pairs = -1;
            garment->pose(garment, (exi_garment_motion)motion, garment->frame_counts[motion] / GARMENT_FPS * k / 4, 1,
                          form);
            assert_int_equal(exi_crossings_count(crossings, form, 1e-5, NULL, &pairs, NULL), EX_OK);
            assert_int_equal(pairs, 0);
            for (int i = 0; i < 3 * driver->vertex_count; i++)
                apart = fmax(apart, fabs(form[i] - driver->positions[i]));
        }
    }
    assert_true(apart > 0.3);
    exi_crossings_destroy(crossings);
    free(form);
}

typedef struct watch {
    const exi_garment *garment;
    int frames;
    double least;   /* distance from the driver */
    double *driven; /* of the last frame */
} watch;

static ex_result see_frame(void *user, int frame, const double *driver, const double *driven, ex_error *error) {
    watch *w = user;
    (void)error;
    assert_int_equal(frame, w->frames++);
    w->least = fmin(w->least, least_distance(w->garment, driver, driven));
    memcpy(w->driven, driven, 3 * sizeof(double) * (size_t)w->garment->driven->vertex_count);
    return EX_OK;
}

static void the_sleeve(void **state) {
    (void)state;
    exi_garment garment;
    assert_int_equal(exi_sleeve_make(&garment, NULL), EX_OK);
    check_garment(&garment, 2);
    assert_int_equal(garment.driven->vertex_count, 2500);
    garment.cloth.substeps = 4;
    garment.cloth.search = 2;
    garment.frame_counts[GARMENT_UNSEEN] = 3;
    const size_t bytes = 3 * sizeof(double) * (size_t)garment.driven->vertex_count;
    watch w = {&garment, 0, 1, malloc(bytes)};
    double *first = malloc(bytes);
    assert_true(w.driven && first);
    exi_garment_play play = {.motion = GARMENT_UNSEEN, .frame = see_frame, .user = &w};
    assert_int_equal(exi_garment_simulate(&garment, &play, NULL), EX_OK);
    assert_int_equal(w.frames, 3);
    print_message("sleeve: at least %.2f mm from its driver\n", 1000 * w.least);
    assert_true(w.least > garment.cloth.thickness - 1e-3); /* a tenth of that with all substeps */
    memcpy(first, w.driven, bytes);
    w.frames = 0;
    assert_int_equal(exi_garment_simulate(&garment, &play, NULL), EX_OK);
    assert_memory_equal(first, w.driven, bytes);
    /* From a given form: the first frame is that form. */
    w.frames = 0;
    garment.frame_counts[GARMENT_UNSEEN] = 1;
    play.start = first;
    assert_int_equal(exi_garment_simulate(&garment, &play, NULL), EX_OK);
    assert_memory_equal(first, w.driven, bytes);
    free(first);
    free(w.driven);
    exi_garment_free(&garment);
}

static void the_shirt(void **state) {
    (void)state;
    exi_garment garment;
    int sewn = 0;
    assert_int_equal(exi_shirt_make(&garment, NULL), EX_OK);
    check_garment(&garment, 4);
    print_message("shirt: %d vertices on %d triangles\n", garment.driven->vertex_count, garment.driver->face_count);
    assert_true(abs(garment.driven->vertex_count - 5000) < 100);
    assert_true(abs(garment.driver->face_count - 10000) < 500);
    for (int v = 0; v < garment.driven->vertex_count; v++)
        sewn += garment.pinned[v];
    assert_true(sewn > 40 && sewn < 200);
    exi_garment_free(&garment);
}

static ex_result make_sleeve(void *context) {
    (void)context;
    exi_garment garment;
    ex_result result = exi_sleeve_make(&garment, NULL);
    garment.frame_counts[GARMENT_TRAINING] = -29; /* one step, at rest */
    garment.cloth.substeps = 1;
    if (result == EX_OK)
        result = exi_garment_simulate(&garment, &(exi_garment_play){.motion = GARMENT_TRAINING}, NULL);
    exi_garment_free(&garment);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    assert_true(fail_alloc_sweep(make_sleeve, NULL) > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sleeve),
        cmocka_unit_test(the_shirt),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("demos.garment", tests, NULL, NULL);
}

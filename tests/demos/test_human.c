/*
 * The demo `human`: figures are as tall as people of their age, expressions move only the face, sculpts come in at
 * their poses and keep elbows and knees from collapsing.
 */
#include "posed.h"

#include "demos/garment/garment.h"

static posed_demo demo;

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    posed_open(&demo, "human");
    return 0;
}

static int tear_down(void **state) {
    posed_close(&demo);
    return scratch_tear_down(state);
}

static double height(const float *form) {
    float low = form[1], high = form[1];
    for (int v = 0; v < demo.mesh->vertex_count; v++) {
        low = form[3 * v + 1] < low ? form[3 * v + 1] : low;
        high = form[3 * v + 1] > high ? form[3 * v + 1] : high;
    }
    assert_true(low > -0.01F && low < 0.01F); /* on the ground */
    return (double)high - (double)low;
}

static void stands_as_tall_as_people(void **state) {
    (void)state;
    const double woman = height(posed_at(&demo, true, "gender=0")), man = height(posed_at(&demo, true, "gender=1")),
                 girl = height(posed_at(&demo, true, "age=10")), old = height(posed_at(&demo, true, "age=80"));
    assert_true(woman > 1.55 && woman < 1.75);
    assert_true(man > woman && man < 1.95);
    assert_true(girl > 1.1 && girl < 1.5);
    assert_true(old < woman);
}

static double farthest_from(const double *rest, const float *form, double below) {
    double most = 0;
    for (int v = 0; v < demo.mesh->vertex_count; v++)
        if (rest[3 * v + 1] < below)
            for (int c = 0; c < 3; c++)
                most = fmax(most, fabs((double)form[3 * v + c] - rest[3 * v + c]));
    return most;
}

static void expressions_move_the_face_alone(void **state) {
    (void)state;
    static const char *const dials[] = {"smile", "open", "pucker", "grin",     "frown",      "blink.L",  "blink.R",
                                        "sneer", "wide", "squint", "brows_up", "brows_down", "brows_sad"};
    for (size_t i = 0; i < sizeof dials / sizeof *dials; i++) {
        const float *form = posed_at(&demo, true, "%s=1", dials[i]);
        assert_true(farthest_from(demo.mesh->positions, form, 10) > 0.001);
        assert_true(farthest_from(demo.mesh->positions, form, 1.25) < 1e-5); /* below the neck */
    }
}

/* The farthest that the layers move a vertex at a pose, on the side of x's sign, between two heights. All others must
 * stay. */
static double sculpted(const char *pose, int side, double low, double high) {
    const int count = demo.mesh->vertex_count;
    float *skinned = malloc(12 * (size_t)count);
    assert_non_null(skinned);
    memcpy(skinned, posed_at(&demo, false, "%s", pose), 12 * (size_t)count);
    const float *form = posed_at(&demo, true, "%s", pose);
    double most = 0;
    for (int v = 0; v < count; v++) {
        const double *p = demo.mesh->positions + 3 * v;
        double moved = 0;
        for (int c = 0; c < 3; c++)
            moved = fmax(moved, fabs((double)form[3 * v + c] - (double)skinned[3 * v + c]));
        if (p[0] * side > 0.02 && p[1] > low && p[1] < high)
            most = fmax(most, moved);
        else
            assert_true(moved < 1e-4);
    }
    free(skinned);
    return most;
}

static void sculpts_act_at_their_joints(void **state) {
    (void)state;
    assert_true(sculpted("gender=0", 1, 0, 2) < 1e-6);
    static const struct {
        const char *name;
        double angle, low, high, least;
    } bent[] = {{"elbow", 115, 0.85, 1.35, 0.008}, {"elbow", 60, 0.85, 1.35, 0.003}, {"knee", 115, 0.1, 0.9, 0.008}};
    for (int i = 0; i < 3; i++) {
        char left[32], right[32];
        snprintf(left, sizeof left, "%s.L=%g", bent[i].name, bent[i].angle);
        snprintf(right, sizeof right, "%s.R=%g", bent[i].name, bent[i].angle);
        const double l = sculpted(left, 1, bent[i].low, bent[i].high),
                     r = sculpted(right, -1, bent[i].low, bent[i].high);
        assert_true(l > bent[i].least && l < 0.08);
        assert_true(fabs(l - r) < 0.1 * l); /* both sides are alike */
    }
}

/* The clothes of the demo `outfit` lie outside the person, who moves as in the rig; the shirt over the trousers. */
static void the_outfit_fits(void **state) {
    (void)state;
    exi_garment outfit;
    assert_int_equal(exi_outfit_make(&outfit, NULL), EX_OK);
    const int count = outfit.driver->vertex_count, worn = outfit.driven->vertex_count;
    assert_int_equal(count, demo.mesh->vertex_count);
    double *form = malloc(24 * (size_t)count);
    assert_non_null(form);
    outfit.pose(&outfit, GARMENT_TRAINING, 1, 0, form);
    for (int i = 0; i < 3 * count; i++)
        assert_true(fabs(form[i] - demo.mesh->positions[i]) < 1e-5);
    outfit.pose(&outfit, GARMENT_TRAINING, 1, 1, form);
    double most = 0;
    for (int i = 0; i < 3 * count; i++)
        most = fmax(most, fabs(form[i] - demo.mesh->positions[i]));
    assert_true(most > 0.1 && most < 1.5);
    int pins = 0, shirt = 0;
    double hem = 10, waist = 0;
    for (int v = 0; v < worn; v++) {
        const bool upper = outfit.gaps[v] > outfit.cloth.thickness;
        const double y = outfit.driven->positions[3 * v + 1];
        pins += outfit.pinned[v];
        shirt += upper;
        hem = upper ? fmin(hem, y) : hem;
        waist = upper ? waist : fmax(waist, y);
    }
    assert_true(pins > 20 && pins < worn / 10);
    assert_true(shirt > 1000 && shirt < worn - 1000);
    assert_true(waist > hem && waist < hem + 0.15);
    free(form);
    exi_garment_free(&outfit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_as_tall_as_people),
        cmocka_unit_test(expressions_move_the_face_alone),
        cmocka_unit_test(sculpts_act_at_their_joints),
        cmocka_unit_test(the_outfit_fits),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

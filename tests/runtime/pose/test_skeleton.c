/*
 * Skeletons: a chain worked by hand, chains and trees against a recursion in double, joints in any order, binds, shifts
 * (examples with their own skeletons), NaN inputs, and every error of a definition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/poses.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40 };

static ex_skeleton *skeleton_of(const ex_skeleton_def *def) {
    ex_skeleton *skeleton = NULL;
    ex_error error = {0};
    if (ex_skeleton_create(def, NULL, &skeleton, &error) != EX_OK)
        fail_msg("%s", error.text);
    return skeleton;
}

static void evaluate(const ex_skeleton *skeleton, const ex_transform *locals, const float *shifts, float *matrices,
                     float *worlds, float *centres) {
    void *scratch = malloc(ex_skeleton_scratch_size(skeleton));
    ex_skeleton_input input = {locals, shifts};
    ex_skeleton_output output = {.matrices = matrices, .worlds = worlds, .centres = centres};
    ex_skeleton_evaluate(skeleton, &input, &output, scratch);
    free(scratch);
}

static void assert_matrix(const float *m, const double *expected, double tolerance, const char *what) {
    for (int i = 0; i < 12; i++)
        if (!(fabs((double)m[i] - expected[i]) <= tolerance))
            fail_msg("%s: entry %d is %.9g, not %.9g", what, i, (double)m[i], expected[i]);
}

static const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

/* Two bones of length 2 along x; the second turned by 90 degrees about z carries (5, 0, 0) to (2, 3, 0). */
static void a_bent_elbow_by_hand(void **state) {
    (void)state;
    ex_transform rest[2] = {ex_transform_identity(), ex_transform_identity()}, pose[2];
    rest[1].translation[0] = 2;
    const int parents[2] = {-1, 0};
    const char *names[2] = {"upper", "lower"};
    ex_skeleton *s = skeleton_of(&(ex_skeleton_def){2, parents, rest, NULL, names});
    assert_int_equal(ex_skeleton_joint_count(s), 2);
    assert_int_equal(ex_skeleton_parent(s, 0), -1);
    assert_int_equal(ex_skeleton_parent(s, 1), 0);
    assert_string_equal(ex_skeleton_name(s, 1), "lower");
    assert_int_equal(ex_skeleton_find(s, "lower"), 1);
    assert_int_equal(ex_skeleton_find(s, "wrist"), -1);
    memcpy(pose, rest, sizeof pose);
    memcpy(pose[1].rotation, turned(90, 0, 0, 1).rotation, sizeof pose[1].rotation);
    float matrices[24], worlds[24], centres[6];
    evaluate(s, NULL, NULL, matrices, worlds, centres);
    for (int j = 0; j < 2; j++)
        assert_matrix(matrices + 12 * j, identity, 0, "rest");
    assert_true(worlds[12 + 3] == 2 && centres[3] == 2);
    evaluate(s, pose, NULL, matrices, NULL, NULL);
    const double expected[12] = {0, -1, 0, 2, 1, 0, 0, -2, 0, 0, 1, 0};
    assert_matrix(matrices + 12, expected, 2e-7, "bent");
    assert_matrix(matrices, identity, 0, "upper arm");
    ex_skeleton_destroy(s);
}

/* World transforms by a recursion that is independent of the order. */
static void oracle_world(const int *parents, const ex_transform *locals, int joint, double world[12]) {
    double local[12];
    oracle_matrix(&locals[joint], local);
    if (parents[joint] < 0) {
        memcpy(world, local, sizeof local);
        return;
    }
    double above[12];
    oracle_world(parents, locals, parents[joint], above);
    oracle_multiply(above, local, world);
}

/* Parents anywhere: a random tree whose numbers are shuffled. */
static void random_tree(uint64_t *random, int count, int *parents) {
    int place[MOST];
    for (int i = 0; i < count; i++)
        place[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int other = (int)(random_bits(random) % (uint64_t)(i + 1)), t = place[i];
        place[i] = place[other];
        place[other] = t;
    }
    for (int i = 0; i < count; i++)
        parents[place[i]] = i == 0 || random_bits(random) % 8 == 0 ? -1 : place[random_bits(random) % (uint64_t)i];
}

static void trees_agree_with_double(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 100; round++) {
        int count = 1 + round % MOST, parents[MOST];
        ex_transform rest[MOST], pose[MOST];
        float binds[12 * MOST], matrices[12 * MOST], worlds[12 * MOST];
        random_tree(&random, count, parents);
        for (int j = 0; j < count; j++) {
            rest[j] = random_rigid(&random, 1);
            pose[j] = random_rigid(&random, 1);
            for (int c = 0; c < 3; c++) {
                rest[j].scale[c] = (float)random_between(&random, 0.7, 1.3);
                pose[j].scale[c] = (float)random_between(&random, -1.3, 1.3);
            }
            ex_transform bind = random_rigid(&random, 2);
            bind.scale[1] = 2;
            ex_transform_matrix(&bind, binds + 12 * j);
        }
        for (int given = 0; given < 2; given++) {
            ex_skeleton *s = skeleton_of(&(ex_skeleton_def){count, parents, rest, given ? binds : NULL, NULL});
            evaluate(s, pose, NULL, matrices, worlds, NULL);
            for (int j = 0; j < count; j++) {
                double world[12], rest_world[12], inverse[12], expected[12], size = 1;
                oracle_world(parents, pose, j, world);
                oracle_world(parents, rest, j, rest_world);
                if (given)
                    for (int i = 0; i < 12; i++)
                        inverse[i] = (double)binds[12 * j + i];
                else
                    assert_true(oracle_invert(rest_world, inverse));
                oracle_multiply(world, inverse, expected);
                for (int i = 0; i < 12; i++)
                    size = fmax(size, fmax(fabs(world[i]), fabs(inverse[i])));
                assert_matrix(worlds + 12 * j, world, size * 2 * FLT_EPSILON, "world");
                assert_matrix(matrices + 12 * j, expected, size * size * 2 * FLT_EPSILON, "matrix");
            }
            evaluate(s, NULL, NULL, matrices, NULL, NULL);
            for (int j = 0; !given && j < count; j++)
                assert_matrix(matrices + 12 * j, identity, 1e-6, "at rest nothing moves");
            ex_skeleton_destroy(s);
        }
    }
}

/*
 * A skeleton with shifts equals the skeleton whose joints are at the shifted places, with the same rest rotations: both
 * must give the same matrices in every pose. Also if the mesh was not bound at rest.
 */
static void shifts_are_another_skeleton(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int round = 0; round < 60; round++) {
        int count = 1 + round % 12, parents[MOST];
        ex_transform rest[MOST], other[MOST], pose[MOST], other_pose[MOST];
        float shifts[3 * MOST], a[12 * MOST], b[12 * MOST], centres[3 * MOST], other_centres[3 * MOST], plain[3 * MOST];
        random_tree(&random, count, parents);
        for (int j = 0; j < count; j++) {
            rest[j] = random_rigid(&random, 1);
            pose[j] = random_rigid(&random, 1);
            memcpy(pose[j].translation, rest[j].translation, sizeof pose[j].translation);
            if (round % 3 == 0) /* joints that slide keep their slide */
                pose[j].translation[1] += 0.25f;
            for (int c = 0; c < 3; c++) {
                rest[j].scale[c] = (float)random_between(&random, 0.8, 1.2);
                shifts[3 * j + c] = (float)random_between(&random, -0.5, 0.5);
            }
        }
        /* The other skeleton's local translations, from its joints' positions in the world. */
        for (int j = 0; j < count; j++) {
            double world[12], above[12], inverse[12], place[3], local[3];
            oracle_world(parents, rest, j, world);
            for (int c = 0; c < 3; c++)
                place[c] = world[4 * c + 3] + (double)shifts[3 * j + c];
            other[j] = rest[j];
            memcpy(local, place, sizeof place);
            if (parents[j] >= 0) {
                oracle_world(parents, rest, parents[j], above);
                for (int c = 0; c < 3; c++)
                    above[4 * c + 3] += (double)shifts[3 * parents[j] + c];
                assert_true(oracle_invert(above, inverse));
                oracle_apply(inverse, place, local);
            }
            other_pose[j] = pose[j];
            for (int c = 0; c < 3; c++) {
                other[j].translation[c] = (float)local[c];
                other_pose[j].translation[c] =
                    (float)(local[c] + (double)pose[j].translation[c] - (double)rest[j].translation[c]);
            }
        }
        ex_skeleton *s = skeleton_of(&(ex_skeleton_def){count, parents, rest, NULL, NULL});
        ex_skeleton *t = skeleton_of(&(ex_skeleton_def){count, parents, other, NULL, NULL});
        evaluate(s, pose, shifts, a, NULL, centres);
        evaluate(t, other_pose, NULL, b, NULL, other_centres);
        evaluate(s, pose, NULL, NULL, NULL, plain);
        for (int i = 0; i < 12 * count; i++)
            assert_near((double)a[i], (double)b[i], 2e-4);
        for (int i = 0; i < 3 * count; i++) {
            assert_near((double)centres[i], (double)other_centres[i], 2e-5);
            assert_near((double)centres[i] - (double)plain[i], (double)shifts[i], 2e-6);
        }
        ex_skeleton_destroy(s);
        ex_skeleton_destroy(t);
    }
}

/* Bound in another place and another posture than rest: a bone that grows in the bound mesh grows in the pose, along
 * itself. And a shift of all joints by the same amount moves the mesh's space: the mesh moves with it. */
static void shifts_follow_the_bind(void **state) {
    (void)state;
    ex_transform rest[2] = {ex_transform_identity(), ex_transform_identity()};
    rest[1].translation[0] = 2;
    memcpy(rest[0].rotation, turned(90, 0, 0, 1).rotation, sizeof rest[0].rotation);
    const int parents[2] = {-1, 0};
    const float binds[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, -2, 0, 1, 0, 0, 0, 0, 1, 0};
    ex_skeleton *s = skeleton_of(&(ex_skeleton_def){2, parents, rest, binds, NULL});
    float worlds[24], matrices[24], grown[6] = {0, 0, 0, 1, 0, 0}, all[6] = {1, 0, 0, 1, 0, 0};
    evaluate(s, NULL, grown, matrices, worlds, NULL);
    assert_near((double)worlds[12 + 3], 0, 1e-6);
    assert_near((double)worlds[12 + 7], 3, 1e-6);
    double x[3] = {3, 0, 0}, moved[3], m[12];
    for (int i = 0; i < 12; i++)
        m[i] = (double)matrices[12 + i];
    oracle_apply(m, x, moved);
    assert_row_near(moved, ((double[]){0, 3, 0}), 3, 1e-6);
    evaluate(s, NULL, all, matrices, worlds, NULL);
    assert_near((double)worlds[3], 0, 1e-6); /* the root is moved from the mesh's x to the world's y */
    assert_near((double)worlds[7], 1, 1e-6);
    assert_near((double)worlds[12 + 7], 3, 1e-6);
    ex_skeleton_destroy(s);
}

/* NaN parts read as rest, each separately; zero rotations too; and rest's own zero rotation is the identity. */
static void no_numbers_read_as_rest(void **state) {
    (void)state;
    uint64_t random = 3;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    ex_transform rest[3], pose[3], mended[3];
    const int parents[3] = {-1, 0, 1};
    for (int j = 0; j < 3; j++)
        rest[j] = random_rigid(&random, 1);
    memset(rest[1].rotation, 0, sizeof rest[1].rotation);
    ex_skeleton *s = skeleton_of(&(ex_skeleton_def){3, parents, rest, NULL, NULL});
    assert_true(ex_skeleton_rest(s, 1).rotation[3] == 1);
    float a[36], b[36], shifts[9] = {0};
    for (int round = 0; round < 33; round++) {
        for (int j = 0; j < 3; j++)
            pose[j] = mended[j] = random_rigid(&random, 1);
        if (round < 30) {
            ((float *)&pose[1])[round % 10] = bad[round / 10];
            if (round % 10 < 3)
                memcpy(mended[1].translation, rest[1].translation, sizeof rest[1].translation);
            else if (round % 10 < 7)
                memcpy(mended[1].rotation, ((float[]){0, 0, 0, 1}), sizeof mended[1].rotation);
            else
                memcpy(mended[1].scale, rest[1].scale, sizeof rest[1].scale);
        } else {
            memset(pose[round - 30].rotation, 0, sizeof pose[0].rotation);
            ex_transform r = ex_skeleton_rest(s, round - 30);
            memcpy(mended[round - 30].rotation, r.rotation, sizeof r.rotation);
        }
        shifts[3] = round % 2 ? NAN : INFINITY;
        evaluate(s, pose, shifts, a, NULL, NULL);
        evaluate(s, mended, NULL, b, NULL, NULL);
        assert_memory_equal(a, b, sizeof a);
    }
    ex_skeleton_destroy(s);
}

/* Numbers that overflow along the chain are replaced, and no result is infinite. */
static void overflow_is_rest(void **state) {
    (void)state;
    ex_transform rest[20], pose[20];
    int parents[20];
    for (int j = 0; j < 20; j++) {
        rest[j] = pose[j] = ex_transform_identity();
        rest[j].translation[0] = 1;
        parents[j] = j - 1;
        for (int c = 0; c < 3; c++)
            pose[j].scale[c] = pose[j].translation[c] = FLT_MAX;
    }
    ex_skeleton *s = skeleton_of(&(ex_skeleton_def){20, parents, rest, NULL, NULL});
    float matrices[240], worlds[240];
    evaluate(s, pose, NULL, matrices, worlds, NULL);
    for (int i = 0; i < 240; i++)
        assert_true(isfinite(matrices[i]) && fabsf(worlds[i]) <= 1e30f);
    for (int j = 0; j < 20; j++)
        pose[j].scale[0] = pose[j].scale[1] = pose[j].scale[2] = 100, pose[j].translation[1] = 0;
    evaluate(s, pose, NULL, matrices, worlds, NULL);
    for (int i = 0; i < 240; i++)
        assert_true(isfinite(matrices[i]) && fabsf(worlds[i]) <= 1e30f);
    ex_skeleton_destroy(s);
}

/* ---- errors ---- */

static ex_transform sound_rest[4];
static int sound_parents[4] = {-1, 0, 1, 1};
static const char *sound_names[4] = {"hips", "spine", "left", "right"};

static ex_skeleton_def sound(void) {
    for (int j = 0; j < 4; j++)
        sound_rest[j] = ex_transform_identity();
    return (ex_skeleton_def){4, sound_parents, sound_rest, NULL, sound_names};
}

static void assert_refused(const ex_skeleton_def *def, ex_result result, const char *word) {
    failing_allocator f;
    failing_allocator_open(&f);
    ex_skeleton *skeleton = NULL;
    ex_error error = {0};
    assert_int_equal(ex_skeleton_create(def, &f.allocator, &skeleton, &error), result);
    assert_null(skeleton);
    assert_sentence(&error, result, word);
    assert_int_equal(ex_skeleton_create(def, &f.allocator, &skeleton, NULL), result);
    failing_allocator_close(&f);
}

static void wrong_definitions_are_refused(void **state) {
    (void)state;
    ex_skeleton_def def = sound();
    def.joint_count = 0;
    assert_refused(&def, EX_ERROR_ARGUMENT, "at least one joint");
    def = sound(), def.parents = NULL;
    assert_refused(&def, EX_ERROR_ARGUMENT, "parents");
    def = sound(), def.rest = NULL;
    assert_refused(&def, EX_ERROR_ARGUMENT, "rest");
    def = sound(), def.joint_count = EX_JOINT_MAX + 1;
    assert_refused(&def, EX_ERROR_LIMIT, "at most 65535");
    const int self[4] = {-1, 0, 2, 1}, beyond[4] = {-1, 0, 4, 1}, below[4] = {-1, 0, 1, -2};
    def = sound(), def.parents = self;
    assert_refused(&def, EX_ERROR_DATA, "joint 2 (\"left\") is its own parent");
    def = sound(), def.parents = beyond;
    assert_refused(&def, EX_ERROR_DATA, "the parent of joint 2 (\"left\") is joint 4, but joints are numbered 0 to 3");
    def = sound(), def.parents = below;
    assert_refused(&def, EX_ERROR_DATA, "the parent of joint 3 (\"right\") is joint -2");
    const int cycle[4] = {-1, 3, 1, 2}, whole[4] = {1, 2, 3, 0};
    def = sound(), def.parents = cycle;
    assert_refused(&def, EX_ERROR_DATA, "joint 1 (\"spine\") is its own ancestor");
    def = sound(), def.parents = whole, def.names = NULL;
    assert_refused(&def, EX_ERROR_DATA, "joint 0 is its own ancestor");
    const char *unreadable[4] = {"hips", NULL, "", "a\nb"};
    def = sound(), def.names = unreadable;
    assert_refused(&def, EX_ERROR_DATA, "joint 3");
    for (int i = 0; i < 10; i++) {
        def = sound();
        ((float *)&sound_rest[3])[i] = i % 2 ? NAN : INFINITY;
        assert_refused(&def, EX_ERROR_DATA, "joint 3 (\"right\") is not finite");
    }
    def = sound();
    sound_rest[1].scale[1] = 0;
    assert_refused(&def, EX_ERROR_DATA, "joint 1 (\"spine\") or one of its parents is scaled to 0");
    for (int j = 0; j < 4; j++)
        for (int c = 0; c < 3; c++)
            sound_rest[j].scale[c] = 1e20f;
    assert_refused(&def, EX_ERROR_DATA, "beyond 1e30");
    float binds[48] = {0};
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 3; i++)
            binds[12 * j + 5 * i] = 1;
    def = sound(), def.inverse_binds = binds;
    binds[24] = 0;
    assert_refused(&def, EX_ERROR_DATA, "inverse bind matrix of joint 2 (\"left\") is singular");
    binds[24] = NAN;
    assert_refused(&def, EX_ERROR_DATA, "inverse bind matrix of joint 2 (\"left\") is not finite");
    binds[24] = binds[28] = 1; /* the second row nearly the first */
    binds[29] = 1e-14f;
    assert_refused(&def, EX_ERROR_DATA, "inverse bind matrix of joint 2 (\"left\") is singular");
    binds[28] = 0;
    binds[29] = 1;
    ex_skeleton_destroy(skeleton_of(&def));
    sound_rest[1].scale[1] = 0; /* fine if binds are given */
    ex_skeleton_destroy(skeleton_of(&def));
}

static ex_result create(void *context, const ex_allocator *allocator) {
    ex_skeleton *skeleton = NULL;
    ex_result result = ex_skeleton_create(context, allocator, &skeleton, NULL);
    assert_true((result == EX_OK) == (skeleton != NULL));
    ex_skeleton_destroy(skeleton);
    return result;
}

static void one_allocation_and_it_may_fail(void **state) {
    (void)state;
    ex_skeleton_def def = sound();
    assert_int_equal(failing_allocator_sweep(create, &def), 1);
    ex_skeleton_destroy(NULL);
}

/* A chain of the maximum number of joints, numbered from the end: sorted quickly, and without recursion. */
static void the_longest_chain(void **state) {
    (void)state;
    int *parents = malloc(EX_JOINT_MAX * sizeof *parents);
    ex_transform *rest = malloc(EX_JOINT_MAX * sizeof *rest);
    for (int j = 0; j < EX_JOINT_MAX; j++) {
        parents[j] = j + 1 < EX_JOINT_MAX ? j + 1 : -1;
        rest[j] = ex_transform_identity();
        rest[j].translation[2] = 1;
    }
    ex_skeleton *s = skeleton_of(&(ex_skeleton_def){EX_JOINT_MAX, parents, rest, NULL, NULL});
    float *worlds = malloc(EX_JOINT_MAX * 12 * sizeof *worlds), last[12];
    evaluate(s, NULL, NULL, NULL, worlds, NULL);
    assert_true(worlds[11] == EX_JOINT_MAX);
    ex_skeleton_inverse_bind(s, 0, last);
    assert_true(last[11] == -EX_JOINT_MAX);
    free(worlds);
    ex_skeleton_destroy(s);
    parents[EX_JOINT_MAX - 1] = 0;
    assert_int_equal(ex_skeleton_create(&(ex_skeleton_def){EX_JOINT_MAX, parents, rest, NULL, NULL}, NULL, &s, NULL),
                     EX_ERROR_DATA);
    free(parents);
    free(rest);
}

/* Rotations are normalised once, and a skeleton's own definition makes the same skeleton again, to the bit. */
static void rest_of_rest(void **state) {
    (void)state;
    enum { J = 5000 };
    uint64_t random = 24;
    int *parents = malloc(J * sizeof *parents);
    ex_transform *rest = malloc(J * sizeof *rest);
    for (int j = 0; j < J; j++) {
        parents[j] = -1;
        rest[j] = ex_transform_identity();
        for (int c = 0; c < 4; c++)
            rest[j].rotation[c] = (float)random_between(&random, -3, 3);
    }
    ex_skeleton *s = skeleton_of(&(ex_skeleton_def){J, parents, rest, NULL, NULL});
    for (int j = 0; j < J; j++) {
        rest[j] = ex_skeleton_rest(s, j);
        double sum = 0;
        for (int c = 0; c < 4; c++)
            sum += (double)rest[j].rotation[c] * (double)rest[j].rotation[c];
        assert_near(sum, 1, 0x1p-22);
    }
    ex_skeleton *again = skeleton_of(&(ex_skeleton_def){J, parents, rest, NULL, NULL});
    for (int j = 0; j < J; j++) {
        const ex_transform same = ex_skeleton_rest(again, j);
        assert_memory_equal(&same, &rest[j], sizeof same);
    }
    ex_skeleton_destroy(s);
    ex_skeleton_destroy(again);
    free(parents);
    free(rest);
}

/* A length that is 1 to float precision stays, to the bit; the next longer one is made 1. */
static void nearly_unit_rotations_stay(void **state) {
    (void)state;
    for (int c = 0; c < 3; c++) {
        ex_transform rest = ex_transform_identity();
        rest.rotation[c] = 0x1p-11f; /* the square of the length is 1 + 0x1p-22 */
        ex_skeleton *s = skeleton_of(&(ex_skeleton_def){1, (int[]){-1}, &rest, NULL, NULL});
        const ex_transform same = ex_skeleton_rest(s, 0);
        assert_memory_equal(&same, &rest, sizeof rest);
        ex_skeleton_destroy(s);
        rest.rotation[c] = 0x1.000002p-11f;
        s = skeleton_of(&(ex_skeleton_def){1, (int[]){-1}, &rest, NULL, NULL});
        assert_true(ex_skeleton_rest(s, 0).rotation[c] < 0x1.000002p-11f);
        ex_skeleton_destroy(s);
    }
}

static int misuses;
static const char *misused;
static void count_misuse(const char *function, const char *what) {
    (void)what;
    misused = function;
    misuses++;
}

static void assert_told(const char *function) {
    assert_int_equal(misuses, 1);
    assert_string_equal(misused, function);
    misuses = 0;
}

/* No skeleton, and joints that a skeleton does not have. */
static void joints_out_of_range_are_misuse(void **state) {
    (void)state;
    ex_transform rest = ex_transform_identity();
    const ex_transform identical = rest;
    rest.translation[0] = 3;
    ex_skeleton *one = skeleton_of(&(ex_skeleton_def){1, (int[]){-1}, &rest, NULL, NULL});
    const ex_skeleton *const skeletons[] = {NULL, one, one};
    static const int joints[] = {0, -1, 1};
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    for (int i = 0; i < 3; i++) {
        float matrix[12] = {5};
        const ex_transform found = ex_skeleton_rest(skeletons[i], joints[i]);
        assert_told("ex_skeleton_rest");
        assert_memory_equal(&found, &identical, sizeof found);
        assert_int_equal(ex_skeleton_parent(skeletons[i], joints[i]), -1), assert_told("ex_skeleton_parent");
        assert_string_equal(ex_skeleton_name(skeletons[i], joints[i]), ""), assert_told("ex_skeleton_name");
        ex_skeleton_inverse_bind(skeletons[i], joints[i], matrix), assert_told("ex_skeleton_inverse_bind");
        assert_true(matrix[0] == 5);
    }
    assert_int_equal(ex_skeleton_joint_count(NULL), 0), assert_told("ex_skeleton_joint_count");
    assert_int_equal(ex_skeleton_find(NULL, "elbow"), -1), assert_told("ex_skeleton_find");
    assert_int_equal(ex_skeleton_scratch_size(NULL), 0), assert_told("ex_skeleton_scratch_size");
    assert_true(ex_skeleton_scale(NULL) == 0), assert_told("ex_skeleton_scale");
    assert_int_equal(ex_skeleton_find(one, "elbow"), -1);
    assert_int_equal(misuses, 0);
    ex_set_misuse_hook(NULL);
    ex_skeleton_destroy(one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bent_elbow_by_hand),
        cmocka_unit_test(trees_agree_with_double),
        cmocka_unit_test(shifts_are_another_skeleton),
        cmocka_unit_test(shifts_follow_the_bind),
        cmocka_unit_test(no_numbers_read_as_rest),
        cmocka_unit_test(overflow_is_rest),
        cmocka_unit_test(wrong_definitions_are_refused),
        cmocka_unit_test(one_allocation_and_it_may_fail),
        cmocka_unit_test(the_longest_chain),
        cmocka_unit_test(rest_of_rest),
        cmocka_unit_test(nearly_unit_rotations_stay),
        cmocka_unit_test(joints_out_of_range_are_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

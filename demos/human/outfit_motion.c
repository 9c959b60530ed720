/*
 * The motions of the person of the demo `outfit`. To learn from, she walks and goes through her poses, as in her clips,
 * and then moves all her angles by waves, which meet in combinations that no clip has. The unseen motion has waves
 * alone.
 */
#include "demos/human/outfit.h"
#include "demos/human/person.h"
#include "demos/vector.h"

#include "common/array.h"

#include <exemplar/maths.h>

#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

/* ---- what she does when ---- */

enum { WAVES = OUTFIT_CLIPS };

#define FADE 0.5 /* seconds from one to the next */

/* Parts of the training motion: when they begin to fade in, in seconds, and how fast they run. */
static const struct {
    int what;
    double begin, speed;
} parts[] = {{OUTFIT_WALK, -2, 1}, {OUTFIT_POSES, 2, 1.5}, {WAVES, 7.6, 1.2}};
enum { PARTS = sizeof parts / sizeof *parts };

const int exi_outfit_frame_counts[GARMENT_MOTIONS] = {250, 60};

/* ---- waves ---- */

typedef enum wave { TURN, BOW, TWIST, LEAN, LOOK, RAISE, REACH, FOLD } wave;

/* A turn of a joint: about x, y or z of the room (0 to 2), or about the joint's own x, by which it bends
 * (EXI_PERSON_BEND). Degrees: the middle and the range to either side. `sided`: for the left joint; the right one is
 * its mirror image. */
static const struct {
    const char *joint;
    bool sided;
    int axis;
    wave by;
    double middle, swing;
} table[] = {
    {"root", false, 1, TURN, 0, 60},         {"spine04", false, 0, BOW, 4, 9},
    {"spine02", false, 0, BOW, 3, 7},        {"spine03", false, 1, TWIST, 0, 12},
    {"spine01", false, 1, TWIST, 0, 10},     {"spine04", false, 2, LEAN, 0, 6},
    {"spine02", false, 2, LEAN, 0, 5},       {"neck01", false, 1, LOOK, 0, 15},
    {"clavicle", true, 2, RAISE, 0, 4},      {"upperarm01", true, 2, RAISE, -14, 22},
    {"upperarm01", true, 1, REACH, -10, 22}, {"lowerarm01", true, EXI_PERSON_BEND, FOLD, 24, 22},
};
enum { TURNS = sizeof table / sizeof *table };

#define TOGETHER 0.35 /* fraction of the arms' motion that both do together */
#define UNSEEN   0.85 /* range of the unseen motion: within the training range, as in practice */
#define STRIDES  0.8  /* per second */

/* Each leg in turn swings forwards and lifts its foot. */
static void step(const exi_outfit_body *b, double seconds) {
    for (int right = 0; right < 2; right++) {
        const char *side = right ? ".R" : ".L";
        double sine, cosine;
        ex_sin_cos(2 * PI * STRIDES * seconds + (right ? PI : 0), &sine, &cosine);
        exi_person_turn(b->person, "upperleg01", side, 0, -(6 + 24 * sine));
        exi_person_turn(b->person, "lowerleg01", side, EXI_PERSON_BEND, 14 + 26 * (cosine > 0 ? cosine * cosine : 0));
    }
}

static void wave_joints(const exi_outfit_body *b, unsigned seed, double wide, double seconds) {
    ex_rig_rest_pose(b->person->rig, &b->person->pose);
    for (unsigned i = 0; i < TURNS; i++)
        for (int right = 0; right < (table[i].sided ? 2 : 1); right++) {
            const double own = exi_garment_wave(seed, 50 + 2 * (unsigned)table[i].by + (unsigned)right, seconds);
            const double both = exi_garment_wave(seed, (unsigned)table[i].by, seconds);
            const double swing = wide * (table[i].sided ? TOGETHER * both + (1 - TOGETHER) * own : both);
            const double angle = table[i].middle + table[i].swing * swing;
            const bool mirrored = right && (table[i].axis == 1 || table[i].axis == 2);
            exi_person_turn(b->person, table[i].joint, table[i].sided ? (right ? ".R" : ".L") : "", table[i].axis,
                            mirrored ? -angle : angle);
        }
    step(b, seconds);
    for (int c = 0; c < 3; c++)
        b->person->pose.joints[0].translation[c] += (float)(0.15 * exi_garment_wave(seed, 100 + (unsigned)c, seconds));
}

/* ---- clips ---- */

/* Poses the joints as a clip does, which repeats if it is the walk and else holds its ends. */
static void play(const exi_outfit_body *b, int clip, double seconds) {
    const ex_motion *motion = b->clips[clip];
    const double length = motion->times[motion->pose_count - 1];
    int i = 0;
    if (clip == OUTFIT_WALK)
        seconds -= floor(seconds / length) * length;
    while (i + 2 < motion->pose_count && motion->times[i + 1] < seconds)
        i++;
    double t = (seconds - motion->times[i]) / (motion->times[i + 1] - motion->times[i]);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (int j = 0; j < ex_rig_joint_count(b->person->rig); j++)
        b->person->pose.joints[j] =
            ex_transform_interpolate(&motion->poses[i].joints[j], &motion->poses[i + 1].joints[j], t);
}

/* Moves all joints of the pose a part of the way from b->other. */
static void blend(const exi_outfit_body *b, double t) {
    for (int j = 0; t < 1 && j < ex_rig_joint_count(b->person->rig); j++)
        b->person->pose.joints[j] = ex_transform_interpolate(&b->other[j], &b->person->pose.joints[j], t);
}

static void keep(const exi_outfit_body *b) {
    for (int j = 0; j < ex_rig_joint_count(b->person->rig); j++)
        b->other[j] = b->person->pose.joints[j];
}

static double ease(double t) {
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

/* The parts of the training motion follow each other. */
static void train(const exi_outfit_body *b, double seconds) {
    for (int i = 0; i < PARTS && (i == 0 || seconds > parts[i].begin); i++) {
        const double since = seconds - parts[i].begin;
        if (i + 1 < PARTS && seconds >= parts[i + 1].begin + FADE)
            continue;
        keep(b);
        if (parts[i].what == WAVES)
            wave_joints(b, 5, 1, parts[i].speed * since);
        else
            play(b, parts[i].what, parts[i].speed * since);
        blend(b, ease(since / FADE));
    }
}

void exi_outfit_pose(const exi_garment *garment, exi_garment_motion motion, double seconds, double part,
                     double *positions) {
    const exi_outfit_body *b = garment->body;
    ex_rig_rest_pose(b->person->rig, &b->person->pose);
    if (motion == GARMENT_TRAINING)
        train(b, seconds);
    else if (motion == GARMENT_UNSEEN)
        wave_joints(b, 42, UNSEEN, seconds);
    else
        wave_joints(b, 1000 + (unsigned)motion, 1, seconds * exi_garment_speed(motion));
    for (int j = 0; j < ex_rig_joint_count(b->person->rig); j++)
        b->other[j] = ex_skeleton_rest(ex_rig_skeleton(b->person->rig), j);
    blend(b, part);
    exi_person_evaluate(b->person);
    for (int i = 0; i < 3 * ex_rig_vertex_count(b->person->rig); i++)
        positions[i] = (double)b->person->positions[i];
}

/* ---- the body ---- */

void exi_outfit_body_close(void *body) {
    exi_outfit_body *b = body;
    if (!b)
        return;
    for (int i = 0; i < OUTFIT_CLIPS; i++)
        ex_motion_destroy(b->clips[i]);
    exi_person_close(b->person);
    free(b->other);
    free(b->places);
    free(b);
}

/* Joints come after their parents. */
static void find_places(exi_outfit_body *b) {
    const ex_skeleton *skeleton = ex_rig_skeleton(b->person->rig);
    for (int j = 0; j < ex_skeleton_joint_count(skeleton); j++) {
        const ex_transform rest = ex_skeleton_rest(skeleton, j);
        const int parent = ex_skeleton_parent(skeleton, j);
        double place[4] = {(double)rest.translation[0], (double)rest.translation[1], (double)rest.translation[2], 0};
        if (parent >= 0) {
            const double *turn = b->person->axes[parent], back[4] = {-turn[0], -turn[1], -turn[2], turn[3]};
            quaternion_multiply(turn, place, place);
            quaternion_multiply(place, back, place);
        }
        for (int c = 0; c < 3; c++)
            b->places[j][c] = place[c] + (parent >= 0 ? b->places[parent][c] : 0);
    }
}

ex_result exi_outfit_body_open(exi_outfit_body **opened, ex_error *error) {
    static const char *const names[OUTFIT_CLIPS] = {"walk", "poses"};
    exi_outfit_body *b = *opened = calloc(1, sizeof *b);
    if (!b)
        return ex_error_memory(error, "a body", sizeof *b);
    ex_result result = exi_person_open(&b->person, error);
    for (int i = 0; result == EX_OK && i < OUTFIT_CLIPS; i++)
        result = ex_rig_motion(b->person->rig, &(ex_motion_options){.clip = names[i], .fps = 2 * GARMENT_FPS},
                               &b->clips[i], error);
    if (result != EX_OK)
        return result;
    const size_t joints = (size_t)ex_rig_joint_count(b->person->rig);
    b->other = array_allocate(joints, sizeof *b->other);
    b->places = array_allocate(joints, sizeof *b->places);
    if (!b->other || !b->places)
        return ex_error_memory(error, "a body", 0);
    find_places(b);
    return EX_OK;
}

/*
 * The demo `outfit`: a loose shirt and wide trousers, simulated on the person of the demo `human`, who walks on the
 * spot, turns, bows and moves her arms. The driver is the person's own mesh, vertex for vertex, so that any motion of
 * hers, baked to a cache, moves the clothes. One motion is for learning, the other for testing.
 */
#include "demos/garment/dress.h"
#include "demos/garment/garment.h"
#include "demos/human/person.h"
#include "demos/vector.h"

#include "common/array.h"

#include <exemplar/author/mesh.h>
#include <exemplar/maths.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { TRAINING_FRAMES = 200, UNSEEN_FRAMES = 75 };

/* Metres between the person and her clothes as they are cut, and at least. The shirt hangs over the trousers. */
#define SHIRT_ROOM    0.026
#define SHIRT_GAP     0.016
#define TROUSERS_ROOM 0.010
#define TROUSERS_GAP  0.005

typedef enum wave { TURN, BOW, TWIST, LEAN, LOOK, RAISE, REACH, FOLD } wave;

/* A turn of a joint: about x, y or z of the room (0 to 2), or about the joint's own x, by which it bends (BEND).
 * Degrees: the middle and the range to either side. `sided`: for the left joint; the right one is its mirror image. */
enum { BEND = 3 };
static const struct {
    const char *joint;
    bool sided;
    int axis;
    wave by;
    double middle, swing;
} table[] = {
    {"root", false, 1, TURN, 0, 60},         {"spine04", false, 0, BOW, 4, 10},
    {"spine02", false, 0, BOW, 3, 8},        {"spine03", false, 1, TWIST, 0, 12},
    {"spine01", false, 1, TWIST, 0, 10},     {"spine04", false, 2, LEAN, 0, 7},
    {"spine02", false, 2, LEAN, 0, 6},       {"neck01", false, 1, LOOK, 0, 15},
    {"clavicle", true, 2, RAISE, 1, 6},      {"upperarm01", true, 2, RAISE, -8, 30},
    {"upperarm01", true, 1, REACH, -14, 26}, {"lowerarm01", true, BEND, FOLD, 28, 26},
};
enum { TURNS = sizeof table / sizeof *table };

#define TOGETHER 0.35 /* fraction of the arms' motion that both do together */
#define UNSEEN   0.85 /* range of the unseen motion: within the training range, as in practice */
#define STRIDES  0.8  /* per second */

typedef struct body {
    ex_rig *rig;
    ex_pose pose;
    void *scratch;
    float *positions;
    double (*axes)[4]; /* [joint_count]: rotations of the joints at rest, in the room */
} body;

/* ---- posing ---- */

static void turn_joint(const body *b, const char *name, const char *side, int axis, double degrees) {
    char whole[32];
    double sine, cosine, turn[4] = {0}, back[4];
    snprintf(whole, sizeof whole, "%s%s", name, side);
    const int joint = ex_skeleton_find(ex_rig_skeleton(b->rig), whole);
    float *rotation = b->pose.joints[joint].rotation;
    const double before[4] = {(double)rotation[0], (double)rotation[1], (double)rotation[2], (double)rotation[3]};
    ex_sin_cos(degrees * PI / 360, &sine, &cosine);
    turn[axis == BEND ? 0 : axis] = sine;
    turn[3] = cosine;
    if (axis != BEND) { /* the same turn in the joint's own axes */
        for (int c = 0; c < 4; c++)
            back[c] = c < 3 ? -b->axes[joint][c] : b->axes[joint][c];
        quaternion_multiply(back, turn, turn);
        quaternion_multiply(turn, b->axes[joint], turn);
    }
    quaternion_multiply(before, turn, turn);
    for (int c = 0; c < 4; c++)
        rotation[c] = (float)turn[c];
}

/* Each leg in turn swings forwards and lifts its foot. */
static void walk(const body *b, double seconds, double part) {
    for (int right = 0; right < 2; right++) {
        const char *side = right ? ".R" : ".L";
        double sine, cosine;
        ex_sin_cos(2 * PI * STRIDES * seconds + (right ? PI : 0), &sine, &cosine);
        turn_joint(b, "upperleg01", side, 0, -part * (6 + 24 * sine));
        turn_joint(b, "lowerleg01", side, BEND, part * (14 + 26 * (cosine > 0 ? cosine * cosine : 0)));
    }
}

static void pose(const exi_garment *garment, exi_garment_motion motion, double seconds, double part,
                 double *positions) {
    const body *b = garment->body;
    const unsigned seed = motion == GARMENT_TRAINING ? 5 : motion == GARMENT_UNSEEN ? 42 : 1000 + (unsigned)motion;
    const double wide = motion == GARMENT_UNSEEN ? UNSEEN : 1;
    if (motion >= GARMENT_MOTIONS)
        seconds *= exi_garment_speed(motion);
    ex_rig_rest_pose(b->rig, &b->pose);
    for (unsigned i = 0; i < TURNS; i++)
        for (int right = 0; right < (table[i].sided ? 2 : 1); right++) {
            const double own = exi_garment_wave(seed, 50 + 2 * (unsigned)table[i].by + (unsigned)right, seconds);
            const double both = exi_garment_wave(seed, (unsigned)table[i].by, seconds);
            const double swing = wide * (table[i].sided ? TOGETHER * both + (1 - TOGETHER) * own : both);
            const double angle = part * (table[i].middle + table[i].swing * swing);
            const bool mirrored = right && (table[i].axis == 1 || table[i].axis == 2);
            turn_joint(b, table[i].joint, table[i].sided ? (right ? ".R" : ".L") : "", table[i].axis,
                       mirrored ? -angle : angle);
        }
    walk(b, seconds, part);
    for (int c = 0; c < 3; c++)
        b->pose.joints[0].translation[c] += (float)(part * 0.15 * exi_garment_wave(seed, 100 + (unsigned)c, seconds));
    ex_rig_evaluate(b->rig, &b->pose, &(ex_output){.positions = b->positions}, NULL, b->scratch);
    for (int i = 0; i < 3 * ex_rig_vertex_count(b->rig); i++)
        positions[i] = (double)b->positions[i];
}

static void release(void *data) {
    body *b = data;
    if (!b)
        return;
    ex_rig_destroy(b->rig);
    free(b->pose.inputs);
    free(b->scratch);
    free(b->positions);
    free(b->axes);
    free(b);
}

/* Joints come after their parents. */
static void find_axes(body *b) {
    const ex_skeleton *skeleton = ex_rig_skeleton(b->rig);
    for (int j = 0; j < ex_skeleton_joint_count(skeleton); j++) {
        const ex_transform rest = ex_skeleton_rest(skeleton, j);
        const int parent = ex_skeleton_parent(skeleton, j);
        for (int c = 0; c < 4; c++)
            b->axes[j][c] = (double)rest.rotation[c];
        if (parent >= 0)
            quaternion_multiply(b->axes[parent], b->axes[j], b->axes[j]);
    }
}

static ex_result open_body(body **opened, ex_error *error) {
    body *b = *opened = calloc(1, sizeof *b);
    if (!b)
        return ex_error_memory(error, "a body", sizeof *b);
    const ex_result result = exi_person_rig(&b->rig, error);
    if (result != EX_OK)
        return result;
    b->pose = ex_pose_create(b->rig);
    b->scratch = malloc(ex_rig_scratch_size(b->rig, NULL, 1));
    b->positions = array_allocate(3 * (size_t)ex_rig_vertex_count(b->rig), sizeof *b->positions);
    b->axes = array_allocate((size_t)ex_rig_joint_count(b->rig), sizeof *b->axes);
    if (!b->pose.inputs || !b->scratch || !b->positions || !b->axes)
        return ex_error_memory(error, "a body", 0);
    find_axes(b);
    return EX_OK;
}

/* ---- the clothes ---- */

/* A garment over what the person wears, refined once. */
static ex_result sew(const ex_mesh *person, const char *group, double room, ex_mesh **garment, ex_error *error) {
    exi_dress_def def = exi_dress_def_default();
    ex_subdivide_def twice = ex_subdivide_def_default();
    ex_subdivision *subdivision = NULL;
    ex_mesh *coarse = NULL;
    bool *worn = array_allocate((size_t)person->face_count, sizeof *worn);
    if (!worn)
        return ex_error_memory(error, "a garment", (size_t)person->face_count);
    memset(worn, 0, (size_t)person->face_count * sizeof *worn);
    exi_dress_group(person, group, worn);
    def.body = person;
    def.worn = worn;
    def.room = room;
    twice.scheme = EX_SCHEME_LOOP;
    twice.levels = 1;
    ex_result result = exi_dress_make(&def, &coarse, error);
    if (result == EX_OK)
        result = ex_mesh_subdivide(coarse, &twice, &subdivision, error);
    if (result == EX_OK)
        result = ex_subdivision_mesh(subdivision, coarse, 1, garment, error);
    ex_subdivision_destroy(subdivision);
    ex_mesh_destroy(coarse);
    free(worn);
    return result;
}

/* Joins two meshes of triangles, each in its own colour. NULL if out of memory. */
static ex_mesh *join(const ex_mesh *const parts[2], const float colours[2][3]) {
    ex_mesh *mesh = ex_mesh_create();
    const size_t vertices = (size_t)parts[0]->vertex_count + (size_t)parts[1]->vertex_count,
                 faces = (size_t)parts[0]->face_count + (size_t)parts[1]->face_count;
    if (!mesh)
        return NULL;
    mesh->positions = array_allocate(3 * vertices, sizeof *mesh->positions);
    mesh->colours = array_allocate(3 * vertices, sizeof *mesh->colours);
    mesh->corners = array_allocate(3 * faces, sizeof *mesh->corners);
    mesh->face_offsets = array_allocate(faces + 1, sizeof *mesh->face_offsets);
    if (!mesh->positions || !mesh->colours || !mesh->corners || !mesh->face_offsets) {
        ex_mesh_destroy(mesh);
        return NULL;
    }
    for (int p = 0; p < 2; p++) {
        const ex_mesh *part = parts[p];
        memcpy(mesh->positions + 3 * (size_t)mesh->vertex_count, part->positions,
               3 * (size_t)part->vertex_count * sizeof *part->positions);
        for (int v = 0; v < part->vertex_count; v++)
            memcpy(mesh->colours + 3 * (size_t)(mesh->vertex_count + v), colours[p], sizeof colours[p]);
        for (int c = 0; c < part->corner_count; c++)
            mesh->corners[mesh->corner_count + c] = mesh->vertex_count + part->corners[c];
        mesh->vertex_count += part->vertex_count;
        mesh->face_count += part->face_count;
        mesh->corner_count += part->corner_count;
    }
    for (int f = 0; f <= mesh->face_count; f++)
        mesh->face_offsets[f] = 3 * f;
    return mesh;
}

/* Shirt and trousers as one mesh. A collar and a waistband hold them up. */
static ex_result dress(const ex_mesh *person, exi_garment *garment, ex_error *error) {
    static const float colours[2][3] = {{0.62F, 0.30F, 0.22F}, {0.20F, 0.23F, 0.30F}};
    ex_mesh *parts[2] = {NULL, NULL};
    ex_result result = sew(person, "shirt", SHIRT_ROOM, &parts[0], error);
    if (result == EX_OK)
        result = sew(person, "trousers", TROUSERS_ROOM, &parts[1], error);
    if (result == EX_OK) {
        garment->driven = join((const ex_mesh *const[]){parts[0], parts[1]}, colours);
        const size_t count = (size_t)parts[0]->vertex_count + (size_t)parts[1]->vertex_count;
        garment->pinned = array_allocate(count, sizeof *garment->pinned);
        garment->gaps = array_allocate(count, sizeof *garment->gaps);
        for (size_t v = 0; garment->gaps && v < count; v++)
            garment->gaps[v] = v < (size_t)parts[0]->vertex_count ? SHIRT_GAP : TROUSERS_GAP;
        if (!garment->driven || !garment->pinned || !garment->gaps || exi_dress_top(parts[0], garment->pinned) < 0 ||
            exi_dress_top(parts[1], garment->pinned + parts[0]->vertex_count) < 0)
            result = ex_error_memory(error, "the clothes", 0);
    }
    ex_mesh_destroy(parts[0]);
    ex_mesh_destroy(parts[1]);
    return result;
}

/* Leaves faces of skin, shirt and trousers, and all vertices: cloth does not catch in hair. */
static void leave_body(ex_mesh *person) {
    int faces = 0, corners = 0;
    for (int f = 0; f < person->face_count; f++) {
        const int begin = person->face_offsets[f], end = person->face_offsets[f + 1];
        const char *name = person->group_names[person->face_groups[f]];
        if (strcmp(name, "skin") != 0 && strcmp(name, "shirt") != 0 && strcmp(name, "trousers") != 0)
            continue;
        person->face_groups[faces] = person->face_groups[f];
        person->face_offsets[faces++] = corners;
        for (int c = begin; c < end; c++)
            person->corners[corners++] = person->corners[c];
    }
    person->face_offsets[faces] = corners;
    person->face_count = faces;
    person->corner_count = corners;
    free(person->corner_texcoords);
    free(person->corner_normals);
    free(person->face_materials);
    person->corner_texcoords = person->corner_normals = person->face_materials = NULL;
    person->texcoord_count = person->normal_count = 0;
}

ex_result exi_outfit_make(exi_garment *garment, ex_error *error) {
    body *b = NULL;
    ex_mesh *person = NULL;
    *garment = (exi_garment){.name = "outfit",
                             .key_count = 16,
                             .part_count = 32,
                             .frame_counts = {TRAINING_FRAMES, UNSEEN_FRAMES},
                             .cloth = exi_cloth_def_default(),
                             .pose = pose,
                             .release = release};
    garment->cloth.substeps = 20;
    garment->cloth.thickness = TROUSERS_GAP;
    garment->cloth.bend = 2e-5;
    garment->cloth.bent = 0.4;
    garment->cloth.friction = 0.6;
    garment->cloth.drag = 10;
    ex_result result = open_body(&b, error);
    garment->body = b;
    if (result == EX_OK)
        result = ex_rig_to_mesh(b->rig, NULL, &person, error);
    if (result == EX_OK) {
        leave_body(person);
        garment->driver = exi_dress_triangles(person);
        result = garment->driver ? dress(person, garment, error) : ex_error_memory(error, "the person", 0);
    }
    ex_mesh_destroy(person);
    return result;
}

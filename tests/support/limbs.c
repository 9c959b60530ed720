#include "support/limbs.h"

#include "author/mesh/rig_mesh.h"
#include "author/project/model/refinement.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void *must(void *memory) {
    if (!memory)
        fail_msg("no memory for a test");
    return memory;
}

/* ---- rigs ---- */

ex_rig *limb_rig_of(ex_mesh *cage, const ex_skeleton *skeleton, const ex_skin *skin, int levels) {
    ex_error error;
    exi_rig_mesh made = {0};
    exi_refinement refinement;
    ex_subdivide_def subdivide = ex_subdivide_def_default();
    subdivide.levels = levels;
    subdivide.limit = true;
    if (exi_rig_mesh_make(cage, &made, &error) != EX_OK ||
        exi_refinement_make(cage, &made, &subdivide, &refinement, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_rig_def def = ex_rig_def_default();
    def.mesh = made.mesh;
    def.notes = made.notes;
    def.note_count = made.note_count;
    def.skeleton = skeleton;
    def.skin = skin;
    def.skinning = EX_SKINNING_DUAL_QUATERNION;
    def.stencils = refinement.subdivision->stencils;
    def.levels = refinement.levels;
    ex_rig *rig;
    if (ex_rig_create(&def, NULL, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    exi_refinement_free(&refinement);
    exi_rig_mesh_free(&made);
    return rig;
}

static void add_quads(ex_mesh *mesh, int rows, int columns, int across) {
    mesh->face_count = rows * columns;
    mesh->corner_count = 4 * mesh->face_count;
    mesh->face_offsets = must(malloc((size_t)(mesh->face_count + 1) * sizeof(int)));
    mesh->corners = must(malloc((size_t)mesh->corner_count * sizeof(int)));
    mesh->face_offsets[0] = 0;
    for (int r = 0, f = 0; r < rows; r++)
        for (int c = 0; c < columns; c++, f++) {
            const int next = (c + 1) % across;
            const int quad[4] = {r * across + c, (r + 1) * across + c, (r + 1) * across + next, r * across + next};
            memcpy(mesh->corners + 4 * f, quad, sizeof quad);
            mesh->face_offsets[f + 1] = 4 * (f + 1);
        }
}

ex_mesh *limb_sheet(int squares, double size) {
    ex_mesh *mesh = must(ex_mesh_create());
    const int across = squares + 1;
    mesh->vertex_count = across * across;
    mesh->positions = must(malloc(3 * (size_t)mesh->vertex_count * sizeof(double)));
    for (int r = 0; r < across; r++)
        for (int c = 0; c < across; c++) {
            const double place[3] = {size * r / squares, size * c / squares, 0};
            memcpy(mesh->positions + 3 * (size_t)(r * across + c), place, sizeof place);
        }
    add_quads(mesh, squares, squares, across);
    return mesh;
}

ex_rig *limb_sheet_rig(int squares, double size, int levels) {
    ex_mesh *sheet = limb_sheet(squares, size);
    ex_rig *rig = limb_rig_of(sheet, NULL, NULL, levels);
    ex_mesh_destroy(sheet);
    return rig;
}

/* ---- the limb ---- */

static const double length = 0.6, thickness = 0.05;

ex_mesh *limb_cage(void) {
    ex_mesh *mesh = must(ex_mesh_create());
    mesh->vertex_count = LIMB_RINGS * LIMB_SIDES;
    mesh->positions = must(malloc(3 * (size_t)mesh->vertex_count * sizeof(double)));
    for (int r = 0; r < LIMB_RINGS; r++)
        for (int s = 0; s < LIMB_SIDES; s++) {
            const double turn = 6.283185307179586 * s / LIMB_SIDES;
            const double place[3] = {length * r / (LIMB_RINGS - 1), thickness * cos(turn), -thickness * sin(turn)};
            memcpy(mesh->positions + 3 * (size_t)(r * LIMB_SIDES + s), place, sizeof place);
        }
    add_quads(mesh, LIMB_RINGS - 1, LIMB_SIDES, LIMB_SIDES);
    mesh->group_count = 2;
    mesh->group_names = must(malloc(2 * sizeof(char *)));
    mesh->group_names[0] = strcpy(must(malloc(16)), "upper");
    mesh->group_names[1] = strcpy(must(malloc(16)), "fore");
    mesh->face_groups = must(malloc((size_t)mesh->face_count * sizeof(int)));
    for (int f = 0; f < mesh->face_count; f++)
        mesh->face_groups[f] = f / LIMB_SIDES >= (LIMB_RINGS - 1) / 2;
    return mesh;
}

static const ex_transform shoulder = {.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
static const ex_transform elbow = {.translation = {0.3F, 0, 0}, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};

ex_rig *limb_rig(const ex_mesh *cage, int levels) {
    uint32_t starts[LIMB_RINGS * LIMB_SIDES + 1], joints[2 * LIMB_RINGS * LIMB_SIDES];
    float weights[2 * LIMB_RINGS * LIMB_SIDES];
    starts[0] = 0;
    for (uint32_t v = 0; v < LIMB_RINGS * LIMB_SIDES; v++) {
        const int ring = (int)v / LIMB_SIDES - (LIMB_RINGS - 1) / 2;
        for (uint32_t k = 0; k < 2; k++) {
            joints[2 * v + k] = k;
            weights[2 * v + k] = ring == 0 ? 0.5F : (ring > 0) == (k == 1);
        }
        starts[v + 1] = 2 * v + 2;
    }
    const ex_transform rest[LIMB_JOINTS] = {shoulder, elbow};
    static const int parents[LIMB_JOINTS] = {-1, 0};
    static const char *const names[LIMB_JOINTS] = {"upper", "fore"};
    ex_error error;
    ex_skeleton *skeleton;
    ex_skin *skin = NULL;
    if (ex_skeleton_create(&(ex_skeleton_def){LIMB_JOINTS, parents, rest, NULL, names}, NULL, &skeleton, &error) !=
            EX_OK ||
        ex_skin_create(&(ex_skin_def){LIMB_RINGS * LIMB_SIDES, LIMB_JOINTS, starts, joints, weights}, NULL, &skin,
                       &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh *copy = must(ex_mesh_copy(cage));
    ex_rig *rig = limb_rig_of(copy, skeleton, skin, levels);
    ex_mesh_destroy(copy);
    ex_skin_destroy(skin);
    ex_skeleton_destroy(skeleton);
    return rig;
}

void limb_bend(double degrees, ex_transform *joints) {
    const double half = degrees / 2 * 0.017453292519943295;
    joints[0] = shoulder;
    joints[1] = elbow;
    joints[1].rotation[2] = (float)sin(half);
    joints[1].rotation[3] = (float)cos(half);
}

/* ---- bodies ---- */

void limb_surface(const ex_rig *rig, const ex_transform *joints, float **positions, float **normals) {
    const size_t count = 3 * (size_t)ex_rig_level_vertex_count(rig, EX_LEVEL_LIMIT);
    const ex_evaluation evaluation = {.level = EX_LEVEL_LIMIT};
    ex_transform own[LIMB_JOINTS];
    void *scratch = must(malloc(ex_rig_scratch_size(rig, &evaluation, 1)));
    *positions = must(malloc(count * sizeof **positions));
    *normals = must(malloc(count * sizeof **normals));
    if (joints)
        memcpy(own, joints, sizeof own);
    ex_rig_evaluate(rig, &(ex_pose){.joints = joints ? own : NULL},
                    &(ex_output){.positions = *positions, .normals = *normals}, &evaluation, scratch);
    free(scratch);
}

double limb_bumps(const float place[3], double height) {
    const double x = (double)place[0], y = (double)place[1], z = (double)place[2];
    return height * (0.6 * sin(40 * x + 1) * cos(25 * y) + 0.4 * sin(60 * z - 30 * x));
}

ex_mesh *limb_body(const ex_rig *rig, const ex_transform *joints, double height) {
    float *rest, *positions, *normals;
    ex_mesh *mesh;
    ex_error error;
    limb_surface(rig, NULL, &rest, &normals);
    free(normals);
    limb_surface(rig, joints, &positions, &normals);
    for (int v = 0; v < ex_rig_level_vertex_count(rig, EX_LEVEL_LIMIT); v++)
        for (int c = 0; c < 3; c++)
            positions[3 * v + c] += (float)limb_bumps(rest + 3 * v, height) * normals[3 * v + c];
    if (ex_rig_to_mesh(rig, &(ex_surface){.level = EX_LEVEL_LIMIT, .positions = positions}, &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    free(rest);
    free(positions);
    free(normals);
    return mesh;
}

ex_mesh *limb_cut(const ex_mesh *mesh, bool (*keep)(const double middle[3], void *user), void *user) {
    ex_mesh *cut = must(ex_mesh_copy(mesh));
    int faces = 0, corners = 0;
    for (int f = 0; f < mesh->face_count; f++) {
        const int first = mesh->face_offsets[f], count = mesh->face_offsets[f + 1] - first;
        double middle[3] = {0, 0, 0};
        for (int c = 0; c < count; c++)
            for (int k = 0; k < 3; k++)
                middle[k] += mesh->positions[3 * mesh->corners[first + c] + k] / count;
        if (!keep(middle, user))
            continue;
        memcpy(cut->corners + corners, mesh->corners + first, (size_t)count * sizeof(int));
        cut->face_offsets[faces++] = corners;
        corners += count;
    }
    cut->face_offsets[faces] = corners;
    cut->face_count = faces;
    cut->corner_count = corners;
    free(cut->face_groups);
    cut->face_groups = NULL;
    return cut;
}

ex_displacement_map *limb_map(const ex_rig *rig, double height) {
    float *positions, *normals;
    limb_surface(rig, NULL, &positions, &normals);
    ex_displacement_map *map = must(ex_displacement_map_create(ex_rig_level_vertex_count(rig, EX_LEVEL_LIMIT)));
    for (int v = 0; v < map->vertex_count; v++) {
        map->displacements[v] = (float)limb_bumps(positions + 3 * v, height);
        map->states[v] = EX_DISPLACEMENT_MAP_HIT;
    }
    free(positions);
    free(normals);
    return map;
}

/*
 * The other side of a body. Joints are paired by the skeleton. Rotations are mirrored in the neutral pose:
 * with F the frames of the reference there, p the joint above and S the mirror in x,
 *
 *     n = F_p^-1 q F_j,   n' = S n S,   q' = F_p' n' F_j'^-1,
 *
 * since the reference itself may stand in any pose. Vertices are paired by the faces of the cage, not by their places:
 * from one pair of faces, faces on the other side of each edge are paired, with their corners in the reverse order.
 * Of all pairs of faces that lead to a mirror of the whole cage, the one counts whose vertices are nearest to the
 * mirror images of each other. At the last level, the cage is first made symmetric, and then places decide.
 */
#include "author/base/array.h"
#include "author/mesh/half_edges.h"
#include "author/scan/build/body_build.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/project.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- joints ---- */

static int find_partner(const ex_kinematics *kinematics, int joint) {
    int found = kinematics->joints[joint].mirror;
    for (int i = 0; i < kinematics->joint_count && found < 0; i++)
        found = kinematics->joints[i].mirror == joint ? i : -1;
    return found;
}

/* The fit has no pairs if both sides were found for themselves; the session's skeleton still has them. */
int exi_body_other_joint(const exi_body *body, int joint) {
    const ex_kinematics *fitted = body->fitted->kinematics, *given = body->session->kinematics;
    const int found = find_partner(fitted, joint);
    if (found >= 0 || !given)
        return found >= 0 ? found : joint;
    const int same = ex_kinematics_find_joint(given, fitted->joints[joint].name);
    const int partner = same >= 0 ? find_partner(given, same) : -1;
    const int other = partner >= 0 ? ex_kinematics_find_joint(fitted, given->joints[partner].name) : -1;
    return other >= 0 ? other : joint;
}

void exi_body_mirror_rotation(const double q[4], double mirrored[4]) {
    mirrored[0] = q[0];
    mirrored[1] = -q[1];
    mirrored[2] = -q[2];
    mirrored[3] = q[3];
}

static void invert(const double q[4], double out[4]) {
    const double back[4] = {-q[0], -q[1], -q[2], q[3]};
    memcpy(out, back, sizeof back);
}

static const double *frame_of(const exi_body *body, int joint) {
    static const double none[4] = {0, 0, 0, 1};
    return joint < 0 || !body->frames ? none : body->frames[joint];
}

void exi_body_mirror_joint(const exi_body *body, int joint, const double q[4], double mirrored[4]) {
    const ex_kinematics *kinematics = body->fitted->kinematics;
    const int other = exi_body_other_joint(body, joint);
    double back[4], n[4], image[4];
    invert(frame_of(body, kinematics->joints[joint].parent), back);
    exi_quaternion_multiply(back, q, n);
    exi_quaternion_multiply(n, frame_of(body, joint), n);
    exi_body_mirror_rotation(n, image);
    invert(frame_of(body, other), back);
    exi_quaternion_multiply(frame_of(body, kinematics->joints[other].parent), image, n);
    exi_quaternion_multiply(n, back, mirrored);
}

ex_result exi_body_neutral(const exi_body *body, ex_transform *joints) {
    const ex_kinematics *kinematics = body->fitted->kinematics;
    double(*rotations)[4] = exi_array_allocate((size_t)kinematics->joint_count, sizeof *rotations);
    if (!rotations)
        return ex_error_memory(body->error, "a pose", 0);
    for (int j = 0; j < kinematics->joint_count; j++) {
        double back[4];
        invert(frame_of(body, j), back);
        exi_quaternion_multiply(frame_of(body, kinematics->joints[j].parent), back, rotations[j]);
    }
    ex_kin_pose pose = {.rotations = rotations};
    memcpy(pose.translation, kinematics->joints[0].translation, sizeof pose.translation);
    ex_template_pose(kinematics, &pose, joints);
    free(rotations);
    return EX_OK;
}

/* ---- faces ---- */

/* The number of faces, nearest to the mirror image of a face, that are tried as its partner. */
enum { TRIED = 48 };

typedef struct matcher {
    const ex_mesh *mesh;
    const float *places; /* of its vertices, in the neutral pose */
    double middle;       /* x of the plane */
    int *twins;          /* [corner_count] the corner at which the same edge begins in the next face; -1: none */
    int *faces;          /* [face_count] partner; -1: none yet */
    int *offsets;        /* [face_count] corner k of a face is corner (offset - k) of its partner */
    int *vertices;       /* [vertex_count] partner; -1: none yet */
    int *queue;          /* [face_count] */
    int *best;           /* [vertex_count] */
} matcher;

static int size_of(const ex_mesh *mesh, int face) {
    return mesh->face_offsets[face + 1] - mesh->face_offsets[face];
}

static int corner_at(const ex_mesh *mesh, int face, int k) {
    const int size = size_of(mesh, face);
    return mesh->face_offsets[face] + ((k % size) + size) % size;
}

static int vertex_at(const ex_mesh *mesh, int face, int k) {
    return mesh->corners[corner_at(mesh, face, k)];
}

/* owners [corner_count]: the face of each corner. */
static bool find_twins(const ex_mesh *mesh, int *twins, int *owners) {
    exi_half_edge *edges = exi_array_allocate((size_t)mesh->corner_count, sizeof *edges);
    if (!edges)
        return false;
    for (int f = 0; f < mesh->face_count; f++)
        for (int k = 0; k < size_of(mesh, f); k++) {
            const int corner = corner_at(mesh, f, k);
            edges[corner] = exi_half_edge_of(vertex_at(mesh, f, k), vertex_at(mesh, f, k + 1), corner);
            twins[corner] = -1;
            owners[corner] = f;
        }
    exi_half_edges_sort(edges, mesh->corner_count);
    for (int i = 0; i + 1 < mesh->corner_count; i++)
        if (edges[i].low == edges[i + 1].low && edges[i].high == edges[i + 1].high) {
            twins[edges[i].side] = edges[i + 1].side;
            twins[edges[i + 1].side] = edges[i].side;
        }
    free(edges);
    return true;
}

/* Pairs two faces, corner 0 of one with corner `offset` of the other; false: that contradicts another pair. */
static bool pair_faces(matcher *m, int face, int other, int offset) {
    const int size = size_of(m->mesh, face);
    if (m->faces[face] >= 0)
        return m->faces[face] == other && m->offsets[face] == offset;
    if (size_of(m->mesh, other) != size)
        return false;
    m->faces[face] = other;
    m->offsets[face] = offset;
    for (int k = 0; k < size; k++) {
        const int v = vertex_at(m->mesh, face, k), w = vertex_at(m->mesh, other, offset - k);
        if (m->vertices[v] >= 0 && m->vertices[v] != w)
            return false;
        m->vertices[v] = w;
    }
    return true;
}

/* Follows a pair of faces over all edges; false: the cage is not mirrored by it. */
static bool follow(matcher *m, const int *owners, int face, int other, int offset) {
    int done = 0, count = 0;
    if (!pair_faces(m, face, other, offset))
        return false;
    m->queue[count++] = face;
    while (done < count) {
        const int f = m->queue[done++], g = m->faces[f], turn = m->offsets[f];
        for (int k = 0; k < size_of(m->mesh, f); k++) {
            /* The edge from k to k + 1 is that from turn - k - 1 to turn - k there. */
            const int here = m->twins[corner_at(m->mesh, f, k)], there = m->twins[corner_at(m->mesh, g, turn - k - 1)];
            if ((here < 0) != (there < 0))
                return false;
            if (here < 0)
                continue;
            const int next = owners[here], image = owners[there], size = size_of(m->mesh, image);
            /* Corner `here` is vertex k + 1, and the one after `there` is its image. */
            const int from = here - m->mesh->face_offsets[next], to = there - m->mesh->face_offsets[image] + 1;
            const bool fresh = m->faces[next] < 0;
            if (!pair_faces(m, next, image, (from + to) % size))
                return false;
            if (fresh)
                m->queue[count++] = next;
        }
    }
    return true;
}

/* Returns the mean square distance of vertices from the images of their partners; INFINITY if those are not mutual. */
static double cost_of(const matcher *m) {
    double sum = 0;
    int count = 0;
    for (int v = 0; v < m->mesh->vertex_count; v++) {
        const int w = m->vertices[v];
        if (w < 0)
            continue;
        if (m->vertices[w] != v)
            return INFINITY;
        const float *a = m->places + 3 * (size_t)v, *b = m->places + 3 * (size_t)w;
        const double x = (double)a[0] + (double)b[0] - 2 * m->middle, y = (double)a[1] - (double)b[1];
        const double z = (double)a[2] - (double)b[2];
        sum += x * x + y * y + z * z;
        count++;
    }
    return count > 0 ? sum / count : INFINITY;
}

static double face_distance(const matcher *m, int face, int other) {
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        double middles[2] = {0};
        for (int i = 0; i < 2; i++) {
            const int f = i ? other : face;
            for (int k = 0; k < size_of(m->mesh, f); k++)
                middles[i] += (double)m->places[3 * (size_t)vertex_at(m->mesh, f, k) + (size_t)c] / size_of(m->mesh, f);
        }
        const double away = c == 0 ? middles[0] + middles[1] - 2 * m->middle : middles[0] - middles[1];
        sum += away * away;
    }
    return sum;
}

typedef struct candidate {
    int face;
    double distance;
} candidate;

static int compare_candidates(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    return x->distance != y->distance ? (x->distance > y->distance) - (x->distance < y->distance)
                                      : (x->face > y->face) - (x->face < y->face);
}

/* Finds the best partner of a face that has none, and everything that follows from it; false: there is none. */
static bool match_piece(matcher *m, const int *owners, int face, candidate *candidates, int *held_faces,
                        int *held_vertices) {
    const size_t faces = (size_t)m->mesh->face_count, vertices = (size_t)m->mesh->vertex_count;
    double least = INFINITY;
    memcpy(held_faces, m->faces, faces * sizeof *held_faces);
    memcpy(held_vertices, m->vertices, vertices * sizeof *held_vertices);
    for (int g = 0; g < m->mesh->face_count; g++)
        candidates[g] = (candidate){g, face_distance(m, face, g)};
    qsort(candidates, faces, sizeof *candidates, compare_candidates);
    for (int i = 0; i < TRIED && i < m->mesh->face_count; i++)
        for (int offset = 0; offset < size_of(m->mesh, candidates[i].face); offset++) {
            memcpy(m->faces, held_faces, faces * sizeof *held_faces);
            memcpy(m->vertices, held_vertices, vertices * sizeof *held_vertices);
            if (!follow(m, owners, face, candidates[i].face, offset))
                continue;
            const double cost = cost_of(m);
            if (cost < least) {
                least = cost;
                memcpy(m->best, m->vertices, vertices * sizeof *m->best);
            }
        }
    if (!isfinite(least))
        return false;
    memcpy(m->vertices, m->best, vertices * sizeof *m->best);
    for (int f = 0; f < m->mesh->face_count; f++) { /* all vertices of a piece are known, or none */
        if (m->vertices[vertex_at(m->mesh, f, 0)] >= 0)
            m->faces[f] = f;
    }
    return true;
}

/* partners [vertex_count] of the cage. */
static ex_result match_cage(const exi_body *body, const float *places, int *partners) {
    const ex_mesh *mesh = body->template.cage;
    const size_t faces = (size_t)mesh->face_count, corners = (size_t)mesh->corner_count;
    const size_t vertices = (size_t)mesh->vertex_count;
    int *numbers = exi_array_allocate(2 * corners + 4 * faces + 2 * vertices, sizeof *numbers);
    candidate *candidates = exi_array_allocate(faces, sizeof *candidates);
    matcher m = {.mesh = mesh,
                 .places = places,
                 .middle = body->fitted->kinematics->joints[0].translation[0],
                 .vertices = partners};
    ex_result result = EX_OK;
    if (numbers && candidates) {
        int *owners = numbers + corners, *held = numbers + 2 * corners + 3 * faces;
        m.twins = numbers;
        m.faces = numbers + 2 * corners;
        m.offsets = m.faces + faces;
        m.queue = m.offsets + faces;
        m.best = held + faces;
        for (size_t f = 0; f < faces; f++)
            m.faces[f] = -1;
        for (size_t v = 0; v < vertices; v++)
            partners[v] = -1;
        bool good = true;
        if (!find_twins(mesh, m.twins, owners))
            result = ex_error_memory(body->error, "the template's edges", corners * sizeof(exi_half_edge));
        for (int f = 0; f < mesh->face_count && good && result == EX_OK; f++)
            if (partners[vertex_at(mesh, f, 0)] < 0)
                good = match_piece(&m, owners, f, candidates, held, m.best + vertices);
        for (size_t v = 0; v < vertices && good && result == EX_OK; v++)
            partners[v] = partners[v] < 0 ? (int)v : partners[v]; /* in no face */
        if (!good)
            result = ex_error_set(body->error, EX_ERROR_DATA,
                                  "the template cannot be mirrored (\"mirror\": true in scan.json): the faces of its "
                                  "left and right half are not arranged alike; give a cage of two equal halves, or "
                                  "scan both sides and remove \"mirror\"");
    } else {
        result = ex_error_memory(body->error, "the template's edges", corners * sizeof *numbers);
    }
    free(numbers);
    free(candidates);
    return result;
}

/* ---- levels ---- */

/* Evaluates a rig at a level; joints NULL: at rest. */
static ex_result evaluate(const exi_body *body, const ex_rig *rig, int level, ex_transform *joints, float *places) {
    const ex_evaluation evaluation = {.level = level};
    const ex_output output = {.positions = places};
    void *scratch = malloc(ex_rig_scratch_size(rig, &evaluation, 1));
    if (!scratch)
        return ex_error_memory(body->error, "the template", 0);
    ex_rig_evaluate(rig, &(ex_pose){.joints = joints}, &output, &evaluation, scratch);
    free(scratch);
    return EX_OK;
}

/* Maps the last level, from a cage that is made symmetric. */
static ex_result map_level(exi_body *body, const float *places, const int *partners) {
    ex_template even = {.cage = ex_mesh_copy(body->template.cage), .scene = body->template.scene};
    ex_rig *rig = NULL;
    ex_mesh *mesh = NULL;
    const double middle = body->fitted->kinematics->joints[0].translation[0];
    float *fine = exi_array_allocate(3 * (size_t)body->vertex_count, sizeof *fine);
    ex_result result = even.cage && fine ? EX_OK : ex_error_memory(body->error, "the template", 0);
    for (int v = 0; result == EX_OK && v < even.cage->vertex_count; v++)
        for (int c = 0; c < 3; c++) {
            const double a = (double)places[3 * v + c], b = (double)places[3 * partners[v] + c];
            even.cage->positions[3 * v + c] = c == 0 ? middle + (a - b) / 2 : (a + b) / 2;
        }
    if (result == EX_OK)
        result = ex_template_rig(&even, body->level, &rig, body->error);
    if (result == EX_OK)
        result = evaluate(body, rig, body->level, NULL, fine);
    const ex_surface surface = {.level = body->level, .positions = fine};
    if (result == EX_OK)
        result = ex_rig_to_mesh(rig, &surface, &mesh, body->error);
    if (result == EX_OK)
        result = ex_error_within(body->error, ex_mesh_mirror_map(mesh, 0, middle, 1e-4, &body->mirror, body->error),
                                 "the template cannot be mirrored (\"mirror\": true in scan.json)");
    ex_mesh_destroy(mesh);
    ex_mesh_destroy(even.cage);
    ex_rig_destroy(rig);
    free(fine);
    return result;
}

ex_result exi_body_find_mirror(exi_body *body) {
    const size_t vertices = (size_t)body->template.cage->vertex_count;
    ex_transform *joints = exi_array_allocate((size_t)ex_rig_joint_count(body->rig), sizeof *joints);
    float *places = exi_array_allocate(3 * vertices, sizeof *places);
    int *partners = exi_array_allocate(vertices, sizeof *partners);
    ex_result result = joints && places && partners ? exi_body_neutral(body, joints)
                                                    : ex_error_memory(body->error, "the template", vertices * 12);
    if (result == EX_OK)
        result = evaluate(body, body->rig, 0, joints, places);
    if (result == EX_OK)
        result = match_cage(body, places, partners);
    if (result == EX_OK)
        result = map_level(body, places, partners);
    free(joints);
    free(places);
    free(partners);
    return result;
}

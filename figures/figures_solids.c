/*
 * figures/figures_solids.c - meshes for figure 3 about scanned bodies: a skeleton of balls, cones and bones, control
 * points, and a smooth surface as a checkerboard of patches, one per face of its cage.
 */
#include "figures_body.h"

#include "common/array.h"
#include "demos/demos.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* A mesh that grows by complete solids; memory is allocated beforehand. */
typedef struct solids {
    ex_mesh *mesh, *ball;
    bool good;
} solids;

enum { BALL_LEVELS = 2, STEPS = 12 };

static solids solids_open(int vertices, int corners, int faces) {
    solids s = {.mesh = ex_mesh_create(), .ball = exi_demo_sphere(BALL_LEVELS)};
    if (s.mesh && s.ball) {
        s.mesh->positions = array_allocate((size_t)vertices, 3 * sizeof *s.mesh->positions);
        s.mesh->colours = array_allocate((size_t)vertices, 3 * sizeof *s.mesh->colours);
        s.mesh->corners = array_allocate((size_t)corners, sizeof *s.mesh->corners);
        s.mesh->face_offsets = array_allocate((size_t)faces + 1, sizeof *s.mesh->face_offsets);
        s.good = s.mesh->positions && s.mesh->colours && s.mesh->corners && s.mesh->face_offsets;
    }
    if (s.good)
        s.mesh->face_offsets[0] = 0;
    return s;
}

/* Returns the mesh, or NULL. */
static ex_mesh *solids_close(solids *s) {
    ex_mesh_destroy(s->ball);
    if (s->good)
        return s->mesh;
    ex_mesh_destroy(s->mesh);
    return NULL;
}

static int add_point(solids *s, const double p[3], const double colour[3]) {
    const size_t v = (size_t)s->mesh->vertex_count++;
    for (size_t c = 0; c < 3; c++) {
        s->mesh->positions[3 * v + c] = p[c];
        s->mesh->colours[3 * v + c] = (float)colour[c];
    }
    return (int)v;
}

static void add_face(solids *s, const int *corners, int count) {
    memcpy(s->mesh->corners + s->mesh->corner_count, corners, (size_t)count * sizeof *corners);
    s->mesh->corner_count += count;
    s->mesh->face_offsets[++s->mesh->face_count] = s->mesh->corner_count;
}

static void add_ball(solids *s, const double at[3], double radius, const double colour[3]) {
    const int first = s->mesh->vertex_count;
    for (int v = 0; v < s->ball->vertex_count; v++) {
        double p[3];
        for (int c = 0; c < 3; c++)
            p[c] = at[c] + radius * s->ball->positions[3 * v + c];
        add_point(s, p, colour);
    }
    for (int f = 0; f < s->ball->face_count; f++) {
        const int *from = s->ball->corners + 3 * f, corners[3] = {first + from[0], first + from[1], first + from[2]};
        add_face(s, corners, 3);
    }
}

/* Adds a cone from a circle about a to one about b, with flat ends. */
static void add_cone(solids *s, const double a[3], const double b[3], double radius_a, double radius_b,
                     const double colour[3]) {
    double along[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, across[3], up[3];
    const double length = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
    if (length < 1e-9)
        return;
    int small = 0;
    for (int c = 0; c < 3; c++) {
        along[c] /= length;
        small = fabs(along[c]) < fabs(along[small]) ? c : small;
    }
    double dot = along[small], norm = sqrt(1 - dot * dot);
    for (int c = 0; c < 3; c++)
        across[c] = ((c == small) - dot * along[c]) / norm;
    for (int c = 0; c < 3; c++)
        up[c] = along[(c + 1) % 3] * across[(c + 2) % 3] - along[(c + 2) % 3] * across[(c + 1) % 3];
    int ends[2][STEPS];
    const int first = s->mesh->vertex_count;
    for (int i = 0; i < STEPS; i++) {
        const double x = cos(2 * pi * i / STEPS), y = sin(2 * pi * i / STEPS);
        double p[2][3];
        for (int c = 0; c < 3; c++) {
            p[0][c] = a[c] + radius_a * (x * across[c] + y * up[c]);
            p[1][c] = b[c] + radius_b * (x * across[c] + y * up[c]);
        }
        for (int end = 0; end < 2; end++)
            ends[end ? 1 : 0][end ? i : STEPS - 1 - i] = add_point(s, p[end], colour);
    }
    for (int i = 0; i < STEPS; i++) {
        const int next = (i + 1) % STEPS;
        add_face(s, (const int[4]){first + 2 * i, first + 2 * next, first + 2 * next + 1, first + 2 * i + 1}, 4);
    }
    add_face(s, ends[0], STEPS);
    add_face(s, ends[1], STEPS);
}

/* ---- the skeleton ---- */

static const double bone_colour[3] = {0.80, 0.78, 0.72}, ball_colour[3] = {0.30, 0.48, 0.66},
                    hinge_colour[3] = {0.85, 0.50, 0.20};

ex_mesh *exi_scanned_skeleton(const exi_scanned *scanned) {
    const ex_kinematics *k = scanned->fitted->kinematics;
    double(*places)[3] = array_allocate((size_t)k->joint_count, sizeof *places);
    double(*rest)[4] = array_allocate((size_t)k->joint_count, sizeof *rest);
    const int solid_count = 3 * k->joint_count + k->site_count;
    solids s = solids_open(solid_count * 170, solid_count * 1000, solid_count * 330);
    s.good = s.good && places && rest;
    if (s.good) {
        ex_kin_pose pose = {.rotations = rest};
        for (int j = 0; j < k->joint_count; j++)
            memcpy(rest[j], (const double[4]){0, 0, 0, 1}, sizeof rest[j]);
        memcpy(pose.translation, k->joints[0].translation, sizeof pose.translation);
        ex_kin_frames(k, &pose, NULL, places);
        for (int j = 0; j < k->joint_count; j++) {
            const ex_kin_joint *joint = &k->joints[j];
            double ends[2][3];
            if (joint->parent >= 0)
                add_cone(&s, places[joint->parent], places[j], 0.011, 0.006, bone_colour);
            for (int c = 0; c < 3; c++) {
                ends[0][c] = places[j][c] - 0.028 * joint->axis[c];
                ends[1][c] = places[j][c] + 0.028 * joint->axis[c];
            }
            if (joint->freedom == EX_FREEDOM_HINGE)
                add_cone(&s, ends[0], ends[1], 0.02, 0.003, hinge_colour);
            else
                add_ball(&s, places[j], 0.024, ball_colour);
        }
        for (int i = 0; i < k->site_count; i++) {
            const ex_site *site = &k->sites[i];
            double at[3], colour[3];
            for (int c = 0; c < 3; c++) {
                at[c] = places[site->joint][c] + site->local[c];
                colour[c] = site->colour[c] / 255.0;
            }
            if (site->placed)
                add_ball(&s, at, 0.006, colour);
        }
    }
    free(places);
    free(rest);
    return solids_close(&s);
}

/* ---- the cage ---- */

static const double light[3] = {0.86, 0.84, 0.80}, dark[3] = {0.52, 0.60, 0.68}, red[3] = {0.80, 0.22, 0.18};

/* One of two colours for each face, so that faces with a common edge differ wherever possible: assigned from one face
 * to its neighbours and on. NULL if out of memory. */
static unsigned char *two_colours(const ex_mesh *cage) {
    const int count = cage->face_count;
    unsigned char *colours = calloc((size_t)count + 1, 1);
    int *queue = array_allocate((size_t)count + 1, sizeof *queue);
    for (int start = 0; colours && queue && start < count; start++) {
        int head = 0, tail = 0;
        if (colours[start])
            continue;
        colours[start] = 1;
        queue[tail++] = start;
        while (head < tail) {
            const int face = queue[head++];
            for (int other = 0; other < count; other++) {
                int common = 0;
                for (int a = cage->face_offsets[face]; a < cage->face_offsets[face + 1] && !colours[other]; a++)
                    for (int b = cage->face_offsets[other]; b < cage->face_offsets[other + 1]; b++)
                        common += cage->corners[a] == cage->corners[b];
                if (common == 2) {
                    colours[other] = (unsigned char)(3 - colours[face]);
                    queue[tail++] = other;
                }
            }
        }
    }
    free(queue);
    if (!colours || !queue) {
        free(colours);
        return NULL;
    }
    return colours;
}

/* Faces of one colour share their vertices, so that they are smooth; those of the other have separate vertices with
 * nearly the same normals, so that borders are sharp. */
ex_mesh *exi_scanned_checkerboard(const exi_scanned *scanned, const ex_mesh *cage, int level, const float *positions) {
    unsigned char *colours = two_colours(cage);
    ex_mesh *mesh = NULL;
    const ex_surface surface = {.level = level, .positions = positions};
    if (colours && ex_rig_to_mesh(scanned->rig, &surface, &mesh, NULL) == EX_OK) {
        const size_t count = (size_t)mesh->vertex_count;
        double *places = array_allocate(2 * count, 3 * sizeof *places);
        mesh->colours = array_allocate(2 * count, 3 * sizeof *mesh->colours);
        if (places && mesh->colours) {
            for (size_t i = 0; i < 6 * count; i++) {
                places[i] = mesh->positions[i % (3 * count)];
                mesh->colours[i] = (float)(i < 3 * count ? light : dark)[i % 3];
            }
            free(mesh->positions);
            mesh->positions = places;
            mesh->vertex_count = 2 * (int)count;
            /* The first level has one face per corner of the cage, every further level four per face, in that order. */
            for (int face = 0, patch = 0; face < mesh->face_count; face++) {
                const int corner = level > 0 ? face >> 2 * (level - 1) : cage->face_offsets[face];
                while (corner >= cage->face_offsets[patch + 1])
                    patch++;
                for (int c = mesh->face_offsets[face]; colours[patch] == 2 && c < mesh->face_offsets[face + 1]; c++)
                    mesh->corners[c] += (int)count;
            }
        } else {
            free(places);
            ex_mesh_destroy(mesh);
            mesh = NULL;
        }
    }
    free(colours);
    return mesh;
}

ex_mesh *exi_scanned_control(const exi_scanned *scanned, const ex_mesh *cage) {
    unsigned char *colours = two_colours(cage);
    const int corners = cage->corner_count, points = cage->vertex_count;
    (void)scanned;
    solids s = solids_open(corners + points * 170, corners + points * 1000, cage->face_count + points * 330);
    s.good = s.good && colours;
    for (int face = 0; s.good && face < cage->face_count; face++) {
        int own[64], count = 0;
        for (int c = cage->face_offsets[face]; c < cage->face_offsets[face + 1] && count < 64; c++)
            own[count++] =
                add_point(&s, cage->positions + 3 * (size_t)cage->corners[c], colours[face] == 2 ? dark : light);
        add_face(&s, own, count);
    }
    for (int v = 0; s.good && v < points; v++)
        add_ball(&s, cage->positions + 3 * (size_t)v, 0.006, red);
    free(colours);
    return solids_close(&s);
}

/*
 * Carries a template person to the scans of a session (ex_scan_carry).
 *
 * 1. The reference. Landmarks have places on the template. Of markers only the bone is known: the mean of a bone's
 *    markers is near the middle of the bone's skin. Figure and pose follow from these and the surface, then the
 * template is registered. Now every marker of the reference has a place on the template.
 * 2. Some scans together with the reference: the figure, from several poses.
 * 3. Every other scan: its pose, then registration. It starts from the person as the reference shows them, un-posed by
 *    skinning and posed again, so that hands and face are already theirs.
 */
#include "author/base/arena.h"
#include "author/base/array.h"
#include "author/base/progress.h"
#include "author/scan/fit/fit.h"
#include "author/scan/human/human.h"
#include "author/scan/session/session.h"
#include "author/scan/template/template.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
#include <exemplar/settle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Scans that determine the figure together; least number of things to start from. */
enum { TOGETHER = 8, START_LEAST = 6 };
/* Metres. Landmarks are where a person clicked; markers on skin that slides; means of a bone's markers only roughly in
 * its middle. While a template is posed, and while it is registered. */
static const double landmark_sigma = 0.015, marker_sigma = 0.01, bone_sigma = 0.03;
static const double landmark_hold = 0.01, marker_hold = 0.003;
/* A marker of the reference farther from the template than this is not on the person. */
static const double marker_reach = 0.03;
/* A scan does not fit if the posed template is farther from it than this many times the median of all, or than this. */
static const double worse_times = 2.5, worse_least = 0.012, reference_most = 0.03, seen_least = 0.3;
/* Nor does a person: landmarks this far (rms) from the template's, or a figure of this many standard deviations. */
static const double points_most = 0.025, figure_most = 5;
/* Hands and feet keep their form: scans hardly show fingers. */
static const float stiff_ends = 8;

/* A named point of a scan. */
typedef struct named {
    int name;
    double at[3];
} named;

/* A name: a landmark, or a marker. */
typedef struct place {
    char *name;
    int joint;     /* of the template, of a marker; -1: unknown */
    bool landmark; /* clicked */
    bool known;    /* true if it has a place on the template */
    ex_register_anchor anchor;
} place;

typedef struct one {
    int scan;
    named *points;
    int count;
    size_t capacity;
    ex_kin_pose pose;
    bool posed;
    ex_carried_scan *report;
} one;

typedef struct work {
    const ex_scan_session *session;
    const ex_scan_carry_options *options;
    double sure;
    exi_human *human;
    exi_arena arena;
    int vertex_count, joint_count;
    place *places;
    int place_count;
    size_t place_capacity;
    one *ones; /* [session->scan_count] */
    int one_count, reference;
    double *figure;
    double (*rest)[3], (*joints)[3]; /* of the figure; rest: of the person once the reference is registered */
    double (*rotations)[9], (*posed)[3];
    float *matching, *stiffness; /* [vertex_count] */
    ex_mesh *mesh;               /* the template where a registration starts */
    ex_scan_carried *report;
    ex_error *error;
} work;

static ex_result no_memory(const work *w) {
    return ex_error_memory(w->error, "carrying the template", (size_t)w->vertex_count * 64);
}

/* ---- named points ---- */

static int find_place(const work *w, const char *name) {
    for (int i = 0; i < w->place_count; i++)
        if (strcmp(w->places[i].name, name) == 0)
            return i;
    return -1;
}

static int add_place(work *w, const char *name, bool landmark) {
    int found = find_place(w, name);
    if (found >= 0)
        return found;
    place *grown = exi_array_grow(w->places, &w->place_capacity, (size_t)w->place_count + 1, sizeof *grown);
    if (!grown)
        return -1;
    w->places = grown;
    place *p = &grown[w->place_count];
    *p = (place){.name = exi_arena_text(&w->arena, name), .joint = -1, .landmark = landmark};
    const int vertex = landmark ? exi_human_find(w->human, name) : -1;
    const int site = landmark ? -1 : ex_kinematics_find_site(w->session->kinematics, name);
    if (vertex >= 0) {
        p->known = true;
        p->anchor = (ex_register_anchor){.vertices = {vertex}, .shares = {1}};
    }
    if (site >= 0)
        p->joint = ex_kinematics_find_joint(
            w->human->kinematics, w->session->kinematics->joints[w->session->kinematics->sites[site].joint].name);
    return p->name ? w->place_count++ : -1;
}

static ex_result add_point(work *w, one *o, const char *name, bool landmark, const double at[3]) {
    named *grown = exi_array_grow(o->points, &o->capacity, (size_t)o->count + 1, sizeof *grown);
    const int number = grown ? add_place(w, name, landmark) : -1;
    o->points = grown ? grown : o->points;
    if (number < 0)
        return no_memory(w);
    o->points[o->count].name = number;
    memcpy(o->points[o->count++].at, at, 3 * sizeof *at);
    return EX_OK;
}

/* Labels that are not markers of the session are named; landmarks may have any name. */
static ex_result read_points(work *w, one *o, const char *kind, bool landmark) {
    char *path = ex_scan_path(w->session, kind, w->session->scans[o->scan].name, ".csv");
    ex_labelled *labelled = NULL;
    int count = 0;
    ex_result result = path ? EX_OK : no_memory(w);
    if (result == EX_OK && exi_scan_is_there(path))
        result = ex_labels_read(path, &labelled, &count, w->error);
    for (int i = 0; i < count && result == EX_OK; i++) {
        if (labelled[i].confidence < w->sure)
            continue;
        if (!landmark && ex_kinematics_find_site(w->session->kinematics, labelled[i].name) < 0)
            result =
                ex_error_set(w->error, EX_ERROR_DATA, "%s: the session has no marker '%s'", path, labelled[i].name);
        else
            result = add_point(w, o, labelled[i].name, landmark, labelled[i].position);
    }
    ex_labels_free(labelled, count);
    free(path);
    return result;
}

static ex_result read_all_points(work *w) {
    ex_result result = EX_OK;
    w->reference = -1;
    for (int i = 0; i < w->session->scan_count && result == EX_OK; i++) {
        one *o = &w->ones[w->one_count];
        *o = (one){.scan = i};
        result = read_points(w, o, "landmarks", true);
        if (result == EX_OK)
            result = read_points(w, o, "labels", false);
        if (o->count == 0)
            continue;
        w->reference = i == w->session->reference ? w->one_count : w->reference;
        w->one_count++;
    }
    return result;
}

/* ---- what each scan starts from ---- */

/* The middle of a bone's skin in the rest form; false if no vertex belongs to it. */
static bool bone_middle(const work *w, int joint, double middle[3]) {
    double sum[3] = {0}, total = 0;
    for (int v = 0; v < w->vertex_count; v++)
        for (int i = 0; i < EXI_HUMAN_INFLUENCES; i++) {
            const double weight = (double)w->human->weights[(size_t)v * EXI_HUMAN_INFLUENCES + (size_t)i];
            if (w->human->joints[(size_t)v * EXI_HUMAN_INFLUENCES + (size_t)i] != joint || weight < 0.5)
                continue;
            for (int c = 0; c < 3; c++)
                sum[c] += w->human->mesh->positions[3 * v + c];
            total++;
        }
    for (int c = 0; c < 3; c++)
        middle[c] = total > 0 ? sum[c] / total : 0;
    return total > 0;
}

/* Means of markers of each bone, which have no places yet. */
static int find_bone_points(const work *w, const one *o, exi_bone_point *points) {
    int count = 0;
    for (int j = 0; j < w->joint_count; j++) {
        exi_bone_point p = {.joint = j, .sigma = bone_sigma};
        int seen = 0;
        for (int i = 0; i < o->count; i++) {
            const place *from = &w->places[o->points[i].name];
            if (from->known || from->joint != j)
                continue;
            for (int c = 0; c < 3; c++)
                p.target[c] += o->points[i].at[c];
            seen++;
        }
        for (int c = 0; c < 3; c++)
            p.target[c] /= seen > 0 ? seen : 1;
        if (seen >= 2 && bone_middle(w, j, p.at))
            points[count++] = p;
    }
    return count;
}

static int find_anchors(const work *w, const one *o, bool to_register, ex_register_anchor *anchors) {
    int count = 0;
    for (int i = 0; i < o->count; i++) {
        const place *from = &w->places[o->points[i].name];
        if (!from->known)
            continue;
        ex_register_anchor *a = &anchors[count++];
        *a = from->anchor;
        memcpy(a->target, o->points[i].at, sizeof a->target);
        a->sigma = to_register ? (from->landmark ? landmark_hold : marker_hold)
                               : (from->landmark ? landmark_sigma : marker_sigma);
    }
    return count;
}

/* All that a scan is fitted to, and its memory. */
typedef struct input {
    exi_human_scan scan;
    ex_mesh **meshes;
    ex_register_anchor *anchors;
    exi_bone_point *bone_points;
} input;

static ex_result open_input(work *w, one *o, input *in) {
    const ex_scan_entry *entry = &w->session->scans[o->scan];
    *in = (input){.anchors = exi_array_allocate((size_t)o->count, sizeof *in->anchors),
                  .bone_points = exi_array_allocate((size_t)w->joint_count, sizeof *in->bone_points)};
    if (!in->anchors || !in->bone_points)
        return no_memory(w);
    const ex_result result = ex_scan_meshes(w->session, o->scan, &in->meshes, w->error);
    in->scan = (exi_human_scan){.meshes = (const ex_mesh *const *)in->meshes,
                                .mesh_count = in->meshes ? entry->file_count : 0,
                                .anchors = in->anchors,
                                .anchor_count = find_anchors(w, o, false, in->anchors),
                                .bone_points = in->bone_points,
                                .bone_point_count = find_bone_points(w, o, in->bone_points),
                                .pose = o->pose};
    return result;
}

static void close_input(const work *w, const one *o, input *in) {
    for (int i = 0; in->meshes && i < w->session->scans[o->scan].file_count; i++)
        ex_mesh_destroy(in->meshes[i]);
    free(in->meshes);
    free(in->anchors);
    free(in->bone_points);
}

/* Not turned, with the hips in the middle of the points; or as in scan.json. */
static ex_result set_start(work *w, one *o) {
    const ex_scan_entry *entry = &w->session->scans[o->scan];
    o->pose.rotations = exi_arena_allocate(&w->arena, (size_t)w->joint_count, sizeof *o->pose.rotations);
    if (!o->pose.rotations)
        return no_memory(w);
    for (int j = 0; j < w->joint_count; j++) {
        const int given =
            entry->posed ? ex_kinematics_find_joint(w->session->kinematics, w->human->kinematics->joints[j].name) : -1;
        const double none[4] = {0, 0, 0, 1};
        memcpy(o->pose.rotations[j], given >= 0 ? entry->pose.rotations[given] : none, sizeof none);
    }
    for (int i = 0; i < o->count; i++)
        for (int c = 0; c < 3; c++)
            o->pose.translation[c] += o->points[i].at[c] / o->count;
    return EX_OK;
}

/* ---- the outside ---- */

/* Vertices that face other skin closely on all sides, as in the mouth, are never seen. */
static ex_result find_outside(work *w) {
    const size_t count = (size_t)w->vertex_count;
    float *positions = exi_array_allocate(3 * count, sizeof *positions);
    uint32_t *triangles = NULL;
    int *corners = NULL, triangle_count = 0;
    ex_tree *tree = NULL;
    void *memory = NULL;
    ex_result result =
        positions ? ex_mesh_triangulate(w->human->mesh, &corners, &triangle_count, w->error) : no_memory(w);
    if (result == EX_OK) {
        triangles = exi_array_allocate(3 * (size_t)triangle_count, sizeof *triangles);
        result = triangles ? EX_OK : no_memory(w);
    }
    for (size_t i = 0; result == EX_OK && i < 3 * count; i++)
        positions[i] = (float)w->human->mesh->positions[i];
    for (int i = 0; result == EX_OK && i < 3 * triangle_count; i++)
        triangles[i] = (uint32_t)w->human->mesh->corners[corners[i]];
    if (result == EX_OK) {
        const ex_tree_def def = {.vertex_count = w->vertex_count,
                                 .positions = positions,
                                 .triangle_count = triangle_count,
                                 .triangles = triangles};
        result = ex_tree_create(&def, NULL, &tree, w->error);
    }
    if (result == EX_OK) {
        memory = malloc(ex_bounds_size(tree));
        result = memory ? EX_OK : no_memory(w);
    }
    if (result == EX_OK) {
        const ex_bounds *bounds = ex_bounds_fit(tree, positions, 0, memory, NULL);
        double(*normals)[3] = exi_array_allocate(count, sizeof *normals);
        result = normals ? EX_OK : no_memory(w);
        if (normals)
            exi_human_normals(w->human, (const double(*)[3])(const void *)w->human->mesh->positions, normals);
        for (size_t v = 0; normals && v < count; v++) {
            int open = 0;
            for (int k = 0; k < 13; k++) { /* along the normal, and on two cones around it */
                double across[2][3], angle = 1.0471975511965976 * (k % 6), tilt = k == 0 ? 0 : k < 7 ? 0.5 : 1.1;
                exi_fit_across(normals[v], across);
                ex_ray ray = {.t_min = 0.002F, .t_max = 0.5F};
                for (int c = 0; c < 3; c++) {
                    ray.origin[c] = positions[3 * v + (size_t)c];
                    ray.direction[c] =
                        (float)(normals[v][c] + tilt * (cos(angle) * across[0][c] + sin(angle) * across[1][c]));
                }
                open += !ex_bounds_blocked(bounds, &ray);
            }
            w->matching[v] = open >= 2 ? 1 : 0;
        }
        free(normals);
    }
    ex_tree_destroy(tree);
    free(memory);
    free(corners);
    free(triangles);
    free(positions);
    return result;
}

static void set_stiffness(work *w) {
    for (int v = 0; v < w->vertex_count; v++) {
        double ends = 0;
        for (int i = 0; i < EXI_HUMAN_INFLUENCES; i++) {
            const size_t at = (size_t)v * EXI_HUMAN_INFLUENCES + (size_t)i;
            bool end = true; /* the joint is the last of its limb */
            for (int j = 0; j < w->joint_count; j++)
                end = end && w->human->kinematics->joints[j].parent != w->human->joints[at];
            if (end && strcmp(w->human->kinematics->joints[w->human->joints[at]].name, "head") != 0)
                ends += (double)w->human->weights[at];
        }
        w->stiffness[v] = 1 + (stiff_ends - 1) * (float)ends;
    }
}

/* ---- one scan ---- */

static void pose_rest(work *w, const ex_kin_pose *pose, double (*vertices)[3]) {
    exi_human_frames(w->human, (const double(*)[3])w->joints, pose, w->rotations, w->posed);
    exi_human_skin(w->human, (const double(*)[3])w->rest, (const double(*)[3])w->joints,
                   (const double(*)[9])w->rotations, (const double(*)[3])w->posed, vertices);
}

static ex_result register_one(work *w, one *o, const input *in, ex_registered **registered) {
    ex_register_def def = ex_register_def_default();
    pose_rest(w, &o->pose, (double(*)[3])(void *)w->mesh->positions);
    def.mesh = w->mesh;
    def.scans = in->scan.meshes;
    def.scan_count = in->scan.mesh_count;
    def.anchors = in->anchors;
    def.anchor_count = find_anchors(w, o, true, in->anchors);
    def.stiffness = w->stiffness;
    def.matching = w->matching;
    def.noise = w->session->noise;
    def.tasks = w->options->tasks;
    const ex_result result = ex_register(&def, registered, w->error);
    if (result != EX_OK)
        return ex_error_within(w->error, result, "scan '%s'", w->session->scans[o->scan].name);
    int outside = 0, seen = 0;
    for (int v = 0; v < w->vertex_count; v++) {
        outside += w->matching[v] > 0;
        seen += w->matching[v] > 0 && (*registered)->confidences[v] > 0.1F;
    }
    o->report->anchor_count = def.anchor_count;
    o->report->anchor_rms = (*registered)->anchor_rms;
    o->report->rms = (*registered)->rms;
    o->report->seen = outside > 0 ? (double)seen / outside : 0;
    o->report->flipped_count = (*registered)->flipped_count;
    return EX_OK;
}

static ex_result write_registered(work *w, const one *o, const ex_registered *registered) {
    char *path = ex_scan_path(w->session, "registered", w->session->scans[o->scan].name, ".ply");
    ex_mesh *mesh = path ? ex_mesh_copy(w->mesh) : NULL;
    ex_result result = mesh ? EX_OK : no_memory(w);
    if (mesh) {
        const size_t numbers = 3 * (size_t)w->vertex_count;
        memcpy(mesh->positions, registered->vertices, numbers * sizeof *mesh->positions);
        free(mesh->colours);
        mesh->colours = exi_array_allocate(numbers, sizeof *mesh->colours);
        result = mesh->colours ? EX_OK : no_memory(w);
        for (size_t i = 0; mesh->colours && i < numbers; i++)
            mesh->colours[i] = registered->confidences[i / 3];
    }
    if (result == EX_OK)
        result = ex_mesh_write(path, mesh, w->error);
    ex_mesh_destroy(mesh);
    free(path);
    return result;
}

/* Solves m x = b; false if m is nearly singular: skin that collapses. */
static bool solve(const double m[9], const double b[3], double x[3]) {
    double c[3][3];
    for (int i = 0; i < 3; i++)
        exi_cross(m + 3 * ((i + 1) % 3), m + 3 * ((i + 2) % 3), c[i]);
    const double det = exi_dot3(m, c[0]);
    for (int i = 0; i < 3; i++)
        x[i] = (b[0] * c[0][i] + b[1] * c[1][i] + b[2] * c[2][i]) / det;
    return fabs(det) > 0.05;
}

/* Un-poses the registered reference, where it was seen, and makes it the person. */
static void take_person(work *w, const one *o, const ex_registered *registered) {
    exi_human_frames(w->human, (const double(*)[3])w->joints, &o->pose, w->rotations, w->posed);
    for (int v = 0; v < w->vertex_count; v++) {
        double m[9] = {0}, shift[3] = {0}, d[3], x[3];
        for (int i = 0; i < EXI_HUMAN_INFLUENCES; i++) {
            const size_t at = (size_t)v * EXI_HUMAN_INFLUENCES + (size_t)i;
            const double weight = (double)w->human->weights[at], *r = w->rotations[w->human->joints[at]];
            const double *from = w->joints[w->human->joints[at]], *to = w->posed[w->human->joints[at]];
            for (int k = 0; k < 9; k++)
                m[k] += weight * r[k];
            for (int c = 0; c < 3; c++)
                shift[c] += weight * (to[c] - r[3 * c] * from[0] - r[3 * c + 1] * from[1] - r[3 * c + 2] * from[2]);
        }
        exi_subtract(registered->vertices[v], shift, d);
        if (!solve(m, d, x))
            continue;
        const double share = (double)registered->confidences[v];
        for (int c = 0; c < 3; c++)
            w->rest[v][c] += share * (x[c] - w->rest[v][c]);
    }
}

/* Gives places to markers that a registered scan shows, and that have none yet. */
static ex_result place_markers(work *w, const one *o, const ex_registered *registered) {
    ex_result result = EX_OK;
    memcpy(w->mesh->positions, registered->vertices, 3 * (size_t)w->vertex_count * sizeof *w->mesh->positions);
    for (int i = 0; i < o->count && result == EX_OK; i++) {
        place *to = &w->places[o->points[i].name];
        ex_register_anchor anchor;
        double off[3] = {0};
        if (to->known)
            continue;
        result = ex_register_anchor_find(w->mesh, o->points[i].at, o->points[i].at, &anchor, w->error);
        for (int k = 0; result == EX_OK && k < 3; k++)
            for (int c = 0; c < 3; c++)
                off[c] += anchor.shares[k] * registered->vertices[anchor.vertices[k]][c];
        exi_subtract(off, o->points[i].at, off);
        if (result != EX_OK || exi_dot3(off, off) > marker_reach * marker_reach)
            continue;
        to->anchor = anchor;
        to->known = true;
    }
    return result;
}

/* ---- the session ---- */

static ex_result fit_inputs(work *w, one *const *ones, input *inputs, int count, bool lock) {
    exi_human_scan *scans = exi_array_allocate((size_t)count, sizeof *scans);
    ex_result result = scans ? EX_OK : no_memory(w);
    for (int i = 0; scans && i < count; i++)
        scans[i] = inputs[i].scan;
    if (result == EX_OK)
        result = exi_human_fit(w->human, scans, count, w->figure, lock, NULL, w->options->tasks, w->error);
    for (int i = 0; result == EX_OK && i < count; i++) {
        ones[i]->pose = scans[i].pose;
        ones[i]->posed = true;
        ones[i]->report->figure_rms = scans[i].rms;
    }
    free(scans);
    return result;
}

/* Measures how far landmarks and markers with places are from where the posed template has them. If they are too far
 * together for any person, returns the number of the worst; else -1. */
static int find_wrong_point(work *w, const one *o, double *off) {
    double squares = 0, most = 0;
    int worst = -1, count = 0;
    pose_rest(w, &o->pose, (double(*)[3])(void *)w->mesh->positions);
    for (int i = 0; i < o->count; i++) {
        const place *p = &w->places[o->points[i].name];
        double d[3] = {-o->points[i].at[0], -o->points[i].at[1], -o->points[i].at[2]};
        if (!p->known)
            continue;
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                d[c] += p->anchor.shares[k] * w->mesh->positions[3 * p->anchor.vertices[k] + c];
        const double square = exi_dot3(d, d);
        squares += square;
        count++;
        worst = square > most ? i : worst;
        most = square > most ? square : most;
    }
    *off = sqrt(most);
    return count > 0 && sqrt(squares / count) > points_most ? worst : -1;
}

static ex_result check_reference(work *w, const one *o) {
    const char *name = w->session->scans[o->scan].name;
    double off = 0;
    const int wrong = find_wrong_point(w, o, &off);
    if (wrong >= 0)
        return ex_error_set(w->error, EX_ERROR_DATA,
                            "the reference scan '%s': '%s' is %.0f mm from where a person with the other landmarks has "
                            "it; look whether it is in the right place, whether left and right are exchanged, and at "
                            "the unit and the up axis",
                            name, w->places[o->points[wrong].name].name, 1000 * off);
    for (int k = 0; k < w->human->figure_count; k++)
        if (!(fabs(w->figure[k]) < figure_most))
            return ex_error_set(w->error, EX_ERROR_DATA,
                                "the reference scan '%s' is no person: its figure is %.0f standard deviations from the "
                                "usual one; look at its landmarks, labels, unit and up axis",
                                name, fabs(w->figure[k]));
    if (!(o->report->figure_rms < reference_most))
        return ex_error_set(w->error, EX_ERROR_DATA,
                            "the reference scan '%s' is %.0f mm (rms) from every person that the template can be: look "
                            "at its landmarks, its labels, its unit and which way is up",
                            name, 1000 * o->report->figure_rms);
    return EX_OK;
}

static ex_result do_reference(work *w) {
    one *o = &w->ones[w->reference];
    const char *name = w->session->scans[o->scan].name;
    input in = {0};
    ex_registered *registered = NULL;
    ex_result result = set_start(w, o);
    if (result == EX_OK)
        result = open_input(w, o, &in);
    if (result == EX_OK && in.scan.anchor_count + in.scan.bone_point_count < START_LEAST)
        result =
            ex_error_set(w->error, EX_ERROR_DATA,
                         "the reference scan '%s' has %d landmarks and %d bones with two named markers: at least %d "
                         "of them are needed; click landmarks, or name more markers",
                         name, in.scan.anchor_count, in.scan.bone_point_count, START_LEAST);
    if (result == EX_OK)
        result = fit_inputs(w, &o, &in, 1, false);
    exi_human_figure(w->human, w->figure, w->rest, w->joints);
    if (result == EX_OK)
        result = check_reference(w, o);
    if (result == EX_OK)
        result = register_one(w, o, &in, &registered);
    if (result == EX_OK)
        result = place_markers(w, o, registered);
    ex_registered_destroy(registered);
    close_input(w, o, &in);
    return result;
}

/* Fits the figure to the reference and a few others, spread over the list. */
static ex_result do_together(work *w) {
    one *chosen[TOGETHER];
    input inputs[TOGETHER];
    int count = 0;
    ex_result result = EX_OK;
    memset(inputs, 0, sizeof inputs);
    chosen[count++] = &w->ones[w->reference];
    for (int k = 0; k < TOGETHER - 1 && w->one_count > 1; k++) {
        const int i = w->one_count <= TOGETHER ? k + 1 : (int)((double)(k + 1) * w->one_count / TOGETHER);
        const int other = (w->reference + i) % w->one_count;
        if (i < w->one_count && other != w->reference && (count == 0 || chosen[count - 1] != &w->ones[other]))
            chosen[count++] = &w->ones[other];
    }
    for (int i = 0; i < count && result == EX_OK; i++) {
        if (i > 0)
            result = set_start(w, chosen[i]);
        if (result == EX_OK)
            result = open_input(w, chosen[i], &inputs[i]);
    }
    if (result == EX_OK)
        result = fit_inputs(w, chosen, inputs, count, false);
    for (int i = 0; i < count; i++)
        close_input(w, chosen[i], &inputs[i]);
    exi_human_figure(w->human, w->figure, w->rest, w->joints);
    return result;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_figure_rms(const work *w) {
    double values[TOGETHER * 64];
    int count = 0;
    for (int i = 0; i < w->one_count && count < TOGETHER * 64; i++)
        if (w->ones[i].posed)
            values[count++] = w->ones[i].report->figure_rms;
    qsort(values, (size_t)count, sizeof *values, compare);
    return count > 0 ? values[count / 2] : 0;
}

static ex_result do_one(work *w, one *o) {
    input in = {0};
    ex_registered *registered = NULL;
    ex_carried_scan *r = o->report;
    ex_result result = o->posed ? EX_OK : set_start(w, o);
    if (result == EX_OK)
        result = open_input(w, o, &in);
    if (result == EX_OK && !o->posed)
        result = fit_inputs(w, &o, &in, 1, true);
    const double usual = median_figure_rms(w),
                 most = worse_times * usual > worse_least ? worse_times * usual : worse_least;
    if (result == EX_OK && (r->figure_rms > most || in.scan.anchor_count + in.scan.bone_point_count < 3)) {
        r->left_out = true;
        if (r->figure_rms > most)
            snprintf(r->reason, sizeof r->reason,
                     "it is %.0f mm (rms) from the person of the others, who are %.0f mm from theirs",
                     1000 * r->figure_rms, 1000 * usual);
        else
            snprintf(r->reason, sizeof r->reason,
                     "it has fewer than three landmarks or markers that the reference has");
    }
    if (result == EX_OK && !r->left_out)
        result = register_one(w, o, &in, &registered);
    if (result == EX_OK && !r->left_out && r->seen < seen_least) {
        r->left_out = true;
        snprintf(r->reason, sizeof r->reason, "only %.0f %% of the body could be found on it", 100 * r->seen);
    }
    if (result == EX_OK && !r->left_out && o == &w->ones[w->reference])
        take_person(w, o, registered);
    if (result == EX_OK && !r->left_out)
        result = write_registered(w, o, registered);
    if (result == EX_OK && !r->left_out)
        result = place_markers(w, o, registered);
    ex_registered_destroy(registered);
    close_input(w, o, &in);
    return result;
}

/* ---- files ---- */

static ex_kinematics *person_kinematics(const work *w) {
    ex_kinematics *k = ex_kinematics_copy(w->human->kinematics);
    for (int j = 0; k && j < k->joint_count; j++)
        for (int c = 0; c < 3; c++)
            k->joints[j].translation[c] =
                w->joints[j][c] - (k->joints[j].parent < 0 ? 0 : w->joints[k->joints[j].parent][c]);
    return k;
}

static ex_result write_template(work *w, const ex_kinematics *kinematics) {
    char *folder = exi_scan_file(w->session->folder, "template"),
         *path = exi_scan_file(w->session->folder, "template/body.glb");
    exi_share *shares = exi_array_allocate((size_t)w->vertex_count, sizeof *shares);
    ex_scene *scene = NULL;
    ex_result result = folder && path && shares ? ex_make_directory(folder, w->error) : no_memory(w);
    for (int v = 0; shares && v < w->vertex_count; v++) {
        shares[v] = (exi_share){0};
        for (int i = 0; i < EXI_HUMAN_INFLUENCES; i++) {
            const size_t at = (size_t)v * EXI_HUMAN_INFLUENCES + (size_t)i;
            if (w->human->weights[at] > 0)
                exi_share_add(&shares[v], w->human->joints[at], (double)w->human->weights[at]);
        }
    }
    memcpy(w->mesh->positions, w->rest, (size_t)w->vertex_count * sizeof *w->rest);
    if (result == EX_OK)
        result = exi_template_scene(kinematics, w->mesh, shares, &scene, w->error);
    if (result == EX_OK)
        result = ex_scene_write(path, scene, w->error);
    ex_scene_destroy(scene);
    free(shares);
    free(folder);
    free(path);
    return result;
}

static ex_result write_fit(work *w, ex_kinematics *kinematics) {
    char *path = exi_scan_file(w->session->folder, "fit.json");
    ex_scan_fitted fitted = {.kinematics = kinematics,
                             .names = exi_array_allocate((size_t)w->one_count, sizeof *fitted.names),
                             .poses = exi_array_allocate((size_t)w->one_count, sizeof *fitted.poses),
                             .rms = exi_array_allocate((size_t)w->one_count, sizeof *fitted.rms)};
    ex_result result = path && fitted.names && fitted.poses && fitted.rms ? EX_OK : no_memory(w);
    for (int i = 0; result == EX_OK && i < w->one_count; i++) {
        if (w->ones[i].report->left_out)
            continue;
        fitted.names[fitted.scan_count] = w->session->scans[w->ones[i].scan].name;
        fitted.poses[fitted.scan_count] = w->ones[i].pose;
        fitted.rms[fitted.scan_count++] = w->ones[i].report->anchor_rms;
    }
    if (result == EX_OK)
        result = ex_scan_fitted_write(path, &fitted, w->error);
    free(fitted.names);
    free(fitted.poses);
    free(fitted.rms);
    free(path);
    return result;
}

static ex_result write_person(work *w) {
    ex_kinematics *kinematics = person_kinematics(w);
    ex_result result = kinematics ? write_template(w, kinematics) : no_memory(w);
    if (result == EX_OK)
        result = write_fit(w, kinematics);
    ex_kinematics_destroy(kinematics);
    return result;
}

/* ---- entry point ---- */

static ex_result open_work(work *w) {
    const char *person = w->session->person;
    char *path = person && strcmp(person, "human") != 0 ? exi_scan_file(w->session->folder, person) : NULL;
    ex_result result = exi_human_read(path, &w->human, w->error);
    free(path);
    if (result != EX_OK)
        return result;
    const size_t vertices = (size_t)(w->vertex_count = w->human->mesh->vertex_count);
    const size_t joints = (size_t)(w->joint_count = w->human->kinematics->joint_count);
    w->ones = exi_arena_allocate(&w->arena, (size_t)w->session->scan_count + 1, sizeof *w->ones);
    w->figure = exi_arena_allocate(&w->arena, (size_t)w->human->figure_count + 1, sizeof *w->figure);
    w->rest = exi_arena_allocate(&w->arena, vertices, sizeof *w->rest);
    w->joints = exi_arena_allocate(&w->arena, joints, sizeof *w->joints);
    w->rotations = exi_arena_allocate(&w->arena, joints, sizeof *w->rotations);
    w->posed = exi_arena_allocate(&w->arena, joints, sizeof *w->posed);
    w->matching = exi_arena_allocate(&w->arena, vertices, sizeof *w->matching);
    w->stiffness = exi_arena_allocate(&w->arena, vertices, sizeof *w->stiffness);
    w->mesh = ex_mesh_copy(w->human->mesh);
    w->report = calloc(1, sizeof *w->report);
    if (w->report)
        w->report->scans = calloc((size_t)w->session->scan_count, sizeof *w->report->scans);
    if (!w->ones || !w->figure || !w->rest || !w->joints || !w->rotations || !w->posed || !w->matching ||
        !w->stiffness || !w->mesh || !w->report || !w->report->scans)
        return no_memory(w);
    set_stiffness(w);
    return find_outside(w);
}

static ex_result carry(work *w) {
    char *folder = exi_scan_file(w->session->folder, "registered");
    ex_result result = read_all_points(w);
    if (result == EX_OK && w->reference < 0)
        result =
            ex_error_set(w->error, EX_ERROR_DATA,
                         "the reference scan '%s' has neither landmarks (landmarks/%s.csv) nor named markers "
                         "(labels/%s.csv)",
                         w->session->scans[w->session->reference].name, w->session->scans[w->session->reference].name,
                         w->session->scans[w->session->reference].name);
    for (int i = 0; i < w->one_count; i++) {
        w->ones[i].report = &w->report->scans[i];
        w->report->scans[i].scan = w->ones[i].scan;
    }
    w->report->scan_count = w->one_count;
    if (result == EX_OK)
        result = folder ? ex_make_directory(folder, w->error) : no_memory(w);
    if (result == EX_OK)
        result = do_reference(w);
    if (result == EX_OK)
        result = do_together(w);
    if (result == EX_OK)
        result = do_one(w, &w->ones[w->reference]);
    for (int i = 0; i < w->one_count && result == EX_OK; i++) {
        if (!exi_progress_tell(w->options->progress, w->session->scans[w->ones[i].scan].name,
                               (double)(i + 1) / (w->one_count + 1)))
            result = exi_progress_stopped(w->error);
        else if (i != w->reference)
            result = do_one(w, &w->ones[i]);
    }
    if (result == EX_OK)
        result = write_person(w);
    free(folder);
    return result;
}

void ex_scan_carried_destroy(ex_scan_carried *carried) {
    if (!carried)
        return;
    free(carried->scans);
    free(carried);
}

ex_result ex_scan_carry(const ex_scan_session *session, const ex_scan_carry_options *options, ex_scan_carried **carried,
                        ex_error *error) {
    if (!session || !carried)
        return exi_misuse_error(error, __func__, "no session, or no pointer for the report");
    const ex_scan_carry_options plain = {0};
    work w = {.session = session, .options = options ? options : &plain, .error = error};
    struct timespec began, ended;
    timespec_get(&began, TIME_UTC);
    w.sure = w.options->sure != 0 ? w.options->sure : 0.9;
    *carried = NULL;
    ex_result result = open_work(&w);
    if (result == EX_OK)
        result = carry(&w);
    if (result == EX_OK) {
        double low = INFINITY, high = -INFINITY;
        for (int v = 0; v < w.vertex_count; v++) {
            low = fmin(low, w.rest[v][1]);
            high = fmax(high, w.rest[v][1]);
        }
        timespec_get(&ended, TIME_UTC);
        w.report->height = high - low;
        w.report->seconds = (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec);
        *carried = w.report;
    } else {
        ex_scan_carried_destroy(w.report);
    }
    for (int i = 0; w.ones && i < session->scan_count; i++)
        free(w.ones[i].points);
    free(w.places);
    ex_mesh_destroy(w.mesh);
    exi_human_destroy(w.human);
    exi_arena_free(&w.arena);
    return result;
}

/*
 * Landmarks and markers of a session: points with names. A name has a place on the template if the template has that
 * landmark, or once a registered scan shows it. Of other markers the bone is known.
 */
#include "author/base/array.h"
#include "author/scan/person/person.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Metres. Landmarks are where a person clicked; markers on skin that slides; means of a bone's markers only roughly in
 * its middle. While a template is posed, and while it is registered. */
static const double landmark_sigma = 0.015, marker_sigma = 0.01, bone_sigma = 0.03;
static const double landmark_hold = 0.01, marker_hold = 0.003;
/* Radians: how far rotations of the fit of markers are about. */
static const double told_sigma = 0.15;
/* Scans and markers in each that such a fit needs. */
enum { TOLD_SCANS = 3, TOLD_MARKERS = 30 };
/* Fewest points that tell how the base is turned. */
enum { TURN_LEAST = 4 };
/* Points this far outside the box around a scan, as a share of its size, are not on it; nor are all of them if they are
 * no farther apart. */
static const double outside_share = 0.1, least_share = 0.07;
/* Radians: how far joints turn from one frame of a sequence to the next. */
static const double frame_hold = 0.2;
/* A marker farther from the registered template than this is not on the person. */
static const double marker_reach = 0.03;

/* ---- named points ---- */

bool exi_carry_is_known(const exi_carry *w, const exi_carry_place *place) {
    return place->known && place->since < (w->turn >= 0 ? w->turn : 0);
}

int exi_carry_find_place(const exi_carry *w, const char *name) {
    for (int i = 0; i < w->place_count; i++)
        if (strcmp(w->places[i].name, name) == 0)
            return i;
    return -1;
}

static int add_place(exi_carry *w, const char *name, bool landmark) {
    int found = exi_carry_find_place(w, name);
    if (found >= 0)
        return found;
    exi_carry_place *grown = exi_array_grow(w->places, &w->place_capacity, (size_t)w->place_count + 1, sizeof *grown);
    if (!grown)
        return -1;
    w->places = grown;
    exi_carry_place *p = &grown[w->place_count];
    *p = (exi_carry_place){.name = exi_arena_text(&w->arena, name), .joint = -1, .landmark = landmark};
    const int vertex = landmark ? exi_human_find(w->human, name) : -1;
    const int site = landmark ? -1 : ex_kinematics_find_site(w->session->kinematics, name);
    if (vertex >= 0) {
        p->known = true;
        p->since = -1;
        p->anchor = (ex_register_anchor){.vertices = {vertex}, .shares = {1}};
    }
    if (site >= 0)
        p->joint = ex_kinematics_find_joint(
            w->human->kinematics, w->session->kinematics->joints[w->session->kinematics->sites[site].joint].name);
    return p->name ? w->place_count++ : -1;
}

static ex_result add_point(exi_carry *w, exi_carry_scan *o, const char *name, bool landmark, const double at[3]) {
    exi_carry_point *grown = exi_array_grow(o->points, &o->capacity, (size_t)o->count + 1, sizeof *grown);
    const int number = grown ? add_place(w, name, landmark) : -1;
    o->points = grown ? grown : o->points;
    if (number < 0)
        return exi_carry_no_memory(w);
    o->points[o->count].name = number;
    memcpy(o->points[o->count++].at, at, 3 * sizeof *at);
    return EX_OK;
}

/* Labels that are not markers of the session are named; landmarks may have any name. */
static ex_result read_points(exi_carry *w, exi_carry_scan *o, const char *kind, bool landmark) {
    char *path = ex_scan_path(w->session, kind, w->session->scans[o->scan].name, ".csv");
    ex_labelled *labelled = NULL;
    int count = 0;
    ex_result result = path ? EX_OK : exi_carry_no_memory(w);
    if (result == EX_OK && exi_scan_is_there(path))
        result = ex_scan_labels_read(w->session, path, &labelled, &count, w->error);
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

ex_result exi_carry_read_points(exi_carry *w) {
    ex_result result = EX_OK;
    w->reference = -1;
    for (int i = 0; i < w->session->scan_count && result == EX_OK; i++) {
        exi_carry_scan *o = &w->ones[w->one_count];
        *o = (exi_carry_scan){.scan = i};
        result = read_points(w, o, "landmarks", true);
        if (result == EX_OK)
            result = read_points(w, o, "labels", false);
        if (o->count == 0 && !w->session->scans[i].follows)
            continue;
        w->reference = i == w->session->reference ? w->one_count : w->reference;
        w->one_count++;
    }
    return result;
}

/* ---- what each scan starts from ---- */

/* Takes the rotations of a scan from the fit of markers, if it has the scan. */
static ex_result take_told(exi_carry *w, exi_carry_scan *o, const ex_scan_fitted *fitted) {
    const double none[4] = {0, 0, 0, 1};
    int i = 0;
    while (i < fitted->scan_count && strcmp(fitted->names[i], w->session->scans[o->scan].name) != 0)
        i++;
    if (i == fitted->scan_count)
        return EX_OK;
    o->told_rotations = exi_arena_allocate(&w->arena, (size_t)w->joint_count, sizeof *o->told_rotations);
    for (int j = 0; o->told_rotations && j < w->joint_count; j++) {
        const int given = ex_kinematics_find_joint(fitted->kinematics, w->human->kinematics->joints[j].name);
        memcpy(o->told_rotations[j], given >= 0 ? fitted->poses[i].rotations[given] : none, sizeof none);
    }
    return o->told_rotations ? EX_OK : EX_ERROR_MEMORY;
}

/* A round limb that is straight does not show how far it is turned about itself: its markers in other poses do. A fit
 * that fails is not needed. */
ex_result exi_carry_fit_markers(exi_carry *w) {
    const ex_scan_fit_options options = {.sure = w->sure, .tasks = w->options->tasks};
    ex_scan_fitted *fitted = NULL, *neutral = NULL;
    ex_kin_fit *fit = NULL;
    ex_error ignored;
    int scans = 0;
    for (int i = 0; i < w->one_count; i++) {
        int markers = 0;
        for (int k = 0; k < w->ones[i].count; k++)
            markers += w->places[w->ones[i].points[k].name].joint >= 0;
        scans += markers >= TOLD_MARKERS;
    }
    if (scans < TOLD_SCANS)
        return EX_OK;
    ex_result result = ex_scan_fit(w->session, &options, &fitted, &fit, &ignored);
    if (result == EX_OK)
        result = ex_scan_fitted_neutral(fitted, &neutral, &ignored);
    for (int i = 0; i < w->one_count && result == EX_OK; i++)
        result = take_told(w, &w->ones[i], neutral);
    ex_scan_fitted_destroy(neutral);
    ex_scan_fitted_destroy(fitted);
    ex_kin_fit_destroy(fit);
    return result == EX_ERROR_MEMORY ? exi_carry_no_memory(w) : EX_OK;
}

/* The middle of a bone's skin in the rest form; false if no vertex belongs to it. */
static bool bone_middle(const exi_carry *w, int joint, double middle[3]) {
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
static int find_bone_points(const exi_carry *w, const exi_carry_scan *o, exi_bone_point *points) {
    int count = 0;
    for (int j = 0; j < w->joint_count; j++) {
        exi_bone_point p = {.joint = j, .sigma = bone_sigma};
        int seen = 0;
        for (int i = 0; i < o->count; i++) {
            const exi_carry_place *from = &w->places[o->points[i].name];
            if (exi_carry_is_known(w, from) || from->joint != j)
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

int exi_carry_anchors(const exi_carry *w, const exi_carry_scan *o, bool to_register, ex_register_anchor *anchors) {
    int count = 0;
    for (int i = 0; i < o->count; i++) {
        const exi_carry_place *from = &w->places[o->points[i].name];
        if (!exi_carry_is_known(w, from))
            continue;
        ex_register_anchor *a = &anchors[count++];
        *a = from->anchor;
        memcpy(a->target, o->points[i].at, sizeof a->target);
        a->sigma = to_register ? (from->landmark ? landmark_hold : marker_hold)
                               : (from->landmark ? landmark_sigma : marker_sigma);
    }
    return count;
}

/* Refuses points that are mostly outside the box around the scan, or tiny in it: their file has another unit, or other
 * axes. */
static ex_result check_near(const exi_carry *w, const exi_carry_scan *o, ex_mesh *const *meshes) {
    const ex_scan_entry *entry = &w->session->scans[o->scan];
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0, span = 0;
    int outside = 0;
    for (int i = 0; i < entry->file_count; i++)
        for (size_t v = 0; v < 3 * (size_t)meshes[i]->vertex_count; v++) {
            low[v % 3] = fmin(low[v % 3], meshes[i]->positions[v]);
            high[v % 3] = fmax(high[v % 3], meshes[i]->positions[v]);
        }
    for (int c = 0; c < 3; c++)
        size = fmax(size, high[c] - low[c]);
    for (int i = 0; i < o->count; i++) {
        bool inside = true;
        for (int c = 0; c < 3; c++)
            span = fmax(span, fabs(o->points[i].at[c] - o->points[0].at[c]));
        for (int c = 0; c < 3; c++)
            inside = inside && o->points[i].at[c] > low[c] - outside_share * size &&
                     o->points[i].at[c] < high[c] + outside_share * size;
        outside += !inside;
    }
    if (2 * outside <= o->count && span > least_share * size)
        return EX_OK;
    return ex_error_set(
        w->error, EX_ERROR_DATA,
        "the landmarks and labels of the reference scan '%s' are not on it: they must have the unit and "
        "the axes of the scan's files",
        entry->name);
}

ex_result exi_carry_open(exi_carry *w, exi_carry_scan *o, exi_carry_input *in) {
    const ex_scan_entry *entry = &w->session->scans[o->scan];
    *in = (exi_carry_input){.anchors = exi_array_allocate((size_t)o->count, sizeof *in->anchors),
                            .bone_points = exi_array_allocate((size_t)w->joint_count, sizeof *in->bone_points)};
    if (!in->anchors || !in->bone_points)
        return exi_carry_no_memory(w);
    ex_result result = exi_scan_meshes(w->session, o->scan, &in->meshes, &o->report->read_count, w->error);
    o->report->point_count = 0;
    for (int i = 0; result == EX_OK && i < entry->file_count; i++)
        o->report->point_count += in->meshes[i]->vertex_count;
    if (w->error && (result == EX_ERROR_DATA || result == EX_ERROR_FORMAT)) {
        const ex_error broken = *w->error;
        ex_error_set(w->error, result, "%s: clean the scan, or export it again", broken.text);
    }
    if (result == EX_OK && o == &w->ones[w->reference])
        result = check_near(w, o, in->meshes);
    in->scan = (exi_human_scan){.meshes = (const ex_mesh *const *)in->meshes,
                                .mesh_count = in->meshes ? entry->file_count : 0,
                                .anchors = in->anchors,
                                .anchor_count = exi_carry_anchors(w, o, false, in->anchors),
                                .bone_points = in->bone_points,
                                .bone_point_count = find_bone_points(w, o, in->bone_points),
                                .hold = o->told ? told_sigma : o->hold,
                                .pose = o->pose};
    if (result == EX_OK)
        exi_carry_turn_outside(in);
    return result;
}

void exi_carry_close(const exi_carry *w, const exi_carry_scan *o, exi_carry_input *in) {
    for (int i = 0; in->meshes && i < w->session->scans[o->scan].file_count; i++)
        ex_mesh_destroy(in->meshes[i]);
    free(in->meshes);
    free(in->anchors);
    free(in->bone_points);
}

/* The quaternion of a rotation matrix: of the four ways, the one with the largest divisor. */
static void matrix_quaternion(const double (*m)[3], double q[4]) {
    const double trace = m[0][0] + m[1][1] + m[2][2];
    int a = 3;
    for (int i = 0; i < 3; i++)
        a = m[i][i] > (a == 3 ? trace : m[a][a]) ? i : a;
    if (a == 3) {
        q[3] = 1 + trace;
        for (int i = 0; i < 3; i++)
            q[i] = m[(i + 2) % 3][(i + 1) % 3] - m[(i + 1) % 3][(i + 2) % 3];
    } else {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        q[a] = 1 + m[a][a] - m[b][b] - m[c][c];
        q[b] = m[b][a] + m[a][b];
        q[c] = m[c][a] + m[a][c];
        q[3] = m[c][b] - m[b][c];
    }
    exi_normalise(q, 4);
}

/* Turns and moves the base as the points are turned against the rest form, so that a person may face any way, or lie
 * down. With too few points, or all on a line, it stays. */
static ex_result turn_base(exi_carry *w, exi_carry_scan *o) {
    ex_register_anchor *anchors = exi_array_allocate((size_t)o->count, sizeof *anchors);
    exi_bone_point *bones = exi_array_allocate((size_t)w->joint_count, sizeof *bones);
    const size_t most = (size_t)o->count + (size_t)w->joint_count;
    double(*own)[3] = exi_array_allocate(most, sizeof *own), (*targets)[3] = exi_array_allocate(most, sizeof *targets);
    const bool good = anchors && bones && own && targets;
    const int anchor_count = good ? exi_carry_anchors(w, o, false, anchors) : 0,
              bone_count = good ? find_bone_points(w, o, bones) : 0;
    int count = 0;
    ex_similarity moved;
    for (int i = 0; i < anchor_count; i++, count++) {
        memset(own[count], 0, sizeof *own);
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                own[count][c] += anchors[i].shares[k] * w->human->mesh->positions[3 * anchors[i].vertices[k] + c];
        memcpy(targets[count], anchors[i].target, sizeof *targets);
    }
    for (int i = 0; i < bone_count; i++, count++) {
        memcpy(own[count], bones[i].at, sizeof *own);
        memcpy(targets[count], bones[i].target, sizeof *targets);
    }
    if (count >= TURN_LEAST && ex_register_align(count, (const double(*)[3])own, (const double(*)[3])targets, NULL,
                                                 false, &moved, NULL) == EX_OK) {
        double base[1][3];
        memcpy(base[0], w->human->kinematics->joints[0].translation, sizeof base[0]);
        ex_similarity_apply(&moved, 1, base);
        memcpy(o->pose.translation, base[0], sizeof base[0]);
        matrix_quaternion((const double(*)[3])moved.rotation, o->pose.rotations[0]);
    }
    free(anchors);
    free(bones);
    free(own);
    free(targets);
    return good ? EX_OK : exi_carry_no_memory(w);
}

/* Takes over the pose of the frame before it, or of the last that fits; false if there is none. */
static bool start_from_last(const exi_carry *w, exi_carry_scan *o) {
    int i = 0;
    while (i < w->one_count && w->ones[i].scan != o->scan)
        i++;
    for (; i > 0 && i < w->one_count && w->session->scans[w->ones[i].scan].follows &&
           w->ones[i - 1].scan == w->ones[i].scan - 1;
         i--) {
        const exi_carry_scan *last = &w->ones[i - 1];
        if (!last->pose.rotations || last->report->left_out)
            continue;
        memcpy(o->pose.rotations, last->pose.rotations, (size_t)w->joint_count * sizeof *o->pose.rotations);
        memcpy(o->pose.translation, last->pose.translation, sizeof o->pose.translation);
        return true;
    }
    return false;
}

/* As markers, the frame before it or scan.json tell; else not turned but for the base. */
ex_result exi_carry_start(exi_carry *w, exi_carry_scan *o) {
    const ex_scan_entry *entry = &w->session->scans[o->scan];
    const ex_kinematics *k = w->session->kinematics;
    const ex_kin_pose *pose = entry->posed ? &entry->pose : NULL;
    o->pose.rotations = exi_arena_allocate(&w->arena, (size_t)w->joint_count, sizeof *o->pose.rotations);
    if (!o->pose.rotations)
        return exi_carry_no_memory(w);
    o->told = o->told_rotations != NULL;
    if (!o->told && start_from_last(w, o)) {
        o->hold = frame_hold;
        return EX_OK;
    }
    for (int j = 0; j < w->joint_count; j++) {
        const int given = pose ? ex_kinematics_find_joint(k, w->human->kinematics->joints[j].name) : -1;
        const double none[4] = {0, 0, 0, 1};
        memcpy(o->pose.rotations[j],
               o->told      ? o->told_rotations[j]
               : given >= 0 ? pose->rotations[given]
                            : none,
               sizeof none);
    }
    for (int i = 0; i < o->count; i++)
        for (int c = 0; c < 3; c++)
            o->pose.translation[c] += o->points[i].at[c] / o->count;
    return pose || o->told ? EX_OK : turn_base(w, o);
}

/* ---- places ---- */

/* Gives places to markers that a registered scan shows, and that have none yet. */
ex_result exi_carry_place_markers(exi_carry *w, const exi_carry_scan *o, const ex_registered *registered) {
    ex_result result = EX_OK;
    memcpy(w->mesh->positions, registered->vertices, 3 * (size_t)w->vertex_count * sizeof *w->mesh->positions);
    for (int i = 0; i < o->count && result == EX_OK; i++) {
        exi_carry_place *to = &w->places[o->points[i].name];
        ex_register_anchor anchor;
        double off[3] = {0};
        if (exi_carry_is_known(w, to))
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
        to->since = w->turn;
    }
    return result;
}

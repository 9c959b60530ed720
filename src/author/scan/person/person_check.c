/*
 * Finds scans that are not of this person, before they can bend the others: broken files, named points that are not on
 * the surface, points or surface that the posed template does not reach, left and right exchanged. Each scan is posed
 * alone, with the figure of the reference. The reasons are sentences that say what to do; look/NAME.png shows them.
 */
#include "author/base/array.h"
#include "author/scan/person/person.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Metres between the outermost points of a person, and of a scan. */
static const double span_least = 0.15, span_most = 3.5, scan_least = 0.3;
/* Named points this far from the surface are not on it; a scan with a larger share of them has other points. */
static const double on_surface = 0.05, astray_most = 0.3;
/* Landmarks this far (rms) from the template's are of no person: of the reference, whose figure is free, and of others.
 * A figure of this many standard deviations is no person's. */
static const double points_most = 0.025, others_most = 0.035, figure_most = 5;
/* The posed template is this far (rms) from the surface where they match, and this share of it has to match. */
static const double reference_most = 0.03, matched_least = 0.3;
/* Exchanging left and right must leave less than this share of the distance. */
static const double exchange_share = 0.5, backwards_share = 0.8;
static const char exchanged_sides[] =
    "left and right are exchanged in the names of its landmarks or labels, or the scan "
    "is a mirror image: exchange .L and .R, or export it again";

/* A scan with points or surface this far off may be of another person. It is, if a figure of its own is this far (rms)
 * from the reference's and leaves less than this share of the distance. Made people in many poses: a figure of their
 * own is at most 24 mm away; those of other people are 55 mm away and more, unless they are alike. */
static const double suspect_points = 0.015, suspect_surface = 0.009, other_person = 0.04, alone_share = 0.7;

/* Landmarks, markers or bones with markers that a scan starts from. */
enum { others_least = 3 };

/* ---- files ---- */

/* True if the faces of a scan look inwards: seen from its middle, most of its area shows its front. */
static bool is_inside_out(const exi_carry_input *in) {
    double middle[3] = {0}, along = 0, total = 0;
    size_t count = 0;
    for (int i = 0; i < in->scan.mesh_count; i++)
        for (int v = 0; v < in->meshes[i]->vertex_count; v++, count++)
            for (int c = 0; c < 3; c++)
                middle[c] += in->meshes[i]->positions[3 * v + c];
    for (int c = 0; c < 3; c++)
        middle[c] /= count > 0 ? (double)count : 1;
    for (int i = 0; i < in->scan.mesh_count; i++) {
        const ex_mesh *mesh = in->meshes[i];
        for (int f = 0; f < mesh->face_count; f++) {
            const int *corners = mesh->corners + mesh->face_offsets[f];
            const double *a = mesh->positions + 3 * (size_t)corners[0], *b = mesh->positions + 3 * (size_t)corners[1],
                         *c = mesh->positions + 3 * (size_t)corners[2];
            double u[3], v[3], normal[3], from[3];
            exi_subtract(b, a, u);
            exi_subtract(c, a, v);
            exi_cross(u, v, normal);
            exi_subtract(a, middle, from);
            if (normal[1] * normal[1] > 0.8 * exi_dot3(normal, normal)) /* a floor in view faces the person */
                continue;
            along += exi_dot3(normal, from);
            total += fabs(exi_dot3(normal, from));
        }
    }
    return along < -0.2 * total;
}

void exi_carry_turn_outside(exi_carry_input *in) {
    if (!is_inside_out(in))
        return;
    for (int i = 0; i < in->scan.mesh_count; i++) {
        ex_mesh *mesh = in->meshes[i];
        for (int f = 0; f < mesh->face_count; f++)
            for (int a = mesh->face_offsets[f], b = mesh->face_offsets[f + 1] - 1; a < b; a++, b--) {
                const int corner = mesh->corners[a];
                mesh->corners[a] = mesh->corners[b];
                mesh->corners[b] = corner;
            }
    }
}

/* Metres; of the first edges of all faces. */
static double mean_edge(const exi_carry_input *in) {
    double sum = 0, count = 0;
    for (int i = 0; i < in->scan.mesh_count; i++)
        for (int f = 0; f < in->meshes[i]->face_count; f++, count++) {
            const int *corners = in->meshes[i]->corners + in->meshes[i]->face_offsets[f];
            double d[3];
            exi_subtract(in->meshes[i]->positions + 3 * (size_t)corners[0],
                         in->meshes[i]->positions + 3 * (size_t)corners[1], d);
            sum += sqrt(exi_dot3(d, d));
        }
    return count > 0 ? sum / count : 0;
}

static double distance_sq(const exi_carry_input *in, const double point[3]) {
    double least = INFINITY;
    for (int i = 0; i < in->scan.mesh_count; i++)
        for (int v = 0; v < in->meshes[i]->vertex_count; v++) {
            double off[3];
            exi_subtract(in->meshes[i]->positions + 3 * (size_t)v, point, off);
            least = fmin(least, exi_dot3(off, off));
        }
    return least;
}

static double span_of(const exi_carry_scan *o) {
    double span = 0;
    for (int c = 0; c < 3; c++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < o->count; i++) {
            low = fmin(low, o->points[i].at[c]);
            high = fmax(high, o->points[i].at[c]);
        }
        span = fmax(span, high - low);
    }
    return span;
}

bool exi_carry_check_files(const exi_carry *w, const exi_carry_scan *o, const exi_carry_input *in, char *why,
                           size_t size) {
    double low[3], high[3], size_of_scan = 0;
    int astray = 0;
    for (int c = 0; c < 3; c++) {
        low[c] = INFINITY;
        high[c] = -INFINITY;
    }
    for (int i = 0; i < in->scan.mesh_count; i++)
        for (int v = 0; v < in->meshes[i]->vertex_count; v++)
            for (int c = 0; c < 3; c++) {
                const double x = in->meshes[i]->positions[3 * v + c];
                if (!isfinite(x)) {
                    snprintf(
                        why, size,
                        "vertex %d of '%s' has a coordinate that is not a number: clean the scan, or export it again",
                        v, w->session->scans[o->scan].files[i]);
                    return false;
                }
                low[c] = fmin(low[c], x);
                high[c] = fmax(high[c], x);
            }
    for (int c = 0; c < 3; c++)
        size_of_scan = fmax(size_of_scan, high[c] - low[c]);
    const double span = span_of(o);
    if (!(size_of_scan > 0)) {
        snprintf(why, size, "all points of its scan are in one place: export the scan again");
        return false;
    }
    if (o->count > 0 && !(span > span_least && span < span_most)) {
        snprintf(why, size,
                 "its landmarks or labels are %.3g m apart, which no person is: all files must have one unit, which "
                 "\"unit\" in scan.json says",
                 span);
        return false;
    }
    if (!(size_of_scan > scan_least) || size_of_scan > 3 * span_most) {
        snprintf(why, size,
                 "the scan is %.3g m large and its landmarks or labels are %.3g m apart: all files must have one unit, "
                 "which \"unit\" in scan.json says",
                 size_of_scan, span);
        return false;
    }
    const double reach = on_surface + mean_edge(in); /* distances are those of vertices */
    for (int i = 0; i < o->count; i++)
        astray += distance_sq(in, o->points[i].at) > reach * reach;
    if (astray > astray_most * o->count) {
        snprintf(
            why, size,
            "%d of its %d landmarks or labels are more than 5 cm from its surface: look whether they, or the scan's "
            "file, are those of another scan",
            astray, o->count);
        return false;
    }
    return true;
}

/* The template's landmark with nearly that name; NULL if none is like it. */
static const char *suggest(const exi_carry *w, const char *name) {
    const char **names = exi_array_allocate((size_t)w->human->landmark_count, sizeof *names);
    for (int i = 0; names && i < w->human->landmark_count; i++)
        names[i] = w->human->landmarks[i].name;
    const char *found = names ? ex_suggest(name, names, w->human->landmark_count) : NULL;
    free((void *)names);
    return found;
}

bool exi_carry_check_count(const exi_carry *w, const exi_carry_scan *o, const exi_carry_input *in, int least, char *why,
                           size_t size) {
    const int count = in->scan.anchor_count + in->scan.bone_point_count;
    const char *unknown = NULL;
    for (int i = 0; i < o->count && !unknown; i++)
        if (w->places[o->points[i].name].landmark && !exi_carry_is_known(w, &w->places[o->points[i].name]))
            unknown = w->places[o->points[i].name].name;
    if (count >= least)
        return true;
    const char *near = unknown ? suggest(w, unknown) : NULL;
    if (unknown)
        snprintf(why, size,
                 "it has %d landmarks that the template knows, and at least %d are needed: '%.60s' is none of its "
                 "names%s%s%s, "
                 "which are in 'exemplar help scan carry'",
                 in->scan.anchor_count, least, unknown, near ? " (did you mean '" : "", near ? near : "",
                 near ? "'?)" : "");
    else
        snprintf(why, size,
                 "it has %d landmarks and %d bones with two named markers: at least %d of them are needed; click "
                 "landmarks, or name more markers",
                 in->scan.anchor_count, in->scan.bone_point_count, least);
    return false;
}

/* ---- the posed template ---- */

/* Measures how far (rms) named points are from where the posed template has them; *worst is the number of the farthest,
 * or -1, and *off its distance. */
static double measure_points(exi_carry *w, const exi_carry_scan *o, const ex_kin_pose *pose, int *worst, double *off) {
    double squares = 0, most = -1;
    int count = 0;
    *worst = -1;
    exi_carry_pose(w, pose, (double(*)[3])(void *)w->mesh->positions);
    for (int i = 0; i < o->count; i++) {
        const exi_carry_place *p = &w->places[o->points[i].name];
        double d[3] = {-o->points[i].at[0], -o->points[i].at[1], -o->points[i].at[2]};
        if (!exi_carry_is_known(w, p))
            continue;
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                d[c] += p->anchor.shares[k] * w->mesh->positions[3 * p->anchor.vertices[k] + c];
        const double square = exi_dot3(d, d);
        squares += square;
        count++;
        *worst = square > most ? i : *worst;
        most = square > most ? square : most;
    }
    *off = sqrt(fmax(most, 0));
    return count > 0 ? sqrt(squares / count) : 0;
}

/* Writes the name of the other side, .L for .R; false if it has none. */
static bool other_side(const char *name, char *other, size_t size) {
    const char *at = strstr(name, ".L");
    at = at ? at : strstr(name, ".R");
    if (!at || strlen(name) >= size)
        return false;
    memcpy(other, name, strlen(name) + 1);
    other[at - name + 1] = at[1] == 'L' ? 'R' : 'L';
    return true;
}

/* Fits the template with left and right exchanged in the names of a scan's points; returns the rms of the points, or
 * infinity if it cannot be tried. */
static double measure_exchanged(exi_carry *w, const exi_carry_scan *o, const exi_carry_input *in) {
    exi_carry_scan turned = *o;
    ex_carried_scan report = {0};
    exi_carry_input input = *in;
    ex_register_anchor *anchors = exi_array_allocate((size_t)o->count, sizeof *anchors);
    double rms = INFINITY, off = 0;
    int worst = -1, moved = 0;
    char other[128];
    exi_carry_scan *one = &turned;
    turned.report = &report;
    turned.points = exi_array_allocate((size_t)o->count, sizeof *turned.points);
    turned.pose = (ex_kin_pose){0};
    for (int i = 0; turned.points && i < o->count; i++)
        turned.points[i] = o->points[i];
    if (anchors && turned.points) {
        for (int i = 0; i < o->count; i++) {
            const int name = other_side(w->places[o->points[i].name].name, other, sizeof other)
                                 ? exi_carry_find_place(w, other)
                                 : o->points[i].name;
            turned.points[i].name = name >= 0 ? name : o->points[i].name;
            moved += name >= 0 && name != o->points[i].name;
        }
        if (moved >= 4 && exi_carry_start(w, &turned) != EX_OK)
            moved = 0;
        input.anchors = anchors;
        input.scan.anchors = anchors;
        input.scan.anchor_count = exi_carry_anchors(w, &turned, false, anchors);
        input.scan.bone_point_count = 0;
        input.scan.mesh_count = 0;
        input.scan.pose = turned.pose;
        input.scan.hold = 0;
        if (moved >= 4 && exi_carry_fit(w, &one, &input, 1, true) == EX_OK)
            rms = measure_points(w, &turned, &turned.pose, &worst, &off);
    }
    free(turned.points);
    free(anchors);
    return rms;
}

/* Markers without places on the template say which bone they are on and no more, and a person fits them backwards, too.
 * True if left and right exchanged bring the template nearer to the scan, where feet and face tell front from back. */
static bool is_backwards(exi_carry *w, const exi_carry_scan *o, const exi_carry_input *in) {
    exi_carry_scan turned = *o, *one = &turned;
    ex_carried_scan report = {0};
    exi_carry_input input = *in;
    exi_bone_point *points = exi_array_allocate((size_t)in->scan.bone_point_count + 1, sizeof *points);
    char other[128];
    bool backwards = false;
    turned.report = &report;
    turned.pose = (ex_kin_pose){0};
    if (points && exi_carry_start(w, &turned) == EX_OK) {
        for (int i = 0; i < in->scan.bone_point_count; i++) {
            points[i] = in->scan.bone_points[i];
            const char *name = w->human->kinematics->joints[points[i].joint].name;
            const int joint =
                other_side(name, other, sizeof other) ? ex_kinematics_find_joint(w->human->kinematics, other) : -1;
            if (joint < 0)
                continue;
            points[i].joint = joint;
            points[i].at[0] = -points[i].at[0]; /* the template is symmetric */
        }
        input.scan.bone_points = points;
        const double about[4] = {0, 1, 0, 0}; /* turned about: the start was found with the names as they are */
        exi_quaternion_multiply(turned.pose.rotations[0], about, turned.pose.rotations[0]);
        input.scan.pose = turned.pose;
        input.scan.hold = 0;
        if (exi_carry_fit(w, &one, &input, 1, true) == EX_OK)
            backwards = turned.matched > o->matched && report.figure_rms < backwards_share * o->report->figure_rms;
    }
    free(points);
    return backwards;
}

/* Fits a figure to this scan alone. Returns the height of that person; *apart is how far (rms) the skin is from the
 * person of the reference, both in the neutral pose with the hips in one place, and *rms that of the points,
 * or of the surface if they have no places yet. */
static double fit_alone(exi_carry *w, const exi_carry_scan *o, const exi_carry_input *in, double *apart, double *rms) {
    const size_t figures = (size_t)w->human->figure_count, vertices = (size_t)w->vertex_count;
    double *kept = exi_array_allocate(figures + 1, sizeof *kept);
    double(*rest)[3] = exi_array_allocate(vertices, sizeof *rest);
    exi_carry_scan alone = *o, *one = &alone;
    ex_carried_scan report = {0};
    exi_carry_input input = *in;
    double low = INFINITY, high = -INFINITY, squares = 0, off = 0;
    int worst = -1;
    alone.report = &report;
    alone.pose = (ex_kin_pose){0};
    *apart = *rms = 0;
    if (kept && rest && exi_carry_start(w, &alone) == EX_OK) {
        memcpy(kept, w->figure, figures * sizeof *kept);
        memcpy(rest, w->rest, vertices * sizeof *rest);
        input.scan.pose = alone.pose;
        const ex_result result = exi_carry_fit(w, &one, &input, 1, false);
        exi_human_figure(w->human, w->figure, w->rest, w->joints);
        for (size_t v = 0; result == EX_OK && v < vertices; v++) {
            double d[3];
            exi_subtract(w->rest[v], rest[v], d);
            squares += exi_dot3(d, d);
            low = fmin(low, w->rest[v][1]);
            high = fmax(high, w->rest[v][1]);
        }
        if (result == EX_OK) {
            *apart = sqrt(squares / (double)vertices);
            *rms = measure_points(w, o, &alone.pose, &worst, &off);
            *rms = worst >= 0 ? *rms : report.figure_rms;
        }
        memcpy(w->figure, kept, figures * sizeof *kept);
        exi_human_figure(w->human, w->figure, w->rest, w->joints);
    }
    free(kept);
    free(rest);
    return high > low ? high - low : 0;
}

/* True if a scan is much nearer to another person than to that of the reference. */
static bool is_other_person(exi_carry *w, const exi_carry_scan *o, const exi_carry_input *in, double rms, char *why,
                            size_t size) {
    double apart = 0, alone = 0, low = INFINITY, high = -INFINITY;
    const double height = fit_alone(w, o, in, &apart, &alone);
    for (int v = 0; v < w->vertex_count; v++) {
        low = fmin(low, w->rest[v][1]);
        high = fmax(high, w->rest[v][1]);
    }
    if (!(apart > other_person && alone < alone_share * rms && alone < points_most))
        return false;
    snprintf(why, size,
             "it shows another person, %.2f m tall, where the reference shows one of %.2f m: make a session for each "
             "person",
             height, high - low);
    return true;
}

bool exi_carry_check_pose(exi_carry *w, const exi_carry_scan *o, const exi_carry_input *in, char *why, size_t size) {
    const bool reference = o == &w->ones[w->reference];
    double off = 0;
    int worst = -1;
    const double rms = measure_points(w, o, &o->pose, &worst, &off);
    if (rms > (reference ? points_most : others_most)) {
        if (measure_exchanged(w, o, in) < exchange_share * rms)
            snprintf(why, size, "%s", exchanged_sides);
        else if (reference || !is_other_person(w, o, in, rms, why, size))
            snprintf(why, size,
                     "'%.40s' is %.0f mm from where %s has it, and all points %.0f mm (rms): look whether names and "
                     "places are right, and whether the scan shows %s",
                     w->places[o->points[worst].name].name, 1000 * off,
                     reference ? "a person with the other points" : "the person of the reference", 1000 * rms,
                     reference ? "a person" : "this person");
        return false;
    }
    if (!o->told && in->scan.anchor_count < in->scan.bone_point_count && is_backwards(w, o, in)) {
        snprintf(why, size, "%s", exchanged_sides);
        return false;
    }
    const double away = worst >= 0 ? rms : o->report->figure_rms;
    if (!reference && o->count > 0 && (rms > suspect_points || o->report->figure_rms > suspect_surface) &&
        is_other_person(w, o, in, away, why, size))
        return false;
    for (int k = 0; reference && k < w->human->figure_count; k++)
        if (!(fabs(w->figure[k]) < figure_most)) {
            snprintf(
                why, size,
                "it is no person: its figure is %.0f standard deviations from the usual one; look at its landmarks, "
                "labels, unit and up axis",
                fabs(w->figure[k]));
            return false;
        }
    if (!(o->report->figure_rms < reference_most)) {
        snprintf(
            why, size,
            "it is %.0f mm (rms) from every person that the template can be: look at its landmarks, its labels, its "
            "unit and which way is up",
            1000 * o->report->figure_rms);
        return false;
    }
    if (o->matched < matched_least) {
        snprintf(
            why, size,
            "only %.0f %% of a person with its landmarks or labels is on the scan: look whether it shows a person, "
            "and all of them",
            100 * o->matched);
        return false;
    }
    return true;
}

/* ---- scans that do not fit ---- */

void exi_carry_leave_out(exi_carry *w, exi_carry_scan *o, const exi_carry_input *in, const char *why) {
    char *path = ex_scan_path(w->session, "registered", w->session->scans[o->scan].name, ".ply");
    o->report->left_out = true;
    snprintf(o->report->reason, sizeof o->report->reason, "%s", why);
    o->report->pictured = exi_carry_look(w, o, in);
    if (path)
        remove(path); /* of an earlier run */
    free(path);
}

ex_result exi_carry_refuse(exi_carry *w, exi_carry_scan *o, const exi_carry_input *in, const char *why) {
    const char *name = w->session->scans[o->scan].name;
    char *path = exi_carry_look(w, o, in) ? ex_scan_path(w->session, "look", name, ".png") : NULL;
    ex_error_set(w->error, EX_ERROR_DATA, "the reference scan '%s': %s%s%s", name, why, path ? "; see " : "",
                 path ? path : "");
    free(path);
    return EX_ERROR_DATA;
}

ex_result exi_carry_screen(exi_carry *w, exi_carry_scan *o) {
    exi_carry_input in = {0};
    ex_error *const error = w->error;
    ex_error broken = {0};
    char why[sizeof o->report->reason];
    exi_carry_forget_look(w, o->scan);
    ex_result result = exi_carry_start(w, o);
    w->error = &broken;
    if (result == EX_OK)
        result = exi_carry_open(w, o, &in);
    w->error = error;
    if (result == EX_ERROR_DATA || result == EX_ERROR_FORMAT) { /* a file that is no scan */
        exi_carry_leave_out(w, o, &in, broken.text);
        exi_carry_close(w, o, &in);
        return EX_OK;
    }
    if (result != EX_OK && error)
        *error = broken;
    bool good = result == EX_OK && exi_carry_check_files(w, o, &in, why, sizeof why);
    if (good && !(o->hold > 0))
        good = exi_carry_check_count(w, o, &in, others_least, why, sizeof why);
    if (good)
        result = exi_carry_fit(w, &o, &in, 1, true);
    if (good && result == EX_OK)
        good = exi_carry_check_pose(w, o, &in, why, sizeof why);
    if (result == EX_OK && !good)
        exi_carry_leave_out(w, o, &in, why);
    o->posed = false; /* the figure will change */
    exi_carry_close(w, o, &in);
    return result;
}

/* ---- bones that no scan shows ---- */

/* Skin belongs to a bone by more than half of its weight, and is shown from this confidence on; a bone of whose skin
 * less than this share is shown in every scan is not. */
static const float own_weight = 0.5F, shown_least = 0.1F, unseen_most = 0.1F;

void exi_carry_find_shown(const exi_carry *w, const ex_registered *registered, float *shown) {
    for (int j = 0; j < w->joint_count; j++) {
        int count = 0, seen = 0;
        for (int v = 0; v < w->vertex_count; v++)
            for (int i = 0; i < EXI_HUMAN_INFLUENCES; i++) {
                const size_t at = (size_t)v * EXI_HUMAN_INFLUENCES + (size_t)i;
                if (w->human->joints[at] != j || w->human->weights[at] < own_weight || w->matching[v] <= 0)
                    continue;
                count++;
                seen += registered->confidences[v] > shown_least;
            }
        shown[j] = count > 0 ? (float)seen / (float)count : 1;
    }
}

void exi_carry_name_unseen(const exi_carry *w, char *names, size_t size) {
    size_t used = 0;
    names[0] = 0;
    for (int j = 0; j < w->joint_count; j++) {
        const char *name = w->human->kinematics->joints[j].name;
        if (w->shown[j] < unseen_most && used + strlen(name) + 2 < size)
            used += (size_t)snprintf(names + used, size - used, "%s%s", used > 0 ? " " : "", name);
    }
}

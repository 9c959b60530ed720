/*
 * Makes a person's body from registered scans (ex_scan_body_make), and writes it. Markers get places in the frames of
 * their bones: the mean over scans of R^T (o - p), so that poses can be found from markers alone.
 */
#include "author/base/arena.h"
#include "author/base/array.h"
#include "author/scan/kinematics/kinematics.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/formats.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No body: the rig is farther than this from the scans in their own poses, or a bone of the fit is longer or shorter
 * than the carried template's by this share and this length. */
static const double far_rms = 0.015, bone_share = 0.35, bone_least = 0.04;

void ex_scan_body_destroy(ex_scan_body *body) {
    if (!body)
        return;
    ex_rig_destroy(body->rig);
    ex_left_outs_destroy(body->left_outs);
    ex_articulated_layers_destroy(body->layers);
    ex_articulated_destroy(body->articulated);
    free(body->scans);
    free(body);
}

typedef struct work {
    const ex_scan_session *session;
    ex_scan_body *body;
    char **paths; /* [scan_count] */
    ex_registered_set *set;
    float **confidences;    /* [scan_count] of [vertex_count] */
    ex_scan_fitted *fitted; /* as carried */
    ex_kin_pose *starts;    /* [scan_count], of the fit */
    ex_error *error;
} work;

static ex_result no_memory(const work *w) {
    return ex_error_memory(w->error, "the body", (size_t)w->session->scan_count * 1000);
}

static int find_pose(const ex_scan_fitted *fitted, const char *name) {
    for (int i = 0; i < fitted->scan_count; i++)
        if (strcmp(fitted->names[i], name) == 0)
            return i;
    return -1;
}

/* Lists the registered scans that the fit has, the reference first. */
static ex_result list_scans(work *w) {
    const ex_scan_session *s = w->session;
    w->body->scans = exi_array_allocate((size_t)s->scan_count, sizeof *w->body->scans);
    w->paths = calloc((size_t)s->scan_count, sizeof *w->paths);
    w->starts = exi_array_allocate((size_t)s->scan_count, sizeof *w->starts);
    if (!w->body->scans || !w->paths || !w->starts)
        return no_memory(w);
    for (int k = 0; k < s->scan_count; k++) {
        const int scan = k == 0 ? s->reference : k <= s->reference ? k - 1 : k;
        const int pose = find_pose(w->fitted, s->scans[scan].name);
        char *path = ex_scan_path(s, "registered", s->scans[scan].name, ".ply");
        if (!path)
            return no_memory(w);
        if (pose < 0 || !exi_scan_is_there(path)) {
            free(path);
            continue;
        }
        w->paths[w->body->scan_count] = path;
        w->starts[w->body->scan_count] = w->fitted->poses[pose];
        w->body->scans[w->body->scan_count++] = scan;
    }
    if (w->body->scan_count < 2)
        return ex_error_set(
            w->error, EX_ERROR_DATA,
            "%s: %d scans are registered, and a body needs two or more: 'exemplar scan carry' makes them", s->folder,
            w->body->scan_count);
    return EX_OK;
}

/* Confidences are greys. */
static ex_result read_confidences(work *w) {
    const int vertices = w->set->mesh->vertex_count;
    ex_result result = EX_OK;
    w->confidences = calloc((size_t)w->body->scan_count, sizeof *w->confidences);
    if (!w->confidences)
        return no_memory(w);
    for (int i = 0; i < w->body->scan_count && result == EX_OK; i++) {
        ex_mesh *mesh = NULL;
        result = ex_mesh_read(w->paths[i], &mesh, w->error);
        w->confidences[i] = exi_array_allocate((size_t)vertices, sizeof **w->confidences);
        if (result == EX_OK && !w->confidences[i])
            result = no_memory(w);
        for (int v = 0; result == EX_OK && v < vertices; v++)
            w->confidences[i][v] = mesh->colours ? mesh->colours[3 * v] : 1;
        ex_mesh_destroy(mesh);
    }
    return result;
}

static ex_result open_work(work *w) {
    /* Hinges and their axes, where its joints have the names of a built-in skeleton. */
    const char *skeleton = strcmp(w->session->skeleton, "full") == 0 ? "full" : NULL;
    char *fit = ex_scan_path(w->session, "", "fit", ".json"),
         *person = ex_scan_path(w->session, "template", "body", ".glb");
    ex_result result = fit && person ? ex_scan_fitted_read(fit, &w->fitted, w->error) : no_memory(w);
    if (result == EX_OK)
        result = list_scans(w);
    if (result == EX_OK)
        result = ex_registered_set_read((const char *const *)w->paths, w->body->scan_count, person, skeleton, &w->set,
                                        w->error);
    if (result == EX_OK)
        result = read_confidences(w);
    if (result == EX_OK) { /* greys are no colours of the body */
        free(w->set->mesh->colours);
        w->set->mesh->colours = NULL;
    }
    free(fit);
    free(person);
    return result;
}

static void close_work(work *w) {
    for (int i = 0; w->paths && i < w->session->scan_count; i++)
        free(w->paths[i]);
    for (int i = 0; w->confidences && i < w->body->scan_count; i++)
        free(w->confidences[i]);
    free(w->paths);
    free(w->confidences);
    free(w->starts);
    ex_registered_set_destroy(w->set);
    ex_scan_fitted_destroy(w->fitted);
}

/* ---- is it a body? ---- */

static double bone_length(const ex_kinematics *k, int joint) {
    const double *t = k->joints[joint].translation;
    return sqrt(exi_dot3(t, t));
}

static ex_result check_body(const work *w) {
    const ex_articulated *a = w->body->articulated;
    if (a->all_rms > far_rms)
        return ex_error_set(w->error, EX_ERROR_DATA,
                            "%s: this is no body: in the poses of the scans, the rig is %.0f mm (rms) from them",
                            w->session->folder, 1000 * a->all_rms);
    for (int j = 1; j < a->kinematics->joint_count; j++) {
        const int other = ex_kinematics_find_joint(w->fitted->kinematics, a->kinematics->joints[j].name);
        const double now = bone_length(a->kinematics, j),
                     was = other > 0 ? bone_length(w->fitted->kinematics, other) : now;
        if (fabs(now - was) > bone_share * was && fabs(now - was) > bone_least)
            return ex_error_set(w->error, EX_ERROR_DATA,
                                "%s: this is no body: the bone to %s is %.0f mm long, where %.0f mm would fit the "
                                "person's figure; look at the registered scans",
                                w->session->folder, a->kinematics->joints[j].name, 1000 * now, 1000 * was);
    }
    return EX_OK;
}

/* ---- entry points ---- */

ex_result ex_scan_body_make(const ex_scan_session *session, const ex_scan_body_options *options, ex_scan_body **body,
                            ex_error *error) {
    if (!session || !body)
        return exi_misuse_error(error, __func__, "no session, or no pointer for the body");
    const ex_scan_body_options plain = {0}, *o = options ? options : &plain;
    work w = {.session = session, .body = calloc(1, sizeof *w.body), .error = error};
    *body = NULL;
    ex_result result = w.body ? open_work(&w) : ex_error_memory(error, "the body", sizeof *w.body);
    if (result == EX_OK) {
        ex_articulate_def def = ex_registered_set_def(w.set);
        def.confidences = (const float *const *)w.confidences;
        def.starts = w.starts;
        def.progress = o->progress;
        def.tasks = o->tasks;
        result = ex_articulate(&def, &w.body->articulated, error);
        if (result == EX_OK)
            result = check_body(&w);
        if (result == EX_OK)
            result = ex_articulated_find_layers(&def, w.body->articulated, &w.body->layers, error);
        if (result == EX_OK)
            result = ex_articulated_rig(&def, w.body->articulated, w.body->layers, &w.body->rig, error);
        if (result == EX_OK && !o->without_left_outs && w.body->scan_count > 2)
            result = ex_articulate_leave_out(&def, w.body->articulated, &w.body->left_outs, error);
    }
    if (w.body)
        close_work(&w);
    if (result == EX_OK)
        *body = w.body;
    else
        ex_scan_body_destroy(w.body);
    return result;
}

/* ---- markers ---- */

/* A marker that a scan shows, in the frames of all joints: [joint_count]. */
typedef struct seen_marker {
    int site;
    double (*locals)[3];
} seen_marker;

typedef struct marker_list {
    seen_marker *seen;
    int count;
    size_t capacity;
    exi_arena arena;
} marker_list;

static ex_result add_labels(const ex_scan_session *session, int scan, const ex_kinematics *kinematics,
                            const ex_kin_pose *pose, marker_list *list, ex_error *error) {
    char *path = ex_scan_path(session, "labels", session->scans[scan].name, ".csv");
    const size_t joints = (size_t)kinematics->joint_count;
    double(*rotations)[4] = exi_arena_allocate(&list->arena, joints, sizeof *rotations);
    double(*places)[3] = exi_arena_allocate(&list->arena, joints, sizeof *places);
    ex_labelled *labelled = NULL;
    int count = 0;
    ex_result result = path && rotations && places ? EX_OK : ex_error_memory(error, "the markers", joints * 56);
    if (result == EX_OK && exi_scan_is_there(path))
        result = ex_scan_labels_read(session, path, &labelled, &count, error);
    if (result == EX_OK)
        ex_kin_frames(kinematics, pose, rotations, places);
    for (int i = 0; result == EX_OK && i < count; i++) {
        const int site = ex_kinematics_find_site(kinematics, labelled[i].name);
        if (site < 0 || labelled[i].confidence < 0.9)
            continue;
        seen_marker *grown = exi_array_grow(list->seen, &list->capacity, (size_t)list->count + 1, sizeof *grown);
        list->seen = grown ? grown : list->seen;
        double(*locals)[3] = grown ? exi_arena_allocate(&list->arena, joints, sizeof *locals) : NULL;
        if (!locals) {
            result = ex_error_memory(error, "the markers", joints * sizeof *locals);
            break;
        }
        list->seen[list->count++] = (seen_marker){.site = site, .locals = locals};
        for (size_t j = 0; j < joints; j++) {
            double back[4], away[3];
            exi_conjugate(rotations[j], back);
            exi_subtract(labelled[i].position, places[j], away);
            exi_rotate(back, away, locals[j]);
        }
    }
    ex_labels_free(labelled, count);
    free(path);
    return result;
}

/* Mean place of a marker in a joint's frame, and the mean square of its distances from there; infinite if no scan shows
 * it. */
static double marker_scatter(const marker_list *list, int site, int joint, double mean[3]) {
    double sum[3] = {0}, squares = 0;
    int count = 0;
    for (int i = 0; i < list->count; i++) {
        if (list->seen[i].site != site)
            continue;
        for (int c = 0; c < 3; c++)
            sum[c] += list->seen[i].locals[joint][c];
        squares += exi_dot3(list->seen[i].locals[joint], list->seen[i].locals[joint]);
        count++;
    }
    for (int c = 0; c < 3; c++)
        mean[c] = count > 0 ? sum[c] / count : 0;
    return count > 0 ? squares / count - exi_dot3(mean, mean) : INFINITY;
}

/* Puts a marker on the joint that moves it: the session's own, or the one above or below, if it stays nearer to its
 * place there. The skin of an upper forearm hardly follows its twist. */
static void place_marker(const marker_list *list, ex_kinematics *k, int site) {
    ex_site *s = &k->sites[site];
    const int own = s->joint;
    double mean[3], least = marker_scatter(list, site, own, s->local);
    s->placed = isfinite(least);
    for (int j = 0; s->placed && j < k->joint_count; j++) {
        if (k->joints[j].parent != own && k->joints[own].parent != j)
            continue;
        const double scatter = marker_scatter(list, site, j, mean);
        if (!(scatter < 0.8 * least))
            continue;
        least = scatter;
        s->joint = j;
        memcpy(s->local, mean, sizeof mean);
    }
}

/* Gives a skeleton the markers of the session. */
static ex_result add_markers(const ex_scan_session *session, const ex_scan_body *body, ex_kinematics *k,
                             ex_error *error) {
    const ex_kinematics *from = session->kinematics;
    marker_list list = {0};
    k->sites = calloc((size_t)from->site_count + 1, sizeof *k->sites);
    ex_result result = k->sites ? EX_OK : ex_error_memory(error, "the markers", 0);
    for (int s = 0; result == EX_OK && s < from->site_count; s++) {
        const int joint = ex_kinematics_find_joint(k, from->joints[from->sites[s].joint].name);
        if (joint < 0)
            continue;
        ex_site *site = &k->sites[k->site_count++];
        *site = (ex_site){.name = exi_text_copy(from->sites[s].name, strlen(from->sites[s].name)), .joint = joint};
        memcpy(site->colour, from->sites[s].colour, sizeof site->colour);
        result = site->name ? EX_OK : ex_error_memory(error, "the markers", 0);
    }
    for (int i = 0; i < body->scan_count && result == EX_OK; i++)
        result = add_labels(session, body->scans[i], k, &body->articulated->poses[i], &list, error);
    for (int s = 0; result == EX_OK && s < k->site_count; s++)
        place_marker(&list, k, s);
    free(list.seen);
    exi_arena_free(&list.arena);
    return result;
}

/* True if a joint turns about its axis in all scans, but for two degrees. */
static bool is_hinge(const ex_articulated *a, int joint) {
    const ex_kin_joint *of = &a->kinematics->joints[joint];
    bool hinge = of->freedom == EX_FREEDOM_HINGE;
    for (int i = 0; hinge && i < a->form_count; i++) {
        double across[3];
        exi_cross(of->axis, a->poses[i].rotations[joint], across);
        hinge = sqrt(exi_dot3(across, across)) < sin(0.5 * 0.035);
    }
    return hinge;
}

static ex_result write_fit(const ex_scan_session *session, const ex_scan_body *body, ex_error *error) {
    const ex_articulated *a = body->articulated;
    char *path = ex_scan_path(session, "", "fit", ".json");
    ex_scan_fitted fitted = {.kinematics = ex_kinematics_copy(a->kinematics),
                             .scan_count = body->scan_count,
                             .names = exi_array_allocate((size_t)body->scan_count, sizeof *fitted.names),
                             .poses = a->poses,
                             .rms = a->rms};
    ex_result result =
        path && fitted.kinematics && fitted.names ? EX_OK : ex_error_memory(error, "the fit", (size_t)body->scan_count);
    for (int i = 0; result == EX_OK && i < body->scan_count; i++)
        fitted.names[i] = session->scans[body->scans[i]].name;
    for (int j = 1; result == EX_OK && j < fitted.kinematics->joint_count; j++)
        if (!is_hinge(a, j))
            fitted.kinematics->joints[j].freedom = EX_FREEDOM_BALL;
    if (result == EX_OK)
        result = add_markers(session, body, fitted.kinematics, error);
    if (result == EX_OK)
        result = ex_scan_fitted_write(path, &fitted, error);
    ex_kinematics_destroy(fitted.kinematics);
    free(fitted.names);
    free(path);
    return result;
}

ex_result ex_scan_body_write(const ex_scan_session *session, const ex_scan_body *body, ex_error *error) {
    if (!session || !body)
        return exi_misuse_error(error, __func__, "no session, or no body");
    char *path = ex_scan_path(session, "", "body", ".glb");
    ex_result result = path ? ex_rig_write(path, body->rig, error) : ex_error_memory(error, "a path", 0);
    if (result == EX_OK)
        result = write_fit(session, body, error);
    free(path);
    return result;
}

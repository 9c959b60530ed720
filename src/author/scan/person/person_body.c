/*
 * Makes a person's body from registered scans (ex_scan_body_make). Scans that are held back come last: the body is made
 * from those before them, and measured on all.
 */
#include "author/base/array.h"
#include "author/scan/person/person.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"

#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

void ex_scan_body_destroy(ex_scan_body *body) {
    if (!body)
        return;
    ex_rig_destroy(body->rig);
    ex_left_outs_destroy(body->left_outs);
    ex_left_outs_destroy(body->measured);
    ex_mesh_destroy(body->mesh);
    free(body->unseen);
    ex_articulated_layers_destroy(body->layers);
    ex_articulated_destroy(body->articulated);
    free(body->scans);
    free(body);
}

typedef struct work {
    const ex_scan_session *session;
    ex_scan_body *body;
    int count;    /* of scans, with those held back */
    char **paths; /* [count] */
    ex_registered_set *set;
    float **confidences;    /* [count] of [vertex_count] */
    ex_scan_fitted *fitted; /* as carried */
    ex_kin_pose *starts;    /* [count], of the fit */
    exi_person_dials dials;
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

/* Lists the registered scans that the fit has, the reference first, those that are held back last. */
static ex_result list_scans(work *w) {
    const ex_scan_session *s = w->session;
    w->body->scans = exi_array_allocate((size_t)s->scan_count, sizeof *w->body->scans);
    w->paths = calloc((size_t)s->scan_count, sizeof *w->paths);
    w->starts = exi_array_allocate((size_t)s->scan_count, sizeof *w->starts);
    if (!w->body->scans || !w->paths || !w->starts)
        return no_memory(w);
    for (int i = 0; i < 2 * s->scan_count; i++) {
        const int k = i % s->scan_count, scan = k == 0 ? s->reference : k <= s->reference ? k - 1 : k;
        if (s->scans[scan].held != (i >= s->scan_count))
            continue;
        const int pose = find_pose(w->fitted, s->scans[scan].name);
        char *path = ex_scan_path(s, "registered", s->scans[scan].name, ".ply");
        if (!path)
            return no_memory(w);
        if (pose < 0 || !exi_scan_is_there(path)) {
            free(path);
            continue;
        }
        w->paths[w->count] = path;
        w->starts[w->count] = w->fitted->poses[pose];
        w->body->scans[w->count++] = scan;
        w->body->scan_count += !s->scans[scan].held;
        w->body->held_count += s->scans[scan].held;
    }
    if (w->body->scan_count < 2)
        return ex_error_set(
            w->error, EX_ERROR_DATA,
            "%s: %d scans are registered%s, and a body needs two or more: 'exemplar scan carry' makes them", s->folder,
            w->body->scan_count, w->body->held_count > 0 ? " and not held back" : "");
    return EX_OK;
}

/* Confidences are greys. */
static ex_result read_confidences(work *w) {
    const int vertices = w->set->mesh->vertex_count;
    ex_result result = EX_OK;
    w->confidences = calloc((size_t)w->count, sizeof *w->confidences);
    if (!w->confidences)
        return no_memory(w);
    for (int i = 0; i < w->count && result == EX_OK; i++) {
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
        result = ex_registered_set_read((const char *const *)w->paths, w->count, person, skeleton, &w->set, w->error);
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
    for (int i = 0; w->confidences && i < w->count; i++)
        free(w->confidences[i]);
    free(w->paths);
    free(w->confidences);
    free(w->starts);
    ex_registered_set_destroy(w->set);
    ex_scan_fitted_destroy(w->fitted);
    exi_person_dials_free(&w->dials);
}

/* ---- the steps ---- */

/* Keeps the rest form with its faces, for pictures and checks. */
static ex_result keep_mesh(work *w) {
    w->body->mesh = ex_mesh_copy(w->set->mesh);
    if (!w->body->mesh)
        return no_memory(w);
    memcpy(w->body->mesh->positions, w->body->articulated->rest,
           3 * (size_t)w->set->mesh->vertex_count * sizeof *w->body->articulated->rest);
    return EX_OK;
}

static ex_result check(work *w) {
    const exi_body_check c = {.session = w->session,
                              .body = w->body,
                              .carried = w->fitted->kinematics,
                              .rest = w->set->rest,
                              .confidences = (const float *const *)w->confidences};
    return exi_person_check(&c, w->error);
}

static ex_result make_dials(work *w) {
    const char *person = w->session->person;
    char *path = strcmp(person, "human") != 0 ? exi_scan_file(w->session->folder, person) : NULL;
    exi_human *human = NULL;
    ex_result result = exi_human_read(path, &human, w->error);
    if (result == EX_OK)
        result = exi_person_dials_make(w->body->articulated, w->body->mesh, human, &w->dials, w->error);
    exi_human_destroy(human);
    free(path);
    return result;
}

static ex_result make(work *w, const ex_scan_body_options *o) {
    ex_articulate_def def = ex_registered_set_def(w->set), all;
    def.confidences = (const float *const *)w->confidences;
    def.starts = w->starts;
    def.progress = o->progress;
    def.tasks = o->tasks;
    all = def;
    def.form_count = w->body->scan_count;
    ex_result result = ex_articulate(&def, &w->body->articulated, w->error);
    if (result == EX_OK)
        result = keep_mesh(w);
    if (result == EX_OK)
        result = ex_articulated_find_layers(&def, w->body->articulated, &w->body->layers, w->error);
    if (result == EX_OK)
        result = ex_articulated_measure(&all, w->body->articulated, w->body->layers, &w->body->measured, w->error);
    if (result == EX_OK)
        result = check(w);
    if (result == EX_OK)
        result = make_dials(w);
    if (result == EX_OK) {
        def.dial_count = w->dials.count;
        def.dials = w->dials.dials;
        result = ex_articulated_rig(&def, w->body->articulated, w->body->layers, &w->body->rig, w->error);
    }
    if (result == EX_OK && !o->without_left_outs && w->body->held_count == 0 && w->body->scan_count > 2)
        result = ex_articulate_leave_out(&def, w->body->articulated, &w->body->left_outs, w->error);
    return result;
}

/* ---- entry point ---- */

ex_result ex_scan_body_make(const ex_scan_session *session, const ex_scan_body_options *options, ex_scan_body **body,
                            ex_error *error) {
    if (!session || !session->person || !body)
        return exi_misuse_error(error, __func__, "no session, no template person, or no pointer for the body");
    const ex_scan_body_options plain = {0}, *o = options ? options : &plain;
    work w = {.session = session, .body = calloc(1, sizeof *w.body), .error = error};
    *body = NULL;
    if (!w.body)
        return ex_error_memory(error, "the body", sizeof *w.body);
    w.body->wrong = -1;
    ex_result result = open_work(&w);
    if (result == EX_OK)
        result = make(&w, o);
    close_work(&w);
    if (result == EX_OK || w.body->wrong >= 0)
        *body = w.body;
    else
        ex_scan_body_destroy(w.body);
    return result;
}

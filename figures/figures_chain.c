/*
 * figures/figures_chain.c - figures 6 and 7 of trajectory warping, on jointed forms. 6: a chain that folds up, with one
 * velocity pair per vertex (a), with bases appended for its links (b), the links (c), and the motion of each basis
 * alone (d to f). 7: a tail that curls, with its segments found, without bases and with them, and along other paths.
 */
#include "figures.h"

#include "cli/base/words.h"

#include <stdlib.h>

/* Paths from a rig's mesh to its form at a pose, computed again in double, with separate bases. */
typedef struct paths {
    ex_trajectories_def def;
    ex_trajectories *found;
    ex_mesh *start;
    double *end;
    const double *ends[1];
    const char *names[1];
    int *triangles;
} paths;

static void paths_close(paths *p) {
    ex_trajectories_destroy(p->found);
    ex_mesh_destroy(p->start);
    free(p->end);
    free(p->triangles);
}

/* Evaluates the rig's cage at a pose, "t=1". */
static ex_result read_form(const ex_rig *rig, const char *word, double *form, ex_error *error) {
    const ex_evaluation how = {.level = 0};
    const size_t count = (size_t)ex_rig_vertex_count(rig);
    float *positions = malloc((count + 1) * 3 * sizeof *positions);
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1) + 1);
    ex_pose pose = ex_pose_create(rig);
    ex_result result = positions && scratch && pose.inputs ? EX_OK : ex_error_memory(error, "a form", count);
    if (result == EX_OK)
        result = exi_pose_word(rig, word, &pose, error);
    if (result == EX_OK) {
        ex_rig_evaluate(rig, &pose, &(ex_output){.positions = positions}, &how, scratch);
        for (size_t i = 0; i < 3 * count; i++)
            form[i] = (double)positions[i];
    }
    free(positions);
    free(scratch);
    free(pose.inputs);
    return result;
}

/* Prepares everything but the search; default: the paper's energies. */
static ex_result paths_open(const ex_rig *rig, const char *word, const ex_tasks *tasks, paths *p, ex_error *error) {
    ex_result result = ex_rig_to_mesh(rig, NULL, &p->start, error);
    if (result != EX_OK)
        return result;
    const size_t vertices = (size_t)p->start->vertex_count, faces = (size_t)p->start->face_count;
    p->end = malloc((vertices + 1) * 3 * sizeof *p->end);
    p->triangles = malloc((faces + 1) * 3 * sizeof *p->triangles);
    if (!p->end || !p->triangles)
        return ex_error_memory(error, "paths", vertices);
    for (size_t i = 0; i < 3 * faces; i++)
        p->triangles[i] = p->start->corners[i];
    result = read_form(rig, word, p->end, error);
    if (result != EX_OK)
        return result;
    p->ends[0] = p->end;
    p->names[0] = word;
    p->def = (ex_trajectories_def){.vertex_count = (int)vertices,
                                   .triangle_count = (int)faces,
                                   .triangles = p->triangles,
                                   .reference = p->start->positions,
                                   .example_count = 1,
                                   .examples = p->ends,
                                   .names = p->names,
                                   .options = ex_trajectory_options_default(),
                                   .tasks = tasks};
    p->def.options.mode = EX_TRAJECTORY_PAPER;
    return EX_OK;
}

static ex_result paths_find(paths *p, ex_error *error) {
    ex_trajectories_destroy(p->found);
    p->found = NULL;
    return ex_trajectories_create(&p->def, &p->found, error);
}

/* The form at t, from one basis, or from all (-1). */
static ex_result paths_form(const paths *p, double t, int basis, float **form, ex_error *error) {
    const size_t count = 3 * (size_t)p->def.vertex_count;
    double *positions = malloc((count + 1) * sizeof *positions);
    *form = malloc((count + 1) * sizeof **form);
    const bool room =
        positions && *form && ex_trajectories_form(p->found, &p->def, (const double[1]){t}, basis, positions);
    for (size_t i = 0; room && i < count; i++)
        (*form)[i] = (float)positions[i];
    free(positions);
    return room ? EX_OK : ex_error_memory(error, "a form", count);
}

/* A shot of the mesh in the colours of its segments. */
static exi_shot segment_shot(const ex_rig *rig, const paths *p, const float *start, const char *title) {
    return (exi_shot){.rig = rig,
                      .form = start,
                      .face_segments = p->found->triangle_segments,
                      .segments = &p->found->segments,
                      .title = title};
}

/* Number of bases of a tree of segments: one for every joint except those at its root. */
static int basis_count(const ex_segments *segments) {
    int count = 0;
    for (int k = 0; k < segments->count; k++)
        count += segments->parents[k] >= 0 && segments->parents[segments->parents[k]] >= 0;
    return count;
}

/* ---- figure 6 ---- */

enum { LINKS = 4 };

/* The link of every triangle; links are one metre long, along x. NULL if out of memory. */
static int *find_links(const ex_mesh *mesh) {
    int *links = malloc(((size_t)mesh->face_count + 1) * sizeof *links);
    for (int t = 0; links && t < mesh->face_count; t++) {
        double x = 0;
        for (int i = 0; i < 3; i++)
            x += mesh->positions[3 * (size_t)mesh->corners[3 * t + i]] / 3;
        links[t] = x < 0 ? 0 : x < LINKS ? (int)x : LINKS - 1;
    }
    return links;
}

ex_result exi_figure_chain(exi_figures *f, const char *path) {
    static const char *const titles[3] = {"(d)", "(e)", "(f)"};
    static const char *const notes[3] = {"the vertices' own pairs", "the first basis", "the second basis"};
    const ex_rig *plain = exi_figures_rig_variant(f, "cylinder", "plain"), *rig = exi_figures_rig(f, "cylinder");
    if (!plain || !rig)
        return f->error->result;
    exi_shot shots[7] = {
        {.rig = plain, .pose = "t=0.5", .tone = 2, .title = "(a)", .note = "one pair a vertex"},
        {.rig = rig, .pose = "t=0.5", .title = "(b)", .note = "bases for links"},
    };
    shots[3] = (exi_shot){.rig = rig, .pose = "t=1", .tone = 1, .title = "folded", .note = "the example"};
    float *forms[4] = {NULL, NULL, NULL, NULL};
    paths p = {.found = NULL};
    ex_result result = paths_open(rig, "t=1", f->tasks, &p, f->error);
    int *links = result == EX_OK ? find_links(p.start) : NULL;
    if (result == EX_OK && !links)
        result = ex_error_memory(f->error, "the links", 0);
    p.def.options.bases = true;
    p.def.options.root = 0;
    p.def.options.segments = links;
    if (result == EX_OK)
        result = paths_find(&p, f->error);
    for (int i = 0; result == EX_OK && i < 3; i++) {
        result = paths_form(&p, 0.5, i == 0 ? 0 : i + 2, &forms[i], f->error); /* two joints from the root: one basis */
        shots[4 + i] = (exi_shot){.rig = rig, .form = forms[i], .title = titles[i], .note = notes[i]};
    }
    if (result == EX_OK)
        result = paths_form(&p, 0, -1, &forms[3], f->error);
    if (result == EX_OK) {
        shots[2] = segment_shot(rig, &p, forms[3], "(c)");
        exi_figures_fact(f, "triangles", "4k", "%d", p.def.triangle_count);
        exi_figures_fact(f, "links, and bases appended", "4, 2", "%d, %d", p.found->segments.count,
                         basis_count(&p.found->segments));
        exi_figures_fact(f, "iterations", "4", "%d", p.found->fits[0].iterations);
        result = exi_figures_shots(
            f, &(exi_shots){.shots = shots, .count = 7, .columns = 4, .yaw = 0, .pitch = 4, .size = 1.1}, path);
    }
    for (int i = 0; i < 4; i++)
        free(forms[i]);
    free(links);
    paths_close(&p);
    return result;
}

/* ---- figure 7 ---- */

#define CURL      0.6
#define CURL_POSE "curl=0.6"
#define RUMP      (-0.45) /* metres: everything beyond stays as it is, and is the root */

/* Segment 0 for the animal's body, -1 for its tail, whose segments are to be found. NULL if out of memory. */
static int *find_body(const ex_mesh *mesh) {
    int *segments = malloc(((size_t)mesh->face_count + 1) * sizeof *segments);
    for (int t = 0; segments && t < mesh->face_count; t++) {
        const double *p[3];
        for (int i = 0; i < 3; i++)
            p[i] = mesh->positions + 3 * (size_t)mesh->corners[3 * t + i];
        segments[t] = (p[0][0] + p[1][0] + p[2][0]) / 3 > RUMP ? 0 : -1;
    }
    return segments;
}

ex_result exi_figure_tail(exi_figures *f, const char *path) {
    static const float tail[6] = {-1.3f, 0.38f, 0, -0.1f, 1.15f, 0};
    const ex_rig *linear = exi_figures_rig_variant(f, "creature", "linear"), *rig = exi_figures_rig(f, "creature");
    if (!linear || !rig)
        return f->error->result;
    float *forms[3] = {NULL, NULL, NULL};
    paths p = {.found = NULL};
    ex_result result = paths_open(rig, "curl=1", f->tasks, &p, f->error);
    if (result == EX_OK)
        result = paths_find(&p, f->error);
    if (result == EX_OK)
        result = paths_form(&p, CURL, -1, &forms[0], f->error);
    int *body = result == EX_OK ? find_body(p.start) : NULL;
    if (result == EX_OK && !body)
        result = ex_error_memory(f->error, "the body", 0);
    p.def.options.bases = true;
    p.def.options.root = 0;
    p.def.options.segments = body;
    if (result == EX_OK)
        result = paths_find(&p, f->error);
    if (result == EX_OK)
        result = paths_form(&p, CURL, -1, &forms[1], f->error);
    if (result == EX_OK)
        result = paths_form(&p, 0, -1, &forms[2], f->error);
    if (result == EX_OK) {
        const exi_shot shots[] = {
            segment_shot(rig, &p, forms[2], "at rest, its segments"),
            {.rig = rig, .form = forms[0], .tone = 2, .title = "one pair a vertex", .note = "the paper's energies"},
            {.rig = rig, .form = forms[1], .title = "bases for segments", .note = "the paper's energies"},
            {.rig = linear, .pose = CURL_POSE, .tone = 2, .title = "straight lines"},
            {.rig = rig, .pose = CURL_POSE, .title = "guided paths", .note = "of the demo"},
            {.rig = rig, .pose = "curl=1", .tone = 1, .title = "curled", .note = "an example"},
        };
        exi_figures_fact(f, "segments, and bases appended", "", "%d, %d", p.found->segments.count,
                         basis_count(&p.found->segments));
        exi_figures_fact(f, "iterations, at most 10", "9", "%d", p.found->fits[0].iterations);
        const exi_shots how = {
            .shots = shots, .count = 6, .columns = 3, .yaw = 10, .pitch = 6, .size = 1.2, .close_up = tail};
        result = exi_figures_shots(f, &how, path);
    }
    for (int i = 0; i < 3; i++)
        free(forms[i]);
    free(body);
    paths_close(&p);
    return result;
}

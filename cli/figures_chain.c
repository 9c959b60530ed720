/*
 * cli/figures_chain.c - figure 6 of trajectory warping: a chain that folds up, with one velocity pair a vertex (a),
 * with bases appended for its links (b), the links (c, as a number), and what each basis moves by itself (d to f).
 */
#include "figures.h"

#include "runtime/base/result.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINKS = 4 };

/* The chain's trajectory again, in double, with its bases apart. */
typedef struct chain {
    ex_trajectories_def def;
    ex_trajectories *found;
    ex_mesh *start;
    double *end;
    const double *ends[1];
    int *triangles, *segments;
} chain;

static void chain_close(chain *c) {
    ex_trajectories_destroy(c->found);
    ex_mesh_destroy(c->start);
    free(c->end);
    free(c->triangles);
    free(c->segments);
}

/* The form that the rig shows at t = 1. */
static ex_result read_end(const ex_rig *rig, double *end, ex_error *error) {
    const size_t count = (size_t)ex_rig_vertex_count(rig);
    float *positions = malloc((count + 1) * 3 * sizeof *positions);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    ex_pose pose = ex_pose_create(rig);
    const bool room = positions && scratch && pose.inputs;
    if (room) {
        pose.inputs[0] = 1;
        ex_rig_evaluate(rig, &pose, &(ex_output){.positions = positions}, NULL, scratch);
        for (size_t i = 0; i < 3 * count; i++)
            end[i] = (double)positions[i];
    }
    free(positions);
    free(scratch);
    free(pose.inputs);
    return room ? EX_OK : exi_error_memory(error, "a form", count);
}

static ex_result chain_open(const ex_rig *rig, const ex_tasks *tasks, chain *c, ex_error *error) {
    ex_result result = ex_rig_to_mesh(rig, NULL, &c->start, error);
    if (result != EX_OK)
        return result;
    const size_t vertices = (size_t)c->start->vertex_count, faces = (size_t)c->start->face_count;
    c->end = malloc((vertices + 1) * 3 * sizeof *c->end);
    c->triangles = malloc((faces + 1) * 3 * sizeof *c->triangles);
    c->segments = malloc((faces + 1) * sizeof *c->segments);
    if (!c->end || !c->triangles || !c->segments)
        return exi_error_memory(error, "the chain", vertices);
    for (size_t t = 0; t < faces; t++) { /* links are one metre long, along x */
        double x = 0;
        for (size_t i = 0; i < 3; i++) {
            c->triangles[3 * t + i] = c->start->corners[3 * t + i];
            x += c->start->positions[3 * (size_t)c->start->corners[3 * t + i]] / 3;
        }
        c->segments[t] = x < 0 ? 0 : x < LINKS ? (int)x : LINKS - 1;
    }
    result = read_end(rig, c->end, error);
    if (result != EX_OK)
        return result;
    static const char *const names[1] = {"folded"};
    c->ends[0] = c->end;
    c->def = (ex_trajectories_def){.vertex_count = (int)vertices,
                                   .triangle_count = (int)faces,
                                   .triangles = c->triangles,
                                   .reference = c->start->positions,
                                   .example_count = 1,
                                   .examples = c->ends,
                                   .names = names,
                                   .options = ex_trajectory_options_default(),
                                   .tasks = tasks};
    c->def.options.mode = EX_TRAJECTORY_PAPER;
    c->def.options.bases = true;
    c->def.options.root = 0;
    c->def.options.segments = c->segments;
    return ex_trajectories_create(&c->def, &c->found, error);
}

/* What one basis moves by itself, half-way. */
static ex_result basis_form(const chain *c, int basis, float **form, ex_error *error) {
    const size_t count = 3 * (size_t)c->def.vertex_count;
    double *positions = malloc((count + 1) * sizeof *positions);
    *form = malloc((count + 1) * sizeof **form);
    const bool room =
        positions && *form && ex_trajectories_form(c->found, &c->def, (const double[1]){0.5}, basis, positions);
    for (size_t i = 0; room && i < count; i++)
        (*form)[i] = (float)positions[i];
    free(positions);
    return room ? EX_OK : exi_error_memory(error, "a form", count);
}

ex_result exi_figure_chain(exi_figures *f, const char *path) {
    static const char *const titles[3] = {"(d)", "(e)", "(f)"};
    static const char *const notes[3] = {"the vertices' own pairs", "the first basis", "the second basis"};
    const ex_rig *plain = exi_figures_rig_variant(f, "cylinder", "plain"), *rig = exi_figures_rig(f, "cylinder");
    if (!plain || !rig)
        return f->error->result;
    exi_shot shots[6] = {
        {.rig = plain, .pose = "t=0.5", .tone = 2, .title = "(a)", .note = "one pair a vertex"},
        {.rig = rig, .pose = "t=0.5", .title = "(b)", .note = "bases for links"},
        {.rig = rig, .pose = "t=1", .tone = 1, .title = "folded", .note = "the example"},
    };
    float *forms[3] = {NULL, NULL, NULL};
    chain c = {.found = NULL};
    ex_result result = chain_open(rig, f->tasks, &c, f->error);
    for (int i = 0; result == EX_OK && i < 3; i++) {
        result = basis_form(&c, i == 0 ? 0 : i + 2, &forms[i], f->error); /* two joints from the root there is one */
        shots[3 + i] = (exi_shot){.rig = rig, .form = forms[i], .title = titles[i], .note = notes[i]};
    }
    if (result == EX_OK) {
        exi_figures_fact(f, "triangles", "4k", "%d", c.def.triangle_count);
        exi_figures_fact(f, "(c): links, and bases appended", "4, 2", "%d, %d", c.found->segments.count,
                         c.found->segments.count > 2 ? c.found->segments.count - 2 : 0);
        exi_figures_fact(f, "iterations", "4", "%d", c.found->fits[0].iterations);
        result = exi_figures_shots(
            f, &(exi_shots){.shots = shots, .count = 6, .columns = 3, .yaw = 0, .pitch = 4, .size = 1.1}, path);
    }
    for (int i = 0; i < 3; i++)
        free(forms[i]);
    chain_close(&c);
    return result;
}

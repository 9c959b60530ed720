/*
 * figures/figures_times.c - table 1 of trajectory warping: for the forms of figures 1, 4 and 6 as drawn, the time to
 * find the paths in both modes, to evaluate a frame of the rig, and to solve Poisson's equation for one.
 */
#include "figures.h"

#include "cli/base/files.h"
#include "cli/base/words.h"

#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 50 };

typedef struct model {
    const char *figure, *demo, *pose;                     /* from rest to this pose */
    const char *triangles, *iterations, *frame, *poisson; /* the paper's values */
} model;

/* The rig's surface at a pose, as drawn. */
static ex_result surface_at(const ex_rig *rig, const char *words, ex_mesh **mesh, ex_error *error) {
    const ex_evaluation how = {.level = ex_rig_level(rig)};
    float *positions = malloc(((size_t)ex_rig_level_vertex_count(rig, how.level) + 1) * 3 * sizeof *positions);
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1) + 1);
    ex_pose pose = ex_pose_create(rig);
    ex_result result = positions && scratch && pose.inputs ? EX_OK : ex_error_memory(error, "a form", 0);
    if (result == EX_OK && words)
        result = exi_pose_word(rig, words, &pose, error);
    if (result == EX_OK) {
        ex_rig_evaluate(rig, &pose, &(ex_output){.positions = positions}, &how, scratch);
        result = ex_rig_to_mesh(rig, &(ex_surface){.level = how.level, .positions = positions}, mesh, error);
    }
    free(positions);
    free(scratch);
    free(pose.inputs);
    return result;
}

/* Makes a guided rig of only the two forms, as `exemplar warp` does. They are left next to the demo. */
static ex_result make_rig(exi_figures *f, const model *m, ex_mesh *const forms[2], ex_rig **rig) {
    static const char text[] =
        "{\"exemplar\": 1, \"mesh\": \"drawn_0.obj\", \"layers\": [{\"name\": \"way\", \"space\": [{\"name\": \"t\", "
        "\"min\": 0, \"max\": 1}], \"weigh\": {\"kind\": \"direct\"}, \"shape\": \"trajectory\", \"examples\": "
        "[{\"name\": \"end\", \"mesh\": \"drawn_1.obj\"}]}]}";
    char *demos = exi_path_inside(f->folder, "demos", ""), *folder = demos ? exi_path_inside(demos, m->demo, "") : NULL;
    char *paths[3] = {NULL, NULL, NULL};
    static const char *const names[3] = {"drawn_0.obj", "drawn_1.obj", "drawn.json"};
    ex_project *project = NULL;
    ex_result result = folder ? EX_OK : ex_error_memory(f->error, "a path", 0);
    for (int i = 0; result == EX_OK && i < 3; i++) {
        paths[i] = exi_path_inside(folder, names[i], "");
        result = paths[i] ? EX_OK : ex_error_memory(f->error, "a path", 0);
        if (result == EX_OK && i < 2)
            result = ex_obj_write(paths[i], forms[i], f->error);
    }
    if (result == EX_OK)
        result = ex_project_parse(text, sizeof text - 1, paths[2], &project, f->error);
    if (result == EX_OK)
        result = ex_project_build(project, NULL, rig, f->error);
    ex_project_destroy(project);
    for (int i = 0; i < 3; i++)
        free(paths[i]);
    free(folder);
    free(demos);
    return result;
}

/* Microseconds per frame. */
static double frame_time(const ex_rig *rig, const char *words) {
    float *positions = malloc(((size_t)ex_rig_vertex_count(rig) + 1) * 3 * sizeof *positions);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    ex_pose pose = ex_pose_create(rig);
    double time = 0;
    if (positions && scratch && pose.inputs && exi_pose_word(rig, words, &pose, NULL) == EX_OK) {
        const double start = exi_clock();
        for (int i = 0; i < FRAMES; i++)
            ex_rig_evaluate(rig, &pose, &(ex_output){.positions = positions}, NULL, scratch);
        time = (exi_clock() - start) * 1e6 / FRAMES;
    }
    free(positions);
    free(scratch);
    free(pose.inputs);
    return time;
}

/* Finds the paths; measures the seconds and the number of steps. */
static ex_result find_paths(const ex_trajectories_def *def, ex_trajectory_mode mode, double *seconds, int *steps,
                            ex_error *error) {
    ex_trajectories_def own = *def;
    ex_trajectories *found = NULL;
    own.options.mode = mode;
    const double start = exi_clock();
    const ex_result result = ex_trajectories_create(&own, &found, error);
    *seconds = exi_clock() - start;
    *steps = result == EX_OK ? found->fits[0].iterations : 0;
    ex_trajectories_destroy(found);
    return result;
}

static ex_result poisson_time(const ex_trajectories_def *def, double *seconds, ex_error *error) {
    ex_between *between = NULL;
    const ex_between_def made = {.vertex_count = def->vertex_count,
                                 .triangle_count = def->triangle_count,
                                 .triangles = def->triangles,
                                 .start = def->reference,
                                 .end = def->examples[0]};
    double *positions = malloc(((size_t)def->vertex_count + 1) * 3 * sizeof *positions);
    ex_result result = positions ? ex_between_create(&made, &between, error) : ex_error_memory(error, "a form", 0);
    const double start = exi_clock();
    if (result == EX_OK)
        result = ex_between_form(between, EX_BETWEEN_POISSON, 0.5, positions, error);
    *seconds = exi_clock() - start;
    ex_between_destroy(between);
    free(positions);
    return result;
}

static void add_facts(exi_figures *f, const model *m, int triangles, const double seconds[3], const int steps[2],
                      double frame) {
    char what[96];
    snprintf(what, sizeof what, "figure %s: triangles", m->figure);
    exi_figures_fact(f, what, m->triangles, "%d", triangles);
    snprintf(what, sizeof what, "figure %s: paths, by the paper's energies; guided, s", m->figure);
    exi_figures_fact(f, what, m->iterations, "%d \xC3\x97 %.2g; %.2g", steps[1],
                     seconds[1] / (steps[1] > 0 ? steps[1] : 1), seconds[0]);
    snprintf(what, sizeof what, "figure %s: a frame of the rig, \xC2\xB5s", m->figure);
    exi_figures_fact(f, what, m->frame, "%.3g", frame);
    snprintf(what, sizeof what, "figure %s: a frame by Poisson's equation, ms", m->figure);
    exi_figures_fact(f, what, m->poisson, "%.3g", seconds[2] * 1e3);
}

static ex_result measure(exi_figures *f, const model *m) {
    const ex_rig *rig = exi_figures_rig(f, m->demo);
    if (!rig)
        return f->error->result;
    ex_mesh *forms[2] = {NULL, NULL};
    int *corners = NULL, count = 0, steps[2] = {0, 0};
    double seconds[3] = {0, 0, 0};
    ex_result result = surface_at(rig, NULL, &forms[0], f->error);
    if (result == EX_OK)
        result = surface_at(rig, m->pose, &forms[1], f->error);
    if (result == EX_OK)
        result = ex_mesh_triangulate(forms[0], &corners, &count, f->error);
    for (int i = 0; result == EX_OK && i < 3 * count; i++)
        corners[i] = forms[0]->corners[corners[i]];
    if (result == EX_OK) {
        const double *const ends[1] = {forms[1]->positions};
        const ex_trajectories_def def = {.vertex_count = forms[0]->vertex_count,
                                         .triangle_count = count,
                                         .triangles = corners,
                                         .reference = forms[0]->positions,
                                         .example_count = 1,
                                         .examples = ends,
                                         .options = ex_trajectory_options_default()};
        for (int mode = 0; result == EX_OK && mode < 2; mode++)
            result = find_paths(&def, mode ? EX_TRAJECTORY_PAPER : EX_TRAJECTORY_GUIDED, &seconds[mode], &steps[mode],
                                f->error);
        if (result == EX_OK)
            result = poisson_time(&def, &seconds[2], f->error);
    }
    ex_rig *drawn = NULL;
    if (result == EX_OK)
        result = make_rig(f, m, forms, &drawn);
    if (result == EX_OK)
        add_facts(f, m, count, seconds, steps, frame_time(drawn, "t=0.5"));
    ex_rig_destroy(drawn);
    free(corners);
    ex_mesh_destroy(forms[0]);
    ex_mesh_destroy(forms[1]);
    return result;
}

ex_result exi_figure_path_times(exi_figures *f, const char *path) {
    static const model models[] = {
        {"1", "creature", "leap=1", "40k", "3 \xC3\x97 16.2", "34.2", "189.5"},
        {"4", "heads", "t=1", "48k", "6 \xC3\x97 19.9", "39.6", "169.5"},
        {"6", "cylinder", "t=1", "4k", "4 \xC3\x97 0.6", "16.8", "11.6"},
    };
    (void)path;
    ex_result result = EX_OK;
    for (size_t i = 0; result == EX_OK && i < sizeof models / sizeof *models; i++)
        result = measure(f, &models[i]);
    return result;
}

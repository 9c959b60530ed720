/*
 * Builds the body of the demo `body` from scans of its subject (Articulated Body Deformation from Range Scan Data). The
 * program's own scanner scans the subject, with a third of its markers missing in every scan and one spot in fifty
 * false, and the steps of `exemplar scan run` turn the scans into a body. Other scans fill the holes of a scan:
 * otherwise hands, whose tips few scans show, would end in balloons. The folder is an ordinary scan session: existing
 * files are kept, so that an interrupted run can be resumed, here or by that command.
 */
#include "body.h"

#include "common/array.h"

#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Amount of work. */
typedef struct extent {
    double spacing;  /* of the subject's skin, metres */
    double pitch[2]; /* of the scanner */
    int views;
    int markers;             /* per joint */
    double missing;          /* fraction of the markers */
    int levels;              /* levels of the body */
    const char *const *only; /* scans to make, ended by NULL; NULL: all */
} extent;

static const extent whole = {
    .spacing = BODY_SPACING, .pitch = {0.005, 0.002}, .views = 4, .markers = 12, .missing = 1.0 / 3, .levels = 5};

/* Enough to turn every joint once, in a few seconds. */
static const char *const few[] = {"arm_02",      "arm_13",      "arm_27",   "arm_33",   "shoulder_05", "shoulder_11",
                                  "shoulder_14", "shoulder_28", "torso_11", "torso_15", "torso_23",    NULL};
static const extent quick = {
    .spacing = 0.02, .pitch = {0.006, 0.003}, .views = 4, .markers = 8, .missing = 0.1, .levels = 2, .only = few};

/* ---- scanning ---- */

#define NAMES(...)                                                                                                     \
    (char *[]) {                                                                                                       \
        __VA_ARGS__                                                                                                    \
    }
#define COUNT(...) (int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *))
#define LIST(...)  COUNT(__VA_ARGS__), NAMES(__VA_ARGS__)

enum { PARTS = 3 };

/* A turned shoulder holds the arm up too, but the arm's shape does not depend on that. */
static const ex_scan_part parts[PARTS] = {
    {"arm", LIST("elbow.L", "forearm.L", "wrist.L"), LIST("shoulder.L", "elbow.L", "forearm.L", "wrist.L"),
     LIST("shoulder.L", "elbow.L", "forearm.L", "wrist.L")},
    {"shoulder", LIST("clavicle.L", "shoulder.L"), 0, NULL, LIST("clavicle.L", "shoulder.L", "abdomen")},
    {"torso", LIST("waist", "abdomen"), 0, NULL, LIST("hips", "waist", "abdomen")},
};
#define REFERENCE "shoulder_14"

typedef struct work {
    const extent *extent;
    const char *directory;
    const exi_demo_options *options;
    ex_error *error;
} work;

static ex_result report(const work *w, const char *what, double part) {
    const ex_progress *progress = w->options->progress;
    return !progress || progress->report(progress->user, what, part)
               ? EX_OK
               : ex_error_set(w->error, EX_ERROR_FILE, "stopped before it was finished");
}

static bool is_wanted(const extent *e, const char *name) {
    bool wanted = !e->only;
    for (int i = 0; e->only && e->only[i]; i++)
        wanted = wanted || strcmp(e->only[i], name) == 0;
    return wanted;
}

/* Removes the unwanted poses and moves the others up. The table still frees all of them. */
static int choose_poses(const extent *e, const ex_scan_poses *poses, ex_pose *chosen, const char **names, int *part,
                        int *reference) {
    int count = 0;
    for (int p = 0; p < poses->table.pose_count; p++) {
        if (!is_wanted(e, poses->names[p]))
            continue;
        chosen[count] = poses->table.poses[p];
        names[count] = poses->names[p];
        part[count] = -1; /* held back */
        for (int i = 0; i < PARTS; i++)
            part[count] = strcmp(poses->parts[p], parts[i].name) == 0 ? i : part[count];
        if (strcmp(names[count], REFERENCE) == 0)
            *reference = count;
        count++;
    }
    return count;
}

static ex_result scan(const work *w, const ex_rig *rig, const ex_scan_poses *poses) {
    const size_t count = (size_t)poses->table.pose_count;
    ex_pose *chosen = array_allocate(count, sizeof *chosen);
    const char **names = array_allocate(count, sizeof *names);
    int *part = array_allocate(count, sizeof *part), paint_count = 0;
    ex_paint *paints = NULL;
    ex_result result = chosen && names && part
                           ? ex_scan_paint(rig, 0, w->extent->markers, &paints, &paint_count, w->error)
                           : ex_error_memory(w->error, "the poses", count * sizeof *chosen);
    if (result == EX_OK) {
        ex_scan_simulate_def def = {.folder = w->directory,
                                    .simulation = ex_scan_simulation_default(),
                                    .parts = part,
                                    .part_count = PARTS,
                                    .part_list = parts,
                                    .paint_count = paint_count,
                                    .paints = paints,
                                    .average = -1,
                                    .rough = -1,
                                    .mirror = true,
                                    .text = poses->text,
                                    .size = poses->size,
                                    .progress = w->options->progress,
                                    .tasks = w->options->tasks};
        def.simulation.rig = rig;
        def.simulation.poses = chosen;
        def.simulation.names = names;
        def.simulation.pose_count = choose_poses(w->extent, poses, chosen, names, part, &def.reference);
        def.simulation.pitch[0] = w->extent->pitch[0];
        def.simulation.pitch[1] = w->extent->pitch[1];
        def.simulation.view_count = w->extent->views;
        def.simulation.missing = w->extent->missing;
        def.simulation.stray = 0.02;
        result = ex_scan_simulate(&def, NULL, w->error);
    }
    ex_paints_free(paints, paint_count);
    free(chosen);
    free((void *)names);
    free(part);
    return result;
}

/* Writes the subject, its rig, and the session. */
static ex_result scan_subject(const work *w) {
    char *project_path = exi_demo_path(w->directory, "subject.json"),
         *path = exi_demo_path(w->directory, "subject.glb"), *table = exi_demo_path(w->directory, "poses.csv");
    ex_project *project = NULL;
    ex_rig *rig = NULL;
    ex_scan_poses poses;
    ex_result result = project_path && path && table ? report(w, "making a person to scan", 0)
                                                     : ex_error_memory(w->error, "a path", 0);
    if (result == EX_OK)
        result = exi_body_write_subject(w->directory, w->extent->spacing, w->error);
    if (result == EX_OK)
        result = ex_project_read(project_path, &project, w->error);
    if (result == EX_OK)
        result = ex_project_build(project, &(ex_build_options){.tasks = w->options->tasks}, &rig, w->error);
    if (result == EX_OK)
        result = ex_rig_write(path, rig, w->error);
    if (result == EX_OK)
        result = ex_scan_poses_read(table, rig, &poses, w->error);
    if (result == EX_OK) {
        result = scan(w, rig, &poses);
        ex_scan_poses_free(&poses);
    }
    ex_rig_destroy(rig);
    ex_project_destroy(project);
    free(project_path);
    free(path);
    free(table);
    return result;
}

/* ---- processing the scans ---- */

typedef struct finding {
    const ex_scan_session *session;
    int first;
    ex_error errors[16];
} finding;

/* Writes found/NAME.csv, unless it exists. */
static ex_result find_markers(const ex_scan_session *session, int scan, ex_error *error) {
    const int count = session->scans[scan].file_count;
    char *path = ex_scan_path(session, "found", session->scans[scan].name, ".csv");
    ex_found_marker *markers = NULL;
    ex_mesh **meshes = NULL;
    int marker_count = 0;
    ex_result result = EX_OK;
    if (!path)
        result = ex_error_memory(error, "a path", 0);
    else if (ex_scan_found_read(session, path, &markers, &marker_count, NULL) != EX_OK) {
        result = ex_scan_meshes(session, scan, &meshes, error);
        if (result == EX_OK)
            result = ex_find_markers(meshes, count, NULL, &markers, &marker_count, error);
        if (result == EX_OK)
            result = ex_scan_found_write(session, path, markers, marker_count, error);
    }
    for (int i = 0; meshes && i < count; i++)
        ex_mesh_destroy(meshes[i]);
    free(meshes);
    free(markers);
    free(path);
    return result;
}

static void find_some(void *context, int begin, int end) {
    finding *f = context;
    for (int i = begin; i < end; i++)
        f->errors[i].result = find_markers(f->session, f->first + i, &f->errors[i]);
}

static ex_result find_all(const work *w, const ex_scan_session *session) {
    enum { BATCH = sizeof((finding *)NULL)->errors / sizeof(ex_error) };
    char *folder = ex_scan_path(session, "found", "", "");
    ex_result result = folder ? ex_make_directory(folder, w->error) : ex_error_memory(w->error, "a path", 0);
    free(folder);
    for (int first = 0; first < session->scan_count && result == EX_OK; first += BATCH) {
        finding f = {.session = session, .first = first};
        const int left = session->scan_count - first, count = left < BATCH ? left : BATCH;
        result = report(w, "finding markers", (double)first / session->scan_count);
        if (result != EX_OK)
            return result;
        if (w->options->tasks)
            w->options->tasks->run(w->options->tasks->user, count, 1, find_some, &f);
        else
            find_some(&f, 0, count);
        for (int i = 0; i < count && result == EX_OK; i++) {
            result = f.errors[i].result;
            if (result != EX_OK && w->error)
                *w->error = f.errors[i];
        }
    }
    return result;
}

static ex_result label(const work *w, const ex_scan_session *session) {
    ex_scan_labelling *labels = NULL;
    const ex_scan_label_options options = {.progress = w->options->progress, .tasks = w->options->tasks};
    const ex_result result = ex_scan_label(session, &options, &labels, w->error);
    ex_scan_labelling_destroy(labels);
    return result;
}

/* Writes fit.json and template/. */
static ex_result fit(const work *w, const ex_scan_session *session, ex_scan_fitted **fitted) {
    const ex_scan_fit_options options = {.progress = w->options->progress, .tasks = w->options->tasks};
    char *path = ex_scan_path(session, "", "fit", ".json");
    ex_kin_fit *found = NULL;
    ex_template *made = NULL;
    ex_result result =
        path ? ex_scan_fit(session, &options, fitted, &found, w->error) : ex_error_memory(w->error, "a path", 0);
    if (result == EX_OK)
        result = ex_scan_fitted_write(path, *fitted, w->error);
    if (result == EX_OK) { /* read it back, so that later steps see the same digits as a resumed session */
        ex_scan_fitted_destroy(*fitted);
        *fitted = NULL;
        result = ex_scan_fitted_read(path, fitted, w->error);
    }
    if (result == EX_OK)
        result = ex_scan_template(session, *fitted, NULL, &made, w->error);
    if (result == EX_OK)
        result = ex_scan_template_write(session, made, w->error);
    ex_template_destroy(made);
    ex_kin_fit_destroy(found);
    free(path);
    return result;
}

static ex_result build(const work *w, const ex_scan_session *session) {
    const ex_scan_build_options options = {.progress = w->options->progress, .tasks = w->options->tasks};
    ex_scan_fitted *fitted = NULL;
    ex_scan_built *built = NULL;
    ex_result result = find_all(w, session);
    if (result == EX_OK)
        result = label(w, session);
    if (result == EX_OK)
        result = fit(w, session, &fitted);
    if (result == EX_OK)
        result = ex_scan_build(session, fitted, &options, &built, w->error);
    ex_scan_fitted_destroy(fitted);
    ex_scan_built_destroy(built);
    return result;
}

/* ---- for motions ---- */

/* Maps the joints to the names that are usual in motion capture. The torso's joints are elsewhere in every skeleton,
 * and only turn; the hinges are the subject's, which the fit finds to within about a degree. */
static const char motion_map[] = "{\n  \"joints\": {\n"
                                 "    \"hips\": {\"from\": \"Hips\", \"align\": false},\n"
                                 "    \"waist\": {\"from\": \"LowerBack\", \"align\": false},\n"
                                 "    \"abdomen\": {\"from\": \"Spine1\", \"align\": false},\n";

static void write_hinge(char text[112], const double axis[3], double sign) {
    char x[32], y[32], z[32];
    snprintf(text, 112, "[%s, %s, %s]", exi_demo_number(x, axis[0], 3), exi_demo_number(y, sign * axis[1], 3),
             exi_demo_number(z, sign * axis[2], 3));
}

static ex_result write_map(const work *w) {
    static const char *const names[2] = {"Left", "Right"};
    char text[2048];
    int size = snprintf(text, sizeof text, "%s", motion_map);
    for (int side = 0; side < 2; side++) {
        const char *name = names[side], letter = name[0];
        const double *bend = exi_body_axes[BODY_BEND], *flex = exi_body_axes[BODY_FLEX];
        const double sign = side ? -1 : 1; /* mirrored in x, and turned back so that equal angles are mirror images */
        char hinges[2][112];
        write_hinge(hinges[0], bend, sign);
        write_hinge(hinges[1], flex, sign);
        size += snprintf(text + size, sizeof text - (size_t)size,
                         "    \"clavicle.%c\": {\"from\": \"%sShoulder\", \"align\": false},\n"
                         "    \"shoulder.%c\": \"%sArm\",\n"
                         "    \"elbow.%c\": {\"from\": \"%sForeArm\", \"hinge\": %s},\n"
                         "    \"wrist.%c\": {\"from\": \"%sHand\", \"hinge\": %s}%s\n",
                         letter, name, letter, name, letter, name, hinges[0], letter, name, hinges[1],
                         side ? "\n  }\n}" : ",");
    }
    return exi_demo_write_text(w->directory, "motion_map.json", text, w->error);
}

ex_result exi_demo_body(const char *directory, const exi_demo_options *options, ex_error *error) {
    const work w = {
        .extent = options->quick ? &quick : &whole, .directory = directory, .options = options, .error = error};
    ex_scan_session *session = NULL;
    ex_result result = write_map(&w);
    if (result == EX_OK)
        result = scan_subject(&w);
    if (result == EX_OK)
        result = ex_scan_session_read(directory, &session, error);
    if (result == EX_OK && session->levels != w.extent->levels) {
        session->levels = w.extent->levels;
        result = ex_scan_session_write(session, error);
    }
    if (result == EX_OK)
        result = build(&w, session);
    ex_scan_session_destroy(session);
    return result;
}

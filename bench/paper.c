/*
 * bench/paper.c - repeats the measurements of Shape by Example (Sloan, Rose and Cohen 2001, section 6) with the demos:
 * frames per second of the blob and the arm, first weights and blending alone as the paper counts them, then with the
 * other needs of a character: skinning, normals, one step of subdivision to the limit. The paper's numbers are from a
 * Pentium II at 450 MHz. It has none for faces; ours are for the eight textures of the demo.
 */
#define _XOPEN_SOURCE 700

#include "bench/bench.h"

#include "demos/demos.h"

#include <exemplar/author/files.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- rigs of the demos ---- */

typedef struct paper_rig {
    const char *demo;
    const char *subdivide; /* scheme of one step to the limit, if the demo has none; or NULL */
    bool real;             /* blob: real examples instead of the pseudo-examples */
} paper_rig;

static void remove_folder(const char *folder) {
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
        char *path = exi_demo_path(folder, entry->d_name);
        if (path && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlink(path);
        free(path);
    }
    if (entries)
        closedir(entries);
    rmdir(folder);
}

/* The project's text with one more key at its end, caller frees; NULL if out of memory. */
static char *with_subdivision(const char *text, size_t size, const char *scheme) {
    while (size > 0 && text[size - 1] != '}')
        size--;
    const size_t room = size + strlen(scheme) + 80;
    char *longer = malloc(room);
    if (longer)
        snprintf(longer, room, "%.*s, \"subdivide\": {\"scheme\": \"%s\", \"levels\": 1, \"limit\": true}}",
                 size > 0 ? (int)size - 1 : 0, text, scheme);
    return longer;
}

/* Adds the two forms that the paper's authors saved by pseudo-examples. Any forms take the same time. */
static ex_result make_real(ex_project *project, ex_error *error) {
    static const double places[2][2] = {{-1, 1}, {1, 1}};
    static const char *const names[2] = {"thick left", "thick right"}, *const meshes[2] = {"left.obj", "right.obj"};
    ex_result result = EX_OK;
    for (int i = 1; i >= 0 && result == EX_OK; i--)
        result = ex_project_edit(project, 0, &(ex_edit){.kind = EX_EDIT_REMOVE_PSEUDO, .index = i}, NULL, NULL, error);
    for (int i = 0; i < 2 && result == EX_OK; i++)
        result = ex_project_edit(project, 0, &(ex_edit){.kind = EX_EDIT_ADD_EXAMPLE, .at = places[i]}, names[i],
                                 meshes[i], error);
    return result;
}

static ex_result build(const char *path, const paper_rig *which, ex_rig **rig, ex_error *error) {
    char *text = NULL, *longer = NULL;
    size_t size = 0;
    ex_project *project = NULL;
    ex_result result = ex_file_read(path, &text, &size, error);
    if (result == EX_OK && which->subdivide && !strstr(text, "\"subdivide\"")) {
        longer = with_subdivision(text, size, which->subdivide);
        result = longer ? EX_OK : ex_error_memory(error, "a project", size);
    }
    if (result == EX_OK)
        result = ex_project_parse(longer ? longer : text, longer ? strlen(longer) : size, path, &project, error);
    if (result == EX_OK && which->real)
        result = make_real(project, error);
    if (result == EX_OK)
        result = ex_project_build(project, NULL, rig, error);
    ex_project_destroy(project);
    free(longer);
    free(text);
    return result;
}

static ex_result write_and_build(const char *folder, const paper_rig *which, ex_rig **rig, ex_error *error) {
    char name[32];
    snprintf(name, sizeof name, "%s.json", which->demo);
    char *path = exi_demo_path(folder, name);
    ex_result result = path ? EX_OK : ex_error_memory(error, "a path", 0);
    for (int i = 0; i < ex_demo_count && result == EX_OK; i++)
        if (strcmp(ex_demos[i].name, which->demo) == 0)
            result = exi_demo_write(&ex_demos[i], folder, NULL, error);
    if (result == EX_OK)
        result = build(path, which, rig, error);
    free(path);
    return result;
}

static ex_result make_rig(const paper_rig *which, ex_rig **rig, ex_error *error) {
    const char *base = getenv("TMPDIR");
    char folder[256];
    snprintf(folder, sizeof folder, "%s/exemplar-bench-XXXXXX", base && strlen(base) < 200 ? base : "/tmp");
    if (!mkdtemp(folder))
        return ex_error_set(error, EX_ERROR_FILE, "no folder can be made for the demos: '%s'", folder);
    ex_result result = write_and_build(folder, which, rig, error);
    remove_folder(folder);
    return result;
}

/* ---- frames ---- */

typedef struct paper_case {
    const char *what;
    paper_rig rig;
    ex_evaluation evaluation;
    bool normals, texture;
    double rate; /* the paper's frames per second; 0: it has none */
} paper_case;

typedef struct frames {
    ex_rig *rig;
    ex_pose pose;
    ex_output output;
    ex_evaluation evaluation;
    unsigned char *textures[1];
    void *scratch;
} frames;

static void run_frame(void *context) {
    frames *f = context;
    ex_rig_evaluate(f->rig, &f->pose, &f->output, &f->evaluation, f->scratch);
}

/* Moves all inputs away from rest, so that no weight is 0 and no form is skipped. */
static void set_inputs(const ex_rig *rig, const ex_pose *pose) {
    for (int i = 0; i < ex_rig_input_count(rig); i++) {
        const ex_axis axis = ex_rig_input_axis(rig, i);
        const double value = axis.min + (0.37 + 0.05 * (i % 4)) * (axis.max - axis.min);
        if (axis.kind == EX_AXIS_SCALAR)
            ex_rig_set_input(rig, i, &value, pose);
    }
}

static ex_result open_frames(frames *f, const paper_case *c, ex_error *error) {
    ex_result result = make_rig(&c->rig, &f->rig, error);
    if (result != EX_OK)
        return result;
    const size_t vertices = (size_t)ex_rig_level_vertex_count(f->rig, c->evaluation.level);
    f->evaluation = c->evaluation;
    f->pose = ex_pose_create(f->rig);
    f->scratch = malloc(ex_rig_scratch_size(f->rig, &f->evaluation, 1));
    if (c->texture) {
        const ex_texture texture = ex_rig_texture(f->rig, 0);
        f->textures[0] = malloc((size_t)texture.width * (size_t)texture.height * 4);
        f->output.textures = f->textures;
    } else {
        f->output.positions = malloc(vertices * 3 * sizeof(float));
        f->output.normals = c->normals ? malloc(vertices * 3 * sizeof(float)) : NULL;
    }
    if (!f->pose.inputs || !f->scratch || (c->texture && !f->textures[0]) || (!c->texture && !f->output.positions) ||
        (c->normals && !f->output.normals))
        return ex_error_memory(error, "the measurement", vertices * 24);
    set_inputs(f->rig, &f->pose);
    return EX_OK;
}

static void close_frames(frames *f) {
    ex_rig_destroy(f->rig);
    free(f->pose.inputs);
    free(f->scratch);
    free(f->textures[0]);
    free(f->output.positions);
    free(f->output.normals);
}

static bool frames_row(const exi_bench *bench, const paper_case *c) {
    frames f = {0};
    const bool good = open_frames(&f, c, bench->error) == EX_OK;
    if (good) {
        exi_work work = {run_frame, &f};
        exi_row row = {.group = "paper",
                       .frames = true,
                       .ns = exi_measure_alone(&work, bench->repeat),
                       .vertex_count = c->texture ? 0 : ex_rig_level_vertex_count(f.rig, c->evaluation.level)};
        if (c->rate > 0) {
            row.peer = "the paper, 2001";
            row.peer_note = "as printed, Pentium II at 450 MHz";
            row.peer_ns = 1e9 / c->rate;
        }
        snprintf(row.work, sizeof row.work, "%s: %s", c->rig.demo, c->what);
        bench->report(bench->user, &row);
    }
    close_frames(&f);
    return good;
}

bool exi_bench_paper(const exi_bench *bench) {
    const ex_evaluation at_rest = {.unskinned = true}, posed = {0}, limit = {.level = EX_LEVEL_LIMIT};
    const paper_case cases[] = {
        {"weights and blend, 5 forms", {"blob", NULL, false}, posed, false, false, 5500},
        {"weights and blend, 7 forms", {"blob", NULL, true}, posed, false, false, 4000},
        {"... and a step of Loop to the limit, normals", {"blob", "loop", false}, limit, true, false, 0},
        {"weights and blend, 8 forms", {"arm", NULL, false}, at_rest, false, false, 2074},
        {"... and skinning", {"arm", NULL, false}, posed, false, false, 0},
        {"... and skinning, normals", {"arm", NULL, false}, posed, true, false, 0},
        {"... and a step of Catmull-Clark, normals", {"arm", "catmull_clark", false}, limit, true, false, 0},
        {"the texture of 512 x 512, 8 images", {"face", NULL, false}, posed, false, true, 0},
    };
    bool good = true;
    for (size_t i = 0; good && i < sizeof cases / sizeof cases[0]; i++)
        good = frames_row(bench, &cases[i]);
    return good;
}

/* exemplar scan articulate - makes a rig from registered meshes: one mesh in many poses. */
#define _DEFAULT_SOURCE /* readdir, strcasecmp */

#include "scan.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/lock.h"
#include "common/pool.h"
#include "cli/base/rigs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *output, *skeleton, *weights, *poses, *unit, *up;
static int bones;
static bool no_report, no_layers;

static const ex_option options[] = {
    {.name = "output", .letter = 'o', .argument = "RIG.glb", .help = "output file of the rig", .text = &output},
    {.name = "weights",
     .argument = "BODY.glb",
     .help =
         "start from the skeleton, rest form and skin weights of this glTF file, which has the same vertices in the "
         "same order (default: bones are found)",
     .text = &weights},
    {.name = "skeleton",
     .values = "full|upper",
     .argument = "S",
     .help =
         "with --weights: keep only the joints of this skeleton, full, upper or a file, by their names; hinges turn "
         "about its axes (default: all joints of the weights' file)",
     .text = &skeleton},
    {.name = "bones",
     .argument = "N",
     .help = "without --weights: at most this many bones (default: as many as help, up to 40)",
     .count = &bones,
     .count_max = EX_ARTICULATE_BONES},
    {.name = "poses",
     .argument = "FILE.csv",
     .help = "write the pose of every mesh, for 'exemplar pose' and 'exemplar bake'",
     .text = &poses},
    {.name = "unit",
     .values = "m|cm|mm|dm|in|ft",
     .argument = "UNIT",
     .help =
         "unit of the meshes: m, dm, cm, mm, in or ft (default: cm or mm if they are as large as a person then, else "
         "m)",
     .text = &unit},
    {.name = "up",
     .values = "y|z",
     .argument = "AXIS",
     .help = "the axis that is up in the meshes: y or z (default: y)",
     .text = &up},
    {.name = "no-layers", .help = "skin only: make no layers of what skinning leaves", .flag = &no_layers},
    {.name = "no-report",
     .help = "do not leave meshes out to measure the result; saves most of the time",
     .flag = &no_report},
};

/* ---- files of a folder ---- */

/* Compares as people count: pose_9 before pose_10. */
static int by_number(const void *a, const void *b) {
    const char *s = *(const char *const *)a, *t = *(const char *const *)b;
    while (*s && *t) {
        if (strchr("0123456789", *s) && strchr("0123456789", *t)) {
            char *s_end, *t_end;
            const unsigned long x = strtoul(s, &s_end, 10), y = strtoul(t, &t_end, 10);
            if (x != y)
                return x < y ? -1 : 1;
            s = s_end;
            t = t_end;
        } else if (*s != *t) {
            return (unsigned char)*s < (unsigned char)*t ? -1 : 1;
        } else {
            s++, t++;
        }
    }
    return (*s != 0) - (*t != 0);
}

/* Meshes, but not the results of an earlier run, and not the file to start from. */
static bool is_mesh(const char *name) {
    static const char *const endings[] = {".obj", ".ply", ".off", ".glb", ".gltf"};
    const char *ending = strrchr(name, '.');
    bool is = false;
    for (int i = 0; i < 5 && ending && name[0] != '.'; i++)
        is = is || strcasecmp(ending, endings[i]) == 0;
    return is && strcmp(name, "body.glb") != 0 && strcmp(name, "template.glb") != 0;
}

static void free_paths(char **paths, int count) {
    for (int i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
}

/* Lists the meshes of a folder in the order of their names; false after printing an error. */
static bool list_meshes(const char *path, char ***paths, int *count) {
    DIR *folder = opendir(path);
    int room = 0;
    bool fits = true;
    *paths = NULL;
    *count = 0;
    for (struct dirent *entry; folder && fits && (entry = readdir(folder)) != NULL;) {
        if (!is_mesh(entry->d_name))
            continue;
        if (*count == room) {
            room = 2 * room + 16;
            char **grown = realloc(*paths, (size_t)room * sizeof *grown);
            fits = grown != NULL;
            *paths = fits ? grown : *paths;
        }
        char *file = fits ? exi_path_inside(path, entry->d_name, "") : NULL;
        fits = file != NULL;
        if (fits)
            (*paths)[(*count)++] = file;
    }
    if (folder)
        closedir(folder);
    if (!fits)
        exi_failed_memory();
    else if (*count > 0)
        qsort(*paths, (size_t)*count, sizeof **paths, by_number);
    return fits;
}

bool exi_scan_is_registered(const char *folder) {
    char *session = exi_path_inside(folder, "scan", ".json"), **paths = NULL;
    int count = 0;
    const bool is = session && exi_file_is_folder(folder) && !exi_file_exists(session) &&
                    list_meshes(folder, &paths, &count) && count > 0;
    free_paths(paths, count);
    free(session);
    return is;
}

/* ---- text ---- */

typedef struct outcome {
    ex_registered_set *registered;
    ex_articulated *body;
    ex_articulated_layers *layers;
    ex_left_outs *report;
    ex_rig *rig;
} outcome;

static void print_joints(const ex_articulated *body) {
    int open = 0;
    for (int b = 0; b < body->kinematics->joint_count; b++)
        open += body->open[b];
    if (open == 0)
        return;
    exi_print("hardly turned in these meshes, so their centres are guesses:");
    for (int b = 0; b < body->kinematics->joint_count; b++)
        if (body->open[b])
            exi_print(" %s", body->kinematics->joints[b].name);
    exi_print("\n");
}

static void print_layers(const outcome *o) {
    char layers[EXI_TEXT_SIZE];
    if (!o->layers)
        return;
    if (o->layers->count == 0) {
        exi_print("no layers: guesses of what skinning leaves were no better than none\n");
        return;
    }
    exi_print("%s of what skinning leaves:", exi_text_count(layers, o->layers->count, "layer"));
    for (int i = 0; i < o->layers->count; i++)
        exi_print(" %s", o->body->kinematics->joints[o->layers->layers[i].joint].name);
    exi_print("\n");
}

static void print_report(const outcome *o) {
    const ex_left_outs *r = o->report;
    char a[EXI_TEXT_SIZE], b[EXI_TEXT_SIZE], c[EXI_TEXT_SIZE], d[EXI_TEXT_SIZE], e[EXI_TEXT_SIZE], f[EXI_TEXT_SIZE];
    exi_print("%-20s %19s%s\n", "", "as made", r ? "       left out, then only posed" : "");
    exi_print("%-20s %9s %9s", "distance of vertices", "rms", "95 %");
    if (r)
        exi_print(" %10s %9s %11s %10s %6s", "rms", "95 %", "skin only", "one mesh", "ratio");
    exi_print("\n");
    for (int i = 0; i < o->body->form_count; i++) {
        exi_print("%-20s %9s %9s", o->registered->names[i], exi_text_length(a, o->body->rms[i]),
                  exi_text_length(b, o->body->high[i]));
        if (r)
            exi_print(" %10s %9s %11s %10s %6.2f", exi_text_length(c, r->forms[i].rms),
                      exi_text_length(d, r->forms[i].high), exi_text_length(e, r->forms[i].skinned_rms),
                      exi_text_length(f, r->forms[i].one_rms), r->forms[i].rms / r->forms[i].one_rms);
        exi_print("\n");
    }
    exi_print("%-20s %9s", "all", exi_text_length(a, o->body->all_rms));
    if (r)
        exi_print(" %9s %10s %9s %11s %10s %6.2f", "", exi_text_length(c, r->all.rms), exi_text_length(d, r->all.high),
                  exi_text_length(e, r->all.skinned_rms), exi_text_length(f, r->all.one_rms),
                  r->all.rms / r->all.one_rms);
    exi_print("\n");
    if (r)
        exi_print("one mesh: '%s' alone, skinned and posed likewise; ratio: left out, to one mesh\n",
                  o->registered->names[0]);
}

/* ---- JSON ---- */

static void emit_joints(exi_emitter *json, const ex_articulated *body) {
    exi_emit_open(json, "joints", '[');
    for (int b = 0; b < body->kinematics->joint_count; b++) {
        const ex_kin_joint *joint = &body->kinematics->joints[b];
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "name", joint->name);
        exi_emit_text(json, "parent", joint->parent >= 0 ? body->kinematics->joints[joint->parent].name : NULL);
        exi_emit_numbers(json, "translation", joint->translation, 3);
        exi_emit_bool(json, "open", body->open[b]);
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
}

static void emit_forms(exi_emitter *json, const outcome *o) {
    exi_emit_open(json, "forms", '[');
    for (int i = 0; i < o->body->form_count; i++) {
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "name", o->registered->names[i]);
        exi_emit_number(json, "rms", o->body->rms[i]);
        exi_emit_number(json, "high", o->body->high[i]);
        exi_emit_numbers(json, "translation", o->body->poses[i].translation, 3);
        exi_emit_open(json, "rotations", '[');
        for (int b = 0; b < o->body->kinematics->joint_count; b++)
            exi_emit_numbers(json, NULL, o->body->poses[i].rotations[b], 4);
        exi_emit_close(json, ']');
        if (o->report) {
            const ex_left_out *l = &o->report->forms[i];
            exi_emit_open(json, "left_out", '{');
            exi_emit_number(json, "rms", l->rms);
            exi_emit_number(json, "high", l->high);
            exi_emit_number(json, "skinned_rms", l->skinned_rms);
            exi_emit_number(json, "skinned_high", l->skinned_high);
            exi_emit_number(json, "one_rms", l->one_rms);
            exi_emit_number(json, "one_high", l->one_high);
            exi_emit_close(json, '}');
        }
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
}

static void print_json(const outcome *o, const char *path) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "rig", path);
    exi_emit_number(&json, "vertices", o->body->vertex_count);
    exi_emit_number(&json, "rounds", o->body->round_count);
    exi_emit_number(&json, "rms", o->body->all_rms);
    if (o->report) {
        exi_emit_number(&json, "left_out_rms", o->report->all.rms);
        exi_emit_number(&json, "one_rms", o->report->all.one_rms);
        exi_emit_number(&json, "ratio", o->report->all.rms / o->report->all.one_rms);
    }
    emit_joints(&json, o->body);
    emit_forms(&json, o);
    exi_emit_open(&json, "layers", '[');
    for (int i = 0; o->layers && i < o->layers->count; i++) {
        const ex_articulated_layer *layer = &o->layers->layers[i];
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", o->body->kinematics->joints[layer->joint].name);
        exi_emit_open(&json, "space", '[');
        for (int k = 0; k < layer->axis_count; k++)
            exi_emit_text(&json, NULL, o->body->kinematics->joints[layer->axes[k]].name);
        exi_emit_close(&json, ']');
        exi_emit_number(&json, "falloff", layer->falloff);
        exi_emit_number(&json, "ridge", layer->ridge);
        exi_emit_number(&json, "gain", 1 - layer->after / layer->before);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

/* ---- poses ---- */

static ex_result write_poses(const outcome *o, const char *path, ex_error *error) {
    static const char *const parts = "xyzw";
    const ex_kinematics *k = o->body->kinematics;
    ex_file_writer writer;
    ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    for (int b = 0; b < k->joint_count; b++)
        for (int i = 0; i < 4; i++)
            ex_file_printf(&writer, "%sjoint:%s.%c", b + i > 0 ? "," : "", k->joints[b].name, parts[i]);
    ex_file_printf(&writer, "\n");
    for (int f = 0; f < o->body->form_count; f++) {
        for (int b = 0; b < k->joint_count; b++)
            for (int i = 0; i < 4; i++) {
                char number[32];
                ex_format_float(number, (float)o->body->poses[f].rotations[b][i]);
                ex_file_printf(&writer, "%s%s", b + i > 0 ? "," : "", number);
            }
        ex_file_printf(&writer, "\n");
    }
    return ex_file_commit(&writer, error);
}

/* ---- unit and up ---- */

static const struct {
    const char *name;
    double metres;
} units[] = {{"m", 1}, {"dm", 0.1}, {"cm", 0.01}, {"mm", 0.001}, {"in", 0.0254}, {"ft", 0.3048}};
enum { UNIT_COUNT = sizeof units / sizeof units[0] };

/* Returns metres per unit; 0 for a word that is none. */
static double find_unit(const char *word) {
    for (int i = 0; i < UNIT_COUNT; i++)
        if (strcmp(units[i].name, word) == 0)
            return units[i].metres;
    return 0;
}

/* A person's diagonal is 1 to 4 metres. Meshes that are a hundred or a thousand times as large have another unit. */
static double guess_unit(const ex_mesh *mesh, bool quiet) {
    const double size = ex_mesh_size(mesh);
    const double metres = size >= 100 && size < 400 ? 0.01 : size >= 1000 && size < 4000 ? 0.001 : 1;
    if (metres != 1 && !quiet)
        exi_print_to(stderr,
                     "exemplar: the meshes are %.0f units large, so they are read as %s: --unit says otherwise\n", size,
                     metres == 0.01 ? "centimetres" : "millimetres");
    return metres;
}

/* The rig is in metres with y up. */
static void to_metres(ex_registered_set *set, double metres, bool z_up) {
    for (int f = 0; f < set->form_count; f++)
        for (size_t v = 0; v < (size_t)set->mesh->vertex_count; v++) {
            double *p = set->forms[f] + 3 * v, y = p[1];
            if (z_up) {
                p[1] = p[2];
                p[2] = -y;
            }
            for (int i = 0; i < 3; i++)
                p[i] *= metres;
        }
}

/* ---- the work ---- */

static ex_result make(const ex_call *call, const char *const *paths, int count, const char *template,
                      const ex_progress *progress, const ex_tasks *tasks, outcome *o, ex_error *error) {
    ex_result result = ex_registered_set_read(paths, count, template, skeleton, &o->registered, error);
    if (result != EX_OK)
        return result;
    const double metres = unit ? find_unit(unit) : guess_unit(o->registered->mesh, call->quiet);
    to_metres(o->registered, metres, up && strcmp(up, "z") == 0);
    ex_articulate_def def = ex_registered_set_def(o->registered);
    def.bone_count = bones;
    def.progress = progress;
    def.tasks = tasks;
    result = ex_articulate(&def, &o->body, error);
    if (result == EX_OK && !no_layers)
        result = ex_articulated_find_layers(&def, o->body, &o->layers, error);
    if (result == EX_OK)
        result = ex_articulated_rig(&def, o->body, o->layers, &o->rig, error);
    if (result == EX_OK && !no_report && o->body->form_count > 2)
        result = ex_articulate_leave_out(&def, o->body, &o->report, error);
    return result;
}

static int articulate(const ex_call *call, const char *const *paths, int count, const char *template, const char *rig,
                      const char *table) {
    exi_progress progress;
    ex_error error = {0};
    outcome o = {0};
    const double start = exi_clock();
    exi_pool *pool = exi_pool_create(call->threads);
    exi_progress_start(&progress, call);
    ex_result result = make(call, paths, count, template, &progress.hook, exi_pool_tasks(pool), &o, &error);
    if (result == EX_OK)
        result = ex_rig_write(rig, o.rig, &error);
    if (result == EX_OK && table)
        result = write_poses(&o, table, &error);
    exi_progress_end(&progress);
    exi_pool_destroy(pool);
    if (result != EX_OK) {
        exi_failed(&error);
    } else if (call->json) {
        print_json(&o, rig);
    } else if (!call->quiet) {
        char joints[EXI_TEXT_SIZE];
        exi_print("%s, %s\n", exi_text_count(joints, o.body->kinematics->joint_count, "joint"),
                  o.registered->skeleton ? "from the skeleton given" : "found");
        print_joints(o.body);
        print_layers(&o);
        print_report(&o);
        exi_rig_print_line(stdout, false, rig, o.rig, exi_clock() - start, NULL);
    }
    ex_rig_destroy(o.rig);
    ex_left_outs_destroy(o.report);
    ex_articulated_layers_destroy(o.layers);
    ex_articulated_destroy(o.body);
    ex_registered_set_destroy(o.registered);
    return result == EX_OK ? EX_EXIT_DONE : EX_EXIT_FAILED;
}

int exi_scan_run_registered(const ex_call *call) {
    const char *folder = call->arguments[0];
    char **paths = NULL, *rig = exi_path_inside(folder, "body", ".glb"),
         *table = exi_path_inside(folder, "poses", ".csv");
    char *template = exi_path_inside(folder, "template", ".glb");
    int count = 0, exit_code = EX_EXIT_FAILED;
    if (!rig || !table || !template) {
        exi_failed_memory();
    } else if (exi_output_writable(rig) && exi_output_writable(table) && list_meshes(folder, &paths, &count)) {
        exi_lock_folder(folder, call->quiet);
        if (!call->quiet)
            exi_print_to(stderr,
                         "exemplar: '%s' has no scan.json, so its %d meshes are taken as one body in %d poses\n",
                         folder, count, count);
        exit_code = articulate(call, (const char *const *)paths, count, exi_file_exists(template) ? template : NULL,
                               rig, table);
    }
    free_paths(paths, count);
    free(rig);
    free(table);
    free(template);
    return exit_code;
}

static int run(const ex_call *call) {
    int exit_code = EX_EXIT_DONE;
    if (!output)
        return exi_wrong_usage(call->command, "-o RIG.glb is missing: the file to write");
    if (skeleton && !weights)
        return exi_wrong_usage(call->command, "--skeleton needs --weights: a skin to start from");
    if (bones > 0 && weights)
        return exi_wrong_usage(call->command, "--bones is for bones that are found, not with --weights");
    if (unit && find_unit(unit) == 0)
        return exi_wrong_usage(call->command, "--unit needs m, dm, cm, mm, in or ft, not '%s'", unit);
    if (up && strcmp(up, "y") != 0 && strcmp(up, "z") != 0)
        return exi_wrong_usage(call->command, "--up needs y or z, not '%s'", up);
    if (!exi_output_check(call->command, output, ".glb", NULL, &exit_code))
        return exit_code;
    if (poses && !exi_output_check(call->command, poses, ".csv", NULL, &exit_code))
        return exit_code;
    for (int i = 0; i < call->argument_count; i++)
        if (exi_file_is_same(call->arguments[i], output))
            return exi_failed_text("'%s' is one of the meshes: write the rig to another file", output);
    return articulate(call, call->arguments, call->argument_count, weights, output, poses);
}

const ex_command cmd_scan_articulate = {
    .name = "scan articulate",
    .summary = "make a rig of one mesh in many poses",
    .usage = "scan articulate FILE... -o RIG.glb [--bones N]\n"
             "scan articulate FILE... -o RIG.glb --weights BODY.glb [--skeleton S]",
    .description = "Registered meshes have the same vertices and faces in every file, each in\n"
                   "another pose: public sets of bodies have them, as do animations. Finds the\n"
                   "rest form, joint centres, skin weights for linear skinning and the pose of\n"
                   "every mesh, and writes a rig. Ten poses are good, two the least.\n"
                   "\n"
                   "Without --weights, bones are found from the way that vertices move together;\n"
                   "they are called bone_1 and so on, and the first is in the middle. With it, the\n"
                   "joints, their names and weights are where the work starts; the file may show\n"
                   "another person.\n"
                   "\n"
                   "What skinning leaves becomes layers that follow the joints, where this helps\n"
                   "with poses that were not seen. To know that, every mesh is left out once and\n"
                   "predicted from the others; the table shows it beside skinning one mesh alone.",
    .examples = "exemplar scan articulate kick/shell*.obj -o kick.glb\n"
                "exemplar scan articulate poses/*.obj --weights man.glb -o body.glb\n"
                "exemplar pose body.glb joint:elbow.L=y-60 -o bent.obj",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = -1,
    .run = run,
};

/* exemplar scan simulate - scans a rig with a simulated range scanner: a scan session with known truth. */
#include "scan.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "common/pool.h"
#include "cli/base/rigs.h"
#include "cli/drive/drive.h"
#include "cli/pose/forms.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PART_MAX = 64, JOINT_MAX = 256, LISTS = 3 };

static const char *poses_path, *output, *reference, *average, *pitch, *noise, *grazing, *marker_path, *marker_size,
    *missing, *stray, *rough, *level_text, *seed;
static ex_word_list part_words;
static int views = 4, marker_count = 12;
static bool merged, mirror, surfaces, force;

static const ex_option options[] = {
    {.name = "poses",
     .argument = "FILE.csv",
     .help = "the poses to scan: a table as for 'exemplar pose', with the columns name and part",
     .text = &poses_path},
    {.name = "output", .letter = 'o', .argument = "DIR", .help = "output folder, the session", .text = &output},
    {.name = "part",
     .argument = "NAME=A,B:C,D",
     .help = "a body part: joints that its shape depends on, joints whose bones its scans show, and after another "
             "colon joints to solve for (default: the first ones); may be given again (default: one part of all)",
     .words = &part_words},
    {.name = "reference",
     .argument = "NAME",
     .help = "the scan that counts as the rest pose (default: the first at rest)",
     .text = &reference},
    {.name = "average",
     .argument = "NAME",
     .help = "the scan whose pose is used to refit the template (default: the reference)",
     .text = &average},
    {.name = "views",
     .argument = "N",
     .help = "number of heads around the body (default: 4)",
     .count = &views,
     .count_max = 64},
    {.name = "merged", .help = "write one mesh per scan, instead of one per view", .flag = &merged},
    {.name = "pitch",
     .argument = "A,B",
     .help = "distance between samples, across and along (default: 5mm,2mm)",
     .text = &pitch},
    {.name = "noise", .argument = "LENGTH", .help = "noise along the rays (default: 1mm)", .text = &noise},
    {.name = "grazing",
     .argument = "DEGREES",
     .help = "samples that a ray meets at a smaller angle are lost (default: 15)",
     .text = &grazing},
    {.name = "markers",
     .argument = "FILE.csv",
     .help = "positions of the markers at rest: marker,joint,r,g,b,x,y,z (default: chosen)",
     .text = &marker_path},
    {.name = "count",
     .argument = "N",
     .help = "number of markers per joint, if they are chosen (default: 12)",
     .count = &marker_count,
     .count_max = 1000},
    {.name = "marker-size", .argument = "LENGTH", .help = "width of markers (default: 12mm)", .text = &marker_size},
    {.name = "missing",
     .argument = "PART",
     .help = "fraction of markers that are rubbed off, in every scan but the reference: 0 to 1 (default: 0)",
     .text = &missing},
    {.name = "stray",
     .argument = "PART",
     .help = "number of other spots, as a fraction of that of markers (default: 0)",
     .text = &stray},
    {.name = "rough",
     .argument = "DEGREES",
     .help = "write rough poses into scan.json, off by up to this angle (default: none)",
     .text = &rough},
    {.name = "level",
     .values = "cage|limit",
     .argument = "LEVEL",
     .help = "level of subdivision of the scanned surface: cage, a number, or limit (default: the level that the "
             "project shows)",
     .text = &level_text},
    {.name = "mirror", .help = "write into scan.json that right is left, mirrored", .flag = &mirror},
    {.name = "truth-surfaces", .help = "write the true surface of every pose", .flag = &surfaces},
    {.name = "seed", .argument = "N", .help = "seed of the random numbers (default: 1)", .text = &seed},
    {.name = "force", .help = "overwrite existing scans", .flag = &force},
};

/* ---- words ---- */

/* Reads the number of an option; false after printing an error. NULL leaves it alone. */
static bool read_number(const ex_call *call, const char *option, const char *text, double least, double most,
                        double *value) {
    const char *at = text, *end = text ? text + strlen(text) : NULL;
    double number = 0;
    if (!text)
        return true;
    if (ex_parse_double(&at, end, &number) && at == end && number >= least && number <= most) {
        *value = number;
        return true;
    }
    exi_wrong_usage(call->command, "--%s needs a number from %g to %g, not '%s'", option, least, most, text);
    return false;
}

static bool read_pitch(const ex_call *call, double values[2]) {
    char words[2][32];
    const char *comma = pitch ? strchr(pitch, ',') : NULL;
    if (!pitch)
        return true;
    if (!comma || comma - pitch >= 32 || strlen(comma + 1) >= 32) {
        exi_wrong_usage(call->command, "--pitch needs two lengths, across and along, such as 5mm,2mm, not '%s'", pitch);
        return false;
    }
    snprintf(words[0], sizeof words[0], "%.*s", (int)(comma - pitch), pitch);
    snprintf(words[1], sizeof words[1], "%s", comma + 1);
    for (int i = 0; i < 2; i++) {
        if (!exi_drive_length_read(call, "pitch", words[i], &values[i]))
            return false;
        if (!(values[i] >= 1e-5 && values[i] <= 1)) {
            exi_wrong_usage(call->command, "--pitch needs lengths from 0.01 mm to 1 m, not '%s'", words[i]);
            return false;
        }
    }
    return true;
}

static bool read_seed(const ex_call *call, uint64_t *value) {
    char *end = NULL;
    if (!seed)
        return true;
    *value = strtoull(seed, &end, 10);
    if (seed[0] >= '0' && seed[0] <= '9' && *end == 0)
        return true;
    exi_wrong_usage(call->command, "--seed needs a whole number, not '%s'", seed);
    return false;
}

static bool read_numbers(const ex_call *call, ex_scan_simulate_def *def) {
    ex_scan_simulation *s = &def->simulation;
    *s = ex_scan_simulation_default();
    s->view_count = views;
    s->merged = merged;
    def->rough = -1;
    if (!read_pitch(call, s->pitch) || !exi_drive_length_read(call, "noise", noise, &s->noise) ||
        !read_number(call, "grazing", grazing, 0, 89, &s->grazing) ||
        !exi_drive_length_read(call, "marker-size", marker_size, &s->marker_size) ||
        !read_number(call, "missing", missing, 0, 1, &s->missing) ||
        !read_number(call, "stray", stray, 0, 10, &s->stray) ||
        !read_number(call, "rough", rough, 0, 180, &def->rough) || !read_seed(call, &s->seed))
        return false;
    if (s->marker_size > 1e-4 && s->noise <= 1)
        return true;
    exi_wrong_usage(call->command, s->noise > 1 ? "--noise needs at most 1 m" : "--marker-size needs more than 0.1 mm");
    return false;
}

/* ---- body parts ---- */

typedef struct part_list {
    ex_scan_part parts[PART_MAX];
    int count;
    char *names[PART_MAX][LISTS][JOINT_MAX];
    char *texts[PART_MAX]; /* texts that hold the names */
} part_list;

static void free_parts(part_list *list) {
    for (int i = 0; list && i < PART_MAX; i++)
        free(list->texts[i]);
    free(list);
}

/* Reads NAME=A,B:C,D:E,F, and cuts it in place. */
static bool read_part(const ex_call *call, part_list *list, const char *word) {
    ex_scan_part *part = &list->parts[list->count];
    char *text = list->texts[list->count] = malloc(strlen(word) + 1), *at = text;
    int counts[LISTS] = {0};
    if (!text) {
        exi_failed_memory();
        return false;
    }
    strcpy(text, word);
    part->name = text;
    at += strcspn(text, "=");
    bool good = at > text && *at == '=';
    if (good)
        *at++ = 0;
    for (int i = 0; good && i < LISTS; i++) {
        const size_t length = strcspn(at, ":");
        const bool more = at[length] == ':';
        at[length] = 0;
        for (char *name = strtok(at, ","); name && counts[i] < JOINT_MAX; name = strtok(NULL, ","))
            list->names[list->count][i][counts[i]++] = name;
        good = counts[i] > 0;
        at += length + more;
        if (!more)
            break;
    }
    if (!good || strcmp(part->name, "held") == 0) {
        exi_wrong_usage(call->command, "--part needs NAME=JOINT,JOINT:COVER,COVER, not '%s'", word);
        return false;
    }
    const int covers = counts[1] > 0 ? 1 : 0;
    part->joints = list->names[list->count][0];
    part->joint_count = counts[0];
    part->covers = list->names[list->count][covers];
    part->cover_count = counts[covers];
    part->solves = counts[2] > 0 ? list->names[list->count][2] : NULL;
    part->solve_count = counts[2];
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->parts[i].name, part->name) == 0) {
            exi_wrong_usage(call->command, "--part %s is given twice", part->name);
            return false;
        }
    list->count++;
    return true;
}

static bool read_parts(const ex_call *call, part_list *list) {
    if (part_words.count > PART_MAX) {
        exi_wrong_usage(call->command, "there can be at most %d parts", PART_MAX);
        return false;
    }
    for (int i = 0; i < part_words.count; i++)
        if (!read_part(call, list, part_words.words[i]))
            return false;
    return true;
}

/* Chooses the part that every pose is scanned for; -1: held back. */
static bool choose_parts(const ex_scan_poses *poses, const part_list *list, int *parts) {
    for (int p = 0; p < poses->table.pose_count; p++) {
        const char *name = poses->parts[p];
        parts[p] = strcmp(name, "held") == 0 ? -1 : 0;
        if (parts[p] < 0 || !name[0])
            continue;
        while (parts[p] < list->count && strcmp(list->parts[parts[p]].name, name) != 0)
            parts[p]++;
        if (parts[p] == list->count) {
            exi_failed_text("%s: '%s' belongs to the part '%s': describe that with --part %s=JOINT,JOINT:COVER,COVER",
                            poses_path, poses->names[p], name, name);
            return false;
        }
    }
    return true;
}

static bool find_pose(const ex_scan_poses *poses, const char *name, int *pose) {
    *pose = -1;
    for (int p = 0; name && p < poses->table.pose_count; p++)
        *pose = strcmp(poses->names[p], name) == 0 ? p : *pose;
    if (!name || *pose >= 0)
        return true;
    const char *near = ex_suggest(name, (const char *const *)poses->names, poses->table.pose_count);
    exi_failed_text("%s has no pose '%s'%s%s%s", poses_path, name, near ? ": did you mean '" : "", near ? near : "",
                    near ? "'?" : "");
    return false;
}

/* ---- the work ---- */

static void print(const ex_call *call, const ex_scan_simulate_def *def, const ex_scan_simulated *made, double seconds) {
    char scans[EXI_TEXT_SIZE], markers[EXI_TEXT_SIZE], held[EXI_TEXT_SIZE], time[EXI_TEXT_SIZE];
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "folder", output);
        exi_emit_number(&json, "scans", made->scan_count);
        exi_emit_number(&json, "kept", made->kept_count);
        exi_emit_number(&json, "held", made->held_count);
        exi_emit_number(&json, "markers", def->paint_count);
        exi_emit_number(&json, "seen", round(made->seen * 10) / 10);
        exi_emit_text(&json, "reference", made->reference);
        exi_emit_number(&json, "seconds", round(seconds * 1e6) / 1e6);
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
        return;
    }
    exi_print("%s: %s", output, exi_text_count(scans, made->scan_count, "scan"));
    if (made->kept_count > 0)
        exi_print(" (%d kept)", made->kept_count);
    if (made->held_count > 0)
        exi_print(", %s held back", exi_text_count(held, made->held_count, "pose"));
    exi_print(", %s", exi_text_count(markers, def->paint_count, "marker"));
    if (made->kept_count < made->scan_count)
        exi_print(", %.1f of them seen in a scan", made->seen);
    exi_print(", reference %s, %s\n", made->reference, exi_text_seconds(time, seconds));
}

static int simulate(const ex_call *call, ex_scan_simulate_def *def) {
    ex_error error = {.result = EX_OK};
    ex_scan_simulated made;
    exi_progress progress;
    exi_pool *pool = exi_pool_create(call->threads);
    const double start = exi_clock();
    def->tasks = exi_pool_tasks(pool);
    def->progress = &progress.hook;
    exi_progress_start(&progress, call);
    exi_interrupt_defer(true); /* threads write files */
    const ex_result result = ex_scan_simulate(def, &made, &error);
    exi_interrupt_defer(false);
    exi_progress_end(&progress);
    exi_pool_destroy(pool);
    if (result != EX_OK && exi_interrupted()) {
        exi_failed_text("interrupted: finished scans are kept, and the same command continues from there");
        return exi_interrupted();
    }
    if (result != EX_OK)
        return exi_failed(&error);
    if (call->json || !call->quiet)
        print(call, def, &made, exi_clock() - start);
    return EX_EXIT_DONE;
}

/* Simulates, with the rig and the poses read. */
static int simulate_poses(const ex_call *call, ex_scan_simulate_def *def, const ex_scan_poses *poses,
                          const part_list *list) {
    ex_error error = {.result = EX_OK};
    ex_scan_simulation *s = &def->simulation;
    ex_paint *paints = NULL;
    int *parts = malloc((size_t)poses->table.pose_count * sizeof *parts), exit_code = EX_EXIT_FAILED;
    s->poses = poses->table.poses;
    s->pose_count = poses->table.pose_count;
    s->names = (const char *const *)poses->names;
    def->folder = output;
    def->part_list = list->parts;
    def->part_count = list->count;
    def->mirror = mirror;
    def->surfaces = surfaces;
    def->force = force;
    def->text = poses->text;
    def->size = poses->size;
    if (!parts)
        exi_failed_memory();
    if (parts && choose_parts(poses, list, parts) && find_pose(poses, reference, &def->reference) &&
        find_pose(poses, average, &def->average)) {
        const ex_result result =
            marker_path ? ex_paints_read(marker_path, s->rig, s->level, &paints, &def->paint_count, &error)
                        : ex_scan_paint(s->rig, s->level, marker_count, &paints, &def->paint_count, &error);
        def->parts = parts;
        def->paints = paints;
        exit_code = result == EX_OK ? simulate(call, def) : exi_failed(&error);
    }
    ex_paints_free(paints, def->paint_count);
    free(parts);
    return exit_code;
}

static int simulate_rig(const ex_call *call, ex_scan_simulate_def *def, const part_list *list) {
    ex_error error = {.result = EX_OK};
    ex_scan_poses poses;
    int exit_code;
    ex_rig *rig =
        exi_rig_load(call->arguments[0], &(ex_rig_options){.without_normals = true, .without_tangents = true});
    if (!rig)
        return EX_EXIT_FAILED;
    def->simulation.rig = rig;
    if (exi_level_read(call, rig, level_text, &def->simulation.level, &exit_code)) {
        if (ex_scan_poses_read(poses_path, rig, &poses, &error) == EX_OK) {
            exit_code = simulate_poses(call, def, &poses, list);
            ex_scan_poses_free(&poses);
        } else {
            exit_code = exi_failed(&error);
        }
    }
    ex_rig_destroy(rig);
    return exit_code;
}

static int run(const ex_call *call) {
    ex_scan_simulate_def def = {.folder = output};
    if (!poses_path)
        return exi_wrong_usage(call->command, "--poses FILE is required: the poses to scan");
    if (!output)
        return exi_wrong_usage(call->command, "-o is required: it names the output folder");
    if (exi_is_standard_output(output))
        return exi_wrong_usage(call->command, "a session is a folder: name it with -o");
    if (!exi_output_folder_check(output))
        return EX_EXIT_FAILED;
    if (!read_numbers(call, &def))
        return EX_EXIT_USAGE;
    part_list *list = calloc(1, sizeof *list);
    if (!list)
        return exi_failed_memory();
    const int exit_code = read_parts(call, list) ? simulate_rig(call, &def, list) : EX_EXIT_USAGE;
    free_parts(list);
    return exit_code;
}

const ex_command cmd_scan_simulate = {
    .name = "scan simulate",
    .summary = "scan a rig with a simulated scanner",
    .usage = "scan simulate RIG.glb --poses FILE.csv -o DIR [--part ...]",
    .description = "Puts a rig in front of a simulated range scanner: heads around it (four, at\n"
                   "45, 135, 225 and 315 degrees), each with parallel rays 5 mm by 2 mm apart,\n"
                   "with noise, and without samples that are hidden or met at a grazing angle.\n"
                   "Markers in eight colours are painted on its skin at rest, and stretch with it.\n"
                   "\n"
                   "The table of poses is like that of 'exemplar pose', with two more columns:\n"
                   "name, of the scan, and part, of the body, as described by --part. Poses of the\n"
                   "part 'held' are not scanned: their true surface is written, to compare with.\n"
                   "\n"
                   "DIR becomes a scan session, complete but for what 'exemplar scan' finds:\n"
                   "  scan.json            the description of the session\n"
                   "  scans/NAME_1.ply     and so on, one per view; with --merged scans/NAME.ply\n"
                   "  markers.csv          marker,joint,r,g,b\n"
                   "  labels/NAME.csv      of the reference: as if clicked by hand, 1 mm off\n"
                   "  skeleton.json        the rig's, as with a tape measure: 2 cm, 10 degrees off\n"
                   "and in DIR/truth what only the simulation knows:\n"
                   "  poses.csv            the table of poses\n"
                   "  skeleton.json        the skeleton, with the markers in their places\n"
                   "  fit.json             the same, and the pose of every scan\n"
                   "  frames.json          world rotations and positions of all joints, by pose\n"
                   "  markers/NAME.csv     marker,x,y,z,visible\n"
                   "  surface/NAME.ply     of poses that are held\n"
                   "  scanner.json         the options\n"
                   "\n"
                   "Existing files are kept: an interrupted command continues where it stopped.",
    .examples = "exemplar demo arm -o arm\n"
                "printf 'name,elbow\\nstraight,0\\nbent,90\\n' > poses.csv\n"
                "exemplar scan simulate arm/arm.glb --poses poses.csv -o session",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};

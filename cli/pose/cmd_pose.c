/*
 * exemplar pose - writes the form at one pose, or one numbered form for each row of a table of poses.
 *
 * A table is evaluated in batches: the library reads the examples once per batch, and all threads write its forms.
 */
#include "cli/base/command.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "cli/base/report.h"
#include "cli/base/rigs.h"
#include "common/pool.h"
#include "forms.h"

#include <exemplar/author/files.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MAX   32
#define BATCH_BYTES (64 << 20)

static const char *output;
static const char *poses_path;
static const char *level_text;
static const char *mute_text;
static const char *kind;
static bool plain;
static bool textures;
static bool narrow;
static bool force;
static bool *muted; /* [layer_count] */

static const ex_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FORM",
     .help = "output file: .obj, .ply, .glb or .gltf (- is standard output, as OBJ); with --poses, the folder for "
             "pose_00001.obj and so on",
     .text = &output},
    {.name = "poses",
     .argument = "FILE.csv",
     .help = "a table of poses: a header of axis names (rotations as NAME.x to NAME.w), one row per pose",
     .text = &poses_path},
    {.name = "kind",
     .values = "obj|ply|glb|gltf",
     .argument = "KIND",
     .help = "with --poses: obj, ply, glb or gltf (default: obj)",
     .text = &kind},
    {.name = "level",
     .values = "cage|limit",
     .argument = "LEVEL",
     .help = "level of subdivision: cage, a number, or limit (default: the level that the project shows)",
     .text = &level_text},
    {.name = "mute",
     .argument = "LAYER",
     .help = "leave a layer out, to compare; several with commas between",
     .listed = true,
     .text = &mute_text},
    {.name = "textures",
     .help = "write the rig's textures too, beside the form as FORM.base_color.png; a .glb or .gltf always has them",
     .flag = &textures},
    {.name = "no-normals", .help = "leave the normals out", .flag = &plain},
    {.name = "16-bit",
     .help = "hold the examples in 16 bits: half the memory, errors of about 1e-5 of the movement",
     .flag = &narrow},
    {.name = "force", .help = "with --poses: overwrite existing forms", .flag = &force},
};

/* ---- one pose ---- */

static void print_form(const ex_rig *rig, const exi_form_wish *wish) {
    char vertices[EXI_TEXT_SIZE];
    exi_print("%s: %s\n", output, exi_text_count(vertices, ex_rig_level_vertex_count(rig, wish->level), "vertex"));
}

static int pose_once(const ex_call *call, const ex_rig *rig, const exi_form_wish *wish, const ex_pose *pose,
                     const ex_tasks *tasks) {
    bool to_stdout = exi_is_standard_output(output);
    ex_evaluation how = {.level = wish->level, .tasks = tasks, .muted = muted};
    exi_form form;
    bool fits = exi_form_open(&form, rig, wish);
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1) + 1);
    int exit_code = EX_EXIT_DONE;
    if (!fits || !scratch) {
        exit_code = exi_failed_memory();
    } else {
        ex_error error = {.result = EX_OK};
        ex_output where = exi_form_output(&form);
        ex_rig_evaluate(rig, pose, &where, &how, scratch);
        if (exi_form_write(&form, rig, wish, to_stdout ? "/dev/stdout" : output, &error) != EX_OK)
            exit_code = exi_failed(&error);
        else if (!call->quiet && !to_stdout)
            print_form(rig, wish);
    }
    free(scratch);
    exi_form_close(&form, rig);
    return exit_code;
}

static int run_once(const ex_call *call, const ex_rig *rig, const exi_form_wish *wish, const ex_tasks *tasks) {
    ex_pose pose = {.inputs = NULL};
    if (!exi_assignments_read(call, rig, &pose))
        return EX_EXIT_FAILED;
    int exit_code = pose_once(call, rig, wish, &pose, tasks);
    free(pose.inputs);
    return exit_code;
}

/* ---- a table of poses ---- */

typedef struct batch {
    const ex_rig *rig;
    const ex_pose_table *table;
    const ex_tasks *tasks;
    exi_form_wish wish;
    int size;  /* poses per batch */
    int first; /* index in the table of the batch's first pose */
    exi_form forms[BATCH_MAX];
    void *scratch;
    ex_error errors[BATCH_MAX];
    ex_file_set *set; /* of the forms: all get their places at the end, or none */
} batch;

static char *frame_path(const char *folder, int frame) {
    char name[32];
    snprintf(name, sizeof name, "pose_%05d", frame + 1);
    char ending[8];
    snprintf(ending, sizeof ending, ".%s", kind ? kind : "obj");
    return exi_path_inside(folder, name, ending);
}

/* A task: writes the forms [begin, end) of the batch. */
static void write_frames(void *context, int begin, int end) {
    batch *work = context;
    for (int i = begin; i < end && !exi_interrupted(); i++) {
        char *path = frame_path(ex_file_set_folder(work->set), work->first + i);
        ex_error *error = &work->errors[i];
        if (!path)
            ex_error_memory(error, "a path", 0);
        else if (exi_form_write(&work->forms[i], work->rig, &work->wish, path, error) == EX_ERROR_DATA)
            ex_error_within(error, error->result, "%s", path);
        free(path);
    }
}

static void evaluate_batch(const batch *work, int count) {
    ex_output outputs[BATCH_MAX];
    for (int i = 0; i < count; i++)
        outputs[i] = exi_form_output(&work->forms[i]);
    ex_evaluation how = {.level = work->wish.level, .tasks = work->tasks, .muted = muted};
    ex_rig_evaluate_many(work->rig, count, work->table->poses + work->first, outputs, &how, work->scratch);
}

/* Writes all forms; stops after the batch that failed or was interrupted. */
static ex_result run_batches(const ex_call *call, batch *work, ex_error *error) {
    exi_progress progress;
    exi_progress_start(&progress, call);
    int total = work->table->pose_count;
    int done = 0;
    ex_result result = EX_OK;
    while (done < total && result == EX_OK && !exi_interrupted()) {
        int count = total - done < work->size ? total - done : work->size;
        work->first = done;
        memset(work->errors, 0, sizeof work->errors);
        evaluate_batch(work, count);
        if (work->tasks)
            work->tasks->run(work->tasks->user, count, 1, write_frames, work);
        else
            write_frames(work, 0, count);
        done += count;
        for (int i = 0; i < count && result == EX_OK; i++)
            if (work->errors[i].result != EX_OK) {
                *error = work->errors[i];
                result = error->result;
            }
        exi_progress_step(&progress, "writing forms", (double)done / total);
    }
    exi_progress_end(&progress);
    return result;
}

static bool is_free(const char *path) {
    if (exi_file_exists(path))
        exi_failed_exists(path, "folder");
    return !exi_file_exists(path);
}

/* True if no file of the sequence exists, or may be overwritten; otherwise prints an error. */
static bool frames_are_free(const batch *work) {
    bool all_free = true;
    for (int i = 0; !force && all_free && i < work->table->pose_count; i++) {
        char *path = frame_path(output, i);
        if (!path)
            exi_failed_memory();
        all_free = path && exi_form_visit_files(work->rig, &work->wish, path, is_free);
        free(path);
    }
    return all_free;
}

static int write_table(const ex_call *call, batch *work) {
    exi_folder folder;
    if (!frames_are_free(work))
        return EX_EXIT_FAILED;
    if (!exi_folder_note(&folder, output))
        return EX_EXIT_FAILED;
    ex_error error = {.result = EX_OK};
    int exit_code = EX_EXIT_DONE;
    exi_interrupt_defer(true);
    ex_result result = ex_make_directory(output, &error);
    if (result == EX_OK)
        result = ex_file_set_open(output, true, &work->set, &error);
    if (result == EX_OK)
        result = run_batches(call, work, &error);
    if (result == EX_OK && !exi_interrupted())
        result = ex_file_set_commit(work->set, NULL, &error);
    else
        ex_file_set_abandon(work->set, &error);
    exi_interrupt_defer(false);
    if (exi_interrupted()) {
        exit_code = exi_folder_interrupted(&folder);
    } else if (result != EX_OK) {
        exi_folder_undo(&folder);
        exit_code = exi_failed(&error);
    } else if (!call->quiet) {
        char forms[EXI_TEXT_SIZE], vertices[EXI_TEXT_SIZE];
        exi_print("%s: %s of %s\n", output, exi_text_count(forms, work->table->pose_count, "form"),
                  exi_text_count(vertices, ex_rig_level_vertex_count(work->rig, work->wish.level), "vertex"));
    }
    exi_folder_forget(&folder);
    return exit_code;
}

static int batch_size(const ex_rig *rig, const exi_form_wish *wish) {
    size_t form = exi_form_size(rig, wish);
    size_t fits = BATCH_BYTES / (form > 0 ? form : 1);
    return fits < 1 ? 1 : fits > BATCH_MAX ? BATCH_MAX : (int)fits;
}

static int run_table(const ex_call *call, const ex_rig *rig, const exi_form_wish *wish, const ex_tasks *tasks) {
    ex_error error = {.result = EX_OK};
    ex_pose_table table = {.pose_count = 0};
    if (ex_pose_table_read(poses_path, rig, &table, &error) != EX_OK)
        return exi_failed(&error);
    batch work = {.rig = rig, .table = &table, .tasks = tasks, .wish = *wish, .size = batch_size(rig, wish)};
    work.scratch = malloc(ex_rig_scratch_size(rig, &(ex_evaluation){.level = wish->level}, work.size) + 1);
    bool fits = work.scratch != NULL;
    for (int i = 0; fits && i < work.size; i++)
        fits = exi_form_open(&work.forms[i], rig, wish);
    int exit_code = fits ? write_table(call, &work) : exi_failed_memory();
    for (int i = 0; i < work.size; i++)
        exi_form_close(&work.forms[i], rig);
    free(work.scratch);
    ex_pose_table_free(&table);
    return exit_code;
}

static bool is_form_kind(const char *word) {
    return strcmp(word, "obj") == 0 || strcmp(word, "ply") == 0 || strcmp(word, "glb") == 0 ||
           strcmp(word, "gltf") == 0;
}

static int run(const ex_call *call) {
    int exit_code;
    if (!output)
        return exi_wrong_usage(call->command, "-o is required: it names the output");
    if (poses_path && call->argument_count > 1) {
        return exi_wrong_usage(call->command, "'%s' and --poses both give the pose: leave one of the two out",
                               call->arguments[1]);
    }
    if (kind && (!poses_path || !is_form_kind(kind)))
        return exi_wrong_usage(call->command, "--kind needs obj, ply, glb or gltf, and goes with --poses");
    if (force && !poses_path)
        return exi_wrong_usage(call->command, "--force goes with --poses: a single form always overwrites its file");
    if (textures && exi_is_standard_output(output))
        return exi_wrong_usage(call->command, "textures are written beside the form: name a file with -o");
    if (!exi_assignments_check(call))
        return EX_EXIT_USAGE;
    if (!poses_path && !exi_output_check(call->command, output, EXI_FORM_ENDINGS, call->arguments[0], &exit_code))
        return exit_code;
    for (int i = 1; !poses_path && i < call->argument_count; i++) {
        const char *value = strchr(call->arguments[i], '='); /* of a driver, a file */
        if (value && !exi_output_check(call->command, output, EXI_FORM_ENDINGS, value + 1, &exit_code))
            return exit_code;
    }
    if (poses_path && !exi_output_folder_check(output))
        return EX_EXIT_FAILED;
    ex_rig *rig =
        exi_rig_load(call->arguments[0], &(ex_rig_options){.storage = narrow ? EX_STORAGE_16_BIT : EX_STORAGE_FLOAT,
                                                           .without_tangents = true});
    if (!rig)
        return EX_EXIT_FAILED;
    char example[16];
    snprintf(example, sizeof example, ".%s", kind ? kind : "obj");
    exi_form_wish wish = {.normals = !plain && ex_rig_get_mesh(rig).face_count > 0,
                          .textures = textures,
                          .scene = exi_form_is_scene(poses_path ? example : output)};
    if (!exi_level_read(call, rig, level_text, &wish.level, &exit_code)) {
        ex_rig_destroy(rig);
        return exit_code;
    }
    ex_error unread;
    if (ex_rig_read_axes(call->arguments[0], &wish.axes, &unread) != EX_OK)
        wish.axes = (ex_form_axes){.unit = 1}; /* a pipe, which can be read only once */
    exi_pool *pool = exi_pool_create(call->threads);
    const ex_tasks *tasks = exi_pool_tasks(pool);
    muted = exi_muted_read(rig, mute_text);
    if (!muted)
        exit_code = EX_EXIT_FAILED;
    else
        exit_code = poses_path ? run_table(call, rig, &wish, tasks) : run_once(call, rig, &wish, tasks);
    free(muted);
    exi_pool_destroy(pool);
    ex_rig_destroy(rig);
    return exit_code;
}

const ex_command cmd_pose = {
    .name = "pose",
    .summary = "evaluate a rig and write the form, or one form per row of a table",
    .usage = "pose RIG.glb [axis=value...] -o FORM [--level LEVEL]\n"
             "pose RIG.glb --poses FILE.csv -o DIR [--force]",
    .description = "Writes the form of the rig at a pose, with the polygons, texture coordinates,\n"
                   "groups and materials of its mesh, with normals, and with the vertices in their\n"
                   "original order. OBJ and PLY files are in the unit and up axis of the project\n"
                   "that the rig was built from, as 'example add' reads them. glTF is always in\n"
                   "metres with y up, and has the rig's materials with their images.\n"
                   "\n"
                   "Axes that you do not name stay at rest. Write a rotation as turns in degrees,\n"
                   "one after the other (shoulder=x30y-10z5), or as a quaternion\n"
                   "(shoulder=q:0,0,.38,.92). You can turn any joint from its rest:\n"
                   "joint:wrist=x20. A driver's form is a file: body=FILE.obj. A note on stderr\n"
                   "says when a value is outside the range of its axis.\n"
                   "\n"
                   "A rig that subdivides gives the level that its project shows. Use --level cage\n"
                   "for a form with the mesh's own vertices, to sculpt on.\n"
                   "\n"
                   "With --poses, DIR/pose_00001.obj is the form of the first row, and so on.\n"
                   "Existing forms are not overwritten unless you give --force.",
    .examples = "exemplar pose blob/blob.glb bend=0.5 -o bent.obj\n"
                "printf 'bend\\n0\\n0.5\\n1\\n' > poses.csv\n"
                "exemplar pose blob/blob.glb --poses poses.csv -o frames",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .argument_min = 1,
    .argument_max = -1,
    .run = run,
};

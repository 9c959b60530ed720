/*
 * exemplar pose - the form at one pose, or one numbered form for each row of a table of poses.
 *
 * A table goes through in batches: the library reads the examples once for a batch, and the forms of a batch are
 * written by all threads.
 */
#include "command.h"
#include "files.h"
#include "interrupt.h"
#include "pool.h"
#include "report.h"
#include "rigs.h"

#include "author/formats/file.h"
#include "author/formats/number.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH_MAX   32
#define BATCH_BYTES (64 << 20)

static const char *output;
static const char *poses_path;
static bool narrow;
static bool force;

static const ex_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FORM.obj",
     .help = "where the form goes (- is standard output); with --poses, the folder for pose_00000.obj and so on",
     .text = &output},
    {.name = "poses",
     .argument = "FILE.csv",
     .help = "a table of poses: a header of axis names (rotations as NAME.x to NAME.w), one row a pose",
     .text = &poses_path},
    {.name = "16-bit",
     .help = "hold the examples in 16 bits: half the memory, errors of about 1e-5 of what moves",
     .flag = &narrow},
    {.name = "force", .help = "with --poses: overwrite forms that are in the folder already", .flag = &force},
};

/* A float through its shortest decimals: 0.3f becomes 0.3, and the file shows no digits that the rig does not have. */
static double shortest(float value) {
    char text[32];
    int length = exi_format_float(text, value);
    const char *cursor = text;
    double result = (double)value;
    exi_parse_double(&cursor, text + length, &result);
    return result;
}

/* A pose far outside the examples can leave what a float holds; no file shows that well. */
static ex_result check_positions(const float *positions, int vertex_count, ex_error *error) {
    for (int v = 0; v < vertex_count; v++) {
        const float *p = positions + 3 * (size_t)v;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
            return exi_error(error, EX_ERROR_DATA, "vertex %d of this pose is too far away for a float", v);
    }
    return EX_OK;
}

/* Writes positions [vertex_count][3] with the rig's polygons, texture coordinates, groups and materials. */
static ex_result write_form(const ex_rig *rig, const float *positions, const char *path, ex_error *error) {
    ex_mesh *mesh = NULL;
    ex_result result = check_positions(positions, ex_rig_vertex_count(rig), error);
    if (result == EX_OK)
        result = ex_rig_to_mesh(rig, positions, &mesh, error);
    if (result == EX_OK) {
        for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
            mesh->positions[i] = shortest(positions[i]);
        result = ex_obj_write(path, mesh, error);
    }
    ex_mesh_destroy(mesh);
    return result;
}

/* count * vertices * 3 floats, or NULL. */
static float *allocate_positions(const ex_rig *rig, int count) {
    size_t triples = (size_t)ex_rig_vertex_count(rig) * (size_t)count;
    return triples < SIZE_MAX / (3 * sizeof(float)) ? malloc(triples * 3 * sizeof(float) + 1) : NULL;
}

/* ---- one pose ---- */

static int pose_once(const ex_call *call, const ex_rig *rig, const double *inputs, const ex_tasks *tasks) {
    bool to_stdout = exi_is_standard_output(output);
    float *positions = allocate_positions(rig, 1);
    void *scratch = malloc(ex_rig_scratch_size(rig, 1) + 1);
    int exit_code = EX_EXIT_DONE;
    if (!positions || !scratch) {
        exit_code = exi_failed_text("there is not enough memory");
    } else {
        ex_error error = {.result = EX_OK};
        ex_rig_evaluate(rig, &(ex_pose){.inputs = inputs}, &(ex_output){.positions = positions},
                        &(ex_evaluation){.tasks = tasks}, scratch);
        if (write_form(rig, positions, to_stdout ? "/dev/stdout" : output, &error) != EX_OK) {
            exit_code = exi_failed(&error);
        } else if (!call->quiet && !to_stdout) {
            char vertices[EXI_TEXT_SIZE];
            printf("%s: %s\n", output, exi_text_count(vertices, ex_rig_vertex_count(rig), "vertex"));
        }
    }
    free(scratch);
    free(positions);
    return exit_code;
}

static int run_once(const ex_call *call, const ex_rig *rig, const ex_tasks *tasks) {
    double *inputs = exi_assignments_read(call, rig);
    int exit_code = inputs ? pose_once(call, rig, inputs, tasks) : EX_EXIT_FAILED;
    free(inputs);
    return exit_code;
}

/* ---- a table of poses ---- */

typedef struct batch {
    const ex_rig *rig;
    const ex_pose_table *table;
    const ex_tasks *tasks;
    int size;  /* poses at a time */
    int first; /* this batch's first pose in the table */
    float *positions;
    void *scratch;
    ex_error errors[BATCH_MAX];
    atomic_int written; /* forms, in all batches */
} batch;

static char *frame_path(int frame) {
    char name[32];
    snprintf(name, sizeof name, "pose_%05d", frame);
    return exi_path_inside(output, name, ".obj");
}

static float *batch_positions(const batch *work, int index) {
    return work->positions + (size_t)index * (size_t)ex_rig_vertex_count(work->rig) * 3;
}

/* A task: writes the forms [begin, end) of the batch. */
static void write_frames(void *context, int begin, int end) {
    batch *work = context;
    for (int i = begin; i < end && !exi_interrupted(); i++) {
        char *path = frame_path(work->first + i);
        ex_error *error = &work->errors[i];
        if (!path)
            error->result = EX_ERROR_MEMORY;
        else if (write_form(work->rig, batch_positions(work, i), path, error) == EX_OK)
            atomic_fetch_add(&work->written, 1);
        else if (error->result == EX_ERROR_DATA)
            exi_error_within(error, error->result, "%s", path);
        free(path);
    }
}

static void evaluate_batch(const batch *work, int count) {
    ex_pose poses[BATCH_MAX];
    ex_output outputs[BATCH_MAX];
    size_t pose_size = (size_t)ex_rig_pose_size(work->rig);
    for (int i = 0; i < count; i++) {
        poses[i] = (ex_pose){.inputs = work->table->inputs + (size_t)(work->first + i) * pose_size};
        outputs[i] = (ex_output){.positions = batch_positions(work, i)};
    }
    ex_evaluation how = {.tasks = work->tasks};
    ex_rig_evaluate_many(work->rig, count, poses, outputs, &how, work->scratch);
}

/* The number of poses seen to: all, or those before the end of the batch that failed or was interrupted. */
static int run_batches(const ex_call *call, batch *work, int *exit_code) {
    exi_progress progress;
    exi_progress_start(&progress, call);
    int total = work->table->pose_count;
    int done = 0;
    *exit_code = EX_EXIT_DONE;
    while (done < total && *exit_code == EX_EXIT_DONE && !exi_interrupted()) {
        int count = total - done < work->size ? total - done : work->size;
        work->first = done;
        memset(work->errors, 0, sizeof work->errors);
        evaluate_batch(work, count);
        if (work->tasks)
            work->tasks->run(work->tasks->user, count, 1, write_frames, work);
        else
            write_frames(work, 0, count);
        done += count;
        for (int i = 0; i < count && *exit_code == EX_EXIT_DONE && !exi_interrupted(); i++) {
            if (work->errors[i].result != EX_OK) {
                exi_progress_end(&progress);
                *exit_code = exi_failed(&work->errors[i]);
            }
        }
        exi_progress_step(&progress, "writing forms", (double)done / total);
    }
    exi_progress_end(&progress);
    return done;
}

/* Takes back the first `count` forms, so that no part of a sequence is taken for a whole one. Where older forms may
 * have been overwritten, all that stands there stays. */
static void undo_frames(int count, exi_folder *folder) {
    for (int i = 0; !force && i < count; i++) {
        char *path = frame_path(i);
        if (path)
            unlink(path);
        free(path);
    }
    exi_folder_undo(folder);
}

/* Forms that are whole may stay; a folder without any goes. */
static int interrupted(const batch *work, exi_folder *folder) {
    int written = atomic_load(&work->written);
    if (written == 0)
        exi_folder_undo(folder);
    char forms[EXI_TEXT_SIZE];
    exi_failed_text("interrupted: %d of %s written", written, exi_text_count(forms, work->table->pose_count, "form"));
    return exi_interrupted();
}

/* Whether no form of the sequence is there already, or may be overwritten; if not, a sentence. */
static bool frames_are_free(int count) {
    bool found = false;
    for (int i = 0; !force && !found && i < count; i++) {
        char *path = frame_path(i);
        found = path && exi_file_exists(path);
        if (found)
            exi_failed_text("'%s' exists already: give --force to overwrite it, or another folder with -o", path);
        free(path);
    }
    return !found;
}

static int write_table(const ex_call *call, batch *work) {
    exi_folder folder;
    if (!frames_are_free(work->table->pose_count))
        return EX_EXIT_FAILED;
    if (!exi_folder_note(&folder, output))
        return EX_EXIT_FAILED;
    ex_error error = {.result = EX_OK};
    int exit_code, done = 0;
    if (exi_make_directory(output, &error) != EX_OK) {
        exit_code = exi_failed(&error);
    } else {
        exi_interrupt_defer(true);
        done = run_batches(call, work, &exit_code);
        exi_interrupt_defer(false);
    }
    if (exit_code != EX_EXIT_DONE) {
        undo_frames(done, &folder);
    } else if (exi_interrupted()) {
        exit_code = interrupted(work, &folder);
    } else if (!call->quiet) {
        char forms[EXI_TEXT_SIZE], vertices[EXI_TEXT_SIZE];
        printf("%s: %s of %s\n", output, exi_text_count(forms, done, "form"),
               exi_text_count(vertices, ex_rig_vertex_count(work->rig), "vertex"));
    }
    exi_folder_forget(&folder);
    return exit_code;
}

static int batch_size(const ex_rig *rig) {
    size_t form = 12 * (size_t)(ex_rig_vertex_count(rig) > 0 ? ex_rig_vertex_count(rig) : 1);
    size_t fits = BATCH_BYTES / form;
    return fits < 1 ? 1 : fits > BATCH_MAX ? BATCH_MAX : (int)fits;
}

static int run_table(const ex_call *call, const ex_rig *rig, const ex_tasks *tasks) {
    ex_error error = {.result = EX_OK};
    ex_pose_table table = {.pose_count = 0};
    if (ex_pose_table_read(poses_path, rig, &table, &error) != EX_OK)
        return exi_failed(&error);
    batch work = {.rig = rig, .table = &table, .tasks = tasks, .size = batch_size(rig)};
    atomic_init(&work.written, 0);
    work.positions = allocate_positions(rig, work.size);
    work.scratch = malloc(ex_rig_scratch_size(rig, work.size) + 1);
    int exit_code =
        work.positions && work.scratch ? write_table(call, &work) : exi_failed_text("there is not enough memory");
    free(work.scratch);
    free(work.positions);
    ex_pose_table_free(&table);
    return exit_code;
}

static int run(const ex_call *call) {
    int exit_code;
    if (!output)
        return exi_wrong_usage(call->command, "say with -o where the result goes");
    if (poses_path && call->argument_count > 1) {
        return exi_wrong_usage(call->command, "'%s' and --poses both say which pose: give one of them",
                               call->arguments[1]);
    }
    if (!exi_assignments_check(call))
        return EX_EXIT_USAGE;
    if (!poses_path && !exi_output_check(call->command, output, ".obj", call->arguments[0], &exit_code))
        return exit_code;
    ex_rig *rig = exi_rig_load(call->arguments[0], narrow ? EX_STORAGE_16_BIT : EX_STORAGE_FLOAT);
    if (!rig)
        return EX_EXIT_FAILED;
    exi_pool *pool = exi_pool_create(call->threads);
    const ex_tasks *tasks = exi_pool_tasks(pool);
    exit_code = poses_path ? run_table(call, rig, tasks) : run_once(call, rig, tasks);
    exi_pool_destroy(pool);
    ex_rig_destroy(rig);
    return exit_code;
}

const ex_command cmd_pose = {
    .name = "pose",
    .summary = "evaluate a rig and write the form, or one form per row of a table",
    .usage = "pose RIG.glb [axis=value...] -o FORM.obj\n"
             "pose RIG.glb --poses FILE.csv -o DIR [--force]",
    .description = "Writes the form that the rig takes at a pose, with the polygons, texture\n"
                   "coordinates, groups and materials of its mesh and the vertices in their\n"
                   "original order. Axes that are not named stay at rest. A rotation is written as\n"
                   "a quaternion (shoulder=q:0,0,.38,.92) or as turns in degrees, one after the\n"
                   "other (shoulder=x30y-10z5). The form is in metres with y up, whatever the\n"
                   "project's own unit and up, and has no normals: those of the mesh would be\n"
                   "wrong on it.\n"
                   "\n"
                   "With --poses, DIR/pose_00000.obj is the form of the first row, and so on.\n"
                   "Forms that are there already are not overwritten unless told.",
    .examples = "exemplar pose blob/blob.glb bend=0.5 -o bent.obj\n"
                "printf 'bend\\n0\\n0.5\\n1\\n' > poses.csv\n"
                "exemplar pose blob/blob.glb --poses poses.csv -o frames",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .argument_min = 1,
    .argument_max = -1,
    .run = run,
};

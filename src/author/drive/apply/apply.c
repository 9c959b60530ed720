/*
 * Applies a driven rig to a new animation of its driver. Reads each frame, evaluates it with the state of the previous
 * one, measures it if a report is wanted, and writes it. Memory holds a few frames, however long the caches are.
 */
#include "author/drive/apply/apply.h"
#include "author/base/names.h"
#include "author/base/progress.h"
#include "author/mesh/groups.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct applier {
    const ex_apply_def *def;
    int layer;
    ex_cache_reader *driver, *truth;
    ex_cache_writer *writer;
    int frame_count, driver_count, vertex_count; /* frame_count: those that are used */
    double *inputs, *weights;                    /* weights [ex_rig_example_count] */
    float *form, *unsettled, *made, *right;
    void *scratch, *state;
    double primed; /* seconds between the past that the rig was given and the first frame; 0: none */
    int *picked;   /* [picked_count]: vertices to write; NULL: all */
    int picked_count;
    float *written;
    exi_wear wear;
    ex_error *error;
} applier;

/* ---- output ---- */

/* Picks the group's vertices, in ascending order. */
static ex_result pick_group(applier *a, const ex_mesh *mesh) {
    float *mask = calloc((size_t)a->vertex_count, sizeof *mask);
    a->picked = exi_array_allocate((size_t)a->vertex_count, sizeof *a->picked);
    a->written = exi_array_allocate((size_t)a->vertex_count, 3 * sizeof *a->written);
    ex_result result =
        mask && a->picked && a->written ? EX_OK : ex_error_memory(a->error, "a group", (size_t)a->vertex_count * 20);
    if (result == EX_OK)
        result = ex_mask_from_group(mesh, a->def->group, mask, a->error);
    for (int v = 0; result == EX_OK && v < a->vertex_count; v++)
        if (mask[v] > 0)
            a->picked[a->picked_count++] = v;
    free(mask);
    return result;
}

/* Tags refer to vertices of the whole mesh and would be wrong in a part of it. */
static void drop_tags(ex_mesh *mesh) {
    for (int t = 0; t < mesh->tag_count; t++) {
        ex_tag *tag = &mesh->tags[t];
        for (int i = 0; i < tag->string_count; i++)
            free(tag->strings[i]);
        free(tag->strings);
        free(tag->floats);
        free(tag->ints);
        free(tag->name);
    }
    mesh->tag_count = 0;
}

/* Reduces a mesh to the group's faces and vertices, with the data of their corners. */
static ex_result cut_mesh(const applier *a, ex_mesh *mesh) {
    int *numbers = exi_array_allocate((size_t)a->vertex_count, sizeof *numbers);
    int faces = 0, corners = 0;
    if (!numbers)
        return ex_error_memory(a->error, "a group", (size_t)a->vertex_count * sizeof *numbers);
    for (int i = 0; i < a->picked_count; i++) {
        numbers[a->picked[i]] = i;
        memmove(mesh->positions + 3 * (size_t)i, mesh->positions + 3 * (size_t)a->picked[i], 3 * sizeof(double));
        if (mesh->colours)
            memmove(mesh->colours + 3 * (size_t)i, mesh->colours + 3 * (size_t)a->picked[i], 3 * sizeof(float));
    }
    for (int f = 0; f < mesh->face_count; f++) {
        const int from = mesh->face_offsets[f], to = mesh->face_offsets[f + 1], group = mesh->face_groups[f];
        if (group < 0 || !exi_names_group(mesh->group_names[group], a->def->group))
            continue;
        mesh->face_offsets[faces] = corners;
        mesh->face_groups[faces] = group;
        if (mesh->face_materials)
            mesh->face_materials[faces] = mesh->face_materials[f];
        faces++;
        for (int c = from; c < to; c++, corners++) {
            mesh->corners[corners] = numbers[mesh->corners[c]];
            if (mesh->corner_texcoords)
                mesh->corner_texcoords[corners] = mesh->corner_texcoords[c];
            if (mesh->corner_normals)
                mesh->corner_normals[corners] = mesh->corner_normals[c];
        }
    }
    mesh->face_offsets[faces] = corners;
    mesh->vertex_count = a->picked_count;
    mesh->face_count = faces;
    mesh->corner_count = corners;
    drop_tags(mesh);
    free(numbers);
    return EX_OK;
}

static ex_result open_output(applier *a) {
    const ex_apply_def *def = a->def;
    const bool faces = ex_cache_needs_mesh(def->output);
    ex_mesh *mesh = NULL;
    double *times = exi_array_allocate((size_t)a->frame_count, sizeof *times);
    ex_result result =
        times ? EX_OK : ex_error_memory(a->error, "the times of frames", (size_t)a->frame_count * sizeof *times);
    if (result == EX_OK && (faces || def->group))
        result = ex_rig_to_mesh(def->rig, NULL, &mesh, a->error);
    if (result == EX_OK && def->group)
        result = pick_group(a, mesh);
    if (result == EX_OK && def->group && faces)
        result = cut_mesh(a, mesh);
    for (int f = 0; result == EX_OK && f < a->frame_count; f++)
        times[f] = exi_take_time(a->driver, def->first + f, def->rate);
    if (result == EX_OK)
        result = ex_cache_create(def->output, def->group ? a->picked_count : a->vertex_count, a->frame_count, times,
                                 faces ? mesh : NULL, &a->writer, a->error);
    ex_mesh_destroy(mesh);
    free(times);
    return result;
}

/* Writes the form in the unit of the output. It is measured already, and not needed again. */
static ex_result write_frame(const applier *a, int frame) {
    const double scale = a->def->driven_scale > 0 ? a->def->driven_scale : 1;
    for (size_t i = 0; i < 3 * (size_t)a->vertex_count; i++) {
        a->made[i] = (float)((double)a->made[i] / scale);
        if (!isfinite(a->made[i]))
            return ex_error_set(a->error, EX_ERROR_DATA,
                                "in frame %d, vertex %zu (counting from 0) is too far away for a float",
                                a->def->first + frame + 1, i / 3);
    }
    for (int i = 0; i < a->picked_count; i++)
        memcpy(a->written + 3 * (size_t)i, a->made + 3 * (size_t)a->picked[i], 3 * sizeof(float));
    return ex_cache_write(a->writer, a->picked ? a->written : a->made, a->error);
}

/* ---- opening ---- */

static ex_result check_truth(applier *a) {
    const ex_apply_def *def = a->def;
    const int counts[2] = {ex_cache_get_info(a->driver).frame_count, ex_cache_get_info(a->truth).frame_count};
    int used = 0;
    if (def->count > 0) {
        const ex_result result = exi_take_check(a->truth, def->truth, def->first, def->count, 0, &used, a->error);
        return result == EX_OK
                   ? exi_take_check_pair(a->driver, def->driver, a->truth, def->truth, def->first, def->count, a->error)
                   : result;
    }
    const ex_result result = ex_drive_check_pair(a->driver, def->driver, a->truth, def->truth, a->error);
    if (result == EX_OK && counts[0] != counts[1])
        return ex_error_kind(a->error,
                             ex_error_set(a->error, EX_ERROR_DATA,
                                          "'%s' has %d frames but '%s' has %d: they cannot be compared", def->driver,
                                          counts[0], def->truth, counts[1]),
                             "frames_differ_applied");
    return result;
}

static ex_result open_caches(applier *a) {
    const ex_apply_def *def = a->def;
    ex_rig_driver driver;
    ex_result result = exi_take_check_rig(def->rig, &driver, &a->layer, a->error);
    if (result != EX_OK)
        return result;
    a->driver_count = driver.driver.vertex_count;
    a->vertex_count = ex_rig_vertex_count(def->rig);
    result = ex_drive_open_cache(def->driver, "driver", a->driver_count, NULL, &a->driver, a->error);
    if (result == EX_OK && def->truth)
        result = ex_drive_open_cache(def->truth, "driven", a->vertex_count, NULL, &a->truth, a->error);
    if (result == EX_OK)
        result = exi_take_check(a->driver, def->driver, def->first, def->count, def->rate, &a->frame_count, a->error);
    return result == EX_OK && a->truth ? check_truth(a) : result;
}

/* Sets the axis of databases: the layer's scalar axis. */
static ex_result set_database(applier *a) {
    const ex_rig *rig = a->def->rig;
    const ex_pose pose = {.inputs = a->inputs};
    ex_rig_rest_pose(rig, &pose);
    if (isnan(a->def->database))
        return EX_OK;
    for (int i = 0; i < ex_weigher_axis_count(ex_rig_weigher(rig, a->layer)); i++) {
        const int input = ex_rig_layer_input(rig, a->layer, i);
        if (ex_rig_input_axis(rig, input).kind == EX_AXIS_SCALAR) {
            ex_rig_set_input(rig, input, &a->def->database, &pose);
            return EX_OK;
        }
    }
    return ex_error_set(a->error, EX_ERROR_ARGUMENT, "this rig has only one database: there is no axis to set");
}

static ex_result open_applier(applier *a, bool report) {
    const ex_rig *rig = a->def->rig;
    const ex_evaluation how = {.unsettled = a->def->unsettled, .tasks = a->def->tasks};
    ex_result result = open_caches(a);
    if (result != EX_OK)
        return result;
    const size_t n = (size_t)a->driver_count, m = (size_t)a->vertex_count;
    const size_t scratch = ex_rig_scratch_size(rig, &how, 1), state = ex_rig_state_size(rig);
    a->inputs = exi_array_allocate((size_t)ex_rig_pose_size(rig), sizeof *a->inputs);
    a->weights = exi_array_allocate((size_t)ex_rig_example_count(rig), sizeof *a->weights);
    a->form = exi_array_allocate(n, 3 * sizeof(float));
    a->made = exi_array_allocate(m, 3 * sizeof(float));
    a->unsettled = report && a->truth ? exi_array_allocate(m, 3 * sizeof(float)) : NULL;
    a->right = a->truth ? exi_array_allocate(m, 3 * sizeof(float)) : NULL;
    a->scratch = exi_array_allocate(scratch, 1);
    a->state = calloc(state > 0 ? state : 1, 1);
    if (!a->inputs || !a->weights || !a->form || !a->made || (report && a->truth && !a->unsettled) ||
        (a->truth && !a->right) || !a->scratch || !a->state)
        return ex_error_memory(a->error, "applying", (n + 3 * m) * 12 + scratch + state);
    result = set_database(a);
    if (result == EX_OK)
        result = exi_wear_open(&a->wear, a->def, a->frame_count, report, a->error);
    return result == EX_OK && a->def->output ? open_output(a) : result;
}

static void close_applier(applier *a) {
    ex_cache_close(a->driver);
    ex_cache_close(a->truth);
    exi_wear_close(&a->wear);
    free(a->inputs);
    free(a->weights);
    free(a->form);
    free(a->made);
    free(a->unsettled);
    free(a->right);
    free(a->scratch);
    free(a->state);
    free(a->picked);
    free(a->written);
}

/* ---- frames ---- */

static ex_result apply_frame(applier *a, int frame, exi_gauge *gauge) {
    const int in_cache = a->def->first + frame;
    ex_result result = exi_take_read(a->driver, a->def->driver, in_cache, a->def->driver_scale, a->form, a->error);
    if (result == EX_OK && a->truth)
        result = exi_take_read(a->truth, a->def->truth, in_cache, a->def->driven_scale, a->right, a->error);
    if (result != EX_OK)
        return result;
    ex_driven info = {.unsettled = a->unsettled};
    const double time = exi_take_time(a->driver, in_cache, a->def->rate);
    const double elapsed = frame > 0 ? time - exi_take_time(a->driver, in_cache - 1, a->def->rate) : a->primed;
    const ex_pose pose = {.inputs = a->inputs, .driver = a->form, .elapsed = elapsed};
    const ex_output output = {.positions = a->made, .weights = a->weights, .driven = &info};
    const ex_evaluation how = {.unsettled = a->def->unsettled, .states = &a->state, .tasks = a->def->tasks};
    exi_worn worn;
    ex_rig_evaluate(a->def->rig, &pose, &output, &how, a->scratch);
    result = exi_wear_frame(&a->wear, frame, a->form, a->made, &worn, a->error);
    if (result != EX_OK)
        return result;
    if (gauge)
        exi_gauge_add(gauge, &(exi_applied){.frame = frame,
                                            .time = time,
                                            .driver = a->form,
                                            .driven = a->made,
                                            .truth = a->right,
                                            .unsettled = a->unsettled,
                                            .weights = a->weights + ex_rig_first_example(a->def->rig, a->layer),
                                            .info = &info,
                                            .wear = &a->wear,
                                            .worn = &worn});
    return a->writer ? write_frame(a, frame) : EX_OK;
}

/* Gives a rig that follows motion a past before the first frame, so that it does not begin at rest. */
static ex_result prime(applier *a) {
    const ex_predictor *predictor = ex_rig_layer_predictor(a->def->rig, a->layer);
    const size_t numbers = 3 * (size_t)a->driver_count;
    if (!predictor)
        return EX_OK;
    const exi_take take = {a->driver,      a->def->driver, a->def->first,
                           a->frame_count, a->def->rate,   a->def->driver_scale};
    float *past = exi_array_allocate(2 * numbers, sizeof *past);
    const ex_result result = past ? exi_take_past(&take, predictor, past, a->form, &a->primed, a->error)
                                  : ex_error_memory(a->error, "a frame", 2 * numbers * sizeof *past);
    for (int k = 0; result == EX_OK && a->primed > 0 && k < 2; k++) {
        const ex_pose pose = {.inputs = a->inputs, .driver = past + (size_t)k * numbers, .elapsed = k * a->primed};
        const ex_evaluation how = {.unsettled = true, .states = &a->state, .tasks = a->def->tasks};
        ex_rig_evaluate(a->def->rig, &pose, &(ex_output){.weights = a->weights}, &how, a->scratch);
    }
    free(past);
    return result;
}

ex_result ex_drive_apply(const ex_apply_def *def, ex_drive_report **report, ex_error *error) {
    if (!def || !def->rig || !def->driver || (!def->output && !report))
        return exi_misuse_error(error, __func__, "no rig, no driver, or nothing to do");
    if (report)
        *report = NULL;
    ex_result result = exi_take_check_scale(def->driver_scale, "driver", error);
    if (result == EX_OK)
        result = exi_take_check_scale(def->driven_scale, "driven", error);
    if (result != EX_OK)
        return result;
    applier a = {.def = def, .error = error};
    exi_gauge gauge = {.rig = NULL};
    ex_drive_report *made = NULL;
    result = open_applier(&a, report != NULL);
    if (result == EX_OK && report)
        result = exi_gauge_open(&gauge, def, a.layer, a.frame_count, &made, error);
    if (result == EX_OK)
        result = prime(&a);
    for (int f = 0; result == EX_OK && f < a.frame_count; f++) {
        result = apply_frame(&a, f, report ? &gauge : NULL);
        if (result == EX_OK &&
            !exi_progress_tell(def->progress, "following the driver", (double)(f + 1) / a.frame_count))
            result = exi_progress_stopped(error);
    }
    if (result == EX_OK && report)
        exi_gauge_finish(&gauge);
    const ex_result finished = ex_cache_finish(a.writer, result == EX_OK, result == EX_OK ? error : NULL);
    result = result == EX_OK ? finished : result;
    exi_gauge_close(&gauge);
    close_applier(&a);
    if (result == EX_OK && report)
        *report = made;
    else
        ex_drive_report_free(made);
    return result;
}

void ex_drive_report_free(ex_drive_report *report) {
    if (!report)
        return;
    free(report->frames);
    free(report->weights);
    free(report->vertex_errors);
    free(report);
}

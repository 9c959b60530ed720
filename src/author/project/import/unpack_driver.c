/*
 * The driver of a rig, in the words of a project file and as files: its mesh, its forms at the examples of the layer
 * that it weighs, weights of its vertices, hand-made regions, its predictor, and binds as lists. A note of the rig
 * (author/drive) describes how its moving frames were found; they are found again, to the bit.
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/project/import/unpack.h"
#include "author/project/skeleton/skeleton.h"
#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <exemplar/author/formats.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- data of the rig ---- */

/* Restores the masks of hand-made regions from the influences of the mesh's vertices. */
static ex_result take_masks(exi_unpacked_driver *d, const ex_rig *rig, ex_error *error) {
    const size_t count = (size_t)ex_rig_vertex_count(rig), regions = (size_t)d->options.region_count;
    ex_influences shares = {0};
    if (regions == 0)
        return EX_OK;
    ex_region *views = exi_arena_allocate(&d->arena, EX_DRIVER_FRAME_MAX, sizeof *views);
    if (!views)
        return ex_error_memory(error, "the regions", EX_DRIVER_FRAME_MAX * sizeof *views);
    if (ex_rig_layer_regions(rig, d->layer, views, &shares) != d->options.region_count)
        return ex_error_set(error, EX_ERROR_DATA, "the rig's note of how it follows its driver is damaged");
    d->masks = exi_arena_allocate(&d->arena, regions * count, sizeof *d->masks);
    if (!d->masks)
        return ex_error_memory(error, "the regions", regions * count * sizeof *d->masks);
    for (size_t v = 0; v < count; v++) {
        if (!shares.starts) {
            d->masks[v] = 1;
            continue;
        }
        for (uint32_t i = shares.starts[v]; i < shares.starts[v + 1]; i++)
            d->masks[shares.places[i] * count + v] = shares.weights[i];
    }
    return EX_OK;
}

ex_result exi_unpack_driver_open(exi_unpacked_driver *d, const ex_rig *rig, ex_error *error) {
    *d = (exi_unpacked_driver){.layer = -1};
    d->there = ex_rig_get_driver(rig, &d->driver, d->binds);
    if (!d->there)
        return EX_OK;
    for (int l = ex_rig_layer_count(rig) - 1; l >= 0; l--)
        if (ex_weigher_get_info(ex_rig_weigher(rig, l))->is_driven) {
            if (d->layer >= 0)
                return ex_error_set(error, EX_ERROR_DATA,
                                    "layers '%s' and '%s' both follow the driver, which a project cannot express",
                                    ex_rig_layer_name(rig, l), ex_rig_layer_name(rig, d->layer));
            d->layer = l;
        }
    if (d->layer < 0)
        return ex_error_set(error, EX_ERROR_DATA,
                            "no layer of the rig follows its driver, which a project cannot express");
    ex_result result = exi_drive_note_read(rig, &d->driver, &d->arena, &d->options, &d->mesh, error);
    return result == EX_OK ? take_masks(d, rig, error) : result;
}

void exi_unpack_driver_close(exi_unpacked_driver *d) {
    ex_mesh_destroy(d->mesh);
    exi_arena_free(&d->arena);
    *d = (exi_unpacked_driver){0};
}

/* ---- names ---- */

static exi_file_name weights_name(int layer) {
    exi_file_name name;
    snprintf(name.text, sizeof name.text, "layer%d.driver_weights.txt", layer + 1);
    return name;
}

static exi_file_name predictor_name(int layer) {
    exi_file_name name;
    snprintf(name.text, sizeof name.text, "layer%d.predictor", layer + 1);
    return name;
}

static exi_file_name region_name(int layer, int region, const char *what) {
    exi_file_name name;
    snprintf(name.text, sizeof name.text, "layer%d.region%d.%s.txt", layer + 1, region + 1, what);
    return name;
}

/* ---- words ---- */

static json_t *make_frame(const exi_unpacked_driver *d, const ex_rig *rig) {
    exi_joint_text text;
    if (d->options.frame == EX_WHOLE_FRAME_JOINT)
        return json_pack("{s:s}", "joint", exi_joint_name(ex_rig_skeleton(rig), d->options.frame_joint, &text));
    if (d->options.frame == EX_WHOLE_FRAME_FIT && d->options.frame_group)
        return json_pack("{s:s}", "group", d->options.frame_group);
    return json_string(d->options.frame == EX_WHOLE_FRAME_NONE ? "none" : "fit");
}

bool exi_unpack_describe_driver(const exi_unpacked_driver *d, const ex_rig *rig, json_t *root) {
    const ex_drive_options *o = &d->options;
    if (!d->there)
        return true;
    json_t *driver = json_pack("{s:s}", "mesh", EXI_UNPACKED_DRIVER), *frames = json_object();
    bool done = exi_json_set(driver, "frame", make_frame(d, rig)) &&
                exi_json_set(frames, "count", o->frames < 0 ? json_string("auto") : json_integer(o->frames)) &&
                exi_json_set(frames, "fit", exi_json_make_number(o->fit)) &&
                exi_json_set(frames, "look", exi_json_make_number(o->look)) &&
                exi_json_set(frames, "whole", exi_json_make_number(o->whole)) &&
                exi_json_set(frames, "influences", json_integer(o->influences));
    done = exi_json_set(driver, "frames", frames) && done;
    return exi_json_set(root, "driver", driver) && done;
}

/* Returns the shortest number that is this float. */
static json_t *make_float(float value) {
    char text[64];
    const int length = ex_format_float(text, value);
    const char *at = text;
    double number = (double)value;
    ex_parse_double(&at, text + length, &number);
    return exi_json_make_number(number);
}

bool exi_unpack_describe_settle(const exi_unpacked_driver *d, json_t *root) {
    if (!d->there)
        return true;
    json_t *settle = json_object();
    bool done = exi_json_set(settle, "residual", json_string(ex_residual_name(d->driver.residual))) &&
                exi_json_set(settle, "thickness", make_float(d->driver.thickness)) &&
                exi_json_set(settle, "push", json_boolean(d->driver.push)) &&
                (d->driver.bind_count == 0 || exi_json_set(settle, "bind", json_string(EXI_UNPACKED_BINDS)));
    return exi_json_set(root, "settle", settle) && done;
}

bool exi_unpack_describe_driven(const exi_unpacked_driver *d, const ex_rig *rig, int layer, json_t *object,
                                json_t *weigh) {
    const ex_drive_options *o = &d->options;
    const bool paths = !ex_rig_layer_is_sum(rig, layer);
    float *mask = exi_array_allocate((size_t)ex_rig_vertex_count(rig), sizeof *mask);
    bool done = mask && (paths || exi_json_set(object, "shape", json_string("unposed")));
    if (done && paths && ex_rig_layer_mask(rig, layer, mask))
        done = exi_json_set(object, "mask", json_pack("{s:s}", "file", exi_unpacked_mask_name(layer).text));
    free(mask);
    if (done && o->driver_weights)
        done = exi_json_set(weigh, "driver_weights", json_pack("{s:s}", "file", weights_name(layer).text));
    if (ex_rig_layer_predictor(rig, layer))
        return done && exi_json_set(weigh, "predictor", json_string(predictor_name(layer).text));
    if (done && o->one_region)
        done = exi_json_set(weigh, "one_region", json_true());
    if (!done || o->region_count == 0)
        return done;
    json_t *regions = json_array();
    for (int r = 0; r < o->region_count; r++)
        done = json_array_append_new(regions,
                                     json_pack("{s:{s:s}, s:{s:s}}", "look", "file", region_name(layer, r, "look").text,
                                               "mask", "file", region_name(layer, r, "mask").text)) == 0 &&
               done;
    return exi_json_set(weigh, "regions", regions) && done;
}

/* Describes joints that are not at rest, if a moving frame follows one. */
static bool describe_joints(const ex_rig *rig, int layer, int example, json_t *object) {
    const int count = ex_rig_joint_count(rig);
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    ex_transform *joints = exi_array_allocate((size_t)count, sizeof *joints);
    json_t *locals = json_object();
    bool done = joints && locals;
    if (done && count > 0 && ex_rig_example_joints(rig, layer, example, joints))
        for (int j = 0; done && j < count; j++) {
            const ex_transform rest = ex_skeleton_rest(skeleton, j), *at = &joints[j];
            const double numbers[10] = {(double)at->translation[0], (double)at->translation[1],
                                        (double)at->translation[2], (double)at->rotation[0],
                                        (double)at->rotation[1],    (double)at->rotation[2],
                                        (double)at->rotation[3],    (double)at->scale[0],
                                        (double)at->scale[1],       (double)at->scale[2]};
            exi_joint_text text;
            if (memcmp(&rest, at, sizeof rest) != 0)
                done = exi_json_set(locals, exi_joint_name(skeleton, j, &text), exi_json_make_numbers(numbers, 10));
        }
    free(joints);
    if (done && json_object_size(locals) > 0)
        return exi_json_set(object, "locals", locals);
    json_decref(locals);
    return done;
}

bool exi_unpack_describe_key(const ex_rig *rig, int layer, int example, json_t *object) {
    if (ex_rig_layer_predictor(rig, layer))
        return exi_json_set(object, "posed", json_false());
    if (!ex_rig_example_driver(rig, layer, example))
        return true;
    const ex_weigher *weigher = ex_rig_weigher(rig, layer);
    const exi_file_name name = exi_unpacked_name(rig, layer, example, EXI_UNPACKED_DRIVER_FORM);
    json_t *at = json_object_get(object, "at");
    bool done = at != NULL && exi_json_set(object, "posed", json_false());
    for (int a = 0; done && a < ex_weigher_axis_count(weigher); a++) {
        const int input = ex_rig_layer_input(rig, layer, a);
        if (ex_rig_input_axis(rig, input).kind == EX_AXIS_DRIVER)
            done = exi_json_set(at, ex_rig_input_name(rig, input), json_string(name.text));
    }
    return done && describe_joints(rig, layer, example, object);
}

/* ---- files ---- */

/* Called for every file but forms; values NULL: the mesh, binds, or the predictor. */
typedef ex_result (*visitor)(void *user, const char *name, const float *values, int vertex_count, ex_error *error);

static ex_result visit_files(const exi_unpacked_driver *d, const ex_rig *rig, visitor visit, void *user,
                             ex_error *error) {
    const ex_drive_options *o = &d->options;
    const int driver_count = d->driver.driver.vertex_count, count = ex_rig_vertex_count(rig);
    float *mask = exi_array_allocate((size_t)count, sizeof *mask);
    ex_result result = mask ? visit(user, EXI_UNPACKED_DRIVER, NULL, 0, error)
                            : ex_error_memory(error, "a mask", (size_t)count * sizeof *mask);
    if (result == EX_OK && d->driver.bind_count > 0)
        result = visit(user, EXI_UNPACKED_BINDS, NULL, 0, error);
    if (result == EX_OK && o->driver_weights)
        result = visit(user, weights_name(d->layer).text, o->driver_weights, driver_count, error);
    if (result == EX_OK && ex_rig_layer_predictor(rig, d->layer))
        result = visit(user, predictor_name(d->layer).text, NULL, 0, error);
    for (int r = 0; r < o->region_count; r++) {
        if (result == EX_OK)
            result = visit(user, region_name(d->layer, r, "look").text, o->regions[r].look, driver_count, error);
        if (result == EX_OK)
            result =
                visit(user, region_name(d->layer, r, "mask").text, d->masks + (size_t)r * (size_t)count, count, error);
    }
    if (result == EX_OK && !ex_rig_layer_is_sum(rig, d->layer) && ex_rig_layer_mask(rig, d->layer, mask))
        result = visit(user, exi_unpacked_mask_name(d->layer).text, mask, count, error);
    free(mask);
    return result;
}

static ex_result check_free(void *user, const char *name, const float *values, int vertex_count, ex_error *error) {
    (void)values;
    (void)vertex_count;
    return exi_new_folder_check_free(user, name, error);
}

ex_result exi_unpack_check_driver(const exi_unpacked_driver *d, const ex_rig *rig, const exi_new_folder *folder,
                                  ex_error *error) {
    return d->there ? visit_files(d, rig, check_free, (void *)(uintptr_t)folder, error) : EX_OK;
}

typedef struct writing {
    const exi_unpacked_driver *d;
    const ex_rig *rig;
    int vertex_count;
    exi_new_folder *folder;
} writing;

/* Lists each bind: the vertices that have it, and the triangles that they see. */
static json_t *make_binds(const writing *w) {
    const ex_rig_driver *driver = &w->d->driver;
    json_t *list = json_array();
    bool done = list != NULL;
    for (int b = 0; done && b < driver->bind_count; b++) {
        json_t *vertices = json_array(), *triangles = json_array();
        for (int v = 0; done && v < w->vertex_count; v++)
            done = driver->vertex_binds[v] != b || json_array_append_new(vertices, json_integer(v)) == 0;
        for (int t = 0; done && t < driver->binds[b].triangle_count; t++)
            done = json_array_append_new(triangles, json_integer(driver->binds[b].triangles[t])) == 0;
        json_t *entry =
            json_pack("{s:{s:o}, s:{s:o}}", "driven", "vertices", vertices, "driver", "triangles", triangles);
        done = json_array_append_new(list, entry) == 0 && done;
    }
    if (done)
        return json_pack("{s:o}", "binds", list);
    json_decref(list);
    return NULL;
}

static ex_result write_file(void *user, const char *name, const float *values, int vertex_count, ex_error *error) {
    const writing *w = user;
    const char *path = exi_new_folder_add(w->folder, name, error);
    if (!path)
        return EX_ERROR_MEMORY;
    if (values)
        return exi_unpack_write_mask(values, vertex_count, path, error);
    if (strcmp(name, EXI_UNPACKED_DRIVER) == 0)
        return ex_obj_write(path, w->d->mesh, error);
    if (strcmp(name, predictor_name(w->d->layer).text) == 0)
        return ex_predictor_write(path, ex_rig_layer_predictor(w->rig, w->d->layer), error);
    json_t *binds = make_binds(w);
    const ex_result result = binds ? exi_json_write(path, binds, error) : ex_error_memory(error, "the binds", 0);
    json_decref(binds);
    return result;
}

ex_result exi_unpack_write_driver(const exi_unpacked_driver *d, const ex_rig *rig, exi_new_folder *folder,
                                  ex_error *error) {
    writing w = {.d = d, .rig = rig, .vertex_count = ex_rig_vertex_count(rig), .folder = folder};
    return d->there ? visit_files(d, rig, write_file, &w, error) : EX_OK;
}

/*
 * The note of a driven rig: what the rig's tables do not hold, as compact JSON (docs/reference/rig.md). It has the
 * options by which moving frames and regions were found, and the driver's polygons and groups. Long lists are
 * run-length encoded: [count, value, count, value, …].
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/drive/drive.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static bool append(json_t *list, json_t *value) {
    return json_array_append_new(list, value) == 0;
}

/* Encodes floats or ints as runs. */
static json_t *make_runs(const float *floats, const int *ints, int count) {
    json_t *list = json_array();
    bool done = list != NULL;
    for (int i = 0, end; done && i < count; i = end) {
        for (end = i + 1; end < count && (floats ? floats[end] == floats[i] : ints[end] == ints[i]);)
            end++;
        done = append(list, json_integer(end - i)) &&
               append(list, floats ? exi_json_make_number((double)floats[i]) : json_integer(ints[i]));
    }
    if (!done) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static bool describe_options(json_t *note, const ex_drive_options *o, int driver_count) {
    bool done = exi_json_set(note, "frame", json_string(ex_whole_frame_name(o->frame))) &&
                exi_json_set(note, "frames", json_integer(o->frames)) &&
                exi_json_set(note, "fit", exi_json_make_number(o->fit)) &&
                exi_json_set(note, "look", exi_json_make_number(o->look)) &&
                exi_json_set(note, "whole", exi_json_make_number(o->whole)) &&
                exi_json_set(note, "influences", json_integer(o->influences)) &&
                exi_json_set(note, "one_region", json_boolean(o->one_region));
    if (done && o->frame == EX_WHOLE_FRAME_FIT && o->frame_group)
        done = exi_json_set(note, "frame_group", json_string(o->frame_group));
    if (done && o->frame == EX_WHOLE_FRAME_JOINT)
        done = exi_json_set(note, "frame_joint", json_integer(o->frame_joint));
    if (done && o->driver_weights)
        done = exi_json_set(note, "driver_weights", make_runs(o->driver_weights, NULL, driver_count));
    if (done && o->region_count > 0) {
        json_t *regions = json_array();
        done = regions != NULL;
        for (int r = 0; done && r < o->region_count; r++)
            done = append(regions, make_runs(o->regions[r].look, NULL, driver_count));
        done = exi_json_set(note, "regions", regions) && done;
    }
    return done;
}

static bool describe_faces(json_t *object, const ex_mesh *mesh) {
    json_t *corners = json_array(), *sizes = NULL;
    int *counts = exi_array_allocate((size_t)mesh->face_count, sizeof *counts);
    bool done = corners && counts;
    for (int f = 0; done && f < mesh->face_count; f++)
        counts[f] = mesh->face_offsets[f + 1] - mesh->face_offsets[f];
    if (done)
        sizes = make_runs(NULL, counts, mesh->face_count);
    for (int c = 0; done && c < mesh->corner_count; c++)
        done = append(corners, json_integer(mesh->corners[c]));
    free(counts);
    done = exi_json_set(object, "face_sizes", sizes) && done;
    return exi_json_set(object, "corners", corners) && done;
}

static bool describe_driver(json_t *note, const ex_mesh *mesh) {
    json_t *driver = json_object();
    bool done = driver != NULL;
    if (done && mesh->corner_count != 3 * mesh->face_count)
        done = describe_faces(driver, mesh);
    if (done && mesh->face_groups) {
        json_t *names = json_array();
        done = names != NULL;
        for (int g = 0; done && g < mesh->group_count; g++)
            done = append(names, json_string(mesh->group_names[g]));
        done = exi_json_set(driver, "groups", names) && done;
        done = done && exi_json_set(driver, "face_groups", make_runs(NULL, mesh->face_groups, mesh->face_count));
    }
    return exi_json_set(note, "driver", driver) && done;
}

ex_result exi_drive_note_write(const ex_drive_options *o, const ex_mesh *driver, struct exi_text *text,
                               ex_error *error) {
    json_t *note = json_object();
    const bool done = note && describe_options(note, o, driver->vertex_count) && describe_driver(note, driver);
    if (done)
        exi_json_print(note, false, text);
    json_decref(note);
    return done && !text->failed ? EX_OK : ex_error_memory(error, "a note", text->size);
}

/* ---- reading ---- */

/* Readers set failed if the note is malformed, no_memory if memory runs out. */
typedef struct in {
    exi_arena *arena;
    bool failed, no_memory;
} in;

static void *get_memory(in *i, size_t count, size_t size) {
    void *memory = i->failed ? NULL : exi_arena_allocate(i->arena, count, size);
    if (!memory && !i->failed)
        i->failed = i->no_memory = true;
    return memory;
}

/* Decodes runs into floats or ints [count]; the other is NULL. */
static void get_runs(in *i, const json_t *list, int count, float *floats, int *ints) {
    const size_t size = json_array_size(list);
    int at = 0;
    for (size_t k = 0; !i->failed && k + 1 < size; k += 2) {
        const json_t *length = json_array_get(list, k), *value = json_array_get(list, k + 1);
        const json_int_t run = json_integer_value(length);
        if (!json_is_number(value) || run < 1 || run > count - at) {
            i->failed = true;
            return;
        }
        for (json_int_t r = 0; r < run; r++, at++)
            if (floats)
                floats[at] = (float)json_number_value(value);
            else
                ints[at] = (int)json_integer_value(value);
    }
    if (at != count || size % 2 != 0)
        i->failed = true;
}

static double get_number(in *i, const json_t *note, const char *key) {
    const json_t *value = json_object_get(note, key);
    if (!json_is_number(value))
        i->failed = true;
    return json_number_value(value);
}

static int get_int(in *i, const json_t *note, const char *key) {
    const json_int_t value = json_integer_value(json_object_get(note, key));
    if (!json_is_integer(json_object_get(note, key)) || value < -1 || value > INT32_MAX)
        i->failed = true;
    return i->failed ? 0 : (int)value;
}

static char *get_text(in *i, const json_t *value) {
    const char *text = json_string_value(value);
    char *copy = text ? exi_arena_text(i->arena, text) : NULL;
    if (!text)
        i->failed = true;
    else if (!copy)
        i->failed = i->no_memory = true;
    return copy;
}

static const float *get_floats(in *i, const json_t *list, int count) {
    float *values = get_memory(i, (size_t)count, sizeof *values);
    if (values)
        get_runs(i, list, count, values, NULL);
    return values;
}

static void get_options(in *i, const json_t *note, int driver_count, ex_drive_options *o) {
    const char *frame = json_string_value(json_object_get(note, "frame"));
    o->frame = 0;
    while (o->frame < EX_WHOLE_FRAME_COUNT && (!frame || strcmp(frame, ex_whole_frame_name(o->frame)) != 0))
        o->frame++;
    if (o->frame == EX_WHOLE_FRAME_COUNT)
        i->failed = true;
    o->frames = get_int(i, note, "frames");
    o->fit = get_number(i, note, "fit");
    o->look = get_number(i, note, "look");
    o->whole = get_number(i, note, "whole");
    o->influences = get_int(i, note, "influences");
    o->one_region = json_is_true(json_object_get(note, "one_region"));
    if (json_object_get(note, "frame_group"))
        o->frame_group = get_text(i, json_object_get(note, "frame_group"));
    if (o->frame == EX_WHOLE_FRAME_JOINT)
        o->frame_joint = get_int(i, note, "frame_joint");
    if (json_object_get(note, "driver_weights"))
        o->driver_weights = get_floats(i, json_object_get(note, "driver_weights"), driver_count);
    const json_t *regions = json_object_get(note, "regions");
    const size_t region_count = json_array_size(regions);
    if (region_count > EX_DRIVER_FRAME_MAX)
        i->failed = true;
    ex_drive_region *list = region_count > 0 ? get_memory(i, region_count, sizeof *list) : NULL;
    for (size_t r = 0; list && !i->failed && r < region_count; r++)
        list[r].look = get_floats(i, json_array_get(regions, r), driver_count);
    o->regions = list;
    o->region_count = (int)region_count;
}

/* ---- the driver's mesh ---- */

static int *get_ints(in *i, size_t count) {
    int *values = i->failed ? NULL : exi_array_allocate(count, sizeof *values);
    if (!values && !i->failed)
        i->failed = i->no_memory = true;
    return values;
}

static void get_polygons(in *i, const json_t *driver, ex_mesh *mesh) {
    const json_t *sizes = json_object_get(driver, "face_sizes"), *corners = json_object_get(driver, "corners");
    json_int_t faces = 0;
    for (size_t k = 0; k < json_array_size(sizes); k += 2) {
        const json_int_t run = json_integer_value(json_array_get(sizes, k));
        faces += run > 0 && run < INT32_MAX ? run : INT32_MAX;
    }
    /* A face has at least three corners. */
    if (faces > (json_int_t)json_array_size(corners) / 3 || json_array_size(corners) > INT32_MAX) {
        i->failed = true;
        return;
    }
    mesh->face_offsets = get_ints(i, (size_t)faces + 1);
    mesh->corners = get_ints(i, json_array_size(corners));
    if (i->failed)
        return;
    get_runs(i, sizes, (int)faces, NULL, mesh->face_offsets + 1);
    mesh->face_offsets[0] = 0;
    const int corner_count = (int)json_array_size(corners);
    for (int f = 0; !i->failed && f < (int)faces; f++) {
        const int size = mesh->face_offsets[f + 1];
        if (size < 3 || size > corner_count - mesh->face_offsets[f])
            i->failed = true;
        else
            mesh->face_offsets[f + 1] += mesh->face_offsets[f];
    }
    for (int c = 0; !i->failed && c < corner_count; c++) {
        const json_int_t corner = json_integer_value(json_array_get(corners, (size_t)c));
        mesh->corners[c] = (int)corner;
        if (corner < 0 || corner >= mesh->vertex_count)
            i->failed = true;
    }
    if (i->failed || mesh->face_offsets[faces] != corner_count) {
        i->failed = true;
        return;
    }
    mesh->face_count = (int)faces;
    mesh->corner_count = corner_count;
}

static void get_triangles(in *i, const ex_rig_driver *driver, ex_mesh *mesh) {
    const size_t count = 3 * (size_t)driver->triangle_count;
    mesh->face_offsets = get_ints(i, (size_t)driver->triangle_count + 1);
    mesh->corners = get_ints(i, count);
    if (i->failed)
        return;
    for (int f = 0; f <= driver->triangle_count; f++)
        mesh->face_offsets[f] = 3 * f;
    for (size_t c = 0; c < count; c++)
        mesh->corners[c] = (int)driver->triangles[c];
    mesh->face_count = driver->triangle_count;
    mesh->corner_count = (int)count;
}

static void get_groups(in *i, const json_t *driver, ex_mesh *mesh) {
    const json_t *names = json_object_get(driver, "groups");
    const size_t count = json_array_size(names);
    if (!names)
        return;
    mesh->face_groups = get_ints(i, (size_t)mesh->face_count);
    if (!i->failed)
        get_runs(i, json_object_get(driver, "face_groups"), mesh->face_count, NULL, mesh->face_groups);
    for (int f = 0; !i->failed && f < mesh->face_count; f++)
        if (mesh->face_groups[f] < -1 || mesh->face_groups[f] >= (int)count)
            i->failed = true;
    mesh->group_names = i->failed ? NULL : exi_array_allocate(count, sizeof *mesh->group_names);
    if (!mesh->group_names && !i->failed)
        i->failed = i->no_memory = true;
    for (size_t g = 0; !i->failed && g < count; g++) {
        const char *text = json_string_value(json_array_get(names, g));
        char *copy = text ? exi_text_copy(text, strlen(text)) : NULL;
        if (!copy) {
            i->failed = true;
            i->no_memory = text != NULL;
            return;
        }
        mesh->group_names[g] = copy;
        mesh->group_count = (int)g + 1;
    }
}

static void get_mesh(in *i, const json_t *note, const ex_rig_driver *driver, ex_mesh **made) {
    const json_t *object = json_object_get(note, "driver");
    const size_t numbers = 3 * (size_t)driver->driver.vertex_count;
    ex_mesh *mesh = i->failed ? NULL : ex_mesh_create();
    *made = mesh;
    if (!mesh) {
        i->no_memory = i->no_memory || !i->failed;
        i->failed = true;
        return;
    }
    mesh->positions = exi_array_allocate(numbers, sizeof *mesh->positions);
    if (!mesh->positions || !json_is_object(object)) {
        i->failed = true;
        i->no_memory = !mesh->positions;
        return;
    }
    mesh->vertex_count = driver->driver.vertex_count;
    for (size_t k = 0; k < numbers; k++)
        mesh->positions[k] = (double)driver->driver.reference[k];
    if (json_object_get(object, "corners"))
        get_polygons(i, object, mesh);
    else
        get_triangles(i, driver, mesh);
    if (!i->failed)
        get_groups(i, object, mesh);
}

ex_result exi_drive_note_read(const ex_rig *rig, const ex_rig_driver *driver, exi_arena *arena, ex_drive_options *o,
                              ex_mesh **mesh, ex_error *error) {
    *mesh = NULL;
    *o = ex_drive_options_default();
    for (int n = 0; n < ex_rig_attachment_count(rig); n++) {
        const ex_attachment note = ex_rig_attachment(rig, n);
        if (strcmp(note.kind, EXI_DRIVE_NOTE) != 0)
            continue;
        json_t *root = NULL;
        const bool no_memory = exi_json_load(note.data, note.size, &root, NULL) == EX_ERROR_MEMORY;
        in i = {.arena = arena, .failed = !json_is_object(root), .no_memory = no_memory};
        if (!i.failed)
            get_options(&i, root, driver->driver.vertex_count, o);
        if (!i.failed && o->frame == EX_WHOLE_FRAME_JOINT &&
            (o->frame_joint < 0 || o->frame_joint >= ex_rig_joint_count(rig)))
            i.failed = true;
        if (!i.failed)
            get_mesh(&i, root, driver, mesh);
        json_decref(root);
        if (i.failed) {
            ex_mesh_destroy(*mesh);
            *mesh = NULL;
        }
        if (i.no_memory)
            return ex_error_memory(error, "the driver of the rig", note.size);
        return i.failed ? ex_error_set(error, EX_ERROR_DATA, "the rig's note of how it follows its driver is damaged")
                        : EX_OK;
    }
    return ex_error_set(
        error, EX_ERROR_DATA,
        "the rig does not record how its moving frames were found, so its keys cannot be changed: learn it again");
}

/*
 * Notes of a mesh: a sequence of 32-bit integers, doubles and texts (length, bytes), little-endian, no padding.
 *   groups: names, then one index per face (-1: none); materials: the name of their library, then 1 and the same, or 0
 *   colours: three floats per vertex
 *   tags: per tag its name, then counted integers, doubles and texts
 */
#include "author/mesh/notes.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

typedef struct out {
    char *bytes;
    size_t size, capacity;
    bool failed;
} out;

static void put(out *o, const void *data, size_t size) {
    char *bytes = o->failed ? NULL : exi_array_grow(o->bytes, &o->capacity, o->size + size, 1);
    if (!bytes) {
        o->failed = true;
        return;
    }
    o->bytes = bytes;
    if (size > 0)
        memcpy(o->bytes + o->size, data, size);
    o->size += size;
}

static void put_int(out *o, int value) {
    int32_t number = value;
    put(o, &number, sizeof number);
}

static void put_text(out *o, const char *text) {
    int length = text ? (int)strlen(text) : 0;
    put_int(o, length);
    put(o, text, (size_t)length);
}

static void put_names(out *o, char *const *names, int count, const int *faces, int face_count) {
    put_int(o, count);
    for (int i = 0; i < count; i++)
        put_text(o, names[i]);
    for (int f = 0; f < face_count; f++)
        put_int(o, faces[f]);
}

static void put_tag(out *o, const ex_tag *tag) {
    put_text(o, tag->name);
    put_int(o, tag->int_count);
    for (int i = 0; i < tag->int_count; i++)
        put_int(o, tag->ints[i]);
    put_int(o, tag->float_count);
    put(o, tag->floats, (size_t)tag->float_count * sizeof(double));
    put_int(o, tag->string_count);
    for (int i = 0; i < tag->string_count; i++)
        put_text(o, tag->strings[i]);
}

/* Turns the bytes of o into a note, which takes ownership of them. */
static ex_result add_note(exi_rig_mesh *made, const char *kind, out *o, ex_error *error) {
    if (o->failed) {
        free(o->bytes);
        return ex_error_memory(error, "the mesh's groups, materials or tags", o->size);
    }
    made->note_data[made->note_count] = o->bytes;
    made->notes[made->note_count++] = (ex_attachment){.kind = kind, .data = o->bytes, .size = o->size};
    *o = (out){0};
    return EX_OK;
}

ex_result exi_notes_write(const ex_mesh *mesh, exi_rig_mesh *made, ex_error *error) {
    ex_result result = EX_OK;
    out o = {0};
    if (mesh->face_groups) {
        put_names(&o, mesh->group_names, mesh->group_count, mesh->face_groups, mesh->face_count);
        result = add_note(made, "groups", &o, error);
    }
    if (result == EX_OK && (mesh->face_materials || mesh->material_library)) {
        put_text(&o, mesh->material_library);
        put_int(&o, mesh->face_materials != NULL);
        if (mesh->face_materials)
            put_names(&o, mesh->material_names, mesh->material_count, mesh->face_materials, mesh->face_count);
        result = add_note(made, "materials", &o, error);
    }
    if (result == EX_OK && mesh->colours) {
        put(&o, mesh->colours, 3 * (size_t)mesh->vertex_count * sizeof(float));
        result = add_note(made, "colours", &o, error);
    }
    if (result == EX_OK && mesh->tag_count > 0) {
        put_int(&o, mesh->tag_count);
        for (int i = 0; i < mesh->tag_count; i++)
            put_tag(&o, &mesh->tags[i]);
        result = add_note(made, "tags", &o, error);
    }
    return result;
}

/* ---- reading ---- */

/* Readers return zero and set failed if the bytes end early, a count is impossible, or memory runs out. */
typedef struct in {
    const char *bytes;
    size_t size, at;
    bool failed, no_memory;
} in;

static bool get(in *i, void *data, size_t size) {
    if (i->failed || size > i->size - i->at) {
        i->failed = true;
        return false;
    }
    if (size > 0)
        memcpy(data, i->bytes + i->at, size);
    i->at += size;
    return true;
}

static int get_int(in *i) {
    int32_t value = 0;
    get(i, &value, sizeof value);
    return value;
}

/* Reads a count of items that take at least `least` bytes each. */
static int get_count(in *i, size_t least) {
    int count = get_int(i);
    if (count < 0 || (size_t)count > (i->size - i->at) / least)
        i->failed = true;
    return i->failed ? 0 : count;
}

static void *get_memory(in *i, int count, size_t size) {
    void *memory = i->failed ? NULL : exi_array_allocate((size_t)count, size);
    if (!memory && !i->failed)
        i->failed = i->no_memory = true;
    if (memory)
        memset(memory, 0, (size_t)count * size);
    return memory;
}

static char *get_text(in *i) {
    int length = get_count(i, 1);
    char *text = length < INT32_MAX ? get_memory(i, length + 1, 1) : NULL;
    if (text)
        get(i, text, (size_t)length);
    return text;
}

static void get_names(in *i, const ex_mesh *mesh, char ***names, int *count, int **faces) {
    int name_count = get_count(i, 4);
    *names = get_memory(i, name_count, sizeof **names);
    for (int n = 0; *names && n < name_count; n++) {
        (*names)[n] = get_text(i);
        *count = n + 1;
    }
    *faces = get_memory(i, mesh->face_count, sizeof **faces);
    for (int f = 0; *faces && f < mesh->face_count; f++) {
        (*faces)[f] = get_int(i);
        if ((*faces)[f] < -1 || (*faces)[f] >= name_count)
            i->failed = true;
    }
}

static void get_colours(in *i, ex_mesh *mesh) {
    mesh->colours = get_memory(i, mesh->vertex_count, 3 * sizeof(float));
    if (mesh->colours)
        get(i, mesh->colours, 3 * (size_t)mesh->vertex_count * sizeof(float));
    for (size_t c = 0; mesh->colours && c < 3 * (size_t)mesh->vertex_count; c++)
        if (!isfinite(mesh->colours[c]))
            i->failed = true;
}

static void get_tag(in *i, ex_tag *tag) {
    tag->name = get_text(i);
    int ints = get_count(i, 4);
    tag->ints = get_memory(i, ints, sizeof(int));
    for (int k = 0; tag->ints && k < ints; k++)
        tag->ints[k] = get_int(i);
    tag->int_count = tag->ints ? ints : 0;
    int floats = get_count(i, 8);
    tag->floats = get_memory(i, floats, sizeof(double));
    if (tag->floats)
        get(i, tag->floats, (size_t)floats * sizeof(double));
    for (int k = 0; tag->floats && k < floats; k++)
        if (!isfinite(tag->floats[k]))
            i->failed = true;
    tag->float_count = tag->floats ? floats : 0;
    int strings = get_count(i, 4);
    tag->strings = get_memory(i, strings, sizeof(char *));
    for (int k = 0; tag->strings && k < strings; k++) {
        tag->strings[k] = get_text(i);
        tag->string_count = k + 1;
    }
}

static void get_tags(in *i, ex_mesh *mesh) {
    int count = get_count(i, 16);
    mesh->tags = get_memory(i, count, sizeof *mesh->tags);
    for (int t = 0; mesh->tags && t < count && !i->failed; t++) {
        mesh->tag_count = t + 1;
        get_tag(i, &mesh->tags[t]);
    }
}

ex_result exi_notes_read(const ex_rig *rig, ex_mesh *mesh, ex_error *error) {
    for (int n = 0; n < ex_rig_attachment_count(rig); n++) {
        ex_attachment note = ex_rig_attachment(rig, n);
        in i = {.bytes = note.data, .size = note.size};
        if (strcmp(note.kind, "groups") == 0 && !mesh->face_groups)
            get_names(&i, mesh, &mesh->group_names, &mesh->group_count, &mesh->face_groups);
        else if (strcmp(note.kind, "materials") == 0 && !mesh->face_materials && !mesh->material_library) {
            mesh->material_library = get_text(&i);
            if (mesh->material_library && mesh->material_library[0] == 0) {
                free(mesh->material_library);
                mesh->material_library = NULL;
            }
            if (get_int(&i) != 0)
                get_names(&i, mesh, &mesh->material_names, &mesh->material_count, &mesh->face_materials);
        } else if (strcmp(note.kind, "colours") == 0 && !mesh->colours)
            get_colours(&i, mesh);
        else if (strcmp(note.kind, "tags") == 0 && !mesh->tags)
            get_tags(&i, mesh);
        if (i.no_memory)
            return ex_error_memory(error, "the rig's groups, materials or tags", i.size);
        if (i.failed)
            return ex_error_set(error, EX_ERROR_DATA, "the rig's %s are damaged", note.kind);
    }
    return EX_OK;
}

/*
 * Chooses a mesh of an Alembic file: the one that is named, or the only one.
 *
 * Headers of child objects follow each other: size of the name, name, number of a metadata string, and that string if
 * the number says so. Metadata is KEY=VALUE;KEY=VALUE; the key "schema" tells meshes and transforms. Objects
 * may share children, but reading four times as many bytes of headers as the file has means that they are in a circle.
 */
#include "author/formats/cache/alembic/alembic.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 1024, LIST_SIZE = 400 };

typedef struct search {
    const exi_alembic_archive *archive;
    const char *wanted; /* or NULL */
    exi_alembic_place *place;
    exi_ogawa_group xforms[EXI_ALEMBIC_DEPTH];
    int xform_count, mesh_count, match_count;
    char name[NAME_SIZE]; /* of the object that is looked at */
    char list[LIST_SIZE]; /* names of meshes, for errors */
    bool full;            /* true if there are more than are listed */
    uint64_t left;        /* bytes that may still be read */
    ex_error *error;
} search;

typedef struct header {
    const char *name, *metadata;
    size_t name_size, metadata_size;
} header;

/* Reads the header at an offset, which moves on; false if the bytes end before it. */
static bool next_header(const exi_alembic_archive *archive, const unsigned char *bytes, size_t size, size_t *at,
                        header *h) {
    if (size - *at < 4)
        return false;
    h->name_size = (size_t)exi_ogawa_number(bytes + *at, 4);
    *at += 4;
    if (h->name_size >= size - *at)
        return false;
    h->name = (const char *)bytes + *at;
    *at += h->name_size;
    const int number = bytes[(*at)++];
    if (number != EXI_ALEMBIC_WRITTEN)
        return exi_alembic_string(archive, number, &h->metadata, &h->metadata_size);
    if (size - *at < 4)
        return false;
    h->metadata_size = (size_t)exi_ogawa_number(bytes + *at, 4);
    *at += 4;
    if (h->metadata_size > size - *at)
        return false;
    h->metadata = (const char *)bytes + *at;
    *at += h->metadata_size;
    return true;
}

/* True if the metadata has schema=VALUE. */
static bool has_schema(const header *h, const char *value) {
    static const char key[] = "schema=";
    const char *at = h->metadata, *end = at + h->metadata_size;
    while (at < end) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        const size_t length = (size_t)((stop ? stop : end) - at), start = sizeof key - 1;
        if (length == start + strlen(value) && memcmp(at, key, start) == 0 &&
            memcmp(at + start, value, length - start) == 0)
            return true;
        at += length + 1;
    }
    return false;
}

/* Adds a name to a text; bytes that are no printable text become question marks. */
static bool add_text(char *text, size_t room, const char *name, size_t size) {
    const size_t used = strlen(text);
    if (size >= room - used)
        return false;
    for (size_t i = 0; i < size; i++)
        text[used + i] = (unsigned char)name[i] < ' ' || name[i] == 0x7F ? '?' : name[i];
    text[used + size] = '\0';
    return true;
}

static void list_mesh(search *s) {
    const size_t used = strlen(s->list);
    s->full = s->full || !add_text(s->list, sizeof s->list, s->mesh_count > 0 ? ", " : "", s->mesh_count > 0 ? 2 : 0) ||
              !add_text(s->list, sizeof s->list, s->name, strlen(s->name));
    if (s->full)
        s->list[used] = '\0';
    s->mesh_count++;
}

static void meet_mesh(search *s, exi_ogawa_group object) {
    list_mesh(s);
    if (s->wanted && strcmp(s->wanted, s->name) != 0)
        return;
    if (s->match_count++ > 0)
        return;
    s->place->mesh = object;
    s->place->xform_count = s->xform_count;
    memcpy(s->place->xforms, s->xforms, (size_t)s->xform_count * sizeof *s->xforms);
}

static ex_result look_inside(search *s, exi_ogawa_group object, int depth);

static ex_result look_at(search *s, exi_ogawa_group parent, uint64_t index, const header *h, int depth) {
    const exi_ogawa *file = &s->archive->file;
    const size_t used = strlen(s->name);
    const int xform_count = s->xform_count;
    exi_ogawa_group object;
    ex_result result = exi_ogawa_enter_child(file, parent, index, &object, s->error);
    if (result != EX_OK)
        return result;
    if (!add_text(s->name, sizeof s->name, "/", 1) || !add_text(s->name, sizeof s->name, h->name, h->name_size))
        return exi_ogawa_damaged(file, "the name of an object is too long", s->error);
    if (has_schema(h, "AbcGeom_PolyMesh_v1") || has_schema(h, "AbcGeom_SubD_v1"))
        meet_mesh(s, object);
    if (has_schema(h, "AbcGeom_Xform_v3"))
        s->xforms[s->xform_count++] = object;
    result = look_inside(s, object, depth + 1);
    s->xform_count = xform_count;
    s->name[used] = '\0';
    return result;
}

static ex_result look_inside(search *s, exi_ogawa_group object, int depth) {
    const exi_ogawa *file = &s->archive->file;
    unsigned char *bytes = NULL;
    uint64_t reference = 0;
    exi_ogawa_stream stream;
    header h = {0};
    if (object.count < 2) /* the properties alone */
        return EX_OK;
    ex_result result = exi_ogawa_child(file, object, object.count - 1, &reference, s->error);
    if (result != EX_OK || !(reference & EXI_OGAWA_STREAM))
        return result;
    result = exi_ogawa_find(file, reference, &stream, s->error);
    if (result != EX_OK || stream.size <= EXI_ALEMBIC_HASHES)
        return result;
    if (depth >= EXI_ALEMBIC_DEPTH || stream.size > s->left)
        return exi_ogawa_damaged(file, "its objects lie inside each other without end", s->error);
    s->left -= stream.size;
    result = exi_ogawa_read_all(file, stream, &bytes, s->error);
    const size_t size = (size_t)stream.size - EXI_ALEMBIC_HASHES;
    uint64_t index = 1; /* after the properties */
    for (size_t at = 0; at < size && result == EX_OK; index++)
        result = next_header(s->archive, bytes, size, &at, &h)
                     ? look_at(s, object, index, &h, depth)
                     : exi_ogawa_damaged(file, "the names of its objects are cut short", s->error);
    free(bytes);
    return result;
}

ex_result exi_alembic_find(const exi_alembic_archive *archive, const char *name, exi_alembic_place *place,
                           ex_error *error) {
    const char *path = archive->file.path;
    search *s = calloc(1, sizeof *s);
    if (!s)
        return ex_error_memory(error, "the objects of the Alembic file", sizeof *s);
    *s = (search){.archive = archive, .wanted = name, .place = place, .left = 4 * archive->file.size, .error = error};
    ex_result result = look_inside(s, archive->top, 0);
    const char *more = s->full ? ", …" : "";
    if (result == EX_OK && s->mesh_count == 0)
        result = ex_error_set(error, EX_ERROR_DATA, "%s: there is no mesh in this Alembic file", path);
    else if (result == EX_OK && s->match_count == 0)
        result = ex_error_set(error, EX_ERROR_DATA, "%s has no mesh '%s'; it has %s%s", path, name, s->list, more);
    else if (result == EX_OK && s->match_count > 1 && !name)
        result = ex_error_set(error, EX_ERROR_DATA, "%s has %d meshes: choose one, as in %s:/NAME, from %s%s", path,
                              s->mesh_count, path, s->list, more);
    free(s);
    return result;
}

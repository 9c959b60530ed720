/*
 * Compares two rigs: lists their differences in sentences, from the mesh to the textures. Things are matched by name,
 * so that an added layer or example does not make everything after it look different.
 */
#include "author/project/compare/rig_difference.h"

#include "author/base/array.h"
#include "author/base/names.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list ---- */

void exi_difference_add(exi_comparison *c, const char *kind, const char *where, double largest, double rms,
                        const char *format, ...) {
    char text[EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ex_differences *list = c->list;
    ex_difference *items = realloc(list->items, ((size_t)list->count + 1) * sizeof *items);
    char *where_copy = exi_text_copy(where, strlen(where)), *text_copy = exi_text_copy(text, strlen(text));
    if (items)
        list->items = items;
    if (!items || !where_copy || !text_copy) {
        free(where_copy);
        free(text_copy);
        c->failed = true;
        return;
    }
    items[list->count++] =
        (ex_difference){.kind = kind, .where = where_copy, .text = text_copy, .largest = largest, .rms = rms};
}

void ex_differences_destroy(ex_differences *differences) {
    if (!differences)
        return;
    for (int i = 0; i < differences->count; i++) {
        free((void *)(uintptr_t)differences->items[i].where);
        free((void *)(uintptr_t)differences->items[i].text);
    }
    free(differences->items);
    free(differences);
}

bool exi_apart(const exi_comparison *c, double a, double b) {
    return a != b && !(fabs(a - b) <= c->tolerance);
}

exi_spread exi_spread_of(const float *a, const float *b, size_t count) {
    exi_spread out = {.vertex = -1};
    double sum = 0;
    for (size_t v = 0; v < count; v++) {
        double sq = 0;
        for (size_t i = 3 * v; i < 3 * v + 3; i++)
            sq += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        sum += sq;
        if (out.vertex < 0 || sqrt(sq) > out.largest) {
            out.largest = sqrt(sq);
            out.vertex = (int)v;
        }
    }
    out.rms = count > 0 ? sqrt(sum / (double)count) : 0;
    return out;
}

/* ---- matching ---- */

/* Pairs things of the same name, each with the first that is left. nexts [counts[1]] receives the next of the same
 * name, or -1. */
static bool match_names(const exi_comparison *c, const exi_named *n, int *partners, int *nexts, bool *taken) {
    exi_names firsts;
    if (!exi_names_open(&firsts, n->counts[1]))
        return false;
    for (int k = n->counts[1] - 1; k >= 0; k--) {
        const char *name = n->name(c->b, n->layers[1], k);
        int *first = exi_names_find(&firsts, name);
        nexts[k] = first ? *first : -1;
        if (first)
            *first = k;
        else
            exi_names_add(&firsts, name, k);
    }
    for (int i = 0; i < n->counts[0]; i++) {
        int *first = exi_names_find(&firsts, n->name(c->a, n->layers[0], i));
        partners[i] = first ? *first : -1;
        if (partners[i] >= 0) {
            taken[partners[i]] = true;
            *first = nexts[partners[i]];
        }
    }
    exi_names_close(&firsts);
    return true;
}

int *exi_difference_match(exi_comparison *c, const exi_named *n) {
    int *partners = exi_array_allocate((size_t)n->counts[0], sizeof *partners);
    int *nexts = exi_array_allocate((size_t)n->counts[1], sizeof *nexts);
    bool *taken = calloc((size_t)n->counts[1] + 1, sizeof *taken);
    const bool matched = partners && nexts && taken && match_names(c, n, partners, nexts, taken);
    free(nexts);
    if (!matched) {
        free(partners);
        free(taken);
        c->failed = true;
        return NULL;
    }
    for (int i = 0; i < n->counts[0]; i++) {
        if (partners[i] >= 0)
            continue;
        if (n->counts[0] == n->counts[1] && !taken[i]) {
            exi_difference_add(c, n->what, n->where, 0, 0, "%s '%s' of the first is called '%s' in the second", n->what,
                               n->name(c->a, n->layers[0], i), n->name(c->b, n->layers[1], i));
            partners[i] = i;
            taken[i] = true;
        } else {
            exi_difference_add(c, n->what, n->where, 0, 0, "%s '%s' is only in the first", n->what,
                               n->name(c->a, n->layers[0], i));
        }
    }
    for (int k = 0; k < n->counts[1]; k++)
        if (!taken[k])
            exi_difference_add(c, n->what, n->where, 0, 0, "%s '%s' is only in the second", n->what,
                               n->name(c->b, n->layers[1], k));
    free(taken);
    return partners;
}

/* ---- the mesh ---- */

static void compare_meshes(exi_comparison *c, const ex_mesh *a, const ex_mesh *b) {
    const ex_mesh_difference d = ex_mesh_compare(a, b, c->tolerance);
    const struct {
        bool differ;
        const char *what;
    } others[] = {{d.colours, "vertex colours"}, {d.texcoords, "texture coordinates"}, {d.normals, "normals"},
                  {d.groups, "groups of faces"}, {d.materials, "materials"},           {d.tags, "subdivision tags"}};
    if (!d.measured)
        exi_difference_add(c, "mesh", "mesh", 0, 0, "vertices: %d in the first, %d in the second", a->vertex_count,
                           b->vertex_count);
    if (a->face_count != b->face_count)
        exi_difference_add(c, "mesh", "mesh", 0, 0, "faces: %d in the first, %d in the second", a->face_count,
                           b->face_count);
    if (d.first_face >= 0)
        exi_difference_add(c, "mesh", "mesh", 0, 0, "face %d (counting from 0) is the first that differs",
                           d.first_face);
    if (d.moved_count > 0)
        exi_difference_add(c, "mesh", "mesh", d.farthest, d.rms,
                           "%d of %d vertices moved, vertex %d (counting from 0) the most, by %.3g m, RMS %.3g m",
                           d.moved_count, a->vertex_count, d.farthest_vertex, d.farthest, d.rms);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].differ)
            exi_difference_add(c, "mesh", "mesh", 0, 0, "the %s differ", others[i].what);
}

static ex_result compare_rest(exi_comparison *c, ex_error *error) {
    ex_mesh *a = NULL, *b = NULL;
    ex_result result = ex_rig_to_mesh(c->a, NULL, &a, error);
    if (result == EX_OK)
        result = ex_rig_to_mesh(c->b, NULL, &b, error);
    if (result == EX_OK)
        compare_meshes(c, a, b);
    ex_mesh_destroy(a);
    ex_mesh_destroy(b);
    return result;
}

/* ---- notes ---- */

/* True if the mesh was made from the note, whose content has then been compared. */
static bool is_of_mesh(const char *kind) {
    static const char *const kinds[] = {"groups", "materials", "colours", "tags"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    return false;
}

static bool has_note(const ex_rig *rig, const ex_attachment *note) {
    for (int i = 0; i < ex_rig_attachment_count(rig); i++) {
        const ex_attachment own = ex_rig_attachment(rig, i);
        if (strcmp(own.kind, note->kind) == 0 && own.size == note->size &&
            (own.size == 0 || memcmp(own.data, note->data, own.size) == 0))
            return true;
    }
    return false;
}

/* Compares notes that the rig carries for others, by their bytes. */
static void compare_notes(exi_comparison *c, const ex_rig *rig, const ex_rig *other, const char *which) {
    for (int i = 0; i < ex_rig_attachment_count(rig); i++) {
        const ex_attachment note = ex_rig_attachment(rig, i);
        if (!is_of_mesh(note.kind) && !has_note(other, &note))
            exi_difference_add(c, "note", "", 0, 0, "note '%s' is only in the %s, with these bytes", note.kind, which);
    }
}

ex_result ex_rig_compare(const ex_rig *rig, const ex_rig *other, double tolerance, ex_differences **differences,
                         ex_error *error) {
    *differences = NULL;
    exi_comparison c = {.a = rig, .b = other, .tolerance = tolerance, .list = calloc(1, sizeof *c.list)};
    ex_result result = c.list ? compare_rest(&c, error) : EX_ERROR_MEMORY;
    if (result == EX_OK) {
        exi_difference_body(&c);
        exi_difference_driver(&c);
        exi_difference_layers(&c);
        /* Refinement rules have been compared as levels. */
        if (c.list->count == 0) {
            compare_notes(&c, rig, other, "first");
            compare_notes(&c, other, rig, "second");
        }
    }
    if (c.failed || !c.list)
        result = ex_error_memory(error, "the differences", sizeof *c.list);
    if (result == EX_OK)
        *differences = c.list;
    else
        ex_differences_destroy(c.list);
    return result;
}

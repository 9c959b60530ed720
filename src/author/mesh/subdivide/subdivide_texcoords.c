/*
 * Texture coordinates of the next level: linear within every face. The midpoint of an edge is shared by its two faces
 * if both have the same texture coordinates at both ends, and doubled otherwise: seams stay in place.
 */
#include "author/base/array.h"
#include "author/mesh/subdivide/subdivide.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

/* Numbers the new texture coordinates: halves [corner_count] of the midpoints of half-edges, middles [face_count]; -1
 * where an end has none. Returns the total, old ones included. */
static int number_texcoords(const exi_topology *t, bool with_middles, int *halves, int *middles) {
    const int *texcoords = t->corner_texcoords;
    int count = t->texcoord_count;
    for (int c = 0; c < t->corner_count; c++) {
        int a = texcoords[c], b = texcoords[exi_next(t, c)], other = t->opposites[c];
        if (a < 0 || b < 0)
            halves[c] = -1;
        else if (other >= 0 && other < c && texcoords[other] == b && texcoords[exi_next(t, other)] == a)
            halves[c] = halves[other];
        else
            halves[c] = count++;
    }
    for (int f = 0; f < t->face_count && with_middles; f++) {
        bool all = true;
        for (int c = t->face_offsets[f]; c < t->face_offsets[f + 1]; c++)
            all = all && texcoords[c] >= 0;
        middles[f] = all ? count++ : -1;
    }
    return count;
}

static void place_texcoords(const exi_topology *t, bool with_middles, const int *halves, const int *middles,
                            double *out) {
    const double *from = t->texcoords;
    if (t->texcoord_count > 0)
        memcpy(out, from, (size_t)t->texcoord_count * 2 * sizeof *out);
    for (int c = 0; c < t->corner_count; c++)
        for (size_t i = 0; i < 2 && halves[c] >= 0; i++)
            out[2 * (size_t)halves[c] + i] = 0.5 * (from[2 * (size_t)t->corner_texcoords[c] + i] +
                                                    from[2 * (size_t)t->corner_texcoords[exi_next(t, c)] + i]);
    for (int f = 0; f < t->face_count && with_middles; f++)
        for (size_t i = 0; i < 2 && middles[f] >= 0; i++) {
            double sum = 0;
            for (int c = t->face_offsets[f]; c < t->face_offsets[f + 1]; c++)
                sum += from[2 * (size_t)t->corner_texcoords[c] + i];
            out[2 * (size_t)middles[f] + i] = sum / (t->face_offsets[f + 1] - t->face_offsets[f]);
        }
}

static void assign_texcoords(const exi_topology *t, ex_scheme scheme, const int *halves, const int *middles, int *out) {
    for (int c = 0; c < t->corner_count; c++) {
        int before = halves[exi_previous(t, c)];
        if (scheme == EX_SCHEME_LOOP) {
            int *triangles = out + 12 * (size_t)(c / 3);
            triangles[3 * (c % 3)] = t->corner_texcoords[c];
            triangles[3 * (c % 3) + 1] = halves[c];
            triangles[3 * (c % 3) + 2] = before;
            triangles[9 + c % 3] = halves[c];
        } else {
            int *quad = out + 4 * (size_t)c;
            quad[0] = t->corner_texcoords[c];
            quad[1] = halves[c];
            quad[2] = middles[t->corner_faces[c]];
            quad[3] = before;
        }
    }
}

ex_result exi_topology_refine_texcoords(const exi_topology *t, ex_scheme scheme, exi_topology *child, ex_error *error) {
    const bool with_middles = scheme != EX_SCHEME_LOOP;
    int *work = exi_array_allocate((size_t)t->corner_count + (size_t)t->face_count, sizeof *work);
    child->corner_texcoords = exi_array_allocate((size_t)child->corner_count, sizeof *child->corner_texcoords);
    if (work && child->corner_texcoords) {
        int *middles = work + t->corner_count;
        child->texcoord_count = number_texcoords(t, with_middles, work, middles);
        child->texcoords = exi_array_allocate((size_t)child->texcoord_count, 2 * sizeof *child->texcoords);
        if (child->texcoords) {
            place_texcoords(t, with_middles, work, middles, child->texcoords);
            assign_texcoords(t, scheme, work, middles, child->corner_texcoords);
        }
    }
    free(work);
    if (child->texcoords)
        return EX_OK;
    return ex_error_set(error, EX_ERROR_MEMORY, "not enough memory for the texture coordinates of %d faces",
                        child->face_count);
}

/*
 * Groups of faces by name. A `g` line of an OBJ file may hold several names; it is one group here.
 */
#include "author/mesh/groups.h"

#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <string.h>

bool exi_names_group(const char *line, const char *name) {
    size_t length = strlen(name);
    for (const char *at = line; *at;) {
        size_t word = strcspn(at, " \t");
        if (word == length && strncmp(at, name, length) == 0)
            return true;
        at += word + strspn(at + word, " \t");
    }
    return strcmp(line, name) == 0;
}

ex_result ex_mask_from_group(const ex_mesh *mesh, const char *name, float *mask, ex_error *error) {
    bool found = false;
    for (int f = 0; mesh->face_groups && f < mesh->face_count; f++) {
        int group = mesh->face_groups[f];
        if (group < 0 || !exi_names_group(mesh->group_names[group], name))
            continue;
        found = true;
        for (int c = mesh->face_offsets[f]; c < mesh->face_offsets[f + 1]; c++)
            mask[mesh->corners[c]] = 1;
    }
    if (found)
        return EX_OK;
    const char *near = ex_suggest(name, (const char *const *)mesh->group_names, mesh->group_count);
    return near ? ex_error_set(error, EX_ERROR_DATA, "the mesh has no group '%s'; did you mean '%s'?", name, near)
                : ex_error_set(error, EX_ERROR_DATA, "the mesh has no faces in a group '%s'", name);
}

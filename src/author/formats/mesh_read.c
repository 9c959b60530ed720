/*
 * A mesh from a file of any kind that Exemplar reads, chosen by the ending of its name.
 */
#include "runtime/base/result.h"

#include <exemplar/author/formats.h>

#include <ctype.h>
#include <string.h>

typedef struct kind {
    const char *ending;
    ex_result (*read)(const char *path, ex_mesh **mesh, ex_error *error);
} kind;

static const kind kinds[] = {
    {".obj", ex_obj_read},
};

static bool ends_with(const char *path, const char *ending) {
    size_t length = strlen(path), size = strlen(ending);
    if (length < size)
        return false;
    for (size_t i = 0; i < size; i++)
        if (tolower((unsigned char)path[length - size + i]) != ending[i])
            return false;
    return true;
}

ex_result ex_mesh_read(const char *path, ex_mesh **mesh, ex_error *error) {
    *mesh = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ends_with(path, kinds[i].ending))
            return kinds[i].read(path, mesh, error);
    return exi_error(error, EX_ERROR_FORMAT, "%s: meshes are read from .obj files; export it as one", path);
}

/*
 * limit_probe - prints the control vertices and weights of the limit of a mesh's first vertex, for limit_oracle.py:
 *
 *     limit_probe catmull-clark|loop FILE.obj…    a line per file: index weight tangent-1 tangent-2, for each control
 * vertex
 */
#include <exemplar/author.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool print_row(const char *path, ex_scheme scheme) {
    ex_mesh *mesh = NULL;
    ex_subdivision *s = NULL;
    ex_error error = {.result = EX_OK};
    ex_subdivide_def def = {.scheme = scheme, .levels = 0, .limit = true};
    if (ex_obj_read(path, &mesh, &error) != EX_OK || ex_mesh_subdivide(mesh, &def, &s, &error) != EX_OK) {
        fprintf(stderr, "%s\n", error.text);
        ex_mesh_destroy(mesh);
        return false;
    }
    const size_t count = (size_t)ex_stencils_weight_count(s->stencils, EX_LEVEL_LIMIT);
    int *offsets = malloc(((size_t)mesh->vertex_count + 1) * sizeof *offsets),
        *indices = malloc(count * sizeof *indices);
    double *weights = malloc(count * sizeof *weights), *tangents = malloc(2 * count * sizeof *tangents);
    bool good = offsets && indices && weights && tangents;
    if (good) {
        ex_stencils_read(s->stencils, EX_LEVEL_LIMIT, offsets, indices, weights, tangents);
        for (int i = 0; i < offsets[1]; i++)
            printf("%d %.9g %.9g %.9g ", indices[i], weights[i], tangents[2 * i], tangents[2 * i + 1]);
        printf("\n");
    }
    free(offsets);
    free(indices);
    free(weights);
    free(tangents);
    ex_subdivision_destroy(s);
    ex_mesh_destroy(mesh);
    return good;
}

int main(int count, char **words) {
    if (count < 2)
        return 2;
    ex_scheme scheme = strcmp(words[1], "loop") == 0 ? EX_SCHEME_LOOP : EX_SCHEME_CATMULL_CLARK;
    for (int i = 2; i < count; i++)
        if (!print_row(words[i], scheme))
            return 1;
    return 0;
}

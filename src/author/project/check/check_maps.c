/*
 * Checking a layer of displacements: maps that cannot be read or are of another mesh, a mask likewise, and how much
 * each map adds to what the others would have come to. The mesh is refined once to learn how many vertices a map has.
 */
#include "author/project/check/check.h"
#include "author/project/model/maps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Vertices of the last level; 0 where the mesh is not there or cannot be refined, which has been reported. */
static int count_vertices(exi_checker *c) {
    if (c->refined_count > 0 || !c->mesh)
        return c->refined_count;
    ex_subdivide_def def = c->view->subdivision;
    ex_subdivision *refined = NULL;
    def.limit = def.all = false;
    const ex_result result = ex_mesh_subdivide(c->mesh, &def, &refined, NULL);
    c->failed = c->failed || result == EX_ERROR_MEMORY;
    if (result == EX_OK)
        c->refined_count = refined->levels[refined->level_count].vertex_count;
    ex_subdivision_destroy(refined);
    return c->refined_count;
}

static double largest_of(const float *values, int count) {
    double largest = 0;
    for (int v = 0; v < count; v++)
        largest = fabs((double)values[v]) > largest ? fabs((double)values[v]) : largest;
    return largest;
}

/* What is displaced by more than a tenth of the mesh is in another unit, or no map of it. */
static void check_size(exi_checker *c, const ex_project_example *example, const float *values, int count,
                       const char *where) {
    const double largest = largest_of(values, count);
    if (largest > 0.1 * c->size)
        exi_check_add(c, EX_SEVERITY_WARNING, "displacement", where, largest,
                      "'%s' displaces by up to %.3g m, which is %.0f %% of the mesh's size: is it in another unit?",
                      example->name, largest, 100 * largest / c->size);
}

void exi_check_maps(exi_checker *c, int index) {
    const ex_project_layer *layer = &c->view->layers[index];
    const int count = count_vertices(c);
    char where[64];
    float *mask = NULL, **rows = calloc((size_t)layer->example_count + 1, sizeof *rows);
    bool complete = rows && count > 0;
    ex_error error = {0};
    c->failed = c->failed || !rows;
    snprintf(where, sizeof where, "layers[%d].mask", index);
    if (complete && exi_project_read_map_mask(c->view, layer, count, &mask, &error) != EX_OK) {
        exi_check_failure(c, "mask", where, &error);
        complete = false;
    }
    for (int k = 0; count > 0 && !c->failed && k < layer->example_count; k++) {
        const ex_project_example *example = &layer->examples[k];
        snprintf(where, sizeof where, "layers[%d].examples[%d]", index, example->place);
        exi_check_progress(c, example->name);
        if (exi_project_read_map(c->view, example->map, count, &rows[k], &error) != EX_OK) {
            exi_check_failure(c, "map", where, &error);
            complete = false;
            continue;
        }
        check_size(c, example, rows[k], count, where);
        for (int v = 0; mask && v < count; v++)
            rows[k][v] *= mask[v];
        c->done++;
    }
    const exi_guessed guessed = {.rows = (const float *const *)rows,
                                 .count = (size_t)count,
                                 .width = 1,
                                 .size = c->size,
                                 .what = "map",
                                 .of = "the mesh's size"};
    if (!c->failed && complete)
        exi_check_falloffs(c, index, &guessed);
    if (!c->failed)
        exi_check_space(c, index, complete ? &guessed : NULL);
    for (int k = 0; rows && k < layer->example_count; k++)
        free(rows[k]);
    free(rows);
    free(mask);
}

/*
 * Layers of displacements: maps along the normals of the posed and refined surface, read as they are; nothing is
 * measured against them. Checking finds maps and masks that cannot be read or belong to another mesh, and reports each
 * map's difference from its prediction by the others. The mesh is refined once to find the number of vertices in a map.
 */
#include "author/base/array.h"
#include "author/project/domains/project_domain.h"
#include "author/project/model/maps.h"
#include "runtime/base/result.h"

#include <exemplar/author/displacement.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of vertices of the last level; 0 if the mesh is missing or cannot be refined, which has been
 * reported. */
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

/* A displacement of more than a tenth of the mesh's size means another unit, or a map of another mesh. */
static void check_size(exi_checker *c, const ex_project_example *example, const float *values, int count,
                       const char *where) {
    const double largest = largest_of(values, count);
    if (largest > 0.1 * c->size)
        exi_check_add(c, EX_SEVERITY_WARNING, "displacement", where, largest,
                      "'%s' displaces by up to %.3g m, which is %.0f %% of the mesh's size: is it in another unit?",
                      example->name, largest, 100 * largest / c->size);
}

static void check(exi_checker *c, int index) {
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

/* ---- reading and building ---- */

static ex_result read_layer(exi_project_reader *r, const json_t *object, const exi_place *place,
                            ex_project_layer *layer) {
    (void)object, (void)layer;
    return r->view->subdivision.all
               ? EX_OK
               : ex_error_set(r->keys.error, EX_ERROR_DATA,
                              "%s.shape: displacements act on a refined surface: add \"subdivide\": {\"scheme\": "
                              "\"catmull_clark\", \"levels\": 3, \"limit\": \"all\"} to the project",
                              place->text);
}

static ex_result build(exi_building *b, int index, ex_layer_def *layer, ex_error *error) {
    const ex_project_layer *source = &b->view->layers[index];
    if (!b->refinement.subdivision) { /* a rig without levels is not displaced either */
        b->example_done += source->example_count;
        return EX_OK;
    }
    const int vertices = b->refinement.levels[b->refinement.level_count - 1].vertex_count;
    const float **maps = calloc((size_t)source->example_count, sizeof *maps);
    float *mask = NULL;
    layer->displacement.maps = maps;
    ex_result result = maps ? EX_OK : ex_error_memory(error, "a layer", (size_t)source->example_count * sizeof *maps);
    if (result == EX_OK)
        result = exi_project_read_map_mask(b->view, source, vertices, &mask, error);
    layer->mask = mask;
    for (int k = 0; result == EX_OK && k < source->example_count; k++) {
        float *values = NULL;
        result = exi_build_report(b, source->examples[k].name, error);
        if (result != EX_OK)
            break;
        result =
            ex_error_within(error, exi_project_read_map(b->view, source->examples[k].map, vertices, &values, error),
                            "layers[%d].examples[%d] '%s'", index, source->examples[k].place, source->examples[k].name);
        maps[k] = values;
        b->example_done++;
    }
    if (result == EX_OK)
        result = ex_error_within(error, exi_build_falloffs(b, index, layer, error), "layer '%s'", source->name);
    return result;
}

static void free_layer(exi_building *b, int index, ex_layer_def *layer) {
    (void)b, (void)index;
    exi_build_free_rows(layer->displacement.maps, layer->weigh.example_count);
    free((void *)(uintptr_t)layer->mask);
}

/* ---- unpacking and comparing ---- */

/* Masks were applied to the maps when the rig was built, and are not restored. */
static ex_result write_maps(exi_unpacking *w, int layer, ex_error *error) {
    const ex_rig *rig = w->rig;
    const int count = ex_rig_layer_displaced(rig, layer, NULL);
    ex_displacement_map *map = ex_displacement_map_create(ex_rig_level_vertex_count(rig, ex_rig_level_count(rig)));
    uint32_t *vertices = exi_array_allocate((size_t)count, sizeof *vertices);
    float *values = exi_array_allocate((size_t)count, sizeof *values);
    ex_result result = map && vertices && values
                           ? EX_OK
                           : ex_error_memory(error, "a displacement map", (size_t)count * sizeof *values);
    if (result == EX_OK)
        ex_rig_layer_displaced(rig, layer, vertices);
    for (int k = 0; result == EX_OK && k < ex_weigher_example_count(ex_rig_weigher(rig, layer)); k++) {
        ex_rig_example_displacements(rig, layer, k, values);
        for (int i = 0; i < count; i++) {
            map->displacements[vertices[i]] = values[i];
            map->states[vertices[i]] = EX_DISPLACEMENT_MAP_HIT;
        }
        const char *path =
            exi_new_folder_add(w->folder, exi_unpacked_name(rig, layer, k, EXI_UNPACKED_FILE).text, error);
        result = path ? ex_displacement_map_write(path, map, error) : EX_ERROR_MEMORY;
    }
    free(vertices);
    free(values);
    ex_displacement_map_destroy(map);
    return result;
}

/* Expands an example's displacements to all vertices of the last level [count]; false without memory. */
static bool spread_map(const ex_rig *rig, int layer, int example, float *out, int count) {
    const int listed = ex_rig_layer_displaced(rig, layer, NULL);
    uint32_t *vertices = exi_array_allocate((size_t)listed, sizeof *vertices);
    float *values = exi_array_allocate((size_t)listed, sizeof *values);
    const bool good = vertices && values;
    if (good) {
        memset(out, 0, (size_t)count * sizeof *out);
        ex_rig_layer_displaced(rig, layer, vertices);
        ex_rig_example_displacements(rig, layer, example, values);
        for (int i = 0; i < listed; i++)
            out[vertices[i]] = values[i];
    }
    free(vertices);
    free(values);
    return good;
}

static void compare_maps(const exi_layer_pair *p, int a, int b, const char *name) {
    const int count = ex_rig_level_vertex_count(p->a.rig, ex_rig_level_count(p->a.rig));
    if (count != ex_rig_level_vertex_count(p->b.rig, ex_rig_level_count(p->b.rig)))
        return; /* reported for the levels */
    float *x = exi_array_allocate((size_t)count, sizeof *x), *y = exi_array_allocate((size_t)count, sizeof *y);
    const bool good =
        x && y && spread_map(p->a.rig, p->a.layer, a, x, count) && spread_map(p->b.rig, p->b.layer, b, y, count);
    double largest = 0, sum = 0;
    int vertex = 0;
    for (int v = 0; good && v < count; v++) {
        const double apart = fabs((double)x[v] - (double)y[v]);
        vertex = apart > largest ? v : vertex;
        largest = apart > largest ? apart : largest;
        sum += apart * apart;
    }
    p->c->failed = p->c->failed || !good;
    if (largest > p->c->tolerance)
        exi_difference_add(p->c, "example", p->where, largest, sqrt(sum / count),
                           "example '%s' displaces refined vertex %d (counting from 0) differently by %.3g m, RMS %.3g "
                           "m",
                           name, vertex, largest, sqrt(sum / count));
    free(x);
    free(y);
}

const exi_project_domain exi_project_domain_displacement = {.examples = "displacements",
                                                            .file = "map",
                                                            .files = "a \"map\"",
                                                            .ending = ".ply",
                                                            .file_at = offsetof(ex_project_example, map),
                                                            .masked = EXI_MASKED_LEVEL,
                                                            .example_keys = {{"map", "maps"}},
                                                            .read = read_layer,
                                                            .build = build,
                                                            .free = free_layer,
                                                            .check = check,
                                                            .write = write_maps,
                                                            .compare_example = compare_maps};

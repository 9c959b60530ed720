/*
 * The stage: all items of a picture as one set of triangles with one tree around it, with normals at their corners and
 * data for colours. Positions are moved and scaled so that the middle of the framed forms is at 0 0 0 and their box has
 * a diagonal of 1. Floats are then precise enough for forms of any size at any position.
 */
#include "author/picture/render/render.h"

#include "author/base/array.h"
#include "author/mesh/mesh_check.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <exemplar/author/colour.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* IEC 61966-2-1 */
float exi_light_of_code(float code) {
    return code <= 0.04045f ? code / 12.92f : powf((code + 0.055f) / 1.055f, 2.4f);
}

float exi_code_of_light(float linear) {
    return linear <= 0.0031308f ? linear * 12.92f : 1.055f * powf(linear, 1 / 2.4f) - 0.055f;
}

static double coordinate(const ex_render_item *item, size_t i) {
    return item->positions ? (double)item->positions[i] : item->mesh->positions[i];
}

/* ---- items ---- */

static ex_result check_item(const ex_render_item *item, ex_error *error) {
    const ex_mesh *mesh = item->mesh;
    if (!mesh)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "there is no mesh");
    if (mesh->face_count < 1)
        return ex_error_set(error, EX_ERROR_DATA, "there are no faces to show");
    ex_result result = exi_mesh_check_faces(mesh, error);
    for (size_t i = 0; result == EX_OK && i < 3 * (size_t)mesh->vertex_count; i++)
        if (!(fabs(coordinate(item, i)) < 1e30))
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "vertex %zu (counting from 0) cannot be drawn: %g is too large, or not a number",
                                  i / 3, coordinate(item, i));
    for (int k = 0; result == EX_OK && k < 3; k++)
        if (!(item->colour[k] >= 0 && item->colour[k] <= 1))
            result = ex_error_set(error, EX_ERROR_ARGUMENT, "a colour must be from 0 to 1, not %g", item->colour[k]);
    if (result == EX_OK && !(item->stripes >= 0 && item->stripes <= 1))
        result = ex_error_set(error, EX_ERROR_ARGUMENT, "stripes must be from 0 to 1, not %g", item->stripes);
    if (result == EX_OK && item->scalar.values &&
        !(isfinite(item->scalar.min) && isfinite(item->scalar.max) && item->scalar.min <= item->scalar.max))
        result = ex_error_set(error, EX_ERROR_ARGUMENT, "%g to %g is not a range", item->scalar.min, item->scalar.max);
    return result;
}

/* Counts vertices and corners, and finds the box. */
static ex_result measure(exi_stage *stage, const ex_render_def *def, ex_error *error) {
    for (int k = 0; k < 3; k++) {
        stage->box[k] = INFINITY;
        stage->box[3 + k] = -INFINITY;
    }
    int64_t vertices = 0, corners = 0;
    for (int i = 0; i < def->item_count; i++) {
        const ex_render_item *item = &def->items[i];
        ex_result result = check_item(item, error);
        if (result != EX_OK)
            return def->item_count > 1 ? ex_error_within(error, result, "item %d", i) : result;
        stage->items[i].source = item;
        stage->items[i].first_vertex = (int)vertices;
        stage->items[i].first_corner = (int)corners;
        vertices += item->mesh->vertex_count;
        corners += item->mesh->corner_count;
        if (vertices > INT_MAX / 4 || corners > INT_MAX / 4)
            return ex_error_set(error, EX_ERROR_LIMIT, "the items have more than %d corners together", INT_MAX / 4);
        for (size_t v = 0; v < (size_t)item->mesh->corner_count; v++)
            for (size_t k = 0; k < 3; k++) {
                double x = coordinate(item, 3 * (size_t)item->mesh->corners[v] + k);
                stage->box[k] = x < stage->box[k] ? x : stage->box[k];
                stage->box[3 + k] = x > stage->box[3 + k] ? x : stage->box[3 + k];
            }
    }
    stage->vertex_count = (int)vertices;
    stage->corner_count = (int)corners;
    return EX_OK;
}

/* Finds the box of what is framed: the camera's points, its box, or all vertices. Returns false for the last. */
static bool find_framed(const exi_stage *stage, const ex_camera *camera, double framed[6]) {
    bool given = camera->points && camera->point_count > 0, boxed = false;
    for (int k = 0; k < 6; k++)
        boxed = boxed || camera->box[k] != 0;
    for (int k = 0; k < 6; k++)
        framed[k] = given ? (double)camera->points[k % 3] : boxed ? camera->box[k] : stage->box[k];
    for (size_t i = 0; given && i < 3 * (size_t)camera->point_count; i++) {
        const double x = (double)camera->points[i];
        /* Written so that a point which is not a number stays, and is refused. */
        framed[i % 3] = x >= framed[i % 3] ? framed[i % 3] : x;
        framed[3 + i % 3] = x <= framed[3 + i % 3] ? framed[3 + i % 3] : x;
    }
    return given || boxed;
}

static ex_result place(exi_stage *stage, const ex_render_def *def, ex_error *error) {
    const double *box = stage->box;
    double framed[6], square = 0;
    const bool given = find_framed(stage, &def->camera, framed);
    for (int k = 0; k < 3; k++) {
        if (!(fabs(framed[k]) < 1e30 && fabs(framed[3 + k]) < 1e30 && framed[k] <= framed[3 + k]))
            return ex_error_set(error, EX_ERROR_ARGUMENT,
                                "the box to frame is not valid: it runs from %g to %g along %c", framed[k],
                                framed[3 + k], 'x' + k);
        stage->origin[k] = (framed[k] + framed[3 + k]) / 2;
        square += (framed[3 + k] - framed[k]) * (framed[3 + k] - framed[k]);
    }
    if (!(square > 0))
        return ex_error_set(error, given ? EX_ERROR_ARGUMENT : EX_ERROR_DATA,
                            "there is nothing to frame: everything is at one point");
    stage->unit = sqrt(square);
    stage->size = 1;
    stage->ground = (float)(((box[1] < framed[1] ? box[1] : framed[1]) - stage->origin[1]) / stage->unit);
    double radius = 0, middle[3];
    for (int k = 0; k < 3; k++) {
        const double half = (box[3 + k] - box[k]) / (2 * stage->unit);
        middle[k] = ((box[k] + box[3 + k]) / 2 - stage->origin[k]) / stage->unit;
        radius += half * half;
    }
    stage->middle = (exi_v3){(float)middle[0], (float)middle[1], (float)middle[2]};
    stage->radius = (float)sqrt(radius);
    if (!(fabs((double)stage->ground) < 1e12 && stage->radius < 1e12f))
        return ex_error_set(error, EX_ERROR_DATA, "the form is too far from the framed box to be shown");
    return EX_OK;
}

/* ---- triangles ---- */

static ex_result count_triangles(exi_stage *stage, ex_error *error) {
    int64_t total = 0;
    for (int i = 0; i < stage->item_count; i++) {
        stage->items[i].first_triangle = (int)total;
        total += stage->items[i].source->mesh->corner_count - 2 * (int64_t)stage->items[i].source->mesh->face_count;
    }
    if (total > INT_MAX / 4)
        return ex_error_set(error, EX_ERROR_LIMIT, "the items have more than %d triangles together", INT_MAX / 4);
    stage->triangle_count = (int)total;
    return EX_OK;
}

/* Triangulates an item; diagonals follow the form shown, not the mesh's positions. */
static ex_result cut_item(exi_stage *stage, const exi_stage_item *item, ex_error *error) {
    ex_mesh mesh = *item->source->mesh;
    double *moved = NULL;
    int *cuts = NULL, count = 0;
    size_t size = 3 * (size_t)mesh.vertex_count;
    if (item->source->positions) {
        moved = exi_array_allocate(size, sizeof *moved);
        if (!moved)
            return ex_error_memory(error, "the form", size * sizeof *moved);
        for (size_t i = 0; i < size; i++)
            moved[i] = (double)item->source->positions[i];
        mesh.positions = moved;
    }
    ex_result result = ex_mesh_triangulate(&mesh, &cuts, &count, error);
    if (result == EX_OK) {
        size_t first = 3 * (size_t)item->first_triangle;
        memcpy(stage->cuts + first, cuts, 3 * (size_t)count * sizeof *cuts);
        for (size_t i = 0; i < 3 * (size_t)count; i++)
            stage->triangles[first + i] = (uint32_t)(item->first_vertex + mesh.corners[cuts[i]]);
    }
    /* A face of n corners gives n - 2 triangles, in the order of the faces. */
    int at = item->first_triangle;
    for (int f = 0; result == EX_OK && stage->faces && f < mesh.face_count; f++)
        for (int n = mesh.face_offsets[f + 1] - mesh.face_offsets[f] - 2; n > 0; n--)
            stage->faces[at++] = f;
    free(cuts);
    free(moved);
    return result;
}

static ex_result fill_item(exi_stage *stage, exi_stage_item *item, const ex_render_def *def, ex_error *error) {
    float *positions = stage->positions + 3 * (size_t)item->first_vertex;
    for (size_t i = 0; i < 3 * (size_t)item->source->mesh->vertex_count; i++)
        positions[i] = (float)((coordinate(item->source, i) - stage->origin[i % 3]) / stage->unit);
    ex_result result = cut_item(stage, item, error);
    if (result == EX_OK && stage->normals)
        result = exi_corner_normals(item->source, positions, def->smooth,
                                    stage->normals + 3 * (size_t)item->first_corner, error);
    return result;
}

/* ---- colours ---- */

static void scalar_range(exi_stage_item *item) {
    const ex_render_scalar *scalar = &item->source->scalar;
    item->min = scalar->min;
    item->max = scalar->max;
    if (item->min == item->max) {
        item->min = item->max = 0;
        for (int v = 0; v < item->source->mesh->vertex_count; v++) {
            double value = (double)scalar->values[v];
            if (isfinite(value)) {
                item->min = value < item->min ? value : item->min;
                item->max = value > item->max ? value : item->max;
            }
        }
    }
    if (scalar->diverging) {
        item->max = item->max > -item->min ? item->max : -item->min;
        item->min = -item->max;
    }
}

static ex_result colour_item(exi_stage *stage, exi_stage_item *item, ex_error *error) {
    const double *c = item->source->colour;
    item->colour =
        (exi_v3){exi_light_of_code((float)c[0]), exi_light_of_code((float)c[1]), exi_light_of_code((float)c[2])};
    if (item->source->scalar.values) {
        item->map = malloc(sizeof *item->map);
        if (!item->map)
            return ex_error_memory(error, "a map of colours", sizeof *item->map);
        scalar_range(item);
        for (int i = 0; i <= EXI_SCALAR_STEPS; i++) {
            double t = (double)i / EXI_SCALAR_STEPS;
            ex_colour code = item->source->scalar.diverging ? ex_colour_diverging(2 * t - 1) : ex_colour_sequential(t);
            (*item->map)[i] = (exi_v3){stage->linear[code.red], stage->linear[code.green], stage->linear[code.blue]};
        }
    } else if (item->source->looks) {
        return exi_looks_open(stage, item, error);
    } else if (item->source->texture && item->source->mesh->corner_texcoords) {
        return exi_texture_open(&item->texture, item->source->texture, EXI_TEXTURE_ALPHA, stage->linear, error);
    }
    return EX_OK;
}

/* ---- the whole ---- */

static bool needs_faces(const ex_render_def *def) {
    bool needed = def->wireframe > 0;
    for (int i = 0; i < def->item_count; i++)
        needed = needed || def->items[i].looks;
    return needed;
}

static ex_result allocate(exi_stage *stage, const ex_render_def *def, ex_error *error) {
    size_t triangles = (size_t)stage->triangle_count;
    const bool faces = needs_faces(def);
    stage->positions = exi_array_allocate(3 * (size_t)stage->vertex_count, sizeof *stage->positions);
    stage->triangles = exi_array_allocate(3 * triangles, sizeof *stage->triangles);
    stage->cuts = exi_array_allocate(3 * triangles, sizeof *stage->cuts);
    stage->faces = faces ? exi_array_allocate(triangles, sizeof *stage->faces) : NULL;
    stage->normals = def->flat ? NULL : exi_array_allocate(3 * (size_t)stage->corner_count, sizeof *stage->normals);
    if (!stage->positions || !stage->triangles || !stage->cuts || (faces && !stage->faces) ||
        (!def->flat && !stage->normals))
        return ex_error_memory(error, "the triangles", triangles * 28 + (size_t)stage->vertex_count * 12);
    return EX_OK;
}

static ex_result plant_tree(exi_stage *stage, const ex_render_def *def, ex_error *error) {
    ex_tree_def tree = {.vertex_count = stage->vertex_count,
                        .positions = stage->positions,
                        .triangle_count = stage->triangle_count,
                        .triangles = stage->triangles};
    ex_result result = ex_tree_create(&tree, NULL, &stage->tree, error);
    if (result != EX_OK)
        return result;
    size_t size = ex_bounds_size(stage->tree);
    stage->fit_memory = malloc(size);
    if (!stage->fit_memory)
        return ex_error_memory(error, "the tree of triangles", size);
    stage->fit = ex_bounds_fit(stage->tree, stage->positions, 0, stage->fit_memory, def->tasks);
    return EX_OK;
}

const exi_stage_item *exi_stage_item_of(const exi_stage *stage, int triangle) {
    int low = 0, high = stage->item_count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (stage->items[middle].first_triangle <= triangle)
            low = middle;
        else
            high = middle - 1;
    }
    return &stage->items[low];
}

void exi_stage_close(exi_stage *stage) {
    for (int i = 0; stage->items && i < stage->item_count; i++) {
        exi_texture_close(&stage->items[i].texture);
        exi_looks_close(&stage->items[i]);
        free(stage->items[i].map);
    }
    free(stage->items);
    free(stage->positions);
    free(stage->triangles);
    free(stage->cuts);
    free(stage->faces);
    free(stage->normals);
    ex_tree_destroy(stage->tree);
    free(stage->fit_memory);
    *stage = (exi_stage){0};
}

ex_result exi_stage_open(exi_stage *stage, const ex_render_def *def, ex_error *error) {
    *stage = (exi_stage){.item_count = def->item_count};
    for (int i = 0; i < 256; i++)
        stage->linear[i] = exi_light_of_code((float)i / 255);
    stage->items = calloc((size_t)def->item_count, sizeof *stage->items);
    if (!stage->items)
        return ex_error_memory(error, "the items", (size_t)def->item_count * sizeof *stage->items);
    ex_result result = measure(stage, def, error);
    if (result == EX_OK)
        result = place(stage, def, error);
    if (result == EX_OK)
        result = count_triangles(stage, error);
    if (result == EX_OK)
        result = allocate(stage, def, error);
    for (int i = 0; result == EX_OK && i < stage->item_count; i++)
        result = fill_item(stage, &stage->items[i], def, error);
    for (int i = 0; result == EX_OK && i < stage->item_count; i++)
        result = colour_item(stage, &stage->items[i], error);
    return result == EX_OK ? plant_tree(stage, def, error) : result;
}

/*
 * Looks on the stage: finds the look of a triangle, and evaluates its maps at a spot.
 *
 * A map's coordinates are offset + R (scale * uv), where uv has its origin at the top left and R turns by c u + s v, -s
 * u
 * + c v (KHR_texture_transform). A normal map tilts the normal n by its numbers x y z to x T + y B + z n, where T and B
 * are the directions on the face in which u and v (upwards) grow, made perpendicular to n; their common scale is left
 * out, so that a stretched image tilts as the stretched form would (M. S. Mikkelsen, "Bump mapping unparametrized
 * surfaces on the GPU", 2010).
 */
#include "author/picture/render/render.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

/* Finds or makes the texture of a map; -1 without an image. */
static ex_result open_map(const exi_stage *stage, exi_stage_item *item, const ex_material_map *map,
                          exi_texture_kind kind, int *texture, ex_error *error) {
    *texture = -1;
    if (!map->image || !item->source->mesh->corner_texcoords)
        return EX_OK;
    for (int i = 0; i < item->texture_count; i++)
        if (item->textures[i].image == map->image && item->textures[i].kind == kind) {
            *texture = i;
            return EX_OK;
        }
    *texture = item->texture_count++;
    return exi_texture_open(&item->textures[*texture], map->image, kind, stage->linear, error);
}

static ex_result open_look(const exi_stage *stage, exi_stage_item *item, const ex_material *source, exi_look *look,
                           ex_error *error) {
    const exi_texture_kind colour = source->alpha == EX_SCENE_OPAQUE ? EXI_TEXTURE_OPAQUE : EXI_TEXTURE_ALPHA;
    *look = (exi_look){.source = source};
    ex_result result = open_map(stage, item, &source->colour_map, colour, &look->colour, error);
    if (result == EX_OK)
        result = open_map(stage, item, &source->metallic_map, EXI_TEXTURE_NUMBERS, &look->metallic, error);
    if (result == EX_OK)
        result = open_map(stage, item, &source->normal_map, EXI_TEXTURE_NUMBERS, &look->normal, error);
    if (result == EX_OK)
        result = open_map(stage, item, &source->occlusion_map, EXI_TEXTURE_NUMBERS, &look->occlusion, error);
    if (result == EX_OK)
        result = open_map(stage, item, &source->emissive_map, EXI_TEXTURE_OPAQUE, &look->emissive, error);
    return result;
}

ex_result exi_looks_open(exi_stage *stage, exi_stage_item *item, ex_error *error) {
    const ex_looks *looks = item->source->looks;
    const ex_mesh *mesh = item->source->mesh;
    const size_t count = (size_t)looks->look_count, materials = (size_t)mesh->material_count;
    item->looks = calloc(count + 1, sizeof *item->looks);
    item->textures = calloc(5 * count + 1, sizeof *item->textures);
    item->look_of = exi_array_allocate(materials + 1, sizeof *item->look_of);
    if (!item->looks || !item->textures || !item->look_of)
        return ex_error_memory(error, "the looks", count * sizeof *item->looks);
    /* Forms of a file have its looks in their order. */
    for (size_t m = 0; m < materials; m++) {
        const char *name = mesh->material_names[m];
        item->look_of[m] = m < count && strcmp(looks->looks[m].name, name) == 0 ? (int)m : ex_looks_find(looks, name);
    }
    ex_result result = EX_OK;
    for (size_t i = 0; result == EX_OK && i < count; i++) {
        const ex_material *source = &looks->looks[i];
        result = open_look(stage, item, source, &item->looks[i], error);
        stage->see_through = stage->see_through || source->alpha != EX_SCENE_OPAQUE;
    }
    return result;
}

void exi_looks_close(exi_stage_item *item) {
    for (int i = 0; item->textures && i < item->texture_count; i++)
        exi_texture_close(&item->textures[i]);
    free(item->textures);
    free(item->looks);
    free(item->look_of);
    item->textures = NULL;
    item->looks = NULL;
    item->look_of = NULL;
}

const exi_look *exi_look_of(const exi_stage *stage, int triangle) {
    const exi_stage_item *item = exi_stage_item_of(stage, triangle);
    const ex_mesh *mesh = item->source->mesh;
    if (!item->looks)
        return NULL;
    if (!mesh->face_materials)
        return item->source->looks->look_count == 1 ? &item->looks[0] : NULL;
    const int material = mesh->face_materials[stage->faces[triangle]];
    const int look = material >= 0 && material < mesh->material_count ? item->look_of[material] : -1;
    return look >= 0 ? &item->looks[look] : NULL;
}

/* ---- maps at a spot ---- */

/* The spot on its triangle: texture coordinates with the origin at the top left. */
typedef struct ground {
    const exi_stage_item *item;
    bool mapped;     /* false: a corner has no texture coordinates */
    double uv[3][2]; /* of the corners */
    float u, v;
    float area; /* of the triangle, twice */
    exi_v3 edges[2];
} ground;

static ground ground_of(const exi_stage *stage, const exi_spot *spot) {
    ground g = {.item = exi_stage_item_of(stage, spot->triangle)};
    const ex_mesh *mesh = g.item->source->mesh;
    const int *cut = stage->cuts + 3 * (size_t)spot->triangle;
    const uint32_t *v = stage->triangles + 3 * (size_t)spot->triangle;
    const float weights[3] = {1 - spot->u - spot->v, spot->u, spot->v};
    const exi_v3 a = exi_v3_at(stage->positions + 3 * (size_t)v[0]);
    for (int i = 0; i < 2; i++)
        g.edges[i] = exi_v3_subtract(exi_v3_at(stage->positions + 3 * (size_t)v[1 + i]), a);
    const exi_v3 across = exi_v3_cross(g.edges[0], g.edges[1]);
    g.area = sqrtf(exi_v3_dot(across, across));
    g.mapped = mesh->corner_texcoords != NULL;
    for (int i = 0; g.mapped && i < 3; i++) {
        const int texcoord = mesh->corner_texcoords[cut[i]];
        g.mapped = texcoord >= 0;
        if (!g.mapped)
            break;
        g.uv[i][0] = mesh->texcoords[2 * (size_t)texcoord];
        g.uv[i][1] = 1 - mesh->texcoords[2 * (size_t)texcoord + 1];
        g.u += weights[i] * (float)g.uv[i][0];
        g.v += weights[i] * (float)g.uv[i][1];
    }
    return g;
}

static double spread(const ground *g) {
    return (g->uv[1][0] - g->uv[0][0]) * (g->uv[2][1] - g->uv[0][1]) -
           (g->uv[1][1] - g->uv[0][1]) * (g->uv[2][0] - g->uv[0][0]);
}

/* Samples a map; false, and white, without one. */
static bool sample(const exi_render *render, const exi_spot *spot, const ground *g, const ex_material_map *map,
                   int texture, exi_v3 *colour, float *alpha) {
    *colour = (exi_v3){1, 1, 1};
    *alpha = 1;
    if (texture < 0 || !g->mapped)
        return false;
    const exi_texture *t = &g->item->textures[texture];
    const double c = cos(map->rotation), s = sin(map->rotation);
    const double u = map->scale[0] * (double)g->u, v = map->scale[1] * (double)g->v;
    const double pixels = fabs(spread(g) * map->scale[0] * map->scale[1]) * t->widths[0] * t->heights[0];
    /* Half of what a tilted face would need: the samples of a pixel do the rest. */
    const exi_place place = {.u = (float)(map->offset[0] + c * u + s * v),
                             .v = (float)(1 - (map->offset[1] - s * u + c * v)),
                             .texels = g->area > 0 ? 0.7f * spot->pixel * sqrtf((float)pixels / g->area) : 1,
                             .wrap = {map->wrap[0], map->wrap[1]},
                             .nearest = map->nearest};
    *colour = exi_texture_sample(t, render->stage.linear, place, alpha);
    return true;
}

float exi_look_alpha(const exi_render *render, const exi_spot *spot) {
    const ex_material *look = spot->look->source;
    exi_v3 colour;
    float alpha;
    if (look->alpha == EX_SCENE_OPAQUE)
        return 1;
    const ground g = ground_of(&render->stage, spot);
    sample(render, spot, &g, &look->colour_map, spot->look->colour, &colour, &alpha);
    alpha *= (float)look->colour[3];
    if (look->alpha == EX_SCENE_MASK)
        return (double)alpha < look->alpha_cutoff ? 0.0f : 1.0f;
    return alpha > 0 ? alpha < 1 ? alpha : 1.0f : 0.0f;
}

/* Tilts the normal by the numbers of a normal map. */
static exi_v3 tilt(const exi_spot *spot, const ground *g, exi_v3 numbers, float scale) {
    const double area = spread(g);
    if (!(fabs(area) > 0))
        return spot->normal;
    const float du1 = (float)(g->uv[1][0] - g->uv[0][0]), dv1 = (float)(g->uv[0][1] - g->uv[1][1]);
    const float du2 = (float)(g->uv[2][0] - g->uv[0][0]), dv2 = (float)(g->uv[0][1] - g->uv[2][1]);
    const float sign = du1 * dv2 - du2 * dv1 < 0 ? -1.0f : 1.0f;
    exi_v3 t = exi_v3_along(exi_v3_scale(g->edges[0], dv2), -dv1, g->edges[1]);
    exi_v3 b = exi_v3_along(exi_v3_scale(g->edges[1], du1), -du2, g->edges[0]);
    t = exi_v3_along(t, -exi_v3_dot(t, spot->normal), spot->normal);
    b = exi_v3_along(b, -exi_v3_dot(b, spot->normal), spot->normal);
    const float longer = fmaxf(exi_v3_dot(t, t), exi_v3_dot(b, b));
    const float unit = longer > 0 ? sign * scale / sqrtf(longer) : 0;
    const float x = 2 * numbers.x - 1, y = 2 * numbers.y - 1, z = 2 * numbers.z - 1;
    exi_v3 normal = exi_v3_along(exi_v3_along(exi_v3_scale(spot->normal, z), x * unit, t), y * unit, b);
    normal = exi_v3_unit(normal);
    return exi_v3_dot(normal, normal) > 0.5f ? normal : spot->normal;
}

static exi_v3 vertex_colour(const ex_mesh *mesh, const exi_stage *stage, const exi_spot *spot) {
    const int *cut = stage->cuts + 3 * (size_t)spot->triangle;
    const float weights[3] = {1 - spot->u - spot->v, spot->u, spot->v};
    exi_v3 sum = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        sum = exi_v3_along(sum, weights[i], exi_v3_at(mesh->colours + 3 * (size_t)mesh->corners[cut[i]]));
    return sum;
}

static exi_v3 times(exi_v3 a, const double factor[3]) {
    return (exi_v3){a.x * (float)factor[0], a.y * (float)factor[1], a.z * (float)factor[2]};
}

exi_surface exi_look_at(const exi_render *render, const exi_spot *spot) {
    const exi_look *look = spot->look;
    const ex_material *source = look->source;
    const ground g = ground_of(&render->stage, spot);
    const ex_mesh *mesh = g.item->source->mesh;
    exi_surface surface = {.gloss = 1,
                           .scatter = times((exi_v3){1, 1, 1}, source->scatter),
                           .sheen = times((exi_v3){1, 1, 1}, source->sheen),
                           .sheen_roughness = (float)source->sheen_roughness,
                           .normal = spot->normal};
    exi_v3 numbers;
    float alpha;
    sample(render, spot, &g, &source->colour_map, look->colour, &surface.colour, &alpha);
    surface.colour = times(surface.colour, source->colour);
    if (mesh->colours && g.item->source->vertex_colours) {
        const exi_v3 c = vertex_colour(mesh, &render->stage, spot);
        surface.colour = (exi_v3){surface.colour.x * c.x, surface.colour.y * c.y, surface.colour.z * c.z};
    }
    sample(render, spot, &g, &source->metallic_map, look->metallic, &numbers, &alpha);
    surface.metallic = numbers.z * (float)source->metallic;
    surface.roughness = numbers.y * (float)source->roughness;
    sample(render, spot, &g, &source->occlusion_map, look->occlusion, &numbers, &alpha);
    surface.occlusion = 1 + (float)source->occlusion * (numbers.x - 1);
    sample(render, spot, &g, &source->emissive_map, look->emissive, &surface.emissive, &alpha);
    surface.emissive = times(surface.emissive, source->emissive);
    if (sample(render, spot, &g, &source->normal_map, look->normal, &numbers, &alpha))
        surface.normal = tilt(spot, &g, numbers, (float)source->normal_scale);
    return surface;
}

/*
 * Colour of a spot: the form's paint (a scalar's colours, a texture, vertex colours, plain clay) in the light that
 * falls on it; the ground's shadow; the background.
 */
#include "author/picture/render/render.h"

/* Interpolates numbers at the three corners by their weights. */
static float weigh(const exi_spot *spot, float a, float b, float c) {
    return (1 - spot->u - spot->v) * a + spot->u * b + spot->v * c;
}

/* ---- paint ---- */

static exi_v3 paint_scalar(const exi_stage_item *item, const exi_spot *spot, const int vertices[3]) {
    const float *values = item->source->scalar.values;
    double value = (double)weigh(spot, values[vertices[0]], values[vertices[1]], values[vertices[2]]);
    if (!isfinite(value))
        return (exi_v3){0.3f, 0.3f, 0.3f};
    double t = item->max > item->min ? (value - item->min) / (item->max - item->min) : 0;
    t = (t < 0 ? 0 : t > 1 ? 1 : t) * EXI_SCALAR_STEPS;
    int step = t < EXI_SCALAR_STEPS ? (int)t : EXI_SCALAR_STEPS - 1;
    float rest = (float)(t - step);
    return exi_v3_along(exi_v3_scale((*item->map)[step], 1 - rest), rest, (*item->map)[step + 1]);
}

/* Returns the width of a pixel of the picture there in pixels of the texture, from the triangle's area in both. */
static float texels(const exi_render *render, const exi_stage_item *item, const exi_spot *spot,
                    const double *const uv[3]) {
    const uint32_t *v = render->stage.triangles + 3 * (size_t)spot->triangle;
    exi_v3 a = exi_v3_at(render->stage.positions + 3 * (size_t)v[0]);
    exi_v3 b = exi_v3_subtract(exi_v3_at(render->stage.positions + 3 * (size_t)v[1]), a);
    exi_v3 c = exi_v3_subtract(exi_v3_at(render->stage.positions + 3 * (size_t)v[2]), a);
    exi_v3 across = exi_v3_cross(b, c);
    float area = sqrtf(exi_v3_dot(across, across));
    double of_image =
        fabs((uv[1][0] - uv[0][0]) * (uv[2][1] - uv[0][1]) - (uv[1][1] - uv[0][1]) * (uv[2][0] - uv[0][0]));
    of_image *= (double)item->texture.widths[0] * item->texture.heights[0];
    /* Half of what a tilted face would need: the samples of a pixel do the rest. */
    return area > 0 ? 0.7f * spot->pixel * sqrtf((float)of_image / area) : 1;
}

static exi_v3 paint_texture(const exi_render *render, const exi_stage_item *item, const exi_spot *spot, const int *cut,
                            exi_v3 under) {
    const ex_mesh *mesh = item->source->mesh;
    const double *uv[3];
    for (int i = 0; i < 3; i++) {
        int texcoord = mesh->corner_texcoords[cut[i]];
        if (texcoord < 0)
            return under;
        uv[i] = mesh->texcoords + 2 * (size_t)texcoord;
    }
    float u = weigh(spot, (float)uv[0][0], (float)uv[1][0], (float)uv[2][0]);
    float v = weigh(spot, (float)uv[0][1], (float)uv[1][1], (float)uv[2][1]), alpha;
    const exi_place place = {.u = u, .v = v, .texels = texels(render, item, spot, uv)};
    exi_v3 colour = exi_texture_sample(&item->texture, render->stage.linear, place, &alpha);
    return exi_v3_along(exi_v3_scale(under, 1 - alpha), alpha, colour);
}

static exi_v3 paint_vertices(const ex_mesh *mesh, const exi_spot *spot, const int vertices[3]) {
    float rgb[3];
    for (size_t k = 0; k < 3; k++) {
        const float *c = mesh->colours;
        float code =
            weigh(spot, c[3 * (size_t)vertices[0] + k], c[3 * (size_t)vertices[1] + k], c[3 * (size_t)vertices[2] + k]);
        rgb[k] = exi_light_of_code(code < 0 ? 0 : code > 1 ? 1 : code);
    }
    return (exi_v3){rgb[0], rgb[1], rgb[2]};
}

/* Returns the shade of diagonal stripes at a place of the picture: 1 between them, darker on them, with soft edges one
 * pixel wide. Twenty-two of a stripe and its gap fit along the shorter side, so that small pictures have them too. */
static float stripes(const exi_render *render, float amount, float x, float y) {
    const float shorter = (float)(render->def->height < render->def->width ? render->def->height : render->def->width);
    const float period = shorter / 22 > 6 ? shorter / 22 : 6;
    const float along = (x + y) * 0.70710678f / period, phase = along - floorf(along);
    /* Distance inside the stripe, which is 0.4 of the period, in pixels. */
    const float inside = (0.2f - fabsf(phase - 0.5f)) * period + 0.5f;
    return 1 - amount * 0.42f * (inside < 0 ? 0 : inside > 1 ? 1 : inside);
}

static exi_v3 paint(const exi_render *render, const exi_spot *spot, float *gloss) {
    const exi_stage_item *item = exi_stage_item_of(&render->stage, spot->triangle);
    const ex_mesh *mesh = item->source->mesh;
    const int *cut = render->stage.cuts + 3 * (size_t)spot->triangle;
    const int vertices[3] = {mesh->corners[cut[0]], mesh->corners[cut[1]], mesh->corners[cut[2]]};
    *gloss = 0.8f;
    if (item->map) {
        /* As close to the legend's colours as light allows. */
        *gloss = 0.15f;
        return exi_v3_scale(paint_scalar(item, spot, vertices), 0.92f);
    }
    exi_v3 colour = item->colour;
    if (item->source->vertex_colours && mesh->colours)
        colour = paint_vertices(mesh, spot, vertices);
    return item->texture.level_count > 0 ? paint_texture(render, item, spot, cut, colour) : colour;
}

/* ---- the background ---- */

static exi_v3 colour_of(float red, float green, float blue) {
    return (exi_v3){exi_light_of_code(red / 255), exi_light_of_code(green / 255), exi_light_of_code(blue / 255)};
}

/* A studio wall: cool white above, a little darker below and towards the corners. */
static exi_v3 wall(const exi_render *render, float x, float y) {
    const exi_v3 above = colour_of(0xee, 0xf0, 0xf2), below = colour_of(0xdf, 0xe3, 0xe8);
    const float u = 2 * x / (float)render->def->width - 1, v = 2 * y / (float)render->def->height - 0.9f;
    float t = y / (float)render->def->height;
    t = t < 0 ? 0 : t > 1 ? 1 : t * t * (3 - 2 * t);
    return exi_v3_scale(exi_v3_along(exi_v3_scale(above, 1 - t), t, below), 1.02f - 0.045f * (u * u + v * v));
}

static exi_shade background(const exi_render *render, float x, float y) {
    switch (render->def->background) {
    case EX_BACKGROUND_WHITE:
        return (exi_shade){{1, 1, 1}, 1};
    case EX_BACKGROUND_GREY:
        return (exi_shade){colour_of(128, 128, 128), 1};
    case EX_BACKGROUND_TRANSPARENT:
        return (exi_shade){{0, 0, 0}, 0};
    default:
        return (exi_shade){wall(render, x, y), 1};
    }
}

/* ---- the spot ---- */

static exi_shade shade_ground(const exi_render *render, exi_seen seen, float x, float y) {
    const exi_v3 left = exi_light_ground(render, seen);
    exi_shade shade = background(render, x, y);
    if (render->def->background == EX_BACKGROUND_TRANSPARENT) {
        /* In sRGB, black of that alpha darkens the background nearly as the shadow does. */
        shade.alpha = 1 - exi_code_of_light(left.y < 1 ? left.y : 1);
        return shade;
    }
    shade.colour = (exi_v3){shade.colour.x * fminf(left.x, 1), shade.colour.y * fminf(left.y, 1),
                            shade.colour.z * fminf(left.z, 1)};
    return shade;
}

/* Layers of transparent surfaces that are drawn over each other at most. */
#define LAYERS 16

static exi_v3 wire_over(const exi_render *render, const exi_spot *spot, float x, float y, exi_v3 colour, float *cover) {
    const exi_v3 line = {0.035f, 0.04f, 0.05f};
    *cover = render->def->wireframe > 0 ? 0.85f * exi_wire_cover(render, spot, x, y) : 0;
    return exi_v3_along(exi_v3_scale(colour, 1 - *cover), *cover, line);
}

static exi_v3 shade_look(const exi_render *render, const exi_spot *spot, exi_seen seen, float x, float y) {
    const ex_render_item *item = exi_stage_item_of(&render->stage, spot->triangle)->source;
    exi_surface surface = exi_look_at(render, spot);
    float cover;
    if (item->stripes > 0)
        surface.colour = exi_v3_scale(surface.colour, stripes(render, (float)item->stripes, x, y));
    if (spot->behind && render->def->backfaces) {
        surface = (exi_surface){
            .colour = {0.62f, 0.10f, 0.16f}, .roughness = 1, .gloss = 1, .occlusion = 1, .normal = spot->normal};
    } else if (spot->look->source->unlit) {
        return wire_over(render, spot, x, y, surface.colour, &cover);
    }
    surface.colour = wire_over(render, spot, x, y, surface.colour, &cover);
    surface.metallic *= 1 - cover;
    surface.roughness += (1 - surface.roughness) * cover;
    surface.emissive = exi_v3_scale(surface.emissive, 1 - cover);
    return exi_light_surface(render, spot, seen, &surface);
}

static exi_v3 shade_paint(const exi_render *render, const exi_spot *spot, exi_seen seen, float x, float y) {
    float gloss, cover;
    exi_v3 colour = paint(render, spot, &gloss);
    const ex_render_item *item = exi_stage_item_of(&render->stage, spot->triangle)->source;
    if (item->stripes > 0)
        colour = exi_v3_scale(colour, stripes(render, (float)item->stripes, x, y));
    if (spot->behind && render->def->backfaces)
        colour = (exi_v3){0.62f, 0.10f, 0.16f};
    colour = wire_over(render, spot, x, y, colour, &cover);
    return exi_light_reflect(render, spot, seen, colour, gloss * (1 - cover));
}

/* Shades one surface, the ground or the background, without what is behind it. */
static exi_shade shade_one(const exi_render *render, const exi_spot *spot, exi_seen seen, float x, float y) {
    if (spot->kind == EXI_SPOT_NOTHING)
        return background(render, x, y);
    if (spot->kind == EXI_SPOT_GROUND)
        return shade_ground(render, seen, x, y);
    return (exi_shade){spot->look ? shade_look(render, spot, seen, x, y) : shade_paint(render, spot, seen, x, y), 1};
}

exi_shade exi_shade_spot(const exi_render *render, const exi_spot *spot, exi_seen seen, float x, float y) {
    exi_shade shade = shade_one(render, spot, seen, x, y);
    float left = 1 - spot->alpha;
    if (spot->kind != EXI_SPOT_FORM || !(left > 0))
        return shade;
    /* Behind a transparent surface: layer after layer. */
    exi_spot next = *spot;
    shade.colour = exi_v3_scale(shade.colour, spot->alpha);
    shade.alpha *= spot->alpha;
    for (int i = 0; i < LAYERS && left > 0.004f; i++) {
        exi_spot_find(render, x, y, next.t, &next);
        const exi_seen there = exi_light_gather(render, &next, ((int)x & 3) + 4 * ((int)y & 3));
        const exi_shade behind = shade_one(render, &next, there, x, y);
        const float alpha = next.kind == EXI_SPOT_FORM ? next.alpha : 1;
        shade.colour = exi_v3_along(shade.colour, left * alpha, behind.colour);
        shade.alpha += left * alpha * behind.alpha;
        left *= 1 - alpha;
    }
    return shade;
}

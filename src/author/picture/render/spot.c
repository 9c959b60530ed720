/*
 * Finds the spot that a ray through the picture hits: a face, the ground, or nothing; with the normals for shading.
 */
#include "author/picture/render/render.h"

static exi_v3 weigh(exi_v3 a, exi_v3 b, exi_v3 c, float u, float v) {
    return exi_v3_along(exi_v3_along(exi_v3_scale(a, 1 - u - v), u, b), v, c);
}

static void see_form(const exi_stage *stage, const ex_hit *hit, exi_v3 direction, exi_spot *spot) {
    const uint32_t *vertices = stage->triangles + 3 * (size_t)hit->triangle;
    exi_v3 corners[3], normals[3];
    for (int i = 0; i < 3; i++)
        corners[i] = exi_v3_at(stage->positions + 3 * (size_t)vertices[i]);
    exi_v3 face =
        exi_v3_unit(exi_v3_cross(exi_v3_subtract(corners[1], corners[0]), exi_v3_subtract(corners[2], corners[0])));
    spot->kind = EXI_SPOT_FORM;
    spot->triangle = hit->triangle;
    spot->u = hit->u;
    spot->v = hit->v;
    spot->t = hit->t;
    spot->point = weigh(corners[0], corners[1], corners[2], hit->u, hit->v);
    spot->behind = exi_v3_dot(face, direction) > 0;
    spot->face = spot->behind ? exi_v3_scale(face, -1) : face;
    spot->normal = spot->face;
    if (!stage->normals)
        return;
    const exi_stage_item *item = exi_stage_item_of(stage, hit->triangle);
    float side = 0;
    for (int i = 0; i < 3; i++) {
        int corner = item->first_corner + stage->cuts[3 * (size_t)hit->triangle + (size_t)i];
        normals[i] = exi_v3_at(stage->normals + 3 * (size_t)corner);
        if (!(exi_v3_dot(normals[i], normals[i]) > 0.5f))
            normals[i] = face;
        side += exi_v3_dot(normals[i], face);
    }
    /* Flip normals that point into the form, and all of them if its back is seen. */
    float sign = (side < 0) != spot->behind ? -1.0f : 1.0f;
    for (int i = 0; i < 3; i++)
        normals[i] = exi_v3_scale(normals[i], sign);
    exi_v3 normal = exi_v3_unit(weigh(normals[0], normals[1], normals[2], hit->u, hit->v));
    if (!(exi_v3_dot(normal, normal) > 0.5f))
        return;
    /* Keep the normal just visible, or the form's edge would be lit from behind. */
    float away = exi_v3_dot(normal, direction);
    if (away > -0.02f)
        normal = exi_v3_unit(exi_v3_along(normal, -(away + 0.02f), direction));
    spot->normal = normal;
}

/* Faces that one ray passes through at most, where a look leaves them out. */
#define LAYERS 256

/* A step past a surface, in the units of the stage: farther than the error of a distance along a ray. */
static float step_past(const exi_render *render, float t) {
    return t + 2e-6f * (render->stage.size + fabsf(t));
}

/* Finds the first face along a ray that is not left out: seen from behind, if its look has one side only, or
 * transparent. */
static bool see_first(const exi_render *render, ex_ray ray, exi_v3 direction, exi_spot *spot) {
    const exi_stage *stage = &render->stage;
    ex_hit hit;
    for (int i = 0; i < LAYERS && ex_bounds_ray(stage->fit, &ray, &hit); i++) {
        see_form(stage, &hit, direction, spot);
        spot->alpha = 1;
        spot->look = stage->faces ? exi_look_of(stage, hit.triangle) : NULL;
        if (!spot->look)
            return true;
        spot->pixel = exi_view_pixel(&render->view, spot->t);
        const bool culled = spot->behind && !spot->look->source->double_sided && !render->def->backfaces;
        spot->alpha = culled ? 0 : exi_look_alpha(render, spot);
        if (spot->alpha > 0.002f)
            return true;
        ray.t_min = step_past(render, hit.t);
    }
    spot->kind = EXI_SPOT_NOTHING;
    spot->triangle = -1;
    spot->look = NULL;
    return false;
}

void exi_spot_find(const exi_render *render, float x, float y, float after, exi_spot *spot) {
    const exi_stage *stage = &render->stage;
    exi_v3 from, direction;
    exi_view_ray(&render->view, x, y, &from, &direction);
    *spot = (exi_spot){.kind = EXI_SPOT_NOTHING, .triangle = -1, .towards = exi_v3_scale(direction, -1), .alpha = 1};
    ex_ray ray = {.origin = {from.x, from.y, from.z},
                  .direction = {direction.x, direction.y, direction.z},
                  .t_min = after < 0 ? 0 : step_past(render, after),
                  .t_max = INFINITY};
    see_first(render, ray, direction, spot);
    if (render->def->ground && direction.y < 0 && from.y > stage->ground) {
        float t = (stage->ground - from.y) / direction.y;
        if (t > after && (spot->kind == EXI_SPOT_NOTHING || t < spot->t)) {
            exi_v3 up = {0, 1, 0};
            spot->kind = EXI_SPOT_GROUND;
            spot->triangle = -1;
            spot->look = NULL;
            spot->alpha = 1;
            spot->t = t;
            spot->point = exi_v3_along(from, t, direction);
            spot->normal = spot->face = up;
        }
    }
    spot->pixel = exi_view_pixel(&render->view, spot->t);
}

bool exi_spot_blocked(const exi_render *render, exi_v3 from, exi_v3 direction, float far) {
    const exi_stage *stage = &render->stage;
    ex_ray ray = {.origin = {from.x, from.y, from.z},
                  .direction = {direction.x, direction.y, direction.z},
                  .t_min = 0,
                  .t_max = far};
    if (!stage->see_through)
        return ex_bounds_blocked(stage->fit, &ray);
    ex_hit hit;
    for (int i = 0; i < LAYERS && ex_bounds_ray(stage->fit, &ray, &hit); i++) {
        const exi_look *look = exi_look_of(stage, hit.triangle);
        if (!look || look->source->alpha == EX_SCENE_OPAQUE)
            return true;
        /* A pixel of the picture says nothing about the width of a ray of light: the image's own pixels count. */
        const exi_spot spot = {.triangle = hit.triangle, .u = hit.u, .v = hit.v, .look = look};
        if (exi_look_alpha(render, &spot) >= 0.5f)
            return true;
        ray.t_min = step_past(render, hit.t);
    }
    return false;
}

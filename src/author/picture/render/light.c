/*
 * Light, and what hides it: a broad warm key light from the upper left, a weaker cool fill from the right, a rim from
 * behind, and a sky over a light ground. All turn with the camera, so that a form is lit equally well from any side.
 * reflect.c has what surfaces make of it.
 *
 * A surface of colour c with normal n emits
 *
 *   c (K k(n) seen_key + F f(n) a + R r(n) a + S(n) a') + gloss
 *
 * where k, f, r are the cosines to the lights, a = seen_sky, S the light of the unhidden sky and ground by its normal,
 * and a' = a / (1 - 0.9 c (1 - a)): surfaces that hide the sky are lit about as much as the surface itself, and have
 * the same colour; summing over all reflections gives that factor. Without it creases are darker than real ones.
 *
 * A coarse form with smooth normals is shaded as the round form that it represents, so the light grazes faces that it
 * would not reach. Rays that would begin below the face are bent to run along it. Then no face shades itself, nor the
 * next on a convex form, and the border of light and shadow is as smooth as the normals.
 *
 * Rays estimate visibility: over the hemisphere by the cosine, and over the key light's disc. Sixteen patterns
 * alternate over blocks of 4 by 4 pixels. They are runs of one sequence of points (I. M. Sobol's); each pattern is
 * evenly distributed, so are the four of a row of pixels together, and all sixteen. So the mean over a block is as good
 * as that of sixteen times as many rays and has no noise (tile.c). If the ground is seen at a grazing angle, so that
 * rows lie far apart on it, its shadow has no streaks.
 */
#include "author/picture/render/render.h"

#define PI      3.14159265f
#define DEGREES (3.14159265358979323846 / 180)

/* A power of two: such runs of points are the most even. */
#define KEY_RAYS 4
/* Reach of rays towards the sky, in sizes of the form. */
#define SKY_REACH 0.6f

static exi_v3 direction_of(double yaw, double pitch) {
    return (exi_v3){(float)(sin(yaw) * cos(pitch)), (float)sin(pitch), (float)(cos(yaw) * cos(pitch))};
}

/* Finds two directions perpendicular to a third. */
static void span(exi_v3 n, exi_v3 *a, exi_v3 *b) {
    exi_v3 other = fabsf(n.y) < 0.9f ? (exi_v3){0, 1, 0} : (exi_v3){1, 0, 0};
    *a = exi_v3_unit(exi_v3_cross(other, n));
    *b = exi_v3_cross(n, *a);
}

exi_lights exi_lights_place(const ex_render_def *def) {
    double yaw = def->camera.yaw * DEGREES;
    exi_lights lights = {.key = direction_of(yaw + def->light_yaw * DEGREES, def->light_pitch * DEGREES),
                         .fill = direction_of(yaw + 55 * DEGREES, 12 * DEGREES),
                         .rim = direction_of(yaw + 150 * DEGREES, 35 * DEGREES),
                         .key_light = {1.16f, 1.06f, 0.94f},
                         .fill_light = {0.105f, 0.135f, 0.185f},
                         .rim_light = {0.62f, 0.65f, 0.72f},
                         .sky_light = {0.365f, 0.39f, 0.435f},
                         .ground_light = {0.20f, 0.185f, 0.175f},
                         .sky_rays = def->occlusion,
                         .key_rays = KEY_RAYS};
    span(lights.key, &lights.key_across, &lights.key_along);
    return lights;
}

/* ---- visibility ---- */

/* Returns point i of I. M. Sobol's sequence in the unit square. Any 2^m points from a multiple of 2^m on are evenly
 * distributed. */
static void sobol(uint32_t i, float *a, float *b) {
    uint32_t first = 0, second = 0, u = 1u << 31, v = 1u << 31;
    for (; i > 0; i >>= 1, u >>= 1, v ^= v >> 1)
        if (i & 1) {
            first ^= u;
            second ^= v;
        }
    *a = ((float)(first >> 8) + 0.5f) * 0x1p-24f;
    *b = ((float)(second >> 8) + 0.5f) * 0x1p-24f;
}

void exi_light_point(int pattern, int j, int count, float *a, float *b) {
    sobol((uint32_t)((pattern & 15) * count + j), a, b);
}

/* Returns the light that an unblocked ray finds: the sky's, or the ground's, which the form shades if it is near. */
static float found(const exi_render *render, exi_v3 from, exi_v3 direction) {
    const float ground_light = render->lights.ground_light.y;
    if (direction.y >= 0)
        return render->lights.sky_light.y;
    if (!render->def->ground)
        return ground_light;
    float t = (render->stage.ground - from.y) / direction.y;
    t = t > 0 ? t : 0;
    return ground_light * t / (t + 0.06f * render->stage.size);
}

static float gather_sky(const exi_render *render, const exi_spot *spot, exi_v3 from, int count, int pattern) {
    exi_v3 across, along;
    span(spot->normal, &across, &along);
    float sum = 0, open = 0;
    for (int j = 0; j < count; j++) {
        float a, b;
        exi_light_point(pattern, j, count, &a, &b);
        float radius = sqrtf(b), height = sqrtf(1 - b);
        exi_v3 direction = exi_v3_along(
            exi_v3_add(exi_v3_scale(across, radius * cosf(2 * PI * a)), exi_v3_scale(along, radius * sinf(2 * PI * a))),
            height, spot->normal);
        /* Keep rays out of the face itself. */
        float below = exi_v3_dot(direction, spot->face);
        if (below < 0.01f)
            direction = exi_v3_along(direction, 0.02f - 2 * below, spot->face);
        open += direction.y >= 0 ? render->lights.sky_light.y : render->lights.ground_light.y;
        if (!exi_spot_blocked(render, from, direction, SKY_REACH * render->stage.size))
            sum += found(render, from, direction);
    }
    return open > 0 ? sum / open : 1;
}

static float gather_key(const exi_render *render, const exi_spot *spot, exi_v3 from, int count, int pattern) {
    const exi_lights *lights = &render->lights;
    float sum = 0, weights = 0;
    for (int j = 0; j < count; j++) {
        float a, b;
        exi_light_point(pattern, j, count, &a, &b);
        float radius = EXI_KEY_RADIUS * sqrtf(b);
        exi_v3 direction = exi_v3_along(exi_v3_along(lights->key, radius * cosf(2 * PI * a), lights->key_across),
                                        radius * sinf(2 * PI * a), lights->key_along);
        float cosine = exi_v3_dot(direction, spot->normal);
        if (cosine <= 0)
            continue;
        weights += cosine;
        float below = exi_v3_dot(direction, spot->face);
        if (below < 0.005f)
            direction = exi_v3_along(direction, 0.005f - below, spot->face);
        if (!exi_spot_blocked(render, from, direction, INFINITY))
            sum += cosine;
    }
    /* A surface that faces away takes no light, unless it scatters some around its edge: nothing else shades that. */
    return weights > 0 ? sum / weights : 1;
}

/* True if a point of the ground may lie in the form's shadow: the cone towards the key light's disc meets the ball
 * around everything. */
static bool may_be_shaded(const exi_render *render, exi_v3 point) {
    const exi_stage *stage = &render->stage;
    exi_v3 to = exi_v3_subtract(stage->middle, point);
    float along = exi_v3_dot(to, render->lights.key), across = exi_v3_dot(to, to) - along * along;
    float wide = stage->radius * (1 + EXI_KEY_RADIUS) + (along > 0 ? along : 0) * EXI_KEY_RADIUS;
    return along > -stage->radius && across < wide * wide;
}

static bool may_be_hidden(const exi_render *render, exi_v3 point) {
    exi_v3 to = exi_v3_subtract(render->stage.middle, point);
    float reach = render->stage.radius + SKY_REACH * render->stage.size;
    return exi_v3_dot(to, to) < reach * reach;
}

exi_seen exi_light_gather(const exi_render *render, const exi_spot *spot, int pattern) {
    const exi_lights *lights = &render->lights;
    exi_seen seen = {1, 1};
    if (spot->kind == EXI_SPOT_NOTHING)
        return seen;
    /* Shadows on the ground are wide and soft: use more rays there, but only if they may meet something. */
    bool ground = spot->kind == EXI_SPOT_GROUND;
    exi_v3 from = exi_v3_along(spot->point, 2e-5f * render->stage.size, spot->face);
    if (lights->sky_rays > 0 && (!ground || may_be_hidden(render, from)))
        seen.sky = gather_sky(render, spot, from, lights->sky_rays, pattern);
    if (!ground || may_be_shaded(render, from))
        seen.key = gather_key(render, spot, from, ground ? 4 * lights->key_rays : lights->key_rays, pattern);
    return seen;
}

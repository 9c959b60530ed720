/*
 * Light: a broad key light from the upper left, a weaker fill from the right, a rim from behind, and a sky over a light
 * ground. All turn with the camera, so that a form is lit equally well from any side.
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
/* Tangent of the angle of the key light's radius. */
#define KEY_RADIUS 0.24f
/* Reach of rays towards the sky, in sizes of the form. */
#define SKY_REACH 0.6f

static const exi_v3 key_light = {1.02f, 0.985f, 0.93f}, fill_light = {0.155f, 0.17f, 0.19f};
static const exi_v3 rim_light = {0.23f, 0.24f, 0.26f}, sky_light = {0.44f, 0.46f, 0.49f};
static const exi_v3 ground_light = {0.21f, 0.20f, 0.19f};

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
    if (direction.y >= 0)
        return sky_light.y;
    if (!render->def->ground)
        return ground_light.y;
    float t = (render->stage.ground - from.y) / direction.y;
    t = t > 0 ? t : 0;
    return ground_light.y * t / (t + 0.06f * render->stage.size);
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
        open += direction.y >= 0 ? sky_light.y : ground_light.y;
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
        float radius = KEY_RADIUS * sqrtf(b);
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
    return weights > 0 ? sum / weights : 0;
}

/* True if a point of the ground may lie in the form's shadow: the cone towards the key light's disc meets the ball
 * around everything. */
static bool may_be_shaded(const exi_render *render, exi_v3 point) {
    const exi_stage *stage = &render->stage;
    exi_v3 to = exi_v3_subtract(stage->middle, point);
    float along = exi_v3_dot(to, render->lights.key), across = exi_v3_dot(to, to) - along * along;
    float wide = stage->radius * (1 + KEY_RADIUS) + (along > 0 ? along : 0) * KEY_RADIUS;
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

/* ---- emitted light ---- */

/* Returns the cosine to a light, softened where a disc of that radius sets. */
static float soft_cosine(exi_v3 normal, exi_v3 light, float radius) {
    float cosine = exi_v3_dot(normal, light);
    if (cosine >= radius)
        return cosine;
    return cosine > -radius ? (cosine + radius) * (cosine + radius) / (4 * radius) : 0;
}

static float positive(float x) {
    return x > 0 ? x : 0;
}

static exi_v3 multiply(exi_v3 a, exi_v3 b) {
    return (exi_v3){a.x * b.x, a.y * b.y, a.z * b.z};
}

static float all_reflections(float open, float colour) {
    return open / (1 - 0.9f * colour * (1 - open));
}

/* Blinn's highlight, broad, and stronger at grazing angles. */
static float shine(exi_v3 normal, exi_v3 light, exi_v3 towards, float power) {
    exi_v3 half = exi_v3_unit(exi_v3_add(light, towards));
    float edge = 1 - positive(exi_v3_dot(half, towards));
    float strength = 0.04f + 0.96f * edge * edge * edge * edge * edge;
    return strength * (power + 8) / 8 * powf(positive(exi_v3_dot(normal, half)), power);
}

exi_v3 exi_light_reflect(const exi_render *render, const exi_spot *spot, exi_seen seen, exi_v3 colour, float gloss) {
    const exi_lights *lights = &render->lights;
    const exi_v3 n = spot->normal;
    float key = soft_cosine(n, lights->key, KEY_RADIUS) * seen.key;
    float up = (1 + n.y) / 2;
    exi_v3 sky = exi_v3_along(exi_v3_scale(sky_light, up), 1 - up, ground_light);
    exi_v3 open = {all_reflections(seen.sky, colour.x), all_reflections(seen.sky, colour.y),
                   all_reflections(seen.sky, colour.z)};
    exi_v3 light = exi_v3_scale(key_light, key);
    light = exi_v3_along(light, soft_cosine(n, lights->fill, 0.4f) * seen.sky, fill_light);
    light = exi_v3_along(light, soft_cosine(n, lights->rim, 0.2f) * seen.sky, rim_light);
    light = exi_v3_add(light, multiply(sky, open));
    light = multiply(light, colour);
    if (gloss > 0) {
        float shining = gloss * key * shine(n, lights->key, spot->towards, 18);
        light = exi_v3_along(light, shining, key_light);
        light = exi_v3_along(light, gloss * seen.sky * 0.5f * shine(n, lights->rim, spot->towards, 14), rim_light);
    }
    return light;
}

/* ---- looks ---- */

/* Materials are a little brighter than clay, as in a room with light from all sides. */
#define EXPOSURE 1.15f

/* Fits light above white into the picture as the Khronos PBR Neutral tone mapper does: it leaves colours below 0.76
 * alone, compresses brighter ones towards 1 and turns them to white slowly. Dark colours lose what any surface mirrors,
 * 0.04, so that a base colour is shown as it is. Clay never is that bright and goes without. */
static exi_v3 tone(exi_v3 c) {
    const float start = 0.76f, room = 1 - start;
    const float least = fminf(c.x, fminf(c.y, c.z)), off = least < 0.08f ? least - 6.25f * least * least : 0.04f;
    const exi_v3 white = {1, 1, 1};
    c = exi_v3_along(c, -off, white);
    const float peak = fmaxf(c.x, fmaxf(c.y, c.z));
    if (peak < start)
        return c;
    const float fitted = 1 - room * room / (peak + room - start);
    const float bleached = 1 - 1 / (0.15f * (peak - fitted) + 1);
    return exi_v3_along(exi_v3_scale(c, (1 - bleached) * fitted / peak), bleached * fitted, white);
}

/* Light of the surroundings in a direction, for reflections: a sky with a wide bright band above the horizon and a
 * light ground, blurred by roughness. A white diffuse surface under it is as bright as under the sky, the fill and the
 * rim. */
static exi_v3 surroundings(const exi_lights *lights, exi_v3 direction, float roughness) {
    const float wide = 0.08f + 0.9f * roughness, t = (direction.y + wide) / (2 * wide);
    const float up = t < 0 ? 0 : t > 1 ? 1 : t * t * (3 - 2 * t);
    exi_v3 light = exi_v3_along(exi_v3_scale(sky_light, 1.5f * up), 1.1f * (1 - up), ground_light);
    const float power = 2 + 30 * (1 - roughness) * (1 - roughness);
    const float box = powf(positive(exi_v3_dot(direction, lights->fill)), power);
    const float behind = powf(positive(exi_v3_dot(direction, lights->rim)), power);
    light = exi_v3_along(light, 2.2f * box * (1 - 0.6f * roughness), fill_light);
    return exi_v3_along(light, 1.6f * behind * (1 - 0.6f * roughness), rim_light);
}

/* The part of a uniform light that a rough surface reflects, f0 times x plus y, by the cosine to the eye (B. Karis,
 * "Physically based shading on mobile", 2014; a fit of the integral of the same model as below). */
static void reflected(float roughness, float cosine, float *x, float *y) {
    const float r[4] = {1 - roughness, 0.0425f - 0.0275f * roughness, 1.04f - 0.572f * roughness,
                        -0.04f + 0.022f * roughness};
    const float a = fminf(r[0] * r[0], exp2f(-9.28f * cosine)) * r[0] + r[1];
    *x = -1.04f * a + r[2];
    *y = 1.04f * a + r[3];
}

/* Trowbridge and Reitz' distribution with Smith's masking and Schlick's Fresnel term, times pi: the light that the eye
 * gets from a lamp, relative to a white diffuse surface that it shines on straight (glTF 2.0, appendix B). A lamp with
 * a radius is as a small one on a rougher surface. */
static exi_v3 highlight(exi_v3 n, float roughness, exi_v3 f0, exi_v3 light, exi_v3 towards, float radius) {
    const exi_v3 half = exi_v3_unit(exi_v3_add(light, towards));
    const float nh = positive(exi_v3_dot(n, half)), vh = positive(exi_v3_dot(towards, half));
    const float nl = fmaxf(exi_v3_dot(n, light), 1e-3f), nv = fmaxf(exi_v3_dot(n, towards), 1e-3f);
    const float a = fminf(roughness * roughness + radius / 3, 1), a2 = a * a, root = nh * nh * (a2 - 1) + 1;
    const float masking = 0.5f / (nl * sqrtf(nv * nv * (1 - a2) + a2) + nv * sqrtf(nl * nl * (1 - a2) + a2));
    const float amount = a2 / (root * root) * masking, edge = powf(1 - vh, 5);
    return exi_v3_along(exi_v3_scale(f0, amount * (1 - edge)), amount * edge, (exi_v3){1, 1, 1});
}

exi_v3 exi_light_surface(const exi_render *render, const exi_spot *spot, exi_seen seen, const exi_surface *s) {
    const exi_lights *lights = &render->lights;
    const exi_v3 n = s->normal, towards = spot->towards, c = s->colour;
    const float metallic = s->metallic < 0 ? 0 : s->metallic > 1 ? 1 : s->metallic;
    const float roughness = s->roughness < 0.045f ? 0.045f : s->roughness > 1 ? 1 : s->roughness;
    const exi_v3 f0 = exi_v3_along(exi_v3_scale(c, metallic), 0.04f * (1 - metallic), (exi_v3){1, 1, 1});
    const exi_v3 diffuse = exi_v3_scale(c, 1 - metallic);
    const float open = seen.sky * s->occlusion, up = (1 + n.y) / 2;
    const exi_v3 sky = exi_v3_along(exi_v3_scale(sky_light, up), 1 - up, ground_light);
    const exi_v3 bounced = {s->occlusion * all_reflections(seen.sky, diffuse.x),
                            s->occlusion * all_reflections(seen.sky, diffuse.y),
                            s->occlusion * all_reflections(seen.sky, diffuse.z)};
    const float key = soft_cosine(n, lights->key, KEY_RADIUS) * seen.key;
    const float rim = soft_cosine(n, lights->rim, 0.2f) * seen.sky;
    exi_v3 light = exi_v3_scale(key_light, key);
    light = exi_v3_along(light, soft_cosine(n, lights->fill, 0.4f) * seen.sky, fill_light);
    light = exi_v3_along(light, rim, rim_light);
    light = multiply(exi_v3_add(light, multiply(sky, bounced)), diffuse);
    light =
        exi_v3_along(light, key, multiply(key_light, highlight(n, roughness, f0, lights->key, towards, KEY_RADIUS)));
    light = exi_v3_along(light, rim, multiply(rim_light, highlight(n, roughness, f0, lights->rim, towards, 0.2f)));
    const float cosine = positive(exi_v3_dot(n, towards));
    const exi_v3 mirrored = exi_v3_along(exi_v3_scale(towards, -1), 2 * exi_v3_dot(n, towards), n);
    float x, y;
    reflected(roughness, cosine, &x, &y);
    const exi_v3 part = exi_v3_along(exi_v3_scale(f0, x), y, (exi_v3){1, 1, 1});
    light = exi_v3_along(light, open, multiply(part, surroundings(lights, mirrored, roughness)));
    return tone(exi_v3_along(s->emissive, EXPOSURE, light));
}

float exi_light_ground(const exi_render *render, exi_seen seen) {
    float key = key_light.y * positive(render->lights.key.y), sky = sky_light.y;
    float whole = key + sky;
    return whole > 0 ? (key * seen.key + sky * all_reflections(seen.sky, 0.6f)) / whole : 1;
}

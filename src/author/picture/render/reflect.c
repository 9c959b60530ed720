/*
 * The light that a surface sends to the eye: a warm key light, a cool fill, a rim from behind, the sky and what the
 * ground sends back. Surfaces follow the metallic and roughness model of glTF 2.0 (appendix B). Two extensions change
 * it: what scatters light inside (KHR_materials_diffuse_transmission), such as skin, and cloth with a nap
 * (KHR_materials_sheen). Clay and painted forms are such surfaces too.
 *
 * Skin: light enters, wanders and leaves nearby, red farthest. So it reaches around the edge between light and shade:
 * the cosine c becomes (c + w) / (1 + w) where w is how far a colour wanders, so that a surface which faces the light
 * keeps its colour; and the soft edge of a cast shadow is wider, and red. The oil on skin has two highlights, a broad
 * and a narrow one.
 */
#include "author/picture/render/render.h"

static float positive(float x) {
    return x > 0 ? x : 0;
}

static exi_v3 multiply(exi_v3 a, exi_v3 b) {
    return (exi_v3){a.x * b.x, a.y * b.y, a.z * b.z};
}

static float greatest(exi_v3 a) {
    return fmaxf(a.x, fmaxf(a.y, a.z));
}

/* Light that is reflected again and again in a hollow whose visible part of the sky is `open`. */
static float all_reflections(float open, float colour) {
    return open / (1 - 0.9f * colour * (1 - open));
}

/* Returns the cosine to a light, softened where a disc of that radius sets. */
static float soft(float cosine, float radius) {
    if (cosine >= radius)
        return cosine;
    return cosine > -radius ? (cosine + radius) * (cosine + radius) / (4 * radius) : 0;
}

/* Returns the amounts of a light on a surface that scatters its colours. */
static exi_v3 falling(exi_v3 normal, exi_v3 light, float radius, exi_v3 scatter) {
    const float cosine = exi_v3_dot(normal, light);
    if (!(greatest(scatter) > 0)) {
        const float all = soft(cosine, radius);
        return (exi_v3){all, all, all};
    }
    const float in[3] = {scatter.x, scatter.y, scatter.z};
    float out[3];
    for (int k = 0; k < 3; k++) {
        const float w = 0.45f * in[k];
        out[k] = soft((cosine + w) / (1 + w), radius);
    }
    return (exi_v3){out[0], out[1], out[2]};
}

/* Returns the visible part of a light, with the wider edge of a shadow on a surface that scatters. */
static exi_v3 reached(float seen, exi_v3 scatter) {
    if (!(greatest(scatter) > 0) || seen <= 0 || seen >= 1)
        return (exi_v3){seen, seen, seen};
    return (exi_v3){powf(seen, 1 / (1 + 1.5f * scatter.x)), powf(seen, 1 / (1 + 1.5f * scatter.y)),
                    powf(seen, 1 / (1 + 1.5f * scatter.z))};
}

/* ---- highlights ---- */

/* Brightness of the picture: a white surface that faces the key light is just below white. */
#define EXPOSURE 1.1f

/* Fits light above white into the picture as the Khronos PBR Neutral tone mapper does: it leaves colours below 0.76
 * alone, compresses brighter ones towards 1 and turns them to white slowly. Dark colours lose what any surface mirrors,
 * `mirror`, usually 0.04, so that a base colour is shown as it is. */
static exi_v3 tone(exi_v3 c, float mirror) {
    const float start = 0.76f, room = 1 - start;
    const float least = fminf(c.x, fminf(c.y, c.z));
    const float off = mirror > 0 && least < 2 * mirror ? least - least * least / (4 * mirror) : mirror;
    const exi_v3 white = {1, 1, 1};
    c = exi_v3_along(c, -off, white);
    const float peak = greatest(c);
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
    exi_v3 light = exi_v3_along(exi_v3_scale(lights->sky_light, 1.5f * up), 1.1f * (1 - up), lights->ground_light);
    const float power = 2 + 30 * (1 - roughness) * (1 - roughness);
    const float box = powf(positive(exi_v3_dot(direction, lights->fill)), power);
    const float behind = powf(positive(exi_v3_dot(direction, lights->rim)), power);
    light = exi_v3_along(light, 3 * box * (1 - 0.6f * roughness), lights->fill_light);
    return exi_v3_along(light, 0.9f * behind * (1 - 0.6f * roughness), lights->rim_light);
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

/* The highlight of a surface: of skin, the mean of a broad and a narrow one. */
static exi_v3 shine(const exi_surface *s, float roughness, exi_v3 f0, exi_v3 light, exi_v3 towards, float radius) {
    const exi_v3 broad = highlight(s->normal, roughness, f0, light, towards, radius);
    if (!(greatest(s->scatter) > 0))
        return broad;
    const exi_v3 narrow = highlight(s->normal, 0.6f * roughness, f0, light, towards, radius);
    return exi_v3_along(exi_v3_scale(broad, 0.7f), 0.3f, narrow);
}

/* ---- cloth ---- */

/* Fibres that stand on a surface, lit at grazing angles: the distribution of A. Conty Estevez and C. Kulla, "Production
 * friendly microfacet sheen BRDF", 2017, with the simpler masking of KHR_materials_sheen, times pi. */
static float nap(exi_v3 n, float roughness, exi_v3 light, exi_v3 towards) {
    const float nh = positive(exi_v3_dot(n, exi_v3_unit(exi_v3_add(light, towards))));
    const float nl = positive(exi_v3_dot(n, light)), nv = positive(exi_v3_dot(n, towards));
    const float inverse = 1 / fmaxf(roughness * roughness, 0.01f);
    const float amount = (2 + inverse) * powf(fmaxf(1 - nh * nh, 0), inverse / 2) / 2;
    return amount / (4 * (nl + nv - nl * nv) + 1e-3f);
}

/* Adds the light of the fibres, which leaves less for what is below them. */
static exi_v3 sheen_over(const exi_lights *lights, const exi_surface *s, exi_v3 towards, float key, float rim,
                         exi_v3 sky, exi_v3 below) {
    const float most = greatest(s->sheen);
    if (!(most > 0))
        return below;
    const float rough = s->sheen_roughness < 0.1f ? 0.1f : s->sheen_roughness > 1 ? 1 : s->sheen_roughness;
    /* The cosine of two unit vectors may be 1 and a rounding error. */
    const float edge = positive(1 - positive(exi_v3_dot(s->normal, towards)));
    /* The part of light from all sides that fibres send on: little from above, much at the edge. */
    const float around = 0.05f + 0.65f * powf(edge, 1 + 3 * (1 - rough));
    exi_v3 light = exi_v3_scale(lights->key_light, key * nap(s->normal, rough, lights->key, towards));
    light = exi_v3_along(light, rim * nap(s->normal, rough, lights->rim, towards), lights->rim_light);
    light = exi_v3_along(light, around, sky);
    return exi_v3_add(exi_v3_scale(below, 1 - 0.5f * most * around), multiply(light, s->sheen));
}

/* ---- all of it ---- */

exi_v3 exi_light_surface(const exi_render *render, const exi_spot *spot, exi_seen seen, const exi_surface *s) {
    const exi_lights *lights = &render->lights;
    const exi_v3 n = s->normal, towards = spot->towards, c = s->colour, white = {1, 1, 1};
    const float metallic = s->metallic < 0 ? 0 : s->metallic > 1 ? 1 : s->metallic;
    const float roughness = s->roughness < 0.045f ? 0.045f : s->roughness > 1 ? 1 : s->roughness;
    const float mirror = 0.04f * s->gloss;
    const exi_v3 f0 = exi_v3_along(exi_v3_scale(c, metallic), mirror * (1 - metallic), white);
    const exi_v3 diffuse = exi_v3_scale(c, 1 - metallic);
    const float open = seen.sky * s->occlusion, up = (1 + n.y) / 2;
    const exi_v3 sky = exi_v3_along(exi_v3_scale(lights->sky_light, up), 1 - up, lights->ground_light);
    const exi_v3 bounced = {s->occlusion * all_reflections(seen.sky, diffuse.x),
                            s->occlusion * all_reflections(seen.sky, diffuse.y),
                            s->occlusion * all_reflections(seen.sky, diffuse.z)};
    const float key = soft(exi_v3_dot(n, lights->key), EXI_KEY_RADIUS) * seen.key;
    const float rim = soft(exi_v3_dot(n, lights->rim), 0.2f) * seen.sky;
    exi_v3 light = multiply(lights->key_light, multiply(falling(n, lights->key, EXI_KEY_RADIUS, s->scatter),
                                                        reached(seen.key, s->scatter)));
    light = exi_v3_add(
        light, multiply(lights->fill_light, exi_v3_scale(falling(n, lights->fill, 0.4f, s->scatter), seen.sky)));
    light = exi_v3_add(light,
                       multiply(lights->rim_light, exi_v3_scale(falling(n, lights->rim, 0.2f, s->scatter), seen.sky)));
    light = multiply(exi_v3_add(light, multiply(sky, bounced)), diffuse);
    light = exi_v3_along(light, key * s->gloss,
                         multiply(lights->key_light, shine(s, roughness, f0, lights->key, towards, EXI_KEY_RADIUS)));
    light = exi_v3_along(light, rim * s->gloss,
                         multiply(lights->rim_light, shine(s, roughness, f0, lights->rim, towards, 0.2f)));
    const float cosine = positive(exi_v3_dot(n, towards));
    const exi_v3 mirrored = exi_v3_along(exi_v3_scale(towards, -1), 2 * exi_v3_dot(n, towards), n);
    float x, y;
    reflected(roughness, cosine, &x, &y);
    const exi_v3 part = exi_v3_along(exi_v3_scale(f0, x), y, white);
    light = exi_v3_along(light, open * s->gloss, multiply(part, surroundings(lights, mirrored, roughness)));
    light = sheen_over(lights, s, towards, key, rim, multiply(sky, bounced), light);
    return tone(exi_v3_along(s->emissive, EXPOSURE, light), mirror);
}

exi_v3 exi_light_reflect(const exi_render *render, const exi_spot *spot, exi_seen seen, exi_v3 colour, float gloss) {
    const exi_surface clay = {
        .colour = colour, .roughness = 0.36f, .gloss = gloss, .occlusion = 1, .normal = spot->normal};
    return exi_light_surface(render, spot, seen, &clay);
}

exi_v3 exi_light_ground(const exi_render *render, exi_seen seen) {
    const exi_lights *lights = &render->lights;
    const float high = positive(lights->key.y), sky = all_reflections(seen.sky, 0.5f);
    const exi_v3 whole = exi_v3_along(lights->sky_light, high, lights->key_light);
    const exi_v3 left = exi_v3_along(exi_v3_scale(lights->sky_light, sky), high * seen.key, lights->key_light);
    /* Half as blue as it would be: the walls of a studio send some of the warm light back. */
    const float grey = left.y / whole.y;
    return (exi_v3){(left.x / whole.x + grey) / 2, grey, (left.z / whole.z + grey) / 2};
}

/* The tube and its sleeve of tubes.h. */
#include "support/tubes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bool good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "a driven tube: %s\n", what);
    exit(1);
}

void tube_bend(double degrees, double radius, double draw, float *out) {
    const double angle = degrees * 0.017453292519943295;
    for (int r = 0; r < TUBE_RINGS; r++)
        for (int a = 0; a < TUBE_AROUND; a++) {
            const double x = 0.1 * r - 0.6, turn = angle * fmin(1, fmax(0, (x + 0.2) / 0.4)),
                         phi = 6.283185307 * a / TUBE_AROUND;
            const double thin = radius - draw * exp(-40 * x * x) * sin(angle / 2) * sin(angle / 2);
            const double y = thin * cos(phi), z = thin * sin(phi);
            /* The centre line: straight, an arc of 0.4, straight. */
            const double t = fmin(1, fmax(0, (x + 0.2) / 0.4)), s = fabs(angle) < 1e-9 ? 0 : 0.4 / angle;
            double cx = s == 0 ? 0.4 * t : s * sin(angle * t), cy = s == 0 ? 0 : s * (1 - cos(angle * t));
            const double rest = x < -0.2 ? x + 0.2 : x > 0.2 ? x - 0.2 : 0;
            cx += rest * cos(turn);
            cy += rest * sin(turn);
            float *p = out + 3 * (r * TUBE_AROUND + a);
            p[0] = (float)(cx - sin(turn) * y);
            p[1] = (float)(cy + cos(turn) * y);
            p[2] = (float)z;
        }
}

static const double key_degrees[TUBE_KEYS] = {0, 30, 60, 90, 120};
static const char *const axis_names[] = {"body", "stiffness"};
static const char *const key_names[] = {"k0", "k30", "k60", "k90", "k120"};

void driven_tube_unpose(driven_tube *d) {
    ex_driver *driver = NULL;
    ex_skin *skin = NULL;
    ex_error error = {0};
    uint32_t joints[TUBE_VERTICES * TUBE_FRAMES], starts[TUBE_VERTICES + 1] = {0};
    float weights[TUBE_VERTICES * TUBE_FRAMES], matrices[TUBE_FRAMES * 12];
    double out[TUBE_VERTICES * 3];
    const ex_influences *carry = &d->driver.carry;
    for (int v = 0; v < TUBE_VERTICES; v++) {
        starts[v + 1] = starts[v];
        for (uint32_t i = carry->starts ? carry->starts[v] : 0; i < (carry->starts ? carry->starts[v + 1] : 1); i++) {
            joints[starts[v + 1]] = carry->starts ? carry->places[i] : 0;
            weights[starts[v + 1]++] = carry->starts ? carry->weights[i] : 1;
        }
    }
    const int frames = d->driver.driver.frame_count;
    ex_skin_def skin_def = {
        .vertex_count = TUBE_VERTICES, .joint_count = frames, .starts = starts, .joints = joints, .weights = weights};
    must(ex_driver_create(&d->driver.driver, NULL, &driver, &error) == EX_OK, error.text);
    must(ex_skin_create(&skin_def, NULL, &skin, &error) == EX_OK, error.text);
    void *memory = malloc(ex_palette_size(EX_SKINNING_DUAL_QUATERNION, frames));
    for (int k = 0; k < TUBE_KEYS; k++) {
        ex_driver_place(driver, d->keys[k], matrices);
        ex_palette_def def = {.method = EX_SKINNING_DUAL_QUATERNION, .joint_count = frames, .matrices = matrices};
        ex_unpose_job job = {.posed = d->forms[k], .rest = d->mesh, .out = out};
        ex_skin_unpose(skin, ex_palette_make(&def, memory), &job);
        for (int i = 0; i < 3 * TUBE_VERTICES; i++)
            d->deltas[k][i] = (float)(out[i] - (double)d->mesh[i]);
    }
    free(memory);
    ex_skin_destroy(skin);
    ex_driver_destroy(driver);
}

static void make_frames(driven_tube *d, int frames) {
    uint32_t fits = 0, carries = 0;
    for (int f = 0; f < frames; f++) {
        for (int v = 0; v < TUBE_VERTICES; v++) {
            const double x = 0.1 * (v / TUBE_AROUND) - 0.6, centre = frames == 1 ? 0 : 0.5 * (f - 1);
            if (frames > 1 && fabs(x - centre) > 0.26)
                continue;
            d->fit_vertices[fits] = (uint32_t)v;
            d->fit_weights[fits++] = (float)(frames == 1 ? 1 : exp(-20 * (x - centre) * (x - centre)));
        }
        d->fit_starts[f + 1] = fits;
    }
    for (int v = 0; v < 2 * TUBE_VERTICES; v++) {
        const double x = 0.1 * (v % TUBE_VERTICES / TUBE_AROUND) - 0.6, t = fmin(2, fmax(0, 2 * x + 1));
        const int low = t < 1 ? 0 : 1;
        d->carry_places[carries] = (uint16_t)low;
        d->carry_weights[carries++] = (float)(1 - (t - low));
        d->carry_places[carries] = (uint16_t)(low + 1);
        d->carry_weights[carries++] = (float)(t - low);
        d->carry_starts[v + 1] = carries;
    }
    d->driver.driver = (ex_driver_def){.vertex_count = TUBE_VERTICES,
                                       .reference = d->reference,
                                       .frame_count = frames,
                                       .starts = d->fit_starts,
                                       .vertices = d->fit_vertices,
                                       .weights = d->fit_weights};
    if (frames > 1)
        d->driver.carry = (ex_influences){d->carry_starts, d->carry_places, d->carry_weights};
    for (int f = 0; f < frames; f++)
        d->views[f] = (ex_region){.frame = f, .count = TUBE_VERTICES, .vertices = d->all, .weights = d->ones};
}

driven_tube *driven_tube_make(int frames, ex_residual residual, bool push) {
    driven_tube *d = calloc(1, sizeof *d);
    must(d != NULL, "memory");
    tube_bend(0, 0.1, 0, d->reference);
    tube_bend(0, 0.12, 0, d->mesh);
    for (int k = 0; k < TUBE_KEYS; k++) {
        tube_bend(key_degrees[k], 0.1, 0, d->keys[k]);
        tube_bend(key_degrees[k], 0.12, 0.012, d->forms[k]);
        d->key_list[k] = d->keys[k];
        d->delta_list[k] = d->deltas[k];
    }
    for (int r = 0, t = 0; r + 1 < TUBE_RINGS; r++)
        for (int a = 0; a < TUBE_AROUND; a++) {
            const uint32_t p = (uint32_t)(r * TUBE_AROUND + a), q = (uint32_t)(r * TUBE_AROUND + (a + 1) % TUBE_AROUND);
            const uint32_t corners[6] = {p, q, p + TUBE_AROUND, q, q + TUBE_AROUND, p + TUBE_AROUND};
            memcpy(d->triangles + 3 * t, corners, sizeof corners);
            d->face_sizes[t] = d->face_sizes[t + 1] = 3;
            t += 2;
        }
    for (int v = 0; v < TUBE_VERTICES; v++) {
        d->all[v] = (uint32_t)v;
        d->ones[v] = 1;
    }
    d->driver = (ex_rig_driver){.name = "body",
                                .triangle_count = TUBE_FACES,
                                .triangles = d->triangles,
                                .residual = residual,
                                .push = push,
                                .thickness = 0.005F};
    make_frames(d, frames);
    driven_tube_unpose(d);
    d->axes[0] = ex_axis_driver(0);
    d->axes[1] = ex_axis_scalar(0, 1, 0);
    d->layer = (ex_layer_def){.name = "driven",
                              .domain = EX_DOMAIN_FORM,
                              .weigh = ex_weigher_def_default(),
                              .axis_names = axis_names,
                              .example_names = key_names,
                              .form.deltas = d->delta_list,
                              .driven.keys = d->key_list,
                              .driven.view_count = frames,
                              .driven.views = d->views};
    d->layer.weigh.kind = EX_WEIGHER_CONVEX;
    d->layer.weigh.axes = d->axes;
    d->layer.weigh.axis_count = 1;
    d->layer.weigh.example_count = TUBE_KEYS;
    d->def = ex_rig_def_default();
    d->def.mesh = (ex_rig_mesh){.vertex_count = TUBE_VERTICES,
                                .positions = d->mesh,
                                .split_count = TUBE_VERTICES,
                                .face_count = TUBE_FACES,
                                .corner_count = 3 * TUBE_FACES,
                                .face_sizes = d->face_sizes,
                                .corners = d->triangles,
                                .triangle_count = TUBE_FACES,
                                .triangles = d->triangles};
    d->def.layers = &d->layer;
    d->def.layer_count = 1;
    d->def.driver = &d->driver;
    return d;
}

ex_predictor *driven_tube_follow(driven_tube *d) {
    enum { COMPONENTS = 2, LANDMARKS = 5, LENGTH = 12 * (TUBE_FRAMES - 1) + 3 + 13 * TUBE_FRAMES };
    float centres[TUBE_FRAMES * 3] = {0}, mean[LENGTH], scales[LENGTH], components[LENGTH * COMPONENTS];
    float landmarks[LANDMARKS * COMPONENTS], base[TUBE_KEYS], slopes[COMPONENTS * TUBE_KEYS];
    float pulls[LANDMARKS * TUBE_KEYS], known[LANDMARKS * TUBE_KEYS];
    must(ex_state_start(TUBE_FRAMES, EX_STATE_KIND_COUNT) == LENGTH, "length of a state");
    for (int i = 0; i < LENGTH; i++) {
        mean[i] = 0.01F * (float)(i % 7);
        scales[i] = 0.5F;
        components[2 * i] = i == 1 ? 1 : 0;
        components[2 * i + 1] = i == 4 ? 1 : 0;
    }
    for (int i = 0; i < LANDMARKS * COMPONENTS; i++)
        landmarks[i] = 0.1F * (float)(i - LANDMARKS);
    for (int k = 0; k < TUBE_KEYS; k++)
        base[k] = 0.2F;
    for (int i = 0; i < COMPONENTS * TUBE_KEYS; i++)
        slopes[i] = 0.3F * (float)(i % 3 - 1);
    for (int i = 0; i < LANDMARKS * TUBE_KEYS; i++) {
        pulls[i] = 0.1F * (float)(i % 4 - 2);
        known[i] = 0.05F * (float)(i % 5);
    }
    const ex_predictor_def def = {.frame_count = TUBE_FRAMES,
                                  .centres = centres,
                                  .up = {0, 1, 0},
                                  .step = 0.04,
                                  .fastest = 100,
                                  .component_count = COMPONENTS,
                                  .landmark_count = LANDMARKS,
                                  .weight_count = TUBE_KEYS,
                                  .mean = mean,
                                  .scales = scales,
                                  .components = components,
                                  .landmarks = landmarks,
                                  .base = base,
                                  .slopes = slopes,
                                  .pulls = pulls,
                                  .known = known,
                                  .width = 2,
                                  .familiar = 1,
                                  .outside = 100};
    ex_predictor *predictor = NULL;
    must(ex_predictor_create(&def, NULL, &predictor, NULL) == EX_OK, "a predictor");
    d->layer.weigh.kind = EX_WEIGHER_MOTION;
    d->layer.driven = (ex_layer_driven){.predictor = predictor};
    return predictor;
}

/*
 * An arm and its sleeve; see sleeves.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/sleeves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static void *must_allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    assert_non_null(memory);
    return memory;
}

static char *copy_text(const char *text) {
    char *copy = must_allocate(strlen(text) + 1, 1);
    strcpy(copy, text);
    return copy;
}

static ex_mesh *tube(int rings, int sides, double low, double high, double radius, double border,
                     const char *const names[2]) {
    ex_mesh *m = ex_mesh_create();
    assert_non_null(m);
    m->vertex_count = rings * sides;
    m->face_count = (rings - 1) * sides;
    m->corner_count = 4 * m->face_count;
    m->positions = must_allocate(3 * (size_t)m->vertex_count, sizeof(double));
    m->face_offsets = must_allocate((size_t)m->face_count + 1, sizeof(int));
    m->corners = must_allocate((size_t)m->corner_count, sizeof(int));
    m->face_groups = must_allocate((size_t)m->face_count, sizeof(int));
    m->group_names = must_allocate(2, sizeof(char *));
    m->group_count = 2;
    for (int g = 0; g < 2; g++)
        m->group_names[g] = copy_text(names[g]);
    for (int i = 0; i < rings; i++)
        for (int j = 0; j < sides; j++) {
            const double angle = 2 * PI * j / sides;
            double *p = m->positions + 3 * (i * sides + j);
            p[0] = low + (high - low) * i / (rings - 1);
            p[1] = radius * cos(angle);
            p[2] = radius * sin(angle);
        }
    for (int f = 0; f < m->face_count; f++) {
        const int i = f / sides, j = f % sides, k = (j + 1) % sides;
        const int corners[4] = {i * sides + j, i * sides + k, (i + 1) * sides + k, (i + 1) * sides + j};
        memcpy(m->corners + 4 * f, corners, sizeof corners);
        m->face_offsets[f + 1] = 4 * (f + 1);
        m->face_groups[f] = low + (high - low) * (i + 0.5) / (rings - 1) < border ? 0 : 1;
    }
    return m;
}

/* Bends evenly in the plane of x and y, keeping the length along the axis; then applies the motion. */
static void bend(const double in[3], double degrees, double turn, double move, float out[3]) {
    const double angle = degrees * PI / 180, a = angle * in[0] / 2, r = angle != 0 ? 2 / angle : 0;
    const double p[3] = {angle != 0 ? (r - in[1]) * sin(a) : in[0], angle != 0 ? r - (r - in[1]) * cos(a) : in[1],
                         in[2]};
    const double n[3] = {1 / sqrt(3), 1 / sqrt(3), 1 / sqrt(3)}, c = cos(turn), s = sin(turn);
    const double dot = n[0] * p[0] + n[1] * p[1] + n[2] * p[2];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = (float)(c * p[i] + s * (n[j] * p[k] - n[k] * p[j]) + (1 - c) * dot * n[i] + move * (1 + i));
    }
}

void sleeve_form(const sleeve *s, double degrees, double turn, double move, float *driver, float *driven) {
    for (int v = 0; v < s->driver->vertex_count; v++)
        bend(s->driver->positions + 3 * v, degrees, turn, move, driver + 3 * v);
    for (int v = 0; v < s->driven->vertex_count; v++) {
        /* Wrinkles that grow with the bend, more on the inner side. */
        const double *p = s->driven->positions + 3 * v;
        const double fold = 1 + 0.1 * s->folds * sin(degrees * PI / 180) * sin(12 * p[0]) * (1 + 2 * p[1]);
        bend((double[3]){p[0], p[1] * fold, p[2] * fold}, degrees, turn, move, driven + 3 * v);
    }
}

void sleeve_open(sleeve *s, int rings, int sides) {
    static const char *const arm[2] = {"upper", "lower"}, *const cloth[2] = {"body", "cuff"};
    static const char *const names[SLEEVE_KEYS] = {"straight", "slight", "bent", "right"};
    *s = (sleeve){.folds = 1,
                  .driver = tube(rings, sides, 0, 2, 0.2, 1, arm),
                  .driven = tube(2 * rings / 3, sides, 0.4, 1.6, 0.25, 1.2, cloth)};
    for (int k = 0; k < SLEEVE_KEYS; k++) {
        s->drivers[k] = must_allocate(3 * (size_t)s->driver->vertex_count, sizeof(float));
        s->drivens[k] = must_allocate(3 * (size_t)s->driven->vertex_count, sizeof(float));
        sleeve_form(s, 30 * k, 0.4 * k, 0.3 * k, s->drivers[k], s->drivens[k]);
        s->keys[k] = (ex_drive_key){.name = names[k], .driver = s->drivers[k], .driven = s->drivens[k]};
    }
    s->def = (ex_drive_def){.driver = s->driver,
                            .driven = s->driven,
                            .driver_name = "arm",
                            .key_count = SLEEVE_KEYS,
                            .keys = s->keys,
                            .options = ex_drive_options_default()};
    s->def.options.frames = 2;
}

void sleeve_close(sleeve *s) {
    ex_mesh_destroy(s->driver);
    ex_mesh_destroy(s->driven);
    for (int k = 0; k < SLEEVE_KEYS; k++) {
        free(s->drivers[k]);
        free(s->drivens[k]);
    }
    *s = (sleeve){0};
}

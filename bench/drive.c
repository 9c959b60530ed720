/*
 * bench/drive.c - complete frames of a driven rig: a torso of 10080 triangles that bends, twists and sways, moving on
 * by some centimetres per frame, 25 frames per step, and 5000 vertices of cloth with folds around it; twelve keys.
 * Cold: every frame independently, with an exact search; warm: with the state of the frame before. The parts of a frame
 * are measured by leaving out the parts after them. The paper (DrivenShape, section 3) reports 40 frames per second for
 * 5000 vertices.
 */
#include "bench/bench.h"
#include "bench/torso.h"

#include <exemplar/author/drive.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 12, FRAMES = 25 };

typedef struct dressed {
    ex_rig *rig;
    float *bodies; /* [FRAMES][TORSO_BODY][3] */
    float *positions;
    void *scratch, *state;
    int frame;
    bool warm, unsettled, weights_only;
    double weights[KEYS];
} dressed;

static void run_frame(void *context) {
    dressed *d = context;
    void *const states[1] = {d->state};
    const ex_evaluation e = {.states = d->warm ? states : NULL, .unsettled = d->unsettled};
    const ex_pose pose = {.driver = d->bodies + (size_t)d->frame * 3 * TORSO_BODY};
    const ex_output output = {.positions = d->weights_only ? NULL : d->positions, .weights = d->weights};
    ex_rig_evaluate(d->rig, &pose, &output, &e, d->scratch);
    d->frame = (d->frame + 1) % FRAMES;
}

/* A mesh of triangles with room for its positions. */
static ex_mesh *make_mesh(int vertex_count, int triangle_count, const float *positions, const uint32_t *triangles) {
    ex_mesh *mesh = ex_mesh_create();
    if (!mesh)
        return NULL;
    mesh->positions = malloc(3 * (size_t)vertex_count * sizeof *mesh->positions);
    mesh->face_offsets = malloc(((size_t)triangle_count + 1) * sizeof *mesh->face_offsets);
    mesh->corners = malloc(3 * (size_t)triangle_count * sizeof *mesh->corners);
    if (!mesh->positions || !mesh->face_offsets || !mesh->corners) {
        ex_mesh_destroy(mesh);
        return NULL;
    }
    mesh->vertex_count = vertex_count;
    mesh->face_count = triangle_count;
    mesh->corner_count = 3 * triangle_count;
    for (int i = 0; i < 3 * vertex_count; i++)
        mesh->positions[i] = (double)positions[i];
    for (int i = 0; i <= triangle_count; i++)
        mesh->face_offsets[i] = 3 * i;
    for (int i = 0; i < 3 * triangle_count; i++)
        mesh->corners[i] = (int)triangles[i];
    return mesh;
}

typedef struct wardrobe {
    float *bodies, *cloths; /* [KEYS][..][3] */
    ex_mesh *driver, *driven;
} wardrobe;

static bool open_wardrobe(wardrobe *w) {
    uint32_t *triangles = malloc(3 * TORSO_TRIANGLES * sizeof *triangles);
    uint32_t *cloth_triangles = malloc(3 * TORSO_CLOTH_TRIANGLES * sizeof *cloth_triangles);
    w->bodies = malloc((size_t)KEYS * 3 * TORSO_BODY * sizeof *w->bodies);
    w->cloths = malloc((size_t)KEYS * 3 * TORSO_CLOTH * sizeof *w->cloths);
    if (triangles && cloth_triangles && w->bodies && w->cloths) {
        for (int k = 0; k < KEYS; k++) {
            torso_body(k / (double)KEYS, 0, w->bodies + (size_t)k * 3 * TORSO_BODY);
            torso_cloth(k / (double)KEYS, 0, 0.004, w->cloths + (size_t)k * 3 * TORSO_CLOTH);
        }
        torso_triangles(triangles);
        torso_cloth_triangles(cloth_triangles);
        w->driver = make_mesh(TORSO_BODY, TORSO_TRIANGLES, w->bodies, triangles);
        w->driven = make_mesh(TORSO_CLOTH, TORSO_CLOTH_TRIANGLES, w->cloths, cloth_triangles);
    }
    free(triangles);
    free(cloth_triangles);
    return w->driver && w->driven;
}

static void close_wardrobe(wardrobe *w) {
    ex_mesh_destroy(w->driver);
    ex_mesh_destroy(w->driven);
    free(w->bodies);
    free(w->cloths);
}

static bool dress(const wardrobe *w, int frames, ex_residual residual, ex_error *error, dressed *d) {
    ex_drive_key keys[KEYS];
    char names[KEYS][16];
    for (int k = 0; k < KEYS; k++) {
        snprintf(names[k], sizeof names[k], "k%d", k);
        keys[k] = (ex_drive_key){.name = names[k],
                                 .driver = w->bodies + (size_t)k * 3 * TORSO_BODY,
                                 .driven = w->cloths + (size_t)k * 3 * TORSO_CLOTH};
    }
    ex_drive_def def = {.driver = w->driver,
                        .driven = w->driven,
                        .driver_name = "body",
                        .key_count = KEYS,
                        .keys = keys,
                        .options = ex_drive_options_default()};
    def.options.frames = frames;
    def.options.residual = residual;
    def.options.thickness = 0.003;
    if (ex_drive_build(&def, &d->rig, error) != EX_OK)
        return false;
    d->scratch = malloc(ex_rig_scratch_size(d->rig, NULL, 1));
    d->state = calloc(1, ex_rig_state_size(d->rig));
    d->bodies = malloc((size_t)FRAMES * 3 * TORSO_BODY * sizeof *d->bodies);
    d->positions = malloc(3 * TORSO_CLOTH * sizeof *d->positions);
    for (int f = 0; d->bodies && f < FRAMES; f++)
        torso_body((f + 0.4) / FRAMES, 0.05 * f, d->bodies + (size_t)f * 3 * TORSO_BODY);
    return d->scratch && d->state && d->bodies && d->positions;
}

static void undress(dressed *d) {
    ex_rig_destroy(d->rig);
    free(d->scratch);
    free(d->state);
    free(d->bodies);
    free(d->positions);
    *d = (dressed){0};
}

static void report(const exi_bench *bench, dressed *d, const char *kind, const char *part, double goal) {
    exi_row row = {.group = "drive", .vertex_count = TORSO_CLOTH, .goal_rate = goal, .frames = true};
    exi_work work = {run_frame, d};
    snprintf(row.work, sizeof row.work, "%s: %s", kind, part);
    memset(d->state, 0, ex_rig_state_size(d->rig));
    row.ns = exi_measure_alone(&work, bench->repeat);
    bench->report(bench->user, &row);
}

bool exi_bench_drive(const exi_bench *bench) {
    static const struct {
        const char *kind;
        int frames;
        ex_residual residual;
    } cases[] = {{"16 frames", 16, EX_RESIDUAL_NONE},
                 {"16 frames, residual", 16, EX_RESIDUAL_KEYS},
                 {"1 frame, residual", 1, EX_RESIDUAL_KEYS},
                 {"as printed", 1, EX_RESIDUAL_CLOSEST}};
    wardrobe w = {0};
    bool good = open_wardrobe(&w);
    for (size_t i = 0; good && i < sizeof cases / sizeof *cases; i++) {
        dressed d = {0};
        good = dress(&w, cases[i].frames, cases[i].residual, bench->error, &d);
        if (good) {
            d.weights_only = true;
            report(bench, &d, cases[i].kind, "weights", 0);
            d.weights_only = false;
            d.unsettled = true;
            report(bench, &d, cases[i].kind, "and form, posed", 0);
            d.unsettled = false;
            report(bench, &d, cases[i].kind, "settled, cold", 400);
            d.warm = true;
            report(bench, &d, cases[i].kind, "settled, warm", 2000);
        }
        undress(&d);
    }
    close_wardrobe(&w);
    return good;
}

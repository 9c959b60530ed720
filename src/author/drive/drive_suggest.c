/*
 * Frames of a new animation that should be simulated next: farthest points (Gonzalez), greedily. The known points are
 * the keys of a rig, or the known states of one that follows motion; every frame named is known from then on. Keys are
 * compared in the moving frame of the whole, by points spread evenly over the driver; states by their components.
 */
#include "author/base/array.h"
#include "author/base/progress.h"
#include "author/drive/drive.h"
#include "author/drive/learn/references.h"

#include "runtime/base/result.h"
#include "runtime/weigh/predictor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* FRAMES: most that are compared, evenly spread. POINTS: of the driver. */
enum { FRAMES = 20000, POINTS = 400 };

typedef struct suggesting {
    const ex_suggest_def *def;
    ex_rig_driver driver;
    const ex_predictor *predictor; /* or NULL: keys */
    ex_drive_set *set;
    exi_whole whole;
    int layer;
    ex_cache_reader *reader;
    int used, stride, frame_count, length;
    float *form;     /* [driver vertices][3] */
    float *rows;     /* [frame_count][length]: of every frame */
    double *nearest; /* [frame_count]: squared distance from what is known */
    ex_driver *moving;
    float *matrices, *sizes, *state, *scaled;
    void *history;
    uint32_t *points; /* [length / 3] */
    float *known;     /* [known_count][length] */
    int known_count;
    double unit; /* distances are divided by this */
    ex_error *error;
} suggesting;

/* ---- rows ---- */

static void look(const suggesting *s, const float *form, float *row) {
    float matrix[12];
    ex_driver_place(s->whole.driver, form, matrix);
    for (int i = 0; i < s->length / 3; i++)
        exi_whole_back(matrix, form + 3 * (size_t)s->points[i], 1, row + 3 * (size_t)i);
}

/* ---- opening ---- */

static ex_result open_motion(suggesting *s) {
    const size_t frames = (size_t)s->driver.driver.frame_count;
    ex_predictor_def def;
    ex_predictor_describe(s->predictor, NULL, &def);
    s->length = def.component_count;
    s->known_count = def.landmark_count;
    s->unit = def.familiar;
    s->known = exi_array_allocate((size_t)s->known_count * (size_t)s->length, sizeof(float));
    s->matrices = exi_array_allocate(frames, 12 * sizeof(float));
    s->sizes = exi_array_allocate(frames, sizeof(float));
    s->state = exi_array_allocate((size_t)ex_state_start((int)frames, EX_STATE_KIND_COUNT), sizeof(float));
    s->scaled = exi_array_allocate((size_t)ex_state_start((int)frames, EX_STATE_KIND_COUNT), sizeof(float));
    s->history = calloc(ex_predictor_history_size(s->predictor), 1);
    if (!s->known || !s->matrices || !s->sizes || !s->state || !s->scaled || !s->history)
        return ex_error_memory(s->error, "known states", (size_t)s->known_count * (size_t)s->length * 4);
    ex_predictor_describe(s->predictor, s->known, &def);
    return ex_driver_create(&s->driver.driver, NULL, &s->moving, s->error);
}

static ex_result open_keys(suggesting *s) {
    const ex_result opened = ex_drive_open(s->def->rig, &s->set, s->error);
    if (opened != EX_OK)
        return opened;
    const ex_drive_def *def = ex_drive_get_def(s->set);
    const int vertices = s->driver.driver.vertex_count, count = vertices < POINTS ? vertices : POINTS;
    const ex_result result = exi_whole_open(&s->whole, def->driver, &def->options, s->error);
    if (result != EX_OK)
        return result;
    s->length = 3 * count;
    s->known_count = def->key_count;
    s->unit = sqrt(count);
    s->points = exi_array_allocate((size_t)count, sizeof *s->points);
    s->known = exi_array_allocate((size_t)s->known_count * (size_t)s->length, sizeof(float));
    if (!s->points || !s->known)
        return ex_error_memory(s->error, "the keys", (size_t)s->known_count * (size_t)s->length * 4);
    /* Points of equal area: at equal steps of the sum of weights. */
    double sum = 0;
    int found = 0;
    for (int v = 0; v < vertices; v++) {
        sum += (double)s->whole.weights[v];
        while (found < count && (sum * count > found + 0.5 || vertices - v == count - found))
            s->points[found++] = (uint32_t)v;
    }
    for (; found < count; found++)
        s->points[found] = (uint32_t)(vertices - 1);
    for (int k = 0; k < s->known_count; k++)
        look(s, def->keys[k].driver, s->known + (size_t)k * (size_t)s->length);
    return EX_OK;
}

static ex_result open(suggesting *s) {
    const ex_suggest_def *def = s->def;
    ex_result result = exi_take_check_rig(def->rig, &s->driver, &s->layer, s->error);
    if (result != EX_OK)
        return result;
    s->predictor = ex_rig_layer_predictor(def->rig, s->layer);
    result = ex_drive_open_cache(def->driver, "driver", s->driver.driver.vertex_count, NULL, &s->reader, s->error);
    if (result == EX_OK)
        result = exi_take_check(s->reader, def->driver, def->first, def->count, def->rate, &s->used, s->error);
    if (result == EX_OK)
        result = s->predictor ? open_motion(s) : open_keys(s);
    if (result != EX_OK)
        return result;
    s->stride = (s->used + FRAMES - 1) / FRAMES;
    s->frame_count = (s->used + s->stride - 1) / s->stride;
    const size_t frames = (size_t)s->frame_count;
    s->form = exi_array_allocate((size_t)s->driver.driver.vertex_count, 3 * sizeof(float));
    s->rows = exi_array_allocate(frames * (size_t)s->length, sizeof(float));
    s->nearest = exi_array_allocate(frames, sizeof *s->nearest);
    return s->form && s->rows && s->nearest
               ? EX_OK
               : ex_error_memory(s->error, "frames", frames * (size_t)s->length * sizeof(float));
}

static void close(suggesting *s) {
    ex_cache_close(s->reader);
    ex_drive_close(s->set);
    exi_whole_close(&s->whole);
    ex_driver_destroy(s->moving);
    free(s->form);
    free(s->rows);
    free(s->nearest);
    free(s->matrices);
    free(s->sizes);
    free(s->state);
    free(s->scaled);
    free(s->history);
    free(s->points);
    free(s->known);
}

/* ---- the search ---- */

static double distance_sq(const float *a, const float *b, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const double d = (double)a[i] - (double)b[i];
        sum += d * d;
    }
    return sum;
}

static void observe(const suggesting *s, const float *form, double elapsed) {
    ex_driver_place(s->moving, form, s->matrices);
    ex_driver_sizes(s->moving, form, s->sizes);
    ex_predictor_observe(s->predictor, s->matrices, s->sizes, elapsed, s->history, s->state);
}

/* Observes a past before the first frame, as ex_drive_apply does: without it, that frame would stand still in the
 * middle of a motion, far from all that was learned. *elapsed: seconds from there to the first frame, or 0. */
static ex_result observe_past(const suggesting *s, double *elapsed) {
    const ex_suggest_def *def = s->def;
    const exi_take take = {s->reader, def->driver, def->first, s->used, def->rate, def->driver_scale};
    const size_t numbers = 3 * (size_t)s->driver.driver.vertex_count;
    float *past = exi_array_allocate(2 * numbers, sizeof *past);
    const ex_result result = past ? exi_take_past(&take, s->predictor, past, s->form, elapsed, s->error)
                                  : ex_error_memory(s->error, "a frame", 2 * numbers * sizeof *past);
    for (int k = 0; result == EX_OK && *elapsed > 0 && k < 2; k++)
        observe(s, past + (size_t)k * numbers, k * *elapsed);
    free(past);
    return result;
}

static ex_result read_frames(suggesting *s) {
    const ex_suggest_def *def = s->def;
    double primed = 0;
    const ex_result past = s->predictor ? observe_past(s, &primed) : EX_OK;
    if (past != EX_OK)
        return past;
    for (int f = 0; f < s->used; f++) {
        const int in_cache = def->first + f;
        ex_result result = exi_take_read(s->reader, def->driver, in_cache, def->driver_scale, s->form, s->error);
        if (result == EX_OK && !exi_progress_tell(def->progress, "looking at frames", (double)(f + 1) / s->used))
            result = exi_progress_stopped(s->error);
        if (result != EX_OK)
            return result;
        if (s->predictor) { /* its history needs every frame */
            const double time = ex_drive_time(s->reader, in_cache, def->rate);
            observe(s, s->form, f > 0 ? time - ex_drive_time(s->reader, in_cache - 1, def->rate) : primed);
        }
        if (f % s->stride != 0)
            continue;
        float *row = s->rows + (size_t)(f / s->stride) * (size_t)s->length;
        float unseen = 0;
        if (s->predictor)
            unseen = exi_predictor_project(s->predictor, s->state, s->scaled, row);
        else
            look(s, s->form, row);
        s->nearest[f / s->stride] = INFINITY;
        for (int k = 0; k < s->known_count; k++) {
            const double d = distance_sq(row, s->known + (size_t)k * (size_t)s->length, s->length) + (double)unseen;
            s->nearest[f / s->stride] = d < s->nearest[f / s->stride] ? d : s->nearest[f / s->stride];
        }
    }
    return EX_OK;
}

/* Mean distance of the known points to their nearest other one. */
static double spread(const suggesting *s) {
    double sum = 0;
    for (int a = 0; a < s->known_count; a++) {
        double least = INFINITY;
        for (int b = 0; b < s->known_count; b++) {
            const double d = a == b ? INFINITY
                                    : distance_sq(s->known + (size_t)a * (size_t)s->length,
                                                  s->known + (size_t)b * (size_t)s->length, s->length);
            least = d < least ? d : least;
        }
        sum += isinf(least) ? 0 : sqrt(least) / s->known_count;
    }
    return sum / s->unit;
}

static void choose(const suggesting *s, ex_suggestions *made) {
    for (made->count = 0;; made->count++) {
        int farthest = 0;
        for (int f = 1; f < s->frame_count; f++)
            farthest = s->nearest[f] > s->nearest[farthest] ? f : farthest;
        made->left = sqrt(s->nearest[farthest]) / s->unit;
        if (made->count == s->def->most || made->count == s->frame_count || !(made->left > made->enough))
            return;
        const int in_cache = s->def->first + farthest * s->stride;
        made->frames[made->count] = (ex_suggestion){
            .frame = in_cache, .time = ex_drive_time(s->reader, in_cache, s->def->rate), .distance = made->left};
        const float *row = s->rows + (size_t)farthest * (size_t)s->length;
        for (int f = 0; f < s->frame_count; f++) {
            const double d = distance_sq(row, s->rows + (size_t)f * (size_t)s->length, s->length);
            s->nearest[f] = d < s->nearest[f] ? d : s->nearest[f];
        }
    }
}

ex_result ex_drive_suggest(const ex_suggest_def *def, ex_suggestions **suggestions, ex_error *error) {
    if (!def || !def->rig || !def->driver || !suggestions || def->most < 1)
        return exi_misuse_error(error, __func__, "no rig, no driver, or nothing to name");
    *suggestions = NULL;
    ex_error own;
    suggesting s = {.def = def, .error = error ? error : &own};
    ex_result result = exi_take_check_scale(def->driver_scale, "driver", s.error);
    if (result == EX_OK)
        result = open(&s);
    if (result == EX_OK)
        result = read_frames(&s);
    ex_suggestions *made = result == EX_OK ? calloc(1, sizeof *made) : NULL;
    const int most = def->most < s.frame_count ? def->most : s.frame_count;
    if (made)
        made->frames = exi_array_allocate((size_t)most, sizeof *made->frames);
    if (result == EX_OK && (!made || !made->frames))
        result = ex_error_memory(s.error, "suggestions", (size_t)most * sizeof(ex_suggestion));
    if (result == EX_OK) {
        made->by_motion = s.predictor != NULL;
        made->enough = made->by_motion ? 1 : spread(&s);
        choose(&s, made);
        *suggestions = made;
    } else {
        ex_suggestions_free(made);
    }
    close(&s);
    return result;
}

void ex_suggestions_free(ex_suggestions *suggestions) {
    if (suggestions)
        free(suggestions->frames);
    free(suggestions);
}

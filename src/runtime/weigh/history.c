/*
 * The state of a driver: its moving frames in the frame of the whole, where up is, and how frames move. With R and p
 * the rotation and the middle of a frame at time t, and h the predictor's step,
 *
 *     velocity      v = (p(t) - p(t - h)) / h
 *     spin          w = axis of the antisymmetric part of R(t) R(t - h)^T, over h
 *     acceleration    = (p(t) - 2 p(t - h) + p(t - 2 h)) / h^2
 *     whirl           = (w(t) - w(t - h)) / h.
 *
 * The past is interpolated between the frames that were seen, so any frame rate gives the same numbers, up to the
 * interpolation. A driver that was seen for less than h has the velocity since then, and no acceleration.
 */
#include "runtime/weigh/predictor.h"

#include "runtime/base/memory.h"

#include <math.h>
#include <string.h>

/* SLOTS: frames kept. Those nearer in time than an eighth of a step to the last but one replace the last, so that the
 * slots reach back over at least two steps. */
enum { SLOTS = 40 };
static const double thinned = 0.125, longest = 1.0, oldest_clock = 1e8;

const char *ex_state_kind_name(ex_state_kind kind) {
    static const char *const names[] = {
#define NAME(id, text) text,
        EX_STATE_LIST(NAME)
#undef NAME
    };
    return (unsigned)kind < EX_STATE_KIND_COUNT ? names[kind] : "unknown";
}

int ex_state_start(int frame_count, ex_state_kind kind) {
    const int parts = frame_count - 1;
    const int lengths[EX_STATE_KIND_COUNT] = {
        [EX_STATE_TURN] = 9 * parts,
        [EX_STATE_PLACE] = 3 * parts,
        [EX_STATE_UP] = 3,
        [EX_STATE_VELOCITY] = 3 * frame_count,
        [EX_STATE_SPIN] = 3 * frame_count,
        [EX_STATE_ACCELERATION] = 3 * frame_count,
        [EX_STATE_WHIRL] = 3 * frame_count,
        [EX_STATE_SIZE] = frame_count,
    };
    int start = 0;
    for (int k = 0; k < (int)kind && k < EX_STATE_KIND_COUNT; k++)
        start += lengths[k];
    return start;
}

/* ---- the history ---- */

/* Twelve floats of a frame: nine of its rotation, three of its middle. */
enum { FRAME = 12 };

typedef struct history {
    double clock;    /* seconds since it began */
    uint32_t count;  /* slots in use, at most SLOTS */
    uint32_t newest; /* the slot of the last frame */
    double times[SLOTS];
    float slots[]; /* [SLOTS][frame_count][FRAME] */
} history;

size_t ex_predictor_history_size(const ex_predictor *p) {
    return (sizeof(history) + (size_t)SLOTS * (size_t)p->frame_count * FRAME * sizeof(float) + 15) / 16 * 16;
}

static float *slot_of(const ex_predictor *p, history *h, uint32_t slot) {
    return h->slots + (size_t)slot * (size_t)p->frame_count * FRAME;
}

/* The slot that is `back` frames before the newest. */
static uint32_t slot_before(const history *h, uint32_t back) {
    return (h->newest + SLOTS - back) % SLOTS;
}

/* True for a history that this room wrote, as far as its head shows; one that is very old begins anew. */
static bool is_sound(const history *h) {
    return h->count <= SLOTS && h->newest < SLOTS && h->clock >= 0 && h->clock < oldest_clock &&
           h->times[h->newest] == h->clock;
}

static void take_frame(const float *matrix, const float *centre, float frame[FRAME]) {
    for (int r = 0; r < 3; r++) {
        const float *m = matrix + 4 * r;
        for (int c = 0; c < 3; c++)
            frame[3 * r + c] = m[c];
        frame[9 + r] = m[0] * centre[0] + m[1] * centre[1] + m[2] * centre[2] + m[3];
    }
}

/* True if a frame moved faster since the last one than it ever does. Over very short times, rounding errors would be
 * fast. */
static bool was_cut(const ex_predictor *p, history *h, const float *now, double elapsed) {
    const float *last = slot_of(p, h, h->newest);
    const double most = p->fastest * (elapsed > thinned * p->step ? elapsed : thinned * p->step);
    for (int f = 0; f < p->frame_count; f++) {
        double square = 0;
        for (int c = 0; c < 3; c++) {
            const double d = (double)now[FRAME * f + 9 + c] - (double)last[FRAME * f + 9 + c];
            square += d * d;
        }
        if (!(square <= most * most))
            return true;
    }
    return false;
}

static void add_slot(const ex_predictor *p, history *h, const float *now) {
    const bool dense = h->count >= 2 && h->clock - h->times[slot_before(h, 1)] < thinned * p->step;
    if (!dense) {
        h->newest = h->count == 0 ? 0 : (h->newest + 1) % SLOTS;
        h->count += h->count < SLOTS;
    }
    h->times[h->newest] = h->clock;
    memcpy(slot_of(p, h, h->newest), now, (size_t)p->frame_count * FRAME * sizeof(float));
}

/* Two frames seen and the share of the earlier one, at a time before now. */
typedef struct moment {
    const float *later, *earlier;
    float share;
} moment;

/* Finds a time; `now` is the frame that is not in the history yet. The oldest frame stands for times before it. */
static moment find_moment(const ex_predictor *p, history *h, const float *now, double time) {
    const float *later = now;
    double later_time = h->clock;
    for (uint32_t back = 0; back < h->count; back++) {
        const uint32_t slot = slot_before(h, back);
        const float *earlier = slot_of(p, h, slot);
        const double span = later_time - h->times[slot];
        if (h->times[slot] <= time)
            return (moment){later, earlier, span > 0 ? (float)((later_time - time) / span) : 0};
        later = earlier;
        later_time = h->times[slot];
    }
    return (moment){later, later, 0};
}

static void frame_at(const moment *m, int frame, float out[FRAME]) {
    const float *later = m->later + FRAME * frame, *earlier = m->earlier + FRAME * frame;
    for (int i = 0; i < FRAME; i++)
        out[i] = later[i] + m->share * (earlier[i] - later[i]);
}

/* ---- the state ---- */

/* x in the frame whose rotation is r. */
static void turn_back(const float r[9], const float x[3], float out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = r[c] * x[0] + r[3 + c] * x[1] + r[6 + c] * x[2];
}

/* Axis times sine of the turn from b to a. */
static void turn_between(const float a[9], const float b[9], float axis[3]) {
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        float lower = 0, upper = 0;
        for (int c = 0; c < 3; c++) {
            lower += a[3 * k + c] * b[3 * j + c];
            upper += a[3 * j + c] * b[3 * k + c];
        }
        axis[i] = 0.5F * (lower - upper);
    }
}

/* Motion of one frame: velocity, spin, acceleration, whirl, in the world. */
static void move(const float now[FRAME], const float past[2][FRAME], const double spans[2], float out[4][3]) {
    float spin[2][3];
    const float first = spans[0] > 0 ? (float)(1 / spans[0]) : 0, second = spans[1] > 0 ? (float)(1 / spans[1]) : 0;
    turn_between(now, past[0], spin[0]);
    turn_between(past[0], past[1], spin[1]);
    for (int c = 0; c < 3; c++) {
        const float before = past[0][9 + c] - past[1][9 + c];
        out[0][c] = (now[9 + c] - past[0][9 + c]) * first;
        out[1][c] = spin[0][c] * first;
        out[2][c] = (out[0][c] - before * second) * first * (spans[1] > 0);
        out[3][c] = (out[1][c] - spin[1][c] * second) * first * (spans[1] > 0);
    }
}

static void write_pose(const ex_predictor *p, const float *now, float *state) {
    const int parts = p->frame_count - 1;
    const float *whole = now + FRAME * parts;
    float *turns = state + ex_state_start(p->frame_count, EX_STATE_TURN);
    float *places = state + ex_state_start(p->frame_count, EX_STATE_PLACE);
    for (int f = 0; f < parts; f++) {
        const float *part = now + FRAME * f;
        for (int c = 0; c < 3; c++) {
            const float column[3] = {part[c], part[3 + c], part[6 + c]};
            float turned[3];
            turn_back(whole, column, turned);
            for (int r = 0; r < 3; r++)
                turns[9 * f + 3 * r + c] = turned[r];
        }
        const float from[3] = {part[9] - whole[9], part[10] - whole[10], part[11] - whole[11]};
        turn_back(whole, from, places + 3 * f);
    }
    turn_back(whole, p->up, state + ex_state_start(p->frame_count, EX_STATE_UP));
}

static void write_motion(const ex_predictor *p, history *h, const float *now, float *state) {
    static const ex_state_kind kinds[4] = {EX_STATE_VELOCITY, EX_STATE_SPIN, EX_STATE_ACCELERATION, EX_STATE_WHIRL};
    const float *whole = now + FRAME * (p->frame_count - 1);
    moment moments[2] = {{now, now, 0}, {now, now, 0}};
    double spans[2] = {0, 0};
    if (h && h->count > 0) {
        const uint32_t oldest = slot_before(h, h->count - 1);
        const double age = h->clock - h->times[oldest];
        spans[0] = age < p->step ? age : p->step;
        spans[1] = age >= 2 * p->step * (1 - 1e-9) ? p->step : 0;
        moments[0] = find_moment(p, h, now, h->clock - spans[0]);
        moments[1] = spans[1] > 0 ? find_moment(p, h, now, h->clock - 2 * p->step) : moments[0];
    }
    for (int f = 0; f < p->frame_count; f++) {
        float past[2][FRAME], motion[4][3];
        frame_at(&moments[0], f, past[0]);
        frame_at(&moments[1], f, past[1]);
        move(now + FRAME * f, (const float(*)[FRAME])past, spans, motion);
        for (int k = 0; k < 4; k++)
            turn_back(whole, motion[k], state + ex_state_start(p->frame_count, kinds[k]) + 3 * f);
    }
}

void ex_predictor_observe(const ex_predictor *p, const float *matrices, const float *sizes, double elapsed,
                          void *history_memory, float *state) {
    const float *centres = exi_predictor_find(p).centres;
    history *h = history_memory;
    float now[EX_PREDICTOR_FRAME_MAX * FRAME];
    for (int f = 0; f < p->frame_count; f++)
        take_frame(matrices + 12 * f, centres + 3 * f, now + FRAME * f);
    if (h) {
        const bool goes_on = is_sound(h) && h->count > 0 && elapsed > 0 && elapsed <= longest;
        if (!goes_on || was_cut(p, h, now, elapsed)) {
            h->count = h->newest = 0;
            h->clock = 0;
        } else {
            h->clock += elapsed;
        }
    }
    write_pose(p, now, state);
    write_motion(p, h, now, state);
    float *own = state + ex_state_start(p->frame_count, EX_STATE_SIZE);
    for (int f = 0; f < p->frame_count; f++)
        own[f] = sizes && p->sizes ? sizes[f] : 1;
    /* A driver or a history with numbers beyond measure says nothing. */
    for (int i = 0, length = ex_state_start(p->frame_count, EX_STATE_KIND_COUNT); i < length; i++)
        state[i] = fabsf(state[i]) < 1e18F ? state[i] : 0;
    if (h)
        add_slot(p, h, now);
}

/*
 * Labels for a motion without labels, from a static trial that has them. The skeleton fitted to the static trial is
 * turned about the vertical and put at the markers of frames spread over the motion; the frame and the heading at which
 * most markers are near are taken. Then markers are matched with the nearest predicted ones, the pose is found, and so
 * on, with a limit that shrinks. A trajectory keeps its label in all frames; what is wrong or missing later is mended
 * as in any other trial.
 */
#include "author/scan/capture/capture.h"

#include "author/base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 12, HEADINGS = 36, ROUNDS = 10, BLANK_LEAST = 10 };
#define PI          3.14159265358979323846
#define FAR         0.2 /* metres: farther markers count alike */
#define LIMIT_FIRST 0.3 /* of matches, metres */
#define LIMIT_LAST  0.06
#define SURE        0.012 /* metres, root of the mean square distance: labels are not guessed */

typedef struct labelling {
    const ex_markers *motion;
    const ex_capture *still; /* the static trial alone */
    int site_count;
    double (*model)[3]; /* [site_count]: predicted positions */
    double (*turns)[4]; /* [joint_count] */
    double (*places)[3];
    int *sites; /* [marker_count] of the motion: matched site, or -1 */
    bool *locked;
    int frame;
} labelling;

static void predict(labelling *l, const ex_kin_pose *pose) {
    const ex_kinematics *kinematics = l->still->kinematics;
    ex_kin_frames(kinematics, pose, l->turns, l->places);
    for (int s = 0; s < l->site_count; s++)
        exi_capture_predict(&kinematics->sites[s], (const double(*)[4])l->turns, (const double(*)[3])l->places,
                            l->model[s]);
}

static double square_off(const float *seen, const double at[3]) {
    const double d[3] = {(double)seen[0] - at[0], (double)seen[1] - at[1], (double)seen[2] - at[2]};
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* ---- the first place ---- */

static int find_middles(const labelling *l, int frame, double seen[3], double model[3]) {
    int count = 0;
    seen[0] = seen[1] = seen[2] = model[0] = model[1] = model[2] = 0;
    for (int m = 0; m < l->motion->marker_count; m++) {
        const float *p = exi_capture_seen(l->motion, frame, m);
        for (int i = 0; i < 3 && p; i++)
            seen[i] += (double)p[i];
        count += p != NULL;
    }
    for (int i = 0; i < 3; i++)
        seen[i] /= count > 0 ? count : 1;
    for (int s = 0; s < l->site_count; s++)
        for (int i = 0; i < 3; i++)
            model[i] += l->model[s][i] / l->site_count;
    return count;
}

/* The model turned about the vertical by a heading, and with its middle at that of the markers seen. */
static void place_site(const labelling *l, int site, double heading, const double seen[3], const double model[3],
                       double at[3]) {
    const double x = l->model[site][0] - model[0], z = l->model[site][2] - model[2];
    at[0] = seen[0] + cos(heading) * x + sin(heading) * z;
    at[1] = seen[1] + l->model[site][1] - model[1];
    at[2] = seen[2] - sin(heading) * x + cos(heading) * z;
}

static double cost_of(const labelling *l, int frame, double heading, const double seen[3], const double model[3]) {
    double sum = 0, at[3];
    for (int s = 0; s < l->site_count; s++) {
        double least = FAR * FAR;
        place_site(l, s, heading, seen, model, at);
        for (int m = 0; m < l->motion->marker_count; m++) {
            const float *p = exi_capture_seen(l->motion, frame, m);
            least = p && square_off(p, at) < least ? square_off(p, at) : least;
        }
        sum += least;
    }
    return sum;
}

/* Finds the best heading in a frame. Returns its cost; infinity if the frame shows too little. */
static double find_heading(const labelling *l, int frame, double *heading) {
    double best = INFINITY, seen[3], model[3];
    if (find_middles(l, frame, seen, model) < BLANK_LEAST)
        return best;
    for (int h = 0; h < HEADINGS; h++) {
        const double cost = cost_of(l, frame, 2 * PI * h / HEADINGS, seen, model);
        if (cost < best) {
            best = cost;
            *heading = 2 * PI * h / HEADINGS;
        }
    }
    return best;
}

/* Moves the model to a frame. */
static void move_model(labelling *l, int frame, double heading) {
    double seen[3], model[3];
    find_middles(l, frame, seen, model);
    l->frame = frame;
    for (int s = 0; s < l->site_count; s++) {
        double at[3];
        place_site(l, s, heading, seen, model, at);
        memcpy(l->model[s], at, sizeof at);
    }
}

/* ---- matching ---- */

/* Matches markers and predictions, the nearest pair first. Returns their number. */
static int match(labelling *l, double limit) {
    int count = 0;
    for (int m = 0; m < l->motion->marker_count; m++)
        l->sites[m] = -1;
    for (;;) {
        double least = limit * limit;
        int marker = -1, site = -1;
        for (int s = 0; s < l->site_count; s++) {
            bool taken = false;
            for (int m = 0; m < l->motion->marker_count && !taken; m++)
                taken = l->sites[m] == s;
            for (int m = 0; m < l->motion->marker_count && !taken; m++) {
                const float *p = l->sites[m] < 0 ? exi_capture_seen(l->motion, l->frame, m) : NULL;
                if (p && square_off(p, l->model[s]) < least) {
                    least = square_off(p, l->model[s]);
                    marker = m;
                    site = s;
                }
            }
        }
        if (marker < 0)
            return count;
        l->sites[marker] = site;
        count++;
    }
}

/* Matches and finds the pose in turn. *cost: the mean square distance of the frame's markers from their predictions, in
 * the end, with those not matched at the limit. */
static ex_result refine(labelling *l, const ex_capture_options *options, double *cost, ex_error *error) {
    const ex_kin_pose *likely = &l->still->poses[l->still->frame_count / 2];
    ex_kin_fit *fit = NULL, *last = NULL;
    ex_result result = EX_OK;
    *cost = INFINITY;
    for (int round = 0; round < ROUNDS && result == EX_OK; round++) {
        if (match(l, LIMIT_FIRST + (LIMIT_LAST - LIMIT_FIRST) * round / (ROUNDS - 1)) < EXI_CAPTURE_MATCHES)
            break;
        const exi_capture_batch batch = {.markers = l->motion,
                                         .sites = l->sites,
                                         .kinematics = l->still->kinematics,
                                         .locked = l->locked,
                                         .count = 1,
                                         .frames = &l->frame,
                                         .likely = &likely,
                                         .poses_only = true,
                                         .tasks = options->tasks};
        result = exi_capture_solve(&batch, &fit, error);
        if (result != EX_OK)
            break;
        ex_kin_fit_destroy(last);
        last = fit;
        likely = &last->poses[0];
        predict(l, likely);
    }
    if (result == EX_OK && last) {
        double sum = 0;
        int seen = 0;
        match(l, LIMIT_LAST);
        for (int m = 0; m < l->motion->marker_count; m++) {
            const float *p = exi_capture_seen(l->motion, l->frame, m);
            if (!p)
                continue;
            sum += l->sites[m] >= 0 ? square_off(p, l->model[l->sites[m]]) : LIMIT_LAST * LIMIT_LAST;
            seen++;
        }
        *cost = sum / (seen > 0 ? seen : 1);
    }
    ex_kin_fit_destroy(last);
    return result;
}

/* Tries frames spread over the motion, each with its best heading and the opposite one; keeps the best matches. */
static ex_result search(labelling *l, const ex_capture_options *options, double *best, ex_error *error) {
    const int step = l->motion->frame_count / SAMPLES + 1;
    const size_t markers = (size_t)l->motion->marker_count;
    int *kept = exi_array_allocate(markers, sizeof *kept), frame = 0;
    ex_result result = kept ? EX_OK
                            : ex_error_set(error, EX_ERROR_MEMORY, "not enough memory for the labels of %d markers",
                                           l->motion->marker_count);
    *best = INFINITY;
    for (int f = 0; f < l->motion->frame_count && result == EX_OK; f += step)
        for (int opposite = 0; opposite < 2 && result == EX_OK; opposite++) {
            double heading = 0, cost;
            predict(l, &l->still->poses[l->still->frame_count / 2]);
            if (isinf(find_heading(l, f, &heading)))
                continue;
            move_model(l, f, heading + PI * opposite);
            result = refine(l, options, &cost, error);
            if (result == EX_OK && cost < *best) {
                *best = cost;
                frame = f;
                memcpy(kept, l->sites, markers * sizeof *kept);
            }
        }
    if (result == EX_OK && *best < INFINITY) {
        memcpy(l->sites, kept, markers * sizeof *kept);
        l->frame = frame;
    }
    free(kept);
    return result;
}

/* ---- names ---- */

static const char *name_of(const labelling *l, int site) {
    for (int m = 0; m < l->still->marker_count; m++)
        if (l->still->sites[m] == site)
            return l->still->markers[m].name;
    return "";
}

static ex_markers *copy_named(const labelling *l) {
    ex_markers *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    *made = *l->motion;
    made->names = calloc((size_t)made->marker_count, sizeof *made->names);
    bool good = made->names != NULL;
    for (int m = 0; m < made->marker_count && good; m++) {
        const char *name = l->sites[m] >= 0 ? name_of(l, l->sites[m]) : l->motion->names[m];
        good = (made->names[m] = exi_text_copy(name, strlen(name))) != NULL;
    }
    if (!good)
        exi_capture_unlabel(made);
    return good ? made : NULL;
}

void exi_capture_unlabel(ex_markers *named) {
    for (int m = 0; named && named->names && m < named->marker_count; m++)
        free(named->names[m]);
    if (named)
        free(named->names);
    free(named);
}

/* True if the motion has hardly any label, and a static trial to take them from. */
static bool is_bare(const ex_markers *motion, const ex_capture_options *options) {
    int known = 0, blank = 0;
    for (int m = 0; m < motion->marker_count; m++) {
        const exi_marker_kind kind = exi_marker_look_up(motion->names[m]).kind;
        known += kind == EXI_MARKER_PLACE || kind == EXI_MARKER_BONE;
        blank += kind == EXI_MARKER_BLANK;
    }
    return options->still && known < EXI_CAPTURE_MATCHES && blank >= BLANK_LEAST;
}

ex_result exi_capture_label(const ex_markers *motion, const ex_capture_options *options, ex_markers **named, int *frame,
                            ex_error *error) {
    *named = NULL;
    if (!is_bare(motion, options))
        return EX_OK;
    const ex_capture_options plain = {.kinematics = options->kinematics, .frames = 8, .tasks = options->tasks};
    ex_capture *still = NULL;
    ex_result result = ex_capture_fit(options->still, &plain, &still, error);
    if (result != EX_OK)
        return result;
    const size_t joints = (size_t)still->kinematics->joint_count;
    labelling l = {.motion = motion, .still = still, .site_count = still->kinematics->site_count};
    double best = INFINITY;
    l.model = exi_array_allocate((size_t)l.site_count, sizeof *l.model);
    l.turns = exi_array_allocate(joints, sizeof *l.turns);
    l.places = exi_array_allocate(joints, sizeof *l.places);
    l.sites = exi_array_allocate((size_t)motion->marker_count, sizeof *l.sites);
    l.locked = calloc(joints, sizeof *l.locked);
    if (!l.model || !l.turns || !l.places || !l.sites || !l.locked)
        result = ex_error_set(error, EX_ERROR_MEMORY, "not enough memory for the labels of %d markers",
                              motion->marker_count);
    if (result == EX_OK)
        result = search(&l, options, &best, error);
    if (result == EX_OK && best < SURE * SURE) {
        *named = copy_named(&l);
        *frame = l.frame;
        if (!*named)
            result = ex_error_set(error, EX_ERROR_MEMORY, "not enough memory for the labels of %d markers",
                                  motion->marker_count);
    }
    free(l.model);
    free(l.turns);
    free(l.places);
    free(l.sites);
    free(l.locked);
    ex_capture_destroy(still);
    return result;
}

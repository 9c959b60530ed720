/* cli/warp/warp_options.c - parses the options of trajectories. */
#include "warp.h"

#include <exemplar/author/base.h>

#include <string.h>

static bool read_number(const char *text, double *value) {
    const char *end = text + strlen(text);
    return ex_parse_double(&text, end, value) && text == end;
}

static bool read_count(const char *text, int most, int *value) {
    const char *end = text + strlen(text);
    return ex_parse_int(&text, end, value) && text == end && *value >= 0 && *value <= most;
}

/* ---- one option each; false after printing an error ---- */

static bool read_mode(const ex_call *call, const char *text, ex_trajectory_options *o) {
    for (int i = 0; text && i < EX_TRAJECTORY_MODE_COUNT; i++)
        if (strcmp(text, ex_trajectory_mode_name((ex_trajectory_mode)i)) == 0) {
            o->mode = (ex_trajectory_mode)i;
            return true;
        }
    if (text)
        exi_wrong_usage(call->command, "--mode needs guided or paper, not '%s'", text);
    return !text;
}

static bool read_correctors(const ex_call *call, const char *text, ex_trajectory_options *o) {
    if (!text || strcmp(text, "auto") == 0 || read_count(text, EX_MIXTURE_CORRECTOR_MAX, &o->corrector_count))
        return true;
    exi_wrong_usage(call->command, "--correctors needs a whole number from 0 to %d or auto, not '%s'",
                    EX_MIXTURE_CORRECTOR_MAX, text);
    return false;
}

static const char *const term_names[] = {"pose", "rotation", "gradient"};

static int find_term(const char *text, size_t size) {
    int i = 0;
    while (i < 3 && (strlen(term_names[i]) != size || memcmp(term_names[i], text, size) != 0))
        i++;
    return i;
}

static bool read_terms(const ex_call *call, const char *text, ex_trajectory_options *o) {
    bool *const without[] = {&o->without_pose, &o->without_rotation, &o->without_gradient};
    if (!text)
        return true;
    for (int i = 0; i < 3; i++)
        *without[i] = true;
    for (const char *at = text;; at++) {
        const size_t size = strcspn(at, ",");
        const int term = find_term(at, size);
        if (term == 3 || !*without[term]) {
            exi_wrong_usage(call->command,
                            term == 3
                                ? "--terms needs some of pose,rotation,gradient with commas between them, not '%s'"
                                : "--terms names a term twice: '%s'",
                            text);
            return false;
        }
        *without[term] = false;
        at += size;
        if (!*at)
            return true;
    }
}

static bool read_weights(const ex_call *call, const char *text, ex_trajectory_options *o) {
    double *const weights[] = {&o->pose_weight, &o->rotation_weight, &o->gradient_weight};
    const bool without[] = {o->without_pose, o->without_rotation, o->without_gradient};
    bool seen[3] = {false};
    for (const char *at = text; at && *at;) {
        const size_t size = strcspn(at, "=,"), length = strcspn(at, ",");
        const int term = find_term(at, size);
        const char *number = at + size + 1, *end = at + length;
        if (term == 3 || at[size] != '=' || !ex_parse_double(&number, end, weights[term]) || number != end ||
            !(*weights[term] > 0 && *weights[term] <= 1e6)) {
            exi_wrong_usage(call->command,
                            "--weights needs numbers above 0 such as pose=1,rotation=0.1,gradient=0.05, not '%s'",
                            text);
            return false;
        }
        if (seen[term]) {
            exi_wrong_usage(call->command, "--weights names a term twice: '%s'", text);
            return false;
        }
        if (without[term]) {
            exi_wrong_usage(call->command, "--weights names a term that --terms leaves out: '%s'", text);
            return false;
        }
        seen[term] = true;
        at = *end ? end + 1 : end;
    }
    return true;
}

static bool read_segments(const ex_call *call, const exi_warp_words *w, ex_trajectory_options *o) {
    if (w->segment_angle &&
        (!read_number(w->segment_angle, &o->segment_angle) || !(o->segment_angle > 0 && o->segment_angle <= 180))) {
        exi_wrong_usage(call->command, "--segment-angle needs degrees above 0 and at most 180, not '%s'",
                        w->segment_angle);
        return false;
    }
    if (w->root && !read_count(w->root, EX_SEGMENT_MAX - 1, &o->root)) {
        exi_wrong_usage(call->command, "--root needs a segment from 0 to %d, not '%s'", EX_SEGMENT_MAX - 1, w->root);
        return false;
    }
    if (!w->bases && (w->segment_angle || w->root || w->segments)) {
        exi_wrong_usage(call->command, "--%s goes with --bases, which work on segments",
                        w->segments        ? "segments"
                        : w->segment_angle ? "segment-angle"
                                           : "root");
        return false;
    }
    o->bases = w->bases;
    return true;
}

/* ---- all of them ---- */

static bool is_of_mode(const ex_call *call, const exi_warp_words *w, ex_trajectory_mode mode) {
    const char *guided = w->correctors ? "correctors" : NULL;
    const char *paper = w->terms           ? "terms"
                        : w->weights       ? "weights"
                        : w->bases         ? "bases"
                        : w->segment_angle ? "segment-angle"
                        : w->root          ? "root"
                        : w->segments      ? "segments"
                                           : NULL;
    const char *wrong = mode == EX_TRAJECTORY_GUIDED ? paper : guided;
    if (wrong)
        exi_wrong_usage(
            call->command, "--%s goes with --mode %s", wrong,
            ex_trajectory_mode_name(mode == EX_TRAJECTORY_GUIDED ? EX_TRAJECTORY_PAPER : EX_TRAJECTORY_GUIDED));
    return !wrong;
}

bool exi_warp_options_read(const ex_call *call, const exi_warp_words *w, ex_trajectory_options *o) {
    *o = ex_trajectory_options_default();
    o->iterations = w->iterations;
    return read_mode(call, w->mode, o) && is_of_mode(call, w, o->mode) && read_correctors(call, w->correctors, o) &&
           read_terms(call, w->terms, o) && read_weights(call, w->weights, o) && read_segments(call, w, o);
}

/* ---- weights of examples ---- */

bool exi_warp_weights_read(const ex_call *call, const ex_rig_trajectories *paths, const ex_word_list *words,
                           double *weights) {
    const int count = paths->def.example_count;
    for (int k = 0; k < count; k++)
        weights[k] = 0;
    for (int i = 0; i < words->count; i++) {
        const char *word = words->words[i], *equals = strchr(word, '=');
        const size_t size = equals ? (size_t)(equals - word) : 0;
        int k = 0;
        while (k < count && (strlen(paths->def.names[k]) != size || memcmp(paths->def.names[k], word, size) != 0))
            k++;
        if (count == 1 && (!equals || (size == 1 && word[0] == 't')))
            k = 0;
        if (k == count || !read_number(equals ? equals + 1 : word, &weights[k])) {
            exi_wrong_usage(call->command, "--at needs %s, not '%s'",
                            count == 1 ? "a number, 0 at the start and 1 at the end"
                                       : "numbers after the forms' names, such as B=0.3",
                            word);
            return false;
        }
    }
    return true;
}

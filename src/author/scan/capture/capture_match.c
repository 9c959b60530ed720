/*
 * Matches markers of a trial with sites of a skeleton, by name. Marker sets use different names for the same place, put
 * sides before or after, and separate with dots and underscores: marker_sets.c has the tables. Markers of these sets
 * that the skeleton does not have are added to it.
 */
#include "author/scan/capture/capture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 200 };
#define HANDED 0.6   /* cosine from which left and right are certain */
#define RIGID  0.005 /* metres: a toe marker that keeps its distances to the foot so well is on the foot */

static bool is_taken(const int *sites, int count, int site) {
    for (int i = 0; i < count; i++)
        if (sites[i] == site)
            return true;
    return false;
}

int ex_capture_match(const ex_kinematics *kinematics, const ex_markers *markers, int *sites) {
    int matched = 0;
    for (int m = 0; m < markers->marker_count; m++)
        sites[m] = -1;
    for (int round = 0; round < 2; round++) /* names first, then meanings */
        for (int m = 0; m < markers->marker_count; m++) {
            char word[EXI_MARKER_WORD], other[EXI_MARKER_WORD];
            exi_marker_word(markers->names[m], word);
            const exi_marker_meaning meaning = exi_marker_look_up(markers->names[m]);
            for (int s = 0; s < kinematics->site_count && sites[m] < 0; s++) {
                exi_marker_word(kinematics->sites[s].name, other);
                bool same = strcmp(word, other) == 0;
                if (round > 0) {
                    const exi_marker_meaning site = exi_marker_look_up(kinematics->sites[s].name);
                    same = meaning.place >= 0 && site.place == meaning.place && site.side == meaning.side;
                }
                if (same && *word && !is_taken(sites, markers->marker_count, s)) {
                    sites[m] = s;
                    matched++;
                }
            }
        }
    return matched;
}

/* ---- sites of the usual sets ---- */

bool exi_capture_add_site(exi_capture_work *w, int marker, int joint, const double local[3]) {
    ex_kinematics *kinematics = w->kinematics;
    ex_site *sites = realloc(kinematics->sites, ((size_t)kinematics->site_count + 1) * sizeof *sites);
    if (!sites)
        return false;
    kinematics->sites = sites;
    const char *name = w->markers->names[marker];
    ex_site *site = &sites[kinematics->site_count];
    *site = (ex_site){.joint = joint, .placed = true};
    memcpy(site->local, local, sizeof site->local);
    site->name = malloc(strlen(name) + 1);
    if (!site->name)
        return false;
    strcpy(site->name, name);
    w->out->sites[marker] = kinematics->site_count++;
    return true;
}

/* True if another marker has this place already. */
static bool place_used(const exi_capture_work *w, int marker) {
    const exi_marker_meaning *meaning = &w->meanings[marker];
    for (int m = 0; m < w->markers->marker_count; m++)
        if (m != marker && w->out->sites[m] >= 0 && w->meanings[m].place == meaning->place &&
            w->meanings[m].side == meaning->side)
            return true;
    return false;
}

static bool add_known(exi_capture_work *w) {
    const bool ours = strcmp(w->kinematics->name, "full") == 0 || strcmp(w->kinematics->name, "upper") == 0;
    for (int m = 0; ours && m < w->markers->marker_count; m++) {
        const exi_marker_meaning *meaning = &w->meanings[m];
        if (w->out->sites[m] >= 0 || meaning->kind != EXI_MARKER_PLACE)
            continue;
        const int joint = ex_kinematics_find_joint(w->kinematics, meaning->joint);
        if (joint < 0)
            continue;
        if (place_used(w, m))
            w->meanings[m].kind = EXI_MARKER_BONE; /* the second of that name: only its bone is taken */
        else if (!exi_capture_add_site(w, m, joint, meaning->at))
            return false;
    }
    return true;
}

/* ---- toes ---- */

/* Standard deviation of the distance of two markers; below 0 if they are hardly seen together. */
static double distance_spread(const ex_markers *markers, int a, int b) {
    double sum = 0, squares = 0;
    int count = 0;
    const int step = markers->frame_count / SAMPLES + 1;
    for (int f = 0; f < markers->frame_count; f += step) {
        const float *p = exi_capture_seen(markers, f, a), *q = exi_capture_seen(markers, f, b);
        if (!p || !q)
            continue;
        const double d = sqrt(
            (double)((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2])));
        sum += d;
        squares += d * d;
        count++;
    }
    return count < 2 ? -1 : sqrt(fmax(0, squares / count - sum / count * (sum / count)));
}

/* A marker on the toes that moves with the foot belongs to the foot: sets with one marker at the front of a foot put it
 * on the head of a metatarsal bone. So does one without enough other markers on the foot. */
static void settle_toes(exi_capture_work *w) {
    ex_kinematics *kinematics = w->kinematics;
    for (int m = 0; m < w->markers->marker_count; m++) {
        const int s = w->out->sites[m];
        if (s < 0 || strncmp(kinematics->joints[kinematics->sites[s].joint].name, "toe.", 4) != 0)
            continue;
        const int toe = kinematics->sites[s].joint, foot = kinematics->joints[toe].parent;
        int others = 0;
        double worst = 0;
        for (int n = 0; n < w->markers->marker_count; n++)
            if (w->out->sites[n] >= 0 && kinematics->sites[w->out->sites[n]].joint == foot) {
                const double spread = distance_spread(w->markers, m, n);
                worst = spread > worst ? spread : worst;
                others++;
            }
        if (others >= 2 && worst > RIGID)
            continue;
        for (int i = 0; i < 3; i++)
            kinematics->sites[s].local[i] += kinematics->joints[toe].translation[i];
        kinematics->sites[s].joint = foot;
    }
}

/* ---- sides ---- */

/* Left, times the cosine between it and where a body that looks ahead has its left: +1 if the labels are right, -1 if
 * left and right are exchanged. Ahead is where the markers are that a body has in front: on toes, pelvis and chest. */
static double find_hand(const exi_capture_work *w) {
    const ex_markers *markers = w->markers;
    const int step = markers->frame_count / SAMPLES + 1;
    double sum = 0;
    int frames = 0;
    for (int f = 0; f < markers->frame_count; f += step) {
        double left[2] = {0}, ahead[2] = {0}, middle[2] = {0}, depth = 0;
        int count = 0, sides[2] = {0};
        for (int pass = 0; pass < 2; pass++)
            for (int m = 0; m < markers->marker_count; m++) {
                const exi_marker_meaning *meaning = &w->meanings[m];
                const bool arm = strncmp(meaning->joint, "shoulder", 8) == 0 ||
                                 strncmp(meaning->joint, "forearm", 7) == 0 || strncmp(meaning->joint, "wrist", 5) == 0;
                const float *p = meaning->kind == EXI_MARKER_PLACE && !arm ? exi_capture_seen(markers, f, m) : NULL;
                for (int i = 0; i < 2 && p; i++) {
                    const double x = (double)p[2 * i];
                    if (pass == 0)
                        middle[i] += x;
                    else
                        ahead[i] += (meaning->across[1] - depth) * (x - middle[i]);
                    left[i] += pass == 1 ? meaning->side * (x - middle[i]) : 0;
                }
                if (p && pass == 0) {
                    depth += meaning->across[1];
                    count++;
                    sides[0] += meaning->side > 0;
                    sides[1] += meaning->side < 0;
                }
                if (pass == 0 && m == markers->marker_count - 1 && count > 0) {
                    depth /= count;
                    middle[0] /= count;
                    middle[1] /= count;
                }
            }
        const double size = sqrt((left[0] * left[0] + left[1] * left[1]) * (ahead[0] * ahead[0] + ahead[1] * ahead[1]));
        if (count < EXI_CAPTURE_MATCHES || sides[0] < 2 || sides[1] < 2 || !(size > 0))
            continue;
        sum += (left[0] * ahead[1] - left[1] * ahead[0]) / size; /* up x ahead = (ahead z, -ahead x) */
        frames++;
    }
    return frames > 0 ? sum / frames : 0;
}

/* The marker of the same name on the other side, or -1. */
static int find_partner(const exi_capture_work *w, int marker) {
    char word[EXI_MARKER_WORD], other[EXI_MARKER_WORD];
    const exi_marker_meaning *meaning = &w->meanings[marker];
    exi_marker_word(w->markers->names[marker], word);
    for (int m = 0; m < w->markers->marker_count; m++) {
        if (m == marker || w->meanings[m].side != -meaning->side || meaning->side == 0)
            continue;
        if (meaning->place >= 0 && w->meanings[m].place == meaning->place)
            return m;
        exi_marker_word(w->markers->names[m], other);
        bool same = strlen(word) == strlen(other);
        for (size_t i = 0; same && word[i]; i++)
            same = word[i] == other[i] || (word[i] == 'L' && other[i] == 'R') || (word[i] == 'R' && other[i] == 'L');
        if (same)
            return m;
    }
    return -1;
}

/* Exchanges left and right if the labels are those of a mirror image. */
static ex_result settle_sides(exi_capture_work *w) {
    if (find_hand(w) > -HANDED)
        return EX_OK;
    for (int m = 0; m < w->markers->marker_count; m++) {
        const int n = find_partner(w, m);
        for (int f = 0; f < w->markers->frame_count && n > m; f++) {
            float *row = w->markers->positions + 3 * (size_t)f * (size_t)w->markers->marker_count;
            for (int i = 0; i < 3; i++) {
                const float kept = row[3 * m + i];
                row[3 * m + i] = row[3 * n + i];
                row[3 * n + i] = kept;
            }
        }
    }
    return exi_capture_note(w,
                            "left and right are exchanged, or the file is a mirror image: toes would be behind heels; "
                            "labels of left and right were exchanged")
               ? EX_OK
               : exi_capture_no_memory(w);
}

/* ---- all ---- */

static bool ever_seen(const ex_markers *markers, int marker) {
    for (int f = 0; f < markers->frame_count; f++)
        if (exi_capture_seen(markers, f, marker))
            return true;
    return false;
}

static void say(exi_capture_work *w, int marker, const char *text) {
    snprintf(w->out->markers[marker].text, sizeof w->out->markers[marker].text, "%s", text);
}

/* Markers that can never be used. */
static void refuse(exi_capture_work *w) {
    for (int m = 0; m < w->markers->marker_count; m++) {
        const char *reason = NULL;
        if (!ever_seen(w->markers, m))
            reason = "never seen";
        else if (w->options->left_out && m < w->motion->marker_count && w->options->left_out[m])
            reason = "left out as asked";
        else if (w->out->sites[m] < 0 && w->meanings[m].kind == EXI_MARKER_COMPUTED)
            reason = "computed by another program, not a marker";
        if (!reason)
            continue;
        w->out->sites[m] = -1;
        w->meanings[m].kind = EXI_MARKER_COMPUTED;
        say(w, m, reason);
    }
}

/* Keeps only sites that were matched with markers. */
static void drop_sites(exi_capture_work *w) {
    ex_kinematics *kinematics = w->kinematics;
    int kept = 0;
    for (int s = 0; s < kinematics->site_count; s++) {
        int marker = -1;
        for (int m = 0; m < w->markers->marker_count; m++)
            if (w->out->sites[m] == s)
                marker = m;
        if (marker < 0) {
            free(kinematics->sites[s].name);
            continue;
        }
        w->out->sites[marker] = -2 - kept; /* below -1 until renumbered */
        kinematics->sites[kept++] = kinematics->sites[s];
    }
    kinematics->site_count = kept;
    for (int m = 0; m < w->markers->marker_count; m++)
        w->out->sites[m] = w->out->sites[m] < -1 ? -2 - w->out->sites[m] : -1;
}

ex_result exi_capture_match_all(exi_capture_work *w) {
    for (int m = 0; m < w->markers->marker_count; m++)
        w->meanings[m] = exi_marker_look_up(w->markers->names[m]);
    const ex_result result = settle_sides(w);
    if (result != EX_OK)
        return result;
    ex_capture_match(w->kinematics, w->markers, w->out->sites);
    refuse(w);
    if (!add_known(w))
        return exi_capture_no_memory(w);
    drop_sites(w);
    settle_toes(w);
    return EX_OK;
}

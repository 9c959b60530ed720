/*
 * Checks whether the body that was made is one. The figure, as carried, is the measure: bones and edges of the body may
 * differ from it by so much and not more. Edges count as torn if they are longer than 25 mm and four times those of the
 * figure. Folds of a squat reach that with a few edges, where no scan sees the skin; two in a thousand are a tear.
 */
#include "author/base/array.h"
#include "author/scan/fit/fit_body.h"
#include "author/scan/person/person.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Metres: no body if the rig is farther from all scans in their own poses, or from one; a bone is longer or shorter
 * than the figure's by this share and this length. */
static const double far_all = 0.015, far_one = 0.03, bone_share = 0.35, bone_least = 0.04;
static const double torn_times = 4, torn_least = 0.025, edge_least = 0.002;
static const double torn_share = 0.002; /* of all edges */
/* A joint's skin is unseen if less than this share of it was, with this confidence; a bone is a limb's if it is longer
 * than this share of the longest. */
static const double seen_share = 0.15, seen_sure = 0.3, limb_share = 0.45;

static double bone_length(const ex_kinematics *k, int joint) {
    const double *t = k->joints[joint].translation;
    return sqrt(exi_dot3(t, t));
}

static ex_result check_bones(const exi_body_check *c, ex_error *error) {
    const ex_kinematics *found = c->body->articulated->kinematics;
    ex_result result = ex_error_within(error, exi_fit_check_bones(found, error), "%s", c->session->folder);
    for (int j = 1; j < found->joint_count && result == EX_OK; j++) {
        const int other = ex_kinematics_find_joint(c->carried, found->joints[j].name);
        const double now = bone_length(found, j), was = other > 0 ? bone_length(c->carried, other) : now;
        if (fabs(now - was) > bone_share * was && fabs(now - was) > bone_least)
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "%s: this is no body: the bone to %s is %.0f mm long, where %.0f mm would fit the "
                                  "person's figure; look at the registered scans",
                                  c->session->folder, found->joints[j].name, 1000 * now, 1000 * was);
    }
    return result;
}

static ex_result check_distances(const exi_body_check *c, ex_error *error) {
    const ex_scan_body *body = c->body;
    const ex_left_out all = ex_left_outs_sum(body->measured, 0, body->scan_count);
    const char *name = c->session->scans[body->scans[body->wrong]].name;
    const double worst = body->measured->forms[body->wrong].skinned_rms; /* layers would follow a scan anywhere */
    if (!(worst < far_one))
        return ex_error_set(error, EX_ERROR_DATA,
                            "%s: scan '%s' does not fit the body: in its own pose, the rig is %.0f mm (rms) from it, "
                            "and %.0f mm from all; take it out of scan.json, or name its markers or landmarks again",
                            c->session->folder, name, 1000 * worst, 1000 * all.skinned_rms);
    if (!(all.skinned_rms < far_all))
        return ex_error_set(error, EX_ERROR_DATA,
                            "%s: this is no body: in the poses of the scans, the rig is %.0f mm (rms) from them, worst "
                            "in '%s'; look at the registered scans",
                            c->session->folder, 1000 * all.skinned_rms, name);
    return EX_OK;
}

/* The scan farthest from the rig. */
static int worst_scan(const ex_scan_body *body) {
    int worst = 0;
    for (int i = 1; i < body->scan_count; i++)
        worst = body->measured->forms[i].skinned_rms > body->measured->forms[worst].skinned_rms ? i : worst;
    return worst;
}

/* ---- tears ---- */

static double edge_length(const float *positions, int a, int b) {
    double square = 0;
    for (int i = 0; i < 3; i++) {
        const double d = (double)positions[3 * a + i] - (double)positions[3 * b + i];
        square += d * d;
    }
    return sqrt(square);
}

static int leader_of(const ex_articulated *a, int vertex) {
    const size_t most = (size_t)a->influence_count;
    size_t best = (size_t)vertex * most;
    for (size_t i = best; i < ((size_t)vertex + 1) * most; i++)
        best = a->weights[i] > a->weights[best] ? i : best;
    return a->joints[best];
}

/* Counts the torn edges of a form [vertex_count][3]; the longest begins at *vertex. */
static int count_torn(const exi_body_check *c, const float *positions, int *vertex, double *length) {
    const ex_mesh *mesh = c->body->mesh;
    int count = 0;
    *length = 0;
    for (int f = 0; f < mesh->face_count; f++)
        for (int i = mesh->face_offsets[f]; i < mesh->face_offsets[f + 1]; i++) {
            const int a = mesh->corners[i],
                      b = mesh->corners[i + 1 < mesh->face_offsets[f + 1] ? i + 1 : mesh->face_offsets[f]];
            double away[3];
            exi_subtract(c->rest + 3 * (size_t)a, c->rest + 3 * (size_t)b, away);
            const double now = edge_length(positions, a, b), was = fmax(edge_least, sqrt(exi_dot3(away, away)));
            if (a > b || (now < torn_least || now < torn_times * was)) /* from one of its two faces */
                continue;
            count++;
            *vertex = now > *length ? a : *vertex;
            *length = now > *length ? now : *length;
        }
    return count;
}

/* One bad scan tears the body in all poses, so the one that fits least is to blame. */
static ex_result check_tears(const exi_body_check *c, ex_error *error) {
    const ex_scan_body *body = c->body;
    const int allowed = (int)(torn_share * 0.5 * body->mesh->corner_count); /* an edge has two faces */
    int most = allowed, vertex = 0;
    double length = 0;
    for (int s = 0; s < body->scan_count; s++) {
        int at = 0;
        double longest = 0;
        const int count = count_torn(c, body->measured->positions[s], &at, &longest);
        if (count <= most)
            continue;
        most = count;
        vertex = at;
        length = longest;
    }
    if (most <= allowed)
        return EX_OK;
    return ex_error_set(error, EX_ERROR_DATA,
                        "%s: this is no body: its skin is torn at %s, where %d edges are four times as long as in the "
                        "figure, the longest %.0f mm; scan '%s' fits least: name its markers or landmarks again, or "
                        "take it out of scan.json",
                        c->session->folder,
                        body->articulated->kinematics->joints[leader_of(body->articulated, vertex)].name, most,
                        1000 * length, c->session->scans[body->scans[body->wrong]].name);
}

/* ---- limbs ---- */

/* Finds joints whose skin no scan shows. */
static ex_result find_unseen(const exi_body_check *c, ex_error *error) {
    const ex_articulated *a = c->body->articulated;
    const size_t joints = (size_t)a->kinematics->joint_count;
    int *all = calloc(2 * joints, sizeof *all), *seen = all ? all + joints : NULL;
    bool *unseen = c->body->unseen = calloc(joints, sizeof *unseen);
    const bool good = all && unseen;
    for (int v = 0; good && v < a->vertex_count; v++) {
        const int joint = leader_of(a, v);
        bool shown = false;
        for (int s = 0; s < c->body->scan_count; s++)
            shown = shown || (double)c->confidences[s][v] >= seen_sure;
        all[joint]++;
        seen[joint] += shown;
    }
    for (size_t j = 0; good && j < joints; j++)
        unseen[j] = all[j] > 0 && (double)seen[j] < seen_share * all[j];
    free(all);
    return good ? EX_OK : ex_error_memory(error, "the body", joints * sizeof *all);
}

/* Refuses a body with a limb that no scan shows. Hands, feet and the like are named by the caller. */
static ex_result check_limbs(const exi_body_check *c, ex_error *error) {
    const ex_kinematics *k = c->body->articulated->kinematics;
    double longest = 0;
    for (int j = 1; j < k->joint_count; j++)
        longest = fmax(longest, bone_length(k, j));
    for (int j = 1; j < k->joint_count; j++) {
        const int above = k->joints[j].parent;
        if (!c->body->unseen[above] || bone_length(k, j) < limb_share * longest)
            continue;
        c->body->wrong = 0;
        return ex_error_set(error, EX_ERROR_DATA,
                            "%s: no scan shows the limb from %s to %s, so it would be the template's and not the "
                            "person's; scan it, or look whether the scans are cut off there",
                            c->session->folder, k->joints[above].name, k->joints[j].name);
    }
    return EX_OK;
}

ex_result exi_person_check(const exi_body_check *check, ex_error *error) {
    ex_scan_body *body = check->body;
    body->wrong = worst_scan(body);
    ex_result result = find_unseen(check, error);
    if (result == EX_OK)
        result = check_limbs(check, error);
    if (result == EX_OK)
        result = check_bones(check, error);
    if (result == EX_OK)
        result = check_distances(check, error);
    if (result == EX_OK)
        result = check_tears(check, error);
    if (result == EX_OK)
        body->wrong = -1;
    return result;
}

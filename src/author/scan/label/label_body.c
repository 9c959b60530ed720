/*
 * Builds the body for labelling: rigid parts, each with its placed sites, and the agreement of their colours with those
 * of the found markers. A joint that is not solved forms one part with its parent.
 */
#include "author/scan/label/label.h"

#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/colour.h>

#include <string.h>

#define DEGREE 0.017453292519943295
/* The search for poses ignores found markers whose colour is less likely a site's than this. */
#define ALIKE (-1.5)

/* ---- rotations ---- */

static void conjugate(const double q[4], double out[4]) {
    for (int i = 0; i < 3; i++)
        out[i] = -q[i];
    out[3] = q[3];
}

/* ---- making ---- */

static bool is_solved(const ex_label_def *def, int joint) {
    const ex_kin_joint *j = &def->kinematics->joints[joint];
    return j->parent < 0 || (j->freedom != EX_FREEDOM_FIXED && (!def->solved || def->solved[joint]));
}

/* Finds the parts, and the positions of joints in them. */
static void find_parts(exi_label_body *body) {
    const ex_kinematics *k = body->def->kinematics;
    for (int j = 0; j < k->joint_count; j++) {
        const ex_kin_joint *joint = &k->joints[j];
        double from_part[3] = {0, 0, 0}; /* position of the joint relative to the parent's part */
        if (joint->parent >= 0)
            for (int i = 0; i < 3; i++)
                from_part[i] = body->at[joint->parent][i] + joint->translation[i];
        if (!is_solved(body->def, j)) {
            body->part_of[j] = body->part_of[joint->parent];
            memcpy(body->at[j], from_part, sizeof from_part);
            continue;
        }
        exi_label_part *part = &body->parts[body->part_count];
        *part = (exi_label_part){.joint = j,
                                 .parent = joint->parent < 0 ? -1 : body->part_of[joint->parent],
                                 .freedom = joint->freedom,
                                 .least = joint->least * DEGREE,
                                 .most = joint->most * DEGREE};
        memcpy(part->centre, from_part, sizeof from_part);
        memcpy(part->axis, joint->axis, sizeof part->axis);
        if (joint->freedom == EX_FREEDOM_HINGE && !exi_unit3(part->axis))
            part->freedom = EX_FREEDOM_BALL; /* the axis is missing */
        body->part_of[j] = body->part_count++;
    }
}

static void find_sites(exi_label_body *body) {
    const ex_label_def *def = body->def;
    const ex_kinematics *k = def->kinematics;
    for (int p = 0; p < body->part_count; p++) {
        body->parts[p].first = body->site_count;
        for (int s = 0; s < k->site_count; s++) {
            const ex_site *from = &k->sites[s];
            if (!from->placed || body->part_of[from->joint] != p)
                continue;
            exi_label_site *site = &body->sites[body->site_count++];
            const double sigma = def->site_sigmas && def->site_sigmas[s] > 0 ? def->site_sigmas[s] : def->sigma;
            ex_colour colour = {from->colour[0], from->colour[1], from->colour[2], 1};
            *site = (exi_label_site){.site = s, .part = p, .variance = sigma * sigma};
            for (int i = 0; i < 3; i++)
                site->local[i] = body->at[from->joint][i] + from->local[i];
            site->coloured = from->colour[0] || from->colour[1] || from->colour[2];
            if (def->colours) {
                const double *seen = def->colours[s];
                site->coloured = seen[0] >= 0;
                colour = site->coloured ? (ex_colour){(unsigned char)(seen[0] + 0.5), (unsigned char)(seen[1] + 0.5),
                                                      (unsigned char)(seen[2] + 0.5), 1}
                                        : colour;
            }
            ex_colour_to_oklab(colour, site->lab);
        }
        body->parts[p].count = body->site_count - body->parts[p].first;
    }
}

/* About one colour in eight is right by chance; one marker in fifty has a meaningless colour. */
static void find_gains(exi_label_body *body, const double (*labs)[3]) {
    const ex_label_def *def = body->def;
    const double spread = def->colour * def->colour;
    for (int s = 0; s < body->site_count; s++)
        for (int f = 0; f < def->found_count; f++) {
            const exi_label_site *site = &body->sites[s];
            const double *lab = labs[f], lightness = 0.5 * (lab[0] - site->lab[0]), a = lab[1] - site->lab[1],
                         b = lab[2] - site->lab[2];
            const double apart = lightness * lightness + a * a + b * b;
            double *gain = &body->colour_gains[(size_t)s * (size_t)def->found_count + (size_t)f];
            *gain = site->coloured ? log(0.98 * 6 * exp(-0.5 * apart / spread) + 0.02) : 0;
            if (def->known && def->known[f] >= 0 && def->known[f] != site->site)
                *gain = -INFINITY;
        }
    for (int s = 0; s < body->site_count && def->known; s++)
        for (int f = 0; f < def->found_count; f++) /* a site that is known is no other marker */
            if (def->known[f] == body->sites[s].site)
                for (int g = 0; g < def->found_count; g++)
                    body->colour_gains[(size_t)s * (size_t)def->found_count + (size_t)g] = g == f ? 0 : -INFINITY;
    int next = 0;
    for (int s = 0; s < body->site_count; s++) {
        body->sites[s].first = next;
        for (int f = 0; f < def->found_count; f++)
            if (body->colour_gains[(size_t)s * (size_t)def->found_count + (size_t)f] > ALIKE)
                body->alike[next++] = f;
        body->sites[s].count = next - body->sites[s].first;
    }
}

/* Density of found markers that are not sites: some false ones, and those of sites that are not placed. */
static void find_density(exi_label_body *body) {
    const ex_label_def *def = body->def;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, volume = 1;
    for (int f = 0; f < def->found_count; f++)
        for (int i = 0; i < 3; i++) {
            const double x = def->found[f].position[i];
            low[i] = x < low[i] ? x : low[i];
            high[i] = x > high[i] ? x : high[i];
        }
    for (int i = 0; i < 3; i++)
        volume *= high[i] - low[i] > 0.2 ? high[i] - low[i] : 0.2;
    const double unplaced = 1 - (double)body->site_count / (def->kinematics->site_count + 1e-9);
    body->density = (1 + (0.05 + 0.6 * unplaced) * def->found_count) / (0.5 * volume);
    for (int s = 0; s < body->site_count; s++)
        body->sites[s].peak = -1.5 * log(6.283185307179586 * body->sites[s].variance) - log(body->density);
}

ex_result exi_label_body_create(const ex_label_def *def, exi_arena *arena, exi_label_body *body, ex_error *error) {
    const ex_kinematics *k = def->kinematics;
    const size_t joints = (size_t)k->joint_count, sites = (size_t)k->site_count, found = (size_t)def->found_count;
    double(*labs)[3] = exi_arena_allocate(arena, found, sizeof *labs);
    *body = (exi_label_body){.def = def, .slack = def->slack, .tilt = def->tilt * DEGREE};
    body->parts = exi_arena_allocate(arena, joints, sizeof *body->parts);
    body->part_of = exi_arena_allocate(arena, joints, sizeof *body->part_of);
    body->at = exi_arena_allocate(arena, joints, sizeof *body->at);
    body->sites = exi_arena_allocate(arena, sites, sizeof *body->sites);
    body->colour_gains = exi_arena_allocate(arena, sites * found, sizeof *body->colour_gains);
    body->alike = exi_arena_allocate(arena, sites * found, sizeof *body->alike);
    body->matches = exi_arena_allocate(arena, sites, sizeof *body->matches);
    body->taken = exi_arena_allocate(arena, found, sizeof *body->taken);
    body->elsewhere = exi_arena_allocate(arena, joints, sizeof *body->elsewhere);
    if (!body->matches || !body->taken || !body->elsewhere || !body->parts || !body->part_of || !body->at ||
        !body->sites || !labs || !body->alike || !body->colour_gains)
        return ex_error_memory(error, "the sites of markers", sites * found * sizeof *body->colour_gains);
    for (int f = 0; f < def->found_count; f++) {
        unsigned char code[3];
        for (int i = 0; i < 3; i++) {
            const double c = def->found[f].colour[i];
            code[i] = (unsigned char)(c > 0 ? (c < 255 ? c + 0.5 : 255) : 0);
        }
        ex_colour_to_oklab((ex_colour){code[0], code[1], code[2], 1}, labs[f]);
    }
    find_parts(body);
    find_sites(body);
    find_gains(body, labs);
    find_density(body);
    return EX_OK;
}

/* ---- places ---- */

void exi_label_hang(const exi_label_body *body, int part, const exi_label_place *parent, const double turn[4],
                    exi_label_place *place) {
    exi_rotate(parent->rotation, body->parts[part].centre, place->at);
    for (int i = 0; i < 3; i++)
        place->at[i] += parent->at[i];
    exi_quaternion_multiply(parent->rotation, turn, place->rotation);
}

void exi_label_from_pose(const exi_label_body *body, const ex_kin_pose *pose, exi_label_place *places) {
    for (int p = 0; p < body->part_count; p++) {
        const exi_label_part *part = &body->parts[p];
        double turn[4];
        memcpy(turn, pose->rotations[part->joint], sizeof turn);
        if (!exi_normalise(turn, 4))
            memcpy(turn, (double[4]){0, 0, 0, 1}, sizeof turn);
        if (part->parent < 0) {
            memcpy(places[p].rotation, turn, sizeof turn);
            memcpy(places[p].at, pose->translation, sizeof places[p].at);
        } else {
            exi_label_hang(body, p, &places[part->parent], turn, &places[p]);
        }
    }
}

void exi_label_turn(const exi_label_body *body, int part, const exi_label_place *places, double turn[4]) {
    const int parent = body->parts[part].parent;
    if (parent < 0) {
        memcpy(turn, places[part].rotation, 4 * sizeof *turn);
        return;
    }
    double back[4];
    conjugate(places[parent].rotation, back);
    exi_quaternion_multiply(back, places[part].rotation, turn);
}

void exi_label_to_pose(const exi_label_body *body, const exi_label_place *places, ex_kin_pose *pose) {
    for (int j = 0; j < body->def->kinematics->joint_count; j++)
        memcpy(pose->rotations[j], (double[4]){0, 0, 0, 1}, 4 * sizeof(double));
    for (int p = 0; p < body->part_count; p++) {
        const exi_label_part *part = &body->parts[p];
        double turn[4];
        exi_label_turn(body, p, places, turn);
        if (part->freedom == EX_FREEDOM_HINGE)
            exi_twist(turn, part->axis, pose->rotations[part->joint]);
        else
            memcpy(pose->rotations[part->joint], turn, sizeof turn);
    }
    memcpy(pose->translation, places[0].at, sizeof pose->translation);
}

void exi_label_predict(const exi_label_site *site, const exi_label_place *place, double position[3]) {
    exi_rotate(place->rotation, site->local, position);
    for (int i = 0; i < 3; i++)
        position[i] += place->at[i];
}

bool exi_label_same(const exi_label_place *a, const exi_label_place *b, double metres, double radians) {
    double apart[3], cosine = 0;
    exi_subtract(a->at, b->at, apart);
    for (int i = 0; i < 4; i++)
        cosine += a->rotation[i] * b->rotation[i];
    return exi_dot3(apart, apart) < metres * metres && fabs(cosine) > cos(0.5 * radians);
}

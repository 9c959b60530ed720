/*
 * Finds the widths of a template's rings. They start as usual for the length of their bones; then reach out to the
 * markers, which are on the skin. With scans of the reference pose, rays from the middle of a ring then find the
 * surface: the median of a few rays around each control point, of hits on the inside of a face that looks outwards, not
 * much nearer nor much farther than expected, so that a ray from an arm does not end across the gap between arm and
 * torso. Spokes without a hit take their width from the other side of the body, from the ring, or from neighbouring
 * rings.
 */
#include "author/mesh/mesh_search.h"
#include "author/scan/template/template.h"

#include "author/base/array.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Range of valid hits, in expected radii. */
#define NEAREST  0.45
#define FARTHEST 1.9
/* Least cosine between ray and normal for a face to look outwards. */
#define OUTWARDS 0.25
/* Offsets of the rays around a spoke: sideways as tangents of angles, and along the bone in radii. */
#define ASIDE 0.15
#define ALONG 0.20
/* Range of a closed end, in lengths of its bone. */
#define TIP_NEAREST  0.4
#define TIP_FARTHEST 1.8

/* ---- markers ---- */

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *numbers, int count) {
    qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
    return count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

#define SITES_MOST 64

double exi_width_by_sites(const ex_kinematics *kinematics, const exi_bones *bones, int bone,
                          double (*usual)(const void *context, const double p[3]), const void *context) {
    const exi_bone *own = &bones->all[bone];
    double ratios[SITES_MOST];
    int count = 0;
    for (int i = 0; i < kinematics->site_count && count < SITES_MOST; i++) {
        const ex_site *site = &kinematics->sites[i];
        if (!site->placed || (site->joint != bone && site->joint != own->twist))
            continue;
        double p[3], away[3];
        exi_along(bones->all[site->joint].place, site->local, 1, p);
        exi_subtract(p, own->place, away);
        const double along = exi_dot3(away, own->direction);
        if (along < -0.1 * own->length || along > 1.1 * own->length)
            continue;
        exi_along(away, own->direction, -along, away);
        const double expected = usual(context, p), ratio = sqrt(exi_dot3(away, away)) / expected;
        if (expected > 0 && isfinite(ratio))
            ratios[count++] = ratio;
    }
    if (count < 2)
        return 1;
    const double ratio = median(ratios, count);
    return ratio < 0.5 ? 0.5 : ratio > 2.5 ? 2.5 : ratio;
}

double exi_sites_reach(const ex_kinematics *kinematics, int joint, double direction[3]) {
    double sum[3] = {0}, most = 0;
    for (int i = 0; i < kinematics->site_count; i++) {
        const ex_site *site = &kinematics->sites[i];
        if (site->placed && site->joint == joint && isfinite(site->local[0] + site->local[1] + site->local[2]))
            exi_along(sum, site->local, 1, sum);
    }
    if (!exi_unit3(sum))
        return 0;
    for (int i = 0; i < kinematics->site_count; i++) {
        const ex_site *site = &kinematics->sites[i];
        const double reach = exi_dot3(site->local, sum);
        most = site->placed && site->joint == joint && isfinite(reach) && reach > most ? reach : most;
    }
    memcpy(direction, sum, sizeof sum);
    return most;
}

/* ---- surfaces ---- */

/* True if the triangle faces along the direction, which has unit length. */
static bool looks_along(const exi_search *s, int triangle, const double direction[3]) {
    double normal[3];
    return exi_search_normal(s, triangle, normal) && exi_dot3(normal, direction) >= OUTWARDS;
}

/* Returns the nearest hit of any surface between the two distances; NAN: none. */
static double shoot(const exi_search *surfaces, int count, const double from[3], const double direction[3],
                    double nearest, double farthest) {
    double best = NAN;
    for (int i = 0; i < count; i++) {
        ex_ray ray = {.t_min = (float)nearest, .t_max = (float)farthest};
        ex_hit hit;
        for (int c = 0; c < 3; c++) {
            ray.origin[c] = (float)from[c];
            ray.direction[c] = (float)direction[c];
        }
        while (ex_bounds_ray(surfaces[i].bounds, &ray, &hit)) {
            if (looks_along(&surfaces[i], hit.triangle, direction)) {
                best = isnan(best) || (double)hit.t < best ? (double)hit.t : best;
                break;
            }
            if (!(hit.t < ray.t_max))
                break;
            ray.t_min = nextafterf(hit.t, INFINITY);
        }
    }
    return best;
}

/* Returns the median of five rays: to the point itself, and to both sides of it across and along the bone. */
static double measure(const exi_search *surfaces, int count, const exi_spoke *spoke, const double along[3],
                      const exi_cage_carry *carry) {
    static const double places[5][2] = {{0, 0}, {ASIDE, 0}, {-ASIDE, 0}, {0, ALONG}, {0, -ALONG}};
    const double radius = spoke->radius;
    double across[3], found[5];
    int hits = 0;
    exi_cross(along, spoke->direction, across);
    for (int i = 0; i < 5; i++) {
        double from[3], direction[3];
        exi_along(spoke->centre, along, places[i][1] * radius, from);
        exi_along(spoke->direction, across, places[i][0], direction);
        exi_unit3(direction);
        double turn[4];
        exi_cage_carry_point(carry, &spoke->share, from, from, turn);
        exi_rotate(turn, direction, direction);
        const double t = shoot(surfaces, count, from, direction, NEAREST * radius, FARTHEST * radius);
        if (!isnan(t))
            found[hits++] = t;
    }
    return hits >= 2 ? median(found, hits) / radius : NAN;
}

/* ---- tips ---- */

/* Returns the distance of a closed end; NAN: no ray hits. Uses parallel rays, since there are gaps between fingers. */
static double measure_tip(const exi_plan *plan, const exi_search *surfaces, int count, const exi_tip *tip,
                          const exi_cage_carry *carry) {
    const exi_bone *bone = &plan->bones->all[tip->bone];
    double found[1 + EXI_TRUNK_POINTS];
    int hits = 0;
    for (int i = -1; i < tip->count; i++) {
        double from[3], direction[3], turn[4];
        const exi_spoke *spoke = &plan->spokes[tip->first + (i < 0 ? 0 : i)];
        exi_along(bone->place, spoke->direction, i < 0 ? 0 : 0.4 * spoke->radius, from);
        exi_cage_carry_point(carry, &spoke->share, from, from, turn);
        exi_rotate(turn, bone->direction, direction);
        const double t =
            shoot(surfaces, count, from, direction, TIP_NEAREST * bone->length, TIP_FARTHEST * bone->length);
        if (!isnan(t))
            found[hits++] = t;
    }
    return hits >= 2 ? median(found, hits) : NAN;
}

/* Moves rings at tips to the end of the surface, minus part of their radius, since caps are round; the same on both
 * sides. */
static void move_tips(exi_plan *plan, const exi_search *surfaces, int count, const exi_cage_carry *carry) {
    for (int i = 0; i < plan->tip_count; i++) {
        const exi_tip *tip = &plan->tips[i], *other = tip;
        for (int k = 0; k < plan->tip_count; k++)
            other = plan->tips[k].first == plan->spokes[tip->first].mirror ? &plan->tips[k] : other;
        const double a = measure_tip(plan, surfaces, count, tip, carry);
        const double b = measure_tip(plan, surfaces, count, other, carry);
        const double reach = isnan(a) ? b : isnan(b) ? a : (a + b) / 2;
        const exi_bone *bone = &plan->bones->all[tip->bone];
        for (int k = tip->first; k < tip->first + tip->count && !isnan(reach); k++)
            exi_along(bone->place, bone->direction, reach - EXI_TIP_ROUND * plan->spokes[k].radius,
                      plan->spokes[k].centre);
        for (int k = tip->middle; k >= 0 && k < tip->middle + tip->count && !isnan(reach); k++)
            exi_along(bone->place, bone->direction, reach / 2, plan->spokes[k].centre);
    }
}

/* ---- spokes without a hit ---- */

/* Makes both sides of the body agree. */
static void agree(exi_plan *plan) {
    for (int i = 0; i < plan->spoke_count; i++) {
        exi_spoke *own = &plan->spokes[i];
        if (own->mirror <= i)
            continue;
        double *a = &own->ratio, *b = &plan->spokes[own->mirror].ratio;
        *a = *b = isnan(*a) ? *b : isnan(*b) ? *a : (*a + *b) / 2;
    }
}

/* Takes the mean of known neighbours along faces' edges, in rounds. */
static void spread(exi_plan *plan, double *sums, int *counts) {
    for (int round = 0; round < plan->ring_count; round++) {
        int missing = 0;
        for (int i = 0; i < plan->spoke_count; i++) {
            sums[i] = 0;
            counts[i] = 0;
        }
        for (int f = 0; f < plan->face_count; f++)
            for (int k = 0; k < 4; k++) {
                const int a = plan->faces[f].corners[k], b = plan->faces[f].corners[(k + 1) % 4];
                const int pairs[2][2] = {{a, b}, {b, a}};
                for (int side = 0; side < 2; side++)
                    if (!isnan(plan->spokes[pairs[side][1]].ratio)) {
                        sums[pairs[side][0]] += plan->spokes[pairs[side][1]].ratio;
                        counts[pairs[side][0]]++;
                    }
            }
        for (int i = 0; i < plan->spoke_count; i++)
            if (isnan(plan->spokes[i].ratio)) {
                plan->spokes[i].ratio = counts[i] > 0 ? sums[i] / counts[i] : NAN;
                missing += counts[i] == 0;
            }
        if (missing == 0)
            break;
    }
}

/* Finds the direction across the ring: its points' mean direction has no component along the bone. */
static void find_along(const exi_plan *plan, int spoke, double along[3]) {
    const exi_spoke *own = &plan->spokes[spoke];
    double best[3] = {0};
    for (int i = 0; i < plan->spoke_count; i++) {
        double cross[3];
        if (plan->spokes[i].ring != own->ring)
            continue;
        exi_cross(own->direction, plan->spokes[i].direction, cross);
        if (exi_dot3(cross, cross) > exi_dot3(best, best))
            memcpy(best, cross, sizeof best);
    }
    exi_unit3(best);
    memcpy(along, best, sizeof best);
}

static ex_result open_surfaces(exi_search *surfaces, const ex_mesh *const *scans, int count, ex_error *error) {
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < count; i++)
        result =
            ex_error_within(error, exi_search_make(&surfaces[i], &scans[i], 1, error), "scan %d of the reference", i);
    return result;
}

ex_result exi_widths_by_scans(exi_plan *plan, const exi_cage_carry *carry, const ex_mesh *const *scans, int scan_count,
                              ex_error *error) {
    exi_search *surfaces = calloc((size_t)scan_count + 1, sizeof *surfaces);
    double *sums = exi_array_allocate((size_t)plan->spoke_count, sizeof *sums);
    int *counts = exi_array_allocate((size_t)plan->spoke_count, sizeof *counts);
    ex_result result = surfaces && sums && counts ? open_surfaces(surfaces, scans, scan_count, error)
                                                  : ex_error_memory(error, "rays", (size_t)plan->spoke_count * 12);
    if (result == EX_OK) {
        move_tips(plan, surfaces, scan_count, carry);
        for (int i = 0; i < plan->spoke_count; i++) {
            double along[3];
            find_along(plan, i, along);
            plan->spokes[i].ratio = measure(surfaces, scan_count, &plan->spokes[i], along, carry);
        }
        agree(plan);
        spread(plan, sums, counts);
        agree(plan); /* sums of both sides run in different orders */
    }
    for (int i = 0; surfaces && i < scan_count; i++)
        exi_search_free(&surfaces[i]);
    free(surfaces);
    free(sums);
    free(counts);
    return result;
}

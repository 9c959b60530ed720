/*
 * Refuses skeletons that no person could have. With u the bones of the shipped skeletons, which are those of an adult
 * of 1.75 m, and s the size of this one, the median of |t| / u over thighs, shanks, arms and forearms:
 *
 *     0.45 m <= 1.75 m s <= 2.8 m,   0.45 u s - 3 cm s <= |t| <= 1.7 u s + 5 cm s,   | |t| - |t'| | <= 0.2 |t| + 2 cm s
 *
 * with t' the bone on the other side. Segments vary by 3 to 5 % of their length between adults of one stature, and
 * infants differ from adults by 25 to 40 %, so these limits are wide. Markers more than 3 cm s from their predictions
 * are not on the skin of one person either, nor are half of a bone's that are 6 cm s off.
 */
#include "author/scan/fit/fit_body.h"

#include "author/scan/fit/fit.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STATURE       1.75 /* metres, of the shipped skeletons */
#define LEAST_STATURE 0.45
#define MOST_STATURE  2.8
#define NOISE         0.03
#define ASTRAY        0.06
enum { LIMBS = 32 };

typedef struct body {
    const ex_kinematics *found;
    ex_kinematics *usual[2]; /* shipped */
    double scale;
    ex_error *error;
} body;

static double length_of(const ex_kin_joint *joint) {
    return sqrt(exi_dot3(joint->translation, joint->translation));
}

/* Returns the usual joint of the same name below a joint of the same name, or NULL. */
static const ex_kin_joint *usual_of(const body *b, int j) {
    const ex_kin_joint *joint = &b->found->joints[j];
    for (int i = 0; i < 2 && joint->parent >= 0; i++) {
        const int same = ex_kinematics_find_joint(b->usual[i], joint->name);
        if (same > 0 && strcmp(b->usual[i]->joints[b->usual[i]->joints[same].parent].name,
                               b->found->joints[joint->parent].name) == 0)
            return &b->usual[i]->joints[same];
    }
    return NULL;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Of limbs, whose joints turn most and are best seen; 0: the skeleton has none. */
static double find_scale(const body *b) {
    static const char *const limbs[] = {"elbow", "wrist", "knee", "ankle"};
    double ratios[LIMBS];
    int count = 0;
    for (int j = 1; j < b->found->joint_count && count < LIMBS; j++) {
        const ex_kin_joint *usual = usual_of(b, j);
        for (int i = 0; usual && i < 4; i++)
            if (strncmp(usual->name, limbs[i], strlen(limbs[i])) == 0)
                ratios[count++] = length_of(&b->found->joints[j]) / length_of(usual);
    }
    qsort(ratios, (size_t)count, sizeof *ratios, compare_doubles);
    return count > 0 ? ratios[count / 2] : 0;
}

static ex_result check_size(const body *b) {
    const double stature = STATURE * b->scale;
    if (stature >= LEAST_STATURE && stature <= MOST_STATURE)
        return EX_OK;
    return ex_error_set(b->error, EX_ERROR_DATA,
                        "the fitted skeleton is that of a person of %.3g m, and people are %.2g to %.2g m tall: scans "
                        "and labels must be in metres",
                        stature, LEAST_STATURE, MOST_STATURE);
}

static ex_result check_bone(const body *b, int j) {
    const ex_kin_joint *joint = &b->found->joints[j], *usual = usual_of(b, j);
    if (!usual)
        return EX_OK;
    const double length = length_of(joint), wanted = b->scale * length_of(usual);
    const double least = fmax(0, 0.45 * wanted - 0.03 * b->scale), most = 1.7 * wanted + 0.05 * b->scale;
    if (length >= least && length <= most)
        return EX_OK;
    return ex_error_set(b->error, EX_ERROR_DATA,
                        "the fit is not a person: %.0f mm from '%s' to '%s', where a person of %.2f m has %.0f to %.0f "
                        "mm. Look at the markers of these bones: names may be exchanged, or the table of markers "
                        "has them on other bones",
                        1000 * length, b->found->joints[joint->parent].name, joint->name, STATURE * b->scale,
                        1000 * least, 1000 * most);
}

static ex_result check_sides(const body *b, int j) {
    const ex_kin_joint *joint = &b->found->joints[j];
    const size_t size = strlen(joint->name);
    char name[80];
    if (!usual_of(b, j) || size < 3 || size >= sizeof name || strcmp(joint->name + size - 2, ".L") != 0)
        return EX_OK;
    memcpy(name, joint->name, size + 1);
    name[size - 1] = 'R';
    const int twin = ex_kinematics_find_joint(b->found, name);
    if (twin < 0)
        return EX_OK;
    const double left = length_of(joint), right = length_of(&b->found->joints[twin]);
    if (fabs(left - right) <= 0.2 * fmax(left, right) + 0.02 * b->scale)
        return EX_OK;
    return ex_error_set(
        b->error, EX_ERROR_DATA,
        "the fit is not a person: the bone to '%s' is %.0f mm, and the one to '%s' %.0f mm. Look at the "
        "markers of both sides: names may be exchanged, or the table of markers has them on "
        "other bones",
        joint->name, 1000 * left, name, 1000 * right);
}

static ex_result check_noise(const body *b, double noise) {
    if (noise <= NOISE * b->scale)
        return EX_OK;
    return ex_error_set(b->error, EX_ERROR_DATA,
                        "the markers do not fit one person: they are %.0f mm from where they are predicted, and skin "
                        "moves at most %.0f mm over bones. Names may be exchanged, or the table of markers has "
                        "them on other bones",
                        1000 * noise, 1000 * NOISE * b->scale);
}

/* Half of a bone's markers far off are on another bone. */
static ex_result check_markers(const body *b, const ex_kin_fit *fit, const ex_sighting *sightings,
                               size_t sighting_count) {
    double *values = malloc((sighting_count + 1) * sizeof *values);
    ex_result result = values ? EX_OK : ex_error_memory(b->error, "the fit", sighting_count * sizeof *values);
    for (int j = 0; j < b->found->joint_count && result == EX_OK; j++) {
        size_t count = 0;
        for (size_t i = 0; i < sighting_count; i++)
            if (b->found->sites[sightings[i].site].joint == j && isfinite(fit->errors[i]))
                values[count++] = fit->errors[i];
        qsort(values, count, sizeof *values, compare_doubles);
        if (count > 0 && values[count / 2] > ASTRAY * b->scale)
            result = ex_error_set(b->error, EX_ERROR_DATA,
                                  "the markers of '%s' do not fit one person: half of them are more than %.0f mm from "
                                  "where they are predicted. Names may be exchanged, or the table of markers has them "
                                  "on another bone",
                                  b->found->joints[j].name, 1000 * values[count / 2]);
    }
    free(values);
    return result;
}

static ex_result open_body(body *b) {
    ex_result result = ex_kinematics_read("full", &b->usual[0], b->error);
    if (result == EX_OK)
        result = ex_kinematics_read("upper", &b->usual[1], b->error);
    if (result == EX_OK)
        b->scale = find_scale(b);
    return result;
}

static void close_body(body *b) {
    ex_kinematics_destroy(b->usual[0]);
    ex_kinematics_destroy(b->usual[1]);
}

static ex_result check_bones(const body *b) {
    ex_result result = EX_OK;
    for (int j = 1; j < b->found->joint_count && result == EX_OK; j++) {
        result = check_bone(b, j);
        if (result == EX_OK)
            result = check_sides(b, j);
    }
    return result;
}

ex_result exi_fit_check_body(const ex_kin_fit *fit, const ex_sighting *sightings, size_t sighting_count,
                             ex_error *error) {
    body b = {.found = fit->kinematics, .error = error};
    ex_result result = open_body(&b);
    if (result == EX_OK && b.scale > 0) {
        result = check_size(&b);
        if (result == EX_OK)
            result = check_noise(&b, fit->noise);
        if (result == EX_OK)
            result = check_markers(&b, fit, sightings, sighting_count);
        if (result == EX_OK)
            result = check_bones(&b);
    }
    close_body(&b);
    return result;
}

ex_result exi_fit_check_bones(const ex_kinematics *kinematics, ex_error *error) {
    body b = {.found = kinematics, .error = error};
    ex_result result = open_body(&b);
    if (result == EX_OK && b.scale > 0) {
        result = check_size(&b);
        if (result == EX_OK)
            result = check_bones(&b);
    }
    close_body(&b);
    return result;
}

/*
 * Rotations as people type them: turns about a joint's own axes, each about the axis as left by the ones before it
 * (exi_turn), such as x30z-40. Any rotation is three turns about axes in any order,
 *
 *   R = R_i(a) R_j(b) R_k(c),   R_ik = s sin b,   R_ij = -s cos b sin c,   R_jk = -s sin a cos b,
 *
 * with s = 1 if i j k is x y z turned around, and else -1. Of the six orders, the first with the
 * shortest text is taken: it has the fewest turns, and the roundest numbers.
 */
#include "runtime/base/vector.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEGREES (180 / 3.14159265358979323846)

/* Finds the angles of an order of axes, in degrees. */
static void find_angles(const double m[9], const int axes[3], double s, double angles[3]) {
    const int i = axes[0], j = axes[1], k = axes[2];
    const double cosine = hypot(m[3 * i + i], m[3 * i + j]);
    angles[1] = DEGREES * atan2(s * m[3 * i + k], cosine);
    if (cosine > 1e-9) {
        angles[0] = DEGREES * atan2(-s * m[3 * j + k], m[3 * k + k]);
        angles[2] = DEGREES * atan2(-s * m[3 * i + j], m[3 * i + i]);
    } else { /* the first and the last axis are one */
        angles[0] = DEGREES * atan2(s * m[3 * k + j], m[3 * j + j]);
        angles[2] = 0;
    }
}

/* Writes turns about the axes of an order, and leaves out those that are zero. Returns the length. */
static size_t write_turns(char text[3 * 32], const int axes[3], const double angles[3], double unit) {
    size_t used = 0;
    for (int n = 0; n < 3; n++) {
        const double angle = round(angles[n] * unit) / unit;
        if (angle == 0)
            continue;
        text[used++] = "xyz"[axes[n]];
        used += (size_t)ex_format_double(text + used, angle);
    }
    return used;
}

const char *ex_format_rotation(char *text, size_t size, const double q[4], int decimals) {
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), unit = pow(10, decimals);
    char shortest[EX_ROTATION_SIZE] = "x0";
    size_t least = EX_ROTATION_SIZE;
    double m[9];
    exi_quaternion_matrix((const double[]){q[0] / length, q[1] / length, q[2] / length, q[3] / length}, m);
    for (int o = 0; o < 6; o++) {
        char words[3 * 32];
        double angles[3];
        find_angles(m, orders[o], o < 3 ? 1 : -1, angles);
        const size_t used = write_turns(words, orders[o], angles, unit);
        if (used > 0 && used < least) {
            memcpy(shortest, words, used + 1);
            least = used;
        }
    }
    snprintf(text, size, "%s", shortest);
    return text;
}

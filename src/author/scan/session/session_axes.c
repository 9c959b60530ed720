/*
 * Unit and up axis of a session's files: the keys of scan.json, and conversion of points to metres with y up.
 */
#include "author/scan/session/session.h"
#include "runtime/base/result.h"

#include <exemplar/author/project.h>

#include <string.h>

static const char *const ups[] = {"auto", "y", "z", "x", "-y", "-z", "-x"};
enum { UP_COUNT = sizeof ups / sizeof *ups };

static ex_result read_unit(exi_reader *r, const json_t *value, ex_scan_session *session) {
    const char *word = json_string_value(value);
    if (json_is_number(value) && json_number_value(value) >= EX_UNIT_LEAST &&
        json_number_value(value) <= EX_UNIT_MOST) {
        session->unit = json_number_value(value);
        return EX_OK;
    }
    if (word && (strcmp(word, "auto") == 0 || ex_unit_metres(word, &session->unit))) {
        session->unit_found = strcmp(word, "auto") == 0;
        return EX_OK;
    }
    return ex_error_set(r->error, EX_ERROR_DATA,
                        "unit: \"auto\", \"m\", \"cm\", \"mm\", \"in\", \"ft\" or a number of metres is needed here");
}

ex_result exi_scan_read_axes(exi_reader *r, const json_t *root, ex_scan_session *session) {
    const json_t *unit = json_object_get(root, "unit"), *up = json_object_get(root, "up");
    const exi_place whole = {""}, at = exi_place_key(&whole, "up");
    int choice = 0;
    session->unit_found = !unit;
    ex_result result = unit ? read_unit(r, unit, session) : EX_OK;
    if (result == EX_OK && up)
        result = exi_choose(r, up, &at, ups, UP_COUNT, &choice);
    session->up_found = choice == 0;
    if (result == EX_OK && choice > 0)
        memcpy(session->up, ups[choice], strlen(ups[choice]) + 1);
    return result;
}

const char *exi_scan_unit_name(double metres) {
    static const char *const names[] = {"m", "cm", "mm", "in", "ft", "dm", "km"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double own = 0;
        if (ex_unit_metres(names[i], &own) && own == metres)
            return names[i];
    }
    return NULL;
}

/* Proper rotations that keep as many axes as they can. */
void exi_scan_turn(const char *up, double turn[3][3]) {
    static const double y[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, z[3][3] = {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
                        x[3][3] = {{0, -1, 0}, {1, 0, 0}, {0, 0, 1}},
                        minus_y[3][3] = {{1, 0, 0}, {0, -1, 0}, {0, 0, -1}},
                        minus_z[3][3] = {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}},
                        minus_x[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
    const bool minus = up[0] == '-';
    const char axis = up[minus ? 1 : 0];
    memcpy(turn,
           axis == 'z'   ? (minus ? minus_z : z)
           : axis == 'x' ? (minus ? minus_x : x)
           : minus       ? minus_y
                         : y,
           sizeof y);
}

void ex_scan_from_files(const ex_scan_session *session, double point[3]) {
    const double unit = session->unit > 0 ? session->unit : 1, p[3] = {point[0], point[1], point[2]};
    double turn[3][3];
    exi_scan_turn(session->up, turn);
    for (int i = 0; i < 3; i++)
        point[i] = unit * (turn[i][0] * p[0] + turn[i][1] * p[1] + turn[i][2] * p[2]);
}

void ex_scan_to_files(const ex_scan_session *session, double point[3]) {
    const double unit = session->unit > 0 ? session->unit : 1, p[3] = {point[0], point[1], point[2]};
    double turn[3][3];
    exi_scan_turn(session->up, turn);
    for (int i = 0; i < 3; i++)
        point[i] = (turn[0][i] * p[0] + turn[1][i] * p[1] + turn[2][i] * p[2]) / unit;
}

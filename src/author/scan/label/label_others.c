/*
 * Predicts one marker from the others: its site's position without it, so that a marker that alone turns a hinge does
 * not confirm itself.
 *
 * With S the inverse of the normal equations of all matches, J the derivatives of the marker's own prediction, W its
 * weight over its variance and r its distance from the prediction, the equations without it have the inverse
 *
 *   S' = S + S J^T (W^-1 - J S J^T)^-1 J S,
 *
 * and the pose without it differs by -S' J^T W r, which is exact as far as predictions are linear. For a site with
 * derivatives K this gives a moved prediction and a covariance K S' K^T, of 3 by 3 blocks.
 */
#include "author/scan/label/label.h"

#include "runtime/base/vector.h"

/* J_a S J_b^T for the predictions of two points with arms a and b, on parts p and q. */
static void covariance(const exi_label_body *body, const double *inverse, int p, const double a[3], int q,
                       const double b[3], double c[3][3]) {
    const size_t n = 6 * (size_t)body->part_count;
    const double ja[3][6] = {{0, a[2], -a[1], 1, 0, 0}, {-a[2], 0, a[0], 0, 1, 0}, {a[1], -a[0], 0, 0, 0, 1}};
    const double jb[3][6] = {{0, b[2], -b[1], 1, 0, 0}, {-b[2], 0, b[0], 0, 1, 0}, {b[1], -b[0], 0, 0, 0, 1}};
    double half[3][6] = {{0}};
    for (int i = 0; i < 3; i++)
        for (int y = 0; y < 6; y++)
            for (int x = 0; x < 6; x++)
                half[i][y] += ja[i][x] * inverse[(6 * (size_t)p + (size_t)x) * n + 6 * (size_t)q + (size_t)y];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            c[i][j] = 0;
            for (int y = 0; y < 6; y++)
                c[i][j] += half[i][y] * jb[j][y];
        }
}

double exi_label_invert3(const double m[3][3], double inverse[3][3]) {
    double rows[3][3];
    exi_cross(m[1], m[2], rows[0]);
    exi_cross(m[2], m[0], rows[1]);
    exi_cross(m[0], m[1], rows[2]);
    const double determinant = exi_dot3(m[0], rows[0]);
    if (!(determinant > 0))
        return 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            inverse[i][j] = rows[j][i] / determinant;
    return determinant;
}

void exi_label_find_own(const exi_label_body *body, const double *inverse, const exi_label_place *places,
                        const exi_label_match *matches, int match_count, int found, exi_label_own *own) {
    const exi_label_match *match = NULL;
    own->part = -1;
    for (int m = 0; m < match_count; m++)
        if (matches[m].found == found && (!match || matches[m].weight > match->weight))
            match = &matches[m];
    if (!match)
        return;
    const exi_label_site *site = &body->sites[match->site];
    double c[3][3], rest[3][3], at[3], pull[3], moved[3];
    exi_rotate(places[site->part].rotation, site->local, own->arm);
    exi_label_predict(site, &places[site->part], at);
    covariance(body, inverse, site->part, own->arm, site->part, own->arm, c);
    for (int i = 0; i < 3; i++) {
        pull[i] = (body->def->found[found].position[i] - at[i]) * match->weight / site->variance;
        for (int j = 0; j < 3; j++)
            rest[i][j] = (i == j) * (site->variance / match->weight) * (1 + 1e-9) - c[i][j];
    }
    if (exi_label_invert3((const double(*)[3])rest, own->less) == 0)
        return;
    for (int i = 0; i < 3; i++)
        moved[i] = exi_dot3(c[i], pull);
    for (int i = 0; i < 3; i++)
        own->back[i] = pull[i] + exi_dot3(own->less[i], moved);
    own->part = site->part;
}

void exi_label_expect(const exi_label_body *body, const double *inverse, const exi_label_place *places,
                      const exi_label_own *own, int s, double at[3], double c[3][3]) {
    const exi_label_site *site = &body->sites[s];
    double arm[3];
    exi_rotate(places[site->part].rotation, site->local, arm);
    exi_label_predict(site, &places[site->part], at);
    covariance(body, inverse, site->part, arm, site->part, arm, c);
    if (own->part < 0)
        return;
    double cross[3][3], part[3][3];
    covariance(body, inverse, site->part, arm, own->part, own->arm, cross);
    for (int i = 0; i < 3; i++) {
        at[i] -= exi_dot3(cross[i], own->back);
        for (int j = 0; j < 3; j++)
            part[i][j] = cross[i][0] * own->less[0][j] + cross[i][1] * own->less[1][j] + cross[i][2] * own->less[2][j];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[i][j] += exi_dot3(part[i], cross[j]);
}

/*
 * Eyeballs and ears of the generic head, separate components of its mesh. Both are squares of quads mapped to a disc;
 * the eyeball is a cap of a sphere, the ear two discs joined at their rim.
 */
#include "face.h"

#include <exemplar/maths.h>

#define PI 3.14159265358979323846

enum { EYE = 10, EAR = 10 };

/* Maps a vertex of the square [0, n] x [0, n] to the unit disc. */
static void on_disc(int i, int j, int n, double *x, double *y) {
    double a = 2.0 * i / n - 1, b = 2.0 * j / n - 1;
    *x = a * sqrt(1 - b * b / 2);
    *y = b * sqrt(1 - a * a / 2);
}

void exi_face_add_eyes(exi_face *face) {
    /* The refined surface is inside its cage by this much, at this spacing. */
    const double radius = FACE_EYE_RADIUS * 1.012, reach = 105 * PI / 180;
    int texcoords[EYE + 1][EYE + 1], vertices[EYE + 1][EYE + 1];
    for (int right = 0; right < 2; right++) {
        for (int i = 0; i <= EYE; i++)
            for (int j = 0; j <= EYE; j++) {
                double x, y, sine, cosine;
                on_disc(i, j, EYE, &x, &y);
                double rho = sqrt(x * x + y * y);
                ex_sin_cos(reach * rho, &sine, &cosine);
                double k = rho > 0 ? sine / rho : 0;
                point p = {(right ? -1 : 1) * FACE_EYE_X + radius * k * x, radius * k * y,
                           FACE_EYE_Z + radius * cosine};
                vertices[i][j] = exi_face_add_vertex(face, p);
                face->paint[(size_t)vertices[i][j] * FACE_PAINT_COUNT + FACE_EYE] = 1;
                if (!right)
                    texcoords[i][j] =
                        exi_face_add_texcoord(face, FACE_EYE_U + FACE_ISLAND * x, FACE_ISLAND_V + FACE_ISLAND * y);
            }
        for (int i = 0; i < EYE; i++)
            for (int j = 0; j < EYE; j++)
                exi_face_add_polygon(
                    face, FACE_EYES, 4,
                    (int[]){vertices[i][j], vertices[i + 1][j], vertices[i + 1][j + 1], vertices[i][j + 1]},
                    (int[]){texcoords[i][j], texcoords[i + 1][j], texcoords[i + 1][j + 1], texcoords[i][j + 1]});
    }
}

static double bump(double x, double y, double cx, double cy, double width) {
    double a = (x - cx) / width, b = (y - cy) / width;
    return ex_exp(-(a * a + b * b));
}

/* A point of the left ear over the unit disc, x from the face to the back, y up. */
static point ear_point(double x, double y, bool back) {
    const double rho = sqrt(x * x + y * y);
    const point centre = {0.0812, -0.008, -0.020}, behind = {0.36, -0.03, -0.932}, up = {0.06, 0.98, -0.19},
                out = {0.93, -0.05, 0.36};
    /* the outline: broad above, a lobe below */
    double wide = 0.0175 * (1 + 0.16 * y - 0.16 * (y < 0 ? y * y : 0)), tall = 0.0315;
    double rim = smooth_step(-0.95, -0.2, x + 0.55 * y + 0.15) * smooth_step(-0.95, -0.45, y);
    double depth = 0.0060 * rim * ex_exp(-(rho - 0.93) * (rho - 0.93) / 0.018); /* the helix */
    depth -= 0.0032 * rim * ex_exp(-(rho - 0.70) * (rho - 0.70) / 0.012);
    depth += 0.0036 * bump(x, y, 0.30, 0.02, 0.34);   /* the fold inside it */
    depth -= 0.0065 * bump(x, y, -0.22, -0.14, 0.36); /* the shell */
    depth += 0.0045 * bump(x, y, -0.72, -0.14, 0.22) + 0.0015 * bump(x, y, 0, -0.8, 0.4);
    depth -= 0.0045 * smooth_step(-0.55, -1.0, x); /* the front edge is under the skin */
    if (back)
        depth = -0.0060 * (1 - rho * rho * rho * rho) - 0.014 * bump(x, y, -0.4, 0, 0.5) * (1 - rho * rho);
    point p = point_add(centre, point_add(point_scale(behind, wide * x), point_scale(up, tall * y)));
    return point_add(p, point_scale(out, depth));
}

void exi_face_add_ears(exi_face *face) {
    int vertices[2][EAR + 1][EAR + 1], texcoords[2][EAR + 1][EAR + 1];
    for (int right = 0; right < 2; right++) {
        for (int back = 0; back < 2; back++)
            for (int i = 0; i <= EAR; i++)
                for (int j = 0; j <= EAR; j++) {
                    double x, y;
                    on_disc(i, j, EAR, &x, &y);
                    if (!right)
                        texcoords[back][i][j] =
                            back ? exi_face_add_texcoord(face, FACE_EAR_BACK * (1.1 - x), FACE_EAR_BACK * (1.1 + y))
                                 : exi_face_add_texcoord(face, FACE_EAR_U + FACE_ISLAND * x,
                                                         FACE_ISLAND_V + FACE_ISLAND * y);
                    if (back && (i % EAR == 0 || j % EAR == 0)) {
                        vertices[1][i][j] = vertices[0][i][j];
                        continue;
                    }
                    point p = ear_point(x, y, back);
                    vertices[back][i][j] = exi_face_add_vertex(face, right ? point_mirror(p) : p);
                    face->paint[(size_t)vertices[back][i][j] * FACE_PAINT_COUNT + FACE_EAR] = 1;
                }
        for (int back = 0; back < 2; back++)
            for (int i = 0; i < EAR; i++)
                for (int j = 0; j < EAR; j++) {
                    /* Seen from outside, the left ear's front runs from right to left: reversed twice. */
                    const bool turn = right != back;
                    const int a = turn ? i + 1 : i, b = turn ? i : i + 1;
                    int(*v)[EAR + 1] = vertices[back], (*t)[EAR + 1] = texcoords[back];
                    exi_face_add_polygon(face, FACE_EARS, 4, (int[]){v[a][j], v[b][j], v[b][j + 1], v[a][j + 1]},
                                         (int[]){t[a][j], t[b][j], t[b][j + 1], t[a][j + 1]});
                }
    }
}

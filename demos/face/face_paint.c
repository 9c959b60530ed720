/*
 * Computes the colour of every place of a face in the demo `face`: skin with its redness and shadows, lips, brows,
 * lashes, hair, beard, lines of age, and the eyeball with its iris. Each is a soft mask over the generic head, in
 * millimetres, that blends one colour over another.
 */
#include "face.h"

#include <exemplar/maths.h>

double exi_face_turn(double y, double x) {
    double a = ex_angle(fabs(y), fabs(x));
    a = x < 0 ? 3.14159265358979323846 - a : a;
    return y < 0 ? -a : a;
}

static void lay(double colour[3], const double over[3], double amount) {
    amount = clamped(amount, 0, 1);
    for (int c = 0; c < 3; c++)
        colour[c] += amount * (over[c] - colour[c]);
}

static void multiply(double colour[3], double red, double green, double blue, double amount) {
    amount = clamped(amount, 0, 1);
    colour[0] *= 1 + amount * (red - 1);
    colour[1] *= 1 + amount * (green - 1);
    colour[2] *= 1 + amount * (blue - 1);
}

/* A soft spot around (x, y, z). */
static double spot(const face_place *p, double x, double y, double z, double width, double height) {
    double a = (fabs(p->x) - x) / width, b = (p->y - y) / height, c = (p->z - z) / (width > height ? width : height);
    double far = a * a + b * b + 0.5 * c * c;
    return far > 16 ? 0 : ex_exp(-far);
}

/* A line on the front of the face through four places, `width` thick: 1 on it. */
static double line_through(const face_place *p, const double at[4][2], double width) {
    double least = 1e9;
    for (int i = 0; i < 3; i++) {
        double dx = at[i + 1][0] - at[i][0], dy = at[i + 1][1] - at[i][1];
        double x = fabs(p->x) - at[i][0], y = p->y - at[i][1];
        double t = clamped((x * dx + y * dy) / (dx * dx + dy * dy), 0, 1);
        double d = (x - t * dx) * (x - t * dx) + (y - t * dy) * (y - t * dy);
        least = d < least ? d : least;
    }
    return ex_exp(-least / (width * width)) * smooth_step(25, 45, p->z);
}

/* ---- the eyeball ---- */

static void paint_eye(const face_place *p, const face_style *style, double colour[3]) {
    const double r = 1000 * FACE_EYE_RADIUS;
    const double x = (p->x < 0 ? p->x + 1000 * FACE_EYE_X : p->x - 1000 * FACE_EYE_X) / r, y = p->y / r;
    const double rho = sqrt(x * x + y * y), iris = 0.44, pupil = 0.165;
    const bool front = p->z > 1000 * FACE_EYE_Z;
    const double white[3] = {0.93, 0.91, 0.885}, vein[3] = {0.86, 0.62, 0.57}, black[3] = {0.03, 0.025, 0.025};
    lay(colour, white, 1);
    lay(colour, vein, 0.55 * smooth_step(0.55, 0.95, fabs(x)) + (front ? 0 : 1));
    double turn = exi_face_turn(y, x), rays = 0;
    for (int k = 0; k < 3; k++) { /* fibres of the iris */
        double s, c;
        ex_sin_cos(turn * (17 + 14 * k) + k * 2 + 5 * rho, &s, &c);
        rays += s / (2 + k);
    }
    double ring[3];
    for (int c = 0; c < 3; c++)
        ring[c] = style->iris[c] * (0.80 + 0.16 * rays + 0.65 * smooth_step(iris, pupil, rho));
    if (front) {
        lay(colour, ring, 1 - smooth_step(iris - 0.012, iris + 0.022, rho));
        double edge = (rho - iris + 0.015) / 0.038;
        multiply(colour, 0.30, 0.28, 0.28, 0.85 * ex_exp(-edge * edge));
        lay(colour, black, 1 - smooth_step(pupil - 0.015, pupil + 0.02, rho));
    }
    /* The upper lid's shadow, and the reflection of a window. */
    multiply(colour, 0.52, 0.47, 0.45, smooth_step(0.02, 0.50, y + 0.25 * rho * rho));
    const double light[3] = {1, 1, 1};
    double lx = (x + 0.14) / 0.072, ly = (y - 0.17) / 0.085;
    if (front)
        lay(colour, light, 0.95 * (1 - smooth_step(0.6, 1.15, sqrt(lx * lx + ly * ly))));
}

/* ---- skin ---- */

static void paint_skin(const face_place *p, const face_style *style, double colour[3]) {
    const double ear = p->paint[FACE_EAR], front = smooth_step(20, 55, p->z);
    const double mottle = (p->coarse - 0.5) * 0.10 + (p->fine - 0.5) * 0.05 + (p->grain - 0.5) * 0.035;
    lay(colour, style->skin, 1);
    multiply(colour, 1 + 0.5 * mottle, 1 + mottle, 1 + mottle, 1);
    /* Blood shows in cheeks, nose and ears; the brow is paler and yellower. */
    double red = 0.55 * spot(p, 43, -32, 58, 17, 14) * (1 - ear) + 0.55 * spot(p, 0, -35, 108, 12, 10) +
                 0.20 * spot(p, 0, -100, 80, 20, 12) + 0.30 * ear;
    multiply(colour, 1.03, 0.80, 0.78, red * (0.45 + 0.75 * style->blush) * (0.8 + 0.4 * p->coarse));
    multiply(colour, 1.03, 1.03, 0.98, 0.7 * spot(p, 0, 50, 80, 30, 18));
    /* Shadows of light from above: sockets, under nose and lip, nostrils, chin, behind the jaw. */
    multiply(colour, 0.80, 0.72, 0.70, 0.45 * spot(p, 19, 8, 78, 8, 9) + 0.25 * spot(p, 34, 12, 80, 14, 4));
    multiply(colour, 0.86, 0.76, 0.76, (0.55 + 0.5 * style->lines) * spot(p, 27, -16, 80, 10, 4.5));
    multiply(colour, 0.70, 0.60, 0.58, 0.28 * spot(p, 0, -46, 92, 10, 3.5) + 0.35 * spot(p, 0, -83, 86, 12, 4));
    multiply(colour, 0.26, 0.16, 0.15, 1.05 * spot(p, 7.0, -44.4, 95, 2.9, 2.2));
    multiply(colour, 0.72, 0.62, 0.60, 0.32 * spot(p, 16.5, -36, 90, 3.2, 7));
    multiply(colour, 0.80, 0.72, 0.70,
             0.5 * smooth_step(-95, -125, p->y) * smooth_step(-150, -120, p->y) * smooth_step(-20, 30, p->z) *
                 (1 - ear));
    if (ear > 0.5) {
        double x = fabs(p->x) - 76, z = p->z + 13, y = p->y + 12;
        multiply(colour, 0.55, 0.42, 0.40, 0.9 * ex_exp(-(x * x / 60 + y * y / 90 + z * z / 30)));
    }
    /* Freckles and spots of age. */
    double freckle = smooth_step(0, 0.5, p->freckle) * (0.6 + 0.8 * p->coarse) *
                     (spot(p, 20, -28, 85, 30, 15) + 0.3 * front * smooth_step(-80, 0, p->y));
    multiply(colour, 0.80, 0.64, 0.52, style->freckles * freckle);
    multiply(colour, 0.78, 0.66, 0.56,
             0.6 * style->spots * smooth_step(0, 0.5, p->blotch + 0.5 * (p->fine - 0.6)) * smooth_step(-30, 30, p->y));
}

static void paint_lines(const face_place *p, const face_style *style, double colour[3]) {
    static const double fold[4][2] = {{16.5, -36}, {22, -46}, {28, -57}, {32, -69}};
    static const double bag[4][2] = {{17, -9}, {24, -16.5}, {33, -18.5}, {42, -14}};
    static const double mouth[4][2] = {{28.5, -73}, {29.5, -77}, {30, -81}, {30, -85}};
    if (style->lines == 0 || p->z < 20 || p->y < -100)
        return;
    double amount =
        0.70 * line_through(p, fold, 2.2) + 0.25 * line_through(p, bag, 1.6) + 0.35 * line_through(p, mouth, 1.9);
    for (int i = 0; i < 3; i++) { /* crow's feet, and lines on the brow that waver */
        const double foot[4][2] = {{47, -2 + 2.0 * i}, {50, -3 + 3.5 * i}, {53, -5 + 5.5 * i}, {56, -7 + 7.0 * i}};
        amount += 0.55 * line_through(p, foot, 0.9);
        double y = p->y - (40.5 + 8.0 * i) - 2.5 * (p->coarse - 0.5) - 0.0012 * p->x * p->x;
        amount += 0.5 * ex_exp(-y * y / 1.3) * smooth_step(44 - 5.0 * i, 10, fabs(p->x)) * smooth_step(50, 70, p->z) *
                  (0.5 + p->coarse);
    }
    double frown = (fabs(p->x) - 4.5 - 0.06 * (p->y - 20)) / 0.9;
    amount += 0.4 * ex_exp(-frown * frown) * smooth_step(12, 20, p->y) * smooth_step(38, 30, p->y) *
              smooth_step(60, 80, p->z);
    multiply(colour, 0.74, 0.62, 0.58, style->lines * amount);
}

static void paint_hair(const face_place *p, const face_style *style, double colour[3]) {
    if (p->paint[FACE_EAR] > 0.5)
        return;
    /* Brows: an arch of slanting hairs, thick at the nose, thin outside. */
    double s = (fabs(p->x) - 11.5) / 36,
           rise = 22.6 + style->brow_rise * (0.25 + 0.75 * s) + 8.4 * s * (1.3 - s) - 3.0 * s * s;
    double wide = 1.25 * style->brow_width * (0.66 + 0.55 * s - 0.90 * s * s),
           y = (p->y - rise) / (wide > 0.5 ? wide : 0.5);
    double hairs = 0.78 + 0.4 * (p->fine - 0.5) + 0.45 * (p->grain - 0.5);
    double brow =
        ex_exp(-y * y * y * y) * smooth_step(-0.06, 0.08, s) * smooth_step(1.06, 0.86, s) * smooth_step(30, 45, p->z);
    lay(colour, style->brows, brow * hairs * 1.05);
    /* Stubble or a beard: chin, jaw, lip, along the jaw up to the ear. */
    double ragged = p->y + 6 * (p->fine - 0.5);
    double side = smooth_step(-8, 26, p->z + 8 * (p->coarse - 0.5)) * smooth_step(-128, -108, ragged);
    double jaw = side * smooth_step(-40, -62, ragged - 0.32 * (62 - p->z));
    double cheek = ex_exp(-(p->z - 12) * (p->z - 12) / 90) * smooth_step(4, -8, ragged) * smooth_step(-90, -70, p->y);
    double lip = spot(p, 10, -54, 90, 14, 5);
    double grown =
        clamped(jaw * (1 - 0.75 * spot(p, 0, -79, 90, 9, 3.0)) + cheek + lip, 0, 1) * (1 - p->paint[FACE_LIP]);
    multiply(colour, 0.80, 0.82, 0.86, style->stubble * grown * (0.55 + 0.9 * p->grain));
    lay(colour, style->brows, style->beard * grown * (0.74 + 0.4 * (p->strand - 0.5) + 0.65 * (p->grain - 0.5)));
    /* Hair: a ragged line, lighter and darker strands. */
    double draw_back = style->hair_line * smooth_step(20, 60, p->z) * (0.55 + 0.9 * smooth_step(6, 34, fabs(p->x)));
    draw_back += style->sweep * clamped(p->x / 40, -1, 1) * smooth_step(35, 65, p->z);
    double above = 1000 * exi_face_hair((point){p->x / 1000, p->y / 1000, p->z / 1000}) - draw_back;
    double edge = smooth_step(-3.0, 4.5 + (style->hair_line > 0 ? style->hair_line : 0),
                              above + 7 * (p->strand - 0.5) + 2 * (p->grain - 0.5));
    double crown = ex_exp(-(p->x * p->x + (p->z + 20) * (p->z + 20)) / 3200) * smooth_step(60, 90, p->y);
    double hair[3];
    for (int c = 0; c < 3; c++)
        hair[c] = style->hair[c] * (0.62 + 0.76 * p->strand) * (0.9 + 0.2 * p->coarse);
    /* The parting of hair swept to one side. */
    double part = (p->x - (style->sweep > 0 ? 24 : -24) - 5 * (p->coarse - 0.5)) / 1.6;
    edge *= 1 - 0.06 * fabs(style->sweep) * ex_exp(-part * part) * smooth_step(-10, 20, p->z);
    lay(colour, hair, edge * (1 - style->bald * crown * (0.55 + 0.6 * p->strand)));
}

void exi_face_colour(const face_place *p, const face_style *style, double colour[3]) {
    static const double lash[3] = {0.10, 0.065, 0.05}, dark[3] = {0.16, 0.05, 0.05}, flesh[3] = {0.78, 0.47, 0.42};
    if (p->paint[FACE_EYE] > 0.5) {
        paint_eye(p, style, colour);
        return;
    }
    paint_skin(p, style, colour);
    paint_lines(p, style, colour);
    /* Lips: paler along their middles, where light falls; dark where they meet. */
    double lip = smooth_step(0.25, 0.8, p->paint[FACE_LIP] + 0.12 * (p->fine - 0.5));
    lay(colour, style->lips, 0.92 * lip);
    multiply(colour, 0.90, 0.86, 0.86, lip * smooth_step(-67, -64, p->y));
    multiply(colour, 1.10, 1.10, 1.10, 0.8 * lip * spot(p, 0, -73.5, 92, 10, 2.2));
    multiply(colour, 0.94, 0.90, 0.90, lip * (1 - p->fine));
    lay(colour, dark, smooth_step(0.15, 0.95, p->paint[FACE_DARK]));
    paint_hair(p, style, colour);
    /* Make-up on the lid, lashes on its edge, flesh at the inner corner. */
    static const double shade[3] = {0.36, 0.22, 0.24};
    lay(colour, shade, 0.5 * style->make_up * spot(p, 33, 8.5, 80, 13, 4));
    double edge = smooth_step(0.12, 0.85, p->paint[FACE_LASH]);
    lay(colour, lash, edge * (0.62 + 0.35 * style->make_up));
    lay(colour, flesh, 0.9 * smooth_step(0.3, 0.8, p->paint[FACE_LASH]) * smooth_step(22.5, 20, fabs(p->x)));
}

/*
 * Computes the position of a group of vertices of one colour, and checks that it is shaped like a marker.
 *
 * Starts at the centroid of the paint: every vertex is weighted by its area (seen along the normal, since noise
 * enlarges faces but not the skin), times its share of the marker's colour, including partly covered vertices along the
 * rim. With samples five millimetres apart that is still off by more than half a millimetre, since a column of samples
 * is in or out as a whole. So the centre and radius of a disc are fitted to the painted and unpainted vertices. On a
 * curved body that centre lies inside the body. A paraboloid fitted to the vertices around brings it back to the
 * surface, and averages out the scanner's noise.
 */
#include "author/scan/find/find.h"

#include <exemplar/author/colour.h>

#include <math.h>
#include <string.h>

/* A mole may be as large as half a marker; so may three samples in a column. */
enum { SAMPLES_LEAST = 4 };

static const double pi = 3.14159265358979323846;

/* A group being measured. */
typedef struct patch {
    double area, samples; /* area of the paint; number of vertices, counting partly covered ones in part */
    double place[3];
    double frame[3][3]; /* two directions along the surface, and its normal */
    double size;
    bool cut; /* true if cut by the edge of the scan */
} patch;

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- the paint ---- */

static double cover(const exi_finder *f, int v, const double reference[3]) {
    double aside_sq;
    const double share = exi_find_share(f, v, reference, &aside_sq);
    return share > 1 ? 1 : share < 0 ? 0 : share;
}

/* Returns the covered fraction of a vertex next to the group. */
static double cover_beside(const exi_finder *f, int v, const double reference[3]) {
    double aside_sq;
    const double share = exi_find_share(f, v, reference, &aside_sq);
    return share < 0.15 || share > 0.5 || aside_sq > 0.25 ? 0 : share;
}

/* Appends the rim to the group in the queue; returns the total number. */
static int add_rim(exi_finder *f, int count, int stamp) {
    int all = count;
    for (int i = 0; i < count; i++) {
        const int v = f->queue[i];
        for (int e = f->starts[v]; e < f->starts[v + 1]; e++) {
            const int u = f->others[e];
            if (f->stamps[u] == stamp || f->stamps[u] == f->stamp)
                continue;
            f->stamps[u] = f->stamp;
            f->queue[all++] = u;
        }
    }
    return all;
}

/* Returns the area of a vertex, seen along the normal. */
static double area_of(const exi_finder *f, int v, const patch *p) {
    const float *n = f->normals[v];
    const double area = (double)n[0] * p->frame[2][0] + (double)n[1] * p->frame[2][1] + (double)n[2] * p->frame[2][2];
    return area > 0 ? area : 0;
}

static void add_paint(const exi_finder *f, int v, double covered, patch *p) {
    const double area = covered * area_of(f, v, p);
    const double *at = exi_find_position(f, v);
    p->area += area;
    p->samples += covered;
    for (int k = 0; k < 3; k++)
        p->place[k] += area * at[k];
}

/* Computes the normal of the group, and two directions perpendicular to it. */
static bool make_frame(const exi_finder *f, int count, patch *p) {
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            p->frame[2][k] += (double)f->normals[f->queue[i]][k];
    double *n = p->frame[2], length = sqrt(dot(n, n));
    if (!(length > 0))
        return false;
    for (int k = 0; k < 3; k++)
        n[k] /= length;
    const int least = fabs(n[0]) < fabs(n[1]) ? (fabs(n[0]) < fabs(n[2]) ? 0 : 2) : (fabs(n[1]) < fabs(n[2]) ? 1 : 2);
    double axis[3] = {0};
    axis[least] = 1;
    for (int k = 0; k < 3; k++)
        p->frame[0][k] = axis[k] - n[least] * n[k];
    length = sqrt(dot(p->frame[0], p->frame[0]));
    for (int k = 0; k < 3; k++)
        p->frame[0][k] /= length;
    for (int k = 0; k < 3; k++)
        p->frame[1][k] = n[(k + 1) % 3] * p->frame[0][(k + 2) % 3] - n[(k + 2) % 3] * p->frame[0][(k + 1) % 3];
    return true;
}

/* Coordinates of a vertex relative to the patch's position. */
static void local_of(const exi_finder *f, int v, const patch *p, double local[3]) {
    const double *at = exi_find_position(f, v);
    const double away[3] = {at[0] - p->place[0], at[1] - p->place[1], at[2] - p->place[2]};
    for (int k = 0; k < 3; k++)
        local[k] = dot(away, p->frame[k]);
}

/* Adds the second moments of a vertex's own area: on a grid, an eighth of the mean of its edges'. */
static void add_own(const exi_finder *f, int v, const patch *p, double weight, double moments[3]) {
    double here[3], there[3];
    local_of(f, v, p, here);
    const int degree = f->starts[v + 1] - f->starts[v];
    for (int e = f->starts[v]; e < f->starts[v + 1]; e++) {
        local_of(f, f->others[e], p, there);
        const double u = there[0] - here[0], w = there[1] - here[1];
        moments[0] += weight * u * u / (8 * degree);
        moments[1] += weight * u * w / (8 * degree);
        moments[2] += weight * w * w / (8 * degree);
    }
}

/* True if it is about as long as wide, and filled: veins, creases and rings are not. A disc of diameter d has second
 * moments of d^2 / 16. They include the samples' own areas, since a column of samples is not a line. */
static bool is_round(const exi_finder *f, int count, int all, const double reference[3], const patch *p) {
    double moments[3] = {0};
    for (int i = 0; i < all; i++) {
        const int v = f->queue[i];
        const double covered = i < count ? cover(f, v, reference) : cover_beside(f, v, reference);
        const double weight = covered * area_of(f, v, p) / p->area;
        double local[3];
        if (!(weight > 0))
            continue;
        local_of(f, v, p, local);
        moments[0] += weight * local[0] * local[0];
        moments[1] += weight * local[0] * local[1];
        moments[2] += weight * local[1] * local[1];
        add_own(f, v, p, weight, moments);
    }
    const double middle = (moments[0] + moments[2]) / 2, apart = (moments[0] - moments[2]) / 2;
    const double half = sqrt(apart * apart + moments[1] * moments[1]);
    const double longer = middle + half, shorter = middle - half > 0 ? middle - half : 0;
    const double full = p->area / (4 * pi * sqrt(longer * shorter));
    return longer < 5 * shorter && full > 0.55 && full < 1.8;
}

/* Returns the spacing of samples along the surface, the longer way: the mean of every vertex's longest edge. */
static double spacing_of(const exi_finder *f, int count, const patch *p) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const int v = f->queue[i];
        double here[3], there[3], longest_sq = 0;
        local_of(f, v, p, here);
        for (int e = f->starts[v]; e < f->starts[v + 1]; e++) {
            local_of(f, f->others[e], p, there);
            const double u = there[0] - here[0], w = there[1] - here[1];
            longest_sq = u * u + w * w > longest_sq ? u * u + w * w : longest_sq;
        }
        sum += sqrt(longest_sq);
    }
    return sum / count;
}

/* ---- the surroundings ---- */

/* Appends to the queue the vertices connected with the group and within reach of its position. Returns the total
 * number. */
static int gather(exi_finder *f, int all, int stamp, const patch *p, double reach) {
    const int rim = f->stamp;
    for (int i = 0; i < all; i++) {
        const int v = f->queue[i];
        for (int e = f->starts[v]; e < f->starts[v + 1]; e++) {
            const int u = f->others[e];
            const double *at = exi_find_position(f, u);
            const double away[3] = {at[0] - p->place[0], at[1] - p->place[1], at[2] - p->place[2]};
            if (f->stamps[u] == stamp || f->stamps[u] == rim || dot(away, away) > reach * reach)
                continue;
            f->stamps[u] = rim;
            f->queue[all++] = u;
        }
    }
    return all;
}

/* True if the scan ends within the group, or just outside. */
static bool is_cut(const exi_finder *f, int all, const patch *p) {
    const double inside = p->size / 2 + 0.15 * f->options.size;
    for (int i = 0; i < all; i++) {
        double local[3];
        local_of(f, f->queue[i], p, local);
        if (f->states[f->queue[i]] != EXI_FIND_INNER && dot(local, local) < inside * inside)
            return true;
    }
    return false;
}

/* True if it has a sharp rim: little of it, and of its surroundings, is neither paint nor skin. A blush has none. */
static bool has_rim(const exi_finder *f, int all, const double reference[3], const patch *p) {
    const double outside = 0.8 * p->size;
    double between = 0;
    for (int i = 0; i < all; i++) {
        const int v = f->queue[i];
        double local[3], aside_sq;
        local_of(f, v, p, local);
        const double share = exi_find_share(f, v, reference, &aside_sq);
        if (share > 0.2 && share < 0.8 && aside_sq < 0.25 && dot(local, local) < outside * outside)
            between += area_of(f, v, p);
    }
    return between <= 1.4 * p->area;
}

/* True if skin surrounds it immediately and on all sides. Just outside, paint leaves nothing of its colour; a shadow,
 * which has no rim, leaves much. A piece of a pattern is surrounded by other pieces that stand out as much. */
static bool is_alone(const exi_finder *f, int count, int all, const double reference[3], const patch *p) {
    const double inside = p->size / 2 + 0.15 * f->options.size, outside = inside + 0.5 * f->options.size;
    const double strength = sqrt(dot(reference, reference));
    double alike = 0, other = 0, total = 0;
    for (int i = count; i < all; i++) {
        const int v = f->queue[i];
        double local[3], aside_sq;
        local_of(f, v, p, local);
        const double away = sqrt(dot(local, local));
        if (away < inside || away > outside)
            continue;
        const double area = area_of(f, v, p), share = exi_find_share(f, v, reference, &aside_sq);
        total += area;
        other += (double)f->strengths[v] > 0.75 * strength ? area : 0;
        alike += aside_sq > 1 ? 0 : area * (share > 1 ? 1 : share < -1 ? -1 : share);
    }
    return alike <= 0.25 * total && other <= 0.5 * total;
}

/* Gaussian elimination of `n` rows of n + 1 numbers, with pivoting; returns false if a pivot vanishes. The solution is
 * in the last column. */
static bool solve(double m[6][7], int n) {
    for (int i = 0; i < n; i++) {
        int best = i;
        for (int r = i + 1; r < n; r++)
            best = fabs(m[r][i]) > fabs(m[best][i]) ? r : best;
        if (!(fabs(m[best][i]) > 1e-9))
            return false;
        for (int k = 0; k <= n; k++) {
            const double kept = m[i][k];
            m[i][k] = m[best][k];
            m[best][k] = kept;
        }
        for (int r = 0; r < n; r++) {
            const double factor = r == i ? 0 : m[r][i] / m[i][i];
            for (int k = i; k <= n; k++)
                m[r][k] -= factor * m[i][k];
        }
    }
    for (int i = 0; i < n; i++)
        m[i][n] /= m[i][i];
    return true;
}

/* Returns a vertex's share of the marker's colour; 0 beyond the group and its rim. */
static double paint_at(const exi_finder *f, int i, int count, const double reference[3]) {
    return i < count ? cover(f, f->queue[i], reference) : cover_beside(f, f->queue[i], reference);
}

/* Takes one step towards the disc whose rim best separates painted from unpainted vertices. Its cover at a distance d
 * from the centre is 1 / (1 + exp((d - r) / soft)). Gauss-Newton in u, v and r, lengths in markers, with a prior that
 * holds r at `begin`. */
static bool step_disc(const exi_finder *f, int count, int all, const double reference[3], const patch *p, double soft,
                      double hold, double begin, double at[3]) {
    const double unit = f->options.size;
    double m[6][7] = {{0}};
    m[2][2] = hold;
    m[2][3] = hold * (begin - at[2]);
    for (int i = 0; i < all; i++) {
        double local[3];
        local_of(f, f->queue[i], p, local);
        const double u = local[0] / unit - at[0], w = local[1] / unit - at[1], d = sqrt(u * u + w * w) + 1e-9;
        const double inside = 1 / (1 + exp((d - at[2]) / soft)), slope = inside * (1 - inside) / soft;
        const double row[3] = {slope * u / d, slope * w / d, slope}, miss = paint_at(f, i, count, reference) - inside;
        for (int r = 0; r < 3; r++) {
            for (int k = 0; k < 3; k++)
                m[r][k] += row[r] * row[k];
            m[r][3] += row[r] * miss;
        }
    }
    for (int r = 0; r < 3; r++)
        m[r][r] += 0.02; /* keeps poorly determined steps small */
    if (!solve(m, 3))
        return false;
    for (int r = 0; r < 3; r++)
        at[r] += m[r][3];
    return fabs(at[0]) < 0.4 && fabs(at[1]) < 0.4 && fabs(at[2] - begin) < 0.3;
}

/* True if a spot cut by the edge is a disc: its middle is seen, and exactly the disc is painted, except close to the
 * rim, where either may be. */
static bool is_disc(const exi_finder *f, int count, int all, const patch *p, const double at[3]) {
    const double unit = f->options.size, rim = 0.08;
    double wrong = 0, right = 0, nearest = INFINITY;
    for (int i = 0; i < all; i++) {
        double local[3];
        local_of(f, f->queue[i], p, local);
        const double d = hypot(local[0] / unit - at[0], local[1] / unit - at[1]), area = area_of(f, f->queue[i], p);
        const bool painted = i < count;
        if (painted && d < at[2] + rim)
            right += area;
        else if (painted || d < at[2] - rim)
            wrong += area;
        nearest = painted && d < nearest ? d : nearest;
    }
    return nearest < 0.3 && right > 0.45 * pi * at[2] * at[2] * unit * unit && wrong < 0.15 * right;
}

/* Moves the position along the surface to the middle of a disc. A spot of another shape, which that would lead away,
 * keeps its centroid. One that the edge cuts must be a disc of the right size, or it is rejected. */
static bool centre(const exi_finder *f, int count, int all, const double reference[3], patch *p) {
    const double unit = f->options.size, begin = p->cut ? 0.5 : p->size / 2 / unit;
    double at[3] = {0, 0, begin}, soft = 0.1;
    bool good = true;
    for (int round = 0; round < 14 && good; round++, soft = soft > 0.03 ? 0.85 * soft : soft)
        good = step_disc(f, count, all, reference, p, soft, p->cut ? 1e4 : 0.5, begin, at);
    if (p->cut && !(good && is_disc(f, count, all, p, at)))
        return false;
    for (int k = 0; k < 3 && good; k++)
        p->place[k] += unit * (at[0] * p->frame[0][k] + at[1] * p->frame[1][k]);
    return true;
}

/* Returns the height of the surface above the position: w = a + b u + c v + d uu + e uv + f vv by least squares,
 * lengths in markers. With too few vertices around, the position stays. */
static double lift(const exi_finder *f, int all, const patch *p, double reach) {
    double m[6][7] = {{0}};
    const double unit = f->options.size;
    int used = 0;
    for (int i = 0; i < all; i++) {
        double local[3];
        local_of(f, f->queue[i], p, local);
        const double u = local[0] / unit, v = local[1] / unit, w = local[2] / unit;
        const double weight = exp(-2 * (u * u + v * v) * unit * unit / (reach * reach));
        const double row[7] = {1, u, v, u * u, u * v, v * v, w};
        for (int r = 0; r < 6; r++)
            for (int k = 0; k < 7; k++)
                m[r][k] += weight * row[r] * row[k];
        used++;
    }
    if (used < 12 || !solve(m, 6))
        return 0;
    return fabs(m[0][6]) < 0.25 ? m[0][6] * unit : 0;
}

/* ---- its colour ---- */

static double to_linear(double code) {
    return code <= 0.04045 ? code / 12.92 : pow((code + 0.055) / 1.055, 2.4);
}

/* Averages fully covered vertices in linear light; the result is sRGB. */
static void find_colour(const exi_finder *f, int count, const double reference[3], double colour[3]) {
    double sum[3] = {0}, total = 0;
    for (int i = 0; i < count; i++) {
        const int v = f->queue[i];
        const double weight = cover(f, v, reference) > 0.8 ? 1 : 1e-6;
        for (int k = 0; k < 3; k++) {
            const double code = (double)f->mesh->colours[3 * (size_t)v + (size_t)k];
            sum[k] += weight * to_linear(code < 0 ? 0 : code > 1 ? 1 : code);
        }
        total += weight;
    }
    for (int k = 0; k < 3; k++) {
        const double linear = sum[k] / total;
        colour[k] = 255 * (linear <= 0.0031308 ? linear * 12.92 : 1.055 * pow(linear, 1 / 2.4) - 0.055);
    }
}

/* True if it is only the skin in more or less light: red, green and blue all scaled by about the same factor. */
static bool is_shade(const exi_finder *f, int count, const double colour[3]) {
    double lab[3] = {0}, least = INFINITY, most = -INFINITY;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            lab[k] += ((double)f->colours[f->queue[i]][k] - (double)f->residuals[f->queue[i]][k]) / count;
    const ex_colour skin = ex_colour_from_oklab(lab);
    const unsigned char codes[3] = {skin.red, skin.green, skin.blue};
    for (int k = 0; k < 3; k++) {
        const double ratio = log((to_linear(colour[k] / 255) + 1e-3) / (to_linear(codes[k] / 255.0) + 1e-3));
        least = ratio < least ? ratio : least;
        most = ratio > most ? ratio : most;
    }
    return most - least < 0.4 && least > log(0.25);
}

bool exi_find_place(exi_finder *f, int count, int stamp, const double reference[3], exi_spot_found *spot) {
    const double reach = 1.25 * f->options.size;
    patch p = {0};
    f->stamp++;
    if (count < SAMPLES_LEAST || !make_frame(f, count, &p))
        return false;
    int all = add_rim(f, count, stamp);
    for (int i = 0; i < all; i++)
        add_paint(f, f->queue[i],
                  i < count ? cover(f, f->queue[i], reference) : cover_beside(f, f->queue[i], reference), &p);
    for (int k = 0; k < 3; k++)
        p.place[k] /= p.area;
    p.size = 2 * sqrt(p.area / pi);
    if (!(p.area > 0) || p.size < f->options.least * f->options.size || p.size > f->options.most * f->options.size ||
        !is_round(f, count, all, reference, &p))
        return false;
    const double spacing = spacing_of(f, count, &p);
    if (spacing > 0.85 * f->options.size) /* seen too obliquely to determine its position */
        return false;
    all = gather(f, all, stamp, &p, reach);
    p.cut = is_cut(f, all, &p);
    if (!is_alone(f, count, all, reference, &p) || !has_rim(f, all, reference, &p))
        return false;
    double colour[3];
    find_colour(f, count, reference, colour);
    if (is_shade(f, count, colour))
        return false;
    if (!centre(f, count, all, reference, &p))
        return false;
    const double up = lift(f, all, &p, reach);
    *spot = (exi_spot_found){.weight = (p.cut ? 0.1 : 1) * p.samples / (spacing * spacing)};
    spot->marker.size = p.size;
    spot->marker.view = f->view;
    spot->marker.strength = sqrt(dot(reference, reference));
    for (int k = 0; k < 3; k++) {
        spot->marker.position[k] = p.place[k] + up * p.frame[2][k];
        spot->marker.colour[k] = colour[k];
        spot->normal[k] = p.frame[2][k];
    }
    return true;
}

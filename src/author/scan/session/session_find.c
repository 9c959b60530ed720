/*
 * Finds unit and up axis of a session's files, where scan.json does not say them.
 *
 * Named points of the reference tell both. Landmarks have places on the template; markers are near the middles of their
 * bones. With places p_i there and o_i in the file,
 *
 *     unit = 1 / median over near pairs of |o_i - o_j| / |p_i - p_j|     rounded to a known one
 *     up   = R (0, 1, 0), with the similarity o = s R p + t of ex_register_align    rounded to an axis
 *
 * Near pairs are on neighbouring bones, so a bent body changes the median little. Without names, a template person's
 * scan has a shape: a floor is a thin slab of many points at one end. Without one, the longest side is up, or of two
 * equal ones the less symmetric; feet make the wider end.
 */
#include "author/base/arena.h"
#include "author/base/array.h"
#include "author/base/eigen.h"
#include "author/scan/human/human.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/formats.h>
#include <exemplar/author/project.h>
#include <exemplar/author/register.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fewest named points; most of one body. */
enum { POINTS_LEAST = 4, POINTS_MOST = 512, BINS = 24 };
/* Pairs of points are near within these shares of the size of all. */
static const double near_least = 0.05, near_most = 0.35;
/* An axis is up if the body's own is within 40 degrees of it, and points span a plane at least: the second largest
 * variance is this share of the largest. */
static const double upright = 0.766, flat = 0.04;
/* A slab at one end, this share of that side, is a floor if it holds this share of all points. */
static const double slab = 0.015, floor_share = 0.12;

/* Sizes of people in units of each kind, relative to a usual adult, and their heights. */
static const struct {
    const char *name;
    double least, most, height_least, height_most;
} units[] = {{"m", 0.4, 1.7, 0.6, 3.5}, {"in", 18, 52, 24, 92}, {"cm", 52, 150, 92, 350}, {"mm", 400, 1700, 600, 3500}};
enum { UNIT_COUNT = sizeof units / sizeof *units };

typedef struct points {
    int count;
    double own[POINTS_MOST][3], places[POINTS_MOST][3];
} points;

static bool add_point(points *p, const double own[3], const double place[3]) {
    if (p->count == POINTS_MOST)
        return false;
    memcpy(p->own[p->count], own, sizeof *p->own);
    memcpy(p->places[p->count++], place, sizeof *p->places);
    return true;
}

/* ---- named points ---- */

/* Reads a table of the reference; none if it cannot be read. */
static ex_result read_table(const ex_scan_session *session, const char *kind, ex_labelled **labelled, int *count,
                            ex_error *error) {
    ex_error unread = {0};
    char *path = ex_scan_path(session, kind, session->scans[session->reference].name, ".csv");
    *labelled = NULL;
    *count = 0;
    if (!path)
        return ex_error_memory(error, "a path", 0);
    const ex_result result = exi_scan_is_there(path) ? ex_labels_read(path, labelled, count, &unread) : EX_OK;
    free(path);
    return result == EX_ERROR_MEMORY ? ex_error_memory(error, "the landmarks", 0) : EX_OK;
}

static ex_result add_landmarks(const ex_scan_session *session, points *p, ex_error *error) {
    ex_labelled *labelled = NULL;
    exi_human *human = NULL;
    ex_error unread = {0};
    int count = 0;
    ex_result result = read_table(session, "landmarks", &labelled, &count, error);
    if (result == EX_OK && count >= POINTS_LEAST) {
        const bool own = strcmp(session->person, "human") == 0;
        char *path = own ? NULL : exi_scan_file(session->folder, session->person);
        if (!own && !path)
            result = ex_error_memory(error, "a path", 0);
        else if (exi_human_read(path, &human, &unread) == EX_ERROR_MEMORY)
            result = ex_error_memory(error, "the template", 0);
        free(path);
    }
    for (int i = 0; human && i < count; i++) {
        const int vertex = exi_human_find(human, labelled[i].name);
        if (vertex >= 0)
            add_point(p, human->mesh->positions + 3 * (size_t)vertex, labelled[i].position);
    }
    exi_human_destroy(human);
    ex_labels_free(labelled, count);
    return result;
}

/* The middle between a joint and those below it. */
static void bone_middle(const ex_kinematics *k, double (*places)[3], int joint, double middle[3]) {
    int count = 1;
    memcpy(middle, places[joint], sizeof *places);
    for (int j = joint + 1; j < k->joint_count; j++)
        if (k->joints[j].parent == joint) {
            count++;
            for (int c = 0; c < 3; c++)
                middle[c] += places[j][c];
        }
    for (int c = 0; c < 3; c++)
        middle[c] /= count;
}

/* Means of the markers of each bone. */
static ex_result add_labels(const ex_scan_session *session, points *p, ex_error *error) {
    const ex_kinematics *k = session->kinematics;
    exi_arena arena = {NULL};
    ex_labelled *labelled = NULL;
    int count = 0;
    double(*places)[3] = exi_arena_allocate(&arena, (size_t)k->joint_count, sizeof *places);
    double(*rotations)[4] = exi_arena_allocate(&arena, (size_t)k->joint_count, sizeof *rotations);
    ex_result result = places && rotations ? read_table(session, "labels", &labelled, &count, error) : EX_ERROR_MEMORY;
    if (!places || !rotations)
        result = ex_error_memory(error, "the skeleton", (size_t)k->joint_count * sizeof *rotations);
    if (result == EX_OK && count > 0) {
        for (int j = 0; j < k->joint_count; j++)
            rotations[j][3] = 1;
        const ex_kin_pose pose = {.rotations = rotations};
        ex_kin_frames(k, &pose, NULL, places);
    }
    for (int j = 0; result == EX_OK && count > 0 && j < k->joint_count; j++) {
        double sum[3] = {0}, middle[3];
        int seen = 0;
        for (int i = 0; i < count; i++) {
            const int site = ex_kinematics_find_site(k, labelled[i].name);
            if (site < 0 || k->sites[site].joint != j || labelled[i].confidence < 0.9)
                continue;
            for (int c = 0; c < 3; c++)
                sum[c] += labelled[i].position[c];
            seen++;
        }
        for (int c = 0; c < 3 && seen > 0; c++)
            sum[c] /= seen;
        bone_middle(k, places, j, middle);
        if (seen > 0)
            add_point(p, middle, sum);
    }
    ex_labels_free(labelled, count);
    exi_arena_free(&arena);
    return result;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double distance(const double a[3], const double b[3]) {
    double d[3];
    exi_subtract(a, b, d);
    return sqrt(exi_dot3(d, d));
}

/* Units of the file in a metre of a usual adult: the median over near pairs; 0 if there are none. */
static ex_result find_scale(const points *p, double *scale, ex_error *error) {
    double size = 0;
    size_t count = 0;
    double *ratios = exi_array_allocate((size_t)p->count * (size_t)p->count, sizeof *ratios);
    if (!ratios)
        return ex_error_memory(error, "the landmarks", (size_t)p->count * (size_t)p->count * sizeof *ratios);
    for (int i = 0; i < p->count; i++)
        for (int j = 0; j < i; j++)
            size = fmax(size, distance(p->own[i], p->own[j]));
    for (int i = 0; i < p->count; i++)
        for (int j = 0; j < i; j++) {
            const double own = distance(p->own[i], p->own[j]);
            if (own > near_least * size && own < near_most * size)
                ratios[count++] = distance(p->places[i], p->places[j]) / own;
        }
    qsort(ratios, count, sizeof *ratios, compare);
    *scale = count > 0 ? ratios[count / 2] : 0;
    free(ratios);
    return EX_OK;
}

static bool spans_plane(int count, const double (*places)[3]) {
    double mean[3] = {0}, matrix[9] = {0}, values[3], vectors[9];
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++)
            mean[c] += places[i][c] / count;
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 9; c++)
            matrix[c] += (places[i][c / 3] - mean[c / 3]) * (places[i][c % 3] - mean[c % 3]);
    exi_eigen(matrix, 3, values, vectors);
    return values[1] > flat * values[0];
}

static void set_up(ex_scan_session *session, int axis, bool minus) {
    char *to = session->up;
    if (minus)
        *to++ = '-';
    to[0] = "xyz"[axis];
    to[1] = 0;
}

/* Sets unit and axis by named points; false if they tell nothing. */
static ex_result use_points(ex_scan_session *session, const points *p, const char *kind, bool *used, ex_error *error) {
    ex_similarity similarity;
    double scale = 0;
    *used = p->count >= POINTS_LEAST && spans_plane(p->count, p->own) && spans_plane(p->count, p->places);
    if (!*used)
        return EX_OK;
    ex_result result = find_scale(p, &scale, error);
    if (result != EX_OK)
        return result;
    for (int u = 0; session->unit_found && u < UNIT_COUNT; u++)
        if (scale > units[u].least && scale <= units[u].most)
            ex_unit_metres(units[u].name, &session->unit);
    if (session->up_found && ex_register_align(p->count, p->own, p->places, NULL, true, &similarity, NULL) == EX_OK) {
        int axis = 1;
        for (int c = 0; c < 3; c++)
            axis = fabs(similarity.rotation[c][1]) > fabs(similarity.rotation[axis][1]) ? c : axis;
        session->up_open = !(fabs(similarity.rotation[axis][1]) > upright);
        if (!session->up_open)
            set_up(session, axis, similarity.rotation[axis][1] < 0);
    }
    snprintf(session->axes_from, sizeof session->axes_from, "%s/%s.csv", kind, session->scans[session->reference].name);
    return EX_OK;
}

/* ---- shape ---- */

typedef struct shape {
    const double *positions; /* [count][3] */
    size_t count;
    double low[3], high[3];
    double cut[3][2]; /* what lies outside is a floor */
} shape;

static bool is_inside(const shape *s, size_t v) {
    bool inside = true;
    for (int c = 0; c < 3; c++)
        inside = inside && s->positions[3 * v + (size_t)c] >= s->cut[c][0] &&
                 s->positions[3 * v + (size_t)c] <= s->cut[c][1];
    return inside;
}

static void measure_box(shape *s) {
    for (int c = 0; c < 3; c++) {
        s->low[c] = INFINITY;
        s->high[c] = -INFINITY;
    }
    for (size_t v = 0; v < s->count; v++)
        for (int c = 0; c < 3 && is_inside(s, v); c++) {
            s->low[c] = fmin(s->low[c], s->positions[3 * v + (size_t)c]);
            s->high[c] = fmax(s->high[c], s->positions[3 * v + (size_t)c]);
        }
}

/* Finds a floor and cuts it away; the axis and the side it is on. */
static bool cut_floor(shape *s, int *axis, bool *minus) {
    size_t most = 0;
    for (int c = 0; c < 3; c++) {
        const double thick = slab * (s->high[c] - s->low[c]);
        size_t counts[2] = {0, 0};
        for (size_t v = 0; v < s->count; v++) {
            counts[0] += s->positions[3 * v + (size_t)c] < s->low[c] + thick;
            counts[1] += s->positions[3 * v + (size_t)c] > s->high[c] - thick;
        }
        for (int side = 0; side < 2; side++)
            if (counts[side] > most) {
                most = counts[side];
                *axis = c;
                *minus = side == 1;
            }
    }
    if (!((double)most > floor_share * (double)s->count))
        return false;
    const double thick = slab * (s->high[*axis] - s->low[*axis]);
    s->cut[*axis][0] = *minus ? -INFINITY : s->low[*axis] + thick;
    s->cut[*axis][1] = *minus ? s->high[*axis] - thick : INFINITY;
    measure_box(s);
    return true;
}

/* Share of the points that have none mirrored in the middle of an axis, by a histogram. */
static double asymmetry(const shape *s, int axis) {
    double bins[BINS] = {0}, sum = 0;
    for (size_t v = 0; v < s->count; v++) {
        const double at = (s->positions[3 * v + (size_t)axis] - s->low[axis]) / (s->high[axis] - s->low[axis]);
        bins[at < 1 ? (int)(at * BINS) : BINS - 1]++;
    }
    for (int b = 0; b < BINS; b++)
        sum += fabs(bins[b] - bins[BINS - 1 - b]);
    return sum / (double)s->count;
}

/* Width of the end of an axis: the diagonal of what is across it. */
static double end_width(const shape *s, int axis, bool top) {
    const double size = s->high[axis] - s->low[axis];
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, square = 0;
    for (size_t v = 0; v < s->count; v++) {
        const double *p = s->positions + 3 * v;
        if (top ? p[axis] < s->high[axis] - 0.04 * size : p[axis] > s->low[axis] + 0.04 * size)
            continue;
        for (int c = 0; c < 3; c++) {
            low[c] = fmin(low[c], p[c]);
            high[c] = fmax(high[c], p[c]);
        }
    }
    for (int c = 0; c < 3; c++)
        square += c == axis ? 0 : (high[c] - low[c]) * (high[c] - low[c]);
    return square;
}

/* Finds which axis of a person without a floor is up. */
static int find_longest(const shape *s, bool *minus) {
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 2; i++)
        for (int j = i + 1; j < 3; j++)
            if (s->high[order[j]] - s->low[order[j]] > s->high[order[i]] - s->low[order[i]]) {
                const int held = order[i];
                order[i] = order[j];
                order[j] = held;
            }
    int axis = order[0];
    const double first = s->high[order[0]] - s->low[order[0]], second = s->high[order[1]] - s->low[order[1]];
    if (second > 0.75 * first && asymmetry(s, order[1]) > asymmetry(s, order[0]))
        axis = order[1];
    *minus = end_width(s, axis, true) > 2 * end_width(s, axis, false);
    return axis;
}

static void use_shape(ex_scan_session *session, shape *s) {
    int axis = 1;
    bool minus = false;
    measure_box(s);
    for (int c = 0; c < 3; c++)
        if (!(s->high[c] > s->low[c]) || !isfinite(s->high[c] - s->low[c]))
            return;
    if (!cut_floor(s, &axis, &minus))
        axis = find_longest(s, &minus);
    if (session->up_found)
        set_up(session, axis, minus);
    const double height = s->high[axis] - s->low[axis];
    for (int u = 0; session->unit_found && u < UNIT_COUNT; u++)
        if (height > units[u].height_least && height <= units[u].height_most)
            ex_unit_metres(units[u].name, &session->unit);
    snprintf(session->axes_from, sizeof session->axes_from, "the shape of scan '%s'",
             session->scans[session->reference].name);
}

/* Looks at all views of the reference. */
static ex_result look_at_shape(ex_scan_session *session, ex_error *error) {
    const ex_scan_entry *entry = &session->scans[session->reference];
    double *positions = NULL;
    size_t capacity = 0, count = 0;
    ex_result result = EX_OK;
    for (int i = 0; i < entry->file_count && result == EX_OK; i++) {
        char *path = exi_scan_file(session->folder, entry->files[i]);
        ex_error unread = {0};
        ex_mesh *mesh = NULL;
        result = path ? ex_mesh_read(path, &mesh, &unread) : EX_ERROR_MEMORY;
        free(path);
        const size_t more = mesh ? (size_t)mesh->vertex_count : 0;
        double *grown =
            result == EX_OK ? exi_array_grow(positions, &capacity, 3 * (count + more), sizeof *grown) : NULL;
        positions = grown ? grown : positions;
        if (result == EX_OK && !grown)
            result = EX_ERROR_MEMORY;
        if (result == EX_OK && more > 0)
            memcpy(positions + 3 * count, mesh->positions, 3 * more * sizeof *positions);
        count += result == EX_OK ? more : 0;
        ex_mesh_destroy(mesh);
        if (result == EX_ERROR_MEMORY)
            result = ex_error_memory(error, "a scan", 3 * (count + more) * sizeof *positions);
        else if (result != EX_OK) { /* its reader says why */
            count = 0;
            break;
        }
    }
    shape s = {.positions = positions, .count = count};
    for (int c = 0; c < 3; c++) {
        s.cut[c][0] = -INFINITY;
        s.cut[c][1] = INFINITY;
    }
    if (result != EX_ERROR_MEMORY && count > 0)
        use_shape(session, &s);
    free(positions);
    return result == EX_ERROR_MEMORY ? result : EX_OK;
}

ex_result exi_scan_find_axes(ex_scan_session *session, ex_error *error) {
    bool used = false;
    ex_result result = EX_OK;
    if (session->unit_found || session->up_found) {
        points *p = calloc(1, sizeof *p);
        if (!p)
            return ex_error_memory(error, "the landmarks", sizeof *p);
        if (session->person)
            result = add_landmarks(session, p, error);
        if (result == EX_OK)
            result = use_points(session, p, "landmarks", &used, error);
        if (result == EX_OK && !used) {
            p->count = 0;
            result = add_labels(session, p, error);
        }
        if (result == EX_OK && !used)
            result = use_points(session, p, "labels", &used, error);
        free(p);
        if (result == EX_OK && !used && session->person)
            result = look_at_shape(session, error);
    }
    session->unit = session->unit > 0 ? session->unit : 1;
    if (!session->up[0])
        memcpy(session->up, "y", 2);
    return result;
}

/*
 * The demo `sleeve` (DrivenShape, figure 6): a tube that bends in its middle like an elbow, and turns in all directions
 * at its beginning like a shoulder, with a close sleeve of light, smooth, stretchy cloth around it that is sewn to it
 * at both ends. A sleeve with a free cuff would slide down for good, and its form would depend more on the past than on
 * the present. So would a wide or rough one: it can lie on the same arm in many ways. (With 15 mm of room and friction
 * of 0.4, twelve keys were only twice as good as the nearest of them; creeping around the arm alone was 4 mm.) The tube
 * also turns about the vertical and moves from place to place, so that a moving frame has something to follow.
 *
 * Its centre line turns by the angles' share at every place, and is the sum of its directions; a vertex stays in the
 * plane across the line at its place.
 */
#include "demos/tube.h"
#include "garment.h"

#include "common/array.h"

#include <exemplar/maths.h>

#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

#define LENGTH 0.62 /* metres */
#define HALF   0.046
#define ELBOW  0.33 /* along the tube */

enum { PIECES = 256 };            /* pieces of the centre line */
enum { RINGS = 50, AROUND = 50 }; /* vertices of the sleeve */
#define SLEEVE_FROM 0.04          /* along the tube */
#define SLEEVE_TO   0.57
#define SLEEVE_HALF (HALF + 0.0035)

#define UNSEEN 0.9 /* range of the unseen motion: within the training range, as in practice */
#define FASTER 1.5 /* speed of the training motion, so that it goes through more poses in as many frames */
enum { TRAINING_FRAMES = 360, UNSEEN_FRAMES = 120 };

/* ---- the tube ---- */

enum { RAISE, SWING, BEND, TWIST, TURN, ANGLES };

/* Degrees: the middle and the range to either side; and the place of the turn along the tube, and its length. */
static const struct {
    double middle, swing, at, width;
} angles[ANGLES] = {
    [RAISE] = {0, 38, 0.12, 0.18}, [SWING] = {0, 38, 0.12, 0.18}, [BEND] = {58, 54, ELBOW, 0.22},
    [TWIST] = {0, 40, 0.45, 0.20}, [TURN] = {0, 100, 0, 0},
};

/* The centre line at a place: position, and the axes of the plane across it. */
typedef struct frame {
    double place[3], axes[3][3]; /* rows: one along, two across */
} frame;

/* Turns rows about the axis (0 x, 1 y, 2 z) of their own system. */
static void turn_axes(double axes[3][3], int axis, double radians) {
    double sine, cosine;
    ex_sin_cos(radians, &sine, &cosine);
    double *a = axes[(axis + 1) % 3], *b = axes[(axis + 2) % 3];
    for (int c = 0; c < 3; c++) {
        const double u = a[c], v = b[c];
        a[c] = cosine * u + sine * v;
        b[c] = cosine * v - sine * u;
    }
}

static void turn_frame(frame *f, const double degrees[ANGLES], double place) {
    static const int order[ANGLES] = {TURN, SWING, RAISE, BEND, TWIST}, about[ANGLES] = {1, 1, 2, 2, 0};
    memcpy(f->axes, (const double[3][3]){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, sizeof f->axes);
    for (int i = 0; i < ANGLES; i++) {
        const int k = order[i];
        double t = angles[k].width > 0 ? (place - angles[k].at) / angles[k].width + 0.5 : 1;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        turn_axes(f->axes, about[i], degrees[k] * PI / 180 * t * t * (3 - 2 * t));
    }
}

/* Computes frames at PIECES + 1 places from 0 to the tube's length. */
static void follow_line(const double degrees[ANGLES], const double moved[3], frame *frames) {
    const double step = LENGTH / PIECES;
    memcpy(frames[0].place, moved, sizeof frames[0].place);
    for (int i = 0; i <= PIECES; i++) {
        turn_frame(&frames[i], degrees, i * step);
        for (int c = 0; i > 0 && c < 3; c++)
            frames[i].place[c] = frames[i - 1].place[c] + step / 2 * (frames[i - 1].axes[0][c] + frames[i].axes[0][c]);
    }
}

static void pose(const exi_garment *garment, exi_garment_motion motion, double seconds, double part,
                 double *positions) {
    const unsigned seed = motion == GARMENT_TRAINING ? 5 : motion == GARMENT_UNSEEN ? 23 : 1000 + (unsigned)motion;
    const double wide = motion == GARMENT_UNSEEN ? UNSEEN : 1;
    if (motion != GARMENT_UNSEEN)
        seconds *= motion == GARMENT_TRAINING ? FASTER : exi_garment_speed(motion);
    double degrees[ANGLES], moved[3];
    frame frames[PIECES + 1];
    for (unsigned i = 0; i < ANGLES; i++)
        degrees[i] = part * (angles[i].middle +
                             wide * angles[i].swing * exi_garment_wave(seed, i, i == TURN ? seconds / 2 : seconds));
    for (unsigned c = 0; c < 3; c++)
        moved[c] = part * 0.2 * exi_garment_wave(seed, 100 + c, seconds / 2);
    follow_line(degrees, moved, frames);
    for (int v = 0; v < garment->driver->vertex_count; v++) {
        const double *rest = garment->driver->positions + 3 * (size_t)v, at = rest[0] / LENGTH * PIECES;
        const int i = at < 0 ? 0 : at > PIECES - 1 ? PIECES - 1 : (int)at;
        for (int c = 0; c < 3; c++) {
            double ends[2];
            for (int k = 0; k < 2; k++)
                ends[k] =
                    frames[i + k].place[c] + rest[1] * frames[i + k].axes[1][c] + rest[2] * frames[i + k].axes[2][c];
            positions[3 * v + c] = ends[0] + (at - i) * (ends[1] - ends[0]);
        }
    }
}

/* ---- the sleeve ---- */

/* Makes rings along the tube; the first and the last are pinned. */
static ex_mesh *make_sleeve(void) {
    ex_mesh *mesh = ex_mesh_create();
    if (!mesh)
        return NULL;
    const size_t triangles = 2 * (RINGS - 1) * AROUND;
    mesh->positions = array_allocate(3 * RINGS * AROUND, sizeof *mesh->positions);
    mesh->corners = array_allocate(3 * triangles, sizeof *mesh->corners);
    mesh->face_offsets = array_allocate(triangles + 1, sizeof *mesh->face_offsets);
    if (!mesh->positions || !mesh->corners || !mesh->face_offsets) {
        ex_mesh_destroy(mesh);
        return NULL;
    }
    int *corner = mesh->corners;
    for (int r = 0; r < RINGS; r++)
        for (int i = 0; i < AROUND; i++) {
            const double t = (double)r / (RINGS - 1);
            double *p = mesh->positions + 3 * (size_t)mesh->vertex_count++, sine, cosine;
            ex_sin_cos(2 * PI * i / AROUND, &sine, &cosine);
            p[0] = SLEEVE_FROM + t * (SLEEVE_TO - SLEEVE_FROM);
            p[1] = SLEEVE_HALF * cosine;
            p[2] = SLEEVE_HALF * sine;
            const int a = r * AROUND + i, b = r * AROUND + (i + 1) % AROUND, c = a + AROUND, d = b + AROUND;
            const int pairs[2][6] = {{a, b, d, a, d, c}, {a, b, c, b, d, c}}; /* diagonals in both directions */
            for (int k = 0; r + 1 < RINGS && k < 6; k++)
                *corner++ = pairs[(r + i) % 2][k];
        }
    mesh->face_count = (int)triangles;
    mesh->corner_count = 3 * mesh->face_count;
    for (int f = 0; f <= mesh->face_count; f++)
        mesh->face_offsets[f] = 3 * f;
    return mesh;
}

ex_result exi_sleeve_make(exi_garment *garment, ex_error *error) {
    const exi_tube tube = {.rings = 44, .around = 40, .length = LENGTH, .half = HALF};
    *garment = (exi_garment){.name = "sleeve",
                             .driver = exi_tube_create(&tube),
                             .driven = make_sleeve(),
                             .pinned = calloc(RINGS * AROUND, sizeof *garment->pinned),
                             .frame_counts = {TRAINING_FRAMES, UNSEEN_FRAMES},
                             .cloth = exi_cloth_def_default(),
                             .pose = pose};
    if (!garment->driver || !garment->driven || !garment->pinned)
        return ex_error_memory(error, "the sleeve", 0);
    for (int i = 0; i < AROUND; i++)
        garment->pinned[i] = garment->pinned[(RINGS - 1) * AROUND + i] = true;
    garment->cloth.substeps = 20;
    garment->cloth.search = 4;
    garment->cloth.density = 0.08;
    garment->cloth.stretch = 600;
    garment->cloth.bend = 2e-5;
    garment->cloth.viscosity = 300;
    garment->cloth.drag = 20;
    garment->cloth.friction = 0.02;
    garment->cloth.thickness = 0.003;
    return EX_OK;
}

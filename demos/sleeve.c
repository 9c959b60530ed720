/*
 * The demo `sleeve` (DrivenShape, figure 6): a tube that bends in its middle like an elbow, and a little at its
 * beginning, with a wide sleeve of cloth around it that is sewn to it at both ends: one that were free
 * at the cuff would slide down for good, and its form would say more about what was than about what is. The tube turns
 * about its own length and about the vertical as well, so that the sleeve hangs differently and a moving frame has
 * something to follow.
 */
#include "garment.h"
#include "tube.h"

#include "author/formats/array.h"
#include "runtime/base/functions.inl"
#include "runtime/base/result.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

#define LENGTH 0.62 /* metres */
#define HALF   0.046
#define ELBOW  0.33 /* along the tube */

enum { RINGS = 50, AROUND = 50 }; /* vertices of the sleeve */
#define SLEEVE_FROM 0.04          /* along the tube */
#define SLEEVE_TO   0.57
#define SLEEVE_HALF (HALF + 0.008) /* at both ends */
#define SLEEVE_WIDE (HALF + 0.022) /* in the middle */

enum { TRAINING_FRAMES = 240, UNSEEN_FRAMES = 120 };

/* The tube bent by so many degrees at its beginning and in its middle. */
static exi_tube tube_of(exi_tube_bend bends[2], double shoulder, double elbow) {
    bends[0] = (exi_tube_bend){0.13, 0.16, shoulder};
    bends[1] = (exi_tube_bend){ELBOW, 0.22, elbow};
    return (exi_tube){.rings = 44, .around = 40, .length = LENGTH, .half = HALF, .bends = bends, .bend_count = 2};
}

/* About x by `roll`, then about y by `yaw`, in degrees, and aside. */
static void turn_all(double *positions, int count, double roll, double yaw, const double aside[3]) {
    double sine[2], cosine[2];
    exi_sin_cos(roll * PI / 180, &sine[0], &cosine[0]);
    exi_sin_cos(yaw * PI / 180, &sine[1], &cosine[1]);
    for (int v = 0; v < count; v++) {
        double *p = positions + 3 * (size_t)v;
        const double y = p[1] * cosine[0] - p[2] * sine[0], z = p[1] * sine[0] + p[2] * cosine[0], x = p[0];
        p[0] = x * cosine[1] + z * sine[1] + aside[0];
        p[1] = y + aside[1];
        p[2] = z * cosine[1] - x * sine[1] + aside[2];
    }
}

static void pose(const exi_garment *garment, exi_garment_motion motion, double seconds, double part,
                 double *positions) {
    const unsigned seed = motion == GARMENT_TRAINING ? 5 : 23;
    double wave[7];
    for (unsigned i = 0; i < 7; i++)
        wave[i] = part * exi_garment_wave(seed, i, seconds);
    exi_tube_bend bends[2];
    const exi_tube tube = tube_of(bends, 24 * wave[0], 55 * part + 55 * wave[1]);
    exi_tube_shape(&tube, positions);
    const double aside[3] = {0.3 * wave[4], 0.1 * wave[5], 0.3 * wave[6]};
    turn_all(positions, garment->driver->vertex_count, 35 * wave[2], 100 * wave[3], aside);
}

/* Rings around the tube's length; the first and the last are pinned. */
static ex_mesh *make_sleeve(void) {
    ex_mesh *mesh = ex_mesh_create();
    if (!mesh)
        return NULL;
    const size_t triangles = 2 * (RINGS - 1) * AROUND;
    mesh->positions = exi_array_allocate(3 * RINGS * AROUND, sizeof *mesh->positions);
    mesh->corners = exi_array_allocate(3 * triangles, sizeof *mesh->corners);
    mesh->face_offsets = exi_array_allocate(triangles + 1, sizeof *mesh->face_offsets);
    if (!mesh->positions || !mesh->corners || !mesh->face_offsets) {
        ex_mesh_destroy(mesh);
        return NULL;
    }
    int *corner = mesh->corners;
    for (int r = 0; r < RINGS; r++)
        for (int i = 0; i < AROUND; i++) {
            const double t = (double)r / (RINGS - 1),
                         half = SLEEVE_HALF + 4 * t * (1 - t) * (SLEEVE_WIDE - SLEEVE_HALF);
            double *p = mesh->positions + 3 * (size_t)mesh->vertex_count++, sine, cosine;
            exi_sin_cos(2 * PI * i / AROUND, &sine, &cosine);
            p[0] = SLEEVE_FROM + t * (SLEEVE_TO - SLEEVE_FROM);
            p[1] = half * cosine;
            p[2] = half * sine;
            const int a = r * AROUND + i, b = r * AROUND + (i + 1) % AROUND, c = a + AROUND, d = b + AROUND;
            const int pairs[2][6] = {{a, b, d, a, d, c}, {a, b, c, b, d, c}}; /* diagonals both ways */
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
    exi_tube_bend bends[2];
    const exi_tube tube = tube_of(bends, 0, 0);
    *garment = (exi_garment){.name = "sleeve",
                             .driver = exi_tube_create(&tube),
                             .driven = make_sleeve(),
                             .pinned = calloc(RINGS * AROUND, sizeof *garment->pinned),
                             .frame_counts = {TRAINING_FRAMES, UNSEEN_FRAMES},
                             .cloth = exi_cloth_def_default(),
                             .pose = pose};
    if (!garment->driver || !garment->driven || !garment->pinned)
        return exi_error_memory(error, "the sleeve", 0);
    for (int i = 0; i < AROUND; i++)
        garment->pinned[i] = garment->pinned[(RINGS - 1) * AROUND + i] = true;
    garment->cloth.substeps = 32;
    garment->cloth.search = 4;
    garment->cloth.bend = 5e-5;
    garment->cloth.thickness = 0.003;
    return EX_OK;
}

/*
 * Frames forms for a parallel camera. The frame of that camera is a box, whose corners may be empty. So the box is
 * moved until its middle is the forms' middle in the picture, and scaled until they fill it.
 */

#include <exemplar/author/picture.h>

#include <math.h>

ex_framing ex_framing_start(double yaw, double pitch) {
    const double a = yaw * 3.14159265358979323846 / 180, b = pitch * 3.14159265358979323846 / 180;
    return (ex_framing){.yaw = yaw,
                        .pitch = pitch,
                        .right = {cos(a), 0, -sin(a)},
                        .up = {-sin(a) * sin(b), cos(b), -cos(a) * sin(b)},
                        .box = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY},
                        .across = {INFINITY, -INFINITY},
                        .along = {INFINITY, -INFINITY}};
}

static void widen(double *low, double *high, double value) {
    *low = value < *low ? value : *low;
    *high = value > *high ? value : *high;
}

bool ex_framing_add(ex_framing *f, const float *positions, int count) {
    for (int v = 0; v < count; v++) {
        const float *p = positions + 3 * (size_t)v;
        double across = 0, along = 0;
        for (int k = 0; k < 3; k++) {
            const double x = (double)p[k];
            if (!isfinite(x))
                return false;
            widen(&f->box[k], &f->box[3 + k], x);
            across += f->right[k] * x;
            along += f->up[k] * x;
        }
        widen(&f->across[0], &f->across[1], across);
        widen(&f->along[0], &f->along[1], along);
    }
    return true;
}

ex_camera ex_framing_camera(const ex_framing *f, int size, int *picture_width, int *picture_height) {
    double box[2] = {0, 0}, middle[2] = {0, 0};
    for (int k = 0; k < 3; k++) {
        const double half = (f->box[3 + k] - f->box[k]) / 2, centre = (f->box[3 + k] + f->box[k]) / 2;
        box[0] += fabs(f->right[k]) * half;
        box[1] += fabs(f->up[k]) * half;
        middle[0] += f->right[k] * centre;
        middle[1] += f->up[k] * centre;
    }
    const double width = (f->across[1] - f->across[0]) / 2, height = (f->along[1] - f->along[0]) / 2;
    /* Keep the aspect ratio within reason; a form without width needs a frame too. */
    double ratio = width > 0 && height > 0 ? width / height : 1;
    ratio = ratio < 0.6 ? 0.6 : ratio > 1.8 ? 1.8 : ratio;
    *picture_width = ratio >= 1 ? size : (int)ceil(size * ratio);
    *picture_height = ratio >= 1 ? (int)ceil(size / ratio) : size;
    const double aspect = (double)*picture_width / *picture_height;
    const double wide = box[1] > box[0] / aspect ? box[1] : box[0] / aspect;
    const double tight = height > width / aspect ? height : width / aspect;
    const double zoom = tight > 0 && wide > 0 ? wide / tight : 1;
    ex_camera camera = {.yaw = f->yaw, .pitch = f->pitch, .zoom = zoom < 1000 ? zoom : 1000};
    for (int k = 0; k < 6; k++)
        camera.box[k] = f->box[k] + ((f->across[0] + f->across[1]) / 2 - middle[0]) * f->right[k % 3] +
                        ((f->along[0] + f->along[1]) / 2 - middle[1]) * f->up[k % 3];
    return camera;
}

/*
 * The view: from angles to rays, framed exactly.
 *
 * With the eye's axes right, up and back, a point p is inside the left and right edges of the picture if |x - eye.x| <=
 * h (eye.z - z), where h is half the picture's width at distance 1. Let A = max of x + h z and B = max of -x + h z over
 * all points. Then eye.z = (A + B) / (2 h) is the nearest position from which all are seen, and eye.x = (A - B) / 2
 * leaves the same margin on both sides. The same holds for up and down; the farther of the two eyes is used. A and B
 * are supports of the points along a direction, which are also known for circles, so a turning form stays in one frame.
 */
#include "author/picture/render/render.h"

#include "runtime/base/result.h"

#define MARGIN 0.08 /* fraction of the picture, on either side */

typedef struct frame {
    const exi_stage *stage;
    bool given, all_around;
    double box[6];       /* in the stage's coordinates: relative to its origin, in its unit */
    const float *points; /* [point_count][3] in the items' coordinates, instead of the box; or NULL */
    int point_count;
} frame;

/* Returns the largest dot(p, w) over everything that must be visible. */
static double support(const frame *f, exi_v3 w) {
    double level = sqrt((double)w.x * (double)w.x + (double)w.z * (double)w.z), most = -INFINITY;
    int count = f->points ? f->point_count : f->given ? 8 : f->stage->corner_count;
    int item = 0;
    for (int i = 0; i < count; i++) {
        double p[3];
        if (f->points) {
            for (int k = 0; k < 3; k++)
                p[k] = ((double)f->points[3 * (size_t)i + (size_t)k] - f->stage->origin[k]) / f->stage->unit;
        } else if (f->given) {
            for (int k = 0; k < 3; k++)
                p[k] = f->box[(i >> k) & 1 ? 3 + k : k];
        } else {
            /* Vertices without a face are not visible. */
            while (item + 1 < f->stage->item_count && i >= f->stage->items[item + 1].first_corner)
                item++;
            const exi_stage_item *at = &f->stage->items[item];
            int vertex = at->first_vertex + at->source->mesh->corners[i - at->first_corner];
            for (int k = 0; k < 3; k++)
                p[k] = (double)f->stage->positions[3 * (size_t)vertex + (size_t)k];
        }
        double along =
            f->all_around ? level * sqrt(p[0] * p[0] + p[2] * p[2]) : (double)w.x * p[0] + (double)w.z * p[2];
        along += (double)w.y * p[1];
        most = along > most ? along : most;
    }
    return most;
}

/* Computes the eye's position along one axis of the picture and its distance, for half a width h at distance 1. */
static void fit_axis(const frame *f, exi_v3 axis, exi_v3 back, double h, double *at, double *distance) {
    double a = support(f, exi_v3_along(axis, (float)h, back));
    double b = support(f, exi_v3_along(exi_v3_scale(axis, -1), (float)h, back));
    *at = (a - b) / 2;
    *distance = (a + b) / (2 * h);
}

/* Computes that position if the eye is farther away than this axis needs: that of the narrower picture for which the
 * distance is right, so that both sides of the picture have the same margin. */
static void centre_axis(const frame *f, exi_v3 axis, exi_v3 back, double h, double distance, double *at) {
    double low = 0, high = h;
    for (int i = 0; i < 14; i++) {
        double middle = (low + high) / 2, needed;
        fit_axis(f, axis, back, middle, at, &needed);
        if (needed > distance)
            low = middle;
        else
            high = middle;
    }
}

static void frame_perspective(exi_view *view, const frame *f, double angle, double zoom) {
    double half = tan(angle * 3.14159265358979323846 / 360), aspect = (double)view->width / (double)view->height;
    double across = aspect > 1 ? half * aspect : half, along = aspect > 1 ? half : half / aspect;
    double x, y, z, z_along;
    double narrow = 1 - 2 * MARGIN;
    fit_axis(f, view->right, view->back, across * narrow, &x, &z);
    fit_axis(f, view->up, view->back, along * narrow, &y, &z_along);
    if (z < z_along)
        centre_axis(f, view->right, view->back, across * narrow, z_along, &x);
    else
        centre_axis(f, view->up, view->back, along * narrow, z, &y);
    z = z_along > z ? z_along : z;
    z += 1e-3 * (double)f->stage->size;
    view->eye = exi_v3_add(exi_v3_scale(view->right, (float)x),
                           exi_v3_along(exi_v3_scale(view->up, (float)y), (float)z, view->back));
    view->half_width = (float)(across / zoom);
    view->half_height = (float)(along / zoom);
}

static void frame_parallel(exi_view *view, const frame *f, double zoom) {
    double x[2], y[2];
    for (int i = 0; i < 2; i++) {
        x[i] = support(f, exi_v3_scale(view->right, i ? 1.0f : -1.0f));
        y[i] = support(f, exi_v3_scale(view->up, i ? 1.0f : -1.0f));
    }
    double width = (x[0] + x[1]) / 2, height = (y[0] + y[1]) / 2, aspect = (double)view->width / (double)view->height;
    double half = height > width / aspect ? height : width / aspect;
    half = half > 0 ? half : (double)f->stage->size;
    half /= (1 - 2 * MARGIN) * zoom;
    view->half_width = (float)(half * aspect);
    view->half_height = (float)half;
    /* Far enough away for everything, not only for what is framed. */
    double corner = 0;
    for (int k = 0; k < 3; k++) {
        double low = fabs(f->stage->box[k] - f->stage->origin[k]) / f->stage->unit;
        double high = fabs(f->stage->box[3 + k] - f->stage->origin[k]) / f->stage->unit;
        corner += low > high ? low * low : high * high;
    }
    double away = 2 * sqrt(corner) + (double)f->stage->size;
    view->eye = exi_v3_add(exi_v3_scale(view->right, (float)((x[1] - x[0]) / 2)),
                           exi_v3_along(exi_v3_scale(view->up, (float)((y[1] - y[0]) / 2)), (float)away, view->back));
}

/* Returns the height to frame in, so that a form, with its margin, ends above the legend. */
static float framed_height(const ex_render_def *def, const exi_stage *stage) {
    bool legend = false;
    for (int i = 0; i < stage->item_count; i++)
        legend = legend || (def->legend && stage->items[i].map);
    const double free = legend ? def->height - exi_legend_height(def->width, def->height) : def->height;
    return free < (1 - MARGIN) * def->height ? (float)(free / (1 - MARGIN)) : (float)def->height;
}

ex_result exi_view_frame(exi_view *view, const ex_render_def *def, const exi_stage *stage, ex_error *error) {
    const ex_camera *c = &def->camera;
    if (!(fabs(c->yaw) <= 1e6) || !(fabs(c->pitch) <= 90))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the camera is at yaw %g and pitch %g: pitch must be from -90 to 90 degrees", c->yaw,
                            c->pitch);
    if (!(c->angle >= 0 && c->angle <= 120) || (c->angle > 0 && c->angle < 0.1))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the angle of view is %g degrees: it must be from 0.1 to 120, or 0 for a parallel view",
                            c->angle);
    if (!(c->zoom >= 0.01 && c->zoom <= 1000))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the zoom is %g: it must be from 0.01 to 1000", c->zoom);
    frame f = {.stage = stage,
               .all_around = c->all_around,
               .points = c->point_count > 0 ? c->points : NULL,
               .point_count = c->point_count};
    for (int k = 0; k < 6; k++) {
        f.given = f.given || c->box[k] != 0;
        f.box[k] = (c->box[k] - stage->origin[k % 3]) / stage->unit;
    }
    double yaw = c->yaw * 3.14159265358979323846 / 180, pitch = c->pitch * 3.14159265358979323846 / 180;
    *view = (exi_view){.parallel = c->angle <= 0, .width = def->width, .height = framed_height(def, stage)};
    view->right = (exi_v3){(float)cos(yaw), 0, (float)-sin(yaw)};
    view->back = (exi_v3){(float)(sin(yaw) * cos(pitch)), (float)sin(pitch), (float)(cos(yaw) * cos(pitch))};
    view->up = exi_v3_cross(view->back, view->right);
    if (view->parallel)
        frame_parallel(view, &f, c->zoom);
    else
        frame_perspective(view, &f, c->angle, c->zoom);
    return EX_OK;
}

void exi_view_ray(const exi_view *view, float x, float y, exi_v3 *from, exi_v3 *direction) {
    float across = (2 * x / (float)view->width - 1) * view->half_width;
    float along = (1 - 2 * y / view->height) * view->half_height;
    exi_v3 beside = exi_v3_add(exi_v3_scale(view->right, across), exi_v3_scale(view->up, along));
    if (view->parallel) {
        *from = exi_v3_add(view->eye, beside);
        *direction = exi_v3_scale(view->back, -1);
    } else {
        *from = view->eye;
        *direction = exi_v3_unit(exi_v3_subtract(beside, view->back));
    }
}

bool exi_view_project(const exi_view *view, exi_v3 point, float *x, float *y) {
    exi_v3 p = exi_v3_subtract(point, view->eye);
    float depth = -exi_v3_dot(p, view->back), scale = view->parallel ? 1 : depth;
    if (!(depth > 0))
        return false;
    *x = (1 + exi_v3_dot(p, view->right) / (scale * view->half_width)) * (float)view->width / 2;
    *y = (1 - exi_v3_dot(p, view->up) / (scale * view->half_height)) * view->height / 2;
    return true;
}

float exi_view_pixel(const exi_view *view, float distance) {
    return 2 * view->half_height / view->height * (view->parallel ? 1 : distance);
}

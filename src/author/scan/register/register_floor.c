/*
 * Leaves out floors, walls and table tops: planes much larger than any flat part of the template. Near the feet they
 * would pull the toes flat, since they face the same way and are within reach.
 *
 * Every point with its normal proposes a plane; TRIES of them are counted on at most PROBES other points. The best one
 * is moved to the mean of its points, and counts as a floor if its points cover more than LARGE squares of the
 * template's size, and more than twice the skin of the template that is near it and faces the same way.
 */
#include "author/scan/register/register.h"

#include "runtime/base/vector.h"

#include <math.h>
#include <string.h>

enum { TRIES = 128, PROBES = 3000, PLANES = 3, REFITS = 2 };
#define LARGE   0.05
#define ALIGNED 0.9
/* Half the thickness of a plane: in noises, and at least in sizes of the template. */
#define NOISES 4.0
#define THIN   0.002

typedef struct plane {
    double normal[3];
    double offset; /* normal . p of its points */
} plane;

static bool is_on(const plane *p, const exi_reg_point *point, double thick) {
    double height = -p->offset, facing = 0;
    for (int k = 0; k < 3; k++) {
        height += p->normal[k] * (double)point->at[k];
        facing += p->normal[k] * (double)point->normal[k];
    }
    return fabs(height) < thick && facing > ALIGNED;
}

static plane plane_of(const exi_reg_point *point) {
    plane p = {.offset = 0};
    for (int k = 0; k < 3; k++) {
        p.normal[k] = (double)point->normal[k];
        p.offset += (double)point->normal[k] * (double)point->at[k];
    }
    return p;
}

static int count_on(const exi_reg_scan *scan, const plane *p, double thick, int step) {
    int count = 0;
    for (int i = 0; i < scan->count; i += step)
        count += is_on(p, &scan->points[i], thick);
    return count;
}

/* Moves a plane to the mean of its points. */
static plane refit(const exi_reg_scan *scan, const plane *p, double thick) {
    plane made = {.offset = 0};
    double middle[3] = {0};
    int count = 0;
    for (int i = 0; i < scan->count; i++)
        if (is_on(p, &scan->points[i], thick)) {
            count++;
            for (int k = 0; k < 3; k++) {
                made.normal[k] += (double)scan->points[i].normal[k];
                middle[k] += (double)scan->points[i].at[k];
            }
        }
    if (count == 0 || !exi_unit3(made.normal))
        return *p;
    made.offset = exi_dot3(made.normal, middle) / count;
    return made;
}

/* Skin of the template near a plane that faces the same way. */
static double skin_near(const exi_reg_shape *shape, const exi_reg_point *points, const plane *p, double reach) {
    double area = 0;
    for (int v = 0; v < shape->count; v++)
        area += is_on(p, &points[v], reach) ? shape->areas[v] : 0;
    return area;
}

static void drop(exi_reg_scan *scan, const plane *p, double thick) {
    int kept = 0;
    for (int i = 0; i < scan->count; i++) {
        if (is_on(p, &scan->points[i], thick)) {
            scan->left_out += (double)scan->areas[i];
            continue;
        }
        scan->points[kept] = scan->points[i];
        scan->areas[kept++] = scan->areas[i];
    }
    scan->count = kept;
}

int exi_reg_scan_drop_floors(exi_reg_scan *scan, const exi_reg_shape *shape, const exi_reg_point *points, double reach,
                             double noise) {
    const double thick = fmax(NOISES * noise, THIN * shape->size);
    int dropped = 0;
    while (dropped < PLANES && scan->count > TRIES) {
        const int step = scan->count / PROBES + 1;
        plane best = {{0}, 0};
        int most = 0;
        for (int i = 0; i < TRIES; i++) {
            const plane p = plane_of(&scan->points[(int64_t)i * scan->count / TRIES]);
            const int count = count_on(scan, &p, 2 * thick, step);
            if (count > most) {
                most = count;
                best = p;
            }
        }
        for (int i = 0; i < REFITS; i++)
            best = refit(scan, &best, 2 * thick);
        const double area = count_on(scan, &best, thick, 1) * exi_reg_point_area(scan);
        if (!(area > LARGE * shape->size * shape->size) || !(area > 2 * skin_near(shape, points, &best, reach)))
            break;
        drop(scan, &best, thick);
        dropped++;
    }
    return dropped;
}

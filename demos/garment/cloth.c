/*
 * Cloth by extended position-based dynamics with small substeps. In each, vertices move on by their velocity; then
 * every constraint C with compliance a moves its vertices, one constraint after the other, by
 *
 *   dx_i = -w_i grad_i C  C / (sum_j w_j |grad_j C|^2 + a / h^2),   w: 1 / mass, h: the substep's time,
 *
 * one pass per substep: halving the substep gains more than a second pass. The driver comes last, so that no vertex is
 * left inside it. Velocity is the motion of the substep over its time; a push out of the driver adds none, or cloth
 * caught between two limbs would be shot out.
 */
#include "cloth.h"
#include "cloth_parts.h"

#include "common/array.h"
#include "demos/vector.h"

#include <exemplar/maths.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 0.05 /* metres from the driver within which the air moves with it */

struct exi_cloth {
    exi_cloth_def def;
    int vertex_count;
    exi_cloth_parts parts;
    exi_cloth_driver driver;
    double *gaps;                            /* [vertex_count] */
    double *positions, *before, *velocities; /* [vertex_count][3] */
    double *smoothed;                        /* [vertex_count][3] */
    exi_cloth_contact *contacts;             /* [vertex_count]: from the last search, moved with the driver since */
    int *valences;                           /* [vertex_count] edges */
    exi_cloth_pin *pins;
    int pin_count;
    double *target_from, *target_to; /* [vertex_count][3] */
    bool drawn;                      /* true if the previous frame had targets */
};

exi_cloth_def exi_cloth_def_default(void) {
    return (exi_cloth_def){.frame_time = 1.0 / 25,
                           .substeps = 40,
                           .search = 5,
                           .gravity = 9.81,
                           .density = 0.2,
                           .stretch = 2000,
                           .compress = 0.3,
                           .bend = 1e-4,
                           .bent = 1,
                           .viscosity = 30,
                           .drag = 3,
                           .thickness = 0.004,
                           .friction = 0.4,
                           .target = 400};
}

/* ---- constraints ---- */

static void solve_edge(exi_cloth *cloth, const exi_cloth_edge *e) {
    double *a = cloth->positions + 3 * (size_t)e->a, *b = cloth->positions + 3 * (size_t)e->b, d[3];
    subtract(b, a, d);
    const double length = sqrt(dot3(d, d));
    if (!(length > 0))
        return;
    const double move = (1 - e->length / length) * (length < e->length ? e->shortened : e->stretched);
    const double move_a = cloth->parts.lightness[e->a] * move, move_b = cloth->parts.lightness[e->b] * move;
    for (int c = 0; c < 3; c++) {
        a[c] += move_a * d[c];
        b[c] -= move_b * d[c];
    }
}

static void solve_hinge(exi_cloth *cloth, const exi_cloth_hinge *h) {
    double *p[4], sum[3] = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        p[i] = cloth->positions + 3 * (size_t)h->vertices[i];
        for (int c = 0; c < 3; c++)
            sum[c] += h->weights[i] * p[i][c];
    }
    const double bend_sq = dot3(sum, sum);
    if (!(bend_sq > 1e-30))
        return;
    const double part = 1 - h->bent / sqrt(bend_sq);
    for (int i = 0; i < 4; i++)
        for (int c = 0; c < 3; c++)
            p[i][c] -= part * h->moves[i] * sum[c];
}

/* Always in the same order. Reversing it in every other substep would treat both ends of the cloth alike, but makes
 * stiff cloth shake endlessly. */
static void solve_parts(exi_cloth *cloth) {
    const exi_cloth_parts *parts = &cloth->parts;
    for (int i = 0; i < parts->hinge_count; i++)
        solve_hinge(cloth, &parts->hinges[i]);
    for (int i = 0; i < parts->edge_count; i++)
        solve_edge(cloth, &parts->edges[i]);
}

static void draw_to_targets(exi_cloth *cloth, double part, double time) {
    const double pull = cloth->def.target * time * time, share = pull / (1 + pull);
    for (size_t i = 0; i < 3 * (size_t)cloth->vertex_count; i++) {
        const double target = cloth->target_from[i] + part * (cloth->target_to[i] - cloth->target_from[i]);
        if (cloth->parts.lightness[i / 3] > 0)
            cloth->positions[i] += share * (target - cloth->positions[i]);
    }
}

/* ---- the driver ---- */

/* Pushes a vertex out of the driver, with friction: motion along the driver is reduced by up to the friction
 * coefficient times the motion into it. (A fraction of the depth would be too little for vertices that touch only now
 * and then: one that just arrives is not deep.) */
static void push_out(const exi_cloth *cloth, const exi_cloth_contact *contact, double gap, const double driven[3],
                     double *p, double *before) {
    const double depth = gap - contact->distance;
    double slip[3];
    for (int c = 0; c < 3; c++)
        slip[c] = p[c] - before[c] - driven[c];
    const double away = dot3(slip, contact->normal);
    for (int c = 0; c < 3; c++)
        slip[c] -= away * contact->normal[c];
    const double length = sqrt(dot3(slip, slip)), held = away < 0 ? -cloth->def.friction * away : 0;
    const double part = length > held ? held / length : 1;
    for (int c = 0; c < 3; c++) {
        p[c] += depth * contact->normal[c] - part * slip[c];
        before[c] += (away + depth) * contact->normal[c]; /* along the normal it moves with the driver */
    }
}

/* Finds the nearest place on the driver for every vertex; none: a distance out of reach. */
static void find_contacts(exi_cloth *cloth, double part) {
    exi_cloth_driver_move(&cloth->driver, part);
    for (int v = 0; v < cloth->vertex_count; v++)
        if (!exi_cloth_driver_touch(&cloth->driver, cloth->positions + 3 * (size_t)v, NEAR, &cloth->contacts[v]))
            cloth->contacts[v] = (exi_cloth_contact){.distance = NEAR};
}

/* Between two searches the driver is, for every vertex, the plane that was found, moving with the driver there. */
static void move_contacts(exi_cloth *cloth, double part_of_frame) {
    for (int v = 0; v < cloth->vertex_count; v++) {
        exi_cloth_contact *contact = &cloth->contacts[v];
        double away[3];
        if (contact->distance >= NEAR)
            continue;
        for (int c = 0; c < 3; c++) {
            contact->point[c] += part_of_frame * contact->velocity[c];
            away[c] = cloth->positions[3 * v + c] - contact->point[c];
        }
        contact->distance = dot3(away, contact->normal);
    }
}

/* Pushes vertices out; then computes velocities, with the drag of the air, which moves with the driver: near it with
 * its local velocity, farther away with its mean velocity. So a walk makes no wind. */
static void meet_driver(exi_cloth *cloth, double part_of_frame, double time) {
    const double drag = 1 - ex_exp(-cloth->def.drag * time);
    for (int v = 0; v < cloth->vertex_count; v++) {
        double *p = cloth->positions + 3 * (size_t)v, *before = cloth->before + 3 * (size_t)v, driven[3];
        const exi_cloth_contact *contact = &cloth->contacts[v];
        const double near = contact->distance < 0 ? 1 : contact->distance < NEAR ? 1 - contact->distance / NEAR : 0;
        for (int c = 0; c < 3; c++)
            driven[c] = contact->velocity[c] * part_of_frame;
        if (contact->distance < cloth->gaps[v] && cloth->parts.lightness[v] > 0)
            push_out(cloth, contact, cloth->gaps[v], driven, p, before);
        for (int c = 0; c < 3; c++) {
            const double moved = p[c] - before[c], mean = cloth->driver.mean[c] * part_of_frame;
            cloth->velocities[3 * v + c] = (moved + drag * (mean + near * (driven[c] - mean) - moved)) / time;
        }
    }
}

/* ---- a frame ---- */

/* Damps the motion of vertices relative to the mean of their neighbours. */
static void smooth_velocities(exi_cloth *cloth, double time) {
    const size_t count = 3 * (size_t)cloth->vertex_count;
    const double share = 1 - ex_exp(-cloth->def.viscosity * time);
    memset(cloth->smoothed, 0, count * sizeof(double));
    for (int e = 0; e < cloth->parts.edge_count; e++) {
        const size_t a = 3 * (size_t)cloth->parts.edges[e].a, b = 3 * (size_t)cloth->parts.edges[e].b;
        for (size_t c = 0; c < 3; c++) {
            const double faster = cloth->velocities[b + c] - cloth->velocities[a + c];
            cloth->smoothed[a + c] += faster;
            cloth->smoothed[b + c] -= faster;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (cloth->valences[i / 3] > 0)
            cloth->velocities[i] += share * cloth->smoothed[i] / cloth->valences[i / 3];
}

static void carry_pins(exi_cloth *cloth, double part) {
    for (int i = 0; i < cloth->pin_count; i++)
        for (int c = 0; c < 3; c++)
            cloth->positions[3 * cloth->pins[i].vertex + c] =
                cloth->pins[i].from[c] + part * (cloth->pins[i].to[c] - cloth->pins[i].from[c]);
}

static void substep(exi_cloth *cloth, int number, bool drawn) {
    const double part = (double)number / cloth->def.substeps, time = cloth->def.frame_time / cloth->def.substeps;
    const size_t count = 3 * (size_t)cloth->vertex_count;
    smooth_velocities(cloth, time);
    memcpy(cloth->before, cloth->positions, count * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        if (!(cloth->parts.lightness[i / 3] > 0))
            continue;
        cloth->velocities[i] -= i % 3 == 1 ? cloth->def.gravity * time : 0;
        cloth->positions[i] += cloth->velocities[i] * time;
    }
    carry_pins(cloth, part);
    solve_parts(cloth);
    if (drawn)
        draw_to_targets(cloth, part, time);
    if (number % cloth->def.search == 0 || number == cloth->def.substeps)
        find_contacts(cloth, part);
    else
        move_contacts(cloth, 1.0 / cloth->def.substeps);
    meet_driver(cloth, 1.0 / cloth->def.substeps, time);
}

void exi_cloth_step(exi_cloth *cloth, const double *driver, const double *targets) {
    const size_t bytes = 3 * (size_t)cloth->vertex_count * sizeof(double);
    exi_cloth_driver_next(&cloth->driver, driver);
    for (int i = 0; i < cloth->pin_count; i++) {
        memcpy(cloth->pins[i].from, cloth->pins[i].to, sizeof cloth->pins[i].from);
        exi_cloth_driver_carry(&cloth->driver, &cloth->pins[i], cloth->pins[i].to);
    }
    if (targets) {
        memcpy(cloth->target_from, cloth->drawn ? cloth->target_to : targets, bytes);
        memcpy(cloth->target_to, targets, bytes);
    }
    cloth->drawn = targets;
    for (int i = 1; i <= cloth->def.substeps; i++)
        substep(cloth, i, targets);
}

const double *exi_cloth_positions(const exi_cloth *cloth) {
    return cloth->positions;
}

/* ---- creation ---- */

static ex_result check(const exi_cloth_def *def, ex_error *error) {
    const ex_mesh *meshes[2] = {def->cloth, def->driver};
    if (!def->cloth || !def->driver)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "exi_cloth_create was called with "
                            "cloth or driver is NULL");
    if (!(def->substeps > 0 && def->search > 0 && def->frame_time > 0 && def->density > 0 && def->stretch > 0 &&
          def->compress > 0))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "exi_cloth_create was called with "
                            "a substep, a time, the density or a stiffness is not > 0");
    for (int m = 0; m < 2; m++)
        for (int f = 0; f < meshes[m]->face_count; f++)
            if (meshes[m]->face_offsets[f + 1] != 3 * (f + 1))
                return ex_error_set(error, EX_ERROR_DATA, "face %d of the %s is not a triangle: triangulate it first",
                                    f, m == 0 ? "cloth" : "driver");
    return EX_OK;
}

static ex_result fill(exi_cloth *cloth, const exi_cloth_def *def, ex_error *error) {
    const size_t count = 3 * (size_t)def->cloth->vertex_count;
    double **arrays[] = {&cloth->before, &cloth->velocities, &cloth->smoothed, &cloth->target_from, &cloth->target_to};
    *cloth = (exi_cloth){.def = *def, .vertex_count = def->cloth->vertex_count};
    ex_result result = exi_cloth_parts_make(def, &cloth->parts, error);
    if (result == EX_OK)
        result = exi_cloth_driver_make(def->driver, &cloth->driver, error);
    if (result != EX_OK)
        return result;
    cloth->positions = array_copy(def->start ? def->start : def->cloth->positions, count, sizeof(double));
    cloth->gaps = array_allocate((size_t)cloth->vertex_count, sizeof *cloth->gaps);
    cloth->valences = calloc((size_t)cloth->vertex_count + 1, sizeof *cloth->valences);
    cloth->contacts = calloc((size_t)cloth->vertex_count + 1, sizeof *cloth->contacts);
    cloth->pins = calloc((size_t)cloth->vertex_count + 1, sizeof *cloth->pins);
    bool made = cloth->positions && cloth->gaps && cloth->valences && cloth->contacts && cloth->pins;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = calloc(count + 1, sizeof(double));
        made = made && *arrays[i];
    }
    if (!made)
        return ex_error_memory(error, "cloth", 6 * count * sizeof(double));
    for (int v = 0; v < cloth->vertex_count; v++)
        cloth->gaps[v] = def->gaps ? def->gaps[v] : def->thickness;
    for (int e = 0; e < cloth->parts.edge_count; e++) {
        cloth->valences[cloth->parts.edges[e].a]++;
        cloth->valences[cloth->parts.edges[e].b]++;
    }
    find_contacts(cloth, 1);
    for (int v = 0; def->pinned && v < cloth->vertex_count; v++) {
        exi_cloth_pin *pin = &cloth->pins[cloth->pin_count];
        if (!def->pinned[v])
            continue;
        if (!exi_cloth_driver_pin(&cloth->driver, cloth->positions + 3 * (size_t)v, pin))
            return ex_error_set(error, EX_ERROR_DATA,
                                "vertex %d of the cloth cannot be pinned: the driver has no area there", v);
        pin->vertex = v;
        memcpy(pin->to, cloth->positions + 3 * (size_t)v, sizeof pin->to);
        cloth->pin_count++;
    }
    return EX_OK;
}

ex_result exi_cloth_create(const exi_cloth_def *def, exi_cloth **cloth, ex_error *error) {
    if (!def || !cloth)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "exi_cloth_create was called with "
                            "def or cloth is NULL");
    *cloth = NULL;
    ex_result result = check(def, error);
    exi_cloth *made = result == EX_OK ? calloc(1, sizeof *made) : NULL;
    if (result == EX_OK)
        result = made ? fill(made, def, error) : ex_error_memory(error, "cloth", sizeof *made);
    if (result == EX_OK)
        *cloth = made;
    else
        exi_cloth_destroy(made);
    return result;
}

void exi_cloth_destroy(exi_cloth *cloth) {
    if (!cloth)
        return;
    exi_cloth_parts_free(&cloth->parts);
    exi_cloth_driver_free(&cloth->driver);
    double *arrays[] = {cloth->positions,   cloth->before,    cloth->velocities, cloth->smoothed,
                        cloth->target_from, cloth->target_to, cloth->gaps};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(cloth->valences);
    free(cloth->contacts);
    free(cloth->pins);
    free(cloth);
}

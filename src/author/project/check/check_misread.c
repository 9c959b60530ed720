/*
 * Checks that a form was made as its layer says. A sculpt taken for a form at rest, or the reverse, or a form from a
 * program with another axis up, builds without errors and only looks wrong. Each such reading of the form is tried, and
 * its distance from the mesh with the earlier layers is measured. If another reading brings the form far nearer than
 * the project's own, it was probably meant.
 */
#include "author/base/array.h"
#include "author/project/check/check.h"

#include <math.h>
#include <stdlib.h>

/* Forms within this distance of the mesh, in its size, are as intended. */
static const double off_limit = 0.01;
/* Fraction of the distance that another reading must reach to be the likely one. */
static const double nearer = 0.4;

typedef enum quarter { AS_IS, Y_TO_Z, Z_TO_Y } quarter;

/* Turns about x by a quarter turn. */
static void turn_form(const ex_mesh *form, quarter turn, double *out) {
    for (size_t i = 0; i < 3 * (size_t)form->vertex_count; i += 3) {
        const double *p = form->positions + i;
        out[i] = p[0];
        out[i + 1] = turn == AS_IS ? p[1] : turn == Y_TO_Z ? -p[2] : p[2];
        out[i + 2] = turn == AS_IS ? p[2] : turn == Y_TO_Z ? p[1] : -p[1];
    }
}

static ex_result unpose(const exi_measure *m, const ex_project_example *example, const ex_mesh *form,
                        const float *shifts, double *rest, exi_measured *out, ex_error *error) {
    exi_posing posing = {0};
    if (!m->skeleton || !m->skin)
        return exi_measure_no_skin(error);
    const bool opened = exi_posing_open(&posing, m, example, shifts);
    ex_result result = opened ? exi_measure_unpose(m, &posing, form, rest, out, error) : EX_ERROR_MEMORY;
    exi_posing_close(&posing);
    return result;
}

/* Returns the root mean square distance, over the mesh's size, between the form, read in this way, and the base that it
 * is measured from; -1 without memory, infinite if it cannot be un-posed. */
static double distance_of(const exi_checker *c, const ex_project_example *example, const ex_mesh *form, bool unposed,
                          quarter turn, const float *shifts) {
    const size_t count = 3 * (size_t)form->vertex_count;
    exi_measure m = c->measure;
    exi_measured measured = {0};
    ex_error error = {0};
    ex_mesh turned = *form;
    double *rest = exi_array_allocate(count, sizeof *rest), sum = 0;
    turned.positions = exi_array_allocate(count, sizeof *rest);
    m.near_limit = 0;
    ex_result result = rest && turned.positions ? EX_OK : EX_ERROR_MEMORY;
    if (result == EX_OK) {
        turn_form(form, turn, turned.positions);
        if (unposed)
            result = unpose(&m, example, &turned, shifts, rest, &measured, &error);
    }
    const double *read = unposed ? rest : turned.positions;
    for (size_t i = 0; result == EX_OK && i < count; i++)
        sum += (read[i] - m.base[i]) * (read[i] - m.base[i]);
    exi_measured_free(&measured);
    free(turned.positions);
    free(rest);
    if (result != EX_OK)
        return result == EX_ERROR_MEMORY ? -1 : INFINITY;
    return count > 0 ? sqrt(3 * sum / (double)count) / c->size : 0;
}

void exi_check_misread(exi_checker *c, int layer, int k, const ex_mesh *form, const float *shifts, const char *where) {
    const ex_project_example *example = &c->view->layers[layer].examples[k];
    const bool offsets = c->view->layers[layer].domain == EX_DOMAIN_OFFSETS;
    const bool unposed =
        c->view->layers[layer].unposed || (offsets && exi_measure_is_posed(&c->measure, &c->view->layers[layer]));
    const double off = distance_of(c, example, form, unposed, AS_IS, shifts);
    c->failed = c->failed || off < 0;
    if (!(off > off_limit))
        return;
    const double other = c->skin ? distance_of(c, example, form, !unposed, AS_IS, shifts) : INFINITY;
    const double y_up = distance_of(c, example, form, unposed, Y_TO_Z, shifts);
    const double z_up = distance_of(c, example, form, unposed, Z_TO_Y, shifts);
    c->failed = c->failed || other < 0 || y_up < 0 || z_up < 0;
    if (c->failed)
        return;
    const double turned = y_up < z_up ? y_up : z_up;
    if (other < nearer * off && other <= turned)
        exi_check_add(c, EX_SEVERITY_WARNING, "misread", where, other / off,
                      offsets && unposed ? "'%s' (%s) is closer to the mesh as it is than un-posed: was it made at "
                                           "rest, so that its layer should have \"posed\": false, or at another pose?"
                      : offsets ? "'%s' (%s) is closer to the mesh un-posed than as it is: was it sculpted at its "
                                  "pose, so that its layer should not have \"posed\": false?"
                      : unposed ? "'%s' (%s) is closer to the mesh as it is than un-posed: was it made at rest, so "
                                  "that its layer should have \"shape\": \"positions\", or at another pose?"
                                : "'%s' (%s) is closer to the mesh un-posed than as it is: was it sculpted at its "
                                  "pose, so that its layer should have \"shape\": \"unposed\"?",
                      example->name, example->mesh);
    else if (turned < nearer * off)
        exi_check_add(c, EX_SEVERITY_WARNING, "misread", where, turned / off,
                      "'%s' (%s) is closer to the mesh when turned by 90 degrees about x: was it exported with another "
                      "up axis than the mesh?",
                      example->name, example->mesh);
}

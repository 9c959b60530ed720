/*
 * Mirrors forms as offsets. Let B be the form at an example's pose with all layers before the example's, F the example,
 * and B' the form at the mirrored pose with all layers before the image's. A vertex t with the counterpart c(t) gets
 *
 *     F'(t) = B'(t) + S (F - B)(c(t))
 *
 * where S is the reflection and an offset between vertices is interpolated. The mesh, its skin weights and the layers
 * before cancel out, so they need not be symmetric. A sculpt is in the world. A form at rest is in the space of the
 * mesh; L(v) takes its offsets to the mesh as it stands, and the equation is F'(t) = B'(t) + L(t)^-1 S (L (F -
 * B))(c(t)).
 */
#include "author/project/sculpt/mirror.h"

#include "author/base/array.h"
#include "author/project/skeleton/skeleton.h"
#include "runtime/base/vector.h"

#include <exemplar/author/formats.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In sizes of the mesh: largest distances from the mirror image, and the smallest offset. */
#define ROOM  1e-4
#define REACH 0.1
#define NEAR  0.02
#define LEAST 5e-6
/* A plane with less of the surface at its mirror image is none. */
#define POOR 0.4
/* Of planes, which count from 0 to 2: the mesh is symmetric; one is better than another. */
#define SYMMETRIC 1.99
#define BETTER    0.02

/* ---- evaluation ---- */

/* Evaluates the form at an example's pose with the layers before `end`, or at rest without layers if example is
 * NULL. */
static ex_result evaluate(const ex_rig *rig, const ex_project_view *view, const ex_project_example *example, int end,
                          bool unskinned, float *positions, ex_error *error) {
    const int layers = ex_rig_layer_count(rig);
    bool *muted = exi_array_allocate((size_t)layers, sizeof *muted);
    ex_evaluation evaluation = {.muted = muted, .unskinned = unskinned, .unsettled = true};
    void *scratch = exi_array_allocate(ex_rig_scratch_size(rig, &evaluation, 1), 1);
    ex_pose pose = example ? exi_example_pose(rig, view, example) : ex_pose_create(rig);
    const bool fits = muted && scratch && pose.inputs;
    for (int l = 0; fits && l < layers; l++)
        muted[l] = l >= end || ex_rig_layer_muted(rig, l);
    if (fits)
        ex_rig_evaluate(rig, &pose, &(ex_output){.positions = positions}, &evaluation, scratch);
    free(pose.inputs);
    free(scratch);
    free(muted);
    return fits ? EX_OK : ex_error_memory(error, "evaluating the example", 0);
}

/* ---- preparing ---- */

/* Blends the linear parts of the joints' matrices at rest. */
static ex_result find_linear(exi_mirroring *m, ex_error *error) {
    const ex_skeleton *skeleton = ex_rig_skeleton(m->rig);
    const ex_skin *skin = ex_rig_skin(m->rig);
    if (!skeleton || !skin)
        return EX_OK;
    const size_t count = (size_t)m->mesh->vertex_count, most = (size_t)ex_skin_get_info(skin).influence_most;
    float *matrices = exi_array_allocate((size_t)ex_skeleton_joint_count(skeleton), 12 * sizeof *matrices);
    float *weights = exi_array_allocate(most, sizeof *weights);
    uint32_t *joints = exi_array_allocate(most, sizeof *joints);
    void *scratch = exi_array_allocate(ex_skeleton_scratch_size(skeleton), 1);
    m->linear = calloc(9 * count + 1, sizeof *m->linear);
    const bool fits = matrices && weights && joints && scratch && m->linear;
    if (fits)
        ex_skeleton_evaluate(skeleton, NULL, &(ex_skeleton_output){.matrices = matrices}, scratch);
    for (size_t v = 0; fits && v < count; v++) {
        const int influences = ex_skin_influences(skin, (int)v, joints, weights);
        for (int i = 0; i < influences; i++)
            for (size_t k = 0; k < 9; k++)
                m->linear[9 * v + k] +=
                    (double)weights[i] * (double)matrices[12 * (size_t)joints[i] + 4 * (k / 3) + k % 3];
    }
    free(matrices);
    free(weights);
    free(joints);
    free(scratch);
    return fits ? EX_OK : ex_error_memory(error, "mirroring", count * 9 * sizeof *m->linear);
}

/* Takes the given plane: of forms in the project's unit and with its up axis, into metres with y up. */
static exi_plane given_plane(const exi_mirroring *m) {
    const ex_project_view *view = m->mirror.view;
    exi_plane plane = {{0, 0, 0}, m->def->offset * view->unit};
    const int axis = m->def->plane - 'x';
    if (!view->z_up)
        plane.normal[axis] = 1;
    else
        plane.normal[axis == 0 ? 0 : 3 - axis] = axis == 1 ? -1 : 1;
    return plane;
}

static ex_result find_plane(exi_mirroring *m, const exi_standing *s, exi_plane *plane, double *near, double *points,
                            int *pair_count, ex_error *error) {
    double(*pairs)[2][3] = exi_mirror_named_pairs(&m->mirror, pair_count);
    const exi_plane_joints joints = {.pairs = (const double(*)[2][3])pairs,
                                     .pair_count = *pair_count,
                                     .centres = m->mirror.centres,
                                     .skeleton = m->mirror.skeleton};
    const ex_result result =
        pairs ? exi_mirror_find_plane(s, &joints, plane, near, points, error) : ex_error_memory(error, "the joints", 0);
    free(pairs);
    return result;
}

/* Evaluates the mesh at rest, without layers, and opens it for searching. */
static ex_result open_standing(exi_mirroring *m, bool unskinned, exi_standing *s, ex_error *error) {
    const size_t count = 3 * (size_t)m->mesh->vertex_count;
    float *positions = exi_array_allocate(count, sizeof *positions);
    ex_result result = positions ? evaluate(m->rig, m->mirror.view, NULL, 0, unskinned, positions, error)
                                 : ex_error_memory(error, "mirroring", count * sizeof *positions);
    if (result == EX_OK)
        result = exi_standing_open(s, m->mesh, positions, error);
    free(positions);
    return result;
}

/* Tries the mesh as bound, and takes it if it is more symmetric than the mesh as it stands: one lowered arm is a small
 * part of all vertices, but all of a sculpt. Joints are then paired there. */
static ex_result try_bound(exi_mirroring *m, double *near, double points, ex_error *error) {
    const size_t joints = 3 * (size_t)ex_skeleton_joint_count(m->mirror.skeleton);
    double bound_near = 0, bound_points = 0, *standing = m->mirror.centres;
    double *centres = exi_array_allocate(joints, sizeof *centres);
    int pair_count;
    ex_result result = centres && exi_skeleton_centres(m->mirror.skeleton, centres)
                           ? open_standing(m, true, &m->bound, error)
                           : ex_error_memory(error, "the joints", joints * sizeof *centres);
    m->mirror.centres = centres;
    if (result == EX_OK)
        result = find_plane(m, &m->bound, &m->bound_plane, &bound_near, &bound_points, &pair_count, error);
    m->as_bound = result == EX_OK && bound_points > points + BETTER;
    if (m->as_bound)
        *near = bound_near;
    m->mirror.centres = m->as_bound ? centres : standing;
    free(m->as_bound ? standing : centres);
    return result;
}

/* Finds the plane, and pairs the joints. */
static ex_result find_symmetry(exi_mirroring *m, ex_error *error) {
    double near = 1, points = 2;
    int pair_count = 0;
    ex_result result = EX_OK;
    if (m->def->plane)
        m->mirror.plane = given_plane(m);
    else
        result = find_plane(m, &m->standing, &m->mirror.plane, &near, &points, &pair_count, error);
    if (result == EX_OK && m->linear && points < SYMMETRIC)
        result = try_bound(m, &near, points, error);
    if (result == EX_OK && pair_count == 0 && near < POOR)
        result = ex_error_kind(
            error,
            ex_error_set(error, EX_ERROR_DATA,
                         "there is nothing to mirror to: the mesh has no plane of symmetry, and no joints whose names "
                         "make a pair; a single hand or one half of a body has no other side"),
            "no_plane");
    const exi_plane plane = m->mirror.plane;
    if (m->as_bound)
        m->mirror.plane = m->bound_plane;
    if (result == EX_OK)
        result = exi_mirror_pair_joints(&m->mirror, error);
    m->mirror.plane = plane;
    return result == EX_OK && m->as_bound ? exi_mirror_read_frames(&m->mirror, &m->bound_plane, error) : result;
}

ex_result exi_mirroring_prepare(exi_mirroring *m, ex_error *error) {
    const ex_build_options options = {
        .progress = m->options.progress,
        .tasks = m->options.tasks,
        .rig = {.without_levels = true, .without_normals = true, .without_tangents = true}};
    ex_result result = exi_read_raw_mesh(m->mirror.view, &m->mesh, error);
    if (result == EX_OK)
        result = ex_project_build(m->amendment.project, &options, &m->rig, error);
    if (result == EX_OK)
        result = open_standing(m, false, &m->standing, error);
    if (result == EX_OK)
        result = find_linear(m, error);
    m->mirror.skeleton = m->rig ? ex_rig_skeleton(m->rig) : NULL;
    if (result == EX_OK)
        result = exi_mirror_read_joints(&m->mirror, error);
    if (result == EX_OK)
        result = find_symmetry(m, error);
    const exi_standing *s = m->as_bound ? &m->bound : &m->standing;
    const double given = m->def->tolerance;
    m->metres = m->as_bound && s->size > 0 ? m->standing.size / s->size : 1;
    return result == EX_OK ? exi_mirror_match(s, m->as_bound ? &m->bound_plane : &m->mirror.plane,
                                              (given > 0 ? given : ROOM) * s->size,
                                              (given > 0 ? given : REACH) * s->size, &m->counterparts, error)
                           : result;
}

void exi_mirroring_release(exi_mirroring *m) {
    free(m->counterparts);
    free(m->linear);
    free(m->mirror.centres);
    free(m->mirror.joints);
    free(m->mirror.frames);
    exi_standing_close(&m->standing);
    exi_standing_close(&m->bound);
    ex_mesh_destroy(m->mesh);
    ex_rig_destroy(m->rig);
}

/* ---- offsets ---- */

static void multiply(const double a[9], const double v[3], double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = exi_dot3(a + 3 * (size_t)i, v);
}

/* Solves a x = v by cofactors; x is v if a has no inverse. */
static void divide(const double a[9], const double v[3], double x[3]) {
    double rows[3][3];
    for (int i = 0; i < 3; i++)
        exi_cross(a + 3 * (size_t)((i + 1) % 3), a + 3 * (size_t)((i + 2) % 3), rows[i]);
    const double determinant = exi_dot3(a, rows[0]);
    for (int c = 0; c < 3; c++)
        x[c] = determinant != 0 ? (rows[0][c] * v[0] + rows[1][c] * v[1] + rows[2][c] * v[2]) / determinant : v[c];
}

static double length(const double v[3]) {
    return hypot(hypot(v[0], v[1]), v[2]);
}

/* Reads a form of the example, at rest or posed; offsets [vertex_count][3] from the base, of the mesh as it stands;
 * small ones are 0. */
static ex_result read_offsets(const exi_mirroring *m, const char *file, bool at_rest, double least, double *offsets,
                              ex_error *error) {
    const ex_project_view *view = &m->amendment.project->view;
    const ex_project_example *example = exi_example_at(m->source, m->from_place);
    const size_t count = (size_t)m->mesh->vertex_count;
    float *base = exi_array_allocate(3 * count, sizeof *base);
    ex_mesh *form = NULL;
    ex_result result = base ? exi_project_read_mesh(view, file, &form, error)
                            : ex_error_memory(error, "a form", 3 * count * sizeof *base);
    if (result == EX_OK)
        result = ex_error_within(error, ex_mesh_compare_connectivity(m->mesh, form, error), "%s", file);
    if (result == EX_OK)
        result = evaluate(m->rig, view, example, m->from, at_rest, base, error);
    for (size_t v = 0; result == EX_OK && v < count; v++) {
        double off[3], *out = offsets + 3 * v;
        for (size_t c = 0; c < 3; c++)
            off[c] = form->positions[3 * v + c] - (double)base[3 * v + c];
        memcpy(out, off, sizeof off);
        if (at_rest && m->linear)
            multiply(m->linear + 9 * v, off, out);
        if (!(length(out) > least))
            out[0] = out[1] = out[2] = 0;
    }
    ex_mesh_destroy(form);
    free(base);
    return result;
}

static bool moves(const double *offsets, int vertex) {
    const double *o = offsets + 3 * (size_t)vertex;
    return o[0] != 0 || o[1] != 0 || o[2] != 0;
}

/* True if a vertex has no counterpart within the tolerance. Others were matched within theirs. */
static bool is_alone(const exi_mirroring *m, int vertex) {
    const exi_counterpart *c = &m->counterparts[vertex];
    const double limit = m->def->tolerance > 0 ? m->def->tolerance : NEAR;
    return c->match == EX_MATCH_NEAREST && !(m->metres * c->distance <= limit * m->standing.size);
}

/* Checks that all moved vertices have counterparts. */
static ex_result check_counterparts(const exi_mirroring *m, const double *offsets, ex_error *error) {
    const double limit = m->def->tolerance > 0 ? m->def->tolerance : NEAR;
    int bad = 0, moved = 0, first = -1;
    for (int v = 0; v < m->mesh->vertex_count; v++) {
        if (!moves(offsets, v))
            continue;
        moved++;
        if (is_alone(m, v))
            first = bad++ == 0 ? v : first;
    }
    if (bad == 0)
        return EX_OK;
    const double *p = m->standing.positions + 3 * (size_t)first;
    const char *name = exi_example_at(m->source, m->from_place)->name;
    if (bad == moved)
        ex_error_set(error, EX_ERROR_DATA,
                     "example '%s': none of its %d vertices has a counterpart within the tolerance, %g sizes of the "
                     "mesh (%.3g m): does the mesh have another side",
                     name, bad, limit, limit * m->standing.size);
    else
        ex_error_set(error, EX_ERROR_DATA,
                     "example '%s': %d of its %d vertices have no counterpart within the tolerance, %g sizes of the "
                     "mesh (%.3g m); the mirror image of vertex %d at %.4g %.4g %.4g is %.3g m from the surface",
                     name, bad, moved, limit, limit * m->standing.size, first, p[0], p[1], p[2],
                     m->metres * m->counterparts[first].distance);
    return ex_error_kind(error, EX_ERROR_DATA, bad == moved ? "no_other_side" : "no_counterpart");
}

/* Reflects the offset that the counterpart of a vertex has. */
static void reflect(const exi_mirroring *m, int vertex, const double offset[3], double out[3]) {
    const exi_counterpart *c = &m->counterparts[vertex];
    double there[9] = {0}, local[3], image[3];
    if (!m->as_bound) {
        exi_plane_direction(&m->mirror.plane, offset, out);
        return;
    }
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; c->vertices[k] >= 0 && i < 9; i++)
            there[i] += c->shares[k] * m->linear[9 * (size_t)c->vertices[k] + i];
    divide(there, offset, local);
    exi_plane_direction(&m->bound_plane, local, image);
    multiply(m->linear + 9 * (size_t)vertex, image, out);
}

/* Fills in the mirrored offsets [vertex_count][3], and the counts. A vertex without a counterpart stays where it is:
 * something that only the other side has. */
static void mirror_offsets(const exi_mirroring *m, double least, const double *offsets, double *out,
                           ex_mirrored *mirrored) {
    for (int v = 0; v < m->mesh->vertex_count; v++) {
        const exi_counterpart *c = &m->counterparts[v];
        double sum[3] = {0}, *image = out + 3 * (size_t)v;
        for (int k = 0; k < 3 && !is_alone(m, v); k++)
            for (int i = 0; c->vertices[k] >= 0 && i < 3; i++)
                sum[i] += c->shares[k] * offsets[3 * (size_t)c->vertices[k] + (size_t)i];
        reflect(m, v, sum, image);
        if (!(length(image) > least)) {
            image[0] = image[1] = image[2] = 0;
            continue;
        }
        mirrored->matched[c->match]++;
        mirrored->farthest = fmax(mirrored->farthest, m->metres * c->distance);
    }
}

float *exi_mirroring_values(const exi_mirroring *m, const float *values) {
    float *out = exi_array_allocate((size_t)m->mesh->vertex_count, sizeof *out);
    for (int v = 0; out && v < m->mesh->vertex_count; v++) {
        const exi_counterpart *c = &m->counterparts[v];
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += c->vertices[k] >= 0 ? c->shares[k] * (double)values[c->vertices[k]] : 0;
        out[v] = (float)fmin(fmax(sum, 0), 1);
    }
    return out;
}

/* ---- the form ---- */

/* Adds the offsets to the base of the image, at rest or posed, in the project's unit and with its up axis. */
static ex_result make_form(const exi_mirroring *m, const double *offsets, bool at_rest, ex_mesh *form,
                           ex_error *error) {
    const exi_amendment *a = &m->amendment;
    const ex_project_view *view = &a->trial.view;
    const ex_project_layer *layer = &view->layers[m->to];
    const size_t count = (size_t)form->vertex_count;
    float *base = exi_array_allocate(3 * count, sizeof *base);
    ex_result result =
        base ? evaluate(a->rig ? a->rig : m->rig, view, exi_example_at(layer, m->place), m->to, at_rest, base, error)
             : ex_error_memory(error, "a form", 3 * count * sizeof *base);
    for (size_t v = 0; result == EX_OK && v < count; v++) {
        double off[3], *p = form->positions + 3 * v, at[3];
        memcpy(off, offsets + 3 * v, sizeof off);
        if (at_rest && m->linear)
            divide(m->linear + 9 * v, offsets + 3 * v, off);
        for (size_t c = 0; c < 3; c++)
            at[c] = ((double)base[3 * v + c] + off[c]) / view->unit;
        p[0] = at[0];
        p[1] = view->z_up ? -at[2] : at[1];
        p[2] = view->z_up ? at[1] : at[2];
    }
    free(base);
    return result;
}

static ex_result put_form(exi_mirroring *m, const ex_mesh *form, ex_error *error) {
    exi_amendment *a = &m->amendment;
    json_t *entry = json_array_get(json_object_get(exi_amend_layer(a, m->to), "examples"), (size_t)m->place);
    char *file = exi_sculpt_free_file(&a->trial.view, a->trial.view.layers[m->to].name,
                                      json_string_value(json_object_get(entry, "name")));
    ex_result result = file ? exi_sculpt_write(a, file, form, error) : ex_error_memory(error, "a path", 0);
    json_object_del(entry, "sculpt"); /* of the other side, or of the form that it had */
    if (result == EX_OK && json_object_set_new(entry, "mesh", json_string(file)) != 0)
        result = ex_error_memory(error, "an example", 0);
    free(file);
    return result;
}

/* Mirrors the sculpt, which was seen with all layers. */
static ex_result mirror_sculpt(const exi_mirroring *m, ex_mesh *form, double *offsets, double *images, double **wanted,
                               ex_error *error) {
    const ex_project_example *example = exi_example_at(m->source, m->from_place);
    ex_mirrored counts = {0}; /* those of the form are told */
    ex_result result = read_offsets(m, example->sculpt, false, 0, offsets, error);
    if (result != EX_OK)
        return result;
    mirror_offsets(m, 0, offsets, images, &counts);
    result = make_form(m, images, false, form, error);
    *wanted = exi_array_allocate(3 * (size_t)form->vertex_count, sizeof **wanted);
    if (result == EX_OK && !*wanted)
        result = ex_error_memory(error, "a form", 0);
    if (result == EX_OK)
        exi_form_to_metres(&m->amendment.trial.view, form, *wanted);
    return result;
}

ex_result exi_mirroring_form(exi_mirroring *m, exi_image *image, ex_error *error) {
    const size_t count = 3 * (size_t)m->mesh->vertex_count;
    const ex_project_example *example = exi_example_at(m->source, m->from_place);
    ex_mirrored *mirrored = &image->mirrored;
    const bool own = m->source->domain == EX_DOMAIN_OFFSETS && m->source->offsets.tolerance >= 0;
    const double least = own ? m->source->offsets.tolerance : LEAST * m->standing.size;
    double *offsets = exi_array_allocate(count, sizeof *offsets), *images = exi_array_allocate(count, sizeof *images);
    ex_mesh *form = ex_mesh_copy(m->mesh);
    ex_result result = offsets && images && form ? EX_OK : ex_error_memory(error, "mirroring", count * sizeof *offsets);
    const exi_plane *plane = m->as_bound ? &m->bound_plane : &m->mirror.plane;
    memcpy(mirrored->normal, plane->normal, sizeof mirrored->normal);
    mirrored->offset = plane->offset;
    mirrored->as_bound = m->as_bound;
    if (result == EX_OK)
        result = read_offsets(m, example->mesh, exi_layer_at_rest(m->source), least, offsets, error);
    if (result == EX_OK)
        result = check_counterparts(m, offsets, error);
    if (result == EX_OK) {
        mirror_offsets(m, least, offsets, images, mirrored);
        result = make_form(m, images, exi_layer_at_rest(&m->amendment.trial.view.layers[m->to]), form, error);
    }
    if (result == EX_OK)
        result = put_form(m, form, error);
    if (result == EX_OK && example->sculpt)
        result = mirror_sculpt(m, form, offsets, images, &image->wanted, error);
    ex_mesh_destroy(form);
    free(offsets);
    free(images);
    return result;
}

ex_result exi_mirroring_fit(exi_mirroring *m, const exi_image *image, ex_error *error) {
    const ex_project_view *view = &m->amendment.trial.view;
    const exi_fit fit = {.amendment = &m->amendment,
                         .layer = image->to,
                         .place = image->place,
                         .at_rest = view->skeleton && exi_layer_at_rest(&view->layers[image->to]),
                         .mesh = ex_mesh_copy(m->mesh)};
    if (!fit.mesh)
        return ex_error_memory(error, "a form", 0);
    m->amendment.wanted = image->wanted;
    const ex_result result = exi_fit_again(&fit, error);
    m->amendment.wanted = NULL;
    ex_mesh_destroy(fit.mesh);
    return result;
}

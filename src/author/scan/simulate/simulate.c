/*
 * Simulates a scan of one pose: the rig's surface, seen by heads around it (Allen, Curless, Popovic 2002, section 2: a
 * Cyberware WB4, four views, 5 mm by 2 mm), with painted markers, some of them rubbed off and some false ones added.
 */
#include "author/scan/simulate/simulate.h"

#include "author/base/array.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* Uses of random numbers, other than the rays of views. */
enum { CHANCE_RUBBED = 1, CHANCE_STRAY = 2 };

ex_scan_simulation ex_scan_simulation_default(void) {
    return (ex_scan_simulation){
        .view_count = 4, .pitch = {0.005, 0.002}, .noise = 0.001, .grazing = 15, .marker_size = 0.012, .seed = 1};
}

static bool is_within(double value, double least, double most) {
    return value >= least && value <= most;
}

static ex_result check(const ex_scan_simulation *s, ex_error *error) {
    if (s->view_count < 1 || s->view_count > 64)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a scanner must have 1 to 64 views, not %d", s->view_count);
    if (!is_within(s->pitch[0], 1e-5, 1) || !is_within(s->pitch[1], 1e-5, 1))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the pitch of a scanner must be from 0.00001 to 1 m, across and along, not %g and %g",
                            s->pitch[0], s->pitch[1]);
    if (!is_within(s->noise, 0, 1))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the noise of a scanner must be from 0 to 1 m, not %g", s->noise);
    if (!is_within(s->grazing, 0, 89))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "grazing must be an angle from 0 to 89 degrees, not %g",
                            s->grazing);
    if (!is_within(s->marker_size, 1e-4, 1))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a marker must be from 0.0001 to 1 m across, not %g",
                            s->marker_size);
    if (!is_within(s->missing, 0, 1) || !is_within(s->stray, 0, 10))
        return ex_error_set(
            error, EX_ERROR_ARGUMENT,
            "the fraction of missing markers must be from 0 to 1, and that of stray ones from 0 to 10, not %g and %g",
            s->missing, s->stray);
    return EX_OK;
}

/* ---- shared by all poses ---- */

static ex_result check_paints(const exi_scanner *scanner, ex_error *error) {
    for (int i = 0; i < scanner->paint_count; i++) {
        const ex_paint *paint = &scanner->paints[i];
        if (paint->triangle < 0 || paint->triangle >= scanner->surface.triangle_count)
            return ex_error_set(error, EX_ERROR_DATA, "marker '%s' is on triangle %d, but the rig's surface has %d",
                                paint->name ? paint->name : "", paint->triangle, scanner->surface.triangle_count);
    }
    return EX_OK;
}

/* True if a spot can reach a point of the triangle: by the triangle's bounding box, which is conservative. */
static bool may_reach(const exi_skin_surface *surface, const exi_spot *spot, int triangle, double reach) {
    const uint32_t *corners = surface->triangles + 3 * (size_t)triangle;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < 3; i++) {
            const double x = (double)surface->rest[3 * (size_t)corners[i] + (size_t)k];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        if (spot->point[k] + reach < low || spot->point[k] - reach > high)
            return false;
    }
    return true;
}

/* Lists, for every triangle, the spots that may reach it: first counts, then writes. */
static ex_result list_spots(exi_scanner *s, ex_error *error) {
    const int triangles = s->surface.triangle_count;
    const double reach = s->simulation.marker_size / 2 + s->simulation.pitch[0] + s->simulation.pitch[1];
    s->starts = exi_array_allocate((size_t)triangles + 1, sizeof *s->starts);
    if (!s->starts)
        return ex_error_memory(error, "the markers", (size_t)triangles * sizeof *s->starts);
    size_t capacity = 0;
    int count = 0;
    for (int t = 0; t < triangles; t++) {
        s->starts[t] = count;
        for (int i = 0; i < s->paint_count; i++) {
            if (!may_reach(&s->surface, &s->spots[i], t, reach))
                continue;
            int *lists = exi_array_grow(s->lists, &capacity, (size_t)count + 1, sizeof *lists);
            if (!lists)
                return ex_error_memory(error, "the markers", capacity * sizeof *lists);
            s->lists = lists;
            s->lists[count++] = i;
        }
    }
    s->starts[triangles] = count;
    return EX_OK;
}

static int base_texture(const ex_rig *rig, const ex_rig_mesh *mesh) {
    for (int i = 0; mesh->texcoords && i < ex_rig_texture_count(rig); i++)
        if (strcmp(ex_rig_texture(rig, i).name, "base_color") == 0)
            return i;
    return -1;
}

ex_result exi_scanner_open(exi_scanner *s, const ex_scan_simulation *simulation, const ex_paint *paints,
                           int paint_count, ex_error *error) {
    *s = (exi_scanner){.simulation = *simulation, .paint_count = paint_count, .paints = paints};
    ex_result result = check(simulation, error);
    if (result == EX_OK)
        result = exi_skin_surface_open(&s->surface, simulation->rig, simulation->level, error);
    if (result == EX_OK)
        result = check_paints(s, error);
    if (result != EX_OK)
        return result;
    s->texture = base_texture(simulation->rig, &s->surface.mesh);
    s->spots = exi_array_allocate((size_t)paint_count, sizeof *s->spots);
    if (!s->spots)
        return ex_error_memory(error, "the markers", (size_t)paint_count * sizeof *s->spots);
    for (int i = 0; i < paint_count; i++)
        s->spots[i] = exi_spot_make(&s->surface, paints[i].triangle, paints[i].place, simulation->marker_size / 2,
                                    paints[i].colour);
    return list_spots(s, error);
}

void exi_scanner_close(exi_scanner *s) {
    exi_skin_surface_close(&s->surface);
    free(s->spots);
    free(s->starts);
    free(s->lists);
    *s = (exi_scanner){.paint_count = 0};
}

/* ---- one pose ---- */

static void close_subject(exi_subject *s) {
    free(s->posed);
    free(s->fit_memory);
    free(s->painted);
    free(s->strays);
    free(s->image);
}

static ex_result pose_subject(exi_subject *s, const ex_pose *pose, ex_error *error) {
    const exi_skin_surface *surface = &s->scanner->surface;
    const ex_evaluation how = {.level = surface->level};
    const size_t vertices = (size_t)surface->vertex_count, texture_count = (size_t)ex_rig_texture_count(surface->rig);
    const size_t scratch_size = ex_rig_scratch_size(surface->rig, &how, 1), fit_size = ex_bounds_size(surface->tree);
    size_t image_size = 0;
    if (s->scanner->texture >= 0) {
        s->texture = ex_rig_texture(surface->rig, s->scanner->texture);
        image_size = 4 * (size_t)s->texture.width * (size_t)s->texture.height;
    }
    void *scratch = malloc(scratch_size + 1);
    unsigned char **textures = exi_array_allocate(texture_count, sizeof *textures);
    s->posed = exi_array_allocate(3 * vertices, sizeof *s->posed);
    s->fit_memory = malloc(fit_size + 1);
    s->image = image_size > 0 ? malloc(image_size) : NULL;
    const bool fits = scratch && textures && s->posed && s->fit_memory && (s->image || image_size == 0);
    if (fits) {
        for (size_t i = 0; i < texture_count; i++)
            textures[i] = (int)i == s->scanner->texture ? s->image : NULL;
        const ex_output output = {.positions = s->posed, .textures = textures};
        ex_rig_evaluate(surface->rig, pose, &output, &how, scratch);
        s->fit = ex_bounds_fit(surface->tree, s->posed, 0, s->fit_memory, NULL);
    }
    free(scratch);
    free(textures);
    return fits ? EX_OK : ex_error_memory(error, "a posed surface", vertices * 12 + scratch_size + fit_size);
}

static void measure_box(exi_subject *s) {
    for (int k = 0; k < 3; k++) {
        s->box[0][k] = INFINITY;
        s->box[1][k] = -INFINITY;
    }
    for (size_t i = 0; i < 3 * (size_t)s->scanner->surface.vertex_count; i++) {
        const double x = (double)s->posed[i];
        s->box[0][i % 3] = x < s->box[0][i % 3] ? x : s->box[0][i % 3];
        s->box[1][i % 3] = x > s->box[1][i % 3] ? x : s->box[1][i % 3];
    }
}

/* Makes a false spot, anywhere on the skin, of any of the colours and about a marker's size. */
static exi_spot stray_spot(const exi_scanner *scanner, uint64_t chance) {
    const exi_skin_surface *surface = &scanner->surface;
    double numbers[5], place[3];
    for (int i = 0; i < 5; i++) {
        chance = exi_chance(chance, (uint64_t)i);
        numbers[i] = exi_chance_part(chance);
    }
    const double area = numbers[0] * surface->areas[surface->triangle_count - 1];
    int low = 0, high = surface->triangle_count - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (surface->areas[middle] > area)
            high = middle;
        else
            low = middle + 1;
    }
    const double root = sqrt(numbers[1]);
    place[0] = 1 - root;
    place[1] = root * (1 - numbers[2]);
    place[2] = root * numbers[2];
    return exi_spot_make(surface, low, place, scanner->simulation.marker_size / 2 * (0.6 + 0.8 * numbers[3]),
                         exi_paint_colours[(int)(8 * numbers[4])]);
}

static ex_result paint_subject(exi_subject *s, bool rubbed, ex_error *error) {
    const exi_scanner *scanner = s->scanner;
    const uint64_t rub = exi_chance(s->key, CHANCE_RUBBED), stray = exi_chance(s->key, CHANCE_STRAY);
    s->stray_count = (int)(scanner->simulation.stray * scanner->paint_count + exi_chance_part(stray));
    s->painted = exi_array_allocate((size_t)scanner->paint_count, sizeof *s->painted);
    s->strays = exi_array_allocate((size_t)s->stray_count, sizeof *s->strays);
    if (!s->painted || !s->strays)
        return ex_error_memory(error, "the markers", (size_t)(scanner->paint_count + 80 * s->stray_count));
    for (int i = 0; i < scanner->paint_count; i++)
        s->painted[i] = !rubbed || exi_chance_part(exi_chance(rub, (uint64_t)i)) >= scanner->simulation.missing;
    for (int i = 0; i < s->stray_count; i++)
        s->strays[i] = stray_spot(scanner, exi_chance(stray, (uint64_t)i + 1));
    return EX_OK;
}

/* ---- the shot ---- */

/* Finds the markers seen well enough: a view sees the middle, and at least a third of the samples that a marker has
 * from in front. */
static void see_markers(const exi_subject *s, const exi_range_view *views, ex_scan_shot *shot) {
    const exi_scanner *scanner = s->scanner;
    const ex_scan_simulation *simulation = &scanner->simulation;
    const double whole =
        PI / 4 * simulation->marker_size * simulation->marker_size / (simulation->pitch[0] * simulation->pitch[1]);
    for (int i = 0; i < scanner->paint_count; i++) {
        const ex_paint *paint = &scanner->paints[i];
        double normal[3];
        exi_surface_point(&scanner->surface, s->posed, paint->triangle, paint->place, shot->places[i]);
        exi_surface_normal(&scanner->surface, s->posed, paint->triangle, normal);
        shot->visible[i] = false;
        for (int v = 0; v < simulation->view_count && s->painted[i]; v++)
            shot->visible[i] = shot->visible[i] || (views[v].counts[i] >= whole / 3 && views[v].counts[i] > 0 &&
                                                    exi_head_sees(s->fit, views[v].head, shot->places[i], normal) > 0);
    }
}

static ex_result make_meshes(const exi_scanner *scanner, const exi_range_view *views, ex_scan_shot *shot,
                             ex_error *error) {
    const ex_scan_simulation *simulation = &scanner->simulation;
    if (simulation->merged) {
        shot->mesh_count = 1;
        return exi_views_merge(views, simulation->view_count, sqrt(simulation->pitch[0] * simulation->pitch[1]),
                               &shot->meshes[0], error);
    }
    ex_result result = EX_OK;
    shot->mesh_count = simulation->view_count;
    for (int v = 0; v < simulation->view_count && result == EX_OK; v++) {
        shot->rows[v] = views[v].row_count;
        shot->columns[v] = views[v].column_count;
        result = exi_view_mesh(&views[v], &shot->meshes[v], error);
    }
    return result;
}

static ex_scan_shot *create_shot(int view_count, int paint_count) {
    ex_scan_shot *shot = calloc(1, sizeof *shot);
    if (!shot)
        return NULL;
    shot->meshes = calloc((size_t)view_count, sizeof *shot->meshes);
    shot->rows = calloc((size_t)view_count, sizeof *shot->rows);
    shot->columns = calloc((size_t)view_count, sizeof *shot->columns);
    shot->places = exi_array_allocate((size_t)paint_count, sizeof *shot->places);
    shot->visible = exi_array_allocate((size_t)paint_count, sizeof *shot->visible);
    shot->paint_count = paint_count;
    if (shot->meshes && shot->rows && shot->columns && shot->places && shot->visible)
        return shot;
    ex_scan_shot_destroy(shot);
    return NULL;
}

static ex_result shoot(const exi_scanner *scanner, const exi_subject *subject, ex_scan_shot *shot, ex_error *error) {
    const int count = scanner->simulation.view_count;
    exi_range_view *views = calloc((size_t)count, sizeof *views);
    ex_result result = views ? EX_OK : ex_error_memory(error, "the views", (size_t)count * sizeof *views);
    for (int v = 0; v < count && result == EX_OK; v++) {
        result = exi_view_scan(&views[v], subject, v, error);
        if (result == EX_OK)
            exi_view_connect(&views[v], scanner->simulation.noise);
    }
    if (result == EX_OK)
        result = make_meshes(scanner, views, shot, error);
    if (result == EX_OK)
        see_markers(subject, views, shot);
    for (int v = 0; views && v < count; v++)
        exi_view_close(&views[v]);
    free(views);
    return result;
}

ex_result exi_scanner_shoot(const exi_scanner *scanner, int pose, bool rubbed, ex_scan_shot **made, ex_error *error) {
    const ex_scan_simulation *simulation = &scanner->simulation;
    const uint64_t key = exi_chance(simulation->seed, 0x5CA2);
    exi_subject subject = {.scanner = scanner,
                           .key = simulation->names ? exi_chance_text(key, simulation->names[pose])
                                                    : exi_chance(key, (uint64_t)pose)};
    ex_scan_shot *shot = create_shot(simulation->view_count, scanner->paint_count);
    ex_result result = shot ? EX_OK : ex_error_memory(error, "a scan", sizeof *shot);
    if (result == EX_OK)
        result = pose_subject(&subject, &simulation->poses[pose], error);
    if (result == EX_OK)
        result = paint_subject(&subject, rubbed, error);
    if (result == EX_OK) {
        measure_box(&subject);
        result = shoot(scanner, &subject, shot, error);
    }
    close_subject(&subject);
    if (result == EX_OK)
        *made = shot;
    else
        ex_scan_shot_destroy(shot);
    return result;
}

ex_result ex_scan_shoot(const ex_scan_simulation *simulation, int pose, const ex_paint *paints, int paint_count,
                        ex_scan_shot **shot, ex_error *error) {
    if (!simulation || !simulation->rig || !shot || pose < 0 || pose >= simulation->pose_count || paint_count < 0 ||
        (paint_count > 0 && !paints))
        return exi_misuse_error(error, "ex_scan_shoot", "no rig, no room for the shot, or no such pose");
    exi_scanner scanner;
    *shot = NULL;
    ex_result result = exi_scanner_open(&scanner, simulation, paints, paint_count, error);
    if (result == EX_OK)
        result = exi_scanner_shoot(&scanner, pose, true, shot, error);
    exi_scanner_close(&scanner);
    return result;
}

void ex_scan_shot_destroy(ex_scan_shot *shot) {
    if (!shot)
        return;
    for (int i = 0; shot->meshes && i < shot->mesh_count; i++)
        ex_mesh_destroy(shot->meshes[i]);
    free(shot->meshes);
    free(shot->rows);
    free(shot->columns);
    free(shot->places);
    free(shot->visible);
    free(shot);
}

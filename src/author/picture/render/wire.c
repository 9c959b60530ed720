/*
 * The wireframe: how much of a pixel the lines along a polygon's edges cover, from the distance in the picture to the
 * nearest edge of the polygon that was hit. Diagonals of its triangles are not edges. Lines fade if polygons are hardly
 * larger than their width; otherwise the form would be black.
 */
#include "author/picture/render/render.h"

static float distance_sq(float x, float y, const float a[2], const float b[2]) {
    float dx = b[0] - a[0], dy = b[1] - a[1], px = x - a[0], py = y - a[1];
    float length = dx * dx + dy * dy, along = length > 0 ? (px * dx + py * dy) / length : 0;
    along = along < 0 ? 0 : along > 1 ? 1 : along;
    px -= along * dx;
    py -= along * dy;
    return px * px + py * py;
}

float exi_wire_cover(const exi_render *render, const exi_spot *spot, float x, float y) {
    const exi_stage *stage = &render->stage;
    const float width = (float)render->def->wireframe;
    const exi_stage_item *item = exi_stage_item_of(stage, spot->triangle);
    const ex_mesh *mesh = item->source->mesh;
    int face = stage->faces[spot->triangle];
    int first = mesh->face_offsets[face], end = mesh->face_offsets[face + 1];
    float nearest = INFINITY, area = 0, previous[2], at[2];
    bool known = false;
    for (int c = first; c <= end; c++) {
        int vertex = item->first_vertex + mesh->corners[c < end ? c : first];
        if (!exi_view_project(&render->view, exi_v3_at(stage->positions + 3 * (size_t)vertex), &at[0], &at[1])) {
            known = false;
            continue;
        }
        if (known) {
            float distance = distance_sq(x, y, previous, at);
            nearest = distance < nearest ? distance : nearest;
            area += (previous[0] - x) * (at[1] - y) - (previous[1] - y) * (at[0] - x);
        }
        previous[0] = at[0];
        previous[1] = at[1];
        known = true;
    }
    float cover = width / 2 + 0.5f - sqrtf(nearest);
    cover = cover < 0 ? 0 : cover > 1 ? 1 : cover;
    float room = sqrtf(fabsf(area) / 2) / (5 * width);
    return cover * (width < 1 ? width : 1) * (room < 1 ? room : 1);
}

/* pictures.c - meshes to render, made by hand, and functions that read pixels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static ex_mesh *empty_mesh(int vertices, int faces, int corners) {
    ex_mesh *mesh = ex_mesh_create();
    assert_non_null(mesh);
    mesh->vertex_count = vertices;
    mesh->positions = calloc((size_t)vertices * 3, sizeof(double));
    mesh->face_offsets = calloc((size_t)faces + 1, sizeof(int));
    mesh->corners = calloc((size_t)corners, sizeof(int));
    assert_true(mesh->positions && mesh->face_offsets && mesh->corners);
    return mesh;
}

static void add_face(ex_mesh *mesh, int count, const int *corners) {
    memcpy(mesh->corners + mesh->corner_count, corners, (size_t)count * sizeof(int));
    mesh->corner_count += count;
    mesh->face_offsets[++mesh->face_count] = mesh->corner_count;
}

static void set_position(ex_mesh *mesh, int v, double x, double y, double z) {
    mesh->positions[3 * v] = x;
    mesh->positions[3 * v + 1] = y;
    mesh->positions[3 * v + 2] = z;
}

ex_mesh *ball_mesh(double radius, double x, double y, double z, int around) {
    int rings = around / 2 - 1;
    ex_mesh *mesh = empty_mesh(rings * around + 2, (rings + 1) * around, 4 * (rings + 1) * around);
    int bottom = rings * around, top = bottom + 1;
    for (int i = 0; i < rings; i++)
        for (int j = 0; j < around; j++) {
            double up = PI * (i + 1) / (rings + 1) - PI / 2, turn = 2 * PI * j / around;
            set_position(mesh, i * around + j, x + radius * cos(up) * sin(turn), y + radius * sin(up),
                         z + radius * cos(up) * cos(turn));
        }
    set_position(mesh, bottom, x, y - radius, z);
    set_position(mesh, top, x, y + radius, z);
    for (int j = 0; j < around; j++) {
        int next = (j + 1) % around, last = (rings - 1) * around;
        add_face(mesh, 3, (int[]){bottom, next, j});
        for (int i = 0; i + 1 < rings; i++)
            add_face(mesh, 4,
                     (int[]){i * around + j, i * around + next, (i + 1) * around + next, (i + 1) * around + j});
        add_face(mesh, 3, (int[]){last + j, last + next, top});
    }
    return mesh;
}

ex_mesh *box_mesh(const double low[3], const double high[3]) {
    static const int faces[6][4] = {{4, 5, 7, 6}, {1, 0, 2, 3}, {5, 1, 3, 7}, {0, 4, 6, 2}, {6, 7, 3, 2}, {0, 1, 5, 4}};
    ex_mesh *mesh = empty_mesh(8, 6, 24);
    for (int v = 0; v < 8; v++)
        set_position(mesh, v, v & 1 ? high[0] : low[0], v & 2 ? high[1] : low[1], v & 4 ? high[2] : low[2]);
    for (int f = 0; f < 6; f++)
        add_face(mesh, 4, faces[f]);
    return mesh;
}

ex_mesh *sheet_mesh(double width, double height, int columns, int rows) {
    int across = columns + 1;
    ex_mesh *mesh = empty_mesh(across * (rows + 1), columns * rows, 4 * columns * rows);
    mesh->texcoord_count = mesh->vertex_count;
    mesh->texcoords = calloc((size_t)mesh->vertex_count * 2, sizeof(double));
    mesh->corner_texcoords = calloc((size_t)(4 * columns * rows), sizeof(int));
    assert_true(mesh->texcoords && mesh->corner_texcoords);
    for (int y = 0; y <= rows; y++)
        for (int x = 0; x <= columns; x++) {
            int v = y * across + x;
            double u = (double)x / columns, w = (double)y / rows;
            set_position(mesh, v, (u - 0.5) * width, (w - 0.5) * height, 0);
            mesh->texcoords[2 * v] = u;
            mesh->texcoords[2 * v + 1] = w;
        }
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) {
            int v = y * across + x;
            add_face(mesh, 4, (int[]){v, v + 1, v + across + 1, v + across});
        }
    memcpy(mesh->corner_texcoords, mesh->corners, (size_t)mesh->corner_count * sizeof(int));
    return mesh;
}

void turn_faces(ex_mesh *mesh) {
    for (int f = 0; f < mesh->face_count; f++)
        for (int i = mesh->face_offsets[f], j = mesh->face_offsets[f + 1] - 1; i < j; i++, j--) {
            int kept = mesh->corners[i];
            mesh->corners[i] = mesh->corners[j];
            mesh->corners[j] = kept;
        }
}

ex_render_item item_of(const ex_mesh *mesh) {
    ex_render_item item = ex_render_item_default();
    item.mesh = mesh;
    return item;
}

ex_render_def plain_def(const ex_render_item *items, int item_count) {
    ex_render_def def = ex_render_def_default();
    def.width = def.height = 64;
    def.items = items;
    def.item_count = item_count;
    def.camera.yaw = def.camera.pitch = def.camera.angle = 0;
    def.ground = false;
    def.occlusion = 0;
    def.background = EX_BACKGROUND_TRANSPARENT;
    return def;
}

ex_image *picture_of(const ex_render_def *def) {
    ex_image *image = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_render(def, &image, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_non_null(image);
    assert_int_equal(image->width, def->width);
    assert_int_equal(image->height, def->height);
    return image;
}

int channel_at(const ex_image *image, int x, int y, int channel) {
    assert_in_range(x, 0, image->width - 1);
    assert_in_range(y, 0, image->height - 1);
    return image->pixels[4 * ((size_t)y * (size_t)image->width + (size_t)x) + (size_t)channel];
}

double light_at(const ex_image *image, int x, int y) {
    return (channel_at(image, x, y, 0) + channel_at(image, x, y, 1) + channel_at(image, x, y, 2)) / 3.0;
}

double covered(const ex_image *image, double *x, double *y) {
    double sum = 0;
    *x = *y = 0;
    for (int row = 0; row < image->height; row++)
        for (int column = 0; column < image->width; column++) {
            double alpha = channel_at(image, column, row, 3) / 255.0;
            sum += alpha;
            *x += alpha * (column + 0.5);
            *y += alpha * (row + 0.5);
        }
    *x /= sum > 0 ? sum : 1;
    *y /= sum > 0 ? sum : 1;
    return sum;
}

bool red_middle(const ex_image *image, double *x, double *y) {
    int count = 0;
    *x = *y = 0;
    for (int row = 0; row < image->height; row++)
        for (int column = 0; column < image->width; column++)
            if (channel_at(image, column, row, 3) > 200 &&
                channel_at(image, column, row, 0) > 2 * channel_at(image, column, row, 1) + 20) {
                *x += column + 0.5;
                *y += row + 0.5;
                count++;
            }
    *x /= count > 0 ? count : 1;
    *y /= count > 0 ? count : 1;
    return count > 0;
}

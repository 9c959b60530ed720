/*
 * The skin of the generic head as a mesh of quads. A grid of rows and columns around the head is cast onto the solid of
 * face_field.c, evened out on it, and closed at the top by a square cap, so that no vertex has many edges. Around each
 * eye and the mouth, rings replace a block of the grid, as modellers do: their last rings are the edges of the lids and
 * the lips. Open at the neck and inside the lids.
 *
 * Texture coordinates: column and row, unrolled from the back, narrowing to a point at the crown like an unrolled cone,
 * so that no texel is stretched indefinitely.
 */
#include "face.h"

#include <exemplar/maths.h>

#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { COLUMNS = 56, ROWS = 41, CAP = COLUMNS / 4, FRONT = COLUMNS / 2 };

/* A block of the grid's cells that rings replace: its lowest row and first column, and the number of each. */
typedef struct block {
    int row, column, height, width;
} block;

static const block eye_block = {26, FRONT + 3, 4, 6}, mouth_block = {15, FRONT - 6, 4, 12};
enum { LOOP_MAX = 32 };

typedef struct head_grid {
    point at[ROWS][COLUMNS];
    point next[ROWS][COLUMNS]; /* temporary, while it is evened out */
    int vertices[ROWS][COLUMNS];
    int texcoords[ROWS][COLUMNS + 1]; /* the seam has two columns */
    double v[ROWS];                   /* texture coordinate of each row */
} head_grid;

/* ---- the grid ---- */

/* Angle of a column about the vertical axis: columns are closer together in front, where there is more to see. */
static double column_angle(double column) {
    double t = 2 * PI * (column - FRONT) / COLUMNS, angle = t, s, c;
    for (int i = 0; i < 30; i++) {
        ex_sin_cos(angle, &s, &c);
        angle -= (angle + 0.65 * s - t) / (1 + 0.65 * c);
    }
    return angle;
}

/* Start of a row's rays, on the middle plane, and their slope. */
static void row_ray(int row, double *y, double *z, double *rise) {
    static const struct {
        int row;
        double y, z, degrees;
    } knots[] = {{0, -0.168, -0.038, 0},   {5, -0.128, -0.030, -4},  {9, -0.085, -0.005, -34}, {11, -0.062, 0.010, -44},
                 {13, -0.055, 0.010, -31}, {15, -0.054, 0.010, -21}, {17, -0.052, 0.010, -11}, {19, -0.046, 0.005, -7},
                 {21, -0.040, 0, -4},      {23, -0.030, 0, -1},      {26, -0.014, 0, -1},      {28, 0.000, 0, 0},
                 {30, 0.0135, 0, 1},       {33, 0.020, 0, 12},       {37, 0.020, -0.004, 40},  {40, 0.020, -0.010, 60}};
    int k = 0;
    while (row > knots[k + 1].row)
        k++;
    double t = (double)(row - knots[k].row) / (knots[k + 1].row - knots[k].row);
    *y = knots[k].y + t * (knots[k + 1].y - knots[k].y);
    *z = knots[k].z + t * (knots[k + 1].z - knots[k].z);
    *rise = (knots[k].degrees + t * (knots[k + 1].degrees - knots[k].degrees)) * PI / 180;
}

static void cast_grid(head_grid *grid) {
    for (int r = 0; r < ROWS; r++) {
        double y, z, rise, up, level;
        row_ray(r, &y, &z, &rise);
        for (int c = 0; c <= FRONT; c++) {
            double s, t;
            ex_sin_cos(column_angle(c), &s, &t);
            /* Under the chin rays descend; at the nape, where nothing protrudes, they hardly do. */
            ex_sin_cos(rise < 0 ? rise * (0.65 + 0.35 * t) : rise, &up, &level);
            point p = exi_face_cast((point){0, y, z}, (point){level * s, up, level * t});
            grid->at[r][c] = p;
            grid->at[r][(COLUMNS - c) % COLUMNS] = point_mirror(p);
        }
    }
}

/* Moves vertices towards the middle of their neighbours and back onto the skin, so that rows spread over the nose's
 * underside, which rays from the axis hardly reach. */
static void even_out(head_grid *grid) {
    for (int round = 0; round < 8; round++) {
        for (int r = 1; r < ROWS - 1; r++)
            for (int c = 0; c <= FRONT; c++) {
                point sum = point_add(point_add(grid->at[r - 1][c], grid->at[r + 1][c]),
                                      point_add(grid->at[r][(c + COLUMNS - 1) % COLUMNS], grid->at[r][c + 1]));
                point p = grid->at[r][c], n = exi_face_normal(p);
                point move = point_subtract(point_scale(sum, 0.25), p);
                move = point_subtract(move, point_scale(n, point_dot(n, move)));
                p = exi_face_project(point_add(p, point_scale(move, 0.5)));
                if (c % FRONT == 0)
                    p.x = 0;
                grid->next[r][c] = p;
                grid->next[r][(COLUMNS - c) % COLUMNS] = point_mirror(p);
            }
        memcpy(grid->at[1], grid->next[1], sizeof grid->next - 2 * sizeof grid->next[0]);
    }
}

/* ---- texture coordinates of the skin ---- */

/* Width of the unrolled head at a height: a cone at the crown, narrower at the neck. */
static double unrolled_width(double v) {
    double cone = (1 - v) / 0.30, neck = 0.72 + 0.28 * smooth_step(0, 0.2, v);
    double h = 0.5 - fabs(cone - neck); /* the smaller, rounded */
    h = h > 0 ? h : 0;
    return 0.985 * ((cone < neck ? cone : neck) - h * h / 2);
}

static int add_skin_texcoord(exi_face *face, double column, double v) {
    return exi_face_add_texcoord(face, 0.5 + (column - FRONT) / COLUMNS * unrolled_width(v), v);
}

/* The distances of rows in the texture are those on the front of the head. */
static void place_rows(head_grid *grid) {
    double length = 0;
    for (int r = 0; r < ROWS; r++) {
        for (int c = FRONT - 16; r > 0 && c <= FRONT + 16; c++)
            length += point_length(point_subtract(grid->at[r][c], grid->at[r - 1][c])) / 33;
        grid->v[r] = length;
    }
    for (int r = 0; r < ROWS; r++)
        grid->v[r] = 0.008 + grid->v[r] / length * 0.80;
}

/* ---- faces of the grid and of the cap ---- */

static bool within(block b, int row, int column, int margin) {
    return row >= b.row + margin && row <= b.row + b.height - margin && column >= b.column + margin &&
           column <= b.column + b.width - margin;
}

static block mirrored(block b) {
    return (block){b.row, COLUMNS - b.column - b.width, b.height, b.width};
}

/* True if rings replace the vertex, or, with `cell`, the cell with this lower left vertex. */
static bool replaced(int row, int column, bool cell) {
    const block blocks[3] = {eye_block, mirrored(eye_block), mouth_block};
    for (int i = 0; i < 3; i++) {
        if (cell ? within(blocks[i], row, column, 0) && within(blocks[i], row + 1, column + 1, 0)
                 : within(blocks[i], row, column, 1))
            return true;
    }
    return false;
}

static void add_grid(exi_face *face, head_grid *grid) {
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c <= COLUMNS; c++) {
            if (replaced(r, c, false))
                continue;
            if (c < COLUMNS)
                grid->vertices[r][c] = exi_face_add_vertex(face, grid->at[r][c]);
            grid->texcoords[r][c] = add_skin_texcoord(face, c, grid->v[r]);
        }
    for (int r = 0; r + 1 < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++) {
            const int d = (c + 1) % COLUMNS, *low = grid->vertices[r], *high = grid->vertices[r + 1];
            if (!replaced(r, c, true))
                exi_face_add_polygon(face, FACE_HEAD, 4, (int[]){low[c], low[d], high[d], high[c]},
                                     (int[]){grid->texcoords[r][c], grid->texcoords[r][c + 1],
                                             grid->texcoords[r + 1][c + 1], grid->texcoords[r + 1][c]});
        }
}

/* Column of the cap's rim in the direction of the point (a, b) of the square; a to the left, b to the front. */
static double cap_column(int a, int b, bool left_of_seam) {
    const int half = CAP / 2, rho = abs(a) > abs(b) ? abs(a) : abs(b);
    if (rho == 0)
        return FRONT;
    double along = (double)half / rho;
    if (b == rho && abs(a) <= rho)
        return FRONT + a * along;
    if (a == rho)
        return FRONT + half + (half - b * along);
    if (a == -rho)
        return FRONT - half - (half - b * along);
    if (a == 0)
        return left_of_seam ? COLUMNS : 0;
    return a > 0 ? COLUMNS - a * along : -a * along;
}

static void add_cap(exi_face *face, const head_grid *grid) {
    enum { HALF = CAP / 2 };
    int vertices[CAP + 1][CAP + 1], texcoords[CAP + 1][CAP + 1];
    int seam[CAP + 1] = {0};
    const point centre = {0, 0.010, -0.012};
    for (int i = 0; i <= CAP; i++)
        for (int j = 0; j <= CAP; j++) {
            const int a = i - HALF, b = j - HALF, rho = abs(a) > abs(b) ? abs(a) : abs(b);
            const double v = grid->v[ROWS - 1] + (1 - (double)rho / HALF) * (0.992 - grid->v[ROWS - 1]);
            double column = cap_column(a, b, false);
            if (rho == HALF) {
                vertices[i][j] = grid->vertices[ROWS - 1][(int)(column + 0.5) % COLUMNS];
                texcoords[i][j] = grid->texcoords[ROWS - 1][(int)(column + 0.5)];
                if (a == 0 && b < 0)
                    seam[j] = grid->texcoords[ROWS - 1][COLUMNS];
                continue;
            }
            /* A direction between those of the rim in this row and in this column of the cap. */
            point rim[4];
            for (int k = 0; k < 4; k++) {
                int at = (int)(cap_column(k == 0   ? -HALF
                                          : k == 1 ? HALF
                                                   : a,
                                          k == 2   ? -HALF
                                          : k == 3 ? HALF
                                                   : b,
                                          false) +
                               0.5);
                rim[k] = point_unit(point_subtract(grid->at[ROWS - 1][at % COLUMNS], centre));
            }
            double s = (double)i / CAP, t = (double)j / CAP;
            point direction = point_add(point_mix(rim[0], rim[1], s), point_mix(rim[2], rim[3], t));
            direction.y += 0.9 * (1 - (2 * s - 1) * (2 * s - 1)) * (1 - (2 * t - 1) * (2 * t - 1));
            vertices[i][j] = exi_face_add_vertex(face, exi_face_cast(centre, point_unit(direction)));
            texcoords[i][j] = add_skin_texcoord(face, column, v);
            if (a == 0 && b < 0)
                seam[j] = add_skin_texcoord(face, COLUMNS, v);
        }
    seam[HALF] = texcoords[HALF][HALF];
    for (int i = 0; i < CAP; i++)
        for (int j = 1; j <= CAP; j++) {
            bool left = i == HALF && j <= HALF;
            exi_face_add_polygon(
                face, FACE_HEAD, 4,
                (int[]){vertices[i][j], vertices[i + 1][j], vertices[i + 1][j - 1], vertices[i][j - 1]},
                (int[]){left ? seam[j] : texcoords[i][j], texcoords[i + 1][j], texcoords[i + 1][j - 1],
                        left ? seam[j - 1] : texcoords[i][j - 1]});
        }
}

/* ---- blocks ---- */

typedef struct loop_room {
    point at[LOOP_MAX];
    int vertices[LOOP_MAX], texcoords[LOOP_MAX];
} loop_room;

static face_loop border(const head_grid *grid, block b, loop_room *room) {
    const int count = 2 * (b.width + b.height);
    for (int i = 0; i < count; i++) {
        /* along the bottom, up, back along the top, down */
        const int w = b.width, h = b.height;
        const int c = b.column + (i < w ? i : i < w + h ? w : i < 2 * w + h ? 2 * w + h - i : 0);
        const int r = b.row + (i < w ? 0 : i < w + h ? i - w : i < 2 * w + h ? h : count - i);
        room->at[i] = grid->at[r][c];
        room->vertices[i] = grid->vertices[r][c];
        room->texcoords[i] = grid->texcoords[r][c];
    }
    return (face_loop){count, b.width, b.height, room->at, room->vertices, room->texcoords};
}

bool exi_face_add_head(exi_face *face) {
    head_grid *grid = malloc(sizeof *grid);
    if (!grid)
        return false;
    cast_grid(grid);
    even_out(grid);
    place_rows(grid);
    add_grid(face, grid);
    add_cap(face, grid);
    loop_room room;
    for (int right = 0; right < 2; right++) {
        face_loop loop = border(grid, right ? mirrored(eye_block) : eye_block, &room);
        exi_face_add_lids(face, &loop, right);
    }
    face_loop loop = border(grid, mouth_block, &room);
    exi_face_add_lips(face, &loop);
    free(grid);
    return true;
}

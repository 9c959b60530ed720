/*
 * The generic head of the demo `face` as a mesh of quads. A grid of rows and columns around the head is cast onto the
 * solid of face_field.c, evened out on it, and closed on top by a square cap, so that nowhere many edges meet. Around
 * each eye and the mouth a block of the grid is replaced by rings, as faces are modelled: their last rings are the
 * lids' and the lips' edges. Open at the neck, inside the lids and inside the mouth.
 *
 * Texture coordinates: column and row, unrolled from the back, narrowing to a point at the crown as an unrolled cone
 * does, so that no texel is stretched without end.
 */
#include "face.h"

#include "author/formats/array.h"
#include "runtime/base/functions.inl"

#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { COLUMNS = 56, ROWS = 41, CAP = COLUMNS / 4, FRONT = COLUMNS / 2, CAPACITY = 5000 };

/* A block of the grid's cells, by its first and last row and column, that rings replace. */
typedef struct block {
    int row, column, height, width;
} block;

static const block eye_block = {26, FRONT + 3, 4, 6}, mouth_block = {15, FRONT - 5, 4, 10};
enum { LOOP_MAX = 28 };

typedef struct head_grid {
    point at[ROWS][COLUMNS];
    int vertices[ROWS][COLUMNS];
    int texcoords[ROWS][COLUMNS + 1]; /* the seam has two */
    double v[ROWS];                   /* texture coordinate of each row */
} head_grid;

/* ---- growing the mesh ---- */

int exi_face_add_vertex(exi_face *face, point p) {
    int v = face->mesh->vertex_count++;
    memcpy(face->mesh->positions + 3 * (size_t)v, (double[]){p.x, p.y, p.z}, 3 * sizeof(double));
    return v;
}

int exi_face_add_texcoord(exi_face *face, double u, double v) {
    int t = face->mesh->texcoord_count++;
    face->mesh->texcoords[2 * t] = u;
    face->mesh->texcoords[2 * t + 1] = v;
    return t;
}

void exi_face_add_polygon(exi_face *face, face_group group, int count, const int *vertices, const int *texcoords) {
    ex_mesh *mesh = face->mesh;
    memcpy(mesh->corners + mesh->corner_count, vertices, (size_t)count * sizeof *vertices);
    memcpy(mesh->corner_texcoords + mesh->corner_count, texcoords, (size_t)count * sizeof *texcoords);
    mesh->corner_count += count;
    mesh->face_groups[mesh->face_count] = (int)group;
    mesh->face_offsets[++mesh->face_count] = mesh->corner_count;
}

/* ---- the grid ---- */

/* The angle about the vertical axis of a column: closer together in front, where there is more to see. */
static double column_angle(double column) {
    double t = 2 * PI * (column - FRONT) / COLUMNS, angle = t, s, c;
    for (int i = 0; i < 30; i++) {
        exi_sin_cos(angle, &s, &c);
        angle -= (angle + 0.65 * s - t) / (1 + 0.65 * c);
    }
    return angle;
}

/* Where a row's rays start, on the middle plane, and how steeply they rise. */
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
            exi_sin_cos(column_angle(c), &s, &t);
            /* Under the chin rays fall; at the nape, where nothing juts out, they hardly do. */
            exi_sin_cos(rise < 0 ? rise * (0.65 + 0.35 * t) : rise, &up, &level);
            point p = exi_face_cast((point){0, y, z}, (point){level * s, up, level * t});
            grid->at[r][c] = p;
            grid->at[r][(COLUMNS - c) % COLUMNS] = point_mirror(p);
        }
    }
}

/* Moves vertices towards the middle of their neighbours and back onto the skin: rows spread over the nose's underside,
 * which rays from the axis hardly see. */
static void even_out(head_grid *grid) {
    static point next[ROWS][COLUMNS];
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
                next[r][c] = p;
                next[r][(COLUMNS - c) % COLUMNS] = point_mirror(p);
            }
        memcpy(grid->at[1], next[1], sizeof next - 2 * sizeof next[0]);
    }
}

/* ---- texture coordinates of the skin ---- */

/* How wide the unrolled head is at a height: a cone at the crown, narrower at the neck. */
static double unrolled_width(double v) {
    double cone = (1 - v) / 0.30, neck = 0.72 + 0.28 * smooth_step(0, 0.2, v);
    double h = 0.5 - fabs(cone - neck); /* the smaller, rounded */
    h = h > 0 ? h : 0;
    return 0.985 * ((cone < neck ? cone : neck) - h * h / 2);
}

static int add_skin_texcoord(exi_face *face, double column, double v) {
    return exi_face_add_texcoord(face, 0.5 + (column - FRONT) / COLUMNS * unrolled_width(v), v);
}

/* Rows lie in the texture as far apart as they do on the front of the head. */
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

static block mirrored(block b) { return (block){b.row, COLUMNS - b.column - b.width, b.height, b.width}; }

/* With margin 1, whether rings take the vertex's place; cells are asked for by their lower left vertex. */
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

/* The column of the cap's rim in whose direction the point (a, b) of the square lies; a to the left, b to the front. */
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
    static int vertices[CAP + 1][CAP + 1], texcoords[CAP + 1][CAP + 1];
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
                int at = (int)(cap_column(k == 0 ? -HALF : k == 1 ? HALF : a, k == 2 ? -HALF : k == 3 ? HALF : b,
                                          false) + 0.5);
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
            exi_face_add_polygon(face, FACE_HEAD, 4, (int[]){vertices[i][j], vertices[i + 1][j], vertices[i + 1][j - 1], vertices[i][j - 1]},
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

/* ---- the whole ---- */

static bool allocate(exi_face *face) {
    static const char *const names[FACE_GROUP_COUNT] = {"head", "eyes", "ears"};
    ex_mesh *mesh = face->mesh = ex_mesh_create();
    if (!mesh)
        return false;
    mesh->positions = exi_array_allocate(3 * CAPACITY, sizeof(double));
    mesh->texcoords = exi_array_allocate(2 * CAPACITY, sizeof(double));
    mesh->face_offsets = exi_array_allocate(CAPACITY + 1, sizeof(int));
    mesh->face_groups = exi_array_allocate(CAPACITY, sizeof(int));
    mesh->corners = exi_array_allocate(4 * CAPACITY, sizeof(int));
    mesh->corner_texcoords = exi_array_allocate(4 * CAPACITY, sizeof(int));
    mesh->group_names = calloc(FACE_GROUP_COUNT, sizeof *mesh->group_names);
    face->paint = calloc(CAPACITY, FACE_PAINT_COUNT * sizeof(double));
    face->blink = calloc(CAPACITY, 3 * sizeof(double));
    bool done = mesh->positions && mesh->texcoords && mesh->face_offsets && mesh->face_groups && mesh->corners &&
                mesh->corner_texcoords && mesh->group_names && face->paint && face->blink;
    if (done)
        mesh->face_offsets[0] = 0;
    for (int i = 0; done && i < FACE_GROUP_COUNT; i++) {
        mesh->group_names[i] = exi_text_copy(names[i], strlen(names[i]));
        done = mesh->group_names[i] != NULL;
        mesh->group_count += done;
    }
    return done;
}

/* The lips' edges stay sharp when refined, or they would draw back from each other. */
static bool crease_mouth(exi_face *face) {
    ex_mesh *mesh = face->mesh;
    mesh->tags = calloc(FACE_MOUTH, sizeof *mesh->tags);
    bool done = mesh->tags != NULL;
    for (int i = 0; done && i < FACE_MOUTH; i++) {
        ex_tag *tag = &mesh->tags[mesh->tag_count++];
        tag->name = exi_text_copy("crease", strlen("crease"));
        tag->ints = exi_array_copy((int[]){face->mouth[i], face->mouth[(i + 1) % FACE_MOUTH]}, 2, sizeof *tag->ints);
        tag->floats = exi_array_copy((double[]){10}, 1, sizeof *tag->floats);
        done = tag->name && tag->ints && tag->floats;
        tag->int_count = tag->ints ? 2 : 0;
        tag->float_count = tag->floats ? 1 : 0;
    }
    return done;
}

exi_face *exi_face_create(void) {
    exi_face *face = calloc(1, sizeof *face);
    head_grid *grid = malloc(sizeof *grid);
    if (!face || !grid || !allocate(face)) {
        free(grid);
        exi_face_destroy(face);
        return NULL;
    }
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
    exi_face_add_eyes(face);
    exi_face_add_ears(face);
    free(grid);
    if (!crease_mouth(face)) {
        exi_face_destroy(face);
        return NULL;
    }
    return face;
}

void exi_face_destroy(exi_face *face) {
    if (!face)
        return;
    ex_mesh_destroy(face->mesh);
    free(face->paint);
    free(face->blink);
    free(face);
}

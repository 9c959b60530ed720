/*
 * simulate.h - the parts of the simulated scanner; private to authoring.
 *
 *   simulate_surface.c   the rig's surface at rest, and the paint on it
 *   simulate_paint.c     places of markers
 *   simulate_view.c      the rays of one head: depths and colours
 *   simulate_grid.c      triangles between neighbouring samples
 *   simulate_merge.c     merges several views into one mesh
 *   simulate.c           a scan of one pose
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_SIMULATE_SIMULATE_H
#define EXEMPLAR_AUTHOR_SCAN_SIMULATE_SIMULATE_H

#include <exemplar/author/scan_simulate.h>

/* ---- chance: random numbers that depend only on their purpose, not on earlier ones ---- */

static inline uint64_t exi_chance(uint64_t key, uint64_t what) {
    uint64_t x = (key ^ (what + 0x632BE59BD9B4E019u)) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}
uint64_t exi_chance_text(uint64_t key, const char *text);
/* In [0, 1). */
static inline double exi_chance_part(uint64_t chance) {
    return (double)(chance >> 11) * 0x1p-53;
}
/* Nearly normal, with mean 0 and deviation 1, and never beyond 3.5: the sum of four uniform numbers. */
static inline double exi_chance_normal(uint64_t chance) {
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (double)(chance >> (16 * i) & 0xFFFF) + 0.5;
    return (sum * 0x1p-16 - 2) * 1.7320508075688772;
}
/* Uniform over directions. */
void exi_chance_direction(uint64_t chance, double direction[3]);

/* ---- the surface at rest ---- */

typedef struct exi_skin_surface {
    const ex_rig *rig;
    int level;
    int vertex_count, triangle_count;
    ex_rig_mesh mesh;    /* of the level; its triangles use split vertices */
    uint32_t *triangles; /* [triangle_count][3] vertices */
    float *rest;         /* [vertex_count][3] */
    ex_tree *tree;
    double *areas; /* [triangle_count]: cumulative areas at rest */
} exi_skin_surface;

ex_result exi_skin_surface_open(exi_skin_surface *surface, const ex_rig *rig, int level, ex_error *error);
void exi_skin_surface_close(exi_skin_surface *surface);
/* Computes a point [3] of a triangle for positions [vertex_count][3]; place is barycentric. */
void exi_surface_point(const exi_skin_surface *surface, const float *positions, int triangle, const double place[3],
                       double point[3]);
/* Computes the triangle's unit normal; 0 0 0 if it has none. */
void exi_surface_normal(const exi_skin_surface *surface, const float *positions, int triangle, double normal[3]);
/* Finds the point of the surface closest to a point; returns false if the surface has none. fit: bounds of the same
 * positions. */
bool exi_surface_closest(const ex_bounds *fit, const double point[3], int *triangle, double place[3]);

/* ---- paint ---- */

/* A round spot, as painted at rest. */
typedef struct exi_spot {
    double point[3], normal[3];
    double radius;
    unsigned char colour[3];
} exi_spot;

extern const unsigned char exi_paint_colours[8][3];

exi_spot exi_spot_make(const exi_skin_surface *surface, int triangle, const double place[3], double radius,
                       const unsigned char colour[3]);
/* Returns the fraction of a sample that the spot covers: 1 inside, 0 outside, falling over `blur` metres at its
 * edge. */
double exi_spot_cover(const exi_spot *spot, const double rest[3], const double normal[3], double blur);

/* ---- the scanner ---- */

typedef struct exi_scanner {
    ex_scan_simulation simulation;
    exi_skin_surface surface;
    int paint_count;
    const ex_paint *paints;
    exi_spot *spots; /* [paint_count] */
    int *starts;     /* [triangle_count + 1]: spots that may reach into a triangle are lists[starts[t]] and on */
    int *lists;
    int texture; /* the base colour of the rig, or -1 */
} exi_scanner;

/* Prepares everything that all poses share; keeps the pointers in simulation and paints. */
ex_result exi_scanner_open(exi_scanner *scanner, const ex_scan_simulation *simulation, const ex_paint *paints,
                           int paint_count, ex_error *error);
void exi_scanner_close(exi_scanner *scanner);
/* rubbed: true if `missing` applies to this scan. */
ex_result exi_scanner_shoot(const exi_scanner *scanner, int pose, bool rubbed, ex_scan_shot **shot, ex_error *error);

/* One pose in front of the scanner. */
typedef struct exi_subject {
    const exi_scanner *scanner;
    uint64_t key; /* seed of all random numbers in this scan */
    float *posed; /* [vertex_count][3] */
    void *fit_memory;
    const ex_bounds *fit;
    double box[2][3];
    bool *painted; /* [paint_count] */
    int stray_count;
    exi_spot *strays;
    unsigned char *image; /* the texture, or NULL */
    ex_texture texture;
} exi_subject;

/* A head's range image. Sample (row, column) lies at its depth along head, on the line through right * (first_column +
 * column) * pitch[0] and y = (first_row + row) * pitch[1]. */
typedef struct exi_range_view {
    double head[3], right[3]; /* towards the head; across, as seen from it */
    double pitch[2];
    int first_row, first_column, row_count, column_count;
    float *depths;               /* [row_count][column_count] along head; NAN: nothing seen */
    float *slants;               /* likewise: sine of the angle between ray and surface */
    unsigned char (*colours)[3]; /* likewise */
    unsigned char *cells;        /* [row_count - 1][column_count - 1]: EXI_CELL_… */
    int *counts;                 /* [paint_count]: samples that mostly show a marker */
} exi_range_view;

/* Triangles of a cell. Without TURNED its diagonal runs from (0, 0) to (1, 1), and the first triangle is the one with
 * the corner (row 0, column 1). With TURNED it runs from (0, 1) to (1, 0), and the first is the one with the corner (0,
 * 0). */
enum { EXI_CELL_FIRST = 1, EXI_CELL_SECOND = 2, EXI_CELL_TURNED = 4 };

ex_result exi_view_scan(exi_range_view *view, const exi_subject *subject, int index, ex_error *error);
void exi_view_close(exi_range_view *view);
/* Returns the sine of the angle at which a head sees a point of the surface; 0 if it does not. */
double exi_head_sees(const ex_bounds *fit, const double head[3], const double point[3], const double normal[3]);
void exi_head_direction(int index, int count, double head[3], double right[3]);

/* Fills the cells; removes samples that no triangle uses. */
void exi_view_connect(exi_range_view *view, double noise);
ex_result exi_view_mesh(const exi_range_view *view, ex_mesh **mesh, ex_error *error);
/* Interpolates the view's triangles at a position across and along: depth, slant and colour, linear in the triangle;
 * returns false if there is none. colour may be NULL. */
bool exi_view_look(const exi_range_view *view, double across, double along, double *depth, double *slant,
                   double colour[3]);

ex_result exi_views_merge(const exi_range_view *views, int count, double size, ex_mesh **mesh, ex_error *error);

/* Makes a mesh from triangles and colours in bytes; copies its input. */
ex_result exi_coloured_mesh(int vertex_count, const float (*positions)[3], const unsigned char (*colours)[3],
                            int triangle_count, const int (*triangles)[3], ex_mesh **mesh, ex_error *error);

#endif

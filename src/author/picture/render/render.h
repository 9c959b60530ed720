/*
 * render.h - declarations shared by the parts of the renderer: the stage (all triangles of a picture, and their surface
 * properties), the view, the lights, and the spot that a ray through the picture hits. Private to authoring.
 *
 * Light is linear red green blue in float. Positions are relative to the middle and the size of the framed forms, so
 * that floats are precise enough for a form of any size at any position. Everything here may be read from any number of
 * threads once it is made.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_RENDER_RENDER_H
#define EXEMPLAR_AUTHOR_PICTURE_RENDER_RENDER_H

#include <exemplar/author/picture.h>
#include <exemplar/settle.h>

#include <math.h>

/* ---- vectors ---- */

typedef struct exi_v3 {
    float x, y, z;
} exi_v3;

static inline exi_v3 exi_v3_at(const float *p) {
    return (exi_v3){p[0], p[1], p[2]};
}
static inline exi_v3 exi_v3_add(exi_v3 a, exi_v3 b) {
    return (exi_v3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline exi_v3 exi_v3_subtract(exi_v3 a, exi_v3 b) {
    return (exi_v3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline exi_v3 exi_v3_scale(exi_v3 a, float s) {
    return (exi_v3){a.x * s, a.y * s, a.z * s};
}
/* a + s b */
static inline exi_v3 exi_v3_along(exi_v3 a, float s, exi_v3 b) {
    return (exi_v3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline float exi_v3_dot(exi_v3 a, exi_v3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline exi_v3 exi_v3_cross(exi_v3 a, exi_v3 b) {
    return (exi_v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/* Normalises to length 1; zero stays zero. */
static inline exi_v3 exi_v3_unit(exi_v3 a) {
    float length = sqrtf(exi_v3_dot(a, a));
    return length > 0 && length < INFINITY ? exi_v3_scale(a, 1 / length) : (exi_v3){0, 0, 0};
}

typedef struct exi_render exi_render;

/* ---- the stage (stage.c, normals.c, texture.c, material.c) ---- */

/* The contents of an image: colours with alpha, colours whose alpha does not count, or numbers. */
typedef enum exi_texture_kind { EXI_TEXTURE_ALPHA, EXI_TEXTURE_OPAQUE, EXI_TEXTURE_NUMBERS } exi_texture_kind;

/* Mipmap: each level is half the size of the previous one. Colours are in sRGB codes, averaged in linear light. */
#define EXI_TEXTURE_LEVELS 16
typedef struct exi_texture {
    const ex_image *image;
    exi_texture_kind kind;
    int level_count;
    const unsigned char *levels[EXI_TEXTURE_LEVELS]; /* [height][width][4]; the first is the image itself */
    int widths[EXI_TEXTURE_LEVELS], heights[EXI_TEXTURE_LEVELS];
    unsigned char *memory;
} exi_texture;

/* A look on the stage: its maps as indices of the item's textures, -1 for none. */
typedef struct exi_look {
    const ex_material *source;
    int colour, metallic, normal, occlusion, emissive;
} exi_look;

#define EXI_SCALAR_STEPS 256
typedef struct exi_stage exi_stage;
typedef struct exi_stage_item {
    const ex_render_item *source;
    int first_triangle, first_vertex, first_corner;
    exi_v3 colour; /* linear */
    exi_texture texture;
    double min, max;                     /* range of the scalar's colour map */
    exi_v3 (*map)[EXI_SCALAR_STEPS + 1]; /* linear; NULL without a scalar */
    exi_look *looks;                     /* [look_count of the source's looks], or NULL */
    int *look_of;                        /* [material_count of the mesh] indices of looks, -1 for none */
    exi_texture *textures;               /* [texture_count] of the looks */
    int texture_count;
} exi_stage_item;

struct exi_stage {
    int item_count, vertex_count, triangle_count, corner_count;
    exi_stage_item *items;
    double origin[3]; /* position of 0 0 0 in the items' coordinates */
    double box[6];    /* bounds of all vertices, in the items' coordinates */
    double unit;      /* length of 1 in the items' coordinates: the diagonal of the framed box */
    float size;       /* that diagonal in the stage's coordinates: 1 */
    float ground;     /* height of the ground */
    exi_v3 middle;    /* centre of the ball around the box */
    float radius;
    float *positions;    /* [vertex_count][3] */
    uint32_t *triangles; /* [triangle_count][3] vertices */
    int *cuts;           /* [triangle_count][3] corner indices of the item's mesh */
    int *faces;          /* [triangle_count] face indices of the item's mesh; only for a wireframe or looks */
    bool see_through;    /* true if a look leaves parts of its faces out */
    float *normals;      /* [corner_count][3], zero: use the face's; NULL for flat shading */
    ex_tree *tree;
    void *fit_memory;
    const ex_bounds *fit;
    float linear[256]; /* linear light of each sRGB code */
};

/* Builds everything that does not depend on the camera. Call exi_stage_close even after a failure. */
ex_result exi_stage_open(exi_stage *stage, const ex_render_def *def, ex_error *error);
void exi_stage_close(exi_stage *stage);
/* Returns the item that a triangle belongs to. */
const exi_stage_item *exi_stage_item_of(const exi_stage *stage, int triangle);

/* Computes normals [corner_count][3] at the corners of a mesh whose vertices are at positions [vertex_count][3]: the
 * item's, the mesh's, or the mean of the surrounding faces that meet at less than 60 degrees (smooth: of all). */
ex_result exi_corner_normals(const ex_render_item *item, const float *positions, bool smooth, float *normals,
                             ex_error *error);

ex_result exi_texture_open(exi_texture *texture, const ex_image *image, exi_texture_kind kind, const float linear[256],
                           ex_error *error);
void exi_texture_close(exi_texture *texture);
/* Place of a sample: coordinates with the origin at the bottom left, the image's ways beyond its edges, and the number
 * of the image's pixels that a pixel of the picture covers. */
typedef struct exi_place {
    float u, v, texels;
    ex_wrap wrap[2];
    bool nearest;
} exi_place;
/* Samples a texture. Returns the linear colour, or the numbers from 0 to 1; and the alpha. */
exi_v3 exi_texture_sample(const exi_texture *texture, const float linear[256], exi_place place, float *alpha);

/* Makes the textures of an item's looks; false in `see_through` stays if all are opaque and double-sided. */
ex_result exi_looks_open(exi_stage *stage, exi_stage_item *item, ex_error *error);
void exi_looks_close(exi_stage_item *item);

float exi_light_of_code(float code); /* both from 0 to 1 */
float exi_code_of_light(float linear);

/* ---- the view (view.c) ---- */

typedef struct exi_view {
    exi_v3 right, up, back, eye;
    float half_width, half_height; /* of the picture at distance 1; its actual size for a parallel view */
    bool parallel;
    int width;
    float height; /* of the framed area: less than the picture's if a legend lies below it */
} exi_view;

ex_result exi_view_frame(exi_view *view, const ex_render_def *def, const exi_stage *stage, ex_error *error);
/* Computes the ray through a point of the picture, in pixels from the upper left corner; the direction has length 1. */
void exi_view_ray(const exi_view *view, float x, float y, exi_v3 *from, exi_v3 *direction);
/* Projects a point to pixels; false if it is behind the eye. */
bool exi_view_project(const exi_view *view, exi_v3 point, float *x, float *y);
/* Returns the width of a pixel at a distance along a ray. */
float exi_view_pixel(const exi_view *view, float distance);

/* ---- spots and light (spot.c, light.c, reflect.c, shade.c, wire.c) ---- */

typedef enum exi_spot_kind { EXI_SPOT_NOTHING, EXI_SPOT_GROUND, EXI_SPOT_FORM } exi_spot_kind;

typedef struct exi_spot {
    exi_spot_kind kind;
    bool behind; /* true if the back of a face is seen */
    int triangle;
    float u, v;
    float t;     /* distance along the ray */
    float pixel; /* width of a pixel there */
    exi_v3 point;
    exi_v3 normal, face;  /* facing the eye: the shading normal, and the face's normal */
    exi_v3 towards;       /* direction to the eye */
    const exi_look *look; /* NULL: the item's own paint */
    float alpha;          /* 1 unless a look lets light through */
} exi_spot;

/* A look at a spot: everything that reflects or emits light there. */
typedef struct exi_surface {
    exi_v3 colour, emissive;
    float metallic, roughness, occlusion; /* 1: unoccluded */
    float gloss;                          /* strength of all reflections but the diffuse one; 1: as glTF has it */
    exi_v3 scatter;                       /* how far colours wander below the surface, 0 to 1; skin */
    exi_v3 sheen;                         /* colour of fibres; cloth */
    float sheen_roughness;
    exi_v3 normal;
} exi_surface;

/* Returns the look of a triangle, or NULL. */
const exi_look *exi_look_of(const exi_stage *stage, int triangle);
/* Returns the alpha of a spot's look there: 0 where it is left out, 1 where it hides what is behind. */
float exi_look_alpha(const exi_render *render, const exi_spot *spot);
/* Evaluates a spot's look. */
exi_surface exi_look_at(const exi_render *render, const exi_spot *spot);

typedef struct exi_lights {
    exi_v3 key, key_across, key_along; /* direction to it; two vectors that span its disc */
    exi_v3 fill, rim;
    exi_v3 key_light, fill_light, rim_light, sky_light, ground_light; /* colours; the last two from above and below */
    int sky_rays, key_rays;
} exi_lights;

/* Tangent of the angle of the key light's radius. */
#define EXI_KEY_RADIUS 0.24f

/* Visible fractions of the sky and of the key light, from 0 to 1. */
typedef struct exi_seen {
    float sky, key;
} exi_seen;

struct exi_render {
    const ex_render_def *def;
    exi_stage stage;
    exi_view view;
    exi_lights lights;
};

exi_lights exi_lights_place(const ex_render_def *def);
/* Returns point j of the `count` points of one of 16 patterns, in the unit square. For powers of two the points are
 * evenly distributed: in each pattern, in four patterns starting at a multiple of four, and in all of them together. */
void exi_light_point(int pattern, int j, int count, float *a, float *b);
/* Gathers light with the rays of one pattern. */
exi_seen exi_light_gather(const exi_render *render, const exi_spot *spot, int pattern);
/* Returns the light that a surface of a colour reflects. */
exi_v3 exi_light_reflect(const exi_render *render, const exi_spot *spot, exi_seen seen, exi_v3 colour, float gloss);
/* Returns the light that a surface of a look reflects and emits. */
exi_v3 exi_light_surface(const exi_render *render, const exi_spot *spot, exi_seen seen, const exi_surface *surface);
/* Returns the fraction of the light on the bare ground that remains, of each colour: shade is cooler than light. */
exi_v3 exi_light_ground(const exi_render *render, exi_seen seen);

/* Finds the spot at x y of the picture, farther away than `after` along its ray (-1: the first). */
void exi_spot_find(const exi_render *render, float x, float y, float after, exi_spot *spot);
/* True if something keeps light from a point of a direction, nearer than `far`. */
bool exi_spot_blocked(const exi_render *render, exi_v3 from, exi_v3 direction, float far);

typedef struct exi_shade {
    exi_v3 colour; /* linear, premultiplied by alpha */
    float alpha;
} exi_shade;

/* Returns the colour of a spot at x y of the picture. */
exi_shade exi_shade_spot(const exi_render *render, const exi_spot *spot, exi_seen seen, float x, float y);
/* Returns the fraction of the spot that the lines of the wireframe cover. */
float exi_wire_cover(const exi_render *render, const exi_spot *spot, float x, float y);

static inline uint32_t exi_hash(uint32_t x) {
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}
static inline float exi_hash_unit(uint32_t x) {
    return (float)(exi_hash(x) >> 8) * 0x1p-24f;
}

/* ---- the picture (tile.c, legend.c) ---- */

/* Side of a tile in pixels. */
#define EXI_TILE 96

/* Renders the tile at column, row into the image; false without memory. */
bool exi_tile_render(const exi_render *render, int column, int row, ex_image *image);

/* Height in pixels of the scalar's legend at the foot of a picture of that size; 0: no legend. */
double exi_legend_height(int width, int height);
/* Draws the legend onto the picture. */
ex_result exi_legend_draw(ex_image *image, const exi_stage_item *item, ex_error *error);

#endif

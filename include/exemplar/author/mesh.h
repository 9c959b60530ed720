/*
 * exemplar/author/mesh.h - editable meshes: polygons, texture coordinates, groups, crease tags.
 *
 * An ex_mesh is plain data that its holder may change. Positions are double, so nothing is lost between a file and the
 * difference that a rig stores. Not thread-safe while it is being changed. Subdivision turns a mesh into tables that
 * the runtime evaluates (exemplar/refine.h). exemplar/author/formats.h reads and writes files.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_H
#define EXEMPLAR_AUTHOR_MESH_H

#include <exemplar/base.h>
#include <exemplar/refine.h>
#include <exemplar/rig_inspect.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A subdivision tag as in an OBJ file: `t NAME ints/floats/strings i… f… s…`. */
typedef struct ex_tag {
    char *name; /* "crease", "corner", "interpolateboundary", … */
    int int_count, float_count, string_count;
    int *ints; /* vertex numbers count from 0, as in the file */
    double *floats;
    char **strings;
} ex_tag;

/* A polygon mesh. */
typedef struct ex_mesh {
    int vertex_count;
    double *positions; /* [vertex_count][3] */
    float *colours;    /* [vertex_count][3] in [0, 1], or NULL */

    int texcoord_count;
    double *texcoords; /* [texcoord_count][2], origin at the bottom left as in OBJ */
    int normal_count;
    double *normals; /* [normal_count][3] */

    int face_count;
    int *face_offsets; /* [face_count + 1] into the corner arrays; a face has at least 3 corners */
    int corner_count;
    int *corners;          /* [corner_count] vertices */
    int *corner_texcoords; /* [corner_count], -1 for none; or NULL */
    int *corner_normals;   /* [corner_count], -1 for none; or NULL */

    int group_count;
    char **group_names; /* the text after `g` on its line: one name, or several separated by blanks */
    int *face_groups;   /* [face_count], -1 for none; or NULL */
    int material_count;
    char **material_names;
    int *face_materials;    /* [face_count], -1 for none; or NULL */
    char *material_library; /* file named by mtllib, or NULL */

    int tag_count;
    ex_tag *tags;
} ex_mesh;

/* Make an empty mesh, release one, copy one; NULL without memory. */
EX_API ex_mesh *ex_mesh_create(void);
EX_API void ex_mesh_destroy(ex_mesh *mesh);
EX_API ex_mesh *ex_mesh_copy(const ex_mesh *mesh);

/* Returns the diagonal of the bounding box: "the size of a form" wherever errors are relative to it. */
EX_API double ex_mesh_size(const ex_mesh *mesh);

/*
 * Compares connectivity: EX_OK if two meshes have the same vertices and faces. Texture coordinates may differ, and
 * up to half of the faces may run the other way round. If not, EX_ERROR_DATA and a message that names the first
 * face that differs, or says that all faces run the other way round.
 */
EX_API ex_result ex_mesh_compare_connectivity(const ex_mesh *mesh, const ex_mesh *other, ex_error *error);

/* Differences between two meshes; numbers within the tolerance count as equal. */
typedef struct ex_mesh_difference {
    int first_face;          /* first face whose corners differ, or that only one mesh has; -1 for none */
    bool measured;           /* true if both have the same number of vertices: the fields down to rms are then known */
    int moved_count;         /* vertices farther apart than the tolerance */
    int farthest_vertex;     /* -1 without vertices */
    double farthest;         /* distance of that vertex */
    double rms;              /* over the distances of all vertices */
    double size;             /* of the first mesh */
    bool colours;            /* true if these differ; likewise below. false if vertices or faces already differ */
    bool texcoords, normals; /* of face corners, by value, not by index */
    bool groups, materials;  /* of faces, by name */
    bool tags;
} ex_mesh_difference;

/* Compares two meshes: positions, faces and everything else. */
EX_API ex_mesh_difference ex_mesh_compare(const ex_mesh *mesh, const ex_mesh *other, double tolerance);

/* Returns true if nothing differs. */
EX_API bool ex_mesh_difference_none(const ex_mesh_difference *difference);

/* Triangulates all faces: [*triangle_count][3] corner numbers in *triangles (release with free). Concave faces are cut
 * by ear clipping, quads along the diagonal that keeps both halves facing the same way, or else the shorter one. */
EX_API ex_result ex_mesh_triangulate(const ex_mesh *mesh, int **triangles, int *triangle_count, ex_error *error);

/*
 * Counts pairs of triangles that cross each other; triangles that share a vertex are not counted. positions
 * [vertex_count][3] replace the mesh's own; may be NULL.
 */
EX_API ex_result ex_mesh_count_self_intersections(const ex_mesh *mesh, const float *positions, int *pair_count,
                                                  ex_error *error);

/* ---- subdivision ---- */

/* Subdivision schemes. */
typedef enum ex_scheme {
    EX_SCHEME_CATMULL_CLARK, /* any polygons; quads from level 1 on */
    EX_SCHEME_LOOP,          /* triangles; other polygons are first cut into triangles by ex_mesh_triangulate */
    EX_SCHEME_BILINEAR,      /* any polygons, split and not smoothed */
    EX_SCHEME_COUNT
} ex_scheme;

/* Rules for the boundaries of a subdivision surface. */
typedef enum ex_boundary {
    EX_BOUNDARY_FROM_TAGS,         /* by the tag `interpolateboundary` (0: none, 1: edges and corners, 2: edges); edges
                                      if there is no tag */
    EX_BOUNDARY_NONE,              /* the outermost faces only support the others and are left out */
    EX_BOUNDARY_EDGES,             /* boundaries are creases; their corners become round */
    EX_BOUNDARY_EDGES_AND_CORNERS, /* also, vertices with a single face stay in place */
    EX_BOUNDARY_COUNT
} ex_boundary;

#define EX_SUBDIVIDE_LEVELS 10
/* Maximum size of all levels in a rig, in bytes. ex_mesh_subdivide estimates the size before the work, which takes
 * about three times as much memory. */
#define EX_SUBDIVIDE_BYTES 2147483648.0

/* Options of subdivision. */
typedef struct ex_subdivide_def {
    ex_scheme scheme;     /* default: Catmull-Clark */
    int levels;           /* 0 to EX_SUBDIVIDE_LEVELS; default 2 */
    bool limit;           /* true: also compute limit points and tangents of the last level's vertices; 0 levels
                             allowed */
    ex_boundary boundary; /* default: from the tags */
    bool all;             /* with limit: put the vertices of every level at their limit points, with tangents, in place
                             of a separate limit after the last level; requires at least one level */
} ex_subdivide_def;

/* Returns the defaults. */
EX_API ex_subdivide_def ex_subdivide_def_default(void);

/* The faces of a level. Vertex order: those of the previous level, one per edge, one per face (not with Loop). A cage
 * vertex therefore keeps its number at every level. */
typedef struct ex_refined_level {
    int vertex_count;
    int face_count;
    int *face_offsets; /* [face_count + 1] */
    int corner_count;
    int *corners;      /* [corner_count] vertices of the level */
    int *face_sources; /* [face_count] faces of the mesh, which give groups and materials */
    int texcoord_count;
    double *texcoords;     /* [texcoord_count][2], interpolated linearly within faces, so seams remain; or NULL */
    int *corner_texcoords; /* [corner_count], -1 for none; or NULL */
} ex_refined_level;

/* Parts of a mesh that are no surface, and what subdividing did about them. Counts are 0 on a surface. */
typedef struct ex_subdivision_mends {
    int turned_count, turned_face;       /* faces turned round to agree with most of their part, and the first */
    int repeated_count, repeated_face;   /* faces with a vertex more than once: corners merged, or the face left out */
    int duplicate_count, duplicate_face; /* faces with the vertices of another, left out where surface was crowded */
    int sharp_count, sharp_edge[2];      /* edges of more than two faces, or of two that cannot agree: they stay sharp;
                                            the vertices of the first */
} ex_subdivision_mends;

/* Result of subdivision: faces of all levels, and the tables that evaluate them. */
typedef struct ex_subdivision {
    int level_count;
    ex_refined_level *levels; /* [level_count + 1]; level 0 is the mesh, mended (with Loop: its triangles). The limit
                                 has the faces of the last. */
    ex_stencils *stencils;
    int pinched_count;
    int *pinched; /* vertices at which separate fans of faces meet; they stay in place */
    ex_subdivision_mends mends;
} ex_subdivision;

/*
 * Subdivides the mesh's faces, mended if they are no surface; vertices keep their numbers. Positions matter only if
 * Loop cuts polygons. Creases, corners, holes and the rest come from the tags `crease`, `corner`, `hole`,
 * `interpolateboundary`, `creasemethod` (normal, chaikin) and `smoothtriangles`; other tags are skipped. Sharpness
 * counts levels; 10 or more is permanent. Limit points take the remaining sharpness into account. Time and memory are
 * linear in the number of refined vertices times the control vertices each depends on (6 at level 1, up to 16): a
 * million quads at level 1 take 1.0 GB while building and 0.22 GB in the result, with limit and tangents 2.9 GB and 1.0
 * GB; 64 quads at level 5 with limit and tangents 17 MB. Vertices near a face of n corners depend on all of them, so a
 * face of 1000 corners at level 2 takes 97 MB. Results: ARGUMENT, DATA (a crease that is not an edge, named by its
 * vertices), MEMORY, LIMIT.
 */
EX_API ex_result ex_mesh_subdivide(const ex_mesh *mesh, const ex_subdivide_def *def, ex_subdivision **subdivision,
                                   ex_error *error);
EX_API void ex_subdivision_destroy(ex_subdivision *subdivision);

/* Makes a mesh of a level, or of the limit surface with normals: faces, texture coordinates, groups, materials,
 * colours; no tags. Positions have float precision. */
EX_API ex_result ex_subdivision_mesh(const ex_subdivision *subdivision, const ex_mesh *mesh, int level,
                                     ex_mesh **refined, ex_error *error);

/* Writes 1 into mask [vertex_count] for the vertices of the group's faces; leaves the others alone. Results: DATA (no
 * such group: the nearest name is suggested). */
EX_API ex_result ex_mask_from_group(const ex_mesh *mesh, const char *name, float *mask, ex_error *error);

/* Result of evaluating a rig, in source order. */
typedef struct ex_surface {
    int level;              /* of the rig: 0, a level, EX_LEVEL_LIMIT */
    const float *positions; /* [vertex count of the level][3] */
    const float *normals;   /* likewise, or NULL */
} ex_surface;

/* Makes a mesh with the rig's polygons, texture coordinates, groups, materials and colours, in metres with y up; for
 * the cage also tags. surface NULL: the rig's own mesh before any layer, with its normals. */
EX_API ex_result ex_rig_to_mesh(const ex_rig *rig, const ex_surface *surface, ex_mesh **mesh, ex_error *error);

/* Unit and up axis of a project's files. All zero: metres, y up. */
typedef struct ex_form_axes {
    double unit; /* metres per unit; 0: 1 */
    bool z_up;
} ex_form_axes;

/* Turns positions and normals from metres with y up to these axes, for a file of such a project. */
EX_API void ex_mesh_to_axes(ex_mesh *mesh, ex_form_axes axes);

#ifdef __cplusplus
}
#endif
#endif

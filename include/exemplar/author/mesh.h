/*
 * exemplar/author/mesh.h - meshes as people edit them: polygons, texture coordinates, groups, crease tags.
 *
 * An ex_mesh is plain data that its holder may change; positions are double, so that nothing is lost between a file and
 * the difference that a rig stores. Not thread-safe while it is being changed. Reading and writing files is in
 * exemplar/author/formats.h.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_H
#define EXEMPLAR_AUTHOR_MESH_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A subdivision tag as it stands in an OBJ file: `t NAME ints/floats/strings i… f… s…`. */
typedef struct ex_tag {
    char *name; /* "crease", "corner", "interpolateboundary", … */
    int int_count, float_count, string_count;
    int *ints; /* vertex numbers count from 0, as in the file */
    double *floats;
    char **strings;
} ex_tag;

typedef struct ex_mesh {
    int vertex_count;
    double *positions; /* [vertex_count][3] */
    float *colours;    /* [vertex_count][3] in [0, 1], or NULL */

    int texcoord_count;
    double *texcoords; /* [texcoord_count][2], origin at the bottom left as in OBJ */
    int normal_count;
    double *normals; /* [normal_count][3] */

    int face_count;
    int *face_offsets;     /* [face_count + 1] into the corner arrays; a face has at least 3 corners */
    int corner_count;
    int *corners;          /* [corner_count] vertices */
    int *corner_texcoords; /* [corner_count], -1 for none; or NULL */
    int *corner_normals;   /* [corner_count], -1 for none; or NULL */

    int group_count;
    char **group_names; /* what follows `g` on its line: one name, or several with blanks between */
    int *face_groups;   /* [face_count], -1 for none; or NULL */
    int material_count;
    char **material_names;
    int *face_materials; /* [face_count], -1 for none; or NULL */
    char *material_library; /* file named by mtllib, or NULL */

    int tag_count;
    ex_tag *tags;
} ex_mesh;

/* An empty mesh, or NULL without memory. */
EX_API ex_mesh *ex_mesh_create(void);
EX_API void ex_mesh_destroy(ex_mesh *mesh);
EX_API ex_mesh *ex_mesh_copy(const ex_mesh *mesh);

/* The diagonal of the bounding box: "the size of a form" wherever errors are relative to it. */
EX_API double ex_mesh_size(const ex_mesh *mesh);

/*
 * Whether two meshes have the same vertices and faces (texture coordinates may differ). If not, EX_ERROR_DATA and a
 * sentence that names the first face that differs.
 */
EX_API ex_result ex_mesh_compare_connectivity(const ex_mesh *mesh, const ex_mesh *other, ex_error *error);

/* Triangles of all faces: [*triangle_count][3] corner numbers in *triangles (release with free). Concave faces are cut by
 * ear clipping, quads along the diagonal that keeps both halves facing one way, or else the shorter. */
EX_API ex_result ex_mesh_triangulate(const ex_mesh *mesh, int **triangles, int *triangle_count, ex_error *error);

/*
 * Number of pairs of triangles that cross each other; triangles that share a vertex are not counted. positions
 * [vertex_count][3] in place of the mesh's own, or NULL.
 */
EX_API ex_result ex_mesh_count_self_intersections(const ex_mesh *mesh, const float *positions, int *pair_count,
                                                  ex_error *error);

#ifdef __cplusplus
}
#endif
#endif

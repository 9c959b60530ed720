/*
 * exemplar/author/formats.h - files in and out: forms as OBJ and PLY, glTF scenes, rig files.
 *
 * Files are written whole or not at all: into a temporary file beside the target, which then takes its name. Symbolic
 * links are followed, also to a target that is not there yet. A path that names a descriptor of this process
 * (/dev/stdout, /dev/fd/N) stands for that descriptor itself, which is written on from where it is. Reading names file
 * and line of what it cannot take. Any thread; two writers of one path race for the last rename.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_H
#define EXEMPLAR_AUTHOR_FORMATS_H

#include <exemplar/author/base.h>
#include <exemplar/author/image.h>
#include <exemplar/author/mesh.h>
#include <exemplar/author/scene.h>
#include <exemplar/rig_inspect.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Wavefront OBJ: polygons, groups, materials by name, texture coordinates, normals, vertex colours, crease tags. Lines,
 * points and curves are passed over. `name` stands for the file in errors. */
EX_API ex_result ex_obj_read(const char *path, ex_mesh **mesh, ex_error *error);
EX_API ex_result ex_obj_parse(const char *text, size_t size, const char *name, ex_mesh **mesh, ex_error *error);

/* Writes with the fewest decimals that read back the same. */
EX_API ex_result ex_obj_write(const char *path, const ex_mesh *mesh, ex_error *error);

/*
 * PLY, ascii and binary of either byte order, with properties of any type in any order: positions, normals, colours,
 * texture coordinates (of vertices, or of face corners as a list), faces of any number of corners. A range image (an
 * element range_grid, with obj_info num_cols and num_rows) without faces gets triangles between neighbouring samples,
 * but not across jumps in depth. Other elements and properties are passed over.
 */
EX_API ex_result ex_ply_read(const char *path, ex_mesh **mesh, ex_error *error);
EX_API ex_result ex_ply_parse(const void *bytes, size_t size, const char *name, ex_mesh **mesh, ex_error *error);

typedef enum ex_ply_encoding { EX_PLY_ASCII, EX_PLY_LITTLE_ENDIAN, EX_PLY_BIG_ENDIAN } ex_ply_encoding;

/* Numbers are written as float where that loses nothing, else as double; colours as bytes on the same terms, else as
 * float. Groups, materials, tags, and normals that differ between the corners of a vertex have no place in PLY. */
EX_API ex_result ex_ply_write(const char *path, const ex_mesh *mesh, ex_ply_encoding encoding, ex_error *error);

/*
 * glTF 2.0, as .glb or as .gltf with its buffers and images in other files or in data: URIs. Reading opens the buffers'
 * files beside the .gltf file; images that are files stay where they are. What is passed over or put right is in the
 * scene's notes.
 */
EX_API ex_result ex_scene_read(const char *path, ex_scene **scene, ex_error *error);

/* The same from memory. `name` stands for the file in errors; with open_files it is also where other files are looked
 * for, without it none is opened. */
EX_API ex_result ex_scene_parse(const void *bytes, size_t size, const char *name, bool open_files, ex_scene **scene,
                                ex_error *error);

/*
 * Writes NAME.glb, or NAME.gltf and NAME.bin, by the ending of path; the same scene gives the same bytes. Normals and
 * tangents are brought to length 1 on the way. Images that are files are put into the file, unless it is a .gltf in
 * the folder where they are found.
 */
EX_API ex_result ex_scene_write(const char *path, const ex_scene *scene, ex_error *error);

/* A mesh from a file of any kind that Exemplar reads, chosen by its ending: .obj, .ply, .gltf, .glb (the last two as
 * ex_scene_to_form gives it). */
EX_API ex_result ex_mesh_read(const char *path, ex_mesh **mesh, ex_error *error);

/* Writes a mesh by the ending of path: .obj, .ply (binary), .gltf, .glb. */
EX_API ex_result ex_mesh_write(const char *path, const ex_mesh *mesh, ex_error *error);

/* The same with a picture for its base colour, which goes into a .glb or .gltf, on every material of the mesh; the
 * other kinds have no place for it. */
EX_API ex_result ex_mesh_write_textured(const char *path, const ex_mesh *mesh, const ex_image *base_colour,
                                        ex_error *error);

/* A rig file, .glb. Writing adds what other viewers need: a standard mesh with the examples as morph targets, the
 * skeleton as a skin, and textures as they are at rest. options may be NULL. */
EX_API ex_result ex_rig_write(const char *path, const ex_rig *rig, ex_error *error);
EX_API ex_result ex_rig_read(const char *path, const ex_rig_options *options, ex_rig **rig, ex_error *error);

/* A mask as a text file of lines `vertex value`, values in [0, most]: into mask [vertex_count], in which vertices that
 * it does not name are left alone. Results: DATA (the line named), FILE, MEMORY. */
EX_API ex_result ex_mask_read(const char *path, int vertex_count, double most, float *mask, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif

/*
 * exemplar/author/formats.h - reading and writing files: forms as OBJ, PLY and OFF, glTF scenes, rig files.
 *
 * Files are written completely or not at all, and are on the disk before they take their names; images, which can be
 * made again, are not waited for (files.h). A .gltf and its .bin are written together or not at all. Symbolic links are
 * followed, even to a target that does not exist yet. A path that names a descriptor of this process
 * (/dev/stdout, /dev/fd/N) means that descriptor itself; writing continues at its current position. Reading errors name
 * the file and line. Thread-safe; if two threads write the same path, the last rename wins.
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

/* Read Wavefront OBJ: polygons, groups, materials by name, texture coordinates, normals, vertex colours, crease tags.
 * Lines, points and curves are skipped. `name` is the file's name in errors. */
EX_API ex_result ex_obj_read(const char *path, ex_mesh **mesh, ex_error *error);
EX_API ex_result ex_obj_parse(const char *text, size_t size, const char *name, ex_mesh **mesh, ex_error *error);

/* Writes Wavefront OBJ. Numbers have the fewest decimals that read back the same. */
EX_API ex_result ex_obj_write(const char *path, const ex_mesh *mesh, ex_error *error);

/*
 * Read PLY, ascii and binary of either byte order, with properties of any type in any order: positions, normals,
 * colours, texture coordinates (of vertices, or of face corners as a list), faces of any number of corners. A range
 * image (an element range_grid, with obj_info num_cols and num_rows) without faces gets triangles between neighbouring
 * samples, but not across jumps in depth. Other elements and properties are skipped.
 */
EX_API ex_result ex_ply_read(const char *path, ex_mesh **mesh, ex_error *error);
EX_API ex_result ex_ply_parse(const void *bytes, size_t size, const char *name, ex_mesh **mesh, ex_error *error);

/* Encodings of a PLY file. */
typedef enum ex_ply_encoding { EX_PLY_ASCII, EX_PLY_LITTLE_ENDIAN, EX_PLY_BIG_ENDIAN } ex_ply_encoding;

/* Writes PLY. Numbers are written as float if that loses nothing, else as double; colours as bytes if that loses
 * nothing, else as float. PLY cannot hold groups, materials, tags, or normals that differ between the corners of a
 * vertex. */
EX_API ex_result ex_ply_write(const char *path, const ex_mesh *mesh, ex_ply_encoding encoding, ex_error *error);

/*
 * Read OFF, text and big-endian binary: polygons, and of vertices normals, colours and texture coordinates, with the
 * headers OFF, COFF, NOFF, STOFF and their combinations, or none. Colours of faces are skipped, and faces of one or two
 * corners, which are points and lines. Vertices of more than three coordinates (4OFF, nOFF) are DATA.
 */
EX_API ex_result ex_off_read(const char *path, ex_mesh **mesh, ex_error *error);
EX_API ex_result ex_off_parse(const void *bytes, size_t size, const char *name, ex_mesh **mesh, ex_error *error);

/*
 * Reads glTF 2.0, as .glb or as .gltf with its buffers and images in other files or in data: URIs. It opens the
 * buffers' files next to the .gltf file; images in files stay where they are. The scene's notes list what was skipped
 * or corrected.
 */
EX_API ex_result ex_scene_read(const char *path, ex_scene **scene, ex_error *error);

/* Reads a scene from memory. `name` is the file's name in errors; with open_files it also locates other files. Without
 * open_files none is opened. */
EX_API ex_result ex_scene_parse(const void *bytes, size_t size, const char *name, bool open_files, ex_scene **scene,
                                ex_error *error);

/*
 * Writes a scene as NAME.glb, or as NAME.gltf and NAME.bin, by the extension of path. The same scene gives the same
 * bytes. Normals and tangents are normalised. Images in files are embedded, unless the output is a .gltf in the same
 * folder as the images.
 */
EX_API ex_result ex_scene_write(const char *path, const ex_scene *scene, ex_error *error);

/* Encodes a scene as the bytes of a .glb file, with all images inside it. *bytes: release with free. */
EX_API ex_result ex_scene_encode(const ex_scene *scene, unsigned char **bytes, size_t *size, ex_error *error);

/* Reads a mesh from any supported file, chosen by its extension: .obj, .ply, .off, .gltf and .glb (through
 * ex_scene_to_form), .abc (the first frame of its mesh; FILE.abc:/A/B names one of several). */
EX_API ex_result ex_mesh_read(const char *path, ex_mesh **mesh, ex_error *error);

/* Writes a mesh by the extension of path: .obj, .ply (binary), .gltf, .glb. */
EX_API ex_result ex_mesh_write(const char *path, const ex_mesh *mesh, ex_error *error);

/* Writes a mesh with a base colour texture, which a .glb or .gltf carries on every material of the mesh; the other
 * formats cannot hold it. */
EX_API ex_result ex_mesh_write_textured(const char *path, const ex_mesh *mesh, const ex_image *base_colour,
                                        ex_error *error);

/* Write and read a rig file, .glb. Writing adds data for other viewers: a standard mesh with the examples as morph
 * targets, the skeleton as a skin, and textures as they are at rest. options may be NULL. */
EX_API ex_result ex_rig_write(const char *path, const ex_rig *rig, ex_error *error);
EX_API ex_result ex_rig_read(const char *path, const ex_rig_options *options, ex_rig **rig, ex_error *error);

/*
 * Get the scenes that a rig carries for those who draw and move it; *scene is NULL if it has none. Looks are materials,
 * textures and images, all inside; a face has the material of its name (ex_rig_to_mesh). Clips are animations of the
 * rig's joints and dials, with their nodes.
 */
EX_API ex_result ex_rig_looks(const ex_rig *rig, ex_scene **scene, ex_error *error);
EX_API ex_result ex_rig_clips(const ex_rig *rig, ex_scene **scene, ex_error *error);

/* Writes a form of a rig by the extension of path, as ex_mesh_write does. A .glb or .gltf also has the rig's looks.
 * textures [ex_rig_texture_count] are the rig's textures at the form's pose, as in ex_output, and take the places of
 * images of the looks. NULL, also for one of them: none. */
EX_API ex_result ex_form_write(const char *path, const ex_rig *rig, const ex_mesh *form, unsigned char *const *textures,
                               ex_error *error);
/* True if materials of glTF can show a texture of that name: "base_color", "metallic_roughness", "normal",
 * "occlusion", "emissive", or one of these after "MATERIAL/". */
EX_API bool ex_texture_is_shown(const char *name);

/* Writes a rig file that records the unit and the up axis of the files of its project, in the JSON part; and reads
 * these: metres and y up if the file records none, or is not a rig file. The rig itself is in metres with y up. Results
 * of reading: FILE, MEMORY. */
EX_API ex_result ex_rig_write_for(const char *path, const ex_rig *rig, ex_form_axes axes, ex_error *error);
EX_API ex_result ex_rig_read_axes(const char *path, ex_form_axes *axes, ex_error *error);

/* Reads a mask from a text file of lines `vertex value`, values in [0, most], into mask [vertex_count]. Vertices that
 * the file does not name are left alone. Results: DATA (the line named), FILE, MEMORY. */
EX_API ex_result ex_mask_read(const char *path, int vertex_count, double most, float *mask, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif

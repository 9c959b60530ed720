/*
 * exemplar/author/formats.h - files in and out: OBJ forms and rig files.
 *
 * Files are written whole or not at all: into a temporary file beside the target, which then takes its name. Symbolic
 * links are followed, also to a target that is not there yet. A path that names a descriptor of this process
 * (/dev/stdout, /dev/fd/N) stands for that descriptor itself, which is written on from where it is. Reading names file
 * and line of what it cannot take. Any thread; two writers of one path race for the last rename.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_H
#define EXEMPLAR_AUTHOR_FORMATS_H

#include <exemplar/author/mesh.h>
#include <exemplar/rig.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Removes the temporary files of everything that is being written. For a signal handler that is about to end the process:
 * async-signal-safe. */
EX_API void ex_file_remove_pending(void);

/* Wavefront OBJ: polygons, groups, materials by name, texture coordinates, normals, vertex colours, crease tags. Lines,
 * points and curves are passed over. `name` stands for the file in errors. */
EX_API ex_result ex_obj_read(const char *path, ex_mesh **mesh, ex_error *error);
EX_API ex_result ex_obj_parse(const char *text, size_t size, const char *name, ex_mesh **mesh, ex_error *error);

/* Writes with the fewest decimals that read back the same. */
EX_API ex_result ex_obj_write(const char *path, const ex_mesh *mesh, ex_error *error);

/* A mesh from a file of any kind that Exemplar reads, chosen by its ending: .obj. */
EX_API ex_result ex_mesh_read(const char *path, ex_mesh **mesh, ex_error *error);

/* A rig file, .glb. Writing adds what other viewers need: a standard mesh with the examples as morph targets. */
EX_API ex_result ex_rig_write(const char *path, const ex_rig *rig, ex_error *error);
EX_API ex_result ex_rig_read(const char *path, ex_storage storage, ex_rig **rig, ex_error *error);

/* A mesh with the rig's polygons, texture coordinates, groups, materials, colours and tags, in metres with y up.
 * positions [vertex_count][3], or NULL for the rig's own mesh before any layer, which keeps its normals. */
EX_API ex_result ex_rig_to_mesh(const ex_rig *rig, const float *positions, ex_mesh **mesh, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif

/*
 * exemplar/author/cache.h - point caches: files with the vertices of one mesh at many frames. PC2, MDD, Alembic,
 * numbered OBJ.
 *
 * Caches are read and written frame by frame, so a cache may be larger than memory. A cache belongs to one thread at a
 * time.
 */
#ifndef EXEMPLAR_AUTHOR_CACHE_H
#define EXEMPLAR_AUTHOR_CACHE_H

#include <exemplar/author/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/* File formats of point caches. */
typedef enum ex_cache_kind {
    EX_CACHE_PC2, /* little-endian float; one start and step for all frames, read as seconds */
    EX_CACHE_MDD, /* big-endian float; a time for every frame */
    EX_CACHE_OBJ, /* NAME_0001.obj, …: a whole mesh per frame; reading takes them in numerical order */
    EX_CACHE_ABC, /* Alembic (Ogawa): one mesh of a scene with its faces, moved by the transforms that it is in */
    EX_CACHE_KIND_COUNT
} ex_cache_kind;

/* Returns the kind for a path's extension, ignoring case; EX_CACHE_KIND_COUNT for any other. FILE.abc:/A/B names a mesh
 * in an Alembic file. */
EX_API ex_cache_kind ex_cache_kind_of(const char *path);
/* Returns the length of the file's name in a path: without :/A/B of a mesh in an Alembic file. */
EX_API size_t ex_cache_file_length(const char *path);

/* Facts about a point cache. */
typedef struct ex_cache_info {
    ex_cache_kind kind;
    int vertex_count, frame_count;
    double start, step; /* seconds: time of the first frame, and between frames (MDD, Alembic: between the first two;
                           one frame: 0) */
} ex_cache_info;

/* ---- reading ---- */

/* A point cache that is being read. */
typedef struct ex_cache_reader ex_cache_reader;

/* Opens a cache and checks that it is complete: a file that is too short is refused, and the message says how many
 * frames it has. For numbered OBJ files, path is any one of them, or NAME.obj for NAME_0001.obj, …; without such files,
 * for NAME1.obj, NAME.1.obj, NAME-1.obj or 'NAME 1.obj'. A file NAME.obj beside those is refused. All must have the
 * same connectivity, which is checked as they are read. They have no times: 24 frames per second. An Alembic file with
 * several meshes needs the name of one, FILE.abc:/A/B; the message lists them. Its frames are the samples of the
 * points, or of a transform above the mesh if that has more; faces must stay the same. */
EX_API ex_result ex_cache_open(const char *path, ex_cache_reader **reader, ex_error *error);
/* Returns facts about the cache. */
EX_API ex_cache_info ex_cache_get_info(const ex_cache_reader *reader);
/* Returns the mesh of the first frame of numbered OBJ and Alembic files, owned by the reader; NULL for the other kinds,
 * which have no faces. */
EX_API const ex_mesh *ex_cache_mesh(const ex_cache_reader *reader);
/* Returns the time of a frame, in seconds. */
EX_API double ex_cache_time(const ex_cache_reader *reader, int frame);
/* Reads the positions [vertex_count][3] of any frame. DATA if a number is not finite (frame and vertex named). */
EX_API ex_result ex_cache_read(ex_cache_reader *reader, int frame, float *positions, ex_error *error);
/* Returns the path of the file that holds a frame, owned by the reader: that frame's own file for numbered OBJ, else
 * the cache. */
EX_API const char *ex_cache_path(const ex_cache_reader *reader, int frame);
/* Returns the number in the name of a numbered OBJ file; -1 for the other kinds and for a single mesh. */
EX_API int ex_cache_number(const ex_cache_reader *reader, int frame);
/* Closes the cache. NULL is fine. */
EX_API void ex_cache_close(ex_cache_reader *reader);

/* ---- writing ---- */

/* A point cache that is being written. */
typedef struct ex_cache_writer ex_cache_writer;

/* Starts a cache. times [frame_count] in seconds (PC2 keeps the first, and the mean step). mesh: faces, texture
 * coordinates, … of the OBJ files, faces of Alembic; its positions are replaced and its normals left out. NULL for the
 * other kinds.
 * Numbered OBJ files get at least four digits, from 1; existing files with higher numbers stay. */
EX_API ex_result ex_cache_create(const char *path, int vertex_count, int frame_count, const double *times,
                                 const ex_mesh *mesh, ex_cache_writer **writer, ex_error *error);
/* Returns true if a cache of that name needs a mesh: numbered OBJ and Alembic. */
EX_API bool ex_cache_needs_mesh(const char *path);
/* Returns the path of frame `frame` out of frame_count if path is NAME.obj: NAME_0001.obj for frame 0. Release with
 * free; NULL without memory. */
EX_API char *ex_cache_frame_path(const char *path, int frame, int frame_count);
/* Writes the next frame. */
EX_API ex_result ex_cache_write(ex_cache_writer *writer, const float *positions, ex_error *error);
/* Finishes the cache; until then no file has its name. If frames are missing, or keep is false, nothing is left behind.
 * Numbered OBJ files replace older ones all together or, on failure, not at all. Caches are not synced to the disk.
 * writer may be NULL. */
EX_API ex_result ex_cache_finish(ex_cache_writer *writer, bool keep, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif

/*
 * alembic.h - Alembic files as point caches: one mesh of a scene, with the transforms above it; private to the formats.
 *
 *   ogawa.c             the container
 *   alembic_archive.c   objects, properties and their samples, times
 *   alembic_find.c      the choice of a mesh among the objects of a file
 *   alembic_xform.c     transforms
 *   alembic_read.c      the mesh and its frames
 *   alembic_write.c     writing
 *
 * The layout is that of the Alembic library, version 1, as its sources have it. An archive is a group of six:
 *
 *   0 version of the layout    1 version of the library    2 the top object
 *   3 metadata    4 time samplings    5 metadata strings that headers refer to by number
 *
 * An object is a group of its properties, its children, and their headers. A compound property is a group of its
 * properties and their headers. A scalar property is a group of samples; an array property has two streams for each,
 * the values and the dimensions. A sample begins with a digest of 16 bytes, by which programs find equal ones.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_CACHE_ALEMBIC_ALEMBIC_H
#define EXEMPLAR_AUTHOR_FORMATS_CACHE_ALEMBIC_ALEMBIC_H

#include "author/formats/cache/alembic/ogawa.h"

#include <exemplar/author/files.h>
#include <exemplar/author/mesh.h>

#include <float.h>
#include <stdbool.h>

enum {
    EXI_ALEMBIC_DIGEST = 16,   /* bytes before the values of a sample */
    EXI_ALEMBIC_HASHES = 32,   /* bytes after the headers of child objects: of its properties, and of its children */
    EXI_ALEMBIC_OBJECTS = 3,   /* of a file that is written: the root, a transform, a mesh */
    EXI_ALEMBIC_STRINGS = 256, /* metadata strings that have a number */
    EXI_ALEMBIC_WRITTEN = 255, /* in place of that number: the string follows */
    EXI_ALEMBIC_DEPTH = 64     /* objects inside each other that are followed */
};

/* Types of numbers in a file. */
enum {
    EXI_ALEMBIC_BOOL = 0,
    EXI_ALEMBIC_UINT8 = 1,
    EXI_ALEMBIC_UINT32 = 5,
    EXI_ALEMBIC_INT32 = 6,
    EXI_ALEMBIC_HALF = 9,
    EXI_ALEMBIC_FLOAT = 10,
    EXI_ALEMBIC_DOUBLE = 11
};

/* Kinds of properties. The first bit of an array says that it has one item, which does not matter here. */
enum { EXI_ALEMBIC_COMPOUND = 0, EXI_ALEMBIC_SCALAR = 1, EXI_ALEMBIC_ARRAY = 2 };

/* Bits of the number that a property's header begins with. */
enum {
    EXI_ALEMBIC_HAS_TIMES = 0x100,    /* the number of its time sampling follows */
    EXI_ALEMBIC_HAS_CHANGES = 0x200,  /* the first and the last sample that differ follow */
    EXI_ALEMBIC_SAME_SIZE = 0x400,    /* all samples have the same number of items */
    EXI_ALEMBIC_SAME_SAMPLES = 0x800, /* all samples are equal; one is stored */
    EXI_ALEMBIC_SIZE_SHIFT = 2,       /* sizes take 1, 2 or 4 bytes */
    EXI_ALEMBIC_TYPE_SHIFT = 4,
    EXI_ALEMBIC_EXTENT_SHIFT = 12, /* numbers in an item */
    EXI_ALEMBIC_METADATA_SHIFT = 20
};

/* Stands for the period of samples without one, whose times are all stored. The Alembic library compares all bits. */
#define EXI_ALEMBIC_ACYCLIC (DBL_MAX / 32)

/* Times of samples: period * (sample / count) + times[sample % count]. */
typedef struct exi_alembic_times {
    double period;
    uint32_t count;
    double *times; /* [count], into the archive's */
    bool cyclic;   /* false: there are no more samples than times */
} exi_alembic_times;

typedef struct exi_alembic_archive {
    exi_ogawa file;
    exi_ogawa_group top;
    unsigned char *strings; /* bytes of the metadata strings */
    size_t string_at[EXI_ALEMBIC_STRINGS];
    size_t string_size[EXI_ALEMBIC_STRINGS];
    int string_count; /* the first is empty */
    exi_alembic_times *samplings;
    double *times; /* of all samplings */
    int sampling_count;
} exi_alembic_archive;

ex_result exi_alembic_open(exi_alembic_archive *archive, const char *path, size_t length, ex_error *error);
void exi_alembic_close(exi_alembic_archive *archive);

/* ---- properties ---- */

/* Samples of a property. Sample i is stored in place of those from first to last; those before are equal to the first
 * of all, and those after to the last. */
typedef struct exi_alembic_property {
    bool found;
    int kind, type, extent;
    uint32_t sample_count, first, last;
    int sampling; /* of the archive */
    exi_ogawa_group group;
} exi_alembic_property;

/* Finds a property of a compound by its name; EX_OK with found false if there is none. */
ex_result exi_alembic_property_find(const exi_alembic_archive *archive, exi_ogawa_group compound, const char *name,
                                    exi_alembic_property *property, ex_error *error);
/* Returns the number of different samples that are stored, and the place of a sample among them. */
uint32_t exi_alembic_stored_count(const exi_alembic_property *property);
uint32_t exi_alembic_stored(const exi_alembic_property *property, uint32_t sample);
/* Finds the values of a stored sample, without the digest. */
ex_result exi_alembic_values(const exi_alembic_archive *archive, const exi_alembic_property *property, uint32_t stored,
                             exi_ogawa_stream *values, ex_error *error);
/* Checks the times of all samples: they must increase. */
ex_result exi_alembic_check_times(const exi_alembic_archive *archive, const exi_alembic_property *property,
                                  ex_error *error);
/* Returns the time of a sample, and the sample whose time is nearest. */
double exi_alembic_time(const exi_alembic_archive *archive, const exi_alembic_property *property, uint32_t sample);
uint32_t exi_alembic_nearest(const exi_alembic_archive *archive, const exi_alembic_property *property, double time);

/* ---- objects ---- */

/* Finds a string of metadata by its number; false if there is none. */
bool exi_alembic_string(const exi_alembic_archive *archive, int number, const char **text, size_t *size);

/* A mesh in a file, with the transforms that it is in, from the top. */
typedef struct exi_alembic_place {
    exi_ogawa_group mesh, xforms[EXI_ALEMBIC_DEPTH]; /* groups of objects */
    int xform_count;
} exi_alembic_place;

/* Finds the mesh of that name, /A/B, or with NULL the only one. DATA, and the names, if there is none or several. */
ex_result exi_alembic_find(const exi_alembic_archive *archive, const char *name, exi_alembic_place *place,
                           ex_error *error);

/* ---- transforms ---- */

typedef struct exi_alembic_xform {
    exi_alembic_property values, inherits;
    int op_count;
    unsigned char ops[256];
} exi_alembic_xform;

ex_result exi_alembic_xform_open(const exi_alembic_archive *archive, exi_ogawa_group object, exi_alembic_xform *xform,
                                 ex_error *error);
/* Sets matrix, which multiplies row vectors from the right, to the transform's own at a time, times matrix; or to its
 * own alone if it does not inherit. */
ex_result exi_alembic_xform_apply(const exi_alembic_archive *archive, const exi_alembic_xform *xform, double time,
                                  double matrix[4][4], ex_error *error);

/* ---- frames ---- */

typedef struct exi_alembic_reader {
    exi_alembic_archive archive;
    exi_alembic_property points;
    exi_alembic_xform *xforms; /* [xform_count], from the top */
    int xform_count;
    const exi_alembic_property *paced; /* the property that has the most samples: its times are those of the frames */
    int vertex_count, frame_count;
    ex_mesh *mesh; /* with the positions of the first frame */
} exi_alembic_reader;

/* Returns the length of the file's name in a path FILE.abc or FILE.abc:/NAME, 0 for any other path; *name is NAME with
 * its slash, or NULL. */
size_t exi_alembic_split(const char *path, const char **name);

ex_result exi_alembic_reader_open(exi_alembic_reader *reader, const char *path, ex_error *error);
double exi_alembic_reader_time(const exi_alembic_reader *reader, int frame);
ex_result exi_alembic_reader_read(const exi_alembic_reader *reader, int frame, float *positions, ex_error *error);
void exi_alembic_reader_close(exi_alembic_reader *reader);

/* Writes a mesh that moves: a transform named after the file, which does nothing, with the mesh inside. */
typedef struct exi_alembic_writer {
    ex_file_writer *file;
    unsigned char *tail; /* everything after the frames; its offsets are known before them */
    size_t tail_size;
    size_t hash_places[EXI_ALEMBIC_OBJECTS]; /* in the tail: of the hashes of objects, which are known at the end */
    uint64_t hash;                           /* of faces and frames so far */
    int vertex_count;
} exi_alembic_writer;

/* Starts the file, whose writer the caller has opened and ends. */
ex_result exi_alembic_writer_open(exi_alembic_writer *writer, ex_file_writer *file, const char *path, int frame_count,
                                  const double *times, const ex_mesh *mesh, ex_error *error);
void exi_alembic_writer_add(exi_alembic_writer *writer, const float *positions);
/* Writes what follows the frames if it is kept, and releases the writer. */
void exi_alembic_writer_finish(exi_alembic_writer *writer, bool keep);

#endif

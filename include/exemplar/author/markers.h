/*
 * exemplar/author/markers.h - labelled markers over time, as motion capture records them: C3D and TRC files.
 *
 * ex_markers is plain data that belongs to its holder. Metres, y up, whatever the file says; a marker that was not seen
 * is NaN. Reading names file and byte (C3D) or line (TRC) of what it cannot take.
 */
#ifndef EXEMPLAR_AUTHOR_MARKERS_H
#define EXEMPLAR_AUTHOR_MARKERS_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ex_markers {
    int marker_count;
    char **names; /* [marker_count], without the subject's prefix ("subject:LFHD"); all different */
    int frame_count;
    int first_frame;  /* the number that the file gives its first frame */
    double rate;      /* frames a second; 0 where the file does not say */
    char *unit;       /* that the file was in, as it says: "mm" */
    char *up;         /* the direction that the file says is up, or that was taken: "+Z", "+Y" */
    float *positions; /* [frame_count][marker_count][3] metres, y up; NaN where not seen */
} ex_markers;

EX_API void ex_markers_destroy(ex_markers *markers);

/*
 * Takes another direction of the file as up: "+X", "-X", … "-Z". Reading took the one that the file names (a C3D file's
 * POINT:Y_SCREEN); where it names none, the axis along which the markers' mean places, seen from the middle of all, are
 * spread most, on the side where the markers are; and where no axis has clearly the most, +Z for C3D and +Y for TRC.
 * Results: ARGUMENT (no such direction; the markers are as before), MEMORY.
 */
EX_API ex_result ex_markers_set_up(ex_markers *markers, const char *up, ex_error *error);

/*
 * C3D: Intel, DEC and MIPS numbers, integer and real points, any place and order of the parameters, more than 65535
 * frames and more than 255 markers by the parameters that say so. Analogue channels are passed over, and so are points
 * that the file lists as angles, forces, moments, powers and scalars. A point is not seen where its residual is below
 * 0, where all its coordinates are 0, and where one is not a number. Where header and parameters say different things,
 * the parameters are right, unless only what the header says makes the data end where the file ends. Without a unit,
 * lengths are millimetres. Points without a name are called point1, point2, … by their place.
 */
EX_API ex_result ex_c3d_read(const char *path, ex_markers **markers, ex_error *error);
EX_API ex_result ex_c3d_parse(const void *bytes, size_t size, const char *name, ex_markers **markers, ex_error *error);

/* TRC: tab-separated text; an empty cell, or one that says nan, is a marker not seen, and cells may lack at the end of
 * a line. */
EX_API ex_result ex_trc_read(const char *path, ex_markers **markers, ex_error *error);
EX_API ex_result ex_trc_parse(const char *text, size_t size, const char *name, ex_markers **markers, ex_error *error);

/* By the ending of path: .c3d or .trc. */
EX_API ex_result ex_markers_read(const char *path, ex_markers **markers, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif

/*
 * exemplar/author/markers.h - labelled markers over time from motion capture: C3D and TRC files.
 *
 * ex_markers is plain data, owned by its holder. Positions are always in metres with y up, whatever the file uses; a
 * marker that was not seen is NaN. Reading errors name the file and the byte (C3D) or line (TRC).
 */
#ifndef EXEMPLAR_AUTHOR_MARKERS_H
#define EXEMPLAR_AUTHOR_MARKERS_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Labelled markers over time. */
typedef struct ex_markers {
    int marker_count;
    char **names; /* [marker_count], without the subject's prefix ("subject:LFHD"); all different */
    int frame_count;
    int first_frame;  /* the number that the file gives its first frame */
    double rate;      /* frames per second; 0 if the file does not say */
    char *unit;       /* of the file, as it says: "mm" */
    char *up;         /* up direction that was used: "+Z", "+Y" */
    float *positions; /* [frame_count][marker_count][3] metres, y up; NaN if not seen */
    int angle_count;
    char **angle_names; /* [angle_count]: angles that another program wrote into the file, such as LKneeAngles */
    float *angles;      /* [frame_count][angle_count][3] as in the file, degrees; NaN if missing */
    int other_count;    /* points that are neither markers nor angles: forces, moments, powers, scalars; skipped */
    int analogue_count; /* analogue channels, such as force plates and muscles; skipped */
    int note_count;
    char **notes; /* [note_count]: sentences about what was mended or assumed */
} ex_markers;

/* Releases markers. NULL is fine. */
EX_API void ex_markers_destroy(ex_markers *markers);

/*
 * Takes another direction of the file as up: "+X", "-X", … "-Z". Reading uses the direction in which a person stands:
 * names of the usual marker sets tell which markers are high and which are low, and most frames decide. If they do not
 * tell, reading uses the direction that the file names (a C3D file's POINT:Y_SCREEN). If it names none, reading uses
 * the axis along which the markers' mean positions, relative to their overall mean, are spread most, towards the side
 * with the markers. If no axis clearly has the largest spread, it uses +Z for C3D and +Y for TRC. A note says where the
 * file's direction was not used. Results: ARGUMENT (no such direction; the markers are unchanged), MEMORY.
 */
EX_API ex_result ex_markers_set_up(ex_markers *markers, const char *up, ex_error *error);

/*
 * Read C3D: Intel, DEC and MIPS numbers, integer and real points, parameters anywhere and in any order, more than 65535
 * frames and more than 255 markers through the extended parameters. Analogue channels are skipped, and so are points
 * that the file lists as angles, forces, moments, powers and scalars. A point is not seen if its residual is below 0,
 * if all its coordinates are 0, or if one is not a number. If header and parameters disagree, the parameters win,
 * unless only the header makes the data end at the end of the file. Without a unit, or with one in which the markers
 * would not be a person's, the unit is found from their distances, and a note says so. Unnamed points are called
 * point1, point2, … by their position.
 */
EX_API ex_result ex_c3d_read(const char *path, ex_markers **markers, ex_error *error);
EX_API ex_result ex_c3d_parse(const void *bytes, size_t size, const char *name, ex_markers **markers, ex_error *error);

/* Read TRC, which is tab-separated text. An empty cell, one that says nan, or a marker at 0 0 0 is a marker not seen;
 * cells may be missing at the end of a line. Read as well, with a note: blanks or several tabs in place of a tab, no
 * line of X1 Y1 Z1, counts of frames and markers that are not true. */
EX_API ex_result ex_trc_read(const char *path, ex_markers **markers, ex_error *error);
EX_API ex_result ex_trc_parse(const char *text, size_t size, const char *name, ex_markers **markers, ex_error *error);

/* Reads markers by the extension of path: .c3d or .trc. */
EX_API ex_result ex_markers_read(const char *path, ex_markers **markers, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif

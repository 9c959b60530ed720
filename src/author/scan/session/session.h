/*
 * session.h - shared by the files of a scan session; private to src/author/scan.
 *
 *   session.c        reads scan.json
 *   session_sites.c  the table of markers that it names: the sites of its skeleton
 *   session_write.c  writes scan.json
 *   session_axes.c   unit and up axis of its files, and conversion
 *   session_find.c   finds them
 *   session_files.c  scans, landmarks, labels and found markers in metres with y up
 *   scan_cloud.c     faces for points
 *   scan_thin.c      fewer vertices
 *   session_frames.c sequences in it
 *   fitted.c         fit.json
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_SESSION_SESSION_H
#define EXEMPLAR_AUTHOR_SCAN_SESSION_SESSION_H

#include "author/base/keys.h"

#include <exemplar/author/scan.h>

/* Returns the path of skeleton or markers, resolved against the folder. Release with free; NULL without memory. */
char *exi_scan_file(const char *folder, const char *relative);

/* True if a scan may have this name: names become file names. */
bool exi_scan_is_name(const char *name);
/* The same for a part, which becomes a layer of the body between others. */
bool exi_scan_is_part_name(const char *name);

/* Reads "unit" and "up" of scan.json; leaves what they do not say to exi_scan_find_axes. */
ex_result exi_scan_read_axes(exi_reader *r, const json_t *root, ex_scan_session *session);
/* Finds what scan.json does not say: from named points of the reference, else from its shape. Scans and points that
 * cannot be read tell nothing; their readers complain later. Results: MEMORY. */
ex_result exi_scan_find_axes(ex_scan_session *session, ex_error *error);
/* The name of a unit, given in metres; NULL: it has none. */
const char *exi_scan_unit_name(double metres);
/* Sets the rotation from the axes of the files, with `up` up, to y up: rows. */
void exi_scan_turn(const char *up, double turn[3][3]);

/* As ex_scan_meshes; *read_count: points of the files before they were thinned. */
ex_result exi_scan_meshes(const ex_scan_session *session, int scan, ex_mesh ***meshes, int *read_count,
                          ex_error *error);

/* Gives points without faces normals, if they have none, and faces between neighbours. First thins them to `most`; 0:
 * keeps all. Results: DATA (fewer than 8 points; a number that is not finite; no surface), MEMORY. */
ex_result exi_scan_mesh_points(ex_mesh *mesh, int most, ex_error *error);

/* Replaces scans that are sequences, in scan.json, by a scan for each frame. Results: DATA (no such files), MEMORY. */
ex_result exi_scan_expand_frames(const char *folder, json_t *root, ex_error *error);

/* True if a file can be opened. */
bool exi_scan_is_there(const char *path);

/* Replaces the kinematics' own sites by the table of markers; keeps the places of sites of the same name. */
ex_result exi_scan_read_sites(const char *path, ex_kinematics *kinematics, ex_error *error);

/* Reads {"elbow.L": 60, "shoulder.L": [x, y, z, w]}: rotations [joint_count] of the joints that it names; identity for
 * the others. */
ex_result exi_scan_read_pose(exi_reader *r, const json_t *object, const exi_place *place,
                             const ex_kinematics *kinematics, double (*rotations)[4]);
/* Writes the same for joints that are turned; NULL without memory. */
json_t *exi_scan_pose_json(const ex_kinematics *kinematics, double (*rotations)[4]);

#endif

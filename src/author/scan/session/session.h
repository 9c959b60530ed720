/*
 * session.h - shared by the files of a scan session; private to src/author/scan.
 *
 *   session.c        reads scan.json
 *   session_sites.c  the table of markers that it names: the sites of its skeleton
 *   session_write.c  writes scan.json
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

/*
 * session.h - what the files of a scan session share; private to src/author/scan.
 *
 *   session.c        scan.json read
 *   session_sites.c  the table of markers that it names: the sites of its skeleton
 *   session_write.c  scan.json written
 *   fitted.c         fit.json
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_SESSION_SESSION_H
#define EXEMPLAR_AUTHOR_SCAN_SESSION_SESSION_H

#include "author/base/keys.h"

#include <exemplar/author/scan.h>

/* Where skeleton and markers may be found: a path as seen from the folder. Release with free; NULL without memory. */
char *exi_scan_file(const char *folder, const char *relative);

/* Whether a scan may be called so: names become names of files. */
bool exi_scan_is_name(const char *name);
/* Likewise a part, which becomes a layer of the body between others. */
bool exi_scan_is_part_name(const char *name);

/* Whether a file can be opened. */
bool exi_scan_is_there(const char *path);

/* The table of markers in place of the kinematics' own sites; places of sites of the same name are kept. */
ex_result exi_scan_read_sites(const char *path, ex_kinematics *kinematics, ex_error *error);

/* {"elbow.L": 60, "shoulder.L": [x, y, z, w]}: rotations [joint_count] of the joints that it names; of others none. */
ex_result exi_scan_read_pose(exi_reader *r, const json_t *object, const exi_place *place,
                             const ex_kinematics *kinematics, double (*rotations)[4]);
/* The same, of joints that are turned; NULL without memory. */
json_t *exi_scan_pose_json(const ex_kinematics *kinematics, double (*rotations)[4]);

#endif

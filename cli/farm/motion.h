/* cli/farm/motion.h - the frames that 'exemplar bake' would make of a motion. Private to cli/farm. */
#ifndef EXEMPLAR_CLI_FARM_MOTION_H
#define EXEMPLAR_CLI_FARM_MOTION_H

#include <exemplar/author.h>

#include <jansson.h>

/* Reads a motion for a rig with options of 'exemplar bake' as texts (fps, start, end, clip, map). path: NULL for a clip
 * of the rig. Release with ex_motion_destroy. Results: those of ex_motion_read. */
ex_result exi_farm_motion(const char *rig, const char *path, const json_t *options, ex_motion **motion,
                          ex_error *error);

#endif

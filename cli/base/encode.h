/* cli/base/encode.h - writes files to memory instead of a disk. Any thread. */
#ifndef EXEMPLAR_CLI_ENCODE_H
#define EXEMPLAR_CLI_ENCODE_H

#include <exemplar/author.h>

/* Puts the file that ex_rig_write, ex_project_write or ex_obj_write would write into *bytes (release with free),
 * followed by a NUL that *size does not count. */
ex_result exi_rig_encode(const ex_rig *rig, char **bytes, size_t *size, ex_error *error);
/* The rig as ex_rig_unpack takes it from memory, without what a file adds for other programs: pictures, which take time
 * to compress. */
ex_result exi_rig_encode_bare(const ex_rig *rig, char **bytes, size_t *size, ex_error *error);
ex_result exi_project_encode(const ex_project *project, char **bytes, size_t *size, ex_error *error);
ex_result exi_obj_encode(const ex_mesh *mesh, char **bytes, size_t *size, ex_error *error);

#endif

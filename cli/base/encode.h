/* cli/base/encode.h - files that are never on a disk: their bytes in memory. Any thread. */
#ifndef EXEMPLAR_CLI_ENCODE_H
#define EXEMPLAR_CLI_ENCODE_H

#include <exemplar/author.h>

/* The file that ex_rig_write, ex_project_write or ex_obj_write would write, in *bytes (release with free), followed by
 * a NUL that *size does not count. */
ex_result exi_rig_encode(const ex_rig *rig, char **bytes, size_t *size, ex_error *error);
ex_result exi_project_encode(const ex_project *project, char **bytes, size_t *size, ex_error *error);
ex_result exi_obj_encode(const ex_mesh *mesh, char **bytes, size_t *size, ex_error *error);

#endif

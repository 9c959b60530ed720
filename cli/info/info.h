/*
 * cli/info/info.h - shared by the parts of `exemplar info`: the start of every answer, and the file kinds that have a
 * source file each.
 */
#ifndef EXEMPLAR_CLI_INFO_H
#define EXEMPLAR_CLI_INFO_H

#include "cli/base/command.h"
#include "cli/base/emit.h"

#include <exemplar/author/scene.h>

/* Prints "PATH: a rig, 131 kB", or the same as the start of an object, which end closes. */
void exi_info_begin(const char *path, const char *kind);
exi_emitter exi_info_begin_json(const char *path, const char *kind);
void exi_info_end_json(exi_emitter *json);

void exi_info_print_box(const double box[6]);

/* Prints the joints as a tree; worlds [count][12], or NULL: with their places. False without memory. */
bool exi_info_print_joints(int count, const int *parents, const char *const *names, const float *worlds);

/* Each reads a file, prints it and returns an exit code. */
int exi_info_rig(const ex_call *call, const char *path);
int exi_info_scene(const ex_call *call, const char *path);
int exi_info_image(const ex_call *call, const char *path);
int exi_info_clip(const ex_call *call, const char *path);
int exi_info_cache(const ex_call *call, const char *path);
/* text: TRC, otherwise C3D. */
int exi_info_markers(const ex_call *call, const char *path, bool text);

/* Print the materials and images of a scene, and its clips; as JSON, also those of none (NULL). */
void exi_info_print_looks(const ex_scene *scene);
void exi_info_print_clips(const ex_scene *scene);
void exi_info_emit_looks(const ex_scene *scene, exi_emitter *json);
void exi_info_emit_clips(const ex_scene *scene, const char *key, exi_emitter *json);

#endif

/* cli/bake/bake.h - what 'exemplar bake' and the editor's bake have in common: what is baked where nothing else is
 * asked for, and what is said of it. Any thread, except for what prints. */
#ifndef EXEMPLAR_CLI_BAKE_H
#define EXEMPLAR_CLI_BAKE_H

#include "cli/base/command.h"

#include <exemplar/author.h>

/* Whether the rig is moved by motions; a sentence where it has a driver instead. `path` stands for it there. */
ex_result exi_bake_check_rig(const ex_rig *rig, const char *path, ex_error *error);
/* The level that is baked: the cage, or, of a rig whose surface is displaced, what it shows. */
int exi_bake_level(const ex_rig *rig);
/* [layer_count]: what the rig leaves out. To be freed; NULL without memory. */
bool *exi_bake_muted(const ex_rig *rig);

/* What is to be said of a .glb besides numbers, as sentences without a full stop. Returns how many. */
enum { EXI_BAKE_NOTES = 4, EXI_BAKE_NOTE_SIZE = 320 };
int exi_bake_notes(const ex_rig *rig, const ex_bake_options *options, const ex_bake_report *report,
                   char texts[EXI_BAKE_NOTES][EXI_BAKE_NOTE_SIZE]);

void exi_bake_print_glb(const ex_call *call, const char *path, const ex_rig *rig, const ex_motion *motion,
                        const ex_bake_options *options, const ex_bake_report *report);
void exi_bake_print_cache(const ex_call *call, const char *path, const ex_rig *rig, const ex_motion *motion,
                          const ex_bake_options *options);

#endif

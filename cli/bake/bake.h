/* cli/bake/bake.h - defaults and notes shared by 'exemplar bake' and the editor's bake. Any thread, except for
 * functions that print. */
#ifndef EXEMPLAR_CLI_BAKE_H
#define EXEMPLAR_CLI_BAKE_H

#include "between.h"
#include "cli/base/command.h"

#include <exemplar/author.h>

/* EX_OK if motions move the rig; an error that names it by `path` if it has a driver instead. */
ex_result exi_bake_check_rig(const ex_rig *rig, const char *path, ex_error *error);
/* Default level to bake: the cage, or the displayed surface of a rig with displacements. */
int exi_bake_level(const ex_rig *rig);

/* Writes the notes on a .glb, as sentences without a full stop, and returns their number. */
enum { EXI_BAKE_NOTES = 5, EXI_BAKE_NOTE_SIZE = 320 };
int exi_bake_notes(const ex_rig *rig, const ex_bake_options *options, const ex_bake_report *report,
                   const exi_bake_between *between, char texts[EXI_BAKE_NOTES][EXI_BAKE_NOTE_SIZE]);

void exi_bake_print_glb(const ex_call *call, const char *path, const ex_rig *rig, const ex_motion *motion,
                        const ex_bake_options *options, const ex_bake_report *report, const exi_bake_between *between);
void exi_bake_print_cache(const ex_call *call, const char *path, const ex_rig *rig, const ex_motion *motion,
                          const ex_bake_options *options);

#endif

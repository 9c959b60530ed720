/* cli/bake.h - what 'exemplar bake' prints of its work, as text or as JSON. */
#ifndef EXEMPLAR_CLI_BAKE_H
#define EXEMPLAR_CLI_BAKE_H

#include "command.h"

#include <exemplar/author.h>

void exi_bake_print_glb(const ex_call *call, const char *path, const ex_rig *rig, const ex_motion *motion,
                        const ex_bake_options *options, const ex_bake_report *report);
void exi_bake_print_cache(const ex_call *call, const char *path, const ex_rig *rig, const ex_motion *motion,
                          const ex_bake_options *options);

#endif

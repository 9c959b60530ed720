/* cli/picture/axes.h - the axes that a picture is over, by name: what plots and sheets have in common. */
#ifndef EXEMPLAR_CLI_AXES_H
#define EXEMPLAR_CLI_AXES_H

#include "cli/base/command.h"

#include <exemplar/author.h>

/* "A" or "A,B" as inputs of the rig; NULL changes nothing. False after a sentence. */
bool exi_axes_find(const ex_rig *rig, const char *text, int *count, int axes[2]);

/* Whether an argument of the call gives a value to one of them, which then has no single one; if so, a sentence with
 * how it is used ("plotted"). */
bool exi_axes_are_assigned(const ex_call *call, const ex_rig *rig, int count, const int axes[2], const char *how);

/* The first two scalar axes of a layer that no argument gives a value to, or the only one. False after a sentence:
 * where all of them have one. */
bool exi_axes_choose(const ex_call *call, const ex_rig *rig, int layer, int *count, int axes[2]);

#endif

/* cli/picture/axes.h - finds the axes that plots and sheets are drawn over, by name. */
#ifndef EXEMPLAR_CLI_AXES_H
#define EXEMPLAR_CLI_AXES_H

#include "cli/base/command.h"

#include <exemplar/author.h>

/* Finds "A" or "A,B" among the rig's inputs; NULL changes nothing. False after printing an error. */
bool exi_axes_find(const ex_rig *rig, const char *text, int *count, int axes[2]);

/* True if an argument of the call gives a value to one of these axes, which vary; then prints an error that says how
 * the axis is used ("plotted"). */
bool exi_axes_are_assigned(const ex_call *call, const ex_rig *rig, int count, const int axes[2], const char *how);

/* Chooses the first two scalar axes of a layer that no argument gives a value to, or the only one. False after printing
 * an error if all of them have a value. */
bool exi_axes_choose(const ex_call *call, const ex_rig *rig, int layer, int *count, int axes[2]);

#endif

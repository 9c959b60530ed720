/* cli/picture/axes.c - finds the axes of a picture by name. */
#include "axes.h"

#include "cli/base/report.h"

#include <stdlib.h>
#include <string.h>

/* Finds one name of --axes. */
static bool find_axis(const ex_rig *rig, const char *name, int *input) {
    const int count = ex_rig_input_count(rig);
    *input = ex_rig_input_find(rig, name);
    if (*input >= 0)
        return true;
    const char **names = calloc((size_t)count + 1, sizeof *names);
    for (int i = 0; names && i < count; i++)
        names[i] = ex_rig_input_name(rig, i);
    const char *near = names ? ex_suggest(name, names, count) : NULL;
    if (near)
        exi_failed_text("the rig has no axis '%s': did you mean '%s'?", name, near);
    else
        exi_failed_text("the rig has no axis '%s': 'exemplar info' lists them", name);
    free(names);
    return false;
}

bool exi_axes_find(const ex_rig *rig, const char *text, int *count, int axes[2]) {
    if (!text)
        return true;
    /* A name may contain a comma: try the complete text as one axis first. */
    axes[0] = ex_rig_input_find(rig, text);
    *count = 1;
    const char *comma = strchr(text, ',');
    if (axes[0] >= 0)
        return true;
    if (!comma)
        return find_axis(rig, text, &axes[0]);
    if (comma == text || comma[1] == '\0') {
        exi_failed_text("--axes needs one axis, or two with a comma between them, not '%s'", text);
        return false;
    }
    char *first = malloc(strlen(text) + 1);
    if (!first) {
        exi_failed_memory();
        return false;
    }
    memcpy(first, text, (size_t)(comma - text));
    first[comma - text] = '\0';
    *count = 2;
    const bool found = find_axis(rig, first, &axes[0]) && find_axis(rig, comma + 1, &axes[1]);
    free(first);
    return found;
}

/* The argument that gives a value to an axis, or NULL. */
static const char *find_value(const ex_call *call, const char *name) {
    for (int i = 1; i < call->argument_count; i++) {
        const size_t length = strcspn(call->arguments[i], "=");
        if (strlen(name) == length && strncmp(name, call->arguments[i], length) == 0)
            return call->arguments[i];
    }
    return NULL;
}

bool exi_axes_are_assigned(const ex_call *call, const ex_rig *rig, int count, const int axes[2], const char *how) {
    for (int a = 0; a < count; a++) {
        const char *name = ex_rig_input_name(rig, axes[a]), *given = find_value(call, name);
        if (given) {
            exi_failed_text("'%s' sets the axis '%s', which is %s: leave one of the two out", given, name, how);
            return true;
        }
    }
    return false;
}

bool exi_axes_choose(const ex_call *call, const ex_rig *rig, int layer, int *count, int axes[2]) {
    bool any = false;
    const int axis_count = layer < ex_rig_layer_count(rig) ? ex_weigher_axis_count(ex_rig_weigher(rig, layer)) : 0;
    for (int a = 0; a < axis_count && *count < 2; a++) {
        const int input = ex_rig_layer_input(rig, layer, a);
        const bool given = find_value(call, ex_rig_input_name(rig, input)) != NULL;
        any |= given;
        if (!given && ex_rig_input_axis(rig, input).kind == EX_AXIS_SCALAR)
            axes[(*count)++] = input;
    }
    if (*count > 0 || !any)
        return true;
    exi_failed_text("all axes of the layer '%s' that could be plotted are set: leave one of them out",
                    ex_rig_layer_name(rig, layer));
    return false;
}

/*
 * cli/picture/compare.h - two pictures in one (--compare): a rig without some of its layers, and with them, seen by the
 * same camera. The first is at the left, or at the top of a picture that is taller than wide.
 */
#ifndef EXEMPLAR_CLI_COMPARE_H
#define EXEMPLAR_CLI_COMPARE_H

#include "cli/base/command.h"
#include "subject.h"

#include <exemplar/author.h>

typedef struct exi_compare {
    bool *without; /* [layer_count of the rig] layers to leave out in the first picture; NULL: there is one picture */
    float *points; /* of the subject as it was opened, without them and with them, for the camera */
    int point_count;
    const char *names; /* of the layers, as they were given */
    const char *hide;  /* names of groups and materials to leave out, or NULL */
} exi_compare;

/* The smallest length of the longer side of a picture. */
#define EXI_COMPARE_LEAST 4

/* names: the layers, with commas between, or NULL. False after printing an error; call exi_compare_close either way. */
bool exi_compare_open(exi_compare *compare, const ex_call *call, const char *names, exi_subject *subject,
                      const ex_tasks *tasks);
void exi_compare_close(exi_compare *compare);

/* Leaves the layers out of what the subject is evaluated to, or, the next time, takes them in again. */
void exi_compare_swap(exi_compare *compare, exi_subject *subject);

/* Draws `def`, whose first item is the subject at `pose` (NULL: at rest) and moved by `shift`: one picture, or both
 * with words in them, unless they are small or transparent. False with an error, or, if the error says EX_OK, after
 * printing one. */
bool exi_compare_render(exi_compare *compare, exi_subject *subject, const ex_pose *pose, const float shift[3],
                        const ex_render_def *def, ex_image **image, ex_error *error);

#endif

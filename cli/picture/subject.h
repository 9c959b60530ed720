/*
 * cli/picture/subject.h - the subject of a picture: a form from a file, or a rig at a pose, with its texture, and
 * numbers at its vertices.
 */
#ifndef EXEMPLAR_CLI_SUBJECT_H
#define EXEMPLAR_CLI_SUBJECT_H

#include "cli/base/command.h"
#include "cli/pose/forms.h"

#include <exemplar/author.h>

typedef struct exi_subject {
    ex_rig *rig; /* NULL for a form from a file */
    int level;   /* of the rig */
    ex_pose pose;
    bool *muted; /* [layer_count of the rig] */
    exi_form form;
    ex_mesh *mesh;
    ex_image *image;    /* a texture from a file, or NULL */
    ex_image of_rig;    /* the rig's base colour, in the form's memory */
    ex_image *of_looks; /* [ex_rig_texture_count] the rig's textures as its looks show them; or NULL */
    ex_looks *looks;    /* materials, or NULL */
    float *values;      /* numbers at the vertices, or NULL */
    char label[96];     /* name of the values */
    const char *unit;   /* unit of the values, or NULL */
    bool whole_weight;  /* true if the values are weights, from 0 to 1 */
} exi_subject;

/* Words of options about a rig; each may be NULL. */
typedef struct exi_subject_words {
    const char *level;
    const char *mute;    /* layers to leave out */
    const char *example; /* LAYER/NAME or NAME: the pose, if the call gives none */
} exi_subject_words;

/* Reads the file and evaluates a rig at the pose in the call's further arguments. Only the first subject of a call has
 * those; another (`path` is not the call's) is at rest. False after printing an error, with the exit code; call
 * exi_subject_close either way. */
bool exi_subject_open(exi_subject *subject, const ex_call *call, const char *path, const exi_subject_words *words,
                      const ex_tasks *tasks, int *exit_code);
void exi_subject_close(exi_subject *subject);

/* Moves a rig that was opened to another pose, and its form by `shift` from there. The textures of its looks follow.
 * False after printing an error. */
bool exi_subject_pose(exi_subject *subject, const ex_pose *pose, const float shift[3], const ex_tasks *tasks);
/* The same for a rig that follows motion: state has ex_rig_state_size bytes and is kept from frame to frame; or NULL.
 */
bool exi_subject_follow(exi_subject *subject, const ex_pose *pose, const float shift[3], void *state,
                        const ex_tasks *tasks);
/* Evaluates only the positions of a pose, into the subject's form; its mesh stays. False after printing an error. */
bool exi_subject_try(exi_subject *subject, const ex_pose *pose, const ex_tasks *tasks);

/* Computes the requested numbers: difference (from `other`), displacement, example:LAYER/NAME, skin:JOINT. False after
 * printing an error. */
bool exi_subject_show(exi_subject *subject, const ex_call *call, const char *what, const exi_subject *other,
                      const ex_tasks *tasks);

/* The subject as an item of a picture; the subject keeps ownership of everything in it. */
ex_render_item exi_subject_item(const exi_subject *subject, bool textured);

#endif

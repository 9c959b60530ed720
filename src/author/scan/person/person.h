/*
 * person.h - carrying a template person to the scans of a session; private to src/author/scan/person.
 *
 *   person_carry.c   the order of the work
 *   person_check.c   scans that are not of this person
 *   person_look.c    pictures of them
 *   person_points.c  landmarks and markers, and what each scan starts from
 *   person_skin.c    the skin that scans can show; registration of a scan
 *   person_files.c   what is written
 *   person_records.c what processes that share the work tell each other
 *   person_body.c    the body of registered scans
 *   person_sound.c   whether it is one
 *   person_dials.c   dials for its figure
 *   person_write.c   what is written of it
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_PERSON_PERSON_H
#define EXEMPLAR_AUTHOR_SCAN_PERSON_PERSON_H

#include "author/base/arena.h"
#include "author/scan/human/human.h"

#include <exemplar/author/scan.h>
#include <exemplar/author/scan_body.h>

/* A named point of a scan. */
typedef struct exi_carry_point {
    int name;
    double at[3];
} exi_carry_point;

/* A name: a landmark, or a marker. */
typedef struct exi_carry_place {
    char *name;
    int joint;     /* of the template, of a marker; -1: unknown */
    bool landmark; /* clicked */
    bool known;    /* true if it has a place on the template, */
    int since;     /* given by the scan of that turn; -1: by the template or the reference */
    ex_register_anchor anchor;
} exi_carry_place;

typedef struct exi_carry_scan {
    int scan;
    exi_carry_point *points;
    int count;
    size_t capacity;
    ex_kin_pose pose;
    bool told; /* its rotations are roughly those of the fit of markers */
    bool posed;
    double hold;    /* radians: of a frame, how far its pose is from that of the frame before; 0: it starts anew */
    double matched; /* share of the posed template that lies on the scan */
    bool together;  /* true if the figure was found from it */
    double (*told_rotations)[4]; /* [joint_count]: of the fit of markers; NULL: none */
    bool hashed;
    uint64_t files; /* hash of its files, once hashed */
    ex_carried_scan *report;
} exi_carry_scan;

typedef struct exi_carry {
    const ex_scan_session *session;
    const ex_scan_carry_options *options;
    double sure;
    exi_human *human;
    exi_arena arena;
    int vertex_count, joint_count;
    exi_carry_place *places;
    int place_count;
    size_t place_capacity;
    exi_carry_scan *ones; /* [session->scan_count] */
    int one_count, reference;
    double *figure;
    double (*rest)[3], (*joints)[3]; /* of the figure; rest: of the person once the reference is registered */
    double (*rotations)[9], (*posed)[3];
    float *matching, *stiffness; /* [vertex_count] */
    float *shown;                /* [joint_count]: the largest share of its skin that a scan shows */
    double usual;                /* metres: how far the scans of the figure are from it */
    int turn;                    /* of the scan that is registered: places that later ones give do not count */
    uint64_t hash, figure_hash;  /* of all that is not in the files of scans; of the figure, 0: it is not in a file */
    ex_mesh *mesh;               /* the template where a registration starts */
    ex_scan_carried *report;
    ex_error *error;
} exi_carry;

/* All that a scan is fitted to, and its memory. */
typedef struct exi_carry_input {
    exi_human_scan scan;
    ex_mesh **meshes;
    ex_register_anchor *anchors;
    exi_bone_point *bone_points;
} exi_carry_input;

ex_result exi_carry_no_memory(const exi_carry *w);

/* Fits figure and poses to scans [count]; lock: the figure stays. */
ex_result exi_carry_fit(exi_carry *w, exi_carry_scan *const *ones, exi_carry_input *inputs, int count, bool lock);

/* Turns the faces of a scan if they look inwards. */
void exi_carry_turn_outside(exi_carry_input *in);
/* Check what a scan has in its files; that it has `least` points to start from; check it against the posed template.
 * False: `why` says what is wrong and what to do. */
bool exi_carry_check_files(const exi_carry *w, const exi_carry_scan *o, const exi_carry_input *in, char *why,
                           size_t size);
bool exi_carry_check_count(const exi_carry *w, const exi_carry_scan *o, const exi_carry_input *in, int least, char *why,
                           size_t size);
bool exi_carry_check_pose(exi_carry *w, const exi_carry_scan *o, const exi_carry_input *in, char *why, size_t size);
/* Poses a scan with the figure of the reference, and leaves it out if it is not of this person. */
ex_result exi_carry_screen(exi_carry *w, exi_carry_scan *o);
/* Leave a scan out; refuse the reference, which returns EX_ERROR_DATA. Both draw it. */
void exi_carry_leave_out(exi_carry *w, exi_carry_scan *o, const exi_carry_input *in, const char *why);
ex_result exi_carry_refuse(exi_carry *w, exi_carry_scan *o, const exi_carry_input *in, const char *why);
/* Finds the share of each bone's skin that a registered scan shows [joint_count]; names bones that no scan shows. */
void exi_carry_find_shown(const exi_carry *w, const ex_registered *registered, float *shown);
void exi_carry_name_unseen(const exi_carry *w, char *names, size_t size);
/* Draws look/NAME.png: a scan, its points, and the template as far as it is posed; false if it cannot. */
bool exi_carry_look(exi_carry *w, const exi_carry_scan *o, const exi_carry_input *in);
/* Removes the picture of an earlier run. */
void exi_carry_forget_look(const exi_carry *w, int scan);

/* Reads landmarks and labels of all scans that have some. */
ex_result exi_carry_read_points(exi_carry *w);
/* True if a name has a place on the template, in this turn. */
bool exi_carry_is_known(const exi_carry *w, const exi_carry_place *place);
/* Returns the number of a name among the places, or -1. */
int exi_carry_find_place(const exi_carry *w, const char *name);
/* Finds the anchors of a scan [o->count]: points whose names have a place on the template. Returns their number. */
int exi_carry_anchors(const exi_carry *w, const exi_carry_scan *o, bool to_register, ex_register_anchor *anchors);
/* Fits the skeleton to the markers of all scans, so that limbs are turned about themselves as hinges tell. */
ex_result exi_carry_fit_markers(exi_carry *w);
/* Start a scan as its markers tell, as the frame before it, as in scan.json, or not turned, with the hips in the middle
 * of its points; read and release all that it is fitted to. */
ex_result exi_carry_start(exi_carry *w, exi_carry_scan *o);
ex_result exi_carry_open(exi_carry *w, exi_carry_scan *o, exi_carry_input *in);
void exi_carry_close(const exi_carry *w, const exi_carry_scan *o, exi_carry_input *in);
/* Gives places to markers that a registered scan shows, and that have none yet. */
ex_result exi_carry_place_markers(exi_carry *w, const exi_carry_scan *o, const ex_registered *registered);

/* Set matching and stiffness of all vertices. */
ex_result exi_carry_find_outside(exi_carry *w);
void exi_carry_set_stiffness(exi_carry *w);
/* Poses the person [vertex_count]. */
void exi_carry_pose(exi_carry *w, const ex_kin_pose *pose, double (*vertices)[3]);
ex_result exi_carry_register(exi_carry *w, exi_carry_scan *o, const exi_carry_input *in, ex_registered **registered);
/* Un-poses the registered reference, where it was seen, and makes it the person. */
ex_result exi_carry_take_person(exi_carry *w, const exi_carry_scan *o, const ex_registered *registered);

ex_result exi_carry_write_registered(exi_carry *w, const exi_carry_scan *o, const ex_registered *registered);
/* Writes template/body.glb and fit.json. */
ex_result exi_carry_write_person(exi_carry *w);

/* Records (person_records.c). Hash all that is not in the files of scans, after the points are read; then write and
 * read. there: false if there is none, or one of something else; then nothing has changed but the memory of figure and
 * places. */
void exi_carry_hash(exi_carry *w);
ex_result exi_carry_write_reference(exi_carry *w);
ex_result exi_carry_read_reference(exi_carry *w, bool *there);
ex_result exi_carry_write_screened(exi_carry *w, const exi_carry_scan *o);
ex_result exi_carry_read_screened(exi_carry *w, exi_carry_scan *o, bool *there);
ex_result exi_carry_write_figure(exi_carry *w);
/* asked [scan_count]: only these scans and the reference need the files that it was found from; NULL: all. */
ex_result exi_carry_read_figure(exi_carry *w, const bool *asked, bool *there);
/* shown [joint_count]: of this scan. */
ex_result exi_carry_write_carried(exi_carry *w, exi_carry_scan *o, const float *shown);
ex_result exi_carry_read_carried(exi_carry *w, exi_carry_scan *o, float *shown, bool *there);

/* ---- the body ---- */

/* Dials for the figure of a body. */
typedef struct exi_person_dials {
    int count;
    char **names;
    ex_articulated_dial *dials;
} exi_person_dials;

/* Makes dials: girth, height, lengths. mesh: faces of the body. human: the template with its figures, or NULL. */
ex_result exi_person_dials_make(const ex_articulated *body, const ex_mesh *mesh, const exi_human *human,
                                exi_person_dials *dials, ex_error *error);
void exi_person_dials_free(exi_person_dials *dials);

/* A body that was measured, and what it was made from. */
typedef struct exi_body_check {
    const ex_scan_session *session;
    ex_scan_body *body;              /* `wrong` and `unseen` are set */
    const ex_kinematics *carried;    /* skeleton of the figure */
    const double *rest;              /* [vertex_count][3] of the figure */
    const float *const *confidences; /* [scan_count] of [vertex_count] */
} exi_body_check;

/* Refuses what is not a body: bones that no person has, scans far from the rig in their own poses, skin that is torn,
 * limbs that no scan shows. Results: DATA, MEMORY. */
ex_result exi_person_check(const exi_body_check *check, ex_error *error);

#endif

/*
 * outfit.h - shared by the files of the demo `outfit`: how the person moves, and how her clothes are cut. Private to
 * demos.
 */
#ifndef EXEMPLAR_DEMOS_OUTFIT_H
#define EXEMPLAR_DEMOS_OUTFIT_H

#include "demos/garment/garment.h"
#include "demos/human/person.h"

#include <exemplar/author/motion.h>
#include <exemplar/rig.h>

/* ---- motion (outfit_motion.c) ---- */

enum { OUTFIT_WALK, OUTFIT_POSES, OUTFIT_CLIPS };

typedef struct exi_outfit_body {
    exi_person *person;
    ex_motion *clips[OUTFIT_CLIPS]; /* her own, which are a part of what is learned from */
    ex_transform *other;            /* [joint_count] */
    double (*places)[3];            /* [joint_count]: of the joints at rest, in the room */
} exi_outfit_body;

/* Call exi_outfit_body_close also after a failure. */
ex_result exi_outfit_body_open(exi_outfit_body **opened, ex_error *error);
void exi_outfit_body_close(void *body);

/* Frames of a motion; see exi_garment.pose. */
extern const int exi_outfit_frame_counts[GARMENT_MOTIONS];
void exi_outfit_pose(const exi_garment *garment, exi_garment_motion motion, double seconds, double part,
                     double *positions);

/* ---- clothes (outfit_cut.c) ---- */

/* Makes garment->driven out of the person's mesh, with pins and gaps. */
ex_result exi_outfit_cut(const exi_outfit_body *body, const ex_mesh *person, exi_garment *garment, ex_error *error);

#endif

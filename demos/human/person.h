/*
 * person.h - the person of the demo `human`, for other demos: her rig, and a body to turn the joints of. Private to
 * demos.
 */
#ifndef EXEMPLAR_DEMOS_PERSON_H
#define EXEMPLAR_DEMOS_PERSON_H

#include <exemplar/author/base.h>
#include <exemplar/rig.h>

/* The bytes of demos/data/human.glb. */
const void *exi_person_bytes(size_t *size);

/* A JPEG image of the cloth of her shirt or her trousers, to be repeated. */
const void *exi_person_cloth(bool trousers, size_t *size);

/* Loads the rig: figure, build, expressions, sculpts, clips and materials; without the layers of pixels. */
ex_result exi_person_rig(ex_rig **rig, ex_error *error);

/* A rig at a pose that can be changed joint by joint. */
typedef struct exi_person {
    ex_rig *rig;
    ex_pose pose;
    void *scratch;
    float *positions;  /* [vertex_count][3]: set by exi_person_evaluate */
    double (*axes)[4]; /* [joint_count]: rotations of the joints at rest, in the room */
} exi_person;

ex_result exi_person_open(exi_person **person, ex_error *error);
void exi_person_close(exi_person *person); /* NULL is fine */

/* Turns a joint, NAME + SIDE, from where it is: about x, y or z of the room (0 to 2) as if its parents were at rest, or
 * about its own x, by which it bends (EXI_PERSON_BEND). */
enum { EXI_PERSON_BEND = 3 };
void exi_person_turn(const exi_person *person, const char *name, const char *side, int axis, double degrees);

/* A stance: a key of one of the person's clips, or her rest (NULL), and turns of joints from there. */
enum { EXI_STANCE_TURNS = 16 };
typedef struct exi_stance {
    const char *name, *clip;
    int key;
    struct {
        const char *joint, *side;
        int axis;
        double degrees;
    } turns[EXI_STANCE_TURNS]; /* up to one without a joint */
} exi_stance;

/* Takes a stance, with the usual figure. */
ex_result exi_person_stand(exi_person *person, const exi_stance *stance, ex_error *error);

void exi_person_evaluate(const exi_person *person);

#endif

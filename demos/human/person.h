/*
 * person.h - the rig of the demo `human`, for other demos. Private to demos.
 */
#ifndef EXEMPLAR_DEMOS_PERSON_H
#define EXEMPLAR_DEMOS_PERSON_H

#include <exemplar/author/base.h>
#include <exemplar/rig.h>

/* The bytes of demos/data/human.glb. */
const void *exi_person_bytes(size_t *size);

/* Loads the rig: figure, build, expressions and sculpts; without skins, clips and looks. */
ex_result exi_person_rig(ex_rig **rig, ex_error *error);

#endif

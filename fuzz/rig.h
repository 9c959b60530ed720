/* rig.h - a small rig for targets whose input is read for one. */
#ifndef EXEMPLAR_FUZZ_RIG_H
#define EXEMPLAR_FUZZ_RIG_H

#include "tests/support/characters.h"

#include <stdlib.h>

/* A rig with joints, dials and an angle, made once. */
static inline const ex_rig *the_rig(void) {
    static ex_rig *rig;
    if (!rig) {
        character c;
        character_open(&c, 3, 3, EX_SKINNING_LINEAR);
        if (ex_rig_create(&c.def, NULL, &rig, NULL) != EX_OK)
            abort();
        character_close(&c);
    }
    return rig;
}

#endif

/*
 * Sentences about what building chose or had to add.
 */
#include "author/project/build.h"
#include "runtime/base/result.h"

ex_result exi_build_falloffs(const exi_building *b, int index, ex_layer_def *layer, ex_error *error) {
    (void)b;
    (void)index;
    (void)layer;
    (void)error;
    return EX_OK;
}

void exi_build_note_ridges(const exi_building *b, const ex_rig *rig) {
    (void)b;
    (void)rig;
}

/*
 * Blocks of frames: the state of a rig that is applied begins anew at frames 0, n, 2 n, … of the driver's cache. A part
 * of the cache then needs no frames before its block, whatever the state remembers, and has the bytes of the whole.
 *
 * A rig that follows motion sees the frames before a block again: two steps of its predictor, over which it measures,
 * and half as much because it thins what it keeps. n is a power of two, and large against their number.
 */
#include "author/drive/apply/apply.h"

/* FRAMES: of a block, at least. PARTS: a block has at least this many times the frames that are seen again. */
enum { FRAMES = 128, PARTS = 4, LARGEST = 1 << 24 };
static const double steps = 3;

static double step_of(const ex_predictor *predictor) {
    ex_predictor_def def;
    ex_predictor_describe(predictor, NULL, &def);
    return def.step;
}

bool exi_apply_is_past(const ex_predictor *predictor, int frames, double seconds) {
    return frames >= 3 && seconds >= steps * step_of(predictor);
}

int ex_drive_block(const ex_rig *rig, const ex_cache_reader *driver, double rate) {
    if (!rig || !driver)
        return (int)exi_misuse(__func__, "no rig or no driver");
    const int last = ex_cache_get_info(driver).frame_count - 1;
    const double seconds = last > 0 ? ex_drive_time(driver, last, rate) - ex_drive_time(driver, 0, rate) : 0;
    int block = FRAMES;
    for (int l = 0; l < ex_rig_layer_count(rig); l++) {
        const ex_predictor *predictor = ex_rig_layer_predictor(rig, l);
        const double again = predictor && seconds > 0 ? steps * step_of(predictor) * last / seconds : 0;
        while (block < PARTS * again && block < LARGEST)
            block *= 2;
    }
    return block;
}

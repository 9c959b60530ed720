/*
 * Options of a driven rig: defaults, names and checks.
 */
#include "author/base/names.h"
#include "author/drive/drive.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"

#include <math.h>
#include <string.h>

/* Default number of frames of parts, and of influences. */
enum { USUAL_FRAMES = 16, USUAL_INFLUENCES = 4 };

ex_drive_options ex_drive_options_default(void) {
    return (ex_drive_options){.frame = EX_WHOLE_FRAME_FIT,
                              .frames = -1,
                              .fit = 0.75,
                              .look = 1.2,
                              .whole = 0.02,
                              .influences = USUAL_INFLUENCES,
                              .residual = EX_RESIDUAL_COUNT,
                              .push = true,
                              .thickness = 0.002};
}

#define NAME(name, text) text,
const char *ex_whole_frame_name(ex_whole_frame frame) {
    static const char *const names[] = {EX_WHOLE_FRAME_LIST(NAME)};
    return (unsigned)frame < EX_WHOLE_FRAME_COUNT ? names[frame] : "unknown";
}

const char *ex_key_choice_name(ex_key_choice choice) {
    static const char *const names[] = {EX_KEY_CHOICE_LIST(NAME)};
    return (unsigned)choice < EX_KEY_CHOICE_COUNT ? names[choice] : "unknown";
}

const char *ex_learn_method_name(ex_learn_method method) {
    static const char *const names[] = {EX_LEARN_LIST(NAME)};
    return (unsigned)method < EX_LEARN_METHOD_COUNT ? names[method] : "unknown";
}
#undef NAME

/* Trajectories blend driver and driven mesh as a whole, without frames of parts: parts that follow frames hardly rotate
 * any more. */
int exi_drive_frame_count(const ex_drive_options *o) {
    if (o->frames >= 0)
        return o->frames > 1 ? o->frames : 0;
    return o->paths || o->frame == EX_WHOLE_FRAME_NONE ? 0 : USUAL_FRAMES;
}

/* Checks names that poses set. The rules are those of axes in projects, since a rig can be unpacked into one. */
ex_result exi_drive_names_check(const char *driver, const char *axis, ex_error *error) {
    const char *wrong = !exi_is_axis_name(driver) ? driver : axis && !exi_is_axis_name(axis) ? axis : NULL;
    if (wrong)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "'%.40s' cannot be the name of an axis: it needs 1 to %d bytes, without '=', ',' or '\"', "
                            "and other than 'time' or 'joint:…'",
                            wrong, EXI_NAME_MAX);
    if (axis && strcmp(driver, axis) == 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the driver and the axis of its databases are both called '%s': rename one", driver);
    return EX_OK;
}

static bool positive(double value) {
    return value > 0 && isfinite(value);
}

static ex_result check_numbers(const ex_drive_options *o, ex_error *error) {
    if (!positive(o->fit) || !positive(o->look))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "'fit' and 'look' must be widths above 0, not %g and %g", o->fit,
                            o->look);
    if (!(o->whole >= 0) || !isfinite(o->whole))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "'whole' must be 0 or more, not %g", o->whole);
    if (o->influences < 1 || o->influences > EX_INFLUENCE_MAX)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a vertex follows 1 to %d frames, not %d", EX_INFLUENCE_MAX,
                            o->influences);
    if (!(o->ridge >= 0) || !isfinite(o->ridge))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the ridge must be 0 or more, not %g", o->ridge);
    if (!(o->thickness >= 0) || !(o->thickness < 1e18))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the thickness must be from 0 to 1e18 metres, not %g",
                            o->thickness);
    return EX_OK;
}

ex_result exi_drive_options_check(const ex_drive_options *o, ex_error *error) {
    if ((unsigned)o->frame >= EX_WHOLE_FRAME_COUNT || (unsigned)o->residual > EX_RESIDUAL_COUNT ||
        (o->region_count > 0 && !o->regions) || o->region_count < 0 || o->bind_count < 0 ||
        (o->bind_count > 0 && (!o->binds || !o->vertex_binds)))
        return exi_misuse_error(error, __func__, "options of an unknown kind, or missing lists");
    if (o->frames < -1 || o->frames > EX_DRIVER_FRAME_MAX)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a driver has -1 (chosen automatically) to %d moving frames, not %d", EX_DRIVER_FRAME_MAX,
                            o->frames);
    if (o->region_count > EX_DRIVER_FRAME_MAX || o->bind_count > EX_BIND_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "there are at most %d regions and %d binds, not %d and %d",
                            EX_DRIVER_FRAME_MAX, EX_BIND_MAX, o->region_count, o->bind_count);
    const int frames = exi_drive_frame_count(o);
    if (o->frame == EX_WHOLE_FRAME_NONE && frames > 0)
        return ex_error_set(
            error, EX_ERROR_ARGUMENT,
            "%d frames of parts move with the driver, so the frame cannot be 'none': leave one of the two out", frames);
    if (o->paths && (o->region_count > 1 || (frames > 0 && o->region_count == 0 && !o->one_region)))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "keys are blended along trajectories in one region only, not in %d: ask for one region, or "
                            "for one frame",
                            o->region_count > 1 ? o->region_count : frames);
    return check_numbers(o, error);
}

/*
 * Cloth through many frames: moves the driver frame by frame, and the cloth after it. Someone else knows the driver's
 * motion; it may come from a pose, a rig or a file.
 */
#include "cloth.h"

#include "common/array.h"

#include <stdlib.h>

static ex_result move(const exi_cloth_play *play, int frame, double *driver, ex_error *error) {
    return play->move ? play->move(play->user, frame, driver, error) : EX_OK;
}

static ex_result run(const exi_cloth_play *play, exi_cloth *cloth, double *driver, ex_error *error) {
    ex_result result = EX_OK;
    for (int frame = play->first; result == EX_OK && frame < play->end; frame++) {
        const double part = (double)(frame - play->first) / (play->end - play->first);
        if (play->progress && !play->progress->report(play->progress->user, play->doing, part))
            return ex_error_set(error, EX_ERROR_FILE, "stopped before it was finished");
        result = move(play, frame, driver, error);
        if (result == EX_OK && (!play->cloth.start || frame > play->first))
            exi_cloth_step(cloth, driver, play->guide ? play->guide(play->user, frame, driver) : NULL);
        if (result == EX_OK && play->frame && frame >= 0)
            result = play->frame(play->user, frame, driver, exi_cloth_positions(cloth), error);
    }
    return result;
}

ex_result exi_cloth_simulate(const exi_cloth_play *play, ex_error *error) {
    const ex_mesh *mesh = play->cloth.driver;
    const size_t count = mesh ? 3 * (size_t)mesh->vertex_count : 0;
    exi_cloth_def def = play->cloth;
    double *driver = mesh ? array_copy(mesh->positions, count, sizeof *driver) : NULL;
    ex_mesh *begin = mesh ? ex_mesh_copy(mesh) : NULL;
    exi_cloth *cloth = NULL;
    ex_result result =
        (driver && begin) || !mesh ? EX_OK : ex_error_memory(error, "the driver of a cloth", count * sizeof *driver);
    if (result == EX_OK && mesh)
        result = move(play, play->first, begin->positions, error);
    if (result == EX_OK) {
        def.driver = begin;
        result = exi_cloth_create(&def, &cloth, error);
    }
    if (result == EX_OK)
        result = run(play, cloth, driver, error);
    exi_cloth_destroy(cloth);
    ex_mesh_destroy(begin);
    free(driver);
    return result;
}

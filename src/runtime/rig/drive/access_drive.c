/*
 * Access to a rig's driver: reads its sections again, since they hold everything as it was given.
 */
#include "runtime/base/result.h"
#include "runtime/rig/drive/drive.h"

#include <string.h>

static exi_bytes driver_section(const exi_drive *d) {
    return (exi_bytes){.data = exi_drive_at(d, d->section), .size = (size_t)d->section_size};
}

bool ex_rig_get_driver(const ex_rig *rig, ex_rig_driver *driver, ex_bind *binds) {
    if (!rig || !driver)
        return exi_misuse(__func__, "no rig, or no pointer for the driver");
    const exi_drive *d = exi_rig_drive(rig);
    *driver = (ex_rig_driver){0};
    if (!d)
        return false;
    ex_bind own[EX_BIND_MAX];
    exi_drive_read_driver(driver_section(d), rig->counts.vertices, rig->counts.joints, driver, binds ? binds : own,
                          NULL);
    if (!binds)
        driver->binds = NULL;
    for (int i = 0; i < rig->counts.inputs; i++)
        if (exi_rig_inputs(rig)[i].axis.kind == EX_AXIS_DRIVER)
            driver->name = ex_rig_input_name(rig, i);
    return true;
}

int ex_rig_layer_regions(const ex_rig *rig, int layer, ex_region *views, ex_influences *regions) {
    if (!rig || layer < 0 || layer >= rig->counts.layers) {
        exi_misuse(__func__, "no such layer");
        return 0;
    }
    const exi_drive_layer *driven = exi_drive_layer_of(rig, layer);
    ex_influences unused;
    regions = regions ? regions : &unused;
    *regions = (ex_influences){0};
    if (!driven || driven->predictor || !views)
        return driven ? driven->view_count : 0;
    ex_rig_driver driver;
    int count = 0;
    const exi_drive *d = exi_rig_drive(rig);
    ex_rig_get_driver(rig, &driver, NULL);
    const size_t size = (size_t)driven->regions_size - exi_drive_mixture_size(rig, layer, d->vertex_count);
    exi_drive_read_regions((exi_bytes){exi_drive_at(d, driven->regions), size}, rig->counts.vertices, &driver, &count,
                           views, regions, NULL);
    return count;
}

const ex_predictor *ex_rig_layer_predictor(const ex_rig *rig, int layer) {
    if (!rig || layer < 0 || layer >= rig->counts.layers) {
        exi_misuse(__func__, "no such layer");
        return NULL;
    }
    const exi_drive_layer *driven = exi_drive_layer_of(rig, layer);
    return driven && driven->predictor ? exi_drive_at(exi_rig_drive(rig), driven->predictor) : NULL;
}

static exi_bytes key_of(const ex_rig *rig, int layer, int example, const char *function) {
    if (!rig || layer < 0 || layer >= rig->counts.layers || example < 0 ||
        example >= exi_rig_layers(rig)[layer].example_count) {
        exi_misuse(function, "no such layer or example");
        return (exi_bytes){0};
    }
    const exi_drive *d = exi_rig_drive(rig);
    if (!d)
        return (exi_bytes){0};
    const exi_drive_key *key =
        (const exi_drive_key *)exi_drive_at(d, d->keys) + exi_rig_layers(rig)[layer].first_example + example;
    return key->size > 0 ? (exi_bytes){exi_drive_at(d, key->data), (size_t)key->size} : (exi_bytes){0};
}

const float *ex_rig_example_driver(const ex_rig *rig, int layer, int example) {
    return key_of(rig, layer, example, __func__).data;
}

bool ex_rig_example_joints(const ex_rig *rig, int layer, int example, ex_transform *joints) {
    const exi_bytes key = key_of(rig, layer, example, __func__);
    const size_t before = key.data ? (size_t)exi_rig_drive(rig)->vertex_count * 12 : 0;
    const size_t size = rig ? (size_t)rig->counts.joints * sizeof(ex_transform) : 0;
    for (int j = 0; rig && j < rig->counts.joints; j++)
        joints[j] = ex_skeleton_rest(ex_rig_skeleton(rig), j);
    if (size == 0 || key.size < before + size ||
        key.size - before - exi_drive_trajectory_size(rig, layer, example, exi_rig_drive(rig)->vertex_count) != size)
        return false;
    memcpy(joints, (const char *)key.data + before, size);
    return true;
}

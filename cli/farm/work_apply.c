/*
 * drive apply: garments x animations of their driver, cut by frames. A part has the bytes that its frames have in the
 * whole (ex_drive_apply), at the cost of some frames before it unless it begins at a block.
 *
 *   {"work": "drive apply", "garments": ["shirt.glb"], "drivers": "caches/ *.pc2",
 *    "output": "made/{garment}-{driver}.pc2", "frames": "1:500", "options": {"untangle": true}}
 */
#include "planner.h"

#include "cli/base/files.h"
#include "cli/base/rigs.h"

#include <exemplar/author.h>

#include <stdlib.h>
#include <string.h>

static const char *const taken[] = {"driver", "output", "frames", "force", NULL};

typedef struct garment {
    const char *path;
    ex_rig *rig;
    bool measured;
    exi_farm_cost cost;
} garment;

static ex_result open_garment(exi_planner *p, garment *g) {
    ex_rig_driver driver;
    const ex_result result = ex_rig_read(g->path, NULL, &g->rig, p->error);
    if (result == EX_OK && !ex_rig_get_driver(g->rig, &driver, NULL))
        return exi_job_wrong(p, "'%s' does not follow a driver: 'exemplar drive learn' makes one that does", g->path);
    return result;
}

static ex_result add_pair(exi_planner *p, garment *g, const char *driver, const char *output) {
    ex_cache_reader *reader = NULL;
    int offset = 0, frames = 0, block = 0;
    const char *slash = strrchr(output, '/'), *file = slash ? slash + 1 : output;
    json_t *names = json_pack("{s:o, s:o}", "garment", exi_job_stem(g->path), "driver", exi_job_stem(driver)),
           *words = json_pack("[s, s, s, s, s]", "drive", "apply", g->path, "--driver", driver), *inputs = json_array();
    char name[640], *path = NULL;
    snprintf(name, sizeof name, "%s x %s", exi_farm_text(names, "garment"), exi_farm_text(names, "driver"));
    ex_result result = exi_planner_add_input(p, inputs, g->path);
    if (result == EX_OK)
        result = exi_planner_add_cache(p, inputs, driver);
    if (result == EX_OK)
        result = exi_job_options(p, "drive apply", taken, names, words, inputs);
    const double rate = exi_job_parse(exi_job_value(words, "--fps"));
    if (result == EX_OK)
        result = ex_cache_open(driver, &reader, p->error);
    if (result == EX_OK) {
        block = ex_drive_block(g->rig, reader, rate);
        result = exi_job_frames(p, ex_cache_get_info(reader).frame_count, driver, &offset, &frames);
    }
    ex_cache_close(reader);
    if (result == EX_OK && !g->measured) {
        result = exi_planner_sample(p, words, file, frames, &g->cost);
        g->measured = true;
    }
    if (result == EX_OK)
        result = exi_job_fill(p, output, names, &path);
    const char *last = path ? strrchr(path, '/') : NULL;
    const json_t *item = result == EX_OK ? exi_planner_add(p, &(exi_farm_item){.name = name,
                                                                               .words = words,
                                                                               .inputs = inputs,
                                                                               .file = last ? last + 1 : path,
                                                                               .frames = frames,
                                                                               .offset = offset,
                                                                               .grain = block,
                                                                               .cost = g->cost})
                                         : NULL;
    if (result == EX_OK)
        result = item ? exi_planner_item_result(p, "cache", path, item,
                                                json_pack("{s:s, s:s, s:f, s:i, s:i}", "times", "driver", "driver",
                                                          driver, "rate", rate, "offset", offset, "frames", frames))
                      : p->error->result;
    free(path);
    json_decref(names);
    json_decref(words);
    json_decref(inputs);
    return result;
}

static ex_result plan(exi_planner *p) {
    json_t *garments = NULL, *drivers = NULL;
    char *output = NULL;
    ex_result result = exi_job_paths(p, "garments", false, &garments);
    if (result == EX_OK)
        result = exi_job_paths(p, "drivers", false, &drivers);
    if (result == EX_OK)
        result = exi_job_path(p, "output", &output);
    if (result == EX_OK && ex_cache_kind_of(output) == EX_CACHE_KIND_COUNT)
        result = exi_job_wrong(p, "\"output\" must end in .pc2, .mdd, .abc or .obj, not '%s'", output);
    for (size_t i = 0; result == EX_OK && i < json_array_size(garments); i++) {
        garment g = {.path = json_string_value(json_array_get(garments, i))};
        result = open_garment(p, &g);
        for (size_t k = 0; result == EX_OK && k < json_array_size(drivers); k++)
            result = add_pair(p, &g, json_string_value(json_array_get(drivers, k)), output);
        ex_rig_destroy(g.rig);
    }
    json_decref(garments);
    json_decref(drivers);
    free(output);
    return result == EX_OK ? exi_planner_end_stage(p, "apply") : result;
}

const exi_farm_work exi_farm_work_apply = {
    .name = "drive apply",
    .keys = (const char *const[]){"work", "threads", "garments", "drivers", "output", "frames", "options", NULL},
    .plan = plan,
};

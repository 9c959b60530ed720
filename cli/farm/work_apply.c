/*
 * drive apply: garments x animations of their driver. Frames of a rig of keys are independent of each other and are cut
 * anywhere. A rig that remembers earlier frames gets whole animations.
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
    bool whole; /* its frames cannot be cut */
    exi_farm_cost cost;
    int measured; /* vertices of the driver that the cost is of; 0: none yet */
} garment;

/* Finds whether frames depend on earlier ones. */
static ex_result look_at_rig(exi_planner *p, garment *g) {
    ex_rig *rig = NULL;
    ex_rig_driver driver;
    if (ex_rig_read(g->path, NULL, &rig, p->error) != EX_OK)
        return p->error->result;
    const bool follows = ex_rig_get_driver(rig, &driver, NULL);
    g->whole = ex_rig_state_size(rig) > 0;
    ex_rig_destroy(rig);
    return follows ? EX_OK : exi_job_wrong(p, "'%s' does not follow a driver: 'exemplar drive learn' makes one that does", g->path);
}

static ex_result add_pair(exi_planner *p, garment *g, const char *driver, const char *output) {
    ex_cache_reader *reader = NULL;
    int offset = 0, frames = 0;
    ex_result result = ex_cache_open(driver, &reader, p->error);
    const int there = result == EX_OK ? ex_cache_get_info(reader).frame_count : 0;
    ex_cache_close(reader);
    if (result == EX_OK)
        result = exi_job_frames(p, there, driver, &offset, &frames);
    if (result != EX_OK)
        return result;
    const char *slash = strrchr(output, '/'), *file = slash ? slash + 1 : output;
    const json_t *rate = json_object_get(json_object_get(p->job, "options"), "fps");
    json_t *names = json_pack("{s:o, s:o}", "garment", exi_job_stem(g->path), "driver", exi_job_stem(driver)),
           *words = json_pack("[s, s, s, s, s]", "drive", "apply", g->path, "--driver", driver), *inputs = json_array();
    char name[256], *path = NULL;
    snprintf(name, sizeof name, "%s x %s", exi_farm_text(names, "garment"), exi_farm_text(names, "driver"));
    result = exi_planner_add_input(p, inputs, g->path);
    if (result == EX_OK)
        result = exi_planner_add_cache(p, inputs, driver);
    if (result == EX_OK)
        result = exi_job_options(p, "drive apply", taken, names, words, inputs);
    if (result == EX_OK && !g->measured) {
        result = exi_planner_sample(p, words, file, frames, &g->cost);
        g->measured = 1;
    }
    if (result == EX_OK)
        result = exi_job_fill(p, output, names, &path);
    if (result == EX_OK && g->whole && json_object_get(p->job, "frames"))
        json_array_extend(words, json_pack("[s, s]", "--frames", exi_farm_text(p->job, "frames")));
    const char *last = path ? strrchr(path, '/') : NULL;
    const json_t *item = result == EX_OK ? exi_planner_add(p, &(exi_farm_item){.name = name,
                                                                               .words = words,
                                                                               .inputs = inputs,
                                                                               .file = last ? last + 1 : path,
                                                                               .frames = frames,
                                                                               .offset = offset,
                                                                               .whole = g->whole,
                                                                               .cost = g->cost})
                                         : NULL;
    if (result == EX_OK)
        result = item ? exi_planner_item_result(p, "cache", path, item,
                                                json_pack("{s:s, s:s, s:f, s:i, s:i}", "times", "driver", "driver", driver,
                                                          "rate", json_number_value(rate), "offset", offset, "frames",
                                                          frames))
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
        result = look_at_rig(p, &g);
        for (size_t k = 0; result == EX_OK && k < json_array_size(drivers); k++)
            result = add_pair(p, &g, json_string_value(json_array_get(drivers, k)), output);
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

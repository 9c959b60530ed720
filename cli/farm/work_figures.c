/*
 * figures: the papers' figures, one task each, and the page of all of them.
 *
 *   {"work": "figures", "output": "figures", "all": true, "options": {"cell": 300}}
 */
#include "planner.h"

#include "figures/figures.h"

#include <stdlib.h>
#include <string.h>

static const char *const taken[] = {"output", "force", "list", "join", "only", "all", NULL};

/* Adds the words for one figure, or for the page (name NULL), as an item. */
static ex_result add_item(exi_planner *p, const char *name, bool all, const json_t *needs, json_t *items) {
    json_t *words = json_pack("[s, s, s, s]", "figures", "-o", "@/session", name ? "--only" : "--join"),
           *inputs = json_array(), *names = json_object(), *folders = json_pack("[s]", "session");
    if (name) {
        json_array_append_new(words, json_string(name));
        json_array_append_new(words, json_string("--force"));
    }
    if (all)
        json_array_append_new(words, json_string("--all"));
    ex_result result = exi_job_options(p, "figures", taken, names, words, inputs);
    json_t *item = result == EX_OK ? exi_planner_add(p, &(exi_farm_item){.name = name ? name : "the page",
                                                                         .words = words,
                                                                         .needs = needs,
                                                                         .folders = folders})
                                   : NULL;
    if (item)
        json_array_append(items, item);
    json_decref(words);
    json_decref(inputs);
    json_decref(names);
    json_decref(folders);
    return item ? EX_OK : p->error->result;
}

/* Lists the tasks of items, each once. */
static void list_tasks(const json_t *items, json_t *tasks) {
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)items, i, item) {
        json_t *task = json_array_get(exi_planner_tasks_of(item), 0);
        const size_t count = json_array_size(tasks);
        if (count == 0 || !json_equal(json_array_get(tasks, count - 1), task))
            json_array_append(tasks, task);
    }
}

static ex_result plan(exi_planner *p) {
    const bool all = json_is_true(json_object_get(p->job, "all"));
    json_t *items = json_array(), *page = json_array(), *tasks = json_array(), *none = json_array();
    char *output = NULL;
    ex_result result = exi_job_path(p, "output", &output);
    if (result == EX_OK && json_object_get(p->job, "all") && !json_is_boolean(json_object_get(p->job, "all")))
        result = exi_job_wrong(p, "\"all\" must be true or false");
    for (int i = 0; result == EX_OK && i < exi_paper_count; i++)
        for (int k = 0; result == EX_OK && k < exi_papers[i].figure_count; k++) {
            const exi_figure *figure = &exi_papers[i].figures[k];
            char name[EXI_FIGURE_NAME];
            exi_figure_name(&exi_papers[i], figure, name);
            if (figure->make && (all || !figure->slow))
                result = add_item(p, name, all, NULL, items);
        }
    if (result == EX_OK)
        result = exi_planner_end_stage(p, "figures");
    list_tasks(items, tasks);
    if (result == EX_OK)
        result = add_item(p, NULL, all, tasks, page);
    if (result == EX_OK)
        result = exi_planner_end_stage(p, "page");
    list_tasks(page, tasks);
    if (result == EX_OK)
        result = exi_planner_result(p, "files", output, tasks, none, json_pack("{s:s}", "below", "session/"));
    json_decref(items);
    json_decref(page);
    json_decref(tasks);
    json_decref(none);
    free(output);
    return result;
}

const exi_farm_work exi_farm_work_figures = {
    .name = "figures",
    .keys = (const char *const[]){"work", "threads", "output", "all", "options", NULL},
    .plan = plan,
};

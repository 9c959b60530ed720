/*
 * Reading how a layer weighs: kinds, kernels and their parameters.
 */
#include "author/project/model/reader.h"
#include "runtime/base/result.h"

static ex_result check_weigh(exi_project_reader *r, const exi_place *place, const ex_weigher_def *def) {
    const bool second_order = def->kernel == EX_KERNEL_THIN_PLATE || def->kernel == EX_KERNEL_TRIHARMONIC;
    if (!(def->radius > 0))
        return exi_error(r->keys.error, EX_ERROR_DATA, "%s.radius: must be above 0", place->text);
    if (!(def->ridge >= 0))
        return exi_error(r->keys.error, EX_ERROR_DATA, "%s.ridge: must not be negative", place->text);
    if (!(def->power > 0 && def->power <= 64))
        return exi_error(r->keys.error, EX_ERROR_DATA, "%s.power: must be above 0 and at most 64", place->text);
    if (def->neighbours > EX_NEIGHBOUR_MAX)
        return exi_error(r->keys.error, EX_ERROR_DATA, "%s.k: must be at most %d", place->text, EX_NEIGHBOUR_MAX);
    if (!def->linear && second_order)
        return exi_error(r->keys.error, EX_ERROR_DATA, "%s.linear: kernel \"%s\" needs the linear part", place->text,
                         ex_kernel_name(def->kernel));
    return EX_OK;
}

/* Keys that are known, but not here. */
static ex_result refuse_reach(exi_project_reader *r, const json_t *weigh, const exi_place *place,
                              ex_weigher_kind kind) {
    static const char *const keys[] = {"falloff", "metric"};
    for (int i = 0; i < 2 && kind != EX_WEIGHER_GAUSSIAN; i++)
        if (json_object_get(weigh, keys[i]))
            return exi_error(r->keys.error, EX_ERROR_DATA, "%s.%s: only weighers of \"kind\": \"gaussian\" have this",
                             place->text, keys[i]);
    return EX_OK;
}

ex_result exi_read_weigh(exi_project_reader *r, const json_t *layer, const exi_place *place, ex_weigher_def *def) {
    static const char *const kind_names[] = {
#define NAME(id, text) text,
        EX_WEIGHER_LIST(NAME)
#undef NAME
    };
    static const char *const kernel_names[] = {
#define NAME(id, text) text,
        EX_KERNEL_LIST(NAME)
#undef NAME
    };
    static const char *const keys[EX_WEIGHER_COUNT][6] = {
        [EX_WEIGHER_CARDINAL] = {"kind", "kernel", "linear", "radius", "ridge", NULL},
        [EX_WEIGHER_DIRECT] = {"kind", NULL},
        [EX_WEIGHER_SHEPARD] = {"kind", "power", NULL},
        [EX_WEIGHER_NEAREST] = {"kind", "k", "form", NULL},
        [EX_WEIGHER_GAUSSIAN] = {"kind", "falloff", "metric", "ridge", NULL}, /* the first two: read_falloff.c */
        [EX_WEIGHER_CONVEX] = {"kind", "ridge", "driver_weights", "one_region", "regions", NULL}, /* read_driver.c */
    };
    static const char *const forms[] = {"paper", "next"};
    *def = ex_weigher_def_default();
    const json_t *weigh = json_object_get(layer, "weigh");
    exi_place at = exi_place_key(place, "weigh"), here = exi_place_key(&at, "kind");
    if (!weigh)
        return EX_OK;
    if (!json_is_object(weigh))
        return exi_error(r->keys.error, EX_ERROR_DATA, "%s: an object such as {\"kind\": \"cardinal\"} is needed here",
                         at.text);
    int choice = EX_WEIGHER_CARDINAL;
    ex_result result = EX_OK;
    if (json_object_get(weigh, "kind"))
        result = exi_choose(&r->keys, json_object_get(weigh, "kind"), &here, kind_names, EX_WEIGHER_COUNT, &choice);
    if (result != EX_OK)
        return result;
    def->kind = (ex_weigher_kind)choice;
    result = refuse_reach(r, weigh, &at, def->kind);
    if (result == EX_OK)
        result = exi_check_keys(&r->keys, weigh, &at, keys[choice]);
    here = exi_place_key(&at, "kernel");
    choice = (int)def->kernel;
    if (result == EX_OK && json_object_get(weigh, "kernel"))
        result = exi_choose(&r->keys, json_object_get(weigh, "kernel"), &here, kernel_names, EX_KERNEL_COUNT, &choice);
    def->kernel = (ex_kernel)choice;
    if (result == EX_OK)
        result = exi_get_bool(&r->keys, weigh, &at, "linear", &def->linear);
    if (result == EX_OK)
        result = exi_get_number(&r->keys, weigh, &at, "radius", &def->radius);
    if (result == EX_OK)
        result = exi_get_number(&r->keys, weigh, &at, "ridge", &def->ridge);
    if (result == EX_OK)
        result = exi_get_number(&r->keys, weigh, &at, "power", &def->power);
    if (result == EX_OK)
        result = exi_get_count(&r->keys, weigh, &at, "k", &def->neighbours);
    here = exi_place_key(&at, "form");
    choice = 1;
    if (result == EX_OK && json_object_get(weigh, "form"))
        result = exi_choose(&r->keys, json_object_get(weigh, "form"), &here, forms, 2, &choice);
    def->paper_form = choice == 0;
    return result == EX_OK ? check_weigh(r, &at, def) : result;
}

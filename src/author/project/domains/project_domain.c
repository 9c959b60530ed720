/*
 * The table of domains for projects, and reading "shape", the word for a layer's domain.
 */
#include "author/project/domains/project_domain.h"
#include "runtime/base/result.h"

#include <string.h>

const exi_project_domain *const exi_project_domains[] = {
#define ENTRY(id, entry, word, help) [id] = &exi_project_domain_##entry,
    EX_DOMAIN_LIST(ENTRY)
#undef ENTRY
};

const char *ex_project_layer_shape(const ex_project_layer *layer) {
    return layer->unposed ? exi_project_domain_of(layer)->posed_word : ex_domain_name(layer->domain);
}

/* ---- keys ---- */

static void add_keys(const exi_domain_key *from, int most, const char **keys, int *count) {
    for (int i = 0; i < most && from[i].key && *count < EXI_KEYS_MAX - 1; i++)
        keys[(*count)++] = from[i].key;
}

static int copy_keys(const char *const *common, const char **keys) {
    int count = 0;
    while (common[count]) {
        keys[count] = common[count];
        count++;
    }
    return count;
}

void exi_domain_layer_keys(const char *const *common, const char *keys[EXI_KEYS_MAX]) {
    int count = copy_keys(common, keys);
    for (int d = 0; d < EX_DOMAIN_COUNT; d++)
        add_keys(exi_project_domains[d]->keys, EXI_DOMAIN_KEYS, keys, &count);
    keys[count] = NULL;
}

void exi_domain_example_keys(const char *const *common, const char *keys[EXI_KEYS_MAX]) {
    int count = copy_keys(common, keys);
    for (int d = 0; d < EX_DOMAIN_COUNT; d++)
        add_keys(exi_project_domains[d]->example_keys, 2, keys, &count);
    keys[count] = NULL;
}

static ex_result refuse(exi_project_reader *r, const json_t *object, const exi_place *place, ex_domain domain,
                        bool example) {
    for (int d = 0; d < EX_DOMAIN_COUNT; d++) {
        const exi_domain_key *keys = example ? exi_project_domains[d]->example_keys : exi_project_domains[d]->keys;
        for (int i = 0; d != (int)domain && i < (example ? 2 : EXI_DOMAIN_KEYS) && keys[i].key; i++)
            if (json_object_get(object, keys[i].key))
                return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.%s: only a layer with \"shape\": \"%s\" has %s",
                                    place->text, keys[i].key, ex_domain_name((ex_domain)d), keys[i].what);
    }
    return EX_OK;
}

ex_result exi_refuse_example_keys(exi_project_reader *r, const json_t *object, const exi_place *place,
                                  ex_domain domain) {
    return refuse(r, object, place, domain, true);
}

/* ---- "shape" ---- */

/* Each domain has one word, and a second if its examples may be made at their pose. */
static ex_result read_word(exi_project_reader *r, const json_t *object, const exi_place *at, ex_project_layer *layer) {
    const char *words[2 * EX_DOMAIN_COUNT];
    ex_domain domains[2 * EX_DOMAIN_COUNT];
    int count = 0, choice = 0;
    for (int d = 0; d < EX_DOMAIN_COUNT; d++) {
        domains[count] = (ex_domain)d;
        words[count++] = ex_domain_name((ex_domain)d);
        if (exi_project_domains[d]->posed_word) {
            choice = ex_weigher_kind_info(layer->weigh.kind)->is_driven ? count : choice; /* default */
            domains[count] = (ex_domain)d;
            words[count++] = exi_project_domains[d]->posed_word;
        }
    }
    ex_result result = EX_OK;
    if (json_object_get(object, "shape"))
        result = exi_choose(&r->keys, json_object_get(object, "shape"), at, words, count, &choice);
    layer->domain = domains[choice];
    layer->unposed = choice > 0 && domains[choice - 1] == domains[choice];
    return result;
}

ex_result exi_read_domain(exi_project_reader *r, const json_t *object, const exi_place *place,
                          ex_project_layer *layer) {
    exi_place at = exi_place_key(place, "shape");
    ex_result result = read_word(r, object, &at, layer);
    if (result != EX_OK)
        return result;
    const exi_project_domain *domain = exi_project_domain_of(layer);
    if (ex_weigher_kind_info(layer->weigh.kind)->is_driven && !domain->targets)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: a layer weighed by a driver holds whole forms: \"unposed\", \"trajectory\" or "
                            "\"positions\" is needed here",
                            at.text);
    if (ex_weigher_kind_info(layer->weigh.kind)->is_predicted && layer->domain != EX_DOMAIN_FORM)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: a layer that follows motion holds forms: \"unposed\" or \"positions\" is needed here",
                            at.text);
    if (layer->unposed && !r->view->skeleton && !r->view->driver.mesh &&
        !ex_weigher_kind_info(layer->weigh.kind)->is_driven)
        return ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s: un-posing needs a skeleton: add \"skeleton\": \"FILE.glb\" to the project, or use \"positions\"",
            at.text);
    if (domain->read)
        result = domain->read(r, object, place, layer);
    return result == EX_OK ? refuse(r, object, place, layer->domain, false) : result;
}

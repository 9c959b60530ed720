/*
 * The table of domains, and queries on it.
 */
#include "runtime/rig/domains/domain.h"

#include "runtime/base/result.h"

const exi_domain *const exi_domains[] = {
#define ENTRY(id, entry, word, help) [id] = &exi_domain_##entry,
    EX_DOMAIN_LIST(ENTRY)
#undef ENTRY
};

const char *ex_domain_name(ex_domain domain) {
    static const char *const words[] = {
#define WORD(id, entry, word, help) word,
        EX_DOMAIN_LIST(WORD)
#undef WORD
    };
    return (unsigned)domain < EX_DOMAIN_COUNT ? words[domain] : "unknown";
}

const char *ex_domain_help(ex_domain domain) {
    static const char *const lines[] = {
#define HELP(id, entry, word, help) help,
        EX_DOMAIN_LIST(HELP)
#undef HELP
    };
    return (unsigned)domain < EX_DOMAIN_COUNT ? lines[domain] : "";
}

const exi_domain_section *exi_domain_find_section(const exi_domain *domain, ex_section_kind kind) {
    for (int i = 0; i < domain->section_count; i++)
        if (domain->sections[i].kind == kind)
            return &domain->sections[i];
    return NULL;
}

ex_result exi_within_example(const exi_making *m, int layer, int example, ex_result result, ex_error *error) {
    if (!m->def)
        return ex_error_within(error, result, "example %d of the rig",
                               exi_example_index(&m->layers[layer], example) + 1);
    const ex_layer_def *def = &m->def->layers[layer];
    return ex_error_within(error, result, "layer '%s', example '%s'", def->name, def->example_names[example]);
}

/* ---- access to layers ---- */

ex_domain ex_rig_layer_domain(const ex_rig *rig, int layer) {
    return exi_rig_has_layer(rig, layer, __func__) ? (ex_domain)exi_rig_layers(rig)[layer].domain : (ex_domain)0;
}

ex_stage ex_rig_layer_stage(const ex_rig *rig, int layer) {
    if (!exi_rig_has_layer(rig, layer, __func__))
        return EX_STAGE_REST;
    return exi_rig_layers(rig)[layer].frame == EX_OFFSET_FRAME_SKINNED ? EX_STAGE_POSED
                                                                       : exi_domain_of(rig, layer)->stage;
}

bool ex_rig_layer_is_sum(const ex_rig *rig, int layer) {
    return exi_rig_has_layer(rig, layer, __func__) && !exi_domain_of(rig, layer)->curved;
}

bool ex_rig_layer_has_forms(const ex_rig *rig, int layer) {
    return exi_rig_has_layer(rig, layer, __func__) && exi_domain_of(rig, layer)->targets;
}

void ex_rig_example_delta(const ex_rig *rig, int layer, int example, float *delta) {
    if (!exi_rig_has_example(rig, layer, example, __func__))
        return;
    const exi_domain *domain = exi_domain_of(rig, layer);
    if (domain->delta)
        domain->delta(rig, layer, example, delta);
    else
        exi_misuse(__func__, "the examples of this layer are not forms");
}

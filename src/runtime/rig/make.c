/*
 * Shared by creation and unpacking: memory that lasts while a rig is made, and the loops that call the domains of its
 * layers.
 */
#include "runtime/rig/make.h"

#include "runtime/base/result.h"
#include "runtime/rig/domains/domain.h"

#include <string.h>

/* ---- memory ---- */

/* Precedes kept memory, and keeps it aligned. */
typedef union kept_head {
    struct {
        void *next;
        size_t size;
    } is;
    char align[64];
} kept_head;

void *exi_making_keep(exi_making *m, size_t count, size_t size) {
    exi_size total = {.bytes = sizeof(kept_head)};
    exi_size_add(&total, count, size, 16);
    kept_head *head = total.overflow ? NULL : exi_allocate(m->allocator, total.bytes);
    if (!head)
        return NULL;
    memset(head, 0, total.bytes);
    head->is.next = m->kept;
    head->is.size = total.bytes;
    m->kept = head;
    return head + 1;
}

ex_result exi_making_open(exi_making *m, ex_error *error) {
    const size_t layers = (size_t)m->counts.layers, levels = (size_t)m->counts.levels + 1;
    m->layers = exi_making_keep(m, layers, sizeof *m->layers);
    m->weighers = exi_making_keep(m, layers, sizeof *m->weighers);
    m->weigher_sizes = exi_making_keep(m, layers, sizeof *m->weigher_sizes);
    m->note_sizes = exi_making_keep(m, (size_t)m->counts.notes, sizeof *m->note_sizes);
    m->levels = exi_making_keep(m, levels, sizeof *m->levels);
    m->normals = exi_making_keep(m, levels, sizeof *m->normals);
    m->tangents = exi_making_keep(m, levels, sizeof *m->tangents);
    m->parts = exi_making_keep(m, layers, sizeof *m->parts);
    if (m->layers && m->weighers && m->weigher_sizes && m->note_sizes && m->levels && m->normals && m->tangents &&
        m->parts)
        return EX_OK;
    m->parts = NULL; /* there is nothing to close */
    return ex_error_memory(error, "making a rig", layers * sizeof *m->layers);
}

void exi_making_close(exi_making *m) {
    for (int l = 0; m->parts && l < m->counts.layers; l++) {
        ex_weigher_destroy(m->weighers[l]);
        exi_block_destroy(m->parts[l]);
    }
    for (int i = 0; m->parts && i <= m->counts.levels; i++) {
        ex_normals_destroy(m->normals[i]);
        ex_tangents_destroy(m->tangents[i]);
    }
    for (int d = 0; d < EX_DOMAIN_COUNT; d++)
        if (m->own[d] && exi_domains[d]->close)
            exi_domains[d]->close(m);
    ex_skeleton_destroy(m->skeleton);
    while (m->kept) {
        kept_head *head = m->kept;
        m->kept = head->is.next;
        exi_release(m->allocator, head, head->is.size);
    }
}

/* ---- domains ---- */

ex_result exi_making_layers(exi_making *m, ex_error *error) {
    ex_result result = EX_OK;
    for (int l = 0; result == EX_OK && l < m->counts.layers; l++) {
        const exi_domain *domain = exi_domains[m->layers[l].domain];
        if (m->def && domain->make)
            result = ex_error_within(error, domain->make(m, l, error), "layer '%s'", m->def->layers[l].name);
        else if (!m->def && domain->read)
            result = domain->read(m, l, error);
    }
    for (int d = 0; result == EX_OK && d < EX_DOMAIN_COUNT; d++)
        if (m->own[d] && exi_domains[d]->finish)
            result = exi_domains[d]->finish(m, error);
    return result;
}

ex_result exi_making_fill(exi_making *m, ex_rig *rig, ex_error *error) {
    ex_result result = EX_OK;
    for (int l = 0; result == EX_OK && l < m->counts.layers; l++)
        if (exi_domains[m->layers[l].domain]->fill)
            result = exi_domains[m->layers[l].domain]->fill(m, rig, l, error);
    return result;
}

uint32_t exi_making_add_string(exi_making *m, ex_rig *rig, const char *text) {
    const uint32_t start = m->string_cursor;
    const size_t size = strlen(text) + 1;
    memcpy((char *)exi_rig_at_mut(rig, rig->strings) + start, text, size);
    m->string_cursor += (uint32_t)size;
    return start;
}

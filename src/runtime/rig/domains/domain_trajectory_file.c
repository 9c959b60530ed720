/*
 * Trajectory layers in files: the data they were made from. Displacement velocities are computed again when the rig is
 * loaded. Sizes follow from the head of a layer, which is checked when it is taken; everything else is checked when
 * trajectories are laid out and filled (shape/trajectory_create.c).
 */
#include "runtime/base/result.h"
#include "runtime/rig/domains/domain.h"

#include <string.h>

/* ---- writing ---- */

/* Curves of the examples' correctors. */
static uint64_t curve_count(const exi_trajectories *p) {
    return p->mixture.node_count > 0 ? 0 : (uint64_t)p->corrector_count;
}

static bool size_layer(const ex_rig *rig, int layer, int example, uint64_t *size) {
    (void)example;
    const exi_trajectories *p = exi_rig_trajectories_of(rig, layer);
    const uint64_t examples = (uint64_t)p->example_count, segments = (uint64_t)p->segment_count;
    *size = sizeof(exi_pack_trajectories) + examples * sizeof(exi_pack_trajectory);
    *size += p->overlaps ? examples * examples * sizeof(float) : 0;
    *size += curve_count(p) * EX_CURVE_SIZE * sizeof(float);
    *size += (uint64_t)p->based_count * segments * 6 * sizeof(float);
    *size += segments * sizeof(int32_t) + (segments > 0 ? (uint64_t)p->vertex_count * sizeof(uint16_t) : 0);
    return true;
}

static char *append(char *out, const void *from, size_t count, size_t size) {
    if (count > 0)
        memcpy(out, from, count * size);
    return out + count * size;
}

static void write_layer(const ex_rig *rig, int layer, int example, void *out) {
    (void)example;
    const exi_trajectories *p = exi_rig_trajectories_of(rig, layer);
    const size_t examples = (size_t)p->example_count, segments = (size_t)p->segment_count;
    exi_pack_trajectories head = {
        .reference = p->reference,
        .segments = p->segment_count,
        .flags = (p->overlaps ? EXI_PACK_OVERLAPS : 0u) | (p->mask ? EXI_PACK_MASK : 0u) |
                 (p->mixture.node_count > 0 ? EXI_PACK_MIXTURE : 0u),
    };
    memcpy(head.centre, p->centre, sizeof head.centre);
    char *to = append(out, &head, 1, sizeof head);
    for (size_t k = 0; k < examples; k++) {
        const exi_trajectory_example *e = &exi_trajectories_examples(p)[k];
        const exi_pack_trajectory path = {.screw = e->screw,
                                          .correctors = e->corrector_count,
                                          .flags = e->flags & (EXI_PATHS_TURNS | EXI_PATHS_BASES)};
        to = append(to, &path, 1, sizeof path);
    }
    to = append(to, exi_trajectories_at(p, p->overlaps), p->overlaps ? examples * examples : 0, sizeof(float));
    to = append(to, exi_trajectories_at(p, p->curves), (size_t)curve_count(p), EX_CURVE_SIZE * sizeof(float));
    to = append(to, exi_trajectories_at(p, p->bases), (size_t)p->based_count * segments, 6 * sizeof(float));
    to = append(to, exi_trajectories_at(p, p->parents), segments, sizeof(int32_t));
    append(to, exi_trajectories_at(p, p->segments), segments > 0 ? (size_t)p->vertex_count : 0, sizeof(uint16_t));
}

static bool size_turns(const ex_rig *rig, int layer, int example, uint64_t *size) {
    *size = (uint64_t)rig->counts.vertices * 3 * sizeof(float);
    return exi_trajectories_examples(exi_rig_trajectories_of(rig, layer))[example].turns >= 0;
}

static void write_turns(const ex_rig *rig, int layer, int example, void *out) {
    ex_rig_example_turns(rig, layer, example, out);
}

static bool size_correctors(const ex_rig *rig, int layer, int example, uint64_t *size) {
    const int count = exi_trajectories_examples(exi_rig_trajectories_of(rig, layer))[example].corrector_count;
    *size = (uint64_t)count * (uint64_t)rig->counts.vertices * 3 * sizeof(float);
    return count > 0;
}

static void write_correctors(const ex_rig *rig, int layer, int example, void *out) {
    const exi_trajectories *p = exi_rig_trajectories_of(rig, layer);
    for (int j = 0; j < exi_trajectories_examples(p)[example].corrector_count; j++)
        exi_trajectories_get_corrector(p, exi_rig_forms(rig), example, j,
                                       (float *)out + (size_t)j * 3 * (size_t)p->vertex_count);
}

static bool size_mask(const ex_rig *rig, int layer, int example, uint64_t *size) {
    (void)example;
    *size = (uint64_t)rig->counts.vertices * sizeof(float);
    return exi_rig_trajectories_of(rig, layer)->mask != 0;
}

static void write_mask(const ex_rig *rig, int layer, int example, void *out) {
    (void)example;
    ex_rig_layer_mask(rig, layer, out);
}

static uint64_t mixture_size(const exi_pack_mixture *m, int example_count, int vertex_count) {
    const uint64_t nodes = (uint64_t)m->nodes, edges = (uint64_t)m->edges, terms = (uint64_t)m->terms;
    const uint64_t correctors = (uint64_t)m->correctors, vertices = (uint64_t)vertex_count;
    return sizeof *m + (1 + 2 * (uint64_t)example_count) * nodes * 3 * sizeof(float) +
           edges * (sizeof(float) + 2 * sizeof(uint16_t)) +
           terms * (sizeof(ex_mixture_term) + correctors * sizeof(float)) +
           vertices * (EX_NODE_SHARES * (sizeof(float) + sizeof(uint16_t)) + correctors * 3 * sizeof(float));
}

static exi_pack_mixture mixture_head(const exi_trajectories *p) {
    return (exi_pack_mixture){.nodes = p->mixture.node_count,
                              .edges = p->mixture.edge_count,
                              .terms = p->mixture.term_count,
                              .correctors = p->mixture.corrector_count};
}

static bool size_mixture(const ex_rig *rig, int layer, int example, uint64_t *size) {
    (void)example;
    const exi_trajectories *p = exi_rig_trajectories_of(rig, layer);
    const exi_pack_mixture head = mixture_head(p);
    *size = mixture_size(&head, p->example_count, p->vertex_count);
    return head.nodes > 0;
}

static void write_mixture(const ex_rig *rig, int layer, int example, void *out) {
    (void)example;
    const exi_trajectories *p = exi_rig_trajectories_of(rig, layer);
    const exi_mixture *m = &p->mixture;
    const exi_pack_mixture head = mixture_head(p);
    const size_t nodes = 3 * (size_t)m->node_count, edges = (size_t)m->edge_count, terms = (size_t)m->term_count;
    const size_t shares = EX_NODE_SHARES * (size_t)p->vertex_count;
    char *to = append(out, &head, 1, sizeof head);
    to = append(to, exi_trajectories_at(p, m->given_places), (size_t)m->corner_count * nodes, sizeof(float));
    to = append(to, exi_trajectories_at(p, m->given_turns), (size_t)p->example_count * nodes, sizeof(float));
    to = append(to, exi_trajectories_at(p, m->edge_weights), edges, sizeof(float));
    to = append(to, exi_trajectories_at(p, m->edges), edges, 2 * sizeof(uint16_t));
    to = append(to, exi_trajectories_at(p, m->terms), terms, sizeof(ex_mixture_term));
    to = append(to, exi_trajectories_at(p, m->curves), (size_t)m->corrector_count * terms, sizeof(float));
    to = append(to, exi_trajectories_at(p, m->shares), shares, sizeof(float));
    to = append(to, exi_trajectories_at(p, m->nodes), shares, sizeof(uint16_t));
    for (int j = 0; j < m->corrector_count; j++, to += (size_t)p->vertex_count * 3 * sizeof(float))
        exi_trajectories_get_corrector(p, exi_rig_forms(rig), -1, j, (float *)(void *)to);
}

/* ---- taking sections ---- */

static exi_pack_trajectories read_head(const exi_unpack *u, int layer) {
    exi_pack_trajectories head;
    memcpy(&head, exi_unpack_find(u, EX_SECTION_TRAJECTORIES, layer, NULL), sizeof head);
    return head;
}

static exi_pack_trajectory read_path(const exi_unpack *u, int layer, int example) {
    exi_pack_trajectory path;
    memcpy(&path,
           exi_unpack_find(u, EX_SECTION_TRAJECTORIES, layer, NULL) + sizeof(exi_pack_trajectories) +
               (size_t)example * sizeof path,
           sizeof path);
    return path;
}

/* True if counts and flags are valid, and the section has the size that they require. */
static bool sound_layer(const exi_unpack *u, int layer, int example_count) {
    const exi_pack_trajectories head = read_head(u, layer);
    if (head.segments < 0 || head.segments > EX_SEGMENT_MAX ||
        head.flags > (EXI_PACK_OVERLAPS | EXI_PACK_MASK | EXI_PACK_MIXTURE) || head.reserved != 0 ||
        head.reference < -1 || head.reference >= example_count)
        return false;
    const uint64_t examples = (uint64_t)example_count, segments = (uint64_t)head.segments;
    uint64_t size = sizeof head + examples * sizeof(exi_pack_trajectory);
    size += head.flags & EXI_PACK_OVERLAPS ? examples * examples * sizeof(float) : 0;
    size += segments * sizeof(int32_t) + (segments > 0 ? (uint64_t)u->counts.vertices * sizeof(uint16_t) : 0);
    for (int k = 0; k < example_count; k++) {
        const exi_pack_trajectory path = read_path(u, layer, k);
        if (path.correctors < 0 || path.correctors > EX_CORRECTOR_MAX ||
            path.flags > (EXI_PATHS_TURNS | EXI_PATHS_BASES) ||
            ((k == head.reference || head.flags & EXI_PACK_MIXTURE) && (path.correctors > 0 || path.flags != 0)))
            return false;
        size += (uint64_t)path.correctors * EX_CURVE_SIZE * sizeof(float);
        size += path.flags & EXI_PATHS_BASES ? segments * 6 * sizeof(float) : 0;
    }
    exi_pack_entry entry;
    exi_unpack_find(u, EX_SECTION_TRAJECTORIES, layer, &entry);
    return entry.size == size;
}

static bool take_layer(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    (void)example;
    const int examples = exi_unpack_layer(u, layer).example_count;
    if (!exi_unpack_take_least(u, EX_SECTION_TRAJECTORIES, index,
                               sizeof(exi_pack_trajectories) + (uint64_t)examples * sizeof(exi_pack_trajectory), error))
        return false;
    if (sound_layer(u, layer, examples))
        return true;
    exi_unpack_unsound(error, "trajectories");
    return false;
}

/* Takes `count` triples for every vertex; with 0, there is no section. */
static bool take_triples(exi_unpack *u, ex_section_kind kind, int index, int count, ex_error *error) {
    const uint64_t triples = (uint64_t)u->counts.vertices * 3 * sizeof(float);
    return count == 0 || exi_unpack_take(u, kind, index, (uint64_t)count * triples, error);
}

static bool take_turns(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    return take_triples(u, EX_SECTION_TURNS, index, (read_path(u, layer, example).flags & EXI_PATHS_TURNS) != 0, error);
}

static bool take_correctors(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    return take_triples(u, EX_SECTION_CORRECTORS, index, read_path(u, layer, example).correctors, error);
}

static bool take_mask(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    (void)example;
    return !(read_head(u, layer).flags & EXI_PACK_MASK) ||
           exi_unpack_take(u, EX_SECTION_MASK, index, (uint64_t)u->counts.vertices * sizeof(float), error);
}

static bool take_mixture(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    (void)example;
    exi_pack_mixture head;
    exi_pack_entry entry;
    if (!(read_head(u, layer).flags & EXI_PACK_MIXTURE))
        return true;
    if (!exi_unpack_take_least(u, EX_SECTION_MIXTURE, index, sizeof head, error))
        return false;
    memcpy(&head, exi_unpack_find(u, EX_SECTION_MIXTURE, index, &entry), sizeof head);
    if (head.nodes >= 1 && head.nodes <= EX_NODE_MAX && head.edges >= 0 && head.edges <= EX_NODE_EDGE_MAX &&
        head.terms >= 0 && head.terms <= EX_MIXTURE_TERM_MAX && head.correctors >= 0 &&
        head.correctors <= EX_MIXTURE_CORRECTOR_MAX &&
        entry.size == mixture_size(&head, exi_unpack_layer(u, layer).example_count, u->counts.vertices))
        return true;
    exi_unpack_unsound(error, "mixtures");
    return false;
}

const exi_domain_section exi_trajectory_sections[EXI_TRAJECTORY_SECTIONS] = {
    {EX_SECTION_TARGET, false, exi_target_size, exi_target_write, exi_target_take},
    {EX_SECTION_TRAJECTORIES, true, size_layer, write_layer, take_layer},
    {EX_SECTION_TURNS, false, size_turns, write_turns, take_turns},
    {EX_SECTION_CORRECTORS, false, size_correctors, write_correctors, take_correctors},
    {EX_SECTION_MASK, true, size_mask, write_mask, take_mask},
    {EX_SECTION_MIXTURE, true, size_mixture, write_mixture, take_mixture},
};

/* ---- reading ---- */

/* Reads the example's trajectory; pointers has room for its correctors. */
static ex_trajectory read_example(const exi_unpack *u, const exi_pack_trajectory *path, int index,
                                  const float **pointers) {
    ex_trajectory out = {.screw = path->screw, .corrector_count = path->correctors, .correctors = pointers};
    if (path->flags & EXI_PATHS_TURNS)
        out.turns = (const void *)exi_unpack_find(u, EX_SECTION_TURNS, index, NULL);
    const float *numbers = (const void *)exi_unpack_find(u, EX_SECTION_CORRECTORS, index, NULL);
    for (int j = 0; j < path->correctors; j++)
        pointers[j] = numbers + (size_t)j * 3 * (size_t)u->counts.vertices;
    return out;
}

/* Reads the layer's mixture; pointers has room for its correctors. */
static ex_mixture read_mixture(const exi_unpack *u, int layer, const float **pointers) {
    const size_t examples = (size_t)exi_unpack_layer(u, layer).example_count, vertices = (size_t)u->counts.vertices;
    const char *from = exi_unpack_find(u, EX_SECTION_MIXTURE, layer, NULL);
    exi_pack_mixture head;
    memcpy(&head, from, sizeof head);
    const size_t nodes = 3 * (size_t)head.nodes * sizeof(float), edges = (size_t)head.edges, terms = (size_t)head.terms;
    ex_mixture m = {.node_count = head.nodes,
                    .edge_count = head.edges,
                    .term_count = head.terms,
                    .corrector_count = head.correctors,
                    .correctors = pointers};
    from += sizeof head;
    m.places = (const void *)from;
    from += (1 + examples) * nodes;
    m.turns = (const void *)from;
    from += examples * nodes;
    m.edge_weights = (const void *)from;
    from += edges * sizeof(float);
    m.edges = (const void *)from;
    from += edges * 2 * sizeof(uint16_t);
    m.terms = (const void *)from;
    from += terms * sizeof(ex_mixture_term);
    m.curves = (const void *)from;
    from += (size_t)head.correctors * terms * sizeof(float);
    m.shares = (const void *)from;
    from += vertices * EX_NODE_SHARES * sizeof(float);
    m.nodes = (const void *)from;
    from += vertices * EX_NODE_SHARES * sizeof(uint16_t);
    for (int j = 0; j < head.correctors; j++, from += vertices * 3 * sizeof(float))
        pointers[j] = (const void *)from;
    return m;
}

ex_result exi_trajectory_read(exi_making *m, int layer, exi_trajectories_def *def, ex_error *error) {
    const exi_unpack *u = m->file;
    const exi_layer_record *record = &m->layers[layer];
    const exi_pack_trajectories head = read_head(u, layer);
    const size_t examples = (size_t)record->example_count;
    ex_trajectory *entries = exi_making_keep(m, examples, sizeof *entries);
    const float **pointers = exi_making_keep(m, examples, EX_CORRECTOR_MAX * sizeof *pointers);
    if (!entries || !pointers)
        return ex_error_memory(error, "the rig's trajectories", examples * EX_CORRECTOR_MAX * sizeof *pointers);
    const char *from =
        exi_unpack_find(u, EX_SECTION_TRAJECTORIES, layer, NULL) + sizeof head + examples * sizeof(exi_pack_trajectory);
    def->vertex_count = u->counts.vertices;
    def->example_count = record->example_count;
    def->trajectories = entries;
    def->reference = head.reference;
    memcpy(def->centre, head.centre, sizeof def->centre);
    if (head.flags & EXI_PACK_OVERLAPS) {
        def->overlaps = (const void *)from;
        from += examples * examples * sizeof(float);
    }
    for (size_t k = 0; k < examples; k++) {
        const exi_pack_trajectory path = read_path(u, layer, (int)k);
        entries[k] = read_example(u, &path, exi_example_index(record, (int)k), pointers + k * EX_CORRECTOR_MAX);
        entries[k].curves = (const void *)from;
        from += (size_t)path.correctors * EX_CURVE_SIZE * sizeof(float);
    }
    for (size_t k = 0; k < examples; k++)
        if (read_path(u, layer, (int)k).flags & EXI_PATHS_BASES) {
            entries[k].bases = (const void *)from;
            from += (size_t)head.segments * 6 * sizeof(float);
        }
    if (head.segments > 0)
        def->segments = (ex_segments){.count = head.segments,
                                      .parents = (const void *)from,
                                      .vertices = (const void *)(from + (size_t)head.segments * sizeof(int32_t))};
    if (head.flags & EXI_PACK_MASK)
        def->mask = (const void *)exi_unpack_find(u, EX_SECTION_MASK, layer, NULL);
    if (head.flags & EXI_PACK_MIXTURE) {
        const float **correctors = exi_making_keep(m, EX_MIXTURE_CORRECTOR_MAX, sizeof *correctors);
        if (!correctors)
            return ex_error_memory(error, "the rig's mixture", EX_MIXTURE_CORRECTOR_MAX * sizeof *correctors);
        def->mixture = read_mixture(u, layer, correctors);
    }
    return EX_OK;
}

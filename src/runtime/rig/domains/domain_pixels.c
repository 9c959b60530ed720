/*
 * Textures: texture = first image + sum over its layers of sum over k of w_k (image_k - first image). This is one sum
 * of images: the first has weight 1 - sum of all w, plus its own.
 */
#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include "runtime/rig/domains/domain.h"
#include "runtime/shape/pixels.h"

#include <string.h>

/* Pixels per task. */
enum { BLOCK = 16384 };

static ex_result check(const ex_layer_def *layer, const ex_rig_def *def, ex_error *error) {
    const ex_layer_pixels *own = &layer->pixels;
    if (!own->texture || !exi_is_name(own->texture))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a layer of pixels needs the name of its texture");
    if (own->width < 1 || own->height < 1 || own->width > EXI_TEXTURE_MAX || own->height > EXI_TEXTURE_MAX)
        return ex_error_set(error, EX_ERROR_DATA, "an image cannot have %d x %d pixels: 1 to %d per side are allowed",
                            own->width, own->height, EXI_TEXTURE_MAX);
    if (layer->mask || layer->form.deltas || layer->form.shifts)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a layer of pixels takes images, not forms, a mask or joints");
    for (int k = 0; k < layer->weigh.example_count; k++)
        if (!own->images || !own->images[k])
            return ex_error_set(error, EX_ERROR_ARGUMENT, "example '%s' has no image", layer->example_names[k]);
    for (const ex_layer_def *other = def->layers; other < layer; other++)
        if (other->domain == EX_DOMAIN_PIXELS && strcmp(other->pixels.texture, own->texture) == 0 &&
            (other->pixels.width != own->width || other->pixels.height != own->height))
            return ex_error_set(
                error, EX_ERROR_DATA, "its images of '%s' are %d x %d pixels, but those of layer '%s' are %d x %d",
                own->texture, own->width, own->height, other->name, other->pixels.width, other->pixels.height);
    return EX_OK;
}

/* ---- creation ---- */

/* A texture is defined by the first layer that names it. */
static ex_result make(exi_making *m, int layer, ex_error *error) {
    (void)error;
    const ex_layer_def *layers = m->def->layers;
    for (int l = 0; l < layer; l++)
        if (layers[l].domain == EX_DOMAIN_PIXELS &&
            strcmp(layers[l].pixels.texture, layers[layer].pixels.texture) == 0) {
            m->layers[layer].texture = m->layers[l].texture;
            return EX_OK;
        }
    m->layers[layer].texture = m->counts.textures++;
    m->string_size += strlen(layers[layer].pixels.texture) + 1;
    return EX_OK;
}

static size_t image_size(const exi_making *m, int layer, int example) {
    exi_pack_entry entry;
    if (m->def)
        return (size_t)m->def->layers[layer].pixels.width * (size_t)m->def->layers[layer].pixels.height * 4;
    exi_unpack_find(m->file, EX_SECTION_IMAGE, exi_example_index(&m->layers[layer], example), &entry);
    return (size_t)entry.size;
}

static void place(exi_making *m, exi_placing *p) {
    p->head.images = exi_place(p, m->counts.examples, sizeof(uint64_t));
    uint64_t *images = p->rig ? exi_rig_at_mut(p->rig, p->rig->images) : NULL;
    for (int l = 0; l < m->counts.layers; l++)
        for (int k = 0; m->layers[l].texture >= 0 && k < m->layers[l].example_count; k++) {
            const uint64_t at = exi_size_add(&p->total, image_size(m, l, k), 1, 16);
            if (images)
                images[exi_example_index(&m->layers[l], k)] = at;
        }
}

/* True for colour textures, which are blended in linear light; other textures of a material are data. */
/* The use of a texture comes after the material that it is for, if it names one: "skin/base_color". */
static bool is_colour(const char *texture) {
    const char *slash = strrchr(texture, '/');
    texture = slash ? slash + 1 : texture;
    return strcmp(texture, "base_color") == 0 || strcmp(texture, "emissive") == 0;
}

static ex_result fill(exi_making *m, ex_rig *rig, int layer, ex_error *error) {
    (void)error;
    const exi_layer_record *record = &m->layers[layer];
    exi_texture_record *texture = (exi_texture_record *)exi_rig_at_mut(rig, rig->textures) + record->texture;
    if (m->def && texture->width == 0) {
        const ex_layer_pixels *own = &m->def->layers[layer].pixels;
        *texture = (exi_texture_record){.name = exi_making_add_string(m, rig, own->texture),
                                        .width = own->width,
                                        .height = own->height,
                                        .srgb = is_colour(own->texture)};
    }
    const uint64_t *images = exi_rig_at(rig, rig->images);
    for (int k = 0; k < record->example_count; k++) {
        const int index = exi_example_index(record, k);
        const void *from = m->def ? (const void *)m->def->layers[layer].pixels.images[k]
                                  : exi_unpack_find(m->file, EX_SECTION_IMAGE, index, NULL);
        memcpy(exi_rig_at_mut(rig, images[index]), from, image_size(m, layer, k));
    }
    return EX_OK;
}

/* ---- files ---- */

/* Textures are in order of first appearance. */
static bool sound(exi_layer_record *layer, int texture_count) {
    const bool is = layer->texture >= 0 && layer->texture <= texture_count;
    layer->texture = -1;
    return is;
}

static bool size_image(const ex_rig *rig, int layer, int example, uint64_t *size) {
    (void)example;
    const exi_texture_record *texture = &exi_rig_textures(rig)[exi_rig_layers(rig)[layer].texture];
    *size = (uint64_t)texture->width * (uint64_t)texture->height * 4;
    return true;
}

static void write_image(const ex_rig *rig, int layer, int example, void *out) {
    uint64_t size = 0;
    size_image(rig, layer, example, &size);
    memcpy(out, ex_rig_example_image(rig, layer, example), (size_t)size);
}

static bool take_image(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    (void)example;
    const exi_texture_record texture = exi_unpack_texture(u, exi_unpack_layer(u, layer).texture);
    return exi_unpack_take(u, EX_SECTION_IMAGE, index, (uint64_t)texture.width * (uint64_t)texture.height * 4, error);
}

static const exi_domain_section sections[] = {{EX_SECTION_IMAGE, false, size_image, write_image, take_image}};

/* ---- evaluation ---- */

typedef struct painting {
    const exi_pixels_term *terms;
    int term_count;
    bool srgb;
    size_t pixel_count;
    unsigned char *out;
} painting;

static void paint_range(void *context, int begin, int end) {
    const painting *p = context;
    size_t first = (size_t)begin * BLOCK, last = (size_t)end * BLOCK;
    exi_pixels_blend(p->terms, p->term_count, p->srgb, first, last < p->pixel_count ? last : p->pixel_count, p->out);
}

/* Collects the images of a texture with non-zero weights at this pose; returns their number. */
static int gather_terms(const exi_rig_job *j, int pose, int texture, exi_pixels_term *terms) {
    const uint64_t *images = exi_rig_at(j->rig, j->rig->images);
    const double *weights = j->scratch[pose].weights;
    double sum = 0, own = 0;
    int count = 0;
    for (int l = 0; l < j->rig->counts.layers; l++) {
        const exi_layer_record *layer = &exi_rig_layers(j->rig)[l];
        for (int k = 0; layer->texture == texture && k < layer->example_count; k++) {
            const int example = exi_example_index(layer, k);
            sum += weights[example];
            if (count == 0)
                own = weights[example];
            if (count == 0 || (float)weights[example] != 0)
                terms[count++] =
                    (exi_pixels_term){.image = exi_rig_at(j->rig, images[example]), .weight = (float)weights[example]};
        }
    }
    terms[0].weight = (float)(own + (1 - sum));
    return count;
}

static void paint(const exi_rig_job *j, int pose) {
    unsigned char *const *outputs = j->outputs[pose].textures;
    for (int i = 0; i < j->rig->counts.textures; i++) {
        if (!outputs[i])
            continue;
        const exi_texture_record *texture = &exi_rig_textures(j->rig)[i];
        painting p = {.terms = j->shared,
                      .term_count = gather_terms(j, pose, i, j->shared),
                      .srgb = texture->srgb != 0,
                      .pixel_count = (size_t)texture->width * (size_t)texture->height,
                      .out = outputs[i]};
        exi_run(j->tasks, (int)((p.pixel_count + BLOCK - 1) / BLOCK), 1, paint_range, &p);
    }
}

static size_t shared(const ex_rig *rig, int level) {
    (void)level;
    return (size_t)rig->counts.examples * sizeof(exi_pixels_term);
}

/* ---- access ---- */

const unsigned char *ex_rig_example_image(const ex_rig *rig, int layer, int example) {
    if (!exi_rig_has_example(rig, layer, example, __func__) || exi_rig_layers(rig)[layer].texture < 0)
        return NULL;
    const uint64_t *images = exi_rig_at(rig, rig->images);
    return exi_rig_at(rig, images[exi_example_index(&exi_rig_layers(rig)[layer], example)]);
}

const exi_domain exi_domain_pixels = {.stage = EX_STAGE_TEXTURE,
                                      .gpu = true,
                                      .check = check,
                                      .make = make,
                                      .place = place,
                                      .fill = fill,
                                      .sound = sound,
                                      .sections = sections,
                                      .section_count = 1,
                                      .shared = shared,
                                      .paint = paint};

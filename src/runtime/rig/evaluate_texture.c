/*
 * Textures at a pose: texture = first image + sum over its layers of sum over k of w_k (image_k - first image), which
 * is one sum of images: the first has weight 1 - sum of all w, plus its own.
 */
#include "runtime/base/memory.h"
#include "runtime/rig/evaluate.h"
#include "runtime/shape/pixels.h"

/* Pixels in a task. */
enum { BLOCK = 16384 };

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

/* The images of a texture that count at this pose; returns how many. */
static int gather_terms(const exi_rig_job *j, int pose, int texture, exi_pixels_term *terms) {
    const uint64_t *images = exi_rig_at(j->rig, j->rig->images);
    const double *weights = j->scratch[pose].weights;
    double sum = 0, own = 0;
    int count = 0;
    for (int l = 0; l < j->rig->counts.layers; l++) {
        const exi_layer_record *layer = &exi_rig_layers(j->rig)[l];
        for (int k = 0; layer->texture == texture && k < layer->example_count; k++) {
            const int example = layer->first_example + k;
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

void exi_rig_textures_blend(const exi_rig_job *j, int pose) {
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

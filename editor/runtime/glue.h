/*
 * glue.h - what the files of the glue share. The runtime as a page sees it: numbers and addresses in WebAssembly's
 * memory, no structs but those of numbers of one kind. The JavaScript beside it is its only caller and checks every
 * index; nothing here prints, opens or waits.
 *
 * A rig with what a page changes of it (replaced weighers, muted layers), a pose, and a surface (where results go, with
 * the scratch that evaluating them takes) are three kinds of object, each released by its caller. What can fail returns
 * 0, and error_text has the sentence: there is one instance a page and one thread an instance.
 */
#ifndef GLUE_H
#define GLUE_H

#include <exemplar/exemplar.h>

#define EXPORT(name) __attribute__((export_name(#name))) name

/* What a rig and its twins share. */
typedef struct page_block {
    ex_rig *rig;
    int users;
    bool shifted; /* an example brings its own skeleton */
} page_block;

typedef struct page_rig {
    page_block *block;
    const ex_rig *rig;   /* the block's */
    ex_weigher **edited; /* [layer_count], each NULL where the rig's own holds */
    bool *muted;         /* [layer_count] */
} page_rig;

/* The error of the last call that failed. */
extern ex_error glue_error;

/* Notes what is wrong; false. */
bool glue_failed(ex_result result, const char *text);
/* Zeros of at least a byte, so that NULL means what it says: that there is no memory, which is then noted. */
void *glue_zeros(size_t count, size_t size);
/* Vertices of the driver; 0 where there is none. */
int glue_driver_count(const ex_rig *rig);

/* The layer's weigher as it is now, edits included. */
static inline const ex_weigher *glue_weigher(const page_rig *r, int layer) {
    return r->edited[layer] ? r->edited[layer] : ex_rig_weigher(r->rig, layer);
}

/* The layer's weigher as it is now, solved once more; NULL where there is no memory. */
ex_weigher *glue_copy(const page_rig *r, int layer);

#endif

/*
 * glue.h - shared by the files of the glue. It offers the runtime to a page as numbers and addresses in WebAssembly's
 * memory, with no structs but those of numbers of one kind. The JavaScript next to it is its only caller and checks
 * every index; nothing here prints, opens or waits.
 *
 * There are three kinds of object, each released by its caller: a rig with the page's changes (replaced weighers, muted
 * layers), a pose, and a surface (output arrays, with the scratch for evaluating them). A function that fails returns
 * 0, and error_text has the sentence: there is one instance per page and one thread per instance.
 */
#ifndef GLUE_H
#define GLUE_H

#include <exemplar/exemplar.h>

#define EXPORT(name) __attribute__((export_name(#name))) name

/* Shared by a rig and its twins. */
typedef struct page_block {
    ex_rig *rig;
    int users;
    bool shifted; /* true if an example has its own skeleton */
} page_block;

typedef struct page_rig {
    page_block *block;
    const ex_rig *rig;   /* owned by the block */
    ex_weigher **edited; /* [layer_count], each NULL for the rig's own weigher */
    bool *muted;         /* [layer_count] */
} page_rig;

/* The error of the last call that failed. */
extern ex_error glue_error;

/* Notes an error; returns false. */
bool glue_failed(ex_result result, const char *text);
/* Allocates zeros, at least one byte, so that NULL always means out of memory, which is then noted. */
void *glue_zeros(size_t count, size_t size);
/* Number of vertices of the driver; 0 if there is none. */
int glue_driver_count(const ex_rig *rig);

/* The layer's present weigher, including edits. */
static inline const ex_weigher *glue_weigher(const page_rig *r, int layer) {
    return r->edited[layer] ? r->edited[layer] : ex_rig_weigher(r->rig, layer);
}

/* The layer's present weigher, solved once more; NULL if out of memory. */
ex_weigher *glue_copy(const page_rig *r, int layer);

#endif

/*
 * frame_tree.h - signs of the rotations of a driver's moving frames; private to the libraries.
 */
#ifndef EXI_FRAME_TREE_H
#define EXI_FRAME_TREE_H

#include <exemplar/pose.h>
#include <exemplar/shape.h>

/* A frame, and the frame next to it; -1 for none. */
typedef struct exi_frame_link {
    int32_t frame, parent;
} exi_frame_link;

/* Returns the bytes of room for exi_frame_tree_make; SIZE_MAX if there are too many frames. */
size_t exi_frame_tree_room(int frame_count);

/* Links each frame to one that it shares vertices with, parents first: links [frame_count]. carry has `rows` vertices;
 * without starts, frame 0 moves all. */
void exi_frame_tree_make(const ex_influences *carry, size_t rows, int frame_count, exi_frame_link *links, void *room);

/* Gives every rotation of a palette of dual quaternions the sign that is nearer to its parent's. */
void exi_frame_tree_follow(const exi_frame_link *links, ex_palette *palette);

#endif

/*
 * frame.h - one camera for several forms: without perspective, so that sizes compare, and as near as all of them allow.
 * Private to authoring and the tool.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_RENDER_FRAME_H
#define EXEMPLAR_AUTHOR_PICTURE_RENDER_FRAME_H

#include <exemplar/author/picture.h>

/* What has to be in view: a box, and how far the forms reach to the right and upwards as the camera sees them. */
typedef struct exi_frame {
    double yaw, pitch;
    double right[3], up[3];
    double box[6];
    double across[2], along[2];
} exi_frame;

exi_frame exi_frame_start(double yaw, double pitch);
/* Takes a form [count][3] into view; false where it is not finite. */
bool exi_frame_add(exi_frame *frame, const float *positions, int count);

/* The camera; and the size of a picture of `size` pixels along its longer side that suits the forms. */
ex_camera exi_frame_camera(const exi_frame *frame, int size, int *width, int *height);

/* The first line of a picture on which something is seen, and the one after the last; its height and 0 where nothing
 * is. */
int exi_image_first_line(const ex_image *image);
int exi_image_end_line(const ex_image *image);

#endif

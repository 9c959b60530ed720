/* pictures.h - meshes to render, and functions that measure a picture: lightness, and positions of objects. */
#ifndef EXEMPLAR_TESTS_PICTURES_H
#define EXEMPLAR_TESTS_PICTURES_H

#include <exemplar/author/picture.h>

/* A ball of quads (triangles at its poles) with the poles up and down; a box; a rectangle that faces +z, of columns by
 * rows quads, with texture coordinates from 0 to 1. They fail the test if out of memory. */
ex_mesh *ball_mesh(double radius, double x, double y, double z, int around);
ex_mesh *box_mesh(const double low[3], const double high[3]);
ex_mesh *sheet_mesh(double width, double height, int columns, int rows);
/* Reverses every face. */
void turn_faces(ex_mesh *mesh);

/* A small picture of one form: 64 by 64, from the front, parallel, no ground, no occlusion, transparent background. */
ex_render_item item_of(const ex_mesh *mesh);
ex_render_def plain_def(const ex_render_item *items, int item_count);
/* Renders the picture; if that fails, the test fails with the sentence. */
ex_image *picture_of(const ex_render_def *def);

/* A pixel's channel; the mean of its three colours. */
int channel_at(const ex_image *image, int x, int y, int channel);
double light_at(const ex_image *image, int x, int y);
/* Number of pixels covered, by their alpha, and their middle. */
double covered(const ex_image *image, double *x, double *y);
/* The middle of the pixels that are much redder than green; false if there are none. */
bool red_middle(const ex_image *image, double *x, double *y);

#endif

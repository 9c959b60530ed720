/*
 * Cuts a polygon in the plane into triangles.
 */
#ifndef EXI_MESH_EARS_H
#define EXI_MESH_EARS_H

/* Scratch memory for one polygon at a time. */
typedef struct exi_ear_clipper exi_ear_clipper;

/* Makes the memory for polygons of up to `most` corners; NULL without memory. */
exi_ear_clipper *exi_ears_create(int most);
void exi_ears_destroy(exi_ear_clipper *clipper);

/* Returns the places of the corners [most][2], counter-clockwise, to be filled before clipping. */
double (*exi_ears_points(exi_ear_clipper *clipper))[2];

/* Writes the count - 2 triangles of a polygon of at least 3 corners, with `first` added to every corner. */
void exi_ears_clip(exi_ear_clipper *clipper, int first, int count, int *triangles);

#endif

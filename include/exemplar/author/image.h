/*
 * exemplar/author/image.h - image files: reads textures (PNG, JPEG), writes textures and renderings (PNG), still or
 * moving.
 *
 * An ex_image is plain data that its holder may change: rows from the top, red green blue alpha, 8 bits each, colours
 * in sRGB as in files. The runtime blends textures in linear light (exemplar/rig.h).
 */
#ifndef EXEMPLAR_AUTHOR_IMAGE_H
#define EXEMPLAR_AUTHOR_IMAGE_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of pixels along one side. */
#define EX_IMAGE_MAX 32768
/* Maximum number of pixels in a file: 1 GB of memory. */
#define EX_IMAGE_PIXELS (1 << 28)
/* Number of pixels that any file may have, 8192 x 8192. A file of more needs a byte for each EX_IMAGE_PIXELS_PER_BYTE
 * of them: a small file that takes a gigabyte holds one colour, or is made to do harm. */
#define EX_IMAGE_PIXELS_SURE     (1 << 26)
#define EX_IMAGE_PIXELS_PER_BYTE 16
/* The same for JPEG, which packs soft pictures tighter. */
#define EX_IMAGE_JPEG_PIXELS_PER_BYTE 64

/* An image in memory. */
typedef struct ex_image {
    int width, height;
    unsigned char *pixels; /* [height][width][4] */
} ex_image;

/* Makes a transparent black image; NULL without memory. */
EX_API ex_image *ex_image_create(int width, int height);
EX_API void ex_image_destroy(ex_image *image);

/* Read a PNG or a JPEG of any kind, recognised by its first bytes: grey, palette and 16-bit images become 8-bit red
 * green blue alpha; alpha is 255 if the file has none. Colours are taken as sRGB, and the inks of a CMYK file are
 * multiplied. Other formats are named in the error. Results: FORMAT, LIMIT, MEMORY, FILE; the file is named. */
EX_API ex_result ex_image_read(const char *path, ex_image **image, ex_error *error);
EX_API ex_result ex_image_parse(const void *bytes, size_t size, const char *name, ex_image **image, ex_error *error);

/* Facts about an image file. */
typedef struct ex_image_facts {
    int width, height;
    bool opaque; /* every pixel has alpha 255 */
} ex_image_facts;

/* Reads and checks a whole image row by row: takes memory for one row, whatever the size. A progressive JPEG takes 2 to
 * 6 bytes a pixel. Results: as ex_image_read. */
EX_API ex_result ex_image_measure(const char *path, ex_image_facts *facts, ex_error *error);

/* Write a PNG, without an alpha channel if every pixel is opaque. The same image gives the same bytes. ex_image_encode
 * returns them in *bytes (release with free). */
EX_API ex_result ex_image_write(const char *path, const ex_image *image, ex_error *error);
EX_API ex_result ex_image_encode(const ex_image *image, unsigned char **bytes, size_t *size, ex_error *error);

/* ---- moving pictures ---- */

/* Limits of an animation. */
#define EX_ANIMATION_FRAME_MAX 100000
#define EX_ANIMATION_RATE_MIN  0.01
#define EX_ANIMATION_RATE_MAX  1000

/* Definition of an animated PNG (APNG), which browsers play in a loop without end. */
typedef struct ex_animation_def {
    int width, height; /* pixels of all frames */
    int frame_count;   /* at least 1, up to EX_ANIMATION_FRAME_MAX */
    double rate;       /* frames per second */
    bool full;         /* default false: at most 255 colours in all, for a small file; true: every colour, and alpha */
    const ex_image *const *samples; /* [sample_count] frames that the colours are chosen from; not used if full */
    int sample_count;
} ex_animation_def;

/* An animated PNG file that is being written. It belongs to one thread. */
typedef struct ex_animation ex_animation;

/*
 * Starts a file. Then add every frame, in order, and close. A frame is stored as the rectangle that differs from the
 * one before, so that a still background costs nothing. With a palette, a pixel may stay as it is if its colour would
 * change by less than can be seen. Memory: two frames, whatever their number. The same frames give the same bytes.
 * Results: ARGUMENT (a size, a rate, a number of frames or samples out of range), FILE, MEMORY.
 */
EX_API ex_result ex_animation_open(const ex_animation_def *def, const char *path, ex_animation **animation,
                                   ex_error *error);
/* Adds a frame, which the caller keeps. Results: ARGUMENT (another size, or too many frames), MEMORY. */
EX_API ex_result ex_animation_add(ex_animation *animation, const ex_image *frame, ex_error *error);
/* Ends the file, which now has its name, and releases the animation; on failure nothing was written. Results: ARGUMENT
 * (frames are missing), FILE, MEMORY. */
EX_API ex_result ex_animation_close(ex_animation *animation, ex_error *error);
/* Releases an animation without writing its file. NULL is fine. */
EX_API void ex_animation_abandon(ex_animation *animation);

#ifdef __cplusplus
}
#endif
#endif

/*
 * scenes.h - scenes for tests: one with everything in it, small glTF files as text and bytes, and a comparison of
 * scenes.
 */
#ifndef EXEMPLAR_TESTS_SCENES_H
#define EXEMPLAR_TESTS_SCENES_H

#include <exemplar/author/scene.h>

/* Two meshes (strips, colours, six influences, targets), a skin, two animations with all interpolations, materials with
 * raw JSON, textures, an image in bytes. */
ex_scene *scene_with_everything(void);

/* True if two scenes are equal to the bit, except for path and notes; prints the first difference to stderr. */
bool scenes_are_same(const ex_scene *a, const ex_scene *b);

/* A small glTF file: its JSON, which refers to one buffer, and that buffer. A skinned triangle with a morph target, a
 * sparse accessor, an animation. */
extern const char little_json[];
#define LITTLE_SIZE 324
void little_buffer(unsigned char buffer[LITTLE_SIZE]);

/* Both as .glb. Release with free. */
char *make_glb(const char *json, const void *bin, size_t bin_size, size_t *size);

/* The text with its first `find` replaced; fails the test if there is none. Release with free. */
char *replace_text(const char *text, const char *find, const char *by);

#endif

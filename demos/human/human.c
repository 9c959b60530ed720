/*
 * The demo `human`: a dressed person from MakeHuman (CC0), over gender, age, muscle and weight, with skins that blend,
 * expressions, sculpts at the joints and two clips. demos/data has what is part of the program: a rig without
 * pixels, images of skins and hair, and the layers of pixels. The rig is turned back into a project, and the layers of
 * pixels are added to it.
 */
#include "demos/demos.h"
#include "demos/human/person.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
#include <exemplar/author/project.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct stored {
    const char *name; /* of the file */
    const unsigned char *start, *end;
} stored;

#define STORED(symbol) extern const unsigned char exi_##symbol##_start[], exi_##symbol##_end[]
STORED(person);
STORED(pixels);
STORED(skin_female_child);
STORED(skin_female_young);
STORED(skin_female_old);
STORED(skin_male_child);
STORED(skin_male_young);
STORED(skin_male_old);
STORED(hair_child);
STORED(hair_young);
STORED(hair_old);
STORED(cloth_shirt);
STORED(cloth_trousers);

#define IMAGE(symbol)                                                                                                  \
    { #symbol ".jpg", exi_##symbol##_start, exi_##symbol##_end }
static const stored images[] = {IMAGE(skin_female_child), IMAGE(skin_female_young), IMAGE(skin_female_old),
                                IMAGE(skin_male_child),   IMAGE(skin_male_young),   IMAGE(skin_male_old),
                                IMAGE(hair_child),        IMAGE(hair_young),        IMAGE(hair_old)};
enum { IMAGES = sizeof images / sizeof *images };

static ex_result write_bytes(const char *directory, const char *name, const void *bytes, size_t size, ex_error *error) {
    char *path = exi_demo_path(directory, name);
    ex_file_writer writer;
    ex_result result = path ? ex_file_open(&writer, path, error) : ex_error_memory(error, "a path", strlen(name));
    if (result == EX_OK) {
        ex_file_write(&writer, bytes, size);
        result = ex_file_commit(&writer, error);
    }
    free(path);
    return result;
}

/* Writes the rig and turns it back into a project. */
static ex_result unpack(const char *directory, ex_error *error) {
    char *path = exi_demo_path(directory, "human.glb");
    ex_rig *rig = NULL;
    ex_result result =
        path ? write_bytes(directory, "human.glb", exi_person_start, (size_t)(exi_person_end - exi_person_start), error)
             : ex_error_memory(error, "a path", strlen(directory));
    if (result == EX_OK)
        result = ex_rig_read(path, NULL, &rig, error);
    if (result == EX_OK)
        result = ex_project_unpack(rig, directory, "human", true, error);
    ex_rig_destroy(rig);
    free(path);
    return result;
}

/* Adds the layers of demos/data/pixels.json, a list, to the beginning of the project's. */
static ex_result add_layers(const char *directory, ex_error *error) {
    static const char before[] = "\"layers\": [";
    const char *list = (const char *)exi_pixels_start + 1, *list_end = (const char *)exi_pixels_end;
    char *path = exi_demo_path(directory, "human.json"), *text = NULL, *whole = NULL;
    size_t size;
    ex_result result = path ? ex_file_read(path, &text, &size, error) : ex_error_memory(error, "a path", 0);
    while (list_end[-1] != '}') /* to the end of the last layer */
        list_end--;
    if (result == EX_OK) {
        const char *found = strstr(text, before);
        const size_t head = found ? (size_t)(found - text) + sizeof before - 1 : 0, added = (size_t)(list_end - list);
        whole = malloc(size + added + 1);
        if (!whole)
            result = ex_error_memory(error, "a project", size);
        else if (!found)
            result = ex_error_set(error, EX_ERROR_DATA, "%s: the project has no layers", path);
        else {
            memcpy(whole, text, head);
            memcpy(whole + head, list, added);
            whole[head + added] = ',';
            memcpy(whole + head + added + 1, text + head, size - head);
            result = write_bytes(directory, "human.json", whole, size + added + 1, error);
        }
    }
    free(whole);
    free(text);
    free(path);
    return result;
}

const void *exi_person_bytes(size_t *size) {
    *size = (size_t)(exi_person_end - exi_person_start);
    return exi_person_start;
}

const void *exi_person_cloth(bool trousers, size_t *size) {
    const unsigned char *start = trousers ? exi_cloth_trousers_start : exi_cloth_shirt_start;
    *size = (size_t)((trousers ? exi_cloth_trousers_end : exi_cloth_shirt_end) - start);
    return start;
}

ex_result exi_demo_human(const char *directory, ex_error *error) {
    ex_result result = unpack(directory, error);
    for (int i = 0; result == EX_OK && i < IMAGES; i++)
        result =
            write_bytes(directory, images[i].name, images[i].start, (size_t)(images[i].end - images[i].start), error);
    return result == EX_OK ? add_layers(directory, error) : result;
}

/*
 * driven.h - the files of a project that an arm drives: the arm, its sleeve, and both at four keys; and the project's
 * text, of which tests change parts.
 */
#ifndef EXEMPLAR_TESTS_DRIVEN_H
#define EXEMPLAR_TESTS_DRIVEN_H

#include "projects.h"

#include "support/sleeves.h"

/* An entry of the list of examples. */
#define KEY(k) "{'name': 'key" #k "', 'mesh': 'sleeve" #k ".obj', 'at': {'body': 'arm" #k ".obj'}}"

/* A project of one layer, with the driver's frames, additional keys of the layer's "weigh", and its shape. */
#define DRIVEN(frames, weigh, shape, after)                                                                            \
    "{'exemplar': 1, 'mesh': 'sleeve.obj', 'driver': {'mesh': 'arm.obj'" frames "}, 'layers': [{'name': 'driven', "    \
    "'space': [{'name': 'body', 'driver': true}], 'weigh': {'kind': 'convex'" weigh "}, 'shape': '" shape "', "        \
    "'examples': [" KEY(0) ", " KEY(1) ", " KEY(2) ", " KEY(3) "]}" after "}"

static inline void write_form(const char *name, const ex_mesh *mesh, const float *form) {
    ex_error error = {0};
    ex_mesh copy = *mesh;
    double *positions = malloc(3 * (size_t)mesh->vertex_count * sizeof *positions);
    assert_non_null(positions);
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
        positions[i] = (double)form[i];
    copy.positions = positions;
    if (ex_obj_write(scratch_path(name), &copy, &error) != EX_OK)
        fail_msg("%s", error.text);
    free(positions);
}

static inline void write_driven(const sleeve *s) {
    ex_error error = {0};
    assert_int_equal(ex_obj_write(scratch_path("arm.obj"), s->driver, &error), EX_OK);
    assert_int_equal(ex_obj_write(scratch_path("sleeve.obj"), s->driven, &error), EX_OK);
    for (int k = 0; k < SLEEVE_KEYS; k++) {
        char name[24];
        snprintf(name, sizeof name, "arm%d.obj", k);
        write_form(name, s->driver, s->drivers[k]);
        snprintf(name, sizeof name, "sleeve%d.obj", k);
        write_form(name, s->driven, s->drivens[k]);
    }
}

#endif

/*
 * values.h - values in JSON files: their place in the file, numbers, rotations; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_VALUES_H
#define EXEMPLAR_AUTHOR_BASE_VALUES_H

#include <exemplar/base.h>
#include <jansson.h>

/* Place of a value in the file: "layers[1].examples[3].at.elbow". Names that are too long are left out. */
#define EXI_PLACE_SIZE 256
typedef struct exi_place {
    char text[EXI_PLACE_SIZE];
} exi_place;
exi_place exi_place_key(const exi_place *parent, const char *key);
exi_place exi_place_index(const exi_place *parent, size_t index);

/* A rotation as [x,y,z,w] or {"x": 30, "y": -10} (degrees, intrinsic, in written order). */
ex_result exi_json_rotation(const json_t *value, const exi_place *place, double q[4], ex_error *error);
ex_result exi_json_number(const json_t *value, const exi_place *place, double *number, ex_error *error);

/* q = q times the rotation by `degrees` about axis 0, 1 or 2. */
void exi_turn(double q[4], int axis, double degrees);

#endif

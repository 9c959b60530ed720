/*
 * Transforms of an Alembic file. A transform is a list of operations, each a byte: the upper four bits are its kind.
 * Values are doubles, for all operations in order:
 *
 *   0 scale: x y z    1 translate: x y z    2 rotate: axis x y z, angle in degrees    3 matrix: 16, row by row
 *   4, 5, 6 rotate about x, y, z: angle in degrees
 *
 * Points are row vectors, p' = p M. The last operation acts on points first: M = M_n ... M_2 M_1.
 */
#include "author/formats/cache/alembic/alembic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCALE, TRANSLATE, ROTATE, MATRIX, ROTATE_X, ROTATE_Y, ROTATE_Z, OP_COUNT };
enum { VALUES_MOST = 16 * 256 };

static const int value_counts[OP_COUNT] = {3, 3, 4, 16, 1, 1, 1};

/* Reads the operations, which do not change. */
static ex_result read_ops(const exi_alembic_archive *a, exi_ogawa_group compound, exi_alembic_xform *x,
                          ex_error *error) {
    exi_alembic_property ops;
    exi_ogawa_stream stream;
    ex_result result = exi_alembic_property_find(a, compound, ".ops", &ops, error);
    if (result != EX_OK || !ops.found || ops.sample_count == 0)
        return result;
    result = exi_alembic_values(a, &ops, 0, &stream, error);
    if (result == EX_OK && (ops.type != EXI_ALEMBIC_UINT8 || stream.size > sizeof x->ops))
        result = exi_ogawa_damaged(&a->file, "a transform has no valid operations", error);
    if (result == EX_OK)
        result = exi_ogawa_read(&a->file, stream, 0, x->ops, (size_t)stream.size, error);
    x->op_count = result == EX_OK ? (int)stream.size : 0;
    for (int i = 0; i < x->op_count && result == EX_OK; i++)
        if (x->ops[i] >> 4 >= OP_COUNT)
            result = exi_ogawa_damaged(&a->file, "a transform has no valid operations", error);
    return result;
}

ex_result exi_alembic_xform_open(const exi_alembic_archive *archive, exi_ogawa_group object, exi_alembic_xform *xform,
                                 ex_error *error) {
    exi_ogawa_group properties;
    exi_alembic_property compound;
    *xform = (exi_alembic_xform){0};
    if (object.count == 0)
        return EX_OK;
    ex_result result = exi_ogawa_enter_child(&archive->file, object, 0, &properties, error);
    if (result == EX_OK)
        result = exi_alembic_property_find(archive, properties, ".xform", &compound, error);
    if (result != EX_OK || !compound.found || compound.kind != EXI_ALEMBIC_COMPOUND)
        return result;
    result = read_ops(archive, compound.group, xform, error);
    if (result == EX_OK)
        result = exi_alembic_property_find(archive, compound.group, ".vals", &xform->values, error);
    if (result == EX_OK)
        result = exi_alembic_property_find(archive, compound.group, ".inherits", &xform->inherits, error);
    if (result == EX_OK)
        result = exi_alembic_check_times(archive, &xform->values, error);
    if (result == EX_OK)
        result = exi_alembic_check_times(archive, &xform->inherits, error);
    if (result == EX_OK && xform->op_count > 0 &&
        (!xform->values.found || xform->values.type != EXI_ALEMBIC_DOUBLE || xform->values.sample_count == 0))
        result = exi_ogawa_damaged(&archive->file, "a transform has no values", error);
    return result;
}

/* The matrix of a rotation about an axis, for row vectors. An axis without length does not turn. */
static void rotate(double m[4][4], const double axis[3], double degrees) {
    const double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    if (!(length > 0))
        return;
    const double angle = degrees * 3.14159265358979323846 / 180, c = cos(angle), s = sin(angle);
    const double x = axis[0] / length, y = axis[1] / length, z = axis[2] / length, n[3] = {x, y, z};
    const double cross[3][3] = {{0, z, -y}, {-z, 0, x}, {y, -x, 0}}; /* transposed, as rows multiply from the left */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[i][j] = (i == j) * c + (1 - c) * n[i] * n[j] + s * cross[i][j];
}

static void make_matrix(int op, const double *v, double m[4][4]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            m[i][j] = op == MATRIX ? v[4 * i + j] : i == j;
    for (int i = 0; i < 3 && op == SCALE; i++)
        m[i][i] = v[i];
    for (int i = 0; i < 3 && op == TRANSLATE; i++)
        m[3][i] = v[i];
    if (op == ROTATE)
        rotate(m, v, v[3]);
    else if (op >= ROTATE_X)
        rotate(m, (const double[3]){op == ROTATE_X, op == ROTATE_Y, op == ROTATE_Z}, v[0]);
}

/* b = a b */
static void multiply_left(double a[4][4], double b[4][4]) {
    double product[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            product[i][j] = 0;
            for (int k = 0; k < 4; k++)
                product[i][j] += a[i][k] * b[k][j];
        }
    memcpy(b, product, sizeof product);
}

static ex_result read_inherits(const exi_alembic_archive *a, const exi_alembic_xform *x, double time, bool *inherits,
                               ex_error *error) {
    const exi_alembic_property *p = &x->inherits;
    unsigned char byte = 1;
    exi_ogawa_stream stream;
    *inherits = true;
    if (!p->found || p->sample_count == 0)
        return EX_OK;
    ex_result result = exi_alembic_values(
        a, p, exi_alembic_stored(p, p->last > 0 ? exi_alembic_nearest(a, p, time) : 0), &stream, error);
    if (result == EX_OK)
        result = exi_ogawa_read(&a->file, stream, 0, &byte, 1, error);
    *inherits = byte != 0;
    return result;
}

static ex_result read_values(const exi_alembic_archive *a, const exi_alembic_xform *x, double time, double *values,
                             size_t count, ex_error *error) {
    const exi_alembic_property *p = &x->values;
    exi_ogawa_stream stream;
    unsigned char bytes[8];
    ex_result result = exi_alembic_values(
        a, p, exi_alembic_stored(p, p->last > 0 ? exi_alembic_nearest(a, p, time) : 0), &stream, error);
    for (size_t i = 0; i < count && result == EX_OK; i++) {
        result = exi_ogawa_read(&a->file, stream, sizeof bytes * i, bytes, sizeof bytes, error);
        const uint64_t bits = result == EX_OK ? exi_ogawa_number(bytes, 8) : 0;
        memcpy(&values[i], &bits, sizeof bits);
        if (result == EX_OK && !isfinite(values[i]))
            result = exi_ogawa_damaged(&a->file, "a value of a transform is not a number", error);
    }
    return result;
}

ex_result exi_alembic_xform_apply(const exi_alembic_archive *archive, const exi_alembic_xform *xform, double time,
                                  double matrix[4][4], ex_error *error) {
    double values[VALUES_MOST], m[4][4];
    size_t count = 0;
    bool inherits = true;
    ex_result result = read_inherits(archive, xform, time, &inherits, error);
    for (int i = 0; i < xform->op_count; i++)
        count += (size_t)value_counts[xform->ops[i] >> 4];
    if (result == EX_OK && count > 0)
        result = read_values(archive, xform, time, values, count, error);
    if (result != EX_OK)
        return result;
    if (!inherits)
        make_matrix(TRANSLATE, (const double[3]){0}, matrix);
    const double *v = values;
    for (int i = 0; i < xform->op_count; i++) {
        make_matrix(xform->ops[i] >> 4, v, m);
        multiply_left(m, matrix);
        v += value_counts[xform->ops[i] >> 4];
    }
    return EX_OK;
}

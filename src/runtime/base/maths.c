/*
 * The functions of exemplar/maths.h, made from functions.inl, which the libraries' own sources inline.
 */
#include "runtime/base/functions.inl"

#include <exemplar/maths.h>

double ex_exp(double x) {
    return exi_exp(x);
}

void ex_sin_cos(double x, double *sine, double *cosine) {
    exi_sin_cos(x, sine, cosine);
}

double ex_angle(double y, double x) {
    return exi_angle(y, x);
}

double ex_corner(double y, double x) {
    return exi_corner(y, x);
}

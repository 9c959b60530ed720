/*
 * The eight kernels of the cardinal weigher as functions of r, the distance divided by the radius (docs/design.md,
 * "Spaces"). Common subset of C and CUDA.
 *
 * bspline is the cross-section of the uniform cubic B-spline (Shape by Example, section 3.3): 2/3 at 0, 1/6 at 1, 0
 * from 2 on.
 */
#ifndef EXI_KERNELS_INL
#define EXI_KERNELS_INL

#include "runtime/base/functions.inl"

#include <exemplar/weigh.h>

EXI_INLINE double exi_kernel(int kernel, double r) {
    switch (kernel) {
    case EX_KERNEL_BSPLINE:
        if (r >= 2.0)
            return 0.0;
        if (r >= 1.0)
            return (2.0 - r) * (2.0 - r) * (2.0 - r) / 6.0;
        return 2.0 / 3.0 - r * r * (1.0 - 0.5 * r);
    case EX_KERNEL_GAUSSIAN:
        return exi_exp(-0.5 * r * r);
    case EX_KERNEL_WENDLAND: {
        if (r >= 2.0)
            return 0.0;
        double a = 1.0 - 0.5 * r;
        return a * a * a * a * (2.0 * r + 1.0);
    }
    case EX_KERNEL_INVERSE_MULTIQUADRIC:
        return 1.0 / sqrt(1.0 + r * r);
    case EX_KERNEL_THIN_PLATE:
        return r > 1e-150 ? r * r * exi_log(r) : 0.0;
    case EX_KERNEL_BIHARMONIC:
        return r;
    case EX_KERNEL_TRIHARMONIC:
        return r * r * r;
    default: /* EX_KERNEL_MULTIQUADRIC */
        return sqrt(1.0 + r * r);
    }
}

/* True for kernels that are positive definite only together with polynomials, and so are solved with them in one
 * system. */
EXI_INLINE bool exi_kernel_is_coupled(int kernel) {
    return kernel >= EX_KERNEL_THIN_PLATE;
}

/* True for kernels whose negative is positive definite: smoothing subtracts from their diagonal. */
EXI_INLINE bool exi_kernel_is_negative(int kernel) {
    return kernel == EX_KERNEL_BIHARMONIC || kernel == EX_KERNEL_MULTIQUADRIC;
}

#endif

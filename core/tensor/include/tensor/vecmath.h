/* SPDX-License-Identifier: MIT */
/*
 * vecmath.h: exp and its relatives over rows, fast in F32 and exact (libm) in F64.
 *
 * The F32 functions are polynomials in plain C that the compiler vectorises, built for several
 * levels of the processor. Every rounding is spelled out and there is no sum, so an element's
 * result depends neither on its place in the row nor on the level. y may be x, but not overlap it
 * otherwise; n may be 0. NaN gives NaN.
 *
 * Largest errors: exp 2e-7 relative; the others 5e-7 absolute per unit of |x| where they grow.
 */
#ifndef TENSOR_VECMATH_H
#define TENSOR_VECMATH_H

#include <stdint.h>

#include "tensor/levels.h"

#define TEMPLATE "tensor/vecmath.inc"
#include "tensor/both_reals.inc"

#endif

/* SPDX-License-Identifier: MIT */
/*
 * npy.h: arrays as numpy.save writes them (NumPy Enhancement Proposal 1).
 *
 * "\x93NUMPY", two bytes of version, the header's length (2 bytes in version 1, 4 in 2 and 3,
 * little-endian), a Python dict {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, the
 * data. Read are little-endian reals of 16, 32 and 64 bits in C order, of rank at most 6; the data
 * must be as long as the shape says.
 */
#ifndef MODEL_NPY_H
#define MODEL_NPY_H

#include "tensor/tensor.h"

bool npy_is(const void *bytes, size_t size);
/* PEAT_INVALID says what is wrong, after `path`. */
peat_status npy_parse(const void *bytes, size_t size, const char *path, struct arena *a,
                      struct tensor *t, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * npy.h: arrays as numpy.save writes them (NumPy Enhancement Proposal 1).
 *
 * "\x93NUMPY", two bytes of version, the header's length (2 bytes in version 1, 4 in 2 and 3,
 * little-endian), a Python dict {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, the
 * data in C order, as long as dtype and shape say. At most 6 axes are read.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"

struct npy {
    const char *path; /* borrowed, as the bytes are */
    char dtype[16];   /* "<f4": '<', '>' or '|', the kind of number, and its bytes */
    size_t width;     /* bytes of a number; 0: dtype is not a number of 1, 2, 4 or 8 bytes */
    int rank;
    int64_t dim[PEAT_MAX_RANK];
    int64_t n;                 /* number of elements */
    const unsigned char *data; /* [n * width], where width is not 0 */
};

bool npy_is(const void *bytes, size_t size);
/* PEAT_INVALID: the message begins with `path`. */
peat_status npy_open(struct npy *f, const void *bytes, size_t size, const char *path,
                     struct error *err);
/* Token ids: numbers on one axis, of any integer dtype, each from 0 to 2^31 - 1; *id [f->n] lives
 * as long as `a`. PEAT_INVALID names the first number that is not a token id. */
peat_status npy_ids(const struct npy *f, struct arena *a, const int32_t **id, struct error *err);

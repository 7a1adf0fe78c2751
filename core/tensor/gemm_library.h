/* SPDX-License-Identifier: MIT */
/*
 * gemm_library.h: from a name to the libraries behind a team's products.
 */
#ifndef TENSOR_GEMM_LIBRARY_H
#define TENSOR_GEMM_LIBRARY_H

#include <peat/gemm.h>

#include "base/arena.h"
#include "base/error.h"

struct library {
    const peat_gemm_provider *gemm, *rest; /* gets what gemm refuses; NULL: it refuses nothing */
};

/* tensor/gemm.h's gemm_start and gemm_identify. */
peat_status library_open(struct library *l, const char *name, int threads, struct error *err);
void library_identify(const struct library *l, struct arena *a, const char **libraries,
                      const char **kernels);

#endif

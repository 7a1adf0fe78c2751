/* SPDX-License-Identifier: MIT */
/*
 * gemm_library.h: the libraries behind a team's products, opened at once or when a product needs
 * them.
 *
 * To load them takes a cell 4 ms of processor time, as long as four steps of a small one, and most
 * small cells never ask them: their products are all of shapes that cells before found out about
 * (gemm_small.h). So the first cells of a run tell the others which libraries these are, which is
 * what a result records, and the others load them late or not at all.
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

/* Tells cells that are asked for a library of that name which one this cell opened. */
void library_tell(const struct library *l, const char *name, int notes);

/* One that is not open yet. Several threads may use it. */
struct late_library;
/* NULL: no cell told, so it is to be opened now. */
struct late_library *late_library_told(const char *name, int threads, int notes);
/* NULL is closed already. */
void late_library_close(struct late_library *late);
/* The provider's name and what library_identify gives; they live as long as it. */
struct library_names {
    const char *provider, *libraries, *kernels;
};
struct library_names late_library_names(const struct late_library *late);
/* Opens it, the first time. Ends the process where it can't be, or has become another one. */
const struct library *late_library_open(struct late_library *late);

#endif

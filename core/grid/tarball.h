/* SPDX-License-Identifier: MIT */
/* tarball.h: an archive of which every byte follows from what was put into it. */
#ifndef GRID_TARBALL_H
#define GRID_TARBALL_H

#include "base/error.h"
#include "base/strbuf.h"
#include "grid/bundle.h"

struct tarball;

/* An archive whose bytes go onto *out. PEAT_FAILED: this build has no libarchive. Loads it; *t is
 * to be closed in any case, before out is. */
peat_status tarball_open(struct tarball **t, enum packing packing, struct strbuf *out,
                         struct arena *a, struct error *err);
/* A file, 0644, of nobody and no time. Files stand in the order in which they are added. */
peat_status tarball_add(struct tarball *t, const char *path, const void *bytes, size_t n,
                        struct error *err);
/* The rest of its bytes. */
peat_status tarball_finish(struct tarball *t, struct error *err);
void tarball_close(struct tarball *t); /* NULL: nothing */

#endif

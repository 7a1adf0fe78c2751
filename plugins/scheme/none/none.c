/* SPDX-License-Identifier: MIT */
/* none.c: no position at all. What order a model then knows comes from its causal mask. */
#include <peat/plugin.h>

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_PERMUTATION_EQUIVARIANT | PEAT_NO_TRAINABLE,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "none", "1.0", "no positional encoding", "MIT",
                  "arXiv:2203.16634")
PEAT_ALSO_CALLED("nope")

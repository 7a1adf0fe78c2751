/* SPDX-License-Identifier: MIT */
/* Calls into the engine by name, not through the host's table. */
#include <peat/plugin.h>

void *arena_alloc(void *arena, size_t bytes);

static peat_node *encode(const peat_call *c)
{
    return arena_alloc(c->g, 1);
}

static const peat_scheme scheme = {.size = sizeof(scheme), .encode = encode};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "undefined_symbol", "1.0", "a bad plugin", "MIT", "")

// SPDX-License-Identifier: MIT
// plain.cc: a scheme in C++, which gives peat_entry its C name by itself.
#include <peat/plugin.h>

static peat_node *residual(const peat_call *c, peat_node *x)
{
    return peat_scale(c->g, x, 1.5);
}

static peat_scheme made()
{
    peat_scheme scheme = {};
    scheme.size = sizeof(scheme);
    scheme.residual = residual;
    return scheme;
}

static const peat_scheme scheme = made();

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "in C++", "MIT", "")

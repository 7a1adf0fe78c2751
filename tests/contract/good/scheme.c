/* SPDX-License-Identifier: MIT */
/* The control: nothing is wrong with it. VERSION tells builds apart. */
#include <peat/plugin.h>

#ifndef VERSION
#define VERSION "1.0"
#endif

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    (void)c, (void)shared;
    return PEAT_OK;
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    (void)c, (void)io;
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_SHIFT_INVARIANT | PEAT_NO_TRAINABLE,
    .prepare = prepare,
    .qkv = qkv,
};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "good_scheme", VERSION, "a good plugin", "MIT", "")

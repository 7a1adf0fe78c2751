/* SPDX-License-Identifier: MIT */
/* Planted gradient error: there is none. */
#include "planted.h"

static void column(const struct column *c)
{
    (void)c;
}

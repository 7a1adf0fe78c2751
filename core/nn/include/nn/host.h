/* SPDX-License-Identifier: MIT */
/* host.h: the engine's table for plugins, for the code that sets them up. */
#pragma once

#include <peat/host.h>

/* The table lives as long as the process. */
const peat_host *host_table(void);

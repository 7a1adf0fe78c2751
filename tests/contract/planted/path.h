/* SPDX-License-Identifier: MIT */
/* path.h: the parameter of a task that reads a file. */
#include <peat/plugin.h>

struct config {
    const char *path;
};

static const peat_param rows[] = {
    {"path", PEAT_STRING, offsetof(struct config, path), .doc = "data",
     .flags = PEAT_REQUIRED | PEAT_PATH},
    PEAT_PARAM_END,
};

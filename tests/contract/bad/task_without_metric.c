/* SPDX-License-Identifier: MIT */
/* A task whose list of metrics ends before the first. */
#include <peat/plugin.h>

static const peat_metric metrics[] = {{NULL, false, NULL, NULL}};
static const peat_task task = {.size = sizeof(task), .metric = metrics};
PEAT_DEFINE_PLAIN(PEAT_TASK, task, "task_without_metric", "1.0", "a bad plugin", "MIT", "")

/* SPDX-License-Identifier: MIT */
/* A task that makes no training batches. */
#include <peat/plugin.h>

static double loss(const peat_sums *s)
{
    return s->nll;
}

static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    (void)s, (void)config, (void)self;
    plan->vocab = 2;
    return PEAT_OK;
}

static const peat_metric metrics[] = {{"loss", false, "nats", loss}, {NULL, false, NULL, NULL}};
static const peat_task task = {.size = sizeof(task), .metric = metrics, .setup = setup};
PEAT_DEFINE_PLAIN(PEAT_TASK, task, "task_without_train", "1.0", "a bad plugin", "MIT", "")

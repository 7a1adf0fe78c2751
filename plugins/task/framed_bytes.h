/* SPDX-License-Identifier: MIT */
/* framed_bytes.h: tokens that are bytes or belong to the frame of peat/sequence.h, for a reader. */
#ifndef TASK_FRAMED_BYTES_H
#define TASK_FRAMED_BYTES_H

#include <peat/sequence.h>
#include <stdio.h>

/* The hook token_text. A byte that is not a character by itself has no text, nor have the task's
 * own ids after the bytes. */
static inline int64_t framed_bytes_text(const void *config, const void *self, int32_t id,
                                        char *text, int64_t room)
{
    static const char *const frame[] = {"<bos>", "<sep>", "<eos>"};
    const char byte[] = {(char)(id - PEAT_FIRST_SYMBOL), '\0'};
    (void)config;
    (void)self;
    if (id < 0 || id >= PEAT_FIRST_SYMBOL + 0x80)
        return 0;
    int n = snprintf(text, (size_t)room, "%s", id < PEAT_FIRST_SYMBOL ? frame[id] : byte);
    return n < room ? n : 0;
}

static inline void framed_bytes_show_token(peat_task_plan *plan, int32_t id)
{
    if (plan->n_first < PEAT_FIRST_TOKENS)
        plan->first[plan->n_first++] = id;
}

/* Puts n bytes behind the first tokens of the plan, as many as there is room for. */
static inline void framed_bytes_show(peat_task_plan *plan, const unsigned char *byte, int64_t n)
{
    for (int64_t i = 0; i < n && i < PEAT_FIRST_TOKENS; i++)
        framed_bytes_show_token(plan, PEAT_FIRST_SYMBOL + byte[i]);
}

#endif

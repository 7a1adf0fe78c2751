/* SPDX-License-Identifier: MIT */
/* text_index.c: a table with open addresses, at most half full. */

#include "base/base.h"

/* The slot where the text is, or would be. FNV-1a. */
static struct text_slot *slot_of(const struct text_index *x, const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    size_t i = (hash ^ hash >> 32) & (size_t)(x->room - 1);
    while (x->slot[i].text && strcmp(x->slot[i].text, text) != 0)
        i = (i + 1) & (size_t)(x->room - 1);
    return &x->slot[i];
}

static void grow(struct text_index *x, struct arena *a)
{
    enum { FIRST_ROOM = 16 };
    const struct text_index old = *x;
    x->room = old.room ? 2 * old.room : FIRST_ROOM;
    x->slot = arena_zalloc(a, (size_t)x->room * sizeof(*x->slot));
    for (int i = 0; i < old.room; i++)
        if (old.slot[i].text)
            *slot_of(x, old.slot[i].text) = old.slot[i];
}

void text_index_add(struct text_index *x, struct arena *a, const char *text, int number)
{
    if (2 * x->n >= x->room)
        grow(x, a);
    struct text_slot *slot = slot_of(x, text);
    if (slot->text)
        return;
    *slot = (struct text_slot){text, number};
    x->n++;
}

int text_index_find(const struct text_index *x, const char *text)
{
    const struct text_slot *slot = x->room ? slot_of(x, text) : NULL;
    return slot && slot->text ? slot->number : -1;
}

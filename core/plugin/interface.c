/* SPDX-License-Identifier: MIT */
/* interface.c: an interface as this program knows it, whatever headers a plugin was built with. */
#include <inttypes.h>
#include <string.h>

#include "interface.h"

/* `first`: up to the last field that ABI 0.1 began with. Later fields stand behind it. */
struct layout {
    const char *type;
    size_t first, now;
};

#define LAYOUT(type, last)                                                                         \
    {                                                                                              \
#type, offsetof(type, last) + sizeof(((type *)0)->last), sizeof(type)                      \
    }

static const struct layout layouts[] = {
    [PEAT_SCHEME] = LAYOUT(peat_scheme, context),
    [PEAT_COMBINE] = LAYOUT(peat_combine, merge),
    [PEAT_TASK] = LAYOUT(peat_task, evaluate),
};

static bool all_zero(const unsigned char *byte, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (byte[i])
            return false;
    return true;
}

static peat_status check_size(const struct layout *l, const void *given, uint32_t size,
                              struct error *err)
{
    if (size == 0)
        return error_set(err, PEAT_INVALID, "its %s does not set size", l->type);
    if (size < l->first)
        return error_set(err, PEAT_INVALID,
                         "its %s has %" PRIu32 " bytes, that of ABI %s has at least %zu", l->type,
                         size, PEAT_ABI, l->first);
    if (size > l->now && !all_zero((const unsigned char *)given + l->now, size - l->now))
        return error_set(err, PEAT_MISMATCH,
                         "its %s sets what this program does not know: it has %" PRIu32
                         " bytes, here %zu; a newer PEAT is needed",
                         l->type, size, l->now);
    return PEAT_OK;
}

peat_status interface_whole(struct arena *a, peat_kind kind, const void *given, const void **whole,
                            struct error *err)
{
    const struct layout *l = &layouts[kind];
    uint32_t size;
    memcpy(&size, given, sizeof(size)); /* the first field of each */
    peat_status status = check_size(l, given, size, err);
    if (status != PEAT_OK)
        return status;
    unsigned char *copy = ARENA_ARRAY(a, (int64_t)l->now, unsigned char);
    memcpy(copy, given, size < l->now ? size : l->now);
    const uint32_t now = (uint32_t)l->now;
    memcpy(copy, &now, sizeof(now));
    *whole = copy;
    return PEAT_OK;
}

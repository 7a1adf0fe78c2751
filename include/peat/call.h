/* SPDX-License-Identifier: MIT */
/*
 * call.h: the extension "peat.call/1", facts of a call that peat_call does not hold. plugin.h does
 * not include it.
 *
 *     static peat_status setup(peat_setup *s, const void *config, void **self)
 *     {
 *         if (!peat_call_facts_of(s->host))
 *             return peat_refuse(s, "this PEAT has no extension %s", PEAT_CALL_FACTS);
 *         ...
 */
#ifndef PEAT_CALL_H
#define PEAT_CALL_H

#include <peat/host.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEAT_CALL_FACTS "peat.call/1"

/* Functions that any hook of a scheme or combination may call with its own call. A later host may
 * have more of them, at the end. */
typedef struct peat_call_facts {
    uint32_t size;
    /* [graph] True in attention across two sequences, and in `prepare` and `own_positions` that run
     * for it: queries are places of the decoder, keys places of the source. Only schemes with
     * PEAT_ACROSS see true. */
    bool (*across)(const peat_call *c);
    /* [graph] The number of places of row b of a side that are not padding: T where nothing is
     * padded. `side` is c->q, c->k or a copy of one. For the keys of a call across two sequences
     * this is the length of the row's source, in any batch. For a decoder's own side it is the
     * number of places that this call knows: a result that depends on it needs PEAT_NEED_LENGTH. */
    int64_t (*n_valid)(const peat_call *c, const peat_side *side, int64_t b);
    /* [graph] The last step of training that changed the weights. In training it is c->step; in
     * evaluation, where c->step is 0, the number of steps so far. 0: the weights have their initial
     * values, or come from elsewhere. */
    int64_t (*trained_step)(const peat_call *c);
    /* [graph] True where all layers share the tensor of this handle: the scope is PEAT_ONCE, or
     * PEAT_PER_USER without `share: layer`. `prepare` may then use the tensor. Older hosts lack
     * this function: call it only where PEAT_HAS(facts, is_shared). */
    bool (*is_shared)(const peat_call *c, int32_t handle);
} peat_call_facts;

/* [any] The table, which lives as long as the process; NULL: this host lacks the extension. */
static inline const peat_call_facts *peat_call_facts_of(const peat_host *h)
{
    return (const peat_call_facts *)h->extension(h, PEAT_CALL_FACTS);
}

/* [graph] Calls is_shared; false where this host lacks it. */
static inline bool peat_is_shared(const peat_call *c, int32_t handle)
{
    const peat_call_facts *facts = peat_call_facts_of(c->host);
    return facts && PEAT_HAS(facts, is_shared) && facts->is_shared(c, handle);
}

#ifdef __cplusplus
}
#endif
#endif

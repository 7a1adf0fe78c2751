/* SPDX-License-Identifier: MIT */
/* fuzz_npy.c: any bytes are an array of NumPy's or are refused with a text. */
#include "base/npy.h"
#include "fuzz/fuzz.h"
#include "model/foreign_numbers.h"

/* Each one is looked at. */
static void look_at_ids(const struct npy *f, struct arena *a)
{
    const int32_t *id;
    struct error err = {0};
    if (npy_ids(f, a, &id, &err) != PEAT_OK)
        BUG_UNLESS(err.text[0]);
    else
        for (int64_t i = 0; i < f->n; i++)
            BUG_UNLESS(id[i] >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena arena;
    struct npy f;
    struct tensor t;
    struct error err = {0};
    arena_init(&arena, "fuzz", 1 << 16);
    peat_status status = npy_open(&f, bytes, n, "input", &err);
    if (status == PEAT_OK) {
        look_at_ids(&f, &arena);
        status = numbers_of_npy(&f, &arena, &t, &err);
    }
    BUG_UNLESS(status == PEAT_OK || err.text[0]);
    if (status == PEAT_OK) {
        BUG_UNLESS(tensor_count(&t) * 2 <= (int64_t)n);
        numbers_not_finite(&t);
    }
    arena_release(&arena);
    return 0;
}

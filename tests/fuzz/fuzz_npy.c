/* SPDX-License-Identifier: MIT */
/* fuzz_npy.c: any bytes are token ids of a NumPy array or are refused with a text. */
#include "base/npy.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena arena;
    struct npy f;
    const int32_t *id;
    struct error err = {0};
    arena_init(&arena, "fuzz", 1 << 16);
    peat_status status = npy_open(&f, bytes, n, "input", &err);
    if (status == PEAT_OK)
        status = npy_ids(&f, &arena, &id, &err);
    BUG_UNLESS(status == PEAT_OK || err.text[0]);
    for (int64_t i = 0; status == PEAT_OK && i < f.n; i++)
        BUG_UNLESS(id[i] >= 0);
    arena_release(&arena);
    return 0;
}

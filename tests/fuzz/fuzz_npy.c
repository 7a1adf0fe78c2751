/* SPDX-License-Identifier: MIT */
/* fuzz_npy.c: any bytes are an array of NumPy's or are refused with a text. */
#include "fuzz/fuzz.h"
#include "model/foreign_numbers.h"
#include "model/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena arena;
    struct tensor t;
    struct error err = {0};
    arena_init(&arena, "fuzz", 1 << 16);
    peat_status status = npy_parse(bytes, n, "input", &arena, &t, &err);
    BUG_UNLESS(status == PEAT_OK || err.text[0]);
    if (status == PEAT_OK) {
        BUG_UNLESS(tensor_count(&t) * 2 <= (int64_t)n);
        numbers_not_finite(&t);
    }
    arena_release(&arena);
    return 0;
}

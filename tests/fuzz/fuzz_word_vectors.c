/* SPDX-License-Identifier: MIT */
/* fuzz_word_vectors.c: any bytes are lines of words and numbers or are refused with a text. */
#include <math.h>

#include "base/arena.h"
#include "fuzz/fuzz.h"
#include "model/word_vectors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct word_vectors w;
    struct word_vector v = {.word = ""};
    struct error err = {0};
    struct arena arena;
    arena_init(&arena, "fuzz", 1 << 16);
    peat_status status = word_vectors_open(&w, bytes, n, "input", &err);
    double *x =
        status == PEAT_OK && w.width <= (int64_t)n ? ARENA_ARRAY(&arena, w.width, double) : NULL;
    while (status == PEAT_OK && v.word) {
        status = word_vectors_next(&w, &v, &err);
        if (status != PEAT_OK || !v.word)
            break;
        BUG_UNLESS(v.n > 0 && (const uint8_t *)v.word >= bytes &&
                   (const uint8_t *)v.end <= bytes + n && v.word + v.n <= v.numbers && x);
        status = word_vectors_numbers(&w, &v, x, &err);
        for (int64_t i = 0; status == PEAT_OK && i < w.width; i++)
            BUG_UNLESS(isfinite(x[i]));
    }
    BUG_UNLESS(status == PEAT_OK || err.text[0]);
    arena_release(&arena);
    return 0;
}

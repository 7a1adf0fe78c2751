/* SPDX-License-Identifier: MIT */
/* fuzz_safetensors.c: any bytes are read or refused. Build with clang -fsanitize=fuzzer. */
#include "model/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena arena;
    struct named_tensor *tensor;
    struct value *metadata;
    struct error err = {0};
    int count;
    arena_init(&arena, "fuzz", 1 << 16);
    safetensors_parse(bytes, n, "input", &arena, &tensor, &count, &metadata, &err);
    arena_release(&arena);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* fuzz_safetensors.c: any bytes are read or refused with a text; what was read can be walked. */
#include "fuzz/fuzz.h"
#include "model/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena arena;
    struct named_tensor *tensor = NULL;
    struct value *metadata = NULL;
    struct error err = {0};
    int count = 0;
    size_t data = 0;
    arena_init(&arena, "fuzz", 1 << 16);
    peat_status status =
        safetensors_parse(bytes, n, "input", &arena, &tensor, &count, &metadata, &err);
    BUG_UNLESS(status == PEAT_OK || err.text[0]);
    for (int i = 0; status == PEAT_OK && i < count; i++) {
        data += tensor_bytes(&tensor[i].tensor);
        BUG_UNLESS(safetensors_find(tensor, count, tensor[i].name) == &tensor[i]);
    }
    BUG_UNLESS(data <= n);
    arena_release(&arena);
    return 0;
}

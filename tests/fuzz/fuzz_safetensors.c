/* SPDX-License-Identifier: MIT */
/*
 * fuzz_safetensors.c: any bytes are read or refused with a text; what was read can be walked. The
 * same of a file of others, of which one tensor is taken.
 */
#include "fuzz/fuzz.h"
#include "model/safetensors.h"

static void take_one(const uint8_t *bytes, size_t n, struct arena *a)
{
    struct safetensors f;
    struct tensor t;
    struct error err = {0};
    peat_status status = safetensors_open(&f, bytes, n, "input", a, &err);
    BUG_UNLESS(status == PEAT_OK || err.text[0]);
    if (status != PEAT_OK)
        return;
    const char *name = safetensors_only(&f) ? safetensors_only(&f) : "half";
    status = safetensors_take(&f, name, a, &t, &err);
    BUG_UNLESS(status == PEAT_OK ? safetensors_has(&f, name) : err.text[0] != 0);
    BUG_UNLESS(status != PEAT_OK || (size_t)tensor_count(&t) * 2 <= n);
}

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
    take_one(bytes, n, &arena);
    arena_release(&arena);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* fuzz_yaml.c: any bytes are a tree or an error with a text, and a tree survives being walked. */
#include "experiment/yamldoc.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena arena;
    struct error error = {0};
    struct value *root = NULL;
    arena_init(&arena, "fuzz", 65536);
    peat_status status = yaml_parse(&arena, (const char *)bytes, n, "exp.yaml", &root, &error);
    BUG_UNLESS(status ? !root && error.text[0] : root != NULL);
    if (root) {
        struct strbuf text = STRBUF_NEW;
        json_print(root, JSON_CANONICAL, &text);
        BUG_UNLESS(value_equal(root, value_merge(&arena, root, root)));
        strbuf_release(&text);
    }
    arena_release(&arena);
    return 0;
}

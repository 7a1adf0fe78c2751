/* SPDX-License-Identifier: MIT */
/* fuzz_json.c: any bytes are a tree or an error; a tree written and read again is the same tree. */
#include <stdlib.h>
#include <string.h>

#include "base/seal.h"
#include "fuzz/fuzz.h"

static void check_again(struct arena *a, const struct value *v, bool canonical, int indent)
{
    struct strbuf text;
    struct error err = {0};
    strbuf_init(&text);
    value_to_json(v, canonical, indent, &text);
    const struct value *again = value_from_json(a, text.text, text.n, "again", &err);
    if (!again)
        BUG("'%s' is not read again: %s", text.text, err.text);
    BUG_UNLESS(value_equal(v, again));
    strbuf_release(&text);
}

/* A seal is good however the file is written. */
static void check_seal(struct arena *a, const struct value *v)
{
    struct strbuf text;
    strbuf_init(&text);
    value_to_json(sealed(a, v), false, 2, &text);
    const struct value *again = value_from_json(a, text.text, text.n, "sealed", NULL);
    BUG_UNLESS(again && seal_check(again) == SEAL_GOOD);
    strbuf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena arena;
    struct error err = {0};
    arena_init(&arena, "fuzz", 1 << 16);
    const struct value *v = value_from_json(&arena, (const char *)bytes, n, "input", &err);
    BUG_UNLESS(v || err.text[0]);
    if (v) {
        check_again(&arena, v, true, 0);
        check_again(&arena, v, false, 2);
        if (v->kind == VALUE_MAP)
            check_seal(&arena, v);
    }
    seal_check_line((const char *)bytes, n);
    arena_release(&arena);
    return 0;
}

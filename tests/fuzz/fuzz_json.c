/* SPDX-License-Identifier: MIT */
/* fuzz_json.c: any bytes are a tree or an error; a tree written and read again is the same tree. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fuzz/fuzz.h"

static void check_again(struct arena *a, const struct value *v, enum json_style style)
{
    struct strbuf text = STRBUF_NEW;
    struct error err = {0};
    json_print(v, style, &text);
    const struct value *again = json_parse(a, text.text, text.n, "again", &err);
    if (!again)
        BUG("'%s' is not read again: %s", text.text, err.text);
    BUG_UNLESS(value_equal(v, again));
    strbuf_release(&text);
}

/* A seal is good however the file is written. */
static void check_seal(struct arena *a, const struct value *v)
{
    struct strbuf text = STRBUF_NEW;
    json_print(sealed(a, v), JSON_INDENTED, &text);
    const struct value *again = json_parse(a, text.text, text.n, "sealed", NULL);
    BUG_UNLESS(again && seal_check(again) == SEAL_GOOD);
    strbuf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena arena;
    struct error err = {0};
    arena_init(&arena, "fuzz", 1 << 16);
    const struct value *v = json_parse(&arena, (const char *)bytes, n, "input", &err);
    BUG_UNLESS(v || err.text[0]);
    if (v) {
        for (int style = JSON_CANONICAL; style <= JSON_INDENTED; style++)
            check_again(&arena, v, (enum json_style)style);
        if (v->kind == VALUE_MAP)
            check_seal(&arena, v);
    }
    seal_check_line((const char *)bytes, n);
    arena_release(&arena);
    return 0;
}

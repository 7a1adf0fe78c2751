/* SPDX-License-Identifier: MIT */
/*
 * fuzz_yaml.c: any bytes are a tree or an error with a text, and a tree survives being walked.
 *
 * Not part of the build. With clang, from the root of the sources:
 *   clang -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -Icore -Iinclude \
 *     tests/fuzz/fuzz_yaml.c core/experiment/yamldoc.c core/base/{arena,error,file,number}.c \
 *     core/base/{strbuf,value,valuejson}.c -lyaml -ljansson -o fuzz_yaml
 *   ./fuzz_yaml -max_total_time=60 -max_len=4096 NEW_INPUTS tests/fuzz/corpus/yaml
 */
#include "experiment/yamldoc.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n)
{
    struct arena arena;
    struct error error = {0};
    struct value *root = NULL;
    arena_init(&arena, "fuzz", 65536);
    peat_status status = yaml_parse(&arena, (const char *)bytes, n, "exp.yaml", &root, &error);
    BUG_UNLESS(status ? !root && error.text[0] : root != NULL);
    if (root) {
        struct strbuf text;
        strbuf_init(&text);
        value_to_json(root, true, 0, &text);
        BUG_UNLESS(value_equal(root, value_merge(&arena, root, root)));
        strbuf_release(&text);
    }
    arena_release(&arena);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* tool.c: words of the command line into sizes. */
#include "tool.h"

static bool set_size(struct bench_sizes *s, const char *name, const char *word)
{
    const struct {
        const char *name;
        int64_t *size;
    } all[] = {{"--d", &s->d},           {"--heads", &s->heads},
               {"--layers", &s->layers}, {"--T", &s->T},
               {"--B", &s->B},           {"--V", &s->V},
               {"--steps", &s->steps},   {"--threads", &s->threads}};
    char *end;
    int64_t x = strtoll(word, &end, 10);
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (!strcmp(all[i].name, name)) {
            *all[i].size = x;
            return x > 0 && *end == '\0';
        }
    return false;
}

struct bench_sizes tool_sizes(int argc, char **argv)
{
    struct bench_sizes s = BENCH_SIZES;
    for (int i = 1; i < argc; i += 2) {
        const char *word = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--scheme"))
            s.scheme = word;
        else if (!strcmp(argv[i], "--gemm"))
            s.gemm = word;
        else if (!set_size(&s, argv[i], word)) {
            fprintf(stderr, "%s: '%s %s' is not a size\n", argv[0], argv[i], word);
            exit(2);
        }
    }
    if (s.d % s.heads != 0) {
        fprintf(stderr, "%s: --d is not a multiple of --heads\n", argv[0]);
        exit(2);
    }
    return s;
}

void tool_print(struct json map)
{
    puts(json_to_text(map.v, JSON_LINE, map.a));
}

int tool_fail(const struct error *err)
{
    fprintf(stderr, "%s\n", err->text);
    return 2;
}

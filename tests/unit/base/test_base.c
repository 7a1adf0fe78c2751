/* SPDX-License-Identifier: MIT */
/* test_base.c: errors, suggestions, growable text, hashes, clocks and logs. */
#include <sys/wait.h>

#include "support/support.h"

TEST(error_carries_status_and_text)
{
    struct error err = {0};
    ck_assert_int_eq(error_set(&err, PEAT_IO, "cannot open '%s'", "x"), PEAT_IO);
    ck_assert_int_eq(err.status, PEAT_IO);
    ck_assert_str_eq(err.text, "cannot open 'x'");
    error_prefix(&err, "cell %d", 3);
    ck_assert_int_eq(err.status, PEAT_IO);
    ck_assert_str_eq(err.text, "cell 3: cannot open 'x'");
    error_set(&err, PEAT_FAILED, "again: %s", err.text);
    ck_assert_str_eq(err.text, "again: cell 3: cannot open 'x'");
}

TEST(error_may_be_absent)
{
    ck_assert_int_eq(error_set(NULL, PEAT_NOMEM, "text"), PEAT_NOMEM);
    error_prefix(NULL, "text");
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

TEST(error_about_a_long_path_keeps_what_and_why)
{
    struct error err;
    for (size_t n = 900; n <= 4095; n++) {
        char path[4096];
        memset(path, 'x', n);
        path[n] = '\0';
        error_set(&err, PEAT_IO, "cannot open '%s': Permission denied", path);
        ck_assert_uint_lt(strlen(err.text), sizeof(err.text));
        ck_assert(!strncmp(err.text, "cannot open 'xxx", 16));
        ck_assert_msg(ends_in(err.text, "xxx': Permission denied"), "%zu: %s", n, err.text);
        ck_assert(n < 1000 || strstr(err.text, "xxx ... xxx"));
        error_prefix(&err, "%s:3:4", path);
        ck_assert(ends_in(err.text, "xxx': Permission denied"));
    }
}

TEST(error_is_cut_between_characters)
{
    struct error err;
    struct strbuf text = STRBUF_NEW;
    for (size_t shift = 0; shift < 3; shift++) {
        strbuf_clear(&text);
        strbuf_add_bytes(&text, "xx", shift);
        for (int i = 0; i < 1000; i++)
            strbuf_add(&text, "\xe2\x82\xac");
        error_set(&err, PEAT_INVALID, "%s", text.text);
        const char *mark = strstr(err.text, " ... ");
        ck_assert_ptr_nonnull(mark);
        ck_assert_uint_eq((size_t)(mark - err.text) % 3, shift);
        ck_assert_uint_eq(strlen(mark + 5) % 3, 0);
    }
    strbuf_release(&text);
}

TEST(every_status_has_its_own_text)
{
#define STATUS_VALUE(name, value, text) PEAT_##name,
    const peat_status status[] = {PEAT_STATUS_LIST(STATUS_VALUE)};
    const int n = (int)(sizeof(status) / sizeof(status[0]));
    for (int i = 0; i < n; i++) {
        ck_assert_str_ne(status_text(status[i]), "unknown status");
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(status_text(status[i]), status_text(status[j]));
    }
    ck_assert_str_eq(status_text((peat_status)-99), "unknown status");
}

TEST(nearest_name_suggests_what_was_meant)
{
    static const char *const name[] = {"sinusoidal", "learned", "rotary", "alibi", "none"};
    const int n = 5;
    ck_assert_str_eq(nearest_name("rotray", name, n), "rotary");
    ck_assert_str_eq(nearest_name("learnt", name, n), "learned");
    ck_assert_str_eq(nearest_name("sinusodial", name, n), "sinusoidal");
    ck_assert_str_eq(nearest_name("sinusoid", name, n), "sinusoidal");
    ck_assert_str_eq(nearest_name("ALiBi", name, n), "alibi");
    ck_assert_str_eq(nearest_name("nope", name, n), "none");
    ck_assert_ptr_null(nearest_name("banana", name, n));
    ck_assert_ptr_null(nearest_name("", name, n));
    ck_assert_ptr_null(nearest_name("rotary", name, 0));
    char longest[200];
    memset(longest, 'a', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    ck_assert_ptr_null(nearest_name(longest, name, n));
}

/* A dotted word means a key of its own section. */
TEST(nearest_name_knows_the_words_of_other_programs)
{
    static const char *const key[] = {"model.d_ff", "model.d_model", "train.lr"};
    ck_assert_str_eq(nearest_name("model.dim", key, 3), "model.d_model");
    ck_assert_str_eq(nearest_name("train.learning_rate", key, 3), "train.lr");
    ck_assert_str_eq(nearest_name("learning_rate", key, 3), "train.lr");
    ck_assert_ptr_null(nearest_name("eval.learning_rate", key, 3));
    ck_assert_str_eq(nearest_name("train", (const char *const[]){"plan", "run"}, 2), "run");
}

/* A swap of neighbours is one step, and of equally near names the first is taken. */
TEST(nearest_name_counts_swaps_once)
{
    static const char *const name[] = {"steps", "stop"};
    ck_assert_str_eq(nearest_name("stesp", name, 2), "steps");
    static const char *const tie[] = {"seed", "need"};
    ck_assert_str_eq(nearest_name("xeed", tie, 2), "seed");
}

TEST(bug_aborts)
{
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(0);
        BUG_UNLESS(child != 0);
        _exit(0);
    }
    int how = 0;
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    ck_assert(WIFSIGNALED(how));
    ck_assert_int_eq(WTERMSIG(how), SIGABRT);
}

TEST(strbuf_grows)
{
    struct strbuf b = STRBUF_NEW;
    ck_assert_str_eq(b.text, "");
    strbuf_clear(&b);
    for (int i = 0; i < 1000; i++)
        strbuf_addf(&b, "%d,", i);
    ck_assert_uint_eq(b.n, 3890);
    ck_assert_uint_eq(strlen(b.text), b.n);
    ck_assert_str_eq(b.text + b.n - 8, "998,999,");
    strbuf_clear(&b);
    ck_assert_str_eq(b.text, "");
    strbuf_fill(&b, '-', 3);
    strbuf_add_bytes(&b, "a\0b", 3);
    ck_assert_uint_eq(b.n, 6);
    ck_assert_mem_eq(b.text, "---a\0b", 7);
    strbuf_release(&b);
    ck_assert_str_eq(b.text, "");
    strbuf_release(&b);
}

TEST(strbuf_detach_hands_over_the_text)
{
    struct strbuf b = STRBUF_NEW;
    char *none = strbuf_detach(&b);
    ck_assert_str_eq(none, "");
    strbuf_add(&b, "text");
    char *text = strbuf_detach(&b);
    ck_assert_str_eq(text, "text");
    ck_assert_str_eq(b.text, "");
    strbuf_add(&b, "next");
    ck_assert_str_eq(text, "text");
    strbuf_release(&b);
    free(none);
    free(text);
}

TEST(items_of_a_list_have_commas_between_them)
{
    static const char *const name[] = {"alibi", "rotary", "none"};
    struct arena a;
    struct strbuf b = STRBUF_NEW;
    arena_init(&a, "test", 4096);
    strbuf_item(&b, "%d", 1);
    strbuf_item(&b, "%s", "two");
    ck_assert_str_eq(b.text, "1, two");
    strbuf_add(&b, ": ");
    strbuf_join(&b, name, 3);
    ck_assert_str_eq(strbuf_keep(&b, &a), "1, two: alibi, rotary, none");
    ck_assert_uint_eq(b.n, 0);
    ck_assert_str_eq(arena_item(&a, arena_item(&a, NULL, "%d", 1), "%s", "two"), "1, two");
    ck_assert_str_eq(arena_item(&a, "", "one"), "one");
    arena_release(&a);
}

TEST(columns_of_text)
{
    ck_assert_uint_eq(text_columns(""), 0);
    ck_assert_uint_eq(text_columns("plain"), 5);
    ck_assert_uint_eq(text_columns("0.51 \xc2\xb1 0.02"), 11);
    ck_assert_uint_eq(text_columns("\xe2\x80\x94"), 1);
    ck_assert_uint_eq(text_columns("\xff"), 1);
}

TEST(hash_is_sha256)
{
    char hex[HASH_HEX];
    hash_bytes("abc", 3, hex);
    ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hash_bytes("", 0, hex);
    ck_assert_str_eq(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(file_hash_equals_the_hash_of_its_bytes)
{
    enum { BYTES = 200000 };
    static const char pattern[] = "0123456789abcdef";
    char *bytes = malloc(BYTES);
    ck_assert_ptr_nonnull(bytes);
    for (int i = 0; i < BYTES; i++)
        bytes[i] = pattern[i % 16];
    char path[64];
    new_file(path, sizeof(path), bytes, BYTES);
    char memory[HASH_HEX], file[HASH_HEX];
    struct error err = {0};
    hash_bytes(bytes, BYTES, memory);
    ck_assert_int_eq(hash_file(path, file, &err), PEAT_OK);
    ck_assert_str_eq(file, memory);
    unlink(path);
    free(bytes);
    ck_assert_int_eq(hash_file(path, file, &err), PEAT_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(err.text, path));
    ck_assert_int_eq(hash_file("/tmp", file, &err), PEAT_INVALID);
}

TEST(no_time_is_below_zero_where_the_clock_ran_backwards)
{
    ck_assert_double_eq(clock_since(clock_seconds() + 100.0), 0.0);
    ck_assert_double_ge(clock_since(clock_seconds() - 100.0), 100.0);
}

TEST(clock_runs_forward)
{
    double start = clock_seconds();
    ck_assert_double_le(start, clock_seconds());
    char text[32];
    int year, month, day, hour, minute, second;
    clock_utc(text, sizeof(text));
    ck_assert_uint_eq(strlen(text), 20);
    ck_assert_int_eq(
        sscanf(text, "%d-%d-%dT%d:%d:%dZ", &year, &month, &day, &hour, &minute, &second), 6);
    clock_utc(text, 5);
    ck_assert_str_eq(text, "");
}

TEST(log_writes_whole_lines)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    struct log log = {out}, silent = {NULL};
    log_line(&log, "step %d", 1);
    log_line(&silent, "nothing");
    log_line(NULL, "nothing");
    ck_assert_str_eq(text, "step 1\n");
    fclose(out);
    free(text);
}

int main(void)
{
    return run_tests((struct tests){"base"});
}

/* SPDX-License-Identifier: MIT */
/* test_word_vectors.c: vectors of words as word2vec, GloVe and fastText write them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/word_vectors.h"
#include "support/support.h"

static struct error err;

/* "word=1,2.5|next=..." of a text, or PEAT_INVALID with err. */
static peat_status read_all(const char *text, size_t n, char *out, size_t room)
{
    struct word_vectors w;
    struct word_vector v = {.word = ""};
    double x[8] = {0};
    char *exact = malloc(n ? n : 1);
    memcpy(exact, text, n);
    err = (struct error){0};
    *out = '\0';
    peat_status status = word_vectors_open(&w, exact, n, "v.txt", &err);
    while (status == PEAT_OK && v.word) {
        status = word_vectors_next(&w, &v, &err);
        if (status != PEAT_OK || !v.word)
            break;
        ck_assert_int_le(w.width, 8);
        status = word_vectors_numbers(&w, &v, x, &err);
        size_t at = strlen(out);
        at += (size_t)snprintf(out + at, room - at, "%.*s=", (int)v.n, v.word);
        for (int64_t i = 0; i < w.width; i++)
            at += (size_t)snprintf(out + at, room - at, "%g,", x[i]);
        snprintf(out + at, room - at, "|");
    }
    free(exact);
    return status;
}

static const struct {
    const char *text, *read;
} good[] = {
    {"the 1 -2.5e-1\nof 3 .5\n", "the=1,-0.25,|of=3,0.5,|"},
    {"2 3\nthe 1 2 3\nof 4 5 6\n", "the=1,2,3,|of=4,5,6,|"},
    {"2 3\r\nthe 1 2 3 \r\nof 4 5 6\r\n", "the=1,2,3,|of=4,5,6,|"},
    {"the\t1\t2\n\nof\t3\t4", "the=1,2,|of=3,4,|"},
    {"\xef\xbb\xbfthe 1 2\n", "the=1,2,|"},
    {"the 1 2\n. . . 3 4\nat name@x.org 5 6\n", "the=1,2,|. . .=3,4,|at name@x.org=5,6,|"},
    {"\xc3\xa9 1\n\xe2\x82\xac 2\n", "\xc3\xa9=1,|\xe2\x82\xac=2,|"},
    {"1 2 3\n4 5 6\n", "1=2,3,|4=5,6,|"},
    {"0 4\n", ""},
    {"a 1E3 +2 -0\n", "a=1000,2,-0,|"},
};

START_TEST(words_and_numbers_are_read)
{
    char out[512];
    peat_status status = read_all(good[_i].text, strlen(good[_i].text), out, sizeof(out));
    ck_assert_msg(status == PEAT_OK, "%s", err.text);
    ck_assert_str_eq(out, good[_i].read);
}
END_TEST

#define BAD(text, says)                                                                            \
    {                                                                                              \
        text, sizeof(text) - 1, says                                                               \
    }
static const struct {
    const char *text;
    size_t n;
    const char *says;
} bad[] = {
    BAD("", "'v.txt' is empty"),
    BAD("\n \n\r\n", "'v.txt' is empty"),
    BAD("\xef\xbb\xbf", "'v.txt' is empty"),
    BAD("word\n", "'v.txt', line 1: a line is a word and its numbers"),
    BAD("the 1 2 3\nof 4 5\n", "'v.txt', line 2: 2 numbers where 3 are expected"),
    BAD("the 1 2 3\n\nof\n", "'v.txt', line 3: 0 numbers where 3 are expected"),
    BAD("3 2\nthe 1 2\nof 3 4\n", "has 2 words, and its first line says 3: is it cut?"),
    BAD("1 2\nthe 1 2\nof 3 4\n", "has 2 words, and its first line says 1"),
    BAD("the 1 2\nof 3 x\n", "'v.txt', line 2: 'x' is no finite number"),
    BAD("the 1 2\nof nan 3\n", "'v.txt', line 2: 'nan' is no finite number"),
    BAD("the 1 inf\n", "'inf' is no finite number"),
    BAD("the 1 1e999\n", "'1e999' is no finite number"),
    BAD("the 1 0x10\n", "'0x10' is no finite number"),
    BAD("the 1 1,5\n", "'1,5' is no finite number"),
    BAD("the 1 1.2.3\n", "'1.2.3' is no finite number"),
    BAD("the 1 --\n", "'--' is no finite number"),
    BAD("t\xe9 1 2\n", "line 1: its word is not UTF-8"),
    BAD("the 1 2\n\xc3 3 4\n", "line 2: its word is not UTF-8"),
    BAD("\xff\xfet\0h\0e\0", "is text in UTF-16"),
    BAD("\xfe\xff\0t\0h", "is text in UTF-16"),
    BAD("2 2\nthe \1\2\0\3\n", "it has a byte 0 at 10"),
    BAD("\x1f\x8b\x08word", "is packed with gzip: unpack it first"),
    BAD("PK\3\4word", "is packed with zip"),
    BAD("BZh91AY&SY", "is packed with bzip2"),
    BAD("9223372036854775807 3\na 1 2 3\n", "its first line says 9223372036854775807"),
};

START_TEST(what_is_no_such_text_is_refused_with_its_line)
{
    char out[512];
    ck_assert_int_eq(read_all(bad[_i].text, bad[_i].n, out, sizeof(out)), PEAT_INVALID);
    ck_assert_msg(strstr(err.text, bad[_i].says), "%s", err.text);
}
END_TEST

START_TEST(a_promise_of_a_hostile_size_takes_no_memory)
{
    static const char text[] = "3 9223372036854775807\na 1\n";
    char out[512];
    ck_assert_int_eq(read_all(text, sizeof(text) - 1, out, sizeof(out)), PEAT_INVALID);
    ck_assert_msg(strstr(err.text, "numbers where 9223372036854775807 are expected"), "%s",
                  err.text);
}
END_TEST

START_TEST(a_text_that_promises_its_words_is_refused_when_it_is_cut_at_a_line)
{
    static const char text[] = "3 2\nthe 1 2\nof 3 4\nand 5 6\n";
    char out[512];
    for (size_t n = 4; n < sizeof(text) - 1; n++)
        if (text[n - 1] == '\n') {
            ck_assert_int_eq(read_all(text, n, out, sizeof(out)), PEAT_INVALID);
            ck_assert_msg(strstr(err.text, "is it cut?"), "%s", err.text);
        }
}
END_TEST

int main(void)
{
    return run_list((struct tests){"word_vectors",
                                   .loops = LOOPS({words_and_numbers_are_read,
                                                   (int)(sizeof(good) / sizeof(*good))},
                                                  {what_is_no_such_text_is_refused_with_its_line,
                                                   (int)(sizeof(bad) / sizeof(*bad))})},
                    TESTS(a_promise_of_a_hostile_size_takes_no_memory,
                          a_text_that_promises_its_words_is_refused_when_it_is_cut_at_a_line));
}

/* SPDX-License-Identifier: MIT */
/* Reading YAML: every tree knows its places, every hostile file is refused at one. */
#include "experiment/yamldoc.h"

#include <time.h>

#include "support/support.h"

#define LIMIT ((size_t)256 * 1024)

/* What others do on the machine is not in it. */
static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static struct arena arena;
static struct error error;

static void set_up(void)
{
    arena_init(&arena, "test", 65536);
    error = (struct error){0};
}

static void tear_down(void)
{
    arena_release(&arena);
}

static struct value *parse(const char *text)
{
    struct value *root = NULL;
    peat_status status = yaml_parse(&arena, text, strlen(text), "exp.yaml", &root, &error);
    ck_assert_msg(status == PEAT_OK, "%s", error.text);
    return root;
}

static const char *refusal(const char *text, size_t n)
{
    struct value *root = NULL;
    ck_assert_int_ne(yaml_parse(&arena, text, n, "exp.yaml", &root, &error), PEAT_OK);
    ck_assert_ptr_null(root);
    return error.text;
}

static void assert_at(struct place at, int line, int column)
{
    ck_assert_str_eq(at.file, "exp.yaml");
    ck_assert_int_eq(at.line, line);
    ck_assert_int_eq(at.column, column);
}

/* ---- trees ---- */

TEST(plain_scalars_are_typed_and_quoted_ones_are_text)
{
    const struct value *root = parse("[8, 1e-3, true, no, ~, '8', \"true\", 1:30]\n");
    const enum value_kind kind[] = {VALUE_INT,  VALUE_REAL, VALUE_BOOL, VALUE_TEXT,
                                    VALUE_NULL, VALUE_TEXT, VALUE_TEXT, VALUE_TEXT};
    ck_assert_int_eq(root->n, 8);
    for (int i = 0; i < root->n; i++)
        ck_assert_int_eq(root->item[i]->kind, kind[i]);
    ck_assert_double_eq(root->item[1]->real, 0.001);
}

TEST(places_are_those_of_the_text)
{
    const struct value *root = parse("a: 1\nlänge:\n  - x\n  - {ü: y, z: 2}\n");
    assert_at(root->at, 1, 1);
    assert_at(value_get(root, "a")->at, 1, 4);
    assert_at(value_key_place(root, "länge"), 2, 1);
    const struct value *list = value_get(root, "länge");
    assert_at(list->at, 3, 3);
    assert_at(list->item[0]->at, 3, 5);
    assert_at(list->item[1]->at, 4, 5);
    assert_at(value_key_place(list->item[1], "z"), 4, 12);
    assert_at(value_get(list->item[1], "z")->at, 4, 15);
}

TEST(a_byte_order_mark_moves_no_place)
{
    const struct value *root = parse("\xef\xbb\xbfkey: 1\n");
    assert_at(value_key_place(root, "key"), 1, 1);
    assert_at(value_get(root, "key")->at, 1, 6);
    ck_assert_str_eq(refusal("\xef\xbb\xbf@\n", 5),
                     "exp.yaml:1:1: found character that cannot start any token");
}

TEST(an_alias_is_the_anchored_tree_itself)
{
    const struct value *root = parse("a: &x {k: [1, 2]}\nb: *x\n");
    ck_assert_ptr_eq(value_get(root, "a"), value_get(root, "b"));
    assert_at(value_get(root, "b")->at, 1, 4);
}

TEST(maps_keep_the_order_of_the_file)
{
    const struct value *root = parse("z: 1\na: 2\n8: 3\nm: 4\n");
    const char *const key[] = {"z", "a", "8", "m"};
    for (int i = 0; i < 4; i++)
        ck_assert_str_eq(root->key[i], key[i]);
}

TEST(the_tree_owns_the_name_of_its_file)
{
    char file[] = "exp.yaml";
    struct value *root = NULL;
    ck_assert_int_eq(yaml_parse(&arena, "a: 1", 4, file, &root, &error), PEAT_OK);
    file[0] = '?';
    assert_at(root->at, 1, 1);
}

/* ---- limits ---- */

TEST(files_of_256_kib_are_read_and_larger_ones_refused)
{
    char *text = malloc(LIMIT + 1);
    memset(text, '#', LIMIT + 1);
    memcpy(text, "a: 1\n", 5);
    struct value *root = NULL;
    ck_assert_int_eq(yaml_parse(&arena, text, LIMIT, "exp.yaml", &root, &error), PEAT_OK);
    ck_assert_str_eq(refusal(text, LIMIT + 1), "exp.yaml: larger than 256 KiB");
    free(text);
}

/* The unit over and over, as much as a file may hold. */
static void assert_refused_soon(const char *unit, const char *expected)
{
    size_t each = strlen(unit), n = LIMIT / each * each;
    char *text = malloc(n);
    for (size_t i = 0; i < n; i++)
        text[i] = unit[i % each];
    double start = processor_seconds();
    ck_assert_str_eq(refusal(text, n), expected);
    ck_assert_double_lt(processor_seconds() - start, 2.0);
    free(text);
}

TEST(the_largest_bombs_are_refused_soon)
{
    assert_refused_soon("[", "exp.yaml:1:33: nested more than 32 levels deep");
    assert_refused_soon("{a: ", "exp.yaml:1:129: nested more than 32 levels deep");
    assert_refused_soon("- ", "exp.yaml:1:65: nested more than 32 levels deep");
    assert_refused_soon("[\n", "exp.yaml:33:1: nested more than 32 levels deep");
    assert_refused_soon("? ", "exp.yaml:1:3: a key must be a text, not a map");
    assert_refused_soon("-\n", "exp.yaml:100000:2: more than 100000 values, aliases counted as "
                               "what they stand for");
}

/* Lines made of a number between two texts, `room` bytes of them. */
static double seconds_to_read(const char *before, const char *after, size_t room)
{
    struct strbuf text;
    strbuf_init(&text);
    for (int i = 0; text.n + 40 < room; i++)
        strbuf_addf(&text, "%s%d%s\n", before, i, after);
    struct value *root = NULL;
    double start = processor_seconds();
    yaml_parse(&arena, text.text, text.n, "exp.yaml", &root, &error);
    strbuf_release(&text);
    return processor_seconds() - start;
}

/* As many as a file may hold take eight times as long as an eighth of them, not 64 times. */
TEST(time_grows_with_the_number_of_names_and_no_faster)
{
    static const char *const around[][2] = {
        {"", ": 1"}, {"- &a", " x"}, {"- {k", ": 1}"}, {"- 'x", "'"}, {"# ", " comment"}};
    for (size_t i = 0; i < sizeof(around) / sizeof(*around); i++) {
        double part = seconds_to_read(around[i][0], around[i][1], LIMIT / 8);
        double all = seconds_to_read(around[i][0], around[i][1], LIMIT);
        ck_assert_msg(all < 24 * (part + 0.002), "%s: %g s and %g s", around[i][0], part, all);
    }
}

TEST(a_missing_file_is_named)
{
    struct value *root = NULL;
    ck_assert_int_eq(yaml_load(&arena, "/nowhere/exp.yaml", &root, &error), PEAT_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(error.text, "/nowhere/exp.yaml"));
}

/* ---- hostile texts ---- */

static bool starts_with_place(const char *text)
{
    int line = 0, column = 0, n = 0;
    sscanf(text, "exp.yaml:%d:%d: %n", &line, &column, &n);
    return n > 0 && line > 0 && column > 0 && text[n];
}

static void assert_tree_or_place(const char *text, size_t n)
{
    struct value *root = NULL;
    peat_status status = yaml_parse(&arena, text, n, "exp.yaml", &root, &error);
    ck_assert_msg(status ? starts_with_place(error.text) : root != NULL, "%s", error.text);
    arena_reset(&arena);
}

static const char experiment[] = "name: &n x\n"
                                 "train: {steps: 2000, lr: 1e-3}\n"
                                 "matrix:\n"
                                 "  scheme: [none, {plugin: rotary}, *n]\n"
                                 "  size:\n"
                                 "    S: {d: 128}\n"
                                 "    'M': !!int 3\n"
                                 "note: >-\n"
                                 "  text \"ü\"\n"
                                 "seeds: 8 # eight\n";

TEST(every_prefix_is_a_tree_or_an_error_with_its_place)
{
    for (size_t n = 0; n < sizeof(experiment); n++)
        assert_tree_or_place(experiment, n);
}

TEST(every_changed_byte_leaves_a_tree_or_an_error_with_its_place)
{
    const char hostile[] = "\0\t\n\r :-?[]{},&*!|>'\"%@#~\\\xff\xc3";
    char text[sizeof(experiment)];
    for (size_t i = 0; i < sizeof(experiment) - 1; i++) {
        memcpy(text, experiment, sizeof(experiment));
        for (size_t j = 0; j < sizeof(hostile) - 1; j++) {
            text[i] = hostile[j];
            assert_tree_or_place(text, sizeof(experiment) - 1);
        }
    }
}

/* The message for a file, "NAME: ok" where there is none, as a line of `lines`. */
static void add_line(const char *folder, const char *name, struct strbuf *lines)
{
    char *text, *path = path_join(folder, name);
    size_t n;
    ck_assert_msg(file_read(path, 0, &text, &n, &error) == PEAT_OK, "%s", error.text);
    struct value *root = NULL;
    double start = processor_seconds();
    peat_status status = yaml_parse(&arena, text, n, name, &root, &error);
    ck_assert_double_lt(processor_seconds() - start, 1.0);
    ck_assert(status ? !root : root != NULL);
    strbuf_addf(lines, "%s%s\n", status ? error.text : name, status ? "" : ": ok");
    free(path);
    free(text);
}

TEST(every_file_of_the_corpus_gives_its_expected_line)
{
    const char *source = getenv("PEAT_SOURCE");
    char *folder = path_join(source ? source : ".", "tests/fuzz/corpus/yaml"), **name;
    char *expected, *path = path_join(source ? source : ".", "tests/fuzz/corpus/yaml.expected");
    struct strbuf lines = STRBUF_NEW;
    size_t length, same = 0;
    int n;
    ck_assert_msg(dir_list(folder, &name, &n, &error) == PEAT_OK, "%s", error.text);
    ck_assert_msg(file_read(path, 0, &expected, &length, &error) == PEAT_OK, "%s", error.text);
    for (int i = 0; i < n; i++)
        add_line(folder, name[i], &lines);
    while (same < length && lines.text[same] == expected[same])
        same++;
    ck_assert_msg(same == length && same == lines.n, "yaml.expected, and from there:\n%.99s\n%.99s",
                  expected + same, lines.text + same);
    names_free(name, n);
    strbuf_release(&lines);
    free(expected);
    free(folder);
    free(path);
}

/* ---- values of the command line ---- */

static const struct place second_word = {"command line", 2, 0};

TEST(a_value_of_the_command_line_is_placed_at_its_word)
{
    struct value *value = NULL;
    ck_assert_int_eq(yaml_value(&arena, "{plugin: rotary, base: 1e4}", second_word, &value, &error),
                     PEAT_OK);
    const struct value *base = value_get(value, "base");
    ck_assert_double_eq(base->real, 1e4);
    ck_assert_str_eq(base->at.file, "command line");
    ck_assert_int_eq(base->at.line, 2);
    ck_assert_int_eq(base->at.column, 0);
    ck_assert_int_eq(value_key_place(value, "base").line, 2);
}

TEST(a_value_of_the_command_line_is_typed_like_the_file)
{
    const struct {
        const char *text;
        enum value_kind kind;
    } word[] = {{"8", VALUE_INT},       {"1e-3", VALUE_REAL}, {"true", VALUE_BOOL},
                {"rotary", VALUE_TEXT}, {"'8'", VALUE_TEXT},  {"[1, 2]", VALUE_LIST},
                {"", VALUE_NULL},       {"./a b", VALUE_TEXT}};
    for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++) {
        struct value *value = NULL;
        ck_assert_int_eq(yaml_value(&arena, word[i].text, second_word, &value, &error), PEAT_OK);
        ck_assert_int_eq(value->kind, word[i].kind);
    }
}

TEST(a_bad_value_of_the_command_line_is_refused_at_its_word)
{
    const char *const word[] = {"[1, 2", "{a: 1, a: 2}", "\xff", "*x", "!mine 1"};
    for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++) {
        struct value *value = NULL;
        ck_assert_int_eq(yaml_value(&arena, word[i], second_word, &value, &error), PEAT_INVALID);
        ck_assert_int_eq(strncmp(error.text, "command line:2: ", 16), 0);
        ck_assert_ptr_null(value);
    }
    ck_assert_str_eq(error.text, "command line:2: tag '!mine' is not allowed");
}

int main(void)
{
    return run_tests((struct tests){"yamldoc", set_up, tear_down, 60});
}

/* SPDX-License-Identifier: MIT */
/* test_layout.c: the rules of the project that can be checked in the sources. */
#include "support/support.h"

/* Who alone may include what: a file, or the files of a folder. */
static const char *const alone[][2] = {
    {"cblas.h", "providers/openblas.c"},      {"dnnl.h", "providers/onednn_interface.h"},
    {"dlfcn.h", "core/base/object.c"},        {"yaml.h", "core/experiment/yamldoc.c"},
    {"jansson.h", "core/base/json_text.c"},   {"pthread.h", "core/process/parent.c"},
    {"sys/prctl.h", "core/process/parent.c"}, {"spawn.h", "core/process/"},
    {"sys/wait.h", "core/process/"},
};
enum { ALONE = sizeof(alone) / sizeof(alone[0]) };

/* Calls that stand in core once, in this file; NULL: nowhere. */
static const char *const calls[][2] = {
    {"posix_spawnp", "core/process/child.c"},
    {"fork", "core/process/child.c"},
    {"posix_spawn", NULL},
    {"vfork", NULL},
    {"execv", NULL},
    {"execve", NULL},
    {"execvp", NULL},
    {"popen", NULL},
    {"system", NULL},
    {"waitpid", NULL},
    {"getopt_long", "core/cli/options.c"},
    {"getopt", NULL},
    /* What is printed is safe for a terminal: cli_print, base/shown.h. */
    {"printf", NULL},
    {"vprintf", NULL},
    {"puts", NULL},
    {"putchar", NULL},
};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

/* What a plugin may use of C: no threads, no clock, no signals, no jumps, no locale. */
static const char *const plugin_headers[] = {
    "assert.h", "complex.h",  "ctype.h",   "errno.h",      "float.h",  "inttypes.h",
    "limits.h", "math.h",     "stdarg.h",  "stddef.h",     "stdint.h", "stdio.h",
    "stdlib.h", "string.h",   "stdbool.h", "uchar.h",      "wchar.h",  "wctype.h",
    "tgmath.h", "stdalign.h", "iso646.h",  "stdnoreturn.h"};
enum { PLUGIN_HEADERS = sizeof(plugin_headers) / sizeof(plugin_headers[0]) };

/* ---- reading ---- */

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static bool ends(const char *text, const char *with)
{
    size_t n = strlen(text), m = strlen(with);
    return n >= m && !strcmp(text + n - m, with);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static char *in_root(const char *path)
{
    return path_join(getenv("PEAT_SOURCE"), path);
}

static bool is_directory(const char *path)
{
    char *full = in_root(path);
    struct stat st;
    bool yes = stat(full, &st) == 0 && S_ISDIR(st.st_mode);
    free(full);
    return yes;
}

static bool is_there(const char *path)
{
    char *full = in_root(path);
    bool yes = file_exists(full);
    free(full);
    return yes;
}

/* A rule sees one file, by its path from the root, and adds a line for each offence. */
typedef void (*rule_fn)(const char *path, const char *text, struct strbuf *offences);

static void read_into(const char *path, struct strbuf *out)
{
    char *full = in_root(path), *text;
    size_t n;
    struct error err;
    ck_assert_msg(file_read(full, 0, &text, &n, &err) == PEAT_OK, "%s", err.text);
    strbuf_add(out, text);
    free(text);
    free(full);
}

static void apply(const char *path, rule_fn rule, struct strbuf *offences)
{
    struct strbuf text;
    strbuf_init(&text);
    read_into(path, &text);
    rule(path, text.text, offences);
    strbuf_release(&text);
}

static void walk(const char *dir, rule_fn rule, struct strbuf *offences)
{
    char *full = in_root(dir), **name;
    int n;
    struct error err;
    ck_assert_msg(dir_list(full, &name, &n, &err) == PEAT_OK, "%s", err.text);
    for (int i = 0; i < n; i++) {
        char *path = path_join(dir, name[i]);
        if (is_directory(path))
            walk(path, rule, offences);
        else
            apply(path, rule, offences);
        free(path);
    }
    names_free(name, n);
    free(full);
}

static void assert_none(struct strbuf *offences)
{
    ck_assert_msg(offences->n == 0, "\n%s", offences->text);
    strbuf_release(offences);
}

/* In files and folders, whose names stand behind each other: "docs README.md". */
static void hold_in(const char *places, rule_fn rule)
{
    struct strbuf offences;
    char place[64];
    strbuf_init(&offences);
    for (int n; sscanf(places, "%63s%n", place, &n) == 1; places += n) {
        if (is_directory(place))
            walk(place, rule, &offences);
        else if (is_there(place))
            apply(place, rule, &offences);
    }
    assert_none(&offences);
}

/* The next #include after *text; false at the end. `quoted`: with ", not with <. */
static bool next_include(const char **text, char name[256], bool *quoted)
{
    for (const char *line = *text; *line;) {
        const char *at = line + strspn(line, " \t"), *end = line + strcspn(line, "\n");
        line = end + (*end == '\n');
        if (*at != '#')
            continue;
        at += 1 + strspn(at + 1, " \t");
        if (!starts(at, "include"))
            continue;
        at += strlen("include");
        at += strspn(at, " \t");
        *quoted = *at == '"';
        size_t n = strcspn(at + 1, "\">\n");
        snprintf(name, 256, "%.*s", (int)n, at + 1);
        *text = line;
        return true;
    }
    return false;
}

/* ---- core ---- */

static void leaves_libraries_to_their_one_file(const char *path, const char *text,
                                               struct strbuf *offences)
{
    if (strcmp(path, "core/tensor/parallel.c") != 0 &&
        (strstr(text, "#pragma omp") || strstr(text, "GOMP_parallel")))
        strbuf_addf(offences, "%s: OpenMP belongs to parallel.c\n", path);
    char name[256];
    bool quoted;
    while (next_include(&text, name, &quoted))
        for (int i = 0; i < ALONE; i++)
            if ((!strcmp(name, alone[i][0]) || !strcmp(base_name(name), alone[i][0])) &&
                !starts(path, alone[i][1]))
                strbuf_addf(offences, "%s: only %s includes %s\n", path, alone[i][1], name);
}

static bool is_of_a_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Of a name with '(' behind it. */
static int count_calls(const char *text, const char *name)
{
    int n = 0;
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += length)
        n += at[length] == '(' && (at == text || !is_of_a_name(at[-1]));
    return n;
}

static void leaves_calls_to_their_one_file(const char *path, const char *text,
                                           struct strbuf *offences)
{
    for (int i = 0; i < CALLS; i++) {
        bool here = calls[i][1] && !strcmp(path, calls[i][1]);
        if (count_calls(text, calls[i][0]) != here)
            strbuf_addf(offences, "%s: %s() stands once in %s\n", path, calls[i][0],
                        calls[i][1] ? calls[i][1] : "no file");
    }
}

/* Whatever has a name of the user's may be a pipe or a device: core/base/file_open.c opens it. The
 * system's own files are opened by their names. */
static void leaves_opening_to_one_function(const char *path, const char *text,
                                           struct strbuf *offences)
{
    static const char *const call[] = {"open", "openat", "fopen", "freopen", "creat"};
    if (starts(path, "core/base/file") || !ends(path, ".c"))
        return;
    for (size_t i = 0; i < sizeof(call) / sizeof(*call); i++) {
        size_t length = strlen(call[i]);
        for (const char *at = text; (at = strstr(at, call[i])); at += length)
            if (at[length] == '(' && !is_of_a_name(at[-1]) && at[-1] != '>' &&
                !starts(at + length, "(\"/proc/") && !starts(at + length, "(\"/dev/null\""))
                strbuf_addf(offences, "%s: files are opened by file_open (base/file.h)\n", path);
    }
}

/* A member of a JSON map written by hand: a key with its quotes and colon inside a C string. */
static void writes_json_by_the_one_writer(const char *path, const char *text,
                                          struct strbuf *offences)
{
    if (strcmp(path, "core/base/json_file.c") != 0 && strstr(text, "\\\":"))
        strbuf_addf(offences, "%s: JSON is written by base/json.h\n", path);
}

TEST(json_is_written_in_one_place)
{
    hold_in("core", writes_json_by_the_one_writer);
}

TEST(files_are_opened_in_one_place)
{
    hold_in("core", leaves_opening_to_one_function);
}

TEST(processes_and_options_are_handled_in_one_place)
{
    hold_in("core", leaves_calls_to_their_one_file);
    hold_in("core", leaves_libraries_to_their_one_file);
}

TEST(each_library_is_known_to_one_file)
{
    hold_in("core plugins providers", leaves_libraries_to_their_one_file);
}

static void list_name(const char *path, const char *text, struct strbuf *names)
{
    (void)text;
    if (ends(path, ".c") || ends(path, ".h"))
        strbuf_addf(names, "/%s\n", base_name(path));
}

TEST(names_in_core_are_unique)
{
    struct strbuf names, offences;
    strbuf_init(&names);
    strbuf_init(&offences);
    walk("core", list_name, &names);
    for (char *at = names.text; *at;) {
        char *end = strchr(at, '\n') + 1, key[256];
        snprintf(key, sizeof(key), "%.*s", (int)(end - at), at);
        if (strstr(end, key))
            strbuf_addf(&offences, "core has two files called %s", key + 1);
        at = end;
    }
    strbuf_release(&names);
    assert_none(&offences);
}

/* ---- licence ---- */

static bool is_source(const char *path)
{
    return ends(path, ".c") || ends(path, ".h") || ends(path, ".inc") || ends(path, ".cmake") ||
           ends(path, ".cmake.in") || ends(path, "CMakeLists.txt");
}

static void states_its_licence(const char *path, const char *text, struct strbuf *offences)
{
    bool script = starts(text, "#!");
    if (!is_source(path) && !script)
        return;
    if (script)
        text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
    if (!starts(text, "/* SPDX-License-Identifier: MIT */\n") &&
        !starts(text, "# SPDX-License-Identifier: MIT\n"))
        strbuf_addf(offences, "%s: line %d is not the licence\n", path, script ? 2 : 1);
}

TEST(each_source_begins_with_its_licence)
{
    hold_in("cmake core include plugins providers tests CMakeLists.txt quickstart",
            states_its_licence);
}

/* ---- style ---- */

/* What stands in the tree in another form. */
static const char *const spellings[][2] = {
    {"can"
     " not ",
     "cannot"},
    {"sizeof"
     " *",
     "sizeof(*x)"},
    {"if ("
     "status)",
     "status != PEAT_OK"},
    {"!"
     "status ",
     "status == PEAT_OK"},
    {"!"
     "status)",
     "status == PEAT_OK"},
};
enum { SPELLINGS = sizeof(spellings) / sizeof(spellings[0]) };

static void keeps_one_spelling(const char *path, const char *text, struct strbuf *offences)
{
    for (int i = 0; is_source(path) && i < SPELLINGS; i++)
        if (strstr(text, spellings[i][0]))
            strbuf_addf(offences, "%s: write '%s', not '%s'\n", path, spellings[i][1],
                        spellings[i][0]);
}

TEST(each_thing_has_one_spelling)
{
    hold_in("core include plugins providers tests", keeps_one_spelling);
}

/* A name that stands in many files is not found by searching for it. */
TEST(a_static_function_shares_its_name_with_two_others_at_most)
{
    ck_assert_int_eq(system("cd \"$PEAT_SOURCE\" && "
                            "! grep -rhoE '^static [^(=;]*\\(' core --include='*.c' | "
                            "grep -oE '[a-z0-9_]+\\($' | sort | uniq -c | "
                            "grep -vE '^ +[123] ' >&2"),
                     0);
}

/* Layout is clang-format's; its versions differ, so one alone decides. Headers whose tables of
 * fields are aligned by hand are left out. */
TEST(sources_are_as_clang_format_makes_them)
{
    if (!is_here("clang-format-14"))
        return;
    ck_assert_int_eq(
        system("cd \"$PEAT_SOURCE\" && "
               "find core plugins providers tests -name '*.[ch]' ! -name model_config.h | "
               "xargs clang-format-14 --dry-run -Werror"),
        0);
}

/* ---- documents ---- */

/* A path in backquotes that begins with a folder of the tree is a file or folder of it. */
static void names_files_that_exist(const char *path, const char *text, struct strbuf *offences)
{
    static const char *const folders[] = {"core/",  "tests/",   "plugins/",
                                          "cmake/", "include/", "providers/"};
    for (const char *at = text; (at = strchr(at, '`')); at++) {
        char name[256];
        size_t n = strcspn(at + 1, "`\n");
        snprintf(name, sizeof(name), "%.*s", (int)n, at + 1);
        for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
            if (starts(name, folders[i]) && !strpbrk(name, "<>* ,{") && !is_there(name))
                strbuf_addf(offences, "%s: there is no '%s'\n", path, name);
    }
}

TEST(documents_name_files_that_exist)
{
    hold_in("docs README.md CONTRIBUTING.md", names_files_that_exist);
}

/* Every room of core/CMakeLists.txt has its row on the map, and its box in the picture. */
static void are_on_the_map(const char *path, const char *text, struct strbuf *offences)
{
    struct strbuf map, picture;
    strbuf_init(&map);
    strbuf_init(&picture);
    read_into("docs/architecture.md", &map);
    read_into("docs/architecture/rooms.svg", &picture);
    for (const char *at = text; (at = strstr(at, "\npeat_room(")); at++) {
        char name[64], row[80], box[80];
        sscanf(at, "\npeat_room(%63[a-z]", name);
        snprintf(row, sizeof(row), "\n| `%s` | ", name);
        snprintf(box, sizeof(box), ">%s<", name);
        if (!strstr(map.text, row) || !strstr(picture.text, box))
            strbuf_addf(offences, "%s: the room %s is not on the map\n", path, name);
    }
    strbuf_release(&map);
    strbuf_release(&picture);
}

TEST(all_rooms_are_on_the_map)
{
    hold_in("core/CMakeLists.txt", are_on_the_map);
}

/* ---- plugins ---- */

static bool is_plugin_header(const char *name)
{
    for (int i = 0; i < PLUGIN_HEADERS; i++)
        if (!strcmp(name, plugin_headers[i]))
            return true;
    return starts(name, "peat/");
}

/* Quoted: a header beside it or one folder up, where those of its kind share. */
static bool is_of_its_kind(const char *path, const char *name)
{
    if (starts(name, "../"))
        name += strlen("../");
    if (strchr(name, '/'))
        return false;
    char *beside = path_beside(path, name), *above = path_beside(path, "../");
    char *shared = path_join(above, name);
    bool found = is_there(beside) || is_there(shared);
    free(beside);
    free(above);
    free(shared);
    return found;
}

/* A plugin's own test, or what the tests of a kind share. */
static bool is_test(const char *path)
{
    return starts(base_name(path), "test_") || ends(path, "_tests.h");
}

static void includes_the_sdk_alone(const char *path, const char *text, struct strbuf *offences)
{
    if (!(ends(path, ".c") || ends(path, ".h")) || is_test(path))
        return;
    char name[256];
    bool quoted;
    while (next_include(&text, name, &quoted))
        if (quoted ? !is_of_its_kind(path, name) : !is_plugin_header(name))
            strbuf_addf(offences, "%s: a plugin does not include '%s'\n", path, name);
}

TEST(plugins_include_the_sdk_and_standard_c_alone)
{
    hold_in("plugins", includes_the_sdk_alone);
}

static bool stands_in_providers(const char *name)
{
    char *path = path_join("providers", name);
    bool yes = is_there(path);
    free(path);
    return yes;
}

/* Of this program: its library's headers are its own affair, and those beside it. */
static void includes_one_header_of_ours(const char *path, const char *text, struct strbuf *offences)
{
    char name[256];
    bool quoted;
    while (next_include(&text, name, &quoted))
        if ((quoted && !stands_in_providers(name)) ||
            (starts(name, "peat/") && strcmp(name, "peat/gemm.h") != 0))
            strbuf_addf(offences, "%s: a provider does not include '%s'\n", path, name);
}

TEST(providers_include_one_header_of_the_engine)
{
    hold_in("providers", includes_one_header_of_ours);
}

static void require(const char *folder, const char *file, struct strbuf *offences)
{
    char *path = path_join(folder, file);
    if (!is_there(path))
        strbuf_addf(offences, "%s is missing\n", path);
    free(path);
}

static void require_parts(const char *folder, struct strbuf *offences)
{
    char file[256];
    snprintf(file, sizeof(file), "%s.c", base_name(folder));
    require(folder, file, offences);
    snprintf(file, sizeof(file), "test_%s.c", base_name(folder));
    require(folder, file, offences);
    require(folder, "README.md", offences);
}

TEST(each_plugin_has_source_test_and_page)
{
    static const char *const kinds[] = {"plugins/scheme", "plugins/combine", "plugins/task"};
    struct strbuf offences;
    strbuf_init(&offences);
    for (int k = 0; k < 3; k++) {
        char *full = in_root(kinds[k]), **name;
        int n;
        ck_assert_int_eq(dir_list(full, &name, &n, NULL), PEAT_OK);
        for (int i = 0; i < n; i++) {
            char *folder = path_join(kinds[k], name[i]);
            if (is_directory(folder))
                require_parts(folder, &offences);
            free(folder);
        }
        names_free(name, n);
        free(full);
    }
    assert_none(&offences);
}

/* ---- the rules themselves ---- */

static void assert_offends(rule_fn rule, const char *path, const char *text, bool expected)
{
    struct strbuf offences;
    strbuf_init(&offences);
    rule(path, text, &offences);
    ck_assert_msg((offences.n > 0) == expected, "%s with \"%s\": %s", path, text, offences.text);
    strbuf_release(&offences);
}

TEST(the_rules_notice_an_offence)
{
    rule_fn rule = leaves_libraries_to_their_one_file;
    assert_offends(rule, "providers/openblas.c", "#include <cblas.h>\n", false);
    assert_offends(rule, "core/nn/gemm.c", "#include <cblas.h>\n", true);
    assert_offends(rule, "core/nn/a.c", "#include <openblas/cblas.h>\n", true);
    assert_offends(rule, "core/process/a.c", "#include <sys/wait.h>\n", false);
    assert_offends(rule, "core/nn/a.c", "#include <sys/wait.h>\n", true);
    assert_offends(rule, "core/process/a.c", "#include <sys/prctl.h>\n", true);
    assert_offends(rule, "core/nn/a.c", "#pragma omp parallel\n", true);
    assert_offends(rule, "core/nn/a.c", "GOMP_parallel(f, x, 2, 0);\n", true);
    rule = leaves_calls_to_their_one_file;
    assert_offends(rule, "core/process/child.c", "posix_spawnp(&pid);\nx = fork();\n", false);
    assert_offends(rule, "core/process/child.c", "posix_spawnp(&pid);\n", true);
    assert_offends(rule, "core/process/child.c", "posix_spawnp(); fork(); fork();\n", true);
    assert_offends(rule, "core/nn/a.c", "child_fork(c); /* a fork */\n", false);
    assert_offends(rule, "core/nn/a.c", "fork();\n", true);
    assert_offends(rule, "core/nn/a.c", "(void)system(text);\n", true);
    rule = leaves_opening_to_one_function;
    assert_offends(rule, "core/base/file_open.c", " open(path, flags);\n", false);
    assert_offends(rule, "core/nn/a.c", " file_open(path); gemm->open(n);\n", false);
    assert_offends(rule, "core/nn/a.c", " open(\"/proc/self/maps\");\n", false);
    assert_offends(rule, "core/nn/a.c", " fopen(path, \"r\");\n", true);
    rule = writes_json_by_the_one_writer;
    assert_offends(rule, "core/cell/a.c", "printf(\"{\\\"step\\\":%d}\", 1);", true);
    rule = keeps_one_spelling;
    assert_offends(rule, "core/cell/a.c",
                   "if ("
                   "status)\n",
                   true);
    assert_offends(rule, "core/cell/a.c", "if (status != PEAT_OK)\n", false);
    rule = names_files_that_exist;
    assert_offends(rule, "docs/a.md", "see `core/base/file.c` and `core/<room>/`", false);
    assert_offends(rule, "docs/a.md", "see `core/base/nothing.c`", true);
    rule = are_on_the_map;
    assert_offends(rule, "core/CMakeLists.txt", "\npeat_room(base)\n", false);
    assert_offends(rule, "core/CMakeLists.txt", "\npeat_room(cellar)\n", true);
    rule = states_its_licence;
    assert_offends(rule, "a.c", "/* SPDX-License-Identifier: MIT */\nint x;\n", false);
    assert_offends(rule, "a.c", "int x;\n/* SPDX-License-Identifier: MIT */\n", true);
    assert_offends(rule, "run", "#!/bin/sh\n# SPDX-License-Identifier: MIT\n", false);
    assert_offends(rule, "run", "#!/bin/sh\n", true);
    rule = includes_the_sdk_alone;
    assert_offends(rule, "plugins/scheme/a/a.c", "#include <peat/plugin.h>\n#include <math.h>\n",
                   false);
    assert_offends(rule, "plugins/scheme/a/a.c", "#include <pthread.h>\n", true);
    assert_offends(rule, "plugins/scheme/a/a.c", "#include \"base/file.h\"\n", true);
    rule = includes_one_header_of_ours;
    assert_offends(rule, "providers/a.c", "#include <a.h>\n#include <peat/gemm.h>\n", false);
    assert_offends(rule, "providers/a.c", "#include <peat/plugin.h>\n", true);
}

int main(void)
{
    return run_tests((struct tests){"layout", .seconds = 60, .needs = "PEAT_SOURCE"});
}

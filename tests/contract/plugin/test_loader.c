/* SPDX-License-Identifier: MIT */
/*
 * test_loader.c: which plugins are loaded, which are refused and with which message, and where they
 * are searched for.
 *
 * The plugins of planted/ are compiled here, each into its own directory.
 */
#include <fenv.h>

#include "nn/part.h"
#include "plugin/registry.h"
#include "support/support.h"

/* Of one test; a plugin path within its directory is "<dir>/...". */
static struct fixture {
    char dir[64];
    struct arena arena;
    struct error err;
} f;

static void open_fixture(void)
{
    f = (struct fixture){.err = {0}};
    new_folder(f.dir, sizeof(f.dir));
    arena_init(&f.arena, "run", 4096);
}

static void close_fixture(void)
{
    ck_assert_int_eq(dir_remove(f.dir, NULL), PEAT_OK);
    arena_release(&f.arena);
}

static const char *inside(const char *name)
{
    return arena_printf(&f.arena, "%s/%s", f.dir, name);
}

static int shell(const char *command)
{
    fflush(NULL);
    return system(command);
}

/* Compiles planted/<source>.c to <dir>/<target>; returns the path. */
static const char *build(const char *source, const char *target, const char *flags)
{
    const char *path = inside(target);
    char *parent = path_beside(path, "");
    ck_assert_int_eq(dir_make(parent, NULL), PEAT_OK);
    free(parent);
    const char *command = arena_printf(&f.arena,
                                       "${CC:-cc} -std=c11 -shared -fPIC -fvisibility=hidden %s "
                                       "-I\"$PEAT_SOURCE/include\" "
                                       "\"$PEAT_SOURCE/tests/contract/planted/%s.c\" -o '%s'",
                                       flags, source, path);
    ck_assert_msg(shell(command) == 0, "%s", command);
    return path;
}

static const char *write_bytes(const char *name, const void *bytes, size_t n)
{
    const char *path = inside(name);
    ck_assert_int_eq(file_write(path, bytes, n, NULL), PEAT_OK);
    return path;
}

/* A copy of a file with its first `n` bytes alone (0: all) and one byte changed (-1: none). */
static const char *damage(const char *from, const char *to, size_t n, int at, char byte)
{
    char *bytes;
    size_t size;
    ck_assert_int_eq(file_read(from, 0, &bytes, &size, NULL), PEAT_OK);
    if (at >= 0)
        bytes[at] = byte;
    const char *path = write_bytes(to, bytes, n ? n : size);
    free(bytes);
    return path;
}

/* The message with the test's directory taken out. */
static void assert_message(const char *expected)
{
    char text[sizeof(f.err.text)];
    size_t n = 0, skip = strlen(f.dir) + 1;
    for (const char *from = f.err.text; *from;) {
        if (!strncmp(from, f.dir, skip - 1) && from[skip - 1] == '/')
            from += skip;
        else
            text[n++] = *from++;
    }
    text[n] = '\0';
    ck_assert_str_eq(text, expected);
}

static void assert_refused(const char *path, const char *expected)
{
    const struct plugin *plugin = NULL;
    ck_assert_int_ne(plugin_load(&f.arena, path, OBJECT_HASHED, &plugin, &f.err), PEAT_OK);
    ck_assert_ptr_null(plugin);
    assert_message(expected);
}

/* ---- one file ---- */

/* A crime of planted/<source>.c and the message about it, without the path before it. */
struct crime {
    const char *source, *name, *text;
};

static const struct crime crimes[] = {
    {"descriptor", "null_descriptor", "peat_entry returned no descriptor"},
    {"descriptor", "wrong_magic", "its descriptor starts with 0x50414c43, not with 0x54414550"},
    {"descriptor", "wrong_abi", "built for ABI 0.3, this program loads 1.x and 0.1"},
    {"descriptor", "next_abi", "built for ABI 2.0, this program loads 1.x and 0.1"},
    {"descriptor", "short_descriptor", "its descriptor has 72 bytes, that of ABI 1.0 has 80"},
    {"descriptor", "id_with_capitals",
     "the id 'Rotary-2' may have lower-case letters, digits and underscores only"},
    {"descriptor", "version_of_two_lines", "plugin 'planted': the version must be one line"},
    {"descriptor", "scheme_as_task",
     "plugin 'planted': it is declared as a task, but its interface has 176 bytes, like a "
     "peat_scheme"},
    {"combine", "combine_as_task",
     "plugin 'planted': it is declared as a task, but its interface has 40 bytes, like a "
     "peat_combine"},
    {"descriptor", "no_summary", "plugin 'planted': the summary must be one line"},
    {"descriptor", "no_citation", "plugin 'planted': the citation must be one line, or \"\""},
    {"descriptor", "unknown_kind", "plugin 'planted': the kind 7 is unknown"},
    {"descriptor", "no_interface", "plugin 'planted': the interface is missing"},
    {"scheme", "no_size", "plugin 'planted': its peat_scheme does not set size"},
    {"scheme", "other_size",
     "plugin 'planted': its peat_scheme has 128 bytes, that of ABI 1.0 has at least 136"},
    {"scheme", "unknown_need", "plugin 'planted': needs has unknown bits 0x1000"},
    {"scheme", "unknown_trait", "plugin 'planted': traits has unknown bits 0x8000"},
    {"scheme", "too_many_axes", "plugin 'planted': max_axes must be from 0 to 3, not 4"},
    {"own", "own_axes_4", "plugin 'planted': own_axes must be from 0 to 3, not 4"},
    {"own", "own_axes_alone", "plugin 'planted': own_axes is set, but own_positions is not"},
    {"scheme", "scale_with_terms", "plugin 'planted': score_terms must be 0 with PEAT_SCALE_ONE"},
    {"scheme", "own_scale_without_qkv",
     "plugin 'planted': PEAT_SCALE_OWN is for the qkv hook, which is missing"},
    {"scheme", "carry_without_prepare", "plugin 'planted': carry is set, but prepare is not"},
    {"scheme", "stored_carry", "plugin 'planted': PEAT_STORABLE is not for a scheme with carry"},
    {"scheme", "terms_without_score", "plugin 'planted': score_terms is set, but score_add is not"},
    {"scheme", "weights_without_context",
     "plugin 'planted': PEAT_NEED_W is for the context hook, which is missing"},
    {"scheme", "width_without_encode", "plugin 'planted': width is set, but encode is not"},
    {"newer", "newer_field",
     "plugin 'planted': its peat_scheme sets fields that this program does not know: it has 184 "
     "bytes, "
     "here 176; a newer PEAT is needed"},
    {"combine", "combine_without_merge",
     "plugin 'planted': a combine needs merge, which is missing"},
    {"combine", "combine_without_streams",
     "plugin 'planted': max_streams 2 is below min_streams 3"},
    {"task", "task_without_metric", "plugin 'planted': a task needs a metric, and has none"},
    {"task", "task_without_train", "plugin 'planted': a task needs train, which is missing"},
};
enum { CRIMES = sizeof(crimes) / sizeof(crimes[0]) };

static const char *build_crime(const struct crime *crime)
{
    return build(crime->source, "x.so", arena_printf(&f.arena, "-DCRIME_%s", crime->name));
}

LOOP_TEST(each_bad_plugin_is_refused_with_its_reason, CRIMES)
{
    const struct crime *crime = &crimes[_i];
    assert_refused(build_crime(crime), arena_printf(&f.arena, "'x.so': %s", crime->text));
}

TEST(a_longer_interface_loads_when_it_sets_nothing_new)
{
    const struct plugin *plugin = NULL;
    ck_assert_int_eq(
        plugin_load(&f.arena, build("newer", "x.so", ""), OBJECT_HASHED, &plugin, &f.err), PEAT_OK);
    const peat_scheme *scheme = plugin->desc->interface;
    ck_assert_uint_eq(scheme->size, sizeof(*scheme));
    ck_assert_ptr_nonnull(scheme->setup);
    ck_assert_ptr_null(scheme->encode);
}

TEST(a_plugin_of_any_minor_of_this_major_loads)
{
    const struct plugin *plugin = NULL;
    const char *path = build("descriptor", "x.so", "-DABI_MINOR=7");
    ck_assert_msg(plugin_load(&f.arena, path, OBJECT_HASHED, &plugin, &f.err) == PEAT_OK, "%s",
                  f.err.text);
    ck_assert_uint_eq(plugin->desc->abi_minor, 7);
}

TEST(a_plugin_in_cxx_loads)
{
    if (shell("${CXX:-c++} --version >/dev/null 2>&1") != 0)
        return;
    const struct plugin *plugin = NULL;
    const char *command = arena_printf(&f.arena,
                                       "${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -shared -fPIC "
                                       "-fvisibility=hidden -I\"$PEAT_SOURCE/include\" "
                                       "\"$PEAT_SOURCE/tests/contract/planted/plain.cc\" -o '%s'",
                                       inside("x.so"));
    ck_assert_int_eq(shell(command), 0);
    ck_assert_msg(plugin_load(&f.arena, inside("x.so"), OBJECT_HASHED, &plugin, &f.err) == PEAT_OK,
                  "%s", f.err.text);
    ck_assert_ptr_nonnull(((const peat_scheme *)plugin->desc->interface)->residual);
}

static const struct crime row_crimes[] = {
    {"scheme", "preset_out_of_bounds", "base"},
    {"scheme", "one_key_twice", "base"},
    {"scheme", "row_outside_config", "base"},
    {"scheme", "reserved_key", "where"},
};
enum { ROW_CRIMES = sizeof(row_crimes) / sizeof(row_crimes[0]) };

LOOP_TEST(a_bad_row_is_refused_by_plugin_and_key, ROW_CRIMES)
{
    const struct crime *crime = &row_crimes[_i];
    const char *path = build_crime(crime);
    const struct plugin *plugin;
    ck_assert_int_ne(plugin_load(&f.arena, path, OBJECT_HASHED, &plugin, &f.err), PEAT_OK);
    const char *key = arena_printf(&f.arena, "'%s'", crime->text);
    ck_assert_ptr_nonnull(strstr(f.err.text, "plugin 'planted': "));
    ck_assert_ptr_nonnull(strstr(f.err.text, key));
}

TEST(what_is_no_plugin_is_named_for_what_it_is)
{
    const char *good = build("scheme", "good.so", "");
    assert_refused(inside("none.so"), "cannot open plugin 'none.so': No such file or directory");
    ck_assert_int_eq(mkdir(inside("dir.so"), 0777), 0);
    assert_refused(inside("dir.so"), "'dir.so' is a directory");
    ck_assert_int_eq(mkfifo(inside("pipe.so"), 0666), 0);
    assert_refused(inside("pipe.so"), "'pipe.so' is a named pipe, not a regular file");
    ck_assert_int_eq(symlink("/dev/zero", inside("zero.so")), 0);
    assert_refused(inside("zero.so"), "'zero.so' is a device, not a regular file");
    ck_assert_int_eq(truncate(write_bytes("sparse.so", "", 0), (off_t)1 << 40), 0);
    assert_refused(inside("sparse.so"), "'sparse.so' is not a shared object");
    ck_assert_int_eq(truncate(damage(good, "large.so", 0, -1, 0), (off_t)1 << 40), 0);
    assert_refused(inside("large.so"),
                   "'large.so' has 1099511627776 bytes, the limit is 268435456");
    assert_refused(write_bytes("empty.so", "", 0), "'empty.so' is empty");
    assert_refused(write_bytes("text.so", "int x;\n", 7), "'text.so' is not a shared object");
    assert_refused(damage(good, "cut.so", 2000, -1, 0), "'cut.so' is cut short");
    assert_refused(damage(good, "head.so", 40, -1, 0), "'head.so' is cut short");
    assert_refused(damage(good, "machine.so", 0, 18, 2),
                   "'machine.so' was built for another kind of machine");
    assert_refused("/proc/self/exe", "'/proc/self/exe' is not a shared object but an executable");
    assert_refused(build("descriptor", "no_entry.so", "-DCRIME_no_entry"),
                   "'no_entry.so' is not a PEAT plugin: it has no peat_entry");
}

TEST(an_unresolved_symbol_is_named)
{
    assert_refused(build("scheme", "x.so", "-DCRIME_undefined_symbol"),
                   "cannot load 'x.so': undefined symbol: arena_alloc");
}

#if defined(__SSE__)
TEST(a_change_of_rounding_is_refused_and_undone)
{
    assert_refused(build("descriptor", "x.so", "-DCRIME_flush_to_zero"),
                   "'x.so' was linked with -ffast-math: loading it changes how every number is "
                   "rounded");
    volatile float tiny = 1e-38f;
    ck_assert(tiny / 16 > 0);
}
#endif

TEST(a_good_plugin_is_loaded_with_hash_hooks_and_traits)
{
    const char *path = build("scheme", "some.so", "");
    const struct plugin *plugin;
    ck_assert_int_eq(plugin_load(&f.arena, path, OBJECT_HASHED, &plugin, &f.err), PEAT_OK);
    ck_assert_str_eq(plugin->name, "some");
    ck_assert_str_eq(plugin->desc->id, "planted");
    ck_assert_str_eq(plugin->path, path);
    char hex[HASH_HEX];
    ck_assert_int_eq(hash_file(path, hex, NULL), PEAT_OK);
    ck_assert_str_eq(plugin->sha256, hex);
    ck_assert_str_eq(plugin_hooks(plugin->desc, &f.arena), "prepare, qkv");
    ck_assert_str_eq(plugin_traits(plugin->desc, &f.arena), "shift-invariant, no-trainable");
}

/* ---- names ---- */

/* A registry over directories of the fixture alone: "a:b". */
static struct registry registry_over(const char *list)
{
    struct strbuf path;
    strbuf_init(&path);
    while (*list) {
        size_t n = strcspn(list, ":");
        strbuf_addf(&path, "%s/%.*s:", f.dir, (int)n, list);
        list += n + (list[n] == ':');
    }
    setenv("PEAT_PLUGIN_PATH", path.text, 1);
    setenv("HOME", f.dir, 1);
    strbuf_release(&path);
    struct registry r;
    ck_assert_int_eq(registry_init(&r, &f.arena, NULL, &f.err), PEAT_OK);
    return r;
}

static const struct plugin *must_find(struct registry *r, peat_kind kind, const char *name)
{
    const struct plugin *plugin = NULL;
    peat_status status = registry_find(r, kind, name, NOWHERE, &plugin, &f.err);
    ck_assert_msg(status == PEAT_OK, "%s", f.err.text);
    return plugin;
}

TEST(the_first_directory_wins_and_a_kind_folder_comes_before_the_flat_file)
{
    build("scheme", "a/x.so", "-DVERSION='\"flat\"'");
    build("scheme", "a/scheme/y.so", "-DVERSION='\"kind\"'");
    build("scheme", "a/y.so", "-DVERSION='\"flat\"'");
    build("scheme", "b/scheme/x.so", "-DVERSION='\"second\"'");
    build("scheme", "b/scheme/z.so", "-DVERSION='\"second\"'");
    build("scheme", ".local/lib/peat/plugins-1/scheme/home.so", "");
    struct registry r = registry_over("a::missing:b");
    ck_assert_str_eq(must_find(&r, PEAT_SCHEME, "x")->desc->version, "flat");
    ck_assert_str_eq(must_find(&r, PEAT_SCHEME, "y")->desc->version, "kind");
    ck_assert_str_eq(must_find(&r, PEAT_SCHEME, "scheme/z")->desc->version, "second");
    ck_assert_str_eq(must_find(&r, PEAT_SCHEME, "home")->desc->version, "1.0");
}

TEST(the_same_file_by_any_name_is_the_same_plugin)
{
    const char *path = build("scheme", "a/scheme/x.so", "");
    struct registry r = registry_over("a");
    const struct plugin *first = must_find(&r, PEAT_SCHEME, "x");
    ck_assert_ptr_eq(must_find(&r, PEAT_SCHEME, "scheme/x"), first);
    ck_assert_ptr_eq(must_find(&r, PEAT_SCHEME, path), first);
    ck_assert_ptr_eq(must_find(&r, PEAT_SCHEME, inside("a/../a/scheme/x.so")), first);
    ck_assert_int_eq(r.n, 1);
}

TEST(a_path_is_relative_to_the_file_it_is_written_in)
{
    build("scheme", "lab/mine.so", "");
    struct registry r = registry_over("");
    const struct place at = {inside("lab/exp.yaml"), 4, 9};
    const struct plugin *plugin = NULL;
    ck_assert_int_eq(registry_find(&r, PEAT_SCHEME, "./mine.so", at, &plugin, &f.err), PEAT_OK);
    ck_assert_str_eq(plugin->path, inside("lab/mine.so"));
    plugin = NULL;
    ck_assert_int_eq(registry_find(&r, PEAT_SCHEME, "mine.so", at, &plugin, &f.err), PEAT_OK);
    ck_assert_int_ne(registry_find(&r, PEAT_SCHEME, "./other.so", at, &plugin, &f.err), PEAT_OK);
    assert_message("lab/exp.yaml:4:9: cannot open plugin 'lab/./other.so': No such file or "
                   "directory");
    ck_assert_int_ne(registry_find(&r, PEAT_COMBINE, "./mine.so", at, &plugin, &f.err), PEAT_OK);
    assert_message("lab/exp.yaml:4:9: 'lab/mine.so' is a scheme, not a combine");
}

/* The message ends in the directories, of which the last is this test's own build. */
static void assert_starts(const char *expected)
{
    ck_assert_msg(!strncmp(f.err.text, expected, strlen(expected)), "'%s' does not start with '%s'",
                  f.err.text, expected);
}

TEST(an_unknown_name_gets_the_nearest_one_or_the_directories)
{
    build("scheme", "a/scheme/rotary.so", "");
    build("combine", "a/combine/sum.so", "");
    struct registry r = registry_over("a");
    const struct place at = {"exp.yaml", 7, 12};
    const struct plugin *plugin = NULL;
    ck_assert_int_ne(registry_find(&r, PEAT_SCHEME, "rotry", at, &plugin, &f.err), PEAT_OK);
    ck_assert_str_eq(f.err.text,
                     "exp.yaml:7:12: there is no scheme 'rotry'; did you mean 'rotary'?");
    ck_assert_int_ne(registry_find(&r, PEAT_SCHEME, "nosuch", at, &plugin, &f.err), PEAT_OK);
    assert_starts(arena_printf(&f.arena,
                               "exp.yaml:7:12: there is no scheme 'nosuch' (searched in '%s/a', "
                               "'%s/.local/lib/peat/plugins-1'",
                               f.dir, f.dir));
    ck_assert_int_ne(registry_find(&r, PEAT_SCHEME, "sum", at, &plugin, &f.err), PEAT_OK);
    assert_starts("exp.yaml:7:12: there is no scheme 'sum', but there is a combine of that name");
    ck_assert_int_ne(registry_find(&r, PEAT_SCHEME, "combine/sum", at, &plugin, &f.err), PEAT_OK);
    ck_assert_str_eq(f.err.text, "exp.yaml:7:12: 'combine/sum' names a combine, but a scheme is "
                                 "needed here");
    ck_assert_ptr_null(plugin);
}

TEST(a_name_in_two_kinds_must_say_which)
{
    build("scheme", "a/scheme/x.so", "");
    build("combine", "b/combine/x.so", "");
    build("combine", "b/only.so", "");
    struct registry r = registry_over("a:b");
    const struct plugin *plugin = NULL;
    ck_assert_int_ne(registry_find_any(&r, "x", &plugin, &f.err), PEAT_OK);
    ck_assert_str_eq(f.err.text, "'x' is both a scheme and a combine: say scheme/x or combine/x");
    ck_assert_int_eq(registry_find_any(&r, "combine/x", &plugin, &f.err), PEAT_OK);
    ck_assert_int_eq(plugin->desc->kind, PEAT_COMBINE);
    ck_assert_int_eq(registry_find_any(&r, "only", &plugin, &f.err), PEAT_OK);
    ck_assert_str_eq(plugin->name, "only");
    ck_assert_int_eq(registry_find_any(&r, inside("a/scheme/x.so"), &plugin, &f.err), PEAT_OK);
    ck_assert_int_eq(plugin->desc->kind, PEAT_SCHEME);
    ck_assert_int_ne(registry_find_any(&r, "onyl", &plugin, &f.err), PEAT_OK);
    assert_starts("there is no plugin 'onyl'; did you mean 'only'?");
}

static void collect(void *ctx, const char *path, const char *why)
{
    (void)path;
    strbuf_addf(ctx, "%s\n", why);
}

TEST(loading_all_sorts_leaves_out_the_shadowed_and_goes_on_after_bad_ones)
{
    build("scheme", "a/scheme/z.so", "-DVERSION='\"a\"'");
    build("combine", "a/combine/b.so", "");
    build("scheme", "a/scheme/bad.so", "-DCRIME_no_size");
    build("scheme", "b/scheme/z.so", "-DVERSION='\"b\"'");
    build("scheme", "b/scheme/bad.so", "-DVERSION='\"b\"'");
    build("scheme", "b/y.so", "");
    build("combine", "b/scheme/strayed.so", "");
    struct registry r = registry_over("a:b");
    r.dirs.n = 2; /* not those of the machine */
    struct strbuf bad;
    strbuf_init(&bad);
    registry_load_all(&r, collect, &bad);
    ck_assert_int_eq(r.n, 3);
    ck_assert_str_eq(r.item[0]->name, "y");
    ck_assert_str_eq(r.item[1]->name, "z");
    ck_assert_str_eq(r.item[1]->desc->version, "a");
    ck_assert_str_eq(r.item[2]->name, "b");
    ck_assert_int_eq(r.item[2]->desc->kind, PEAT_COMBINE);
    ck_assert_str_eq(r.item[0]->sha256, ""); /* a listing hashes no files */
    snprintf(f.err.text, sizeof(f.err.text), "%s", bad.text);
    assert_message("'a/scheme/bad.so': plugin 'planted': its peat_scheme does not set size\n"
                   "'b/scheme/strayed.so' is a combine, not a scheme\n");
    strbuf_release(&bad);
}

TEST(the_host_table_is_complete)
{
    const peat_host *host = host_table();
    ck_assert_uint_eq(host->size, sizeof(*host));
    ck_assert_uint_eq(host->abi_major, PEAT_ABI_MAJOR);
    ck_assert_uint_eq(host->abi_minor, PEAT_ABI_MINOR);
    /* All that follows is pointers to functions. */
    size_t first = offsetof(peat_host, param);
    for (size_t at = first; at < sizeof(*host); at += sizeof(void *)) {
        const void *function;
        memcpy(&function, (const char *)host + at, sizeof(function));
        ck_assert_msg(function != NULL, "the entry at byte %zu is NULL", at);
    }
    ck_assert_ptr_null(host->extension(host, "peat.nothing/1"));
    ck_assert_uint_ne(host->draw(1, 2), host->draw(1, 3));
}

int main(void)
{
    return run_tests((struct tests){"loader", open_fixture, close_fixture, .seconds = 60,
                                    .needs = "PEAT_SOURCE cc"});
}

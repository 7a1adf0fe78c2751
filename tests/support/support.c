/* SPDX-License-Identifier: MIT */
/* support.c: running the tests of a file. */
#include "support/support.h"

#include <math.h>

#include "support/limit.h"

static struct added_test *first;

/* Constructors run in no order that C promises: lines have one. */
void add_test(struct added_test *one)
{
    struct added_test **at = &first;
    while (*at && (*at)->test.line < one->test.line)
        at = &(*at)->next;
    one->next = *at;
    *at = one;
}

bool is_installed(const char *name)
{
    char line[256];
    const char *cc = getenv("CC");
    if (strncmp(name, "python3-", 8) == 0)
        snprintf(line, sizeof(line), "/usr/bin/python3 -c 'import %s' 2>/dev/null", name + 8);
    else
        snprintf(line, sizeof(line), "command -v %s >/dev/null 2>&1",
                 strcmp(name, "cc") == 0 && cc && *cc ? cc : name);
    return system(line) == 0;
}

int skip_all(const char *missing)
{
    printf("skipped: %s\n", missing);
    return SKIPPED;
}

/* <build>/tests/<kind>/<program> */
void use_built_plugins(void)
{
    char path[4096], plugins[4096 + 64];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (n < 0)
        abort(); /* may be called outside of tests */
    path[n] = '\0';
    for (int up = 0; up < 3; up++)
        *strrchr(path, '/') = '\0';
    snprintf(plugins, sizeof(plugins), "%s/" PEAT_LIBDIR "/" PEAT_PLUGIN_SUBDIR, path);
    setenv("PEAT_PLUGIN_PATH", plugins, 1);
}

/* The first of the words that is missing, into text. */
static bool lacks(const char *needs, char text[128])
{
    char word[64];
    for (int n; needs && sscanf(needs, "%63s%n", word, &n) == 1; needs += n) {
        bool variable = isupper((unsigned char)word[0]);
        snprintf(text, 128, variable ? "%s is not set" : "there is no %s", word);
        if (variable ? !getenv(word) : !is_installed(word))
            return true;
    }
    return false;
}

bool is_here(const char *needs)
{
    char missing[128];
    bool here = !lacks(needs, missing);
    if (!here)
        skip_all(missing);
    return here;
}

int test_patience(void)
{
    const char *times = getenv("PEAT_TEST_PATIENCE");
    return times && atoi(times) > 1 ? atoi(times) : 1;
}

static double limit;

/* Check ends a test by SIGKILL, which leaves nothing to look at. */
static void tell_guard(void)
{
    const char *path = getenv(LIMIT_VARIABLE);
    FILE *f = path ? fopen(path, "we") : NULL;
    if (!f)
        return;
    fprintf(f, "%.3f %g\n", clock_seconds() + limit, limit);
    fclose(f);
}

/* Where Check forks: it has limits only then. */
static void set_limit(TCase *tests, double seconds)
{
    const double least = 60; /* more than a pause of the machine */
    limit = test_patience() * fmax(seconds, least);
    if (getenv(LIMIT_VARIABLE) == NULL) {
        tcase_set_timeout(tests, limit);
        return;
    }
    tcase_set_timeout(tests, limit + LIMIT_STACKS);
    const char *fork = getenv("CK_FORK");
    if (!fork || strcmp(fork, "no") != 0)
        tcase_add_checked_fixture(tests, tell_guard, NULL);
}

int run_tests(struct tests t)
{
    char missing[128];
    if (lacks(t.needs, missing))
        return skip_all(missing);
    Suite *suite = suite_create(t.subject);
    TCase *tests = tcase_create(t.subject);
    set_limit(tests, t.seconds);
    (t.once ? tcase_add_unchecked_fixture : tcase_add_checked_fixture)(tests, t.open, t.close);
    const char *group = NULL;
    for (const struct added_test *one = first; one; one = one->next)
        if (!one->times)
            group = one->test.name;
        else if (group == t.group || (group && t.group && strcmp(group, t.group) == 0))
            tcase_add_loop_test(tests, &one->test, 0, one->times());
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

char scratch_dir[64];

/* May be called outside of tests. */
static void need(bool made, const char *path)
{
    if (made)
        return;
    perror(path);
    abort();
}

static void name_new(char *path, size_t room)
{
    char *pattern = own_dir_pattern("test");
    need(strlen(pattern) < room, pattern);
    strcpy(path, pattern);
    free(pattern);
}

void new_folder(char *path, size_t room)
{
    name_new(path, room);
    need(mkdtemp(path) != NULL, path);
}

void new_file(char *path, size_t room, const void *bytes, size_t n)
{
    name_new(path, room);
    int fd = mkstemp(path);
    need(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && close(fd) == 0, path);
}

void scratch_make(void)
{
    new_folder(scratch_dir, sizeof(scratch_dir));
}

void scratch_remove(void)
{
    ck_assert_int_eq(dir_remove(scratch_dir, NULL), PEAT_OK);
}

const char *scratch_path(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", scratch_dir, name);
    return path;
}

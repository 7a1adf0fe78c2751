/* SPDX-License-Identifier: MIT */
/* faultkit.c: running programs with faults and checking what they leave. */
#include "fault/faultkit.h"

#include <poll.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "support/support.h"

enum { LIMIT_MS = 60 * 1000, FAILURES_SHOWN = 20 };

/* Shared with the workers that a test forks. */
static atomic_int *failed;

static void die(const char *what)
{
    fprintf(stderr, "fault test: %s: %s\n", what, strerror(errno));
    exit(99);
}

void rig_open(struct rig *s, int argc, char **argv)
{
    *s = (struct rig){.peat = getenv("PEAT"), .seed = 20260131};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--long"))
            s->is_long = true;
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            s->seed = strtoull(argv[++i], NULL, 10);
    }
    failed = mmap(NULL, sizeof(*failed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (failed == MAP_FAILED || !s->peat)
        die("PEAT must be set");
    new_folder(s->dir, sizeof(s->dir));
}

int rig_close(struct rig *s)
{
    int n = failures();
    if (n)
        fprintf(stderr, "%d expectations failed (seed %llu)\n", n, s->seed);
    dir_remove(s->dir, NULL);
    return n ? EXIT_FAILURE : EXIT_SUCCESS;
}

char *rig_path(const struct rig *s, const char *fmt, ...)
{
    struct strbuf path;
    va_list args;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/", s->dir);
    va_start(args, fmt);
    strbuf_addv(&path, fmt, args);
    va_end(args);
    return strbuf_detach(&path);
}

void rig_write(const struct rig *s, const char *name, const char *text)
{
    char *path = rig_path(s, "%s", name);
    if (file_write(path, text, strlen(text), NULL) != PEAT_OK)
        die(path);
    free(path);
}

void rig_write_text(const struct rig *s, int lines, int other)
{
    struct strbuf text;
    strbuf_init(&text);
    for (int i = 0; i < lines; i++)
        strbuf_addf(&text, "line %d of %d\n", i == other ? 1000 : i, i * i);
    rig_write(s, "text.txt", text.text);
    strbuf_release(&text);
}

/* splitmix64 */
unsigned long long draw(unsigned long long *state)
{
    unsigned long long z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

void expect(bool holds, const char *fmt, ...)
{
    if (holds || atomic_fetch_add(failed, 1) >= FAILURES_SHOWN)
        return;
    va_list args;
    struct strbuf line;
    strbuf_init(&line);
    strbuf_add(&line, "FAILED: ");
    va_start(args, fmt);
    strbuf_addv(&line, fmt, args);
    va_end(args);
    strbuf_add(&line, "\n");
    fwrite(line.text, 1, line.n, stderr);
    strbuf_release(&line);
}

int failures(void)
{
    return atomic_load(failed);
}

/* ---- programs ---- */

static char **environment(const struct rig *s, int slot, const char *fault, struct strbuf *text)
{
    static const char *const dropped[] = {
        "LD_PRELOAD=", "PEAT_PLUGIN_PATH=", "HOME=", "PEAT_FAULT"};
    size_t n = 0, out = 0;
    while (environ[n])
        n++;
    char **env = calloc(n + 8, sizeof(*env));
    for (size_t i = 0; env && i < n; i++) {
        bool drop = false;
        for (size_t k = 0; k < sizeof(dropped) / sizeof(*dropped); k++)
            drop = drop || !strncmp(environ[i], dropped[k], strlen(dropped[k]));
        if (!drop)
            env[out++] = strdup(environ[i]);
    }
    env[out++] = strdup("HOME=/nonexistent");
    strbuf_addf(text, "PEAT_PLUGIN_PATH=%s/plugins", s->dir);
    env[out++] = strdup(text->text);
    if (!fault)
        return env;
    static const char *const fmt[] = {"LD_PRELOAD=%s", "PEAT_FAULT=%s", "PEAT_FAULT_FIRED=%s"};
    char *fired = rig_path(s, "fired.%d", slot);
    const char *const value[] = {getenv("PEAT_FAULT_LIBRARY"), fault, fired};
    for (int i = 0; i < 3; i++) {
        strbuf_clear(text);
        strbuf_addf(text, fmt[i], value[i] ? value[i] : "");
        env[out++] = strdup(text->text);
    }
    free(fired);
    return env;
}

static void free_list(char **list)
{
    for (char **at = list; *at; at++)
        free(*at);
    free(list);
}

/* peat and its words, which hold no spaces. */
static char **arguments(const struct rig *s, const char *words)
{
    char **argv = calloc(strlen(words) + 3, sizeof(*argv)), *copy = strdup(words), *rest = copy;
    int n = 0;
    argv[n++] = strdup(s->peat);
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        argv[n++] = strdup(word);
    free(copy);
    return argv;
}

static pid_t start(const struct rig *s, int slot, const char *fault, const char *words)
{
    struct strbuf text;
    strbuf_init(&text);
    char **env = environment(s, slot, fault, &text), **argv = arguments(s, words);
    char *out = rig_path(s, "%d.out", slot), *err = rig_path(s, "%d.err", slot);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    pid_t pid = 0;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_addopen(&files, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_addchdir_np(&files, s->dir);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    if (posix_spawn(&pid, s->peat, &files, &attributes, argv, env) != 0)
        die(s->peat);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free_list(argv);
    free_list(env);
    free(out);
    free(err);
    strbuf_release(&text);
    return pid;
}

pid_t start_peat(const struct rig *s, int slot, const char *words)
{
    return start(s, slot, NULL, words);
}

/* A process that takes longer than the limit is ended with its group. */
static int wait_for(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0), status;
    struct pollfd end = {.fd = fd, .events = POLLIN};
    bool late = fd >= 0 && poll(&end, 1, LIMIT_MS * test_patience()) == 0;
    if (late)
        kill(-pid, SIGKILL);
    if (fd >= 0)
        close(fd);
    if (waitpid(pid, &status, 0) != pid)
        die("waitpid");
    if (late)
        return RAN_TOO_LONG;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void slurp(const struct rig *s, int slot, const char *name, struct strbuf *text)
{
    char *path = rig_path(s, "%d.%s", slot, name), *bytes = NULL;
    size_t n = 0;
    strbuf_init(text);
    if (file_read(path, 0, &bytes, &n, NULL) == PEAT_OK)
        strbuf_add_bytes(text, bytes, n);
    free(bytes);
    free(path);
}

void run_peat(const struct rig *s, int slot, const char *fault, const char *words, struct ran *r)
{
    char *fired = rig_path(s, "fired.%d", slot);
    unlink(fired);
    free(fired);
    r->status = wait_for(start(s, slot, fault, words));
    slurp(s, slot, "out", &r->out);
    slurp(s, slot, "err", &r->err);
}

void ran_release(struct ran *r)
{
    strbuf_release(&r->out);
    strbuf_release(&r->err);
}

bool has_fired(const struct rig *s, int slot)
{
    char *fired = rig_path(s, "fired.%d", slot);
    bool has = file_exists(fired);
    free(fired);
    return has;
}

bool is_good_end(const struct ran *r, bool killed)
{
    int n = r->status;
    return n == 0 || n == 1 || n == 2 || n == 130 || (killed && n == 1000 + SIGKILL);
}

/* ---- grids ---- */

/* A line of result.json that is another one in another run: `  "wall_s": 3.25,`. */
static bool is_volatile(const char *line, size_t n)
{
    char key[64] = "";
    const char *from = memchr(line, '"', n);
    if (from)
        sscanf(from, "\"%63[^\"]\":", key);
    return quantity_is_timed(key) || !strcmp(key, "meta_hash") || !strcmp(key, "check");
}

static void add_file(const char *dir, const char *name, bool lines, struct strbuf *out)
{
    char *path = path_join(dir, name), *text = NULL;
    size_t n = 0;
    if (file_read(path, 0, &text, &n, NULL) != PEAT_OK)
        strbuf_addf(out, "no %s\n", name);
    for (char *at = text, *end; text && (end = memchr(at, '\n', n - (size_t)(at - text)));
         at = end + 1)
        if (!lines || !is_volatile(at, (size_t)(end - at)))
            strbuf_add_bytes(out, at, (size_t)(end - at) + 1);
    free(text);
    free(path);
}

char *grid_fingerprint(const struct rig *s, const char *run)
{
    struct strbuf all;
    char *cells = rig_path(s, "%s/cells", run), **name = NULL;
    int n = 0;
    strbuf_init(&all);
    dir_list(cells, &name, &n, NULL);
    for (int i = 0; i < n; i++) {
        char *dir = path_join(cells, name[i]);
        strbuf_addf(&all, "%s\n", name[i]);
        add_file(dir, "metrics.jsonl", false, &all);
        add_file(dir, "result.json", true, &all);
        free(dir);
    }
    names_free(name, n);
    free(cells);
    return strbuf_detach(&all);
}

/* experiment ... value: the value ends where the costs begin. The header says where. */
static size_t through_value(const char *line, int columns)
{
    const char *at = line;
    bool quoted = false;
    for (; *at && *at != '\n'; at++) {
        if (*at == '"')
            quoted = !quoted;
        else if (*at == ',' && !quoted && --columns == 0)
            break;
    }
    return (size_t)(at - line);
}

static int value_column(const char *header)
{
    int column = 1;
    for (const char *at = header; *at && *at != '\n'; column++) {
        size_t n = strcspn(at, ",\n");
        if (n == 5 && !memcmp(at, "value", 5))
            return column;
        at += n + (at[n] == ',');
    }
    return -1;
}

void expect_table_within(const struct rig *s, int slot, const char *run, const char *reference_csv,
                         const char *what)
{
    struct ran r;
    struct strbuf words;
    strbuf_init(&words);
    strbuf_addf(&words, "results %s --format csv", run);
    run_peat(s, slot, NULL, words.text, &r);
    expect(r.status == 0 || r.status == 1 || r.status == 2, "%s: results ends with %d", what,
           r.status);
    int column = value_column(r.out.text);
    const char *line = strchr(r.out.text, '\n');
    expect(r.status != 0 || (column > 0 && line), "%s: results is no table", what);
    for (line = line ? line + 1 : ""; column > 0 && *line; line += strcspn(line, "\n") + 1) {
        size_t n = through_value(line, column);
        bool empty = n == 0 || line[n - 1] == ',';
        expect(empty || memmem(reference_csv, strlen(reference_csv), line, n) != NULL,
               "%s: results shows '%.*s'", what, (int)n, line);
        if (!strchr(line, '\n'))
            break;
    }
    strbuf_release(&words);
    ran_release(&r);
}

static void look_below(const char *dir, const char *what)
{
    char **name = NULL;
    int n = 0;
    if (dir_list(dir, &name, &n, NULL) != PEAT_OK)
        return;
    for (int i = 0; i < n; i++) {
        expect(!strstr(name[i], ".tmp"), "%s: '%s/%s' is left", what, dir, name[i]);
        char *path = path_join(dir, name[i]);
        struct stat st;
        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
            look_below(path, what);
        free(path);
    }
    names_free(name, n);
}

void expect_no_leftovers(const struct rig *s, const char *run, const char *what)
{
    char *dir = rig_path(s, "%s", run);
    look_below(dir, what);
    free(dir);
}

static void copy_file(const char *from, const char *to)
{
    char *bytes = NULL;
    size_t n = 0;
    int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || file_read(from, 0, &bytes, &n, NULL) != PEAT_OK ||
        fd_write(fd, bytes, n, NULL) != PEAT_OK)
        die(to);
    close(fd);
    free(bytes);
}

void copy_tree(const char *from, const char *to)
{
    char **name = NULL;
    int n = 0;
    if (mkdir(to, 0777) < 0 || dir_list(from, &name, &n, NULL) != PEAT_OK)
        die(to);
    for (int i = 0; i < n; i++) {
        char *source = path_join(from, name[i]), *target = path_join(to, name[i]);
        struct stat st;
        if (stat(source, &st) == 0 && S_ISDIR(st.st_mode))
            copy_tree(source, target);
        else
            copy_file(source, target);
        free(source);
        free(target);
    }
    names_free(name, n);
}

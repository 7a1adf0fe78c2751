/* SPDX-License-Identifier: MIT */
/* child.c: posix_spawn and fork, and waiting for the processes that they started. */
#include "process/child.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "process/parent.h"

/* ---- starting ---- */

static void close_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* If this process inherited an ignored SIGCHLD, children would end without a status. */
static void keep_statuses(void)
{
    signal(SIGCHLD, SIG_DFL);
}

static int add_files(posix_spawn_file_actions_t *files, const struct child *c, int trail)
{
    const int from[] = {c->out, c->err, trail};
    const int to[] = {STDOUT_FILENO, STDERR_FILENO, CHILD_TRAIL};
    int bad = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (int i = 0; i < 3 && !bad; i++)
        if (from[i] > 0)
            bad = posix_spawn_file_actions_adddup2(files, from[i], to[i]);
    return bad || !c->dir ? bad : posix_spawn_file_actions_addchdir_np(files, c->dir);
}

/* The signals that stay ignored: SIGHUP, so that a process under nohup outlives its terminal. */
static void inherited_signals(sigset_t *preset)
{
    sigset_t stops;
    stops_set(&stops);
    sigfillset(preset);
    if (!sigismember(&stops, SIGHUP))
        sigdelset(preset, SIGHUP);
}

static int set_attributes(posix_spawnattr_t *attributes, bool own_group)
{
    sigset_t none, preset;
    sigemptyset(&none);
    inherited_signals(&preset);
    short group = own_group ? POSIX_SPAWN_SETPGROUP : 0;
    int bad = posix_spawnattr_setflags(
        attributes, (short)(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    bad = bad ? bad : posix_spawnattr_setpgroup(attributes, 0);
    bad = bad ? bad : posix_spawnattr_setsigmask(attributes, &none);
    return bad ? bad : posix_spawnattr_setsigdefault(attributes, &preset);
}

static int spawn(struct child *c, int trail)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int bad = posix_spawn_file_actions_init(&files);
    if (bad)
        return bad;
    bad = posix_spawnattr_init(&attributes);
    if (!bad) {
        char *const *env = c->env ? c->env : environ;
        bad = add_files(&files, c, trail);
        bad = bad ? bad : set_attributes(&attributes, c->own_group);
        bad = bad ? bad : posix_spawnp(&c->pid, *c->argv, &files, &attributes, c->argv, env);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return bad;
}

/* A failure in the new process before exec is reported by its errno too. The log is opened here
 * first, so that a full or unwritable directory is not reported as a failure of the program. */
peat_status child_start(struct child *c, struct error *err)
{
    int log = -1, trail = -1;
    if (c->log) {
        peat_status status = file_open(c->log, O_WRONLY | O_CREAT | O_APPEND, FILE_OWN, &log, err);
        if (status != PEAT_OK)
            return status;
        c->out = c->err = log;
    }
    if (c->has_trail)
        c->trail = trail_page_new(&trail);
    keep_statuses();
    c->started = clock_seconds();
    int bad = spawn(c, trail);
    close_open(log);
    close_open(trail);
    if (!bad)
        return PEAT_OK;
    child_release(c);
    return error_set(err, bad == ENOENT ? PEAT_NOTFOUND : PEAT_IO, "cannot start '%s': %s",
                     c->argv[0], strerror(bad));
}

peat_status child_fork(struct child *c, struct error *err)
{
    pid_t parent = getpid();
    c->own_group = true;
    c->trail = trail_page_new(NULL);
    keep_statuses();
    fflush(NULL);
    c->pid = c->trail ? fork() : -1;
    if (c->pid < 0) {
        child_release(c);
        return error_set(err, PEAT_IO, "cannot start a process for plugins: %s", strerror(errno));
    }
    setpgid(c->pid, c->pid);
    if (c->pid == 0) {
        stops_kill_process();
        if (!parent_follow(parent, SIGKILL))
            _exit(1);
    }
    return PEAT_OK;
}

void child_release(struct child *c)
{
    trail_page_free(c->trail);
    c->trail = NULL;
}

/* ---- ending ---- */

void child_signal(const struct child *c, int signal)
{
    kill(c->own_group ? -c->pid : c->pid, signal);
}

void child_end(struct child *c)
{
    child_signal(c, SIGTERM);
    child_signal(c, SIGCONT);
    c->late = true;
    c->looked = clock_seconds();
    c->deadline = c->looked + c->grace;
}

bool child_is_due(struct child *c)
{
    const double longest_look = 2;
    double now = clock_seconds(), past = now - c->looked;
    if (c->late && c->deadline > 0 && past > longest_look)
        c->deadline += past;
    c->looked = now;
    return c->deadline > 0 && now >= c->deadline;
}

void child_kill(struct child *c)
{
    child_signal(c, SIGKILL);
    c->deadline = 0;
}

/* ---- waiting ---- */

static int wait_id(const struct child *c, int options, siginfo_t *info)
{
    int bad;
    *info = (siginfo_t){0};
    do
        bad = waitid(P_PID, (id_t)c->pid, info, WEXITED | options);
    while (bad && errno == EINTR);
    return bad;
}

/* Until a process is waited for, its number cannot belong to another group. */
static bool reap(struct child *c, int options)
{
    siginfo_t info;
    if (c->ended)
        return true;
    if (wait_id(c, options | WNOWAIT, &info) == 0 && info.si_pid != c->pid)
        return false;
    if (c->own_group)
        child_signal(c, SIGKILL);
    c->ended = true;
    bool exited = wait_id(c, 0, &info) == 0 && info.si_code == CLD_EXITED;
    c->code = exited ? info.si_status : -1;
    c->signal = exited ? 0 : info.si_status;
    return true;
}

bool child_has_ended(struct child *c)
{
    return reap(c, WNOHANG);
}

bool child_is_left(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

double child_cpu(const struct child *c)
{
    clockid_t clock;
    struct timespec used = {0, 0};
    if (clock_getcpuclockid(c->pid, &clock) == 0)
        clock_gettime(clock, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* A file of /proc; freed by the caller, NULL: no such file. */
static char *read_proc(pid_t pid, const char *name)
{
    char path[64], *text = NULL;
    size_t n = 0;
    snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
    return file_read(path, 0, &text, &n, NULL) == PEAT_OK ? text : NULL;
}

void child_doing(const struct child *c, char text[CHILD_DOING])
{
    char *status = read_proc(c->pid, "status"), *waits = read_proc(c->pid, "wchan");
    const char *state = status ? strstr(status, "\nState:") : NULL, *word = NULL;
    int n = 0;
    if (state && (word = strchr(state, '(')) != NULL)
        n = (int)strcspn(++word, ")");
    bool known = waits && waits[0] && strcmp(waits, "0") != 0;
    snprintf(text, CHILD_DOING, "%.*s%s%s", n ? n : CHILD_DOING, n ? word : "waiting",
             known ? " in " : "", known ? waits : "");
    free(status);
    free(waits);
}

/* Waits one millisecond at first, for children that end soon. */
static void take_nap(struct timespec *nap)
{
    enum { LONGEST_NS = 20 * 1000 * 1000 };
    nanosleep(nap, NULL);
    if (nap->tv_nsec < LONGEST_NS)
        nap->tv_nsec += nap->tv_nsec / 8;
}

void child_wait(struct child *c)
{
    struct timespec nap = {0, 1000 * 1000};
    while (!reap(c, WNOHANG)) {
        if (child_is_due(c) && c->late)
            child_kill(c);
        else if (child_is_due(c) || (!c->late && stops_waiting()))
            child_end(c);
        else
            take_nap(&nap);
    }
}

/* ---- output ---- */

static void read_back(int fd, struct strbuf *out)
{
    char part[4096];
    off_t at = 0;
    for (ssize_t n; (n = pread(fd, part, sizeof(part), at)) > 0; at += n)
        strbuf_add_bytes(out, part, (size_t)n);
}

/* Copies output into memory, so that the child never waits for a reader. */
peat_status child_run(struct child *c, struct strbuf *out, struct strbuf *said, struct error *err)
{
    peat_status status = PEAT_OK;
    struct stops_held held;
    stops_hold(&held);
    c->out = memfd_create("peat-out", MFD_CLOEXEC);
    c->err = said ? memfd_create("peat-said", MFD_CLOEXEC) : c->out;
    if (c->out < 0 || c->err < 0)
        status = error_set(err, PEAT_IO, "cannot start '%s': %s", c->argv[0], strerror(errno));
    if (status == PEAT_OK)
        status = child_start(c, err);
    if (status == PEAT_OK) {
        child_wait(c);
        read_back(c->out, out);
        if (said)
            read_back(c->err, said);
    }
    close_open(c->out);
    close_open(said ? c->err : -1);
    stops_let(&held);
    return status;
}

const char *signal_name(int signal, char name[SIGNAL_NAME])
{
    const char *short_name = sigabbrev_np(signal);
    if (short_name)
        snprintf(name, SIGNAL_NAME, "SIG%s", short_name);
    else
        snprintf(name, SIGNAL_NAME, "signal %d", signal);
    return name;
}

bool signal_is_sent(int signal)
{
    return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGKILL;
}

/* ---- the end of a log ---- */

enum { LOG_TAIL = 1 << 16 };

/* The last LOG_TAIL bytes at most after `from`, terminated. */
static char *read_tail(const char *path, off_t from, size_t *n, struct arena *a)
{
    int fd;
    struct stat st = {0};
    if (file_open(path, O_RDONLY, FILE_ANYONES, &fd, NULL) != PEAT_OK || fstat(fd, &st) < 0)
        st.st_size = 0;
    if (st.st_size - from > LOG_TAIL)
        from = st.st_size - LOG_TAIL;
    size_t wanted = st.st_size > from ? (size_t)(st.st_size - from) : 0;
    char *text = arena_alloc(a, wanted + 1);
    ssize_t got = wanted ? pread(fd, text, wanted, from) : 0;
    *n = got > 0 ? (size_t)got : 0;
    text[*n] = '\0';
    if (fd >= 0)
        close(fd);
    return text;
}

const char *log_last_line(const char *path, off_t from, const char *prefix, struct arena *a)
{
    size_t n, skip = strlen(prefix);
    char *text = read_tail(path, from, &n, a);
    while (n) {
        while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
            text[--n] = '\0';
        while (n && text[n - 1] != '\n')
            n--;
        const char *line = text + n;
        if (!strncmp(line, prefix, skip) && line[skip])
            return line + skip;
    }
    return NULL;
}

const char *log_sanitizer_line(const char *path, off_t from, struct arena *a)
{
    size_t n;
    char *rest = read_tail(path, from, &n, a);
    for (char *line; (line = strsep(&rest, "\n"));)
        if (strstr(line, "ERROR: ") || strstr(line, "runtime error: "))
            return line;
    return NULL;
}

/* ---- this program, started again ---- */

peat_status own_program(char *path, size_t n, struct error *err)
{
    ssize_t length = readlink("/proc/self/exe", path, n - 1);
    if (length < 0)
        return error_set(err, PEAT_IO, "cannot find out where this program is: %s",
                         strerror(errno));
    path[length] = '\0';
    return PEAT_OK;
}

/* One thread for BLAS, since the engine divides its products itself. One malloc arena for each of
 * few threads, so peak memory can be compared between cells. Waiting threads spin for microseconds
 * instead of milliseconds: where cells share cores, long spins took ten times as long. */
char **cell_environment(struct arena *a, int64_t threads)
{
    char *set[] = {arena_printf(a, "OMP_NUM_THREADS=%" PRId64, threads),
                   arena_strdup(a, "OPENBLAS_NUM_THREADS=1"), arena_strdup(a, "OMP_DYNAMIC=false"),
                   arena_strdup(a, "MALLOC_ARENA_MAX=2"), arena_strdup(a, "GOMP_SPINCOUNT=1000")};
    /* The user may choose how threads wait, so GOMP_SPINCOUNT comes last and may be left out. */
    const size_t all = sizeof(set) / sizeof(*set);
    const size_t n_set = getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY") ? all - 1 : all;
    size_t n = 0, out = 0;
    while (environ[n])
        n++;
    char **env = arena_array(a, n + n_set + 1, sizeof(*env));
    for (size_t i = 0; i < n; i++) {
        bool replaced = false;
        for (size_t j = 0; j < n_set; j++)
            replaced = replaced || !strncmp(environ[i], set[j], strcspn(set[j], "=") + 1);
        if (!replaced)
            env[out++] = environ[i];
    }
    for (size_t j = 0; j < n_set; j++)
        env[out++] = set[j];
    return env;
}

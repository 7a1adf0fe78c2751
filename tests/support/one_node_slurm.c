/* SPDX-License-Identifier: MIT */
/* one_node_slurm.c: munged, slurmctld and slurmd in the foreground. */
#include "support/one_node_slurm.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "support/support.h"

#define START_SECONDS 60.0
#define END_SECONDS   60.0

enum { KEY_BYTES = 128 };

static const char path_of_daemons[] = "/usr/local/sbin:/usr/sbin:/sbin";

static void nap(void)
{
    nanosleep(&(struct timespec){0, 50 * 1000 * 1000}, NULL);
}

static void host_name(char name[256])
{
    memset(name, 0, 256);
    gethostname(name, 255);
    name[strcspn(name, ".")] = '\0';
}

/* Daemons are not on every PATH. */
static bool has_program(const char *name)
{
    char command[512];
    snprintf(command, sizeof(command), "PATH=\"$PATH:%s\" command -v %s >/dev/null 2>&1",
             path_of_daemons, name);
    return system(command) == 0;
}

const char *one_node_missing(void)
{
    static const char *const program[] = {"munged", "slurmctld", "slurmd", "sbatch",
                                          "squeue", "scontrol",  "scancel"};
    char host[256];
    if (geteuid() != 0)
        return "not root";
    for (size_t i = 0; i < sizeof(program) / sizeof(*program); i++)
        if (!has_program(program[i]))
            return "Slurm or munge is not installed";
    host_name(host);
    return gethostbyname(host) ? NULL : "the name of this host has no address";
}

/* ---- processes ---- */

/* Its output goes to dir/NAME.out. */
static pid_t start(const char *dir, const char *const *word)
{
    char log[128];
    snprintf(log, sizeof(log), "%s/%s.out", dir, word[0]);
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid != 0)
        return pid > 0 ? pid : 0;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (getppid() != parent || fd < 0)
        _exit(1);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    execvp(word[0], (char *const *)(uintptr_t)word);
    _exit(127);
}

static void end(pid_t *pid)
{
    double until = clock_seconds() + END_SECONDS;
    if (*pid <= 0)
        return;
    kill(*pid, SIGTERM);
    while (waitpid(*pid, NULL, WNOHANG) == 0) {
        if (clock_seconds() > until)
            kill(*pid, SIGKILL);
        nap();
    }
    *pid = 0;
}

/* True when the command comes to succeed in time. */
static bool comes_true(const char *command, double seconds)
{
    double until = clock_seconds() + seconds;
    while (system(command) != 0) {
        if (clock_seconds() > until)
            return false;
        nap();
    }
    return true;
}

/* ---- files ---- */

/* One that was free a moment ago. */
static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t n = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = 0;
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, n) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &n) == 0)
        port = ntohs(address.sin_port);
    if (fd >= 0)
        close(fd);
    return port;
}

/* cred_expire: a task that is put back waits as long. Everything listens on loopback alone. */
static void write_configuration(const struct one_node_slurm *s, struct strbuf *out)
{
    const char *d = s->dir;
    char host[256];
    host_name(host);
    strbuf_addf(out, "ClusterName=test\nSlurmctldHost=%s(127.0.0.1)\n", host);
    strbuf_addf(out, "SlurmctldPort=%d\nSlurmdPort=%d\n", free_port(), free_port());
    strbuf_add(out, "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny\n"
                    "SlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\nCredType=cred/munge\n");
    strbuf_addf(out, "AuthInfo=socket=%s/munge/sock,cred_expire=5\n", d);
    strbuf_addf(out, "StateSaveLocation=%s/state\nSlurmdSpoolDir=%s/spool\n", d, d);
    strbuf_addf(out, "SlurmctldPidFile=%s/slurmctld.pid\nSlurmdPidFile=%s/slurmd.pid\n", d, d);
    strbuf_addf(out, "SlurmctldLogFile=%s/slurmctld.log\nSlurmdLogFile=%s/slurmd.log\n", d, d);
    strbuf_add(out, "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
                    "JobAcctGatherType=jobacct_gather/none\n"
                    "AccountingStorageType=accounting_storage/none\nJobCompType=jobcomp/none\n"
                    "MpiDefault=none\nSwitchType=switch/none\nReturnToService=2\n"
                    "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
                    "SlurmdParameters=config_overrides\nMaxArraySize=101\n"
                    "SchedulerParameters=bf_interval=1,batch_sched_delay=0\n");
    strbuf_addf(out, "NodeName=%s NodeAddr=127.0.0.1 CPUs=2 RealMemory=500 State=UNKNOWN\n", host);
    strbuf_add(out, "PartitionName=test Nodes=ALL Default=YES MaxTime=10 State=UP\n");
}

static bool write_one(const char *dir, const char *name, const void *bytes, size_t n)
{
    char *path = path_join(dir, name);
    bool written = file_write(path, bytes, n, NULL) == PEAT_OK && chmod(path, 0600) == 0;
    free(path);
    return written;
}

static bool write_files(const struct one_node_slurm *s)
{
    static const char *const folder[] = {"munge", "state", "spool"};
    char key[KEY_BYTES], path[128];
    bool written = getrandom(key, sizeof(key), 0) == (ssize_t)sizeof(key);
    struct strbuf text = STRBUF_NEW;
    for (size_t i = 0; i < sizeof(folder) / sizeof(*folder); i++) {
        snprintf(path, sizeof(path), "%s/%s", s->dir, folder[i]);
        written = written && mkdir(path, 0755) == 0;
    }
    write_configuration(s, &text);
    written = written && write_one(s->dir, "munge/key", key, sizeof(key)) &&
              write_one(s->dir, "slurm.conf", text.text, text.n);
    strbuf_release(&text);
    return written;
}

/* ---- the whole ---- */

static void start_munged(struct one_node_slurm *s)
{
    char option[5][128];
    static const char *const name[] = {"key-file", "socket", "pid-file", "seed-file", "log-file"};
    static const char *const file[] = {"key", "sock", "pid", "seed", "log"};
    for (int i = 0; i < 5; i++)
        snprintf(option[i], sizeof(option[i]), "--%s=%s/munge/%s", name[i], s->dir, file[i]);
    const char *const word[] = {"munged",  "--foreground", "--force", option[0], option[1],
                                option[2], option[3],      option[4], NULL};
    s->munged = start(s->dir, word);
}

static void start_slurm(struct one_node_slurm *s)
{
    char configuration[128], host[256];
    host_name(host);
    snprintf(configuration, sizeof(configuration), "%s/slurm.conf", s->dir);
    const char *const controller[] = {"slurmctld", "-D", "-f", configuration, NULL};
    const char *const node[] = {"slurmd", "-D", "-f", configuration, "-N", host, NULL};
    setenv("SLURM_CONF", configuration, 1);
    s->slurmctld = start(s->dir, controller);
    s->slurmd = start(s->dir, node);
}

bool one_node_open(struct one_node_slurm *s)
{
    char path[4096], command[256];
    const char *given = getenv("PATH");
    *s = (struct one_node_slurm){.dir = ""};
    new_folder(s->dir, sizeof(s->dir));
    snprintf(path, sizeof(path), "%s:%s", given ? given : "/usr/bin:/bin", path_of_daemons);
    setenv("PATH", path, 1);
    if (chmod(s->dir, 0755) != 0 || !write_files(s)) {
        perror("a directory for Slurm");
        return false;
    }
    start_munged(s);
    snprintf(command, sizeof(command), "test -S %s/munge/sock", s->dir);
    bool up = comes_true(command, START_SECONDS);
    if (up) {
        start_slurm(s);
        up = comes_true("test \"$(sinfo -h -o %T 2>/dev/null)\" = idle", START_SECONDS);
    }
    snprintf(command, sizeof(command), "tail -n 30 %s/*.out %s/*.log", s->dir, s->dir);
    if (!up && system(command) != 0)
        perror("tail");
    return up;
}

void one_node_close(struct one_node_slurm *s)
{
    if (s->slurmctld > 0 && system("scancel --state=PENDING -u $(id -un) 2>/dev/null; "
                                   "scancel -u $(id -un) 2>/dev/null") == 0)
        comes_true("test -z \"$(squeue -h 2>/dev/null)\"", END_SECONDS);
    end(&s->slurmd);
    end(&s->slurmctld);
    end(&s->munged);
    dir_remove(s->dir, NULL);
    unsetenv("SLURM_CONF");
}

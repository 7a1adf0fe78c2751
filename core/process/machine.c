/* SPDX-License-Identifier: MIT */
/* machine.c: finds cores and memory in files of Linux. */
#include "process/machine.h"

#include <sched.h>

enum { PATH_BYTES = 512, SMALL = 1 << 16 };

/* The text of root/path; NULL: no such file. The caller frees it. */
static char *read_small(const char *root, const char *path)
{
    char full[2 * PATH_BYTES], *text;
    size_t n;
    snprintf(full, sizeof(full), "%s%s", root, path);
    return file_read(full, SMALL, &text, &n, NULL) == PEAT_OK ? text : NULL;
}

/* Whether the processor is the first one of its core that the process may use. "0,4" or "0-1" lists
 * all processors of a core. */
static bool leads_core(const char *root, int cpu, const cpu_set_t *mine)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
             cpu);
    char *text = read_small(root, path);
    bool leads = true;
    for (const char *at = text; leads && at && *at >= '0' && *at <= '9';) {
        char *end;
        long first = strtol(at, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        for (long c = first; c <= last && c < cpu; c++)
            leads = leads && !(c >= 0 && c < CPU_SETSIZE && CPU_ISSET((size_t)c, mine));
        at = *end == ',' ? end + 1 : end;
    }
    free(text);
    return leads;
}

static int count_cores(const char *root)
{
    cpu_set_t mine;
    int n = 0;
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof(mine), &mine) != 0) /* more processors than a set holds */
        return CPU_SETSIZE;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        n += CPU_ISSET((size_t)cpu, &mine) && leads_core(root, cpu, &mine);
    return n > 0 ? n : 1;
}

/* "150000 100000": microseconds of processor time in each period; "max 100000": no limit. */
static void apply_quota(struct machine *m, const char *text)
{
    double quota, period;
    if (text && sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0 &&
        quota / period < m->cores)
        m->cores = quota > period ? (int)(quota / period) : 1;
}

/* Bytes, or "max". */
static void apply_limit(struct machine *m, const char *most, const char *used)
{
    int64_t limit, taken;
    if (most && used && sscanf(most, "%" SCNd64, &limit) == 1 &&
        sscanf(used, "%" SCNd64, &taken) == 1 && limit - taken < m->free_bytes)
        m->free_bytes = limit > taken ? limit - taken : 0;
}

static void apply_cgroup(struct machine *m, const char *root, const char *group)
{
    static const char *const name[] = {"cpu.max", "memory.max", "memory.current"};
    char *text[3], path[PATH_BYTES];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", group, name[i]);
        text[i] = read_small(root, path);
    }
    apply_quota(m, text[0]);
    apply_limit(m, text[1], text[2]);
    for (int i = 0; i < 3; i++)
        free(text[i]);
}

/* A limit holds for a group and all below it, so those of every group above count: "0::/a/b". */
static void apply_cgroups(struct machine *m, const char *root)
{
    char *text = read_small(root, "/proc/self/cgroup"), group[PATH_BYTES / 2];
    const char *line = text ? strstr(text, "0::/") : NULL;
    if (line) {
        snprintf(group, sizeof(group), "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
        for (char *end; (end = strrchr(group, '/')); *end = '\0')
            if (end[1])
                apply_cgroup(m, root, group);
        apply_cgroup(m, root, "");
    }
    free(text);
}

static int64_t available(const char *root)
{
    char *text = read_small(root, "/proc/meminfo");
    const char *line = text ? strstr(text, "MemAvailable:") : NULL;
    int64_t kib, bytes = INT64_MAX;
    if (line && sscanf(line, "MemAvailable: %" SCNd64 " kB", &kib) == 1)
        bytes = kib * 1024;
    free(text);
    return bytes;
}

void machine_look(struct machine *m, const char *root)
{
    *m = (struct machine){count_cores(root), available(root)};
    apply_cgroups(m, root);
}

/* SPDX-License-Identifier: MIT */
/* slurm.c: submits to Slurm, and asks whether the submitted job still runs. */
#include "grid/slurm.h"

enum { STATES_MAX = 16 };

/* ---- one of Slurm's programs ---- */

/* A program's exit status, -1 for a signal, and its output without line ends at the end. */
struct printed {
    int code;
    const char *out, *err;
};

static const char *take_text(struct strbuf *text, struct arena *a)
{
    while (text->n && isspace((unsigned char)text->text[text->n - 1]))
        text->text[--text->n] = '\0';
    return strbuf_keep(text, a);
}

/* Returns an error only when it cannot be started. */
static peat_status run_program(const char *const *word, struct printed *p, struct arena *a,
                               struct error *err)
{
    struct child c = {.argv = (char *const *)(uintptr_t)word};
    struct strbuf out = STRBUF_NEW, said = STRBUF_NEW;
    peat_status status = child_run(&c, &out, &said, err);
    if (status == PEAT_NOTFOUND)
        error_set(err, status, "there is no '%s' here: is Slurm installed?", *word);
    *p = (struct printed){c.code, take_text(&out, a), take_text(&said, a)};
    return status;
}

/* The program's messages as one line, without "sbatch: error: " before each. */
static const char *one_line(const char *text, struct arena *a)
{
    char *copy = arena_strdup(a, *text ? text : "it said nothing"), *rest = copy;
    struct strbuf line = STRBUF_NEW;
    for (char *part; (part = strtok_r(rest, "\n", &rest));) {
        char *error = strstr(part, "error: ");
        strbuf_addf(&line, "%s%s", line.n ? "; " : "", error ? error + strlen("error: ") : part);
    }
    return strbuf_keep(&line, a);
}

/* ---- the directory ---- */

peat_status slurm_array_open(struct slurm_array *s, struct arena *a, struct error *err)
{
    char *work = get_current_dir_name();
    if (!work)
        return error_set(err, PEAT_IO, "cannot find out the current directory: %s",
                         strerror(errno));
    s->work = arena_strdup(a, work);
    free(work);
    if (*s->dir != '/')
        s->dir = arena_printf(a, "%s/%s", s->work, s->dir);
    if (strpbrk(s->dir, "\\\n\r"))
        return error_set(err, PEAT_INVALID,
                         "Slurm can write no log in '%s': there is a backslash or an end of line "
                         "in its name",
                         s->dir);
    return PEAT_OK;
}

static bool write_file(const char *dir, const char *name, struct strbuf *text, struct error *err)
{
    bool ok = file_write_own(path_in(dir, name).text, text->text, text->n, err) == PEAT_OK;
    strbuf_clear(text);
    return ok;
}

static bool write_scripts(const struct slurm_array *s, struct error *err)
{
    const struct file_path dir = path_in(s->dir, "slurm");
    struct strbuf text = STRBUF_NEW;
    bool ok = dir_make(dir.text, err) == PEAT_OK;
    dir_tidy(dir.text);
    for (int i = 0; i < s->jobs->n; i++)
        strbuf_addf(&text, "%s\n", s->jobs->job[i].id);
    ok = ok && write_file(dir.text, "cells", &text, err);
    slurm_array_script(s, &text);
    ok = ok && write_file(dir.text, "array.sbatch", &text, err);
    slurm_table_script(s, &text);
    ok = ok && write_file(dir.text, "table.sbatch", &text, err);
    strbuf_release(&text);
    return ok;
}

static peat_status write_jobs(const struct slurm_array *s, const struct slurm_jobs *jobs,
                              struct arena *a, struct error *err)
{
    char utc[32];
    clock_utc(utc, sizeof(utc));
    struct json v = json_map(a);
    json_put_text(v, "array", jobs->array);
    json_put_text(v, "table", jobs->table);
    json_put_int(v, "tasks", slurm_tasks(s));
    json_put_int(v, "cells", s->jobs->n);
    json_put_text(v, "submitted_utc", utc);
    return json_write_file(path_in(s->dir, "slurm").text, "job.json", v.v, err);
}

/* ---- asking Slurm ---- */

/* "2 running, 3 pending" from a word for each task. */
static const char *count_states(const char *states, struct arena *a)
{
    char *copy = arena_strdup(a, states), *rest = copy;
    const char *name[STATES_MAX];
    int n = 0, count[STATES_MAX];
    struct strbuf line = STRBUF_NEW;
    for (char *word; (word = strtok_r(rest, " \n", &rest));) {
        int i = 0;
        while (i < n && strcmp(name[i], word) != 0)
            i++;
        if (i == STATES_MAX)
            continue;
        count[i] = i == n ? 1 : count[i] + 1;
        name[i] = word;
        n += i == n;
    }
    for (int i = 0; i < n; i++) {
        strbuf_item(&line, "%d ", count[i]);
        for (const char *c = name[i]; *c; c++)
            strbuf_add(&line, (char[]){(char)tolower((unsigned char)*c), '\0'});
    }
    return strbuf_keep(&line, a);
}

/* Only its number goes on a command line, because the file may contain anything. */
static bool is_job_number(const char *text)
{
    return *text && strlen(text) <= 20 && strspn(text, "0123456789_") == strlen(text) &&
           *text != '_';
}

static peat_status check_array(const char *dir, const char *array, struct arena *a,
                               struct error *err)
{
    const char *const word[] = {"squeue", "-h", "-r", "-o", "%T", "-j", array, NULL};
    struct printed p;
    peat_status status = run_program(word, &p, a, err);
    if (status != PEAT_OK || (p.code == 0 && !p.out[0]))
        return status;
    if (p.code == 0)
        return error_set(err, PEAT_INVALID,
                         "%s is being run by Slurm's job %s (%s); wait for it, or stop it with "
                         "`scancel %s`",
                         dir, array, count_states(p.out, a), array);
    if (strstr(p.err, "Invalid job id"))
        return PEAT_OK;
    return error_set(err, PEAT_INVALID, "cannot ask Slurm whether its job %s still runs %s: %s",
                     array, dir, one_line(p.err, a));
}

peat_status slurm_check(const char *dir, struct arena *a, struct error *err)
{
    static const char *const word[] = {"sbatch", "--version", NULL};
    struct value *jobs = NULL;
    struct printed p;
    peat_status status = run_program(word, &p, a, err);
    if (status != PEAT_OK)
        return status;
    status = json_read_file(path_in(dir, "slurm").text, "job.json", a, &jobs, err);
    const char *array = status == PEAT_OK ? json_get_text(jobs, "array") : NULL;
    if (status == PEAT_NOTFOUND) {
        if (err)
            *err = (struct error){0};
        return PEAT_OK;
    }
    if (status != PEAT_OK)
        return status;
    if (array && !is_job_number(array))
        return error_set(err, PEAT_CORRUPT,
                         "'%s/slurm/job.json' is damaged: 'array' is not the number of a Slurm "
                         "job; if none runs "
                         "here, remove the file",
                         dir);
    return array ? check_array(dir, array, a, err) : PEAT_OK;
}

const char *slurm_kinds(const struct slurm_array *s, struct arena *a)
{
    const char *partition = s->settings->partition;
    const char *const word[] = {"sinfo",   "-h", "-o", "%f", partition[0] ? "-p" : NULL,
                                partition, NULL};
    struct printed p;
    if (s->settings->constraint[0] || run_program(word, &p, a, NULL) != PEAT_OK || p.code)
        return NULL;
    return strchr(p.out, '\n') ? one_line(p.out, a) : NULL;
}

/* ---- submitting ---- */

/* The longest array that Slurm accepts; 0: not known. */
static int64_t largest_array(struct arena *a)
{
    static const char *const word[] = {"scontrol", "show", "config", NULL};
    static const char key[] = "MaxArraySize";
    struct printed p;
    if (run_program(word, &p, a, NULL) != PEAT_OK || p.code != 0)
        return 0;
    const char *line = strstr(p.out, key);
    const char *sign = line ? strchr(line, '=') : NULL;
    return sign ? strtoimax(sign + 1, NULL, 10) : 0;
}

/* MaxArraySize is one more than the largest index. */
static peat_status check_size(const struct slurm_array *s, struct arena *a, struct error *err)
{
    int64_t tasks = slurm_tasks(s), most = largest_array(a);
    if (most <= 0 || tasks <= most)
        return PEAT_OK;
    return error_set(err, PEAT_INVALID,
                     "%d cells make %" PRId64 " tasks, and this Slurm accepts at most %" PRId64
                     " in an array; set run.slurm.cells_per_task to %" PRId64 " or more",
                     s->jobs->n, tasks, most, (s->jobs->n + most - 1) / most);
}

/* "12" or "12;cluster" */
static const char *job_number(const char *printed, struct arena *a)
{
    size_t digits = strspn(printed, "0123456789");
    bool whole = digits > 0 && (!printed[digits] || printed[digits] == ';');
    return whole ? arena_printf(a, "%.*s", (int)digits, printed) : NULL;
}

/* `after`: NULL, or the job to wait for. */
static peat_status submit(const struct slurm_array *s, const char *script, const char *after,
                          const char **number, struct arena *a, struct error *err)
{
    const char *path = arena_printf(a, "%s/slurm/%s", s->dir, script);
    const char *dependency = arena_printf(a, "--dependency=afterany:%s", after ? after : "");
    const char *const word[] = {"sbatch", "--parsable", after ? dependency : path,
                                after ? path : NULL, NULL};
    struct printed p;
    peat_status status = run_program(word, &p, a, err);
    if (status != PEAT_OK)
        return status;
    *number = p.code == 0 ? job_number(p.out, a) : NULL;
    return *number ? PEAT_OK
                   : error_set(err, PEAT_FAILED, "sbatch refuses '%s': %s", path,
                               one_line(p.code ? p.err : p.out, a));
}

/* A requeued task does not run cells again that failed before, so earlier failures must be removed.
 * They are kept until Slurm has accepted the job. */
static struct value **forget_ends(const struct jobs *j, struct arena *a)
{
    struct value **end = ARENA_ARRAY(a, j->n + 1, struct value *);
    for (int i = 0; i < j->n; i++) {
        if (record_read(j->job[i].dir, &end_record, a, &end[i], NULL) != PEAT_OK)
            end[i] = NULL;
        if (end[i])
            file_remove(j->job[i].dir, "end.json", NULL);
    }
    return end;
}

static void restore_ends(const struct jobs *j, struct value **end)
{
    for (int i = 0; i < j->n; i++)
        if (end[i])
            json_write_file(j->job[i].dir, "end.json", end[i], NULL);
}

peat_status slurm_submit(const struct slurm_array *s, struct slurm_jobs *jobs, struct arena *a,
                         struct error *err)
{
    *jobs = (struct slurm_jobs){0};
    if (check_size(s, a, err) != PEAT_OK || !write_scripts(s, err))
        return err->status;
    struct value **end = forget_ends(s->jobs, a);
    if (submit(s, "array.sbatch", NULL, &jobs->array, a, err) != PEAT_OK) {
        restore_ends(s->jobs, end);
        return err->status;
    }
    peat_status status = write_jobs(s, jobs, a, err);
    if (submit(s, "table.sbatch", jobs->array, &jobs->table, a, &jobs->table_error) == PEAT_OK &&
        status == PEAT_OK)
        return write_jobs(s, jobs, a, err);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* manual.c: manual pages in man(7), one for each verb: peat.1, peat-run.1. */
#include <time.h>

#include "cli/command.h"

static const char exit_status[] =
    ".SH EXIT STATUS\n"
    ".TP\n0\nEverything is done; a cell that has diverged is done too.\n"
    ".TP\n1\nA cell failed, a check or a comparison failed, or the disk is full.\n"
    ".TP\n2\nNothing was run: usage, configuration, missing data, no such directory.\n"
    ".TP\n130\nA signal, SIGINT, SIGTERM or SIGHUP, stopped it.\n";

/* Escapes characters that roff would interpret: a line that begins with a dot is a request. */
static void add_text(struct strbuf *out, const char *text, size_t n)
{
    static const char special[] = "\\-'`";
    static const char *const escape[] = {"\\e", "\\-", "\\(aq", "\\(ga"};
    for (size_t i = 0; i < n; i++) {
        const char *at = strchr(special, text[i]);
        if (text[i] == '.' && out->text[out->n - 1] == '\n')
            strbuf_add(out, "\\&");
        if (at)
            strbuf_add(out, escape[at - special]);
        else
            strbuf_add_bytes(out, &text[i], 1);
    }
}

/* font: B(old), I(talic), R(oman) */
static void add_font(struct strbuf *out, char font, const char *text)
{
    strbuf_addf(out, "\\f%c", font);
    add_text(out, text, strlen(text));
    strbuf_add(out, "\\fR");
}

static void add_lines(struct strbuf *out, const char *text)
{
    strbuf_add(out, ".nf\n");
    add_text(out, text, strlen(text));
    strbuf_add(out, "\n.fi\n");
}

/* Adds a paragraph, which roff fills; its source lines are short. */
static void add_paragraph(struct strbuf *out, const char *text)
{
    enum { SHORT = 64 };
    for (size_t n, line = 0; *text; text += n + (text[n] != '\0')) {
        n = strcspn(text, " \n");
        add_text(out, text, n);
        line = line + n > SHORT ? 0 : line + n + 1;
        strbuf_add(out, line && text[n] ? " " : "\n");
    }
    if (out->text[out->n - 1] != '\n')
        strbuf_add(out, "\n");
}

/* "peat-plugins-info" of "peat plugins info" */
static void add_page_name(struct strbuf *out, const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        strbuf_add_bytes(out, name[i] == ' ' ? "-" : &name[i], 1);
}

/* SOURCE_DATE_EPOCH makes builds repeatable. */
static void add_title(struct strbuf *out, const struct cli_command *c)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    const time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    char date[32] = "";
    strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
    strbuf_add(out, ".TH ");
    for (const char *name = c->name; *name; name++)
        strbuf_addf(out, "%c", *name == ' ' ? '-' : toupper((unsigned char)*name));
    strbuf_addf(out, " 1 %s \"PEAT " PEAT_VERSION "\"\n.SH NAME\n", date);
    add_page_name(out, c->name, strlen(c->name));
    strbuf_add(out, " \\- ");
    add_paragraph(out, c->summary);
    strbuf_add(out, ".SH SYNOPSIS\n");
    add_font(out, 'B', c->name);
    strbuf_add(out, " ");
    add_font(out, 'I', c->verb ? "VERB [operands]" : c->operands ? c->operands : "");
    strbuf_add(out, " [\\fIoptions\\fR]\n");
}

static void add_option(struct strbuf *out, const struct cli_option *o)
{
    strbuf_add(out, ".TP\n");
    if (o->letter)
        strbuf_addf(out, "\\fB\\-%c\\fR, ", o->letter);
    strbuf_add(out, "\\fB\\-\\-");
    add_text(out, o->name, strlen(o->name));
    strbuf_add(out, "\\fR");
    if (o->argument) {
        strbuf_add(out, " ");
        add_font(out, 'I', o->argument);
    }
    strbuf_add(out, "\n");
    add_paragraph(out, o->doc);
}

static void add_verbs(struct strbuf *out, const struct cli_command *group)
{
    strbuf_add(out, ".SH VERBS\n");
    for (const struct cli_command *const *v = group->verb; *v; v++) {
        strbuf_add(out, ".TP\n");
        add_font(out, 'B', cli_verb(*v));
        strbuf_add(out, "\n");
        add_paragraph(out, (*v)->summary);
    }
}

static void add_reference(struct strbuf *out, const char *name, size_t n)
{
    bool first = out->text[out->n - 1] == '\n';
    strbuf_add(out, first ? ".BR " : " ,\n.BR ");
    add_page_name(out, name, n);
    strbuf_add(out, " (1)");
}

static void add_see_also(struct strbuf *out, const struct cli_command *c)
{
    strbuf_add(out, ".SH SEE ALSO\n");
    for (const char *space = c->name; (space = strchr(space, ' ')); space++)
        add_reference(out, c->name, (size_t)(space - c->name));
    for (const struct cli_command *const *v = c->verb; v && *v; v++)
        add_reference(out, (*v)->name, strlen((*v)->name));
    strbuf_add(out, "\n");
}

static void add_page(struct strbuf *out, const struct cli_command *c)
{
    const struct cli_option *o;
    struct strbuf about = STRBUF_NEW, examples = STRBUF_NEW;
    cli_add_help(c, false, &about);
    cli_add_help(c, true, &examples);
    add_title(out, c);
    strbuf_add(out, ".SH DESCRIPTION\n");
    if (strstr(about.text, "\n ")) /* a table */
        add_lines(out, about.text);
    else
        add_paragraph(out, about.text);
    if (c->verb)
        add_verbs(out, c);
    strbuf_add(out, ".SH OPTIONS\n");
    for (int i = 0; (o = cli_option(c, i)); i++)
        add_option(out, o);
    strbuf_add(out, exit_status);
    strbuf_add(out, ".SH EXAMPLE\n");
    add_lines(out, examples.text);
    add_see_also(out, c);
    strbuf_release(&about);
    strbuf_release(&examples);
}

peat_status cli_write_manual(const struct cli_command *c, const char *dir, struct error *err)
{
    struct strbuf page = STRBUF_NEW, path = STRBUF_NEW;
    add_page(&page, c);
    strbuf_addf(&path, "%s/", dir);
    add_page_name(&path, c->name, strlen(c->name));
    strbuf_add(&path, ".1");
    peat_status status = dir_make(dir, err);
    if (status == PEAT_OK)
        status = file_write(path.text, page.text, page.n, err);
    for (const struct cli_command *const *v = c->verb; status == PEAT_OK && v && *v; v++)
        status = cli_write_manual(*v, dir, err);
    strbuf_release(&page);
    strbuf_release(&path);
    return status;
}

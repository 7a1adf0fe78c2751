/* SPDX-License-Identifier: MIT */
/* help.c: help pages. */

#include "cli/command.h"

extern const char help_texts[]; /* help.txt */

static void print_option(const struct cli_option *o, FILE *out)
{
    enum { DOC_COLUMN = 26 };
    char left[64];
    snprintf(left, sizeof(left), "  %c%c%c --%s%s%s", o->letter ? '-' : ' ',
             o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name, o->argument ? " " : "",
             o->argument ? o->argument : "");
    shown_print(out, "%-*s %s\n", DOC_COLUMN, left, o->doc);
}

void cli_add_help(const struct cli_command *c, bool examples, struct strbuf *out)
{
    enum { PROMPT = 2 }; /* "$ " */
    char head[64];
    snprintf(head, sizeof(head), "\n# %s\n", c->name);
    const char *line = strstr(help_texts, head);
    BUG_UNLESS(line);
    line += strlen(head);
    for (size_t n; *line && *line != '#'; line += n + (line[n] == '\n')) {
        n = strcspn(line, "\n");
        if (n && (*line == '$') == examples)
            strbuf_addf(out, "%s%.*s", out->n ? "\n" : "", (int)n - (examples ? PROMPT : 0),
                        line + (examples ? PROMPT : 0));
    }
}

void cli_print_help(const struct cli_command *c, FILE *out)
{
    const struct cli_option *o;
    struct strbuf about = STRBUF_NEW, examples = STRBUF_NEW;
    cli_add_help(c, false, &about);
    cli_add_help(c, true, &examples);
    if (c->verb) {
        fprintf(out, "usage: %s VERB [operands] [options]\n\n%s\n\nverbs:\n", c->name, about.text);
        for (const struct cli_command *const *v = c->verb; *v; v++)
            shown_print(out, "  %-10s %s\n", cli_verb(*v), (*v)->summary);
        fprintf(out, "\n'%s VERB --help' explains a verb\n", c->name);
    } else {
        fprintf(out, "usage: %s%s%s [options]\n\n%s\n\noptions:\n", c->name, c->operands ? " " : "",
                c->operands ? c->operands : "", about.text);
        for (int i = 0; (o = cli_option(c, i)); i++)
            print_option(o, out);
    }
    fprintf(out, "\nexample:\n");
    for (char *line = strtok(examples.text, "\n"); line; line = strtok(NULL, "\n"))
        fprintf(out, "  %s\n", line);
    strbuf_release(&about);
    strbuf_release(&examples);
}

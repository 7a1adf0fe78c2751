# SPDX-License-Identifier: MIT
"""Tables as text: {"title", "labels", "columns": [{"head", "number"}], "rows": [[{"text"}]], "notes"}."""
import textwrap


def text_table(table: dict, width: int) -> str:
    """The table in blocks of at most `width` columns, each with the label columns first."""
    columns = [[column["head"], *(row[i]["text"] for row in table["rows"])] for i, column in enumerate(table["columns"])]
    wide = [max(map(len, column)) for column in columns]
    labels, lines = table["labels"], [table["title"]] * bool(table["title"])
    blocks, block, used = [], [], 0
    for i in range(labels, len(columns)):
        used += wide[i] + 2
        if block and sum(wide[:labels]) + 2 * (labels - 1) + used > width:
            blocks.append(block)
            block, used = [], wide[i] + 2
        block = block + [i]
    for block in blocks + [block]:
        shown = [*range(labels), *block]
        lines += [""] if lines else []
        for row in zip(*(columns[i] for i in shown)):
            cells = (text.rjust(wide[i]) if table["columns"][i]["number"] else text.ljust(wide[i])
                     for i, text in zip(shown, row))
            lines.append("  ".join(cells).rstrip())
    if table["notes"]:
        lines.append("")
    for note in table["notes"]:
        lines += textwrap.wrap(note, width)
    return "\n".join(lines) + "\n"

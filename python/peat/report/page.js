/* SPDX-License-Identifier: MIT */
/* page.js: what a reader can do on the report page. Rows are shown and hidden, in figures and in tables; tables are
 * sorted by a click on a heading, and filtered by a text. Without it the page shows everything. */
'use strict';

/* ---- sorting ---- */

/* "2.143 ± 0.012", "+0.04", "43.5k" and "3.1e-5" as numbers; NaN: a text. */
function number(text) {
  const part = /^([-+]?[0-9.]+(?:e[-+]?[0-9]+)?) ?([kMGTP]?)(?:[^0-9.].*)?$/.exec(text);
  return part ? part[1] * ({k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15}[part[2]] || 1) : NaN;
}

/* Numbers before texts, "-" last; equal ones stay in the order of the experiment. */
function compare(a, b, sign) {
  const x = number(a), y = number(b);
  if (isNaN(x) !== isNaN(y)) { return isNaN(x) ? 1 : -1; }
  return sign * (isNaN(x) ? a.localeCompare(b) : x - y);
}

/* Up, down, and as the experiment has it. */
function sort(head) {
  const body = head.closest('table').tBodies[0];
  const next = {none: 'ascending', ascending: 'descending', descending: 'none'}[head.ariaSort || 'none'];
  const sign = next === 'descending' ? -1 : 1;
  for (const other of head.parentElement.cells) { other.ariaSort = 'none'; }
  head.ariaSort = next;
  const text = (row) => row.cells[head.cellIndex].firstChild?.textContent.trim() || '-';
  const order = (a, b) => (next === 'none' ? 0 : compare(text(a), text(b), sign)) || a.place - b.place;
  body.append(...[...body.rows].sort(order));
}

/* On a narrow screen, where a row is a list, the headings are choices. */
function addFilter(table) {
  const box = document.createElement('div'), text = document.createElement('input'), by = document.createElement('select');
  const heads = [...table.tHead.rows[0].cells];
  box.className = 'filter';
  text.type = 'search';
  text.placeholder = text.ariaLabel = 'rows with this text';
  text.oninput = () => {
    for (const row of table.tBodies[0].rows) { row.hidden = !row.textContent.includes(text.value); }
  };
  by.ariaLabel = 'sort by';
  by.append(...['sort by ...', ...heads.map((head) => head.textContent)].map((name) => new Option(name)));
  by.onchange = () => { if (by.selectedIndex) { sort(heads[by.selectedIndex - 1]); } };
  box.append(text, by);
  table.closest('.scroll').before(box);
}

function makeSortable(head) {
  head.tabIndex = 0;
  head.ariaSort = 'none';
  head.title = 'sort by this column';
  head.onclick = () => sort(head);
  head.onkeydown = (event) => { if (event.key === 'Enter') { sort(head); } };
}

/* ---- rows ---- */

/* The name of a table's row, as figures have it: its labels joined. */
function nameOf(row) {
  const labels = [...row.querySelectorAll('th')].map((cell) => cell.firstChild.textContent.trim());
  return labels.join('.');
}

function addSwitches(names) {
  const box = document.createElement('details'), summary = document.createElement('summary');
  box.className = 'switches';
  summary.textContent = 'Show and hide rows';
  box.append(summary);
  for (const name of names) {
    const label = document.createElement('label'), input = document.createElement('input');
    input.type = 'checkbox';
    input.checked = true;
    input.onchange = () => {
      for (const e of document.querySelectorAll('[data-row]')) {
        if (e.dataset.row === name) { e.style.display = input.checked ? '' : 'none'; }
      }
    };
    label.append(input, ' ' + name);
    box.append(label);
  }
  document.querySelector('header').append(box);
}

for (const table of document.querySelectorAll('table')) {
  [...table.tBodies[0].rows].forEach((row, place) => {
    row.place = place;
    row.dataset.row = nameOf(row);
  });
  if (table.tBodies[0].rows.length > 1) { [...table.tHead.rows[0].cells].forEach(makeSortable); }
  if (table.tBodies[0].rows.length > 4) { addFilter(table); }
}
const drawn = new Set([...document.querySelectorAll('svg [data-row]')].map((e) => e.dataset.row));
if (drawn.size > 1) { addSwitches(drawn); }

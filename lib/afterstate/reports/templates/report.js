"use strict";
/* Filter and sort of the tables of values; without this script everything is still there. */
document.documentElement.classList.add("scripted");

function openAround(target) {
  for (let node = target; node; node = node.parentElement) {
    if (node.tagName === "DETAILS") node.open = true;
  }
}

function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target) {
    openAround(target.parentElement);
    target.scrollIntoView();
  }
}

function filter(form) {
  const word = form.elements.word.value.trim().toLowerCase();
  const verdict = form.elements.verdict.value;
  let shown = 0;
  for (const group of document.querySelectorAll("details.group")) {
    let here = 0;
    for (const row of group.querySelectorAll("tbody > tr")) {
      const fits = row.textContent.toLowerCase().includes(word)
        && (!verdict || row.dataset.verdict === verdict);
      row.hidden = !fits;
      here += fits;
    }
    group.hidden = !here;
    if (word || verdict) group.open = here > 0;
    shown += here;
  }
  form.querySelector("output").textContent = word || verdict ? shown + " values" : "";
}

function key(cell) {
  const text = cell.textContent.trim();
  const number = parseFloat(text.replace(/(\d)[ ,](?=\d{3})/g, "$1"));
  return Number.isNaN(number) ? text.toLowerCase() : number;
}

function compare(a, b) {
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
  return typeof a === "number" ? -1 : 1;
}

function sortable(table) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const body = table.tBodies[0];
      const rows = [...body.rows];
      rows.sort((a, b) => compare(key(a.cells[column]), key(b.cells[column])));
      body.append(...(falling ? rows.reverse() : rows));
    });
  });
}

document.querySelectorAll("table.values").forEach(sortable);
document.querySelectorAll("form.filter").forEach((form) => {
  form.addEventListener("input", () => filter(form));
  form.addEventListener("submit", (event) => event.preventDefault());
});
addEventListener("hashchange", follow);
if (location.hash) follow();

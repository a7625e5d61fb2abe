// SPDX-License-Identifier: MIT
// The search of the site. PARTS holds [title of the page, name of the part, address, text, rank].
const up = document.currentScript.dataset.up;
const field = document.getElementById("site-search"), list = document.getElementById("site-found");

function rank([title, name, , text], words) {
  // 0 = a word is missing; names count more than titles, titles more than text
  let sum = 0;
  for (const word of words) {
    const last = name.split(".").pop();
    if (last === word || name === word) sum += 100;
    else if (last.startsWith(word)) sum += 40;
    else if (name.includes(word)) sum += 20;
    else if (title.includes(word)) sum += 10;
    else if (text.includes(word)) sum += 1;
    else return 0;
  }
  return sum;
}

// what was changed stands last; of the same points guides are first
const CHANGES = 2;
function before([points, [, , , , rank]], [otherPoints, [, , , , otherRank]]) {
  return (rank === CHANGES) - (otherRank === CHANGES) || otherPoints - points || rank - otherRank;
}

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = (part) => part.slice(0, 4).map((one) => one.toLowerCase());
  const found = PARTS.map((part) => [rank(lower(part), words), part])
    .filter(([points]) => points).sort(before);
  list.replaceChildren();
  for (const [, [title, name, address, text]] of found.slice(0, 15)) {
    const line = document.createElement("li"), link = document.createElement("a");
    link.href = up + address;
    link.textContent = name && name !== title ? `${title}: ${name}` : title;
    const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40);
    line.append(link, (at ? " … " : " ") + text.slice(at, at + 120));
    list.append(line);
  }
  if (words.length && !found.length) list.append("Nothing was found.");
}

field.addEventListener("input", show);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== field) { event.preventDefault(); field.focus(); }
  if (event.key === "Escape") { field.value = ""; show(); }
  if (event.key === "Enter" && event.target === field) list.querySelector("a")?.click();
});
list.addEventListener("click", () => { field.value = ""; setTimeout(show); });
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest" });

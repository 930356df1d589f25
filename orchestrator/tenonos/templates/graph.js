// The page of the Lib-Graph. Arrow keys go through the list, Enter on a link follows it and reads
// on there; words of the objective lead to what was chosen for them, and that back to the words.
// The address keeps what is shown, so that going back works.
"use strict";
const told = JSON.parse(document.getElementById("data").textContent);
const list = document.getElementById("list");
const card = document.getElementById("card");
const search = document.getElementById("search");
const image = document.getElementById("image");
const asked = document.getElementById("asked");
const WORDS = "words:";
const ORDER = ["app", "library", "capability", "board", "option"];
const OUT = { selects: "needs", provides: "provides", depends_on: "depends on", requires: "requires", implies: "implies", parent_of: "has in its menu" };
const IN = { selects: "needed by", provides: "provided by", depends_on: "depended on by", requires: "required by", implies: "implied by", parent_of: "in the menu of" };
const DRAWN = 9, MOST = 400;
let shown = [], at = -1;

const out = told.symbols.map(() => []), into = told.symbols.map(() => []);
for (const [from, relation, to] of told.edges) {
  out[from].push([relation, to]);
  into[to].push([relation, from]);
}

function make(tag, text, style) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (style) made.className = style;
  return made;
}

function inside(symbol) {
  return image.value ? symbol.in.includes(image.value) : symbol.in.length > 0;
}

function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const names = (s) => `${s.name} ${s.symbol} ${s.prompt}`.toLowerCase();
  shown = told.symbols.map((_, number) => number).filter((number) => {
    const symbol = told.symbols[number];
    const text = `${names(symbol)} ${symbol.help.toLowerCase()}`;
    return (!image.value || inside(symbol)) && words.every((word) => text.includes(word));
  });
  const missed = (s) => (words.every((word) => names(s).includes(word)) ? 0 : 1);
  const rank = (s) => [missed(s), inside(s) ? 0 : 1, ORDER.indexOf(s.kind)];
  shown = shown.map((n) => [rank(told.symbols[n]), n]);
  shown.sort(([a, i], [b, j]) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || i - j);
  shown = shown.map(([, number]) => number);
  fill();
}

function fill() {
  list.replaceChildren(...shown.slice(0, MOST).map((number) => {
    const symbol = told.symbols[number];
    const item = make("li", `${symbol.name} `, inside(symbol) ? "in" : "");
    item.id = `item-${number}`;
    item.setAttribute("role", "option");
    item.append(make("small", symbol.kind));
    item.onclick = () => go(number);
    return item;
  }));
  if (shown.length > MOST) list.append(make("li", `and ${shown.length - MOST} more`, "soft"));
  mark();
}

function mark() {
  for (const item of list.children) {
    const selected = item.id === `item-${at}`;
    item.setAttribute("aria-selected", selected);
    if (selected) {
      list.setAttribute("aria-activedescendant", item.id);
      item.scrollIntoView({ block: "nearest" });
    }
  }
}

function link(number) {
  const button = make("button", told.symbols[number].name);
  button.onclick = () => go(number);
  return button;
}

function words(text, start) {
  const button = make("button", text, "words");
  button.onclick = () => { location.hash = WORDS + start; };
  return button;
}

function row(...parts) {
  const made = make("div", undefined, "path");
  made.append(...parts);
  return made;
}

function go(number) {
  location.hash = told.symbols[number].symbol;
}

// Whoever comes by a link, or is in the card, reads on at its heading.
function head(title) {
  const reading = document.activeElement.closest("button, article");
  const heading = make("h2", title);
  heading.tabIndex = -1;
  card.replaceChildren(heading);
  if (reading) heading.focus();
}

function show(number) {
  at = number;
  const symbol = told.symbols[number];
  head(symbol.name);
  const cost = symbol.cost ? `, costs ${symbol.cost.toLocaleString("en")} ${told.unit}` : "";
  card.append(make("div", `${symbol.kind} ${symbol.symbol}${cost}`, "soft"));
  if (symbol.prompt) card.append(make("p", symbol.prompt));
  if (symbol.in.length) card.append(make("div", `chosen in ${symbol.in.join(", ")}`, "words"));
  for (const why of told.because.filter((why) => why.symbol === number)) {
    card.append(make("h3", `why in ${why.image}`), make("div", why.because));
    const steps = why.path.flatMap(([relation, to]) => relation ? [make("span", `${relation} →`, "soft"), link(to)] : [link(to)]);
    card.append(row(...(why.span ? [words(`“${why.words}”`, piece(why)), "→"] : []), ...steps));
  }
  card.append(draw(number));
  if (symbol.help) card.append(make("h3", "what it says of itself"), make("p", symbol.help));
  for (const [edges, words] of [[out[number], OUT], [into[number], IN]]) {
    for (const relation of Object.keys(words)) {
      const ends = edges.filter(([found]) => found === relation).map(([, other]) => other);
      if (ends.length) card.append(make("h3", words[relation]), row(...ends.slice(0, MOST).map(link)));
    }
  }
  mark();
}

// The words of the objective in which those of a choice are.
function piece(why) {
  return told.objective.find(([text, start]) => start <= why.span[0] && why.span[0] < start + text.length && start !== null)[1];
}

// What was chosen for some words, in each image: what they ask for first, then what that needs.
function showWords(start) {
  at = -1;
  const [text, , meanings] = told.objective.find(([, place]) => place === start);
  head(`“${text}”`);
  if (meanings.length) card.append(make("p", `what they mean: ${meanings.join(", ")}`));
  const whys = told.because.filter((why) => why.span && piece(why) === start);
  for (const name of told.images) {
    const there = whys.filter((why) => why.image === name).sort((a, b) => a.path.length - b.path.length);
    if (there.length) card.append(make("h3", `what they bring into ${name}`), row(...there.map((why) => link(why.symbol))));
  }
  mark();
}

// The symbol between those that lead to it and those it leads to; of many, some.
function draw(number) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const sides = [[into[number], 320, "end"], [out[number], 580, "start"]];
  const rows = Math.max(1, ...sides.map(([edges]) => Math.min(edges.length, DRAWN)));
  const middle = rows * 15 + 10;
  svg.setAttribute("viewBox", `0 0 900 ${rows * 30 + 20}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "neighbours");
  const add = (parent, tag, attributes, text) => {
    const made = document.createElementNS(space, tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    parent.append(made);
    return made;
  };
  for (const [edges, x, anchor] of sides) {
    const drawn = edges.slice(0, DRAWN);
    drawn.forEach(([relation, other], place) => {
      const y = middle + (place - (drawn.length - 1) / 2) * 30;
      const left = anchor === "end", from = left ? 330 : 570, to = left ? 370 : 530;
      add(svg, "path", { d: `M${from} ${y} C${(from + to) / 2} ${y} ${(from + to) / 2} ${middle} ${to} ${middle}` });
      const group = add(svg, "g", {});
      const label = told.symbols[other].name;
      const short = label.length > 34 ? `${label.slice(0, 33)}…` : label;
      add(group, "text", { x, y: y + 4, "text-anchor": anchor, class: inside(told.symbols[other]) ? "in" : "" }, short);
      add(group, "title", {}, `${(left ? IN : OUT)[relation]}: ${label}`);
      group.onclick = () => go(other);
    });
  }
  add(svg, "text", { x: 450, y: middle + 4, "text-anchor": "middle", class: "in" }, told.symbols[number].name.slice(0, 22));
  return svg;
}

function follow() {
  const wanted = decodeURIComponent(location.hash.slice(1));
  const start = wanted.startsWith(WORDS) ? Number(wanted.slice(WORDS.length)) : NaN;
  if (told.objective.some(([, place]) => place === start)) return showWords(start);
  const number = told.symbols.findIndex((symbol) => symbol.symbol === wanted);
  if (number >= 0) show(number);
  else if (shown.length) show(shown[0]);
}

list.onkeydown = (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
  if (!step || !shown.length) return;
  event.preventDefault();
  const place = shown.indexOf(at) + step;
  go(shown[Math.max(0, Math.min(place, Math.min(shown.length, MOST) - 1))]);
};
search.onkeydown = (event) => {
  if (event.key === "ArrowDown" || event.key === "Enter") {
    event.preventDefault();
    list.focus();
    if (shown.length) go(shown[0]);
  }
};
document.onkeydown = (event) => {
  if (event.key === "/" && document.activeElement !== search) {
    event.preventDefault();
    search.focus();
  }
};
image.append(new Option("every symbol", ""), ...told.images.map((name) => new Option(`in ${name}`, name)));
image.hidden = !told.images.length;
asked.append(...told.objective.map(([text, start]) => start === null ? make("span", text.trim()) : words(text, start)));
asked.hidden = !told.objective.some(([text]) => text);
search.oninput = image.onchange = find;
window.onhashchange = follow;
find();
follow();

// A search over what was said and done in all projects.

import { attr, badge, code, el, empty, folder, keyed, since, text } from "./dom.js";
import { filteredAddress, filtersOfAddress, keepInAddress, sessionAddress, spanOfDays } from "./address.js";
import { filterBar } from "./filters.js";

// Whoever types is asked for nothing before they pause.
const PAUSE_MS = 200;
const KINDS = ["prompt", "answer", "command", "file", "failure", "note", "log", "dialogue", "effort", "message", "fact"];
const FIELDS = [
  { name: "project", label: "Project", kind: "suggested" },
  { name: "agent", label: "Agent", kind: "suggested" },
  { name: "kind", label: "Kind", kind: "choice", choices: [{ value: "", word: "any" }, ...KINDS.map((value) => ({ value }))] },
  { name: "from", label: "From", kind: "day" },
  { name: "to", label: "To", kind: "day" },
];

export function recallView({ ask, trouble }) {
  const words = el("input", { type: "search", class: "recall-words", placeholder: "words, in any order", "aria-label": "Search what was said and done", maxlength: "400", autocomplete: "off", spellcheck: "false" });
  const list = el("ul", { class: "hits" });
  const told = el("div", { "aria-live": "polite" });
  let asked = 0;
  let timer = null;
  let filters = filtersOfAddress();
  words.value = filters.words ?? "";
  const bar = filterBar(FIELDS, filters, (values) => {
    filters = values;
    search();
  });
  const node = el("section", { class: "view recall" }, words, bar.node, told, list);
  ask("/api/sessions?limit=1").then(({ choices }) => {
    const named = ({ name, count }) => ({ value: name, word: `${name} (${count})` });
    bar.choose("project", (choices?.projects ?? []).map(named));
    bar.choose("agent", (choices?.agents ?? []).map(named));
  }).catch(trouble);
  const search = async () => {
    const wanted = words.value.trim();
    const number = ++asked;
    const { from, to, ...others } = { ...filters, words: wanted };
    keepInAddress("recall", { ...filters, words: wanted });
    if (wanted === "") {
      told.replaceChildren();
      list.replaceChildren();
      return;
    }
    try {
      const { hits } = await ask(filteredAddress("recall", { ...others, ...spanOfDays(from, to) }).replace("#/", "/api/"));
      // An answer that was overtaken by a later question is not shown.
      if (number !== asked) return;
      told.replaceChildren(...(hits.length ? [] : [empty("Nothing found", "Try fewer or other words. ", code("taut memory status"), " says what is kept.")]));
      keyed(list, hits, ({ id }) => id, makeHit, updateHit);
    } catch (error) {
      trouble(error);
    }
  };
  words.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE_MS);
  });
  queueMicrotask(() => words.focus());
  if (words.value) search();
  return { node, news: () => {}, close: () => { clearTimeout(timer); bar.close(); } };
}

function makeHit() {
  return el("li", { class: "hit" },
    el("span", { class: "age" }), el("span", { class: "hit-kind" }), el("a", { class: "hit-agent" }), el("span", { class: "hit-text" }));
}

function updateHit(node, hit) {
  const at = (selector) => node.querySelector(selector);
  since(at(".age"), hit.at);
  at(".hit-kind").replaceChildren(badge(hit.kind));
  text(at(".hit-agent"), [folder(hit.project), hit.agent_name].filter(Boolean).join(" / "));
  attr(at(".hit-agent"), "href", hit.session ? sessionAddress(hit.session, hit.moment) : null);
  at(".hit-text").replaceChildren(...hit.excerpt.map((piece) => (piece.match ? el("mark", {}, piece.text) : piece.text)));
}

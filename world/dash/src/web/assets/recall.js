// A search over what was said and done in all projects.

import { attr, badge, code, el, empty, folder, keyed, since, text } from "./dom.js";

// Whoever types is asked for nothing before they pause.
const PAUSE_MS = 200;

export function recallView({ ask, trouble }) {
  const words = el("input", { type: "search", class: "recall-words", placeholder: "words, in any order", "aria-label": "Search what was said and done", maxlength: "400", autocomplete: "off", spellcheck: "false" });
  const list = el("ul", { class: "hits" });
  const told = el("div", { "aria-live": "polite" });
  const node = el("section", { class: "view recall" }, words, told, list);
  let asked = 0;
  let timer = null;
  const search = async () => {
    const wanted = words.value.trim();
    const number = ++asked;
    if (wanted === "") {
      told.replaceChildren();
      list.replaceChildren();
      return;
    }
    try {
      const { hits } = await ask(`/api/recall?words=${encodeURIComponent(wanted)}`);
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
  return { node, news: () => {}, close: () => clearTimeout(timer) };
}

function makeHit() {
  return el("li", { class: "hit" },
    el("span", { class: "age" }), el("span", { class: "hit-kind" }), el("a", { class: "hit-agent" }), el("span", { class: "hit-text" }));
}

function updateHit(node, hit) {
  const at = (selector) => node.querySelector(selector);
  since(at(".age"), hit.at);
  at(".hit-kind").replaceChildren(badge(hit.kind));
  text(at(".hit-agent"), [folder(hit.project), hit.agent].filter(Boolean).join(" / "));
  attr(at(".hit-agent"), "href", hit.session ? `#/session/${encodeURIComponent(hit.session)}` : null);
  at(".hit-text").replaceChildren(...hit.excerpt.map((piece) => (piece.match ? el("mark", {}, piece.text) : piece.text)));
}

// One session: what happened in it, how full it got, and what its model was told.

import { attr, el, empty, keyed } from "./dom.js";
import { curve } from "./chart.js";
import { patchBlocks } from "./diff.js";
import { filterBar } from "./filters.js";
import { updateFrame } from "./session_frame.js";
import { keeps, makeEntry, updateEntry } from "./timeline.js";
import { download } from "./wire.js";

const CHIPS = {
  all: ["All", {}], prompts: ["Prompts", { kind: "prompt" }], tools: ["Tools", { kind: "tool" }],
  verdicts: ["Verdicts", { verdict: "any" }], told: ["Told the model", { kind: "told" }],
};
const FIELDS = [
  { name: "text", label: "Contains", kind: "words", placeholder: "letters, anywhere in it" },
  { name: "tool", label: "Tool", kind: "suggested" },
  { name: "rule", label: "Rule", kind: "suggested" },
];

export function sessionView({ ask, part, trouble }) {
  // An address may name a moment behind the session.
  const [id, moment] = part.split("/");
  const base = `/api/session/${encodeURIComponent(id)}`;
  const view = skeleton(id, ask, trouble);
  // What lies together, and what was found elsewhere for the filter that is set.
  const loaded = new Map();
  const found = new Map();
  let [chip, typed, wanted] = ["all", {}, moment];
  let [before, after, foundBefore, looked] = [null, null, null, 0];
  let [drawn, busy, again] = [null, false, false];

  const filters = () => ({ ...CHIPS[chip][1], ...typed });
  const isFiltered = () => Object.values(filters()).some(Boolean);
  // Whose a sub-agent's entry is, by the name of its kind.
  const kinds = () => new Map((drawn?.session.sub_agents ?? []).map(({ id, type }) => [id, type]));

  const draw = () => {
    const known = kinds();
    const all = isFiltered() ? new Map([...found, ...loaded]) : loaded;
    const entries = [...all.values()].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : b.order - a.order));
    const shown = entries.filter(keeps(filters()));
    keyed(view.list, shown, (entry) => entry.key, makeEntry, (node, entry) => updateEntry(node, { ...entry, session: id, by: known.get(entry.sub_agent) }));
    view.none.hidden = shown.length > 0;
    view.more.hidden = !(isFiltered() ? foundBefore : before);
    view.later.hidden = !after || isFiltered();
    view.looked.textContent = isFiltered() && looked ? `looked through ${looked} events${foundBefore ? "; Show earlier goes on" : ""}` : "";
    for (const button of view.filters.children) attr(button, "aria-pressed", button.dataset.filter === chip ? "true" : "false");
    const names = (of) => [...new Set([...loaded.values()].flatMap(of))].filter(Boolean).sort().map((value) => ({ value }));
    view.bar.choose("tool", names((entry) => [entry.tool]));
    view.bar.choose("rule", names((entry) => entry.rules ?? []));
  };
  const take = (into, entries) => entries.forEach((entry, n) => into.set(entry.key, { ...entry, order: -n }));
  const query = (parts) => {
    const set = Object.entries(parts).filter(([, value]) => value);
    return set.length ? `${base}?${new URLSearchParams(set)}` : base;
  };

  const load = async () => {
    if (busy) return void (again = true);
    busy = true;
    try {
      const told = await ask(query({ at: wanted }));
      drawn = told;
      const first = loaded.size === 0;
      if (first) [before, after] = [told.before, told.after];
      // Away from the end, what is new does not lie next to what is shown.
      if (first || !after) take(loaded, told.entries);
      updateFrame(view, told);
      draw();
      if (first && wanted) show(told.focus);
      wanted = null;
    } catch (error) {
      if (!drawn && error.message) view.list.replaceChildren(el("li", {}, empty("This session cannot be shown", error.message)));
      trouble(error);
    }
    busy = false;
    if (again) {
      again = false;
      setTimeout(load, 250);
    }
  };
  // The moment that the address names is opened, and has the focus.
  const show = (key) => {
    const node = key && [...view.list.children].find((entry) => entry.dataset.key === key);
    view.gone.hidden = Boolean(node);
    if (!node) return;
    node.classList.add("here");
    node.querySelector("details").open = true;
    node.querySelector("summary").focus({ preventScroll: true });
    node.scrollIntoView({ block: "center" });
  };
  const search = async (from) => {
    const asked = JSON.stringify(filters());
    try {
      const told = await ask(query({ ...filters(), before: from }));
      if (asked !== JSON.stringify(filters())) return;
      foundBefore = told.before;
      looked += told.looked;
      take(found, told.entries);
      draw();
    } catch (error) {
      trouble(error);
    }
  };
  const refilter = () => {
    found.clear();
    [foundBefore, looked] = [null, 0];
    draw();
    if (isFiltered()) search();
  };
  const page = (cursor, way, put) => async () => {
    if (isFiltered() && way === "before") return search(foundBefore);
    try {
      const told = await ask(query({ [way]: cursor() }));
      put(told);
      take(loaded, told.entries);
      draw();
    } catch (error) {
      trouble(error);
    }
  };
  view.more.addEventListener("click", page(() => before, "before", (told) => (before = told.before)));
  view.later.addEventListener("click", page(() => after, "after", (told) => (after = told.after)));
  for (const [name, [word]] of Object.entries(CHIPS)) {
    view.filters.append(el("button", { type: "button", class: "chip", data: { filter: name }, click: () => { chip = name; refilter(); } }, word));
  }
  view.bar = filterBar(FIELDS, {}, (values) => {
    typed = values;
    refilter();
  });
  view.filterPlace.append(view.bar.node);
  const resized = new ResizeObserver(() => drawn && curve(view.curve, drawn.context));
  resized.observe(view.curve);
  return { node: view.node, news: load, close: () => { resized.disconnect(); view.bar.close(); } };
}

function skeleton(id, ask, trouble) {
  const view = {
    title: el("h1"),
    facts: el("p", { class: "facts" }),
    status: el("span", { class: "state" }),
    doing: el("p", { class: "doing-now" }),
    words: el("details", { class: "last-words", hidden: "", open: "" }, el("summary", {}, "Last words"), el("pre")),
    gauge: el("span", { class: "gauge", role: "img" }, el("i")),
    percent: el("span", { class: "percent" }),
    curve: el("div", { class: "chart" }),
    filters: el("div", { class: "chips", role: "group", "aria-label": "Show only" }),
    filterPlace: el("div", { class: "timeline-filters" }),
    looked: el("p", { class: "quiet", role: "status" }),
    gone: el("p", { class: "quiet gone", role: "status", hidden: "" }, "That moment is forgotten by now, or of another session; this is the end of the session."),
    later: el("button", { type: "button", class: "more later", hidden: "" }, "Show later"),
    list: el("ol", { class: "timeline" }),
    none: el("p", { class: "quiet", hidden: "" }, "Nothing of this kind."),
    more: el("button", { type: "button", class: "more earlier", hidden: "" }, "Show earlier"),
    side: el("aside", { class: "side" }),
  };
  const exports = el("p", { class: "exports" }, "Export as ", exportButton(id, "markdown", "Markdown", trouble), " ", exportButton(id, "json", "JSON", trouble));
  const head = el("header", { class: "session-head" },
    el("p", { class: "back-line" }, el("a", { class: "back", href: "#/" }, "← Fleet"), el("a", { class: "back", href: "#/sessions" }, "Sessions")),
    el("div", { class: "headline" }, view.title, view.status, exports),
    view.facts, view.doing, view.words, changes(id, ask));
  const context = el("section", { class: "card" }, el("h2", {}, "Context", el("span", { class: "inline-gauge" }, view.gauge, view.percent)), view.curve);
  view.node = el("section", { class: "view session" }, head,
    el("div", { class: "split" },
      el("div", {}, context, el("div", { class: "bar" }, view.filters), view.filterPlace, view.looked, view.gone, view.later, view.list, view.none, view.more),
      view.side));
  return view;
}

// The diff itself is read when somebody wants to see it.
function changes(id, ask) {
  const shown = el("div", { class: "patch" });
  const node = el("details", { class: "last-words changes" }, el("summary", {}, "What it changed"), shown);
  node.addEventListener("toggle", async () => {
    if (!node.open) return;
    shown.replaceChildren(el("p", { class: "quiet", role: "status" }, "reading …"));
    try {
      const { patch, notes } = await ask(`/api/session/${encodeURIComponent(id)}/diff`);
      shown.replaceChildren(...notes.map((note) => el("p", { class: "quiet" }, note)), ...patchBlocks(patch));
    } catch (error) {
      shown.replaceChildren(el("p", { class: "quiet" }, error.message ?? "the diff cannot be read"));
    }
  });
  return node;
}

function exportButton(id, format, word, trouble) {
  return el("button", { type: "button", class: "chip export", data: { format }, click: async (event) => {
    const button = event.currentTarget;
    button.disabled = true;
    try {
      const { name, blob } = await download(`/api/session/${encodeURIComponent(id)}/export?as=${format}`);
      const address = URL.createObjectURL(blob);
      el("a", { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    } catch (error) {
      trouble(error);
    }
    button.disabled = false;
  } }, word);
}

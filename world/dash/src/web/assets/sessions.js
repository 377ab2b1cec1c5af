// All sessions, those of the past too: chosen by what they are and by what happened in them.

import { attr, clock, code, el, empty, folder, keyed, since, text, tokens } from "./dom.js";
import { filteredAddress, filtersOfAddress, keepInAddress, sessionAddress, spanOfDays } from "./address.js";
import { filterBar } from "./filters.js";

// How often a list is read again: what looks through many events less often.
const EVERY_MS = 2000;
const EVERY_LOOK_MS = 15_000;
const STANDINGS = [
  { value: "", word: "any" }, { value: "open", word: "running" }, { value: "ended", word: "ended" },
  ...["error", "attention", "working", "checked", "done", "idle"].map((value) => ({ value })),
];
const SORTS = [
  { value: "urgency", word: "urgency" }, { value: "seen", word: "last seen" }, { value: "started", word: "started" },
  { value: "agent", word: "agent" }, { value: "cost", word: "cost" },
];
const FIELDS = [
  { name: "text", label: "Said or done", kind: "words", placeholder: "words, as in Recall" },
  { name: "project", label: "Project", kind: "suggested" },
  { name: "agent", label: "Agent", kind: "suggested" },
  { name: "state", label: "State", kind: "choice", choices: STANDINGS },
  { name: "tool", label: "Tool", kind: "suggested" },
  { name: "rule", label: "Rule", kind: "suggested" },
  { name: "from", label: "From", kind: "day" },
  { name: "to", label: "To", kind: "day" },
  { name: "sort", label: "Sort by", kind: "choice", choices: SORTS },
  { name: "reverse", label: "Reversed", kind: "check" },
  { name: "group", label: "By project", kind: "check" },
];

export function sessionsView({ ask, trouble }) {
  const counts = el("p", { class: "quiet counts-line", role: "status" });
  const body = el("tbody");
  const heads = ["State", "Agent", "Last words", "Work", "When"];
  const table = el("table", { class: "fleet sessions" },
    el("caption", { class: "unseen" }, "Sessions"),
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), body);
  const none = el("div");
  const more = el("button", { type: "button", class: "more", hidden: "" }, "Show more");
  let filters = filtersOfAddress();
  let loaded = [];
  let next = null;
  let asked = 0;
  let paging = false;
  let read = 0;
  let every = EVERY_MS;
  let timer = null;

  const bar = filterBar(FIELDS, filters, (values) => {
    filters = { ...values, sort: values.sort === "urgency" ? "" : values.sort };
    keepInAddress("sessions", filters);
    loaded = [];
    load();
  });
  const path = (after) => {
    const { from, to, ...others } = filters;
    return filteredAddress("sessions", { ...others, ...spanOfDays(from, to), after }).replace("#/", "/api/");
  };
  const load = async (after) => {
    const number = ++asked;
    paging = Boolean(after);
    read = Date.now();
    try {
      const told = await ask(path(after));
      if (number !== asked) return;
      const known = new Set(told.sessions.map(({ id }) => id));
      const others = loaded.filter(({ id }) => !known.has(id));
      // What was paged to stays; what is read again comes first, as the server has it.
      if (after) loaded = [...others, ...told.sessions];
      else if (told.next && loaded.length > told.sessions.length) loaded = [...told.sessions, ...others];
      else loaded = told.sessions;
      if (after || loaded.length === told.sessions.length) next = told.next;
      every = told.looked ? EVERY_LOOK_MS : EVERY_MS;
      draw(told);
    } catch (error) {
      if (error.status === 400 && number === asked) {
        table.hidden = true;
        text(counts, "");
        none.replaceChildren(empty("This cannot be looked for", error.message));
      } else trouble(error);
    }
    paging = false;
  };
  // The fleet may change many times a second; a long list need not.
  const news = () => {
    if (paging || timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      if (!paging) load();
    }, Math.max(0, read + every - Date.now()));
  };
  const draw = (told) => {
    if (told.choices) offer(bar, told.choices);
    text(counts, summary(told, loaded.length));
    const mixed = new Set(loaded.map(({ client }) => client).filter(Boolean)).size > 1;
    const rows = filters.group ? grouped(loaded) : loaded;
    keyed(body, rows, (row) => row.heading ?? row.id, (row) => (row.heading === undefined ? makeRow() : makeHeading()), (node, row) => (row.heading === undefined ? updateRow(node, row, mixed) : updateHeading(node, row)));
    table.hidden = loaded.length === 0;
    more.hidden = !next;
    none.replaceChildren(...(loaded.length ? [] : [nothing(told)]));
  };
  more.addEventListener("click", () => load(next));
  body.addEventListener("click", (event) => {
    if (event.target.closest("a") || String(getSelection())) return;
    event.target.closest("tr")?.querySelector("a.name")?.click();
  });
  const node = el("section", { class: "view" }, el("h1", { class: "unseen" }, "Sessions"), bar.node, counts, table, none, more);
  return { node, news, close: () => { clearTimeout(timer); bar.close(); } };
}

function offer(bar, { projects, agents, tools, rules }) {
  const named = ({ name, count }) => ({ value: name, word: `${name} (${count})` });
  bar.choose("project", projects.map(named));
  bar.choose("agent", agents.map(({ name, shown, count }) => ({ value: name, word: `${shown} (${count})` })));
  bar.choose("tool", tools.map((value) => ({ value })));
  bar.choose("rule", rules.map((value) => ({ value })));
}

function summary({ total, open, looked, matches }, shown) {
  const parts = [`${total} session${total === 1 ? "" : "s"}`, open ? `${open} running` : null, shown < total ? `${shown} shown` : null];
  if (looked) parts.push(looked.back_to ? `looked through ${looked.events} events, back to ${clock(looked.back_to)}: choose days to look further back` : null);
  if (matches?.cut) parts.push(`of the ${matches.count} best matches`);
  return parts.filter(Boolean).join(" · ");
}

function nothing({ recorded }) {
  if (!recorded) return empty("No sessions yet", code("taut init"), " installs the hooks that record them. Then start your coding agent.");
  return empty("No session is like that", "Clear the filters to see all of them.");
}

// The order is the server's; only headings are put between.
function grouped(sessions) {
  const rows = [];
  for (const session of sessions) {
    const heading = session.project ?? "";
    if (rows.length === 0 || (rows.at(-1).project ?? "") !== heading) rows.push({ heading: `project ${heading}`, project: heading });
    rows.push(session);
  }
  return rows;
}

function makeHeading() {
  return el("tr", { class: "group" }, el("th", { scope: "rowgroup", colspan: "5" }));
}

function updateHeading(node, { project }) {
  text(node.firstChild, project || "no project");
}

function makeRow() {
  return el("tr", {},
    el("td", { class: "c-status" }, el("span", { class: "dot", "aria-hidden": "true" }), el("span", { class: "word" })),
    el("td", { class: "c-agent" }, el("a", { class: "name" }), el("span", { class: "sub project" })),
    el("td", { class: "c-words" }, el("span", { class: "words" }), el("span", { class: "sub why" })),
    el("td", { class: "c-work" }, el("span", { class: "branch mono" }), el("span", { class: "sub size" })),
    el("td", { class: "c-when" }, el("time"), el("span", { class: "sub age" })));
}

function updateRow(node, session, mixed) {
  const at = (selector) => node.querySelector(selector);
  const status = session.agent_status ?? (session.ended_at ? "ended" : session.state);
  node.className = session.agent_status ?? "done";
  text(at(".word"), status);
  text(at(".name"), session.agent_name);
  attr(at(".name"), "href", sessionAddress(session.id));
  text(at(".project"), [mixed && session.client, folder(session.project)].filter(Boolean).join(" · "));
  attr(at(".project"), "title", session.project);
  text(at(".words"), (session.last_words ?? session.status ?? "").trim().split("\n")[0].slice(0, 400));
  attr(at(".words"), "title", session.last_words?.slice(0, 400) ?? null);
  text(at(".why"), [session.skill && `/${session.skill}`, session.phase, session.ended_at && session.end_reason].filter(Boolean).join(" · "));
  text(at(".branch"), session.branch ?? "");
  const { diff } = session;
  text(at(".size"), [diff && `${diff.files} files +${diff.added} −${diff.removed}`, session.cost_usd !== undefined && `${session.cost_estimated ? "≈ " : ""}$${session.cost_usd.toFixed(2)}`,
    session.tokens !== undefined && `${tokens(session.tokens)} tokens`, session.model].filter(Boolean).join(" · "));
  text(at("time"), clock(session.started_at));
  attr(at("time"), "datetime", session.started_at);
  since(at(".age"), session.last_seen_at, " ago");
}


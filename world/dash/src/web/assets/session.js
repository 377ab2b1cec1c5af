// One session: what happened in it, how full it got, and what its model was told.

import { age, attr, badge, bytes, clock, code, duration, el, empty, folder, keyed, ms, since, text, tokens } from "./dom.js";
import { curve } from "./chart.js";
import { updateGauge } from "./fleet.js";

const FILTERS = {
  all: ["All", () => true],
  prompts: ["Prompts", (entry) => entry.kind === "prompt"],
  tools: ["Tools", (entry) => entry.kind === "tool"],
  verdicts: ["Verdicts", (entry) => entry.verdict !== "pass"],
  told: ["Told the model", (entry) => (entry.told ?? []).some(({ to }) => to === "model")],
};
const VERDICTS = { deny: "denied", ask: "asked", warn: "warned" };

export function sessionView({ ask, part: id, trouble }) {
  const view = skeleton();
  const loaded = new Map();
  let filter = "all";
  let before = null;
  let drawn = null;
  let busy = false;
  let again = false;

  // Whose a sub-agent's entry is, by the name of its kind.
  const kinds = () => new Map((drawn?.session.sub_agents ?? []).map(({ id, type }) => [id, type]));

  const draw = () => {
    const known = kinds();
    const entries = [...loaded.values()].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : b.order - a.order));
    const shown = entries.filter(FILTERS[filter][1]);
    keyed(view.list, shown, (entry) => entry.key, makeEntry, (node, entry) => updateEntry(node, { ...entry, by: known.get(entry.sub_agent) }));
    view.none.hidden = shown.length > 0;
    view.more.hidden = !before;
    for (const button of view.filters.children) attr(button, "aria-pressed", button.dataset.filter === filter ? "true" : "false");
  };
  const take = (entries) => entries.forEach((entry, n) => loaded.set(entry.key, { ...entry, order: -n }));

  const load = async () => {
    if (busy) return void (again = true);
    busy = true;
    try {
      const told = await ask(`/api/session/${encodeURIComponent(id)}`);
      if (loaded.size === 0) before = told.before;
      take(told.entries);
      drawn = told;
      frame(view, told);
      draw();
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
  view.more.addEventListener("click", async () => {
    try {
      const told = await ask(`/api/session/${encodeURIComponent(id)}?before=${before}`);
      before = told.before;
      take(told.entries);
      draw();
    } catch (error) {
      trouble(error);
    }
  });
  for (const [name, [word]] of Object.entries(FILTERS)) {
    view.filters.append(el("button", { type: "button", class: "chip", data: { filter: name }, click: () => { filter = name; draw(); } }, word));
  }
  const resized = new ResizeObserver(() => drawn && curve(view.curve, drawn.context));
  resized.observe(view.curve);
  return { node: view.node, news: load, close: () => resized.disconnect() };
}

function skeleton() {
  const view = {
    title: el("h1"),
    facts: el("p", { class: "facts" }),
    status: el("span", { class: "state" }),
    doing: el("p", { class: "doing-now" }),
    gauge: el("span", { class: "gauge", role: "img" }, el("i")),
    percent: el("span", { class: "percent" }),
    curve: el("div", { class: "chart" }),
    filters: el("div", { class: "chips", role: "group", "aria-label": "Show only" }),
    list: el("ol", { class: "timeline" }),
    none: el("p", { class: "quiet", hidden: "" }, "Nothing of this kind."),
    more: el("button", { type: "button", class: "more", hidden: "" }, "Show earlier"),
    side: el("aside", { class: "side" }),
  };
  const head = el("header", { class: "session-head" },
    el("a", { class: "back", href: "#/" }, "← Fleet"),
    el("div", { class: "headline" }, view.title, view.status),
    view.facts, view.doing);
  const context = el("section", { class: "card" }, el("h2", {}, "Context", el("span", { class: "inline-gauge" }, view.gauge, view.percent)), view.curve);
  view.node = el("section", { class: "view session" }, head,
    el("div", { class: "split" },
      el("div", {}, context, el("div", { class: "bar" }, view.filters), view.list, view.none, view.more),
      view.side));
  return view;
}

function frame(view, { session, agent, context, phases, messages, task }) {
  text(view.title, session.agent);
  const status = agent?.status ?? (session.ended_at ? "ended" : session.state);
  view.status.className = `state ${agent?.status ?? "done"}`;
  view.status.replaceChildren(el("span", { class: "dot", "aria-hidden": "true" }), status);
  const fact = (name, value, title) => value ? el("span", { title }, el("em", {}, name), " ", value) : null;
  const ran = session.ended_at ? `${clock(session.started_at)}, for ${age(ms(session.ended_at) - ms(session.started_at))}` : clock(session.started_at);
  view.facts.replaceChildren(...[
    fact("project", folder(session.project), session.project),
    fact("session", session.logical_id?.slice(0, 8), session.logical_id),
    fact("started", ran),
    session.ended_at ? fact("ended", session.end_reason ?? "yes") : null,
    fact("task", agent?.task ?? task),
    fact("skill", session.skill && [`/${session.skill}`, session.phase].filter(Boolean).join(" · ")),
    fact("role", session.role),
    fact("mode", session.mode),
    session.prev_session_id ? el("a", { href: `#/session/${encodeURIComponent(session.prev_session_id)}` }, "session before") : null,
  ].filter(Boolean));
  text(view.doing, session.status ?? "");
  updateGauge(view.gauge, view.percent, session.context_percent);
  if (session.context_tokens) text(view.percent, `${view.percent.textContent} · ${tokens(session.context_tokens)} tokens`);
  const drawing = JSON.stringify(context);
  if (view.curve.dataset.drawn !== drawing) {
    view.curve.dataset.drawn = drawing;
    curve(view.curve, context);
  }
  side(view.side, session.sub_agents ?? [], messages, phases);
}

function side(box, subs, messages, phases) {
  const signature = JSON.stringify([subs, messages, phases]);
  if (box.dataset.signature === signature) return;
  box.dataset.signature = signature;
  const cards = [];
  if (subs.length) cards.push(card("Sub-agents", subs.map(subAgent)));
  if (phases.length) cards.push(card("Phases", phases.map(({ at, label }) => el("li", {}, el("time", {}, clock(at)), el("span", {}, label)))));
  cards.push(messages.length
    ? card("Messages", messages.map(message))
    : el("section", { class: "card" }, el("h2", {}, "Messages"), el("p", { class: "quiet" }, "None. ", code("taut send"), " says something to an agent.")));
  box.replaceChildren(...cards);
}

function card(title, items) {
  return el("section", { class: "card" }, el("h2", {}, title, el("span", { class: "count" }, String(items.length))), el("ul", {}, items));
}

function subAgent({ id, type, started_at, ended_at }) {
  const how = el("span", { class: "age" });
  if (ended_at) text(how, duration(ms(ended_at) - ms(started_at)));
  else since(how, started_at);
  return el("li", { title: id }, badge(ended_at ? "done" : "running", ended_at ? "plain" : "run"), el("span", {}, type || "sub-agent"), how);
}

function message({ at, kind, from, to, body, delivered_at }) {
  const whom = [from, to && `→ ${to}`].filter(Boolean).join(" ");
  const waits = to && !delivered_at ? badge("waiting", "info") : null;
  return el("li", { class: "message" }, el("p", { class: "quiet" }, el("time", {}, clock(at)), ` ${kind.replaceAll("_", " ")} `, whom, " ", waits), el("p", { class: "said" }, body));
}

function makeEntry() {
  const node = el("li", { class: "entry" },
    el("details", {},
      el("summary", {}, el("time"), el("span", { class: "tag" }), el("span", { class: "about" }), el("span", { class: "marks" })),
      el("div", { class: "more-of-it" })));
  // Filled when it is opened: most never are.
  node.querySelector("details").addEventListener("toggle", (event) => event.target.open && fill(node));
  return node;
}

function updateEntry(node, entry) {
  const signature = JSON.stringify(entry);
  if (node.dataset.signature === signature) return;
  node.dataset.signature = signature;
  node.entry = entry;
  node.className = `entry ${entry.kind} ${entry.verdict}`;
  const at = (selector) => node.querySelector(selector);
  text(at("time"), clock(entry.at));
  attr(at("time"), "datetime", entry.at);
  text(at(".tag"), entry.tool ?? words(entry.event));
  text(at(".about"), entry.about || (entry.kind === "sub_agent" ? entry.by ?? entry.sub_agent : ""));
  const marks = [];
  if (entry.sub_agent && entry.kind !== "sub_agent") marks.push(badge(entry.by ?? "sub-agent", "plain"));
  if (entry.context?.percent !== undefined) marks.push(badge(`context ${Math.round(entry.context.percent)}%`, "plain"));
  if ((entry.told ?? []).some(({ to, as_what }) => to === "model" && as_what === "context")) marks.push(badge("told the model", "info"));
  if (entry.verdict !== "pass") marks.push(badge([VERDICTS[entry.verdict], entry.rules?.[0]].filter(Boolean).join(" "), entry.verdict));
  else if (entry.outcome === "failed") marks.push(badge("failed", "deny"));
  if (entry.outcome === "running") marks.push(runs(entry));
  if (entry.duration_ms !== undefined) marks.push(el("span", { class: "took" }, duration(entry.duration_ms)));
  at(".marks").replaceChildren(...marks);
  if (at("details").open) fill(node);
}

function runs(entry) {
  const node = el("span", { class: "took running" });
  since(node, entry.at);
  return node;
}

function words(event) {
  return { UserPromptSubmit: "Prompt", SubagentStart: "Sub-agent", SubagentStop: "Sub-agent end", SessionStart: "Session", SessionEnd: "Session ended" }[event] ?? event.replace(/(?<=[a-z])(?=[A-Z])/g, " ");
}

function fill(node) {
  const entry = node.entry;
  const parts = [];
  const block = (title, body, look) => parts.push(el("div", { class: `block ${look ?? ""}` }, el("h3", {}, title), el("pre", {}, body)));
  const same = (told) => told.text === entry.reason;
  if (entry.reason && !(entry.told ?? []).some(same)) block(`${VERDICTS[entry.verdict] ?? "reason"}, because`, entry.reason, entry.verdict);
  for (const told of entry.told ?? []) block(heard(told, entry), told.text, told.as_what === "context" ? "told" : entry.verdict);
  if (entry.error) block("failed with", entry.error, "deny");
  if (entry.text && entry.text !== entry.about) block(entry.kind === "prompt" ? "prompt" : "input", entry.text);
  const facts = [words(entry.event), entry.rules?.length ? `rules ${entry.rules.join(", ")}` : null,
    entry.response_bytes !== undefined ? `response ${bytes(entry.response_bytes)}` : null,
    entry.sub_agent ? `sub-agent ${entry.sub_agent}` : null, `hook ${entry.ms.toFixed(1)} ms`];
  parts.push(el("p", { class: "quiet" }, facts.filter(Boolean).join(" · ")));
  node.querySelector(".more-of-it").replaceChildren(...parts);
}

function heard({ to, as_what }, entry) {
  if (to === "user") return as_what === "stop" ? "stopped the client, saying" : "told the user";
  if (to === "log") return "warned in the log";
  return as_what === "context" ? "the model was told" : `${VERDICTS[entry.verdict] ?? "held back"}; the model was told`;
}

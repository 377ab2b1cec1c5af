// The fleet board: one row an agent, the worst first, changed in place.

import { attr, badge, code, el, empty, folder, keyed, since, text } from "./dom.js";
import { runDetails, updateRun } from "./runs.js";

const STATUSES = ["error", "attention", "working", "checked", "done"];
const MEANS = {
  error: "a tool or a turn failed",
  attention: "waits for you",
  working: "at work",
  checked: "you have looked",
  done: "nothing to do",
};

const STATES = { created: "starting", active: "thinking", tool_active: "using a tool", idle: "idle" };

export function fleetView() {
  const chips = el("div", { class: "chips", role: "group", "aria-label": "Show only" });
  const search = el("input", { type: "search", placeholder: "Filter by agent, project, task", "aria-label": "Filter agents" });
  const body = el("tbody");
  const heads = ["Status", "Agent", "Now", "Context", "Task"];
  const table = el(
    "table",
    { class: "fleet" },
    el("caption", { class: "unseen" }, "Agents, the most urgent first"),
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    body,
  );
  const none = el("div", {});
  const node = el("section", { class: "view" }, el("div", { class: "bar" }, chips, search), table, none);
  const only = new Set();
  let told = null;

  const draw = () => {
    if (!told) return;
    const agents = told.agents ?? [];
    drawChips(chips, told.summary ?? {}, agents.length, only, draw);
    const wanted = search.value.trim().toLowerCase();
    const shown = agents.filter((agent) => (only.size === 0 || only.has(agent.status)) && matches(agent, wanted));
    // Which agent each is says something only where they are of more than one kind.
    const mixed = new Set(agents.map((agent) => agent.client).filter(Boolean)).size > 1;
    keyed(body, shown.sort(urgency), (agent) => agent.id, makeRow, (row, agent) => updateRow(row, agent, mixed));
    table.hidden = shown.length === 0;
    none.replaceChildren(...(shown.length === 0 ? [nothing(told, agents.length)] : []));
  };
  search.addEventListener("input", draw);
  body.addEventListener("click", (event) => {
    if (event.target.closest("a, details") || String(getSelection())) return;
    event.target.closest("tr")?.querySelector("a")?.click();
  });
  return { node, news: (fleet) => { told = fleet; draw(); } };
}

function nothing(told, count) {
  if (told.error) return empty("The database cannot be read", told.error);
  if (count) return empty("No agent is like that", "Clear the filter to see all of them.");
  return empty("No agents yet", code("taut init"), " installs the hooks that tell of them. Then start your coding agent: it appears here with its first event.");
}

function matches(agent, wanted) {
  const words = [agent.id, agent.client, agent.project, agent.task, agent.effort, agent.phase, agent.doing, agent.why, agent.tool?.name, agent.loop?.run, agent.loop?.task];
  return !wanted || words.some((word) => word?.toLowerCase().includes(wanted));
}

// Within a status: who waits longest first; at work by name, so that rows stay; over and done with the latest first.
function urgency(a, b) {
  const rank = STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status);
  if (rank) return rank;
  if (a.status === "working") return a.id < b.id ? -1 : 1;
  const earlier = a.since < b.since ? -1 : a.since > b.since ? 1 : a.id < b.id ? -1 : 1;
  return a.status === "done" ? -earlier : earlier;
}

function drawChips(chips, summary, all, only, draw) {
  const make = ({ status }) =>
    el("button", { type: "button", class: `chip ${status}`, title: MEANS[status], click: () => {
      if (only.has(status)) only.delete(status);
      else only.add(status);
      draw();
    } }, el("span", { class: "dot", "aria-hidden": "true" }), el("b"), el("span", { class: "word" }, status));
  const items = STATUSES.map((status) => ({ status, count: summary[status] ?? 0 }));
  keyed(chips, items, ({ status }) => status, make, (chip, { status, count }) => {
    text(chip.querySelector("b"), String(count));
    attr(chip, "aria-pressed", only.has(status) ? "true" : "false");
    chip.classList.toggle("zero", count === 0);
  });
  attr(chips, "data-all", all);
}

function makeRow() {
  const cell = (name, ...children) => el("td", { class: name }, ...children);
  return el(
    "tr",
    {},
    cell("c-status", el("span", { class: "dot", "aria-hidden": "true" }), el("span", { class: "word" }), el("span", { class: "age" })),
    cell("c-agent", el("a", { class: "name" }), el("span", { class: "sub project" })),
    cell("c-now", el("span", { class: "what" }, el("b"), el("span", { class: "mono about" }), el("span", { class: "age" })), el("span", { class: "sub notes" }), runDetails()),
    cell("c-context", el("span", { class: "gauge", role: "img" }, el("i")), el("span", { class: "percent" })),
    cell("c-task", el("span", { class: "task" }), el("span", { class: "sub effort" })),
  );
}

function updateRow(row, agent, mixed) {
  const at = (selector) => row.querySelector(selector);
  row.className = agent.status;
  text(at(".word"), agent.status);
  attr(at(".c-status"), "title", MEANS[agent.status]);
  since(at(".c-status .age"), agent.since);
  const name = at(".name");
  text(name, agent.loop ? `loop ${agent.loop.short}` : agent.id);
  attr(name, "href", agent.session ? `#/session/${encodeURIComponent(agent.session)}` : null);
  text(at(".project"), [mixed && agent.client, folder(agent.project)].filter(Boolean).join(" · "));
  attr(at(".project"), "title", agent.project);
  updateNow(at, agent);
  updateRun(at("details.run"), agent.loop);
  updateGauge(at(".gauge"), at(".percent"), agent.context_percent);
  text(at(".task"), agent.task ?? "");
  text(at(".effort"), [agent.effort && `/${agent.effort}`, agent.phase].filter(Boolean).join(" · "));
}

function updateNow(at, agent) {
  // A run says which iteration it is in; its agent's tool is in those words.
  const tool = agent.why || agent.loop ? null : agent.tool;
  const urgent = agent.status === "error" || agent.status === "attention";
  const idle = urgent ? MEANS[agent.status] : STATES[agent.state] ?? (agent.session ? agent.state : "gone");
  text(at(".what b"), tool ? tool.name : "");
  text(at(".about"), tool ? tool.about : agent.why ?? agent.doing ?? idle);
  attr(at(".about"), "title", tool ? tool.about : agent.why ?? null);
  at(".about").classList.toggle("mono", Boolean(tool));
  since(at(".what .age"), tool?.since);
  const notes = [];
  const beside = tool?.beside ? `+${tool.beside} more` : null;
  if (beside) notes.push({ word: beside, look: "plain" });
  if (agent.sub_agents) notes.push({ word: `${agent.sub_agents} sub-agent${agent.sub_agents > 1 ? "s" : ""}`, look: "plain" });
  if (agent.messages) notes.push({ word: `${agent.messages} message${agent.messages > 1 ? "s" : ""} waiting`, look: "info" });
  if (agent.verdict) {
    const verb = { deny: "denied", ask: "asked", warn: "warned" }[agent.verdict.verdict];
    notes.push({ word: `${verb} ${agent.verdict.rules[0] ?? agent.verdict.tool ?? ""}`.trim(), look: agent.verdict.verdict, title: agent.verdict.about });
  }
  if ((tool || agent.why) && agent.doing) notes.push({ word: agent.doing, look: "doing" });
  const signature = JSON.stringify(notes);
  if (at(".notes").dataset.signature !== signature) {
    at(".notes").dataset.signature = signature;
    at(".notes").replaceChildren(...notes.map(({ word, look, title }) => {
      const made = badge(word, look);
      attr(made, "title", title);
      return made;
    }));
  }
}

export function updateGauge(gauge, label, percent) {
  const known = percent !== null && percent !== undefined;
  gauge.style.setProperty("--full", known ? Math.min(100, percent) / 100 : 0);
  attr(gauge, "data-level", !known ? "none" : percent >= 90 ? "high" : percent >= 80 ? "mid" : percent >= 60 ? "some" : "low");
  attr(gauge, "aria-label", known ? `context ${Math.round(percent)} percent full` : "context not known");
  text(label, known ? `${Math.round(percent)}%` : "?");
}

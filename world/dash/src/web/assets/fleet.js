// The fleet board: one row an agent, the worst first, changed in place.

import { attr, badge, clock, code, el, empty, folder, keyed, since, text, tokens } from "./dom.js";
import { called, inMachines, silence } from "./machines.js";
import { runDetails, updateRun } from "./runs.js";

const STATUSES = ["error", "attention", "working", "checked", "done"];
const MEANS = {
  error: "needs you: a turn failed, a client died or a loop stopped",
  attention: "waits for you",
  working: "at work",
  checked: "you have looked",
  done: "nothing to do",
};

const STATES = { created: "starting", active: "thinking", tool_active: "using a tool", idle: "idle" };

// How rows can be ordered; the first is how they are where nothing is said.
const ORDERS = {
  urgency: ["Urgency", urgency],
  name: ["Name", by((agent) => agent.name, 1)],
  project: ["Project", by((agent) => folder(agent.project), 1)],
  since: ["Latest change", by((agent) => agent.since, -1)],
  context: ["Context", by((agent) => agent.context_percent, -1)],
  cost: ["Cost", by((agent) => agent.cost_usd ?? agent.loop?.cost_usd, -1)],
  changes: ["Changed lines", by((agent) => agent.diff && agent.diff.added + agent.diff.removed, -1)],
};

// What is not known stands last, whichever way it goes.
function by(value, way) {
  return (a, b) => {
    const [left, right] = [value(a) ?? null, value(b) ?? null];
    if (left === right) return a.id < b.id ? -1 : 1;
    if (left === null || right === null) return left === null ? 1 : -1;
    return left < right ? -way : way;
  };
}

// What is shown and how is in the address: it can be kept, sent and come back to.
function readHash() {
  const asked = new URLSearchParams(location.hash.split("?")[1] ?? "");
  return {
    only: new Set((asked.get("status") ?? "").split(",").filter((status) => STATUSES.includes(status))),
    wanted: asked.get("q") ?? "",
    order: Object.hasOwn(ORDERS, asked.get("sort") ?? "") ? asked.get("sort") : "urgency",
    grouped: asked.get("group") === "project",
  };
}

function writeHash({ only, wanted, order, grouped }) {
  const said = new URLSearchParams();
  if (only.size) said.set("status", [...only].join(","));
  if (wanted) said.set("q", wanted);
  if (order !== "urgency") said.set("sort", order);
  if (grouped) said.set("group", "project");
  history.replaceState(null, "", `#/${said.size ? `?${said}` : ""}`);
}

export function fleetView({ actsOn, mayAct }) {
  const chips = el("div", { class: "chips", role: "group", "aria-label": "Show only" });
  const search = el("input", { type: "search", placeholder: "Filter by agent, project, task", "aria-label": "Filter agents" });
  const sort = el("select", { "aria-label": "Sort by" }, Object.entries(ORDERS).map(([name, [word]]) => el("option", { value: name }, word)));
  const group = el("button", { type: "button", class: "chip" }, "By project");
  const body = el("tbody");
  const heads = ["Status", "Agent", "Now", "Context", "Task", "Acts"];
  const table = el(
    "table",
    { class: "fleet" },
    el("caption", { class: "unseen" }, "Agents, the most urgent first"),
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head === "Acts" ? el("span", { class: "unseen" }, head) : head)))),
    body,
  );
  const none = el("div", {});
  const node = el("section", { class: "view" }, el("div", { class: "bar" }, chips, group, sort, search), table, none);
  const shows = readHash();
  search.value = shows.wanted;
  sort.value = shows.order;
  let told = null;

  const draw = () => {
    if (!told) return;
    const agents = told.agents ?? [];
    drawChips(chips, told.summary ?? {}, agents.length, shows.only, change);
    attr(group, "aria-pressed", shows.grouped ? "true" : "false");
    const wanted = shows.wanted.trim().toLowerCase();
    const shown = agents.filter((agent) => (shows.only.size === 0 || shows.only.has(agent.status)) && matches(agent, wanted));
    // Which agent each is says something only where they are of more than one kind.
    const mixed = new Set(agents.map((agent) => agent.client).filter(Boolean)).size > 1;
    const sorted = shown.sort(ORDERS[shows.order][1]);
    // Machines are told apart only where there is more than this one.
    const machines = agents.some((agent) => agent.machine_id);
    const items = machines ? inMachines(sorted, (own, id) => (shows.grouped ? withHeads(own, id) : own)) : shows.grouped ? withHeads(sorted) : sorted;
    keyed(body, items, (item) => item.head ? `${item.of} ${item.head}` : item.id,
      (item) => item.head ? makeHead() : makeRow(mayAct()), (row, item) => item.head ? updateHead(row, item) : updateRow(row, item, mixed));
    table.hidden = shown.length === 0;
    none.replaceChildren(...(shown.length === 0 ? [nothing(told, agents.length)] : []));
  };
  const change = () => {
    writeHash(shows);
    draw();
  };
  search.addEventListener("input", () => { shows.wanted = search.value; change(); });
  sort.addEventListener("change", () => { shows.order = sort.value; change(); });
  group.addEventListener("click", () => { shows.grouped = !shows.grouped; change(); });
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (event.target.closest(".acts-button")) return actsOn(row.dataset.key);
    if (event.target.closest("a, details, button") || String(getSelection())) return undefined;
    return row?.querySelector("a.name")?.click();
  });
  return { node, news: (fleet) => { told = fleet; draw(); } };
}

// Projects in the order of their first agents, each with its own below.
function withHeads(sorted, machine = "") {
  const projects = new Map();
  for (const agent of sorted) projects.set(agent.project, [...(projects.get(agent.project) ?? []), agent]);
  return [...projects].flatMap(([project, agents]) => [{ of: `project ${machine}`, head: project || "no project", name: folder(project || "no project"), count: agents.length }, ...agents]);
}

function makeHead() {
  return el("tr", { class: "group" }, el("th", { colspan: "6", scope: "rowgroup" }, el("span", { class: "group-name" }), el("span", { class: "quiet" })));
}

function updateHead(row, { of, head, name, count, silent }) {
  row.classList.toggle("machine", of === "machine");
  text(row.querySelector(".group-name"), name);
  attr(row.querySelector(".group-name"), "title", head);
  text(row.querySelector(".quiet"), ` ${count} agent${count === 1 ? "" : "s"}${silent ?? ""}`);
}

function nothing(told, count) {
  if (told.error) return empty("The database cannot be read", told.error);
  if (count) return empty("No agent is like that", "Clear the filter to see all of them.");
  if (told.had_sessions) return empty("No agent is running", el("a", { href: "#/sessions?state=ended" }, "Sessions"), " has those that ended.");
  return empty("No agents yet", code("taut init"), " installs the hooks that tell of them. Then start your coding agent: it appears here with its first event.");
}

function matches(agent, wanted) {
  const words = [agent.id, agent.name, agent.machine, agent.place, agent.client, agent.project, agent.task, agent.effort, agent.phase, agent.doing, agent.why, agent.tool?.name, agent.loop?.run, agent.loop?.task, agent.branch, agent.model, agent.last_words];
  return !wanted || words.some((word) => word?.toLowerCase().includes(wanted));
}

// Within a status: who waits longest first; at work by name, so that rows stay; over and done with the latest first.
function urgency(a, b) {
  const rank = STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status);
  if (rank) return rank;
  const before = a.name === b.name ? a.id < b.id : a.name < b.name;
  if (a.status === "working" || a.since === b.since) return before ? -1 : 1;
  return (a.since < b.since) === (a.status !== "done") ? -1 : 1;
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

function makeRow(acts) {
  const cell = (name, ...children) => el("td", { class: name }, ...children);
  return el(
    "tr",
    { tabindex: "-1" },
    cell("c-status", el("span", { class: "dot", "aria-hidden": "true" }), el("span", { class: "word" }), el("span", { class: "age" })),
    cell("c-agent", el("a", { class: "name" }), el("span", { class: "sub project" }), el("span", { class: "sub branch mono" })),
    cell("c-now", el("span", { class: "what" }, el("b"), el("span", { class: "mono about" }), el("span", { class: "age" })), el("span", { class: "sub notes" }), el("span", { class: "sub last-words" }), runDetails()),
    cell("c-context", el("span", { class: "gauge", role: "img" }, el("i")), el("span", { class: "percent" }), el("span", { class: "sub spent" })),
    cell("c-task", el("span", { class: "task" }), el("span", { class: "sub effort" }), el("span", { class: "sub changes" })),
    cell("c-acts", acts ? el("button", { type: "button", class: "acts-button" }, "⋯") : null),
  );
}

function updateRow(row, agent, mixed) {
  const at = (selector) => row.querySelector(selector);
  row.className = agent.status;
  row.classList.toggle("silent", Boolean(agent.stale));
  text(at(".word"), agent.status);
  attr(at(".c-status"), "title", MEANS[agent.status]);
  since(at(".c-status .age"), agent.since);
  const name = at(".name");
  text(name, agent.loop ? `loop ${agent.loop.short}` : agent.name);
  attr(name, "title", agent.name === agent.id ? null : agent.id);
  attr(name, "href", agent.session ? `#/session/${encodeURIComponent(agent.session)}` : null);
  text(at(".project"), [agent.place, mixed && agent.client, folder(agent.project)].filter(Boolean).join(" · "));
  attr(at(".project"), "title", agent.project);
  updateNow(at, agent);
  updateRun(at("details.run"), agent.loop);
  updateGauge(at(".gauge"), at(".percent"), agent.context_percent);
  text(at(".task"), agent.task ?? "");
  text(at(".branch"), agent.branch ?? "");
  // Why it needs somebody may quote them already.
  text(at(".last-words"), agent.last_words && !agent.why?.includes(agent.last_words) ? `“${agent.last_words}”` : "");
  attr(at(".last-words"), "title", agent.last_words);
  text(at(".spent"), [agent.model, agent.cost_usd ? `$${agent.cost_usd.toFixed(2)}` : null].filter(Boolean).join(" · "));
  attr(at(".spent"), "title", agent.tokens ? `${tokens(agent.tokens)} tokens` : null);
  updateChanges(at(".changes"), agent.diff);
  attr(at(".acts-button") ?? row, "aria-label", at(".acts-button") ? `Acts on ${called(agent)}` : null);
  text(at(".effort"), [agent.effort && `/${agent.effort}`, agent.phase].filter(Boolean).join(" · "));
}

function updateChanges(node, diff) {
  text(node, diff?.files ? `+${diff.added} −${diff.removed} in ${diff.files} file${diff.files === 1 ? "" : "s"}` : "");
}

function updateNow(at, agent) {
  // A run says which iteration it is in; its agent's tool is in those words.
  const tool = agent.why || agent.loop ? null : agent.tool;
  const urgent = agent.status === "error" || agent.status === "attention";
  const idle = urgent || agent.machine_id ? MEANS[agent.status] : STATES[agent.state] ?? "ended";
  text(at(".what b"), tool ? tool.name : "");
  text(at(".about"), agent.stale ? silence(agent) : tool ? tool.about : agent.why ?? agent.doing ?? idle);
  attr(at(".about"), "title", tool ? tool.about : agent.why ?? null);
  at(".about").classList.toggle("mono", Boolean(tool));
  since(at(".what .age"), tool?.since);
  const notes = [];
  const beside = tool?.beside ? `+${tool.beside} more` : null;
  for (const card of agent.cards ?? []) notes.push({ word: `waits: ${card.kind === "permission" ? card.tool : card.kind}`, look: "ask", href: `#/card/${encodeURIComponent(card.id)}` });
  if (agent.failed_tool) notes.push({ word: `✗ ${agent.failed_tool}`, look: "deny" });
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
    at(".notes").replaceChildren(...notes.map(({ word, look, title, href }) => {
      const made = href ? el("a", { class: `badge ${look}`, href }, word) : badge(word, look);
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

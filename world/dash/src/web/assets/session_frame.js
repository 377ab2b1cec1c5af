// What stands around a session's timeline: what it is, what it said last, and what goes with it.

import { age, badge, clock, code, duration, el, folder, ms, since, text, tokens } from "./dom.js";
import { filteredAddress, runAddress, sessionAddress, taskAddress } from "./address.js";
import { curve } from "./chart.js";
import { updateGauge } from "./fleet.js";

const STATES = { open: "waits", answered: "answered", given: "given to the client", used: "used", at_terminal: "answered at the terminal", let_go: "let go" };
const SAYS = { allow_once: "allowed once", deny: "denied", choose: "answered", approve_plan: "plan approved", reject_plan: "plan rejected" };

export function updateFrame(view, told) {
  const { session, agent, context } = told;
  text(view.title, session.agent_name);
  const status = agent?.status ?? (session.ended_at ? "ended" : session.state);
  view.status.className = `state ${agent?.status ?? "done"}`;
  view.status.replaceChildren(el("span", { class: "dot", "aria-hidden": "true" }), status);
  const facts = headFacts(told);
  const drawn = JSON.stringify([session, told.tasks, told.run, told.related, agent?.task, told.task]);
  if (view.facts.dataset.drawn !== drawn) {
    view.facts.dataset.drawn = drawn;
    view.facts.replaceChildren(...facts);
  }
  text(view.doing, session.status ?? "");
  view.words.hidden = !session.last_words;
  text(view.words.querySelector("pre"), session.last_words ?? "");
  updateGauge(view.gauge, view.percent, session.context_percent);
  if (session.context_tokens) text(view.percent, `${view.percent.textContent} · ${tokens(session.context_tokens)} tokens`);
  const drawing = JSON.stringify(context);
  if (view.curve.dataset.drawn !== drawing) {
    view.curve.dataset.drawn = drawing;
    curve(view.curve, context);
  }
  side(view.side, told);
}

function headFacts({ session, agent, tasks, task, run, related }) {
  const fact = (name, value, title) => (value ? el("span", { title }, el("em", {}, name), " ", value) : null);
  const link = (href, words) => el("a", { href }, words);
  const ran = session.ended_at ? `${clock(session.started_at)}, for ${age(ms(session.ended_at) - ms(session.started_at))}` : clock(session.started_at);
  const held = agent?.task ?? task;
  const { diff } = session;
  const others = (related ?? []).map(({ id, agent_name, how }) => link(sessionAddress(id), how === "next" ? "session after" : `started within it: ${agent_name}`));
  return [
    fact("project", session.project && link(filteredAddress("sessions", { project: session.project }), folder(session.project)), session.project),
    fact("session", session.logical_id?.slice(0, 8), session.logical_id),
    session.agent_name === session.agent ? null : fact("id", session.agent),
    fact("client", session.client), fact("started", ran),
    session.ended_at ? fact("ended", session.end_reason ?? "yes") : null,
    fact("branch", session.branch), fact("model", session.model),
    fact("cost", session.cost_usd !== undefined ? `${session.cost_estimated ? "≈ " : ""}$${session.cost_usd.toFixed(2)}` : null, session.cost_estimated ? "reckoned from tokens and public prices" : null),
    fact("tokens", session.tokens !== undefined ? tokens(session.tokens) : null),
    fact("changed", diff && `${diff.files} file${diff.files === 1 ? "" : "s"}, +${diff.added} −${diff.removed}`, session.diff_note),
    ...(tasks ?? []).map(({ project, slug, outcome }) => fact("task", link(taskAddress(project, slug), slug), outcome ?? "held")),
    (tasks ?? []).length ? null : fact("task", held && link(taskAddress(session.project, held), held)),
    fact("loop", run && link(runAddress(run.run), run.short)),
    fact("skill", session.skill && [`/${session.skill}`, session.phase].filter(Boolean).join(" · ")),
    fact("role", session.role), fact("mode", session.mode),
    link(filteredAddress("sessions", { agent: session.agent, sort: "started" }), "all its sessions"),
    session.prev_session_id ? link(sessionAddress(session.prev_session_id), "session before") : null,
    session.parent_session_id ? link(sessionAddress(session.parent_session_id), "started from this session") : null,
    ...others,
  ].filter(Boolean);
}

function side(box, { session, messages, phases, cards }) {
  const subs = session.sub_agents ?? [];
  const signature = JSON.stringify([subs, messages, phases, cards]);
  if (box.dataset.signature === signature) return;
  box.dataset.signature = signature;
  const boxes = [];
  if (cards?.length) boxes.push(card("Answered by a person", cards.map(answered)));
  if (subs.length) boxes.push(card("Sub-agents", subs.map(subAgent)));
  if (phases.length) boxes.push(card("Phases", phases.map(({ at, label }) => el("li", {}, el("time", {}, clock(at)), el("span", {}, label)))));
  boxes.push(messages.length
    ? card("Messages", messages.map(message))
    : el("section", { class: "card" }, el("h2", {}, "Messages"), el("p", { class: "quiet" }, "None. ", code("taut send"), " says something to an agent.")));
  box.replaceChildren(...boxes);
}

function card(title, items) {
  return el("section", { class: "card" }, el("h2", {}, title, el("span", { class: "count" }, String(items.length))), el("ul", {}, items));
}

// Who answered what, where and when, and what became of it.
function answered({ at, kind, tool, state, answer, answered_by, answered_where, answered_at }) {
  const who = answered_by ? `${answered_by}, ${answered_where === "page" ? "on the page" : answered_where === "top" ? "in taut top" : answered_where === "other_machine" ? "on another machine" : "at a terminal"}, ${clock(answered_at)}` : null;
  const words = answer?.words ?? Object.values(answer?.chosen ?? {}).flatMap(({ labels, words }) => [...(labels ?? []), words]).filter(Boolean).join(", ");
  return el("li", { class: "message answered" },
    el("p", { class: "quiet" }, el("time", {}, clock(at)), ` ${kind} for ${tool} `, badge(STATES[state] ?? state, state === "used" ? "run" : "plain")),
    el("p", {}, [SAYS[answer?.say], who].filter(Boolean).join(" by ")), words ? el("p", { class: "said" }, words) : null);
}

function subAgent({ id, type, started_at, ended_at }) {
  const how = el("span", { class: "age" });
  if (ended_at) text(how, duration(ms(ended_at) - ms(started_at)));
  else since(how, started_at);
  return el("li", { title: id }, badge(ended_at ? "done" : "running", ended_at ? "plain" : "run"), el("span", {}, type || "sub-agent"), how);
}

function message({ at, kind, from_name, to_name, body, delivered_at }) {
  const whom = [from_name, to_name && `→ ${to_name}`].filter(Boolean).join(" ");
  const waits = to_name && !delivered_at ? badge("waiting", "info") : null;
  return el("li", { class: "message" }, el("p", { class: "quiet" }, el("time", {}, clock(at)), ` ${kind.replaceAll("_", " ")} `, whom, " ", waits), el("p", { class: "said" }, body));
}


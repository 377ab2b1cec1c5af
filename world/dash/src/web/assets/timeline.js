// Entries of a timeline: one each for what a person would name, filled when it is opened.

import { attr, badge, bytes, clock, duration, el, since, text } from "./dom.js";
import { ruleAddress, sessionAddress } from "./address.js";

/* What an event about a tool says of it. */
const ABOUT_TOOL = { PermissionRequest: "asks", Answer: "answered" };
const VERDICTS = { deny: "denied", ask: "asked", warn: "warned" };

// The same choice as the server makes, for what is here already.
export function keeps({ kind, tool, verdict, rule, text: letters }) {
  const wanted = letters?.toLowerCase();
  return (entry) =>
    (!kind || (kind === "told" ? (entry.told ?? []).some(({ to }) => to === "model") : entry.kind === kind)) &&
    (!tool || entry.tool === tool) &&
    (!verdict || (verdict === "any" ? entry.verdict !== "pass" : entry.verdict === verdict)) &&
    (!rule || (entry.rules ?? []).includes(rule)) &&
    (!wanted || [entry.about, entry.event, entry.text, entry.reason, entry.error, entry.tool, ...(entry.rules ?? []), ...(entry.told ?? []).map((part) => part.text)].some((part) => part?.toLowerCase().includes(wanted)));
}

export function makeEntry() {
  const node = el("li", { class: "entry" },
    el("details", {},
      el("summary", {}, el("time"), el("span", { class: "tag" }), el("span", { class: "about" }), el("span", { class: "marks" })),
      el("div", { class: "more-of-it" })));
  // Filled when it is opened: most never are.
  node.querySelector("details").addEventListener("toggle", (event) => event.target.open && fill(node));
  return node;
}

export function updateEntry(node, entry) {
  const signature = JSON.stringify(entry);
  if (node.dataset.signature === signature) return;
  node.dataset.signature = signature;
  node.entry = entry;
  node.className = `entry ${entry.kind} ${entry.verdict}`;
  const at = (selector) => node.querySelector(selector);
  text(at("time"), clock(entry.at));
  attr(at("time"), "datetime", entry.at);
  text(at(".tag"), entry.tool ? (ABOUT_TOOL[entry.event] ? `${entry.tool} ${ABOUT_TOOL[entry.event]}` : entry.tool) : words(entry.event));
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
  const facts = [words(entry.event), entry.response_bytes !== undefined ? `response ${bytes(entry.response_bytes)}` : null,
    entry.sub_agent ? `sub-agent ${entry.sub_agent}` : null, `hook ${entry.ms.toFixed(1)} ms`];
  parts.push(el("p", { class: "quiet links" }, el("span", {}, facts.filter(Boolean).join(" · ")),
    ...(entry.rules ?? []).map((rule) => el("a", { class: "mono", href: ruleAddress(rule) }, rule)),
    el("a", { href: sessionAddress(entry.session, entry.key) }, "link to this moment")));
  node.querySelector(".more-of-it").replaceChildren(...parts);
}

function heard({ to, as_what }, entry) {
  if (to === "user") return as_what === "stop" ? "stopped the client, saying" : "told the user";
  if (to === "log") return "warned in the log";
  return as_what === "context" ? "the model was told" : `${VERDICTS[entry.verdict] ?? "held back"}; the model was told`;
}

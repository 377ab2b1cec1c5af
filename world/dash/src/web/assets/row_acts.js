// What can be done to one agent. What cannot be undone is asked first, in the place of the button that was pressed.

import { attr, code, el, text } from "./dom.js";
import { openDialog } from "./dialogs.js";
import { called } from "./machines.js";

let open = null;

export function openActs(agent, { act }) {
  const path = (verb) => `/api/agent/${encodeURIComponent(agent.id)}/${verb}`;
  const said = el("div", { class: "card-state", role: "status" });
  const status = el("p", { class: "quiet" });
  const tell = (words, look, ...more) => {
    said.replaceChildren(words, ...more);
    attr(said, "data-look", look);
  };
  const run = async (verb, body = {}) => {
    tell("sending…", "wait");
    try {
      const told = await act(path(verb), body);
      if (told.command) tell("In a terminal: ", "plain", command(told.command));
      else tell([told.done, told.why && `it could not be typed: ${told.why}`].filter(Boolean).join("; "), "good");
      return told;
    } catch (error) {
      tell(error.message, "bad");
      return null;
    }
  };
  const parts = [status, say(agent, run), el("div", { class: "act-list" }, actsOf(agent, { run, path, act, tell })), said, el("button", { type: "button", class: "plain close", click: () => dialog.close() }, "Close")];
  const dialog = openDialog(called(agent), ...parts);
  open = { id: agent.id, status, stop: dialog.querySelector("[data-verb=stop]") };
  dialog.addEventListener("close", () => { open = null; });
  updateActs({ agents: [agent] });
}

// The window stays as it is while news come; only what the agent is doing is told anew, and who is not at work has nothing to stop.
export function updateActs(fleet) {
  if (!open) return;
  const agent = (fleet.agents ?? []).find(({ id }) => id === open.id);
  if (open.stop) open.stop.hidden = agent?.status !== "working";
  text(open.status, agent ? [agent.status, agent.why ?? agent.doing ?? agent.tool?.name].filter(Boolean).join(": ") : "this agent is gone");
}

function say(agent, run) {
  const words = el("textarea", { rows: "3", maxlength: "16000", "aria-label": `What ${called(agent)} is to do next` });
  const form = el("form", { class: "dialog-form say" }, words, el("button", { type: "submit", class: "yes" }, "Say what is next"),
    el("span", { class: "hint" }, agent.machine
      ? `Shown on ${agent.machine} as a note from a person on this machine, once the shared server has it.`
      : "As your own words where it is idle and its terminal can be typed into, else as a note of yours; you are told which."));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (words.value.trim() && (await run("say", { text: words.value }))) words.value = "";
  });
  return form;
}

function actsOf(agent, { run, path, act, tell }) {
  if (agent.machine) return el("p", { class: "quiet" }, `Everything else is done on ${agent.machine}.`);
  const plain = (word, verb) => el("button", { type: "button", class: "plain", click: () => run(verb) }, word);
  const asking = (word, question, yes, verb) => {
    const ask = el("span", { class: "asking", hidden: "" }, question, " ", el("button", { type: "button", class: "no", click: () => { close(); run(verb); } }, yes), el("button", { type: "button", class: "plain", click: () => close() }, "No"));
    const button = el("button", { type: "button", class: "plain", click: () => { button.hidden = true; ask.hidden = false; ask.querySelector("button:last-child").focus(); } }, word);
    const close = () => { button.hidden = false; ask.hidden = true; button.focus(); };
    return el("span", { data: { verb } }, button, ask);
  };
  const rule = agent.verdict?.rules?.[0];
  return [
    agent.status === "attention" ? plain("Mark as seen", "seen") : null,
    plain("Go to its pane", "pane"),
    plain("Take up its effort", "take-up"),
    asking("Stop…", "Stop what it does now, as Esc at its terminal?", "Stop it", "stop"),
    asking("Start again…", "End it and start it again, with its session?", "Start again", "restart"),
    rule ? allowRule(rule, { path, act, tell }) : null,
  ].filter(Boolean);
}

// First the scope is told, then it is agreed to: to that very scope and no other.
function allowRule(rule, { path, act, tell }) {
  const send = async (body) => {
    tell("asking…", "wait");
    try {
      const told = await act(path("allow-rule"), { rule, ...body });
      if (told.done) return tell(told.done, "good");
      const yes = el("button", { type: "button", class: "no", click: () => send({ agreed: told.scope }) }, `Allow ${rule}`);
      return tell(`Allow ${rule}? ${told.scope}`, "wait", el("pre", {}, told.diff ?? ""), told.file ? el("p", { class: "quiet" }, "in ", code(told.file)) : "", yes);
    } catch (error) {
      return tell(error.message, "bad");
    }
  };
  return el("button", { type: "button", class: "plain", click: () => send({}) }, `Allow rule ${rule} here…`);
}

function command(line) {
  const copy = el("button", { type: "button", class: "plain", click: async () => {
    await navigator.clipboard.writeText(line);
    text(copy, "Copied");
  } }, "Copy");
  return el("span", { class: "command-line" }, code(line), " ", copy);
}

// One card: what an agent waits for, shown whole, and the answer to it. Built once for an input and only ever added to:
// an input that changes is another card.

import { attr, code, el, folder, since, text } from "./dom.js";
import { diffBlock } from "./diff.js";
import { changed, isStill, watch } from "./still.js";

// What is shown elsewhere on the card, or as its difference.
const SHOWN = ["command", "description"];
const IN_DIFF = ["old_string", "new_string", "content", "file_path"];
const PLACES = { page: "on a page", top: "in taut top", terminal: "with taut answer", other_machine: "on another machine" };

export function cardBox(card, { act, mayAct }) {
  const state = el("p", { class: "card-state", role: "status" });
  const waits = el("span", { class: "age" });
  const title = el("h2", { id: `card-${card.id}` }, el("b", { title: card.agent }, card.agent_name ?? card.agent), ` ${asks(card)}`);
  const questions = card.kind === "question" ? questionFields(card) : null;
  const foot = el("div", { class: "card-foot" });
  const node = el("article", { class: `ask ${card.kind}`, tabindex: "-1", "aria-labelledby": title.id, data: { card: card.id } },
    el("header", {}, title, waits), facts(card), questions?.node ?? body(card), guard(card),
    card.incomplete ? el("p", { class: "card-note" }, `Not all of it can be shown: ${card.incomplete}. It can be denied from here, and allowed at the agent's terminal.`) : null,
    foot, state);
  since(waits, card.at, "");
  watch(node);

  let sending = false;
  let shown = card;
  const say = (words, look) => {
    text(state, words);
    attr(state, "data-look", look);
  };
  const give = async (answer) => {
    if (sending || shown.state !== "open") return;
    sending = true;
    node.classList.add("sending");
    say("sending…", "wait");
    try {
      const told = await act(`/api/card/${encodeURIComponent(card.id)}/answer`, { digest: card.digest, answer });
      if (told.said) say(told.taken ? told.said : `not answered: ${told.said}`, told.taken ? "good" : "bad");
      else if (told.sent) say(`on its way to ${told.sent}, once the shared server has it`, "wait");
      else if (shown.state === "open") say("answered: the agent is being told", "wait");
    } catch (error) {
      say(error.message, "bad");
    }
    sending = false;
    node.classList.remove("sending");
  };
  // One press, on what has stood still: never the press that was meant for what stood there before.
  const press = (run) => () => {
    if (!isStill(node)) return say("this came or moved just now: look at it, then press again", "wait");
    run();
  };
  const controls = mayAct ? buttons(card, { press, give, say, questions, node }) : null;
  foot.append(...(controls ? controls.nodes : [el("p", { class: "quiet" }, "This page only shows. Answer at the agent's own terminal, or with ", code(`taut answer ${card.agent}`), ".")]));

  return {
    node,
    id: card.id,
    allow: () => controls?.allow.click(),
    deny: () => controls?.openDenial(),
    get state() { return shown.state; },
    update(next) {
      if (next.state !== shown.state) changed(node);
      const was = shown.state;
      shown = { ...shown, ...next };
      node.dataset.state = shown.state;
      if (shown.state !== "open") controls?.close();
      if (shown.state !== "open" && (was !== shown.state || !state.textContent)) say(became(shown), LOOKS[shown.state]);
    },
  };
}

const LOOKS = { answered: "wait", given: "wait", used: "good", at_terminal: "plain", let_go: "plain" };

export function became({ state, answered, answer, let_go: why }) {
  const who = answered ? `${answered.by} ${PLACES[answered.place] ?? ""}`.trim() : "somebody";
  const what = answer ? ` (${answer})` : "";
  if (state === "answered") return `answered by ${who}${what}: the agent is being told`;
  if (state === "given") return `given by ${who}${what}; the agent has not confirmed it yet`;
  if (state === "used") return `used: the agent went on with the answer of ${who}${what}`;
  if (state === "at_terminal") return answered ? `answered at the agent's own terminal; the answer of ${who} did not count` : "answered at the agent's own terminal";
  if (state === "let_go") return why ?? "let go: nobody waits for an answer here any more. If the agent still asks, its dialog stands at its own terminal";
  return "";
}

function asks({ kind, tool }) {
  if (kind === "question") return "has a question";
  return kind === "plan" ? "wants to leave planning and begin" : `asks to use ${tool}`;
}

function facts(card) {
  const fact = (name, value, title) => (value ? el("span", { title }, el("em", {}, name), " ", value) : null);
  return el("p", { class: "facts" }, fact("in", card.folder ?? folder(card.project), card.folder ?? card.project), fact("branch", card.branch), fact("mode", card.mode));
}

function guard(card) {
  return card.guard ? el("div", { class: "card-guard" }, el("h3", {}, "The guard"), el("pre", {}, card.guard)) : null;
}

function body(card) {
  const input = card.input ?? {};
  if (card.kind === "plan") return el("pre", { class: "plan", tabindex: "0", role: "region", "aria-label": "The plan" }, input.plan ?? "");
  const parts = [];
  if (card.diff) parts.push(diffBlock(card.diff, input.file_path ?? input.notebook_path));
  if (typeof input.command === "string") parts.push(el("pre", { class: "command", tabindex: "0", role: "region", "aria-label": "The command" }, input.command));
  if (typeof input.description === "string" && input.description) parts.push(el("p", { class: "quiet described" }, "the agent says: ", input.description));
  const hidden = new Set([...(typeof input.command === "string" ? SHOWN : ["description"]), ...(card.diff ? IN_DIFF : [])]);
  const rest = Object.entries(input).filter(([name]) => !hidden.has(name));
  if (rest.length) parts.push(el("dl", { class: "input" }, rest.map(([name, value]) => [el("dt", {}, name), el("dd", {}, el("pre", {}, typeof value === "string" ? value : JSON.stringify(value, null, 2)))])));
  return el("div", { class: "card-body" }, parts);
}

// By numbers: what is shown of questions and labels is cleaned, and the agent knows them as they are.
function questionFields(card) {
  const asked = Array.isArray(card.input?.questions) ? card.input.questions : [];
  const fields = asked.map((question, at) => questionField(question, `${card.id}-${at}`));
  return { node: el("div", { class: "card-body" }, fields.map(({ node }) => node)), chosen: () => fields.map(({ chosen }) => chosen()) };
}

function questionField(question, name) {
  const kind = question.multiSelect ? "checkbox" : "radio";
  const options = Array.isArray(question.options) ? question.options : [];
  const choices = options.map(() => el("input", { type: kind, name }));
  const words = el("input", { type: "text", class: "other-words", "aria-label": `Your own words to: ${question.question}`, maxlength: "4000", autocomplete: "off" });
  const other = el("input", { type: kind, name, "aria-label": "Other, in your own words" });
  words.addEventListener("input", () => { other.checked = words.value.trim() !== ""; });
  const node = el("fieldset", { class: "question" },
    el("legend", {}, question.header ? el("span", { class: "badge info" }, question.header) : null, " ", String(question.question ?? "")),
    options.map((option, at) => el("label", {}, choices[at], el("span", {}, el("b", {}, String(option?.label ?? "")), option?.description ? el("span", { class: "sub" }, option.description) : null,
      option?.preview ? el("pre", {}, String(option.preview)) : null))),
    el("div", { class: "other" }, el("label", {}, other, el("b", {}, "Other")), words));
  return {
    node,
    chosen: () => ({ labels: choices.flatMap((box, at) => (box.checked ? [at] : [])), words: other.checked && words.value.trim() ? words.value.trim() : null }),
  };
}

const WORDS = {
  permission: ["Allow once", "Runs exactly what is shown, this one time.", "Deny…", "Deny"],
  question: ["Send the answer", "Gives the agent what is chosen above.", "Do not answer…", "Send"],
  plan: ["Approve the plan", "The agent leaves planning; each step still asks as its mode says.", "Reject…", "Reject"],
};

function buttons(card, { press, give, say, questions, node }) {
  const [yes, means, no, send] = WORDS[card.kind];
  const what = `${card.agent_name ?? card.agent}: ${asks(card)}`;
  const hint = el("span", { class: "hint", id: `hint-${card.id}` }, means);
  const allow = el("button", { type: "button", class: "yes", "aria-describedby": hint.id, "aria-label": `${yes}, ${what}`, click: press(() => {
    if (card.kind === "permission") return give({ say: "allow_once" });
    if (card.kind === "plan") return give({ say: "approve_plan" });
    const chosen = questions.chosen();
    if (chosen.some(({ labels, words }) => labels.length === 0 && !words)) return say("choose an answer to every question, or write one", "bad");
    return give({ say: "choose", chosen });
  }) }, yes);
  if (card.incomplete) allow.disabled = true;
  const words = el("textarea", { rows: "2", maxlength: "4000", "aria-label": `What ${card.agent_name ?? card.agent} is told`, placeholder: "what to do instead (the agent reads this)" });
  const deny = el("button", { type: "button", class: "no", "aria-expanded": "false", "aria-label": `${no} ${what}` }, no);
  const sendNo = el("button", { type: "button", class: "no", "aria-label": `${send}, ${what}`, click: press(() => give({ say: card.kind === "plan" ? "reject_plan" : "deny", words: words.value.trim() })) }, send);
  const cancel = el("button", { type: "button", class: "plain" }, "Back");
  const form = el("div", { class: "denial", hidden: "" }, words, sendNo, cancel);
  const open = (is) => {
    form.hidden = !is;
    attr(deny, "aria-expanded", is ? "true" : "false");
    (is ? words : deny).focus();
  };
  deny.addEventListener("click", () => open(form.hidden));
  cancel.addEventListener("click", () => open(false));
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    open(false);
  });
  return {
    nodes: [el("div", { class: "card-buttons" }, allow, deny, hint), form],
    allow,
    openDenial: () => open(true),
    close: () => {
      // Whoever stands on a button that goes keeps the card.
      if (node.querySelector(".card-foot")?.contains(document.activeElement)) node.focus({ preventScroll: true });
      for (const part of node.querySelectorAll(".card-foot button, .card-foot textarea, .question input")) part.disabled = true;
      node.querySelector(".card-foot").hidden = true;
    },
  };
}

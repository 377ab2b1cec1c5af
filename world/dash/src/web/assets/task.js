// One task: who tried it, when, and how it ended.

import { age, badge, clock, el, empty, folder, keyed, ms, text } from "./dom.js";
import { filtersOfAddress, sessionAddress } from "./address.js";

const OUTCOMES = { done: "run", failed: "deny", released: "plain", expired: "ask" };

export function taskView({ ask, trouble }) {
  const { project, slug } = filtersOfAddress();
  const title = el("h1");
  const facts = el("p", { class: "facts" });
  const description = el("pre", { class: "said-whole" });
  const steps = el("ul", { class: "steps" });
  const attempts = el("ol", { class: "attempts" });
  const none = el("div");
  const node = el("section", { class: "view" },
    el("header", { class: "session-head" }, el("a", { class: "back", href: "#/tasks" }, "← Tasks"), el("div", { class: "headline" }, title, el("span", { class: "mono quiet" }, slug ?? "")), facts),
    el("section", { class: "card" }, el("h2", {}, "What is to be done"), description, steps),
    el("section", { class: "card" }, el("h2", {}, "Attempts"), attempts, none));
  const load = async () => {
    try {
      const told = await ask(`/api/task?${new URLSearchParams({ project: project ?? "", slug: slug ?? "" })}`);
      draw(told);
    } catch (error) {
      if (error.message) none.replaceChildren(empty("This task cannot be shown", error.message));
      trouble(error);
    }
  };
  const draw = (told) => {
    const { task } = told;
    text(title, task.title);
    const fact = (name, value, hint) => (value ? el("span", { title: hint }, el("em", {}, name), " ", value) : null);
    facts.replaceChildren(...[
      badge(task.status, `t-${task.status}`), fact("project", folder(told.project), told.project), fact("created", clock(told.created_at)),
      fact("changed", clock(task.updated_at)), fact("waits for", task.deps.join(", ")), fact("failures", task.failures ? String(task.failures) : null), fact("because", task.fail_reason),
    ].filter(Boolean));
    text(description, told.description ?? "");
    description.hidden = !told.description;
    keyed(steps, told.steps.map((step, n) => ({ ...step, n: String(n) })), ({ n }) => n, () => el("li"), (line, step) => text(line, `${step.done ? "☑" : "☐"} ${step.text}`));
    keyed(attempts, told.attempts, ({ number }) => String(number), () => el("li", { class: "attempt" }), updateAttempt);
    none.replaceChildren(...(told.attempts.length ? [] : [el("p", { class: "quiet" }, "Nobody has claimed it yet.")]));
  };
  return { node, news: load };
}

function updateAttempt(node, { number, agent, session, claimed_at, ended_at, outcome, reason }) {
  const took = ended_at ? `for ${age(ms(ended_at) - ms(claimed_at))}` : "now";
  node.replaceChildren(
    el("span", { class: "quiet" }, `${number}.`), badge(outcome ?? "held", OUTCOMES[outcome] ?? "run"),
    session ? el("a", { href: sessionAddress(session, `at-${ms(claimed_at)}`) }, agent) : el("span", {}, agent),
    el("time", { datetime: claimed_at }, `${clock(claimed_at)}, ${took}`), el("span", { class: "quiet said" }, reason ?? ""));
}

// A run of the loop within its row: its iterations and workers, folded until somebody opens them.

import { attr, duration, el, keyed, text } from "./dom.js";
import { runAddress } from "./address.js";

export function runDetails() {
  const head = el("summary", {}, el("span", { class: "counts" }), el("span", { class: "words" }));
  return el("details", { class: "run", hidden: "" }, head, el("a", { class: "whole-run" }, "All of this run"), el("ol", { class: "iterations" }), el("ul", { class: "workers" }));
}

export function updateRun(node, run) {
  node.hidden = !run;
  if (!run) return;
  text(node.querySelector(".counts"), counts(run));
  text(node.querySelector(".words"), run.said ? ` “${run.said}”` : "");
  attr(node.querySelector(".whole-run"), "href", runAddress(run.run));
  // The newest first.
  const ended = [...(run.iterations ?? [])].reverse();
  keyed(node.querySelector(".iterations"), ended, (one) => `${one.iteration} ${one.started_at}`, () => el("li"), updateIteration);
  keyed(node.querySelector(".workers"), run.workers ?? [], (worker) => worker.run, () => el("li"), updateWorker);
}

function counts(run) {
  const parts = [many(run.iteration, "iteration"), many(run.commits, "commit"), dollars(run.cost_usd), duration(run.elapsed_ms)];
  const left = run.limits_left ?? {};
  if (left.iterations !== undefined) parts.push(`${left.iterations} left`);
  if (left.cost_usd !== undefined) parts.push(`${dollars(left.cost_usd)} left`);
  if (run.until) parts.push(`until ${new Date(run.until).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}`);
  return parts.join(" · ");
}

function updateIteration(node, one) {
  attr(node, "value", one.iteration);
  attr(node, "class", one.outcome);
  const parts = [one.task, `${one.outcome} with ${one.exit ?? "a signal"}`, many(one.commits, "commit"), dollars(one.cost_usd), duration(one.duration_ms)];
  const words = [one.failure && `failed: ${one.failure}`, one.said && `“${one.said}”`, one.denied?.length && `denied: ${one.denied.join(", ")}`];
  text(node, [parts.filter(Boolean).join(" · "), ...words.filter(Boolean)].join(" — "));
}

function updateWorker(node, worker) {
  const parts = [worker.short, worker.task, worker.finish ?? worker.state, many(worker.iteration, "iteration"), dollars(worker.cost_usd)];
  text(node, [parts.filter(Boolean).join(" · "), worker.said && `“${worker.said}”`].filter(Boolean).join(" — "));
}

function many(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function dollars(amount) {
  return `$${(amount ?? 0).toFixed(2)}`;
}

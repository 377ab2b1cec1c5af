// Runs of the loop: a list of them, and one with its iterations and workers.

import { attr, badge, clock, code, duration, el, empty, folder, keyed, text, tokens } from "./dom.js";
import { filteredAddress, runAddress, taskAddress } from "./address.js";

export function runsView({ ask, trouble }) {
  const list = el("ul", { class: "runs card" });
  const none = el("div");
  const node = el("section", { class: "view" }, el("header", { class: "session-head" }, el("a", { class: "back", href: "#/tasks" }, "← Tasks"), el("h1", {}, "Loops")), list, none);
  const load = async () => {
    try {
      const { runs } = await ask("/api/runs");
      keyed(list, runs, ({ run }) => run, makeRun, updateRunLine);
      list.hidden = runs.length === 0;
      none.replaceChildren(...(runs.length ? [] : [empty("No loop has run yet", code("taut loop build"), " starts one.")]));
    } catch (error) {
      trouble(error);
    }
  };
  return { node, news: load };
}

function makeRun() {
  return el("li", { class: "run-line" }, el("span", { class: "run-state" }), el("a", { class: "mono" }), el("span", { class: "project" }), el("span", { class: "counts" }), el("time"));
}

function updateRunLine(node, run) {
  const at = (selector) => node.querySelector(selector);
  at(".run-state").replaceChildren(badge(run.finish ?? run.state, look(run)));
  text(at("a"), run.short);
  attr(at("a"), "href", runAddress(run.run));
  text(at(".project"), folder(run.project));
  attr(at(".project"), "title", run.folder);
  text(at(".counts"), totals(run));
  text(at("time"), clock(run.started_at));
}

const look = ({ finish, state }) => (finish === "failed" || state === "gone" ? "deny" : state === "over" ? "plain" : "run");
const dollars = (amount) => `$${(amount ?? 0).toFixed(2)}`;
const many = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
const totals = (run) => [many(run.iteration, "iteration"), many(run.commits, "commit"), dollars(run.cost_usd), duration(run.elapsed_ms)].join(" · ");

export function runView({ ask, part: id, trouble }) {
  const title = el("h1");
  const state = el("span", { class: "state" });
  const facts = el("p", { class: "facts" });
  const said = el("p", { class: "doing-now" });
  const body = el("tbody");
  const workers = el("ul", { class: "runs" });
  const works = el("section", { class: "card", hidden: "" }, el("h2", {}, "Workers"), workers);
  const none = el("div");
  const heads = ["#", "Outcome", "Task", "Commits", "Cost", "Tokens", "Took", "Said"];
  const table = el("table", { class: "iterations-table" }, el("caption", { class: "unseen" }, "Iterations, the newest first"), el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), body);
  const node = el("section", { class: "view" },
    el("header", { class: "session-head" }, el("a", { class: "back", href: "#/runs" }, "← Loops"), el("div", { class: "headline" }, title, state), facts, said),
    el("section", { class: "card wide" }, el("h2", {}, "Iterations"), table, none), works);
  const load = async () => {
    try {
      draw(await ask(`/api/run/${encodeURIComponent(id)}`));
    } catch (error) {
      if (error.message) none.replaceChildren(empty("This run cannot be shown", error.message));
      trouble(error);
    }
  };
  const draw = ({ run, agent, status, commits }) => {
    text(title, `loop ${run.short}`);
    state.className = `state ${status}`;
    text(state, (run.finish ?? run.state).replaceAll("_", " "));
    const fact = (name, value, hint) => (value ? el("span", { title: hint }, el("em", {}, name), " ", value) : null);
    const left = run.limits_left ?? {};
    facts.replaceChildren(...[
      fact("project", folder(run.project), run.project), fact("branch", run.branch), fact("started", clock(run.started_at)), fact("did", totals(run)),
      fact("tasks", run.tasks_done !== undefined ? `${run.tasks_done} done, ${run.tasks_left ?? 0} left` : null), fact("left", [left.iterations !== undefined && many(left.iterations, "iteration"), left.cost_usd !== undefined && dollars(left.cost_usd)].filter(Boolean).join(", ")),
      fact("because", run.why), el("a", { href: filteredAddress("sessions", { agent }) }, "its sessions"),
      run.parent ? el("a", { href: runAddress(run.parent) }, "the loop that started it") : null,
    ].filter(Boolean));
    text(said, run.said ? `“${run.said}”` : "");
    const moved = new Map(commits.map((one) => [one.iteration, one]));
    const iterations = [...(run.iterations ?? [])].reverse();
    keyed(body, iterations, (one) => `${one.iteration} ${one.started_at}`, () => el("tr"), (row, one) => updateIteration(row, one, run.project, moved.get(one.iteration)));
    table.hidden = iterations.length === 0;
    none.replaceChildren(...(iterations.length ? [] : [el("p", { class: "quiet" }, "None is over yet.")]));
    works.hidden = !run.workers?.length;
    keyed(workers, run.workers ?? [], ({ run }) => run, makeRun, updateRunLine);
  };
  return { node, news: load };
}

function updateIteration(row, one, project, moved) {
  const signature = JSON.stringify([one, moved]);
  if (row.dataset.signature === signature) return;
  row.dataset.signature = signature;
  const exit = one.exit === undefined ? "a signal" : String(one.exit);
  const range = moved?.before && moved.after && moved.before !== moved.after ? `${moved.before.slice(0, 9)}..${moved.after.slice(0, 9)}` : null;
  const words = [one.failure && `failed: ${one.failure}`, one.said && `“${one.said}”`, one.denied?.length && `denied: ${one.denied.join(", ")}`].filter(Boolean);
  row.replaceChildren(
    el("td", {}, String(one.iteration)), el("td", {}, badge(one.outcome, one.failure ? "deny" : "plain"), el("span", { class: "sub" }, `exit ${exit}`)),
    el("td", {}, one.task ? el("a", { href: taskAddress(project, one.task) }, one.task) : ""),
    el("td", {}, String(one.commits), range ? el("code", { class: "range" }, range) : null), el("td", {}, dollars(one.cost_usd)), el("td", {}, tokens(one.tokens)),
    el("td", {}, duration(one.duration_ms)), el("td", { class: "iteration-words" }, words.join(" — ")));
}

// The queues of all projects.

import { attr, badge, code, el, empty, folder, keyed, since, text } from "./dom.js";
import { sessionAddress, taskAddress } from "./address.js";

const ORDER = ["active", "open", "blocked", "quarantined", "done"];

export function tasksView({ ask, trouble }) {
  const list = el("div");
  const node = el("section", { class: "view" }, el("div", { class: "bar" }, el("a", { href: "#/runs" }, "Loops")), list);
  let busy = false;
  const load = async () => {
    if (busy) return;
    busy = true;
    try {
      const { projects } = await ask("/api/tasks");
      if (projects.length === 0) {
        list.replaceChildren(empty("No tasks yet", code("taut task create"), " puts one in the queue, ", code("taut task plan-sync"), " a whole plan; agents claim them with ", code("taut task claim"), "."));
      } else {
        list.querySelector(".empty")?.remove();
        keyed(list, projects, ({ project }) => project, makeProject, updateProject);
      }
    } catch (error) {
      trouble(error);
    }
    busy = false;
  };
  return { node, news: load };
}

function makeProject() {
  return el("section", { class: "card queue" },
    el("h2", {}, el("span", { class: "project-name" }), el("span", { class: "counts" })),
    el("div", { class: "meter", role: "img" }),
    el("ul", { class: "tasks" }),
    el("p", { class: "quiet left-out" }));
}

function updateProject(node, { project, counts, tasks, left_out }) {
  const at = (selector) => node.querySelector(selector);
  text(at(".project-name"), folder(project));
  attr(at(".project-name"), "title", project);
  const present = ORDER.filter((status) => counts[status]);
  const told = present.map((status) => `${counts[status]} ${status}`);
  text(at(".counts"), told.join(" · "));
  attr(at(".meter"), "aria-label", told.join(", "));
  keyed(at(".meter"), present.map((status) => ({ status, count: counts[status] })), ({ status }) => status, () => el("i"), (bar, { status, count }) => {
    bar.className = `t-${status}`;
    bar.style.setProperty("flex-grow", count);
  });
  keyed(at(".tasks"), tasks.map((task) => ({ ...task, project })), ({ slug }) => slug, makeTask, updateTask);
  text(at(".left-out"), left_out ? `and ${left_out} more; taut task list shows all` : "");
}

function makeTask() {
  return el("li", { class: "task-line" },
    el("span", { class: "t-status" }), el("a", { class: "mono slug" }),
    el("span", { class: "t-title" }, el("span", { class: "t-name" }), el("span", { class: "sub why" })),
    el("span", { class: "holder" }, el("a"), el("span", { class: "age" })));
}

function updateTask(node, task) {
  const at = (selector) => node.querySelector(selector);
  node.className = `task-line is-${task.status}`;
  at(".t-status").replaceChildren(badge(task.status, `t-${task.status}`));
  text(at(".slug"), task.slug);
  attr(at(".slug"), "href", taskAddress(task.project, task.slug));
  text(at(".t-name"), task.title);
  const why = [];
  if (task.priority !== 2) why.push(["critical", "high", "", "low"][task.priority] ?? `priority ${task.priority}`);
  if (task.steps.all) why.push(`${task.steps.done}/${task.steps.all} steps`);
  if (task.status === "blocked") why.push(`waits for ${task.deps.join(", ")}`);
  if (task.attempt > 1) why.push(`attempt ${task.attempt}`);
  if (task.fail_reason && task.status !== "done") why.push(task.fail_reason);
  text(at(".why"), why.join(" · "));
  const link = at(".holder a");
  text(link, task.agent ?? "");
  attr(link, "href", task.session ? sessionAddress(task.session) : null);
  since(at(".holder .age"), task.status === "active" || task.status === "done" ? task.updated_at : null);
}

// Agents of other machines: what they are called here, and how old the news of them is.

import { clock } from "./dom.js";

export function called(agent) {
  return agent.machine ? `${agent.name}@${agent.machine}` : agent.name;
}

// The minute suffices, and the day where it is another.
export function silence(agent) {
  return `not heard of since ${clock(agent.heard_at).replace(/^(\d\d:\d\d):\d\d$/, "$1")}`;
}

// This machine first, then the others by what they are called, each with a head and its own below.
export function inMachines(sorted, within) {
  const machines = new Map();
  for (const agent of sorted) machines.set(agent.machine_id ?? "", [...(machines.get(agent.machine_id ?? "") ?? []), agent]);
  const place = ([id, [first]]) => (id ? `1 ${first.machine.toLowerCase()} ${id}` : "0");
  const inOrder = [...machines].sort((a, b) => (place(a) < place(b) ? -1 : 1));
  return inOrder.flatMap(([id, agents]) => {
    const silent = agents[0].stale ? `, ${silence(agents[0])}` : "";
    const name = id ? agents[0].machine : "this machine";
    return [{ of: "machine", head: id || name, name, count: agents.length, silent }, ...within(agents, id)];
  });
}

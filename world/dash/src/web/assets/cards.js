// All cards that wait, above the views; and one alone, where a link leads to it.

import { el, empty, keyed, text } from "./dom.js";
import { cardBox } from "./card.js";
import { called } from "./machines.js";
import { look } from "./still.js";
import { Refused } from "./wire.js";

// So long what became of a card stands where the card stood.
const REMEMBERED_MS = 20_000;
const MOST = 20;

export function cardsOf(fleet) {
  const all = (fleet.agents ?? []).flatMap((agent) => (agent.cards ?? []).map((card) => ({ ...card, agent: agent.id, agent_name: called(agent), session: agent.session, project: agent.project })));
  return all.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.id < b.id ? -1 : 1));
}

export function cardsPanel(node, { ask, act, mayAct, announce }) {
  const boxes = new Map();
  const over = new Map();
  const list = el("div", { class: "card-list" });
  const head = el("h1", { class: "waiting-head" });
  const more = el("p", { class: "quiet" });
  node.append(head, list, more);
  let known = null;
  let waiting = [];
  let only = () => true;

  const draw = () => {
    const now = Date.now();
    for (const [id, { at }] of over) {
      if (now - at > REMEMBERED_MS && !boxes.get(id)?.node.contains(document.activeElement)) {
        over.delete(id);
        boxes.delete(id);
      }
    }
    const open = waiting.filter(only);
    const shown = [...open.slice(0, MOST), ...[...over.values()].map(({ card }) => card).filter(only)].sort((a, b) => (a.at < b.at ? -1 : 1));
    node.hidden = shown.length === 0;
    text(head, open.length ? `${open.length} ${open.length === 1 ? "waits" : "wait"} for you` : "No question is open");
    text(more, open.length > MOST ? `and ${open.length - MOST} more: they come up as these are answered` : "");
    keyed(list, shown, ({ id }) => id, (card) => boxFor(card).node, (_, card) => boxFor(card).update(card));
    look();
  };
  const boxFor = (card) => {
    if (!boxes.has(card.id)) boxes.set(card.id, cardBox(card, { act, mayAct: mayAct() }));
    return boxes.get(card.id);
  };
  // A card that waits no more: what became of it is told where it stood.
  const end = async (card) => {
    over.set(card.id, { at: Date.now(), card });
    try {
      const card_now = await ask(`/api/card/${encodeURIComponent(card.id)}`);
      over.set(card.id, { at: Date.now(), card: { ...card, ...card_now } });
    } catch {
      over.set(card.id, { at: Date.now(), card: { ...card, state: "let_go" } });
    }
    draw();
  };
  setInterval(() => over.size && draw(), 1000);

  return {
    news(fleet) {
      // A fleet that could not be read says nothing about cards.
      if (fleet.error) return;
      const before = waiting;
      waiting = cardsOf(fleet);
      const ids = new Set(waiting.map(({ id }) => id));
      before.filter(({ id }) => !ids.has(id) && boxes.has(id)).forEach(end);
      for (const id of ids) over.delete(id);
      const fresh = waiting.filter(({ id, state }) => state === "open" && !known?.has(id));
      known = new Set([...(known ?? []), ...ids]);
      if (fresh.length) announce(fresh.length === 1 ? `${fresh[0].agent_name ?? fresh[0].agent} waits for you: ${fresh[0].kind === "permission" ? fresh[0].tool : fresh[0].kind}` : `${fresh.length} agents' questions wait for you`);
      draw();
    },
    show(wanted) {
      only = wanted;
      draw();
    },
    box: (id) => boxes.get(id),
  };
}

// Where the link of a notification leads.
export function cardView({ ask, act, mayAct, part: id, trouble }) {
  const place = el("div");
  const node = el("section", { class: "view" }, el("a", { class: "back", href: "#/" }, "← Fleet"), place);
  let box = null;
  let busy = false;
  const load = async () => {
    if (busy || ["used", "at_terminal", "let_go"].includes(box?.state)) return;
    busy = true;
    try {
      const card = await ask(`/api/card/${encodeURIComponent(id)}`);
      if (!box) {
        box = cardBox(card, { act, mayAct: mayAct() });
        place.replaceChildren(box.node, card.session ? el("p", {}, el("a", { href: `#/session/${encodeURIComponent(card.session)}` }, "what the agent did before")) : "");
        box.node.focus({ preventScroll: true });
      }
      box.update(card);
    } catch (error) {
      if (box || error instanceof Refused) trouble(error);
      else place.replaceChildren(empty("This question is over", `${error.message}. Whatever still waits is on the fleet's page.`));
    }
    busy = false;
  };
  return { node, news: load, box: (wanted) => (wanted === id ? box : null) };
}

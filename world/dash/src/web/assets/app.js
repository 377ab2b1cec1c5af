// The page: which view is shown, what it is told, and how the line stands.

import { el, empty, code, text, tickAll } from "./dom.js";
import { ask, confirmWith, findToken, listen, mayAct, NeedsCode, post, Refused } from "./wire.js";
import { cardsPanel, cardView } from "./cards.js";
import { askCode, showHelp } from "./dialogs.js";
import { listenToKeys } from "./keys.js";
import { openActs, updateActs } from "./row_acts.js";
import { fleetView } from "./fleet.js";
import { sessionView } from "./session.js";
import { tasksView } from "./tasks.js";
import { guardView } from "./guard.js";
import { recallView } from "./recall.js";
import { PAST_VIEWS } from "./past.js";

const VIEWS = [
  { name: "fleet", path: /^#?\/?(?:\?.*)?$/, make: fleetView, cards: () => true },
  { name: "fleet", path: /^#\/session\/(.+)$/, make: sessionView, cards: ({ session }, id) => session === id.split("/")[0] },
  { name: "fleet", path: /^#\/card\/(.+)$/, make: cardView },
  { name: "tasks", path: /^#\/tasks$/, make: tasksView },
  { name: "guard", path: /^#\/guard$/, make: guardView },
  { name: "recall", path: /^#\/recall$/, make: recallView },
  ...PAST_VIEWS,
];

const WORDS = {
  wait: "connecting",
  live: "live",
  lost: "connection lost, trying again",
  refused: "not admitted",
};

const main = document.getElementById("main");
let current = null;
let fleet = null;
let line = "wait";
let acts = false;

// Does something for the person at the page, who is asked for the code where the server wants it.
async function act(path, body) {
  try {
    return await post(path, body);
  } catch (error) {
    if (!(error instanceof NeedsCode)) throw error;
    await askCode(confirmWith);
    return post(path, body);
  }
}

// Screen readers are told: at once what waits for an answer, in passing what else changed.
const say = (id) => (words) => text(document.getElementById(id), words);
const panel = cardsPanel(document.getElementById("waiting"), { ask, act, mayAct: () => acts, announce: say("alarm") });

function tellChanges(before, after) {
  const were = new Map((before?.agents ?? []).map(({ id, status }) => [id, status]));
  const turned = (after.agents ?? []).filter(({ id, status }) => before && were.get(id) !== status && status !== "working" && status !== "checked");
  if (turned.length) say("polite")(turned.slice(0, 3).map(({ id, name, status }) => `${name ?? id}: ${status}`).join(", ") + (turned.length > 3 ? ` and ${turned.length - 3} more` : ""));
}

const actsOn = (id) => {
  const agent = (fleet?.agents ?? []).find((agent) => agent.id === id);
  if (agent && acts) openActs(agent, { act });
};

// An address that somebody cut or typed is one that leads nowhere, not one that stops the page.
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// An address of an older or newer page, or a mistyped one: what is shown must be what was asked for.
function unknownView() {
  const node = el("section", { class: "view" }, empty("There is nothing at this address", code(location.hash.slice(0, 200)), " is no view of this page. ", el("a", { href: "#/" }, "The fleet")));
  return { node, news() {} };
}

function show() {
  const hash = location.hash;
  const view = VIEWS.find(({ path }) => path.test(hash)) ?? { name: "", path: /^$/, make: unknownView };
  current?.close?.();
  const part = view.path.exec(hash)?.[1];
  const id = part && decoded(part);
  current = view.make({ ask, act, mayAct: () => acts, actsOn, part: id, trouble });
  main.replaceChildren(current.node);
  panel.show((card) => view.cards?.(card, id) ?? false);
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === view.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  scrollTo(0, 0);
  if (fleet) current.news(fleet);
}

// What a view could not do is said in its place, and the next news tries again.
function trouble(error) {
  if (error instanceof Refused) tell("refused");
  else if (!(error instanceof TypeError)) current?.node.setAttribute("data-trouble", error.message);
}

function tell(state) {
  line = state;
  document.querySelector("[data-line]").dataset.line = state;
  text(document.getElementById("line"), WORDS[state]);
  document.body.classList.toggle("stale", state === "lost" || state === "refused");
  if (state === "refused") {
    current?.close?.();
    main.replaceChildren(
      empty("This page is not admitted", "Open the address that ", code("taut ui"), " printed in your terminal. It holds a secret that is new each time it is started."),
    );
  }
}

// Stands above every view until a person has seen to it.
function warn(warnings) {
  const place = document.getElementById("warning");
  text(place, warnings.join("; "));
  place.hidden = warnings.length === 0;
}

// Which server the machines of this fleet share, where they do.
function shared(server) {
  const place = document.getElementById("shared");
  text(place, server ? `shared on ${server}` : "");
  place.hidden = !server;
}

function onFleet(news) {
  tellChanges(fleet, news);
  fleet = news;
  panel.news(news);
  updateActs(news);
  const urgent = (news.summary?.error ?? 0) + (news.summary?.attention ?? 0);
  document.title = urgent ? `(${urgent}) Taut` : "Taut";
  warn(news.warnings ?? []);
  shared(news.shared);
  current?.node.removeAttribute("data-trouble");
  current?.news(news);
}

if (await findToken()) {
  acts = await mayAct().catch(() => false);
  show();
  listenToKeys({ box: (id) => (id ? current?.box?.(id) ?? panel.box(id) : null), acts: actsOn, help: showHelp });
  // The way past the head is a move of the focus, and no address.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  document.getElementById("help").addEventListener("click", showHelp);
  addEventListener("hashchange", () => {
    show();
    // What had the focus is gone with the view it was in.
    if (document.activeElement === document.body) main.focus({ preventScroll: true });
  });
  setInterval(tickAll, 1000);
  listen(onFleet, (state) => state !== line && tell(state));
} else {
  tell("refused");
}

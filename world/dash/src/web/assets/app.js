// The page: which view is shown, what it is told, and how the line stands.

import { el, empty, code, text, tickAll } from "./dom.js";
import { ask, findToken, listen, Refused } from "./wire.js";
import { fleetView } from "./fleet.js";
import { sessionView } from "./session.js";
import { tasksView } from "./tasks.js";
import { guardView } from "./guard.js";
import { recallView } from "./recall.js";

const VIEWS = [
  { name: "fleet", path: /^#?\/?$/, make: fleetView },
  { name: "fleet", path: /^#\/session\/(.+)$/, make: sessionView },
  { name: "tasks", path: /^#\/tasks$/, make: tasksView },
  { name: "guard", path: /^#\/guard$/, make: guardView },
  { name: "recall", path: /^#\/recall$/, make: recallView },
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

function show() {
  const hash = location.hash;
  const view = VIEWS.find(({ path }) => path.test(hash)) ?? VIEWS[0];
  current?.close?.();
  const part = view.path.exec(hash)?.[1];
  current = view.make({ ask, part: part && decodeURIComponent(part), trouble });
  main.replaceChildren(current.node);
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

function onFleet(news) {
  fleet = news;
  const urgent = (news.summary?.error ?? 0) + (news.summary?.attention ?? 0);
  document.title = urgent ? `(${urgent}) Taut` : "Taut";
  warn(news.warnings ?? []);
  current?.node.removeAttribute("data-trouble");
  current?.news(news);
}

if (await findToken()) {
  show();
  addEventListener("hashchange", show);
  setInterval(tickAll, 1000);
  listen(onFleet, (state) => state !== line && tell(state));
} else {
  tell("refused");
}

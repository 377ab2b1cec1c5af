// One rule: what it says of itself, what it stopped, and where.

import { code, el, empty, keyed, text } from "./dom.js";
import { filteredAddress } from "./address.js";
import { makeVerdict } from "./guard.js";

const KINDS = {
  floor: "denies, and no configuration lifts it", deny: "denies", strike: "denies the first time, and lets the same pass after",
  ask: "asks you", warn: "warns",
};

export function ruleView({ ask, part: id, trouble }) {
  const title = el("h1");
  const facts = el("p", { class: "facts" });
  const about = el("div", { class: "prose" });
  const sessions = el("a", { href: filteredAddress("sessions", { rule: id }) }, "Sessions it stopped something in");
  const verdicts = el("ol", { class: "timeline verdicts" });
  const none = el("div");
  const node = el("section", { class: "view" },
    el("header", { class: "session-head" }, el("a", { class: "back", href: "#/guard" }, "← Guard"), el("div", { class: "headline" }, title, el("span", { class: "mono quiet" }, id)), facts),
    el("section", { class: "card" }, el("h2", {}, "What it does"), about, el("p", {}, sessions)),
    el("section", { class: "card" }, el("h2", {}, "Last verdicts"), verdicts, none));
  const load = async () => {
    try {
      const told = await ask(`/api/rule/${encodeURIComponent(id)}`);
      text(title, told.title ?? id);
      const fact = (name, value) => (value ? el("span", {}, el("em", {}, name), " ", value) : null);
      facts.replaceChildren(...[fact("pack", told.pack), fact("kind", KINDS[told.kind] ?? told.kind), fact("denied", `${told.denied} in ${told.days} days`)].filter(Boolean));
      about.replaceChildren(...(told.known ? [paragraph(told.about), paragraph(told.instead)] : [el("p", {}, "A rule of a configuration. ", code("taut policy list"), " says which rules there are.")]));
      keyed(verdicts, told.verdicts, ({ at, agent, about, event }) => [at, agent, event, about].join(), makeVerdict, () => {});
      none.replaceChildren(...(told.verdicts.length ? [] : [empty("It has stopped nothing yet", code("taut explain"), " says what it would do with a line.")]));
    } catch (error) {
      if (error.status === 404) node.replaceChildren(el("a", { class: "back", href: "#/guard" }, "← Guard"), empty("There is no such rule", `${error.message}. `, code("taut policy list"), " says which rules there are."));
      else trouble(error);
    }
  };
  return { node, news: load };
}

// Words between backquotes are code, as in the page of the rule.
export function paragraph(words) {
  return el("p", {}, ...(words ?? "").split("`").map((piece, n) => (n % 2 ? code(piece) : piece)));
}

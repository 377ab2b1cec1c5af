// What the guard said: how often, by which rule, and the last of it.

import { attr, badge, clock, code, el, empty, keyed, text } from "./dom.js";
import { bars } from "./chart.js";
import { ruleAddress, sessionAddress } from "./address.js";

const SPANS = { 24: "24 hours", 168: "7 days", 720: "30 days" };
const VERDICTS = { deny: "denied", ask: "asked", warn: "warned" };

export function guardView({ ask, trouble }) {
  const spans = el("div", { class: "chips", role: "group", "aria-label": "How far back" });
  const total = el("b");
  const span = el("span");
  const chart = el("div", { class: "chart" });
  const rules = el("ul", { class: "rules" });
  const calm = el("p", { class: "quiet", hidden: "" }, "Nothing was denied. ", code("taut explain 'git push --force'"), " says what the guard would do.");
  const verdicts = el("ol", { class: "timeline verdicts" });
  const none = el("div");
  const node = el("section", { class: "view" },
    el("div", { class: "bar" }, spans),
    el("section", { class: "card" }, el("h2", {}, "Denied", el("span", { class: "counts" }, total, " in the last ", span)), chart),
    el("div", { class: "halves" },
      el("section", { class: "card" }, el("h2", {}, "By rule"), rules, calm),
      el("section", { class: "card" }, el("h2", {}, "Last verdicts"), verdicts, none)));
  let hours = 24;
  let busy = false;
  let told = null;

  const load = async () => {
    if (busy) return;
    busy = true;
    try {
      told = await ask(`/api/guard?hours=${hours}`);
      draw();
    } catch (error) {
      trouble(error);
    }
    busy = false;
  };
  const draw = () => {
    for (const button of spans.children) attr(button, "aria-pressed", Number(button.dataset.hours) === hours ? "true" : "false");
    text(total, String(told.denied));
    text(span, SPANS[hours]);
    bars(chart, told.hours);
    const most = Math.max(1, ...told.rules.map(({ count }) => count));
    keyed(rules, told.rules, ({ rule }) => rule, makeRule, (line, { rule, count }) => {
      text(line.querySelector(".rule"), rule);
      attr(line.querySelector(".rule"), "href", ruleAddress(rule));
      text(line.querySelector(".n"), String(count));
      line.querySelector("i").style.setProperty("--full", count / most);
    });
    calm.hidden = told.rules.length > 0;
    keyed(verdicts, told.verdicts, ({ at, agent, about, event }) => [at, agent, event, about].join(), makeVerdict, () => {});
    none.replaceChildren(...(told.verdicts.length ? [] : [empty("Nothing was stopped yet", "What is denied, asked about or warned of appears here as it happens.")]));
  };
  for (const [length, word] of Object.entries(SPANS)) {
    spans.append(el("button", { type: "button", class: "chip", data: { hours: length }, click: () => { hours = Number(length); load(); } }, word));
  }
  const resized = new ResizeObserver(() => told && bars(chart, told.hours));
  resized.observe(chart);
  return { node, news: load, close: () => resized.disconnect() };
}

function makeRule() {
  return el("li", {}, el("a", { class: "rule mono" }), el("span", { class: "share" }, el("i")), el("b", { class: "n" }));
}

export function makeVerdict({ at, agent_name, verdict, about, tool, event, rules, reason, session, key }) {
  return el("li", { class: `entry ${verdict}` },
    el("details", {},
      el("summary", {}, el("time", { datetime: at }, clock(at)), badge(VERDICTS[verdict] ?? verdict, verdict),
        el("span", { class: "about" }, about || tool || event), el("span", { class: "marks" }, el("span", { class: "quiet" }, agent_name))),
      el("div", { class: "more-of-it" },
        reason ? el("div", { class: `block ${verdict}` }, el("h3", {}, "because"), el("pre", {}, reason)) : null,
        el("p", { class: "quiet links" }, tool ?? null, ...rules.map((rule) => el("a", { class: "mono", href: ruleAddress(rule) }, rule)),
          session ? el("a", { href: sessionAddress(session, key) }, "open its session at this moment") : null))));
}

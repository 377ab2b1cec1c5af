// Some days at a glance: what was done, stopped, waited for and spent.

import { age, attr, code, el, empty, folder, svg, text, tokens } from "./dom.js";
import { ruleAddress } from "./address.js";

const SPANS = { 7: "7 days", 30: "30 days", 90: "90 days" };
const MOST_ROWS = 12;
const HEAD = ["", "Calls", "Sessions", "Stopped", "Waited", "Cost", "Tokens"];

export function statsView({ ask, trouble }) {
  const spans = el("div", { class: "chips", role: "group", "aria-label": "How far back" });
  const total = el("div", { class: "facts" });
  const charts = el("div", { class: "small-charts" });
  const tables = el("div");
  const none = el("div");
  const node = el("section", { class: "view stats" }, el("div", { class: "bar" }, spans), el("section", { class: "card" }, total), charts, tables, none);
  let days = 7;
  let busy = false;
  let told = null;

  const load = async () => {
    if (busy) return;
    busy = true;
    let asked;
    // Whoever chose other days meanwhile is shown those.
    do {
      asked = days;
      try {
        told = await ask(`/api/stats?days=${asked}`);
        if (asked === days) draw();
      } catch (error) {
        trouble(error);
      }
    } while (asked !== days);
    busy = false;
  };
  const draw = () => {
    for (const button of spans.children) attr(button, "aria-pressed", Number(button.dataset.days) === days ? "true" : "false");
    const all = told.total;
    const nothing = all.sessions === 0 && all.calls === 0;
    none.replaceChildren(...(nothing ? [empty("Nothing was recorded on these days", "What agents do is summed here. ", code("taut stats"), " tells the same.")] : []));
    total.replaceChildren(...facts(all).map(([name, value]) => el("span", {}, el("em", {}, `${name} `), value)));
    charts.replaceChildren(...(nothing ? [] : [
      picture("Tool calls", told.days, ({ calls }) => calls, String),
      picture("Stopped", told.days, ({ denied, asked }) => denied + asked, String),
      picture("Waited for you", told.days, ({ waited_ms }) => waited_ms, age),
      picture("Cost", told.days, ({ cost_usd }) => cost_usd, (cost) => `$${cost.toFixed(2)}`),
    ]));
    tables.replaceChildren(...(nothing ? [] : [
      table("By agent", told.agents, (name) => name),
      table("By project", told.projects, folder),
      table("By model", told.models, (name) => name),
      el("div", { class: "halves" },
        shares("Tools", told.tools, ({ calls }) => calls, ({ failed }) => (failed ? `${failed} failed` : "")),
        shares("Stopped by rule", told.rules, ({ stopped }) => stopped, ({ said_again: again }) => (again ? `${again} said again` : ""), ruleAddress)),
    ]));
    if (told.left_out) tables.append(el("p", { class: "quiet" }, `${told.left_out} older events are not summed yet; `, code("taut stats"), " does it now."));
  };
  for (const [length, word] of Object.entries(SPANS)) {
    spans.append(el("button", { type: "button", class: "chip", data: { days: length }, click: () => { days = Number(length); load(); } }, word));
  }
  // What happened is summed by the day: not every word of the fleet is news here.
  let last = 0;
  const news = () => {
    if (Date.now() - last < 10_000) return;
    last = Date.now();
    load();
  };
  return { node, news, close: () => {} };
}

function facts(all) {
  const about = all.cost_estimated ? "≈ " : "";
  return [
    ["sessions", String(all.sessions)],
    ["prompts", String(all.prompts)],
    ["tool calls", `${all.calls} (${all.failed} failed)`],
    ["stopped", `${all.denied} denied, ${all.asked} asked about, ${all.said_again} said again`],
    ["waited for you", all.waits ? `${age(all.waited_ms)}, ${all.waits} ${all.waits === 1 ? "time" : "times"}` : "never"],
    ["cost", all.cost_usd ? `${about}$${all.cost_usd.toFixed(2)}` : "unknown"],
    ["tokens", `${tokens(all.tokens_in)} in, ${tokens(all.tokens_out)} out`],
  ];
}

// One bar a day. The picture is named for whoever does not see it, and every bar says its day.
function picture(title, days, value, word) {
  const [width, height, bottom] = [280, 96, 16];
  const most = Math.max(...days.map(value), 0);
  const sum = days.reduce((all, one) => all + value(one), 0);
  const busiest = days.find((one) => value(one) === most);
  const label = sum ? `${title}: ${word(sum)} in all, most on ${busiest.name} with ${word(most)}` : `${title}: none`;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "bars" });
  const step = width / days.length;
  const tall = (one) => (most ? (value(one) / most) * (height - bottom - 4) : 0);
  drawing.append(svg("line", { x1: 0, x2: width, y1: height - bottom, y2: height - bottom, class: "axis" }));
  days.forEach((one, n) => {
    const name = svg("title");
    name.textContent = `${one.name}  ${word(value(one))}`;
    const high = tall(one);
    drawing.append(svg("rect", { x: n * step + step * 0.1, y: height - bottom - high, width: step * 0.8, height: high, rx: Math.min(2, step / 5), class: "count" }, name));
  });
  for (const [at, anchor, one] of [[0, "start", days[0]], [width, "end", days.at(-1)]]) {
    const mark = svg("text", { x: at, y: height - 3, "text-anchor": anchor });
    mark.textContent = one.name.slice(5);
    drawing.append(mark);
  }
  return el("section", { class: "card chart" }, el("h2", {}, title, el("span", { class: "counts" }, sum ? word(sum) : "none")), drawing);
}

function table(title, groups, shown) {
  const row = (one) => {
    const name = el("th", { scope: "row", title: one.name });
    text(name, one.agent_name ?? shown(one.name));
    const cost = one.cost_usd ? `${one.cost_estimated ? "≈ " : ""}$${one.cost_usd.toFixed(2)}` : "";
    const spent = one.tokens_in + one.tokens_out;
    const cells = [one.calls, one.sessions, one.denied + one.asked, one.waited_ms ? age(one.waited_ms) : "", cost, spent ? tokens(spent) : ""];
    return el("tr", {}, name, ...cells.map((cell) => el("td", {}, String(cell))));
  };
  return el("section", { class: "card" }, el("h2", {}, title),
    el("div", { class: "wide" }, el("table", { class: "numbers", "aria-label": title },
      el("thead", {}, el("tr", {}, ...HEAD.map((word) => el("th", { scope: "col" }, word || el("span", { class: "unseen" }, title))))),
      el("tbody", {}, ...groups.slice(0, MOST_ROWS).map(row)))), ...others(groups));
}

function shares(title, all, value, also, address) {
  const most = Math.max(1, ...all.map(value));
  const line = (one) => {
    const share = el("i");
    share.style.setProperty("--full", value(one) / most);
    const name = address ? el("a", { class: "rule mono", href: address(one.name) }, one.name) : el("span", { class: "rule mono" }, one.name);
    // What a pointer is told, a screen reader is told too.
    const more = also(one) ? [el("span", { class: "unseen" }, also(one))] : [];
    return el("li", { title: also(one) }, name, el("span", { class: "share", "aria-hidden": "true" }, share), el("b", { class: "n" }, String(value(one))), ...more);
  };
  const list = all.length ? el("ul", { class: "rules" }, ...all.slice(0, MOST_ROWS).map(line)) : el("p", { class: "quiet" }, "None.");
  return el("section", { class: "card" }, el("h2", {}, title), list, ...others(all));
}

// A list that is cut says so.
function others(all) {
  return all.length > MOST_ROWS ? [el("p", { class: "quiet" }, `and ${all.length - MOST_ROWS} more: `, code("taut stats --json"))] : [];
}

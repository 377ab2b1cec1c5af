// Curves and bars, drawn as SVG from numbers alone.

import { age, clock, day, el, hour, ms, svg, tokens } from "./dom.js";

const LEVELS = [60, 80, 90];

// How full a context was over time; 100 % is the point where the client compacts.
export function curve(box, { points, limit }) {
  const known = points.filter((point) => value(point) !== null);
  if (known.length === 0) {
    box.replaceChildren(el("p", { class: "quiet" }, "Not measured yet: the next prompt or stop tells."));
    return;
  }
  const width = Math.max(240, box.clientWidth || 640);
  const height = 132;
  const [left, right, top, bottom] = [34, 8, 8, 18];
  const from = ms(points[0].at);
  const to = Math.max(ms(points.at(-1).at), from + 1000);
  const most = Math.max(100, ...known.map(value));
  const x = (at) => left + ((ms(at) - from) / (to - from)) * (width - left - right);
  const y = (percent) => top + (1 - percent / most) * (height - top - bottom);
  const label = `Context from ${Math.round(value(known[0]))} to ${Math.round(value(known.at(-1)))} percent over ${age(to - from)}`;
  const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "curve" });
  for (const level of [0, ...LEVELS, 100]) {
    drawing.append(svg("line", { x1: left, x2: width - right, y1: y(level), y2: y(level), class: LEVELS.includes(level) ? "level" : "axis" }));
    const mark = svg("text", { x: left - 6, y: y(level) + 3.5, "text-anchor": "end" });
    mark.textContent = `${level}`;
    if (level !== 90) drawing.append(mark);
  }
  for (const run of runs(points)) {
    const line = run.map((point) => `${x(point.at).toFixed(1)} ${y(value(point)).toFixed(1)}`);
    const [first, last] = [x(run[0].at).toFixed(1), x(run.at(-1).at).toFixed(1)];
    drawing.append(svg("path", { d: `M${first} ${y(0)} L${line.join(" L")} L${last} ${y(0)} Z`, class: "area" }));
    drawing.append(svg("path", { d: `M${line.join(" L")}`, class: "stroke" }));
  }
  for (const point of known.length <= 60 ? known : [known.at(-1)]) {
    const title = svg("title");
    title.textContent = `${clock(point.at)}  ${value(point).toFixed(1)} %${point.tokens ? `, ${tokens(point.tokens)} tokens` : ""}`;
    drawing.append(svg("circle", { cx: x(point.at), cy: y(value(point)), r: point === known.at(-1) ? 3.5 : 2.2, class: "point" }, title));
  }
  const ends = [[left, "start", clock(points[0].at)], [width - right, "end", clock(points.at(-1).at)]];
  for (const [at, anchor, word] of ends) {
    const mark = svg("text", { x: at, y: height - 4, "text-anchor": anchor });
    mark.textContent = word;
    drawing.append(mark);
  }
  box.replaceChildren(drawing);

  function value(point) {
    if (point.percent !== null && point.percent !== undefined) return point.percent;
    return point.tokens && limit ? (point.tokens * 100) / limit : null;
  }

  // A compaction parts the curve.
  function runs(all) {
    const found = [[]];
    for (const point of all) {
      if (value(point) === null) found.push([]);
      else found.at(-1).push(point);
    }
    return found.filter((run) => run.length > 0);
  }
}

// Counts over hours.
export function bars(box, hours) {
  const width = Math.max(240, box.clientWidth || 640);
  const height = 120;
  const [left, top, bottom] = [26, 8, 18];
  const most = Math.max(4, ...hours.map(({ count }) => count));
  const step = (width - left) / hours.length;
  const y = (count) => top + (1 - count / most) * (height - top - bottom);
  const all = hours.reduce((sum, { count }) => sum + count, 0);
  const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${all} denials, by the hour`, class: "bars" });
  for (const level of [0, most]) {
    drawing.append(svg("line", { x1: left, x2: width, y1: y(level), y2: y(level), class: "axis" }));
    const mark = svg("text", { x: left - 6, y: y(level) + 3.5, "text-anchor": "end" });
    mark.textContent = String(level);
    drawing.append(mark);
  }
  const every = Math.max(1, Math.round(hours.length / Math.max(2, Math.floor(width / 90))));
  hours.forEach(({ at, count }, n) => {
    const title = svg("title");
    title.textContent = `${day(at)} ${hour(at)}  ${count} denied`;
    const tall = y(0) - y(count);
    const gap = Math.min(2, step / 4);
    drawing.append(svg("rect", { x: left + n * step + gap / 2, y: y(count), width: Math.max(1, step - gap), height: tall, rx: Math.min(2, step / 4), class: "count" }, title));
    if (n % every === 0) {
      const mark = svg("text", { x: left + n * step, y: height - 4 });
      mark.textContent = hours.length > 48 ? day(at) : hour(at);
      drawing.append(mark);
    }
  });
  box.replaceChildren(drawing);
}

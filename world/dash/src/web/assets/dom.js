// Nodes and words. Every text becomes a text node: nothing an agent wrote is ever read as markup.

export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  set(node, props);
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

function set(node, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined) continue;
    if (name === "class") node.className = value;
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name === "click") node.addEventListener("click", value);
    else node.setAttribute(name, value);
  }
}

export function text(node, value) {
  const wanted = value ?? "";
  if (node.textContent !== wanted) node.textContent = wanted;
}

export function attr(node, name, value) {
  if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

// Children that stand for items: kept, moved, made and removed, never redrawn.
export function keyed(parent, items, key, make, update) {
  const old = new Map([...parent.children].map((node) => [node.dataset.key, node]));
  const focused = document.activeElement;
  let next = parent.firstElementChild;
  for (const item of items) {
    const id = key(item);
    let node = old.get(id);
    if (node) old.delete(id);
    else {
      node = make(item);
      node.dataset.key = id;
    }
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
    update(node, item);
  }
  for (const node of old.values()) node.remove();
  if (focused && focused !== document.activeElement && parent.contains(focused)) focused.focus({ preventScroll: true });
}

export function ms(moment) {
  return moment ? Date.parse(moment) : null;
}

export function age(millis) {
  const s = Math.max(0, Math.floor(millis / 1000));
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m`;
  if (s < 86400) return `${Math.floor(s / 3600)}h ${Math.floor((s % 3600) / 60)}m`;
  return `${Math.floor(s / 86400)}d`;
}

export function duration(millis) {
  if (millis < 1000) return `${Math.round(millis)} ms`;
  if (millis < 60_000) return `${(millis / 1000).toFixed(1)} s`;
  const s = Math.round(millis / 1000);
  return s < 3600 ? `${Math.floor(s / 60)}m ${s % 60}s` : age(millis);
}

// An age that goes on by itself.
export function since(node, moment, after = "") {
  const at = ms(moment);
  if (at === null) {
    delete node.dataset.since;
    text(node, "");
    return;
  }
  node.dataset.since = String(at);
  node.dataset.after = after;
  text(node, age(Date.now() - at) + after);
}

export function tickAll() {
  for (const node of document.querySelectorAll("[data-since]")) {
    text(node, age(Date.now() - Number(node.dataset.since)) + (node.dataset.after ?? ""));
  }
}

export function clock(moment) {
  const at = new Date(ms(moment));
  const two = (n) => String(n).padStart(2, "0");
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  const today = new Date().toDateString() === at.toDateString();
  return today ? time : `${two(at.getMonth() + 1)}-${two(at.getDate())} ${time.slice(0, 5)}`;
}

export function hour(moment) {
  return `${String(new Date(ms(moment)).getHours()).padStart(2, "0")}:00`;
}

export function day(moment) {
  const at = new Date(ms(moment));
  return `${String(at.getMonth() + 1).padStart(2, "0")}-${String(at.getDate()).padStart(2, "0")}`;
}

export function folder(path) {
  return (path ?? "").split("/").filter(Boolean).pop() ?? path ?? "";
}

export function bytes(count) {
  if (count < 1024) return `${count} B`;
  return count < 1024 * 1024 ? `${(count / 1024).toFixed(1)} KB` : `${(count / 1024 / 1024).toFixed(1)} MB`;
}

export function tokens(count) {
  return count >= 1000 ? `${Math.round(count / 1000)}k` : String(count);
}

export function badge(word, look) {
  return el("span", { class: `badge ${look ?? word}` }, word);
}

export function empty(title, ...advice) {
  return el("div", { class: "empty" }, el("p", { class: "empty-title" }, title), el("p", {}, ...advice));
}

export function code(line) {
  return el("code", {}, line);
}

// A row of filters, and the fields that each view has of them.

import { el } from "./dom.js";

// Whoever types is asked for nothing before they pause.
const PAUSE_MS = 200;

// `fields` are { name, label, kind, choices }; `changed` hears the values by name.
export function filterBar(fields, values, changed) {
  const node = el("form", { class: "filters", role: "search" });
  const inputs = new Map();
  let timer = null;
  const told = () => Object.fromEntries([...inputs].map(([name, input]) => [name, input.type === "checkbox" ? (input.checked ? "1" : "") : input.value.trim()]));
  const tell = () => changed(told());
  for (const field of fields) {
    const input = make(field, values[field.name] ?? "");
    inputs.set(field.name, input);
    const typed = input.type === "search" || input.type === "text";
    input.addEventListener(typed ? "input" : "change", () => {
      clearTimeout(timer);
      timer = setTimeout(tell, typed ? PAUSE_MS : 0);
    });
    node.append(el("label", { class: `filter filter-${field.kind}` }, el("span", {}, field.label), input, input.choices ?? null));
  }
  const clear = el("button", { type: "button", class: "chip", click: () => {
    for (const input of inputs.values()) {
      if (input.type === "checkbox") input.checked = false;
      else input.value = input.dataset.usual ?? "";
    }
    tell();
  } }, "Clear");
  node.append(clear);
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    tell();
  });
  return { node, values: told, choose: (name, choices) => choose(inputs.get(name), choices), close: () => clearTimeout(timer) };
}

function make({ name, kind, choices = [], placeholder }, value) {
  if (kind === "choice") {
    const input = el("select", { name, data: { usual: choices[0]?.value ?? "" } });
    choose(input, choices);
    if (value && ![...input.options].some((option) => option.value === value)) input.append(el("option", { value }, value));
    if (value) input.value = value;
    return input;
  }
  if (kind === "check") {
    const input = el("input", { type: "checkbox", name });
    input.checked = Boolean(value);
    return input;
  }
  const input = el("input", { type: { day: "date", words: "search" }[kind] ?? "text", name, placeholder, maxlength: "400", autocomplete: "off", spellcheck: "false" });
  input.value = value;
  if (kind === "suggested") {
    // Anything may be typed; what there is, is offered.
    input.choices = el("datalist", { id: `choices-${name}` });
    input.setAttribute("list", input.choices.id);
    choose(input, choices);
  }
  return input;
}

// What can be chosen may come later than the field; what is chosen stays.
function choose(input, choices) {
  const drawn = JSON.stringify(choices);
  const list = input.choices ?? input;
  if (list.dataset.drawn === drawn) return;
  list.dataset.drawn = drawn;
  const value = input.value;
  list.replaceChildren(...choices.map((choice) => el("option", { value: choice.value }, choice.word ?? choice.value)));
  if (!input.choices && value) {
    if (!choices.some((choice) => choice.value === value)) list.append(el("option", { value }, value));
    input.value = value;
  }
}

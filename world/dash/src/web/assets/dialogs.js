// Windows of the page itself: the code, and the help. The browser keeps the focus in them and gives it back.

import { code, el, text } from "./dom.js";

export class Cancelled extends Error {
  constructor() {
    super("not done: the code was not typed");
  }
}

// Opens a window and gives it; it is gone when it is closed.
export function openDialog(title, ...parts) {
  const head = el("h2", { id: `dialog-${Date.now()}` }, title);
  const dialog = el("dialog", { "aria-labelledby": head.id }, head, ...parts);
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  // A press beside it is none on it.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.showModal();
  return dialog;
}

// Asks until the code is right, or whoever was asked gives up.
export function askCode(confirmWith) {
  return new Promise((resolve, reject) => {
    const input = el("input", { type: "text", inputmode: "numeric", autocomplete: "off", maxlength: "12", "aria-label": "Code", class: "code-input" });
    const said = el("p", { class: "card-state", role: "status" });
    const form = el("form", { class: "dialog-form" }, input, el("button", { type: "submit", class: "yes" }, "It is me"), el("button", { type: "button", class: "plain", click: () => dialog.close() }, "Cancel"));
    const dialog = openDialog("Type the code", el("p", {}, "It stands in the terminal where ", code("taut ui"), " runs. The page asks for it before it acts for you, and again when nothing was done for ten minutes."), form, said);
    let done = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        await confirmWith(input.value);
        done = true;
        dialog.close();
      } catch (error) {
        text(said, error.message);
        input.select();
      }
    });
    dialog.addEventListener("close", () => (done ? resolve() : reject(new Cancelled())));
  });
}

const KEYS = [
  ["j k", "next, previous: what waits, then the agents"],
  ["Enter", "open what is chosen"],
  ["a", "allow once, approve, or send the chosen answers of the card"],
  ["d", "deny the card, with words"],
  ["m", "what can be done to the chosen agent"],
  ["/", "filter"],
  ["Esc", "back"],
  ["?", "this help"],
];

export function showHelp() {
  openDialog("Keys", el("dl", { class: "keys" }, KEYS.map(([keys, means]) => [el("dt", {}, keys.split(" ").map((key) => el("kbd", {}, key))), el("dd", {}, means)])));
}

// The page without a mouse. Keys do what a press on the same thing does, with the same care against slips.

const ITEMS = "article.ask, .fleet tbody tr:not(.group), .timeline summary, .hits a, [data-item]";

export function listenToKeys({ box, acts, help }) {
  const chosenCard = () => box(document.activeElement?.closest("article.ask")?.dataset.card);
  const move = (step) => {
    const items = [...document.querySelectorAll(ITEMS)].filter((item) => item.offsetParent !== null);
    const at = items.findIndex((item) => item.contains(document.activeElement));
    const next = items[at < 0 ? (step > 0 ? 0 : items.length - 1) : Math.min(items.length - 1, Math.max(0, at + step))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  const keys = {
    j: () => move(1),
    k: () => move(-1),
    a: () => chosenCard()?.allow(),
    d: () => chosenCard()?.deny(),
    m: () => acts(document.activeElement?.closest(".fleet tbody tr")?.dataset.key),
    "/": () => document.querySelector("main input[type=search]")?.focus(),
    "?": help,
    Enter: () => document.activeElement?.closest(".fleet tbody tr") === document.activeElement && document.activeElement.querySelector("a.name")?.click(),
    Escape: () => /^#\/(session|card)\//.test(location.hash) && (location.hash = "#/"),
  };
  addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat && !"jk".includes(key) || document.querySelector("dialog[open]")) return;
    if (target.closest?.("input:not([type=radio]):not([type=checkbox]), textarea, select")) {
      if (key === "Escape") target.blur();
      return;
    }
    // A button or a link that has the focus is pressed by Enter itself.
    const run = Object.hasOwn(keys, key) && !(key === "Enter" && target.closest?.("a, button, summary")) ? keys[key] : null;
    if (!run) return;
    event.preventDefault();
    run();
  });
}

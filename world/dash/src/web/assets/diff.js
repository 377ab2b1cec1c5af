// A difference of lines, as text: signs, numbers and colours are added, nothing is read from the lines.

import { el } from "./dom.js";

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const KINDS = { "+": ["added", "+"], "-": ["removed", "−"] };

// So many lines of a patch are drawn: a browser that draws hundreds of thousands stands still.
const MOST_LINES = 5000;

// A patch of several files, one block for each. What stands before the first place in a file says which file it is.
export function patchBlocks(patch) {
  let left = MOST_LINES;
  const blocks = patch.split(/^(?=diff --git )/m).filter((part) => part.trim()).map((part) => {
    const place = part.search(/^@@ /m);
    const [head, body] = place < 0 ? [part, ""] : [part.slice(0, place), part.slice(place).replace(/\n$/, "")];
    const named = [/^\+\+\+ "?b\/(.+?)"?$/m, /^--- "?a\/(.+?)"?$/m, /^diff --git .* "?b\/(.+?)"?$/m];
    // Behind a name with a blank git puts a tab.
    const file = named.map((line) => line.exec(head)?.[1].trim()).find(Boolean);
    const lines = body ? body.split("\n") : [];
    const drawn = lines.slice(0, left);
    left -= drawn.length;
    const notes = head.split("\n").filter((line) => /^(new|deleted|old) (file )?mode|^rename |^Binary /.test(line));
    if (drawn.length < lines.length) notes.push(`${lines.length - drawn.length} more lines are not drawn here; \`taut diff\` prints them`);
    return diffBlock(drawn.join("\n"), file, notes);
  });
  return blocks;
}

export function diffBlock(diff, file, notes = []) {
  const rows = notes.map((note) => el("div", { class: "d-hunk" }, note));
  let [before, after, plus, minus] = [0, 0, 0, 0];
  for (const line of diff ? diff.replace(/\n$/, "").split("\n") : []) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      rows.push(el("div", { class: "d-hunk" }, line));
      continue;
    }
    // It says that the line before has no end of its own.
    if (line.startsWith("\\")) {
      rows.push(el("div", { class: "d-hunk" }, line.slice(2)));
      continue;
    }
    const [kind, sign] = KINDS[line[0]] ?? ["kept", " "];
    plus += kind === "added";
    minus += kind === "removed";
    const number = kind === "added" ? after : before;
    if (kind !== "added") before += 1;
    if (kind !== "removed") after += 1;
    rows.push(el("div", { class: `d-line ${kind}` },
      el("span", { class: "d-number", "aria-hidden": "true" }, String(number)), el("span", { class: "d-sign" }, sign), el("span", { class: "d-text" }, line.slice(1))));
  }
  return el("figure", { class: "diff" },
    el("figcaption", {}, el("span", { class: "mono file" }, file ?? "a file"), el("span", { class: "size" }, ` +${plus} −${minus}`)),
    el("div", { class: "d-lines mono", tabindex: "0", role: "region", "aria-label": `Changes to ${file ?? "a file"}` }, rows));
}

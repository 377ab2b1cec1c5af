// Against slips: what moved or changed a moment ago is not pressed. A card that takes another's place under the pointer
// has not been read by whoever presses.

const STILL_MS = 400;
const watched = new Map();

export function watch(node) {
  watched.set(node, { box: null, at: performance.now() });
}

export function isStill(node) {
  look();
  const seen = watched.get(node);
  return Boolean(seen?.box) && performance.now() - seen.at >= STILL_MS;
}

// The content of the node is another now.
export function changed(node) {
  const seen = watched.get(node);
  if (seen) seen.at = performance.now();
}

// Where each stands now; one that stands elsewhere than before has moved.
export function look() {
  const now = performance.now();
  for (const [node, seen] of watched) {
    if (!node.isConnected) {
      if (seen.box) watched.delete(node);
      continue;
    }
    const { left, top, width } = node.getBoundingClientRect();
    const box = [left, top, width].map(Math.round).join();
    if (box !== seen.box) {
      seen.box = box;
      seen.at = now;
    }
    node.classList.toggle("armed", now - seen.at >= STILL_MS);
  }
}

// Whoever comes back to the page has to look first.
function cameBack() {
  for (const seen of watched.values()) seen.at = performance.now();
}

setInterval(() => watched.size && look(), 100);
addEventListener("scroll", look, { passive: true });
addEventListener("resize", look);
addEventListener("focus", cameBack);
document.addEventListener("visibilitychange", cameBack);

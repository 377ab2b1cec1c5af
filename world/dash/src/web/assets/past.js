// The views of what happened, and where they are: a filter that is set stands in the address, so that it can be kept.

import { sessionsView } from "./sessions.js";
import { ruleView } from "./rule.js";
import { taskView } from "./task.js";
import { runView, runsView } from "./run.js";
import { recallView } from "./recall.js";
import { guardView } from "./guard.js";
import { statsView } from "./stats.js";

export const PAST_VIEWS = [
  { name: "sessions", path: /^#\/sessions(?:\?.*)?$/, make: sessionsView },
  { name: "guard", path: /^#\/rule\/([^/?]+)$/, make: ruleView },
  { name: "guard", path: /^#\/guard\?.*$/, make: guardView },
  { name: "tasks", path: /^#\/task\?.*$/, make: taskView },
  { name: "tasks", path: /^#\/runs$/, make: runsView },
  { name: "tasks", path: /^#\/run\/([^/?]+)$/, make: runView },
  { name: "stats", path: /^#\/stats$/, make: statsView },
  { name: "recall", path: /^#\/recall\?.*$/, make: recallView },
];

// Addresses within the page, and the filters that stand in them.

export function sessionAddress(id, moment) {
  return `#/session/${encodeURIComponent(id)}${moment ? `/${encodeURIComponent(moment)}` : ""}`;
}

export function ruleAddress(rule) {
  return `#/rule/${encodeURIComponent(rule)}`;
}

export function taskAddress(project, slug) {
  return `#/task?${new URLSearchParams({ project, slug })}`;
}

export function runAddress(run) {
  return `#/run/${encodeURIComponent(run)}`;
}

// Those that are set, in the order given: `#/sessions?rule=…`.
export function filteredAddress(view, filters) {
  const set = Object.entries(filters).filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false);
  return set.length ? `#/${view}?${new URLSearchParams(set)}` : `#/${view}`;
}

export function filtersOfAddress() {
  return Object.fromEntries(new URLSearchParams(location.hash.split("?")[1] ?? ""));
}

// The address changes, and nothing is drawn anew.
export function keepInAddress(view, filters) {
  history.replaceState(null, "", filteredAddress(view, filters));
}

// Days are days of whoever looks: from its first moment to the first of the next.
export function spanOfDays(from, to) {
  const midnight = (day, later) => {
    const [year, month, date] = day.split("-").map(Number);
    return new Date(year, month - 1, date + later).getTime();
  };
  return { since: from ? midnight(from, 0) : "", until: to ? midnight(to, 1) : "" };
}

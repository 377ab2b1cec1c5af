// The line to the server: questions, and news that come by themselves.

const SHELF = "taut-token";
const TOKEN_HEADER = "x-taut-token";
// The server says something every ten seconds; after more than two of them the line is dead.
const SILENCE = 25_000;

let token = null;

// The secret comes behind the `#`, which no server sees, and does not stay in the address bar.
export async function findToken() {
  const given = /^#token=([0-9a-f]{32,})$/.exec(location.hash);
  if (given) {
    token = given[1];
    history.replaceState(null, "", "/#/");
    sessionStorage.setItem(SHELF, token);
  } else {
    token = sessionStorage.getItem(SHELF) ?? (await askOtherTabs());
    if (token) sessionStorage.setItem(SHELF, token);
  }
  answerOtherTabs();
  return token !== null;
}

// A tab that was opened from this page has no secret of its own; only pages of this very origin hear the question.
function askOtherTabs() {
  const channel = new BroadcastChannel(SHELF);
  return new Promise((resolve) => {
    const give = (found) => {
      channel.close();
      resolve(found);
    };
    channel.onmessage = ({ data }) => data?.have && give(data.have);
    channel.postMessage({ want: true });
    setTimeout(() => give(null), 250);
  });
}

function answerOtherTabs() {
  const channel = new BroadcastChannel(SHELF);
  channel.onmessage = ({ data }) => data?.want && token && channel.postMessage({ have: token });
}

function request(path, more = {}) {
  return fetch(path, { headers: { [TOKEN_HEADER]: token }, credentials: "omit", cache: "no-store", ...more });
}

export class Refused extends Error {}

export async function ask(path) {
  const response = await request(path);
  if (response.status === 401) throw new Refused();
  const told = await response.json();
  if (!response.ok) throw new Error(told.error ?? `the server said ${response.status}`);
  return told;
}

// Calls `onFleet` with every snapshot and `onLine` with how the line stands, for ever.
export async function listen(onFleet, onLine) {
  let pause = 500;
  for (;;) {
    try {
      await follow((fleet) => {
        pause = 500;
        onLine("live");
        onFleet(fleet);
      });
    } catch (error) {
      if (error instanceof Refused) return onLine("refused");
    }
    onLine("lost");
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, 5000);
  }
}

async function follow(onFleet) {
  const stop = new AbortController();
  let alarm = setTimeout(() => stop.abort(), SILENCE);
  try {
    const response = await request("/events", { signal: stop.signal });
    if (response.status === 401) throw new Refused();
    if (!response.ok) throw new Error(String(response.status));
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(alarm);
      alarm = setTimeout(() => stop.abort(), SILENCE);
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        const data = part.split("\n").find((line) => line.startsWith("data: "));
        if (data) onFleet(JSON.parse(data.slice(6)));
      }
    }
  } finally {
    clearTimeout(alarm);
  }
}

// The line to the server: questions, and news that come by themselves.

const SHELF = "taut-token";
const TOKEN_HEADER = "x-taut-token";
const PERMIT_HEADER = "x-taut-permit";
// The server says something every ten seconds; after more than two of them the line is dead.
const SILENCE = 25_000;

let token = null;
// Proves that a person is there. It is kept in memory alone: what lies in a browser's files proves nothing.
let permit = null;

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
    channel.onmessage = ({ data }) => {
      if (!data?.have) return;
      permit = data.permit ?? permit;
      give(data.have);
    };
    channel.postMessage({ want: true });
    setTimeout(() => give(null), 250);
  });
}

// Whoever is at one tab is at the other: a permit holds for both, and is not asked for twice.
let tabs = null;

function answerOtherTabs() {
  tabs = new BroadcastChannel(SHELF);
  tabs.onmessage = ({ data }) => {
    if (data?.want && token) tabs.postMessage({ have: token, permit });
    else if (data?.permit && data.have === token) permit = data.permit;
  };
  if (!permit) tabs.postMessage({ want: true });
}

function request(path, more = {}) {
  return fetch(path, { headers: { [TOKEN_HEADER]: token }, credentials: "omit", cache: "no-store", ...more });
}

export class Refused extends Error {}

export async function ask(path) {
  const response = await request(path);
  if (response.status === 401) throw new Refused();
  const told = await response.json();
  if (!response.ok) throw Object.assign(new Error(told.error ?? `the server said ${response.status}`), { status: response.status });
  return told;
}

// The server wants the code before it acts for anybody.
export class NeedsCode extends Error {}

// Something is done; what came of it, or why it was not.
export async function post(path, body) {
  const headers = { [TOKEN_HEADER]: token, [PERMIT_HEADER]: permit ?? "", "content-type": "application/json" };
  const response = await request(path, { method: "POST", headers, body: JSON.stringify(body) });
  if (response.status === 401) throw new Refused();
  const told = await response.json().catch(() => ({}));
  if (told.confirm) throw new NeedsCode(told.error);
  if (!response.ok) throw new Error(told.error ?? `the server said ${response.status}`);
  return told;
}

export async function confirmWith(code) {
  permit = (await post("/api/confirm", { code })).permit;
  tabs?.postMessage({ have: token, permit });
}

export async function mayAct() {
  return (await ask("/api/standing")).acts;
}

// A file, and the name the server gives it: an address alone would come without the secret.
export async function download(path) {
  const response = await request(path);
  if (response.status === 401) throw new Refused();
  if (!response.ok) throw new Error((await response.json().catch(() => ({}))).error ?? `the server said ${response.status}`);
  const name = /filename="([A-Za-z0-9.-]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
  return { name: name ?? "taut-session", blob: await response.blob() };
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

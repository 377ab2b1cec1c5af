-- What the way of an event needs. Text where a person may look, few indexes
-- where a hook writes: each one is a page in every commit.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE projects (
  path       TEXT PRIMARY KEY,
  first_seen INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE agents (
  id      TEXT PRIMARY KEY,
  named   INTEGER NOT NULL,
  status  TEXT NOT NULL,
  session TEXT,
  project TEXT NOT NULL,
  since   INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
  row            INTEGER PRIMARY KEY,
  id             TEXT NOT NULL UNIQUE,
  logical_id     TEXT NOT NULL,
  agent          TEXT NOT NULL,
  pane           TEXT,
  ended_at       INTEGER,
  state          TEXT NOT NULL,
  started_at     INTEGER NOT NULL,
  last_seen_at   INTEGER NOT NULL,
  context_tokens INTEGER,
  in_flight      TEXT,
  host_session   TEXT,
  conversation   TEXT NOT NULL,
  -- NULL where the folder belongs to no project.
  project        TEXT REFERENCES projects (path),
  role           TEXT,
  mode           TEXT,
  cwd            TEXT,
  transcript     TEXT,
  client_pid     INTEGER,
  client_started INTEGER,
  mission        TEXT,
  prev           TEXT,
  parent         TEXT,
  source         TEXT NOT NULL,
  end_reason     TEXT
);

-- Open sessions are those with a NULL `ended_at`: one index finds both the
-- open ones and the newest ended one.
CREATE INDEX sessions_by_logical_id ON sessions (logical_id, ended_at);
CREATE INDEX sessions_by_agent ON sessions (agent, ended_at);
CREATE INDEX sessions_open_by_pane ON sessions (pane) WHERE ended_at IS NULL AND pane IS NOT NULL;
CREATE INDEX sessions_by_end ON sessions (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE events (
  -- The order of commits, which is the order they are listed in.
  seq           INTEGER PRIMARY KEY,
  -- Not indexed, nor is the time: the key finds an event, and `seq` rises with
  -- time. Each index is a page in every commit.
  id            TEXT NOT NULL,
  key           TEXT NOT NULL UNIQUE,
  at            INTEGER NOT NULL,
  agent         TEXT NOT NULL,
  session       TEXT,
  host_session  TEXT,
  sub_agent     TEXT,
  event         TEXT NOT NULL,
  tool          TEXT,
  verdict       TEXT NOT NULL,
  micros        INTEGER NOT NULL,
  rules         TEXT,
  answer_exit   INTEGER,
  answer_stdout TEXT,
  answer_stderr TEXT,
  reason        TEXT,
  detail        TEXT
);

CREATE INDEX events_by_session ON events (session) WHERE session IS NOT NULL;
CREATE INDEX events_denied ON events (at) WHERE verdict = 'deny';

CREATE TABLE strikes (
  session   TEXT NOT NULL,
  rule      TEXT NOT NULL,
  what      TEXT NOT NULL,
  target    TEXT NOT NULL,
  denied_to TEXT NOT NULL,
  at        INTEGER NOT NULL,
  delivered INTEGER NOT NULL,
  PRIMARY KEY (session, rule, what, target, denied_to)
) WITHOUT ROWID;

CREATE TABLE injections (
  seq      INTEGER PRIMARY KEY,
  session  TEXT NOT NULL,
  audience TEXT NOT NULL,
  text     TEXT NOT NULL
);

CREATE INDEX injections_by_session ON injections (session);

CREATE TABLE messages (
  seq          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  at           INTEGER NOT NULL,
  kind         TEXT NOT NULL,
  from_agent   TEXT,
  to_agent     TEXT,
  session      TEXT,
  body         TEXT NOT NULL,
  delivered_at INTEGER
);

CREATE INDEX messages_waiting ON messages (to_agent) WHERE delivered_at IS NULL;
CREATE INDEX messages_delivered ON messages (delivered_at) WHERE delivered_at IS NOT NULL;

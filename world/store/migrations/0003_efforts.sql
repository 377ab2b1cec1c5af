-- What an agent must know to go on: efforts, and what belongs to them. All of
-- it is looked up by the agent or the session; without an effort nothing is here.

ALTER TABLE sessions ADD COLUMN context_window INTEGER;
ALTER TABLE sessions ADD COLUMN context_limit INTEGER;
ALTER TABLE sessions ADD COLUMN status_text TEXT;

CREATE TABLE efforts (
  row         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  task        INTEGER NOT NULL REFERENCES tasks (row) ON DELETE CASCADE,
  ordinal     INTEGER NOT NULL,
  agent       TEXT NOT NULL,
  skill       TEXT NOT NULL,
  session     TEXT,
  line        TEXT NOT NULL,
  phase       TEXT,
  loading     INTEGER NOT NULL,
  declared    TEXT,
  metadata    TEXT,
  files       TEXT,
  started_at  INTEGER NOT NULL,
  finished_at INTEGER,
  UNIQUE (task, ordinal)
);

CREATE INDEX efforts_active ON efforts (agent) WHERE finished_at IS NULL;

CREATE TABLE phase_history (
  seq      INTEGER PRIMARY KEY,
  effort   TEXT NOT NULL REFERENCES efforts (id) ON DELETE CASCADE,
  label    TEXT NOT NULL,
  at       INTEGER NOT NULL,
  approved TEXT
);

CREATE INDEX phase_history_by_effort ON phase_history (effort);

CREATE TABLE directives (
  effort   TEXT NOT NULL REFERENCES efforts (id) ON DELETE CASCADE,
  path     TEXT NOT NULL,
  required INTEGER NOT NULL,
  is_read  INTEGER NOT NULL,
  PRIMARY KEY (effort, path)
) WITHOUT ROWID;

CREATE INDEX directives_unread ON directives (effort) WHERE required = 1 AND is_read = 0;

-- Accounts wait for the next session of their agent, which takes them once.
CREATE TABLE accounts (
  seq     INTEGER PRIMARY KEY,
  agent   TEXT NOT NULL,
  session TEXT NOT NULL,
  effort  TEXT,
  line    TEXT NOT NULL,
  at      INTEGER NOT NULL,
  body    TEXT NOT NULL,
  told_in TEXT
);

CREATE INDEX accounts_waiting ON accounts (agent) WHERE told_in IS NULL;

CREATE TABLE counters (
  session      TEXT NOT NULL,
  sub_agent    TEXT NOT NULL,
  since_log    INTEGER NOT NULL,
  calls        INTEGER NOT NULL,
  unread_calls INTEGER NOT NULL,
  last_edit    TEXT,
  folders      TEXT,
  told         TEXT,
  PRIMARY KEY (session, sub_agent)
) WITHOUT ROWID;

CREATE TABLE sub_sessions (
  session      TEXT NOT NULL,
  sub_agent    TEXT NOT NULL,
  kind         TEXT NOT NULL,
  effort       TEXT,
  started_at   INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  ended_at     INTEGER,
  files        TEXT,
  PRIMARY KEY (session, sub_agent)
) WITHOUT ROWID;

CREATE TABLE errands (
  seq       INTEGER PRIMARY KEY,
  agent     TEXT NOT NULL,
  project   TEXT NOT NULL,
  words     TEXT NOT NULL,
  at        INTEGER NOT NULL,
  said      TEXT NOT NULL,
  refused   TEXT,
  collected INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX errands_by_words ON errands (words, at);
CREATE INDEX errands_by_at ON errands (at);

-- What is counted for a session goes with it.
CREATE TRIGGER sessions_forgotten AFTER DELETE ON sessions BEGIN
  DELETE FROM counters WHERE session = old.id;
  DELETE FROM sub_sessions WHERE session = old.id;
END;

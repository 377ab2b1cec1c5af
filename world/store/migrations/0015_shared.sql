-- What this machine knows of a queue, a fleet and a record on a server. All of it is empty, and costs a hook nothing,
-- until a project is shared. Events need no outbox: `events.seq` rises in the order of commits, so a cursor in `meta`
-- says what was sent.

-- A copy of a task whose queue is on a server, made by the claim. Its lease is the server's to end: here it never is over.
ALTER TABLE tasks ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;

-- Where the newest attempt on such a copy stands there.
CREATE TABLE shared_holds (
  task       INTEGER PRIMARY KEY REFERENCES tasks (row) ON DELETE CASCADE,
  -- The server's own id, and what the queue is called there.
  server     TEXT NOT NULL,
  queue      TEXT NOT NULL,
  id         INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  claim      TEXT NOT NULL UNIQUE,
  -- When the last claim or renewal that the server confirmed was sent, on the clock that goes on while the machine
  -- sleeps, and of which boot: from then on the lease is sure to last, less a margin.
  confirmed  INTEGER NOT NULL,
  boot       TEXT NOT NULL,
  -- How long the lease is by the server's word. What its holder wants is in `tasks` until the server has heard of it.
  lease_ms   INTEGER NOT NULL,
  -- held; leaving: what becomes of it waits in the outbox; over: the server has heard of it, or gave it to another.
  state      TEXT NOT NULL,
  -- Its agent was told that the lease may be over.
  told       INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Claims that were drawn here and of which it is not known whether they were made: only such a one is given back when the
-- server has it and nobody here does. A copy of this folder has drawn none of those that are made after it.
CREATE TABLE drawn_claims (
  claim  TEXT PRIMARY KEY,
  -- Where it was to be made.
  server TEXT NOT NULL,
  queue  TEXT NOT NULL,
  at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is to be said to a server, written in the transaction of the hook or command that had it to say, sent in this
-- order, gone when it has answered. kind: turn, message. The key makes a repetition one.
CREATE TABLE outbox (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  server TEXT NOT NULL,
  queue  TEXT NOT NULL,
  kind   TEXT NOT NULL,
  key    TEXT NOT NULL,
  body   TEXT NOT NULL,
  -- A message of this machine that is due when the server has agreed, as JSON.
  report TEXT,
  agent  TEXT,
  at     INTEGER NOT NULL,
  tries  INTEGER NOT NULL DEFAULT 0,
  UNIQUE (kind, key)
) STRICT;

-- What a server would not take: the result is not lost with it.
CREATE TABLE refused_turns (
  seq     INTEGER PRIMARY KEY,
  at      INTEGER NOT NULL,
  queue   TEXT NOT NULL,
  slug    TEXT NOT NULL,
  agent   TEXT,
  attempt INTEGER NOT NULL,
  outcome TEXT,
  result  TEXT,
  why     TEXT NOT NULL
) STRICT;

-- Messages on their way in: seen on the server, not yet known to be ours alone. In the server's order: their ids are drawn by
-- whoever wrote them.
CREATE TABLE arriving_messages (
  seq    INTEGER PRIMARY KEY,
  id     TEXT NOT NULL UNIQUE,
  server TEXT NOT NULL,
  body   TEXT NOT NULL
) STRICT;

-- What was last heard of the agents of other machines, for views and for `taut send`.
CREATE TABLE remote_agents (
  server   TEXT NOT NULL,
  machine  TEXT NOT NULL,
  agent    TEXT NOT NULL,
  label    TEXT NOT NULL,
  row      TEXT NOT NULL,
  -- Of this machine's clock, less the age that the server told.
  heard_at INTEGER NOT NULL,
  PRIMARY KEY (server, machine, agent)
) STRICT, WITHOUT ROWID;

-- Answers to cards that came over a server and are this machine's to judge, and what became of answers given here. In the same
-- order: whoever has read one can write another that names it, and no first word is heard after such.
CREATE TABLE settled_answers (
  seq    INTEGER PRIMARY KEY,
  id     TEXT NOT NULL UNIQUE,
  server TEXT NOT NULL,
  kind   TEXT NOT NULL,
  body   TEXT NOT NULL
) STRICT;

-- Answers that were given here to cards of other machines, and what those said of them.
CREATE TABLE sent_answers (
  nonce   TEXT PRIMARY KEY,
  card    TEXT NOT NULL,
  machine TEXT NOT NULL,
  agent   TEXT NOT NULL,
  at      INTEGER NOT NULL,
  -- NULL until its machine has said so.
  taken   INTEGER,
  said    TEXT
) STRICT, WITHOUT ROWID;

-- Machines whose people's answers count here, by their keys. Written by people alone.
CREATE TABLE trusted_machines (
  machine TEXT PRIMARY KEY,
  label   TEXT NOT NULL,
  key     TEXT NOT NULL,
  user    TEXT NOT NULL,
  at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What the repository last called its queue, so that what was recorded then is sent also while another branch is checked out.
ALTER TABLE projects ADD COLUMN queue TEXT;

-- Numbers of events are never given again: who was told of all up to one of them would take what comes under it later for
-- something it has. `meta.events.last` is the highest that was given where that event is gone.
CREATE TRIGGER events_numbers AFTER DELETE ON events WHEN old.seq > ifnull((SELECT max(seq) FROM events), 0) BEGIN
  INSERT INTO meta (name, value) VALUES ('events.last', old.seq)
    ON CONFLICT (name) DO UPDATE SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER));
END;

-- Runs of the loop and their iterations: what a loop that was killed left off with.
CREATE TABLE runs (
  id             TEXT PRIMARY KEY,
  project        TEXT NOT NULL,
  folder         TEXT NOT NULL,
  mode           TEXT NOT NULL,
  agent          TEXT,
  runner_pid     INTEGER NOT NULL,
  runner_started INTEGER NOT NULL,
  leader_pid     INTEGER,
  leader_started INTEGER,
  base           TEXT,
  branch         TEXT,
  started_at     INTEGER NOT NULL,
  iterations     INTEGER NOT NULL DEFAULT 0,
  failures       INTEGER NOT NULL DEFAULT 0,
  idle           INTEGER NOT NULL DEFAULT 0,
  skips          INTEGER NOT NULL DEFAULT 0,
  transients     INTEGER NOT NULL DEFAULT 0,
  commits        INTEGER NOT NULL DEFAULT 0,
  cost_micros    INTEGER NOT NULL DEFAULT 0,
  last_exit      INTEGER,
  last_ms        INTEGER NOT NULL DEFAULT 0,
  finish         TEXT,
  finished_at    INTEGER
) STRICT;

CREATE INDEX runs_unfinished ON runs (folder) WHERE finished_at IS NULL;

CREATE TABLE iterations (
  seq         INTEGER PRIMARY KEY,
  run         TEXT NOT NULL,
  number      INTEGER NOT NULL,
  started_at  INTEGER NOT NULL,
  ended_at    INTEGER NOT NULL,
  exit        INTEGER,
  commits     INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  outcome     TEXT NOT NULL,
  log         TEXT NOT NULL
) STRICT;

CREATE INDEX iterations_of_run ON iterations (run, number);

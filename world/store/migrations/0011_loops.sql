-- A run that can be looked at, spoken to and gone on with; work that is proven before it is done; branches that are merged.

ALTER TABLE runs ADD COLUMN parent TEXT;
ALTER TABLE runs ADD COLUMN task TEXT;
ALTER TABLE runs ADD COLUMN asked TEXT;
ALTER TABLE runs ADD COLUMN proves INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN why TEXT;
ALTER TABLE runs ADD COLUMN logs TEXT;
ALTER TABLE runs ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN same_failure INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN last_failure TEXT;
ALTER TABLE runs ADD COLUMN state TEXT NOT NULL DEFAULT 'starting';
ALTER TABLE runs ADD COLUMN wait_until INTEGER;
ALTER TABLE runs ADD COLUMN waits_for TEXT;
ALTER TABLE runs ADD COLUMN now_task TEXT;
ALTER TABLE runs ADD COLUMN tool TEXT;
ALTER TABLE runs ADD COLUMN said TEXT;
-- What ends it, as JSON; and what was last counted of its work.
ALTER TABLE runs ADD COLUMN limits TEXT;
ALTER TABLE runs ADD COLUMN work_done INTEGER;
ALTER TABLE runs ADD COLUMN work_left INTEGER;
-- What somebody outside asked for; whoever carries it out takes it away. Never written with the row itself.
ALTER TABLE runs ADD COLUMN wish TEXT;

CREATE INDEX attempts_of_agent ON attempts (agent, ended_at) WHERE ended_at IS NOT NULL;

CREATE INDEX runs_of_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE INDEX runs_by_project ON runs (project, started_at);
CREATE INDEX runs_of_agent ON runs (agent) WHERE agent IS NOT NULL AND finished_at IS NULL;

ALTER TABLE iterations ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE iterations ADD COLUMN task TEXT;
ALTER TABLE iterations ADD COLUMN said TEXT;
ALTER TABLE iterations ADD COLUMN denied TEXT;
ALTER TABLE iterations ADD COLUMN failure TEXT;
ALTER TABLE iterations ADD COLUMN before_commit TEXT;
ALTER TABLE iterations ADD COLUMN after_commit TEXT;

-- The command that proves this task, in place of the project's.
ALTER TABLE tasks ADD COLUMN verify TEXT;
-- The agent said that it is done, and with what; it stays active until that is proven.
ALTER TABLE tasks ADD COLUMN proposed_at INTEGER;
ALTER TABLE tasks ADD COLUMN proposed_result TEXT;
-- The proof passed; whoever merges the work confirms it.
ALTER TABLE tasks ADD COLUMN proven INTEGER NOT NULL DEFAULT 0;

-- The branch and work tree that a task is worked on in, until it is merged.
CREATE TABLE task_branches (
  task       INTEGER PRIMARY KEY REFERENCES tasks (row) ON DELETE CASCADE,
  run        TEXT NOT NULL,
  branch     TEXT NOT NULL,
  folder     TEXT NOT NULL,
  base       TEXT NOT NULL,
  -- working, merging, conflict, kept
  state      TEXT NOT NULL,
  -- How often a merge of it met a conflict.
  tries      INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX task_branches_of_run ON task_branches (run);

-- The queue. Eligibility is materialised in `open_blockers` and `ready_at`,
-- written by whoever changes it, so that a claim is one look into one index.

CREATE TABLE tasks (
  row           INTEGER PRIMARY KEY,
  project       TEXT NOT NULL REFERENCES projects (path),
  slug          TEXT NOT NULL,
  title         TEXT NOT NULL,
  description   TEXT,
  category      TEXT,
  priority      INTEGER NOT NULL,
  -- NULL for a task that only owns a folder and was never queued.
  status        TEXT,
  folder        TEXT,
  spec          TEXT,
  ref           TEXT,
  result        TEXT,
  -- Who has it: all of these are set exactly while it is active.
  agent         TEXT,
  session       TEXT,
  lease_until   INTEGER,
  lease_ms      INTEGER,
  renewed_at    INTEGER,
  attempt       INTEGER NOT NULL DEFAULT 0,
  retry_count   INTEGER NOT NULL DEFAULT 0,
  failures      INTEGER NOT NULL DEFAULT 0,
  releases      INTEGER NOT NULL DEFAULT 0,
  fail_reason   TEXT,
  -- Zero when there is nothing to wait for; a rest that is over is set to zero by the next claim.
  ready_at      INTEGER NOT NULL DEFAULT 0,
  open_blockers INTEGER NOT NULL DEFAULT 0,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  deleted_at    INTEGER,
  UNIQUE (project, slug)
);

CREATE INDEX tasks_ready ON tasks (project, priority, created_at, row)
  WHERE status = 'open' AND open_blockers = 0 AND ready_at = 0;
CREATE INDEX tasks_resting ON tasks (ready_at) WHERE status = 'open' AND ready_at > 0;
CREATE INDEX tasks_lapsing ON tasks (lease_until) WHERE status = 'active';
CREATE INDEX tasks_of_agent ON tasks (agent) WHERE status = 'active';
CREATE INDEX tasks_of_session ON tasks (session) WHERE status = 'active' AND session IS NOT NULL;
CREATE INDEX tasks_by_status ON tasks (project, status, priority, created_at);
CREATE INDEX tasks_by_spec ON tasks (project, spec) WHERE spec IS NOT NULL;

CREATE TABLE task_deps (
  task    INTEGER NOT NULL REFERENCES tasks (row) ON DELETE CASCADE,
  blocker INTEGER NOT NULL REFERENCES tasks (row) ON DELETE CASCADE,
  PRIMARY KEY (task, blocker)
) WITHOUT ROWID;

CREATE INDEX task_deps_by_blocker ON task_deps (blocker);

CREATE TABLE task_steps (
  task    INTEGER NOT NULL REFERENCES tasks (row) ON DELETE CASCADE,
  seq     INTEGER NOT NULL,
  content TEXT NOT NULL,
  done    INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (task, seq)
) WITHOUT ROWID;

CREATE TABLE attempts (
  task          INTEGER NOT NULL REFERENCES tasks (row) ON DELETE CASCADE,
  number        INTEGER NOT NULL,
  agent         TEXT NOT NULL,
  session       TEXT,
  -- The leader of the process group that Taut started for it.
  group_pid     INTEGER,
  group_started INTEGER,
  claimed_at    INTEGER NOT NULL,
  ended_at      INTEGER,
  outcome       TEXT,
  reason        TEXT,
  PRIMARY KEY (task, number)
) WITHOUT ROWID;

-- Workers that said who they are. Apart from `agents`, which every hook event
-- writes and which forgets: a registration ends by word or by death alone.
CREATE TABLE workers (
  id            TEXT PRIMARY KEY,
  project       TEXT NOT NULL,
  pid           INTEGER NOT NULL,
  started       INTEGER NOT NULL,
  host          TEXT NOT NULL,
  registered_at INTEGER NOT NULL,
  ended_at      INTEGER
) WITHOUT ROWID;

CREATE INDEX workers_alive ON workers (project) WHERE ended_at IS NULL;

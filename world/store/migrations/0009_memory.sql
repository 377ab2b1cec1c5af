-- What an effort is about in the words of its first prompt, and how it ended:
-- `finished`, `declined` (somebody said no to going on with it) or `stale`.
ALTER TABLE efforts ADD COLUMN title TEXT;
ALTER TABLE efforts ADD COLUMN end_reason TEXT;

-- What is unfinished in a project is looked for when a session starts in it.
ALTER TABLE efforts ADD COLUMN project TEXT;
UPDATE efforts SET project = (SELECT project FROM tasks WHERE tasks.row = efforts.task);
CREATE INDEX efforts_unfinished ON efforts (project) WHERE finished_at IS NULL;

-- A client that begins another session goes on being the agent it was.
CREATE INDEX sessions_ended_by_client ON sessions (client_pid, ended_at)
  WHERE ended_at IS NOT NULL AND client_pid IS NOT NULL;

-- One whose client died without a word is looked for in its project.
CREATE INDEX sessions_open_in_project ON sessions (project) WHERE ended_at IS NULL AND client_pid IS NOT NULL;

-- A hand-over note stays until a newer one of its agent takes its place; where
-- nobody's session follows, it is offered to others of its project until closed.
ALTER TABLE accounts ADD COLUMN project TEXT;
ALTER TABLE accounts ADD COLUMN conversation TEXT;
ALTER TABLE accounts ADD COLUMN title TEXT;
ALTER TABLE accounts ADD COLUMN closed_at INTEGER;
-- Only what is unfinished is offered.
ALTER TABLE accounts ADD COLUMN unfinished INTEGER NOT NULL DEFAULT 0;

DROP INDEX accounts_waiting;
CREATE INDEX accounts_by_agent ON accounts (agent, seq);
CREATE INDEX accounts_offered ON accounts (project, seq) WHERE closed_at IS NULL;

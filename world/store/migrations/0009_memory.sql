-- What an effort is about in the words of its first prompt, and how it ended:
-- `finished`, `declined` (somebody said no to going on with it) or `stale`.
ALTER TABLE efforts ADD COLUMN title TEXT;
ALTER TABLE efforts ADD COLUMN end_reason TEXT;

-- A hand-over note stays until a newer one of its agent takes its place; where
-- nobody's session follows, it is offered to others of its project until closed.
ALTER TABLE accounts ADD COLUMN project TEXT;
ALTER TABLE accounts ADD COLUMN conversation TEXT;
ALTER TABLE accounts ADD COLUMN title TEXT;
ALTER TABLE accounts ADD COLUMN closed_at INTEGER;

DROP INDEX accounts_waiting;
CREATE INDEX accounts_by_agent ON accounts (agent, seq);
CREATE INDEX accounts_offered ON accounts (project, seq) WHERE closed_at IS NULL;

-- What a claim was given to prove that it is its own: 128 random bits, NULL for
-- attempts from before there were any. Kept as given: who can read this file,
-- which is private to its user, can also write it, so a hash would hide nothing.
ALTER TABLE attempts ADD COLUMN token TEXT;

-- Which agent a command runs within is asked by the processes above it.
CREATE INDEX sessions_open_by_client ON sessions (client_pid) WHERE ended_at IS NULL AND client_pid IS NOT NULL;

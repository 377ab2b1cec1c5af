-- A message may be for a conversation: whichever session carries it is told.
ALTER TABLE messages ADD COLUMN to_conversation TEXT;
-- When and how often an idle agent was woken for it.
ALTER TABLE messages ADD COLUMN woken_at INTEGER;
ALTER TABLE messages ADD COLUMN wakes INTEGER NOT NULL DEFAULT 0;

CREATE INDEX messages_for_conversation ON messages (to_conversation)
  WHERE delivered_at IS NULL AND to_conversation IS NOT NULL;

CREATE INDEX sessions_by_conversation ON sessions (conversation);

-- What a refused line named is not there: its process ends with another code.
ALTER TABLE errands ADD COLUMN not_found INTEGER NOT NULL DEFAULT 0;

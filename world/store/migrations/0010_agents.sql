-- Which agent somebody is: what is left under a name is taken up by the same agent only.
ALTER TABLE agents ADD COLUMN dialect TEXT;
UPDATE agents SET dialect = (SELECT memo ->> '$.dialect' FROM sessions WHERE sessions.id = agents.session);

-- The agent that had the name when the message was written.
ALTER TABLE messages ADD COLUMN dialect TEXT;

-- Some agents give their helpers sessions of their own, and tell once whose they are.
CREATE INDEX sub_sessions_by_helper ON sub_sessions (sub_agent);

-- What people call the agents that nothing in their environment names. Beside `agents`, whose rows of such agents go a day
-- after they end: what they did is listed for longer, under the name they had. No hook reads it but where an agent appears.
CREATE TABLE agent_names (
  agent  TEXT PRIMARY KEY,
  name   TEXT NOT NULL,
  -- The same for names that are typed alike.
  key    TEXT NOT NULL,
  -- A person chose it.
  chosen INTEGER NOT NULL DEFAULT 0,
  at     INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX agent_names_by_key ON agent_names (key);

-- Those that are here already: their ids end with a mark of seven letters, and before it stands their project, cleaned.
WITH here AS (
  SELECT id, since, trim(substr(id, 1, min(length(id) - 8, 32)), '-_.') AS folder FROM agents
  WHERE named = 0 AND (session IS NOT NULL OR status = 'error') AND length(id) > 8 AND substr(id, -8, 1) = '-'
), told AS (
  SELECT id, since, CASE folder WHEN '' THEN 'agent' ELSE folder END AS folder FROM here
), counted AS (
  SELECT id, since, folder, row_number() OVER (PARTITION BY lower(folder) ORDER BY since, id) AS nth FROM told
)
INSERT INTO agent_names (agent, name, key, at)
  SELECT id, folder || CASE nth WHEN 1 THEN '' ELSE '·' || nth END,
         lower(folder) || CASE nth WHEN 1 THEN '' ELSE '·' || nth END, since FROM counted
  WHERE folder || CASE nth WHEN 1 THEN '' ELSE '·' || nth END NOT IN (SELECT id FROM agents);

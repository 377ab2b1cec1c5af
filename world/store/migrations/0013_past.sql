-- What happened on a day, summed from the events afterwards: a week is told without reading them all, and no hook
-- writes here. How far it has come stands in `meta` as `event_sums`.
CREATE TABLE event_sums (
  row     INTEGER PRIMARY KEY,
  -- Days since 1970 of the clock on the wall.
  day     INTEGER NOT NULL,
  -- Empty where an event belongs to none.
  session TEXT NOT NULL,
  agent   TEXT NOT NULL,
  kind    TEXT NOT NULL,
  -- The tool or the rule, by its kind.
  name    TEXT NOT NULL,
  count   INTEGER NOT NULL,
  ms      INTEGER NOT NULL,
  UNIQUE (day, session, agent, kind, name)
) STRICT;

-- What people decided about the guard, and when: the configuration says only what holds now.
CREATE TABLE policy_log (
  seq     INTEGER PRIMARY KEY,
  at      INTEGER NOT NULL,
  who     TEXT NOT NULL,
  kind    TEXT NOT NULL,
  -- The rule, the code, the pack, the preset or the project it is about.
  subject TEXT NOT NULL,
  -- What of it: a path, the words of a command, an agent.
  scope   TEXT NOT NULL,
  until   INTEGER,
  reason  TEXT
) STRICT;

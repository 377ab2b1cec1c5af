-- What agents ask of a person, while somebody holds it open to be answered from elsewhere.
CREATE TABLE cards (
  id             TEXT PRIMARY KEY,
  at             INTEGER NOT NULL,
  session        TEXT NOT NULL,
  agent          TEXT NOT NULL,
  project        TEXT,
  dialect        TEXT NOT NULL,
  client_pid     INTEGER NOT NULL,
  client_started INTEGER NOT NULL,
  holder_pid     INTEGER NOT NULL,
  holder_started INTEGER NOT NULL,
  kind           TEXT NOT NULL,
  tool           TEXT NOT NULL,
  -- Of the exact input, which is nowhere but with the holder.
  digest         TEXT NOT NULL,
  shown          TEXT NOT NULL,
  state          TEXT NOT NULL,
  answer         TEXT,
  answered_by    TEXT,
  answered_where TEXT,
  answered_at    INTEGER,
  ended_at       INTEGER
) WITHOUT ROWID;

CREATE INDEX cards_by_end ON cards (ended_at, session);

-- What a session said last, changed and cost, for whoever looks at it: beside its row, which every hook writes.
CREATE TABLE session_facts (
  session     TEXT PRIMARY KEY,
  -- An event told the last words.
  words_told  INTEGER NOT NULL DEFAULT 0,
  model       TEXT,
  cost_usd    REAL,
  -- Reckoned from tokens, not told.
  cost_estimated INTEGER NOT NULL DEFAULT 0,
  tokens_in   INTEGER,
  tokens_out  INTEGER,
  tokens_cached INTEGER,
  branch      TEXT,
  -- Where its work tree stood when the session began, and its files where not all of them were committed.
  tree        TEXT,
  base_commit TEXT,
  base_files  TEXT,
  files       INTEGER,
  added       INTEGER,
  removed     INTEGER,
  diff_note   TEXT,
  -- The last tool that failed and whose failure nothing has followed yet.
  failed_tool TEXT,
  updated_at  INTEGER NOT NULL,
  -- The only one that is long: whoever reads the others does not read over it.
  last_words  TEXT
) WITHOUT ROWID;

CREATE INDEX session_facts_by_tree ON session_facts (tree);

-- Sessions whose client died without a word, which may have left work that nobody wrote down.
CREATE INDEX sessions_lost_in_project ON sessions (project)
  WHERE end_reason IN ('client_gone', 'orphaned', 'pane_reused');

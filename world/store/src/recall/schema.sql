-- What can be recalled, made of the memory's rows and made again from them at any
-- time. A change of this file is a new `VERSION`: an older index is thrown away.

CREATE TABLE projects (
  id   INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  -- Its memory is switched off: nothing of it is shown.
  off  INTEGER NOT NULL DEFAULT 0
);

-- How far each table of the memory was read: the last row's number, and what
-- tells whether it is still that row, since numbers may be given again.
CREATE TABLE cursors (
  source TEXT PRIMARY KEY,
  seq    INTEGER NOT NULL,
  mark   TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE entries (
  id      INTEGER PRIMARY KEY,
  -- Which row it was made of: the same row is one entry, however often it is read.
  source  TEXT NOT NULL UNIQUE,
  kind    TEXT NOT NULL,
  at      INTEGER NOT NULL,
  project INTEGER,
  agent   TEXT NOT NULL,
  session TEXT,
  -- Of the text, so that the same text is not listed twice.
  digest  INTEGER NOT NULL
);

CREATE INDEX entries_by_project ON entries (project, id);
CREATE INDEX entries_by_session ON entries (session) WHERE session IS NOT NULL;
CREATE INDEX entries_by_at ON entries (at);

-- `parts` holds the pieces of identifiers, `scope` one word each for project and
-- kind, so that a search in one project does not look at all others.
CREATE VIRTUAL TABLE words USING fts5 (
  text, parts, scope, tokenize = 'porter unicode61 remove_diacritics 2', prefix = '2 3'
);

INSERT INTO words (words, rank) VALUES ('secure-delete', 1);

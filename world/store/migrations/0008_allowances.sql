-- What a person let through once: `rule/<id>`, or `call/<digest>` for exactly that call.
CREATE TABLE allowances (
  what       TEXT NOT NULL PRIMARY KEY,
  allowed_by TEXT NOT NULL,
  at         INTEGER NOT NULL
) WITHOUT ROWID;

-- They stood among the strikes, under a name that a session could have.
DELETE FROM strikes WHERE session = '*';

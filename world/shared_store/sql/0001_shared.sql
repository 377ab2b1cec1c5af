-- The shared store, version 1. PostgreSQL 13 or later. `{s}` is the schema, `{agent}`, `{reader}` the two roles.
-- Run by the owner in one transaction, after the schema and `meta` (name, value) were made, where `version` is of the
-- schema and `oldest` the oldest client version that may still write. No extension, no trigger, no superuser.

-- `id` is the server's own: what a machine keeps is bound to it and not to an address.
INSERT INTO {s}.meta VALUES ('oldest', '1'), ('keep_events_days', '90'), ('id', gen_random_uuid()::text);

CREATE TABLE {s}.machines (
  id       uuid PRIMARY KEY,
  label    text NOT NULL,
  -- New with every start of a daemon: two of them alive under one id are a copied home. None until a daemon spoke.
  instance uuid,
  -- How often its daemon had started, by its own count: a machine that tells fewer was restored from a snapshot.
  starts   int NOT NULL DEFAULT 0,
  build    text NOT NULL,
  speaks   int NOT NULL,
  -- By which its people's answers are known, where another machine's people trust it.
  key      text,
  by       name NOT NULL DEFAULT current_user,
  seen_at  timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);

CREATE TABLE {s}.projects (
  id         int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Presence: written by the daemon of the machine the agent runs on, whole rows, at most once a second.
CREATE TABLE {s}.agents (
  machine      uuid NOT NULL REFERENCES {s}.machines ON DELETE CASCADE,
  id           text NOT NULL,
  named        boolean NOT NULL,
  -- What people call it there, and which client it is.
  name         text,
  client       text,
  project      int REFERENCES {s}.projects,
  status       text NOT NULL,
  session      text,
  conversation text,
  task         text,
  now_does     text,
  -- What it asks of a person, who answers on its machine.
  asks         text,
  -- The same as far as it can be answered from elsewhere: short, redacted, and no proof of anything.
  card         text,
  context      smallint,
  since        timestamptz NOT NULL,
  by           name NOT NULL DEFAULT current_user,
  seen_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (machine, id)
) WITH (fillfactor = 70);

CREATE TABLE {s}.tasks (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project       int NOT NULL REFERENCES {s}.projects,
  priority      smallint NOT NULL DEFAULT 2 CHECK (priority BETWEEN 0 AND 3),
  status        text NOT NULL DEFAULT 'open'
                CHECK (status IN ('open', 'active', 'done', 'quarantined', 'deleted')),
  open_blockers int NOT NULL DEFAULT 0 CHECK (open_blockers >= 0),
  -- The fence. Rises with every claim and never falls.
  attempt       int NOT NULL DEFAULT 0 CHECK (attempt >= 0),
  retry_count   int NOT NULL DEFAULT 0 CHECK (retry_count >= 0),
  failures      int NOT NULL DEFAULT 0 CHECK (failures >= 0),
  releases      int NOT NULL DEFAULT 0 CHECK (releases >= 0),
  lease_ms      int,
  -- In no index and no predicate: a renewal is a HOT update.
  lease_until   timestamptz,
  renewed_at    timestamptz,
  -- A server that was away gives every lease one grace until its next renewal, and not one for every start.
  graced        boolean NOT NULL DEFAULT false,
  -- NULL when there is nothing to wait for; a rest that is over is ended by `wake`.
  ready_at      timestamptz,
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  deleted_at    timestamptz,
  -- Who has it: set exactly while it is active. `claim` is drawn by the claimant: the second half of the fence,
  -- which a failover that lost commits cannot give out twice, and the key that makes a claim repeatable.
  machine       uuid,
  claim         uuid,
  agent         text,
  session       text,
  slug          text NOT NULL,
  title         text NOT NULL,
  category      text,
  spec          text,
  ref           text,
  description   text,
  steps         jsonb CHECK (jsonb_typeof(steps) = 'array'),
  fail_reason   text,
  result        jsonb,
  UNIQUE (project, slug),
  CHECK ((status = 'active') = (machine IS NOT NULL AND claim IS NOT NULL AND agent IS NOT NULL
                                AND lease_until IS NOT NULL AND lease_ms IS NOT NULL))
) WITH (fillfactor = 80,
        autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
        autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1);

-- The order of claims. `project + 0`, as the claim asks for it, so that no other index answers it: where the server last
-- looked at a table that was all but empty, it would take any of them, read the whole project and sort it.
CREATE INDEX tasks_ready ON {s}.tasks ((project + 0), priority, created_at, id)
  WHERE status = 'open' AND open_blockers = 0 AND ready_at IS NULL;
CREATE INDEX tasks_resting ON {s}.tasks (ready_at) WHERE status = 'open' AND ready_at IS NOT NULL;
-- As many rows as there are agents: what has lapsed is found by reading all of it.
CREATE INDEX tasks_active ON {s}.tasks (machine) WHERE status = 'active';
CREATE INDEX tasks_unfinished ON {s}.tasks (project, status) WHERE status IN ('open', 'quarantined');
CREATE INDEX tasks_by_spec ON {s}.tasks (project, spec) WHERE spec IS NOT NULL;

CREATE TABLE {s}.task_deps (
  task    bigint NOT NULL REFERENCES {s}.tasks ON DELETE CASCADE,
  blocker bigint NOT NULL REFERENCES {s}.tasks ON DELETE CASCADE,
  PRIMARY KEY (task, blocker)
);
CREATE INDEX task_deps_by_blocker ON {s}.task_deps (blocker);

CREATE TABLE {s}.attempts (
  task       bigint NOT NULL REFERENCES {s}.tasks ON DELETE CASCADE,
  number     int NOT NULL,
  -- The same claim sent twice is one claim.
  claim      uuid NOT NULL UNIQUE,
  machine    uuid NOT NULL,
  agent      text NOT NULL,
  session    text,
  by         name NOT NULL DEFAULT current_user,
  claimed_at timestamptz NOT NULL,
  ended_at   timestamptz,
  outcome    text CHECK (outcome IN ('done', 'failed', 'released', 'expired')),
  reason     text,
  PRIMARY KEY (task, number)
) WITH (fillfactor = 90);

CREATE TABLE {s}.messages (
  seq             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id              uuid NOT NULL UNIQUE,
  at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind            text NOT NULL,
  from_machine    uuid NOT NULL,
  from_agent      text,
  by              name NOT NULL DEFAULT current_user,
  to_machine      uuid,
  to_agent        text,
  to_conversation text,
  body            text NOT NULL CHECK (length(body) <= 16000),
  fetched_by      uuid,
  fetched_at      timestamptz,
  CHECK ((to_machine IS NOT NULL AND to_agent IS NOT NULL) <> (to_conversation IS NOT NULL))
);
CREATE INDEX messages_waiting ON {s}.messages (to_machine, seq) WHERE fetched_at IS NULL AND to_machine IS NOT NULL;
CREATE INDEX messages_talking ON {s}.messages (to_conversation, seq) WHERE fetched_at IS NULL AND to_conversation IS NOT NULL;

-- The record. `id` is the event's own (UUIDv7, drawn on its machine), `at` that machine's clock, `stored_at` the server's.
CREATE TABLE {s}.events (
  at        timestamptz NOT NULL,
  machine   uuid NOT NULL,
  id        uuid NOT NULL,
  seq       bigint NOT NULL,
  project   int NOT NULL,
  agent     text NOT NULL,
  session   text,
  -- The client's own name of the session, by which its telemetry is joined.
  host_session text,
  sub_agent text,
  event     text NOT NULL,
  tool      text,
  verdict   text NOT NULL,
  micros    bigint NOT NULL,
  rules     jsonb,
  reason    text,
  detail    jsonb,
  by        name NOT NULL DEFAULT current_user,
  stored_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Without the machine: of a copied home both send what was unsent when it was copied.
  PRIMARY KEY (id, at)
) PARTITION BY RANGE (at);
CREATE INDEX events_of_project ON {s}.events (project, at);
CREATE INDEX events_of_session ON {s}.events (session, at) WHERE session IS NOT NULL;
CREATE INDEX events_denied ON {s}.events (project, at) WHERE verdict = 'deny';
CREATE TABLE {s}.events_rest PARTITION OF {s}.events DEFAULT;

-- Whose record a role may read besides writing its own: a role, or one that it is a member of, and a project. Written by
-- the owner alone.
CREATE TABLE {s}.record_grants (
  reader  name NOT NULL,
  project int NOT NULL REFERENCES {s}.projects ON DELETE CASCADE,
  PRIMARY KEY (reader, project)
);

-- Members append to the record and read of it what they were granted; readers read all of it. The rows of a table are
-- checked only where they are asked for through it, so nobody has a right on a partition, and each of them is closed
-- besides: it has no policy, so only its owner, which `tend` is, sees rows of it.
ALTER TABLE {s}.events ENABLE ROW LEVEL SECURITY;
ALTER TABLE {s}.events_rest ENABLE ROW LEVEL SECURITY;
CREATE POLICY members_append ON {s}.events FOR INSERT TO {agent} WITH CHECK (true);
CREATE POLICY readers_read ON {s}.events FOR SELECT TO {reader} USING (true);
CREATE POLICY granted_read ON {s}.events FOR SELECT TO {agent} USING (project IN (
  SELECT g.project FROM {s}.record_grants g JOIN pg_catalog.pg_roles r ON r.rolname = g.reader
  WHERE pg_catalog.pg_has_role(r.oid, 'member')));

-- Makes this month's and the next two partitions, takes into them what waited in the rest, and drops what is older than
-- kept. The one function: members may not make tables. Called by any daemon once a day.
CREATE FUNCTION {s}.tend() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $tend$
DECLARE
  month timestamptz := date_trunc('month', clock_timestamp());
  keep  timestamptz := clock_timestamp() - make_interval(days => (SELECT value::int FROM {s}.meta WHERE name = 'keep_events_days'));
  part  text;
BEGIN
  PERFORM 1 FROM {s}.meta WHERE name = 'version' FOR UPDATE;
  FOR i IN 0..2 LOOP
    part := 'events_' || to_char(month, 'YYYYMM');
    IF to_regclass(format('%I.%I', '{s}', part)) IS NULL THEN
      EXECUTE format('CREATE TABLE %I.%I (LIKE %I.events INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', '{s}', part, '{s}');
      EXECUTE format('ALTER TABLE %I.%I ENABLE ROW LEVEL SECURITY', '{s}', part);
      EXECUTE format('WITH moved AS (DELETE FROM %I.events_rest WHERE at >= %L AND at < %L RETURNING *) INSERT INTO %I.%I SELECT * FROM moved',
                     '{s}', month, month + interval '1 month', '{s}', part);
      EXECUTE format('ALTER TABLE %I.events ATTACH PARTITION %I.%I FOR VALUES FROM (%L) TO (%L)', '{s}', '{s}', part, month, month + interval '1 month');
    END IF;
    month := month + interval '1 month';
  END LOOP;
  FOR part IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
              WHERE i.inhparent = to_regclass('{s}.events') AND c.relname ~ '^events_[0-9]{6}$'
                AND to_timestamp(right(c.relname, 6), 'YYYYMM') + interval '1 month' <= keep LOOP
    EXECUTE format('DROP TABLE %I.%I', '{s}', part);
  END LOOP;
  -- By when it was stored, where its machine's clock was far ahead.
  EXECUTE format('DELETE FROM %I.events_rest WHERE least(at, stored_at) < %L', '{s}', keep);
  DELETE FROM {s}.messages WHERE fetched_at < clock_timestamp() - interval '30 days' OR at < clock_timestamp() - interval '90 days';
  DELETE FROM {s}.machines WHERE seen_at < clock_timestamp() - interval '30 days';
END $tend$;
REVOKE ALL ON FUNCTION {s}.tend() FROM PUBLIC;

-- Members. Within a schema everybody may work on every task and see every agent; `by` is not theirs to write, so who
-- said or did something is the server's word; the record is append-only for them. Tables are named one by one: a right on
-- all of them would be one on the partitions of the record.
GRANT USAGE ON SCHEMA {s} TO {agent}, {reader};
GRANT SELECT ON {s}.meta, {s}.machines, {s}.projects, {s}.agents, {s}.tasks, {s}.task_deps, {s}.attempts, {s}.messages,
  {s}.record_grants, {s}.events TO {agent}, {reader};
GRANT EXECUTE ON FUNCTION {s}.tend() TO {agent};
GRANT INSERT (id, label, instance, starts, build, speaks, seen_at),
  UPDATE (label, instance, starts, build, speaks, key, seen_at) ON {s}.machines TO {agent};
GRANT INSERT (name) ON {s}.projects TO {agent};
-- A lock of a row needs the right to change something of it.
GRANT UPDATE (created_at) ON {s}.projects TO {agent};
GRANT INSERT (machine, id, named, name, client, project, status, session, conversation, task, now_does, asks, card, context,
  since, seen_at), UPDATE (named, name, client, project, status, session, conversation, task, now_does, asks, card, context,
  since, seen_at), DELETE
  ON {s}.agents TO {agent};
GRANT INSERT, UPDATE ON {s}.tasks TO {agent};
GRANT INSERT, DELETE ON {s}.task_deps TO {agent};
GRANT INSERT (task, number, claim, machine, agent, session, claimed_at), UPDATE (ended_at, outcome, reason)
  ON {s}.attempts TO {agent};
GRANT INSERT (id, kind, from_machine, from_agent, to_machine, to_agent, to_conversation, body),
  UPDATE (fetched_by, fetched_at) ON {s}.messages TO {agent};
GRANT INSERT (at, machine, id, seq, project, agent, session, host_session, sub_agent, event, tool, verdict, micros, rules,
  reason, detail) ON {s}.events TO {agent};
SELECT {s}.tend();

-- The shared store, version 1. PostgreSQL 13 or later. `{s}` is the schema, `{agent}`, `{reader}` the two roles.
-- Run by the owner in one transaction, after the schema and `meta` (name, value) were made, where `version` is of the
-- schema and `oldest` the oldest client version that may still write. No extension, no trigger, no superuser.

-- `id` is the server's own: what a machine keeps is bound to it and not to an address.
INSERT INTO {s}.meta VALUES ('oldest', '1'), ('keep_events_days', '90'), ('id', gen_random_uuid()::text);

-- What a member may write has bounds, all of them wider than those a client keeps: a row that nobody can read to its end, or
-- reckon with, would stop every machine that looks. Domains and no constraints of tables, for these are asked of every column
-- with every change: a claim would pay for the description.
CREATE DOMAIN {s}.moment AS timestamptz CHECK (isfinite(VALUE));
-- Counted no further than this (`turn`).
CREATE DOMAIN {s}.tally AS int CHECK (VALUE BETWEEN 0 AND 1000000);
-- One that is claimed no more, because the type ends there, is left out by every claim.
CREATE DOMAIN {s}.attempt_number AS int CHECK (VALUE >= 0);
CREATE DOMAIN {s}.task_priority AS smallint CHECK (VALUE BETWEEN 0 AND 3);
CREATE DOMAIN {s}.short_text AS text CHECK (octet_length(VALUE) <= 2000);
CREATE DOMAIN {s}.plain_text AS text CHECK (octet_length(VALUE) <= 131072);
CREATE DOMAIN {s}.long_text AS text CHECK (octet_length(VALUE) <= 1048576);
-- As a client reads it: not nested deeper, and no number that it has no room for.
CREATE DOMAIN {s}.json_value AS jsonb CHECK (octet_length(VALUE::text) <= 1048576
  AND NOT jsonb_path_exists(VALUE, '$.**{100 to last}')
  AND NOT jsonb_path_exists(VALUE, '$.** ? (@.type() == "number" && (@ > 1e300 || @ < -1e300))'));
-- Each a text, and whether it is done.
CREATE DOMAIN {s}.task_steps AS {s}.json_value CHECK (jsonb_typeof(VALUE) = 'array'
  AND NOT jsonb_path_exists(VALUE, 'strict $[*] ? (@.type() != "object")')
  AND NOT jsonb_path_exists(VALUE, '$[*] ? (!(@.content.type() == "string") || !(@.done.type() == "boolean"))'));

CREATE TABLE {s}.machines (
  id       uuid PRIMARY KEY,
  label    {s}.short_text NOT NULL,
  -- New with every start of a daemon: two of them alive under one id are a copied home. None until a daemon spoke.
  instance uuid,
  -- How often its daemon had started, by its own count: a machine that tells fewer was restored from a snapshot.
  starts   int NOT NULL DEFAULT 0,
  build    {s}.short_text NOT NULL,
  speaks   int NOT NULL,
  -- By which its people's answers are known, where another machine's people trust it.
  key      {s}.short_text,
  -- Whose it is: the role it connects as. Nobody writes another's name here (see the policies).
  by       name NOT NULL DEFAULT current_user,
  seen_at  {s}.moment NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);

CREATE TABLE {s}.projects (
  id         int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       {s}.short_text NOT NULL UNIQUE,
  created_at {s}.moment NOT NULL DEFAULT clock_timestamp()
);

-- Presence: written by the daemon of the machine the agent runs on, whole rows, at most once a second.
CREATE TABLE {s}.agents (
  machine      uuid NOT NULL REFERENCES {s}.machines ON DELETE CASCADE,
  id           {s}.short_text NOT NULL,
  named        boolean NOT NULL,
  -- What people call it there, and which client it is.
  name         {s}.short_text,
  client       {s}.short_text,
  project      int REFERENCES {s}.projects,
  status       {s}.short_text NOT NULL,
  session      {s}.short_text,
  conversation {s}.short_text,
  task         {s}.short_text,
  now_does     {s}.short_text,
  -- What it asks of a person, who answers on its machine.
  asks         {s}.short_text,
  -- The same as far as it can be answered from elsewhere: short, redacted, and no proof of anything.
  card         {s}.plain_text,
  context      smallint,
  since        {s}.moment NOT NULL,
  by           name NOT NULL DEFAULT current_user,
  seen_at      {s}.moment NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (machine, id)
) WITH (fillfactor = 70);

CREATE TABLE {s}.tasks (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project       int NOT NULL REFERENCES {s}.projects,
  priority      {s}.task_priority NOT NULL DEFAULT 2,
  status        text NOT NULL DEFAULT 'open'
                CHECK (status IN ('open', 'active', 'done', 'quarantined', 'deleted')),
  open_blockers int NOT NULL DEFAULT 0 CHECK (open_blockers >= 0),
  -- The fence. Rises with every claim and never falls.
  attempt       {s}.attempt_number NOT NULL DEFAULT 0,
  retry_count   {s}.tally NOT NULL DEFAULT 0,
  failures      {s}.tally NOT NULL DEFAULT 0,
  releases      {s}.tally NOT NULL DEFAULT 0,
  lease_ms      int,
  -- In no index and no predicate: a renewal is a HOT update.
  lease_until   {s}.moment,
  renewed_at    {s}.moment,
  -- A server that was away gives every lease one grace until its next renewal, and not one for every start.
  graced        boolean NOT NULL DEFAULT false,
  -- NULL when there is nothing to wait for; a rest that is over is ended by `wake`.
  ready_at      {s}.moment,
  created_at    {s}.moment NOT NULL DEFAULT clock_timestamp(),
  updated_at    {s}.moment NOT NULL DEFAULT clock_timestamp(),
  deleted_at    {s}.moment,
  -- Who has it: set exactly while it is active. `claim` is drawn by the claimant: the second half of the fence,
  -- which a failover that lost commits cannot give out twice, and the key that makes a claim repeatable.
  machine       uuid,
  claim         uuid,
  agent         {s}.plain_text,
  session       {s}.plain_text,
  slug          {s}.short_text NOT NULL,
  title         {s}.plain_text NOT NULL,
  category      {s}.plain_text,
  spec          {s}.plain_text,
  ref           {s}.plain_text,
  description   {s}.long_text,
  steps         {s}.task_steps,
  fail_reason   {s}.plain_text,
  result        {s}.json_value,
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
CREATE INDEX tasks_resting ON {s}.tasks ((project + 0), ready_at) WHERE status = 'open' AND ready_at IS NOT NULL;
-- As many rows as there are agents: what has lapsed is found by reading all of it.
CREATE INDEX tasks_active ON {s}.tasks (machine) WHERE status = 'active';
CREATE INDEX tasks_unfinished ON {s}.tasks (project, status) WHERE status IN ('open', 'quarantined');
-- Counted by every look of a loop, and never read: no more than the index is.
CREATE INDEX tasks_over ON {s}.tasks (project, status) WHERE status IN ('done', 'deleted');
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
  agent      {s}.plain_text NOT NULL,
  session    {s}.plain_text,
  by         name NOT NULL DEFAULT current_user,
  claimed_at {s}.moment NOT NULL,
  ended_at   {s}.moment,
  outcome    text CHECK (outcome IN ('done', 'failed', 'released', 'expired')),
  reason     {s}.plain_text,
  PRIMARY KEY (task, number)
) WITH (fillfactor = 90);

CREATE TABLE {s}.messages (
  seq             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id              uuid NOT NULL UNIQUE,
  at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind            {s}.short_text NOT NULL,
  from_machine    uuid NOT NULL,
  from_agent      {s}.short_text,
  by              name NOT NULL DEFAULT current_user,
  to_machine      uuid,
  to_agent        {s}.short_text,
  to_conversation {s}.short_text,
  body            text NOT NULL CHECK (length(body) <= 16000),
  fetched_by      uuid,
  fetched_at      {s}.moment,
  -- For an agent of a machine, or for a conversation; nothing between, which would be for nobody and never be fetched.
  CHECK ((to_machine IS NULL) = (to_agent IS NULL) AND (to_machine IS NULL) <> (to_conversation IS NULL))
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
  agent     {s}.plain_text NOT NULL,
  session   {s}.plain_text,
  -- The client's own name of the session, by which its telemetry is joined.
  host_session {s}.plain_text,
  sub_agent {s}.plain_text,
  event     {s}.plain_text NOT NULL,
  tool      {s}.plain_text,
  verdict   {s}.plain_text NOT NULL,
  micros    bigint NOT NULL,
  rules     {s}.json_value,
  reason    {s}.long_text,
  detail    {s}.json_value,
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
CREATE POLICY members_append ON {s}.events FOR INSERT TO {agent} WITH CHECK (EXISTS (
  SELECT FROM {s}.machines m WHERE m.id = machine AND {mine}));
CREATE POLICY readers_read ON {s}.events FOR SELECT TO {reader} USING (true);
CREATE POLICY granted_read ON {s}.events FOR SELECT TO {agent} USING (project IN (
  SELECT g.project FROM {s}.record_grants g JOIN pg_catalog.pg_roles r ON r.rolname = g.reader
  WHERE pg_catalog.pg_has_role(r.oid, 'member')));

-- A machine is of the role that it connects as, and only that role speaks for it: tells what its agents do, sends from it,
-- takes what is for it, writes of it into the record. A member of a role may do what that role does, as by SET ROLE: who
-- shares one role shares its machines, and a machine whose people get a role of their own takes its row along. What a role
-- that is gone left behind is anybody's to take over.
ALTER TABLE {s}.machines ENABLE ROW LEVEL SECURITY;
ALTER TABLE {s}.agents ENABLE ROW LEVEL SECURITY;
ALTER TABLE {s}.messages ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_read ON {s}.machines FOR SELECT USING (true);
CREATE POLICY all_read ON {s}.agents FOR SELECT USING (true);
CREATE POLICY all_read ON {s}.messages FOR SELECT USING (true);
CREATE POLICY members_begin ON {s}.machines FOR INSERT TO {agent} WITH CHECK (by = current_user);
CREATE POLICY members_tell ON {s}.machines FOR UPDATE TO {agent}
  USING (by = current_user OR coalesce((SELECT pg_has_role(r.oid, 'member') FROM pg_catalog.pg_roles r
    WHERE r.rolname = machines.by), true))
  WITH CHECK (by = current_user OR coalesce((SELECT pg_has_role(r.oid, 'member') FROM pg_catalog.pg_roles r
    WHERE r.rolname = machines.by), false));
CREATE POLICY members_tell ON {s}.agents FOR ALL TO {agent}
  USING (EXISTS (SELECT FROM {s}.machines m WHERE m.id = machine AND {mine}))
  WITH CHECK (EXISTS (SELECT FROM {s}.machines m WHERE m.id = machine AND {mine}));
CREATE POLICY members_send ON {s}.messages FOR INSERT TO {agent} WITH CHECK (EXISTS (
  SELECT FROM {s}.machines m WHERE m.id = from_machine AND {mine}));
-- Of a conversation the server knows no more than who says that they carry it: where others do, they take it.
CREATE POLICY members_fetch ON {s}.messages FOR UPDATE TO {agent} USING (CASE
    WHEN to_machine IS NOT NULL THEN EXISTS (SELECT FROM {s}.machines m WHERE m.id = to_machine AND {mine})
    ELSE coalesce((SELECT bool_or({mine}) FROM {s}.agents a JOIN {s}.machines m ON m.id = a.machine
                   WHERE a.conversation = to_conversation), true) END)
  WITH CHECK (EXISTS (SELECT FROM {s}.machines m WHERE m.id = fetched_by AND {mine}));

-- Makes this month's and the next two partitions, takes into them what waited in the rest, and drops what is older than
-- kept. The one function: members may not make tables. Called by any daemon once a day. Everybody else waits behind a lock
-- that is waited for here, so it is not waited for long.
CREATE FUNCTION {s}.tend() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
  SET lock_timeout = '2s' AS $tend$
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
  -- By when it was stored: the clock of its machine may have been far ahead, or far behind.
  EXECUTE format('DELETE FROM %I.events_rest WHERE stored_at < %L', '{s}', keep);
  DELETE FROM {s}.messages WHERE fetched_at < clock_timestamp() - interval '30 days' OR at < clock_timestamp() - interval '90 days';
  DELETE FROM {s}.machines WHERE seen_at < clock_timestamp() - interval '30 days';
END $tend$;
REVOKE ALL ON FUNCTION {s}.tend() FROM PUBLIC;

-- Members. Within a schema everybody may work on every task and see every agent; who said or did something is the server's
-- word: `by` is not theirs to write, but for a machine, which they may give to a role of theirs; the record is append-only
-- for them. Moments of their own are the server's clock by default wherever it need not be told. Tables are named one by one: a right on
-- all of them would be one on the partitions of the record.
GRANT USAGE ON SCHEMA {s} TO {agent}, {reader};
GRANT SELECT ON {s}.meta, {s}.machines, {s}.projects, {s}.agents, {s}.tasks, {s}.task_deps, {s}.attempts, {s}.messages,
  {s}.record_grants, {s}.events TO {agent}, {reader};
GRANT EXECUTE ON FUNCTION {s}.tend() TO {agent};
GRANT INSERT (id, label, instance, starts, build, speaks),
  UPDATE (label, instance, starts, build, speaks, key, by, seen_at) ON {s}.machines TO {agent};
GRANT INSERT (name) ON {s}.projects TO {agent};
-- A lock of a row needs the right to change something of it.
GRANT UPDATE (created_at) ON {s}.projects TO {agent};
GRANT INSERT (machine, id, named, name, client, project, status, session, conversation, task, now_does, asks, card, context,
  since), UPDATE (named, name, client, project, status, session, conversation, task, now_does, asks, card, context,
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

-- Claims. Every statement answers with rows of one text column, which is JSON; every parameter is a text that is cast.
-- The clock is the server's, always clock_timestamp(): now() is the start of the transaction, which may have waited.

-- name: server_id
-- With the oldest client that is let in, so that a command learns of it in the flight that finds its queue.
SELECT jsonb_build_object('id', value,
  'oldest', (SELECT value FROM {s}.meta WHERE name = 'oldest')::int)::text FROM {s}.meta WHERE name = 'id';

-- name: project_find
-- $1 name.
SELECT jsonb_build_object('id', id)::text FROM {s}.projects WHERE name = $1::text;

-- name: project_make
-- $1 name. Nothing is answered where another made it meanwhile: find it.
INSERT INTO {s}.projects (name) VALUES ($1::text) ON CONFLICT (name) DO NOTHING
RETURNING jsonb_build_object('id', id)::text;

-- name: guard
-- First in every transaction that writes: a client that is stopped in the middle holds nothing for long, nobody's lock is
-- waited for for long, and what nobody waits for any more ends by itself. $1 the server's own id, or NULL where it is not
-- known yet: on another one the division fails, and with it the transaction.
SELECT jsonb_build_array(set_config('idle_in_transaction_session_timeout', '5s', true),
  set_config('statement_timeout', '8s', true), set_config('lock_timeout', '2s', true),
  1 / CASE WHEN $1::text IS NULL OR EXISTS (SELECT FROM {s}.meta WHERE name = 'id' AND value = $1::text) THEN 1 ELSE 0 END)::text;

-- name: wake
-- Rests that are over end, a few at a time: of this project, or those of another would stand before them. $1 project,
-- $2 at most.
UPDATE {s}.tasks SET ready_at = NULL
WHERE id = ANY (ARRAY(SELECT id FROM {s}.tasks
                      WHERE project + 0 = $1::int AND status = 'open' AND ready_at IS NOT NULL
                        AND ready_at <= clock_timestamp()
                      ORDER BY ready_at LIMIT $2::int FOR NO KEY UPDATE SKIP LOCKED));

-- name: machine_known
-- $1 machine, $2 label, $3 the version it speaks: so that who holds a task has a machine with a name, also where no daemon
-- runs there.
INSERT INTO {s}.machines (id, label, build, speaks) VALUES ($1::uuid, left($2::text, 64), 'a command', $3::int)
ON CONFLICT (id) DO NOTHING;

-- name: claim
-- $1 project, $2 machine, $3 agent, $4 session, $5 claim, $6 lease_ms. No row: nothing to claim now, unless this very
-- claim went through before, which `claimed` tells. So does 23505 on attempts.claim. The number is the next one that is
-- neither the task's nor on record: of a backup, or after a failover, the two may have come apart.
WITH pick AS MATERIALIZED (
  SELECT id FROM {s}.tasks
  -- `project + 0` is what the one index in the right order has.
  WHERE project + 0 = $1::int AND status = 'open' AND open_blockers = 0 AND ready_at IS NULL
    -- The highest number there is has no next one.
    AND greatest(attempt, (SELECT max(a.number) FROM {s}.attempts a WHERE a.task = tasks.id)) < 2147483647
  ORDER BY priority, created_at, id LIMIT 1
  FOR NO KEY UPDATE SKIP LOCKED
), taken AS (
  UPDATE {s}.tasks t
  SET status = 'active', machine = $2::uuid, agent = $3::text, session = $4::text, claim = $5::uuid, lease_ms = $6::int,
      lease_until = clock_timestamp() + $6::int * interval '1 millisecond', renewed_at = clock_timestamp(), graced = false,
      attempt = greatest(t.attempt, (SELECT max(a.number) FROM {s}.attempts a WHERE a.task = t.id)) + 1,
      updated_at = clock_timestamp()
  FROM pick WHERE t.id = pick.id
  RETURNING t.*
), begun AS (
  INSERT INTO {s}.attempts (task, number, claim, machine, agent, session, claimed_at)
  SELECT id, attempt, claim, machine, agent, session, renewed_at FROM taken
)
SELECT ({whole} || jsonb_build_object({results}))::text FROM taken t;

-- name: claim_one
-- The same for one that is named. $7 slug. No row: read it and say why. Who changes it is waited for.
WITH pick AS MATERIALIZED (
  SELECT id FROM {s}.tasks
  WHERE project = $1::int AND slug = $7::text AND status = 'open' AND open_blockers = 0
    AND greatest(attempt, (SELECT max(a.number) FROM {s}.attempts a WHERE a.task = tasks.id)) < 2147483647
    AND (ready_at IS NULL OR ready_at <= clock_timestamp())
  FOR NO KEY UPDATE
), taken AS (
  UPDATE {s}.tasks t
  SET status = 'active', machine = $2::uuid, agent = $3::text, session = $4::text, claim = $5::uuid, lease_ms = $6::int,
      lease_until = clock_timestamp() + $6::int * interval '1 millisecond', renewed_at = clock_timestamp(),
      graced = false, ready_at = NULL, updated_at = clock_timestamp(),
      attempt = greatest(t.attempt, (SELECT max(a.number) FROM {s}.attempts a WHERE a.task = t.id)) + 1
  FROM pick WHERE t.id = pick.id
  RETURNING t.*
), begun AS (
  INSERT INTO {s}.attempts (task, number, claim, machine, agent, session, claimed_at)
  SELECT id, attempt, claim, machine, agent, session, renewed_at FROM taken
)
SELECT ({whole} || jsonb_build_object({results}))::text FROM taken t;

-- name: claimed
-- What became of a claim whose answer was lost. $1 claim. No row: it never happened, or is over.
SELECT ({whole} || jsonb_build_object({results}))::text
FROM {s}.attempts a JOIN {s}.tasks t ON t.id = a.task
WHERE a.claim = $1::uuid AND t.status = 'active' AND t.attempt = a.number AND t.claim = a.claim;

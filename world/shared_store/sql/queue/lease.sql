-- Leases: held, renewed, run out. `lease_until` is in no index, so that a renewal touches none.

-- name: renew
-- One statement for all that a machine holds. $1: JSON array of {id, attempt, claim, age_ms, lease_ms|null}: how long ago
-- the agent was last seen alive, and a new length where one was asked for. What is not answered is lost: its holder is
-- told. Never shortens a lease.
WITH w AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS w (id bigint, attempt int, claim uuid, age_ms bigint, lease_ms int)
), pick AS MATERIALIZED (
  SELECT t.id, w.age_ms, coalesce(w.lease_ms, t.lease_ms) AS lease_ms FROM {s}.tasks t JOIN w ON w.id = t.id
  WHERE t.status = 'active' AND t.attempt = w.attempt AND t.claim = w.claim
  ORDER BY t.id FOR NO KEY UPDATE OF t
)
UPDATE {s}.tasks t
SET graced = false, lease_ms = pick.lease_ms,
    renewed_at = greatest(t.renewed_at, clock_timestamp() - pick.age_ms * interval '1 millisecond'),
    lease_until = greatest(t.lease_until, clock_timestamp() + (pick.lease_ms - pick.age_ms) * interval '1 millisecond')
FROM pick WHERE t.id = pick.id
RETURNING jsonb_build_object('id', t.id, 'lease_ms', t.lease_ms)::text;

-- name: renew_free
-- The same where a lock was waited for in vain: those that nobody has locked. What is still held and was not renewed is
-- answered without a length.
WITH w AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS w (id bigint, attempt int, claim uuid, age_ms bigint, lease_ms int)
), held AS MATERIALIZED (
  SELECT t.id FROM {s}.tasks t JOIN w ON w.id = t.id
  WHERE t.status = 'active' AND t.attempt = w.attempt AND t.claim = w.claim
), pick AS MATERIALIZED (
  SELECT t.id, w.age_ms, coalesce(w.lease_ms, t.lease_ms) AS lease_ms FROM {s}.tasks t JOIN w ON w.id = t.id
  WHERE t.status = 'active' AND t.attempt = w.attempt AND t.claim = w.claim
  ORDER BY t.id FOR NO KEY UPDATE OF t SKIP LOCKED
), kept AS (
  UPDATE {s}.tasks t
  SET graced = false, lease_ms = pick.lease_ms,
      renewed_at = greatest(t.renewed_at, clock_timestamp() - pick.age_ms * interval '1 millisecond'),
      lease_until = greatest(t.lease_until, clock_timestamp() + (pick.lease_ms - pick.age_ms) * interval '1 millisecond')
  FROM pick WHERE t.id = pick.id
  RETURNING t.id, t.lease_ms
)
SELECT jsonb_build_object('id', held.id, 'lease_ms', kept.lease_ms)::text FROM held LEFT JOIN kept ON kept.id = held.id;

-- name: lapsed
-- What ran out, for the engine to decide over; written by turn with need = lapsed. $1 project, $2 at most, $3 grace in ms.
SELECT ({queued})::text FROM {s}.tasks t
WHERE t.project = $1::int AND t.status = 'active' AND t.lease_until <= clock_timestamp()
  AND (t.graced OR clock_timestamp() >= pg_postmaster_start_time() + $3::bigint * interval '1 millisecond')
ORDER BY t.lease_until LIMIT $2::int;

-- name: grant
-- A server that was away kept everybody from renewing, so after its start nobody's lease ends before the grace does;
-- once, until it is renewed. $1 grace in ms. Finds nothing at any other time.
WITH pick AS MATERIALIZED (
  SELECT id FROM {s}.tasks
  WHERE status = 'active' AND NOT graced
    AND clock_timestamp() < pg_postmaster_start_time() + $1::bigint * interval '1 millisecond'
    AND lease_until < pg_postmaster_start_time() + $1::bigint * interval '1 millisecond'
  -- Who holds a row is at work on that very task.
  ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE {s}.tasks t
SET graced = true, lease_until = pg_postmaster_start_time() + $1::bigint * interval '1 millisecond'
FROM pick WHERE t.id = pick.id
RETURNING jsonb_build_object('id', t.id)::text;

-- name: held
-- All that a machine holds by the server's word: what its own memory does not know was claimed and never heard of.
-- $1 project, $2 machine.
SELECT jsonb_build_object('id', id, 'slug', left(slug, 1000), 'attempt', attempt, 'claim', claim, 'agent', left(agent, 1000),
  'silent_ms', (extract(epoch FROM clock_timestamp() - coalesce(renewed_at, updated_at)) * 1000)::bigint, 'retry_count', retry_count,
  'failures', failures, 'releases', releases)::text
FROM {s}.tasks WHERE project = $1::int AND status = 'active' AND machine = $2::uuid ORDER BY id;

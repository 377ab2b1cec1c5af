-- Decided turns of tasks: written where the task still stands as it was when it was decided over.

-- name: turn
-- First of two statements of one transaction. $1: JSON array of {id, was, attempt, claim|null, need: "live"|"lapsed"|null,
-- status, retry_count, failures, releases, fail_reason|null, rest_ms|null, result|null (as it is)}. What is not answered
-- was not written: look, and decide again or say why not.
WITH w AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS w (id bigint, was text, attempt int, claim uuid, need text, status text,
    retry_count bigint, failures bigint, releases bigint, fail_reason text, rest_ms bigint, result jsonb)
), pick AS MATERIALIZED (
  SELECT w.* FROM {s}.tasks t JOIN w ON w.id = t.id
  WHERE t.status = w.was AND t.attempt = w.attempt AND t.claim IS NOT DISTINCT FROM w.claim
  ORDER BY t.id FOR UPDATE OF t
)
UPDATE {s}.tasks t
SET status = w.status, machine = NULL, claim = NULL, agent = NULL, session = NULL, lease_until = NULL, lease_ms = NULL,
    renewed_at = NULL, graced = false,
    -- Within the bounds of a tally: one that was counted beyond them would stop every turn beside it.
    retry_count = greatest(0, least(w.retry_count, 1000000)), failures = greatest(0, least(w.failures, 1000000)),
    releases = greatest(0, least(w.releases, 1000000)),
    fail_reason = w.fail_reason, result = coalesce(w.result, t.result),
    ready_at = clock_timestamp() + w.rest_ms * interval '1 millisecond', updated_at = clock_timestamp(),
    deleted_at = CASE w.status WHEN 'deleted' THEN coalesce(t.deleted_at, clock_timestamp()) END
FROM pick AS w
-- Asked here, of a row that is locked: a condition beside FOR UPDATE is not asked again after a wait for a lock
-- whose holder changed nothing.
WHERE t.id = w.id AND CASE w.need WHEN 'live' THEN t.lease_until > clock_timestamp()
                                  WHEN 'lapsed' THEN t.lease_until <= clock_timestamp() ELSE true END
RETURNING jsonb_build_object('id', t.id)::text;

-- name: turned
-- Second: the attempts end, and who waited is told. A statement of its own: its snapshot is younger than the locks of
-- the first, so that it sees a dependency that was added while the first one waited.
-- $1: JSON array of {id, status, attempt, claim|null, outcome|null, reason|null, step: -1 | 0 | 1}.
-- In one flight with the first only where every turn has an outcome: `a.outcome IS NULL` then tells whether the first
-- wrote. A task that nobody held has no such witness: its turn is sent here only after the first has answered that it
-- was written, else two who delete it at once both tell its dependents.
WITH w AS (
  SELECT w.* FROM jsonb_to_recordset($1::jsonb) AS w (id bigint, status text, attempt int, claim uuid, outcome text,
    reason text, step int)
  JOIN {s}.tasks t ON t.id = w.id AND t.status = w.status AND t.attempt = w.attempt
), ended AS (
  UPDATE {s}.attempts a SET ended_at = clock_timestamp(), outcome = w.outcome, reason = w.reason
  FROM w WHERE w.outcome IS NOT NULL AND a.task = w.id AND a.number = w.attempt AND a.claim = w.claim AND a.outcome IS NULL
  RETURNING a.task
), told AS MATERIALIZED (
  SELECT d.task AS id, sum(w.step)::int AS step FROM w JOIN {s}.task_deps d ON d.blocker = w.id
  WHERE w.step <> 0 AND (w.outcome IS NULL OR w.id IN (SELECT task FROM ended)) GROUP BY d.task
), pick AS MATERIALIZED (
  SELECT t.id, told.step FROM {s}.tasks t JOIN told ON told.id = t.id ORDER BY t.id FOR NO KEY UPDATE OF t
)
-- A step, never a count: two blockers that end at once would each count the other as open. Within bounds, because a member
-- may have written another number there, and a blocker ends all the same.
UPDATE {s}.tasks t SET open_blockers = least(greatest(t.open_blockers::bigint + pick.step, 0), 1000000)
FROM pick WHERE t.id = pick.id;

-- name: standing
-- A task as the engine decides over it, and the attempt that is asked about. $1 project, $2 slug, $3 machine; one of
-- $4 claim, $5 number, $6 agent: the newest of this agent on this machine, for another's of its name is another agent.
SELECT ({queued} || jsonb_build_object('mine', (
  SELECT {attempt} FROM {s}.attempts a
  WHERE a.task = t.id AND (a.claim = $4::uuid OR a.number = $5::int OR (a.agent = $6::text AND a.machine = $3::uuid))
  ORDER BY a.machine = $3::uuid DESC, a.number DESC LIMIT 1)))::text
FROM {s}.tasks t WHERE t.project = $1::int AND t.slug = $2::text;

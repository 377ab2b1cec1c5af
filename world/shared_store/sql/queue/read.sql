-- Reads, with the meaning and the order of the local ones. Slugs are compared byte by byte, whatever the database's
-- collation is.

-- name: task
-- $1 project, $2 slug.
SELECT ({whole} || jsonb_build_object({results}))::text FROM {s}.tasks t WHERE t.project = $1::int AND t.slug = $2::text;

-- name: tasks
-- $1 project, $2 statuses (a JSON array) or NULL, $3 agent or NULL, as it is shown on machine $4, $5 spec or NULL,
-- $6 category or NULL, $7 'claimable' or NULL, $8 at most or NULL.
SELECT ({whole})::text FROM {s}.tasks t {filtered};

-- name: tasks_found
-- The ids of the same, and about how many bytes each has: for `tasks_of`, in pages. The same parameters.
SELECT jsonb_build_array(t.id, octet_length(t::text))::text FROM {s}.tasks t {filtered};

-- name: tasks_of
-- $1 project, $2 ids (a JSON array), in whose order.
SELECT ({whole})::text
FROM jsonb_array_elements_text($2::jsonb) WITH ORDINALITY AS w (id, nth) JOIN {s}.tasks t ON t.id = w.id::bigint
WHERE t.project = $1::int ORDER BY w.nth;

-- name: attempts
-- $1 project, $2 slug.
SELECT ({attempt})::text FROM {s}.attempts a JOIN {s}.tasks t ON t.id = a.task
WHERE t.project = $1::int AND t.slug = $2::text ORDER BY a.number;

-- name: below
-- Every dependency the task has, its blockers' and so on; each once. $1 project, $2 slugs (a JSON array).
WITH RECURSIVE below (id) AS (
  SELECT id FROM {s}.tasks
  WHERE project = $1::int AND slug = ANY (ARRAY(SELECT jsonb_array_elements_text($2::jsonb)))
  UNION SELECT d.blocker FROM {s}.task_deps d JOIN below ON d.task = below.id
)
SELECT jsonb_build_object('task', p.slug, 'blocker', b.slug, 'status', b.status, 'open_blockers', b.open_blockers)::text
FROM below JOIN {s}.task_deps d ON d.task = below.id JOIN {s}.tasks p ON p.id = d.task JOIN {s}.tasks b ON b.id = d.blocker
ORDER BY b.slug COLLATE "C", p.slug COLLATE "C";

-- name: document
-- $1 project, $2 spec.
SELECT ({queued})::text FROM {s}.tasks t WHERE t.project = $1::int AND t.spec = $2::text ORDER BY t.id;

-- name: look
-- Loops look all day: what is over is counted in its index, and the rest is as much as there is to do. $1 project.
WITH c AS (
  SELECT status, open_blockers > 0 AS blocked, count(*) AS n,
         count(*) FILTER (WHERE open_blockers = 0 AND ready_at > clock_timestamp()) AS resting,
         min(ready_at) FILTER (WHERE open_blockers = 0 AND ready_at > clock_timestamp()) AS rested
  FROM {s}.tasks WHERE project = $1::int AND status IN ('open', 'quarantined') GROUP BY 1, 2
), held AS (
  SELECT count(*) FILTER (WHERE open_blockers > 0) AS blocked, count(*) FILTER (WHERE open_blockers = 0) AS free,
         min(greatest(lease_until, clock_timestamp())) AS lapsing
  FROM {s}.tasks WHERE project = $1::int AND status = 'active'
), waits AS (
  SELECT coalesce(sum(n) FILTER (WHERE status = 'open' AND blocked), 0) AS blocked,
         coalesce(sum(n) FILTER (WHERE status = 'open' AND NOT blocked), 0) AS open,
         coalesce(sum(n) FILTER (WHERE status = 'quarantined'), 0) AS quarantined,
         coalesce(sum(resting) FILTER (WHERE status = 'open'), 0) AS resting,
         min(rested) FILTER (WHERE status = 'open') AS rested FROM c
)
SELECT jsonb_build_object('blocked', waits.blocked + held.blocked, 'open', waits.open, 'active', held.free,
  'done', (SELECT count(*) FROM {s}.tasks WHERE project = $1::int AND status = 'done'),
  'deleted', (SELECT count(*) FROM {s}.tasks WHERE project = $1::int AND status = 'deleted'),
  'quarantined', waits.quarantined, 'resting', waits.resting,
  'next', (extract(epoch FROM least(waits.rested, held.lapsing)) * 1000)::bigint,
  'now', (extract(epoch FROM clock_timestamp()) * 1000)::bigint)::text FROM waits, held;

-- name: sample
-- A few of those that wait. $1 project, $2 why: blocked, resting, quarantined, active; $3 at most.
SELECT ({queued} || jsonb_build_object('waits_for', (
  SELECT jsonb_agg(x.slug || ' (' || x.status || ')') FROM (
    SELECT b.slug, b.status FROM {s}.task_deps d JOIN {s}.tasks b ON b.id = d.blocker
    WHERE d.task = t.id AND b.status NOT IN ('done', 'deleted') ORDER BY b.slug COLLATE "C" LIMIT 10) x)))::text
FROM {s}.tasks t
WHERE t.project = $1::int AND CASE $2::text
  WHEN 'blocked' THEN t.status = 'open' AND t.open_blockers > 0
  WHEN 'resting' THEN t.status = 'open' AND t.open_blockers = 0 AND t.ready_at > clock_timestamp()
  ELSE t.status = $2::text END
ORDER BY t.priority, t.created_at, t.id LIMIT $3::int;

-- name: edges
-- Every dependency between tasks that are neither done nor deleted, or are named. $1 project, $2 slugs (a JSON array).
WITH named AS MATERIALIZED (SELECT jsonb_array_elements_text($2::jsonb) AS slug)
SELECT jsonb_build_array(p.slug, b.slug)::text
FROM {s}.task_deps d JOIN {s}.tasks p ON p.id = d.task JOIN {s}.tasks b ON b.id = d.blocker
WHERE p.project = $1::int
  AND (p.status NOT IN ('done', 'deleted') OR p.slug IN (SELECT slug FROM named))
  AND (b.status NOT IN ('done', 'deleted') OR b.slug IN (SELECT slug FROM named))
ORDER BY p.id, b.id;

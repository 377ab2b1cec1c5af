-- Planning: one transaction under the project's row. The order is that of this file, and after it commit or undo.
-- Blockers first, dependents after, by id; status changes under FOR UPDATE, everything else under NO KEY UPDATE, blockers
-- are held by KEY SHARE. So plans and finishers do not deadlock, and claims pass a planner.

-- name: plan_lock
-- One planner a project, so that a circle cannot be closed from two sides; who only names the project passes. $1 project.
-- Tells the transaction's own id, by which `plan_fate` knows it, should the answer to its commit be lost. A server that was
-- started again may have given that id to another.
SELECT jsonb_build_object('transaction', pg_current_xact_id()::text, 'since', pg_postmaster_start_time()::text)::text
FROM {s}.projects WHERE id = $1::int FOR NO KEY UPDATE;

-- name: plan_fate
-- $1 transaction.
SELECT jsonb_build_object('fate', pg_xact_status($1::text::xid8), 'since', pg_postmaster_start_time()::text)::text;

-- name: plan_tasks
-- $1 project, $2 slugs (a JSON array).
SELECT ({whole})::text FROM {s}.tasks t
WHERE t.project = $1::int AND t.slug = ANY (ARRAY(SELECT jsonb_array_elements_text($2::jsonb)));

-- name: plan_found
-- As `tasks_found`. The same parameters.
SELECT jsonb_build_array(t.id, octet_length(t::text))::text FROM {s}.tasks t
WHERE t.project = $1::int AND t.slug = ANY (ARRAY(SELECT jsonb_array_elements_text($2::jsonb)));

-- name: plan_hold
-- Holds every blocker that the tasks to be written have or get: none of them ends (FOR UPDATE in `turn`) before this
-- transaction does, while claims, renewals and counts of blockers (NO KEY UPDATE) pass. $1 project, $2 slugs (a JSON array).
SELECT jsonb_build_object('id', t.id)::text FROM {s}.tasks t
WHERE t.project = $1::int AND t.slug = ANY (ARRAY(SELECT jsonb_array_elements_text($2::jsonb)))
ORDER BY t.id FOR KEY SHARE;

-- name: plan_make
-- $1 project, $2: JSON array of {ord, slug, title, description, category, priority, spec, ref, steps, status, result,
-- fail_reason}.
-- One moment for all of them, so that they are claimed in the order of the plan.
INSERT INTO {s}.tasks (project, slug, title, description, category, priority, spec, ref, steps, status, result, fail_reason,
                       deleted_at, created_at)
SELECT $1::int, slug, title, description, category, priority, spec, ref, steps, status, result, fail_reason,
       CASE status WHEN 'deleted' THEN clock_timestamp() END, now()
FROM jsonb_to_recordset($2::jsonb) AS w (ord int, slug text, title text, description text, category text,
  priority smallint, spec text, ref text, steps jsonb, status text, result jsonb, fail_reason text) ORDER BY ord
RETURNING jsonb_build_object('id', id)::text;

-- name: plan_write
-- $1 project, $2: JSON array of {slug, title, description, category, priority, spec, ref, steps, afresh, fields, over}: rows
-- that differ, and rows of which only the dependencies do (fields: false). over: whether it is done or deleted, as the
-- planner believes. What is not answered is not so any more. afresh: planned anew, nothing of its former life counts.
WITH w AS (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS w (slug text, title text, description text, category text,
    priority smallint, spec text, ref text, steps jsonb, afresh boolean, fields boolean, over boolean)
), pick AS MATERIALIZED (
  SELECT t.id, w.* FROM {s}.tasks t JOIN w ON t.project = $1::int AND t.slug = w.slug
  ORDER BY t.id FOR NO KEY UPDATE OF t
)
UPDATE {s}.tasks t SET title = w.title, description = w.description, category = w.category, priority = w.priority,
  spec = w.spec, ref = w.ref, steps = w.steps,
  updated_at = CASE WHEN w.fields THEN clock_timestamp() ELSE t.updated_at END,
  created_at = CASE WHEN w.afresh THEN now() ELSE t.created_at END,
  result = CASE WHEN w.afresh THEN NULL ELSE t.result END
FROM pick AS w WHERE t.id = w.id AND (t.status IN ('done', 'deleted')) = w.over
RETURNING jsonb_build_object('slug', t.slug)::text;

-- name: plan_cut
-- Dependencies that are planned no more go. $1 project, $2: JSON array of {slug, blocker}.
DELETE FROM {s}.task_deps d USING {s}.tasks p, {s}.tasks b, jsonb_to_recordset($2::jsonb) AS w (slug text, blocker text)
WHERE p.project = $1::int AND p.slug = w.slug AND b.project = $1::int AND b.slug = w.blocker
  AND d.task = p.id AND d.blocker = b.id;

-- name: plan_link
-- New ones come. The same parameters.
INSERT INTO {s}.task_deps (task, blocker)
SELECT p.id, b.id FROM jsonb_to_recordset($2::jsonb) AS w (slug text, blocker text)
  JOIN {s}.tasks p ON p.project = $1::int AND p.slug = w.slug
  JOIN {s}.tasks b ON b.project = $1::int AND b.slug = w.blocker
ON CONFLICT DO NOTHING;

-- name: plan_count
-- And are counted, where they changed. $1 project, $2 slugs (a JSON array).
WITH pick AS MATERIALIZED (
  SELECT id FROM {s}.tasks
  WHERE project = $1::int AND slug = ANY (ARRAY(SELECT jsonb_array_elements_text($2::jsonb)))
  ORDER BY id FOR NO KEY UPDATE
)
UPDATE {s}.tasks t
SET open_blockers = (SELECT count(*) FROM {s}.task_deps d JOIN {s}.tasks b ON b.id = d.blocker
                     WHERE d.task = t.id AND b.status NOT IN ('done', 'deleted'))
FROM pick WHERE t.id = pick.id;

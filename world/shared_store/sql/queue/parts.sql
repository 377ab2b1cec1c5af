-- Parts of statements: `{name}` in a statement stands for one of these. `t` is the task.

-- name: queued
-- What claiming changes of a task. Moments are milliseconds of the server's clock, beside `now`, by which the client moves
-- them onto its own. Texts are cut far beyond what a client writes, so that many rows written by hand are still read.
jsonb_build_object('row', t.id, 'slug', t.slug, 'status', t.status, 'attempt', t.attempt, 'retry_count', t.retry_count,
  'failures', t.failures, 'releases', t.releases, 'fail_reason', left(t.fail_reason, 20000), 'open_blockers', t.open_blockers,
  'ready_at', (extract(epoch FROM t.ready_at) * 1000)::bigint, 'claim', t.claim, 'machine', t.machine,
  'label', (SELECT left(m.label, 64) FROM {s}.machines m WHERE m.id = t.machine), 'agent', left(t.agent, 2000), 'session', left(t.session, 2000),
  'lease_ms', t.lease_ms, 'lease_until', (extract(epoch FROM t.lease_until) * 1000)::bigint,
  'renewed_at', (extract(epoch FROM t.renewed_at) * 1000)::bigint,
  'now', (extract(epoch FROM clock_timestamp()) * 1000)::bigint)

-- name: whole
-- Everything of a task. Lists inside are put in order by the client: an order here would be a sort on the way of a claim. Of
-- blockers so many at most: more than that no plan has, and a task that cannot be read to its end would stop its queue.
{queued} || jsonb_build_object('title', t.title, 'description', t.description, 'category', t.category,
  'priority', t.priority, 'spec', t.spec, 'ref', t.ref, 'steps', t.steps, 'result', t.result,
  'created_at', (extract(epoch FROM t.created_at) * 1000)::bigint,
  'updated_at', (extract(epoch FROM t.updated_at) * 1000)::bigint,
  'deleted_at', (extract(epoch FROM t.deleted_at) * 1000)::bigint,
  'blockers', (SELECT jsonb_agg(jsonb_build_object('id', b.id, 'slug', b.slug, 'status', b.status))
               FROM (SELECT b.id, b.slug, b.status FROM {s}.task_deps d JOIN {s}.tasks b ON b.id = d.blocker
                     WHERE d.task = t.id LIMIT 2000) b))

-- name: results
-- What the blockers resulted in, as much of it as an agent is handed at once. Summed in whatever order, for an order would be
-- a sort.
'results', (SELECT jsonb_agg(jsonb_build_array(r.slug, CASE WHEN r.result IS NOT NULL AND r.bytes > 4194304
              THEN jsonb_build_object('left_out', 'the results are more than 4 MB together: `taut task show ' || r.slug || '` has this one')
              ELSE r.result END))
            FROM (SELECT b.slug, b.result, sum(octet_length(b.result::text)) OVER (ROWS UNBOUNDED PRECEDING) AS bytes
                  FROM {s}.task_deps d JOIN {s}.tasks b ON b.id = d.blocker WHERE d.task = t.id LIMIT 2000) r)

-- name: attempt
-- `a` is the attempt.
jsonb_build_object('number', a.number, 'claim', a.claim, 'machine', a.machine,
  'label', (SELECT left(m.label, 64) FROM {s}.machines m WHERE m.id = a.machine), 'agent', a.agent, 'session', a.session,
  'claimed_at', (extract(epoch FROM a.claimed_at) * 1000)::bigint,
  'ended_at', (extract(epoch FROM a.ended_at) * 1000)::bigint, 'outcome', a.outcome, 'reason', a.reason,
  'now', (extract(epoch FROM clock_timestamp()) * 1000)::bigint)

-- name: filtered
-- Which tasks are listed, and in which order.
WHERE t.project = $1::int
  AND ($2::jsonb IS NULL OR t.status = ANY (ARRAY(SELECT jsonb_array_elements_text($2::jsonb))))
  AND ($3::text IS NULL OR $3::text = t.agent || CASE WHEN t.machine = $4::uuid THEN '' ELSE '@' || coalesce(
        (SELECT left(m.label, 64) FROM {s}.machines m WHERE m.id = t.machine), left(t.machine::text, 8)) END)
  AND ($5::text IS NULL OR t.spec = $5::text)
  AND ($6::text IS NULL OR t.category = $6::text)
  AND ($7::text IS NULL OR (t.status = 'open' AND t.open_blockers = 0
       AND (t.ready_at IS NULL OR t.ready_at <= clock_timestamp())))
ORDER BY t.priority, t.created_at, t.id LIMIT $8::bigint

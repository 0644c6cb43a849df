-- The SQL contract: names, types and privileges that users and monitoring rely on. Run by pg_prove in one
-- transaction against a server that preloads walsizer.
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS walsizer;
CREATE ROLE walsizer_tap_anyone;
CREATE ROLE walsizer_tap_monitor IN ROLE pg_monitor;

-- A view's columns with their types, in order.
CREATE FUNCTION pg_temp.columns_of(relation regclass) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
  FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
$$;

-- The same for a function's rows.
CREATE FUNCTION pg_temp.results_of(function regprocedure) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(name || ' ' || format_type(type, NULL), ', ' ORDER BY place)
  FROM pg_proc, unnest(proargnames, proallargtypes, proargmodes) WITH ORDINALITY AS a(name, type, mode, place)
  WHERE oid = function AND mode IN ('o', 't')
$$;

SELECT plan(64);

SELECT has_schema('walsizer');
SELECT views_are('walsizer', ARRAY['status', 'stat', 'decisions', 'windows', 'checkpoints']);
SELECT is(pg_temp.columns_of('walsizer.status'),
  'state text, state_since timestamp with time zone, reason text, worker_pid integer, '
  'sampled_at timestamp with time zone, in_recovery boolean, max_wal_size bigint, source text, '
  'original_size bigint, need bigint, recommended bigint, ceiling bigint, limited_by text, trigger_size bigint, '
  'wal_since_redo bigint, wal_rate double precision, window_start timestamp with time zone, '
  'window_end timestamp with time zone, num_timed bigint, num_requested bigint, num_wal_forced bigint, '
  'num_stale bigint, requested_ratio double precision, forced_ratio double precision, '
  'recovery_estimate interval, replay_rate double precision, replay_rate_source text, '
  'last_recovery_time interval, last_recovery_bytes bigint, disk_size bigint, disk_free bigint, '
  'disk_reserve bigint, wal_dir_size bigint, wal_held bigint, wal_held_by text, num_decisions bigint, '
  'last_decision timestamp with time zone, last_error text, version text', 'columns of status');
SELECT is(pg_temp.columns_of('walsizer.stat'),
  'num_timed bigint, num_requested bigint, num_wal_forced bigint, num_stale bigint, wal_bytes bigint, '
  'num_raised bigint, num_lowered bigint, num_failed bigint, stats_reset timestamp with time zone',
  'columns of stat');
SELECT is(pg_temp.columns_of('walsizer.decisions'),
  'id bigint, decided_at timestamp with time zone, action text, cause text, old_size bigint, new_size bigint, '
  'wanted_size bigint, ceiling bigint, limited_by text, num_timed bigint, num_requested bigint, '
  'num_wal_forced bigint, wal_bytes bigint, wal_rate double precision, applied boolean, outcome text, reason text',
  'columns of decisions');
SELECT is(pg_temp.columns_of('walsizer.windows'),
  'window_start timestamp with time zone, window_end timestamp with time zone, in_recovery boolean, '
  'num_timed bigint, num_requested bigint, num_wal_forced bigint, num_stale bigint, '
  'requested_ratio double precision, forced_ratio double precision, wal_bytes bigint, fpi_bytes bigint, '
  'max_wal_size bigint, write_time double precision, sync_time double precision, buffers_written bigint, '
  'xids_used bigint',
  'columns of windows');
SELECT is(pg_temp.columns_of('walsizer.checkpoints'),
  'started_at timestamp with time zone, redo_lsn pg_lsn, cause text, count bigint, wal_bytes bigint, '
  'cycle_time interval, trigger_size bigint, max_wal_size bigint', 'columns of checkpoints');

-- Functions and what they return.
SELECT functions_are('walsizer', ARRAY['get_status', 'get_stat', 'get_decisions', 'get_windows', 'get_checkpoints',
  'recommend', 'effect', 'advice', 'what_if', 'evaluate', 'undo', 'resume', 'reset', 'shrink']);
SELECT function_returns('walsizer', f, ARRAY[]::text[], 'walsizer.decisions')
FROM unnest(ARRAY['evaluate', 'undo', 'resume', 'reset', 'shrink']) AS f;
SELECT function_returns('walsizer', 'recommend', ARRAY['text'], 'text');
SELECT is(pg_get_function_arguments('walsizer.recommend(text)'::regprocedure), 'format text DEFAULT ''sql''::text',
  'recommend() has the format as its only argument, sql by default');

SELECT is(pg_temp.results_of('walsizer.effect()'),
  'id bigint, decided_at timestamp with time zone, action text, old_size bigint, new_size bigint, '
  'before_start timestamp with time zone, before_end timestamp with time zone, '
  'after_start timestamp with time zone, after_end timestamp with time zone, '
  'forced_before bigint, forced_after bigint, '
  'forced_ratio_before double precision, forced_ratio_after double precision, '
  'checkpoint_interval_before interval, checkpoint_interval_after interval, '
  'wal_rate_before double precision, wal_rate_after double precision, '
  'wal_per_xid_before double precision, wal_per_xid_after double precision, '
  'fpi_ratio_before double precision, fpi_ratio_after double precision, '
  'write_time_before double precision, write_time_after double precision, '
  'sync_time_before double precision, sync_time_after double precision, verdict text', 'columns of effect()');

SELECT is(pg_temp.results_of('walsizer.advice()'),
  'severity text, topic text, finding text, evidence text, statement text', 'columns of advice()');

SELECT is(pg_temp.results_of('walsizer.what_if(bigint[], interval)'),
  'max_wal_size bigint, trigger_size bigint, timed_per_hour double precision, forced_per_hour double precision, '
  'forced_ratio double precision, wal_per_hour bigint, is_bound boolean, recovery_estimate interval, '
  'fits_disk boolean, fits_recovery_time boolean, note text', 'columns of what_if()');
SELECT is(pg_get_function_arguments('walsizer.what_if(bigint[], interval)'::regprocedure),
  'sizes bigint[] DEFAULT NULL::bigint[], since interval DEFAULT NULL::interval, OUT max_wal_size bigint, '
  'OUT trigger_size bigint, OUT timed_per_hour double precision, OUT forced_per_hour double precision, '
  'OUT forced_ratio double precision, OUT wal_per_hour bigint, OUT is_bound boolean, '
  'OUT recovery_estimate interval, OUT fits_disk boolean, OUT fits_recovery_time boolean, OUT note text',
  'what_if() has two optional arguments');

-- Everything is explained.
SELECT is_empty($$SELECT oid::regprocedure FROM pg_proc
  WHERE pronamespace = 'walsizer'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL$$,
  'every function has a comment');
SELECT is_empty($$SELECT oid::regclass FROM pg_class
  WHERE relnamespace = 'walsizer'::regnamespace AND relkind = 'v' AND obj_description(oid, 'pg_class') IS NULL$$,
  'every view has a comment');

-- Privileges: nothing for anyone, reading for pg_monitor, acting for neither.
SELECT schema_privs_are('walsizer', 'walsizer_tap_anyone', ARRAY[]::text[]);
SELECT schema_privs_are('walsizer', 'walsizer_tap_monitor', ARRAY['USAGE']);
SELECT table_privs_are('walsizer', v, 'walsizer_tap_anyone', ARRAY[]::text[])
FROM unnest(ARRAY['status', 'stat', 'decisions', 'windows', 'checkpoints']) AS v;
SELECT table_privs_are('walsizer', v, 'walsizer_tap_monitor', ARRAY['SELECT'])
FROM unnest(ARRAY['status', 'stat', 'decisions', 'windows', 'checkpoints']) AS v;
SELECT function_privs_are('walsizer', f, ARRAY[]::text[], 'walsizer_tap_anyone', ARRAY[]::text[])
FROM unnest(ARRAY['get_status', 'get_stat', 'get_decisions', 'get_windows', 'get_checkpoints',
  'evaluate', 'undo', 'resume', 'reset', 'shrink']) AS f;
SELECT function_privs_are('walsizer', f, ARRAY[]::text[], 'walsizer_tap_monitor', ARRAY['EXECUTE'])
FROM unnest(ARRAY['get_status', 'get_stat', 'get_decisions', 'get_windows', 'get_checkpoints']) AS f;
SELECT function_privs_are('walsizer', f, ARRAY[]::text[], 'walsizer_tap_monitor', ARRAY[]::text[])
FROM unnest(ARRAY['evaluate', 'undo', 'resume', 'reset', 'shrink']) AS f;
SELECT function_privs_are('walsizer', 'recommend', ARRAY['text'], 'walsizer_tap_monitor', ARRAY['EXECUTE']);
SELECT function_privs_are('walsizer', 'recommend', ARRAY['text'], 'walsizer_tap_anyone', ARRAY[]::text[]);
SELECT function_privs_are('walsizer', 'what_if', ARRAY['bigint[]', 'interval'], 'walsizer_tap_monitor', ARRAY['EXECUTE']);
SELECT function_privs_are('walsizer', 'what_if', ARRAY['bigint[]', 'interval'], 'walsizer_tap_anyone', ARRAY[]::text[]);
SELECT function_privs_are('walsizer', f, ARRAY[]::text[], 'walsizer_tap_monitor', ARRAY['EXECUTE'])
FROM unnest(ARRAY['effect', 'advice']) AS f;
SELECT function_privs_are('walsizer', f, ARRAY[]::text[], 'walsizer_tap_anyone', ARRAY[]::text[])
FROM unnest(ARRAY['effect', 'advice']) AS f;

-- Names that monitoring matches on.
SELECT matches((SELECT state FROM walsizer.status),
  '^(starting|tuning|dry_run|disabled|at_ceiling|held|blocked|inactive|not_running)$', 'state is a known word');
SELECT ok((SELECT bool_and(action = ANY ('{grow,shrink,hold,external,blocked,undo,resume}')
    AND cause = ANY ('{anticipate,threshold,ratio,disk,idle,manual}')
    AND (outcome IS NULL OR outcome = ANY ('{effective,pending,overridden,failed,dry_run}'))
    AND limited_by = ANY ('{max,disk,recovery_time}'))
  FROM (SELECT * FROM walsizer.evaluate() UNION ALL SELECT * FROM walsizer.decisions) AS d),
  'decisions use known words');
SELECT ok((SELECT bool_and(cause = ANY ('{wal,time,request,stale}')) IS NOT FALSE FROM walsizer.checkpoints),
  'checkpoints use known words');

SELECT * FROM finish();
ROLLBACK;

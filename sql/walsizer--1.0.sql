/* walsizer 1.0: everything walsizer saw, decided and achieved, readable in SQL. Sizes are bytes. */

-- complain if the script is sourced in psql, rather than by CREATE EXTENSION
\echo Use "CREATE EXTENSION walsizer" to load this file. \quit

-- Views and the functions behind them. All are readable by pg_monitor and by nobody else.

CREATE FUNCTION walsizer.get_status(
    OUT state text, OUT state_since timestamptz, OUT reason text, OUT worker_pid integer, OUT sampled_at timestamptz,
    OUT in_recovery boolean, OUT max_wal_size bigint, OUT source text, OUT original_size bigint, OUT need bigint,
    OUT recommended bigint, OUT ceiling bigint, OUT limited_by text, OUT trigger_size bigint,
    OUT wal_since_redo bigint, OUT wal_rate double precision, OUT window_start timestamptz,
    OUT window_end timestamptz, OUT num_timed bigint, OUT num_requested bigint, OUT num_wal_forced bigint,
    OUT num_stale bigint, OUT requested_ratio double precision, OUT forced_ratio double precision,
    OUT recovery_estimate interval, OUT replay_rate double precision, OUT replay_rate_source text,
    OUT last_recovery_time interval, OUT last_recovery_bytes bigint, OUT disk_size bigint, OUT disk_free bigint,
    OUT disk_reserve bigint, OUT wal_dir_size bigint, OUT wal_held bigint, OUT wal_held_by text,
    OUT num_decisions bigint, OUT last_decision timestamptz, OUT last_error text, OUT version text)
AS 'MODULE_PATHNAME', 'walsizer_status' LANGUAGE C VOLATILE PARALLEL SAFE;

CREATE FUNCTION walsizer.get_stat(
    OUT num_timed bigint, OUT num_requested bigint, OUT num_wal_forced bigint, OUT num_stale bigint,
    OUT wal_bytes bigint, OUT num_raised bigint, OUT num_lowered bigint, OUT num_failed bigint,
    OUT stats_reset timestamptz)
AS 'MODULE_PATHNAME', 'walsizer_stat' LANGUAGE C VOLATILE PARALLEL SAFE;

CREATE FUNCTION walsizer.get_decisions(
    OUT id bigint, OUT decided_at timestamptz, OUT action text, OUT cause text, OUT old_size bigint,
    OUT new_size bigint, OUT wanted_size bigint, OUT ceiling bigint, OUT limited_by text, OUT num_timed bigint,
    OUT num_requested bigint, OUT num_wal_forced bigint, OUT wal_bytes bigint, OUT wal_rate double precision,
    OUT applied boolean, OUT outcome text, OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'walsizer_decisions' LANGUAGE C VOLATILE PARALLEL SAFE ROWS 100;

CREATE FUNCTION walsizer.get_windows(
    OUT window_start timestamptz, OUT window_end timestamptz, OUT in_recovery boolean, OUT num_timed bigint,
    OUT num_requested bigint, OUT num_wal_forced bigint, OUT num_stale bigint, OUT requested_ratio double precision,
    OUT forced_ratio double precision, OUT wal_bytes bigint, OUT fpi_bytes bigint, OUT max_wal_size bigint,
    OUT write_time double precision, OUT sync_time double precision, OUT buffers_written bigint,
    OUT xids_used bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'walsizer_windows' LANGUAGE C VOLATILE PARALLEL SAFE ROWS 3000;

CREATE FUNCTION walsizer.get_checkpoints(
    OUT started_at timestamptz, OUT redo_lsn pg_lsn, OUT cause text, OUT count bigint, OUT wal_bytes bigint,
    OUT cycle_time interval, OUT trigger_size bigint, OUT max_wal_size bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'walsizer_checkpoints' LANGUAGE C VOLATILE PARALLEL SAFE ROWS 1000;

CREATE VIEW walsizer.status AS SELECT * FROM walsizer.get_status();
CREATE VIEW walsizer.stat AS SELECT * FROM walsizer.get_stat();
CREATE VIEW walsizer.decisions AS SELECT * FROM walsizer.get_decisions();
CREATE VIEW walsizer.windows AS SELECT * FROM walsizer.get_windows();
CREATE VIEW walsizer.checkpoints AS SELECT * FROM walsizer.get_checkpoints();

COMMENT ON VIEW walsizer.status IS 'one row: state, max_wal_size, need, ceiling and the open window; sizes in bytes, wal_rate in bytes/s';
COMMENT ON COLUMN walsizer.status.state IS 'starting, tuning, dry_run, disabled, at_ceiling (need is above the ceiling), held (by an order), blocked (something is in the way), inactive, not_running';
COMMENT ON COLUMN walsizer.status.source IS 'where max_wal_size comes from: file:line, command line or default';
COMMENT ON COLUMN walsizer.status.original_size IS 'max_wal_size before walsizer''s first raise: what undo() puts back';
COMMENT ON COLUMN walsizer.status.need IS 'max_wal_size that would let checkpoint_timeout, not WAL volume, start checkpoints; no ceiling applied';
COMMENT ON COLUMN walsizer.status.recommended IS 'need within the ceiling, never below the present max_wal_size';
COMMENT ON COLUMN walsizer.status.ceiling IS 'the most that walsizer may set; limited_by names which limit it is';
COMMENT ON COLUMN walsizer.status.trigger_size IS 'WAL since the redo point that forces a checkpoint: max_wal_size / (1 + checkpoint_completion_target) in whole segments';
COMMENT ON COLUMN walsizer.status.num_wal_forced IS 'checkpoints of the open window that WAL volume forced';
COMMENT ON COLUMN walsizer.status.num_stale IS 'checkpoints of the open window requested at an older, smaller trigger by statements that have not seen the new setting';
COMMENT ON COLUMN walsizer.status.requested_ratio IS 'requested share of all checkpoints performed in the last 12 windows and the open one';
COMMENT ON COLUMN walsizer.status.forced_ratio IS 'WAL-forced share of all checkpoints performed in the last 12 windows and the open one';
COMMENT ON COLUMN walsizer.status.recovery_estimate IS 'worst case of a crash recovery: the whole max_wal_size replayed at replay_rate, plus a fixed part, and half as much again where both were measured';
COMMENT ON COLUMN walsizer.status.replay_rate IS 'bytes/s replayed in recovery; replay_rate_source tells whether measured, configured or assumed';
COMMENT ON COLUMN walsizer.status.last_recovery_time IS 'the last crash recovery that was large enough to learn from; last_recovery_bytes of WAL were replayed';
COMMENT ON COLUMN walsizer.status.disk_reserve IS 'space on pg_wal''s volume that walsizer never plans to use, in bytes; 0: no disk ceiling';
COMMENT ON COLUMN walsizer.status.wal_held IS 'WAL older than the last completed checkpoint that cannot be removed; wal_held_by names who holds it';
COMMENT ON VIEW walsizer.stat IS 'one row of counters that only rise, for monitoring; stats_reset tells since when';
COMMENT ON VIEW walsizer.decisions IS 'what walsizer decided and why, newest first, the last 500';
COMMENT ON COLUMN walsizer.decisions.wanted_size IS 'what the evidence asked for, before the ceiling and the limit of one step';
COMMENT ON COLUMN walsizer.decisions.outcome IS 'effective, pending, overridden, failed, dry_run; NULL where nothing was to be applied';
COMMENT ON VIEW walsizer.windows IS 'one row per checkpoint_timeout, newest first; write_time and sync_time in milliseconds';
COMMENT ON COLUMN walsizer.windows.fpi_bytes IS 'WAL of full-page images; 14 to 18: their number times the block size, an upper bound; NULL in 13';
COMMENT ON COLUMN walsizer.windows.xids_used IS 'transaction ids used: transactions that wrote, and their subtransactions; NULL where it was not recorded';
COMMENT ON VIEW walsizer.checkpoints IS 'the last 1000 checkpoints with their cause (wal, time, request, stale), newest first; several between two looks are one row with their count';

COMMENT ON FUNCTION walsizer.get_status() IS 'behind the view walsizer.status';
COMMENT ON FUNCTION walsizer.get_stat() IS 'behind the view walsizer.stat';
COMMENT ON FUNCTION walsizer.get_decisions() IS 'behind the view walsizer.decisions';
COMMENT ON FUNCTION walsizer.get_windows() IS 'behind the view walsizer.windows';
COMMENT ON FUNCTION walsizer.get_checkpoints() IS 'behind the view walsizer.checkpoints';

CREATE FUNCTION walsizer.recommend(format text DEFAULT 'sql') RETURNS text
AS 'MODULE_PATHNAME', 'walsizer_recommend' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION walsizer.recommend(text) IS 'the recommended max_wal_size as a line for sql, conf, patroni, cnpg or rds, with its basis';

CREATE FUNCTION walsizer.effect(
    OUT id bigint, OUT decided_at timestamptz, OUT action text, OUT old_size bigint, OUT new_size bigint,
    OUT before_start timestamptz, OUT before_end timestamptz, OUT after_start timestamptz, OUT after_end timestamptz,
    OUT forced_before bigint, OUT forced_after bigint,
    OUT forced_ratio_before double precision, OUT forced_ratio_after double precision,
    OUT checkpoint_interval_before interval, OUT checkpoint_interval_after interval,
    OUT wal_rate_before double precision, OUT wal_rate_after double precision,
    OUT wal_per_xid_before double precision, OUT wal_per_xid_after double precision,
    OUT fpi_ratio_before double precision, OUT fpi_ratio_after double precision,
    OUT write_time_before double precision, OUT write_time_after double precision,
    OUT sync_time_before double precision, OUT sync_time_after double precision, OUT verdict text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'walsizer_effect' LANGUAGE C VOLATILE PARALLEL SAFE ROWS 100;
COMMENT ON FUNCTION walsizer.effect() IS 'what each applied decision brought, newest first: up to 3 windows before and after it; WAL in bytes/s and bytes per transaction id used, write and sync time in milliseconds per checkpoint; NULL where it was not recorded or too little to tell';

CREATE FUNCTION walsizer.advice(
    OUT severity text, OUT topic text, OUT finding text, OUT evidence text, OUT statement text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'walsizer_advice' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 5
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION walsizer.advice() IS 'findings about the neighbours of max_wal_size, the worst first (warning, notice, info): what it means, the numbers, the statement to run; no rows on a healthy server';

CREATE FUNCTION walsizer.what_if(
    sizes bigint[] DEFAULT NULL, since interval DEFAULT NULL,
    OUT max_wal_size bigint, OUT trigger_size bigint, OUT timed_per_hour double precision,
    OUT forced_per_hour double precision, OUT forced_ratio double precision, OUT wal_per_hour bigint,
    OUT is_bound boolean, OUT recovery_estimate interval, OUT fits_disk boolean, OUT fits_recovery_time boolean,
    OUT note text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'walsizer_what_if' LANGUAGE C VOLATILE PARALLEL SAFE ROWS 10;
COMMENT ON FUNCTION walsizer.what_if(bigint[], interval) IS 'what other sizes of max_wal_size would have done with the WAL on record (a day and more): checkpoints and WAL in bytes per hour, full-page images included; is_bound: at most this much. Without sizes: doubling from 256 MB to the ceiling, and the present and the recommended size';

-- Functions that act. Each asks the worker, waits up to 10 seconds, and returns the decision it led to. Granting them
-- is granting ALTER SYSTEM on max_wal_size.

CREATE FUNCTION walsizer.evaluate() RETURNS walsizer.decisions
AS 'MODULE_PATHNAME', 'walsizer_evaluate' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION walsizer.evaluate() IS 'judge now, without waiting for a checkpoint or the window''s end';

CREATE FUNCTION walsizer.undo() RETURNS walsizer.decisions
AS 'MODULE_PATHNAME', 'walsizer_undo' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION walsizer.undo() IS 'put back exactly what postgresql.auto.conf held before walsizer''s first raise, and hold until resume()';

CREATE FUNCTION walsizer.resume() RETURNS walsizer.decisions
AS 'MODULE_PATHNAME', 'walsizer_resume' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION walsizer.resume() IS 'end the state held: walsizer may raise max_wal_size again';

CREATE FUNCTION walsizer.reset() RETURNS walsizer.decisions
AS 'MODULE_PATHNAME', 'walsizer_reset' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION walsizer.reset() IS 'clear the journal and the counters; the original value and an order to hold stay';

CREATE FUNCTION walsizer.shrink() RETURNS walsizer.decisions
AS 'MODULE_PATHNAME', 'walsizer_shrink' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION walsizer.shrink() IS 'give growth back once, down to the present need, never below what was there before walsizer';

COMMENT ON SCHEMA walsizer IS 'walsizer: keeps max_wal_size right by itself';

REVOKE ALL ON ALL TABLES IN SCHEMA walsizer FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA walsizer FROM PUBLIC;
GRANT USAGE ON SCHEMA walsizer TO pg_monitor;
GRANT SELECT ON ALL TABLES IN SCHEMA walsizer TO pg_monitor;
GRANT EXECUTE ON FUNCTION walsizer.get_status(), walsizer.get_stat(), walsizer.get_decisions(), walsizer.get_windows(),
    walsizer.get_checkpoints(), walsizer.recommend(text), walsizer.what_if(bigint[], interval), walsizer.effect(),
    walsizer.advice() TO pg_monitor;

-- status tells the server's own figures.
SELECT state, worker_pid = (SELECT pid FROM pg_stat_activity WHERE backend_type = 'walsizer') AS pid_is_right,
       sampled_at > now() - interval '1 minute' AS is_fresh, in_recovery,
       max_wal_size = pg_size_bytes(current_setting('max_wal_size')) AS size_is_right,
       source ~ 'postgresql\.(auto\.)?conf:\d+$' AS source_is_a_line, original_size,
       pg_size_pretty(ceiling) AS ceiling, limited_by, pg_size_pretty(trigger_size) AS trigger_size,
       need > 0 AND recommended >= max_wal_size AS sizes_are_sane
FROM walsizer.status;
SELECT window_end - window_start AS window, wal_since_redo >= 0 AND wal_rate >= 0 AS wal_is_sane FROM walsizer.status;
SELECT reason ~ '^watching for \d+:\d\d of 1:00:00$' AS says_what_it_waits_for FROM walsizer.status;
SELECT version = (SELECT extversion FROM pg_extension WHERE extname = 'walsizer') AS versions_agree
FROM walsizer.status;

-- A CHECKPOINT is told from WAL pressure, and counted once.
SELECT num_requested AS requested_before FROM walsizer.stat \gset
CHECKPOINT;
-- evaluate() makes the worker look.
SELECT action FROM walsizer.evaluate();
SELECT cause, count, trigger_size = (SELECT trigger_size FROM walsizer.status) AS trigger_is_right
FROM walsizer.checkpoints LIMIT 1;
SELECT num_requested - :requested_before AS requested, num_wal_forced, num_stale FROM walsizer.stat;
SELECT num_wal_forced, forced_ratio FROM walsizer.status;

-- The functions that act answer with the decision they led to.
SELECT action, cause, old_size = new_size AS unchanged, applied, outcome,
       regexp_replace(replace(reason, current_user, 'ROLE'), '\d+(\.\d+)? [kMG]B', 'N', 'g') AS reason
FROM walsizer.evaluate();
SELECT * FROM walsizer.undo();
SELECT action, cause, applied, outcome, replace(reason, current_user, 'ROLE') AS reason FROM walsizer.resume();
SELECT state FROM walsizer.status;

-- The line to use elsewhere.
SELECT regexp_replace(walsizer.recommend(), '\d+(\.\d+)? [kMG]B ', 'N ', 'g');
SELECT split_part(walsizer.recommend('conf'), E'\n', 2) AS conf;
SELECT regexp_replace(walsizer.recommend('patroni'), '^[^\n]*\n', '') AS patroni;
SELECT regexp_replace(walsizer.recommend('cnpg'), '^[^\n]*\n', '') AS cnpg;
SELECT split_part(walsizer.recommend('rds'), E'\n', 2) AS rds;
SELECT walsizer.recommend('terraform');
SELECT walsizer.recommend(NULL) IS NULL AS strict;

-- reset() clears journal and counters, says so, and lets the ids go on.
SELECT max(id) AS last_id FROM walsizer.decisions \gset
SELECT id - :last_id AS next, action, replace(reason, current_user, 'ROLE') AS reason FROM walsizer.reset();
SELECT count(*), min(id) - :last_id AS first FROM walsizer.decisions;
SELECT count(*) FROM walsizer.checkpoints;
SELECT num_timed, num_requested, num_wal_forced, stats_reset > now() - interval '1 minute' AS just_reset
FROM walsizer.stat;

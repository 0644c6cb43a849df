-- The settings are a contract: names, units, bounds, defaults, contexts.
SELECT name, unit, vartype, context, min_val, max_val, boot_val
FROM pg_settings WHERE name LIKE 'walsizer.%' ORDER BY name;
SELECT name, short_desc, extra_desc FROM pg_settings WHERE name LIKE 'walsizer.%' ORDER BY name;

-- Bounds are the server's own business; how it words them differs by version.
\set VERBOSITY sqlstate
ALTER SYSTEM SET walsizer.max = '1MB';
ALTER SYSTEM SET walsizer.threshold = 0;
ALTER SYSTEM SET walsizer.target_ratio = 1.5;
ALTER SYSTEM SET walsizer.history_size = 11;
ALTER SYSTEM SET walsizer.enable = 'maybe';
SET walsizer.max = '8GB';

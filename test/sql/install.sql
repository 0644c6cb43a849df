-- Can be installed, dropped and installed again, in any database, also in one with an odd search_path.
SET client_min_messages = warning;
CREATE EXTENSION walsizer;
SELECT state FROM walsizer.status;
DROP EXTENSION walsizer;
SET search_path = pg_temp;
CREATE EXTENSION walsizer;
RESET search_path;

-- What it consists of.
SELECT pg_describe_object(classid, objid, objsubid) AS member
FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
  AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'walsizer')
  AND classid IN ('pg_proc'::regclass, 'pg_class'::regclass)
ORDER BY pg_describe_object(classid, objid, objsubid) COLLATE "C";

-- Every view answers, and status and stat have one row.
SELECT count(*) FROM walsizer.status;
SELECT count(*) FROM walsizer.stat;
SELECT count(*) >= 0 AS answers FROM walsizer.decisions;
SELECT count(*) >= 0 AS answers FROM walsizer.windows;
SELECT count(*) >= 0 AS answers FROM walsizer.checkpoints;

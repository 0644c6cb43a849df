-- what_if() refuses sizes and times that make no sense, and says what would.
SELECT max_wal_size FROM walsizer.what_if(ARRAY[1024]);
SELECT max_wal_size FROM walsizer.what_if(ARRAY[pg_size_bytes('1GB'), 0]);
SELECT max_wal_size FROM walsizer.what_if(ARRAY[-1]);
SELECT max_wal_size FROM walsizer.what_if(ARRAY[9223372036854775807]);
SELECT max_wal_size FROM walsizer.what_if(ARRAY[pg_size_bytes('1GB'), NULL]);
SELECT max_wal_size FROM walsizer.what_if(ARRAY[[1073741824], [2147483648]]);
SELECT max_wal_size FROM walsizer.what_if(since => '-1 hour');
SELECT max_wal_size FROM walsizer.what_if(since => '0');

-- A server that was just started has nothing to tell from; here checkpoint_timeout is an hour.
\set VERBOSITY sqlstate
SELECT max_wal_size FROM walsizer.what_if();
SELECT max_wal_size FROM walsizer.what_if(ARRAY[pg_size_bytes('1GB')], '1 minute');

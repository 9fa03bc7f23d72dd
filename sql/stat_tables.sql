-- Without the library in shared_preload_libraries nothing is counted, and the view says so by NULLs; see t/025_counters.pl.
CREATE FOREIGN TABLE st_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO st_b SELECT i, i FROM generate_series(1, 100) i;
SELECT count(*) FROM st_b;
SELECT preloaded FROM bucketfdw.info();
SELECT * FROM bucketfdw.stat_tables WHERE relid = 'st_b'::regclass;
SELECT bucketfdw.stat_reset();
-- the number of tables is the server's to choose, and is not there without it
SET bucketfdw.max_counted_tables = 10;
DROP FOREIGN TABLE st_b;

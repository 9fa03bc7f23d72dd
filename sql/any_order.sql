-- Where no order of rows is wanted the number of runs costs nothing, and partitions may be bucketed by what they like.
SET client_min_messages = warning;
CREATE TABLE ao_h (k int, v int, w bigint, n numeric(10,2), t text COLLATE "C");
INSERT INTO ao_h SELECT g * 31 % 1000, CASE WHEN g % 11 > 0 THEN g % 13 END, g, g / 4.0, 't' || g % 5 FROM generate_series(1, 6000) g;
CREATE FOREIGN TABLE ao_b (k int, v int, w bigint, n numeric(10,2), t text COLLATE "C") SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '100');
CREATE FOREIGN TABLE ao_one_b (k int, v int, w bigint, n numeric(10,2), t text COLLATE "C") SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '100');
CREATE VIEW ao_one_h AS TABLE ao_h;
INSERT INTO ao_one_b TABLE ao_h;
DO $$
BEGIN
	FOR i IN 0 .. 19 LOOP
		INSERT INTO ao_b SELECT * FROM ao_h WHERE w % 20 = i;
		COMMIT;
	END LOOP;
END
$$;
-- a part of the rows each: other keys, column numbers and bucket counts, a table without rows, levels of partitions
CREATE TABLE ao_part_b (k int, v int, w bigint, n numeric(10,2), t text COLLATE "C") PARTITION BY RANGE (w);
CREATE VIEW ao_part_h AS TABLE ao_h;
CREATE FOREIGN TABLE ao_p0 PARTITION OF ao_part_b FOR VALUES FROM (-100) TO (0) SERVER bucketfdw OPTIONS (bucket_by 'v', buckets '2');
CREATE FOREIGN TABLE ao_p1 PARTITION OF ao_part_b FOR VALUES FROM (0) TO (2000) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '100');
CREATE FOREIGN TABLE ao_p2 (t text COLLATE "C", dropped int, n numeric(10,2), w bigint, v int, k int) SERVER bucketfdw OPTIONS (bucket_by 't', buckets '3', sort_by 't, w desc');
ALTER FOREIGN TABLE ao_p2 DROP COLUMN dropped;
ALTER TABLE ao_part_b ATTACH PARTITION ao_p2 FOR VALUES FROM (2000) TO (4000);
CREATE TABLE ao_p3 PARTITION OF ao_part_b FOR VALUES FROM (4000) TO (9000) PARTITION BY LIST (t);
CREATE FOREIGN TABLE ao_p3a PARTITION OF ao_p3 FOR VALUES IN ('t0', 't1') SERVER bucketfdw OPTIONS (bucket_by 'w, k', buckets '5');
CREATE FOREIGN TABLE ao_p3b PARTITION OF ao_p3 FOR VALUES IN ('t2', 't3', 't4') SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1', block_rows '70');
CREATE FOREIGN TABLE ao_p4 PARTITION OF ao_part_b FOR VALUES FROM (9000) TO (9999) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO ao_part_b SELECT * FROM ao_h WHERE w % 2 = 0;
INSERT INTO ao_part_b SELECT * FROM ao_h WHERE w % 2 = 1;
ANALYZE ao_h; ANALYZE ao_b; ANALYZE ao_one_b; ANALYZE ao_part_b;
CREATE TABLE ao_queries AS
SELECT replace(q, 'ao_b', t) AS q, n FROM unnest(ARRAY['ao_one_b', 'ao_b', 'ao_part_b']) t, unnest(ARRAY[
	'SELECT sum(v), count(v), count(*), avg(n), max(t) FROM ao_b',
	'SELECT sum(w), sum(n), min(w), count(*) FILTER (WHERE t > ''t1'') FROM ao_b WHERE w > 1900 AND v <> 3',
	'SELECT v, sum(n), count(*) FROM ao_b GROUP BY v',
	'SELECT t, v, sum(w * 2), min(k) FROM ao_b WHERE k < 700 GROUP BY t, v HAVING count(*) > 1',
	'SELECT sum(v) FROM ao_b WHERE w % 3 = 1 AND t LIKE ''%1''',
	'SELECT count(*), sum(v) FROM ao_b WHERE k = NULL',
	'SELECT v, sum(w) FROM ao_b WHERE w > (SELECT 3500) GROUP BY v']) WITH ORDINALITY u (q, n);
SET enable_hashagg = on; SET max_parallel_workers_per_gather = 0;
SELECT q, nodes(q, false), same(q) FROM ao_queries ORDER BY n, q;
-- one unit takes few rows, processes share them
SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SELECT nodes('SELECT v, sum(n), count(*) FROM ao_part_b GROUP BY v', false);
SELECT same(q), count(*) FROM ao_queries GROUP BY q, n ORDER BY n, q;
SET bucketfdw.debug_unit_rows = 150; SET parallel_leader_participation = off;
SELECT same(q), count(*) FROM ao_queries GROUP BY q, n ORDER BY n, q;
RESET bucketfdw.debug_unit_rows; RESET parallel_leader_participation;
RESET max_parallel_workers_per_gather; RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;
-- again and again, with parameters that leave out partitions, all of them too
SELECT same('SELECT a.k, (SELECT sum(w) FROM ao_part_b b WHERE b.w BETWEEN a.k * 10 AND a.k * 10 + 1500) FROM ao_h a WHERE w < 12');
SET plan_cache_mode = force_generic_plan;
PREPARE ao AS SELECT v, sum(w), count(*) FROM ao_part_b WHERE w BETWEEN $1 AND $2 GROUP BY v ORDER BY v LIMIT 2;
EXECUTE ao (100, 5000);
EXECUTE ao (100, 300);
EXECUTE ao (-10, -5);
EXPLAIN (COSTS OFF) EXECUTE ao (1000, 2100);
DEALLOCATE ao; RESET plan_cache_mode;
-- not where one of the partitions is a heap table
CREATE TABLE ao_p5 PARTITION OF ao_part_b FOR VALUES FROM (20000) TO (20001);
SELECT nodes('SELECT sum(v) FROM ao_part_b', false), same('SELECT sum(v) FROM ao_part_b');
RESET enable_hashagg;
DROP VIEW ao_one_h, ao_part_h;
DROP TABLE ao_part_b, ao_h, ao_queries;
DROP FOREIGN TABLE ao_b, ao_one_b;

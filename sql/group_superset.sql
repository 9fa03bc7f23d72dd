-- GROUP BY and DISTINCT on the key and more, ordered aggregates: rows of each key in an order of their own.
CREATE TABLE g_h (k int, d date, n numeric, t text, v int);
INSERT INTO g_h SELECT CASE WHEN i % 17 = 0 THEN NULL WHEN i % 3 = 0 THEN 7 ELSE i % 200 END, CASE WHEN i % 19 > 0 THEN date '2020-01-01' + i % 9 END,
	CASE i % 11 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN 1.0 WHEN 3 THEN 1.00 ELSE i % 4 / 2.0 END, CASE WHEN i % 5 > 0 THEN 't' || i % 7 END, i FROM generate_series(1, 3000) i;
CREATE FOREIGN TABLE g_b (k int, d date, n numeric, t text, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '6', sort_by 'k, d desc, n', block_rows '50');
INSERT INTO g_b SELECT * FROM g_h WHERE v % 3 = 0; INSERT INTO g_b SELECT * FROM g_h WHERE v % 3 <> 0 AND v < 2000; INSERT INTO g_b SELECT * FROM g_h WHERE v % 3 <> 0 AND v >= 2000;
CREATE TABLE w_h (k bigint, w int);
INSERT INTO w_h SELECT CASE WHEN i % 30 = 0 THEN NULL ELSE i % 250 - 20 END, i FROM generate_series(1, 700) i;
CREATE FOREIGN TABLE w_b (k bigint, w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '9', sort_by 'k, w desc', block_rows '30');
INSERT INTO w_b SELECT * FROM w_h WHERE w > 300; INSERT INTO w_b SELECT * FROM w_h WHERE w <= 300;
CREATE TABLE p_h (d int, k int, v int);
INSERT INTO p_h SELECT i % 3, CASE WHEN i % 11 = 0 THEN NULL ELSE i % 150 END, i FROM generate_series(1, 1200) i;
CREATE TABLE p_b (d int, k int, v int) PARTITION BY LIST (d);
CREATE FOREIGN TABLE p_0 PARTITION OF p_b FOR VALUES IN (0) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '40');
CREATE FOREIGN TABLE p_1 PARTITION OF p_b FOR VALUES IN (1) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '6', block_rows '30');
CREATE FOREIGN TABLE p_2 (v int, k int, d int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', sort_by 'k, v desc');
ALTER TABLE p_b ATTACH PARTITION p_2 FOR VALUES IN (2);
INSERT INTO p_b SELECT * FROM p_h WHERE v % 2 = 0; INSERT INTO p_b SELECT * FROM p_h WHERE v % 2 = 1;
CREATE TABLE u_h (tenant int, uid text, x int);
INSERT INTO u_h SELECT CASE WHEN i % 13 > 0 THEN i % 3 END, CASE WHEN i % 14 > 0 THEN 'u' || i % 40 END, i FROM generate_series(1, 900) i;
CREATE FOREIGN TABLE u_b (tenant int, uid text, x int) SERVER bucketfdw OPTIONS (bucket_by 'tenant, uid', buckets '5', block_rows '30');
INSERT INTO u_b SELECT * FROM u_h WHERE x % 2 = 0; INSERT INTO u_b SELECT * FROM u_h WHERE x % 2 = 1;
ANALYZE g_h; ANALYZE g_b; ANALYZE w_h; ANALYZE w_b; ANALYZE p_h; ANALYZE p_0; ANALYZE p_1; ANALYZE p_2; ANALYZE u_h; ANALYZE u_b;

-- By core's plans, and without their hash and sort?
CREATE FUNCTION both_ways(q text, OUT answer text, OUT forced text, OUT by_key boolean) LANGUAGE plpgsql AS $$
BEGIN
	answer := same(q);
	PERFORM set_config('enable_hashagg', 'off', true), set_config('enable_sort', 'off', true);
	forced := same(q);
	by_key := nodes(q) ~ 'BucketRows|BucketAggregate|Aggregate, Foreign|Aggregate, BucketJoin' AND nodes(q) !~ 'Hash|Sort';
	PERFORM set_config('enable_hashagg', 'on', true), set_config('enable_sort', 'on', true);
END
$$;
SELECT q, (both_ways(q)).* FROM unnest(ARRAY[
	'SELECT k, d, count(*) FROM g_b GROUP BY k, d',
	'SELECT d, k, count(*), sum(n) FROM g_b GROUP BY d, k',
	'SELECT k, trim_scale(n), d, count(*), max(v) FROM g_b GROUP BY n, k, d',
	'SELECT k, trim_scale(n), count(*) FROM g_b GROUP BY k, n',
	'SELECT k, t, count(*), avg(v) FROM g_b GROUP BY k, t',
	'SELECT k, t, d, count(*) FROM g_b GROUP BY k, d, t HAVING count(*) > 1',
	'SELECT k, v % 3, count(*), min(d) FROM g_b GROUP BY k, v % 3',
	'SELECT upper(t), k, count(*) FILTER (WHERE v > 1000) FROM g_b GROUP BY k, upper(t)',
	'SELECT k + 1, count(*) FROM g_b GROUP BY k, t',
	'SELECT count(*) FROM g_b GROUP BY k, t',
	'SELECT DISTINCT k, t FROM g_b',
	'SELECT DISTINCT d, k FROM g_b',
	'SELECT DISTINCT k, d, t, v % 5 FROM g_b',
	'SELECT DISTINCT k, v / 700 FROM p_b',
	'SELECT k, d, count(*) FROM g_b WHERE v > 2500 AND t IS NOT NULL GROUP BY k, d',
	'SELECT k, d, count(*) FROM p_b GROUP BY k, d',
	'SELECT k, count(*), avg(v), sum(v + 1) FROM p_b GROUP BY k',
	'SELECT k, v % 4, count(*) FROM p_b WHERE d > 0 GROUP BY k, v % 4',
	'SELECT a.k, a.t, count(*), sum(w) FROM g_b a JOIN w_b b USING (k) GROUP BY a.k, a.t',
	'SELECT a.k, w % 3, count(*) FROM g_b a LEFT JOIN w_b b USING (k) GROUP BY a.k, w % 3',
	'SELECT k, t, count(*), max(w) FROM g_b FULL JOIN w_b USING (k) GROUP BY k, t',
	'SELECT DISTINCT k, w FROM g_b FULL JOIN w_b USING (k)',
	'SELECT p.k, p.d, count(*) FROM p_b p JOIN w_b USING (k) GROUP BY p.k, p.d',
	'SELECT tenant, uid, x % 2, count(*) FROM u_b GROUP BY x % 2, uid, tenant',
	-- a key that is fixed need not be named
	'SELECT uid, count(*), sum(x) FROM u_b WHERE tenant = 1 GROUP BY uid',
	'SELECT uid, x % 2, count(*) FROM u_b WHERE tenant = 1 GROUP BY uid, x % 2',
	'SELECT tenant, uid, count(*) FROM u_b WHERE tenant = 1 GROUP BY tenant, uid',
	'SELECT DISTINCT uid FROM u_b WHERE tenant = 2',
	'SELECT a.uid, count(*) FROM u_b a JOIN u_b b USING (tenant, uid) WHERE tenant = 1 GROUP BY a.uid',
	-- ordered aggregates
	'SELECT k, count(DISTINCT t), count(DISTINCT d) FROM g_b GROUP BY k',
	'SELECT k, array_agg(v ORDER BY v) FROM g_b GROUP BY k',
	'SELECT k, array_agg(v ORDER BY d DESC, v), string_agg(t, '','' ORDER BY v DESC) FROM g_b GROUP BY k',
	'SELECT k, t, array_agg(v ORDER BY v DESC), count(DISTINCT d) FROM g_b GROUP BY k, t',
	'SELECT k, count(DISTINCT v % 10) FILTER (WHERE v > 500), sum(DISTINCT v % 5) FROM g_b GROUP BY k HAVING count(DISTINCT d) > 2',
	'SELECT k, percentile_disc(0.5) WITHIN GROUP (ORDER BY v), count(*) FROM g_b GROUP BY k',
	'SELECT a.k, count(DISTINCT w), array_agg(DISTINCT a.t) FROM g_b a JOIN w_b b USING (k) GROUP BY a.k',
	'SELECT k, count(DISTINCT w), array_agg(v ORDER BY v, w) FROM g_b FULL JOIN w_b USING (k) GROUP BY k',
	'SELECT k, count(DISTINCT v % 7), array_agg(v ORDER BY d, v) FROM p_b GROUP BY k']) q;
-- refused: a group lies in several buckets, or grouping sets; or computed by a subquery or anew each time
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT d, count(*) FROM g_b GROUP BY d',
	'SELECT uid, count(*) FROM u_b GROUP BY uid',
	'SELECT uid, count(*) FROM u_b WHERE tenant > 0 GROUP BY uid',
	'SELECT k, t, count(*) FROM g_b GROUP BY ROLLUP (k, t)',
	'SELECT k, t, count(*) FROM g_b GROUP BY GROUPING SETS ((k, t), (k), ())',
	'SELECT k, (SELECT max(w) FROM w_b WHERE w_b.k = g_b.v) x, count(*) FROM g_b GROUP BY k, x',
	'SELECT k, count(DISTINCT (SELECT max(w) FROM w_b WHERE w_b.k = g_b.v)) FROM g_b GROUP BY k',
	'SELECT a.k, b.k, count(*) FROM g_b a LEFT JOIN w_b b USING (k) GROUP BY b.k, a.k']) q;
SET enable_hashagg = off;
SELECT nodes('SELECT d, count(*) FROM g_b GROUP BY d') ~ 'BucketRows' OR nodes('SELECT uid, count(*) FROM u_b WHERE tenant > 0 GROUP BY uid') ~ 'BucketRows' OR
	nodes('SELECT k, random() < 2 x, count(*) FROM g_b GROUP BY k, x') ~ 'BucketRows' wrong;
-- files that have the order need no sort
SELECT measured('SELECT k, d, count(*) FROM g_b GROUP BY k, d', 'Rows Sorted'), measured('SELECT k, t, count(*) FROM g_b GROUP BY k, t', 'Rows Sorted'),
	measured('SELECT k, count(DISTINCT t) FROM g_b GROUP BY k, n, d', 'Rows Sorted') IN ('0', '3000');
PREPARE by_day(int) AS SELECT count(*), sum(c), max(d) FROM (SELECT k, d, count(*) c FROM g_b WHERE v > $1 GROUP BY k, d OFFSET 0) s;
EXECUTE by_day(0); EXECUTE by_day(100); EXECUTE by_day(200); EXECUTE by_day(300); EXECUTE by_day(400); EXECUTE by_day(1000);
INSERT INTO g_b SELECT k, d, n, t, v + 3000 FROM g_h WHERE v % 4 = 0; INSERT INTO g_h SELECT k, d, n, t, v + 3000 FROM g_h WHERE v % 4 = 0;
EXECUTE by_day(1000);
SELECT count(*), sum(c), max(d) FROM (SELECT k, d, count(*) c FROM g_h WHERE v > 1000 GROUP BY k, d OFFSET 0) s;
DEALLOCATE by_day;
SELECT same('SELECT k, d, count(*) FROM g_b GROUP BY k, d'), measured('SELECT k, d, count(*) FROM g_b GROUP BY k, d', 'Rows Sorted');
-- rescans; read in part; one key that does not fit into memory
SELECT same('SELECT x, s.* FROM generate_series(0, 4) x, LATERAL (SELECT k, t, count(*), max(v) FROM g_b WHERE v % 5 = x GROUP BY k, t OFFSET 0) s');
SELECT same('SELECT x, (SELECT count(*) FROM (SELECT k, d FROM g_b WHERE v % 5 = x GROUP BY k, d OFFSET 0) s) FROM generate_series(0, 4) x');
SELECT same('SELECT x, EXISTS (SELECT k FROM p_b WHERE v % 5 = x GROUP BY k, d HAVING count(*) > 1 OFFSET 5) FROM generate_series(0, 9) x');
SELECT count(*) FROM (SELECT k, t, count(*) FROM g_b GROUP BY k, t LIMIT 40) s;
SET work_mem = '64kB';
CREATE TABLE hot_h AS SELECT CASE WHEN i % 10 > 0 THEN 1 ELSE i END k, md5((i % 5000)::text) t, i v FROM generate_series(1, 20000) i;
CREATE FOREIGN TABLE hot_b (k int, t text, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO hot_b SELECT * FROM hot_h;
SELECT same('SELECT k, t, count(*), sum(v) FROM hot_b GROUP BY k, t'), measured('SELECT k, t, count(*) FROM hot_b GROUP BY k, t', 'Sort Disk')::int > 0 spilled;
RESET work_mem;
-- no file
CREATE FOREIGN TABLE e_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
SELECT k, v, count(*) FROM e_b GROUP BY k, v;
-- in several processes
SET enable_sort = off;
SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SELECT nodes('SELECT k, t, count(*) FROM g_b GROUP BY k, t'), nodes('SELECT a.k, w, count(DISTINCT t) FROM g_b a JOIN w_b USING (k) GROUP BY a.k, w');
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT k, t, count(*) FROM g_b GROUP BY k, t',
	'SELECT k, d, count(*) FROM g_b GROUP BY k, d',
	'SELECT DISTINCT k, v % 3 FROM p_b',
	'SELECT a.k, w, count(DISTINCT t) FROM g_b a JOIN w_b USING (k) GROUP BY a.k, w',
	'SELECT k, count(DISTINCT t), avg(w) FROM g_b FULL JOIN w_b USING (k) GROUP BY k']) q;
RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;
EXPLAIN (COSTS OFF) SELECT k, d, count(*) FROM p_b GROUP BY k, d;
EXPLAIN (COSTS OFF, VERBOSE) SELECT k, upper(t), count(*) FROM g_b GROUP BY k, upper(t);
RESET enable_hashagg; RESET enable_sort;
DROP FUNCTION both_ways(text);
DROP FOREIGN TABLE g_b, w_b, u_b, hot_b, e_b;
DROP TABLE p_b, p_h, g_h, w_h, u_h, hot_h;

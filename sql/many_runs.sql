-- Merges of many runs: windows of sorted images, and the heap for NULLs and the greatest key.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
SET client_min_messages = warning;
SET search_path = public;
CREATE TABLE mr_a_h (k bigint, v int);
CREATE TABLE mr_c_h (k int, w int);
CREATE FOREIGN TABLE mr_a_b (k bigint, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '50');
CREATE FOREIGN TABLE mr_c_b (k int, w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2', block_rows '30');
CREATE FOREIGN TABLE mr_f_b (k float8, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '3', block_rows '20');
-- 40 runs of each bucket: duplicates within and between runs, NULLs, both ends of the range, runs of one row
INSERT INTO mr_a_h
SELECT CASE g % 50 WHEN 0 THEN NULL WHEN 1 THEN 9223372036854775807 WHEN 2 THEN -9223372036854775808
			WHEN 3 THEN 9223372036854775806 ELSE (g::bigint * 7919) % 3000 - 1000 END, g
FROM generate_series(1, 16000) g;
INSERT INTO mr_c_h
SELECT CASE g % 40 WHEN 0 THEN NULL WHEN 1 THEN 2147483647 ELSE (g * 31) % 2500 - 1000 END, g
FROM generate_series(1, 3000) g;
DO $$
BEGIN
	FOR i IN 0 .. 39 LOOP
		INSERT INTO mr_a_b SELECT * FROM mr_a_h WHERE v % 40 = i;
		INSERT INTO mr_f_b SELECT CASE v % 30 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '-Infinity' ELSE k / 8.0::float8 END, v
			FROM mr_a_h WHERE v % 40 = i;
		IF i % 4 = 0 THEN
			INSERT INTO mr_c_b SELECT * FROM mr_c_h WHERE w % 40 BETWEEN i AND i + 3;
		ELSE
			INSERT INTO mr_a_b VALUES (i * 10, -i);
		END IF;
		COMMIT;
	END LOOP;
END
$$;
INSERT INTO mr_a_h SELECT v * -10, v FROM generate_series(-39, 0) v WHERE v % 4 <> 0;
CREATE VIEW mr_f_h AS
SELECT CASE v % 30 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '-Infinity' ELSE k / 8.0::float8 END AS k, v FROM mr_a_h WHERE v > 0;
SELECT relid, round(runs::numeric / buckets) AS runs_per_bucket FROM bucketfdw.tables WHERE relid::text ~ '^mr_' ORDER BY 1;
ANALYZE mr_a_h; ANALYZE mr_c_h;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
SELECT nodes('SELECT count(*), sum(v), sum(w) FROM mr_a_b JOIN mr_c_b USING (k)');
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT k, v, w FROM mr_a_b JOIN mr_c_b USING (k)',
	'SELECT k, v, w FROM mr_a_b LEFT JOIN mr_c_b USING (k)',
	'SELECT k, v, w FROM mr_a_b RIGHT JOIN mr_c_b USING (k)',
	'SELECT * FROM mr_a_b a WHERE EXISTS (SELECT FROM mr_c_b c WHERE c.k = a.k)',
	'SELECT * FROM mr_a_b a WHERE NOT EXISTS (SELECT FROM mr_c_b c WHERE c.k = a.k)',
	'SELECT count(*), sum(a.v::bigint * b.v) FROM mr_a_b a JOIN mr_a_b b USING (k) WHERE a.v % 7 = 0 AND b.v % 11 = 0',
	'SELECT k, count(*), sum(v) FROM mr_a_b GROUP BY k',
	'SELECT k, count(*), sum(v) FROM mr_f_b GROUP BY k',
	'SELECT DISTINCT k FROM mr_a_b WHERE v > 100',
	-- few keys on one side: most of the other is skipped
	'SELECT a.k, v, w FROM mr_a_b a JOIN mr_c_b c USING (k) WHERE w IN (5, 1500, 2990)',
	'SELECT a.k, v, w FROM mr_a_b a JOIN mr_c_b c USING (k) WHERE w < 40 AND v % 3 = 0',
	'SELECT a.k, a.v, b.v FROM mr_f_b a JOIN mr_f_b b USING (k) WHERE a.v < 50 AND b.v % 5 = 0']) q;
-- in order, to the end and not
SELECT bool_and(k >= before) AS ordered, count(*) FROM (SELECT k, lag(k) OVER (ORDER BY k) AS before FROM mr_a_b) s;
SELECT k, count(*) FROM (SELECT k FROM mr_a_b ORDER BY k LIMIT 500) s GROUP BY k ORDER BY k;
-- keys far apart; keys in clusters far from each other, which their first bits do not tell apart; one key in all runs
CREATE TABLE mr_w_h (k bigint, c bigint, e bigint, v int);
INSERT INTO mr_w_h
SELECT ('x' || substr(md5((g % 6000)::text), 1, 16))::bit(64)::bigint,
	(g * 7 % 500) + CASE g % 3 WHEN 0 THEN 0 WHEN 1 THEN 4611686018427387904 ELSE -4611686018427387904 END,
	CASE WHEN g % 4 = 0 THEN g ELSE 4242 END, g
FROM generate_series(1, 12000) g;
CREATE FOREIGN TABLE mr_w_b (k bigint, c bigint, e bigint, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1', block_rows '500');
CREATE FOREIGN TABLE mr_x_b (k bigint, c bigint, e bigint, v int) SERVER bucketfdw OPTIONS (bucket_by 'c', buckets '1', block_rows '500');
CREATE FOREIGN TABLE mr_y_b (k bigint, c bigint, e bigint, v int) SERVER bucketfdw OPTIONS (bucket_by 'e', buckets '1', block_rows '500');
CREATE VIEW mr_x_h AS TABLE mr_w_h;
CREATE VIEW mr_y_h AS TABLE mr_w_h;
-- keys that grow from load to load: the runs follow each other, with a little overlap
CREATE TABLE mr_g_h (k bigint, v int);
INSERT INTO mr_g_h SELECT g / 3 + (g % 7) * 20, g FROM generate_series(1, 60000) g;
CREATE FOREIGN TABLE mr_g_b (k bigint, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1');
DO $$
BEGIN
	FOR i IN 0 .. 29 LOOP
		INSERT INTO mr_w_b SELECT * FROM mr_w_h WHERE v % 30 = i;
		INSERT INTO mr_x_b SELECT * FROM mr_w_h WHERE v % 30 = i;
		INSERT INTO mr_y_b SELECT * FROM mr_w_h WHERE v % 30 = i;
		INSERT INTO mr_g_b SELECT * FROM mr_g_h WHERE (v - 1) / 2000 = i;
		COMMIT;
	END LOOP;
END
$$;
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT k, a.v, b.v FROM mr_w_b a JOIN mr_w_b b USING (k) WHERE b.v % 3 = 0',
	'SELECT k, a.v, b.v FROM mr_w_b a LEFT JOIN mr_w_b b USING (k) WHERE a.v < 500',
	'SELECT c, count(*), sum(v), max(k) FROM mr_x_b GROUP BY c',
	'SELECT c, count(*), sum(a.v::bigint * b.v) FROM mr_x_b a JOIN mr_x_b b USING (c) WHERE b.v % 50 = 0 GROUP BY c',
	'SELECT e, count(*), sum(v), min(k) FROM mr_y_b GROUP BY e',
	'SELECT count(*), sum(a.v::bigint * b.v) FROM mr_y_b a JOIN mr_y_b b USING (e) WHERE b.v % 100 = 1',
	'SELECT k, a.v, b.v FROM mr_g_b a JOIN mr_g_b b USING (k) WHERE b.v % 5 = 0',
	'SELECT k, count(*), sum(v) FROM mr_g_b GROUP BY k']) q;
-- of runs that follow each other, few have a block in memory
SET max_parallel_workers_per_gather = 0;
SELECT measured('SELECT count(*), sum(a.v) FROM mr_g_b a JOIN mr_c_b c USING (k)', 'Memory')::int < 300 AS little;
RESET max_parallel_workers_per_gather;
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop;
-- Of the side that ends first, a filter takes whole batches behind the last key that matches.  Rows of frequent keys
-- that the other side still has are handed out when it has ended: no column of its last batch may be asked for then.
CREATE TABLE mr_l_h (k int, f int, v int, n numeric, t text);
INSERT INTO mr_l_h SELECT least(g / 100, 10), g / 1000, g, g / 7.0, 'text ' || g FROM generate_series(0, 4999) g;
CREATE FOREIGN TABLE mr_l_b (k int, f int, v int, n numeric, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1', block_rows '20');
CREATE FOREIGN TABLE mr_m_b (k int, f int, v int, n numeric, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1', block_rows '20');
INSERT INTO mr_m_b TABLE mr_l_h;
CREATE VIEW mr_m_h AS TABLE mr_l_h;
-- Two runs, merged by the heap, whose last batch is one full block.  It is twice as large as those are (64 kB a column
-- read, here three) whose memory is kept for the next block: its memory is gone when the side has ended.
CREATE TABLE mr_v_h (k int, t text, v int);
INSERT INTO mr_v_h SELECT 0, 'short', g FROM generate_series(1, 100) g;
INSERT INTO mr_v_h SELECT 1, (SELECT string_agg(md5((12 * g + i)::text), '') FROM generate_series(0, 11) i), g FROM generate_series(101, 4050) g;
CREATE FOREIGN TABLE mr_v_b (k int, t text, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1', block_rows '1000');
DO $$
BEGIN
	FOR i IN 0 .. 9 LOOP
		INSERT INTO mr_l_b SELECT * FROM mr_l_h WHERE v % 10 = i;
		IF i < 2 THEN
			INSERT INTO mr_v_b SELECT * FROM mr_v_h WHERE (v <= 50)::int = i;
		END IF;
		COMMIT;
	END LOOP;
END
$$;
ANALYZE mr_l_h; ANALYZE mr_v_h;
SELECT nodes('SELECT k, sum(a.v), sum(a.n), min(a.t) FROM mr_l_b a JOIN mr_m_b b USING (k) WHERE a.f * a.f = 0 GROUP BY k');
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT k, count(*), sum(a.v), sum(a.n), min(a.t), max(b.t) FROM mr_l_b a JOIN mr_m_b b USING (k) WHERE a.f * a.f = 0 GROUP BY k',
	'SELECT k, count(*), sum(b.v), sum(b.n), min(b.t), max(a.t) FROM mr_m_b a JOIN mr_l_b b USING (k) WHERE b.f * b.f = 0 GROUP BY k',
	'SELECT count(*), sum(a.v), sum(a.n), sum(b.n) FROM mr_l_b a JOIN mr_m_b b USING (k) WHERE a.f * a.f = 0',
	'SELECT count(*), sum(b.v), sum(b.n), sum(a.n) FROM mr_m_b a JOIN mr_l_b b USING (k) WHERE b.f * b.f = 0',
	'SELECT b.k, count(*), sum(a.v), sum(a.n), min(a.t) FROM (SELECT * FROM mr_l_b WHERE f * f = 0) a RIGHT JOIN mr_m_b b USING (k) GROUP BY b.k',
	-- the side that ends is a join
	'SELECT k, count(*), sum(a.v), sum(a.n), min(a.t), sum(c.v) FROM mr_l_b a JOIN mr_l_b c USING (k) JOIN mr_m_b b USING (k) WHERE a.f * a.f = 0 AND c.v % 25 = 0 GROUP BY k',
	'SELECT k, count(*), sum(a.v) FROM mr_v_b a JOIN mr_v_b b USING (k) WHERE length(a.t) < 20 GROUP BY k',
	'SELECT k, count(*), sum(b.v) FROM mr_v_b a JOIN mr_v_b b USING (k) WHERE length(b.t) < 20 GROUP BY k']) q;
-- Only counted: rows of a key are one row that tells how many they are.  One key in more rows than a counter of two
-- bytes holds; keys that are dense, then sparse, then dense again; filters by batch and by row; chains, outer joins.
CREATE TABLE mr_n_h (k int, v int);
INSERT INTO mr_n_h SELECT CASE WHEN g <= 100000 THEN 7 WHEN g <= 130000 THEN g % 500 WHEN g <= 160000 THEN g
	ELSE 1000000 + g % 300 END, g FROM generate_series(1, 180000) g;
CREATE FOREIGN TABLE mr_n_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1');
DO $$
BEGIN
	FOR i IN 0 .. 5 LOOP
		INSERT INTO mr_n_b SELECT * FROM mr_n_h WHERE v % 6 = i;
		COMMIT;
	END LOOP;
END
$$;
ANALYZE mr_n_h; ANALYZE mr_n_b; ANALYZE mr_a_b; ANALYZE mr_c_b; ANALYZE mr_w_h; ANALYZE mr_g_h;
SET enable_mergejoin = off; SET enable_hashagg = off;
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT count(*) FROM mr_a_b JOIN mr_c_b USING (k)',
	'SELECT count(*), count(1) FROM mr_a_b LEFT JOIN mr_c_b USING (k)',
	'SELECT count(*) FROM mr_a_b RIGHT JOIN mr_c_b USING (k)',
	'SELECT count(*) FROM mr_a_b FULL JOIN mr_c_b USING (k)',
	'SELECT count(*) FROM mr_a_b a JOIN mr_a_b b USING (k)',
	'SELECT count(*) FROM mr_a_b a WHERE EXISTS (SELECT FROM mr_c_b c WHERE c.k = a.k)',
	'SELECT count(*) FROM mr_a_b a WHERE NOT EXISTS (SELECT FROM mr_c_b c WHERE c.k = a.k)',
	'SELECT count(*) FROM mr_a_b a JOIN mr_c_b c USING (k) WHERE v > 5000 AND w < 2000',
	'SELECT count(*) FROM mr_a_b a JOIN mr_c_b c USING (k) WHERE v % 3 = 0',
	'SELECT count(*) FROM mr_a_b a LEFT JOIN mr_c_b c ON a.k = c.k AND w < 1000',
	'SELECT count(*) FILTER (WHERE v % 2 = 0) FROM mr_a_b a JOIN mr_c_b c USING (k)',
	'SELECT count(*), count(v) FROM mr_a_b a JOIN mr_c_b c USING (k)',
	'SELECT count(*) FROM mr_a_b a JOIN mr_c_b c USING (k) JOIN mr_g_b g USING (k)',
	'SELECT a.k, count(*) FROM mr_a_b a JOIN mr_c_b c USING (k) GROUP BY a.k HAVING count(*) > 3',
	'SELECT c.k, count(*) FROM mr_a_b a RIGHT JOIN mr_c_b c USING (k) GROUP BY c.k',
	'SELECT k, count(*) FROM mr_a_b a LEFT JOIN mr_c_b c USING (k) GROUP BY k',
	'SELECT k, count(*) FROM mr_a_b GROUP BY k',
	'SELECT k, count(*), count(*) FILTER (WHERE v > 3000) FROM mr_a_b GROUP BY k',
	'SELECT k, count(*) FROM mr_a_b WHERE v > 3000 GROUP BY k HAVING count(*) > 1',
	'SELECT k, count(*) FROM mr_f_b GROUP BY k',
	'SELECT DISTINCT k FROM mr_a_b',
	'SELECT k, count(*) FROM mr_w_b GROUP BY k',
	'SELECT c, count(*) FROM mr_x_b GROUP BY c',
	'SELECT e, count(*) FROM mr_y_b GROUP BY e',
	'SELECT k, count(*) FROM mr_g_b GROUP BY k',
	'SELECT count(*) FROM mr_n_b a JOIN mr_c_b b USING (k)',
	'SELECT k, count(*) FROM mr_n_b GROUP BY k',
	'SELECT count(*) FROM mr_n_b a JOIN mr_g_b b USING (k)',
	'SELECT count(*) FROM mr_n_b a JOIN mr_n_b b USING (k) WHERE a.k <> 7',
	'SELECT c.k, (SELECT count(*) FROM mr_a_b a JOIN mr_g_b b USING (k) WHERE a.v > c.w * 5) FROM mr_c_b c WHERE w BETWEEN 100 AND 103']) q;
-- in units cut between keys, and inside them, taken by several processes
SET bucketfdw.debug_unit_rows = 700; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT count(*) FROM mr_a_b JOIN mr_c_b USING (k)',
	'SELECT count(*) FROM mr_n_b a JOIN mr_g_b b USING (k)',
	'SELECT count(*), sum(n) FROM (SELECT k, count(*) n FROM mr_n_b GROUP BY k) s']) q;
RESET bucketfdw.debug_unit_rows; RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;
-- fewer keys are looked at, and rows are counted as what they are
SET max_parallel_workers_per_gather = 0;
CREATE FUNCTION rows_of(query text) RETURNS TABLE (node text, n numeric) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON, COSTS OFF, TIMING OFF) ' || query INTO plan;
	RETURN QUERY WITH RECURSIVE nodes AS (
		SELECT plan->0->'Plan' AS n, ARRAY[0] AS path
		UNION ALL
		SELECT c.value, path || c.ordinality::int FROM nodes, json_array_elements(nodes.n->'Plans') WITH ORDINALITY c
	)
	SELECT coalesce(nodes.n->>'Custom Plan Provider', nodes.n->>'Node Type'), round((nodes.n->>'Actual Rows')::numeric)
	FROM nodes ORDER BY path;
END
$$;
SELECT measured('SELECT count(*) FROM mr_a_b JOIN mr_c_b USING (k)', 'Rows Compared')::int <
	measured('SELECT count(*), sum(v) FROM mr_a_b JOIN mr_c_b USING (k)', 'Rows Compared')::int / 2 AS fewer;
SELECT * FROM rows_of('SELECT count(*) FROM mr_g_b JOIN mr_n_b USING (k)') WHERE node = 'BucketJoin';
SELECT * FROM rows_of('SELECT k, count(*) FROM mr_n_b GROUP BY k');
SELECT count(*) FROM mr_g_h JOIN mr_n_h USING (k);
SELECT count(DISTINCT k), count(*) FROM mr_n_h;
RESET max_parallel_workers_per_gather; RESET enable_hashagg; RESET enable_mergejoin;
DROP FUNCTION rows_of;
-- More runs than compaction leaves, joined in every way.
CREATE TABLE mr_s_h (k int, v int, n numeric, f float8);
INSERT INTO mr_s_h SELECT CASE WHEN g % 37 = 0 THEN NULL WHEN g % 5 = 0 THEN 11 ELSE g * 31 % 1500 END, g, g / 8.0, g FROM generate_series(1, 13000) g;
CREATE TABLE mr_t_h (k bigint, w int); INSERT INTO mr_t_h SELECT CASE WHEN g % 50 = 0 THEN NULL ELSE g END, g % 9 FROM generate_series(-100, 900) g;
INSERT INTO mr_t_h VALUES (11, 100), (11, 101), (12, 102);
CREATE FOREIGN TABLE mr_s_b (k int, v int, n numeric, f float8) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE FOREIGN TABLE mr_t_b (k bigint, w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO mr_t_b TABLE mr_t_h;
DO $$
BEGIN
	FOR i IN 0 .. 129 LOOP
		INSERT INTO mr_s_b SELECT * FROM mr_s_h WHERE v % 130 = i;
		COMMIT;
	END LOOP;
END
$$;
ANALYZE mr_s_h; ANALYZE mr_t_h; ANALYZE mr_s_b; ANALYZE mr_t_b;
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(v), sum(n), sum(f), max(w) FROM mr_s_b JOIN mr_t_b USING (k)',
	'SELECT count(*), sum(n), count(w), sum(w) FROM mr_s_b LEFT JOIN mr_t_b USING (k)',
	'SELECT count(*), sum(n), count(w), sum(w) FROM mr_s_b RIGHT JOIN mr_t_b USING (k)',
	'SELECT count(*), sum(n), count(w), sum(w) FROM mr_s_b FULL JOIN mr_t_b USING (k)',
	'SELECT count(*), sum(n) FROM mr_s_b s JOIN mr_t_b t ON s.k = t.k AND s.v % 9 = t.w',
	'SELECT count(*), sum(n) FROM mr_s_b s WHERE EXISTS (SELECT FROM mr_t_b t WHERE s.k = t.k AND s.v > t.w)',
	'SELECT count(*), sum(n) FROM mr_s_b s WHERE NOT EXISTS (SELECT FROM mr_t_b t WHERE s.k = t.k)',
	'SELECT count(*), sum(w) FROM mr_t_b t WHERE EXISTS (SELECT FROM mr_s_b s WHERE s.k = t.k AND s.v % 3 = t.w % 3)',
	'SELECT count(*), sum(w) FROM mr_t_b t WHERE NOT EXISTS (SELECT FROM mr_s_b s WHERE s.k = t.k)',
	'SELECT w, count(*), sum(n) FROM mr_s_b JOIN mr_t_b USING (k) GROUP BY w',
	'SELECT w, v % 5, count(*) FROM mr_s_b RIGHT JOIN mr_t_b USING (k) GROUP BY w, v % 5',
	'SELECT k, count(*), sum(n) FROM mr_s_b JOIN mr_t_b USING (k) GROUP BY k',
	'SELECT count(*), sum(s.n), sum(u.w) FROM mr_s_b s JOIN mr_t_b t USING (k) JOIN mr_t_b u USING (k)',
	'SELECT count(*), sum(s.n), sum(u.v) FROM mr_s_b s JOIN mr_t_b t USING (k) JOIN mr_s_b u USING (k) WHERE u.v < 40',
	'SELECT count(*) FROM mr_s_b JOIN mr_t_b USING (k)',
	'SELECT w, (SELECT sum(n) FROM mr_s_b s JOIN mr_t_b u USING (k) WHERE u.w > t.w) FROM mr_t_b t WHERE k BETWEEN 3 AND 9']) q;
SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET max_parallel_workers_per_gather = 2;
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(v), sum(n), max(w) FROM mr_s_b JOIN mr_t_b USING (k)',
	'SELECT count(*), sum(n), count(w), sum(w) FROM mr_s_b LEFT JOIN mr_t_b USING (k)',
	'SELECT w, count(*), sum(n) FROM mr_s_b JOIN mr_t_b USING (k) GROUP BY w']) q;
RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;
SET max_parallel_workers_per_gather = 0; SET enable_hashjoin = off; SET enable_nestloop = off;
SELECT measured('SELECT count(*), sum(n) FROM mr_s_b JOIN mr_t_b USING (k)', 'Max Runs per Bucket') AS runs;
RESET max_parallel_workers_per_gather; RESET enable_hashjoin; RESET enable_nestloop;
-- sums of numerics that files hold as integers: with NULLs, filters, beside what wants them as numerics, and where runs
-- differ in scale, or one of them has values that are no such integers
CREATE TABLE mr_d_h (k int, v int, m numeric(10,2), n numeric);
INSERT INTO mr_d_h SELECT CASE WHEN g % 61 = 0 THEN NULL ELSE g * 31 % 700 END, g, CASE WHEN g % 7 > 0 THEN g % 1000 / 7.0 - 50 END,
	CASE WHEN g % 12 = 5 AND g > 3500 THEN 'NaN' WHEN g % 12 = 6 THEN round(g / 7.0, 3) ELSE round(g / 7.0, 1) END FROM generate_series(1, 4000) g;
CREATE FOREIGN TABLE mr_d_b (k int, v int, m numeric(10,2), n numeric) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2', block_rows '60');
DO $$
BEGIN
	FOR i IN 0 .. 11 LOOP
		INSERT INTO mr_d_b SELECT * FROM mr_d_h WHERE v % 12 = i;
		COMMIT;
	END LOOP;
END
$$;
ANALYZE mr_d_h; ANALYZE mr_d_b;
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(m), avg(m), sum(n), sum(w) FROM mr_d_b JOIN mr_t_b USING (k)',
	'SELECT sum(m), max(m), sum(m * 2), sum(n), min(n) FROM mr_d_b JOIN mr_t_b USING (k)',
	'SELECT sum(n) FROM mr_d_b JOIN mr_t_b USING (k) WHERE v % 12 NOT IN (5, 6)',
	'SELECT sum(n) FROM mr_d_b JOIN mr_t_b USING (k) WHERE v < 3000',
	'SELECT sum(m), sum(n) FROM mr_t_b LEFT JOIN mr_d_b USING (k)',
	'SELECT sum(m), sum(n) FROM mr_d_b FULL JOIN mr_t_b USING (k)',
	'SELECT sum(m) FROM mr_d_b JOIN mr_t_b USING (k) WHERE m > 10 AND v > 500',
	'SELECT sum(m) FILTER (WHERE v % 3 = 0), sum(m) FILTER (WHERE m < 20) FROM mr_d_b JOIN mr_t_b USING (k)',
	'SELECT w, sum(m), sum(n) FROM mr_d_b JOIN mr_t_b USING (k) GROUP BY w',
	'SELECT k, sum(m), max(m), sum(n) FROM mr_d_b GROUP BY k',
	'SELECT k, sum(m), sum(n), count(*) FROM mr_d_b WHERE v > 700 GROUP BY k',
	'SELECT k, sum(m), sum(d.n) FROM mr_d_b d JOIN mr_s_b s USING (k) GROUP BY k',
	'SELECT t.w, (SELECT sum(m) FROM mr_d_b d JOIN mr_t_b u USING (k) WHERE d.v > t.w * 100) FROM mr_t_b t WHERE k BETWEEN 3 AND 6']) q;
DROP FOREIGN TABLE mr_d_b;
DROP TABLE mr_d_h;
DROP FOREIGN TABLE mr_s_b, mr_t_b;
DROP TABLE mr_s_h, mr_t_h;
DROP VIEW mr_x_h, mr_y_h, mr_m_h;
DROP FOREIGN TABLE mr_n_b;
DROP TABLE mr_n_h;
DROP FOREIGN TABLE mr_w_b, mr_x_b, mr_y_b, mr_g_b, mr_l_b, mr_m_b, mr_v_b;
DROP TABLE mr_w_h, mr_g_h, mr_l_h, mr_v_h;
DROP VIEW mr_f_h;
DROP FOREIGN TABLE mr_a_b, mr_c_b, mr_f_b;
DROP TABLE mr_a_h, mr_c_h;

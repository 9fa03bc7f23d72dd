-- Merges of many runs with wide rows: what their blocks take is bounded.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
SET client_min_messages = warning;
SET search_path = public;
CREATE TABLE mw_a_h (g int, k bigint, s text, t text);
CREATE TABLE mw_n_h (k bigint, s text, x int);
CREATE FOREIGN TABLE mw_a_b (g int, k bigint, s text, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1');
CREATE FOREIGN TABLE mw_s_b (g int, k bigint, s text, t text) SERVER bucketfdw OPTIONS (bucket_by 's', buckets '1');
CREATE FOREIGN TABLE mw_n_b (k bigint, s text, x int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1');
CREATE FOREIGN TABLE mw_o_b (k bigint, s text, x int) SERVER bucketfdw OPTIONS (bucket_by 's', buckets '1');
CREATE VIEW mw_s_h AS TABLE mw_a_h;
CREATE VIEW mw_o_h AS TABLE mw_n_h;
-- 100 runs of some 400 kB, a few of short rows; duplicates and NULLs in all of them
INSERT INTO mw_a_h
SELECT g, CASE WHEN g % 97 <> 0 THEN g::bigint * 7919 % 1009 END, 'key number ' || g::bigint * 7919 % 1009,
	CASE WHEN g <= 300 THEN g::text WHEN g % 89 <> 0 THEN repeat(md5(g::text), 128) END
FROM generate_series(1, 10000) g;
INSERT INTO mw_n_h SELECT CASE WHEN g % 50 <> 0 THEN g END, 'key number ' || g, g FROM generate_series(1, 1200) g;
INSERT INTO mw_n_b TABLE mw_n_h;
INSERT INTO mw_o_b TABLE mw_n_h;
DO $$
BEGIN
	FOR i IN 0 .. 99 LOOP
		INSERT INTO mw_a_b SELECT * FROM mw_a_h WHERE (g - 1) / 100 = i;
		INSERT INTO mw_s_b SELECT * FROM mw_a_h WHERE (g - 1) / 100 = i;
		COMMIT;
	END LOOP;
END
$$;
ANALYZE mw_a_h; ANALYZE mw_n_h;
SELECT relid, runs FROM bucketfdw.tables WHERE relid::text ~ '^mw_' ORDER BY 1;

-- the most memory a session of its own ever had, in kB: the blocks of all runs have 40 MB
\c -
SET bucketfdw.inline_limit = 0;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '1MB';
SET jit = off;
-- kB; none of a sanitizer's build, which keeps what was freed, and has terabytes of address space
CREATE FUNCTION mw_peak() RETURNS int LANGUAGE sql AS $$
SELECT CASE WHEN (regexp_match(status, 'VmSize:\s+(\d+)'))[1]::bigint < 2::bigint ^ 30
  THEN (regexp_match(status, 'VmHWM:\s+(\d+)'))[1]::int ELSE 0 END
FROM pg_read_file('/proc/self/status') status $$;
SELECT count(*), sum(x) FROM mw_a_b JOIN mw_n_b USING (k);
SELECT mw_peak() AS before \gset
SELECT count(*), sum(length(t)), sum(x) FROM mw_a_b JOIN mw_n_b USING (k);
SELECT mw_peak() - :before < 26000 AS bounded;
SELECT count(*), sum(length(t)), sum(x) FROM mw_s_b JOIN mw_o_b USING (s);
SELECT mw_peak() - :before < 30000 AS bounded;
DROP FUNCTION mw_peak();

-- the answers are those of heap tables, with any share of the runs read by way of temporary files
RESET max_parallel_workers_per_gather;
SET client_min_messages = warning;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
SELECT nodes('SELECT count(*), sum(length(t)) FROM mw_a_b JOIN mw_n_b USING (k)');
CREATE TABLE mw_queries AS
SELECT * FROM unnest(ARRAY[
	'SELECT k, g, x, md5(t) FROM mw_a_b JOIN mw_n_b USING (k)',
	'SELECT a.k, g, x, length(t) FROM mw_a_b a LEFT JOIN mw_n_b n ON n.k = a.k AND n.x % 7 = 0',
	'SELECT g, md5(t) FROM mw_a_b a WHERE NOT EXISTS (SELECT FROM mw_n_b n WHERE n.k = a.k AND x % 3 = 0)',
	'SELECT k, max(t), count(t) FROM mw_a_b WHERE g % 4 <> 1 GROUP BY k',
	'SELECT s, g, x, md5(t) FROM mw_s_b JOIN mw_o_b USING (s)',
	'SELECT s, max(t), min(g) FROM mw_s_b GROUP BY s']) WITH ORDINALITY u (q, n);
SET work_mem = '15MB';
SELECT q, same(q) FROM mw_queries ORDER BY n;
SET work_mem = '64kB';
SELECT q, same(q) FROM mw_queries ORDER BY n;
-- rescans, one key in all runs, order, and a cursor that is left early
SELECT same('SELECT n.x, (SELECT count(*) || max(md5(t)) FROM mw_a_b a JOIN mw_n_b m USING (k) WHERE a.g > n.x * 1500) FROM mw_n_b n WHERE n.x IN (1, 3, 5)');
INSERT INTO mw_a_h SELECT 50000 + g, 42, 'key number 42', repeat(md5(g::text), 128) FROM generate_series(1, 500) g;
INSERT INTO mw_a_b SELECT * FROM mw_a_h WHERE g > 50000;
SELECT same('SELECT k, g, x, md5(t) FROM mw_a_b JOIN mw_n_b USING (k) WHERE k BETWEEN 40 AND 45');
SELECT bool_and(k >= before) AS ordered, count(*), count(t)
FROM (SELECT k, t, lag(k) OVER (ORDER BY k) AS before FROM mw_a_b) s;
SELECT k, count(*), min(length(t)) FROM (SELECT k, t FROM mw_a_b ORDER BY k LIMIT 20) s GROUP BY k ORDER BY k;
BEGIN;
DECLARE c CURSOR FOR SELECT k, length(t) FROM mw_a_b JOIN mw_n_b USING (k) WHERE g > 300 AND g % 89 <> 0;
FETCH 2 FROM c;
CLOSE c;
COMMIT;
DROP VIEW mw_s_h, mw_o_h;
DROP FOREIGN TABLE mw_a_b, mw_s_b, mw_n_b, mw_o_b;
DROP TABLE mw_a_h, mw_n_h, mw_queries;

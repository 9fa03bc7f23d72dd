-- GROUP BY expressions, and several of them, on whole batches.
SET bucketfdw.verify_order = on;
CREATE TABLE x_h (id int, a int, b int, m numeric(8,2), d date, ts timestamp, t text, w text, f float8, bo bool);
INSERT INTO x_h
SELECT i, CASE WHEN i % 7 > 0 THEN i % 50 END, CASE WHEN i % 11 > 0 THEN i * 7 % 60 END, CASE WHEN i % 6 > 0 THEN (i % 100) * 0.25 - 3 END,
	CASE WHEN i % 13 > 0 THEN date '2022-01-01' + i % 1400 END, timestamp '2024-01-01' + i % 400 * interval '5 hours',
	CASE WHEN i % 12 > 0 THEN CASE WHEN i <= 2000 THEN (ARRAY['', 'a', 'ab', 'Ab', 'special', 'ä', 'Ä'])[1 + i % 7] ELSE md5((i % 500)::text) END END,
	'w' || i % 5, (ARRAY[0, '-0', 'NaN', 1.5, NULL])[1 + i % 5], i % 3 = 0
FROM generate_series(1, 4000) i;
CREATE FOREIGN TABLE x_b (id int, a int, b int, m numeric(8,2), d date, ts timestamp, t text, w text, f float8, bo bool)
	SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '4', block_rows '512');
INSERT INTO x_b SELECT * FROM x_h WHERE id <= 2500;
INSERT INTO x_b SELECT * FROM x_h WHERE id > 2500;
DELETE FROM x_b WHERE id % 19 = 3;
DELETE FROM x_h WHERE id % 19 = 3;
ANALYZE x_h, x_b;
-- the answer, and what groups: B BucketAggregate, C core
CREATE FUNCTION grouped(exprs text, more text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT count(*), sum(id), sum(m), %s FROM x_b GROUP BY %s %s', exprs, exprs, more);
BEGIN
	RETURN CASE WHEN nodes(query, false) ~ 'BucketAggregate' THEN 'B' ELSE 'C' END || ' ' || same(query);
END
$$;
SELECT e, grouped(e) FROM unnest(ARRAY['extract(year FROM d)', 'date_trunc(''month'', d)', 'date_part(''dow'', d)', 'd - date ''2022-01-01''', 'd + 1', 'd > ''2024-01-01''', 'substring(t, 1, 2)', 'lower(t)', 'length(t)',
	'coalesce(t, ''none'')', 't || w', 'a % 3', 'a + b', 'a + b, bo', 'w, extract(year FROM d), bo', 'm * 2', 'round(m)', 'm::int', 'f + 1', '-f', 'a::text', 'NULLIF(w, ''w1'')', 'CASE WHEN a < 10 THEN ''few'' WHEN a < 30 THEN ''some'' END',
	'a IS NULL', 'bo AND a > 3', 'a::bigint', 'w COLLATE "C"', 'upper(w), upper(t), a % 2', 'a % 3, (a % 3) * 2', 'ts::date', 'extract(epoch FROM ts)']) e;
-- left to core
SELECT e, grouped(e) FROM unnest(ARRAY['ARRAY[a % 3]', '(a % 2, bo)::text', 'to_jsonb(a % 3)', 'd - ts', 'id + a']) e;
SELECT nodes('SELECT (a + random())::int, count(*) FROM x_b GROUP BY 1', false), nodes('SELECT (a = (SELECT 3)), count(*) FROM x_b GROUP BY 1', false), nodes('SELECT a + b, sum(a + b) FROM x_b GROUP BY 1', false);
SELECT same('SELECT a + b, sum(a + b), max((a + b) * 2), count(*) FILTER (WHERE a + b > 3) FROM x_b GROUP BY 1');
SELECT same('SELECT a = (SELECT 3), count(*) FROM x_b GROUP BY 1');
-- around it
SELECT same('SELECT extract(year FROM d) + 1, upper(substring(t, 1, 1)) || ''x'', count(*) FROM x_b GROUP BY extract(year FROM d), substring(t, 1, 1) HAVING extract(year FROM d) > 2022 AND max(a) > 3');
SELECT same('SELECT count(*), sum(a * 2), min(b + a) FILTER (WHERE bo) FROM x_b WHERE d > ''2022-03-01'' AND lower(t) <> ''ab'' GROUP BY extract(year FROM d), b % 5');
SELECT same('SELECT DISTINCT extract(month FROM d) FROM x_b');
SELECT same('SELECT y, count(*) FROM (SELECT extract(year FROM d) AS y, a FROM x_b) s GROUP BY y HAVING y IS NOT NULL');
SELECT same('SELECT extract(year FROM x.d), y.w, count(*), sum(x.m) FROM x_b x JOIN x_b y USING (id) WHERE y.a < x.b GROUP BY 1, 2');
EXPLAIN (COSTS OFF) SELECT extract(year FROM x.d), y.w, count(*), sum(x.m) FROM x_b x JOIN x_b y USING (id) GROUP BY 1, 2;
SELECT extract(year FROM d) AS year, count(*), sum(m) FROM x_b GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT extract(year FROM d) AS year, substring(t, 1, 2), w, count(*), sum(m) FROM x_b GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
-- an error is that of core
SELECT 10 / (extract(year FROM d)::int - 2023), count(*) FROM x_b GROUP BY 1;
SELECT same('SELECT 10 / (extract(year FROM d)::int - 2023), count(*) FROM x_b WHERE d < ''2023-01-01'' GROUP BY 1');
-- parameters, rescans, the generic plan
SELECT same('SELECT s.* FROM generate_series(1, 4) x, LATERAL (SELECT x, a % x, count(*) FROM x_b GROUP BY 1, 2 OFFSET 0) s');
PREPARE by_rest(int) AS SELECT a % $1, count(*) FROM x_b GROUP BY 1 ORDER BY 1;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_rest(2);
EXECUTE by_rest(3);
EXPLAIN (COSTS OFF) EXECUTE by_rest(3);
RESET plan_cache_mode;
-- in several processes, with little memory
BEGIN;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
CREATE TABLE xl_h AS SELECT i AS id, i % 50 AS a, CASE WHEN i % 9 > 0 THEN date '2022-01-01' + i % 1400 END AS d, CASE WHEN i % 7 > 0 THEN 't' || i % 1000 END AS t FROM generate_series(1, 100000) i;
CREATE FOREIGN TABLE xl_b (id int, a int, d date, t text) SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '8');
INSERT INTO xl_b TABLE xl_h;
ANALYZE xl_h, xl_b;
EXPLAIN (COSTS OFF) SELECT extract(year FROM d), substring(t, 1, 2), count(*), sum(a) FROM xl_b GROUP BY 1, 2;
SELECT same('SELECT extract(year FROM d), substring(t, 1, 2), count(*), sum(a) FROM xl_b GROUP BY 1, 2');
SELECT same('SELECT extract(year FROM d), bo, lower(w), count(*), sum(m), avg(a) FROM x_b GROUP BY 1, 2, 3 HAVING extract(year FROM d) > 2022');
SELECT same('SELECT extract(year FROM d), substring(t, 1, 2), count(*), sum(m) FROM x_b GROUP BY 1, 2');
SELECT same('SELECT lower(t), a % 7, count(*), avg(m), max(w COLLATE "C") FROM x_b GROUP BY 1, 2 HAVING count(*) > 1');
COMMIT;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT same('SELECT id % 3000, lower(t), count(*), sum(m) FROM x_b GROUP BY 1, 2');
RESET work_mem;
RESET hash_mem_multiplier;
-- partitions
CREATE TABLE xp_b (id int, d date, t text) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE xp1 PARTITION OF xp_b FOR VALUES FROM (0) TO (100) SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '2');
CREATE FOREIGN TABLE xp2 PARTITION OF xp_b FOR VALUES FROM (100) TO (9999) SERVER bucketfdw OPTIONS (bucket_by 't', buckets '4');
INSERT INTO xp_b SELECT id, d, t FROM x_h;
CREATE TABLE xp_h AS SELECT id, d, t FROM x_h;
SELECT same('SELECT extract(year FROM d), length(t), count(*), sum(id) FROM xp_b GROUP BY 1, 2');
SELECT same('SELECT id, t FROM xp_b WHERE length(t) = 2 OR (t LIKE ''%9%a%'' AND d < ''2024-01-01'')');
DROP FUNCTION grouped;
DROP TABLE xp_b, xp_h, x_h, xl_h;
DROP FOREIGN TABLE x_b, xl_b;

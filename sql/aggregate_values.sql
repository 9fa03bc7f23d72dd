-- BucketAggregate over values of all types: sums, averages, extremes, filters, expressions; by key, by other columns, of all rows.
CREATE TABLE m_h (k int, i2 smallint, i4 int, i8 bigint, n numeric, m numeric(12,2), f4 real, f8 float8, t text COLLATE "C", vc varchar(20) COLLATE "C", c char(5) COLLATE "C", y bool, d date, tz timestamptz, g text, h int, v int);
INSERT INTO m_h SELECT CASE WHEN i % 29 = 0 THEN NULL WHEN i % 4 = 0 THEN 5 ELSE i % 170 END, (i % 300 - 150)::smallint, i * 1001, (i - 900) * 4611686018427387,
	CASE i % 11 WHEN 0 THEN NULL WHEN 1 THEN 0.000 WHEN 2 THEN i / 7.0 WHEN 3 THEN -i WHEN 4 THEN i * 1e30 WHEN 5 THEN i * 1e-30 WHEN 6 THEN i::numeric(20,9) WHEN 7 THEN 10::numeric ^ (i % 90) WHEN 8 THEN -(10::numeric ^ -(i % 80)) WHEN 9 THEN i * 1e17 + 0.25 ELSE round(i / 3.0, i % 7) END,
	CASE WHEN i % 13 > 0 THEN (i * 37 % 1000) / 100.0 - 3 END, i / 8.0 - 70, CASE WHEN i % 17 > 0 THEN i / 4.0 - 100 END, CASE WHEN i % 7 > 0 THEN repeat('x', i % 5) || i % 41 END, 'v' || i % 90, CASE WHEN i % 3 = 0 THEN 'a ' WHEN i % 3 = 1 THEN 'a' END,
	CASE WHEN i % 5 > 0 THEN i % 2 = 0 END, date '2020-01-01' + i % 400, timestamptz '2020-01-01 UTC' + i * interval '7 min', CASE i % 6 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'group ' || i % 6 END, CASE WHEN i % 10 > 0 THEN i % 23 END, i
	FROM generate_series(1, 1100) i;
CREATE FOREIGN TABLE m_b (k int, i2 smallint, i4 int, i8 bigint, n numeric, m numeric(12,2), f4 real, f8 float8, t text COLLATE "C", vc varchar(20) COLLATE "C", c char(5) COLLATE "C", y bool, d date, tz timestamptz, g text, h int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '70');
INSERT INTO m_b SELECT * FROM m_h WHERE v % 3 = 0; INSERT INTO m_b SELECT * FROM m_h WHERE v % 3 = 1; INSERT INTO m_b SELECT * FROM m_h WHERE v % 3 = 2;
CREATE TABLE r_h (k bigint, w int, s text, q numeric(10,2));
INSERT INTO r_h SELECT CASE WHEN i % 30 = 0 THEN NULL ELSE i % 200 - 10 END, i, 's' || i % 4, i / 4.0 FROM generate_series(1, 400) i;
CREATE FOREIGN TABLE r_b (k bigint, w int, s text, q numeric(10,2)) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '12', block_rows '40');
INSERT INTO r_b SELECT * FROM r_h WHERE w > 150; INSERT INTO r_b SELECT * FROM r_h WHERE w <= 150;
CREATE TABLE p_h (d int, k int, g text, x numeric(8,3)); INSERT INTO p_h SELECT i % 3, i % 150, 'g' || i % 5, i / 8.0 FROM generate_series(1, 1000) i;
CREATE TABLE p_b (d int, k int, g text, x numeric(8,3)) PARTITION BY LIST (d);
CREATE FOREIGN TABLE p_0 PARTITION OF p_b FOR VALUES IN (0) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '40');
CREATE FOREIGN TABLE p_1 PARTITION OF p_b FOR VALUES IN (1, 2) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '6', block_rows '30');
INSERT INTO p_b SELECT * FROM p_h;
ANALYZE m_h; ANALYZE m_b; ANALYZE r_h; ANALYZE r_b; ANALYZE p_h; ANALYZE p_0; ANALYZE p_1;

-- every aggregate, over each kind of grouping; floats are sums of eighths, exact in any order
CREATE TABLE aggs (a text);
INSERT INTO aggs VALUES ('sum(i2), sum(i4), sum(i8), avg(i2), avg(i4), avg(i8)'), ('sum(n), avg(n), trim_scale(min(n)), count(n)'), ('sum(m), avg(m), min(m), max(m)'),
	('sum(f4), sum(f8), avg(f4), avg(f8), min(f4), max(f4), min(f8), max(f8)'), ('min(t), max(t), min(vc), max(vc), count(t)'), ('trim(min(c)), trim(max(c)), count(c)'),
	('bool_and(y), bool_or(y), every(y), bool_and(v > 3), bool_or(h IS NULL)'), ('min(d), max(d), min(tz), max(tz), max(v)'),
	('count(*) FILTER (WHERE v % 3 = 0), count(t) FILTER (WHERE h > 5), sum(m) FILTER (WHERE y), max(t) FILTER (WHERE g <> ''''), avg(i8) FILTER (WHERE false)'),
	('sum(i4 + h), sum(m * 2), avg(m * i2) FILTER (WHERE t LIKE ''x%''), max(t || vc), min(upper(t)) FILTER (WHERE f8 > 0), sum(abs(f8) * 2), count(nullif(h, 3))'),
	('sum(v), sum(v) + 1, sum(m) / nullif(count(m), 0), max(d) - min(d)');
SELECT a, shape, same(format(q, a)), nodes(format(q, a)) ~ 'BucketAggregate' AND nodes(format(q, a)) !~ '[HG][ar][so][hu].?p?Agg' batches FROM aggs, (VALUES
	('all', 'SELECT %s FROM m_b'), ('none', 'SELECT %s FROM m_b WHERE v < 0'), ('key', 'SELECT k, %s FROM m_b GROUP BY k'), ('text', 'SELECT g, %s FROM m_b GROUP BY g'), ('two', 'SELECT h, y, %s FROM m_b GROUP BY y, h HAVING count(*) > 2'),
	('join', 'SELECT %s FROM m_b JOIN r_b USING (k)'), ('join by key', 'SELECT m_b.k, %s FROM m_b JOIN r_b USING (k) GROUP BY m_b.k'), ('join by other', 'SELECT s, g, %s FROM m_b JOIN r_b USING (k) GROUP BY s, g'), ('left', 'SELECT s, %s FROM r_b LEFT JOIN m_b USING (k) GROUP BY s')) s (shape, q);
-- other groupings
SELECT q, same(q), nodes(q) ~ 'BucketAggregate' AND nodes(q) !~ 'HashAgg|GroupAgg|Sort' batches FROM unnest(ARRAY[
	'SELECT count(1), count(1) FILTER (WHERE y), count(NULL), count(''x''::text) FROM m_b', 'SELECT g, count(1), count(2) FILTER (WHERE v > (SELECT avg(w) FROM r_b)), sum(v) FILTER (WHERE y) FROM m_b GROUP BY g',
	'SELECT count(*) FROM m_b GROUP BY g', 'SELECT g FROM m_b GROUP BY g', 'SELECT g, k, count(*) FROM m_b GROUP BY k, g', 'SELECT g || ''!'', h + 1, sum(v) FROM m_b GROUP BY h, g', 'SELECT vc, count(*) FROM m_b GROUP BY vc', 'SELECT trim(c), count(*) FROM m_b GROUP BY c', 'SELECT t::varchar, count(*) FROM m_b GROUP BY t',
	'SELECT y, d, count(*), sum(m) FROM m_b GROUP BY y, d', 'SELECT round(m), count(*) FROM m_b GROUP BY m', 'SELECT f8, f4, max(v) FROM m_b GROUP BY f8, f4', 'SELECT tz, sum(q) FROM m_b JOIN r_b USING (k) GROUP BY tz', 'SELECT g, count(*) FROM m_b WHERE h = 3 GROUP BY g HAVING sum(m) > 5',
	'SELECT g, sum(x), avg(x) FROM p_b GROUP BY g', 'SELECT d, g, sum(x), sum(q) FROM p_b JOIN r_b USING (k) GROUP BY g, d', 'SELECT sum(x), avg(x) FILTER (WHERE d = 1) FROM p_b', 'SELECT r_b.k, count(*) FROM m_b LEFT JOIN r_b USING (k) GROUP BY r_b.k',
	'SELECT g, sum(m) FROM m_b a WHERE EXISTS (SELECT FROM r_b b WHERE b.k = a.k AND b.w > a.v) GROUP BY g', 'SELECT g, sum(m) FROM m_b a WHERE NOT EXISTS (SELECT FROM r_b b WHERE b.k = a.k) GROUP BY g', 'SELECT s, avg(q) FROM m_b FULL JOIN r_b USING (k) GROUP BY s',
	'SELECT x, (SELECT sum(m) FROM m_b WHERE v % 5 = x) FROM generate_series(0, 4) x', 'SELECT x, s.* FROM generate_series(0, 4) x, LATERAL (SELECT g, sum(m), avg(v) FROM m_b WHERE v % 7 = x GROUP BY g OFFSET 0) s', 'SELECT x, (SELECT sum(m) FILTER (WHERE v % 5 = x) FROM m_b) FROM generate_series(0, 4) x']) q;
-- left to core
SELECT q, same(q), nodes(q) ~ 'BucketAggregate' batches FROM unnest(ARRAY[
	'SELECT sum(v + random() * 0) FROM m_b', 'SELECT sum(v) FILTER (WHERE random() < 2) FROM m_b', 'SELECT sum(DISTINCT h) FROM m_b', 'SELECT g, max(v ORDER BY h) FROM m_b GROUP BY g', 'SELECT g, count(*), stddev(i2) FROM m_b GROUP BY g', 'SELECT max(t COLLATE "POSIX"), max(g COLLATE "default") FROM m_b',
	'SELECT sum((SELECT max(w) FROM r_b WHERE w < v)) FROM m_b WHERE v < 20', 'SELECT v % 9, count(*) FROM m_b GROUP BY v % 9', 'SELECT g, h, count(*) FROM m_b GROUP BY ROLLUP (g, h)', 'SELECT count(m_b) FROM m_b']) q;
SET enable_hashagg = off;
SELECT nodes('SELECT g, count(*) FROM m_b GROUP BY g') ~ 'BucketAggregate' batches;
RESET enable_hashagg;

-- values that are no number, the largest and the smallest; ties
CREATE TABLE s_h (k int, n numeric, f8 float8, f4 real, i8 bigint, h int);
INSERT INTO s_h VALUES (1, 'NaN', 'NaN', 'NaN', 9223372036854775807, 1), (1, 1, 1, 1, 9223372036854775807, 1), (2, 'Infinity', 'Infinity', 'Infinity', -9223372036854775808, 2), (2, 2, 2, 2, -1, 2), (3, '-Infinity', '-Infinity', '-Infinity', 1, 3), (3, 'Infinity', 'Infinity', '-Infinity', 1, 3),
	(4, 1.0, -0.0, -0.0, 4, 4), (4, 1.00, 0, 0, 4, 4), (5, 99999999999999999999999999999999999.9, 1e300, 1e30, 5, 5), (5, 99999999999999999999999999999999999.9, -1e300, 2e30, 5, 5), (6, -1e130000, 5e-324, 1e-45, 6, 6), (6, 1e130000 + 0.5, 5e-324, 1e-45, 6, 6), (7, NULL, NULL, NULL, NULL, 7), (10, 1, 1e308, 1e38, 1, 10), (10, 1, 1e308, 3e38, 1, 10), (8, 1e-16000, 1, 1, 0, 8), (8, 12345678901234567890123456789012345678, 1, 1, 0, 8);
INSERT INTO s_h SELECT 9, 170141183460469231731687303715884105727 - i, i, i, 9223372036854775807 - i, 9 FROM generate_series(1, 50) i;
CREATE FOREIGN TABLE s_b (k int, n numeric, f8 float8, f4 real, i8 bigint, h int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '3');
INSERT INTO s_b SELECT * FROM s_h;
SELECT q, same(q), nodes(q) ~ 'BucketAggregate' batches FROM unnest(ARRAY['SELECT k, md5(sum(n)::text), md5(avg(n)::text), md5(min(trim_scale(n))::text), md5(max(trim_scale(n))::text) FROM s_b GROUP BY k', 'SELECT h, md5(sum(n)::text), md5(avg(n)::text), min(i8), sum(i8), avg(i8) FROM s_b GROUP BY h',
	'SELECT k, sum(f8), min(f8 + 0), max(f8 + 0), sum(f4), min(f4 + 0), max(f4 + 0) FROM s_b WHERE k < 10 GROUP BY k', 'SELECT h, sum(f8), avg(f4), max(f4) FROM s_b WHERE k < 10 GROUP BY h', 'SELECT k, avg(f8) FROM s_b WHERE k NOT IN (5, 10) GROUP BY k', 'SELECT sum(i8), avg(i8), md5(sum(n)::text), md5(avg(n)::text), max(f8), min(f8) FROM s_b', 'SELECT sum(n), avg(n), sum(f8) FROM s_b WHERE k IN (4, 8) AND n < 5',
	'SELECT sum(n), avg(n) FROM s_b WHERE k = 9', 'SELECT a.h, md5(sum(a.n)::text), sum(b.i8) FROM s_b a JOIN s_b b USING (k) GROUP BY a.h']) q;
-- errors are core's
CREATE FUNCTION fails(q text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE q;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END
$$;
SELECT q, fails(q) error, fails(q) = fails(replace(q, '_b', '_h')) same FROM unnest(ARRAY['SELECT avg(f8) FROM s_b WHERE k = 5', 'SELECT h, avg(f8) FROM s_b GROUP BY h', 'SELECT sum(f8) FROM s_b WHERE k = 10', 'SELECT sum(f4) FROM s_b WHERE k = 10', 'SELECT h, sum(f4) FROM s_b GROUP BY h', 'SELECT h, sum(1 / (h - 3)) FROM s_b GROUP BY h', 'SELECT sum(1 / (h - 3)) FILTER (WHERE h <> 3) FROM s_b', 'SELECT sum(i8 + 1) FROM s_b']) q;

-- more groups than memory holds: in files, divided again and again
CREATE TABLE big_h (k int, g text, h int, n numeric, t text COLLATE "C"); INSERT INTO big_h SELECT i % 1000, 'g' || i % 3001, i % 2003, i / 10.0, repeat('t', i % 50) FROM generate_series(1, 9000) i;
CREATE FOREIGN TABLE big_b (k int, g text, h int, n numeric, t text COLLATE "C") SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8'); INSERT INTO big_b SELECT * FROM big_h;
-- the estimates must be wrong for it
ANALYZE big_h; ANALYZE big_b;
ALTER FOREIGN TABLE big_b ALTER g SET (n_distinct = 10), ALTER h SET (n_distinct = 10), ALTER t SET (n_distinct = 10); ANALYZE big_b;
SET work_mem = 64; SET hash_mem_multiplier = 1;
SELECT q, same(q), nodes(q) ~ 'BucketAggregate' batches FROM unnest(ARRAY['SELECT g, count(*), sum(n), max(t) FROM big_b GROUP BY g', 'SELECT h, g, sum(n), min(t), avg(h) FROM big_b GROUP BY g, h', 'SELECT h, sum(n) FROM big_b GROUP BY h HAVING count(*) > 6', 'SELECT x, s.* FROM generate_series(1, 2) x, LATERAL (SELECT g, sum(n), max(t) FROM big_b WHERE h % 2 < x GROUP BY g OFFSET 0) s',
	'SELECT count(*) FROM (SELECT g, sum(n) FROM big_b GROUP BY g LIMIT 20) s']) q;
SELECT measured('SELECT g, h, sum(n) FROM big_b GROUP BY g, h', 'Temp Written')::int > 100 spilled, measured('SELECT g, h, sum(n) FROM big_b GROUP BY g, h', 'Memory')::int < 4000 bounded;
RESET work_mem; RESET hash_mem_multiplier;

-- prepared, six times and more
PREPARE by_v(int, text) AS SELECT g, sum(m) s, avg(n) FILTER (WHERE t > $2) a, sum(v * $1) v FROM m_b WHERE v > $1 GROUP BY g ORDER BY g;
CREATE TEMP TABLE answers (n int, g text, s numeric, a numeric, v bigint);
DO $$
BEGIN
	FOR i IN 1..8 LOOP
		EXECUTE format('INSERT INTO answers SELECT %s, g, sum(m), avg(n) FILTER (WHERE t > ''x3''), sum(v * %s) FROM m_h WHERE v > %s GROUP BY g', i, i * 50, i * 50);
		EXECUTE format('CREATE TEMP TABLE got AS EXECUTE by_v(%s, ''x3'')', i * 50);
		IF EXISTS (SELECT g, s, a, v FROM answers WHERE n = i EXCEPT SELECT * FROM got) OR (SELECT count(*) FROM got) <> 6 THEN RAISE 'wrong at %', i; END IF;
		DROP TABLE got;
	END LOOP;
END
$$;
DEALLOCATE by_v;

-- several processes
SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
CREATE TABLE q (q text);
INSERT INTO q SELECT format(s.q, a) FROM aggs, (VALUES ('SELECT k, %s FROM m_b GROUP BY k'), ('SELECT s, g, %s FROM m_b JOIN r_b USING (k) GROUP BY s, g HAVING count(*) > 3'), ('SELECT %s FROM m_b JOIN r_b USING (k)')) s (q);
INSERT INTO q VALUES ('SELECT h, md5(sum(n)::text), md5(avg(n)::text), sum(i8), max(f8) FROM s_b GROUP BY h'), ('SELECT md5(sum(n)::text), md5(avg(n)::text), sum(i8), max(f8) FROM s_b WHERE k > 3'), ('SELECT h, avg(f8) FROM s_b WHERE k NOT IN (5, 10) GROUP BY h'), ('SELECT g, sum(n), max(t) FROM big_b GROUP BY g'), ('SELECT avg(q), sum(m) FROM m_b JOIN r_b USING (k) WHERE v < 0'), ('SELECT g, sum(x) FROM p_b GROUP BY g'), ('SELECT x, (SELECT sum(m) FROM m_b WHERE v % 5 = x) FROM generate_series(0, 4) x');
CREATE TABLE heap AS SELECT q, answer(regexp_replace(q, '(\w)_b\M', '\1_h', 'g'))::text AS a FROM q;
CREATE FUNCTION wrong(workers int, leader text, memory text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('max_parallel_workers_per_gather', workers::text, false), set_config('parallel_leader_participation', leader, false), set_config('work_mem', memory, false);
	RETURN QUERY SELECT heap.q FROM heap WHERE answer(heap.q)::text IS DISTINCT FROM a;
END
$$;
SELECT * FROM wrong(2, 'off', '4MB'); SELECT * FROM wrong(3, 'on', '64kB');
RESET work_mem; RESET parallel_leader_participation; SET max_parallel_workers_per_gather = 2;
SELECT count(*) FILTER (WHERE nodes(q, false) ~ 'BucketAggregate') > 30 batches, count(*) FILTER (WHERE nodes(q, false) ~ 'Gather') > 30 gathered FROM q;
EXPLAIN (COSTS OFF) SELECT g, sum(m) FROM m_b GROUP BY g HAVING count(*) > 1;
EXPLAIN (COSTS OFF) SELECT avg(m) FROM m_b;
RESET max_parallel_workers_per_gather; RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;
EXPLAIN (COSTS OFF, VERBOSE) SELECT s, g, sum(m + w) FILTER (WHERE w > h), avg(q) FROM m_b JOIN r_b USING (k) GROUP BY s, g HAVING count(*) > 1;
DROP FOREIGN TABLE m_b, r_b, s_b, big_b;
DROP TABLE m_h, r_h, s_h, big_h, p_h, p_b, aggs, answers, q, heap;
DROP FUNCTION wrong(int, text, text), fails(text);

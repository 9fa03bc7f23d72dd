-- Aggregates over a join whose frequent keys are counted on both sides instead of being paired.
-- keys with hundreds of rows on both sides, with a dozen, with few, with one, on one side only, and none
CREATE TABLE a_h (k int, v int, s smallint, l bigint, n numeric, t text COLLATE "C");
INSERT INTO a_h
SELECT CASE WHEN i % 19 = 0 THEN NULL WHEN i % 3 = 0 THEN 7 WHEN i % 3 = 1 THEN i % 24 ELSE i % 400 END, CASE WHEN i % 23 > 0 THEN i - 300 END,
	CASE WHEN i % 5 > 0 THEN i END, i * 7000000000000000, CASE WHEN i % 11 > 0 THEN i / 8.0 + CASE WHEN i % 7 = 0 THEN 1e25 ELSE 0 END END, 't' || i % 70
FROM generate_series(1, 1200) i;
CREATE TABLE b_h (k bigint, w bigint, x numeric(12,3), f double precision, o boolean, d date);
INSERT INTO b_h
SELECT CASE WHEN i % 17 = 0 THEN NULL WHEN i % 4 = 0 THEN 7 WHEN i % 4 = 1 THEN i % 28 ELSE i % 500 END, CASE WHEN i % 29 > 0 THEN i END,
	CASE WHEN i % 13 > 0 THEN i / 7.0 END, i / 4.0, CASE WHEN i % 37 > 0 THEN i % 3 = 0 END, date '2026-01-01' + i
FROM generate_series(1, 900) i;
CREATE TABLE c_h (k smallint, z int);
INSERT INTO c_h SELECT CASE WHEN i % 10 > 0 THEN i % 40 END, i FROM generate_series(1, 300) i;
CREATE TABLE m_h (k1 int, k2 text COLLATE "C", v int);
INSERT INTO m_h SELECT CASE WHEN i % 31 > 0 THEN i % 3 END, CASE WHEN i % 29 > 0 THEN repeat('long ', i % 2 * 8) || i % 5 END, i FROM generate_series(1, 700) i;
CREATE TABLE n_h (k1 bigint, k2 varchar(60) COLLATE "C", w int);
INSERT INTO n_h SELECT CASE WHEN i % 27 > 0 THEN i % 4 END, CASE WHEN i % 23 > 0 THEN repeat('long ', i % 2 * 8) || i % 7 END, i FROM generate_series(1, 500) i;
CREATE TABLE e_h (k int, z int);
CREATE TABLE p_h (k int, d int, x int);
INSERT INTO p_h SELECT CASE WHEN i % 15 > 0 THEN i % 12 END, i % 200, i FROM generate_series(1, 400) i;
CREATE FOREIGN TABLE a_b (k int, v int, s smallint, l bigint, n numeric, t text COLLATE "C") SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '50');
CREATE FOREIGN TABLE b_b (k bigint, w bigint, x numeric(12,3), f double precision, o boolean, d date) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '12', block_rows '30', sort_by 'k, w desc');
CREATE FOREIGN TABLE c_b (k smallint, z int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '10');
CREATE FOREIGN TABLE m_b (k1 int, k2 text COLLATE "C", v int) SERVER bucketfdw OPTIONS (bucket_by 'k1, k2', buckets '4', block_rows '20');
CREATE FOREIGN TABLE n_b (k1 bigint, k2 varchar(60) COLLATE "C", w int) SERVER bucketfdw OPTIONS (bucket_by 'k1, k2', buckets '6', block_rows '25');
CREATE FOREIGN TABLE e_b (k int, z int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE TABLE p_b (k int, d int, x int) PARTITION BY RANGE (d);
CREATE FOREIGN TABLE p1 PARTITION OF p_b FOR VALUES FROM (0) TO (100) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2', block_rows '11');
CREATE FOREIGN TABLE p2 PARTITION OF p_b FOR VALUES FROM (100) TO (200) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '6');
INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 = 0; INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 <> 0; INSERT INTO a_b SELECT * FROM a_h WHERE v IS NULL;
INSERT INTO b_b SELECT * FROM b_h WHERE f < 150; INSERT INTO b_b SELECT * FROM b_h WHERE f >= 150;
INSERT INTO c_b SELECT * FROM c_h; INSERT INTO m_b SELECT * FROM m_h WHERE v < 300; INSERT INTO m_b SELECT * FROM m_h WHERE v >= 300;
INSERT INTO n_b SELECT * FROM n_h; INSERT INTO p_b SELECT * FROM p_h;
ANALYZE a_h; ANALYZE b_h; ANALYZE c_h; ANALYZE m_h; ANALYZE n_h; ANALYZE p_h; ANALYZE a_b; ANALYZE b_b; ANALYZE c_b; ANALYZE m_b; ANALYZE n_b; ANALYZE p_b;

-- the answer every way, and whether pairs were counted when bucket plans are forced; NULL: they cannot be
CREATE FUNCTION pairs(q text, OUT answer text, OUT counted boolean) LANGUAGE plpgsql AS $$
BEGIN
	answer := same(q);
	PERFORM set_config('enable_hashjoin', 'off', true), set_config('enable_nestloop', 'off', true), set_config('enable_mergejoin', 'off', true);
	PERFORM set_config('enable_hashagg', 'off', true), set_config('enable_sort', 'off', true);
	counted := measured(q, 'Pairs Counted')::numeric > 0;
	PERFORM set_config('enable_hashjoin', 'on', true), set_config('enable_nestloop', 'on', true), set_config('enable_mergejoin', 'on', true);
	PERFORM set_config('enable_hashagg', 'on', true), set_config('enable_sort', 'on', true);
END
$$;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE q (n int GENERATED ALWAYS AS IDENTITY, q text);
-- every aggregate of either side, over each type of join, plain and by key
INSERT INTO q (q)
SELECT format(shape, k, aggs, join_type, CASE WHEN k <> '' THEN 'GROUP BY ' || trim(',' FROM k) ELSE '' END)
FROM (VALUES (1, 'count(*), count(1), count(a.v), count(b.w), sum(a.v), sum(a.s), sum(a.l), sum(a.n), sum(b.w), sum(b.x), avg(a.v), avg(a.s), avg(a.l), avg(a.n), avg(b.w), avg(b.x)'),
	(2, 'min(a.v), max(a.t), min(a.n), max(a.l), min(b.f), max(b.f), max(b.d), bool_and(b.o), bool_or(b.o), every(a.v > 0), sum(length(a.t)), max(a.t || ''!''), sum(b.w * 2 - 7), sum(1), count(a.k), count(b.k)'),
	(3, 'count(*) FILTER (WHERE a.v > 10), count(*) FILTER (WHERE b.o), sum(a.n) FILTER (WHERE a.t > ''t4''), avg(b.x) FILTER (WHERE b.w % 2 = 0 AND b.f < 100), max(b.d) FILTER (WHERE false), sum(a.v) FILTER (WHERE a.v IS NULL)')) g (g, aggs),
	(VALUES (1, 'JOIN'), (2, 'LEFT JOIN'), (3, 'RIGHT JOIN'), (4, 'FULL JOIN')) j (j, join_type),
	(VALUES ('', 'SELECT %s%s FROM a_b a %s b_b b ON a.k = b.k %s'), ('a.k,', 'SELECT %s%s FROM a_b a %s b_b b ON a.k = b.k %s'),
		('b.k,', 'SELECT %s%s FROM a_b a %s b_b b ON a.k = b.k %s'), ('k,', 'SELECT %s%s FROM a_b a %s b_b b USING (k) %s')) s (k, shape)
WHERE (g = 1 OR k IN ('', 'k,')) AND NOT (k = 'a.k,' AND j > 2) AND NOT (k = 'b.k,' AND j IN (2, 4))
ORDER BY j, k, g;
SELECT n, answer, counted, substr(q, 1, 30) || '..' || substr(q, position('FROM' IN q)) AS q FROM q, pairs(q) ORDER BY n;
TRUNCATE q;
-- what else there is to it
SELECT answer, counted, q FROM unnest(ARRAY[
	'SELECT DISTINCT a.k FROM a_b a JOIN b_b b USING (k)',
	'SELECT k, max(v) - min(w), sum(l) / count(*) FROM a_b JOIN b_b USING (k) GROUP BY k HAVING count(*) > 20 AND sum(w) > 100',
	'SELECT count(*), sum(v), sum(w) FROM (SELECT * FROM a_b WHERE v % 2 = 0) a JOIN (SELECT * FROM b_b WHERE w > 300) b USING (k)',
	'SELECT count(*), sum(v), count(w) FROM a_b LEFT JOIN (SELECT * FROM b_b WHERE o) b USING (k)',
	'SELECT count(*), sum(v), sum(b.w) FROM m_b a JOIN n_b b USING (k1, k2)',
	'SELECT k1, k2, count(*), sum(v), sum(b.w) FROM m_b a JOIN n_b b USING (k1, k2) GROUP BY k1, k2',
	'SELECT k1, k2, count(*), sum(v), sum(b.w) FROM m_b a FULL JOIN n_b b USING (k1, k2) GROUP BY k1, k2',
	'SELECT count(*), sum(v), sum(b.w) FROM m_b a JOIN n_b b USING (k1, k2) WHERE k1 = 1',
	'SELECT k2, count(*), sum(v), sum(b.w) FROM m_b a JOIN n_b b USING (k1, k2) WHERE k1 = 1 GROUP BY k2',
	'SELECT count(*), sum(p_b.x), sum(w) FROM p_b JOIN b_b USING (k)',
	'SELECT k, count(*), sum(p_b.x), sum(w) FROM p_b LEFT JOIN b_b USING (k) GROUP BY k',
	'SELECT count(*), sum(v), sum(e_b.z) FROM a_b FULL JOIN e_b USING (k)',
	'SELECT count(*), sum(e_b.z) FROM a_b JOIN e_b USING (k)',
	'SELECT count(*), sum(v), sum(w), sum(z), max(z) FROM a_b JOIN b_b USING (k) JOIN c_b USING (k)',
	'SELECT k, count(*), sum(v), sum(w), sum(z), max(z) FROM a_b LEFT JOIN b_b USING (k) FULL JOIN c_b USING (k) GROUP BY k',
	'SELECT count(*), sum(v), sum(w) FROM a_b JOIN b_b USING (k) WHERE EXISTS (SELECT FROM c_b WHERE c_b.k = a_b.k)',
	'SELECT count(*), sum(a.v), sum(b.v) FROM a_b a JOIN a_b b USING (k)',
	'SELECT count(*), sum(v), sum(z) FROM a_b JOIN (SELECT k::int, z FROM c_h) c USING (k)',
	'SELECT c.z, (SELECT count(*) + sum(v) + sum(w) FROM a_b a JOIN b_b b USING (k) WHERE a.v > c.z) FROM c_b c WHERE z < 5',
	'SELECT c.z, s.* FROM c_b c, LATERAL (SELECT k, count(*), sum(w) FROM a_b a JOIN b_b b USING (k) WHERE a.v > c.z GROUP BY k) s WHERE z < 4',
	'SELECT sum(n), max(s) FROM (SELECT k, count(*) n, sum(w) s FROM a_b a JOIN b_b b USING (k) GROUP BY k) x',
	'SELECT k, count(*) FROM a_b a JOIN b_b b USING (k) GROUP BY k ORDER BY 2 DESC, 1 LIMIT 5']) q, pairs(q);
-- all pairs are made where something looks at them, or the order of the rows tells
SELECT answer, counted, q FROM unnest(ARRAY[
	'SELECT count(*) FROM a_b a JOIN b_b b ON a.k = b.k AND a.v < b.w',
	'SELECT count(*) FROM a_b a LEFT JOIN b_b b ON a.k = b.k WHERE b.w IS NULL OR b.w > a.v',
	'SELECT sum(a.v * b.w) FROM a_b a JOIN b_b b USING (k)',
	'SELECT count(*) FILTER (WHERE a.v < b.w) FROM a_b a JOIN b_b b USING (k)',
	'SELECT sum(a.v) FILTER (WHERE b.o) FROM a_b a JOIN b_b b USING (k)',
	'SELECT round(sum(b.f)) FROM a_b a JOIN b_b b USING (k)',
	'SELECT count(*), round(avg(b.f)) FROM a_b a JOIN b_b b USING (k)',
	'SELECT count(DISTINCT a.v) FROM a_b a JOIN b_b b USING (k)',
	'SELECT a.t, count(*) FROM a_b a JOIN b_b b USING (k) GROUP BY a.t',
	'SELECT count(*) FROM a_b a WHERE EXISTS (SELECT FROM b_b b WHERE b.k = a.k)',
	'SELECT count(*) FROM a_b a WHERE NOT EXISTS (SELECT FROM b_b b WHERE b.k = a.k)']) q, pairs(q);

-- values that are no numbers, scales, and sums larger than 128 bits hold
CREATE TABLE x_h (k int, n numeric); CREATE TABLE y_h (k int, u numeric);
INSERT INTO x_h SELECT g, v::numeric FROM generate_series(1, 9) g, unnest(CASE g WHEN 1 THEN '{NaN,1}' WHEN 2 THEN '{Infinity,1}' WHEN 3 THEN '{-Infinity,2.50}'
	WHEN 4 THEN '{Infinity,-Infinity}' WHEN 5 THEN '{1e36,1e36,0.000}' WHEN 6 THEN '{-1e37,0.00000001}' WHEN 7 THEN '{1e-50,1e-20,1e60}' WHEN 8 THEN '{0.0,0.000}' ELSE '{NULL,NULL}' END::text[]) v, generate_series(1, 15);
INSERT INTO y_h SELECT i % 9 + 1, i * 1.10 FROM generate_series(1, 400) i; INSERT INTO y_h SELECT i % 9 + 1, 1e30 + i * 0.001 FROM generate_series(1, 400) i;
CREATE FOREIGN TABLE x_b (k int, n numeric) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2', block_rows '16');
CREATE FOREIGN TABLE y_b (k int, u numeric) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2', block_rows '16');
INSERT INTO x_b SELECT * FROM x_h; INSERT INTO y_b SELECT * FROM y_h; ANALYZE x_b; ANALYZE y_b; ANALYZE x_h; ANALYZE y_h;
SELECT answer, counted, q FROM unnest(ARRAY[
	'SELECT k, sum(n), avg(n), count(n), sum(u), avg(u) FROM x_b JOIN y_b USING (k) GROUP BY k',
	'SELECT sum(n), avg(n), sum(u), avg(u) FROM x_b JOIN y_b USING (k)',
	'SELECT sum(n), avg(n), sum(u), avg(u) FROM x_b JOIN y_b USING (k) WHERE k NOT IN (1, 4)',
	'SELECT sum(n), avg(n), sum(u), avg(u) FROM x_b JOIN y_b USING (k) WHERE k > 4']) q, pairs(q);
SELECT k, sum(n), count(n) FROM x_b JOIN y_b USING (k) GROUP BY k ORDER BY k;

-- numbers of pairs that nobody could make; a sum of integers wraps around as core's
CREATE FOREIGN TABLE huge (k int, i int, l bigint, n numeric) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO huge SELECT 1, 2147483647, 9223372036854775807, 1e30 + 0.5 FROM generate_series(1, 35000); INSERT INTO huge SELECT 1, 2147483647, 9223372036854775807, 1e30 + 0.5 FROM generate_series(1, 35000);
ANALYZE huge;
SELECT count(*), sum(a.i), sum(b.l), sum(a.n) FROM huge a JOIN huge b USING (k);
SELECT 70000::bigint * 70000, (4900000000 * 2147483647::numeric) - 18446744073709551616, 4900000000 * 9223372036854775807::numeric, 4900000000 * (1e30 + 0.5);
SELECT a.k, avg(b.l), avg(b.n), min(a.i) FROM huge a LEFT JOIN huge b USING (k) GROUP BY a.k;
DROP FOREIGN TABLE huge;

-- frequent keys that span blocks, batches and runs
CREATE TABLE r_h (k int, v int, t text); INSERT INTO r_h SELECT CASE WHEN i % 2 = 0 THEN 5 ELSE i % 2000 END, i, 'x' || i FROM generate_series(1, 6000) i;
CREATE FOREIGN TABLE r_b (k int, v int, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '256');
INSERT INTO r_b SELECT * FROM r_h WHERE v % 4 < 2; INSERT INTO r_b SELECT * FROM r_h WHERE v % 4 = 2; INSERT INTO r_b SELECT * FROM r_h WHERE v % 4 = 3;
ANALYZE r_b; ANALYZE r_h;
SET work_mem = '64kB';
SELECT * FROM pairs('SELECT a.k, count(*), sum(a.v), sum(b.v) FROM r_b a JOIN r_b b USING (k) GROUP BY a.k');
SELECT count(*), sum(a.v), sum(b.v), max(a.t) FROM r_b a FULL JOIN r_b b USING (k);
SELECT count(*), sum(a.v), sum(b.v), max(a.t) FROM r_h a FULL JOIN r_h b USING (k);
RESET work_mem;

-- in several processes, where frequent keys are shared out if one side is the larger
INSERT INTO q (q) SELECT format('SELECT %scount(*), sum(a.v), avg(a.n), sum(b.w), avg(b.x), max(b.d) FROM a_b a %s b_b b USING (k)%s', k, j, CASE WHEN k <> '' THEN ' GROUP BY k' ELSE '' END)
FROM unnest('{"","k, "}'::text[]) k, unnest('{JOIN,LEFT JOIN,RIGHT JOIN,FULL JOIN}'::text[]) j;
INSERT INTO q (q) VALUES ('SELECT count(*), sum(a.v), avg(b.z) FROM a_b a JOIN c_b b USING (k)'), ('SELECT count(*), sum(r.v), sum(p.x), max(r.t) FROM r_b r LEFT JOIN p_b p USING (k)');
SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
CREATE FUNCTION workers(n int, q text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('max_parallel_workers_per_gather', n::text, true), set_config('bucketfdw.debug_unit_rows', (n % 2 * 60)::text, true);
	RETURN same(q);
END
$$;
SELECT q.n, string_agg(DISTINCT workers(w, q), '; ') FROM q, generate_series(0, 4) w GROUP BY q.n ORDER BY q.n;
SET max_parallel_workers_per_gather = 0; SET bucketfdw.debug_unit_rows = 60;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
-- the key 5 of one side has 3000 rows, of the other 34, which are read for each slice; of two sides with as many rows none is sliced
SELECT measured('SELECT count(*), sum(v), sum(x) FROM (SELECT * FROM r_b WHERE k BETWEEN 5 AND 5) r JOIN (SELECT * FROM p_b WHERE k BETWEEN 5 AND 5) p USING (k)', 'Rows Compared')::int BETWEEN 3000 + 2 * 34 AND 3000 + 4 * 34;
SELECT measured('SELECT count(*), sum(a.v), sum(b.v) FROM (SELECT * FROM r_b WHERE k BETWEEN 5 AND 5) a JOIN (SELECT * FROM r_b WHERE k BETWEEN 5 AND 5) b USING (k)', 'Rows Compared')::int;
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop;
SELECT answer, counted, q FROM unnest(ARRAY[
	'SELECT count(*), sum(r.v), sum(p.x), max(r.t) FROM r_b r JOIN p_b p USING (k)',
	'SELECT count(*), sum(r.v), sum(p.x), max(r.t) FROM p_b p RIGHT JOIN r_b r USING (k)',
	'SELECT k, count(*), sum(r.v), sum(p.x), max(r.t) FROM r_b r JOIN p_b p USING (k) GROUP BY k']) q, pairs(q);
RESET bucketfdw.debug_unit_rows;
SET max_parallel_workers_per_gather = 3;
SELECT nodes(q) FROM q WHERE n IN (SELECT min(n) FROM q);
SET max_parallel_workers_per_gather = 0;

-- prepared statements, cursors that are read again
PREPARE p (int, int) AS SELECT count(*), sum(v), sum(w) FROM a_b a JOIN b_b b USING (k) WHERE a.v > $1 AND b.w < $2;
PREPARE h (int, int) AS SELECT count(*), sum(v), sum(w) FROM a_h a JOIN b_h b USING (k) WHERE a.v > $1 AND b.w < $2;
EXECUTE p (100, 700); EXECUTE p (200, 600); EXECUTE p (300, 500); EXECUTE p (400, 400); EXECUTE p (500, 300); EXECUTE p (100, 700); EXECUTE p (-300, 900);
EXECUTE h (100, 700); EXECUTE h (-300, 900);
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, count(*), sum(v), sum(w) FROM a_b a JOIN b_b b USING (k) WHERE k IN (7, 11, 13, 14) GROUP BY k;
MOVE 2 IN c; MOVE BACKWARD ALL IN c; MOVE ALL IN c; MOVE BACKWARD ALL IN c;
SELECT count(*), sum(v), sum(w) FROM a_b a JOIN b_b b USING (k) WHERE k IN (7, 11, 13, 14);
COMMIT;
-- the plan says so, and rows of the join are pairs
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT k, count(*), sum(v), sum(w) FROM a_b a LEFT JOIN b_b b USING (k) GROUP BY k;
CREATE FUNCTION join_rows(q text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON, COSTS OFF, TIMING OFF) ' || q INTO plan;
	RETURN (plan #>> '{0,Plan,Plans,0,Actual Rows}')::numeric;
END
$$;
SELECT join_rows('SELECT count(*), sum(n) FROM x_b JOIN y_b USING (k)') = count(*) FROM x_b JOIN y_b USING (k);
SELECT join_rows('SELECT count(*) FROM a_b FULL JOIN b_b USING (k)') = count(*) FROM a_b FULL JOIN b_b USING (k);
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop;
DROP FUNCTION join_rows; DROP FUNCTION workers; DROP FUNCTION pairs;
DROP TABLE q, a_h, b_h, c_h, e_h, m_h, n_h, p_h, r_h, x_h, y_h, p_b;
DROP FOREIGN TABLE a_b, b_b, c_b, e_b, m_b, n_b, r_b, x_b, y_b;

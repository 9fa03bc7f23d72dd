-- BucketAggregate by the bucket key: groups that continue across batches, buckets and runs; every key class.
CREATE TABLE g_h (k int, i2 smallint, i4 int, f8 float8, d date, ts timestamp, t text, v int);
INSERT INTO g_h SELECT CASE WHEN i % 17 = 0 THEN NULL WHEN i % 3 = 0 THEN 7 ELSE i % 200 END, (i % 1000 - 500)::smallint, CASE WHEN i % 200 % 4 <> 1 THEN i * 1000 END, i / 4.0 - 100, date '2020-01-01' + i, timestamp '2020-01-01' + i * interval '1 min', CASE WHEN i % 5 > 0 THEN 't' || i END, i FROM generate_series(1, 3000) i;
CREATE FOREIGN TABLE g_b (k int, i2 smallint, i4 int, f8 float8, d date, ts timestamp, t text, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '6', block_rows '50');
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
ANALYZE g_h; ANALYZE g_b; ANALYZE w_h; ANALYZE w_b; ANALYZE p_h; ANALYZE p_0; ANALYZE p_1; ANALYZE p_2;

-- all of it on batches
SELECT q, same(q), nodes(q) ~ 'BucketAggregate' AND nodes(q) !~ 'HashAgg|GroupAgg|Sort' batches FROM unnest(ARRAY[
	'SELECT k, count(*) FROM g_b GROUP BY k',
	'SELECT count(*) FROM g_b GROUP BY k',
	'SELECT k FROM g_b GROUP BY k',
	'SELECT DISTINCT k FROM g_b',
	'SELECT DISTINCT k, k FROM g_b',
	'SELECT k, count(i4), sum(i4), min(i4), max(i4) FROM g_b GROUP BY k',
	'SELECT sum(i2), k, min(i2), max(i2), count(t), count(i2) FROM g_b GROUP BY k',
	'SELECT k, min(d), max(d), min(ts), max(ts), min(v), max(v) FROM g_b GROUP BY k',
	'SELECT k, sum(f8) FROM g_b GROUP BY k',
	'SELECT k * 2 + count(*), sum(i4) / 2, max(d) - min(d), -k FROM g_b GROUP BY k',
	'SELECT k, count(*) FROM g_b WHERE v > 100 GROUP BY k HAVING count(*) > 10',
	'SELECT k, count(*) FROM g_b GROUP BY k HAVING min(v) % 2 = 0 AND max(v) > 1500',
	'SELECT k FROM g_b GROUP BY k HAVING count(*) > 100000',
	'SELECT k, count(*) FROM g_b WHERE k = 7 OR k IS NULL GROUP BY k',
	'SELECT k, count(*), sum(v) FROM g_b WHERE t LIKE ''t1%'' GROUP BY k',
	'SELECT k, count(*) FROM g_b WHERE v < 0 GROUP BY k',
	'SELECT count(*), sum(c), count(k) FROM (SELECT k, count(*) c FROM g_b GROUP BY k OFFSET 0) s',
	'SELECT a.k, count(*), sum(w), max(v) FROM g_b a JOIN w_b b USING (k) GROUP BY a.k',
	'SELECT b.k, count(*), sum(w), max(v) FROM g_b a JOIN w_b b USING (k) GROUP BY b.k',
	'SELECT a.k, count(*), count(w), sum(w) FROM g_b a LEFT JOIN w_b b USING (k) GROUP BY a.k',
	'SELECT a.k, count(*), count(w) FROM g_b a LEFT JOIN w_b b ON a.k = b.k AND w > v GROUP BY a.k',
	'SELECT a.k, count(*) FROM g_b a WHERE EXISTS (SELECT 1 FROM w_b b WHERE b.k = a.k AND b.w > a.v) GROUP BY a.k',
	'SELECT a.k, count(*), sum(v) FROM g_b a WHERE NOT EXISTS (SELECT 1 FROM w_b b WHERE b.k = a.k) GROUP BY a.k',
	'SELECT DISTINCT a.k FROM g_b a JOIN w_b b USING (k)',
	'SELECT a.k, count(*), sum(c.w) FROM g_b a JOIN w_b b USING (k) JOIN w_b c USING (k) GROUP BY a.k',
	'SELECT k, count(*), sum(v), min(v), max(d) FROM p_b GROUP BY k',
	'SELECT k, count(*) FROM p_b WHERE d > 0 GROUP BY k HAVING sum(v) > 2000',
	'SELECT k, count(*) FROM p_b WHERE d = 1 GROUP BY k',
	'SELECT DISTINCT k FROM p_b',
	'SELECT p.k, count(*), sum(w) FROM p_b p JOIN w_b b USING (k) GROUP BY p.k',
	'SELECT x, (SELECT count(*) FROM (SELECT k FROM g_b WHERE v % 5 = x GROUP BY k OFFSET 0) s) FROM generate_series(0, 4) x',
	'SELECT x, s.* FROM generate_series(0, 6) x, LATERAL (SELECT k, count(*), max(v) FROM p_b WHERE v % 7 = x GROUP BY k OFFSET 0) s',
	'SELECT x, s.* FROM generate_series(0, 4) x, LATERAL (SELECT a.k, count(*), max(w) FROM g_b a JOIN w_b b USING (k) WHERE v % 5 = x GROUP BY a.k OFFSET 0) s',
	'SELECT x, EXISTS (SELECT k FROM g_b WHERE v % 5 = x GROUP BY k HAVING count(*) > 3 OFFSET 5) FROM generate_series(0, 9) x']) q;
-- core's, whatever their plan
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT k, count(*), avg(v), max(d) FROM p_b GROUP BY k',
	'SELECT k, sum(v + 1) FROM g_b GROUP BY k',
	'SELECT k, count(*) FILTER (WHERE v > 5), max(t) FROM g_b GROUP BY k',
	'SELECT k, count(*), grouping(k) FROM g_b GROUP BY k',
	'SELECT k, count(*), random() < 2 FROM g_b GROUP BY k',
	'SELECT k, count(*), (SELECT max(w) FROM w_b WHERE w_b.k = g_b.k) FROM g_b GROUP BY k',
	'SELECT k, count(*) FROM g_b GROUP BY k ORDER BY k DESC, 2 LIMIT 9',
	'SELECT k, count(*), sum(count(*)) OVER (ORDER BY k) FROM g_b GROUP BY k',
	'SELECT * FROM (SELECT k, count(*) c FROM g_b GROUP BY k) s FULL JOIN (SELECT k, count(*) c FROM w_b GROUP BY k) u USING (k)',
	'SELECT a.k, b.k, count(*) FROM g_b a JOIN w_b b USING (k) GROUP BY a.k, b.k']) q;

-- other key classes; the value shown is the first row's
CREATE TABLE x_h (f float8, n numeric, t text, c char(6), u uuid, b bytea, tz timestamptz, y bool, v int);
INSERT INTO x_h SELECT CASE i % 9 WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN '-0' WHEN 2 THEN 0 WHEN 3 THEN NULL WHEN 4 THEN '-Infinity' ELSE i % 13 - 5 END,
	CASE i % 8 WHEN 0 THEN 'NaN' WHEN 1 THEN 1.0 WHEN 2 THEN 1.00 WHEN 3 THEN NULL ELSE i % 21 / 8.0 END,
	CASE WHEN i % 10 = 0 THEN NULL WHEN i % 3 = 0 THEN 'same first bytes ' || i % 6 ELSE repeat('ä', i % 40) END,
	CASE WHEN i % 12 > 0 THEN left('ab    ', i % 4 + 1) END, CASE WHEN i % 14 > 0 THEN md5((i % 30)::text)::uuid END,
	CASE WHEN i % 15 > 0 THEN decode(md5((i % 40)::text), 'hex') END, CASE WHEN i % 16 > 0 THEN timestamptz '2020-01-01 UTC' + i % 50 * interval '1 h' END,
	CASE WHEN i % 6 > 0 THEN i % 2 = 0 END, i FROM generate_series(1, 900) i;
CREATE FUNCTION by_key(key text, shown text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	q text := format('SELECT %s, count(*), sum(v), min(v), max(v) FROM x_b GROUP BY %s', shown, key);
	result text;
BEGIN
	EXECUTE format('CREATE FOREIGN TABLE x_b (f float8, n numeric, t text, c char(6), u uuid, b bytea, tz timestamptz, y bool, v int) SERVER bucketfdw OPTIONS (bucket_by %L, buckets ''5'', block_rows ''20'')', key);
	INSERT INTO x_b SELECT * FROM x_h WHERE v % 4 = 1;
	INSERT INTO x_b SELECT * FROM x_h WHERE v % 4 <> 1;
	result := same(q) || ', ' || CASE WHEN nodes(q) ~ 'BucketAggregate' THEN 'on batches' ELSE nodes(q) END;
	DROP FOREIGN TABLE x_b;
	RETURN result;
END
$$;
SELECT key, by_key(key, shown) FROM (VALUES ('f', 'f + 0'), ('n', 'trim_scale(n)'), ('t', 't'), ('c', 'c'), ('u', 'u'), ('b', 'b'), ('tz', 'tz'), ('y', 'y'),
	('t, n', 't, trim_scale(n)'), ('f, y, c', 'f + 0, y, c'), ('y, f', 'f + 0'), ('u, t', 't, u')) k (key, shown);
DROP FUNCTION by_key(text, text);

-- the first value of a group is that of core over the same rows
CREATE FOREIGN TABLE r_b (n numeric, v int) SERVER bucketfdw OPTIONS (bucket_by 'n', buckets '1', block_rows '2');
INSERT INTO r_b SELECT round(1.5, 1 + i % 4), i FROM generate_series(1, 9) i;
SELECT n, count(*), sum(v) FROM r_b GROUP BY n;
SET bucketfdw.enable_bucketagg = off;
SET enable_hashagg = off;
SELECT n, count(*), sum(v) FROM r_b GROUP BY n;
RESET enable_hashagg;
RESET bucketfdw.enable_bucketagg;
DROP FOREIGN TABLE r_b;

-- read in part, and again
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, count(*), max(v) FROM g_b WHERE k < 40 GROUP BY k;
CREATE TEMP TABLE moved (n int, k int, c bigint, m int);
DO $$
DECLARE
	c refcursor := 'c';
	r record;
BEGIN
	FOR i IN 1..5 LOOP FETCH c INTO r; INSERT INTO moved VALUES (i, r.k, r.count, r.max); END LOOP;
	MOVE ABSOLUTE 0 IN c;
	FOR i IN 1..5 LOOP FETCH c INTO r; INSERT INTO moved VALUES (i, r.k, r.count, r.max); END LOOP;
END
$$;
SELECT count(*), count(DISTINCT (n, k, c, m)) FROM moved;
SELECT count(*) FROM moved m JOIN (SELECT k, count(*) c, max(v) m FROM g_h GROUP BY k) h ON (m.k, m.c, m.m) = (h.k, h.c, h.m);
COMMIT;
SELECT count(*) FROM (SELECT k, count(*) FROM g_b GROUP BY k LIMIT 4) s;
PREPARE by_v(int) AS SELECT count(*), sum(c) FROM (SELECT k, count(*) c FROM g_b WHERE v > $1 GROUP BY k OFFSET 0) s;
EXECUTE by_v(0); EXECUTE by_v(100); EXECUTE by_v(200); EXECUTE by_v(300); EXECUTE by_v(400); EXECUTE by_v(2990); EXECUTE by_v(5000);
DEALLOCATE by_v;
-- no rows, no file
CREATE FOREIGN TABLE e_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
SELECT k, count(*) FROM e_b GROUP BY k;
SELECT DISTINCT k FROM e_b;
-- errors are core's
INSERT INTO e_b VALUES (1, 1), (1, 0), (2, 3);
SELECT k, sum(v) / min(v) FROM e_b GROUP BY k;
CREATE FOREIGN TABLE o_b (k int, f float8) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1');
INSERT INTO o_b VALUES (1, 1e308), (1, 1e308), (2, 5);
SELECT k, sum(f) FROM o_b GROUP BY k;
DROP FOREIGN TABLE e_b, o_b;

EXPLAIN (COSTS OFF, VERBOSE) SELECT max(v) - min(v), k FROM g_b WHERE v > 20 GROUP BY k HAVING count(*) > 3;
SET enable_hashagg = off;
EXPLAIN (COSTS OFF) SELECT k, count(*) FROM p_b WHERE d < 2 GROUP BY k;
RESET enable_hashagg;
EXPLAIN (COSTS OFF) SELECT DISTINCT b.k FROM g_b a JOIN w_b b USING (k);
EXPLAIN (COSTS OFF) SELECT k FROM p_b WHERE d = 1 GROUP BY k;
DROP FOREIGN TABLE g_b, w_b;
DROP TABLE p_b, p_h, g_h, w_h, x_h;
DROP TABLE moved;

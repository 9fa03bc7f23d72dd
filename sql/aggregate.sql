-- GROUP BY and DISTINCT on the bucket key, over scans and joins, without hash and sort.
CREATE TABLE a_h (k int, v int, t text, n numeric);
CREATE TABLE b_h (k bigint, w int);
INSERT INTO a_h SELECT CASE WHEN i % 20 = 0 THEN NULL ELSE i * 7 % 300 END, i, 't' || i % 13, i / 8.0 FROM generate_series(1, 1500) i;
INSERT INTO b_h SELECT CASE WHEN i % 30 = 0 THEN NULL ELSE i % 350 - 20 END, i FROM generate_series(1, 900) i;
CREATE FOREIGN TABLE a_b (k int, v int, t text, n numeric) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '40');
CREATE FOREIGN TABLE b_b (k bigint, w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '12', sort_by 'k, w desc', block_rows '30');
INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 = 0; INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 <> 0;
INSERT INTO b_b SELECT * FROM b_h WHERE w > 400; INSERT INTO b_b SELECT * FROM b_h WHERE w <= 400;
ANALYZE a_b; ANALYZE b_b; ANALYZE a_h; ANALYZE b_h;

-- bucketed: no hash, no sort
CREATE FUNCTION grouped(q text, OUT answer text, OUT bucketed boolean) LANGUAGE plpgsql AS $$
DECLARE
	plan text;
BEGIN
	answer := same(q);
	PERFORM set_config('enable_hashagg', 'off', true), set_config('enable_sort', 'off', true);
	plan := nodes(q);
	PERFORM set_config('enable_hashagg', 'on', true), set_config('enable_sort', 'on', true);
	EXECUTE 'SET LOCAL enable_hashagg = off';
	IF same(q) <> answer THEN answer := 'WRONG: sorted'; END IF;
	EXECUTE 'SET LOCAL enable_hashagg = on';
	bucketed := plan !~ 'Hash|Sort|Merge|Nested';
END
$$;
SELECT q, (grouped(q)).* FROM unnest(ARRAY[
	'SELECT k, count(*) FROM a_b GROUP BY k',
	'SELECT k, count(*), count(v), sum(v), min(t), max(n), avg(n), bool_or(v > 700) FROM a_b GROUP BY k',
	'SELECT k FROM a_b GROUP BY k',
	'SELECT DISTINCT k FROM a_b',
	'SELECT DISTINCT k, k FROM a_b',
	'SELECT count(*), sum(c) FROM (SELECT k, count(*) c FROM a_b GROUP BY k) s',
	'SELECT k, sum(v) FILTER (WHERE t > ''t5'') FROM a_b WHERE v > 100 GROUP BY k HAVING count(*) > 3',
	'SELECT k + 1, count(*) FROM a_b GROUP BY k',
	'SELECT k, sum(v) + 1, max(t) || ''x'' FROM a_b GROUP BY k HAVING min(v) % 2 = 0',
	'SELECT a.k, count(*), sum(w), max(t) FROM a_b a JOIN b_b b USING (k) GROUP BY a.k',
	'SELECT b.k, count(*), sum(w), max(t) FROM a_b a JOIN b_b b USING (k) GROUP BY b.k',
	'SELECT a.k, count(*), count(w) FROM a_b a LEFT JOIN b_b b USING (k) GROUP BY a.k',
	'SELECT a.k, count(*) FROM a_b a WHERE EXISTS (SELECT 1 FROM b_b b WHERE b.k = a.k AND b.w > a.v) GROUP BY a.k',
	'SELECT a.k, count(*) FROM a_b a WHERE NOT EXISTS (SELECT 1 FROM b_b b WHERE b.k = a.k) GROUP BY a.k',
	'SELECT DISTINCT a.k FROM a_b a JOIN b_b b USING (k)',
	'SELECT a.k, count(*) FROM a_b a JOIN b_b b USING (k) JOIN a_b c USING (k) GROUP BY a.k',
	'SELECT k, count(*) FROM a_b WHERE k = 5 GROUP BY k']) q;
-- these must be right, whatever their plan
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT k, count(*) FROM a_b WHERE false GROUP BY k',
	'SELECT k, array_agg(v ORDER BY v DESC) FROM a_b GROUP BY k',
	'SELECT k, count(DISTINCT t) FROM a_b GROUP BY k',
	'SELECT k, string_agg(t, '','' ORDER BY v) FROM a_b GROUP BY k',
	'SELECT k, percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM a_b GROUP BY k',
	'SELECT k, t, count(*) FROM a_b GROUP BY k, t',
	'SELECT t, count(*) FROM a_b GROUP BY t',
	'SELECT k % 10, count(*) FROM a_b GROUP BY k % 10',
	'SELECT k, t, count(*) FROM a_b GROUP BY ROLLUP (k, t)',
	'SELECT k, count(*) FROM a_b GROUP BY GROUPING SETS ((k), ())',
	'SELECT a.k, count(*) FROM a_b a FULL JOIN b_b b ON a.k = b.k GROUP BY a.k',
	'SELECT b.k, count(*) FROM a_b a LEFT JOIN b_b b ON a.k = b.k GROUP BY b.k',
	'SELECT k, count(*) FROM a_b FULL JOIN b_b USING (k) GROUP BY k',
	'SELECT DISTINCT ON (k) k, v, t FROM a_b ORDER BY k, v DESC',
	'SELECT DISTINCT k, t FROM a_b',
	'SELECT DISTINCT count(*) FROM a_b GROUP BY k',
	'SELECT k, generate_series(1, 2) FROM a_b GROUP BY k',
	'SELECT k, count(*) OVER (PARTITION BY k) FROM a_b',
	'SELECT k, sum(count(*)) OVER (ORDER BY k) FROM a_b GROUP BY k',
	'SELECT k, row_number() OVER (PARTITION BY k ORDER BY v DESC) FROM a_b',
	'SELECT k, count(*) FROM a_b GROUP BY k ORDER BY k DESC NULLS LAST LIMIT 7',
	'SELECT k, count(*) FROM a_b GROUP BY k UNION ALL SELECT k, count(*) FROM b_b GROUP BY k',
	'SELECT k FROM a_b INTERSECT SELECT k FROM b_b',
	'SELECT k FROM a_b EXCEPT SELECT k FROM b_b',
	'SELECT x, (SELECT count(*) FROM (SELECT k FROM a_b WHERE v % 5 = x GROUP BY k) s) FROM generate_series(0, 4) x']) q;
-- without GROUP BY: computed on batches where every aggregate allows it
CREATE TABLE c_h (k int, i2 smallint, i4 int, i8 bigint, f8 float8, d date, ts timestamp, tz timestamptz, tm time, o oid, t text);
INSERT INTO c_h SELECT i % 90, (i % 1000 - 500)::smallint, i * 1000, i * 5000000000, i / 4.0 - 100, date '2020-01-01' + i, timestamp '2020-01-01' + i * interval '1 min', timestamptz '2020-01-01 UTC' - i * interval '1 h', time '00:00' + i * interval '1 s', i::oid, 't' || i FROM generate_series(1, 1000) i;
UPDATE c_h SET i2 = NULL, i4 = NULL, f8 = NULL, d = NULL WHERE k % 7 = 3;
INSERT INTO c_h (k) SELECT NULL FROM generate_series(1, 30);
CREATE FOREIGN TABLE c_b (k int, i2 smallint, i4 int, i8 bigint, f8 float8, d date, ts timestamp, tz timestamptz, tm time, o oid, t text)
	SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '6', block_rows '100');
INSERT INTO c_b SELECT * FROM c_h;
SELECT q, same(q), nodes(q) ~ '^BucketAggregate' batches FROM unnest(ARRAY[
	'SELECT count(*) FROM c_b',
	'SELECT count(*), count(k), count(i2), count(t), sum(i2), sum(i4), sum(f8) FROM c_b',
	'SELECT min(i2), min(i4), min(i8), min(d), min(ts), min(tz), min(tm), min(o), max(i2), max(i4), max(i8), max(d), max(ts), max(tz), max(tm), max(o) FROM c_b',
	'SELECT count(*) + 1, sum(i4) * 2, max(d) - min(d) FROM c_b WHERE k > 20',
	'SELECT count(*), sum(i4), min(i4), sum(f8) FROM c_b WHERE k > 1000',
	'SELECT count(*), sum(i4) FROM c_b WHERE t LIKE ''t1%''',
	'SELECT count(*), sum(i4), max(i4) FROM c_b WHERE i4 IS NULL',
	'SELECT count(*) FROM c_b HAVING count(*) > 100',
	'SELECT count(*) FROM c_b HAVING count(*) > 100000',
	'SELECT max(i4) FROM c_b HAVING min(i2) < 0 AND count(*) > 5',
	'SELECT count(*), sum(v), max(w) FROM a_b a JOIN b_b b USING (k)',
	'SELECT count(*), count(w), sum(w), min(w) FROM a_b a LEFT JOIN b_b b USING (k)',
	'SELECT count(*), count(w), sum(v) FROM a_b a LEFT JOIN b_b b ON a.k = b.k AND w > v',
	'SELECT count(*), sum(v) FROM a_b a WHERE NOT EXISTS (SELECT 1 FROM b_b b WHERE b.k = a.k AND b.w > a.v)',
	'SELECT count(*), sum(v), max(w), count(i2) FROM a_b a JOIN b_b b USING (k) JOIN c_b c USING (k)',
	'SELECT x, (SELECT count(*) FROM c_b WHERE k = x) FROM generate_series(1, 9) x',
	'SELECT x, (SELECT sum(v) FROM a_b a JOIN b_b b USING (k) WHERE v % 9 = x) FROM generate_series(1, 9) x',
	'SELECT count(DISTINCT k), sum(i4) FROM c_b',
	'SELECT count(*) FILTER (WHERE k > 5) FROM c_b',
	'SELECT sum(i8), avg(i4), sum(k + 1), max(t) FROM c_b',
	'SELECT count(c_b) FROM c_b']) q;
-- errors are core's
-- each in a run of its own: the error depends on the order
SET bucketfdw.inline_limit = 0;
CREATE FOREIGN TABLE over_b (k int, f8 float8) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1');
INSERT INTO over_b VALUES (1, 1e308), (2, 1e308), (3, 1e308);
SELECT sum(f8) FROM over_b;
INSERT INTO over_b VALUES (0, 'Infinity');
RESET bucketfdw.inline_limit;
SELECT sum(f8), count(*) FROM over_b;
SET bucketfdw.enable_bucketagg = off;
SELECT sum(f8), count(*) FROM over_b;
RESET bucketfdw.enable_bucketagg;
-- so are rights
BEGIN;
CREATE ROLE bucketfdw_counter;
GRANT SELECT ON c_b TO bucketfdw_counter;
REVOKE EXECUTE ON FUNCTION pg_catalog.max(date) FROM PUBLIC;
SET ROLE bucketfdw_counter;
SELECT count(*), min(d) FROM c_b WHERE k < 0;
SAVEPOINT s;
SELECT max(d) FROM c_b WHERE k < 0;
ROLLBACK TO s;
SELECT k, max(d) FROM c_b WHERE k < 0 GROUP BY k;
ROLLBACK;
EXPLAIN (COSTS OFF, VERBOSE) SELECT count(*) + 1, max(d) FROM c_b WHERE k > 20 HAVING min(i4) < 5;
DROP FOREIGN TABLE c_b, over_b;
DROP TABLE c_h;
-- two key columns; equality classes of floats, numerics and blank-padded text
CREATE TABLE f_h (x float8, y text, v int);
INSERT INTO f_h SELECT CASE i % 7 WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN '-0' WHEN 2 THEN 0 WHEN 3 THEN NULL ELSE i % 11 END, CASE WHEN i % 10 = 0 THEN NULL ELSE 'y' || i % 4 END, i FROM generate_series(1, 600) i;
CREATE FOREIGN TABLE f_b (x float8, y text, v int) SERVER bucketfdw OPTIONS (bucket_by 'x, y', buckets '5', block_rows '30');
INSERT INTO f_b SELECT * FROM f_h WHERE v < 300; INSERT INTO f_b SELECT * FROM f_h WHERE v >= 300;
SELECT q, (grouped(q)).* FROM unnest(ARRAY[
	'SELECT x + 0 AS x, y, count(*), sum(v) FROM f_b GROUP BY f_b.x, y',
	'SELECT y, x + 0 AS x, count(*) FROM f_b GROUP BY y, f_b.x',
	'SELECT count(*) FROM (SELECT DISTINCT x, y FROM f_b) s']) q;
SELECT same('SELECT x + 0 AS z, count(*) FROM f_b GROUP BY x'), same('SELECT y, count(*) FROM f_b GROUP BY y');
SET bucketfdw.enable_bucketagg = off;
SET enable_hashagg = off;
SELECT nodes('SELECT k, count(*) FROM a_b GROUP BY k') ~ 'Sort' sorts;
RESET bucketfdw.enable_bucketagg;
EXPLAIN (COSTS OFF) SELECT k, count(*) FROM a_b GROUP BY k;
EXPLAIN (COSTS OFF) SELECT a.k, count(*) FROM a_b a JOIN b_b b USING (k) GROUP BY a.k;
RESET enable_hashagg;
DROP FOREIGN TABLE a_b, b_b, f_b;
DROP TABLE a_h, b_h, f_h;
DROP FUNCTION grouped(text);

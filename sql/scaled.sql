-- Numerics as integers, from blocks of every shape and in merges of them: a constant, a few values, nulls only, an absent column, mixed scales, no number.
CREATE SCHEMA scaled;
SET search_path = scaled, public;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE t_h (k int, a numeric(10,2), b numeric, d int);
CREATE FOREIGN TABLE t_b (k int, a numeric(10,2), b numeric, d int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2', upkeep 'false');
CREATE TABLE s_h AS SELECT generate_series(0, 999) AS k;
CREATE FOREIGN TABLE s_b (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
INSERT INTO s_b TABLE s_h;

-- one more run after the other, and all questions after each
CREATE FUNCTION added(what text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE told text;
	q text;
BEGIN
	EXECUTE 'INSERT INTO t_h ' || what;
	EXECUTE 'INSERT INTO t_b ' || what;
	FOREACH q IN ARRAY ARRAY[
		'SELECT sum(a), avg(a), count(a), min(a), max(a) FROM t_b', 'SELECT sum(b), avg(b), count(b) FROM t_b', 'SELECT sum(a * d), sum(a + 1) FROM t_b',
		'SELECT sum(a), sum(b), count(*) FROM t_b JOIN s_b USING (k)', 'SELECT k, sum(a), sum(b), max(a) FROM t_b GROUP BY k',
		'SELECT sum(b * a) FROM t_b JOIN s_b USING (k)', 'SELECT sum(a) FROM t_b WHERE a > 3', 'SELECT sum(a), sum(b) FROM t_b WHERE k < 3'] LOOP
		told := public.same(q);
		IF told !~ '^same' THEN
			RETURN q || ': ' || told;
		END IF;
	END LOOP;
	RETURN 'same';
END $$;
SELECT added('SELECT i % 1000, i / 100.0, i / 8.0::numeric(10,3), i FROM generate_series(1, 20000) i');
-- a constant
SELECT added('SELECT i, 12.34, 0.5, i FROM generate_series(1, 500) i');
-- nulls only
SELECT added('SELECT i, NULL, NULL, i FROM generate_series(1, 500) i');
-- few values, long ones, as a dictionary; of one scale and of two
SELECT added('SELECT i, 9999999.25 + i % 3, 123456789012345.678 + i % 2, i FROM generate_series(1, 3000) i');
SELECT added('SELECT i, NULLIF(i % 3, 1), (ARRAY[1234567890.12, 98765432109.8])[1 + i % 2], i FROM generate_series(1, 3000) i');
-- constants that are no integers
SELECT added('SELECT i, 0, ''NaN'', i FROM generate_series(1, 300) i');
DELETE FROM t_h WHERE b = 'NaN';
DELETE FROM t_b WHERE b = 'NaN';
SELECT added('SELECT i, -1, 1e30, i FROM generate_series(1, 300) i');
-- a column that files lack, null and with a value
ALTER TABLE t_h ADD c numeric(8,3), ADD e numeric(8,3) DEFAULT 1.5;
ALTER FOREIGN TABLE t_b ADD c numeric(8,3), ADD e numeric(8,3) DEFAULT 1.5;
INSERT INTO t_h SELECT i, 1, 1, 1, i / 1000.0, i / 1000.0 FROM generate_series(1, 3000) i;
INSERT INTO t_b SELECT i, 1, 1, 1, i / 1000.0, i / 1000.0 FROM generate_series(1, 3000) i;
SELECT same('SELECT sum(c), sum(e), sum(c * e), avg(c) FROM t_b'), same('SELECT k, sum(c), sum(e) FROM t_b GROUP BY k'),
	same('SELECT sum(c), sum(e), count(c) FROM t_b JOIN s_b USING (k)');

SET client_min_messages = error;
DROP SCHEMA scaled CASCADE;

-- UPDATE and DELETE that join: bucket joins give the rows that are changed.
SET bucketfdw.inline_limit = 0;
\set VERBOSITY terse
SET search_path = public;

CREATE TABLE cj_h AS
	SELECT nullif(i % 2000, 7) AS k, i AS v, 's' || i % 5 AS s, j AS d
	FROM generate_series(1, 10000) i, generate_series(1, 2) j;
CREATE TABLE cx_h AS
	SELECT i * 3::bigint AS k, i AS n, repeat('x', i % 7) AS t FROM generate_series(1, 500) i
	UNION ALL SELECT 6, 7, 'dup' UNION ALL SELECT NULL, 8, 'n';
SELECT bucketfdw.create_table_as('cj_b', 'TABLE cj_h', bucket_by => 'k', buckets => 16);
-- a second run
INSERT INTO cj_b SELECT k, -v, s, d FROM cj_h WHERE v % 100 = 0;
INSERT INTO cj_h SELECT k, -v, s, d FROM cj_h WHERE v % 100 = 0;
SELECT bucketfdw.create_table_as('cx_b', 'TABLE cx_h', bucket_by => 'k', buckets => 12);
-- in inline rows
SET bucketfdw.inline_limit = '16kB';
INSERT INTO cj_b VALUES (3, 1, 'inline', 1), (NULL, 2, 'inline', 1), (9, 3, 'inline', 2);
INSERT INTO cj_h VALUES (3, 1, 'inline', 1), (NULL, 2, 'inline', 1), (9, 3, 'inline', 2);
SET bucketfdw.inline_limit = 0;
ANALYZE cj_h, cx_h, cj_b, cx_b;

-- A statement on the bucketed tables and on the heap copies: the same number of rows, and the same tables afterwards.
CREATE FUNCTION cj(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	heap bigint;
BEGIN
	EXECUTE statement;
	GET DIAGNOSTICS n = ROW_COUNT;
	EXECUTE regexp_replace(statement, '(\w)_b\M', '\1_h', 'g');
	GET DIAGNOSTICS heap = ROW_COUNT;
	IF n <> heap THEN
		RETURN format('WRONG: %s rows, heap %s', n, heap);
	END IF;
	RETURN format('%s changed; %s', n, same('SELECT * FROM cj_b'));
END
$$;

EXPLAIN (COSTS off) DELETE FROM cj_b USING cx_b WHERE cj_b.k = cx_b.k AND cx_b.n % 5 = 0;
SELECT cj('DELETE FROM cj_b USING cx_b WHERE cj_b.k = cx_b.k AND cx_b.n % 5 = 0');
EXPLAIN (VERBOSE, COSTS off) UPDATE cj_b SET v = cx_b.n, s = cx_b.t FROM cx_b WHERE cj_b.k = cx_b.k AND cx_b.n % 5 = 1;
SELECT cj($$UPDATE cj_b SET v = cx_b.n, s = cx_b.t FROM cx_b WHERE cj_b.k = cx_b.k AND cx_b.n % 5 = 1 AND cx_b.t <> 'dup'$$);
EXPLAIN (COSTS off) DELETE FROM cj_b WHERE EXISTS (SELECT FROM cx_b WHERE cx_b.k = cj_b.k AND cx_b.n > 400);
SELECT cj('DELETE FROM cj_b WHERE EXISTS (SELECT FROM cx_b WHERE cx_b.k = cj_b.k AND cx_b.n > 400)');
BEGIN;
EXPLAIN (COSTS off) DELETE FROM cj_b WHERE NOT EXISTS (SELECT FROM cx_b WHERE cx_b.k = cj_b.k);
SELECT cj('DELETE FROM cj_b WHERE NOT EXISTS (SELECT FROM cx_b WHERE cx_b.k = cj_b.k)');
ROLLBACK;
-- with itself: each row once, however often it is met
EXPLAIN (COSTS off) DELETE FROM cj_b USING cj_b o_b WHERE cj_b.k = o_b.k AND o_b.v > cj_b.v + 5000;
SELECT cj('DELETE FROM cj_b USING cj_b o_b WHERE cj_b.k = o_b.k AND o_b.v > cj_b.v + 5000');
SELECT cj('UPDATE cj_b SET v = (SELECT sum(n) FROM cx_b WHERE cx_b.k = cj_b.k) FROM cx_b WHERE cx_b.k = cj_b.k AND cx_b.n < 100');
SELECT cj('UPDATE cj_b SET v = g.c FROM (SELECT k, count(*) c FROM cx_b GROUP BY k) g WHERE g.k = cj_b.k');
-- the key itself
SELECT cj('UPDATE cj_b SET k = cx_b.k + 1 FROM cx_b WHERE cj_b.k = cx_b.k AND cx_b.n % 5 = 2');
SELECT cj('UPDATE cj_b SET k = NULL WHERE k % 50 = 0');
SELECT cj('DELETE FROM cj_b WHERE k IS NULL AND d = 2');

-- where a heap table is changed, or rows are locked, core may run the plan again
EXPLAIN (COSTS off) DELETE FROM cj_h USING cj_b, cx_b WHERE cj_h.v = cj_b.v AND cj_b.k = cx_b.k;
EXPLAIN (COSTS off) SELECT 1 FROM cj_b JOIN cx_b USING (k) FOR UPDATE OF cj_b;

-- RETURNING of both sides
CREATE TEMP TABLE got AS
	WITH d AS (DELETE FROM cj_b USING cx_b WHERE cj_b.k = cx_b.k AND cx_b.n < 300 RETURNING cj_b.*, cx_b.n) TABLE d;
CREATE TEMP TABLE want AS
	WITH d AS (DELETE FROM cj_h USING cx_h WHERE cj_h.k = cx_h.k AND cx_h.n < 300 RETURNING cj_h.*, cx_h.n) TABLE d;
SELECT count(*), count(DISTINCT n) FROM got;
SELECT count(*) FROM ((TABLE got EXCEPT ALL TABLE want) UNION ALL (TABLE want EXCEPT ALL TABLE got)) x;
SELECT same('SELECT * FROM cj_b');

-- joins of what is left, in all ways
SELECT same('SELECT count(*), sum(v), sum(n) FROM cj_b JOIN cx_b USING (k)');
SELECT same('SELECT k, count(*), max(s) FROM cj_b GROUP BY k');
SELECT same('SELECT * FROM cj_b LEFT JOIN cx_b USING (k) WHERE cj_b.d = 1');
SELECT * FROM bucketfdw.verify('cj_b');

DROP FUNCTION cj;
DROP FOREIGN TABLE cj_b, cx_b;
DROP TABLE cj_h, cx_h, got, want;

-- Small writes stand in the catalog, not in files; whoever reads finds them as one more run of each bucket.
CREATE SCHEMA inline;
SET search_path = inline, public;

-- what a table has: rows of the catalog table, and files
CREATE FUNCTION stands(t regclass, OUT inline bigint, OUT files bigint) LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM bucketfdw.inline_rows WHERE relid = t::oid),
		(SELECT count(*) FROM bucketfdw.manifest WHERE relid = t::oid)
$$;
-- the same command for a bucketed table and its copy
CREATE PROCEDURE twice(command text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	EXECUTE regexp_replace(command, '(\w)_b\M', '\1_h', 'g');
END $$;

-- the limit
CREATE FOREIGN TABLE l_b (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE l_h (k int, v text);
SHOW bucketfdw.inline_limit;
CALL twice('INSERT INTO l_b SELECT i, ''a'' FROM generate_series(1, 300) i');
SELECT * FROM stands('l_b');
CALL twice('INSERT INTO l_b SELECT i, ''a'' FROM generate_series(1, 3000) i');
SELECT * FROM stands('l_b');
CALL twice('INSERT INTO l_b VALUES (1, repeat(''x'', 15000))');
SELECT * FROM stands('l_b');
CALL twice('INSERT INTO l_b VALUES (1, repeat(''y'', 17000))');
SELECT * FROM stands('l_b');
SET bucketfdw.inline_limit = 0;
CALL twice('INSERT INTO l_b VALUES (2, ''b'')');
SELECT * FROM stands('l_b');
SET bucketfdw.inline_limit = '64kB';
CALL twice('INSERT INTO l_b VALUES (3, repeat(''z'', 17000)), (NULL, NULL)');
SELECT * FROM stands('l_b');
RESET bucketfdw.inline_limit;
SELECT same('SELECT * FROM l_b'), same('SELECT k, count(*), max(v) FROM l_b GROUP BY k');

-- types, NULL keys, duplicates; beside files and without
CREATE FOREIGN TABLE t_b (k int, n numeric, t text, d date, u uuid, a int[], f float8, b bool, j jsonb)
	SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', sort_by 'k, n desc');
CREATE TABLE t_h (k int, n numeric, t text, d date, u uuid, a int[], f float8, b bool, j jsonb);
CREATE VIEW source AS
	SELECT i, CASE WHEN i % 11 = 0 THEN NULL ELSE i % 40 END AS k, CASE WHEN i % 7 = 0 THEN NULL ELSE i / 8.0 END AS n,
		CASE WHEN i % 5 = 0 THEN NULL ELSE repeat(chr(97 + i % 26), 1 + i * 7 % 300) END AS t,
		date '2024-01-01' + i AS d, md5(i::text)::uuid AS u, ARRAY[i, NULL, i % 3] AS a,
		CASE i % 9 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' ELSE i * 1.5 END::float8 AS f, i % 2 = 0 AS b,
		CASE WHEN i % 4 > 0 THEN jsonb_build_object('i', i, 'x', repeat('y', i % 50)) END AS j
	FROM generate_series(1, 5000) i;
DO $$
BEGIN
	FOR n IN 1 .. 60 LOOP
		CALL twice(format('INSERT INTO t_b SELECT k, n, t, d, u, a, f, b, j FROM source WHERE i = %s', n));
		COMMIT;
	END LOOP;
END $$;
SELECT * FROM stands('t_b');
CREATE FOREIGN TABLE o_b (k bigint, w text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE o_h (k bigint, w text);
CALL twice('INSERT INTO o_b SELECT i % 50, ''w'' || i FROM generate_series(1, 80) i');
CALL twice('INSERT INTO o_b VALUES (NULL, ''none''), (7, NULL)');
SELECT * FROM stands('o_b');
CREATE TABLE queries (n int GENERATED ALWAYS AS IDENTITY, q text);
INSERT INTO queries (q) VALUES
	('SELECT * FROM t_b'),
	('SELECT count(*) FROM t_b'),
	('SELECT k, count(*), sum(n), min(t), max(d), bool_or(b) FROM t_b GROUP BY k'),
	('SELECT sum(k), min(n), max(f), count(t) FROM t_b'),
	('SELECT t_b.k, t, w FROM t_b JOIN o_b USING (k)'),
	('SELECT k, t, w FROM t_b LEFT JOIN o_b USING (k)'),
	('SELECT k, t, w FROM t_b RIGHT JOIN o_b USING (k)'),
	('SELECT a.k, a.t, o.w FROM t_b a FULL JOIN o_b o ON a.k = o.k'),
	('SELECT * FROM t_b a WHERE EXISTS (SELECT FROM o_b o WHERE o.k = a.k)'),
	('SELECT * FROM t_b a WHERE NOT EXISTS (SELECT FROM o_b o WHERE o.k = a.k)'),
	('SELECT a.k, count(*), count(DISTINCT o.w) FROM t_b a JOIN o_b o ON a.k = o.k GROUP BY a.k'),
	('SELECT * FROM t_b WHERE k = 7'),
	('SELECT * FROM t_b WHERE k IS NULL'),
	('SELECT * FROM t_b WHERE k IN (1, 2, 39, 1000) AND n > 2'),
	('SELECT x.i, t FROM generate_series(1, 45) x (i) JOIN t_b ON t_b.k = x.i'),
	('SELECT * FROM (SELECT k, n FROM t_b ORDER BY k, n DESC LIMIT 20) s');
SELECT n, same(q) FROM queries ORDER BY n;
-- with files
SET bucketfdw.inline_limit = 0;
CALL twice('INSERT INTO t_b SELECT k, n, t, d, u, a, f, b, j FROM source WHERE i BETWEEN 61 AND 3000');
CALL twice('INSERT INTO o_b SELECT i % 70, ''f'' || i FROM generate_series(1, 100) i');
RESET bucketfdw.inline_limit;
SELECT n, same(q) FROM queries ORDER BY n;
ANALYZE t_b; ANALYZE o_b; ANALYZE t_h; ANALYZE o_h;
SELECT reltuples FROM pg_class WHERE oid = 't_b'::regclass;
SELECT n, same(q) FROM queries ORDER BY n;
SELECT rows, files FROM bucketfdw.tables WHERE relid = 't_b'::regclass;
SELECT sum(rows), sum(runs) FROM bucketfdw.bucket_stats('t_b');
SELECT bucketfdw.table_size('l_b') > (SELECT sum(bucketfdw.page_bytes(bytes)) FROM bucketfdw.files WHERE relid = 'l_b'::regclass) AS more;
SELECT * FROM bucketfdw.verify('t_b');
-- one unit or many, with workers or not
SET bucketfdw.debug_unit_rows = 50;
SELECT n, same(q) FROM queries ORDER BY n;
RESET bucketfdw.debug_unit_rows;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 3;
SELECT n, same(q) FROM queries ORDER BY n;
SELECT nodes('SELECT count(*) FROM t_b a JOIN t_b b USING (k)', false) ~ 'Gather' AS workers;
SET parallel_leader_participation = off;
SELECT n, same(q) FROM queries ORDER BY n;
RESET parallel_leader_participation;
-- what the transaction wrote is sealed for the workers, per command
BEGIN;
CALL twice('INSERT INTO o_b VALUES (1, ''one'')');
DECLARE c CURSOR FOR SELECT count(*) FROM o_b;
CALL twice('INSERT INTO o_b VALUES (2, ''two'')');
SELECT same('SELECT a.k, t, w FROM t_b a JOIN o_b o ON a.k = o.k');
SAVEPOINT s;
CALL twice('INSERT INTO o_b VALUES (3, ''three'')');
SELECT same('SELECT a.k, t, w FROM t_b a JOIN o_b o ON a.k = o.k');
SELECT * FROM stands('o_b');
ROLLBACK TO s;
SELECT same('SELECT a.k, t, w FROM t_b a JOIN o_b o ON a.k = o.k');
FETCH c;
COMMIT;
SELECT same('SELECT * FROM o_b');
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- savepoints, rollback, cursors, prepared statements
BEGIN;
CALL twice('INSERT INTO o_b VALUES (100, ''a'')');
SAVEPOINT s;
CALL twice('INSERT INTO o_b VALUES (101, ''b'')');
ROLLBACK TO s;
CALL twice('INSERT INTO o_b VALUES (102, ''c'')');
COMMIT;
SELECT same('SELECT * FROM o_b WHERE k >= 100');
BEGIN;
CALL twice('INSERT INTO o_b VALUES (103, ''d'')');
ROLLBACK;
SELECT same('SELECT * FROM o_b WHERE k >= 100');
BEGIN;
CALL twice('INSERT INTO o_b VALUES (104, ''e'')');
PREPARE TRANSACTION 'regress_inline';
SELECT count(*) FROM o_b WHERE k = 104;
COMMIT PREPARED 'regress_inline';
SELECT same('SELECT * FROM o_b WHERE k >= 100');
PREPARE p(int) AS SELECT count(*), min(w) FROM o_b WHERE k = $1;
EXECUTE p(200); EXECUTE p(200); EXECUTE p(200); EXECUTE p(200); EXECUTE p(200);
CALL twice('INSERT INTO o_b VALUES (200, ''new'')');
EXECUTE p(200);
DEALLOCATE p;
CREATE FUNCTION counted_while_writing(t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	n bigint := 0;
	r record;
BEGIN
	OPEN c FOR EXECUTE format('SELECT * FROM %I ORDER BY k', t);
	FETCH c INTO r;
	EXECUTE format('INSERT INTO %I VALUES (300, ''late'')', t);
	LOOP
		EXIT WHEN NOT FOUND;
		n := n + 1;
		FETCH c INTO r;
	END LOOP;
	EXECUTE format('SELECT %s || '' '' || count(*) FROM %I', n, t) INTO t;
	RETURN t;
END $$;
SELECT counted_while_writing('o_b') = counted_while_writing('o_h') AS same;
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT k, w FROM o_b WHERE k >= 200 ORDER BY k;
CALL twice('INSERT INTO o_b VALUES (400, ''later'')');
COMMIT;
FETCH ALL FROM held;
CLOSE held;

-- columns that go, come and change their names; a new spec
CALL twice('INSERT INTO t_b SELECT k, n, t, d, u, a, f, b, j FROM source WHERE i = 3001');
SELECT (stands('t_b')).inline;
DO $$
BEGIN
	ALTER FOREIGN TABLE t_b DROP COLUMN u;
	ALTER TABLE t_h DROP COLUMN u;
	ALTER FOREIGN TABLE t_b ADD COLUMN z int;
	ALTER TABLE t_h ADD COLUMN z int;
	ALTER FOREIGN TABLE t_b RENAME COLUMN a TO array_of;
	ALTER TABLE t_h RENAME COLUMN a TO array_of;
END $$;
CALL twice('INSERT INTO t_b SELECT k, n, t, d, a, f, b, j, 5 FROM source WHERE i = 3002');
SELECT n, same(q) FROM queries ORDER BY n;
SELECT same('SELECT z, count(*) FROM t_b GROUP BY z');
ALTER FOREIGN TABLE t_b OPTIONS (SET buckets '3');
CALL twice('INSERT INTO t_b SELECT k, n, t, d, a, f, b, j, 6 FROM source WHERE i = 3003');
SELECT n, same(q) FROM queries ORDER BY n;
CALL bucketfdw.rebucket('t_b', buckets => 5);
SELECT n, same(q) FROM queries WHERE n <> 16 ORDER BY n;
CALL bucketfdw.rebucket('t_b', bucket_by => 'd');
SELECT n, same(q) FROM queries WHERE n <> 16 ORDER BY n;
SELECT * FROM stands('t_b');
-- not with rows, wherever they stand
CREATE FOREIGN TABLE e_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO e_b VALUES (1, 1);
ALTER FOREIGN TABLE e_b ALTER v TYPE smallint;
ALTER FOREIGN TABLE e_b ALTER k TYPE smallint;
TRUNCATE e_b;
ALTER FOREIGN TABLE e_b ALTER v TYPE bigint;
DROP FOREIGN TABLE e_b;
-- a type behind the back of the trigger is found
CREATE FOREIGN TABLE e_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO e_b VALUES (1, 1);
ALTER EVENT TRIGGER bucketfdw_ddl_end DISABLE;
ALTER FOREIGN TABLE e_b ALTER v TYPE text;
ALTER EVENT TRIGGER bucketfdw_ddl_end ENABLE ALWAYS;
SELECT * FROM e_b;
DROP FOREIGN TABLE e_b;
-- and composite types
CREATE TYPE pair AS (x int, y int);
CREATE FOREIGN TABLE c_b (k int, v pair) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO c_b VALUES (1, (2, 3));
SELECT *, (v).y FROM c_b;
ALTER TYPE pair ADD ATTRIBUTE z int;
ALTER EVENT TRIGGER bucketfdw_ddl_end DISABLE;
ALTER TYPE pair ADD ATTRIBUTE z int;
ALTER TYPE pair DROP ATTRIBUTE x;
ALTER EVENT TRIGGER bucketfdw_ddl_end ENABLE ALWAYS;
SELECT *, (v).z FROM c_b;
SELECT problem FROM bucketfdw.verify('c_b');
DROP FOREIGN TABLE c_b;

-- flushed by compact
CALL bucketfdw.compact('o_b');
SELECT * FROM stands('o_b');
CALL bucketfdw.compact('o_b', true);
SELECT * FROM stands('o_b');
SELECT same('SELECT * FROM o_b');
CREATE FOREIGN TABLE m_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE m_h (k int, v int);
DO $$
BEGIN
	FOR i IN 1 .. 201 LOOP
		CALL twice(format('INSERT INTO m_b VALUES (%s, %s)', i % 50, i));
		COMMIT;
	END LOOP;
END $$;
SELECT * FROM stands('m_b');
CALL bucketfdw.compact('m_b');
SELECT * FROM stands('m_b');
SELECT same('SELECT k, count(*), sum(v) FROM m_b GROUP BY k');
SELECT stats_rows FROM bucketfdw.manifest WHERE relid = 'm_b'::regclass;
-- by size
SET bucketfdw.inline_limit = '300kB';
CALL twice('INSERT INTO m_b SELECT i, i FROM generate_series(1, 12000) i');
SELECT * FROM stands('m_b');
CALL bucketfdw.compact('m_b');
SELECT * FROM stands('m_b');
RESET bucketfdw.inline_limit;
SELECT same('SELECT k, count(*), sum(v) FROM m_b GROUP BY k');
-- and at commit, sooner or later, when there are ten times as many
DO $$
BEGIN
	FOR i IN 1 .. 6000 LOOP
		INSERT INTO m_b VALUES (i, -i);
		COMMIT;
	END LOOP;
END $$;
INSERT INTO m_h SELECT i, -i FROM generate_series(1, 6000) i;
SELECT inline < 6000 AS flushed FROM stands('m_b');
SELECT same('SELECT k, count(*), sum(v) FROM m_b GROUP BY k');

-- TRUNCATE, also of what the transaction wrote; overwrite, DROP
INSERT INTO m_b VALUES (1, 1);
BEGIN;
INSERT INTO m_b VALUES (2, 2);
TRUNCATE m_b;
INSERT INTO m_b VALUES (3, 3);
SELECT * FROM m_b;
ROLLBACK;
SELECT count(*) > 6000 AS there FROM m_b;
BEGIN;
TRUNCATE m_b;
INSERT INTO m_b VALUES (3, 3);
COMMIT;
TABLE m_b;
SELECT * FROM stands('m_b');
SELECT bucketfdw.create_table_as('m_b', 'SELECT 4 AS k, 4 AS v', mode => 'overwrite');
TABLE m_b;
SELECT bucketfdw.create_table_as('m_b', 'SELECT 5 AS k, 5 AS v', mode => 'append');
SELECT * FROM m_b ORDER BY k;
SELECT * FROM stands('m_b');
SELECT 'm_b'::regclass::oid AS oid \gset
BEGIN;
DROP FOREIGN TABLE m_b;
SELECT count(*) FROM bucketfdw.inline_rows WHERE relid = :oid;
ROLLBACK;
SELECT * FROM m_b ORDER BY k;
DROP FOREIGN TABLE m_b;
SELECT count(*) FROM bucketfdw.inline_rows WHERE relid = :oid;
-- what a table left whose end nobody saw
ALTER EVENT TRIGGER bucketfdw_drop DISABLE;
CREATE FOREIGN TABLE m_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO m_b VALUES (1, 1);
SELECT 'm_b'::regclass::oid AS oid \gset
DROP FOREIGN TABLE m_b;
ALTER EVENT TRIGGER bucketfdw_drop ENABLE ALWAYS;
SELECT count(*) FROM bucketfdw.inline_rows WHERE relid = :oid;
SELECT bucketfdw.cleanup() >= 0 AS cleaned;
SELECT count(*) FROM bucketfdw.inline_rows WHERE relid = :oid;

-- partitions, and constraints
CREATE TABLE parts_b (k int, v int CHECK (v > 0)) PARTITION BY RANGE (k);
CREATE TABLE parts_h (k int, v int);
CREATE FOREIGN TABLE parts_1 PARTITION OF parts_b FOR VALUES FROM (0) TO (10) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE FOREIGN TABLE parts_2 PARTITION OF parts_b FOR VALUES FROM (10) TO (20) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CALL twice('INSERT INTO parts_b SELECT i, i + 1 FROM generate_series(0, 19) i');
INSERT INTO parts_b VALUES (1, -1);
SELECT * FROM stands('parts_1') a, stands('parts_2') b;
SELECT same('SELECT * FROM parts_b a JOIN parts_b b USING (k)');

-- malformed
UPDATE bucketfdw.inline_rows SET data = substr(data, 1, length(data) - 3) WHERE relid = 'parts_1'::regclass;
SELECT * FROM parts_1;
SELECT file, problem, detail FROM bucketfdw.verify('parts_1');
UPDATE bucketfdw.inline_rows SET data = '' WHERE relid = 'parts_1'::regclass;
SELECT * FROM parts_1;
UPDATE bucketfdw.inline_rows SET rows = 11 WHERE relid = 'parts_2'::regclass;
SELECT count(*) FROM parts_2;
UPDATE bucketfdw.inline_rows SET rowtype = 1 WHERE relid = 'parts_2'::regclass;
SELECT count(*) FROM parts_2;

-- the catalog table stays small, and has nothing to replicate
SELECT reloptions FROM pg_class WHERE oid = 'bucketfdw.inline_rows'::regclass;
SELECT t.reloptions FROM pg_class c JOIN pg_class t ON t.oid = c.reltoastrelid WHERE c.oid = 'bucketfdw.inline_rows'::regclass;

SET client_min_messages = warning;
DROP SCHEMA inline CASCADE;

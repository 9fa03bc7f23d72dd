-- bucketfdw.compare: what holds in every run; times are not looked at.
CREATE SCHEMA compare;
SET search_path = compare, public;
CREATE TABLE a_h (k int, v int, t text, f float8, n numeric);
CREATE TABLE b_h (k bigint, w int, g float8);
INSERT INTO a_h SELECT CASE WHEN i % 20 = 0 THEN NULL ELSE i * 7 % 500 END, i, 't' || i % 13, i / 7.0, i / 8.0 FROM generate_series(1, 3000) i;
INSERT INTO b_h SELECT i % 600, i, 1.0 / i FROM generate_series(1, 1200) i;
CREATE FOREIGN TABLE a_b (k int, v int, t text, f float8, n numeric) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
CREATE FOREIGN TABLE b_b (k bigint, w int, g float8) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO a_b SELECT * FROM a_h;
INSERT INTO b_b SELECT * FROM b_h;
ANALYZE a_b; ANALYZE b_b; ANALYZE a_h; ANALYZE b_h;

-- the shape of a result: figures only as far as they are known
CREATE FUNCTION shape(query text, runs int DEFAULT 1, baseline text DEFAULT NULL,
	OUT plan text, OUT "rows" bigint, OUT read boolean, OUT temp boolean, OUT sane boolean, OUT same boolean)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT c.plan, c."rows", bytes_read > 0, temp_bytes > 0,
		planning_ms > 0 AND execution_ms > 0 AND peak_memory > 0 AND speedup > 0 AND (c.plan <> 'stock' OR speedup = 1),
		same_answer
	FROM bucketfdw.compare(query, runs, baseline) c
$$;
SELECT * FROM shape('SELECT * FROM a_b JOIN b_b USING (k)');
SELECT * FROM shape('SELECT * FROM a_b JOIN b_b USING (k)', 4, 'SELECT * FROM a_h JOIN b_h USING (k)');
SELECT * FROM shape('SELECT t, count(*), sum(f), avg(g), sum(n) FROM a_b JOIN b_b USING (k) GROUP BY t', baseline => 'SELECT t, count(*), sum(f), avg(g), sum(n) FROM a_h JOIN b_h USING (k) GROUP BY t');
SELECT * FROM shape('SELECT k, count(*) FROM a_b GROUP BY k ORDER BY 2 DESC, 1', 2);
SELECT * FROM shape('TABLE b_b', baseline => 'TABLE b_h');
SELECT * FROM shape('SELECT count(*) FROM a_b JOIN b_h USING (k)');
SELECT * FROM shape('SELECT FROM a_b', baseline => 'SELECT FROM a_h');
SELECT * FROM shape('SELECT 1 WHERE false');
SELECT * FROM shape('VALUES (1, NULL), (2, ''x'')');
-- a plan that spills, sorted answers that spill
SET work_mem = '64kB';
SELECT * FROM shape('SELECT a.*, b.w, b.g FROM a_b a JOIN b_b b USING (k) ORDER BY t, v, w', baseline => 'SELECT a.*, b.w, b.g FROM a_h a JOIN b_h b USING (k) ORDER BY t, v, w');
RESET work_mem;
-- bytes: fewer columns, fewer bytes; blocks for the heap
SELECT (SELECT max(bytes_read) FROM bucketfdw.compare('SELECT k FROM a_b')) < (SELECT max(bytes_read) FROM bucketfdw.compare('SELECT * FROM a_b')) AS fewer;
SELECT c.bytes_read >= pg_relation_size('a_h') AS all_blocks FROM bucketfdw.compare('TABLE a_b', 1, 'TABLE a_h') c WHERE plan = 'baseline';
-- memory: of the query, not of the answer
SELECT (SELECT min(peak_memory) FROM bucketfdw.compare('SELECT repeat(t, 200) FROM a_b ORDER BY 1', 1)) > 1000000 AS sorted,
	(SELECT max(peak_memory) FROM bucketfdw.compare('SELECT repeat(''x'', 200) FROM (VALUES (1), (2)) a, (VALUES (1), (2)) b', 1)) < 500000 AS small;
-- an answer of another size, another value, a row too often
SELECT * FROM shape('TABLE a_b', baseline => 'SELECT * FROM a_h WHERE v < 3000');
SELECT * FROM shape('TABLE a_b', baseline => 'SELECT k, CASE v WHEN 77 THEN 78 ELSE v END, t, f, n FROM a_h');
SELECT * FROM shape('VALUES (1), (1), (2)', baseline => 'VALUES (1), (2), (2)');

-- equality is that of the type
CREATE FUNCTION agree(query text, baseline text) RETURNS boolean LANGUAGE sql AS
	'SELECT same_answer FROM bucketfdw.compare(query, 1, baseline) WHERE plan = ''baseline''';
CREATE COLLATION case_insensitive (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT a, b, agree(a, b) FROM (VALUES
	('VALUES (1.0), (2)', 'VALUES (2.00), (1)'),
	('VALUES (1.0, ''a''), (1.00, ''b'')', 'VALUES (1.00, ''a''), (1.0, ''b'')'),
	('SELECT ''a ''::char(3)', 'SELECT ''a''::char(5)'),
	('SELECT ''a''::text', 'SELECT ''A''::text'),
	('SELECT ''a'' COLLATE case_insensitive', 'SELECT ''A'' COLLATE case_insensitive'),
	('SELECT c || p FROM (SELECT ''a'' COLLATE "C" AS c, ''b'' COLLATE "POSIX" AS p) s', 'SELECT ''ab'''),
	('SELECT interval ''1 mon''', 'SELECT interval ''30 days'''),
	('VALUES (NULL::int), (1)', 'VALUES (1), (NULL)'),
	('VALUES (NULL::int), (1)', 'VALUES (1), (0)'),
	('SELECT ARRAY[1.0, NULL]', 'SELECT ARRAY[1, NULL]::numeric[]'),
	('SELECT ROW(1, ''x'')', 'SELECT ROW(1, ''x'')'),
	('SELECT ROW(1, ''x'')', 'SELECT ROW(1, ''y'')'),
	('SELECT json ''{"a":1}''', 'SELECT json ''{"a":1}'''),
	('SELECT json ''{"a":1}''', 'SELECT json ''{"a": 1}'''),
	('SELECT jsonb ''{"a":1}''', 'SELECT jsonb ''{"a": 1}'''),
	('SELECT point(1, 2)', 'SELECT point(1, 2)'),
	('SELECT point(1, 2)', 'SELECT point(2, 1)'),
	('SELECT ''x''::information_schema.sql_identifier', 'SELECT ''x''::name'),
	('SELECT a_b FROM a_b', 'SELECT ROW(a_h.*)::a_b FROM a_h')) q (a, b);
-- floats: within 1e-9, each row with a partner of its own
CREATE TYPE one AS (x float8);
CREATE TYPE two AS (x float8, y float8);
CREATE TYPE four AS (t text, x float8, y float8, z float8);
CREATE FUNCTION close(type text, a text, b text) RETURNS boolean LANGUAGE sql AS $$
	SELECT agree(format('SELECT (v).* FROM unnest(%L::%s[]) v', a, type), format('SELECT (v).* FROM unnest(%L::%s[]) v', b, type))
$$;
SELECT type, a, b, close(type, a, b) FROM (VALUES
	('one', '{(1),(2)}', '{(2.0000000001),(1.0000000001)}'),
	('one', '{(1),(2)}', '{(2.00000001),(1)}'),
	('one', '{(1),(1.0000000009)}', '{(1.0000000009),(1.0000000018)}'),
	('one', '{(1),(1)}', '{(1),(1.000000002)}'),
	('one', '{(-1e300),(-1e-300)}', '{(-1.0000000001e300),(-1.0000000001e-300)}'),
	('one', '{(0)}', '{(-0)}'),
	('one', '{(0)}', '{(1e-300)}'),
	('one', '{(NaN),(Infinity),(-Infinity),()}', '{(),(-Infinity),(NaN),(Infinity)}'),
	('one', '{(Infinity)}', '{(1.7976931348623157e308)}'),
	('one', '{(NaN)}', '{()}'),
	-- several columns: the first one sorts the partners apart
	('two', '{"(1,5)","(1.0000000001,3)"}', '{"(1,3)","(1.0000000001,5)"}'),
	('two', '{"(1,5)","(1.0000000001,3)"}', '{"(1,3)","(1.0000000001,4)"}'),
	('two', '{"(1,5)","(2,3)"}', '{"(1,3)","(2,5)"}'),
	('four', '{"(x,1,5,0)","(y,1.0000000001,3,0)"}', '{"(x,1,3,0)","(y,1.0000000001,5,0)"}'),
	('four', '{"(x,1,5,7)","(x,1.0000000001,3,)","(y,2,0,0)"}', '{"(y,2,0,0)","(x,1,3,)","(x,1.0000000001,5,7.000000001)"}')) q (type, a, b);
SELECT agree('SELECT 1.1::real', 'SELECT 1.1::real') AS yes, agree('SELECT 1.1::real', 'SELECT 1.1000001::real') AS no;
-- the same with more rows than work_mem holds, then with some rows changed
SET work_mem = '64kB';
SELECT agree('SELECT 1 + (i % 2) * 1e-11::float8, i / 7.0::float8, (i % 3)::float8 FROM generate_series(1, 6000) i',
	'SELECT 1 + (i % 3) * 1e-11::float8, i / 7.0::float8 * (1 + 1e-12::float8), (i % 3)::float8 FROM generate_series(6000, 1, -1) i') AS yes,
	agree('SELECT 1 + (i % 2) * 1e-11::float8, i / 7.0::float8, (i % 3)::float8 FROM generate_series(1, 6000) i',
	'SELECT 1 + (i % 3) * 1e-11::float8, i / 7.0::float8 * (1 + 1e-12::float8), ((i + i / 5777) % 3)::float8 FROM generate_series(6000, 1, -1) i') AS no;
RESET work_mem;
-- not the same from one run to the next
SELECT * FROM shape('SELECT v, random() FROM a_b');

-- one statement that reads
SELECT * FROM bucketfdw.compare(NULL);
SELECT * FROM bucketfdw.compare('');
SELECT * FROM bucketfdw.compare('SELECT 1; SELECT 2');
SELECT * FROM bucketfdw.compare('SELEC 1');
SELECT * FROM bucketfdw.compare('SELECT nix FROM a_b');
SELECT * FROM bucketfdw.compare('SELECT $1');
SELECT * FROM bucketfdw.compare('SHOW work_mem');
SELECT * FROM bucketfdw.compare('EXPLAIN ANALYZE DELETE FROM a_h');
SELECT * FROM bucketfdw.compare('COMMIT');
SELECT * FROM bucketfdw.compare('CREATE TABLE nix AS SELECT 1');
SELECT * FROM bucketfdw.compare('SELECT 1 INTO nix');
SELECT * FROM bucketfdw.compare('SELECT 1', 0);
SELECT * FROM bucketfdw.compare('SELECT 1', 1001);
SELECT * FROM bucketfdw.compare('SELECT 1', NULL);
SELECT * FROM bucketfdw.compare('SELECT 1', 1, '');
SELECT * FROM bucketfdw.compare('SELECT 1', 1, 'SELECT 1, 2');
SELECT * FROM bucketfdw.compare('SELECT 1', 1, 'SELECT ''1''::text');
SELECT * FROM bucketfdw.compare('SELECT 1', 1, 'SELECT 1 / (v - 1) FROM a_h');
-- nothing is written
CREATE TABLE written (i int);
CREATE SEQUENCE counter;
CREATE FUNCTION write() RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO written VALUES (1); RETURN 1; END';
CREATE FUNCTION free() RETURNS text LANGUAGE sql AS 'SELECT set_config(''transaction_read_only'', ''off'', false)';
CREATE RULE swallow AS ON UPDATE TO written DO INSTEAD NOTHING;
SELECT * FROM bucketfdw.compare('INSERT INTO written VALUES (1)');
SELECT * FROM bucketfdw.compare('INSERT INTO a_b (k) VALUES (1) RETURNING k');
SELECT * FROM bucketfdw.compare('UPDATE written SET i = 2');
SELECT * FROM bucketfdw.compare('DELETE FROM written');
SELECT * FROM bucketfdw.compare('WITH w AS (INSERT INTO written VALUES (1) RETURNING i) SELECT * FROM w');
SELECT * FROM bucketfdw.compare('SELECT * FROM written FOR UPDATE');
SELECT * FROM bucketfdw.compare('SELECT write()');
SELECT * FROM bucketfdw.compare('SELECT nextval(''counter'')');
SELECT * FROM bucketfdw.compare('SELECT free(), write()');
SELECT * FROM bucketfdw.compare('SELECT 1', 1, 'SELECT write()');
SELECT * FROM bucketfdw.compare($$SELECT bucketfdw.create_table_as('nix', 'SELECT 1 AS i', bucket_by => 'i')$$);
SELECT * FROM bucketfdw.compare('SELECT bucketfdw.cleanup()');
SELECT count(*) FROM written;
-- not even where a read-only transaction may
CREATE TEMP TABLE scratch (i int);
SELECT * FROM shape('WITH w AS (INSERT INTO scratch VALUES (1) RETURNING i) SELECT i, (SELECT count(*) FROM scratch) FROM w', 2);
SELECT count(*) FROM scratch;

-- settings are those of before, also after an error
SET bucketfdw.enable = off;
SELECT * FROM shape('SELECT set_config(''work_mem'', ''1MB'', false), count(*) FROM a_b');
SELECT current_setting('bucketfdw.enable'), current_setting('transaction_read_only'), current_setting('work_mem');
SELECT plan, "rows" FROM bucketfdw.compare('SELECT 1 / (v - 1) FROM a_b');
SELECT current_setting('bucketfdw.enable'), current_setting('transaction_read_only'), current_setting('work_mem');
RESET bucketfdw.enable;
-- the plans are what they are called
SELECT * FROM shape('SELECT current_setting(''bucketfdw.enable'')', baseline => 'SELECT ''off''');

-- caught errors leave nothing behind
DO $$
BEGIN
	FOR i IN 1..3 LOOP
		BEGIN
			PERFORM * FROM bucketfdw.compare('SELECT 1 / (v - 1) FROM a_b', 1, 'SELECT v FROM a_h');
		EXCEPTION WHEN division_by_zero THEN
			RAISE NOTICE 'caught';
		END;
		INSERT INTO written VALUES (i);
	END LOOP;
END
$$;
SELECT count(*) FROM written;
SET statement_timeout = 200;
SELECT * FROM bucketfdw.compare('SELECT pg_sleep(60)', 1000);
RESET statement_timeout;

-- in a transaction: sees what it wrote, and that stays
BEGIN;
INSERT INTO a_b SELECT i, i FROM generate_series(1, 10) i;
SELECT * FROM shape('SELECT * FROM a_b');
INSERT INTO a_b VALUES (11, 11);
SAVEPOINT s;
INSERT INTO a_b VALUES (12, 12);
SELECT * FROM shape('SELECT k FROM a_b', 2, 'SELECT k FROM a_h UNION ALL SELECT generate_series(1, 12)');
SELECT * FROM bucketfdw.compare('SELECT 1 / (k - 12) FROM a_b');
ROLLBACK TO s;
SELECT * FROM shape('SELECT k FROM a_b', 2, 'SELECT k FROM a_h UNION ALL SELECT generate_series(1, 11)');
INSERT INTO written VALUES (4);
COMMIT;
SELECT (SELECT count(*) FROM a_b), (SELECT count(*) FROM written);
SELECT count(*) FROM bucketfdw.verify('a_b');
BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;
SELECT * FROM shape('SELECT count(*) FROM a_b JOIN b_b USING (k)');
SHOW transaction_read_only;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM shape('SELECT count(*) FROM a_b JOIN b_b USING (k)');
COMMIT;
-- inside other queries
SELECT plan, same_answer FROM (SELECT (bucketfdw.compare('SELECT k FROM a_b')).*) s;
SELECT * FROM shape('SELECT plan, same_answer FROM bucketfdw.compare(''SELECT v FROM a_b'', 1)');
SELECT count(*) FROM b_b b, LATERAL (SELECT plan FROM bucketfdw.compare('SELECT count(*) FROM a_b WHERE k = ' || b.k, 1)) c WHERE w < 4;

-- parallel plans
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT * FROM shape('SELECT t, count(*), sum(f) FROM a_b JOIN b_b USING (k) GROUP BY t', 2, 'SELECT t, count(*), sum(f) FROM a_h JOIN b_h USING (k) GROUP BY t');
SELECT c.bytes_read >= pg_relation_size('a_h') AS all_blocks FROM bucketfdw.compare('SELECT sum(v) FROM a_b', 1, 'SELECT sum(v) FROM a_h') c WHERE plan = 'baseline';
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- rights are those of the caller
CREATE ROLE regress_bucketfdw_compare;
GRANT USAGE ON SCHEMA compare TO regress_bucketfdw_compare;
GRANT SELECT ON a_b TO regress_bucketfdw_compare;
SET ROLE regress_bucketfdw_compare;
SELECT * FROM shape('SELECT count(*) FROM a_b');
SELECT * FROM bucketfdw.compare('SELECT count(*) FROM b_b');
SELECT * FROM bucketfdw.compare('SELECT v FROM a_b', 1, 'SELECT v FROM a_h');
SELECT * FROM bucketfdw.compare('SELECT 1 FROM a_b WHERE k IN (SELECT k FROM b_b)');
RESET ROLE;

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA compare CASCADE;
DROP ROLE regress_bucketfdw_compare;

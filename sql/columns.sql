-- Columns that change while a table has rows: what is stored stays, and reads as a heap table's rows do.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA columns;
SET search_path = columns, public;

-- A command for the bucketed table t_b and for its heap copy t_h; the error, if both raise the same.
CREATE FUNCTION alike(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	told text[] := '{}';
BEGIN
	FOREACH command IN ARRAY ARRAY[command, regexp_replace(replace(command, 'FOREIGN TABLE', 'TABLE'), '(\w)_b\M', '\1_h', 'g')] LOOP
		BEGIN
			EXECUTE command;
			told := told || 'done'::text;
		EXCEPTION WHEN OTHERS THEN
			told := told || regexp_replace(format('%s: %s', sqlstate, sqlerrm), '(\w)_h\M', '\1_b', 'g');
		END;
	END LOOP;
	RETURN CASE WHEN told[1] = told[2] THEN told[1] ELSE format('DIFFERENT: %s, heap: %s', told[1], told[2]) END;
END
$$;
-- The questions for a column with a value: every kind of condition, plain, sorted, grouped, by lookup.
CREATE FUNCTION asked(col text, val text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT q || ': ' || a
	FROM unnest(ARRAY[
		'SELECT * FROM t_b',
		'SELECT k, $1 FROM t_b WHERE $1 = $2',
		'SELECT k, $1 FROM t_b WHERE $1 <> $2',
		'SELECT k FROM t_b WHERE $1 < $2', 'SELECT k FROM t_b WHERE $1 <= $2',
		'SELECT k FROM t_b WHERE $1 > $2', 'SELECT k FROM t_b WHERE $1 >= $2',
		'SELECT k, v FROM t_b WHERE $1 IN ($2, NULL)', 'SELECT k FROM t_b WHERE $1 NOT IN ($2)',
		'SELECT k FROM t_b WHERE $1 IS NULL', 'SELECT k FROM t_b WHERE $1 IS NOT NULL',
		'SELECT k FROM t_b WHERE $1 = $2 OR k < 3', 'SELECT k FROM t_b WHERE k = 5 AND $1 = $2',
		'SELECT k, $1 FROM t_b WHERE k IN (2, 3, 90000) AND $1 >= $2',
		'SELECT $1, count(*), min(k), max($1) FROM t_b GROUP BY $1',
		'SELECT k, count($1), min($1), max($1) FROM t_b GROUP BY k',
		'SELECT count(*), count($1), min($1), max($1) FROM t_b',
		'SELECT a.k, a.$1, b.v FROM t_b a JOIN t_b b USING (k) WHERE b.k < 50',
		'SELECT a.k, count(a.$1) FROM t_b a JOIN t_b b ON a.k = b.k AND a.$1 = b.$1 WHERE b.k < 50 GROUP BY a.k',
		'SELECT DISTINCT $1 FROM t_b']) AS q,
		LATERAL same(replace(replace(q, '$1', col), '$2', val)) AS a
	WHERE a !~ '^same'
	UNION ALL
	SELECT format('all of %s asked', col)
$$;
-- Each row of a write is a key with nulls and duplicates beside it.
CREATE FUNCTION rows_of(first int, last int, OUT k int, OUT g smallint, OUT v varchar(5), OUT n numeric(6,2)) RETURNS SETOF record
LANGUAGE sql AS $$
	SELECT nullif(i % 997, 7), (i % 5)::smallint, nullif('v' || i % 13, 'v4'), nullif(i % 100, 5) / 4.0
	FROM generate_series(first, last) i
$$;
CREATE TABLE t_h (k int, g smallint, v varchar(5), n numeric(6,2));
CREATE FOREIGN TABLE t_b (k int, g smallint, v varchar(5), n numeric(6,2)) SERVER bucketfdw
	OPTIONS (bucket_by 'k', buckets '4', sort_by 'k, g desc', block_rows '512');
SELECT alike('INSERT INTO t_b SELECT * FROM rows_of(1, 6000)');
SELECT alike('INSERT INTO t_b SELECT * FROM rows_of(5001, 7000)');
-- and some that stand inline
SELECT alike('INSERT INTO t_b SELECT * FROM rows_of(1, 30)');

--
-- ADD COLUMN with a default
--
SELECT alike('ALTER FOREIGN TABLE t_b ADD a int DEFAULT 7');
SELECT asked('a', '7');
SELECT alike('INSERT INTO t_b SELECT * FROM rows_of(1, 20)'), alike('INSERT INTO t_b SELECT *, k FROM rows_of(1, 3000)'),
	alike('INSERT INTO t_b SELECT *, NULL FROM rows_of(1, 20)');
SELECT asked('a', '7'), asked('a', '8');
-- another default, or none, is for new rows
SELECT alike('ALTER FOREIGN TABLE t_b ALTER a SET DEFAULT 8'), alike('INSERT INTO t_b SELECT * FROM rows_of(1, 20)');
SELECT alike('ALTER FOREIGN TABLE t_b ALTER a DROP DEFAULT'), alike('INSERT INTO t_b SELECT * FROM rows_of(1, 20)');
SELECT asked('a', '7'), asked('a', '8');
-- IF NOT EXISTS changes nothing
SELECT alike('ALTER FOREIGN TABLE t_b ADD IF NOT EXISTS a int DEFAULT 9');
SELECT asked('a', '9');

-- many types; now() is computed once
CREATE DOMAIN positive AS int CHECK (value > 0);
CREATE DOMAIN short AS varchar(5) DEFAULT 'five' CHECK (value <> 'no');
CREATE DOMAIN never AS text NOT NULL;
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TYPE pair AS (x int, y text);
BEGIN;
SELECT alike('ALTER FOREIGN TABLE t_b ADD c_num numeric(8,2) DEFAULT 1.5 NOT NULL, ADD c_text text DEFAULT ''some text'',
	ADD c_time timestamptz DEFAULT now(), ADD c_bool bool DEFAULT true, ADD c_f8 float8 DEFAULT 0.1, ADD c_f4 real DEFAULT ''NaN'',
	ADD c_uuid uuid DEFAULT ''a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'', ADD c_oid oid DEFAULT 4000000000, ADD c_day date DEFAULT ''2020-02-29'',
	ADD c_char char(5) DEFAULT ''ab'', ADD c_bytea bytea DEFAULT ''\x00ff'', ADD c_pos positive DEFAULT 5, ADD c_short short,
	ADD c_mood mood DEFAULT ''glad'', ADD c_pair pair DEFAULT ROW(1, repeat(''p'', 200))::pair, ADD c_arr int[] DEFAULT ''{1,NULL}'',
	ADD c_iv interval DEFAULT ''1 day'', ADD c_name name DEFAULT current_user, ADD c_null text DEFAULT NULL, ADD c_num2 numeric DEFAULT 1e50,
	ADD c_i2 int2 DEFAULT -3, ADD c_i8 int8 DEFAULT -3, ADD c_hash int DEFAULT hashtext(''x''), ADD CHECK (c_i8 < 0)');
COMMIT;
SELECT asked('c_num', '1.5'), asked('c_text', '''some text'''), asked('c_f8', '0.1'), asked('c_f4', '''NaN'''),
	asked('c_oid', '4000000000'), asked('c_day', '''2020-02-29'''), asked('c_char', '''ab'''), asked('c_short', '''five'''),
	asked('c_mood', '''glad'''), asked('c_iv', '''24:00'''), asked('c_i8', '-3'), asked('c_num2', '1e50');
SELECT same('SELECT count(*), count(DISTINCT c_time) FROM t_b'), same('SELECT k, c_uuid FROM t_b WHERE c_uuid = ''a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'''),
	same('SELECT k FROM t_b WHERE c_text LIKE ''some%'''), same('SELECT k FROM t_b WHERE c_text LIKE ''more%'''), same('SELECT sum(c_num), avg(c_num), sum(c_i2) FROM t_b'),
	same('SELECT sum(c_num * n), sum(c_num + c_i8) FROM t_b GROUP BY k'),
	same('SELECT k, c_bool FROM t_b WHERE c_bool'), same('SELECT k FROM t_b WHERE NOT c_bool'), same('SELECT bool_and(c_bool), count(*) FROM t_b GROUP BY k');
SELECT attname FROM pg_attribute WHERE attrelid = 't_b'::regclass AND attnum > 0 AND NOT attisdropped
	AND attnum NOT IN (SELECT attnum FROM bucketfdw.missing_values WHERE relid = 't_b'::regclass) ORDER BY attnum;
-- rows that come after it
SELECT alike('INSERT INTO t_b (k, c_num, c_text, c_short, c_char) SELECT k, n, v, v, v FROM rows_of(1, 2500) WHERE n IS NOT NULL');
SELECT alike('INSERT INTO t_b (k, c_num, c_text) SELECT k, n, v FROM rows_of(1, 25) WHERE n IS NOT NULL');
SELECT asked('c_num', '1.5'), asked('c_text', '''some text'''), asked('c_char', '''ab'''), asked('c_i8', '-3'), asked('c_null', '''x''');
-- rows that are changed keep the value
SELECT alike('UPDATE t_b SET v = ''new'' WHERE k = 5'), alike('UPDATE t_b SET a = a + 1, k = k + 1 WHERE a = 7 AND k BETWEEN 10 AND 20'), alike('DELETE FROM t_b WHERE a = 8 AND k < 15'),
	alike('UPDATE t_b SET c_num = h.n FROM (SELECT k, max(n) AS n FROM rows_of(1, 100) GROUP BY k) h WHERE h.k = t_b.k AND c_text = ''some text'' AND h.n IS NOT NULL');
SELECT asked('c_num', '1.5'), asked('a', '8');
-- what the constraints say is true
SELECT same('SELECT count(*) FROM t_b WHERE c_num IS NULL'), same('SELECT count(*) FROM t_b WHERE c_i8 >= 0');

-- what core refuses, in its words
SELECT alike('ALTER FOREIGN TABLE t_b ADD bad int NOT NULL');
SELECT alike('ALTER FOREIGN TABLE t_b ADD bad positive DEFAULT 0');
SELECT alike('ALTER FOREIGN TABLE t_b ADD bad never');
SELECT alike('ALTER FOREIGN TABLE t_b ADD bad int DEFAULT 5 CONSTRAINT bad CHECK (bad > 5)');
SELECT alike('ALTER FOREIGN TABLE t_b ADD bad int DEFAULT 5, ADD CONSTRAINT bad CHECK (bad < a)');
SELECT alike('ALTER FOREIGN TABLE t_b ADD bad int DEFAULT 1 / 0');
SELECT alike('ALTER FOREIGN TABLE t_b ADD bad int DEFAULT NULL NOT NULL');
-- and what would have to be written for each row
ALTER FOREIGN TABLE t_b ADD bad float8 DEFAULT random();
ALTER FOREIGN TABLE t_b ADD bad serial;
ALTER FOREIGN TABLE t_b ADD bad int GENERATED BY DEFAULT AS IDENTITY;
ALTER FOREIGN TABLE t_b ADD bad int GENERATED ALWAYS AS (k * 2) STORED;
ALTER FOREIGN TABLE t_b ADD bad int DEFAULT 1, ALTER bad SET DEFAULT 2;
SELECT count(*) FROM bucketfdw.missing_values WHERE relid = 't_b'::regclass;
-- as the hint says
CREATE TABLE seen AS SELECT count(*) FROM t_b;
SELECT alike('ALTER FOREIGN TABLE t_b ADD r float8');
SELECT bucketfdw.create_table_as('t_b', (SELECT format('SELECT %s, random() AS r FROM t_b', string_agg(quote_ident(attname), ', ' ORDER BY attnum))
	FROM pg_attribute WHERE attrelid = 't_b'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'r'), mode => 'overwrite') = (TABLE seen) AS all;
ALTER FOREIGN TABLE t_b ALTER r SET DEFAULT random();
SELECT count(*) = (TABLE seen), count(DISTINCT r) > 1000 FROM t_b;
SELECT alike('ALTER FOREIGN TABLE t_b DROP r');
SELECT asked('a', '7'), asked('c_num', '1.5');

-- a value that is long
CREATE TABLE l_h (k int);
CREATE FOREIGN TABLE l_b (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
SET bucketfdw.inline_limit = 0;
SELECT alike('INSERT INTO l_b SELECT generate_series(1, 30)');
RESET bucketfdw.inline_limit;
SELECT alike('INSERT INTO l_b SELECT generate_series(31, 40)');
SELECT alike('ALTER FOREIGN TABLE l_b ADD l text DEFAULT repeat(''long '', 10000), ADD j jsonb DEFAULT ''{"a": [1, 2]}'', ADD m text[] DEFAULT ARRAY[repeat(''x'', 9000), NULL]');
SELECT same('SELECT * FROM l_b'), same('SELECT k FROM l_b WHERE l LIKE ''long long%'''), same('SELECT k, j->''a'' FROM l_b WHERE l >= ''long'' AND k = 35');
CALL bucketfdw.compact('l_b', "full" => true);
SELECT same('SELECT * FROM l_b');

-- of a dropped column nothing stays
SELECT alike('ALTER FOREIGN TABLE t_b DROP c_text, DROP c_num2');
SELECT count(*) FROM bucketfdw.missing_values m WHERE NOT EXISTS (
	SELECT FROM pg_attribute a WHERE a.attrelid = m.relid AND a.attnum = m.attnum AND NOT a.attisdropped);

--
-- What else reads and writes: ANALYZE, estimates, verify, upkeep, TRUNCATE
--
CREATE TABLE u_h (k int, v text);
CREATE FOREIGN TABLE u_b (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
SELECT alike('INSERT INTO u_b SELECT i, i FROM generate_series(1, 3000) i'), alike('INSERT INTO u_b SELECT i, i FROM generate_series(2001, 4000) i'),
	alike('INSERT INTO u_b SELECT i, i FROM generate_series(1, 50) i');
SELECT alike('ALTER FOREIGN TABLE u_b ADD a int DEFAULT 7, ADD b text DEFAULT ''bee'', ADD c int');
SELECT alike('INSERT INTO u_b SELECT i, i, i, i, i FROM generate_series(1, 1000) i');
-- without ANALYZE, from what was written
SELECT round(expected('SELECT * FROM u_b WHERE a = 7') / 1000) AS a7, round(expected('SELECT * FROM u_b WHERE b = ''bee''') / 1000) AS bee,
	round(expected('SELECT * FROM u_b WHERE c IS NULL') / 1000) AS c_null, round(expected('SELECT * FROM u_b WHERE a IS NULL') / 1000) AS a_null,
	expected('SELECT DISTINCT a FROM u_b') BETWEEN 500 AND 2000 AS distinct_a;
-- blocks are skipped by the value that their rows have
SELECT measured('SELECT * FROM u_b WHERE a = 1000000', 'Blocks Read') AS a_million, measured('SELECT * FROM u_b WHERE a = 7', 'Blocks Skipped') AS a7,
	measured('SELECT * FROM u_b WHERE b < ''bee'' AND a > 1000', 'Blocks Read') AS below, measured('SELECT * FROM u_b WHERE a IS NULL', 'Blocks Read') AS nulls;
ANALYZE u_b;
SELECT attname, round(null_frac::numeric, 1) AS null_frac, most_common_vals::text::text[] @> '{7}' AS seven, most_common_vals::text::text[] @> '{bee}' AS bee
	FROM pg_stats WHERE schemaname = 'columns' AND tablename = 'u_b' AND attname IN ('a', 'b', 'c') ORDER BY attname;
SELECT * FROM bucketfdw.verify('u_b');
CALL bucketfdw.compact('u_b');
SELECT same('SELECT * FROM u_b'), same('SELECT a, count(*) FROM u_b GROUP BY a');
SELECT alike('INSERT INTO u_b (k) SELECT i FROM generate_series(1, 10) i'), alike('ALTER FOREIGN TABLE u_b ADD d numeric(5,2) DEFAULT 2.25');
CALL bucketfdw.rebucket('u_b', buckets => 6);
SELECT same('SELECT * FROM u_b'), same('SELECT d, sum(d) FROM u_b GROUP BY d');
SELECT alike('INSERT INTO u_b (k) SELECT i FROM generate_series(1, 10) i'), alike('ALTER FOREIGN TABLE u_b ADD e int DEFAULT -1');
CALL bucketfdw.rebucket('u_b', bucket_by => 'e', sort_by => 'e, k');
SELECT same('SELECT * FROM u_b'), same('SELECT e, count(*) FROM u_b GROUP BY e'), same('SELECT * FROM u_b WHERE e = -1 AND k = 5');
CALL bucketfdw.compact('u_b', "full" => true);
SELECT same('SELECT * FROM u_b');
SELECT * FROM bucketfdw.verify('u_b');
-- after TRUNCATE there are no older rows, and what is there is kept for who sees them still
SELECT alike('TRUNCATE u_b'), alike('INSERT INTO u_b (k) VALUES (1)');
SELECT same('SELECT * FROM u_b');
SELECT alike('ALTER FOREIGN TABLE u_b ALTER a DROP DEFAULT'), alike('INSERT INTO u_b (k) VALUES (2)'), same('SELECT * FROM u_b');
-- a table that goes leaves nothing
DROP FOREIGN TABLE u_b;
DROP TABLE u_h;
SELECT count(*) FROM bucketfdw.missing_values m WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = m.relid);

--
-- Transactions, savepoints, rows that wait, prepared statements
--
CREATE TABLE x_h (k int, v text);
CREATE FOREIGN TABLE x_b (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
PREPARE by_key(int) AS SELECT k, v, (x.*)::text FROM x_b x WHERE k = $1;
SELECT alike('INSERT INTO x_b SELECT i, i FROM generate_series(1, 500) i');
EXECUTE by_key(5);
EXECUTE by_key(5);
EXECUTE by_key(5);
EXECUTE by_key(5);
EXECUTE by_key(5);
EXECUTE by_key(5);
BEGIN;
SELECT alike('INSERT INTO x_b SELECT i, i FROM generate_series(501, 510) i');
SAVEPOINT s;
SELECT alike('ALTER FOREIGN TABLE x_b ADD a int DEFAULT 1');
SELECT alike('INSERT INTO x_b SELECT i, i FROM generate_series(511, 520) i'), alike('INSERT INTO x_b SELECT i, i, i FROM generate_series(521, 530) i');
SELECT same('SELECT * FROM x_b'), same('SELECT a, count(*) FROM x_b GROUP BY a'), same('SELECT * FROM x_b WHERE a = 1 AND k = 505');
ROLLBACK TO s;
SELECT same('SELECT * FROM x_b');
SELECT alike('ALTER FOREIGN TABLE x_b ADD a int DEFAULT 2');
SELECT same('SELECT * FROM x_b WHERE a = 2');
SAVEPOINT s;
SELECT alike('ALTER FOREIGN TABLE x_b DROP a'), alike('ALTER FOREIGN TABLE x_b ADD a text DEFAULT ''three''');
SELECT same('SELECT * FROM x_b');
ROLLBACK TO s;
SELECT same('SELECT * FROM x_b');
COMMIT;
SELECT same('SELECT * FROM x_b');
EXECUTE by_key(5);
EXECUTE by_key(505);
BEGIN;
SELECT alike('ALTER FOREIGN TABLE x_b ADD b int DEFAULT 3'), alike('INSERT INTO x_b SELECT i, i FROM generate_series(1, 10) i');
ROLLBACK;
SELECT same('SELECT * FROM x_b'), count(*) FROM bucketfdw.missing_values WHERE relid = 'x_b'::regclass GROUP BY 1;

--
-- Partitions and children
--
CREATE TABLE p_b (k int, day date) PARTITION BY RANGE (day);
CREATE TABLE p_h (k int, day date) PARTITION BY RANGE (day);
CREATE FOREIGN TABLE p1 PARTITION OF p_b FOR VALUES FROM ('2020-01-01') TO ('2020-02-01') SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE p2 PARTITION OF p_b FOR VALUES FROM ('2020-02-01') TO ('2020-03-01');
CREATE FOREIGN TABLE p3 PARTITION OF p_b FOR VALUES FROM ('2020-03-01') TO ('2020-04-01') SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE h1 PARTITION OF p_h FOR VALUES FROM ('2020-01-01') TO ('2020-04-01');
SELECT alike('INSERT INTO p_b SELECT i, ''2020-01-01''::date + i % 60 FROM generate_series(1, 600) i');
SELECT alike('ALTER TABLE p_b ADD a int DEFAULT 7 NOT NULL, ADD b text DEFAULT ''bee''');
SELECT alike('INSERT INTO p_b SELECT i, ''2020-01-01''::date + i % 91, i FROM generate_series(1, 600) i');
SELECT same('SELECT * FROM p_b'), same('SELECT * FROM p_b WHERE a = 7 AND day < ''2020-01-05'''), same('SELECT k, sum(a) FROM p_b GROUP BY k');
ALTER TABLE p_b ADD bad int DEFAULT 1 CHECK (bad > 1);
SELECT m.relid::regclass, a.attname FROM bucketfdw.missing_values m JOIN pg_attribute a ON a.attrelid = m.relid AND a.attnum = m.attnum
	WHERE m.relid IN ('p1'::regclass, 'p3'::regclass) ORDER BY 1, 2;
SELECT alike('ALTER TABLE p_b DROP b'), same('SELECT * FROM p_b');
-- a child's own column stays what it is when the parent gets one of that name
CREATE TABLE parent (k int);
CREATE FOREIGN TABLE child (k int, a int) INHERITS (parent) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
INSERT INTO child VALUES (1, NULL), (2, 2);
ALTER TABLE parent ADD a int DEFAULT 5, ADD b int DEFAULT 6;
INSERT INTO child (k) VALUES (3);
SELECT * FROM child ORDER BY k;
CREATE TABLE second (c int);
CREATE FOREIGN TABLE of_two (k int) INHERITS (parent, second) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
INSERT INTO of_two VALUES (1, 2, 3, 4);
ALTER TABLE parent ADD d int DEFAULT 5;
ALTER TABLE second ADD d int DEFAULT 5;
SELECT * FROM of_two;

--
-- Types that hold all that is stored
--
CREATE TABLE y_h (k smallint, g int, v varchar(3), n numeric(5,2), f real, c char(3), ts timestamp(0), i smallint);
CREATE FOREIGN TABLE y_b (k smallint, g int, v varchar(3), n numeric(5,2), f real, c char(3), ts timestamp(0), i smallint) SERVER bucketfdw
	OPTIONS (bucket_by 'k, v', buckets '4', sort_by 'k, v, g desc', block_rows '256');
CREATE TABLE z_h (k bigint, v text, w int);
CREATE FOREIGN TABLE z_b (k bigint, v text, w int) SERVER bucketfdw OPTIONS (bucket_by 'k, v', buckets '8');
CREATE FUNCTION y_rows(first int, last int, far bigint, long text) RETURNS TABLE (k bigint, g int, v text, n numeric, f real, c char(3), ts timestamp, i bigint)
	LANGUAGE sql AS $$
	SELECT nullif(j % 301 - 150, 7) * far, j % 7, nullif('a' || j % 9, 'a4') || long, nullif(j % 50, 3) / 4.0, j / 3.0, 'c' || j % 3,
		timestamp '2020-01-01' + j * interval '1 h', nullif(j % 11 - 5, 2) * far
	FROM generate_series(first, last) j
$$;
INSERT INTO z_h SELECT nullif(j % 301 - 150, 7) * far, 'a' || j % 9 || long, j
	FROM generate_series(1, 900) j, (VALUES (1, ''), (100000, ''), (10000000000, ''), (1, 'long')) AS x (far, long);
INSERT INTO z_b SELECT * FROM z_h;
CREATE FUNCTION y_asked() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT q || ': ' || a
	FROM unnest(ARRAY[
		'SELECT * FROM y_b',
		'SELECT k, g FROM y_b WHERE k = 5', 'SELECT * FROM y_b WHERE k = 5 AND v = ''a5''', 'SELECT * FROM y_b WHERE k = -3 AND v = ''a1long''',
		'SELECT * FROM y_b WHERE k IN (-150, 3, 3000000000, 300000) AND v >= ''a3''',
		'SELECT * FROM y_b WHERE k = 500000 OR k = 50000000000', 'SELECT * FROM y_b WHERE k > 32767', 'SELECT k FROM y_b WHERE k <= -40000 AND g < 3',
		'SELECT * FROM y_b WHERE i = -3', 'SELECT * FROM y_b WHERE i < -40000', 'SELECT * FROM y_b WHERE i IN (1, 100000)', 'SELECT k FROM y_b WHERE i IS NULL',
		'SELECT * FROM y_b WHERE v = ''a3''', 'SELECT k FROM y_b WHERE v LIKE ''a3%''', 'SELECT k FROM y_b WHERE n = 1.25', 'SELECT k FROM y_b WHERE ts < ''2020-01-05''',
		'SELECT count(*), sum(k), sum(i), sum(n), min(v), max(v), min(k), max(i) FROM y_b',
		'SELECT k, v, count(*), sum(i), sum(n), max(g) FROM y_b GROUP BY k, v', 'SELECT i, count(*), sum(n) FROM y_b GROUP BY i', 'SELECT v, count(*) FROM y_b GROUP BY v',
		'SELECT k, v, row_number() OVER (ORDER BY k, v, g DESC, n, i) FROM y_b', 'SELECT * FROM (SELECT k, v, g FROM y_b ORDER BY k, v, g DESC LIMIT 300) s',
		'SELECT count(*), sum(y.i), sum(z.w) FROM y_b y JOIN z_b z ON y.k = z.k AND y.v = z.v', 'SELECT y.k, y.v, y.i, z.w FROM y_b y LEFT JOIN z_b z ON y.k = z.k AND y.v = z.v AND z.w < 400',
		'SELECT z.k, z.v, z.w FROM z_b z WHERE NOT EXISTS (SELECT FROM y_b y WHERE y.k = z.k AND y.v = z.v)',
		'SELECT count(*) FROM y_b y JOIN y_b z ON y.k = z.k AND y.v = z.v', 'SELECT count(*), sum(z.w) FROM y_b y JOIN z_b z ON y.i = z.k']) AS q,
		LATERAL same(q) AS a
	WHERE a !~ '^same'
	UNION ALL
	SELECT 'all asked'
$$;
SELECT alike('INSERT INTO y_b SELECT * FROM y_rows(1, 2500, 1, '''')'), alike('INSERT INTO y_b SELECT * FROM y_rows(1, 20, 1, '''')');
SELECT y_asked();
SELECT alike('ALTER FOREIGN TABLE y_b ADD m smallint DEFAULT 3, ADD t varchar(3) DEFAULT ''abc''');
SELECT alike('ALTER FOREIGN TABLE y_b ALTER k TYPE int, ALTER v TYPE varchar(6), ALTER n TYPE numeric(8,2), ALTER i TYPE int, ALTER ts TYPE timestamp(3), ALTER m TYPE int, ALTER t TYPE text');
SELECT y_asked();
SELECT alike('INSERT INTO y_b SELECT * FROM y_rows(1, 1500, 100000, ''long'')'), alike('INSERT INTO y_b SELECT *, -3, ''tee'' FROM y_rows(1, 20, 100000, ''long'')');
SELECT y_asked();
SELECT alike('ALTER FOREIGN TABLE y_b ALTER k TYPE bigint, ALTER v TYPE text, ALTER n TYPE numeric, ALTER i TYPE bigint, ALTER ts TYPE timestamp, ALTER m TYPE bigint');
SELECT y_asked();
SELECT alike('INSERT INTO y_b SELECT * FROM y_rows(1, 1500, 10000000000, ''long'')'), alike('INSERT INTO y_b SELECT * FROM y_rows(1, 20, 10000000000, ''long'')'),
	alike('INSERT INTO y_b SELECT * FROM y_rows(1, 1500, 1, ''longer'')');
SELECT y_asked();
SELECT alike('UPDATE y_b SET i = i + 1 WHERE k = 5'), alike('UPDATE y_b SET k = k * 1000 WHERE k BETWEEN 20 AND 30'), alike('DELETE FROM y_b WHERE k = 6 OR m = -3 AND g = 2');
SELECT y_asked();
SELECT same('SELECT m, t, count(*) FROM y_b GROUP BY m, t'), same('SELECT k FROM y_b WHERE m = 3 AND t = ''abc''');
SELECT count(*) AS wrong FROM bucketfdw.verify('y_b');
SELECT nodes('SELECT count(*) FROM y_b y JOIN z_b z ON y.k = z.k AND y.v = z.v');
ANALYZE y_b;
SELECT y_asked();
-- in several processes, and in parts of buckets
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET bucketfdw.debug_unit_rows = 500;
SELECT y_asked();
RESET bucketfdw.debug_unit_rows;
SET max_parallel_workers_per_gather = 0;
SELECT y_asked();
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
CALL bucketfdw.compact('y_b');
SELECT y_asked();
SELECT alike('INSERT INTO y_b SELECT * FROM y_rows(1, 1500, 1, ''new'')');
CALL bucketfdw.compact('y_b', "full" => true);
SELECT y_asked();
SELECT relid, files > 0 AS files, max_runs FROM bucketfdw.tables WHERE relid = 'y_b'::regclass;
CALL bucketfdw.rebucket('y_b', buckets => 6);
SELECT y_asked();
SELECT count(*) AS wrong FROM bucketfdw.verify('y_b');

-- a merge of old and new files, many of them, and rebucketing them
CREATE TABLE w_h (k smallint, v int);
CREATE FOREIGN TABLE w_b (k smallint, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE PROCEDURE fill(far bigint) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 25 LOOP
		PERFORM alike(format('INSERT INTO w_b SELECT j * %s::bigint, %s FROM generate_series(-100, 100) j', far, i));
		COMMIT;
	END LOOP;
END
$$;
SET bucketfdw.inline_limit = 0;
CALL fill(1);
SELECT alike('ALTER FOREIGN TABLE w_b ALTER k TYPE int');
CALL fill(1000);
SELECT alike('ALTER FOREIGN TABLE w_b ALTER k TYPE bigint');
CALL fill(1000000000);
RESET bucketfdw.inline_limit;
SELECT same('SELECT * FROM w_b'), same('SELECT k, count(*), sum(v) FROM w_b GROUP BY k'), same('SELECT a.k, count(*) FROM w_b a JOIN w_b b USING (k) GROUP BY a.k'),
	same('SELECT * FROM w_b WHERE k IN (3, 3000, 3000000000)');
SELECT max_runs >= 75 AS runs FROM bucketfdw.tables WHERE relid = 'w_b'::regclass;
CALL bucketfdw.compact('w_b');
SELECT max_runs < 30 AS runs FROM bucketfdw.tables WHERE relid = 'w_b'::regclass;
SELECT same('SELECT * FROM w_b'), same('SELECT k, count(*), sum(v) FROM w_b GROUP BY k');
SELECT alike('INSERT INTO w_b SELECT j, 0 FROM generate_series(-100, 100) j');
CALL bucketfdw.rebucket('w_b', bucket_by => 'v');
SELECT same('SELECT * FROM w_b'), same('SELECT v, count(*), sum(k) FROM w_b GROUP BY v');

-- domains, collations, dropped columns
CREATE DOMAIN number AS int;
CREATE DOMAIN big AS bigint;
CREATE DOMAIN big_positive AS bigint CHECK (value > 0);
CREATE DOMAIN code AS varchar(10);
CREATE TABLE d_h (k number, v code, a smallint, x text COLLATE "C", o smallint);
CREATE FOREIGN TABLE d_b (k number, v code, a smallint, x text COLLATE "C", o smallint) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
SELECT alike('INSERT INTO d_b SELECT i, ''v'' || i, i, chr(64 + i % 26), i FROM generate_series(1, 1000) i'), alike('INSERT INTO d_b SELECT i, ''v'' || i, -i, chr(64 + i % 26), i FROM generate_series(1, 10) i');
SELECT alike('ALTER FOREIGN TABLE d_b ALTER k TYPE big, ALTER v TYPE text, ALTER x TYPE varchar COLLATE "default", ALTER o TYPE int');
SELECT alike('ALTER FOREIGN TABLE d_b DROP o'), alike('INSERT INTO d_b VALUES (5000000000, ''longer than ten'', 0, ''a'')');
SELECT same('SELECT * FROM d_b'), same('SELECT * FROM d_b WHERE x > ''C'''), same('SELECT k, v FROM d_b WHERE k = 7');
DROP DOMAIN number, code;
SELECT same('SELECT * FROM d_b');
SELECT alike('ALTER FOREIGN TABLE d_b ALTER a TYPE big_positive');
SELECT alike('ALTER FOREIGN TABLE d_b ALTER k TYPE big_positive');
SELECT same('SELECT * FROM d_b');
SELECT alike('INSERT INTO d_b (k) VALUES (-1)');
-- constraints that speak of the column are checked again
SELECT alike('ALTER FOREIGN TABLE d_b ADD CONSTRAINT bytes CHECK (pg_column_size(a) <= 2)');
SELECT alike('ALTER FOREIGN TABLE d_b ALTER a TYPE int');
SELECT alike('ALTER FOREIGN TABLE d_b DROP CONSTRAINT bytes'), alike('ALTER FOREIGN TABLE d_b ALTER a TYPE int'), same('SELECT * FROM d_b');

-- what the rows would have to be written anew for
CREATE FOREIGN TABLE e_b (k int, v varchar(5), n numeric(5,2), c char(3), f real, d date, a int[], j json) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
INSERT INTO e_b VALUES (1, 'one', 1.5, 'c', 1.1, '2020-01-01', '{1}', '{}');
ALTER FOREIGN TABLE e_b ALTER v TYPE varchar(4);
ALTER FOREIGN TABLE e_b ALTER v TYPE char(5);
ALTER FOREIGN TABLE e_b ALTER n TYPE numeric(5,3);
ALTER FOREIGN TABLE e_b ALTER n TYPE numeric(4,2);
ALTER FOREIGN TABLE e_b ALTER c TYPE char(4);
ALTER FOREIGN TABLE e_b ALTER c TYPE text;
ALTER FOREIGN TABLE e_b ALTER f TYPE float8;
ALTER FOREIGN TABLE e_b ALTER d TYPE timestamp;
ALTER FOREIGN TABLE e_b ALTER k TYPE smallint;
ALTER FOREIGN TABLE e_b ALTER k TYPE numeric;
ALTER FOREIGN TABLE e_b ALTER k TYPE text;
ALTER FOREIGN TABLE e_b ALTER a TYPE bigint[];
ALTER FOREIGN TABLE e_b ALTER j TYPE jsonb;
ALTER FOREIGN TABLE e_b ALTER v TYPE varchar(8) USING upper(v);
SELECT * FROM e_b;
-- back to a type that all rows still are of
BEGIN;
ALTER FOREIGN TABLE e_b ALTER k TYPE bigint, ALTER v TYPE text;
SELECT * FROM e_b WHERE k = 1;
ALTER FOREIGN TABLE e_b ALTER k TYPE int, ALTER v TYPE varchar(5);
SELECT * FROM e_b WHERE k = 1;
ALTER FOREIGN TABLE e_b ALTER k TYPE bigint, ALTER v TYPE text;
INSERT INTO e_b VALUES (2, 'two');
SAVEPOINT s;
ALTER FOREIGN TABLE e_b ALTER k TYPE int;
ROLLBACK TO s;
ALTER FOREIGN TABLE e_b ALTER v TYPE varchar(9);
ROLLBACK;
SELECT * FROM e_b WHERE k = 1;
-- the way of the hint
SELECT bucketfdw.create_table_as('e_new', 'SELECT k, v::varchar(4), n, c, f, d, a, j FROM e_b', bucket_by => 'k', buckets => 2);
DROP FOREIGN TABLE e_b;
ALTER FOREIGN TABLE e_new RENAME TO e_b;
SELECT * FROM e_b;
-- through a parent
SELECT alike('ALTER TABLE p_b ALTER k TYPE bigint'), alike('INSERT INTO p_b VALUES (10000000000, ''2020-01-01'')'), same('SELECT * FROM p_b'),
	same('SELECT k, count(*) FROM p_b GROUP BY k'), same('SELECT * FROM p_b WHERE k IN (5, 10000000000)');
SELECT alike('ALTER TABLE p_b ALTER a TYPE text');

-- what 18 has: virtual generated columns, of which nothing is stored, and not null constraints by name
CREATE TABLE v_h (k int, a int);
CREATE FOREIGN TABLE v_b (k int, a int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
SELECT alike('INSERT INTO v_b SELECT i, nullif(i % 10, 3) FROM generate_series(1, 2000) i'), alike('INSERT INTO v_b SELECT i, nullif(i % 10, 3) FROM generate_series(1, 10) i');
DO $$
DECLARE
	command text;
	told text;
BEGIN
	IF current_setting('server_version_num')::int < 180000 THEN
		RETURN;
	END IF;
	FOREACH command IN ARRAY ARRAY[
		'ADD g int GENERATED ALWAYS AS (k * 2) VIRTUAL', 'ADD h int GENERATED ALWAYS AS (a + 1) VIRTUAL NOT NULL',
		'ADD h int GENERATED ALWAYS AS (k + 1) VIRTUAL NOT NULL', 'ALTER g SET EXPRESSION AS (a + k)', 'ALTER h SET EXPRESSION AS (a + 1)',
		'ALTER h SET EXPRESSION AS (k + 2)', 'ALTER g SET NOT NULL', 'ALTER g DROP EXPRESSION', 'ALTER g TYPE bigint', 'ALTER k TYPE bigint',
		'ADD CONSTRAINT c CHECK (g < 0)', 'ADD CONSTRAINT c CHECK (g > 0)', 'ALTER g SET EXPRESSION AS (k)', 'DROP g, DROP h', 'ALTER k TYPE bigint',
		'ADD CONSTRAINT nn NOT NULL a NOT VALID', 'VALIDATE CONSTRAINT nn', 'DROP CONSTRAINT nn', 'ADD CONSTRAINT nn NOT NULL k NOT VALID',
		'VALIDATE CONSTRAINT nn', 'ADD d int NOT NULL DEFAULT 4', 'ADD e int CONSTRAINT ee NOT NULL', 'ADD f int CONSTRAINT ff NOT NULL DEFAULT 5'] LOOP
		told := alike('ALTER FOREIGN TABLE v_b ' || command);
		IF told ~ 'DIFFERENT' THEN
			RAISE WARNING '%: %', command, told;
		END IF;
		told := same('SELECT * FROM v_b');
		IF told !~ '^same' THEN
			RAISE WARNING 'after %: %', command, told;
		END IF;
	END LOOP;
END
$$;
SELECT same('SELECT * FROM v_b');
-- the values of a stored one stay when it is none any more
CREATE TABLE s_h (k int, g int GENERATED ALWAYS AS (k * 2) STORED);
CREATE FOREIGN TABLE s_b (k int, g int GENERATED ALWAYS AS (k * 2) STORED) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
SELECT alike('INSERT INTO s_b SELECT generate_series(1, 100)'), alike('ALTER FOREIGN TABLE s_b ALTER g DROP EXPRESSION'),
	alike('INSERT INTO s_b SELECT i, 7 FROM generate_series(1, 100) i'), same('SELECT * FROM s_b');

SET client_min_messages = error;
DROP SCHEMA columns CASCADE;
SELECT count(*) FROM bucketfdw.missing_values;

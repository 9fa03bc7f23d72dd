-- Tablespaces: where a table is put, what moving it does to its files.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
SET client_min_messages = warning;
SET allow_in_place_tablespaces = on;
CREATE SCHEMA space;
SET search_path = space, public;
CREATE TABLESPACE regress_bf_a LOCATION '';
CREATE TABLESPACE regress_bf_b LOCATION '';
CREATE ROLE regress_bf_user;
GRANT USAGE ON FOREIGN SERVER bucketfdw TO regress_bf_user;
GRANT ALL ON SCHEMA space TO regress_bf_user;
-- the tablespace of new files, and those of the files there are
CREATE FUNCTION place(rel regclass, OUT tablespace text, OUT files text) LANGUAGE sql AS $$
	SELECT t.tablespace, string_agg(f.place || ' ' || f.n, ', ' ORDER BY f.place)
	FROM bucketfdw.tables t
		LEFT JOIN (
			SELECT f.relid, coalesce(s.spcname, 'base') AS place, count(*) AS n
			FROM bucketfdw.files f LEFT JOIN pg_tablespace s ON f.path LIKE format('pg_tblspc/%s/%%', s.oid)
			GROUP BY 1, 2
		) f USING (relid)
	WHERE t.relid = rel
	GROUP BY 1
$$;
-- what stays when files move
CREATE FUNCTION contents(rel regclass) RETURNS text LANGUAGE sql AS $$
	SELECT md5(string_agg((m.file_id, m.rows, m.bytes, m.raw_bytes, m.written_at, m.written_by, m.first_bucket,
		m.last_bucket, m.spec_version, m.format_version, m.origin, m.hash_version, m.buckets, m.attnums, m.run_buckets,
		m.run_rows, m.run_bytes, m.stats_rows, m.column_stats)::text, ' ' ORDER BY m.file_id))
	FROM bucketfdw.manifest m WHERE m.relid = rel
$$;

-- by the option
CREATE FOREIGN TABLE a (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', tablespace 'regress_bf_a');
SELECT * FROM place('a');
INSERT INTO a SELECT i, 'one' FROM generate_series(1, 100) i;
SELECT * FROM place('a');
SELECT count(*), min(k), max(k) FROM a;
-- the database's own is no dependency and is what it is
CREATE FOREIGN TABLE own (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', tablespace 'pg_default');
INSERT INTO own VALUES (1);
SELECT * FROM place('own');
SELECT relid, tablespace FROM bucketfdw.spec WHERE relid = 'own'::regclass AND tablespace <> 0;
SELECT refobjid::regclass FROM pg_shdepend WHERE objid = 'own'::regclass AND deptype = 't';
-- a dump restored where there is no such tablespace works
CREATE FOREIGN TABLE elsewhere (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', tablespace 'no_such');
SELECT * FROM place('elsewhere');
SELECT ftoptions FROM pg_foreign_table WHERE ftrelid = 'elsewhere'::regclass;
CREATE FOREIGN TABLE x (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', tablespace 'pg_global');
CREATE FOREIGN TABLE x (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', location 'regress_bf_a');

-- by default_tablespace, and then it is no option
SET default_tablespace = regress_bf_b;
CREATE FOREIGN TABLE d (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE FOREIGN TABLE written (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', tablespace 'pg_default');
RESET default_tablespace;
INSERT INTO d VALUES (1);
SELECT * FROM place('d');
SELECT * FROM place('written');
SELECT ftoptions FROM pg_foreign_table WHERE ftrelid = 'd'::regclass;

-- of a partitioned table's partitions
CREATE TABLE p (k int, at int) PARTITION BY RANGE (at) TABLESPACE regress_bf_a;
CREATE FOREIGN TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE FOREIGN TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20)
	SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', tablespace 'regress_bf_b');
-- its options are those of p2
CREATE FOREIGN TABLE p3 PARTITION OF p FOR VALUES FROM (20) TO (30) SERVER bucketfdw;
CREATE TABLE q (k int, at int) PARTITION BY RANGE (at);
CREATE FOREIGN TABLE q1 PARTITION OF q FOR VALUES FROM (0) TO (10) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO p SELECT i, i FROM generate_series(0, 29) i;
SELECT rel, (place(rel::regclass)).* FROM unnest(ARRAY['p1', 'p2', 'p3', 'q1']) rel;

-- by create_table_as
SELECT bucketfdw.create_table_as('c', 'SELECT i AS k FROM generate_series(1, 10) i', 'k', 4, tablespace => 'regress_bf_a');
SELECT bucketfdw.create_table_as('c', 'SELECT 11 AS k', mode => 'append', tablespace => 'regress_bf_a');
SELECT bucketfdw.create_table_as('c', 'SELECT 1 AS k', mode => 'append', tablespace => 'regress_bf_b');
SELECT bucketfdw.create_table_as('c', 'SELECT 1 AS k', mode => 'append', tablespace => 'no_such');
SELECT bucketfdw.create_table_as('c', 'SELECT 1 AS k', mode => 'overwrite');
SELECT * FROM place('c');
TRUNCATE c;
INSERT INTO c VALUES (1);
SELECT * FROM place('c');

-- rights
SET ROLE regress_bf_user;
CREATE FOREIGN TABLE x (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', tablespace 'regress_bf_a');
CREATE FOREIGN TABLE u (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', tablespace 'pg_default');
ALTER FOREIGN TABLE u OPTIONS (SET tablespace 'regress_bf_a');
RESET ROLE;
GRANT CREATE ON TABLESPACE regress_bf_a TO regress_bf_user;
SET ROLE regress_bf_user;
INSERT INTO u VALUES (1);
ALTER FOREIGN TABLE u OPTIONS (SET tablespace 'regress_bf_a');
SELECT * FROM place('u');
-- who may no longer may still do other things, and away
RESET ROLE;
REVOKE CREATE ON TABLESPACE regress_bf_a FROM regress_bf_user;
SET ROLE regress_bf_user;
ALTER FOREIGN TABLE u OPTIONS (SET buckets '4');
INSERT INTO u VALUES (2);
SELECT * FROM place('u');
ALTER FOREIGN TABLE u OPTIONS (DROP tablespace);
SELECT * FROM place('u');
TABLE u ORDER BY k;
RESET ROLE;
DROP FOREIGN TABLE u;

-- moved: same rows, same files
INSERT INTO a SELECT i, repeat('wide ', 100) || i FROM generate_series(101, 20000) i;
INSERT INTO a VALUES (NULL, NULL), (0, '');
CREATE TABLE a_rows AS TABLE a;
SELECT contents('a') AS before \gset
ALTER FOREIGN TABLE a OPTIONS (SET tablespace 'regress_bf_b');
SELECT * FROM place('a');
SELECT contents('a') = :'before' AS same_contents;
SELECT count(*) FROM (TABLE a EXCEPT ALL TABLE a_rows) d;
SELECT count(*) FROM a;
SELECT count(*) FROM bucketfdw.verify('a');
SELECT count(*), bool_and(path LIKE 'pg_tblspc/%') FROM bucketfdw.garbage WHERE relid = 'a'::regclass;
SELECT ftoptions FROM pg_foreign_table WHERE ftrelid = 'a'::regclass;
-- the same again does nothing, nor do other options
SELECT string_agg(path, ' ' ORDER BY path) AS paths FROM bucketfdw.files WHERE relid = 'a'::regclass \gset
ALTER FOREIGN TABLE a OPTIONS (SET tablespace 'regress_bf_b');
ALTER FOREIGN TABLE a OPTIONS (ADD compression 'zstd');
SELECT string_agg(path, ' ' ORDER BY path) = :'paths' AS same_files FROM bucketfdw.files WHERE relid = 'a'::regclass;
ALTER FOREIGN TABLE a OPTIONS (SET tablespace 'no_such');
ALTER FOREIGN TABLE a OPTIONS (SET tablespace 'pg_global');
ALTER FOREIGN TABLE a OPTIONS (DROP tablespace);
SELECT * FROM place('a');
SELECT contents('a') = :'before' AS same_contents;
SELECT refobjid FROM pg_shdepend WHERE objid = 'a'::regclass AND deptype = 't';
-- two options in one command, and two commands in one
ALTER FOREIGN TABLE a OPTIONS (ADD tablespace 'regress_bf_a', SET buckets '8'), OPTIONS (SET tablespace 'regress_bf_b');
SELECT * FROM place('a');
SELECT buckets, spec_version FROM bucketfdw.tables WHERE relid = 'a'::regclass;
-- a table restored before its tablespace was there
ALTER FOREIGN TABLE elsewhere OPTIONS (SET tablespace 'regress_bf_a');
SELECT * FROM place('elsewhere');
-- a partition without the option goes where its parent says
ALTER FOREIGN TABLE p2 OPTIONS (DROP tablespace);
SELECT * FROM place('p2');

-- in a transaction: rows that wait, savepoints, rollback
BEGIN;
INSERT INTO elsewhere VALUES (1);
ALTER FOREIGN TABLE elsewhere OPTIONS (SET tablespace 'regress_bf_b');
SELECT * FROM elsewhere;
SAVEPOINT s;
INSERT INTO elsewhere SELECT generate_series(2, 3);
SELECT * FROM elsewhere ORDER BY k;
ALTER FOREIGN TABLE elsewhere OPTIONS (SET tablespace 'pg_default');
ROLLBACK TO s;
INSERT INTO elsewhere VALUES (4);
COMMIT;
SELECT * FROM elsewhere ORDER BY k;
SELECT * FROM place('elsewhere');
BEGIN;
ALTER FOREIGN TABLE elsewhere OPTIONS (SET tablespace 'pg_default');
INSERT INTO elsewhere VALUES (5);
ROLLBACK;
SELECT * FROM elsewhere ORDER BY k;
SELECT * FROM place('elsewhere');
-- written and moved by one transaction, there and back
BEGIN;
CREATE FOREIGN TABLE young (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO young SELECT generate_series(1, 100);
SELECT bucketfdw.create_table_as('young', 'SELECT 101 AS k', mode => 'append');
ALTER FOREIGN TABLE young OPTIONS (ADD tablespace 'regress_bf_a');
SELECT count(*) FROM young;
-- a sweep that meets a file before its row asks whose it is: a copy is of the transaction that makes it
SELECT bool_and((SELECT sum(get_byte(x, i) * 256::numeric ^ i) FROM generate_series(0, 7) i) = pg_current_xact_id()::text::numeric)
FROM bucketfdw.files f, pg_read_binary_file(f.path, 48, 8) x WHERE f.relid = 'young'::regclass;
ALTER FOREIGN TABLE young OPTIONS (SET tablespace 'pg_default');
ALTER FOREIGN TABLE young OPTIONS (SET tablespace 'regress_bf_b');
COMMIT;
SELECT count(*) FROM young;
SELECT * FROM place('young');
-- not under an open cursor
BEGIN;
DECLARE c CURSOR FOR SELECT k FROM young;
ALTER FOREIGN TABLE young OPTIONS (SET tablespace 'pg_default');
ROLLBACK;

-- the sweep takes what is dead and nothing else
SELECT bucketfdw.cleanup() > 0;
SELECT count(*) FROM bucketfdw.garbage;
SELECT count(*) FROM bucketfdw.verify();
SELECT count(*) FROM (TABLE a EXCEPT ALL TABLE a_rows) d;

-- temporary files of a load lie in temp_tablespaces
SET temp_tablespaces = regress_bf_a;
SET work_mem = '64kB';
BEGIN;
INSERT INTO a SELECT i, repeat('x', 200) FROM generate_series(1, 5000) i;
SELECT count(*) > 0 AS spilled FROM pg_ls_tmpdir((SELECT oid FROM pg_tablespace WHERE spcname = 'regress_bf_a'));
ROLLBACK;
RESET work_mem;
RESET temp_tablespaces;

-- DROP TABLESPACE
DROP TABLESPACE regress_bf_a;
SELECT spcname, count(*) FROM pg_shdepend d JOIN pg_tablespace s ON s.oid = d.refobjid
WHERE d.deptype = 't' AND d.classid = 'pg_class'::regclass AND d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
GROUP BY 1 ORDER BY 1;
\set VERBOSITY terse
DROP SCHEMA space CASCADE;
DROP TABLESPACE regress_bf_a;
DROP TABLESPACE regress_bf_b;
REVOKE ALL ON FOREIGN SERVER bucketfdw FROM regress_bf_user;
DROP ROLE regress_bf_user;

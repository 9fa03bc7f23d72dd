-- Files from birth to removal: commit, rollback, savepoints, TRUNCATE, DROP, sweep.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA life;
SET search_path = life, public;

-- files on disk of this database that no row of pg_class names, but for the empty ones that core keeps to a checkpoint
CREATE FUNCTION disk() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT 'base/' || d.oid || '/' || f
	FROM pg_database d, pg_ls_dir('base/' || d.oid) f
	WHERE datname = current_database() AND f ~ '^\d+$' AND (pg_stat_file('base/' || d.oid || '/' || f, true)).size > 0
		AND NOT EXISTS (SELECT FROM pg_class c WHERE pg_relation_filenode(c.oid) = f::oid)
$$;
CREATE TABLE at_start (path text);
-- of those: all but what other tables have, or had and lost
CREATE FUNCTION files(rel regclass) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM disk() d
	WHERE d NOT IN (SELECT path FROM at_start)
		AND NOT EXISTS (SELECT FROM bucketfdw.files f WHERE path = d AND f.relid <> rel)
		AND NOT EXISTS (SELECT FROM bucketfdw.garbage f WHERE path = d AND f.relid <> rel)
$$;
-- start from clean ground, whatever ran before
SELECT bucketfdw.cleanup() >= 0;
INSERT INTO at_start SELECT * FROM disk();
SELECT count(*) AS files0 FROM at_start \gset

-- nothing on disk before the first row
CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
SELECT files('t');
INSERT INTO t SELECT i, 'one' FROM generate_series(1, 100) i;
SELECT files('t'), (SELECT count(*) FROM t);

-- rollback leaves no file and no row
BEGIN;
INSERT INTO t SELECT i, repeat('two', 20000) FROM generate_series(1, 100) i;
SELECT count(*) FROM t;
SELECT files('t');
ROLLBACK;
SELECT files('t'), (SELECT count(*) FROM t);
-- the whole table was made by the transaction
BEGIN;
CREATE FOREIGN TABLE gone (k int) SERVER bucketfdw OPTIONS (bucket_by 'k');
INSERT INTO gone SELECT generate_series(1, 10);
SELECT count(*) FROM gone;
ROLLBACK;
SELECT count(*) - :files0 AS files FROM disk();

-- savepoints: only what was not rolled back stays
BEGIN;
INSERT INTO t VALUES (1001, 'a');
SAVEPOINT s1;
INSERT INTO t VALUES (1002, 'b');
SELECT count(*) FROM t WHERE k > 1000;
ROLLBACK TO s1;
SELECT count(*) FROM t WHERE k > 1000;
SAVEPOINT s2;
INSERT INTO t VALUES (1003, 'c');
SAVEPOINT s3;
INSERT INTO t VALUES (1004, 'd');
SELECT count(*) FROM t WHERE k > 1000;
RELEASE s3;
SELECT count(*) FROM t WHERE k > 1000;
ROLLBACK TO s2;
INSERT INTO t VALUES (1005, 'e');
COMMIT;
SELECT * FROM t WHERE k > 1000 ORDER BY k;
SELECT files('t') = (SELECT count(*) FROM bucketfdw.files WHERE relid = 't'::regclass) AS all_named;

-- an error in a subtransaction
DO $$
BEGIN
	INSERT INTO t VALUES (2001, 'x');
	BEGIN
		INSERT INTO t VALUES (2002, 'y');
		PERFORM count(*) FROM t;
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
		NULL;
	END;
END
$$;
SELECT * FROM t WHERE k > 2000;
SELECT files('t') = (SELECT count(*) FROM bucketfdw.files WHERE relid = 't'::regclass) AS all_named;

-- TRUNCATE is transactional, the files wait as garbage
BEGIN;
TRUNCATE t;
SELECT count(*) FROM t;
INSERT INTO t VALUES (7, 'seven');
SELECT count(*) FROM t;
ROLLBACK;
SELECT count(*) FROM t;
SELECT count(*) FROM bucketfdw.garbage;
SELECT count(*) AS had FROM bucketfdw.files WHERE relid = 't'::regclass \gset
BEGIN;
SAVEPOINT s;
TRUNCATE t;
ROLLBACK TO s;
SELECT count(*) > 100 AS back FROM t;
TRUNCATE t;
COMMIT;
SELECT count(*) FROM t;
SELECT count(*) = :had AS all_wait, min(relid::text), sum(bytes) > 0 AS bytes, bool_and(since <= now()) AS since
	FROM bucketfdw.garbage;
SELECT count(*) FROM bucketfdw.garbage g WHERE pg_stat_file(g.path, true) IS NULL;
SELECT count(*) FROM bucketfdw.verify('t');
-- the next writer of the table takes them away
INSERT INTO t VALUES (1, 'again');
SELECT count(*) FROM bucketfdw.garbage;
SELECT files('t'), (SELECT count(*) FROM t);
-- a table that is truncated and filled in one transaction
BEGIN;
INSERT INTO t VALUES (2, 'two');
SELECT count(*) FROM t;
TRUNCATE t;
INSERT INTO t VALUES (3, 'three');
TRUNCATE t;
INSERT INTO t VALUES (4, 'four');
COMMIT;
SELECT * FROM t;
SELECT bucketfdw.cleanup() > 0 AS removed;
SELECT files('t'), (SELECT count(*) FROM bucketfdw.garbage);

-- prepared transactions that wrote, removed and dropped
CREATE TABLE heap (a int);
BEGIN;
INSERT INTO t VALUES (5, 'five');
INSERT INTO heap VALUES (5);
PREPARE TRANSACTION 'bucketfdw_life';
SELECT * FROM t;
SELECT bucketfdw.cleanup();
ROLLBACK PREPARED 'bucketfdw_life';
SELECT files('t'), (SELECT count(*) FROM t);
BEGIN;
SAVEPOINT s;
INSERT INTO t VALUES (6, 'six');
SELECT count(*) FROM t;
ROLLBACK TO s;
INSERT INTO t VALUES (5, 'five');
INSERT INTO heap SELECT k FROM t;
PREPARE TRANSACTION 'bucketfdw_life';
SELECT * FROM t;
COMMIT PREPARED 'bucketfdw_life';
SELECT * FROM t ORDER BY k;
SELECT * FROM heap ORDER BY a;
BEGIN;
TRUNCATE t;
INSERT INTO t VALUES (7, 'seven');
PREPARE TRANSACTION 'bucketfdw_life';
SELECT bucketfdw.cleanup();
ROLLBACK PREPARED 'bucketfdw_life';
SELECT files('t'), (SELECT count(*) FROM t);
BEGIN;
TRUNCATE t;
INSERT INTO t VALUES (7, 'seven');
PREPARE TRANSACTION 'bucketfdw_life';
COMMIT PREPARED 'bucketfdw_life';
SELECT * FROM t;
SELECT bucketfdw.cleanup() > 0 AS removed;
SELECT files('t');
CREATE FOREIGN TABLE twice (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
INSERT INTO twice VALUES (1);
BEGIN;
DROP FOREIGN TABLE twice;
PREPARE TRANSACTION 'bucketfdw_life';
ROLLBACK PREPARED 'bucketfdw_life';
SELECT * FROM twice;
BEGIN;
DROP FOREIGN TABLE twice;
PREPARE TRANSACTION 'bucketfdw_life';
COMMIT PREPARED 'bucketfdw_life';
SELECT files('t');

-- a file dropped twice in one transaction, over savepoints
BEGIN;
SAVEPOINT s;
DROP FOREIGN TABLE t;
SELECT bucketfdw.cleanup();
ROLLBACK TO s;
TRUNCATE t;
SELECT bucketfdw.cleanup();
DROP FOREIGN TABLE t;
SELECT bucketfdw.cleanup();
ROLLBACK;
SELECT files('t'), (SELECT count(*) FROM t);

-- DROP takes the files at commit, not before
BEGIN;
DROP FOREIGN TABLE t;
ROLLBACK;
SELECT files('t'), (SELECT count(*) FROM t);
BEGIN;
SAVEPOINT s;
DROP FOREIGN TABLE t;
ROLLBACK TO s;
COMMIT;
SELECT * FROM t;
-- dropped and cleaned in one transaction that is rolled back
BEGIN;
DROP FOREIGN TABLE t;
SELECT bucketfdw.cleanup() >= 0;
ROLLBACK;
SELECT * FROM t;
DROP FOREIGN TABLE t;
SELECT count(*) - :files0 AS files FROM disk();

-- by any road
CREATE SCHEMA road;
CREATE FOREIGN TABLE road.a (k int) SERVER bucketfdw OPTIONS (bucket_by 'k');
INSERT INTO road.a SELECT generate_series(1, 10);
CREATE SERVER road FOREIGN DATA WRAPPER bucketfdw;
CREATE FOREIGN TABLE b (k int) SERVER road OPTIONS (bucket_by 'k');
INSERT INTO b SELECT generate_series(1, 10);
CREATE TABLE c (k int) PARTITION BY HASH (k);
CREATE FOREIGN TABLE c0 PARTITION OF c FOR VALUES WITH (MODULUS 2, REMAINDER 0) SERVER bucketfdw OPTIONS (bucket_by 'k');
CREATE FOREIGN TABLE c1 PARTITION OF c FOR VALUES WITH (MODULUS 2, REMAINDER 1) SERVER bucketfdw;
INSERT INTO c SELECT generate_series(1, 100);
SELECT count(*) FROM c;
CREATE ROLE bucketfdw_life_owner;
GRANT ALL ON SCHEMA life TO bucketfdw_life_owner;
CREATE FOREIGN TABLE d (k int) SERVER bucketfdw OPTIONS (bucket_by 'k');
ALTER FOREIGN TABLE d OWNER TO bucketfdw_life_owner;
INSERT INTO d SELECT generate_series(1, 10);
SELECT count(*) - :files0 > 4 AS files FROM disk();
DROP SCHEMA road CASCADE;
DROP SERVER road CASCADE;
DROP TABLE c;
DROP OWNED BY bucketfdw_life_owner;
DROP ROLE bucketfdw_life_owner;
SELECT count(*) - :files0 AS files FROM disk();
SELECT count(*) FROM bucketfdw.spec s WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = s.relid);
-- without the trigger: the sweep finds it
CREATE FOREIGN TABLE e (k int) SERVER bucketfdw OPTIONS (bucket_by 'k');
INSERT INTO e SELECT generate_series(1, 10);
ALTER EVENT TRIGGER bucketfdw_drop DISABLE;
DROP FOREIGN TABLE e;
ALTER EVENT TRIGGER bucketfdw_drop ENABLE ALWAYS;
SELECT count(*) - :files0 > 0 AS files FROM disk();
SELECT bucketfdw.cleanup() > 0 AS removed;
SELECT count(*) - :files0 AS files FROM disk();
SELECT count(*) FROM bucketfdw.spec s WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = s.relid);
SELECT count(*) FROM bucketfdw.manifest s WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = s.relid);

-- rows that an older table of the same oid left are nobody's
CREATE FOREIGN TABLE f (k int) SERVER bucketfdw OPTIONS (bucket_by 'k');
INSERT INTO f SELECT generate_series(1, 10);
CREATE FOREIGN TABLE g (k int) SERVER bucketfdw OPTIONS (bucket_by 'k');
SET allow_system_table_mods = on;
UPDATE bucketfdw.manifest SET relid = 'g'::regclass WHERE relid = 'f'::regclass;
SELECT count(*) FROM g;
SELECT count(*) FROM bucketfdw.files WHERE relid = 'g'::regclass;
DELETE FROM bucketfdw.spec WHERE relid = 'g'::regclass;
INSERT INTO g VALUES (42);
SELECT * FROM g;
SELECT bucketfdw.cleanup() >= 0;
SELECT count(*) > 0 AS left_over_waits FROM bucketfdw.garbage WHERE relid = 'g'::regclass;
SELECT * FROM g;
RESET allow_system_table_mods;
DROP FOREIGN TABLE f, g;

-- orphans, as a crash leaves them: what the catalog does not name goes, if it is ours
CREATE FOREIGN TABLE h (k int) SERVER bucketfdw OPTIONS (bucket_by 'k');
INSERT INTO h SELECT generate_series(1, 10);
SELECT current_setting('data_directory') || '/' || path AS ours,
	   current_setting('data_directory') || '/' || regexp_replace(path, '\d+$', '') || '42949672' AS orphan
FROM bucketfdw.files WHERE relid = 'h'::regclass \gset
\set command 'cat > /dev/null; cp ' :ours ' ' :orphan '90; yes | head -c 16384 > ' :orphan '91'
COPY (SELECT 1) TO PROGRAM :'command';
SELECT files('h');
SELECT bucketfdw.cleanup();
SELECT files('h'), (SELECT count(*) FROM h);
\set command 'cat > /dev/null; rm ' :orphan '91'
COPY (SELECT 1) TO PROGRAM :'command';
-- a transaction in progress keeps its files
BEGIN;
INSERT INTO h SELECT generate_series(1, 10);
SELECT count(*) FROM h;
SELECT bucketfdw.cleanup();
SELECT count(*) FROM h;
COMMIT;
SELECT count(*) FROM h;
-- a read-only transaction does not clean
BEGIN READ ONLY;
SELECT bucketfdw.cleanup();
ROLLBACK;

-- temporary files of a load leave min_free_space free, too
SET work_mem = '64kB';
SET bucketfdw.min_free_space = '1000TB';
BEGIN;
\set VERBOSITY terse
INSERT INTO h SELECT generate_series(1, 200000);
\set VERBOSITY default
ROLLBACK;
RESET work_mem;
RESET bucketfdw.min_free_space;

-- a missing file is an error, never an empty answer
CREATE FUNCTION unlink_first(rel regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	p text;
BEGIN
	SELECT path INTO p FROM bucketfdw.files WHERE relid = rel ORDER BY path LIMIT 1;
	EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', 'cat > /dev/null; rm ' || current_setting('data_directory') || '/' || p);
END
$$;
SELECT unlink_first('h');
\set VERBOSITY sqlstate
SELECT count(*) FROM h;
\set VERBOSITY default
SELECT bucket, block, problem FROM bucketfdw.verify('h');
SELECT bucket, block, problem FROM bucketfdw.verify('h', quick => true);
TRUNCATE h;
SELECT count(*) FROM h;
SELECT bucketfdw.cleanup() >= 1 AS removed;
SELECT files('h'), (SELECT count(*) FROM bucketfdw.garbage);
DROP FOREIGN TABLE h;
SET client_min_messages = error;
DROP SCHEMA life CASCADE;

-- The catalog, the inspection functions, verify, and who may do what.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA cat;
SET search_path = cat, public;

-- what the extension consists of: names that later versions keep
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'bucketfdw'::regnamespace AND c.relname IN ('tables', 'files', 'garbage')
ORDER BY c.relname, a.attnum;
SELECT p.oid::regprocedure, p.provolatile, p.proparallel, p.proisstrict, p.prosecdef
FROM pg_proc p WHERE p.pronamespace = 'bucketfdw'::regnamespace ORDER BY p.proname COLLATE "C", p.oid::regprocedure::text COLLATE "C";
-- everything has a comment that is for users
SELECT c.relname FROM pg_class c
WHERE c.relnamespace = 'bucketfdw'::regnamespace AND c.relkind = 'v' AND obj_description(c.oid, 'pg_class') IS NULL
	AND c.relname IN ('tables', 'files', 'garbage');
-- no key and no replica identity: nothing for a publication
SELECT c.relname, c.relreplident, (SELECT count(*) FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique) AS unique_indexes
FROM pg_class c WHERE c.relnamespace = 'bucketfdw'::regnamespace AND c.relkind = 'r' ORDER BY 1;
SELECT extconfig IS NULL AS not_dumped FROM pg_extension WHERE extname = 'bucketfdw';
SELECT evtname, evtenabled FROM pg_event_trigger WHERE evtname LIKE 'bucketfdw%' ORDER BY 1;
SELECT library_version IS NOT NULL AS library, extension_version, format_version, hash_version, codecs, preloaded,
	directory = 'base/' || (SELECT oid FROM pg_database WHERE datname = current_database()) AS directory
FROM bucketfdw.info();
-- the step of the install script is gone
SELECT to_regprocedure('bucketfdw.sweep_at_install()');

CREATE FOREIGN TABLE a (k int, v text, n numeric, d date) SERVER bucketfdw
	OPTIONS (bucket_by 'k', buckets '4', sort_by 'k, d desc nulls last');
CREATE FOREIGN TABLE b (x text, k bigint, v text) SERVER bucketfdw
	OPTIONS (bucket_by 'k', buckets '6');
CREATE FOREIGN TABLE c (x text, k bigint) SERVER bucketfdw OPTIONS (bucket_by 'k, x', buckets '6');
INSERT INTO a SELECT i % 50, 'v' || i, i / 7.0, '2020-01-01'::date + i FROM generate_series(1, 1000) i;
INSERT INTO a SELECT i % 50, 'v' || i, i / 7.0, NULL FROM generate_series(1, 1000) i;
SELECT relid, bucket_by, buckets, sort_by, spec_version, files, runs, rows, bytes > 0 AS bytes, raw_bytes > bytes AS raw,
	tablespace, joins_with
FROM bucketfdw.tables WHERE relid IN ('a'::regclass, 'b'::regclass, 'c'::regclass) ORDER BY relid::text;
SELECT relid, regexp_replace(path, '\d+/\d+', 'D/F') AS path, first_bucket, last_bucket, rows, spec_version
FROM bucketfdw.files WHERE relid = 'a'::regclass ORDER BY 2, 5;
SELECT ceil(f.bytes / 8168.0) * 8192 = s.size AS size FROM bucketfdw.files f, pg_stat_file(f.path) s WHERE relid = 'a'::regclass;
SELECT bucket, rows, bytes > 0 AS bytes, runs, round(skew::numeric, 3) AS skew, size_band FROM bucketfdw.bucket_stats('a');
SELECT bucket, count(*) FROM a, bucketfdw.bucket_id(4, k) bucket GROUP BY 1 ORDER BY 1;
SELECT count(*), min(rows), max(runs), max(skew) FROM bucketfdw.bucket_stats('b');
SELECT bucketfdw.table_size('a') = (SELECT sum(ceil(bytes / 8168.0) * 8192) FROM bucketfdw.files WHERE relid = 'a'::regclass) AS all_of_it,
	bucketfdw.table_size('b'), bucketfdw.database_size() >= bucketfdw.table_size('a') AS database;
CREATE TABLE heap (a int);
SELECT bucketfdw.table_size('heap');
SELECT * FROM bucketfdw.bucket_stats('heap');
SELECT * FROM bucketfdw.bucket_stats(0);
\set VERBOSITY sqlstate
SELECT * FROM bucketfdw.verify('heap');
SELECT * FROM bucketfdw.verify(1);
\set VERBOSITY default

-- verify finds what is wrong, block by block
SELECT * FROM bucketfdw.verify('a');
SELECT * FROM bucketfdw.verify('b');
SELECT * FROM bucketfdw.verify(quick => true);
SELECT count(*) FROM bucketfdw.verify();
CREATE FUNCTION damage(rel regclass, command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	p text;
BEGIN
	SELECT path INTO p FROM bucketfdw.files WHERE relid = rel ORDER BY rows DESC, path LIMIT 1;
	-- a program that does not read its input is an error now and then
	EXECUTE format('COPY (SELECT 1) TO PROGRAM %L',
				   'cat > /dev/null; ' || replace(command, '%', current_setting('data_directory') || '/' || p) || ' 2>/dev/null');
	RETURN 'damaged';
END
$$;
CREATE FOREIGN TABLE bad (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2', compression 'none');
INSERT INTO bad SELECT i, repeat('x', 20) || i FROM generate_series(1, 30000) i;
SELECT count(*) FROM bucketfdw.verify('bad');
-- a flipped byte in a block
SELECT damage('bad', 'printf "\377\376\375" | dd of=% bs=1 seek=20000 conv=notrunc');
-- the page, too, has a wrong checksum where the cluster has them
SELECT file IS NOT NULL AS file, bucket, block, problem FROM bucketfdw.verify('bad') WHERE block IS NOT NULL;
SELECT count(*) FROM bucketfdw.verify('bad', true);
\set VERBOSITY sqlstate
SELECT count(v) FROM bad;
\set VERBOSITY default
-- cut off
SELECT damage('bad', 'truncate -s 5000 %');
SELECT bucket, block, problem FROM bucketfdw.verify('bad', true);
SELECT damage('bad', 'truncate -s 0 %');
SELECT bucket, block, problem FROM bucketfdw.verify('bad', true);
-- garbage
SELECT damage('bad', 'head -c 100000 /dev/urandom > %');
SELECT bucket, block, problem FROM bucketfdw.verify('bad');
\set VERBOSITY sqlstate
SELECT count(v) FROM bad;
\set VERBOSITY default
-- another file under its name
INSERT INTO b SELECT 'x', i, 'v' FROM generate_series(1, 100) i;
SELECT damage('bad', 'cp ' || current_setting('data_directory') || '/' || path || ' %')
FROM bucketfdw.files WHERE relid = 'b'::regclass;
SELECT bucket, block, problem FROM bucketfdw.verify('bad', true);
-- a file that cannot be told to be ours is left, with a warning that names it
SET client_min_messages = error;
DROP FOREIGN TABLE bad;
SET client_min_messages = warning;
-- a partitioned table: its bucketed partitions, named
CREATE TABLE parts (k int, v text) PARTITION BY RANGE (k);
SELECT * FROM bucketfdw.verify('parts');
CREATE TABLE parts_below PARTITION OF parts FOR VALUES FROM (0) TO (200) PARTITION BY RANGE (k);
CREATE FOREIGN TABLE parts_1 PARTITION OF parts_below FOR VALUES FROM (0) TO (100) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE FOREIGN TABLE parts_2 PARTITION OF parts_below FOR VALUES FROM (100) TO (200) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE TABLE parts_heap PARTITION OF parts FOR VALUES FROM (200) TO (300);
INSERT INTO parts SELECT i, 'v' FROM generate_series(0, 299) i;
SELECT * FROM bucketfdw.verify('parts');
UPDATE bucketfdw.manifest SET run_rows[1] = 1 WHERE relid = 'parts_1'::regclass;
SELECT damage('parts_2', 'truncate -s 10 %');
SELECT bucket, problem, regexp_replace(detail, '"base/[^"]*"', 'PATH') AS detail FROM bucketfdw.verify('parts');
SELECT bucket, problem, detail FROM bucketfdw.verify('parts_1');
SELECT bucket, problem, detail FROM bucketfdw.verify() WHERE problem = 'count' AND bucket >= 0;
SELECT * FROM bucketfdw.verify('heap');
SET client_min_messages = error;
DROP TABLE parts;
SET client_min_messages = warning;
-- a manifest that does not fit
CREATE FOREIGN TABLE odd (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
INSERT INTO odd SELECT i, 'v' FROM generate_series(1, 10) i;
UPDATE bucketfdw.manifest SET rows = 11, run_rows[1] = 1 WHERE relid = 'odd'::regclass;
SELECT bucket, problem, regexp_replace(detail, 'has \d+ bytes', 'has N bytes') AS detail FROM bucketfdw.verify('odd');
UPDATE bucketfdw.manifest SET run_buckets = '{7,7}' WHERE relid = 'odd'::regclass;
\set VERBOSITY sqlstate
SELECT count(*) FROM odd;
UPDATE bucketfdw.manifest SET run_buckets = '{}' WHERE relid = 'odd'::regclass;
SELECT count(*) FROM odd;
UPDATE bucketfdw.manifest SET run_buckets = NULL WHERE relid = 'odd'::regclass;
UPDATE bucketfdw.manifest SET format_version = 99 WHERE relid = 'odd'::regclass;
SELECT count(*) FROM odd;
\set VERBOSITY default
-- rows that were copied from another database, whose files were not
UPDATE bucketfdw.manifest SET format_version = 1, run_buckets = '{0,1}', database = 1, filenode = 4294967200 WHERE relid = 'odd'::regclass;
\set VERBOSITY sqlstate
SELECT count(*) FROM odd WHERE k > 0 AND v > '';
\set VERBOSITY default
INSERT INTO odd VALUES (1, 'v');
SELECT bucket, block, problem, regexp_replace(detail, '"base/[^"]*"', 'PATH') AS detail FROM bucketfdw.verify('odd');
BEGIN;
SELECT bucketfdw.create_table_as('odd', 'SELECT 1 AS k, ''over''::text AS v', mode => 'overwrite');
SELECT * FROM odd;
ROLLBACK;
TRUNCATE odd;
SELECT count(*) FROM odd;
SELECT count(*) FROM bucketfdw.garbage WHERE relid = 'odd'::regclass;
SELECT bucketfdw.cleanup() > 0 AS cleaned;
SELECT count(*) FROM bucketfdw.garbage WHERE relid = 'odd'::regclass;
DROP FOREIGN TABLE odd;

-- rows of the same transaction are seen, those of the same statement are not
CREATE FOREIGN TABLE wait (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE FOREIGN TABLE wait2 (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
BEGIN;
INSERT INTO wait SELECT i, 'v' FROM generate_series(1, 100) i;
SELECT sum(rows) FROM bucketfdw.bucket_stats('wait');
INSERT INTO wait SELECT i, 'v' FROM generate_series(1, 10) i;
SELECT rows, runs FROM bucketfdw.tables WHERE relid = 'wait'::regclass;
INSERT INTO wait SELECT i, 'v' FROM generate_series(1, 10) i;
-- they have no file and take no space yet
SELECT sum(rows) FROM bucketfdw.files WHERE relid = 'wait'::regclass;
SELECT bucketfdw.table_size('wait') AS before \gset
INSERT INTO wait SELECT i, 'v' FROM generate_series(1, 10) i;
SELECT bucketfdw.table_size('wait') > :before AS grown;
SELECT bucketfdw.database_size() AS before \gset
INSERT INTO wait2 SELECT i FROM generate_series(1, 10) i;
SELECT bucketfdw.database_size() > :before AS grown;
-- an older snapshot goes on without them
DECLARE c CURSOR FOR SELECT relid, rows FROM bucketfdw.tables WHERE relid = 'wait'::regclass;
INSERT INTO wait VALUES (0, 'after');
FETCH c;
SELECT rows FROM bucketfdw.tables WHERE relid = 'wait'::regclass;
SAVEPOINT s;
INSERT INTO wait VALUES (0, 'undone');
SELECT t.relid, t.rows, f.rows AS in_files
FROM bucketfdw.tables t LEFT JOIN (SELECT relid, sum(rows) AS rows FROM bucketfdw.files GROUP BY relid) f USING (relid)
WHERE t.relid IN ('wait'::regclass, 'wait2'::regclass) ORDER BY 1;
ROLLBACK TO s;
INSERT INTO wait SELECT sum(rows), max(b.bucket)::text FROM bucketfdw.bucket_stats('wait') b;
SELECT * FROM wait WHERE k > 100;
-- files are verified, rows that wait are not in one
INSERT INTO wait VALUES (-1, 'new');
SELECT count(*) FROM bucketfdw.verify('wait');
COMMIT;
SELECT rows FROM bucketfdw.tables WHERE relid = 'wait'::regclass;
SELECT count(*) FROM wait;
DROP FOREIGN TABLE wait, wait2;

-- rights
CREATE ROLE bucketfdw_plain;
CREATE ROLE bucketfdw_reader;
GRANT ALL ON SCHEMA cat TO bucketfdw_plain, bucketfdw_reader;
SET ROLE bucketfdw_plain;
CREATE FOREIGN TABLE mine (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER bucketfdw TO bucketfdw_plain;
SET ROLE bucketfdw_plain;
CREATE FOREIGN TABLE mine (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO mine SELECT i, 'v' FROM generate_series(1, 100) i;
SELECT count(*) FROM mine;
SELECT relid, rows FROM bucketfdw.tables WHERE relid IN ('mine'::regclass, 'a'::regclass) ORDER BY relid::text;
SELECT count(*) > 0 AS files FROM bucketfdw.files WHERE relid = 'a'::regclass;
SELECT count(*) >= 0 AS garbage FROM bucketfdw.garbage;
SELECT count(*) FROM bucketfdw.bucket_stats('mine');
SELECT count(*) FROM bucketfdw.verify('mine');
SELECT count(*) FROM bucketfdw.verify();
ALTER FOREIGN TABLE mine RENAME k TO key;
ALTER FOREIGN TABLE mine ADD CHECK (key > 0);
ALTER FOREIGN TABLE mine ADD x int, ALTER v SET NOT NULL;
ALTER FOREIGN TABLE mine OPTIONS (SET buckets '8');
TRUNCATE mine;
INSERT INTO mine VALUES (1, 'v', 2);
SELECT * FROM mine;
\set VERBOSITY sqlstate
SELECT * FROM bucketfdw.bucket_stats('a');
SELECT * FROM bucketfdw.verify('a');
SELECT bucketfdw.cleanup();
SELECT bucketfdw.object_dropped('a'::regclass, 0);
SELECT count(*) FROM bucketfdw.manifest;
SELECT count(*) FROM bucketfdw.spec;
SELECT count(*) FROM bucketfdw.dead_files;
DELETE FROM bucketfdw.tables;
INSERT INTO a VALUES (1);
SELECT count(*) FROM a;
TRUNCATE a;
\set VERBOSITY default
RESET ROLE;
GRANT pg_read_all_stats TO bucketfdw_reader;
SET ROLE bucketfdw_reader;
SELECT count(*) FROM bucketfdw.bucket_stats('mine');
\set VERBOSITY sqlstate
SELECT count(*) FROM mine;
\set VERBOSITY default
RESET ROLE;
-- without USAGE on the schema other DDL works
REVOKE USAGE ON SCHEMA bucketfdw FROM PUBLIC;
SET ROLE bucketfdw_plain;
CREATE TABLE other (a int);
ALTER TABLE other ADD b int;
DROP TABLE other;
DROP FOREIGN TABLE mine;
RESET ROLE;
GRANT USAGE ON SCHEMA bucketfdw TO PUBLIC;
SELECT count(*) FROM bucketfdw.spec s WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = s.relid);
DROP OWNED BY bucketfdw_plain, bucketfdw_reader;
DROP ROLE bucketfdw_plain, bucketfdw_reader;

-- a big manifest is read quickly: 64 buckets by 1,000 loads, as rows
CREATE FOREIGN TABLE many (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '64');
INSERT INTO many SELECT generate_series(1, 1000);
-- rows that come by SQL are another server's, and discarded
INSERT INTO bucketfdw.manifest SELECT m.* FROM bucketfdw.manifest m WHERE relid = 'many'::regclass;
SELECT count(*) FROM bucketfdw.manifest m WHERE relid = 'many'::regclass;
ALTER TABLE bucketfdw.manifest DISABLE TRIGGER discard_row;
INSERT INTO bucketfdw.manifest SELECT m.* FROM bucketfdw.manifest m, generate_series(1, 999) WHERE relid = 'many'::regclass;
ALTER TABLE bucketfdw.manifest ENABLE ALWAYS TRIGGER discard_row;
SELECT writes, runs, rows FROM bucketfdw.tables t, LATERAL (SELECT count(*) AS writes FROM bucketfdw.manifest WHERE relid = t.relid) w
WHERE relid = 'many'::regclass;
DO $$
DECLARE
	began timestamptz := clock_timestamp();
BEGIN
	-- plans, and does not read the files
	EXECUTE 'EXPLAIN SELECT * FROM cat.many';
	EXECUTE 'EXPLAIN SELECT * FROM cat.many';
	IF clock_timestamp() - began > '2 s' THEN
		RAISE WARNING 'planning took %', clock_timestamp() - began;
	END IF;
END
$$;

SET client_min_messages = error;
DROP SCHEMA cat CASCADE;

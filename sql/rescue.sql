-- Damaged and missing files: verify() names them, bucketfdw.ignore_damaged_files reads the rest, forget_file() gives them up.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
\set SHOW_CONTEXT never
SET client_min_messages = error;	-- warnings name paths
CREATE SCHEMA rescue;
SET search_path = rescue, public;

CREATE FUNCTION run(command text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY (SELECT) TO PROGRAM %L', 'cat >/dev/null; ' || command);
END
$$;
-- the error of a statement, without the names of files
CREATE FUNCTION error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
	detail text;
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS said = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN regexp_replace(concat_ws(E'\n', said, nullif(detail, ''), nullif(hint, '')), 'base/\d+/\d+', 'FILE', 'g');
END
$$;

-- a file for each load
CREATE FOREIGN TABLE t_b (k int, load int, v text) SERVER bucketfdw
	OPTIONS (bucket_by 'k', sort_by 'k, load', buckets '4', block_rows '256', compression 'none');
CREATE TABLE t_h (k int, load int, v text);
CREATE TABLE damaged (load int, how text, path text);
DO $$
BEGIN
	FOR i IN 1..7 LOOP
		INSERT INTO t_b SELECT k, i, md5((k * i)::text) FROM generate_series(1, 2000) k;
		COMMIT;
		INSERT INTO damaged SELECT i, NULL, path FROM bucketfdw.files
			WHERE relid = 't_b'::regclass AND path NOT IN (SELECT path FROM damaged);
	END LOOP;
END
$$;
INSERT INTO t_h SELECT * FROM t_b;
CREATE FOREIGN TABLE u_b (k int, w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO u_b SELECT k, k % 10 FROM generate_series(1, 2000) k;
CREATE TABLE u_h AS SELECT * FROM u_b;
ANALYZE t_h, u_h, t_b, u_b;
SELECT count(*), min(pg_size_bytes(pg_size_pretty(bytes))) > 5 * 8192 AS long FROM bucketfdw.files WHERE relid = 't_b'::regclass;

-- a statement of before, for parallel workers
SET plan_cache_mode = force_generic_plan;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
PREPARE of_before(int) AS SELECT count(v) FROM t_b WHERE load < $1;
EXECUTE of_before(100);
EXPLAIN (COSTS OFF) EXECUTE of_before(100);
SET max_parallel_workers_per_gather = 0;

-- loads 6 and 7 stay sound
UPDATE damaged SET how = (ARRAY['page header', 'payload', 'first page zeroed', 'cut off', 'missing'])[load] WHERE load < 6;
SELECT run(format(CASE how
	WHEN 'page header' THEN 'printf XXXX | dd of=%s bs=1 seek=16404 conv=notrunc 2>/dev/null'
	WHEN 'payload' THEN 'printf XXXX | dd of=%s bs=1 seek=20000 conv=notrunc 2>/dev/null'
	WHEN 'first page zeroed' THEN 'dd if=/dev/zero of=%s bs=8192 count=1 conv=notrunc 2>/dev/null'
	WHEN 'cut off' THEN 'truncate -s 30000 %s'
	WHEN 'missing' THEN 'rm %s' END, path))
FROM damaged WHERE how IS NOT NULL \g (format=unaligned tuples_only=on)

-- with checksums in the cluster core finds pages damaged, too, and says so in its own words
SELECT DISTINCT d.how, v.problem FROM bucketfdw.verify('t_b') v LEFT JOIN damaged d ON d.path = v.file ORDER BY 1, 2;
SELECT d.how, v.problem, regexp_replace(v.detail, 'base/\d+/\d+', 'FILE', 'g') AS detail
FROM bucketfdw.verify('t_b', quick => true) v LEFT JOIN damaged d ON d.path = v.file ORDER BY 1;
-- whichever file is met first
SELECT error_of('SELECT count(v) FROM t_b') ~ 'missing|damaged|invalid page' AS refused;
SELECT error_of('SELECT count(v) FROM t_b JOIN u_b USING (k)') ~ 'missing|damaged|invalid page' AS refused;

-- what is left, in every way of reading
SET bucketfdw.ignore_damaged_files = on;
DELETE FROM t_h WHERE load < 6;
SELECT same('SELECT * FROM t_b');
SELECT same('SELECT count(*) FROM t_b');
SELECT same('SELECT count(*), count(v), min(k), max(load) FROM t_b');
SELECT same('SELECT * FROM t_b WHERE k = 77');
SELECT same('SELECT load, count(*) FROM t_b GROUP BY load');
SELECT same('SELECT k, count(*), max(v) FROM t_b GROUP BY k');
SELECT same('SELECT k, load, string_agg(v, '','' ORDER BY v) FROM t_b GROUP BY k, load');
SELECT same('SELECT * FROM t_b JOIN u_b USING (k)');
SELECT same('SELECT w, sum(k) FROM t_b RIGHT JOIN u_b USING (k) GROUP BY w');
SELECT same('SELECT count(*) FROM t_b a JOIN t_b b USING (k, load)');
SELECT same('SELECT * FROM u_b WHERE NOT EXISTS (SELECT FROM t_b WHERE t_b.k = u_b.k AND load < 6)');
SELECT same('SELECT * FROM generate_series(1, 20) g, LATERAL (SELECT * FROM t_b WHERE k = g) b');
SELECT k FROM (SELECT k, load FROM t_b ORDER BY k, load LIMIT 3) s;
-- not in parallel plans
RESET max_parallel_workers_per_gather;
EXPLAIN (COSTS OFF) SELECT count(v) FROM t_b WHERE load < 100;
SELECT error_of('EXECUTE of_before(100)');
SET max_parallel_workers = 0;
EXECUTE of_before(100);
RESET max_parallel_workers;
SET max_parallel_workers_per_gather = 0;

ANALYZE t_b;
SELECT reltuples FROM pg_class WHERE oid = 't_b'::regclass;
SELECT min(load::text::int), max(load::text::int)
FROM pg_stats, unnest(most_common_vals::text::int[]) load WHERE schemaname = 'rescue' AND tablename = 't_b' AND attname = 'load';
BEGIN;
INSERT INTO t_b VALUES (1, 8, 'waits');
SELECT count(*), max(load) FROM t_b;
SELECT sum(rows) FROM bucketfdw.bucket_stats('t_b');
ROLLBACK;

-- what a constraint says is true of all rows
SELECT error_of('ALTER FOREIGN TABLE t_b ADD CHECK (load > 0)') ~ 'missing|damaged|invalid page' AS refused;
-- which file is read first depends on where its row in the catalog is
SELECT regexp_replace(error_of('ALTER FOREIGN TABLE t_b ALTER k SET NOT NULL'), 'block \d+', 'block N') AS error_of;

-- for superusers
CREATE ROLE regress_rescue;
GRANT USAGE ON SCHEMA rescue, bucketfdw TO regress_rescue;
GRANT SELECT, INSERT ON t_b TO regress_rescue;
SET ROLE regress_rescue;
SELECT error_of($$SET bucketfdw.ignore_damaged_files = off$$);
SELECT error_of($$SELECT bucketfdw.forget_file('t_b', 'x')$$);
RESET ROLE;
GRANT EXECUTE ON FUNCTION bucketfdw.forget_file TO regress_rescue;
SET ROLE regress_rescue;
SELECT error_of($$SELECT bucketfdw.forget_file('t_b', 'x')$$);
RESET ROLE;
REVOKE EXECUTE ON FUNCTION bucketfdw.forget_file FROM regress_rescue;

SET bucketfdw.ignore_damaged_files = off;
SELECT error_of($$SELECT bucketfdw.forget_file('t_b', 'base/1/2')$$);
SELECT error_of($$SELECT bucketfdw.forget_file('t_h', 'base/1/2')$$);
SELECT error_of(format('SELECT bucketfdw.forget_file(%L, %L)', 'u_b', path)) FROM damaged WHERE load = 1;
BEGIN READ ONLY;
SELECT bucketfdw.forget_file('t_b', 'base/1/2');
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM t_b WHERE load = 7;
SELECT bucketfdw.forget_file('t_b', 'base/1/2');
ROLLBACK;

-- rolled back: all is as before
BEGIN;
SELECT bucketfdw.forget_file('t_b', path) FROM damaged WHERE load = 1;
SELECT mode FROM pg_locks WHERE relation = 't_b'::regclass AND pid = pg_backend_pid() AND mode LIKE 'AccessE%';
SAVEPOINT s;
SELECT bucketfdw.forget_file('t_b', path) FROM damaged WHERE load = 2;
ROLLBACK TO s;
SELECT count(*) FROM bucketfdw.files WHERE relid = 't_b'::regclass;
SELECT error_of(format('SELECT bucketfdw.forget_file(%L, %L)', 't_b', path)) ~ 'is not a file' AS forgotten FROM damaged WHERE load = 1;
ROLLBACK;
SELECT count(*) FROM bucketfdw.files WHERE relid = 't_b'::regclass;

SELECT load, how, bucketfdw.forget_file('t_b', path) FROM damaged WHERE load < 6 ORDER BY load;
SELECT * FROM bucketfdw.verify('t_b');
SELECT same('SELECT * FROM t_b JOIN u_b USING (k)');
-- nothing stays on disk
SELECT sum(coalesce((pg_stat_file(path, true)).size, 0)) FROM damaged WHERE load < 6;
SELECT count(*) FROM bucketfdw.garbage WHERE relid = 't_b'::regclass;

-- a sound file too; and its statistics, which were those of a write, with it
SELECT bucketfdw.forget_file('t_b', path) FROM damaged WHERE load = 6;
DELETE FROM t_h WHERE load = 6;
SELECT same('SELECT * FROM t_b JOIN u_b USING (k)');

-- the other way: the table is written again without what is damaged
SELECT run('truncate -s 0 ' || path) FROM bucketfdw.files WHERE relid = 'u_b'::regclass \g (format=unaligned tuples_only=on)
INSERT INTO u_b SELECT k, 11 FROM generate_series(1, 100) k;
SELECT error_of('SELECT * FROM u_b');
SET bucketfdw.ignore_damaged_files = on;
SELECT bucketfdw.create_table_as('u_b', 'SELECT * FROM u_b', mode => 'overwrite');
SET bucketfdw.ignore_damaged_files = off;
SELECT count(*), min(w) FROM u_b;
SELECT * FROM bucketfdw.verify('u_b');
SELECT bucketfdw.cleanup() >= 0 AS ok;

-- all files gone
SELECT run('rm ' || path) FROM bucketfdw.files WHERE relid IN ('t_b'::regclass, 'u_b'::regclass) \g (format=unaligned tuples_only=on)
SET bucketfdw.ignore_damaged_files = on;
SELECT count(*) FROM t_b JOIN u_b USING (k);
SELECT count(*) FROM t_b;
SET bucketfdw.ignore_damaged_files = off;
TRUNCATE u_b;
INSERT INTO u_b VALUES (1, 1);
TABLE u_b;
DROP SCHEMA rescue CASCADE;
DROP OWNED BY regress_rescue;
DROP ROLE regress_rescue;

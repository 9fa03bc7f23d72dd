-- Another number of buckets, key, order or compression for a table that has rows.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
\set VERBOSITY terse
SET search_path = public;

CREATE FOREIGN TABLE rb_b (k int, d date, v numeric(10,2), t text)
	SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '12', sort_by 'k, d desc', block_rows '100');
CREATE TABLE rb_h (k int, d date, v numeric(10,2), t text);
CREATE FOREIGN TABLE rd_b (k bigint, name text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '12');
CREATE TABLE rd_h (k bigint, name text);
INSERT INTO rd_h SELECT nullif(g, 300), 'n' || g FROM generate_series(0, 1500, 3) g;
INSERT INTO rd_b SELECT * FROM rd_h;

-- five appends, with rows that have no key
DO $$
BEGIN
	FOR i IN 1..5 LOOP
		INSERT INTO rb_h SELECT nullif((g * i) % 1000, 7), date '2020-01-01' + g % 77, nullif(g, 50) * 0.25, CASE WHEN g % 7 > 0 THEN 'row ' || g END
			FROM generate_series(1, 2000) g;
		INSERT INTO rb_b SELECT nullif((g * i) % 1000, 7), date '2020-01-01' + g % 77, nullif(g, 50) * 0.25, CASE WHEN g % 7 > 0 THEN 'row ' || g END
			FROM generate_series(1, 2000) g;
		COMMIT;
	END LOOP;
END
$$;

CREATE FUNCTION checks() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT same('SELECT * FROM rb_b')
	UNION ALL SELECT same('SELECT c.*, d.name FROM rb_b c JOIN rd_b d USING (k)')
	UNION ALL SELECT same('SELECT c.k, d.k, count(*) FROM rb_b c FULL JOIN rd_b d ON c.k = d.k GROUP BY c.k, d.k')
	UNION ALL SELECT same('SELECT k, count(*), sum(v), max(t), min(d) FROM rb_b GROUP BY k')
	UNION ALL SELECT same('SELECT * FROM rb_b WHERE k = 33 OR k IS NULL')
	UNION ALL SELECT same('SELECT * FROM rb_b WHERE k IN (1, 2, 3, 500) ORDER BY k, d DESC, v, t')
	UNION ALL SELECT format('%s defects', count(*)) FROM bucketfdw.verify()
$$;

-- specs of the table and of its files
CREATE FUNCTION specs(rel regclass) RETURNS TABLE (now text, files text, options text) LANGUAGE sql AS $$
	SELECT format('%s by %s sorted by %s', buckets, bucket_by, sort_by),
		(SELECT string_agg(DISTINCT format('%s %s', m.buckets, m.origin), ', ') FROM bucketfdw.manifest m WHERE m.relid = rel),
		(SELECT ftoptions::text FROM pg_foreign_table WHERE ftrelid = rel)
	FROM bucketfdw.tables WHERE relid = rel
$$;

-- more, fewer, a count that has no divisor with the old one, one, the most there are
CALL bucketfdw.rebucket('rb_b', buckets => 24);
SELECT * FROM specs('rb_b');
SELECT * FROM checks();
CALL bucketfdw.rebucket('rb_b', 6);
SELECT * FROM specs('rb_b');
SELECT * FROM checks();
CALL bucketfdw.rebucket('rb_b', 35);
SELECT * FROM specs('rb_b');
SELECT * FROM checks();
CALL bucketfdw.rebucket('rb_b', 1);
SELECT * FROM specs('rb_b');
SELECT * FROM checks();
CALL bucketfdw.rebucket('rb_b', 65536);
SELECT * FROM specs('rb_b');
SELECT * FROM checks();
CALL bucketfdw.rebucket('rb_b', 64);
SELECT * FROM specs('rb_b');

-- nothing to do
CALL bucketfdw.rebucket('rb_b', buckets => 64);
CALL bucketfdw.rebucket('rb_b', bucket_by => 'k', sort_by => 'k, d desc');
CALL bucketfdw.rebucket('rb_b');

-- half of it is done: joins stay bucket joins, and the same call goes on
ALTER FOREIGN TABLE rb_b OPTIONS (SET buckets '36');
INSERT INTO rb_b SELECT * FROM rb_h WHERE k < 500;
INSERT INTO rb_h SELECT * FROM rb_h WHERE k < 500;
SELECT * FROM specs('rb_b');
SELECT * FROM checks();
SELECT nodes('SELECT count(*) FROM rb_b JOIN rd_b USING (k)');
CREATE FUNCTION join_buckets() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) SELECT count(*) FROM rb_b JOIN rd_b USING (k) LOOP
		IF line ~ 'Buckets:' THEN
			RETURN NEXT ltrim(line);
		END IF;
	END LOOP;
END
$$;
SET enable_hashjoin = off;
SELECT join_buckets();
CALL bucketfdw.rebucket('rb_b', buckets => 36);
SELECT * FROM specs('rb_b');
SELECT join_buckets();
RESET enable_hashjoin;
SELECT * FROM checks();

-- what the planner knows of columns that were never analyzed is still of all rows, each once
SELECT sum(stats_rows) = sum(rows) AS whole FROM bucketfdw.manifest WHERE relid = 'rb_b'::regclass;
SELECT expected('SELECT k FROM rb_b GROUP BY k') BETWEEN 900 AND 1100 AS keys,
	round((expected('SELECT 1 FROM rb_b WHERE t IS NULL') / count(*) FILTER (WHERE t IS NULL))::numeric, 1) AS nulls
FROM rb_h;

-- compression, alone and with a count; also when the option says so already
CREATE FUNCTION versions(rel regclass) RETURNS TABLE (now int, files int[]) LANGUAGE sql AS $$
	SELECT spec_version, ARRAY(SELECT DISTINCT f.spec_version FROM bucketfdw.files f WHERE f.relid = rel ORDER BY 1)
	FROM bucketfdw.tables WHERE relid = rel
$$;
CALL bucketfdw.rebucket('rb_b', compression => 'none');
SELECT * FROM versions('rb_b');
CALL bucketfdw.rebucket('rb_b', compression => 'none');
ALTER FOREIGN TABLE rb_b OPTIONS (SET compression 'zstd');
INSERT INTO rb_b SELECT * FROM rb_h WHERE k = 3;
INSERT INTO rb_h SELECT * FROM rb_h WHERE k = 3;
SELECT * FROM versions('rb_b');
CALL bucketfdw.rebucket('rb_b', compression => 'zstd');
SELECT * FROM versions('rb_b');
CALL bucketfdw.rebucket('rb_b', buckets => 7, compression => 'lz4');
SELECT * FROM specs('rb_b');
SELECT * FROM checks();

-- another order, another key; a prepared statement that has a generic plan
ALTER FOREIGN TABLE rb_b OPTIONS (SET buckets '12');
CALL bucketfdw.rebucket('rb_b');
PREPARE by_key(int) AS SELECT count(*), sum(c.v) FROM rb_b c JOIN rd_b d USING (k) WHERE c.k < $1;
PREPARE by_day(date) AS SELECT count(*), sum(v) FROM rb_b WHERE d = $1;
EXECUTE by_key(100);
EXECUTE by_key(100);
EXECUTE by_key(100);
EXECUTE by_key(100);
EXECUTE by_key(100);
SET plan_cache_mode = force_generic_plan;
EXECUTE by_key(100);
EXECUTE by_day('2020-02-02');
CALL bucketfdw.rebucket('rb_b', sort_by => 'k, v nulls first, t');
SELECT * FROM specs('rb_b');
SELECT * FROM checks();
EXECUTE by_key(100);
CALL bucketfdw.rebucket('rb_b', bucket_by => 'd', buckets => 5);
SELECT * FROM specs('rb_b');
SELECT * FROM checks();
EXECUTE by_key(100);
EXECUTE by_day('2020-02-02');
CALL bucketfdw.rebucket('rb_b', bucket_by => 'k, t', sort_by => 'k, t, d desc');
SELECT * FROM specs('rb_b');
SELECT * FROM checks();
EXECUTE by_key(100);
-- the further columns of sort_by stay
CALL bucketfdw.rebucket('rb_b', bucket_by => 'K');
SELECT * FROM specs('rb_b');
SELECT * FROM checks();
EXECUTE by_key(100);
EXECUTE by_day('2020-02-02');
RESET plan_cache_mode;
SELECT nodes('SELECT count(*) FROM rb_b JOIN rd_b USING (k)') ~ 'BucketJoin' AS joined_by_key;
DEALLOCATE ALL;

-- columns that came and went
ALTER FOREIGN TABLE rb_b ADD COLUMN late int, DROP COLUMN t;
ALTER TABLE rb_h ADD COLUMN late int, DROP COLUMN t;
INSERT INTO rb_b SELECT g, '2022-02-02', g, g FROM generate_series(1, 1000) g;
INSERT INTO rb_h SELECT g, '2022-02-02', g, g FROM generate_series(1, 1000) g;
CALL bucketfdw.rebucket('rb_b', 3);
SELECT same('SELECT * FROM rb_b');
CALL bucketfdw.rebucket('rb_b', bucket_by => 'late', sort_by => 'late');
SELECT same('SELECT * FROM rb_b'), same('SELECT late, count(*), sum(v) FROM rb_b GROUP BY late');

-- an empty table, and one of which all rows wait for the commit
CREATE FOREIGN TABLE empty_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CALL bucketfdw.rebucket('empty_b', buckets => 8, bucket_by => 'v');
SELECT * FROM specs('empty_b');
CALL bucketfdw.rebucket('empty_b', 4);
CREATE PROCEDURE waiting() LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO empty_b SELECT g, g FROM generate_series(1, 100) g;
	CALL bucketfdw.rebucket('empty_b', 3);
	INSERT INTO empty_b VALUES (1, 1);
	ROLLBACK;
END
$$;
CALL waiting();
SELECT * FROM specs('empty_b');
SELECT count(*), sum(k) FROM empty_b;

-- a cursor that was open reads on
DECLARE kept CURSOR WITH HOLD FOR SELECT count(*) FROM empty_b;
CALL bucketfdw.rebucket('empty_b', 2);
CALL bucketfdw.rebucket('empty_b', bucket_by => 'k');
FETCH kept;
CLOSE kept;

-- little memory: rows go to temporary files on their way
CREATE FOREIGN TABLE big_b (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
CREATE TABLE big_h AS SELECT g % 50000 AS k, 'wide' || repeat('w', g % 40) AS v FROM generate_series(1, 200000) g;
INSERT INTO big_b SELECT * FROM big_h;
SET maintenance_work_mem = '1MB';
CALL bucketfdw.rebucket('big_b', 100);
SELECT same('SELECT * FROM big_b');
CALL bucketfdw.rebucket('big_b', bucket_by => 'v');
SELECT same('SELECT * FROM big_b');
RESET maintenance_work_mem;
SELECT count(*) FROM bucketfdw.verify('big_b');

-- rows that stand in the catalog are of any spec
RESET bucketfdw.inline_limit;
CREATE FOREIGN TABLE inl_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
CREATE TABLE inl_h (k int, v int);
INSERT INTO inl_h SELECT nullif(g % 50, 3), g FROM generate_series(1, 20) g;
INSERT INTO inl_b SELECT * FROM inl_h;
CREATE FUNCTION inline_checks() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format('%s files, %s inline', (SELECT count(*) FROM bucketfdw.files WHERE relid = 'inl_b'::regclass),
		(SELECT count(*) FROM bucketfdw.inline_rows WHERE relid = 'inl_b'::regclass))
	UNION ALL SELECT same('SELECT * FROM inl_b')
	UNION ALL SELECT same('SELECT * FROM inl_b WHERE k = 5 OR v = 7')
	UNION ALL SELECT same('SELECT a.k, a.v, b.v FROM inl_b a JOIN inl_b b USING (k)')
	UNION ALL SELECT same('SELECT v, count(*), max(k) FROM inl_b GROUP BY v')
$$;
CALL bucketfdw.rebucket('inl_b', 12);
SELECT * FROM inline_checks();
INSERT INTO inl_b SELECT g, g FROM generate_series(1, 5000) g;
INSERT INTO inl_h SELECT g, g FROM generate_series(1, 5000) g;
INSERT INTO inl_b VALUES (5, 7), (NULL, NULL);
INSERT INTO inl_h VALUES (5, 7), (NULL, NULL);
CALL bucketfdw.rebucket('inl_b', 7);
SELECT * FROM inline_checks();
CALL bucketfdw.rebucket('inl_b', bucket_by => 'v', sort_by => 'v, k desc');
SELECT * FROM inline_checks();
CALL bucketfdw.compact('inl_b', true);
SELECT * FROM inline_checks();
SELECT count(*) FROM bucketfdw.verify('inl_b');
DROP FOREIGN TABLE inl_b;
DROP TABLE inl_h;
DROP FUNCTION inline_checks();
SET bucketfdw.inline_limit = 0;

-- partitions
CREATE TABLE rp_b (k int, v int) PARTITION BY RANGE (v);
CREATE FOREIGN TABLE rp_1 PARTITION OF rp_b FOR VALUES FROM (0) TO (100) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE FOREIGN TABLE rp_2 PARTITION OF rp_b FOR VALUES FROM (100) TO (200) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE rp_3 PARTITION OF rp_b FOR VALUES FROM (200) TO (300);
CREATE TABLE rp_h (k int, v int);
INSERT INTO rp_h SELECT g % 50, g FROM generate_series(0, 299) g;
INSERT INTO rp_b SELECT * FROM rp_h;
CALL bucketfdw.rebucket('rp_b', 8);
SELECT * FROM specs('rp_1');
SELECT * FROM specs('rp_2');
CALL bucketfdw.rebucket('rp_b', bucket_by => 'v', sort_by => 'v, k desc');
SELECT * FROM specs('rp_1');
SELECT * FROM specs('rp_2');
SELECT same('SELECT * FROM rp_b');
CREATE FOREIGN TABLE rp_4 PARTITION OF rp_b FOR VALUES FROM (300) TO (400) SERVER bucketfdw;
SELECT * FROM specs('rp_4');

-- what cannot be, and who may not
CALL bucketfdw.rebucket(NULL);
CALL bucketfdw.rebucket('rp_3');
CALL bucketfdw.rebucket(1::oid::regclass);
CALL bucketfdw.rebucket('rb_b', 0);
CALL bucketfdw.rebucket('rb_b', 65537);
\set VERBOSITY default
CALL bucketfdw.rebucket('rb_b', bucket_by => 'nobody');
CALL bucketfdw.rebucket('rb_b', bucket_by => '');
CALL bucketfdw.rebucket('rb_b', bucket_by => 'k', sort_by => 'd');
CALL bucketfdw.rebucket('rb_b', sort_by => 'late, nobody');
CALL bucketfdw.rebucket('rb_b', compression => 'gzip');
ALTER FOREIGN TABLE empty_b ADD COLUMN i interval;
CALL bucketfdw.rebucket('empty_b', bucket_by => 'i');
ALTER FOREIGN TABLE empty_b OPTIONS (SET bucket_by 'v');
BEGIN;
CALL bucketfdw.rebucket('rb_b', 4);
ROLLBACK;
\set VERBOSITY terse
CREATE ROLE regress_bf_other;
GRANT ALL ON rb_b, rp_b, rp_1, rp_2 TO regress_bf_other;
GRANT USAGE ON SCHEMA public TO regress_bf_other;
SET ROLE regress_bf_other;
CALL bucketfdw.rebucket('rb_b', 4);
CALL bucketfdw.rebucket('rp_b', 4);
RESET ROLE;
ALTER FOREIGN TABLE empty_b OWNER TO regress_bf_other;
SET ROLE regress_bf_other;
CALL bucketfdw.rebucket('empty_b', 9, 'v');
RESET ROLE;
SELECT * FROM specs('empty_b');
SELECT count(*) FROM bucketfdw.verify();

-- whatever the session's defaults are
SET default_transaction_isolation = 'serializable';
SET default_transaction_read_only = on;
CALL bucketfdw.rebucket('empty_b', 10);
CALL bucketfdw.rebucket('empty_b', 10, 'k');
RESET default_transaction_isolation;
RESET default_transaction_read_only;
SELECT * FROM specs('empty_b');

DROP FOREIGN TABLE rb_b, rd_b, empty_b, big_b;
DROP TABLE rb_h, rd_h, big_h, rp_b, rp_h;
DROP PROCEDURE waiting();
DROP FUNCTION checks(), specs(regclass), versions(regclass), join_buckets();
DROP OWNED BY regress_bf_other;
DROP ROLE regress_bf_other;

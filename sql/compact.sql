-- Compaction: small runs of each bucket become one.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
\set VERBOSITY terse
SET search_path = public;

-- buckets with more runs than the limit
CREATE FUNCTION too_many(rel regclass) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM bucketfdw.bucket_stats(rel) WHERE runs > 12
$$;

CREATE FUNCTION most_runs(rel regclass) RETURNS int LANGUAGE sql AS $$
	SELECT max(runs) FROM bucketfdw.bucket_stats(rel)
$$;

CREATE FOREIGN TABLE cmp_b (k int, d date, v numeric(10,2), t text)
	SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16', sort_by 'k, d desc', block_rows '100');
CREATE TABLE cmp_h (k int, d date, v numeric(10,2), t text);
CREATE FOREIGN TABLE dim_b (k bigint, name text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
CREATE TABLE dim_h (k bigint, name text);
INSERT INTO dim_h SELECT g, 'n' || g FROM generate_series(0, 1500, 3) g;
INSERT INTO dim_b SELECT * FROM dim_h;

INSERT INTO cmp_h SELECT g % 1000, date '2020-01-01' + g % 77, g * 0.25, CASE WHEN g % 7 > 0 THEN 'row ' || g END FROM generate_series(1, 10000) g;
INSERT INTO cmp_b SELECT * FROM cmp_h;

-- 500 appends; some rows without key or values
DO $$
BEGIN
	FOR i IN 1..500 LOOP
		INSERT INTO cmp_b SELECT nullif((i * 37 + g) % 1200, 7), date '2021-01-01' + i, nullif(i, 50) / 2.0, repeat('x', g)
			FROM generate_series(1, 1 + i % 5) g;
		INSERT INTO cmp_h SELECT nullif((i * 37 + g) % 1200, 7), date '2021-01-01' + i, nullif(i, 50) / 2.0, repeat('x', g)
			FROM generate_series(1, 1 + i % 5) g;
		COMMIT;
	END LOOP;
END
$$;

CREATE FUNCTION checks() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT same('SELECT * FROM cmp_b')
	UNION ALL SELECT same('SELECT c.*, d.name FROM cmp_b c JOIN dim_b d USING (k)')
	UNION ALL SELECT same('SELECT k, count(*), sum(v), max(t), min(d) FROM cmp_b GROUP BY k')
	UNION ALL SELECT same('SELECT d.k, count(c.v) FROM dim_b d LEFT JOIN cmp_b c ON c.k = d.k GROUP BY d.k')
	UNION ALL SELECT same('SELECT * FROM cmp_b WHERE k = 33 OR k IS NULL')
	UNION ALL SELECT format('%s defects', count(*)) FROM bucketfdw.verify()
$$;
SELECT * FROM checks();
SELECT too_many('cmp_b') AS too_many, most_runs('cmp_b') > 100 AS many, (SELECT files FROM bucketfdw.tables WHERE relid = 'cmp_b'::regclass);

CALL bucketfdw.compact('cmp_b');
SELECT too_many('cmp_b') AS too_many, (SELECT files < 20 FROM bucketfdw.tables WHERE relid = 'cmp_b'::regclass) AS few_files;
-- how often rows were written is counted: that bounds what is done when nothing is appended
SELECT sum(rewritten) BETWEEN sum(rows) FILTER (WHERE origin = 'c') AND 5 * sum(rows) AS counted FROM bucketfdw.manifest WHERE relid = 'cmp_b'::regclass;
SELECT count(*) FROM bucketfdw.garbage WHERE pg_stat_file(path, true) IS NULL;
SELECT * FROM checks();

-- nothing to do
SELECT array_agg(path ORDER BY path) AS paths FROM bucketfdw.files WHERE relid = 'cmp_b'::regclass \gset
CALL bucketfdw.compact('cmp_b');
SELECT array_agg(path ORDER BY path) = :'paths' AS untouched FROM bucketfdw.files WHERE relid = 'cmp_b'::regclass;

-- one run for each bucket
CALL bucketfdw.compact('cmp_b', "full" => true);
SELECT most_runs('cmp_b'), rows FROM bucketfdw.tables WHERE relid = 'cmp_b'::regclass;
SELECT DISTINCT origin FROM bucketfdw.manifest WHERE relid = 'cmp_b'::regclass;
SELECT * FROM checks();

-- what the planner knows of columns that were never analyzed is still of all rows, each once
SELECT sum(stats_rows) = sum(rows) AS whole FROM bucketfdw.manifest WHERE relid = 'cmp_b'::regclass;
SELECT round((expected('SELECT 1 FROM cmp_b WHERE t IS NULL') / count(*) FILTER (WHERE t IS NULL))::numeric, 1) AS nulls,
	expected('SELECT k FROM cmp_b GROUP BY k') BETWEEN 900 AND 1500 AS keys,
	expected($$SELECT 1 FROM cmp_b WHERE d > '2021-01-01'$$) BETWEEN 750 AND 3000 AS recent
FROM cmp_h;

-- statistics of writes that are not replaced as a whole
CREATE FOREIGN TABLE part_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2', compression 'none');
INSERT INTO part_b SELECT g, (g * 7919::bigint) % 400009 FROM generate_series(1, 400000) g;
INSERT INTO part_b SELECT g, NULL FROM generate_series(1, 20000, 2) g WHERE bucketfdw.bucket_id(2, g) = 1;
SELECT count(*) AS files, count(stats_rows) AS with_statistics FROM bucketfdw.manifest WHERE relid = 'part_b'::regclass;
CALL bucketfdw.compact('part_b', true);
SELECT bool_or(origin = 'l') AS some_kept, sum(stats_rows) = sum(rows) AS whole FROM bucketfdw.manifest WHERE relid = 'part_b'::regclass;
SELECT round((expected('SELECT 1 FROM part_b WHERE v IS NULL') / count(*))::numeric, 1) AS nulls FROM part_b WHERE v IS NULL;
DROP FOREIGN TABLE part_b;

-- columns come and go
ALTER FOREIGN TABLE cmp_b ADD COLUMN late int;
ALTER TABLE cmp_h ADD COLUMN late int;
INSERT INTO cmp_h SELECT g, '2022-02-02', g, 'late', g FROM generate_series(1, 1000) g;
INSERT INTO cmp_b SELECT g, '2022-02-02', g, 'late', g FROM generate_series(1, 1000) g;
CALL bucketfdw.compact('cmp_b', true);
SELECT most_runs('cmp_b');
SELECT * FROM checks();
ALTER FOREIGN TABLE cmp_b DROP COLUMN t;
ALTER TABLE cmp_h DROP COLUMN t;
INSERT INTO cmp_h SELECT g, '2022-03-03', g, g FROM generate_series(1, 1000) g;
INSERT INTO cmp_b SELECT g, '2022-03-03', g, g FROM generate_series(1, 1000) g;
SELECT bytes FROM bucketfdw.tables WHERE relid = 'cmp_b'::regclass \gset
CALL bucketfdw.compact('cmp_b', true);
SELECT bytes < :bytes AS smaller, most_runs('cmp_b') FROM bucketfdw.tables WHERE relid = 'cmp_b'::regclass;
SELECT same('SELECT * FROM cmp_b');
SELECT same('SELECT k, count(late), sum(v) FROM cmp_b GROUP BY k');

-- files of another number of buckets, or another order, stay as they are
ALTER FOREIGN TABLE cmp_b OPTIONS (SET buckets '8');
INSERT INTO cmp_b SELECT * FROM cmp_b;
INSERT INTO cmp_b SELECT * FROM cmp_b WHERE k < 100;
INSERT INTO cmp_h SELECT * FROM cmp_h;
INSERT INTO cmp_h SELECT * FROM cmp_h WHERE k < 100;
CALL bucketfdw.compact('cmp_b', true);
SELECT buckets, sum(cardinality(run_buckets)) AS runs FROM bucketfdw.manifest WHERE relid = 'cmp_b'::regclass GROUP BY buckets ORDER BY buckets;
SELECT same('SELECT * FROM cmp_b');
SELECT same('SELECT c.*, d.name FROM cmp_b c JOIN dim_b d USING (k)');

-- a cursor that was open reads on
CREATE FOREIGN TABLE held (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
DO $$
BEGIN
	FOR i IN 1..40 LOOP
		INSERT INTO held SELECT g, 'run ' || i FROM generate_series(1, 20) g;
		COMMIT;
	END LOOP;
END
$$;
DECLARE kept CURSOR WITH HOLD FOR SELECT count(*) FROM held;
CALL bucketfdw.compact('held');
FETCH kept;
CLOSE kept;
SELECT most_runs('held') <= 12 AS few;

-- in a procedure that commits, but nowhere else
CREATE PROCEDURE keep_small() LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO held SELECT g, 'more' FROM generate_series(1, 20) g;
	CALL bucketfdw.compact('held', true);
	INSERT INTO held VALUES (1, 'after');
	ROLLBACK;
END
$$;
CALL keep_small();
SELECT most_runs('held'), count(*), count(*) FILTER (WHERE v = 'after') AS after FROM held;
BEGIN;
CALL bucketfdw.compact('held');
ROLLBACK;
CREATE FUNCTION in_a_function() RETURNS void LANGUAGE plpgsql AS $$ BEGIN CALL bucketfdw.compact('held'); END $$;
SELECT in_a_function();
\c -
SET bucketfdw.inline_limit = 0;
SET search_path = public;
\set VERBOSITY terse
SELECT 1 AS one \; CALL bucketfdw.compact('held');

-- whatever the session's defaults are
INSERT INTO held SELECT g, 'once more' FROM generate_series(1, 20) g;
SET default_transaction_isolation = 'serializable';
SET default_transaction_read_only = on;
CALL bucketfdw.compact('held', true);
SHOW transaction_isolation;
RESET default_transaction_isolation;
RESET default_transaction_read_only;
SELECT most_runs('held'), count(*) FROM held;

-- what was cancelled goes on later
INSERT INTO held SELECT g, 'once more' FROM generate_series(1, 1500000) g;
INSERT INTO held SELECT g, 'once more' FROM generate_series(1, 1500000) g;
SET statement_timeout = 30;
CALL bucketfdw.compact('held', true);
RESET statement_timeout;
SELECT count(*) FROM held;
SELECT count(*) FROM bucketfdw.verify('held');
CALL bucketfdw.compact('held', true);
SELECT most_runs('held'), count(*) FROM held;
SELECT count(*) FROM bucketfdw.verify('held');

-- with little memory runs are merged a few at a time
SET maintenance_work_mem = '1MB';
DO $$
BEGIN
	FOR i IN 1..20 LOOP
		INSERT INTO held SELECT g, 'wide' || repeat('w', 40) FROM generate_series(1, 10000) g;
		COMMIT;
	END LOOP;
END
$$;
CALL bucketfdw.compact('held', true);
RESET maintenance_work_mem;
SELECT most_runs('held'), count(*) FROM held;
SELECT count(*) FROM bucketfdw.verify('held');

-- partitions
CREATE TABLE parted (k int, v int) PARTITION BY RANGE (v);
CREATE FOREIGN TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE FOREIGN TABLE parted_2 PARTITION OF parted FOR VALUES FROM (100) TO (200) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE TABLE parted_3 PARTITION OF parted FOR VALUES FROM (200) TO (300);
INSERT INTO parted SELECT g, g FROM generate_series(0, 299) g;
INSERT INTO parted SELECT g, g FROM generate_series(0, 299) g;
CALL bucketfdw.compact('parted', true);
SELECT most_runs('parted_1'), most_runs('parted_2'), count(*), sum(k) FROM parted;

-- what cannot be compacted, and who may not
CALL bucketfdw.compact(NULL);
CALL bucketfdw.compact('parted_3');
CALL bucketfdw.compact(1::oid::regclass);
CREATE ROLE regress_bf_other;
GRANT ALL ON held, parted, parted_1, parted_2 TO regress_bf_other;
GRANT USAGE ON SCHEMA public TO regress_bf_other;
SET ROLE regress_bf_other;
CALL bucketfdw.compact('held');
CALL bucketfdw.compact('parted');
RESET ROLE;
ALTER FOREIGN TABLE held OWNER TO regress_bf_other;
INSERT INTO held VALUES (1, 'other');
SET ROLE regress_bf_other;
CALL bucketfdw.compact('held', true);
RESET ROLE;
SELECT most_runs('held'), count(*) FROM held;
SELECT count(*) FROM bucketfdw.verify();

DROP FOREIGN TABLE cmp_b, dim_b, held;
DROP TABLE cmp_h, dim_h, parted;
DROP PROCEDURE keep_small();
DROP FUNCTION in_a_function(), checks(), too_many(regclass), most_runs(regclass);
DROP OWNED BY regress_bf_other;
DROP ROLE regress_bf_other;

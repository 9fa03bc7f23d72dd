-- Scans: projection, batch quals, pruning, block skipping, rescans, cursors, ANALYZE.
SET bucketfdw.verify_order = on;
CREATE TABLE t_h (k int, seq bigint, name text, amount numeric(10,2), d date, f float8, flag bool, tags text[]);
INSERT INTO t_h
SELECT CASE WHEN i % 50 = 0 THEN NULL ELSE i % 700 END, i, 'name ' || (i % 97), (i * 7 % 1000) / 100.0,
	date '2020-01-01' + i % 1000, CASE i % 101 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' ELSE i / 3.0 END,
	CASE i % 3 WHEN 0 THEN NULL ELSE i % 3 = 1 END, ARRAY['a' || i % 5, NULL]
FROM generate_series(1, 5000) i;
CREATE FOREIGN TABLE t_b (k int, seq bigint, name text, amount numeric(10,2), d date, f float8, flag bool, tags text[])
	SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16', sort_by 'k, d desc', block_rows '64');
-- three runs in each bucket
INSERT INTO t_b SELECT * FROM t_h WHERE seq % 3 = 0;
INSERT INTO t_b SELECT * FROM t_h WHERE seq % 3 = 1;
INSERT INTO t_b SELECT * FROM t_h WHERE seq % 3 = 2;

SELECT same('SELECT * FROM t_b');
SELECT same('SELECT name FROM t_b');
SELECT same('SELECT count(*) FROM t_b');
SELECT same('SELECT t_b FROM t_b WHERE k = 5');
SELECT same('SELECT tags, f, flag FROM t_b WHERE k > 690');

-- every batch operator, on key and other columns, constants on either side
SELECT same(format('SELECT k, seq FROM t_b WHERE %s', q)), q
FROM unnest(ARRAY['k = 42', 'k <> 42', 'k < 5', 'k <= 5', 'k > 690', 'k >= 690', '5 > k', 'k = 42::bigint',
	'k = 3000000000', 'k IN (1, 2, 3, NULL)', 'k = ANY (ARRAY[4, 700])', 'k = ANY (NULL::int[])', 'k = ANY (''{}''::int[])',
	'k = NULL::int', 'k IS NULL', 'k IS NOT NULL', 'k BETWEEN 100 AND 110', 'k NOT IN (1, 2)', 'k = 1 OR k = 2',
	'k = 1 AND k = 2', 'name = ''name 5''', 'name < ''name 2''', 'name >= ''name 9''', 'name <> ''name 5''',
	'name LIKE ''name 1%''', 'name IN (''name 1'', ''name 96'', ''x'')', 'amount = 5.0', 'amount = 5', 'amount < 0.05',
	'amount > 9.95', 'd = ''2020-03-01''', 'd > ''2022-09-20''', 'd = timestamp ''2020-03-01''', 'f = ''NaN''',
	'f > 1600', 'f < ''NaN''', 'f = 0', 'f = ''-0''', 'f >= 0', 'flag', 'NOT flag', 'flag IS NULL', 'flag = true',
	'tags IS NULL', 'tags IS NOT NULL', 'tags = ''{a1,NULL}''', 'name = upper(''NAME 5'')', 'k + 1 = 43', 'k = 42 AND name > ''name 3''',
	'k = (SELECT 7)', 'k = (SELECT max(seq) % 700 FROM t_b)', 'k = abs(-42)', 'k IS NULL AND d > ''2022-01-01''',
	'coalesce(k, -1) = -1', 'k::text = ''42''', 'seq = k', 'ROW(k, seq) = ROW(42, 42)']) q;

-- text under a collation that does not order by bytes: = by batch, order by core
CREATE TABLE ct_h (k int, t text COLLATE "en-x-icu");
INSERT INTO ct_h SELECT i, (ARRAY['a', 'B', 'ä', 'Z', 'é', 'o', 'Ö', '_', 'k0', '1'])[1 + i % 10] || i % 7 FROM generate_series(1, 300) i;
CREATE FOREIGN TABLE ct_b (k int, t text COLLATE "en-x-icu") SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '20');
INSERT INTO ct_b SELECT * FROM ct_h;
SELECT same(format('SELECT * FROM ct_b WHERE t %s', q)), q
FROM unnest(ARRAY['= ''ä6''', '<> ''ä6''', '< ''k0''', '<= ''k0''', '> ''k0''', '>= ''k0''', 'BETWEEN ''b'' AND ''o''', 'IN (''ä6'', ''B1'')',
	'>= ''k0'' COLLATE "C"', '< ''k0'' COLLATE "C"']) q;
DROP FOREIGN TABLE ct_b;
DROP TABLE ct_h;

-- one bucket is read for one key, at most three for three
SELECT measured('SELECT * FROM t_b WHERE k = 42', 'Buckets Read') one,
	measured('SELECT * FROM t_b WHERE k IN (1, 2, 3)', 'Buckets Read')::int <= 3 three,
	measured('SELECT * FROM t_b WHERE k IS NULL', 'Buckets Read') one_null,
	measured('SELECT * FROM t_b WHERE k = NULL::int AND seq > 0', 'Buckets Read') never,
	measured('SELECT * FROM t_b', 'Buckets Read') everything;
-- blocks of other columns are skipped where statistics allow
SELECT measured('SELECT * FROM t_b WHERE seq > 100000', 'Blocks Read') read,
	measured('SELECT * FROM t_b WHERE seq > 100000', 'Blocks Skipped')::int > 50 skipped;
SET bucketfdw.enable_pruning = off;
SELECT measured('SELECT * FROM t_b WHERE k = 42', 'Buckets Read');
RESET bucketfdw.enable_pruning;

EXPLAIN (COSTS OFF) SELECT name FROM t_b WHERE k = 42 AND name LIKE '%ame%' AND d > '2020-01-01';
EXPLAIN (COSTS OFF, VERBOSE) SELECT name FROM t_b WHERE k = ANY ('{1,2}');

-- prepared statements keep right when the plan becomes generic
PREPARE byk(int) AS SELECT count(*), sum(seq) FROM t_b WHERE k = $1;
EXECUTE byk(1); EXECUTE byk(2); EXECUTE byk(3); EXECUTE byk(4); EXECUTE byk(5); EXECUTE byk(6); EXECUTE byk(NULL);
SET plan_cache_mode = force_generic_plan;
EXECUTE byk(7);
EXPLAIN (COSTS OFF) EXECUTE byk(7);
SELECT count(*), sum(seq) FROM t_h WHERE k = 7;
INSERT INTO t_b SELECT * FROM t_h WHERE k = 7;
EXECUTE byk(7);
RESET plan_cache_mode;
DEALLOCATE byk;
-- the inserted rows again, for the heap
INSERT INTO t_h SELECT * FROM t_h WHERE k = 7;
SELECT same('SELECT * FROM t_b');

-- rescans: correlated subqueries, lateral, nested loops
SELECT same('SELECT x, (SELECT count(*) FROM t_b WHERE k = x) FROM generate_series(1, 20) x');
SELECT same('SELECT x, c FROM generate_series(1, 20) x, LATERAL (SELECT count(*) c FROM t_b WHERE k = x AND d > date ''2020-06-01'' + x) s');
SELECT same('SELECT x, (SELECT max(name) FROM t_b WHERE k IN (x, x + 1)) FROM generate_series(690, 710) x');
SELECT same('SELECT x, y.seq FROM generate_series(1, 5) x LEFT JOIN t_b y ON y.seq = x');

-- cursors
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT seq FROM t_b WHERE k = 42 ORDER BY seq;
FETCH 3 FROM c; FETCH BACKWARD 2 FROM c; MOVE LAST FROM c; FETCH PRIOR FROM c;
DECLARE s SCROLL CURSOR FOR SELECT k FROM t_b WHERE k = 42 AND seq < 2000;
FETCH ALL FROM s; FETCH BACKWARD ALL FROM s;
DECLARE h CURSOR WITH HOLD FOR SELECT seq FROM t_b WHERE k = 43 ORDER BY seq;
FETCH 1 FROM h;
COMMIT;
FETCH 2 FROM h;
CLOSE h;

-- system columns
SELECT DISTINCT tableoid::regclass FROM t_b;
SELECT ctid FROM t_b;

-- ANALYZE: all columns, chosen ones; the sample is not biased by the order of the files
ANALYZE t_b;
SELECT reltuples FROM pg_class WHERE oid = 't_b'::regclass;
SELECT attname, round(null_frac::numeric, 2) null_frac, abs(n_distinct) > 0.1 AND n_distinct < 0 fraction
FROM pg_stats WHERE tablename = 't_b' AND attname IN ('k', 'seq') ORDER BY 1;
SET default_statistics_target = 1;
ANALYZE t_b (seq);
SELECT histogram_bounds IS NOT NULL,
	(SELECT avg(x) FROM unnest(histogram_bounds::text::bigint[]) x) BETWEEN 1500 AND 3500 middle
FROM pg_stats WHERE tablename = 't_b' AND attname = 'seq';
RESET default_statistics_target;
CREATE FOREIGN TABLE empty_b (k int) SERVER bucketfdw OPTIONS (bucket_by 'k');
CREATE TABLE empty_h (k int);
ANALYZE empty_b;
SELECT same('SELECT * FROM empty_b');
SELECT same('SELECT count(*) FROM empty_b');

-- columns added later, dropped columns
ALTER FOREIGN TABLE t_b DROP COLUMN flag, ADD COLUMN extra text, ADD COLUMN more int;
ALTER TABLE t_h DROP COLUMN flag, ADD COLUMN extra text, ADD COLUMN more int;
SELECT same('SELECT * FROM t_b');
SELECT same('SELECT extra, more FROM t_b WHERE extra IS NULL');
SELECT same('SELECT * FROM t_b WHERE more = 1');
INSERT INTO t_b (k, seq, extra, more) VALUES (1, 9001, 'new', 5);
INSERT INTO t_h (k, seq, extra, more) VALUES (1, 9001, 'new', 5);
SELECT same('SELECT * FROM t_b');
SELECT same('SELECT k, extra, more FROM t_b WHERE more = 5');

DROP FOREIGN TABLE t_b, empty_b;
DROP TABLE t_h, empty_h;

-- Quals that batches cannot test are tested on the columns they use; other columns are read only where a row passes.
CREATE TABLE late_h AS SELECT i AS k, i % 1000 AS a, repeat(md5(i::text), 4) AS w FROM generate_series(1, 20000) i;
SELECT bucketfdw.create_table_as('late_b', 'SELECT * FROM late_h', bucket_by => 'k', buckets => 4);
CREATE FUNCTION bytes(query text) RETURNS bigint LANGUAGE sql AS $$ SELECT measured(query, 'Bytes Read')::bigint $$;
SELECT bytes('SELECT w FROM late_b WHERE a % 1000 < 0') = bytes('SELECT a FROM late_b') AS not_read;
SELECT bytes('SELECT l.w FROM late_b l JOIN late_b r USING (k) WHERE (l.a + l.k) % 5 < 0') <
	bytes('SELECT l.w FROM late_b l JOIN late_b r USING (k)') / 5 AS not_read_for_a_join;
SELECT measured('SELECT w FROM late_b WHERE a % 1000 < 10', 'Rows Removed by Filter') AS removed;
SELECT same('SELECT k, w FROM late_b WHERE a % 1000 < 10 AND length(w) = 128');
SELECT same('SELECT k FROM late_b WHERE a % 2 = 0 AND late_b::text LIKE ''%,7%''');
SELECT same('SELECT l.k, l.w, r.a FROM late_b l JOIN late_b r USING (k) WHERE l.a % 100 = 3 AND r.w LIKE ''%a'' || l.a % 10 || ''%''');
SELECT count(*) FROM late_b WHERE tableoid = 'late_b'::regclass AND a % 4 = 0;
-- rows that nobody asks for are not tested
SELECT count(*) FROM (SELECT w FROM late_b WHERE 1 / (a - 500) < 2 LIMIT 10) q;
BEGIN;
DECLARE late CURSOR FOR SELECT a, left(w, 4) = left(md5(k::text), 4) AS right FROM late_b WHERE a % 500 = 7;
FETCH 2 FROM late;
FETCH 2 FROM late;
COMMIT;
SELECT a, array_agg(w = repeat(md5(k::text), 4)) FROM late_b WHERE a % 500 = 7 GROUP BY a ORDER BY a;
DROP TABLE late_h;
DROP FOREIGN TABLE late_b;
DROP FUNCTION bytes;

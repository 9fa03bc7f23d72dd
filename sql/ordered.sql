-- Scans in the order of the key: all buckets merged.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
SET bucketfdw.verify_order = on;
SET jit = off;
-- The query's rows in their order, against heap: bucket plans on and off, sorts made dear, pruning off.
CREATE FUNCTION same_order(query text) RETURNS text
LANGUAGE plpgsql SET bucketfdw.enable = on SET enable_sort = on SET bucketfdw.enable_pruning = on AS $$
DECLARE
	heap record;
	got record;
	digest text := 'SELECT count(*) n, md5(coalesce(string_agg(q::text, E''\n''), '''')) rows FROM (%s) q';
BEGIN
	EXECUTE format(digest, regexp_replace(query, '(\w)_b\M', '\1_h', 'g')) INTO heap;
	EXECUTE format(digest, query) INTO got;
	IF got IS DISTINCT FROM heap THEN
		RETURN format('WRONG: %s rows, heap %s', got.n, heap.n);
	END IF;
	PERFORM set_config('enable_sort', 'off', true);
	EXECUTE format(digest, query) INTO got;
	IF got IS DISTINCT FROM heap THEN
		RETURN format('WRONG: without sorts %s rows, heap %s', got.n, heap.n);
	END IF;
	PERFORM set_config('bucketfdw.enable_pruning', 'off', true);
	EXECUTE format(digest, query) INTO got;
	IF got IS DISTINCT FROM heap THEN
		RETURN format('WRONG: without pruning %s rows, heap %s', got.n, heap.n);
	END IF;
	PERFORM set_config('bucketfdw.enable', 'off', true);
	EXECUTE format(digest, query) INTO got;
	IF got IS DISTINCT FROM heap THEN
		RETURN format('WRONG: stock plans %s rows, heap %s', got.n, heap.n);
	END IF;
	RETURN format('same, %s rows', heap.n);
END
$$;
-- Is the order free of sorts when they are dear?
CREATE FUNCTION unsorted(query text) RETURNS boolean
LANGUAGE sql SET enable_sort = off AS $$ SELECT nodes(query, false) !~ 'Sort' $$;

CREATE TABLE s_h (k int, d date, v numeric, t text, seq int);
INSERT INTO s_h
SELECT CASE WHEN i % 50 = 0 THEN NULL ELSE i * 7919 % 400 END, CASE WHEN i % 7 = 0 THEN NULL ELSE date '2020-01-01' + i % 5 END,
	CASE i % 11 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' ELSE (i % 4) / 10.0 END, CASE WHEN i % 13 = 0 THEN NULL ELSE 'text ' || i % 3 END, i
FROM generate_series(1, 12000) i;
CREATE FOREIGN TABLE s_b (k int, d date, v numeric, t text, seq int)
	SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16', sort_by 'k, d desc, v nulls first, t desc nulls last', block_rows '64');
INSERT INTO s_b SELECT * FROM s_h WHERE seq % 3 = 0;
INSERT INTO s_b SELECT * FROM s_h WHERE seq % 3 = 1;
INSERT INTO s_b SELECT * FROM s_h WHERE seq % 3 = 2;
CREATE INDEX ON s_h (k);
ANALYZE s_b, s_h;

-- LIMIT is served from the order whatever else is enabled; everything is served when sorts are dear
EXPLAIN (COSTS OFF) SELECT * FROM s_b ORDER BY k LIMIT 10;
EXPLAIN (COSTS OFF) SELECT k, d FROM s_b ORDER BY k, d DESC, v NULLS FIRST, t DESC NULLS LAST LIMIT 10;
SELECT measured('SELECT k FROM s_b ORDER BY k LIMIT 10', 'Runs Merged') runs,
	measured('SELECT k FROM s_b ORDER BY k LIMIT 10', 'Blocks Read')::int < 48 lazy;
SELECT unsorted('SELECT ' || q), same_order('SELECT ' || q), q
FROM unnest(ARRAY['k FROM s_b ORDER BY k', 'k, d FROM s_b ORDER BY k, d DESC', 'k, d, v FROM s_b ORDER BY k, d DESC, v NULLS FIRST',
	'k, d, v, t FROM s_b ORDER BY k, d DESC, v NULLS FIRST, t DESC NULLS LAST', 'k FROM s_b ORDER BY k LIMIT 100', 'k FROM s_b ORDER BY k OFFSET 11000',
	'k, d, v, t FROM s_b ORDER BY k, d DESC, v NULLS FIRST, t DESC NULLS LAST LIMIT 1000 OFFSET 300',
	'k FROM s_b WHERE seq % 5 = 0 ORDER BY k', 'k, d FROM s_b WHERE k > 200 ORDER BY k, d DESC', 'k FROM s_b WHERE k IS NULL ORDER BY k',
	'k FROM s_b WHERE k BETWEEN 100 AND 110 ORDER BY k', 'k, d FROM s_b WHERE d > ''2020-01-03'' ORDER BY k, d DESC',
	'd, v FROM s_b WHERE k = 77 ORDER BY d DESC, v NULLS FIRST', 'd FROM s_b WHERE k IS NULL ORDER BY k, d DESC', 'k, d FROM s_b WHERE k IN (5, 399, 7, 5) ORDER BY k, d DESC',
	'k, k + 1 FROM s_b ORDER BY k', 'k AS a, k AS b FROM s_b ORDER BY a, b', 'DISTINCT ON (k) k, d FROM s_b ORDER BY k, d DESC', 'DISTINCT k FROM s_b ORDER BY k',
	'k, count(*), min(seq) FROM s_b GROUP BY k ORDER BY k', 'k, d, count(*) FROM s_b GROUP BY k, d ORDER BY k, d DESC',
	'min(k) FROM s_b', 'min(k) FROM s_b WHERE seq % 1000 = 7', 'k, row_number() OVER (PARTITION BY k ORDER BY d DESC) FROM s_b ORDER BY k, 2',
	'k, d, rank() OVER (PARTITION BY k ORDER BY d DESC, v NULLS FIRST) r FROM s_b WHERE seq < 5000 ORDER BY k, d DESC, r',
	'd FROM (SELECT * FROM s_b WHERE k = 5) x ORDER BY d DESC', 'k FROM s_b WHERE false ORDER BY k', 'k FROM s_b WHERE k = NULL::int ORDER BY k']) q;
-- where the order does not serve, or only its beginning does
SELECT unsorted('SELECT ' || q), same_order('SELECT ' || q), q
FROM unnest(ARRAY['k FROM s_b ORDER BY k DESC', 'k FROM s_b ORDER BY k NULLS FIRST', 'd FROM s_b ORDER BY d DESC', 'k, d FROM s_b ORDER BY k, d',
	'k, d FROM s_b ORDER BY k, d DESC NULLS LAST', 'k, d, v FROM s_b ORDER BY k, d DESC, v', 'k, d, v, t FROM s_b ORDER BY k, d DESC, v NULLS FIRST, t DESC',
	'k, v FROM s_b ORDER BY k, v NULLS FIRST', 'k, d, seq FROM s_b ORDER BY k, d DESC, seq', 'k FROM s_b ORDER BY k::bigint', 'max(k) FROM s_b',
	'k, t FROM s_b ORDER BY k, d DESC, v NULLS FIRST, t COLLATE "POSIX" DESC NULLS LAST']) q;

-- joins of core that want the order; the other side is a heap table
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET bucketfdw.enable_bucketjoin = off;
SELECT nodes('SELECT * FROM s_h a, s_b b WHERE a.k = b.k AND a.seq < 500', false);
SELECT same('SELECT a.seq x, b.seq y FROM s_h a, s_b b WHERE a.k = b.k AND a.seq < 500');
SELECT same('SELECT a.seq x, b.seq y FROM s_h a, s_b b WHERE b.k = a.k AND b.d = a.d AND a.seq < 500');
SELECT same('SELECT a.seq x, b.seq y FROM s_b a LEFT JOIN s_b b ON b.k = a.k AND b.d = a.d AND b.seq < 900 WHERE a.seq < 700');
SELECT same('SELECT a.seq x, b.seq y FROM (SELECT * FROM s_b WHERE seq < 900) a FULL JOIN (SELECT * FROM s_b WHERE seq BETWEEN 500 AND 1500) b ON a.k = b.k');
SELECT same('SELECT a.k x, b.seq y FROM (SELECT DISTINCT k FROM s_b) a RIGHT JOIN s_h b ON a.k = b.k');
SELECT same('SELECT seq FROM s_h a WHERE NOT EXISTS (SELECT 1 FROM s_b b WHERE b.k = a.k + 300)');
RESET enable_hashjoin;
RESET enable_nestloop;
RESET bucketfdw.enable_bucketjoin;

-- rescans with other values, limits inside
SELECT same_order('SELECT x, s.* FROM generate_series(390, 405) x, LATERAL (SELECT k, d, v FROM s_b WHERE k > x ORDER BY k, d DESC, v NULLS FIRST LIMIT 3) s');
SELECT same_order('SELECT x, s.* FROM generate_series(-3, 12) x, LATERAL (SELECT k, d, v FROM s_b WHERE k = x ORDER BY d DESC, v NULLS FIRST LIMIT 4) s');
SELECT same_order('SELECT x, (SELECT min(k) FROM s_b WHERE k > x AND seq % 10 = 3) FROM generate_series(-5, 410, 5) x');
SELECT same_order('SELECT k FROM s_b WHERE EXISTS (SELECT 1 FROM generate_series(1, 3) g WHERE g = seq % 10) ORDER BY k LIMIT 500');
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k FROM s_b ORDER BY k;
FETCH 3 FROM c; MOVE FORWARD 5000 IN c; FETCH 2 FROM c; FETCH BACKWARD 2 FROM c; MOVE LAST FROM c; FETCH PRIOR FROM c; MOVE ABSOLUTE 0 IN c; FETCH 1 FROM c;
COMMIT;
PREPARE o(int) AS SELECT array_agg(k) FROM (SELECT k FROM s_b WHERE k >= $1 ORDER BY k, d DESC LIMIT 5) s;
SET plan_cache_mode = force_generic_plan;
EXECUTE o(10); EXECUTE o(398); EXECUTE o(1000); EXECUTE o(NULL);

-- however small work_mem is, the first rows come from the first blocks, and blocks that do not fit are copied one by one
CREATE TABLE wide_h AS SELECT i AS k, repeat(md5(i::text), 1 + i % 7) AS v, i % 3 AS w FROM generate_series(1, 200000) i;
CREATE FOREIGN TABLE wide_b (k int, v text, w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16', block_rows '2000');
INSERT INTO wide_b TABLE wide_h;
ANALYZE wide_h, wide_b;
PREPARE wide AS SELECT md5(string_agg(v, ',')) FROM (SELECT k, v FROM wide_b ORDER BY k) s;
PREPARE few AS SELECT k, v FROM wide_b ORDER BY k LIMIT 3;
SET enable_sort = off;
EXECUTE wide;
SELECT md5(string_agg(v, ',')) FROM (SELECT k, v FROM wide_h ORDER BY k) s;
SET work_mem = '1MB';
EXECUTE wide;
SET work_mem = '64kB';
EXECUTE wide;
CREATE FUNCTION temp_written(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
	RETURN plan->0->'Plan'->>'Temp Written Blocks';
END
$$;
SELECT measured('EXECUTE wide', 'Runs Merged') runs, temp_written('EXECUTE wide') > 2000 AS copied,
	temp_written('SELECT k, v FROM wide_b WHERE k > 100000 ORDER BY k LIMIT 1') < 500 AS few_copied;
RESET enable_sort;
SELECT nodes('SELECT k, v FROM wide_b ORDER BY k LIMIT 3', false), measured('EXECUTE few', 'Blocks Read')::int <= 8 AS few;
SELECT same_order(q), q FROM unnest(ARRAY[
	'SELECT k, v FROM wide_b WHERE w = 1 ORDER BY k OFFSET 60000', 'SELECT k, v FROM wide_b WHERE k > 150000 ORDER BY k LIMIT 30000',
	'SELECT k, v FROM wide_b ORDER BY k OFFSET 199999', 'SELECT k, w FROM wide_b ORDER BY k OFFSET 199990']) q;
BEGIN;
DECLARE c CURSOR FOR SELECT k, v FROM wide_b ORDER BY k;
FETCH 2 FROM c;
MOVE 30000 FROM c;
FETCH 2 FROM c;
CLOSE c;
COMMIT;
-- deleted rows, and what waits in the own transaction
BEGIN;
DELETE FROM wide_b WHERE k % 1000 < 500;
DELETE FROM wide_h WHERE k % 1000 < 500;
INSERT INTO wide_b SELECT * FROM wide_h WHERE k % 1000 = 999;
INSERT INTO wide_h SELECT * FROM wide_h WHERE k % 1000 = 999;
SELECT same_order('SELECT k, v FROM wide_b ORDER BY k OFFSET 50000');
ROLLBACK;
RESET work_mem;
DEALLOCATE wide;
DEALLOCATE few;
DROP FUNCTION temp_written;
DROP FOREIGN TABLE wide_b;
DROP TABLE wide_h;

-- a cached plan whose table grows: few runs, many runs, another order in new files
INSERT INTO s_b SELECT * FROM s_h WHERE k = 10;
INSERT INTO s_h SELECT * FROM s_h WHERE k = 10;
EXECUTE o(10);
PREPARE whole AS SELECT md5(string_agg(s::text, ' ')) FROM (SELECT k, d, v, t FROM s_b ORDER BY k, d DESC, v NULLS FIRST, t DESC NULLS LAST) s;
SET enable_sort = off;
EXPLAIN (COSTS OFF) EXECUTE whole;
SELECT format('INSERT INTO s_b SELECT * FROM s_h WHERE seq BETWEEN %s AND %s', i * 100, i * 100 + 150) FROM generate_series(1, 40) i \gexec
CREATE TABLE s2_h AS SELECT * FROM s_h;
DO $$
BEGIN
	FOR i IN 1..40 LOOP
		INSERT INTO s2_h SELECT * FROM s_h WHERE seq BETWEEN i * 100 AND i * 100 + 150;
	END LOOP;
END
$$;
CREATE FUNCTION whole_heap() RETURNS text LANGUAGE sql SET enable_sort = on AS $$
	SELECT md5(string_agg(s::text, ' ')) FROM (SELECT k, d, v, t FROM s2_h ORDER BY k, d DESC, v NULLS FIRST, t DESC NULLS LAST) s $$;
EXECUTE whole;
SELECT whole_heap();
-- too many runs to merge: the executor sorts
SELECT measured('EXECUTE whole', 'Rows Sorted') sorted, runs > 512 many FROM bucketfdw.tables WHERE relid = 's_b'::regclass;
RESET enable_sort;
-- and the planner no longer offers it
SELECT nodes('SELECT * FROM s_b ORDER BY k LIMIT 10', false);
SELECT same_order('SELECT k, d, v, t FROM s_b WHERE seq < 90 ORDER BY k, d DESC, v NULLS FIRST, t DESC NULLS LAST');
RESET plan_cache_mode;
DEALLOCATE ALL;

-- another order of the table: cached plans follow
CREATE FOREIGN TABLE a_b (k int, x int, y int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', sort_by 'k, x');
CREATE TABLE a_h AS SELECT i % 50 AS k, i * 31 % 17 AS x, i * 17 % 13 AS y FROM generate_series(1, 3000) i;
INSERT INTO a_b SELECT * FROM a_h;
SET plan_cache_mode = force_generic_plan;
SET enable_sort = off;
PREPARE byx AS SELECT md5(string_agg(s::text, ' ')) FROM (SELECT k, x FROM a_b ORDER BY k, x) s;
EXECUTE byx;
EXPLAIN (COSTS OFF) EXECUTE byx;
TRUNCATE a_b;
ALTER FOREIGN TABLE a_b OPTIONS (SET sort_by 'k, y');
INSERT INTO a_b SELECT * FROM a_h;
EXECUTE byx;
EXPLAIN (COSTS OFF) EXECUTE byx;
RESET enable_sort;
RESET plan_cache_mode;
SELECT unsorted('SELECT ' || q), same_order('SELECT ' || q), q
FROM unnest(ARRAY['k FROM a_b ORDER BY k', 'k, y FROM a_b ORDER BY k, y', 'k, x FROM a_b ORDER BY k, x', 'k, y FROM a_b WHERE k = 5 ORDER BY k, y']) q;
DEALLOCATE ALL;

-- several key columns
CREATE FOREIGN TABLE m_b (t int, u text, v numeric, s int)
	SERVER bucketfdw OPTIONS (bucket_by 't, u', buckets '12', sort_by 't, u, v desc', block_rows '16');
CREATE TABLE m_h (t int, u text, v numeric, s int);
INSERT INTO m_h SELECT NULLIF(i % 5, 3), CASE WHEN i % 10 > 0 THEN repeat('long prefix ', i % 2 * 4) || i * 7 % 41 END, i % 3, i FROM generate_series(1, 6000) i;
INSERT INTO m_b SELECT * FROM m_h WHERE s % 2 = 0;
INSERT INTO m_b SELECT * FROM m_h WHERE s % 2 = 1;
ANALYZE m_b, m_h;
SELECT unsorted('SELECT ' || q), same_order('SELECT ' || q), q
FROM unnest(ARRAY['t FROM m_b ORDER BY t', 't, u FROM m_b ORDER BY t, u', 't, u, v FROM m_b ORDER BY t, u, v DESC', 'u, v FROM m_b WHERE t = 2 ORDER BY u, v DESC',
	't, u FROM m_b WHERE t = 2 ORDER BY t, u LIMIT 7', 'u, t FROM m_b ORDER BY u, t', 'v FROM m_b WHERE t = 1 AND u = ''14'' ORDER BY v DESC', 'DISTINCT t, u FROM m_b ORDER BY t, u']) q;

-- every class: the order is that of its btree operators
CREATE DOMAIN posint AS int CHECK (VALUE > -1000000);
CREATE FUNCTION classes() RETURNS TABLE (n bigint, typ text, expr text) LANGUAGE sql AS $$
SELECT row_number() OVER (), * FROM (VALUES
	('smallint', 'i * 37 % 200 - 100'), ('int', 'i * 37 % 200 - 100'), ('bigint', '(i * 37 % 200 - 100) * 10000000000'),
	('numeric', 'CASE i % 20 WHEN 0 THEN ''NaN'' WHEN 1 THEN ''Infinity'' WHEN 2 THEN ''-Infinity'' WHEN 3 THEN 1e200 * i ELSE (i * 37 % 90 - 45)::numeric / (ARRAY[1, 10, 1000])[1 + i % 3] END'),
	('real', 'CASE i % 20 WHEN 0 THEN ''NaN'' WHEN 1 THEN ''Infinity'' WHEN 2 THEN ''-Infinity'' WHEN 3 THEN 0 ELSE (i * 37 % 90 - 45) / 4.0 END::real'),
	('double precision', 'CASE i % 20 WHEN 0 THEN ''NaN'' WHEN 1 THEN ''1e-300'' WHEN 2 THEN ''Infinity'' WHEN 3 THEN 0 ELSE (i * 37 % 90 - 45) / 3.0 END::float8'),
	('boolean', 'i % 3 = 0'), ('date', 'CASE i % 20 WHEN 0 THEN ''infinity'' WHEN 1 THEN ''-infinity'' ELSE date ''2000-01-01'' + i * 37 % 200 - 100 END'),
	('oid', '(CASE WHEN i % 2 = 0 THEN 4294967000 ELSE 0 END + i * 37 % 100)::oid'), ('time', 'time ''00:00'' + (i * 37 % 200) * interval ''7 minutes'''),
	('timestamp', 'CASE i % 20 WHEN 0 THEN ''infinity'' WHEN 1 THEN ''-infinity'' ELSE timestamp ''2000-01-01'' + (i * 37 % 200 - 100) * interval ''7 hours'' END'),
	('timestamptz', 'timestamptz ''2000-01-01'' + (i * 37 % 200 - 100) * interval ''7 hours'''),
	('uuid', 'md5((i % 200)::text)::uuid'), ('bytea', 'decode(repeat(''ab'', i % 40) || md5((i % 200)::text), ''hex'')'),
	('text COLLATE "C"', 'repeat(''prefix'', i % 2 * 20) || chr(32 + i * 37 % 90) || chr(300 + i % 50)'), ('varchar COLLATE "C"', 'repeat(''x'', i % 30)'),
	('char(12) COLLATE "POSIX"', 'CASE i % 4 WHEN 0 THEN ''a b'' WHEN 1 THEN ''a'' WHEN 2 THEN ''a'' || chr(9) ELSE chr(33 + i % 90) END'),
	('posint', 'i * 37 % 200 - 100'), ('text COLLATE "en-x-icu"', 'CASE WHEN i % 2 = 0 THEN ''a'' ELSE ''B'' END || i % 10'),
	('text', '''key '' || i % 100')) x $$;
DO $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT * FROM classes() LOOP
		EXECUTE format('CREATE TABLE c%s_h (k %s, i int)', c.n, c.typ);
		EXECUTE format('INSERT INTO c%s_h SELECT CASE WHEN i %% 40 = 0 THEN NULL ELSE (%s) END, i FROM generate_series(1, 1500) i', c.n, c.expr);
		EXECUTE format('CREATE FOREIGN TABLE c%s_b (g int, k %s, i int) SERVER bucketfdw OPTIONS (bucket_by ''k'', buckets ''8'', sort_by ''k, i desc'', block_rows ''32'')', c.n, c.typ);
		EXECUTE format('CREATE FOREIGN TABLE d%s_b (g int, k %s, i int) SERVER bucketfdw OPTIONS (bucket_by ''g'', buckets ''8'', sort_by ''g, k desc, i'', block_rows ''32'')', c.n, c.typ);
		FOR r IN 0..2 LOOP
			EXECUTE format('INSERT INTO c%s_b SELECT i %% 7, * FROM c%1$s_h WHERE i %% 3 = %s', c.n, r);
			EXECUTE format('INSERT INTO d%s_b SELECT i %% 7, * FROM c%1$s_h WHERE i %% 3 = %s', c.n, r);
		END LOOP;
		EXECUTE format('DROP TABLE c%s_h; CREATE TABLE c%1$s_h AS SELECT * FROM c%1$s_b; CREATE TABLE d%1$s_h AS SELECT * FROM c%1$s_b', c.n);
		EXECUTE format('ANALYZE c%s_b, c%1$s_h, d%1$s_b, d%1$s_h', c.n);
	END LOOP;
END
$$;
SELECT typ, same_order(format('SELECT k, i FROM c%s_b ORDER BY k, i DESC', n)) whole, same_order(format('SELECT k FROM c%s_b ORDER BY k LIMIT 50', n)) few,
	same_order(format('SELECT g, k, i FROM d%s_b ORDER BY g, k DESC, i', n)) behind, unsorted(format('SELECT k FROM c%s_b ORDER BY k', n)) key_unsorted,
	unsorted(format('SELECT g, k FROM d%s_b ORDER BY g, k DESC', n)) behind_unsorted
FROM classes() ORDER BY n;
SELECT typ, same_order(format('SELECT k, i FROM c%s_b WHERE k > (SELECT k FROM c%1$s_b WHERE i = 7) ORDER BY k, i DESC', n)) above,
	same_order(format('SELECT k, i FROM c%s_b WHERE k <= (SELECT k FROM c%1$s_b WHERE i = 33) ORDER BY k, i DESC', n)) below,
	same_order(format('SELECT k, i FROM c%s_b WHERE k >= (SELECT k FROM c%1$s_b WHERE i = 33) AND i > 9 ORDER BY k, i DESC', n)) since,
	same_order(format('SELECT k, i FROM c%s_b WHERE k < (SELECT k FROM c%1$s_b WHERE i = 34) ORDER BY k, i DESC', n)) under,
	same_order(format('SELECT k, i FROM c%s_b WHERE k = (SELECT k FROM c%1$s_b WHERE i = 57) AND i < 1200 ORDER BY k, i DESC', n)) at,
	same_order(format('SELECT k, i FROM c%s_b WHERE k IN (SELECT k FROM c%1$s_b WHERE i < 9) ORDER BY k, i DESC', n)) "in"
FROM classes() ORDER BY n;
-- another collation than the column's
SELECT unsorted('SELECT k FROM c19_b ORDER BY k COLLATE "C"'), same_order('SELECT k FROM c19_b ORDER BY k COLLATE "C"'),
	unsorted('SELECT k FROM c15_b ORDER BY k COLLATE "en-x-icu"'), same_order('SELECT k, i FROM c15_b ORDER BY k COLLATE "en-x-icu", k COLLATE "C", i');

-- partitions: the append merges their orders
CREATE TABLE part_b (k int, d int, v int) PARTITION BY RANGE (d);
CREATE FOREIGN TABLE p1_b PARTITION OF part_b FOR VALUES FROM (0) TO (10) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE FOREIGN TABLE p2_b (v int, d int, k int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '6');
ALTER TABLE part_b ATTACH PARTITION p2_b FOR VALUES FROM (10) TO (20);
CREATE TABLE p3_b PARTITION OF part_b FOR VALUES FROM (20) TO (30);
CREATE INDEX ON p3_b (k);
CREATE TABLE part_h (k int, d int, v int);
INSERT INTO part_h SELECT NULLIF(i * 7919 % 300, 5), i % 30, i FROM generate_series(1, 6000) i;
INSERT INTO part_b SELECT * FROM part_h;
ANALYZE part_b, part_h;
SET enable_sort = off;
SELECT nodes('SELECT k FROM part_b ORDER BY k LIMIT 20', false);
RESET enable_sort;
SELECT same_order('SELECT k FROM part_b ORDER BY k'), same_order('SELECT k FROM part_b WHERE k > 100 ORDER BY k LIMIT 20'), same_order('SELECT min(k) FROM part_b');
SET enable_hashjoin = off;
SET enable_mergejoin = off;
CREATE TABLE few AS SELECT * FROM (VALUES (7), (NULL), (299)) x(x);
ANALYZE few;
SET enable_bitmapscan = off;
SELECT nodes('SELECT * FROM few, part_b WHERE k = x', false), same('SELECT * FROM few, part_b WHERE k = x');
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_bitmapscan;

-- an empty table, a table whose rows this transaction wrote
CREATE FOREIGN TABLE e_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE e_h (k int, v int);
SET enable_sort = off;
SELECT same_order('SELECT k FROM e_b ORDER BY k'), same_order('SELECT min(k) FROM e_b');
BEGIN;
INSERT INTO e_b VALUES (3, 1), (NULL, 2), (-4, 3), (12, 4);
INSERT INTO e_b VALUES (2, 1), (NULL, 2), (-40, 3), (3, 4);
SELECT k FROM e_b ORDER BY k;
ROLLBACK;
RESET enable_sort;

DROP TABLE part_b, part_h, few, s_h, s2_h, a_h, m_h, e_h;
DROP FOREIGN TABLE s_b, a_b, m_b, e_b;
DO $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT * FROM classes() LOOP
		EXECUTE format('DROP FOREIGN TABLE c%s_b, d%1$s_b; DROP TABLE c%1$s_h, d%1$s_h', c.n);
	END LOOP;
END
$$;
DROP FUNCTION same_order, unsorted, classes, whole_heap;
DROP DOMAIN posint;

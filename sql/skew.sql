-- Large bucket groups are cut into units by key, hot keys into slices: the answers stay the same.
-- a: half of all rows have one key, a fifth none; b: duplicates of all keys, hot ones too; several runs each
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
CREATE TABLE a_h (k int, v int, t text);
INSERT INTO a_h SELECT CASE WHEN i % 5 = 0 THEN NULL WHEN i % 2 = 0 THEN 7 WHEN i % 11 = 0 THEN 300 ELSE i % 450 END, i, 't' || i % 50 FROM generate_series(1, 900) i;
CREATE TABLE b_h (k bigint, w int);
INSERT INTO b_h SELECT CASE WHEN i % 6 = 0 THEN NULL WHEN i % 16 = 1 THEN 300 WHEN i % 50 = 2 THEN 7 ELSE i % 600 END, i FROM generate_series(1, 450) i;
CREATE TABLE c_h (k smallint, z int); INSERT INTO c_h SELECT CASE WHEN i % 9 > 2 THEN i END, i FROM generate_series(-20, 500) i;
INSERT INTO c_h SELECT 7, i FROM generate_series(1, 40) i;
CREATE TABLE m_h (k1 int, k2 date, v int);
INSERT INTO m_h SELECT CASE WHEN i % 13 = 0 THEN NULL WHEN i % 2 = 0 THEN 1 ELSE i % 4 END, CASE WHEN i % 7 = 0 THEN NULL WHEN i % 3 = 0 THEN date '2026-01-02' ELSE date '2026-01-01' + i % 20 END, i FROM generate_series(1, 900) i;
CREATE TABLE n_h (k1 bigint, k2 date, w int);
INSERT INTO n_h SELECT CASE WHEN i % 11 = 0 THEN NULL ELSE i % 4 END, CASE WHEN i % 8 = 0 THEN NULL WHEN i % 5 = 0 THEN date '2026-01-02' ELSE date '2026-01-01' + i % 25 END, i FROM generate_series(1, 400) i;
CREATE TABLE s_h (k text COLLATE "C", v int);
INSERT INTO s_h SELECT CASE WHEN i % 10 = 0 THEN NULL WHEN i % 2 = 0 THEN repeat('long ', 30) || 'hot' WHEN i % 3 = 0 THEN repeat('long ', 30) || i % 40 ELSE 'k' || i % 90 END, i FROM generate_series(1, 900) i;
CREATE TABLE u_h (k varchar(300) COLLATE "C", w int);
INSERT INTO u_h SELECT CASE WHEN i % 12 = 0 THEN NULL WHEN i % 25 = 1 THEN repeat('long ', 30) || 'hot' WHEN i % 4 = 1 THEN 'k7' WHEN i % 3 = 0 THEN repeat('long ', 30) || i % 60 ELSE 'k' || i % 90 END, i FROM generate_series(1, 400) i;
CREATE TABLE e_h (k int, z int);
CREATE TABLE p_h (k int, d int, x int);
INSERT INTO p_h SELECT CASE WHEN i % 7 = 0 THEN NULL WHEN i % 3 = 0 THEN 7 ELSE i % 500 END, i % 200, i FROM generate_series(1, 900) i;

CREATE FOREIGN TABLE a_b (k int, v int, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '10', sort_by 'k, v desc');
CREATE FOREIGN TABLE b_b (k bigint, w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '6', block_rows '7');
CREATE FOREIGN TABLE c_b (k smallint, z int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1', block_rows '9');
CREATE FOREIGN TABLE m_b (k1 int, k2 date, v int) SERVER bucketfdw OPTIONS (bucket_by 'k1, k2', buckets '3', block_rows '8');
CREATE FOREIGN TABLE n_b (k1 bigint, k2 date, w int) SERVER bucketfdw OPTIONS (bucket_by 'k1, k2', buckets '9', block_rows '5');
CREATE FOREIGN TABLE s_b (k text COLLATE "C", v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2', block_rows '8');
CREATE FOREIGN TABLE u_b (k varchar(300) COLLATE "C", w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '6');
CREATE FOREIGN TABLE e_b (k int, z int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE TABLE p_b (k int, d int, x int) PARTITION BY RANGE (d);
CREATE FOREIGN TABLE p1 PARTITION OF p_b FOR VALUES FROM (0) TO (100) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2', block_rows '11');
CREATE FOREIGN TABLE p2 (d int, x int, k int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '6');
ALTER TABLE p_b ATTACH PARTITION p2 FOR VALUES FROM (100) TO (200);
INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 = 0; INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 = 1; INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 = 2;
INSERT INTO b_b SELECT * FROM b_h WHERE w % 2 = 0; INSERT INTO b_b SELECT * FROM b_h WHERE w % 2 = 1;
INSERT INTO c_b SELECT * FROM c_h;
INSERT INTO m_b SELECT * FROM m_h WHERE v > 100; INSERT INTO m_b SELECT * FROM m_h WHERE v <= 100; INSERT INTO n_b SELECT * FROM n_h;
INSERT INTO s_b SELECT * FROM s_h WHERE v > 100; INSERT INTO s_b SELECT * FROM s_h WHERE v <= 100; INSERT INTO u_b SELECT * FROM u_h;
INSERT INTO p_b SELECT * FROM p_h;
ANALYZE a_h; ANALYZE b_h; ANALYZE c_h; ANALYZE p_h; ANALYZE m_h; ANALYZE n_h; ANALYZE s_h; ANALYZE u_h;
ANALYZE a_b; ANALYZE b_b; ANALYZE c_b; ANALYZE p_b; ANALYZE m_b; ANALYZE n_b; ANALYZE s_b; ANALYZE u_b;

SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
CREATE TABLE q (n int GENERATED ALWAYS AS IDENTITY, q text);
-- every join type on every pair of tables, with and without a condition beside the key
INSERT INTO q (q)
SELECT format(shape, x, y, eq, more)
FROM (VALUES ('a_b', 'b_b', 'x.k = y.k', 'x.v > y.w'), ('b_b', 'a_b', 'x.k = y.k', 'x.w > y.v'), ('c_b', 'a_b', 'x.k = y.k', 'x.z > y.v'),
	('m_b', 'n_b', 'x.k1 = y.k1 AND x.k2 = y.k2', 'x.v > y.w'), ('s_b', 'u_b', 'x.k = y.k', 'x.v > y.w'), ('p_b', 'b_b', 'x.k = y.k', 'x.x > y.w'),
	('a_b', 'e_b', 'x.k = y.k', 'x.v > y.z'), ('e_b', 'a_b', 'x.k = y.k', 'x.z > y.v')) t (x, y, eq, cond),
	(VALUES (1, 'SELECT x.*, y.* FROM %s x JOIN %s y ON %s%s'), (2, 'SELECT x.*, y.* FROM %s x LEFT JOIN %s y ON %s%s'),
	(3, 'SELECT x.*, y.* FROM %s x FULL JOIN %s y ON %s%s'), (4, 'SELECT x.* FROM %s x WHERE EXISTS (SELECT FROM %s y WHERE %s%s)'),
	(5, 'SELECT x.* FROM %s x WHERE NOT EXISTS (SELECT FROM %s y WHERE %s%s)')) s (n, shape),
	LATERAL (VALUES (''), (' AND ' || cond)) c (more)
WHERE more = '' OR (x IN ('a_b', 'm_b') AND y <> 'e_b');
-- chains, partitions, aggregates, quals, subqueries
INSERT INTO q (q) VALUES
('SELECT v, w, z FROM a_b JOIN b_b USING (k) JOIN c_b USING (k)'),
('SELECT v, w, z FROM a_b LEFT JOIN b_b USING (k) LEFT JOIN c_b USING (k)'),
('SELECT v, w, z FROM a_b LEFT JOIN (b_b JOIN c_b USING (k)) USING (k)'),
('SELECT v, w FROM a_b JOIN b_b USING (k) WHERE NOT EXISTS (SELECT FROM c_b c WHERE c.k = a_b.k AND c.z > a_b.v)'),
('SELECT v, w FROM a_b a JOIN b_b b USING (k) WHERE EXISTS (SELECT FROM c_b c WHERE c.k = b.k)'),
('SELECT v, w, z FROM (a_b FULL JOIN b_b USING (k)) LEFT JOIN c_b ON c_b.z = v'),
('SELECT v, x FROM a_b LEFT JOIN p_b USING (k) WHERE d < 90 OR d IS NULL'),
('SELECT x, w, z FROM p_b JOIN b_b USING (k) LEFT JOIN c_b USING (k)'),
('SELECT count(*), sum(v), min(v), max(w) FROM a_b JOIN b_b USING (k)'),
('SELECT count(*), sum(v), min(v), max(w) FROM a_b LEFT JOIN b_b USING (k)'),
('SELECT count(*), count(v), max(w) FROM a_b FULL JOIN b_b USING (k)'),
('SELECT count(*), sum(x) FROM p_b JOIN b_b USING (k)'),
('SELECT count(*), sum(x), max(d) FROM p_b'),
('SELECT sum(v), count(DISTINCT t) FROM a_b JOIN b_b USING (k)'),
('SELECT t, count(*), sum(w) FROM a_b JOIN b_b USING (k) GROUP BY t'),
('SELECT count(*), sum(v), max(t) FROM a_b'),
('SELECT count(*), min(v) FROM a_b WHERE k = 7 AND v % 3 = 1'),
('SELECT v, t FROM a_b WHERE v % 7 = 3'),
('SELECT k, count(*), sum(v) FROM a_b GROUP BY k'),
('SELECT k, count(*), sum(x) FROM p_b GROUP BY k'),
('SELECT k1, k2, count(*), max(v) FROM m_b GROUP BY k1, k2'),
('SELECT k, count(*), max(v) FROM s_b GROUP BY k'),
('SELECT k, count(*), string_agg(v::text, '','' ORDER BY v) FROM a_b GROUP BY k'),
('SELECT a.k, count(*), sum(w) FROM a_b a JOIN b_b b USING (k) GROUP BY a.k HAVING count(*) > 2'),
('SELECT a.k, count(*), max(t) FROM a_b a LEFT JOIN b_b b USING (k) GROUP BY a.k'),
('SELECT count(*), sum(c) FROM (SELECT k, count(*) c FROM a_b GROUP BY k) s'),
('SELECT c, count(*) FROM (SELECT k, count(*) c FROM a_b JOIN b_b USING (k) GROUP BY k) s GROUP BY c'),
('SELECT DISTINCT k FROM a_b'),
('SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v, w) FROM a_b JOIN b_b USING (k) WHERE v < 300'),
('SELECT v, w FROM a_b JOIN b_b USING (k) WHERE k = 7 AND v BETWEEN 100 AND 500'),
('SELECT v, w FROM a_b a LEFT JOIN b_b b ON a.k = b.k AND w > 300 WHERE a.k BETWEEN 5 AND 200 OR a.k IS NULL'),
('SELECT v, w FROM a_b a JOIN b_b b USING (k) WHERE a.k > 6 AND b.k < 301'),
('SELECT s.z, (SELECT sum(v) FROM a_b a JOIN b_b b USING (k) WHERE a.v > s.z) FROM c_b s WHERE z BETWEEN 3 AND 6'),
('SELECT s.z, l.n FROM c_b s, LATERAL (SELECT count(*) n FROM a_b a LEFT JOIN b_b b ON a.k = b.k AND b.w < s.z) l WHERE z IN (100, 200, 300)'),
('SELECT k, v, w FROM a_b JOIN b_b USING (k) ORDER BY k, v, w LIMIT 60'),
('SELECT count(*) FROM (SELECT 1 FROM a_b JOIN b_b USING (k) LIMIT 50) s');
CREATE TABLE heap AS SELECT n, answer(regexp_replace(q, '(\w)_b\M', '\1_h', 'g'))::text AS a FROM q;
-- the queries (every step-th of them) whose answer is not the heap's
CREATE FUNCTION wrong(unit_rows int, workers int, step int DEFAULT 1, stock boolean DEFAULT false) RETURNS SETOF q LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('bucketfdw.debug_unit_rows', unit_rows::text, true), set_config('max_parallel_workers_per_gather', workers::text, true);
	PERFORM set_config(s, CASE WHEN stock THEN 'on' ELSE 'off' END, true) FROM unnest(ARRAY['enable_hashjoin', 'enable_nestloop', 'enable_mergejoin', 'enable_hashagg', 'enable_sort']) s;
	PERFORM set_config('bucketfdw.enable', CASE WHEN stock THEN 'off' ELSE 'on' END, true);
	RETURN QUERY SELECT q.* FROM q JOIN heap USING (n) WHERE (n + workers) % step = 0 AND answer(q.q)::text IS DISTINCT FROM heap.a;
END
$$;
SELECT count(*) FROM q;
SELECT * FROM wrong(0, 0, 5, true);
-- one process: parts are cut only where it is asked for
SELECT * FROM wrong(0, 0, 7); SELECT * FROM wrong(1, 0, 4); SELECT * FROM wrong(60, 0);
-- several: by what there is for each
SELECT * FROM wrong(0, 2, 6); SELECT * FROM wrong(0, 4, 9); SELECT * FROM wrong(25, 1, 9);
-- what is cut: keys that must stay in one unit are not sliced
SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_mergejoin = off; SET enable_hashagg = off; SET enable_sort = off;
SET max_parallel_workers_per_gather = 0;
CREATE FUNCTION units(q text, OUT whole text, OUT by_400 text, OUT by_60 text, OUT by_1 text) LANGUAGE plpgsql AS $$
BEGIN
	whole := measured(q, 'Units');
	PERFORM set_config('bucketfdw.debug_unit_rows', '400', true); by_400 := measured(q, 'Units');
	PERFORM set_config('bucketfdw.debug_unit_rows', '60', true); by_60 := measured(q, 'Units');
	PERFORM set_config('bucketfdw.debug_unit_rows', '1', true); by_1 := measured(q, 'Units');
	PERFORM set_config('bucketfdw.debug_unit_rows', '0', true);
END
$$;
SELECT what, u.* FROM (VALUES
	(1, 'inner', 'SELECT v, w FROM a_b JOIN b_b USING (k)'),
	(2, 'left', 'SELECT v, w FROM a_b LEFT JOIN b_b USING (k)'),
	(3, 'full', 'SELECT v, w FROM a_b FULL JOIN b_b USING (k)'),
	(4, 'semi', 'SELECT v FROM a_b WHERE EXISTS (SELECT FROM b_b WHERE a_b.k = b_b.k)'),
	(5, 'anti', 'SELECT v FROM a_b WHERE NOT EXISTS (SELECT FROM b_b WHERE a_b.k = b_b.k)'),
	(6, 'chain', 'SELECT v, w, z FROM a_b JOIN b_b USING (k) JOIN c_b USING (k)'),
	(7, 'groups', 'SELECT a_b.k, string_agg(t, t) FROM a_b JOIN b_b USING (k) GROUP BY 1'),
	(8, 'groups in batches', 'SELECT a_b.k, count(*) FROM a_b JOIN b_b USING (k) GROUP BY 1'),
	(9, 'one group', 'SELECT count(*) FROM a_b JOIN b_b USING (k)'),
	(10, 'two columns', 'SELECT v, w FROM m_b JOIN n_b USING (k1, k2)'),
	(11, 'long text', 'SELECT v, w FROM s_b JOIN u_b USING (k)'),
	(12, 'partitions', 'SELECT x, w FROM p_b JOIN b_b USING (k)'),
	(13, 'few keys', 'SELECT v, w FROM a_b a JOIN b_b b USING (k) WHERE a.k BETWEEN 6 AND 8'),
	(14, 'nothing', 'SELECT v, z FROM a_b JOIN e_b USING (k)')) s (n, what, q), units(q) u ORDER BY n;
-- the largest unit, by its own words and by those of all processes; times are there, and in order
CREATE FUNCTION largest(q text, OUT bucket text, OUT part text, OUT share text, OUT times boolean) LANGUAGE plpgsql AS $$
DECLARE
	plan text;
	t numeric[];
BEGIN
	bucket := measured(q, 'Largest Unit Bucket'); part := measured(q, 'Largest Unit Is Part'); share := measured(q, 'Largest Unit Share');
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON, COSTS OFF) ' || q INTO plan;
	SELECT array_agg((regexp_match(plan, '"Unit Time ' || w || '": ([0-9.]+)'))[1]::numeric) INTO t FROM unnest(ARRAY['Min', 'Median', 'Max']) w;
	times := t[1] >= 0 AND t[1] <= t[2] AND t[2] <= t[3];
END
$$;
CREATE TABLE e (what text, q text);
INSERT INTO e VALUES ('inner', 'SELECT v, w FROM a_b JOIN b_b USING (k)'), ('one group', 'SELECT count(*) FROM a_b JOIN b_b USING (k)'),
('groups', 'SELECT k, count(*) FROM a_b GROUP BY k'), ('groups of rows', 'SELECT k, string_agg(t, t) FROM a_b GROUP BY k'),
('rescans', 'SELECT (SELECT count(*) FROM a_b JOIN b_b USING (k) WHERE v > z) FROM c_b WHERE z < 3'), ('no files', 'SELECT v, z FROM a_b JOIN e_b USING (k)');
SELECT what, l.* FROM e, largest(q) l;
SET bucketfdw.debug_unit_rows = 60;
SELECT what, l.* FROM e, largest(q) l;
RESET bucketfdw.debug_unit_rows; SET max_parallel_workers_per_gather = 2;
SELECT what, l.* FROM e, largest(q) l WHERE what <> 'rescans';
SET max_parallel_workers_per_gather = 0;
CREATE FUNCTION unit_lines(q text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, SUMMARY OFF) ' || q LOOP
		IF line ~ 'Unit' THEN RETURN NEXT regexp_replace(trim(line), '[0-9]+\.[0-9]{3}', 'N', 'g'); END IF;
	END LOOP;
END
$$;
SELECT unit_lines('SELECT k, count(*) FROM s_b GROUP BY k');
-- blocks astride a cut are read twice, rows on the other side count for nothing
SELECT measured('SELECT count(*) FROM a_b JOIN b_b USING (k) WHERE v % 2 = 0', 'Rows Removed by Filter') AS removed; SET bucketfdw.debug_unit_rows = 13;
SELECT measured('SELECT count(*) FROM a_b JOIN b_b USING (k) WHERE v % 2 = 0', 'Rows Removed by Filter') AS removed;
-- generic plans, cursors, rows of this transaction
PREPARE p (int) AS SELECT count(*), sum(v), sum(w) FROM a_b LEFT JOIN b_b USING (k) WHERE v > $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE p (300); EXECUTE p (900); EXECUTE p (NULL);
RESET bucketfdw.debug_unit_rows; SET max_parallel_workers_per_gather = 2;
EXECUTE p (300); EXECUTE p (900); EXECUTE p (NULL);
SELECT count(*), sum(v), sum(w) FROM a_h LEFT JOIN b_h USING (k) WHERE v > 300;
BEGIN;
INSERT INTO a_b SELECT 7, -i, 'new' FROM generate_series(1, 100) i; INSERT INTO a_h SELECT 7, -i, 'new' FROM generate_series(1, 100) i;
SAVEPOINT s; INSERT INTO a_b SELECT 7, -i, 'gone' FROM generate_series(1, 100) i; ROLLBACK TO s;
SELECT same('SELECT count(*), sum(v), min(v) FROM a_b JOIN b_b USING (k)');
SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL bucketfdw.debug_unit_rows = 9;
SELECT same('SELECT v, w FROM a_b LEFT JOIN b_b USING (k)');
DECLARE c CURSOR FOR SELECT a_b.k = b_b.k AS fits FROM a_b JOIN b_b USING (k);
FETCH 1 FROM c; MOVE 2000 IN c; FETCH 1 FROM c; CLOSE c;
COMMIT;
SET client_min_messages = warning;
DROP TABLE a_h, b_h, c_h, m_h, n_h, s_h, u_h, e_h, p_h, p_b, q, e, heap CASCADE; DROP FOREIGN TABLE a_b, b_b, c_b, m_b, n_b, s_b, u_b, e_b;
DROP FUNCTION units, largest, unit_lines;

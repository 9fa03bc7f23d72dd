-- Rows that are deleted: every kind of reader, against heap tables of which the same rows were deleted.
SET bucketfdw.upkeep = off;
SET client_min_messages = warning;
CREATE SCHEMA deleted;
SET search_path = deleted, public;

-- Of these queries those that go wrong: with plans as they come, and forced into workers that share small units.
CREATE TABLE queries (query text);
CREATE FUNCTION wrong(workers boolean DEFAULT false) RETURNS SETOF text LANGUAGE plpgsql SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
	q text;
	said text;
BEGIN
	FOR q IN SELECT query FROM queries LOOP
		said := same(q);
		IF said NOT LIKE 'same%' THEN
			RETURN NEXT q || ': ' || said;
		END IF;
		CONTINUE WHEN NOT workers;
		PERFORM set_config('max_parallel_workers_per_gather', '2', true), set_config('parallel_setup_cost', '0', true),
			set_config('parallel_tuple_cost', '0', true), set_config('min_parallel_table_scan_size', '0', true),
			set_config('bucketfdw.debug_unit_rows', '60', true);
		IF answer(q) IS DISTINCT FROM answer(regexp_replace(q, '(\w)_b\M', '\1_h', 'g')) THEN
			RETURN NEXT q || ': WRONG in parallel';
		END IF;
		PERFORM set_config('max_parallel_workers_per_gather', '0', true), set_config('parallel_setup_cost', '1000', true),
			set_config('parallel_tuple_cost', '0.1', true), set_config('min_parallel_table_scan_size', '1024', true),
			set_config('bucketfdw.debug_unit_rows', '0', true);
	END LOOP;
END
$$;
-- Delete from a bucketed table and its copy, and ask all queries.
CREATE FUNCTION gone(tab text, where_clause text, workers boolean DEFAULT false) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	m bigint;
BEGIN
	EXECUTE format('DELETE FROM %s_b WHERE %s', tab, where_clause);
	GET DIAGNOSTICS n = ROW_COUNT;
	EXECUTE format('DELETE FROM %s_h WHERE %s', tab, where_clause);
	GET DIAGNOSTICS m = ROW_COUNT;
	RETURN NEXT format('%s rows deleted%s', n, CASE WHEN n <> m THEN format(', of the heap %s', m) END);
	RETURN QUERY SELECT * FROM wrong(workers);
	RETURN QUERY SELECT concat_ws(': ', file, problem, detail) FROM bucketfdw.verify((tab || '_b')::regclass);
END
$$;

-- o: three runs of each bucket, and rows inline; keys have several rows, some have none, some rows have no key
CREATE FOREIGN TABLE o_b (c int, o int, amount numeric(10,2), d date, note text) SERVER bucketfdw
	OPTIONS (bucket_by 'c', buckets '4', sort_by 'c, o', block_rows '100');
CREATE TABLE o_h (c int, o int, amount numeric(10,2), d date, note text);
SET bucketfdw.inline_limit = 0;
INSERT INTO o_b SELECT CASE WHEN i % 50 > 0 THEN i * i % 300 END, i, (i % 977) / 100.0, date '2026-01-01' + i % 90, nullif('note ' || i % 13, 'note 5') FROM generate_series(1, 1500) i;
INSERT INTO o_b SELECT i % 400, i, (i % 977) / 100.0, date '2026-01-01' + i % 90, 'note' FROM generate_series(1501, 3000) i;
INSERT INTO o_b SELECT 7, i, 0.01, date '2026-02-01', NULL FROM generate_series(3001, 3600) i;
RESET bucketfdw.inline_limit;
INSERT INTO o_b SELECT i % 300, i, 1.5, date '2026-03-01', 'inline' FROM generate_series(3601, 3650) i;
INSERT INTO o_h SELECT * FROM o_b;
-- c: one run of each bucket, another number of them
CREATE FOREIGN TABLE c_b (c bigint, region text, f float8) SERVER bucketfdw OPTIONS (bucket_by 'c', buckets '8', block_rows '50');
SET bucketfdw.inline_limit = 0;
INSERT INTO c_b SELECT i, 'region ' || i % 5, i / 4.0 FROM generate_series(1, 350) i;
RESET bucketfdw.inline_limit;
CREATE TABLE c_h AS SELECT * FROM c_b;
-- p: two partitions in buckets, one that is not; x: neither bucketed nor changed
CREATE TABLE p_b (c int, d int, v int) PARTITION BY RANGE (d);
CREATE FOREIGN TABLE p_1 PARTITION OF p_b FOR VALUES FROM (0) TO (100) SERVER bucketfdw OPTIONS (bucket_by 'c', buckets '2');
CREATE FOREIGN TABLE p_2 PARTITION OF p_b FOR VALUES FROM (100) TO (200) SERVER bucketfdw OPTIONS (bucket_by 'c', buckets '4', block_rows '30');
CREATE TABLE p_3 PARTITION OF p_b FOR VALUES FROM (200) TO (300);
INSERT INTO p_b SELECT i % 200, i % 300, i FROM generate_series(1, 900) i;
CREATE TABLE p_h AS SELECT * FROM p_b;
CREATE TABLE x AS SELECT i % 250 AS x, i AS y FROM generate_series(1, 500) i;
ANALYZE o_h, c_h, p_h, x;

INSERT INTO queries VALUES
	('SELECT count(*) FROM o_b'),
	('SELECT * FROM o_b'),
	('SELECT count(*), count(c), count(note), sum(o), sum(amount), avg(amount), min(o), max(o), min(c), max(c), min(amount), max(d), min(note), max(note) FROM o_b'),
	('SELECT sum(f), min(f), max(f), avg(f), count(DISTINCT region) FROM c_b'),
	('SELECT count(*), sum(amount) FROM o_b WHERE d < date ''2026-02-10'' AND o % 3 = 1'),
	('SELECT count(*) FROM o_b WHERE c IS NULL'),
	('SELECT c, count(*), sum(amount), max(o) FROM o_b GROUP BY c'),
	('SELECT c, count(*) FROM o_b GROUP BY c HAVING count(*) > 3'),
	('SELECT note, count(*), sum(o), min(c) FROM o_b GROUP BY note'),
	('SELECT DISTINCT c FROM o_b'),
	('SELECT n, count(*) FROM (SELECT c, count(*) AS n FROM o_b GROUP BY c) s GROUP BY n'),
	('SELECT * FROM o_b WHERE c = 7'),
	('SELECT * FROM o_b WHERE c = 100'),
	('SELECT * FROM o_b WHERE c = 0 AND o < 1000'),
	('SELECT * FROM o_b WHERE c IN (1, 4, 100, 299, 1000)'),
	('SELECT * FROM o_b WHERE c = ANY (''{7,8,9}'') AND note IS NULL'),
	('SELECT * FROM o_b WHERE c BETWEEN 90 AND 120'),
	('SELECT o, note FROM o_b WHERE o IN (1, 1501, 3001, 3601, 3650)'),
	('SELECT c, o FROM (SELECT * FROM o_b ORDER BY c, o LIMIT 40) s'),
	('SELECT c, o FROM (SELECT * FROM o_b WHERE c > 60 ORDER BY c, o LIMIT 1) s'),
	('SELECT c, o FROM (SELECT * FROM o_b ORDER BY c, o OFFSET 3000) s'),
	('SELECT c, o, row_number() OVER (PARTITION BY c ORDER BY o) FROM o_b'),
	('SELECT min(c), max(c) FROM o_b WHERE c < 200'),
	('SELECT count(*) FROM o_b JOIN c_b USING (c)'),
	('SELECT count(*), sum(amount), sum(f) FROM o_b JOIN c_b USING (c)'),
	('SELECT count(*), count(o_b.c), count(c_b.c) FROM o_b LEFT JOIN c_b USING (c)'),
	('SELECT count(*), count(o_b.c), count(c_b.c), sum(f) FROM o_b RIGHT JOIN c_b USING (c)'),
	('SELECT count(*), sum(amount), sum(f) FROM o_b FULL JOIN c_b USING (c)'),
	('SELECT * FROM o_b o FULL JOIN c_b c ON o.c = c.c'),
	('SELECT * FROM c_b WHERE EXISTS (SELECT FROM o_b WHERE o_b.c = c_b.c)'),
	('SELECT * FROM c_b WHERE NOT EXISTS (SELECT FROM o_b WHERE o_b.c = c_b.c)'),
	('SELECT * FROM o_b WHERE NOT EXISTS (SELECT FROM c_b WHERE o_b.c = c_b.c)'),
	('SELECT count(*) FROM o_b WHERE c IN (SELECT c FROM c_b WHERE region <> ''region 1'')'),
	('SELECT region, count(*), sum(amount) FROM o_b JOIN c_b USING (c) GROUP BY region'),
	('SELECT c, count(*), max(note) FROM o_b JOIN c_b USING (c) GROUP BY c'),
	('SELECT count(*), sum(a.amount) FROM o_b a JOIN o_b b USING (c) WHERE a.note <> ''note'''),
	('SELECT count(*) FROM o_b a JOIN o_b b USING (c) JOIN c_b USING (c)'),
	('SELECT c_b.c, s.o FROM c_b CROSS JOIN LATERAL (SELECT o FROM o_b WHERE o_b.c = c_b.c ORDER BY o DESC LIMIT 2) s'),
	('SELECT c, (SELECT count(*) FROM o_b WHERE o_b.c = c_b.c) FROM c_b'),
	('SELECT count(*) FROM (VALUES (7), (8), (100), (299)) v (c) JOIN o_b USING (c)'),
	('SELECT count(*), sum(amount), sum(y) FROM x JOIN o_b ON x = c'),
	('SELECT count(*), sum(f) FROM x RIGHT JOIN c_b ON x = c'),
	('SELECT count(*), sum(f), sum(amount) FROM o_b JOIN c_b ON o_b.o = c_b.c'),
	('SELECT count(*), sum(v), sum(amount) FROM p_b JOIN o_b USING (c)'),
	('SELECT c, count(*), sum(v) FROM p_b GROUP BY c'),
	('SELECT * FROM p_b WHERE c IN (3, 4, 100)'),
	('SELECT count(*) FROM p_b a FULL JOIN c_b b USING (c)');
SELECT * FROM wrong();
-- one row of each run, and one inline
SELECT * FROM gone('o', 'o IN (2, 1502, 3002, 3602)');
-- some
SELECT * FROM gone('o', 'o % 10 = 3', true);
SELECT max_runs, rows = (SELECT count(*) FROM o_h), deleted_rows FROM bucketfdw.tables WHERE relid = 'o_b'::regclass;
SELECT sum(rows) = (SELECT count(*) FROM o_h WHERE o <= 3600), sum(deleted_rows) FROM bucketfdw.files WHERE relid = 'o_b'::regclass;
SELECT sum(rows) = (SELECT count(*) FROM o_h) FROM bucketfdw.bucket_stats('o_b');
-- first and last keys, a key in all runs, those that have none
SELECT * FROM gone('o', 'c IN (0, 1, 298, 299, 399)');
SELECT * FROM gone('o', 'c IS NULL');
SELECT * FROM gone('o', 'c = 7 AND o > 3200');
-- blocks of key 7 alone
SELECT * FROM gone('o', 'c = 7', true);
SELECT * FROM gone('p', 'v % 4 = 0 OR c BETWEEN 50 AND 70');
SELECT * FROM gone('p', 'd BETWEEN 90 AND 130 OR d > 250', true);
-- keys on either side of a join, also all that only one side has
SELECT * FROM gone('c', 'c % 7 = 0');
SELECT * FROM gone('c', 'c > 300', true);
-- most of the rows, then whole buckets, a whole write, all that is inline
SELECT * FROM gone('o', 'o % 10 <> 4 AND c % 3 > 0', true);
SELECT * FROM gone('o', 'bucketfdw.bucket_id(4, c) IN (0, 2)');
SELECT * FROM gone('c', 'bucketfdw.bucket_id(8, c) IN (1, 2, 5, 6)');
SELECT * FROM gone('o', 'o > 3600');
SELECT * FROM gone('o', 'o BETWEEN 1501 AND 3000', true);

-- statistics count rows that are there
ANALYZE o_b, c_b, o_h, c_h;
SELECT relname, reltuples = (SELECT count(*) FROM o_h) FROM pg_class WHERE oid = 'o_b'::regclass;
SELECT expected('SELECT * FROM o_b') = (SELECT count(*) FROM o_h);
SELECT count(*) FROM pg_stats b JOIN pg_stats h USING (attname)
	WHERE b.schemaname = 'deleted' AND h.schemaname = 'deleted' AND b.tablename = 'o_b' AND h.tablename = 'o_h'
		AND (b.n_distinct, b.null_frac, b.most_common_vals::text, b.histogram_bounds::text) IS DISTINCT FROM (h.n_distinct, h.null_frac, h.most_common_vals::text, h.histogram_bounds::text);

-- all there is: files go as a whole, if nobody can see them any more; and then rows again
BEGIN;
SELECT * FROM gone('o', 'true');
SELECT files, rows, deleted_rows FROM bucketfdw.tables WHERE relid = 'o_b'::regclass;
ROLLBACK;
DELETE FROM o_b;
DELETE FROM o_h;
SELECT * FROM wrong();
SELECT files, rows, deleted_rows FROM bucketfdw.tables WHERE relid = 'o_b'::regclass;
INSERT INTO o_b SELECT i % 300, i, 1.5, date '2026-03-01', 'new' FROM generate_series(1, 700) i;
INSERT INTO o_h SELECT i % 300, i, 1.5, date '2026-03-01', 'new' FROM generate_series(1, 700) i;
SELECT * FROM gone('o', 'o % 2 = 0', true);

-- one bucket, so that a row's number in the file is its key: so many of 8192 numbers are kept as numbers, ranges or bits
TRUNCATE queries;
CREATE FOREIGN TABLE n_b (k int, v numeric(8,1), t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1');
INSERT INTO n_b SELECT i, i % 100 / 10.0, 't' || i % 9 FROM generate_series(0, 49999) i;
CREATE TABLE n_h AS SELECT * FROM n_b;
CREATE INDEX ON n_h (k);
CREATE FOREIGN TABLE m_b (k int, w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1');
INSERT INTO m_b SELECT i / 2, i FROM generate_series(0, 99999, 7) i;
CREATE TABLE m_h AS SELECT * FROM m_b;
ANALYZE n_h, m_h;
INSERT INTO queries VALUES
	('SELECT count(*), sum(v), min(k), max(k), count(DISTINCT t) FROM n_b'),
	('SELECT k / 100, count(*), sum(v) FROM n_b GROUP BY 1'),
	('SELECT * FROM n_b WHERE k IN (0, 1, 2, 511, 512, 513, 8190, 8191, 8192, 8193, 16383, 16384, 24000, 33000, 41000, 49999)'),
	('SELECT count(*), sum(v), sum(w) FROM n_b JOIN m_b USING (k)'),
	('SELECT count(*) FROM n_b JOIN m_b USING (k)'),
	('SELECT k, t FROM (SELECT * FROM n_b WHERE k >= 8000 ORDER BY k LIMIT 600) s');
SELECT * FROM gone('n', 'k IN (8192 * 1 + 77, 8192 * 2 - 1)');
SELECT * FROM gone('n', 'k / 8192 = 2 AND k % 8192 <= 510 * 3 AND k % 3 = 8192 * 2 % 3');
SELECT * FROM gone('n', 'k / 8192 = 3 AND k % 8192 % 16 = 5');
SELECT * FROM gone('n', 'k / 8192 = 4 AND k % 8192 % 15 = 5');
SELECT * FROM gone('n', 'k / 8192 = 5 AND k % 8192 >= 1', true);
SELECT * FROM gone('n', 'k BETWEEN 8000 AND 8192');
SELECT * FROM gone('n', 'k / 8192 = 0');
SELECT * FROM gone('n', 'k % 2 = 1', true);
SELECT files, rows = (SELECT count(*) FROM n_h), deleted_rows = 50000 - rows AS deleted FROM bucketfdw.tables WHERE relid = 'n_b'::regclass;

-- rows that are deleted are none that a filter removes
CREATE FUNCTION removed(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Rows Removed' THEN
			RETURN NEXT ltrim(line);
		END IF;
	END LOOP;
END
$$;
CREATE FOREIGN TABLE f_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1');
INSERT INTO f_b SELECT i, i FROM generate_series(1, 1000) i;
SELECT removed('SELECT * FROM f_b WHERE v > 990'), removed('SELECT * FROM f_b WHERE k = 10'), removed('SELECT * FROM f_b WHERE v + 0 > 990');
DELETE FROM f_b WHERE k BETWEEN 101 AND 500 OR k = 10;
SELECT removed('SELECT * FROM f_b WHERE v > 990'), removed('SELECT * FROM f_b WHERE k = 10'), removed('SELECT * FROM f_b WHERE k = 11'), removed('SELECT * FROM f_b WHERE v + 0 > 990');

-- prepared statements: generic plans see what is deleted between two of their executions
SET plan_cache_mode = force_generic_plan;
PREPARE of_key(int) AS SELECT count(*), sum(v) FROM f_b WHERE k = $1;
PREPARE of_all AS SELECT count(*), sum(f_b.v) FROM f_b JOIN c_b ON f_b.k = c_b.c;
EXECUTE of_key(20);
EXECUTE of_all;
DELETE FROM f_b WHERE k = 20;
EXECUTE of_key(20);
EXECUTE of_all;
DELETE FROM f_b WHERE k < 20;
EXECUTE of_all;
DELETE FROM c_b WHERE c < 50;
EXECUTE of_all;
-- in a transaction, with a savepoint and a cursor of before
BEGIN;
DECLARE before CURSOR FOR SELECT count(*) OVER (), k FROM f_b ORDER BY k;
DELETE FROM f_b WHERE k < 50;
EXECUTE of_key(30);
SELECT rows FROM bucketfdw.tables WHERE relid = 'f_b'::regclass;
SELECT sum(rows) FROM bucketfdw.bucket_stats('f_b');
SELECT expected('SELECT * FROM f_b');
SAVEPOINT s;
DELETE FROM f_b;
SELECT count(*) FROM f_b;
EXECUTE of_key(900);
ROLLBACK TO s;
EXECUTE of_key(900);
SELECT count(*), min(k) FROM f_b;
FETCH 1 FROM before;
ROLLBACK;
EXECUTE of_key(30);
DEALLOCATE ALL;
RESET plan_cache_mode;

-- more runs than are merged at once
TRUNCATE queries;
CREATE FOREIGN TABLE r_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2', block_rows '20');
SET bucketfdw.inline_limit = 0;
DO $$
BEGIN
	FOR i IN 0..299 LOOP
		INSERT INTO r_b SELECT g * 37 % 60, i * 100 + g FROM generate_series(1, 12) g;
		COMMIT;
	END LOOP;
END
$$;
RESET bucketfdw.inline_limit;
CREATE TABLE r_h AS SELECT * FROM r_b;
INSERT INTO queries VALUES
	('SELECT k, count(*), sum(v) FROM r_b GROUP BY k'),
	('SELECT k, v FROM (SELECT k, v, row_number() OVER (ORDER BY k) AS n FROM r_b) s WHERE k < 5'),
	('SELECT count(*), sum(a.v) FROM r_b a JOIN f_b b USING (k)'),
	('SELECT count(*) FROM r_b a JOIN r_b b USING (k)'),
	('SELECT count(*), sum(v) FROM r_b');
CREATE TABLE f_h AS SELECT * FROM f_b;
SELECT * FROM gone('r', 'v / 100 % 3 = 0');
SELECT * FROM gone('r', 'k % 4 = 1', true);
-- what identifies rows goes through merges and temporary stores
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT nodes('DELETE FROM r_b WHERE k IN (SELECT k FROM f_b WHERE v % 7 = 0)');
SELECT * FROM gone('r', 'k IN (SELECT k FROM f_b WHERE v % 7 = 0)');
RESET enable_hashjoin;
RESET enable_nestloop;
RESET enable_mergejoin;
SELECT * FROM gone('r', 'v % 100 > 6 AND v / 100 < 250');
SELECT * FROM gone('r', 'v / 100 BETWEEN 10 AND 290', true);

DROP SCHEMA deleted CASCADE;

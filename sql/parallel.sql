-- Parallel plans: units claimed by several processes give what one gives, and what the heap gives.
CREATE TABLE a_h (k int, v int, f float8, t text);
INSERT INTO a_h SELECT CASE WHEN i % 19 = 0 THEN NULL WHEN i % 5 = 0 THEN 7 ELSE i % 900 END, i, i / 4.0, 't' || i % 50 FROM generate_series(1, 6000) i;
CREATE TABLE b_h (k bigint, w int, u numeric(10,2));
INSERT INTO b_h SELECT CASE WHEN i % 23 = 0 THEN NULL ELSE i % 1300 END, i, i / 8.0 FROM generate_series(1, 2600) i;
CREATE TABLE c_h (k bigint, z int); INSERT INTO c_h SELECT i, i FROM generate_series(-20, 1000) i;
CREATE TABLE e_h (k int, z int);
CREATE FOREIGN TABLE a_b (k int, v int, f float8, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16', block_rows '50', sort_by 'k, v');
CREATE FOREIGN TABLE b_b (k bigint, w int, u numeric(10,2)) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '24', block_rows '60');
CREATE FOREIGN TABLE c_b (k bigint, z int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
CREATE FOREIGN TABLE e_b (k int, z int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 = 0; INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 = 1; INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 = 2;
INSERT INTO b_b SELECT * FROM b_h; INSERT INTO c_b SELECT * FROM c_h;
CREATE TABLE p_b (k int, d int, x int) PARTITION BY RANGE (d);
CREATE FOREIGN TABLE p1 PARTITION OF p_b FOR VALUES FROM (0) TO (100) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
CREATE FOREIGN TABLE p2 PARTITION OF p_b FOR VALUES FROM (100) TO (200) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16');
CREATE TABLE p_h (k int, d int, x int);
INSERT INTO p_h SELECT i % 700, i % 200, i FROM generate_series(1, 3000) i; INSERT INTO p_b SELECT * FROM p_h;
ANALYZE a_h; ANALYZE b_h; ANALYZE c_h; ANALYZE p_h; ANALYZE a_b; ANALYZE b_b; ANALYZE c_b; ANALYZE p_b;

SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_mergejoin = off;
CREATE TABLE q (n int GENERATED ALWAYS AS IDENTITY, q text);
INSERT INTO q (q) VALUES
('SELECT v, w FROM a_b JOIN b_b USING (k)'),
('SELECT v, w FROM a_b LEFT JOIN b_b USING (k)'),
('SELECT v, w FROM a_b RIGHT JOIN b_b USING (k)'),
('SELECT v, w FROM a_b FULL JOIN b_b USING (k)'),
('SELECT v, w FROM a_b a FULL JOIN b_b b ON a.k = b.k AND a.v > b.w'),
('SELECT v FROM a_b a WHERE EXISTS (SELECT FROM b_b b WHERE a.k = b.k AND b.w < a.v)'),
('SELECT v FROM a_b a WHERE NOT EXISTS (SELECT FROM b_b b WHERE a.k = b.k)'),
('SELECT v, w, z FROM a_b JOIN b_b USING (k) JOIN c_b USING (k)'),
('SELECT v, w, z FROM a_b LEFT JOIN b_b USING (k) LEFT JOIN c_b USING (k)'),
('SELECT x, w FROM p_b JOIN b_b USING (k)'),
('SELECT v, x FROM a_b LEFT JOIN p_b USING (k) WHERE d < 90 OR d IS NULL'),
('SELECT v, z FROM a_b LEFT JOIN e_b USING (k)'),
('SELECT count(*), sum(v), sum(f), min(v), max(w), count(u) FROM a_b JOIN b_b USING (k)'),
('SELECT count(*), sum(u), max(t) FROM a_b LEFT JOIN b_b USING (k)'),
('SELECT count(*), sum(v), max(f::int) FROM a_b'),
('SELECT count(*), min(v), sum(f) FROM a_b WHERE k = 7'),
('SELECT count(*), min(v), sum(z) FROM a_b JOIN e_b USING (k)'),
('SELECT count(*) FROM a_b JOIN b_b USING (k) HAVING count(*) > 10000000'),
('SELECT v, t FROM a_b WHERE v % 7 = 3'),
('SELECT k, count(*), sum(v) FROM a_b GROUP BY k'),
('SELECT a.k, count(*), sum(u) FROM a_b a JOIN b_b b USING (k) GROUP BY a.k HAVING count(*) > 2'),
('SELECT count(*), sum(c) FROM (SELECT k, count(*) c FROM a_b GROUP BY k) s'),
('SELECT DISTINCT k FROM a_b'),
('SELECT a.k, count(*), min(v), max(w) FROM a_b a JOIN b_b b USING (k) GROUP BY a.k HAVING max(w) % 2 = 0'),
('SELECT k, count(*), max(x) FROM p_b GROUP BY k'),
('SELECT s.z, (SELECT max(c) FROM (SELECT k, count(*) c FROM a_b WHERE v > s.z * 100 GROUP BY k OFFSET 0) g) FROM c_b s WHERE z BETWEEN 3 AND 9'),
('SELECT c, count(*) FROM (SELECT k, count(*) c FROM a_b JOIN b_b USING (k) GROUP BY k) s GROUP BY c'),
('SELECT s.z, (SELECT sum(v) FROM a_b a JOIN b_b b USING (k) WHERE a.v > s.z) FROM c_b s WHERE z BETWEEN 3 AND 6'),
('SELECT s.z, l.n FROM c_b s, LATERAL (SELECT count(*) n FROM a_b a JOIN b_b b USING (k) WHERE b.w < s.z) l WHERE z < 0'),
('SELECT k, v, w FROM a_b JOIN b_b USING (k) ORDER BY v, w LIMIT 30'),
('SELECT count(*) FROM (SELECT 1 FROM a_b JOIN b_b USING (k) LIMIT 50) s');
-- each with none to four workers, with and without the leader, against the heap
CREATE TABLE heap AS SELECT n, answer(regexp_replace(q, '(\w)_b\M', '\1_h', 'g'))::text AS a FROM q;
CREATE FUNCTION wrong(leader text, workers int) RETURNS SETOF q LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('parallel_leader_participation', leader, false), set_config('max_parallel_workers_per_gather', workers::text, false);
	RETURN QUERY SELECT q.* FROM q JOIN heap USING (n) WHERE answer(q.q)::text IS DISTINCT FROM heap.a;
END
$$;
SET enable_hashjoin = on;
SELECT * FROM wrong('on', 0); SELECT * FROM wrong('on', 1); SELECT * FROM wrong('on', 4); SELECT * FROM wrong('off', 2);
SET enable_hashjoin = off;
SET max_parallel_workers_per_gather = 2; RESET parallel_leader_participation;
SELECT n, nodes(q) FROM q WHERE nodes(q) !~ 'Gather';
EXPLAIN (COSTS OFF) SELECT count(*), sum(f) FROM a_b JOIN b_b USING (k);
EXPLAIN (COSTS OFF) SELECT count(*), max(u) FROM a_b JOIN b_b USING (k);
EXPLAIN (COSTS OFF) SELECT count(*) FROM (SELECT k, count(*) c FROM a_b GROUP BY k) s;
-- what workers read and joined is counted
SET max_parallel_workers_per_gather = 0;
SELECT measured(j, 'Units') AS units, measured(j, 'Rows Compared') AS compared, measured(s, 'Blocks Read') AS blocks, measured(s, 'Buckets Read') AS buckets, measured(j, 'Workers Launched') AS launched
FROM (VALUES ('SELECT count(*), sum(v) FROM a_b JOIN b_b USING (k)', 'SELECT count(f) FROM a_b')) v (j, s);
SET max_parallel_workers_per_gather = 3;
SELECT measured(j, 'Units') AS units, measured(j, 'Rows Compared') AS compared, measured(s, 'Blocks Read') AS blocks, measured(s, 'Buckets Read') AS buckets, measured(j, 'Workers Launched') AS launched
FROM (VALUES ('SELECT count(*), sum(v) FROM a_b JOIN b_b USING (k)', 'SELECT count(f) FROM a_b')) v (j, s);
SET parallel_leader_participation = off;
SELECT measured(j, 'Units') AS units, measured(j, 'Rows Compared') AS compared, measured(s, 'Blocks Read') AS blocks, measured(s, 'Buckets Read') AS buckets, measured(j, 'Workers Launched') AS launched
FROM (VALUES ('SELECT count(*), sum(v) FROM a_b JOIN b_b USING (k)', 'SELECT count(f) FROM a_b')) v (j, s);
SET max_parallel_workers_per_gather = 2; RESET parallel_leader_participation;
-- rows of this transaction, of a savepoint that is rolled back, and of a statement before
BEGIN;
INSERT INTO a_b SELECT 8, -i, 1, 'new' FROM generate_series(1, 300) i; INSERT INTO a_h SELECT 8, -i, 1, 'new' FROM generate_series(1, 300) i;
SAVEPOINT s;
INSERT INTO a_b SELECT 9, -i, 1, 'gone' FROM generate_series(1, 300) i;
SELECT count(*), sum(v), sum(f) FROM a_b WHERE v < 0;
ROLLBACK TO s;
SELECT same('SELECT count(*), sum(v), sum(f) FROM a_b'), same('SELECT v, w FROM a_b JOIN b_b USING (k)');
INSERT INTO a_b VALUES (10, -1000, 1, 'x'); INSERT INTO a_h VALUES (10, -1000, 1, 'x');
SELECT same('SELECT count(*), min(v), sum(f) FROM a_b'), same('SELECT k, count(*) FROM a_b GROUP BY k');
DECLARE c CURSOR FOR SELECT v, w FROM a_b JOIN b_b USING (k) ORDER BY v, w;
FETCH 2 FROM c; CLOSE c;
COMMIT;
-- generic plans
PREPARE p (int) AS SELECT count(*), sum(v) FROM a_b JOIN b_b USING (k) WHERE v > $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE p (3000); EXECUTE p (5000); EXECUTE p (NULL);
SELECT count(*), sum(v) FROM a_h JOIN b_h USING (k) WHERE v > 3000;
SELECT count(*), sum(v) FROM a_h JOIN b_h USING (k) WHERE v > 5000;
-- an error in a worker, and what comes after it
\set VERBOSITY terse
SELECT count(1 / (v - 5000)) FROM a_b JOIN b_b USING (k);
\set VERBOSITY default
SELECT same('SELECT count(*), sum(v) FROM a_b JOIN b_b USING (k)');
-- a small table is not worth a worker
RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;
SELECT nodes('SELECT count(*) FROM a_b JOIN b_b USING (k)');
-- as many workers for rows that pack well as a heap table of them would have
CREATE TABLE wide_h AS SELECT i AS k, i % 3 AS v, 'the same text in every row' AS t FROM generate_series(1, 40000) i;
SELECT bucketfdw.create_table_as('wide_b', 'SELECT * FROM wide_h', bucket_by => 'k', buckets => 8);
ANALYZE wide_h; ANALYZE wide_b;
SET min_parallel_table_scan_size = '256kB'; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET max_parallel_workers_per_gather = 4;
SELECT bucketfdw.table_size('wide_b') < pg_table_size('wide_h') / 4 AS packed,
	measured(replace(q, '_b', '_h'), 'Workers Planned') = measured(q, 'Workers Planned') AS as_many,
	measured(replace(q, 'wide_b', 'wide_b JOIN b_b USING (k)'), 'Workers Planned') >= measured(q, 'Workers Planned') AS joined_too
FROM (VALUES ('SELECT max(length(t)), max(v), max(k) FROM wide_b')) v (q);
RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;
SET client_min_messages = warning;
DROP TABLE wide_h, a_h, b_h, c_h, e_h, p_h, p_b, q, heap CASCADE; DROP FOREIGN TABLE a_b, b_b, c_b, e_b, wide_b;

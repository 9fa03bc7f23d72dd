-- Integers with numerics as keys: one hash, one order.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
SET bucketfdw.enable_routing = off;	-- both sides are bucketed, or it is another join
CREATE TABLE s_h (k smallint, v int);
CREATE TABLE i_h (k int, v int);
CREATE TABLE l_h (k bigint, v int);
CREATE TABLE n_h (k numeric, w int);
CREATE TABLE m_h (k numeric(12,2), x int);
-- the ends of the types, what lies beyond them and between the integers, NaN, infinities, NULL, duplicates
CREATE TABLE edges AS SELECT * FROM unnest(ARRAY[0, 1, -1, 2, 9999, 10000, 10001, -10000, 100000000, -100000000, 32767, -32768, 2147483647, -2147483648,
	9223372036854775807, -9223372036854775808, 9223372036854775806, -9223372036854775807, 9223370000000000000, 10000000000000000]::numeric[]) e;
INSERT INTO l_h SELECT e::bigint, row_number() OVER () FROM edges;
INSERT INTO i_h SELECT e::int, row_number() OVER () FROM edges WHERE e BETWEEN -2147483648 AND 2147483647;
INSERT INTO s_h SELECT e::smallint, row_number() OVER () FROM edges WHERE e BETWEEN -32768 AND 32767;
INSERT INTO n_h SELECT e + d, row_number() OVER () FROM edges, unnest(ARRAY[0, 0.0, 0.000, 1, -1, 0.5, -0.5, 0.00001, -0.00001, 0.99999, 1e-30]) d;
INSERT INTO n_h SELECT e, 1000 + row_number() OVER () FROM unnest(ARRAY['NaN', 'NaN', 'Infinity', '-Infinity', '1e30', '-1e30', '1e500', '-1e-500', '9223372036854775808.5', '-9223372036854775808.5', '-9223372036854775809']::numeric[]) e;
INSERT INTO m_h SELECT e / 100, row_number() OVER () FROM edges WHERE abs(e) < 1e9;
INSERT INTO m_h VALUES ('NaN', 1000);
-- and many of the ordinary kind
INSERT INTO s_h SELECT CASE WHEN i % 20 = 0 THEN NULL ELSE i % 300 - 100 END, i FROM generate_series(1, 700) i;
INSERT INTO i_h SELECT CASE WHEN i % 20 = 0 THEN NULL ELSE i % 300 - 100 END, i FROM generate_series(1, 1000) i;
INSERT INTO l_h SELECT CASE WHEN i % 30 = 0 THEN NULL ELSE i % 450 - 100 END, i FROM generate_series(1, 900) i;
INSERT INTO n_h SELECT CASE WHEN i % 25 = 0 THEN NULL WHEN i % 3 = 0 THEN (i % 500) / 4.0 - 50 ELSE i % 400 - 150 END, i FROM generate_series(1, 1200) i;
INSERT INTO m_h SELECT CASE WHEN i % 25 = 0 THEN NULL ELSE i % 350 - 120 + (i % 4) * 0.25 END, i FROM generate_series(1, 800) i;
-- one key with many rows everywhere, so that groups cross blocks and batches
INSERT INTO i_h SELECT 7, 2000 + i FROM generate_series(1, 50) i;
INSERT INTO l_h SELECT 7, 2000 + i FROM generate_series(1, 35) i;
INSERT INTO n_h SELECT CASE i % 3 WHEN 0 THEN 7 WHEN 1 THEN 7.0 ELSE 7.000 END, 2000 + i FROM generate_series(1, 52) i;
INSERT INTO m_h SELECT 7, 2000 + i FROM generate_series(1, 5) i;
CREATE FOREIGN TABLE s_b (k smallint, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE FOREIGN TABLE i_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '40');
CREATE FOREIGN TABLE l_b (k bigint, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '12', sort_by 'k, v desc', block_rows '30');
CREATE FOREIGN TABLE n_b (k numeric, w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16', sort_by 'k, w desc', block_rows '50');
CREATE FOREIGN TABLE m_b (k numeric(12,2), x int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '33');
INSERT INTO s_b SELECT * FROM s_h;
INSERT INTO i_b SELECT * FROM i_h WHERE v % 3 = 0; INSERT INTO i_b SELECT * FROM i_h WHERE v % 3 <> 0;
INSERT INTO l_b SELECT * FROM l_h;
INSERT INTO n_b SELECT * FROM n_h WHERE w % 2 = 0; INSERT INTO n_b SELECT * FROM n_h WHERE w % 4 = 1; INSERT INTO n_b SELECT * FROM n_h WHERE w % 4 = 3;
INSERT INTO m_b SELECT * FROM m_h;
ANALYZE s_b; ANALYZE i_b; ANALYZE l_b; ANALYZE n_b; ANALYZE m_b; ANALYZE s_h; ANALYZE i_h; ANALYZE l_h; ANALYZE n_h; ANALYZE m_h;

-- every integer type, every type of join, either side first
SELECT q, (tried(q)).* FROM (SELECT replace(replace(shape, '#1', x), '#2', y) FROM (VALUES ('s_b', 'm_b'), ('i_b', 'n_b'), ('l_b', 'm_b')) pairs (x, y), unnest(ARRAY[
	'SELECT x, y FROM #1 x JOIN #2 y ON x.k = y.k',
	'SELECT x, y FROM #1 x LEFT JOIN #2 y ON x.k = y.k',
	'SELECT x, y FROM #2 y LEFT JOIN #1 x ON x.k = y.k',
	'SELECT x, y FROM #1 x FULL JOIN #2 y ON x.k = y.k',
	'SELECT x FROM #1 x WHERE EXISTS (SELECT FROM #2 y WHERE x.k = y.k)',
	'SELECT y FROM #2 y WHERE k IN (SELECT k FROM #1)',
	'SELECT x FROM #1 x WHERE NOT EXISTS (SELECT FROM #2 y WHERE y.k = x.k)',
	'SELECT y FROM #2 y WHERE NOT EXISTS (SELECT FROM #1 x WHERE x.k = y.k)']) shape) t (q);
-- conditions beside the key, USING, explicit casts, a subquery
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT k, v, w FROM i_b JOIN n_b USING (k)',
	'SELECT k, v, w FROM i_b FULL JOIN n_b USING (k)',
	'SELECT x.v, y.w FROM i_b x LEFT JOIN n_b y ON x.k = y.k AND x.v < y.w',
	'SELECT x.v, y.w FROM n_b y LEFT JOIN i_b x ON x.k = y.k AND x.v < y.w WHERE x.v IS NULL OR y.w > 100',
	'SELECT x.v, y.w FROM n_b y FULL JOIN i_b x ON x.k = y.k AND x.v < y.w',
	'SELECT x.v, y.w FROM i_b x JOIN n_b y ON x.k::numeric = y.k AND y.w % 3 = x.v % 3',
	'SELECT x.v, z.v AS zv FROM i_b x JOIN l_b z ON x.k::numeric = z.k::numeric',
	'SELECT x.v, z.v AS zv FROM i_b x LEFT JOIN l_b z ON x.k::numeric = z.k',
	'SELECT x.v, y.w FROM i_b x JOIN n_b y ON x.k = y.k WHERE y.k > 5 AND x.k < 60',
	'SELECT x.v, y.w FROM i_b x JOIN n_b y ON x.k = y.k WHERE y.k BETWEEN 6.5 AND 7.5',
	'SELECT x.v, s.w FROM i_b x JOIN (SELECT k AS kk, w FROM n_b WHERE w < 500) s ON s.kk = x.k']) q;
-- chains
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT i.v, n.w, l.v AS lv FROM i_b i JOIN n_b n ON i.k = n.k JOIN l_b l ON l.k = n.k WHERE i.v < 500',
	'SELECT i.v, n.w, l.v AS lv FROM i_b i JOIN l_b l ON i.k = l.k JOIN n_b n ON l.k = n.k WHERE i.v < 500',
	'SELECT i.v, n.w, m.x FROM n_b n JOIN i_b i ON i.k = n.k JOIN m_b m ON m.k = i.k WHERE i.v < 900',
	'SELECT i.v, n.w, m.x FROM n_b n JOIN m_b m ON m.k = n.k LEFT JOIN i_b i ON i.k = n.k WHERE n.w < 900',
	'SELECT i.v, n.w, l.v AS lv FROM i_b i LEFT JOIN n_b n ON i.k = n.k LEFT JOIN l_b l ON l.k = i.k WHERE i.v < 900',
	'SELECT n.w, i.v, s.v AS sv FROM n_b n LEFT JOIN i_b i ON i.k = n.k JOIN s_b s ON s.k = n.k WHERE n.w < 900',
	'SELECT i.v, n.w FROM i_b i JOIN n_b n ON i.k = n.k WHERE EXISTS (SELECT FROM s_b s WHERE s.k = n.k) AND n.w < 500',
	'SELECT n.w, i.v FROM n_b n JOIN i_b i ON i.k = n.k WHERE NOT EXISTS (SELECT FROM m_b m WHERE m.k = i.k)',
	'SELECT count(*), sum(i.v) FROM s_b s JOIN n_b n ON s.k = n.k JOIN i_b i ON i.k = n.k JOIN m_b m ON m.k = i.k']) q;
-- grouping by the key of either side; 7, 7.0 and 7.000 are one group
SELECT q, same(q), nodes(q) ~ 'BucketJoin' AND nodes(q) !~ 'Hash|Sort' AS bucketed FROM unnest(ARRAY[
	'SELECT i.k, count(*), sum(n.w) FROM i_b i JOIN n_b n ON i.k = n.k GROUP BY i.k',
	'SELECT trim_scale(n.k), n FROM (SELECT n.k, count(*) AS n FROM i_b i JOIN n_b n ON i.k = n.k GROUP BY n.k) n',
	'SELECT trim_scale(n.k), n FROM (SELECT n.k, count(*) AS n FROM n_b n JOIN i_b i ON i.k = n.k GROUP BY n.k) n',
	'SELECT i.k, count(*), max(i.v) FROM n_b n JOIN i_b i ON i.k = n.k GROUP BY i.k',
	'SELECT DISTINCT i.k FROM n_b n JOIN l_b i ON i.k = n.k',
	'SELECT i.k, string_agg(n.w::text, '','') IS NULL FROM n_b n JOIN l_b i ON i.k = n.k GROUP BY i.k',
	'SELECT count(*), max(i.v), min(n.w) FROM n_b n JOIN l_b i ON i.k = n.k']) q;

-- the merged column of a full join
SELECT q, same(q), nodes(q) ~ 'BucketJoin' AS bucketed FROM unnest(ARRAY[
	'SELECT trim_scale(k), n FROM (SELECT k, count(*) AS n FROM i_b FULL JOIN n_b USING (k) GROUP BY k) s',
	'SELECT count(*), sum(i.v), sum(n.w), sum(l.v) FROM (i_b i JOIN n_b n ON i.k = n.k) FULL JOIN l_b l ON l.k = i.k',
	'SELECT count(*), sum(i.v), sum(n.w), sum(l.v) FROM (n_b n JOIN i_b i ON i.k = n.k) FULL JOIN l_b l ON l.k = i.k',
	'SELECT coalesce(i.k::bigint, l.k), count(*), sum(n.w) FROM (i_b i JOIN n_b n ON i.k = n.k) FULL JOIN l_b l ON l.k = i.k GROUP BY 1',
	'SELECT coalesce(i.k::bigint, l.k), count(*), sum(n.w) FROM (n_b n JOIN i_b i ON i.k = n.k) FULL JOIN l_b l ON l.k = i.k GROUP BY 1',
	'SELECT coalesce(l.k, i.k::bigint), count(*), sum(n.w) FROM l_b l FULL JOIN (n_b n JOIN i_b i ON i.k = n.k) ON l.k = i.k GROUP BY 1',
	'SELECT trim_scale(k), c FROM (SELECT n.k AS k, count(*) AS c FROM n_b n GROUP BY n.k) n FULL JOIN (SELECT DISTINCT k FROM m_b) m USING (k)',
	'SELECT trim_scale(k), n FROM (SELECT k, count(*) AS n FROM (n_b n JOIN i_b i USING (k)) FULL JOIN m_b m USING (k) GROUP BY k) s',
	'SELECT trim_scale(k), n FROM (SELECT k, count(*) AS n FROM (i_b i JOIN n_b n USING (k)) FULL JOIN m_b m USING (k) GROUP BY k) s',
	'SELECT trim_scale(k), v, w, x FROM i_b FULL JOIN n_b USING (k) FULL JOIN m_b USING (k)',
	'SELECT count(*), sum(i.v), sum(n.w), sum(l.v) FROM (i_b i FULL JOIN l_b l USING (k)) JOIN n_b n USING (k)',
	'SELECT count(*), sum(i.v), sum(n.w), sum(l.v) FROM (i_b i FULL JOIN l_b l USING (k)) LEFT JOIN n_b n USING (k)',
	'SELECT count(*), sum(i.v), sum(n.w), sum(l.v) FROM (i_b i FULL JOIN l_b l USING (k)) FULL JOIN n_b n USING (k)',
	'SELECT s.v, l.v AS lv, n.w FROM n_b n LEFT JOIN (s_b s FULL JOIN l_b l USING (k)) USING (k)']) q;

-- an integer column with a constant numeric: tested on batches, and pruned by, where an integer says the same
CREATE FUNCTION by_batch(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	plan text;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON, COSTS OFF) ' || query INTO plan;
	RETURN plan LIKE '%"Batch Filter"%' AND plan NOT LIKE '%"Filter"%';
END
$$;
SELECT t, c, string_agg(op, ' ') FILTER (WHERE by_batch(q)) AS by_batch, string_agg(same(q), '; ') FILTER (WHERE same(q) ~ 'WRONG') AS wrong
FROM unnest(ARRAY['7.0', '7.5', '-7.5', '-0.5', '9223372036854775807.0', '9223372036854775807.5', '-9223372036854775808.0', '-9223372036854775808.5', '1e30',
	'''NaN''::numeric', '''-Infinity''::numeric', 'NULL::numeric', '32768.0']) c,
	unnest(ARRAY['s_b', 'l_b']) t, unnest(ARRAY['=', '<>', '<', '<=', '>', '>=']) op, format('SELECT v FROM %s WHERE k %s %s', t, op, c) q
GROUP BY t, c ORDER BY t, c;
SELECT same('SELECT v FROM i_b WHERE 7.5 < k AND 60.0 >= k'), by_batch('SELECT v FROM i_b WHERE 7.5 < k AND 60.0 >= k');
SELECT measured('SELECT v FROM i_b WHERE k = 11.0', 'Buckets Read') one_bucket, same('SELECT v FROM i_b WHERE k = 11.0'), same('SELECT v FROM i_b WHERE k IN (11.0, 12.5)');
SELECT same('SELECT v FROM i_b WHERE k + 0.5 = 11.5'), same('SELECT v FROM i_b WHERE bucketfdw.bucket_id(4, k) = 1.0'), same('SELECT v FROM i_b WHERE k::numeric(12,1) = 11.0');
DROP FUNCTION by_batch(text);

-- several key columns; one fixed to the same constant, written as either type
CREATE TABLE p_h AS SELECT i % 5 AS a, 't' || i % 40 AS b, i AS v FROM generate_series(1, 600) i;
CREATE TABLE q_h AS SELECT (i % 6)::numeric(6,2) AS a, 't' || i % 50 AS b, i AS w FROM generate_series(1, 500) i;
CREATE FOREIGN TABLE p_b (a int, b text, v int) SERVER bucketfdw OPTIONS (bucket_by 'a, b', buckets '8');
CREATE FOREIGN TABLE q_b (a numeric(6,2), b text, w int) SERVER bucketfdw OPTIONS (bucket_by 'a, b', buckets '8', block_rows '20');
INSERT INTO p_b SELECT * FROM p_h; INSERT INTO q_b SELECT * FROM q_h; INSERT INTO q_b SELECT NULL, b, -w FROM q_h WHERE w < 30; INSERT INTO q_h SELECT NULL, b, -w FROM q_h WHERE w < 30;
ANALYZE p_b; ANALYZE q_b;
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT p.v, q.w FROM p_b p JOIN q_b q USING (a, b)',
	'SELECT p.v, q.w FROM p_b p FULL JOIN q_b q ON p.a = q.a AND p.b = q.b',
	'SELECT p.v, q.w FROM p_b p LEFT JOIN q_b q ON p.b = q.b AND p.a = q.a AND v > w',
	'SELECT p.v, q.w FROM p_b p JOIN q_b q ON p.b = q.b WHERE p.a = 3 AND q.a = 3',
	'SELECT p.v, q.w FROM p_b p JOIN q_b q ON p.b = q.b WHERE p.a = 3 AND q.a = 3.00']) q;
SELECT nodes('SELECT p.v, q.w FROM p_b p JOIN q_b q ON p.b = q.b WHERE p.a = 3 AND q.a = 3.5') ~ 'BucketJoin' AS other_constant,
	same('SELECT p.v, q.w FROM p_b p JOIN q_b q ON p.b = q.b WHERE p.a = 3 AND q.a = 3.5');

-- what is no such join: a numeric rounded to an integer, an integer as a narrower numeric or as a float
SELECT q, nodes(q, false) ~ 'BucketJoin' AS bucketed, same(q) FROM unnest(ARRAY[
	'SELECT i.v, n.w FROM i_b i JOIN m_b n(k, w) ON i.k = round(n.k)',
	'SELECT i.v, n.w FROM i_b i JOIN (SELECT k, x AS w FROM m_b WHERE k <> ''NaN'') n ON i.k = n.k::int',
	'SELECT i.v, n.w FROM s_b i JOIN m_b n(k, w) ON i.k::numeric(12,1) = n.k',
	'SELECT i.v, n.w FROM i_b i JOIN m_b n(k, w) ON i.k = n.k::float8']) q;
SELECT used, reason, detail, hint FROM bucketfdw.why_not('SELECT * FROM i_b i JOIN n_b n ON i.k = n.k::int');
SELECT used, detail FROM bucketfdw.why_not('i_b', 'n_b');
SELECT relid, joins_with FROM bucketfdw.tables ORDER BY relid::text;
SELECT bucketfdw.create_table_as('near_b', 'SELECT k::numeric(20,3) AS k FROM l_h WHERE k BETWEEN -1000 AND 1000', colocate_with => 'l_b');
SELECT nodes('SELECT * FROM near_b JOIN l_b USING (k)');

-- a generic plan, rescans, little memory, workers
PREPARE j(int, numeric) AS SELECT count(*), sum(i.v), sum(n.w) FROM i_b i JOIN n_b n ON i.k = n.k WHERE i.v > $1 AND n.k <> $2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE j(10, 7.0);
EXECUTE j(10, 7.0);
SELECT count(*), sum(i.v), sum(n.w) FROM i_h i JOIN n_h n ON i.k = n.k WHERE i.v > 10 AND n.k <> 7.0;
RESET plan_cache_mode;
DEALLOCATE j;
SELECT same('SELECT g, s.c FROM generate_series(1, 40, 13) g, LATERAL (SELECT count(*) AS c FROM i_b i JOIN n_b n ON i.k = n.k WHERE i.v > g * 10 OFFSET 0) s');
SET work_mem = '64kB';
SELECT same('SELECT i.v, n.w FROM i_b i FULL JOIN n_b n ON i.k = n.k');
RESET work_mem;
SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SELECT same('SELECT i.v, n.w FROM i_b i LEFT JOIN n_b n ON i.k = n.k'), same('SELECT count(*), max(i.v) FROM i_b i JOIN n_b n ON i.k = n.k');
RESET max_parallel_workers_per_gather; RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;

-- groups of buckets cut between keys of either side
CREATE FUNCTION cut(query text, rows int) RETURNS text LANGUAGE plpgsql SET enable_hashjoin = off SET enable_nestloop = off SET enable_mergejoin = off AS $$
DECLARE
	heap record;
	got record;
	units int := measured(query, 'Units');
BEGIN
	SELECT * INTO heap FROM answer(regexp_replace(query, '(\w)_b\M', '\1_h', 'g'));
	PERFORM set_config('bucketfdw.debug_unit_rows', rows::text, true);
	SELECT * INTO got FROM answer(query);
	units := measured(query, 'Units')::int - units;
	PERFORM set_config('bucketfdw.debug_unit_rows', '0', true);
	RETURN CASE WHEN got IS DISTINCT FROM heap THEN format('WRONG: %s rows, heap %s', got.n, heap.n) WHEN units <= 0 THEN 'not cut' ELSE 'same' END;
END
$$;
SELECT q, cut(q, 20), cut(q, 300) FROM unnest(ARRAY[
	'SELECT i.v, n.w FROM i_b i JOIN n_b n ON i.k = n.k', 'SELECT l.v, n.w FROM n_b n LEFT JOIN l_b l ON l.k = n.k',
	'SELECT l.v, n.w FROM l_b l LEFT JOIN n_b n ON l.k = n.k', 'SELECT l.v, n.w FROM l_b l FULL JOIN n_b n ON l.k = n.k',
	'SELECT l.v FROM l_b l WHERE EXISTS (SELECT FROM n_b n WHERE l.k = n.k)', 'SELECT n.w FROM n_b n WHERE NOT EXISTS (SELECT FROM l_b l WHERE l.k = n.k)',
	'SELECT i.v, n.w, l.v AS lv FROM i_b i JOIN n_b n ON i.k = n.k JOIN l_b l ON l.k = n.k WHERE i.v < 300', 'SELECT p.v, q.w FROM p_b p FULL JOIN q_b q USING (a, b)']) q;
DROP FUNCTION cut(text, int);

-- many runs
CREATE TABLE runs_h AS SELECT i % 97 - 20 AS k, i AS v FROM generate_series(1, 600) i;
CREATE FOREIGN TABLE runs_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2', block_rows '5');
DO $$
BEGIN
	FOR i IN 0..39 LOOP
		INSERT INTO runs_b SELECT * FROM runs_h WHERE v % 40 = i;
		COMMIT;
	END LOOP;
END
$$;
ANALYZE runs_b;
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT r.v, n.w FROM runs_b r JOIN n_b n ON r.k = n.k', 'SELECT r.v, n.w FROM runs_b r JOIN n_b n ON r.k = n.k WHERE n.k IN (3, 7.5, 40, 41.25, 60)',
	'SELECT n.w FROM n_b n WHERE EXISTS (SELECT FROM runs_b r WHERE r.k = n.k) AND w % 7 = 1', 'SELECT r.v, n.w FROM n_b n LEFT JOIN runs_b r ON r.k = n.k WHERE n.w < 60']) q;
SELECT measured('SELECT count(*) FROM runs_b r JOIN n_b n ON r.k = n.k', 'Max Runs per Bucket');
DROP FOREIGN TABLE runs_b; DROP TABLE runs_h;

-- partitions on either side
CREATE TABLE parts_h (k int, v int);
INSERT INTO parts_h SELECT * FROM i_h;
CREATE TABLE parts_b (k int, v int) PARTITION BY RANGE (v);
CREATE FOREIGN TABLE parts_1 PARTITION OF parts_b FOR VALUES FROM (0) TO (500) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
CREATE FOREIGN TABLE parts_2 PARTITION OF parts_b FOR VALUES FROM (500) TO (5000) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO parts_b SELECT * FROM parts_h;
CREATE TABLE nparts_h (k numeric, w int);
INSERT INTO nparts_h SELECT * FROM n_h;
CREATE TABLE nparts_b (k numeric, w int) PARTITION BY RANGE (w);
CREATE FOREIGN TABLE nparts_1 PARTITION OF nparts_b FOR VALUES FROM (0) TO (500) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '20');
CREATE FOREIGN TABLE nparts_2 PARTITION OF nparts_b FOR VALUES FROM (500) TO (5000) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '20');
INSERT INTO nparts_b SELECT * FROM nparts_h;
ANALYZE parts_b; ANALYZE nparts_b;
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT p.v, n.w FROM parts_b p JOIN n_b n ON p.k = n.k',
	'SELECT p.v, n.w FROM parts_b p LEFT JOIN n_b n ON p.k = n.k',
	'SELECT i.v, n.w FROM i_b i FULL JOIN nparts_b n ON i.k = n.k',
	'SELECT p.v, n.w FROM parts_b p JOIN nparts_b n ON p.k = n.k']) q;

-- rows routed to buckets of the other type
SET bucketfdw.enable_routing = on;
SELECT q, same(q), nodes(q) ~ 'BucketJoin' AS bucketed FROM unnest(ARRAY[
	'SELECT i.v, n.w FROM i_b i JOIN (SELECT k, w FROM n_h OFFSET 0) n ON i.k = n.k',
	'SELECT i.v, n.w FROM n_b n JOIN (SELECT k, v FROM i_h OFFSET 0) i ON i.k = n.k',
	'SELECT i.v, n.w FROM n_b n LEFT JOIN (SELECT k, v FROM l_h OFFSET 0) i ON i.k = n.k',
	'SELECT i.v, n.w FROM (SELECT k, w FROM n_h OFFSET 0) n LEFT JOIN i_b i ON i.k = n.k',
	'SELECT i.v, n.w FROM (SELECT k, w FROM n_h OFFSET 0) n FULL JOIN i_b i ON i.k = n.k']) q;
RESET bucketfdw.enable_routing;

DROP FOREIGN TABLE s_b, i_b, l_b, n_b, m_b, p_b, q_b, near_b;
DROP TABLE s_h, i_h, l_h, n_h, m_h, p_h, q_h, edges, parts_b, parts_h, nparts_b, nparts_h;

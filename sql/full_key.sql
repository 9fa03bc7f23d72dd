-- The merged column of a full join as the key of what stands above: joins, groups, chains of full joins.
SET bucketfdw.enable_routing = off;	-- both sides are bucketed, or it is another join
-- keys of three widths; NULLs on all sides, keys of one side only between those of the other, several runs
CREATE TABLE a_h (k int, v int);
CREATE TABLE b_h (k bigint, w int);
CREATE TABLE c_h (k smallint, x int);
INSERT INTO a_h SELECT CASE WHEN i % 20 = 0 THEN NULL ELSE i % 300 * 2 - 100 END, i FROM generate_series(1, 700) i;
INSERT INTO b_h SELECT CASE WHEN i % 30 = 0 THEN NULL ELSE i % 150 * 3 END, i FROM generate_series(1, 400) i;
INSERT INTO c_h SELECT CASE WHEN i % 25 = 0 THEN NULL ELSE i % 170 * 5 - 300 END, i FROM generate_series(1, 300) i;
-- beyond the NULLs' place in the order of the merge, and beyond what is narrow
INSERT INTO b_h SELECT 9223372036854775807 - i % 2, i FROM generate_series(1, 6) i;
INSERT INTO a_h VALUES (2147483647, -1), (-2147483648, -2);
INSERT INTO b_h VALUES (2147483647, -1), (-9223372036854775808, -2), (-2147483648, -3);
-- one key whose rows cross blocks and batches
INSERT INTO a_h SELECT 6, 2000 + i FROM generate_series(1, 130) i;
INSERT INTO b_h SELECT 6, 2000 + i FROM generate_series(1, 90) i;
INSERT INTO c_h SELECT 6, 2000 + i FROM generate_series(1, 3) i;
CREATE FOREIGN TABLE a_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '40');
CREATE FOREIGN TABLE b_b (k bigint, w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '12', sort_by 'k, w desc', block_rows '30');
CREATE FOREIGN TABLE c_b (k smallint, x int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16', block_rows '50');
INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 = 0; INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 <> 0;
INSERT INTO b_b SELECT * FROM b_h WHERE w % 2 = 0; INSERT INTO b_b SELECT * FROM b_h WHERE w % 2 <> 0;
INSERT INTO c_b SELECT * FROM c_h WHERE x < 100; INSERT INTO c_b SELECT * FROM c_h WHERE x >= 100;
CREATE TABLE p_h (d int, k int, y int);
INSERT INTO p_h SELECT i % 2, CASE WHEN i % 11 = 0 THEN NULL ELSE i % 90 * 4 END, i FROM generate_series(1, 250) i;
CREATE TABLE p_b (d int, k int, y int) PARTITION BY LIST (d);
CREATE FOREIGN TABLE p_0 PARTITION OF p_b FOR VALUES IN (0) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '40');
CREATE FOREIGN TABLE p_1 PARTITION OF p_b FOR VALUES IN (1) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '6', block_rows '30');
INSERT INTO p_b SELECT * FROM p_h WHERE y % 3 = 0; INSERT INTO p_b SELECT * FROM p_h WHERE y % 3 <> 0;
ANALYZE a_h; ANALYZE b_h; ANALYZE c_h; ANALYZE a_b; ANALYZE b_b; ANALYZE c_b; ANALYZE p_h; ANALYZE p_0; ANALYZE p_1;

-- Two bucket joins, or a full join and a grouping by buckets?
CREATE FUNCTION chained(q text, n int) RETURNS boolean LANGUAGE sql
SET join_collapse_limit = 1 SET enable_hashagg = off AS $$
	SELECT (SELECT count(*) FROM regexp_matches(nodes(q), 'BucketJoin', 'g')) = n AND nodes(q) !~ 'Hash|Sort|Merge|Nested'
$$;
SELECT q, same(q), chained(q, 2) FROM unnest(ARRAY[
	'SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) JOIN c_b USING (k)',
	'SELECT k, v, w, x FROM b_b FULL JOIN a_b USING (k) JOIN c_b USING (k)',
	'SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) LEFT JOIN c_b USING (k)',
	'SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) RIGHT JOIN c_b USING (k)',
	'SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) FULL JOIN c_b USING (k)',
	'SELECT k, v, w, x FROM c_b FULL JOIN a_b USING (k) FULL JOIN b_b USING (k)',
	'SELECT c_b.k, v, w, x FROM c_b FULL JOIN (b_b FULL JOIN a_b USING (k)) USING (k)',
	'SELECT a.k, b.k, c.k, a.v, w, x FROM a_b a FULL JOIN b_b b ON a.k = b.k LEFT JOIN c_b c ON c.k = coalesce(a.k, b.k)',
	'SELECT a.k, b.k, c.k, a.v, w, x FROM a_b a FULL JOIN b_b b ON a.k = b.k JOIN c_b c ON coalesce(b.k, a.k) = c.k',
	'SELECT k, v, w, y FROM a_b FULL JOIN b_b USING (k) JOIN p_b USING (k)',
	'SELECT k, v, y, w FROM a_b FULL JOIN p_b USING (k) LEFT JOIN b_b USING (k)',
	'SELECT a.v, b.w, c.x FROM a_b a FULL JOIN b_b b ON a.k = b.k AND a.v < b.w JOIN c_b c ON c.k = coalesce(a.k, b.k)',
	'SELECT k, v, w FROM a_b FULL JOIN b_b USING (k) WHERE EXISTS (SELECT 1 FROM c_b WHERE c_b.k = coalesce(a_b.k, b_b.k))',
	'SELECT k, v, w FROM a_b FULL JOIN b_b USING (k) WHERE NOT EXISTS (SELECT 1 FROM c_b WHERE c_b.k = coalesce(a_b.k, b_b.k))',
	'SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) LEFT JOIN c_b USING (k) WHERE v IS NULL OR w IS NULL OR x % 2 = 0',
	'SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) LEFT JOIN c_b USING (k) WHERE k > 20 OR v < 0']) q;
SELECT q, same(q), chained(q, 3) FROM unnest(ARRAY[
	'SELECT k, a.v, w, x, d.v FROM a_b a FULL JOIN b_b USING (k) FULL JOIN c_b USING (k) FULL JOIN (SELECT * FROM a_b WHERE v % 50 = 0) d USING (k)',
	'SELECT k, a.v, w, x, y FROM a_b a FULL JOIN b_b USING (k) FULL JOIN c_b USING (k) LEFT JOIN p_b USING (k)',
	'SELECT k, a.v, w, x, y FROM a_b a FULL JOIN b_b USING (k) LEFT JOIN c_b USING (k) JOIN p_b USING (k)',
	'SELECT k, a.v, w, x, y FROM (a_b a FULL JOIN b_b USING (k)) FULL JOIN (c_b FULL JOIN p_b USING (k)) USING (k)']) q;
-- groups; one join
SELECT q, same(q), chained(q, 1) FROM unnest(ARRAY[
	'SELECT k, count(*), sum(v), max(w) FROM a_b FULL JOIN b_b USING (k) GROUP BY k',
	'SELECT count(*) FROM a_b FULL JOIN b_b USING (k) GROUP BY k',
	'SELECT coalesce(b.k, a.k), count(*), avg(v) FROM a_b a FULL JOIN b_b b ON a.k = b.k GROUP BY coalesce(b.k, a.k)',
	'SELECT count(*), max(v) FROM a_b a FULL JOIN b_b b ON a.k = b.k GROUP BY coalesce(b.k, a.k)',
	'SELECT k, count(v), count(w) FROM a_b FULL JOIN b_b USING (k) WHERE v IS NULL OR w IS NULL GROUP BY k',
	'SELECT DISTINCT k FROM a_b FULL JOIN b_b USING (k)',
	'SELECT k, count(*) FROM a_b FULL JOIN p_b USING (k) GROUP BY k HAVING count(*) > 2',
	-- a full join no more: one side, or both, must have a row
	'SELECT k, count(*), sum(w) FROM a_b FULL JOIN b_b USING (k) WHERE v > 5 GROUP BY k',
	'SELECT k, count(*), sum(w) FROM a_b FULL JOIN b_b USING (k) WHERE w > 5 GROUP BY k',
	'SELECT k, count(*), sum(w) FROM a_b FULL JOIN b_b USING (k) WHERE w > 5 AND v > 5 GROUP BY k']) q;
SELECT q, same(q), chained(q, 2) FROM unnest(ARRAY[
	'SELECT k, count(*), sum(v), max(w), min(x) FROM a_b FULL JOIN b_b USING (k) FULL JOIN c_b USING (k) GROUP BY k',
	'SELECT count(*) FROM a_b FULL JOIN b_b USING (k) FULL JOIN c_b USING (k) GROUP BY k',
	'SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) JOIN c_b USING (k) WHERE v > 5',
	'SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) LEFT JOIN c_b USING (k) WHERE w > 5']) q;
-- neither is the key: of one side alone, of other columns, as another type, above an outer join
SELECT q, same(q), chained(q, 2) FROM unnest(ARRAY[
	'SELECT a.v, b.w, c.x FROM a_b a FULL JOIN b_b b ON a.k = b.k LEFT JOIN c_b c ON c.k = a.k',
	'SELECT a.v, b.w, c.x FROM a_b a FULL JOIN b_b b ON a.k = b.k LEFT JOIN c_b c ON c.k = coalesce(a.k, b.w)',
	'SELECT a.v, b.w, c.x FROM a_b a FULL JOIN b_b b ON a.k = b.k LEFT JOIN c_b c ON c.k = coalesce(a.k, b.k, 0)',
	'SELECT a.v, b.x, c.w FROM a_b a FULL JOIN c_b b ON a.k = b.k LEFT JOIN b_b c ON c.k = coalesce(a.k::oid, b.k::oid)::int8',
	'SELECT c.x, s.v, s.w, d.v FROM c_b c LEFT JOIN (SELECT coalesce(a.k, b.k) k, v, w FROM a_b a FULL JOIN b_b b ON a.k = b.k) s ON s.k = c.k LEFT JOIN (SELECT * FROM a_b WHERE v < 100) d ON d.k = s.k']) q;
SELECT nodes('SELECT count(*) FROM c_b c LEFT JOIN (SELECT coalesce(a.k, b.k) k FROM a_b a FULL JOIN b_b b ON a.k = b.k) s ON s.k = c.k GROUP BY s.k', false) ~ 'GroupAgg|BucketAgg' AND
	nodes('SELECT count(*) FROM c_b c LEFT JOIN (SELECT coalesce(a.k, b.k) k FROM a_b a FULL JOIN b_b b ON a.k = b.k) s ON s.k = c.k GROUP BY s.k', false) !~ 'Sort' wrong;
SELECT same('SELECT s.k, count(*) FROM c_b c LEFT JOIN (SELECT coalesce(a.k, b.k) k FROM a_b a FULL JOIN b_b b ON a.k = b.k) s ON s.k = c.k GROUP BY s.k');
SELECT same('SELECT s.k, count(*) FROM (SELECT coalesce(a.k, b.k) k FROM a_b a FULL JOIN b_b b ON a.k = b.k) s RIGHT JOIN c_b c ON s.k = c.k AND c.x > 50 GROUP BY s.k');
-- conditions on the merged column
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) FULL JOIN c_b USING (k) WHERE k = 6',
	'SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) LEFT JOIN c_b USING (k) WHERE k IS NULL',
	'SELECT k, count(*) FROM a_b FULL JOIN b_b USING (k) WHERE k = 6 GROUP BY k',
	'SELECT k, count(*) FROM a_b FULL JOIN b_b USING (k) WHERE k IN (6, 9, NULL) GROUP BY k',
	'SELECT k, v, w FROM a_b FULL JOIN b_b USING (k) ORDER BY k, v, w',
	'SELECT k, v FROM a_b FULL JOIN b_b USING (k) WHERE k IN (SELECT k FROM c_b)',
	'SELECT * FROM (a_b FULL JOIN b_b USING (k)) j JOIN c_b ON c_b.k = j.k',
	'SELECT k, (SELECT count(*) FROM c_b WHERE c_b.k = j.k) FROM (a_b FULL JOIN b_b USING (k)) j']) q;
-- rescans, parameters, generic plans, small memory
SELECT same('SELECT x.x, (SELECT count(*) + sum(w) FROM a_b a FULL JOIN b_b b USING (k) FULL JOIN c_b c USING (k) WHERE a.v % 7 = x.x OR b.w % 7 = x.x) FROM generate_series(1, 6) x(x)');
SELECT same('SELECT x.x, s.* FROM generate_series(1, 4) x(x), LATERAL (SELECT k, count(*), max(v) FROM a_b FULL JOIN b_b USING (k) WHERE v % 5 = x.x OR v IS NULL GROUP BY k) s');
PREPARE by_v(int) AS SELECT count(*), sum(k), sum(c) FROM (SELECT k, count(x) c FROM a_b FULL JOIN b_b USING (k) LEFT JOIN c_b USING (k) WHERE v > $1 OR v IS NULL GROUP BY k OFFSET 0) s;
EXECUTE by_v(0); EXECUTE by_v(100); EXECUTE by_v(200); EXECUTE by_v(300); EXECUTE by_v(400); EXECUTE by_v(500); EXECUTE by_v(5000);
SELECT count(*), sum(k), sum(c) FROM (SELECT k, count(x) c FROM a_h FULL JOIN b_h USING (k) LEFT JOIN c_h USING (k) WHERE v > 500 OR v IS NULL GROUP BY k OFFSET 0) s;
DEALLOCATE by_v;
SET work_mem = '64kB';
SELECT same('SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) FULL JOIN c_b USING (k)');
RESET work_mem;
SET geqo_threshold = 2;
SELECT same('SELECT k, count(*), sum(w), sum(x) FROM a_b FULL JOIN b_b USING (k) FULL JOIN c_b USING (k) LEFT JOIN p_b USING (k) GROUP BY k');
RESET geqo_threshold;
-- in several processes
SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SELECT nodes('SELECT k, count(*), sum(v), sum(w), sum(x) FROM a_b FULL JOIN b_b USING (k) FULL JOIN c_b USING (k) GROUP BY k');
SELECT same('SELECT k, count(*), sum(v), sum(w), sum(x) FROM a_b FULL JOIN b_b USING (k) FULL JOIN c_b USING (k) GROUP BY k');
SELECT same('SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) FULL JOIN c_b USING (k)');
RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;
-- one side sorted into the buckets of the other
SET bucketfdw.enable_routing = on;
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT k, v, w, x FROM a_b FULL JOIN (SELECT * FROM b_b OFFSET 0) s USING (k) FULL JOIN c_b USING (k)',
	'SELECT k, v, w, x FROM (SELECT * FROM a_b OFFSET 0) s FULL JOIN b_b USING (k) LEFT JOIN c_b USING (k)',
	'SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) FULL JOIN (SELECT * FROM c_b OFFSET 0) s USING (k)']) q;
SET bucketfdw.enable_routing = off;

-- two columns, one of text in another collation; NULL in either; other key classes
CREATE TABLE m_h (x int, y text, v int);
CREATE TABLE n_h (y varchar(10), w int, x bigint);
INSERT INTO m_h SELECT CASE WHEN i % 11 = 0 THEN NULL ELSE i % 17 * 2 END, CASE WHEN i % 13 = 0 THEN NULL ELSE 'y' || i % 7 END, i FROM generate_series(1, 400) i;
INSERT INTO n_h SELECT CASE WHEN i % 9 = 0 THEN NULL ELSE 'y' || i % 8 END, i, CASE WHEN i % 10 = 0 THEN NULL ELSE i % 13 * 3 END FROM generate_series(1, 300) i;
CREATE FOREIGN TABLE m_b (x int, y text, v int) SERVER bucketfdw OPTIONS (bucket_by 'x, y', buckets '6', block_rows '20');
CREATE FOREIGN TABLE n_b (y varchar(10), w int, x bigint) SERVER bucketfdw OPTIONS (bucket_by 'x, y', buckets '9', sort_by 'x, y, w desc', block_rows '33');
INSERT INTO m_b SELECT * FROM m_h WHERE v < 200; INSERT INTO m_b SELECT * FROM m_h WHERE v >= 200;
INSERT INTO n_b SELECT * FROM n_h;
ANALYZE m_h; ANALYZE n_h; ANALYZE m_b; ANALYZE n_b;
SELECT q, same(q), chained(q, 2) FROM unnest(ARRAY[
	'SELECT x, y, m.v, w, o.v FROM m_b m FULL JOIN n_b USING (x, y) LEFT JOIN m_b o USING (x, y)',
	'SELECT x, y, m.v, w, o.v FROM m_b m FULL JOIN n_b USING (y, x) FULL JOIN m_b o USING (x, y)',
	'SELECT x, y, m.w, v, o.w FROM n_b m FULL JOIN m_b USING (x, y) FULL JOIN n_b o USING (x, y)',
	'SELECT x, y, m.w, n.w, o.w FROM n_b m FULL JOIN n_b n USING (x, y) JOIN n_b o USING (x, y)']) q;
SELECT q, same(q), chained(q, 1) FROM unnest(ARRAY[
	'SELECT x, y, count(*), sum(v), sum(w) FROM m_b FULL JOIN n_b USING (x, y) GROUP BY y, x',
	'SELECT DISTINCT x, y FROM m_b FULL JOIN n_b USING (x, y)']) q;
CREATE TABLE e_h (f float8, g real, n numeric, u uuid, c char(5), o oid, v int);
INSERT INTO e_h SELECT CASE i % 9 WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN '-0' WHEN 2 THEN 0 WHEN 3 THEN NULL ELSE i % 13 / 4.0 END,
	CASE i % 7 WHEN 0 THEN 'NaN'::real WHEN 1 THEN NULL ELSE i % 23 / 4.0 END, CASE i % 8 WHEN 0 THEN 'NaN' WHEN 2 THEN 1.00 WHEN 3 THEN NULL ELSE i % 21 END,
	CASE WHEN i % 14 > 0 THEN md5((i % 30)::text)::uuid END, CASE WHEN i % 12 > 0 THEN left(i % 25 || '    ', i % 4 + 1) END,
	CASE WHEN i % 10 > 0 THEN (4294967295 - i % 12)::oid END, i FROM generate_series(1, 100) i;
CREATE FUNCTION by_key(x text, y text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
	q text := 'SELECT %s, a.v, b.v, c.v FROM x_b a FULL JOIN y_b b ON a.%s = b.%s AND a.v %% 50 = b.v %% 50 FULL JOIN x_b c ON coalesce(a.%s, b.%s) = c.%s AND c.v %% 60 = coalesce(a.v, b.v) %% 60';
BEGIN
	FOR i IN 1..2 LOOP
		EXECUTE format('CREATE FOREIGN TABLE %s (f float8, g real, n numeric, u uuid, c char(5), o oid, v int) SERVER bucketfdw OPTIONS (bucket_by %L, buckets %L, block_rows ''20'')',
			CASE i WHEN 1 THEN 'x_b' ELSE 'y_b' END, CASE i WHEN 1 THEN x ELSE y END, i * 2);
		EXECUTE format('CREATE VIEW %s AS SELECT * FROM e_h WHERE v %% %s > 0', CASE i WHEN 1 THEN 'x_h' ELSE 'y_h' END, i * 3);
	END LOOP;
	INSERT INTO x_b SELECT * FROM x_h WHERE v % 4 = 1; INSERT INTO x_b SELECT * FROM x_h WHERE v % 4 <> 1;
	INSERT INTO y_b SELECT * FROM y_h;
	q := format(q, 'CASE WHEN a.v IS NOT NULL THEN a.' || x || '::text END', x, y, x, y, x);
	result := same(q) || ', ' || chained(q, 2);
	q := format('SELECT count(*), sum(a.v), max(b.v) FROM x_b a FULL JOIN y_b b ON a.%s = b.%s GROUP BY coalesce(a.%s, b.%s)', x, y, x, y);
	result := result || '; groups ' || same(q) || ', ' || chained(q, 1);
	DROP FOREIGN TABLE x_b, y_b;
	DROP VIEW x_h, y_h;
	RETURN result;
END
$$;
SELECT x, y, by_key(x, y) FROM (VALUES ('f', 'f'), ('f', 'g'), ('g', 'f'), ('n', 'n'), ('u', 'u'), ('c', 'c'), ('o', 'o')) k (x, y);
EXPLAIN (COSTS OFF) SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) FULL JOIN c_b USING (k);
SET bucketfdw.enable_bucketagg = off; SET enable_hashagg = off;
EXPLAIN (COSTS OFF, VERBOSE) SELECT max(k), x FROM a_b FULL JOIN b_b USING (k) FULL JOIN c_b USING (k) GROUP BY x;
RESET bucketfdw.enable_bucketagg; RESET enable_hashagg;
DROP FUNCTION by_key(text, text);
DROP FUNCTION chained(text, int);
DROP FOREIGN TABLE a_b, b_b, c_b, m_b, n_b;
DROP TABLE p_b, p_h, a_h, b_h, c_h, m_h, n_h, e_h;

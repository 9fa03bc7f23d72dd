-- GROUP BY and DISTINCT on the key and more, DISTINCT ON, ordered aggregates, window functions: core's, over scans and joins of ours.
CREATE TABLE s_h (k int, ts timestamp, x numeric, t text, id int);
INSERT INTO s_h SELECT CASE WHEN i % 50 = 0 THEN NULL WHEN i % 4 = 0 THEN 5 ELSE i * 7919 % 400 END, CASE WHEN i % 21 > 0 THEN timestamp '2024-01-01' + i * 37 % 1000 * interval '1 h' END,
	CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' ELSE i % 6 / 4.0 END, CASE WHEN i % 8 > 0 THEN 't' || i % 30 END, i FROM generate_series(1, 4000) i;
CREATE FOREIGN TABLE s_b (k int, ts timestamp, x numeric, t text, id int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', sort_by 'k, ts desc nulls last, id', block_rows '64');
INSERT INTO s_b SELECT * FROM s_h WHERE id % 3 = 0; INSERT INTO s_b SELECT * FROM s_h WHERE id % 3 = 1; INSERT INTO s_b SELECT * FROM s_h WHERE id % 3 = 2;
CREATE TABLE c_h (k bigint, w int);
INSERT INTO c_h SELECT CASE WHEN i % 40 = 0 THEN NULL ELSE i % 500 END, i FROM generate_series(1, 900) i;
CREATE FOREIGN TABLE c_b (k bigint, w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '12', block_rows '50');
INSERT INTO c_b SELECT * FROM c_h;
CREATE TABLE p_h (d int, k int, v int);
INSERT INTO p_h SELECT i % 3, CASE WHEN i % 11 = 0 THEN NULL ELSE i % 150 END, i * 31 % 1201 FROM generate_series(1, 1200) i;
CREATE TABLE p_b (d int, k int, v int) PARTITION BY LIST (d);
CREATE FOREIGN TABLE p_0 PARTITION OF p_b FOR VALUES IN (0) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '40');
CREATE FOREIGN TABLE p_1 PARTITION OF p_b FOR VALUES IN (1) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '6', sort_by 'k, v', block_rows '30');
CREATE FOREIGN TABLE p_2 (v int, k int, d int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', sort_by 'k, v desc');
ALTER TABLE p_b ATTACH PARTITION p_2 FOR VALUES IN (2);
INSERT INTO p_b SELECT * FROM p_h WHERE v % 2 = 0; INSERT INTO p_b SELECT * FROM p_h WHERE v % 2 = 1;
CREATE TABLE u_h (tenant int, uid text, x int);
INSERT INTO u_h SELECT CASE WHEN i % 13 > 0 THEN i % 3 END, CASE WHEN i % 14 > 0 THEN 'u' || i % 40 END, i FROM generate_series(1, 900) i;
CREATE FOREIGN TABLE u_b (tenant int, uid text, x int) SERVER bucketfdw OPTIONS (bucket_by 'tenant, uid', buckets '5', block_rows '30');
INSERT INTO u_b SELECT * FROM u_h WHERE x % 2 = 0; INSERT INTO u_b SELECT * FROM u_h WHERE x % 2 = 1;
ANALYZE s_h; ANALYZE s_b; ANALYZE c_h; ANALYZE c_b; ANALYZE p_h; ANALYZE p_0; ANALYZE p_1; ANALYZE p_2; ANALYZE u_h; ANALYZE u_b;

-- The answer, also where sorting and hashing are dear.
CREATE FUNCTION both_ways(q text, OUT answer text, OUT forced text) LANGUAGE plpgsql AS $$
BEGIN
	answer := same(q);
	PERFORM set_config('enable_hashagg', 'off', true), set_config('enable_sort', 'off', true);
	forced := same(q);
	PERFORM set_config('enable_hashagg', 'on', true), set_config('enable_sort', 'on', true);
END
$$;
SELECT q, (both_ways(q)).* FROM unnest(ARRAY[
	'SELECT k, ts, count(*) FROM s_b GROUP BY k, ts',
	'SELECT t, k, count(*), sum(x) FROM s_b GROUP BY t, k HAVING count(*) > 1',
	'SELECT upper(t), k, count(*) FILTER (WHERE id > 1000) FROM s_b GROUP BY k, upper(t)',
	'SELECT DISTINCT k, t, id % 5 FROM s_b',
	'SELECT k, d, count(*), max(v) FROM p_b GROUP BY k, d',
	'SELECT k, count(*), avg(v), sum(v + 1) FROM p_b GROUP BY k',
	'SELECT k::bigint, count(*), stddev(v) FROM p_b GROUP BY k::bigint',
	'SELECT DISTINCT k, v / 700 FROM p_b',
	'SELECT a.k, a.t, count(*), sum(w) FROM s_b a JOIN c_b b USING (k) GROUP BY a.k, a.t',
	'SELECT k, t, count(*), max(w) FROM s_b FULL JOIN c_b USING (k) GROUP BY k, t',
	'SELECT p.k, p.d, count(*) FROM p_b p JOIN c_b USING (k) GROUP BY p.k, p.d',
	-- a key that is fixed need not be named
	'SELECT uid, count(*), sum(x) FROM u_b WHERE tenant = 1 GROUP BY uid',
	'SELECT uid, x % 2, count(*) FROM u_b WHERE tenant = 1 GROUP BY uid, x % 2',
	'SELECT DISTINCT uid FROM u_b WHERE tenant = 2',
	'SELECT a.uid, count(*) FROM u_b a JOIN u_b b USING (tenant, uid) WHERE tenant = 1 GROUP BY a.uid',
	-- a group lies in several buckets, or grouping sets
	'SELECT uid, count(*) FROM u_b WHERE tenant > 0 GROUP BY uid',
	'SELECT k, t, count(*) FROM s_b GROUP BY GROUPING SETS ((k, t), (k), ())',
	-- ordered aggregates
	'SELECT k, count(DISTINCT t), array_agg(id ORDER BY ts DESC, id) FROM s_b GROUP BY k',
	'SELECT k, t, array_agg(id ORDER BY id DESC), count(DISTINCT ts) FROM s_b GROUP BY k, t',
	'SELECT k, percentile_disc(0.5) WITHIN GROUP (ORDER BY id), sum(DISTINCT id % 5) FROM s_b GROUP BY k',
	'SELECT k, count(DISTINCT w), array_agg(id ORDER BY id, w) FROM s_b FULL JOIN c_b USING (k) GROUP BY k',
	'SELECT k, count(DISTINCT v % 7), array_agg(v ORDER BY d, v) FROM p_b GROUP BY k',
	-- DISTINCT ON
	'SELECT DISTINCT ON (k) k, ts, id FROM s_b ORDER BY k, ts DESC NULLS LAST, id',
	'SELECT DISTINCT ON (k) k, x, id FROM s_b ORDER BY k DESC NULLS LAST, x DESC NULLS LAST, id',
	'SELECT DISTINCT ON (k, t) k, t, id FROM s_b ORDER BY t, k, ts, id',
	'SELECT DISTINCT ON (k) k, d, v FROM p_b ORDER BY k, v, d',
	'SELECT DISTINCT ON (a.k) a.k, id, w FROM s_b a JOIN c_b c USING (k) ORDER BY a.k, w DESC, id',
	'SELECT DISTINCT ON (k) k, id, w, s.v FROM s_b FULL JOIN c_b USING (k) LEFT JOIN p_b s USING (k) ORDER BY k, id, w, s.v',
	'SELECT k FROM (SELECT DISTINCT ON (k) k, v FROM p_b) s',
	-- window functions
	'SELECT k, id, row_number() OVER (PARTITION BY k ORDER BY ts DESC NULLS LAST, id) FROM s_b',
	'SELECT id, rank() OVER (PARTITION BY k ORDER BY x), count(*) OVER (PARTITION BY t) FROM s_b',
	'SELECT id, count(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN ''10 h'' PRECEDING AND ''5 h'' FOLLOWING) FROM s_b',
	'SELECT * FROM (SELECT k, id, row_number() OVER (PARTITION BY k ORDER BY ts DESC NULLS LAST, id) r FROM s_b) s WHERE r <= 2',
	'SELECT v + d, sum(v) OVER (PARTITION BY k, d ORDER BY v) FROM p_b WHERE d <> 1',
	'SELECT k, id, w, count(*) OVER (PARTITION BY k ORDER BY id, w) FROM s_b FULL JOIN c_b USING (k)']) q;
-- files that have the order need no sort; rows that come bucket by bucket are grouped by the key alone
SET enable_hashagg = off;
SELECT q, nodes(q) !~ 'Sort|Hash' AS as_read FROM unnest(ARRAY[
	'SELECT DISTINCT ON (k) k, ts, id FROM s_b ORDER BY k, ts DESC NULLS LAST, id',
	'SELECT DISTINCT ON (k) k, id FROM s_b',
	'SELECT k, id, lag(id) OVER (PARTITION BY k ORDER BY ts DESC NULLS LAST, id) FROM s_b',
	'SELECT k, ts, stddev(id) FROM s_b GROUP BY k, ts ORDER BY k, ts DESC NULLS LAST',
	'SELECT k, stddev(id) FROM s_b GROUP BY k',
	'SELECT a.k, stddev(id) FROM s_b a JOIN c_b USING (k) GROUP BY a.k']) q;
SELECT nodes('SELECT k, t, stddev(id) FROM s_b GROUP BY k, t') ~ 'Aggregate, (Foreign|BucketJoin)' OR nodes('SELECT DISTINCT ON (k) k, id FROM s_b ORDER BY k, id') ~ 'Unique, Foreign' OR
	nodes('SELECT uid, stddev(x) FROM u_b WHERE tenant > 0 GROUP BY uid') ~ 'Aggregate, Foreign' wrong;
RESET enable_hashagg;
-- rescans, and several processes
SELECT same('SELECT x, s.* FROM generate_series(0, 4) x, LATERAL (SELECT k, t, count(*), max(id) FROM s_b WHERE id % 5 = x GROUP BY k, t OFFSET 0) s');
SELECT same('SELECT x, s.* FROM generate_series(0, 4) x, LATERAL (SELECT DISTINCT ON (k) k, id FROM s_b WHERE id % 5 = x ORDER BY k, ts DESC NULLS LAST, id) s');
SELECT same('SELECT x, s.* FROM generate_series(0, 4) x, LATERAL (SELECT id, row_number() OVER (PARTITION BY k ORDER BY x * id, id) FROM s_b WHERE id % 5 = x OFFSET 0) s');
SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SELECT q, (both_ways(q)).* FROM unnest(ARRAY[
	'SELECT k, t, count(*) FROM s_b GROUP BY k, t',
	'SELECT k, stddev(id), count(DISTINCT t) FROM s_b GROUP BY k',
	'SELECT a.k, w, count(DISTINCT t) FROM s_b a JOIN c_b USING (k) GROUP BY a.k, w',
	'SELECT DISTINCT ON (k) k, id, w FROM s_b FULL JOIN c_b USING (k) ORDER BY k, id, w',
	'SELECT k, v, d, row_number() OVER (PARTITION BY k ORDER BY v, d) FROM p_b']) q;
RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;
DROP FUNCTION both_ways(text);
DROP FOREIGN TABLE s_b, c_b, u_b;
DROP TABLE p_b, p_h, s_h, c_h, u_h;

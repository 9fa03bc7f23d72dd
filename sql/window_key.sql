-- Window functions over partitions that are the key, or smaller than it.
CREATE TABLE s_h (k int, ts timestamp, x numeric, t text, id int);
INSERT INTO s_h SELECT CASE WHEN i % 50 = 0 THEN NULL WHEN i % 4 = 0 THEN 5 ELSE i * 7919 % 400 END, CASE WHEN i % 21 > 0 THEN timestamp '2024-01-01' + i * 37 % 1000 * interval '1 h' END,
	CASE i % 9 WHEN 0 THEN NULL ELSE i % 6 / 4.0 END, CASE WHEN i % 8 > 0 THEN 't' || i % 30 END, i FROM generate_series(1, 4000) i;
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
ANALYZE s_h; ANALYZE s_b; ANALYZE c_h; ANALYZE c_b; ANALYZE p_h; ANALYZE p_0; ANALYZE p_1; ANALYZE p_2;

-- By core's plans, and without their sort?
CREATE FUNCTION windowed(q text, OUT answer text, OUT forced text) LANGUAGE plpgsql AS $$
BEGIN
	answer := same(q);
	PERFORM set_config('enable_sort', 'off', true), set_config('enable_incremental_sort', 'off', true);
	forced := same(q);
	PERFORM set_config('enable_sort', 'on', true), set_config('enable_incremental_sort', 'on', true);
END
$$;
SELECT q, (windowed(q)).* FROM unnest(ARRAY[
	'SELECT k, id, row_number() OVER (PARTITION BY k ORDER BY ts DESC NULLS LAST, id) FROM s_b',
	'SELECT k, id, lag(id) OVER (PARTITION BY k ORDER BY ts DESC NULLS LAST, id), sum(id) OVER (PARTITION BY k ORDER BY ts DESC NULLS LAST, id) FROM s_b',
	'SELECT id, rank() OVER (PARTITION BY k ORDER BY x), dense_rank() OVER (PARTITION BY k ORDER BY x) FROM s_b',
	'SELECT id, count(*) OVER (PARTITION BY k), max(x) OVER (PARTITION BY k) FROM s_b',
	'SELECT id, first_value(id) OVER (PARTITION BY k, t ORDER BY id DESC) FROM s_b',
	'SELECT id, sum(id) OVER (PARTITION BY t, k ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) FROM s_b WHERE id % 3 > 0',
	'SELECT id, count(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN ''10 h'' PRECEDING AND ''5 h'' FOLLOWING) FROM s_b',
	'SELECT id, ntile(3) OVER (PARTITION BY k ORDER BY upper(t), id), nth_value(t, 2) OVER (PARTITION BY k ORDER BY upper(t), id) FROM s_b',
	'SELECT id, row_number() OVER (PARTITION BY k ORDER BY k, id) FROM s_b',
	'SELECT * FROM (SELECT k, id, row_number() OVER (PARTITION BY k ORDER BY ts DESC NULLS LAST, id) r FROM s_b) s WHERE r <= 2',
	'SELECT k, v, d, row_number() OVER (PARTITION BY k ORDER BY v, d) FROM p_b',
	'SELECT v + d, sum(v) OVER (PARTITION BY k, d ORDER BY v) FROM p_b WHERE d <> 1',
	'SELECT a.k, id, w, row_number() OVER (PARTITION BY a.k ORDER BY w DESC, id) FROM s_b a JOIN c_b c USING (k)',
	'SELECT a.k, id, w, rank() OVER (PARTITION BY a.k ORDER BY w) FROM s_b a LEFT JOIN c_b c USING (k) WHERE id % 5 = 0',
	'SELECT k, id, w, count(*) OVER (PARTITION BY k ORDER BY id, w) FROM s_b FULL JOIN c_b USING (k)',
	'SELECT p.k, v, w, row_number() OVER (PARTITION BY p.k ORDER BY v, d, w) FROM p_b p JOIN c_b USING (k)']) q;
-- several windows, other partitions, above groups; the order of the answer is sorted for
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT id, rank() OVER (PARTITION BY k ORDER BY x), rank() OVER (PARTITION BY t ORDER BY x) FROM s_b',
	'SELECT id, rank() OVER (PARTITION BY k ORDER BY x), rank() OVER (PARTITION BY k ORDER BY id) FROM s_b',
	'SELECT id, row_number() OVER (ORDER BY k, id) FROM s_b',
	'SELECT id, row_number() OVER (PARTITION BY t ORDER BY id) FROM s_b',
	'SELECT k, t, rank() OVER (PARTITION BY k ORDER BY count(*), t) FROM s_b GROUP BY k, t',
	'SELECT c.k, id, w, count(*) OVER (PARTITION BY c.k ORDER BY id, w) FROM s_b a LEFT JOIN c_b c USING (k)',
	'SELECT DISTINCT k, count(*) OVER (PARTITION BY k) FROM s_b',
	'SELECT DISTINCT ON (k) k, r FROM (SELECT k, rank() OVER (PARTITION BY k ORDER BY x) r FROM s_b) s ORDER BY k, r DESC',
	'SELECT id, row_number() OVER (PARTITION BY k ORDER BY (SELECT max(w) FROM c_b WHERE c_b.k = s_b.k), id) FROM s_b']) q;
SELECT md5(string_agg(s::text, '|')) = (SELECT md5(string_agg(s::text, '|')) FROM (SELECT k, id, lag(id) OVER (PARTITION BY k ORDER BY x, id) FROM s_h ORDER BY k, x, id) s) in_order
FROM (SELECT k, id, lag(id) OVER (PARTITION BY k ORDER BY x, id) FROM s_b ORDER BY k, x, id) s;
-- rescans, generic plans, processes
SELECT same('SELECT x, s.* FROM generate_series(0, 4) x, LATERAL (SELECT id, row_number() OVER (PARTITION BY k ORDER BY x * id, id) FROM s_b WHERE id % 5 = x OFFSET 0) s');
PREPARE ranked(int) AS SELECT count(*), sum(r), sum(r * id % 1000) FROM (SELECT id, row_number() OVER (PARTITION BY k ORDER BY x, id) r FROM s_b WHERE id > $1) s;
EXECUTE ranked(0); EXECUTE ranked(100); EXECUTE ranked(200); EXECUTE ranked(300); EXECUTE ranked(400); EXECUTE ranked(3000);
SELECT count(*), sum(r), sum(r * id % 1000) FROM (SELECT id, row_number() OVER (PARTITION BY k ORDER BY x, id) r FROM s_h WHERE id > 3000) s;
DEALLOCATE ranked;
SET enable_sort = off; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT k, id, row_number() OVER (PARTITION BY k ORDER BY x, id) FROM s_b',
	'SELECT k, id, w, count(*) OVER (PARTITION BY k ORDER BY id, w) FROM s_b FULL JOIN c_b USING (k)',
	'SELECT k, v, d, row_number() OVER (PARTITION BY k ORDER BY v, d) FROM p_b']) q;
RESET enable_sort; RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;
DROP FUNCTION windowed(text);
DROP FOREIGN TABLE s_b, c_b;
DROP TABLE p_b, p_h, s_h, c_h;

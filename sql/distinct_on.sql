-- DISTINCT ON the key: one row of each, the first by an order.
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

-- The first row of each key, and whether rows are neither hashed nor sorted below that.
CREATE FUNCTION first_of(q text, OUT answer text, OUT by_key boolean) LANGUAGE plpgsql AS $$
DECLARE
	plan text;
BEGIN
	answer := same(q);
	plan := nodes(q);
	by_key := plan ~ '(Group|Unique|Aggregate), (BucketRows|BucketJoin|Foreign Scan|Merge Append|Incremental Sort, BucketJoin)' AND plan !~ 'Hash|Sort, (Foreign|Append|BucketJoin)';
END
$$;
SELECT q, (first_of(q)).* FROM unnest(ARRAY[
	'SELECT DISTINCT ON (k) k, ts, id FROM s_b ORDER BY k, ts DESC NULLS LAST, id',
	'SELECT DISTINCT ON (k) k, x, id FROM s_b ORDER BY k, x, id DESC',
	'SELECT DISTINCT ON (k) k, x, id FROM s_b ORDER BY k DESC NULLS LAST, x DESC NULLS LAST, id',
	'SELECT DISTINCT ON (k) id, t FROM s_b ORDER BY k, upper(t) DESC, id',
	'SELECT DISTINCT ON (k) k, ts::date, id % 7 FROM s_b WHERE t IS NOT NULL ORDER BY k, id % 7, id',
	'SELECT DISTINCT ON (k, t) k, t, id FROM s_b ORDER BY k, t, id',
	'SELECT DISTINCT ON (k, t) k, t, id FROM s_b ORDER BY t, k, ts, id',
	'SELECT DISTINCT ON (k, ts) k, ts, id FROM s_b ORDER BY k, ts DESC NULLS LAST, id',
	'SELECT DISTINCT ON (k) k, d, v FROM p_b ORDER BY k, v, d',
	'SELECT DISTINCT ON (k) v + 1, k FROM p_b WHERE d <> 1 ORDER BY k, v DESC, d',
	'SELECT DISTINCT ON (k, d) k, d, v FROM p_b ORDER BY k, d, v',
	'SELECT DISTINCT ON (a.k) a.k, id, w FROM s_b a JOIN c_b c USING (k) ORDER BY a.k, w DESC, id',
	'SELECT DISTINCT ON (a.k) a.k, id, w FROM s_b a LEFT JOIN c_b c USING (k) ORDER BY a.k, w DESC NULLS LAST, id',
	'SELECT * FROM (SELECT DISTINCT ON (k) k, id, ts FROM s_b ORDER BY k, ts DESC NULLS LAST, id) s WHERE id % 2 = 0',
	'SELECT count(*), sum(id) FROM (SELECT DISTINCT ON (k) k, id FROM s_b ORDER BY k, id DESC) s']) q;
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT DISTINCT ON (k) k, id, w FROM s_b FULL JOIN c_b USING (k) ORDER BY k, id, w',
	'SELECT DISTINCT ON (k) k, id, w, s.v FROM s_b FULL JOIN c_b USING (k) LEFT JOIN p_b s USING (k) ORDER BY k, id, w, s.v']) q;
-- without ORDER BY any row will do, but one of each key
SELECT q, nodes(q) FROM unnest(ARRAY[
	'SELECT DISTINCT ON (k) k, id FROM s_b',
	'SELECT DISTINCT ON (k) k, v + d FROM p_b',
	'SELECT DISTINCT ON (k, t) k, t, id FROM s_b',
	'SELECT DISTINCT ON (k) k, id, w FROM s_b FULL JOIN c_b USING (k)']) q;
SELECT count(*), count(DISTINCT s.k), count(*) FILTER (WHERE h.id IS NOT NULL) found FROM (SELECT DISTINCT ON (k) k, id, ts, x, t FROM s_b) s LEFT JOIN s_h h ON (s.*)::text = (h.k, h.id, h.ts, h.x, h.t)::text;
SELECT count(DISTINCT k) + 1 n FROM s_h;
SELECT same('SELECT k FROM (SELECT DISTINCT ON (k) k, v FROM p_b) s'), same('SELECT k, t FROM (SELECT DISTINCT ON (k, t) k, t, id FROM s_b) s'), same('SELECT k FROM (SELECT DISTINCT ON (k) k, id, w FROM s_b FULL JOIN c_b USING (k)) s');
-- other columns, above groups and windows: core's
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT DISTINCT ON (t) t, id FROM s_b ORDER BY t, id',
	'SELECT DISTINCT ON (k) k, t, count(*) FROM s_b GROUP BY k, t ORDER BY k, count(*) DESC, t',
	'SELECT DISTINCT ON (k) k, id, rank() OVER (ORDER BY id) r FROM s_b ORDER BY k, r, id',
	'SELECT DISTINCT ON (k) k, id FROM s_b WHERE k = 5 ORDER BY k, id',
	'SELECT DISTINCT ON (c.k) c.k, id, w FROM s_b a LEFT JOIN c_b c USING (k) ORDER BY c.k, w DESC NULLS LAST, id',
	'SELECT DISTINCT ON (k) k, (SELECT max(w) FROM c_b WHERE c_b.k = s_b.k) m, id FROM s_b ORDER BY k, m, id']) q;
-- the order of the answer
CREATE FUNCTION in_order(q text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	got text;
	want text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, E''\n'') FROM (%s) q', q) INTO got;
	EXECUTE format('SELECT string_agg(q::text, E''\n'') FROM (%s) q', regexp_replace(q, '(\w)_b\M', '\1_h', 'g')) INTO want;
	RETURN got = want;
END
$$;
SELECT q, in_order(q) FROM unnest(ARRAY[
	'SELECT DISTINCT ON (k) k, ts, id FROM s_b ORDER BY k, ts DESC NULLS LAST, id',
	'SELECT DISTINCT ON (k) k, ts, id FROM s_b ORDER BY k DESC, ts, id',
	'SELECT DISTINCT ON (k) k, ts, id FROM s_b ORDER BY k, ts DESC NULLS LAST, id LIMIT 20 OFFSET 5',
	'SELECT DISTINCT ON (a.k) a.k, id, w FROM s_b a JOIN c_b c USING (k) ORDER BY a.k, w DESC, id LIMIT 30',
	'SELECT DISTINCT ON (k) k, id, w FROM s_b FULL JOIN c_b USING (k) ORDER BY k, id, w']) q;
-- rescans, generic plans, processes
SELECT same('SELECT x, s.* FROM generate_series(0, 4) x, LATERAL (SELECT DISTINCT ON (k) k, id FROM s_b WHERE id % 5 = x ORDER BY k, x * id, id) s');
SELECT same('SELECT c.w, (SELECT sum(id) FROM (SELECT DISTINCT ON (k) k, id FROM s_b WHERE id % 9 = c.w % 9 ORDER BY k, ts, id) s) FROM c_b c WHERE w < 20');
PREPARE latest(int) AS SELECT count(*), sum(id), min(ts) FROM (SELECT DISTINCT ON (k) k, id, ts FROM s_b WHERE id > $1 ORDER BY k, ts DESC NULLS LAST, id) s;
EXECUTE latest(0); EXECUTE latest(100); EXECUTE latest(200); EXECUTE latest(300); EXECUTE latest(400); EXECUTE latest(3000);
SELECT count(*), sum(id), min(ts) FROM (SELECT DISTINCT ON (k) k, id, ts FROM s_h WHERE id > 3000 ORDER BY k, ts DESC NULLS LAST, id) s;
DEALLOCATE latest;
SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SELECT q, same(q) FROM unnest(ARRAY[
	'SELECT DISTINCT ON (k) k, ts, id FROM s_b ORDER BY k, ts DESC NULLS LAST, id',
	'SELECT DISTINCT ON (k) k, x, id FROM s_b ORDER BY k, x, id DESC',
	'SELECT DISTINCT ON (k) k, id, w FROM s_b FULL JOIN c_b USING (k) ORDER BY k, id, w',
	'SELECT DISTINCT ON (k) k, d, v FROM p_b ORDER BY k, v, d']) q;
RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (k) k, v + d FROM p_b;
DROP FUNCTION first_of(text);
DROP FUNCTION in_order(text);
DROP FOREIGN TABLE s_b, c_b;
DROP TABLE p_b, p_h, s_h, c_h;

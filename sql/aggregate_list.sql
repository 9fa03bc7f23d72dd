-- Every aggregate that is computed on batches, in each way its table of functions is used: of all rows, by key, by
-- another column, over frequent keys of a join, and in several processes.
CREATE TABLE l_h (k int, bool bool, int2 int2, int4 int4, int8 int8, oid oid, float4 float4, float8 float8, numeric numeric, text text COLLATE "C", bpchar char(5) COLLATE "C", date date, "time" time, "timestamp" timestamp, timestamptz timestamptz);
INSERT INTO l_h SELECT i % 7, i % 3 = 0, i, -i, i * 1e9, i + 4000000000, i / 8.0, -i / 4.0, i / 100.0, 't' || i % 50, i % 40, date '2020-01-01' + i % 30, time '00:00' + i * interval '1 min', timestamp '2020-01-01' + i * interval '1 h', timestamptz '2020-01-01 UTC' + i * interval '1 h'
	FROM generate_series(1, 400) i;
INSERT INTO l_h (k) VALUES (NULL), (1), (9), (9);
CREATE FOREIGN TABLE l_b (k int, bool bool, int2 int2, int4 int4, int8 int8, oid oid, float4 float4, float8 float8, numeric numeric, text text COLLATE "C", bpchar char(5) COLLATE "C", date date, "time" time, "timestamp" timestamp, timestamptz timestamptz) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '50');
INSERT INTO l_b SELECT * FROM l_h WHERE int2 % 2 = 0; INSERT INTO l_b SELECT * FROM l_h WHERE (int2 % 2 = 0) IS NOT TRUE;
CREATE TABLE n_h (k int, w int); INSERT INTO n_h SELECT i % 9, i FROM generate_series(1, 300) i;
CREATE FOREIGN TABLE n_b (k int, w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '50');
INSERT INTO n_b SELECT * FROM n_h;
ANALYZE l_h; ANALYZE l_b; ANALYZE n_h; ANALYZE n_b;
CREATE TABLE calls (call text, arg text);
INSERT INTO calls SELECT format('%s(%I)', p.proname, a.attname), a.attname
	FROM pg_proc p, pg_attribute a
	WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname IN ('count', 'sum', 'avg', 'min', 'max', 'bool_and', 'bool_or', 'every')
		AND a.attrelid = 'l_h'::regclass AND a.attnum > 1 AND p.pronargs = 1 AND p.proargtypes[0] IN (a.atttypid, '"any"'::regtype);
INSERT INTO calls VALUES ('count(*)', ''), ('count(1)', '');
CREATE TABLE shapes (shape text, q text);
INSERT INTO shapes VALUES ('all', 'SELECT %s FROM l_b'), ('key', 'SELECT k, %s FROM l_b GROUP BY k'), ('other', 'SELECT bool, %s FROM l_b GROUP BY bool'), ('pairs', 'SELECT %s FROM l_b JOIN n_b USING (k)');
-- which argument types each aggregate is computed of on batches, and whether all answers are right
CREATE FUNCTION computed() RETURNS TABLE (shape text, fn text, args text, wrong text) LANGUAGE sql AS $$
	SELECT shape, fn, string_agg(arg, ' ' ORDER BY arg) FILTER (WHERE batches), string_agg(arg, ' ' ORDER BY arg) FILTER (WHERE NOT right_)
	FROM (SELECT shape, split_part(call, '(', 1) AS fn, arg, nodes(format(q, call), false) ~ 'BucketAggregate' AS batches,
			answer(format(q, call)) IS NOT DISTINCT FROM answer(regexp_replace(format(q, call), '(\w)_b\M', '\1_h', 'g')) AS right_
		FROM calls, shapes) s
	GROUP BY shape, fn ORDER BY fn, shape;
$$;
SET enable_hashagg = on; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
SET max_parallel_workers_per_gather = 0;
SELECT * FROM computed();
SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET parallel_leader_participation = off;
SELECT fn, bool_and(wrong IS NULL) FROM computed() GROUP BY fn ORDER BY fn;
SELECT count(*) FILTER (WHERE nodes(format(q, call), false) ~ 'BucketAggregate.*Gather|Gather.*BucketAggregate') > 150 AS shared FROM calls, shapes;
RESET enable_hashagg; RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop;
RESET max_parallel_workers_per_gather; RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET parallel_leader_participation;
DROP FUNCTION computed();
DROP FOREIGN TABLE l_b, n_b;
DROP TABLE l_h, n_h, calls, shapes;

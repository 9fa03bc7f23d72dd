-- Reading a table page by page: conditions on rows behind the last one skip blocks.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE pg_h (k int, id int, d date, t text COLLATE "C", n numeric, v bigint);
INSERT INTO pg_h
SELECT CASE WHEN i % 61 <> 0 THEN i / 10 END, CASE WHEN i % 37 <> 0 THEN i END, CASE WHEN i % 41 <> 0 THEN date '2024-01-01' + i / 100 END,
	CASE WHEN i % 43 <> 0 THEN 'text ' || lpad((i / 7)::text, 6, '0') END, CASE WHEN i % 47 <> 0 THEN i / 20.0 END, i
FROM generate_series(1, 20000) i;
CREATE FOREIGN TABLE pg_b (k int, id int, d date, t text COLLATE "C", n numeric, v bigint)
	SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', sort_by 'k, id', block_rows '100');
-- two runs in each bucket
INSERT INTO pg_b SELECT * FROM pg_h WHERE v % 3 = 0;
INSERT INTO pg_b SELECT * FROM pg_h WHERE v % 3 <> 0;
CREATE VIEW mixed_h AS TABLE pg_h;
CREATE FOREIGN TABLE mixed_b (k int, id int, d date, t text COLLATE "C", n numeric, v bigint)
	SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', sort_by 'k, id desc nulls first', block_rows '100');
INSERT INTO mixed_b SELECT * FROM pg_h WHERE v % 2 = 0;
INSERT INTO mixed_b SELECT * FROM pg_h WHERE v % 2 <> 0;
ANALYZE pg_h, pg_b, mixed_b;

-- what is skipped by, beside the condition itself
EXPLAIN (COSTS OFF) SELECT * FROM pg_b WHERE (k, id) > (1500, 15005) ORDER BY k, id LIMIT 20;
EXPLAIN (COSTS OFF) SELECT * FROM pg_b WHERE k > 1500 OR (k = 1500 AND id > 15005) ORDER BY k, id LIMIT 20;
EXPLAIN (COSTS OFF) SELECT * FROM pg_b WHERE k > 1500 OR (k = 1500 AND id > 15005) OR k IS NULL;
EXPLAIN (COSTS OFF) SELECT * FROM pg_b WHERE (15, 3) >= (id, k);
EXPLAIN (COSTS OFF) SELECT * FROM pg_b WHERE (k = 7 AND v % 2 = 0) OR (v % 7 = 1 AND k IN (3, 900));
-- nothing follows: columns of the row itself, arms of different columns, values that can fail
EXPLAIN (COSTS OFF) SELECT * FROM pg_b WHERE (k, id) > (id, 5) AND (k > 1500 OR v % 2 = 0 AND id > 5) AND (k > 3 OR k = length(current_setting('port')) AND v > 3);

-- few blocks of some 200 are read
SELECT measured('SELECT * FROM ' || q, 'Blocks Read')::int < 40 AS few, q
FROM unnest(ARRAY[
	'pg_b WHERE (k, id) > (1500, 15005) ORDER BY k, id LIMIT 20',
	'pg_b WHERE (1500, 15005) < (k, id) ORDER BY k, id LIMIT 20',
	'pg_b WHERE (k, id) < (30, 305) ORDER BY k, id',
	'pg_b WHERE k > 1500 OR (k = 1500 AND id > 15005) ORDER BY k, id LIMIT 20',
	'pg_b WHERE (k = 1500 AND id > 15005) OR k > 1500 ORDER BY k, id LIMIT 20',
	'pg_b WHERE k > 1500 OR (k = 1500 AND (id > 15005 OR (id = 15005 AND v > 3))) ORDER BY k, id LIMIT 20',
	'pg_b WHERE k > 1500 OR (k = 1500 AND id > 15005) OR (k = 1500 AND id = 15005 AND v > 3) ORDER BY k, id LIMIT 20',
	'mixed_b WHERE k > 1500 OR (k = 1500 AND id < 15005) ORDER BY k, id DESC NULLS FIRST LIMIT 20',
	'pg_b WHERE (k, id) > (1500.5, 15005) ORDER BY k, id LIMIT 20',
	'pg_b WHERE (k, id) > (1500::bigint, 15005::bigint) ORDER BY k, id LIMIT 20',
	'pg_b WHERE (d, v) <= (date ''2024-01-03'', 200)']) q;

-- rows
SELECT same(format('SELECT * FROM (SELECT * FROM %s) s', q)), q
FROM unnest(ARRAY[
	'pg_b WHERE (k, id) > (1500, 15005)', 'pg_b WHERE (k, id) >= (1500, 15005)', 'pg_b WHERE (k, id) < (30, 305)', 'pg_b WHERE (k, id) <= (30, 305)',
	'pg_b WHERE (k, id, v) > (1500, 15005, 3) ORDER BY k, id, v LIMIT 20', 'pg_b WHERE (1500, 15005) < (k, id) ORDER BY k, id, v LIMIT 20',
	'pg_b WHERE (k, id) > (1500, NULL)', 'pg_b WHERE (k, id) > (NULL, 15005)', 'pg_b WHERE (k, id) > (1995, 19950) OR k IS NULL',
	'pg_b WHERE (k, id) > (1500.5, 15005)', 'pg_b WHERE (k, id) > (1500.0, 15005)', 'pg_b WHERE (k, id) <= (30.5, 305)', 'pg_b WHERE (k, id) < (-1.5, 3)',
	'pg_b WHERE (k, id) > (99999999999, 1)', 'pg_b WHERE (k, id) > (1500::smallint, 15005::bigint)', 'pg_b WHERE (d, id) > (date ''2024-06-01'', 15170)',
	'pg_b WHERE (d, id) > (timestamp ''2024-06-01 12:00'', 15170)', 'pg_b WHERE (t, id) > (''text 002000'', 14003)', 'pg_b WHERE (t COLLATE "POSIX", id) <= (''text 002000'', 14003)',
	'pg_b WHERE (n, id) > (700, 14003)', 'pg_b WHERE (v, k) > (14003, 3)', 'pg_b WHERE (id, k) > (14003, 3) AND (k, id) <= (1800, 3)', 'pg_b WHERE NOT (k, id) > (1500, 15005)',
	'pg_b WHERE (k, id) > (id, 5)', 'pg_b WHERE (k + 0, id) > (1500, 5)', 'pg_b WHERE (k, id) = (1500, 15005)', 'pg_b WHERE (k, id) <> (1500, 15005) AND v < 50',
	'pg_b WHERE k > 1500 OR (k = 1500 AND id > 15005)', 'pg_b WHERE (k = 1500 AND id > 15005) OR k > 1500', 'pg_b WHERE k < 30 OR (30 = k AND id < 305)',
	'pg_b WHERE k > 1500 OR (k = 1500 AND id > 15005) OR k IS NULL', 'pg_b WHERE k > 1500 OR (k = 1500 AND id IS NULL)', 'pg_b WHERE k >= 1500 OR (k = 1400 AND id > 14005)',
	'pg_b WHERE k > 1500 OR (k < 20 AND v % 2 = 0)', 'pg_b WHERE (k = 7 AND v % 2 = 0) OR (v % 7 = 1 AND k IN (3, 900))', 'pg_b WHERE k > NULL OR (k = NULL AND id > 4)',
	'pg_b WHERE k > 1500 OR (k = 1500 AND (id > 15005 OR (id = 15005 AND v > 3)))', 'pg_b WHERE k > 1500.5 OR (k = 1501 AND v % 2 = 0)', 'pg_b WHERE k > 1500 OR v % 100 = 7 AND id > 5',
	'pg_b WHERE (k, id) > (1500, 15005) OR (k = 3 AND v % 2 = 0)', 'pg_b WHERE k > 1500.5 OR (k = 1500::bigint AND v % 2 = 0)', 'pg_b WHERE k >= 1500.5 OR (k = 1500::bigint AND v % 2 = 0)', 'pg_b WHERE k > 3 OR k = (SELECT 1) AND v > 3',
	'mixed_b WHERE k > 1500 OR (k = 1500 AND id < 15005) ORDER BY k, id DESC NULLS FIRST, v LIMIT 20', 'mixed_b WHERE k > 1500 OR (k = 1500 AND (id < 15005 OR id IS NOT NULL))',
	'mixed_b WHERE (k, id) > (1500, 15005) ORDER BY k, id, v LIMIT 7', 'mixed_b WHERE (k, id) <= (12, NULL)',
	'pg_b a CROSS JOIN LATERAL (SELECT b.v AS w FROM pg_b b WHERE (b.k, b.id) > (a.k, a.id) ORDER BY b.k, b.id, b.v LIMIT 2) x WHERE a.v % 4000 = 8',
	'pg_b a WHERE v % 5000 = 3 AND EXISTS (SELECT FROM mixed_b b WHERE (b.k, b.id) >= (a.k, a.id) AND (b.k > a.k OR (b.k = a.k AND b.id > 7)))']) q;
-- core computes no value of an arm that no row comes to
SELECT count(*) FROM pg_b WHERE k IS NOT NULL AND (k >= 0 OR (k = (SELECT 1 / (count(*) - count(*))::int FROM pg_h) AND id > 3));

-- all pages, one after the other, are the table
CREATE FUNCTION pages(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	last_k int := -1;
	last_id int := -1;
	page int[];
	got bigint := 0;
	sum bigint := 0;
	r record;
BEGIN
	LOOP
		FOR r IN EXECUTE format('SELECT k, id, v FROM pg_b WHERE %s ORDER BY k, id LIMIT 997', condition) USING last_k, last_id LOOP
			IF (r.k, r.id) <= (last_k, last_id) THEN
				RETURN 'WRONG';
			END IF;
			last_k := r.k;
			last_id := r.id;
			got := got + 1;
			sum := sum + r.v;
		END LOOP;
		EXIT WHEN NOT FOUND;
	END LOOP;
	RETURN format('%s rows, %s', got, sum);
END
$$;
SELECT pages('(k, id) > ($1, $2)'), pages('(k > $1 OR k = $1 AND id > $2) AND id IS NOT NULL');
SELECT count(*), sum(v) FROM pg_h WHERE k IS NOT NULL AND id IS NOT NULL;

-- parameters
PREPARE behind(int, int) AS SELECT k, id FROM pg_b WHERE (k, id) > ($1, $2) ORDER BY k, id LIMIT 2;
PREPARE either(int, int) AS SELECT k, id FROM pg_b WHERE k > $1 OR (k = $1 AND id > $2) ORDER BY k, id LIMIT 2;
SELECT format('EXECUTE behind(%s, %s)', i * 100, i * 1000), format('EXECUTE either(%s, %s)', i * 100, i * 1000) FROM generate_series(1, 7) i \gexec
EXECUTE behind(NULL, 5);
EXECUTE either(NULL, 5);
EXECUTE behind(5, NULL);
EXECUTE either(5, NULL);
EXPLAIN (COSTS OFF) EXECUTE either(3, 4);
SELECT measured('EXECUTE behind(1500, 15005)', 'Blocks Read')::int < 40 AS few;
DROP FUNCTION pages;
DROP VIEW mixed_h;
DROP FOREIGN TABLE pg_b, mixed_b;
DROP TABLE pg_h;

-- Lookups that take rows out of packed columns: every encoding, more columns than fit work_mem, many rows of one key.
SET bucketfdw.enable_routing = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE p_h (k bigint, seq int, small smallint, num numeric(12,2), any_num numeric, f8 float8, f4 real, third float8, day date, ok bool, few text,
	front text, plain text, one text, id uuid, name name, arr int[], nothing int, nulls int, null_text text, big text);
INSERT INTO p_h SELECT k, i, i % 300 - 150, (i * 7919::bigint % 1000003) / 100.0 - 3000, CASE i % 3 WHEN 0 THEN i ELSE i / 7.0 END, i / 4.0, i / 8.0, i / 3.0,
	date '2020-01-01' + i % 3000, i % 3 = 0, 'state ' || i % 5, 'customer number ' || k, md5(i::text), 'same', md5(k::text)::uuid, 'name ' || i % 100,
	ARRAY[i, i % 10], NULL, CASE WHEN i % 5 > 0 THEN i END, CASE WHEN i % 7 > 2 THEN 'text ' || i END,
	CASE WHEN i % 4000 = 0 THEN repeat(md5(i::text), 2000) END
FROM (SELECT i, CASE WHEN i % 10 = 0 THEN 77 WHEN i % 1000 = 1 THEN NULL ELSE i * 7919::bigint % 24000 * 3 END AS k FROM generate_series(1, 24000) i) s;
ALTER TABLE p_h ADD COLUMN later int;
CREATE FOREIGN TABLE p_b (k bigint, seq int, small smallint, num numeric(12,2), any_num numeric, f8 float8, f4 real, third float8, day date, ok bool, few text,
	front text, plain text, one text, id uuid, name name, arr int[], nothing int, nulls int, null_text text, big text)
	SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', sort_by 'k, seq');
INSERT INTO p_b SELECT k, seq, small, num, any_num, f8, f4, third, day, ok, few, front, plain, one, id, name, arr, nothing, nulls, null_text, big
FROM p_h WHERE seq > 8000;
INSERT INTO p_b SELECT k, seq, small, num, any_num, f8, f4, third, day, ok, few, front, plain, one, id, name, arr, nothing, nulls, null_text, big
FROM p_h WHERE seq <= 8000;
ALTER FOREIGN TABLE p_b ADD COLUMN later int;
CREATE INDEX ON p_h (k);
-- in no order, in order; some of them are not there, some are NULL, some come again
CREATE TABLE keys_h AS SELECT n, CASE WHEN n % 50 = 0 THEN NULL WHEN n % 33 = 0 THEN 300 ELSE n * 4001::bigint % 24100 * 3 - 150 END AS x FROM generate_series(1, 400) n;
CREATE FOREIGN TABLE keys_b (n int, x bigint) SERVER bucketfdw OPTIONS (bucket_by 'n', buckets '4');
INSERT INTO keys_b SELECT * FROM keys_h;
ANALYZE p_h, p_b, keys_h, keys_b;

CREATE FUNCTION heap_too(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	heap record;
	got record;
BEGIN
	IF nodes(query, false) !~ 'Nested Loop' AND query !~ 'SELECT .*\(SELECT' THEN
		RETURN 'no lookups: ' || nodes(query, false);
	END IF;
	SELECT * INTO got FROM answer(query);
	SELECT * INTO heap FROM answer(regexp_replace(query, '(\w)_b\M', '\1_h', 'g'));
	RETURN CASE WHEN got = heap THEN format('same, %s rows', got.n) ELSE 'WRONG' END;
END
$$;
CREATE FUNCTION all_shapes() RETURNS TABLE (result text, query text) LANGUAGE sql AS $$
	SELECT heap_too(q), q FROM unnest(ARRAY[
		'SELECT n, p.* FROM keys_h, p_b p WHERE k = x',
		'SELECT n, p.* FROM (SELECT * FROM keys_h ORDER BY x LIMIT 400) s, p_b p WHERE k = x',
		'SELECT n, k FROM keys_h, p_b WHERE k = x',
		'SELECT n, num, f8, few, nulls FROM keys_h, p_b WHERE k = x AND day > date ''2021-01-01'' AND nulls % 2 = 0',
		'SELECT n, plain FROM keys_h, p_b WHERE k = x AND seq = 3 * n',
		'SELECT n, seq, later, nothing FROM keys_h, p_b WHERE k = x AND seq > 1000 AND later IS NULL',
		'SELECT n, null_text FROM keys_h, p_b WHERE k = x AND null_text > ''text 3'' AND (few = ''state 1'' OR seq < 10000)',
		'SELECT n, front, third FROM keys_h, p_b WHERE k = ANY (ARRAY[x, x + 3, x + 6, 77777777, NULL, x])',
		'SELECT n, front FROM keys_h, p_b WHERE k IN (x, 30) AND seq < 12000 AND n < 200',
		'SELECT n, s.* FROM keys_h, LATERAL (SELECT count(*), sum(num), max(few), min(f4) FROM p_b WHERE k = x) s',
		'SELECT n, (SELECT max(big) FROM p_b WHERE k = x) FROM keys_h',
		'SELECT n, s.seq, s.any_num FROM keys_b, LATERAL (SELECT * FROM p_b WHERE k = x ORDER BY seq DESC LIMIT 1) s',
		'SELECT n, s.seq FROM keys_h LEFT JOIN LATERAL (SELECT seq FROM p_b WHERE k = x AND ok OFFSET 0) s ON true',
		-- thousands of rows of one key, in several blocks
		'SELECT n, count(*), sum(num), max(plain) FROM keys_h, p_b WHERE k = CASE WHEN n % 500 = 0 THEN 77 ELSE x END GROUP BY n',
		'SELECT n, p.seq, p.id FROM keys_h, p_b p WHERE k = CASE WHEN n % 300 = 0 THEN 77 ELSE x END AND p.seq = n * 10',
		'SELECT n, p.seq FROM keys_h, p_b p WHERE k = ANY (ARRAY[77, x]) AND p.seq = n * 10']) q
$$;
SELECT * FROM all_shapes();
-- nothing fits
SET work_mem = '64kB';
SELECT result FROM all_shapes() WHERE result !~ '^same';
-- all does; each block is checked as well; blocks are not passed over
SET work_mem = '256MB';
SET bucketfdw.verify_order = on;
SELECT result FROM all_shapes() WHERE result !~ '^same';
RESET bucketfdw.verify_order;
SET bucketfdw.enable_pruning = off;
SELECT heap_too('SELECT n, p.* FROM (SELECT * FROM keys_h LIMIT 200) s, p_b p WHERE k = x');
RESET bucketfdw.enable_pruning;
-- a column is read once
CREATE FUNCTION bytes_read(query text) RETURNS bigint LANGUAGE sql AS $$ SELECT regexp_replace(measured(query, 'Bytes Read'), '\D', '', 'g')::bigint $$;
CREATE FUNCTION file_bytes() RETURNS bigint LANGUAGE sql AS $$ SELECT sum(bytes)::bigint FROM bucketfdw.files WHERE relid = 'p_b'::regclass $$;
SELECT bytes_read('SELECT k, num, day, few FROM keys_h, p_b WHERE k = x') < file_bytes() / 4 AS once,
	measured('SELECT k, num, day, few FROM keys_h, p_b WHERE k = x', 'Blocks Read')::int <= 16 AS blocks;
RESET work_mem;

-- parameters: the sixth execution has a generic plan; arrays; NULL; rows that come and go in between
PREPARE one (bigint) AS SELECT count(*), sum(num), max(front) FROM p_b WHERE k = $1;
EXECUTE one(3); EXECUTE one(NULL); EXECUTE one(6); EXECUTE one(-1); EXECUTE one(77); EXECUTE one(9); EXECUTE one(9); EXECUTE one(NULL); EXECUTE one(77);
PREPARE any_of (bigint[]) AS SELECT count(*), sum(num) FROM p_b WHERE k = ANY ($1);
EXECUTE any_of('{3,6,NULL}'); EXECUTE any_of('{}'); EXECUTE any_of(NULL); EXECUTE any_of('{3}'); EXECUTE any_of('{77,3,3}'); EXECUTE any_of('{3,6}');
SELECT array_agg(i * 3) FILTER (WHERE i <= 60) AS few, array_agg(i * 3) AS many FROM generate_series(1, 200) i \gset
EXECUTE any_of(:'many'); EXECUTE any_of(:'few');
SELECT count(*), sum(num) FROM p_h WHERE k = ANY (:'many');
SELECT count(*), sum(num) FROM p_h WHERE k = ANY (:'few');
PREPARE joined AS SELECT count(*), sum(num) FROM keys_h, p_b WHERE k = x;
EXECUTE joined;
BEGIN;
INSERT INTO p_b (k, num) SELECT x, 1000000 FROM keys_h WHERE n < 10;
EXECUTE joined;
SAVEPOINT s;
TRUNCATE p_b;
EXECUTE joined;
ROLLBACK TO s;
EXECUTE joined;
ROLLBACK;
EXECUTE joined;
-- a cursor, of which some rows are fetched twice
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT n, seq, num, front FROM (SELECT * FROM keys_h WHERE n <= 40 ORDER BY n) s, p_b WHERE k = x;
FETCH 3 FROM c; MOVE 20 IN c; FETCH BACKWARD 2 FROM c; FETCH 1 FROM c;
COMMIT;
-- a numeric that is known only when the table is read
PREPARE num (numeric) AS SELECT count(*), sum(seq) FROM p_b WHERE k = $1;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE num(6);
EXECUTE num(6.0); EXECUTE num(6.5); EXECUTE num('NaN'); EXECUTE num('-Infinity'); EXECUTE num(NULL); EXECUTE num(1e30); EXECUTE num(77);
SELECT measured('EXECUTE num(6.00)', 'Buckets Read') AS buckets, measured('EXECUTE num(6.5)', 'Buckets Read') AS none;
RESET plan_cache_mode;
SELECT heap_too(q), q FROM unnest(ARRAY['SELECT n, seq FROM keys_h, p_b WHERE k = x / 2.0', 'SELECT n, seq FROM keys_h, p_b WHERE seq = n * 10.0 AND k = CASE WHEN n % 300 = 0 THEN 77 ELSE x END',
	'SELECT n, seq FROM keys_h, p_b WHERE k = x::numeric AND n < 500', 'SELECT n, (SELECT sum(num) FROM p_b WHERE k = x + 0.0) FROM keys_h',
	'SELECT n, seq FROM keys_h, p_b WHERE x / 4.0 = k']) q;
SELECT heap_too('SELECT n, k FROM keys_h, p_b WHERE k = x AND small <> n / 10.0');
-- it can be stopped
SET statement_timeout = '100ms';
DO $$
BEGIN
	PERFORM count(p.front) FROM generate_series(1, 2000000000) g, LATERAL (SELECT front FROM p_b WHERE k = g % 1000 OFFSET 0) p;
	RAISE NOTICE 'went through';
EXCEPTION WHEN query_canceled THEN
	RAISE NOTICE 'stopped';
END
$$;
RESET statement_timeout;

DEALLOCATE ALL;
DROP FUNCTION all_shapes(), heap_too(text), bytes_read(text), file_bytes();
DROP FOREIGN TABLE p_b, keys_b;
DROP TABLE p_h, keys_h;
RESET ALL;

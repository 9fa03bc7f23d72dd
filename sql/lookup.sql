-- Lookups: nested loops that read one bucket of the inner table, bucket_id() quals.
-- lookups against hash joins, not against joins that sort one side
SET bucketfdw.enable_routing = off;
SET bucketfdw.verify_order = on;
SET jit = off;
CREATE TABLE l_h (k int, seq bigint, name text, d date);
INSERT INTO l_h
SELECT CASE WHEN i % 50 = 0 THEN NULL ELSE i % 3000 END, i, 'name ' || (i % 97), date '2020-01-01' + i % 1000
FROM generate_series(1, 20000) i;
CREATE FOREIGN TABLE l_b (k int, seq bigint, name text, d date)
	SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16', sort_by 'k, d desc', block_rows '64');
INSERT INTO l_b SELECT * FROM l_h WHERE seq % 3 = 0;
INSERT INTO l_b SELECT * FROM l_h WHERE seq % 3 = 1;
INSERT INTO l_b SELECT * FROM l_h WHERE seq % 3 = 2;
ANALYZE l_b, l_h;
CREATE TABLE few_h (x int, big bigint, small smallint, n numeric, txt text, arr int[]);
INSERT INTO few_h VALUES (5, 5, 5, 5, '5', '{1,2,NULL,2}'), (42, 1000, 17, 42.0, 'name 5', '{}'),
	(NULL, NULL, NULL, NULL, NULL, NULL), (2999, 3000000000, -3, 0.5, 'x', '{2998,2999}'), (5, 5, 5, 5, '5', '{5}');
CREATE FOREIGN TABLE few_b (x int, big bigint, small smallint, n numeric, txt text, arr int[])
	SERVER bucketfdw OPTIONS (bucket_by 'x', buckets '4');
INSERT INTO few_b SELECT * FROM few_h;
CREATE TABLE few AS SELECT * FROM few_h;
ANALYZE few, few_h, few_b;

-- a small table decides by cost alone for a nested loop, which reads few buckets
SELECT nodes('SELECT * FROM few, l_b WHERE k = x', false);
SELECT measured('SELECT * FROM few, l_b WHERE k = x', 'Buckets Read') buckets,
	measured('SELECT * FROM few, l_b WHERE k = x', 'Blocks Read')::int <= 12 blocks;
SELECT same('SELECT * FROM few, l_b WHERE k = x');
EXPLAIN (COSTS OFF) SELECT l_b.name FROM few, l_b WHERE k = ANY (arr);
-- a big one does not
SELECT nodes('SELECT * FROM l_h, l_b WHERE l_b.k = l_h.k', false);

-- every way to say it, nested loops forced
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT same(format('SELECT k, seq, few.* FROM few, l_b WHERE %s', q)),
	nodes(format('SELECT k, seq, few.* FROM few, l_b WHERE %s', q), false) ~ '^Nested Loop, Seq Scan, (Memoize, )?Foreign Scan$'
	AND measured(format('SELECT k, seq, few.* FROM few, l_b WHERE %s', q), 'Buckets Read')::int < 16 lookup, q
FROM unnest(ARRAY['k = x', 'x = k', 'k = big', 'k = small', 'k = x + 1', 'k = x AND seq > 10000', 'k = x AND seq > big',
	'k = ANY (arr)', 'k = x AND name = txt', 'k = abs(small)', 'k = coalesce(x, 7)', 'k = n', 'n = k AND seq < n * 100',
	'k = x AND d BETWEEN date ''2020-03-01'' AND date ''2021-03-01'' + x']) q;
-- not of one class, not the key, not an equality, not a value of the outer row alone
SELECT same(format('SELECT k, seq, few.* FROM few, l_b WHERE %s', q)),
	nodes(format('SELECT k, seq, few.* FROM few, l_b WHERE %s', q), false), q
FROM unnest(ARRAY['seq = x', 'k < x AND k > 2990', 'k = x - seq', 'k + 1 = x', 'k = x OR k = 7',
	'k IS NOT DISTINCT FROM x', 'k::text = txt', 'k = x + (random() * 0)::int', 'name = txt AND k = 5',
	'k = x AND x = 5', 'k = big AND l_b.d IN (''2020-01-06'', ''2020-05-01'')']) q;

-- other join types, LATERAL, subqueries, limits
SELECT same('SELECT few.x, k, seq FROM few LEFT JOIN l_b ON k = x');
SELECT same('SELECT few.x, k, seq FROM few LEFT JOIN l_b ON k = x AND seq % 2 = 0 WHERE few.small IS NOT NULL');
SELECT same('SELECT * FROM few WHERE EXISTS (SELECT 1 FROM l_b WHERE k = x AND seq > 100)');
SELECT same('SELECT * FROM few WHERE NOT EXISTS (SELECT 1 FROM l_b WHERE k = big)');
SELECT same('SELECT * FROM few WHERE x IN (SELECT k FROM l_b)');
SELECT same('SELECT * FROM few WHERE x NOT IN (SELECT k FROM l_b WHERE k IS NOT NULL)');
SELECT same('SELECT x, s.* FROM few, LATERAL (SELECT seq, name FROM l_b WHERE k = few.x ORDER BY seq LIMIT 2) s');
SELECT same('SELECT x, s.* FROM few, LATERAL (SELECT count(*), max(seq) FROM l_b WHERE k = few.x + few.small) s');
SELECT same('SELECT x, s.* FROM few LEFT JOIN LATERAL (SELECT seq FROM l_b WHERE k = few.x OFFSET 0) s ON true');
SELECT same('SELECT x, (SELECT max(seq) FROM l_b WHERE k = x) FROM few');
SELECT same('SELECT x, a.seq, b.seq FROM few, l_b a, l_b b WHERE a.k = x AND b.k = a.k + 1');
SELECT same('SELECT x, a.seq, b.seq FROM few JOIN l_b a ON a.k = few.x JOIN l_b b ON b.k = a.k WHERE a.seq < 9000 AND b.seq > 9000');
SELECT same('SELECT f.x, seq FROM few_b f, l_b WHERE k = f.x');
SELECT same('SELECT f.x, y.v, seq FROM few f, (VALUES (5), (NULL), (7)) y(v), l_b WHERE k = f.x AND k = y.v');
SELECT same('SELECT f.x, f2.x, seq FROM few f, few f2, l_b WHERE k = f.x + f2.small');
SELECT count(*) FROM (SELECT 1 FROM few, l_b WHERE k = x LIMIT 3) s;
-- a column of the nullable side is no value of the scan's own row
SELECT same('SELECT few.x, k FROM few LEFT JOIN (SELECT k, 5 AS five FROM l_b) s ON s.k = few.x AND s.five = few.small');
SELECT same('SELECT few.x, s.k, s.c FROM few LEFT JOIN (SELECT k, coalesce(seq, 0) AS c FROM l_b) s ON s.k = few.x');

-- memoize on and off, pruning off, bucket plans off
SET enable_memoize = off;
SELECT same('SELECT * FROM few, l_b WHERE k = x');
RESET enable_memoize;
SET bucketfdw.enable_pruning = off;
SELECT same('SELECT * FROM few, l_b WHERE k = x');
PREPARE cached AS SELECT count(*), sum(seq) FROM few, l_b WHERE k = x;
RESET bucketfdw.enable_pruning;
SELECT same('SELECT * FROM few, l_b WHERE k = x AND k = 5');
SET bucketfdw.enable = off;
SELECT measured('SELECT * FROM few, l_b WHERE k = x', 'Buckets Read');
RESET bucketfdw.enable;
-- a plan made with lookups, run without pruning
SET plan_cache_mode = force_generic_plan;
EXECUTE cached;
SET bucketfdw.enable_pruning = off;
EXECUTE cached;
RESET bucketfdw.enable_pruning;
DEALLOCATE cached;

-- parameters that change, are NULL, are arrays; generic plans
PREPARE p (int, int[]) AS SELECT count(*), sum(seq) FROM few, l_b WHERE (k = x + $1) AND k = ANY ($2);
EXECUTE p(0, '{5,42,NULL}');
EXECUTE p(0, '{}');
EXECUTE p(NULL, '{5,42}');
EXECUTE p(1, NULL);
EXECUTE p(1, '{6,43,3000}');
-- new rows are seen by the next execution
INSERT INTO l_b SELECT 6, 100000, 'new', NULL;
EXECUTE p(1, '{6,43,3000}');
INSERT INTO l_h SELECT 6, 100000, 'new', NULL;
DEALLOCATE p;
RESET plan_cache_mode;
-- a join in plpgsql, whose expression changes with every iteration
DO $$
DECLARE
	n bigint := 0;
	i int;
	c bigint;
BEGIN
	FOR i IN 1..30 LOOP
		SELECT count(*) INTO c FROM few, l_b WHERE k = x + i;
		n := n + c;
	END LOOP;
	RAISE NOTICE '% rows', n;
	SELECT sum((SELECT count(*) FROM few, l_h WHERE k = x + g)) INTO c FROM generate_series(1, 30) g;
	RAISE NOTICE '% rows', c;
END
$$;
-- rescans of one node see many keys: more than the blocks and files kept
CREATE FUNCTION heap_too(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	heap record;
	got record;
BEGIN
	SELECT * INTO got FROM answer(query);
	SELECT * INTO heap FROM answer(regexp_replace(query, '(\w)_b\M', '\1_h', 'g'));
	RETURN CASE WHEN got = heap THEN format('same, %s rows', got.n) ELSE 'WRONG' END;
END
$$;
CREATE INDEX ON l_h (k);
SELECT heap_too('SELECT g, seq FROM generate_series(-5, 3100) g, l_b WHERE k = g');
SELECT heap_too('SELECT g, seq, name, d FROM generate_series(3100, -5, -7) g, l_b WHERE k = g AND d > ''2020-02-01''');
SET work_mem = '64kB';
SELECT heap_too('SELECT g, seq, name FROM generate_series(-5, 3100) g, l_b WHERE k = g');
RESET work_mem;

-- several key columns: fixed by constants and by different outer tables
CREATE TABLE m_h (t int, u text, v numeric, s int);
INSERT INTO m_h SELECT i % 5, 'user ' || i * 7 % 41, i % 3, i FROM generate_series(1, 6000) i;
INSERT INTO m_h SELECT NULL, 'user 1', 1, 0 UNION ALL SELECT 1, NULL, 1, -1 UNION ALL SELECT NULL, NULL, NULL, -2;
CREATE FOREIGN TABLE m_b (t int, u text, v numeric, s int)
	SERVER bucketfdw OPTIONS (bucket_by 't, u', buckets '12', sort_by 't, u, v desc', block_rows '16');
INSERT INTO m_b SELECT * FROM m_h WHERE s % 2 = 0;
INSERT INTO m_b SELECT * FROM m_h WHERE s % 2 <> 0;
ANALYZE m_b, m_h;
CREATE TABLE tenants AS SELECT * FROM (VALUES (1), (4), (NULL)) x(tenant);
CREATE TABLE users AS SELECT * FROM (VALUES ('user 1'::text), ('user 39'), (NULL), ('nobody')) x(usr);
ANALYZE tenants, users;
SELECT same(format('SELECT t, u, v, s FROM %s', q)),
	measured(format('SELECT t, u, v, s FROM %s', q), 'Buckets Read')::int < 12 lookup, q
FROM unnest(ARRAY['tenants, users, m_b WHERE t = tenant AND u = usr', 'users, m_b WHERE t = 3 AND u = usr',
	'tenants, m_b WHERE t = tenant AND u = ''user 7''', 'tenants, m_b WHERE t = tenant AND u IN (''user 7'', ''user 8'')',
	'users, m_b WHERE t IS NULL AND u = usr', 'tenants, users, m_b WHERE t = tenant AND u = usr AND v = 2 AND s > tenant',
	'tenants JOIN users ON true JOIN m_b ON (t, u) = (tenant, usr)']) q;
SELECT same('SELECT * FROM tenants, m_b WHERE t = tenant'), nodes('SELECT * FROM tenants, m_b WHERE t = tenant', false);

-- every class of keys
CREATE DOMAIN posint AS int CHECK (VALUE > -1000000);
DO $$
DECLARE
	types text[] := ARRAY['smallint', 'int', 'bigint', 'numeric', 'real', 'double precision', 'boolean', 'date', 'oid', 'time',
		'timestamp', 'timestamptz', 'uuid', 'bytea', 'text', 'varchar', 'char(12)', 'posint'];
	exprs text[] := ARRAY['i % 200 - 100', 'i % 200 - 100', 'i % 200 - 100',
		'CASE i % 20 WHEN 0 THEN ''NaN'' WHEN 1 THEN ''Infinity'' WHEN 2 THEN ''-Infinity'' ELSE (i % 90 - 45)::numeric / (ARRAY[1, 10, 1000])[1 + i % 3] END',
		'CASE i % 20 WHEN 0 THEN ''NaN'' WHEN 1 THEN ''-0'' WHEN 2 THEN ''-Infinity'' WHEN 3 THEN 0 ELSE (i % 90 - 45) / 4.0 END::real',
		'CASE i % 20 WHEN 0 THEN ''NaN'' WHEN 1 THEN ''-0'' WHEN 2 THEN ''Infinity'' WHEN 3 THEN 0 ELSE (i % 90 - 45) / 3.0 END::float8',
		'i % 3 = 0', 'CASE i % 20 WHEN 0 THEN ''infinity'' WHEN 1 THEN ''-infinity'' ELSE date ''2000-01-01'' + i % 200 - 100 END',
		'(CASE WHEN i % 2 = 0 THEN 4294967000 ELSE 0 END + i % 100)::oid', 'time ''00:00'' + (i % 200) * interval ''7 minutes''',
		'timestamp ''2000-01-01'' + (i % 200 - 100) * interval ''7 hours''', 'timestamptz ''2000-01-01'' + (i % 200 - 100) * interval ''7 hours''',
		'md5((i % 200)::text)::uuid', 'decode(repeat(''ab'', i % 40) || md5((i % 200)::text), ''hex'')',
		'repeat(''prefix'', i % 2 * 20) || (i % 100)', 'repeat(''x'', i % 30)', '''c'' || (i % 100)', 'i % 200 - 100'];
BEGIN
	FOR n IN 1 .. array_length(types, 1) LOOP
		EXECUTE format('CREATE TABLE c%s_h (k %s, i int)', n, types[n]);
		EXECUTE format('INSERT INTO c%s_h SELECT CASE WHEN i %% 40 = 0 THEN NULL ELSE (%s)::%s END, i FROM generate_series(1, 1500) i',
			n, exprs[n], types[n]);
		EXECUTE format('CREATE FOREIGN TABLE c%s_b (k %s, i int) SERVER bucketfdw OPTIONS (bucket_by ''k'', buckets ''8'', sort_by ''k, i desc'', block_rows ''32'')',
			n, types[n]);
		EXECUTE format('INSERT INTO c%s_b SELECT * FROM c%1$s_h WHERE i %% 2 = 0', n);
		EXECUTE format('INSERT INTO c%s_b SELECT * FROM c%1$s_h WHERE i %% 2 = 1', n);
		EXECUTE format('CREATE TABLE o%s AS SELECT k AS x FROM c%1$s_h WHERE i BETWEEN 38 AND 44', n);
		EXECUTE format('ANALYZE c%s_b, c%1$s_h, o%1$s', n);
	END LOOP;
END
$$;
SELECT format_type(a.atttypid, a.atttypmod) "type", same(format('SELECT x, k, i FROM o%s, c%1$s_b WHERE k = x', n)) one,
	same(format('SELECT x, k, i FROM o%s o, c%1$s_b a WHERE a.k = ANY (ARRAY[o.x, NULL])', n)) two,
	same(format('SELECT x, (SELECT count(*) FROM c%1$s_b WHERE k = x AND i > 100) FROM o%1$s', n)) three,
	nodes(format('SELECT x, k, i FROM o%s, c%1$s_b WHERE k = x', n), false) plan
FROM generate_series(1, 18) n JOIN pg_attribute a ON a.attrelid = format('c%s_b', n)::regclass AND a.attnum = 1 ORDER BY n;

-- types of one class against one another, and collations that only compare
SELECT same('SELECT x, k, i FROM o1, c3_b WHERE k = x') a, same('SELECT x, k, i FROM o3, c1_b WHERE k = x') b,
	same('SELECT x, k, i FROM o5, c6_b WHERE k = x') c, same('SELECT x, k, i FROM o6, c5_b WHERE k = x') d,
	same('SELECT x, k, i FROM o15, c16_b WHERE k = x') e, same('SELECT x, k, i FROM o16, c15_b WHERE k = x') f,
	same('SELECT x, k, i FROM o18, c2_b WHERE k = x') g, same('SELECT x, k, i FROM o17, c15_b WHERE k = x') h,
	same('SELECT x, k, i FROM o15, c17_b WHERE k = x') i, same('SELECT x, k, i FROM o8, c11_b WHERE k = x') j,
	same('SELECT x, k, i FROM o9, c2_b WHERE k::oid = x') k, same('SELECT x, k, i FROM o4, c2_b WHERE k = x') l;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- bucket_id(N, key) = b: prunes where N divides the number of buckets, is right in any case
SELECT same(format('SELECT k, seq FROM l_b WHERE %s', q)),
	measured(format('SELECT k, seq FROM l_b WHERE %s', q), 'Buckets Read') buckets, q
FROM unnest(ARRAY['bucketfdw.bucket_id(16, k) = 3', 'bucketfdw.bucket_id(4, k) = 1', 'bucketfdw.bucket_id(1, k) = 0',
	'7 = bucketfdw.bucket_id(8, k)', 'bucketfdw.bucket_id(16, k) IN (1, 5, 9)', 'bucketfdw.bucket_id(16, k) = ANY (''{1,NULL,40}'')',
	'bucketfdw.bucket_id(16, k) = 16', 'bucketfdw.bucket_id(16, k) = NULL', 'bucketfdw.bucket_id(16, k) = 3::bigint',
	'bucketfdw.bucket_id(16, k) = -1', 'bucketfdw.bucket_id(16, k) = 0 AND k IS NULL', 'bucketfdw.bucket_id(16, k) = 3 AND k = 42',
	'bucketfdw.bucket_id(16, k) = (SELECT 5)', 'bucketfdw.bucket_id(16, k) = 3 AND bucketfdw.bucket_id(8, k) = 4']) q;
-- these do not
SELECT same(format('SELECT k, seq FROM l_b WHERE %s', q)),
	measured(format('SELECT k, seq FROM l_b WHERE %s', q), 'Buckets Read') buckets, q
FROM unnest(ARRAY['bucketfdw.bucket_id(7, k) = 3', 'bucketfdw.bucket_id(64, k) = 40', 'bucketfdw.bucket_id(16, seq) = 3',
	'bucketfdw.bucket_id(16, k, seq) = 3', 'bucketfdw.bucket_id(16, k::bigint) = 3', 'bucketfdw.bucket_id(16, k::numeric) = 3',
	'bucketfdw.bucket_id(16, k::oid) = 3', 'bucketfdw.bucket_id(16, VARIADIC ARRAY[k]) = 3', 'bucketfdw.bucket_id(16, k) < 3',
	'bucketfdw.bucket_id(16, k) <> 3', 'NOT bucketfdw.bucket_id(16, k) = 3', 'bucketfdw.bucket_id(16, k) IN (3, k % 16)',
	'bucketfdw.bucket_id(16 + k * 0, k) = 3', 'bucketfdw.bucket_id(16, k + 1) = 3', 'bucketfdw.hash(k) = 3']) q;
SELECT same(format('SELECT * FROM m_b WHERE %s', q)),
	measured(format('SELECT * FROM m_b WHERE %s', q), 'Buckets Read') buckets, q
FROM unnest(ARRAY['bucketfdw.bucket_id(12, t, u) = 3', 'bucketfdw.bucket_id(6, t, u) = 3', 'bucketfdw.bucket_id(12, u, t) = 3',
	'bucketfdw.bucket_id(12, t) = 3', 'bucketfdw.bucket_id(12, t, u, v) = 3']) q;
-- errors stay errors
SELECT count(*) FROM l_b WHERE bucketfdw.bucket_id(0, k) = 3;
EXPLAIN (COSTS OFF) SELECT seq FROM l_b WHERE bucketfdw.bucket_id(4, k) = 1 AND seq > 10;
PREPARE b(int) AS SELECT count(*) FROM l_b WHERE bucketfdw.bucket_id(8, k) = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE b(1); EXECUTE b(2); EXECUTE b(NULL); EXECUTE b(8);
RESET plan_cache_mode;
DEALLOCATE b;
SELECT same('SELECT g, (SELECT count(*) FROM l_b WHERE bucketfdw.bucket_id(8, k) = g) FROM generate_series(-1, 8) g');
-- outside engines: a task per bucket reads everything once
SELECT sum((SELECT count(*) FROM l_b WHERE bucketfdw.bucket_id(16, k) = g)) = (SELECT count(*) FROM l_h) FROM generate_series(0, 15) g;
SET bucketfdw.enable_pruning = off;
SELECT same('SELECT k, seq FROM l_b WHERE bucketfdw.bucket_id(16, k) = 3'), same('SELECT k, seq FROM l_b WHERE bucketfdw.bucket_id(5, k) = 3');
RESET bucketfdw.enable_pruning;
-- each file by its own number of buckets
ALTER FOREIGN TABLE l_b OPTIONS (SET buckets '6');
INSERT INTO l_b SELECT k, seq + 200000, name, d FROM l_h;
INSERT INTO l_h SELECT k, seq + 200000, name, d FROM l_h;
SELECT same(format('SELECT k, seq FROM l_b WHERE bucketfdw.bucket_id(%s, k) = 1', n)), n FROM unnest(ARRAY[1, 2, 3, 4, 6, 8, 12, 16, 48]) n;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT same('SELECT * FROM few, l_b WHERE k = x'), measured('SELECT * FROM few, l_b WHERE k = x', 'Blocks Read')::int < 30 lookup;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- locking and writing over a lookup
BEGIN;
UPDATE few SET small = small + 1 FROM l_b WHERE k = x AND seq < 1000;
DELETE FROM few USING l_b WHERE k = big;
SELECT x, big, small FROM few ORDER BY 1, 2, 3;
ROLLBACK;

DROP FOREIGN TABLE l_b, few_b, m_b;
DROP TABLE l_h, few_h, few, m_h, tenants, users;
DO $$
BEGIN
	FOR n IN 1 .. 18 LOOP
		EXECUTE format('DROP FOREIGN TABLE c%s_b', n);
		EXECUTE format('DROP TABLE c%s_h, o%1$s', n);
	END LOOP;
END
$$;
DROP DOMAIN posint;
DROP FUNCTION heap_too;

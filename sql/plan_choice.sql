-- Which plan wins, on both sides of where two of them cost the same and well away from there.
SET jit = off;
SET max_parallel_workers_per_gather = 0;
-- tables of several sizes, each as a heap (_h) and in buckets (_b)
CREATE TABLE big_h AS SELECT i AS id, (i * 7919::bigint % 20000)::int AS k, i % 100 AS v, (i % 1000)::numeric(10,2) AS amount
FROM generate_series(1, 200000) i;
CREATE TABLE mid_h AS SELECT i AS id, i - 1 AS k, i % 10 AS v, 'name ' || i AS name FROM generate_series(1, 20000) i;
CREATE TABLE tiny_h AS SELECT i AS id, i * 90 AS k, i % 5 AS v FROM generate_series(1, 200) i;
-- half of the rows have one key
CREATE TABLE skew_h AS SELECT i AS id, CASE WHEN i % 2 = 0 THEN 7 ELSE i % 20000 END AS k, i % 100 AS v FROM generate_series(1, 200000) i;
SELECT t, bucketfdw.create_table_as(t || '_b', format('SELECT * FROM %I', t || '_h'), bucket_by => 'k', buckets => 16) AS rows
FROM unnest(ARRAY['big', 'mid', 'tiny', 'skew']) t;

CREATE FUNCTION choice(query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	plan text := nodes(query, false);
	top text;
	routed boolean;
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		top := coalesce(top, line);
		routed := coalesce(routed, false) OR line ~ 'Routed:';
	END LOOP;
	RETURN CASE
		WHEN plan = 'Aggregate, Foreign Scan' THEN top
		WHEN plan ~ 'BucketJoin' AND plan !~ 'Hash|Merge|Nested|Sort' THEN
			regexp_replace(plan, 'BucketJoin.*', CASE WHEN routed THEN 'routed join' ELSE 'bucket join' END)
		WHEN plan ~ 'Nested Loop.*Foreign Scan' AND plan !~ 'BucketJoin|Hash|Merge|Sort|Materialize' THEN 'lookups'
		WHEN plan ~ '(Hash|Merge) Join' AND plan !~ 'BucketJoin' THEN 'hash or merge join'
		ELSE plan
	END;
END
$$;
CREATE FUNCTION choices() RETURNS TABLE (plan text, query text)
LANGUAGE sql AS $$
	SELECT choice(q), q FROM unnest(ARRAY[
		-- both sides bucketed, one, none
		'SELECT big_b.v, mid_b.name FROM big_b JOIN mid_b USING (k)',
		'SELECT big_b.v, mid_h.name FROM big_b JOIN mid_h USING (k)',
		'SELECT big_h.v, mid_b.name FROM big_h JOIN mid_b USING (k)',
		'SELECT big_h.v, mid_h.name FROM big_h JOIN mid_h USING (k)',
		'SELECT count(*) FROM big_b JOIN mid_b USING (k)',
		'SELECT count(*) FROM big_b JOIN mid_h USING (k)',
		'SELECT count(*) FROM big_h JOIN mid_b USING (k)',
		'SELECT big_b.v FROM big_b WHERE EXISTS (SELECT FROM mid_b WHERE mid_b.k = big_b.k)',
		'SELECT big_b.v FROM big_b LEFT JOIN mid_b USING (k) WHERE mid_b.v > 3 OR mid_b.v IS NULL',
		'SELECT big_b.v FROM big_b LEFT JOIN mid_h USING (k) WHERE mid_h.v > 3 OR mid_h.v IS NULL',
		'SELECT mid_h.v FROM mid_h WHERE NOT EXISTS (SELECT FROM big_b WHERE big_b.k = mid_h.k)',
		-- the side to be sorted is as big as the other one, or much bigger
		'SELECT big_h.v, skew_b.v FROM big_h JOIN skew_b USING (k) WHERE skew_b.k <> 7',
		'SELECT tiny_b.v, big_h.v FROM tiny_b JOIN big_h USING (k)',
		'SELECT tiny_b.v, mid_h.v FROM tiny_b JOIN mid_h USING (k)',
		-- half of the rows with one key
		'SELECT count(*) FROM big_b JOIN skew_b USING (k)',
		'SELECT big_b.v, skew_b.v FROM big_b LEFT JOIN skew_b USING (k)',
		-- few rows of one side: lookups; many: not
		'SELECT tiny_h.v, big_b.v FROM tiny_h JOIN big_b USING (k) WHERE tiny_h.id = 3',
		'SELECT mid_h.v, big_b.v FROM mid_h JOIN big_b USING (k) WHERE mid_h.id = 3',
		'SELECT mid_h.v, big_b.v FROM mid_h JOIN big_b USING (k) WHERE mid_h.id < 100',
		'SELECT mid_h.v, big_b.v FROM mid_h JOIN big_b USING (k) WHERE mid_h.v > 0',
		'SELECT mid_b.v, big_b.v FROM mid_b JOIN big_b USING (k) WHERE mid_b.id = 3',
		'SELECT mid_b.v, big_b.v FROM mid_b JOIN big_b USING (k) WHERE mid_b.v > 0',
		'SELECT mid_b.v, big_b.v FROM mid_b JOIN big_b USING (k) WHERE big_b.k = 77',
		'SELECT big_b.v, mid_b.name FROM big_b JOIN mid_b USING (k) LIMIT 10',
		'SELECT big_b.v, mid_h.name FROM big_b JOIN mid_h USING (k) LIMIT 10',
		-- groups
		'SELECT big_b.k, count(*) FROM big_b JOIN mid_b USING (k) GROUP BY big_b.k',
		'SELECT big_b.k, count(*) FROM big_b JOIN mid_h USING (k) GROUP BY big_b.k',
		'SELECT k, sum(amount) FROM big_b GROUP BY k',
		'SELECT DISTINCT k FROM skew_b',
		'SELECT v, count(*) FROM big_b GROUP BY v',
		-- orders
		'SELECT k, v FROM big_b ORDER BY k LIMIT 10',
		'SELECT k, v FROM big_b ORDER BY v LIMIT 10',
		'SELECT big_b.v, mid_b.name FROM big_b JOIN mid_b USING (k) ORDER BY mid_b.name']) q
$$;
CREATE TEMP TABLE before_analyze AS SELECT * FROM choices();
ANALYZE big_h, mid_h, tiny_h, skew_h, big_b, mid_b, tiny_b, skew_b;
SELECT * FROM choices();
-- sizes come from the files: without statistics it is the same
SELECT * FROM before_analyze EXCEPT SELECT * FROM choices();
-- a small table: by buckets, whether it has them or not; without sorting, lookups; many columns make those dear
SELECT choice('SELECT tiny_h.v, big_b.v FROM tiny_h JOIN big_b USING (k)') heap, choice('SELECT tiny_b.v, big_b.v FROM tiny_b JOIN big_b USING (k)') bucketed,
	choice('SELECT m.name, big_b.* FROM mid_h m JOIN big_b USING (k)') many;
SET bucketfdw.enable_routing = off;
SELECT choice('SELECT tiny_h.v, big_b.v FROM tiny_h JOIN big_b USING (k)') heap, choice('SELECT tiny_b.v, big_b.v FROM tiny_b JOIN big_b USING (k)') bucketed,
	choice('SELECT m.name, big_b.* FROM mid_h m JOIN big_b USING (k)') many;
RESET bucketfdw.enable_routing;

-- what gains nothing from buckets has the plan it would have without, and reads no more
CREATE TEMP TABLE plain AS SELECT q FROM unnest(ARRAY['SELECT * FROM big_b WHERE v < 10', 'SELECT * FROM big_b LIMIT 1',
	'SELECT v % 9, stddev(v) FROM big_b GROUP BY v % 9', 'SELECT * FROM big_b ORDER BY v', 'SELECT big_h.v FROM big_h JOIN mid_h USING (k)']) q;
SET bucketfdw.enable = off;
CREATE TEMP TABLE stock AS SELECT q, nodes(q, false) AS plan FROM plain;
RESET bucketfdw.enable;
SELECT nodes(q, false) = plan AS same_plan, plan, q FROM stock;
SELECT measured('SELECT count(*) FROM big_b', 'Bytes Read') count_reads, measured('SELECT * FROM big_b LIMIT 1', 'Blocks Read') limit_reads,
	measured('SELECT k, v FROM big_b ORDER BY k LIMIT 10', 'Blocks Read')::int <= 16 order_reads_first_blocks,
	measured('SELECT k FROM big_b WHERE k = 5', 'Buckets Read') lookup_reads;

-- a join that is thought to give one row waits long for it, so that the start of a lookup, a fraction more than that of a
-- scan of the whole other table, decides nothing
CREATE TABLE seller (s int PRIMARY KEY, name text);
INSERT INTO seller SELECT i, 'name ' || i FROM generate_series(1, 250) i;
CREATE FOREIGN TABLE line_b (k int, s int, late bool) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
INSERT INTO line_b SELECT i / 3, i * 7919 % 250 + 1, i % 3 > 0 FROM generate_series(1, 150000) i;
ANALYZE seller, line_b;
SELECT nodes('SELECT name FROM line_b a JOIN seller USING (s) WHERE late AND NOT EXISTS (SELECT FROM line_b c WHERE c.k = a.k AND c.s <> a.s AND c.late)', false);
SELECT nodes('SELECT name, count(*) FROM line_b a JOIN seller USING (s) WHERE late AND NOT EXISTS (SELECT FROM line_b c WHERE c.k = a.k AND c.s <> a.s AND c.late) GROUP BY name ORDER BY 2 DESC, 1 LIMIT 3', false);
-- nor does what is expected of it shrink to one row in bucket joins that read it; what core expects of its own joins is core's
SELECT nodes('SELECT count(*) FROM line_b a WHERE late AND NOT EXISTS (SELECT FROM line_b c WHERE c.k = a.k AND c.s <> a.s AND c.late)
	AND EXISTS (SELECT FROM line_b d WHERE d.k = a.k AND d.s <> a.s)', false);
SELECT expected('SELECT a.k FROM line_b a WHERE late AND NOT EXISTS (SELECT FROM line_b c WHERE c.k = a.k AND c.s <> a.s AND c.late)
	AND EXISTS (SELECT FROM line_b d WHERE d.k = a.k AND d.s <> a.s)') > 500 AS many;

-- a condition that costs much more than a lookup is paid for where the lookup tests it
CREATE FUNCTION lookup_cost(query text) RETURNS float8
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN jsonb_path_query_first(plan::jsonb, '$.**?(@."Alias" == "mid_b")."Total Cost"');
END
$$;
SET bucketfdw.enable_routing = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT lookup_cost($$SELECT 1 FROM tiny_h JOIN mid_b USING (k) WHERE tiny_h.id = 3 AND mid_b.v = 3 AND tiny_h.v < (SELECT avg(c.v) FROM big_b c WHERE c.id = mid_b.v)$$)
	> 2 * lookup_cost($$SELECT 1 FROM tiny_h JOIN mid_b USING (k) WHERE tiny_h.id = 3 AND mid_b.v = 3 AND tiny_h.v < mid_b.v + 1$$) AS paid;
-- what a hash join does not pay for is not paid for either
SELECT lookup_cost($$SELECT 1 FROM tiny_h JOIN mid_b USING (k) WHERE tiny_h.id = 3 AND mid_b.id = (SELECT max(c.v) FROM big_b c WHERE c.id = tiny_h.v)$$)
	< 2 * lookup_cost($$SELECT 1 FROM tiny_h JOIN mid_b USING (k) WHERE tiny_h.id = 3$$) AS as_in_hash;
RESET bucketfdw.enable_routing; RESET enable_hashjoin; RESET enable_mergejoin;
DROP FUNCTION lookup_cost(text);

-- A join of bucketed tables by several columns that hang together: a table has no more combinations of values than rows.  Core
-- multiplies the numbers of values of each column, and expects 240 rows of 60000.
CREATE TABLE part_h AS SELECT p, (p + j * 251) % 1000 AS s, j AS cost FROM generate_series(1, 2000) p, generate_series(0, 3) j;
CREATE TABLE sale_h AS SELECT i AS k, i % 2000 + 1 AS p, (i % 2000 + 1 + i % 4 * 251) % 1000 AS s, i % 12 AS m FROM generate_series(1, 60000) i;
SELECT bucketfdw.create_table_as(t || '_b', format('SELECT * FROM %I', t || '_h'), bucket_by => key, buckets => 8) AS rows
FROM (VALUES ('part', 'p'), ('sale', 'k')) v (t, key);
CREATE TABLE months (k int, p int, s int, m int) PARTITION BY RANGE (m);
CREATE FOREIGN TABLE months_1 PARTITION OF months FOR VALUES FROM (0) TO (6) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
CREATE FOREIGN TABLE months_2 PARTITION OF months FOR VALUES FROM (6) TO (12) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
INSERT INTO months SELECT * FROM sale_h;
ANALYZE part_h, sale_h, part_b, sale_b, months;
SELECT q, expected(q) > 5000 AS many, same(q) FROM unnest(ARRAY[
	'SELECT cost FROM part_h JOIN sale_h USING (p, s)',
	'SELECT cost FROM part_b JOIN sale_b USING (p, s)',
	-- with other relations, and partitioned tables, it is as core expects
	'SELECT cost FROM part_b JOIN sale_h USING (p, s)',
	'SELECT cost FROM part_h JOIN sale_b USING (p, s)',
	'SELECT cost FROM part_b JOIN months USING (p, s)',
	-- by a third table''s column
	'SELECT cost FROM part_b a JOIN sale_b b USING (s) JOIN mid_b c ON c.id = a.p WHERE c.id = b.p',
	-- columns that do not hang together are multiplied as ever
	'SELECT a.k FROM sale_b a JOIN sale_b b USING (p, m) WHERE a.k < 4000 AND b.k < 40',
	-- a value fixes one of them
	'SELECT cost FROM part_b JOIN sale_b USING (p, s) WHERE p = 7',
	-- not of a row, of whether there is one
	'SELECT cost FROM part_b WHERE EXISTS (SELECT FROM sale_b WHERE sale_b.p = part_b.p AND sale_b.s = part_b.s)',
	'SELECT k FROM sale_b WHERE NOT EXISTS (SELECT FROM part_b WHERE sale_b.p = part_b.p AND sale_b.s = part_b.s)']) q;
SET bucketfdw.enable = off;
SELECT expected('SELECT cost FROM part_b JOIN sale_b USING (p, s)') > 5000 AS many;
RESET bucketfdw.enable;
DROP TABLE months, part_h, sale_h;
DROP FOREIGN TABLE part_b, sale_b;

-- a hash table that fits into the caches, and one that does not
SELECT t.name, bucketfdw.create_table_as(t.name, format('SELECT i AS k, i %% 7 AS v FROM generate_series(1, %s) i', t.n),
	bucket_by => 'k', buckets => 64) AS rows
FROM (VALUES ('many_b', 1000000), ('some_b', 100000)) t(name, n);
CREATE TABLE far_h AS SELECT i * 7919 % 1000000 AS k, i AS v FROM generate_series(1::bigint, 1500000) i;
ANALYZE far_h;
SET work_mem = '1GB';
SELECT t, choice('SELECT count(*), sum(' || t || '.v) FROM far_h JOIN ' || t || ' USING (k)') FROM unnest(ARRAY['many_b', 'some_b']) t;
RESET work_mem;
DROP TABLE far_h;
DROP FOREIGN TABLE many_b, some_b;

-- several processes are started for what takes longer than that: rows are counted without being read, however many there are
SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 50;
SELECT q, nodes(q, false) ~ 'Gather' AS parallel FROM unnest(ARRAY[
	'SELECT count(*) FROM big_b',
	'SELECT count(v) FROM big_b',
	'SELECT count(*) FROM big_b WHERE v < 50',
	'SELECT sum(amount) FROM big_b',
	'SELECT count(*) FROM big_b JOIN mid_b USING (k)']) q;
RESET parallel_setup_cost;
-- which is more than core's workers take: what they gain must be more than one and a half of parallel_setup_cost
CREATE FUNCTION parallel_if_gain(query text, setup_costs float8) RETURNS boolean
LANGUAGE plpgsql SET max_parallel_workers_per_gather = 0 SET parallel_setup_cost = 0 AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	SET LOCAL max_parallel_workers_per_gather = 2;
	PERFORM set_config('parallel_setup_cost', ((plan->0->'Plan'->>'Total Cost')::float8 * (1 - 1 / 2.4) / setup_costs)::text, true);
	RETURN nodes(query, false) ~ 'Gather';
END
$$;
SELECT q, parallel_if_gain(q, 1.2) AS little, parallel_if_gain(q, 2) AS enough FROM unnest(ARRAY[
	'SELECT sum(amount) FROM big_b',
	'SELECT count(*) FROM big_b JOIN mid_b USING (k)',
	'SELECT count(*) FROM big_h']) q;
DROP FUNCTION parallel_if_gain(text, float8);
RESET max_parallel_workers_per_gather; RESET min_parallel_table_scan_size;

-- subqueries under an OR are computed once where they are asked often, in a lookup that is repeated and in a join
CREATE FUNCTION hashed(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	line text;
	n int := 0;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		n := n + regexp_count(line, 'hashed SubPlan');
	END LOOP;
	RETURN n;
END
$$;
SELECT hashed(q), same(q), q FROM unnest(ARRAY[
	'SELECT m.v FROM tiny_h JOIN mid_b m USING (k) WHERE EXISTS (SELECT FROM big_b b WHERE b.id = m.id) OR EXISTS (SELECT FROM skew_b s WHERE s.id = m.id + 1)',
	'SELECT m.v FROM tiny_h JOIN mid_b m USING (k) WHERE EXISTS (SELECT FROM big_b b WHERE b.id = m.id) OR m.v IN (SELECT v FROM tiny_b)',
	'SELECT m.v FROM tiny_b JOIN mid_b m USING (k) WHERE EXISTS (SELECT FROM mid_b b WHERE b.id = tiny_b.id AND b.v = 3) OR EXISTS (SELECT FROM big_b s WHERE s.id = m.id)']) q;
DROP FUNCTION hashed(text);

DROP FUNCTION choice(text), choices();
DROP FOREIGN TABLE big_b, mid_b, tiny_b, skew_b, line_b;
DROP TABLE big_h, mid_h, tiny_h, skew_h, seller, before_analyze, plain, stock;

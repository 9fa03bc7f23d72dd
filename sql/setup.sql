-- The extension and the helpers all tests use.
CREATE EXTENSION bucketfdw;

-- order and placement of every row read are checked in all tests
DO $$
BEGIN
	EXECUTE format('ALTER DATABASE %I SET bucketfdw.verify_order = on', current_database());
	EXECUTE format('ALTER DATABASE %I SET bucketfdw.min_free_space = 0', current_database());
END
$$;

-- One digest of the rows of a query as a multiset.
CREATE FUNCTION answer(query text, OUT n bigint, OUT digest text)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT count(*), md5(coalesce(string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C"), '''')) FROM (%s) q', query)
	INTO n, digest;
END
$$;

-- The query three ways: bucket plans on, off, and over heap copies, whose
-- names end in _h where the bucketed table's ends in _b.  Then on again with
-- other plan shapes forced.
CREATE FUNCTION same(query text) RETURNS text
LANGUAGE plpgsql SET bucketfdw.enable = on AS $$
DECLARE
	heap record;
	got record;
	setting text;
BEGIN
	SELECT * INTO heap FROM answer(regexp_replace(query, '(\w)_b\M', '\1_h', 'g'));
	SELECT * INTO got FROM answer(query);
	IF got IS DISTINCT FROM heap THEN
		RETURN format('WRONG: bucket plans give %s rows, heap %s', got.n, heap.n);
	END IF;
	PERFORM set_config('bucketfdw.enable', 'off', true);
	SELECT * INTO got FROM answer(query);
	PERFORM set_config('bucketfdw.enable', 'on', true);
	IF got IS DISTINCT FROM heap THEN
		RETURN format('WRONG: stock plans give %s rows, heap %s', got.n, heap.n);
	END IF;
	PERFORM set_config('enable_hashjoin', 'off', true), set_config('enable_nestloop', 'off', true);
	SELECT * INTO got FROM answer(query);
	PERFORM set_config('enable_hashjoin', 'on', true), set_config('enable_nestloop', 'on', true);
	IF got IS DISTINCT FROM heap THEN
		RETURN format('WRONG: forced bucket plans give %s rows, heap %s', got.n, heap.n);
	END IF;
	PERFORM set_config('bucketfdw.enable_pruning', 'off', true);
	SELECT * INTO got FROM answer(query);
	PERFORM set_config('bucketfdw.enable_pruning', 'on', true);
	IF got IS DISTINCT FROM heap THEN
		RETURN format('WRONG: without pruning %s rows, heap %s', got.n, heap.n);
	END IF;
	RETURN format('same, %s rows', heap.n);
END
$$;

-- rows the planner expects of a query
CREATE FUNCTION expected(query text) RETURNS float8
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END
$$;

-- The kinds of plan nodes of a query, in order, with other joins made dear so
-- that the shape does not hang on costs.
CREATE FUNCTION nodes(query text, force boolean DEFAULT true) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	result text;
BEGIN
	IF force THEN
		PERFORM set_config('enable_hashjoin', 'off', true), set_config('enable_nestloop', 'off', true);
	END IF;
	EXECUTE 'EXPLAIN (FORMAT JSON, COSTS OFF) ' || query INTO plan;
	IF force THEN
		PERFORM set_config('enable_hashjoin', 'on', true), set_config('enable_nestloop', 'on', true);
	END IF;
	WITH RECURSIVE node AS (
		SELECT plan->0->'Plan' AS n, ARRAY[0] AS path
		UNION ALL
		SELECT c.value, path || c.ordinality::int
		FROM node, json_array_elements(n->'Plans') WITH ORDINALITY c
	)
	SELECT string_agg(coalesce(n->>'Custom Plan Provider', n->>'Node Type'), ', ' ORDER BY path)
	INTO result FROM node;
	RETURN result;
END
$$;

-- A property of the first node that has it, from EXPLAIN ANALYZE.
CREATE FUNCTION measured(query text, property text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	result text;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON, COSTS OFF, TIMING OFF) ' || query INTO plan;
	WITH RECURSIVE node AS (
		SELECT plan->0->'Plan' AS n, ARRAY[0] AS path
		UNION ALL
		SELECT c.value, path || c.ordinality::int
		FROM node, json_array_elements(n->'Plans') WITH ORDINALITY c
	)
	SELECT n->>property INTO result FROM node WHERE n->>property IS NOT NULL ORDER BY path LIMIT 1;
	RETURN result;
END
$$;

-- The query every way, and whether its plan has bucket joins and no other kind
-- of join, no hash and no sort.
CREATE FUNCTION tried(q text, OUT answer text, OUT bucketed boolean) LANGUAGE plpgsql AS $$
DECLARE
	plan text := nodes(q);
BEGIN
	answer := same(q);
	bucketed := plan ~ 'BucketJoin' AND plan !~ 'Hash|Sort|Merge|Nested';
END
$$;

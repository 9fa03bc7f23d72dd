-- Bucket joins of which one side only is bucketed by the key: the rows of the other are sorted into its buckets.
CREATE TABLE p_h (k int, v int, t text);
INSERT INTO p_h SELECT CASE WHEN i % 20 = 0 THEN NULL ELSE i % 300 - 50 END, i, 'p' || i FROM generate_series(1, 1000) i;
INSERT INTO p_h SELECT 7, 2000 + i, 'hot' FROM generate_series(1, 150) i;
CREATE FOREIGN TABLE p_b (k int, v int, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '40');
INSERT INTO p_b SELECT * FROM p_h WHERE v % 3 = 0; INSERT INTO p_b SELECT * FROM p_h WHERE v % 3 <> 0;
-- never bucketed; k as int8, also beyond int4, u may be toasted
CREATE TABLE plain (k bigint, w int, u text);
INSERT INTO plain SELECT CASE WHEN i % 30 = 0 THEN NULL WHEN i % 31 = 0 THEN i * 10000000000 ELSE i % 450 - 100 END, i, repeat('u', i % 50)
	FROM generate_series(1, 900) i;
INSERT INTO plain SELECT 7, 2000 + i, 'hot' FROM generate_series(1, 120) i;
INSERT INTO plain SELECT 8, 3000, (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 3000) i);
CREATE TABLE nothing (k int, w int);
CREATE TABLE empty_h (k int, v int);
CREATE FOREIGN TABLE empty_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
ANALYZE p_b; ANALYZE p_h; ANALYZE plain; ANALYZE empty_b; ANALYZE empty_h; ANALYZE nothing;

-- every way, and whether the plan has a bucket join with a side that is routed
CREATE FUNCTION routed(q text, OUT answer text, OUT side text) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	answer := same(q);
	PERFORM set_config('enable_hashjoin', 'off', true), set_config('enable_nestloop', 'off', true), set_config('enable_mergejoin', 'off', true);
	EXECUTE 'EXPLAIN (FORMAT JSON, COSTS OFF) ' || q INTO plan;
	PERFORM set_config('enable_hashjoin', 'on', true), set_config('enable_nestloop', 'on', true), set_config('enable_mergejoin', 'on', true);
	side := array_to_string(ARRAY(SELECT m[1] FROM regexp_matches(plan::text, '"Routed": "(\w+)"', 'g') m), ', ');
END
$$;

-- all types of joins, both ways
SELECT q, (routed(q)).* FROM unnest(ARRAY[
	'SELECT * FROM p_b LEFT JOIN plain USING (k)',
	'SELECT * FROM plain LEFT JOIN p_b USING (k)',
	'SELECT * FROM p_b a FULL JOIN plain b ON a.k = b.k',
	'SELECT * FROM plain b FULL JOIN p_b a ON a.k = b.k',
	'SELECT * FROM p_b a WHERE NOT EXISTS (SELECT FROM plain b WHERE b.k = a.k)',
	'SELECT * FROM plain b WHERE NOT EXISTS (SELECT FROM p_b a WHERE b.k = a.k)',
	'SELECT * FROM p_b a WHERE EXISTS (SELECT FROM plain b WHERE b.k = a.k AND b.w > a.v)',
	'SELECT * FROM plain b WHERE EXISTS (SELECT FROM p_b a WHERE b.k = a.k AND b.w > a.v)',
	'SELECT * FROM p_b a LEFT JOIN plain b ON a.k = b.k AND a.v < b.w WHERE b.w IS NULL OR b.w < 800',
	'SELECT * FROM plain b LEFT JOIN p_b a ON a.k = b.k AND b.w % 2 = 0',
	'SELECT * FROM plain b FULL JOIN p_b a ON a.k = b.k AND a.v > b.w']) q;
-- an inner join may be read either way
SELECT q, (routed(q)).answer, (routed(q)).side <> '' routed FROM unnest(ARRAY[
	'SELECT * FROM p_b JOIN plain USING (k)',
	'SELECT a.t, b FROM p_b a JOIN plain b USING (k)',
	'SELECT count(*), sum(v), min(w), max(u) FROM p_b JOIN plain USING (k)',
	'SELECT k, count(*), sum(w) FROM p_b JOIN plain USING (k) GROUP BY k',
	'SELECT * FROM p_b JOIN plain USING (k) WHERE w < 0',
	'SELECT * FROM p_b JOIN (SELECT k, count(*) n FROM plain GROUP BY k) s USING (k)',
	'SELECT * FROM p_b JOIN (SELECT k, w FROM plain ORDER BY w LIMIT 50) s USING (k)',
	'WITH c AS MATERIALIZED (SELECT * FROM plain) SELECT * FROM p_b JOIN c USING (k)',
	'SELECT * FROM p_b JOIN (VALUES (1, ''a''), (2, ''b''), (NULL, ''c''), (2, ''d'')) x(k, z) USING (k)',
	'SELECT * FROM p_b JOIN generate_series(-60, 100, 7) g ON g = k',
	'SELECT * FROM p_b JOIN (SELECT k, w FROM plain UNION ALL SELECT k, w FROM nothing) s USING (k)']) q;
-- tables without rows or files
SELECT q, (routed(q)).answer FROM unnest(ARRAY[
	'SELECT * FROM p_b LEFT JOIN nothing USING (k)',
	'SELECT * FROM plain b LEFT JOIN empty_b a ON a.k = b.k',
	'SELECT * FROM plain b FULL JOIN empty_b a ON a.k = b.k',
	'SELECT count(*), max(w) FROM plain b LEFT JOIN empty_b a ON a.k = b.k',
	'SELECT b.k, count(*), max(w) FROM plain b LEFT JOIN empty_b a ON a.k = b.k GROUP BY b.k',
	'SELECT * FROM plain b WHERE NOT EXISTS (SELECT FROM empty_b a WHERE a.k = b.k)',
	'SELECT * FROM plain b JOIN empty_b a ON a.k = b.k']) q;
-- the same in little memory: sorted in temporary files
SET work_mem = '64kB';
SELECT q, (routed(q)).answer FROM unnest(ARRAY[
	'SELECT * FROM p_b LEFT JOIN plain USING (k)',
	'SELECT * FROM plain b FULL JOIN p_b a ON a.k = b.k']) q;
BEGIN;
SET LOCAL enable_hashjoin = off; SET LOCAL enable_nestloop = off; SET LOCAL enable_mergejoin = off;
SELECT measured('SELECT * FROM p_b LEFT JOIN plain USING (k)', 'Sort Disk') IS NOT NULL spilled;
COMMIT;
RESET work_mem;

-- more rows than memory holds, and a bucket that is more than that alone; rows of all widths, toasted and not; ends of the range beside NULLs
CREATE TABLE wide AS SELECT CASE WHEN i % 3 = 0 THEN 5 WHEN i % 101 = 0 THEN NULL WHEN i % 103 = 0 THEN 9223372036854775807 WHEN i % 107 = 0 THEN -9223372036854775808 ELSE i % 2000 END::bigint k,
	i w, i % 2 = 0 y, (i % 100)::smallint s, CASE WHEN i % 5 > 0 THEN 'text ' || i END u, ('n' || i)::name n, md5(i::text)::uuid g, (i || ' min')::interval d, ARRAY[i, i] a,
	CASE WHEN i % 103 = 0 THEN 'infinity' WHEN i % 3 > 0 THEN '2026-01-01'::timestamp + (i % 50 || ' h')::interval END ts FROM generate_series(1, 12000) i;
INSERT INTO wide (k, w, u) SELECT 6, -i, (SELECT string_agg(md5(i || '.' || j), '') FROM generate_series(1, 1500) j) FROM generate_series(1, 40) i;
CREATE TABLE few_h AS SELECT i::bigint k, i v, 'infinity'::timestamp ts FROM generate_series(-2, 1500) i;
INSERT INTO few_h VALUES (9223372036854775807, 1, NULL), (-9223372036854775808, 2, '2026-01-01 07:00'), (NULL, 3, '2026-01-01 08:00');
UPDATE few_h SET ts = NULL WHERE v > 3;
CREATE FOREIGN TABLE few_b (k bigint, v int, ts timestamp) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE FOREIGN TABLE fewts_b (k bigint, v int, ts timestamp) SERVER bucketfdw OPTIONS (bucket_by 'ts', buckets '4');
CREATE TABLE fewts_h AS TABLE few_h;
INSERT INTO few_b SELECT * FROM few_h; INSERT INTO fewts_b SELECT * FROM few_h; ANALYZE wide; ANALYZE few_h; ANALYZE few_b; ANALYZE fewts_b; ANALYZE fewts_h;
CREATE TABLE sizes (q text);
INSERT INTO sizes VALUES
	('SELECT f.v, w.* FROM few_b f JOIN wide w USING (k)'),
	('SELECT count(*) FROM few_b f JOIN wide w USING (k)'),
	('SELECT f.v, w.k, w.ts, w.u FROM wide w LEFT JOIN few_b f ON w.k = f.k'),
	('SELECT f.v, w.k, w.w FROM wide w FULL JOIN few_b f ON w.k = f.k'),
	('SELECT f.v, w.w FROM wide w FULL JOIN fewts_b f ON w.ts = f.ts'),
	('SELECT f.v, a FROM few_b f JOIN (SELECT k, array_append(a, w) a FROM wide WHERE w > 0 OFFSET 0) w USING (k)'),
	('SELECT count(*) FROM few_b f WHERE NOT EXISTS (SELECT FROM wide w WHERE w.k = f.k)');
SELECT (routed(q)).answer, (routed(q)).side <> '' routed FROM sizes;
SET work_mem = '64kB';
SELECT (routed(q)).answer, (routed(q)).side <> '' routed FROM sizes;
-- a rescan of rows in a file
SELECT (routed('SELECT x, (SELECT count(*) FROM wide b LEFT JOIN few_b f ON f.k = b.k AND f.v > x * 100) FROM generate_series(0, 4) x')).answer;
RESET work_mem;
DROP TABLE wide, few_h, fewts_h, sizes; DROP FOREIGN TABLE few_b, fewts_b;

-- classes of keys
CREATE TABLE keys AS SELECT i, CASE WHEN i % 17 <> 0 THEN md5((i % 200)::text)::uuid END u, CASE WHEN i % 19 <> 0 THEN 'same prefix ' || i % 150 END t,
	('c' || i % 90)::char(9) c, CASE i % 40 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '-Infinity' ELSE i % 77 - 30.5 END::float8 f, (i % 133 - 60) / 7.0 n,
	decode(md5((i % 60)::text), 'hex') b, (i % 120)::bigint * 40000000 % 4294967296 o, i % 2 = 0 y, date '2000-01-01' - i % 90 d, now()::timestamp::date + (i % 70 || ' seconds')::interval s
	FROM generate_series(1, 700) i;
ALTER TABLE keys ALTER o TYPE oid USING o::oid, ALTER n TYPE numeric;
INSERT INTO keys SELECT i + 1000, u, t, c, f, n, b, o, y, d, s FROM keys WHERE i % 3 = 0;
DO $$
DECLARE
	col text;
	cols text;
BEGIN
	SELECT string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum) INTO cols
	FROM pg_attribute WHERE attrelid = 'keys'::regclass AND attnum > 0;
	FOREACH col IN ARRAY ARRAY['u', 't', 'c', 'f', 'n', 'b', 'o', 'y', 'd', 's'] LOOP
		EXECUTE format('CREATE FOREIGN TABLE key_%s_b (%s) SERVER bucketfdw OPTIONS (bucket_by %L, buckets ''6'')', col, cols, col);
		EXECUTE format('INSERT INTO key_%s_b SELECT * FROM keys WHERE i %% 4 > 0', col);
		EXECUTE format('CREATE TABLE key_%s_h AS SELECT * FROM key_%1$s_b; ANALYZE key_%1$s_b; ANALYZE key_%1$s_h', col);
	END LOOP;
END
$$;
ANALYZE keys;
SELECT col, (routed(format('SELECT a.i, b.i, b.%1$s FROM key_%1$s_b a FULL JOIN keys b ON a.%1$s = b.%1$s AND a.i < b.i', col))).*,
	(routed(format('SELECT a.i, max(b.%1$s::text) FROM key_%1$s_b a JOIN keys b ON a.%1$s = b.%1$s WHERE a.i < 60 GROUP BY a.i', col))).answer
FROM unnest(ARRAY['u', 't', 'c', 'f', 'n', 'b', 'o', 'y', 'd', 's']) col;

-- several columns, in the order of the bucketed side
CREATE TABLE pair_h AS SELECT i % 40 x, CASE WHEN i % 11 <> 0 THEN 'y' || i % 13 END y, i FROM generate_series(1, 600) i;
CREATE FOREIGN TABLE pair_b (x int, y text, i int) SERVER bucketfdw OPTIONS (bucket_by 'y, x', buckets '5');
INSERT INTO pair_b SELECT * FROM pair_h;
CREATE TABLE pair AS SELECT CASE WHEN i % 9 <> 0 THEN (i % 50)::bigint END a, ('y' || i % 15)::varchar b, i FROM generate_series(1, 500) i;
ANALYZE pair; ANALYZE pair_b; ANALYZE pair_h;
SELECT q, (routed(q)).* FROM unnest(ARRAY[
	'SELECT * FROM pair_b p FULL JOIN pair q ON p.x = q.a AND p.y = q.b',
	'SELECT * FROM pair q LEFT JOIN pair_b p ON p.x = q.a AND p.y = q.b AND p.i > q.i',
	'SELECT q.a, q.b, count(*) FROM pair q LEFT JOIN pair_b p ON p.x = q.a AND p.y = q.b GROUP BY 1, 2',
	'SELECT * FROM pair q WHERE NOT EXISTS (SELECT FROM pair_b p WHERE p.x = q.a AND p.y = q.b)']) q;
-- not all columns equated: it stays an ordinary join
SELECT nodes('SELECT * FROM pair q JOIN pair_b p ON p.y = q.b') ~ 'BucketJoin' wrong;

-- vertices, edges, vertices: the first join is routed to the second one's buckets
CREATE TABLE vertex_h AS SELECT i id, 'n' || i name, i % 10 kind FROM generate_series(1, 300) i;
CREATE TABLE edge_h AS SELECT i % 310 src, i * 7 % 320 dst, i weight FROM generate_series(1, 2000) i;
INSERT INTO edge_h VALUES (NULL, 5, 0), (5, NULL, 0);
CREATE FOREIGN TABLE vertex_b (id int, name text, kind int) SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '8');
CREATE FOREIGN TABLE edge_b (src int, dst int, weight int) SERVER bucketfdw OPTIONS (bucket_by 'src', buckets '12');
INSERT INTO vertex_b SELECT * FROM vertex_h; INSERT INTO edge_b SELECT * FROM edge_h;
ANALYZE vertex_b; ANALYZE edge_b; ANALYZE vertex_h; ANALYZE edge_h;
SELECT q, (routed(q)).answer, (routed(q)).side <> '' routed FROM unnest(ARRAY[
	'SELECT a.name, b.name, weight FROM vertex_b a JOIN edge_b ON a.id = src JOIN vertex_b b ON b.id = dst',
	'SELECT a.name, b.name, weight FROM vertex_b a JOIN edge_b ON a.id = src LEFT JOIN vertex_b b ON b.id = dst AND b.kind > 3',
	'SELECT b.id, sum(weight) FROM vertex_b a JOIN edge_b ON a.id = src JOIN vertex_b b ON b.id = dst WHERE a.kind < b.kind GROUP BY b.id',
	'SELECT count(*), sum(e.weight), sum(f.weight) FROM edge_b e JOIN edge_b f ON e.dst = f.src',
	'SELECT count(*), sum(e.weight) FROM edge_b e JOIN edge_b f ON e.dst = f.src JOIN edge_b g ON f.dst = g.src AND g.weight < 90',
	'SELECT a.name FROM vertex_b a WHERE EXISTS (SELECT FROM edge_b WHERE dst = a.id) AND NOT EXISTS (SELECT FROM edge_b WHERE src = a.id)']) q;

-- rescans: the rows are routed anew
SELECT q, (routed(q)).answer FROM unnest(ARRAY[
	'SELECT g, s.* FROM generate_series(0, 4) g, LATERAL (SELECT count(*) n, sum(w) FROM p_b a JOIN plain b ON a.k = b.k WHERE b.w % 5 = g) s',
	'SELECT g, s.* FROM generate_series(0, 4) g, LATERAL (SELECT count(*) n, sum(w) FROM p_b a LEFT JOIN plain b ON a.k = b.k WHERE a.v % 5 = g) s',
	'SELECT g, (SELECT count(*) FROM plain b LEFT JOIN p_b a ON a.k = b.k AND a.v > g * 100) FROM generate_series(0, 4) g',
	'SELECT g, (SELECT max(v) FROM (SELECT a.v FROM p_b a JOIN plain b ON a.k = b.k WHERE b.w > g * 200 OFFSET 0) x) FROM generate_series(0, 4) g',
	'SELECT * FROM (SELECT v FROM p_b a JOIN plain b ON a.k = b.k ORDER BY v LIMIT 5) x, generate_series(1, 2)']) q;

-- rows that no parameter changes are sorted once; those that one changes, each time anew
CREATE FUNCTION loops(query text, rel text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
	RETURN jsonb_path_query_first(plan, '$.** ? (@."Relation Name" == $rel)."Actual Loops"', jsonb_build_object('rel', rel));
END
$$;
SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_mergejoin = off; SET enable_material = off;
SELECT loops(q, 'p_b') bucketed, loops(q, 'plain') routed, same(q), q FROM unnest(ARRAY[
	'SELECT g, (SELECT count(*) FROM plain b LEFT JOIN p_b a ON a.k = b.k AND a.v > g * 100) FROM generate_series(0, 4) g',
	'SELECT g, (SELECT sum(w) FROM p_b a JOIN plain b ON a.k = b.k WHERE b.w > g * 100) FROM generate_series(0, 4) g',
	'SELECT count(*), sum(v + w) FROM generate_series(0, 4) g LEFT JOIN (SELECT * FROM plain b JOIN p_b a USING (k) WHERE a.v < 50) s ON g <> w % 3']) q;
SET work_mem = '64kB';
SELECT loops(q, 'p_b') bucketed, loops(q, 'plain') routed, same(q) FROM unnest(ARRAY[
	'SELECT g, (SELECT count(*) FROM plain b LEFT JOIN p_b a ON a.k = b.k AND a.v > g * 100) FROM generate_series(0, 4) g']) q;
RESET work_mem;
RESET enable_material; RESET enable_hashjoin; RESET enable_nestloop; RESET enable_mergejoin;
DROP FUNCTION loops(text, text);

-- prepared, a cursor that goes back, a savepoint
SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_mergejoin = off;
PREPARE later(int) AS SELECT count(*), sum(w) FROM p_b a JOIN plain b ON a.k = b.k WHERE b.w > $1;
EXECUTE later(0); EXECUTE later(100); EXECUTE later(200); EXECUTE later(300); EXECUTE later(400); EXECUTE later(500);
DEALLOCATE later;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT v, w FROM p_b a JOIN plain b ON a.k = b.k WHERE v IN (1, 2) AND w > 800;
MOVE FORWARD ALL IN c;
MOVE BACKWARD ALL IN c;
SAVEPOINT s;
SELECT v / (v - 5) FROM p_b a JOIN plain b ON a.k = b.k WHERE v = 5;
ROLLBACK TO s;
MOVE FORWARD 1 IN c;
COMMIT;
-- what it looks like
EXPLAIN (COSTS OFF) SELECT * FROM p_b a LEFT JOIN plain b ON a.k = b.k;
-- the setting
SET bucketfdw.enable_routing = off;
SELECT nodes('SELECT * FROM p_b a LEFT JOIN plain b ON a.k = b.k') ~ 'BucketJoin' wrong;
RESET bucketfdw.enable_routing;
-- rows that the statement locks or changes are not routed
SELECT nodes('SELECT * FROM p_b a JOIN plain b ON a.k = b.k FOR UPDATE OF b') ~ 'BucketJoin' wrong;
SELECT nodes('UPDATE plain b SET w = 1 FROM p_b a WHERE a.k = b.k') ~ 'BucketJoin' wrong;
RESET enable_hashjoin; RESET enable_nestloop; RESET enable_mergejoin;

-- where it loses, both costs are told
CREATE TABLE more AS SELECT p.* FROM plain p, generate_series(1, 3);
ANALYZE more;
SET work_mem = '64kB'; SET random_page_cost = 1000000;
SELECT reason, regexp_replace(detail, 'a (hash|merge) join \([0-9.]+ against [0-9.]+', 'another join (N against N') detail FROM bucketfdw.why_not('SELECT * FROM p_b a LEFT JOIN more b ON a.k = b.k') WHERE NOT used;
RESET work_mem; RESET random_page_cost;
DROP TABLE more;

-- a bucket column that is no key of such a join did not come out of an outer join
CREATE FOREIGN TABLE item_b (k int, j int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE FOREIGN TABLE name_b (id int, name text) SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '4');
CREATE FOREIGN TABLE price_b (k int, x int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO item_b SELECT i, i % 50 FROM generate_series(1, 20000) i; INSERT INTO name_b SELECT i, 'n' || i FROM generate_series(1, 50) i; INSERT INTO price_b SELECT i, i FROM generate_series(1, 20000) i;
ANALYZE item_b; ANALYZE name_b; ANALYZE price_b;
SET join_collapse_limit = 1;
SET work_mem = '64kB'; SET random_page_cost = 1000000;
SELECT reason, regexp_replace(detail, ';[^;]*$', '') detail, hint FROM bucketfdw.why_not('SELECT * FROM (item_b a JOIN name_b b ON a.j = b.id) JOIN price_b c ON c.k = a.k') WHERE relations ~ 'c';
RESET work_mem; RESET random_page_cost;
SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_mergejoin = off;
SELECT reason, detail, hint FROM bucketfdw.why_not('SELECT a.k, count(*) FROM item_b a JOIN name_b b ON a.j = b.id GROUP BY a.k') WHERE kind = 'aggregate';
RESET enable_hashjoin; RESET enable_nestloop; RESET enable_mergejoin; RESET join_collapse_limit;
DROP FOREIGN TABLE item_b, name_b, price_b;

DROP FUNCTION routed(text);
DROP FOREIGN TABLE p_b, empty_b, pair_b, vertex_b, edge_b, key_u_b, key_t_b, key_c_b, key_f_b, key_n_b, key_b_b, key_o_b, key_y_b, key_d_b, key_s_b;
DROP TABLE p_h, plain, nothing, empty_h, pair, pair_h, vertex_h, edge_h, keys, key_u_h, key_t_h, key_c_h, key_f_h, key_n_h, key_b_h, key_o_h, key_y_h, key_d_h, key_s_h;

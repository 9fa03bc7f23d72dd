-- Conditions on whole batches: every form, on every type, with NULLs, at the edges of blocks.
SET bucketfdw.verify_order = on;
CREATE TABLE q_h (id int, f bool, i2 smallint, i4 int, i8 bigint, n numeric, n2 numeric(8,2), f4 real, f8 double precision,
	d date, ts timestamp, o oid, u uuid, y bytea, t text, v varchar(20), c char(6), late int);
INSERT INTO q_h
SELECT i, CASE i % 3 WHEN 0 THEN true WHEN 1 THEN false END,
	CASE WHEN i % 7 > 0 THEN i % 5 END, CASE WHEN i % 11 > 0 THEN i % 200 - 3 END, CASE WHEN i % 5 > 0 THEN i / 100 END,
	CASE WHEN i % 13 = 0 THEN 'NaN' WHEN i % 6 > 0 THEN (i % 40) / 4.0 END, CASE WHEN i % 9 > 0 THEN (i % 50) * 1.5 END,
	(ARRAY[0, '-0', 'NaN', 1.5, 'Infinity', NULL, 2])[1 + i % 7]::real,
	(ARRAY['-Infinity', 'NaN', 0, '-0', 1.5, NULL, 0.1, 2])[1 + i % 8]::float8,
	CASE WHEN i % 17 > 0 THEN date '2024-01-01' + i % 300 END,
	CASE WHEN i % 4 > 0 THEN timestamp '2024-01-01' + i % 90 * interval '1 hour' ELSE 'infinity' END,
	(i % 4)::oid, CASE WHEN i % 3 > 0 THEN md5((i % 20)::text)::uuid END,
	CASE WHEN i % 8 > 0 THEN decode(md5((i % 12)::text), 'hex') END,
	CASE WHEN i > 1900 THEN NULL WHEN i % 10 > 0 THEN (ARRAY['a', 'ab', 'abc', '', 'b%', 'ä', 'äb', E'a\\b', 'a_b', repeat('ab', 60), 'Ab', 'a b '])[1 + i / 150 % 12] || (i % 3) END,
	CASE WHEN i % 6 > 0 THEN 'v' || (i % 15) END, CASE WHEN i % 5 > 0 THEN rpad('c', i % 5) || (i % 3) ELSE 'c  ' END
FROM generate_series(1, 2000) i;
-- blocks of 64 rows; a column that the first file is older than; all NULL blocks
CREATE FOREIGN TABLE q_b (id int, f bool, i2 smallint, i4 int, i8 bigint, n numeric, n2 numeric(8,2), f4 real, f8 double precision,
	d date, ts timestamp, o oid, u uuid, y bytea, t text, v varchar(20), c char(6))
	SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '4', block_rows '64');
INSERT INTO q_b SELECT id, f, i2, i4, i8, n, n2, f4, f8, d, ts, o, u, y, t, v, c FROM q_h WHERE id <= 1000;
ALTER FOREIGN TABLE q_b ADD COLUMN late int;
UPDATE q_h SET late = id % 3 WHERE id > 1000 AND id % 2 = 0;
INSERT INTO q_b SELECT * FROM q_h WHERE id > 1000;
ANALYZE q_h, q_b;

-- is the condition tested on batches, and does it keep the rows of the heap?
CREATE FUNCTION batched(condition text, columns text DEFAULT 'id') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	filter bool := false;
	batch bool := false;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT %s FROM q_b WHERE %s', columns, condition) LOOP
		filter := filter OR line ~ '^ *(Filter|One-Time Filter):';
		batch := batch OR line ~ 'Batch Filter:';
	END LOOP;
	RETURN CASE WHEN batch AND filter THEN 'both' WHEN batch THEN 'batch' WHEN filter THEN 'row' ELSE 'none' END
		|| ', ' || same(format('SELECT %s FROM q_b WHERE %s', columns, condition));
END
$$;

-- a few values of each type, one of them in no row
CREATE TABLE vals (col text, typ text, vals text[]);
INSERT INTO vals VALUES ('i2', 'smallint', '{0,3,9}'), ('i4', 'int', '{-3,5,100,196}'), ('i8', 'bigint', '{0,19,20,77}'),
	('i4', 'bigint', '{5,3000000000}'), ('n', 'numeric', '{NaN,2.50,0,9.75}'), ('n2', 'numeric', '{1.5,73.500,2}'),
	('f4', 'real', '{0,-0,NaN,1.5}'), ('f8', 'float8', '{NaN,-0,0.1,7}'), ('f8', 'real', '{NaN,0.1}'),
	('d', 'date', '{2024-01-01,2024-10-26,infinity}'), ('ts', 'timestamp', '{2024-01-02,infinity,1999-01-01}'),
	('o', 'oid', '{0,3,9}'), ('u', 'uuid', '{cfcd2084-95d5-65ef-66e7-dff9f98764da,c4ca4238-a0b9-2382-0dcc-509a6f75849b}'),
	('y', 'bytea', '{"\\xcfcd208495d565ef66e7dff9f98764da","\\x"}'), ('t', 'text', '{a0,ab1,"",abc2,ä2}'),
	('v', 'varchar', '{v1,v14,w}'), ('c', 'bpchar', '{c,"c  ",c1,"c   1"}'), ('late', 'int', '{0,1,7}');

SELECT col, typ, op, string_agg(DISTINCT regexp_replace(batched(format('%I %s %L::%s', col, op, v, typ)), ', same.*', ', same'), '; ')
FROM vals, unnest(vals) v, unnest(ARRAY['<>', '=', '<', '>=']) op GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
-- NOT IN and <> ALL; nothing is known to differ from NULL, and all elements of nothing differ from NULL too
SELECT col, typ, batched(format('%I <> ALL (%L::%s[])', col, vals, typ)), batched(format('%I <> ALL (%L::%s[])', col, vals || NULL::text, typ)),
	batched(format('%I <> ALL (%L::%s[])', col, '{}', typ)), batched(format('%I <> ALL (NULL::%s[])', col, typ))
FROM vals ORDER BY 1, 2;
SELECT batched('i4 NOT IN (1, 2, 3)'), batched('i4 NOT IN (1, NULL, 3)'), batched('NOT (i4 IN (1, 2) OR i8 = 3)'),
	batched('t NOT IN (''a0'', ''ab1'')'), batched('i4 NOT IN (0,1,2,3,4,5,6,7,8,9,10,11,12,13)'), batched('bucketfdw.bucket_id(4, id) <> ALL (''{1,2}'')');
-- a date column and a constant timestamp, a timestamp column and a constant date
SELECT op, string_agg(DISTINCT regexp_replace(batched(format('d %s timestamp %L', op, v)), ', same.*', ', same'), '; ') AS date_with_midnight,
	string_agg(DISTINCT regexp_replace(batched(format('d %s timestamp %L', op, v + interval '3 hours')), ', same.*', ', same'), '; ') AS with_other_time,
	string_agg(DISTINCT regexp_replace(batched(format('timestamp %L %s d', v + interval '3 hours', op)), ', same.*', ', same'), '; ') AS the_other_way,
	string_agg(DISTINCT regexp_replace(batched(format('ts %s date %L', op, v::date)), ', same.*', ', same'), '; ') AS timestamp_with_date
FROM unnest(ARRAY['<', '<=', '=', '>=', '>', '<>']) op,
	unnest('{2024-01-01,2024-01-03,2024-05-17,1999-12-31,0044-03-15 BC}'::timestamp[]) v GROUP BY 1 ORDER BY 1;
SELECT c, batched(c) FROM unnest(ARRAY['d >= date ''2024-02-01'' - interval ''1 month''', 'd < date ''2024-02-01'' + interval ''1 hour''',
	'd < timestamp ''infinity''', 'd <= timestamp ''-infinity''', 'd = timestamp ''infinity''', 'ts >= date ''infinity''', 'ts > date ''-infinity''',
	'ts < date ''5874897-12-31''', 'd < timestamp ''294276-12-31''', 'd < NULL::timestamp', 'd < timestamptz ''2024-02-01''', 'ts < timestamptz ''2024-02-01''',
	'd = ANY (ARRAY[timestamp ''2024-02-01''])', 'd < timestamp ''2024-01-09 12:00'' OR ts = date ''2024-01-02''']) c;
SELECT measured('SELECT id FROM q_b WHERE d > timestamp ''2030-01-01 01:00''', 'Blocks Read') AS blocks;
CREATE TABLE edge_h (id int, d date, ts timestamp);
INSERT INTO edge_h SELECT row_number() OVER (), d, CASE WHEN d < '290000-01-01' OR d = 'infinity' THEN d END
FROM unnest('{-infinity,4713-01-01 BC,0001-12-31 BC,0001-01-01,1969-12-31,1970-01-01,1999-12-31,2000-01-01,2000-01-02,294276-12-31,5874897-12-31,infinity,NULL}'::date[]) d;
CREATE FOREIGN TABLE edge_b (id int, d date, ts timestamp) SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '2');
INSERT INTO edge_b TABLE edge_h;
SELECT op, string_agg(DISTINCT regexp_replace(same(format('SELECT id FROM edge_b WHERE d %s timestamp %L', op, v)), ',.*', ''), ';') AS dates,
	string_agg(DISTINCT regexp_replace(same(format('SELECT id FROM edge_b WHERE ts %s date %L', op, v::date)), ',.*', ''), ';') AS timestamps
FROM unnest(ARRAY['<', '<=', '=', '>=', '>', '<>']) op,
	unnest('{-infinity,4713-01-01 BC,0001-12-31 BC,0001-12-31 23:59:59.999999 BC,0001-01-01 00:00:00.000001,1969-12-31 12:00,1970-01-01,1999-12-31 23:59:59.999999,2000-01-01,2000-01-01 00:00:00.000001,294276-12-31 12:00,infinity}'::timestamp[]) v
GROUP BY 1 ORDER BY 1;
-- booleans
SELECT c, batched(c) FROM unnest(ARRAY['f', 'NOT f', 'f = true', 'f <> true', 'f IS TRUE', 'f IS NOT TRUE', 'f IS FALSE', 'f IS NOT FALSE',
	'f IS UNKNOWN', 'f IS NOT UNKNOWN', 'NOT (f IS TRUE)', 'f AND i4 = 5', 'f OR i4 = 5', 'NOT f OR f IS NULL', 'f = (i4 > 5)', 'f < true', 'f IN (true)']) c;
-- OR of comparisons
SELECT c, batched(c) FROM unnest(ARRAY['i4 = 5 OR t = ''a1''', 'i4 = 5 OR i4 IS NULL', 'i8 < 2 OR i8 > 17 OR t LIKE ''ab%''',
	'late IS NULL OR late = 1', 'late = 1 OR late = 2', 'id = 1 OR id = 2000', 'i4 = 5 OR (t = ''a1'' AND i8 = 3)', 'i4 = 5 OR i4 + 1 = 8',
	'i4 = 5 OR i4 = i8', 'f OR NOT f', 'n = ''NaN'' OR n2 > 70 OR u IS NULL', 'i4 <> ALL (''{}'') OR i8 = 1', 'i4 <> ALL (''{1,NULL}'') OR i8 = 1',
	'i4 = ANY (''{1,2,NULL}'') OR NOT f', 'i4 = ANY (''{}'') OR i8 = ANY (''{}'')', 'late = 7 OR i4 = 100000', '(i4 = 1 OR f) AND (i8 = 3 OR t IS NULL) AND i2 <> 4',
	'i4 = 5 OR i8 = 10 / (random() * 0 + 1)::int', 'i4 = 5 OR bucketfdw.bucket_id(4, id) = 1', 'id = 5 OR i8 = (SELECT 3)',
	'c = ''c'' OR v = ''v3''', 'i4 = 3 OR EXISTS (SELECT 1 FROM vals WHERE col = q_b.t)']) c;
-- LIKE with a prefix
SELECT c, batched(c) FROM unnest(ARRAY['t LIKE ''ab%''', 't LIKE ''a%''', 't LIKE ''ä%''', 't LIKE ''z%''', 't LIKE ''A%''', 'v LIKE ''v1%''', 't LIKE ''ab%%''',
	't LIKE ''%''', 't LIKE ''a\%''', 't LIKE ''a_%''', 't LIKE ''%b''', 't LIKE ''ab''', 't NOT LIKE ''ab%''', 't ILIKE ''ab%''', 'c LIKE ''c%''',
	't ^@ ''ab''', 't LIKE NULL', 't COLLATE "C" LIKE ''ab%''', 't LIKE v', 't LIKE repeat(''ab'', 50) || ''%''', 't LIKE ''ab%'' OR t LIKE ''b%''']) c;
SELECT measured('SELECT id FROM q_b WHERE t LIKE ''z%''', 'Blocks Read') z, measured('SELECT id FROM q_b WHERE t LIKE '' %''', 'Blocks Read') blank,
	measured('SELECT id FROM q_b WHERE id = -1 OR id = 5000', 'Blocks Read') ors, measured('SELECT id FROM q_b WHERE late = 7 OR id > 1996', 'Blocks Read')::int <= 4 few;
-- the condition is printed as it was written
EXPLAIN (COSTS OFF) SELECT id FROM q_b WHERE f AND NOT (i4 = 1 OR i4 = 2) AND (i8 = 3 OR t LIKE 'ab%') AND i2 <> ALL ('{1,2}');
-- a value that fails is computed only for rows that ask for it
SET plan_cache_mode = force_generic_plan;
PREPARE guarded(int) AS SELECT count(*) FROM q_b WHERE id > 0 OR id = 10 / $1;
EXECUTE guarded(0);
-- the generic plan of a prepared statement
PREPARE any_of(int, int[], text) AS SELECT count(*), sum(id) FROM q_b WHERE (i4 = $1 OR t = $3) AND i8 <> ALL ($2);
EXPLAIN (COSTS OFF) EXECUTE any_of(5, '{1,2}', 'a0');
PREPARE any_of_h(int, int[], text) AS SELECT count(*), sum(id) FROM q_h WHERE (i4 = $1 OR t = $3) AND i8 <> ALL ($2);
EXECUTE any_of(5, '{1,2}', 'a0');
EXECUTE any_of_h(5, '{1,2}', 'a0');
EXECUTE any_of(NULL, '{1}', 'ab1');
EXECUTE any_of_h(NULL, '{1}', 'ab1');
EXECUTE any_of(NULL, '{}', NULL);
EXECUTE any_of(5, '{}', NULL);
EXECUTE any_of_h(5, '{}', NULL);
EXECUTE any_of(5, '{NULL}', 'a0');
RESET plan_cache_mode;
-- a rescan sets the values of the arms anew; the columns of the outer row are parameters
SELECT same('SELECT x, s.* FROM (VALUES (1), (5), (NULL), (7)) o(x), LATERAL (SELECT count(*), sum(id) FROM q_b WHERE i4 = x OR i8 = x OFFSET 0) s');
SELECT same('SELECT x, s.* FROM (VALUES (''{1,2}''::int[]), (''{}''), (NULL), (''{5,NULL}'')) o(x), LATERAL (SELECT count(*), sum(id) FROM q_b WHERE i4 <> ALL (x) OFFSET 0) s');
-- under a bucket join and an aggregate
SELECT same('SELECT a.id, b.t FROM q_b a JOIN q_b b USING (id) WHERE (a.f OR a.i4 > 90) AND NOT b.f AND a.t LIKE ''ab%'' AND (b.n = 1 OR b.n2 > 3)');
SELECT same('SELECT count(*), max(t) FROM q_b WHERE (f OR i4 = 5) AND n <> ''NaN''');
-- a boolean bucket column
CREATE TABLE fb_h AS SELECT i % 3 = 0 AS k, i FROM generate_series(1, 500) i UNION ALL SELECT NULL, 0;
CREATE FOREIGN TABLE fb_b (k bool, i int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16');
INSERT INTO fb_b SELECT * FROM fb_h;
SELECT c, same('SELECT * FROM fb_b WHERE ' || c), measured('SELECT * FROM fb_b WHERE ' || c, 'Buckets Read')
FROM unnest(ARRAY['k', 'NOT k', 'k IS TRUE', 'k IS UNKNOWN', 'k OR i = 7', 'k IS NOT TRUE']) c;
DROP FOREIGN TABLE q_b, fb_b, edge_b;
DROP TABLE q_h, fb_h, edge_h, vals;

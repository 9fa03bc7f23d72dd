-- Key classes, several key columns, bucket counts, duplicates.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;

-- every class, joined with itself under all pairs of counts
CREATE FUNCTION class_join(coltype text, expr text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n text; msg text; counts int[] := ARRAY[8, 4, 12, 1, 7]; c int; result text := '';
BEGIN
	EXECUTE format('CREATE TABLE x_h (k %s, v int)', coltype);
	EXECUTE format('INSERT INTO x_h SELECT CASE WHEN i %% 23 = 0 THEN NULL ELSE (%s) END, i FROM generate_series(1, 400) i', expr);
	EXECUTE 'CREATE TABLE y_h AS SELECT k, v FROM x_h WHERE v % 3 <> 0 UNION ALL SELECT k, -v FROM x_h WHERE v % 5 = 0';
	EXECUTE format('CREATE FOREIGN TABLE x_b (k %s, v int) SERVER bucketfdw OPTIONS (bucket_by ''k'', buckets ''8'', block_rows ''32'')', coltype);
	INSERT INTO x_b SELECT * FROM x_h WHERE v < 150;
	INSERT INTO x_b SELECT * FROM x_h WHERE v >= 150;
	FOREACH c IN ARRAY counts LOOP
		EXECUTE format('CREATE FOREIGN TABLE y_b (k %s, v int) SERVER bucketfdw OPTIONS (bucket_by ''k'', buckets %L, sort_by ''k, v desc'')', coltype, c);
		INSERT INTO y_b SELECT * FROM y_h;
		msg := same('SELECT x.k, x.v, y.k AS yk, y.v AS yv FROM x_b x JOIN y_b y ON x.k = y.k');
		n := nodes('SELECT x.k, x.v, y.v FROM x_b x JOIN y_b y ON x.k = y.k');
		IF msg LIKE 'WRONG%' OR n NOT LIKE 'BucketJoin%' THEN
			result := result || format('%s: %s, %s; ', c, msg, n);
		END IF;
		DROP FOREIGN TABLE y_b;
	END LOOP;
	DROP FOREIGN TABLE x_b;
	DROP TABLE x_h, y_h;
	RETURN CASE result WHEN '' THEN msg ELSE result END;
END
$$;
SELECT coltype, class_join(coltype, expr) FROM (VALUES
	('smallint', 'i % 100 - 50'), ('integer', '(i % 100) * 9000003 - 400000000'), ('bigint', '(i % 100) * 10000000000 - 5'),
	('numeric', 'CASE i % 4 WHEN 0 THEN (i % 90)::numeric WHEN 1 THEN (i % 90)::numeric(10,2) WHEN 2 THEN (i % 90) / 8.0 ELSE (i % 90) * 1e20 END'),
	('numeric(12,3)', 'CASE i % 50 WHEN 0 THEN ''NaN''::numeric ELSE (i % 90) / 8.0 - 3 END'),
	('numeric', 'CASE i % 9 WHEN 0 THEN ''Infinity''::numeric WHEN 1 THEN ''-Infinity'' WHEN 2 THEN ''NaN'' ELSE i % 30 END'),
	('real', 'CASE i % 20 WHEN 0 THEN ''NaN''::real WHEN 1 THEN ''-0'' WHEN 2 THEN 0 WHEN 3 THEN ''-Infinity'' ELSE (i % 77) / 7.0 - 4 END'),
	('double precision', 'CASE i % 20 WHEN 0 THEN ''NaN''::float8 WHEN 1 THEN ''-0'' WHEN 2 THEN 0 WHEN 3 THEN ''Infinity'' ELSE (i % 77) / 7.0 - 4 END'),
	('boolean', 'i % 2 = 0'), ('date', 'CASE i % 30 WHEN 0 THEN ''infinity''::date WHEN 1 THEN ''-infinity'' ELSE date ''2000-01-01'' - 50 + i % 100 END'),
	('time', 'time ''00:00'' + (i % 90) * interval ''11 min'''),
	('timestamp', 'CASE i % 30 WHEN 0 THEN ''infinity''::timestamp WHEN 1 THEN ''-infinity'' ELSE timestamp ''1999-12-31 12:00'' + (i % 80) * interval ''17 min'' END'),
	('timestamptz', 'timestamptz ''1999-12-31 12:00 UTC'' + (i % 80) * interval ''17 min'''),
	('oid', '(i % 90 + 2147483600::bigint)::oid'), ('uuid', 'md5((i % 90)::text)::uuid'), ('bytea', 'decode(md5((i % 90)::text), ''hex'')'),
	('bytea', 'substring(decode(''000000000000000000000000'', ''hex'') from 1 for i % 12)'),
	('text', '''key '' || i % 90'), ('text', 'repeat(''long common prefix '', 3) || (i % 90)'), ('text', 'CASE i % 5 WHEN 0 THEN '''' ELSE ''é'' || i % 70 END'),
	('varchar(20)', '''v'' || i % 90'), ('char(8)', '''c'' || i % 90'), ('text COLLATE "C"', 'repeat(''x'', i % 60)')) v(coltype, expr);

-- domains count as their base type
CREATE DOMAIN posint AS int CHECK (VALUE > 0);
SELECT class_join('posint', '(i % 90 + 1)::posint');
DROP DOMAIN posint;

-- int2 with int8, float4 with float8, text with varchar, different deterministic collations
CREATE TABLE s_h (a smallint, f real, t text COLLATE "C", v int);
CREATE TABLE l_h (a bigint, f double precision, t varchar(30), v int);
INSERT INTO s_h SELECT i % 300 - 100, (i % 200) / 4.0, 'k' || i % 111, i FROM generate_series(1, 1000) i;
INSERT INTO l_h SELECT i % 400 - 200, (i % 300) / 4.0, 'k' || i % 150, i FROM generate_series(1, 1200) i;
CREATE FOREIGN TABLE s_b (a smallint, f real, t text COLLATE "C", v int) SERVER bucketfdw OPTIONS (bucket_by 'a', buckets '200');
CREATE FOREIGN TABLE l_b (a bigint, f double precision, t varchar(30), v int) SERVER bucketfdw OPTIONS (bucket_by 'a', buckets '64');
INSERT INTO s_b SELECT * FROM s_h; INSERT INTO l_b SELECT * FROM l_h;
SELECT same('SELECT s.v, l.v AS lv FROM s_b s JOIN l_b l ON s.a = l.a'), nodes('SELECT s.v, l.v FROM s_b s JOIN l_b l ON s.a = l.a');
-- 200 with 64 buckets; a side without rows leaves the other unread
EXPLAIN (COSTS OFF) SELECT 1 FROM s_b s JOIN l_b l ON s.a = l.a WHERE s.v < 0;
SELECT measured('SELECT 1 FROM s_b s JOIN l_b l ON s.a = l.a WHERE s.v < 0', 'Rows Compared') compared,
	measured('SELECT 1 FROM s_b s JOIN l_b l ON s.a = l.a WHERE s.v < 0', 'Units') units;
DROP FOREIGN TABLE s_b, l_b;
CREATE FOREIGN TABLE s_b (a smallint, f real, t text COLLATE "C", v int) SERVER bucketfdw OPTIONS (bucket_by 'f', buckets '12');
CREATE FOREIGN TABLE l_b (a bigint, f double precision, t varchar(30), v int) SERVER bucketfdw OPTIONS (bucket_by 'f', buckets '16');
INSERT INTO s_b SELECT * FROM s_h; INSERT INTO l_b SELECT * FROM l_h;
SELECT same('SELECT s.v, l.v AS lv FROM s_b s JOIN l_b l ON s.f = l.f'), nodes('SELECT s.v, l.v FROM s_b s JOIN l_b l ON s.f = l.f');
DROP FOREIGN TABLE s_b, l_b;
CREATE FOREIGN TABLE s_b (a smallint, f real, t text COLLATE "C", v int) SERVER bucketfdw OPTIONS (bucket_by 't', buckets '12');
CREATE FOREIGN TABLE l_b (a bigint, f double precision, t varchar(30), v int) SERVER bucketfdw OPTIONS (bucket_by 't', buckets '16');
INSERT INTO s_b SELECT * FROM s_h; INSERT INTO l_b SELECT * FROM l_h;
SELECT same('SELECT s.v, l.v AS lv FROM s_b s JOIN l_b l ON s.t = l.t'), nodes('SELECT s.v, l.v FROM s_b s JOIN l_b l ON s.t = l.t');
DROP FOREIGN TABLE s_b, l_b;
DROP TABLE s_h, l_h;

-- two key columns: any order in ON, mixed widths, NULLs in either
CREATE TABLE m_h (x int, y text, v int);
CREATE TABLE n_h (y text, w int, x bigint);
INSERT INTO m_h SELECT CASE WHEN i % 11 = 0 THEN NULL ELSE i % 17 END, CASE WHEN i % 13 = 0 THEN NULL ELSE 'y' || i % 7 END, i FROM generate_series(1, 900) i;
INSERT INTO n_h SELECT CASE WHEN i % 9 = 0 THEN NULL ELSE 'y' || i % 8 END, i, CASE WHEN i % 10 = 0 THEN NULL ELSE i % 19 END FROM generate_series(1, 700) i;
CREATE FOREIGN TABLE m_b (x int, y text, v int) SERVER bucketfdw OPTIONS (bucket_by 'x, y', buckets '6', block_rows '20');
CREATE FOREIGN TABLE n_b (y text, w int, x bigint) SERVER bucketfdw OPTIONS (bucket_by 'x, y', buckets '9', sort_by 'x, y, w desc', block_rows '33');
INSERT INTO m_b SELECT * FROM m_h WHERE v < 400; INSERT INTO m_b SELECT * FROM m_h WHERE v >= 400;
INSERT INTO n_b SELECT * FROM n_h WHERE w % 2 = 0; INSERT INTO n_b SELECT * FROM n_h WHERE w % 2 = 1;
SELECT same('SELECT * FROM m_b JOIN n_b USING (x, y)'), nodes('SELECT * FROM m_b JOIN n_b USING (x, y)');
SELECT same('SELECT * FROM m_b JOIN n_b USING (y, x)'), nodes('SELECT * FROM m_b JOIN n_b USING (y, x)');
SELECT same('SELECT * FROM n_b JOIN m_b ON m_b.y = n_b.y AND n_b.x = m_b.x AND v > w'), nodes('SELECT * FROM n_b JOIN m_b ON m_b.y = n_b.y AND n_b.x = m_b.x AND v > w');
-- one of the columns alone, or the same columns the other way round, is not enough
SELECT same('SELECT * FROM m_b JOIN n_b USING (x)'), nodes('SELECT * FROM m_b JOIN n_b USING (x)', false) LIKE '%BucketJoin%';
SELECT same('SELECT * FROM m_b JOIN n_b USING (y)'), nodes('SELECT * FROM m_b JOIN n_b USING (y)', false) LIKE '%BucketJoin%';
CREATE FOREIGN TABLE o_b (x int, y text, v int) SERVER bucketfdw OPTIONS (bucket_by 'y, x', buckets '6');
CREATE TABLE o_h AS SELECT * FROM m_h;
INSERT INTO o_b SELECT * FROM o_h;
SET bucketfdw.enable_routing = off;
SELECT same('SELECT * FROM o_b JOIN n_b USING (x, y)'), nodes('SELECT * FROM o_b JOIN n_b USING (x, y)', false) LIKE '%BucketJoin%';
RESET bucketfdw.enable_routing;
-- pruning by both columns
SELECT same('SELECT * FROM m_b WHERE x = 5 AND y = ''y3'''), measured('SELECT * FROM m_b WHERE x = 5 AND y = ''y3''', 'Buckets Read');
SELECT same('SELECT * FROM m_b WHERE x = 5 AND y IS NULL'), measured('SELECT * FROM m_b WHERE x = 5 AND y IS NULL', 'Buckets Read');
SELECT same('SELECT * FROM m_b WHERE x IN (1, 2) AND y IN (''y1'', ''y2'')'), measured('SELECT * FROM m_b WHERE x = 5', 'Buckets Read');
DROP FOREIGN TABLE m_b, n_b, o_b;
DROP TABLE m_h, n_h, o_h;

-- casts that are not a bucket join's business
CREATE TABLE p_h (i int, o oid, d date, ts timestamp, c char(5), t text, n name);
INSERT INTO p_h SELECT i - 10, i, date '2020-01-01' + i, timestamp '2020-01-01' + i * interval '12 h', 'c' || i, 'c' || i, 'c' || i FROM generate_series(1, 60) i;
CREATE FOREIGN TABLE pi_b (i int, o oid, d date, ts timestamp, c char(5), t text, n name) SERVER bucketfdw OPTIONS (bucket_by 'i');
CREATE FOREIGN TABLE po_b (i int, o oid, d date, ts timestamp, c char(5), t text, n name) SERVER bucketfdw OPTIONS (bucket_by 'o');
CREATE FOREIGN TABLE pd_b (i int, o oid, d date, ts timestamp, c char(5), t text, n name) SERVER bucketfdw OPTIONS (bucket_by 'd');
CREATE FOREIGN TABLE pts_b (i int, o oid, d date, ts timestamp, c char(5), t text, n name) SERVER bucketfdw OPTIONS (bucket_by 'ts');
CREATE FOREIGN TABLE pc_b (i int, o oid, d date, ts timestamp, c char(5), t text, n name) SERVER bucketfdw OPTIONS (bucket_by 'c');
CREATE FOREIGN TABLE pt_b (i int, o oid, d date, ts timestamp, c char(5), t text, n name) SERVER bucketfdw OPTIONS (bucket_by 't');
CREATE VIEW pi_h AS SELECT * FROM p_h; CREATE VIEW po_h AS SELECT * FROM p_h; CREATE VIEW pd_h AS SELECT * FROM p_h;
CREATE VIEW pts_h AS SELECT * FROM p_h; CREATE VIEW pc_h AS SELECT * FROM p_h; CREATE VIEW pt_h AS SELECT * FROM p_h;
INSERT INTO pi_b SELECT * FROM p_h; INSERT INTO po_b SELECT * FROM p_h; INSERT INTO pd_b SELECT * FROM p_h;
INSERT INTO pts_b SELECT * FROM p_h; INSERT INTO pc_b SELECT * FROM p_h; INSERT INTO pt_b SELECT * FROM p_h;
SELECT q, same(q), nodes(q, false) LIKE '%BucketJoin%' bucketed FROM unnest(ARRAY[
	'SELECT count(*) FROM pi_b a JOIN po_b b ON a.i = b.o',
	'SELECT count(*) FROM pd_b a JOIN pts_b b ON a.d = b.ts',
	'SELECT count(*) FROM pc_b a JOIN pt_b b ON a.c = b.t',
	'SELECT count(*) FROM pc_b a JOIN pt_b b ON a.c::text = b.t',
	'SELECT count(*) FROM pc_b a JOIN pt_b b ON a.c = b.t::bpchar',
	'SELECT count(*) FROM pi_b a JOIN pi_b b ON a.i::numeric = b.i',
	'SELECT count(*) FROM pi_b a JOIN pi_b b ON a.i::smallint = b.i',
	'SELECT count(*) FROM pt_b a JOIN pt_b b ON a.t::name = b.t::name']) q;
DROP VIEW pi_h, po_h, pd_h, pts_h, pc_h, pt_h;
DROP FOREIGN TABLE pi_b, po_b, pd_b, pts_b, pc_b, pt_b;
DROP TABLE p_h;

-- duplicates on both sides, larger than a batch and than work_mem
CREATE TABLE hot_h (k int, v int, pad text);
INSERT INTO hot_h SELECT CASE WHEN i <= 3000 THEN 5 ELSE i % 50 END, i, repeat('p', 100) FROM generate_series(1, 5000) i;
CREATE FOREIGN TABLE hot_b (k int, v int, pad text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '256');
INSERT INTO hot_b SELECT * FROM hot_h WHERE v % 2 = 0;
INSERT INTO hot_b SELECT * FROM hot_h WHERE v % 2 = 1;
SET work_mem = '64kB';
SET max_parallel_workers_per_gather = 0;
SELECT nodes('SELECT count(*) FROM hot_b a JOIN hot_b b USING (k)');
RESET max_parallel_workers_per_gather;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
SELECT count(*), sum(a.v::bigint * b.v), min(a.pad || b.pad) = repeat('p', 200) FROM hot_b a JOIN hot_b b USING (k);
SELECT measured('SELECT count(*), max(a.pad || b.pad) FROM hot_b a JOIN hot_b b USING (k)', 'Temp Written')::int > 0 spilled;
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop;
SELECT count(*), sum(a.v::bigint * b.v) FROM hot_h a JOIN hot_h b USING (k);
SELECT same('SELECT a.v, b.v AS bv FROM hot_b a JOIN hot_b b USING (k) WHERE a.v < 40 AND b.v > 4900');
SELECT same('SELECT a.v, b.v AS bv FROM hot_b a JOIN hot_b b USING (k) WHERE a.v < 40');
SELECT same('SELECT a.v, b.v AS bv FROM hot_b a JOIN hot_b b USING (k) WHERE b.v < 40');
RESET work_mem;
-- temp_file_limit stops it cleanly
SET work_mem = '64kB'; SET temp_file_limit = '100kB';
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
\set VERBOSITY sqlstate
SELECT count(*), max(a.pad || b.pad) FROM hot_b a JOIN hot_b b USING (k);
\set VERBOSITY default
RESET temp_file_limit; RESET work_mem;
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop;

-- a few filtered keys decode a small part of the other side
CREATE TABLE big_h AS SELECT i AS k, i * 2 AS v FROM generate_series(1, 40000) i;
CREATE FOREIGN TABLE big_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '50');
INSERT INTO big_b SELECT * FROM big_h;
CREATE FOREIGN TABLE few_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE few_h AS SELECT i * 4000 AS k, i AS v FROM generate_series(1, 9) i;
INSERT INTO few_b SELECT * FROM few_h;
SELECT same('SELECT * FROM big_b JOIN few_b USING (k)'), nodes('SELECT * FROM big_b JOIN few_b USING (k)');
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
SELECT measured('SELECT * FROM big_b JOIN few_b USING (k)', 'Blocks Read')::int < 40 gallops;
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop;
-- more runs than are merged at once
CREATE TABLE many_h (k int, v int, t text);
CREATE FOREIGN TABLE many_b (k int, v int, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2', sort_by 'k, v desc');
CREATE PROCEDURE fill() LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..600 LOOP
		INSERT INTO many_b SELECT CASE WHEN j % 19 = 0 THEN NULL ELSE (i * 7 + j) % 100 END, i * 1000 + j, 't' || j FROM generate_series(1, 20) j;
		COMMIT;
	END LOOP;
END
$$;
CALL fill();
INSERT INTO many_h SELECT * FROM many_b;
SELECT count(*), sum(v::bigint) FROM many_h;
SELECT measured('SELECT count(*) FROM many_b a JOIN few_b b ON a.k = b.v', 'Max Runs per Bucket')::int >= 600 many;
SET work_mem = '64kB';
SELECT same('SELECT a.*, b.v AS w FROM many_b a JOIN few_b b ON a.k = b.k / 4000 JOIN big_b c ON c.k = a.k');
SELECT same('SELECT a.*, b.v AS w FROM many_b a LEFT JOIN big_b b USING (k)'), nodes('SELECT a.*, b.v AS w FROM many_b a LEFT JOIN big_b b USING (k)');
SELECT same('SELECT a.*, b.v AS w FROM many_b a JOIN big_b b USING (k) WHERE a.v % 50 = 1 AND b.v > 20');
SELECT same('SELECT k, count(*), max(t) FROM many_b GROUP BY k');
SELECT same('SELECT x, (SELECT count(*) FROM many_b a JOIN big_b b USING (k) WHERE a.v % 50 = x) FROM generate_series(1, 3) x');
RESET work_mem;
DROP PROCEDURE fill();
DROP FOREIGN TABLE many_b;
DROP TABLE many_h;
-- empty sides, missing buckets
CREATE FOREIGN TABLE none_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE none_h (k int, v int);
SELECT same('SELECT * FROM big_b JOIN none_b USING (k)');
INSERT INTO none_b VALUES (7, 7); INSERT INTO none_h VALUES (7, 7);
SELECT same('SELECT * FROM big_b JOIN none_b USING (k)');
SELECT same('SELECT * FROM none_b a JOIN none_b b USING (k)');
DROP FOREIGN TABLE big_b, few_b, none_b, hot_b;
DROP TABLE big_h, few_h, none_h, hot_h;
DROP FUNCTION class_join(text, text);
-- two small columns: their extremes, and NULL beside the largest value
CREATE TABLE pk_h AS SELECT a::int, b::smallint, d::date, row_number() OVER () AS n
FROM unnest(ARRAY[-2147483648, -1, 0, 1, 2147483647, NULL]) a, unnest(ARRAY[-32768, -1, 0, 32767, NULL]) b,
	unnest(ARRAY['-infinity', '2000-01-01', 'infinity', NULL]) d, generate_series(1, 2);
CREATE FOREIGN TABLE pk1_b (a int, b smallint, d date, n bigint) SERVER bucketfdw OPTIONS (bucket_by 'a, b', buckets '4', block_rows '64');
CREATE FOREIGN TABLE pk2_b (a int, b int, d date, n bigint) SERVER bucketfdw OPTIONS (bucket_by 'a, b', buckets '2', block_rows '64');
CREATE FOREIGN TABLE pk3_b (a bigint, b int, d date, n bigint) SERVER bucketfdw OPTIONS (bucket_by 'a, b', buckets '4', block_rows '64');
CREATE FOREIGN TABLE pk4_b (a int, b int, d date, n bigint) SERVER bucketfdw OPTIONS (bucket_by 'd, a', buckets '4', block_rows '64');
CREATE TABLE pk1_h AS SELECT * FROM pk_h;
CREATE TABLE pk2_h AS SELECT * FROM pk_h WHERE n % 3 > 0 UNION ALL SELECT 7, 2147483647, NULL, 0 UNION ALL SELECT 2147483647, 2147483647, 'infinity', -1;
CREATE TABLE pk3_h AS SELECT a::bigint, b::int, d, n FROM pk2_h;
CREATE TABLE pk4_h AS SELECT * FROM pk2_h;
INSERT INTO pk1_b SELECT * FROM pk1_h WHERE n % 2 = 0;
INSERT INTO pk1_b SELECT * FROM pk1_h WHERE n % 2 = 1;
INSERT INTO pk2_b SELECT * FROM pk2_h;
INSERT INTO pk3_b SELECT * FROM pk3_h;
INSERT INTO pk4_b SELECT * FROM pk4_h;
ANALYZE pk1_b, pk2_b, pk3_b, pk4_b;
SELECT j, t, (tried(format('SELECT l.n, r.n, l.a, r.b FROM %s_b l %s %s_b r ON l.a = r.a AND l.b = r.b', split_part(t, ' ', 1), j, split_part(t, ' ', 2)))).*
FROM unnest(ARRAY['JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN']) j, unnest(ARRAY['pk1 pk2', 'pk2 pk1', 'pk1 pk3', 'pk3 pk2', 'pk1 pk1']) t;
SELECT j, (tried(format('SELECT l.n, r.n, l.d FROM pk4_b l %s pk4_b r ON l.a = r.a AND l.d = r.d AND r.n %% 4 > 0', j))).*
FROM unnest(ARRAY['JOIN', 'LEFT JOIN', 'RIGHT JOIN']) j;
SELECT n, (tried(format('SELECT * FROM pk1_b l WHERE %s EXISTS (SELECT 1 FROM pk2_b r WHERE l.a = r.a AND l.b = r.b)', n))).* FROM unnest(ARRAY['', 'NOT']) n;
DROP FOREIGN TABLE pk1_b, pk2_b, pk3_b, pk4_b;
DROP TABLE pk_h, pk1_h, pk2_h, pk3_h, pk4_h;

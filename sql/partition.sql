-- Partitions that are bucketed tables: one bucketed input with more runs.
CREATE TABLE e_h (k int, day date, v int, t text);
INSERT INTO e_h SELECT CASE WHEN i % 30 = 0 THEN NULL ELSE i % 200 END, date '2024-01-01' + i % 90, i, 't' || i % 17 FROM generate_series(1, 3000) i;
CREATE TABLE e_b (k int, day date, v int, t text) PARTITION BY RANGE (day);
CREATE FOREIGN TABLE e1 PARTITION OF e_b FOR VALUES FROM ('2024-01-01') TO ('2024-01-20') SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '40');
CREATE FOREIGN TABLE e2 PARTITION OF e_b FOR VALUES FROM ('2024-01-20') TO ('2024-02-10') SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16', sort_by 'k, v desc');
-- other attribute numbers, through ATTACH
CREATE FOREIGN TABLE e3 (gone int, t text, v int, day date, k int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '12', block_rows '50');
ALTER FOREIGN TABLE e3 DROP COLUMN gone;
ALTER TABLE e_b ATTACH PARTITION e3 FOR VALUES FROM ('2024-02-10') TO ('2024-03-01');
-- the newest sibling's options
CREATE FOREIGN TABLE e4 PARTITION OF e_b FOR VALUES FROM ('2024-03-01') TO ('2024-05-01') SERVER bucketfdw;
INSERT INTO e_b SELECT * FROM e_h WHERE v % 2 = 0;
INSERT INTO e_b SELECT * FROM e_h WHERE v % 2 = 1;
CREATE TABLE u_h (k bigint, name text);
INSERT INTO u_h SELECT i, 'u' || i FROM generate_series(1, 250) i UNION ALL SELECT NULL, 'none' UNION ALL SELECT 7, 'again';
CREATE FOREIGN TABLE u_b (k bigint, name text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO u_b SELECT * FROM u_h;
ANALYZE e_b; ANALYZE e1; ANALYZE e2; ANALYZE e3; ANALYZE e4; ANALYZE u_b; ANALYZE e_h; ANALYZE u_h;
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT * FROM e_b JOIN u_b USING (k)',
	'SELECT name, day, v FROM u_b u JOIN e_b e ON e.k = u.k',
	'SELECT * FROM e_b LEFT JOIN u_b USING (k)',
	'SELECT * FROM u_b LEFT JOIN e_b USING (k)',
	'SELECT * FROM u_b FULL JOIN e_b USING (k)',
	'SELECT * FROM u_b WHERE NOT EXISTS (SELECT 1 FROM e_b WHERE e_b.k = u_b.k)',
	'SELECT * FROM e_b WHERE EXISTS (SELECT 1 FROM u_b WHERE e_b.k = u_b.k AND name > t)',
	'SELECT a.v, b.v AS w FROM e_b a JOIN e_b b USING (k) WHERE a.day = date ''2024-01-05'' AND b.day = date ''2024-03-10''',
	'SELECT * FROM e_b JOIN u_b USING (k) WHERE day < ''2024-01-10''',
	'SELECT * FROM e_b JOIN u_b USING (k) WHERE day BETWEEN ''2024-01-15'' AND ''2024-02-15'' AND v % 3 = 0',
	'SELECT * FROM e_b JOIN u_b USING (k) WHERE day > ''2030-01-01''',
	'SELECT * FROM e_b JOIN u_b ON e_b.k = u_b.k AND name <> t WHERE t LIKE ''t1%''',
	'SELECT count(*), sum(v), max(day) FROM e_b JOIN u_b USING (k)',
	'SELECT e.k, count(*), max(name) FROM e_b e JOIN u_b USING (k) GROUP BY e.k',
	'SELECT a.v, name, c.v AS w FROM e_b a JOIN u_b USING (k) JOIN e_b c USING (k) WHERE a.v < 60 AND c.v > 2900']) q;
SELECT q, same(q) FROM unnest(ARRAY['SELECT count(*), sum(v), max(day) FROM e_b', 'SELECT k, count(*) FROM e_b GROUP BY k',
	'SELECT e FROM e_b e JOIN u_b USING (k) WHERE v < 50',
	'SELECT e.tableoid IS NULL AS x, v FROM e_b e JOIN u_b USING (k) WHERE v < 50',
	'SELECT x, (SELECT count(*) FROM e_b JOIN u_b USING (k) WHERE v % 5 = x) FROM generate_series(0, 4) x',
	'SELECT x, (SELECT count(*) FROM e_b JOIN u_b USING (k) WHERE day = date ''2024-01-01'' + x) FROM generate_series(0, 80, 20) x']) q;
SET enable_partitionwise_join = on;
SELECT q, same(q) FROM unnest(ARRAY['SELECT * FROM e_b JOIN u_b USING (k)', 'SELECT a.v, b.v AS w FROM e_b a JOIN e_b b USING (k, day)']) q;
RESET enable_partitionwise_join;
-- run-time pruning: by parameters, in a generic plan
SET plan_cache_mode = force_generic_plan;
PREPARE d(date, date) AS SELECT count(*), sum(v) FROM e_b JOIN u_b USING (k) WHERE day >= $1 AND day < $2;
EXECUTE d('2024-01-01', '2024-06-01'); EXECUTE d('2024-01-05', '2024-01-06'); EXECUTE d('2030-01-01', '2031-01-01');
SELECT count(*), sum(v) FROM e_h JOIN u_h USING (k) WHERE day >= '2024-01-05' AND day < '2024-01-06';
INSERT INTO e_b VALUES (7, '2024-01-05', 100000, 'late'); INSERT INTO e_h VALUES (7, '2024-01-05', 100000, 'late');
EXECUTE d('2024-01-05', '2024-01-06');
DEALLOCATE d;
RESET plan_cache_mode;
EXPLAIN (COSTS OFF) SELECT name, v FROM e_b JOIN u_b USING (k) WHERE day < '2024-02-01';
EXPLAIN (COSTS OFF) SELECT name, v FROM e_b JOIN u_b USING (k) WHERE day < '2024-01-10';
-- DETACH, and a partition that is not bucketed, or by another column
ALTER TABLE e_b DETACH PARTITION e4;
DELETE FROM e_h WHERE day >= '2024-03-01';
SELECT (tried('SELECT * FROM e_b JOIN u_b USING (k)')).*;
CREATE TABLE e5 PARTITION OF e_b FOR VALUES FROM ('2024-06-01') TO ('2024-07-01');
INSERT INTO e_b SELECT i, '2024-06-05', i, 'heap' FROM generate_series(1, 40) i;
INSERT INTO e_h SELECT i, '2024-06-05', i, 'heap' FROM generate_series(1, 40) i;
SELECT (tried('SELECT * FROM e_b JOIN u_b USING (k)')).*;
SELECT (tried('SELECT * FROM e_b JOIN u_b USING (k) WHERE day < ''2024-02-20''')).*;
DROP TABLE e5;
CREATE FOREIGN TABLE e6 PARTITION OF e_b FOR VALUES FROM ('2024-06-01') TO ('2024-07-01') SERVER bucketfdw OPTIONS (bucket_by 'v');
DELETE FROM e_h WHERE day >= '2024-06-01';
INSERT INTO e_b SELECT i, '2024-06-05', i, 'other' FROM generate_series(1, 40) i;
INSERT INTO e_h SELECT i, '2024-06-05', i, 'other' FROM generate_series(1, 40) i;
SELECT (tried('SELECT * FROM e_b JOIN u_b USING (k)')).*;
-- partitions that have partitions, with columns in other places on each level
DROP TABLE e_b;
CREATE TABLE e_b (k int, day date, v int, t text) PARTITION BY RANGE (day);
CREATE TABLE e_jan (gone int, t text, k int, v int, day date) PARTITION BY LIST (t);
ALTER TABLE e_jan DROP COLUMN gone;
CREATE FOREIGN TABLE e_jan_1 (day date, gone int, v int, k int, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
ALTER FOREIGN TABLE e_jan_1 DROP COLUMN gone;
ALTER TABLE e_jan ATTACH PARTITION e_jan_1 FOR VALUES IN ('t1', 't2', 't3');
CREATE TABLE e_jan_2 PARTITION OF e_jan FOR VALUES IN ('t0', 't4', 't5', 't6', 't7', 't8', 't9', 't10', 't11', 't12', 't13', 't14', 't15', 't16', 'late')
	PARTITION BY RANGE (v);
CREATE FOREIGN TABLE e_jan_2a PARTITION OF e_jan_2 FOR VALUES FROM (0) TO (1000) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', sort_by 'k, day');
CREATE FOREIGN TABLE e_jan_2b PARTITION OF e_jan_2 FOR VALUES FROM (1000) TO (1000000) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '12');
ALTER TABLE e_b ATTACH PARTITION e_jan FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
CREATE FOREIGN TABLE e_feb PARTITION OF e_b FOR VALUES FROM ('2024-02-01') TO ('2024-03-01') SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
-- nothing in it, and nothing below it
CREATE TABLE e_mar PARTITION OF e_b FOR VALUES FROM ('2024-03-01') TO ('2024-04-01') PARTITION BY LIST (t);
DELETE FROM e_h WHERE day >= '2024-03-01';
INSERT INTO e_b SELECT * FROM e_h;
ANALYZE e_b; ANALYZE e_h;
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT * FROM e_b JOIN u_b USING (k)',
	'SELECT e.t, u.name, e.day FROM u_b u LEFT JOIN e_b e ON e.k = u.k AND e.t <> ''t5''',
	'SELECT * FROM u_b FULL JOIN e_b USING (k)',
	'SELECT * FROM u_b WHERE NOT EXISTS (SELECT FROM e_b WHERE e_b.k = u_b.k)',
	'SELECT * FROM e_jan JOIN u_b USING (k)',
	'SELECT * FROM e_b JOIN u_b USING (k) WHERE day < ''2024-01-20'' AND t = ''t2''',
	'SELECT * FROM e_b JOIN u_b USING (k) WHERE v < 1000 AND t IN (''t7'', ''t3'')',
	'SELECT * FROM e_b JOIN u_b USING (k) WHERE day > ''2024-03-10''',
	'SELECT a.v, b.v AS w, name FROM e_b a JOIN u_b USING (k) JOIN e_b b USING (k) WHERE a.v < 300 AND b.t = ''t9''',
	'SELECT e.k, count(*), max(name) FROM e_b e JOIN u_b USING (k) GROUP BY e.k']) q;
SELECT q, same(q) FROM unnest(ARRAY['SELECT count(*), sum(v), max(day) FROM e_b', 'SELECT k, count(*) FROM e_b GROUP BY k',
	'SELECT e FROM e_b e JOIN u_b USING (k) WHERE v < 50',
	'SELECT x, (SELECT count(*) FROM e_b JOIN u_b USING (k) WHERE day = date ''2024-01-01'' + x AND t = ''t'' || x) FROM generate_series(0, 50, 5) x']) q;
SET bucketfdw.enable_routing = off;	-- what is said of partitions, before sorting is tried
SELECT reason, detail FROM bucketfdw.why_not('SELECT e FROM e_b e JOIN u_b USING (k)');
SELECT reason, detail FROM bucketfdw.why_not('SELECT * FROM e_b JOIN u_h USING (k) WHERE day < ''2024-02-01''');
RESET bucketfdw.enable_routing;
-- the best order of joins is looked for by GEQO, which forgets what it tried
SET geqo_threshold = 2;
SELECT (tried('SELECT a.v, b.v AS w, c.name FROM e_b a JOIN u_b USING (k) JOIN e_b b USING (k) JOIN u_b c USING (k) WHERE a.v < 300 AND b.v < 900')).*;
RESET geqo_threshold;
-- pruning on both levels when the statement starts
SET plan_cache_mode = force_generic_plan;
PREPARE d(date, text) AS SELECT count(*), sum(v) FROM e_b JOIN u_b USING (k) WHERE day >= $1 AND t = $2;
EXECUTE d('2024-01-01', 't2'); EXECUTE d('2024-02-01', 't2'); EXECUTE d('2024-03-01', 't2');
SELECT count(*), sum(v) FROM e_h JOIN u_h USING (k) WHERE day >= '2024-01-01' AND t = 't2';
SELECT count(*), sum(v) FROM e_h JOIN u_h USING (k) WHERE day >= '2024-02-01' AND t = 't2';
DEALLOCATE d;
RESET plan_cache_mode;
EXPLAIN (COSTS OFF) SELECT name, v FROM e_b JOIN u_b USING (k) WHERE t IN ('t1', 't4');
-- a leaf of the second level that is bucketed by another column
CREATE FOREIGN TABLE e_mar_1 PARTITION OF e_mar FOR VALUES IN ('t1') SERVER bucketfdw OPTIONS (bucket_by 'v', buckets '4');
SELECT (tried('SELECT * FROM e_b JOIN u_b USING (k)')).*;
SET bucketfdw.enable_routing = off;
SELECT reason, detail FROM bucketfdw.why_not('SELECT * FROM e_b JOIN u_b USING (k)');
DROP FOREIGN TABLE e_mar_1;
-- or not bucketed at all
CREATE TABLE e_mar_1 PARTITION OF e_mar FOR VALUES IN ('t1');
SELECT reason, detail FROM bucketfdw.why_not('SELECT * FROM e_b JOIN u_b USING (k)');
SELECT reason, detail FROM bucketfdw.why_not('SELECT * FROM e_mar JOIN u_b USING (k)');
RESET bucketfdw.enable_routing;
-- many partitions: all of them are one side
DROP TABLE e_b;
CREATE TABLE e_b (k int, day date, v int, t text) PARTITION BY RANGE (day);
SELECT format('CREATE FOREIGN TABLE p%s PARTITION OF e_b FOR VALUES FROM (%L) TO (%L) SERVER bucketfdw OPTIONS (bucket_by ''k'', buckets ''32'')', i, date '2024-01-01' + i, date '2024-01-02' + i)
FROM generate_series(0, 89) i
\set ECHO none
\gexec
\set ECHO all
INSERT INTO e_h SELECT i % 300, date '2024-03-01' + i % 30, 5000 + i, 'mar' FROM generate_series(1, 900) i;
INSERT INTO e_b SELECT * FROM e_h;
ANALYZE e_b; ANALYZE e_h;
SELECT q, (tried(q)).* FROM unnest(ARRAY['SELECT * FROM e_b JOIN u_b USING (k)', 'SELECT name, day FROM u_b LEFT JOIN e_b USING (k)',
	'SELECT * FROM e_b JOIN u_b USING (k) WHERE day BETWEEN ''2024-01-15'' AND ''2024-03-15''']) q;
SELECT regexp_replace(nodes('SELECT * FROM e_b JOIN u_b USING (k)'), '(, Foreign Scan){91}$', ', 91 scans');
-- locking the parent asks partitions for a ctid they do not have
SELECT count(*) FROM (SELECT k FROM e_b WHERE day < '2024-01-05' FOR SHARE) s;
UPDATE u_h SET k = u_h.k FROM e_b WHERE e_b.k = u_h.k AND day < '2024-01-02' AND false;
UPDATE u_h SET k = u_h.k FROM e_b WHERE e_b.k = u_h.k AND day < '2024-01-02';
SELECT ctid FROM e_b WHERE day < '2024-01-02';
DROP TABLE e_b;
DROP FOREIGN TABLE u_b, e4;
DROP TABLE e_h, u_h;
-- core leaves out an Append with one child: the scan in its place takes its own time, and counts its rows once
CREATE TABLE one_b (k int, v int) PARTITION BY RANGE (v);
CREATE FOREIGN TABLE one_b1 PARTITION OF one_b FOR VALUES FROM (0) TO (10000) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE two_b (k int, w int) PARTITION BY RANGE (w);
CREATE FOREIGN TABLE two_b1 PARTITION OF two_b FOR VALUES FROM (0) TO (10000) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO one_b SELECT i % 500, i FROM generate_series(1, 2000) i;
INSERT INTO two_b SELECT i, i FROM generate_series(1, 400) i;
ANALYZE one_b; ANALYZE two_b;
CREATE FUNCTION timed(query text) RETURNS SETOF text
LANGUAGE plpgsql SET bucketfdw.enable_routing = off AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Foreign Scan|Bucket(Join|Agg)|Result' THEN
			RETURN NEXT regexp_replace(regexp_replace(ltrim(line, ' ->'), 'time=\S+ ', 'time=N '), 'rows=(\d+)\.00', 'rows=\1');
		END IF;
	END LOOP;
END
$$;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off; SET enable_hashagg = off;
SET plan_cache_mode = force_generic_plan;
SELECT q, line FROM unnest(ARRAY['SELECT count(*) FROM one_b JOIN two_b USING (k)', 'SELECT * FROM one_b LEFT JOIN two_b USING (k)',
	'SELECT * FROM one_b JOIN two_b USING (k) JOIN one_b c USING (k)', 'SELECT k, count(*) FROM one_b GROUP BY k',
	'SELECT DISTINCT ON (k) * FROM one_b ORDER BY k, v', 'SELECT k, row_number() OVER (PARTITION BY k ORDER BY v) FROM one_b']) q, timed(q) line;
PREPARE gated(int) AS SELECT k, count(*) FROM one_b WHERE $1 = 1 GROUP BY k;
SELECT timed('EXECUTE gated(1)');
SELECT timed('EXECUTE gated(2)');
DEALLOCATE gated;
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop; RESET enable_hashagg; RESET plan_cache_mode;
DROP FUNCTION timed;
DROP TABLE one_b, two_b;

-- Texts under collations that do not order by bytes: minimum and maximum, and what wants equality only, stay in batches.
SET bucketfdw.inline_limit = 0;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
CREATE COLLATION co_any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE co_h (k int, g text COLLATE "en-x-icu", t text COLLATE "en-x-icu", s varchar(40) COLLATE "sv-x-icu", c char(9) COLLATE "en-x-icu", b text COLLATE "C", u text COLLATE co_any_case, v int);
-- few values in g and t, many in s; capitals, accents, blanks, punctuation, prefixes, empty texts, NULLs
INSERT INTO co_h
SELECT i * 7 % 701, (ARRAY['apple', 'Apple', 'äpple', 'banana', 'a-pple', 'Zebra', 'zebra', 'öl', ''])[1 + i % 9],
	CASE WHEN i % 31 <> 0 THEN (ARRAY['x', 'X', 'x-', 'y y', 'yy', 'Y', E'\u00e9', 'e', 'E', 'z', E'\u00c5', 'a'])[1 + i % 12] END,
	CASE WHEN i % 29 <> 0 THEN chr(65 + i % 26) || chr(97 + i * 7 % 26) || CASE i % 5 WHEN 0 THEN E'\u00f6' WHEN 1 THEN '-' ELSE '' END || i % 3000 END,
	CASE WHEN i % 23 <> 0 THEN (ARRAY['a', 'a ', 'B', 'b', 'A', 'é '])[1 + i % 6] END, 'b' || i % 77, (ARRAY['a', 'A', 'b'])[1 + i % 3], i
FROM generate_series(1, 30000) i;
CREATE FOREIGN TABLE co_b (k int, g text COLLATE "en-x-icu", t text COLLATE "en-x-icu", s varchar(40) COLLATE "sv-x-icu", c char(9) COLLATE "en-x-icu", b text COLLATE "C", u text COLLATE co_any_case, v int)
	SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '3000');
INSERT INTO co_b SELECT * FROM co_h WHERE v % 2 = 0;
INSERT INTO co_b SELECT * FROM co_h WHERE v % 2 <> 0;
CREATE TABLE co_w_h (t text COLLATE "en-x-icu", w int);
INSERT INTO co_w_h SELECT t, count(*) FROM co_h GROUP BY t;
CREATE FOREIGN TABLE co_w_b (t text COLLATE "en-x-icu", w int) SERVER bucketfdw OPTIONS (bucket_by 't', buckets '4');
INSERT INTO co_w_b TABLE co_w_h;
CREATE TABLE co_t_h AS TABLE co_h;
CREATE FOREIGN TABLE co_t_b (k int, g text COLLATE "en-x-icu", t text COLLATE "en-x-icu", s varchar(40) COLLATE "sv-x-icu", c char(9) COLLATE "en-x-icu", b text COLLATE "C", u text COLLATE co_any_case, v int)
	SERVER bucketfdw OPTIONS (bucket_by 't', buckets '4', block_rows '3000');
INSERT INTO co_t_b TABLE co_t_h;
ANALYZE co_h, co_b, co_w_h, co_w_b, co_t_h, co_t_b;
SELECT nodes(q, false) !~ 'Hash|Sort|Group|^Aggregate' AS batches, same(q), q
FROM unnest(ARRAY[
	'SELECT min(t), max(t), min(g), max(g) FROM co_b', 'SELECT min(s), max(s) FROM co_b', 'SELECT min(c), max(c) FROM co_b', 'SELECT min(b COLLATE "en-x-icu"), max(b) FROM co_b',
	'SELECT max(t COLLATE "sv-x-icu"), min(t COLLATE "C"), max(s COLLATE "en-x-icu") FROM co_b', 'SELECT max(t) FILTER (WHERE v % 3 = 0), min(s) FILTER (WHERE v > 29990) FROM co_b',
	'SELECT max(t), min(s) FROM co_b WHERE v < 0', 'SELECT max(t || g), min(upper(t)) FROM co_b',
	'SELECT k, min(t), max(s), max(c) FROM co_b GROUP BY k', 'SELECT g, min(t), max(t), min(s), max(s), count(*) FROM co_b GROUP BY g', 'SELECT t, max(g), min(s) FROM co_t_b GROUP BY t',
	'SELECT v % 7 AS m, count(*) FROM (SELECT v, max(s) FROM co_b GROUP BY v) x GROUP BY m', 'SELECT s, count(*) FROM co_b GROUP BY s', 'SELECT DISTINCT t FROM co_t_b',
	'SELECT max(a.t), min(b.s) FROM co_b a JOIN co_b b USING (k) WHERE a.v < 3000 AND b.v < 3000', 'SELECT max(g), sum(w) FROM co_t_b JOIN co_w_b USING (t)',
	'SELECT t, max(g) FROM co_t_b LEFT JOIN co_w_b USING (t) GROUP BY t', 'SELECT count(*) FROM co_t_b WHERE t IN (''X'', ''e'')', 'SELECT max(s) FROM co_b WHERE g <> ''apple'' AND t LIKE ''y%''',
	-- which of equal values it is depends on their order
	'SELECT max(u), min(u) FROM (SELECT u FROM co_b ORDER BY v LIMIT 500) x']) q;
EXPLAIN (COSTS OFF) SELECT max(t), min(s) FROM co_b;
EXPLAIN (COSTS OFF) SELECT max(u) FROM co_b;
EXPLAIN (COSTS OFF) SELECT max(t COLLATE co_any_case) FROM co_b;
-- several processes
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET parallel_leader_participation = off;
SELECT nodes('SELECT max(t), min(s), max(c) FROM co_b', false);
SELECT same('SELECT max(t), min(s), max(c) FROM co_b'), same('SELECT g, max(t), min(s) FROM co_b GROUP BY g'), same('SELECT k, max(t), min(s) FROM co_b GROUP BY k');
DROP FOREIGN TABLE co_b, co_w_b, co_t_b;
DROP TABLE co_h, co_w_h, co_t_h;
DROP COLLATION co_any_case;

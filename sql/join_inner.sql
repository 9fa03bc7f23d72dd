-- Inner joins of two bucketed tables.
CREATE TABLE a_h (k int, v bigint, t text);
CREATE TABLE b_h (k bigint, w int, u numeric);
INSERT INTO a_h SELECT CASE WHEN i % 40 = 0 THEN NULL ELSE i % 900 END, i, 'a' || i FROM generate_series(1, 4000) i;
INSERT INTO b_h SELECT CASE WHEN i % 60 = 0 THEN NULL ELSE i % 1300 - 200 END, i, i / 4.0 FROM generate_series(1, 3000) i;
-- values at the edges of the types, and keys beyond int4
INSERT INTO a_h VALUES (0, -1, 'zero'), (-1, -2, 'minus'), (2147483647, -3, 'max'), (-2147483648, -4, 'min');
INSERT INTO b_h VALUES (0, -1, 0), (-1, -2, 0), (2147483647, -3, 0), (-2147483648, -4, 0),
	(9223372036854775807, -5, 0), (-9223372036854775808, -6, 0), (4294967296, -7, 0);
CREATE FOREIGN TABLE a_b (k int, v bigint, t text) SERVER bucketfdw
	OPTIONS (bucket_by 'k', buckets '16', block_rows '128');
CREATE FOREIGN TABLE b_b (k bigint, w int, u numeric) SERVER bucketfdw
	OPTIONS (bucket_by 'k', buckets '24', sort_by 'k, w desc', block_rows '100');
INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 = 0;
INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 <> 0 AND v < 2000;
INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 <> 0 AND v >= 2000;
INSERT INTO b_b SELECT * FROM b_h;
ANALYZE a_b; ANALYZE b_b; ANALYZE a_h; ANALYZE b_h;

-- 16 and 24 buckets, int and bigint, three appends
EXPLAIN (COSTS OFF) SELECT count(*) FROM a_b JOIN b_b USING (k);
SELECT nodes('SELECT count(*) FROM a_b JOIN b_b USING (k)');
SELECT same('SELECT count(*) FROM a_b JOIN b_b USING (k)');
SELECT same('SELECT * FROM a_b JOIN b_b USING (k)');
SELECT same('SELECT a.t, b.u FROM b_b b JOIN a_b a ON a.k = b.k');
SELECT same('SELECT a.t, b.u FROM b_b b JOIN a_b a ON b.k = a.k::bigint'),
	nodes('SELECT a.t, b.u FROM b_b b JOIN a_b a ON b.k = a.k::bigint');
-- conditions beside the key
SELECT same('SELECT * FROM a_b a JOIN b_b b ON a.k = b.k AND a.v < b.w'),
	nodes('SELECT * FROM a_b a JOIN b_b b ON a.k = b.k AND a.v < b.w');
SELECT same('SELECT * FROM a_b a JOIN b_b b ON a.k = b.k AND a.v <> b.w AND a.v + b.w > 100 WHERE a.t LIKE ''a1%''');
SELECT same('SELECT * FROM a_b a, b_b b WHERE a.k = b.k AND a.k > 100 AND b.w BETWEEN 500 AND 900');
SELECT same('SELECT * FROM a_b a, b_b b WHERE a.k = b.k AND a.k IN (1, 5, 77, 1000)');
SELECT same('SELECT * FROM a_b a, b_b b WHERE a.k = b.k AND a.k = 7');
SELECT same('SELECT * FROM a_b a, b_b b WHERE a.k = b.k AND a.k IS NULL');
SELECT same('SELECT * FROM a_b a, b_b b WHERE a.k = b.k AND a.v < 0');
SELECT same('SELECT * FROM a_b a, b_b b WHERE a.k = b.k AND false');
SELECT same('SELECT a.k FROM a_b a, b_b b WHERE a.k = b.k AND a.v = b.k');
SELECT same('SELECT a.k FROM a_b a, b_b b WHERE a.k = b.k AND a.v = a.k');
SELECT same('SELECT a.k FROM a_b a, b_b b WHERE a.v = b.k AND a.v = a.k'),
	nodes('SELECT a.k FROM a_b a, b_b b WHERE a.v = b.k AND a.v = a.k');
-- self-joins, aliases, views, subqueries, CTEs, unions
SELECT same('SELECT x.v, y.v FROM a_b x JOIN a_b y USING (k)'), nodes('SELECT x.v, y.v FROM a_b x JOIN a_b y USING (k)');
CREATE VIEW av_b AS SELECT k AS key, v, t FROM a_b WHERE v > 10;
CREATE VIEW av_h AS SELECT k AS key, v, t FROM a_h WHERE v > 10;
SELECT same('SELECT * FROM av_b JOIN b_b ON key = k'), nodes('SELECT * FROM av_b JOIN b_b ON key = k');
SELECT same('WITH x AS MATERIALIZED (SELECT a.k, v, w FROM a_b a JOIN b_b b USING (k)) SELECT * FROM x WHERE v < 500');
SELECT same('SELECT k, v FROM a_b JOIN b_b USING (k) UNION ALL SELECT k, w FROM b_b');
SELECT same('SELECT * FROM (SELECT k, count(*) c FROM a_b JOIN b_b USING (k) GROUP BY k) s WHERE c > 5');
SELECT same('SELECT a.k, sum(w), max(t) FROM a_b a JOIN b_b USING (k) GROUP BY a.k HAVING count(*) > 2');
-- more tables, other join types around
SELECT same('SELECT count(*) FROM a_b JOIN b_b USING (k) JOIN a_b c USING (k)');
SELECT same('SELECT * FROM a_b LEFT JOIN b_b USING (k)');
SELECT same('SELECT * FROM a_b FULL JOIN b_b USING (k)');
SELECT same('SELECT * FROM a_b WHERE EXISTS (SELECT 1 FROM b_b WHERE b_b.k = a_b.k)');
SELECT same('SELECT * FROM a_b WHERE k NOT IN (SELECT k FROM b_b WHERE k IS NOT NULL)');
SELECT same('SELECT * FROM a_b WHERE k IN (SELECT k FROM b_b)');
SELECT same('SELECT x.v, y.w FROM a_b x JOIN b_b y USING (k) LEFT JOIN (SELECT k, coalesce(v, 0) z FROM a_b) q ON q.k = x.k');
SELECT same('SELECT * FROM b_b x LEFT JOIN (SELECT a.k, coalesce(a.v, 0) z, b.w FROM a_b a JOIN b_b b USING (k)) s ON s.k = x.w');
-- whole rows and tableoid
SELECT same('SELECT a.t, b FROM a_b a JOIN b_b b USING (k) WHERE a.v < 100');
SELECT same('SELECT a, b.w FROM a_b a JOIN b_b b USING (k) WHERE a IS NOT NULL AND a.v < 100');
SELECT a.tableoid::regclass, b.tableoid::regclass, count(*) FROM a_b a JOIN b_b b USING (k) GROUP BY 1, 2;
-- LIMIT, ORDER BY, rescans
SELECT count(*) FROM (SELECT * FROM a_b JOIN b_b USING (k) LIMIT 7) s;
SELECT same('SELECT a.v, b.w FROM a_b a JOIN b_b b USING (k) ORDER BY 1, 2 LIMIT 20');
SELECT same('SELECT x, (SELECT count(*) FROM a_b a JOIN b_b b USING (k) WHERE a.v % 10 = x AND a.k > x) FROM generate_series(1, 8) x');
SELECT same('SELECT x, (SELECT count(*) FROM a_b a JOIN b_b b USING (k) WHERE a.k = x) FROM generate_series(1, 8) x');
SELECT same('SELECT x, s.c FROM generate_series(1, 4) x, LATERAL (SELECT count(*) c FROM a_b a JOIN b_b b ON a.k = b.k AND a.v > b.w + x) s');

-- one-time filters: parameters and settings
PREPARE gate(bool) AS SELECT count(*) FROM a_b JOIN b_b USING (k) WHERE $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE gate(true); EXECUTE gate(false); EXECUTE gate(NULL);
RESET plan_cache_mode;
SELECT same('SELECT count(*) FROM a_b JOIN b_b USING (k) WHERE current_setting(''work_mem'') = ''no such''');
PREPARE j(int) AS SELECT count(*) FROM a_b JOIN b_b USING (k) WHERE v > $1;
EXECUTE j(1); EXECUTE j(1); EXECUTE j(1); EXECUTE j(1); EXECUTE j(1); EXECUTE j(1); EXECUTE j(3900);
INSERT INTO a_b VALUES (7, 5000, 'late');
EXECUTE j(3900);
INSERT INTO a_h VALUES (7, 5000, 'late');
DEALLOCATE ALL;

-- row marks and data-modifying statements take stock plans
SELECT nodes('SELECT * FROM a_b JOIN b_b USING (k) FOR UPDATE') LIKE '%BucketJoin%' marked;
CREATE TABLE target (k int, n int);
INSERT INTO target SELECT DISTINCT k, 0 FROM a_h WHERE k IS NOT NULL;
SELECT nodes('UPDATE target SET n = n + 1 FROM a_b, b_b WHERE a_b.k = b_b.k AND target.k = a_b.k') LIKE '%BucketJoin%' updating;
UPDATE target SET n = n + 1 FROM a_b, b_b WHERE a_b.k = b_b.k AND target.k = a_b.k;
SELECT sum(n) = (SELECT count(DISTINCT k) FROM a_h JOIN b_h USING (k)) FROM target;
UPDATE target SET n = s.c FROM (SELECT k, count(*) c FROM a_b JOIN b_b USING (k) GROUP BY k) s WHERE s.k = target.k;
SELECT sum(n) = (SELECT count(*) FROM a_h JOIN b_h USING (k)) FROM target;

-- not a bucket join, unless by sorting: other key classes, other columns, volatile conditions
SET bucketfdw.enable_routing = off;
SELECT nodes('SELECT * FROM a_b JOIN b_b ON a_b.v = b_b.k', false) LIKE '%BucketJoin%' wrong_column,
	nodes('SELECT * FROM a_b JOIN b_b ON a_b.k = b_b.u', false) LIKE '%BucketJoin%' other_numeric_column,
	nodes('SELECT * FROM a_b JOIN b_b ON a_b.k + 1 = b_b.k', false) LIKE '%BucketJoin%' expression,
	nodes('SELECT * FROM a_b JOIN b_b ON a_b.k = b_b.k AND a_b.v > b_b.w * random()', false) LIKE '%BucketJoin%' is_volatile,
	nodes('SELECT * FROM a_b JOIN b_b ON a_b.k < b_b.k', false) LIKE '%BucketJoin%' inequality;
RESET bucketfdw.enable_routing;
SET bucketfdw.enable_bucketjoin = off;
SELECT nodes('SELECT * FROM a_b JOIN b_b USING (k)', false) LIKE '%BucketJoin%' disabled;
RESET bucketfdw.enable_bucketjoin;
SET bucketfdw.enable = off;
SELECT nodes('SELECT * FROM a_b JOIN b_b USING (k)', false) LIKE '%BucketJoin%' disabled;
RESET bucketfdw.enable;

-- GEQO, JIT, security barrier
SET geqo_threshold = 2;
SELECT same('SELECT count(*) FROM a_b JOIN b_b USING (k) JOIN a_b c USING (k) JOIN b_b d USING (k)');
RESET geqo_threshold;
CREATE VIEW secret_b WITH (security_barrier) AS SELECT * FROM a_b WHERE v > 100;
CREATE VIEW secret_h WITH (security_barrier) AS SELECT * FROM a_h WHERE v > 100;
SELECT same('SELECT * FROM secret_b JOIN b_b USING (k) WHERE t > ''a2''');

EXPLAIN (COSTS OFF, VERBOSE) SELECT a.t, b.w FROM a_b a JOIN b_b b ON a.k = b.k AND a.v < b.w WHERE b.u > 5;
SELECT measured('SELECT count(*) FROM a_b JOIN b_b USING (k)', 'Max Runs per Bucket') runs,
	measured('SELECT count(*) FROM a_b JOIN b_b USING (k)', 'Units') units,
	measured('SELECT count(*) FROM a_b JOIN b_b USING (k)', 'Buckets') buckets;
SELECT json_typeof(measured('SELECT count(*) FROM a_b JOIN b_b USING (k)', 'Rows Compared')::json);
DROP VIEW av_b, av_h, secret_b, secret_h;
DROP FOREIGN TABLE a_b, b_b;
DROP TABLE a_h, b_h, target;

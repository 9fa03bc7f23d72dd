-- Outer, semi and anti joins, and chains of joins on one key.
CREATE TABLE a_h (k int, v int, t text);
CREATE TABLE b_h (k bigint, w int, u numeric);
CREATE TABLE c_h (k smallint, x int, y date);
INSERT INTO a_h SELECT CASE WHEN i % 20 = 0 THEN NULL ELSE i % 300 END, i, 'a' || i FROM generate_series(1, 1000) i;
INSERT INTO b_h SELECT CASE WHEN i % 30 = 0 THEN NULL ELSE i % 450 - 100 END, i, i / 4.0 FROM generate_series(1, 900) i;
INSERT INTO c_h SELECT CASE WHEN i % 25 = 0 THEN NULL ELSE i * 3 % 500 END, i, date '2024-01-01' + i FROM generate_series(1, 600) i;
-- one key with many rows everywhere, so that groups cross blocks and batches
INSERT INTO a_h SELECT 7, 2000 + i, 'hot' FROM generate_series(1, 150) i;
INSERT INTO b_h SELECT 7, 2000 + i, i FROM generate_series(1, 120) i;
INSERT INTO c_h SELECT 7, 2000 + i, NULL FROM generate_series(1, 3) i;
CREATE FOREIGN TABLE a_b (k int, v int, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '40');
CREATE FOREIGN TABLE b_b (k bigint, w int, u numeric) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '12', sort_by 'k, w desc', block_rows '30');
CREATE FOREIGN TABLE c_b (k smallint, x int, y date) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16', block_rows '50');
INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 = 0; INSERT INTO a_b SELECT * FROM a_h WHERE v % 3 <> 0;
INSERT INTO b_b SELECT * FROM b_h;
INSERT INTO c_b SELECT * FROM c_h WHERE x < 300; INSERT INTO c_b SELECT * FROM c_h WHERE x >= 300;
ANALYZE a_b; ANALYZE b_b; ANALYZE c_b; ANALYZE a_h; ANALYZE b_h; ANALYZE c_h;


SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT * FROM a_b LEFT JOIN b_b USING (k)',
	'SELECT * FROM b_b LEFT JOIN a_b USING (k)',
	'SELECT * FROM a_b RIGHT JOIN b_b USING (k)',
	'SELECT * FROM a_b FULL JOIN b_b USING (k)',
	'SELECT a.v, b.w FROM a_b a FULL JOIN b_b b ON a.k = b.k',
	'SELECT * FROM a_b WHERE EXISTS (SELECT 1 FROM b_b WHERE b_b.k = a_b.k)',
	'SELECT * FROM a_b WHERE NOT EXISTS (SELECT 1 FROM b_b WHERE b_b.k = a_b.k)',
	'SELECT * FROM a_b WHERE k IN (SELECT k FROM b_b)',
	'SELECT count(*) FROM a_b LEFT JOIN b_b USING (k)']) q;
-- conditions in ON take part in the match, conditions in WHERE do not
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT * FROM a_b a LEFT JOIN b_b b ON a.k = b.k AND a.v < b.w',
	'SELECT * FROM a_b a LEFT JOIN b_b b ON a.k = b.k AND b.w > 500',
	'SELECT * FROM a_b a LEFT JOIN b_b b ON a.k = b.k AND a.v > 500',
	'SELECT * FROM a_b a LEFT JOIN b_b b ON a.k = b.k WHERE b.w IS NULL',
	'SELECT * FROM a_b a LEFT JOIN b_b b ON a.k = b.k WHERE b.w IS NULL OR b.w > 800',
	'SELECT * FROM a_b a LEFT JOIN b_b b ON a.k = b.k WHERE coalesce(b.w, 5) < a.v',
	'SELECT * FROM a_b a LEFT JOIN b_b b ON a.k = b.k AND a.v <> b.w WHERE b.k IS NULL',
	'SELECT * FROM a_b a FULL JOIN b_b b ON a.k = b.k AND a.v < b.w',
	'SELECT * FROM a_b a FULL JOIN b_b b ON a.k = b.k WHERE a.v IS NULL OR b.w IS NULL',
	'SELECT * FROM a_b a FULL JOIN b_b b ON a.k = b.k WHERE (a.v, a.t) IS DISTINCT FROM (b.w, b.u::text)',
	'SELECT * FROM a_b a WHERE EXISTS (SELECT 1 FROM b_b b WHERE b.k = a.k AND b.w > a.v)',
	'SELECT * FROM a_b a WHERE NOT EXISTS (SELECT 1 FROM b_b b WHERE b.k = a.k AND b.w > a.v)',
	'SELECT * FROM a_b a WHERE NOT EXISTS (SELECT 1 FROM b_b b WHERE b.k = a.k AND b.w > 500) AND a.v % 2 = 0',
	'SELECT * FROM a_b a WHERE k NOT IN (SELECT k FROM b_b WHERE k IS NOT NULL)',
	'SELECT * FROM a_b a WHERE k NOT IN (SELECT k FROM b_b)',
	'SELECT * FROM (SELECT * FROM a_b WHERE v < 100) a LEFT JOIN (SELECT * FROM b_b WHERE w > 850) b USING (k)',
	'SELECT * FROM (SELECT * FROM a_b WHERE v < 0) a FULL JOIN b_b USING (k)',
	'SELECT * FROM a_b LEFT JOIN (SELECT * FROM b_b WHERE w < 0) b USING (k)',
	'SELECT * FROM a_b LEFT JOIN (SELECT k, coalesce(w, 0) z FROM b_b) b USING (k)']) q;
-- chains stay bucketed, in any order and through views and subqueries
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT count(*), sum(v), sum(w), sum(x) FROM a_b JOIN b_b USING (k) JOIN c_b USING (k)',
	'SELECT a.t, b.u, c.y FROM a_b a JOIN b_b b ON a.k = b.k JOIN c_b c ON c.k = b.k WHERE a.v < 100',
	'SELECT a.t, b.u, c.y FROM a_b a JOIN b_b b ON a.k = b.k JOIN c_b c ON c.k = a.k AND c.x > b.w WHERE a.v > 900',
	'SELECT count(*), sum(v), sum(w), sum(x) FROM a_b LEFT JOIN b_b USING (k) LEFT JOIN c_b USING (k)',
	'SELECT a.v, b.w, c.x FROM a_b a LEFT JOIN b_b b ON a.k = b.k LEFT JOIN c_b c ON b.k = c.k WHERE a.v < 300',
	'SELECT a.v, s.w, s.x FROM a_b a LEFT JOIN (SELECT b.k, b.w, c.x FROM b_b b JOIN c_b c USING (k)) s USING (k) WHERE a.v < 400',
	'SELECT count(*), sum(v), sum(w) FROM a_b JOIN b_b USING (k) WHERE EXISTS (SELECT 1 FROM c_b WHERE c_b.k = a_b.k)',
	'SELECT a.v FROM a_b a WHERE EXISTS (SELECT 1 FROM b_b b WHERE b.k = a.k) AND NOT EXISTS (SELECT 1 FROM c_b c WHERE c.k = a.k)',
	'SELECT count(*) FROM a_b a JOIN b_b b ON a.k = b.k JOIN c_b c ON c.k = b.k JOIN a_b d ON d.k = c.k WHERE a.v < 20',
	'SELECT k, v, w, x FROM a_b FULL JOIN b_b USING (k) FULL JOIN c_b USING (k)',
	'SELECT count(a.v), count(b.w), count(c.x) FROM a_b a LEFT JOIN b_b b ON a.k = b.k AND b.w > 300 JOIN c_b c ON c.k = a.k',
	'SELECT a.t, b FROM a_b a JOIN b_b b USING (k) JOIN c_b c USING (k) WHERE a.v < 30']) q;
-- by a column that a full join below may have set to NULL: sorted into buckets on 15, refused from 16 on
SELECT same('SELECT a.k, a.v, b.w, c.x FROM a_b a FULL JOIN b_b b USING (k) LEFT JOIN c_b c ON c.k = a.k');
SET join_collapse_limit = 1;
EXPLAIN (COSTS OFF) SELECT count(*) FROM a_b a JOIN b_b b ON a.k = b.k JOIN c_b c ON c.k = b.k;
RESET join_collapse_limit;
EXPLAIN (COSTS OFF) SELECT a.v FROM a_b a LEFT JOIN b_b b ON a.k = b.k AND a.v < b.w WHERE b.w IS NULL OR b.w > 5;
-- the key of a nullable side is not the key of the result
SET join_collapse_limit = 1;
SELECT nodes('SELECT a.v, b.w, c.x FROM a_b a FULL JOIN b_b b ON a.k = b.k LEFT JOIN c_b c ON b.k = c.k', false) ~ 'BucketJoin.*BucketJoin' wrong;
RESET join_collapse_limit;
-- other join orders
SET join_collapse_limit = 1;
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT count(*), sum(v), sum(w), sum(x) FROM c_b JOIN (a_b JOIN b_b USING (k)) USING (k)',
	'SELECT count(*), sum(v), sum(w), sum(x) FROM (c_b JOIN a_b USING (k)) LEFT JOIN b_b USING (k)']) q;
RESET join_collapse_limit;
SET geqo_threshold = 2;
SELECT same('SELECT count(*), sum(w), sum(x) FROM a_b JOIN b_b USING (k) JOIN c_b USING (k) LEFT JOIN a_b d USING (k)');
RESET geqo_threshold;
-- rescans and parameters in chains
SELECT same('SELECT x, (SELECT count(*) FROM a_b a JOIN b_b b USING (k) LEFT JOIN c_b c ON c.k = a.k AND c.x > x.x * 50 WHERE a.v % 7 = x.x) FROM generate_series(1, 6) x(x)');
SELECT same('SELECT x, (SELECT count(*) FROM a_b a FULL JOIN b_b b USING (k) WHERE a.v % 7 = x OR b.w % 7 = x) FROM generate_series(1, 6) x');
SET work_mem = '64kB';
SELECT same('SELECT * FROM a_b a FULL JOIN b_b b ON a.k = b.k AND a.v % 3 = b.w % 3');
SELECT same('SELECT * FROM a_b a LEFT JOIN b_b b ON a.k = b.k AND a.v = b.w + 100000');
SELECT same('SELECT count(*), sum(x.v::bigint * y.v) FROM a_b x LEFT JOIN a_b y ON x.k = y.k AND x.v < y.v');
RESET work_mem;

-- two key columns with NULLs in either
CREATE TABLE m_h (x int, y text, v int);
CREATE TABLE n_h (y text, w int, x bigint);
INSERT INTO m_h SELECT CASE WHEN i % 11 = 0 THEN NULL ELSE i % 17 END, CASE WHEN i % 13 = 0 THEN NULL ELSE 'y' || i % 7 END, i FROM generate_series(1, 500) i;
INSERT INTO n_h SELECT CASE WHEN i % 9 = 0 THEN NULL ELSE 'y' || i % 8 END, i, CASE WHEN i % 10 = 0 THEN NULL ELSE i % 19 END FROM generate_series(1, 400) i;
CREATE FOREIGN TABLE m_b (x int, y text, v int) SERVER bucketfdw OPTIONS (bucket_by 'x, y', buckets '6', block_rows '20');
CREATE FOREIGN TABLE n_b (y text, w int, x bigint) SERVER bucketfdw OPTIONS (bucket_by 'x, y', buckets '9', sort_by 'x, y, w desc', block_rows '33');
INSERT INTO m_b SELECT * FROM m_h WHERE v < 200; INSERT INTO m_b SELECT * FROM m_h WHERE v >= 200;
INSERT INTO n_b SELECT * FROM n_h;
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT * FROM m_b LEFT JOIN n_b USING (x, y)',
	'SELECT * FROM m_b FULL JOIN n_b USING (y, x)',
	'SELECT * FROM m_b FULL JOIN n_b ON m_b.x = n_b.x AND m_b.y = n_b.y AND v > w',
	'SELECT * FROM m_b WHERE NOT EXISTS (SELECT 1 FROM n_b WHERE m_b.x = n_b.x AND m_b.y = n_b.y)',
	'SELECT * FROM m_b WHERE (x, y) IN (SELECT x, y FROM n_b)']) q;
DROP FOREIGN TABLE a_b, b_b, c_b, m_b, n_b;
DROP TABLE a_h, b_h, c_h, m_h, n_h;

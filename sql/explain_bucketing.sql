-- EXPLAIN (BUCKETING): from PostgreSQL 18 on, elsewhere it is not known (explain_bucketing.out).
LOAD 'bucketfdw';
CREATE FOREIGN TABLE o_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE FOREIGN TABLE c_b (k int, w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE h (k int, x int);
INSERT INTO o_b SELECT i % 100, i FROM generate_series(1, 1000) i;
INSERT INTO c_b SELECT i, i FROM generate_series(1, 100) i;
INSERT INTO h SELECT i, i FROM generate_series(1, 100) i;
ANALYZE o_b; ANALYZE c_b; ANALYZE h;
EXPLAIN (COSTS OFF, BUCKETING) SELECT o_b.k, count(*) FROM o_b JOIN c_b USING (k) GROUP BY o_b.k;
-- sorting rows into buckets begins with work that few rows do not repay
SET cpu_operator_cost = 0.1;
EXPLAIN (COSTS OFF, BUCKETING) SELECT * FROM o_b JOIN h USING (k);
EXPLAIN (COSTS OFF, BUCKETING off) SELECT * FROM h WHERE k = 1;
EXPLAIN (COSTS OFF, BUCKETING) SELECT * FROM h WHERE k = 1;
EXPLAIN (COSTS OFF, BUCKETING, FORMAT YAML) SELECT * FROM o_b JOIN h USING (k);
EXPLAIN (COSTS OFF, BUCKETING) SELECT v FROM o_b WHERE k NOT IN (SELECT k FROM c_b);
PREPARE p AS SELECT * FROM o_b JOIN h USING (k);
EXPLAIN (COSTS OFF, BUCKETING) EXECUTE p;
-- an error leaves nothing behind
EXPLAIN (COSTS OFF, BUCKETING) SELECT * FROM o_b JOIN h USING (k) WHERE 1 / (k - k) > 0 AND 1 / 0 > 0;
SELECT used FROM bucketfdw.why_not('SELECT * FROM o_b JOIN c_b USING (k)');
DROP FOREIGN TABLE o_b, c_b;
DROP TABLE h;

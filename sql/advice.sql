-- bucketfdw.suggest_buckets: of heap tables, bucketed ones and partitioned ones.
SET client_min_messages = warning;
CREATE TABLE ad_h (id bigint, customer_id int, country text, hot int, few smallint, part numeric, day date, j json);
ALTER TABLE ad_h ALTER few SET STATISTICS 1000;
INSERT INTO ad_h SELECT i, i % 5000, 'c' || i % 7, CASE WHEN i % 4 = 0 THEN 7 ELSE i END, i % 3, i % 900, date '2024-01-01' + i % 300, NULL FROM generate_series(1, 150000) i;
-- before ANALYZE nothing is known of the values
SELECT buckets, bucket_bytes BETWEEN 15000 AND 40000 AS size, skew, joins_with, advice FROM bucketfdw.suggest_buckets('ad_h', 'customer_id');
ANALYZE ad_h;
SELECT buckets, round(skew::numeric, 1) < 1.2 AS even, joins_with, advice FROM bucketfdw.suggest_buckets('ad_h', 'id');
SELECT buckets, skew IS NULL AS unknown, joins_with, advice FROM bucketfdw.suggest_buckets('ad_h');
-- a frequent value, also where others are bucketed by with it
SELECT buckets, skew BETWEEN 15 AND 18 AS skewed, regexp_replace(advice, '\d+\.\d+', 'N', 'g') AS advice FROM bucketfdw.suggest_buckets('ad_h', 'hot');
SELECT buckets, round(skew::numeric, 1) < 1.2 AS even, advice FROM bucketfdw.suggest_buckets('ad_h', 'hot, "id"');
-- few values; a smaller target
SELECT buckets, advice FROM bucketfdw.suggest_buckets('ad_h', 'few');
SELECT buckets, bucket_bytes < 10000 AS size, advice FROM bucketfdw.suggest_buckets('ad_h', 'id', 10000);
-- what is there to join with: int and numeric meet, date with nothing; twice the number where it is too small
CREATE FOREIGN TABLE ad_c (customer_id bigint, v int) SERVER bucketfdw OPTIONS (bucket_by 'customer_id', buckets '48');
INSERT INTO ad_c SELECT i, i FROM generate_series(1, 5000) i;
CREATE FOREIGN TABLE ad_d (day date, id int) SERVER bucketfdw OPTIONS (bucket_by 'id, day', buckets '10');
INSERT INTO ad_d SELECT date '2024-01-01' + i % 300, i FROM generate_series(1, 300000) i;
ANALYZE ad_c; ANALYZE ad_d;
SELECT k, buckets, joins_with FROM unnest(ARRAY['customer_id', 'part', 'day', 'id, day', 'day, id']) k, bucketfdw.suggest_buckets('ad_h', k);
SELECT k, s, buckets FROM unnest(ARRAY['customer_id']) k, unnest(ARRAY[100000000, 50000, 20000]) s, bucketfdw.suggest_buckets('ad_h', k, s);
-- a bucketed table: its own key, or another
SELECT buckets, bucket_bytes > 0 AS sized, joins_with, advice FROM bucketfdw.suggest_buckets('ad_d', target_size => 100000);
SELECT buckets, joins_with, advice FROM bucketfdw.suggest_buckets('ad_d', 'id');
-- small ones; partitions are counted together
SELECT * FROM bucketfdw.suggest_buckets('ad_c');
CREATE TABLE ad_p (k int, d int) PARTITION BY LIST (d);
CREATE TABLE ad_p0 PARTITION OF ad_p FOR VALUES IN (0);
CREATE FOREIGN TABLE ad_p1 PARTITION OF ad_p FOR VALUES IN (1) SERVER bucketfdw OPTIONS (bucket_by 'k');
SELECT * FROM bucketfdw.suggest_buckets('ad_p');
INSERT INTO ad_p SELECT i, i % 2 FROM generate_series(1, 600000) i;
ANALYZE ad_p;
SELECT buckets, bucket_bytes BETWEEN 15000 AND 100000 AS size, skew, advice FROM bucketfdw.suggest_buckets('ad_p', 'k');
-- what cannot be
SELECT * FROM bucketfdw.suggest_buckets('ad_h', 'nothing');
SELECT * FROM bucketfdw.suggest_buckets('ad_h', 'j');
SELECT * FROM bucketfdw.suggest_buckets('pg_class_oid_index');
SELECT * FROM bucketfdw.suggest_buckets('ad_h', 'id', 0);
SELECT * FROM bucketfdw.suggest_buckets(NULL);
CREATE ROLE regress_bucketfdw_advice;
SET ROLE regress_bucketfdw_advice;
-- statistics of columns are for those who may read them
SELECT buckets, skew, advice FROM bucketfdw.suggest_buckets('ad_h', 'hot');
RESET ROLE;
DROP ROLE regress_bucketfdw_advice;
DROP FOREIGN TABLE ad_c, ad_d;
DROP TABLE ad_h, ad_p;

-- The bucketed tables of tools/demo and bench/run: psql variable buckets.
\set ON_ERROR_STOP on
CREATE FOREIGN TABLE orders_b (order_id int, customer_id bigint, amount numeric(10,2), order_date date, status text)
  SERVER bucketfdw OPTIONS (bucket_by 'customer_id', buckets :'buckets');
CREATE FOREIGN TABLE customers_b (customer_id bigint, country text, age int, score float8)
  SERVER bucketfdw OPTIONS (bucket_by 'customer_id', buckets :'buckets');

-- The orders and customers of tools/demo and bench/run: psql variables rows (orders) and customers.
-- source.* is what both kinds of table are loaded from.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SELECT setseed(0.42) \g /dev/null
CREATE SCHEMA source;

CREATE UNLOGGED TABLE source.orders AS
SELECT i::int AS order_id,
       (1 + floor(random() * :customers))::bigint AS customer_id,
       (random() * 1000)::numeric(10,2) AS amount,
       date '2024-01-01' + (random() * 730)::int AS order_date,
       (ARRAY['new', 'paid', 'shipped', 'returned', 'cancelled'])[1 + floor(random() * 5)::int] AS status
FROM generate_series(1, :rows) i;

CREATE UNLOGGED TABLE source.customers AS
SELECT i::bigint AS customer_id,
       (ARRAY['DE', 'FR', 'IT', 'ES', 'PL', 'NL', 'SE', 'US', 'BR', 'IN', 'JP', 'ZA'])[1 + floor(random() * 12)::int] AS country,
       18 + floor(random() * 80)::int AS age,
       random() AS score
FROM generate_series(1, :customers) i;

VACUUM ANALYZE source.orders;
VACUUM ANALYZE source.customers;

-- Why a join or an aggregation does not use buckets: each reason, and that its hint helps.
CREATE TABLE orders_h (order_id int, customer_id int, amount numeric, day date);
INSERT INTO orders_h SELECT i, i % 400, i, date '2024-01-01' + i % 300 FROM generate_series(1, 3000) i;
CREATE TABLE customers_h (customer_id int, code numeric, name text, nick name);
INSERT INTO customers_h SELECT i, i, 'c' || i, 'c' || i FROM generate_series(1, 500) i;
CREATE FOREIGN TABLE orders (order_id int, customer_id int, amount numeric, day date) SERVER bucketfdw OPTIONS (bucket_by 'customer_id', buckets '8');
INSERT INTO orders SELECT * FROM orders_h;
CREATE FOREIGN TABLE customers (customer_id bigint, code numeric, name text, nick name) SERVER bucketfdw OPTIONS (bucket_by 'customer_id', buckets '12');
INSERT INTO customers SELECT * FROM customers_h;
ANALYZE orders_h; ANALYZE customers_h; ANALYZE orders; ANALYZE customers;

-- with a sort more joins go by buckets; that is looked at last
SET bucketfdw.enable_routing = off;

-- the rows of why_not, without the numbers of costs
CREATE FUNCTION why(query text, OUT kind text, OUT relations text, OUT join_type text, OUT used boolean, OUT reason text, OUT detail text, OUT hint text)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT kind, relations, join_type, used, reason, regexp_replace(detail, '\d+\.\d+', 'N', 'g'), hint
	FROM bucketfdw.why_not(query)
$$;
-- do what a hint says: its statements that make copies, and its settings
CREATE FUNCTION follow(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	statement text;
BEGIN
	FOR statement IN
		SELECT m[1] FROM bucketfdw.why_not(query) w, regexp_matches(w.hint, '(SELECT bucketfdw\.create_table_as\([^;]*;|SET [\w.]+ = \w+;)', 'g') m
	LOOP
		EXECUTE statement;
		RETURN NEXT statement;
	END LOOP;
END
$$;
-- is it a bucket join, now?
CREATE FUNCTION bucketed(query text) RETURNS boolean LANGUAGE sql AS $$
	SELECT bool_and(used) FROM bucketfdw.why_not(query)
$$;
-- are its groups, and joins, made by buckets where nothing else is dear?
CREATE FUNCTION grouped(query text) RETURNS boolean LANGUAGE plpgsql SET enable_hashagg = off SET enable_sort = off AS $$
BEGIN
	RETURN (SELECT bool_and(used) FROM bucketfdw.why_not(query));
END
$$;
-- what EXPLAIN says of scans and joins of ours
CREATE FUNCTION plan_lines(query text, options text DEFAULT 'COSTS OFF') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (' || options || ') ' || query LOOP
		IF line ~ 'BucketJoin|Foreign Scan|Bucket Join' THEN
			RETURN NEXT btrim(line);
		END IF;
	END LOOP;
END
$$;
-- so that what is possible is also chosen
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;

-- used
SELECT * FROM why('SELECT * FROM orders o JOIN customers c USING (customer_id)');
SELECT * FROM why('SELECT * FROM orders o LEFT JOIN customers c USING (customer_id)');
SELECT * FROM why('SELECT * FROM orders o FULL JOIN customers c USING (customer_id)');
SELECT * FROM why('SELECT * FROM orders o WHERE customer_id IN (SELECT customer_id FROM customers)');
SELECT * FROM why('SELECT * FROM orders o WHERE NOT EXISTS (SELECT FROM customers c WHERE c.customer_id = o.customer_id)');
SELECT * FROM why('SELECT a.customer_id, count(*) FROM orders a JOIN orders b USING (customer_id) JOIN customers c USING (customer_id) GROUP BY a.customer_id');
-- nothing of ours, nothing to join
SELECT * FROM why('SELECT * FROM orders_h JOIN customers_h USING (customer_id)');
SELECT * FROM why('SELECT * FROM orders WHERE customer_id = 1');

-- not_bucketed
\x on
SELECT * FROM why('SELECT * FROM orders JOIN customers_h USING (customer_id)');
SELECT follow('SELECT * FROM orders JOIN customers_h USING (customer_id)');
SELECT bucketed('SELECT * FROM orders JOIN customers_h_b USING (customer_id)');
SELECT plan_lines('SELECT * FROM orders JOIN customers_h USING (customer_id)');
-- EXPLAIN says it in short, and in full with VERBOSE and in formats for programs
SELECT plan_lines('SELECT * FROM orders JOIN customers_h USING (customer_id)', 'COSTS OFF, VERBOSE');
SELECT string_agg(btrim(line), E'\n') FROM (SELECT regexp_split_to_table(plan_lines('SELECT * FROM orders JOIN customers_h USING (customer_id)', 'COSTS OFF, FORMAT yaml'), E'\n') line) l WHERE line ~ 'Bucket Join';
SELECT plan_lines('SELECT * FROM orders JOIN customers_h_b USING (customer_id)');
-- neither column is a bucket column
SELECT * FROM why('SELECT * FROM orders JOIN customers_h ON order_id = customers_h.customer_id');
SELECT follow('SELECT * FROM orders JOIN customers_h ON order_id = customers_h.customer_id');
SELECT bucketed('SELECT * FROM orders_b JOIN customers_h_b1 ON order_id = customers_h_b1.customer_id');
DROP FOREIGN TABLE customers_h_b, customers_h_b1, orders_b;
SELECT * FROM why('SELECT * FROM orders JOIN generate_series(1, 10) g ON g = customer_id');
-- below another join
SELECT * FROM why('SELECT * FROM orders o LEFT JOIN (customers c CROSS JOIN generate_series(1, 2) g) ON c.customer_id = o.customer_id');

-- subquery, view with security_barrier, CTE
SELECT * FROM why('SELECT * FROM customers c JOIN (SELECT customer_id, sum(amount) FROM orders GROUP BY customer_id) s USING (customer_id)');
SELECT bucketed('SELECT c.customer_id, sum(amount) FROM customers c JOIN orders o USING (customer_id) GROUP BY c.customer_id');
CREATE VIEW safe WITH (security_barrier) AS SELECT * FROM orders WHERE amount > 10;
SELECT * FROM why('SELECT * FROM safe JOIN customers c USING (customer_id)');
SELECT * FROM why('WITH o AS MATERIALIZED (SELECT * FROM orders) SELECT * FROM o JOIN customers c USING (customer_id)');
SELECT bucketed('WITH o AS NOT MATERIALIZED (SELECT * FROM orders) SELECT * FROM o JOIN customers c USING (customer_id)');

-- subplan
SELECT * FROM why('SELECT * FROM customers WHERE customer_id NOT IN (SELECT customer_id FROM orders)');
SELECT bucketed('SELECT * FROM customers c WHERE NOT EXISTS (SELECT FROM orders o WHERE o.customer_id = c.customer_id)');

-- partitioned, partition_mix
CREATE TABLE events (customer_id int, day date) PARTITION BY RANGE (day);
CREATE FOREIGN TABLE events_1 PARTITION OF events FOR VALUES FROM ('2024-01-01') TO ('2024-07-01') SERVER bucketfdw OPTIONS (bucket_by 'customer_id', buckets '8');
CREATE FOREIGN TABLE events_2 PARTITION OF events FOR VALUES FROM ('2024-07-01') TO ('2025-01-01') SERVER bucketfdw OPTIONS (bucket_by 'day', buckets '8');
INSERT INTO events SELECT customer_id, day FROM orders_h;
SELECT * FROM why('SELECT * FROM events JOIN customers USING (customer_id)');
SELECT follow('SELECT * FROM events JOIN customers USING (customer_id)');
SELECT * FROM bucketfdw.why_not('events', 'customers');
SELECT * FROM bucketfdw.why_not('customers_h', 'events');
SELECT bucketed('SELECT * FROM events_2_b JOIN customers USING (customer_id)');
SELECT bucketed('SELECT * FROM events_1 JOIN customers USING (customer_id)');
SELECT plan_lines('SELECT * FROM events JOIN customers USING (customer_id)');
SELECT bucketed('SELECT * FROM events JOIN customers USING (customer_id) WHERE day = ''2024-02-01''');
SELECT bucketed('SELECT customer_id, count(*) FROM events WHERE day < ''2024-07-01'' GROUP BY customer_id');
SELECT * FROM why('SELECT customer_id, string_agg(day::text, '','') FROM events WHERE day < ''2024-07-01'' GROUP BY customer_id');
SELECT follow('SELECT customer_id, string_agg(day::text, '','') FROM events WHERE day < ''2024-07-01'' GROUP BY customer_id');
SELECT grouped('SELECT customer_id, string_agg(day::text, '','') FROM events_b WHERE day < ''2024-07-01'' GROUP BY customer_id');
DROP FOREIGN TABLE events_b;
ALTER TABLE events DETACH PARTITION events_2;
CREATE TABLE events_3 PARTITION OF events FOR VALUES FROM ('2024-07-01') TO ('2025-01-01');
SELECT * FROM why('SELECT * FROM events JOIN customers USING (customer_id)');
SELECT * FROM bucketfdw.why_not('events', 'customers');
SELECT follow('SELECT * FROM events JOIN customers USING (customer_id)');
-- the copy takes the place of the partition that stood in the way
ALTER TABLE events DETACH PARTITION events_3;
ALTER TABLE events ATTACH PARTITION events_3_b FOR VALUES FROM ('2024-07-01') TO ('2025-01-01');
SELECT bucketed('SELECT * FROM events JOIN customers USING (customer_id)');
SELECT * FROM bucketfdw.why_not('events', 'customers');
SELECT used, reason, detail FROM bucketfdw.why_not('events', 'customers_h');
-- several of each kind
CREATE TABLE events_4 PARTITION OF events FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE events_5 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
SELECT used, reason, detail FROM bucketfdw.why_not('SELECT * FROM events JOIN customers USING (customer_id)');
SELECT used, reason, detail FROM bucketfdw.why_not('customers', 'events');
-- of all partitions only the first one is another
DROP TABLE events_4, events_5;
ALTER TABLE events DETACH PARTITION events_1;
CREATE FOREIGN TABLE events_0 PARTITION OF events FOR VALUES FROM ('2023-01-01') TO ('2024-01-01') SERVER bucketfdw OPTIONS (bucket_by 'day', buckets '8');
ALTER TABLE events ATTACH PARTITION events_1 FOR VALUES FROM ('2024-01-01') TO ('2024-07-01');
SELECT used, reason, detail FROM bucketfdw.why_not('customers', 'events');
SELECT used, reason, detail FROM bucketfdw.why_not('SELECT * FROM events JOIN customers USING (customer_id)');
SELECT plan_lines('SELECT * FROM events JOIN customers USING (customer_id)');
DROP TABLE events; DROP TABLE events_3; DROP FOREIGN TABLE events_2_b, events_2;

-- key_not_equal_joined
SELECT * FROM why('SELECT * FROM orders o JOIN customers c ON o.customer_id = c.code::int');
SELECT * FROM why('SELECT * FROM orders o JOIN orders p ON o.customer_id = p.order_id');
SELECT follow('SELECT * FROM orders o JOIN orders p ON o.customer_id = p.order_id');
SELECT bucketed('SELECT * FROM orders o JOIN orders_b p ON o.customer_id = p.order_id');
DROP FOREIGN TABLE orders_b;
SELECT * FROM why('SELECT * FROM orders o JOIN orders p ON o.day = p.day');
SELECT follow('SELECT * FROM orders o JOIN orders p ON o.day = p.day');
SELECT bucketed('SELECT * FROM orders_b o JOIN orders_b p ON o.day = p.day');
DROP FOREIGN TABLE orders_b;
SELECT * FROM why('SELECT * FROM orders o JOIN customers c ON o.customer_id < c.customer_id');
SELECT * FROM why('SELECT * FROM orders o JOIN customers c ON o.customer_id IS NOT DISTINCT FROM c.customer_id');
SELECT * FROM why('SELECT * FROM orders o JOIN customers c ON o.customer_id = c.customer_id OR o.order_id = c.customer_id');
SELECT bucketed('SELECT * FROM orders o JOIN customers c ON o.customer_id = c.customer_id AND (o.customer_id = c.customer_id OR o.order_id = c.customer_id)');
SELECT bucketed('SELECT * FROM orders o JOIN customers c ON o.customer_id = c.customer_id AND o.customer_id < c.code');

-- expression_on_key
SELECT * FROM why('SELECT * FROM orders o JOIN customers c ON o.customer_id + 0 = c.customer_id');
SELECT * FROM why('SELECT * FROM orders o JOIN orders p ON o.customer_id::smallint = p.customer_id');
SELECT bucketed('SELECT * FROM orders o JOIN orders p ON o.customer_id = p.customer_id');
SELECT bucketfdw.create_table_as('shifted', 'SELECT *, customer_id + 1 AS next FROM orders', bucket_by => 'next', buckets => 8);
SELECT bucketed('SELECT * FROM shifted o JOIN customers c ON o.next = c.customer_id');
DROP FOREIGN TABLE shifted;

-- integers with numerics, unless the numerics are rounded first
SELECT bucketfdw.create_table_as('by_code', 'SELECT * FROM customers_h', bucket_by => 'code', buckets => 8);
SELECT bucketed('SELECT * FROM orders o JOIN by_code c ON o.customer_id = c.code');
SELECT * FROM bucketfdw.why_not('orders', 'by_code');
SELECT * FROM why('SELECT * FROM orders o JOIN by_code c ON o.customer_id = c.code::int');
DROP FOREIGN TABLE by_code;

-- type_class
SELECT bucketfdw.create_table_as('days', 'SELECT * FROM orders_h', bucket_by => 'day', buckets => 8);
SELECT bucketfdw.create_table_as('moments', 'SELECT DISTINCT day::timestamp AS moment FROM orders_h', bucket_by => 'moment', buckets => 8);
SELECT * FROM why('SELECT * FROM days JOIN moments ON day = moment');
SELECT follow('SELECT * FROM days JOIN moments ON day = moment');
SELECT bucketed('SELECT * FROM days_b JOIN moments ON day = moment');
SELECT * FROM bucketfdw.why_not('days', 'moments');
DROP FOREIGN TABLE days, days_b, moments;
SELECT bucketfdw.create_table_as('names', 'SELECT name, code FROM customers_h', bucket_by => 'name', buckets => 8);
SELECT bucketfdw.create_table_as('padded', 'SELECT name::char(10) AS name FROM customers_h', bucket_by => 'name', buckets => 8);
SELECT * FROM why('SELECT * FROM names n JOIN padded p ON n.name = p.name');
SELECT follow('SELECT * FROM names n JOIN padded p ON n.name = p.name');
SELECT bucketed('SELECT * FROM names n JOIN padded_b p ON n.name = p.name');
-- compared as a type they are not
SELECT * FROM why('SELECT * FROM orders o JOIN orders p ON o.customer_id::float8 = p.customer_id');
SELECT bucketed('SELECT * FROM orders o JOIN orders p ON o.customer_id = p.customer_id');
-- a type that no table is bucketed by
SELECT * FROM why('SELECT * FROM names n JOIN customers_h c ON n.name = c.nick');
SELECT follow('SELECT * FROM names n JOIN customers_h c ON n.name = c.nick');
SELECT bucketed('SELECT * FROM names n JOIN customers_h_b c ON n.name = c.nick');
DROP FOREIGN TABLE padded, padded_b, customers_h_b;
-- citext is compared with text as text, so that it can be cast; with its own equality not
CREATE EXTENSION citext;
CREATE TABLE signs AS SELECT name::citext AS name FROM customers_h;
SELECT follow('SELECT * FROM names n JOIN signs s ON n.name = s.name');
SELECT bucketed('SELECT * FROM names n JOIN signs_b s ON n.name = s.name');
DROP FOREIGN TABLE signs_b;
SELECT reason, detail, hint FROM why('SELECT * FROM names n JOIN signs s ON n.name::citext = s.name');
SELECT bucketfdw.create_table_as('names_l', 'SELECT lower(name) AS name FROM names', bucket_by => 'name', buckets => 8);
SELECT bucketfdw.create_table_as('signs_l', 'SELECT lower(name::text) AS name FROM signs', bucket_by => 'name', buckets => 8);
SELECT bucketed('SELECT * FROM names_l n JOIN signs_l s ON n.name = s.name');
DROP FOREIGN TABLE names_l, signs_l; DROP TABLE signs; DROP EXTENSION citext;
-- types without a common one: another column has to be found
CREATE TABLE days_h AS SELECT DISTINCT day FROM orders_h;
SELECT bucketfdw.create_table_as('days', 'SELECT day FROM days_h', bucket_by => 'day', buckets => 8);
SELECT used, reason, hint FROM bucketfdw.why_not('days', 'orders');
SELECT used, reason, hint FROM bucketfdw.why_not('days', 'names');
SELECT used, reason, hint FROM bucketfdw.why_not('days_h', 'orders');
SELECT bucketfdw.create_table_as('days_alike', 'SELECT day::timestamp AS day FROM days_h', bucket_by => 'day', buckets => 4);
SELECT used, reason, hint FROM bucketfdw.why_not('days', 'days_alike');
DROP FOREIGN TABLE days, days_alike; DROP TABLE days_h;

-- join_keys_subset, bucket_column_order, bucket_columns_differ
SELECT bucketfdw.create_table_as('tenants_a', 'SELECT customer_id % 7 AS tenant, customer_id AS id, amount FROM orders_h', bucket_by => 'tenant, id', buckets => 8);
SELECT bucketfdw.create_table_as('tenants_b', 'SELECT customer_id % 7 AS tenant, customer_id AS id, name FROM customers_h', bucket_by => 'tenant, id', buckets => 8);
SELECT bucketfdw.create_table_as('tenants_c', 'SELECT customer_id % 7 AS tenant, customer_id AS id, name FROM customers_h', bucket_by => 'id, tenant', buckets => 8);
SELECT bucketfdw.create_table_as('tenants_d', 'SELECT customer_id % 7 AS tenant, customer_id AS id, name FROM customers_h', bucket_by => 'id', buckets => 8);
SELECT * FROM why('SELECT * FROM tenants_a a JOIN tenants_b b ON a.id = b.id');
SELECT bucketed('SELECT * FROM tenants_a a JOIN tenants_b b ON a.id = b.id AND a.tenant = b.tenant');
SELECT bucketfdw.create_table_as('a_by_id', 'SELECT * FROM tenants_a', bucket_by => 'id', buckets => 8);
SELECT bucketfdw.create_table_as('b_by_id', 'SELECT * FROM tenants_b', bucket_by => 'id', buckets => 8);
SELECT bucketed('SELECT * FROM a_by_id a JOIN b_by_id b ON a.id = b.id');
DROP FOREIGN TABLE a_by_id, b_by_id;
SELECT * FROM why('SELECT * FROM tenants_a a JOIN tenants_c c USING (id, tenant)');
SELECT follow('SELECT * FROM tenants_a a JOIN tenants_c c USING (id, tenant)');
SELECT bucketed('SELECT * FROM tenants_a_b a JOIN tenants_c c USING (id, tenant)');
DROP FOREIGN TABLE tenants_a_b;
SELECT * FROM bucketfdw.why_not('tenants_a', 'tenants_c');
SELECT * FROM why('SELECT * FROM tenants_c c JOIN tenants_d d USING (id)');
SELECT follow('SELECT * FROM tenants_c c JOIN tenants_d d USING (id)');
SELECT bucketed('SELECT * FROM tenants_c_b c JOIN tenants_d d USING (id)') OR bucketed('SELECT * FROM tenants_c_b1 c JOIN tenants_d d USING (id)');
SELECT * FROM bucketfdw.why_not('tenants_c', 'tenants_d');

-- constant_key
SELECT reason, hint FROM why('SELECT * FROM orders o JOIN customers c USING (customer_id) WHERE c.customer_id = 5');

-- outer_join_position
SELECT * FROM why('SELECT * FROM (orders o FULL JOIN customers c USING (customer_id)) LEFT JOIN orders p ON p.customer_id = o.customer_id');
SELECT bucketed('SELECT * FROM (orders o FULL JOIN customers c USING (customer_id)) LEFT JOIN orders p USING (customer_id)');
SET join_collapse_limit = 1;
SELECT * FROM why('SELECT * FROM orders o LEFT JOIN customers c ON c.customer_id = o.customer_id LEFT JOIN orders p ON p.customer_id = c.customer_id') WHERE NOT used;
RESET join_collapse_limit;
SELECT bucketed('SELECT * FROM orders o LEFT JOIN customers c ON c.customer_id = o.customer_id LEFT JOIN orders p ON p.customer_id = o.customer_id');

-- row_marks
SELECT * FROM why('SELECT * FROM orders o JOIN customers c USING (customer_id) FOR UPDATE OF o');
SELECT bool_and(used) FROM bucketfdw.why_not('WITH j AS MATERIALIZED (SELECT * FROM orders o JOIN customers c USING (customer_id)) SELECT * FROM j');
SELECT * FROM why('UPDATE customers_h h SET name = c.name FROM orders o JOIN customers c USING (customer_id) WHERE h.customer_id = o.order_id') WHERE relations ~ 'orders';
SELECT bool_or(used) FROM bucketfdw.why_not('WITH j AS MATERIALIZED (SELECT * FROM orders o JOIN customers c USING (customer_id)) UPDATE customers_h h SET name = j.name FROM j WHERE h.customer_id = j.order_id');

-- volatile, one_time_filter
SELECT * FROM why('SELECT * FROM orders o JOIN customers c ON o.customer_id = c.customer_id AND random() < 0.5');
SELECT bucketed('SELECT * FROM (SELECT o.* FROM orders o JOIN customers c ON o.customer_id = c.customer_id OFFSET 0) s WHERE random() < 0.5');
SELECT * FROM why('SELECT * FROM orders o JOIN customers c ON o.customer_id = c.customer_id AND current_user = ''x''');
SELECT bucketed('SELECT * FROM (SELECT o.* FROM orders o JOIN customers c ON o.customer_id = c.customer_id OFFSET 0) s WHERE current_user = ''x''');
-- outside of an outer join the condition would be another one
SELECT used, reason, hint FROM why('SELECT * FROM orders o LEFT JOIN customers c ON o.customer_id = c.customer_id AND random() < 0.5');
SELECT used, reason, hint FROM why('SELECT * FROM orders o LEFT JOIN customers c ON o.customer_id = c.customer_id AND current_user = ''x''');

-- lateral, placeholder
SELECT * FROM why('SELECT * FROM orders o LEFT JOIN LATERAL (SELECT o.amount + coalesce(c.code, 0) AS x, c.customer_id FROM customers c) s ON s.customer_id = o.customer_id');
SELECT bucketed('SELECT *, CASE WHEN c.customer_id IS NOT NULL THEN o.amount + coalesce(c.code, 0) END AS x FROM orders o LEFT JOIN customers c ON c.customer_id = o.customer_id');
SELECT * FROM why('SELECT o.*, x FROM orders o LEFT JOIN (SELECT customer_id, coalesce(code, 0) AS x FROM customers c) s USING (customer_id)');
SELECT bucketed('SELECT o.*, CASE WHEN s.customer_id IS NOT NULL THEN coalesce(code, 0) END AS x FROM orders o LEFT JOIN (SELECT customer_id, code FROM customers c) s USING (customer_id)');

-- system_column
SELECT reason, hint FROM why('SELECT a.tableoid, b.tableoid, c.tableoid FROM orders a JOIN orders b USING (customer_id) JOIN customers c USING (customer_id)') WHERE NOT used;
SELECT reason, hint FROM why('SELECT a, b, c FROM orders a JOIN orders b USING (customer_id) JOIN customers c USING (customer_id)') WHERE NOT used;
SELECT bucketed('SELECT a.day, b.day, c.name FROM orders a JOIN orders b USING (customer_id) JOIN customers c USING (customer_id)');

-- proven_empty
SELECT * FROM why('SELECT * FROM orders o LEFT JOIN (SELECT * FROM customers WHERE false) c USING (customer_id)');

-- collation
CREATE COLLATION regress_nd (provider = icu, locale = 'und', deterministic = false);
SELECT * FROM why('SELECT * FROM names a JOIN names b ON a.name = b.name COLLATE regress_nd');
SELECT bucketed('SELECT * FROM names a JOIN names b ON a.name = b.name');
SELECT reason FROM why('SELECT name COLLATE regress_nd, count(*) FROM names GROUP BY name COLLATE regress_nd');
SELECT bucketed('SELECT name, count(*) FROM names GROUP BY name');
DROP COLLATION regress_nd;

-- old_hash_version: as if a later library had written one table; t/012_hash_version.pl reads such files
BEGIN;
UPDATE bucketfdw.manifest SET hash_version = 2 WHERE relid = 'customers'::regclass;
SELECT * FROM why('SELECT * FROM orders o JOIN customers c USING (customer_id)');
SELECT plan_lines('SELECT * FROM orders o JOIN customers c USING (customer_id)');
SELECT reason, detail FROM why('SELECT customer_id, count(*) FROM customers GROUP BY customer_id');
SELECT reason, detail FROM why('SELECT DISTINCT a.customer_id FROM customers a JOIN customers b USING (customer_id)');
SELECT used, reason, detail FROM bucketfdw.why_not('customers', 'orders');
SELECT used, reason FROM bucketfdw.why_not('customers', 'customers');
ROLLBACK;

-- cost
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop;
SELECT * FROM why('SELECT * FROM orders o JOIN customers c USING (customer_id) LIMIT 1');
BEGIN;
SELECT follow('SELECT * FROM orders o JOIN customers c USING (customer_id) LIMIT 1');
SELECT follow('SELECT * FROM orders o JOIN customers c USING (customer_id) LIMIT 1');
SELECT bucketed('SELECT * FROM orders o JOIN customers c USING (customer_id) LIMIT 1');
ROLLBACK;
-- another table is joined first
SELECT * FROM why('SELECT * FROM orders o JOIN customers c USING (customer_id) JOIN customers_h h ON h.customer_id = o.order_id WHERE h.name = ''c7''');
-- few rows; many runs, which merging makes dear where nothing else costs much
CREATE FOREIGN TABLE few (customer_id int, v int) SERVER bucketfdw OPTIONS (bucket_by 'customer_id', buckets '4');
INSERT INTO few SELECT g, g FROM generate_series(1, 100) g; ANALYZE few;
SET bucketfdw.inline_limit = 0;
CREATE FOREIGN TABLE often (customer_id int, v int) SERVER bucketfdw OPTIONS (bucket_by 'customer_id', buckets '2');
DO $$
BEGIN
	FOR i IN 1 .. 120 LOOP
		INSERT INTO often SELECT g + 120 * i, g FROM generate_series(1, 120) g;
		COMMIT;
	END LOOP;
END
$$;
ANALYZE often;
CREATE FOREIGN TABLE many (customer_id int, t text) SERVER bucketfdw OPTIONS (bucket_by 'customer_id', buckets '4', block_rows '500');
INSERT INTO many SELECT g, 'text ' || g FROM generate_series(1, 100000) g; ANALYZE many;
SELECT * FROM why('SELECT * FROM few JOIN many USING (customer_id)') \gx
EXPLAIN (COSTS OFF) SELECT * FROM few JOIN many USING (customer_id);
SET cpu_tuple_cost = 0; SET seq_page_cost = 0; SET random_page_cost = 0;
SET enable_nestloop = off;
SELECT * FROM why('SELECT a.v, b.v FROM often a JOIN often b USING (customer_id)') \gx
EXPLAIN (COSTS OFF) SELECT a.v, b.v FROM often a JOIN often b USING (customer_id);
SELECT reason, hint FROM why('SELECT customer_id, count(*) FROM often GROUP BY customer_id');
CALL bucketfdw.compact('often', "full" => true);
SELECT used, reason FROM why('SELECT a.v, b.v FROM often a JOIN often b USING (customer_id)');
SELECT used, reason FROM why('SELECT customer_id, count(*) FROM often GROUP BY customer_id');
RESET cpu_tuple_cost; RESET seq_page_cost; RESET random_page_cost;
DROP FOREIGN TABLE few, many, often; RESET enable_nestloop;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;

-- disabled
SET bucketfdw.enable = off;
SELECT * FROM why('SELECT o.customer_id, count(*) FROM orders o JOIN customers c USING (customer_id) GROUP BY o.customer_id');
SELECT plan_lines('SELECT * FROM orders o JOIN customers c USING (customer_id)');
SELECT follow('SELECT o.customer_id, count(*) FROM orders o JOIN customers c USING (customer_id) GROUP BY o.customer_id');
SHOW bucketfdw.enable;
SET bucketfdw.enable_bucketjoin = off;
SELECT plan_lines('SELECT * FROM orders o JOIN customers c USING (customer_id)');
SELECT * FROM why('SELECT * FROM orders o JOIN customers c USING (customer_id)');
SELECT follow('SELECT * FROM orders o JOIN customers c USING (customer_id)');
SHOW bucketfdw.enable_bucketjoin;
SET bucketfdw.enable_bucketjoin = on;
SELECT bucketed('SELECT * FROM orders o JOIN customers c USING (customer_id)');

-- aggregations
SET enable_hashagg = off; SET enable_sort = off;
SELECT bucketed('SELECT customer_id, count(*) FROM orders GROUP BY customer_id');
SELECT bucketed('SELECT DISTINCT customer_id FROM orders');
RESET enable_hashagg; RESET enable_sort;
SET bucketfdw.enable_bucketagg = off;
SELECT * FROM why('SELECT customer_id, count(*) FROM orders GROUP BY customer_id');
SELECT follow('SELECT customer_id, count(*) FROM orders GROUP BY customer_id');
SHOW bucketfdw.enable_bucketagg;
RESET bucketfdw.enable_bucketagg;
SELECT * FROM why('SELECT day, count(*) FROM orders GROUP BY day');
SELECT follow('SELECT day, count(*) FROM orders GROUP BY day');
SELECT bucketed('SELECT day, count(*) FROM orders_b GROUP BY day');
DROP FOREIGN TABLE orders_b;
SELECT * FROM why('SELECT tenant, count(*) FROM tenants_a GROUP BY tenant');
SELECT follow('SELECT tenant, count(*) FROM tenants_a GROUP BY tenant');
SELECT grouped('SELECT tenant, count(*) FROM tenants_a_b GROUP BY tenant');
DROP FOREIGN TABLE tenants_a_b;
SELECT * FROM why('SELECT customer_id, day, count(*) FROM orders GROUP BY customer_id, day');
SELECT grouped('SELECT customer_id, max(day) AS day, count(*) FROM orders GROUP BY customer_id');
SELECT * FROM why('SELECT customer_id % 10, count(*) FROM orders GROUP BY customer_id % 10');
SELECT bucketfdw.create_table_as('tens', 'SELECT *, customer_id % 10 AS ten FROM orders', bucket_by => 'ten', buckets => 8);
SELECT grouped('SELECT ten, count(*) FROM tens GROUP BY ten');
DROP FOREIGN TABLE tens;
SELECT * FROM why('SELECT customer_id::oid, count(*) FROM orders GROUP BY customer_id::oid');
SELECT * FROM why('SELECT customer_id, count(*) FROM orders GROUP BY ROLLUP (customer_id)');
SELECT relations, used FROM why('SELECT customer_id, sum(n) FROM (SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id) s GROUP BY ROLLUP (customer_id)');
-- from 16 on core sorts the rows below the aggregation, unless that is off
SELECT reason IS NOT DISTINCT FROM CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'ordered_aggregate' END AS by_version
FROM why('SELECT o.customer_id, max(DISTINCT o.day) FROM orders o JOIN customers c USING (customer_id) GROUP BY o.customer_id') WHERE kind = 'aggregate';
SELECT count(set_config(name, 'off', false)) < 2 AS set FROM pg_settings WHERE name = 'enable_presorted_aggregate';
SELECT * FROM why('SELECT o.customer_id, max(DISTINCT o.day) FROM orders o JOIN customers c USING (customer_id) GROUP BY o.customer_id') WHERE kind = 'aggregate';
SELECT count(set_config(name, 'on', false)) < 2 AS set FROM pg_settings WHERE name = 'enable_presorted_aggregate';
SELECT bucketed('SELECT o.customer_id, max(o.day) FROM orders o JOIN customers c USING (customer_id) GROUP BY o.customer_id');
SELECT * FROM why('SELECT customer_id, generate_series(1, 2) FROM orders GROUP BY customer_id');
SELECT grouped('SELECT customer_id, generate_series(1, 2) FROM (SELECT customer_id FROM orders GROUP BY customer_id OFFSET 0) s');
SELECT * FROM why('SELECT DISTINCT ON (customer_id) * FROM orders ORDER BY customer_id, day');
SELECT bucketfdw.create_table_as('by_day', 'SELECT * FROM orders', bucket_by => 'customer_id', buckets => 8, sort_by => 'customer_id, day');
SELECT grouped('SELECT DISTINCT ON (customer_id) * FROM by_day ORDER BY customer_id, day');
DROP FOREIGN TABLE by_day;
SELECT * FROM why('SELECT DISTINCT count(*) FROM orders GROUP BY customer_id') WHERE NOT used;
SELECT grouped('SELECT customer_id, count(*) FROM orders GROUP BY customer_id');
SELECT * FROM why('SELECT h.name, count(*) FROM orders o JOIN customers_h h USING (customer_id) GROUP BY h.name');
SELECT * FROM why('SELECT c.customer_id, count(*) FROM orders o LEFT JOIN customers c USING (customer_id) GROUP BY c.customer_id');
SELECT grouped('SELECT o.customer_id, count(*) FROM orders o LEFT JOIN customers c USING (customer_id) GROUP BY o.customer_id');
SELECT * FROM why('SELECT o.customer_id, count(*) FROM orders o FULL JOIN customers c USING (customer_id) GROUP BY o.customer_id') WHERE kind = 'aggregate';
\x off

-- two tables without a query
SELECT * FROM bucketfdw.why_not('orders', 'customers');
SELECT used, reason, hint FROM bucketfdw.why_not('orders', 'customers_h');
SELECT used, reason FROM bucketfdw.why_not('orders_h', 'customers_h');
SELECT used, reason FROM bucketfdw.why_not('orders', NULL);

-- in JSON the parts stand apart
CREATE FUNCTION plan_keys(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (COSTS OFF, FORMAT JSON) ' || query INTO plan;
	RETURN QUERY SELECT (regexp_matches(plan::text, '"Bucket Join[^\n]*', 'g'))[1];
END
$$;
SELECT plan_keys('SELECT * FROM orders JOIN customers_h USING (customer_id) WHERE order_id < 10');
SELECT plan_keys('SELECT * FROM orders JOIN customers USING (customer_id)');

-- what is asked about: one statement, of any kind that is planned
SELECT bucketed('INSERT INTO customers_h (customer_id) SELECT o.customer_id FROM orders o JOIN customers c USING (customer_id)');
SELECT bucketed('CREATE TABLE made AS SELECT o.customer_id FROM orders o JOIN customers c USING (customer_id)');
SELECT bucketed('EXPLAIN SELECT o.customer_id FROM orders o JOIN customers c USING (customer_id)');
SELECT bucketed('SELECT o.customer_id FROM orders o JOIN customers c USING (customer_id) WHERE amount > $1');
SELECT count(*) FROM bucketfdw.why_not(NULL);
SELECT bucketed('');
SELECT bucketed('SELECT 1; SELECT 2');
SELECT bucketed('VACUUM');
SELECT bucketed('SELECT nothing FROM orders');
SELECT to_regclass('made');

-- what functions plan while the query is planned is not mixed in, and an error leaves nothing behind
CREATE FUNCTION peek(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(*) FROM orders JOIN customers_h USING (customer_id) WHERE order_id = $1);
END
$$;
SELECT relations, used FROM bucketfdw.why_not('SELECT * FROM orders o JOIN customers c USING (customer_id) WHERE amount > peek(1)');
SELECT bucketed('SELECT * FROM orders o JOIN customers c USING (customer_id) WHERE amount > 1 / (peek(1) - 1)');
SELECT bucketed('SELECT * FROM orders o JOIN customers c USING (customer_id)');
DROP FUNCTION peek(int);
-- GEQO throws its trial joins away
SET geqo_threshold = 2;
SELECT count(*) FILTER (WHERE used), count(*) FROM bucketfdw.why_not('SELECT * FROM orders a JOIN orders b USING (customer_id) JOIN customers c USING (customer_id) JOIN customers d USING (customer_id)');
RESET geqo_threshold;

-- the caller's rights
CREATE ROLE regress_bucketfdw_why;
GRANT SELECT ON orders TO regress_bucketfdw_why;
CREATE VIEW open AS SELECT * FROM customers;
GRANT SELECT ON open TO regress_bucketfdw_why;
SET ROLE regress_bucketfdw_why;
SELECT * FROM bucketfdw.why_not('SELECT * FROM orders JOIN customers USING (customer_id)');
SELECT * FROM bucketfdw.why_not('SELECT * FROM orders WHERE customer_id IN (SELECT customer_id FROM customers)');
SELECT * FROM bucketfdw.why_not('DELETE FROM orders');
SELECT relations, used FROM bucketfdw.why_not('SELECT * FROM orders JOIN open USING (customer_id)');
-- the server's log is not everybody's
SET bucketfdw.log_rejections = on;
RESET ROLE;
DROP VIEW open;
DROP OWNED BY regress_bucketfdw_why;
DROP ROLE regress_bucketfdw_why;

-- log_rejections: once per statement text
SET client_min_messages = log;
SET bucketfdw.log_rejections = on;
SELECT count(*) FROM orders JOIN customers_h USING (customer_id);
SELECT count(*) FROM orders JOIN customers_h USING (customer_id);
SELECT count(*) FROM orders JOIN customers USING (customer_id);
SELECT count(*) FROM orders_h JOIN customers_h USING (customer_id);
RESET bucketfdw.log_rejections;
RESET client_min_messages;

DROP VIEW safe;
DROP FOREIGN TABLE orders, customers, names, tenants_a, tenants_b, tenants_c, tenants_d;
DROP FOREIGN TABLE tenants_c_b;
DROP TABLE orders_h, customers_h;
DROP FUNCTION why(text), follow(text), bucketed(text), grouped(text), plan_lines(text, text), plan_keys(text);

-- What README.md shows in its sixty seconds, by a plain role, and the answers
-- that docs/reference.md quotes of what a foreign table cannot do.
\set VERBOSITY terse
CREATE ROLE regress_bucketfdw_alice;
CREATE SCHEMA readme AUTHORIZATION regress_bucketfdw_alice;
SET search_path = readme;

SET ROLE regress_bucketfdw_alice;
CREATE FOREIGN TABLE orders_b (order_id bigint) SERVER bucketfdw OPTIONS (bucket_by 'order_id');
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER bucketfdw TO regress_bucketfdw_alice;
SET ROLE regress_bucketfdw_alice;

CREATE FOREIGN TABLE orders_b (order_id bigint, customer_id bigint, amount numeric(10,2))
  SERVER bucketfdw OPTIONS (bucket_by 'customer_id', buckets '4');
INSERT INTO orders_b VALUES
  (1, 101, 20.00), (2, 103, 35.50), (3, 106, 12.25), (4, 101, 80.00), (5, 107, 5.75), (6, 103, 60.00);

SELECT bucketfdw.bucket_id(4, customer_id) AS bucket, * FROM orders_b ORDER BY 1, 3, 2;

CREATE FOREIGN TABLE customers_b (customer_id int, name text)
  SERVER bucketfdw OPTIONS (bucket_by 'customer_id', buckets '4');
INSERT INTO customers_b VALUES (101, 'Ada'), (103, 'Ben'), (106, 'Cai'), (107, 'Dia');

SELECT name, sum(amount) FROM orders_b JOIN customers_b USING (customer_id) GROUP BY name ORDER BY name;

EXPLAIN (COSTS OFF)
SELECT name, sum(amount) FROM orders_b JOIN customers_b USING (customer_id) GROUP BY name;

-- limits
CREATE TABLE c (id int PRIMARY KEY);
CREATE FOREIGN TABLE t (id int, v int) SERVER bucketfdw OPTIONS (bucket_by 'id');
ALTER FOREIGN TABLE t ADD PRIMARY KEY (id);
ALTER FOREIGN TABLE t ADD UNIQUE (id);
ALTER FOREIGN TABLE t ADD FOREIGN KEY (id) REFERENCES c (id);
CREATE TABLE d (id int REFERENCES t (id));
CREATE INDEX ON t (id);
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON t USING (true);
MERGE INTO t USING c ON t.id = c.id WHEN MATCHED THEN DELETE;
INSERT INTO t VALUES (1) ON CONFLICT (id) DO NOTHING;
INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING;
COPY t TO STDOUT;
COPY (SELECT * FROM t) TO STDOUT;
BEGIN;
LOCK TABLE t;
ROLLBACK;
VACUUM t;
CLUSTER t;
REINDEX TABLE t;
SELECT * FROM t TABLESAMPLE system (10);
SELECT ctid FROM t;
DELETE FROM t a USING t b WHERE a.ctid < b.ctid AND a.id = b.id;
SELECT * FROM t FOR UPDATE SKIP LOCKED;
BEGIN;
DECLARE cur CURSOR FOR SELECT * FROM t;
FETCH cur;
DELETE FROM t WHERE CURRENT OF cur;
ROLLBACK;
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER o AFTER DELETE ON t REFERENCING OLD TABLE AS o FOR EACH STATEMENT EXECUTE FUNCTION nothing();
CREATE CONSTRAINT TRIGGER c AFTER DELETE ON t FOR EACH ROW EXECUTE FUNCTION nothing();
ALTER FOREIGN TABLE t SET TABLESPACE pg_default;
CREATE FOREIGN TABLE pg_temp.x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id');
CREATE TABLE p (id int) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (10) SERVER bucketfdw OPTIONS (bucket_by 'id');
CREATE UNIQUE INDEX ON p (id);
MERGE INTO p USING c ON p.id = c.id WHEN MATCHED THEN DELETE;
CREATE TRIGGER o AFTER DELETE ON p REFERENCING OLD TABLE AS o FOR EACH STATEMENT EXECUTE FUNCTION nothing();
INSERT INTO p1 VALUES (1);
DELETE FROM p;
SELECT * FROM p;
CREATE FOREIGN TABLE p2 PARTITION OF p DEFAULT SERVER bucketfdw;
RESET ROLE;
CREATE PUBLICATION regress_bucketfdw_pub FOR TABLE t;

-- a view with the old name: bucket joins, and INSERT, UPDATE and DELETE through it
CREATE VIEW orders AS TABLE orders_b;
INSERT INTO orders VALUES (7, 107, 1);
UPDATE orders SET amount = amount + 1 WHERE customer_id = 107 RETURNING *;
DELETE FROM orders WHERE order_id = 7 RETURNING *;
EXPLAIN (COSTS OFF) SELECT * FROM orders JOIN customers_b USING (customer_id);

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA readme CASCADE;
DROP OWNED BY regress_bucketfdw_alice;
DROP ROLE regress_bucketfdw_alice;

-- bucketfdw.upsert: rows of a query replace those with equal keys, the others are added.
\set VERBOSITY terse
SET search_path = public;

CREATE FOREIGN TABLE up_b (k int, v int DEFAULT 42, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
CREATE TABLE up_h (k int UNIQUE, v int DEFAULT 42, t text);
INSERT INTO up_h SELECT i, i, 'old ' || i FROM generate_series(1, 5000) i;
INSERT INTO up_b TABLE up_h;
CREATE TABLE up_new AS SELECT i AS k, -i AS v, 'new ' || i AS t FROM generate_series(1, 9000, 3) i;

SELECT bucketfdw.upsert('up_b', 'TABLE up_new');
INSERT INTO up_h TABLE up_new ON CONFLICT (k) DO UPDATE SET v = excluded.v, t = excluded.t;
SELECT same('SELECT * FROM up_b');
-- computed from the rows that are replaced; columns that are not given get their defaults
SELECT bucketfdw.upsert('up_b', 'SELECT k, t || ''!'' AS t FROM up_b WHERE k < 10');
UPDATE up_h SET t = t || '!', v = 42 WHERE k < 10;
SELECT same('SELECT * FROM up_b');
-- several times in a transaction, with rows of its own, and undone
BEGIN;
SELECT bucketfdw.upsert('up_b', 'SELECT 100000 + i AS k, i AS v FROM generate_series(1, 3) i');
SELECT bucketfdw.upsert('up_b', 'SELECT 100000 + i AS k, -i AS v FROM generate_series(1, 4) i');
SELECT * FROM up_b WHERE k > 100000 ORDER BY k;
SAVEPOINT s;
SELECT bucketfdw.upsert('up_b', 'SELECT k, 0 AS v FROM up_b');
SELECT count(*), sum(v) FROM up_b;
ROLLBACK TO s;
SELECT sum(v) FROM up_b WHERE k > 100000;
ROLLBACK;
SELECT same('SELECT * FROM up_b');

-- no key is equal to NULL
SELECT bucketfdw.upsert('up_b', 'SELECT NULL::int AS k, 1 AS v');
SELECT bucketfdw.upsert('up_b', 'SELECT NULL::int AS k, 2 AS v UNION ALL SELECT NULL, 3');
SELECT k, v FROM up_b WHERE k IS NULL ORDER BY v;
DELETE FROM up_b WHERE k IS NULL;
-- another key
SELECT bucketfdw.upsert('up_b', $$SELECT 5001 AS k, 42 AS v, 'by v' AS t$$, key => 'v');
SELECT * FROM up_b WHERE v = 42;
SELECT bucketfdw.upsert('up_b', $$SELECT 5001 AS k, 42 AS v, 'by both' AS t$$, key => 'k, v');
SELECT * FROM up_b WHERE v = 42;

-- refused
SELECT bucketfdw.upsert('up_b', 'SELECT 1 AS k, 2 AS v UNION ALL SELECT 1, 3');
\set VERBOSITY default
SELECT bucketfdw.upsert('up_b', $$VALUES (1, 2), (2, 2)$$);
SELECT bucketfdw.upsert('up_b', 'SELECT 1 AS k, i AS v FROM generate_series(1, 2) i');
\set VERBOSITY terse
SELECT bucketfdw.upsert('up_b', 'SELECT 1 AS v');
SELECT bucketfdw.upsert('up_b', 'SELECT 1 AS k', key => 'x');
SELECT bucketfdw.upsert('up_b', 'SELECT 1 AS k', key => '');
SELECT bucketfdw.upsert('up_b', 'DELETE FROM up_b');
SELECT bucketfdw.upsert('up_h', 'SELECT 1 AS k');
SELECT bucketfdw.upsert('nobody', 'SELECT 1 AS k');
SELECT bucketfdw.upsert(NULL, 'SELECT 1 AS k');
SELECT bucketfdw.upsert('up_b', NULL);
BEGIN READ ONLY;
SELECT bucketfdw.upsert('up_b', 'SELECT 1 AS k');
ROLLBACK;

-- rights: those of INSERT, DELETE and SELECT of the key
CREATE ROLE regress_up;
GRANT USAGE ON SCHEMA public TO regress_up;
GRANT SELECT, INSERT ON up_b TO regress_up;
SET ROLE regress_up;
SELECT bucketfdw.upsert('up_b', 'SELECT 1 AS k');
RESET ROLE;
GRANT DELETE ON up_b TO regress_up;
SET ROLE regress_up;
SELECT bucketfdw.upsert('up_b', 'SELECT 1 AS k');
RESET ROLE;

-- partitions: rows may come to another one; a partition that is a heap table
CREATE TABLE upp_b (k int, d int, v text) PARTITION BY LIST (d);
CREATE FOREIGN TABLE upp_1 PARTITION OF upp_b FOR VALUES IN (1) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE FOREIGN TABLE upp_2 PARTITION OF upp_b FOR VALUES IN (2) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
CREATE TABLE upp_3 PARTITION OF upp_b FOR VALUES IN (3);
CREATE TABLE upp_h (k int UNIQUE, d int, v text);
INSERT INTO upp_h SELECT i, 1 + i % 3, 'old' FROM generate_series(1, 300) i;
INSERT INTO upp_b TABLE upp_h;
SELECT bucketfdw.upsert('upp_b', $$SELECT i AS k, 1 + i / 2 % 3 AS d, 'new' AS v FROM generate_series(2, 400, 2) i$$);
INSERT INTO upp_h SELECT i, 1 + i / 2 % 3, 'new' FROM generate_series(2, 400, 2) i ON CONFLICT (k) DO UPDATE SET d = excluded.d, v = excluded.v;
SELECT same('SELECT * FROM upp_b');
SELECT tableoid::regclass, count(*) FROM upp_b GROUP BY 1 ORDER BY 1;
SELECT * FROM bucketfdw.verify('up_b');

DROP OWNED BY regress_up;
DROP ROLE regress_up;
DROP TABLE upp_b, upp_h, up_h, up_new;
DROP FOREIGN TABLE up_b;

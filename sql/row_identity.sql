-- Rows that are changed are told apart by a ctid that means something within one statement only: nobody but core gets it.
\set VERBOSITY terse
CREATE SCHEMA identity;
SET search_path = identity, public;
CREATE FOREIGN TABLE t (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO t SELECT i, i FROM generate_series(1, 199) i;
CREATE TABLE p (k int, v int) PARTITION BY RANGE (k);
CREATE FOREIGN TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (100) TO (200);
-- all rows twice
INSERT INTO p TABLE t;
INSERT INTO p TABLE t;
CREATE TABLE h AS TABLE p;

DELETE FROM t WHERE ctid = '(0,1)';
DELETE FROM t a USING t b WHERE a.ctid < b.ctid AND a.k = b.k;
DELETE FROM t WHERE ctid IN (SELECT min(ctid) FROM t GROUP BY k);
UPDATE t SET v = 1 WHERE k = 1 RETURNING ctid;
UPDATE t SET v = length(ctid::text);
SELECT ctid FROM t FOR SHARE;
SELECT k FROM t ORDER BY ctid FOR SHARE;

DELETE FROM p WHERE ctid = '(0,1)';
DELETE FROM p a USING p b WHERE a.ctid < b.ctid AND a.k = b.k;
DELETE FROM p a USING p b WHERE a.ctid = b.ctid AND a.k = b.k;
DELETE FROM h a USING p b WHERE a.ctid = b.ctid AND a.k = b.k;
DELETE FROM h USING (SELECT k, ctid AS c FROM t UNION ALL SELECT k, ctid FROM h) b WHERE h.ctid = b.c;
DELETE FROM h USING (SELECT k, ctid AS c FROM p UNION ALL SELECT k, ctid FROM h) b WHERE h.ctid = b.c;
UPDATE p SET v = 1 WHERE k = 3 RETURNING ctid;
UPDATE p SET v = length(b.ctid::text) FROM p b WHERE p.k = b.k;
UPDATE p SET v = 1 FROM p b WHERE p.k = b.k RETURNING b.ctid;
UPDATE h SET v = 1 FROM p b WHERE h.k = b.k RETURNING b.ctid;
UPDATE p SET v = 1 WHERE EXISTS (SELECT FROM h WHERE h.ctid = p.ctid);
UPDATE p SET v = 1 WHERE k = ANY (SELECT k FROM h WHERE h.ctid > p.ctid OFFSET 0);
UPDATE h SET v = 1 FROM p, LATERAL (SELECT p.ctid AS c OFFSET 0) x WHERE h.ctid = x.c;
SELECT ctid, k FROM p FOR UPDATE;
SELECT k FROM p ORDER BY ctid FOR UPDATE;
SELECT k FROM p WHERE ctid = '(0,1)' FOR UPDATE;
SELECT a.k FROM p a JOIN p b USING (k) WHERE a.ctid < b.ctid FOR UPDATE OF a;

-- core's own use, and ctid of heap tables and partitions
UPDATE h SET v = 1 FROM p b WHERE h.k = 3 AND b.k = h.k AND h.ctid > '(0,0)' RETURNING h.ctid IS NOT NULL AS there;
UPDATE p SET v = 1 FROM h b WHERE p.k = 3 AND b.k = p.k AND b.ctid > '(0,0)' RETURNING b.ctid IS NOT NULL AS there;
DELETE FROM p a USING p b WHERE a.k = b.k AND a.k IN (5, 105) RETURNING a.k, a.tableoid::regclass;
DELETE FROM p WHERE ctid = '(0,1)' AND k >= 100;
SELECT a.k FROM p a JOIN p b USING (k) WHERE a.k < 3 FOR UPDATE;
SELECT count(*), sum(v) FROM p;

-- Another server asks for ctid where it cannot ship a statement whole.
CREATE EXTENSION postgres_fdw;
DO $$ BEGIN
	EXECUTE format('CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
				   split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database());
	EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER loopback OPTIONS (user %L)', current_user);
END $$;
CREATE FOREIGN TABLE far (k int, v int) SERVER loopback OPTIONS (schema_name 'identity', table_name 't');
CREATE FOREIGN TABLE far_p (k int, v int) SERVER loopback OPTIONS (schema_name 'identity', table_name 'p');
UPDATE far SET v = v + 1000 WHERE k = 10 RETURNING *;
DELETE FROM far WHERE k BETWEEN 20 AND 29;
UPDATE far_p SET k = 150, v = 1000 WHERE k = 10 RETURNING *;
INSERT INTO far VALUES (1000, 1);
SELECT * FROM far WHERE k = 1000 FOR UPDATE;
SELECT count(*), sum(v) FROM t;
SELECT count(*), sum(v) FROM p;
UPDATE far SET v = random() WHERE k = 11;
DELETE FROM far USING h WHERE far.k = h.k;
DELETE FROM far WHERE random() < 2;
DELETE FROM far_p USING h WHERE far_p.k = h.k;
UPDATE far_p SET v = random() WHERE k = 150;
SELECT count(*), sum(v) FROM t;
SELECT count(*), sum(v) FROM p;

RESET search_path;
SET client_min_messages = warning;
DROP EXTENSION postgres_fdw CASCADE;
DROP SCHEMA identity CASCADE;

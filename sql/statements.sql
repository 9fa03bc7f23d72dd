-- Other statements and shapes around bucketed tables and their joins: inheritance, domains,
-- recursion, MERGE, materialized views, loops with savepoints, cursors.
CREATE DOMAIN dk AS int;
CREATE TABLE a_h (k int, v int, t text); INSERT INTO a_h SELECT CASE WHEN i%17=0 THEN NULL ELSE i%100 END, i, 't'||i FROM generate_series(1,1500) i;
CREATE TABLE b_h (k bigint, w int, u numeric); INSERT INTO b_h SELECT CASE WHEN i%13=0 THEN NULL ELSE i%150 END, i, i/4.0 FROM generate_series(1,900) i;
CREATE TABLE d_h (k dk, z int); INSERT INTO d_h SELECT i%120, i FROM generate_series(1,300) i;
CREATE FOREIGN TABLE a_b (k int, v int, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '50', sort_by 'k, v desc');
CREATE FOREIGN TABLE b_b (k bigint, w int, u numeric) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '12', block_rows '30');
CREATE FOREIGN TABLE d_b (k dk, z int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO a_b SELECT * FROM a_h WHERE v%2=0; INSERT INTO a_b SELECT * FROM a_h WHERE v%2=1; INSERT INTO b_b SELECT * FROM b_h; INSERT INTO d_b SELECT * FROM d_h;
-- inheritance
CREATE FOREIGN TABLE kid_b () INHERITS (a_b) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE kid_h () INHERITS (a_h);
INSERT INTO kid_b SELECT i%50, 9000+i, 'kid' FROM generate_series(1,70) i; INSERT INTO kid_h SELECT i%50, 9000+i, 'kid' FROM generate_series(1,70) i;
ANALYZE a_b; ANALYZE b_b; ANALYZE d_b;
SELECT q, same(q) FROM unnest(ARRAY[
'SELECT * FROM a_b JOIN b_b USING (k)', 'SELECT * FROM ONLY a_b JOIN b_b USING (k)', 'SELECT a.*, b.w FROM a_b a LEFT JOIN b_b b USING (k) WHERE v > 8990',
'SELECT a.v, d.z FROM a_b a JOIN d_b d ON a.k = d.k', 'SELECT b.w, d.z FROM b_b b JOIN d_b d ON d.k = b.k',
'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n+1 FROM r WHERE n < 5) SELECT n, count(*) FROM r, LATERAL (SELECT 1 FROM ONLY a_b a JOIN b_b b USING (k) WHERE a.v % 5 = n) s GROUP BY n',
'SELECT k, v, w, row_number() OVER (PARTITION BY k ORDER BY v, w) FROM ONLY a_b a JOIN b_b b USING (k)',
'SELECT k, sum(v), count(*) FROM ONLY a_b JOIN b_b USING (k) GROUP BY ROLLUP (k)',
'SELECT v, CASE WHEN EXISTS (SELECT 1 FROM b_b WHERE b_b.k = a_b.k AND w > v) THEN 1 ELSE 0 END FROM ONLY a_b',
'SELECT * FROM (SELECT a.k, v, w FROM ONLY a_b a JOIN b_b b USING (k) ORDER BY v, w OFFSET 10 LIMIT 20) s JOIN d_b USING (k)',
'SELECT generate_series(1, 2), v, w FROM ONLY a_b JOIN b_b USING (k) WHERE v < 50',
'SELECT DISTINCT ON (k) k, v, w FROM ONLY a_b JOIN b_b USING (k) ORDER BY k, v DESC, w',
'SELECT max(v), min(w), count(*) FROM ONLY a_b RIGHT JOIN b_b USING (k) WHERE coalesce(v, 0) % 3 = 0',
'SELECT a.v, b.w FROM ONLY a_b a JOIN b_b b ON a.k = b.k AND a.k = b.w',
'SELECT a.v, b.w FROM ONLY a_b a JOIN b_b b ON a.k = b.k AND b.k = 7',
'SELECT a.v, b.w FROM ONLY a_b a FULL JOIN b_b b ON a.k = b.k AND a.v = b.w WHERE a.k IS DISTINCT FROM 5',
'SELECT x.v FROM ONLY a_b x WHERE x.k = ALL (SELECT k FROM d_b WHERE z < 0) OR x.k IN (SELECT k FROM b_b WHERE w < 20)',
'SELECT a.v, (SELECT max(w) FROM b_b b JOIN d_b d ON d.k = b.k WHERE b.k = a.k) FROM ONLY a_b a WHERE v < 200',
'SELECT count(*) FROM ONLY a_b a NATURAL JOIN b_b b NATURAL JOIN d_b',
'SELECT a.k, b.k AS bk FROM ONLY a_b a LEFT JOIN (b_b b JOIN d_b d ON b.k = d.k) ON a.k = b.k AND d.z > a.v',
'SELECT a.v FROM ONLY a_b a LEFT JOIN b_b b ON a.k = b.k WHERE b.k IS NULL AND a.v > 100',
'SELECT a.v, s.c FROM ONLY a_b a, LATERAL (SELECT count(*) c FROM b_b b LEFT JOIN d_b d ON b.k = d.k WHERE b.k = a.k) s WHERE a.v < 100',
'SELECT string_agg(t, '','' ORDER BY t, w) FROM ONLY a_b JOIN b_b USING (k) WHERE v < 40',
'(SELECT k FROM ONLY a_b INTERSECT ALL SELECT k FROM b_b) EXCEPT SELECT k FROM d_b WHERE z < 40',
'SELECT k, array_agg(DISTINCT w) FROM ONLY a_b JOIN b_b USING (k) GROUP BY k HAVING count(*) > 50']) q;
-- data-modifying statements
CREATE TABLE m AS SELECT DISTINCT k::int AS k, 0 AS n FROM b_h WHERE k IS NOT NULL;
MERGE INTO m USING (SELECT a.k, count(*) c FROM ONLY a_b a JOIN b_b b USING (k) GROUP BY a.k) s ON m.k = s.k WHEN MATCHED THEN UPDATE SET n = s.c;
SELECT sum(n) = (SELECT count(*) FROM ONLY a_h JOIN b_h USING (k)) merged FROM m;
DELETE FROM m USING b_b b, d_b d WHERE b.k = d.k AND m.k = b.k;
SELECT count(*) = (SELECT count(DISTINCT k) FROM b_h WHERE k IS NOT NULL AND k NOT IN (SELECT k FROM d_h)) deleted FROM m;
INSERT INTO a_b SELECT a.k, a.v + 100000, 'copy' FROM ONLY a_b a JOIN b_b b USING (k) WHERE b.w < 50;
INSERT INTO a_h SELECT a.k, a.v + 100000, 'copy' FROM ONLY a_h a JOIN b_h b USING (k) WHERE b.w < 50;
SELECT same('SELECT * FROM ONLY a_b');
CREATE MATERIALIZED VIEW mv AS SELECT k, count(*) c FROM ONLY a_b JOIN b_b USING (k) GROUP BY k;
SELECT sum(c) = (SELECT count(*) FROM ONLY a_h JOIN b_h USING (k)) mv FROM mv;
INSERT INTO b_b VALUES (7, 5000, 1); INSERT INTO b_h VALUES (7, 5000, 1);
REFRESH MATERIALIZED VIEW mv;
SELECT sum(c) = (SELECT count(*) FROM ONLY a_h JOIN b_h USING (k)) mv FROM mv;
-- a loop over a join with savepoints, inserts and an inner join
CREATE FUNCTION walk() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE r record; n bigint := 0; m bigint;
BEGIN
	FOR r IN SELECT a.k, v, w FROM ONLY a_b a JOIN b_b b USING (k) WHERE v < 60 LOOP
		BEGIN
			INSERT INTO b_b VALUES (r.k, -r.v, 0);
			SELECT count(*) INTO m FROM b_b JOIN d_b USING (k) WHERE b_b.k = r.k;
			n := n + m;
			IF r.v % 2 = 0 THEN RAISE EXCEPTION 'back'; END IF;
		EXCEPTION WHEN raise_exception THEN NULL;
		END;
	END LOOP;
	RETURN n;
END $$;
SELECT walk() > 0;
INSERT INTO b_h SELECT a.k, -v, 0 FROM ONLY a_h a JOIN b_h b USING (k) WHERE v < 60 AND v % 2 = 1;
SELECT same('SELECT * FROM b_b'), same('SELECT * FROM ONLY a_b JOIN b_b USING (k)');
SELECT * FROM bucketfdw.verify();
COPY (SELECT count(*) FROM ONLY a_b JOIN b_b USING (k)) TO STDOUT;
SELECT count(*) FROM ONLY a_h JOIN b_h USING (k);
BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT v, w FROM ONLY a_b JOIN b_b USING (k) WHERE v < 10 ORDER BY 1, 2; FETCH 1 FROM c; TRUNCATE b_b; COMMIT; FETCH 2 FROM c; SELECT count(*) FROM b_b;
DROP FUNCTION walk(); DROP MATERIALIZED VIEW mv; DROP TABLE m; DROP FOREIGN TABLE kid_b, a_b, b_b, d_b; DROP TABLE kid_h, a_h, b_h, d_h; DROP DOMAIN dk;

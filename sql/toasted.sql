-- Values that a heap table holds out of line, compressed, or that are expanded in memory: loaded, and routed.
CREATE TABLE out_h (k int, t text, b bytea, a int[], c text);
ALTER TABLE out_h ALTER t SET STORAGE EXTERNAL;
INSERT INTO out_h SELECT i, (SELECT string_agg(md5((i * j)::text), '') FROM generate_series(1, 300) j),
	decode((SELECT string_agg(md5((i + j)::text), '') FROM generate_series(1, 300) j), 'hex'),
	(SELECT array_agg(hashint4(i * j)) FROM generate_series(1, 2000) j), repeat('compressed ', 1000 + i)
FROM generate_series(1, 50) i;
INSERT INTO out_h (k) VALUES (51);
INSERT INTO out_h VALUES (52, 'short', 'short', '{1}', 'short');
SELECT count(*) FILTER (WHERE pg_column_size(t) > 2000 AND pg_column_size(b) > 2000) AS out_of_line,
	count(*) FILTER (WHERE pg_column_size(c) < octet_length(c)) AS compressed FROM out_h;
CREATE FOREIGN TABLE out_b (k int, t text, b bytea, a int[], c text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO out_b SELECT * FROM out_h;
SELECT count(*) AS differ FROM (TABLE out_b EXCEPT ALL TABLE out_h) d;
SELECT count(*) AS rows FROM out_b;
-- as keys
CREATE FOREIGN TABLE out_key (t text, b bytea) SERVER bucketfdw OPTIONS (bucket_by 't, b', buckets '4');
INSERT INTO out_key SELECT t, b FROM out_h;
SELECT count(*) FROM out_key o, out_h h WHERE o.t = h.t AND o.b = h.b;
-- expanded
DO $$
DECLARE x int[] := '{}';
BEGIN
	FOR i IN 1..10 LOOP
		x[i] := i;
		INSERT INTO out_b (k, a) VALUES (100 + i, x);
	END LOOP;
END
$$;
SELECT k, a FROM out_b WHERE k > 107 ORDER BY k;
-- routed: compared, grouped and given out
SET bucketfdw.enable_routing = on;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
ANALYZE out_b, out_h;
EXPLAIN (COSTS OFF) SELECT * FROM out_b o JOIN out_h h USING (k);
SELECT count(*) FILTER (WHERE o.t = h.t AND o.b = h.b AND o.a = h.a AND o.c = h.c) AS same, count(*), sum(octet_length(h.t)), min(left(h.t, 10)), max(h.c) = max(o.c) AS max
FROM out_b o JOIN out_h h USING (k);
SELECT count(*) FROM out_b o JOIN out_h h USING (k) WHERE o.t = h.t AND h.c > o.c || 'x' OR h.b = o.b;
SELECT min(h.t) = min(o.t) AS min, max(h.t) = max(o.t) AS max, min(h.t) = (SELECT min(t) FROM out_h) AS heap FROM out_b o JOIN out_h h USING (k);
DROP FOREIGN TABLE out_b, out_key;
DROP TABLE out_h;

-- What core plans without a bucketed table, and what it expects of joins with relations that are not bucketed, is what it
-- would be without the extension.
CREATE TABLE part_h AS SELECT p, (p + j * 251) % 1000 AS s, j AS cost FROM generate_series(1, 2000) p, generate_series(0, 3) j;
CREATE TABLE sale_h AS SELECT i AS k, i % 2000 + 1 AS p, (i % 2000 + 1 + i % 4 * 251) % 1000 AS s, i % 12 AS m FROM generate_series(1, 20000) i;
SELECT bucketfdw.create_table_as(t || '_b', format('SELECT * FROM %I', t || '_h'), bucket_by => key, buckets => 4) AS rows
FROM (VALUES ('part', 'p'), ('sale', 'p')) v (t, key);
CREATE TABLE months_h (k int, p int, s int, m int) PARTITION BY LIST (m);
CREATE TABLE months_h1 PARTITION OF months_h FOR VALUES IN (0, 1, 2, 3, 4, 5);
CREATE TABLE months_h2 PARTITION OF months_h DEFAULT;
INSERT INTO months_h SELECT * FROM sale_h;
CREATE TABLE months (k int, p int, s int, m int) PARTITION BY LIST (m);
CREATE FOREIGN TABLE months_1 PARTITION OF months FOR VALUES IN (0, 1, 2, 3, 4, 5) SERVER bucketfdw OPTIONS (bucket_by 'p', buckets '4');
CREATE FOREIGN TABLE months_2 PARTITION OF months FOR VALUES IN (6, 7, 8, 9, 10, 11) SERVER bucketfdw OPTIONS (bucket_by 'p', buckets '4');
INSERT INTO months SELECT * FROM sale_h;
ANALYZE part_h, sale_h, part_b, sale_b, months, months_h;

-- the plan with its costs and rows, but for the lines that say why buckets are not used
CREATE FUNCTION explained(query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		plan := plan || CASE WHEN line ~ '^ *Bucket Join: ' THEN '' ELSE line || E'\n' END;
	END LOOP;
	RETURN plan;
END
$$;
CREATE TEMP TABLE queries AS SELECT q FROM unnest(ARRAY[
	'SELECT * FROM part_h JOIN sale_h USING (p, s)',
	'SELECT p, count(*) FROM part_h JOIN sale_h USING (p) GROUP BY p ORDER BY 2 DESC LIMIT 3',
	'SELECT k FROM sale_h a WHERE NOT EXISTS (SELECT FROM sale_h b WHERE a.p = b.p AND a.s <> b.s)',
	'SELECT DISTINCT ON (p) p, k FROM sale_h ORDER BY p, k DESC',
	'SELECT k, rank() OVER (PARTITION BY p ORDER BY s) FROM sale_h',
	'SELECT * FROM months_h JOIN part_h USING (p, s) WHERE m < 4']) q;
SET bucketfdw.enable = off;
CREATE TEMP TABLE without AS SELECT q, explained(q) AS plan FROM queries;
RESET bucketfdw.enable;
SELECT explained(q) = plan AS same_plan, q FROM without;

-- with bucketed tables, as long as none of our nodes may be taken
TRUNCATE queries;
INSERT INTO queries SELECT q FROM unnest(ARRAY[
	'SELECT * FROM part_b JOIN sale_h USING (p, s)',
	'SELECT * FROM part_h JOIN sale_b USING (p, s)',
	'SELECT * FROM part_h JOIN months USING (p, s)',
	'SELECT * FROM part_b JOIN months_h USING (p, s)',
	'SELECT * FROM part_b a JOIN part_h b USING (p, s) JOIN sale_h c USING (p, s)',
	'SELECT k FROM sale_h a WHERE NOT EXISTS (SELECT FROM sale_b b WHERE a.p = b.p AND a.s <> b.s)',
	'SELECT k FROM sale_b a WHERE NOT EXISTS (SELECT FROM sale_h b WHERE a.p = b.p AND a.s <> b.s)',
	'SELECT p, s, count(*) FROM part_b JOIN sale_h USING (p, s) GROUP BY p, s']) q;
SET bucketfdw.enable = off;
TRUNCATE without;
INSERT INTO without SELECT q, explained(q) FROM queries;
RESET bucketfdw.enable;
SET bucketfdw.enable_bucketjoin = off; SET bucketfdw.enable_bucketagg = off; SET bucketfdw.enable_routing = off;
-- lookups are scans of ours, too
SET bucketfdw.enable_pruning = off;
SELECT explained(q) = plan AS same_plan, q FROM without;
RESET bucketfdw.enable_bucketjoin; RESET bucketfdw.enable_bucketagg; RESET bucketfdw.enable_routing; RESET bucketfdw.enable_pruning;

-- and where they may be taken: the rows of a join are core's, whichever way it can be made.  Above an anti join with a
-- further condition, which core expects to leave one row, a bucket join expects more of its own path alone.
TRUNCATE queries;
INSERT INTO queries SELECT q FROM unnest(ARRAY[
	'SELECT cost FROM part_b JOIN sale_h USING (p, s)',
	'SELECT x.k, y.cost FROM (SELECT k, s FROM sale_b a WHERE NOT EXISTS (SELECT FROM sale_b b WHERE a.p = b.p AND a.s <> b.s)) x JOIN part_h y USING (s)',
	'SELECT x.k, y.cost FROM (SELECT k, s FROM sale_b a WHERE NOT EXISTS (SELECT FROM sale_h b WHERE a.p = b.p AND a.s <> b.s)) x JOIN part_h y USING (s)']) q;
SET bucketfdw.enable = off;
CREATE TEMP TABLE rows_without AS SELECT q, expected(q) AS rows FROM queries;
RESET bucketfdw.enable;
SET enable_nestloop = off; SET enable_hashjoin = off;
SELECT expected(q) = rows AS same_rows, same(q), q FROM rows_without;
RESET enable_nestloop; RESET enable_hashjoin;
DROP FUNCTION explained(text);
DROP TABLE queries, without, rows_without, months, months_h, part_h, sale_h;
DROP FOREIGN TABLE part_b, sale_b;

-- Compaction, rebucketing and upkeep of tables with deleted rows.
\set VERBOSITY terse
SET search_path = public;
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;

CREATE FOREIGN TABLE cd_b (k int, d date, v numeric(10,2), t text)
	SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', sort_by 'k, d desc', block_rows '100');
CREATE TABLE cd_h (k int, d date, v numeric(10,2), t text);
CREATE FUNCTION state(OUT files bigint, OUT runs bigint, OUT rows bigint, OUT deleted bigint, OUT vectors bigint) LANGUAGE sql AS $$
	SELECT files, runs, rows,
		(SELECT coalesce(sum(v.deleted_rows), 0) FROM bucketfdw.delete_vectors v WHERE v.relid = t.relid),
		(SELECT count(*) FROM bucketfdw.delete_vectors v WHERE v.relid = t.relid)
	FROM bucketfdw.tables t WHERE relid = 'cd_b'::regclass
$$;
CREATE FUNCTION checks() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT same('SELECT * FROM cd_b')
	UNION ALL SELECT same('SELECT k, count(*), sum(v), max(t), min(d) FROM cd_b GROUP BY k')
	UNION ALL SELECT same('SELECT a.k, count(*), sum(b.v) FROM cd_b a JOIN cd_b b USING (k) GROUP BY a.k')
	UNION ALL SELECT same('SELECT * FROM cd_b WHERE k = 33 OR k IS NULL')
	UNION ALL SELECT format('%s defects', count(*)) FROM bucketfdw.verify()
$$;
-- the same to both tables
CREATE PROCEDURE both_do(command text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format(command, 'cd_b');
	EXECUTE format(command, 'cd_h');
END
$$;
CREATE PROCEDURE fill(n int, name text) LANGUAGE plpgsql AS $$
BEGIN
	-- equal rows, equal sort keys with other values, no keys
	CALL both_do(format('INSERT INTO %%s SELECT nullif(mod(g, 97), 13), date ''2024-01-01'' + mod(g, 7), nullif(mod(g, 50), 3), nullif(%L || mod(g, 31), ''a5'')
		FROM generate_series(1, %s) g', name, n));
	COMMIT;
END
$$;
CALL fill(3000, 'a');
CALL fill(3000, 'b');
CALL fill(500, 'c');
SELECT * FROM state();

-- few rows at random: they stay, but go with all
CALL both_do('DELETE FROM %s WHERE t = ''a7'' AND v > 25');
SELECT * FROM state();
CALL bucketfdw.compact('cd_b');
SELECT * FROM state();
SELECT due FROM bucketfdw.tables WHERE relid = 'cd_b'::regclass;
SELECT * FROM checks();
CALL bucketfdw.compact('cd_b', true);
SELECT * FROM state();
SELECT * FROM checks();
-- and again, of one run for each bucket
CALL both_do('DELETE FROM %s WHERE t = ''b7''');
SELECT * FROM state();
CALL bucketfdw.compact('cd_b', true);
SELECT * FROM state();
SELECT * FROM checks();
CALL bucketfdw.compact('cd_b', true);
SELECT rows, deleted FROM state();

-- more than a fifth of a file: while nothing is appended; compact() does it
CALL both_do('DELETE FROM %s WHERE v < 12');
SELECT deleted > 0.2 * (rows + deleted) AS many FROM state();
ANALYZE cd_b;
SELECT due FROM bucketfdw.tables WHERE relid = 'cd_b'::regclass;
CALL bucketfdw.maintain('cd_b');
SELECT deleted > 0 AS still FROM state();
CALL bucketfdw.compact('cd_b');
SELECT deleted FROM state();
SELECT * FROM checks();

-- more than half: at once
CALL both_do('DELETE FROM %s WHERE v > 22');
ANALYZE cd_b;
SELECT due FROM bucketfdw.tables WHERE relid = 'cd_b'::regclass;
CALL bucketfdw.maintain('cd_b');
SELECT deleted FROM state();
SELECT due FROM bucketfdw.tables WHERE relid = 'cd_b'::regclass;
SELECT * FROM checks();
-- what was rewritten and is there is counted
SELECT bool_and(rewritten BETWEEN rows AND 4 * rows) AS counted FROM bucketfdw.manifest WHERE relid = 'cd_b'::regclass;

-- eight deletes of a file
CALL fill(3000, 'd');
CALL bucketfdw.compact('cd_b', true);
DO $$
BEGIN
	FOR i IN 1..9 LOOP
		CALL both_do(format('DELETE FROM %%s WHERE t = %L', 'd' || i));
		COMMIT;
	END LOOP;
END
$$;
SELECT vectors, deleted > 0 AS deleted FROM state();
ANALYZE cd_b;
SELECT due FROM bucketfdw.tables WHERE relid = 'cd_b'::regclass;
CALL bucketfdw.maintain('cd_b');
SELECT vectors, deleted > 0 AS deleted FROM state();
SELECT due FROM bucketfdw.tables WHERE relid = 'cd_b'::regclass;
SELECT * FROM checks();
CALL bucketfdw.compact('cd_b');
SELECT vectors FROM state();

-- another number of buckets, another key
CALL both_do('DELETE FROM %s WHERE k %% 5 = 1');
CALL bucketfdw.rebucket('cd_b', buckets => 8);
SELECT deleted, vectors FROM state();
SELECT * FROM checks();
CALL both_do('DELETE FROM %s WHERE k %% 5 = 2');
CALL bucketfdw.rebucket('cd_b', bucket_by => 't');
SELECT deleted, vectors FROM state();
SELECT * FROM checks();
CALL bucketfdw.rebucket('cd_b', bucket_by => 'k', buckets => 4);

-- rows in the catalog
RESET bucketfdw.inline_limit;
CALL fill(100, 'e');
CALL fill(100, 'f');
CALL both_do('DELETE FROM %s WHERE t IN (''e7'', ''f8'', ''b9'')');
SELECT vectors, (SELECT count(*) FROM bucketfdw.inline_rows WHERE relid = 'cd_b'::regclass) FROM state();
SELECT * FROM checks();
CALL bucketfdw.compact('cd_b', true);
SELECT vectors, (SELECT count(*) FROM bucketfdw.inline_rows WHERE relid = 'cd_b'::regclass) FROM state();
SELECT * FROM checks();
SET bucketfdw.inline_limit = 0;

-- all rows of files, and of a bucket; then all
CALL fill(1000, 'g');
CALL both_do('DELETE FROM %s WHERE t LIKE ''g%%'' OR t IS NULL');
SELECT * FROM checks();
CALL bucketfdw.compact('cd_b', true);
SELECT deleted, vectors FROM state();
CALL both_do('DELETE FROM %s WHERE bucketfdw.bucket_id(4, k) = 2');
CALL bucketfdw.compact('cd_b', true);
SELECT count(*) FROM bucketfdw.bucket_stats('cd_b') WHERE runs > 0;
SELECT * FROM checks();
DELETE FROM cd_b;
CALL bucketfdw.compact('cd_b', true);
SELECT * FROM state();
INSERT INTO cd_b SELECT * FROM cd_h;
SELECT * FROM checks();

-- UPDATE, and a transaction that inserts, updates, deletes
CALL bucketfdw.compact('cd_b', true);
CALL both_do('UPDATE %s SET v = v + 1, k = k + 1 WHERE d < date ''2024-01-04''');
CALL bucketfdw.compact('cd_b');
SELECT * FROM checks();
BEGIN;
CALL both_do('INSERT INTO %s SELECT g, ''2025-01-01'', g, ''new'' FROM generate_series(1, 1000) g');
CALL both_do('UPDATE %s SET t = ''newer'' WHERE t = ''new'' AND k %% 2 = 0');
CALL both_do('DELETE FROM %s WHERE t = ''new'' AND k %% 3 = 0');
COMMIT;
SELECT * FROM checks();
CALL bucketfdw.compact('cd_b', true);
SELECT deleted, vectors FROM state();
SELECT * FROM checks();

-- statistics of before the first ANALYZE do not count rows that are gone
CREATE FOREIGN TABLE cd_s (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1');
INSERT INTO cd_s SELECT g, nullif(g % 10, 0) FROM generate_series(1, 1000) g;
DELETE FROM cd_s WHERE k <= 600;
CALL bucketfdw.compact('cd_s', true);
SELECT rows, stats_rows FROM bucketfdw.manifest WHERE relid = 'cd_s'::regclass;

-- partitions
CREATE TABLE cd_p (k int, v int) PARTITION BY RANGE (v);
CREATE FOREIGN TABLE cd_p1 PARTITION OF cd_p FOR VALUES FROM (0) TO (100) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE FOREIGN TABLE cd_p2 PARTITION OF cd_p FOR VALUES FROM (100) TO (200) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
INSERT INTO cd_p SELECT g, g FROM generate_series(0, 199) g;
DELETE FROM cd_p WHERE v % 3 = 0;
CALL bucketfdw.compact('cd_p', true);
SELECT count(*), sum(v), (SELECT count(*) FROM bucketfdw.delete_vectors WHERE relid IN ('cd_p1'::regclass, 'cd_p2'::regclass)) FROM cd_p;

-- nothing stays when the table goes
SELECT 'cd_b'::regclass::oid AS relid \gset
DELETE FROM cd_b WHERE k = 1;
DROP FOREIGN TABLE cd_b;
SELECT count(*) FROM bucketfdw.delete_vectors WHERE relid = :relid;
SELECT reloptions FROM pg_class WHERE oid = 'bucketfdw.delete_vectors'::regclass;
DROP FOREIGN TABLE cd_s;
DROP TABLE cd_h, cd_p;
DROP PROCEDURE fill(int, text);
DROP PROCEDURE both_do(text);
DROP FUNCTION state();
DROP FUNCTION checks();

-- Upkeep: what is due, and maintain(), which does it at once.
\set VERBOSITY terse
SET search_path = public;
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;

CREATE FOREIGN TABLE up_b (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', sort_by 'k, v desc');
CREATE FUNCTION state(rel regclass) RETURNS TABLE (rows bigint, max_runs int, due text[], written boolean, compacted boolean, analyzed boolean)
	LANGUAGE sql AS $$
	SELECT rows, max_runs, due, last_write > now() - interval '1 hour', last_compact > now() - interval '1 hour',
		last_analyze > now() - interval '1 hour'
	FROM bucketfdw.tables WHERE relid = rel
$$;
CREATE PROCEDURE append(rel regclass, times int, n int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..times LOOP
		EXECUTE format('INSERT INTO %s SELECT g, %L || g FROM generate_series(1, %s) g', rel, i, n);
		COMMIT;
	END LOOP;
END
$$;

-- never written to
SELECT * FROM state('up_b');
CALL bucketfdw.maintain('up_b');
SELECT * FROM state('up_b');

-- too few rows and runs to do anything
CALL append('up_b', 2, 25);
SELECT * FROM state('up_b');
INSERT INTO up_b VALUES (0);
SELECT * FROM state('up_b');
CALL bucketfdw.maintain('up_b');
SELECT * FROM state('up_b');
SELECT last_analysis IS NOT NULL AS remembered FROM bucketfdw.upkeep_state WHERE relid = 'up_b'::regclass;

-- a tenth more, and fifty
CALL append('up_b', 1, 55);
SELECT due FROM state('up_b');
INSERT INTO up_b VALUES (0);
SELECT due FROM state('up_b');

-- too many runs
CALL append('up_b', 20, 25);
SELECT rows, max_runs, due FROM state('up_b');
SELECT max(last_write) AS last_write FROM bucketfdw.tables WHERE relid = 'up_b'::regclass \gset
CALL bucketfdw.maintain();
SELECT rows, max_runs <= 13 AS few, due, compacted, analyzed FROM state('up_b');
SELECT last_write = :'last_write' AS remembered FROM bucketfdw.tables WHERE relid = 'up_b'::regclass;
SELECT reltuples FROM pg_class WHERE oid = 'up_b'::regclass;
SELECT count(*) FROM bucketfdw.verify('up_b');

-- many rows less
TRUNCATE up_b;
SELECT due[1] FROM state('up_b');
CALL bucketfdw.maintain('up_b');
SELECT due[1], written FROM state('up_b');
SELECT reltuples FROM pg_class WHERE oid = 'up_b'::regclass;

-- the settings of the server
SELECT name, setting, unit, context FROM pg_settings WHERE name LIKE 'bucketfdw.%upkeep%' ORDER BY name;
SET bucketfdw.upkeep_runs = 4;
SET bucketfdw.upkeep = on;
RESET bucketfdw.upkeep;

-- the option
ALTER FOREIGN TABLE up_b OPTIONS (ADD upkeep 'perhaps');
ALTER FOREIGN TABLE up_b OPTIONS (ADD upkeep 'false');
CREATE FOREIGN TABLE up_x (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', up_keep 'true');

-- it is for the table to be left alone, not for who asks
CALL append('up_b', 1, 200);
CALL bucketfdw.maintain('up_b');
SELECT rows, due FROM state('up_b');

-- rows that stand in the catalog
RESET bucketfdw.inline_limit;
CALL append('up_b', 200, 1);
SELECT rows, due, written FROM state('up_b');
CALL append('up_b', 1, 1);
SELECT rows, max_runs, due FROM state('up_b');
CALL bucketfdw.maintain('up_b');
SELECT rows, max_runs, due FROM state('up_b');
SELECT count(*) FROM bucketfdw.inline_rows WHERE relid = 'up_b'::regclass;
SET bucketfdw.inline_limit = 0;

-- partitions
CREATE TABLE up_p (k int, v int) PARTITION BY RANGE (v);
CREATE FOREIGN TABLE up_p1 PARTITION OF up_p FOR VALUES FROM (0) TO (100) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE FOREIGN TABLE up_p2 PARTITION OF up_p FOR VALUES FROM (100) TO (200) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
INSERT INTO up_p SELECT g, g FROM generate_series(0, 199) g;
SELECT relid, due FROM bucketfdw.tables WHERE relid::text LIKE 'up_p_' ORDER BY relid::text;
CALL bucketfdw.maintain('up_p');
SELECT relid, due FROM bucketfdw.tables WHERE relid::text LIKE 'up_p_' ORDER BY relid::text;

-- not in a transaction, and who may
BEGIN;
CALL bucketfdw.maintain('up_b');
ROLLBACK;
CREATE TABLE up_h (k int);
CALL bucketfdw.maintain('up_h');
CREATE ROLE regress_bf_up;
GRANT SELECT ON up_b TO regress_bf_up;
CALL append('up_b', 1, 400);
SET ROLE regress_bf_up;
CALL bucketfdw.maintain('up_b');
CALL bucketfdw.maintain();
SELECT due FROM bucketfdw.tables WHERE relid = 'up_b'::regclass;
RESET ROLE;
ALTER FOREIGN TABLE up_b OWNER TO regress_bf_up;
GRANT USAGE ON SCHEMA public TO regress_bf_up;
SET ROLE regress_bf_up;
CALL bucketfdw.maintain();
SELECT due FROM bucketfdw.tables WHERE relid = 'up_b'::regclass;
RESET ROLE;

-- nothing stays when the table goes
SELECT 'up_b'::regclass::oid AS relid \gset
DROP FOREIGN TABLE up_b;
SELECT count(*) FROM bucketfdw.upkeep_state WHERE relid = :relid;
DROP TABLE up_p, up_h;
DROP PROCEDURE append(regclass, int, int);
DROP FUNCTION state(regclass);
DROP OWNED BY regress_bf_up;
DROP ROLE regress_bf_up;

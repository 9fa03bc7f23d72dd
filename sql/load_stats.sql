-- Estimates before the first ANALYZE, from what loading saw.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
\set ECHO queries
SET client_min_messages = warning;
CREATE SCHEMA load_stats;
SET search_path = load_stats, public;

-- within a factor of the truth? else what was expected and what came
CREATE FUNCTION close(query text, factor float8 DEFAULT 2) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	e float8 := greatest(expected(query), 1);
	r float8;
BEGIN
	EXECUTE format('SELECT greatest(count(*), 1) FROM (%s) q', query) INTO r;
	IF e <= r * factor AND e >= r / factor THEN
		RETURN 'close';
	END IF;
	RETURN format('%s rows expected, %s came', e, r);
END
$$;

CREATE TABLE src AS
SELECT g AS id,
	   (g * 7919 % 20000)::bigint AS customer,
	   CASE WHEN g % 4 = 0 THEN NULL ELSE g % 3 END AS kind,
	   ((g * 31 % 100000) / 100.0)::numeric(10,2) AS amount,
	   date '2024-01-01' + (g / 100) % 400 AS day,
	   CASE WHEN g % 10 < 6 THEN 'open' WHEN g % 10 < 9 THEN 'paid' ELSE 'lost ' || g % 7 END AS status,
	   repeat('x', g % 40) AS note,
	   (g % 2000) / 8.0::float8 AS score,
	   ('[' || g % 5 || ']')::jsonb AS doc
FROM generate_series(1, 40000) g;
CREATE FOREIGN TABLE t (id int, customer bigint, kind int, amount numeric(10,2), day date, status text, note text,
						score float8, doc jsonb)
	SERVER bucketfdw OPTIONS (bucket_by 'customer', buckets '16');
INSERT INTO t SELECT * FROM src;

CREATE TABLE queries (no int GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO queries (query) VALUES
	('SELECT * FROM t'),
	-- equality: a common value, a rare one, the key, none
	('SELECT * FROM t WHERE status = ''open'''),
	('SELECT * FROM t WHERE status = ''paid'''),
	('SELECT * FROM t WHERE status = ''lost 3'''),
	('SELECT * FROM t WHERE status <> ''open'''),
	('SELECT * FROM t WHERE status IN (''open'', ''paid'')'),
	('SELECT * FROM t WHERE customer = 42'),
	('SELECT * FROM t WHERE customer IN (1, 2, 3, 4, 5, 6)'),
	('SELECT * FROM t WHERE id = 77'),
	('SELECT * FROM t WHERE day = ''2024-03-01'''),
	-- nulls
	('SELECT * FROM t WHERE kind IS NULL'),
	('SELECT * FROM t WHERE kind IS NOT NULL'),
	('SELECT * FROM t WHERE kind = 2'),
	('SELECT * FROM t WHERE customer IS NULL'),
	-- ranges
	('SELECT * FROM t WHERE id <= 4000'),
	('SELECT * FROM t WHERE id BETWEEN 10000 AND 20000'),
	('SELECT * FROM t WHERE day < ''2024-02-01'''),
	('SELECT * FROM t WHERE day >= ''2025-01-01'''),
	('SELECT * FROM t WHERE amount < 100'),
	('SELECT * FROM t WHERE score BETWEEN 50 AND 100'),
	('SELECT * FROM t WHERE customer > 15000'),
	('SELECT * FROM t WHERE status LIKE ''lost%'''),
	-- joins
	('SELECT * FROM t a JOIN t b ON a.customer = b.customer WHERE b.id <= 2000'),
	('SELECT * FROM t a JOIN src s ON a.id = s.id'),
	('SELECT * FROM t a WHERE EXISTS (SELECT FROM t b WHERE b.customer = a.customer AND b.id < 1000)'),
	-- groups
	('SELECT status FROM t GROUP BY status'),
	('SELECT customer FROM t GROUP BY customer'),
	('SELECT day FROM t GROUP BY day'),
	('SELECT DISTINCT kind, status FROM t'),
	('SELECT doc FROM t GROUP BY doc'),
	('SELECT note FROM t GROUP BY note');
ANALYZE src;
SELECT close(query, 2.5), query FROM queries ORDER BY no;

-- the width of a column: 20 bytes on average
CREATE FUNCTION width(query text) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Width';
END
$$;
SELECT width('SELECT note FROM t') BETWEEN 18 AND 23 AS note, width('SELECT id, note FROM t') BETWEEN 22 AND 27 AS both;

-- more writes: values that were there, and new ones
INSERT INTO t SELECT id + 40000, customer, kind, amount, day + 400, status, note, score, doc FROM src;
INSERT INTO t SELECT id + 80000, customer + 20000, kind, amount, day, 'new', note, score, doc FROM src;
SELECT close(query, 2.5), query FROM queries ORDER BY no;
SELECT close('SELECT * FROM t WHERE status = ''new'''), close('SELECT * FROM t WHERE day > ''2025-06-01'''),
	   close('SELECT customer FROM t GROUP BY customer', 1.5);
-- another session sees the same
\c -
SET bucketfdw.inline_limit = 0;
SET search_path = load_stats, public;
SELECT close('SELECT * FROM t WHERE status = ''new'''), close('SELECT customer FROM t GROUP BY customer', 1.5);

-- rows of the transaction count at once, those of an aborted subtransaction no more
BEGIN;
SAVEPOINT s;
INSERT INTO t SELECT id, customer, kind, amount, day, 'gone', note, score, doc FROM src;
SELECT close('SELECT * FROM t WHERE status = ''gone''');
ROLLBACK TO s;
SELECT expected('SELECT * FROM t WHERE status = ''gone''') < 100 AS few;
COMMIT;

-- TRUNCATE takes them away
BEGIN;
TRUNCATE t;
INSERT INTO t SELECT id, customer, kind, amount, day, 'again', note, score, doc FROM src WHERE id <= 5000;
SELECT close('SELECT * FROM t WHERE status = ''again'''), close('SELECT * FROM t'), close('SELECT status FROM t GROUP BY status');
ROLLBACK;
SELECT close('SELECT * FROM t WHERE status = ''new''');

-- writes of few rows, one by one
CREATE FOREIGN TABLE small (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
SELECT expected('SELECT * FROM small WHERE k = 1') AS empty;
DO $$
BEGIN
	FOR i IN 1 .. 100 LOOP
		INSERT INTO small VALUES (i % 10, CASE WHEN i > 50 THEN NULL ELSE 'v' END);
		COMMIT;
	END LOOP;
END
$$;
SELECT runs FROM bucketfdw.tables WHERE relid = 'small'::regclass;
SELECT close('SELECT * FROM small WHERE k = 3'), close('SELECT k FROM small GROUP BY k'),
	   close('SELECT * FROM small WHERE v IS NULL'), close('SELECT * FROM small WHERE v = ''v''');

-- ANALYZE knows better, and is not overridden
TRUNCATE small;
INSERT INTO small SELECT g, 'x' FROM generate_series(1, 1000) g;
ANALYZE small;
INSERT INTO small SELECT g, 'y' FROM generate_series(1, 9000) g;
SELECT expected('SELECT * FROM small WHERE v = ''x''') > 5000 AS analyzed;
-- a column that ANALYZE has not seen
ALTER FOREIGN TABLE small ADD COLUMN w int;
INSERT INTO small SELECT g, 'z', g % 2 FROM generate_series(1, 10000) g;
SELECT close('SELECT w FROM small GROUP BY w'), close('SELECT * FROM small WHERE w = 1');

-- rows of older versions have no statistics
UPDATE bucketfdw.manifest SET column_stats = NULL WHERE relid = 't'::regclass;
SELECT close('SELECT * FROM t'), expected('SELECT * FROM t WHERE status = ''new''') BETWEEN 1 AND 5000 AS default_share;
INSERT INTO t SELECT * FROM src;
SELECT close('SELECT * FROM t WHERE status = ''lost 3''', 5), close('SELECT * FROM t WHERE kind IS NULL');
-- nor does nonsense hurt
UPDATE bucketfdw.manifest SET column_stats = '\x0100000001000000ffff' WHERE relid = 't'::regclass;
SELECT close('SELECT * FROM t');
UPDATE bucketfdw.manifest SET column_stats = decode(repeat('01000000', 200), 'hex') WHERE relid = 't'::regclass;
SELECT close('SELECT * FROM t'), expected('SELECT * FROM t WHERE kind = 1 AND status < ''p'' AND customer > 5') > 0 AS ok;

-- partitions: the parent's estimates are those of all its partitions
CREATE TABLE part (id int, customer bigint, day date, status text) PARTITION BY RANGE (day);
CREATE FOREIGN TABLE part_1 PARTITION OF part FOR VALUES FROM ('2024-01-01') TO ('2024-07-01')
	SERVER bucketfdw OPTIONS (bucket_by 'customer', buckets '16');
-- attribute numbers differ
CREATE FOREIGN TABLE part_2 (status text, dropped int, customer bigint, day date, id int)
	SERVER bucketfdw OPTIONS (bucket_by 'customer', buckets '16');
ALTER FOREIGN TABLE part_2 DROP COLUMN dropped;
ALTER TABLE part ATTACH PARTITION part_2 FOR VALUES FROM ('2024-07-01') TO ('2026-01-01');
INSERT INTO part SELECT id, customer, day, status FROM src;
SELECT close(q), q FROM unnest(ARRAY[
	'SELECT * FROM part WHERE status = ''paid''',
	'SELECT customer FROM part GROUP BY customer',
	'SELECT status FROM part GROUP BY status',
	'SELECT * FROM part a JOIN part b USING (customer) WHERE a.id <= 1000',
	'SELECT * FROM part WHERE day < ''2024-02-01''']) q;
-- analyzed partitions of a parent that is not
ANALYZE part_1, part_2;
SELECT close('SELECT customer FROM part GROUP BY customer'), close('SELECT status FROM part GROUP BY status');
-- a partition that is no bucketed table: no statistics of the parent
CREATE TABLE part_3 PARTITION OF part FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
SELECT expected('SELECT status FROM part GROUP BY status') AS default_groups;

-- a large write and a small one: each has the share of its rows
CREATE FOREIGN TABLE two (k int, d date) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
INSERT INTO two SELECT g, date '2020-01-01' + g % 1000 FROM generate_series(1, 40000) g;
INSERT INTO two SELECT g, date '2024-01-01' + g % 500 FROM generate_series(1, 8000) g;
SELECT expected($$SELECT 1 FROM two WHERE d >= '2024-01-01'$$) BETWEEN 7000 AND 10500 AS recent,
	expected($$SELECT 1 FROM two WHERE d < '2021-01-01'$$) BETWEEN 12000 AND 17000 AS old;

-- statistics reach no operator that could show rows which the user may not see
CREATE ROLE regress_load_stats;
GRANT USAGE ON SCHEMA load_stats TO regress_load_stats;
CREATE FUNCTION leak(int, int) RETURNS boolean
LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'leaked %', $1; RETURN $1 < $2; END $$;
CREATE OPERATOR <<< (LEFTARG = int, RIGHTARG = int, FUNCTION = leak, RESTRICT = scalarltsel);
CREATE FOREIGN TABLE secret (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
INSERT INTO secret SELECT g % 3, g % 3 FROM generate_series(1, 100) g;
CREATE VIEW open_secret WITH (security_barrier) AS SELECT * FROM secret WHERE k < 0;
GRANT SELECT ON open_secret TO regress_load_stats;
GRANT EXECUTE ON FUNCTION leak TO regress_load_stats;
SET client_min_messages = notice;
SET ROLE regress_load_stats;
EXPLAIN (COSTS off) SELECT * FROM open_secret WHERE v <<< 1;
RESET ROLE;
GRANT SELECT ON secret TO regress_load_stats;
SET ROLE regress_load_stats;
-- here the user may see all
EXPLAIN (COSTS off) SELECT * FROM secret WHERE v <<< 1;
SELECT has_table_privilege('bucketfdw.manifest', 'SELECT') AS may_read_the_catalog;
RESET ROLE;
SET client_min_messages = warning;

\c -
SET bucketfdw.inline_limit = 0;
SET client_min_messages = warning;
DROP SCHEMA load_stats CASCADE;
DROP ROLE regress_load_stats;

-- What DDL does to bucketed tables: options, columns, constraints, partitions.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA ddl;
SET search_path = ddl, public;

-- options as they stand after CREATE
CREATE FUNCTION options(rel regclass) RETURNS text[] LANGUAGE sql
	AS 'SELECT ftoptions FROM pg_foreign_table WHERE ftrelid = rel';
CREATE FUNCTION spec(rel regclass, OUT spec_version int, OUT bucket_by text[], OUT buckets int, OUT sort_by text[])
	LANGUAGE sql AS 'SELECT spec_version, bucket_by, buckets, sort_by FROM bucketfdw.tables WHERE relid = rel';

CREATE FOREIGN TABLE plain (a int, b text, c date, d float8) SERVER bucketfdw OPTIONS (bucket_by 'a');
SELECT options('plain');
SELECT * FROM spec('plain');
SET bucketfdw.default_buckets = 16;
CREATE FOREIGN TABLE sixteen (a int, b text) SERVER bucketfdw OPTIONS (bucket_by 'a, b', sort_by 'a, b');
SELECT options('sixteen');
RESET bucketfdw.default_buckets;
SELECT options('sixteen');
SELECT relid, joins_with FROM bucketfdw.tables WHERE relid::text IN ('plain', 'sixteen') ORDER BY relid::text;

-- temporary tables are refused, and leave nothing
CREATE FOREIGN TABLE pg_temp.t (a int) SERVER bucketfdw OPTIONS (bucket_by 'a');
CREATE FOREIGN TABLE bad (a int) SERVER bucketfdw;
CREATE FOREIGN TABLE bad (a int) SERVER bucketfdw OPTIONS (bucket_by 'b');
CREATE FOREIGN TABLE bad (a int, j json) SERVER bucketfdw OPTIONS (bucket_by 'j');
SELECT count(*) FROM bucketfdw.spec s WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = s.relid);

-- RENAME follows into the options
CREATE FOREIGN TABLE renamed (a int, "B c" text, d date) SERVER bucketfdw
	OPTIONS (bucket_by 'a, "B c"', buckets '8', sort_by 'a, "B c", d desc');
INSERT INTO renamed SELECT i % 10, 'x' || i % 7, '2020-01-01'::date + i FROM generate_series(1, 100) i;
ALTER FOREIGN TABLE renamed RENAME a TO key;
ALTER TABLE renamed RENAME "B c" TO "select";
ALTER VIEW renamed RENAME d TO day;
SELECT options('renamed');
INSERT INTO renamed SELECT i % 10, 'x' || i % 7, '2021-01-01'::date + i FROM generate_series(1, 100) i;
SELECT spec_version, count(*), sum(rows) FROM bucketfdw.files WHERE relid = 'renamed'::regclass GROUP BY 1;
SELECT count(*), count(DISTINCT ("select", key)) FROM renamed;
SELECT * FROM bucketfdw.verify('renamed');
ALTER FOREIGN TABLE renamed RENAME TO renamed_too;
CREATE SCHEMA ddl_other;
ALTER FOREIGN TABLE renamed_too SET SCHEMA ddl_other;
SELECT count(*), sum(key) FROM ddl_other.renamed_too;
SELECT relid FROM bucketfdw.tables WHERE relid = 'ddl_other.renamed_too'::regclass;
DROP FOREIGN TABLE ddl_other.renamed_too;

-- also while the triggers are off: the number of the column finds it
CREATE FOREIGN TABLE behind (a int, b int) SERVER bucketfdw OPTIONS (bucket_by 'a', buckets '4', sort_by 'a, b');
ALTER EVENT TRIGGER bucketfdw_ddl_end DISABLE;
ALTER FOREIGN TABLE behind RENAME a TO k;
ALTER EVENT TRIGGER bucketfdw_ddl_end ENABLE ALWAYS;
INSERT INTO behind SELECT i, i FROM generate_series(1, 50) i;
SELECT count(*) FROM behind WHERE k = 7;
SELECT * FROM spec('behind');
-- a table they missed registers itself
ALTER EVENT TRIGGER bucketfdw_ddl_end DISABLE;
CREATE FOREIGN TABLE missed (a int, b int) SERVER bucketfdw OPTIONS (bucket_by 'a', buckets '4');
ALTER EVENT TRIGGER bucketfdw_ddl_end ENABLE ALWAYS;
SELECT count(*) FROM missed;
INSERT INTO missed SELECT i, i FROM generate_series(1, 50) i;
SELECT count(*) FROM missed;
SELECT * FROM spec('missed');
-- and they are active where ordinary ones are not
SET session_replication_role = replica;
CREATE FOREIGN TABLE replica (a int) SERVER bucketfdw OPTIONS (bucket_by 'a');
RESET session_replication_role;
SELECT options('replica');

-- ALTER ... OPTIONS: the number of buckets at any time, for later writes
CREATE FOREIGN TABLE opts (a int, b int, c text) SERVER bucketfdw OPTIONS (bucket_by 'a', buckets '8');
INSERT INTO opts SELECT i, i, i FROM generate_series(1, 100) i;
ALTER FOREIGN TABLE opts OPTIONS (SET buckets '12');
INSERT INTO opts SELECT i, i, i FROM generate_series(101, 200) i;
SELECT spec_version, min(first_bucket), max(last_bucket), sum(rows) FROM bucketfdw.files
	WHERE relid = 'opts'::regclass GROUP BY 1 ORDER BY 1;
SELECT count(*), sum(a) FROM opts;
SELECT count(*) FROM bucketfdw.bucket_stats('opts');
SELECT count(*) FROM opts WHERE a = 150;
ALTER FOREIGN TABLE opts OPTIONS (DROP buckets);
SELECT options('opts');
ALTER FOREIGN TABLE opts OPTIONS (SET bucket_by 'b');
ALTER FOREIGN TABLE opts OPTIONS (ADD sort_by 'a, b desc');
ALTER FOREIGN TABLE opts OPTIONS (SET buckets '0');
ALTER FOREIGN TABLE opts OPTIONS (ADD compression 'zstd');
INSERT INTO opts VALUES (0, 0, 'z');
TRUNCATE opts;
ALTER FOREIGN TABLE opts OPTIONS (SET bucket_by 'b', ADD sort_by 'b, a desc');
SELECT * FROM spec('opts');
INSERT INTO opts SELECT i, i, i FROM generate_series(1, 100) i;
SELECT count(*) FROM opts WHERE b = 5;

-- columns
CREATE FOREIGN TABLE cols (a int, b text, c int) SERVER bucketfdw OPTIONS (bucket_by 'a', buckets '4', sort_by 'a, c');
-- all of it works while the table is empty
ALTER FOREIGN TABLE cols ADD x int DEFAULT 3, ADD y int NOT NULL DEFAULT 1, ALTER a TYPE bigint;
SELECT * FROM spec('cols');
ALTER FOREIGN TABLE cols ALTER a TYPE json USING NULL;
ALTER FOREIGN TABLE cols DROP x, DROP y;
INSERT INTO cols SELECT i, i, i FROM generate_series(1, 20) i;
ALTER FOREIGN TABLE cols ADD x int;
ALTER FOREIGN TABLE cols ALTER x SET DEFAULT 5;
INSERT INTO cols (a, b) VALUES (100, 'new');
SELECT count(*), count(x), sum(x), count(*) FILTER (WHERE x IS NULL) FROM cols;
ALTER FOREIGN TABLE cols ADD bad int GENERATED ALWAYS AS (a * 2) STORED;
ALTER FOREIGN TABLE cols ADD bad int GENERATED ALWAYS AS IDENTITY;
\set VERBOSITY sqlstate
ALTER FOREIGN TABLE cols ADD bad int NOT NULL;
\set VERBOSITY default
ALTER FOREIGN TABLE cols ALTER b TYPE varchar(10);
ALTER FOREIGN TABLE cols ALTER a TYPE int;
ALTER FOREIGN TABLE cols DROP COLUMN a;
ALTER FOREIGN TABLE cols DROP COLUMN c;
ALTER FOREIGN TABLE cols DROP COLUMN b;
SELECT count(*), sum(a) FROM cols;
ALTER FOREIGN TABLE cols ADD b date;
SELECT count(*), count(b), sum(a) FROM cols;
-- rows of the same transaction count
BEGIN;
TRUNCATE cols;
ALTER FOREIGN TABLE cols ALTER a TYPE int;
INSERT INTO cols VALUES (1);
SAVEPOINT s;
ALTER FOREIGN TABLE cols ALTER a TYPE smallint;
ROLLBACK TO s;
ALTER FOREIGN TABLE cols ALTER b SET NOT NULL;
ROLLBACK;
SELECT count(*) FROM cols;

-- constraints are checked against what is in the files
CREATE FOREIGN TABLE checked (a int, b int, c int) SERVER bucketfdw OPTIONS (bucket_by 'a', buckets '4');
INSERT INTO checked SELECT i, nullif(i, 5), i FROM generate_series(1, 10) i;
ALTER FOREIGN TABLE checked ALTER b SET NOT NULL;
ALTER FOREIGN TABLE checked ALTER c SET NOT NULL;
ALTER FOREIGN TABLE checked ADD CONSTRAINT small CHECK (a < 10);
ALTER FOREIGN TABLE checked ADD CONSTRAINT small CHECK (a < 10) NOT VALID;
INSERT INTO checked VALUES (11, 1, 1);
ALTER FOREIGN TABLE checked VALIDATE CONSTRAINT small;
ALTER FOREIGN TABLE checked DROP CONSTRAINT small;
ALTER FOREIGN TABLE checked ADD CONSTRAINT fine CHECK (a <= 10), ADD CHECK (b > 0);
INSERT INTO checked VALUES (11, 1, 1);
INSERT INTO checked VALUES (1, 1, NULL);
ALTER FOREIGN TABLE checked ADD d int;
ALTER FOREIGN TABLE checked ALTER d SET NOT NULL;
SELECT count(*) FROM checked WHERE a < 50;
\set VERBOSITY sqlstate
ALTER FOREIGN TABLE checked ALTER b SET NOT NULL;
ALTER FOREIGN TABLE checked ADD CONSTRAINT small CHECK (a < 10);
\set VERBOSITY default

-- what only later versions know
CREATE FUNCTION must_fail(command text, code text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RAISE WARNING 'accepted: %', command;
EXCEPTION WHEN OTHERS THEN
	IF sqlstate <> code THEN
		RAISE WARNING '%: % %', command, sqlstate, sqlerrm;
	END IF;
END
$$;
DO $$
DECLARE
	sum bigint;
BEGIN
	IF current_setting('server_version_num')::int >= 180000 THEN
		PERFORM ddl.must_fail('ALTER FOREIGN TABLE checked ADD CONSTRAINT nn NOT NULL b', '23502');
		EXECUTE 'ALTER FOREIGN TABLE checked ADD CONSTRAINT nn NOT NULL b NOT VALID';
		EXECUTE 'ALTER FOREIGN TABLE checked ADD CHECK (a < 11)';
		PERFORM ddl.must_fail('INSERT INTO checked VALUES (1, NULL, 1)', '23502');
		PERFORM ddl.must_fail('ALTER FOREIGN TABLE checked VALIDATE CONSTRAINT nn', '23502');
		EXECUTE 'SELECT count(*) FROM checked WHERE b IS NULL' INTO sum;
		IF sum <> 1 THEN
			RAISE WARNING 'wrong answer: % null values', sum;
		END IF;
		EXECUTE 'ALTER FOREIGN TABLE checked DROP CONSTRAINT nn';
		EXECUTE 'ALTER FOREIGN TABLE checked ADD CONSTRAINT unenforced CHECK (a < 5) NOT ENFORCED';
		EXECUTE 'ALTER FOREIGN TABLE checked ADD twice int GENERATED ALWAYS AS (a * 2) VIRTUAL';
		EXECUTE 'SELECT sum(twice) FROM checked' INTO sum;
		IF sum <> 110 THEN
			RAISE WARNING 'wrong answer: virtual column sums to %', sum;
		END IF;
		EXECUTE 'ALTER FOREIGN TABLE checked DROP twice';
	END IF;
	IF current_setting('server_version_num')::int >= 170000 THEN
		EXECUTE 'CREATE FOREIGN TABLE generated (a int, g int GENERATED ALWAYS AS (a * 2) STORED) SERVER bucketfdw OPTIONS (bucket_by ''a'')';
		EXECUTE 'ALTER FOREIGN TABLE generated ALTER g SET EXPRESSION AS (a * 3)';
		EXECUTE 'INSERT INTO generated VALUES (1)';
		PERFORM ddl.must_fail('ALTER FOREIGN TABLE generated ALTER g SET EXPRESSION AS (a * 4)', '0A000');
	END IF;
END
$$;

-- domains and composite types of columns
CREATE DOMAIN code AS text;
CREATE TYPE pair AS (x int, y int);
CREATE DOMAIN pair_domain AS pair;
CREATE FOREIGN TABLE typed (a int, c code, p pair, q pair_domain[]) SERVER bucketfdw OPTIONS (bucket_by 'a', buckets '2');
ALTER DOMAIN code ADD CONSTRAINT short CHECK (length(value) < 10);
ALTER TYPE pair ADD ATTRIBUTE z int;
INSERT INTO typed VALUES (1, 'one', (1, 2, 3), ARRAY[(4, 5, 6)::pair]::pair_domain[]);
ALTER DOMAIN code ADD CONSTRAINT shorter CHECK (length(value) < 5);
ALTER DOMAIN code SET NOT NULL;
ALTER DOMAIN code ADD CONSTRAINT later CHECK (length(value) < 5) NOT VALID;
ALTER DOMAIN code VALIDATE CONSTRAINT later;
ALTER DOMAIN code SET DEFAULT 'x';
ALTER DOMAIN code DROP CONSTRAINT later;
\set VERBOSITY sqlstate
-- some minors refuse it by themselves
ALTER TYPE pair ALTER ATTRIBUTE x TYPE text;
\set VERBOSITY default
ALTER TYPE pair ADD ATTRIBUTE zz int;
ALTER TYPE pair DROP ATTRIBUTE z;
ALTER TYPE pair RENAME ATTRIBUTE z TO zed;
SELECT * FROM typed;
-- types nobody uses are not our business
CREATE TYPE other AS (x int);
ALTER TYPE other ADD ATTRIBUTE y int;
CREATE DOMAIN other_domain AS int;
ALTER DOMAIN other_domain ADD CHECK (value > 0);
-- a key cannot go with its type
CREATE DOMAIN keyed AS int;
CREATE FOREIGN TABLE by_domain (k keyed, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
DROP DOMAIN keyed CASCADE;
-- but a table that goes with it may
DROP FOREIGN TABLE by_domain;

-- partitions
CREATE TABLE parted (id int, day date, v text) PARTITION BY RANGE (day);
CREATE FOREIGN TABLE p1 PARTITION OF parted FOR VALUES FROM ('2020-01-01') TO ('2020-02-01')
	SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '8', sort_by 'id, day', compression 'zstd');
CREATE FOREIGN TABLE p2 PARTITION OF parted FOR VALUES FROM ('2020-02-01') TO ('2020-03-01') SERVER bucketfdw;
SELECT options('p2');
INSERT INTO parted SELECT i, '2020-01-01'::date + i % 60, 'v' FROM generate_series(1, 600) i;
SELECT tableoid::regclass, count(*) FROM parted GROUP BY 1 ORDER BY 1;
-- a rename through the parent reaches the options
ALTER TABLE parted RENAME id TO ident;
SELECT options('p1'), options('p2');
INSERT INTO parted VALUES (1, '2020-01-05', 'late');
ALTER TABLE parted DROP COLUMN ident;
ALTER TABLE parted ALTER v SET NOT NULL;
ALTER TABLE parted ADD w int;
ALTER TABLE parted ALTER w SET NOT NULL;
ALTER TABLE parted ADD CONSTRAINT low CHECK (ident < 600);
ALTER TABLE parted ADD CONSTRAINT high CHECK (ident <= 600);
ALTER TABLE parted ALTER v TYPE varchar(10);
SELECT count(*) FROM parted WHERE day >= '2020-02-10';
-- ATTACH checks the bounds
CREATE FOREIGN TABLE p3 (ident int NOT NULL, day date, v text NOT NULL, w int, CONSTRAINT high CHECK (ident <= 600))
	SERVER bucketfdw OPTIONS (bucket_by 'ident', buckets '8');
INSERT INTO p3 VALUES (1, '2020-03-05', 'x'), (2, '2020-04-05', 'x');
ALTER TABLE parted ATTACH PARTITION p3 FOR VALUES FROM ('2020-03-01') TO ('2020-04-01');
\set VERBOSITY sqlstate
ALTER TABLE parted ATTACH PARTITION p3 FOR VALUES FROM ('2020-03-01') TO ('2020-04-01');
\set VERBOSITY default
ALTER TABLE parted ATTACH PARTITION p3 FOR VALUES FROM ('2020-03-01') TO ('2020-05-01');
SELECT tableoid::regclass, count(*) FROM parted GROUP BY 1 ORDER BY 1;
ALTER TABLE parted DETACH PARTITION p3;
SELECT count(*) FROM p3;
-- default partitions are refused: core never checks their rows again
CREATE FOREIGN TABLE pd PARTITION OF parted DEFAULT SERVER bucketfdw;
ALTER TABLE parted ATTACH PARTITION p3 DEFAULT;
-- nulls in the key of a range partition
CREATE FOREIGN TABLE p4 (ident int, day date, v text NOT NULL, w int, CONSTRAINT high CHECK (ident <= 600))
	SERVER bucketfdw OPTIONS (bucket_by 'ident', buckets '8');
INSERT INTO p4 VALUES (1, NULL, 'x');
ALTER TABLE parted ATTACH PARTITION p4 FOR VALUES FROM ('2021-03-01') TO ('2021-05-01');
DROP TABLE parted CASCADE;
SELECT count(*) FROM bucketfdw.spec s WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = s.relid);

-- inheritance children
CREATE TABLE parent (a int, b int);
CREATE FOREIGN TABLE child () INHERITS (parent) SERVER bucketfdw OPTIONS (bucket_by 'a', buckets '2');
INSERT INTO child VALUES (1, NULL);
ALTER TABLE parent RENAME a TO aa;
SELECT options('child');
ALTER TABLE parent ALTER b SET NOT NULL;
ALTER TABLE parent ADD CHECK (aa > 1);
SELECT * FROM parent;

-- ALTER on other tables is not our business
CREATE TABLE heap (a int DEFAULT 1);
ALTER TABLE heap ADD b int DEFAULT 2, ALTER a TYPE bigint, ADD CHECK (b > 1), ALTER a SET NOT NULL;
ALTER TABLE heap RENAME a TO aa;
DROP TABLE heap;

-- of what stands around an error, only our trigger is left out
\set SHOW_CONTEXT errors
CREATE FOREIGN TABLE around (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k');
INSERT INTO around VALUES (1, 'x');
ALTER FOREIGN TABLE around ALTER v TYPE varchar(10);
ALTER FOREIGN TABLE around DROP COLUMN k;
ALTER FOREIGN TABLE around ADD CHECK (length(v) / 0 > 1);
CREATE FUNCTION outer_one(command text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE command; END $$;
SELECT outer_one('ALTER FOREIGN TABLE ddl.around ALTER v TYPE varchar(10)');
SELECT outer_one('ALTER FOREIGN TABLE ddl.around DROP COLUMN k');
\set SHOW_CONTEXT never


SET client_min_messages = error;
DROP SCHEMA ddl CASCADE;
DROP SCHEMA ddl_other;
SELECT count(*) FROM bucketfdw.spec s WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = s.relid);
SELECT count(*) FROM bucketfdw.manifest s WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = s.relid);

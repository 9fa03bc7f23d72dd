-- bucketfdw.create_table_as: a bucketed table from a query.
\set VERBOSITY default
SET client_min_messages = warning;
CREATE TABLE src_h (id int, customer_id bigint, amount numeric(10,2), day date, note text COLLATE "C");
INSERT INTO src_h SELECT g, g % 500, g / 7.0, '2024-01-01'::date + g % 300, 'n' || g % 5 FROM generate_series(1, 20000) g;
CREATE VIEW cta_tables AS SELECT relid, bucket_by, buckets, sort_by, rows FROM bucketfdw.tables;

SELECT bucketfdw.create_table_as('cta', 'SELECT * FROM src_h', bucket_by => 'customer_id', buckets => 16);
SELECT * FROM cta_tables WHERE relid = 'cta'::regclass;
SELECT attname, format_type(atttypid, atttypmod), attcollation::regcollation FROM pg_attribute
	WHERE attrelid = 'cta'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*) FROM (SELECT * FROM cta EXCEPT ALL SELECT * FROM src_h) x;
SELECT count(*) FROM cta;
-- analysed
SELECT reltuples FROM pg_class WHERE oid = 'cta'::regclass;
SELECT count(*) > 0 AS analysed FROM pg_stats WHERE tablename = 'cta';

-- kinds of query, names
SELECT bucketfdw.create_table_as('"Odd name"', 'VALUES (1, ''a''), (2, NULL)', bucket_by => 'column1', buckets => 4);
SELECT * FROM "Odd name" ORDER BY 1;
CREATE SCHEMA "S x";
SELECT bucketfdw.create_table_as('"S x".t', 'TABLE src_h', bucket_by => 'customer_id, id', sort_by => 'customer_id, id, day desc');
SELECT * FROM cta_tables WHERE relid = '"S x".t'::regclass;
SELECT bucketfdw.create_table_as('cta_with', 'WITH a AS (SELECT 1 AS k, ''unknown'' AS u, NULL AS n) SELECT * FROM a UNION ALL SELECT 2, ''x'', ''y'' ORDER BY 1', 'k');
SELECT * FROM cta_with ORDER BY k;
SELECT bucketfdw.create_table_as('cta_empty', 'SELECT * FROM src_h', bucket_by => 'id', with_data => false);
SELECT count(*) FROM cta_empty;
SELECT bucketfdw.create_table_as('cta_zstd', 'SELECT * FROM src_h', bucket_by => 'id', compression => 'zstd', compression_level => 3);
SELECT ftoptions FROM pg_foreign_table WHERE ftrelid = 'cta_zstd'::regclass;
-- a trailing semicolon and a comment do no harm
SELECT bucketfdw.create_table_as('cta_semicolon', 'SELECT 1 AS k; -- the end', 'k');

-- what is refused
SELECT bucketfdw.create_table_as('bad', '', 'k');
SELECT bucketfdw.create_table_as('bad', 'SELECT 1 AS k; SELECT 2', 'k');
SELECT bucketfdw.create_table_as('bad', 'DELETE FROM src_h', 'k');
SELECT bucketfdw.create_table_as('bad', 'SELECT 1 AS k INTO other', 'k');
SELECT bucketfdw.create_table_as('bad', 'SELECT $1 AS k', 'k');
SELECT bucketfdw.create_table_as('bad', 'SELECT 1 AS k, 2 AS k', 'k');
SELECT bucketfdw.create_table_as('bad', 'SELECT 1 AS k, ROW(1, 2) AS r', 'k');
SELECT bucketfdw.create_table_as('bad', 'SELECT 1 AS k');
SELECT bucketfdw.create_table_as('bad', 'SELECT 1 AS k', 'nope');
SELECT bucketfdw.create_table_as('bad', 'SELECT 1 AS k', 'k', 0);
SELECT bucketfdw.create_table_as('bad', 'SELECT 1 AS k', 'k', mode => 'replace');
SELECT bucketfdw.create_table_as('bad', 'SELECT 1 AS k', 'k', mode => NULL);
SELECT bucketfdw.create_table_as('bad', NULL, 'k');
SELECT bucketfdw.create_table_as('a.b.c.d', 'SELECT 1 AS k', 'k');
SELECT bucketfdw.create_table_as('no_schema.t', 'SELECT 1 AS k', 'k');
\set VERBOSITY terse
SELECT bucketfdw.create_table_as('pg_temp.t', 'SELECT 1 AS k', 'k');
\set VERBOSITY default
SELECT bucketfdw.create_table_as('bad', 'SELECT 1 AS k', 'k', compression => 'gzip');
BEGIN READ ONLY;
SELECT bucketfdw.create_table_as('bad', 'SELECT 1 AS k', 'k');
ROLLBACK;
-- nothing is left of a query that fails
SELECT bucketfdw.create_table_as('bad', 'SELECT 1 / (5 - g) AS k FROM generate_series(1, 10) g', 'k');
SELECT to_regclass('bad');

-- modes
SELECT bucketfdw.create_table_as('cta', 'SELECT 1 AS customer_id', 'customer_id');
SELECT bucketfdw.create_table_as('cta', 'SELECT 1 AS customer_id', 'customer_id', mode => 'errorifexists');
SELECT bucketfdw.create_table_as('cta', 'SELECT 1 AS customer_id', 'customer_id', mode => 'ignore');
SELECT bucketfdw.create_table_as('cta_ignore', 'SELECT 1 AS customer_id', 'customer_id', mode => 'Ignore');
SELECT bucketfdw.create_table_as('src_h', 'SELECT 1 AS customer_id', 'customer_id', mode => 'append');

-- append: columns by name, the table's spec
SELECT bucketfdw.create_table_as('cta', 'SELECT note, customer_id, id FROM src_h WHERE id <= 10', mode => 'append');
SELECT bucketfdw.create_table_as('cta', 'SELECT 5 AS customer_id, 1.239 AS amount', mode => 'append', bucket_by => 'customer_id', buckets => 16);
SELECT count(*), count(day), sum(amount) FILTER (WHERE id IS NULL) FROM cta;
SELECT bucketfdw.create_table_as('cta', 'SELECT 5 AS customer_id', mode => 'append', buckets => 32);
SELECT bucketfdw.create_table_as('cta', 'SELECT 5 AS customer_id', mode => 'append', bucket_by => 'id');
SELECT bucketfdw.create_table_as('cta', 'SELECT 5 AS customer_id', mode => 'append', sort_by => 'customer_id, id');
SELECT bucketfdw.create_table_as('cta', 'SELECT 5 AS customer_id', mode => 'append', compression => 'zstd');
SELECT bucketfdw.create_table_as('cta', 'SELECT 5 AS customer_id, 1 AS extra', mode => 'append');
SELECT bucketfdw.create_table_as('cta', 'SELECT ''x''::text AS customer_id', mode => 'append');
SELECT bucketfdw.create_table_as('cta_new', 'SELECT 5 AS customer_id', 'customer_id', mode => 'append');
SELECT bucketfdw.create_table_as('cta', 'SELECT 7 AS customer_id', mode => 'append', with_data => false);
SELECT count(*) FROM cta;
-- constraints, defaults, identity, generated columns and triggers of the table hold
CREATE FOREIGN TABLE strict (
	id int GENERATED ALWAYS AS IDENTITY, k int NOT NULL CHECK (k < 100), d text DEFAULT 'dflt', v varchar(3),
	g int GENERATED ALWAYS AS (k + 1) STORED
) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
SELECT bucketfdw.create_table_as('strict', 'SELECT 1 AS k, ''abc'' AS v UNION ALL SELECT 2, NULL', mode => 'append');
SELECT bucketfdw.create_table_as('strict', 'SELECT 100 AS k', mode => 'append');
SELECT bucketfdw.create_table_as('strict', 'SELECT ''x'' AS v', mode => 'append');
SELECT bucketfdw.create_table_as('strict', 'SELECT 1 AS k, ''abcd''::text AS v', mode => 'append');
SELECT bucketfdw.create_table_as('strict', 'SELECT 1 AS k, 5 AS g', mode => 'append');
SELECT bucketfdw.create_table_as('strict', 'SELECT 1 AS k, 5 AS id', mode => 'append');
CREATE TABLE cta_log (what text);
CREATE FUNCTION cta_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_LEVEL = 'ROW' THEN
		IF TG_WHEN = 'BEFORE' THEN
			IF NEW.k = 13 THEN RETURN NULL; END IF;
			NEW.d := 'trigger';
		END IF;
		INSERT INTO cta_log VALUES (TG_WHEN || ' row ' || NEW.k);
		RETURN NEW;
	END IF;
	INSERT INTO cta_log VALUES (TG_WHEN || ' statement');
	RETURN NULL;
END $$;
CREATE TRIGGER t1 BEFORE INSERT ON strict FOR EACH ROW EXECUTE FUNCTION cta_trigger();
CREATE TRIGGER t2 AFTER INSERT ON strict FOR EACH ROW EXECUTE FUNCTION cta_trigger();
CREATE TRIGGER t3 BEFORE INSERT ON strict FOR EACH STATEMENT EXECUTE FUNCTION cta_trigger();
CREATE TRIGGER t4 AFTER INSERT ON strict FOR EACH STATEMENT EXECUTE FUNCTION cta_trigger();
SELECT bucketfdw.create_table_as('strict', 'SELECT g AS k FROM generate_series(12, 14) g', mode => 'append');
SELECT * FROM cta_log;
SELECT k, d, v, g FROM strict ORDER BY k;
-- so too when the contents are replaced by rows of their own
TRUNCATE cta_log;
SELECT bucketfdw.create_table_as('strict', 'SELECT k + 1 AS k, v FROM strict WHERE k <> 1', mode => 'overwrite');
SELECT bucketfdw.create_table_as('strict', 'SELECT k + 1 AS k, d, v FROM strict WHERE k <> 1 ORDER BY k', mode => 'overwrite');
SELECT * FROM cta_log;
SELECT k, d, v, g FROM strict ORDER BY k;
-- rows that are stored as they come, and queries that change data
CREATE FOREIGN TABLE needed (k int NOT NULL, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
SELECT bucketfdw.create_table_as('needed', 'SELECT 1 AS k, NULL AS v', mode => 'append');
SELECT bucketfdw.create_table_as('needed', 'SELECT NULL::int AS k, ''x'' AS v', mode => 'append');
SELECT bucketfdw.create_table_as('needed', 'WITH gone AS (DELETE FROM cta_log RETURNING what) SELECT 2 AS k, max(what) AS v FROM gone', mode => 'append');
SELECT bucketfdw.create_table_as('needed', 'WITH kept AS (INSERT INTO cta_log VALUES (''new'') RETURNING what) SELECT what AS v, 3 AS k FROM kept', mode => 'append');
SELECT n.*, l.what FROM needed n LEFT JOIN cta_log l ON l.what = n.v ORDER BY n.k;
DROP FOREIGN TABLE needed;

-- overwrite: keeps the table, reads itself, is undone by rollback
CREATE VIEW cta_view AS SELECT sum(amount) FROM cta;
SELECT bucketfdw.create_table_as('cta', 'SELECT * FROM cta WHERE customer_id < 100', mode => 'overwrite');
SELECT count(*), (SELECT count(*) FROM src_h WHERE customer_id < 100) FROM cta;
SELECT * FROM cta_view;
BEGIN;
INSERT INTO cta (customer_id) VALUES (-1);
SELECT bucketfdw.create_table_as('cta', 'SELECT * FROM cta WHERE customer_id < 0', mode => 'overwrite');
SELECT count(*) FROM cta;
INSERT INTO cta (customer_id) VALUES (-2);
SELECT count(*) FROM cta;
ROLLBACK;
SELECT count(*) FROM cta;
BEGIN;
SAVEPOINT a;
SELECT bucketfdw.create_table_as('cta', 'SELECT * FROM src_h LIMIT 5', mode => 'overwrite');
SELECT count(*) FROM cta;
ROLLBACK TO a;
SELECT count(*) FROM cta;
SELECT bucketfdw.create_table_as('cta', 'SELECT * FROM src_h LIMIT 7', mode => 'overwrite');
COMMIT;
SELECT count(*) FROM cta;
SELECT bucketfdw.create_table_as('cta', 'SELECT * FROM src_h WHERE false', mode => 'overwrite');
SELECT count(*) FROM cta;
-- without data it is emptied
SELECT bucketfdw.create_table_as('cta', 'SELECT * FROM src_h LIMIT 5', mode => 'overwrite');
BEGIN;
INSERT INTO cta (customer_id) VALUES (-1);
SELECT bucketfdw.create_table_as('cta', 'SELECT * FROM src_h', mode => 'overwrite', with_data => false);
SELECT count(*) FROM cta;
ROLLBACK;
SELECT count(*) FROM cta;
SELECT bucketfdw.create_table_as('cta', 'SELECT * FROM src_h', mode => 'append', with_data => false);
SELECT count(*) FROM cta;
SELECT bucketfdw.create_table_as('cta', 'SELECT 1 AS x', mode => 'overwrite', with_data => false);
SELECT bucketfdw.create_table_as('cta', 'SELECT * FROM src_h', mode => 'overwrite', with_data => false);
SELECT count(*) FROM cta;
SELECT bucketfdw.create_table_as('cta', 'SELECT id, customer_id FROM src_h', mode => 'overwrite');
SELECT bucketfdw.create_table_as('cta', 'SELECT id, customer_id, amount, day, note, 1 AS more FROM src_h', mode => 'overwrite');
SELECT bucketfdw.create_table_as('cta', 'SELECT id, customer_id, amount, note AS day, day AS note FROM src_h', mode => 'overwrite');
BEGIN;
SELECT bucketfdw.create_table_as('cta', 'SELECT * FROM src_h', mode => 'overwrite', buckets => 8);
SELECT * FROM cta_tables WHERE relid = 'cta'::regclass;
ROLLBACK;

-- colocate_with
SELECT bucketfdw.create_table_as('co1', 'SELECT customer_id, 1 AS x FROM src_h', colocate_with => 'cta');
SELECT * FROM cta_tables WHERE relid = 'co1'::regclass;
SELECT bucketfdw.create_table_as('co2', 'SELECT customer_id::int AS cust FROM src_h', bucket_by => 'cust', colocate_with => 'cta');
SELECT * FROM cta_tables WHERE relid = 'co2'::regclass;
SELECT bucketfdw.create_table_as('co3', 'SELECT customer_id AS cust FROM src_h', colocate_with => 'cta');
SELECT bucketfdw.create_table_as('co3', 'SELECT note FROM src_h', bucket_by => 'note', colocate_with => 'cta');
SELECT bucketfdw.create_table_as('co3', 'SELECT customer_id FROM src_h', colocate_with => 'cta', buckets => 5);
SELECT bucketfdw.create_table_as('co3', 'SELECT customer_id, id FROM src_h', bucket_by => 'customer_id, id', colocate_with => 'cta');
SELECT bucketfdw.create_table_as('co3', 'SELECT customer_id FROM src_h', colocate_with => 'src_h');

-- as a plain role, with its own rights
CREATE ROLE regress_cta;
CREATE SCHEMA AUTHORIZATION regress_cta;
GRANT USAGE ON FOREIGN SERVER bucketfdw TO regress_cta;
CREATE SCHEMA no_rights;
SET ROLE regress_cta;
SELECT bucketfdw.create_table_as('mine', 'SELECT g AS k FROM generate_series(1, 10) g', 'k', 4);
SELECT bucketfdw.create_table_as('regress_cta.mine', 'SELECT g AS k FROM generate_series(1, 10) g', 'k', 4);
SELECT bucketfdw.create_table_as('mine', 'SELECT 11 AS k', mode => 'append');
SELECT bucketfdw.create_table_as('mine', 'SELECT 12 AS k', mode => 'overwrite');
SELECT * FROM mine;
SELECT bucketfdw.create_table_as('mine2', 'SELECT id FROM public.src_h', 'id');
SELECT bucketfdw.create_table_as('no_rights.t', 'SELECT 1 AS k', 'k');
SELECT bucketfdw.create_table_as('public.cta', 'SELECT 1 AS customer_id', mode => 'append');
RESET ROLE;
-- rights on columns count as they do for INSERT
GRANT INSERT (customer_id, amount) ON cta TO regress_cta;
SET ROLE regress_cta;
SELECT bucketfdw.create_table_as('public.cta', 'SELECT 1 AS customer_id', mode => 'append');
INSERT INTO public.cta (customer_id) SELECT 1;
SELECT bucketfdw.create_table_as('public.cta', 'SELECT 1 AS customer_id, 1 AS id', mode => 'append');
INSERT INTO public.cta (customer_id, id) SELECT 1, 1;
SELECT bucketfdw.create_table_as('public.cta', 'SELECT 1 AS customer_id, 1 AS nowhere', mode => 'append');
SELECT bucketfdw.create_table_as('public.cta', 'SELECT 1 AS customer_id', mode => 'overwrite');
-- a table is looked into by those who may read some of it
SELECT bucketfdw.create_table_as('mine3', 'SELECT 1 AS customer_id', colocate_with => 'public.cta');
RESET ROLE;
GRANT SELECT (day) ON cta TO regress_cta;
SET ROLE regress_cta;
SELECT bucketfdw.create_table_as('mine3', 'SELECT 1 AS customer_id', colocate_with => 'public.cta');
RESET ROLE;
REVOKE INSERT (customer_id, amount), SELECT (day) ON cta FROM regress_cta;
GRANT INSERT ON cta TO regress_cta;
SET ROLE regress_cta;
SELECT bucketfdw.create_table_as('public.cta', 'SELECT 1 AS customer_id', mode => 'append');
SELECT bucketfdw.create_table_as('public.cta', 'SELECT 1 AS id, 1::bigint AS customer_id, 1::numeric AS amount, current_date AS day, ''x''::text AS note', mode => 'overwrite');
RESET ROLE;

DROP SCHEMA regress_cta CASCADE;
DROP SCHEMA no_rights;
REVOKE ALL ON FOREIGN SERVER bucketfdw FROM regress_cta;
REVOKE ALL ON cta FROM regress_cta;
DROP ROLE regress_cta;
DROP VIEW cta_view, cta_tables;
DROP FOREIGN TABLE cta, "Odd name", "S x".t, cta_with, cta_empty, cta_zstd, cta_semicolon, cta_ignore, cta_new, strict, co1, co2;
DROP SCHEMA "S x";
DROP TABLE src_h, cta_log;
DROP FUNCTION cta_trigger;

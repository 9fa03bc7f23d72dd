-- create_table_as into tables that are there: another spec when overwriting, partitions.
\set VERBOSITY terse
SET search_path = public;
SET client_min_messages = warning;
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;

CREATE TABLE si_h (k int, d date, v numeric(10,2), t text);
INSERT INTO si_h SELECT nullif(g % 300, 7), date '2020-01-01' + g % 60, g * 0.5, CASE WHEN g % 7 > 0 THEN 'row ' || g END FROM generate_series(1, 5000) g;
CREATE FOREIGN TABLE si_b (k int, d date, v numeric(10,2), t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', sort_by 'k, d desc');
INSERT INTO si_b SELECT * FROM si_h;
CREATE VIEW si_view AS SELECT k, v FROM si_b;
CREATE FUNCTION spec(rel regclass) RETURNS TABLE (spec text, files text, compression text) LANGUAGE sql AS $$
	SELECT format('%s by %s sorted by %s', buckets, bucket_by, sort_by),
		(SELECT string_agg(DISTINCT format('%s %s', m.buckets, m.origin), ', ') FROM bucketfdw.manifest m WHERE m.relid = rel),
		(SELECT o.option_value FROM pg_foreign_table, pg_options_to_table(ftoptions) o WHERE ftrelid = rel AND option_name = 'compression')
	FROM bucketfdw.tables WHERE relid = rel
$$;
CREATE FUNCTION si_checks() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT same('SELECT * FROM si_b')
	UNION ALL SELECT same('SELECT k, count(*), sum(v) FROM si_b GROUP BY k')
	UNION ALL SELECT same('SELECT d, count(*), sum(v) FROM si_b GROUP BY d')
	UNION ALL SELECT same('SELECT a.t, b.t FROM si_b a JOIN si_b b ON a.k = b.k AND a.d = b.d')
	UNION ALL SELECT format('%s defects', count(*)) FROM bucketfdw.verify()
$$;

-- overwritten by a query of itself, with another spec: count, key, order, compression
PREPARE of_k(int) AS SELECT count(*), sum(v) FROM si_b WHERE k = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE of_k(33);
SELECT bucketfdw.create_table_as('si_b', 'SELECT * FROM si_b', mode => 'overwrite', buckets => 12);
SELECT * FROM spec('si_b');
SELECT * FROM si_checks();
EXECUTE of_k(33);
SELECT bucketfdw.create_table_as('si_b', 'SELECT k, d, max(v) AS v, max(t) AS t FROM si_b GROUP BY k, d', mode => 'overwrite', bucket_by => 'd', compression => 'zstd');
CREATE TABLE si_h2 AS SELECT k, d, max(v)::numeric(10,2) AS v, max(t) AS t FROM si_h GROUP BY k, d;
TRUNCATE si_h;
INSERT INTO si_h SELECT * FROM si_h2;
SELECT * FROM spec('si_b');
SELECT * FROM si_checks();
EXECUTE of_k(33);
SELECT bucketfdw.create_table_as('si_b', 'SELECT * FROM si_b', mode => 'overwrite', bucket_by => 'k, d', sort_by => 'k, d, v desc nulls last', buckets => 3);
SELECT * FROM spec('si_b');
SELECT * FROM si_checks();
EXECUTE of_k(33);
RESET plan_cache_mode;
-- undone by rollback; empty with data => false
BEGIN;
SELECT bucketfdw.create_table_as('si_b', 'SELECT * FROM si_b', mode => 'overwrite', bucket_by => 't', sort_by => 't');
SELECT * FROM spec('si_b');
SELECT * FROM si_checks();
SAVEPOINT s;
SELECT bucketfdw.create_table_as('si_b', 'SELECT * FROM si_b', mode => 'overwrite', bucket_by => 'k', with_data => false);
SELECT * FROM spec('si_b');
SELECT count(*) FROM si_b;
ROLLBACK TO s;
SELECT * FROM spec('si_b');
SELECT same('SELECT * FROM si_b');
ROLLBACK;
SELECT * FROM spec('si_b');
SELECT * FROM si_checks();
SELECT count(*) > 0 AS view_works FROM si_view;
-- as another table has it
CREATE FOREIGN TABLE si_other (k bigint) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '5');
SELECT bucketfdw.create_table_as('si_b', 'SELECT * FROM si_b', mode => 'overwrite', colocate_with => 'si_other');
SELECT * FROM spec('si_b');
SELECT * FROM si_checks();
-- few rows, which the catalog takes
RESET bucketfdw.inline_limit;
SELECT bucketfdw.create_table_as('si_b', 'SELECT * FROM si_b', mode => 'overwrite', bucket_by => 'd', buckets => 7);
SELECT * FROM spec('si_b');
SELECT * FROM si_checks();
SELECT bucketfdw.create_table_as('si_b', 'SELECT * FROM si_b', mode => 'overwrite', bucket_by => 'k', buckets => 5);
SELECT * FROM si_checks();
SET bucketfdw.inline_limit = 0;
-- what cannot be
SELECT bucketfdw.create_table_as('si_b', 'SELECT * FROM si_b', mode => 'overwrite', bucket_by => 'nobody');
SELECT bucketfdw.create_table_as('si_b', 'SELECT * FROM si_b', mode => 'overwrite', sort_by => 'd');
SELECT bucketfdw.create_table_as('si_b', 'SELECT * FROM si_b', mode => 'append', buckets => 64);
SELECT bucketfdw.create_table_as('si_b', 'SELECT * FROM si_b', mode => 'overwrite', colocate_with => 'si_other', bucket_by => 't');
CREATE ROLE regress_bf_si;
GRANT ALL ON si_b TO regress_bf_si;
GRANT USAGE ON SCHEMA public TO regress_bf_si;
SET ROLE regress_bf_si;
SELECT bucketfdw.create_table_as('public.si_b', 'SELECT * FROM public.si_b', mode => 'overwrite', buckets => 64);
SELECT bucketfdw.create_table_as('public.si_b', 'SELECT * FROM public.si_b', mode => 'overwrite', buckets => 5);
RESET ROLE;

-- partitions, two bucketed ones at different depths, and a heap
CREATE TABLE sp_b (k int, d date, v numeric(10,2), t text) PARTITION BY RANGE (d);
CREATE FOREIGN TABLE sp_1 PARTITION OF sp_b FOR VALUES FROM ('2020-01-01') TO ('2020-02-01') SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE sp_2 PARTITION OF sp_b FOR VALUES FROM ('2020-02-01') TO ('2020-03-01') PARTITION BY LIST (t);
CREATE FOREIGN TABLE sp_2x PARTITION OF sp_2 FOR VALUES IN ('x', NULL) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '6');
CREATE FOREIGN TABLE sp_2y PARTITION OF sp_2 FOR VALUES IN ('y') SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE sp_3 PARTITION OF sp_b FOR VALUES FROM ('2020-03-01') TO ('2021-01-01');
CREATE TABLE sp_h (k int, d date, v numeric(10,2), t text);
CREATE FUNCTION sp_checks() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT same('SELECT * FROM sp_b')
	UNION ALL SELECT same('SELECT k, count(*), sum(v) FROM sp_b GROUP BY k')
	UNION ALL SELECT same('SELECT a.t, b.t FROM sp_b a JOIN si_b b ON a.k = b.k AND a.d = b.d')
	UNION ALL SELECT format('%s defects', count(*)) FROM bucketfdw.verify('sp_b')
$$;
CREATE TABLE sp_rows AS SELECT g % 100 AS k, date '2020-01-01' + g % 80 AS d, g * 0.25 AS v, CASE WHEN g % 3 > 0 THEN substr('xy', g % 2 + 1, 1) END AS t FROM generate_series(1, 3000) g;

SELECT bucketfdw.create_table_as('sp_b', 'SELECT * FROM sp_rows', mode => 'append');
INSERT INTO sp_h SELECT * FROM sp_rows;
SELECT * FROM sp_checks();
SELECT tableoid::regclass, count(*) FROM sp_b GROUP BY 1 ORDER BY 1;
-- columns in another order, and missing; casts
SELECT bucketfdw.create_table_as('sp_b', 'SELECT d::text AS d_text, k::bigint AS k, d FROM sp_rows WHERE k < 10', mode => 'append');
SELECT bucketfdw.create_table_as('sp_b', 'SELECT k::bigint AS k, d FROM sp_rows WHERE k < 10', mode => 'append');
INSERT INTO sp_h SELECT k, d FROM sp_rows WHERE k < 10;
SELECT * FROM sp_checks();
SELECT analyzed.n > 3000 AS analyzed FROM (SELECT reltuples AS n FROM pg_class WHERE oid = 'sp_b'::regclass) analyzed;
-- replaces rows of all partitions by rows of itself
SELECT bucketfdw.create_table_as('sp_b', 'SELECT k + 1 AS k, d, v * 2 AS v, t FROM sp_b WHERE k < 50', mode => 'overwrite');
CREATE TABLE sp_h2 AS SELECT k + 1 AS k, d, v * 2 AS v, t FROM sp_h WHERE k < 50;
TRUNCATE sp_h;
INSERT INTO sp_h SELECT * FROM sp_h2;
SELECT * FROM sp_checks();
SELECT tableoid::regclass, count(*) FROM sp_b GROUP BY 1 ORDER BY 1;
-- with another spec for all of them, undone and done
BEGIN;
SELECT bucketfdw.create_table_as('sp_b', 'SELECT * FROM sp_b WHERE k < 3', mode => 'overwrite', buckets => 16, bucket_by => 'k, d');
SELECT spec('sp_1'), spec('sp_2x'), spec('sp_2y');
ROLLBACK;
SELECT * FROM sp_checks();
SELECT bucketfdw.create_table_as('sp_b', 'SELECT * FROM sp_b', mode => 'overwrite', buckets => 16, bucket_by => 'k', sort_by => 'k, v');
SELECT spec('sp_1'), spec('sp_2x'), spec('sp_2y');
SELECT * FROM sp_checks();
-- little memory
SET maintenance_work_mem = '1MB';
SELECT bucketfdw.create_table_as('sp_b', 'SELECT g % 1000 AS k, date ''2020-01-01'' + g % 60 AS d, g * 0.5 AS v, NULL::text AS t FROM generate_series(1, 60000) g', mode => 'overwrite');
RESET maintenance_work_mem;
TRUNCATE sp_h;
INSERT INTO sp_h SELECT g % 1000 AS k, date '2020-01-01' + g % 60 AS d, g * 0.5 AS v, NULL::text AS t FROM generate_series(1, 60000) g;
SELECT * FROM sp_checks();
-- rows that fit nowhere: nothing has changed
SELECT bucketfdw.create_table_as('sp_b', 'SELECT 1 AS k, date ''1999-01-01'' AS d, 0::numeric AS v, ''x'' AS t', mode => 'overwrite');
SELECT bucketfdw.create_table_as('sp_b', 'SELECT 1 AS k', mode => 'overwrite');
SELECT bucketfdw.create_table_as('sp_b', 'SELECT 1 AS k, current_date AS d', mode => 'append', buckets => 3);
SELECT bucketfdw.create_table_as('sp_3', 'SELECT 1 AS k', mode => 'append');
SELECT bucketfdw.create_table_as('sp_b', 'SELECT 1 AS k', bucket_by => 'k');
SELECT * FROM sp_checks();
SELECT bucketfdw.create_table_as('sp_b', 'SELECT k, d, v, t FROM sp_b', mode => 'overwrite', with_data => false);
SELECT count(*) FROM sp_b;
-- rights are those on the parent
SELECT bucketfdw.create_table_as('sp_b', 'SELECT * FROM sp_rows', mode => 'append');
SET ROLE regress_bf_si;
SELECT bucketfdw.create_table_as('public.sp_b', 'SELECT 1 AS k', mode => 'append');
RESET ROLE;
GRANT INSERT, SELECT, TRUNCATE ON sp_b TO regress_bf_si;
SET ROLE regress_bf_si;
SELECT bucketfdw.create_table_as('public.sp_b', 'SELECT 1 AS k, date ''2020-01-05'' AS d', mode => 'append');
SELECT bucketfdw.create_table_as('public.sp_b', 'SELECT * FROM public.sp_b WHERE k = 1', mode => 'overwrite');
SELECT bucketfdw.create_table_as('public.sp_b', 'SELECT * FROM public.sp_b', mode => 'overwrite', buckets => 2);
RESET ROLE;
SELECT tableoid::regclass, count(*) FROM sp_b GROUP BY 1 ORDER BY 1;

-- what else takes a partitioned parent
SELECT bucketfdw.table_size('sp_b') = bucketfdw.table_size('sp_1') + bucketfdw.table_size('sp_2x') + bucketfdw.table_size('sp_2y') AS sum,
	bucketfdw.table_size('sp_2') = bucketfdw.table_size('sp_2x') + bucketfdw.table_size('sp_2y') AS sum_below;
SELECT bucketfdw.table_size('sp_3');
INSERT INTO sp_b SELECT * FROM sp_rows;
SELECT count(*) AS buckets, sum(rows), max(runs) FROM bucketfdw.bucket_stats('sp_b');
SELECT sum(s.rows) FROM unnest('{sp_1,sp_2x,sp_2y}'::regclass[]) t, bucketfdw.bucket_stats(t) s;
ALTER FOREIGN TABLE sp_2y OPTIONS (SET buckets '24');
INSERT INTO sp_b SELECT * FROM sp_rows;
SELECT count(*) AS buckets, sum(rows), max(runs) FROM bucketfdw.bucket_stats('sp_b');
CALL bucketfdw.compact('sp_b', true);
SELECT max(runs) FROM bucketfdw.bucket_stats('sp_b');
SELECT bucketfdw.bucket_stats('sp_3');
SELECT used, reason FROM bucketfdw.why_not('sp_1', 'sp_2');
SELECT used, reason FROM bucketfdw.why_not('SELECT count(*) FROM sp_1 JOIN sp_2 USING (k)');

DROP FOREIGN TABLE si_b, si_other CASCADE;
DROP TABLE si_h, si_h2, sp_b, sp_h, sp_h2, sp_rows;
DROP FUNCTION spec(regclass), si_checks(), sp_checks();
DROP OWNED BY regress_bf_si;
DROP ROLE regress_bf_si;

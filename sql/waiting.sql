-- Rows that wait in their transaction: whoever looks sees of them what a heap shows.
-- Everything is done to a bucketed table and a heap; two equal lines, or one true, tell.
CREATE SCHEMA waiting;
SET search_path = waiting, public;

CREATE FOREIGN TABLE tb (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE th (k int, v int);

-- small writes stand in no file; in plpgsql, so that these queries have no workers
CREATE FUNCTION files(t regclass) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN (SELECT count(*) FROM bucketfdw.manifest WHERE relid = t::oid) +
		(SELECT count(*) FROM bucketfdw.inline_rows WHERE relid = t::oid);
END $$;
CREATE FUNCTION writes(t regclass) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN (SELECT count(stats_rows) FROM bucketfdw.manifest WHERE relid = t::oid) +
		(SELECT count(*) FROM bucketfdw.inline_rows WHERE relid = t::oid);
END $$;

-- wr: a volatile writer that tells what it sees; rd: a stable reader; rdc: one with a cursor
DO $do$
DECLARE t text;
BEGIN
	FOREACH t IN ARRAY '{tb,th}'::text[] LOOP
		EXECUTE format($$
			CREATE FUNCTION wr_%1$s(n int DEFAULT 1) RETURNS bigint LANGUAGE plpgsql AS $f$
			BEGIN
				INSERT INTO %1$s SELECT i, 2 FROM generate_series(1, n) i;
				RETURN (SELECT count(*) FROM %1$s);
			END $f$;
			CREATE FUNCTION blind_%1$s(n int DEFAULT 1) RETURNS bigint LANGUAGE plpgsql AS $f$
			BEGIN
				INSERT INTO %1$s SELECT i, 3 FROM generate_series(1, n) i;
				RETURN 0;
			END $f$;
			CREATE FUNCTION failing_%1$s() RETURNS bigint LANGUAGE plpgsql AS $f$
			DECLARE n bigint;
			BEGIN
				INSERT INTO %1$s VALUES (7, 7);
				BEGIN
					INSERT INTO %1$s VALUES (8, 8);
					n := (SELECT count(*) FROM %1$s);
					RAISE EXCEPTION 'no';
				EXCEPTION WHEN raise_exception THEN
					RETURN n * 100 + (SELECT count(*) FROM %1$s);
				END;
			END $f$;
			CREATE FUNCTION rd_%1$s() RETURNS bigint LANGUAGE plpgsql STABLE AS $f$
			BEGIN
				RETURN (SELECT count(*) FROM %1$s);
			END $f$;
			CREATE FUNCTION rdc_%1$s() RETURNS bigint LANGUAGE plpgsql STABLE AS $f$
			DECLARE n bigint := 0; r record;
			BEGIN
				FOR r IN SELECT * FROM %1$s LOOP n := n + 1; END LOOP;
				RETURN n;
			END $f$;
			CREATE PROCEDURE proc_%1$s(INOUT a bigint, INOUT b bigint) LANGUAGE plpgsql AS $f$
			BEGIN
				INSERT INTO %1$s VALUES (1, 1);
				a := wr_%1$s() * 100 + rd_%1$s();
				INSERT INTO %1$s VALUES (4, 4);
				b := rd_%1$s() * 100 + wr_%1$s();
			END $f$;
			SELECT wr_%1$s(), rd_%1$s(), rdc_%1$s(), blind_%1$s(), failing_%1$s();
			CALL proc_%1$s(0, 0);
			TRUNCATE %1$s;
		$$, t);
	END LOOP;
END $do$;

-- plans are cached
SELECT wr_tb(), rd_tb(), rdc_tb(), blind_tb(), failing_tb();
SELECT wr_th(), rd_th(), rdc_th(), blind_th(), failing_th();
CALL proc_tb(0, 0);
CALL proc_th(0, 0);
TRUNCATE tb, th;

-- writers and readers of one message, in every order
BEGIN;
INSERT INTO tb VALUES (1, 1);
INSERT INTO th VALUES (1, 1);
SELECT wr_tb(), rd_tb(), rdc_tb();
SELECT wr_th(), rd_th(), rdc_th();
SELECT rd_tb(), wr_tb(), rdc_tb(), wr_tb(2), rd_tb();
SELECT rd_th(), wr_th(), rdc_th(), wr_th(2), rd_th();
SELECT blind_tb(), rd_tb(), blind_tb(3), rdc_tb(), wr_tb();
SELECT blind_th(), rd_th(), blind_th(3), rdc_th(), wr_th();
ROLLBACK;

-- several statements in one message, with no transaction around them
INSERT INTO tb VALUES (1, 1)\; SELECT wr_tb(), rd_tb()\; INSERT INTO tb VALUES (2, 2)\; SELECT wr_tb(), rd_tb();
INSERT INTO th VALUES (1, 1)\; SELECT wr_th(), rd_th()\; INSERT INTO th VALUES (2, 2)\; SELECT wr_th(), rd_th();
TRUNCATE tb, th;

-- procedures
CALL proc_tb(0, 0);
CALL proc_th(0, 0);
BEGIN;
CALL proc_tb(0, 0);
CALL proc_th(0, 0);
SELECT blind_tb(), (SELECT count(*) FROM tb);
SELECT blind_th(), (SELECT count(*) FROM th);
ROLLBACK;
TRUNCATE tb, th;

-- exception blocks
BEGIN;
SELECT blind_tb(2), failing_tb(), rd_tb(), failing_tb(), rd_tb();
SELECT blind_th(2), failing_th(), rd_th(), failing_th(), rd_th();
SELECT (SELECT count(*) FROM tb) = (SELECT count(*) FROM th) AS same;
COMMIT;
SELECT array_agg(k ORDER BY k) = (SELECT array_agg(k ORDER BY k) FROM th) AS same FROM tb;
TRUNCATE tb, th;

-- expressions of a block: a reader under the snapshot of the expression
DO $$
DECLARE b bigint; h bigint;
BEGIN
	INSERT INTO tb VALUES (1, 1);
	INSERT INTO th VALUES (1, 1);
	b := wr_tb() * 10000 + rd_tb() * 100 + wr_tb();
	h := wr_th() * 10000 + rd_th() * 100 + wr_th();
	RAISE NOTICE '% %', b, h;
	b := rd_tb() * 10000 + wr_tb(3) * 100 + rdc_tb();
	h := rd_th() * 10000 + wr_th(3) * 100 + rdc_th();
	RAISE NOTICE '% %', b, h;
END $$;
TRUNCATE tb, th;

-- a trigger of a heap table writes and reads
CREATE TABLE source (n int);
CREATE FUNCTION copy_row() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE b bigint; h bigint;
BEGIN
	INSERT INTO tb VALUES (NEW.n, 5);
	INSERT INTO th VALUES (NEW.n, 5);
	b := wr_tb() * 100 + rd_tb();
	h := wr_th() * 100 + rd_th();
	IF b <> h THEN
		RAISE 'bucketed %, heap %', b, h;
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER copy_row BEFORE INSERT ON source FOR EACH ROW EXECUTE FUNCTION copy_row();
INSERT INTO source SELECT generate_series(1, 5);
CREATE TRIGGER copy_row_after AFTER INSERT ON source FOR EACH ROW EXECUTE FUNCTION copy_row();
INSERT INTO source SELECT generate_series(1, 5) RETURNING rd_tb() = rd_th() AS same;
SELECT array_agg(k ORDER BY k) = (SELECT array_agg(k ORDER BY k) FROM th) AS same, count(*) FROM tb;
TRUNCATE tb, th;

-- a trigger of the bucketed table itself sees rows of its own statement as they come
CREATE FUNCTION look_tb() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.v := (SELECT count(*) FROM tb);
	RETURN NEW;
END $$;
CREATE FUNCTION look_th() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.v := (SELECT count(*) FROM th);
	RETURN NEW;
END $$;
CREATE TRIGGER look BEFORE INSERT ON tb FOR EACH ROW EXECUTE FUNCTION look_tb();
CREATE TRIGGER look BEFORE INSERT ON th FOR EACH ROW EXECUTE FUNCTION look_th();
INSERT INTO tb SELECT generate_series(1, 8);
INSERT INTO th SELECT generate_series(1, 8);
SELECT array_agg(v ORDER BY k) AS bucketed FROM tb;
SELECT array_agg(v ORDER BY k) AS heap FROM th;
DROP TRIGGER look ON tb;
DROP TRIGGER look ON th;
TRUNCATE tb, th;

-- what INSERT ... SELECT of the table itself reads, and parts of one statement that change data
BEGIN;
INSERT INTO tb SELECT i, i FROM generate_series(1, 10) i;
INSERT INTO th SELECT i, i FROM generate_series(1, 10) i;
INSERT INTO tb SELECT k + 100, v FROM tb;
INSERT INTO th SELECT k + 100, v FROM th;
WITH w AS (INSERT INTO tb SELECT k + 200, v FROM tb RETURNING k) SELECT count(*), (SELECT count(*) FROM tb) FROM w;
WITH w AS (INSERT INTO th SELECT k + 200, v FROM th RETURNING k) SELECT count(*), (SELECT count(*) FROM th) FROM w;
SELECT array_agg(k ORDER BY k) = (SELECT array_agg(k ORDER BY k) FROM th) AS same, count(*) FROM tb;
ROLLBACK;

-- cursors opened in between see what they saw, whatever becomes of the rows
CREATE FUNCTION rest(c refcursor) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
	MOVE FORWARD ALL IN c;
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN n;
END $$;
BEGIN;
INSERT INTO tb SELECT i, i FROM generate_series(1, 10) i;
DECLARE c1 CURSOR FOR SELECT * FROM tb;
FETCH 0 FROM c1;
INSERT INTO tb SELECT i, i FROM generate_series(11, 30) i;
DECLARE c2 CURSOR FOR SELECT * FROM tb;
DECLARE c2s CURSOR FOR SELECT k, rd_tb() FROM tb ORDER BY k LIMIT 3;
SAVEPOINT s;
INSERT INTO tb SELECT i, i FROM generate_series(31, 60) i;
DECLARE c3 CURSOR FOR SELECT * FROM tb ORDER BY k;
SELECT count(*) FROM tb;
FETCH 1 FROM c3;
ROLLBACK TO s;
INSERT INTO tb SELECT i, i FROM generate_series(61, 100) i;
DECLARE c4 CURSOR WITH HOLD FOR SELECT * FROM tb;
FETCH 1 FROM c2s;
SELECT rest('c1'), rest('c2');
-- all rows into files
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SELECT count(*) FROM tb;
FETCH 2 FROM c2s;
DECLARE c5 CURSOR FOR SELECT * FROM tb;
SELECT rest('c5');
COMMIT;
FETCH 0 FROM c4;
SELECT rest('c4');
CLOSE c4;
TRUNCATE tb;

-- a cursor opened before its rows are spilled and merged
BEGIN;
SET LOCAL work_mem = '64kB';
INSERT INTO tb SELECT i, i FROM generate_series(1, 3000) i;
DECLARE c1 CURSOR FOR SELECT sum(v) OVER (), count(*) OVER () FROM tb;
DECLARE c2 CURSOR FOR SELECT k FROM tb ORDER BY k;
FETCH 1 FROM c2;
INSERT INTO tb SELECT i, i FROM generate_series(3001, 60000) i;
FETCH 1 FROM c1;
SELECT count(*), sum(v) FROM tb;
SAVEPOINT s;
INSERT INTO tb SELECT i, i FROM generate_series(60001, 90000) i;
SELECT count(*), sum(v) FROM tb;
ROLLBACK TO s;
SELECT rest('c2');
COMMIT;
SELECT count(*), sum(v) FROM tb;
TRUNCATE tb;

-- a plan with workers: the rows are sealed, one write a command as far as someone could tell
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE FUNCTION par_tb() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(*) FROM tb);
END $$;
SELECT par_tb();
BEGIN;
INSERT INTO tb VALUES (1, 1);
INSERT INTO th VALUES (1, 1);
DECLARE c CURSOR FOR SELECT k, rd_tb() FROM tb;
INSERT INTO tb VALUES (2, 1);
INSERT INTO th VALUES (2, 1);
INSERT INTO tb VALUES (3, 1);
INSERT INTO th VALUES (3, 1);
SELECT blind_tb(), rd_tb(), blind_tb(), par_tb(), rd_tb();
SELECT blind_th(), rd_th(), blind_th(), rd_th();
FETCH ALL FROM c;
SELECT writes('tb');
SAVEPOINT s;
INSERT INTO tb VALUES (5, 5);
SELECT par_tb();
ROLLBACK TO s;
SELECT par_tb();
COMMIT;
TRUNCATE tb, th;

-- a loop of many commands and plans with workers makes few files
DO $$
BEGIN
	FOR i IN 1..200 LOOP
		INSERT INTO tb VALUES (i, i);
		IF i % 50 = 0 THEN
			RAISE NOTICE '%', par_tb();
		END IF;
	END LOOP;
END $$;
SELECT files('tb') < 20 AS few, count(*) FROM tb;
TRUNCATE tb;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- planning and reading write nothing
BEGIN;
INSERT INTO tb SELECT i, i FROM generate_series(1, 10) i;
EXPLAIN (COSTS OFF) SELECT * FROM tb WHERE k = 1;
PREPARE p AS SELECT count(*) FROM tb;
SELECT left(bucketfdw.why_not('SELECT * FROM waiting.tb a JOIN waiting.tb b USING (k)')::text, 0) AS asked LIMIT 1;
EXECUTE p;
SELECT count(*) FROM tb JOIN tb t2 USING (k);
SELECT rows, files FROM bucketfdw.tables WHERE relid = 'tb'::regclass;
SELECT count(*) FROM bucketfdw.files WHERE relid = 'tb'::regclass;
SELECT bucket, rows FROM bucketfdw.bucket_stats('tb');
SELECT bucketfdw.table_size('tb') - (SELECT coalesce(sum(bucketfdw.page_bytes(bytes)), 0) FROM bucketfdw.garbage WHERE relid = 'tb'::regclass) AS table_size;
SELECT files('tb');
SET TRANSACTION READ ONLY;
EXECUTE p;
EXPLAIN (COSTS OFF) SELECT * FROM tb WHERE k = 1;
SELECT files('tb');
COMMIT;
SELECT files('tb') > 0 AS sealed, count(*) FROM tb;
DEALLOCATE p;
TRUNCATE tb;

-- estimates know of the rows that wait
BEGIN;
INSERT INTO tb SELECT i, i FROM generate_series(1, 1000) i;
CREATE FUNCTION estimate(q text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE j json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || q INTO j;
	RETURN j -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
SELECT estimate('SELECT * FROM tb');
SELECT files('tb');
ROLLBACK;

-- one-row statements are sealed together
BEGIN;
DO $$
BEGIN
	FOR i IN 1..1000 LOOP
		INSERT INTO tb VALUES (i, i);
	END LOOP;
END $$;
COMMIT;
SELECT files('tb'), writes('tb'), count(*) FROM tb;
TRUNCATE tb;

-- create_table_as seals its own rows
DO $$
BEGIN
	FOR i IN 1..100 LOOP
		INSERT INTO tb VALUES (i, i);
	END LOOP;
	PERFORM bucketfdw.create_table_as('tb', 'SELECT i AS k, i AS v FROM generate_series(1, 10) i', mode => 'append');
	RAISE NOTICE '% write, % rows', writes('tb'), (SELECT count(*) FROM tb);
END $$;
SELECT writes('tb'), count(*) FROM tb;
TRUNCATE tb;

-- read what was written, row by row: no file a row
DO $$
BEGIN
	FOR i IN 1..200 LOOP
		INSERT INTO tb SELECT i % 150, i WHERE NOT EXISTS (SELECT FROM tb WHERE k = i % 150);
	END LOOP;
END $$;
SELECT files('tb'), count(*) FROM tb;
TRUNCATE tb;

-- a large statement is sealed at its end, before commit; others wait
CREATE FOREIGN TABLE big (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
BEGIN;
INSERT INTO big VALUES (0, 'small');
SELECT files('big');
INSERT INTO big SELECT i, repeat('x', 500) || i FROM generate_series(1, 20000) i;
SELECT files('big') > 0 AS sealed, writes('big');
SELECT count(*) FROM big;
SAVEPOINT s;
WITH w AS (INSERT INTO big SELECT i, repeat('y', 500) || i FROM generate_series(1, 20000) i RETURNING k)
	SELECT count(*) FROM w;
SELECT writes('big'), count(*) FROM big;
ROLLBACK TO s;
SELECT writes('big'), count(*) FROM big;
\copy big FROM PROGRAM 'awk "BEGIN { for (i = 1; i <= 20000; i++) printf \"%d\t%500s\n\", i, \"\" }"'
SELECT writes('big'), count(*) FROM big;
COMMIT;
SELECT writes('big'), count(*) FROM big;
TRUNCATE big;
CREATE FUNCTION written(q text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE l text;
BEGIN
	FOR l IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF) ' || q LOOP
		IF l ~ 'Written|Temporary' THEN
			RETURN NEXT regexp_replace(l, '(Bytes.*): [1-9]\d*', '\1: N');
		END IF;
	END LOOP;
END $$;
SELECT * FROM written('INSERT INTO big VALUES (1, ''a''), (2, ''b'')');
SET work_mem = '64MB';
SELECT * FROM written('INSERT INTO big SELECT i, repeat(''x'', 500) || i FROM generate_series(1, 20000) i');
SET work_mem = '1MB';
SELECT * FROM written('INSERT INTO big SELECT i, repeat(''x'', 500) || i FROM generate_series(1, 20000) i');
RESET work_mem;
TRUNCATE big;

-- its errors and its time are the statement's
\set VERBOSITY terse
BEGIN;
SET LOCAL work_mem = '64MB';
SET LOCAL bucketfdw.min_free_space = '1000TB';
INSERT INTO big SELECT i, repeat('x', 500) || i FROM generate_series(1, 20000) i;
ROLLBACK;
\set VERBOSITY default

-- TRUNCATE and DROP forget
BEGIN;
INSERT INTO tb VALUES (1, 1);
SAVEPOINT s;
TRUNCATE tb;
SELECT count(*) FROM tb;
ROLLBACK TO s;
SELECT count(*) FROM tb;
TRUNCATE tb;
INSERT INTO tb VALUES (2, 2);
SELECT * FROM tb;
COMMIT;
SELECT * FROM tb;
TRUNCATE tb;

-- sealed in an inner subtransaction, waiting again when that is undone
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
BEGIN;
INSERT INTO tb VALUES (1, 1);
SAVEPOINT a;
INSERT INTO tb VALUES (2, 2);
SAVEPOINT b;
INSERT INTO tb VALUES (3, 3);
SELECT count(*) FROM tb;
SELECT files('tb') > 0 AS sealed;
ROLLBACK TO b;
SELECT files('tb') > 0 AS sealed, array_agg(k ORDER BY k) FROM tb;
RELEASE a;
SAVEPOINT c;
SELECT count(*) FROM tb;
ROLLBACK TO c;
SELECT array_agg(k ORDER BY k) FROM tb;
INSERT INTO tb VALUES (4, 4);
COMMIT;
SELECT array_agg(k ORDER BY k) FROM tb;

-- rows of one command in two tables, never read before they were sealed there
CREATE TABLE parts (k int, v int) PARTITION BY LIST (v);
CREATE FOREIGN TABLE parts_1 PARTITION OF parts FOR VALUES IN (1) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1');
CREATE FOREIGN TABLE parts_2 PARTITION OF parts FOR VALUES IN (2) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1');
BEGIN;
INSERT INTO parts VALUES (1, 1), (2, 1), (3, 2);
SAVEPOINT a;
SELECT count(*) FROM tb;
SELECT files('parts_1') + files('parts_2') AS sealed;
ROLLBACK TO a;
SELECT files('parts_1') + files('parts_2') AS sealed;
SET LOCAL max_parallel_workers_per_gather = 0;
SELECT array_agg(k ORDER BY k) FROM parts;
SELECT array_agg(k ORDER BY k) FROM parts_1;
COMMIT;
SELECT array_agg(k ORDER BY k) FROM parts;

-- a function of the leader whose own query would have workers, while the rows of the query with workers wait
CREATE TABLE numbers AS SELECT generate_series(1, 20000) AS k;
ANALYZE numbers;
CREATE FUNCTION counted(i int) RETURNS int LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$
	DECLARE
		n int := 0;
	BEGIN
		IF i % 5000 = 0 THEN
			SELECT count(*) INTO n FROM numbers;
		END IF;
		RETURN n;
	END $$;
SELECT bucketfdw.create_table_as('counted_b', 'SELECT k, counted(k) AS n FROM numbers', 'k', 8);
SELECT bucketfdw.create_table_as('counted_b', 'SELECT k, counted(k) AS n FROM numbers', mode => 'append');
SELECT n, count(*) FROM counted_b GROUP BY n ORDER BY n;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

SET client_min_messages = warning;
DROP SCHEMA waiting CASCADE;

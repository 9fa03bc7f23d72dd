-- What writes tables shows in pg_stat_progress_copy; looked at from inside, by functions of the query.
CREATE FUNCTION told(at int, every int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	p record;
BEGIN
	IF at % every = 0 THEN
		PERFORM pg_stat_clear_snapshot();
		FOR p IN SELECT * FROM pg_stat_progress_copy WHERE pid = pg_backend_pid() LOOP
			RAISE NOTICE '% % %: % rows, % of % bytes', p.relid::regclass, p.command, p.type, p.tuples_processed, p.bytes_processed, p.bytes_total;
		END LOOP;
	END IF;
	RETURN at;
END
$$;
CREATE FOREIGN TABLE pg_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO pg_b SELECT told(g, 4000), g FROM generate_series(1, 9000) g;
-- few rows are not worth it; nothing is left at the end of a statement, or after an error
INSERT INTO pg_b SELECT told(g, 500), g FROM generate_series(1, 1000) g;
SELECT told(1, 1);
INSERT INTO pg_b SELECT told(g, 2000), 3000 / (3000 - g) FROM generate_series(1, 9000) g;
SELECT told(1, 1);
BEGIN;
INSERT INTO pg_b SELECT g, g FROM generate_series(1, 3000) g;
SELECT told(1, 1);
SAVEPOINT s;
INSERT INTO pg_b SELECT told(g, 2000), 3000 / (3000 - g) FROM generate_series(1, 9000) g;
ROLLBACK TO s;
INSERT INTO pg_b SELECT told(g, 2000), g FROM generate_series(1, 3000) g;
COMMIT;
SELECT told(1, 1);
SELECT bucketfdw.create_table_as('pg_a_b', 'SELECT told(g, 4000) AS k, g AS v FROM generate_series(1, 5000) g', bucket_by => 'k', buckets => 4);
SELECT bucketfdw.create_table_as('pg_a_b', 'SELECT told(g, 4000) AS k, g AS v FROM generate_series(1, 5000) g', mode => 'overwrite');
-- an exception block and a COPY in functions of the query clear the entry; it comes again. That of a COPY is its own
CREATE FUNCTION trouble(at int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF at % 2500 = 0 THEN
		PERFORM 1 / 0;
	END IF;
	RETURN at;
EXCEPTION WHEN division_by_zero THEN
	RETURN told(at, 1);
END
$$;
INSERT INTO pg_b SELECT told(trouble(g), 3500), g FROM generate_series(1, 4000) g;
\set file `mktemp -u /tmp/bucketfdw_progress.XXXXXX`
CREATE FOREIGN TABLE pg_c_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE FUNCTION checked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM told(NEW.k, 3000); RETURN NEW; END $$;
CREATE TRIGGER checked BEFORE INSERT ON pg_c_b FOR EACH ROW EXECUTE FUNCTION checked();
COPY (SELECT g, g FROM generate_series(1, 5000) g) TO :'file';
CREATE FUNCTION copied(at int, file text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF at = 3000 THEN
		EXECUTE format('COPY pg_c_b FROM %L', file);
	END IF;
	RETURN at;
END
$$;
INSERT INTO pg_b SELECT told(copied(g, :'file'), 5000), g FROM generate_series(1, 6000) g;
SELECT told(1, 1);
\! rm -f /tmp/bucketfdw_progress.*
SELECT count(*) FROM pg_c_b;
DROP FOREIGN TABLE pg_b, pg_a_b, pg_c_b;
DROP FUNCTION told, trouble, copied, checked;

-- Delete vectors that are not as they should be: what verify() and readers say.  Here they are put into the catalog by
-- hand.
SET bucketfdw.inline_limit = 0;
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA verify_deletes;
SET search_path = verify_deletes, public;
ALTER TABLE bucketfdw.delete_vectors DISABLE TRIGGER discard_row;

-- n as so many bytes, the last one first
CREATE FUNCTION le(n bigint, size int) RETURNS bytea LANGUAGE sql AS $$
	SELECT string_agg(set_byte('\x00', 0, ((n >> (8 * i)) & 255)::int), '' ORDER BY i) FROM generate_series(0, size - 1) i
$$;
-- a group of a vector: ranges (0), numbers (1)
CREATE FUNCTION grp(nr int, form int, VARIADIC numbers int[]) RETURNS bytea LANGUAGE sql AS $$
	SELECT le(nr, 4) || le(form, 2) || le(cardinality(numbers) / (2 - form) - 1, 2) || string_agg(le(n, 2), '' ORDER BY i)
	FROM unnest(numbers) WITH ORDINALITY u (n, i)
$$;
-- make the vectors of a table these: file (null: an inline write), rows, rows of each run, bytes
CREATE TYPE vector AS (file bigint, rows bigint, runs bigint[], data bytea);
CREATE FUNCTION put(rel regclass, VARIADIC vectors vector[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	DELETE FROM bucketfdw.delete_vectors WHERE relid = rel;
	INSERT INTO bucketfdw.delete_vectors SELECT rel, file, rows, runs, data FROM unnest(vectors);
	RETURN QUERY SELECT regexp_replace(concat_ws(': ', bucket, problem, detail), 'id -?\d+', 'id N') FROM bucketfdw.verify(rel);
	EXECUTE format('SELECT count(*) FROM %s WHERE v IS NOT NULL', rel) INTO n;
	RETURN NEXT n || ' rows';
EXCEPTION WHEN data_corrupted THEN
	RETURN NEXT SQLERRM;
END
$$;

CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2', block_rows '20');
INSERT INTO t SELECT i, 'row ' || i FROM generate_series(1, 100) i;
SELECT bucket, rows FROM bucketfdw.bucket_stats('t');
SELECT file_id AS f, run_rows[1] AS first FROM bucketfdw.manifest WHERE relid = 't'::regclass \gset

-- sound ones: of the first run rows 0 and 5, then 6 to 8, then two of the second run
SELECT put('t', (:f, 2, '{2,0}', grp(0, 1, 0, 5)));
SELECT put('t', (:f, 2, '{2,0}', grp(0, 1, 0, 5)), (:f, 3, '{3,0}', grp(0, 0, 6, 8)), (:f, 2, '{0,2}', grp(0, 1, :first, 99)));
SELECT files, rows, deleted_rows FROM bucketfdw.tables WHERE relid = 't'::regclass;
SELECT rows, deleted_rows FROM bucketfdw.files WHERE relid = 't'::regclass;
SELECT bucket, rows, skew FROM bucketfdw.bucket_stats('t');
SELECT count(*) FROM t;
SELECT count(*) FROM bucketfdw.verify('t', quick => true);

-- malformed: no group, half a number, an unknown form, out of order, rows that are not there
SELECT put('t', (:f, 1, '{1,0}', '\x00'));
SELECT put('t', (:f, 2, '{2,0}', substr(grp(0, 1, 0, 5), 1, 11)));
SELECT put('t', (:f, 1, '{1,0}', le(0, 4) || le(7, 2) || le(0, 2) || le(1, 2)));
SELECT put('t', (:f, 2, '{2,0}', grp(0, 1, 5, 0)));
SELECT put('t', (:f, 1, '{0,1}', grp(0, 1, 100)));
SELECT put('t', (:f, 1, '{0,1}', grp(1, 1, 0)));
-- counts: of all rows, of runs, of another number of runs
SELECT put('t', (:f, 3, '{2,0}', grp(0, 1, 0, 5)));
SELECT put('t', (:f, 2, '{1,1}', grp(0, 1, 0, 5)));
SELECT put('t', (:f, 2, '{2}', grp(0, 1, 0, 5)));
SELECT put('t', (:f, 2, '{}', grp(0, 1, 0, 5)));
-- twice
SELECT put('t', (:f, 2, '{2,0}', grp(0, 1, 0, 5)), (:f, 2, '{2,0}', grp(0, 1, 5, 7)));
-- of what is not there
SELECT put('t', (0, 2, '{2,0}', grp(0, 1, 0, 5)));
-- a bad one does not hide what is wrong with others
SELECT put('t', (:f, 1, '{1,0}', '\x00'), (0, 2, '{2,0}', grp(0, 1, 0, 5)), (:f, 1, '{2,0}', grp(0, 1, 3)));
-- an array that is none of runs
SELECT put('t', (:f, 1, '{{1},{0}}', grp(0, 1, 3)));

-- inline writes have no runs
RESET bucketfdw.inline_limit;
CREATE FOREIGN TABLE i (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
INSERT INTO i SELECT g, 'row ' || g FROM generate_series(1, 10) g;
SELECT file_id AS w FROM bucketfdw.inline_rows WHERE relid = 'i'::regclass \gset
SELECT put('i', (:w, 2, '{}', grp(0, 1, 0, 9)));
SELECT rows, deleted_rows FROM bucketfdw.tables WHERE relid = 'i'::regclass;
SELECT put('i', (:w, 1, '{}', grp(0, 1, 10)));
SELECT put('i', (:w, 2, '{1,1}', grp(0, 1, 0, 9)));

-- a file that is given up takes its vectors along; what the table loses are the rows it had
SELECT put('t', (:f, 8, '{8,0}', grp(0, 0, 0, 7)));
SELECT bucketfdw.forget_file('t', path) FROM bucketfdw.files WHERE relid = 't'::regclass;
SELECT count(*) FROM bucketfdw.delete_vectors WHERE relid = 't'::regclass;

DELETE FROM bucketfdw.delete_vectors;
ALTER TABLE bucketfdw.delete_vectors ENABLE ALWAYS TRIGGER discard_row;
DROP SCHEMA verify_deletes CASCADE;

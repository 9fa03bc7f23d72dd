--
-- bucketfdw.hash and bucketfdw.bucket_id: the frozen hash
--
-- Every number in the expected output is on disk somewhere: a change here is never right.
--
SELECT proname, provolatile, proparallel, proisstrict, prorettype::regtype AS returns
  FROM pg_proc
 WHERE pronamespace = 'bucketfdw'::regnamespace AND proname IN ('hash', 'bucket_id')
 ORDER BY 1;

--
-- Iceberg's vectors
--
SELECT what, hash, hash = iceberg AS agrees
  FROM (VALUES
    (1, 'smallint 34', bucketfdw.hash(34::smallint), 2017239379),
    (2, 'integer 34', bucketfdw.hash(34), 2017239379),
    (3, 'bigint 34', bucketfdw.hash(34::bigint), 2017239379),
    (4, 'text 34', bucketfdw.hash('34'::text), -427558391),
    (5, 'true', bucketfdw.hash(true), 1392991556),
    (6, 'date', bucketfdw.hash(date '2017-11-16'), -653330422),
    (7, 'time', bucketfdw.hash(time '22:31:08'), -662762989),
    (8, 'timestamp', bucketfdw.hash(timestamp '2017-11-16 22:31:08'), -2047944441),
    (9, 'timestamptz', bucketfdw.hash(timestamptz '2017-11-16 14:31:08-08'), -2047944441),
    (10, 'timestamp, one microsecond later', bucketfdw.hash(timestamp '2017-11-16 22:31:08.000001'), -1207196810),
    (11, 'timestamptz, one microsecond later', bucketfdw.hash(timestamptz '2017-11-16 14:31:08.000001-08'), -1207196810),
    (12, 'text', bucketfdw.hash('iceberg'::text), 1210000089),
    (13, 'uuid', bucketfdw.hash(uuid 'f79c3e09-677c-4bbd-a479-3f349cb785e7'), 1488055340),
    (14, 'bytea', bucketfdw.hash('\x00010203'::bytea), -188683207),
    (15, 'real 1', bucketfdw.hash(1::real), -142385009),
    (16, 'double precision 1', bucketfdw.hash(1::double precision), -142385009),
    (17, 'double precision 0', bucketfdw.hash(0::double precision), 1669671676),
    (18, 'double precision -0', bucketfdw.hash('-0'::double precision), 1669671676),
    (19, 'real -0', bucketfdw.hash('-0'::real), 1669671676)
  ) v (n, what, hash, iceberg)
 ORDER BY n;

SELECT bucketfdw.bucket_id(16, 34) AS "3", bucketfdw.bucket_id(100, 34) AS "79",
       bucketfdw.bucket_id(16, date '2017-11-16') AS "10",
       bucketfdw.bucket_id(16, timestamp '2017-11-16 22:31:08') AS "7",
       bucketfdw.bucket_id(16, 'iceberg'::text) AS "9",
       bucketfdw.bucket_id(16, uuid 'f79c3e09-677c-4bbd-a479-3f349cb785e7') AS "12";

--
-- How it is called
--
-- an untyped literal is text
SELECT bucketfdw.hash('iceberg') = bucketfdw.hash('iceberg'::text) AS literal,
       bucketfdw.hash('iceberg') = bucketfdw.hash('iceberg'::varchar(10)) AS varchar,
       bucketfdw.hash('iceberg') = bucketfdw.hash('iceberg'::char(10)) AS bpchar;
-- nulls leave the hash as it is
SELECT bucketfdw.hash(NULL), bucketfdw.hash(NULL::int), bucketfdw.hash(NULL::text, NULL::date),
       bucketfdw.bucket_id(64, NULL), bucketfdw.bucket_id(64, NULL::uuid);
SELECT bucketfdw.hash(1, NULL::text) = bucketfdw.hash(1) AS "null after",
       bucketfdw.hash(NULL::text, 1) = bucketfdw.hash(1) AS "null before",
       bucketfdw.hash(1, NULL, 2) = bucketfdw.hash(1, 2) AS "null between";
SELECT bucketfdw.bucket_id(NULL, 1);
-- several columns: the hash so far is the seed of the next
SELECT bucketfdw.hash(1, 2), bucketfdw.hash(2, 1), bucketfdw.hash(1, 'a'), bucketfdw.hash('a', 1),
       bucketfdw.hash(1, 2, 3), bucketfdw.hash(date '2024-02-29', 17, 'x', true),
       bucketfdw.bucket_id(64, 1, 2), bucketfdw.bucket_id(64, 1, 'a');
SELECT bucketfdw.hash('a', 'bc') <> bucketfdw.hash('ab', 'c') AS "columns do not run together";
-- an array spread over the arguments
SELECT bucketfdw.hash(VARIADIC ARRAY[1, 2, 3]) = bucketfdw.hash(1, 2, 3) AS int,
       bucketfdw.hash(VARIADIC ARRAY['a', NULL, 'b']) = bucketfdw.hash('a', 'b') AS text,
       bucketfdw.hash(VARIADIC ARRAY[1.5, 2]) = bucketfdw.hash(1.5, 2) AS numeric,
       bucketfdw.bucket_id(64, VARIADIC ARRAY['a', 'b']) = bucketfdw.bucket_id(64, 'a', 'b') AS bucket_id;
SELECT bucketfdw.hash(VARIADIC '{}'::int[]), bucketfdw.hash(VARIADIC NULL::int[]);
-- domains count as their base type, also inside arrays
CREATE DOMAIN hash_positive AS bigint CHECK (VALUE > 0);
CREATE DOMAIN hash_positive_too AS hash_positive;
SELECT bucketfdw.hash(34::hash_positive) AS domain, bucketfdw.hash(34::hash_positive_too) AS "domain over domain",
       bucketfdw.hash(VARIADIC ARRAY[34]::hash_positive[]) AS array;
-- toasted values: compressed, and out of line
CREATE TEMP TABLE hash_toast (v text, n numeric, b bytea);
INSERT INTO hash_toast VALUES (repeat('long ', 100000), ('1' || repeat('0123456789', 9000))::numeric, '\x00');
INSERT INTO hash_toast SELECT string_agg(sqrt(i)::text, ' '), 0.1, '\x01' FROM generate_series(1, 10000) i;
ALTER TABLE hash_toast ALTER v SET STORAGE EXTERNAL;
INSERT INTO hash_toast SELECT v, n, b FROM hash_toast;
INSERT INTO hash_toast SELECT v || '', n + 0, b || '' FROM hash_toast;
SELECT count(*), count(DISTINCT bucketfdw.hash(v)) AS v, count(DISTINCT bucketfdw.hash(n)) AS n,
       count(DISTINCT bucketfdw.hash(v, n, b)) AS all
  FROM hash_toast;
SELECT bucketfdw.hash(v), bucketfdw.hash(n) FROM hash_toast WHERE b = '\x00' LIMIT 1;
-- one call site, values and nulls
SELECT v, bucketfdw.hash(v) FROM (VALUES (1), (NULL), (34)) x (v);

-- refused
SELECT bucketfdw.hash(interval '1 day');
SELECT bucketfdw.hash(1, '{}'::jsonb);
SELECT bucketfdw.bucket_id(64, ARRAY[1, 2]);
SELECT bucketfdw.hash(VARIADIC ARRAY['a']::name[]);
SELECT bucketfdw.hash(timetz '12:00+00');
SELECT bucketfdw.hash('abc'::name);
SELECT bucketfdw.hash(ROW(1, 2));
SELECT bucketfdw.bucket_id(0, 1);
SELECT bucketfdw.bucket_id(65537, 1);
SELECT bucketfdw.bucket_id(65536, 1), bucketfdw.bucket_id(1, 1);

--
-- Equal values have equal hashes, whatever they look like
--
SELECT count(DISTINCT bucketfdw.hash(v)) AS "5"
  FROM unnest('{5,5.0,5.00,05.000,5e0,0.5e1}'::numeric[]) v;
SELECT count(DISTINCT h) AS "one hash of 5"
  FROM (VALUES (bucketfdw.hash(5::smallint)), (bucketfdw.hash(5)), (bucketfdw.hash(5::bigint)), (bucketfdw.hash(5.000))) v (h);
SELECT count(*) AS "integers that differ as numeric"
  FROM (SELECT i FROM generate_series(-3000, 3000) i
        UNION ALL
        SELECT (10::numeric ^ e)::bigint * s + d FROM generate_series(0, 18) e, generate_series(-1, 1) d, unnest('{-1,1}'::int[]) s
        UNION ALL
        SELECT (1::bigint << e) + d FROM generate_series(0, 62) e, generate_series(-1, 1) d) v (i)
 WHERE bucketfdw.hash(i) <> bucketfdw.hash(i::numeric)
    OR bucketfdw.hash(i) <> bucketfdw.hash(i::numeric + 0.000)
    OR bucketfdw.hash(i) <> bucketfdw.hash(i::numeric(30, 5));
SELECT bucketfdw.hash(v) = bucketfdw.hash(v::numeric) AS ends
  FROM unnest('{9223372036854775807,-9223372036854775808,-1,0}'::bigint[]) v;
SELECT count(*) AS "int4 that differs from int8"
  FROM generate_series(-2147483648, 2147483647, 1234567) i WHERE bucketfdw.hash(i::int) <> bucketfdw.hash(i::bigint);
SELECT bucketfdw.hash('NaN'::real) = bucketfdw.hash('NaN'::double precision) AS nan,
       bucketfdw.hash(-'NaN'::double precision) = bucketfdw.hash('NaN'::double precision) AS "negative nan",
       bucketfdw.hash('Infinity'::double precision - 'Infinity'::double precision) = bucketfdw.hash('NaN'::double precision) AS "computed nan",
       bucketfdw.hash(0.1::real) = bucketfdw.hash(0.1::real::double precision) AS "real widened";
SELECT bucketfdw.hash('ab'::char(2)) = bucketfdw.hash('ab'::char(20)) AS blanks,
       bucketfdw.hash('ab '::text) = bucketfdw.hash('ab'::text) AS "blanks in text";

--
-- The frozen table: listed values
--
SELECT v, bucketfdw.hash(v), bucketfdw.bucket_id(64, v)
  FROM unnest('{-9223372036854775808,-2147483649,-2147483648,-32769,-32768,-5,-1,0,1,5,34,42,32767,32768,2147483647,2147483648,4294967295,4294967296,9223372036854775807}'::bigint[])
       WITH ORDINALITY x (v, n) ORDER BY n;
SELECT left(v::text, 24) AS v, length(v::text), bucketfdw.hash(v), bucketfdw.bucket_id(64, v)
  FROM unnest('{5,5.0,5.00,-5,9223372036854775807,9223372036854775808,-9223372036854775808,-9223372036854775809,0.5,-0.5,0,0.00,0.0001,0.00001,1.5,10000,10000.5,9999.9999,14.20,-14.20,12345678901234567890,100000000000000000000,1e40,1e-40,1e1000,-1e-1000,NaN,Infinity,-Infinity}'::numeric[])
       WITH ORDINALITY x (v, n) ORDER BY n;
SELECT v, bucketfdw.hash(v), bucketfdw.bucket_id(64, v)
  FROM unnest('{-Infinity,-1.7976931348623157e308,-1.5,-1,-5e-324,-0,0,5e-324,1e-5,0.1,0.5,1,1.5,3.141592653589793,34,1e15,9007199254740993,1.7976931348623157e308,Infinity,NaN}'::double precision[])
       WITH ORDINALITY x (v, n) ORDER BY n;
SELECT v, bucketfdw.hash(v), bucketfdw.bucket_id(64, v)
  FROM unnest('{-Infinity,-1.5,-1e-45,0.1,0.5,3.1415927,16777216,3.4028235e38,Infinity,NaN}'::real[])
       WITH ORDINALITY x (v, n) ORDER BY n;
SELECT v, bucketfdw.hash(v), bucketfdw.bucket_id(64, v) FROM unnest('{false,true}'::boolean[]) v ORDER BY 1;
SET datestyle = 'ISO, YMD';
SET timezone = 'UTC';
SELECT v, bucketfdw.hash(v), bucketfdw.bucket_id(64, v)
  FROM unnest('{-infinity,"4713-01-01 BC","0001-01-01",1582-10-15,1900-01-01,1969-12-31,1970-01-01,1970-01-02,1999-12-31,2000-01-01,2017-11-16,2024-02-29,9999-12-31,5874897-12-31,infinity}'::date[])
       WITH ORDINALITY x (v, n) ORDER BY n;
SELECT v, bucketfdw.hash(v), bucketfdw.bucket_id(64, v)
  FROM unnest('{0,1,34,1259,16384,2147483647,2147483648,4294967295}'::oid[]) WITH ORDINALITY x (v, n) ORDER BY n;
SELECT v, bucketfdw.hash(v), bucketfdw.bucket_id(64, v)
  FROM unnest('{00:00,00:00:00.000001,00:00:01,12:00,22:31:08,23:59:59.999999,24:00}'::time[])
       WITH ORDINALITY x (v, n) ORDER BY n;
SELECT v, bucketfdw.hash(v), bucketfdw.bucket_id(64, v), bucketfdw.hash(v::timestamptz) = bucketfdw.hash(v) AS tz
  FROM unnest('{-infinity,"4713-01-01 00:00:00 BC","1969-12-31 23:59:59.999999","1970-01-01 00:00:00","1970-01-01 00:00:00.000001","2000-01-01 00:00:00","2017-11-16 22:31:08","2038-01-19 03:14:08","294276-12-31 23:59:59.999999",infinity}'::timestamp[])
       WITH ORDINALITY x (v, n) ORDER BY n;
SELECT v, bucketfdw.hash(v), bucketfdw.bucket_id(64, v)
  FROM unnest('{00000000-0000-0000-0000-000000000000,00000000-0000-0000-0000-000000000001,80000000-0000-0000-0000-000000000000,f79c3e09-677c-4bbd-a479-3f349cb785e7,ffffffff-ffff-ffff-ffff-ffffffffffff}'::uuid[])
       WITH ORDINALITY x (v, n) ORDER BY n;
SELECT v, bucketfdw.hash(v), bucketfdw.bucket_id(64, v)
  FROM unnest(ARRAY['\x', '\x00', '\x0000', '\x000000', '\x00000000', '\x0000000000', '\xff', '\xffff', '\xffffff', '\xffffffff', '\x80', '\x61', '\xdeadbeef00']::bytea[])
       WITH ORDINALITY x (v, n) ORDER BY n;
SELECT v, bucketfdw.hash(v), bucketfdw.bucket_id(64, v), bucketfdw.hash(v::char(40)) AS bpchar
  FROM unnest(ARRAY['', ' ', 'a', 'ab', 'abc', 'abcd', 'abcde', 'a ', 'A', 'é', 'ß', '日本', '😀', 'N14228', 'iceberg', 'The quick brown fox jumps over the dog'])
       WITH ORDINALITY x (v, n) ORDER BY n;

--
-- The frozen table: long lists, ten hashes a line, then sums over longer ones
--
CREATE FUNCTION pg_temp.listed(query text) RETURNS TABLE (line int, hashes text) LANGUAGE plpgsql AS
$$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT i / 10, string_agg(bucketfdw.hash(v)::text, '' '' ORDER BY i)
           FROM (SELECT i, (%s) AS v FROM generate_series(0, 199) i) x GROUP BY 1 ORDER BY 1', query);
END
$$;
CREATE FUNCTION pg_temp.summed(query text, OUT "values" bigint, OUT sum numeric, OUT weighted numeric) LANGUAGE plpgsql AS
$$
BEGIN
    EXECUTE format(
        'SELECT count(*), sum(bucketfdw.hash(v)), sum(i * bucketfdw.hash(v)::numeric)
           FROM (SELECT i, (%s) AS v FROM generate_series(0, 4999) i) x', query)
       INTO "values", sum, weighted;
END
$$;
CREATE TEMP TABLE hash_lists (n int, class text, query text);
INSERT INTO hash_lists VALUES
    (1, 'int2', '(i - 100)::smallint'),
    (2, 'int4', '(i - 100) * 104729'),
    (3, 'int8', '(i - 100)::bigint * 1000000007 * 65537'),
    (4, 'numeric', '(i - 100)::numeric / 8'),
    (5, 'numeric, big and small', '(i + 1)::numeric * CASE WHEN i % 2 = 0 THEN 1e18 ELSE -1e-9 END'),
    (6, 'float8', '(i - 100)::double precision / 8'),
    (7, 'float4', '(i - 100)::real * 1024.25::real'),
    (8, 'date', 'date ''1950-01-01'' + i * 97'),
    (9, 'oid', '(i::bigint * 858993)::oid'),
    (10, 'time', 'time ''00:00'' + i * interval ''17.000123 s'''),
    (11, 'timestamp', 'timestamp ''1950-01-01'' + i * interval ''97 days 3 hours 0.000007 s'''),
    (12, 'timestamptz', 'timestamptz ''1950-01-01 00:00+00'' + i * interval ''31 hours 0.5 s'''),
    (13, 'uuid', '(lpad(to_hex(i::bigint * 2654435761), 16, ''0'') || lpad(to_hex(i), 16, ''f''))::uuid'),
    (14, 'bytea', 'decode(repeat(lpad(to_hex(i % 256), 2, ''0''), i % 23), ''hex'')'),
    (15, 'text', 'repeat(chr(97 + i % 26), i % 19) || i'),
    (16, 'text, two bytes a letter', 'chr(192 + i % 1000) || chr(200 + i % 77)'),
    (17, 'bpchar', '(i || repeat('' '', i % 7))::char(16)');
SELECT class, line, hashes FROM hash_lists, pg_temp.listed(query) ORDER BY n, line;
SELECT class, s.* FROM hash_lists, pg_temp.summed(query) s ORDER BY n;

-- buckets are filled evenly
SELECT class, count(DISTINCT b) AS buckets, max(c) < 3 * 5000 / 64 AS even
  FROM (VALUES ('int'), ('text')) k (class),
       LATERAL (SELECT bucketfdw.bucket_id(64, i) AS b, count(*) AS c FROM generate_series(1, 5000) i WHERE class = 'int' GROUP BY 1
                UNION ALL
                SELECT bucketfdw.bucket_id(64, 'key ' || i), count(*) FROM generate_series(1, 5000) i WHERE class = 'text' GROUP BY 1) d
 GROUP BY class ORDER BY class;

RESET datestyle;
RESET timezone;
DROP DOMAIN hash_positive_too, hash_positive;

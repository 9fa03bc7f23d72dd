--
-- Options of a bucketed table: what is accepted, what is refused, and what the refusal says
--
\set SHOW_CONTEXT never
CREATE SCHEMA options;
SET search_path = options;
CREATE DOMAIN money_amount AS numeric(10,2) CHECK (VALUE >= 0);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);

-- what a table ended up with
CREATE VIEW specs AS
SELECT t.relid::text AS "table", t.bucket_by, t.buckets, t.sort_by, f.ftoptions
  FROM bucketfdw.tables t JOIN pg_foreign_table f ON f.ftrelid = t.relid
 WHERE (SELECT relnamespace FROM pg_class c WHERE c.oid = t.relid) = 'options'::regnamespace;

--
-- Accepted
--
-- defaults
CREATE FOREIGN TABLE o1 (id int, v text) SERVER bucketfdw OPTIONS (bucket_by 'id');
SELECT * FROM specs;
-- everything
CREATE FOREIGN TABLE o2 (a int, b text, c date, d money_amount, e uuid) SERVER bucketfdw
  OPTIONS (bucket_by 'a, b', buckets '7', sort_by 'a, b, c desc, d nulls first, e desc nulls last',
           compression 'zstd', compression_level '5', block_rows '1000');
SELECT * FROM specs WHERE "table" = 'o2';
-- case and space, as in SQL
CREATE FOREIGN TABLE o3 (id int, "Id" int, "a ""b"", c" int, "desc" int) SERVER bucketfdw
  OPTIONS (bucket_by ' ID ,  "Id"', buckets '3',
           sort_by 'Id ASC, "Id" ASC NULLS LAST, "a ""b"", c" DESC,desc Desc Nulls Last', compression 'LZ4');
SELECT * FROM specs WHERE "table" = 'o3';
-- a column whose name is a word of the list
CREATE FOREIGN TABLE o4 ("asc" int, nulls int, first int) SERVER bucketfdw
  OPTIONS (bucket_by 'asc, nulls', sort_by 'asc asc, nulls nulls last, first nulls first');
SELECT * FROM specs WHERE "table" = 'o4';
-- every key class
CREATE FOREIGN TABLE o5 (c1 smallint, c2 int, c3 bigint, c4 numeric, c5 real, c6 double precision, c7 boolean, c8 date, c9 oid,
                         c10 time, c11 timestamp, c12 timestamptz, c13 uuid, c14 bytea, c15 text, c16 varchar(9), c17 char(5), c18 money_amount)
  SERVER bucketfdw OPTIONS (bucket_by 'c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18');
SELECT cardinality(bucket_by), cardinality(sort_by) FROM specs WHERE "table" = 'o5';
-- limits
CREATE FOREIGN TABLE o6 (id int) SERVER bucketfdw
  OPTIONS (bucket_by 'id', buckets '65536', compression 'lz4', compression_level '12', block_rows '8192');
CREATE FOREIGN TABLE o7 (id int) SERVER bucketfdw
  OPTIONS (bucket_by 'id', buckets '1', compression 'none', block_rows '1', compression_level '0');
SELECT * FROM specs WHERE "table" IN ('o6', 'o7') ORDER BY 1;
-- a stored generated column can be a key
CREATE FOREIGN TABLE o8 (id int, day date, month int GENERATED ALWAYS AS (extract(month FROM day)) STORED) SERVER bucketfdw
  OPTIONS (bucket_by 'month');
-- the setting decides at CREATE, and is written down
SET bucketfdw.default_buckets = 16;
CREATE FOREIGN TABLE o9 (id int) SERVER bucketfdw OPTIONS (bucket_by 'id');
RESET bucketfdw.default_buckets;
SELECT * FROM specs WHERE "table" = 'o9';

--
-- Refused: names
--
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (frobnicate '1', bucket_by 'id');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (clustered_by 'id');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', num_buckets '4');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', sorted_by 'id');
-- the words of other systems, and slips of the pen
DO $$
DECLARE
    name text;
    hint text;
BEGIN
    FOREACH name IN ARRAY ARRAY['clustered_by', 'clusterBy', 'bucketed_by', 'bucketBy', 'bucket_cols', 'bucket_columns', 'bucketby',
                                'distributed_by', 'distkey', 'shard_key', 'key',
                                'num_buckets', 'bucket_count', 'numBuckets', 'bucket_num', 'nbuckets', 'bucket',
                                'sorted_by', 'sortBy', 'order_by', 'orderby', 'sortkey', 'sort_columns',
                                'codec', 'compress', 'compression.codec', 'parquet_compression', 'level', 'zstd_level',
                                'row_group_size', 'stripe_row_limit',
                                'Bucket_By', 'BUCKETS', 'buket_by', 'bucket_bu', 'bukets', 'sort_bu', 'compresion', 'compression_lvl',
                                'block_row', 'table_space', 'tablespce', 'location', 'format', 'path', 'x']
    LOOP
        BEGIN
            EXECUTE format('CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (%I %L)', name, 'id');
            RAISE NOTICE '%: accepted', name;
        EXCEPTION WHEN fdw_invalid_option_name THEN
            GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
            RAISE NOTICE '%: %', name, hint;
        END;
    END LOOP;
END
$$;

--
-- Refused: values
--
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw;
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (buckets '4');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '0');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '65537');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '-1');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '99999999999999999999');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', buckets 'many');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '4.5');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', compression 'snappy');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', compression '');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', compression_level '99');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', compression_level '13');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', compression 'none', compression_level '1');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', block_rows '0');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', block_rows '8193');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', durability 'local');
-- twice the same option is refused by the server itself
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', bucket_by 'id');

--
-- Refused: lists
--
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by '');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by ' , id');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id,');
CREATE FOREIGN TABLE x (id int, a int) SERVER bucketfdw OPTIONS (bucket_by 'id;a');
CREATE FOREIGN TABLE x (id int, a int) SERVER bucketfdw OPTIONS (bucket_by 'id a');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id desc');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by '"id');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by '""');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by '1');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'lower(id)');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', sort_by '');
CREATE FOREIGN TABLE x (id int, a int) SERVER bucketfdw OPTIONS (bucket_by 'id', sort_by 'id, a nulls');
CREATE FOREIGN TABLE x (id int, a int) SERVER bucketfdw OPTIONS (bucket_by 'id', sort_by 'id, a nulls middle');
CREATE FOREIGN TABLE x (id int, a int) SERVER bucketfdw OPTIONS (bucket_by 'id', sort_by 'id, a descending');
CREATE FOREIGN TABLE x ("größe" int) SERVER bucketfdw OPTIONS (bucket_by 'größe größe');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id, ID');
CREATE FOREIGN TABLE x (id int, a int) SERVER bucketfdw OPTIONS (bucket_by 'id', sort_by 'id, a, "a" desc');

--
-- Refused: columns
--
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'customer_id');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', sort_by 'id, customer_id');
CREATE FOREIGN TABLE x ("CustomerId" int) SERVER bucketfdw OPTIONS (bucket_by 'CustomerId');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'ctid');
CREATE FOREIGN TABLE x (id int) SERVER bucketfdw OPTIONS (bucket_by 'id', sort_by 'id, tableoid');
-- no key class
CREATE FOREIGN TABLE x (id jsonb) SERVER bucketfdw OPTIONS (bucket_by 'id');
CREATE FOREIGN TABLE x (id mood) SERVER bucketfdw OPTIONS (bucket_by 'id');
CREATE FOREIGN TABLE x (id int[]) SERVER bucketfdw OPTIONS (bucket_by 'id');
CREATE FOREIGN TABLE x (id int, i interval) SERVER bucketfdw OPTIONS (bucket_by 'id', sort_by 'id, i');
DO $$
DECLARE
    type text;
BEGIN
    FOREACH type IN ARRAY ARRAY['name', 'inet', 'timetz', '"char"', 'bit(3)', 'money', 'xml', 'point', 'int4range', 'tsvector', 'regclass', 'specs']
    LOOP
        BEGIN
            EXECUTE format('CREATE FOREIGN TABLE x (id %s) SERVER bucketfdw OPTIONS (bucket_by %L)', type, 'id');
            RAISE NOTICE '%: accepted', type;
        EXCEPTION WHEN feature_not_supported THEN
            RAISE NOTICE '%: %', type, SQLERRM;
        END;
    END LOOP;
END
$$;
-- equal values must have equal bytes
CREATE FOREIGN TABLE x (id text COLLATE caseless) SERVER bucketfdw OPTIONS (bucket_by 'id');
CREATE FOREIGN TABLE x (id int, v text COLLATE caseless) SERVER bucketfdw OPTIONS (bucket_by 'id', sort_by 'id, v');
CREATE DOMAIN caseless_text AS text COLLATE caseless;
CREATE FOREIGN TABLE x (id caseless_text) SERVER bucketfdw OPTIONS (bucket_by 'id');
-- virtual generated columns, where they exist, are not stored
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 180000 THEN
        EXECUTE $q$
            CREATE FOREIGN TABLE x (id int, twice int GENERATED ALWAYS AS (id * 2) VIRTUAL)
              SERVER bucketfdw OPTIONS (bucket_by 'twice') $q$;
        RAISE NOTICE 'accepted';
    END IF;
EXCEPTION WHEN feature_not_supported THEN
    IF SQLERRM NOT LIKE '%irtual generated column%' THEN
        RAISE;
    END IF;
END
$$;

--
-- Refused: an order that does not begin with the bucket columns
--
CREATE FOREIGN TABLE x (customer_id int, order_date date) SERVER bucketfdw OPTIONS (bucket_by 'customer_id', sort_by 'order_date');
CREATE FOREIGN TABLE x (customer_id int, order_date date) SERVER bucketfdw
  OPTIONS (bucket_by 'customer_id', sort_by 'order_date desc, customer_id');
CREATE FOREIGN TABLE x (a int, b int, c int) SERVER bucketfdw OPTIONS (bucket_by 'a, b', sort_by 'b, a, c desc nulls last');
CREATE FOREIGN TABLE x (a int, b int) SERVER bucketfdw OPTIONS (bucket_by 'a, b', sort_by 'a');
CREATE FOREIGN TABLE x (a int, b int) SERVER bucketfdw OPTIONS (bucket_by 'a', sort_by 'a desc, b');
CREATE FOREIGN TABLE x (a int, b int) SERVER bucketfdw OPTIONS (bucket_by 'a', sort_by 'a nulls first, b desc');
CREATE FOREIGN TABLE x ("It's" int, "select" int) SERVER bucketfdw OPTIONS (bucket_by '"It''s"', sort_by 'select');

--
-- ALTER
--
ALTER FOREIGN TABLE o1 OPTIONS (ADD num_buckets '4');
ALTER FOREIGN TABLE o1 OPTIONS (SET buckets '0');
ALTER FOREIGN TABLE o1 OPTIONS (DROP bucket_by);
ALTER FOREIGN TABLE o1 OPTIONS (SET bucket_by 'nothing');
ALTER FOREIGN TABLE o1 OPTIONS (ADD sort_by 'v');
ALTER FOREIGN TABLE o1 OPTIONS (ADD sort_by 'id, v desc', SET buckets '8');
SELECT * FROM specs WHERE "table" = 'o1';
-- options of the wrapper, the server and user mappings: none
ALTER SERVER bucketfdw OPTIONS (ADD bucket_by 'id');
CREATE USER MAPPING FOR CURRENT_USER SERVER bucketfdw OPTIONS (user 'x');

-- nothing of what was refused is left
SELECT relname FROM pg_class WHERE relnamespace = 'options'::regnamespace AND relkind = 'f' ORDER BY 1;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA options CASCADE;

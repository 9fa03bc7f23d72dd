/* bucketfdw--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION bucketfdw" to load this file. \quit

-- Fails if the schema exists, so that nobody can have planted anything in it.
CREATE SCHEMA bucketfdw;

COMMENT ON SCHEMA bucketfdw IS 'bucketed tables: catalog, views and functions';

GRANT USAGE ON SCHEMA bucketfdw TO PUBLIC;

--
-- Catalog.  Written and read by C code.  Rows are inserted and deleted, never
-- updated; there is no key and no replica identity, so that a publication FOR
-- ALL TABLES has nothing to send.  Not dumped: the rows describe files.
-- "rowtype" is the table's pg_class.reltype: it tells a table from an older one
-- that had the same oid.
--

-- What each table was declared as: one row a version, the highest is in force.
CREATE TABLE bucketfdw.spec (
	relid oid NOT NULL,
	rowtype oid NOT NULL,
	database oid NOT NULL,
	tablespace oid NOT NULL,			-- of new files; 0: the database's
	spec_version integer NOT NULL,
	hash_version smallint NOT NULL,
	buckets integer NOT NULL,
	key_columns smallint NOT NULL,		-- the first of the sort columns
	attnums smallint[] NOT NULL,		-- sort columns
	classes smallint[] NOT NULL,		-- key class of each
	types oid[] NOT NULL,				-- base type of each
	flags smallint[] NOT NULL			-- 1 descending, 2 nulls first
);

CREATE INDEX spec_relid_idx ON bucketfdw.spec (relid);

-- One row a file.  The file is the main fork of a relation without a row in
-- pg_class; "database" tells which one wrote it, not where it is.
CREATE TABLE bucketfdw.manifest (
	relid oid NOT NULL,
	rowtype oid NOT NULL,
	database oid NOT NULL,
	tablespace oid NOT NULL,			-- 0: the database's
	filenode oid NOT NULL,
	file_id bigint NOT NULL,
	rows bigint NOT NULL,
	bytes bigint NOT NULL,
	raw_bytes bigint NOT NULL,
	written_at timestamptz NOT NULL,
	written_by oid NOT NULL,
	first_bucket integer NOT NULL,
	last_bucket integer NOT NULL,
	spec_version integer NOT NULL,
	format_version smallint NOT NULL,
	origin "char" NOT NULL,				-- l: load, c: compaction, r: another number of buckets
	hash_version smallint NOT NULL,
	buckets integer NOT NULL,
	key_columns smallint NOT NULL,
	attnums smallint[] NOT NULL,
	classes smallint[] NOT NULL,
	types oid[] NOT NULL,
	flags smallint[] NOT NULL,
	run_buckets integer[] NOT NULL,		-- per run, in the order of the file
	run_rows bigint[] NOT NULL,
	run_bytes bigint[] NOT NULL,
	stats_rows bigint,					-- of the write that the next describes
	column_stats bytea,					-- what the planner knows of columns before ANALYZE
	rewritten bigint NOT NULL			-- how often compaction wrote the rows, sum over them
) WITH (toast_tuple_target = 8128);

CREATE INDEX manifest_relid_idx ON bucketfdw.manifest (relid);

-- Files that no new snapshot sees: dropped once nobody can need them.
CREATE TABLE bucketfdw.dead_files (
	relid oid NOT NULL,
	database oid NOT NULL,
	tablespace oid NOT NULL,
	filenode oid NOT NULL,
	file_id bigint NOT NULL,
	bytes bigint NOT NULL,
	deleted_xid xid8 NOT NULL,
	deleted_at timestamptz NOT NULL
);

CREATE INDEX dead_files_relid_idx ON bucketfdw.dead_files (relid);

-- Rows of a file that are deleted: row numbers, one set a command, added to and
-- never changed.
CREATE TABLE bucketfdw.delete_vectors (
	relid oid NOT NULL,
	file_id bigint NOT NULL,
	deleted_rows bigint NOT NULL,
	run_deleted bigint[] NOT NULL,		-- per run, in the order of the file
	data bytea NOT NULL
) WITH (
	-- they come and go, too
	autovacuum_vacuum_scale_factor = 0,
	autovacuum_vacuum_threshold = 1000,
	toast.autovacuum_vacuum_scale_factor = 0,
	toast.autovacuum_vacuum_threshold = 1000
);

CREATE INDEX delete_vectors_relid_idx ON bucketfdw.delete_vectors (relid);

-- Writes too small for a file: tuples of the table, with the types they were
-- formed with.
CREATE TABLE bucketfdw.inline_rows (
	relid oid NOT NULL,
	rowtype oid NOT NULL,
	file_id bigint NOT NULL,			-- they are a file to whoever reads or deletes
	rows bigint NOT NULL,
	written_at timestamptz NOT NULL,
	data bytea NOT NULL
) WITH (
	-- they come and go; dead ones cost all readers
	autovacuum_vacuum_scale_factor = 0,
	autovacuum_vacuum_threshold = 1000,
	toast.autovacuum_vacuum_scale_factor = 0,
	toast.autovacuum_vacuum_threshold = 1000
);

CREATE INDEX inline_rows_relid_idx ON bucketfdw.inline_rows (relid);

-- What a column holds in rows that were written before it was added.
CREATE TABLE bucketfdw.missing_values (
	relid oid NOT NULL,
	rowtype oid NOT NULL,
	attnum smallint NOT NULL,
	type oid NOT NULL,					-- base type of the column then
	typmod integer NOT NULL,
	value bytea NOT NULL				-- as in memory; int64 if passed by value
);

CREATE INDEX missing_values_relid_idx ON bucketfdw.missing_values (relid);

-- What upkeep remembers of a table, one row each.
CREATE TABLE bucketfdw.upkeep_state (
	relid oid NOT NULL,
	rowtype oid NOT NULL,
	last_write timestamptz,
	last_compaction timestamptz,
	last_analysis timestamptz
);

CREATE INDEX upkeep_state_relid_idx ON bucketfdw.upkeep_state (relid);

-- Rows come from C code alone, which fires no trigger.  What SQL brings are copies of
-- another server's rows, made by a subscription to all tables: they name no file here.
CREATE FUNCTION bucketfdw.discard_row() RETURNS trigger
	LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp
	AS $$
BEGIN
	RETURN NULL;
END
$$;

DO $$
DECLARE
	catalog text;
BEGIN
	FOREACH catalog IN ARRAY '{spec,manifest,dead_files,delete_vectors,inline_rows,missing_values,upkeep_state}'::text[] LOOP
		EXECUTE pg_catalog.format('CREATE TRIGGER discard_row BEFORE INSERT ON bucketfdw.%I FOR EACH ROW EXECUTE FUNCTION bucketfdw.discard_row()', catalog);
		EXECUTE pg_catalog.format('ALTER TABLE bucketfdw.%I ENABLE ALWAYS TRIGGER discard_row', catalog);
	END LOOP;
END
$$;

-- Arrays stay uncompressed: they are read at the start of every query.
ALTER TABLE bucketfdw.manifest
	ALTER COLUMN run_buckets SET STORAGE EXTERNAL,
	ALTER COLUMN run_rows SET STORAGE EXTERNAL,
	ALTER COLUMN run_bytes SET STORAGE EXTERNAL,
	ALTER COLUMN column_stats SET STORAGE EXTERNAL;
ALTER TABLE bucketfdw.delete_vectors
	ALTER COLUMN run_deleted SET STORAGE EXTERNAL,
	ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE bucketfdw.inline_rows
	ALTER COLUMN data SET STORAGE EXTERNAL;

--
-- Wrapper and server
--

CREATE FUNCTION bucketfdw.handler() RETURNS fdw_handler
	AS 'MODULE_PATHNAME', 'bucketfdw_handler'
	LANGUAGE C STRICT;

CREATE FUNCTION bucketfdw.validator(options text[], catalog oid) RETURNS void
	AS 'MODULE_PATHNAME', 'bucketfdw_validator'
	LANGUAGE C STRICT;

CREATE FOREIGN DATA WRAPPER bucketfdw
	HANDLER bucketfdw.handler
	VALIDATOR bucketfdw.validator;

COMMENT ON FOREIGN DATA WRAPPER bucketfdw IS 'bucketed, sorted, columnar tables';

-- USAGE is the administrator's to grant.
CREATE SERVER bucketfdw FOREIGN DATA WRAPPER bucketfdw;

COMMENT ON SERVER bucketfdw IS 'bucketed tables of this database';

--
-- Functions for users
--

CREATE FUNCTION bucketfdw.hash(VARIADIC keys "any") RETURNS integer
	AS 'MODULE_PATHNAME', 'bucketfdw_hash'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION bucketfdw.hash(VARIADIC "any")
	IS 'hash of a key, as bucketed tables place it';

CREATE FUNCTION bucketfdw.bucket_id(buckets integer, VARIADIC keys "any") RETURNS integer
	AS 'MODULE_PATHNAME', 'bucketfdw_bucket_id'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION bucketfdw.bucket_id(integer, VARIADIC "any")
	IS 'bucket of a key in a table with that many buckets';

CREATE FUNCTION bucketfdw.create_table_as(
	table_name text,
	query text,
	bucket_by text DEFAULT NULL,
	buckets integer DEFAULT NULL,
	sort_by text DEFAULT NULL,
	mode text DEFAULT 'error',
	with_data boolean DEFAULT true,
	colocate_with regclass DEFAULT NULL,
	compression text DEFAULT NULL,
	compression_level integer DEFAULT NULL,
	tablespace text DEFAULT NULL
) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bucketfdw_create_table_as'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION bucketfdw.create_table_as(text, text, text, integer, text, text, boolean, regclass, text, integer, text)
	IS 'create a bucketed table from a query, or append to it, or overwrite it; returns the rows written';

CREATE FUNCTION bucketfdw.upsert(table_name text, query text, key text DEFAULT NULL) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bucketfdw_upsert'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION bucketfdw.upsert(text, text, text)
	IS 'rows of a query replace those of a table with equal keys, the others are added; returns the rows of the query';

CREATE FUNCTION bucketfdw.bucket_stats(
	rel regclass,
	OUT bucket integer,
	OUT rows bigint,
	OUT bytes bigint,
	OUT runs integer,
	OUT skew double precision,
	OUT size_band text
) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'bucketfdw_bucket_stats'
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION bucketfdw.bucket_stats(regclass)
	IS 'rows, bytes and runs of each bucket of a table';

CREATE FUNCTION bucketfdw.info(
	OUT library_version text,
	OUT extension_version text,
	OUT format_version integer,
	OUT hash_version integer,
	OUT codecs text[],
	OUT preloaded boolean,
	OUT directory text
) RETURNS record
	AS 'MODULE_PATHNAME', 'bucketfdw_info'
	LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION bucketfdw.info()
	IS 'versions, formats and directory of bucketfdw in this database';

CREATE FUNCTION bucketfdw.verify(
	rel regclass DEFAULT NULL,
	quick boolean DEFAULT false,
	OUT file text,
	OUT bucket integer,
	OUT block integer,
	OUT problem text,
	OUT detail text
) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'bucketfdw_verify'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION bucketfdw.verify(regclass, boolean)
	IS 'defects of the files of a table, or of all tables; no row means sound';

CREATE PROCEDURE bucketfdw.compact(rel regclass, "full" boolean DEFAULT false)
	AS 'MODULE_PATHNAME', 'bucketfdw_compact'
	LANGUAGE C;

COMMENT ON PROCEDURE bucketfdw.compact(regclass, boolean)
	IS 'merge small runs of each bucket of a table, or all of them; commits after each step';

CREATE PROCEDURE bucketfdw.rebucket(
	rel regclass,
	buckets integer DEFAULT NULL,
	bucket_by text DEFAULT NULL,
	sort_by text DEFAULT NULL,
	compression text DEFAULT NULL
)
	AS 'MODULE_PATHNAME', 'bucketfdw_rebucket'
	LANGUAGE C;

COMMENT ON PROCEDURE bucketfdw.rebucket(regclass, integer, text, text, text)
	IS 'give a table another number of buckets, key, order or compression, and write its files anew';

CREATE PROCEDURE bucketfdw.maintain(rel regclass DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'bucketfdw_maintain'
	LANGUAGE C;

COMMENT ON PROCEDURE bucketfdw.maintain(regclass)
	IS 'do what is due for a table, or for all tables: merge runs, analyze, remove replaced files; commits after each step';

CREATE FUNCTION bucketfdw.forget_file(rel regclass, path text) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bucketfdw_forget_file'
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

REVOKE EXECUTE ON FUNCTION bucketfdw.forget_file(regclass, text) FROM PUBLIC;

COMMENT ON FUNCTION bucketfdw.forget_file(regclass, text)
	IS 'give up a file of a table that is missing or damaged; returns the rows it had';

CREATE FUNCTION bucketfdw.why_not(
	query text,
	OUT kind text,
	OUT relations text,
	OUT join_type text,
	OUT used boolean,
	OUT reason text,
	OUT detail text,
	OUT hint text
) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'bucketfdw_why_not_query'
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION bucketfdw.why_not(text)
	IS 'joins and aggregations of a query: do they use buckets and, if not, why';

CREATE FUNCTION bucketfdw.why_not(
	a regclass,
	b regclass,
	OUT kind text,
	OUT relations text,
	OUT join_type text,
	OUT used boolean,
	OUT reason text,
	OUT detail text,
	OUT hint text
) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'bucketfdw_why_not_tables'
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION bucketfdw.why_not(regclass, regclass)
	IS 'could two tables be joined by buckets and, if not, why';

CREATE FUNCTION bucketfdw.compare(
	query text,
	runs integer DEFAULT 3,
	baseline text DEFAULT NULL,
	OUT plan text,
	OUT planning_ms double precision,
	OUT execution_ms double precision,
	OUT rows bigint,
	OUT bytes_read bigint,
	OUT temp_bytes bigint,
	OUT peak_memory bigint,
	OUT speedup double precision,
	OUT same_answer boolean
) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'bucketfdw_compare'
	LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 3;

COMMENT ON FUNCTION bucketfdw.compare(text, integer, text)
	IS 'run a query with bucket plans, without, and over other tables: times, reads, memory and whether the answers agree';

CREATE FUNCTION bucketfdw.cleanup() RETURNS bigint
	AS 'MODULE_PATHNAME', 'bucketfdw_cleanup'
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

REVOKE EXECUTE ON FUNCTION bucketfdw.cleanup() FROM PUBLIC;

-- the role exists from PostgreSQL 17 on
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = 'pg_maintain') THEN
		GRANT EXECUTE ON FUNCTION bucketfdw.cleanup() TO pg_maintain;
	END IF;
END
$$;

COMMENT ON FUNCTION bucketfdw.cleanup()
	IS 'remove dead and orphaned files of this database; returns how many';

--
-- Views
--

-- Not for direct use: rows of a table that wait in this session for the end of the transaction, less those that were deleted.
CREATE FUNCTION bucketfdw.waiting_rows(relid oid) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bucketfdw_waiting_rows'
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- Not for direct use: where a file is.
CREATE FUNCTION bucketfdw.file_path(tablespace oid, filenode oid) RETURNS text
	AS 'MODULE_PATHNAME', 'bucketfdw_file_path'
	LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;

CREATE VIEW bucketfdw.files AS
	SELECT m.relid::pg_catalog.regclass AS relid,
		   bucketfdw.file_path(m.tablespace, m.filenode) AS path,
		   m.first_bucket,
		   m.last_bucket,
		   m.rows - COALESCE(d.rows, 0) AS rows,
		   COALESCE(d.rows, 0) AS deleted_rows,
		   m.bytes,
		   m.spec_version
	FROM bucketfdw.manifest m
		JOIN pg_catalog.pg_class c ON c.oid = m.relid AND c.reltype = m.rowtype
		LEFT JOIN (
			SELECT v.relid, v.file_id, pg_catalog.sum(v.deleted_rows)::pg_catalog.int8 AS rows
			FROM bucketfdw.delete_vectors v
			GROUP BY v.relid, v.file_id
		) d ON d.relid = m.relid AND d.file_id = m.file_id;

COMMENT ON VIEW bucketfdw.files IS 'files of bucketed tables';
COMMENT ON COLUMN bucketfdw.files.path IS 'relative to the data directory';
COMMENT ON COLUMN bucketfdw.files.deleted_rows IS 'that the file holds besides, until it is compacted';

-- Not for direct use: who holds back the removal of files.
CREATE VIEW bucketfdw.horizon_holders AS
	SELECT pg_catalog.format('process %s', a.pid) AS holder,
		   GREATEST(pg_catalog.age(a.backend_xmin), pg_catalog.age(a.backend_xid)) AS age
	FROM pg_catalog.pg_stat_activity a
	WHERE a.pid <> pg_catalog.pg_backend_pid()
		AND (a.datname = pg_catalog.current_database() OR a.datname IS NULL)
	UNION ALL
	SELECT pg_catalog.format('prepared transaction %L', p.gid), pg_catalog.age(p.transaction)
	FROM pg_catalog.pg_prepared_xacts p
	WHERE p.database = pg_catalog.current_database()
	UNION ALL
	SELECT pg_catalog.format('replication slot %I', s.slot_name), pg_catalog.age(s.xmin)
	FROM pg_catalog.pg_replication_slots s;

CREATE VIEW bucketfdw.garbage AS
	SELECT r.relid::pg_catalog.regclass AS relid,
		   bucketfdw.file_path(r.tablespace, r.filenode) AS path,
		   r.bytes,
		   r.deleted_at AS since,
		   (
			   SELECT h.holder
			   FROM bucketfdw.horizon_holders h
			   WHERE h.age >= pg_catalog.age(r.deleted_xid::pg_catalog.xid)
			   ORDER BY h.age DESC
			   LIMIT 1
		   ) AS held_by
	FROM bucketfdw.dead_files r;

COMMENT ON VIEW bucketfdw.garbage IS 'files of bucketed tables that wait for removal';
COMMENT ON COLUMN bucketfdw.garbage.path IS 'relative to the data directory';
COMMENT ON COLUMN bucketfdw.garbage.held_by
	IS 'what may still need the file; null: nothing, one of the next writes or cleanup() removes it';

-- Not for direct use: the foreign tables of the wrapper, whatever its name and servers.  The
-- planner knows how many these are as long as the handler is not joined.
CREATE VIEW bucketfdw.bucket_tables AS
	SELECT t.ftrelid AS relid, t.ftoptions AS options
	FROM pg_catalog.pg_foreign_table t
		JOIN pg_catalog.pg_foreign_server s ON s.oid = t.ftserver
		JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw
	WHERE w.fdwhandler = (
		SELECT p.oid
		FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
		WHERE n.nspname = 'bucketfdw' AND p.proname = 'handler'
	);

-- Not for direct use: what a table has, and what is due for it.
CREATE FUNCTION bucketfdw.table_state(
	relid oid,
	OUT bucket_by text[],
	OUT buckets integer,
	OUT sort_by text[],
	OUT spec_version integer,
	OUT hash_version smallint,
	OUT key smallint[],
	OUT files bigint,
	OUT runs bigint,
	OUT rows bigint,
	OUT bytes bigint,
	OUT raw_bytes bigint,
	OUT tablespace oid,
	OUT max_runs integer,
	OUT deleted_rows bigint,
	OUT last_write timestamptz,
	OUT last_compact timestamptz,
	OUT last_analyze timestamptz,
	OUT due text[],
	OUT blocked boolean
) RETURNS record
	AS 'MODULE_PATHNAME', 'bucketfdw_table_state'
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- Not for direct use.
CREATE FUNCTION bucketfdw.oids_without(oids regclass[], one oid) RETURNS regclass[]
	AS 'MODULE_PATHNAME', 'bucketfdw_oids_without'
	LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

-- Not for direct use: what stands inline, in no file.
CREATE VIEW bucketfdw.inline_sizes AS
	SELECT i.relid,
		   pg_catalog.sum(i.rows)::pg_catalog.int8 AS rows,
		   pg_catalog.sum(pg_catalog.octet_length(i.data))::pg_catalog.int8 AS bytes
	FROM bucketfdw.inline_rows i
		JOIN pg_catalog.pg_class c ON c.oid = i.relid AND c.reltype = i.rowtype
	GROUP BY i.relid;

-- Not for direct use: what says which rows are deleted.
CREATE VIEW bucketfdw.delete_sizes AS
	SELECT v.relid, pg_catalog.sum(pg_catalog.octet_length(v.data))::pg_catalog.int8 AS bytes
	FROM bucketfdw.delete_vectors v
	GROUP BY v.relid;

CREATE VIEW bucketfdw.tables AS
	WITH keys AS (
		SELECT DISTINCT ON (s.relid)
			   s.relid, s.hash_version,
			   -- int (1) and numeric (2) meet
			   pg_catalog.array_replace(s.classes[1:s.key_columns], 2::pg_catalog.int2, 1::pg_catalog.int2) AS key
		FROM bucketfdw.spec s
			JOIN pg_catalog.pg_class c ON c.oid = s.relid AND c.reltype = s.rowtype
		ORDER BY s.relid, s.spec_version DESC
	), alike AS (
		SELECT k.hash_version, k.key,
			   pg_catalog.array_agg(
				   k.relid::pg_catalog.regclass
				   ORDER BY k.relid::pg_catalog.regclass::pg_catalog.text COLLATE pg_catalog."C"
			   ) AS relids
		FROM keys k
		WHERE k.relid IN (SELECT b.relid FROM bucketfdw.bucket_tables b)
		GROUP BY k.hash_version, k.key
	)
	SELECT b.relid::pg_catalog.regclass AS relid,
		   m.bucket_by,
		   m.buckets,
		   m.sort_by,
		   m.spec_version,
		   m.files,
		   m.runs,
		   m.rows + bucketfdw.waiting_rows(b.relid) AS rows,
		   m.bytes,
		   m.raw_bytes,
		   (SELECT p.spcname FROM pg_catalog.pg_tablespace p WHERE p.oid = m.tablespace) AS tablespace,
		   m.max_runs,
		   m.deleted_rows,
		   m.last_write,
		   m.last_compact,
		   GREATEST(m.last_analyze, pg_catalog.pg_stat_get_last_analyze_time(b.relid)) AS last_analyze,
		   CASE WHEN m.blocked
			   THEN m.due || (SELECT 'held by ' || h.holder FROM bucketfdw.horizon_holders h ORDER BY h.age DESC NULLS LAST LIMIT 1)
			   ELSE m.due
		   END AS due,
		   bucketfdw.oids_without(a.relids, b.relid) AS joins_with
	FROM bucketfdw.bucket_tables b
		CROSS JOIN LATERAL bucketfdw.table_state(b.relid) AS m
		LEFT JOIN alike a ON a.hash_version = m.hash_version AND a.key = m.key;

COMMENT ON VIEW bucketfdw.tables IS 'bucketed tables';
COMMENT ON COLUMN bucketfdw.tables.rows IS 'in files and in the catalog';
COMMENT ON COLUMN bucketfdw.tables.raw_bytes IS 'before encoding and compression';
COMMENT ON COLUMN bucketfdw.tables.max_runs IS 'most runs that a bucket has';
COMMENT ON COLUMN bucketfdw.tables.deleted_rows IS 'that files and catalog hold besides, until they are compacted';
COMMENT ON COLUMN bucketfdw.tables.due IS 'what upkeep would do, and why; empty: nothing';
COMMENT ON COLUMN bucketfdw.tables.joins_with IS 'tables whose key can be joined with this one bucket by bucket';

-- Not for direct use: what was counted of a table; nulls: nothing is counted.
CREATE FUNCTION bucketfdw.table_counters(
	relid oid,
	OUT scans bigint,
	OUT bucket_joins bigint,
	OUT blocks_read bigint,
	OUT blocks_skipped bigint,
	OUT bytes_read bigint,
	OUT writes bigint,
	OUT rows_written bigint,
	OUT bytes_written bigint,
	OUT upkeep_steps bigint,
	OUT upkeep_rows bigint,
	OUT upkeep_bytes bigint,
	OUT reasons text[],
	OUT times bigint[],
	OUT since timestamptz
) RETURNS record
	AS 'MODULE_PATHNAME', 'bucketfdw_table_counters'
	LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE VIEW bucketfdw.stat_tables AS
	SELECT b.relid::pg_catalog.regclass AS relid,
		   c.scans, c.bucket_joins,
		   CASE WHEN c.scans IS NOT NULL
			   THEN (SELECT COALESCE(pg_catalog.sum(t), 0) FROM pg_catalog.unnest(c.times) t)::pg_catalog.int8 END AS fallbacks,
		   (SELECT pg_catalog.jsonb_object_agg(f.reason, f.times)
			FROM ROWS FROM (pg_catalog.unnest(c.reasons), pg_catalog.unnest(c.times)) AS f (reason, times)) AS fallback_reasons,
		   c.blocks_read, c.blocks_skipped, c.bytes_read,
		   c.writes, c.rows_written, c.bytes_written,
		   c.upkeep_steps, c.upkeep_rows, c.upkeep_bytes,
		   c.since
	FROM bucketfdw.bucket_tables b CROSS JOIN LATERAL bucketfdw.table_counters(b.relid) c;

COMMENT ON VIEW bucketfdw.stat_tables
	IS 'what was read and written of bucketed tables; nulls if bucketfdw is not in shared_preload_libraries';
COMMENT ON COLUMN bucketfdw.stat_tables.fallbacks IS 'scans that fed an equality join of another kind than a bucket join';

CREATE FUNCTION bucketfdw.stat_reset() RETURNS void
	AS 'MODULE_PATHNAME', 'bucketfdw_stat_reset'
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

REVOKE ALL ON FUNCTION bucketfdw.stat_reset() FROM PUBLIC;

COMMENT ON FUNCTION bucketfdw.stat_reset()
	IS 'forget what was counted of all bucketed tables of this database';

GRANT SELECT ON bucketfdw.bucket_tables, bucketfdw.tables, bucketfdw.files, bucketfdw.garbage, bucketfdw.stat_tables,
	bucketfdw.inline_sizes, bucketfdw.delete_sizes TO PUBLIC;

--
-- Sizes
--

-- Not for direct use: what a file of so many bytes takes on disk, in pages of 24 bytes of header.
CREATE FUNCTION bucketfdw.page_bytes(bytes bigint) RETURNS bigint
	LANGUAGE sql STABLE PARALLEL SAFE
	AS $$
	SELECT (bytes + s.size - 25) / (s.size - 24) * s.size
	FROM (SELECT pg_catalog.current_setting('block_size')::pg_catalog.int8 AS size) AS s
$$;

CREATE FUNCTION bucketfdw.table_size(rel regclass) RETURNS bigint
	LANGUAGE plpgsql STRICT VOLATILE PARALLEL RESTRICTED
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	tables oid[] := ARRAY(
		SELECT b.relid FROM bucketfdw.bucket_tables b
		WHERE b.relid = rel OR b.relid IN (SELECT p.relid FROM pg_partition_tree(rel) p)
	);
BEGIN
	IF tables = '{}' THEN
		RAISE wrong_object_type USING
			MESSAGE = format('"%s" is not a bucketed table', COALESCE((SELECT c.relname FROM pg_class c WHERE c.oid = rel), rel::text));
	END IF;
	RETURN (SELECT COALESCE(sum(bucketfdw.page_bytes(f.bytes)), 0) FROM bucketfdw.files f WHERE f.relid = ANY (tables))
		+ (SELECT COALESCE(sum(bucketfdw.page_bytes(g.bytes)), 0) FROM bucketfdw.garbage g WHERE g.relid = ANY (tables))
		+ (SELECT COALESCE(sum(i.bytes), 0) FROM bucketfdw.inline_sizes i WHERE i.relid = ANY (tables))
		+ (SELECT COALESCE(sum(d.bytes), 0) FROM bucketfdw.delete_sizes d WHERE d.relid = ANY (tables));
END
$$;

COMMENT ON FUNCTION bucketfdw.table_size(regclass)
	IS 'bytes on disk of a bucketed table, files waiting for removal and what stands in the catalog included';

CREATE FUNCTION bucketfdw.database_size() RETURNS bigint
	LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
	AS $$
	SELECT (COALESCE(pg_catalog.sum(b.bytes), 0))::pg_catalog.int8
	FROM (
		SELECT bucketfdw.page_bytes(f.bytes) FROM bucketfdw.files f
		UNION ALL
		SELECT bucketfdw.page_bytes(g.bytes) FROM bucketfdw.garbage g
		UNION ALL
		SELECT i.bytes FROM bucketfdw.inline_sizes i
		UNION ALL
		SELECT d.bytes FROM bucketfdw.delete_sizes d
	) AS b (bytes)
$$;

COMMENT ON FUNCTION bucketfdw.database_size()
	IS 'bytes on disk of all bucketed tables of this database';

--
-- Advice
--

-- Not for direct use: the key class of a type; 0: it cannot be one of a bucket column.
CREATE FUNCTION bucketfdw.key_class(type oid) RETURNS smallint
	AS 'MODULE_PATHNAME', 'bucketfdw_key_class'
	LANGUAGE C STRICT STABLE PARALLEL SAFE;

CREATE FUNCTION bucketfdw.suggest_buckets(
	rel regclass,
	key text DEFAULT NULL,
	target_size bigint DEFAULT 536870912,
	OUT buckets integer,
	OUT bucket_bytes bigint,
	OUT skew double precision,
	OUT joins_with regclass[],
	OUT advice text
) RETURNS record
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	-- files are about so much of a heap table, and with less of them in all it does not matter how it is joined
	heap_share CONSTANT float8 := 0.15;
	small_bytes CONSTANT bigint := 262144;
	kind "char" := (SELECT c.relkind FROM pg_class c WHERE c.oid = rel);
	columns text[];
	classes int2[] := '{}';
	bytes bigint;
	wanted float8;
	share float8;
	distinct_keys float8 := 1;
	col record;
	name text;
BEGIN
	IF rel IS NULL THEN
		RETURN;
	END IF;
	IF kind NOT IN ('r', 'm', 'f', 'p') THEN
		RAISE wrong_object_type USING MESSAGE = format('"%s" is not a table', rel);
	END IF;
	IF target_size IS NULL OR target_size < 1 THEN
		RAISE invalid_parameter_value USING MESSAGE = 'target_size must be a positive number of bytes';
	END IF;
	SELECT sum(CASE WHEN b.relid IS NOT NULL
					THEN (SELECT COALESCE(sum(f.bytes), 0) FROM bucketfdw.files f WHERE f.relid = b.relid)
					ELSE heap_share * pg_table_size(l.relid) END)
	INTO bytes
	FROM (SELECT rel::oid AS relid WHERE kind <> 'p'
		  UNION ALL SELECT p.relid FROM pg_partition_tree(rel) p WHERE kind = 'p' AND p.isleaf) l
		LEFT JOIN bucketfdw.bucket_tables b ON b.relid = l.relid;
	bytes := COALESCE(bytes, 0);

	IF key IS NULL THEN
		SELECT t.bucket_by INTO columns FROM bucketfdw.tables t WHERE t.relid = rel;
	ELSE
		SELECT array_agg((parse_ident(c))[1] ORDER BY n) INTO columns
		FROM unnest(string_to_array(key, ',')) WITH ORDINALITY u (c, n);
	END IF;
	FOREACH name IN ARRAY COALESCE(columns, '{}') LOOP
		SELECT a.atttypid, bucketfdw.key_class(a.atttypid) AS class,
			   COALESCE(s.null_frac, 0) AS nulls, s.most_common_freqs[1] AS most,
			   CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * c.reltuples ELSE s.n_distinct END AS n, s.attname IS NOT NULL AS known
		INTO col
		FROM pg_attribute a
			JOIN pg_class c ON c.oid = a.attrelid
			JOIN pg_namespace x ON x.oid = c.relnamespace
			LEFT JOIN pg_stats s ON s.schemaname = x.nspname AND s.tablename = c.relname AND s.attname = a.attname
				AND s.inherited = (kind = 'p')
		WHERE a.attrelid = rel AND a.attname = name AND a.attnum > 0 AND NOT a.attisdropped;
		IF NOT FOUND THEN
			RAISE undefined_column USING MESSAGE = format('column "%s" of "%s" does not exist', name, rel);
		END IF;
		IF col.class = 0 THEN
			RAISE feature_not_supported USING
				MESSAGE = format('column "%s" of type %s cannot be a bucket column', name, format_type(col.atttypid, NULL));
		END IF;
		classes := classes || CASE col.class WHEN 2 THEN 1 ELSE col.class END::int2;
		-- of several columns, no pair of values is more frequent than each of them
		share := LEAST(share, CASE WHEN col.known THEN GREATEST(col.nulls, COALESCE(col.most, 0)) END);
		distinct_keys := distinct_keys * col.n;
	END LOOP;
	joins_with := ARRAY(
		SELECT t.relid
		FROM bucketfdw.tables t
		WHERE t.relid <> rel AND cardinality(t.bucket_by) = cardinality(classes) AND array_replace(ARRAY(
				SELECT bucketfdw.key_class(a.atttypid)
				FROM unnest(t.bucket_by) WITH ORDINALITY k (name, n)
					JOIN pg_attribute a ON a.attrelid = t.relid AND a.attname = k.name
				ORDER BY k.n), 2::int2, 1::int2) = classes
		ORDER BY t.relid);

	-- as many as the most of what it may be joined with has, or twice as many, and so on
	SELECT t.buckets INTO suggest_buckets.buckets
	FROM bucketfdw.tables t WHERE t.relid = ANY (suggest_buckets.joins_with)
	GROUP BY t.buckets ORDER BY sum(t.bytes) DESC, t.buckets LIMIT 1;
	buckets := COALESCE(buckets, current_setting('bucketfdw.default_buckets', true)::integer, 64);
	wanted := ceil(bytes::float8 / target_size);
	WHILE buckets < wanted AND buckets * 2 <= 65536 LOOP
		buckets := buckets * 2;
	END LOOP;
	bucket_bytes := bytes / buckets;
	skew := round((1 + share * (buckets - 1))::numeric, 2);
	advice := CASE
		WHEN bytes < small_bytes
			THEN format('do not bucket: files of %s would save little', pg_size_pretty(bytes))
		WHEN columns IS NOT NULL AND distinct_keys < buckets
			THEN format('bucket by other columns: these have %s values, fewer than buckets', distinct_keys::bigint)
		WHEN skew > 4
			THEN format('%s buckets; one value, or NULL, has %s%% of the rows: its bucket is %s times the mean', buckets,
						round((100 * share)::numeric, 1), skew)
		WHEN columns IS NULL
			THEN format('%s buckets; name the columns that are joined by to know more', buckets)
		WHEN share IS NULL
			THEN format('%s buckets; ANALYZE the table to know how even they will be', buckets)
		ELSE format('%s buckets', buckets) END;
	IF bytes < small_bytes THEN
		buckets := NULL;
		bucket_bytes := NULL;
		skew := NULL;
	END IF;
END
$$;

COMMENT ON FUNCTION bucketfdw.suggest_buckets(regclass, text, bigint)
	IS 'how many buckets a table should have, and how large and even they would be';

--
-- Event triggers.  The functions ask the catalogs first and call C code only
-- when a bucketed table is concerned: without the library all other DDL works.
-- They only anticipate; a table they missed registers itself at its first use.
--

CREATE FUNCTION bucketfdw.ddl_command(command pg_ddl_command, concerned oid[]) RETURNS void
	AS 'MODULE_PATHNAME', 'bucketfdw_ddl_command'
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

CREATE FUNCTION bucketfdw.object_dropped(relid oid, column_number integer) RETURNS void
	AS 'MODULE_PATHNAME', 'bucketfdw_object_dropped'
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

REVOKE EXECUTE ON FUNCTION bucketfdw.object_dropped(oid, integer) FROM PUBLIC;

-- Bucketed tables that a command touches: those it names, their partitions and
-- children, and those with a column of a type that depends on what it names.
-- With the search path of the command, as defaults and constraints are
-- evaluated: so all operators are qualified.
CREATE FUNCTION bucketfdw.on_ddl_end() RETURNS event_trigger
	LANGUAGE plpgsql
	AS $$
DECLARE
	wrappers pg_catalog.oid[];
	concerned pg_catalog.oid[];
	classes CONSTANT pg_catalog.oid := 'pg_catalog.pg_class'::pg_catalog.regclass;
	types CONSTANT pg_catalog.oid := 'pg_catalog.pg_type'::pg_catalog.regclass;
BEGIN
	SELECT pg_catalog.array_agg(w.oid) INTO wrappers
	FROM pg_catalog.pg_foreign_data_wrapper w
		JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) w.fdwhandler
		JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
	WHERE n.nspname OPERATOR(pg_catalog.=) 'bucketfdw' AND p.proname OPERATOR(pg_catalog.=) 'handler'
		AND EXISTS (
			SELECT FROM pg_catalog.pg_foreign_server s
				JOIN pg_catalog.pg_foreign_table t ON t.ftserver OPERATOR(pg_catalog.=) s.oid
			WHERE s.srvfdw OPERATOR(pg_catalog.=) w.oid
		);

	IF wrappers IS NULL THEN
		RETURN;
	END IF;

	WITH RECURSIVE reached (classid, objid) AS (
		SELECT d.classid, d.objid
		FROM pg_catalog.pg_event_trigger_ddl_commands() d
		WHERE d.classid OPERATOR(pg_catalog.=) ANY (ARRAY[classes, types])
		UNION
		SELECT n.classid, n.objid
		FROM reached r CROSS JOIN LATERAL (
			SELECT classes, i.inhrelid
			FROM pg_catalog.pg_inherits i
			WHERE r.classid OPERATOR(pg_catalog.=) classes AND i.inhparent OPERATOR(pg_catalog.=) r.objid
			UNION ALL
			SELECT types, c.reltype
			FROM pg_catalog.pg_class c
			WHERE r.classid OPERATOR(pg_catalog.=) classes AND c.oid OPERATOR(pg_catalog.=) r.objid
				AND c.reltype OPERATOR(pg_catalog.<>) 0::pg_catalog.oid
			UNION ALL
			SELECT e.classid, e.objid
			FROM pg_catalog.pg_depend e
			WHERE r.classid OPERATOR(pg_catalog.=) types
				AND e.refclassid OPERATOR(pg_catalog.=) r.classid AND e.refobjid OPERATOR(pg_catalog.=) r.objid
				AND e.classid OPERATOR(pg_catalog.=) ANY (ARRAY[classes, types])
		) AS n (classid, objid)
	)
	SELECT pg_catalog.array_agg(t.ftrelid ORDER BY t.ftrelid) INTO concerned
	FROM reached r
		JOIN pg_catalog.pg_foreign_table t ON t.ftrelid OPERATOR(pg_catalog.=) r.objid
		JOIN pg_catalog.pg_foreign_server s ON s.oid OPERATOR(pg_catalog.=) t.ftserver
	WHERE r.classid OPERATOR(pg_catalog.=) classes AND s.srvfdw OPERATOR(pg_catalog.=) ANY (wrappers);

	IF concerned IS NOT NULL THEN
		PERFORM bucketfdw.ddl_command(d.command, concerned)
		FROM pg_catalog.pg_event_trigger_ddl_commands() d;
	END IF;
END
$$;

-- Runs as its owner: what is dropped is found in the catalog of bucketfdw.
CREATE FUNCTION bucketfdw.on_drop() RETURNS event_trigger
	LANGUAGE plpgsql
	SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	AS $$
BEGIN
	IF NOT EXISTS (
		SELECT FROM pg_catalog.pg_event_trigger_dropped_objects() d
		WHERE d.object_type IN ('foreign table', 'foreign table column')
	) THEN
		RETURN;
	END IF;

	IF EXISTS (
		SELECT FROM pg_catalog.pg_event_trigger_dropped_objects() d
			JOIN bucketfdw.spec s ON s.relid = d.objid
		WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
	) THEN
		PERFORM bucketfdw.object_dropped(d.objid, d.objsubid)
		FROM pg_catalog.pg_event_trigger_dropped_objects() d
		WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
			AND d.object_type IN ('foreign table', 'foreign table column');
	END IF;
END
$$;

REVOKE EXECUTE ON FUNCTION bucketfdw.on_ddl_end(), bucketfdw.on_drop() FROM PUBLIC;

CREATE EVENT TRIGGER bucketfdw_ddl_end ON ddl_command_end
	WHEN TAG IN ('CREATE FOREIGN TABLE', 'ALTER FOREIGN TABLE', 'ALTER TABLE', 'ALTER VIEW',
				 'ALTER MATERIALIZED VIEW', 'ALTER TYPE', 'ALTER DOMAIN')
	EXECUTE FUNCTION bucketfdw.on_ddl_end();

ALTER EVENT TRIGGER bucketfdw_ddl_end ENABLE ALWAYS;

CREATE EVENT TRIGGER bucketfdw_drop ON sql_drop
	WHEN TAG IN ('ALTER FOREIGN TABLE', 'ALTER TABLE', 'DROP CAST', 'DROP COLLATION', 'DROP DOMAIN', 'DROP EXTENSION',
				 'DROP FOREIGN DATA WRAPPER', 'DROP FOREIGN TABLE', 'DROP FUNCTION', 'DROP OPERATOR', 'DROP OWNED',
				 'DROP ROUTINE', 'DROP SCHEMA', 'DROP SERVER', 'DROP TABLE', 'DROP TYPE')
	EXECUTE FUNCTION bucketfdw.on_drop();

ALTER EVENT TRIGGER bucketfdw_drop ENABLE ALWAYS;

-- Remove what an earlier installation left in this database.
CREATE FUNCTION bucketfdw.sweep_at_install() RETURNS void
	AS 'MODULE_PATHNAME', 'bucketfdw_sweep_at_install'
	LANGUAGE C STRICT;

SELECT bucketfdw.sweep_at_install();

DROP FUNCTION bucketfdw.sweep_at_install();

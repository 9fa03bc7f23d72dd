-- Whatever becomes of the wrapper, its handler, the server or the owner: the rows of a table that exists are kept.
-- files are wanted, however small
SET bucketfdw.inline_limit = 0;
CREATE SCHEMA changed;
SET search_path = changed, public;

CREATE FUNCTION files(rel regclass) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(s.size) FROM bucketfdw.files f, pg_stat_file(f.path, true) s WHERE f.relid = rel
$$;
CREATE FUNCTION named(rel regclass, OUT specs bigint, OUT writes bigint) LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM bucketfdw.spec WHERE relid = rel), (SELECT count(*) FROM bucketfdw.manifest WHERE relid = rel)
$$;
CREATE FUNCTION other_handler() RETURNS fdw_handler AS '$libdir/bucketfdw', 'bucketfdw_handler' LANGUAGE C STRICT;

SELECT bucketfdw.cleanup() >= 0;
CREATE FOREIGN DATA WRAPPER w HANDLER bucketfdw.handler VALIDATOR bucketfdw.validator;
CREATE SERVER s FOREIGN DATA WRAPPER w;
CREATE FOREIGN TABLE t (k int, v text) SERVER s OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO t SELECT i, 'kept' FROM generate_series(1, 100) i;
SELECT files('t') AS files \gset

-- the triggers know the tables of every wrapper
CREATE FOREIGN TABLE own (k int) SERVER bucketfdw OPTIONS (bucket_by 'k');
SELECT * FROM named('t');
ALTER FOREIGN TABLE t ALTER k TYPE smallint;

-- no handler
ALTER FOREIGN DATA WRAPPER w NO HANDLER;
SELECT bucketfdw.cleanup();
SELECT files('t') - :files AS files, * FROM named('t');
-- a key column cannot go behind our back
ALTER FOREIGN TABLE t DROP COLUMN k;
-- nor does a writer of another table remove anything
INSERT INTO own VALUES (1);
TRUNCATE own;
INSERT INTO own VALUES (1);
SELECT files('t') - :files AS files, * FROM named('t');
ALTER FOREIGN DATA WRAPPER w HANDLER bucketfdw.handler;
SELECT count(*), min(v) FROM t;
SELECT bucketfdw.cleanup() >= 0;
SELECT files('t') - :files AS files, * FROM named('t');

-- another handler
SET client_min_messages = error;
ALTER FOREIGN DATA WRAPPER w HANDLER other_handler;
RESET client_min_messages;
SELECT bucketfdw.cleanup();
SELECT files('t') - :files AS files, * FROM named('t');
SET client_min_messages = error;
ALTER FOREIGN DATA WRAPPER w HANDLER bucketfdw.handler;
RESET client_min_messages;
SELECT count(*), min(v) FROM t;

-- the handler under another name, then in another schema; it is still there when the cleanup is rolled back, too
ALTER FUNCTION bucketfdw.handler() RENAME TO handler_of_old;
SET client_min_messages = error;
BEGIN;
SELECT bucketfdw.cleanup() >= 0;
ROLLBACK;
SELECT bucketfdw.cleanup() >= 0;
ALTER FUNCTION bucketfdw.handler_of_old() RENAME TO handler;
SELECT files('t') - :files AS files, * FROM named('t');
ALTER FUNCTION bucketfdw.handler() SET SCHEMA changed;
SELECT bucketfdw.cleanup() >= 0;
ALTER FUNCTION changed.handler() SET SCHEMA bucketfdw;
RESET client_min_messages;
SELECT files('t') - :files AS files, * FROM named('t');
SELECT count(*), min(v) FROM t;

-- server and wrapper under other names, another owner, the owner dropped
ALTER SERVER s RENAME TO s_renamed;
ALTER FOREIGN DATA WRAPPER w RENAME TO w_renamed;
SET client_min_messages = error;
CREATE ROLE bucketfdw_changed_owner;
RESET client_min_messages;
GRANT USAGE, CREATE ON SCHEMA changed TO bucketfdw_changed_owner;
ALTER FOREIGN TABLE t OWNER TO bucketfdw_changed_owner;
SELECT bucketfdw.cleanup() >= 0;
SELECT files('t') - :files AS files, * FROM named('t');
REASSIGN OWNED BY bucketfdw_changed_owner TO CURRENT_USER;
DROP OWNED BY bucketfdw_changed_owner;
DROP ROLE bucketfdw_changed_owner;
SELECT bucketfdw.cleanup() >= 0;
SELECT files('t') - :files AS files, * FROM named('t');
SELECT count(*), min(v) FROM t;

-- a catalog of another version may name files in ways this library does not know
BEGIN;
UPDATE pg_extension SET extversion = '1.1' WHERE extname = 'bucketfdw';
ALTER TABLE bucketfdw.dead_files ADD COLUMN more text;
ALTER TABLE bucketfdw.manifest ADD COLUMN more text, ADD COLUMN still_more bigint[] DEFAULT '{1,2,3}';
ALTER TABLE bucketfdw.spec ADD COLUMN more text DEFAULT 'a text';
SELECT count(*), min(v) FROM t;
SAVEPOINT s;
SELECT bucketfdw.cleanup();
ROLLBACK TO s;
TRUNCATE own;
ROLLBACK TO s;
INSERT INTO own VALUES (1);
COMMIT;
SELECT bucketfdw.cleanup() >= 0;
SELECT count(*), min(v) FROM t;

-- rows that were written before the trigger saw the new table are kept
CREATE FUNCTION early() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO changed.made VALUES (1);
	PERFORM count(*) FROM changed.made;
END
$$;
CREATE EVENT TRIGGER bucketfdw_a ON ddl_command_end WHEN TAG IN ('CREATE FOREIGN TABLE') EXECUTE FUNCTION early();
CREATE FOREIGN TABLE made (k int) SERVER bucketfdw OPTIONS (bucket_by 'k');
DROP EVENT TRIGGER bucketfdw_a;
SELECT * FROM made;

-- a table that is dropped while its wrapper has no handler is gone
ALTER FOREIGN DATA WRAPPER w_renamed NO HANDLER;
DROP FOREIGN TABLE t;
DROP SERVER s_renamed;
DROP FOREIGN DATA WRAPPER w_renamed;
SELECT bucketfdw.cleanup() >= 0;
SELECT count(*) FROM bucketfdw.spec s WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = s.relid);
-- and so are the rows that name a table whose oid another relation has
CREATE TABLE heap (k int);
SET allow_system_table_mods = on;
ALTER EVENT TRIGGER bucketfdw_drop DISABLE;
CREATE TEMP TABLE old AS SELECT 'own'::regclass::oid AS relid;
DROP FOREIGN TABLE own;
ALTER EVENT TRIGGER bucketfdw_drop ENABLE ALWAYS;
UPDATE bucketfdw.spec SET relid = 'heap'::regclass WHERE relid = (SELECT relid FROM old);
UPDATE bucketfdw.manifest SET relid = 'heap'::regclass WHERE relid = (SELECT relid FROM old);
RESET allow_system_table_mods;
SELECT bucketfdw.cleanup() >= 0;
SELECT * FROM named('heap');

SET client_min_messages = error;
DROP SCHEMA changed CASCADE;

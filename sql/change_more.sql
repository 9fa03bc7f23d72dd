-- Changed rows beside heap copies: what a statement counts, returns and refuses is the same, and so are the rows afterwards.
-- Names of bucketed tables end in _b, those of their copies in _h.
CREATE FUNCTION outcome(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	x text;
BEGIN
	IF q ~* 'RETURNING' AND q !~ '^WITH' THEN
		EXECUTE format('WITH x AS (%s) SELECT count(*), string_agg(x::text, E'' '' ORDER BY x::text COLLATE "C") FROM x', q) INTO n, x;
		RETURN n || ' rows: ' || coalesce(x, '');
	END IF;
	EXECUTE q;
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN n || ' rows';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
CREATE FUNCTION changed(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	b text := outcome(q);
	h text := outcome(regexp_replace(q, '(\w)_b\M', '\1_h', 'g'));
BEGIN
	IF replace(b, '_b', '_h') = h THEN RETURN left(h, 150); END IF;
	RETURN format('WRONG: %s, heap %s', b, h);
END
$$;
CREATE TABLE ch_h (id int, k int, v int, t text);
INSERT INTO ch_h SELECT i, CASE WHEN i % 25 > 0 THEN i % 20 END, i % 10, 't' || i FROM generate_series(1, 200) i;
CREATE FOREIGN TABLE ch_b (id int, k int, v int, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '7');
INSERT INTO ch_b SELECT * FROM ch_h WHERE id <= 150;
SET bucketfdw.inline_limit = 0;
INSERT INTO ch_b SELECT * FROM ch_h WHERE id > 150;
RESET bucketfdw.inline_limit;
CREATE TABLE two_h (k int, x int);
INSERT INTO two_h SELECT i % 30, i FROM generate_series(1, 90) i;
CREATE FOREIGN TABLE two_b (k int, x int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
INSERT INTO two_b SELECT * FROM two_h;

-- RETURNING: real values, also without triggers, and of columns nothing else needs
SELECT q, changed(q) FROM unnest(ARRAY['DELETE FROM ch_b WHERE k = 3 RETURNING *', 'DELETE FROM ch_b WHERE id = 44 RETURNING t', 'DELETE FROM ch_b WHERE id BETWEEN 20 AND 22 RETURNING ch_b',
	'DELETE FROM ch_b WHERE k = 5 AND v = 5 RETURNING id + v, upper(t), k IS NULL', 'DELETE FROM ch_b WHERE k IS NULL AND v = 0 RETURNING 1', 'DELETE FROM ch_b WHERE id = 1000 RETURNING *',
	'UPDATE ch_b SET v = v + 100 WHERE id = 60 RETURNING *', 'UPDATE ch_b SET k = k + 1, t = t || k WHERE k = 7 RETURNING id, k, t', 'UPDATE ch_b SET (k, v) = (v, k) WHERE id IN (61, 62) RETURNING ch_b',
	'UPDATE ch_b SET k = NULL WHERE id = 63 RETURNING *', 'UPDATE ch_b SET k = 1 WHERE k IS NULL AND v = 5 RETURNING *',
	'UPDATE ch_b SET t = DEFAULT WHERE id = 64 RETURNING t IS NULL', 'UPDATE ch_b SET v = v WHERE v = 2 RETURNING 1', 'UPDATE ch_b SET v = 1 / (v - v) WHERE id = 65']) q;
SELECT same('SELECT * FROM ch_b');
-- several partners: each row is changed once and counted once
SELECT q, changed(q) FROM unnest(ARRAY['DELETE FROM ch_b USING two_b WHERE ch_b.k = two_b.k AND ch_b.v = 4', 'DELETE FROM ch_b USING two_b WHERE ch_b.k = two_b.k AND ch_b.k = 9 RETURNING ch_b.*',
	'UPDATE ch_b SET v = v + 1 FROM two_b WHERE ch_b.k = two_b.k AND ch_b.k IN (1, 2)', 'UPDATE ch_b SET v = ch_b.v + 1 FROM ch_b o WHERE ch_b.k = o.k AND ch_b.id < 40', 'UPDATE ch_b SET v = v - 1 FROM two_h WHERE ch_b.k = two_h.k RETURNING ch_b.id, ch_b.v',
	'UPDATE ch_b SET k = 0 FROM two_b WHERE ch_b.k = two_b.k AND ch_b.k = 11 RETURNING ch_b.id',
	'UPDATE ch_b SET v = s.n FROM (SELECT k, count(*) AS n FROM ch_b GROUP BY k) s WHERE ch_b.k = s.k AND ch_b.id % 3 = 0', 'DELETE FROM ch_b a USING ch_b o WHERE a.k = o.k AND a.t < o.t AND a.v = o.v',
	'DELETE FROM ch_b WHERE k IN (SELECT k FROM two_b WHERE x > 85)', 'DELETE FROM ch_b WHERE NOT EXISTS (SELECT FROM two_b WHERE two_b.k = ch_b.k)', 'UPDATE ch_b SET v = (SELECT max(x) FROM two_b WHERE two_b.k = ch_b.k) WHERE id < 100',
	'DELETE FROM two_b USING ch_b, ch_b o WHERE ch_b.k = two_b.k AND o.k = two_b.k AND ch_b.id < 120 AND two_b.x > 60']) q;
SELECT same('SELECT * FROM ch_b');
-- WITH: every part sees the rows from before
SELECT q, changed(q) FROM unnest(ARRAY['WITH d AS (DELETE FROM ch_b WHERE k = 8 RETURNING *) INSERT INTO ch_b SELECT id + 1000, k, v, t FROM d',
	'WITH d AS (DELETE FROM ch_b WHERE k = 12 RETURNING *), u AS (UPDATE ch_b SET v = 77 WHERE k = 13 RETURNING *) INSERT INTO ch_b SELECT id + 2000, k, (SELECT count(*) FROM ch_b), t FROM d UNION ALL SELECT id + 3000, k, v, t FROM u']) q;
SELECT q, same(q) FROM unnest(ARRAY['SELECT * FROM ch_b', 'SELECT count(*), sum(v), min(id), max(t) FROM ch_b', 'SELECT k, count(*) FROM ch_b GROUP BY k', 'SELECT * FROM ch_b JOIN two_b USING (k)', 'SELECT count(*), sum(x) FROM ch_b JOIN two_b USING (k)',
	'SELECT * FROM ch_b WHERE k = 8', 'SELECT k, id FROM ch_b ORDER BY k, id LIMIT 9', 'SELECT * FROM two_b WHERE NOT EXISTS (SELECT FROM ch_b WHERE ch_b.k = two_b.k)']) q;
SELECT * FROM bucketfdw.verify();

-- Triggers that change the same row: an error in a BEFORE trigger, right in an AFTER trigger
CREATE TABLE note (tab text, what text, o text, n text);
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	IF TG_OP = 'DELETE' THEN r := OLD; ELSE r := NEW; END IF;
	INSERT INTO note VALUES (left(TG_TABLE_NAME, -2), TG_ARGV[0] || ' ' || TG_WHEN || ' ' || TG_OP, OLD::text, CASE WHEN TG_OP <> 'DELETE' THEN NEW::text END);
	IF pg_trigger_depth() = 1 AND TG_ARGV[0] <> 'note' THEN
		EXECUTE CASE TG_ARGV[0]
			WHEN 'update' THEN format('UPDATE %I SET v = v + 1000 WHERE id = %s', TG_TABLE_NAME, r.id)
			WHEN 'delete' THEN format('DELETE FROM %I WHERE id = %s', TG_TABLE_NAME, r.id)
			WHEN 'others' THEN format('UPDATE %I SET v = v + 1000 WHERE id <> %s AND k = %s', TG_TABLE_NAME, r.id, r.k) END;
	END IF;
	IF TG_OP <> 'DELETE' AND TG_WHEN = 'BEFORE' AND NEW.v = 5 THEN RETURN NULL; END IF;
	RETURN r;
END
$$;
CREATE FUNCTION with_trigger(q text, time_ text, events text, arg text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	s text;
	x text;
BEGIN
	TRUNCATE ch_b, ch_h;
	INSERT INTO ch_h SELECT i, i % 20, i % 10, 't' || i FROM generate_series(1, 80) i;
	INSERT INTO ch_b SELECT * FROM ch_h WHERE id % 2 = 0;
	INSERT INTO ch_b SELECT * FROM ch_h WHERE id % 2 = 1;
	FOREACH s IN ARRAY ARRAY['h', 'b'] LOOP EXECUTE format('CREATE TRIGGER tr %s %s ON ch_%s FOR EACH ROW EXECUTE FUNCTION touch(%L)', time_, events, s, arg); END LOOP;
	TRUNCATE note;
	x := changed(q);
	FOREACH s IN ARRAY ARRAY['h', 'b'] LOOP EXECUTE format('DROP TRIGGER tr ON ch_%s', s); END LOOP;
	RETURN x || '; ' || (SELECT CASE WHEN count(*) % 2 = 0 AND NOT EXISTS (SELECT FROM note GROUP BY what, o, n, tab HAVING count(*) % 2 = 1) THEN count(*) / 2 || ' noted' ELSE 'WRONG: ' || string_agg(note::text, ' ') END FROM note)
		|| '; ' || same('SELECT * FROM ch_b');
END
$$;
SELECT t, e, a, with_trigger('UPDATE ch_b SET v = v - 1 WHERE k = 8 RETURNING id, v', t, e, a) FROM unnest(ARRAY['BEFORE', 'AFTER']) t, unnest(ARRAY['UPDATE']) e, unnest(ARRAY['note', 'update', 'delete', 'others']) a ORDER BY t, e, a;
SELECT t, a, with_trigger('DELETE FROM ch_b WHERE k = 8 AND id % 3 > 0 RETURNING id, v', t, 'DELETE', a) FROM unnest(ARRAY['BEFORE', 'AFTER']) t, unnest(ARRAY['note', 'update', 'delete', 'others']) a WHERE t = 'AFTER' OR a <> 'others' ORDER BY t, a;
SELECT with_trigger('UPDATE ch_b SET k = k + 1, v = 5 WHERE k = 13', 'BEFORE', 'UPDATE OF k', 'note'), with_trigger('UPDATE ch_b SET v = 6 WHERE k = 13', 'BEFORE', 'UPDATE OF k', 'note');
-- a function of the statement itself changes the row
CREATE FUNCTION meddle(tab regclass, i int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE format('UPDATE %s SET v = v + 1 WHERE id = %s', tab, i); RETURN i; END $$;
SELECT q, changed(q) FROM unnest(ARRAY['UPDATE ch_b SET v = meddle(''ch_b'', id) WHERE id = 74', 'DELETE FROM ch_b WHERE id = 74 AND meddle(''ch_b'', id) > 0', 'UPDATE ch_b SET v = meddle(''ch_b'', id + 1) WHERE id = 74 RETURNING v']) q;
-- what a function counts in WHERE
CREATE FUNCTION left_in(tab regclass) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$ DECLARE n bigint; BEGIN EXECUTE format('SELECT count(*) FROM %s', tab) INTO n; RETURN n; END $$;
CREATE FUNCTION there_in(tab regclass) RETURNS bigint LANGUAGE plpgsql STABLE AS $$ DECLARE n bigint; BEGIN EXECUTE format('SELECT count(*) FROM %s', tab) INTO n; RETURN n; END $$;
SELECT q, changed(q) FROM unnest(ARRAY['WITH d AS (DELETE FROM ch_b WHERE left_in(''ch_b'') > 60 RETURNING 1) SELECT * FROM d', 'UPDATE ch_b SET v = there_in(''ch_b'') WHERE there_in(''ch_b'') > 0', 'UPDATE ch_b SET v = left_in(''ch_b'') WHERE left_in(''ch_b'') > 0']) q;
SELECT (SELECT count(*) FROM ch_b), (SELECT count(*) FROM ch_h);
TRUNCATE ch_b, ch_h;
INSERT INTO ch_h SELECT i, i % 20, i % 10, 't' || i FROM generate_series(1, 200) i;
INSERT INTO ch_b SELECT * FROM ch_h;

-- Cursors: one before and one between two changes of the transaction
BEGIN;
DECLARE c1 CURSOR FOR SELECT count(*), sum(v), sum(id) FROM ch_b;
DECLARE r1 CURSOR FOR SELECT id FROM ch_b ORDER BY id;
FETCH 2 FROM r1;
DELETE FROM ch_b WHERE id <= 100;
DECLARE c2 CURSOR FOR SELECT count(*), sum(v), sum(id) FROM ch_b;
UPDATE ch_b SET v = 0, id = -id WHERE id > 190;
DECLARE c3 CURSOR FOR SELECT count(*), sum(v), sum(id) FROM ch_b;
DELETE FROM ch_b;
FETCH c1; FETCH c2; FETCH c3; MOVE 195 IN r1; FETCH ALL FROM r1;
SELECT count(*) FROM ch_b;
ROLLBACK;
SELECT same('SELECT * FROM ch_b');
-- a cursor that is held, and one whose rows are deleted while it is read
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT id FROM ch_b ORDER BY id DESC;
DELETE FROM ch_b WHERE id > 195; DELETE FROM ch_h WHERE id > 195;
COMMIT;
FETCH 3 FROM held; CLOSE held;
DO $$ DECLARE r record; n int := 0; BEGIN
	FOR r IN SELECT id FROM ch_b WHERE id > 150 ORDER BY id LOOP DELETE FROM ch_b WHERE id IN (r.id, r.id + 1); n := n + 1; END LOOP;
	RAISE NOTICE '% rows in the loop, % left', n, (SELECT count(*) FROM ch_b);
END $$;
DELETE FROM ch_h WHERE id > 150;
SELECT same('SELECT * FROM ch_b');

-- Savepoints: deletes of the outer level that a read has written already
BEGIN;
DELETE FROM ch_b WHERE k = 1; DELETE FROM ch_h WHERE k = 1;
SAVEPOINT s;
DELETE FROM ch_b WHERE k = 2;
INSERT INTO ch_b VALUES (500, 2, 2, 'undone');
SELECT count(*) FROM ch_b JOIN two_b USING (k);
UPDATE ch_b SET v = -1;
ROLLBACK TO s;
SELECT same('SELECT * FROM ch_b');
SAVEPOINT s2;
UPDATE ch_b SET v = v + 1 WHERE k = 3; UPDATE ch_h SET v = v + 1 WHERE k = 3;
SELECT count(*) FROM ch_b WHERE k = 3;
RELEASE s2;
ROLLBACK TO s;
SELECT count(*) FILTER (WHERE v = 4) FROM ch_b WHERE k = 3;
COMMIT;
SELECT same('SELECT * FROM ch_b');
DO $$ BEGIN DELETE FROM ch_b WHERE k = 4; PERFORM count(*) FROM ch_b; RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN DELETE FROM ch_b WHERE k = 5; DELETE FROM ch_h WHERE k = 5; END $$;
SELECT same('SELECT * FROM ch_b');
SELECT * FROM bucketfdw.verify();

-- Rows of the own transaction: nothing is left of those that go again
CREATE FOREIGN TABLE own_b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
BEGIN;
INSERT INTO own_b SELECT i, i FROM generate_series(1, 100) i;
DELETE FROM own_b WHERE k <= 50;
SELECT count(*), sum(v) FROM own_b;
UPDATE own_b SET v = v + 1 WHERE k = 60;
UPDATE own_b SET v = v + 1 WHERE k = 60;
SELECT v FROM own_b WHERE k = 60;
DELETE FROM own_b;
SELECT count(*) FROM own_b;
COMMIT;
SELECT files, rows FROM bucketfdw.tables WHERE relid = 'own_b'::regclass;
SET bucketfdw.inline_limit = 0;
BEGIN;
INSERT INTO own_b SELECT i, i FROM generate_series(1, 100) i;
SELECT count(*) FROM own_b;
SAVEPOINT s;
DELETE FROM own_b WHERE k % 2 = 0;
SELECT count(*) FROM own_b;
INSERT INTO own_b SELECT i, i FROM generate_series(1, 100) i;
DELETE FROM own_b WHERE k = 7;
COMMIT;
RESET bucketfdw.inline_limit;
SELECT count(*), sum(v) FROM own_b;
DELETE FROM own_b;
SELECT files, rows FROM bucketfdw.tables WHERE relid = 'own_b'::regclass;
-- inline rows that the statement itself has put there
CREATE FOREIGN TABLE wide_b (k int, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', compression 'none');
INSERT INTO wide_b SELECT i, md5(i::text) FROM generate_series(1, 6000) i;
BEGIN;
INSERT INTO wide_b SELECT i, md5(i::text) FROM generate_series(1, 200) i;
DELETE FROM wide_b;
COMMIT;
SELECT count(*) FROM wide_b;
SELECT * FROM bucketfdw.verify();

-- Partitions, one of them a heap: rows move in every direction
CREATE TABLE pt_h (id int, k int, d int CONSTRAINT never13 CHECK (d <> 13), t text) PARTITION BY RANGE (d);
CREATE TABLE pt0_h PARTITION OF pt_h FOR VALUES FROM (0) TO (10);
CREATE TABLE pt1_h PARTITION OF pt_h FOR VALUES FROM (10) TO (20);
CREATE TABLE pt2_h PARTITION OF pt_h FOR VALUES FROM (20) TO (30);
CREATE TABLE pt_b (id int, k int, d int CONSTRAINT never13 CHECK (d <> 13), t text) PARTITION BY RANGE (d);
CREATE FOREIGN TABLE pt0_b PARTITION OF pt_b FOR VALUES FROM (0) TO (10) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
CREATE TABLE pt1_b PARTITION OF pt_b FOR VALUES FROM (10) TO (20);
CREATE FOREIGN TABLE pt2_b (t text, gone int, id int, d int CONSTRAINT never13 CHECK (d <> 13), k int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
ALTER FOREIGN TABLE pt2_b DROP COLUMN gone;
ALTER TABLE pt_b ATTACH PARTITION pt2_b FOR VALUES FROM (20) TO (30);
INSERT INTO pt_h SELECT i, i % 9, (i * 7) % 30, 'p' || i FROM generate_series(1, 120) i WHERE (i * 7) % 30 <> 13;
INSERT INTO pt_b SELECT * FROM pt_h;
SELECT q, changed(q), same('SELECT *, right(tableoid::regclass::text, -2) IS NULL FROM pt_b') FROM unnest(ARRAY['UPDATE pt_b SET d = d + 10 WHERE d = 3', 'UPDATE pt_b SET d = d - 10 WHERE d = 12 RETURNING *', 'UPDATE pt_b SET d = d + 20 WHERE d = 1 RETURNING id, d, t',
	'UPDATE pt_b SET d = d - 20 WHERE d IN (25, 26) RETURNING d', 'UPDATE pt_b SET d = d + 10 WHERE d BETWEEN 15 AND 18', 'UPDATE pt_b SET d = 29 - d WHERE d NOT IN (13, 16)', 'UPDATE pt_b SET k = k + 1 WHERE k = 4', 'UPDATE pt_b SET k = d, d = 7, t = t || ''!'' WHERE k = 5 RETURNING *',
	'UPDATE pt_b SET d = 40 WHERE id = 4', 'UPDATE pt_b SET d = 13 WHERE id = 4', 'UPDATE pt_b SET d = NULL WHERE id = 4', 'UPDATE pt_b SET d = d + 1 FROM two_b WHERE two_b.k = pt_b.k AND pt_b.d = 9', 'UPDATE pt_b SET d = d + 1 FROM two_h WHERE two_h.k = pt_b.k AND pt_b.d = 19',
	'DELETE FROM pt_b WHERE d IN (5, 15, 21) RETURNING *', 'DELETE FROM pt_b USING two_b WHERE pt_b.k = two_b.k AND two_b.x = 2 RETURNING pt_b.id, two_b.x', 'DELETE FROM pt_b WHERE k = 3 AND d > 9',
	'WITH m AS (UPDATE pt_b SET d = (d + 11) % 30 WHERE id % 8 = 1 AND (d + 11) % 30 <> 13 RETURNING *) INSERT INTO pt_b SELECT id + 1000, k, (d + 10) % 30, t FROM m WHERE (d + 10) % 30 <> 13']) q;
-- joins of bucketed partitions alone are core's, and of single tables ours
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
SELECT q, changed(q), same('SELECT * FROM pt_b') FROM unnest(ARRAY['UPDATE pt_b SET k = pt_b.k + 1 FROM two_b WHERE two_b.k = pt_b.k AND pt_b.d IN (8, 22) RETURNING pt_b.*', 'DELETE FROM pt_b USING two_b WHERE two_b.k = pt_b.k AND pt_b.d IN (7, 27) RETURNING pt_b.*, two_b.k', 'UPDATE pt_b SET d = pt_b.d + 20 FROM two_b WHERE two_b.k = pt_b.k AND pt_b.d = 2']) q;
SELECT outcome('EXPLAIN (VERBOSE) DELETE FROM pt_b USING two_b WHERE two_b.k = pt_b.k AND pt_b.d = 9') ~ '^[0-9]+ rows$' AS explained;
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop;
SELECT left(tableoid::regclass::text, 3) AS part, count(*) FROM pt_b GROUP BY 1 EXCEPT SELECT left(tableoid::regclass::text, 3), count(*) FROM pt_h GROUP BY 1;
-- a partition by its own name keeps its rows
SELECT q, changed(q) FROM unnest(ARRAY['UPDATE pt0_b SET d = 11 WHERE d = 4', 'UPDATE pt2_b SET d = d + 1 WHERE d < 29', 'DELETE FROM pt2_b WHERE k = 1 RETURNING id, k, d, t']) q;
SELECT * FROM bucketfdw.verify();
-- the hot month is a heap and changed by generic plans: partitions that are pruned as they run stand in nobody's way
PREPARE hot(int) AS UPDATE pt_b SET t = t || '.' WHERE d = $1;
PREPARE hot_h(int) AS UPDATE pt_h SET t = t || '.' WHERE d = $1;
EXECUTE hot(14); EXECUTE hot(14); EXECUTE hot(14); EXECUTE hot(14); EXECUTE hot(14); EXECUTE hot(14); EXECUTE hot(23); EXECUTE hot(2);
EXECUTE hot_h(14); EXECUTE hot_h(14); EXECUTE hot_h(14); EXECUTE hot_h(14); EXECUTE hot_h(14); EXECUTE hot_h(14); EXECUTE hot_h(23); EXECUTE hot_h(2);
SELECT q, changed(q) FROM unnest(ARRAY['DELETE FROM pt_b WHERE d = (SELECT 14)', 'DELETE FROM pt_b WHERE d = (SELECT max(x) / 9 FROM two_b)', 'UPDATE pt_b SET k = 100 WHERE d = (SELECT 24)']) q;
SELECT same('SELECT * FROM pt_b');

-- Constraints, generated columns, defaults
CREATE TABLE ge_h (k int NOT NULL, a int CHECK (a < 100), s int GENERATED ALWAYS AS (a * 2) STORED, d int DEFAULT 9);
CREATE FOREIGN TABLE ge_b (k int NOT NULL, a int CHECK (a < 100), s int GENERATED ALWAYS AS (a * 2) STORED, d int DEFAULT 9) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
INSERT INTO ge_h (k, a) SELECT i % 10, i FROM generate_series(1, 60) i;
INSERT INTO ge_b (k, a) SELECT k, a FROM ge_h;
SELECT q, changed(q), same('SELECT * FROM ge_b') FROM unnest(ARRAY['UPDATE ge_b SET a = a + 30 WHERE k = 4 RETURNING *', 'UPDATE ge_b SET a = 100 WHERE k = 5', 'UPDATE ge_b SET k = NULL WHERE k = 6', 'UPDATE ge_b SET k = 7 WHERE k = 6 RETURNING s', 'UPDATE ge_b SET d = DEFAULT, a = DEFAULT WHERE k = 2 RETURNING *',
	'UPDATE ge_b SET s = 1', 'UPDATE ge_b SET s = DEFAULT WHERE k = 1 RETURNING s']) q;

-- Views, with CHECK OPTION; rules; row level security
CREATE VIEW low_b AS SELECT * FROM ge_b WHERE a < 50 WITH CHECK OPTION;
CREATE VIEW low_h AS SELECT * FROM ge_h WHERE a < 50 WITH CHECK OPTION;
SELECT table_name, is_updatable, is_insertable_into FROM information_schema.views WHERE table_name LIKE 'low__' ORDER BY 1;
SELECT q, changed(q), same('SELECT * FROM ge_b') FROM unnest(ARRAY['UPDATE low_b SET a = a + 1 WHERE k = 3 RETURNING *', 'UPDATE low_b SET a = 60 WHERE k = 3', 'UPDATE low_b SET a = 60 WHERE k = 1000', 'DELETE FROM low_b WHERE k = 9 RETURNING a', 'DELETE FROM low_b WHERE a > 50', 'UPDATE low_b SET k = k + 1 WHERE a > 40']) q;
CREATE RULE kept AS ON DELETE TO low_b DO INSTEAD UPDATE ge_b SET d = -1 WHERE k = OLD.k AND a = OLD.a;
CREATE RULE kept AS ON DELETE TO low_h DO INSTEAD UPDATE ge_h SET d = -1 WHERE k = OLD.k AND a = OLD.a;
SELECT changed('DELETE FROM low_b WHERE k = 3'), same('SELECT * FROM ge_b');
CREATE ROLE regress_changer;
GRANT SELECT, UPDATE, DELETE ON ch_b, ch_h, low_b, low_h TO regress_changer;
CREATE TABLE guard_h (id int, k int, d int) PARTITION BY LIST (d);
CREATE TABLE guard0_h PARTITION OF guard_h FOR VALUES IN (0);
CREATE TABLE guard1_h PARTITION OF guard_h FOR VALUES IN (1);
CREATE TABLE guard_b (id int, k int, d int) PARTITION BY LIST (d);
CREATE FOREIGN TABLE guard0_b PARTITION OF guard_b FOR VALUES IN (0) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE FOREIGN TABLE guard1_b PARTITION OF guard_b FOR VALUES IN (1) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
CREATE TABLE guard2_h PARTITION OF guard_h FOR VALUES IN (2);
CREATE TABLE guard2_b PARTITION OF guard_b FOR VALUES IN (2);
INSERT INTO guard_h SELECT i, i % 5, i % 3 FROM generate_series(1, 60) i;
INSERT INTO guard_b SELECT * FROM guard_h;
ALTER TABLE guard_b ENABLE ROW LEVEL SECURITY;
ALTER TABLE guard_h ENABLE ROW LEVEL SECURITY;
CREATE POLICY see ON guard_b USING (k < 4) WITH CHECK (id < 1000);
CREATE POLICY see ON guard_h USING (k < 4) WITH CHECK (id < 1000);
GRANT SELECT, UPDATE, DELETE ON guard_b, guard_h TO regress_changer;
SET ROLE regress_changer;
SELECT q, changed(q) FROM unnest(ARRAY['UPDATE guard_b SET id = id + 100 WHERE k = 1 RETURNING *', 'UPDATE guard_b SET id = 1000 WHERE k = 2', 'UPDATE guard_b SET id = 1001, d = 2 - d WHERE k = 2', 'UPDATE guard_b SET id = 1002, d = 0 WHERE k = 1 AND d = 2', 'UPDATE guard_b SET id = 1003, d = 2 WHERE k = 1 AND d = 0', 'UPDATE guard_b SET id = id + 1, d = (d + 1) % 3 WHERE k = 3', 'UPDATE guard_b SET id = 3 WHERE k = 4', 'UPDATE guard_b SET d = 2 - d WHERE k = 3 RETURNING *', 'UPDATE guard_b SET k = 4 WHERE k = 0', 'DELETE FROM guard_b',
	'DELETE FROM ch_b WHERE k = 6', 'UPDATE pt_b SET k = 1', 'DELETE FROM pt_b WHERE k = 1']) q;
RESET ROLE;
SELECT same('SELECT * FROM guard_b'), same('SELECT * FROM ch_b');

-- Prepared statements: custom plans, then generic ones
PREPARE d(int) AS DELETE FROM ch_b WHERE k = $1 AND id % 2 = 0;
PREPARE u(int, int) AS WITH u AS (UPDATE ch_b SET v = v + $2 WHERE k = $1 RETURNING *) SELECT count(*), sum(id), sum(v) FROM u;
PREPARE a(int[]) AS UPDATE ch_b SET t = t || k WHERE k = ANY ($1);
EXECUTE d(7); EXECUTE d(8); EXECUTE d(NULL); EXECUTE d(7); EXECUTE d(9); EXECUTE d(10); EXECUTE d(11);
EXECUTE u(12, 1);
EXECUTE u(12, 1); EXECUTE u(NULL, 1); EXECUTE u(12, 1); EXECUTE u(12, NULL); EXECUTE u(99, 1); EXECUTE u(13, 5);
EXECUTE u(13, 5);
EXECUTE a('{14,15,NULL}'); EXECUTE a('{14}'); EXECUTE a('{}'); EXECUTE a(NULL); EXECUTE a('{15,15}'); EXECUTE a('{1,16}'); EXECUTE a('{16}');
SET plan_cache_mode = force_generic_plan;
EXECUTE d(12); EXECUTE u(13, 1); EXECUTE a('{16}');
RESET plan_cache_mode;
DELETE FROM ch_h WHERE k IN (7, 8, 9, 10, 11) AND id % 2 = 0;
UPDATE ch_h SET v = CASE k WHEN 12 THEN NULL ELSE v + 10 END WHERE k IN (12, 13);
UPDATE ch_h SET t = t || CASE WHEN k = 14 THEN '1414' WHEN k = 15 THEN '1515' ELSE '1616' END WHERE k IN (14, 15, 16);
DELETE FROM ch_h WHERE k = 12 AND id % 2 = 0;
UPDATE ch_h SET v = v + 1 WHERE k = 13;
UPDATE ch_h SET t = t || k WHERE k = 16;
SELECT same('SELECT * FROM ch_b');
DEALLOCATE ALL;
CREATE FUNCTION by_sql(x int) RETURNS SETOF int LANGUAGE sql AS 'UPDATE ch_b SET v = v + 1 WHERE k = x RETURNING v';
SELECT * FROM by_sql(14) ORDER BY 1;
SELECT same('SELECT id, k, t FROM ch_b');

-- What PostgreSQL refuses for foreign tables, in its words
CREATE FUNCTION refused(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	h text;
BEGIN
	EXECUTE q;
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS h = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || SQLERRM || coalesce(nullif('; ' || h, '; '), '');
END
$$;
SELECT q, refused(q) FROM unnest(ARRAY['MERGE INTO ch_b USING two_b ON ch_b.k = two_b.k WHEN MATCHED THEN DELETE', 'MERGE INTO pt_b USING two_b ON pt_b.k = two_b.k WHEN MATCHED THEN DELETE', 'INSERT INTO ch_b VALUES (1, 1, 1) ON CONFLICT (id) DO UPDATE SET v = 1',
	'INSERT INTO ch_b VALUES (1, 1, 1) ON CONFLICT (id) DO NOTHING', 'DELETE FROM ch_b WHERE ctid = ''(0,1)''', 'DELETE FROM ch_b a USING ch_b b WHERE a.k = b.k AND a.ctid < b.ctid', 'UPDATE ch_b SET v = 1 WHERE xmin = ''3''', 'SELECT ctid FROM ch_b',
	'DELETE FROM ch_b WHERE id = 16 RETURNING ctid', 'DELETE FROM ch_b WHERE k = 99 RETURNING xmin', 'UPDATE ch_b SET v = 1 WHERE k = 99 RETURNING xmax', 'INSERT INTO ch_b VALUES (1) RETURNING ctid', 'INSERT INTO ch_b VALUES (1, 99) RETURNING tableoid = ''ch_b''::regclass', 'SELECT * FROM ch_b WHERE k = 1 FOR UPDATE SKIP LOCKED', 'UPDATE ch_b SET id = 1 WHERE k = ctid::text::int',
	'CREATE TRIGGER tt AFTER DELETE ON ch_b REFERENCING OLD TABLE AS o FOR EACH STATEMENT EXECUTE FUNCTION touch(''note'')', 'CREATE CONSTRAINT TRIGGER tt AFTER DELETE ON ch_b FOR EACH ROW EXECUTE FUNCTION touch(''note'')']) q;
BEGIN;
DECLARE cur CURSOR FOR SELECT * FROM ch_b WHERE k = 14 FOR UPDATE;
FETCH 0 FROM cur;
SAVEPOINT s;
DELETE FROM ch_b WHERE CURRENT OF cur;
ROLLBACK TO s;
ROLLBACK;
-- a transition table of a parent: an error as soon as a row of a bucketed partition is changed
CREATE TRIGGER all_rows AFTER DELETE ON pt_b REFERENCING OLD TABLE AS o FOR EACH STATEMENT EXECUTE FUNCTION touch('note');
SELECT refused('DELETE FROM pt_b');
DROP TRIGGER all_rows ON pt_b;
SELECT same('SELECT * FROM pt_b'), same('SELECT id, k, t FROM ch_b WHERE k < 99');
SELECT * FROM bucketfdw.verify();
DROP OWNED BY regress_changer;
DROP ROLE regress_changer;
DROP VIEW low_b, low_h;
DROP TABLE pt_b, pt_h, guard_b, guard_h, ge_h, ch_h, two_h, note;
DROP FOREIGN TABLE ch_b, two_b, own_b, wide_b, ge_b;
DROP FUNCTION outcome, changed, touch, with_trigger, meddle, left_in, there_in, by_sql, refused;

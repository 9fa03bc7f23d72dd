-- Shapes of real work on bucketed tables: keys that are often NULL or zero, tenants, versioned
-- dimensions, table differences, incremental loads, statements that write and read.  Every answer
-- is that of heap tables, and every join that can be made by buckets is.

-- sessions: 40 % of the keys are NULL, 20 % are zero
CREATE TABLE visits_h AS SELECT CASE WHEN i % 10 < 4 THEN NULL WHEN i % 10 < 6 THEN 0 ELSE i % 700 END::int AS user_id, i AS visit, 'page ' || i % 31 AS page, i % 90 AS secs FROM generate_series(1, 5000) i;
CREATE TABLE users_h AS SELECT i::bigint AS user_id, 'u' || i AS name, i % 5 AS plan FROM generate_series(0, 800) i UNION ALL SELECT NULL, 'nobody', 9 UNION ALL SELECT 3, 'u3 again', 1;
CREATE FOREIGN TABLE visits_b (user_id int, visit int, page text, secs int) SERVER bucketfdw OPTIONS (bucket_by 'user_id', buckets '8', block_rows '100');
CREATE FOREIGN TABLE users_b (user_id bigint, name text, plan int) SERVER bucketfdw OPTIONS (bucket_by 'user_id', buckets '12', block_rows '50');
INSERT INTO visits_b SELECT * FROM visits_h WHERE visit % 2 = 0; INSERT INTO visits_b SELECT * FROM visits_h WHERE visit % 2 = 1;
INSERT INTO users_b SELECT * FROM users_h;
ANALYZE visits_h; ANALYZE users_h; ANALYZE visits_b; ANALYZE users_b;
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT * FROM visits_b JOIN users_b USING (user_id)',
	'SELECT visit, name FROM visits_b v LEFT JOIN users_b u ON u.user_id = v.user_id',
	'SELECT visit, name FROM visits_b v RIGHT JOIN users_b u ON u.user_id = v.user_id AND secs > 80',
	'SELECT visit, name FROM visits_b v FULL JOIN users_b u ON u.user_id = v.user_id',
	'SELECT visit FROM visits_b v WHERE NOT EXISTS (SELECT FROM users_b u WHERE u.user_id = v.user_id)',
	'SELECT name FROM users_b u WHERE NOT EXISTS (SELECT FROM visits_b v WHERE u.user_id = v.user_id AND v.secs > 85)',
	'SELECT name FROM users_b u WHERE user_id IN (SELECT user_id FROM visits_b WHERE page > ''page 2'')',
	'SELECT a.visit, b.visit AS next FROM visits_b a JOIN visits_b b ON a.user_id = b.user_id AND a.visit < b.visit WHERE a.user_id <> 0',
	'SELECT count(*), min(a.visit), max(b.visit) FROM visits_b a JOIN visits_b b ON a.user_id = b.user_id',
	'SELECT v.user_id, count(*), sum(secs), max(name) FROM visits_b v JOIN users_b u ON u.user_id = v.user_id GROUP BY v.user_id']) q;
-- the hot key takes more than work_mem
SET work_mem = '64kB';
SELECT (tried('SELECT a.visit, b.page, u.name FROM visits_b a JOIN visits_b b USING (user_id) JOIN users_b u USING (user_id) WHERE a.visit < 150')).*;
RESET work_mem;

-- tenants: a number and a uuid
CREATE TABLE acts_h AS SELECT i % 4 AS tenant_id, CASE WHEN i % 23 = 0 THEN NULL ELSE md5((i % 150)::text)::uuid END AS user_id, i AS act FROM generate_series(1, 2500) i;
CREATE TABLE members_h AS SELECT t AS tenant_id, md5(i::text)::uuid AS user_id, t * 1000 + i AS member FROM generate_series(0, 3) t, generate_series(1, 170) i WHERE (t + i) % 3 > 0;
CREATE FOREIGN TABLE acts_b (tenant_id int, user_id uuid, act int) SERVER bucketfdw OPTIONS (bucket_by 'tenant_id, user_id', buckets '8', block_rows '100');
CREATE FOREIGN TABLE members_b (tenant_id int, user_id uuid, member int) SERVER bucketfdw OPTIONS (bucket_by 'tenant_id, user_id', buckets '4');
INSERT INTO acts_b SELECT * FROM acts_h WHERE act < 1200; INSERT INTO acts_b SELECT * FROM acts_h WHERE act >= 1200;
INSERT INTO members_b SELECT * FROM members_h;
ANALYZE acts_h; ANALYZE members_h; ANALYZE acts_b; ANALYZE members_b;
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT * FROM acts_b JOIN members_b USING (tenant_id, user_id)',
	'SELECT act, member FROM acts_b a LEFT JOIN members_b m ON m.user_id = a.user_id AND m.tenant_id = a.tenant_id',
	'SELECT act, member FROM acts_b a FULL JOIN members_b m USING (tenant_id, user_id)',
	'SELECT act FROM acts_b a WHERE NOT EXISTS (SELECT FROM members_b m WHERE (m.tenant_id, m.user_id) = (a.tenant_id, a.user_id))',
	'SELECT a.act, b.act AS other FROM acts_b a JOIN acts_b b USING (tenant_id, user_id) WHERE a.act < b.act',
	'SELECT a.tenant_id, a.user_id, count(*), max(member) FROM acts_b a JOIN members_b m ON m.user_id = a.user_id AND m.tenant_id = a.tenant_id GROUP BY 1, 2']) q;
-- the groups of a table whose key has two columns
SET enable_hashagg = off; SET enable_sort = off;
SELECT same('SELECT tenant_id, user_id, count(*), sum(act) FROM acts_b GROUP BY tenant_id, user_id'), nodes('SELECT tenant_id, user_id, count(*), sum(act) FROM acts_b GROUP BY tenant_id, user_id') !~ 'Sort' AS unsorted;
RESET enable_hashagg; RESET enable_sort;
-- one tenant: core takes the number out of the join condition, the constant of both sides stands for it
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT act, member FROM acts_b JOIN members_b USING (tenant_id, user_id) WHERE tenant_id = 2',
	'SELECT act, member FROM acts_b a LEFT JOIN members_b m USING (tenant_id, user_id) WHERE a.tenant_id = 2',
	'SELECT act, member FROM acts_b a LEFT JOIN members_b m ON a.user_id = m.user_id AND m.tenant_id = 2 WHERE a.tenant_id = 2::bigint',
	'SELECT act FROM acts_b a WHERE tenant_id = 1 AND NOT EXISTS (SELECT FROM members_b m WHERE (m.tenant_id, m.user_id) = (a.tenant_id, a.user_id))',
	'SELECT act FROM acts_b a WHERE tenant_id = 1 AND user_id IN (SELECT user_id FROM members_b m WHERE m.tenant_id = 1)',
	'SELECT act, member FROM (SELECT * FROM acts_b WHERE tenant_id = 3) a FULL JOIN (SELECT * FROM members_b WHERE tenant_id = 3) m USING (user_id)',
	'SELECT a.act, b.act AS other, member FROM acts_b a JOIN acts_b b USING (tenant_id, user_id) JOIN members_b m USING (tenant_id, user_id) WHERE tenant_id = 0 AND a.act < b.act',
	'SELECT act, member FROM acts_b JOIN members_b USING (tenant_id, user_id) WHERE tenant_id = length(current_database()) - length(current_database()) + 1',
	'SELECT act, member FROM acts_b JOIN members_b USING (tenant_id, user_id) WHERE tenant_id IN (1, 2)']) q;
-- a text and a numeric as the fixed part, written in two ways
CREATE FOREIGN TABLE texts_b (tenant varchar(9), size numeric, id bigint) SERVER bucketfdw OPTIONS (bucket_by 'tenant, size, id', buckets '4');
CREATE TABLE texts_h AS SELECT ('t' || i % 3)::varchar(9) AS tenant, (i % 4)::numeric AS size, (i % 60)::bigint AS id FROM generate_series(1, 500) i;
INSERT INTO texts_b SELECT * FROM texts_h;
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT a.*, b.size AS bs FROM texts_b a JOIN texts_b b USING (id) WHERE a.tenant = ''t1'' AND b.tenant = ''t1''::text AND a.size = 2 AND b.size = 2.00',
	'SELECT a.id, b.size FROM texts_b a LEFT JOIN texts_b b ON b.id = a.id AND b.tenant = ''t1'' AND b.size = a.size WHERE a.tenant = ''t1''',
	'SELECT a.id FROM texts_b a WHERE tenant = ''t2'' AND size = 3.0 AND NOT EXISTS (SELECT FROM texts_b b WHERE b.tenant = ''t2'' AND b.size = 3 AND b.id = a.id AND b.id > 30)']) q;
SELECT q, same(q), nodes(q) ~ 'BucketJoin' AS bucketed FROM unnest(ARRAY[
	'SELECT a.id, b.size FROM texts_b a JOIN texts_b b USING (id) WHERE a.tenant = ''t1'' AND b.tenant = ''t2'' AND a.size = 2 AND b.size = 2.00',
	'SELECT a.id, b.size FROM texts_b a JOIN texts_b b USING (id) WHERE a.tenant >= ''t1'' AND b.tenant = ''t1'' AND a.size = 2 AND b.size = 2']) q;
DROP FOREIGN TABLE texts_b; DROP TABLE texts_h;
-- not the same constant; one on one side only; no condition at all is left
SELECT q, same(q), nodes(q) ~ 'BucketJoin' AS bucketed FROM unnest(ARRAY[
	'SELECT act, member FROM acts_b a JOIN members_b m USING (user_id) WHERE a.tenant_id = 1 AND m.tenant_id = 2',
	'SELECT act, member FROM acts_b a LEFT JOIN members_b m USING (user_id) WHERE a.tenant_id = 1',
	'SELECT act, member FROM acts_b a LEFT JOIN members_b m ON a.user_id = m.user_id AND a.tenant_id = 1 AND m.tenant_id = 1',
	'SELECT act, member FROM acts_b a FULL JOIN members_b m USING (tenant_id, user_id) WHERE a.tenant_id = 1',
	'SELECT act, member FROM acts_b a JOIN members_b m USING (tenant_id, user_id) WHERE tenant_id = 1 AND user_id = md5(''7'')::uuid']) q;
-- the number as a parameter, in a generic plan and for each row of another query
SET plan_cache_mode = force_generic_plan; SET enable_hashjoin = off; SET enable_nestloop = off;
PREPARE tenant(int) AS SELECT count(*), sum(act), sum(member) FROM acts_b JOIN members_b USING (tenant_id, user_id) WHERE tenant_id = $1;
EXPLAIN (COSTS OFF) EXECUTE tenant(1);
EXECUTE tenant(1); EXECUTE tenant(2); EXECUTE tenant(NULL);
DEALLOCATE tenant;
RESET plan_cache_mode; RESET enable_hashjoin; RESET enable_nestloop;
SELECT tenant_id, count(*), sum(act), sum(member) FROM acts_h JOIN members_h USING (tenant_id, user_id) WHERE tenant_id IN (1, 2) GROUP BY tenant_id ORDER BY tenant_id;
SELECT same('SELECT t, (SELECT sum(member) FROM acts_b a JOIN members_b m USING (tenant_id, user_id) WHERE tenant_id = t) FROM generate_series(0, 4) t');

-- a versioned dimension: the version that was valid
CREATE TABLE prices_h AS SELECT i % 200 AS item, date '2024-01-01' + (i / 200) * 30 AS since, CASE WHEN i / 200 < 4 THEN date '2024-01-01' + (i / 200) * 30 + 30 END AS upto, i AS price FROM generate_series(0, 999) i;
CREATE TABLE sales_h AS SELECT CASE WHEN i % 50 = 0 THEN NULL ELSE i % 220 END AS item, date '2023-12-25' + i % 200 AS day, i AS sale FROM generate_series(1, 3000) i;
CREATE FOREIGN TABLE prices_b (item int, since date, upto date, price int) SERVER bucketfdw OPTIONS (bucket_by 'item', buckets '4', sort_by 'item, since');
CREATE FOREIGN TABLE sales_b (item int, day date, sale int) SERVER bucketfdw OPTIONS (bucket_by 'item', buckets '8', sort_by 'item, day desc');
INSERT INTO prices_b SELECT * FROM prices_h; INSERT INTO sales_b SELECT * FROM sales_h;
ANALYZE prices_h; ANALYZE sales_h; ANALYZE prices_b; ANALYZE sales_b;
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT sale, price FROM sales_b s JOIN prices_b p ON p.item = s.item AND s.day >= p.since AND s.day < coalesce(p.upto, ''infinity'')',
	'SELECT sale, price FROM sales_b s LEFT JOIN prices_b p ON p.item = s.item AND s.day >= p.since AND (s.day < p.upto OR p.upto IS NULL)',
	'SELECT sale, price FROM sales_b s LEFT JOIN prices_b p ON p.item = s.item AND daterange(p.since, p.upto) @> s.day',
	'SELECT sale FROM sales_b s WHERE NOT EXISTS (SELECT FROM prices_b p WHERE p.item = s.item AND s.day >= p.since)']) q;

-- two states of a table: what was added, removed, changed
CREATE TABLE old_h AS SELECT i AS id, CASE WHEN i % 7 = 0 THEN NULL ELSE 'v' || i % 40 END AS val, CASE WHEN i % 6 = 0 THEN NULL ELSE i / 3.0 END AS num FROM generate_series(1, 1500) i;
CREATE TABLE new_h AS SELECT id, CASE WHEN id % 11 = 0 THEN 'changed' WHEN id % 35 = 0 THEN 'was null' ELSE val END AS val, CASE WHEN id % 30 = 0 THEN 0 WHEN id % 13 = 0 THEN NULL ELSE num END AS num FROM old_h WHERE id % 17 > 0 UNION ALL SELECT i, 'new', i FROM generate_series(1501, 1600) i;
CREATE FOREIGN TABLE old_b (id int, val text, num numeric) SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '8', block_rows '50');
CREATE FOREIGN TABLE new_b (id bigint, val text, num numeric) SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '8');
INSERT INTO old_b SELECT * FROM old_h; INSERT INTO new_b SELECT * FROM new_h;
ANALYZE old_h; ANALYZE new_h; ANALYZE old_b; ANALYZE new_b;
SELECT q, (tried(q)).* FROM unnest(ARRAY[
	'SELECT coalesce(o.id, n.id) AS id, CASE WHEN o.id IS NULL THEN ''added'' WHEN n.id IS NULL THEN ''removed'' ELSE ''changed'' END AS what, o.val, n.val AS now FROM old_b o FULL JOIN new_b n ON o.id = n.id WHERE (o.id, o.val, o.num) IS DISTINCT FROM (n.id, n.val, n.num)',
	'SELECT coalesce(o.id, n.id) AS id FROM old_b o FULL JOIN new_b n USING (id) WHERE o.val IS DISTINCT FROM n.val OR o.num IS DISTINCT FROM n.num',
	'SELECT count(*), count(o.id), count(n.id) FROM old_b o FULL JOIN new_b n USING (id) WHERE o.id IS NULL OR n.id IS NULL']) q;

-- incremental load: what is not there yet, in the statement that writes it
SELECT nodes('INSERT INTO old_b SELECT * FROM new_b n WHERE NOT EXISTS (SELECT FROM old_b o WHERE o.id = n.id)') ~ 'BucketJoin' AS bucketed;
SET enable_hashjoin = off; SET enable_nestloop = off;
INSERT INTO old_b SELECT * FROM new_b n WHERE NOT EXISTS (SELECT FROM old_b o WHERE o.id = n.id);
INSERT INTO old_b SELECT * FROM new_b n WHERE NOT EXISTS (SELECT FROM old_b o WHERE o.id = n.id);
INSERT INTO old_h SELECT * FROM new_h n WHERE NOT EXISTS (SELECT FROM old_h o WHERE o.id = n.id);
SELECT same('SELECT * FROM old_b'), same('SELECT * FROM old_b JOIN new_b USING (id)');
-- a part that writes: the statement still sees the state before
WITH added AS (INSERT INTO old_b SELECT i, 'late', i FROM generate_series(2001, 2050) i RETURNING id)
	SELECT (SELECT count(*) FROM added) AS added, count(*) AS joined, count(*) FILTER (WHERE o.val = 'late') AS late FROM old_b o FULL JOIN new_b n ON o.id = n.id;
INSERT INTO old_h SELECT i, 'late', i FROM generate_series(2001, 2050) i;
SELECT same('SELECT o.val, n.num FROM old_b o LEFT JOIN new_b n ON o.id = n.id');
RESET enable_hashjoin; RESET enable_nestloop;

-- planned in other ways: one order of joins only, and looked for at random
SET join_collapse_limit = 1; SET from_collapse_limit = 1;
SELECT (tried('SELECT v.visit, u.name, w.visit AS w FROM visits_b v LEFT JOIN (users_b u JOIN visits_b w ON w.user_id = u.user_id AND w.secs > 88) ON u.user_id = v.user_id WHERE v.secs < 5')).*;
RESET join_collapse_limit; RESET from_collapse_limit;
SET geqo_threshold = 2;
SELECT (tried('SELECT v.visit, u.name, w.visit AS w FROM visits_b v JOIN users_b u USING (user_id) JOIN visits_b w USING (user_id) LEFT JOIN users_b x ON x.user_id = v.user_id AND x.plan = 3 WHERE v.secs < 5 AND w.secs > 80')).*;
RESET geqo_threshold;
DROP FOREIGN TABLE visits_b, users_b, acts_b, members_b, prices_b, sales_b, old_b, new_b;
DROP TABLE visits_h, users_h, acts_h, members_h, prices_h, sales_h, old_h, new_h;

-- EXPLAIN of more than ten partitions: the first scan says what was planned, the last what all of them read.
SET max_parallel_workers_per_gather = 0;
CREATE TABLE ep_b (k int, d int, v int) PARTITION BY LIST (d);
CREATE TABLE ep_few_b (k int, d int, v int) PARTITION BY LIST (d);
DO $$
BEGIN
	FOR i IN 0 .. 11 LOOP
		EXECUTE format('CREATE FOREIGN TABLE ep_%s PARTITION OF ep_b FOR VALUES IN (%s) SERVER bucketfdw OPTIONS (bucket_by ''k'', buckets ''4'')', i, i);
	END LOOP;
	FOR i IN 0 .. 1 LOOP
		EXECUTE format('CREATE FOREIGN TABLE ep_few_%s PARTITION OF ep_few_b FOR VALUES IN (%s) SERVER bucketfdw OPTIONS (bucket_by ''k'', buckets ''4'')', i, i);
	END LOOP;
END
$$;
INSERT INTO ep_b SELECT g % 300, g % 12, g FROM generate_series(1, 12000) g;
INSERT INTO ep_few_b SELECT g % 300, g % 2, g FROM generate_series(1, 2000) g;
CREATE TABLE ep_h AS SELECT g AS k, g AS w FROM generate_series(1, 50) g;
ANALYZE ep_b; ANALYZE ep_few_b; ANALYZE ep_h;
-- the lines of a plan without what differs from version to version
CREATE FUNCTION explained(options text, query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	-- other formats are one line to EXPLAIN
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF, %s) %s', options, query) LOOP
		RETURN QUERY SELECT regexp_replace(l, 'rows=(\d+)(\.\d+)? loops=\d+', 'rows=\1')
			FROM unnest(string_to_array(line, E'\n')) l WHERE l !~ 'Memory|Buckets: |Bytes Read|Output|Disabled';
	END LOOP;
END
$$;
SET bucketfdw.enable_routing = off; SET enable_mergejoin = off; SET enable_nestloop = off;
SELECT * FROM explained('VERBOSE OFF', 'SELECT count(*) FROM ep_b JOIN ep_h USING (k) WHERE v > 5');
SELECT * FROM explained('ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF', 'SELECT count(*), sum(v), sum(w) FROM ep_b JOIN ep_h USING (k) WHERE v > 50 AND v % 2 = 0');
SELECT * FROM explained('ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF', 'SELECT sum(v) FROM ep_b WHERE v > 50');
-- what was not executed has no figures
SELECT * FROM explained('ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF', 'SELECT v FROM ep_b LIMIT 1');
-- all of them speak: with VERBOSE, in other formats, where they are few, and where the executor leaves some out
SELECT count(*) FROM explained('VERBOSE', 'SELECT count(*) FROM ep_b JOIN ep_h USING (k)') e WHERE e ~ 'Bucket Join: not used';
SELECT count(*) FROM explained('FORMAT yaml', 'SELECT count(*) FROM ep_b JOIN ep_h USING (k)') e WHERE e ~ 'Bucket Join: "not used"';
SELECT count(*) FROM explained('VERBOSE OFF', 'SELECT count(*) FROM ep_few_b JOIN ep_h USING (k)') e WHERE e ~ 'Bucket Join: not used';
SET plan_cache_mode = force_generic_plan;
PREPARE ep AS SELECT count(*) FROM ep_b JOIN ep_h USING (k) WHERE d <> $1 AND d >= $2;
SELECT count(*) FROM explained('ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF', 'EXECUTE ep (1, 0)') e WHERE e ~ 'Bucket Join: not used';
DEALLOCATE ep; RESET plan_cache_mode;
RESET bucketfdw.enable_routing; RESET enable_mergejoin; RESET enable_nestloop; RESET max_parallel_workers_per_gather;
DROP FUNCTION explained(text, text);
DROP TABLE ep_b, ep_few_b, ep_h;

-- Aggregates of expressions that are computed for whole batches: answers with their display scales, NULLs, values that do not fit, and errors are core's.
CREATE DOMAIN price AS numeric(10,2) CHECK (VALUE > -1000000);
CREATE TABLE v_h (k int, p numeric(15,2), d numeric(15,2), x numeric(15,2), q price, big numeric(38,10), any_n numeric, neg numeric(5,-2),
	odd numeric, i2 smallint, i4 int, i8 bigint, c char(1), t text, day date);
INSERT INTO v_h SELECT i % 97, (i * 7919 % 100000) / 100.0, (i % 11) / 100.0, (i % 9) / 100.0, i % 500 / 4.0,
	(i - 1000) * 1234567890123456789.0123456789, (ARRAY[1, 1.5, 1.2345, -2.50, 0, 0.000, 1000000])[i % 7 + 1] * (i % 3), i * 100 % 99999,
	CASE WHEN i % 1000 = 500 THEN numeric 'NaN' WHEN i % 1000 = 700 THEN 'Infinity' WHEN i % 1000 = 900 THEN '-Infinity' ELSE i END,
	i % 100 - 50, i * 1000 - 900000, i * 4000000000000, chr(65 + i % 4), 'PROMO ' || i % 5, date '2020-01-01' + i
	FROM generate_series(1, 2000) i;
UPDATE v_h SET d = NULL, i4 = NULL WHERE k % 10 = 3;
UPDATE v_h SET x = NULL, any_n = NULL, i2 = NULL WHERE k % 7 = 3;
UPDATE v_h SET big = NULL, i8 = NULL, c = NULL WHERE k % 9 = 3;
INSERT INTO v_h (k) SELECT i % 20 FROM generate_series(1, 60) i;
CREATE FOREIGN TABLE v_b (k int, p numeric(15,2), d numeric(15,2), x numeric(15,2), q price, big numeric(38,10), any_n numeric, neg numeric(5,-2),
	odd numeric, i2 smallint, i4 int, i8 bigint, c char(1), t text, day date)
	SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '100');
INSERT INTO v_b SELECT * FROM v_h WHERE i2 % 3 = 0; INSERT INTO v_b SELECT * FROM v_h WHERE i2 % 3 <> 0 OR i2 IS NULL;
CREATE TABLE w_h (k int, f numeric(10,3), n int);
INSERT INTO w_h SELECT i % 60, i / 8.0, i % 12 FROM generate_series(1, 150) i;
CREATE FOREIGN TABLE w_b (k int, f numeric(10,3), n int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '20');
INSERT INTO w_b SELECT * FROM w_h;
CREATE TABLE empty_h (k int, p numeric, i4 int);
CREATE FOREIGN TABLE empty_b (k int, p numeric, i4 int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
ANALYZE v_h; ANALYZE v_b; ANALYZE w_h; ANALYZE w_b;

-- every expression: sum, avg, min, max and count of it, of all rows, by the key, by other columns, with FILTER
CREATE FUNCTION computed(e text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	aggs text := format('sum(%1$s), avg(%1$s), trim_scale(min(%1$s)::numeric), trim_scale(max(%1$s)::numeric), count(%1$s), count(*), sum(%1$s) FILTER (WHERE c <> ''B''), count(%1$s) FILTER (WHERE k > 50 AND t LIKE ''%%3''), trim_scale(max(%1$s) FILTER (WHERE d IS NULL)::numeric)', e);
	result text := 'ok';
	q text;
BEGIN
	FOREACH q IN ARRAY ARRAY['SELECT %s FROM v_b', 'SELECT k, %s FROM v_b GROUP BY k', 'SELECT c, t, %s FROM v_b GROUP BY c, t',
		'SELECT %s FROM v_b WHERE day BETWEEN ''2020-03-01'' AND ''2022-01-01'' AND k <> 5', 'SELECT %s FROM v_b WHERE i4 = 1000',
		'SELECT %s FROM v_b WHERE false'] LOOP
		q := format(q, aggs);
		IF q !~ 'WHERE [dfik]|GROUP' AND nodes(q) !~ 'BucketAggregate' THEN result := 'core computes ' || q; END IF;
		IF answer(q) IS DISTINCT FROM answer(replace(q, 'v_b', 'v_h')) THEN result := 'WRONG: ' || q; END IF;
	END LOOP;
	RETURN result;
END
$$;
SELECT e, computed(e) FROM unnest(ARRAY[
	'p', 'any_n', 'big', 'odd', 'neg', 'q',
	'p * (1 - d)', 'p * (1 - d) * (1 + x)', '- p', '+ d', 'p - x * q', 'p + 1', '1.500 * d', 'neg * d', 'p * i4', 'p + i2', 'i8 * d - i4', 'q * q - p',
	'any_n * d', 'any_n + d', '1 - any_n', 'any_n - any_n * any_n', '- any_n', 'any_n * i2', '0.00000000000000000001 * any_n * p',
	'big * 2', 'big + p', 'big - any_n', 'big * big', '- big', 'big * 0.0000000000000000000000000000000000001', 'odd * 2', 'odd + any_n', 'odd - odd',
	'i4 + 1', 'i2 + i2', 'i2 * i4', 'i4 - i8', 'i8 + 5', '- i2', '- i4 + 0', '- i8', 'i4::bigint * i4', 'i8::numeric * i8', 'i2::numeric / 1 + i2',
	'i2::int::smallint', '(i4 / 1000)::smallint', 'i4 % 7 + i2',
	'CASE WHEN c = ''A'' THEN p ELSE 0 END', 'CASE WHEN t LIKE ''PROMO 2%'' THEN p * (1 - d) ELSE 0 END', 'CASE WHEN c = ''A'' THEN p * d WHEN c > ''B'' THEN x END',
	'CASE WHEN d > 0.05 OR d IS NULL THEN 1 ELSE 0 END', 'CASE WHEN i2 > i4 THEN i2 ELSE - i4 END', 'CASE WHEN day < ''2022-01-01'' THEN CASE WHEN c = ''C'' THEN any_n ELSE p END END',
	'CASE WHEN c IS NULL THEN NULL ELSE big END', 'CASE c WHEN ''A'' THEN p ELSE d END', 'CASE WHEN k > 1000 THEN odd ELSE i2 END', '2 * CASE WHEN c = ''D'' THEN d ELSE any_n END - p',
	'coalesce(d, 0)', 'coalesce(d, x, 1.000)', 'coalesce(i4, i2)', 'p * (1 - coalesce(d, any_n))', 'coalesce(CASE WHEN c = ''A'' THEN d END, x)',
	'round(p * d, 1)', 'p / 3', 'abs(any_n)', '(p * d)::numeric(10,1)', 'p * 2 + round(d)', '1', 'NULL::numeric', '5.50']) e;
-- what is not evaluated raises no error, what is raises core's
CREATE FUNCTION outcome(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(s::text, '' '' ORDER BY s::text) FROM (%s) s', q) INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
SELECT q, outcome(q), CASE WHEN outcome(q) IS DISTINCT FROM outcome(replace(q, 'v_b', 'v_h')) THEN 'WRONG' ELSE 'as heap' END FROM unnest(ARRAY[
	'SELECT sum(i4 * 10000) FROM v_b',
	'SELECT sum(i4 * 10000) FROM v_b WHERE i4 BETWEEN -200000 AND 200000',
	'SELECT sum(i4 * 10000) FILTER (WHERE i4 BETWEEN -200000 AND 200000) FROM v_b',
	'SELECT sum(CASE WHEN i4 BETWEEN -200000 AND 200000 THEN i4 * 10000 END) FROM v_b',
	'SELECT sum(CASE WHEN i4 > 200000 THEN i4 ELSE i4 * 10000 END) FROM v_b',
	'SELECT sum(i2 * 1000::smallint) FROM v_b',
	'SELECT max(i8 + 9223372036854775807) FROM v_b WHERE i8 > 0',
	'SELECT sum(i8 * i8) FROM v_b',
	'SELECT min(- i2 - 32767::smallint) FROM v_b',
	'SELECT count(i4::smallint) FROM v_b',
	'SELECT c, sum(i4::smallint) FROM v_b WHERE i4 BETWEEN -30000 AND 30000 GROUP BY c',
	'SELECT sum(CASE WHEN i2 <> 0 THEN p / i2 ELSE 0 END) FROM v_b WHERE k < 10',
	'SELECT sum(CASE WHEN 1 / i2 > 0 THEN p ELSE 0 END) FROM v_b',
	'SELECT sum(CASE WHEN i2 = 0 THEN 0 WHEN 1 / i2 > 0 THEN p ELSE d END) FROM v_b',
	'SELECT sum(CASE WHEN i2 <> 0 THEN CASE WHEN 100 / i2 > 3 THEN p ELSE - p END END) FROM v_b',
	'SELECT sum(CASE WHEN 100 / i2 > 3 THEN p ELSE - p END) FILTER (WHERE i2 <> 0) FROM v_b',
	'SELECT sum(CASE WHEN 100 / i2 > 3 THEN p ELSE - p END) FILTER (WHERE i2 < 5) FROM v_b',
	'SELECT sum(coalesce(i2, CASE WHEN 100 / i2 > 3 THEN 1 END)) FROM v_b',
	'SELECT sum(p) FILTER (WHERE 1 / i2 > 0) FROM v_b']) q;
-- over joins: pairs, rows filled up with NULLs, keys that are counted, rows that are routed
SELECT q, same(q), nodes(q) ~ 'BucketAggregate' batches FROM unnest(ARRAY[
	'SELECT sum(p * (1 - d)), sum(p * f), avg(f * n), count(*) FROM v_b JOIN w_b USING (k)',
	'SELECT c, sum(p * (1 - d)), max(p * f) FROM v_b JOIN w_b USING (k) GROUP BY c',
	'SELECT k, sum(p * (1 - d)), sum(f * n) FROM v_b JOIN w_b USING (k) GROUP BY k',
	'SELECT sum(p * (1 - d)), sum(1 - f), sum(coalesce(f, 0.5) * p), count(*) FROM v_b LEFT JOIN w_b USING (k)',
	'SELECT v.k, sum(p * f), sum(CASE WHEN f IS NULL THEN p ELSE f END) FROM v_b v LEFT JOIN w_b w USING (k) GROUP BY v.k',
	'SELECT sum(p * (1 - d)), sum(f * n), sum(CASE WHEN n > 5 THEN f ELSE 0 END) FILTER (WHERE f > 3) FROM v_b FULL JOIN w_b USING (k)',
	'SELECT sum(p * x), count(*) FROM v_b v WHERE EXISTS (SELECT 1 FROM w_b w WHERE w.k = v.k)',
	'SELECT n, sum(p * f - d) FROM v_b v JOIN w_h w USING (k) GROUP BY n',
	'SELECT sum(p * (1 - d)), sum(i4 + 1) FROM empty_b FULL JOIN v_b USING (k, p, i4)',
	'SELECT sum(p * 2), avg(p - 1), min(i4 * 2), count(p * p) FROM empty_b',
	'SELECT k, (SELECT sum(p * (1 - d) - w.f) FROM v_b v WHERE v.k = w.k) FROM w_b w WHERE n = 3',
	'SELECT n, s FROM (SELECT DISTINCT n FROM w_b) w, LATERAL (SELECT sum(p * (w.n - d)) s FROM v_b WHERE i2 > w.n) v']) q;
CREATE FUNCTION with_workers(q text) RETURNS text LANGUAGE plpgsql SET min_parallel_table_scan_size = 0 SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 AS $$
BEGIN
	FOR i IN 0..4 LOOP
		PERFORM set_config('max_parallel_workers_per_gather', i::text, true);
		IF answer(q) IS DISTINCT FROM answer(regexp_replace(q, '(\w)_b\M', '\1_h', 'g')) THEN RETURN format('WRONG with %s workers', i); END IF;
	END LOOP;
	RETURN 'same';
END
$$;
SELECT q, with_workers(q) FROM unnest(ARRAY[
	'SELECT sum(p * (1 - d) * (1 + x)), avg(any_n * d), min(big + p), sum(odd * d) FROM v_b',
	'SELECT c, sum(p * (1 - d)), avg(any_n), sum(CASE WHEN t LIKE ''%1'' THEN big ELSE p END) FROM v_b GROUP BY c',
	'SELECT k, sum(p * (1 - d)), max(any_n - d) FROM v_b GROUP BY k',
	'SELECT sum(p * f), sum(1 - d) FROM v_b JOIN w_b USING (k)']) q;
-- values of parameters
PREPARE scaled(numeric, text) AS SELECT sum(p * $1), sum(CASE WHEN c = $2 THEN d ELSE $1 END), count(*) FILTER (WHERE t = $2) FROM v_b;
EXECUTE scaled(1.5, 'A'); EXECUTE scaled(1.50, 'A'); EXECUTE scaled(NULL, 'A'); EXECUTE scaled('NaN', 'B'); EXECUTE scaled(1e30, 'A'); EXECUTE scaled(2, NULL);
EXECUTE scaled(1.5, 'A'); EXECUTE scaled(1.50, 'PROMO 1');
SET plan_cache_mode = force_generic_plan;
EXECUTE scaled(1.5, 'A'); EXECUTE scaled(1.50, 'A'); EXECUTE scaled(NULL, 'A'); EXECUTE scaled('NaN', 'B'); EXECUTE scaled(1e30, 'A'); EXECUTE scaled(2, NULL);
RESET plan_cache_mode;
DROP TABLE v_h, w_h, empty_h; DROP FOREIGN TABLE v_b, w_b, empty_b; DROP DOMAIN price;
DROP FUNCTION computed, outcome, with_workers;

-- Tables for test/real/run.  Same names in both schemas, so that a query is turned by search_path.
-- Different bucket counts, a common divisor each: 16 with 8, 12 with 4, 2 with 6, 16 with 12.
SET client_min_messages = warning;
CREATE EXTENSION bucketfdw;
CREATE SCHEMA heap;
CREATE SCHEMA bucketed;
SET search_path = heap;

CREATE TABLE f_tail (
  year int, month int, day int, dep_time int, sched_dep_time int, dep_delay float8, arr_time int, sched_arr_time int,
  arr_delay float8, carrier text, flight int, tailnum text, origin text, dest text, air_time float8, distance int,
  hour int, minute int, time_hour timestamptz);
CREATE VIEW f_dest AS SELECT * FROM f_tail;
CREATE VIEW f_carrier AS SELECT * FROM f_tail;
CREATE VIEW f_hour AS SELECT * FROM f_tail;
CREATE TABLE planes (
  tailnum text, year int, type text, manufacturer text, model text, engines int, seats int, speed int, engine text);
CREATE TABLE airports (faa text, name text, lat float8, lon float8, alt int, tz int, dst text, tzone text);
CREATE TABLE airlines (carrier text, name text);
CREATE TABLE weather (
  origin text, year int, month int, day int, hour int, temp float8, dewp float8, humid float8, wind_dir int,
  wind_speed float8, wind_gust float8, precip float8, pressure float8, visib float8, time_hour timestamptz);

SET search_path = bucketed;
DO $$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT * FROM (VALUES
      ('f_tail',    'f_tail',   'tailnum',                        16, 'tailnum, time_hour desc'),
      ('f_dest',    'f_tail',   'dest',                           12, NULL),
      ('f_carrier', 'f_tail',   'carrier',                        2,  'carrier, tailnum'),
      ('f_hour',    'f_tail',   'year, month, day, hour, origin', 16, NULL),
      ('planes',    'planes',   'tailnum',                        8,  NULL),
      ('airports',  'airports', 'faa',                            4,  NULL),
      ('airlines',  'airlines', 'carrier',                        6,  NULL),
      ('weather',   'weather',  'year, month, day, hour, origin', 12, NULL)) v (name, model, key, n, sort)
  LOOP
    EXECUTE (SELECT format('CREATE FOREIGN TABLE bucketed.%I (%s) SERVER bucketfdw OPTIONS (bucket_by %L, buckets %L%s)',
                           t.name, string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum),
                           t.key, t.n, CASE WHEN t.sort IS NULL THEN '' ELSE format(', sort_by %L', t.sort) END)
             FROM pg_attribute WHERE attrelid = format('heap.%I', t.model)::regclass AND attnum > 0);
  END LOOP;
END
$$;

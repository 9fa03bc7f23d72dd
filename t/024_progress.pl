# The writing part of loads, compaction and rebucketing shows in pg_stat_progress_copy: bytes of all bytes.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('progress');
$node->init;
$node->append_conf('postgresql.conf', q{
bucketfdw.min_free_space = 0
fsync = off
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bucketfdw;
	CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '200');
	-- looks until another session has written a part of a table, or says that it is done
	CREATE TABLE done ();
	CREATE FUNCTION seen(OUT relid regclass, OUT rows bigint) LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. 30000 LOOP
			PERFORM pg_stat_clear_snapshot();
			SELECT p.relid, p.tuples_processed INTO relid, rows FROM pg_stat_progress_copy p
			WHERE command = 'COPY FROM' AND type = 'CALLBACK' AND bytes_processed > 0 AND bytes_processed <= bytes_total;
			EXIT WHEN relid IS NOT NULL;
			PERFORM pg_sleep(0.002);
		END LOOP;
	END $$;
});

# What a session does until it is seen, or for a minute.
sub shows
{
	my ($what, $sql) = @_;
	my $busy = background($node, 'busy', "DO \$\$ BEGIN WHILE NOT EXISTS (SELECT FROM done) LOOP $sql; COMMIT; END LOOP; END \$\$");

	like($node->safe_psql('postgres', 'SELECT relid, rows > 0 FROM seen()'), qr/^t\|[tf]$/, "$what shows");
	$node->safe_psql('postgres', 'INSERT INTO done DEFAULT VALUES');
	$busy->finish;
	is(slurp_file($node->basedir . '/busy.sql.err'), '', "$what: no error");
	$node->safe_psql('postgres', 'TRUNCATE done');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_stat_progress_copy'), 0, "$what: nothing is left");
}

shows('INSERT', q{INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 200000) i});
shows('commit of many small statements',
	q{FOR i IN 1 .. 40 LOOP INSERT INTO t SELECT i * 2000 + j, md5(j::text) FROM generate_series(1, 2000) j; END LOOP});
shows('create_table_as', q{PERFORM bucketfdw.create_table_as('t', 'SELECT i AS k, md5(i::text) AS v FROM generate_series(1, 200000) i', mode => 'overwrite')});
shows('compaction', q{INSERT INTO t SELECT i, i::text FROM generate_series(1, 50000) i; COMMIT; CALL bucketfdw.compact('t', "full" => true)});
shows('rebucketing', q{CALL bucketfdw.rebucket('t', buckets => 150); CALL bucketfdw.rebucket('t', buckets => 200)});
$node->stop;
done_testing();

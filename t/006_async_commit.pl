# Files and rows stay together when a crash loses commits.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('async');
$node->init;
$node->append_conf('postgresql.conf', q{
bucketfdw.min_free_space = 0
synchronous_commit = off
wal_writer_delay = 10s
wal_writer_flush_after = 100MB
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bucketfdw;
	CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	CREATE FOREIGN TABLE d (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
});

for my $round (1 .. 3)
{
	$node->safe_psql('postgres', q{
		SET synchronous_commit = on;
		TRUNCATE t;
		INSERT INTO t SELECT i, 'old' FROM generate_series(1, 1000) i;
	});
	$node->safe_psql('postgres', 'TRUNCATE t');
	$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
	$node->stop('immediate');
	$node->start;
	my ($ret, $out, $err) = $node->psql('postgres', 'SELECT count(*) FROM t');
	is($ret, 0, "round $round: the table can be read after TRUNCATE and crash") or diag($err);
	like($out, qr/^(0|1000)$/, "round $round: the old rows or none");
}

# DROP
$node->safe_psql('postgres', q{SET synchronous_commit = on; INSERT INTO d SELECT i, 'old' FROM generate_series(1, 1000) i});
$node->safe_psql('postgres', 'DROP FOREIGN TABLE d');
$node->stop('immediate');
$node->start;
my ($ret, $out, $err) = $node->psql('postgres', 'SELECT count(*) FROM d');
ok($err =~ /does not exist/ || $out eq '1000', 'a dropped table is gone or whole') or diag($err);

# rows whose commit is lost are not there, and nothing else is missing
$node->safe_psql('postgres', q{SET synchronous_commit = on; TRUNCATE t; INSERT INTO t SELECT i, 'old' FROM generate_series(1, 1000) i});
$node->safe_psql('postgres', q{INSERT INTO t SELECT i, 'new' FROM generate_series(1, 1000) i});
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', q{SELECT count(*) FROM t WHERE v = 'old'}), '1000', 'old rows are there');
like($node->safe_psql('postgres', q{SELECT count(*) FROM t WHERE v = 'new'}), qr/^(0|1000)$/, 'new rows all or none');
$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
is($node->safe_psql('postgres', 'SELECT count(*) FROM bucketfdw.verify()'), '0', 'sound');
is(on_disk($node), files_named($node), 'no file is left over');
$node->stop;

done_testing();

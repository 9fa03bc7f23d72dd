# A database made from a template gives a clear error, never wrong answers, and
# does not touch the files of the original.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('template');
$node->init;
$node->append_conf('postgresql.conf', 'bucketfdw.min_free_space = 0');
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE original');
$node->safe_psql('original', q{
	CREATE EXTENSION bucketfdw;
	CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	CREATE FOREIGN TABLE u (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	CREATE FOREIGN TABLE empty (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	INSERT INTO t SELECT i, 'v' FROM generate_series(1, 100) i;
	INSERT INTO u SELECT i, 'v' FROM generate_series(1, 100) i;
	INSERT INTO u SELECT i, 'v' FROM generate_series(1, 100) i;
	TRUNCATE t;
	INSERT INTO t SELECT i, 'v' FROM generate_series(1, 100) i;
});
my $files = $node->safe_psql('original', 'SELECT path FROM bucketfdw.files ORDER BY 1');

for my $strategy ('wal_log', 'file_copy')
{
	my $db = "copy_$strategy";

	$node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE original STRATEGY $strategy");
	for my $sql ('SELECT count(*) FROM t', 'SELECT * FROM t WHERE k = 1',
		'SELECT count(*) FROM t JOIN u USING (k)', q{INSERT INTO t VALUES (1, 'x')}, q{COPY t FROM PROGRAM 'echo 1'},
		q{SELECT bucketfdw.create_table_as('t', 'SELECT 1 AS k', mode => 'append')})
	{
		my ($ret, $out, $err) = $node->psql($db, $sql);
		isnt($ret, 0, "$strategy: $sql fails");
		like($err, qr/has no files in this database.*copied with the database/s, "$strategy: the error says why");
	}
	is($node->safe_psql($db, q{SELECT string_agg(problem || ' ' || (detail ~ 'copied with the database')::text, ',') FROM bucketfdw.verify()}),
		'missing file true,missing file true', "$strategy: verify gives rows");
	is($node->safe_psql($db, 'SELECT count(*) FROM empty'), '0', "$strategy: an empty table is empty");
	$node->safe_psql($db, q{INSERT INTO empty SELECT i, 'e' FROM generate_series(1, 10) i});
	is($node->safe_psql($db, 'SELECT count(*) FROM empty'), '10', "$strategy: and takes rows");
	$node->safe_psql($db, q{TRUNCATE t; INSERT INTO t VALUES (7, 'seven')});
	is($node->safe_psql($db, 'SELECT * FROM t'), '7|seven', "$strategy: TRUNCATE makes a table usable");
	$node->safe_psql($db, 'DROP FOREIGN TABLE u');
	$node->safe_psql($db, 'SELECT bucketfdw.cleanup()');
	is($node->safe_psql($db, 'SELECT count(*) FROM bucketfdw.garbage'), '0', "$strategy: no garbage");
	is($node->safe_psql($db, 'SELECT count(*) FROM bucketfdw.verify()'), '0', "$strategy: sound");
}

is($node->safe_psql('original', 'SELECT path FROM bucketfdw.files ORDER BY 1'), $files, 'the original has its files');
is($node->safe_psql('original', 'SELECT count(*) FROM t JOIN u USING (k)'), '200', 'and its rows');
is($node->safe_psql('original', 'SELECT count(*) FROM empty'), '0', 'and no others');
$node->safe_psql('original', 'SELECT bucketfdw.cleanup()');
is($node->safe_psql('copy_wal_log', 'SELECT * FROM t'), '7|seven', 'cleanup() keeps to its database');
is($node->safe_psql('original', 'SELECT count(*) FROM bucketfdw.verify()'), '0', 'sound');
$node->stop;

done_testing();

# A database made from a template: with STRATEGY file_copy its tables are there, with wal_log a clear error says why they
# are not; neither touches the files of the other database.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('template');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', "bucketfdw.min_free_space = 0\nbucketfdw.inline_limit = 0");
$node->start;
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
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
	CREATE FOREIGN TABLE small (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	SET bucketfdw.inline_limit = '16kB';
	INSERT INTO small VALUES (1, 'one');
});
my @files = on_disk($node, 'original');
my $rows = digests($node, 'original');
is(@files, 3, 'files of the original');

$node->safe_psql('postgres', "CREATE DATABASE copy_$_ TEMPLATE original STRATEGY $_") for ('wal_log', 'file_copy');

for my $sql ('SELECT count(*) FROM t', 'SELECT * FROM t WHERE k = 1', 'SELECT count(*) FROM t JOIN u USING (k)',
	q{SET bucketfdw.enable_bucketjoin = off; SELECT count(*) FROM t JOIN u USING (k)})
{
	my ($ret, $out, $err) = $node->psql('copy_wal_log', $sql);
	isnt($ret, 0, "wal_log: $sql fails");
	like($err, qr/file "base[^"]*" of bucketed table "[tu]" is missing.*STRATEGY wal_log.*STRATEGY file_copy/s, 'wal_log: the error says why');
}
is($node->safe_psql('copy_wal_log', q{SELECT string_agg(problem || ' ' || (detail ~ 'wal_log')::text, ',') FROM bucketfdw.verify()}),
	'missing file true,missing file true,missing file true', 'wal_log: verify gives rows');
is($node->safe_psql('copy_wal_log', 'SELECT count(*) FROM empty'), '0', 'wal_log: an empty table is empty');
is($node->safe_psql('copy_wal_log', 'TABLE small'), '1|one', 'wal_log: rows in the catalog are there');
is($node->safe_psql('copy_wal_log', 'SET bucketfdw.ignore_damaged_files = on; SELECT count(*) FROM t JOIN u USING (k)'), '0',
	'wal_log: without the missing files no row is there');
is($node->safe_psql('copy_wal_log', q{SELECT sum(bucketfdw.forget_file(relid, path)) FROM bucketfdw.files WHERE relid = 'u'::regclass}),
	'200', 'wal_log: a table may forget them');

is(digests($node, 'copy_file_copy'), $rows, 'file_copy: the same rows');
is(defects($node, 'copy_file_copy'), '', 'file_copy: sound');
like($node->safe_psql('copy_file_copy', q{
	SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
	EXPLAIN (COSTS OFF) SELECT count(*) FROM t JOIN u USING (k)}), qr/BucketJoin/, 'file_copy: bucket join');
$node->wait_for_catchup($standby);
is(digests($standby, 'copy_file_copy'), $rows, 'file_copy: on the standby too');

for my $strategy ('wal_log', 'file_copy')
{
	my $db = "copy_$strategy";
	my $had = $strategy eq 'file_copy' ? '100' : '0';

	$node->safe_psql($db, 'TRUNCATE t') if $strategy eq 'wal_log';
	$node->safe_psql($db, q{INSERT INTO t SELECT i, 'x' FROM generate_series(1, 10) i});
	is($node->safe_psql($db, q{SELECT count(*) FILTER (WHERE v = 'v'), count(*) FILTER (WHERE v = 'x') FROM t}),
		"$had|10", "$strategy: rows are appended");
	$node->safe_psql($db, q{INSERT INTO empty SELECT i, 'e' FROM generate_series(1, 10) i});
	is($node->safe_psql($db, 'SELECT count(*) FROM empty'), '10', "$strategy: an empty table takes rows");
	$node->safe_psql($db, q{SELECT bucketfdw.create_table_as('t', 'SELECT 7 AS k, ''seven'' AS v', mode => 'overwrite')});
	is($node->safe_psql($db, 'SELECT * FROM t'), '7|seven', "$strategy: overwritten");
	$node->safe_psql($db, 'DROP FOREIGN TABLE u');
	$node->safe_psql($db, 'SELECT bucketfdw.cleanup()');
	is($node->safe_psql($db, 'SELECT count(*) FROM bucketfdw.garbage'), '0', "$strategy: no garbage");
	is(defects($node, $db), '', "$strategy: sound");
	is(join(',', nobodys($node, $db)), '', "$strategy: no file is left over");
	is(on_disk($node, $db), 2, "$strategy: the files of two tables");
	$node->wait_for_catchup($standby);
	is($standby->safe_psql($db, 'SELECT count(*) FROM empty NATURAL FULL JOIN t'), '11', "$strategy: on the standby too");
}

is(join(',', on_disk($node, 'original')), join(',', @files), 'the original has its files');
is(digests($node, 'original'), $rows, 'and its rows');
$node->safe_psql('original', 'SELECT bucketfdw.cleanup()');
is($node->safe_psql('copy_wal_log', 'SELECT * FROM t'), '7|seven', 'cleanup() keeps to its database');
is(defects($node, 'original'), '', 'sound');

# the other way round
my $copy = digests($node, 'copy_file_copy');
$node->safe_psql('original', q{
	INSERT INTO t VALUES (101, 'x');
	SELECT bucketfdw.create_table_as('u', 'SELECT 8 AS k, ''eight'' AS v', mode => 'overwrite');
	DROP FOREIGN TABLE t;
	TRUNCATE empty;
	SELECT bucketfdw.cleanup();
});
is($node->safe_psql('original', 'SELECT * FROM u'), '8|eight', 'the original is overwritten');
is(on_disk($node, 'original'), 1, 'and has one file');
is(digests($node, 'copy_file_copy'), $copy, 'the copy is as it was');
is(defects($node, 'copy_file_copy'), '', 'and sound');
$node->stop;
$standby->stop;

done_testing();

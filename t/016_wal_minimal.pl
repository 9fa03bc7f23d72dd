# With wal_level minimal nothing is logged by us: core logs small files at commit and syncs large ones.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('minimal');
$node->init(extra => ['--data-checksums']);
$node->append_conf('postgresql.conf', q{
bucketfdw.min_free_space = 0
wal_level = minimal
max_wal_senders = 0
max_prepared_transactions = 10
checkpoint_timeout = 1h
max_wal_size = 4GB
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bucketfdw');
$node->safe_psql('postgres', $journal);
$node->safe_psql('postgres',
	join ';', map { "CREATE FOREIGN TABLE t$_ (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8')" } 1 .. 6);

# Run SQL, crash, look; returns bytes of WAL and of new files.  With "redo" the new files are emptied before the start.
sub crashed
{
	my ($what, $sql, $redo) = @_;

	$node->safe_psql('postgres', 'CHECKPOINT');
	my %old = map { $_ => 1 } on_disk($node);
	my $before = $node->lsn('insert');
	$node->safe_psql('postgres', $sql);
	my $wal = $node->safe_psql('postgres', "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$before')");
	my @new = grep { !$old{$_} } on_disk($node);
	my $bytes = 0;
	$bytes += -s $node->data_dir . "/$_" for @new;
	note('figures: ', $what, ': ', scalar(@new), " files of $bytes bytes, WAL $wal");
	$node->stop('immediate');
	if ($redo)
	{
		truncate($node->data_dir . "/$_", 0) or die $! for @new;
	}
	$node->start;
	is($node->safe_psql('postgres', 'SELECT differs()'), '', "$what: the rows that were committed");
	is(defects($node), '', "$what: sound");
	return ($wal, $bytes);
}

my ($wal, $bytes) = crashed('below 2 MB', q{SELECT load('t1', 1, 20000)}, 1);
cmp_ok($bytes, '<', 2000000, 'below 2 MB: it is');
cmp_ok($wal, '>', $bytes, 'below 2 MB: logged');
($wal, $bytes) = crashed('above 2 MB', q{SELECT load('t2', 1, 150000)}, 0);
cmp_ok($bytes, '>', 4000000, 'above 2 MB: it is');
cmp_ok($wal, '<', 500000, 'above 2 MB: not logged');
crashed('savepoints', q{
	BEGIN;
	SELECT load('t1', 30000, 40000);
	SAVEPOINT a;
	SELECT load('t1', 40000, 50000), load('t2', 500000, 700000);
	SELECT count(*) FROM t1, (SELECT count(*) FROM t2) x;
	ROLLBACK TO a;
	SELECT load('t2', 700000, 900000);
	SAVEPOINT b;
	SELECT load('t3', 1, 10);
	RELEASE b;
	TRUNCATE t4;
	COMMIT;
}, 0);
crashed('overwrite and drop', q{
	SELECT load('t5', 1, 100);
	BEGIN;
	DELETE FROM journal WHERE tab IN ('t3', 't5', 't6');
	SELECT bucketfdw.create_table_as('t3', 'SELECT i AS k, md5(i::text) AS v FROM generate_series(1, 2000) i', mode => 'overwrite');
	INSERT INTO journal VALUES ('t3', 1, 2000);
	SELECT load('t6', 1, 10000);
	DELETE FROM journal WHERE tab = 't6';
	DROP FOREIGN TABLE t5, t6;
	COMMIT;
}, 1);
$node->safe_psql('postgres', q{
	BEGIN; SELECT load('t1', 50000, 60000); SELECT load('t2', 1000000, 1200000); PREPARE TRANSACTION 'kept';
	BEGIN; SELECT load('t1', 60000, 70000); TRUNCATE t3; PREPARE TRANSACTION 'undone';
});
$node->stop('immediate');
$node->start;
crashed('prepared and committed', q{COMMIT PREPARED 'kept'; ROLLBACK PREPARED 'undone'}, 0);

# in the middle
my $load = background($node, 'load', "CALL load_on('t4', 50000)");
until_true(sub { $node->safe_psql('postgres', q{SELECT count(*) FROM journal WHERE tab = 't4'}) > 2 }, 'loads');
$node->stop('immediate');
$load->finish;
$node->start;
is($node->safe_psql('postgres', 'SELECT differs()'), '', 'in the middle: the rows that were committed');
$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
is(join(',', nobodys($node)), '', 'no file is left over');
is(defects($node), '', 'sound');

# other WAL levels go on with these files
$node->stop;
command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'pg_checksums finds nothing');
$node->append_conf('postgresql.conf', "wal_level = replica\nmax_wal_senders = 5");
$node->start;
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$node->safe_psql('postgres', q{SELECT load('t1', 1, 1000)});
same_as($node, $standby, 'a standby made later');
$standby->stop;
$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP/, 'nothing in the log');

done_testing();

# Backups as for a heap table: point in time, verified, incremental.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1, has_archiving => 1, extra => ['--data-checksums']);
$node->append_conf('postgresql.conf', "bucketfdw.min_free_space = 0");
my $incremental = $node->pg_version >= 17;
$node->append_conf('postgresql.conf', 'summarize_wal = on') if $incremental;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bucketfdw');
$node->safe_psql('postgres', $journal);
$node->safe_psql('postgres', join ';',
	map { "CREATE FOREIGN TABLE t$_ (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8'); SELECT load('t$_', 1, 20000)" } 1 .. 4);

# A restored server has what it should have.  Its rows are those of the journal, which is restored with them.
sub restored
{
	my ($copy, $digests, $what) = @_;

	is(digests($copy), $digests, "$what: the rows of that moment") if defined $digests;
	is($copy->safe_psql('postgres', 'SELECT differs()'), '', "$what: rows and heap agree");
	is(defects($copy), '', "$what: sound");
	$copy->safe_psql('postgres', 'CHECKPOINT');
	$copy->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
	is(join(',', nobodys($copy)), '', "$what: no file is left over");
	$copy->safe_psql('postgres', q{SELECT load('t1', 1, 100)});
	is($copy->safe_psql('postgres', 'SELECT differs()'), '', "$what: takes rows");
	$copy->stop;
	command_ok([ 'pg_checksums', '--check', '-D', $copy->data_dir ], "$what: pg_checksums finds nothing");
	return;
}

# the backup is taken while a load runs
my $load = background($node, 'load', q{CALL load_on('t2', 5000)});
until_true(sub { $node->safe_psql('postgres', q{SELECT count(*) FROM journal WHERE tab = 't2'}) > 3 }, 'loads');
$node->backup('full');
my $full = $node->backup_dir . '/full';
command_ok([ 'pg_verifybackup', $full ], 'pg_verifybackup');
until_true(sub { $node->safe_psql('postgres', q{SELECT count(*) FROM journal WHERE tab = 't2'}) > 9 }, 'loads');
$node->safe_psql('postgres', 'INSERT INTO enough DEFAULT VALUES');
$load->finish;

# between two loads, and before a drop, a truncation and a replacement
$node->safe_psql('postgres', q{SELECT load('t1', 100000, 120000)});
my $between = digests($node);
$node->safe_psql('postgres', q{SELECT pg_create_restore_point('between')});
$node->safe_psql('postgres', q{
	SELECT load('t1', 200000, 220000);
	BEGIN; DROP FOREIGN TABLE t3; DELETE FROM journal WHERE tab = 't3'; COMMIT;
	BEGIN; TRUNCATE t4; DELETE FROM journal WHERE tab = 't4'; COMMIT;
	SELECT bucketfdw.cleanup();
});
my $end = digests($node);
isnt($end, $between, 'there is a difference');
$node->safe_psql('postgres', 'CREATE TABLE last (); SELECT pg_switch_wal()');
$node->poll_query_until('postgres', q{SELECT last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 1) FROM pg_stat_archiver})
  or die 'the archive does not follow';

sub restore
{
	my ($name, $target) = @_;
	my $copy = PostgreSQL::Test::Cluster->new($name);

	$copy->init_from_backup($node, 'full', has_restoring => 1, standby => 0);
	$copy->append_conf('postgresql.conf', "archive_mode = off\n$target");
	$copy->start;
	$copy->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die "$name does not come up";
	return $copy;
}
restored(restore('point', "recovery_target_name = 'between'\nrecovery_target_action = promote"), $between, 'between two loads');
restored(restore('all', ''), $end, 'all of the archive');
restored(restore('at_once', "recovery_target = immediate\nrecovery_target_action = promote"), undef, 'the end of the backup');

SKIP:
{
	skip 'no incremental backups before 17', 1 if !$incremental;

	my $part = $node->backup_dir . '/part';
	my $whole = $node->backup_dir . '/whole';
	my %before = map { $_ => 1 } on_disk($node);
	$node->safe_psql('postgres', q{SELECT load('t2', 900000, 920000)});
	$node->command_ok([ 'pg_basebackup', '-D', $part, '-c', 'fast', '--incremental', "$full/backup_manifest", '-d', $node->connstr('postgres') ],
		'incremental backup');
	command_ok([ 'pg_verifybackup', '-e', $part ], 'pg_verifybackup of it');
	my $oid = $node->safe_psql('postgres', q{SELECT oid FROM pg_database WHERE datname = 'postgres'});
	my @stubs = grep { (-s) < 1000 } glob("$part/base/$oid/INCREMENTAL.*");
	cmp_ok(scalar(grep { my ($f) = m{INCREMENTAL\.(\d+)$}; $f && $before{"base/$oid/$f"} } @stubs), '>', 0, 'files that are there already are not sent again');
	command_ok([ 'pg_combinebackup', $full, $part, '-o', $whole ], 'pg_combinebackup');
	command_ok([ 'pg_verifybackup', '-e', $whole ], 'pg_verifybackup of the whole');
	my $rows = digests($node);
	my $copy = PostgreSQL::Test::Cluster->new('combined');
	$copy->init_from_backup($node, 'whole', has_restoring => 1, standby => 0);
	$copy->append_conf('postgresql.conf', 'archive_mode = off');
	$copy->start;
	$copy->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'it does not come up';
	restored($copy, $rows, 'combined');
}
$node->stop;
command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'pg_checksums of the primary finds nothing');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP/, 'nothing in the log');

done_testing();

# A chain of standbys, a primary that went on after its standby was promoted, and pg_rewind.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1, extra => ['--data-checksums']);
$node->append_conf('postgresql.conf', "bucketfdw.min_free_space = 0\nwal_keep_size = 512MB\nrestart_after_crash = on");
$node->start;
$node->backup('base');
my $middle = PostgreSQL::Test::Cluster->new('middle');
$middle->init_from_backup($node, 'base', has_streaming => 1);
$middle->start;
$middle->backup('base');
my $last = PostgreSQL::Test::Cluster->new('last');
$last->init_from_backup($middle, 'base', has_streaming => 1);
$last->start;

# a cascade
$node->safe_psql('postgres', 'CREATE EXTENSION bucketfdw');
$node->safe_psql('postgres', $journal);
$node->safe_psql('postgres', join ';',
	map { "CREATE FOREIGN TABLE t$_ (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8'); SELECT load('t$_', 1, 20000)" } 1 .. 4);
$node->safe_psql('postgres', q{
	BEGIN; TRUNCATE t1; DELETE FROM journal WHERE tab = 't1'; SELECT load('t1', 1, 500); COMMIT;
	BEGIN; DROP FOREIGN TABLE t4; DELETE FROM journal WHERE tab = 't4'; COMMIT;
	SELECT bucketfdw.cleanup();
});
sub caught_up
{
	my ($from) = @_;
	my $lsn = $from->lsn('flush');
	$node->wait_for_catchup('middle', 'replay', $lsn) if $from == $node;
	$middle->wait_for_catchup('last', 'replay', $lsn);
	return;
}
caught_up($node);
for my $standby ($middle, $last)
{
	is(digests($standby), digests($node), $standby->name . ': the same rows');
	is(defects($standby), '', $standby->name . ': sound');
	is(join(',', on_disk($standby)), join(',', on_disk($node)), $standby->name . ': the same files');
}

# the middle one is promoted; the old primary goes on for a while
$middle->promote;
$node->safe_psql('postgres', q{
	SELECT load('t1', 1000, 30000);
	BEGIN; TRUNCATE t2; DELETE FROM journal WHERE tab = 't2'; COMMIT;
	BEGIN; DROP FOREIGN TABLE t3; DELETE FROM journal WHERE tab = 't3'; COMMIT;
	CREATE FOREIGN TABLE diverged (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
	SELECT load('diverged', 1, 30000);
	SELECT bucketfdw.cleanup();
	BEGIN;
	SELECT load('diverged', 1, 30000);
	ROLLBACK;
});
$middle->safe_psql('postgres', q{
	SELECT load('t1', 500000, 530000);
	SELECT load('t3', 500000, 530000);
	CREATE FOREIGN TABLE t5 (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
	SELECT load('t5', 1, 20000);
	SELECT bucketfdw.cleanup();
	CHECKPOINT;
});
caught_up($middle);
is(digests($last), digests($middle), 'the cascade goes on after the promotion');
is(defects($last), '', 'and is sound');

$node->stop;
my $conf = slurp_file($node->data_dir . '/postgresql.conf');
my $diverged = join(',', on_disk_of($node));
command_ok([ 'pg_rewind', '--target-pgdata', $node->data_dir, '--source-server', $middle->connstr('postgres') ], 'pg_rewind');
unlink $node->data_dir . '/postgresql.conf';
append_to_file($node->data_dir . '/postgresql.conf', $conf);
$node->enable_streaming($middle);
$node->set_standby_mode;
$node->start;
isnt(join(',', on_disk_of($node)), $diverged, 'files were exchanged');
$middle->safe_psql('postgres', q{SELECT load('t2', 700000, 710000)});
$middle->wait_for_catchup($node);
same_as($middle, $node, 'rewound');
is($node->safe_psql('postgres', 'SELECT differs()'), '', 'rewound: rows and heap agree');
$_->stop for ($node, $last, $middle);
command_ok([ 'pg_checksums', '--check', '-D', $_->data_dir ], $_->name . ': pg_checksums finds nothing') for ($node, $middle, $last);
unlike(slurp_file($_->logfile), qr/PANIC|TRAP|is missing/, $_->name . ': nothing in the log') for ($node, $middle, $last);

# Names of all main forks with content, also of a server that does not run.
sub on_disk_of
{
	my ($server) = @_;
	my @files = sort grep { m{/\d+$} && -s } glob($server->data_dir . '/base/*/*');
	return map { substr($_, length($server->data_dir)) } @files;
}

done_testing();

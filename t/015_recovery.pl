# After a crash the WAL brings back what was committed, whatever of it was on disk, and what was not is swept.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('recovery');
$node->init(allows_streaming => 1, extra => ['--data-checksums']);
$node->append_conf('postgresql.conf', q{
bucketfdw.min_free_space = 0
bucketfdw.inline_limit = 0
max_prepared_transactions = 10
checkpoint_timeout = 1h
max_wal_size = 4GB
autovacuum = off
restart_after_crash = on
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bucketfdw');
$node->safe_psql('postgres', $journal);
$node->safe_psql('postgres',
	join ';', map { "CREATE FOREIGN TABLE t$_ (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8')" } 1 .. 6);

sub whole
{
	my ($what) = @_;
	is($node->safe_psql('postgres', 'SELECT differs()'), '', "$what: the rows that were committed");
	is(defects($node), '', "$what: sound");
	return;
}

# no checkpoint since the loads: redo writes the files again, of one page and of many batches
my %damage = (
	'cut to nothing' => sub { truncate($_[0], 0) or die $! },
	'cut to one block' => sub { truncate($_[0], 8192) or die $! if -s $_[0] > 8192 },
	'cut after a batch' => sub { truncate($_[0], 32 * 8192) or die $! if -s $_[0] > 32 * 8192 },
	'cut within a block' => sub { truncate($_[0], (-s $_[0]) - 4096) or die $! },
	'zeroed' => sub { my $n = -s $_[0]; truncate($_[0], 0) and truncate($_[0], $n) or die $! },
	'removed' => sub { unlink $_[0] or die $! });
my $lo = 1;
for my $what (sort keys %damage)
{
	$node->safe_psql('postgres', 'CHECKPOINT');
	my %old = map { $_ => 1 } on_disk($node);
	$node->safe_psql('postgres', "SELECT load('t1', $lo, $lo + 60000); SELECT load('t2', $lo, $lo)");
	my @new = grep { !$old{$_} } on_disk($node);
	cmp_ok(scalar(@new), '>=', 2, "$what: files");
	cmp_ok((sort { $b <=> $a } map { -s $node->data_dir . "/$_" } @new)[0], '>', 64 * 8192, "$what: one of them large");
	$node->stop('immediate');
	$damage{$what}->($node->data_dir . "/$_") for @new;
	$node->start;
	whole($what);
	$lo += 100000;
}

# prepared creation and drop; meanwhile nothing of theirs is swept
$node->safe_psql('postgres', q{
	SELECT load('t3', 1, 30000); SELECT load('t4', 1, 30000); SELECT load('t5', 1, 30000); SELECT load('t6', 1, 30000);
	BEGIN; SELECT load('t1', 1, 20000); DROP FOREIGN TABLE t3; PREPARE TRANSACTION 'kept';
	BEGIN; SELECT load('t2', 1, 20000); DROP FOREIGN TABLE t4; PREPARE TRANSACTION 'undone';
	BEGIN; TRUNCATE t5; SELECT load('t5', 40000, 50000); DELETE FROM journal WHERE tab = 't5' AND lo = 1; PREPARE TRANSACTION 'truncated';
	BEGIN; TRUNCATE t6; SELECT load('t6', 40000, 50000); PREPARE TRANSACTION 'not truncated';
});
my @prepared = on_disk($node);
for my $when ('at once', 'after a crash', 'after a checkpoint and a crash')
{
	if ($when ne 'at once')
	{
		$node->safe_psql('postgres', 'CHECKPOINT') if $when =~ /checkpoint/;
		$node->stop('immediate');
		$node->start;
	}
	is($node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()'), '0', "prepared, $when: nothing is swept");
	is(join(',', on_disk($node)), join(',', @prepared), "prepared, $when: all files are there");
}
$node->safe_psql('postgres', q{COMMIT PREPARED 'kept'; ROLLBACK PREPARED 'undone'});
$node->stop('immediate');
$node->start;
$node->safe_psql('postgres', q{COMMIT PREPARED 'truncated'; ROLLBACK PREPARED 'not truncated'; DELETE FROM journal WHERE tab = 't3'});
whole('prepared');
is($node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()'), '1', 'prepared: what one of them replaced is removed');
is(join(',', nobodys($node)), '', 'prepared: no file is left over');
is(on_disk($node), files_named($node), 'prepared: and all are in use');
whole('prepared, at the end');

# prepared changes of rows: others see nothing of them and go on waiting, whatever happens to the server
$node->safe_psql('postgres', q{
	CREATE SCHEMA changes;
	CREATE FOREIGN TABLE changes.kept (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
	CREATE FOREIGN TABLE changes.undone (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
	INSERT INTO changes.kept SELECT i, 'old' FROM generate_series(1, 1000) i;
	INSERT INTO changes.undone SELECT i, 'old' FROM generate_series(1, 1000) i;
	BEGIN; DELETE FROM changes.kept WHERE k <= 10; UPDATE changes.kept SET v = 'new' WHERE k BETWEEN 11 AND 30; PREPARE TRANSACTION 'kept changes';
	BEGIN; DELETE FROM changes.undone; INSERT INTO changes.undone VALUES (0, 'new'); PREPARE TRANSACTION 'undone changes';
});
my $rows = q{SELECT count(*), sum(k), count(*) FILTER (WHERE v = 'new') FROM changes.};
for my $when ('at once', 'after a crash', 'after a checkpoint and a crash')
{
	if ($when ne 'at once')
	{
		$node->safe_psql('postgres', 'CHECKPOINT') if $when =~ /checkpoint/;
		$node->stop('immediate');
		$node->start;
	}
	for my $table ('kept', 'undone')
	{
		my $err;

		is($node->safe_psql('postgres', $rows . $table), '1000|500500|0', "prepared changes of $table, $when: not seen");
		$node->psql('postgres', "SET lock_timeout = 10; UPDATE changes.$table SET v = 'lost' WHERE k = 500", stderr => \$err);
		like($err, qr/lock timeout/, "prepared changes of $table, $when: others wait");
		$node->psql('postgres', "SELECT * FROM changes.$table WHERE k = 500 FOR UPDATE NOWAIT", stderr => \$err);
		like($err, qr/could not obtain lock on row in relation "$table"/, "prepared changes of $table, $when: or fail");
		$node->safe_psql('postgres', "SET lock_timeout = 10; BEGIN; INSERT INTO changes.$table VALUES (1, 'more'); ROLLBACK");
	}
}
$node->safe_psql('postgres', q{COMMIT PREPARED 'kept changes'; ROLLBACK PREPARED 'undone changes'});
for my $when ('at once', 'after a crash')
{
	if ($when ne 'at once')
	{
		$node->stop('immediate');
		$node->start;
	}
	is($node->safe_psql('postgres', $rows . 'kept'), '990|500445|20', "prepared changes, committed, $when");
	is($node->safe_psql('postgres', $rows . 'undone'), '1000|500500|0', "prepared changes, rolled back, $when");
	$node->safe_psql('postgres', q{SET lock_timeout = 10; UPDATE changes.kept SET v = 'later' WHERE k = 500; UPDATE changes.undone SET v = 'later' WHERE k = 500});
	is(defects($node), '', "prepared changes, ended, $when: sound");
}
$node->safe_psql('postgres', 'DROP SCHEMA changes CASCADE');

# checkpoints and sweeps in a loop during loads, then a crash; several times, as it ends at any moment
for my $round (1 .. 2)
{
	my @loads = map { background($node, "load$_", "CALL load_on('t$_', 20000)") } (1, 2, 4);
	my $checkpoints = background($node, 'checkpoints', "CHECKPOINT;\n" x 1000);
	my $sweeps = background($node, 'sweeps', "SELECT 'swept', bucketfdw.cleanup();\n" x 1000);
	my $had = $node->safe_psql('postgres', 'SELECT count(*) FROM journal');
	until_true(sub { $node->safe_psql('postgres', 'SELECT count(*) FROM journal') > $had + 20 }, 'loads');
	$node->stop('immediate');
	$_->finish for (@loads, $checkpoints, $sweeps);
	my @swept = slurp_file($node->basedir . '/sweeps.sql.out') =~ /swept\|(\d+)/g;
	cmp_ok(scalar(@swept), '>', 0, "round $round: sweeps during loads");
	is(join(',', grep { $_ ne '0' } @swept), '', "round $round: found nothing to remove");
	unlike(slurp_file($node->basedir . "/$_.sql.err"), qr/ERROR/, "round $round: no errors of $_") for ('load1', 'load2', 'load4', 'checkpoints', 'sweeps');
	$node->start;
	whole("round $round");
	my @orphans = nobodys($node);
	cmp_ok(scalar(@orphans), '>', 0, "round $round: files of open transactions are left");
	$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
	is(join(',', nobodys($node)), '', "round $round: no file is left over");
	whole("round $round, swept");
}

# a load that writes for a while: no row names its files yet
my $sweeps = background($node, 'sweeps', "SELECT 'swept', bucketfdw.cleanup();\n" x 3000);
$node->safe_psql('postgres', q{SELECT load('t4', 10000001, 10400000)});
$sweeps->kill_kill;
is(join(',', grep { $_ ne '0' } slurp_file($node->basedir . '/sweeps.sql.out') =~ /swept\|(\d+)/g), '', 'a long load: nothing is swept');
whole('a long load');

# a backend that is killed in the middle of a load
my $had = $node->safe_psql('postgres', 'SELECT count(*) FROM journal');
my $load = background($node, 'load1', "CALL load_on('t1', 20000)");
until_true(sub { $node->safe_psql('postgres', 'SELECT count(*) FROM journal') > $had + 4 }, 'loads');
kill 9, $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE query LIKE 'CALL load_on%'});
$load->finish;
comes_back($node);
whole('killed');
cmp_ok(scalar(my @orphans = nobodys($node)), '>', 0, 'killed: its files are left');
$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
is(join(',', nobodys($node)), '', 'killed: no file is left over');

$node->stop;
command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'pg_checksums finds nothing');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP/, 'nor does the log');

done_testing();

# Streaming standbys that know of no library have the same tables: one that is there from the beginning, one made by
# pg_basebackup while tables are loaded, and one that is promoted meanwhile.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1, has_archiving => 1, extra => ['--data-checksums']);
$node->append_conf('postgresql.conf', q{
bucketfdw.min_free_space = 0
max_prepared_transactions = 10
max_wal_senders = 10
max_standby_streaming_delay = -1
max_standby_archive_delay = -1
});
$node->start;
is($node->safe_psql('postgres', 'SHOW archive_mode'), 'on', 'the primary has an archive');

sub make_standby
{
	my ($name, $shared_buffers) = @_;
	my $standby = PostgreSQL::Test::Cluster->new($name);

	$node->backup($name);
	$standby->init_from_backup($node, $name, has_streaming => 1);
	$standby->append_conf('postgresql.conf', "shared_buffers = $shared_buffers");
	$standby->start;
	return $standby;
}

sub streaming
{
	my ($name) = @_;
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_replication WHERE application_name = '$name' AND state = 'streaming'")
	  or die "standby $name does not connect";
	return;
}

# A query that joins by buckets.
sub join_sql
{
	return 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off; '
	  . ($_[0] // '') . ' SELECT count(*), sum(a.k), min(b.v) FROM t1 a JOIN t2 b USING (k)';
}

# everything on the standby as on the primary
sub same
{
	my ($standby, $what) = @_;

	same_as($node, $standby, $what);
	like($standby->safe_psql('postgres', join_sql('EXPLAIN')), qr/BucketJoin/, "$what: bucket joins");
	is($standby->safe_psql('postgres', join_sql()), $node->safe_psql('postgres', join_sql()), "$what: and what they give");
	return;
}

# the first table of a server that has a standby
my $first = make_standby('first', '64MB');
streaming('first');
$node->safe_psql('postgres', 'CREATE EXTENSION bucketfdw');
$node->safe_psql('postgres', $journal);
$node->safe_psql('postgres',
	join ';', map { "CREATE FOREIGN TABLE t$_ (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8')" } 1 .. 6);
$node->safe_psql('postgres', q{SELECT load('t1', 1, 1000); SELECT load('t2', 1, 1000)});
same($first, 'from the beginning');
my ($ret, $out, $err) = $first->psql('postgres', q{INSERT INTO t1 VALUES (102, 'x')});
like($err, qr/read-only|recovery/, 'no writes on a standby');
($ret, $out, $err) = $first->psql('postgres', 'SELECT bucketfdw.cleanup()');
like($err, qr/during recovery|read-only/, 'no cleanup on a standby');
($ret, $out, $err) = $first->psql('postgres', q{CALL bucketfdw.compact('t1')});
like($err, qr/cannot execute bucketfdw.compact\(\) during recovery/, 'no compaction on a standby');

# columns that change while the table has rows
my $altered = 'SELECT c, count(*), max(k), min(v) FROM altered GROUP BY c ORDER BY c';
$node->safe_psql('postgres', q{
	CREATE FOREIGN TABLE altered (k int, v varchar(5)) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	INSERT INTO altered SELECT i, 'v' FROM generate_series(1, 5000) i;
	INSERT INTO altered VALUES (1, 'line');
});
$node->wait_for_catchup($first);
is($first->safe_psql('postgres', 'SELECT count(*), max(k) FROM altered'), '5001|5000', 'before columns change');
$node->safe_psql('postgres', $_) for q{ALTER FOREIGN TABLE altered ADD c text DEFAULT 'older'}, 'ALTER FOREIGN TABLE altered ALTER k TYPE bigint, ALTER v TYPE text',
	q{INSERT INTO altered VALUES (5000000000, 'longer', 'newer')};
$node->wait_for_catchup($first);
is($first->safe_psql('postgres', $altered), "newer|1|5000000000|longer\nolder|5001|5000|line", 'after columns have changed');
$node->safe_psql('postgres', 'DROP FOREIGN TABLE altered');

# another one while four loads run
$node->safe_psql('postgres', 'TRUNCATE t1, t2, journal');
my @loads = map { background($node, "load$_", "CALL load_on('t$_', 2000)") } 1 .. 4;
my $loaded = sub { return $node->safe_psql('postgres', q{SELECT count(*) FROM (SELECT FROM journal GROUP BY tab HAVING count(*) >= } . shift . ') j') };
until_true(sub { $loaded->(2) eq '4' }, 'loads begin');
my $begun = $node->safe_psql('postgres', 'SELECT count(*) FROM journal');
my $second = make_standby('second', '1MB');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM journal'), '>', $begun, 'loads were committed during the backup');

# whose tables are read while it replays the loads, with hardly any shared buffers
my $reads = background($second, 'reads', join "\n", (q{SELECT differs(); SELECT 'read', count(*) FROM journal;} . join_sql() . ';') x 1000);
streaming('second');
until_true(sub { slurp_file($second->basedir . '/reads.sql.out') =~ /(read\|.*){3}/s }, 'reads begin');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CALL load_on%' AND state = 'active'}), '4', 'all four run on');
$node->safe_psql('postgres', 'INSERT INTO enough DEFAULT VALUES');
$_->finish for @loads;
is(join('', map { slurp_file($node->basedir . "/load$_.sql.err") } 1 .. 4), '', 'the loads have no errors');

# what else there is
$node->safe_psql('postgres', join ';', map { 'SELECT load(\'t' . (1 + $_ % 4) . "', $_ * 1000000, $_ * 1000000 + 400)" } 1 .. 50);
$node->safe_psql('postgres', q{
	BEGIN; TRUNCATE t2; DELETE FROM journal WHERE tab = 't2'; SELECT load('t2', 1, 3000); COMMIT;
	BEGIN; TRUNCATE t1; ROLLBACK;
	BEGIN;
	DELETE FROM journal WHERE tab = 't3';
	INSERT INTO journal VALUES ('t3', 1, 2000);
	SELECT bucketfdw.create_table_as('t3', 'SELECT i AS k, md5(i::text) AS v FROM generate_series(1, 2000) i', mode => 'overwrite');
	COMMIT;
	BEGIN; DROP FOREIGN TABLE t4; DELETE FROM journal WHERE tab = 't4'; COMMIT;
});
$node->wait_for_catchup($second);

# a few reads more, and all of them were right
my $done = () = slurp_file($second->basedir . '/reads.sql.out') =~ /read/g;
until_true(sub { (() = slurp_file($second->basedir . '/reads.sql.out') =~ /read/g) > $done + 1 }, 'reads go on');
is(slurp_file($second->basedir . '/reads.sql.err'), '', 'reads under replay have no errors');
is(join(',', grep { !/^(read\||\d+\|)/ } split /\n/, slurp_file($second->basedir . '/reads.sql.out')), '', 'and miss nothing');
note('figures: ', $done, ' reads under replay, ', $node->safe_psql('postgres', 'SELECT count(*), sum(hi - lo + 1) FROM journal'));
$reads->kill_kill;
until_true(sub { $second->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()}) eq '0' }, 'reads end');

# those that lock two tables against readers come after the reads, which lock all: as with heap tables, they deadlock
$node->safe_psql('postgres', q{
	BEGIN;
	SELECT load('t1', 100, 200);
	SAVEPOINT a;
	SELECT load('t1', 300, 400);
	SELECT count(*) FROM t1;
	SAVEPOINT b;
	DROP FOREIGN TABLE t2;
	TRUNCATE t3;
	CREATE FOREIGN TABLE gone (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
	SELECT load('gone', 1, 10);
	SELECT count(*) FROM gone;
	ROLLBACK TO b;
	SELECT load('t2', 5000, 6000);
	SELECT count(*) FROM t2;
	ROLLBACK TO a;
	SELECT load('t3', 5000, 6000);
	COMMIT;
	BEGIN; SELECT load('t5', 1, 500); DROP FOREIGN TABLE t6; PREPARE TRANSACTION 'kept';
	BEGIN; SELECT load('t1', 1, 500); TRUNCATE t2; PREPARE TRANSACTION 'undone';
});
$node->wait_for_catchup($second);
is($second->safe_psql('postgres', 'SELECT count(*) FROM t5'), '0', 'what is prepared is not there');
$node->safe_psql('postgres', q{COMMIT PREPARED 'kept'; ROLLBACK PREPARED 'undone'; SELECT bucketfdw.cleanup()});
$node->wait_for_catchup($second);

is($node->safe_psql('postgres', 'SELECT differs()'), '', 'the primary has what was loaded');
same($first, 'after it all');
same($second, 'made during loads');

# promoted while loads run
$node->safe_psql('postgres', 'TRUNCATE enough; CREATE TABLE log (); SELECT bucketfdw.cleanup()');
@loads = map { background($node, "load$_", "CALL load_on('t$_', 2000)") } (1, 2, 3, 5);
until_true(sub { $node->safe_psql('postgres', q{SELECT count(DISTINCT tab) FROM journal WHERE lo BETWEEN 2001 AND 900000 AND lo % 2000 = 1}) eq '4' }, 'loads begin');
$first->promote;
is($first->safe_psql('postgres', 'SELECT pg_is_in_recovery()'), 'f', 'promoted');
is($first->safe_psql('postgres', 'SELECT differs()'), '', 'promoted: all that was committed and nothing else');
is(defects($first), '', 'promoted: sound');
like($first->safe_psql('postgres', join_sql('EXPLAIN')), qr/BucketJoin/, 'promoted: bucket joins');
is($first->safe_psql('postgres', join_sql()), $first->safe_psql('postgres', 'SET bucketfdw.enable_bucketjoin = off;' . join_sql()),
	'promoted: which give what others give');
$first->safe_psql('postgres', q{SELECT load('t1', 1, 100)});
is($first->safe_psql('postgres', 'SELECT differs()'), '', 'promoted: and takes rows');
is($first->safe_psql('postgres', 'SELECT checkpoint_lsn < pg_current_wal_lsn() AND timeline_id = 1 FROM pg_control_checkpoint()'), 't',
	'all this before a checkpoint');
$first->safe_psql('postgres', 'CHECKPOINT');
$first->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
is(join(',', nobodys($first)), '', 'promoted: what loads had begun is swept');
is($first->safe_psql('postgres', 'SELECT differs()'), '', 'promoted: and nothing else');
is(defects($first), '', 'promoted: sound');

$node->safe_psql('postgres', 'INSERT INTO enough DEFAULT VALUES');
$_->finish for @loads;
$node->wait_for_catchup($second);
same($second, 'the other one goes on');
$_->stop for ($first, $second, $node);
unlike(slurp_file($_->logfile), qr/PANIC|TRAP|could not (open|read) file|is missing/, $_->name . ': nothing in the log') for ($node, $first, $second);

done_testing();

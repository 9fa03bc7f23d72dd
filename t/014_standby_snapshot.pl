# A transaction on a standby that is older than the removal of files: replay waits for it or cancels it, or with feedback
# the files stay.  It never misses one.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);
# vacuum would raise conflicts of its own
$node->append_conf('postgresql.conf', "bucketfdw.min_free_space = 0\nbucketfdw.inline_limit = 0\nautovacuum = off");
$node->start;
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "wal_receiver_status_interval = 1\nshared_buffers = 1MB");
$standby->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bucketfdw;
	CREATE TABLE h AS SELECT 1 AS a;
	CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	CREATE FOREIGN TABLE u (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
});

sub fill
{
	$node->safe_psql('postgres', q{
		TRUNCATE t, u;
		INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 5000) i;
		INSERT INTO u SELECT i, md5(i::text) FROM generate_series(1, 5000) i;
		SELECT bucketfdw.cleanup();
	});
	$node->wait_for_catchup($standby);
	return;
}

# An old transaction.  It reads the tables not before they are replaced, so that it holds no lock on them then.
my ($session, $out, $err);
sub begin
{
	my ($reads) = @_;
	$session = background($standby, 'old', join "\n", 'BEGIN ISOLATION LEVEL REPEATABLE READ;', q{SELECT 'begun' FROM h;},
		q{DO $$ BEGIN WHILE pg_stat_file('replaced', true) IS NULL LOOP PERFORM pg_sleep(0.1); END LOOP; END $$;},
		(q{SELECT 'read', count(*), sum(t.k), min(t.v) FROM t JOIN u USING (k); SELECT pg_sleep(0.1);}) x $reads, 'COMMIT;');
	until_true(sub { output() =~ /begun/ }, 'the transaction begins');
	return;
}

sub output
{
	$out = -e $standby->basedir . '/old.sql.out' ? slurp_file($standby->basedir . '/old.sql.out') : '';
	$err = slurp_file($standby->basedir . '/old.sql.err');
	return $out;
}

# Replace the files of both, and wait until the old transaction reads them.
sub replace
{
	$node->safe_psql('postgres', q{
		TRUNCATE t;
		SELECT bucketfdw.create_table_as('u', 'SELECT 7 AS k, ''seven'' AS v', mode => 'overwrite');
	});
	$node->wait_for_catchup($standby);
	append_to_file($standby->data_dir . '/replaced', '');
	until_true(sub { output() =~ /read/ || $err ne '' }, 'the transaction reads');
	return;
}

sub all_right
{
	my ($what) = @_;
	my @reads = output() =~ /^read\|(.*)$/mg;

	cmp_ok(scalar(@reads), '>', 0, "$what: the old transaction reads the files");
	is(join(',', grep { $_ ne '5000|12502500|0004d0b59e19461ff126e3a08a814c33' } @reads), '', "$what: with all their rows");
	unlink $standby->data_dir . '/replaced';
	return;
}

sub set
{
	my ($what) = @_;
	$standby->append_conf('postgresql.conf', $what);
	$standby->reload;
	return;
}

sub gone
{
	my ($what) = @_;
	is(on_disk($standby), 1, "$what: then the files are gone");
	is($standby->safe_psql('postgres', 'SELECT count(*) FROM t FULL JOIN u USING (k)'), '1', "$what: and new transactions read the new ones");
	is(defects($standby), '', "$what: sound");
	return;
}

# cancelled
set('max_standby_streaming_delay = 1s');
fill();
begin(600);
replace();
is($node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()'), '2', 'cancel: the files are removed');
$session->finish;
all_right('cancel');
like($err, qr/due to conflict with recovery/, 'cancel: the transaction is cancelled');
unlike($err, qr/missing|could not|damaged/, 'cancel: and misses nothing');
$node->wait_for_catchup($standby);
gone('cancel');

# waited for
set('max_standby_streaming_delay = -1');
fill();
begin(20);
replace();
is($node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()'), '2', 'delay: the files are removed');
my $lsn = $node->lsn('flush');
is($standby->safe_psql('postgres', "SELECT pg_last_wal_replay_lsn() < '$lsn'"), 't', 'delay: not yet on the standby');
$session->finish;
all_right('delay');
is($err, '', 'delay: the transaction comes to its end');
is(scalar(() = $out =~ /read/g), 20, 'delay: after all its reads');
$node->wait_for_catchup($standby);
gone('delay');

# held, by the standby itself and by its slot
$node->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('standby_1')});
for my $by ('process', 'slot')
{
	set("hot_standby_feedback = on\nmax_standby_streaming_delay = 0" . ($by eq 'slot' ? "\nprimary_slot_name = 'standby_1'" : ''));
	fill();
	begin(20);

	# its feedback comes once a second, and the standby connects again for the slot
	my $holder = '';
	until_true(sub {
		$holder = $node->safe_psql('postgres', 'SELECT holder FROM bucketfdw.horizon_holders WHERE age IS NOT NULL AND holder = '
			  . ($by eq 'slot' ? q{'replication slot standby_1'} : q{(SELECT 'process ' || pid FROM pg_stat_replication)}));
		return $holder ne '';
	}, 'feedback');
	replace();
	is($node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()'), '0', "feedback, $by: nothing is removed");
	is($node->safe_psql('postgres', 'SELECT DISTINCT held_by FROM bucketfdw.garbage'), $holder, "feedback, $by: held_by says who needs it");
	$session->finish;
	all_right("feedback, $by");
	is($err, '', "feedback, $by: the transaction comes to its end");
	until_true(sub { $node->safe_psql('postgres', 'SELECT count(*) FROM bucketfdw.garbage WHERE held_by IS NOT NULL') eq '0' }, 'feedback');
	cmp_ok($node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()'), '>=', 2, "feedback, $by: removed in the end");
	$node->wait_for_catchup($standby);
	gone("feedback, $by");
}
$standby->stop;
$node->stop;

done_testing();

# A crash in the middle of a load loses nothing and leaves nothing visible.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('crash');
$node->init;
$node->append_conf('postgresql.conf', "bucketfdw.min_free_space = 0\nrestart_after_crash = on");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bucketfdw;
	CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
	CREATE FOREIGN TABLE u (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
	INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 10000) i;
	INSERT INTO u SELECT i, md5(i::text) FROM generate_series(1, 10000) i;
});

# Run SQL in a session of its own; returns when a condition holds.
sub in_background
{
	my ($sql, $until) = @_;
	my $session = background($node, 'background', $sql);

	until_true($until, $sql);
	return $session;
}

my $answer = $node->safe_psql('postgres', 'SELECT count(*), sum(k), md5(string_agg(v, $$$$ ORDER BY k)) FROM t');
my $before = on_disk($node);
is($before, files_named($node), 'every file is named before the crash');

# Kill the server at once, the backend of a busy session too: it would not
# notice the death of its parent.
sub kill_server
{
	my ($session) = @_;
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	my $pid = $node->safe_psql('postgres',
		q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()});

	$node->kill9;
	kill 9, $pid;
	$session->kill_kill;
	for my $i (1 .. 600)
	{
		last if !kill(0, $postmaster) && !kill(0, $pid);
		select(undef, undef, undef, 0.1);
	}
	$node->start;
	return;
}

# while rows are collected
my $session = in_background(
	q{INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 100000000) i},
	sub {
		$node->safe_psql('postgres',
			q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO t%' AND now() - query_start > '2 s'}) eq '1';
	});
kill_server($session);
is($node->safe_psql('postgres', 'SELECT count(*), sum(k), md5(string_agg(v, $$$$ ORDER BY k)) FROM t'),
	$answer, 'rows as before after kill -9 while rows were collected');

# while files are written
$session = in_background(q{
	DO $$
	BEGIN
		FOR n IN 1 .. 10000 LOOP
			INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 100000) i;
			PERFORM count(*) FROM t WHERE k = n;
		END LOOP;
	END
	$$},
	sub { on_disk($node) > $before + 5 });
cmp_ok(on_disk($node), '>', $before, 'the load writes files');
kill_server($session);
is($node->safe_psql('postgres', 'SELECT count(*), sum(k), md5(string_agg(v, $$$$ ORDER BY k)) FROM t'),
	$answer, 'rows as before after kill -9 while files were written');

# files complete, the transaction not: sealed at the end of a statement, and a new table
$session = in_background(q{
	BEGIN;
	INSERT INTO t SELECT i, 'lost' FROM generate_series(1, 300000) i;
	CREATE FOREIGN TABLE n (k int) SERVER bucketfdw OPTIONS (bucket_by 'k');
	INSERT INTO n SELECT generate_series(1, 300000);
	SELECT count(*) FROM t, (SELECT count(*) FROM n) c;
	TRUNCATE u;
	SELECT pg_sleep(600);
	COMMIT;
}, sub {
	$node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) eq '1';
});
ok(on_disk($node) > files_named($node), 'files of the open transaction are on disk');
kill_server($session);
is($node->safe_psql('postgres', 'SELECT count(*), sum(k), md5(string_agg(v, $$$$ ORDER BY k)) FROM t'),
	$answer, 'rows as before after kill -9 of an open transaction');
is($node->safe_psql('postgres', 'SELECT count(*) FROM u'), '10000', 'TRUNCATE was not committed');
ok(on_disk($node) > files_named($node), 'orphans are left by the crash');
cmp_ok($node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()'), '>', 0, 'cleanup() finds them');
is(on_disk($node), files_named($node), 'no file is left over after cleanup()');
is($node->safe_psql('postgres', 'SELECT count(*) FROM bucketfdw.verify()'), '0', 'files are sound');
is(join(',', nobodys($node)), '', 'nor any other file');

# a backend that is killed takes the others down, and nothing else
$session = in_background(q{
	BEGIN;
	INSERT INTO t SELECT i, 'lost' FROM generate_series(1, 300000) i;
	SELECT count(*) FROM t;
	SELECT pg_sleep(600);
}, sub {
	$node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) eq '1';
});
my $pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
kill 9, $pid;
$session->finish;
comes_back($node);
is($node->safe_psql('postgres', 'SELECT count(*), sum(k), md5(string_agg(v, $$$$ ORDER BY k)) FROM t'),
	$answer, 'rows as before after kill -9 of a backend');
$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
is(on_disk($node), files_named($node), 'no file is left over');

# a cancelled load cleans up by itself
my ($ret, $stdout, $stderr) = $node->psql('postgres',
	q{SET statement_timeout = '1s'; INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 100000000) i});
like($stderr, qr/canceling statement/, 'load is cancelled');
is(on_disk($node), files_named($node), 'a cancelled load leaves no file');
is($node->safe_psql('postgres', 'SELECT count(*), sum(k), md5(string_agg(v, $$$$ ORDER BY k)) FROM t'),
	$answer, 'rows as before');

# what is committed stays
$node->safe_psql('postgres', q{INSERT INTO t SELECT i, 'kept' FROM generate_series(1, 1000) i; TRUNCATE u; INSERT INTO u VALUES (1, 'one')});
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', q{SELECT count(*) FROM t WHERE v = 'kept'}), '1000', 'committed rows survive a crash');
is($node->safe_psql('postgres', 'SELECT * FROM u'), '1|one', 'committed TRUNCATE survives a crash');
$node->stop;

done_testing();

# Files are dropped once, however often a transaction says so, and the server starts again afterwards.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('drops');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
bucketfdw.min_free_space = 0
bucketfdw.inline_limit = 0
checkpoint_timeout = 1h
max_wal_size = 4GB
autovacuum = off
max_locks_per_transaction = 256
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bucketfdw');
$node->safe_psql('postgres', $journal);

# Run SQL on a table t of two files, one of which is dead, and u; crash, and look what is there.
sub check
{
	my ($what, $sql, $tables, $keep) = @_;

	$node->safe_psql('postgres', q{
		CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
		CREATE FOREIGN TABLE u (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
		INSERT INTO t VALUES (1, 'old');
		TRUNCATE t;
		SELECT load('t', 1, 10);
		SELECT load('u', 1, 10);
	});
	my $files = on_disk($node);
	my ($ret, $out, $err) = $node->psql('postgres', $sql, on_error_stop => 1);
	is($ret, 0, "$what: goes through") or diag($err);
	is($err, '', "$what: without a word");
	$node->stop('immediate');
	$node->start;
	is($node->safe_psql('postgres', q{SELECT string_agg(b, ',') FROM bucketed() b}), $tables, "$what: tables");
	$node->safe_psql('postgres', 'DELETE FROM journal WHERE tab NOT IN (SELECT bucketed())');
	is($node->safe_psql('postgres', 'SELECT differs()'), '', "$what: rows") if !$keep;
	is(defects($node), '', "$what: sound");
	$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
	is(on_disk($node), files_named($node), "$what: files");
	is(join(',', nobodys($node)), '', "$what: none is left over");
	$node->safe_psql('postgres', 'DROP FOREIGN TABLE IF EXISTS t, u, n; TRUNCATE journal');
	is(on_disk($node), 0, "$what: in the end there are none");
	return;
}

check('a drop that is undone and done', 'BEGIN; SAVEPOINT a; DROP FOREIGN TABLE t; ROLLBACK TO a; DROP FOREIGN TABLE t; COMMIT', 'u');
check('a drop in a savepoint, then a sweep', 'BEGIN; SAVEPOINT a; DROP FOREIGN TABLE t; RELEASE a; DO $$BEGIN PERFORM bucketfdw.cleanup(); END$$; COMMIT', 'u');
check('a sweep, then a drop', 'BEGIN; DO $$BEGIN PERFORM bucketfdw.cleanup(); END$$; DROP FOREIGN TABLE t; COMMIT', 'u');
check('sweeps, some undone', q{
	BEGIN;
	SAVEPOINT a; DO $$BEGIN PERFORM bucketfdw.cleanup(); END$$; ROLLBACK TO a;
	DO $$BEGIN PERFORM bucketfdw.cleanup(); END$$;
	SAVEPOINT b; DO $$BEGIN PERFORM bucketfdw.cleanup(); END$$; ROLLBACK TO b;
	DO $$BEGIN PERFORM bucketfdw.cleanup(); END$$;
	COMMIT}, 't,u');
check('nested savepoints', q{
	BEGIN;
	SAVEPOINT a;
		SAVEPOINT b; DROP FOREIGN TABLE t; RELEASE b;
		SAVEPOINT c; DROP FOREIGN TABLE u; ROLLBACK TO c;
	RELEASE a;
	SAVEPOINT d; DROP FOREIGN TABLE u; ROLLBACK TO d;
	COMMIT}, 'u');
check('all undone', 'BEGIN; DROP FOREIGN TABLE t; SAVEPOINT a; DROP FOREIGN TABLE u; RELEASE a; ROLLBACK', 't,u');
check('truncated and dropped', 'BEGIN; TRUNCATE t, u; DROP FOREIGN TABLE t, u; COMMIT', '');
check('truncated twice', q{BEGIN; TRUNCATE t; INSERT INTO t VALUES (1, 'x'); TRUNCATE t; COMMIT}, 't,u', 1);
check('made and dropped', q{
	BEGIN;
	CREATE FOREIGN TABLE n (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	DO $$BEGIN PERFORM bucketfdw.create_table_as('n', 'SELECT 1 AS k, ''x'' AS v', mode => 'append'); END$$;
	SAVEPOINT a; DROP FOREIGN TABLE n; ROLLBACK TO a;
	SAVEPOINT b; INSERT INTO n VALUES (2, 'y'); TRUNCATE n; RELEASE b;
	DROP FOREIGN TABLE n;
	COMMIT}, 't,u');
check('made in a savepoint that is undone', q{
	BEGIN;
	SAVEPOINT a;
	DO $$BEGIN PERFORM bucketfdw.create_table_as('n', 'SELECT 1 AS k, ''x'' AS v', 'k'); END$$;
	ROLLBACK TO a;
	DO $$BEGIN PERFORM bucketfdw.create_table_as('n', 'SELECT 1 AS k, ''x'' AS v', 'k'); END$$;
	DROP FOREIGN TABLE n;
	COMMIT}, 't,u');

# a transaction that does nothing but drop files has to have an id: one that finds orphans, here of rows taken away
$node->safe_psql('postgres', q{
	CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	CREATE FOREIGN TABLE u (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	SELECT load('t', 1, 10);
	SELECT load('u', 1, 10);
	DELETE FROM bucketfdw.manifest WHERE relid = 't'::regclass;
});
$node->safe_psql('postgres', 'VACUUM bucketfdw.manifest; CHECKPOINT');
is(scalar(my @orphans = nobodys($node)), 1, 'an orphan');
is($node->safe_psql('postgres', q{BEGIN; SAVEPOINT a; SELECT bucketfdw.cleanup(); ROLLBACK TO a; COMMIT}), '1', 'which a sweep that is undone leaves');
is(scalar(@orphans = nobodys($node)), 1, 'where it is');
is($node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()'), '1', 'a transaction that only drops');
$node->stop('immediate');
$node->start;
is(join(',', nobodys($node)), '', 'it is gone after a crash');
is($node->safe_psql('postgres', 'SELECT count(*) FROM u'), '10', 'and nothing else');

# files that are missing or another's
my $path = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT path FROM bucketfdw.files WHERE relid = 'u'::regclass});
$node->safe_psql('postgres', 'CHECKPOINT');
unlink $path or die $!;
my ($ret, $out, $err) = $node->psql('postgres', 'SELECT * FROM u');
like($err, qr/is missing/, 'a missing file is an error');
$node->safe_psql('postgres', 'DROP FOREIGN TABLE u');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', q{SELECT string_agg(b, ',') FROM bucketed() b}), 't', 'a table whose file is missing can be dropped');
$node->safe_psql('postgres', q{DELETE FROM journal; SELECT load('t', 1, 10); CHECKPOINT});
$path = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT path FROM bucketfdw.files WHERE relid = 't'::regclass});
my $bytes = slurp_file($path);
unlink $path;
append_to_file($path, substr($bytes, 0, 20) . "\0\0\0\0" . substr($bytes, 24));
($ret, $out, $err) = $node->psql('postgres', 'SELECT * FROM t');
like($err, qr/missing or damaged|invalid page/, 'a file that is not the one meant is an error');
($ret, $out, $err) = $node->psql('postgres', 'DROP FOREIGN TABLE t');
is($ret, 0, 'its table can be dropped');
like($err, qr/WARNING:.*is left alone/, 'and the file is left, with a warning');
ok(-s $path, 'where it is');
unlink $path;

# ten thousand in one commit
$node->safe_psql('postgres', q{
	TRUNCATE journal;
	CREATE TABLE many (p int, k int) PARTITION BY LIST (p);
	DO $$
	BEGIN
		FOR i IN 0 .. 199 LOOP
			EXECUTE format('CREATE FOREIGN TABLE many_%s PARTITION OF many FOR VALUES IN (%s) SERVER bucketfdw OPTIONS (bucket_by ''k'', buckets ''1'')', i, i);
		END LOOP;
		FOR n IN 1 .. 50 LOOP
			INSERT INTO many SELECT i, n FROM generate_series(0, 199) i;
			COMMIT;
		END LOOP;
	END $$;
});
is(on_disk($node), 10000, 'ten thousand files');
$node->safe_psql('postgres', 'TRUNCATE many');
my $t0 = time;
is($node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()'), '10000', 'all dropped at once');
note('figures: cleanup() of 10,000 files took ', time - $t0, ' s');
is(on_disk($node), 0, 'none is there');
$node->stop('immediate');
$t0 = time;
$node->start;
note('figures: start after that took ', time - $t0, ' s');
is(on_disk($node), 0, 'nor after a crash');
$node->safe_psql('postgres', 'DO $$ BEGIN FOR n IN 1 .. 10 LOOP INSERT INTO many SELECT i, n FROM generate_series(0, 199) i; COMMIT; END LOOP; END $$');
is(on_disk($node), 2000, 'two thousand more');
$t0 = time;
$node->safe_psql('postgres', 'DROP TABLE many');
note('figures: DROP of 2,000 files took ', time - $t0, ' s');
$node->stop('immediate');
$node->start;
is(on_disk($node), 0, 'DROP takes them all');
$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP/, 'nothing in the log');

done_testing();

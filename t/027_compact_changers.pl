# Compaction, rebucketing and the worker of upkeep beside transactions that change rows: nobody waits for those who wait
# for the exchange of files, and no change is lost.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use lib $FindBin::RealBin;
use BucketFiles;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
bucketfdw.upkeep = off
bucketfdw.min_free_space = 0
bucketfdw.verify_order = on
max_worker_processes = 8
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bucketfdw');

sub fill
{
	$node->safe_psql(
		'postgres', q{
		DROP FOREIGN TABLE IF EXISTS b;
		DROP TABLE IF EXISTS h;
		CREATE FOREIGN TABLE b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
		CREATE TABLE h (k int, v int);
		SET bucketfdw.inline_limit = 0;
		INSERT INTO b SELECT g % 1000, 1 FROM generate_series(1, 4000) g;
		INSERT INTO b SELECT g % 1000, 2 FROM generate_series(1, 4000) g;
		INSERT INTO b SELECT g, 3 FROM generate_series(1, 100) g;
		DELETE FROM b WHERE k = 100;
		INSERT INTO h SELECT * FROM b;
		CREATE INDEX ON h (k);
	});
	return;
}

# Rows of the one table that the other has not, both ways.
sub differences
{
	return $node->safe_psql('postgres', q{
		SELECT (SELECT count(*) FROM (SELECT * FROM b EXCEPT ALL SELECT * FROM h) x),
			(SELECT count(*) FROM (SELECT * FROM h EXCEPT ALL SELECT * FROM b) x)});
}

sub state
{
	return $node->safe_psql('postgres', q{SELECT max_runs, (SELECT count(*) FROM bucketfdw.delete_vectors WHERE relid = t.relid)
		FROM bucketfdw.tables t WHERE relid = 'b'::regclass});
}

# Wait until a session asks for the lock, again and again.
sub asks
{
	my ($what) = @_;
	ok( $node->poll_query_until(
			'postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'CALL%'
			AND pg_blocking_pids(pid) = '{}'}), $what);
	return;
}

for my $call ([ q{CALL bucketfdw.compact('b', true)}, 'compaction' ], [ q{CALL bucketfdw.rebucket('b', buckets => 8)}, 'rebucketing' ])
{
	my ($sql, $name) = @$call;

	# it waits for who changes rows; others who do so do not
	for my $end ('COMMIT', 'ROLLBACK')
	{
		fill();
		my $open = $node->background_psql('postgres', on_error_die => 1);
		$open->query_safe("BEGIN; DELETE FROM b WHERE k = 7; DELETE FROM h WHERE k = 7; UPDATE b SET v = 9 WHERE k = 7");
		my $waits = background($node, 'waits', "$sql;\n");
		asks("$name waits");
		$node->safe_psql('postgres', q{
			SET lock_timeout = '2s';
			DELETE FROM b WHERE k = 8; DELETE FROM h WHERE k = 8;
			UPDATE b SET v = v + 1 WHERE k = 9; UPDATE h SET v = v + 1 WHERE k = 9;
			INSERT INTO b VALUES (8, 8); INSERT INTO h VALUES (8, 8)});
		$open->query_safe($end);
		$open->quit;
		$waits->finish;
		is(slurp_file($node->basedir . '/waits.sql.err'), '', "$name ends after $end");
		is(differences(), '0|0', "rows are right after $end");
		is(defects($node), '', 'all is sound');
	}

	# who begins when the files are written: some rows, and all
	for my $where ('k BETWEEN 100 AND 300', 'v = 2', 'true')
	{
		fill();
		my $hold = $node->background_psql('postgres', on_error_die => 1);
		$hold->query_safe('BEGIN; LOCK TABLE bucketfdw.manifest IN SHARE MODE');
		my $waits = background($node, 'waits', "$sql;\n");
		ok( $node->poll_query_until(
				'postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE relation = 'bucketfdw.manifest'::regclass AND NOT granted}),
			"$name has written its files");
		my $open = $node->background_psql('postgres', on_error_die => 1);
		$open->query_safe("BEGIN; DELETE FROM b WHERE $where; DELETE FROM h WHERE $where");
		$hold->query_safe('COMMIT');
		$hold->quit;
		asks("$name waits");
		$open->query_safe('COMMIT');
		$open->quit;
		$waits->finish;
		is(slurp_file($node->basedir . '/waits.sql.err'), '', "$name ends");
		is(differences(), '0|0', "rows are right, $where");
		is(defects($node), '', 'all is sound');
		$node->safe_psql('postgres', q{CALL bucketfdw.compact('b', true)});
		like(state(), qr/^[01]\|0$/, 'and no deleted rows are left then');
	}
}

# more rows than are kept in memory of where they came from: deleted at random, where runs are of one bucket and of several,
# rows with equal keys
for my $call ([ q{CALL bucketfdw.compact('b', true)}, 'compaction' ], [ q{CALL bucketfdw.rebucket('b', buckets => 6)}, 'rebucketing' ])
{
	my ($sql, $name) = @$call;

	fill();
	$node->safe_psql(
		'postgres', q{
		SET bucketfdw.inline_limit = 0;
		INSERT INTO b SELECT hashint4(g) % 50000, g FROM generate_series(1, 300000) g;
		INSERT INTO b SELECT hashint4(g) % 50000, g FROM generate_series(300000, 500000) g;
		DELETE FROM b WHERE v % 97 = 5;
		TRUNCATE h;
		INSERT INTO h SELECT * FROM b});
	my $hold = $node->background_psql('postgres', on_error_die => 1);
	$hold->query_safe('BEGIN; LOCK TABLE bucketfdw.manifest IN SHARE MODE');
	my $waits = background($node, 'waits', "SET maintenance_work_mem = '1MB';\n$sql;\n");
	ok( $node->poll_query_until(
			'postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE relation = 'bucketfdw.manifest'::regclass AND NOT granted}),
		"$name has written many rows");
	$node->safe_psql('postgres', "DELETE FROM $_ WHERE v % 101 = 7 OR k BETWEEN -20 AND 20 OR v BETWEEN 299990 AND 300010") for qw(b h);
	$hold->query_safe('COMMIT');
	$hold->quit;
	$waits->finish;
	is(slurp_file($node->basedir . '/waits.sql.err'), '', "$name ends");
	is(differences(), '0|0', "rows are right after $name of many");
	is(defects($node), '', 'all is sound');
}

# many at once: keys that two sessions change, rows in the catalog and in files; of one statement, so that both tables are
# seen by one snapshot
fill();
my $upkeep = background(
	$node, 'upkeep', "SET maintenance_work_mem = '1MB';\n"
	  . "CALL bucketfdw.compact('b', true); CALL bucketfdw.maintain('b'); CALL bucketfdw.rebucket('b', buckets => 8);\n"
	  . "CALL bucketfdw.compact('b'); CALL bucketfdw.rebucket('b', buckets => 4);\n" x 30);
$node->pgbench(
	'--no-vacuum --client=4 --transactions=150',
	0,
	[qr{processed: 600/600}],
	[qr{^$}],
	'changes beside compaction and rebucketing',
	{
		'027_changes' => q{
			\set k random(1, 60)
			\set what random(1, 4)
			\if :what = 1
			WITH b AS (DELETE FROM b WHERE k = :k) DELETE FROM h WHERE k = :k;
			\elif :what = 2
			WITH b AS (UPDATE b SET v = v + 1 WHERE k = :k) UPDATE h SET v = v + 1 WHERE k = :k;
			\elif :what = 3
			WITH b AS (UPDATE b SET k = k + 200 WHERE k BETWEEN :k AND :k + 2)
			UPDATE h SET k = k + 200 WHERE k BETWEEN :k AND :k + 2;
			\else
			BEGIN;
			INSERT INTO b SELECT :k, g FROM generate_series(1, 20) g;
			INSERT INTO h SELECT :k, g FROM generate_series(1, 20) g;
			COMMIT;
			\endif
		}
	});
$upkeep->finish;
unlike(slurp_file($node->basedir . '/upkeep.sql.err'), qr/ERROR/, 'which have no errors');
is(differences(), '0|0', 'rows are right');
is(defects($node), '', 'all is sound');
is($node->safe_psql('postgres', q{SELECT count(*) FROM bucketfdw.delete_vectors v WHERE file_id NOT IN
	(SELECT file_id FROM bucketfdw.manifest UNION ALL SELECT file_id FROM bucketfdw.inline_rows)}), '0', 'each vector has its file');

# the worker: a commit that deletes much starts it, and who changes rows does not wait for it
fill();
$node->append_conf('postgresql.conf', 'bucketfdw.upkeep = on');
$node->reload;
$node->safe_psql('postgres', 'ANALYZE b');
$node->safe_psql('postgres', q{DELETE FROM b WHERE k % 3 > 0; DELETE FROM h WHERE k % 3 > 0});
ok( $node->poll_query_until('postgres', q{SELECT due = '{}' AND
	(SELECT count(*) FROM bucketfdw.delete_vectors WHERE relid = t.relid) = 0 FROM bucketfdw.tables t WHERE relid = 'b'::regclass}),
	'deleted rows are taken out by the worker') or diag state();
is(differences(), '0|0', 'rows are right');
my $open = $node->background_psql('postgres', on_error_die => 1);
$open->query_safe("BEGIN; DELETE FROM b WHERE k = 3; DELETE FROM h WHERE k = 3");
$node->safe_psql('postgres', q{SET bucketfdw.inline_limit = 0; SET lock_timeout = '2s'; INSERT INTO b VALUES (3, 3); INSERT INTO h VALUES (3, 3); } x 20);
ok( $node->poll_query_until(
		'postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'bucketfdw upkeep' AND wait_event_type = 'Lock'}),
	'the worker waits for who changes rows');
$node->safe_psql('postgres', q{SET lock_timeout = '2s'; DELETE FROM b WHERE k = 6; DELETE FROM h WHERE k = 6});
$open->query_safe('COMMIT');
$open->quit;
ok($node->poll_query_until('postgres', q{SELECT max_runs <= 13 FROM bucketfdw.tables WHERE relid = 'b'::regclass}), 'and goes on then');
is(differences(), '0|0', 'rows are right');
is(defects($node), '', 'all is sound');

$node->stop;
done_testing();

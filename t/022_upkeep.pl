# The worker that keeps tables in shape: when it starts, what it does, whom it gives way to, and when it does not start.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use FindBin;
use lib $FindBin::RealBin;
use BucketFiles;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf(
	'postgresql.conf', q{
bucketfdw.upkeep = on
bucketfdw.inline_limit = 0
bucketfdw.min_free_space = 0
bucketfdw.log_upkeep_min_duration = 0
max_worker_processes = 8
max_connections = 60
deadlock_timeout = 10s
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bucketfdw');

# Appends of some rows each, every one a transaction.
sub append
{
	my ($db, $table, $times, $rows) = @_;
	$node->safe_psql($db, "INSERT INTO $table SELECT g, md5(g::text) FROM generate_series(1, $rows) g;\n" x $times);
	return;
}

sub create
{
	my ($db, $table, $options) = @_;
	$node->safe_psql($db, "CREATE FOREIGN TABLE $table (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4'" . ($options // '') . ')');
	return;
}

sub due
{
	my ($db, $table) = @_;
	return $node->safe_psql($db, "SELECT due FROM bucketfdw.tables WHERE relid = '$table'::regclass");
}

# Wait until nothing is due for a table.
sub settles
{
	my ($db, $table, $what) = @_;
	ok($node->poll_query_until($db, "SELECT due = '{}' FROM bucketfdw.tables WHERE relid = '$table'::regclass"), $what)
		or diag due($db, $table), $node->safe_psql('postgres', 'SELECT backend_type, state, query, wait_event FROM pg_stat_activity');
	return;
}

sub workers
{
	return $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'bucketfdw upkeep'});
}

sub few_runs
{
	my ($db, $table) = @_;
	return $node->safe_psql($db, "SELECT max_runs <= 13 FROM bucketfdw.tables WHERE relid = '$table'::regclass");
}

# until all workers have ended by themselves
sub all_ended
{
	until_true(sub { workers() eq '0' }, 'workers end');
	return;
}

# The lines of the log that upkeep should not write.
sub bad_lines
{
	my ($from) = @_;
	my @bad = grep { /ERROR|FATAL|PANIC|exited with exit code|already held/ } split /\n/, substr(slurp_file($node->logfile), $from);
	return join "\n", grep { !/statement:|terminating connection due to administrator command/ } @bad;
}

# by itself
create('postgres', 'a');
append('postgres', 'a', 100, 50);
settles('postgres', 'a', 'after 100 appends nothing is due in the end');
is(few_runs('postgres', 'a'), 't', 'no bucket has more than 13 runs');
is($node->safe_psql('postgres', q{SELECT reltuples > 4400 FROM pg_class WHERE relname = 'a'}), 't', 'analyzed');
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT k) FROM a'), '5000|50', 'the rows are there');
is(defects($node), '', 'and sound');
like(slurp_file($node->logfile), qr/LOG:  upkeep of table "postgres.public.a": [1-9]/, 'and it is logged');
all_ended();
is(bad_lines(0), '', 'no errors');

# rows that stand in the catalog
create('postgres', 'small');
$node->safe_psql('postgres', "SET bucketfdw.inline_limit = '16kB';\n" . "INSERT INTO small VALUES (1, 'x');\n" x 400);
settles('postgres', 'small', 'after 400 small writes nothing is due in the end');
is($node->safe_psql('postgres', q{SELECT count(*) < 201 FROM bucketfdw.inline_rows WHERE relid = 'small'::regclass}), 't', 'they are in files');
is($node->safe_psql('postgres', 'SELECT count(*), sum(k) FROM small'), '400|400', 'and there');

# garbage of a TRUNCATE
$node->safe_psql('postgres', 'TRUNCATE a');
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM bucketfdw.garbage'), 'what TRUNCATE left is removed');

# what stops it
all_ended();
create('postgres', 'quiet', q{, upkeep 'false'});
append('postgres', 'quiet', 20, 100);
$node->safe_psql('postgres', 'SET bucketfdw.upkeep = off; ' . q{INSERT INTO a SELECT g, g::text FROM generate_series(1, 1000) g;} x 20);
all_ended();
isnt(due('postgres', 'quiet'), '{}', 'a table without upkeep is left alone');
isnt(due('postgres', 'a'), '{}', 'a session without upkeep starts no worker');
append('postgres', 'a', 1, 1000);
settles('postgres', 'a', 'the next one does');
isnt(due('postgres', 'quiet'), '{}', 'the other table is left alone then, too');

# replaced files that somebody may still read hold it up, and the view says who
create('postgres', 'held', q{, upkeep 'false'});
append('postgres', 'held', 1, 10000);
my $reader = $node->background_psql('postgres', on_error_die => 1);
my $pid = $reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_backend_pid();');
$node->safe_psql('postgres', 'TRUNCATE held');
append('postgres', 'held', 20, 1);
is(due('postgres', 'held'), qq({"compact: a bucket has 20 runs, and the files it replaced are still needed","held by process $pid"}),
	'who holds replaced files');
$reader->query_safe('COMMIT');
$reader->quit;
like(due('postgres', 'held'), qr/^{"compact: a bucket has 20 runs","cleanup: 1 replaced files can be removed"}$/, 'nobody any more');

# an owner who may not log in; settings of the database that would stop the worker
my $from = length(slurp_file($node->logfile));
$node->safe_psql('postgres', q{
	CREATE ROLE nobody NOLOGIN;
	CREATE DATABASE odd;
});
$node->safe_psql('odd', 'CREATE EXTENSION bucketfdw');
create('odd', 'n');
$node->safe_psql('odd', 'ALTER FOREIGN TABLE n OWNER TO nobody');
$node->safe_psql('postgres', q{
	ALTER DATABASE odd SET default_transaction_read_only = on;
	ALTER DATABASE odd SET statement_timeout = 1;
	ALTER DATABASE odd SET lock_timeout = 1;
	ALTER DATABASE odd SET default_transaction_isolation = 'serializable';
	ALTER DATABASE odd SET search_path = nowhere;
	ALTER DATABASE odd SET bucketfdw.upkeep = off;
});
{
	local $ENV{PGOPTIONS} = q{-c statement_timeout=0 -c lock_timeout=0 -c default_transaction_read_only=off }
	  . q{-c default_transaction_isolation=read\ committed -c bucketfdw.upkeep=on};
	append('odd', 'public.n', 30, 500);
	settles('odd', 'public.n', 'owner without LOGIN, settings of the database');
	is($node->safe_psql('odd', 'SELECT max_runs <= 13, rows FROM bucketfdw.tables'), 't|15000', 'few runs');
	is(bad_lines($from), '', 'no errors');
}

# code of the owner: what ANALYZE calls cannot become somebody else, nor is anything found where the owner wants
$node->safe_psql('postgres', q{
	CREATE SCHEMA trap;
	GRANT ALL ON SCHEMA trap TO nobody;
	CREATE FUNCTION trap.spy(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
	BEGIN
		PERFORM set_config('role', 'postgres', false);
		RAISE WARNING 'spy: is superuser';
		RETURN $1;
	EXCEPTION WHEN OTHERS THEN
		IF $1 = 1 THEN
			RAISE WARNING 'spy: % of %, %', current_user, current_setting('search_path'), SQLERRM;
		END IF;
		RETURN $1;
	END $$;
	CREATE FUNCTION trap.equal(int, int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'spy: operator'; RETURN true; END $$;
	CREATE OPERATOR trap.= (leftarg = int, rightarg = int, function = trap.equal);
	CREATE FOREIGN TABLE h (k int CHECK (trap.spy(k) IS NOT NULL), v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	CREATE STATISTICS trap.s ON (trap.spy(k)), v FROM h;
	ALTER FOREIGN TABLE h OWNER TO nobody;
	ALTER FUNCTION trap.spy(int) OWNER TO nobody;
	ALTER ROLE nobody SET search_path = trap, pg_catalog;
	ALTER DATABASE postgres SET search_path = trap, public, pg_catalog;
});
$from = length(slurp_file($node->logfile));
$node->safe_psql('postgres', 'SET client_min_messages = error; SET log_min_messages = error; '
	. 'INSERT INTO public.h SELECT g, g::text FROM generate_series(1, 500) g; ' x 20);
settles('postgres', 'public.h', 'a table with functions of its owner');
my $log = substr(slurp_file($node->logfile), $from);
like($log, qr/WARNING:  spy: nobody of (""|pg_catalog, pg_temp)?, cannot set parameter "role" within security-restricted operation/,
	'ANALYZE calls them as the owner');
unlike($log, qr/spy: (is superuser|operator)/, 'who cannot get further');
is(bad_lines($from), '', 'no errors');
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET search_path; DROP FOREIGN TABLE h');

# SIGTERM while it works and between transactions; then processes in the same slots
create('postgres', 'b');
$from = length(slurp_file($node->logfile));
$node->append_conf('postgresql.conf', "bucketfdw.upkeep_cost_limit = 1\nbucketfdw.upkeep_cost_delay = 20");
$node->reload;
for my $wait (0.01, 0.05, 0.2, 0.5, 1.2)
{
	append('postgres', 'b', 15, 20000);
	until_true(sub { workers() > 0 }, 'a worker');
	select(undef, undef, undef, $wait);
	$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'bucketfdw upkeep'});
	all_ended();
	my @many = map { $node->background_psql('postgres', on_error_die => 1) } 1 .. 20;
	$_->query_safe('INSERT INTO quiet VALUES (1)') for @many;
	$_->quit for @many;
}
is(bad_lines($from), '', 'SIGTERM leaves nothing behind');

# while it works: who wants its locks has them soon; the databases wait for checkpoints, but would fail after 5 s of waiting
# for it
sub while_it_works
{
	my ($db, $table, $sql, $what, $limit) = @_;
	append($db, $table, 15, 20000);
	until_true(
		sub {
			$node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'bucketfdw upkeep'
				AND state = 'active' AND query LIKE '%compact%'}) > 0;
		}, "$what: a worker compacts");
	my $begun = time;
	$node->safe_psql($sql->[0], $sql->[1]);
	my $took = time - $begun;
	cmp_ok($took, '<', $limit, sprintf('%s beside upkeep: %.2f s', $what, $took));
	return;
}
$from = length(slurp_file($node->logfile));
while_it_works('postgres', 'b', [ 'postgres', 'ALTER FOREIGN TABLE b ADD COLUMN later int' ], 'ALTER', 2);
while_it_works('postgres', 'b', [ 'postgres', 'TRUNCATE b' ], 'TRUNCATE', 2);
while_it_works('postgres', 'b', [ 'postgres', 'DROP FOREIGN TABLE b' ], 'DROP TABLE', 2);
$node->safe_psql('postgres', 'CREATE DATABASE shop');
$node->safe_psql('shop', 'CREATE EXTENSION bucketfdw');
create('shop', 'c');
while_it_works('shop', 'c', [ 'postgres', 'CREATE DATABASE shop2 TEMPLATE shop STRATEGY file_copy' ], 'CREATE DATABASE', 30);
is($node->safe_psql('shop2', 'SELECT count(*) FROM c'), '300000', 'the copy is whole');
while_it_works('shop', 'c', [ 'postgres', 'DROP DATABASE shop' ], 'DROP DATABASE', 30);
all_ended();
is(bad_lines($from), '', 'no errors');
$node->append_conf('postgresql.conf', "bucketfdw.upkeep_cost_limit = 200\nbucketfdw.upkeep_cost_delay = 2");
$node->reload;

# indexes of the catalog are made anew meanwhile
create('postgres', 'd');
my $reindex = background($node, 'reindex', join('', map { "REINDEX INDEX CONCURRENTLY bucketfdw.${_}_relid_idx;\n" } qw(manifest dead_files delete_vectors inline_rows upkeep_state spec)) x 5);
append('postgres', 'd', 60, 500);
$node->safe_psql('postgres', "INSERT INTO d SELECT 501, 'x' FROM generate_series(1, 100); DELETE FROM d WHERE k = 501;\n" x 10);
$reindex->finish;
is(slurp_file($node->basedir . '/reindex.sql.err'), '', 'REINDEX CONCURRENTLY of the catalog during upkeep');
settles('postgres', 'd', 'which does all the same');
is($node->safe_psql('postgres', 'SELECT count(*) FROM d'), '30000', 'no row is lost');
is(defects($node), '', 'all is sound');

# all slots of background workers are used up: the next commit tries
all_ended();
$node->safe_psql('postgres', 'ALTER SYSTEM SET max_worker_processes = 1');
$node->restart;
append('postgres', 'd', 1, 10000);
all_ended();
isnt(due('postgres', 'd'), '{}', 'without a free slot no worker starts');
$node->safe_psql('postgres', 'ALTER SYSTEM RESET ALL');
$node->restart;
append('postgres', 'd', 1, 10000);
settles('postgres', 'd', 'later one does');

# few runs are merged too when nothing is appended any more
append('postgres', 'a', 1, 100);
$node->safe_psql('postgres', 'TRUNCATE a');
append('postgres', 'a', 8, 1000);
ok($node->poll_query_until('postgres', q{SELECT max_runs <= 2 AND last_compact > last_write + interval '20 seconds' FROM bucketfdw.tables WHERE relid = 'a'::regclass}),
	'when all is quiet, to two runs');

# a standby never starts one
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
append('postgres', 'd', 30, 500);
settles('postgres', 'd', 'the primary does');
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', q{SELECT count(*) FROM bucketfdw.tables WHERE due IS NULL}), '0', 'the view works on a standby');
unlike(slurp_file($standby->logfile), qr/LOG:  upkeep of|bucketfdw upkeep/, 'no worker on the standby');
$standby->stop;
$node->stop;

done_testing();

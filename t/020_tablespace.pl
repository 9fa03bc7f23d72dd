# Tablespaces: on a standby, over a crash, and under the commands of databases
# and tablespaces, which work with files and know no tables.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
bucketfdw.min_free_space = 0
bucketfdw.inline_limit = 0
allow_in_place_tablespaces = on
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bucketfdw');
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', q{
hot_standby_feedback = on
wal_receiver_status_interval = 1
max_standby_streaming_delay = 180s
});
$standby->start;

sub run_psql
{
	my ($server, $db, $sql) = @_;
	my ($ret, $out, $err) = $server->psql($db, $sql);
	return $err;
}

# the tablespace of a table, and whether all its files are in tablespaces
my $where = q{SELECT t.tablespace, count(*), bool_and(f.path LIKE 'pg_tblspc/%') FROM bucketfdw.tables t
	JOIN bucketfdw.files f USING (relid) WHERE t.relid = 't'::regclass GROUP BY 1};
my $rows = q{SELECT count(*), md5(string_agg(k || v, ' ' ORDER BY k, v)) FROM t};

$node->safe_psql('postgres', "CREATE TABLESPACE $_ LOCATION ''") for ('one', 'two', 'three');
$node->safe_psql('postgres', q{
	CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', tablespace 'one');
	INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 100000) i;
	INSERT INTO t SELECT i, 'small' FROM generate_series(1, 10) i;
});
my $before = $node->safe_psql('postgres', $rows);
my $files = $node->safe_psql('postgres', $where);
like($files, qr/^one\|\d+\|t$/, 'files are in the tablespace');
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', $rows), $before, 'the standby reads them');

# a snapshot on the standby, taken before the move
my $reader = $standby->background_psql('postgres');
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
$reader->query_safe('SELECT count(*) FROM pg_class');
my $xmin = 'SELECT count(*) FROM pg_stat_replication WHERE backend_xmin IS NOT NULL';
$node->poll_query_until('postgres', $xmin, '1') or die 'no feedback';
$node->safe_psql('postgres', q{
	ALTER FOREIGN TABLE t OPTIONS (SET tablespace 'two');
	INSERT INTO t VALUES (0, 'later');
	SELECT bucketfdw.cleanup();
});
$node->wait_for_catchup($standby);
is($reader->query_safe($rows), $before, 'an older snapshot on the standby reads the old files');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM t'), '100011', 'a newer one the new ones');
$reader->query_safe('COMMIT');
$reader->quit;
$node->poll_query_until('postgres', 'SELECT bucketfdw.cleanup() > 0') or die 'the files are held';
$before = $node->safe_psql('postgres', $rows);
like($node->safe_psql('postgres', $where), qr/^two\|\d+\|t$/, 'the table has moved');
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', $rows), $before, 'the standby reads after the removal');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM bucketfdw.verify()'), '0', 'sound on the standby');

# without feedback replay waits for it, or cancels it
$standby->append_conf('postgresql.conf', "hot_standby_feedback = off\nmax_standby_streaming_delay = 100ms");
$standby->restart;
$node->poll_query_until('postgres', $xmin, '0') or die 'feedback goes on';
$reader = $standby->background_psql('postgres');
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
$reader->query_safe('SELECT count(*) FROM pg_class');
my $log = -s $standby->logfile;
$node->safe_psql('postgres', q{ALTER FOREIGN TABLE t OPTIONS (SET tablespace 'one')});
$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
$node->wait_for_catchup($standby);
eval { $reader->query('SELECT count(*) FROM t') };
eval { $reader->quit };
$log = slurp_file($standby->logfile, $log);
like($log, qr/due to conflict with recovery/, 'an older snapshot is cancelled');
unlike($log, qr/ERROR/, 'and meets no missing file');
is($standby->safe_psql('postgres', $rows), $before, 'others read on');

# DROP TABLESPACE
like(run_psql($node, 'postgres', 'DROP TABLESPACE one'),
	qr/cannot be dropped because some objects depend on it.*tablespace for foreign table t/s, 'the table is named');
$node->safe_psql('postgres', q{
	CREATE FOREIGN TABLE empty (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', tablespace 'three')});
like(run_psql($node, 'postgres', 'DROP TABLESPACE three'), qr/some objects depend on it.*foreign table empty/s, 'without files too');
$node->safe_psql('postgres', 'DROP FOREIGN TABLE empty');
$node->safe_psql('postgres', 'DROP TABLESPACE three');
my $old = $node->background_psql('postgres');
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$node->safe_psql('postgres', q{ALTER FOREIGN TABLE t OPTIONS (SET tablespace 'two')});
$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
like(run_psql($node, 'postgres', 'DROP TABLESPACE one'), qr/"one" is not empty/, 'old files are still read');
is($old->query_safe($rows), $before, 'by this one');
$old->quit;
$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
$node->safe_psql('postgres', 'DROP TABLESPACE one');
$node->safe_psql('postgres', q{CREATE TABLESPACE one LOCATION ''});

# ended in the middle, whichever way
my $path = $node->safe_psql('postgres', q{SELECT 'pg_tblspc/' || oid FROM pg_tablespace WHERE spcname = 'one'});
my $found = "SELECT count(*) FROM pg_ls_dir('$path') v, pg_ls_dir('$path/' || v) d, pg_ls_dir('$path/' || v || '/' || d) f, " .
	"pg_stat_file('$path/' || v || '/' || d || '/' || f) s WHERE s.size > 0";
my $locker = $node->background_psql('postgres');
$locker->query_safe('BEGIN');
$locker->query_safe('LOCK TABLE bucketfdw.dead_files');
like(run_psql($node, 'postgres', q{SET lock_timeout = '200ms'; ALTER FOREIGN TABLE t OPTIONS (SET tablespace 'one')}),
	qr/canceling statement due to lock timeout/, 'cancelled when a file is copied');
$locker->quit;
is($node->safe_psql('postgres', $found), '0', 'nothing is left');
is($node->safe_psql('postgres', $rows), $before, 'nothing is lost');
my $mover = $node->background_psql('postgres');
$mover->query_safe('BEGIN');
$mover->query_safe(q{ALTER FOREIGN TABLE t OPTIONS (SET tablespace 'one')});
$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
isnt($node->safe_psql('postgres', $found), '0', 'cleanup() leaves what a transaction has just made');
is($mover->query_safe($rows), $before, 'which can read it');
$node->safe_psql('postgres', 'CHECKPOINT');
$node->stop('immediate');
eval { $mover->quit };
$node->start;
is($node->safe_psql('postgres', $rows), $before, 'after a crash the old files are read');
$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
is($node->safe_psql('postgres', $found), '0', 'cleanup() removes the new ones');
is($node->safe_psql('postgres', 'SELECT count(*) FROM bucketfdw.verify()'), '0', 'sound');
$node->safe_psql('postgres', q{ALTER FOREIGN TABLE t OPTIONS (SET tablespace 'one')});
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', $rows), $before, 'and the new ones once it was committed');
is($node->safe_psql('postgres', 'SELECT count(*) FROM bucketfdw.verify()'), '0', 'sound');
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', $rows), $before, 'on the standby too');

# databases
$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql('app', q{
	CREATE EXTENSION bucketfdw;
	CREATE FOREIGN TABLE base (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	CREATE FOREIGN TABLE placed (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', tablespace 'one');
	INSERT INTO base SELECT i, 'base' FROM generate_series(1, 1000) i;
	INSERT INTO placed SELECT i, 'placed' FROM generate_series(1, 2000) i;
});
my $both = 'SELECT count(*), sum(b.k), min(p.v) FROM base b JOIN placed p USING (k)';
my $spaces = q{SELECT string_agg(t.relid || ' ' || t.tablespace || ' ' || coalesce(s.spcname, 'base'), ', ' ORDER BY t.relid::text)
	FROM bucketfdw.tables t JOIN bucketfdw.files f USING (relid) LEFT JOIN pg_tablespace s ON f.path LIKE format('pg_tblspc/%s/%%', s.oid)};
my $answer = $node->safe_psql('app', $both);
is($answer, '1000|500500|placed', 'two tables in two tablespaces');
is($node->safe_psql('app', $spaces), 'base pg_default base, placed one one', 'there they are');
$node->safe_psql('postgres', 'ALTER DATABASE app SET TABLESPACE two');
is($node->safe_psql('app', $both), $answer, 'ALTER DATABASE SET TABLESPACE');
is($node->safe_psql('app', $spaces), 'base two two, placed one one', 'moves what is in the default');
like(run_psql($node, 'postgres', 'ALTER DATABASE app SET TABLESPACE one'),
	qr/some relations of database "app" are already in tablespace "one"/, 'as for tables');
$node->safe_psql('app', q{INSERT INTO base VALUES (1001, 'base'); ALTER FOREIGN TABLE placed OPTIONS (SET tablespace 'two')});
is($node->safe_psql('app', $spaces), 'base two two, base two two, placed two two', 'moved to the default of the database');
$node->safe_psql('app', q{SELECT bucketfdw.cleanup()});
$node->safe_psql('postgres', 'ALTER DATABASE app SET TABLESPACE one');
is($node->safe_psql('app', $spaces), 'base one one, base one one, placed one one', 'where the table goes with it');
my $writer = $node->background_psql('app');
$writer->query_safe('BEGIN');
$writer->query_safe(q{
	CREATE FOREIGN TABLE lost (k int) SERVER bucketfdw OPTIONS (bucket_by 'k', tablespace 'pg_default');
	SELECT bucketfdw.create_table_as('lost', 'SELECT 1 AS k', mode => 'append')});
my $lost = $writer->query_safe(q{SELECT path FROM bucketfdw.files WHERE relid = 'lost'::regclass});
like($lost, qr/^base/, 'in pg_default, which is not the default');
$node->stop('immediate');
eval { $writer->quit };
$node->start;
is($node->safe_psql('app', 'SELECT bucketfdw.cleanup()'), '1', 'an orphan is found there, too');
is($node->safe_psql('app', $both), '1001|501501|placed', 'and nothing else');
$node->safe_psql('app', q{ALTER FOREIGN TABLE placed OPTIONS (SET tablespace 'two')});
$answer = $node->safe_psql('app', $both);
is($answer, '1001|501501|placed', 'nothing is lost');

$node->safe_psql('app', 'SELECT bucketfdw.cleanup()');
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE app STRATEGY file_copy');
is($node->safe_psql('copy', $both), $answer, 'CREATE DATABASE with file_copy');
is($node->safe_psql('copy', $spaces), 'base one one, base one one, placed two two', 'copies all tablespaces');
$node->safe_psql('postgres', 'CREATE DATABASE copy_base TEMPLATE app STRATEGY file_copy TABLESPACE pg_default');
is($node->safe_psql('copy_base', $spaces), 'base pg_default base, base pg_default base, placed two two', 'to another default too');
is($node->safe_psql('copy_base', $both), $answer, 'with all rows');
$node->safe_psql('copy', q{ALTER FOREIGN TABLE placed OPTIONS (DROP tablespace); INSERT INTO placed VALUES (0, 'copy')});
$node->safe_psql('copy', 'SELECT bucketfdw.cleanup()');
is($node->safe_psql('copy', $spaces), 'base one one, base one one, placed one one, placed one one', 'files of the copy are its own');
is($node->safe_psql('copy', 'SELECT count(*) FROM placed'), '2001', 'and its rows');
is($node->safe_psql('app', $both), $answer, 'the original has its');
$node->wait_for_catchup($standby);
is($standby->safe_psql($_, $both), $answer, "$_ on the standby") for ('app', 'copy', 'copy_base');

# dump and restore
my $file = $node->basedir . '/app.sql';
command_ok([ 'pg_dump', '--include-foreign-data=bucketfdw', '-d', $node->connstr('app'), '-f', $file ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $file ], 'restore');
is($node->safe_psql('restored', $spaces), 'base pg_default base, placed two two', 'the option is kept');
is($node->safe_psql('restored', $both), $answer, 'and the rows');
$node->safe_psql('postgres', "DROP DATABASE $_") for ('restored', 'copy', 'copy_base', 'app');
$node->safe_psql('postgres', 'DROP FOREIGN TABLE t');
$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
is(run_psql($node, 'postgres', "DROP TABLESPACE $_"), '', "DROP DATABASE took its files out of $_") for ('one', 'two');

$node->safe_psql('postgres', 'CREATE DATABASE restored');
command_checks_all([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $file ],
	0, [], [qr/WARNING:  tablespace "two" does not exist/], 'restored where there is no such tablespace');
is($node->safe_psql('restored', $spaces), 'base pg_default base, placed pg_default base', 'it is in the default');
is($node->safe_psql('restored', $both), $answer, 'with its rows');
$node->wait_for_catchup($standby);
is($standby->safe_psql('restored', $both), $answer, 'on the standby too');
$standby->stop;
$node->stop;

done_testing();

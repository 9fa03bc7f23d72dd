# Rows that are deleted on the primary are gone on a standby, at the same moment, and not before; a transaction of before
# has them on.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
bucketfdw.min_free_space = 0
bucketfdw.upkeep = off
autovacuum = off
max_prepared_transactions = 10
max_standby_streaming_delay = -1
});
$node->start;
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
# heap tables are pruned when they are read: that would wait for the old transaction
$standby->append_conf('postgresql.conf', "shared_buffers = 1MB\nhot_standby_feedback = on\nwal_receiver_status_interval = 1");
$standby->start;
# f is in files, i inline, and p a partitioned table of both kinds
$node->safe_psql('postgres', q{
	CREATE EXTENSION bucketfdw;
	CREATE FOREIGN TABLE f_b (k int, v int, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4', block_rows '500');
	CREATE FOREIGN TABLE i_b (k int, v int, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	CREATE TABLE p_b (k int, v int, t text) PARTITION BY RANGE (v);
	CREATE FOREIGN TABLE p_1 PARTITION OF p_b FOR VALUES FROM (0) TO (500) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '2');
	CREATE TABLE p_2 PARTITION OF p_b FOR VALUES FROM (500) TO (100000);
	SET bucketfdw.inline_limit = 0;
	INSERT INTO f_b SELECT i % 700, i, 'first ' || i FROM generate_series(1, 20000) i;
	INSERT INTO f_b SELECT i % 900, i, 'second ' || i FROM generate_series(20001, 24000) i;
	INSERT INTO p_b SELECT i % 50, i, 'part' FROM generate_series(1, 999) i;
	RESET bucketfdw.inline_limit;
	INSERT INTO i_b SELECT i % 7, i, 'inline ' || i FROM generate_series(1, 100) i;
	CREATE TABLE f_h AS SELECT * FROM f_b;
	CREATE TABLE i_h AS SELECT * FROM i_b;
	CREATE TABLE p_h AS SELECT * FROM p_b;
});

my $ask = join ' UNION ALL ', map {
	"SELECT '$_', count(*), sum(v), min(k), max(t COLLATE \"C\"), md5(string_agg(v::text, ',' ORDER BY v)) FROM ${_}X"
} ('f_', 'i_', 'p_');
my $join = q{SELECT count(*), sum(a.v), sum(b.v) FROM f_b a JOIN i_b b USING (k)};
my $catalog = 'SELECT relid, rows, deleted_rows FROM bucketfdw.tables ORDER BY relid::text';

# What the bucketed tables give, wherever they are read, is what the heap tables give.
sub right
{
	my ($server, $what) = @_;

	is($server->safe_psql('postgres', $ask =~ s/X/b/gr), $server->safe_psql('postgres', $ask =~ s/X/h/gr), $what);
	return;
}

# A statement on the primary, for bucketed tables and copies; and what it leaves.
sub step
{
	my ($what, $sql) = @_;
	my $force = 'SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_mergejoin = off;';

	$node->safe_psql('postgres', $sql =~ s/X/b/gr . ';' . $sql =~ s/X/h/gr);
	$node->wait_for_catchup($standby);
	right($node, "$what: the primary");
	right($standby, "$what: the standby");
	is($standby->safe_psql('postgres', $catalog), $node->safe_psql('postgres', $catalog), "$what: as many, and as many deleted");
	is($standby->safe_psql('postgres', "$force $join"), $node->safe_psql('postgres', $join =~ s/_b/_h/gr), "$what: a join of buckets");
	is(defects($standby), '', "$what: sound");
	return;
}

step('loaded', 'SELECT');
my $before = $standby->safe_psql('postgres', $ask =~ s/X/b/gr);
my $old = background($standby, 'old', join "\n", 'BEGIN ISOLATION LEVEL REPEATABLE READ;', ($ask =~ s/X/b/gr) . ';',
	q{DO $$ BEGIN WHILE pg_stat_file('changed', true) IS NULL LOOP PERFORM pg_sleep(0.1); END LOOP; END $$;},
	($ask =~ s/X/b/gr) . ';', 'COMMIT;');
until_true(sub { -s $standby->basedir . '/old.sql.out' }, 'the old transaction reads');
until_true(sub { $node->safe_psql('postgres', 'SELECT backend_xmin IS NOT NULL FROM pg_stat_replication') eq 't' }, 'and the primary knows');

step('a row', 'DELETE FROM f_X WHERE v = 77');
step('a key', 'DELETE FROM f_X WHERE k = 13; DELETE FROM i_X WHERE k = 3');
step('a hundredth', 'DELETE FROM f_X WHERE v % 100 = 5');
step('inline rows', 'DELETE FROM i_X WHERE v % 10 = 4');
step('updated', 'UPDATE f_X SET v = v + 100000 WHERE v % 1000 = 1; UPDATE i_X SET t = t || t WHERE k < 2');
step('moved between partitions', 'UPDATE p_X SET v = v + 400 WHERE k = 7; DELETE FROM p_X WHERE k = 8');
step('in one transaction', 'BEGIN; DELETE FROM f_X WHERE k = 20; INSERT INTO f_X VALUES (20, 1, \'new\'); DELETE FROM f_X WHERE k BETWEEN 19 AND 21 AND t <> \'new\'; COMMIT');
step('savepoints', 'BEGIN; DELETE FROM f_X WHERE k = 30; SAVEPOINT s; DELETE FROM f_X; SELECT count(*) FROM f_X; ROLLBACK TO s; DELETE FROM f_X WHERE k = 31; COMMIT');
step('rolled back', 'BEGIN; DELETE FROM f_X; DELETE FROM i_X; SELECT count(*) FROM f_X; ROLLBACK');

# what is prepared is not there before it is committed
$node->safe_psql('postgres', q{BEGIN; DELETE FROM f_b WHERE k < 100; DELETE FROM f_h WHERE k < 100; PREPARE TRANSACTION 'later'});
step('prepared', 'SELECT');
$node->safe_psql('postgres', q{COMMIT PREPARED 'later'});
step('committed', 'SELECT');

# whole blocks, buckets, files
step('half', 'DELETE FROM f_X WHERE k % 2 = 0 AND k < 600');
step('the second load', 'DELETE FROM f_X WHERE t LIKE \'second%\'');
step('all of a table', 'DELETE FROM i_X');
step('and rows again', 'INSERT INTO i_X SELECT g, g, \'again\' FROM generate_series(1, 50) g');
$node->wait_for_catchup($standby);

append_to_file($standby->data_dir . '/changed', '');
$old->finish;
is(slurp_file($standby->basedir . '/old.sql.err'), '', 'the old transaction has no error');
is(slurp_file($standby->basedir . '/old.sql.out'), "$before\n$before\n", 'and has all rows of before on');

$node->safe_psql('postgres', q{CALL bucketfdw.compact('f_b', true); SELECT bucketfdw.cleanup()});
step('compacted', 'SELECT');
$standby->promote;
right($standby, 'promoted');
is($standby->safe_psql('postgres', 'DELETE FROM f_b WHERE k = 101; DELETE FROM f_h WHERE k = 101; SELECT count(*) FROM f_b WHERE k = 101'), '0', 'and deletes');
right($standby, 'promoted and changed');
$standby->stop;
$node->stop;

done_testing();

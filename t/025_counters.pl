# bucketfdw.stat_tables: with the library in shared_preload_libraries, through errors, restarts and more tables than there
# is room for.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('counters');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'bucketfdw'
bucketfdw.min_free_space = 0
bucketfdw.max_counted_tables = 4
fsync = off
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bucketfdw;
	CREATE FOREIGN TABLE a (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '100');
	CREATE FOREIGN TABLE b (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8', block_rows '100');
});

sub counters
{
	my ($columns, $table) = @_;
	return $node->safe_psql('postgres', "SELECT $columns FROM bucketfdw.stat_tables WHERE relid = '$table'::regclass");
}

is(counters('scans, fallbacks, fallback_reasons, blocks_read, rows_written, upkeep_steps, since', 'a'), '0|0||0|0|0|', 'nothing yet');
$node->safe_psql('postgres', q{
	INSERT INTO a SELECT i, i FROM generate_series(1, 10000) i;
	INSERT INTO b SELECT i, i FROM generate_series(1, 10000) i;
	BEGIN; INSERT INTO b SELECT i, i FROM generate_series(1, 100) i; COMMIT;
	ANALYZE a, b;
});
is(counters('scans, writes, rows_written, bytes_written > 0, since IS NOT NULL', 'a'), '0|1|10000|t|t', 'a load');
is(counters('scans, writes, rows_written', 'b'), '0|2|10100', 'two loads');
$node->safe_psql('postgres', 'SELECT count(v) FROM a; SELECT sum(v) FROM a WHERE k = 77; EXPLAIN SELECT count(v) FROM a');
is(counters('scans, bucket_joins, fallbacks, blocks_read > 80, blocks_skipped > 0, bytes_read > 1000', 'a'), '2|0|0|t|t|t', 'scans');
$node->safe_psql('postgres', 'SELECT count(*), sum(a.v) FROM a JOIN b USING (k)');
is(counters('scans, bucket_joins, fallbacks', 'a') . counters('scans, bucket_joins, fallbacks', 'b'), '3|1|01|1|0', 'a bucket join');
$node->safe_psql('postgres', q{
	SET bucketfdw.enable_bucketjoin = off; SELECT sum(a.v) FROM a JOIN b USING (k); SELECT sum(a.v) FROM a JOIN b USING (k); RESET bucketfdw.enable_bucketjoin;
	SET bucketfdw.enable_routing = off; SELECT sum(a.v) FROM a JOIN b ON a.v = b.v});
is(counters('scans, bucket_joins, fallbacks, fallback_reasons', 'a'), '6|1|3|{"disabled": 2, "key_not_equal_joined": 1}', 'other joins, by reason');
my ($ret, $out, $err) = $node->psql('postgres', 'SELECT sum(1 / (v - 5000)) FROM a; SELECT sum(v) FROM a', on_error_stop => 0);
like($err, qr/division by zero/, 'an error');
is(counters('scans', 'a'), '7', 'what failed is not counted, what follows is');
$node->safe_psql('postgres', q{CALL bucketfdw.compact('b', "full" => true)});
is(counters('upkeep_steps > 0, upkeep_rows, upkeep_bytes > 0, writes, rows_written', 'b'), 't|10100|t|2|10100', 'compaction');

# each process of a parallel plan counts what it reads, all of them are one scan
my $blocks = counters('blocks_read', 'a');
$node->safe_psql('postgres', q{
	SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off;
	SELECT count(v), count(k) FROM a});
is(counters("scans, blocks_read - $blocks BETWEEN 90 AND 150", 'a'), '8|t', 'a parallel scan');

# of more tables than there is room for, the last used ones
$node->safe_psql('postgres', "CREATE FOREIGN TABLE t$_ (k int) SERVER bucketfdw OPTIONS (bucket_by 'k'); INSERT INTO t$_ VALUES (1); SELECT count(k) FROM a") for (1 .. 6);
is(counters('scans', 'a'), '14', 'a table that is used keeps its counters');
is(counters('scans', 'b') . counters('rows_written', 't1') . counters('rows_written', 't6'), '001', 'others give place');
is($node->safe_psql('postgres', 'SELECT count(*), count(since) FROM bucketfdw.stat_tables'), '8|4', 'the rest has zeros');

# other databases, roles, a dropped table, a reset, a restart
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', q{CREATE EXTENSION bucketfdw; CREATE FOREIGN TABLE a (k int) SERVER bucketfdw OPTIONS (bucket_by 'k'); INSERT INTO a VALUES (1)});
$node->safe_psql('postgres', q{CREATE ROLE plain LOGIN; DROP FOREIGN TABLE t6});
is($node->safe_psql('postgres', 'SET ROLE plain; SELECT count(*), sum(scans) FROM bucketfdw.stat_tables'), '7|14', 'everybody sees them');
($ret, $out, $err) = $node->psql('postgres', 'SET ROLE plain; SELECT bucketfdw.stat_reset()');
like($err, qr/permission denied/, 'not everybody resets them');
$node->safe_psql('postgres', 'SELECT bucketfdw.stat_reset()');
is($node->safe_psql('postgres', 'SELECT sum(scans), count(since) FROM bucketfdw.stat_tables'), '0|0', 'reset');
is($node->safe_psql('other', 'SELECT rows_written FROM bucketfdw.stat_tables'), '1', 'of this database only');
$node->safe_psql('postgres', 'SELECT count(k) FROM a');
$node->restart;
is(counters('scans', 'a'), '0', 'a restart forgets them');

# none are kept
$node->append_conf('postgresql.conf', 'bucketfdw.max_counted_tables = 0');
$node->restart;
$node->safe_psql('postgres', 'SELECT count(k) FROM a; SELECT bucketfdw.stat_reset()');
is(counters('scans IS NULL, fallbacks IS NULL, fallback_reasons IS NULL', 'a'), 't|t|t', 'switched off');
$node->stop;
done_testing();

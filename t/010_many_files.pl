# Thousands of buckets, many appends, few file descriptors: the joins are right and leave nothing behind.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('many_files');
$node->init;
$node->append_conf('postgresql.conf', q{
bucketfdw.min_free_space = 0
max_files_per_process = 64
max_parallel_workers_per_gather = 0
autovacuum = off
fsync = off
wal_level = replica
});

# the server itself may open no more than 256 files per process
my $start = sprintf(q{ulimit -n 256; exec pg_ctl -w -D '%s' -l '%s' -o '--cluster-name=many_files' start},
	$node->data_dir, $node->logfile);
{
	local $ENV{PGHOST} = $node->host;
	is(system('bash', '-c', $start), 0, 'the server starts with few file descriptors');
}
$node->_update_pid(1);

# Append to both tables of a pair so many times, and keep the same rows in heaps.
sub make_pair
{
	my ($name, $buckets, $appends, $rows) = @_;
	my $sql = '';

	for my $side ('a', 'b')
	{
		$sql .= qq{CREATE FOREIGN TABLE ${name}_$side (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '$buckets');\n};
		$sql .= qq{CREATE TABLE ${name}_${side}_h (k int, v text);\n};
	}
	$node->safe_psql('postgres', $sql);
	$sql = '';
	for my $n (1 .. $appends)
	{
		for my $side ('a', 'b')
		{
			my $from = $side eq 'a' ? $n * 7 : $n * 11;
			$sql .= "INSERT INTO ${name}_$side SELECT CASE WHEN i % 101 = 0 THEN NULL ELSE i END, i::text FROM generate_series($from, $from + $rows) i;\n";
		}
	}
	$sql .= "INSERT INTO ${name}_${_}_h SELECT * FROM ${name}_$_; ANALYZE ${name}_$_; ANALYZE ${name}_${_}_h;\n" for ('a', 'b');
	$node->safe_psql('postgres', $sql);
	return;
}

sub query
{
	my ($a, $b) = @_;
	return "SELECT count(*), sum(a.k::bigint), sum(hashtext(a.v)::bigint), sum(length(b.v)) FROM $a a JOIN $b b USING (k)";
}

$node->safe_psql('postgres', 'CREATE EXTENSION bucketfdw');
make_pair('wide', 4096, 10, 20000);
make_pair('deep', 16, 520, 300);

# footers that do not fit in memory together: files are closed and opened again for every bucket
make_pair('broad', 256, 400, 300);

for my $name ('wide', 'deep', 'broad')
{
	my $heap = $node->safe_psql('postgres', query("${name}_a_h", "${name}_b_h"));
	my $force = 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;';

	like($node->safe_psql('postgres', "$force EXPLAIN " . query("${name}_a", "${name}_b")),
		qr/BucketJoin/, "$name: bucket join");
	for my $work_mem ('64kB', '4MB')
	{
		is($node->safe_psql('postgres', "$force SET work_mem = '$work_mem'; " . query("${name}_a", "${name}_b")),
			$heap, "$name: the same rows with work_mem $work_mem");
	}

	# the first join fills caches of catalogs and of files
	my @bytes = split /\n/, $node->safe_psql('postgres', $force . join(';',
			query("${name}_a", "${name}_b") . ' LIMIT 0',
			'SELECT sum(total_bytes) FROM pg_backend_memory_contexts',
			query("${name}_a", "${name}_b"),
			'SELECT sum(total_bytes) FROM pg_backend_memory_contexts'));
	cmp_ok($bytes[-1] - $bytes[0], '<', 1024 * 1024, "$name: an idle backend holds under 1 MB more after the join");
}

# a load keeps nothing of the files it has finished
my @peak = $node->safe_psql('postgres', q{
CREATE FOREIGN TABLE large (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '128', compression 'none');
INSERT INTO large SELECT i, repeat('x', 1000) FROM generate_series(1, 10000) i;
SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)');
INSERT INTO large SELECT i, repeat(md5(i::text), 32) FROM generate_series(1, 160000) i;
SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)');
}) =~ /(\d+)/g;
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM bucketfdw.files WHERE relid = 'large'::regclass}), '>=', 128,
	'each bucket has a file of its own');
cmp_ok($peak[1] - $peak[0], '<', 28 * 1024, 'writing them takes under 28 MB of memory');

$node->stop;
done_testing();

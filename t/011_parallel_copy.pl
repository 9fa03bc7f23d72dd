# Several COPYs into one table at the same time: every row arrives once, and those of a failed one do not.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('parallel_copy');
$node->init;
$node->append_conf('postgresql.conf', "bucketfdw.min_free_space = 0\nwork_mem = '1MB'");
$node->start;
my $dir = $node->basedir;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION bucketfdw;
	CREATE FOREIGN TABLE t (k int, n int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16');
	CREATE TABLE h (k int, n int, v text);
} . join('', map { qq{
	COPY (SELECT CASE WHEN i % 97 = 0 THEN NULL ELSE i % 20000 END, $_, md5(i::text) FROM generate_series(1, 60000) i) TO '$dir/rows$_';
	COPY h FROM '$dir/rows$_';} } 1 .. 4));

# All of them wait for a lock of ours, so that they start together.
sub copy_all
{
	my ($wanted, @sql) = @_;
	my $gate = $node->background_psql('postgres');
	my @sessions;

	$gate->query_safe('SELECT pg_advisory_lock(1)');
	for my $i (0 .. $#sql)
	{
		my $file = "$dir/session$i.sql";

		unlink $file;
		append_to_file($file, "SELECT pg_advisory_lock_shared(1);\n$sql[$i]\n");
		push @sessions, IPC::Run::start(
			[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', $file ],
			'<', '/dev/null', '>', "$file.out", '2>', "$file.err");
	}
	ok($node->poll_query_until('postgres',
			"SELECT count(*) = " . @sql . " FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"),
		'all sessions wait');
	$gate->query_safe('SELECT pg_advisory_unlock(1)');
	$_->finish for @sessions;
	is(join(',', map { $_->result(0) } @sessions), $wanted, 'the sessions end as they should');
	$gate->quit;
	return;
}

sub same
{
	my ($name) = @_;
	my $answer = 'SELECT count(*), count(k), sum(k::bigint), sum(n), sum(hashtext(v)::bigint)';

	is($node->safe_psql('postgres', "$answer FROM t"), $node->safe_psql('postgres', "$answer FROM h"), "$name: rows");
	is($node->safe_psql('postgres', 'SELECT count(*), sum(a.n), sum(b.n) FROM t a JOIN t b USING (k)'),
		$node->safe_psql('postgres', 'SELECT count(*), sum(a.n), sum(b.n) FROM h a JOIN h b USING (k)'), "$name: join");
	is($node->safe_psql('postgres', q{SELECT count(*) FROM bucketfdw.verify('t')}),
		'0', "$name: files are in order");
	return;
}

copy_all('0,0,0,0', map { "COPY t FROM '$dir/rows$_';" } 1 .. 4);
same('four COPYs');

# one rolls back, one fails in its last row, one keeps what came after a savepoint
$node->safe_psql('postgres', qq{COPY (SELECT * FROM h WHERE n = 1 UNION ALL SELECT 1, NULL, repeat('x', 10)) TO '$dir/bad';
	ALTER FOREIGN TABLE t ADD CHECK (n IS NOT NULL)});
copy_all('0,0,3,0',
	"COPY t FROM '$dir/rows1';",
	"BEGIN; COPY t FROM '$dir/rows2'; ROLLBACK;",
	"COPY t FROM '$dir/bad';",
	"BEGIN; COPY t FROM '$dir/rows3'; SAVEPOINT s; COPY t FROM '$dir/rows4'; ROLLBACK TO s; COPY t FROM '$dir/rows1'; COMMIT;");
$node->safe_psql('postgres', "COPY h FROM '$dir/rows1'; COPY h FROM '$dir/rows3'; COPY h FROM '$dir/rows1'");
same('some that fail');

$node->stop;
done_testing();

# A subscription to FOR ALL TABLES survives what happens to bucketed tables.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
$publisher->init(allows_streaming => 'logical');
$publisher->append_conf('postgresql.conf', 'bucketfdw.min_free_space = 0');
$publisher->start;
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init(allows_streaming => 'logical');
$subscriber->append_conf('postgresql.conf', 'bucketfdw.min_free_space = 0');
$subscriber->start;

# the same objects with the same oids on both sides: the worst case
for my $node ($publisher, $subscriber)
{
	$node->safe_psql('postgres', q{
		CREATE EXTENSION bucketfdw;
		CREATE TABLE heap (a int PRIMARY KEY);
		CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
		CREATE FOREIGN TABLE u (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	});
}
$publisher->safe_psql('postgres', q{
	INSERT INTO t SELECT i, 'published' FROM generate_series(1, 100) i;
	INSERT INTO u SELECT i, 'published' FROM generate_series(1, 100) i;
	TRUNCATE u;
	INSERT INTO u SELECT i, 'published' FROM generate_series(1, 100) i;
	CREATE PUBLICATION everything FOR ALL TABLES;
});
$subscriber->safe_psql('postgres', q{INSERT INTO u SELECT i, 'local' FROM generate_series(1, 10) i});
my $connstr = $publisher->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION s CONNECTION '$connstr' PUBLICATION everything");
$subscriber->poll_query_until('postgres',
	q{SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')})
	or die 'initial copy does not end';

is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM t'), '0', 'rows of the catalog do not arrive by the initial copy');
is($subscriber->safe_psql('postgres', 'SELECT v, count(*) FROM u GROUP BY 1'), 'local|10', 'local rows are untouched');

# everything that writes our catalog
$publisher->safe_psql('postgres', q{
	INSERT INTO heap VALUES (1);
	INSERT INTO t SELECT i, 'more' FROM generate_series(1, 100) i;
	ALTER FOREIGN TABLE t RENAME k TO key;
	ALTER FOREIGN TABLE t OPTIONS (SET buckets '8');
	BEGIN;
	INSERT INTO heap VALUES (2);
	INSERT INTO t SELECT i, 'more' FROM generate_series(1, 100) i;
	SAVEPOINT s;
	INSERT INTO t SELECT i, 'more' FROM generate_series(1, 100) i;
	ROLLBACK TO s;
	COMMIT;
	TRUNCATE u;
	INSERT INTO u SELECT i, 'published' FROM generate_series(1, 100) i;
	SELECT bucketfdw.cleanup();
	CREATE FOREIGN TABLE w (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4096');
	INSERT INTO w SELECT i, 'wide' FROM generate_series(1, 50000) i;
	INSERT INTO heap VALUES (3);
	DROP FOREIGN TABLE w;
	ALTER FOREIGN TABLE t RENAME TO tt;
	DROP FOREIGN TABLE tt;
	INSERT INTO heap VALUES (4);
});
$publisher->wait_for_catchup('s');
is($subscriber->safe_psql('postgres', 'SELECT array_agg(a ORDER BY a) FROM heap'), '{1,2,3,4}', 'the subscription goes on');
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM t'), '0', 'nothing arrived in the catalog');
is($subscriber->safe_psql('postgres', 'SELECT v, count(*) FROM u GROUP BY 1'), 'local|10', 'local rows are untouched');
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM bucketfdw.verify()'), '0', 'local files are sound');
my $log = slurp_file($subscriber->logfile);
unlike($log, qr/ERROR/, 'no error in the subscriber');
$subscriber->stop;
$publisher->stop;

done_testing();

# DROP EXTENSION refuses while tables exist; in the end nothing is left.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('uninstall');
$node->init;
$node->append_conf('postgresql.conf', "bucketfdw.min_free_space = 0\nbucketfdw.inline_limit = 0");
$node->start;
my $tables = q{
	CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	INSERT INTO t SELECT i, 'v' FROM generate_series(1, 100) i;
	CREATE FOREIGN TABLE u (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	INSERT INTO u SELECT i, 'v' FROM generate_series(1, 100) i;
	TRUNCATE u;
};

# in order: tables first
$node->safe_psql('postgres', "CREATE EXTENSION bucketfdw; $tables");
my ($ret, $out, $err) = $node->psql('postgres', 'DROP EXTENSION bucketfdw');
like($err, qr/cannot drop extension bucketfdw because other objects depend on it/, 'DROP EXTENSION refuses');
$node->safe_psql('postgres', 'DROP FOREIGN TABLE t, u; DROP EXTENSION bucketfdw');
is(join(',', on_disk($node)), '', 'no file is left');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_event_trigger}), '0', 'no trigger is left');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_namespace WHERE nspname = 'bucketfdw'}), '0', 'no schema is left');

# CASCADE leaves files; the next installation in this database sweeps them
$node->safe_psql('postgres', "CREATE EXTENSION bucketfdw; $tables");
$node->safe_psql('postgres', 'CREATE DATABASE neighbour');
$node->safe_psql('neighbour', "CREATE EXTENSION bucketfdw; $tables");
$node->safe_psql('postgres', 'DROP EXTENSION bucketfdw CASCADE');
cmp_ok(on_disk($node), '>', 0, 'files are left after CASCADE');
$node->safe_psql('postgres', 'CREATE EXTENSION bucketfdw');
is(join(',', on_disk($node)), '', 'the next installation removes them');
cmp_ok(on_disk($node, 'neighbour'), '>', 0, 'but not those of another database');
is($node->safe_psql('neighbour', 'SELECT count(*) FROM t'), '100', 'which reads as before');

# not before the removal of the old one is committed
$node->safe_psql('postgres', $tables);
my $files = on_disk($node);
$node->safe_psql('postgres', q{
	BEGIN;
	DROP EXTENSION bucketfdw CASCADE;
	CREATE EXTENSION bucketfdw;
	ROLLBACK;
});
is(on_disk($node), $files, 'a rolled back reinstallation removes nothing');
is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), '100', 'rows are there');
$node->safe_psql('postgres', q{
	BEGIN;
	DROP EXTENSION bucketfdw CASCADE;
	CREATE EXTENSION bucketfdw;
	CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	INSERT INTO t VALUES (1, 'new');
	COMMIT;
});
is($node->safe_psql('postgres', 'SELECT * FROM t'), '1|new', 'reinstalled and filled in one transaction');
is(on_disk($node), 1, 'old files are gone');
$node->safe_psql('postgres', 'DROP DATABASE neighbour');

# a schema of that name that is there already is not taken over
$node->safe_psql('postgres', 'DROP EXTENSION bucketfdw CASCADE; CREATE SCHEMA bucketfdw');
($ret, $out, $err) = $node->psql('postgres', 'CREATE EXTENSION bucketfdw');
like($err, qr/schema "bucketfdw" already exists/, 'an existing schema is not taken over');
($ret, $out, $err) = $node->psql('postgres', 'CREATE EXTENSION bucketfdw SCHEMA public');
isnt($ret, 0, 'not with SCHEMA either');
$node->safe_psql('postgres', 'DROP SCHEMA bucketfdw');
$node->stop;

done_testing();

# pg_dump and restore as a plain owner: the same rows, options, spec, and join.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('dump');
$node->init;
$node->append_conf('postgresql.conf', 'bucketfdw.min_free_space = 0');
$node->start;
$node->safe_psql('postgres', q{
	CREATE ROLE plain LOGIN;
	CREATE DATABASE a OWNER plain;
	CREATE DATABASE b OWNER plain;
});
for my $db ('a', 'b')
{
	$node->safe_psql($db, q{
		CREATE EXTENSION bucketfdw;
		GRANT USAGE ON FOREIGN SERVER bucketfdw TO plain;
	});
}

sub run_plain
{
	my ($db, $sql) = @_;
	return $node->safe_psql($db, "SET SESSION AUTHORIZATION plain;\n$sql");
}

run_plain('a', q{
	CREATE SCHEMA app;
	CREATE DOMAIN app.code AS text CHECK (length(value) < 100);
	CREATE FOREIGN TABLE app.orders (id bigint GENERATED ALWAYS AS IDENTITY, customer int NOT NULL, amount numeric(10,2) DEFAULT 1.5,
		day date, note app.code, twice numeric GENERATED ALWAYS AS (amount * 2) STORED, CHECK (amount >= 0))
		SERVER bucketfdw OPTIONS (bucket_by 'customer', buckets '16', sort_by 'customer, day desc', compression 'zstd');
	CREATE FOREIGN TABLE app.customers (id bigint, "Name" text, country text)
		SERVER bucketfdw OPTIONS (bucket_by 'id', buckets '12');
	SET bucketfdw.default_buckets = 48;
	CREATE FOREIGN TABLE app."Odd Name" (a int, "Key,1" text, dropped int) SERVER bucketfdw OPTIONS (bucket_by '"Key,1", a');
	CREATE TABLE app.events (u int, at date, v text) PARTITION BY RANGE (at);
	CREATE FOREIGN TABLE app.e1 PARTITION OF app.events FOR VALUES FROM ('2020-01-01') TO ('2020-02-01')
		SERVER bucketfdw OPTIONS (bucket_by 'u', buckets '4');
	CREATE FOREIGN TABLE app.e2 PARTITION OF app.events FOR VALUES FROM ('2020-02-01') TO ('2020-03-01') SERVER bucketfdw;
	INSERT INTO app.orders (customer, amount, day, note)
		SELECT i % 500, i / 7.0, '2020-01-01'::date + i % 100, nullif('n' || i % 10, 'n3') FROM generate_series(1, 5000) i;
	INSERT INTO app.customers SELECT i, 'name ' || i, chr(65 + i % 26) FROM generate_series(1, 500) i;
	INSERT INTO app."Odd Name" SELECT i, E'tab\t\\ "quote" ' || i, 1 FROM generate_series(1, 100) i;
	INSERT INTO app."Odd Name" VALUES (NULL, NULL, NULL), (1, '', 0);
	INSERT INTO app.events SELECT i, '2020-01-01'::date + i % 50, 'v' FROM generate_series(1, 500) i;

	-- what happened to the tables since
	ALTER FOREIGN TABLE app.customers RENAME id TO customer_id;
	ALTER FOREIGN TABLE app."Odd Name" RENAME "Key,1" TO "order";
	ALTER FOREIGN TABLE app."Odd Name" DROP COLUMN dropped;
	ALTER FOREIGN TABLE app."Odd Name" ADD COLUMN later text;
	ALTER TABLE app.events RENAME u TO user_id;
	ALTER FOREIGN TABLE app.orders OPTIONS (SET buckets '24');
	INSERT INTO app.orders (customer, day) SELECT i % 500, '2021-01-01' FROM generate_series(1, 500) i;
	DELETE FROM app.orders WHERE customer % 7 = 3 OR day = '2020-02-02';
	DELETE FROM app."Odd Name" WHERE a % 10 = 5;
	DELETE FROM app.events WHERE user_id % 4 = 0;
	UPDATE app.orders SET note = 'late' WHERE customer = 12;
	ALTER FOREIGN TABLE app.orders ADD source text DEFAULT 'shop' NOT NULL, ADD seen timestamptz DEFAULT now(), ADD rank numeric(6,2) DEFAULT 2.50;
	ALTER FOREIGN TABLE app.orders ALTER source SET DEFAULT 'phone', ALTER customer TYPE bigint, ALTER rank TYPE numeric(8,2);
	INSERT INTO app.orders (customer, day) SELECT i % 500, '2022-01-01' FROM generate_series(1, 500) i;
	ALTER FOREIGN TABLE app."Odd Name" ADD bits smallint DEFAULT -5, ADD last text DEFAULT 'gone';
	ALTER FOREIGN TABLE app."Odd Name" ALTER bits TYPE int, DROP COLUMN last;
	ALTER TABLE app.events ADD kind text DEFAULT 'old';
	INSERT INTO app.events VALUES (1, '2020-01-02', 'v', 'new');
});

my $rows = q{
	SELECT 'orders', count(*), md5(string_agg(o::text, ',' ORDER BY o::text COLLATE "C")) FROM app.orders o
	UNION ALL SELECT 'customers', count(*), md5(string_agg(o::text, ',' ORDER BY o::text COLLATE "C")) FROM app.customers o
	UNION ALL SELECT 'odd', count(*), md5(string_agg(o::text, ',' ORDER BY o::text COLLATE "C")) FROM app."Odd Name" o
	UNION ALL SELECT 'events', count(*), md5(string_agg(o::text, ',' ORDER BY o::text COLLATE "C")) FROM app.events o
};
my $spec = q{
	SELECT relid, bucket_by, buckets, sort_by, rows, joins_with FROM bucketfdw.tables ORDER BY relid::text COLLATE "C";
	SELECT ftrelid::regclass, array_agg(o ORDER BY o COLLATE "C")
	FROM pg_foreign_table, unnest(ftoptions) o GROUP BY 1 ORDER BY ftrelid::regclass::text COLLATE "C" 
};
my $join = q{
	SELECT count(*), sum(o.amount) FROM app.orders o JOIN app.customers c ON o.customer = c.customer_id WHERE c.country < 'F'
};

my $file = $node->basedir . '/app.sql';
command_ok([ 'pg_dump', '-U', 'plain', '-n', 'app', '--include-foreign-data=bucketfdw',
	'-d', $node->connstr('a'), '-f', $file ], 'pg_dump as the plain owner');
command_ok([ 'psql', '-X', '-U', 'plain', '-v', 'ON_ERROR_STOP=1', '-q', '-d', $node->connstr('b'), '-f', $file ],
	'restore as the plain owner');
is($node->safe_psql('b', $rows), $node->safe_psql('a', $rows), 'the same rows');
is($node->safe_psql('b', $spec), $node->safe_psql('a', $spec), 'the same specs and options');
is($node->safe_psql('b', $join), $node->safe_psql('a', $join), 'the same answer of the join');
for my $db ('a', 'b')
{
	like($node->safe_psql($db, "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off; EXPLAIN (COSTS OFF) $join"),
		qr/BucketJoin/, "a bucket join in $db");
}
is($node->safe_psql('b', 'SELECT count(*) FROM bucketfdw.verify()'), '0', 'restored files are sound');
my $deleted = 'SELECT sum(deleted_rows) FROM bucketfdw.tables';
cmp_ok($node->safe_psql('a', $deleted), '>', 700, 'rows were deleted');
is($node->safe_psql('b', $deleted), '0', 'none of which were restored');
is($node->safe_psql($_, q{SELECT count(DISTINCT source), bool_and((source = 'phone') = (day = '2022-01-01')) FROM app.orders}), '2|t',
	"$_: older rows have the default of then") for 'a', 'b';
is($node->safe_psql('b', 'SELECT count(*) FROM bucketfdw.missing_values'), '0', 'and restored they need no help');

# the whole database, custom format, as superuser; and a second generation
my $custom = $node->basedir . '/a.dump';
command_ok([ 'pg_dump', '-Fc', '--include-foreign-data=bucketfdw', '-d', $node->connstr('b'), '-f', $custom ], 'pg_dump -Fc');
$node->safe_psql('postgres', 'CREATE DATABASE c OWNER plain');
command_ok([ 'pg_restore', '-e', '-d', $node->connstr('c'), $custom ], 'pg_restore into an empty database');
is($node->safe_psql('c', $rows), $node->safe_psql('a', $rows), 'the same rows again');
is($node->safe_psql('c', $spec), $node->safe_psql('a', $spec), 'the same specs and options again');

# without the switch there are no rows, and no error
command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('a'), '-f', $custom ], 'pg_dump without rows');
$node->safe_psql('postgres', 'CREATE DATABASE d');
command_ok([ 'pg_restore', '-e', '-d', $node->connstr('d'), $custom ], 'pg_restore');
is($node->safe_psql('d', 'SELECT count(*) FROM app.orders'), '0', 'an empty table');
$node->stop;

done_testing();

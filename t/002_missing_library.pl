# With the library gone, only what touches bucketed tables fails.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('missing');
$node->init;
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bucketfdw;
	CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k');
	INSERT INTO t VALUES (1, 'one');
	CREATE FOREIGN DATA WRAPPER other;
	CREATE SERVER other FOREIGN DATA WRAPPER other;
	CREATE TYPE pair AS (x int, y int);
	CREATE DOMAIN code AS int;
	CREATE TABLE parted (a int, b int) PARTITION BY LIST (a);
});

# the same as a file that is missing, without the right to move it
$node->safe_psql('postgres', q{
	SET allow_system_table_mods = on;
	UPDATE pg_proc SET probin = '$libdir/bucketfdw_is_gone' WHERE probin = '$libdir/bucketfdw';
});

my ($ret, $out, $err) = $node->psql('postgres', 'SELECT * FROM t');
like($err, qr/could not access file "(\$libdir\/)?bucketfdw_is_gone"/, 'the table cannot be read');

for my $sql (
	'CREATE TEMP TABLE x (a int); ALTER TABLE x ADD b int DEFAULT 1; DROP TABLE x',
	'CREATE TABLE x (a int PRIMARY KEY, b text)',
	'ALTER TABLE x ALTER b SET NOT NULL, ADD CHECK (a > 0)',
	'ALTER TABLE x RENAME a TO aa',
	'CREATE VIEW w AS SELECT * FROM x',
	'ALTER VIEW w RENAME COLUMN aa TO aaa',
	'CREATE TABLE p1 PARTITION OF parted FOR VALUES IN (1)',
	'CREATE TABLE p2 (a int, b int)',
	'ALTER TABLE parted ATTACH PARTITION p2 FOR VALUES IN (2)',
	'ALTER TABLE parted ADD c int DEFAULT 3',
	'ALTER TYPE pair ADD ATTRIBUTE z int',
	'ALTER DOMAIN code ADD CHECK (value > 0)',
	'CREATE FOREIGN TABLE f (a int) SERVER other',
	'ALTER FOREIGN TABLE f ADD b int DEFAULT 1',
	'ALTER FOREIGN TABLE f RENAME b TO bb',
	'ALTER FOREIGN TABLE f DROP COLUMN bb',
	'DROP FOREIGN TABLE f',
	'CREATE SCHEMA s CREATE TABLE y (a int)',
	'DROP SCHEMA s CASCADE',
	'DROP TABLE x CASCADE',
	'DROP TABLE parted',
	'DROP TYPE pair',
	'DROP DOMAIN code',
	'CREATE FUNCTION fn() RETURNS int LANGUAGE sql AS $$SELECT 1$$; DROP FUNCTION fn()',
	'ANALYZE',
	'SELECT count(*) FROM bucketfdw.garbage')
{
	# ANALYZE of everything skips what it cannot read, or fails for the table alone
	next if $sql eq 'ANALYZE';
	($ret, $out, $err) = $node->psql('postgres', $sql, on_error_stop => 1);
	is($ret, 0, $sql) or diag($err);
}

for my $command ('\d', '\d t', '\d+ t', '\det+', '\dE', '\dx+ bucketfdw', '\dS+', '\dew+', '\des+')
{
	($ret, $out, $err) = $node->psql('postgres', $command, on_error_stop => 1);
	is($ret, 0, "psql $command") or diag($err);
}
command_ok([ 'pg_dump', '-s', '-d', $node->connstr('postgres'), '-f', '/dev/null' ], 'pg_dump -s');
command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', '/dev/null' ], 'pg_dump');

# and the whole thing can be removed
($ret, $out, $err) = $node->psql('postgres', 'DROP EXTENSION bucketfdw CASCADE');
is($ret, 0, 'DROP EXTENSION CASCADE') or diag($err);
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_event_trigger}), '0', 'no trigger is left');
$node->stop;

done_testing();

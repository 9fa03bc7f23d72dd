# On servers with an archive, a physical slot or a standby, durability 'local'
# must be written; a standby says why it cannot read.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', 'bucketfdw.min_free_space = 0');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bucketfdw');

my $create = q{CREATE FOREIGN TABLE %s (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4'%s)};
sub refused
{
	my ($table, $cause, $name) = @_;
	my ($ret, $out, $err) = $node->psql('postgres', sprintf($create, $table, ''));
	like($err, qr/bucketed table "$table" would not reach standbys or the WAL archive.*$cause.*durability 'local'/s, $name);
	my $cta = "SELECT bucketfdw.create_table_as('${table}_cta', 'SELECT 1 AS k', 'k'%s)";
	($ret, $out, $err) = $node->psql('postgres', sprintf($cta, ''));
	like($err, qr/durability => 'local'/, "$name: create_table_as is told of its parameter");
	is($node->safe_psql('postgres', sprintf($cta, q{, durability => 'local'})), '1', "$name: create_table_as with it");
	$node->safe_psql('postgres', "DROP FOREIGN TABLE ${table}_cta");
	($ret, $out, $err) = $node->psql('postgres', sprintf($create, $table, q{, durability 'local'}));
	is($ret, 0, "$name: accepted when it is written") or diag($err);
	return;
}

($node->psql('postgres', sprintf($create, 'alone', '')))[0] == 0 or fail('a server alone');
$node->safe_psql('postgres', q{INSERT INTO alone SELECT i, 'v' FROM generate_series(1, 100) i});

$node->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('slot')});
refused('slot', 'physical replication slot, "slot"', 'physical slot');
my ($ret, $out, $err) = $node->psql('postgres', q{ALTER FOREIGN TABLE slot OPTIONS (DROP durability)});
like($err, qr/would not reach standbys/, 'nor can the option be taken away');
$node->safe_psql('postgres', q{SELECT pg_drop_replication_slot('slot')});

$node->append_conf('postgresql.conf', "archive_mode = on\narchive_command = 'true'");
$node->restart;
refused('archive', 'archive_mode is on', 'archive');
is($node->safe_psql('postgres', 'SELECT count(*) FROM alone'), '100', 'tables that exist go on');
$node->safe_psql('postgres', q{INSERT INTO alone VALUES (101, 'v')});
$node->append_conf('postgresql.conf', 'archive_mode = off');
$node->restart;

# a logical slot is no standby
$node->append_conf('postgresql.conf', 'wal_level = logical');
$node->restart;
$node->safe_psql('postgres', q{SELECT pg_create_logical_replication_slot('logical', 'pgoutput')});
($ret, $out, $err) = $node->psql('postgres', sprintf($create, 'logical', ''));
is($ret, 0, 'a logical slot is no standby') or diag($err);
$node->safe_psql('postgres', q{SELECT pg_drop_replication_slot('logical')});

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'})
	or die 'standby does not connect';
refused('standby', 'a standby is connected', 'standby');
$node->safe_psql('postgres', q{INSERT INTO standby VALUES (1, 'one')});
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', 'SELECT count(*) FROM alone'), '101', 'files of the base backup are read on the standby');
($ret, $out, $err) = $standby->psql('postgres', 'SELECT * FROM standby');
like($err, qr/is missing.*do not reach standbys/s, 'others are an error that says why');
($ret, $out, $err) = $standby->psql('postgres', q{INSERT INTO alone VALUES (102, 'x')});
like($err, qr/read-only|recovery/, 'no writes on a standby');
($ret, $out, $err) = $standby->psql('postgres', 'SELECT bucketfdw.cleanup()');
like($err, qr/during recovery/, 'no cleanup on a standby');
is($standby->safe_psql('postgres', q{SELECT count(*) FROM bucketfdw.verify() WHERE problem = 'missing file'}), '1', 'verify on a standby');
$standby->stop;
$node->stop;

done_testing();

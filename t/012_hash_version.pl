# Files whose rows were placed by another version of the bucket hash: rows are
# read, buckets are not relied on, and the planner says so.
#
# Such files do not exist yet.  One is made here: its footer and its catalog
# row get hash version 2, and its runs are said to be other buckets than those
# of version 1, so that whoever trusts version 1 loses rows.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('hashes');
$node->init(no_data_checksums => 1);
# rows that are sorted into buckets need none of their own: where that is tested it is turned on
$node->append_conf('postgresql.conf',
	"bucketfdw.verify_order = on\nbucketfdw.min_free_space = 0\nbucketfdw.enable_routing = off\njit = off");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bucketfdw;
	CREATE TABLE h AS SELECT i % 1000 AS k, i AS v FROM generate_series(1, 3000) i WHERE bucketfdw.bucket_id(4, i % 1000) < 2;
	CREATE FOREIGN TABLE t (k int, v int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	INSERT INTO t SELECT * FROM h;
	CREATE FOREIGN TABLE u (k int, w int) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	INSERT INTO u SELECT i, -i FROM generate_series(0, 999) i;
	CREATE TABLE p (k int, v int) PARTITION BY RANGE (v);
	CREATE FOREIGN TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	ANALYZE h; ANALYZE t; ANALYZE u;
});

# CRC-32C as PostgreSQL computes it
my @table = map { my $c = $_; $c = $c & 1 ? ($c >> 1) ^ 0x82F63B78 : $c >> 1 for 1 .. 8; $c } 0 .. 255;
sub crc
{
	my $crc = 0xFFFFFFFF;
	$crc = $table[($crc ^ $_) & 0xFF] ^ ($crc >> 8) for unpack('C*', shift);
	return $crc ^ 0xFFFFFFFF;
}

# Hash version 2, and every bucket by two higher.  The payloads of its pages, as many bytes as the catalog says, are the file.
sub change_file
{
	my ($path, $size) = @_;
	my @pages = unpack('(a8192)*', slurp_file($path));
	my $bytes = substr(join('', map { substr($_, 24) } @pages), 0, $size);
	my $tail = substr($bytes, -48);
	my ($offset, $length) = unpack('Q<Q<', $tail);
	my $footer = substr($bytes, $offset, $length);
	is(crc($footer), unpack('V', substr($tail, 28, 4)), 'the checksum of the footer is understood');
	for (my $at = 0; $at < $length;)
	{
		my ($tag, $flags, $len) = unpack('VVQ<', substr($footer, $at, 16));
		if ($tag == 1)
		{
			substr($footer, $at + 16, 4) = pack('V', 2);
		}
		elsif ($tag == 4)
		{
			for (my $run = $at + 16; $run < $at + 16 + $len; $run += 16)
			{
				substr($footer, $run, 4) = pack('V', unpack('V', substr($footer, $run, 4)) + 2);
			}
		}
		$at += 16 + (($len + 7) & ~7);
	}
	substr($tail, 28, 4) = pack('V', crc($footer));
	substr($tail, 36, 4) = pack('V', crc(substr($tail, 0, 36)));
	substr($bytes, $offset, $length) = $footer;
	substr($bytes, -48) = $tail;
	open my $out, '+<:raw', $path or die $!;
	print $out map { substr($_, 0, 24) . substr($bytes, 0, 8168, '') } @pages[0 .. $#pages - 1];
	print $out substr($pages[-1], 0, 24) . $bytes;
	close $out or die $!;
	return;
}

my $join = 'SELECT count(*), sum(v), sum(w) FROM t JOIN u USING (k)';
my $group = 'SELECT count(*), sum(n) FROM (SELECT k, count(*) AS n FROM t GROUP BY k) s';
my $lookup = "SELECT count(*), sum(v) FROM t WHERE k = (SELECT min(k) FROM h)";
my $named = "SELECT count(*) FROM t WHERE bucketfdw.bucket_id(4, k) = 0";
my %answers = map { $_ => $node->safe_psql('postgres', $_ =~ s/\bt\b/h/gr) } ($join, $group, $lookup, $named);
my $forced = 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off; SET enable_hashagg = off; SET enable_sort = off;';
like($node->safe_psql('postgres', "$forced EXPLAIN $join"), qr/BucketJoin/, 'before: joined by buckets');
is($node->safe_psql('postgres', "$forced $_"), $answers{$_}, "before: $_") for sort keys %answers;

my $update = q{
	UPDATE bucketfdw.manifest SET hash_version = 2, first_bucket = 2, last_bucket = 3,
		run_buckets = ARRAY(SELECT b + 2 FROM unnest(run_buckets) WITH ORDINALITY AS r (b, n) ORDER BY n)
	WHERE relid = 't'::regclass;
	UPDATE bucketfdw.spec SET hash_version = 2 WHERE relid = 't'::regclass;};

# plans that were made before
for my $q ($join, $group, 'SELECT count(*), sum(n) FROM (SELECT k, avg(v) AS n FROM t GROUP BY k) s')
{
	my ($ret, $out, $err) = $node->psql('postgres',
		"SET plan_cache_mode = force_generic_plan; $forced PREPARE q AS $q; EXECUTE q; BEGIN; $update EXECUTE q; ROLLBACK;");
	like($err, qr/files of bucketed table "t" are not laid out as the plan expects/, "an old plan is refused: $q");
}
my ($path, $size) = split /\|/, $node->safe_psql('postgres', q{SELECT path, bytes FROM bucketfdw.files WHERE relid = 't'::regclass});
change_file($node->data_dir . "/$path", $size);
$node->safe_psql('postgres', $update);

unlike($node->safe_psql('postgres', "$forced EXPLAIN $_"), qr/BucketJoin|BucketAggregate/, "no buckets: $_")
  for ($join, $group);
like($node->safe_psql('postgres', "$forced EXPLAIN $join"), qr/not used \(old_hash_version: t\)/, 'EXPLAIN says why');
like($node->safe_psql('postgres', "$forced EXPLAIN (VERBOSE) $join"),
	qr/not used \(old_hash_version: t has files of hash version 2, this library makes buckets by version 1\)/, 'and VERBOSE in a sentence');
for my $q (sort keys %answers)
{
	is($node->safe_psql('postgres', $q), $answers{$q}, "after: $q");
	is($node->safe_psql('postgres', "$forced $q"), $answers{$q}, "after, other plans: $q");
	is($node->safe_psql('postgres', "SET bucketfdw.enable_routing = on; $forced $q"), $answers{$q}, "after, with routing: $q");
}
is($node->safe_psql('postgres', q{SELECT kind, reason, hint FROM bucketfdw.why_not('SELECT k, count(*) FROM t GROUP BY k')}),
	q{aggregate|old_hash_version|Install the newer version of bucketfdw, or write the table anew with this one: }
	  . q{SELECT bucketfdw.create_table_as('t', 'SELECT * FROM t', mode => 'overwrite');}, 'why_not of a grouping');
is($node->safe_psql('postgres', q{SELECT used, reason, detail FROM bucketfdw.why_not('u', 't')}),
	'f|old_hash_version|t has files of hash version 2, this library makes buckets by version 1', 'why_not of two tables');
is($node->safe_psql('postgres', q{SELECT count(*) FROM bucketfdw.verify('t')}), '0', 'verify: order and checksums only');
is($node->safe_psql('postgres', q{SELECT joins_with FROM bucketfdw.tables WHERE relid = 'u'::regclass}), '{p1}', 'joins_with leaves it out');

# rows that are written now are placed by version 1
$node->safe_psql('postgres', 'INSERT INTO t SELECT * FROM h; INSERT INTO h SELECT * FROM h');
%answers = map { $_ => $node->safe_psql('postgres', $_ =~ s/\bt\b/h/gr) } keys %answers;
is($node->safe_psql('postgres', "$forced $_"), $answers{$_}, "both versions: $_") for sort keys %answers;
is($node->safe_psql('postgres', qq{SELECT reason FROM bucketfdw.why_not('$join')}), 'old_hash_version', 'both versions: the reason');

# as a partition
$node->safe_psql('postgres', 'DROP TABLE p; CREATE TABLE p (k int, v int) PARTITION BY RANGE (v); ALTER TABLE p ATTACH PARTITION t FOR VALUES FROM (0) TO (10000)');
like($node->safe_psql('postgres', q{SELECT reason || ': ' || detail FROM bucketfdw.why_not('SELECT * FROM p JOIN u USING (k)')}),
	qr/^old_hash_version: t has files/, 'a partition');
$node->safe_psql('postgres', 'ALTER TABLE p DETACH PARTITION t');

# what the hint says
$node->safe_psql('postgres', q{SELECT bucketfdw.create_table_as('t', 'SELECT * FROM t', mode => 'overwrite')});
like($node->safe_psql('postgres', "$forced EXPLAIN $join"), qr/BucketJoin/, 'written anew: joined by buckets');
is($node->safe_psql('postgres', "$forced $_"), $answers{$_}, "written anew: $_") for sort keys %answers;
is($node->safe_psql('postgres', q{SELECT used FROM bucketfdw.why_not('u', 't')}), 't', 'written anew: why_not');
$node->stop;
done_testing();

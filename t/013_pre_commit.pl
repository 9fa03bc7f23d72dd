# Rows that come late: when other libraries and deferred triggers write while the transaction commits, after the rows
# that waited were sealed.  A heap beside the bucketed table tells what is right.

use strict;
use warnings;
use File::Copy qw(copy);
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# the other library
my $build = PostgreSQL::Test::Utils::tempdir();
copy("test/pre_commit/$_", "$build/$_") or die "copy $_: $!" foreach ('Makefile', 'pre_commit.c');
my $made = run_log([ 'make', '-s', '-C', $build ]);
plan skip_all => 'the test library cannot be built' if !$made || !-e "$build/pre_commit.so";

my $node = PostgreSQL::Test::Cluster->new('late');
$node->init;
$node->append_conf('postgresql.conf', "bucketfdw.min_free_space = 0\nwork_mem = '1MB'");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bucketfdw;
	CREATE FOREIGN TABLE tb (k int CHECK (k >= 0), v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	CREATE FOREIGN TABLE other (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	CREATE TABLE th (k int CHECK (k >= 0), v text);
	CREATE TABLE parted (k int, v text) PARTITION BY LIST (v);
	CREATE FOREIGN TABLE part_a PARTITION OF parted FOR VALUES IN ('a') SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	CREATE FOREIGN TABLE part_b PARTITION OF parted FOR VALUES IN ('b') SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
	CREATE TABLE source (k int);
	CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO tb VALUES (NEW.k, 'deferred');
		INSERT INTO th SELECT NEW.k, 'deferred';
		IF (SELECT count(*) FROM tb) <> (SELECT count(*) FROM th) THEN
			RAISE 'bucketed and heap differ';
		END IF;
		RETURN NULL;
	END $$;
	CREATE CONSTRAINT TRIGGER late AFTER INSERT ON source DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION late();
	CREATE FUNCTION fill(n int, word text) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO tb SELECT i, word FROM generate_series(1, n) i;
		INSERT INTO th SELECT i, word FROM generate_series(1, n) i;
	END $$;
});

# The library is loaded before ours: its callback is called after ours.
sub late
{
	my ($query, $sql) = @_;

	$query =~ s/'/''/g;
	return $node->psql('postgres', qq{
		LOAD '$build/pre_commit.so';
		SELECT count(*) FROM tb;
		BEGIN;
		SET LOCAL pre_commit.query = '$query';
		$sql
		COMMIT;
	});
}

sub same
{
	my ($rows, $what) = @_;

	is($node->safe_psql('postgres', q{
		SELECT count(*), (SELECT count(*) FROM th),
			   (SELECT count(*) FROM (TABLE tb EXCEPT ALL TABLE th) x) + (SELECT count(*) FROM (TABLE th EXCEPT ALL TABLE tb) x)
		FROM tb}), "$rows|$rows|0", $what);
	$node->safe_psql('postgres', 'TRUNCATE tb, th, other, parted');
}

late(q{SELECT fill(3, 'late')}, q{SELECT fill(2, 'early');});
same(5, 'rows that come after ours were sealed');

late(q{SELECT fill(3, 'late')}, q{SELECT 1;});
same(3, 'rows that come when there were none before');

late(q{SELECT fill(3, 'late')}, q{INSERT INTO other VALUES (1, 'early');});
same(3, 'rows of a table that had none before');

late(q{SELECT fill(200000, repeat('late', 10))}, q{SELECT fill(2, 'early');});
same(200002, 'many rows');

late(q{DO 'BEGIN FOR i IN 1..5 LOOP PERFORM fill(i, ''late''); END LOOP; END'}, q{SELECT fill(2, 'early');});
same(17, 'rows of several commands');

late(q{DO 'BEGIN PERFORM fill(1, ''late''); BEGIN PERFORM fill(7, ''undone''); RAISE ''no''; EXCEPTION WHEN OTHERS THEN PERFORM fill(2, ''late''); END; END'},
	q{SELECT fill(2, 'early');});
same(5, 'with an exception block');

late(q{WITH a AS (INSERT INTO tb SELECT k + 10, 'copy' FROM tb) INSERT INTO th SELECT k + 10, 'copy' FROM th},
	q{SELECT fill(4, 'early');});
same(8, 'rows that a query of the table gives');

my $file = "$build/rows";
append_to_file($file, join('', map { "$_\tcopied\n" } 1 .. 1000));
late(qq{DO 'BEGIN COPY tb FROM ''$file''; COPY th FROM ''$file''; END'}, q{SELECT fill(4, 'early');});
same(1004, 'COPY');

late(q{INSERT INTO parted SELECT i, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END FROM generate_series(1, 10) i},
	q{INSERT INTO parted VALUES (0, 'a');});
is($node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM part_a), (SELECT count(*) FROM part_b)'), '6|5',
	'rows that are routed to partitions');
same(0, 'nothing else');

# an error there undoes all
$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
my $before = on_disk($node);
my ($ret, $out, $err) = late(q{INSERT INTO tb VALUES (-1, 'late')}, q{SELECT fill(2, 'early');});
like($err, qr/violates check constraint/, 'an error is one of COMMIT');
is(on_disk($node), $before, 'no file is left');
same(0, 'nothing is committed');

# core's own: deferred triggers, ON COMMIT
$node->safe_psql('postgres', q{
	BEGIN;
	CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT generate_series(1, 5) AS k;
	SELECT fill(2, 'early');
	INSERT INTO source SELECT k FROM gone;
	COMMIT;
});
same(7, 'deferred triggers');

late(q{SELECT fill(3, 'late')}, q{
	INSERT INTO source VALUES (1), (2);
	SAVEPOINT a;
	INSERT INTO source VALUES (3);
	ROLLBACK TO a;
	INSERT INTO source VALUES (4);});
same(6, 'deferred triggers, then another library');

# transactions of a procedure
$node->safe_psql('postgres', q{
	CREATE PROCEDURE steps() LANGUAGE plpgsql AS $$
	DECLARE r record;
	BEGIN
		FOR i IN 1..5 LOOP
			PERFORM fill(i, 'step');
			FOR r IN SELECT k FROM tb ORDER BY k LIMIT 3 LOOP
				INSERT INTO source VALUES (r.k);
				IF r.k = 1 THEN
					COMMIT;
				ELSIF i = 4 THEN
					ROLLBACK;
				END IF;
			END LOOP;
		END LOOP;
	END $$;
	CALL steps();
});
is($node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM tb) = (SELECT count(*) FROM th) AND (SELECT count(*) FROM tb) > 0'),
	't', 'transactions of a procedure');
is($node->safe_psql('postgres', 'SELECT count(*) FROM (TABLE tb EXCEPT ALL TABLE th) x'), '0', 'the same rows');
$node->stop;

unlike(slurp_file($node->logfile), qr/leak|TRAP|PANIC/, 'the server has nothing to complain about');
done_testing();

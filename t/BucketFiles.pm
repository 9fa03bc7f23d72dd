# What tests of files share: which are on disk, which somebody names, whether two servers have the same rows.
package BucketFiles;

use strict;
use warnings;
use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(main_forks on_disk nobodys files_named digests defects same_as background until_true comes_back
  $journal);

# Loads that note in a heap table of the same transaction what they wrote, and what tells whether it is there.
our $journal = q{
	CREATE TABLE journal (tab text, lo int, hi int);
	CREATE TABLE enough ();
	CREATE FUNCTION load(tab text, lo int, hi int) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE format('INSERT INTO %I SELECT i, md5(i::text) FROM generate_series($1, $2) i', tab) USING lo, hi;
		INSERT INTO journal VALUES (tab, lo, hi);
	END $$;
	-- files of the first half are there while the transaction goes on: INSERT might write none before its end
	CREATE PROCEDURE load_on(tab text, n int) LANGUAGE plpgsql AS $$
	DECLARE
		lo int := 1;
	BEGIN
		WHILE NOT EXISTS (SELECT FROM enough) LOOP
			PERFORM bucketfdw.create_table_as(tab,
				format('SELECT i AS k, md5(i::text) AS v FROM generate_series(%s, %s) i', lo, lo + n / 2 - 1), mode => 'append');
			INSERT INTO journal VALUES (tab, lo, lo + n / 2 - 1);
			PERFORM pg_sleep(0.1);
			PERFORM load(tab, lo + n / 2, lo + n - 1);
			COMMIT;
			lo := lo + n;
		END LOOP;
	END $$;
	CREATE FUNCTION bucketed() RETURNS SETOF text STABLE LANGUAGE sql AS
		$$ SELECT relname::text FROM pg_class WHERE relkind = 'f' AND relnamespace = 'public'::regnamespace ORDER BY 1 $$;
	CREATE FUNCTION differs() RETURNS SETOF text STABLE LANGUAGE plpgsql AS $$
	DECLARE
		name text;
		want text;
		have text;
	BEGIN
		FOR name IN SELECT bucketed() LOOP
			BEGIN
				EXECUTE format('SELECT concat_ws('' '', count(*), sum(k::bigint), sum(hashtext(v)::bigint)) FROM %I', name) INTO have;
			EXCEPTION WHEN undefined_table THEN
				CONTINUE;	-- the snapshot is older than its end
			END;
			SELECT concat_ws(' ', count(*), sum(i::bigint), sum(hashtext(md5(i::text))::bigint)) INTO want
			FROM journal j CROSS JOIN generate_series(j.lo, j.hi) i WHERE j.tab = name;
			IF want <> have THEN
				RETURN NEXT concat(name, ': ', have, ' instead of ', want);
			END IF;
		END LOOP;
		RETURN QUERY SELECT DISTINCT j.tab || ': is gone' FROM journal j WHERE j.tab NOT IN (SELECT bucketed());
	END $$;
};

# Numbers that rows of pg_class have as their files, and those that rows of ours have.
my $of_core = 'SELECT pg_relation_filenode(oid) FROM pg_class WHERE pg_relation_filenode(oid) IS NOT NULL';
my $of_ours = 'SELECT filenode FROM bucketfdw.manifest UNION ALL SELECT filenode FROM bucketfdw.dead_files';

# Main forks of a database in all tablespaces, relative to the data directory: path and size.  A file of no bytes is
# what a drop leaves to the next checkpoint.
sub main_forks
{
	my ($node, $db) = @_;
	my $oid = $node->safe_psql('postgres', "SELECT oid FROM pg_database WHERE datname = '$db'");
	my $dir = $node->data_dir;
	my %found;

	for my $path (glob("$dir/base/$oid/*"), glob("$dir/pg_tblspc/*/PG_*/$oid/*"))
	{
		my $size = -s $path;
		$found{ substr($path, length($dir) + 1) } = $size if $path =~ m{/\d+$} && $size;
	}
	return \%found;
}

# Of these, those that a query gives no number of; the files first, so that none is missed that is dropped meanwhile.
sub without
{
	my ($node, $db, $query) = @_;
	my $found = main_forks($node, $db);
	my %named = map { $_ => 1 } split /\n/, $node->safe_psql($db, $query);

	my @files = sort grep { m{/(\d+)$} && !$named{$1} } keys %$found;

	return @files;
}

# The files of bucketed tables that are on disk, those of open transactions and orphans included.
sub on_disk
{
	my ($node, $db) = @_;
	return without($node, $db // 'postgres', $of_core);
}

# Files that no row of any catalog names.
sub nobodys
{
	my ($node, $db) = @_;
	return without($node, $db // 'postgres', "$of_core UNION ALL $of_ours");
}

# Files that the manifest names.
sub files_named
{
	my ($node, $db) = @_;
	return $node->safe_psql($db // 'postgres', 'SELECT count(*) FROM bucketfdw.files');
}

# Count and digest of the sorted rows of all bucketed tables, a line each.
sub digests
{
	my ($node, $db) = @_;
	$db //= 'postgres';
	my @tables = split /\n/, $node->safe_psql($db, 'SELECT relid FROM bucketfdw.tables ORDER BY relid::text COLLATE "C"');

	return 'no table' if !@tables;
	return $node->safe_psql($db, join(' UNION ALL ',
		map { "(SELECT '$_', count(*), md5(string_agg(md5(x::text), '' ORDER BY md5(x::text))) FROM $_ x)" } @tables) . ' ORDER BY 1');
}

# Problems that verify() finds.
sub defects
{
	my ($node, $db) = @_;
	return $node->safe_psql($db // 'postgres', 'SELECT * FROM bucketfdw.verify()');
}

# Tests that a standby has what its primary has: rows, files, and no file that nobody names.
sub same_as
{
	my ($node, $standby, $what) = @_;
	my @list;

	$node->safe_psql('postgres', 'CHECKPOINT');
	$node->wait_for_catchup($standby);
	$standby->safe_psql('postgres', 'CHECKPOINT');
	is(digests($standby), digests($node), "$what: the same rows");
	is(defects($standby), '', "$what: sound");
	for my $files (map { main_forks($_, 'postgres') } ($node, $standby))
	{
		# above what initdb makes
		push @list, join "\n", map { "$_ $files->{$_}" } grep { m{/(\d+)$} && $1 >= 16384 } sort keys %$files;
	}
	is($list[1], $list[0], "$what: the same files of the same sizes");
	is(join(',', nobodys($standby)), '', "$what: each of which is named");
	return;
}

# Run SQL in a psql of its own.  Its output goes to files in the folder of the server; the second word tells them apart.
sub background
{
	my ($node, $name, $sql, $db) = @_;
	my $file = $node->basedir . "/$name.sql";

	unlink $file;
	append_to_file($file, $sql);
	return IPC::Run::start(
		[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($db // 'postgres'), '-f', $file ],
		'<', '/dev/null', '>', "$file.out", '2>', "$file.err");
}

# Wait for a condition; dies after a minute.
sub until_true
{
	my ($condition, $what) = @_;

	for my $i (1 .. 1200)
	{
		return if $condition->();
		select(undef, undef, undef, 0.05);
	}
	die "waited in vain: $what";
}

# Wait until a server that restarts takes connections.  Not with poll_query_until or psql: when they may not connect yet,
# their program ends before it has read the query it is sent.
sub comes_back
{
	my ($node) = @_;
	my $out;

	until_true(sub { IPC::Run::run [ 'psql', '-Xq', '-d', $node->connstr('postgres'), '-c', 'SELECT 1' ], '>', \$out, '2>', \$out },
		'the server comes back');
	return;
}

1;

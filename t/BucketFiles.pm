# What tests of files share: which are on disk, which somebody names, whether two servers have the same rows.
package BucketFiles;

use strict;
use warnings;
use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(on_disk nobodys files_named digests defects background until_true);

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
	return $node->safe_psql($db, join ' UNION ALL ',
		map { "(SELECT '$_', count(*), md5(string_agg(md5(x::text), '' ORDER BY md5(x::text))) FROM $_ x)" } @tables);
}

# Problems that verify() finds.
sub defects
{
	my ($node, $db) = @_;
	return $node->safe_psql($db // 'postgres', 'SELECT * FROM bucketfdw.verify()');
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

1;

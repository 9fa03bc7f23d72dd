# pg_upgrade and bucketfdw_pg_upgrade: rows come through; forgotten, the error says what to do.  From this version to
# itself, and from each older one that is installed beside it with the extension.

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Copy;
use File::Path qw(make_path);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($bindir) = run_command([ 'pg_config', '--bindir' ]);
my ($major) = (run_command([ 'pg_config', '--version' ]))[0] =~ /PostgreSQL (\d+)/;
my $script = "$bindir/bucketfdw_pg_upgrade";
my $tmp = PostgreSQL::Test::Utils::tempdir();

# Exit code and messages of the script.
sub script_says
{
	my ($want, $like, $what, @args) = @_;
	my ($in, $said) = ('', '');
	my $run = IPC::Run::start([ $script, @args ], \$in, '>', \$said, '2>', \$said);

	IPC::Run::finish($run);
	is($run->result(0), $want, "$what: exit code");
	like($said, $like, "$what: words");
	return;
}

script_says(0, qr/Usage:.*--link/s, 'help', '--help');
script_says(2, qr/two data directories must be named/, 'one argument', $tmp);
script_says(2, qr/unknown option "--move"/, 'unknown option', $tmp, $tmp, '--move');
script_says(2, qr/exclude each other/, 'two ways', $tmp, $tmp, '--copy', '--link');
script_says(1, qr/is not a data directory/, 'another directory', $tmp, $tmp);

sub new_node
{
	my ($name, %params) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name, %params);

	$node->init(extra => ['--data-checksums']);
	$node->append_conf('postgresql.conf', 'bucketfdw.min_free_space = 0');
	return $node;
}

my $answer = q{SELECT count(*), sum(k), md5(string_agg(v, '' ORDER BY k)), min(c), max(c), min(m), max(m) FROM t};

# Upgrade a cluster of an installation (undef: this one).  first: what becomes of the step at first.
sub upgrade
{
	my ($install, $from, $mode, $first) = @_;
	my $name = "$from to $major $mode";
	my $old = new_node("old_${from}_$mode", $install ? (install_path => $install) : ());
	my $new = new_node("new_${from}_$mode");
	my $space = $from == $major ? '' : "$tmp/space_${from}_$mode";
	my %rows;

	$old->start;
	$old->safe_psql('postgres', 'CREATE DATABASE two');
	if ($space)
	{
		# of one version, pg_upgrade refuses them
		mkdir $space;
		$old->safe_psql('postgres', "CREATE TABLESPACE space LOCATION '$space'");
	}
	for my $db ('postgres', 'two')
	{
		$old->safe_psql($db, q{
			CREATE EXTENSION bucketfdw;
			CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '4');
			INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 20000) i;
			INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 100) i;
			CREATE TYPE mood AS ENUM ('sad', 'glad');
			ALTER FOREIGN TABLE t ADD gone int DEFAULT 1, ADD c text DEFAULT 'older', ADD m mood DEFAULT 'glad';
			ALTER FOREIGN TABLE t DROP gone, ALTER k TYPE bigint;
			DELETE FROM t WHERE k % 10 = 3;
		});
		$old->safe_psql($db, q{SET default_tablespace = space; CREATE TABLE h (k int);
			CREATE FOREIGN TABLE elsewhere (k int) SERVER bucketfdw OPTIONS (bucket_by 'k');
			INSERT INTO elsewhere SELECT generate_series(1, 1000);}) if $space;
		$rows{$db} = $old->safe_psql($db, $answer);
	}
	script_says(1, qr/the server of ".*" seems to run/, "$name: while the old server runs", $old->data_dir, $new->data_dir);

	# a server of Debian keeps versions of columns there, which a newer one's pg_dump does not know
	$old->safe_psql($_, q{SET allow_system_table_mods = on;
		UPDATE pg_attribute SET attoptions = NULL WHERE attoptions::text ~ '^{pg_[a-z]+=[^,]*}$'}) for 'postgres', 'two', 'template1';
	$old->stop;
	script_says(1, qr/there is no database with OID \d+ in/, "$name: before pg_upgrade", $old->data_dir, $new->data_dir);

	my @options = $mode eq 'link' || $mode eq 'swap' ? ("--$mode") : ();
	my $oldbin = $install ? "$install/bin" : $bindir;
	chdir $tmp;
	command_ok([ 'pg_upgrade', '-d', $old->data_dir, '-D', $new->data_dir, '-b', $oldbin, '-B', $bindir,
			'-s', $new->host, '-p', $old->port, '-P', $new->port, @options ], "$name: pg_upgrade");

	# forgotten: an error that says so, no answer
	if ($first eq 'forgotten')
	{
		$new->start;
		my ($ret, $out, $err) = $new->psql('two', $answer);
		isnt($ret, 0, "$name: the step forgotten, reading fails");
		like($err, qr/is missing.*After pg_upgrade, run bucketfdw_pg_upgrade/s, "$name: and the hint names it");
		$new->stop;
	}

	my $way = $mode eq 'swap' ? '--link' : "--$mode";
	my $files = $space ? 4 : 2; # the 100 rows stand in the catalog
	script_says(0, qr/^$files files of bucketed tables brought, 0 were there/, "$name: the step", $old->data_dir, $new->data_dir, $way);
	script_says(0, qr/^0 files of bucketed tables brought, $files were there/, "$name: repeated", $old->data_dir, $new->data_dir, $way);
	$new->start;
	for my $db ('postgres', 'two')
	{
		is($new->safe_psql($db, $answer), $rows{$db}, "$name: $db has its rows");
		is($new->safe_psql($db, 'SELECT count(*) FROM elsewhere'), '1000', "$name: $db, and those of the tablespace") if $space;
		is($new->safe_psql($db, 'SELECT count(*) FROM bucketfdw.verify()'), '0', "$name: $db is sound");
		is($new->safe_psql($db, 'INSERT INTO t VALUES (5000000000, NULL); SELECT bucketfdw.cleanup(); SELECT count(*) FROM t'), "0\n18091",
			"$name: $db takes rows");
	}
	$new->stop;
	command_ok([ 'pg_checksums', '--check', '-D', $new->data_dir ], "$name: checksums");
	return ($old, $new);
}

my ($old, $new) = upgrade(undef, $major, 'copy', 'forgotten');
upgrade(undef, $major, 'link', '');

# another file is in the way
my ($file) = grep { /\/\d+$/ && slurp_file($_, 0) =~ /^.{24}BFDWHEAD/s } glob($old->data_dir . '/base/*/[1-9]*');
my $target = $file;
$target =~ s/^\Q${\$old->data_dir}\E/$new->data_dir/e;
append_to_file($target, 'x');
script_says(1, qr/left alone: "\Q$target\E" is another file/, 'another file is left alone', $old->data_dir, $new->data_dir);

# an interrupted copy leaves no file under the name
unlink $target;
append_to_file("$target.bucketfdw", 'half of it');
script_says(0, qr/^1 files of bucketed tables brought, 1 were there/, 'after an interruption', $old->data_dir, $new->data_dir);
ok(!-e "$target.bucketfdw" && -s $target == -s $file, 'the file is whole');

# folders as pg_upgrade makes them: tablespaces, later segments, what --swap puts aside
my %fake = (
	'old/base/5/20001' => 1,
	'old/base/5/20001.1' => 0,
	'old/base/5/20002' => 0,
	'old/base/moved_for_upgrade/6_old_catalogs/20003' => 1,
	'space a/PG_17_202406281/5/20004' => 1,
	'space a/PG_17_202406281/5/20005' => 0,
	'space a/PG_17_202406281/moved_for_upgrade/6_old_catalogs/20006' => 1);
make_path(map { "$tmp/$_" } 'new/base/5', 'new/base/6', 'old/pg_tblspc', 'new/pg_tblspc', 'space a/PG_18_202506291/6');
for my $name (keys %fake)
{
	make_path("$tmp/$name" =~ s!/[^/]*$!!r);
	$fake{$name} ? copy($file, "$tmp/$name") : append_to_file("$tmp/$name", 'a heap, or a segment');
}
append_to_file("$tmp/old/PG_VERSION", "17\n");
append_to_file("$tmp/new/PG_VERSION", "18\n");
symlink("$tmp/space a", "$tmp/old/pg_tblspc/16400");
script_says(1, qr/there is no tablespace with OID 16400/, 'a tablespace is missing', "$tmp/old", "$tmp/new");
symlink("$tmp/space a", "$tmp/new/pg_tblspc/16400");
script_says(0, qr/^2 files of bucketed tables brought, 3 were there/, 'tablespaces', "$tmp/old", "$tmp/new", '--link');
my $found = join ' ', map { s!^\Q$tmp\E/!!r } glob("$tmp/new/base/*/* '$tmp/space a/PG_18_202506291/*/*'");
is($found, join(' ', 'new/base/5/20001', 'new/base/5/20001.1', 'new/base/6/20003',
		'space a/PG_18_202506291/5/20004', 'space a/PG_18_202506291/6/20006'), 'each at its place, and no other');
script_says(1, qr/cannot go from PostgreSQL 18 to 17/, 'the wrong way', "$tmp/new", "$tmp/old");
script_says(1, qr/is named twice/, 'one cluster', "$tmp/new", "$tmp/new");

# from older versions that have the extension
my @others = grep { -x "$_/bin/postgres" && -e "$_/lib/bucketfdw.so" } map { abs_path($_) } glob("$bindir/../../[1-9][0-9]");
SKIP:
{
	my @older = grep { /(\d+)$/ && $1 < $major } @others;

	skip 'no older version with the extension is installed beside this one', 1 unless @older;
	for my $install (@older)
	{
		my ($from) = $install =~ /(\d+)$/;

		upgrade($install, $from, $_, '') for 'copy', 'link', $major >= 18 ? 'swap' : ();
	}
}

done_testing();

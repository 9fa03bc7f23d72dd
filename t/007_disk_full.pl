# A write that finds no room fails cleanly and leaves no file.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('full');
$node->init;
$node->append_conf('postgresql.conf', 'bucketfdw.min_free_space = 0');
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bucketfdw;
	CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1', compression 'none');
	INSERT INTO t SELECT i, 'v' FROM generate_series(1, 100) i;
});

sub on_disk
{
	return scalar(my @files = glob($node->data_dir . '/bucketfdw/*/*/*'));
}

# the reserve that a write must leave
my ($ret, $out, $err) = $node->psql('postgres', q{
	\set VERBOSITY verbose
	SET bucketfdw.min_free_space = '2000000GB';
	INSERT INTO t SELECT i, 'v' FROM generate_series(1, 100) i;
});
like($err, qr/53100.*not enough free space to write bucketed table "t"/s, 'free space is checked');
like($err, qr/MB are free.*MB are needed/s, 'needed and free are named');
is(on_disk(), 1, 'no file is left');
is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), '100', 'rows as before');

# a write that fails in the middle of a file: the limit on the size of a file
SKIP:
{
	my $pid_file = $node->data_dir . '/postmaster.pid';
	my $log = $node->logfile;
	my $dir = $node->data_dir;

	$node->stop;
	my $started = system('bash', '-c', "ulimit -f 40960 && exec pg_ctl -w -s -D '$dir' -l '$log' start");
	skip 'no limit on file size can be set', 5 if $started != 0;
	$node->_update_pid(1);
	($ret, $out, $err) = $node->psql('postgres', q{
		INSERT INTO t SELECT i, md5(i::text) || md5((i + 1)::text) || md5((i + 2)::text) || md5((i + 3)::text)
		FROM generate_series(1, 600000) i;
	});
	isnt($ret, 0, 'a write fails');
	like($err, qr/could not write (to )?(temporary )?file/, 'and says so');
	is(on_disk(), 1, 'no file is left');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), '100', 'rows as before');
	$node->safe_psql('postgres', q{INSERT INTO t VALUES (101, 'fits')});
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), '101', 'smaller writes work');
	$node->stop;
}

# a directory that cannot be written
SKIP:
{
	skip 'the super user may write anywhere', 2 if $> == 0;
	$node->start;
	my ($table_dir) = glob($node->data_dir . '/bucketfdw/*/*');
	chmod 0500, $table_dir;
	($ret, $out, $err) = $node->psql('postgres', q{INSERT INTO t VALUES (102, 'x')});
	like($err, qr/could not create file "bucketfdw/, 'a file that cannot be created');
	chmod 0700, $table_dir;
	is($node->safe_psql('postgres', q{INSERT INTO t VALUES (102, 'x'); SELECT count(*) FROM t WHERE k > 100}),
		'2', 'and works again');
	$node->stop;
}

# a symbolic link is refused: backups would miss it
rename($node->data_dir . '/bucketfdw', $node->basedir . '/elsewhere') or die $!;
symlink($node->basedir . '/elsewhere', $node->data_dir . '/bucketfdw') or die $!;
$node->start;
($ret, $out, $err) = $node->psql('postgres', q{
	CREATE FOREIGN TABLE s (k int) SERVER bucketfdw OPTIONS (bucket_by 'k');
	INSERT INTO s VALUES (1);
});
like($err, qr/is not a directory/, 'a symbolic link is refused for a new table');
($ret, $out, $err) = $node->psql('postgres', q{INSERT INTO t VALUES (103, 'x')});
like($err, qr/is not a directory/, 'and for an old one');
$node->stop;

done_testing();

# A write that finds no room fails cleanly and leaves no file.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('full');
$node->init;
$node->append_conf('postgresql.conf', "bucketfdw.min_free_space = 0\nbucketfdw.inline_limit = 0");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bucketfdw;
	CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1', compression 'none');
	INSERT INTO t SELECT i, 'v' FROM generate_series(1, 100) i;
});

# the reserve that a write must leave
my ($ret, $out, $err) = $node->psql('postgres', q{
	\set VERBOSITY verbose
	SET bucketfdw.min_free_space = '2000000GB';
	INSERT INTO t SELECT i, 'v' FROM generate_series(1, 100) i;
});
like($err, qr/53100.*not enough free space to write bucketed table "t"/s, 'free space is checked');
like($err, qr/MB are free.*MB are needed/s, 'needed and free are named');
is(on_disk($node), 1, 'no file is left');
is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), '100', 'rows as before');

# a write that fails in the middle of a file: the limit on the size of a file
SKIP:
{
	my $pid_file = $node->data_dir . '/postmaster.pid';
	my $log = $node->logfile;
	my $dir = $node->data_dir;

	$node->stop;
	my $started = system('bash', '-c', "ulimit -f 40960 && exec pg_ctl -w -s -D '$dir' -l '$log' start");
	skip 'no limit on file size can be set', 6 if $started != 0;
	$node->_update_pid(1);
	($ret, $out, $err) = $node->psql('postgres', q{
		INSERT INTO t SELECT i, md5(i::text) || md5((i + 1)::text) || md5((i + 2)::text) || md5((i + 3)::text)
		FROM generate_series(1, 600000) i;
	});
	isnt($ret, 0, 'a write fails');
	like($err, qr/could not write (to )?(temporary )?file/, 'and says so');
	is(on_disk($node), 1, 'no file is left');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), '100', 'rows as before');

	# an error within a batch lets checkpoints go on, in a subtransaction too
	is($node->safe_psql('postgres', q{
		BEGIN;
		SAVEPOINT a;
		DO $$
		BEGIN
			INSERT INTO t SELECT i, md5(i::text) || md5((i + 1)::text) || md5((i + 2)::text) || md5((i + 3)::text)
			FROM generate_series(1, 600000) i;
			PERFORM count(*) FROM t;
		EXCEPTION WHEN OTHERS THEN
			NULL;
		END $$;
		CHECKPOINT;
		SELECT count(*) FROM t;
		COMMIT;
	}), '100', 'a checkpoint after a failed write');
	$node->safe_psql('postgres', q{INSERT INTO t VALUES (101, 'fits')});
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), '101', 'smaller writes work');
	$node->stop;
}

# a directory that cannot be written
SKIP:
{
	skip 'the super user may write anywhere', 3 if $> == 0;
	$node->start;
	my ($dir) = map { $node->data_dir . '/' . s{/[^/]*$}{}r } on_disk($node);
	chmod 0500, $dir;
	($ret, $out, $err) = $node->psql('postgres', q{INSERT INTO t VALUES (102, 'x')});
	like($err, qr/could not create file "base/, 'a file that cannot be created');
	chmod 0700, $dir;
	is($node->safe_psql('postgres', q{INSERT INTO t VALUES (102, 'x'); SELECT count(*) FROM t WHERE k > 100}),
		'2', 'and works again');
	is(join(',', nobodys($node)), '', 'and nothing is left');
	$node->stop;
}

# a file system that is full, with the database on it and the WAL elsewhere
SKIP:
{
	my $small = $node->basedir . '/small';
	my ($uid, $gid, $log, $dir) = ($<, $( + 0, $node->logfile, $node->data_dir);

	# the server sees a file system that it may mount; it must not be root there either
	mkdir $small;
	my $started = system('unshare', '-Urm', 'sh', '-c',
		"mount -t tmpfs -o size=48m none '$small' && exec unshare -U --map-user=$uid --map-group=$gid pg_ctl -w -s -D '$dir' -l '$log' start");
	skip 'no small file system can be had', 6 if $started != 0;
	$node->_update_pid(1);
	$node->safe_psql('postgres', "CREATE TABLESPACE small LOCATION '$small'");
	$node->safe_psql('postgres', 'CREATE DATABASE small TABLESPACE small');
	$node->safe_psql('small', q{
		CREATE EXTENSION bucketfdw;
		CREATE FOREIGN TABLE t (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '1', compression 'none');
		INSERT INTO t SELECT i, 'v' FROM generate_series(1, 100) i;
	});
	my $load = q{INSERT INTO t SELECT i, md5(i::text) || md5((i + 1)::text) || md5((i + 2)::text) || md5((i + 3)::text) FROM generate_series(1, 400000) i};
	($ret, $out, $err) = $node->psql('small', "SET temp_tablespaces = pg_default; $load");
	like($err, qr/could not (write|extend) file .*No space left on device/, 'a full file system is an error');
	is($node->safe_psql('small', 'SELECT count(*) FROM t'), '100', 'rows as before');
	is($node->safe_psql('small', "SET bucketfdw.min_free_space = '10MB'; INSERT INTO t VALUES (101, 'fits'); CHECKPOINT; SELECT count(*) FROM t"),
		'101', 'the room is there again');
	($ret, $out, $err) = $node->psql('small', "SET temp_tablespaces = pg_default; SET bucketfdw.min_free_space = '10MB'; $load");
	like($err, qr/not enough free space.*volume of the tablespace/s, 'the reserve is that of the tablespace');
	is($node->safe_psql('small', 'SELECT count(*) FROM t'), '101', 'rows as before');
	is($node->safe_psql('small', 'SELECT count(*) FROM bucketfdw.verify()'), '0', 'sound');
	$node->stop;
}
unlike(slurp_file($node->logfile), qr/PANIC|TRAP/, 'the server went on');

done_testing();

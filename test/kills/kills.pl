# Processes of a busy server are killed at random moments, again and again: backends, checkpointer, walwriter, or all.
# After each time what was committed is there, nothing else is, and cleanup() leaves no file that nobody names.
#
# KILLS in the environment says how many times (200), KILLS_SEED from which seed.

use strict;
use warnings;
use BucketFiles;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $kills = $ENV{KILLS} || 200;
my $seed = $ENV{KILLS_SEED} || int(rand(1000000));
srand($seed);
diag("seed $seed");

my $node = PostgreSQL::Test::Cluster->new('kills');
$node->init(allows_streaming => 1, extra => ['--data-checksums']);
$node->append_conf('postgresql.conf', q{
bucketfdw.min_free_space = 0
restart_after_crash = on
max_prepared_transactions = 4
autovacuum_naptime = 1s
max_wal_size = 64MB
min_wal_size = 32MB
log_statement = none
log_checkpoints = off
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bucketfdw');
$node->safe_psql('postgres', $journal);
$node->safe_psql('postgres', q{
	-- one step of a session on a table of its own; all that is written is in the journal
	CREATE PROCEDURE step(tab text) LANGUAGE plpgsql AS $$
	DECLARE
		lo int := random() * 100000000;
		n int := CASE WHEN random() < 0.7 THEN 100 ELSE 20000 END;
		what float := random();
		source text := format('SELECT i AS k, md5(i::text) AS v FROM generate_series(%s, %s) i', lo, lo + n);
	BEGIN
		IF to_regclass(tab) IS NULL THEN
			EXECUTE format('CREATE FOREIGN TABLE %I (k int, v text) SERVER bucketfdw OPTIONS (bucket_by ''k'', buckets ''8'')', tab);
		END IF;
		IF what < 0.3 THEN
			PERFORM load(tab, lo, lo + n);
		ELSIF what < 0.5 THEN
			PERFORM bucketfdw.create_table_as(tab, source, mode => 'append');
			INSERT INTO journal VALUES (tab, lo, lo + n);
			PERFORM load(tab, lo, lo + 10);
		ELSIF what < 0.6 THEN
			PERFORM bucketfdw.create_table_as(tab, source, mode => 'append');
			PERFORM load(tab, lo, lo + 10);
			ROLLBACK;
			RETURN;
		ELSIF what < 0.7 THEN
			PERFORM load(tab, lo, lo + 10);
			BEGIN
				PERFORM bucketfdw.create_table_as(tab, source, mode => 'append');
				EXECUTE format('TRUNCATE %I', tab);
				PERFORM 1 / 0;
			EXCEPTION WHEN division_by_zero THEN
				PERFORM load(tab, lo, lo + 20);
			END;
		ELSIF what < 0.8 THEN
			DELETE FROM journal j WHERE j.tab = step.tab;
			EXECUTE format('TRUNCATE %I', tab);
			PERFORM load(tab, lo, lo + n);
		ELSIF what < 0.9 THEN
			DELETE FROM journal j WHERE j.tab = step.tab;
			PERFORM bucketfdw.create_table_as(tab, source, mode => 'overwrite');
			INSERT INTO journal VALUES (tab, lo, lo + n);
		ELSE
			DELETE FROM journal j WHERE j.tab = step.tab;
			PERFORM bucketfdw.create_table_as(tab, source, mode => 'append') WHERE random() < 0.5;
			EXECUTE format('DROP FOREIGN TABLE %I', tab);
		END IF;
		INSERT INTO done VALUES (what);
		COMMIT;
	END $$;
	CREATE PROCEDURE steps(tabs text[]) LANGUAGE plpgsql AS $$
	BEGIN
		LOOP
			CALL step(tabs[1 + floor(random() * cardinality(tabs))::int]);
			COMMIT;
		END LOOP;
	END $$;
	CREATE TABLE done (what float);
	CREATE FOREIGN TABLE prepared (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '8');
});

my $two_phases = join '', map {
	my $lo = $_ * 1000;
	"BEGIN; SELECT load('prepared', $lo, $lo + 100); PREPARE TRANSACTION 'p'; " . ($_ % 3 ? 'COMMIT' : 'ROLLBACK') . " PREPARED 'p'; SELECT pg_sleep(0.01);\n"
} 1 .. 3000;
my %sessions = (
	a => q{CALL steps('{a1, a2}')},
	b => q{CALL steps('{b1, b2}')},
	prepares => $two_phases,
	sweeps => "SELECT bucketfdw.cleanup(); SELECT pg_sleep(0.05);\n" x 3000,
	checkpoints => "CHECKPOINT; SELECT pg_sleep(0.3);\n" x 3000);
# Files of no bytes that nobody names: a crash may have come between the making of a file and its first page.
sub empty_files
{
	$node->safe_psql('postgres', 'CHECKPOINT');
	my $oid = $node->safe_psql('postgres', 'SELECT oid FROM pg_database WHERE datname = current_database()');
	my %named = map { $_ => 1 } split /\n/, $node->safe_psql('postgres',
		'SELECT pg_relation_filenode(oid) FROM pg_class WHERE pg_relation_filenode(oid) IS NOT NULL');
	return scalar(grep { m{/(\d+)$} && -z && !$named{$1} } glob($node->data_dir . "/base/$oid/*"));
}

my %of = ('backend' => 'client backend', 'checkpointer' => 'checkpointer', 'walwriter' => 'walwriter');
my @kinds = ('backend', 'checkpointer', 'walwriter', 'server');
my ($bad, $orphans, $resolved, $waited, %count) = (0, 0, 0, 0);
my $t0 = time;

for my $n (1 .. $kills)
{
	my @running = map { background($node, $_, $sessions{$_}) } sort keys %sessions;
	my $what = $kinds[int(rand(@kinds))];

	sleep(0.2 + rand(1));
	$count{$what}++;
	if ($what eq 'server')
	{
		$node->stop('immediate');
	}
	else
	{
		my ($pid) = split /\n/, $node->safe_psql('postgres',
			"SELECT pid FROM pg_stat_activity WHERE backend_type = '$of{$what}' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1");
		kill 9, $pid if $pid;
	}
	$_->finish for @running;
	if ($what eq 'server') { $node->start }
	else { comes_back($node) }

	# errors other than that of the lost connection are bugs
	my @errors = map { my $e = slurp_file($node->basedir . "/$_.sql.err"); $e =~ /ERROR|PANIC/ ? "$_: $e" : () } sort keys %sessions;
	my $prepared = $node->safe_psql('postgres', 'SELECT count(*) FROM pg_prepared_xacts');
	my @problems = ($node->safe_psql('postgres', 'SELECT differs()'), defects($node));
	my $left = nobodys($node);

	# nothing that a prepared transaction needs is swept
	$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
	$node->safe_psql('postgres', (rand() < 0.5 ? 'COMMIT' : 'ROLLBACK') . q{ PREPARED 'p'}) if $prepared;
	push @problems, $node->safe_psql('postgres', 'SELECT differs()'), defects($node);

	# an id that the crash took back may have been given to this very transaction: then the file waits for the next
	if (nobodys($node))
	{
		$waited++;
		$node->safe_psql('postgres', 'SELECT bucketfdw.cleanup()');
	}
	push @problems, map { "nobody's: $_" } nobodys($node);
	@problems = (@errors, grep { $_ ne '' } @problems);
	$orphans += $left;
	$resolved += $prepared;
	is(join("\n", @problems), '', "kill $n: $what") or $bad++;
	last if $bad >= 5;
	$node->safe_psql('postgres', 'TRUNCATE prepared; DELETE FROM journal WHERE tab = $$prepared$$') if $n % 20 == 0;
}
my $empty = empty_files();
my $steps = $node->safe_psql('postgres', q{SELECT string_agg(n::text, '/' ORDER BY i) FROM (SELECT floor(what * 10) AS i, count(*) AS n FROM done GROUP BY 1) d});
$node->stop;
command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'pg_checksums finds nothing');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|is left alone/, 'nothing in the log');
diag(sprintf('figures: %s; steps %s; %d files were orphans, %d times one waited, %d transactions prepared; %d empty files are left; %d s',
		join(', ', map { "$_ $count{$_}" } sort keys %count), $steps, $orphans, $waited, $resolved, $empty, time - $t0));

done_testing();

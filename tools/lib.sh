# tools/lib.sh: what tools/*, test/*/run and bench/run share.  Source it, do not run it.
#
# Words used here
#   tree    the clone this file lies in; never built in, never written to
#   work    a folder readable by the server's account, with a copy of the tree in work/src and, per flavour, a
#           private PostgreSQL installation in work/pg: the distribution's binaries copied, its libraries linked,
#           the extension installed into it.  The machine's own PostgreSQL is never touched.
#   server  a throw-away cluster in work/, on a unix socket only, ended and removed on exit

BFDW_TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BFDW_ACCOUNT=${BFDW_ACCOUNT:-postgres}          # servers do not run as root
BFDW_CLUSTERS=()                                # data directories of the servers we started
BFDW_SERVER_ENV=()                              # NAME=value settings for the environment of the next server
BFDW_OWN_WORK=                                  # set when this process made the work folder
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
# a caller's settings must not leak into our servers
unset PGHOST PGPORT PGUSER PGDATABASE PGDATA PGOPTIONS PGSERVICE PGPASSFILE PGPASSWORD

say() { printf '%s\n' "== $*" >&2; }
die() { printf '%s\n' "error: $*" >&2; exit 2; }

need_root() {
	[ "$(id -u)" = 0 ] || die "run this as root (for example: sudo $0); servers are started as the account '$BFDW_ACCOUNT'"
}

# Runs a command as the server's account; the environment is kept.  Leading NAME=value settings are for it alone.
as_pg() {
	if [ "$(id -u)" = 0 ]; then
		runuser -u "$BFDW_ACCOUNT" -- env HOME=/tmp "$@"
	else
		"$@"
	fi
}

# apt_need PACKAGE...: installs those that are missing and says which.
apt_need() {
	local p missing=()
	for p in "$@"; do
		dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || missing+=("$p")
	done
	[ ${#missing[@]} = 0 ] && return 0
	need_root
	say "apt-get install ${missing[*]}"
	if [ -z "${BFDW_APT_UPDATED:-}" ]; then
		apt-get -qq -o DPkg::Lock::Timeout=300 update || say "apt-get update failed; trying with the lists at hand"
		export BFDW_APT_UPDATED=1
	fi
	apt-get -qq -y -o DPkg::Lock::Timeout=300 --no-install-recommends install "${missing[@]}" >"${TMPDIR:-/tmp}/bfdw-apt.$$" 2>&1 || {
		tail -n 30 "${TMPDIR:-/tmp}/bfdw-apt.$$" >&2
		die "apt-get could not install ${missing[*]}"
	}
	rm -f "${TMPDIR:-/tmp}/bfdw-apt.$$"
}

# apt_mirror: the archive this machine's apt takes its release from.
apt_mirror() {
	local codename uri
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
	uri=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
		awk -v c="$codename" '$3 == "main" && ($2 == c || $2 == "stable") { print $1; exit }')
	[ -n "$uri" ] || uri=$(sed -n 's/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\/debian\/\{0,1\}\) .*/\2/p; s/^URIs: *\([^ ]*\/debian\/\{0,1\}\)\( .*\)\{0,1\}$/\1/p' \
		/etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)
	[ -n "$uri" ] || die "found no archive in /etc/apt to take packages from"
	printf '%s\n' "${uri%/}"
}

pg_bin() { printf '/usr/lib/postgresql/%s/bin\n' "$1"; }

# pg_packages MAJOR: what building for and running that version takes.
pg_packages() {
	printf '%s\n' build-essential "postgresql-$1" "postgresql-server-dev-$1" liblz4-dev libzstd-dev libicu-dev libipc-run-perl
}

# bfdw_default_major: the newest version that is installed with its headers, else the one the distribution offers.
bfdw_default_major() {
	local m
	m=$(for d in /usr/lib/postgresql/*/bin; do
		[ -x "$d/postgres" ] && [ -x "$d/pg_config" ] && [ -d "/usr/include/postgresql/$(basename "$(dirname "$d")")/server" ] &&
			basename "$(dirname "$d")"
	done 2>/dev/null | sort -n | tail -n 1)
	if [ -z "$m" ]; then
		if [ -z "${BFDW_APT_UPDATED:-}" ]; then apt-get -qq update >&2 || true; fi
		m=$(apt-cache depends postgresql 2>/dev/null | sed -n 's/.*Depends: postgresql-\([0-9][0-9]*\)$/\1/p' | head -n 1)
	fi
	printf '%s\n' "${m:-15}"
}

# work_make [DIR]: the work folder; with DIR an earlier one is used again (builds are then incremental) and kept.
work_make() {
	if [ -n "${1:-}" ]; then
		mkdir -p "$1"
		BFDW_WORK=$(cd "$1" && pwd)
	else
		BFDW_WORK=$(mktemp -d "${BFDW_TMP:-/tmp}/bucketfdw.XXXXXX")
		BFDW_OWN_WORK=$BFDW_WORK
	fi
	chmod 755 "$BFDW_WORK"
	[ "$(id -u)" != 0 ] || chown "$BFDW_ACCOUNT" "$BFDW_WORK"
	export BFDW_WORK
	cd "$BFDW_WORK" || return 1 # where we were may be closed to the server's account
}

# tree_copy DIR: a copy of the tree without what a build left in it; files that have gone from the tree go there too.
tree_copy() {
	local to=$1 f
	mkdir -p "$to"
	rm -rf "$to"/{sql,expected,specs,t,test,tools,bench,results,output_iso,tmp_check}
	tar -C "$BFDW_TREE" --exclude=./.git --exclude='*.o' --exclude='*.so' --exclude='*.bc' --exclude='*.a' --exclude='*.d' \
		--exclude='./test/*/build' \
		--exclude=./results --exclude=./output_iso --exclude=./tmp_check --exclude=./regression.\* -cf - . | tar -C "$to" -xf -
	if [ -d "$to/src" ]; then
		(cd "$to" && find src -name '*.[ch]') | while read -r f; do
			[ -e "$BFDW_TREE/$f" ] || rm -f "$to/$f" "$to/${f%.c}.o"
		done
	fi
	[ "$(id -u)" != 0 ] || chown -R "$BFDW_ACCOUNT" "$to"
}

# pg_private MAJOR PREFIX: a copy of the distribution's PostgreSQL under PREFIX.  Its programs look for libraries and
# share files relative to themselves, so the copy finds what is installed into it with DESTDIR=PREFIX.
pg_private() {
	local m=$1 to=$2
	[ -x "$to/usr/lib/postgresql/$m/bin/postgres" ] && return 0
	as_pg mkdir -p "$to/usr/lib/postgresql/$m" "$to/usr/share/postgresql"
	as_pg ln -s /usr/include "$to/usr/include" # so that this pg_config serves for compiling as well
	as_pg cp -a "/usr/lib/postgresql/$m/bin" "$to/usr/lib/postgresql/$m/"
	as_pg cp -as "/usr/lib/postgresql/$m/lib" "$to/usr/lib/postgresql/$m/"
	as_pg cp -as "/usr/share/postgresql/$m" "$to/usr/share/postgresql/"
}

# bfdw_build MAJOR [FLAVOUR [MAKE-ARGUMENT...]]: copies the tree, builds it, installs it into a private PostgreSQL.
# Sets BFDW_SRC and BFDW_PG (the folder of the server's programs).  A caller that has built already hands both down.
bfdw_build() {
	local m=$1 flavour=${2:-} prefix log
	[ $# -gt 1 ] && shift 2 || shift
	if [ -z "$flavour" ] && [ -n "${BFDW_PG:-}" ] && [ -n "${BFDW_SRC:-}" ] && [ -n "${BFDW_WORK:-}" ]; then
		cd "$BFDW_WORK"
		return
	fi
	[ -n "${BFDW_WORK:-}" ] || work_make
	cd "$BFDW_WORK" || return 1
	BFDW_MAJOR=$m
	BFDW_SRC=$BFDW_WORK/src${flavour:+-$flavour}
	prefix=$BFDW_WORK/pg${flavour:+-$flavour}
	BFDW_PG=$prefix/usr/lib/postgresql/$m/bin
	log=$BFDW_WORK/build${flavour:+-$flavour}.log
	tree_copy "$BFDW_SRC"
	pg_private "$m" "$prefix"
	as_pg make -s -C "$BFDW_SRC" -j"$(nproc)" PG_CONFIG="$(pg_bin "$m")/pg_config" "$@" >"$log" 2>&1 &&
		as_pg make -s -C "$BFDW_SRC" install DESTDIR="$prefix" PG_CONFIG="$(pg_bin "$m")/pg_config" "$@" >>"$log" 2>&1 || {
		tail -n 60 "$log" >&2
		say "the build failed"
		return 1
	}
	export BFDW_SRC BFDW_PG BFDW_MAJOR
}

# server_start NAME [CONF-LINE...]: a fresh cluster of locale C, superuser postgres; sets PGHOST, PGPORT, PGUSER and
# puts the private programs first in PATH.
server_start() {
	local name=$1 dir
	shift
	dir=$(as_pg mktemp -d "$BFDW_WORK/$name.XXXXXX")
	chmod 755 "$dir"
	as_pg "$BFDW_PG/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --no-locale -N >"$dir/initdb.log" 2>&1 || {
		cat "$dir/initdb.log" >&2
		return 1
	}
	# the port only names the socket, which lies in a folder of its own
	{
		printf "listen_addresses = ''\nunix_socket_directories = '%s'\nport = 5432\n" "$dir"
		printf "timezone = 'UTC'\nlc_messages = 'C'\nlog_line_prefix = '%%m [%%p] '\n"
		printf '%s\n' "$@"
	} >>"$dir/data/postgresql.conf"
	BFDW_CLUSTERS+=("$dir/data")
	PGHOST=$dir PGPORT=5432 PGUSER=postgres BFDW_DATA=$dir/data BFDW_LOG=$dir/server.log
	export PGHOST PGPORT PGUSER BFDW_DATA BFDW_LOG
	case ":$PATH:" in *":$BFDW_PG:"*) ;; *) export PATH="$BFDW_PG:$PATH" ;; esac
	as_pg timeout -k 5 90 env "${BFDW_SERVER_ENV[@]}" "$BFDW_PG/pg_ctl" -D "$dir/data" -l "$BFDW_LOG" -w -t 60 start >/dev/null 2>&1 || {
		tail -n 30 "$BFDW_LOG" >&2 || true
		say "the server did not start"
		return 1
	}
}

# server_checksums: the server that runs gets checksums of pages, which 18 has by itself.
server_checksums() {
	[ "$(q -c 'SHOW data_checksums')" = off ] || return 0
	{
		as_pg "$BFDW_PG/pg_ctl" -D "$BFDW_DATA" -m fast -w stop && as_pg "$BFDW_PG/pg_checksums" --enable -D "$BFDW_DATA" &&
			as_pg "$BFDW_PG/pg_ctl" -D "$BFDW_DATA" -l "$BFDW_LOG" -w start
	} >/dev/null
}

# standby_start NAME [CONF-LINE...]: a standby of the server that runs; sets BFDW_STANDBY, the folder of its socket.  The
# port is that of the server.
standby_start() {
	local name=$1 dir
	shift
	dir=$(as_pg mktemp -d "$BFDW_WORK/$name.XXXXXX")
	chmod 755 "$dir"
	as_pg "$BFDW_PG/pg_basebackup" -D "$dir/data" -R -c fast -X stream >"$dir/backup.log" 2>&1 || {
		cat "$dir/backup.log" >&2
		return 1
	}
	{
		printf "unix_socket_directories = '%s'\n" "$dir"
		printf '%s\n' "$@"
	} >>"$dir/data/postgresql.conf"
	BFDW_CLUSTERS+=("$dir/data")
	as_pg timeout -k 5 90 "$BFDW_PG/pg_ctl" -D "$dir/data" -l "$dir/server.log" -w -t 60 start >/dev/null 2>&1 || {
		tail -n 30 "$dir/server.log" >&2 || true
		say "the standby did not start"
		return 1
	}
	BFDW_STANDBY=$dir
	export BFDW_STANDBY
}

server_stop() {
	local dir=${1:-$BFDW_DATA}
	[ -f "$dir/postmaster.pid" ] || return 0
	as_pg "$BFDW_PG/pg_ctl" -D "$dir" -m immediate -w -t 30 stop >/dev/null 2>&1
}

# On exit: no server of ours keeps running, no file of ours stays (KEEP=1 keeps them and says where).
bfdw_cleanup() {
	local dir
	for dir in "${BFDW_CLUSTERS[@]}"; do server_stop "$dir"; done
	if [ -n "${KEEP:-}" ] && [ -n "${BFDW_WORK:-}" ]; then
		say "kept in $BFDW_WORK"
		return 0
	fi
	for dir in "${BFDW_CLUSTERS[@]}"; do rm -rf "$(dirname "$dir")"; done
	[ -z "$BFDW_OWN_WORK" ] || rm -rf "$BFDW_OWN_WORK"
}
bfdw_on_exit() { trap bfdw_cleanup EXIT; trap 'exit 130' INT; trap 'exit 143' TERM HUP; }

# q [PSQL-ARGUMENT...]: one value or table out of psql, unaligned, without the user's ~/.psqlrc.
q() { as_pg "$BFDW_PG/psql" -X -A -t -q -v ON_ERROR_STOP=1 -d "${BFDW_DB:-postgres}" "$@"; }

# time_ms SQL [SETUP-SQL]: execution time of one statement in milliseconds as psql's \timing sees it.
time_ms() {
	printf '%s\n' "${2:-}" '\timing on' '\o /dev/null' "$1" |
		as_pg "$BFDW_PG/psql" -X -q -v ON_ERROR_STOP=1 -d "${BFDW_DB:-postgres}" 2>&1 |
		awk '/^Time: / { t = $2 } !/^Time: / && NF { print > "/dev/stderr" } END { if (t == "") exit 1; print t }'
}

median() { sort -g | awk '{ a[NR] = $1 } END { if (NR == 0) exit 1; print (NR % 2) ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }
calc() { awk "BEGIN { printf \"${2:-%.2f}\", $1 }"; }

# run_query SETTINGS SQL: sets ANSWER (the rows, one line) and MS.
run_query() {
	local out
	out=$(printf '%s\n' "SET client_min_messages = warning;" "$1" '\timing on' "$2" |
		as_pg "$BFDW_PG/psql" -X -A -t -q -v ON_ERROR_STOP=1 -d "${BFDW_DB:-postgres}") || return 1
	MS=$(awk '/^Time: / { t = $2 } END { print t }' <<<"$out")
	ANSWER=$(awk '!/^Time: /' <<<"$out" | paste -sd ' ')
	[ -n "$MS" ]
}

# plan SETTINGS SQL [OPTIONS]: what EXPLAIN says.
plan() {
	printf '%s\n' "SET client_min_messages = warning;" "$1" "EXPLAIN (${3:-COSTS OFF}) $2" |
		as_pg "$BFDW_PG/psql" -X -A -t -q -v ON_ERROR_STOP=1 -d "${BFDW_DB:-postgres}"
}

# is_bucket_join: does the plan on standard input join by buckets, with neither a hash nor a sort anywhere in it?
is_bucket_join() {
	local p
	p=$(cat)
	grep -qF 'Custom Scan (BucketJoin)' <<<"$p" && ! grep -qE '(^|[ >])(Parallel )?(Hash( (Join|Anti|Semi|Left|Right|Full).*)?|HashAggregate|Sort|Incremental Sort)( |$)' <<<"$p"
}

# load_conf: settings for loading and joining millions of rows, memory measured by the machine's.
load_conf() {
	local mb
	mb=$(awk '/^MemTotal:/ { m = int($2 / 1024 / 4); print (m > 8192) ? 8192 : (m < 128) ? 128 : m }' /proc/meminfo)
	printf '%s\n' "shared_buffers = ${mb}MB" "max_wal_size = 8GB" "checkpoint_timeout = 30min" "maintenance_work_mem = 256MB" "jit = off"
}

# machine: one line about what the figures were taken on.
machine() {
	printf '%s, %s cores, %s GB memory, %s, PostgreSQL %s\n' \
		"$(awk -F ': *' '/^model name/ { print $2; exit }' /proc/cpuinfo)" "$(nproc)" \
		"$(awk '/^MemTotal:/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)" \
		"$(. /etc/os-release && echo "$PRETTY_NAME")" "$(q -c 'SHOW server_version')"
}

# space_need BYTES: ends with a word of advice if the work folder has not that much room.
space_need() {
	local free
	free=$(df -PB1 "${BFDW_TMP:-/tmp}" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$1" ] || die "this needs about $(($1 / 1048576)) MB in ${BFDW_TMP:-/tmp}, $((free / 1048576)) MB are free; set BFDW_TMP to another folder, or ROWS to fewer rows"
}

# bucketfdw: build, install, check with PGXS
#
#   make                     with the pg_config in PATH; another one with PG_CONFIG=/path/to/pg_config
#   make install
#   make installcheck        against a running server (superuser)
#   make installcheck REGRESS='lookup scan'    files of sql/ alone, setup before them
#   make DEVEL=1             warnings are errors, as in our own builds
#   make SANITIZE=1          address and undefined-behaviour sanitizers, see tools/test

EXTENSION = bucketfdw
MODULE_big = bucketfdw
DATA = bucketfdw--1.0.sql
SCRIPTS = tools/bucketfdw_pg_upgrade
PGFILEDESC = "bucketfdw - bucketed, sorted, columnar tables"

SOURCE_FOLDERS = src $(patsubst %/,%,$(wildcard src/*/ src/*/*/ src/*/*/*/))
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard $(addsuffix /*.c,$(SOURCE_FOLDERS)))))
ALL_HEADERS = $(wildcard $(addsuffix /*.h,$(SOURCE_FOLDERS)))

REGRESS_OPTS = --inputdir=. --encoding=UTF8 --no-locale
ifeq ($(origin REGRESS),command line)
override REGRESS := setup $(filter-out setup,$(REGRESS))
else
REGRESS := setup $(filter-out setup,$(sort $(patsubst sql/%.sql,%,$(wildcard sql/*.sql))))
ISOLATION := $(strip $(sort $(patsubst specs/%.spec,%,$(wildcard specs/*.spec))))
ISOLATION_OPTS = --inputdir=. --encoding=UTF8 --no-locale --load-extension=bucketfdw
TAP_TESTS = 1
endif

PG_CPPFLAGS = -I$(srcdir)/src
PG_CFLAGS = -O2
SHLIB_LINK = -llz4 -lzstd

ifdef DEVEL
# the exceptions are for PostgreSQL's own headers
PG_CFLAGS += -Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
endif
ifdef SANITIZE
PG_CFLAGS += -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
SHLIB_LINK += -fsanitize=address,undefined
endif

EXTRA_CLEAN = output_iso tmp_check_iso

# the code is built for this server only; bitcode for inlining into JIT-compiled queries gains nothing
override with_llvm := no

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# PGXS looks for it in bindir/tools
uninstall: uninstall-scripts
uninstall-scripts:
	rm -f '$(DESTDIR)$(bindir)/$(notdir $(SCRIPTS))'

# Only what is marked PGDLLEXPORT is visible.  From 16 on PGXS builds modules so; 15 has to be told.
ifeq ($(findstring -fvisibility=hidden,$(CFLAGS_SL_MOD)),)
override CPPFLAGS += -D'PGDLLEXPORT=__attribute__((visibility("default")))'
override CFLAGS += -fvisibility=hidden
endif

# folders of kernels: decoders, column loops, merges, expressions of batches
KERNELS = src/vector/% src/format/% src/exec/scan/merge/% src/exec/join/merge/% src/exec/agg/expr/%
ifndef SANITIZE
$(filter $(KERNELS),$(OBJS)): override CFLAGS += -O3 -ftree-vectorize
endif

# a changed header rebuilds everything
$(OBJS): $(ALL_HEADERS) Makefile

/*
 * tools/no_gettext.c: the gettext family as functions that give back the message they get.
 *
 * The C library's own functions can wait for ever on their lock in a server into which the address sanitizer has been
 * loaded with LD_PRELOAD, before the server's main() has done anything.  tools/suite compiles this and loads it right
 * after the sanitizer.
 *
 * It also takes LD_PRELOAD out of the server's environment, so that programs the server starts (COPY ... PROGRAM) run
 * without the sanitizer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void
children_without_preload(void)
{
	if (strcmp(program_invocation_short_name, "postgres") == 0)
		unsetenv("LD_PRELOAD");
}

char *
bindtextdomain(const char *domain, const char *dir)
{
	return (char *) dir;
}

char *
bind_textdomain_codeset(const char *domain, const char *codeset)
{
	return (char *) codeset;
}

char *
textdomain(const char *domain)
{
	return (char *) domain;
}

char *
gettext(const char *msg)
{
	return (char *) msg;
}

char *
dgettext(const char *domain, const char *msg)
{
	return (char *) msg;
}

char *
dcgettext(const char *domain, const char *msg, int category)
{
	return (char *) msg;
}

char *
ngettext(const char *one, const char *many, unsigned long n)
{
	return (char *) (n == 1 ? one : many);
}

char *
dngettext(const char *domain, const char *one, const char *many, unsigned long n)
{
	return (char *) (n == 1 ? one : many);
}

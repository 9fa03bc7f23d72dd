/*
 * key_hash.h
 *	  The frozen hash: functions for the table of key classes.
 */
#ifndef BF_KEY_HASH_H
#define BF_KEY_HASH_H

#include "spec/key_class.h"

extern uint32 KeyHashInteger(KeyClass keyclass, Oid typid, Datum value, uint32 seed);
extern uint32 KeyHashFloat(KeyClass keyclass, Oid typid, Datum value, uint32 seed);
extern uint32 KeyHashDate(KeyClass keyclass, Oid typid, Datum value, uint32 seed);
extern uint32 KeyHashTimestamp(KeyClass keyclass, Oid typid, Datum value, uint32 seed);
extern uint32 KeyHashUuid(KeyClass keyclass, Oid typid, Datum value, uint32 seed);
extern uint32 KeyHashText(KeyClass keyclass, Oid typid, Datum value, uint32 seed);

#endif							/* BF_KEY_HASH_H */

/* contract.h - the queue as a queue policy sees it; see contract.c. */
#ifndef WEIRLUA_CONTRACT_H
#define WEIRLUA_CONTRACT_H

#include "handle/state.h"
#include "queue/flat.h"

/* User values of a simulator: 1 the functions of the placer, 2 an error of them, 3 the sandbox of the queue policy, 4 a
 * function from the order of submission of a job and the name of a field to the value, 5 numbers by value. */
enum { FLAT_PLACER = 1, FLAT_ERROR, FLAT_POLICY, FLAT_ASK, FLAT_NUMBERS, FLAT_USER_VALUES = FLAT_NUMBERS };

/* The facts of a job other than its times and units, in the order of flat_job.about. */
#define FLAT_ABOUT_NAMES "user", "qos", "priority", "preemptible", "name", "bank", "project", "queue", "urgency"

/* Puts the simulator at index 1, which has the sandbox, in the place of the queue of the policy. weight: the units that
 * a policy sees for one unit of the simulator. Raises. */
void weirlua_contract_open(lua_State *L, struct flat *s, int32_t weight);
void weirlua_contract_close(lua_State *L, struct flat *s);
/* A method of the simulator at index 1 begins, and may call the policy. Raises where the sandbox is closed. */
void weirlua_contract_enter(lua_State *L, struct flat *s);
/* Reads the fields of a job from the table at `arg`, if there is one, and keeps their values for the policy. Raises. */
void weirlua_contract_about(lua_State *L, struct flat *s, int arg, struct flat_job *j);
/* After a failure: pushes nil, false, the message, and the number of the job that the policy was called for, or nil,
 * and whether the message is the name of a limit, turns or seconds; returns the number of values. 0 where
 * the policy has not failed. */
int weirlua_contract_error(lua_State *L, const struct flat *s);

#endif

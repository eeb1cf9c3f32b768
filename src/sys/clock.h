/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two clocks. Only the ends of the pipeline read them, once a step; whatever decides gets the
 * reading as a value. Neither can fail on Linux.
 */
#ifndef SYS_CLOCK_H
#define SYS_CLOCK_H

#include "bankfull/quantity.h"

struct mono clock_mono(void); /* CLOCK_MONOTONIC: for deadlines and ages, never shown */
struct wall clock_wall(void); /* CLOCK_REALTIME: shown and stored, never subtracted */

/* `from` plus that many milliseconds; stays at the last instant instead of wrapping. */
struct mono mono_add_ms(struct mono from, uint64_t ms);

/* Whole milliseconds from `from` to `to`, rounded up; 0 when `to` is not later. */
uint64_t mono_ms_until(struct mono from, struct mono to);

#endif

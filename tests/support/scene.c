/* SPDX-License-Identifier: Apache-2.0 */
#include "support/scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

enum rule_answer scene_ask(const char *rule, struct scene *sc)
{
	return judge_over_time(rule, sc->s, sc->l, &sc->h, &sc->f);
}

void scene_done(struct scene *sc)
{
	free(sc->l);
	snap_free(sc->s);
}

void scene_expect(const char *rule, struct scene *sc, enum rule_answer answer, const char *what)
{
	enum rule_answer got = scene_ask(rule, sc);
	if (got != answer)
		fail_msg("%s: %d, not %d", what, (int)got, (int)answer);
	if (got == RULE_FIRED)
		judge_whole(&sc->f);
	else
		assert_true((got == RULE_INCONCLUSIVE) == (sc->f.n_missing > 0));
	scene_done(sc);
}

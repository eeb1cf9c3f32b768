/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/inject_parts.h"

static bool is_nothing(const struct yml_tree *tree, unsigned node)
{
	const struct yml_node *at = yml_at(tree, node);
	return yml_is_null(tree, node) || ((at->kind == YML_MAP || at->kind == YML_LIST) && at->n == 0);
}

/* The next pair of a map whose value is something. */
static unsigned skip_nothing(const struct yml_tree *tree, unsigned key)
{
	while (key && is_nothing(tree, yml_at(tree, key)->next))
		key = yml_at(tree, yml_at(tree, key)->next)->next;
	return key;
}

static bool nodes_agree(const struct yml_tree *a, unsigned x, const struct yml_tree *b, unsigned y);

static bool maps_agree(const struct yml_tree *a, unsigned x, const struct yml_tree *b, unsigned y)
{
	unsigned left = skip_nothing(a, yml_at(a, x)->first), right = skip_nothing(b, yml_at(b, y)->first);
	while (left && right) {
		unsigned value = yml_at(a, left)->next, other = yml_at(b, right)->next;
		if (!str_eq(yml_at(a, left)->value, yml_at(b, right)->value) || !nodes_agree(a, value, b, other))
			return false;
		left = skip_nothing(a, yml_at(a, value)->next);
		right = skip_nothing(b, yml_at(b, other)->next);
	}
	return !left && !right;
}

static bool lists_agree(const struct yml_tree *a, unsigned x, const struct yml_tree *b, unsigned y)
{
	unsigned left = yml_at(a, x)->first, right = yml_at(b, y)->first;
	for (; left && right; left = yml_at(a, left)->next, right = yml_at(b, right)->next)
		if (!nodes_agree(a, left, b, right))
			return false;
	return !left && !right;
}

static bool nodes_agree(const struct yml_tree *a, unsigned x, const struct yml_tree *b, unsigned y)
{
	const struct yml_node *left = yml_at(a, x), *right = yml_at(b, y);
	if (is_nothing(a, x) || is_nothing(b, y))
		return is_nothing(a, x) && is_nothing(b, y);
	if (left->kind != right->kind)
		return false;
	switch (left->kind) {
	case YML_SCALAR:
		return left->plain == right->plain && str_eq(left->value, right->value);
	case YML_MAP:
		return maps_agree(a, x, b, y);
	case YML_LIST:
		return lists_agree(a, x, b, y);
	case YML_ALIAS:
		/* What it stands for is compared where it stands. */
		return yml_at(a, left->target)->kind == yml_at(b, right->target)->kind;
	}
	return false;
}

bool trees_agree(const struct yml_tree *a, const struct yml_tree *b)
{
	if (a->n_documents != b->n_documents)
		return false;
	for (unsigned i = 0; i < a->n_documents; i++)
		if (!nodes_agree(a, a->documents[i], b, b->documents[i]))
			return false;
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
import { h } from './dom.js';

export default {
	title: () => 'Fleet',
	mount(root)
	{
		root.append(h('h1', null, 'Fleet'));
		return { unmount() {} };
	},
};

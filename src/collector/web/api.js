/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the collector's API. Whoever calls gets the decoded body, or an ApiError that says what to tell people. */
import { learn } from './now.js';

export class ApiError extends Error {
	constructor(status, code, message)
	{
		super(message);
		this.status = status;
		this.code = code;
	}
}

const BASE = '/api/v1';

/* A list may be long, but a page that asks for 10,000 of anything has a bug. */
function url(path, params)
{
	const query = new URLSearchParams();
	for (const [key, value] of Object.entries(params ?? {}))
		if (value !== null && value !== undefined && value !== '')
			query.append(key, value);
	const text = query.toString();
	return BASE + path + (text ? '?' + text : '');
}

/* The login page leads back to what stands behind #, which it is given the same way: it never reaches the server. */
function toLogin()
{
	location.assign('/login' + location.hash);
}

/* By fetch(): a form of a page without a referrer is sent with the Origin "null", which is nobody's. */
export async function logOut()
{
	const response = await fetch('/logout', { method: 'POST', credentials: 'same-origin', redirect: 'manual' });
	if (response.ok || response.type === 'opaqueredirect')
		location.assign('/login');
}

/* Not while nobody answers: the browser's own error page would be all that is left. */
export function reload()
{
	return get('/me').then(() => location.reload(), () => {});
}

async function readError(response)
{
	let error = null;
	try {
		error = (await response.json()).error;
	} catch {
		/* Not one of ours: a proxy's page. Its status is all there is. */
	}
	return new ApiError(response.status, error?.code ?? 'http', error?.message ?? `the answer was ${response.status}`);
}

async function call(method, path, { params, body, signal } = {})
{
	let response;
	try {
		response = await fetch(url(path, params), {
			method,
			signal,
			credentials: 'same-origin',
			redirect: 'error',
			headers: body === undefined ? { Accept: 'application/json' } :
				{ Accept: 'application/json', 'Content-Type': 'application/json' },
			body: body === undefined ? undefined : JSON.stringify(body),
		});
	} catch (error) {
		if (error.name === 'AbortError')
			throw error;
		throw new ApiError(0, 'unreachable', 'the collector does not answer');
	}
	if (response.status === 401)
		toLogin();
	if (!response.ok)
		throw await readError(response);
	if (response.status === 204)
		return null;
	const answer = await response.json();
	if (Number.isFinite(answer?.now_ms))
		learn(answer.now_ms);
	return answer;
}

export function get(path, params, { signal } = {})
{
	return call('GET', path, { params, signal });
}

export function post(path, body, { signal } = {})
{
	return call('POST', path, { body, signal });
}

export function del(path, { signal } = {})
{
	return call('DELETE', path, { signal });
}

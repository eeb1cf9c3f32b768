// SPDX-License-Identifier: Apache-2.0
// The login page: sends the token, says what is wrong with it, and goes back to where one was (its #... is kept in ours).
// Without script the form does the same by itself, and leads to the fleet.

const form = document.getElementById("login");
const input = document.getElementById("token");
const error = document.getElementById("error");

async function message(response) {
	if (response.status === 401) return "This token is not known here. Look for spaces or a cut end; it may have been replaced.";
	if (response.status === 429) {
		const seconds = Number(response.headers.get("Retry-After")) || 30;
		return `Too many wrong tokens from this address: try again in ${seconds} s.`;
	}
	const body = await response.json().catch(() => null);
	return body?.error?.message ?? `The collector answered ${response.status}.`;
}

async function logIn() {
	const response = await fetch("/login", {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify({ token: input.value.trim() }),
	});
	if (!response.ok) return message(response);
	// A cookie that the browser did not take would lead straight back here.
	const me = await fetch("/api/v1/me");
	if (me.status === 401) return "The browser did not keep the cookie: it does so over HTTPS, and on localhost.";
	location.replace("/" + location.hash);
	return "";
}

form.addEventListener("submit", async (event) => {
	event.preventDefault();
	error.textContent = "";
	error.textContent = await logIn().catch(() => "The collector cannot be reached.");
	if (error.textContent) input.select();
});

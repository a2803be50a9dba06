// The people page: invitations, accounts, tokens, the audit log.

import { $, ask, config, make, when } from "./shared.js";

function problem(error) {
  $("problem").hidden = !error;
  $("problem").textContent = error ? error.message : "";
}

async function doing(work) {
  try { problem(null); await work(); await load(); } catch (error) { problem(error); }
}

function row(...cells) {
  return make("tr", {}, ...cells.map((cell) => make("td", {}, cell ?? "")));
}

function accountButtons(account) {
  const change = (body) => doing(() => ask("PATCH", `/api/v1/accounts/${account.id}`, body));
  const other = account.role === "admin" ? "annotator" : "admin";
  const button = (text, onclick) => make("button", { type: "button", onclick, "aria-label": `${text}: ${account.name}` }, text);
  return make("span", { class: "buttons" },
    button(account.active ? "Close" : "Open again", () => change({ active: !account.active })),
    button(`Make ${other}`, () => change({ role: other })),
    button("Reset password", () => doing(async () => showLink(await ask("POST", `/api/v1/accounts/${account.id}/reset`)))));
}

function showLink(made) {
  $("link").textContent = made.link;
  $("link-line").hidden = false;
  $("link-line").scrollIntoView({ block: "nearest" });
}

async function load() {
  const data = await ask("GET", "/api/v1/people");
  $("accounts").replaceChildren(...data.accounts.map((account) => row(account.name + (account.active ? "" : " (closed)"), account.role, when(account.created_at), account.id === config.me ? "you" : accountButtons(account))));
  const now = Date.now() / 1000;
  $("invitations").replaceChildren(...data.invitations.map((one) => row(one.note || "–", one.role, one.created_by,
    one.used_by ? `used by ${one.used_by}` : one.expires_at < now ? "expired" : `open until ${when(one.expires_at)}`,
    one.used_by ? "" : make("button", { type: "button", onclick: () => doing(() => ask("DELETE", `/api/v1/invitations/${one.id}`)) }, "Withdraw"))));
  $("tokens").replaceChildren(...data.tokens.map((token) => make("li", {}, make("b", {}, token.name), make("span", { class: "muted small" }, when(token.created_at)),
    make("button", { type: "button", onclick: () => doing(() => ask("DELETE", `/api/v1/tokens/${token.id}`)) }, "Revoke"))));
  $("audit").replaceChildren(...data.audit.map((note) => row(when(note.at), note.who, note.action, note.detail, note.address)));
}

$("invite").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  doing(async () => {
    showLink(await ask("POST", "/api/v1/invitations", { role: form.get("role"), note: form.get("note") }));
    event.target.reset();
  });
});
$("token").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  doing(async () => {
    const made = await ask("POST", "/api/v1/tokens", { name: form.get("name"), purpose: form.get("purpose") });
    $("token-word").textContent = made.address ?? made.token;
    $("token-line").hidden = false;
    event.target.reset();
  });
});
$("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText($("link").textContent);
    $("copy").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren($("link")); // without HTTPS: selected, ready to be copied by hand
  }
});
load().catch(problem);

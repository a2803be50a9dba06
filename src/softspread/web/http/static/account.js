// The account page: another password.

import { $, ask } from "./shared.js";

function problem(text) {
  $("problem").hidden = !text;
  $("problem").textContent = text;
}

$("password").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  $("saved").textContent = "";
  if (form.get("new") !== form.get("again")) { problem("The two new passwords differ."); return; }
  try {
    problem("");
    await ask("PUT", "/api/v1/me/password", { present: form.get("present"), new: form.get("new") });
    event.target.reset();
    $("saved").textContent = "Changed.";
  } catch (error) {
    problem(error.message);
  }
});

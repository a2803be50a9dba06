// The project page: settings that take effect at once.

import { $, ask, config } from "./shared.js";

const SAVED = "softspread:saved"; // a word that outlives the reload after saving
const shares = ["uniform_share", "gold_share"]; // shown in percent
const form = $("settings");
const before = values();

function values() {
  const found = Object.fromEntries(new FormData(form));
  found.overlap = Number(found.overlap);
  for (const name of shares) found[name] = Number(found[name]) / 100;
  found.guidelines = found.guidelines.replaceAll("\r\n", "\n");
  return found;
}

async function change(body) {
  $("problem").hidden = true;
  try {
    await ask("PATCH", "/api/v1/project", { ...body, revision: config.revision });
    sessionStorage.setItem(SAVED, "Saved.");
    location.reload();
  } catch (error) {
    $("problem").hidden = false;
    $("problem").textContent = error.message;
    $("problem").scrollIntoView({ block: "nearest" });
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const now = values();
  const changed = Object.fromEntries(Object.entries(now).filter(([name, value]) => value !== before[name]));
  if (Object.keys(changed).length) change(changed);
  else $("saved").textContent = "Nothing has changed.";
});
$("status").addEventListener("click", ({ target }) => {
  if (target.dataset.status) change({ status: target.dataset.status });
});
$("saved").textContent = sessionStorage.getItem(SAVED) ?? "";
sessionStorage.removeItem(SAVED);

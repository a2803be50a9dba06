// The project page: settings that take effect at once.

import { $, ask, config, make } from "./shared.js";

const PAUSE = 3000; // milliseconds between two looks at a change that is being prepared
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

function change(body) {
  send("problem", () => ask("PATCH", "/api/v1/project", { ...body, revision: config.revision }));
}

/** Ask, then show the page as it is now; what went wrong is said in its place. */
async function send(place, request) {
  $(place).hidden = true;
  try {
    await request();
    sessionStorage.setItem(SAVED, "Saved.");
    location.reload();
  } catch (error) {
    $(place).hidden = false;
    $(place).textContent = error.message;
    $(place).scrollIntoView({ block: "nearest" });
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

// ---------------------------------------------------------------------------------------------------------- classes
const OWN = "#3366cc"; // where the field for a colour begins
/** Colour, description and examples of a class, folded away. */
function aboutFields(note) {
  const own = make("input", { type: "checkbox", checked: Boolean(note.colour), "data-field": "own", class: "check" });
  const colour = make("input", { type: "color", value: note.colour || OWN, "data-field": "colour", oninput: () => { own.checked = true; } });
  return make("details", { class: "class-about" }, make("summary", {}, "Colour, description, examples"), make("div", {},
    make("div", { class: "colour-line" }, make("label", {}, "Colour", colour), make("label", {}, own, " use it")),
    make("label", {}, "Description", make("textarea", { value: note.description, maxLength: 1000, rows: 2, "data-field": "description" })),
    make("label", {}, "Examples: ids of items, one per line", make("textarea", { value: note.examples.join("\n"), rows: 2, spellcheck: false, "data-field": "examples" }))));
}
function aboutOf(row) {
  const field = (name) => row.querySelector(`[data-field=${name}]`);
  return { colour: field("own").checked ? field("colour").value : "", description: field("description").value.trim(), examples: field("examples").value.split("\n").map((line) => line.trim()).filter(Boolean) };
}

function classRow(note, was) {
  const name = note.name;
  const move = (step) => ({ target }) => {
    const row = target.closest(".class-row"), other = step < 0 ? row.previousElementSibling : row.nextElementSibling;
    if (other && step < 0) other.before(row);
    else if (other) other.after(row);
    target.focus();
  };
  const arrow = (text, word, step) => make("button", { type: "button", title: word, "aria-label": `${word}: ${name || "new class"}`, onclick: move(step) }, text);
  const row = make("div", { class: "class-row" }, make("input", { value: name, maxLength: 200, autocomplete: "off", "aria-label": was ? `Name of the class ${was}` : "Name of the new class" }), arrow("↑", "Move up", -1), arrow("↓", "Move down", 1), aboutFields(note));
  if (was) row.dataset.was = was;
  return row;
}
$("class-rows").append(...config.classes.map((note) => classRow(note, note.name)));
$("add-class").addEventListener("click", () => {
  const row = classRow({ name: "", colour: "", description: "", examples: [] }, "");
  $("class-rows").append(row);
  row.firstChild.focus();
});
$("save-classes").addEventListener("click", () => {
  const wanted = new Map(); // rows of one name are one class
  for (const row of $("class-rows").children) {
    const name = row.firstChild.value.trim();
    if (!name && !row.dataset.was) continue;
    if (!wanted.has(name)) wanted.set(name, { name, was: [], ...aboutOf(row) }); // the first row speaks for merged ones
    if (row.dataset.was) wanted.get(name).was.push(row.dataset.was);
  }
  const classes = [...wanted.values()];
  if (classes.some(({ was }) => was.length > 1) && !confirm("Merge these classes? Their votes move along.")) return;
  send("class-problem", () => ask("PUT", "/api/v1/classes", { classes, revision: config.revision }));
});
$("add-items").addEventListener("submit", (event) => {
  event.preventDefault();
  const body = new FormData(event.target);
  if (!body.get("contents")?.size) body.delete("contents");
  $("adding").textContent = "Sending and checking…";
  send("items-problem", () => ask("POST", "/api/v1/items", body)).finally(() => { $("adding").textContent = ""; });
});

let touched = false; // whether something was typed that a reload would lose
document.addEventListener("input", () => { touched = true; });
/** Wait until a change is in force, then show the page as it is now, unless someone is writing. */
async function watchPreparing() {
  const { preparing } = await ask("GET", "/api/v1/project").catch(() => ({ preparing: true }));
  if (preparing) setTimeout(watchPreparing, PAUSE);
  else if (touched) $("preparing").textContent = "The change is in force.";
  else location.reload();
}
if (!$("preparing").hidden) setTimeout(watchPreparing, PAUSE);

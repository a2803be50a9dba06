// The vote page: one key, one vote, and the next item is already there.

import { $, ask, config, make, newKey, percent, showLine } from "./shared.js";
import { Outbox } from "./outbox.js";
import { Zoom } from "./zoom.js";

const AHEAD = 8; // items fetched ahead, with their pictures
const MOST_SENT = 50; // operations in one request
const FIRST_PAUSE = 1000, LONGEST_PAUSE = 15000; // milliseconds between attempts without a connection
const LEAST = 0.005; // share of a class below which its bar cannot be seen
const REMEMBERED = 50; // steps that undo can go back
const SMALL = 500; // pictures with fewer pixels on a side are enlarged
const LONGEST_WORD = 24; // letters that a column of classes makes room for
const MANY = 20; // with more classes there is a box to search them

const outbox = new Outbox(`${config.project}:${config.user}`);
let ahead = []; // cards; the first one is on the stage
let steps = outbox.recall("steps", []); // {key, kind, card, label, picked}
let picked = new Map(); // where an item may have several classes: yes or no by class, for the one on the stage
let voted = 0;
let unsure = false;
let chosenBefore = null; // the answer of a vote just taken back, in words
let sending = false, again = false, pause = FIRST_PAUSE, timer = 0;
let finished = false, locked = false;
let status = "running"; // or "paused", "finished": a lead decides
const CLOSED = { paused: "Voting is paused. Your votes are kept; new items appear here when it goes on.", finished: "Voting is finished. Thank you!" };
let refused = ""; // why the last operation was not counted, until the next one
const broken = new Set(); // items that could not be shown here
const pictures = new Map(); // row -> Image, kept so that the browser keeps the bytes

// ---------------------------------------------------------------------------------------------------------- the page
const { several } = config; // toggles: yes, no or, if the rest says nothing, neither
const silent = several && config.rest === "nothing";
const buttons = config.classes.map(({ name, key, colour }) => {
  const mark = make("span", { class: "mark", "aria-hidden": "true", hidden: !several });
  const hint = make("span", { class: "hint", "aria-hidden": "true", hidden: true });
  const hintText = make("span", { class: "hint-text", hidden: true });
  const button = make("button", { class: "class", type: "button", onclick: () => choose(name), ...(several ? { role: "checkbox" } : {}) },
    ...(key ? [make("kbd", { "aria-hidden": "true" }, key)] : []), mark, make("span", { class: "name" }, name), hintText, hint);
  if (key) button.setAttribute("aria-keyshortcuts", key);
  if (colour) {
    button.classList.add("coloured");
    button.style.setProperty("--colour", colour);
  }
  $("classes").append(button);
  return { name, button, mark, hint, hintText };
});
const longestWord = Math.max(...config.classes.flatMap(({ name }) => name.split(/[\s-]+/)).map((word) => word.length));
$("classes").style.setProperty("--letters", Math.min(longestWord, LONGEST_WORD));
$("classes").classList.toggle("hinted", config.assisted);
$("classes").classList.toggle("few", config.classes.every(({ name }) => name.length <= 8) && config.classes.length <= MANY);
$("classes").classList.toggle("many", config.classes.length > MANY);
$("find").hidden = config.classes.length <= MANY;

/** Classes whose name holds what was typed, those that begin with it first; all of them without a word. */
function findClasses() {
  const word = $("find").value.trim().toLowerCase();
  const rank = (name) => { const at = name.toLowerCase().indexOf(word); return at < 0 ? 2 : Math.min(at, 1); };
  for (const { name, button } of buttons) {
    button.hidden = rank(name) === 2;
    button.style.order = word ? rank(name) : "";
  }
  return word ? buttons.filter(({ button }) => !button.hidden).sort((a, b) => rank(a.name) - rank(b.name)) : [];
}

const zoom = new Zoom($("frame"), $("picture"), (enlarged) => { $("zoom-out").disabled = !enlarged; });

function pictureOf(card) {
  if (!card.picture) return null;
  if (!pictures.has(card.row)) {
    const image = new Image();
    image.src = `/api/v1/items/${card.row}/picture`;
    pictures.set(card.row, image);
    if (pictures.size > 4 * AHEAD) pictures.delete(pictures.keys().next().value);
  }
  return pictures.get(card.row);
}

function show() {
  const card = ahead[0];
  const waiting = $("waiting");
  $("figure").hidden = !card;
  waiting.hidden = Boolean(card);
  for (const { button } of buttons) button.disabled = !card;
  showPicked();
  $("skip").disabled = $("flag").disabled = !card;
  $("undo").disabled = steps.length === 0;
  $("progress").textContent = `${voted} ${voted === 1 ? "vote" : "votes"}`;
  setUnsure(unsure);
  if (!card) {
    waiting.textContent = CLOSED[status] ? CLOSED[status] : finished
      ? "That was all for now. Thank you! New items appear here when there are any."
      : locked ? "You are signed out. Reload the page to sign in; your votes are kept."
      : navigator.onLine ? "Looking for the next item…" : "No connection. Your votes are kept and sent later.";
    return;
  }
  $("figure").dataset.row = card.row;
  if (card.row !== shownRow) showItem(card);
  $("text").hidden = card.text === null;
  $("text").textContent = card.text ?? "";
  $("caption").textContent = config.captions ? card.item : "";
  for (const [place, { name, button, hint, hintText }] of buttons.entries()) {
    const share = card.hint?.[place];
    hint.hidden = hintText.hidden = share === undefined || share === null;
    if (!hint.hidden) {
      hint.style.width = percent(share, 1).replace(" ", "");
      hintText.textContent = percent(share);
    }
    button.classList.toggle("before", name === chosenBefore);
  }
  $("note").hidden = chosenBefore === null;
  $("note").textContent = chosenBefore === null ? "" : `You took back “${chosenBefore}”. ${several ? "Change it and press Done" : "Vote again"}, or skip.`;
  for (const next of ahead.slice(1)) pictureOf(next);
}

/** The toggles as they are, and whether they make an answer. */
function showPicked() {
  if (!several) return;
  for (const { name, button, mark } of buttons) {
    const said = picked.get(name);
    button.setAttribute("aria-checked", said === undefined ? (silent ? "mixed" : "false") : String(said));
    mark.textContent = said === undefined ? "" : said ? "✓" : "✗";
  }
  $("done").disabled = !ahead[0] || !picked.size;
  $("none").disabled = !ahead[0];
}

let shownRow = null;
/** The picture, sound or film of an item that was not on the stage before. */
function showItem(card) {
  shownRow = card.row;
  const image = pictureOf(card), shown = $("picture");
  $("broken").hidden = true;
  $("frame").hidden = $("zoom").hidden = !image;
  zoom.reset();
  if (image) {
    shown.src = image.src;
    shown.alt = card.text ? "" : config.captions ? `Item ${card.item}` : "The item";
  }
  for (const kind of ["audio", "video"]) {
    $(kind).hidden = card.media !== kind;
    if (card.media === kind) $(kind).src = `/api/v1/items/${card.row}/media`;
    else if ($(kind).hasAttribute("src")) { $(kind).removeAttribute("src"); $(kind).load(); }
  }
}

/** Say that an item cannot be shown, here and to the lead; without a connection nothing is known about it. */
async function reportBroken() {
  const card = ahead[0];
  if (!card) return;
  try {
    await fetch(`/api/v1/items/${card.row}/${card.media ? "media" : "picture"}`, { method: "GET", credentials: "same-origin", headers: { Range: "bytes=0-0" } });
  } catch {
    shownRow = null; // tried again when the connection is back
    return;
  }
  if (ahead[0]?.item !== card.item) return;
  for (const part of ["frame", "zoom", "audio", "video"]) $(part).hidden = true;
  $("broken").hidden = false;
  if (broken.has(card.item)) return;
  broken.add(card.item);
  outbox.add({ kind: "broken", key: newKey(), item: card.item });
  send();
}

$("picture").addEventListener("load", ({ target }) => {
  target.classList.toggle("small", Math.max(target.naturalWidth, target.naturalHeight) < SMALL);
});
for (const kind of ["picture", "audio", "video"]) $(kind).addEventListener("error", ({ target }) => { if (target.hasAttribute("src")) reportBroken(); });

const say = (text) => { $("said").textContent = text; };

function setUnsure(value) {
  unsure = value;
  $("unsure").setAttribute("aria-pressed", String(value));
}

// ------------------------------------------------------------------------------------------------------- what one does
function remember(step) {
  steps = [...steps, step].slice(-REMEMBERED);
  outbox.keep("steps", steps);
}

function advance() {
  ahead.shift();
  picked.clear();
  chosenBefore = null;
  show();
  $("item").scrollTop = 0;
  send();
}

/** One class is the vote; of several each is switched on and off until the answer is done. */
function choose(name) {
  if (!ahead[0]) return;
  if (!several) { flash(name); vote({ label: name }, name); return; }
  const said = picked.get(name);
  if (said === undefined) picked.set(name, true);
  else if (said && silent) picked.set(name, false);
  else picked.delete(name);
  showPicked();
  say(`${name}: ${picked.has(name) ? (picked.get(name) ? "yes" : "no") : silent ? "nothing" : "no"}.`);
}

/** The answer about all classes: those on, and those off unless the rest says nothing. */
function answer(none = false) {
  if (!ahead[0]) return;
  const names = config.classes.map(({ name }) => name);
  const yes = none ? [] : names.filter((name) => picked.get(name));
  const no = names.filter((name) => none || (silent ? picked.get(name) === false : !yes.includes(name)));
  if (!none && !picked.size) { say("Choose a class, or none of these."); return; }
  const denied = silent ? no.map((name) => `not ${name}`) : [];
  vote({ yes, no }, none ? "none of these" : [...yes, ...denied].join(", "), [...picked]);
}

function vote(said, words, toggles = []) {
  const card = ahead[0];
  if (!card) return;
  const key = newKey();
  const shown = card.hint ? { shown: Object.fromEntries(config.classes.map(({ name }, place) => [name, card.hint[place]]).filter(([, share]) => share >= LEAST)) } : {};
  outbox.add({ kind: "vote", key, item: card.item, ...said, unsure, ...shown });
  remember({ kind: "vote", key, card: { ...card, hint: undefined }, label: words, picked: toggles });
  voted += 1;
  say(`${unsure ? "Unsure vote" : "Voted"} ${words}. ${ahead.length > 1 ? "Next item." : ""}`);
  setUnsure(false);
  if ($("find").value) { $("find").value = ""; findClasses(); }
  advance();
}

function flash(label) {
  const { button } = buttons.find(({ name }) => name === label);
  button.classList.add("chosen");
  setTimeout(() => button.classList.remove("chosen"), 160);
}

function skip() {
  const card = ahead[0];
  if (!card) return;
  const key = newKey();
  outbox.add({ kind: "skip", key, item: card.item });
  remember({ kind: "skip", key, card: { ...card, hint: undefined } });
  say("Skipped. Next item.");
  advance();
}

function flag(note) {
  const card = ahead[0];
  if (!card || !note.trim()) return;
  outbox.add({ kind: "flag", key: newKey(), item: card.item, note: note.trim() });
  say("The lead will see your note. You can still vote or skip.");
  send();
}

function undo() {
  const step = steps.at(-1);
  if (!step) return;
  steps = steps.slice(0, -1);
  outbox.keep("steps", steps);
  if (step.kind === "vote") {
    outbox.add({ kind: "undo", key: newKey(), vote: step.key });
    voted = Math.max(0, voted - 1);
    say(`Took back ${step.label}.`);
  } else {
    say("Back to the skipped item.");
  }
  chosenBefore = step.kind === "vote" ? step.label : null;
  picked = new Map(step.picked ?? []);
  finished = false;
  ahead = [step.card, ...ahead.filter((card) => card.item !== step.card.item)];
  show();
  send();
}

// ---------------------------------------------------------------------------------------------------------- the line
/** Send what waits and fetch what is missing; one request at a time. */
async function send() {
  clearTimeout(timer);
  if (sending) { again = true; return; }
  sending = true;
  try {
    do {
      again = false;
      const waiting = outbox.waiting().slice(0, MOST_SENT);
      const answer = await ask("POST", "/api/v1/sync", {
        operations: waiting.map(([, operation]) => operation), wanted: AHEAD, holding: ahead.slice(0, AHEAD).map((card) => card.item),
      });
      waiting.forEach(([name], place) => { outbox.remove(name); noteRefusal(answer.outcomes[place], waiting[place][1]); });
      take(answer);
      pause = FIRST_PAUSE;
      again ||= outbox.waiting().length > 0;
    } while (again);
    showLine(refused ? "off" : "on", refused ? `not counted: ${refused}` : "saved");
    refused = "";
    timer = setTimeout(send, finished ? LONGEST_PAUSE : 1000 * Math.min(45, config.lease / 3)); // keeps the items ours
  } catch (error) {
    trouble(error);
  } finally {
    sending = false;
  }
}

function noteRefusal(outcome, operation) {
  if (outcome.status === "refused" && operation.kind !== "skip") refused = outcome.reason;
}

function take(answer) {
  if (answer.revision !== config.revision && !outbox.waiting().length) location.reload(); // a lead changed the question or the classes
  status = answer.status;
  if (CLOSED[status]) { ahead = []; picked.clear(); }
  const before = ahead[0]?.item;
  const left = new Set(outbox.waiting().filter(([, one]) => one.item).map(([, one]) => one.item));
  const mine = new Set(ahead.map((card) => card.item));
  ahead = [...ahead, ...answer.items.filter((card) => !mine.has(card.item) && !left.has(card.item))];
  const hints = new Map(answer.items.map((card) => [card.item, card.hint]));
  for (const card of ahead) if (hints.has(card.item)) card.hint = hints.get(card.item);
  const open = outbox.waiting();
  voted = answer.progress.voted + open.filter(([, one]) => one.kind === "vote").length - open.filter(([, one]) => one.kind === "undo").length;
  finished = ahead.length === 0 && answer.items.length === 0;
  $("goal").replaceChildren(`· ${Math.floor(100 * answer.progress.share)} %`, make("span", { class: "words" }, " of the project"));
  locked = false;
  if (ahead[0]?.item !== before || !before || ahead[0]?.hint) show();
  else $("progress").textContent = `${voted} ${voted === 1 ? "vote" : "votes"}`;
  for (const card of ahead) pictureOf(card);
}

function trouble(error) {
  const waiting = outbox.waiting().length;
  const kept = waiting ? `${waiting} ${waiting === 1 ? "vote" : "votes"} waiting` : "no connection";
  if (error.status === 401 || error.status === 403) {
    locked = true;
    showLine("off", `signed out, ${waiting} waiting: reload`);
    show();
    return;
  }
  showLine("off", error.status === 422 || error.status === 400 ? `not sent: ${error.message}` : kept);
  timer = setTimeout(send, pause);
  pause = Math.min(LONGEST_PAUSE, 2 * pause);
  if (!ahead.length) show();
}

// ------------------------------------------------------------------------------------------------------------- keys
const byKey = new Map(config.classes.filter(({ key }) => key).map(({ name, key }) => [key, name]));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const dialog = $("help-dialog");
  if (dialog.open || $("flag-dialog").open || event.target === $("find")) return;
  const key = event.key.toLowerCase();
  if (event.repeat && key !== "z") return; // a key held down is one vote
  if (several && key === "enter" && !event.target.closest(".actions, .answer, .zoom, header, a, input, audio, video")) {
    event.preventDefault(); // also on a class: Space switches it, as with any box to tick
    answer();
    return;
  }
  if (key === " " || key === "enter") {
    if (event.target.closest("button, a, input, dialog") && (key === "enter" || event.target.closest("#classes, .actions, header"))) return;
    if (key === " ") { event.preventDefault(); skip(); }
    return;
  }
  if (key === "z") undo();
  else if (key === "u") setUnsure(!unsure);
  else if (key === "?") openHelp();
  else if (key === "!") openFlag();
  else if (key === "/" && !$("find").hidden) $("find").focus();
  else if (key === "+" || key === "=") zoom.by(1.5);
  else if (key === "-") zoom.by(1 / 1.5);
  else if (byKey.has(key)) choose(byKey.get(key));
  else if (several && key === "0") answer(true);
  else return;
  event.preventDefault();
});
for (const [id, act] of [["undo", undo], ["skip", skip], ["unsure", () => setUnsure(!unsure)], ["help", openHelp], ["flag", openFlag], ["zoom-in", () => zoom.by(1.5)], ["zoom-out", () => zoom.reset()], ...(several ? [["done", () => answer()], ["none", () => answer(true)]] : [])]) {
  // A mouse click must not leave the focus on a button: the next Space would press it again.
  $(id).addEventListener("click", (event) => { act(); if (event.detail > 0) event.currentTarget.blur(); });
}
$("classes").addEventListener("click", (event) => { if (event.detail > 0) document.activeElement?.blur(); });
/** Guidelines come first, also where the button that has the focus lies below the edge. */
function openHelp() {
  $("help-dialog").showModal();
  $("help-dialog").scrollTop = 0;
}
function openFlag() {
  if (!ahead[0]) return;
  $("flag-note").value = "";
  $("flag-dialog").showModal();
}
$("flag-form").addEventListener("submit", (event) => { if (event.submitter?.value === "send") flag($("flag-note").value); });
$("find").addEventListener("input", findClasses);
$("find").addEventListener("keydown", (event) => {
  if (event.key === "Escape") { $("find").value = ""; findClasses(); $("find").blur(); }
  if (event.key !== "Enter") return;
  const [first] = findClasses();
  if (first) { choose(first.name); $("find").value = ""; findClasses(); $("find").blur(); }
});
addEventListener("online", () => { pause = FIRST_PAUSE; if (shownRow === null) show(); send(); });
addEventListener("offline", () => showLine("off", "no connection"));
document.addEventListener("visibilitychange", () => { if (!document.hidden) send(); });
show();
send();

// The review page: what a lead looks at again, and decisions.

import { $, ask, config, make, named, percent, when } from "./shared.js";

const LISTS = {
  disagreements: ["Disagreements", "People chose different classes; the smallest majority first."],
  surprising: ["Surprising votes", "The class that someone chose has little probability now. Ask someone else, or decide."],
  flagged: ["Noted", "Items with a note; the notes stand below."],
  skipped: ["Skipped", "Items that people skipped, most people first."],
  broken: ["Not shown", "Items that a browser could not show: check the files."],
  decided: ["Decided", "Your decisions: each counts as five votes and as a known answer."],
};
const asked = new Set(); // items for which someone else was asked on this page
let chosen = "disagreements", data = null, timer = 0;

function problem(error) {
  $("problem").hidden = !error;
  $("problem").textContent = error ? error.message : "";
}

function inMinutes(hours) {
  const minutes = Math.max(1, Math.round(60 * hours));
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
}

async function doing(work) {
  try { problem(null); await work(); await load(); } catch (error) { problem(error); }
}

/** What a lead says in place of the votes: a class, or yes to some of them and no to the others. */
function answerFields(card) {
  if (config.several) {
    const on = (name, place) => (card.decided ? card.decided.yes.includes(name) : card.p[place] >= 0.5);
    const boxes = config.classes.map((name, place) => [name, make("input", { type: "checkbox", class: "check", checked: on(name, place) })]);
    const which = (wanted) => boxes.filter(([, box]) => box.checked === wanted).map(([name]) => name);
    return [make("div", { class: "boxes", role: "group", "aria-label": `What ${card.item} is` }, ...boxes.map(([name, box]) => make("label", {}, box, ` ${name}`))), () => ({ yes: which(true), no: which(false) })];
  }
  const choice = make("select", { "aria-label": `What ${card.item} is` }, ...config.classes.map((name) => make("option", { selected: name === (card.decided ?? named(card.p)) }, name)));
  return [choice, () => ({ label: choice.value })];
}

function decision(card) {
  const [fields, said] = answerFields(card);
  const decide = (answer) => doing(() => ask("PUT", "/api/v1/decisions", { item: card.item, ...answer }));
  return make("div", { class: "row-form decide" }, fields,
    make("button", { type: "button", class: "main-button", onclick: () => decide(said()) }, card.decided ? "Change" : "Decide"),
    ...(card.decided ? [make("button", { type: "button", onclick: () => decide({}) }, "Take back")] : []),
    make("button", { type: "button", disabled: asked.has(card.item), onclick: () => doing(async () => { await ask("POST", "/api/v1/ask-again", { item: card.item }); asked.add(card.item); }) }, asked.has(card.item) ? "Someone else is asked" : "Ask someone else"));
}

function listed(card) {
  const votes = card.counts.map((count, place) => [count, place]).filter(([count]) => count).sort((a, b) => b[0] - a[0]).map(([count, place]) => (config.several ? `${config.classes[place]} by ${count} of ${card.cast}` : `${count} × ${config.classes[place]}`));
  const shares = card.p.map((share, place) => [share, config.classes[place]]).sort((a, b) => b[0] - a[0]).slice(0, config.several ? 4 : 1);
  const words = [votes.join(", ") || (card.cast ? `none of these by ${card.cast}` : "no votes"), `soft label: ${shares.map(([share, name]) => `${name} ${percent(share)}`).join(", ")}`, card.verdict];
  if (card.voted) words.unshift(`${card.annotator} ${config.several ? "said" : "chose"} ${card.voted}`);
  if (card.people) words.unshift(`${card.people} ${card.people === 1 ? "person" : "people"}`);
  if (card.decided) words.push(`decided: ${config.several ? card.decided.yes.join(", ") || "none of these" : card.decided}`);
  const shown = card.picture ? make("img", { src: `/api/v1/items/${card.row}/thumbnail`, alt: "", loading: "lazy", onerror: ({ target }) => target.replaceWith(make("span", { class: "snippet" }, "not shown")) })
    : make("span", { class: "snippet" }, (card.text ?? card.media ?? "").slice(0, 120));
  return make("li", {}, shown, make("div", {}, make("b", {}, card.item), make("p", { class: "muted small" }, words.join("; "))), decision(card));
}

function show() {
  $("tabs").replaceChildren(...Object.entries(LISTS).map(([name, [title]]) => make("button", { type: "button", "aria-pressed": String(name === chosen), onclick: () => { chosen = name; show(); } }, `${title} (${data.lists[name].length})`)));
  $("list-why").textContent = LISTS[chosen][1];
  const items = data.lists[chosen].map(listed);
  $("list").replaceChildren(...(items.length ? items : [make("li", { class: "muted" }, "None.")]));
  $("notes").replaceChildren(...(data.notes.length ? data.notes.map((note) => make("li", {}, make("b", {}, note.item), make("span", { class: "grow" }, note.note), make("span", { class: "muted small" }, `${note.annotator}, ${when(note.at)}`))) : [make("li", { class: "muted" }, "None.")]));
  const timed = data.people.filter((one) => one.votes && one.seconds_per_vote !== null);
  const cast = timed.reduce((sum, one) => sum + one.votes, 0);
  const hours = (data.missing * timed.reduce((sum, one) => sum + one.votes * one.seconds_per_vote, 0)) / (3600 * cast);
  const work = !data.missing || !cast ? "" : hours < 1 ? `, about ${inMinutes(hours)} of one person's work` : `, about ${hours.toFixed(hours < 10 ? 1 : 0)} hours of one person's work`;
  $("done").textContent = `The project has ${percent(data.done)} of the votes that it wants; ${data.missing.toLocaleString()} to go${work}.`;
  const { alpha, items: several, votes, classes } = data.agreement;
  const each = classes ? `; mean over the classes: ${classes.map((one) => `${one.name} ${one.alpha === null ? "not known" : one.alpha.toFixed(2)}`).join(", ")}` : "";
  $("agreement").textContent = alpha === null ? "Agreement: not known before two people have voted on the same items." : `Agreement (Krippendorff's alpha): ${alpha.toFixed(2)}, from ${votes} votes on ${several} items${each}.`;
  const digits = (value, places) => (value === null ? "–" : value.toFixed(places));
  $("people").replaceChildren(...data.people.map((one) => make("tr", {}, make("th", { scope: "row" }, one.name),
    ...[one.votes, one.skips, one.notes, digits(one.seconds_per_vote, 1), digits(one.votes_per_hour, 0)].map((value) => make("td", { class: "num" }, String(value))),
    make("td", {}, one.last_at ? when(one.last_at) : "–"), make("td", {}, leaveOut(one.name)))));
  $("preparing").hidden = !data.preparing;
  clearTimeout(timer);
  if (data.preparing) timer = setTimeout(() => load().catch(problem), 2000);
}

function leaveOut(name) {
  const out = data.left_out.includes(name);
  const names = out ? data.left_out.filter((other) => other !== name) : [...data.left_out, name];
  return make("button", { type: "button", "aria-label": `${out ? "Count" : "Leave out"} the votes of ${name}`, onclick: () => doing(() => ask("PATCH", "/api/v1/project", { left_out: names })) }, out ? "Count again" : "Leave out");
}

async function load() {
  data = await ask("GET", "/api/v1/review");
  show();
}
load().catch(problem);

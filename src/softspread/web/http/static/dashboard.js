// The dashboard: numbers as they come (server-sent events), the rest a little later.

import { $, ask, askBytes, classColour, config, draw, make, named, percent, showLine } from "./shared.js";
import { accent, bars, plot } from "./charts.js";
import { ItemMap, rampColour } from "./map.js";

const PAUSE = 2500; // milliseconds between two full updates
const thumbnail = (row) => `/api/v1/items/${row}/thumbnail`;
const number = (value) => value.toLocaleString("en");
let seen = -1, wanted = 0, loading = false, last = 0, mapKnown = false;

// ------------------------------------------------------------------------------------------------------------ numbers
let shownItems = null;
function showCounts(counts) {
  if (shownItems !== null && counts.items !== shownItems) location.reload(); // a lead has added some: another map
  shownItems = counts.items;
  $("n-votes").textContent = number(counts.votes);
  $("n-voted").textContent = number(counts.voted_items);
  $("n-voted-label").textContent = `of ${number(counts.items)} items voted on`;
  $("n-people").textContent = number(counts.people);
  $("n-votes-label").textContent = counts.votes === 1 ? "vote" : "votes";
  $("n-people-label").textContent = counts.people === 1 ? "person" : "people";
}

/** Whether the tasks of a Label Studio project are items of ours; silent where there is no such project. */
function showLabelStudio(seen) {
  $("label-studio").hidden = !seen;
  if (!seen) return;
  const words = `Label Studio: ${number(seen.matched)} ${seen.matched === 1 ? "task is an item" : "tasks are items"} of this project`;
  $("label-studio").textContent = seen.unmatched ? `${words}, ${number(seen.unmatched)} ${seen.unmatched === 1 ? "is" : "are"} not, such as ${seen.example || "one without a name"}. Votes on those are not counted.` : `${words}.`;
}

const range = (estimate, show) => (estimate ? `${show(estimate.value)} (${show(estimate.lower)} to ${show(estimate.upper)})` : "not known yet");

/** Of several classes each has a quality of its own. */
function showClasses(classes, shares) {
  const cells = (one, place) => [percent(shares[place]), range(one?.rmse, (v) => v.toFixed(3)), range(one?.accuracy, (v) => percent(v)), range(one?.agreement, (v) => percent(v)), one?.votes ? number(one.votes) : "–"];
  $("by-class").replaceChildren(...config.classes.map((name, place) => make("tr", {}, make("th", { scope: "row" }, name, ...(classes[place]?.notes ?? []).map((note) => make("span", { class: "muted small advice" }, note))),
    ...(shares ? cells(classes[place], place) : []).map((text) => make("td", { class: "num" }, text)))));
}

function showQuality({ quality, gain, verdict, trend, counts, overview }) {
  const box = $("enough");
  box.dataset.verdict = verdict;
  $("verdict").textContent = { enough: "Enough. More votes would change little.", "go on": "Go on: more votes still help.", unknown: "Too early to tell." }[verdict];
  const why = counts.votes ? [] : ["No votes yet."];
  if (gain?.gain) {
    const share = gain.now.value > 0 ? gain.gain.value / gain.now.value : 0;
    why.push(`The next ${number(gain.more)} votes are expected to lower the error by ${percent(share, 1)}.`);
  }
  if (quality?.votes) why.push(`Judged by ${number(quality.votes)} votes; ${number(quality.repeated)} items have two or more.`);
  $("verdict-why").replaceChildren(make("p", {}, why.join(" ")), ...(quality?.notes ?? []).map((note) => make("p", { class: "small" }, note)));
  const facts = [["Error (RMSE)", range(quality?.rmse, (v) => v.toFixed(3))], ["Accuracy", range(quality?.accuracy, (v) => percent(v))], ["Agreement with a new vote", range(quality?.agreement, (v) => percent(v))]];
  $("measures").replaceChildren(...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  if (config.several) showClasses(quality?.classes ?? [], overview.class_share);
  const x = trend.map((point) => point.votes);
  $("chart-trend").hidden = trend.length < 2;
  if (trend.length >= 2) plot("chart-trend", [
    { x: [...x, ...x.toReversed()], y: [...trend.map((p) => p.upper), ...trend.map((p) => p.lower).reverse()], fill: "toself", fillcolor: "rgba(80,120,220,.18)", line: { width: 0 }, hoverinfo: "skip", mode: "lines" },
    { x, y: trend.map((point) => point.value), mode: "lines", line: { color: accent(), width: 2 }, hovertemplate: "%{x} votes: %{y:.3f}<extra></extra>" },
  ], { margin: { l: 40, r: 6, t: 4, b: 34 }, yaxis: { title: { text: "RMSE" } }, xaxis: { title: { text: "votes" } } });
}

/** What the soft labels rest on: whose word counts, how far it is trusted, how old the last fit is. */
function showLearned({ votes, since, experts, trust, weighted, pull }) {
  const words = [votes ? `Learned from ${number(votes)} votes` : "Nothing learned yet"];
  if (since) words[0] += `; ${number(since)} ${votes ? "more" : since === 1 ? "vote" : "votes"} ${since === 1 ? "has" : "have"} moved the soft labels${votes ? " since" : ""}`;
  if (trust) {
    const votesOf = (value) => (value < 0.95 ? "less than 1" : number(Math.round(value)));
    words.push(`Beside an item's own votes, all sources together count as ${votesOf(trust.value)} ${Math.round(trust.value) > 1 ? "votes" : "vote"} (${votesOf(trust.lower)} to ${votesOf(trust.upper)}, item by item)`);
  }
  if (weighted) words.push("Each person's votes count by how well they follow the others");
  if (pull?.known) words.push(`Suggestions decided about ${percent(pull.value)} (${percent(pull.lower)} to ${percent(pull.upper)}) of the votes that saw one${config.several ? " on the class where they pull most" : ""}; votes that agree with one count less accordingly`);
  else if (pull) words.push("How far suggestions pull votes is not known yet: too few votes without one");
  $("learned").textContent = `${words.join(". ")}.`;
  $("experts").replaceChildren(...(votes ? experts : []).map(({ name, share }) => make("div", { class: "bar-row" }, make("span", { class: "label", title: name }, name), shareBar(share), make("span", { class: "num" }, percent(share)))));
}

function shareBar(share) {
  const svg = draw("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.append(draw("rect", { x: 0, y: 1, width: 100, height: 8, fill: "currentColor", opacity: 0.07 }), draw("rect", { x: 0, y: 1, width: 100 * share, height: 8, fill: accent() }));
  return svg;
}

// ------------------------------------------------------------------------------------------------------------- charts
function showCharts({ timeline, overview, classes }) {
  plot("chart-time", [{ x: timeline.times.map((time) => new Date(1000 * time)), y: timeline.votes, mode: "lines", line: { shape: "hv", color: accent(), width: 2 }, fill: "tozeroy", fillcolor: "rgba(80,120,220,.12)", hovertemplate: "%{y} votes<extra>%{x}</extra>" }], {});
  if (!overview.evidence) return;
  const { edges, counts } = overview.evidence;
  bars("chart-evidence", edges.map((edge, place) => (place + 1 < edges.length ? `${edge}–${edges[place + 1]}` : `≥ ${edge}`)), counts, { xaxis: { type: "category", tickangle: -40 }, yaxis: { title: { text: "items" } } });
  const bins = overview.uncertainty.length;
  bars("chart-uncertainty", overview.uncertainty.map((_, place) => (place + 0.5) / bins), overview.uncertainty, { bargap: 0.04, xaxis: { range: [0, 1], title: { text: "width of the interval" } }, yaxis: { title: { text: "items" } } });
  bars("chart-share", classes.map((name) => (name.length > 14 ? `${name.slice(0, 13)}…` : name)), overview.class_share, { xaxis: { type: "category" }, yaxis: { tickformat: ".0%" } }, classes.map((_, place) => classColour(place)));
  const { clear, ambiguous } = overview.verdicts;
  $("n-known").textContent = number(clear);
  const items = clear === 1 ? "item clear" : "items clear";
  $("n-known-label").textContent = ambiguous ? `${items}, ${number(ambiguous)} ambiguous` : items;
}

// ---------------------------------------------------------------------------------------------------- people and items
const COLOURS = { ok: "ok", check: "check", "does not follow": "bad" }; // of the flags; words and advice come with the data

function showPeople({ annotators, timeline }) {
  const known = new Map(annotators.map((one) => [one.annotator, one]));
  const rows = timeline.people.slice(0, 100).map(({ annotator, votes }) => {
    const one = known.get(annotator);
    const gold = one && one.gold_total ? `${one.gold_right} of ${one.gold_total}` : "–";
    return make("tr", {}, make("th", { scope: "row" }, annotator),
      make("td", {}, make("span", { class: `flag ${COLOURS[one?.flag] ?? ""}` }, one?.verdict ?? "not known yet"), one?.advice ? make("span", { class: "muted small advice" }, one.advice) : ""),
      make("td", { class: "num" }, number(votes)),
      make("td", { class: "num" }, one?.agreement === null || !one ? "–" : percent(one.agreement)),
      make("td", {}, one && one.consistency !== null && one.flag !== "unknown" ? intervalBar(one.lower, one.consistency, one.upper) : "–"),
      make("td", { class: "num" }, gold));
  });
  $("people").replaceChildren(...(rows.length ? rows : [make("tr", {}, make("td", { colSpan: 6, class: "muted" }, "Nobody has voted yet."))]));
}

function intervalBar(lower, value, upper) {
  const svg = draw("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": `${value.toFixed(2)}, ${lower.toFixed(2)} to ${upper.toFixed(2)}` });
  svg.append(draw("rect", { x: 0, y: 4.2, width: 100, height: 1.6, fill: "currentColor", opacity: 0.18 }),
    draw("rect", { x: 100 * lower, y: 2.5, width: Math.max(1, 100 * (upper - lower)), height: 5, rx: 1, fill: accent(), opacity: 0.45 }),
    draw("rect", { x: 100 * value - 0.8, y: 0.5, width: 1.6, height: 9, fill: accent() }));
  return svg;
}

function itemButton(card, text) {
  const best = card.p.indexOf(Math.max(...card.p));
  const picture = card.picture ? make("img", { src: thumbnail(card.row), alt: "", loading: "lazy" }) : make("span", { class: "snippet" }, (card.text ?? card.item).slice(0, 60));
  return make("button", { type: "button", title: card.item, onclick: () => pick(card.row) }, picture, make("b", {}, named(card.p)), make("span", {}, text(card, best)));
}

function showLists({ overview }) {
  if (!overview.ambiguous) return;
  const ambiguous = overview.ambiguous.map((card) => itemButton(card, (one, best) => percent(one.p[best])));
  $("ambiguous").replaceChildren(...(ambiguous.length ? ambiguous : [make("p", { class: "muted" }, "No item is known to be ambiguous.")]));
  $("least-known").replaceChildren(...overview.least_known.map((card) => itemButton(card, (one) => `evidence ${one.evidence.toPrecision(2)}`)));
}

// ----------------------------------------------------------------------------------------------------------- one item
async function pick(row) {
  const box = $("why");
  box.setAttribute("aria-busy", "true");
  map.markRow(row);
  try {
    const found = await ask("GET", `/api/v1/items/${row}/why?top=8`);
    box.replaceChildren(...describe(found));
    if (matchMedia("(max-width: 640px)").matches) $("item-card").scrollIntoView({ block: "start" });
  } catch (error) {
    box.replaceChildren(make("p", { class: "problem" }, error.message));
  }
  box.removeAttribute("aria-busy");
}

const SOURCES = { "distant votes": "votes farther away", classifiers: "classifiers trained on the votes", prior: "the predictions you brought", "class shares": "how common the class is" };

function describe({ card, label, votes }) {
  const head = make("div", { class: "why-head" });
  if (card.picture) head.append(make("img", { src: `/api/v1/items/${card.row}/picture`, alt: `Item ${card.item}` }));
  head.append(make("div", {}, make("p", {}, make("b", {}, card.item)), make("p", { class: "muted small" }, `${label.verdict}; evidence ${label.evidence.toPrecision(3)}, ${label.votes} own ${label.votes === 1 ? "vote" : "votes"}`)));
  const order = label.p.map((_, place) => place).sort((a, b) => label.p[b] - label.p[a]).slice(0, 6);
  const rows = order.map((place) => make("div", { class: "bar-row" }, make("span", { class: "label", title: config.classes[place] }, config.classes[place]), classBar(label, place), make("span", { class: "num" }, percent(label.p[place]))));
  const reasons = votes.map((part) => make("li", {}, part.row === null ? make("span") : make("img", { src: thumbnail(part.row), alt: "", onerror: ({ target }) => { target.replaceWith(make("span")); } }),
    make("span", {}, make("b", {}, part.label), part.row === null ? `: ${SOURCES[part.source] ?? part.source}` : ` by ${part.annotator} on ${part.source === "own vote" ? "this item" : part.item}`), make("span", { class: "num" }, percent(part.weight, 1))));
  return [head, ...(card.text ? [make("p", { class: "why-text" }, card.text)] : []), make("div", { class: "bars" }, ...rows),
    reasons.length ? make("h3", { class: "small" }, "What it rests on, heaviest first") : make("p", { class: "muted" }, "No vote reaches this item yet."), make("ul", { class: "reasons" }, ...reasons)];
}

function classBar(label, place) {
  const svg = draw("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": `between ${percent(label.lower[place])} and ${percent(label.upper[place])}` });
  svg.append(draw("rect", { x: 0, y: 1, width: 100, height: 8, fill: "currentColor", opacity: 0.07 }), draw("rect", { x: 0, y: 1, width: 100 * label.p[place], height: 8, fill: classColour(place) }),
    draw("line", { x1: 100 * label.lower[place], x2: 100 * label.upper[place], y1: 5, y2: 5, stroke: "currentColor", "stroke-width": 1.4, opacity: 0.75, "vector-effect": "non-scaling-stroke" }));
  return svg;
}

$("search").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = $("search-text").value.trim();
  const { items } = await ask("GET", `/api/v1/items?limit=30&search=${encodeURIComponent(text)}`);
  $("results").hidden = false;
  $("results").replaceChildren(...(items.length ? items.map((card) => make("button", { type: "button", onclick: () => pick(card.row) }, card.item)) : [make("p", { class: "muted" }, "No item has that in its id.")]));
  if (items.length === 1) pick(items[0].row);
});

// ---------------------------------------------------------------------------------------------------------------- map
const map = new ItemMap($("map-canvas"), {
  onPick: pick,
  onHover(hit, x, y) {
    const tip = $("tip");
    tip.hidden = !hit;
    if (!hit) return;
    if (tip.dataset.row !== String(hit.row)) {
      tip.dataset.row = hit.row;
      $("tip-picture").src = thumbnail(hit.row);
      $("tip-picture").hidden = false;
    }
    $("tip-class").textContent = config.classes[hit.label] ?? "none of these";
    $("tip-text").textContent = `evidence ${hit.evidence.toPrecision(2)}, interval ${hit.uncertainty.toFixed(2)} wide`;
    const box = $("map").getBoundingClientRect();
    tip.style.transform = `translate(${Math.min(x + 14, box.width - tip.offsetWidth - 6)}px, ${Math.max(4, Math.min(y + 14, box.height - tip.offsetHeight - 6))}px)`;
  },
});
$("tip-picture").addEventListener("error", ({ target }) => { target.hidden = true; });

function showLegend(colour) {
  if (colour === "class") {
    const places = [...config.classes.slice(0, 30).keys(), ...(config.several ? [config.classes.length] : [])];
    const shown = places.map((place) => make("span", {}, dot(classColour(place)), config.classes[place] ?? "none of these"));
    $("legend").replaceChildren(...shown, make("span", {}, dot("var(--line)"), "grey: not known yet"));
    return;
  }
  const svg = draw("svg", { width: 140, height: 10, "aria-hidden": "true" });
  for (let step = 0; step < 70; step++) svg.append(draw("rect", { x: 2 * step, y: 0, width: 2, height: 10, fill: `rgb(${rampColour(step / 69).join(",")})` }));
  $("legend").replaceChildren(make("span", {}, colour === "evidence" ? "little" : "unsure", svg, colour === "evidence" ? "much evidence" : "sure"));
}

function dot(colour) {
  const svg = draw("svg", { width: 10, height: 10, "aria-hidden": "true" });
  const circle = draw("circle", { cx: 5, cy: 5, r: 5 });
  circle.style.fill = colour;
  svg.append(circle);
  return svg;
}

$("map-colours").addEventListener("click", ({ target }) => {
  const colour = target.dataset.colour;
  if (!colour) return;
  for (const button of $("map-colours").children) button.setAttribute("aria-pressed", String(button === target));
  map.setColour(colour);
  showLegend(colour);
});

async function loadMap() {
  if (!mapKnown) {
    const places = await askBytes("/api/v1/map/places");
    if (!places.byteLength) return;
    map.setPlaces(places);
    mapKnown = true;
    $("map-note").hidden = true;
  }
  map.setValues(await askBytes("/api/v1/map/values"));
}

// -------------------------------------------------------------------------------------------------------------- updates
async function load() {
  if (loading) return;
  const wait = last + PAUSE - Date.now();
  loading = true;
  if (wait > 0) await new Promise((done) => setTimeout(done, wait));
  try {
    last = Date.now();
    const data = await ask("GET", "/api/v1/dashboard");
    seen = data.version;
    $("status-note").hidden = data.status === "running";
    $("status-note").textContent = `Voting is ${data.status}; open it again on the page Project.`;
    showCounts(data.counts);
    showQuality(data);
    showLearned(data.learned);
    showCharts(data);
    showLabelStudio(data.label_studio);
    showPeople(data);
    showLists(data);
    await loadMap();
  } catch (error) {
    showLine("off", error.status === 401 ? "signed out: reload" : "no connection");
  } finally {
    loading = false;
    if (seen < wanted) load();
  }
}

function listen() {
  const events = new EventSource("/api/v1/events");
  events.addEventListener("counts", ({ data }) => {
    const { version, counts } = JSON.parse(data);
    showLine("on", "live");
    showCounts(counts);
    wanted = version;
    if (seen < wanted) load();
  });
  events.onerror = () => showLine("off", "no connection"); // the browser tries again by itself
}

showLegend("class");
addEventListener("load", () => { last = 0; load(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", load); // charts keep the colours they were drawn in
listen();

// Voting in a notebook's cell: the keys of the voting page, and a kernel in place of a server.

import { Zoom } from "./zoom.js";

const AHEAD = 3; // cards fetched ahead: a click and the next item is there
const PATIENCE = 5000; // milliseconds until a kernel counts as busy or gone
const SMALL = 500; // pictures with fewer pixels on a side are enlarged
const MANY = 20; // with more classes there is a box to search them
const SHOWN = 4; // classes in the picture of what moved
const HELP = [["1–9, then letters", "vote for a class"], ["U", "unsure: your next vote counts half"], ["Space", "skip this item"],
  ["Z", "take back your last vote and see its item again"], ["!", "write a note about this item"], ["+ −", "come closer, step back"],
  ["/", "with more than 20 classes: find one by its name"], ["?", "this help"]];

/** An element with attributes, properties where they are functions, and children. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element[name] = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const percent = (share) => `${Math.round(100 * share)} %`;
const counted = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

class View {
  constructor(model, el) {
    Object.assign(this, { model, el, about: model.get("about"), view: Math.random().toString(36).slice(2) });
    Object.assign(this, { ahead: [], number: 0, unheard: [], votes: 0, steps: 0, left: null, heard: false, shown: null }); // unheard: sent, not answered
    Object.assign(this, { unsure: false, picked: new Set(), goingBack: false, tookBack: null, addresses: new Map(), timer: 0 });
    this.build();
    this.listen = (content, buffers) => this.hear(content, buffers);
    model.on("msg:custom", this.listen);
    this.ask([]);
  }

  leave() {
    clearTimeout(this.timer);
    this.model.off("msg:custom", this.listen);
    for (const address of this.addresses.values()) URL.revokeObjectURL(address);
  }

  // -------------------------------------------------------------------------------------------------------- the page
  build() {
    const { about } = this, many = about.classes.length > MANY;
    this.buttons = about.classes.map(({ name, key }, column) => {
      const button = make("button", { class: "class", type: "button", "aria-keyshortcuts": key || null, onclick: () => this.choose(column) },
        ...(key ? [make("kbd", { "aria-hidden": "true" }, key)] : []), make("span", {}, name));
      if (about.several) button.setAttribute("aria-pressed", "false");
      return button;
    });
    this.byKey = new Map(about.classes.map(({ key }, column) => [key, column]).filter(([key]) => key));
    const action = (name, key, act) => make("button", { type: "button", "aria-keyshortcuts": key, onclick: act }, make("kbd", { "aria-hidden": "true" }, key), name);
    this.undoButton = action("Undo", "Z", () => this.undo());
    this.unsureButton = action("Unsure", "U", () => this.setUnsure(!this.unsure));
    this.skipButton = action("Skip", "Space", () => this.skip());
    this.noteButton = action("Note", "!", () => this.openNote());
    this.helpButton = action("Help", "?", () => { this.help.hidden = !this.help.hidden; });
    this.voteButton = action("Vote", "Enter", () => this.castPicked());
    this.voteButton.hidden = !about.several;
    this.unsureButton.hidden = about.several;
    this.find = make("input", { type: "search", class: "find", placeholder: "Find a class ( / )", "aria-label": "Find a class", autocomplete: "off", hidden: !many });
    this.name = make("input", { type: "text", class: "name", "aria-label": "Your name", placeholder: "Your name", autocomplete: "off", maxlength: 200 });
    this.name.value = about.annotator;
    this.progress = make("span", { class: "count" });
    this.picture = make("img", { alt: "The item", draggable: "false" });
    this.frame = make("div", { class: "frame", hidden: true }, this.picture);
    this.audio = make("audio", { controls: true, hidden: true });
    this.video = make("video", { controls: true, playsinline: true, hidden: true });
    this.text = make("blockquote", { hidden: true });
    this.trouble = make("p", { class: "trouble", role: "status", hidden: true });
    this.waiting = make("p", { class: "waiting" }, "Looking for the next item…");
    this.note = make("p", { class: "note", hidden: true });
    this.noteInput = make("input", { type: "text", "aria-label": "Note about this item", placeholder: "A note about this item, Enter to keep it", maxlength: 1000, hidden: true });
    this.moved = make("div", { class: "moved", role: "status" });
    this.said = make("p", { class: "said", role: "status", "aria-live": "polite" });
    this.help = make("dl", { class: "help", hidden: true }, ...HELP.flatMap(([key, does]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, does)]));
    this.root = make("section", { class: "softspread-voter", tabindex: "0", "aria-label": `Vote: ${about.question}`, "data-lm-suppress-shortcuts": "true" },
      make("header", {}, make("strong", {}, about.question), this.name, this.progress),
      make("div", { class: "stage" }, this.waiting, this.frame, this.audio, this.video, this.text, this.trouble), this.note, this.find,
      make("div", { class: many ? "classes many" : "classes" }, ...this.buttons),
      make("div", { class: "actions" }, this.voteButton, this.undoButton, this.unsureButton, this.skipButton, this.noteButton, this.helpButton),
      this.noteInput, this.moved, this.help, this.said);
    this.zoom = new Zoom(this.frame, this.picture, () => {});
    this.picture.addEventListener("load", () => this.picture.classList.toggle("small", Math.max(this.picture.naturalWidth, this.picture.naturalHeight) < SMALL));
    for (const shown of [this.picture, this.audio, this.video]) shown.addEventListener("error", () => { if (shown.hasAttribute("src")) this.cannotShow("The browser cannot show this item. Skip it, or vote by what you know."); });
    this.root.addEventListener("keydown", (event) => this.press(event));
    this.root.addEventListener("click", (event) => { if (event.detail > 0 && !event.target.closest("input, audio, video")) this.root.focus({ preventScroll: true }); });
    this.find.addEventListener("input", () => this.findClasses());
    this.el.append(this.root);
    this.show();
  }

  show() {
    const card = this.ahead[0];
    this.waiting.hidden = Boolean(card);
    for (const button of [...this.buttons, this.skipButton, this.noteButton, this.voteButton]) button.disabled = !card || this.goingBack;
    this.undoButton.disabled = !this.canGoBack();
    const left = this.left - this.underWay("vote", "skip");
    this.progress.textContent = counted(this.votes + this.underWay("vote"), "vote") + (this.left === null ? "" : ` · ${counted(left, "item")} to go`);
    this.unsureButton.setAttribute("aria-pressed", String(this.unsure));
    for (const [column, button] of this.buttons.entries()) if (this.about.several) button.setAttribute("aria-pressed", String(this.picked.has(column)));
    this.note.hidden = this.tookBack === null;
    this.note.textContent = this.tookBack === null ? "" : `You took back “${this.tookBack}”. Vote again, or skip.`;
    if (!card) {
      this.waiting.textContent = this.heard && !this.unheard.length ? "That was all. Thank you!" : "Looking for the next item…";
      for (const part of [this.frame, this.text, this.trouble]) part.hidden = true;
    }
    if (this.shown !== (card?.card ?? null)) this.showCard(card);
  }

  /** How many operations of these kinds the kernel has not answered. */
  underWay(...kinds) {
    return this.unheard.filter(({ kind }) => kinds.includes(kind)).length;
  }

  canGoBack() {
    return !this.goingBack && this.steps + this.underWay("vote", "skip") > 0;
  }

  showCard(card) {
    this.shown = card?.card ?? null;
    this.trouble.hidden = true;
    this.zoom.reset();
    this.frame.hidden = card?.kind !== "picture";
    if (card?.kind === "picture") this.picture.src = this.address(card);
    for (const kind of ["audio", "video"]) {
      this[kind].hidden = card?.kind !== kind;
      if (card?.kind === kind) this[kind].src = this.address(card);
      else if (this[kind].hasAttribute("src")) { this[kind].removeAttribute("src"); this[kind].load(); }
    }
    this.text.hidden = !card || (card.kind !== "text" && card.kind !== "name");
    this.text.textContent = this.text.hidden ? "" : card.text;
    if (card?.kind === "problem") this.cannotShow(`This item cannot be shown: ${card.text}.`);
  }

  cannotShow(why) {
    this.frame.hidden = true;
    this.trouble.hidden = false;
    this.trouble.textContent = why;
  }

  address(card) {
    if (!this.addresses.has(card.card)) this.addresses.set(card.card, URL.createObjectURL(new Blob([card.data], { type: card.type })));
    return this.addresses.get(card.card);
  }

  /** What the last vote moved: the soft label of its item before (a line) and after (a bar). */
  showMoved({ before, after, chosen, others, changed }) {
    const largest = before.map((share, column) => [Math.max(share, after[column]) + (chosen.includes(column) ? 1 : 0), column]).sort((a, b) => b[0] - a[0]);
    const rows = largest.slice(0, SHOWN).map(([, column]) => {
      const bar = make("span", { class: "bar" }, make("i"), make("b"));
      bar.firstChild.style.width = `${100 * after[column]}%`;
      bar.lastChild.style.left = `${100 * before[column]}%`;
      return make("div", { class: chosen.includes(column) ? "row chosen" : "row" }, make("span", { class: "which" }, this.about.classes[column].name), bar, make("span", { class: "share" }, `${percent(before[column])} → ${percent(after[column])}`));
    });
    const moved = others === null ? "" : `${counted(others, "soft label")} moved by a point or more; ${counted(changed, "item")} changed ${changed === 1 ? "its" : "their"} most probable class.`;
    this.moved.replaceChildren(make("p", {}, "The soft label of your last item, before and after your vote"), ...rows, make("p", { class: "quiet" }, moved));
  }

  // -------------------------------------------------------------------------------------------------- what one does
  choose(column) {
    if (!this.ahead[0] || this.goingBack) return;
    if (!this.about.several) { this.vote({ column, unsure: this.unsure }, this.about.classes[column].name); return; }
    if (!this.picked.delete(column)) this.picked.add(column);
    this.show();
  }

  castPicked() {
    if (!this.about.several || !this.ahead[0] || this.goingBack) return;
    const columns = [...this.picked].sort((a, b) => a - b);
    this.vote({ columns }, columns.length ? columns.map((column) => this.about.classes[column].name).join(", ") : "none of them");
  }

  vote(choice, said) {
    const card = this.ahead[0];
    this.said.textContent = `${this.unsure ? "Unsure vote" : "Voted"} ${said}. ${this.ahead.length > 1 ? "Next item." : ""}`;
    this.finish({ kind: "vote", card: card.card, annotator: this.name.value, ...choice });
  }

  skip() {
    if (!this.ahead[0] || this.goingBack) return;
    this.said.textContent = "Skipped. Next item.";
    this.finish({ kind: "skip", card: this.ahead[0].card });
  }

  finish(operation) {
    this.ahead.shift();
    this.tookBack = null;
    this.unsure = false;
    this.picked.clear();
    this.noteInput.hidden = true;
    if (this.find.value) { this.find.value = ""; this.findClasses(); }
    this.ask([operation]);
    this.show();
  }

  undo() {
    if (!this.canGoBack()) return;
    this.goingBack = true;
    this.ask([{ kind: "undo" }]);
    this.show();
  }

  setUnsure(value) {
    if (this.about.several) return;
    this.unsure = value;
    this.show();
  }

  openNote() {
    if (!this.ahead[0]) return;
    this.noteInput.hidden = false;
    this.noteInput.value = "";
    this.noteInput.focus();
  }

  findClasses() {
    const word = this.find.value.trim().toLowerCase();
    for (const [column, button] of this.buttons.entries()) button.hidden = !this.about.classes[column].name.toLowerCase().includes(word);
    return word ? this.buttons.findIndex((button) => !button.hidden) : -1;
  }

  // -------------------------------------------------------------------------------------------------------- the line
  ask(operations) {
    for (const operation of operations) operation.number = ++this.number;
    this.unheard.push(...operations);
    this.model.send({ view: this.view, operations, holding: this.ahead.map((card) => card.card), wanted: AHEAD });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.say("The kernel does not answer yet: it is busy, or the cell has to run again. Votes arrive when it is free."), PATIENCE);
  }

  say(text) {
    this.trouble.hidden = !text;
    this.trouble.textContent = text;
  }

  hear(content, buffers) {
    if (content.view !== this.view) return;
    clearTimeout(this.timer);
    if (content.failed) {
      Object.assign(this, { unheard: [], goingBack: false });
      this.show();
      this.say(`Not counted, something failed: ${content.failed}`);
      return;
    }
    this.heard = true;
    this.unheard = this.unheard.filter(({ number }) => number > content.done);
    Object.assign(this, { votes: content.votes, steps: content.steps, left: content.left, goingBack: this.underWay("undo") > 0 });
    if (content.back) {
      this.tookBack = content.back.label;
      this.said.textContent = content.back.label === null ? "Back to the skipped item." : `Took back ${content.back.label}.`;
      this.moved.replaceChildren();
    }
    if (content.moved) this.showMoved(content.moved);
    this.take(content.cards.map((card) => ({ ...card, data: card.buffer === undefined ? null : buffers[card.buffer] })), content.back?.card);
    this.show();
    if (content.problem) this.say(content.problem);
    else if (!this.unheard.length && this.ahead[0]?.kind !== "problem") this.say("");
  }

  /** Cards that are new here; what is on its way to the kernel does not come back, and what was taken back goes first. */
  take(cards, first) {
    const busy = new Set([...this.ahead, ...this.unheard].map(({ card }) => card));
    const fresh = cards.filter(({ card }) => !busy.has(card));
    this.ahead = [...fresh.filter(({ card }) => card === first), ...this.ahead, ...fresh.filter(({ card }) => card !== first)];
    for (const card of this.ahead) if (card.kind === "picture") new Image().src = this.address(card); // decoded before it is seen
  }

  // ------------------------------------------------------------------------------------------------------------ keys
  press(event) {
    event.stopPropagation(); // the notebook has keys of its own
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target === this.name) { if (event.key === "Enter" || event.key === "Escape") this.root.focus(); return; }
    if (event.target === this.noteInput) { this.pressInNote(event); return; }
    if (event.target === this.find) { this.pressInFind(event); return; }
    const key = event.key.toLowerCase(), onButton = event.target.closest("button");
    if (event.repeat && key !== "z") return; // a key held down is one vote
    if (key === "enter" && !onButton) this.castPicked();
    else if (key === " " && !onButton) this.skip();
    else if (key === "z") this.undo();
    else if (key === "u") this.setUnsure(!this.unsure);
    else if (key === "?") this.helpButton.onclick();
    else if (key === "!") this.openNote();
    else if (key === "/" && !this.find.hidden) this.find.focus();
    else if (key === "+" || key === "=") this.zoom.by(1.5);
    else if (key === "-") this.zoom.by(1 / 1.5);
    else if (this.byKey.has(key)) this.choose(this.byKey.get(key));
    else return;
    event.preventDefault();
  }

  pressInNote(event) {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    const note = this.noteInput.value.trim();
    if (event.key === "Enter" && note && this.ahead[0]) {
      this.ask([{ kind: "note", card: this.ahead[0].card, note }]);
      this.said.textContent = "Noted.";
    }
    this.noteInput.hidden = true;
    this.root.focus();
  }

  pressInFind(event) {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    const first = this.findClasses();
    if (event.key === "Escape" || first < 0) { this.find.value = ""; this.findClasses(); } else this.choose(first);
    this.root.focus();
  }
}

function render({ model, el }) {
  const view = new View(model, el);
  return () => view.leave();
}

export default { render };

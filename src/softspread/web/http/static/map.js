// The map: up to 100,000 dots drawn straight into pixels, so that it moves smoothly without a graphics card.

import { classColour } from "./shared.js";

const CELLS = 160; // of the grid that finds the dot under the mouse, per side
const REACH = 10; // pixels around the mouse
const MOST_ZOOM = 60;
// Dark to bright, even in lightness: blue, green, yellow
const RAMP = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];

const pack = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
const mix = (a, b, share) => a.map((value, place) => Math.round(value + (b[place] - value) * share));

export function rampColour(share) {
  const at = Math.max(0, Math.min(0.9999, share)) * (RAMP.length - 1);
  return mix(RAMP[Math.floor(at)], RAMP[Math.floor(at) + 1], at % 1);
}

function rgb(text) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d");
  context.fillStyle = text;
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

export class ItemMap {
  constructor(canvas, { onHover, onPick }) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.count = 0;
    this.zoom = 1;
    this.centre = [0.5, 0.5];
    this.colour = "class";
    this.onHover = onHover;
    this.onPick = onPick;
    this.pointers = new Map();
    new ResizeObserver(() => this.resize()).observe(canvas);
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoomAt(event.offsetX, event.offsetY, Math.exp(-event.deltaY / 400)); }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => onHover(null));
    canvas.addEventListener("keydown", (event) => this.key(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.paint(); this.draw(); });
  }

  setPlaces(buffer) {
    const count = this.count = buffer.byteLength / 12;
    this.rows = new Uint32Array(buffer, 0, count);
    this.places = new Float32Array(buffer, 4 * count, 2 * count);
    this.colours = new Uint32Array(count);
    const cell = new Uint32Array(count), starts = new Uint32Array(CELLS * CELLS + 1);
    for (let i = 0; i < count; i++) {
      cell[i] = this.cellOf(this.places[2 * i], this.places[2 * i + 1]);
      starts[cell[i] + 1]++;
    }
    for (let c = 0; c < CELLS * CELLS; c++) starts[c + 1] += starts[c];
    const next = starts.slice(), members = new Uint32Array(count);
    for (let i = 0; i < count; i++) members[next[cell[i]]++] = i;
    Object.assign(this, { starts, members });
  }

  cellOf(x, y) {
    const place = (value) => Math.max(0, Math.min(CELLS - 1, Math.floor(value * CELLS)));
    return place(y) * CELLS + place(x);
  }

  setValues(buffer) {
    const count = this.count;
    if (buffer.byteLength !== 10 * count) return;
    this.evidence = new Float32Array(buffer, 0, count);
    this.uncertainty = new Float32Array(buffer, 4 * count, count);
    this.classes = new Uint16Array(buffer, 8 * count, count);
    this.paint();
    this.draw();
  }

  setColour(colour) {
    this.colour = colour;
    this.paint();
    this.draw();
  }

  paint() {
    if (!this.evidence) return;
    const { colours, evidence, uncertainty, classes, count } = this;
    if (this.colour === "class") {
      const neutral = rgb(getComputedStyle(this.canvas).getPropertyValue("--line"));
      const most = classes.reduce((a, b) => Math.max(a, b), 0);
      const table = [];
      for (let c = 0; c <= most; c++) {
        const vivid = rgb(classColour(c));
        for (let level = 0; level < 16; level++) table.push(pack(mix(vivid, neutral, level / 16)));
      }
      // The less is known, the greyer.
      for (let i = 0; i < count; i++) colours[i] = table[16 * classes[i] + Math.min(15, Math.floor(Math.max(0, uncertainty[i] - 0.15) * 18))];
    } else {
      const table = Array.from({ length: 256 }, (_, level) => pack(rampColour(level / 255)));
      const share = this.colour === "evidence" ? (i) => Math.log10(1 + 100 * evidence[i]) / 4 : (i) => 1 - uncertainty[i];
      for (let i = 0; i < count; i++) colours[i] = table[Math.max(0, Math.min(255, Math.round(255 * share(i))))];
    }
  }

  resize() {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    this.canvas.height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    this.draw();
  }

  /** From a place to pixels of the canvas: x = a * place + b. */
  view() {
    const { width, height } = this.canvas;
    const margin = 14 * this.ratio, scale = this.zoom;
    const ax = (width - 2 * margin) * scale, ay = (height - 2 * margin) * scale;
    return { ax, ay, bx: width / 2 - ax * this.centre[0], by: height / 2 - ay * this.centre[1] };
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => { this.frame = 0; this.drawNow(); });
  }

  drawNow() {
    const { width, height } = this.canvas;
    if (!this.evidence || !width) return;
    const image = this.context.createImageData(width, height), pixels = new Uint32Array(image.data.buffer);
    const { ax, ay, bx, by } = this.view();
    const crowd = Math.sqrt((width * height) / Math.max(1, this.count / (this.zoom * this.zoom)));
    const radius = Math.max(this.ratio * 0.8, Math.min(this.ratio * 7, crowd * 0.2));
    const stamp = [], whole = Math.ceil(radius);
    for (let y = -whole; y <= whole; y++) for (let x = -whole; x <= whole; x++) if (x * x + y * y <= radius * radius) stamp.push([x, y]);
    const { places, colours, count } = this;
    for (let i = 0; i < count; i++) {
      const x = Math.round(ax * places[2 * i] + bx), y = Math.round(ay * places[2 * i + 1] + by);
      if (x < whole || y < whole || x >= width - whole || y >= height - whole) continue;
      const at = y * width + x, colour = colours[i];
      for (const [dx, dy] of stamp) pixels[at + dy * width + dx] = colour;
    }
    this.context.putImageData(image, 0, 0);
    this.mark(radius);
  }

  mark(radius) {
    if (this.marked === undefined || this.marked === null) return;
    const { ax, ay, bx, by } = this.view();
    const x = ax * this.places[2 * this.marked] + bx, y = ay * this.places[2 * this.marked + 1] + by;
    this.context.lineWidth = 2 * this.ratio;
    this.context.strokeStyle = getComputedStyle(this.canvas).getPropertyValue("--ink");
    this.context.beginPath();
    this.context.arc(x, y, radius + 4 * this.ratio, 0, 2 * Math.PI);
    this.context.stroke();
  }

  markRow(row) {
    this.marked = this.rows ? this.rows.indexOf(row) : -1;
    if (this.marked < 0) this.marked = null;
    this.draw();
  }

  nearest(offsetX, offsetY) {
    if (!this.count) return null;
    const { ax, ay, bx, by } = this.view(), reach = REACH * this.ratio;
    const px = offsetX * this.ratio, py = offsetY * this.ratio;
    const x = (px - bx) / ax, y = (py - by) / ay;
    let best = null, closest = reach * reach;
    const spanX = Math.ceil((reach / ax) * CELLS), spanY = Math.ceil((reach / ay) * CELLS);
    const cellX = Math.floor(x * CELLS), cellY = Math.floor(y * CELLS);
    for (let cy = Math.max(0, cellY - spanY); cy <= Math.min(CELLS - 1, cellY + spanY); cy++) {
      for (let cx = Math.max(0, cellX - spanX); cx <= Math.min(CELLS - 1, cellX + spanX); cx++) {
        const cell = cy * CELLS + cx;
        for (let m = this.starts[cell]; m < this.starts[cell + 1]; m++) {
          const i = this.members[m];
          const dx = ax * this.places[2 * i] + bx - px, dy = ay * this.places[2 * i + 1] + by - py;
          const distance = dx * dx + dy * dy;
          if (distance < closest) [best, closest] = [i, distance];
        }
      }
    }
    return best;
  }

  zoomAt(offsetX, offsetY, factor) {
    const before = this.view(), px = offsetX * this.ratio, py = offsetY * this.ratio;
    const x = (px - before.bx) / before.ax, y = (py - before.by) / before.ay;
    this.zoom = Math.max(1, Math.min(MOST_ZOOM, this.zoom * factor));
    const after = this.view();
    this.pan(x - (px - after.bx) / after.ax, y - (py - after.by) / after.ay);
  }

  pan(dx, dy) {
    const clamp = (value) => Math.max(0, Math.min(1, value));
    this.centre = this.zoom === 1 ? [0.5, 0.5] : [clamp(this.centre[0] + dx), clamp(this.centre[1] + dy)];
    this.draw();
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    this.moved = 0;
  }

  move(event) {
    const last = this.pointers.get(event.pointerId);
    if (!last) {
      const hit = this.nearest(event.offsetX, event.offsetY);
      this.onHover(hit === null ? null : this.about(hit), event.offsetX, event.offsetY);
      return;
    }
    const now = [event.offsetX, event.offsetY];
    if (this.pointers.size === 2) {
      const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      const size = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
      this.zoomAt((now[0] + other[0]) / 2, (now[1] + other[1]) / 2, size(now, other) / size(last, other));
    } else {
      const { ax, ay } = this.view();
      this.pan(((last[0] - now[0]) * this.ratio) / ax, ((last[1] - now[1]) * this.ratio) / ay);
    }
    this.moved += Math.abs(now[0] - last[0]) + Math.abs(now[1] - last[1]);
    this.pointers.set(event.pointerId, now);
    this.onHover(null);
  }

  release(event) {
    this.pointers.delete(event.pointerId);
    if (this.moved > 5) return;
    const hit = this.nearest(event.offsetX, event.offsetY);
    if (hit !== null) this.onPick(this.rows[hit]);
  }

  key(event) {
    const step = 0.1 / this.zoom, middle = [this.canvas.clientWidth / 2, this.canvas.clientHeight / 2];
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[event.key]) this.pan(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoomAt(...middle, 1.4);
    else if (event.key === "-") this.zoomAt(...middle, 1 / 1.4);
    else return;
    event.preventDefault();
  }

  about(i) {
    return { row: this.rows[i], label: this.classes[i], evidence: this.evidence[i], uncertainty: this.uncertainty[i] };
  }
}

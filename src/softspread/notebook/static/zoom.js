// A picture that one can come closer to: wheel or pinch, drag, double click, + and - on the keyboard.

const MOST = 12, STEP = 1.3;

export class Zoom {
  /** `frame` shows a part of `picture`; `onChange` hears whether it is enlarged. */
  constructor(frame, picture, onChange) {
    Object.assign(this, { frame, picture, onChange, pointers: new Map() });
    frame.addEventListener("wheel", (event) => { event.preventDefault(); this.by(event.deltaY < 0 ? STEP : 1 / STEP, event); }, { passive: false });
    frame.addEventListener("dblclick", (event) => (this.scale > 1 ? this.reset() : this.by(3, event)));
    frame.addEventListener("pointerdown", (event) => { this.pointers.set(event.pointerId, event); if (this.scale > 1) frame.setPointerCapture(event.pointerId); });
    frame.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) frame.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    this.reset();
  }

  reset() {
    this.scale = 1;
    this.x = this.y = 0;
    this.apply();
  }

  /** Enlarge around a point of the page, or around the middle. */
  by(factor, at) {
    const box = this.frame.getBoundingClientRect();
    const x = at ? at.clientX - box.left - box.width / 2 : 0, y = at ? at.clientY - box.top - box.height / 2 : 0;
    const scale = Math.min(MOST, Math.max(1, this.scale * factor)), real = scale / this.scale;
    this.x = x - (x - this.x) * real;
    this.y = y - (y - this.y) * real;
    this.scale = scale;
    this.apply();
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    if (this.pointers.size === 2) {
      const other = [...this.pointers.entries()].find(([id]) => id !== event.pointerId)[1];
      const distance = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1;
      this.by(distance(event) / distance(before), { clientX: (event.clientX + other.clientX) / 2, clientY: (event.clientY + other.clientY) / 2 });
    } else if (this.scale > 1) {
      this.x += event.clientX - before.clientX;
      this.y += event.clientY - before.clientY;
      this.apply();
    }
    this.pointers.set(event.pointerId, event);
  }

  apply() {
    const box = this.frame.getBoundingClientRect(), most = (this.scale - 1) / 2;
    this.x = Math.max(-most * box.width, Math.min(most * box.width, this.x)); // the picture never leaves its frame
    this.y = Math.max(-most * box.height, Math.min(most * box.height, this.y));
    this.picture.style.transform = this.scale > 1 ? `translate(${this.x}px, ${this.y}px) scale(${this.scale})` : "";
    this.frame.classList.toggle("zoomed", this.scale > 1);
    this.onChange(this.scale > 1);
  }
}

// Votes on their way. Each waits in its own entry of the browser's storage until the server says it is written, so
// nothing is lost by a reload, a crash or a lost connection. Its key makes sure that sent twice is written once.

export class Outbox {
  constructor(name, storage = window.localStorage) {
    this.prefix = `softspread:${name}:`;
    this.storage = storage;
    this.memory = new Map(); // where the browser refuses to store
    this.counter = 0;
  }

  add(operation) {
    const order = `${String(Date.now()).padStart(15, "0")}-${String(this.counter++).padStart(6, "0")}`;
    const name = `${this.prefix}op:${order}:${operation.key}`;
    try {
      this.storage.setItem(name, JSON.stringify(operation));
    } catch {
      this.memory.set(name, operation);
    }
  }

  /** [name, operation] in the order in which they were made. */
  waiting() {
    const found = [...this.memory.entries()];
    for (let place = 0; place < this.storage.length; place++) {
      const name = this.storage.key(place);
      if (!name.startsWith(`${this.prefix}op:`)) continue;
      try {
        found.push([name, JSON.parse(this.storage.getItem(name))]);
      } catch {
        this.storage.removeItem(name); // not ours any more
      }
    }
    return found.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  }

  remove(name) {
    this.memory.delete(name);
    this.storage.removeItem(name);
  }

  /** Small things to remember beside the votes. */
  keep(what, value) {
    try { this.storage.setItem(this.prefix + what, JSON.stringify(value)); } catch { /* remembered until the reload */ }
  }

  recall(what, otherwise) {
    try {
      return JSON.parse(this.storage.getItem(this.prefix + what)) ?? otherwise;
    } catch {
      return otherwise;
    }
  }
}

// What all pages share: configuration, requests, and building elements without ever touching HTML text.

export const config = JSON.parse(document.getElementById("config").textContent);

export const $ = (id) => document.getElementById(id);

/** An element with properties and children; strings become text, never markup. */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") element.className = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && key !== "list") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";
export function draw(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export class RequestError extends Error {
  constructor(status, detail) {
    super(typeof detail === "string" ? detail : JSON.stringify(detail));
    this.status = status;
  }
}

const PATIENCE = 15000; // milliseconds until a silent server counts as away

/** Ask the API; throws RequestError with status 0 where nobody answers. */
export async function ask(method, path, body) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRF-Token"] = config.csrf;
  const files = body instanceof FormData;
  if (body !== undefined && !files) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, {
      method, headers, body: body === undefined || files ? body : JSON.stringify(body),
      credentials: "same-origin", signal: AbortSignal.timeout && !files ? AbortSignal.timeout(PATIENCE) : undefined,
    });
  } catch {
    throw new RequestError(0, "no connection");
  }
  if (!answer.ok) {
    let detail = answer.statusText;
    try { detail = (await answer.json()).detail; } catch { /* not JSON: the status says enough */ }
    throw new RequestError(answer.status, detail);
  }
  if (answer.status === 204) return null;
  try { return await answer.json(); } catch { throw new RequestError(0, "the answer was cut short"); }
}

export async function askBytes(path) {
  const answer = await fetch(path, { credentials: "same-origin" });
  if (!answer.ok) throw new RequestError(answer.status, answer.statusText);
  return answer.arrayBuffer();
}

/** A fresh key of 128 random bits; works without HTTPS, unlike crypto.randomUUID. */
export function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function showLine(state, text) {
  $("line").dataset.state = state;
  $("line-text").textContent = text;
}

/** The class that leads, or where an item may have several every class with at least one half. */
export function named(p) {
  if (!config.several) return config.classes[p.indexOf(Math.max(...p))];
  return config.classes.filter((_, place) => p[place] >= 0.5).join(", ") || "none of these";
}

export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;
export const when = (seconds) => new Date(1000 * seconds).toLocaleString();

const NAMED = ["#3366cc", "#e8710a", "#1b9e4b", "#d62839", "#8e44ad", "#00899e", "#b8860b", "#e0559e", "#5f6b7a", "#7cb518"];
/** One colour per class: the lead's, or ten by hand, then around the wheel. */
export function classColour(number) {
  if (config.colours?.[number]) return config.colours[number];
  return number < NAMED.length ? NAMED[number] : `hsl(${(number * 137.5) % 360} 62% ${38 + 14 * (number % 3)}%)`;
}

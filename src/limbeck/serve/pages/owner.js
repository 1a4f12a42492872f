// Asks the server every two seconds what it does, and shows it. Every text goes in as text, never as HTML.

const EVERY = 2_000; // milliseconds, as is the next
const PATIENCE = 10_000;
const KEY = "limbeck-admin-key";
const NONE = "–";
const MOST_RATES = 40;

const by = (id) => document.getElementById(id);
const words = by("words").dataset;
const language = document.documentElement.lang;
const [enter, field, problem, board] = ["enter", "key", "problem", "board"].map(by);

let key = sessionStorage.getItem(KEY);
let lastTime = "";
let round = 0; // asking begins anew with each key; what an earlier round still hears is passed over

const filled = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const number = (value, options) => (value == null ? NONE : value.toLocaleString(language, options));
const percent = (share) => number(share, { style: "percent", maximumFractionDigits: 1 });
const measure = (value, unit, options) => number(value, { style: "unit", unit, unitDisplay: "short", ...options });
const clock = (date) => date.toLocaleTimeString(language);

function made(name, text, className = "") {
  const element = document.createElement(name);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

function drawn(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function row(title, ...cells) {
  const whole = made("tr", "");
  const head = made("th", title);
  head.scope = "row";
  whole.append(head);
  for (const cell of cells) {
    const one = made("td", "");
    one.append(cell);
    whole.append(one);
  }
  return whole;
}

// What did not change stays as it is, so that a selection or a reader's place in it isn't lost every two seconds.
const shown = new WeakMap();
function refresh(element, data, children) {
  const told = JSON.stringify(data);
  if (shown.get(element) === told) return;
  shown.set(element, told);
  element.replaceChildren(...children(data));
}

function say(sentence) {
  if (problem.textContent !== sentence) problem.textContent = sentence;
}

// Pictures. All stretch to their place, so they hold nothing that has a shape to lose.

function line(values, most) {
  const high = Math.max(1, most);
  const points = values.map((value, place) => `${place},${29 - (28 * value) / high}`).join(" ");
  const view = { class: "line", viewBox: `0 0 ${values.length - 1} 30`, preserveAspectRatio: "none", "aria-hidden": true };
  const thin = { "vector-effect": "non-scaling-stroke" };
  const ground = drawn("line", { x1: 0, x2: values.length - 1, y1: 29.5, y2: 29.5, ...thin });
  return drawn("svg", view, ground, drawn("polyline", { points, ...thin }));
}

function bars(now, before, most) {
  const view = { class: "bars", viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": true };
  const bar = (kind, share, y, height) => drawn("rect", { class: kind, y, height, width: (100 * (share ?? 0)) / most });
  return drawn("svg", view, bar("now", now, 1, 8), bar("past", before, 10, 5));
}

function histogram({ now, before }) {
  const bins = Math.max(now.length, before.length, 1);
  const most = Math.max(...now, ...before, 0.01);
  const bar = (kind, start, width) => (share, bin) =>
    drawn("rect", { class: kind, x: bin * 10 + start, y: 50 - (50 * share) / most, width, height: (50 * share) / most });
  const view = { class: "histogram", viewBox: `0 0 ${bins * 10} 50`, preserveAspectRatio: "none", role: "img" };
  const label = now.map((share, bin) => `${number(0.5 + bin / bins / 2)}: ${percent(share)}`).join(", ");
  return [drawn("svg", { ...view, "aria-label": label }, ...now.map(bar("now", 1, 5)), ...before.map(bar("past", 6, 3)))];
}

// The board, from top to bottom.

function show(told) {
  lastTime = clock(new Date());
  by("as-of").textContent = filled(words.asOf, { time: lastTime });
  refresh(by("texts"), told.texts_a_second, texts);
  refresh(by("latency"), told.latency_ms, latency);
  refresh(by("votes"), told.votes, votes);
  refresh(by("workers"), told.workers, (count) => [made("span", number(count), "figure")]);
  refresh(by("uptime"), told.uptime, (seconds) => [made("span", duration(seconds), "figure")]);
  refresh(by("models"), told.models.map((model) => model.name), cards);
  told.models.forEach((model, place) => card(by("models").children[place], model));
  const titles = Object.assign({}, ...told.models.map((model) => model.titles));
  refresh(by("uncertain"), told.uncertain, (found) => uncertain(found, titles));
}

function texts(values) {
  const [sum, most] = [values.reduce((one, other) => one + other, 0), Math.max(...values, 0)];
  const mean = number(sum / Math.max(1, values.length), { maximumFractionDigits: 1 });
  const hint = filled(words.textsHint, { most: number(most) });
  return [made("span", mean, "figure"), line(values, most), made("span", hint, "hint")];
}

function latency(marks) {
  return Object.entries(marks).map(([mark, value]) => {
    const whole = made("div", "");
    const time = measure(value, "millisecond", { maximumSignificantDigits: 3 });
    whole.append(made("span", mark, "mark"), made("strong", time));
    return whole;
  });
}

function votes(counted) {
  const told = (sentence, count) => made("div", filled(sentence, { count: number(count) }));
  return [told(words.yes, counted.yes), told(words.no, counted.no)];
}

function duration(seconds) {
  const sizes = { day: 86_400, hour: 3_600, minute: 60, second: 1 };
  const pieces = Object.entries(sizes).map(([unit, size]) => {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    return [unit, count];
  });
  const first = pieces.findIndex(([, count]) => count > 0);
  const said = first < 0 ? pieces.slice(-1) : pieces.slice(first, first + 2);
  return said.map(([unit, count]) => measure(count, unit)).join(" ");
}

const cards = (names) => names.map(() => by("model").content.cloneNode(true).firstElementChild);

function card(place, model) {
  const find = (selector) => place.querySelector(selector);
  find("h2").textContent = model.name;
  find(".version").textContent = filled(words.version, { version: model.version });
  drift(find, model);
  const { rates, reference_rates: past } = model;
  refresh(find(".rates tbody"), [model.titles, rates, past], () => {
    const most = Math.max(...Object.values(rates), ...Object.values(past), 0.001);
    const all = Object.entries(model.titles);
    const often = ([name]) => Math.max(rates[name] ?? 0, past[name] ?? 0);
    // Nobody reads a thousand rows, and drawing them every two seconds takes a browser's time.
    const some = all.length > MOST_RATES ? all.sort((one, other) => often(other) - often(one)).slice(0, MOST_RATES) : all;
    const rows = some.map(([name, title]) =>
      row(title || name, bars(rates[name], past[name], most), percent(rates[name]), percent(past[name])),
    );
    const rest = all.length - some.length;
    return rest ? [...rows, row(filled(words.more, { count: number(rest) }), "", "", "")] : rows;
  });
  refresh(find(".confidence"), { now: model.confidence, before: model.reference_confidence }, histogram);
}

function drift(find, { drift: report, titles }) {
  const state = report.moved ? "moved" : report.findings.length ? "steady" : "unknown";
  find(".badge").className = `badge ${state}`;
  find(".badge").textContent = words[state];
  find(".sentence").textContent = report.sentence;
  const moved = report.findings.filter((finding) => finding.moved);
  find(".findings").hidden = !moved.length;
  refresh(find(".findings tbody"), [moved, report.suggested_labels], () =>
    moved.map((finding) => {
      const { kind, what, live, reference, adjusted_p: p } = finding;
      const isShare = kind === "category" || kind === "unknown" || kind === "lengths";
      const told = isShare ? percent : (value) => number(value, { maximumFractionDigits: 3 });
      const title = kind === "category" ? titles[what] || what : words[`kind${kind[0].toUpperCase()}${kind.slice(1)}`];
      const labels = number(report.suggested_labels[what]);
      return row(title, told(live), told(reference), probability(p), labels);
    }),
  );
}

function probability(p) {
  const least = 0.0001;
  return p < least ? `< ${number(least, { maximumFractionDigits: 4 })}` : number(p, { maximumSignificantDigits: 2 });
}

function uncertain(found, titles) {
  if (!found) return [made("p", words.uncertainOff, "hint")];
  if (!found.length) return [made("p", words.uncertainNone, "hint")];
  const list = made("ol", "");
  for (const one of found) {
    const text = made("p", one.text, "text");
    text.dir = "auto";
    const labels = (one.labels ?? []).map((name) => titles[name] || name).join(", ") || NONE;
    const at = new Date(1000 * one.at).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
    const item = made("li", "");
    item.append(text, made("p", `${labels} · ${words.confidence} ${percent(one.confidence)} · ${at}`, "hint"));
    list.append(item);
  }
  return [list];
}

// Asking.

async function live() {
  // A key with other characters could not even be sent.
  if (!/^[\x21-\x7e]+$/.test(key)) return { wrong: words.wrongKey };
  try {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch("v1/admin/live", { headers, signal: AbortSignal.timeout(PATIENCE) });
    const told = await response.json();
    if (response.ok) return { told };
    if (response.status !== 401 && response.status !== 403) return {};
    return { wrong: told.error?.code === "no_admin" ? words.noAdmin : words.wrongKey };
  } catch {
    return {};
  }
}

async function poll(mine) {
  const { told, wrong } = mine === round ? await live() : {};
  if (mine !== round) return;
  if (wrong) {
    leave(wrong);
    return;
  }
  if (told) show(told);
  say(told ? "" : lastTime ? filled(words.away, { time: lastTime }) : words.never);
  board.classList.toggle("stale", !told);
  board.hidden = !lastTime;
  enter.hidden = true;
  setTimeout(poll, EVERY, mine);
}

function leave(sentence) {
  round += 1;
  lastTime = "";
  sessionStorage.removeItem(KEY);
  board.hidden = true;
  enter.hidden = false;
  say(sentence);
  field.focus();
}

enter.addEventListener("submit", (event) => {
  event.preventDefault();
  key = field.value.trim();
  field.value = "";
  sessionStorage.setItem(KEY, key);
  poll(++round);
});
by("forget").addEventListener("click", () => leave(""));
if (key) poll(++round);
else enter.hidden = false;

// The annotators' page. The next text shows at once; the answer goes behind it, in order, and stays in this browser
// until the server has it. Every text goes in as text, never as HTML.

const AHEAD = 3; // texts on the screen and behind it
const MOST = 20; // texts that the server gives at once
const PATIENCE = 15_000; // milliseconds, as is all that follows
const OPENED = 3_000;
const POLLED = 5_000;
const SOON = 500;
const CALM = 250;
const RENEWED = 30_000;
const WARNED = 8_000;
const RETRIED = [500, 15_000];
const LOOKED_FOR = [2_000, 10_000];

const WORDS = {
  en: {
    enterTitle: "Who annotates?",
    name: "Your name",
    nameHint: "Your answers are kept under this name.",
    key: "Key",
    keyHint: "Whoever started the server knows it.",
    wrongKey: "This key is wrong.",
    start: "Start",
    cancel: "Cancel",
    changeName: "Change the name",
    elsewhere: "This page went on in another tab",
    elsewhereWhy: "Two tabs of one browser would show you every text twice.",
    here: "Go on here",

    binary: "Is it “{title}”?",
    labels: "Which of these is it about?",
    class: "Which one is it?",
    spans: "Mark the entities",
    text: "Text",
    categories: "Categories",
    marking: "Marking",
    answer: "Answer",
    yes: "Yes",
    no: "No",
    skip: "Skip",
    unknown: "Don't know",
    undo: "Undo",
    save: "Save",
    saveNone: "None of these",
    earlier: "before",
    wordBefore: "The word before",
    wordAfter: "The next word",
    lineAbove: "The line above",
    lineBelow: "The line below",
    longer: "Longer by a word",
    shorter: "Shorter by a word",
    longerBit: "Longer by a character",
    shorterBit: "Shorter by a character",
    nextEntity: "The next entity",
    lastEntity: "The entity before",
    remove: "Unmark",
    nothing: "Select nothing",
    mouse: "Mouse",
    mouseTold: "Selects whole words; with Alt, exactly what is dragged over",
    panel: "Progress",
    help: "Keys",
    helpTitle: "Keys",
    close: "Close",
    scrollUp: "Scroll up",
    scrollDown: "Scroll down",
    space: "Space",

    saved: "All saved",
    unsaved: "Not saved yet: {count}",
    awaySaved: "No connection",
    awayUnsaved: "No connection, not saved yet: {count}",
    takingBack: "Taking it back …",
    takenBack: "Taken back: {answer}",
    nothingBack: "There is nothing to take back.",
    backAway: "Without a connection this can't be taken back. Try again once all is saved.",
    late: "Not kept, as somebody else has this text by now: {about}",
    refused: "Not kept: {why} {about}",
    foreign: "Answers to another question wait in this browser until it is asked again: {count}",
    changed: "The server asks another question now.",
    ready: "{type}: what you select next is marked.",
    marked: "{type}: {part}",
    unmarked: "Unmarked: {part}",
    restored: "What you had begun here is back.",
    entities: "Entities: {count}",

    calmWait: "One moment …",
    calmLearning: "The model is learning",
    calmLearningWhy: "It looks for the texts that help it most. They appear here by themselves.",
    calmOthers: "Nothing for you just now",
    calmOthersWhy: "Texts that others have just now or that you passed over: {count}. New ones appear by themselves.",
    calmDone: "All done",
    calmDoneWhy: "No text waits for an answer. If there are new ones, they appear here by themselves.",
    calmAway: "No connection",
    calmAwayWhy: "Your answers are safe in this browser, and are sent as soon as the server is back.",

    labelsMade: "Labels",
    waiting: "Waiting",
    pace: "A minute",
    seconds: "Seconds each",
    skipped: "Skipped",
    unknowns: "Don't know",
    balance: "Labels by category",
    curve: "The model's F1 so far",
    curveTold: "{f1} ({low} to {high}) after {labels} labels, on {on}",
    onDev: "dev",
    onCross: "the texts asked about: pessimistic",
    noCurve: "No estimate yet.",
    learning: "Learning …",
    nextIn: "Answers until it learns again: {count}",
    onDemand: "Learns when it is told to.",
    failed: "Its last round failed: {why}",
    learn: "Learn now",
    noAdvice: "No sign yet that more labels bring little.",
    agreement: "Agreement",
    agreementTold: "κ {kappa}; {share} of {items} texts alike",
    noAgreement: "No text has been answered by two people yet.",
    people: "Annotators",
    guess: "The model's guess: {guess}",
    noGuess: "The model has no guess.",
  },
  de: {
    enterTitle: "Wer annotiert?",
    name: "Ihr Name",
    nameHint: "Unter diesem Namen werden Ihre Antworten aufbewahrt.",
    key: "Schlüssel",
    keyHint: "Wer den Server gestartet hat, kennt ihn.",
    wrongKey: "Dieser Schlüssel ist falsch.",
    start: "Los",
    cancel: "Abbrechen",
    changeName: "Namen ändern",
    elsewhere: "Diese Seite läuft in einem anderen Tab weiter",
    elsewhereWhy: "Zwei Tabs desselben Browsers würden Ihnen jeden Text zweimal zeigen.",
    here: "Hier weitermachen",

    binary: "Ist das „{title}“?",
    labels: "Worum geht es?",
    class: "Was ist es?",
    spans: "Markieren Sie die Entitäten",
    text: "Text",
    categories: "Kategorien",
    marking: "Markieren",
    answer: "Antwort",
    yes: "Ja",
    no: "Nein",
    skip: "Auslassen",
    unknown: "Weiß nicht",
    undo: "Zurück",
    save: "Speichern",
    saveNone: "Nichts davon",
    earlier: "vorher",
    wordBefore: "Ein Wort zurück",
    wordAfter: "Ein Wort weiter",
    lineAbove: "Eine Zeile höher",
    lineBelow: "Eine Zeile tiefer",
    longer: "Um ein Wort länger",
    shorter: "Um ein Wort kürzer",
    longerBit: "Um ein Zeichen länger",
    shorterBit: "Um ein Zeichen kürzer",
    nextEntity: "Nächste Entität",
    lastEntity: "Vorige Entität",
    remove: "Entfernen",
    nothing: "Nichts auswählen",
    mouse: "Maus",
    mouseTold: "Wählt ganze Wörter; mit Alt genau das Überstrichene",
    panel: "Fortschritt",
    help: "Tasten",
    helpTitle: "Tasten",
    close: "Schließen",
    scrollUp: "Nach oben blättern",
    scrollDown: "Nach unten blättern",
    space: "Leertaste",

    saved: "Alles gespeichert",
    unsaved: "Nicht gespeichert: {count}",
    awaySaved: "Keine Verbindung",
    awayUnsaved: "Keine Verbindung, nicht gespeichert: {count}",
    takingBack: "Wird zurückgenommen …",
    takenBack: "Zurückgenommen: {answer}",
    nothingBack: "Es gibt nichts zurückzunehmen.",
    backAway: "Ohne Verbindung geht das nicht rückgängig. Versuchen Sie es wieder, wenn alles gespeichert ist.",
    late: "Nicht angenommen, denn jemand anders hat diesen Text inzwischen: {about}",
    refused: "Nicht angenommen: {why} {about}",
    foreign: "Antworten auf eine andere Frage warten in diesem Browser, bis sie wieder gestellt wird: {count}",
    changed: "Der Server stellt jetzt eine andere Frage.",
    ready: "{type}: Was Sie als Nächstes auswählen, wird markiert.",
    marked: "{type}: {part}",
    unmarked: "Entfernt: {part}",
    restored: "Was Sie hier begonnen hatten, ist wieder da.",
    entities: "Entitäten: {count}",

    calmWait: "Einen Moment …",
    calmLearning: "Das Modell lernt",
    calmLearningWhy: "Es sucht die Texte, die ihm am meisten helfen. Sie erscheinen hier von selbst.",
    calmOthers: "Gerade nichts für Sie",
    calmOthersWhy: "Texte, die andere gerade haben oder die Sie ausließen: {count}. Neue erscheinen von selbst.",
    calmDone: "Alles erledigt",
    calmDoneWhy: "Kein Text wartet auf eine Antwort. Wenn es neue gibt, erscheinen sie hier von selbst.",
    calmAway: "Keine Verbindung",
    calmAwayWhy: "Ihre Antworten sind in diesem Browser sicher und werden gesendet, sobald der Server wieder da ist.",

    labelsMade: "Labels",
    waiting: "Wartend",
    pace: "Pro Minute",
    seconds: "Sek. je Text",
    skipped: "Ausgelassen",
    unknowns: "Weiß nicht",
    balance: "Labels nach Kategorie",
    curve: "F1 des Modells bisher",
    curveTold: "{f1} ({low} bis {high}) nach {labels} Labels, auf {on}",
    onDev: "dev",
    onCross: "den gefragten Texten: pessimistisch",
    noCurve: "Noch keine Schätzung.",
    learning: "Lernt …",
    nextIn: "Antworten, bis es wieder lernt: {count}",
    onDemand: "Lernt auf Wunsch.",
    failed: "Die letzte Runde schlug fehl: {why}",
    learn: "Jetzt lernen",
    noAdvice: "Noch kein Zeichen, dass mehr Labels wenig bringen.",
    agreement: "Übereinstimmung",
    agreementTold: "κ {kappa}; {share} von {items} Texten gleich",
    noAgreement: "Noch haben keine zwei denselben Text beantwortet.",
    people: "Annotierende",
    guess: "Das Modell vermutet: {guess}",
    noGuess: "Das Modell vermutet nichts.",
  },
};

const language = navigator.language.toLowerCase().startsWith("de") ? "de" : "en";
const words = WORDS[language];
const by = (id) => document.getElementById(id);
const filled = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const number = (value, digits = 0) =>
  value == null
    ? "–"
    : value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
const percent = (share) => share.toLocaleString(language, { style: "percent", maximumFractionDigits: 0 });
const now = () => performance.now();

function made(name, text = "", attributes = {}, ...children) {
  const element = document.createElement(name);
  element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function drawn(name, attributes, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

// Where a browser keeps nothing, the page works all the same, and warns before it goes with answers unsent.
const habits = {
  read(name, where = "localStorage") {
    try {
      return JSON.parse(window[where].getItem(`limbeck-annotate-${name}`));
    } catch {
      return null;
    }
  },
  write(name, value, where = "localStorage") {
    try {
      window[where].setItem(`limbeck-annotate-${name}`, JSON.stringify(value));
    } catch {
      // As above.
    }
  },
};

// Answers and drafts go to the browser's database, which is on the disk at once. Local storage gets there after
// seconds, which is too late if the browser is killed.
const shelf = {
  database: null,
  async open() {
    try {
      const make = (asked) => asked.result.createObjectStore("kept");
      const tooLong = new Promise((_, reject) => setTimeout(reject, OPENED));
      this.database = await Promise.race([settled(indexedDB.open("limbeck-annotate", 1), make), tooLong]);
      const all = this.database.transaction("kept").objectStore("kept");
      const [names, values] = await Promise.all([settled(all.getAllKeys()), settled(all.getAll())]);
      return names.map((name, at) => [name, values[at]]);
    } catch {
      return [];
    }
  },
  write(name, value) {
    try {
      const change = this.database.transaction("kept", "readwrite", { durability: "strict" });
      if (value === null) change.objectStore("kept").delete(name);
      else change.objectStore("kept").put(value, name);
      change.commit();
    } catch {
      // As above.
    }
  },
};

function settled(asked, upgrade = null) {
  return new Promise((resolve, reject) => {
    asked.onupgradeneeded = () => upgrade(asked);
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = asked.onblocked = () => reject(asked.error);
  });
}

// What is being done, by whom.

let isElsewhere = false; // another tab goes on with the work
let annotator = habits.read("name") ?? "";
let key = habits.read("key", "sessionStorage") ?? "";
let question = null;
let titles = new Map();
let queue = []; // texts; the first is on the screen
let shown = null;
let draft = []; // labels: names; spans: {start, end, type} in UTF-16 units
let steps = []; // earlier drafts of the same text
let undoing = 0;

// The clock of one text stands still while the tab is hidden.
const watch = {
  sum: 0,
  since: 0,
  start() {
    [this.sum, this.since] = [0, document.hidden ? null : now()];
  },
  turn() {
    if (this.since !== null) this.sum += now() - this.since;
    this.since = document.hidden ? null : now();
  },
  seconds() {
    return Math.round(this.sum + (this.since === null ? 0 : now() - this.since)) / 1000;
  },
};

// Asking the server.

/** The server can't be reached, or can't answer just now. */
class Away extends Error {}

/** The server has heard, and says no. */
class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(path, told) {
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  const options = { headers, signal: AbortSignal.timeout(PATIENCE) };
  if (told) {
    options.method = "POST";
    options.body = JSON.stringify(told);
    headers["content-type"] = "application/json";
  }
  let response, answer;
  try {
    response = await fetch(`api/${path}`, options);
    answer = await response.json();
  } catch {
    throw new Away();
  }
  if (response.ok) return answer;
  if (response.status >= 500 || response.status === 408 || response.status === 429) throw new Away();
  throw new Refused(response.status, answer.error?.message ?? String(response.status));
}

// Answers, texts and undo go one after the other, so that no answer of the server is older than what it meets here.
let line = Promise.resolve();
function inLine(job) {
  const done = line.then(job);
  line = done.catch(() => {});
  return done;
}

const signatureOf = (told) => JSON.stringify([told.mode, told.categories.map((one) => one.name)]);

/** Whoever restarts a server may ask about something else; no answer may go there. */
async function checkQuestion() {
  const told = await ask("question");
  if (signatureOf(told) === question.signature) return;
  setUp(told);
  warn(words.changed);
}

// Answers on their way. They are in the browser's store before anything else happens.

const found = await shelf.open();
let outbox = found.filter(([name]) => name.startsWith("answer-")).map(([, entry]) => entry);
let savedDraft = found.find(([name]) => name === "draft")?.[1] ?? null;
let numbered = 0;
const textOf = new WeakMap(); // the text of an answer that was given since the page was opened
const tried = new WeakSet(); // answers that the server may have
const unsent = () => outbox.filter((entry) => entry.question === question?.signature);

function add(entry) {
  numbered += 1;
  const kept = { ...entry, name: `answer-${Date.now()}-${String(numbered).padStart(6, "0")}` };
  textOf.set(kept, shown);
  outbox.push(kept);
  shelf.write(kept.name, kept);
  paintSaved();
}

function drop(entry) {
  outbox = outbox.filter((one) => one !== entry);
  shelf.write(entry.name, null);
  paintSaved();
}

async function send(entry) {
  tried.add(entry);
  const { id, verdict, value, seconds } = entry;
  const count = Math.max(1, wanted() - 1);
  try {
    const told = await ask("answer", { annotator: entry.annotator, id, verdict, value, seconds, count });
    drop(entry);
    if (entry.annotator === annotator) take(told.tasks);
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 401 || error.status === 403) throw error;
    drop(entry);
    warn(filled(error.status === 409 ? words.late : words.refused, { why: error.message, about: entry.about }));
  }
  // With its answer the server handed out a text that nobody is there to read.
  if (entry.annotator !== annotator) await ask("release", { annotator: entry.annotator });
}

// The exchange with the server: first what was answered, then what comes next.

let failures = 0;
let emptyFor = 0;
let heard = 0; // when texts last came
let timer = 0;
let isDue = false;

const wanted = () => Math.min(MOST, Math.max(AHEAD, queue.length) + unsent().length);
const grown = ([first, most], times, by) => Math.min(most, first * by ** times);

function goOn() {
  if (isDue) return;
  isDue = true;
  inLine(exchange);
}

function later(delay) {
  clearTimeout(timer);
  timer = setTimeout(goOn, delay);
}

async function exchange() {
  isDue = false;
  if (isElsewhere || !question) return;
  clearTimeout(timer);
  try {
    const isSent = await sendAll();
    if (!annotator) return;
    if (!isSent && (queue.length < AHEAD || now() - heard > RENEWED)) await fetchTexts();
    reached();
    emptyFor = queue.length ? 0 : emptyFor + 1;
    if (!queue.length) later(grown(LOOKED_FOR, emptyFor - 1, 1.5));
    if (isSent || !queue.length) pollSoon();
    show();
  } catch (error) {
    stumble(error);
  }
}

/** Send what was answered, in order; say whether anything was sent. */
async function sendAll() {
  let isSent = false;
  if (unsent().length) await checkQuestion();
  while (unsent().length && !isElsewhere) {
    await send(unsent()[0]);
    isSent = true;
  }
  return isSent;
}

async function fetchTexts() {
  take((await ask("next", { annotator, count: wanted() })).tasks);
}

function take(tasks) {
  heard = now();
  const answered = new Set(unsent().map((entry) => entry.id));
  const coming = tasks.filter((task) => !answered.has(task.id));
  const [first, ...behind] = queue;
  const still = behind.filter((task) => coming.some((one) => one.id === task.id));
  const known = new Set([first, ...still].map((task) => task?.id));
  queue = [...(first ? [first] : []), ...still, ...coming.filter((task) => !known.has(task.id))];
  show();
}

function reached() {
  failures = 0;
  paintSaved();
}

function stumble(error) {
  if (error instanceof Refused) {
    const isKey = error.status === 401;
    enter(isKey ? (key ? words.wrongKey : "") : error.message, isKey);
    return;
  }
  if (!(error instanceof Away)) throw error;
  failures += 1;
  later(grown(RETRIED, failures - 1, 2));
  paintSaved();
  show();
}

// Answering and taking back.

function answer(verdict, value = null, told = "") {
  if (!shown || undoing || isElsewhere) return;
  const about = `“${shown.text.slice(0, 60).replace(UNSEEN, "")}${shown.text.length > 60 ? "…" : ""}”`;
  const { id } = shown;
  add({ question: question.signature, annotator, id, verdict, value, seconds: watch.seconds(), about });
  if (savedDraft) shelf.write("draft", (savedDraft = null));
  queue.shift();
  say(told);
  show();
  goOn();
}

async function undo() {
  if (steps.length) {
    draft = steps.pop();
    keepDraft();
    paintDraft();
    return;
  }
  if (!undoing && takeUnsentBack()) return;
  undoing += 1;
  say(words.takingBack);
  try {
    await inLine(takeBack);
  } finally {
    undoing -= 1;
  }
}

/** What was never sent needs no server to be taken back. */
function takeUnsentBack() {
  const last = unsent().at(-1);
  if (!last || tried.has(last) || !textOf.has(last)) return false;
  drop(last);
  const given = question.mode === "class" && last.value !== null ? [last.value] : last.value;
  bringBack({ ...textOf.get(last), verdict: last.verdict, given });
  return true;
}

async function takeBack() {
  try {
    const before = question;
    await sendAll();
    await checkQuestion();
    if (question !== before) return;
    const { task } = await ask("undo", { annotator });
    reached();
    if (task) bringBack(task);
    else say(words.nothingBack);
    pollSoon();
  } catch (error) {
    stumble(error);
    if (error instanceof Away) warn(words.backAway);
  }
}

function bringBack(task) {
  queue = [task, ...queue.filter((one) => one.id !== task.id)];
  show();
  say(filled(words.takenBack, { answer: toldOf(task) }));
}

function toldOf({ verdict, given }) {
  if (verdict === "skip") return words.skip;
  if (verdict !== "label") return words.unknown;
  if (question.mode === "binary") return given ? words.yes : words.no;
  if (question.mode === "spans") return filled(words.entities, { count: number(given.length) });
  return given.map((name) => titles.get(name)).join(", ") || words.saveNone;
}

const say = (sentence) => {
  if (now() < warnedUntil) return;
  by("status").className = "";
  by("status").textContent = by("status").title = sentence;
};

let warnedUntil = 0;
let warnings = 0;
function warn(sentence) {
  warnings = now() < warnedUntil ? warnings + 1 : 1;
  warnedUntil = now() + WARNED;
  by("status").className = "problem";
  by("status").textContent = by("status").title = warnings > 1 ? `(${warnings}) ${sentence}` : sentence;
}

// The text on the screen.

const paper = by("text");
// What can't be seen but turns or hides what is around it; joiners stay, as emoji and Persian need them.
const CONTROLS = "\\0-\\x08\\v\\f\\x0e-\\x1f\\x7f-\\x9f";
const FORMATS = "\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb";
const UNSEEN = new RegExp(`([${CONTROLS}${FORMATS}])\\1*`, "g");
const UNSEEN_NAMES = {
  "\u061c": "ALM",
  "\u200b": "ZWSP",
  "\u200e": "LRM",
  "\u200f": "RLM",
  "\u202a": "LRE",
  "\u202b": "RLE",
  "\u202c": "PDF",
  "\u202d": "LRO",
  "\u202e": "RLO",
  "\u2066": "LRI",
  "\u2067": "RLI",
  "\u2068": "FSI",
  "\u2069": "PDI",
  "\ufeff": "BOM",
};
const LIKELY = 0.1; // guesses below aren't shown on a button
const MOST_UNSEEN = 500; // marks that are shown in one text; more would make it slow

let pieces = []; // the text's nodes, with the place at which each begins
let unseen = []; // places [from, to] of what can't be seen
let wordPlaces = null;

function show() {
  const task = queue[0] ?? null;
  if (task !== shown) {
    shown = task;
    steps = [];
    picked = null;
    wordPlaces = null;
    unseen = [];
    if (task) begin(task);
    else draft = [];
    paper.scrollTop = 0; // before there is a new text to lay out
    paintText();
    paintTask();
    watch.start();
  }
  paintCalm();
}

function begin(task) {
  for (const found of task.text.matchAll(UNSEEN)) {
    if (unseen.length === MOST_UNSEEN) break;
    unseen.push([found.index, found.index + found[0].length]);
  }
  const about = JSON.stringify([question.signature, annotator, task.id]);
  const isBegun = savedDraft?.about === about;
  if (isBegun) say(words.restored);
  draft = isBegun ? savedDraft.draft : firstDraft(task);
}

function firstDraft(task) {
  if (question.mode === "labels") return task.given ?? [];
  if (question.mode !== "spans") return [];
  return inUnits(task.text, task.given ?? task.guess?.entities ?? [], !task.given);
}

function change(next) {
  steps.push(draft);
  draft = next;
  keepDraft();
  paintDraft();
}

function keepDraft() {
  savedDraft = { about: JSON.stringify([question.signature, annotator, shown.id]), draft };
  shelf.write("draft", savedDraft);
}

function paintDraft() {
  if (question.mode === "spans") paintText();
  paintTask();
}

function paintText() {
  const text = shown?.text ?? "";
  const spans = question.mode === "spans" ? draft : [];
  const places = [...spans.map((span) => [span.start, span.end]), ...unseen, picked ? [picked.from, picked.to] : []];
  const cuts = [...new Set([0, text.length, ...places.flat()])].sort((a, b) => a - b);
  const all = document.createDocumentFragment();
  pieces = [];
  let [nextSpan, nextUnseen] = [0, 0];
  cuts.slice(0, -1).forEach((from, at) => {
    const to = cuts[at + 1];
    const node = document.createTextNode(text.slice(from, to));
    while (spans[nextSpan]?.end <= from) nextSpan += 1;
    while (unseen[nextUnseen]?.[1] <= from) nextUnseen += 1;
    const span = spans[nextSpan]?.start <= from ? spans[nextSpan] : null;
    pieces.push({ from, node });
    all.append(dressed(node, from, to, span, unseen[nextUnseen]?.[0] <= from));
  });
  paper.replaceChildren(all);
}

function dressed(node, from, to, span, isUnseen) {
  const isPicked = picked && picked.from <= from && to <= picked.to;
  if (!span && !isUnseen && !isPicked) return node;
  const element = made("span", "", isPicked ? { class: "picked" } : {}, node);
  if (span) {
    element.classList.add("entity", colour(span.type));
    element.classList.toggle("guessed", Boolean(span.guessed));
    element.classList.toggle("first", span.start === from);
    element.classList.toggle("last", span.end === to);
    if (span.start === from) element.dataset.type = titles.get(span.type);
  }
  if (isUnseen) {
    element.classList.add("unseen");
    element.dataset.unseen = unseenName(node.data);
  }
  return element;
}

function unseenName(marks) {
  const first = UNSEEN_NAMES[marks[0]] ?? `U+${marks.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  return marks.length > 1 ? `${first} ×${marks.length}` : first;
}

const colour = (name) => `c${[...titles.keys()].indexOf(name) % 8}`;

function rangeOf(from, to) {
  const range = document.createRange();
  const place = (offset) => pieces.findLast((piece) => piece.from <= offset) ?? pieces[0];
  const [first, last] = [place(from), place(Math.max(from, to - 1))];
  range.setStart(first.node, from - first.from);
  range.setEnd(last.node, to - last.from);
  return range;
}

function offsetOf(node, offset) {
  const range = document.createRange();
  range.selectNodeContents(paper);
  range.setEnd(node, offset);
  return range.toString().length;
}

// Places in a text: the server counts characters, a browser counts UTF-16 units.

function startsOf(text) {
  const starts = [];
  let at = 0;
  for (const character of text) {
    starts.push(at);
    at += character.length;
  }
  starts.push(at);
  return starts;
}

function inUnits(text, spans, guessed) {
  const starts = startsOf(text);
  const found = [];
  for (const { start, end, type } of [...spans].sort((a, b) => a.start - b.start)) {
    const span = { start: starts[start], end: starts[end], type, ...(guessed && { guessed }) };
    if (titles.has(type) && span.start < span.end && span.start >= (found.at(-1)?.end ?? 0)) found.push(span);
  }
  return found;
}

function inCharacters(text, spans) {
  const place = new Map(startsOf(text).map((unit, character) => [unit, character]));
  return spans.map(({ start, end, type }) => ({ start: place.get(start), end: place.get(end), type }));
}

// Marking entities: `picked` is what the next type goes to, from the word `anchor` to the word `focus`.

let picked = null;
let ready = null; // a type that was chosen before its words

function wordsIn() {
  if (!wordPlaces) {
    const found = new Intl.Segmenter(undefined, { granularity: "word" }).segment(shown?.text ?? "");
    wordPlaces = [];
    for (const { segment, index } of found) if (segment.trim()) wordPlaces.push([index, index + segment.length]);
  }
  return wordPlaces;
}

function pick(anchor, focus) {
  const places = wordsIn();
  const [first, last] = [places[Math.min(anchor, focus)], places[Math.max(anchor, focus)]];
  picked = { anchor, focus, from: first[0], to: last[1] };
  paintPicked();
}

/** Pick what lies between two places: the words that it touches, or exactly that. */
function pickPart(from, to, isExact) {
  const places = wordsIn();
  const first = places.findIndex(([, end]) => end > from);
  const last = places.findLastIndex(([start]) => start < to);
  if (first < 0 || last < first) return pickNothing();
  pick(first, last);
  if (isExact) pickExactly(from, to);
}

function pickExactly(from, to) {
  const text = shown.text;
  const isHalf = (at) => /[\udc00-\udfff]/.test(text[at] ?? "") && /[\ud800-\udbff]/.test(text[at - 1] ?? "");
  const [start, end] = [isHalf(from) ? from - 1 : from, isHalf(to) ? to + 1 : to];
  if (start < end) [picked.from, picked.to] = [start, end];
  paintPicked();
}

function pickNothing() {
  picked = null;
  paintText();
}

function paintPicked() {
  paintText();
  const focus = wordsIn()[picked.focus];
  const [word, whole] = [rangeOf(...focus).getBoundingClientRect(), paper.getBoundingClientRect()];
  const room = word.height;
  if (word.top < whole.top + room) paper.scrollTop -= whole.top + room - word.top;
  if (word.bottom > whole.bottom - room) paper.scrollTop += word.bottom - whole.bottom + room;
}

function move(step, isLonger) {
  const last = wordsIn().length - 1;
  if (last < 0) return;
  if (!picked) return pick(step > 0 ? 0 : last, step > 0 ? 0 : last);
  const { anchor, focus } = picked;
  const from = isLonger ? focus : step > 0 ? Math.max(anchor, focus) : Math.min(anchor, focus);
  const to = Math.min(last, Math.max(0, from + step));
  pick(isLonger ? anchor : to, to);
}

function moveLine(step, { shiftKey: isLonger }) {
  if (!picked) return move(step, isLonger);
  const places = wordsIn();
  const placeOf = (at) => rangeOf(...places[at]).getClientRects()[0];
  const middle = (place) => (place.left + place.right) / 2;
  const here = placeOf(picked.focus);
  let [best, row] = [null, null];
  for (let at = picked.focus + step; places[at]; at += step) {
    const there = placeOf(at);
    if (!there || Math.abs(there.top - here.top) < here.height / 2) continue;
    row ??= there.top;
    if (Math.abs(there.top - row) > here.height / 2) break;
    const distance = Math.abs(middle(there) - middle(here));
    if (best === null || distance < best.distance) best = { at, distance };
  }
  if (best) pick(isLonger ? picked.anchor : best.at, best.at);
}

function moveBit(step) {
  if (!picked) return;
  const { from, to } = picked;
  const starts = startsOf(shown.text);
  const at = step > 0 ? starts.find((start) => start > to) : starts.findLast((start) => start < to);
  if (at > from) pickExactly(from, at);
}

/** Go to the next entity, or say that there is none: then the key goes on to the buttons. */
function moveEntity(step) {
  const here = picked ?? { from: -1, to: 0 };
  const next =
    step > 0
      ? draft.find((span) => (picked ? span.start >= here.to : true))
      : draft.findLast((span) => span.end <= here.from);
  if (!next) return false;
  pickPart(next.start, next.end, true);
}

function partOf(from, to) {
  return `“${shown.text.slice(from, to).replace(UNSEEN, "").slice(0, 60)}”`;
}

function tag(type) {
  if (!shown || undoing) return;
  takeSelected();
  if (!picked) {
    ready = ready === type ? null : type;
    say(ready ? filled(words.ready, { type: titles.get(type) }) : "");
    paintTask();
    return;
  }
  const { from: start, to: end } = picked;
  const others = draft.filter((span) => span.end <= start || end <= span.start);
  const isOff = draft.some((span) => span.start === start && span.end === end && span.type === type && !span.guessed);
  const next = isOff ? others : [...others, { start, end, type }].sort((a, b) => a.start - b.start);
  say(filled(isOff ? words.unmarked : words.marked, { type: titles.get(type), part: partOf(start, end) }));
  change(next);
}

function untag() {
  if (!picked || undoing) return;
  const left = draft.filter((span) => span.end <= picked.from || picked.to <= span.start);
  if (left.length === draft.length) return;
  say(filled(words.unmarked, { part: partOf(picked.from, picked.to) }));
  change(left);
}

function forget() {
  ready = null;
  pickNothing();
  paintTask();
}

/** Take over what a finger or a mouse has selected. */
function takeSelected(isExact = false) {
  const selection = getSelection();
  const range = selection.rangeCount ? selection.getRangeAt(0) : null;
  if (!range || range.collapsed || !paper.contains(range.commonAncestorContainer)) return false;
  const from = offsetOf(range.startContainer, range.startOffset);
  const to = offsetOf(range.endContainer, range.endOffset);
  selection.removeAllRanges();
  pickPart(from, to, isExact);
  return true;
}

function pickAt(event) {
  const range = getSelection().rangeCount ? getSelection().getRangeAt(0) : null;
  if (!range || !paper.contains(range.startContainer)) return;
  const at = offsetOf(range.startContainer, range.startOffset);
  const { clientX: x, clientY: y } = event;
  const covers = (place) => place.left <= x && x <= place.right && place.top <= y && y <= place.bottom;
  const isOn = (from, to) => [...rangeOf(from, to).getClientRects()].some(covers);
  const span = draft.find(({ start, end }) => start <= at && at <= end && isOn(start, end));
  const word = wordsIn().findIndex(([from, to]) => from <= at && at <= to && isOn(from, to));
  if (span) pickPart(span.start, span.end, true);
  else if (word >= 0) pick(word, word);
  else pickNothing();
  return !span && word >= 0;
}

let isSelecting = false;
paper.addEventListener("mousedown", (event) => {
  isSelecting = question.mode === "spans" && event.button === 0;
});
document.addEventListener("mouseup", (event) => {
  if (!isSelecting || !shown || isElsewhere) return;
  isSelecting = false;
  const isNew = takeSelected(event.altKey) || pickAt(event);
  if (!isNew || !ready || !picked) return;
  tag(ready);
  pickNothing();
});

// What can be done, in each mode: keys, buttons and the help are made from one list.

const CATEGORY_KEYS = [..."123456789abcefgijklmnoqrtvwxyz"]; // without those of other actions
const YES_KEYS = language === "de" ? ["j", "y"] : ["y", "j"];
const SCROLLED = 60; // pixels

function actionsOf(mode) {
  return [...ANSWERS[mode](), ...COMMON(), ...(mode === "spans" ? [] : SCROLLING())];
}

const ANSWERS = {
  binary: () => [
    { id: "no", keys: ["n", "ArrowLeft"], place: "verdicts", does: () => answer("label", false, words.no) },
    { id: "yes", keys: [...YES_KEYS, "ArrowRight"], place: "verdicts", does: () => answer("label", true, words.yes) },
    skipping("s", " "),
  ],
  labels: () => [
    ...forCategories((name) => change(draft.includes(name) ? draft.filter((one) => one !== name) : [...draft, name])),
    saving(() => inOrder(draft)),
    skipping("s"),
  ],
  class: () => [...forCategories((name) => answer("label", name, titles.get(name))), skipping("s")],
  spans: () => [
    ...forCategories(tag),
    saving(() => inCharacters(shown.text, draft)),
    skipping("s"),
    { id: "wordBefore", keys: ["ArrowLeft"], place: "marking", repeats: true, does: () => move(-1, false) },
    { id: "wordAfter", keys: ["ArrowRight"], place: "marking", repeats: true, does: () => move(1, false) },
    { id: "shorter", keys: ["Shift+ArrowLeft"], place: "marking", repeats: true, does: () => move(-1, true) },
    { id: "longer", keys: ["Shift+ArrowRight"], place: "marking", repeats: true, does: () => move(1, true) },
    { id: "nextEntity", keys: ["Tab"], place: "marking", repeats: true, does: () => moveEntity(1) },
    { id: "remove", keys: ["Backspace", "Delete"], place: "marking", does: untag },
    { id: "lastEntity", keys: ["Shift+Tab"], repeats: true, does: () => moveEntity(-1) },
    { id: "lineAbove", keys: ["ArrowUp", "Shift+ArrowUp"], repeats: true, does: (event) => moveLine(-1, event) },
    { id: "lineBelow", keys: ["ArrowDown", "Shift+ArrowDown"], repeats: true, does: (event) => moveLine(1, event) },
    { id: "shorterBit", keys: ["Alt+Shift+ArrowLeft"], repeats: true, does: () => moveBit(-1) },
    { id: "longerBit", keys: ["Alt+Shift+ArrowRight"], repeats: true, does: () => moveBit(1) },
    { id: "nothing", keys: ["Escape"], does: forget },
  ],
};

function skipping(...keys) {
  return { id: "skip", keys, place: "verdicts", does: () => answer("skip", null, words.skip) };
}

function saving(valueOf) {
  const does = () => {
    const given = shown ? valueOf() : [];
    answer("label", given, toldOf({ verdict: "label", given }));
  };
  return { id: "save", keys: ["Enter"], place: "verdicts", does };
}

const COMMON = () => [
  { id: "unknown", keys: ["d"], place: "verdicts", does: () => answer("don't know", null, words.unknown) },
  { id: "undo", keys: ["u", "Control+z"], place: "verdicts", does: () => void undo() },
  { id: "panel", keys: ["p"], does: togglePanel },
  { id: "help", keys: ["h", "?"], does: toggleHelp },
];

const SCROLLING = () => [
  { id: "scrollUp", keys: ["ArrowUp", "PageUp"], repeats: true, does: (event) => scroll(-1, event.key) },
  { id: "scrollDown", keys: ["ArrowDown", "PageDown"], repeats: true, does: (event) => scroll(1, event.key) },
];

function scroll(step, pressed) {
  paper.scrollTop += step * (pressed.startsWith("Page") ? paper.clientHeight - SCROLLED : SCROLLED);
}

function forCategories(does) {
  return question.categories.map(({ name, title }, at) => ({
    category: name,
    title,
    keys: CATEGORY_KEYS[at] ? [CATEGORY_KEYS[at]] : [],
    place: "categories",
    does: () => shown && !undoing && does(name),
  }));
}

const inOrder = (names) => question.categories.map((one) => one.name).filter((name) => names.includes(name));

let actions = [];
const buttons = new Map();

const CAPS = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Enter: "↵",
  Tab: "⇥",
  Backspace: "⌫",
  Delete: "Del",
  Shift: "⇧",
  Control: "Ctrl",
  Escape: "Esc",
  " ": words.space,
};
const capOf = (name) =>
  name
    .split("+")
    .map((part) => CAPS[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(" ");

function paintActions() {
  actions = actionsOf(question.mode);
  buttons.clear();
  for (const place of ["categories", "marking", "verdicts"]) {
    const here = actions.filter((action) => action.place === place);
    by(place).hidden = !here.length;
    by(place).replaceChildren(...here.map(buttonOf));
    by(place).scrollTop = 0;
  }
  by("stage").className = question.mode;
  paintHelp();
}

function buttonOf(action) {
  const title = action.title ?? words[action.id];
  const button = made("button", "", { type: "button" });
  if (action.keys.length) {
    button.append(made("kbd", capOf(action.keys[0]), { "aria-hidden": "true" }));
    button.setAttribute("aria-keyshortcuts", action.keys.map((name) => (name === " " ? "Space" : name)).join(" "));
  }
  if (action.place === "marking" && action.id !== "remove") button.setAttribute("aria-label", title);
  else button.append(made("span", title, { class: "title", dir: "auto" }));
  if (action.category && question.show_guess && question.mode !== "spans") {
    button.append(made("span", "", { class: "share" }));
  }
  button.title = title;
  if (action.category && question.mode === "spans") button.classList.add(colour(action.category));
  if (action.id) button.dataset.does = action.id;
  button.addEventListener("click", (event) => action.does(event));
  buttons.set(action.category ?? action.id, button);
  return button;
}

function paintHelp() {
  const rows = actions.filter((action) => !action.category).map((action) => [action.keys, words[action.id]]);
  const chosen = actions.filter((action) => action.category && action.keys.length);
  if (chosen.length) rows.unshift([[chosen[0].keys[0], "…", chosen.at(-1).keys[0]], words.categories]);
  const all = rows.flatMap(([keys, told]) => [
    made("dt", "", {}, ...keys.map((name) => (name === "…" ? "…" : made("kbd", capOf(name))))),
    made("dd", told),
  ]);
  if (question.mode === "spans") all.push(made("dt", words.mouse), made("dd", words.mouseTold));
  by("help-keys").replaceChildren(...all);
}

/** Show on the buttons what is chosen, what was said before an undo, and what the model guesses. */
function paintTask() {
  const { mode } = question;
  for (const action of actions.filter((one) => one.place)) {
    const button = buttons.get(action.category ?? action.id);
    if (action.id !== "undo") button.ariaDisabled = String(!shown);
    if (action.category && mode === "labels") button.ariaPressed = String(draft.includes(action.category));
    if (action.category && mode === "spans") button.ariaPressed = String(ready === action.category);
    const share = button.querySelector(".share");
    if (share) paintShare(share, action.category);
    const isEarlier = wasSaid(action);
    button.classList.toggle("earlier", isEarlier);
    if (isEarlier) button.dataset.earlier = words.earlier;
    else delete button.dataset.earlier;
  }
  if (buttons.has("save")) {
    buttons.get("save").querySelector(".title").textContent = draft.length ? words.save : words.saveNone;
  }
  if (isGuessInLine()) by("guess").textContent = shown ? guessOf(shown.guess) : "";
}

function wasSaid(action) {
  if (!shown?.verdict) return false;
  if (shown.verdict !== "label") return action.id === (shown.verdict === "skip" ? "skip" : "unknown");
  if (question.mode === "binary") return action.id === (shown.given ? "yes" : "no");
  return question.mode === "class" && shown.given.includes(action.category);
}

function paintShare(place, name) {
  const share = shown?.guess?.probabilities?.[name];
  const isLikely = Boolean(shown?.guess?.labels?.includes(name));
  place.textContent = share >= LIKELY || (isLikely && share !== undefined) ? percent(share) : "";
  place.classList.toggle("likely", isLikely);
}

// Where categories have buttons, what the model thinks of them stands there.
const isGuessInLine = () => question.show_guess && ["binary", "spans"].includes(question.mode);

function guessOf(guess) {
  if (!guess) return words.noGuess;
  if (guess.entities) {
    return filled(words.guess, { guess: toldOf({ verdict: "label", given: guess.entities }) });
  }
  const { name, title } = question.categories[0];
  const share = guess.probabilities?.[name];
  const told = guess.labels?.includes(name) ? words.yes : words.no;
  return filled(words.guess, { guess: share === undefined ? told : `${title} ${percent(share)}` });
}

// Keys.

function nameOf(event) {
  let pressed = event.key;
  // Where digits need Shift, or letters are not Latin, a key is what stands on it elsewhere.
  if (/^Digit\d$/.test(event.code) && !event.shiftKey && !/^\d$/.test(pressed)) pressed = event.code.at(-1);
  if (/^Key[A-Z]$/.test(event.code) && /^[^\x20-\x7e]$/.test(pressed)) pressed = event.code.at(-1);
  if (pressed.length === 1) pressed = pressed.toLowerCase();
  const held = [];
  if (event.ctrlKey || event.metaKey) held.push("Control");
  if (event.altKey) held.push("Alt");
  if (event.shiftKey && pressed.length > 1) held.push("Shift");
  return [...held, pressed].join("+");
}

document.addEventListener("keydown", (event) => {
  if (by("desk").hidden || event.isComposing || event.target.closest("input")) return;
  const pressed = nameOf(event);
  const isOfButton = ["Enter", " ", "Tab", "Shift+Tab"].includes(pressed) && event.target.closest("button");
  const action = isOfButton ? null : actions.find((one) => one.keys.includes(pressed));
  if (!action || (by("help").open && action.id !== "help")) return;
  if (event.repeat && !action.repeats) event.preventDefault();
  else if (action.does(event) !== false) event.preventDefault();
});

// A click leaves the focus where it is, so that Space and Enter keep their meaning.
by("stage").addEventListener("mousedown", (event) => {
  if (event.target.closest("button")) event.preventDefault();
});

function togglePanel() {
  const isHidden = !by("desk").classList.contains("quiet");
  by("desk").classList.toggle("quiet", isHidden);
  by("quiet").ariaExpanded = String(!isHidden);
  habits.write("quiet", isHidden);
}

function toggleHelp() {
  if (by("help").open) by("help").close();
  else by("help").showModal();
}

// Beside the text: what is saved, why nothing is shown, and how it goes.

// An answer is mostly saved before an eye could see that it wasn't.
let savedAt = 0;
function paintSaved() {
  by("saved").dataset.unsent = unsent().length;
  if (!unsent().length || failures) tellSaved();
  else savedAt ||= setTimeout(tellSaved, CALM);
}

function tellSaved() {
  clearTimeout(savedAt);
  savedAt = 0;
  const count = unsent().length;
  const sentence = failures ? (count ? words.awayUnsaved : words.awaySaved) : count ? words.unsaved : words.saved;
  const told = question && (annotator || count) ? filled(sentence, { count: number(count) }) : "";
  by("saved").ariaLive = failures ? "polite" : "off";
  by("saved").classList.toggle("problem", failures > 0);
  if (by("saved").textContent !== told) by("saved").textContent = told;
}

let progress = null;
function paintCalm() {
  by("calm").hidden = Boolean(shown);
  if (shown) return;
  const [title, why] = whyEmpty();
  by("calm").querySelector("h2").textContent = title;
  by("calm").querySelector("p").textContent = why;
}

function whyEmpty() {
  if (failures) return [words.calmAway, words.calmAwayWhy];
  if (!emptyFor || !progress || unsent().length) return [words.calmWait, ""];
  if (progress.model.learning) return [words.calmLearning, words.calmLearningWhy];
  if (progress.waiting) return [words.calmOthers, filled(words.calmOthersWhy, { count: number(progress.waiting) })];
  return [words.calmDone, words.calmDoneWhy];
}

let polledAt = 0;
function pollSoon() {
  polledAt ||= setTimeout(poll, SOON);
}

let isPolling = false;
async function poll() {
  clearTimeout(polledAt);
  polledAt = 0;
  if (isPolling || document.hidden || isElsewhere || by("desk").hidden) return;
  isPolling = true;
  try {
    progress = await ask(`progress?annotator=${encodeURIComponent(annotator)}`);
    paintProgress();
    by("side").classList.remove("stale");
  } catch (error) {
    if (!(error instanceof Away || error instanceof Refused)) throw error;
    by("side").classList.add("stale");
  } finally {
    isPolling = false;
  }
  paintCalm();
}

const painted = new WeakMap();
function refresh(element, data, children) {
  const told = JSON.stringify(data);
  if (painted.get(element) === told) return;
  painted.set(element, told);
  element.replaceChildren(...children(data));
}

function paintProgress() {
  const { labels, waiting, pace, seconds, skipped, unknown, balance, by_annotator: people, curve, model } = progress;
  const figures = {
    labelsMade: number(labels),
    waiting: number(waiting),
    pace: number(pace, 1),
    seconds: number(seconds, 1),
    skipped: number(skipped),
    unknowns: number(unknown),
  };
  refresh(by("figures"), figures, (told) =>
    Object.entries(told).map(([name, value]) => made("div", "", {}, made("dt", words[name]), made("dd", value))),
  );
  const counted = question.mode === "binary" ? { yes: words.yes, no: words.no } : Object.fromEntries(titles);
  refresh(by("balance"), Object.entries(counted).map(([name, title]) => [title, balance[name] ?? 0]), bars);
  refresh(by("people"), Object.entries(people).sort((a, b) => b[1] - a[1]), bars);
  refresh(by("curve"), curve, (points) => [curveOf(points)]);
  by("curve-told").textContent = toldOfCurve(curve.at(-1));
  paintModel(model);
  by("advice").textContent = progress.hint ?? words.noAdvice;
  by("advice").lang = progress.hint ? "en" : language;
  by("advice").classList.toggle("told", Boolean(progress.hint));
  by("agreement").textContent = toldOfAgreement(progress.agreement);
}

function bars(counts) {
  const most = Math.max(1, ...counts.map(([, count]) => count));
  return counts.map(([title, count]) => {
    const bar = made("span", "", { class: "bar", "aria-hidden": "true" }, made("span"));
    bar.firstChild.style.inlineSize = `${(100 * count) / most}%`;
    const name = made("span", title, { class: "title", title, dir: "auto" });
    return made("li", "", {}, name, bar, made("span", number(count), { class: "count" }));
  });
}

function paintModel({ learning, next_in: left, failed }) {
  const told = left == null ? words.onDemand : filled(words.nextIn, { count: number(left) });
  const sentence = learning ? words.learning : failed ? filled(words.failed, { why: failed }) : told;
  const place = by("model-told");
  if (place.textContent !== sentence) place.textContent = place.title = sentence;
  place.classList.toggle("problem", !learning && Boolean(failed));
  by("learn").disabled = Boolean(learning);
}

function toldOfAgreement(told) {
  if (!told) return words.noAgreement;
  const [kappa, share, items] = [number(told.kappa, 2), percent(told.agreement), number(told.items)];
  return filled(words.agreementTold, { kappa, share, items });
}

const nameOfSet = (on) => (on === "cross-validation" ? words.onCross : on === "dev" ? words.onDev : on);

function toldOfCurve(last) {
  if (!last) return words.noCurve;
  const [f1, low, high] = [last.f1, last.low, last.high].map((value) => number(value, 2));
  return filled(words.curveTold, { f1, low, high, labels: number(last.labels), on: nameOfSet(last.on) });
}

const [WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM] = [300, 120, 30, 8, 8, 18]; // the picture of the curve, and its margins

function curveOf(points) {
  const picture = drawn("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true" });
  const bounds = points.flatMap(({ f1, low, high }) => [f1, low ?? f1, high ?? f1]);
  const bottom = points.length ? Math.min(0.8, Math.floor(10 * Math.min(...bounds)) / 10) : 0;
  const top = points.length ? Math.max(bottom + 0.2, Math.ceil(10 * Math.max(...bounds)) / 10) : 1;
  const most = Math.max(1, ...points.map((point) => point.labels));
  const x = (labels) => LEFT + ((WIDE - LEFT - RIGHT) * labels) / most;
  const y = (value) => HIGH - BOTTOM - ((HIGH - TOP - BOTTOM) * (value - bottom)) / (top - bottom);
  for (const value of [bottom, (bottom + top) / 2, top]) {
    picture.append(drawn("line", { x1: LEFT, x2: WIDE - RIGHT, y1: y(value), y2: y(value) }));
    picture.append(drawn("text", { x: LEFT - 4, y: y(value) + 4, "text-anchor": "end" }, number(value, 2)));
  }
  picture.append(drawn("text", { x: LEFT, y: HIGH - 4 }, number(0)));
  if (points.length) {
    picture.append(drawn("text", { x: WIDE - RIGHT, y: HIGH - 4, "text-anchor": "end" }, number(most)));
  }
  for (const part of partsOf(points)) {
    const edge = (name) => part.map((point) => `${x(point.labels)},${y(point[name] ?? point.f1)}`);
    const kind = part[0].on === "dev" ? "dev" : "other";
    picture.append(drawn("polygon", { points: [...edge("low"), ...edge("high").reverse()].join(" ") }));
    picture.append(drawn("polyline", { class: kind, points: edge("f1").join(" ") }));
    picture.append(...part.map((point) => drawn("circle", { cx: x(point.labels), cy: y(point.f1), r: 2 })));
  }
  return picture;
}

/** Points that were measured on the same texts, one after the other. */
function partsOf(points) {
  const parts = [];
  for (const point of points) {
    if (parts.at(-1)?.[0].on === point.on) parts.at(-1).push(point);
    else parts.push([point]);
  }
  return parts;
}

by("learn").addEventListener("click", () => ask("learn", {}).then(poll, () => poll()));

// Coming, going, and changing the name.

function setUp(told) {
  question = { ...told, signature: signatureOf(told) };
  titles = new Map(told.categories.map(({ name, title }) => [name, title]));
  [queue, shown, ready, picked, emptyFor, progress] = [[], null, null, null, 0, null];
  const heading = filled(words[told.mode], { title: told.categories[0]?.title });
  by("question").textContent = by("question").title = heading;
  document.title = `${heading} – Limbeck`;
  by("guess").hidden = !isGuessInLine();
  paintActions();
  paintText();
  paintTask();
  show();
  const foreign = outbox.length - unsent().length;
  if (foreign) warn(filled(words.foreign, { count: number(foreign) }));
}

async function open() {
  try {
    setUp(await ask("question"));
  } catch (error) {
    if (error instanceof Away) {
      enter(words.calmAway);
      clearTimeout(timer);
      timer = setTimeout(open, grown(RETRIED, failures++, 2));
    } else stumble(error);
    return;
  }
  failures = 0;
  goOn();
  if (!annotator) return enter();
  by("enter").hidden = true;
  by("tools").hidden = by("desk").hidden = false;
  by("who").textContent = annotator;
  by("who").title = by("who").ariaLabel = `${annotator}: ${words.changeName}`;
  paintSaved();
  poll();
}

function enter(sentence = "", isLocked = false) {
  by("desk").hidden = by("tools").hidden = true;
  by("enter").hidden = false;
  by("locked").hidden = !isLocked && !key;
  by("key").required = isLocked;
  by("stay").hidden = !annotator || !question || isLocked;
  by("problem").textContent = sentence;
  by("name").value ||= annotator;
  if (!by("enter").contains(document.activeElement)) (annotator && isLocked ? by("key") : by("name")).focus();
}

by("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  const typed = by("key").value.trim();
  // A key with other characters could not even be sent.
  if (typed && !/^[\x21-\x7e]+$/.test(typed)) return enter(words.wrongKey, true);
  if (typed) key = typed;
  by("key").value = "";
  habits.write("key", key, "sessionStorage");
  const old = annotator;
  annotator = by("name").value.trim();
  habits.write("name", annotator);
  if (old && old !== annotator && question) inLine(() => ask("release", { annotator: old })).catch(() => {});
  open();
});
by("stay").addEventListener("click", open);
by("who").addEventListener("click", () => enter());
by("quiet").addEventListener("click", togglePanel);
by("keys").addEventListener("click", toggleHelp);
by("close").addEventListener("click", toggleHelp);
by("here").addEventListener("click", () => location.reload());

const tabs = new BroadcastChannel("limbeck-annotate");
tabs.addEventListener("message", () => {
  isElsewhere = true;
  by("desk").hidden = by("tools").hidden = by("enter").hidden = true;
  by("elsewhere").hidden = false;
});
addEventListener("beforeunload", (event) => {
  if (unsent().length && !isElsewhere) event.preventDefault();
});
addEventListener("online", goOn);
document.addEventListener("visibilitychange", () => {
  watch.turn();
  if (!document.hidden) poll();
});

// Who works keeps what is on the screen; who has left lets it go.
let isActive = false;
for (const sign of ["keydown", "pointermove", "pointerdown", "wheel"]) {
  addEventListener(sign, () => (isActive = true), { passive: true });
}
setInterval(() => {
  poll();
  if (isActive && queue.length && now() - heard > RENEWED && !failures) goOn();
  isActive = false;
}, POLLED);

document.documentElement.lang = language;
for (const element of document.querySelectorAll("[data-word]")) element.textContent = words[element.dataset.word];
for (const element of document.querySelectorAll("[data-label]")) element.ariaLabel = words[element.dataset.label];
by("desk").classList.toggle("quiet", Boolean(habits.read("quiet")));
by("quiet").ariaExpanded = String(!habits.read("quiet"));
tabs.postMessage("here");
open();

// Sends what was written and shows the reply, without leaving the page. Every text goes in as text, never as HTML.
// Without this file the form still works: the server then puts the reply into the page.

const NEAR = 500; // characters before the limit at which the counter appears
const PATIENCE = 15_000; // milliseconds
const SAFE = ["https:", "http:", "mailto:", "tel:"];
const DRAFT = "limbeck-draft";

const by = (id) => document.getElementById(id);
const words = by("words").dataset;
const language = document.documentElement.lang;
const [form, send, problem, answer] = ["feedback", "send", "problem", "answer"].map(by);
const fields = [by("good"), by("bad")];

/** A failure that is told to the traveller, in a sentence of theirs. */
class Problem extends Error {}

function filled(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function made(name, text, attributes = {}) {
  const element = document.createElement(name);
  element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

async function post(path, body) {
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE),
    });
    if (response.ok) return await response.json();
    throw new Problem(refused(response));
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(navigator.onLine ? words.away : words.offline);
  }
}

function refused(response) {
  if (response.status === 413) return words.tooLong;
  if (response.status !== 429 && response.status !== 503) return words.failed;
  return filled(words.busy, { seconds: Number(response.headers.get("retry-after")) || 5 });
}

// Half a character, as a cut through an emoji leaves it, is nothing that JSON can carry.
const written = (field) => field.value.toWellFormed?.() ?? field.value;

async function submit() {
  if (form.ariaBusy === "true") return;
  const [good, bad] = fields.map(written);
  if (!good.trim() && !bad.trim()) {
    fields[0].focus({ preventScroll: true });
    say(words.empty);
    return;
  }
  busy(true);
  problem.textContent = "";
  let next = words.send;
  try {
    const told = await post("v1/feedback", { good, bad, language });
    const text = [good, bad].filter((part) => part.trim()).join("\n");
    show(told, vote(told.id, text));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    say(error.message);
    next = words.again;
  } finally {
    busy(false);
    send.textContent = next;
  }
}

function say(sentence) {
  problem.textContent = sentence;
  problem.scrollIntoView({ block: "nearest" });
}

function busy(is) {
  form.ariaBusy = answer.ariaBusy = send.ariaDisabled = String(is);
  if (is) send.textContent = words.sending;
}

function show({ reply, topics }, asked) {
  const parts = reply ? reply.parts.map((part) => section(part, reply.language)) : understood(topics);
  answer.replaceChildren(made("h2", words.answerTitle), ...parts, asked);
  answer.focus();
}

// Where nobody wrote replies, the categories are named.
function understood(topics) {
  const named = topics.map((topic) => topic.title).join(", ");
  return [words.thanks, ...(named ? [words.understood.replace("{topics}", named)] : [])].map((one) => made("p", one));
}

function section(part, spoken) {
  const whole = made("section", "", { lang: spoken });
  if (part.title) whole.append(made("h3", part.title));
  whole.append(...part.text.split(/\n\s*\n/).filter((one) => one.trim()).map((one) => made("p", one)));
  const links = part.links.filter((link) => isSafe(link.url));
  if (links.length) {
    const list = made("ul", "");
    for (const link of links) {
      const item = made("li", "");
      item.append(made("a", link.title, { href: link.url, rel: "noopener" }));
      list.append(item);
    }
    whole.append(list);
  }
  return whole;
}

function isSafe(url) {
  try {
    return SAFE.includes(new URL(url, document.baseURI).protocol);
  } catch {
    return false;
  }
}

function vote(id, text) {
  const asked = by("vote").content.cloneNode(true).firstElementChild;
  const buttons = [...asked.querySelectorAll("button")];
  const status = asked.querySelector("[role=status]");
  const lock = (is) => buttons.forEach((button) => (button.ariaDisabled = String(is)));
  for (const button of buttons) {
    button.addEventListener("click", async () => {
      if (button.ariaDisabled === "true") return;
      lock(true);
      button.ariaPressed = "true";
      const helped = button.value === "yes";
      try {
        const told = await post("v1/feedback/vote", { helped, id, text: helped ? "" : text, language });
        status.textContent = told.stored && !helped ? words.votedKept : words.voted;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        status.textContent = error.message;
        button.ariaPressed = "false";
        lock(false);
      }
    });
  }
  return asked;
}

function count(field) {
  const left = field.maxLength - field.value.length;
  const sentence = left > NEAR ? "" : left > 0 ? words.left : words.noneLeft;
  by(`${field.id}-left`).textContent = filled(sentence, {
    count: (left > 0 ? left : field.maxLength).toLocaleString(language),
  });
}

// A change of language loads the page anew; what was typed waits in this tab meanwhile.
function keepDraft() {
  try {
    sessionStorage.setItem(DRAFT, JSON.stringify(fields.map((field) => field.value)));
  } catch {
    // Storage may be forbidden; then the fields are empty after the change.
  }
}

function takeDraft() {
  try {
    const draft = JSON.parse(sessionStorage.getItem(DRAFT));
    sessionStorage.removeItem(DRAFT);
    draft?.forEach((text, place) => (fields[place].value = text));
  } catch {
    // As above.
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit();
  }
});
for (const field of fields) field.addEventListener("input", () => count(field));
by("switch").addEventListener("click", keepDraft);
takeDraft();
fields.forEach(count);

"""The pages of a real server in a real browser: what a traveller writes on, and what the owner looks at."""

import importlib
import importlib.util
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter

import pytest
from browsers import PALE, chromium
from bundles import write_bundle
from serving import running

from limbeck.runtime.manifest import Reference
from limbeck.serve.keys import digest_of, new_key
from limbeck.serve.limits import Limits
from limbeck.serve.settings import ServeSettings, Storing

for needed in ("fastapi", "uvicorn", "httptools", "prometheus_client", "sqlalchemy"):
    pytest.importorskip(needed, reason="the extras 'serve' and 'annotate' are not installed")
FOLDER, LANGUAGES, page, words = attrgetter("FOLDER", "LANGUAGES", "page", "words")(
    importlib.import_module("limbeck.serve.pages")
)

SECONDS = 5
# How often the owner's page asks, in milliseconds.
POLLED = 2000
REPLIES = """
languages = ["en", "de"]

[category.late]
priority = 2
title = {en = "Late trains", de = "Verspätung"}
text.en = "We are sorry that you came late.\\n\\nSome of the fare can be paid back."
text.de = "Es tut uns leid, dass Sie zu spät kamen."
links.en = [{title = "Claim compensation", url = "https://www.example.org/claim"}]

[category.hot]
title = {en = "<b>Heat</b>", de = "Hitze"}
text.en = "We cool <script>our</script> {{{{title}}}} trains."
text.de = "Wir kühlen unsere Züge."
links.en = [{title = "How", url = "/cooling"}]

[nothing]
text.en = "Thank you for writing."
text.de = "Danke für Ihre Nachricht."
"""
# As when the texts were about something else, so that all has moved.
REFERENCE = Reference(
    texts=1000,
    label_rates={"late": 0.9, "hot": 0.05, "wifi": 0.3},
    confidence=[0.1] * 10,
    lengths=[3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8],
    unknown_rate=0.1,
    embedding=[4.0, -4.0, -4.0],
)
# The model is certain of nothing else, so that of this alone no copy is kept.
CERTAIN = "late late hot hot wifi wifi"
HOSTILE = "<img src=x onerror=alert(1)>{{title}}\u202egnp.\u2066 </textarea><script>alert(2)</script> hot"


# Without a browser.


@pytest.mark.parametrize("name", ["feedback.html", "owner.html"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_a_page_is_there(name, language):
    filled = page(name, language).body.decode()
    assert f'<html lang="{language}">' in filled and "{{" not in filled


def test_languages_have_the_same_words_and_placeholders_and_none_is_left_over():
    english, german = words("en"), words("de")
    assert list(english) == list(german)
    for key, sentence in english.items():
        assert re.findall(r"\{\w+\}", sentence) == re.findall(r"\{\w+\}", german[key]), key
    used = "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("feedback.html", "owner.html"))
    assert set(re.findall(r"\{\{(\w+)\}\}", used)) - {"language", "answer", "good", "bad"} == set(english)


def test_scripts_use_the_words_that_their_pages_carry():
    for name in ("feedback", "owner"):
        carried = set(re.findall(r"data-([a-z-]+)=", (FOLDER / f"{name}.html").read_text(encoding="utf-8")))
        script = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
        wanted = {re.sub("[A-Z]", lambda big: f"-{big[0].lower()}", one) for one in re.findall(r"words\.(\w+)", script)}
        assert wanted <= carried, name
        assert "innerHTML" not in script and "insertAdjacentHTML" not in script


# With one.


@pytest.fixture(scope="module")
def browser():
    yield from chromium()


@pytest.fixture(scope="module")
def admin():
    return new_key()


@pytest.fixture(scope="module")
def settings(tmp_path_factory, admin):
    folder = tmp_path_factory.mktemp("pages")
    (folder / "replies.toml").write_text(REPLIES, encoding="utf-8")
    (folder / "keys").write_text(f"admin:{digest_of(admin)}\n", encoding="utf-8")
    return ServeSettings(
        models={"rail": str(write_bundle(folder / "bundle", reference=REFERENCE, reading={"max_tokens": 128}))},
        replies=str(folder / "replies.toml"),
        keys=str(folder / "keys"),
        store=Storing(f"sqlite:///{folder}/texts.sqlite3", below=0.99, shown=True),
    )


@pytest.fixture(scope="module")
def server(settings):
    with running(settings) as one:
        yield one.url


@pytest.fixture
def opening(browser):
    """Open pages in which no script may fail and nothing may break the policy."""
    wrong, contexts = [], []

    def heard(message):
        # An answer that is no success is told there too; tests of those look at what the page says.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            wrong.append(message.text)

    def opened(url, width=1280, height=900, clock=False, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **{"locale": "en-GB"} | options)
        contexts.append(context)
        context.set_default_timeout(SECONDS * 1000)
        if options.get("java_script_enabled", True):
            context.add_init_script(
                "addEventListener('securitypolicyviolation', e => console.error('policy', e.effectiveDirective))"
            )
        shown = context.new_page()
        if clock:
            shown.clock.install()
        shown.on("console", heard)
        shown.on("pageerror", lambda error: wrong.append(str(error)))
        shown.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        shown.goto(url)
        return shown

    yield opened
    for context in contexts:
        context.close()
    assert not wrong


def text_of(page, selector):
    return page.locator(selector).inner_text()


def eventually(page, selector, has):
    page.locator(selector, has_text=has).first.wait_for()


def sent(page, **fields):
    for name, text in fields.items():
        page.fill(f"#{name}", text)
    page.click("#send")
    page.locator("#answer h2").wait_for()
    return page


@contextmanager
def posted(page, path):
    """Give what the page posts in the block, and what it hears, as [asked, told]."""
    both = []
    with page.expect_response(f"**{path}") as heard:
        yield both
    both += [heard.value.request.post_data_json, heard.value.json()]


def test_the_reply_fits_what_was_written(server, opening):
    page = opening(server)
    assert page.title() == "How was your journey?" and page.locator("#answer").inner_html() == ""
    with posted(page, "/v1/feedback") as both:
        sent(page, good="the wifi", bad="the train was late")
    assert both[0] == {"good": "the wifi", "bad": "the train was late", "language": "en"}
    assert page.locator("#answer section h3").all_inner_texts() == ["Late trains"]
    assert page.locator("#answer section p").all_inner_texts() == [
        "We are sorry that you came late.",
        "Some of the fare can be paid back.",
    ]
    assert page.get_by_role("link", name="Claim compensation").get_attribute("href") == "https://www.example.org/claim"
    assert page.evaluate("document.activeElement.id") == "answer"
    assert text_of(page, "#send") == "Send" and text_of(page, "#problem") == ""
    sent(page, good="", bad="the train")
    eventually(page, "#answer section", "Thank you for writing.")


def test_the_button_says_that_it_is_sending_and_sends_once(server, opening):
    page = opening(server)
    held = []
    page.route("**/v1/feedback", lambda route: held.append(route))
    page.fill("#bad", "late")
    page.click("#send")
    eventually(page, "#send", "Sending …")
    page.keyboard.press("Control+Enter")
    page.click("#send", force=True)
    while not held:
        page.wait_for_timeout(10)
    held[0].continue_()
    eventually(page, "#answer h3", "Late trains")
    assert text_of(page, "#send") == "Send" and len(held) == 1


def test_nothing_is_sent_of_two_empty_fields(server, opening):
    page = opening(server, 375, 640)
    page.on("request", lambda request: pytest.fail(f"{request.url} was asked"))
    page.fill("#good", "  \n")
    page.click("#send")
    eventually(page, "#problem", words("en")["empty"])
    assert page.evaluate("document.querySelector('#problem').getBoundingClientRect().bottom <= innerHeight")
    assert page.evaluate("document.activeElement.id") == "good"


def test_votes_name_the_kept_text_or_tell_it_again(server, opening):
    page = opening(server)
    for answer, good, text, word in (
        ("yes", "wifi", "", "voted"),
        ("no", "wifi", "wifi\nlate", "voted_kept"),
        ("no", CERTAIN, f"{CERTAIN}\nlate", "voted_kept"),
    ):
        with posted(page, "/v1/feedback") as first:
            sent(page, good=good, bad="late")
        page.fill("#good", "something else, written afterwards")
        with posted(page, "/v1/feedback/vote") as second:
            page.click(f".vote [value={answer}]")
        assert (first[1]["id"] is None) == (good == CERTAIN) and second[1] == {"stored": True}
        assert second[0] == {"helped": answer == "yes", "id": first[1]["id"], "text": text, "language": "en"}
        eventually(page, ".vote [role=status]", words("en")[word])
        assert page.get_attribute(f".vote [value={answer}]", "aria-pressed") == "true"
    page.on("request", lambda request: pytest.fail("a second vote was sent"))
    page.click(".vote [value=yes]", force=True)


def test_german_by_the_browser_and_by_the_switch_which_keeps_what_was_typed(server, opening):
    assert opening(server, locale="de-AT").title() == "Wie war Ihre Reise?"
    page = opening(server)
    page.fill("#good", "Das <i>Wifi</i>\n\u202eא")
    page.fill("#bad", "late")
    page.click("#switch")
    page.wait_for_url("**/?lang=de")
    assert text_of(page, "label[for=good]") == "Was war gut?"
    assert page.input_value("#good") == "Das <i>Wifi</i>\n\u202eא" and page.input_value("#bad") == "late"
    sent(page)
    assert text_of(page, "#answer h2") == "Unsere Antwort"
    assert text_of(page, "#answer section h3") == "Verspätung"
    assert page.get_attribute("#answer section", "lang") == "de"
    page.get_by_role("button", name="Nein").click()
    eventually(page, ".vote [role=status]", words("de")["voted_kept"])
    page.click("#switch")
    page.wait_for_url("**/?lang=en")
    assert text_of(page, "#send") == "Send" and page.input_value("#bad") == "late"
    page.reload()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_keyboard_is_enough(server, opening):
    page = opening(server)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "switch"
    page.keyboard.press("Tab")
    page.keyboard.type("wifi")
    page.keyboard.press("Tab")
    page.keyboard.type("late")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "send"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    eventually(page, "#answer h3", "Late trains")
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    eventually(page, ".vote [role=status]", words("en")["voted"])
    page.focus("#bad")
    page.keyboard.type(" train, hot")
    page.keyboard.press("Control+Enter")
    page.locator("#answer section").nth(1).wait_for()


CROWDED = """() => {
  const shown = [...document.querySelectorAll('h1,h2,h3,p,label,textarea,input,button,a,dt,dd,th,td,figure,svg')]
    .filter((one) => one.checkVisibility() && one.getClientRects().length && one.getBoundingClientRect().height);
  const found = [];
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) found.push('scrolls sideways');
  for (const one of shown) {
    const a = one.getBoundingClientRect();
    if (one.matches('textarea,input,button,a') && (a.height < 44 || a.width < 44)) found.push(`${one.outerHTML} is small`);
    if (one.scrollWidth > one.clientWidth + 1 && one.clientWidth) found.push(`${one.outerHTML} is cut off`);
    for (const other of shown) {
      if (one === other || one.contains(other) || other.contains(one)) continue;
      const b = other.getBoundingClientRect();
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 1) found.push(`${one.outerHTML} lies over ${other.outerHTML}`);
    }
  }
  return found;
}"""


@pytest.mark.parametrize(
    ("width", "language", "scheme"),
    [(320, "de", "dark"), (375, "en", "light"), (1280, "de", "dark")],
)
def test_everything_has_its_room_and_nothing_moves(server, opening, width, language, scheme):
    page = opening(f"{server}/?lang={language}", width, 800, color_scheme=scheme)
    page.fill("#good", "hot wifi " * 540)
    eventually(page, "#good-left", "140")
    assert page.evaluate(CROWDED) == [] == page.evaluate(PALE)
    where = "() => [...document.querySelectorAll('header, h1, form *')].map(e => [e.offsetLeft, e.offsetTop, e.offsetWidth])"
    before = page.evaluate(where)
    sent(page, bad="the train was late")
    assert page.evaluate(where) == before
    assert page.evaluate(CROWDED) == [] == page.evaluate(PALE)
    height = page.evaluate("document.body.scrollHeight")
    page.click(".vote [value=no]")
    eventually(page, ".vote [role=status]", words(language)["voted_kept"])
    assert page.evaluate("document.body.scrollHeight") == height
    assert page.evaluate(CROWDED) == [] == page.evaluate(PALE)


def test_the_counter_speaks_only_near_the_limit(server, opening):
    page = opening(server)
    page.fill("#bad", "x" * 4499)
    assert text_of(page, "#bad-left") == ""
    page.fill("#bad", "x" * 4999)
    assert text_of(page, "#bad-left") == "Characters left: 1"
    page.focus("#bad")
    page.keyboard.press("Control+End")
    page.keyboard.type("yz")
    assert text_of(page, "#bad-left") == "This is as long as it can be: 5,000 characters."
    assert page.input_value("#bad").endswith("xy")


@pytest.mark.parametrize("script", [True, False])
def test_hostile_text_stays_text(server, opening, script):
    page = opening(server, java_script_enabled=script)
    sent(page, good=HOSTILE, bad="'\"><svg onload=alert(3)> \ud83d\ude00 \u0000")
    assert page.locator("#answer section h3").all_inner_texts() == ["<b>Heat</b>"]
    assert page.locator("#answer section p").all_inner_texts() == ["We cool <script>our</script> {{title}} trains."]
    assert page.locator("main img, main svg, main script, main b").count() == 0
    assert page.input_value("#good") == HOSTILE


def test_the_form_works_without_scripts(server, opening):
    page = opening(f"{server}/?lang=de", 375, 800, java_script_enabled=False)
    page.click("#send")
    assert text_of(page, "#answer [role=alert]") == words("de")["empty"]
    sent(page, good="wifi", bad="late\nhot")
    assert page.url == f"{server}/#answer" and page.get_attribute("html", "lang") == "de"
    assert page.locator("#answer section h3").all_inner_texts() == ["Verspätung", "Hitze"]
    assert page.input_value("#bad") == "late\nhot"


# The owner's page.


def asked(url, told):
    body = json.dumps(told).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, {"content-type": "application/json"})) as answer:
        return json.load(answer)


def signed_in(page, key):
    page.fill("#key", key)
    page.keyboard.press("Enter")
    return page


@pytest.fixture(scope="module")
def busy(server):
    """A server that has answered enough to be compared with the past."""
    asked(f"{server}/v1/predict", {"texts": ["hot", "the train was hot", "wifi", "the train"] * 40})
    asked(f"{server}/v1/feedback", {"bad": f"{HOSTILE} mail me: a.b@example.org"})
    asked(f"{server}/v1/feedback/vote", {"helped": True})
    return server


def test_the_owner_sees_figures_with_the_right_key_alone(busy, opening, admin):
    page = opening(f"{busy}/owner", clock=True)
    for wrong in ("lk_wrong", "schlüssel", "  "):
        signed_in(page, wrong)
        eventually(page, "#problem", words("en")["owner_wrong_key"])
        assert page.is_hidden("#board") and page.evaluate("sessionStorage.length") == 0
    signed_in(page, admin)
    eventually(page, "h2", "rail")
    assert text_of(page, "#problem") == "" and page.is_hidden("#enter")
    assert text_of(page, "#workers") == "1" and "sec" in text_of(page, "#uptime")
    assert re.fullmatch(r"p50\s*[\d.]+ ms\s*p95\s*[\d.]+ ms\s*p99\s*[\d.]+ ms", text_of(page, "#latency"))
    assert re.search(r"[1-9]\d* yes\s*\d+ no", text_of(page, "#votes"))
    assert page.locator(".line polyline").count() == 1
    rates = page.locator(".rates tbody tr").all_inner_texts()
    assert [row.split()[0] for row in rates] == ["Late", "Hot", "Wifi"]
    assert rates[0].endswith("90%") and rates[2].endswith("30%")
    assert page.locator(".histogram rect.now").count() == page.locator(".histogram rect.past").count() == 10
    assert text_of(page, ".badge") == "Moved" and text_of(page, ".sentence").startswith("Moved: late")
    late = page.locator(".findings tbody tr").first
    assert re.fullmatch(r"Late\s+[\d.]+%\s+90%\s+< 0.0001\s+\d+", late.inner_text())
    assert page.evaluate(CROWDED) == [] == page.evaluate(PALE)
    kept = [text for text in page.locator("#uncertain .text").all_inner_texts() if "mail me" in text]
    assert len(kept) == 1 and "<img src=x onerror=alert(1)>" in kept[0] and "example.org" not in kept[0]
    assert page.locator("#uncertain img, #uncertain script").count() == 0
    before = int(re.search(r"(\d+) no", text_of(page, "#votes"))[1])
    asked(f"{busy}/v1/feedback/vote", {"helped": False})
    page.clock.fast_forward(POLLED)
    eventually(page, "#votes", f"{before + 1} no")
    page.reload()
    eventually(page, "h2", "rail")
    assert page.evaluate("localStorage.length") == 0
    page.click("#forget")
    assert page.is_visible("#enter") and page.is_hidden("#board") and page.evaluate("sessionStorage.length") == 0


@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (375, "dark")])
def test_the_owners_page_is_german_and_has_room(busy, opening, admin, width, scheme):
    page = opening(f"{busy}/owner?lang=de", width, 800, color_scheme=scheme)
    signed_in(page, "falsch")
    eventually(page, "#problem", words("de")["owner_wrong_key"])
    assert page.evaluate(CROWDED) == [] == page.evaluate(PALE)
    signed_in(page, admin)
    eventually(page, "h2", "rail")
    assert text_of(page, ".badge") == "Verschoben"
    assert text_of(page, ".rates thead").split() == ["Kategorie", "Jetzt", "Früher"]
    assert re.search(r"[\d,]+ ms", text_of(page, "#latency"))
    assert "Länge der Texte" in text_of(page, ".findings")
    assert page.evaluate(CROWDED) == [] == page.evaluate(PALE)


# Servers that refuse, and that go away.


def plain_post(url, **fields):
    """Post a form as a browser without scripts does; give the status and the page."""
    try:
        with urllib.request.urlopen(url, urllib.parse.urlencode(fields).encode()) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.fixture
def strict(settings):
    """A server that keeps no texts, answers nothing in time, and finds that the second request comes too soon."""
    limits = Limits(deadline=0.0, rate=0.05, characters=40)
    with running(replace(settings, limits=limits, store=None)) as one:
        yield one


def test_refusals_are_told_in_a_sentence_and_nothing_typed_is_lost(strict, opening):
    told = words("en")
    status, plain = plain_post(f"{strict.url}/", bad="late " * 20, language="en")
    assert status == 413 and told["too_long"] in plain and "late late" in plain
    page = opening(strict.url, 375)
    page.fill("#bad", "late " * 20)
    page.click("#send")
    eventually(page, "#problem", told["too_long"])
    page.fill("#bad", "late")
    page.click("#send")
    eventually(page, "#problem", "Many people are writing to us just now. Please try again in 1 s.")
    assert text_of(page, "#send") == "Try again"
    page.click("#send")
    eventually(page, "#problem", re.compile(r"Please try again in \d\d s\."))
    status, plain = plain_post(f"{strict.url}/", bad="late", language="de")
    assert status == 429 and "Gerade schreiben uns sehr viele." in plain
    page.context.set_offline(True)
    page.click("#send")
    eventually(page, "#problem", told["offline"])
    assert page.evaluate(CROWDED) == [] == page.evaluate(PALE)


def test_pages_of_a_server_that_went_away_say_so_and_go_on_trying(strict, settings, opening, admin):
    told = words("en")
    page, owner = opening(strict.url), opening(f"{strict.url}/owner", clock=True)
    signed_in(owner, admin)
    eventually(owner, "#uncertain", told["owner_uncertain_off"])
    assert text_of(owner, ".badge") == "Not known yet" and "too few" in text_of(owner, ".sentence")
    strict.process.kill()
    strict.process.wait()
    page.fill("#bad", "late")
    page.click("#send")
    eventually(page, "#problem", told["away"])
    assert page.input_value("#bad") == "late" and text_of(page, "#send") == "Try again"
    owner.clock.fast_forward(POLLED)
    eventually(owner, "#problem", "The server doesn't answer. Trying again every two seconds; these figures are from")
    assert owner.is_visible("#board")
    with running(replace(settings, keys=None), strict.port):
        page.click("#send")
        eventually(page, "#answer h3", "Late trains")
        owner.clock.fast_forward(POLLED)
        eventually(owner, "#problem", told["owner_no_admin"])
        assert owner.is_visible("#enter") and owner.is_hidden("#board")

"""The annotators' page of a real server in real browsers, some of which are killed."""

import importlib
import importlib.util
import os
import re
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager
from statistics import median

import pytest
from browsers import CHROMIUM, PALE, playwright

for needed in ("fastapi", "uvicorn", "sqlalchemy"):
    pytest.importorskip(needed, reason="the extra 'annotate' is not installed")
asked, judged, texts, desk_server, desk_app = map(
    importlib.import_module,
    (
        "limbeck.annotate.asked",
        "limbeck.annotate.judged",
        "limbeck.annotate.texts",
        "desk_server",
        "limbeck.labelling.desk_app",
    ),
)
FOLDER, holding = desk_app.FOLDER, judged.holding

SECONDS = 10
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
# What the page promises between a key and the next text, in milliseconds.
AT_ONCE = 100
# What a browser on a busy machine may take to write an answer to its disk, in milliseconds.
WRITTEN = 200
SHORT = [f"text number {n}" for n in range(8)]
TOPICS = [f"topic{n}" for n in range(1, 12)]
TYPES = ["PER", "LOC", "ORG"]
HOSTILE = [
    "<img src=x onerror=alert(1)><script>alert(2)</script>{{title}}</div><style>*{display:none}</style>",
    "safe \u202egnp.exe\u202c \u2067\u05e9\u05dc\u05d5\u05dd\u2069 \u200f\u061c\ufeff\x1b[31m end",
    "javascript:alert(3) \" ' onmouseover=alert(4) &lt;b&gt; &amp; \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f682",
    "\u202e" * 3000 + "a\u202e" * 3000 + "\u0301" * 500,
    "x" * 50_000,
    "The train was late. \U0001f600 " * 2_273,
]


# Without a browser.


def words_of(language):
    script = (FOLDER / "annotate.js").read_text(encoding="utf-8")
    table = re.search(rf"^  {language}: {{\n(.*?)^  }},$", script, re.S | re.M)[1]
    return {name: sentence for name, sentence in re.findall(r'^    (\w+): "(.*)",$', table, re.M)}, table


def test_languages_have_the_same_words_and_placeholders_and_none_is_left_over():
    (english, table), (german, other) = words_of("en"), words_of("de")
    assert list(english) == list(german)
    assert len(english) == len(table.split("\n")) - 1 - table.count("\n\n") == len(re.findall(r"^    \w", other, re.M))
    for name, sentence in english.items():
        assert sorted(re.findall(r"\{\w+\}", sentence)) == sorted(re.findall(r"\{\w+\}", german[name])), name
    page = (FOLDER / "annotate.html").read_text(encoding="utf-8")
    script = (FOLDER / "annotate.js").read_text(encoding="utf-8").split("\n};\n", 1)[1]
    used = {*re.findall(r'data-(?:word|label)="(\w+)"', page), *re.findall(r"words\.(\w+)", script)}
    used |= {*re.findall(r'id: "(\w+)"', script), *re.findall(r"^    (\w+): number", script, re.M)}
    assert used | {"binary", "labels", "class", "spans"} == set(english)


def test_nothing_in_the_page_can_turn_a_text_into_more_than_text():
    script = (FOLDER / "annotate.js").read_text(encoding="utf-8")
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser", "srcdoc"):
        assert way not in script
    page = (FOLDER / "annotate.html").read_text(encoding="utf-8")
    assert not re.search(r"\son\w+=|\sstyle=|<style|//", page)


# With one.


@pytest.fixture(scope="module")
def driver():
    yield from playwright()


@pytest.fixture(scope="module")
def browser(driver):
    opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    yield opened
    opened.close()


@pytest.fixture
def desk(tmp_path):
    """Start servers, all on the same store."""
    with ExitStack() as running:

        def started(mode="binary", categories=("late",), texts=SHORT, **told):
            question = {"mode": mode, "categories": list(categories), "texts": texts, "store": str(tmp_path / "store")}
            return running.enter_context(desk_server.serving(**question | told))

        yield started


@pytest.fixture
def opening(browser):
    """Open pages as an annotator, in which no script may fail and nothing may break the policy."""
    wrong, contexts = [], []

    def heard(message):
        # Tests without a connection look at what the page says of it.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            wrong.append(message.text)

    def watched(shown):
        shown.on("console", heard)
        shown.on("pageerror", lambda error: wrong.append(str(error)))
        shown.on("dialog", answered)
        return shown

    def answered(dialog):
        (opened.warnings if dialog.type == "beforeunload" else wrong).append(dialog.message)
        dialog.accept()

    def opened(server, name="Ada", context=None, key="", **options):
        if context is None:
            context = browser.new_context(**{"locale": "en-GB", "viewport": WIDE} | options)
            contexts.append(context)
            context.set_default_timeout(SECONDS * 1000)
            context.add_init_script(
                "addEventListener('securitypolicyviolation', e => console.error('policy', e.effectiveDirective))"
            )
        shown = watched(context.new_page())
        shown.goto(server.url)
        if name:
            entered(shown, name, key)
        return shown

    opened.warnings = []
    yield opened
    for context in contexts:
        context.close()
    assert not wrong


def entered(page, name, key=""):
    page.locator("#enter, #desk").locator("visible=true").first.wait_for()
    if page.is_visible("#enter"):
        page.fill("#name", name)
        if key:
            page.fill("#key", key)
        page.locator("#name").press("Enter")
    page.locator("#text:not(:empty), #calm p:not(:empty)").locator("visible=true").first.wait_for()
    return page


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def text_of(page):
    return page.evaluate("document.getElementById('text').textContent")


def eventually(page, selector, has):
    page.locator(selector, has_text=has).first.wait_for()


def shows(page, text):
    page.wait_for_function("text => document.getElementById('text').textContent === text", arg=text)


def saved(page):
    eventually(page, "#saved[data-unsent='0']", "All saved")


def said(server):
    """Give what holds, in the order in which it came."""
    return [(one.text, one.annotator, one.verdict, one.value) for one in holding(server.store)]


# Each way to answer, with keys alone.


def test_one_category_with_one_key_a_text(desk, opening):
    server = desk()
    page = opening(server)
    assert page.locator("h1").inner_text() == "Is it “late”?"
    for at, key in enumerate(["y", "n", "s", "d", "ArrowRight", "ArrowLeft", "Space", "Y"]):
        shows(page, SHORT[at])
        press(page, key)
    eventually(page, "#calm h2", "Nothing for you just now")
    saved(page)
    given = ["label", "label", "skip", "don't know", "label", "label", "skip", "label"]
    values = [True, False, None, None, True, False, None, True]
    assert said(server) == [(t, "Ada", v, x) for t, v, x in zip(SHORT, given, values, strict=True)]


def test_several_categories_are_chosen_and_then_confirmed(desk, opening):
    server = desk("labels", TOPICS)
    page = opening(server)
    press(page, "1", "3", "b", "3", "Enter")
    shows(page, SHORT[1])
    assert page.locator("[aria-pressed=true]").count() == 0
    eventually(page, "[data-does=save]", "None of these")
    press(page, "Enter")
    shows(page, SHORT[2])
    press(page, "a", "9")
    assert page.locator("[aria-pressed=true]").all_inner_texts() == ["9\ntopic9", "A\ntopic10"]
    press(page, "u", "Enter")
    shows(page, SHORT[3])
    press(page, "s")
    shows(page, SHORT[4])
    saved(page)
    assert [value and value["labels"] for _, _, _, value in said(server)] == [
        ["topic1", "topic11"],
        [],
        ["topic10"],
        None,
    ]


def test_one_class_is_chosen_with_one_key(desk, opening):
    server = desk("class", ["praise", "complaint"], titles=["Praise", "Complaint"])
    page = opening(server)
    press(page, "2", "1", "d", "7", "u")
    shows(page, SHORT[2])
    assert page.locator(".earlier").inner_text().startswith("D")
    press(page, "u")
    shows(page, SHORT[1])
    assert "Praise" in page.locator(".earlier").inner_text()
    press(page, "2")
    shows(page, SHORT[2])
    saved(page)
    assert [value["labels"] for _, _, _, value in said(server)] == [["complaint"], ["complaint"]]


# An emoji is one character of Python's and two of a browser's.
NAMED = "\U0001f682 Mary Shaw left Old Ely,\nthen Ely again. \U0001f468\u200d\U0001f467 Acme"


def spans_of(server):
    return [[(NAMED[one["start"] : one["end"]], one["type"]) for one in value] for _, _, _, value in said(server)]


def test_entities_are_marked_with_keys_alone(desk, opening):
    server = desk("spans", TYPES, texts=[NAMED, "next"])
    page = opening(server)
    press(page, "ArrowRight", "ArrowRight", "Shift+ArrowRight", "1")
    press(page, "ArrowRight", "ArrowRight", "Shift+ArrowRight", "3", "2")
    press(page, "ArrowDown", "2", "Delete")
    press(page, "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "3", "u", "3")
    press(page, "Escape", "Tab")
    assert page.locator(".picked").all_inner_texts() == ["Mary Shaw"]
    press(page, "Tab", "Shift+ArrowLeft")
    assert page.locator(".picked").all_inner_texts() == ["Old"]
    press(page, "Shift+ArrowRight", "Alt+Shift+ArrowLeft", "2")
    assert text_of(page) == NAMED
    press(page, "Enter")
    shows(page, "next")
    saved(page)
    assert spans_of(server) == [[("Mary Shaw", "PER"), ("Old El", "LOC"), ("Acme", "ORG")]]


def test_tab_leaves_the_text_after_its_last_entity(desk, opening):
    page = opening(desk("spans", TYPES, texts=[NAMED]))
    press(page, "ArrowRight", "1", "Escape")
    page.focus("#text")
    press(page, "Tab")
    assert page.evaluate("document.activeElement.id") == "text"
    press(page, "Tab")
    assert page.evaluate("document.activeElement.closest('#categories button') !== null")
    press(page, "Shift+Tab")
    assert page.evaluate("document.activeElement.id") == "text"


# Not the middle of a character: there, Chromium itself can't say at which side of it a selection begins.
PLACES = """words => words.map(([word, nth]) => {
  const walk = document.createTreeWalker(document.getElementById('text'), NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode()); ) {
    const at = node.data.indexOf(word);
    if (at < 0) continue;
    const range = new Range();
    range.setStart(node, at + nth);
    range.setEnd(node, at + nth + 1);
    const place = range.getBoundingClientRect();
    return [place.left + place.width / 5, place.top + place.height / 2];
  }
})"""


def drag(page, first, last):
    start, end = page.evaluate(PLACES, [first, last])
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def click_at(page, word):
    page.mouse.click(*page.evaluate(PLACES, [[word, 1]])[0])


def test_entities_are_marked_with_a_mouse_by_whole_words_or_exactly(desk, opening):
    server = desk("spans", TYPES, texts=[NAMED, "next"])
    page = opening(server)
    drag(page, ("Mary", 1), ("Shaw", 2))
    page.locator("#categories button").nth(0).click()
    press(page, "Escape", "2")
    drag(page, ("Old", 0), ("Ely,", 2))
    page.keyboard.down("Alt")
    drag(page, ("again", 1), ("again", 3))
    page.keyboard.up("Alt")
    click_at(page, "Acme")
    press(page, "Escape")
    click_at(page, "Acme")
    press(page, "3")
    assert text_of(page) == NAMED
    page.click("[data-does=save]")
    shows(page, "next")
    saved(page)
    ((*_, value),) = said(server)
    found = [(NAMED[one["start"] : one["end"]], one["type"]) for one in value]
    assert found[:2] == [("Mary Shaw", "PER"), ("Old Ely", "LOC")] and found[-1] == ("Acme", "ORG")
    assert found[2][1] == "LOC" and found[2][0] in "again" and found[2][0] != "again"


# The model's guess.

GUESS = {"model": "m", "version": "1", "labels": ["topic2"], "probabilities": {"topic1": 0.04, "topic2": 0.83}}


def test_a_hidden_guess_is_nowhere_in_the_page(desk, opening):
    page = opening(desk("labels", TOPICS, guess=GUESS), name="")
    bodies = []
    page.on("response", lambda response: "/api/" in response.url and bodies.append(response.text()))
    entered(page, "Ada")
    saved(page)
    page.wait_for_function("() => document.querySelectorAll('#balance li').length === 11")
    assert len(bodies) > 1 and not any("probabilities" in body or "0.83" in body for body in bodies)
    assert "83" not in page.content() and page.is_hidden("#guess") and page.locator(".share").count() == 0


def test_a_shown_guess_is_told_and_not_taken_for_an_answer(desk, opening):
    server = desk("labels", TOPICS, guess=GUESS, show_guess=True)
    page = opening(server)
    assert [share for share in page.locator(".share").all_inner_texts() if share] == ["83%"]
    press(page, "Enter")
    shows(page, SHORT[1])
    saved(page)
    (kept,) = holding(server.store)
    assert kept.value["labels"] == [] and kept.guess_shown is True


def test_guessed_entities_are_taken_over_with_enter_and_can_be_changed(desk, opening):
    entities = [{"start": 2, "end": 6, "type": "LOC"}, {"start": 17, "end": 24, "type": "ORG"}]
    server = desk("spans", TYPES, texts=[NAMED, "next"], guess={"model": "m", "entities": entities}, show_guess=True)
    page = opening(server)
    assert page.locator(".guessed").all_inner_texts() == ["Mary", "Old Ely"]
    press(page, "Tab", "1", "u", "1", "Enter")
    shows(page, "next")
    saved(page)
    assert spans_of(server) == [[("Mary", "PER"), ("Old Ely", "ORG")]]


# Taking back.


def test_undo_restores_exactly_what_was_any_number_of_times(desk, opening):
    server = desk()
    page = opening(server)
    states = []
    for at, key in enumerate("ynsdy"):
        saved(page)
        states.append(list(holding(server.store)))
        press(page, key)
        shows(page, SHORT[at + 1])
    saved(page)
    for at, told in reversed(list(enumerate(["Yes", "No", "Skip", "Don't know", "Yes"]))):
        press(page, "u" if at % 2 else "Control+z")
        shows(page, SHORT[at])
        eventually(page, "#status", f"Taken back: {told}")
        assert told in page.locator(".earlier").inner_text()
        assert list(holding(server.store)) == states[at]
    press(page, "u")
    eventually(page, "#status", "There is nothing to take back.")
    for at in range(5):
        shows(page, SHORT[at])
        press(page, "n")
    saved(page)
    assert said(server) == [(text, "Ada", "label", False) for text in SHORT[:5]]


def test_undo_is_as_fast_as_fingers_and_survives_a_reload(desk, opening):
    server = desk()
    page = opening(server)
    for at in range(4):
        shows(page, SHORT[at])
        press(page, "y")
    saved(page)
    page.reload()
    shows(page, SHORT[4])
    press(page, *"uuu")
    shows(page, SHORT[1])
    press(page, *"nnn")
    shows(page, SHORT[4])
    saved(page)
    assert [value for *_, value in said(server)] == [True, False, False, False]


def test_undo_brings_marks_back_as_they_were(desk, opening):
    server = desk("spans", TYPES, texts=[NAMED, "next"])
    page = opening(server)
    press(page, "ArrowRight", "ArrowRight", "Shift+ArrowRight", "1", "Enter")
    shows(page, "next")
    saved(page)
    before = said(server)
    press(page, "u")
    shows(page, NAMED)
    assert page.locator(".entity").all_inner_texts() == ["Mary Shaw"] and said(server) == []
    press(page, "Enter")
    shows(page, "next")
    saved(page)
    assert said(server) == before


def test_what_was_begun_is_still_there_after_a_reload(desk, opening):
    page = opening(desk("labels", TOPICS))
    press(page, "2", "5")
    page.reload()
    eventually(page, "#status", "What you had begun here is back.")
    assert page.locator("[aria-pressed=true]").all_inner_texts() == ["2\ntopic2", "5\ntopic5"]
    assert text_of(page) == SHORT[0]


# Nothing is lost, nothing is kept twice.


@contextmanager
def own_browser(driver, profile):
    """Start a browser that can be killed, with all that belongs to it."""
    command = [str(CHROMIUM), "--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu"]
    command += ["--remote-debugging-port=0", f"--user-data-dir={profile}", "--lang=en-GB", "about:blank"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, start_new_session=True, **quiet)

    def kill():
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    try:
        told = next(line for line in process.stderr if line.startswith("DevTools listening on "))
        context = driver.chromium.connect_over_cdp(told.split()[-1]).contexts[0]
        context.set_default_timeout(SECONDS * 1000)
        yield context, kill
    finally:
        kill()
        process.stderr.close()


def test_two_annotators_one_of_whom_is_killed(desk, opening, driver, tmp_path):
    texts = [f"text number {n}" for n in range(20)]
    server = desk(texts=texts)
    steady = opening(server, "Steady")
    until = time.monotonic() + 2 * SECONDS
    with own_browser(driver, tmp_path / "profile") as (context, kill):
        doomed = context.new_page()
        doomed.goto(server.url)
        entered(doomed, "Doomed")
        for at in range(1, 5):
            press(doomed, "y")
            press(steady, "n")
            while len(said(server)) < 2 * at and time.monotonic() < until:
                doomed.wait_for_timeout(10)
        # These never reach the server: only the browser has them when it dies.
        doomed.route("**/api/answer", lambda route: route.abort())
        press(doomed, "y", "y")
        doomed.wait_for_timeout(WRITTEN)
        kill()
    # As when its time is over.
    assert server.desk.release("Doomed") == 3
    while len(said(server)) < len(texts) and time.monotonic() < until:
        if steady.is_hidden("#calm"):
            press(steady, "n")
        steady.wait_for_timeout(10)
    found = said(server)
    assert sorted(text for text, *_ in found) == sorted(texts)
    assert [(name, value) for _, name, _, value in found].count(("Doomed", True)) == 4
    assert [(name, value) for _, name, _, value in found].count(("Steady", False)) == 16
    with own_browser(driver, tmp_path / "profile") as (context, _):
        again = context.new_page()
        again.goto(server.url)
        entered(again, "Doomed")
        eventually(again, "#status.problem", "(2) Not kept, as somebody else has this text by now")
        saved(again)
    assert said(server) == found


def test_a_killed_browser_sends_what_it_could_not_send_when_it_is_opened_again(desk, driver, tmp_path):
    server = desk()
    for is_first in (True, False):
        with own_browser(driver, tmp_path / "profile") as (context, kill):
            page = context.new_page()
            page.goto(server.url)
            if is_first:
                entered(page, "Ada")
                page.route("**/api/answer", lambda route: route.abort())
                press(page, "y", "n")
                page.wait_for_timeout(WRITTEN)
                kill()
                assert said(server) == []
            else:
                until = time.monotonic() + SECONDS
                while len(said(server)) < 2 and time.monotonic() < until:
                    page.wait_for_timeout(20)
    assert said(server) == [(SHORT[0], "Ada", "label", True), (SHORT[1], "Ada", "label", False)]


def test_without_a_connection_answers_wait_and_are_kept_once(desk, opening):
    server = desk()
    page = opening(server)
    press(page, "y")
    shows(page, SHORT[1])
    saved(page)
    page.wait_for_timeout(100)
    page.context.set_offline(True)
    press(page, "n", "y", "y")
    eventually(page, "#saved", "No connection, not saved yet: 3")
    eventually(page, "#calm h2", "No connection")
    press(page, "u")
    shows(page, SHORT[3])
    eventually(page, "#saved", "not saved yet: 2")
    assert len(said(server)) == 1
    press(page, "n")
    page.context.set_offline(False)
    shows(page, SHORT[4])
    saved(page)
    assert [text for text, *_ in said(server)] == SHORT[:4]
    assert [value for *_, value in said(server)] == [True, False, True, False]


def test_a_tab_that_is_closed_without_a_connection_warns_and_its_answers_are_sent_later(desk, opening):
    server = desk()
    page = opening(server)
    page.context.set_offline(True)
    press(page, "y", "n")
    eventually(page, "#saved", "not saved yet: 2")
    with page.expect_event("close"):
        page.close(run_before_unload=True)
    assert len(opening.warnings) == 1
    page.context.set_offline(False)
    again = opening(server, context=page.context)
    shows(again, SHORT[2])
    saved(again)
    assert [value for *_, value in said(server)] == [True, False]
    with again.expect_event("close"):
        again.close(run_before_unload=True)
    assert len(opening.warnings) == 1


def test_a_server_that_is_started_again_gets_what_was_said_meanwhile(desk, opening, tmp_path):
    with desk_server.serving(mode="binary", categories=["late"], texts=SHORT, store=str(tmp_path / "store")) as server:
        page = opening(server)
        press(page, "y")
        saved(page)
    press(page, "n", "y")
    eventually(page, "#saved", "No connection, not saved yet: 2")
    again = desk(port=server.port)
    saved(page)
    shows(page, SHORT[3])
    assert [value for *_, value in said(again)] == [True, False, True]


def test_an_answer_that_comes_too_late_is_told_and_work_goes_on(desk, opening):
    server = desk(lease_seconds=0.2)
    page = opening(server)
    page.wait_for_timeout(300)
    (task,) = server.desk.next("Grace", 1)
    server.desk.answer(asked.Answer(task.public_id, "Grace", "label", False))
    press(page, "y")
    eventually(page, "#status.problem", "Not kept, as somebody else has this text by now: “text number 0”")
    shows(page, SHORT[1])
    press(page, "y")
    saved(page)
    assert said(server) == [(SHORT[0], "Grace", "label", False), (SHORT[1], "Ada", "label", True)]


def test_a_refused_answer_is_told_and_its_text_comes_again(desk, opening):
    server = desk(texts=SHORT[:2])
    page = opening(server)
    spoilt = []

    def spoil(route):
        spoilt.append(route.request.post_data)
        route.continue_(post_data=route.request.post_data.replace('"value":true', '"value":7'))

    page.route("**/api/answer", spoil, times=1)
    press(page, "y")
    eventually(page, "#status.problem", re.compile("Not kept: The answer is 7.*“text number 0”"))
    shows(page, SHORT[1])
    press(page, "n")
    shows(page, SHORT[0])
    press(page, "n")
    saved(page)
    assert said(server) == [(SHORT[1], "Ada", "label", False), (SHORT[0], "Ada", "label", False)] and len(spoilt) == 1


# A server that a browser meets for the first time may be away for a moment; the page says so, and asks to try again.
ASKED_OR_AWAY = """() => ["h1", "#status"].some((one) =>
  /hot|connection/.test(document.querySelector(one).textContent))"""


def test_answers_to_one_question_never_go_to_another(desk, opening, tmp_path):
    told = {"mode": "binary", "texts": SHORT, "store": str(tmp_path / "store")}
    with desk_server.serving(**told, categories=["late"]) as server:
        page = opening(server)
    with desk_server.serving(**told, categories=["hot"], port=server.port) as other:
        (task,) = other.desk.next("Ada", 1)
        other.desk.answer(asked.Answer(task.public_id, "Ada", "label", True))
        press(page, "y")
        eventually(page, "h1", "hot")
        eventually(page, "#status", "The server asks another question now.")
        shows(page, SHORT[1])
        press(page, "n")
        saved(page)
        assert [(one.category, one.value) for one in holding(other.store)] == [("hot", True), ("hot", False)]
        page.reload()
        eventually(page, "#status", "Answers to another question wait in this browser until it is asked again: 1")
    again = desk(port=server.port)
    page.reload()
    shows(page, SHORT[1])
    saved(page)
    found = [(one.category, one.value) for one in holding(again.store)]
    assert found == [("hot", True), ("hot", False), ("late", True)]
    with desk_server.serving(**told, categories=["hot"]) as other:
        page.route("**/api/*", lambda route: route.continue_(url=route.request.url.replace(server.url, other.url)))
        press(page, "u")
        page.wait_for_function(ASKED_OR_AWAY)
        if "connection" in page.locator("#status").inner_text():
            press(page, "u")
        eventually(page, "h1", "hot")
        assert len(list(holding(other.store))) == 3


def test_a_second_tab_takes_over_and_gives_back(desk, opening):
    server = desk()
    page = opening(server)
    press(page, "y")
    saved(page)
    second = opening(server, context=page.context)
    eventually(page, "#elsewhere", "This page went on in another tab")
    press(page, "y")
    shows(second, SHORT[1])
    press(second, "n")
    saved(second)
    page.click("#here")
    shows(page, SHORT[2])
    eventually(second, "#elsewhere", "another tab")
    assert [value for *_, value in said(server)] == [True, False]


# Safe, fast, and calm.

# Where everything is that could move; a heading may be wider or narrower, as what stands beside it.
BOXES = """() => [...document.querySelectorAll('button, #paper, #status, h1, #side, #side h2, #figures div')]
  .filter((one) => one.checkVisibility())
  .map((one) => {
    const { left, top, right, bottom } = one.getBoundingClientRect();
    const box = one.matches('h1') ? [left, top, bottom] : [left, top, right, bottom];
    return [one.id || one.dataset.does || one.tagName, ...box.map(Math.round)];
  })"""

CROWDED = """() => {
  const shown = [...document.querySelectorAll('h1, h2, p, button, dt, dd, li, svg, #paper')]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height);
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push('scrolls sideways');
  for (const one of shown) {
    const a = one.getBoundingClientRect();
    if (one.matches('button') && (a.height < 44 || a.width < 44)) found.push(`${one.outerHTML} is small`);
    if (one.matches('button, li, p') && one.scrollWidth > one.clientWidth + 1) found.push(`${one.outerHTML} is cut off`);
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


@pytest.mark.parametrize("mode", ["binary", "spans"])
def test_hostile_texts_are_shown_as_they_are(desk, opening, mode):
    page = opening(desk(mode, ["<b>late</b>"] if mode == "binary" else TYPES, texts=HOSTILE))
    page.locator("#figures div").first.wait_for()
    where = page.evaluate(BOXES)
    for text in HOSTILE:
        shows(page, text)
        if mode == "spans":
            press(page, "ArrowRight", "1", "ArrowDown", "Shift+ArrowRight", "2")
            assert text_of(page) == text
        assert page.locator("#text :not(span), h1 *").count() == 0
        assert page.evaluate(BOXES) == where
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        press(page, "s")
    eventually(page, "#calm h2", "Nothing for you")


def test_marks_that_turn_writing_round_are_visible_and_turn_nothing(desk, opening):
    page = opening(desk(texts=HOSTILE[1:2]))
    marks = page.locator(".unseen").evaluate_all("all => all.map((one) => one.dataset.unseen)")
    assert marks == ["RLO", "PDF", "RLI", "PDI", "RLM", "ALM", "BOM", "U+001B"]
    (first, _), (second, _) = page.evaluate(PLACES, [["gnp", 0], ["exe", 0]])
    assert first < second


@pytest.mark.parametrize("mode", ["binary", "labels", "class", "spans"])
def test_nothing_moves_whatever_the_text_and_the_answer(desk, opening, mode):
    long = ["Short.", "A long one. " * 3000, "word" * 500, "Several\n\n\n\n\n\n\n\n\n\nlines"]
    page = opening(desk(mode, ["late"] if mode == "binary" else TYPES, texts=long))
    page.locator("#figures div").first.wait_for()
    wide = page.evaluate(BOXES)
    page.set_viewport_size(PHONE)
    narrow = page.evaluate(BOXES)
    assert len(wide) > len(narrow) > 15
    for text, key in zip(long, ("s", "d", "s", "u"), strict=True):
        shows(page, text)
        page.set_viewport_size(WIDE)
        assert page.evaluate(BOXES) == wide
        page.set_viewport_size(PHONE)
        assert page.evaluate(BOXES) == narrow
        press(page, key)
    shows(page, long[2])
    assert page.evaluate(BOXES) == narrow
    page.context.set_offline(True)
    press(page, "s")
    eventually(page, "#saved", "No connection")
    assert page.evaluate(BOXES) == narrow
    page.set_viewport_size(WIDE)
    assert page.evaluate(BOXES) == wide


def busy(route):
    """Answer with what a server says after a long day."""
    answer = route.fetch()
    day = {"labels": 12_345, "waiting": 1234, "pace": 21.55, "seconds": 2.75, "skipped": 1234, "unknown": 123}
    day["agreement"] = {"kappa": 0.81, "agreement": 0.92, "items": 48}
    day["hint"] = (
        "The last 5 rounds brought +0.2 points of F1 a hundred labels: more of the same will hardly help. "
        "Another category may need you more."
    )
    day["curve"] = [
        {"labels": 25 * n, "f1": 0.5 + n / 50, "low": 0.45 + n / 50, "high": 0.56 + n / 50, "on": on}
        for n, on in enumerate(["cross-validation"] * 2 + ["dev"] * 6, 1)
    ]
    route.fulfill(response=answer, json=answer.json() | day)


@pytest.mark.parametrize(
    ("width", "locale", "scheme"), [(320, "de-DE", "dark"), (390, "en-GB", "light"), (1280, "de-DE", "light")]
)
def test_everything_has_its_room_and_the_panel_moves_nothing(desk, opening, width, locale, scheme):
    server = desk("labels", TOPICS[:8], guess=GUESS, show_guess=True)
    page = opening(server, viewport={"width": width, "height": 800}, locale=locale, color_scheme=scheme)
    page.locator("#figures div").first.wait_for()
    where = page.evaluate(BOXES)
    page.route("**/api/progress*", busy)
    press(page, "2", "Enter")
    eventually(page, "#advice.told", "The last 5 rounds")
    assert page.evaluate(BOXES) == where
    assert page.evaluate(CROWDED) == [] == page.evaluate(PALE)
    page.locator("#keys").click()
    assert page.evaluate(PALE) == []


def test_the_next_text_shows_at_once_whatever_the_network_does(desk, opening):
    server = desk()
    page = opening(server)
    page.locator("#figures div").first.wait_for()
    held = []
    page.route("**/api/answer", lambda route: held.append(route))
    page.evaluate(
        """() => {
          window.taken = [];
          document.addEventListener('keydown', () => {
            const [start, before] = [performance.now(), document.getElementById('text').textContent];
            const look = () => {
              if (document.getElementById('text').textContent === before) requestAnimationFrame(look);
              else taken.push(performance.now() - start);
            };
            requestAnimationFrame(look);
          }, true);
        }"""
    )
    for at in (1, 2):
        press(page, "y")
        shows(page, SHORT[at])
    assert said(server) == []
    for at in range(2):
        while len(held) == at:
            page.wait_for_timeout(10)
        held[at].continue_()
    saved(page)
    page.unroute("**/api/answer")
    for at in (3, 4, 5):
        press(page, "y")
        shows(page, SHORT[at])
        saved(page)
    taken = page.evaluate("() => taken")
    assert len(taken) == 5 and median(taken) < AT_ONCE, taken


def test_a_key_that_is_held_down_answers_once(desk, opening):
    server = desk()
    page = opening(server)
    for _ in range(5):
        page.keyboard.down("y")
    page.keyboard.up("y")
    shows(page, SHORT[1])
    saved(page)
    assert len(said(server)) == 1


def test_time_in_which_the_tab_is_hidden_does_not_count(desk, opening):
    server = desk()
    page = opening(server)
    hide = """(hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }"""
    page.evaluate(hide, True)
    page.wait_for_timeout(500)
    page.evaluate(hide, False)
    page.wait_for_timeout(200)
    press(page, "y")
    saved(page)
    page.wait_for_timeout(300)
    press(page, "y")
    shows(page, SHORT[2])
    saved(page)
    first, second = (one.seconds for one in holding(server.store))
    assert 0.2 <= first < 0.5 and second >= 0.3


# Around the text.


def test_every_button_does_what_its_key_does_and_is_reached_with_tab(desk, opening):
    server = desk()
    page = opening(server)
    for name in ("yes", "no", "skip", "unknown", "undo"):
        page.click(f"[data-does={name}]")
        page.wait_for_timeout(20)
    shows(page, SHORT[3])
    press(page, "Space")
    shows(page, SHORT[4])
    saved(page)
    assert [verdict for _, _, verdict, _ in said(server)] == ["label", "label", "skip", "skip"]
    page.focus("#text")
    for name in ("no", "yes"):
        press(page, "Tab")
        assert page.evaluate("document.activeElement.dataset.does") == name
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    press(page, "Space")
    shows(page, SHORT[5])
    assert page.evaluate("document.activeElement.dataset.does") == "yes"
    saved(page)
    assert said(server)[-1][2:] == ("label", True)


def test_help_lists_the_keys_and_stops_them(desk, opening):
    page = opening(desk("spans", TYPES, texts=[NAMED, "next"]))
    press(page, "?")
    assert "Longer by a word" in page.locator("dialog").inner_text()
    press(page, "s", "Enter")
    assert page.is_hidden("dialog") and text_of(page) == NAMED
    press(page, "h", "Escape", "h", "h")
    assert page.is_hidden("dialog")


def test_the_panel_tells_how_it_goes_and_can_be_hidden(desk, opening):
    server = desk(state={"learning": True})
    page = opening(server)
    page.route("**/api/progress*", busy)
    press(page, "y", "n", "n")
    eventually(page, "#advice.told", "more of the same will hardly help")
    assert page.locator("#figures dd").all_inner_texts() == ["12,345", "1,234", "21.6", "2.8", "1,234", "123"]
    eventually(page, "#balance li", re.compile(r"No\s*2"))
    eventually(page, "#people li", re.compile(r"Ada\s*3"))
    assert page.locator("#agreement").inner_text() == "κ 0.81; 92% of 48 texts alike"
    assert page.locator("#curve-told").inner_text() == "0.66 (0.61 to 0.72) after 200 labels, on dev"
    assert page.locator("#curve circle").count() == 8 and page.locator("#curve polyline").count() == 2
    assert page.locator("#model-told").inner_text() == "Learning …" and page.is_disabled("#learn")
    press(page, "p")
    assert page.is_hidden("#side")
    page.reload()
    shows(page, SHORT[3])
    assert page.is_hidden("#side")
    page.click("#quiet")
    assert page.is_visible("#side")


def test_an_empty_queue_says_why_and_new_texts_appear_by_themselves(desk, opening):
    server = desk(texts=SHORT[:1])
    page = opening(server)
    press(page, "y")
    eventually(page, "#calm h2", "All done")
    press(page, "y", "n", "Enter")
    server.desk.queue([asked.Wanted(texts.NewText("new", "pool", "random"), 1.0)])
    shows(page, "new")
    assert page.is_hidden("#calm") and len(said(server)) == 1


def test_a_key_is_asked_for_and_remembered_until_the_tab_is_closed(desk, opening):
    page = opening(desk(key="a-good-key"), name="")
    for wrong in ("bad", "schlüssel"):
        page.fill("#name", "Ada")
        page.fill("#key", wrong)
        page.locator("#key").press("Enter")
        eventually(page, "#problem", "This key is wrong.")
    page.fill("#key", "a-good-key")
    page.locator("#key").press("Enter")
    shows(page, SHORT[0])
    page.reload()
    shows(page, SHORT[0])
    assert page.evaluate("JSON.stringify(localStorage)").count("good-key") == 0


def test_a_changed_name_hands_back_what_was_on_the_screen(desk, opening):
    server = desk()
    page = opening(server)
    page.click("#who")
    page.fill("#name", "Grace")
    page.locator("#name").press("Enter")
    eventually(page, "#who", "Grace")
    shows(page, SHORT[0])
    press(page, "y")
    saved(page)
    assert said(server) == [(SHORT[0], "Grace", "label", True)]
    page.click("#who")
    page.click("#stay")
    shows(page, SHORT[1])
    page.reload()
    eventually(page, "#who", "Grace")


def test_the_page_speaks_german(desk, opening):
    server = desk()
    page = opening(server, locale="de-CH")
    assert page.locator("h1").inner_text() == "Ist das „late“?" and page.get_attribute("html", "lang") == "de"
    press(page, "j")
    eventually(page, "#status", "Ja")
    eventually(page, "#saved[data-unsent='0']", "Alles gespeichert")
    assert said(server) == [(SHORT[0], "Ada", "label", True)]

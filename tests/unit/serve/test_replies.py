"""Replies: what is chosen, how it is written, and what each mistake in a replies.toml is told."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbeck.data.demo.phrases import TITLES
from limbeck.data.demo.replies import REPLIES
from limbeck.errors import RepliesBroken
from limbeck.serve.replies import Link, Part, Reply, as_html, choose_language
from limbeck.serve.replies_check import Finding, check_replies
from limbeck.serve.replies_file import LARGEST, parse_replies, read_replies

SMALL = """
languages = ["en", "de"]
most = 2

[category.late]
priority = 5
title = {en = "Delays", de = "Verspätung"}
text.en = "On {topic}."
text.de = "Zu {topic}."
links.en = [{title = "Live", url = "/live"}]

[category.hot]
text = "So {{hot}}!"

[category.wifi]
title = "About {topic}"
text = "One of {topics}."
links = [{title = "Help & more", url = "https://example.org/?a=1&b=2"}]

[[rule]]
name = "both"
when = ["late", "hot"]
unless = ["rain"]
priority = 1
title.en = "Both"
text.en = "Both of {topics}."

[nothing]
text = {en = "Thanks.", de = "Danke."}

[unsure]
below = 0.6
text = "{topics}?"
"""
NAMES = {"late": "Late", "hot": "Hot", "wifi": "WiFi", "rain": "Rain"}
LABELS = list(NAMES)


@pytest.fixture(scope="module")
def small():
    return parse_replies(SMALL)


@pytest.fixture(scope="module")
def demo():
    return parse_replies(REPLIES)


def titles_of(reply):
    return [part.title for part in reply.parts]


def changed(old, new):
    assert old in SMALL
    return SMALL.replace(old, new, 1)


def only(text, *, languages='["en"]'):
    return parse_replies(f"languages = {languages}\n{text}")


def test_each_category_has_its_own_reply_in_the_language_that_was_asked(small):
    assert small.choose(["late"], NAMES, 1.0, "de") == Reply(
        "found", "de", (Part("Verspätung", "Zu Verspätung.", (Link("Live", "/live"),), ("late",)),)
    )


def test_a_category_without_a_title_of_its_own_is_called_as_the_model_calls_it(small):
    assert small.choose(["hot"], NAMES, 1.0, "en").parts == (Part("Hot", "So {hot}!", (), ("hot",)),)
    assert titles_of(small.choose(["wifi"], NAMES, 1.0, "de")) == ["About WiFi"]
    assert titles_of(small.choose(["wifi"], {}, 1.0, "de")) == ["About wifi"]


def test_higher_priorities_come_first_and_only_so_many(small):
    reply = small.choose(["wifi", "late", "rain"], NAMES, 1.0, "en")
    assert titles_of(reply) == ["Delays", "About WiFi"]
    assert reply.parts[1].text == "One of WiFi, Delays and Rain."
    most = parse_replies(changed("most = 2", "most = 1"))
    assert titles_of(most.choose(["wifi", "late"], NAMES, 1.0, "en")) == ["Delays"]


def test_a_rule_stands_instead_of_its_categories(small):
    reply = small.choose(["hot", "late", "wifi", "hot"], NAMES, 1.0, "de")
    assert [part.about for part in reply.parts] == [("late", "hot"), ("wifi",)]
    assert reply.parts[0].text == "Both of Hot, Verspätung und WiFi."


def test_a_rule_is_left_out_where_something_else_was_found(small):
    reply = small.choose(["late", "hot", "rain"], NAMES, 1.0, "en")
    assert [part.about for part in reply.parts] == [("late",), ("hot",)]


def test_a_rule_that_doesnt_replace_stands_beside_the_others():
    replies = parse_replies(changed('unless = ["rain"]', "replaces = false").replace("most = 2", "most = 9"))
    reply = replies.choose(["late", "hot"], NAMES, 1.0, "en")
    assert [part.about for part in reply.parts] == [("late",), ("late", "hot"), ("hot",)]


def test_among_rules_that_share_a_category_the_higher_takes_it():
    replies = only(
        """
        [category.a]
        text = "a"
        [category.b]
        text = "b"
        [category.c]
        text = "c"
        [[rule]]
        name = "low"
        when = ["a", "b"]
        priority = 1
        text = "low"
        [[rule]]
        name = "high"
        when = ["b", "c"]
        priority = 2
        text = "high"
        """
    )
    assert [part.text for part in replies.choose(["a", "b", "c"], {}, 1.0, "en").parts] == ["high", "a"]


def test_equal_priorities_rules_first_then_the_order_of_the_file():
    replies = only(
        '[category.z]\ntext = "z"\n[category.a]\ntext = "a"\n'
        '[[rule]]\nname = "r"\nwhen = ["a"]\nreplaces = false\ntext = "r"\n'
    )
    assert [part.text for part in replies.choose(["a", "z"], {}, 1.0, "en").parts] == ["r", "z", "a"]


@pytest.mark.parametrize(("found", "text"), [([], "Danke."), (["rain"], "Danke.")])
def test_nothing_to_reply_to(small, found, text):
    reply = small.choose(found, NAMES, 1.0, "de")
    assert (reply.kind, reply.parts) == ("nothing", (Part("", text, (), ()),))


@pytest.mark.parametrize(
    ("languages", "language", "text"),
    [
        ('["en", "de"]', "en", "Thank you for your message."),
        ('["en", "de-AT"]', "de-AT", "Vielen Dank für Ihre Nachricht."),
        ('["fr"]', "en", "Thank you for your message."),
    ],
)
def test_a_neutral_sentence_where_the_file_has_none(languages, language, text):
    reply = only("", languages=languages).choose(["x"], {}, 0.5, language)
    assert reply == Reply("nothing", language, (Part("", text, (), ()),))


@pytest.mark.parametrize(
    ("confidence", "kind"), [(0.59, "unsure"), (0.6, "found"), (1.0, "found"), (float("nan"), "unsure")]
)
def test_answers_that_are_not_certain(small, confidence, kind):
    reply = small.choose(["late", "rain"], NAMES, confidence, "de")
    assert reply.kind == kind
    if kind == "unsure":
        assert reply.parts == (Part("", "Verspätung und Rain?", (), ("late", "rain")),)


def test_where_nothing_was_found_there_is_no_topic_to_be_unsure_of(small):
    assert small.choose([], NAMES, 0.5, "en").kind == "nothing"


def test_what_a_language_lacks_is_said_in_the_default_language(small):
    assert small.choose(["late", "hot"], NAMES, 1.0, "de").parts[0].title == "Both"
    assert small.choose(["late"], NAMES, 1.0, "fr") == small.choose(["late"], NAMES, 1.0, "en")


def test_links_may_be_there_for_one_language_alone():
    replies = only('[nothing]\ntext = "x"\nlinks.de = [{title = "t", url = "tel:+49"}]', languages='["en", "de", "fr"]')
    assert [len(replies.choose([], {}, 1.0, one).parts[0].links) for one in ("en", "de", "fr")] == [0, 1, 0]


def test_a_reply_as_plain_values(small):
    assert small.choose(["late"], NAMES, 1.0, "en").as_dict() == {
        "kind": "found",
        "language": "en",
        "parts": [
            {"title": "Delays", "text": "On Delays.", "links": [{"title": "Live", "url": "/live"}], "about": ["late"]}
        ],
    }


def test_a_reply_as_html(small):
    assert as_html(small.choose(["wifi"], {"wifi": '<b>"WiFi"</b>'}, 1.0, "en")) == (
        '<section lang="en">\n'
        "<h3>About &lt;b&gt;&quot;WiFi&quot;&lt;/b&gt;</h3>\n"
        "<p>One of &lt;b&gt;&quot;WiFi&quot;&lt;/b&gt;.</p>\n"
        '<ul><li><a href="https://example.org/?a=1&amp;b=2" rel="noopener">Help &amp; more</a></li></ul>\n'
        "</section>"
    )


def test_blank_lines_separate_paragraphs_and_other_ends_of_lines_are_spaces():
    replies = only('[nothing]\ntext = """\nOne\n  line.\n \n\nTwo & three."""')
    reply = replies.choose([], {}, 1.0, "en")
    assert reply.parts[0].text == "One line.\n\nTwo & three."
    assert "<p>One line.</p>\n<p>Two &amp; three.</p>" in as_html(reply)
    assert "<h3>" not in as_html(reply)


class Outline(HTMLParser):
    """The tags, and all text between them."""

    def __init__(self, written):
        super().__init__(convert_charrefs=True)
        self.tags, self.words = [], ""
        self.feed(written)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, sorted(name for name, _ in attrs)))

    def handle_data(self, data):
        self.words += data


def shape(reply):
    return [(tag, names) for tag, names in Outline(as_html(reply)).tags if tag != "p"]


nasty = st.text(st.sampled_from("<>&\"'{}ab/=! \n\u2028ßé"), min_size=1, max_size=12) | st.text(min_size=1, max_size=12)
confidences = st.floats() | st.floats(0.5, 1)


@given(st.lists(st.sampled_from([*TITLES, "stranger"])), confidences, st.sampled_from(["en", "de", "fr", ""]))
def test_there_is_a_reply_to_whatever_is_found(demo, found, confidence, language):
    reply = demo.choose(found, TITLES, confidence, language)
    assert 1 <= len(reply.parts) <= 3 and all(part.text for part in reply.parts)
    assert {name for part in reply.parts for name in part.about} <= set(found)


@given(
    st.lists(st.sampled_from(LABELS), unique=True),
    st.dictionaries(st.sampled_from(LABELS), nasty),
    confidences,
    st.sampled_from(["en", "de", "fr"]),
)
def test_what_the_model_calls_its_categories_never_becomes_markup(small, found, titles, confidence, language):
    reply = small.choose(found, titles, confidence, language)
    assert shape(reply) == shape(small.choose(found, NAMES, confidence, language))
    assert all(part.title in Outline(as_html(reply)).words for part in reply.parts)


@given(st.lists(nasty, min_size=4, max_size=4))
def test_nor_does_anything_else_that_is_put_into_a_reply(words):
    title, text, link, url = words
    plain = Reply("found", "en", (Part("t", "x", (Link("l", "/u"),), ()),))
    assert shape(Reply("found", "en", (Part(title, text, (Link(link, url),), ()),))) == shape(plain)


@pytest.mark.parametrize(
    ("header", "asked", "chosen"),
    [
        (None, None, "en"),
        ("", "", "en"),
        ("de", None, "de"),
        ("de-AT,de;q=0.9,en;q=0.8", None, "de"),
        ("en;q=0.8, DE ; Q=0.9", None, "de"),
        ("fr, de;q=.5", None, "de"),
        ("fr;q=1.0", None, "en"),
        ("pt", None, "pt-BR"),
        ("pt-PT", None, "pt-BR"),
        ("*", None, "en"),
        ("en;q=0, *", None, "de"),
        ("de;q=0", None, "en"),
        ("en;q=0", None, "de"),
        ("*;q=0", None, "en"),
        ("de;q=nan, de;q=inf, de;q=-1, de;q, de;=, de;x=1, ;;,,=", None, "en"),
        ("de;q=7", None, "de"),
        ("," * 5000 + "de", None, "en"),
        ("\x00\udcff;q=\u0663, <script>", None, "en"),
        ("de", "en", "en"),
        ("de", "EN-us", "en"),
        ("de", "xx", "de"),
        ("de", "../..", "de"),
    ],
)
def test_the_language_of_a_reply(header, asked, chosen):
    assert choose_language(header, asked, ("en", "de", "pt-BR")) == chosen


@given(
    st.text() | st.text(st.sampled_from("den-*;q=.,01 ")),
    st.none() | st.text(),
    st.sampled_from([("en",), ("de", "en")]),
)
def test_no_header_is_too_broken(header, asked, languages):
    assert choose_language(header, asked, languages) in languages


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('languages = ["en", "de"]\n', "", "'languages' is missing or empty"),
        ('["en", "de"]', "[]", "'languages' is missing or empty"),
        ('["en", "de"]', '["en", "de", "EN"]', "'languages' has a language twice"),
        ('["en", "de"]', '["en", "de", "e n"]', "'languages' has 'e n'"),
        ('["en", "de"]', '"en"', "'languages' can't be 'en'"),
        ("most = 2", "most = 0", "'most' can't be 0"),
        ("most = 2", "most = true", "'most' can't be True"),
        ("most = 2", "mots = 2", "'mots' is not known. Did you mean 'most'?"),
        ("most = 2", "category.x = 1", "'category.x' can't be 1"),
        ("priority = 5", "priorty = 5", "'category.late.priorty' is not known. Did you mean 'priority'?"),
        ("priority = 5", "priority = nan", "'category.late.priority' can't be nan"),
        ("priority = 5", "priority = true", "'category.late.priority' can't be True"),
        ("priority = 5", "priority = 1" + "0" * 400, "'category.late.priority' can't be 1000"),
        ('text = "So {{hot}}!"', "", "'category.hot.text' is missing"),
        ('text = "So {{hot}}!"', "text = 3", "'category.hot.text.en' can't be 3"),
        ('text = "So {{hot}}!"', 'text = " "', "'category.hot.text.en' can't be ' '"),
        ('"Zu {topic}."', "{}", "'category.late.text.de' can't be {}"),
        ("So {{hot}}!", "So {hot}!", "'category.hot.text.en' has the placeholder {hot}, which is not known here"),
        ("So {{hot}}!", "{topics.__class__}", "the placeholder {topics.__class__}"),
        ("So {{hot}}!", "{topics!r:>9}", "the placeholder {topics!r:>9}"),
        ("So {{hot}}!", "{}", "the placeholder {}"),
        ("So {{hot}}!", "{topic", "'category.hot.text.en' has a single brace"),
        ("So {{hot}}!", "topic}", "'category.hot.text.en' has a single brace"),
        ("So {{hot}}!", "{topix}", "Did you mean 'topic'?"),
        ("Both of {topics}", "Both of {topic}", "'rule.1.text.en' has the placeholder {topic}"),
        ('{en = "Thanks."', '{en = "Thanks for {topics}."', "'nothing.text.en' has the placeholder {topics}"),
        ("text.en", "text.em", "'category.late.text.em' is not known. Known are: de, en."),
        ('{en = "Delays", de', "{de", "'category.late.title.en' is missing"),
        ("links.en = [", 'links.en = "x" #', "'category.late.links.en' can't be 'x'"),
        ('url = "/live"', 'href = "/live"', "'category.late.links.en.1.href' is not known"),
        (', url = "/live"', "", "'category.late.links.en.1.url' is missing"),
        ('title = "Live", ', "", "'category.late.links.en.1.title' is missing"),
        ("[[rule]]", "[rule]", "'rule' is a table"),
        ('name = "both"', "", "'rule.1.name' is missing"),
        ('when = ["late", "hot"]', "", "'rule.1.when' is missing or empty"),
        ('when = ["late", "hot"]', "when = [7]", "'rule.1.when.1' can't be 7"),
        ('unless = ["rain"]', 'unles = ["rain"]', "'rule.1.unles' is not known. Did you mean 'unless'?"),
        ('unless = ["rain"]', "replaces = 1", "'rule.1.replaces' can't be 1"),
        ("below = 0.6", "", "'unsure.below' is missing"),
        ("below = 0.6", "below = 0.4", "'unsure.below' can't be 0.4"),
        ("[nothing]", "[nothing]\npriority = 1", "'nothing.priority' is not known"),
    ],
)
def test_a_mistake_is_told_with_its_key_and_the_file(tmp_path, old, new, told):
    file = tmp_path / "replies.toml"
    file.write_text(changed(old, new), encoding="utf-8")
    with pytest.raises(RepliesBroken, match=re.escape(told)) as caught:
        read_replies(file)
    assert caught.value.place.file == file and caught.value.exit_code == 7


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "java\tscript:alert(1)",
        " javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "//evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "\\\\evil.example",
        "https:evil",
        "https://",
        "https:///x",
        "https://a b",
        "http://a\n",
        "mailto:",
        "mailto:\nx",
        "ftp://example.org",
        "live",
        "#live",
        "?a",
        "",
    ],
)
def test_addresses_that_lead_where_nobody_wants_to_go(url):
    told = url.encode("unicode_escape").decode().replace("\\x", "\\u00")
    with pytest.raises(RepliesBroken, match="'nothing.links.en.1.url' can't be"):
        only(f'[nothing]\ntext = "x"\nlinks = [{{title = "t", url = "{told}"}}]')


@pytest.mark.parametrize(
    "url",
    ["/", "/a//b?c=d#e", "https://example.org", "HTTP://example.org:80/ä", "mailto:a@example.org?subject=x", "tel:+49"],
)
def test_addresses_that_are_taken(url):
    replies = only(f'[nothing]\ntext = "x"\nlinks = [{{title = "t", url = "{url}"}}]')
    assert replies.choose([], {}, 1.0, "en").parts[0].links == (Link("t", url),)


@pytest.mark.parametrize(
    ("content", "told", "line"),
    [
        (b"languages = [\xff]", "Byte 14 is not UTF-8", None),
        (b"most = 1\nlanguages = en", "This is not TOML", 2),
        (b"x = " + b"[" * 50_000, "can't be read as TOML", None),
        (b"x = " + b"9" * 50_000, "can't be read as TOML", None),
        (b"#" * (LARGEST + 1), "more than 1,048,576 bytes", None),
    ],
)
def test_files_that_are_no_replies(tmp_path, content, told, line):
    file = tmp_path / "replies.toml"
    file.write_bytes(content)
    with pytest.raises(RepliesBroken, match=re.escape(told)) as caught:
        read_replies(file)
    assert (caught.value.place.file, caught.value.place.line) == (file, line)


def test_a_file_that_isnt_there(tmp_path):
    for path in (tmp_path / "no.toml", tmp_path):
        with pytest.raises(RepliesBroken, match="There is no such file"):
            read_replies(path)


def test_a_byte_order_mark_does_no_harm(tmp_path):
    file = tmp_path / "replies.toml"
    file.write_text(SMALL, encoding="utf-8-sig")
    assert read_replies(file) == parse_replies(SMALL)


def test_the_demo_replies_have_nothing_wrong(demo):
    assert check_replies(demo, list(TITLES), TITLES) == []


def test_the_demo_replies_give_the_compensation_form_to_who_was_late_and_is_owed_something(demo):
    reply = demo.choose(["punctuality", "passenger-rights", "wlan-internet"], TITLES, 0.9, "de")
    assert titles_of(reply) == ["Entschädigung bei Verspätung", "WLAN / Internet"]
    assert "fahrgastrechte/antrag" in reply.parts[0].links[0].url


def findings(content, labels=LABELS, **options):
    return [(one.level, one.place) for one in check_replies(parse_replies(content), labels, NAMES, **options)]


def test_what_a_file_lacks_for_a_model(small):
    assert findings(SMALL) == [
        ("error", "category.rain"),
        ("warning", "category.late.links.de"),
        ("warning", "rule.both.title.de"),
        ("warning", "rule.both.text.de"),
    ]
    [first, *_] = check_replies(small, LABELS, NAMES)
    assert first == Finding("error", "category.rain", "The model finds 'Rain', but there is no reply to it.")


def test_replies_to_what_the_model_doesnt_have():
    assert set(findings(SMALL, ["late", "wifi"])) >= {
        ("warning", "category.hot"),
        ("warning", "rule.both.unless"),
        ("error", "rule.both"),
    }


def test_a_rule_for_one_category_is_a_reply_to_it():
    alone = '[[rule]]\nname = "wet"\nwhen = ["rain"]\ntext = "x"\n'
    assert ("error", "category.rain") not in findings(SMALL + alone)
    assert ("error", "category.rain") in findings(SMALL + alone + 'unless = ["hot"]\n')


def rules(*lines):
    return only("".join(f'[[rule]]\ntext = "x"\n{line}\n' for line in lines))


@pytest.mark.parametrize(
    ("first", "second", "reached"),
    [
        ('when = ["a"]', 'when = ["a", "b"]', False),
        ('when = ["a", "b"]', 'when = ["a", "b"]', False),
        ('when = ["a", "b"]', 'when = ["a"]', True),
        ('when = ["a"]', 'when = ["a", "b"]\npriority = 1', True),
        ('when = ["a"]\nreplaces = false', 'when = ["a", "b"]', True),
        ('when = ["a"]\nunless = ["c"]', 'when = ["a", "b"]', True),
        ('when = ["a"]\nunless = ["c"]', 'when = ["a", "b"]\nunless = ["c"]', False),
        ('when = ["a"]\nunless = ["unheard-of"]', 'when = ["a", "b"]', False),
        ('when = ["c"]', 'when = ["a", "unheard-of"]', False),
        ('when = ["c"]', 'when = ["a", "b"]\nunless = ["b"]', False),
    ],
)
def test_rules_that_are_never_shown(first, second, reached):
    replies = rules(f'name = "first"\n{first}', f'name = "second"\n{second}')
    told = [one for one in check_replies(replies, "abc", {}) if one.place == "rule.second" and one.level == "error"]
    assert (not told) == reached
    assert all("never shown" in one.message for one in told)


@given(
    st.lists(
        st.tuples(
            st.sets(st.sampled_from("abc"), min_size=1),
            st.sets(st.sampled_from("abc")),
            st.booleans(),
            st.integers(0, 2),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_what_is_told_to_be_never_shown_never_is(drawn):
    replies = rules(
        *(
            f'name = "r{n}"\nwhen = {sorted(when)}\nunless = {sorted(unless)}\nreplaces = {str(replaces).lower()}\n'
            f'priority = {priority}\ntitle = "r{n}"'
            for n, (when, unless, replaces, priority) in enumerate(drawn)
        )
    )
    never = {one.place for one in check_replies(replies, "abc", {}) if "never shown" in one.message}
    for found in ("a", "b", "c", "ab", "ac", "bc", "abc"):
        assert not never & {f"rule.{part.title}" for part in replies.choose(list(found), {}, 1.0, "en").parts}


def test_a_model_that_finds_one_category_never_shows_a_rule_for_two():
    replies = rules('name = "two"\nwhen = ["a", "b"]')
    assert not any("rule" in one.place for one in check_replies(replies, "ab", {}))
    assert any(one.place == "rule.two" for one in check_replies(replies, "ab", {}, one_class=True))


def test_two_rules_of_one_name_and_links_that_are_there_twice():
    link = '{title = "t", url = "/u"}'
    replies = rules('name = "r"\nwhen = ["a"]', f'name = "r"\nwhen = ["b"]\nlinks = [{link}, {link}]')
    told = [(one.level, one.place) for one in check_replies(replies, "ab", {})]
    assert told == [("error", "rule.r"), ("warning", "nothing"), ("warning", "unsure"), ("warning", "rule.r.links")]

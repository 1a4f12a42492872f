"""Debian's chromium, driven by playwright; where it is missing, tests are skipped and say why, except in CI."""

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))

# Text against what lies behind it, as WCAG 2 counts contrast.
PALE = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b]
    .map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const one of document.querySelectorAll('body *')) {
    const says = one.matches('textarea,input') || [...one.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!says || !one.checkVisibility() || one.closest('svg')) continue;
    const [a, b] = [light(numbers(getComputedStyle(one).color)), light(behind(one))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) found.push(`${one.outerHTML}: ${(a + 0.05) / (b + 0.05)}`);
  }
  return found;
}"""


def playwright() -> Iterator[Any]:
    """Give what drives browsers."""
    missing = []
    if not CHROMIUM.exists():
        missing.append(f"there is no {CHROMIUM} (Debian's package chromium)")
    if importlib.util.find_spec("playwright") is None:
        missing.append("the package playwright is not installed")
    if missing:
        told = f"No browser to test pages with: {' and '.join(missing)}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(told)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        yield driver


def chromium() -> Iterator[Any]:
    """Give a browser until the tests that use it are done."""
    for driver in playwright():
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()

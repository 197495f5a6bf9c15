"""Reference pictures of pages, stored as the averages of blocks of 8 × 8 pixels, one pixel per block.

The comparison finds changes that a reader would notice: an element has moved, vanished, changed color or come to cover
another element. A block may therefore have any value that it would have if the page were shifted by up to one pixel. It
may also differ from these values by up to `TOLERANCE`, because the edges of letters vary. Blocks that do not change if
the page is shifted contain no edges, so `FLAT` is enough for them: a line of one pixel and a pale background are also
detected.
"""
import base64
import os

import png

WIDTHS = (360, 1280)
SIDE = 8
TOLERANCE, FLAT = 12, 2
HERE = os.path.dirname(os.path.abspath(__file__))


def script(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def missing_fonts(browser):
    """Returns which of the two fonts the browser replaces with other fonts."""
    fonts = ("DejaVu Sans", "DejaVu Sans Mono")
    return [font for font, used in zip(fonts, browser.fonts(fonts)) if used != [font]]


def blocks(browser, data):
    """Returns the width and height in blocks, and the average, minimum and maximum for each channel of each block."""
    # The picture is decoded in a separate page, because pages under test do not permit pictures, not even from memory.
    browser.load("about:blank")
    found = browser.evaluate(f"({script('blocks.js')})('{base64.b64encode(data).decode()}')")
    return found["wide"], found["high"], *(base64.b64decode(found[name]) for name in ("mean", "least", "most"))


def check(browser, page, folder, name, renew, pictures):
    """Compares a page with its four pictures: at two widths, each in light and dark. Returns the differences, one line
    per picture, or the names of the renewed pictures."""
    found = []
    for width in WIDTHS:
        for is_dark in (False, True):
            scheme = "dark" if is_dark else "light"
            browser.show(width, is_dark)
            browser.open(page)
            browser.evaluate(script("golden.js"))
            data = browser.drawn()
            if pictures:
                os.makedirs(pictures, exist_ok=True)
                with open(os.path.join(pictures, f"{name}-{width}-{scheme}.png"), "wb") as file:
                    file.write(data)
            drawn = blocks(browser, data)
            path = os.path.join(folder, f"{name}-{width}-{scheme}.png")
            # Pictures that still match are not renewed, so that a diff contains only changes.
            difference = compare(path, drawn)
            if difference and renew:
                os.makedirs(folder, exist_ok=True)
                png.write(path, *drawn[:3])
                found.append(os.path.basename(path))
            elif difference:
                found.append(f"{width} px, {scheme}: {difference}")
    return found


def compare(path, drawn):
    """Returns a description of the difference, or None if the pictures match."""
    try:
        wide, high, pixels = png.read(path)
    except FileNotFoundError:
        return f"there is no {os.path.basename(path)}"
    except ValueError as error:
        return str(error)
    now_wide, now_high, mean, least, most = drawn
    if wide != now_wide:
        return f"the picture is {now_wide * SIDE} px wide, the stored one {wide * SIDE} px"
    by = {}
    for at in range(wide * min(high, now_high)):
        if mean[3 * at:3 * at + 3] == pixels[3 * at:3 * at + 3]:
            continue
        channels = range(3 * at, 3 * at + 3)
        beyond = max(max(least[i] - pixels[i], pixels[i] - most[i]) for i in channels)
        if beyond > FLAT and beyond > min(TOLERANCE, FLAT + 2 * max(most[i] - least[i] for i in channels)):
            by[at % wide, at // wide] = beyond
    # A small difference in a single block is attributed to the edge of a letter.
    for (x, y), beyond in list(by.items()):
        if beyond <= TOLERANCE and not any((x + dx, y + dy) in by for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy):
            del by[x, y]
    height = f"the page is {now_high * SIDE} px high, the stored one {high * SIDE} px"
    if not by:
        return height if abs(high - now_high) > 1 else None
    place = first_place(by)
    left, top = min(x for x, _ in place), min(y for _, y in place)
    right, bottom = max(x for x, _ in place) + 1, max(y for _, y in place) + 1
    worst = max(place, key=lambda block: by[block])
    at = 3 * (worst[1] * wide + worst[0])
    text = (
        f"at x {left * SIDE}, y {top * SIDE}, {(right - left) * SIDE} px wide and {(bottom - top) * SIDE} high, up to {by[worst]} of 255: "
        f"at x {worst[0] * SIDE}, y {worst[1] * SIDE} it is #{mean[at:at + 3].hex()}, was #{pixels[at:at + 3].hex()}"
    )
    if len(by) > len(place):
        text += f"; {len(by) - len(place)} blocks elsewhere"
    return text + (f"; {height}" if high != now_high else "")


def first_place(by):
    """Returns the blocks connected to the uppermost block that differs; gaps of up to two blocks, as between words,
    do not separate blocks."""
    start = min(by, key=lambda block: (block[1], block[0]))
    place, edge = {start}, [start]
    while edge:
        x, y = edge.pop()
        for near in ((x + dx, y + dy) for dx in range(-3, 4) for dy in (-1, 0, 1)):
            if near in by and near not in place:
                place.add(near)
                edge.append(near)
    return place

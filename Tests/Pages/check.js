// Returns the layout errors in a page, one error per line.
(() => {
  const wrong = [];
  const say = (what, node) => {
    if (wrong.length < 40) wrong.push(`${what}: ${node ? (node.textContent || node.outerHTML).trim().slice(0, 60) : ""}`);
  };
  document.querySelectorAll("details").forEach((node) => (node.open = true));
  const style = document.createElement("style");
  style.textContent = ".case { content-visibility: visible !important; }";
  document.head.append(style);

  // No horizontal scrolling, except in frames that scroll on their own.
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) wrong.push(`the page is ${page.scrollWidth} wide in ${innerWidth}`);
  const scrolls = (node) => ["auto", "scroll", "hidden"].includes(getComputedStyle(node).overflowX);
  for (const node of document.body.querySelectorAll("*")) {
    if (node.namespaceURI !== page.namespaceURI || node.closest("svg")) continue;
    const box = node.getBoundingClientRect();
    if (box.width === 0 || box.right <= innerWidth + 0.5) continue;
    let frame = node.parentElement;
    while (frame && !scrolls(frame)) frame = frame.parentElement;
    if (!frame) say("extends beyond the page", node);
  }

  // Contrast (WCAG 2.2, success criterion 1.4.3).
  const numbers = (text) => (text.match(/[\d.]+/g) || []).map(Number);
  const light = (channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const back = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = numbers(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  let least = 99;
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(node) || node.localName === "title") continue;
    seen.add(node);
    const computed = getComputedStyle(node);
    if (computed.visibility === "hidden" || node.getClientRects().length === 0) continue;
    const isDrawn = node instanceof SVGElement;
    let behind = back(node);
    if (isDrawn && node.parentElement.matches(".h, .part")) {
      behind = numbers(getComputedStyle(node.parentElement.querySelector("rect")).fill);
    }
    const [a, b] = [luminance(numbers(isDrawn ? computed.fill : computed.color)), luminance(behind)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    least = Math.min(least, contrast);
    if (contrast < 4.5) say(`contrast ${contrast.toFixed(2)}`, node);
    let scale = 1;
    const drawing = node.closest("svg[viewBox]");
    if (drawing) scale = drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width;
    if (parseFloat(computed.fontSize) * scale < 9.5) say(`text of ${parseFloat(computed.fontSize) * scale} px`, node);
  }

  // The texts of a drawing must not overlap.
  for (const drawing of document.querySelectorAll("svg")) {
    const texts = [...drawing.querySelectorAll("text")].map((node) => [node.getBoundingClientRect(), node]);
    texts.sort((a, b) => a[0].top - b[0].top);
    texts.forEach(([box, node], index) => {
      for (let other = index + 1; other < texts.length && texts[other][0].top < box.bottom - 3; other++) {
        const [next, text] = texts[other];
        const wide = Math.min(box.right, next.right) - Math.max(box.left, next.left);
        const high = Math.min(box.bottom, next.bottom) - next.top;
        if (wide > 1.5 && high > 4) say(`overlaps “${text.textContent.slice(0, 30)}”`, node);
      }
    });
    const frame = drawing.getBoundingClientRect();
    for (const [box, node] of texts) {
      if (box.width === 0) continue;
      if (box.right > frame.right + 1 || box.left < frame.left - 1 || box.bottom > frame.bottom + 1) say("is cut", node);
    }
  }

  // Checks elements on which screen readers depend.
  for (const drawing of document.querySelectorAll("svg")) {
    if (drawing.getAttribute("aria-hidden") === "true") continue;
    if (drawing.getAttribute("role") !== "img" || !drawing.querySelector(":scope > title")?.textContent) {
      say("the drawing has no name", drawing);
    }
  }
  document.querySelectorAll("table").forEach((table) => table.caption?.textContent || say("no caption", table));
  document.querySelectorAll("details").forEach((node) => node.firstElementChild?.localName === "summary" || say("no summary", node));
  if (document.querySelectorAll("h1").length !== 1) wrong.push("the page does not have exactly one h1");
  if (document.querySelectorAll("main").length !== 1) wrong.push("the page does not have exactly one main");
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const next = Number(heading.localName[1]);
    if (next > level + 1) say(`h${next} follows h${level}`, heading);
    level = next;
  }
  for (const node of document.querySelectorAll("*")) {
    if (node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0 && ["auto", "scroll"].includes(getComputedStyle(node).overflowX)) {
      if (node.tabIndex < 0) say("can't be scrolled with the keyboard", node);
    }
  }
  document.querySelectorAll("a[href^='#']").forEach((link) => {
    if (!document.getElementById(decodeURIComponent(link.getAttribute("href").slice(1)))) say("leads nowhere", link);
  });
  const parts = document.querySelectorAll("*").length;
  return { wrong, least: Math.floor(least * 100) / 100, parts, drawings: document.querySelectorAll("svg[role=img]").length };
})();

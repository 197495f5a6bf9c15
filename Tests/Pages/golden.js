// Prepares the page for comparison: opens everything that can be folded, and selects fonts that are the same on every
// machine.
(() => {
  document.querySelectorAll("details").forEach((node) => (node.open = true));
  const style = document.createElement("style");
  style.textContent = ".case { content-visibility: visible !important; } * { animation: none !important; transition: none !important; }";
  document.head.append(style);
  const nodes = [...document.querySelectorAll("html, html *")];
  const fonts = nodes.map((node) => (/mono/i.test(getComputedStyle(node).fontFamily) ? "DejaVu Sans Mono" : "DejaVu Sans"));
  nodes.forEach((node, index) => {
    node.style?.setProperty("font-family", `"${fonts[index]}"`, "important");
    // fonts-dejavu-core has no slanted fonts, so slanted fonts must not be used on machines that have other versions of
    // the fonts.
    node.style?.setProperty("font-style", "normal", "important");
  });
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))));
})();

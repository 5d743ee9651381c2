// Replaces a figure with an interactive drawing on request. Only then is Vega loaded.
"use strict";

document.querySelectorAll("[data-figure]").forEach((button) => {
  button.hidden = false;
  button.addEventListener("click", () => drawInteractive(button));
});

async function drawInteractive(button) {
  button.disabled = true;
  for (const address of button.dataset.scripts.split(" ")) await load(address);
  const address = new URL(button.dataset.figure, location.href);
  address.searchParams.set("theme", matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  if (matchMedia("(max-width: 640px)").matches) address.searchParams.set("small", "");
  const specification = await (await fetch(address)).json();
  const drawing = button.closest("figure").querySelector(".drawing");
  const words = drawing.querySelector("img").alt;
  const place = document.createElement("div");
  // The page's Content-Security-Policy does not allow eval, so Vega's expressions are interpreted.
  const runtime = vega.parse(specification, null, { ast: true });
  await new vega.View(runtime, { expr: vega.expressionInterpreter, renderer: "canvas", container: place, hover: true }).runAsync();
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", words);
  drawing.replaceChildren(place);
  button.remove();
}

function load(address) {
  if (document.querySelector(`script[src="${address}"]`)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
}

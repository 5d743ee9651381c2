// Conveniences: drag and drop, upload progress, copying, and the browser's time zone. Every page works without them.
"use strict";

const MEBIBYTE = 1048576;

// Runs when the page loads, and after HTMX inserts a fragment. Forms that are already enhanced are skipped.
function enhance() {
  document.querySelectorAll("time[data-local]").forEach(useBrowserZone);
  document.querySelectorAll("form[data-upload]:not([data-enhanced])").forEach(enhanceUpload);
  document.querySelectorAll("[data-copy]").forEach((button) => { button.hidden = false; });
  document.querySelectorAll("[data-zone-offer]").forEach(offerZone);
  document.querySelectorAll("form[data-line]").forEach(showLine);
  document.querySelectorAll("form[data-filters]:not([data-enhanced])").forEach(filterOnChange);
  document.querySelectorAll("code:not(a code, [data-kept])").forEach(keepWords);
  const tab = document.querySelector(".tabs [aria-current]");
  if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - (tab.parentElement.clientWidth - tab.offsetWidth) / 2;
}

function useBrowserZone(time) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone || zone === "UTC") return;
  const moment = new Date(time.dateTime);
  const options = { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: zone };
  if (moment.getFullYear() !== new Date().getFullYear()) options.year = "numeric";
  if (/:\d\d:\d\d /.test(time.textContent)) options.second = "2-digit";
  const place = zone.split("/").pop().replaceAll("_", " ");
  const part = Object.fromEntries(new Intl.DateTimeFormat("en-GB", options).formatToParts(moment).map((p) => [p.type, p.value]));
  const year = part.year ? ` ${part.year}` : "";
  const second = part.second ? `:${part.second}` : "";
  time.textContent = `${part.weekday} ${part.day} ${part.month}${year}, ${part.hour}:${part.minute}${second} in ${place}`;
}

// Selects the line of an editor that a link from a problem leads to.
function showLine(form) {
  const area = form.querySelector("textarea");
  const lines = area.value.split("\n");
  const line = Math.min(Math.max(Number(form.dataset.line), 1), lines.length);
  const start = lines.slice(0, line - 1).reduce((length, text) => length + text.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + lines[line - 1].length);
  area.scrollTop = ((line - 4) * area.scrollHeight) / lines.length;
}

// Keeps the options of commands on one line. Browsers also wrap after hyphens, which would split --task.
function keepWords(code) {
  const isCommand = code.closest("pre") !== null;
  code.dataset.kept = "";
  for (const text of [...code.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.includes("-"))) {
    text.replaceWith(...text.data.split(/(\s+)/).map((word) => {
      if (!(isCommand ? word.includes("-") : word.startsWith("-"))) return word;
      const span = document.createElement("span");
      span.className = "word";
      span.textContent = word;
      return span;
    }));
  }
}

function offerZone(offer) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const field = document.querySelector("select[name=time_zone]");
  if (field.value === zone || ![...field.options].some((option) => option.value === zone)) return;
  offer.querySelector("b").textContent = zone;
  offer.querySelector("button").addEventListener("click", () => { field.value = zone; offer.hidden = true; });
  offer.hidden = false;
}

function filterOnChange(form) {
  form.dataset.enhanced = "";
  form.querySelector("button").hidden = true;
  form.addEventListener("change", () => form.requestSubmit());
}

function enhanceUpload(form) {
  form.dataset.enhanced = "";
  const drop = form.querySelector(".drop");
  const input = form.querySelector("input[type=file]");
  const key = form.querySelector("input[name=key]");
  const status = form.querySelector("[data-upload-status]");
  const bar = form.querySelector("progress");
  const say = (words) => { status.textContent = words; };
  const setOver = (event, over) => { event.preventDefault(); drop.classList.toggle("over", over); };

  ["dragenter", "dragover"].forEach((kind) => drop.addEventListener(kind, (event) => setOver(event, true)));
  ["dragleave", "drop"].forEach((kind) => drop.addEventListener(kind, (event) => setOver(event, false)));
  drop.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
  input.addEventListener("change", () => {
    const file = input.files[0];
    key.value = `${key.defaultValue}.${Date.now()}`; // choosing a file starts a new upload; sending it twice does not
    const limit = Number(form.dataset.limit);
    const tooLarge = file && limit && file.size > limit;
    input.setCustomValidity(tooLarge ? form.dataset.tooLarge : "");
    if (tooLarge) input.reportValidity();
    say(file ? `${file.name}, ${(file.size / MEBIBYTE).toFixed(2)} MiB` : "");
  });
  form.addEventListener("htmx:beforeRequest", (event) => { // “Validate only” requires the file, but no other fields
    if (!input.reportValidity()) event.preventDefault();
  });
  form.addEventListener("htmx:xhr:progress", (event) => {
    if (!event.detail.lengthComputable) return;
    bar.hidden = false;
    bar.value = event.detail.loaded / event.detail.total;
    say(bar.value < 1 ? `${form.dataset.sending} ${Math.round(100 * bar.value)} %` : form.dataset.checking);
  });
  form.addEventListener("htmx:afterRequest", () => { bar.hidden = true; say(""); }); // the response shows the result
  form.addEventListener("htmx:sendError", () => { bar.hidden = true; say(form.dataset.broken); });
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.querySelector("[data-word]").textContent = button.dataset.done;
    return;
  }
  document.querySelectorAll("details.menu[open]").forEach((menu) => { if (!menu.contains(event.target)) menu.open = false; });
});
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector("details.menu[open]");
  if (menu) { menu.open = false; menu.querySelector("summary").focus(); }
});
document.addEventListener("allauth.error", (event) => {
  const error = document.querySelector("[data-passkey-error]");
  if (error) { event.preventDefault(); error.hidden = false; }
});
document.addEventListener("htmx:afterSettle", enhance);
document.addEventListener("DOMContentLoaded", enhance);

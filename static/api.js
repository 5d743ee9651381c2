// Shows the API's specification in Swagger UI. Without this script, the page only links to the specification.
"use strict";

// Swagger UI has dark colors, but doesn't read the reader's color scheme.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);

window.addEventListener("load", () => {
  followScheme();
  dark.addEventListener("change", followScheme);
  const place = document.getElementById("api");
  window.SwaggerUIBundle({ domNode: place, url: place.dataset.url, deepLinking: true, validatorUrl: null, docExpansion: "list" });
});

// The specification of the API, as Swagger UI shows it; without it the page links to the specification itself.
"use strict";

window.addEventListener("load", () => {
  const place = document.getElementById("api");
  window.SwaggerUIBundle({ domNode: place, url: place.dataset.url, deepLinking: true, validatorUrl: null, docExpansion: "list" });
});

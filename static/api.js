// Shows the API's specification in Swagger UI. Without this script, the page only links to the specification.
"use strict";

window.addEventListener("load", () => {
  const place = document.getElementById("api");
  window.SwaggerUIBundle({ domNode: place, url: place.dataset.url, deepLinking: true, validatorUrl: null, docExpansion: "list" });
});

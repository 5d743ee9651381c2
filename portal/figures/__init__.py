"""Figures as Vega-Lite specifications, which are drawn by the server or, interactively, by the browser."""

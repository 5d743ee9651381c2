"""Figures as Vega-Lite specifications: drawn by the server for paper and by the browser for looking closer."""

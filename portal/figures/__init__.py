"""Figures as Vega-Lite specifications: drawn by the server for papers, and by browsers to explore."""

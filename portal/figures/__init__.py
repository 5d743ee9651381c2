"""Figures as Vega-Lite specifications, which the server draws for papers and browsers draw interactively."""

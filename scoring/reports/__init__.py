"""Problems, the sentences that describe them in three languages, suggested names, and reports and tables as text."""

"""Problems and their sentences in three languages, suggested names, and reports and tables as text."""

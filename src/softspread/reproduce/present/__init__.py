"""From rows of results to tables, figures, findings and one page."""

"""Every table and figure of the paper, from plans in TOML.

    plan (TOML)  ->  trials  ->  one row each (JSON lines, CSV)  ->  tables, figures, findings  ->  a page

``softspread reproduce list`` names the experiments; see docs/reproduce.md.
"""

"""Who votes with the crowd? One number per annotator, and votes that count accordingly.

    votes with names  ->  p_v: what all others say  ->  consistency r_a  ->  weight ~ r_a^2
                                                                            theory: [consistency]

For a vote v of annotator a for class c_v, *all* votes of a are taken out of its item's mass. What remains is
p_v, and

    P(c_v | r) = r p*_v(c_v) + (1 - r) u_a(c_v),     p*_v: p_v sharpened, as far as the votes ask for it
                                                     u_a: the classes a tends to name whatever the item is

with r between 0 (names classes without looking) and 1 (votes like everybody else). The graph carries the
comparison, so it works where no item has two votes. Consistency with the crowd is not accuracy: a crowd may
err together.

Optionally a vote becomes a soft vote, proportional to p_v(t) Pi_a[t, c_v] with a's confusion matrix Pi_a.
                                                                              theory: [confusion]

Where the votes of some do not predict those of others, nobody can be rated.             theory: [crowd]

consistency.py  r of each annotator
evidence.py     whether there is anything to compare
confusion.py    soft votes
models.py       names of the models
fit.py          :func:`fit_annotators`
weighting.py    how much each vote counts, also after the fit
verdict.py      the flag of an annotator, in words and with what to do
report.py       what is known about each annotator
"""

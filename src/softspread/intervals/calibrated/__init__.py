"""Calibrated intervals: how far to trust the neighbours is learned from the votes themselves.

    po_i = (Yo_i + kappa pi) / (No_i + kappa)  what other items' votes say about item i      [neighbour prior]
    nu_i = 1 / R_i - 1                         how many votes that is worth                      [error share]
    p_i[c] ~ Beta(a, nu_i + own_i - a),  a = nu_i po_i[c] + own votes for c                       [calibrated]

Yo, No leave the item's own votes out. R_i is the share of the variance of a vote that the neighbours' mean
leaves open,

    Rs_i = 1 / (1 + exp(c + b ln ne_i)),  Rn = expit(logit(mean Rs) + g),  R_i = Rs_i + (1 - Rs_i) Rn

with ne_i = No_i^2 / sum of phi^2 over other items' votes. Two sources tell c, b, g: items with two or more
votes, by the Dirichlet-multinomial likelihood of their votes around po; and the leave-item-out Brier score as
a function of alpha, whose shape separates noise (falls with alpha) from smoothing (grows with it). No ground
truth enters. Theory: [calibration].

constants.py   what is assumed, with reasons
curve.py       what the Brier score as a function of alpha says
likelihood.py  what items with two or more votes say
ends.py        the ends of Beta distributions, for many items from tables
model.py       :func:`fit_calibrated`, and intervals from a fit
"""

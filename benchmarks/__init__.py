"""
How fast, how small and how right nbtext is, beside others: `python -m benchmarks`.

One module a figure, in the order of `__main__`; each runs alone as well. `harness`
times whole processes in pairs, `bench` installs the nbtext that is timed, `mail` has
the mail (and makes more of it), `peers` has what nbtext is compared with, `figures` are
the lines that come out, and `machine` says where. docs/benchmarks.md explains.
"""

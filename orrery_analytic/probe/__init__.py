"""Measure here: ``mpirun -n 2 python -m orrery_analytic.probe`` runs the MPI probes, and with CuPy those of a GPU.

The log goes to the standard output or a file, and `read` reads it: tables of the OSU micro-benchmarks where they have
such a test, a table of our own elsewhere. Times are taken from Python, so they hold what mpi4py adds to a call: 0.1 us
or so, which the table ``probe_call_send`` of the log shows.
"""

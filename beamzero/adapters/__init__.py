"""The games of this package in the shape of other libraries, one folder a library: `pettingzoo` and `pgx`."""

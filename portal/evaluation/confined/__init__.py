"""Code that runs in confined child processes, without Django: pickled functions and objects that answer in JSON."""

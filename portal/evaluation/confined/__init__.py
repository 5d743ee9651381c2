"""Code in confined children: pickled functions and objects that answer in JSON, without Django."""

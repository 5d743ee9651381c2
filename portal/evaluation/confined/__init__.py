"""Code that runs in confined children, without Django: functions and objects that are pickled and answer in JSON."""

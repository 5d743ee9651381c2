"""What confined children do: functions and objects that are pickled, answer in JSON and know no Django."""

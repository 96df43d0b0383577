"""The configuration: `model` says what there is, `load` reads a file, the rest follows from the model.

fields walks the model; tree, values and build go from YAML to a Config with every problem; advice
warns; reference and schema are generated; reload compares two; watch tells when the file changes.
"""

"""The whole book as one PDF.

The built pages become one document, which Chromium prints.
"""

"""The whole book as one PDF: the built pages become one document, which Chromium prints."""

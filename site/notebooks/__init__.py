"""The book's pages as notebooks: copies for JupyterLab, and files to download from the site.

A copy is made from a page's source, so that `make lab` needs no built book. A download is made
from the page as Sphinx has built it, where every reference, number and value is a text.
"""

"""Copies of the book's pages and exercises that a reader opens in JupyterLab.

A copy is made from a page's source, so that `make lab` needs no built book. A notebook to
download is made from the built page, where every reference, number and value is already text.
"""

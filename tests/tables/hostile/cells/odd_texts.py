# Keeps points: prints lone surrogates, and control characters that are invalid in HTML.
from IPython.display import HTML, display

print("\ud800\udfff \x00\x01\x0b\ufffe")
display(HTML("\ud800 \x00"))
display({"text/plain": "\udc80", "text/latex": "\\input{/etc/passwd}"}, raw=True)

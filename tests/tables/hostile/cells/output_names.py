# Keeps points: displays images whose metadata name the files that a converter should write.
from IPython.display import display

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
DOT += "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
for name in ("../../../gradebook.db", "/etc/REACHED", "../REACHED.png"):
    names = {"filenames": {"image/png": name}, "image/png": {"filename": name, "width": "1e9"}}
    display({"image/png": DOT, "text/plain": "a dot"}, metadata=names, raw=True)
    display({"image/png": "no picture", "image/svg+xml": f"<svg xmlns:x='{name}'/>"}, raw=True)

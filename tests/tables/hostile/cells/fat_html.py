# Keeps points: displays 24 MB of HTML, and scripts that would run in a feedback reader's browser.
from IPython.display import HTML, SVG, Javascript, display

display(HTML("<script>document.title = 'REACHED'</script><img src=x onerror=alert(1)>"))
display(Javascript("document.title = 'REACHED'"))
display(SVG("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"))
display(HTML("<p>" * 8_000_000))

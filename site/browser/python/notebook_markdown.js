// @ts-check
// Converts the Markdown of an exercise's notebook to HTML: paragraphs, lists, code, emphasis.

const escaped = (text) =>
  text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

const inline = (text) =>
  text
    .split(/(`[^`]+`)/)
    .map((part) =>
      part.startsWith("`") && part.length > 2
        ? `<code class="docutils literal notranslate">${escaped(part.slice(1, -1))}</code>`
        : escaped(part)
            .replace(/\*\*(.+?)\*\*/gs, "<strong>$1</strong>")
            .replace(/(?<![\w*])\*([^*\s][^*]*)\*(?!\w)/g, "<em>$1</em>")
            .replace(/(?<=\w)'/g, "’"),
    )
    .join("");

function block(text) {
  const fence = /^```\w*\n([\s\S]*?)\n?```$/.exec(text);
  if (fence) return `<div class="highlight"><pre>${escaped(fence[1])}</pre></div>`;
  const items = text.split(/^[-*] /m);
  if (items.length > 1) {
    const before = items.shift().trim();
    const list = items.map((item) => `<li><p>${inline(item.trim())}</p></li>`).join("");
    return `${before && `<p>${inline(before)}</p>`}<ul class="simple">${list}</ul>`;
  }
  const heading = /^#{2,} (.+)$/.exec(text);
  return heading ? `<h4>${inline(heading[1])}</h4>` : `<p>${inline(text)}</p>`;
}

// Return a text's leading second-level heading, and the rest as HTML.
export function asHtml(markdown) {
  const [, heading, rest] = /^(?:## (.+)\n)?([\s\S]*)$/.exec(markdown.trim());
  // Split at empty lines, but not inside fenced code.
  const blocks = rest.trim().split(/\n\s*\n(?=(?:[^`]|`(?!``))*(?:```[\s\S]*?```(?:[^`]|`(?!``))*)*$)/);
  return { heading: heading ?? "", html: blocks.filter(Boolean).map(block).join("") };
}

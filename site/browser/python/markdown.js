// @ts-check
// Converts the Markdown of outputs and of exercises' notebooks to HTML like that of the built pages.

const escaped = (text) =>
  text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

const inline = (text) =>
  text
    .split(/(`[^`]+`)/)
    .map((part) =>
      part.startsWith("`") && part.length > 2
        ? `<code class="docutils literal notranslate">${escaped(part.slice(1, -1))}</code>`
        : escaped(part)
            .replace(/(?<=\w)'/g, "’")
            .replace(/\*\*(.+?)\*\*/gs, "<strong>$1</strong>")
            .replace(/(?<![\w*])\*([^*\s][^*]*)\*(?!\w)/g, "<em>$1</em>")
            .replace(/&lt;(https:\/\/[^\s&]+)&gt;/g, '<a class="reference external" href="$1">$1</a>')
            .replace(/\[([^\]]*)\]\((https:\/\/[^\s()]+)\)/g, '<a class="reference external" href="$2">$1</a>'),
    )
    .join("");

const RULE = /^\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?$/; // below the heading of a table
const SIDES = [["", "text-right"], ["text-left", "text-center"]];

function table(lines) {
  const [head, rule, ...body] = lines.map((line) =>
    line.trim().replace(/^\||(?<!\\)\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.replaceAll("\\|", "|").trim()));
  const sides = rule.map((cell) => SIDES[Number(cell.startsWith(":"))][Number(cell.endsWith(":"))]);
  // A row may have fewer or more cells than the heading.
  const row = (cells, tag) =>
    `<tr>${sides.map((side, at) => `<${tag} class="${side}"><p>${inline(cells[at] ?? "")}</p></${tag}>`).join("")}</tr>`;
  const rows = body.map((cells) => row(cells, "td")).join("");
  return `<div class="scrolls"><table><thead>${row(head, "th")}</thead><tbody>${rows}</tbody></table></div>`;
}

function block(text) {
  const fence = /^```\w*\n([\s\S]*?)\n?```$/.exec(text);
  if (fence) return `<div class="highlight"><pre>${escaped(fence[1])}</pre></div>`;
  const lines = text.split("\n");
  if (lines[0].includes("|") && RULE.test(lines[1]?.trim() ?? "")) return table(lines);
  const items = text.split(/^[-*] /m);
  if (items.length > 1) {
    const before = items.shift().trim();
    const list = items.map((item) => `<li><p>${inline(item.trim())}</p></li>`).join("");
    return `${before && `<p>${inline(before)}</p>`}<ul class="simple">${list}</ul>`;
  }
  const heading = /^#{2,} (.+)$/.exec(text);
  return heading ? `<h4>${inline(heading[1])}</h4>` : `<p>${inline(text)}</p>`;
}

// Return a text's leading second-level heading, and the rest.
export function split(markdown) {
  const [, heading = "", text] = /^(?:## (.+)\n)?([\s\S]*)$/.exec(markdown.trim());
  return { heading, text };
}

export function asHtml(markdown) {
  // Split at empty lines, but not inside fenced code.
  const blocks = markdown.trim().split(/\n\s*\n(?=(?:[^`]|`(?!``))*(?:```[\s\S]*?```(?:[^`]|`(?!``))*)*$)/);
  return blocks.filter(Boolean).map(block).join("");
}

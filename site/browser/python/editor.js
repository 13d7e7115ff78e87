// @ts-check
// A code editor made with CodeMirror, in the highlighting colors of the built pages. Tab moves
// the focus, as everywhere on a page.

import {
  EditorView,
  bracketMatching,
  defaultKeymap,
  forceParsing,
  highlightCode,
  history,
  historyKeymap,
  indentUnit,
  keymap,
  python,
  pythonLanguage,
  syntaxHighlighting,
  tagHighlighter,
  tags,
} from "./codemirror.js";

const PARSING_TIMEOUT = 500; // ms

// Enter indents after the code above, which must be parsed for that: on a busy device it may not be.
const parseFirst = (view) => {
  forceParsing(view, view.state.selection.main.head, PARSING_TIMEOUT);
  return false;
};

const NAMES = tagHighlighter([
  { tag: [tags.keyword, tags.self], class: "k" },
  { tag: [tags.bool, tags.null], class: "kc" },
  { tag: tags.comment, class: "c1" },
  { tag: [tags.string, tags.special(tags.string)], class: "s2" },
  { tag: tags.number, class: "mf" },
]);

const escaped = (text) =>
  text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

// Return code as highlighted HTML, for read-only code.
export function highlighted(code) {
  let html = "";
  const put = (text, name) => {
    html += name ? `<span class="${name}">${escaped(text)}</span>` : escaped(text);
  };
  highlightCode(code, pythonLanguage.parser.parse(code), NAMES, put, () => (html += "\n"));
  return html;
}

const LOOK = EditorView.theme({
  "&": { color: "var(--ink)", borderInlineStart: "2px solid var(--blue)" },
  "&.cm-focused": { outline: "2px solid var(--blue)", outlineOffset: "-1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "0.875rem", lineHeight: "1.5" },
  ".cm-content": { padding: "0.625rem 0", caretColor: "var(--ink)", overflowWrap: "anywhere" },
  ".cm-line": { padding: "0 1rem" },
  "&.cm-focused .cm-matchingBracket": { background: "var(--ochre-tint)" },
});

// Show an editor instead of a <pre>, which keeps a copy of the code for the copy button.
// `onRun(moveOn)` is called on Shift+Enter and Ctrl+Enter, `onChange` after each change of the reader's.
export function editor(pre, code, name, onRun, onChange) {
  const box = document.createElement("div");
  box.className = "code-editor";
  pre.before(box);
  pre.hidden = true;

  let isSet = false; // by the page
  const run = (moveOn) => () => {
    onRun(moveOn);
    return true;
  };
  const extensions = [
    keymap.of([
      { key: "Shift-Enter", run: run(true) },
      { key: "Ctrl-Enter", mac: "Cmd-Enter", run: run(false) },
      { key: "Enter", run: parseFirst },
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    history(),
    python(),
    indentUnit.of("    "),
    bracketMatching(),
    syntaxHighlighting(NAMES),
    LOOK,
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": name }),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (!docChanged) return;
      pre.textContent = `${state.doc}\n`;
      if (!isSet) onChange();
    }),
  ];
  const view = new EditorView({ doc: code, extensions, parent: box });
  pre.textContent = `${code}\n`;
  return {
    focus: () => view.focus(),
    get code() {
      return view.state.doc.toString();
    },
    // A normal transaction, so that Undo restores the reader's code. The same code keeps the caret.
    set code(text) {
      if (text === this.code) return;
      isSet = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      isSet = false;
    },
  };
}

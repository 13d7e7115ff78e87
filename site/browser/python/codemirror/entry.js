// @ts-check
// What the pages' editor uses of CodeMirror. tests/javascript/bundle_editor.js makes the bundle.
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { python, pythonLanguage } from "@codemirror/lang-python";
export { bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
export { EditorView, keymap } from "@codemirror/view";
export { highlightCode, tagHighlighter, tags } from "@lezer/highlight";

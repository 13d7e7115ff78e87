// @ts-check
// The parts of CodeMirror that the pages' editor uses. tests/javascript/bundle_editor.js bundles them.
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { python, pythonLanguage } from "@codemirror/lang-python";
export { bracketMatching, forceParsing, indentUnit, syntaxHighlighting } from "@codemirror/language";
export { EditorView, keymap } from "@codemirror/view";
export { highlightCode, tagHighlighter, tags } from "@lezer/highlight";

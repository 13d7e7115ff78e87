// What browsers, Pyodide, Sphinx and JupyterLab define, and TypeScript's library does not.

interface Window {
  /** JupyterLab's register of extensions. */
  _JUPYTERLAB: Record<string, unknown>;
  /** The terms of the glossary, from terms.js of the build. */
  courseTerms: Record<string, { title: string; text: string; href: string }>;
  /** Shorter times for tests of the measurement of a browser. */
  rooflineRoofSettings?: { cores?: number } & Record<string, number>;
  rooflineMeasure: (figure: HTMLElement, live: object) => Promise<void>;
  /** Python calls this in the page's worker. */
  reportCall: (...reported: number[]) => void;
}

interface Navigator {
  connection?: { saveData: boolean };
  deviceMemory?: number;
}

interface Pyodide {
  unpackArchive(content: ArrayBuffer, format: string, options: { extractDir: string }): void;
  // The value of the code's last expression: a Python object.
  runPython(code: string): any;
}

declare function importScripts(...addresses: string[]): void;
declare function loadPyodide(options: any): Promise<Pyodide>;
/** Sphinx's searchtools.js. */
declare const Search: any;

// Elements found by selectors are HTML elements in our pages.
interface ParentNode {
  querySelector(selectors: string): any;
  querySelectorAll(selectors: string): NodeListOf<any>;
}

// The bundle of the editor, by the name that it has in the site.
declare module "*/codemirror.js" {
  export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
  export { python, pythonLanguage } from "@codemirror/lang-python";
  export { bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
  export { EditorView, keymap } from "@codemirror/view";
  export { highlightCode, tagHighlighter, tags } from "@lezer/highlight";
}

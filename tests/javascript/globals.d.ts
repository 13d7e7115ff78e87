// Names that browsers, Pyodide and Sphinx define, but TypeScript's library doesn't.

interface Window {
  /** The glossary's terms, from the generated terms.js. */
  courseTerms: Record<string, { title: string; text: string; href: string }>;
  /** English → translation of the scripts' words, from the generated words.js. */
  courseWords?: Record<string, string>;
  /** Template → translation of values with words, from the same script. */
  showTheme: (mode?: string) => void;
  phrase: (english: string, values?: Record<string, unknown>) => string;
  made: (tag: string, properties?: object, ...children: (Node | string)[]) => any;
  stored: { get(key: string): any; set(key: string, value: any): void; keys(start: string): string[]; readonly isComplete: boolean };
  rooflineMeasure: (figure: HTMLElement, live: object) => void;
}

interface Pyodide {
  unpackArchive(content: ArrayBuffer, format: string, options: { extractDir: string }): void;
  // The value of the code's last expression: a Python object.
  runPython(code: string): any;
}

/** course.js sets them on each page. */
declare const phrase: Window["phrase"];
declare const made: Window["made"];
declare const stored: Window["stored"];
/** The build defines them above browser/roof/roof.js. */
declare const KERNELS: Record<"plain" | "fused", string>;
declare const FLOPS: number;
declare function importScripts(...addresses: string[]): void;
declare function loadPyodide(options: any): Promise<Pyodide>;

// Elements found by selectors are HTML elements in our pages.
interface ParentNode {
  querySelector(selectors: string): any;
  querySelectorAll(selectors: string): NodeListOf<any>;
}

// The editor's bundle, by its name in the site.
declare module "*/codemirror.js" {
  export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
  export { python, pythonLanguage } from "@codemirror/lang-python";
  export { bracketMatching, forceParsing, indentUnit, syntaxHighlighting } from "@codemirror/language";
  export { EditorView, keymap } from "@codemirror/view";
  export { highlightCode, tagHighlighter, tags } from "@lezer/highlight";
}

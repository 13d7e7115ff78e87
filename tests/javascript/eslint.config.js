// @ts-check
import js from "@eslint/js";
import globals from "globals";

const rules = {
  "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
  "no-empty": ["error", { allowEmptyCatch: true }],
};

export default [
  { ignores: ["**/*.min.js", "**/node_modules/"] },
  js.configs.recommended,
  { rules, languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: { ...globals.browser, phrase: "readonly", made: "readonly", stored: "readonly" } } },
  {
    files: ["**/python_worker.js", "**/stand_in.js"],
    languageOptions: { globals: { ...globals.worker, loadPyodide: "readonly" } },
  },
  {
    files: ["**/browser/roof/roof.js"],
    languageOptions: { globals: { KERNELS: "readonly" } },
  },
  {
    files: ["**/*.cjs", "tests/javascript/*.js"],
    languageOptions: { globals: globals.node },
  },
];

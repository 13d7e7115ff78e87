// @ts-check
// A JupyterLab extension, written directly in the built form that JupyterLab loads. nbgrader's
// Validate dialog lists the failed cells or says "Success!", and has no option to change that. When
// the dialog opens, this extension replaces its text: how many parts are right, which are still to be
// written, and the result of each other part, in the language that the notebook names.
(() => {
  const NAME = "roofkit-validate";
  const MESSAGES = new URL("messages.json", /** @type {HTMLScriptElement} */ (document.currentScript).src);
  const RESULT = "#validation-message:is(.validation-success, .validation-failed)";

  const fill = (message, values) =>
    Object.entries(values).reduce((text, [key, value]) => text.replaceAll(`{${key}}`, value), message);

  // Returns the graded cells of the open notebook as [part, source]; none for other courses.
  const parts = (shell) => {
    const cells = [...(shell.currentWidget?.content?.model?.cells ?? [])]
      .map((cell) => [cell.getMetadata("nbgrader"), cell.sharedModel.getSource().trim(), cell.type])
      .filter(([nbgrader, , type]) => nbgrader?.grade && type === "code");
    const ours = cells.some(([, source]) => source.startsWith("check("));
    return ours ? cells.map(([nbgrader, source]) => [nbgrader.grade_id, source]) : [];
  };

  // Returns source and error of each failed cell, as shown in the dialog.
  const failures = (dialog) => {
    const boxes = [...dialog.querySelectorAll(".jp-RenderedText > pre")];
    const found = new Map();
    for (let at = 0; at + 1 < boxes.length; at += 2) {
      found.set(boxes[at].textContent.trim(), boxes[at + 1]);
    }
    return found;
  };

  const says = (error, line) => error?.textContent.split("\n").some((one) => one.trim() === line);

  const paragraph = (text) => {
    const made = document.createElement("p");
    made.textContent = text;
    return made;
  };

  // Returns a promise of messages, which JupyterLab doesn't wait for.
  const read = (address) =>
    fetch(address).then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.status)));

  const say = async ({ shell, serviceManager }, english, known) => {
    const dialog = document.querySelector(RESULT);
    if (!dialog || dialog.dataset.by === NAME) return;
    const code = shell.currentWidget?.content?.model?.getMetadata("exercise")?.language;
    let messages = english;
    if (code) {
      const query = new URLSearchParams({ language: code });
      const address = `${serviceManager.serverSettings.baseUrl}roofkit/messages?${query}`;
      known[code] ??= read(address).catch(() => english);
      messages = await known[code];
      if (dialog.dataset.by === NAME) return;
    }
    const all = parts(shell);
    const failed = failures(dialog);
    const sources = new Set(all.map(([, source]) => source));
    // Without checks, or if a failed cell isn't in the open notebook, keep nbgrader's text.
    if (!all.length || [...failed.keys()].some((source) => !sources.has(source))) return;
    dialog.dataset.by = NAME;
    const right = all.filter(([, source]) => !failed.has(source)).length;
    const message = right === all.length ? messages.all : messages.some;
    const unwrittenLines = [english.unwritten_line, messages.unwritten_line];
    const unwritten = all.filter(([, source]) =>
      unwrittenLines.some((line) => says(failed.get(source), line)));
    const names = unwritten.map(([part]) => part).join(", ");
    const lines = all
      .filter((one) => !unwritten.includes(one))
      .map(([part, source]) => {
        const error = failed.get(source);
        return error ? error.parentElement : paragraph(fill(messages.right, { part }));
      });
    dialog.replaceChildren(
      paragraph(fill(message, { right, parts: all.length })),
      ...(names ? [paragraph(fill(messages.unwritten, { parts: names }))] : []),
      ...lines,
    );
  };

  const plugin = {
    id: `${NAME}:message`,
    autoStart: true,
    activate: (app) => {
      // If loading fails, nbgrader's text stays.
      read(MESSAGES)
        .then((english) => {
          const known = {};
          // Dialogs are children of the body, so there is no need to observe the subtree.
          const watcher = new MutationObserver(() => say(app, english, known));
          watcher.observe(document.body, { childList: true });
        })
        .catch((reason) => console.warn(`${NAME}: ${MESSAGES}: ${reason}`));
    },
  };

  (window._JUPYTERLAB ??= {})[NAME] = {
    init: () => {},
    get: async () => () => ({ __esModule: true, default: plugin }),
  };
})();

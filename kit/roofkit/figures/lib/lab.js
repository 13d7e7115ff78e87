// @ts-check
// Shows a figure in a notebook, as a widget.
import { phrases, show } from "./figure.js";

export const render = (figures, catalog) => ({ model, el }) => {
  const _ = phrases(model.get("words"));
  const name = model.get("name");
  const figure = document.createElement("figure");
  figure.className = "live";
  figure.dataset.figure = name;
  // Otherwise JupyterLab takes the arrow keys, which move a slider: as shortcuts, and to focus a cell.
  figure.dataset.lmSuppressShortcuts = "true";
  figure.addEventListener("keydown", (event) => event.stopPropagation());
  el.append(figure);
  const host = {
    hint: _("Choose the config.json of your model. The kernel of this notebook reads it; it is sent nowhere else."),
    // The kernel reads the file and answers.
    async readConfig(file) {
      const content = await file.arrayBuffer();
      return new Promise((resolve) => {
        const answered = (answer) => {
          model.off("msg:custom", answered);
          resolve(answer);
        };
        model.on("msg:custom", answered);
        model.send({ file: file.name }, undefined, [content]);
      });
    },
  };
  show(figure, figures[name](catalog, _, model.get("given")), catalog, _, host);
};

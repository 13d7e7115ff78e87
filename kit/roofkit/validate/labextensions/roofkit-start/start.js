// @ts-check
// A JupyterLab extension, written directly in the built form that JupyterLab loads. If
// JupyterLab's folder has a course.json, it shows a start page: the course's pages in order, and
// how many parts of each exercise are done. It reads the progress from the notebooks whenever it is
// shown, so that the two always agree.
(() => {
  const NAME = "roofkit-start";
  const COURSE = "course.json";
  const STYLE = new URL("start.css", /** @type {HTMLScriptElement} */ (document.currentScript).src);
  let shared;

  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };

  // Translations of the start page's messages; empty if the course is in English.
  let words = {};

  // Returns a message in the course's language, with values for its placeholders.
  const phrase = (message, values = {}) =>
    (words[message] ?? message).replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

  // Returns the parts of a message: its text, and nodes for some of its placeholders.
  const parts = (message, nodes) =>
    message.split(/\{(\w+)\}/).flatMap((part, at) => (at % 2 ? nodes[part] : part));

  // Returns the parts that are done: those whose last check passed.
  const passed = (notebook) =>
    notebook.cells
      .filter((cell) => cell.metadata?.nbgrader?.grade)
      .filter((cell) => cell.outputs?.some(({ metadata }) => metadata?.roofkit?.state === "right"))
      .map((cell) => cell.metadata.nbgrader.grade_id);

  const main = ({ shell }) => [...shell.widgets("main")];

  const open = (app, path) =>
    main(app).find((widget) => widget.context?.path === path && widget.content?.model?.cells);

  // Returns an open notebook with its unsaved changes, else the saved one; undefined if there is none.
  const read = async (app, path, files) => {
    const model = open(app, path)?.content.model;
    if (model) return model.toJSON();
    if (!files.has(path)) return undefined;
    const options = { type: "notebook", content: true };
    return (await app.serviceManager.contents.get(path, options)).content;
  };

  const folders = (course) => {
    const paths = [...course.parts.flatMap(({ pages }) => pages), ...course.exercises];
    return [...new Set(paths.map(({ path }) => path.split("/").slice(0, -1).join("/")))];
  };

  // Returns the paths of all files in the course's folders; missing folders count as empty.
  const list = async (app, course) => {
    const contents = app.serviceManager.contents;
    const names = async (folder) => (await contents.get(folder)).content;
    const there = new Set((await names("")).map(({ path }) => path));
    const lists = await Promise.all(folders(course).filter((f) => there.has(f)).map(names));
    return new Set(lists.flat().map(({ path }) => path));
  };

  const look = async (app, course) => {
    const files = await list(app, course);
    const exercises = await Promise.all(
      course.exercises.map(async (exercise) => {
        const right = new Set(
          await read(app, exercise.path, files)
            .then((notebook) => (notebook ? passed(notebook) : []))
            // A notebook that can't be read counts as not done.
            .catch((reason) => console.warn(`${NAME}: ${exercise.path}: ${reason}`)),
        );
        return { ...exercise, done: exercise.parts.map((part) => right.has(part)) };
      }),
    );
    return { files, exercises };
  };

  // Opens a notebook, at the heading of a part if one is named.
  const go = async (app, path, part) => {
    const widget = await app.commands.execute("docmanager:open", { path });
    if (!part) return;
    await widget.context.ready;
    await widget.revealed;
    const cells = [...widget.content.model.cells];
    const check = cells.findIndex((cell) => cell.getMetadata("nbgrader")?.grade_id === part);
    const above = (cell, place) =>
      place < check && cell.type === "markdown" && cell.sharedModel.getSource().startsWith("## ");
    const place = cells.findLastIndex(above);
    if (place < 0) return;
    widget.content.activeCellIndex = place;
    // Set the fragment as a link to this cell would: the extension course-values then keeps it in
    // view while the cells above it render.
    await widget.content.setFragment(`#cell-id=${cells[place].id}`);
  };

  const link = (app, path, label, part) => {
    const base = new URL("lab/tree/", new URL(app.serviceManager.serverSettings.baseUrl));
    const made = element("a", { href: base + path.split("/").map(encodeURIComponent).join("/") });
    made.append(label);
    made.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      go(app, path, part);
    });
    return made;
  };

  // Returns links to newer versions of a notebook, released after the reader began to write.
  const news = (app, path, files) => {
    const begin = path.replace(/\.ipynb$/, ".new");
    const found = [...files].filter((file) => file.startsWith(begin) && file.endsWith(".ipynb"));
    const links = found.sort().map((file) => link(app, file, file.split("/").at(-1)));
    if (!links.length) return "";
    const separated = links.flatMap((made, place) => (place ? [phrase(", "), made] : [made]));
    const message = phrase("The course or its language has changed since you began. New: {links}");
    return element("p", { class: "news" }, ...parts(message, { links: separated }));
  };

  const count = (exercises) => {
    const done = exercises.flatMap((exercise) => exercise.done);
    return [done.filter(Boolean).length, done.length];
  };

  const summary = (app, { exercises }) => {
    const [right, all] = count(exercises);
    if (!all) return "";
    const made = element("div", { class: "summary" });
    const label = phrase("{right} of {all} parts done", { right, all });
    const done = element("strong", {}, label);
    const line = element("p", {}, done);
    const at = exercises.findIndex(({ done }) => done.includes(false));
    if (at >= 0) {
      const next = exercises[at];
      const part = next.done.indexOf(false);
      const named = phrase("exercise {exercise}, part {part}", { exercise: at + 1, part: part + 1 });
      const place = link(app, next.path, named, next.parts[part]);
      line.replaceChildren(...parts(phrase("{done}; next: {place}"), { done, place }));
    }
    made.append(line, element("progress", { max: all, value: right, "aria-label": label }));
    return made;
  };

  const card = (app, exercise, files) => {
    const [right, all] = count([exercise]);
    const label = phrase("{right} of {all} parts done", { right, all });
    const minutes = exercise.minutes ? phrase("{minutes} minutes", { minutes: exercise.minutes }) : "";
    const facts = [minutes, exercise.difficulty].filter(Boolean).join(phrase(", "));
    const { first } = exercise;
    return element(
      "li",
      { class: "exercise" },
      element("h3", {}, link(app, exercise.path, exercise.title)),
      facts ? element("p", {}, facts) : "",
      first
        ? element("p", {}, ...parts(phrase("Read first: {chapter}"), { chapter: link(app, first.path, first.title) }))
        : "",
      element("p", {}, label),
      element("progress", { max: all, value: right, "aria-label": label }),
      news(app, exercise.path, files),
    );
  };

  const row = (app, page, files) =>
    element(
      "li",
      { class: "page" },
      element("span", { class: "number" }, page.number),
      link(app, page.path, page.title),
      news(app, page.path, files),
    );

  const draw = (app, course, state) => {
    const { files, exercises } = state;
    const sections = course.parts.map(({ caption, pages }) => {
      const section = element("section", {}, element("h2", {}, caption));
      // List all exercises here, in course order, not under the chapters that prepare them.
      const cards = exercises
        .filter((exercise) => exercise.caption === caption)
        .map((exercise) => card(app, exercise, files));
      const rows = pages.map((page) => row(app, page, files));
      const lists = [
        ["ul", { class: "exercises" }, cards],
        ["ol", { role: "list" }, rows],
      ];
      for (const [tag, look, items] of lists) {
        if (items.length) section.append(element(tag, look, ...items));
      }
      return section;
    });
    return [element("h1", {}, course.title), summary(app, state), ...sections];
  };

  const start = async (app) => {
    const contents = app.serviceManager.contents;
    const there = (await contents.get("")).content.some(({ name }) => name === COURSE);
    if (!there) return;
    const read = await contents.get(COURSE, { type: "file", format: "text", content: true });
    const course = JSON.parse(read.content);
    words = course.words ?? {};
    const { Widget } = await shared("@lumino/widgets");
    document.head.append(element("link", { rel: "stylesheet", href: STYLE }));

    let asked = 0;
    let drawn = 0;
    const show = async (panel) => {
      const mine = ++asked;
      const state = await look(app, course);
      // Drop this result only if a later one is shown already: on a slow machine, updates may come
      // faster than results, and the page would stay empty.
      if (mine < drawn) return;
      drawn = mine;
      panel.node.firstChild.replaceChildren(...draw(app, course, state));
    };
    class Panel extends Widget {
      constructor() {
        super();
        this.id = NAME;
        this.addClass(NAME);
        this.title.label = phrase("Start page");
        this.title.caption = phrase("{title}: chapters, exercises, and what is done", { title: course.title });
        this.title.closable = true;
        this.node.tabIndex = 0;
        this.node.append(element("div", { class: "roofkit-sheet" }));
      }
      onAfterShow() {
        show(this);
      }
    }
    let panel = null;
    const bring = (activate) => {
      if (!panel || panel.isDisposed) {
        panel = new Panel();
        app.shell.add(panel, "main", { activate });
      } else app.shell.activateById(NAME);
      return show(panel);
    };
    contents.fileChanged.connect(() => {
      if (panel?.isVisible) show(panel);
    });
    const button = new Widget({ node: element("div") });
    button.id = `${NAME}-button`;
    const press = element("button", { type: "button" }, phrase("Start page"));
    press.addEventListener("click", () => bring(true));
    button.node.append(press);
    app.shell.add(button, "top", { rank: 900 });
    return bring;
  };

  const plugin = {
    id: `${NAME}:page`,
    autoStart: true,
    activate: (app) => {
      // A reloaded page keeps its open notebook in front.
      const named = /\/(tree|doc)\//.test(location.pathname);
      // Not awaited: JupyterLab works without the start page, and shouldn't wait for it.
      app.restored
        .then(() => start(app))
        .then((bring) => bring?.(!named))
        .catch((reason) => console.warn(`${NAME}:`, reason));
    },
  };

  (window._JUPYTERLAB ??= {})[NAME] = {
    init: (scope) => {
      shared = async (name) => (await Object.values(scope[name])[0].get())();
    },
    get: async () => () => ({ __esModule: true, default: plugin }),
  };
})();

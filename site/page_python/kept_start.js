// A start of Python that the browser keeps: its memory and files as they were when all was loaded
// that each page needs. The next page goes on from there and imports nothing anew.
//
// What is no memory is made again: each compiled library, at the place where the memory has it, and
// the numbers by which functions are called. If one of these is not as it was, the kept start is
// not used, and Python starts as it did the first time.

// All in one, so that no half of it is ever kept: the memory, the files one behind the other, facts
// in JSON. What has to be known beforehand stands in its headers.
const START = "start";
const BROWSER = "roofline-browser";
const FACTS = "roofline-facts"; // how many bytes

// ---- taking

// What is to be kept of a Python that has run nothing of a reader's yet.
function taken(python, roots) {
  const { _api: api } = python;
  const files = roots.flatMap((root) => filesBelow(python, root));
  api.config._makeSnapshot = true; // asked for only now: from the start it would change `js`
  const memory = api.makeSnapshot();
  api.config._makeSnapshot = false;
  const facts = {
    memory: memory.length,
    files: files.map(([path, content]) => [path, content.length]),
    ...places(python._module),
  };
  return { facts, parts: [memory, ...files.map(([, content]) => content)] };
}

function filesBelow({ FS }, path) {
  const { node } = FS.lookupPath(path);
  if (!FS.isDir(node.mode)) {
    // A copy: what a reader's code writes there later is not kept.
    return [[path, node.contents?.slice(0, node.usedBytes) ?? new Uint8Array()]];
  }
  return Object.keys(node.contents).flatMap((name) => filesBelow({ FS }, `${path}/${name}`));
}

// Where each library has its memory and its functions; and which functions have a number beside
// those. The structure that a handle points to is Emscripten's own, `struct dso` of its musl.
function places({ LDSO, HEAPU32, wasmTable, GOT }) {
  const libraries = [];
  const known = new Map();
  for (const [handle, { name, exports, global, refcount }] of Object.entries(LDSO.loadedLibsByHandle)) {
    if (name === "__main__") continue;
    if (global) throw new Error(`${name} is global`);
    const [first, count] = [20, 24].map((place) => HEAPU32[(Number(handle) + place) >> 2]);
    libraries.push({ name, handle: Number(handle), refcount, first, count, others: [] });
    for (const [key, value] of Object.entries(exports)) known.set(value, key);
  }
  libraries.sort((one, other) => one.first - other.first);
  libraries.forEach((library, number) => {
    const end = libraries[number + 1]?.first ?? wasmTable.length;
    for (let place = library.first + library.count; place < end; place++) {
      library.others.push(known.get(wasmTable.get(place)) ?? null);
    }
  });
  return { libraries, functions: wasmTable.length, symbols: symbols(GOT) };
}

const symbols = (table) =>
  Object.fromEntries(Object.entries(table).map(([name, { value }]) => [name, value]));

function keep(shelf, address, { facts, parts }) {
  const last = new TextEncoder().encode(JSON.stringify(facts));
  const headers = { [BROWSER]: navigator.userAgent, [FACTS]: last.length };
  return shelf.put(`${address}${START}`, new Response(new Blob([...parts, last]), { headers }));
}

// ---- going on from it

// The start that is kept there; null without one of this browser.
async function kept(shelf, address) {
  const answer = await shelf?.match(`${address}${START}`);
  if (answer?.headers.get(BROWSER) !== navigator.userAgent) return null;
  const content = await answer.arrayBuffer();
  const last = new Uint8Array(content, content.byteLength - Number(answer.headers.get(FACTS)));
  const facts = JSON.parse(new TextDecoder().decode(last));
  let from = facts.memory;
  const files = new Map();
  for (const [path, length] of facts.files) {
    files.set(path, new Uint8Array(content, from, length));
    from += length;
  }
  return { facts, memory: new Uint8Array(content, 0, facts.memory), files };
}

const forget = (shelf, address) => shelf.delete(`${address}${START}`);

// Python as it was. `createModule` is Pyodide's own function of its asm.js.
async function goneOn({ facts, memory, files }, createModule, options) {
  const compiled = facts.libraries.map(({ name }) => WebAssembly.compile(files.get(name)));
  self._createPyodideModule = async (settings) => {
    const module = await createModule(settings);
    const [, start] = new Uint32Array(memory.buffer, 0, 2); // behind Pyodide's own facts
    module.HEAPU8.set(memory.subarray(start));
    for (const [number, library] of facts.libraries.entries()) {
      await loadAgain(module, library, await compiled[number]);
    }
    same(module.wasmTable.length, facts.functions, "the number of functions");
    for (const [name, value] of Object.entries(facts.symbols)) {
      same(module.GOT[name]?.value, value, name);
    }
    return module; // loadPyodide puts the memory there once more: a library's start changes it
  };
  try {
    const python = await loadPyodide({ ...options, _loadSnapshot: memory });
    for (const [path, content] of files) {
      python.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
      python.FS.writeFile(path, content, { canOwn: true });
    }
    return python;
  } finally {
    self._createPyodideModule = createModule;
  }
}

async function loadAgain(module, { name, handle, refcount, first, count, others }, code) {
  same(module.wasmTable.length, first, `the place of ${name}`);
  const library = module.newDSO(name, handle, "loading");
  Object.assign(library, { refcount, global: false });
  const how = { loadAsync: true, global: false };
  library.exports = await module.loadWebAssemblyModule(code, how, name, {}, handle);
  others.forEach((key, number) => {
    const place = first + count + number;
    if (place < module.wasmTable.length) return; // loading it has brought this
    same(module.addFunction(library.exports[key]), place, `${key} of ${name}`);
  });
}

function same(found, wanted, what) {
  if (found !== wanted) throw new Error(`${what} is ${found}, was ${wanted}`);
}

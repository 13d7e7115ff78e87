// @ts-check
// Bundles CodeMirror for the pages' editor: `npm run editor` writes the bundle, the list of its
// packages and the license texts; with --check, it fails if the files in the repository differ.

import { build } from "esbuild-wasm";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const MODULES = join(HERE, "node_modules");
const TARGET = join(HERE, "..", "..", "site", "browser", "python", "codemirror");

/** @param {string} input path of a bundled file, relative to HERE */
const packageOf = (input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];

/** @param {string} name */
function licenseText(name) {
  const folder = join(MODULES, name);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no license file`);
  return readFileSync(join(folder, file), "utf8").trim();
}

async function made() {
  const result = await build({
    absWorkingDir: HERE,
    entryPoints: [join(TARGET, "entry.js")],
    nodePaths: [MODULES],
    banner: { js: "/*! CodeMirror and Lezer, MIT license: the site serves the texts with those of its other parts. */" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    metafile: true,
    write: false,
    outfile: "codemirror.min.js",
  });
  const [{ inputs }] = Object.values(result.metafile.outputs);
  const bundled = Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  const names = new Set(bundled.map(([input]) => packageOf(input)).filter(Boolean));
  const packages = [...names].sort().map((name) => {
    const { version, license } = JSON.parse(readFileSync(join(MODULES, `${name}/package.json`), "utf8"));
    return { name, version, license };
  });
  const bundle = result.outputFiles[0].text;
  const sha256 = createHash("sha256").update(bundle).digest("hex");
  const licenses = packages.map(({ name, version }) => `${name} ${version}\n\n${licenseText(`${name}`)}\n`);
  return {
    "codemirror.min.js": bundle,
    "packages.json": `${JSON.stringify({ sha256, packages }, null, 2)}\n`,
    "LICENSES.txt": licenses.join(`\n${"=".repeat(80)}\n\n`),
  };
}

const isCheck = process.argv.includes("--check");
for (const [name, content] of Object.entries(await made())) {
  const path = join(TARGET, name);
  if (!isCheck) writeFileSync(path, content);
  else if (!existsSync(path) || readFileSync(path, "utf8") !== content) {
    console.error(`${name} is not what these packages give: run "npm run editor"`);
    process.exitCode = 1;
  }
}

// Puts the compiled service into one script, and lets V8 compile it ahead; packages/server/src/program.ts loads both
// (docs/decisions/0066). Run by scripts/build.mjs, which passes how bundles are made.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const AHEAD = fileURLToPath(new URL('./compile-ahead.mjs', import.meta.url));

/** `starts` runs when it is loaded; each of `entries` keeps a file of its own, which hands on the exports. */
export async function buildProgram(dist, { starts, entries, ahead, external, ...common }) {
  const compiled = path.join(dist, 'program.compiled');
  const parts = path.join(dist, 'parts');
  const all = [starts, ...entries, ...ahead];
  rmSync(compiled, { force: true });
  // First as modules, from which what nobody uses is left out; what is loaded on demand stays apart.
  await build({
    ...common,
    external,
    entryPoints: all.map((name) => path.join(dist, `${name}.js`)),
    outdir: parts,
    outbase: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
  });
  const { outputFiles } = await build({
    ...common,
    external,
    stdin: {
      contents: all.map((name) => `exports[${JSON.stringify(name)}] = () => require('./${name}.js');`).join('\n'),
      resolveDir: parts,
      sourcefile: 'entries.js',
    },
    outfile: path.join(dist, 'program.cjs'),
    bundle: true,
    format: 'cjs',
    legalComments: 'linked',
    // What is loaded on demand is required: a function that V8 compiled ahead cannot import by itself.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'programUrl' },
    banner: { js: "const programUrl = require('node:url').pathToFileURL(__filename).href;" },
    write: false,
  });
  rmSync(parts, { recursive: true });
  for (const { path: file, text } of outputFiles) {
    if (!file.endsWith('.cjs')) {
      writeFileSync(file, text);
      continue;
    }
    // It is read as Latin-1, which V8 keeps as it is. What is not ASCII yet is in regular expressions, where this says the same.
    const ascii = text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    writeFileSync(file, ascii);
  }

  const facade = (name, lines) => {
    const file = path.join(dist, `${name}.js`);
    const depth = path.relative(path.dirname(file), dist).split(path.sep).join('/');
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `import { load } from '${depth === '' ? '.' : depth}/program.js';\n${lines.join('\n')}\n`);
  };
  facade(starts, [`load('${starts}');`]);
  // In a process of its own, with the flags of V8 that a start has.
  const { status, stdout, error } = spawnSync(
    process.execPath,
    [AHEAD, pathToFileURL(path.join(dist, 'program.js')).href, compiled, ...entries, ...ahead],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (error) throw error;
  if (status !== 0) throw new Error('the program cannot be loaded');
  const exports = JSON.parse(stdout);
  for (const name of entries) facade(name, [`export const { ${exports[name].join(', ')} } = load('${name}');`]);
}

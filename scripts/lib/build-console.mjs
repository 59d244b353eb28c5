// Builds the web console: `packages/console/dist/index.html` and `dist/assets`, which the service holds in memory and
// serves (packages/server/src/http/console). Nothing in it comes from another origin.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'esbuild';

/** The path under which the service serves what is in `dist`. */
const BASE_PATH = '/console/';
const COMPRESSED = /\.(?:js|css|svg|json|webmanifest)$/;

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/**
 * Pages that are loaded late bring style sheets with them, which esbuild puts into files that nothing would link. So
 * the entry takes in every style sheet: after those that it imports itself, the others in the order of their paths.
 */
function entryWithStyles(source) {
  const styles = readdirSync(source, { recursive: true })
    .map((file) => file.split(path.sep).join('/'))
    .filter((file) => file.endsWith('.css'))
    .sort();
  return ['main.tsx', ...styles].map((file) => `import ${JSON.stringify(`./${file}`)};`).join('\n');
}

/** @param {string} folder The folder of the package. */
export async function buildConsole(folder) {
  const source = path.join(folder, 'src');
  const dist = path.join(folder, 'dist');
  const { metafile } = await build({
    stdin: { contents: entryWithStyles(source), resolveDir: source, sourcefile: 'console.ts', loader: 'ts' },
    outdir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2022', 'chrome111', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.module.css': 'local-css', '.svg': 'file' },
    publicPath: BASE_PATH,
    entryNames: 'assets/console-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    assetNames: 'assets/[name]-[hash]',
    // For whoever reads a stack trace: the service does not serve them.
    sourcemap: 'external',
    sourcesContent: false,
    metafile: true,
    absWorkingDir: folder,
    logLevel: 'warning',
  });

  const outputs = new Map(
    Object.entries(metafile.outputs).map(([file, output]) => [path.posix.relative('dist', file), output]),
  );
  const [script, entry] = [...outputs].find(([, { entryPoint }]) => entryPoint === 'src/console.ts') ?? [];
  if (entry === undefined) throw new Error('the build of the console has no entry');
  const style = entry.cssBundle === undefined ? undefined : path.posix.relative('dist', entry.cssBundle);
  const icon = writeIcon(source, dist);
  // The one style sheet holds what these hold.
  for (const file of [...outputs.keys()])
    if (/\.css(?:\.map)?$/.test(file) && !file.startsWith(style)) outputs.delete(file);

  const assets = [...outputs.keys(), icon].filter((file) => COMPRESSED.test(file));
  await Promise.all(assets.map((file) => compress(path.join(dist, file))));
  writeFileSync(path.join(dist, 'meta.json'), JSON.stringify(metafile));
  writeFileSync(
    path.join(dist, 'index.html'),
    renderIndex({ script, style, icon, preloaded: listStaticChunks(outputs, script) }),
  );

  // Last, so that a service that is starting meanwhile finds what it was told of.
  const current = new Set([...outputs.keys(), ...assets.flatMap((file) => [file, `${file}.br`, `${file}.gz`])]);
  for (const file of readdirSync(path.join(dist, 'assets'))) {
    if (!current.has(`assets/${file}`)) rmSync(path.join(dist, 'assets', file));
  }
}

/** Chunks that the script needs before it can run, so that the browser asks for all of them at once. */
function listStaticChunks(outputs, script) {
  const found = new Set();
  const visit = (file) => {
    for (const { path: imported, kind } of outputs.get(file)?.imports ?? []) {
      const chunk = path.posix.relative('dist', imported);
      if (kind !== 'import-statement' || found.has(chunk)) continue;
      found.add(chunk);
      visit(chunk);
    }
  };
  visit(script);
  return [...found];
}

function writeIcon(source, dist) {
  const content = readFileSync(path.join(source, 'icon.svg'));
  const name = `assets/icon-${createHash('sha256').update(content).digest('hex').slice(0, 8).toUpperCase()}.svg`;
  if (!existsSync(path.join(dist, 'assets'))) mkdirSync(path.join(dist, 'assets'), { recursive: true });
  writeFileSync(path.join(dist, name), content);
  return name;
}

async function compress(file) {
  const content = readFileSync(file);
  const [brotli, gzipped] = await Promise.all([
    compressBrotli(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
    compressGzip(content, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  writeFileSync(`${file}.br`, brotli);
  writeFileSync(`${file}.gz`, gzipped);
}

/** The service puts a fresh nonce in the place of `__NONCE__`: the code editor makes style sheets of its own with it. */
function renderIndex({ script, style, icon, preloaded }) {
  const at = (file) => `${BASE_PATH}${file}`;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<title>Custos</title>',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="theme-color" media="(prefers-color-scheme: light)" content="#F6F6F3">',
    '<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0E1012">',
    '<meta name="robots" content="noindex">',
    '<meta name="csp-nonce" content="__NONCE__">',
    `<link rel="icon" type="image/svg+xml" href="${at(icon)}">`,
    ...(style === undefined ? [] : [`<link rel="stylesheet" href="${at(style)}">`]),
    ...preloaded.map((file) => `<link rel="modulepreload" href="${at(file)}">`),
    `<script type="module" src="${at(script)}"></script>`,
    '</head>',
    '<body>',
    '<noscript>The Custos console makes its signatures in this browser, so it needs JavaScript. Without it, use the command line: custos --help.</noscript>',
    '<div id="root"></div>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

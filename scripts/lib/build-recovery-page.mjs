// Builds the page that opens recovery kits: `packages/cli/dist/recovery.html`, one file with everything in it, which works
// from a disk. The same sources make the same bytes, so that people can compare its digest.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

/** @param {string} folder The folder of the command line's package. */
export async function buildRecoveryPage(folder) {
  const source = path.join(folder, 'src', 'recovery-page');
  const { outputFiles } = await build({
    entryPoints: { page: path.join(source, 'main.ts'), style: path.join(source, 'page.css') },
    outdir: path.join(folder, 'dist'),
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: ['es2022', 'chrome111', 'firefox115', 'safari16.4'],
    // What is built for Node.js begins with lines that no browser runs.
    conditions: ['source'],
    minify: true,
    // The page may be read in any encoding.
    charset: 'ascii',
    legalComments: 'none',
    absWorkingDir: folder,
    logLevel: 'warning',
  });
  const textOf = (name) => outputFiles.find((file) => file.path.endsWith(name)).text.trim();
  const script = textOf('page.js');
  const style = textOf('style.css');
  if (/<\/script|<\/style|<!--/i.test(script + style)) throw new Error('the page would end inside of its script');
  const page = readFileSync(path.join(source, 'page.html'), 'utf8')
    .replace('__POLICY__', policyOf(script, style))
    // As functions: a dollar in the code means nothing.
    .replace('/* __STYLE__ */', () => style)
    .replace('__SCRIPT__', () => script);
  writeFileSync(path.join(folder, 'dist', 'recovery.html'), page);
}

/** Nothing but these two texts runs, and nothing is fetched, sent, framed or submitted. */
function policyOf(script, style) {
  const digest = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return [
    "default-src 'none'",
    `script-src ${digest(script)}`,
    `style-src ${digest(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

// `npm run generate`: everything that is written from the registry. `--check` writes nothing, names each stale file and
// exits with 1.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openApi } from '../packages/server/src/reference/openapi.ts';
import { referencePages } from './generate/pages.ts';
import { servedKinds } from './generate/policy-catalog.ts';
import { policyLanguage } from './generate/policy-language.ts';
import { sdkOperations } from './generate/sdk.ts';
import { transitionsTable } from './generate/transitions.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const REFERENCE = 'docs/reference';

const wanted = new Map<string, string>([
  ['openapi.json', `${JSON.stringify(openApi(), null, 2)}\n`],
  ['packages/sdk/src/generated/operations.ts', sdkOperations()],
  ['packages/server/src/policy/catalog/served-kinds.ts', servedKinds()],
  ['packages/console/src/generated/policy-language.ts', policyLanguage()],
  ['docs/guides/activities.md', between('docs/guides/activities.md', 'transitions', transitionsTable())],
  ...[...referencePages()].map(([name, text]) => [`${REFERENCE}/${name}`, text] as const),
]);

/** A page that is written by hand, but for the table between two markers. */
function between(file: string, name: string, table: string): string {
  const text = readFileSync(path.join(root, file), 'utf8');
  const [begin, end] = [`<!-- ${name}:begin -->\n`, `<!-- ${name}:end -->`];
  const [start, stop] = [text.indexOf(begin), text.indexOf(end)];
  if (start < 0 || stop < start) throw new Error(`${file} has lost its ${name} markers`);
  return `${text.slice(0, start + begin.length)}${table}${text.slice(stop)}`;
}

const read = (file: string): string | undefined => {
  const target = path.join(root, file);
  return existsSync(target) ? readFileSync(target, 'utf8') : undefined;
};

const changed = [...wanted.keys()].filter((file) => read(file) !== wanted.get(file));
const reference = path.join(root, REFERENCE);
const left = (existsSync(reference) ? readdirSync(reference) : [])
  .map((name) => `${REFERENCE}/${name}`)
  .filter((file) => !wanted.has(file));

if (process.argv.includes('--check')) {
  for (const file of changed) process.stdout.write(`stale: ${file}\n`);
  for (const file of left) process.stdout.write(`stale: ${file} (nothing writes it any more)\n`);
  if (changed.length + left.length > 0) {
    process.stdout.write('run `npm run generate`\n');
    process.exitCode = 1;
  }
} else {
  for (const file of changed) {
    const target = path.join(root, file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, wanted.get(file) as string);
    process.stdout.write(`wrote ${file}\n`);
  }
  for (const file of left) {
    rmSync(path.join(root, file));
    process.stdout.write(`removed ${file}\n`);
  }
}

import { readdirSync, readFileSync } from 'node:fs';

export const ROOT = new URL('../../', import.meta.url);
export const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
export const GUIDES = readdirSync(new URL('docs/guides/', ROOT)).map((file) => `docs/guides/${file}`);

const SAVED = /Save(?: this)? as\s+`([\w-]+\.mjs)`[^`]*(?:`[^`\n]*`[^`]*)*```js\n(.*?)```/gs;

/** Every program that a page tells its readers to save, by its name. */
export function savedPrograms(): Map<string, string> {
  const programs = new Map<string, string>();
  for (const page of ['README.md', 'docs/start.md', ...GUIDES]) {
    for (const [, name = '', code = ''] of read(page).matchAll(SAVED)) {
      if (programs.has(name)) throw new Error(`${page}: another page has a program called ${name}`);
      programs.set(name, code);
    }
  }
  return programs;
}

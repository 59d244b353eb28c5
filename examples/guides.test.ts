import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { GUIDES, ROOT, read } from './support/pages.ts';

const collapse = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

test('what the guide on the public packages shows is what their tests run', () => {
  const [, snippet = 'a snippet'] =
    /## One-time codes.*?```js\n(.*?)```/s.exec(read('docs/guides/public-sdks.md')) ?? [];
  // The page that the test drives, without its type annotations.
  const page = read('compat/login-core-page.ts').replaceAll(/\((await [^()]*\(\))\) as string/g, '$1');
  expect(collapse(page)).toContain(collapse(snippet));
  const [, webhooks = ''] = /\n## Webhooks\n(.*)/s.exec(read('docs/guides/public-sdks.md')) ?? [];
  const run = read('compat/webhooks.test.ts')
    .replaceAll(/\((await [^()]*\(\))\) as \w+/g, '$1')
    .replaceAll(/<object, [^>]*>/g, '');
  const shown = [...webhooks.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code);
  expect(shown).toHaveLength(2);
  for (const code of shown) expect(collapse(run)).toContain(collapse(code));
});

test('links between the pages lead somewhere', () => {
  for (const page of ['README.md', 'docs/start.md', 'examples/README.md', ...GUIDES]) {
    const links = read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([\w-]+))?\)/g);
    for (const [, path = '', anchor] of links) {
      const target = new URL(path, new URL(page, ROOT));
      expect(existsSync(target), `${page}: ${path}`).toBe(true);
      if (anchor === undefined) continue;
      const headings = readFileSync(path === '' ? new URL(page, ROOT) : target, 'utf8').matchAll(/^#+ (.*)$/gm);
      const anchors = [...headings].map(([, text = '']) =>
        text
          .toLowerCase()
          .replaceAll(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      );
      expect(anchors, `${page}: ${path}#${anchor}`).toContain(anchor);
    }
  }
});

import { describe, expect, test } from 'vitest';
import { findBrokenCitations, RETIRED_FAMILIES } from './citations.mjs';

const STAMPS = `# Stamps

How requests are signed.

## 1 Headers

### 1.1 API keys

### 1.2 Passkeys and \`X-Stamp-WebAuthn\`

## 2 Times
`;

const PAGES = {
  'docs/protocol/stamps.md': STAMPS,
  'docs/decisions/0018-who-decides-a-login.md': '# Who decides a login\n',
  'docs/guides/login.md': '# Login\n\n## First steps\n\n## First steps\n',
};

const find = (files: Record<string, string>) => findBrokenCitations(new Map(Object.entries({ ...PAGES, ...files })));
const findInCode = (text: string) => find({ 'src/a.ts': text });
const findInDocs = (text: string) => find({ 'docs/guides/a.md': text });

describe('citations in code', () => {
  test.each([
    '/** (protocol/stamps 1.1) */',
    '// See protocol/stamps 1.1, 1.2 and 2.',
    '/**\n * The header (protocol/stamps\n * 1.2).\n */',
    '// docs/decisions/0018',
    '// docs/decisions/0018-who-decides-a-login.md and docs/guides/login.md#first-steps-1',
    "import x from './protocol/frames.ts'; deploy('protocol/pool/Pool'); // tronprotocol/protocol, core",
    "'the decision stands'; // RFC 9180, AUTHOR 2, 100 POLS",
  ])('good: %j', (text) => expect(findInCode(text)).toEqual([]));

  test.each([
    ['\n// (protocol/stamps 3)', 'src/a.ts:2: docs/protocol/stamps.md has no section 3'],
    ['// protocol/stamps 1.1 and 1.3', 'src/a.ts:1: docs/protocol/stamps.md has no section 1.3'],
    ['// protocol/stamps\n// 1.3', 'src/a.ts:1: docs/protocol/stamps.md has no section 1.3'],
    ['// protocol/stamps.', 'src/a.ts:1: "protocol/stamps" needs the number of a section'],
    ['// protocol/postage 1', 'src/a.ts:1: docs/protocol/postage.md does not exist'],
    ['// docs/decisions/0019', 'src/a.ts:1: docs/decisions has no page 0019'],
    ['// docs/decisions/0018-who-decides', 'src/a.ts:1: page 0018 is docs/decisions/0018-who-decides-a-login.md'],
    ['// docs/guides/logout.md', 'src/a.ts:1: docs/guides/logout.md does not exist'],
    ['// docs/guides/login.md#last', 'src/a.ts:1: docs/guides/login.md has no heading #last'],
  ])('bad: %j', (text, fault) => expect(findInCode(text)).toEqual([fault]));

  test.each(RETIRED_FAMILIES)('%s is refused', (family) => {
    const capital = `${family[0]?.toUpperCase()}${family.slice(1)}`;
    const text = `// (${family} 2.5)\n// ${capital} 3\n/*\n * ${family}\n * 4 */`;
    expect(findInCode(text)).toEqual([
      `src/a.ts:1: "${family} 2.5" cites a page that is not in the repository`,
      `src/a.ts:2: "${capital} 3" cites a page that is not in the repository`,
      `src/a.ts:4: "${family} * 4" cites a page that is not in the repository`,
    ]);
  });
});

describe('links in docs', () => {
  test.each([
    '[login](login.md) [steps](login.md#first-steps) [stamps](../protocol/stamps.md#12-passkeys-and-x-stamp-webauthn)',
    '[folder](../decisions/) [outside](https://example.com/a.md#b) [mail](mailto:a@example.com)',
    '# Here\n\n[here](#here)',
    '`[sample](nowhere.md)`\n\n```md\n[sample](nowhere.md)\n# no heading\n```',
    '[decision 0018](../decisions/0018-who-decides-a-login.md)',
  ])('good: %j', (text) => {
    const known = new Set([...Object.keys(PAGES), 'docs/decisions', 'docs/guides/a.md']);
    expect(findBrokenCitations(new Map(Object.entries({ ...PAGES, 'docs/guides/a.md': text })), known)).toEqual([]);
  });

  test.each([
    ['\n\n[gone](logout.md)', 'docs/guides/a.md:3: docs/guides/logout.md does not exist'],
    ['[gone](login.md#last)', 'docs/guides/a.md:1: docs/guides/login.md has no heading #last'],
    ['# Here\n[gone](#there)', 'docs/guides/a.md:2: docs/guides/a.md has no heading #there'],
    ['protocol/stamps 7', 'docs/guides/a.md:1: docs/protocol/stamps.md has no section 7'],
    ['decision 0019', 'docs/guides/a.md:1: docs/decisions has no page 0019'],
  ])('bad: %j', (text, fault) => expect(findInDocs(text)).toEqual([fault]));
});

test('headings of protocol pages have numbers of their own', () => {
  const page = '# Sends\n\n## Nonces\n\n## 1 Fees\n\n### 1.1 Tips\n\n### 2 Caps\n\n## 1 Gas\n';
  expect(find({ 'docs/protocol/sends.md': page })).toEqual([
    'docs/protocol/sends.md:3: "Nonces" needs a number with 1 part(s)',
    'docs/protocol/sends.md:9: "2 Caps" needs a number with 2 part(s)',
    'docs/protocol/sends.md:11: section 1 is there twice',
  ]);
});

import { expect, test } from 'vitest';
import { findMisplacedImports } from './structure.mjs';

const SOURCE = 'packages/server/src/';
const imports = (...lines: readonly string[]): string => lines.map((line) => `${line};\n`).join('');

/** Every file that an import names is there. */
function faultsOf(files: Record<string, string>): string[] {
  const texts = new Map(Object.entries(files).map(([file, text]) => [`${SOURCE}${file}`, text]));
  return findMisplacedImports(texts);
}

const leaf = {
  'lib/ids.ts': '',
  'engine/submit.ts': '',
  'domains/users/model.ts': '',
  'domains/users/index.ts': '',
  'domains/users/cases.ts': '',
  'domains/users/cases/mfa.ts': '',
  'registry.ts': '',
};

test('what points downwards is allowed', () => {
  const files = {
    ...leaf,
    'domains/wallets/model.ts': imports(
      "import { a } from '../users/model.ts'",
      "import type { B } from '../../lib/ids.ts'",
    ),
    'app.ts': imports("import { users } from './domains/users/index.ts'"),
  };
  expect(faultsOf(files)).toEqual([]);
});

test.each([
  [
    'the kernel knows no domain',
    'engine/vote.ts',
    "import type { User } from '../domains/users/model.ts'",
    'engine knows no domain',
  ],
  ['lib is the bottom', 'lib/clock.ts', "import { submit } from '../engine/submit.ts'", 'lib stands below engine'],
  [
    'the root is put together from the rest',
    'engine/vote.ts',
    "import { operations } from '../registry.ts'",
    'root is put together from engine',
  ],
  [
    'a domain that is not in the table',
    'domains/webhooks/sender.ts',
    "import { a } from '../users/model.ts'",
    'webhooks is not among those',
  ],
  [
    'a manifest',
    'domains/wallets/model.ts',
    "import { users } from '../users/index.ts'",
    'only the list of domains imports a manifest',
  ],
  ['cases', 'domains/users/store.ts', "import { cases } from './cases.ts'", 'only tests read cases'],
  ['cases, at the root', 'app.ts', "import { cases } from './domains/users/cases.ts'", 'only tests read cases'],
  ['a part of cases', 'app.ts', "import { mfaCases } from './domains/users/cases/mfa.ts'", 'only tests read cases'],
  [
    'an import over several lines',
    'lib/clock.ts',
    "import {\n  a,\n  b,\n} from '../engine/submit.ts'",
    'lib stands below engine',
  ],
  [
    'an import at run time',
    'lib/clock.ts',
    "const late = await import('../engine/submit.ts')",
    'lib stands below engine',
  ],
])('%s', (_name, file, line, reason) => {
  expect(faultsOf({ ...leaf, [file]: imports(line) })).toEqual([expect.stringContaining(reason)]);
});

test('cases import what they like', () => {
  const line = "import { operations } from '../../registry.ts'";
  expect(faultsOf({ ...leaf, 'domains/users/cases.ts': imports(line) })).toEqual([]);
});

test('a circle is named by its files; types close one too', () => {
  const circle = {
    'lib/a.ts': imports("import { b } from './b.ts'"),
    'lib/b.ts': imports("import { a } from './a.ts'"),
  };
  const named = [`a circle: ${SOURCE}lib/a.ts -> ${SOURCE}lib/b.ts -> ${SOURCE}lib/a.ts`];
  expect(faultsOf(circle)).toEqual(named);
  expect(faultsOf({ ...circle, 'lib/b.ts': imports("import type { A } from './a.ts'") })).toEqual(named);
});

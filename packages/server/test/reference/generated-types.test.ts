import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Operation } from '../../src/engine/define.ts';
import { SHARED_SHAPES } from '../../src/reference/shared-shapes.ts';
import { operations } from '../../src/registry.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/**
 * The registry keeps schemas as values, so that their types are only known once they are written out. This compiles a
 * file that holds every schema of the registry as a literal and compares what the schema library infers from it with
 * the type of the same name in the SDK.
 */
test('the types of the SDK are what the schemas infer', { timeout: 120_000 }, async () => {
  const problems = await compile([...sharedChecks(), ...operations.flatMap(operationChecks)]);
  expect(problems).toBe('');
});

test('a type that differs is noticed', { timeout: 120_000 }, async () => {
  const schema = { type: 'object', required: ['organizationId'], properties: { organizationId: { type: 'string' } } };
  const optional = { type: 'object', properties: { organizationId: { type: 'string' } } };
  const checks = [
    compare('XStatic', literal(schema), '{ organizationId: string }'),
    compare('XStatic', literal(optional), '{ organizationId: string }'),
    compare('XStatic', literal(schema), '{ organizationId: number }'),
    compare('XStatic', literal(schema), '{ organizationId: string; more?: string }'),
  ];
  const problems = await compile(checks);
  expect(problems.match(/error TS2344/g)).toHaveLength(3);
});

function sharedChecks(): string[] {
  return Object.keys(SHARED_SHAPES).map((name) =>
    compare('Static', `(typeof SHARED_SHAPES)['${name}']`, `Sdk.${name}`),
  );
}

function operationChecks(operation: Operation): string[] {
  const name = operation.name.replace(/(?:^|_)([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
  const check = (part: string, schema: unknown): string => compare('XStatic', literal(schema), `Sdk.${name}${part}`);
  switch (operation.kind) {
    case 'activity':
      return [check('Parameters', operation.versions[0]?.schema), check('Result', operation.result)];
    case 'vote':
      return [check('Parameters', operation.schema)];
    case 'query':
      return [
        compare('XStatic', literal(operation.schema), `Sdk.${name}Parameters & { organizationId: string }`),
        check('Response', operation.response),
      ];
  }
}

/** Our own keywords carry no type, and long patterns only slow the compiler down. */
const literal = (schema: unknown): string =>
  JSON.stringify(schema, (key, value: unknown) => (key.startsWith('x-') || key === 'pattern' ? undefined : value));

const compare = (inference: 'Static' | 'XStatic', schema: string, type: string): string =>
  `Expect<Equal<${inference}<${schema}>, ${type}>>`;

const PRELUDE = `
type Flat<T> = T extends readonly (infer Item)[] ? Flat<Item>[] : T extends object ? { [K in keyof T]: Flat<T[K]> } : T;
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Equal<A, B> = Same<Flat<A>, Flat<B>>;
type Expect<T extends true> = T;
`;

/** What the compiler says about the checks, with the project's own settings. */
async function compile(checks: readonly string[]): Promise<string> {
  const parent = join(ROOT, 'node_modules', '.cache');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'generated-types-'));
  const from = (path: string): string => relative(folder, join(ROOT, path));
  try {
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: from('tsconfig.json'),
        compilerOptions: { noUnusedLocals: false },
        include: ['checks.ts'],
        exclude: [],
      }),
    );
    writeFileSync(
      join(folder, 'checks.ts'),
      [
        `import type { Static } from 'typebox';`,
        `import type { XStatic } from 'typebox/schema';`,
        `import type * as Sdk from '${from('packages/sdk/src/generated/operations.ts')}';`,
        `import type { SHARED_SHAPES } from '${from('packages/server/src/reference/shared-shapes.ts')}';`,
        PRELUDE,
        ...checks.map((check, index) => `export type Check${index} = ${check};`),
      ].join('\n'),
    );
    return await runCompiler(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runCompiler(folder: string): Promise<string> {
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  return new Promise((resolve) => {
    execFile(process.execPath, [compiler, '-p', folder, '--noEmit', '--pretty', 'false'], (error, stdout, stderr) =>
      resolve(error === null ? '' : `${stdout}${stderr}`.trim() || error.message),
    );
  });
}

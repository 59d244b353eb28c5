import { dirname, resolve } from 'node:path';
import { checkPolicy, type ExpressionCache, type Policy } from '@custos/server/policy';
import { type Cursor, collect, type FileProblem, openFile, required } from './cursor.ts';

const FIELDS = [
  'policyId',
  'policyName',
  'effect',
  'condition',
  'consensus',
  'time',
  'notes',
  'createdAt',
  'updatedAt',
] as const;

const EXPRESSIONS = ['condition', 'consensus', 'time'] as const;

/** A policy of a file. Without an id it goes by its name. */
export interface NamedPolicy extends Policy {
  readonly name: string;
}

export interface ReadPolicy {
  readonly policy: NamedPolicy;
  readonly cursor: Cursor;
}

/** Policies as create_policy takes them or list_policies answers them: listed here, or the name of a file that does. */
export function readPolicies(cursor: Cursor, file: string, problems: FileProblem[]): ReadPolicy[] {
  if (typeof cursor.value === 'string') {
    const named = resolve(dirname(file), cursor.value);
    return readPolicyList(openPolicyFile(named), problems);
  }
  return readPolicyList(cursor, problems);
}

/** A bare list, or an answer of list_policies. */
function openPolicyFile(file: string): Cursor {
  const cursor = openFile(file);
  if (Array.isArray(cursor.value)) return cursor;
  return required(cursor, cursor.members('a file of policies', ['policies', 'pageInfo']), 'policies');
}

function readPolicyList(list: Cursor, problems: FileProblem[]): ReadPolicy[] {
  const taken = new Set<string>();
  return collect(list.items('"policies"'), problems, (item, index) => {
    const read = readPolicy(item, index);
    for (const key of new Set([read.policy.name, read.policy.id])) {
      if (taken.has(key)) read.cursor.fail('there is another policy of this name or id');
      taken.add(key);
    }
    return read;
  });
}

function readPolicy(item: Cursor, index: number): ReadPolicy {
  const unnamed = item.within(`policy ${index + 1}`);
  const name = required(unnamed, Object.fromEntries(unnamed.entries('a policy')), 'policyName').text('"policyName"');
  const cursor = item.within(`policy '${name}'`);
  const members = cursor.members('a policy', FIELDS);
  const expressions = EXPRESSIONS.map((field) => [field, readExpression(members[field])]);
  members.notes?.text('"notes"');
  return {
    cursor,
    policy: {
      id: members.policyId?.text('"policyId"') ?? name,
      name,
      effect: required(cursor, members, 'effect').oneOf('"effect"', ['EFFECT_ALLOW', 'EFFECT_DENY']),
      ...Object.fromEntries(expressions),
    },
  };
}

/** A text, or for a long one a list of its lines. */
function readExpression(cursor: Cursor | undefined): string {
  if (cursor === undefined || cursor.value === null) return '';
  if (typeof cursor.value === 'string') return cursor.value;
  if (!Array.isArray(cursor.value)) return cursor.fail('an expression is a text, or a list of its lines');
  const lines = cursor.items('an expression').map((line) => line.text('a line of an expression'));
  return lines.join('\n');
}

/** Refuses what the service would refuse. */
export function requireCompiling(
  policies: readonly ReadPolicy[],
  cache: ExpressionCache,
  problems: FileProblem[],
): void {
  for (const { policy, cursor } of policies) {
    const wrong = checkPolicy(policy, cache);
    collect(wrong, problems, ({ expression, error, message }) =>
      // The place of the line where the expression is a list of lines, and of the whole expression otherwise.
      cursor.fail(message, [expression, error.line - 1]),
    );
  }
}

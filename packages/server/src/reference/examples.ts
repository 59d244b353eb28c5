import type { TSchema } from 'typebox';
import type { ActivityOperation, Operation } from '../engine/define.ts';
import { sha256Hex } from '../lib/encoding.ts';
import { ORGANIZATION_ID, TELLING, TIMESTAMP_MS, VALUES } from './example-values.ts';
import { isRequired, type SchemaNode, toNode } from './schema-node.ts';

/** A body that the operation accepts; throws if it does not, so that no page shows one that fails. */
export function exampleBody(operation: Operation): unknown {
  if (operation.kind === 'query') {
    const body = { ...(exampleOf(toNode(operation.schema)) as object), ...operation.example };
    operation.decode(body);
    return body;
  }
  const [version] = operation.kind === 'activity' ? operation.versions : [operation];
  if (version === undefined) throw new Error(`${operation.name} has no version`);
  const told = operation.kind === 'activity' ? operation.example : {};
  const parameters = { ...(exampleOf(toNode(version.schema)) as object), ...told };
  version.decode(parameters);
  return { type: version.type, timestampMs: TIMESTAMP_MS, organizationId: ORGANIZATION_ID, parameters };
}

/** What the operation answers to that body. */
export function exampleAnswer(operation: Operation): unknown {
  if (operation.kind === 'query') return exampleReply(operation.response);
  return { activity: operation.kind === 'activity' ? exampleActivity(operation) : VOTED };
}

/** Something of a shape, with all of its fields. */
export const exampleReply = (schema: TSchema): unknown => fullExampleOf(toNode(schema));

const TIME = '2026-01-01T00:00:00.000Z';

const activityOf = (type: string, intent: object, result: object, fingerprint: string) => ({
  id: '0195d1f0-91c2-7a05-8a6e-0c1d2e3f4a5b',
  organizationId: ORGANIZATION_ID,
  status: 'ACTIVITY_STATUS_COMPLETED',
  type,
  intent,
  result,
  votes: [],
  fingerprint,
  canApprove: false,
  canReject: false,
  createdAt: TIME,
  updatedAt: TIME,
});

function exampleActivity(operation: ActivityOperation) {
  const body = exampleBody(operation) as { readonly parameters: unknown };
  const [version] = operation.versions;
  if (version === undefined) throw new Error(`${operation.name} has no version`);
  return activityOf(
    version.type,
    { [version.intentKey]: body.parameters },
    { [version.resultKey]: exampleReply(operation.result) },
    `sha256:${sha256Hex(JSON.stringify(body))}`,
  );
}

/** Of an activity that a vote was given on. */
const VOTED = activityOf(
  'ACTIVITY_TYPE_UPDATE_WALLET',
  { updateWalletIntent: { walletId: '0195d1f0-8e11-7f3c-b0a4-5d6e7f8091a2', walletName: 'Treasury' } },
  { updateWalletResult: { walletId: '0195d1f0-8e11-7f3c-b0a4-5d6e7f8091a2' } },
  `sha256:${'0123456789abcdef'.repeat(4)}`,
);

/** What an answer may hold, which has no bounds of its own. */
function fullExampleOf(node: SchemaNode, name = ''): unknown {
  const told = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  if (typeof told === 'string' && node.type === 'string' && node.enum === undefined) return told;
  if (node.const !== undefined) return node.const;
  if (node.enum !== undefined) return node.enum.includes(told as string) ? told : node.enum[0];
  if (node.anyOf !== undefined) return fullExampleOf(toNode(node.anyOf[0] ?? {}), name);
  switch (node.type) {
    case 'object': {
      const properties = Object.entries(node.properties ?? {});
      return Object.fromEntries(properties.map(([key, property]) => [key, fullExampleOf(toNode(property), key)]));
    }
    case 'array':
      return [fullExampleOf(toNode(node.items ?? {}), name.replace(/s$/, ''))];
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return node.minimum ?? 1;
    case 'string':
      return /At$/.test(name)
        ? TIME
        : name === 'seconds'
          ? '1767225600'
          : name === 'nanos'
            ? '0'
            : exampleText(node, name);
    default:
      return {};
  }
}

/** A body of a call that has no stamp. */
export const exampleCallBody = (schema: TSchema): unknown => exampleOf(toNode(schema));

/** Required fields, and the telling ones of the others. */
function exampleOf(node: SchemaNode, name = ''): unknown {
  const isText = typeof VALUES[name] === 'string';
  const isTold =
    Object.hasOwn(VALUES, name) &&
    !(isText && node.type === 'object') &&
    (node.enum?.includes(VALUES[name] as string) ?? true);
  if (isTold) return node['x-decimal'] ? String(VALUES[name]) : VALUES[name];
  if (node.enum !== undefined) return node.enum[0];
  switch (node.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(node.properties ?? {})
          .filter(([key]) => isRequired(node, key) || TELLING.includes(key))
          .map(([key, property]) => [key, exampleOf(toNode(property), key)]),
      );
    case 'array': {
      const isEmpty = (node.minItems ?? 0) === 0 && !TELLING.includes(name);
      return isEmpty ? [] : [exampleOf(toNode(node.items ?? {}), name.replace(/s$/, ''))];
    }
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return node.minimum ?? 1;
    default:
      return exampleText(node, name);
  }
}

function exampleText(node: SchemaNode, name: string): string {
  if (node.pattern?.startsWith('^sha256:')) return `sha256:${'0123456789abcdef'.repeat(4)}`;
  if (node.pattern?.includes('@')) return 'alice@example.com';
  if (/(^i|I)ds?$/.test(name)) return '0195d1f0-8e11-7f3c-b0a4-5d6e7f8091a2';
  if (node['x-decimal']) return '3600';
  return 'text';
}

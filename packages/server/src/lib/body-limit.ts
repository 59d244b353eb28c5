import type { TSchema } from 'typebox';
import { UUID_PATTERN } from './ids.ts';
import { LIMITS } from './limits.ts';

interface SizedNode {
  readonly type?: string;
  readonly anyOf?: readonly SizedNode[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: SizedNode;
  readonly properties?: Readonly<Record<string, SizedNode>>;
}

/** Type, organization, timestamp and white space. */
const ENVELOPE_BYTES = 4096;
const NUMBER_BYTES = 24;
const ID_BYTES = 38;
/** Of a text whose pattern alone bounds it: names, decimal numbers, chains. */
const SHORT_TEXT_BYTES = 256;
/** Longer texts may be JSON or code, whose quotation marks are escaped in the body. */
const ESCAPED_LENGTH_MIN = 1024;

/**
 * The largest body that an operation reads (docs/decisions/0033), in steps of 64 KiB: as much as its schema has a use
 * for. Where a schema admits more than any request may have, the operation has to state a limit of its own.
 */
export function bodyLimitOf(name: string, schemas: readonly TSchema[], stated: number | undefined): number {
  const needed = ENVELOPE_BYTES + Math.max(...schemas.map((schema) => sizeOf(schema as SizedNode, false)));
  const limit = stated ?? Math.ceil(needed / LIMITS.defaultBodyBytes) * LIMITS.defaultBodyBytes;
  if (limit > LIMITS.bodyBytes) {
    throw new Error(`${name} admits bodies of ${needed} bytes: state a bodyLimit of at most ${LIMITS.bodyBytes}`);
  }
  return limit;
}

/** How long a value's JSON text may be. A list inside a list counts with one element: hardly any request fills both. */
function sizeOf(node: SizedNode, isListed: boolean): number {
  if (node.anyOf !== undefined) return Math.max(...node.anyOf.map((option) => sizeOf(option, isListed)));
  if (node.const !== undefined) return JSON.stringify(node.const).length;
  if (node.enum !== undefined) return Math.max(...node.enum.map((value) => JSON.stringify(value).length));
  if (node.type === 'string') return textSize(node);
  if (node.items !== undefined) {
    return 2 + (isListed ? 1 : (node.maxItems ?? LIMITS.listItems)) * (1 + sizeOf(node.items, true));
  }
  if (node.properties !== undefined) {
    return Object.entries(node.properties).reduce(
      (sum, [key, property]) => sum + key.length + 4 + sizeOf(property, isListed),
      2,
    );
  }
  // A value of any shape, as in what a simulation supposes, may be a whole request.
  return node.type === 'object' ? Number.POSITIVE_INFINITY : NUMBER_BYTES;
}

function textSize({ maxLength, pattern }: SizedNode): number {
  if (pattern === UUID_PATTERN) return ID_BYTES;
  if (maxLength === undefined) return SHORT_TEXT_BYTES;
  const isFree = pattern === undefined || pattern.startsWith('^[^');
  return 2 + (isFree && maxLength > ESCAPED_LENGTH_MIN ? 2 * maxLength : maxLength);
}

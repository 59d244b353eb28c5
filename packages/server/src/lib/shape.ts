import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { ApiError, type ErrorCode, type FieldViolation } from './errors.ts';

/** Keys that our shapes add to JSON Schema; the generators leave them out. */
export interface ShapeHints {
  /** A decimal string in which a JSON integer is accepted too (protocol/http 2.3). */
  readonly 'x-decimal'?: true;
  /** Surrounding white space is dropped before the length is judged. */
  readonly 'x-trim'?: true;
  /** Lower-cased before it is judged, as ids are. */
  readonly 'x-lower'?: true;
  /** What a caller reads instead of the library's message. */
  readonly 'x-message'?: string;
  /** The whole text of the refusal where it is missing or empty, for clients that know it. */
  readonly 'x-missing'?: string;
  /** The error code of a refusal, where it is not REQUEST_INVALID. */
  readonly 'x-code'?: ErrorCode;
}

interface SchemaNode extends ShapeHints {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
}

const VIOLATIONS_MAX = 20;

/** Turns a parsed JSON value into what the schema describes, or throws REQUEST_INVALID naming each wrong field. */
export type Decoder<S extends TSchema> = (value: unknown, root?: string) => Static<S>;

export function decoder<S extends TSchema>(schema: S): Decoder<S> {
  // With the first value: to compile every schema would take most of the start.
  let compiled: ReturnType<typeof Compile> | undefined;
  return (value, root = '') => {
    compiled ??= Compile(schema);
    const normal = normalize(schema as SchemaNode, value);
    if (compiled.Check(normal)) return normal as Static<S>;
    throw refusal(schema as SchemaNode, compiled.Errors(normal), root);
  };
}

/**
 * A copy that holds only what the schema knows: null in an optional field is absent, an integer becomes the decimal
 * string that is specified, unknown fields are left out. The signed bytes keep everything (protocol/http 2.3).
 */
function normalize(schema: SchemaNode, value: unknown): unknown {
  if (schema.properties !== undefined && isObject(value)) {
    const out: Record<string, unknown> = {};
    for (const [key, property] of Object.entries(schema.properties)) {
      if (!Object.hasOwn(value, key)) continue;
      const field = value[key];
      if (field === null && !schema.required?.includes(key)) continue;
      out[key] = normalize(property, field);
    }
    return out;
  }
  if (schema.items !== undefined && Array.isArray(value)) {
    const items = schema.items;
    return value.map((item) => normalize(items, item));
  }
  if (schema['x-decimal'] && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'string') {
    const trimmed = schema['x-trim'] ? value.trim() : value;
    return schema['x-lower'] ? trimmed.toLowerCase() : trimmed;
  }
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface LibraryError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

function refusal(schema: SchemaNode, errors: readonly LibraryError[], root: string): ApiError {
  const violations: FieldViolation[] = [];
  const seen = new Set<string>();
  let whole: string | undefined;
  for (const error of errors) {
    const path = error.instancePath.split('/').slice(1);
    const missing =
      error.keyword === 'required'
        ? (error.params as { requiredProperties: string[] }).requiredProperties
        : [undefined];
    for (const name of missing) {
      const field = [root, ...path, name].filter((part) => part !== undefined && part !== '').join('.');
      if (seen.has(field) || violations.length >= VIOLATIONS_MAX) continue;
      seen.add(field);
      const isMissing = name !== undefined || error.keyword === 'minLength';
      const known = isMissing ? nodeAt(schema, name === undefined ? path : [...path, name])?.['x-missing'] : undefined;
      if (violations.length === 0) whole = known;
      const described = name === undefined ? describe(schema, path, error) : 'is required';
      violations.push({ field, description: known ?? described });
    }
  }
  const only = violations.length === 1 && errors[0]?.keyword !== 'type' ? errors[0] : undefined;
  const code = only && nodeAt(schema, only.instancePath.split('/').slice(1))?.['x-code'];
  const [first] = violations;
  const message =
    first === undefined ? 'the request does not match its schema' : `${first.field || 'body'}: ${first.description}`;
  return new ApiError(code ?? 'REQUEST_INVALID', whole ?? message, { violations });
}

function nodeAt(schema: SchemaNode, path: readonly string[]): SchemaNode | undefined {
  let node: SchemaNode | undefined = schema;
  for (const part of path) node = node?.properties?.[part] ?? node?.items;
  return node;
}

function describe(schema: SchemaNode, path: readonly string[], error: LibraryError): string {
  const node = nodeAt(schema, path);
  if (error.keyword === 'enum') {
    return `must be one of ${(error.params as { allowedValues: unknown[] }).allowedValues.join(', ')}`;
  }
  if (error.keyword !== 'type' && node?.['x-message'] !== undefined) return node['x-message'];
  return error.message;
}

import type { Operation } from '../../src/engine/define.ts';
import type { ErrorCode } from '../../src/lib/errors.ts';

/** A JSON Schema as the operations declare it, with the hints of their decoder. */
export interface Shape {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly 'x-decimal'?: true;
  readonly 'x-trim'?: true;
  readonly 'x-lower'?: true;
  readonly 'x-code'?: ErrorCode;
}

/** A place in the parameters; `0` stands for the first item of a list. */
export interface Field {
  readonly path: readonly string[];
  readonly shape: Shape;
  readonly required: boolean;
}

export interface Version {
  /** Undefined for a query. */
  readonly type: string | undefined;
  readonly shape: Shape;
}

/** What a request of this operation can look like: each accepted type, or the one body of a query. */
export function versionsOf(operation: Operation): readonly Version[] {
  switch (operation.kind) {
    case 'activity':
      return operation.versions.map(({ type, schema }) => ({ type, shape: schema as Shape }));
    case 'vote':
      return [{ type: operation.type, shape: operation.schema as Shape }];
    case 'query':
      return [{ type: undefined, shape: operation.schema as Shape }];
  }
}

/** Every field at every depth, list items included. */
export function fieldsOf(shape: Shape, path: readonly string[] = []): Field[] {
  const here: Field[] = Object.entries(shape.properties ?? {}).map(([name, property]) => ({
    path: [...path, name],
    shape: property,
    required: shape.required?.includes(name) ?? false,
  }));
  if (shape.items !== undefined) here.push({ path: [...path, '0'], shape: shape.items, required: true });
  return here.flatMap((field) => [field, ...fieldsOf(field.shape, field.path)]);
}

export function read(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, step) => (inner as Record<string, unknown> | undefined)?.[step], value);
}

/** A copy with another value at the path; `undefined` takes the member out. */
export function withValue<T>(value: T, path: readonly string[], replacement: unknown): T {
  const copy = structuredClone(value);
  const last = path.at(-1) as string;
  const holder = read(copy, path.slice(0, -1)) as Record<string, unknown> | undefined;
  if (holder === undefined) throw new Error(`nothing holds ${path.join('.')}`);
  if (replacement === undefined) delete holder[last];
  else
    Object.defineProperty(holder, last, { value: replacement, enumerable: true, writable: true, configurable: true });
  return copy;
}

/** Only what the shape knows, so that one table entry serves every version of an operation. */
export function prune(shape: Shape, value: unknown): unknown {
  if (shape.properties !== undefined && typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(shape.properties)
        .filter(([name]) => Object.hasOwn(value, name))
        .map(([name, property]) => [name, prune(property, (value as Record<string, unknown>)[name])]),
    );
  }
  if (shape.items !== undefined && Array.isArray(value)) return value.map((item) => prune(shape.items as Shape, item));
  return value;
}

/** Whether the shape allows the value, judged by the words of the schema alone. */
export function allows(shape: Shape, value: unknown): boolean {
  if (shape.enum !== undefined) return shape.enum.includes(value);
  switch (shape.type) {
    case 'string':
      return allowsText(shape, shape['x-decimal'] && Number.isSafeInteger(value) ? String(value) : value);
    case 'integer':
      return (
        Number.isInteger(value) &&
        (value as number) >= (shape.minimum ?? -Infinity) &&
        (value as number) <= (shape.maximum ?? Infinity)
      );
    case 'boolean':
      return typeof value === 'boolean';
    case 'array':
      return (
        Array.isArray(value) &&
        value.length >= (shape.minItems ?? 0) &&
        value.length <= (shape.maxItems ?? Infinity) &&
        value.every((item) => allows(shape.items ?? {}, item))
      );
    case 'object':
      return allowsObject(shape, value);
    default:
      return true;
  }
}

function allowsText(shape: Shape, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const trimmed = shape['x-trim'] ? value.trim() : value;
  const judged = shape['x-lower'] ? trimmed.toLowerCase() : trimmed;
  const { minLength = 0, maxLength = Infinity } = shape;
  // In code points, which are one or two of these units each: they are counted only where that decides.
  if (judged.length > 2 * maxLength) return false;
  const isClose = judged.length > maxLength || judged.length < 2 * minLength;
  const length = isClose ? [...judged].length : minLength;
  if (length < minLength || length > maxLength) return false;
  return shape.pattern === undefined || new RegExp(shape.pattern, 'u').test(judged);
}

function allowsObject(shape: Shape, value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(shape.properties ?? {}).every(([name, property]) => {
    const member = (value as Record<string, unknown>)[name];
    return member === undefined || member === null ? !shape.required?.includes(name) : allows(property, member);
  });
}

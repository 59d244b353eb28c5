import { allows, type Field, read, withValue } from './schema.ts';

/** A request that is wrong in one place. */
export interface Mutation {
  readonly label: string;
  readonly field: Field;
  readonly parameters: Record<string, unknown>;
  /** Whether the schema refuses it; otherwise the operation may take it or not. */
  readonly refused: boolean;
  /** One of the few that tell whether a shape is asked for at all. */
  readonly isTelling: boolean;
}

const TELLING: ReadonlySet<string> = new Set([
  'null',
  'missing',
  'boolean',
  'list around it',
  'number 1.5',
  'text "a\\u0000b"',
  'with a control character',
  'one character too long',
  'one item too many',
]);

export const MEBIBYTE = 1024 * 1024;
/** What is larger is refused as a body before any field is looked at. */
const VALUE_BYTES_MAX = 1_500_000;

/** Values for members that only requests outside this version's features have. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  verificationToken: 'token',
  clientSignature: { publicKey: 'k', scheme: 's', message: 'm', signature: 's' },
  oauthProviders: [{ providerName: 'p', oidcToken: 't', oidcClaims: { iss: 'i', sub: 's', aud: 'a' } }],
  paginationOptions: { limit: '1', after: '00000000-0000-7000-8000-000000000000' },
  before: '00000000-0000-7000-8000-000000000000',
  expirationSeconds: '600',
  filterType: 'NAME',
  filterValue: 'x',
  activityExecution: { filter: { activity: [{ activityType: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS' }] } },
  submission: {},
  infinite: {},
  user: {},
  wallet: {},
};

/** Numbers that no JavaScript value prints as. */
const EXACT_NUMBERS = ['9007199254740993', '1e21', '1.5', '-1', '0'];
const exact = (number: string): string => `@exact:${number}@`;

/** JSON text in which the marked numbers stand as they are. */
export const toJson = (value: unknown): string => JSON.stringify(value).replace(/"@exact:([^@"]+)@"/g, '$1');

/** Everything that is wrong with one field in turn; what takes long only where it is asked for. */
export function* mutationsOf(field: Field, valid: Record<string, unknown>, isThorough: boolean): Generator<Mutation> {
  const { path, shape, required } = field;
  const base = filled(valid, path);
  if (base === undefined) return;
  const make = (label: string, value: unknown, refused: boolean): Mutation => ({
    label: `${path.join('.')}: ${label}`,
    field,
    parameters: withValue(base, path, value),
    refused,
    isTelling: TELLING.has(label),
  });
  const isItem = path.at(-1) === '0';
  if (required) yield make('null', null, !allows(shape, null));
  if (required && !isItem) yield make('missing', undefined, true);
  for (const [label, value] of wrongValues(field, read(base, path), isThorough)) {
    if (typeof value === 'string' && Buffer.byteLength(value) > VALUE_BYTES_MAX) continue;
    yield make(label, value, !allows(shape, unmarked(value)));
  }
}

const unmarked = (value: unknown): unknown =>
  typeof value === 'string' && value.startsWith('@exact:') ? Number(value.slice(7, -1)) : value;

function* wrongValues({ shape }: Field, current: unknown, isThorough: boolean): Generator<readonly [string, unknown]> {
  yield ['boolean', true];
  yield ['empty list', []];
  yield ['empty object', {}];
  yield ['list around it', [current]];
  yield ['object around it', { value: current }];
  yield ['list of null', [null]];
  for (const number of EXACT_NUMBERS) yield [`number ${number}`, exact(number)];
  for (const text of ['', ' ', 'NO_SUCH_VALUE', '1', 'a\u0000b', 'a\nb', '\u007f', "' OR 1=1 --"]) {
    yield [`text ${JSON.stringify(text)}`, text];
  }
  if (typeof current === 'string') {
    yield ['with a control character', `${current}\u0000`];
    yield ['with a space inside', `${current.slice(0, 1)} ${current.slice(1)}`];
  }
  if (shape.type === 'string' || shape.enum !== undefined) {
    if (isThorough) yield ['a mebibyte', 'a'.repeat(MEBIBYTE)];
    const max = shape.maxLength ?? 255;
    yield ['one character too long', 'a'.repeat(max + 1)];
    yield ['one code point too long', '\u{1f600}'.repeat(max + 1)];
    yield ['one combining mark too long', `e${'\u0301'.repeat(max)}`];
  }
  if (Array.isArray(current) && shape.maxItems !== undefined) {
    const items = Array.from({ length: shape.maxItems + 1 }, () => current[0] ?? {});
    yield ['one item too many', JSON.stringify(items).length < VALUE_BYTES_MAX ? items : items.map(() => ({}))];
    yield ['a null item at the end', [...current, null]];
  }
}

/** The request with sample values where the path leads through members it does not have. */
function filled(valid: Record<string, unknown>, path: readonly string[]): Record<string, unknown> | undefined {
  let base = valid;
  for (let length = 1; length <= path.length; length += 1) {
    const here = path.slice(0, length);
    const current = read(base, here);
    const isMissing = current === undefined || (Array.isArray(current) && current.length === 0 && length < path.length);
    if (!isMissing) continue;
    const sample = SAMPLES[here.at(-1) as string];
    if (sample === undefined && length < path.length) return undefined;
    base = withValue(base, here, sample ?? 'sample');
  }
  return base;
}

/** Members that a careless reader would look up on every object. */
const STRANGE_KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'unknownField'];

/** The same with members that nobody knows in every object. */
export function withStrangers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withStrangers);
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) copy[key] = withStrangers(member);
  for (const key of STRANGE_KEYS) {
    const stranger = { isRoot: true, length: [1, null, { deep: 'x' }] };
    Object.defineProperty(copy, key, { value: stranger, enumerable: true });
  }
  return copy;
}

import Type, { type TSchema } from 'typebox';
import { UUID_PATTERN } from './ids.ts';
import { LIMITS } from './limits.ts';

/** The largest integer that JSON numbers carry exactly. */
const INTEGER_MAX = Number.MAX_SAFE_INTEGER;

export const IdShape = Type.String({ pattern: UUID_PATTERN, 'x-lower': true, 'x-message': 'must be an id (UUID)' });

export const IdListShape = Type.Array(IdShape, { minItems: 1, maxItems: LIMITS.listItems });
export const IdListOrEmptyShape = Type.Array(IdShape, { maxItems: LIMITS.listItems });

export const NameShape = Type.String({
  // Code points, so that the bound does not depend on how a character is encoded.
  pattern: `^[^\\u0000-\\u001f\\u007f-\\u009f]{1,${LIMITS.nameLength}}$`,
  'x-trim': true,
  'x-message': `must be 1 to ${LIMITS.nameLength} characters without control characters`,
});

/** What somebody looks for. */
export const SearchTextShape = Type.String({
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]{1,200}$',
  'x-trim': true,
  'x-message': 'must be 1 to 200 characters without control characters',
});

/** Any text up to a bound. */
export const textShape = (maxLength: number) =>
  // PostgreSQL cannot hold the character, and no identifier of ours has it.
  Type.String({
    maxLength,
    pattern: '^[^\\u0000]*$',
    'x-message': `must be at most ${maxLength} characters without U+0000`,
  });

export const integerShape = (minimum: number, maximum = INTEGER_MAX) => Type.Integer({ minimum, maximum });

export const listShape = <Item extends TSchema>(item: Item, minItems = 0) =>
  Type.Array(item, { minItems, maxItems: LIMITS.listItems });

export const TimestampShape = Type.Object({ seconds: Type.String(), nanos: Type.String() });

export const PaginationShape = Type.Object({
  limit: Type.Optional(Type.String({ 'x-decimal': true })),
  before: Type.Optional(Type.String()),
  after: Type.Optional(Type.String()),
});

export const PageInfoShape = Type.Object({
  hasNextPage: Type.Boolean(),
  hasPreviousPage: Type.Boolean(),
  startCursor: Type.String(),
  endCursor: Type.String(),
});

// Section 5. `hex` and `address` are text, `int`, `uint` and `loose` are numbers; they differ in how values are read.

export type ScalarName = 'bool' | 'int' | 'uint' | 'loose' | 'string' | 'hex' | 'address' | 'timestamp' | 'any';

export type Type =
  | { readonly kind: ScalarName }
  | { readonly kind: 'list'; readonly element: Type }
  | { readonly kind: 'map'; readonly element: Type }
  | { readonly kind: 'struct'; readonly name: string }
  /** The element of `[]`, which fits any list. */
  | { readonly kind: 'nothing' }
  /** What an expression that was already refused yields: it fits everywhere, so that one mistake is reported once. */
  | { readonly kind: 'refused' };

/** How a type behaves under operators. */
export type Category = 'bool' | 'number' | 'loose' | 'text' | 'timestamp' | 'any' | 'nothing' | 'refused' | 'composite';

const CATEGORIES: Record<Type['kind'], Category> = {
  bool: 'bool',
  int: 'number',
  uint: 'number',
  loose: 'loose',
  string: 'text',
  hex: 'text',
  address: 'text',
  timestamp: 'timestamp',
  any: 'any',
  list: 'composite',
  map: 'composite',
  struct: 'composite',
  nothing: 'nothing',
  refused: 'refused',
};

const SCALAR_NAMES: readonly string[] = [
  'bool',
  'int',
  'uint',
  'loose',
  'string',
  'hex',
  'address',
  'timestamp',
  'any',
] satisfies ScalarName[];

export const categoryOf = (type: Type): Category => CATEGORIES[type.kind];

/** Reads the notation of the struct tables: `int`, `list<User>`, `map<any>`; what is none of these is a struct. */
export function parseType(notation: string): Type {
  const composite = /^(list|map)<(.+)>$/.exec(notation);
  if (composite) return { kind: composite[1] as 'list' | 'map', element: parseType(composite[2]!) };
  if (SCALAR_NAMES.includes(notation)) return { kind: notation as ScalarName };
  return { kind: 'struct', name: notation };
}

/** Whether `==` exists between the two; also what `in` and `contains` ask of element and list. */
export function areComparable(left: Type, right: Type): boolean {
  const a = categoryOf(left);
  const b = categoryOf(right);
  if (a === 'composite' || b === 'composite') return false;
  if (a === b || a === 'refused' || b === 'refused' || a === 'nothing' || b === 'nothing') return true;
  return isDynamicPair(a, b) || isDynamicPair(b, a);
}

function isDynamicPair(a: Category, b: Category): boolean {
  if (a === 'any') return b !== 'timestamp';
  return a === 'loose' && (b === 'number' || b === 'text');
}

/** Whether `<`, `<=`, `>` and `>=` exist between the two. */
export function areOrdered(left: Type, right: Type): boolean {
  const a = categoryOf(left);
  const b = categoryOf(right);
  if (a === 'refused' || b === 'refused') return true;
  if (a === 'timestamp' || b === 'timestamp') return a === b;
  return canBeNumber(left) && canBeNumber(right);
}

export function canBeNumber(type: Type): boolean {
  return ['number', 'loose', 'any', 'refused'].includes(categoryOf(type));
}

export function canBeText(type: Type): boolean {
  return ['text', 'any', 'refused'].includes(categoryOf(type));
}

/** The common element type of a list literal, or undefined when the two do not share a list. */
export function join(left: Type, right: Type): Type | undefined {
  if (left.kind === 'refused' || right.kind === 'refused') return { kind: 'refused' };
  if (left.kind === 'nothing') return right;
  if (right.kind === 'nothing') return left;
  if (left.kind === 'struct' && right.kind === 'struct') return left.name === right.name ? left : undefined;
  if ((left.kind === 'list' || left.kind === 'map') && left.kind === right.kind) {
    const element = join(left.element, (right as typeof left).element);
    return element && { kind: left.kind, element };
  }
  if (left.kind === right.kind) return left;
  const category = categoryOf(left);
  if (category === 'composite' || category !== categoryOf(right)) return undefined;
  return category === 'number' ? { kind: 'uint' } : { kind: 'string' };
}

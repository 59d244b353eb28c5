// protocol/policies 5.1. `hex` and `address` are text, `int`, `uint` and `loose` are numbers; they differ in how values
// are read.

export type ScalarName = 'bool' | 'int' | 'uint' | 'loose' | 'string' | 'hex' | 'key' | 'address' | 'timestamp' | 'any';

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
  key: 'text',
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
  'key',
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

/** Whether `==` exists between the two. */
export function areComparable(left: Type, right: Type): boolean {
  const pair = [categoryOf(left), categoryOf(right)];
  return areSameKind(left, right) || (pair.includes('loose') && pair.includes('text'));
}

/** What `in` and `contains` ask of element and list: the same, but text is never the decimal text of a number. */
export function areSameKind(left: Type, right: Type): boolean {
  const [a, b] = [categoryOf(left), categoryOf(right)];
  if (!isComparable(left) || !isComparable(right)) return false;
  if (a === 'refused' || b === 'refused') return true;
  if (a === 'any' || b === 'any') return a !== 'timestamp' && b !== 'timestamp';
  return familyOf(a) === familyOf(b);
}

const familyOf = (category: Category): Category => (category === 'loose' ? 'number' : category);

/** Composite values have no equality, and an element of `[]` does not exist. */
export function isComparable(type: Type): boolean {
  const category = categoryOf(type);
  return category !== 'composite' && category !== 'nothing';
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

/** Whether a value of this type may share a list with dynamic values: decoded data holds no structs and no instants. */
export function canBeDecoded(type: Type): boolean {
  if (type.kind === 'list' || type.kind === 'map') return canBeDecoded(type.element);
  return type.kind !== 'struct' && type.kind !== 'timestamp';
}

/** The common type of two elements of a list literal, or undefined when they do not share a list. */
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
  const category = familyOf(categoryOf(left));
  if (category === 'composite' || category !== familyOf(categoryOf(right))) return undefined;
  return category === 'number' ? { kind: 'uint' } : { kind: 'string' };
}

/** What JSON can say, numbers being whole ones that a double holds exactly. */
export type CanonicalValue = string | number | boolean | readonly CanonicalValue[] | CanonicalObject;

export interface CanonicalObject {
  /** What is undefined is left out. */
  readonly [name: string]: CanonicalValue | undefined;
}

/**
 * The one spelling of a value as JSON (RFC 8785): no white space, names of an object in the order of their UTF-16 code
 * units, strings and numbers as JSON.stringify writes them.
 */
export function canonicalJson(value: CanonicalValue): string {
  if (typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value)
    .flatMap(([name, member]) => (member === undefined ? [] : [[name, member] as const]))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}

const isList = (value: readonly CanonicalValue[] | CanonicalObject): value is readonly CanonicalValue[] =>
  Array.isArray(value);

import {
  type ActivityTypeFacts,
  FactsError,
  factsFromJson,
  type Namespaces,
  type TraceNode,
} from '@custos/server/policy';
import {
  CONDITION_ROOTS,
  fieldOf,
  namespacesOf,
  paramsOf,
  type StructType,
  type Type,
} from '@custos/server/policy-facts';
import type { Cursor } from './cursor.ts';

export type Governed = Extract<ActivityTypeFacts, { readonly governedBy: 'policy' }>;
export type Params = NonNullable<ReturnType<typeof readFacts>['activity']>['params'];

/** The facts of one element, as a case spells them out. */
export function readContext(cursor: Cursor, { type, kind }: Governed): Namespaces {
  if (Object.hasOwn(Object.fromEntries(cursor.entries('a context')), 'activity')) {
    cursor.fail('the activity follows from "activity" and "params"', ['activity']);
  }
  const facts = readFacts(cursor, cursor.value, []);
  requireWholeItems(cursor, CONDITION_ROOTS, cursor.value, []);
  const present = namespacesIn(cursor.value);
  const possible = namespacesOf(kind);
  const known = new Set<string>(possible.flat());
  for (const namespace of present) {
    if (!known.has(namespace)) {
      const names = known.size === 0 ? 'no context' : [...known].join(', ');
      cursor.fail(`${type} has no ${namespace}; it has ${names}`, namespace.split('.'));
    }
  }
  if (!possible.some((together) => present.every((namespace) => (together as readonly string[]).includes(namespace)))) {
    cursor.fail(`one request never has ${present.join(', ')} together`);
  }
  return facts;
}

/** activity.params, as a case spells them out. */
export function readParams(cursor: Cursor | undefined, { type, kind }: Governed): Params {
  if (cursor === undefined) return {};
  const exposed = paramsOf(type, kind);
  for (const [name, member] of cursor.entries('"params"')) {
    if (exposed.includes(name)) continue;
    const names = exposed.length === 0 ? 'none' : exposed.join(', ');
    member.fail(`${type} shows policies no params.${name}; it shows ${names}`);
  }
  return readFacts(cursor, { activity: { params: cursor.value } }, ['activity', 'params']).activity?.params ?? {};
}

function readFacts(cursor: Cursor, json: unknown, prefix: readonly string[]) {
  try {
    return factsFromJson('condition', json);
  } catch (error) {
    if (!(error instanceof FactsError)) throw error;
    const path = error.path.split('.').slice(1 + prefix.length);
    const reason = error.message.slice(error.path.length + 2);
    return cursor.fail(`${path.join('.')}: ${reason}`, path);
  }
}

/** The elements of lists are given whole: which field of which element a policy misses is hard to tell afterwards. */
function requireWholeItems(cursor: Cursor, type: Type, json: unknown, path: readonly (string | number)[]): void {
  if (type.kind === 'list') {
    for (const [index, item] of (json as unknown[]).entries()) {
      if (type.of.kind === 'struct') requireFields(cursor, type.of, item as object, [...path, index]);
      requireWholeItems(cursor, type.of, item, [...path, index]);
    }
  }
  if (type.kind !== 'struct') return;
  for (const [name, value] of Object.entries(json as object)) {
    const found = fieldOf(type, name);
    if (found !== undefined) requireWholeItems(cursor, found.field.type, value, [...path, name]);
  }
}

function requireFields(cursor: Cursor, struct: StructType, item: object, path: readonly (string | number)[]): void {
  for (const [name, { presence }] of Object.entries(struct.fields)) {
    if (presence === 'always' && !Object.hasOwn(item, name)) {
      cursor.fail(`${path.join('.')}: ${struct.name} always has ${name}; give the elements of a list whole`, path);
    }
  }
}

/** The namespaces of a context, as the language writes them. */
export function namespacesIn(json: unknown): string[] {
  return Object.entries(json as object).flatMap(([root, value]) => {
    const type = fieldOf(CONDITION_ROOTS, root)?.field.type;
    const holdsNamespaces =
      type?.kind === 'struct' && Object.values(type.fields).every(({ presence }) => presence === 'keyword');
    return holdsNamespaces ? Object.keys(value as object).map((member) => `${root}.${member}`) : [root];
  });
}

/** What a condition read and a case leaves out; not certain when a request may have something else in its place. */
export interface Omission {
  readonly name: string;
  readonly isCertain: boolean;
}

/** Undefined when whatever a condition missed is really missing in such a request. */
export function omissionIn(
  trace: TraceNode,
  { type, kind }: Governed,
  present: readonly string[],
): Omission | undefined {
  const chain = originOf(trace);
  const [origin] = chain;
  if (origin?.error?.missing === undefined) return undefined;
  const path = pathOf(origin);
  switch (origin.error.missing) {
    case 'parameter': {
      const name = path.split('.').at(-1) ?? '';
      return paramsOf(type, kind).includes(name) ? { name: `params.${name}`, isCertain: true } : undefined;
    }
    case 'keyword': {
      const completions = completionsOf(kind, present);
      const name = chain.map(pathOf).find((candidate) => completions.some((together) => together.includes(candidate)));
      if (name === undefined) return undefined;
      return { name, isCertain: completions.every((together) => together.includes(name)) };
    }
    case 'field':
      return isAlwaysPresent(path) ? { name: path, isCertain: true } : undefined;
  }
}

/** The node that failed first, then those around it. */
function originOf(trace: TraceNode): TraceNode[] {
  if (trace.error === undefined) return [];
  const inner = trace.children.find(({ error }) => error !== undefined);
  return inner === undefined ? [trace] : [...originOf(inner), trace];
}

const pathOf = ({ text }: TraceNode): string => text.replace(/\s+/g, '');

/** The smallest sets of namespaces that a request with the present ones can have. */
function completionsOf(kind: string, present: readonly string[]): readonly (readonly string[])[] {
  const fitting = namespacesOf(kind).filter((together) =>
    present.every((namespace) => (together as readonly string[]).includes(namespace)),
  );
  return fitting.filter(
    (together) =>
      !fitting.some(
        (other) => other.length < together.length && other.every((namespace) => together.includes(namespace)),
      ),
  );
}

function isAlwaysPresent(path: string): boolean {
  let type: Type | undefined = CONDITION_ROOTS;
  let isAlways = false;
  for (const name of path.split('.')) {
    const found: ReturnType<typeof fieldOf> = type?.kind === 'struct' ? fieldOf(type, name) : undefined;
    if (found === undefined) return false;
    isAlways = found.field.presence === 'always';
    type = found.field.type;
  }
  return isAlways;
}

import { ENUMS, type ExpressionKind, FIELDS, FUNCTIONS, LITERALS } from '../../../generated/policy-language.ts';

export interface Suggestion {
  readonly label: string;
  /** What is written in place of the label, where that differs. */
  readonly apply?: string;
  readonly detail: string;
  readonly doc?: string;
  readonly kind: 'field' | 'function' | 'value';
}

export interface Suggestions {
  /** Where in the text that is replaced begins. */
  readonly from: number;
  readonly suggestions: readonly Suggestion[];
}

/** The value that is being typed between quotes, and the field that it is compared with. */
const VALUE = /([\w.]+)\s*(?:==|!=|in)\s*\[?(?:\s*'[^']*'\s*,)*\s*'([^']*)$/;
const PATH = /[A-Za-z_](?:[\w.]|\[[^\]]*\])*$/;
const METHOD = /[\w)\]]\.(\w*)$/;
const LAMBDA = /((?:[A-Za-z_](?:[\w.]|\[[^\]]*\])*))\.(?:any|all|filter)\(\s*(\w+)\s*,/g;

/** What can be written at the end of `before`, in one of the expressions of a policy. */
export function suggest(before: string, kind: ExpressionKind): Suggestions | undefined {
  const value = VALUE.exec(before);
  if (value !== null) {
    const [, field = '', typed = ''] = value;
    return from(
      before,
      typed,
      (ENUMS[field] ?? []).map((label) => ({ label, detail: '', kind: 'value' })),
    );
  }
  if (isWithinText(before)) return undefined;
  const path = PATH.exec(before)?.[0] ?? '';
  const fields = from(before, path, [...fieldsFor(path, before, kind), ...(path.includes('.') ? [] : alone(kind))]);
  if (fields.suggestions.some(({ label }) => label.startsWith(path)) && !path.endsWith('.')) return fields;
  const method = METHOD.exec(before);
  if (method === null) return fields;
  const methods = methodsAfter(path, before, kind);
  if (fields.suggestions.length === 0) return from(before, method[1] ?? '', methods);
  const head = path.slice(0, path.lastIndexOf('.') + 1);
  return {
    from: fields.from,
    suggestions: [
      ...fields.suggestions,
      ...methods.map((one) => ({ ...one, label: `${head}${one.label}`, apply: `${head}${one.apply ?? one.label}` })),
    ],
  };
}

const from = (before: string, typed: string, suggestions: readonly Suggestion[]): Suggestions => ({
  from: before.length - typed.length,
  suggestions,
});

/** An odd number of quotes: what is typed is text of its author. */
const isWithinText = (before: string): boolean => (before.match(/'/g)?.length ?? 0) % 2 === 1;

/** Names that a function gives to the elements of a list, with where those are. */
function variablesIn(before: string): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const [, list = '', name = ''] of before.matchAll(LAMBDA)) variables.set(name, `${resolve(list, variables)}[]`);
  return variables;
}

/** A path as the catalog writes it: without indexes, and from the list that a variable stands for. */
function resolve(path: string, variables: ReadonlyMap<string, string>): string {
  const plain = path.replace(/\[[^\]]*\]/g, '[]');
  const [first = '', ...rest] = plain.split('.');
  return [variables.get(first) ?? first, ...rest].join('.');
}

function fieldsFor(path: string, before: string, kind: ExpressionKind): readonly Suggestion[] {
  const variables = variablesIn(before);
  const known = FIELDS[kind];
  const dot = path.lastIndexOf('.');
  const typedHead = dot === -1 ? '' : path.slice(0, dot);
  const head = resolve(typedHead, variables);
  const suggestions: Suggestion[] = [];
  if (typedHead === '') {
    for (const name of variables.keys()) suggestions.push({ label: name, detail: 'element', kind: 'field' });
  }
  for (const { path: full, type, doc } of known) {
    const isBelow = typedHead === '' ? !full.includes('[]') : full.startsWith(`${head}.`);
    const tail = typedHead === '' ? full : full.slice(head.length + 1);
    if (!isBelow || tail.includes('[]')) continue;
    suggestions.push({
      label: typedHead === '' ? full : `${typedHead}.${tail}`,
      detail: type,
      kind: 'field',
      ...(doc !== undefined && { doc }),
    });
  }
  return suggestions;
}

const alone = (kind: ExpressionKind): readonly Suggestion[] => [
  ...LITERALS.map((label): Suggestion => ({ label, detail: 'literal', kind: 'value' })),
  ...FUNCTIONS.filter(({ on, only }) => on === undefined && (only === undefined || only === kind)).map(
    ({ name, signature, doc }): Suggestion => ({
      label: name,
      apply: signature,
      detail: 'function',
      doc,
      kind: 'function',
    }),
  ),
];

/** Functions of what stands before the last dot, by its type where that is known. */
function methodsAfter(path: string, before: string, kind: ExpressionKind): readonly Suggestion[] {
  const dot = path.lastIndexOf('.');
  const head = dot === -1 ? '' : resolve(path.slice(0, dot), variablesIn(before));
  const type = FIELDS[kind].find((field) => field.path === head)?.type;
  const wanted =
    type === undefined ? undefined : type.startsWith('list') ? 'list' : type.includes('text') ? 'text' : 'none';
  return FUNCTIONS.filter(({ on }) => on !== undefined && (wanted === undefined || on === wanted)).map(
    ({ name, signature, doc }): Suggestion => ({
      label: name,
      apply: signature.slice(1),
      detail: signature,
      doc,
      kind: 'function',
    }),
  );
}

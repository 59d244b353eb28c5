import { ACTIVITY_TYPES } from '../../packages/server/src/policy/index.ts';
import { type ExpressionKind, ROOTS } from '../../packages/server/src/policy/language/checker.ts';
import { FIELD_DOCS, FUNCTION_DOCS } from '../../packages/server/src/policy/language/docs.ts';
import type { Type } from '../../packages/server/src/policy/language/types.ts';

/** A field as completion shows it; a path has `[]` where an element is read. */
interface Entry {
  readonly path: string;
  readonly type: string;
  readonly doc?: string;
}

/** The language as the console's editor completes and colours it: every keyword and field with its type. */
export function policyLanguage(): string {
  const kinds = ['condition', 'consensus', 'time'] as const;
  const known = new Set(kinds.flatMap((kind) => fieldsOf(kind).map(({ path }) => path)));
  for (const path of Object.keys(FIELD_DOCS)) {
    if (!known.has(path)) throw new Error(`the policy language documents ${path}, which no expression can read`);
  }
  const governed = ACTIVITY_TYPES.flatMap((facts) => (facts.governedBy === 'policy' ? [facts] : []));
  const unique = (values: readonly string[]): string[] => [...new Set(values)].sort();
  const enums = {
    'activity.type': unique(governed.map(({ type }) => type)),
    'activity.kind': unique(governed.map(({ kind }) => kind)),
    'activity.resource': unique(governed.map(({ resource }) => resource)),
    'activity.action': unique(governed.map(({ action }) => action)),
  };
  return `// Written by \`npm run generate\` from the policy language. Do not edit.

export type ExpressionKind = 'condition' | 'consensus' | 'time';

export interface LanguageField {
  /** As it is written, with [] where an element of a list or a key of a map is read. */
  readonly path: string;
  readonly type: string;
  readonly doc?: string;
}

export interface LanguageFunction {
  readonly name: string;
  readonly signature: string;
  readonly doc: string;
  /** Where it can be written; absent: in every expression. */
  readonly only?: ExpressionKind;
  /** What it is called on; absent: it stands by itself. */
  readonly on?: 'list' | 'text';
}

/** What each expression of a policy can read. */
export const FIELDS: Readonly<Record<ExpressionKind, readonly LanguageField[]>> = {
${kinds.map((kind) => `  ${kind}: [\n${fieldsOf(kind).map(line).join('')}  ],\n`).join('')}};

export const FUNCTIONS: readonly LanguageFunction[] = [
${FUNCTION_DOCS.map((row) => `  ${literal(row)},\n`).join('')}];

export const LITERALS: readonly string[] = ['true', 'false'];

/** The values that a field can be compared with. */
export const ENUMS: Readonly<Record<string, readonly string[]>> = {
${Object.entries(enums)
  .map(([path, values]) => `  '${path}': [\n${values.map((value) => `    '${value}',\n`).join('')}  ],\n`)
  .join('')}};
`;
}

const line = ({ path, type, doc }: Entry): string =>
  `    { path: ${literal(path)}, type: ${literal(type)}${doc === undefined ? '' : `, doc: ${literal(doc)}`} },\n`;

function fieldsOf(kind: ExpressionKind): Entry[] {
  const found: Entry[] = [];
  const visit = (type: Type, path: string): void => {
    if (path !== '') found.push({ path, type: nameOf(type), ...docOf(path) });
    if (type.kind === 'struct') {
      for (const [name, field] of Object.entries(type.fields))
        visit(field.type, path === '' ? name : `${path}.${name}`);
    }
    if ((type.kind === 'list' || type.kind === 'map') && type.of.kind === 'struct') {
      for (const [name, field] of Object.entries(type.of.fields)) visit(field.type, `${path}[].${name}`);
    }
  };
  visit(ROOTS[kind], '');
  return found;
}

const docOf = (path: string): { readonly doc?: string } => {
  const doc = FIELD_DOCS[path];
  return doc === undefined ? {} : { doc };
};

/** The type as a reader of completions knows it. */
function nameOf(type: Type): string {
  switch (type.kind) {
    case 'list':
      return `list of ${nameOf(type.of)}`;
    case 'map':
      return `map of ${nameOf(type.of)}`;
    case 'struct':
      return type.name;
    case 'int':
    case 'uint':
    case 'number':
    case 'looseNumber':
      return 'number';
    case 'string':
    case 'text':
      return 'text';
    case 'hex':
    case 'key':
      return 'hex text';
    case 'address':
      return 'address';
    case 'any':
      return 'value';
    case 'bool':
    case 'timestamp':
    case 'never':
      return type.kind;
  }
}

function literal(value: unknown): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `{ ${Object.entries(value)
    .map(([key, field]) => `${key}: ${literal(field)}`)
    .join(', ')} }`;
}

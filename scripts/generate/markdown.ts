import { isRequired, type SchemaNode, toNode } from '../../packages/server/src/reference/schema-node.ts';
import type { NameOf } from './typescript.ts';

/** Said at the top of every page, so that nobody mends the wrong file. */
export const NOTICE = '<!-- Written by `npm run generate`. Do not edit. -->';

export const code = (text: string): string => `\`${text}\``;

const escapeCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`;
  return [line(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** The fields of an object as a table; nested fields that have no page of their own follow with their path. */
export function fieldTable(schema: unknown, nameOf: NameOf): string {
  const rows = fieldRows(toNode(schema), '', nameOf);
  return rows.length === 0 ? 'None.' : table(['Field', 'Type', 'Required', 'Notes'], rows);
}

function fieldRows(node: SchemaNode, prefix: string, nameOf: NameOf): string[][] {
  return Object.entries(node.properties ?? {}).flatMap(([name, property]) => {
    const path = `${prefix}${name}`;
    const row = [
      code(path),
      typeText(property, nameOf),
      isRequired(node, name) ? 'yes' : 'no',
      notes(property, nameOf),
    ];
    return [row, ...nestedRows(property, path, nameOf)];
  });
}

function nestedRows(schema: unknown, path: string, nameOf: NameOf): string[][] {
  if (nameOf(schema) !== undefined) return [];
  const node = toNode(schema);
  if (node.items !== undefined) return nestedRows(node.items, `${path}[]`, nameOf);
  return fieldRows(node, `${path}.`, nameOf);
}

function typeText(schema: unknown, nameOf: NameOf): string {
  const name = nameOf(schema);
  if (name !== undefined) return `[${name}](objects.md#${name.toLowerCase()})`;
  const node = toNode(schema);
  if (node.enum !== undefined) return 'one of';
  if (node.items !== undefined) return `list of ${plural(typeText(node.items, nameOf))}`;
  if (node['x-decimal']) return 'decimal string';
  if (node.patternProperties !== undefined) return 'object';
  return node.type ?? 'any';
}

const plural = (text: string): string => (text === 'string' || text === 'object' ? `${text}s` : text);

function notes(schema: unknown, nameOf: NameOf): string {
  // A shape with a page of its own says its rules there.
  const ruleOf = (part: unknown): string => (nameOf(part) === undefined ? rule(toNode(part)) : '');
  const node = toNode(schema);
  return [ruleOf(schema), counts(node), node.items === undefined ? '' : prefixed('each ', ruleOf(node.items))]
    .filter((text) => text !== '')
    .join('; ');
}

const prefixed = (prefix: string, text: string): string => (text === '' ? '' : prefix + text);

function rule(node: SchemaNode): string {
  if (node['x-message'] !== undefined) return node['x-message'];
  if (node.enum !== undefined) return node.enum.map((value) => code(String(value))).join(', ');
  if (node.maxLength !== undefined) return `at most ${node.maxLength} characters`;
  if (node.minimum === undefined) return '';
  return node.maximum === undefined || node.maximum === Number.MAX_SAFE_INTEGER
    ? `at least ${node.minimum}`
    : `${node.minimum} to ${node.maximum}`;
}

function counts({ minItems = 0, maxItems }: SchemaNode): string {
  if (maxItems === undefined) return minItems === 0 ? '' : `at least ${minItems}`;
  return minItems === 0 ? `at most ${maxItems}` : `${minItems} to ${maxItems}`;
}

/** The values of an enumeration as a list. */
export const valueList = (values: readonly unknown[]): string =>
  values.map((value) => `- ${code(String(value))}`).join('\n');

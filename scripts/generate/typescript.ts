import { isRequired, type SchemaNode, toNode } from '../../packages/server/src/reference/schema-node.ts';

/** Unions that are longer get a line per member. */
const UNION_COLUMNS_MAX = 90;

/** The name under which a schema is declared elsewhere, if it is. */
export type NameOf = (schema: unknown) => string | undefined;

/** The TypeScript type of a schema, laid out for a line that starts at `indent`. */
function printType(schema: unknown, nameOf: NameOf, indent = ''): string {
  return nameOf(schema) ?? printBody(schema, nameOf, indent);
}

/** The same, for the place where a named schema is declared. */
function printBody(schema: unknown, nameOf: NameOf, indent = ''): string {
  const node = toNode(schema);
  if (node.const !== undefined) return printLiteral(node.const);
  if (node.enum !== undefined) return printUnion(node.enum.map(printLiteral), indent);
  if (node.anyOf !== undefined) {
    return printUnion(
      node.anyOf.map((option) => printType(option, nameOf, `${indent}  `)),
      indent,
    );
  }
  switch (node.type) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'null':
      return node.type;
    case 'integer':
      return 'number';
    case 'array':
      return printArray(printType(node.items ?? {}, nameOf, indent), indent);
    case 'object':
      return printObject(node, nameOf, indent);
    case undefined:
      return 'unknown';
    default:
      throw new Error(`the generators do not know the JSON Schema type ${node.type}`);
  }
}

/** `export interface` for an object, `export type` for anything else. */
export function printDeclaration(name: string, schema: unknown, nameOf: NameOf, comment?: string): string {
  const alias = nameOf(schema);
  const body = alias !== undefined && alias !== name ? alias : printBody(schema, nameOf);
  const isObject = body.startsWith('{');
  const head = comment === undefined ? '' : `/** ${comment} */\n`;
  return `${head}export ${isObject ? `interface ${name} ${body}` : `type ${name} =${breakBefore(body)};`}\n`;
}

const breakBefore = (body: string): string => (body.startsWith('\n') ? body : ` ${body}`);

function printObject(node: SchemaNode, nameOf: NameOf, indent: string): string {
  const [values] = Object.values(node.patternProperties ?? {});
  if (values !== undefined) return `Record<string, ${printType(values, nameOf, indent)}>`;
  const properties = Object.entries(node.properties ?? {});
  if (properties.length === 0) return '{}';
  const lines = properties.map(([name, property]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : printLiteral(name);
    const type = printType(property, nameOf, `${indent}  `);
    return `${indent}  ${key}${isRequired(node, name) ? '' : '?'}:${breakBefore(type)};`;
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function printArray(item: string, indent: string): string {
  if (item.startsWith('\n')) return `(${item}\n${indent})[]`;
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
}

function printUnion(options: readonly string[], indent: string): string {
  const line = options.join(' | ');
  if (indent.length + line.length <= UNION_COLUMNS_MAX || options.length === 1) return line;
  return `\n${options.map((option) => `${indent}  | ${option}`).join('\n')}`;
}

const printLiteral = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : JSON.stringify(value);

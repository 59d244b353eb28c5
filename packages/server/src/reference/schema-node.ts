/** The part of JSON Schema that the shapes of the service use. */
export interface SchemaNode {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly (string | number)[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly 'x-decimal'?: true;
  readonly 'x-trim'?: true;
  readonly 'x-lower'?: true;
  readonly 'x-message'?: string;
  readonly 'x-missing'?: string;
  readonly 'x-code'?: string;
}

const KNOWN: ReadonlySet<string> = new Set<keyof SchemaNode>([
  'type',
  'const',
  'enum',
  'properties',
  'required',
  'items',
  'anyOf',
  'patternProperties',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'x-decimal',
  'x-trim',
  'x-lower',
  'x-message',
  'x-missing',
  'x-code',
]);

/** Throws on a keyword that the generators would silently leave out of what they write. */
export function toNode(schema: unknown): SchemaNode {
  for (const key of Object.keys(schema as object)) {
    if (!KNOWN.has(key)) throw new Error(`the generators do not know the JSON Schema keyword ${key}`);
  }
  return schema as SchemaNode;
}

export const isRequired = (schema: SchemaNode, property: string): boolean =>
  schema.required?.includes(property) ?? false;

/** The same object without one of its properties. */
export function withoutProperty(schema: SchemaNode, name: string): SchemaNode {
  const { [name]: _removed, ...properties } = schema.properties ?? {};
  const required = (schema.required ?? []).filter((property) => property !== name);
  return { type: 'object', ...(required.length > 0 && { required }), properties };
}

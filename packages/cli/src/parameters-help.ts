import { CustosError, NetworkError } from '@custos/sdk';
import type { NamedOperation } from './operations.ts';

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly $ref?: string;
}

interface Body {
  readonly schema?: Schema;
  readonly example?: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly paths?: Readonly<
    Record<
      string,
      {
        readonly post?: {
          readonly summary?: string;
          readonly requestBody?: { readonly content?: Readonly<Record<string, Body>> };
        };
      }
    >
  >;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

const SHOWN_CHOICES_MAX = 6;
const DEPTH_MAX = 6;

/** What an operation is for and takes, as the service describes it: it knows which version runs. */
export async function describeOperation(baseUrl: string, { name, path, kind }: NamedOperation): Promise<string> {
  const document = await readDocument(baseUrl);
  const post = document.paths?.[path]?.post;
  if (post === undefined) {
    throw new CustosError('INVALID_OPTION', `the service at ${baseUrl} does not serve ${name}`);
  }
  const body = post.requestBody?.content?.['application/json'] ?? {};
  const isQuery = kind === 'query';
  const whole = isQuery ? body.schema : body.schema?.properties?.parameters;
  const parameters = whole && leaveOut(whole);
  const example = isQuery ? body.example : (body.example?.parameters as Body['example']);
  const { organizationId: _organizationId, ...shown } = example ?? {};
  const lines = [`${name} (${kind})`, post.summary ?? '', '', 'Parameters (? may be left out):'];
  lines.push(parameters === undefined ? '{}' : render(parameters, document, 0));
  if (Object.keys(shown).length > 0) lines.push('', 'Example:', `custos api ${name} --parameters '${quote(shown)}'`);
  return `${lines.join('\n')}\n`;
}

/** The client puts it in. */
function leaveOut({ properties, required, ...rest }: Schema): Schema {
  const { organizationId: _organizationId, ...others } = properties ?? {};
  return { ...rest, properties: others, required: (required ?? []).filter((name) => name !== 'organizationId') };
}

/** For a shell, between single quotes. */
const quote = (value: unknown): string => JSON.stringify(value).replaceAll("'", `'\\''`);

async function readDocument(baseUrl: string): Promise<Document> {
  const address = `${baseUrl}/openapi.json`;
  const answer = await fetch(address, { signal: AbortSignal.timeout(10_000) }).catch((cause: unknown) => {
    throw new NetworkError(`no answer from ${address}: parameters are shown by a service that runs`, cause);
  });
  if (!answer.ok) throw new CustosError('UNEXPECTED_ANSWER', `${address} answered ${answer.status}`);
  return (await answer.json()) as Document;
}

function render(schema: Schema, document: Document, depth: number): string {
  const { $ref, properties, required = [], items, anyOf, oneOf, type } = schema;
  if ($ref !== undefined) {
    const target = document.components?.schemas?.[$ref.split('/').at(-1) ?? ''];
    return target === undefined || depth >= DEPTH_MAX ? 'object' : render(target, document, depth);
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) {
    const shown = schema.enum.slice(0, SHOWN_CHOICES_MAX).map((value) => JSON.stringify(value));
    const more = schema.enum.length - shown.length;
    return more > 0 ? `${shown.join(' | ')} | … ${more} more` : shown.join(' | ');
  }
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return choices.map((choice) => render(choice, document, depth)).join(' | ');
  if (items !== undefined) return `[${render(items, document, depth)}, …]`;
  if (properties === undefined || depth >= DEPTH_MAX) return type ?? 'any';
  if (Object.keys(properties).length === 0) return '{}';
  const indent = '  '.repeat(depth + 1);
  const fields = Object.entries(properties).map(
    ([name, field]) => `${indent}${name}${required.includes(name) ? '' : '?'}: ${render(field, document, depth + 1)}`,
  );
  return `{\n${fields.join('\n')}\n${'  '.repeat(depth)}}`;
}

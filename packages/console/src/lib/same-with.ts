/** The text by which a program does what a button does. */
export interface Call {
  /** The name on the wire: `create_wallet`. */
  readonly operation: string;
  /** The method of the SDK: `createWallet`. */
  readonly method: string;
  readonly kind: 'query' | 'activity' | 'vote';
  /** `ACTIVITY_TYPE_…`; queries have none. */
  readonly type?: string | undefined;
  readonly organizationId: string;
  readonly parameters: object;
}

export interface CallTexts {
  readonly sdk: string;
  readonly cli: string;
  readonly curl: string;
}

export function sameWith(call: Call, baseUrl: string): CallTexts {
  const parameters = Object.keys(call.parameters).length === 0 ? '' : toSource(call.parameters);
  return {
    sdk: `await client.${call.method}(${parameters})`,
    cli: `custos api ${call.operation} ${shellQuote(JSON.stringify(call.parameters))}`,
    curl: curlOf(call, baseUrl),
  };
}

function curlOf(call: Call, baseUrl: string): string {
  const { operation, kind, organizationId, parameters } = call;
  const isQuery = kind === 'query';
  const body = isQuery
    ? { organizationId, ...parameters }
    : { type: call.type, timestampMs: 'TIMESTAMP_MS', organizationId, parameters };
  const path = `${baseUrl}/public/v1/${isQuery ? 'query' : 'submit'}/${operation}`;
  const text = shellQuote(JSON.stringify(body)).replace('TIMESTAMP_MS', `'"$(date +%s)000"'`);
  // The stamp covers the exact bytes, so they are made once.
  return [
    `BODY=${text}`,
    '# STAMP: the stamp over $BODY, see docs/guides/signing.md',
    `curl -s ${path} \\`,
    `  -H 'Content-Type: application/json' -H "X-Stamp: $STAMP" --data-binary "$BODY"`,
  ].join('\n');
}

const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** An object as somebody would write it in a program. */
export function toSource(value: unknown, indent = ''): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    const items = value.map((item) => toSource(item, `${indent}  `));
    return fits(items)
      ? `[${items.join(', ')}]`
      : `[\n${items.map((item) => `${indent}  ${item},\n`).join('')}${indent}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).flatMap(([name, member]) =>
      member === undefined
        ? []
        : [`${/^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name)}: ${toSource(member, `${indent}  `)}`],
    );
    if (members.length === 0) return '{}';
    if (fits(members)) return `{ ${members.join(', ')} }`;
    return `{\n${members.map((member) => `${indent}  ${member},\n`).join('')}${indent}}`;
  }
  return typeof value === 'string' ? quote(value) : JSON.stringify(value);
}

const fits = (parts: readonly string[]): boolean =>
  parts.join(', ').length <= 64 && !parts.some((part) => part.includes('\n'));

const quote = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

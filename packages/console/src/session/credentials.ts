export interface Credentials {
  readonly organizationId?: string;
  readonly publicKey: string;
  readonly privateKey: string;
}

/** What `root-credentials.json`, a CLI profile or a person's own JSON may call the two halves of a key. */
export function readCredentials(text: string): Credentials | undefined {
  const read = parse(text);
  const publicKey = textOf(read.apiPublicKey) ?? textOf(read.publicKey);
  const privateKey = textOf(read.apiPrivateKey) ?? textOf(read.privateKey);
  const organizationId = textOf(read.organizationId);
  if (publicKey === undefined || privateKey === undefined) return undefined;
  return { publicKey, privateKey, ...(organizationId !== undefined && { organizationId }) };
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

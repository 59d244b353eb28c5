import type { Field } from './sentence.ts';
import { written } from './text.ts';

const FIELDS_MAX = 100;
const VALUE_MAX = 600;

const WORDS: Readonly<Record<string, string>> = {
  api: 'API',
  id: 'ID',
  ids: 'IDs',
  url: 'URL',
  ip: 'IP',
  mfa: 'MFA',
  oauth: 'OAuth',
  oauth2: 'OAuth 2.0',
  otp: 'OTP',
  oidc: 'OIDC',
  sms: 'SMS',
  tvc: 'TVC',
  usd: 'USD',
  eth: 'Ethereum',
  sol: 'Solana',
};

/** `create_api_keys` and `createApiKeys` as words: `Create API keys`. */
export function toWords(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .split('_')
    .map((word) => WORDS[word.toLowerCase()] ?? word.toLowerCase());
  const text = words.join(' ');
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** The parameters one by one, for the layer below the sentence. */
export function fieldsOf(parameters: unknown): readonly Field[] {
  const fields: Field[] = [];
  for (const [path, value] of leaves([], parameters)) {
    if (fields.length === FIELDS_MAX) {
      fields.push({ label: 'More', value: [{ text: 'fields that do not fit here: read the request' }], kind: 'TEXT' });
      break;
    }
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    fields.push({ label: labelOf(path), value: [written(text, VALUE_MAX)], kind: kindOf(path, text) });
  }
  return fields;
}

function* leaves(path: readonly string[], value: unknown): Generator<readonly [readonly string[], unknown]> {
  if (value === undefined || value === null) return;
  if (typeof value !== 'object') {
    yield [path, value];
    return;
  }
  const entries = Object.entries(value);
  if (entries.length === 0 && path.length > 0) yield [path, Array.isArray(value) ? 'none' : '{}'];
  for (const [key, item] of entries) yield* leaves([...path, key], item);
}

const labelOf = (path: readonly string[]): string =>
  written(path.map((part) => (/^[0-9]+$/.test(part) ? String(Number(part) + 1) : toWords(part))).join(', '), 80).text;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function kindOf(path: readonly string[], text: string): Field['kind'] {
  const key = path.findLast((part) => !/^[0-9]+$/.test(part)) ?? '';
  if (UUID.test(text)) return 'ID';
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return 'ADDRESS';
  if (/condition|consensus|scope$|expression/i.test(key)) return 'CODE';
  if (/publicKey|bundle|signature|data$|secret/i.test(key)) return 'BYTES';
  return 'TEXT';
}

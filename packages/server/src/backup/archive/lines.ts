import { isFields, isTexts } from '../../lib/stored-json.ts';
import type { AppliedMigration } from '../../storage/migrate.ts';
import type { ArchivedRing, ArchiveHeader, ArchiveValue, ContentPart, Manifest, TableSum } from './parts.ts';

// A line of an archive is an object with one member, which is named as its part.

/**
 * A row is in one line, and no row of ours has half of this. What a line says takes up to fifteen times its bytes in memory: were
 * lines much longer, an archive of a megabyte that somebody else made could exhaust the machine.
 */
export const LINE_BYTES_MAX = 64 * 1024 * 1024;

export function encodeLine(part: ContentPart | { readonly part: 'end'; readonly manifest: Manifest }): Buffer {
  return Buffer.from(`${JSON.stringify(contentOf(part))}\n`);
}

function contentOf(part: Parameters<typeof encodeLine>[0]): unknown {
  switch (part.part) {
    case 'header':
      return { header: part.header };
    case 'table':
      return { table: { name: part.name, columns: part.columns } };
    case 'rows':
      return { rows: part.rows.map((row) => row.map(encodeValue)) };
    case 'keys':
      return { keys: { provider: part.keys.provider, ring: encodeValue(part.keys.ring) } };
    default:
      return { end: { manifest: part.manifest } };
  }
}

function encodeValue(value: ArchiveValue): unknown {
  if (typeof value === 'string' || value === null) return value;
  // JSON has no number that is infinite; SQLite has, where somebody else wrote it.
  if (typeof value === 'number') return Number.isFinite(value) ? value : { r: String(value) };
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : { i: String(value) };
  }
  if (!(value instanceof Uint8Array)) throw new Error(`a row holds a ${typeof value}, which no archive holds`);
  return { b: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') };
}

/** What a line says; undefined for a kind of part that is not known. Throws at a known one that is not as it should be. */
export function decodeLine(text: string): ReturnType<typeof decodeContent> {
  const content: unknown = JSON.parse(text);
  const [first, ...others] = isFields(content) ? Object.entries(content) : [];
  if (first === undefined || others.length > 0) throw new Error('a line is no part');
  return decodeContent(first[0], first[1]);
}

function decodeContent(
  name: string,
  value: unknown,
): ContentPart | { readonly part: 'end'; readonly manifest: Manifest } | undefined {
  switch (name) {
    case 'header':
      return { part: 'header', header: requireShape(value, isHeader, name) };
    case 'table': {
      const { name: table, columns } = requireShape(value, isTable, name);
      return { part: 'table', name: table, columns };
    }
    case 'rows':
      return { part: 'rows', rows: requireShape(value, isRows, name).map((row) => row.map(decodeValue)) };
    case 'keys': {
      const { provider, ring } = requireShape(value, isKeys, name);
      return { part: 'keys', keys: { provider, ring: decodeValue(ring) as Uint8Array } };
    }
    case 'end':
      return { part: 'end', manifest: requireShape(value, isEnd, name).manifest };
    default:
      return undefined;
  }
}

function decodeValue(value: unknown): ArchiveValue {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  const [first, ...others] = isFields(value) ? Object.entries(value) : [];
  if (first !== undefined && others.length === 0 && typeof first[1] === 'string') {
    const [kind, text] = first;
    if (kind === 'b') return Buffer.from(text, 'base64');
    if (kind === 'i' && /^-?\d{1,20}$/.test(text)) return BigInt(text);
    if (kind === 'r' && /^(-?Infinity|NaN)$/.test(text)) return Number(text);
  }
  throw new Error('a row holds something that is no value');
}

function requireShape<T>(value: unknown, isShape: (value: unknown) => value is T, name: string): T {
  if (isShape(value)) return value;
  throw new Error(`the part "${name}" is not as it should be`);
}

type Shape<T> = T & Record<string, unknown>;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
/** That a Date can hold: others would fail wherever they are shown. */
const isTime = (value: unknown): value is number => isCount(value) && value <= 8.64e15;
const isText = (value: unknown): value is string => typeof value === 'string';
const isList = <T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] =>
  Array.isArray(value) && value.every(isItem);

const isHeader = (value: unknown): value is Shape<ArchiveHeader> =>
  isFields(value) &&
  isCount(value.format) &&
  isText(value.id) &&
  isText(value.version) &&
  isTime(value.madeAtMs) &&
  (value.databaseKind === 'sqlite' || value.databaseKind === 'postgres') &&
  isList(value.migrations, isMigration);

const isMigration = (value: unknown): value is Shape<AppliedMigration> =>
  isFields(value) && isText(value.name) && (value.compatibility === undefined || isText(value.compatibility));

const isTable = (value: unknown): value is { readonly name: string; readonly columns: string[] } =>
  isFields(value) && isText(value.name) && isTexts(value.columns) && new Set(value.columns).size > 0;

const isRows = (value: unknown): value is unknown[][] =>
  Array.isArray(value) && value.every((row) => Array.isArray(row));

const isKeys = (value: unknown): value is { readonly provider: ArchivedRing['provider']; readonly ring: unknown } =>
  isFields(value) &&
  (value.provider === 'file' || value.provider === 'passphrase') &&
  isFields(value.ring) &&
  isText(value.ring.b);

const isSum = (value: unknown): value is Shape<TableSum> =>
  isFields(value) && isText(value.name) && isCount(value.rows) && isText(value.sha256);

const isEnd = (value: unknown): value is { readonly manifest: Manifest } =>
  isFields(value) && isManifest(value.manifest);

const isManifest = (value: unknown): value is Shape<Manifest> =>
  isFields(value) &&
  isList(value.tables, isSum) &&
  isCount(value.rows) &&
  typeof value.hasKeys === 'boolean' &&
  isTime(value.snapshotAtMs) &&
  isText(value.position) &&
  isTexts(value.rootKeyIds) &&
  isTexts(value.integrityKeyIds) &&
  isCount(value.organizations);

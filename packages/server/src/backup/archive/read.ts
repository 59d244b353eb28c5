import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { errorText } from '../../lib/error-text.ts';
import { printable } from '../../lib/printable.ts';
import { StartError } from '../../lib/start-error.ts';
import { decrypterWith } from './age-keys.ts';
import { decodeLine, LINE_BYTES_MAX } from './lines.ts';
import { ARCHIVE_FORMAT, type ArchivePart, type Manifest } from './parts.ts';
import { Tally } from './tally.ts';
import { fromWebStream, toWebStream } from './web-streams.ts';

const LINE_END = 0x0a;
const MAGIC = 'age-encryption.org/v1\n';
const ARMOR = '-----BEGIN AGE';
const BUFFER_BYTES = 256 * 1024;

/**
 * The parts of an archive, verified: the end comes once the file is whole, and counts and checksums are right. Until then
 * nobody may rely on what came before it. What is wrong with the file is a StartError; what is wrong with `bytes` is its own error.
 */
export async function* readArchive(
  bytes: AsyncIterable<Uint8Array>,
  identities: readonly string[],
): AsyncGenerator<ArchivePart, void, undefined> {
  const decrypter = decrypterWith(identities);
  const source = new Source(bytes);
  try {
    const decrypted = await decrypter.decrypt(toWebStream(source.read()));
    const compressed = Readable.from(fromWebStream(decrypted), { objectMode: false, highWaterMark: BUFFER_BYTES });
    const gunzip = createGunzip({ chunkSize: BUFFER_BYTES });
    pipeline(compressed, gunzip, () => {});
    yield* partsOf(linesOf(gunzip));
  } catch (error) {
    if (source.failure !== undefined) throw source.failure.error;
    throw error instanceof StartError ? error : explain(error);
  }
}

/** Tells its own errors from those of whoever reads it. */
class Source {
  readonly #bytes: AsyncIterable<Uint8Array>;
  failure: { readonly error: unknown } | undefined;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#bytes = bytes;
  }

  async *read(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      let start: Buffer | undefined = Buffer.alloc(0);
      for await (const chunk of this.#bytes) {
        if (start === undefined) {
          yield chunk;
          continue;
        }
        start = Buffer.concat([start, chunk]);
        if (start.length < MAGIC.length) continue;
        requireAge(start);
        yield start;
        start = undefined;
      }
      if (start !== undefined) requireAge(start);
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }
}

function requireAge(start: Buffer): void {
  const text = start.toString('latin1', 0, MAGIC.length);
  if (text === MAGIC) return;
  if (text.startsWith(ARMOR)) {
    throw new StartError(
      'this file is armored, which Custos does not read: `age -d -i KEY FILE | age -r RECIPIENT > NEW` makes one that it does',
    );
  }
  throw new StartError(
    start.length === 0 ? 'the backup is empty' : 'this is not a Custos backup: it does not begin as an age file does',
  );
}

function explain(error: unknown): StartError {
  const text = errorText(error);
  if (text.startsWith('no identity matched')) {
    return new StartError(
      'the identity that was given does not open this backup: give that of one of the recipients that it was encrypted to',
    );
  }
  return damaged(text);
}

const damaged = (reason: string): StartError =>
  new StartError(
    `the backup is damaged or was cut off (${printable(reason, 200)}): use another copy of the file, or another backup`,
  );

async function* partsOf(lines: AsyncIterable<Buffer>): AsyncGenerator<ArchivePart, void, undefined> {
  const tally = new Tally();
  let manifest: Manifest | undefined;
  let isFirst = true;
  for await (const line of lines) {
    const text = line.toString('utf8', 0, line.length - 1);
    if (isFirst) requireFormat(text);
    isFirst = false;
    const part = decodeLine(text);
    if (part === undefined) throw new Error('it has a part of an unknown kind');
    if (manifest !== undefined) throw new Error('there is something after its end');
    if (part.part === 'end') {
      const { hasKeys } = tally;
      requireSums(part.manifest, { tables: tally.end(), rows: tally.rows, hasKeys });
      manifest = part.manifest;
    } else {
      tally.add(part, line);
      yield part;
    }
  }
  if (manifest === undefined) throw new Error('its end is missing');
  yield { part: 'end', manifest };
}

/** Before anything else of a newer format is looked at. */
function requireFormat(text: string): void {
  const { header } = JSON.parse(text) as { header?: { format?: unknown; version?: unknown } };
  const format = header?.format;
  if (format === ARCHIVE_FORMAT) return;
  if (!Number.isSafeInteger(format)) throw new Error('it has no header');
  throw new StartError(
    `the backup has format ${format}, made by version ${printable(header?.version)}, and this version reads format ${ARCHIVE_FORMAT}: use that version or a newer one`,
  );
}

function requireSums(manifest: Manifest, counted: Pick<Manifest, 'tables' | 'rows' | 'hasKeys'>): void {
  const { tables } = counted;
  if (manifest.tables.length !== tables.length) throw new Error('it has not the tables that its manifest names');
  for (const [index, { name, rows, sha256 }] of manifest.tables.entries()) {
    const found = tables[index];
    if (found?.name !== name) throw new Error('it has not the tables that its manifest names');
    if (found.rows !== rows) throw new Error(`the table ${name} has ${found.rows} rows instead of ${rows}`);
    if (found.sha256 !== sha256) throw new Error(`the checksum of the table ${name} is wrong`);
  }
  if (manifest.rows !== counted.rows || manifest.hasKeys !== counted.hasKeys)
    throw new Error('it does not hold what its manifest says');
}

/** With their ends. A line at the end of the file without one was cut off. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, start)) {
      const rest = chunk.subarray(start, end + 1);
      yield pendingBytes === 0 ? rest : Buffer.concat([...pending, rest]);
      pending = [];
      pendingBytes = 0;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    pending.push(chunk.subarray(start));
    pendingBytes += chunk.length - start;
    if (pendingBytes > LINE_BYTES_MAX) throw new Error('a line has no end');
  }
  if (pendingBytes > 0) throw new Error('its last line is cut off');
}

import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { encrypterFor } from './age-keys.ts';
import { encodeLine, LINE_BYTES_MAX } from './lines.ts';
import type { Manifest, WrittenPart } from './parts.ts';
import { Tally } from './tally.ts';
import { fromWebStream, toWebStream } from './web-streams.ts';

/** Most of what is stored is sealed or random: more effort makes it no smaller. */
const GZIP_LEVEL = 1;
const BUFFER_BYTES = 256 * 1024;

/**
 * The bytes of an archive, made as they are taken: nothing is read ahead of a consumer but a few buffers. `onManifest` gets
 * what was counted, before the last bytes.
 */
export async function* writeArchive(
  parts: AsyncIterable<WrittenPart>,
  recipients: readonly string[],
  onManifest: (manifest: Manifest) => void = () => {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const encrypter = encrypterFor(recipients);
  const lines = Readable.from(encode(parts, onManifest), { objectMode: false, highWaterMark: BUFFER_BYTES });
  const gzip = createGzip({ level: GZIP_LEVEL, chunkSize: BUFFER_BYTES });
  // An error ends the compressed stream too, where it is met.
  pipeline(lines, gzip, () => {});
  yield* fromWebStream(await encrypter.encrypt(toWebStream(gzip)));
}

async function* encode(
  parts: AsyncIterable<WrittenPart>,
  onManifest: (manifest: Manifest) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const tally = new Tally();
  let isEnded = false;
  for await (const part of parts) {
    if (isEnded) throw new Error('there is something after the end');
    if (part.part === 'end') {
      isEnded = true;
      const { hasKeys } = tally;
      const manifest = { ...part.facts, tables: tally.end(), rows: tally.rows, hasKeys };
      onManifest(manifest);
      yield encodeLine({ part: 'end', manifest });
    } else {
      const line = encodeLine(part);
      if (line.length > LINE_BYTES_MAX) throw new Error(`a row has ${line.length} bytes, which no archive holds`);
      tally.add(part, line);
      yield line;
    }
  }
  if (!isEnded) throw new Error('there is no end');
}

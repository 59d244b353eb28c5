import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { beforeAll, describe, expect, test } from 'vitest';
import { StartError } from '../../lib/start-error.ts';
import { ageLines } from './age-keys.ts';
import type { ArchivePart, ArchiveRow, Manifest, SnapshotFacts, WrittenPart } from './parts.ts';
import { readArchive } from './read.ts';
import { writeArchive } from './write.ts';

const header = {
  format: 1,
  id: '0190b8c2-0000-7000-8000-000000000001',
  version: '0.1.0',
  madeAtMs: 1_700_000_000_000,
  databaseKind: 'sqlite',
  migrations: [{ name: '0001-foundation', compatibility: 'contract' }, { name: '0002-wallets' }],
} as const;
const facts: SnapshotFacts = {
  snapshotAtMs: 1_700_000_000_001,
  position: '0/16B3748',
  rootKeyIds: ['00'.repeat(16)],
  integrityKeyIds: [],
  organizations: 2,
};
const ring = Buffer.from([0, 255, 10, 13, 34]);
const oddRows: ArchiveRow[] = [
  ['', 0, Buffer.alloc(0), null],
  ['line\nfeed "quoted" \\ \u2028 \u0000 \ud800 é 😀', -1, Buffer.from([0, 10, 255]), null],
  ['{"b":"AA=="}', Number.MAX_SAFE_INTEGER, Buffer.from('text'), 'x'],
  ['a', 2n ** 63n - 1n, Buffer.alloc(70_000, 7), -(2n ** 63n)],
  ['b', 1.5, null, Number.NEGATIVE_INFINITY],
];

let identity: string;
let recipient: string;

beforeAll(async () => {
  identity = await generateX25519Identity();
  recipient = await identityToRecipient(identity);
});

async function* stream<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) yield item;
}

const content = (rows: readonly ArchiveRow[] = oddRows): WrittenPart[] => [
  { part: 'header', header },
  { part: 'table', name: 'odd', columns: ['t', 'n', 'b', 'x'] },
  { part: 'rows', rows: rows.slice(0, 2) },
  { part: 'rows', rows: rows.slice(2) },
  { part: 'table', name: 'empty', columns: ['id'] },
  { part: 'keys', keys: { provider: 'file', ring } },
  { part: 'end', facts },
];

async function written(parts: Iterable<WrittenPart> = content(), recipients = [recipient]): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of writeArchive(stream(parts), recipients)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function read(bytes: Uint8Array, identities = [identity], chunkBytes = 10_000): Promise<ArchivePart[]> {
  const chunks: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += chunkBytes)
    chunks.push(Uint8Array.from(bytes.subarray(start, start + chunkBytes)));
  const parts: ArchivePart[] = [];
  for await (const part of readArchive(stream(chunks), identities)) parts.push(part);
  return parts;
}

async function refusal(reading: Promise<unknown>): Promise<string> {
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof StartError) return error.message;
  throw new Error(`expected a StartError, not: ${String(error)}`);
}

/** The lines inside, changed, as somebody who knows the recipient can encrypt them. */
async function forged(change: (lines: string[]) => string[], archive?: Buffer): Promise<Buffer> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  const text = gunzipSync(await decrypter.decrypt(archive ?? (await written()))).toString();
  return await encrypted(gzipSync(change(text.split('\n')).join('\n')));
}

async function encrypted(bytes: Uint8Array): Promise<Buffer> {
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  return Buffer.from(await encrypter.encrypt(bytes));
}

describe('an archive', () => {
  test('holds every kind of value as it was', async () => {
    const parts = await read(await written());
    expect(parts.slice(0, -1)).toEqual(content().slice(0, -1));
    const end = parts.at(-1);
    expect(end).toEqual({
      part: 'end',
      manifest: {
        ...facts,
        rows: 5,
        hasKeys: true,
        tables: [
          { name: 'odd', rows: 5, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
          { name: 'empty', rows: 0, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        ],
      },
    });
  });

  test('comes in pieces of any size, and tells its writer what it held', async () => {
    const told: Manifest[] = [];
    const chunks: Uint8Array[] = [];
    for await (const chunk of writeArchive(stream(content()), [recipient], (manifest) => told.push(manifest)))
      chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const whole = await read(bytes, [identity], bytes.length);
    expect(await read(bytes, [identity], 13)).toEqual(whole);
    expect(whole.at(-1)).toEqual({ part: 'end', manifest: told[0] });
  });

  test('opens for each recipient and for nobody else', async () => {
    const other = await generateX25519Identity();
    const bytes = await written(content(), [recipient, await identityToRecipient(other)]);
    expect(await read(bytes, [other])).toEqual(await read(bytes));
    expect(await read(bytes, [await generateX25519Identity(), other])).toHaveLength(7);
    expect(await refusal(read(bytes, [await generateX25519Identity()]))).toMatch(/does not open this backup/);
  });

  test('is not written without the order of its parts, or without an end', async () => {
    const [first, table, rows, , , keys, end] = content() as [WrittenPart, ...WrittenPart[]] as WrittenPart[];
    const wrong = [
      [table, rows, end],
      [first, rows, end],
      [first, table, first, end],
      [first, table, table, end],
      [first, keys, table, end],
      [first, keys, keys, end],
      [first, table, rows],
      [first, end, table],
      [end],
      [first, table, { part: 'rows', rows: [['too', 'few']] }, end],
    ] as WrittenPart[][];
    for (const parts of wrong) await expect(written(parts)).rejects.toThrow();
  });

  test('holds nothing back that a slow reader has not taken', async () => {
    let made = 0;
    let isClosed = false;
    async function* endless(): AsyncGenerator<WrittenPart> {
      try {
        yield { part: 'header', header };
        yield { part: 'table', name: 'many', columns: ['b'] };
        for (;;) {
          made += 1;
          // Random bytes, which do not get smaller.
          yield { part: 'rows', rows: [[crypto.getRandomValues(Buffer.alloc(65_536))]] };
        }
      } finally {
        isClosed = true;
      }
    }
    let taken = 0;
    for await (const chunk of writeArchive(endless(), [recipient])) {
      taken += chunk.length;
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (taken > 300_000) break;
    }
    expect(made).toBeLessThan(60);
    await expect.poll(() => isClosed).toBe(true);
  });

  test('fails with the error of what it is made of', async () => {
    async function* failing(): AsyncGenerator<WrittenPart> {
      yield { part: 'header', header };
      throw new Error('the database went away');
    }
    const taking = async () => {
      for await (const _ of writeArchive(failing(), [recipient]));
    };
    await expect(taking()).rejects.toThrow('the database went away');
  });

  test('is read as far as somebody wants to', async () => {
    let isClosed = false;
    const bytes = await written();
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for (let start = 0; start < bytes.length; start += 100) yield bytes.subarray(start, start + 100);
      } finally {
        isClosed = true;
      }
    }
    for await (const { part } of readArchive(source(), [identity])) if (part === 'header') break;
    await expect.poll(() => isClosed).toBe(true);
  });
});

describe('a file that is not whole', () => {
  test('is refused wherever it was cut off', async () => {
    const bytes = await written();
    for (let length = 0; length < bytes.length; length += length < 300 ? 11 : 61) {
      const message = await refusal(read(bytes.subarray(0, length)));
      expect(message).toMatch(/damaged or was cut off|is empty|does not begin as an age file/);
    }
  });

  test('is refused after any flipped bit', async () => {
    const bytes = await written();
    for (let index = 0; index < bytes.length; index += index < 300 ? 7 : 83) {
      const damaged = Uint8Array.from(bytes);
      damaged[index] = (damaged[index] as number) ^ (1 << (index % 8));
      const message = await refusal(read(damaged));
      expect(message).toMatch(/damaged or was cut off|does not begin as an age file|does not open this backup/);
    }
  });

  test('is refused with bytes after its end', async () => {
    const bytes = await written();
    expect(await refusal(read(Buffer.concat([bytes, Buffer.alloc(1)])))).toMatch(/damaged/);
    expect(await refusal(read(Buffer.concat([bytes, bytes])))).toMatch(/damaged/);
  });

  test('is refused without any of its lines, also where age and gzip have nothing to say', async () => {
    const count = gunzipSync(await opened(await written()))
      .toString()
      .split('\n').length;
    for (let cut = 0; cut < count - 1; cut += 1) {
      const without = await forged((lines) => lines.filter((_, index) => index !== cut));
      // The key ring has no checksum of its own; that it is gone is noticed.
      expect(await refusal(read(without))).toMatch(/damaged or was cut off/);
      const short = await forged((lines) => [...lines.slice(0, cut), '']);
      expect(await refusal(read(short))).toMatch(/damaged or was cut off/);
    }
  });

  test('is refused with lines that are changed, repeated or in another order', async () => {
    const replaced = (from: string, to: string) => forged((lines) => lines.map((line) => line.replace(from, to)));
    const wrong = [
      await replaced('"odd"', '"off"'),
      await replaced('["",0', '["",1'),
      await replaced('"t","n"', '"n","t"'),
      await replaced('"rows":5,"sha256"', '"rows":6,"sha256"'),
      await replaced('"hasKeys":true', '"hasKeys":false'),
      await replaced('{"rows":[[""', '{"lines":[[""'),
      await replaced('{"rows":[[""', '{"and":1,"rows":[[""'),
      await replaced('{"b":""}', '{"x":""}'),
      await replaced('{"b":""}', '[]'),
      await replaced('"databaseKind":"sqlite"', '"databaseKind":"other"'),
      await replaced('"organizations":2', '"organizations":-2'),
      await forged((lines) => [...lines.slice(0, 3), ...lines.slice(2)]),
      await forged((lines) => [...lines.slice(0, 2), lines[3] as string, lines[2] as string, ...lines.slice(4)]),
      await forged((lines) => [...lines.slice(0, -1), lines[1] as string, '']),
      await forged((lines) => [...lines.slice(0, -1), 'no JSON', '']),
      await forged((lines) => [lines.join('\n').slice(0, -1)]),
    ];
    for (const bytes of wrong) expect(await refusal(read(bytes))).toMatch(/damaged or was cut off/);
  });

  test('is refused with a line that is longer than any row, before that is looked at', async () => {
    const [first, second] = gunzipSync(await opened(await written()))
      .toString()
      .split('\n');
    const long = [Buffer.from('{"rows":[[]'), Buffer.alloc(65 * 1024 * 1024, ',[]'), Buffer.from(']}\n')];
    const bomb = await encrypted(gzipSync(Buffer.concat([Buffer.from(`${first}\n${second}\n`), ...long])));
    expect(bomb.length).toBeLessThan(1024 * 1024);
    expect(await refusal(read(bomb))).toMatch(/a line has no end/);
  });

  test('is refused with a time that is none', async () => {
    const later = await written(
      content().map((part) => (part.part === 'end' ? { ...part, facts: { ...facts, snapshotAtMs: 9e15 } } : part)),
    );
    expect(await refusal(read(later))).toMatch(/the part "end" is not as it should be/);
  });

  test('is refused when it is no backup', async () => {
    expect(await refusal(read(Buffer.alloc(0)))).toBe('the backup is empty');
    expect(await refusal(read(Buffer.from('SQLite format 3\0 and more')))).toMatch(/not a Custos backup/);
    expect(await refusal(read(Buffer.from('-----BEGIN AGE ENCRYPTED FILE-----\nabc')))).toMatch(/armored/);
    expect(await refusal(read(await encrypted(Buffer.from('no gzip'))))).toMatch(/damaged/);
    expect(await refusal(read(await encrypted(gzipSync('{"other":1}\n'))))).toMatch(/damaged/);
    expect(await refusal(read(await encrypted(gzipSync(''))))).toMatch(/damaged/);
  });

  test('says so when a newer version made it', async () => {
    const newer = await forged((lines) =>
      lines.map((line) => line.replace('"format":1', '"format":2').replace('0.1.0', '7.0')),
    );
    expect(await refusal(read(newer))).toMatch(/has format 2, made by version 7.0.*a newer one/);
  });

  test('leaves the errors of what it is read from as they are', async () => {
    const bytes = await written();
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, 300);
      throw Object.assign(new Error('EIO: the disk'), { code: 'EIO' });
    }
    const reading = async () => {
      for await (const _ of readArchive(failing(), [identity]));
    };
    await expect(reading()).rejects.toMatchObject({ code: 'EIO' });
  });
});

describe('keys of age', () => {
  test('are read from files with comments', () => {
    expect(ageLines('# created: today\r\n# public key: age1x\r\nAGE-SECRET-KEY-1X\r\n\r\n')).toEqual([
      'AGE-SECRET-KEY-1X',
    ]);
  });

  test('are refused when they are none, and identities are not repeated', async () => {
    expect(await refusal(written(content(), []))).toMatch(/age-keygen/);
    for (const wrong of ['age1', 'age1qqqq', `${recipient}q`, 'ssh-ed25519 AAAA', 'age1yubikey1qwerty', '']) {
      expect(await refusal(written(content(), [recipient, wrong]))).toMatch(/is not a recipient/);
    }
    for (const secret of [identity, identity.toLowerCase()]) {
      const message = await refusal(written(content(), [secret]));
      expect(message).toMatch(/identity.*age-keygen -y/);
      expect(message.toUpperCase()).not.toContain(identity.slice(20, 40));
    }
    const bytes = await written();
    expect(await refusal(read(bytes, []))).toMatch(/opens with the identity/);
    const half = identity.slice(0, 40);
    const message = await refusal(read(bytes, [half]));
    expect(message).toMatch(/not an age identity/);
    expect(message).not.toContain(half.slice(20));
  });
});

async function opened(bytes: Buffer): Promise<Uint8Array> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return await decrypter.decrypt(bytes);
}

test.skipIf(spawnSync('age', ['--version']).error !== undefined)("Debian's age opens it", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'custos-age-'));
  try {
    const bytes = await written();
    writeFileSync(join(folder, 'key'), `# a comment\n${identity}\n`, { mode: 0o600 });
    writeFileSync(join(folder, 'backup'), bytes);
    const plain = execFileSync('age', ['-d', '-i', join(folder, 'key'), join(folder, 'backup')]);
    expect(plain.equals(Buffer.from(await opened(bytes)))).toBe(true);
    expect(gunzipSync(plain).toString().split('\n')).toHaveLength(8);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

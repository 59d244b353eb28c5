// The process that holds keys for a floor: it reads frames of one size from a pipe, does the work that each asks for and
// writes one frame back. Frames that came together go back together.
import { ANSWER_BYTES, FRAME_BYTES } from './signers.ts';
import { BARE_WORKS, type CryptoWork, prepareWork } from './works.ts';

const works = new Map<number, () => unknown>();
// Only works that are asked for are prepared, before the first frame.
for (const { work } of JSON.parse(process.argv[2] ?? '[]') as CryptoWork[]) {
  works.set(BARE_WORKS.indexOf(work), await prepareWork(work));
}

let rest: Buffer = Buffer.alloc(0);
process.stdin.on('data', (chunk: Buffer) => {
  const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
  const count = Math.floor(bytes.length / FRAME_BYTES);
  rest = bytes.subarray(count * FRAME_BYTES);
  if (count === 0) return;
  const answer = Buffer.alloc(count * ANSWER_BYTES);
  for (let index = 0; index < count; index += 1) {
    const at = index * FRAME_BYTES;
    const once = works.get(bytes.readUInt32LE(at + 4));
    if (once === undefined) throw new Error('a work that was not prepared');
    for (let times = bytes.readUInt32LE(at + 8); times > 0; times -= 1) once();
    answer.writeUInt32LE(bytes.readUInt32LE(at), index * ANSWER_BYTES);
  }
  process.stdout.write(answer);
});
process.stdin.on('end', () => process.exit(0));

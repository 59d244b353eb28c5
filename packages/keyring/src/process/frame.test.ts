import { deserialize } from 'node:v8';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeFrame, type Frame, FrameReader } from './frame.ts';

/** All frames that are found in pieces of these lengths. */
function readAll(bytes: Uint8Array, lengths: Iterator<number>, bytesMax = 1000): Frame[] {
  const found: Frame[] = [];
  const reader = new FrameReader(
    () => bytesMax,
    (frame) => found.push({ ...frame, body: frame.body && Uint8Array.from(frame.body) }),
  );
  // Copies, since a reader wipes what it has put together.
  const copy = Buffer.from(bytes);
  for (let at = 0, end = 0; at < copy.length; at = end) {
    end = at + lengths.next().value;
    reader.push(copy.subarray(at, end));
  }
  return found;
}

const pieces = fc.infiniteStream(fc.integer({ min: 1, max: 40 }));
const frames = fc.array(fc.tuple(fc.maxSafeInteger(), fc.nat({ max: 255 }), fc.uint8Array({ maxLength: 100 })));

describe('frames', () => {
  test('in whatever pieces they come, are those that were sent', () => {
    fc.assert(
      fc.property(frames, pieces, (sent, lengths) => {
        const bytes = Buffer.concat(sent.map(([id, tag, value]) => encodeFrame(id, tag, value)));
        const found = readAll(bytes, lengths as Iterator<number>);
        expect(found.map(({ id, tag, body }) => [id, tag, new Uint8Array(deserialize(body as Uint8Array))])).toEqual(
          sent,
        );
      }),
    );
  });

  test('that are longer than allowed are told without their body, and the next ones are read', () => {
    fc.assert(
      fc.property(frames, pieces, (sent, lengths) => {
        const bytes = Buffer.concat(sent.map(([id, tag, value]) => encodeFrame(id, tag, value)));
        const found = readAll(bytes, lengths as Iterator<number>, 50);
        const lengthOf = ([id, tag, value]: (typeof sent)[number]) => encodeFrame(id, tag, value).length - 13;
        expect(found.map(({ id, tag, body }) => [id, tag, body?.length])).toEqual(
          sent.map((each) => [each[0], each[1], lengthOf(each) > 50 ? undefined : lengthOf(each)]),
        );
      }),
    );
  });

  test('an id comes back bit by bit, also one that is no number', () => {
    const head = Buffer.alloc(13);
    head.fill(0xff, 4, 12);
    const [frame] = readAll(head, [13].values());
    expect(frame).toEqual({ id: Number.NaN, tag: 0, body: new Uint8Array() });
  });

  test('what was put together from pieces is wiped where it came from', () => {
    const bytes = Buffer.from(encodeFrame(1, 0, 'a secret that was lent'));
    const reader = new FrameReader(
      () => 1000,
      () => {},
    );
    reader.push(bytes.subarray(0, 20));
    reader.push(bytes.subarray(20));
    expect(bytes.every((byte) => byte === 0)).toBe(true);
  });

  test.each([0, 1, 12])('%i bytes are none', (length) => {
    expect(readAll(Buffer.alloc(length, 255), [1, 20].values())).toEqual([]);
  });
});

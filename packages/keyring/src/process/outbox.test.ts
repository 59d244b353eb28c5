import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { Outbox } from './outbox.ts';

class Pipe extends Writable {
  readonly writes: number[][] = [];

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.writes.push([...chunk]);
    done();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function open(): { readonly pipe: Pipe; readonly outbox: Outbox } {
  const pipe = new Pipe();
  return { pipe, outbox: new Outbox(pipe) };
}

test('frames of one turn are one write, in their order', async () => {
  const { pipe, outbox } = open();
  for (const byte of [1, 2, 3]) outbox.send(Uint8Array.of(byte));
  expect(pipe.writes).toEqual([]);
  await turn();
  expect(pipe.writes).toEqual([[1, 2, 3]]);
  outbox.send(Uint8Array.of(4));
  await turn();
  expect(pipe.writes).toEqual([[1, 2, 3], [4]]);
});

test('a large frame is written as it is, between those before it and those behind it', async () => {
  const { pipe, outbox } = open();
  const large = new Uint8Array(100_000).fill(9);
  outbox.send(Uint8Array.of(1));
  outbox.send(Uint8Array.of(2));
  outbox.send(large);
  outbox.send(Uint8Array.of(3));
  outbox.send(Uint8Array.of(4));
  await turn();
  expect(pipe.writes.map((bytes) => bytes.length)).toEqual([2, 100_000, 2]);
  expect(pipe.writes.flat().filter((byte) => byte !== 9)).toEqual([1, 2, 3, 4]);
});

test('of frames that were put together, and of one that left alone, no copy stays', async () => {
  const { outbox } = open();
  const alone = Uint8Array.of(3, 3);
  outbox.send(alone);
  await turn();
  expect([...alone]).toEqual([0, 0]);
  const frames = [Uint8Array.of(1, 1), Uint8Array.of(2, 2)];
  for (const frame of frames) outbox.send(frame);
  await turn();
  expect(frames.map((frame) => [...frame])).toEqual([
    [0, 0],
    [0, 0],
  ]);
});

test('what is flushed early is not sent again, and a destroyed pipe gets nothing', async () => {
  const { pipe, outbox } = open();
  outbox.send(Uint8Array.of(1));
  outbox.flush();
  outbox.send(Uint8Array.of(2));
  pipe.destroy();
  await turn();
  await turn();
  expect(pipe.writes).toEqual([[1]]);
});

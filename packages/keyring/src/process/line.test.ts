import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { codeOf } from '../../test/fixtures/client.ts';
import type { Method } from '../calls/call.ts';
import { KeyringError } from '../errors.ts';
import { encodeFrame, type Frame, FrameReader } from './frame.ts';
import { Line, type Pipe } from './line.ts';
import { ANSWER, bytesMaxOf, methodOf } from './protocol.ts';

/** The far end of a line, which answers when it is told to. */
class FakeThread extends Duplex implements Pipe {
  readonly calls: Frame[] = [];
  pings = 0;
  isAlive = true;
  readonly #reader = new FrameReader(bytesMaxOf, (frame) => {
    if (methodOf(frame.tag) !== 'ping') this.calls.push(frame);
    else {
      this.pings += 1;
      this.answer(frame);
    }
  });

  answer({ id }: { readonly id: number }, value?: unknown): void {
    if (this.isAlive) this.push(encodeFrame(id, ANSWER.value, value));
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#reader.push(Buffer.from(chunk));
    done();
  }

  override _read(): void {}
  ref(): void {}
  unref(): void {}
}

function open(): { readonly thread: FakeThread; readonly line: Line } {
  const thread = new FakeThread();
  return { thread, line: new Line(thread, () => {}) };
}

/** Calls of one turn of the event loop leave at its end. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function beat(line: Line, times: number): Promise<number[]> {
  const silences: number[] = [];
  for (let time = 0; time < times; time += 1) {
    silences.push(line.beat());
    await turn();
  }
  return silences;
}

test.each<[Method, number]>([
  ['sign', 10],
  ['seal', 10],
  ['ping', 2],
  ['deriveAccounts', 60],
  ['addRootKey', 120],
])('%s is refused after %i seconds without an answer, and not before', async (method, seconds) => {
  const { thread, line } = open();
  thread.isAlive = false;
  const answered = line.call('seal', []);
  await turn();
  thread.isAlive = true;
  const [{ id }] = thread.calls as [Frame];
  thread.answer({ id }, 'sealed');
  expect(await answered).toBe('sealed');

  thread.isAlive = false;
  let outcome: unknown = 'waits';
  line.call(method, []).catch((error: Error) => {
    outcome = error;
  });
  await beat(line, seconds);
  expect(outcome).toBe('waits');
  await beat(line, 1);
  expect(outcome).toMatchObject({ code: 'UNAVAILABLE', message: 'the keyring did not answer in time' });
});

test('what was refused still counts until the thread has done it', async () => {
  const { thread, line } = open();
  const codes = [line.call('sign', []), line.call('sign', [])].map(codeOf);
  await beat(line, 11);
  expect(await Promise.all(codes)).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
  expect(line.pendingCount).toBe(2);
  for (const call of thread.calls) thread.answer(call);
  await beat(line, 1);
  expect(line.pendingCount).toBe(0);
});

test('a thread is asked at each beat, and its silence counted in beats', async () => {
  const { thread, line } = open();
  expect(await beat(line, 3)).toEqual([0, 0, 0]);
  expect(thread.pings).toBe(3);
  thread.isAlive = false;
  expect(await beat(line, 4)).toEqual([0, 1, 2, 3]);
  thread.isAlive = true;
  // Whatever it says ends the silence.
  thread.answer({ id: 7 });
  await turn();
  expect(await beat(line, 2)).toEqual([0, 0]);
});

test('what a thread has in hand is counted in items, until it has answered', async () => {
  const { thread, line } = open();
  const answered = [line.call('sign', [{}, {}, 'ecdsa', [1, 2, 3]]), line.call('seal', [])];
  expect([line.pendingCount, line.pendingItems]).toEqual([2, 4]);
  await turn();
  for (const call of thread.calls) thread.answer(call);
  await Promise.all(answered);
  expect([line.pendingCount, line.pendingItems, line.pendingBytes]).toEqual([0, 0, 0]);
  line.call('sign', [[1, 2]]).catch(() => {});
  line.end(new KeyringError('UNAVAILABLE', 'gone'));
  expect(line.pendingItems).toBe(0);
});

test('a call after the end is refused at once', async () => {
  const { line } = open();
  const before = codeOf(line.call('refreshRing', []));
  line.end(new KeyringError('UNAVAILABLE', 'gone'));
  expect(await before).toBe('UNAVAILABLE');
  expect(await codeOf(line.call('refreshRing', []))).toBe('UNAVAILABLE');
});

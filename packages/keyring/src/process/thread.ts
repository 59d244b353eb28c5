import { METHODS, transportOf } from '../calls/table.ts';
import { KeyringError } from '../errors.ts';
import { LocalKeyring } from '../local-keyring.ts';
import type { Order, Report } from './channel.ts';
import { encodeFrame, type Frame, FrameReader } from './frame.ts';
import { Outbox } from './outbox.ts';
import { openPipe } from './pipe.ts';
import { ANSWER, bytesMaxOf, methodOf, numberOf, refusalOf, unpackArguments } from './protocol.ts';

// A thread of the keyring process, with a keyring and a line to the service of its own.

/**
 * Above it nothing more is read: whoever calls faster than is answered waits. It is more than the longest call has, so
 * that one alone keeps nobody out.
 */
const WAITING_BYTES_MAX = 40 * 1024 * 1024;
/** How many pings are remembered while an answer is being read. */
const PINGS_MAX = 64;
/** Each call counts for so much more, because those without arguments are bounded too. */
const CALL_BYTES = 4096;
const PING = numberOf('ping');
/** How many calls begin in one turn of the event loop, unless they take longer than this together. */
const TURN_CALLS_MAX = 16;
const TURN_MS_MAX = 2;

/** Opens the ring and serves the line with this descriptor. */
export async function openThread(rootKey: string, { create, methods }: Order, fd: number): Promise<Report> {
  try {
    checkVersion(methods);
    const keyring = await LocalKeyring.open(rootKey, create);
    serve(keyring, fd);
    return { type: 'opened', ring: keyring.ringState };
  } catch (error) {
    return { type: 'failed', refusal: refusalOf(error) };
  }
}

/** The numbers of calls mean what the service takes them for only where both know the same list. */
function checkVersion(methods: Order['methods']): void {
  if (String(methods) === String(METHODS)) return;
  throw new KeyringError('UNAVAILABLE', 'the files of the keyring were replaced: the service must be started again');
}

function serve(keyring: LocalKeyring, fd: number): void {
  const line = openPipe(fd);
  const outbox = new Outbox(line);
  const waiting: Frame[] = [];
  const pings: number[] = [];
  let waitingBytes = 0;
  let isWorking = false;
  let seen = keyring.ringState;
  let reported = JSON.stringify(seen);

  /** A few in each turn of the event loop, of which the answers leave together: a call that takes long lets others in. */
  const begin = (): void => {
    outbox.flush();
    isWorking = false;
    if (waiting.length === 0) return;
    isWorking = true;
    // Who does not listen to answers gets no more of them.
    if (line.writableNeedDrain) {
      line.once('drain', begin);
      return;
    }
    const endsAtMs = performance.now() + TURN_MS_MAX;
    for (let count = 0; count < TURN_CALLS_MAX && waiting.length > 0; count += 1) {
      void finish(waiting.shift() as Frame);
      if (performance.now() > endsAtMs) break;
    }
    setImmediate(begin);
  };
  const finish = async (frame: Frame): Promise<void> => {
    const answer = await answerTo(keyring, frame);
    tellRing();
    outbox.send(answer);
    waitingBytes -= sizeOf(frame);
    if (line.isPaused() && waitingBytes < WAITING_BYTES_MAX) line.resume();
  };
  /** Before the answer, so that whoever has it knows the ring. */
  const tellRing = (): void => {
    if (keyring.ringState === seen) return;
    seen = keyring.ringState;
    const text = JSON.stringify(seen);
    if (text === reported) return;
    reported = text;
    outbox.send(encodeFrame(0, ANSWER.ring, seen));
  };

  /**
   * Ahead of what waits: a thread with much to do is there. Behind an answer that is being read; who reads none gets no
   * more.
   */
  const answerPing = ({ id }: Frame): void => {
    if (!line.writableNeedDrain) {
      line.write(encodeFrame(id, ANSWER.value, undefined));
    } else if (pings.length < PINGS_MAX && pings.push(id) === 1) {
      line.once('drain', () => {
        for (const late of pings.splice(0)) line.write(encodeFrame(late, ANSWER.value, undefined));
      });
    }
  };

  const reader = new FrameReader(bytesMaxOf, (frame) => {
    if (frame.tag === PING) return answerPing(frame);
    waiting.push(frame);
    waitingBytes += sizeOf(frame);
    if (waitingBytes >= WAITING_BYTES_MAX) line.pause();
    if (!isWorking) begin();
  });
  line.on('data', (chunk) => reader.push(chunk));
  line.on('error', () => {});
  // A thread that nobody can call is of no use, and the process begins anew.
  line.on('close', () => process.exit(1));
}

const sizeOf = ({ body }: Frame): number => CALL_BYTES + (body?.length ?? 0);

async function answerTo(keyring: LocalKeyring, { id, tag, body }: Frame): Promise<Uint8Array> {
  try {
    const method = methodOf(tag);
    const value = await keyring.perform(method, unpackArguments(body, bytesMaxOf(tag)));
    const { sharing } = transportOf(method);
    return encodeFrame(id, ANSWER.value, sharing === undefined ? value : sharing.pack(value as readonly unknown[]));
  } catch (error) {
    return encodeFrame(id, ANSWER.refusal, refusalOf(error));
  }
}

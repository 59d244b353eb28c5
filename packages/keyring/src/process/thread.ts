import { METHODS, transportOf } from '../calls/table.ts';
import { KeyringError } from '../errors.ts';
import { LocalKeyring } from '../local-keyring.ts';
import { logToStandardError } from '../log.ts';
import type { TransferGate } from '../transfers/limits.ts';
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
/** How often it looks at the ring's file; less and less often where that cannot be read, since a passphrase is stretched. */
const LOOK_MS = 1000;
const LOOK_MS_MAX = 60_000;

export interface ThreadSettings {
  readonly rootKey: string;
  /** The descriptor of the line. */
  readonly fd: number;
  readonly refusesAdministration: boolean;
}

/** What a thread leaves to others. */
export interface Elsewhere {
  readonly transfers: TransferGate;
  /** Makes a change of the ring durable, where the service does not. */
  syncRing(): Promise<void>;
}

/** Opens the ring and serves the line. */
export async function openThread(
  settings: ThreadSettings,
  { create, methods }: Order,
  elsewhere: Elsewhere,
): Promise<Report> {
  try {
    checkVersion(methods);
    const keyring = await LocalKeyring.open(settings.rootKey, create, elsewhere.transfers);
    serve(keyring, settings, elsewhere);
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

function serve(keyring: LocalKeyring, settings: ThreadSettings, elsewhere: Elsewhere): void {
  const line = openPipe(settings.fd);
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
    const answer = await answerTo(keyring, frame, settings, elsewhere);
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
   * Of its own accord: a key that was retired or destroyed must not live on in a process whose service does not ask for it
   * (docs/decisions/0059).
   */
  const look = async (delayMs: number): Promise<void> => {
    let nextMs = LOOK_MS;
    try {
      await keyring.followRing();
      tellRing();
    } catch (error) {
      nextMs = Math.min(2 * delayMs, LOOK_MS_MAX);
      logToStandardError({
        level: 40,
        msg: 'the key ring has changed and is not used',
        reason: refusalOf(error).message,
      });
    }
    setTimeout(look, nextMs, nextMs).unref();
  };
  setTimeout(look, LOOK_MS, LOOK_MS).unref();

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

async function answerTo(
  keyring: LocalKeyring,
  { id, tag, body }: Frame,
  { refusesAdministration }: ThreadSettings,
  { syncRing }: Elsewhere,
): Promise<Uint8Array> {
  try {
    const method = methodOf(tag);
    const { route, sharing } = transportOf(method);
    const changesRing = route.to === 'ring';
    if (refusesAdministration && changesRing && route.isForServices !== true) throw noAdministration(method);
    const value = await keyring.perform(method, unpackArguments(body, bytesMaxOf(tag)));
    if (changesRing) await syncRing();
    const frame = encodeFrame(
      id,
      ANSWER.value,
      sharing === undefined ? value : sharing.pack(value as readonly unknown[]),
    );
    // The frame has a copy, and the bytes may be what was opened or lent.
    if (value instanceof Uint8Array) value.fill(0);
    return frame;
  } catch (error) {
    return encodeFrame(id, ANSWER.refusal, refusalOf(error));
  }
}

/** Whoever controls a service must not be able to change the keys of the ring, or empty it (docs/decisions/0059). */
const noAdministration = (method: string): KeyringError =>
  new KeyringError('NOT_ALLOWED', `${method} is not a call of a service: the key ring is changed beside it`);

import { describe, expect, test } from 'vitest';
import { Gate, type Turn, type Waiting } from './gate.ts';
import { ClientLeft, Refused } from './refused.ts';

/** A gate whose clock the test moves, and what it said. */
function openGate(slots: number, waitMs = 500) {
  let nowMs = 0;
  const said: string[] = [];
  const gate = new Gate({
    stage: 'test',
    slots,
    waitMs,
    nowMs: () => nowMs,
    observe: {
      refused: (stage, reason) => said.push(`${stage} refused ${reason}`),
      dropped: (stage) => said.push(`${stage} dropped`),
    },
  });
  return {
    gate,
    said,
    advance: (ms: number) => {
      nowMs += ms;
    },
    enter: (...path: string[]) => gate.enter(path, nowMs),
  };
}

const isTurn = (place: Turn | Waiting): place is Turn => 'end' in place;

function turnOf(place: Turn | Waiting): Turn {
  if (!isTurn(place)) throw new Error('it waits');
  return place;
}

function waitingOf(place: Turn | Waiting): Waiting {
  if (isTurn(place)) throw new Error('it started');
  return place;
}

const refusalOf = (run: () => unknown): Refused => {
  try {
    run();
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
  throw new Error('it was not refused');
};

/** Keeps a gate of `slots` busy for half a second at so many a second, so that it knows its pace. */
async function teachPace(opened: ReturnType<typeof openGate>, slots: number, perSecond: number): Promise<Turn[]> {
  const running = Array.from({ length: slots }, () => turnOf(opened.enter('teacher')));
  let waiting = waitingOf(opened.enter('teacher'));
  for (let count = 0; count < perSecond / 2; count += 1) {
    opened.advance(1000 / perSecond);
    const next = waitingOf(opened.enter('teacher'));
    running.shift()?.end();
    running.push(await waiting.turn);
    waiting = next;
  }
  waiting.leave();
  await waiting.turn.catch(() => {});
  return running;
}

/** Lets one class ask until it is refused. */
function flood(opened: ReturnType<typeof openGate>, ...path: string[]): { waiting: number; refusal: Refused } {
  for (let waiting = 0; waiting < 1000; waiting += 1) {
    try {
      waitingOf(opened.enter(...path)).turn.catch(() => {});
    } catch (error) {
      if (error instanceof Refused) return { waiting, refusal: error };
      throw error;
    }
  }
  throw new Error('it was not refused');
}

describe('a gate', () => {
  test('lets in at once while there is room, and one class alone may have all of it', () => {
    const { gate, enter } = openGate(3);
    const turns = [enter('a'), enter('a'), enter('a')].map(turnOf);
    expect(gate.running).toBe(3);
    for (const turn of turns) turn.end();
    expect(gate.running).toBe(0);
  });

  test('a turn ends once, however often it is said', () => {
    const { gate, enter } = openGate(2);
    const first = turnOf(enter('a'));
    turnOf(enter('a'));
    first.end();
    first.end();
    expect(gate.running).toBe(1);
  });

  test('classes take turns, and organizations within a tree', async () => {
    const { enter } = openGate(1);
    const order: string[] = [];
    // Both trees hold more than their share of the one slot, so nobody is let in beyond it.
    const first = turnOf(enter('one', 'a'));
    const headroom = turnOf(enter('two', 'x'));
    const places = ['one a', 'one a', 'one a', 'one b', 'two x', 'two x'].map((name) => {
      const [tree = '', organization = ''] = name.split(' ');
      return waitingOf(enter(tree, organization)).turn.then((turn) => {
        order.push(name);
        turn.end();
      });
    });
    headroom.end();
    first.end();
    await Promise.all(places);
    expect(order.slice(0, 4).sort()).toEqual(['one a', 'one b', 'two x', 'two x']);
    expect(order.slice(4)).toEqual(['one a', 'one a']);
  });

  test('one that is short of its share does not wait for slots that others hold', () => {
    const { gate, enter } = openGate(4);
    for (let count = 0; count < 4; count += 1) turnOf(enter('hog'));
    waitingOf(enter('hog')).turn.catch(() => {});
    turnOf(enter('other'));
    turnOf(enter('other'));
    // Half of the slots are its share now.
    waitingOf(enter('other')).turn.catch(() => {});
    expect(gate.running).toBe(6);
  });

  test('there is headroom for as many again, and no more', () => {
    const { gate, enter } = openGate(4);
    for (let count = 0; count < 4; count += 1) turnOf(enter('hog'));
    for (let count = 0; count < 20; count += 1) {
      const place = enter(`stranger ${count}`);
      if (!isTurn(place)) place.turn.catch(() => {});
    }
    expect(gate.running).toBe(8);
    expect(gate.waiting).toBe(16);
  });

  test('what would wait too long is refused at once: 503 alone, 429 where others wait', async () => {
    const opened = openGate(4);
    await teachPace(opened, 4, 100);
    // Some fifty can be served in half a second, and one class alone may be all of them.
    const { waiting, refusal } = flood(opened, 'teacher');
    expect(waiting).toBeGreaterThan(40);
    expect(waiting).toBeLessThan(60);
    expect(refusal).toMatchObject({ reason: 'busy', httpStatus: 503, retryAfterSeconds: expect.any(Number) });
    // Another class has its share of the slots at once, and of the line then.
    turnOf(opened.enter('other'));
    turnOf(opened.enter('other'));
    expect(flood(opened, 'other').waiting).toBeGreaterThan(10);
    expect(refusalOf(() => opened.enter('teacher'))).toMatchObject({ reason: 'share', httpStatus: 429 });
    expect(opened.said).toContain('test refused share');
  });

  test('a full line refuses the one that fills it and makes room for another', async () => {
    const { gate, enter, said } = openGate(1);
    turnOf(enter('hog'));
    turnOf(enter('second'));
    const lost: unknown[] = [];
    for (let count = 0; count < 32; count += 1) waitingOf(enter('hog')).turn.catch((error) => lost.push(error));
    expect(refusalOf(() => enter('hog')).httpStatus).toBe(503);
    waitingOf(enter('second')).turn.catch(() => {});
    await Promise.resolve();
    await Promise.resolve();
    expect(gate.waiting).toBe(32);
    expect(lost).toEqual([expect.any(Refused)]);
    expect(said).toHaveLength(2);
  });

  test('a client that leaves loses its place', async () => {
    const { gate, enter, said } = openGate(1);
    const first = turnOf(enter('a'));
    const gone = waitingOf(enter('a'));
    const next = waitingOf(enter('a'));
    gone.leave();
    await expect(gone.turn).rejects.toThrow(ClientLeft);
    first.end();
    (await next.turn).end();
    // Too late to leave, and nothing happens.
    next.leave();
    expect(said).toEqual(['test dropped']);
    expect(gate.running).toBe(0);
    expect(gate.waiting).toBe(0);
  });

  test('those who wait at a gate that stands still are refused after a while', async () => {
    const opened = openGate(1, 100);
    turnOf(opened.enter('a'));
    const waiting = waitingOf(opened.enter('a'));
    opened.advance(199);
    opened.gate.sweep();
    expect(opened.gate.waiting).toBe(1);
    opened.advance(2);
    opened.gate.sweep();
    await expect(waiting.turn).rejects.toMatchObject({ httpStatus: 503 });
  });

  test('time that a request spent elsewhere counts', () => {
    const opened = openGate(1, 100);
    turnOf(opened.enter('a'));
    opened.advance(150);
    expect(refusalOf(() => opened.gate.enter(['a'], 0)).httpStatus).toBe(503);
  });

  test('the refused stand in a line outside: each is told to come when its turn would be', async () => {
    const opened = openGate(4);
    await teachPace(opened, 4, 100);
    flood(opened, 'teacher');
    const told = Array.from({ length: 500 }, () => refusalOf(() => opened.enter('teacher')).retryAfterSeconds ?? 0);
    // A little more than a hundred in each second, from the first on.
    expect(told[0]).toBe(1);
    expect(told).toEqual([...told].sort((one, other) => one - other));
    expect(told.filter((seconds) => seconds === 3).length).toBeGreaterThan(100);
    expect(told.filter((seconds) => seconds === 3).length).toBeLessThan(150);
  });

  test('the line outside ends at sixteen seconds, and those beyond come spread out', async () => {
    const opened = openGate(4);
    await teachPace(opened, 4, 100);
    flood(opened, 'teacher');
    const tell = (): number => refusalOf(() => opened.enter('teacher')).retryAfterSeconds ?? 0;
    for (let count = 0; count < 3000; count += 1) tell();
    const beyond = Array.from({ length: 500 }, tell);
    expect(Math.min(...beyond)).toBeGreaterThanOrEqual(8);
    expect(Math.max(...beyond)).toBeLessThanOrEqual(16);
    expect(new Set(beyond).size).toBeGreaterThan(5);
  });

  test('what was not read for too long is refused though there is room', () => {
    const { gate, advance } = openGate(2, 100);
    advance(1000);
    expect(gate.refusalFor(['a'], 900)).toBeUndefined();
    expect(gate.refusalFor(['a'], 700)).toBeInstanceOf(Refused);
    expect([gate.running, gate.waiting]).toEqual([0, 0]);
  });

  test('a gate that stood still for a while lets requests wait again afterwards', async () => {
    const opened = openGate(2, 250);
    const hung = [turnOf(opened.enter('a')), turnOf(opened.enter('a'))];
    const waiting = waitingOf(opened.enter('a')).turn.catch(() => undefined);
    opened.advance(5000);
    for (const turn of hung) turn.end();
    (await waiting)?.end();
    opened.advance(5000);
    const turns = [turnOf(opened.enter('a')), turnOf(opened.enter('a'))];
    const place = waitingOf(opened.enter('a'));
    turns[0]?.end();
    (await place.turn).end();
  });

  test('who only asks whether there is hope leaves nothing behind', async () => {
    const opened = openGate(1);
    turnOf(opened.enter('hog'));
    waitingOf(opened.enter('hog')).turn.catch(() => {});
    // Its headroom is taken too, so all those who come now would have to wait.
    turnOf(opened.enter('second'));
    for (let count = 0; count < 1000; count += 1) opened.gate.refusalFor([`stranger ${count}`], 0);
    expect(opened.gate.classes).toBe(2);
  });
});

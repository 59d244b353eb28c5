import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { deferred, type FakeClaim, leasedWork, pass, topics } from '../../test/harness/leased-work.ts';

// Time stands still but for what a test lets pass.

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('what is due is found when it starts, and by a poll when nobody wakes it', async () => {
  const { worker, work, end } = leasedWork();
  work.due = topics('a');
  worker.start();
  await pass();
  expect([...work.serving.keys()]).toEqual(['a']);
  await end('a');
  expect(work.released).toEqual([{ key: 'a', token: 1, end: 'done' }]);
  work.due = topics('b');
  await pass(999);
  expect([...work.serving.keys()]).toEqual([]);
  await pass(1);
  expect([...work.serving.keys()]).toEqual(['b']);
});

test('nothing is claimed before it has recovered, and what is woken meanwhile is claimed then', async () => {
  const recovering = deferred();
  const { worker, work } = leasedWork({ recover: () => recovering.promise });
  worker.wake(topics('too-early'));
  worker.start();
  worker.wake(topics('a'));
  await pass(2000);
  expect([work.looks, work.claimed]).toEqual([0, []]);
  recovering.resolve();
  await pass();
  expect([work.looks, work.claimed]).toEqual([1, ['a']]);
});

test('a wake during a claim is not lost', async () => {
  const held = deferred<FakeClaim[]>();
  const answers = [held.promise, Promise.resolve([{ key: 'a', token: 2 }])];
  const { worker, work } = leasedWork({
    claim: async () => {
      work.claimed.push('a');
      return (await answers.shift()) ?? [];
    },
  });
  worker.start();
  worker.wake(topics('a'));
  await pass();
  worker.wake(topics('a'));
  await pass();
  expect(work.claimed).toEqual(['a']);
  // Somebody else had it when that claim was made.
  held.resolve([]);
  await pass();
  expect(work.claimed).toEqual(['a', 'a']);
  expect([...work.serving.keys()]).toEqual(['a']);
});

test('a wake is heard by the work, or after it when it was about to end', async () => {
  const releasing = deferred();
  const { worker, work, end, leaseOf } = leasedWork({
    release: async () => {
      await releasing.promise;
      return undefined;
    },
  });
  worker.start();
  worker.wake(topics('a'));
  await pass();
  const lease = leaseOf('a');
  let isRested = false;
  const rested = lease.rest(5000).then(() => {
    isRested = true;
  });
  await pass(100);
  expect(isRested).toBe(false);
  worker.wake(topics('a'));
  await rested;
  expect(lease.isWoken).toBe(true);
  lease.listen();
  await end('a');
  worker.wake(topics('a'));
  await pass();
  expect(work.claimed).toEqual(['a']);
  releasing.resolve();
  await pass();
  expect(work.claimed).toEqual(['a', 'a']);
});

test('a wake without topics looks for all that is due, also while a look is under way', async () => {
  const looks = [deferred<{ key: string }[]>(), deferred<{ key: string }[]>()];
  let asked = 0;
  const { worker, work, leaseOf } = leasedWork({
    due: async () => {
      asked += 1;
      return (await looks[asked - 1]?.promise) ?? [];
    },
  });
  worker.start();
  worker.wake(topics('a'));
  await pass();
  worker.wake();
  expect(leaseOf('a').isWoken).toBe(true);
  await pass();
  expect(asked).toBe(1);
  looks[0]?.resolve([]);
  await pass();
  expect(asked).toBe(2);
  looks[1]?.resolve(topics('b'));
  await pass();
  expect([...work.serving.keys()]).toEqual(['a', 'b']);
});

test('no more than the limit at once; the longest running are asked to leave, and the others follow in turn', async () => {
  const { worker, work, end, leaseOf } = leasedWork({ limits: { all: 2 } });
  worker.start();
  worker.wake(topics('a', 'b', 'c'));
  worker.wake(topics('d'));
  await pass();
  expect([...work.serving.keys()]).toEqual(['a', 'b']);
  expect([leaseOf('a').isWanted, leaseOf('b').isWanted]).toEqual([true, true]);
  await end('b');
  expect([...work.serving.keys()]).toEqual(['a', 'c']);
  expect(leaseOf('c').isWanted).toBe(false);
  await end('a');
  await end('c');
  await end('d');
  expect(work.claimed).toEqual(['a', 'b', 'c', 'd']);
  expect(work.mostAtOnce).toBe(2);
});

test('a group takes a part of the places only, also where the claim tells that something belongs to it', async () => {
  const group = 'slow';
  const { worker, work, end, leaseOf } = leasedWork({
    limits: { all: 4, groups: { slow: 1 } },
    claim: async ({ key }) => {
      work.claimed.push(key);
      return [{ key, token: work.claimed.length, group: key.startsWith('slow') ? group : undefined }];
    },
  });
  work.due = [
    { key: 'slow-1', group },
    { key: 'slow-2', group },
  ];
  worker.start();
  await pass();
  worker.wake(topics('slow-3', 'quick'));
  await pass();
  expect([...work.serving.keys()]).toEqual(['slow-1', 'quick']);
  // It was claimed before that was known, and given back as it was.
  expect(work.released).toMatchObject([{ key: 'slow-3', end: 'untouched' }]);
  expect(leaseOf('slow-1').isWanted).toBe(false);
  await end('slow-1');
  expect([...work.serving.keys()]).toEqual(['quick', 'slow-2']);
  // One that is slow no more makes room for the next.
  leaseOf('slow-2').leaveGroup();
  await pass();
  expect([...work.serving.keys()]).toEqual(['quick', 'slow-2', 'slow-3']);
});

test('from a queue as many are claimed as there is room for, and more when there is room again', async () => {
  const queue = ['1', '2', '3'];
  const rooms: number[] = [];
  const { worker, work, end } = leasedWork({
    topics: 'queue',
    limits: { all: 2 },
    claim: async (_topic, room) => {
      rooms.push(room);
      return queue.splice(0, room).map((key) => ({ key, token: 0 }));
    },
  });
  worker.start();
  worker.wake(topics('mail'));
  await pass();
  expect([...work.serving.keys()]).toEqual(['1', '2']);
  await end('1');
  expect([...work.serving.keys()]).toEqual(['2', '3']);
  await end('3');
  await end('2');
  // The last claim took less than it could: nothing was left.
  expect(rooms).toEqual([2, 1, 1]);
});

test('leases are renewed in time, and one that another has now ends the work', async () => {
  const renewed: string[][] = [];
  let held = ['a', 'b'];
  const { worker, work, leaseOf } = leasedWork({
    renew: async (claims) => {
      renewed.push(claims.map(({ key }) => key));
      return topics(...held);
    },
  });
  worker.start();
  worker.wake(topics('a', 'b'));
  await pass(30_000);
  expect(renewed).toHaveLength(10);
  expect(renewed[0]).toEqual(['a', 'b']);
  const [first, second] = [leaseOf('a'), leaseOf('b')];
  expect([first.isOver, second.isOver]).toEqual([false, false]);
  held = ['b'];
  await pass(3000);
  expect([first.isOver, first.signal.aborted, second.isOver]).toEqual([true, true, false]);
  expect(work.released).toMatchObject([{ key: 'a', end: 'aborted' }]);
});

test('a lease that cannot be renewed ends the work when it runs out, and not before', async () => {
  const { worker, work, leaseOf } = leasedWork();
  worker.start();
  worker.wake(topics('a'));
  await pass();
  const lease = leaseOf('a');
  work.isAway = true;
  await pass(9999);
  expect(lease.isOver).toBe(false);
  await pass(1);
  expect(lease.isOver).toBe(true);
  await pass(2000);
  expect(lease.signal.aborted).toBe(true);
});

test('where later claims fence off the writes of earlier ones, time alone does not end the work', async () => {
  const { worker, work, leaseOf } = leasedWork({ lease: { ms: 10_000, renewEveryMs: 3000, isFenced: true } });
  worker.start();
  worker.wake(topics('a'));
  await pass();
  work.isAway = true;
  await pass(60_000);
  expect(leaseOf('a').isOver).toBe(false);
});

test('work that may take so long is aborted after it', async () => {
  const { worker, work } = leasedWork({ lease: { ms: 10_000, workMs: 4000 } });
  worker.start();
  worker.wake(topics('a'));
  await pass(3999);
  expect(work.released).toEqual([]);
  await pass(1);
  expect(work.released).toEqual([{ key: 'a', token: 1, end: 'aborted' }]);
});

test('what this process holds without knowing, since the answer to a claim was lost, it claims again', async () => {
  const { worker, work } = leasedWork({ renew: async () => topics('a', 'lost') });
  worker.start();
  worker.wake(topics('a'));
  await pass(3000);
  expect(work.claimed).toEqual(['a', 'lost']);
});

test('work that throws is told of and given back as failed', async () => {
  const { worker, work } = leasedWork({
    serve: async () => {
      throw new Error('broken');
    },
  });
  worker.start();
  worker.wake(topics('a'));
  await pass();
  expect(work.failed).toHaveBeenCalledOnce();
  expect(work.released).toEqual([{ key: 'a', token: 1, end: 'failed' }]);
});

test('a topic is claimed again when it is due, and at once where work is left', async () => {
  const { worker, work, end } = leasedWork({ release: async (_claim, ending) => Number(ending) });
  worker.start();
  worker.wake(topics('a'));
  await pass();
  await end('a', '0');
  expect(work.claimed).toEqual(['a', 'a']);
  await end('a', '700');
  await pass(699);
  expect(work.claimed).toHaveLength(2);
  await pass(1);
  expect(work.claimed).toHaveLength(3);
});

test('while the database is away it looks less and less often, and then goes on with what it could not claim', async () => {
  const { worker, work } = leasedWork();
  worker.start();
  await pass();
  expect(work.recovered).toHaveBeenCalledOnce();
  work.isAway = true;
  worker.wake(topics('a', 'b'));
  await pass(60_000);
  expect(work.claimed).toEqual(['a', 'b']);
  expect(work.looks).toBeGreaterThan(60 / 4);
  expect(work.looks).toBeLessThan(60 / 2.5);
  expect(work.failed.mock.calls.length).toBeGreaterThan(3);
  expect(work.recovered).toHaveBeenCalledOnce();
  work.isAway = false;
  await pass(4000);
  expect([...work.serving.keys()]).toEqual(['a', 'b']);
  expect(work.recovered).toHaveBeenCalled();
  const { looks } = work;
  await pass(5000);
  expect(work.looks - looks).toBe(5);
});

test('a claim is given back until that has succeeded, and nobody works on it meanwhile', async () => {
  const { worker, work, end } = leasedWork();
  worker.start();
  worker.wake(topics('a'));
  await pass();
  work.isAway = true;
  await end('a');
  worker.wake(topics('a'));
  await pass(2000);
  expect(work.claimed).toEqual(['a']);
  work.isAway = false;
  await pass(5000);
  expect(work.released).toEqual([{ key: 'a', token: 1, end: 'done' }]);
  expect(work.claimed).toEqual(['a', 'a']);
});

test('what is claimed once more while its result waits to be written goes on under the later claim', async () => {
  let token = 0;
  const { worker, work, end } = leasedWork({
    topics: 'queue',
    claim: async () => {
      token += 1;
      return token <= 2 ? [{ key: 'message', token }] : [];
    },
    limits: { all: 2 },
  });
  worker.start();
  worker.wake(topics('mail'));
  await pass();
  work.isAway = true;
  await end('message');
  // Its lease has run out meanwhile.
  worker.wake(topics('mail'));
  await pass();
  work.isAway = false;
  await pass(1000);
  expect(work.released).toEqual([{ key: 'message', token: 2, end: 'done' }]);
  expect(work.serving.size).toBe(0);
});

describe('work for organizations that are held', () => {
  /** Nobody is worked for, then only those that a test names, then all. */
  function holding() {
    const lifted = new Set<string>();
    const hold = {
      isUp: true,
      get isWhole() {
        return this.isUp && lifted.size === 0;
      },
      holds: async (organizationId: string) => hold.isUp && !lifted.has(organizationId),
    };
    return { hold, lifted };
  }

  test('is neither looked for nor claimed nor tidied away, also where somebody wakes it', async () => {
    const { hold } = holding();
    let tidied = 0;
    const tidy = async (): Promise<void> => {
      tidied += 1;
    };
    const { worker, work } = leasedWork({ whose: ({ key }) => key, tidy }, hold);
    work.due = topics('a');
    worker.start();
    worker.wake(topics('b'));
    await pass(5000);
    expect([work.looks, work.claimed, tidied]).toEqual([0, [], 0]);
    hold.isUp = false;
    await pass(1000);
    expect([...work.claimed].sort()).toEqual(['a', 'b']);
    expect(tidied).toBe(1);
    // Not a sign of an outage.
    expect(work.failed).not.toHaveBeenCalled();
  });

  test('waits while others are worked for, and keeps no place of theirs', async () => {
    const { hold, lifted } = holding();
    lifted.add('b');
    const { worker, work } = leasedWork({ limits: { all: 1 }, whose: ({ key }) => key }, hold);
    worker.start();
    worker.wake(topics('a', 'b'));
    await pass();
    expect([work.claimed, [...work.serving.keys()]]).toEqual([['a', 'b'], ['b']]);
    expect(work.released).toEqual([{ key: 'a', token: 1, end: 'untouched' }]);
    // A poll looks for it, and nothing else does.
    await pass(900);
    expect(work.claimed).toEqual(['a', 'b']);
  });

  test('waits whole where nobody can tell whose it is', async () => {
    const { hold, lifted } = holding();
    lifted.add('a');
    const { worker, work } = leasedWork({}, hold);
    work.due = topics('a');
    worker.start();
    await pass(3000);
    expect([work.looks, work.claimed]).toEqual([0, []]);
  });

  test('waits where it cannot be told whether its organization is held', async () => {
    const { hold, lifted } = holding();
    lifted.add('b');
    hold.holds = async () => {
      throw new Error('the database is away');
    };
    const { worker, work } = leasedWork({ whose: ({ key }) => key }, hold);
    worker.start();
    worker.wake(topics('a'));
    await pass();
    expect(work.released).toEqual([{ key: 'a', token: 1, end: 'untouched' }]);
  });

  test('is tidied away where that does no harm', async () => {
    const { hold } = holding();
    let tidied = 0;
    const tidy = async (): Promise<void> => {
      tidied += 1;
    };
    const { worker } = leasedWork({ tidy, tidiesMeanwhile: 'it deletes what is old' }, hold);
    worker.start();
    await pass(1000);
    expect(tidied).toBeGreaterThan(0);
  });

  test('ends where the fence comes up while it is under way', async () => {
    const { hold } = holding();
    hold.isUp = false;
    const { worker, work, leaseOf } = leasedWork({ whose: ({ key }) => key }, hold);
    worker.start();
    worker.wake(topics('a'));
    await pass();
    expect(leaseOf('a').isOver).toBe(false);
    hold.isUp = true;
    await pass(1000);
    expect(leaseOf('a').isOver).toBe(true);
    expect(work.claimed).toEqual(['a']);
  });
});

import { describe, expect, test } from 'vitest';
import { chainSettings } from '../../../../test/chain/chain-settings.ts';
import { fakeStores } from '../../../../test/harness/fake-stores.ts';
import { randomId, type SendId } from '../../../lib/ids.ts';
import type { EvmNode } from '../../nodes/node.ts';
import type { Send } from '../../send/model.ts';
import type { Round } from '../../send/parts.ts';
import { Sends } from '../../send/sends.ts';
import { begin, type Line, readyToBegin } from './begin.ts';

const [ORGANIZATION, ACTIVITY] = [randomId<'organization'>(), randomId<'activity'>()];

function sendOf(name: string, changes: Partial<Send> = {}): Send {
  return {
    organizationId: ORGANIZATION,
    id: name as SendId,
    activityId: ACTIVITY,
    caip2: 'eip155:31337',
    sender: '0x01',
    lane: '0x01',
    purpose: 'send',
    request: { kind: 'ethereum', calls: [] },
    afterId: undefined,
    state: 'INITIALIZED',
    nonce: undefined,
    attempts: [],
    txHash: undefined,
    block: undefined,
    error: undefined,
    isOpen: true,
    createdAtMs: 0,
    updatedAtMs: 0,
    ...changes,
  };
}

const behind = (name: string, afterId: string): Send => sendOf(name, { afterId: afterId as SendId });

/** Which of the sends of a lane may begin, and which are failed. */
async function ready(lane: readonly Send[]): Promise<{ begin: string[]; failed: string[] }> {
  const failed: string[] = [];
  const round = {
    parts: {
      clock: () => 0,
      storage: {
        read: fakeStores([Sends, { find: async (_: unknown, id: string) => lane.find((send) => send.id === id) }]),
      },
    },
    chain: chainSettings(),
    save: async (send: Send) => {
      failed.push(send.id);
      return send;
    },
  } as unknown as Round;
  const waiting = lane.filter(({ state }) => state === 'INITIALIZED');
  return { begin: (await readyToBegin(round, waiting)).map(({ id }) => id), failed };
}

test('sends that wait for nothing begin in their order', async () => {
  expect(await ready([sendOf('1'), sendOf('2'), sendOf('3')])).toEqual({ begin: ['1', '2', '3'], failed: [] });
});

test('what comes after the first of several steps waits until all of them have begun', async () => {
  const fixed = sendOf('5', { request: { kind: 'ethereum', calls: [], nonce: 7 } });
  const steps = (first: Send['state'], second: Send['state']) => [
    sendOf('1', { state: first }),
    // Of another request, though it is between the two.
    sendOf('2'),
    { ...behind('3', '1'), state: second },
    behind('4', '3'),
    fixed,
  ];
  expect((await ready(steps('INITIALIZED', 'INITIALIZED'))).begin).toEqual(['1', '5']);
  expect((await ready(steps('BROADCASTING', 'INITIALIZED'))).begin).toEqual(['5']);
  expect((await ready(steps('INCLUDED', 'INITIALIZED'))).begin).toEqual(['3', '5']);
  expect((await ready(steps('INCLUDED', 'BROADCASTING'))).begin).toEqual(['5']);
  expect((await ready(steps('INCLUDED', 'INCLUDED'))).begin).toEqual(['4', '2', '5']);
});

test('what was committed late with a smaller id does not come between', async () => {
  const late = [sendOf('1'), behind('2', '1')];
  const before = (state: Send['state']) => [...late, sendOf('3', { state }), behind('4', '3')];
  expect((await ready(before('BROADCASTING'))).begin).toEqual([]);
  expect((await ready(before('INCLUDED'))).begin).toEqual(['4', '1']);
  expect(await ready(before('FAILED'))).toEqual({ begin: ['1'], failed: ['4'] });
});

describe('one whose estimate fails while others are on their way', () => {
  const OPERATOR = '0x02';
  const call = { to: '0x00000000000000000000000000000000000000aa', value: '0', data: '0x' };
  const node = {
    estimateGas: async () => ({ ok: false, message: 'execution reverted', data: '0x' }),
    fees: async () => ({ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }),
  } as unknown as EvmNode;

  async function begun(send: Send, senders: readonly string[]) {
    const heldSince = new Map<string, number>();
    const failed: string[] = [];
    const round = {
      parts: { clock: () => 5, elapsed: () => 5, storage: { read: {} } },
      chain: chainSettings(),
      memory: { heldSince },
      save: async (one: Send) => {
        failed.push(one.id);
        return one;
      },
    } as unknown as Round;
    const line: Line = {
      onTheWay: senders.length,
      senders: new Set(senders),
      count: 0,
      taken: new Set(),
      isSingle: false,
      isAwaited: false,
    };
    return { outcome: await begin(round, node, send, line), held: [...heldSince], failed };
  }

  const request = { kind: 'ethereum', calls: [call] } as const;
  const own = sendOf('1', { request });
  const deployment = sendOf('1', { request, sender: OPERATOR, lane: OPERATOR, purpose: 'earn-deploy' });

  test('waits in its own lane, with all behind it', async () => {
    expect(await begun(own, ['0x01'])).toEqual({ outcome: 'wait', held: [], failed: [] });
    expect(await begun(own, [])).toMatchObject({ failed: ['1'] });
  });

  test('in the lane of the operator keeps nobody, and is noted as held while it may be right later', async () => {
    expect(await begun(deployment, [OPERATOR])).toEqual({ outcome: 'skip', held: [['1', 5]], failed: [] });
    expect(await begun(deployment, ['0x03'])).toMatchObject({ outcome: 'sent', failed: ['1'] });
  });
});

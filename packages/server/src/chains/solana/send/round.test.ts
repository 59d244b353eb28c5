import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { expect, test } from 'vitest';
import { FakeSolana, SOLANA_CHAIN } from '../../../../test/chain/fake-solana.ts';
import { wireOf } from '../../../../test/chain/solana-transfer.ts';
import { fakeStores } from '../../../../test/harness/fake-stores.ts';
import { randomId } from '../../../lib/ids.ts';
import type { Send } from '../../send/model.ts';
import { type Round, SendChanged } from '../../send/parts.ts';
import { Sends } from '../../send/sends.ts';
import { solanaRound } from './round.ts';

const NOW = 1_700_000_000_000;
const SECRET = new Uint8Array(32).fill(1);
const ALICE = base58.encode(ed25519.getPublicKey(SECRET));
/** The dispatcher sets a fresh one. */
const NO_BLOCKHASH = '1'.repeat(32);

/** A lane with one waiting send. It is written only by those who have it as it is stored. */
function laneWithOne() {
  const send: Send = {
    organizationId: randomId(),
    id: randomId(),
    activityId: randomId(),
    caip2: SOLANA_CHAIN.caip2,
    sender: ALICE,
    lane: ALICE,
    purpose: 'send',
    request: {
      kind: 'solana',
      transaction: wireOf({ signers: [ALICE], blockhash: NO_BLOCKHASH }),
      signers: [ALICE],
      takesFreshBlockhash: true,
      isSponsored: false,
    },
    afterId: undefined,
    state: 'INITIALIZED',
    nonce: undefined,
    attempts: [],
    txHash: undefined,
    block: undefined,
    error: undefined,
    isOpen: true,
    createdAtMs: NOW,
    updatedAtMs: NOW,
  };
  const chain = new FakeSolana();
  const lane = { send, stored: send, chain };
  const sign = async (_organizationId: string, _address: string, _scheme: string, [payload]: [Uint8Array]) => {
    const signature = ed25519.sign(payload, SECRET);
    return [{ r: signature.subarray(0, 32), s: signature.subarray(32), v: 0 }];
  };
  const round = {
    parts: {
      nodes: { solana: () => chain.node() },
      storage: { read: fakeStores([Sends, { hasHash: async () => false }]) },
      signer: { sign },
      clock: () => NOW,
      elapsed: () => NOW,
    },
    chain: SOLANA_CHAIN,
    lane: { caip2: send.caip2, lane: ALICE, epoch: 1 },
    memory: { missingSince: new Map() },
    save: async (read: Send, progress: Partial<Send>) => {
      if (read !== lane.stored) throw new SendChanged('it is not as it was read');
      lane.stored = { ...read, ...progress };
      return lane.stored;
    },
  } as unknown as Round;
  return Object.assign(lane, { round });
}

test('a send that a round reads three times is handed over once', async () => {
  const lane = laneWithOne();
  const { chain, round, send } = lane;
  // Each copy would be another transaction.
  chain.onBroadcast = (_transaction, take) => {
    const taken = take();
    chain.grow(1);
    return taken;
  };
  await expect(solanaRound(round, [send, send, send])).rejects.toThrow(SendChanged);
  expect(chain.handed).toHaveLength(1);
  await solanaRound(round, [lane.stored]);
  expect(lane.stored).toMatchObject({ state: 'INCLUDED', txHash: chain.handed[0]?.signature });
  expect(chain.handed).toHaveLength(1);
});

test('what a node refuses is written onto what was stored before the node had it', async () => {
  const lane = laneWithOne();
  lane.chain.onBroadcast = () => ({
    kind: 'refused',
    rpcCode: -32002,
    message: 'no',
    err: 'AccountNotFound',
    logs: [],
  });
  await solanaRound(lane.round, [lane.send]);
  expect(lane.stored).toMatchObject({ state: 'FAILED', isOpen: true, attempts: [{ signedAtMs: NOW }] });
});

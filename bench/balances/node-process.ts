// A node of a chain that answers from memory, in a process of its own so that its time is not the watch's.
import { createHash } from 'node:crypto';
import type { Hex } from '../../packages/server/src/chains/nodes/node.ts';
import { StubNode } from '../../packages/server/test/chain/stub-node.ts';
import { answerParent } from '../child.ts';

/** Blocks to be made, each with so many transfers to the addresses in turn: every other one is of the token. */
export interface Mining {
  readonly addresses: readonly string[];
  readonly token: string;
  readonly transfers: number;
  readonly blocks: number;
}

/** Where the node is, and how many calls it has answered. */
export interface Mined {
  readonly url: string;
  readonly calls: number;
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const PAYER: Hex = `0x${'9'.repeat(40)}`;
const pad = (hex: Hex): Hex => `0x${hex.slice(2).padStart(64, '0')}`;
const node = await StubNode.start();
let paid = 0;

function transferTo(to: Hex, token: Hex) {
  paid += 1;
  const hash: Hex = `0x${createHash('sha256').update(String(paid)).digest('hex')}`;
  const isToken = paid % 2 === 0;
  if (!isToken) node.balances.set(to, (node.balances.get(to) ?? 0n) + 1n);
  const transaction = { hash, raw: hash, from: PAYER, nonce: 0, input: '0x' as Hex, isReverted: false };
  return {
    transaction: { ...transaction, to: isToken ? token : to, value: isToken ? 0n : 1n },
    logs: isToken ? [{ address: token, topics: [TRANSFER, pad(PAYER), pad(to)] as Hex[], data: pad('0x1') }] : [],
  };
}

answerParent(async ({ addresses, token, transfers, blocks }: Mining): Promise<Mined> => {
  const calls = node.requests.length;
  for (let made = 0; made < blocks; made += 1) {
    const mined = Array.from({ length: transfers }, () =>
      transferTo(addresses[paid % addresses.length]?.toLowerCase() as Hex, token as Hex),
    );
    node.mine(mined);
  }
  return { url: node.url, calls };
});

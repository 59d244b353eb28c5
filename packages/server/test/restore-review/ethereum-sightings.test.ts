import { encodeEventTopics, type Hex } from 'viem';
import { describe, expect, test } from 'vitest';
import { custosBatchAbi } from '../../src/chains/ethereum/contract-artifacts.ts';
import { createEvmNode } from '../../src/chains/ethereum/node/evm-node.ts';
import { createEvmHistory } from '../../src/chains/ethereum/review/history.ts';
import { createEthereumLookup } from '../../src/chains/ethereum/review/lookup.ts';
import { runData, runSignedData } from '../../src/chains/ethereum/send/transaction.ts';
import type { Send, SendAttempt } from '../../src/chains/send/model.ts';
import type { LaneSightings, UnsettledLane } from '../../src/chains/send/sighting.ts';
import { randomId, type SendId } from '../../src/lib/ids.ts';
import { chainSettings } from '../chain/chain-settings.ts';
import { keyOf, msAt, RpcChain, type Sent, sign } from './rpc-chain.ts';

// What is found out of sends by the nonces of an address, and when it is said that nobody knows.

const PAYER = keyOf(7);
const OPERATOR = keyOf(8);
const FROM = PAYER.address.toLowerCase() as Hex;
const SPONSOR = OPERATOR.address.toLowerCase() as Hex;
const TO: Hex = `0x${'ab'.repeat(20)}`;
const OTHER: Hex = `0x${'cd'.repeat(20)}`;
const CAIP2 = 'eip155:31337';
/** Blocks of an hour and a half. */
const BEFORE = 450;

interface SendWish extends Partial<Omit<Send, 'request'>> {
  readonly value?: string;
  readonly request?: object;
  readonly out?: readonly Sent[];
}

function sendOf({ value = '10', request, out = [], ...extra }: SendWish = {}): Send {
  const attempts = out.map(({ hash, raw, nonce }): SendAttempt => ({ hash, raw, nonce, signedAtMs: msAt(BEFORE) }));
  return {
    organizationId: randomId(),
    id: randomId(),
    activityId: randomId(),
    ...{ caip2: CAIP2, sender: FROM, lane: FROM, purpose: 'send', afterId: undefined },
    request: { kind: 'ethereum', calls: [{ to: TO, value, data: '0x' }], ...request } as Send['request'],
    state: attempts.length > 0 ? 'BROADCASTING' : 'INITIALIZED',
    nonce: attempts.at(-1)?.nonce,
    attempts,
    txHash: attempts.at(-1)?.hash,
    ...{ block: undefined, error: undefined, isOpen: true, createdAtMs: msAt(BEFORE), updatedAtMs: msAt(BEFORE) },
    ...extra,
  };
}

/** A chain on which the payer has made three transactions before the backup. */
async function newChain(): Promise<RpcChain> {
  const chain = new RpcChain();
  for (let nonce = 0; nonce < 3; nonce += 1) chain.mine(100, await sign(PAYER, { nonce, to: TO, value: 10n }));
  chain.mine(BEFORE - chain.height);
  return chain;
}

async function look(
  chains: readonly RpcChain[],
  sends: readonly Send[],
  extra: Partial<UnsettledLane> = {},
): Promise<LaneSightings> {
  const rpcUrls = await Promise.all(chains.map((chain) => chain.serve()));
  const settings = chainSettings({ rpcUrls });
  const options = { retryPauseMs: 1, timeoutMs: 5000 };
  const lookup = createEthereumLookup(createEvmNode(settings, options), createEvmHistory(settings, options));
  return await lookup.ofLane({
    ...{ caip2: CAIP2, lane: FROM, sends, snapshotAtMs: msAt(BEFORE), restoredAtMs: msAt(BEFORE + 100) },
    ...{ knownCount: undefined, isKnown: async () => false },
    ...extra,
  });
}

const only = ({ sightings }: LaneSightings, { id }: { readonly id: SendId }) => sightings.get(id);

describe('a send that waited', () => {
  test('is the transaction that does what it asks for, since the backup', async () => {
    const chain = await newChain();
    const [first, second] = [sendOf(), sendOf()];
    const sent = await sign(PAYER, { nonce: 4, to: TO, value: 10n });
    chain.mine(7, await sign(PAYER, { nonce: 3, to: OTHER, value: 10n }), sent);
    chain.mine(30, await sign(PAYER, { nonce: 5, to: TO, value: 11n }));
    const found = await look([chain], [first, second]);
    expect(only(found, first)).toMatchObject({
      kind: 'landed',
      attempt: { hash: sent.hash, raw: sent.raw, nonce: 4 },
      block: { number: BEFORE + 8, isSuccess: true },
    });
    // One transaction is one send.
    expect(only(found, second)).toMatchObject({ kind: 'unseen' });
    expect(found.others.map(({ nonce, says }) => [nonce, says])).toEqual([
      [3, `0.00000000000000001 ETH to ${OTHER}`],
      [5, `0.000000000000000011 ETH to ${TO}`],
    ]);
  });

  test('is not one of before the backup, nor one that the database knows', async () => {
    const chain = await newChain();
    const known = await sign(PAYER, { nonce: 3, to: TO, value: 10n });
    chain.mine(1, known);
    const send = sendOf();
    const found = await look([chain], [send], { isKnown: async (hash) => hash === known.hash });
    expect(only(found, send)).toMatchObject({ kind: 'unseen' });
    expect(found.others).toEqual([]);
  });

  test('may have been reverted', async () => {
    const chain = await newChain();
    const sent = await sign(PAYER, { nonce: 3, to: TO, value: 10n });
    chain.reverted.add(sent.hash);
    chain.mine(1, sent);
    const send = sendOf();
    expect(only(await look([chain], [send]), send)).toMatchObject({ kind: 'landed', block: { isSuccess: false } });
  });

  test('may wait at a node, which may not show it', async () => {
    const chain = await newChain();
    const sent = await sign(PAYER, { nonce: 3, to: TO, value: 10n });
    chain.pool = [sent];
    const send = sendOf();
    expect(only(await look([chain], [send]), send)).toMatchObject({ kind: 'pending', attempt: { hash: sent.hash } });
    chain.showsPool = false;
    expect(only(await look([chain], [send]), send)).toMatchObject({
      kind: 'unknown',
      isAway: false,
      because: expect.stringContaining('does not show which'),
    });
  });

  test('of several calls is the batch that the account runs', async () => {
    const chain = await newChain();
    const calls = [1, 2].map((value) => ({ to: TO, value: String(value), data: '0x' }));
    const sent = await sign(PAYER, { nonce: 3, to: FROM, data: runData(calls), gas: 100_000n });
    chain.mine(1, sent);
    const [send, reversed] = [sendOf({ request: { calls } }), sendOf({ request: { calls: [...calls].reverse() } })];
    const found = await look([chain], [reversed, send]);
    expect(only(found, send)).toMatchObject({ kind: 'landed', attempt: { hash: sent.hash } });
    expect(only(found, reversed)).toMatchObject({ kind: 'unseen' });
  });

  test('with a nonce of its own can land or not, and is never paid twice', async () => {
    const chain = await newChain();
    chain.mine(1, await sign(PAYER, { nonce: 3, to: OTHER, value: 10n }));
    const [taken, free] = [sendOf({ request: { nonce: 3 } }), sendOf({ request: { nonce: 9 } })];
    const found = await look([chain], [taken, free]);
    expect(only(found, taken)).toMatchObject({
      kind: 'void',
      canBeginAnew: false,
      because: expect.stringContaining('took its nonce 3'),
    });
    expect(only(found, free)).toMatchObject({ kind: 'free' });
  });

  test('that was signed elsewhere is known by its bytes', async () => {
    const chain = await newChain();
    const sent = await sign(PAYER, { nonce: 3, to: TO, value: 10n });
    chain.mine(1, sent);
    const lane = `${randomId()} ${FROM}`;
    const send = sendOf({ lane, purpose: 'raw', request: { kind: 'ethereum-raw', raw: sent.raw } });
    const found = await look([chain], [send], { lane });
    expect(only(found, send)).toMatchObject({ kind: 'landed', attempt: { hash: sent.hash } });
  });
});

describe('a send that the operator pays for', () => {
  const calls = [{ to: TO, value: '10', data: '0x' }];
  const sponsored = () => sendOf({ lane: SPONSOR, request: { calls, sponsored: { batchNonce: '5' } } });
  const batch = { carrier: SPONSOR, account: FROM, chainId: 31337, nonce: 5n, deadline: 99n, calls };
  const data = runSignedData(batch, `0x${'11'.repeat(65)}`);

  test.each([true, false])('is found by its event: %s', async (hasEvent) => {
    const chain = await newChain();
    const sent = await sign(OPERATOR, { nonce: 0, to: FROM, data, gas: 100_000n });
    chain.mine(1, sent);
    const args = { nonce: 5n };
    const topics = encodeEventTopics({ abi: custosBatchAbi, eventName: 'NonceUsed', args }) as Hex[];
    if (hasEvent) {
      chain.logs.push({ address: FROM, topics, hash: sent.hash });
      // Whatever became of the operator's nonces.
      chain.statesFrom = Number.POSITIVE_INFINITY;
    }
    const send = sponsored();
    const found = await look([chain], [send], { lane: SPONSOR });
    expect(only(found, send)).toMatchObject({
      kind: 'landed',
      attempt: { hash: sent.hash, maxCost: expect.any(String) },
    });
  });

  test('is not another batch of the account, and is run once at most', async () => {
    const chain = await newChain();
    const other = runSignedData({ ...batch, nonce: 6n }, `0x${'11'.repeat(65)}`);
    chain.mine(1, await sign(OPERATOR, { nonce: 0, to: FROM, data: other, gas: 100_000n }));
    const send = sponsored();
    expect(only(await look([chain], [send], { lane: SPONSOR }), send)).toMatchObject({ kind: 'free' });
  });
});

describe('a send that was under way', () => {
  test('is found by its hash, without old states', async () => {
    const chain = await newChain();
    const sent = await sign(PAYER, { nonce: 3, to: TO, value: 10n });
    chain.mine(1, sent);
    chain.statesFrom = Number.POSITIVE_INFINITY;
    const send = sendOf({ out: [sent] });
    expect(only(await look([chain], [send]), send)).toMatchObject({ kind: 'landed', attempt: { hash: sent.hash } });
  });

  test('may have landed for a higher fee', async () => {
    const chain = await newChain();
    const first = await sign(PAYER, { nonce: 3, to: TO, value: 10n });
    const raised = await sign(PAYER, { nonce: 3, to: TO, value: 10n, gas: 30_000n });
    chain.mine(1, raised);
    const send = sendOf({ out: [first] });
    expect(only(await look([chain], [send]), send)).toMatchObject({ kind: 'landed', attempt: { hash: raised.hash } });
  });

  test('may have lost its nonce to another, or to an authorization', async () => {
    const chain = await newChain();
    const [first, second] = [
      await sign(PAYER, { nonce: 3, to: TO, value: 10n }),
      await sign(PAYER, { nonce: 4, to: TO, value: 10n }),
    ];
    const taker = await sign(PAYER, { nonce: 3, to: OTHER, value: 10n });
    chain.mine(1, taker);
    chain.mine(1);
    chain.authorizations.push({ address: FROM, block: chain.height });
    const [one, two] = [sendOf({ out: [first] }), sendOf({ out: [second] })];
    const found = await look([chain], [one, two]);
    expect(only(found, one)).toMatchObject({ kind: 'void', because: expect.stringContaining(taker.hash) });
    expect(only(found, two)).toMatchObject({ kind: 'void', because: expect.stringContaining('an authorization') });
  });

  test('goes on with the same bytes while nothing has its nonce', async () => {
    const chain = await newChain();
    const sent = await sign(PAYER, { nonce: 3, to: TO, value: 10n });
    const send = sendOf({ out: [sent] });
    expect(only(await look([chain], [send]), send)).toMatchObject({ kind: 'free' });
    chain.pool = [sent];
    expect(only(await look([chain], [send]), send)).toMatchObject({ kind: 'pending', attempt: { hash: sent.hash } });
  });
});

describe('nobody knows', () => {
  test('where no node has the state of the backup any more, which is said', async () => {
    const chain = await newChain();
    chain.mine(200, await sign(PAYER, { nonce: 3, to: TO, value: 10n }));
    chain.statesFrom = chain.height - 128;
    const [waiting, free] = [sendOf(), sendOf({ request: { nonce: 9 } })];
    const found = await look([chain], [waiting, free]);
    expect(only(found, waiting)).toMatchObject({
      kind: 'unknown',
      isAway: false,
      because: expect.stringMatching(/has made 4 transactions by now, and no node .* keeps old states/),
    });
    expect(only(found, free)).toMatchObject({ kind: 'free' });
    // Another node may have it.
    const archive = await newChain();
    archive.mine(200, ...(chain.blocks.at(-1) ?? []));
    expect(only(await look([chain, archive], [waiting]), waiting)).toMatchObject({ kind: 'landed' });
  });

  test('of old states where the address has done nothing since', async () => {
    const chain = await newChain();
    chain.mine(200);
    chain.statesFrom = chain.height;
    const send = sendOf();
    expect(only(await look([chain], [send], { knownCount: 3 }), send)).toMatchObject({ kind: 'unseen' });
  });

  test('where nodes contradict each other', async () => {
    const [one, other] = [await newChain(), await newChain()];
    other.mine(1, await sign(PAYER, { nonce: 3, to: TO, value: 10n }));
    const send = sendOf();
    expect(only(await look([one, other], [send]), send)).toMatchObject({
      kind: 'unknown',
      because: expect.stringContaining('they say 3 and 4'),
    });
  });

  test('where a node tells of a transaction that nobody signed', async () => {
    const chain = await newChain();
    chain.mine(1, await sign(PAYER, { nonce: 3, to: TO, value: 11n }));
    chain.lie = (transaction) => ({ ...transaction, value: '0xa' });
    const send = sendOf();
    expect(only(await look([chain], [send]), send)).toMatchObject({
      kind: 'unknown',
      because: expect.stringContaining('other bytes'),
    });
  });

  test('while no node answers', async () => {
    const settings = chainSettings({ rpcUrls: ['http://127.0.0.1:1'] });
    const options = { retryPauseMs: 1, timeoutMs: 1000 };
    const lookup = createEthereumLookup(createEvmNode(settings, options), createEvmHistory(settings, options));
    const send = sendOf();
    const lane = { caip2: CAIP2, lane: FROM, sends: [send], snapshotAtMs: 0, restoredAtMs: 0, knownCount: undefined };
    const found = await lookup.ofLane({ ...lane, isKnown: async () => false });
    expect(only(found, send)).toMatchObject({ kind: 'unknown', isAway: true });
  });
});

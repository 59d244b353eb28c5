import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import { chainSettings } from '../../../../test/chain/chain-settings.ts';
import { type FakeNode, Refusal, sendJson, startFakeNode } from '../../../../test/harness/json-rpc-node.ts';
import type { SolanaNode } from '../../nodes/node.ts';
import type { NodeOptions } from '../../nodes/rpc.ts';
import { createSolanaNode } from './solana-node.ts';

const GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const key = (byte: number): string => base58.encode(new Uint8Array(32).fill(byte));
const OWNER = key(1);
const MINT = key(2);
const BLOCKHASH = key(3);
const SIGNATURE_BYTES = new Uint8Array(64).fill(9);
const SIGNATURE = base58.encode(SIGNATURE_BYTES);
const TRANSACTION = Buffer.concat([Buffer.of(1), SIGNATURE_BYTES, Buffer.from('message')]).toString('base64');

const startNode = (answers: Readonly<Record<string, unknown>> = {}): Promise<FakeNode> =>
  startFakeNode({ getGenesisHash: GENESIS, ...answers });

function solanaNode(nodes: readonly FakeNode[], options: NodeOptions = {}): SolanaNode {
  const chain = chainSettings({ caip2: `solana:${GENESIS.slice(0, 32)}`, rpcUrls: nodes.map(({ url }) => url) });
  return createSolanaNode(chain, { retryPauseMs: 0, ...options });
}

const withContext = (value: unknown): unknown => ({ context: { slot: 100 }, value });

const tokenAccount = (program: string, mint: string, amount: string, more: object = {}): unknown => ({
  pubkey: key(8),
  account: {
    owner: program,
    lamports: 2_039_280,
    data: {
      program: 'spl-token',
      parsed: { type: 'account', info: { mint, owner: OWNER, tokenAmount: { amount, decimals: 6 }, ...more } },
    },
  },
});

const STATUS = { slot: 72, confirmations: 10, err: null, status: { Ok: null }, confirmationStatus: 'confirmed' };
const DETAILS = {
  slot: 72,
  meta: { err: null, fee: 5000, logMessages: ['Program 1 invoke [1]', 'Program 1 success'], computeUnitsConsumed: 150 },
  transaction: { signatures: [SIGNATURE], message: {} },
};

const truth: Readonly<Record<string, unknown>> = {
  getLatestBlockhash: withContext({ blockhash: BLOCKHASH, lastValidBlockHeight: 3090 }),
  getBlockHeight: 1233,
  isBlockhashValid: withContext(true),
  getSignatureStatuses: (signatures: readonly string[]) =>
    withContext(signatures.map((one) => (one === SIGNATURE ? STATUS : null))),
  getBalance: withContext(42),
  getTokenAccountsByOwner: (_owner: string, { programId }: { programId: string }) =>
    withContext(
      programId === TOKEN
        ? [tokenAccount(TOKEN, MINT, '5'), tokenAccount(TOKEN, MINT, '18446744073709551615')]
        : [tokenAccount(TOKEN_2022, key(4), '1')],
    ),
  getTransaction: DETAILS,
};

const asks: Readonly<Record<string, (node: SolanaNode) => Promise<unknown>>> = {
  getLatestBlockhash: (node) => node.latestBlockhash(),
  getBlockHeight: (node) => node.blockHeight(),
  isBlockhashValid: (node) => node.isBlockhashValid(BLOCKHASH),
  getSignatureStatuses: (node) => node.signatureStatuses([SIGNATURE]),
  getBalance: (node) => node.balance(OWNER),
  getTokenAccountsByOwner: (node) => node.tokenBalances(OWNER),
  getTransaction: (node) => node.transactionDetails(SIGNATURE),
};

test('a node of another chain is not asked anything', async () => {
  const [theirs, ours] = [await startNode({ ...truth, getBalance: withContext(1) }), await startNode(truth)];
  expect(await solanaNode([theirs, ours]).balance(OWNER)).toBe(1n);
  theirs.answers.set('getGenesisHash', 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG');
  theirs.requests.length = 0;
  const reports: string[][] = [];
  const node = solanaNode([theirs, ours], { report: (...report) => reports.push(report) });
  expect(await node.balance(OWNER)).toBe(42n);
  const [report] = reports;
  expect(report?.[1]).toBe(
    'the node is of the chain solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1, not of solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  );
  expect(theirs.requests).toEqual(['getGenesisHash']);
});

test('what a node says of the chain', async () => {
  const fake = await startNode(truth);
  const node = solanaNode([fake]);
  expect(await node.latestBlockhash()).toEqual({ blockhash: BLOCKHASH, lastValidBlockHeight: 3090n });
  expect(await node.blockHeight()).toBe(1233n);
  expect(await node.isBlockhashValid(BLOCKHASH)).toBe(true);
  expect(await node.balance(OWNER)).toBe(42n);
  expect(await node.tokenBalances(OWNER)).toEqual([
    { mint: MINT, amount: 18446744073709551620n, decimals: 6, tokenProgram: TOKEN },
    { mint: key(4), amount: 1n, decimals: 6, tokenProgram: TOKEN_2022 },
  ]);
  expect(await node.transactionDetails(SIGNATURE)).toEqual({
    slot: 72n,
    fee: 5000n,
    unitsConsumed: 150n,
    logs: ['Program 1 invoke [1]', 'Program 1 success'],
    err: undefined,
  });
  fake.answers.set('getTransaction', null);
  expect(await node.transactionDetails(SIGNATURE)).toBeUndefined();
});

test('the statuses of many signatures are asked for in parts', async () => {
  const asked: number[] = [];
  const fake = await startNode({
    getSignatureStatuses: (signatures: readonly string[], options: unknown) => {
      expect(options).toEqual({ searchTransactionHistory: true });
      asked.push(signatures.length);
      return withContext(signatures.map((one, index) => (one === SIGNATURE ? { ...STATUS, slot: index } : null)));
    },
  });
  const node = solanaNode([fake]);
  const failed = {
    ...STATUS,
    confirmations: null,
    confirmationStatus: 'finalized',
    err: { InstructionError: [0, { Custom: 1 }] },
  };
  const signatures = Array.from({ length: 300 }, (_one, index) => (index === 299 ? SIGNATURE : 'other'));
  const statuses = await node.signatureStatuses(signatures);
  expect(asked).toEqual([256, 44]);
  expect(statuses).toHaveLength(300);
  expect(statuses[0]).toBeUndefined();
  expect(statuses[299]).toEqual({ slot: 43n, confirmations: 10, confirmationStatus: 'confirmed', err: undefined });
  fake.answers.set('getSignatureStatuses', withContext([failed]));
  expect(await node.signatureStatuses([SIGNATURE])).toEqual([
    {
      slot: 72n,
      confirmations: undefined,
      confirmationStatus: 'finalized',
      err: { InstructionError: [0, { Custom: 1 }] },
    },
  ]);
  expect(await node.signatureStatuses([])).toEqual([]);
});

test('every node that answers is asked what became of a transaction', async () => {
  const nothing = (answers: Readonly<Record<string, unknown>> = {}) =>
    startNode({ ...truth, getSignatureStatuses: withContext([null]), ...answers });
  const trouble = new Refusal(-32603, 'Internal error');
  const nodes = [
    await nothing({ isBlockhashValid: withContext(false) }),
    // Whoever has it need not tell anything else.
    await startNode({ ...truth, getBlockHeight: trouble }),
    // What does not tell how far it is cannot tell that it has seen nothing.
    await nothing({ getBlockHeight: trouble }),
    await startNode({ ...truth, getSignatureStatuses: trouble }),
    await nothing({ getBlockHeight: 7 }),
  ];
  const asked: unknown[] = [];
  nodes[4]?.answers.set('getSignatureStatuses', (...parameters: unknown[]) => {
    asked.push(parameters);
    return withContext([null]);
  });
  expect(await solanaNode(nodes).lookEverywhere(SIGNATURE, BLOCKHASH)).toEqual([
    { status: undefined, height: 1233n, isBlockhashValid: false },
    { status: { slot: 72n, confirmations: 10, confirmationStatus: 'confirmed', err: undefined } },
    { status: undefined, height: 7n, isBlockhashValid: true },
  ]);
  expect(asked).toEqual([[[SIGNATURE], { searchTransactionHistory: true }]]);
});

test('a token account that the node cannot read is left out', async () => {
  const strange = { pubkey: key(8), account: { owner: TOKEN, data: ['AAAA', 'base64'] } };
  const fake = await startNode({
    getTokenAccountsByOwner: (_owner: string, { programId }: { programId: string }) =>
      withContext(programId === TOKEN ? [strange, tokenAccount(TOKEN, MINT, '5')] : []),
  });
  expect(await solanaNode([fake]).tokenBalances(OWNER)).toEqual([
    { mint: MINT, amount: 5n, decimals: 6, tokenProgram: TOKEN },
  ]);
});

describe('a lie is not believed, and another node is asked', () => {
  const accounts =
    (account: unknown) =>
    (_owner: string, { programId }: { programId: string }) =>
      withContext(programId === TOKEN ? [account] : [tokenAccount(TOKEN_2022, key(4), '1')]);
  const lies: [string, string, unknown][] = [
    ['a blockhash that is none', 'getLatestBlockhash', withContext({ blockhash: 'abc', lastValidBlockHeight: 1 })],
    ['a blockhash without its end', 'getLatestBlockhash', withContext({ blockhash: BLOCKHASH })],
    ['an answer without a value', 'getLatestBlockhash', { context: {} }],
    ['a height with a fraction', 'getBlockHeight', 1.5],
    ['a negative height', 'getBlockHeight', -1],
    ['a height as text', 'getBlockHeight', '1233'],
    ['perhaps', 'isBlockhashValid', withContext('perhaps')],
    ['a status too few', 'getSignatureStatuses', withContext([])],
    ['an unknown confirmation', 'getSignatureStatuses', withContext([{ ...STATUS, confirmationStatus: 'sure' }])],
    ['a status without a slot', 'getSignatureStatuses', withContext([{ ...STATUS, slot: null }])],
    ['an error of a megabyte', 'getSignatureStatuses', withContext([{ ...STATUS, err: 'e'.repeat(1_000_000) }])],
    ['no balance', 'getBalance', withContext(null)],
    [
      'the account of another owner',
      'getTokenAccountsByOwner',
      accounts(tokenAccount(TOKEN, MINT, '5', { owner: key(7) })),
    ],
    ['the account of another program', 'getTokenAccountsByOwner', accounts(tokenAccount(key(7), MINT, '5'))],
    ['a negative amount', 'getTokenAccountsByOwner', accounts(tokenAccount(TOKEN, MINT, '-5'))],
    ['a mint that is no key', 'getTokenAccountsByOwner', accounts(tokenAccount(TOKEN, 'mint', '5'))],
    ['another transaction', 'getTransaction', { ...DETAILS, transaction: { signatures: [key(1)] } }],
    ['a transaction without its outcome', 'getTransaction', { ...DETAILS, meta: null }],
  ];

  test.each(lies)('%s (%s)', async (_what, method, lie) => {
    const ask = asks[method] as (node: SolanaNode) => Promise<unknown>;
    const [liar, honest] = [await startNode(truth), await startNode(truth)];
    const right = await ask(solanaNode([liar]));
    liar.answers.set(method, lie);
    await expect(ask(solanaNode([liar]))).rejects.toMatchObject({ name: 'NodeError', kind: 'ill-shaped' });
    expect(await ask(solanaNode([liar, honest]))).toEqual(right);
    expect(honest.requests.flat()).toContain(method);
  });
});

describe('a broadcast', () => {
  const logs = ['Program log: no'];
  test.each<[string, unknown, unknown]>([
    ['the signature', SIGNATURE, { kind: 'accepted' }],
    [
      'that it was processed',
      new Refusal(-32002, 'Transaction simulation failed', { err: 'AlreadyProcessed', logs: [] }),
      { kind: 'known' },
    ],
    [
      'so in words',
      new Refusal(-32002, 'Transaction simulation failed: This transaction has already been processed'),
      { kind: 'known' },
    ],
    [
      'that it fails',
      new Refusal(-32002, 'Transaction simulation failed', { err: { InstructionError: [0, 'Custom'] }, logs }),
      {
        kind: 'refused',
        rpcCode: -32002,
        message: 'Transaction simulation failed',
        err: { InstructionError: [0, 'Custom'] },
        logs,
      },
    ],
    [
      'that a signature is wrong',
      new Refusal(-32003, 'Transaction signature verification failure'),
      { kind: 'refused', rpcCode: -32003, message: 'Transaction signature verification failure' },
    ],
  ])('a node answers %s, and no other is asked', async (_what, answer, outcome) => {
    const asked: unknown[] = [];
    const [fake, other] = [await startNode(), await startNode()];
    fake.answers.set('sendTransaction', (...parameters: unknown[]) => {
      asked.push(parameters);
      return answer;
    });
    expect(await solanaNode([fake, other]).broadcast(TRANSACTION)).toEqual(outcome);
    expect(asked).toEqual([[TRANSACTION, { encoding: 'base64', preflightCommitment: 'confirmed' }]]);
    expect(other.requests).toEqual([]);
  });

  test.each([
    ['another signature', key(5)],
    ['that it is behind', new Refusal(-32005, 'Node is behind by 42 slots', { numSlotsBehind: 42 })],
    ['an error of its own', new Refusal(-32603, 'Internal error')],
    ['that it is asked too much', new Refusal(-32000, 'Too many requests for a specific RPC call')],
  ])('a node answers %s: the next one is given it too', async (_what, answer) => {
    const [fake, other] = [await startNode(), await startNode({ sendTransaction: SIGNATURE })];
    fake.answers.set('sendTransaction', answer);
    expect(await solanaNode([fake]).broadcast(TRANSACTION)).toMatchObject({ kind: 'uncertain' });
    expect(await solanaNode([fake, other]).broadcast(TRANSACTION)).toEqual({ kind: 'accepted' });
  });

  test('a node that breaks off may have it', async () => {
    const [fake, other] = [await startNode(), await startNode()];
    other.answers.set('sendTransaction', new Refusal(-32003, 'Transaction signature verification failure'));
    fake.misbehave = (response, body, asked) =>
      Object(asked).method === 'sendTransaction' ? response.destroy() : sendJson(response, body);
    expect(await solanaNode([fake, other]).broadcast(TRANSACTION)).toMatchObject({ kind: 'uncertain' });
  });
});

import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import {
  filledKey as key,
  payment,
  RECEIVER,
  system,
  type TestInstruction,
  u32,
  u64,
  wireOf,
} from '../../../test/chain/solana-transfer.ts';
import type { AssetId } from '../asset-types.ts';
import { mayBe, parseCaip19 } from '../caip19.ts';
import { solanaMovements } from './movements.ts';
import { parseSolana } from './solana.ts';

const [WALLET, OTHER, ACCOUNT, MINT, SPARE, FIFTH] = [5, 6, 7, 8, 9, 10].map(key) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const SYSTEM = '11111111111111111111111111111111';
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const ASSOCIATED = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const STAKE = 'Stake11111111111111111111111111111111111111';
const VOTE = 'Vote111111111111111111111111111111111111111';
const TABLES = 'AddressLookupTab1e1111111111111111111111111';
const LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111';
const PROOFS = 'ZkE1Gama1Proof11111111111111111111111111111';
const WRAPPED = 'So11111111111111111111111111111111111111112';
const NETWORK = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';

const token = (accounts: readonly string[], data: readonly number[], program = TOKEN): TestInstruction => ({
  program,
  accounts,
  data,
});

const readBy = (signer: string, ...instructions: readonly TestInstruction[]) =>
  solanaMovements(parseSolana(wireOf({ signers: [WALLET, OTHER], instructions })), signer);
const partsOf = (instruction: TestInstruction, signer = WALLET) => readBy(signer, instruction).uncounted;

const ASSETS: Readonly<Record<string, AssetId>> = {
  SOL: parseCaip19(`${NETWORK}/slip44:501`),
  token: parseCaip19(`${NETWORK}/token:${MINT}`),
  wrapped: parseCaip19(`${NETWORK}/token:${WRAPPED}`),
};
/** The names of those assets that a part reaches. */
const reached = (instruction: TestInstruction): string[] =>
  Object.entries(ASSETS).flatMap(([name, asset]) =>
    partsOf(instruction).some(({ reach }) => reach.some((one) => mayBe(one, asset))) ? [name] : [],
  );

describe('instructions that move without an amount, or hand over', () => {
  const lamports = u64(9n);
  test.each<[string, string[], TestInstruction]>([
    ['System CreateAccount of the wallet itself', ['SOL'], system(0, [OTHER, WALLET], [...lamports, ...u64(0n)])],
    ['System Assign', ['SOL'], system(1, [WALLET], [...base58.decode(OTHER)])],
    ['System WithdrawNonceAccount', ['SOL'], system(5, [ACCOUNT, RECEIVER, MINT, SPARE, WALLET], lamports)],
    // The program looks for its authority among all signers, wherever they stand.
    ['System WithdrawNonceAccount', ['SOL'], system(5, [ACCOUNT, RECEIVER, MINT, SPARE, OTHER, WALLET], lamports)],
    ['System InitializeNonceAccount of the wallet itself', ['SOL'], system(6, [WALLET, MINT, SPARE])],
    ['System AuthorizeNonceAccount', ['SOL'], system(7, [ACCOUNT, WALLET], [...base58.decode(OTHER)])],
    ['System Allocate', ['SOL'], system(8, [WALLET], u64(80n))],
    ['System AllocateWithSeed', ['SOL'], system(9, [ACCOUNT, WALLET])],
    ['System AssignWithSeed', ['SOL'], system(10, [ACCOUNT, WALLET])],
    ['System CreateAccountAllowPrefund', ['SOL'], system(13, [WALLET])],
    ['System CreateAccountAllowPrefund', ['SOL'], system(13, [OTHER, WALLET])],
    ['Token SetAuthority', ['SOL', 'token', 'wrapped'], token([ACCOUNT, WALLET], [6, 2, 0])],
    ['Token SetAuthority', ['SOL', 'token', 'wrapped'], token([ACCOUNT, SPARE, OTHER, WALLET], [6, 2, 0])],
    ['Token SetAuthority', ['SOL', 'wrapped'], token([ACCOUNT, WALLET], [6, 3, 0])],
    ['Token-2022 SetAuthority', ['token', 'wrapped'], token([MINT, WALLET], [6, 8, 0], TOKEN_2022)],
    ['Token CloseAccount', ['SOL', 'wrapped'], token([ACCOUNT, RECEIVER, WALLET], [9])],
    ['Token CloseAccount', ['wrapped'], token([ACCOUNT, WALLET, WALLET], [9])],
    ['Token WithdrawExcessLamports', ['SOL'], token([ACCOUNT, RECEIVER, WALLET], [38])],
    ['Token UnwrapLamports', ['SOL', 'wrapped'], token([ACCOUNT, RECEIVER, WALLET], [45, 0])],
    ['Token-2022 Reallocate', ['SOL'], token([ACCOUNT, WALLET, SPARE, OTHER], [29], TOKEN_2022)],
    [
      'Token-2022 WithdrawWithheldTokensFromMint',
      ['token', 'wrapped'],
      token([MINT, RECEIVER, WALLET], [26, 2], TOKEN_2022),
    ],
    [
      'Token-2022 WithdrawWithheldTokensFromAccounts',
      ['token', 'wrapped'],
      token([MINT, RECEIVER, WALLET, ACCOUNT], [26, 3, 1], TOKEN_2022),
    ],
    [
      'Token-2022 ConfidentialTransfer',
      ['token', 'wrapped'],
      token([ACCOUNT, MINT, SPARE, WALLET], [27, 7], TOKEN_2022),
    ],
    ['Token-2022 ConfidentialTransferWithFee', ['token', 'wrapped'], token([ACCOUNT, WALLET], [27, 13], TOKEN_2022)],
    ['Token-2022 ConfidentialMintBurn', ['token', 'wrapped'], token([ACCOUNT, MINT, WALLET], [42, 4], TOKEN_2022)],
    ['Token-2022 PermissionedBurn', ['token', 'wrapped'], token([ACCOUNT, MINT, SPARE, WALLET], [46, 1], TOKEN_2022)],
    ['Stake Authorize', ['SOL'], { program: STAKE, accounts: [ACCOUNT, SPARE, WALLET], data: u32(1) }],
    ['Stake Withdraw', ['SOL'], { program: STAKE, accounts: [ACCOUNT, RECEIVER, MINT, SPARE, WALLET], data: u32(4) }],
    ['Vote Withdraw', ['SOL'], { program: VOTE, accounts: [ACCOUNT, RECEIVER, WALLET], data: u32(3) }],
    [
      'Address Lookup Table CreateLookupTable',
      ['SOL'],
      { program: TABLES, accounts: [ACCOUNT, OTHER, WALLET], data: u32(0) },
    ],
    [
      'Address Lookup Table CloseLookupTable',
      ['SOL'],
      { program: TABLES, accounts: [ACCOUNT, WALLET, RECEIVER], data: u32(4) },
    ],
    ['BPF Upgradeable Loader Close', ['SOL'], { program: LOADER, accounts: [ACCOUNT, RECEIVER, WALLET], data: u32(5) }],
    [
      'ZK ElGamal Proof CloseContextState',
      ['SOL'],
      { program: PROOFS, accounts: [ACCOUNT, RECEIVER, WALLET], data: [0] },
    ],
  ])('%s reaches %j', (name, assets, instruction) => {
    expect(partsOf(instruction)).toMatchObject([{ name: `${name} (instruction 0)`, certainty: 'known' }]);
    expect(reached(instruction)).toEqual(assets);
  });

  test.each<[string, TestInstruction]>([
    ['of another signer', system(1, [OTHER])],
    ['of a token account of another signer', token([ACCOUNT, OTHER], [6, 2, 0])],
    ['that pays to the wallet by another signer', token([ACCOUNT, WALLET, OTHER], [9])],
    ['that pays lamports back to the wallet', system(5, [ACCOUNT, WALLET, MINT, SPARE, FIFTH], lamports)],
    ['of stake that comes back', { program: STAKE, accounts: [ACCOUNT, WALLET, MINT, SPARE, FIFTH], data: u32(4) }],
    ['for a new account of another key', system(0, [WALLET, OTHER], [...lamports, ...u64(0n)])],
    ['that allocates a new account', system(8, [OTHER], u64(80n))],
    ['that advances a nonce', system(4, [ACCOUNT, MINT, WALLET])],
    ['that hands on the right to mint', token([MINT, WALLET], [6, 0, 0])],
    ['that hands on the right to freeze', token([MINT, WALLET], [6, 1, 0])],
    ['that revokes an approval', token([ACCOUNT, WALLET], [5])],
    ['that mints', token([MINT, ACCOUNT, WALLET], [7, ...u64(5n)])],
    ['that configures an extension', token([MINT, WALLET], [26, 5], TOKEN_2022)],
    ['that delegates stake', { program: STAKE, accounts: [ACCOUNT, SPARE, WALLET], data: u32(2) }],
    ['of a memo', { program: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', accounts: [WALLET], data: [65] }],
    ['of an unknown program without the wallet', { program: FIFTH, accounts: [OTHER, ACCOUNT], data: [1] }],
  ])('one %s is none', (_what, instruction) => {
    expect(partsOf(instruction)).toEqual([]);
  });

  test.each<[string, TestInstruction]>([
    [`instruction 0, of the program ${FIFTH}`, { program: FIFTH, accounts: [ACCOUNT, WALLET], data: [1] }],
    ['instruction 0, of the program Token-2022', token([ACCOUNT, WALLET], [200, 1], TOKEN_2022)],
    ['instruction 0, of the program Token', token([ACCOUNT, WALLET], [])],
    ['instruction 0, of the program System', system(99, [WALLET])],
    ['instruction 0, of the program System', { program: SYSTEM, accounts: [WALLET], data: [1] }],
  ])('%s is not known', (name, instruction) => {
    expect(partsOf(instruction)).toEqual([{ name, certainty: 'unknown', reach: [] }]);
  });
});

describe('amounts', () => {
  const movedOf = (caip19: string, ...instructions: readonly TestInstruction[]) =>
    readBy(WALLET, ...instructions)
      .transfers.filter((one) => mayBe(one, parseCaip19(caip19)))
      .map(({ amount }) => amount);
  const [SOL, SPL, OTHER_SPL] = [`${NETWORK}/slip44:501`, `${NETWORK}/token:${MINT}`, `${NETWORK}/token:${SPARE}`];

  test('approvals count, and what is burnt', () => {
    const instructions = [
      token([ACCOUNT, RECEIVER, WALLET], [4, ...u64(1n)]),
      token([ACCOUNT, MINT, RECEIVER, WALLET], [13, ...u64(2n), 6]),
      token([ACCOUNT, MINT, WALLET], [8, ...u64(4n)]),
      token([ACCOUNT, MINT, SPARE, OTHER, WALLET], [15, ...u64(8n), 6]),
      // Of others, to itself, and cut off.
      token([ACCOUNT, MINT, RECEIVER, OTHER], [13, ...u64(16n), 6]),
      token([ACCOUNT, WALLET, WALLET], [4, ...u64(32n)]),
      token([ACCOUNT, RECEIVER, WALLET], [4, 1]),
    ];
    expect(movedOf(SPL, ...instructions)).toEqual([1n, 2n, 4n, 8n]);
    // An approval that does not name its token counts for each.
    expect(movedOf(OTHER_SPL, ...instructions)).toEqual([1n]);
  });

  test('rent of associated accounts counts for who pays it', () => {
    const create = (payer: string, program: string, data: readonly number[]): TestInstruction => ({
      program: ASSOCIATED,
      accounts: [payer, ACCOUNT, OTHER, MINT, SYSTEM, program],
      data,
    });
    expect(movedOf(SOL, create(WALLET, TOKEN, []))).toEqual([2_039_280n]);
    expect(movedOf(SOL, create(WALLET, TOKEN, [1]))).toEqual([2_039_280n]);
    expect(movedOf(SOL, create(WALLET, TOKEN_2022, [0]))).toEqual([2_721_360n]);
    expect(movedOf(SOL, create(OTHER, TOKEN, [1]))).toEqual([]);
    expect(movedOf(SOL, create(WALLET, TOKEN, [2]))).toEqual([]);
  });

  test('a batch of a token program counts, and is named, by what is in it', () => {
    const batch = (program: string, ...inner: readonly TestInstruction[]): TestInstruction => ({
      program,
      accounts: inner.flatMap(({ accounts }) => accounts),
      data: [255, ...inner.flatMap(({ accounts, data }) => [accounts.length, data.length, ...data])],
    });
    const pay = token([ACCOUNT, MINT, RECEIVER, WALLET], [12, ...u64(3n), 6]);
    const approve = token([ACCOUNT, MINT, RECEIVER, WALLET], [13, ...u64(4n), 6]);
    const close = token([ACCOUNT, RECEIVER, WALLET], [9]);
    for (const program of [TOKEN, TOKEN_2022]) {
      expect(movedOf(SPL, payment(WALLET, RECEIVER, 1), batch(program, pay, approve, pay))).toEqual([3n, 3n, 4n]);
    }
    expect(movedOf(SPL, batch(TOKEN, batch(TOKEN, pay), pay))).toEqual([3n, 3n]);
    expect(readBy(WALLET, payment(WALLET, RECEIVER, 1), batch(TOKEN, pay, close)).uncounted).toMatchObject([
      { name: 'Token CloseAccount (instruction 1.1)' },
    ]);
    const refusal = expect.objectContaining({ code: 'INVALID_TRANSACTION' });
    for (const data of [
      [255, 4],
      [255, 4, 9, 12],
      [255, 5, 1, 5],
    ]) {
      expect(() => movedOf(SPL, { ...pay, data })).toThrow(refusal);
    }
  });
});

import type { AssetMovements, AssetReach, AssetTransfer, UncountedPart } from '../asset-types.ts';
import { ASSOCIATED_TOKEN_PROGRAM } from './associated.ts';
import { ADDRESS_TABLE_LOOKUP, type SolanaInstruction } from './message.ts';
import type { SolanaTransaction } from './solana.ts';
import {
  type PlacedInstruction,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  withoutBatches,
} from './transfers.ts';

// What the instructions of a Solana transaction take from one of its signers: amounts, and what has none.

const CHAIN = { chain: 'solana', chainReference: undefined } as const;
const NATIVE_MINT = 'So11111111111111111111111111111111111111112';
const SOL: AssetReach = { ...CHAIN, kind: 'slip44' };
const TOKENS: AssetReach = { ...CHAIN, kind: 'token' };
/** Lamports that are held as a token. */
const WRAPPED: AssetReach = { ...TOKENS, assetReference: NATIVE_MINT };

/** Rent of a token account, and of one with every extension that a mint can demand. */
const ACCOUNT_RENT = 2_039_280n;
const ACCOUNT_2022_RENT = 2_721_360n;

/** An instruction that moves assets without an amount that counts, or hands over what holds them. */
interface Rule {
  readonly name: string;
  readonly reach: readonly AssetReach[];
  /**
   * Where the signer stands if it is the signer's to do: in one place, from one on (an authority and, if that is a
   * multisig, its members), or anywhere (programs that look for a key among all that signed).
   */
  readonly by: { readonly at: number } | { readonly from: number };
  /** Where lamports go; they are not lost if that is the signer. */
  readonly to?: number;
}

const rule = (name: string, by: Rule['by'], reach: readonly AssetReach[], to?: number): Rule => ({
  name,
  reach,
  by,
  ...(to !== undefined && { to }),
});
const at = (index: number) => ({ at: index });
const from = (index: number) => ({ from: index });
const anywhere = from(0);

interface Program {
  readonly name: string;
  readonly isToken?: boolean;
  /** Bytes of the number that an instruction starts with. */
  readonly width: 1 | 4;
  readonly rules: Readonly<Record<number, Rule>>;
  /** Numbers of instructions that take nothing, or whose amount counts. */
  readonly settled: ReadonlySet<number>;
}

// SystemInstruction (anza-xyz/solana-sdk, system-interface). Allocate gives lamports away too: anybody can turn an
// account with data into a nonce account, name its authority, and withdraw.
const SYSTEM: Program = {
  name: 'System',
  width: 4,
  rules: {
    0: rule('CreateAccount of the wallet itself', at(1), [SOL]),
    1: rule('Assign', at(0), [SOL]),
    5: rule('WithdrawNonceAccount', anywhere, [SOL], 1),
    6: rule('InitializeNonceAccount of the wallet itself', at(0), [SOL]),
    7: rule('AuthorizeNonceAccount', anywhere, [SOL]),
    8: rule('Allocate', at(0), [SOL]),
    9: rule('AllocateWithSeed', anywhere, [SOL]),
    10: rule('AssignWithSeed', anywhere, [SOL]),
    13: rule('CreateAccountAllowPrefund', anywhere, [SOL]),
  },
  settled: new Set([0, 2, 3, 4, 6, 11, 12]),
};

// TokenInstruction (solana-program/token, token-2022). SetAuthority and the extensions have rules below.
const TOKEN_RULES: Program['rules'] = {
  9: rule('CloseAccount', from(2), [SOL, WRAPPED], 1),
  29: rule('Reallocate', at(1), [SOL]),
  38: rule('WithdrawExcessLamports', from(2), [SOL], 1),
  42: rule('ConfidentialMintBurn', anywhere, [TOKENS]),
  45: rule('UnwrapLamports', from(2), [SOL, WRAPPED], 1),
  46: rule('PermissionedBurn', anywhere, [TOKENS]),
};
const TOKEN_SETTLED = new Set([
  ...[
    0, 1, 2, 3, 4, 5, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 28, 30, 31, 32, 33, 34, 35,
  ],
  ...[36, 39, 40, 41, 43, 44],
]);
const SET_AUTHORITY = 6;
const ACCOUNT_OWNER = 2;
const CLOSE_ACCOUNT = 3;
/** MintTokens and FreezeAccount, which govern no account that holds tokens. */
const MINT_AUTHORITIES: ReadonlySet<number> = new Set([0, 1]);

/** By the second byte. */
const EXTENSION_RULES: Readonly<Record<number, Readonly<Record<number, Rule>>>> = {
  26: {
    2: rule('WithdrawWithheldTokensFromMint', from(2), [TOKENS]),
    3: rule('WithdrawWithheldTokensFromAccounts', from(2), [TOKENS]),
  },
  27: {
    7: rule('ConfidentialTransfer', anywhere, [TOKENS]),
    13: rule('ConfidentialTransferWithFee', anywhere, [TOKENS]),
  },
  37: {
    1: rule('WithdrawWithheldTokensFromMint', anywhere, [TOKENS]),
    2: rule('WithdrawWithheldTokensFromAccounts', anywhere, [TOKENS]),
  },
};

const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  [SYSTEM_PROGRAM, SYSTEM],
  [TOKEN_PROGRAM, { name: 'Token', isToken: true, width: 1, rules: TOKEN_RULES, settled: TOKEN_SETTLED }],
  [TOKEN_2022_PROGRAM, { name: 'Token-2022', isToken: true, width: 1, rules: TOKEN_RULES, settled: TOKEN_SETTLED }],
  [
    'Stake11111111111111111111111111111111111111',
    {
      name: 'Stake',
      width: 4,
      rules: {
        1: rule('Authorize', anywhere, [SOL]),
        4: rule('Withdraw', anywhere, [SOL], 1),
        6: rule('SetLockup', anywhere, [SOL]),
        8: rule('AuthorizeWithSeed', anywhere, [SOL]),
        10: rule('AuthorizeChecked', anywhere, [SOL]),
        11: rule('AuthorizeCheckedWithSeed', anywhere, [SOL]),
        12: rule('SetLockupChecked', anywhere, [SOL]),
      },
      settled: new Set([2, 3, 5, 7, 13, 14, 15, 16, 17]),
    },
  ],
  [
    'Vote111111111111111111111111111111111111111',
    {
      name: 'Vote',
      width: 4,
      rules: {
        1: rule('Authorize', anywhere, [SOL]),
        3: rule('Withdraw', anywhere, [SOL], 1),
        7: rule('AuthorizeChecked', anywhere, [SOL]),
        10: rule('AuthorizeWithSeed', anywhere, [SOL]),
        11: rule('AuthorizeCheckedWithSeed', anywhere, [SOL]),
      },
      settled: new Set(),
    },
  ],
  [
    'AddressLookupTab1e1111111111111111111111111',
    {
      name: 'Address Lookup Table',
      width: 4,
      rules: {
        0: rule('CreateLookupTable', at(2), [SOL]),
        2: rule('ExtendLookupTable', at(2), [SOL]),
        4: rule('CloseLookupTable', at(1), [SOL], 2),
      },
      settled: new Set([1, 3]),
    },
  ],
  [
    'ZkE1Gama1Proof11111111111111111111111111111',
    {
      name: 'ZK ElGamal Proof',
      width: 1,
      rules: { 0: rule('CloseContextState', from(2), [SOL], 1) },
      settled: new Set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    },
  ],
  [
    'BPFLoaderUpgradeab1e11111111111111111111111',
    {
      name: 'BPF Upgradeable Loader',
      width: 4,
      rules: {
        2: rule('DeployWithMaxDataLen', at(0), [SOL]),
        3: rule('Upgrade', anywhere, [SOL], 3),
        4: rule('SetAuthority', anywhere, [SOL]),
        5: rule('Close', anywhere, [SOL], 1),
        6: rule('ExtendProgram', anywhere, [SOL]),
        7: rule('SetAuthorityChecked', anywhere, [SOL]),
        9: rule('ExtendProgramChecked', anywhere, [SOL]),
      },
      settled: new Set(),
    },
  ],
]);

/** Programs that do nothing to any account. Associated accounts take rent, which counts. */
const HARMLESS_PROGRAMS: ReadonlySet<string> = new Set([
  ASSOCIATED_TOKEN_PROGRAM,
  'ComputeBudget111111111111111111111111111111',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
]);

export function solanaMovements(tx: SolanaTransaction, signer: string): AssetMovements {
  const placed = withoutBatches(tx.instructions);
  const signers = new Set(tx.accountKeys.slice(0, tx.header.requiredSignatures));
  // An account that cannot sign is one that was derived from a signer, who may be this one.
  const mayPay = (address: string) => address === signer || !signers.has(address);
  const lamports = [
    ...tx.transfers.filter(({ from: payer, to }) => mayPay(payer) && to !== signer).map(({ amount }) => amount),
    ...placed.flatMap(({ instruction }) => fundedLamports(instruction, mayPay)),
    ...placed.flatMap(({ instruction }) => associatedRent(instruction, signer)),
  ];
  const tokens = tx.splTransfers.filter(({ owner, signers: members }) => owner === signer || members.includes(signer));
  const transfers = [
    ...lamports.map((amount): AssetTransfer => ({ ...CHAIN, kind: 'slip44', assetReference: '501', amount })),
    ...tokens.map(({ tokenMint, amount }) => tokenTransfer(tokenMint, amount)),
    ...placed.flatMap(({ instruction }) => allowedOrBurnt(instruction, signer)),
  ];
  return {
    transfers: transfers.filter(({ amount }) => amount > 0n),
    uncounted: placed.flatMap((one) => uncountedParts(one, signer)),
  };
}

const tokenTransfer = (mint: string, amount: bigint): AssetTransfer => ({
  ...CHAIN,
  kind: 'token',
  assetReference: mint === '' || mint === ADDRESS_TABLE_LOOKUP ? undefined : mint,
  amount,
});

const CREATE_ACCOUNT = 0;
const CREATE_ACCOUNT_WITH_SEED = 3;

/** New accounts are funded from the first account. */
function fundedLamports(
  { programKey, accounts, dataHex }: SolanaInstruction,
  mayPay: (address: string) => boolean,
): readonly bigint[] {
  if (programKey !== SYSTEM_PROGRAM || !mayPay(accounts[0]?.accountKey ?? '')) return [];
  const amount = newAccountLamports(Buffer.from(dataHex, 'hex'));
  return amount === undefined ? [] : [amount];
}

/** With a seed, its base address (32 bytes) and its text with a length of eight bytes stand before the amount. */
function newAccountLamports(data: Buffer): bigint | undefined {
  if (data.length < 4) return undefined;
  const kind = data.readUInt32LE(0);
  if (kind === CREATE_ACCOUNT) return amountAt(data, 4n);
  if (kind !== CREATE_ACCOUNT_WITH_SEED) return undefined;
  const seedBytes = amountAt(data, 36n);
  return seedBytes === undefined ? undefined : amountAt(data, 44n + seedBytes);
}

const amountAt = (data: Buffer, offset: bigint): bigint | undefined =>
  offset + 8n > BigInt(data.length) ? undefined : data.readBigUInt64LE(Number(offset));

const CREATE_IDEMPOTENT = 1;

/** The owner of the new account can close it and keep the rent. It counts even if the account may exist already. */
function associatedRent({ programKey, accounts, dataHex }: SolanaInstruction, signer: string): readonly bigint[] {
  const kind = Buffer.from(dataHex, 'hex')[0] ?? 0;
  if (programKey !== ASSOCIATED_TOKEN_PROGRAM || kind > CREATE_IDEMPOTENT) return [];
  if (accounts[0]?.accountKey !== signer) return [];
  return [accounts[5]?.accountKey === TOKEN_PROGRAM ? ACCOUNT_RENT : ACCOUNT_2022_RENT];
}

/** Where the mint, the one who may take the tokens, and the first of those who let that happen stand. */
const AMOUNTS: Readonly<Record<number, { readonly mint?: number; readonly to?: number; readonly owner: number }>> = {
  4: { to: 1, owner: 2 },
  8: { mint: 1, owner: 2 },
  13: { mint: 1, to: 2, owner: 3 },
  15: { mint: 1, owner: 2 },
};

/** Approvals, as their amount, and tokens that are burnt. */
function allowedOrBurnt(
  { programKey, accounts, dataHex }: SolanaInstruction,
  signer: string,
): readonly AssetTransfer[] {
  if (programKey !== TOKEN_PROGRAM && programKey !== TOKEN_2022_PROGRAM) return [];
  const data = Buffer.from(dataHex, 'hex');
  const places = AMOUNTS[data[0] ?? -1];
  const amount = amountAt(data, 1n);
  if (places === undefined || amount === undefined) return [];
  const keys = accounts.map(({ accountKey }) => accountKey);
  if (!keys.slice(places.owner).includes(signer)) return [];
  if (places.to !== undefined && keys[places.to] === signer) return [];
  return [tokenTransfer(places.mint === undefined ? '' : (keys[places.mint] ?? ''), amount)];
}

function uncountedParts({ instruction, place }: PlacedInstruction, signer: string): readonly UncountedPart[] {
  const { programKey, dataHex } = instruction;
  const keys = instruction.accounts.map(({ accountKey }) => accountKey);
  if (!keys.includes(signer) || HARMLESS_PROGRAMS.has(programKey)) return [];
  const program = PROGRAMS.get(programKey);
  const data = Buffer.from(dataHex, 'hex');
  const kind = program && kindOf(program, data);
  const found = program && kind !== undefined ? ruleOf(program, kind, data) : undefined;
  if (program === undefined || kind === undefined || found === undefined) {
    if (kind !== undefined && program?.settled.has(kind)) return [];
    return [{ name: `${place}, of the program ${program?.name ?? programKey}`, certainty: 'unknown', reach: [] }];
  }
  const isOurs = 'at' in found.by ? keys[found.by.at] === signer : keys.slice(found.by.from).includes(signer);
  const comesBack = found.to !== undefined && keys[found.to] === signer;
  const reach = isOurs ? found.reach.filter((one) => !(comesBack && one === SOL)) : [];
  return reach.length === 0 ? [] : [{ name: `${program.name} ${found.name} (${place})`, certainty: 'known', reach }];
}

function kindOf({ width }: Program, data: Buffer): number | undefined {
  if (data.length < width) return undefined;
  return width === 1 ? data[0] : data.readUInt32LE(0);
}

const NO_RULE: Rule = rule('', at(-1), []);

function ruleOf({ rules, isToken = false }: Program, kind: number, data: Buffer): Rule | undefined {
  if (isToken && kind === SET_AUTHORITY) return authorityRule(data[1]);
  const extensions = isToken ? EXTENSION_RULES[kind] : undefined;
  // The other instructions of an extension configure it.
  return extensions === undefined ? rules[kind] : (extensions[data[1] ?? -1] ?? NO_RULE);
}

function authorityRule(kind: number | undefined): Rule {
  const [by, name] = [from(1), 'SetAuthority'];
  if (kind === ACCOUNT_OWNER) return rule(name, by, [TOKENS, SOL]);
  if (kind === CLOSE_ACCOUNT) return rule(name, by, [SOL, WRAPPED]);
  return kind !== undefined && MINT_AUTHORITIES.has(kind) ? NO_RULE : rule(name, by, [TOKENS]);
}

import { toFunctionSelector } from 'viem/utils';
import { once } from '../../lib/once.ts';
import type { AssetMovements, AssetReach, AssetTransfer, UncountedPart } from '../asset-types.ts';
import type { EvmCall } from './batch.ts';

// What calls of EVM contracts take from the account that makes them. Tokens of Tron are called alike.

/** Contracts of the service itself, whose calls can be read. Addresses are in lower case. */
export interface OwnContracts {
  readonly wrappers: readonly {
    readonly chainReference: string;
    readonly wrapperAddress: string;
    readonly assetAddress: string;
  }[];
  /** Where CustosBatch is: code that obeys no key but the account's own. */
  readonly batchContracts: readonly { readonly chainReference: string; readonly address: string }[];
}
export const NO_CONTRACTS: OwnContracts = { wrappers: [], batchContracts: [] };

interface TokenCall {
  /** The argument that says whose tokens they are; the caller's when undefined. */
  readonly owner?: number;
  /** The argument that says who gets them, or may take them. */
  readonly to?: number;
  /** Undefined where the call names no amount of the token itself: such a call cannot be counted. */
  readonly amount?: number;
  /** The amount is all there is wherever the argument is not zero. */
  readonly isSwitch?: true;
  readonly approves?: true;
}

const UINT256_MAX = 2n ** 256n - 1n;
const selectorOf = (signature: string): string => toFunctionSelector(signature).slice(2);
/** By their selectors, each of which is a hash. */
const tableOf = <T>(calls: Readonly<Record<string, T>>): (() => ReadonlyMap<string, T>) =>
  once(() => new Map(Object.entries(calls).map(([signature, call]) => [selectorOf(signature), call])));

/** Calls of a token's own contract that move it, or let others move it. An approval counts as its amount. */
const tokenCalls = tableOf<TokenCall>({
  'transfer(address,uint256)': { to: 0, amount: 1 },
  'transferFrom(address,address,uint256)': { owner: 0, to: 1, amount: 2 },
  'approve(address,uint256)': { to: 0, amount: 1, approves: true },
  'increaseAllowance(address,uint256)': { to: 0, amount: 1, approves: true },
  'increaseApproval(address,uint256)': { to: 0, amount: 1, approves: true },
  'increaseApprovalAndCall(address,uint256,bytes)': { to: 0, amount: 1, approves: true },
  // ERC-2612, its form for signatures of contracts (USDC, stETH), and DAI before it.
  'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)': { owner: 0, to: 1, amount: 2, approves: true },
  'permit(address,address,uint256,uint256,bytes)': { owner: 0, to: 1, amount: 2, approves: true },
  'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)': {
    owner: 0,
    to: 1,
    amount: 4,
    isSwitch: true,
    approves: true,
  },
  // ERC-3009.
  'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)': {
    owner: 0,
    to: 1,
    amount: 2,
  },
  'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)': { owner: 0, to: 1, amount: 2 },
  'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)': {
    owner: 0,
    to: 1,
    amount: 2,
  },
  'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)': { owner: 0, to: 1, amount: 2 },
  // DAI.
  'push(address,uint256)': { to: 0, amount: 1 },
  'move(address,address,uint256)': { owner: 0, to: 1, amount: 2 },
  // ERC-223.
  'transfer(address,uint256,bytes)': { to: 0, amount: 1 },
  'transfer(address,uint256,bytes,string)': { to: 0, amount: 1 },
  // ERC-677 and ERC-1363.
  'transferAndCall(address,uint256)': { to: 0, amount: 1 },
  'transferAndCall(address,uint256,bytes)': { to: 0, amount: 1 },
  'transferFromAndCall(address,address,uint256)': { owner: 0, to: 1, amount: 2 },
  'transferFromAndCall(address,address,uint256,bytes)': { owner: 0, to: 1, amount: 2 },
  'approveAndCall(address,uint256)': { to: 0, amount: 1, approves: true },
  'approveAndCall(address,uint256,bytes)': { to: 0, amount: 1, approves: true },
  // ERC-777. Everybody is their own operator; another one may take everything.
  'send(address,uint256,bytes)': { to: 0, amount: 1 },
  'operatorSend(address,address,uint256,bytes,bytes)': { owner: 0, to: 1, amount: 2 },
  'burn(uint256,bytes)': { amount: 0 },
  'operatorBurn(address,uint256,bytes,bytes)': { owner: 0, amount: 1 },
  'authorizeOperator(address)': { to: 0 },
  // Omnichain tokens (LayerZero): the amount of the newer form is inside a structure.
  'send((uint32,bytes32,uint256,uint256,bytes,bytes,bytes),(uint256,uint256),address)': {},
  'sendFrom(address,uint16,bytes,uint256,address,address,bytes)': { owner: 0, amount: 3 },
  'sendFrom(address,uint16,bytes32,uint256,(address,address,bytes))': { owner: 0, amount: 3 },
  'sendAndCall(address,uint16,bytes32,uint256,bytes,uint64,(address,address,bytes))': { owner: 0, amount: 3 },
  // TIP-20.
  'transferWithMemo(address,uint256,bytes32)': { to: 0, amount: 1 },
  'transferFromWithMemo(address,address,uint256,bytes32)': { owner: 0, to: 1, amount: 2 },
  'burnWithMemo(uint256,bytes32)': { amount: 0 },
  'distributeReward(uint256)': { amount: 0 },
  'burn(uint256)': { amount: 0 },
  'burn(address,uint256)': { owner: 0, amount: 1 },
  'burnFrom(address,uint256)': { owner: 0, amount: 1 },
  // Wrapped coins.
  'withdraw(uint256)': { amount: 0 },
  'withdrawTo(address,uint256)': { amount: 1 },
  'withdrawFrom(address,address,uint256)': { owner: 0, amount: 2 },
  // Tokens that stand for shares (ERC-4626, Lido, Compound). Some calls name an amount in the other unit.
  'redeem(uint256,address,address)': { owner: 2, amount: 0 },
  'withdraw(uint256,address,address)': { owner: 2 },
  'transferShares(address,uint256)': { to: 0 },
  'transferSharesFrom(address,address,uint256)': { owner: 0, to: 1 },
  'unwrap(uint256)': { amount: 0 },
  'redeem(uint256)': { amount: 0 },
  'redeemUnderlying(uint256)': {},
});

/** Contracts that Tempo has at fixed addresses; they take tokens without an approval, or govern the account's keys. */
interface SystemContract {
  readonly name: string;
  /** Calls that take nothing and give nothing away. */
  readonly harmless: () => ReadonlyMap<string, unknown>;
  /** Calls that take an amount of a token which they name. */
  readonly takes: () => ReadonlyMap<string, { readonly token: number; readonly amount: number }>;
}
const systemContract = (
  name: string,
  harmless: readonly string[],
  takes: Readonly<Record<string, { readonly token: number; readonly amount: number }>> = {},
): SystemContract => ({
  name,
  harmless: tableOf(Object.fromEntries(harmless.map((signature) => [signature, true]))),
  takes: tableOf(takes),
});
const CHANNEL = '(address,address,address,address,bytes32,address,bytes32)';
const SYSTEM_CONTRACTS: ReadonlyMap<string, SystemContract> = new Map([
  [
    '0xaaaaaaaa00000000000000000000000000000000',
    systemContract("Tempo's account keychain", ['revokeKey(address)', 'burnKeyAuthorizationWitness(bytes32)']),
  ],
  [
    '0xdec0000000000000000000000000000000000000',
    systemContract(
      "Tempo's stablecoin exchange",
      ['createPair(address)', 'cancel(uint128)', 'cancelStaleOrder(uint128)', 'withdraw(address,uint128)'],
      {
        'swapExactAmountIn(address,address,uint128,uint128)': { token: 0, amount: 2 },
        'swapExactAmountOut(address,address,uint128,uint128)': { token: 0, amount: 3 },
      },
    ),
  ],
  [
    '0xfeec000000000000000000000000000000000000',
    systemContract("Tempo's fee manager", ['setUserToken(address)', 'distributeFees(address,address)'], {
      'mint(address,address,uint256,address)': { token: 1, amount: 2 },
    }),
  ],
  [
    '0x4d50500000000000000000000000000000000000',
    systemContract("Tempo's channel reserve", [`requestClose(${CHANNEL})`, `withdraw(${CHANNEL})`]),
  ],
  ['0xb10c000000000000000000000000000000000000', systemContract("Tempo's receive policy guard", [])],
  ['0x1c00000000000000000000000000000000000002', systemContract("Tempo's zone outbox", [])],
]);

/** Calls of an Earn wrapper. Only payments to others are a loss. */
const wrapperCalls = tableOf({
  'deposit(uint256,address)': 'deposit',
  'mint(uint256,address)': 'mint',
  'withdraw(uint256,address,address)': 'withdraw',
  'redeem(uint256,address,address)': 'redeem',
  'redeemAll(address)': 'redeemAll',
} as const);

/** Whether the amount that a call takes can depend on Earn wrappers. */
export function maySpeakOfWrappers({ data }: Pick<EvmCall, 'data'>): boolean {
  const selector = data.slice(2, 10);
  return wrapperCalls().has(selector) || tokenCalls().get(selector)?.approves === true;
}

/**
 * The arguments of a call as contracts of old compilers read them: data that ends early goes on with zeros, the upper bytes
 * of an address and what follows do not matter.
 */
function argumentsOf(data: string) {
  const word = (index: number): string => data.slice(8 + index * 64, 72 + index * 64).padEnd(64, '0');
  return {
    selector: data.slice(0, 8),
    /** In hex without 0x. */
    address: (index: number): string => word(index).slice(24),
    uint: (index: number): bigint => BigInt(`0x${word(index)}`),
  };
}

const NOTHING: AssetMovements = { transfers: [], uncounted: [] };
const known = (name: string, ...reach: readonly AssetReach[]): AssetMovements => ({
  transfers: [],
  uncounted: [{ name, certainty: 'known', reach }],
});
const unknown = (name: string, ...reach: readonly AssetReach[]): AssetMovements => ({
  transfers: [],
  uncounted: [{ name, certainty: 'unknown', reach }],
});
const moves = (...transfers: readonly AssetTransfer[]): AssetMovements => ({ transfers, uncounted: [] });

/** What a call takes from `from`; addresses are in lower case. */
export function evmMovements(chainId: bigint, from: string, call: EvmCall, own: OwnContracts): AssetMovements {
  const { to, value, data } = call;
  // Without replay protection the signature is good on every chain.
  const chain = { chain: 'eip155', chainReference: chainId === 0n ? undefined : String(chainId) } as const;
  const native: readonly AssetTransfer[] =
    to === from ? [] : [{ ...chain, kind: 'slip44', assetReference: '60', amount: value }];
  const { transfers, uncounted } = dataMovements(chain, from, call, own);
  return {
    transfers: [...native, ...transfers].filter(({ amount }) => amount > 0n),
    uncounted: data === '0x' ? [] : uncounted,
  };
}

type Chain = Pick<AssetTransfer, 'chain' | 'chainReference'>;

function dataMovements(chain: Chain, from: string, { to, data }: EvmCall, own: OwnContracts): AssetMovements {
  if (to === '') return unknown('the contract creation');
  const digits = data.slice(2);
  const name = `the call ${data.slice(0, 10)} of ${to}`;
  if (to === from) return unknown(name);
  const account = from.slice(2);
  const system = SYSTEM_CONTRACTS.get(to);
  if (system !== undefined) return systemMovements(chain, system, digits);
  const wrappers = own.wrappers.filter(({ chainReference }) => chainReference === chain.chainReference);
  const wrapper = wrappers.find(({ wrapperAddress }) => wrapperAddress === to);
  const token = { ...chain, kind: 'erc20', assetReference: to } as const;
  const asset = wrapper && { ...token, assetReference: wrapper.assetAddress };
  const taken = asset && wrapperMovements(asset, token, name, account, digits);
  if (taken !== undefined) return taken;
  const isWrapper = (address: string) => wrappers.some(({ wrapperAddress }) => wrapperAddress === `0x${address}`);
  return tokenMovements(token, name, account, digits, isWrapper);
}

/** What a call of a token takes, or lets others take. */
export function tokenMovements(
  token: Omit<AssetTransfer, 'amount'>,
  name: string,
  /** Without 0x, like the data. */
  account: string,
  data: string,
  isOwnSpender: (address: string) => boolean = () => false,
): AssetMovements {
  const { selector, address, uint } = argumentsOf(data);
  const call = tokenCalls().get(selector);
  if (call === undefined) return unknown(name);
  const takesNothing = unknown(name, token);
  if (call.owner !== undefined && address(call.owner) !== account) return takesNothing;
  const to = call.to === undefined ? undefined : address(call.to);
  if (to === account || (call.approves && to !== undefined && isOwnSpender(to))) return takesNothing;
  if (call.amount === undefined) return known(name, token);
  const amount = uint(call.amount);
  if (amount === 0n) return takesNothing;
  return moves({ ...token, amount: call.isSwitch ? UINT256_MAX : amount });
}

function systemMovements(chain: Chain, { name, harmless, takes }: SystemContract, data: string): AssetMovements {
  const { selector, address, uint } = argumentsOf(data);
  if (harmless().has(selector)) return NOTHING;
  const taken = takes().get(selector);
  if (taken === undefined) return known(`the call 0x${selector} of ${name}`, chain);
  const { token, amount } = taken;
  return moves({ ...chain, kind: 'erc20', assetReference: `0x${address(token)}`, amount: uint(amount) });
}

/** Approvals to a wrapper count nothing, so what the wrapper takes must count. Payments to others use up shares too. */
function wrapperMovements(
  asset: Omit<AssetTransfer, 'amount'>,
  share: AssetReach,
  name: string,
  account: string,
  data: string,
): AssetMovements | undefined {
  const { selector, address, uint } = argumentsOf(data);
  const ofWrapper = `${name}, an Earn wrapper`;
  const isOwn = (receiver: number, owner?: number) =>
    address(receiver) === account || (owner !== undefined && address(owner) !== account);
  switch (wrapperCalls().get(selector)) {
    case 'deposit':
      return moves({ ...asset, amount: uint(0) });
    case 'mint':
      return known(ofWrapper, asset);
    case 'withdraw':
      return isOwn(1, 2) ? NOTHING : { ...known(ofWrapper, share), transfers: [{ ...asset, amount: uint(0) }] };
    case 'redeem':
      return isOwn(1, 2) ? NOTHING : known(ofWrapper, asset, share);
    case 'redeemAll':
      return isOwn(0) ? NOTHING : known(ofWrapper, asset, share);
    default:
      return undefined;
  }
}

interface Delegation {
  readonly chainId: bigint;
  /** Whose code the account borrows. */
  readonly address: string;
}
const NO_CODE = `0x${'00'.repeat(20)}`;

/**
 * By borrowing code (EIP-7702) an account gives everything away, unless it ends an earlier loan or the code is ours.
 */
export function delegationParts(
  name: string,
  { chainId, address }: Delegation,
  own: OwnContracts,
): readonly UncountedPart[] {
  const chainReference = chainId === 0n ? undefined : String(chainId);
  const isOurs = own.batchContracts.some((one) => one.chainReference === chainReference && one.address === address);
  if (address === NO_CODE || isOurs) return [];
  return [{ name, certainty: 'known', reach: [{ chain: 'eip155', chainReference }] }];
}

import { decodeAbi } from '../../chains/ethereum/abi/decode.ts';
import { type AbiFunction, decodeCall } from '../../chains/ethereum/abi/interface.ts';
import { type AbiType, readAbiType } from '../../chains/ethereum/abi/types.ts';
import type { EvmCall } from '../../chains/ethereum/batch.ts';
import { selectorOf } from '../../chains/ethereum/fields.ts';
import type { DynamicValue } from '../../policy/index.ts';
import { configuredToken, nativeUnit } from '../chain-names.ts';
import { type InterfaceRecord, interfaceKey } from '../names.ts';
import type { SentenceContext } from '../sentence.ts';
import { written } from '../text.ts';
import { byteCount, type Unit } from '../values.ts';

// What a call of an EVM contract says, as far as somebody vouches for it: the operator by a configured token, or the
// organization by an uploaded interface.

/** Who vouches for the meaning of a call's data. */
export interface Voucher {
  readonly note: string;
  /** Nobody but whoever uploaded an interface says that the contract does what its functions are called. */
  readonly isUploaded: boolean;
}

export interface Token {
  readonly address: string;
  /** Undefined where nobody here knows the decimals. */
  readonly unit: Unit | undefined;
}

export type EvmReading =
  | { readonly kind: 'payment'; readonly to: string }
  | { readonly kind: 'creation' }
  | ({ readonly kind: 'transfer'; readonly token: Token; readonly owner?: string; readonly to: string } & Quantity)
  | ({ readonly kind: 'approval'; readonly token: Token; readonly spender: string; readonly adds: boolean } & Quantity)
  | ({ readonly kind: 'reduction'; readonly token: Token; readonly spender: string } & Quantity)
  | ({
      readonly kind: 'approval-for-all';
      readonly token: Token;
      readonly operator: string;
      readonly approved: boolean;
    } & Voucher)
  | ({ readonly kind: 'wrapping'; readonly contract: string } & Voucher)
  | ({
      readonly kind: 'call';
      readonly contract: string;
      readonly name: string;
      readonly args: ReadonlyMap<string, DynamicValue>;
      /** Bytes among its arguments that no type explains: they may be another call. */
      readonly opaqueBytes: number;
    } & Voucher)
  | { readonly kind: 'unreadable'; readonly contract: string; readonly why: string; readonly guess?: string };

interface Quantity extends Voucher {
  readonly amount: bigint;
  /** Of a token of which each is different: the number is its id. */
  readonly isItem: boolean;
}

const typesOf = (...names: readonly string[]): readonly AbiType[] =>
  names.map((type) => readAbiType({ type, name: '' }, 'a standard call').type);

interface StandardCall {
  readonly signature: string;
  readonly types: readonly AbiType[];
  read(values: readonly DynamicValue[], token: Token, terms: Terms): EvmReading;
}

type Terms = Voucher & { readonly isItem: boolean };

const addressAt = (values: readonly DynamicValue[], index: number): string =>
  (values[index] as { readonly text: string }).text;
const uintAt = (values: readonly DynamicValue[], index: number): bigint =>
  (values[index] as { readonly value: bigint }).value;

const transfer = (signature: string, types: readonly AbiType[], to: number, amount: number, owner?: number) => ({
  signature,
  types,
  read: (values: readonly DynamicValue[], token: Token, terms: Terms): EvmReading => ({
    kind: 'transfer',
    token,
    to: addressAt(values, to),
    amount: uintAt(values, amount),
    ...(owner !== undefined && { owner: addressAt(values, owner) }),
    ...terms,
  }),
});

const PAIR = typesOf('address', 'uint256');
const TRIPLE = typesOf('address', 'address', 'uint256');

/** Calls that every token of the standards has, by selector. */
const STANDARD: Readonly<Record<string, StandardCall>> = {
  '0xa9059cbb': transfer('transfer(address,uint256)', PAIR, 0, 1),
  '0x23b872dd': transfer('transferFrom(address,address,uint256)', TRIPLE, 1, 2, 0),
  '0x42842e0e': transfer('safeTransferFrom(address,address,uint256)', TRIPLE, 1, 2, 0),
  '0x095ea7b3': {
    signature: 'approve(address,uint256)',
    types: PAIR,
    read: (values, token, terms) => ({
      kind: 'approval',
      token,
      spender: addressAt(values, 0),
      amount: uintAt(values, 1),
      adds: false,
      ...terms,
    }),
  },
  '0x39509351': {
    signature: 'increaseAllowance(address,uint256)',
    types: PAIR,
    read: (values, token, terms) => ({
      kind: 'approval',
      token,
      spender: addressAt(values, 0),
      amount: uintAt(values, 1),
      adds: true,
      ...terms,
    }),
  },
  '0xa457c2d7': {
    signature: 'decreaseAllowance(address,uint256)',
    types: PAIR,
    read: (values, token, terms) => ({
      kind: 'reduction',
      token,
      spender: addressAt(values, 0),
      amount: uintAt(values, 1),
      ...terms,
    }),
  },
  '0xa22cb465': {
    signature: 'setApprovalForAll(address,bool)',
    types: typesOf('address', 'bool'),
    read: (values, token, { note, isUploaded }) => ({
      kind: 'approval-for-all',
      token,
      operator: addressAt(values, 0),
      approved: values[1] === true,
      note,
      isUploaded,
    }),
  },
};

/** Only ERC-721 has it: there a number names one token and is no amount. */
const OWNER_OF = '0x6352211e';
/** What contracts that wrap the coin of their chain give for coins; it has no arguments. */
const DEPOSIT = '0xd0e30db0';

/** The meaning of a call on a chain; without a chain id no token is known. */
export function readEvmCall(context: SentenceContext, caip2: string | undefined, call: EvmCall): EvmReading {
  const { to, data } = call;
  if (to === '') return { kind: 'creation' };
  if (data === '0x') return { kind: 'payment', to };
  const selector = selectorOf(data);
  const uploaded = context.names.get('contractInterface', interfaceKey('SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', to));
  const unit = caip2 === undefined ? undefined : configuredToken(context.chains, caip2, to);
  const token = { address: to, unit };
  const functions = functionsOf(uploaded);
  const declared = functions?.get(selector);
  const standard = STANDARD[selector];
  if (standard !== undefined && (unit !== undefined || declared?.signature === standard.signature)) {
    const values = decodeAbi(standard.types, Buffer.from(data.slice(10), 'hex'));
    if (values === undefined) return leftOver(to);
    const isItem = unit === undefined && functions?.has(OWNER_OF) === true;
    return standard.read(values, token, { isItem, ...voucherOf(uploaded, unit) });
  }
  if (data === DEPOSIT && caip2 !== undefined && isWrapped(context, caip2, unit)) {
    return { kind: 'wrapping', contract: to, ...voucherOf(uploaded, unit) };
  }
  if (standard !== undefined && declared !== undefined) {
    const why = `its function is declared as ${declared.name}, and tokens know the same four bytes as ${standard.signature}`;
    return { kind: 'unreadable', contract: to, why };
  }
  if (declared !== undefined && uploaded !== undefined) return readDeclared(declared, to, data, uploaded);
  if (uploaded !== undefined) {
    return {
      kind: 'unreadable',
      contract: to,
      why: `its interface ${written(uploaded.label).text} has no function ${selector}`,
    };
  }
  const guess = standard?.signature;
  return {
    kind: 'unreadable',
    contract: to,
    why: 'nobody here has uploaded an interface of the contract',
    ...(guess !== undefined && { guess }),
  };
}

function readDeclared(declared: AbiFunction, contract: string, data: string, uploaded: InterfaceRecord): EvmReading {
  const args = decodeCall(declared, data);
  if (args === undefined) return leftOver(contract);
  const opaqueBytes = opaqueIn(declared.inputTypes, [...args.values()]);
  return { kind: 'call', contract, name: declared.name, args, opaqueBytes, ...voucherOf(uploaded, undefined) };
}

const opaqueIn = (types: readonly AbiType[], values: readonly DynamicValue[]): number =>
  types.reduce((sum, type, index) => sum + opaqueOf(type, values[index]), 0);

function opaqueOf(type: AbiType, value: DynamicValue | undefined): number {
  if (typeof value !== 'object') return 0;
  if (type.kind === 'bytes') return 'text' in value ? byteCount(value.text) : 0;
  if (type.kind === 'array' && Array.isArray(value)) {
    return value.reduce((sum: number, item: DynamicValue) => sum + opaqueOf(type.element, item), 0);
  }
  return type.kind === 'tuple' && 'items' in value ? opaqueIn(type.members, value.items) : 0;
}

/** Whether the operator has configured the token as the coin of the chain in another form, as WETH is for ETH. */
function isWrapped({ chains }: SentenceContext, caip2: string, unit: Unit | undefined): boolean {
  const coin = nativeUnit(chains, caip2);
  return unit !== undefined && unit.symbol === `W${coin.symbol}` && unit.decimals === coin.decimals;
}

const leftOver = (contract: string): EvmReading => ({
  kind: 'unreadable',
  contract,
  why: 'the data is not exactly what the function takes: bytes are left over or missing',
});

const functionsOf = (uploaded: InterfaceRecord | undefined) =>
  uploaded?.contract.type === 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM' ? uploaded.contract.functions : undefined;

/** What the operator configured counts for more than an upload, which names no chain and is good for the address on all. */
const voucherOf = (uploaded: InterfaceRecord | undefined, unit: Unit | undefined): Voucher =>
  unit === undefined && uploaded !== undefined
    ? {
        note: `read by the interface ${written(uploaded.label).text}, uploaded for this address on every chain; nothing left over`,
        isUploaded: true,
      }
    : {
        note: `read as a standard call of ${unit?.symbol ?? 'the contract'}, configured by the operator; nothing left over`,
        isUploaded: false,
      };

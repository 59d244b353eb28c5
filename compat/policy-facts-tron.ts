// Transactions of tronweb with random fields, and the facts of any bytes as the protobuf classes of tronweb read them.
import type { Namespaces, TronTransactionFacts } from '@custos/server/policy';
import type { SignerAccount } from '@custos/server/policy-facts';
import { Interface, SigningKey, sha256 } from 'ethers';
import fc from 'fast-check';
import { TronWeb, utils } from 'tronweb';
import { type Built, bytesOf, hexOf } from './policy-facts-damage.ts';

type Contract = TronTransactionFacts['contract'][number];
type Permission = NonNullable<Contract['owner']>;

const KEY = '46'.repeat(32);
const OWNER = utils.address.fromPrivateKey(KEY) as string;
const OTHER = utils.address.fromPrivateKey('47'.repeat(32)) as string;
// Nothing is asked of a node: each transaction is given the block that it refers to.
const { transactionBuilder: builder } = new TronWeb({ fullHost: 'http://127.0.0.1:1' });
const ERC20 = new Interface(['function transfer(address to, uint256 amount)']);

export const tronAccount: SignerAccount = {
  curve: 'CURVE_SECP256K1',
  publicKey: bytesOf(SigningKey.computePublicKey(`0x${KEY}`, true)),
  address: OWNER,
  addressFormat: 'ADDRESS_FORMAT_TRON',
};

const addressOf = (hex: string): string => utils.crypto.getBase58CheckAddress([...bytesOf(hex)]);
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => addressOf(`41${hexOf(bytes)}`));
/** tronweb keeps amounts as numbers and takes none of zero. */
const amount = fc.integer({ min: 1, max: 2 ** 48 });
const hexText = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(hexOf);
const resource = fc.constantFrom('BANDWIDTH', 'ENERGY');

const permission = (type: 0 | 1 | 2) =>
  fc
    .record({
      permission_name: fc.stringMatching(/^[a-z]{1,12}$/),
      threshold: fc.integer({ min: 1, max: 1000 }),
      keys: fc.array(fc.record({ address, weight: fc.integer({ min: 1, max: 100 }) }), { minLength: 1, maxLength: 3 }),
      operations: hexText(32),
      id: fc.nat(9),
    })
    .map(({ operations, id, ...rest }) =>
      type === 2 ? { ...rest, type, id, operations } : { ...rest, type, id: type },
    );

type BuiltPermission = ReturnType<typeof permission> extends fc.Arbitrary<infer One> ? One : never;

function permissionFacts(given: BuiltPermission): Permission {
  return {
    type: ['Owner', 'Witness', 'Active'][given.type] ?? '',
    id: BigInt(given.id),
    permission_name: given.permission_name,
    threshold: BigInt(given.threshold),
    parent_id: 0n,
    operations: 'operations' in given ? given.operations : '',
    keys: given.keys.map((key) => ({ address: key.address, weight: BigInt(key.weight) })),
  };
}

interface Options {
  readonly permissionId: number;
  readonly blockHeader: { ref_block_bytes: string; ref_block_hash: string; expiration: number; timestamp: number };
}

/** A contract as tronweb is asked for it, with its facts beyond the permission and the owner. */
interface Order {
  readonly build: (options: Options) => Promise<{ raw_data_hex: string } | { transaction: { raw_data_hex: string } }>;
  readonly facts: Partial<Contract> & { readonly type: string };
  readonly feeLimit?: number;
}

const trigger = fc
  .record({
    contract: address,
    to: address,
    tokens: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    callValue: fc.oneof(fc.constant(0), amount),
    feeLimit: amount,
    token: fc.option(fc.record({ tokenId: fc.integer({ min: 1_000_001, max: 2_000_000 }), tokenValue: amount }), {
      nil: undefined,
    }),
  })
  .map(({ contract, to, tokens, callValue, feeLimit, token }): Order => {
    const receiver = `0x${TronWeb.address.toHex(to).slice(2)}`;
    return {
      feeLimit,
      build: (options) =>
        builder.triggerSmartContract(
          contract,
          'transfer(address,uint256)',
          { ...options, ...token, txLocal: true, callValue, feeLimit } as never,
          [
            { type: 'address', value: to },
            { type: 'uint256', value: tokens.toString() },
          ],
          OWNER,
        ),
      facts: {
        type: 'TriggerSmartContract',
        contract_address: contract,
        call_value: BigInt(callValue),
        data: ERC20.encodeFunctionData('transfer', [receiver, tokens]).slice(2),
        call_token_value: BigInt(token?.tokenValue ?? 0),
        token_id: BigInt(token?.tokenId ?? 0),
      },
    };
  });

const order: fc.Arbitrary<Order> = fc.oneof(
  fc.tuple(address, amount).map(([to, sun]) => ({
    build: (options: Options) => builder.sendTrx(to, sun, OWNER, options),
    facts: { type: 'TransferContract', to_address: to, amount: BigInt(sun) },
  })),
  trigger,
  fc.tuple(address, amount, fc.integer({ min: 1_000_001, max: 2_000_000 })).map(([to, tokens, id]) => ({
    build: (options: Options) => builder.sendToken(to, tokens, String(id), OWNER, options),
    facts: { type: 'TransferAssetContract' },
  })),
  fc.tuple(amount, resource).map(([sun, kind]) => ({
    build: (options: Options) => builder.freezeBalanceV2(sun, kind, OWNER, options),
    facts: { type: 'FreezeBalanceV2Contract', frozen_balance: BigInt(sun), resource: kind },
  })),
  fc.tuple(amount, resource).map(([sun, kind]) => ({
    build: (options: Options) => builder.unfreezeBalanceV2(sun, kind, OWNER, options),
    facts: { type: 'UnfreezeBalanceV2Contract', unfreeze_balance: BigInt(sun), resource: kind },
  })),
  fc.tuple(amount, address, resource, fc.boolean(), fc.nat(1_000_000)).map(([sun, receiver, kind, lock, period]) => ({
    build: (options: Options) => builder.delegateResource(sun, receiver, kind, OWNER, lock, period, options),
    facts: {
      type: 'DelegateResourceContract',
      balance: BigInt(sun),
      receiver_address: receiver,
      resource: kind,
      lock,
      // tronweb drops the period of what is not locked.
      lock_period: lock ? BigInt(period) : 0n,
    },
  })),
  fc.tuple(amount, address, resource).map(([sun, receiver, kind]) => ({
    build: (options: Options) => builder.undelegateResource(sun, receiver, kind, OWNER, options),
    facts: {
      type: 'UnDelegateResourceContract',
      balance: BigInt(sun),
      receiver_address: receiver,
      resource: kind,
    },
  })),
  fc
    .tuple(
      permission(0),
      fc.option(permission(1), { nil: undefined }),
      fc.array(permission(2), { minLength: 1, maxLength: 2 }),
    )
    .map(([owner, witness, actives]) => ({
      build: (options: Options) =>
        builder.updateAccountPermissions(OWNER, owner as never, witness as never, actives as never, options),
      facts: {
        type: 'AccountPermissionUpdateContract',
        owner: permissionFacts(owner),
        ...(witness === undefined ? {} : { witness: permissionFacts(witness) }),
        actives: actives.map(permissionFacts),
      },
    })),
);

export const tronOrder = fc.record({
  order,
  permissionId: fc.nat(9),
  // tronweb takes text that starts with 0x for hex.
  memo: fc.option(fc.stringMatching(/^[a-zA-Z][ -~]{0,19}$/), { nil: undefined }),
  blockHeader: fc.record({
    ref_block_bytes: hexText(2),
    ref_block_hash: hexText(8),
    expiration: fc.integer({ min: 1, max: 2 ** 42 }),
    timestamp: fc.integer({ min: 1, max: 2 ** 42 }),
  }),
});

const NEW_CONTRACT = {
  abi: [{ type: 'constructor', stateMutability: 'payable', inputs: [] }],
  bytecode: '00',
  feeLimit: 1,
  callValue: 7,
  name: 'one',
};

/** What tronweb builds of types that are not read. */
export const tronUnread: readonly (readonly [type: string, build: Order['build']])[] = [
  ['AccountCreateContract', (options) => builder.createAccount(OTHER, OWNER, options)],
  ['VoteWitnessContract', (options) => builder.vote({ [OTHER]: 1 }, OWNER, options)],
  ['WitnessCreateContract', (options) => builder.applyForSR(OWNER, 'https://example.com', options)],
  ['ParticipateAssetIssueContract', (options) => builder.purchaseToken(OTHER, '1000001', 7, OWNER, options)],
  ['AccountUpdateContract', (options) => builder.updateAccount('account12', OWNER, options)],
  ['FreezeBalanceContract', (options) => builder.freezeBalance(9, 3, 'ENERGY', OWNER, OTHER, options)],
  ['UnfreezeBalanceContract', (options) => builder.unfreezeBalance('ENERGY', OWNER, OTHER, options)],
  ['WithdrawBalanceContract', (options) => builder.withdrawBlockRewards(OWNER, options)],
  ['ProposalDeleteContract', (options) => builder.deleteProposal(1, OWNER, options)],
  ['SetAccountIdContract', (options) => builder.setAccountId(hexOf(Buffer.from('account12')), OWNER, options)],
  ['CreateSmartContract', (options) => builder.createSmartContract({ ...options, ...NEW_CONTRACT } as never, OWNER)],
  ['ExchangeCreateContract', (options) => builder.createTRXExchange('1000001', 7, 7, OWNER, options)],
  ['ExchangeInjectContract', (options) => builder.injectExchangeTokens(1, '1000001', 7, OWNER, options)],
  ['ExchangeTransactionContract', (options) => builder.tradeExchangeTokens(1, '1000001', 7, 1, OWNER, options)],
  ['UpdateBrokerageContract', (options) => builder.updateBrokerage(20, OWNER, options)],
  ['WithdrawExpireUnfreezeContract', (options) => builder.withdrawExpireUnfreeze(OWNER, options)],
  ['CancelAllUnfreezeV2Contract', (options) => builder.cancelUnfreezeBalanceV2(OWNER, options)],
];

export const tronTransfer: Order['build'] = (options) => builder.sendTrx(OTHER, 1, OWNER, options);

export async function rawOf(build: Order['build'], options: Options): Promise<string> {
  const answer = await build(options);
  return ('transaction' in answer ? answer.transaction : answer).raw_data_hex;
}

export async function tronTransaction({
  order: { build, facts, feeLimit = 0 },
  permissionId,
  memo,
  blockHeader,
}: typeof tronOrder extends fc.Arbitrary<infer Ordered> ? Ordered : never): Promise<Built> {
  const answer = await build({ permissionId, blockHeader });
  const made = ('transaction' in answer ? answer.transaction : answer) as Parameters<typeof builder.addUpdateData>[0];
  const transaction = memo === undefined ? made : await builder.addUpdateData(made, memo, 'utf8', { txLocal: true });
  return {
    unsigned: transaction.raw_data_hex,
    account: tronAccount,
    facts: {
      tron: {
        tx: {
          ref_block_bytes: blockHeader.ref_block_bytes,
          ref_block_hash: blockHeader.ref_block_hash,
          expiration: BigInt(blockHeader.expiration),
          timestamp: BigInt(blockHeader.timestamp),
          data: memo === undefined ? '' : hexOf(Buffer.from(memo)),
          fee_limit: BigInt(feeLimit),
          contract: [{ ...facts, permission_id: BigInt(permissionId), owner_address: OWNER }],
        },
      },
    },
    payloads: [transaction.txID],
  };
}

interface Message {
  toObject(): Record<string, unknown>;
  serializeBinary(): Uint8Array;
}

interface RawData extends Message {
  getContractList(): {
    setType(type: number): void;
    getParameter(): { getValue_asU8(): Uint8Array; setValue(value: Uint8Array): void };
  }[];
}

interface MessageClass<Read extends Message = Message> {
  deserializeBinary(bytes: Uint8Array): Read;
}

const proto = (
  globalThis as unknown as {
    TronWebProto: Record<string, MessageClass> & {
      Transaction: { raw: MessageClass<RawData>; Contract: { ContractType: Record<string, number> } };
    };
  }
).TronWebProto;

/** The types that tronweb knows, in upper case, with their numbers. */
export const tronTypes = Object.entries(proto.Transaction.Contract.ContractType);

/** The same bytes with another type of contract. */
export function ofType(type: number, unsigned: string): string {
  const raw = proto.Transaction.raw.deserializeBinary(bytesOf(unsigned));
  raw.getContractList()[0]?.setType(type);
  return hexOf(raw.serializeBinary());
}

/** The types of contract that are read. */
export const isReadType = (type: string): boolean =>
  Object.keys(VALUES).some((name) => name.toUpperCase() === type.toUpperCase());

const hexOfBase64 = (text: unknown): string => Buffer.from(text as string, 'base64').toString('hex');
const integer = (value: unknown): bigint => BigInt(value as number);
const base58 = (text: unknown): string => addressOf(hexOfBase64(text));

/** What tronweb reads: `tron.tx`, and the bytes that it would write for that. */
export function tronReading(bytes: Buffer, type: string): { facts: Namespaces; written: Buffer } {
  const raw = proto.Transaction.raw.deserializeBinary(bytes);
  const parameter = raw.getContractList()[0]?.getParameter();
  const value = proto[type]?.deserializeBinary(parameter?.getValue_asU8() ?? new Uint8Array());
  const object = raw.toObject();
  const [contract] = object.contractList as Record<string, unknown>[];
  const fields = value?.toObject() ?? {};
  const facts = {
    ref_block_bytes: hexOfBase64(object.refBlockBytes),
    ref_block_hash: hexOfBase64(object.refBlockHash),
    expiration: integer(object.expiration),
    timestamp: integer(object.timestamp),
    data: hexOfBase64(object.data),
    fee_limit: integer(object.feeLimit),
    contract: [
      {
        type,
        permission_id: integer(contract?.permissionId),
        owner_address: base58(fields.ownerAddress),
        ...contractFields(type, fields),
      },
    ],
  };
  parameter?.setValue(value?.serializeBinary() ?? new Uint8Array());
  return { facts: { tron: { tx: facts } }, written: Buffer.from(raw.serializeBinary()) };
}

const RESOURCES = ['BANDWIDTH', 'ENERGY', 'TRON_POWER'];

function contractFields(type: string, fields: Record<string, unknown>): Partial<Contract> {
  const kind = RESOURCES[fields.resource as number] ?? '';
  switch (type) {
    case 'TransferContract':
      return { to_address: base58(fields.toAddress), amount: integer(fields.amount) };
    case 'TriggerSmartContract':
      return {
        contract_address: base58(fields.contractAddress),
        call_value: integer(fields.callValue),
        data: hexOfBase64(fields.data),
        call_token_value: integer(fields.callTokenValue),
        token_id: integer(fields.tokenId),
      };
    case 'FreezeBalanceV2Contract':
      return { frozen_balance: integer(fields.frozenBalance), resource: kind };
    case 'UnfreezeBalanceV2Contract':
      return { unfreeze_balance: integer(fields.unfreezeBalance), resource: kind };
    case 'DelegateResourceContract':
    case 'UnDelegateResourceContract':
      return {
        balance: integer(fields.balance),
        receiver_address: base58(fields.receiverAddress),
        resource: kind,
        ...(type === 'DelegateResourceContract'
          ? { lock: fields.lock as boolean, lock_period: integer(fields.lockPeriod) }
          : {}),
      };
    case 'AccountPermissionUpdateContract':
      return {
        ...(fields.owner === undefined ? {} : { owner: readPermission(fields.owner) }),
        ...(fields.witness === undefined ? {} : { witness: readPermission(fields.witness) }),
        actives: (fields.activesList as unknown[]).map(readPermission),
      };
    default:
      return {};
  }
}

function readPermission(value: unknown): Permission {
  const fields = value as Record<string, unknown>;
  return {
    type: ['Owner', 'Witness', 'Active'][fields.type as number] ?? '',
    id: integer(fields.id),
    permission_name: fields.permissionName as string,
    threshold: integer(fields.threshold),
    parent_id: integer(fields.parentId),
    operations: hexOfBase64(fields.operations),
    keys: (fields.keysList as Record<string, unknown>[]).map((key) => ({
      address: base58(key.address),
      weight: integer(key.weight),
    })),
  };
}

export const tronPayload = (bytes: Buffer): string => sha256(bytes).slice(2);

/** Which fields of a message are messages themselves. */
interface Shape {
  readonly [field: number]: Shape;
}

const PERMISSION: Shape = { 7: {} };
/** The contracts that are read, all of them whole. */
const VALUES: Readonly<Record<string, Shape>> = {
  TransferContract: {},
  TransferAssetContract: {},
  TriggerSmartContract: {},
  FreezeBalanceV2Contract: {},
  UnfreezeBalanceV2Contract: {},
  DelegateResourceContract: {},
  UnDelegateResourceContract: {},
  AccountPermissionUpdateContract: { 2: PERMISSION, 3: PERMISSION, 4: PERMISSION },
};
const shapeOf = (type: string): Shape => ({ 11: { 2: { 2: VALUES[type] ?? {} } } });

/** The largest number that tronweb keeps exactly. */
const EXACT_MAX = BigInt(Number.MAX_SAFE_INTEGER);

export interface Fields {
  /** Each field with its number, in the order of the numbers, but for zeros, which may be written or not. */
  readonly list: readonly unknown[];
  /** Whether tronweb keeps all its numbers. */
  readonly exact: boolean;
  /** Whether each number is written in as few bytes as it can be. */
  readonly shortest: boolean;
}

export const fieldsOf = (bytes: Buffer, type: string): Fields => readFields(bytes, shapeOf(type));

function readFields(bytes: Buffer, shape: Shape): Fields {
  const list: [number, string | readonly unknown[]][] = [];
  let exact = true;
  let shortest = true;
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      shortest &&= byte !== 0 || shift === 0n;
      return value;
    }
  };
  const take = (length: number): Buffer => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    const wire = tag & 7;
    if (wire === 0) {
      const value = varint();
      exact &&= value <= EXACT_MAX;
      if (value !== 0n) list.push([number, value.toString()]);
      continue;
    }
    const value = take(wire === 2 ? Number(varint()) : wire === 1 ? 8 : 4);
    const inner = shape[number];
    if (inner !== undefined) {
      const fields = readFields(value, inner);
      exact &&= fields.exact;
      shortest &&= fields.shortest;
      list.push([number, fields.list]);
    } else if (value.length > 0) list.push([number, hexOf(value)]);
  }
  return { list: list.sort(([a], [b]) => a - b), exact, shortest };
}

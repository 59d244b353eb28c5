// Transactions of Ethereum and Tempo with random fields, serialised by viem and ethers, and the fields of any bytes as
// ethers decodes RLP.
import type { Namespaces } from '@custos/server/policy';
import { type ContractInterface, checkContractInterface, type SignerAccount } from '@custos/server/policy-facts';
import {
  concat,
  decodeRlp,
  encodeRlp,
  type RlpStructuredData,
  SigningKey,
  Transaction,
  type TransactionLike,
} from 'ethers';
import fc from 'fast-check';
import { type Hex, keccak256, serializeTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { Account as TempoAccount, Transaction as TempoTransaction } from 'viem/tempo';
import { address, argumentFacts, type Call, call, decodedByEthers, hexBytes, uint } from './policy-facts-abi.ts';
import { type Built, bytesOf } from './policy-facts-damage.ts';

const KEY: Hex = `0x${'46'.repeat(32)}`;
const FROM = privateKeyToAccount(KEY).address.toLowerCase();

export const ethereumAccount: SignerAccount = {
  curve: 'CURVE_SECP256K1',
  publicKey: bytesOf(SigningKey.computePublicKey(KEY, true)),
  address: FROM,
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};

const TYPES = ['LEGACY', 'TYPE_1', 'TYPE_2', 'TYPE_3', 'TYPE_4'] as const;
const VIEM_TYPES = ['legacy', 'eip2930', 'eip1559', 'eip4844', 'eip7702'] as const;

const word = hexBytes({ minLength: 32, maxLength: 32 });
/** Both libraries keep these as numbers. */
const count = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const chainId = fc.integer({ min: 1, max: 2 ** 40 });
const accessList = fc.array(fc.record({ address, storageKeys: fc.array(word, { maxLength: 2 }) }), { maxLength: 2 });
const authorization = fc.record({ chainId, address, nonce: count, r: word, s: word, yParity: fc.constantFrom(0, 1) });

/** Both libraries refuse a tip above the cap. */
const ascending = ([a, b]: readonly [bigint, bigint]): readonly [bigint, bigint] => (a < b ? [a, b] : [b, a]);

export interface EthereumBuilt extends Built {
  readonly call: Call | undefined;
}

/** Every kind; calls have the ABI of what they call. */
export const ethereumTransaction: fc.Arbitrary<EthereumBuilt> = fc
  .record({
    type: fc.constantFrom(0, 1, 2, 3, 4),
    byEthers: fc.boolean(),
    chainId,
    protected: fc.boolean(),
    nonce: count,
    to: fc.option(address, { nil: undefined, freq: 6 }),
    value: uint(256),
    gas: uint(64),
    fees: fc.tuple(uint(255), uint(255)),
    blobFee: uint(255),
    payload: fc.oneof(call, hexBytes({ maxLength: 70 })),
    accessList,
    hashes: fc.array(
      word.map((hash): Hex => `0x01${hash.slice(4)}`),
      { minLength: 1, maxLength: 3 },
    ),
    authorizations: fc.array(authorization, { minLength: 1, maxLength: 2 }),
  })
  .map((fields) => {
    const { type, gas, nonce, value, payload } = fields;
    const [tip, cap] = ascending(fields.fees);
    const { blobFee } = fields;
    // Only the first three types can create a contract.
    const to = fields.to ?? (type > 2 ? (`0x${'c0'.repeat(20)}` as const) : undefined);
    const called = typeof payload === 'string' ? undefined : payload;
    const data = typeof payload === 'string' ? payload : payload.data;
    // Without its chain a legacy transaction has no protection against replay.
    const chain = type === 0 && !fields.protected ? undefined : fields.chainId;
    const input = { ...fields, to, data, chain, tip, cap, blobFee };
    const unsigned = fields.byEthers ? byEthers(input) : byViem(input);
    const known = to !== undefined && called !== undefined;
    const fees = type < 2 ? { price: cap, tip: cap } : { price: cap, tip };
    return {
      unsigned,
      account: ethereumAccount,
      call: known ? called : undefined,
      interfaces: known ? [interfaceOf(to, called)] : [],
      facts: {
        eth: {
          tx: {
            from: FROM,
            to: to ?? '',
            data,
            value,
            gas,
            gas_price: fees.price,
            chain_id: BigInt(chain ?? 0),
            nonce: BigInt(nonce),
            max_fee_per_gas: fees.price,
            max_priority_fee_per_gas: fees.tip,
            max_fee_per_blob_gas: type === 3 ? blobFee : 0n,
            type: TYPES[type] ?? '',
            ...callFacts(known ? called : undefined, data),
          },
        },
      },
      payloads: [keccak256(unsigned).slice(2)],
    };
  });

interface Input {
  readonly type: number;
  readonly chain: number | undefined;
  readonly nonce: number;
  readonly to: Hex | undefined;
  readonly value: bigint;
  readonly data: Hex;
  readonly gas: bigint;
  readonly tip: bigint;
  readonly cap: bigint;
  readonly blobFee: bigint;
  readonly accessList: { address: Hex; storageKeys: Hex[] }[];
  readonly hashes: Hex[];
  readonly authorizations: { chainId: number; address: Hex; nonce: number; r: Hex; s: Hex; yParity: number }[];
}

/** What both libraries call by the same names. */
const commonFields = ({ type, chain, tip, cap, blobFee, hashes, ...rest }: Input) => ({
  nonce: rest.nonce,
  value: rest.value,
  data: rest.data,
  ...(rest.to === undefined ? {} : { to: rest.to }),
  ...(chain === undefined ? {} : { chainId: chain }),
  ...(type === 0 ? {} : { accessList: rest.accessList }),
  ...(type < 2 ? { gasPrice: cap } : { maxFeePerGas: cap, maxPriorityFeePerGas: tip }),
  ...(type === 3 ? { maxFeePerBlobGas: blobFee, blobVersionedHashes: hashes } : {}),
});

function byViem(input: Input): Hex {
  const type = VIEM_TYPES[input.type];
  const authorizations = type === 'eip7702' ? { authorizationList: input.authorizations } : {};
  return serializeTransaction({ ...commonFields(input), type, gas: input.gas, ...authorizations } as never);
}

function byEthers(input: Input): Hex {
  const signed = input.authorizations.map(({ r, s, yParity, ...tuple }) => ({
    ...tuple,
    signature: { r, s: lowS(s), yParity },
  }));
  const authorizations = input.type === 4 ? { authorizationList: signed } : {};
  const like = { ...commonFields(input), type: input.type, gasLimit: input.gas, ...authorizations };
  return Transaction.from(like as TransactionLike).unsignedSerialized as Hex;
}

/** ethers takes no signature whose s is in the upper half. */
const lowS = (s: Hex): Hex => `0x00${s.slice(4)}`;

export const interfaceOf = (to: string, { abi }: Call): ContractInterface =>
  checkContractInterface('SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', to, JSON.stringify(abi));

function callFacts(called: Call | undefined, data: string) {
  if (called === undefined) return { function_name: '', function_signature: '' };
  return {
    function_name: called.abi[0].name,
    function_signature: data.slice(0, 10),
    contract_call_args: argumentFacts(called.abi, called.args),
  };
}

/** The fields of the one RLP list that the bytes are, if encoding it again gives these bytes. */
export function rlpFields(serialised: string): readonly RlpStructuredData[] | undefined {
  const fields = decodeRlp(serialised);
  return encodeRlp(fields) === serialised && Array.isArray(fields) ? fields : undefined;
}

const integer = (field: RlpStructuredData | undefined): bigint => (field === '0x' ? 0n : BigInt(field as string));
const addressOf = (field: RlpStructuredData | undefined): string => (field === '0x' ? '' : (field as string));

/** `eth.tx` of any bytes that are a transaction, with what was called when the ABI is that of the contract. */
export function ethereumFacts(bytes: Buffer, called: Call | undefined, contract: string): Namespaces {
  const serialised = `0x${bytes.toString('hex')}`;
  const type = (bytes[0] ?? 0) >= 0xc0 ? 0 : (bytes[0] ?? 0);
  const fields = rlpFields(type === 0 ? serialised : `0x${serialised.slice(4)}`) ?? [];
  const [nonce, gasPrice, gas, to, value, data, chain] = type === 0 ? fields : [];
  const [chain1, nonce1, ...rest] = type === 0 ? [] : fields;
  const [fees, call, tail] =
    type === 1 ? [rest.slice(0, 1), rest.slice(1, 5), []] : [rest.slice(0, 2), rest.slice(2, 6), rest.slice(7)];
  const cap = integer(type === 0 ? gasPrice : fees.at(-1));
  const text = (type === 0 ? data : call[3]) as string;
  const target = addressOf(type === 0 ? to : call[1]);
  const selector = called?.data.slice(0, 10);
  const known = called !== undefined && target === contract && text.startsWith(selector ?? '') ? called : undefined;
  const args = known && decodedByEthers(known.abi, text);
  return {
    eth: {
      tx: {
        from: FROM,
        to: target,
        data: text,
        value: integer(type === 0 ? value : call[2]),
        gas: integer(type === 0 ? gas : call[0]),
        gas_price: cap,
        chain_id: type === 0 && chain === undefined ? 0n : integer(type === 0 ? chain : chain1),
        nonce: integer(type === 0 ? nonce : nonce1),
        max_fee_per_gas: cap,
        max_priority_fee_per_gas: type < 2 ? cap : integer(fees[0]),
        max_fee_per_blob_gas: type === 3 ? integer(tail[0]) : 0n,
        type: TYPES[type] ?? '',
        function_name: known?.abi[0].name ?? '',
        function_signature: known === undefined ? '' : text.slice(0, 10),
        ...(known && args ? { contract_call_args: argumentFacts(known.abi, args) } : {}),
      },
    },
  };
}

const tempoCall = fc.record({
  to: fc.option(address, { nil: undefined, freq: 6 }),
  value: uint(256),
  data: hexBytes({ maxLength: 40 }),
});

export const tempoFields = fc.record({
  calls: fc.array(tempoCall, { minLength: 1, maxLength: 3 }),
  chain: chainId,
  nonce: count,
  nonceKey: uint(256),
  gas: uint(64),
  fees: fc.tuple(uint(128), uint(128)),
  before: fc.nat(1_000_000_000),
  after: fc.nat(1_000_000_000),
  token: fc.option(address, { nil: undefined }),
  sponsored: fc.boolean(),
  accessList,
});
type TempoFields = typeof tempoFields extends fc.Arbitrary<infer Fields> ? Fields : never;

/** As viem takes it. */
const tempoRequest = ({ calls, fees, before, after, token, sponsored, ...rest }: TempoFields) =>
  ({
    chainId: rest.chain,
    calls: calls.map(({ to, ...one }) => (to === undefined ? one : { ...one, to })),
    nonce: rest.nonce,
    gas: rest.gas,
    maxFeePerGas: ascending(fees)[1],
    maxPriorityFeePerGas: ascending(fees)[0],
    accessList: rest.accessList,
    nonceKey: rest.nonceKey,
    ...(token === undefined ? {} : { feeToken: token }),
    ...(after === 0 ? {} : { validAfter: after }),
    ...(before === 0 ? {} : { validBefore: after + before }),
    ...(sponsored ? { feePayer: true } : {}),
  }) as never;

export async function tempoTransaction(fields: TempoFields): Promise<Built> {
  const { calls, chain, nonce, gas, before, after, token, sponsored } = fields;
  const [tip, cap] = ascending(fields.fees);
  const unsigned = await TempoTransaction.serialize(tempoRequest(fields));
  const tx = {
    chain_id: BigInt(chain),
    from: FROM,
    nonce: BigInt(nonce),
    gas_limit: gas,
    max_fee_per_gas: cap,
    max_priority_fee_per_gas: tip,
    // viem leaves the token to the one who pays.
    fee_token: sponsored ? '' : (token ?? ''),
    valid_before: before === 0 ? 0n : BigInt(after + before),
    valid_after: BigInt(after),
    calls: calls.map(({ to, data }) => ({
      to: to ?? '',
      input: data,
      function_signature: data.length < 10 ? '' : data.slice(0, 10),
    })),
  };
  return { unsigned, account: ethereumAccount, facts: { tempo: { tx } }, payloads: [tempoPayload(bytesOf(unsigned))] };
}

/** The sender's signature, which is the last field of what viem signs. */
export async function signatureOfViem(fields: TempoFields): Promise<Hex> {
  const signed = await TempoAccount.fromSecp256k1(KEY).signTransaction(tempoRequest(fields));
  return rlpFields(`0x${signed.slice(4)}`)?.at(-1) as Hex;
}

const TOKEN_AT = 10;
const PAYER_AT = 11;

/** What the sender signs, from the fields as ethers decodes them. */
export function tempoPayload(bytes: Buffer): string {
  const fields = [...(rlpFields(`0x${bytes.subarray(1).toString('hex')}`) ?? [])];
  if (fields[PAYER_AT] !== '0x') {
    fields[TOKEN_AT] = '0x';
    fields[PAYER_AT] = '0x00';
  }
  return keccak256(concat(['0x76', encodeRlp(fields)]) as Hex).slice(2);
}

/** `tempo.tx` of any bytes that are a transaction. */
export function tempoFacts(bytes: Buffer): Namespaces {
  const fields = rlpFields(`0x${bytes.subarray(1).toString('hex')}`) ?? [];
  const [chain, tip, cap, gas, calls, , , nonce, before, after, token] = fields;
  return {
    tempo: {
      tx: {
        chain_id: integer(chain),
        from: FROM,
        nonce: integer(nonce),
        gas_limit: integer(gas),
        max_fee_per_gas: integer(cap),
        max_priority_fee_per_gas: integer(tip),
        fee_token: addressOf(token),
        valid_before: integer(before),
        valid_after: integer(after),
        calls: (calls as string[][]).map(([to, , input = '']) => ({
          to: addressOf(to),
          input,
          function_signature: input.length < 10 ? '' : input.slice(0, 10),
        })),
      },
    },
  };
}

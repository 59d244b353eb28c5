import { base58 } from '@scure/base';
import { type BitcoinTransaction, bitcoinFormat } from '../chains/bitcoin/bitcoin.ts';
import { keyScripts } from '../chains/bitcoin/script.ts';
import { type HashBudget, newHashBudget } from '../chains/ethereum/eip712-types.ts';
import { requireSecp256k1 } from '../chains/ethereum/fields.ts';
import { type EthereumTransaction, parseEthereumTransaction } from '../chains/ethereum/transaction.ts';
import type { PayloadEncoding } from '../chains/payload.ts';
import type { SignerAccount } from '../chains/signable.ts';
import { parseSolana, type SolanaTransaction } from '../chains/solana/solana.ts';
import { parseTempoTransaction, type TempoTransaction } from '../chains/tempo/transaction.ts';
import { type FittedSignable, signableOf, type TransactionType } from '../chains/transactions.ts';
import { parseTron, type TronTransaction } from '../chains/tron/tron.ts';
import { assert } from '../lib/assert.ts';
import { toHex } from '../lib/encoding.ts';
import type { Namespaces } from '../policy/index.ts';
import { bitcoinFacts } from './bitcoin.ts';
import type { ContractInterface, ContractInterfaceType, SolanaInterface } from './contract-interface.ts';
import { eip712Facts, eip7702Facts, ethereumAddress, ethereumFacts, tempoFacts } from './ethereum.ts';
import { solanaFacts } from './solana.ts';
import { tronFacts } from './tron.ts';

/** A transaction that is to be signed, with what it depends on who signs it. */
export type ParsedTransaction =
  | { readonly type: 'TRANSACTION_TYPE_ETHEREUM'; readonly transaction: EthereumTransaction; readonly from: string }
  | { readonly type: 'TRANSACTION_TYPE_TEMPO'; readonly transaction: TempoTransaction; readonly from: string }
  | { readonly type: 'TRANSACTION_TYPE_SOLANA'; readonly transaction: SolanaTransaction; readonly signer: string }
  | { readonly type: 'TRANSACTION_TYPE_TRON'; readonly transaction: TronTransaction }
  | {
      readonly type: 'TRANSACTION_TYPE_BITCOIN';
      readonly transaction: BitcoinTransaction;
      /** The output script, in hex, of the inputs that are signed. */
      readonly signedScript: string;
      /**
       * Output scripts of the account that signs. Those of the key's other address formats are not among them: their inputs
       * are signed in other calls, and what returns must be subtracted in one of them only.
       */
      readonly ownScripts: ReadonlySet<string>;
    };

/** Who signs: one account, or a key by its id, which stands for all its addresses. */
interface Signer {
  readonly account: SignerAccount;
  readonly addresses: readonly SignerAccount[];
  /** What is going to be signed, and as which account, where that is known. */
  readonly fitted?: FittedSignable;
}

/** Parses for whoever judges; refuses what the signer would refuse for its form (INVALID_TRANSACTION). */
export function readTransaction(type: TransactionType, unsigned: string, signer: Signer): ParsedTransaction {
  switch (type) {
    case 'TRANSACTION_TYPE_ETHEREUM':
      return { type, transaction: parseEthereumTransaction(unsigned), from: senderOf(signer) };
    case 'TRANSACTION_TYPE_TEMPO':
      return { type, transaction: parseTempoTransaction(unsigned), from: senderOf(signer) };
    case 'TRANSACTION_TYPE_SOLANA':
      return { type, transaction: parseSolana(unsigned), signer: base58.encode(signer.account.publicKey) };
    case 'TRANSACTION_TYPE_TRON':
      return { type, transaction: parseTron(unsigned) };
    case 'TRANSACTION_TYPE_BITCOIN':
      return readBitcoin(unsigned, signer);
  }
}

function senderOf({ account }: Signer): string {
  requireSecp256k1(account);
  return ethereumAddress(account.publicKey);
}

function readBitcoin(unsigned: string, signer: Signer): ParsedTransaction {
  const type = 'TRANSACTION_TYPE_BITCOIN';
  // The very transaction that is signed: only for its signer is it known which amounts are proven.
  const { account, bitcoin: transaction } = signer.fitted ?? signableOf(type, unsigned, signer);
  assert(transaction !== undefined, 'a Bitcoin transaction was read for its signer');
  const { output, wrapped } = keyScripts(bitcoinFormat(account).type, account.publicKey);
  const scripts = wrapped === undefined ? [output] : [output, wrapped];
  return { type, transaction, signedScript: toHex(output), ownScripts: new Set(scripts.map(toHex)) };
}

export interface InterfaceKey {
  readonly type: ContractInterfaceType;
  readonly address: string;
}

/** The contracts whose interfaces, if the organization has any, say more about the transaction. */
export function interfacesNeeded(parsed: ParsedTransaction): readonly InterfaceKey[] {
  if (parsed.type === 'TRANSACTION_TYPE_ETHEREUM') {
    const { to, selector } = parsed.transaction;
    return to === '' || selector === '' ? [] : [{ type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', address: to }];
  }
  if (parsed.type !== 'TRANSACTION_TYPE_SOLANA') return [];
  return parsed.transaction.programKeys.map((address) => ({ type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA', address }));
}

/** The namespace of a transaction (protocol/policy-facts 3.1). Interfaces of other contracts make no difference. */
export function transactionNamespaces(
  parsed: ParsedTransaction,
  interfaces: readonly ContractInterface[] = [],
): Namespaces {
  switch (parsed.type) {
    case 'TRANSACTION_TYPE_ETHEREUM':
      return { eth: { tx: ethereumFacts(parsed.transaction, parsed.from, ethereumInterface(parsed, interfaces)) } };
    case 'TRANSACTION_TYPE_TEMPO':
      return { tempo: { tx: tempoFacts(parsed.transaction, parsed.from) } };
    case 'TRANSACTION_TYPE_SOLANA':
      return { solana: { tx: solanaFacts(parsed.transaction, solanaInterfaces(interfaces)) } };
    case 'TRANSACTION_TYPE_TRON':
      return { tron: { tx: tronFacts(parsed.transaction) } };
    case 'TRANSACTION_TYPE_BITCOIN':
      return { bitcoin: { tx: bitcoinFacts(parsed.transaction) } };
  }
}

function ethereumInterface(
  { transaction }: ParsedTransaction & { readonly type: 'TRANSACTION_TYPE_ETHEREUM' },
  interfaces: readonly ContractInterface[],
) {
  return interfaces
    .filter((known) => known.type === 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM')
    .find(({ address }) => address === transaction.to);
}

const solanaInterfaces = (interfaces: readonly ContractInterface[]): ReadonlyMap<string, SolanaInterface> =>
  new Map(
    interfaces
      .filter((known) => known.type === 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA')
      .map((known) => [known.address, known]),
  );

/**
 * The namespace of a raw payload, which has one only when its encoding gives it a meaning (protocol/policy-facts 3.1).
 */
export function payloadNamespaces(
  encoding: PayloadEncoding,
  payload: string,
  /** Shared by all payloads of a request. */
  budget: HashBudget = newHashBudget(),
): Namespaces {
  switch (encoding) {
    case 'PAYLOAD_ENCODING_EIP712':
      return { eth: { eip_712: eip712Facts(payload, budget) } };
    case 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION':
      return { eth: { eip_7702_authorization: eip7702Facts(payload) } };
    case 'PAYLOAD_ENCODING_HEXADECIMAL':
    case 'PAYLOAD_ENCODING_TEXT_UTF8':
      return {};
  }
}

/** One element for each payload that has a namespace. The others are all alike, so one stands for them. */
export function payloadElements(encoding: PayloadEncoding, payloads: readonly string[]): readonly Namespaces[] {
  const budget = newHashBudget();
  const elements = payloads.map((payload) => payloadNamespaces(encoding, payload, budget));
  return elements.every(({ eth }) => eth === undefined) ? elements.slice(0, 1) : elements;
}

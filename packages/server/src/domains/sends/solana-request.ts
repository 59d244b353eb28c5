import { unparsable } from '../../chains/input.ts';
import type { SolanaSendRequest } from '../../chains/send/model.ts';
import { hasDurableNonce, isBlockhash, NO_BLOCKHASH, withBlockhash } from '../../chains/solana/blockhash.ts';
import { highestFee, usesAccount } from '../../chains/solana/fee.ts';
import { requiredSigners, requireOthersSigned, solanaAddress } from '../../chains/solana/signatures.ts';
import { parseWire, type SolanaWire, wireBytes } from '../../chains/solana/solana.ts';
import type { DescribeContext } from '../../engine/define.ts';
import { toHex } from '../../lib/encoding.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { findSigner, type Signer } from '../signing/signer.ts';

/** What an operator pays for one sponsored transaction at most: a thousandth of a SOL. */
const SPONSORED_FEE_MAX = 1_000_000n;

/** Hex as it is, base64 as hex: what the older version calls base64 is hex in its guides. */
export function hexOfEither(text: string): string {
  if (/^(?:0x)?[0-9a-fA-F]*$/.test(text)) return text;
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw unparsable('it is neither hex nor base64');
  return toHex(Buffer.from(text, 'base64'));
}

/** The key behind an address of Solana. An id does not do: the address is what appears in the transaction. */
export async function resolveSolanaSigner(context: DescribeContext, address: string): Promise<Signer> {
  const signer = await findSigner(context, address);
  if (signer === undefined) {
    throw new ApiError('RESOURCE_NOT_FOUND', 'what signs is not an address of a key in this organization');
  }
  if (solanaAddress(signer.account) !== address) {
    throw new ApiError('REQUEST_INVALID', 'what signs must be the Solana address of an account or key');
  }
  return signer;
}

export interface SolanaTerms {
  readonly unsignedTransaction: string;
  /** The addresses that sign. */
  readonly signers: readonly string[];
  readonly recentBlockhash: string | undefined;
  /** Who pays the fee, where that is the operator. */
  readonly sponsor: string | undefined;
}

/** The transaction as it is to be sent, without the signatures that are still to be made. */
export interface SolanaDraft {
  readonly wire: SolanaWire;
  readonly request: SolanaSendRequest;
  /** The first of the signers in the order of the transaction, so that equal transactions have equal senders. */
  readonly sender: string;
}

/** Reads a transaction and refuses what could not be sent, or not be followed. */
export function draftSolana({ unsignedTransaction, signers, recentBlockhash, sponsor }: SolanaTerms): SolanaDraft {
  const given = parseWire(unsignedTransaction);
  const keys = new Set(signers);
  const needed = requiredSigners(given);
  for (const address of signers) {
    if (needed.includes(address)) continue;
    throw refusedTransaction(`${address} is not among the required signers of the transaction`);
  }
  if (hasDurableNonce(given.transaction)) {
    throw refusedTransaction('it has a durable nonce and would never expire: sign it, and send it yourself');
  }
  if (recentBlockhash !== undefined && !isBlockhash(recentBlockhash)) {
    throw invalidField('parameters.recentBlockhash', 'must be 32 bytes in base58');
  }
  if (sponsor !== undefined) {
    checkSponsored(given, sponsor);
    keys.add(sponsor);
  }
  const message = recentBlockhash === undefined ? given.message : withBlockhash(given.message, recentBlockhash);
  // Signatures of the keys that sign here are made anew, over the message that is sent.
  const slots = given.slots.map((slot, at) => (keys.has(needed[at] ?? '') ? new Uint8Array(slot.length) : slot));
  const transaction = toHex(wireBytes(slots, message));
  const wire = parseWire(transaction);
  const takesFreshBlockhash = wire.transaction.recentBlockhash === NO_BLOCKHASH;
  const stranger = needed.find((address) => !keys.has(address));
  if (takesFreshBlockhash && stranger !== undefined) {
    throw refusedTransaction(`it has no blockhash, so that ${stranger} cannot have signed it`);
  }
  requireOthersSigned(wire, keys);
  const sender = needed.find((address) => signers.includes(address)) ?? '';
  const request = {
    kind: 'solana',
    transaction,
    signers: needed.filter((address) => signers.includes(address)),
    takesFreshBlockhash,
    isSponsored: sponsor !== undefined,
  } as const;
  return { wire, request, sender };
}

/** The operator's signature must buy a fee, and a small one, and nothing else. */
function checkSponsored({ transaction }: SolanaWire, sponsor: string): void {
  if (transaction.accountKeys[0] !== sponsor) {
    throw refusedTransaction(`a sponsored transaction must have ${sponsor} as the payer of its fee`);
  }
  const at = transaction.instructions.findIndex((instruction) => usesAccount(instruction, sponsor));
  if (at !== -1) {
    throw refusedTransaction(`instruction ${at} uses the account of the sponsor, which only pays the fee`);
  }
  if (highestFee(transaction) > SPONSORED_FEE_MAX) {
    throw refusedTransaction(`its fee may be above ${SPONSORED_FEE_MAX} lamports, which is more than is sponsored`);
  }
}

const refusedTransaction = (reason: string): ApiError =>
  new ApiError('INVALID_TRANSACTION', `the transaction cannot be sent: ${reason}`);

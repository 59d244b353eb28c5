import Type, { type Static } from 'typebox';
import type { EthereumSendRequest, SendCall } from '../../chains/send/model.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import {
  checkChecksum,
  checkUint,
  EthereumAddressShape,
  UINT64_MAX,
  UINT256_MAX,
  UintShape,
} from '../../chains/shapes.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import type { SendId } from '../../lib/ids.ts';
import type { CallTerms } from './calls.ts';

// What a caller may ask of a transaction of an EVM chain, and the send that it becomes.

export const CALLS_MAX = 50;
/** Public nodes relay no transaction that is longer. */
const DATA_BYTES_MAX = 128 * 1024;
const NUMBER_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const BATCH_NONCE_DIGITS = 15;
const SPONSORED_AHEAD_MS = 120_000;

export const EthereumCallShape = Type.Object({
  to: EthereumAddressShape,
  value: Type.Optional(UintShape),
  data: Type.Optional(
    Type.String({
      pattern: '^0x[0-9a-fA-F]*$',
      maxLength: 2 + 2 * DATA_BYTES_MAX,
      'x-message': `must be hex with 0x, of at most ${DATA_BYTES_MAX} bytes`,
    }),
  ),
});
type EthereumCall = Static<typeof EthereumCallShape>;

/** The parameters of a send but for its calls. Numbers are decimal. */
interface EthereumTerms {
  readonly sponsor?: boolean;
  readonly nonce?: string;
  readonly gasLimit?: string;
  readonly maxFeePerGas?: string;
  readonly maxPriorityFeePerGas?: string;
  readonly deadline?: string;
  readonly gasStationNonce?: string;
}

/** `placeOf` is where a call stands in the request. */
export function checkCalls(from: string, calls: readonly EthereumCall[], placeOf: (index: number) => string): void {
  let bytes = 0;
  for (const [index, { to, value, data = '0x' }] of calls.entries()) {
    const place = placeOf(index);
    checkChecksum(`${place}.to`, to);
    checkUint(`${place}.value`, value, UINT256_MAX);
    // The code at an account's own address is what makes batches: calls inside such a call would be seen by no policy.
    if (to.toLowerCase() === from.toLowerCase() && data !== '0x') {
      throw invalidField(`${place}.data`, 'must be empty in a call to the account itself');
    }
    if (data.length % 2 !== 0) throw invalidField(`${place}.data`, 'has an odd number of hex digits');
    bytes += (data.length - 2) / 2;
    if (bytes > DATA_BYTES_MAX) {
      throw invalidField(`${place}.data`, `the data of all calls must be at most ${DATA_BYTES_MAX} bytes together`);
    }
  }
}

export function checkTerms(terms: EthereumTerms): void {
  const { sponsor = false, nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas, deadline, gasStationNonce } = terms;
  checkUint('parameters.nonce', nonce, NUMBER_MAX);
  checkUint('parameters.gasLimit', gasLimit, UINT64_MAX);
  checkUint('parameters.maxFeePerGas', maxFeePerGas, UINT256_MAX);
  checkUint('parameters.maxPriorityFeePerGas', maxPriorityFeePerGas, UINT256_MAX);
  checkUint('parameters.deadline', deadline, NUMBER_MAX);
  checkUint('parameters.gasStationNonce', gasStationNonce, UINT256_MAX);
  if (sponsor) {
    const given = Object.entries({ nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas }).find(
      ([, value]) => value !== undefined,
    );
    if (given !== undefined) throw invalidField(`parameters.${given[0]}`, 'is the business of who pays: leave it out');
  } else if (gasStationNonce !== undefined) {
    throw invalidField('parameters.gasStationNonce', 'is for sponsored sends only');
  }
  if (maxPriorityFeePerGas === undefined) return;
  if (maxFeePerGas === undefined) {
    throw invalidField('parameters.maxPriorityFeePerGas', 'needs maxFeePerGas beside it');
  }
  if (BigInt(maxPriorityFeePerGas) > BigInt(maxFeePerGas)) {
    throw invalidField('parameters.maxPriorityFeePerGas', 'must be at most maxFeePerGas');
  }
}

/** What depends on the chain and the time, and not on the parameters alone. */
export function checkServed(
  { caip2, batchContract }: ChainSettings,
  { calls, deadline, sponsor = false }: EthereumTerms & { readonly calls: readonly EthereumCall[] },
  nowMs: number,
): void {
  if (calls.length > 1 && batchContract === undefined) {
    throw new ApiError(
      'FAILED_PRECONDITION',
      `several calls in one transaction on ${caip2} need batchContract in CUSTOS_CHAINS; without it send them one by one`,
    );
  }
  if (deadline !== undefined && Number(deadline) * 1000 <= nowMs) {
    throw invalidField('parameters.deadline', 'is in the past: seconds since 1970');
  }
  // The operator would pay for what comes too late.
  if (sponsor && deadline !== undefined && Number(deadline) * 1000 < nowMs + SPONSORED_AHEAD_MS) {
    throw invalidField('parameters.deadline', 'must be two minutes ahead or more in a sponsored send');
  }
}

export const toCalls = (calls: readonly EthereumCall[]): SendCall[] =>
  calls.map(({ to, value = '0', data = '0x' }) => ({ to: to.toLowerCase(), value, data: data.toLowerCase() }));

/**
 * What of a transaction is fixed already. Of a sponsored one nothing is, and its fees are not the account's
 * (protocol/policy-facts 4.3).
 */
export const toTerms = ({ nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas }: EthereumTerms): CallTerms => ({
  ...(nonce !== undefined && { nonce: Number(nonce) }),
  ...(gasLimit !== undefined && { gasLimit: BigInt(gasLimit) }),
  ...(maxFeePerGas !== undefined && { maxFeePerGas: BigInt(maxFeePerGas) }),
  ...(maxPriorityFeePerGas !== undefined && { maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas) }),
});

export function toRequest(
  parameters: EthereumTerms & { readonly calls: readonly EthereumCall[] },
  id: SendId,
): EthereumSendRequest {
  const { sponsor, nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas, deadline, gasStationNonce } = parameters;
  return {
    kind: 'ethereum',
    calls: toCalls(parameters.calls),
    ...(nonce !== undefined && { nonce: Number(nonce) }),
    ...(gasLimit !== undefined && { gasLimit }),
    ...(maxFeePerGas !== undefined && { maxFeePerGas }),
    ...(maxPriorityFeePerGas !== undefined && { maxPriorityFeePerGas }),
    ...(sponsor === true && { sponsored: { batchNonce: gasStationNonce ?? String(batchNonceOf(id)) } }),
    ...(deadline !== undefined && { deadline: Number(deadline) }),
  };
}

/** A number that no other send of the account has, since batches are carried in any order. */
export const batchNonceOf = (id: SendId): bigint => BigInt(`0x${id.replaceAll('-', '').slice(-BATCH_NONCE_DIGITS)}`);

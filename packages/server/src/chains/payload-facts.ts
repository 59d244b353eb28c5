import type { Namespaces } from '../policy/index.ts';
import { type HashBudget, newHashBudget } from './ethereum/eip712-types.ts';
import { eip712Facts, eip7702Facts } from './ethereum/facts.ts';
import type { PayloadEncoding } from './payload.ts';

/**
 * The namespace of a raw payload, which has one only when its encoding gives it a meaning (protocol/policy-facts 2).
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

import { ethereumAddress } from '../../chains/ethereum/address.ts';
import { addressKey } from '../../storage/address-key.ts';
import { chainTitle, configuredToken } from '../chain-names.ts';
import { interfaceKey, paymentKey, type SignerRecord } from '../names.ts';
import type { Mark } from '../risk.ts';
import type { Recipient, Sender, SentenceContext } from '../sentence.ts';
import { counted, named, say, strong, type TextPart } from '../text.ts';
import { addressPart, dateText, monthText, shownAddress } from '../values.ts';

// Who takes part in a transaction, by the names that this organization has for them.

export const chainPart = (caip2: string): TextPart => strong(chainTitle(caip2));

/** An account or key of the organization, by address or id. */
export const signerOf = ({ names }: SentenceContext, signWith: string): SignerRecord | undefined =>
  names.get('signer', addressKey(signWith));

/** The address of a key on EVM chains, whatever address or id the request names it by; in lower case. */
export function evmAddressOf(context: SentenceContext, signWith: string): string {
  const signer = signerOf(context, signWith);
  if (signer?.curve !== 'CURVE_SECP256K1') return (signer?.address ?? signWith).toLowerCase();
  return ethereumAddress(Buffer.from(signer.publicKey, 'hex'));
}

/** The signer as the sentence names it: by its wallet or key, or by what the request calls it. */
export function signerPart(context: SentenceContext, signWith: string, caip2?: string): TextPart {
  const signer = signerOf(context, signWith);
  if (signer === undefined) return addressPart(signWith, caip2);
  return { ...named(signer.name), address: shownAddress(signer.address), ...(caip2 !== undefined && { caip2 }) };
}

export function senderOf(context: SentenceContext, signWith: string, caip2?: string): Sender {
  const signer = signerOf(context, signWith);
  return {
    address: shownAddress(signer?.address ?? signWith),
    ...(signer !== undefined && { name: signer.name }),
    ...(signer?.walletId !== undefined && { walletId: signer.walletId }),
    ...(caip2 !== undefined && { caip2 }),
  };
}

/** The name of an address: an own account, a configured token, or a contract whose interface was uploaded. */
export function knownName(context: SentenceContext, address: string, caip2?: string): string | undefined {
  const own = signerOf(context, address);
  if (own !== undefined) return own.name;
  const token = caip2 === undefined ? undefined : configuredToken(context.chains, caip2, address);
  if (token !== undefined) return token.symbol;
  const type = address.startsWith('0x')
    ? 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM'
    : 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA';
  return context.names.get('contractInterface', interfaceKey(type, addressKey(address)))?.label;
}

/** An address by its name, or as it is. */
export function partyPart(context: SentenceContext, address: string, caip2?: string): TextPart {
  const name = knownName(context, address, caip2);
  const shown = addressPart(address, caip2);
  return name === undefined ? shown : { ...shown, ...named(name) };
}

/**
 * Somebody who is paid, with what is known of earlier payments on the same chain; `chain` is a family where the
 * transaction names none.
 */
export function recipientOf(context: SentenceContext, address: string, chain: string): Recipient {
  const name = knownName(context, address, chain);
  const paid = context.names.get('payment', paymentKey(chain, addressKey(address)));
  const paidCount = Math.max(0, (paid?.count ?? 0) - (context.isDone ? 1 : 0));
  const isOwn = signerOf(context, address) !== undefined;
  const isLookAlike = paid?.alike !== undefined && !isOwn && paidCount === 0;
  return {
    address: shownAddress(address),
    ...(name !== undefined && { name }),
    paidCount,
    ...(paidCount > 0 && paid?.sinceMs !== undefined && { paidSinceMs: paid.sinceMs }),
    ...(isLookAlike && { lookAlike: paid.alike }),
    ...(paid === undefined && !isOwn && { isUnread: true }),
  };
}

/** A payment that asks for attention: the words that end the sentence, and the mark. */
interface Caution {
  readonly words: readonly TextPart[];
  readonly mark: Mark;
  readonly consequence: string;
}

/** What is to be said of somebody who is paid; nothing where that was done before, or it is an own account. */
export function cautionOf(context: SentenceContext, recipient: Recipient, chain: string): Caution | undefined {
  const { lookAlike, address, paidCount } = recipient;
  if (lookAlike !== undefined) {
    const other = lookAlike.name === undefined ? addressPart(lookAlike.address) : named(lookAlike.name);
    return {
      words: say`, which looks like ${other} and is another address`,
      mark: { risk: 'DANGER', text: 'looks like an address known here, and is another' },
      consequence: 'This is not the address that it resembles. I have compared every character and want to pay it.',
    };
  }
  if (recipient.isUnread) {
    return {
      words: say`, which was not looked up among the addresses known here`,
      mark: { risk: 'DANGER', text: 'not compared with the addresses known here' },
      consequence:
        'Whether this address was paid before, or only looks like one that was, is not known. I have compared every character.',
    };
  }
  if (paidCount > 0 || signerOf(context, address) !== undefined) return undefined;
  const countedSince = context.names.get('payment', paymentKey(chain, addressKey(address)))?.countedSinceMs;
  const since = countedSince === undefined ? undefined : dateText(countedSince);
  return {
    words: since === undefined ? say`, never paid from here` : say`, not paid from here since ${since}`,
    mark: { risk: 'LOOK_CLOSELY', text: 'first payment to this address' },
    consequence: 'This address has not been paid from here before. I have compared it with a source that I trust.',
  };
}

/** What is to be said of somebody who gets a right and is not paid: only that it may be taken for another. */
export const impostorCaution = (context: SentenceContext, recipient: Recipient, chain: string): Caution | undefined =>
  recipient.lookAlike === undefined && !recipient.isUnread ? undefined : cautionOf(context, recipient, chain);

/** `paid 14 times since March`. */
export function historyText({ paidCount, paidSinceMs, isUnread }: Recipient, nowMs: number): string {
  if (isUnread) return 'not looked up';
  if (paidCount === 0) return 'never paid from here';
  const since = paidSinceMs === undefined ? '' : ` since ${monthText(paidSinceMs, nowMs)}`;
  return `paid ${counted(paidCount, 'time')}${since}`;
}

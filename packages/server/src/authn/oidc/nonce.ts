import { sha256Hex } from '../../lib/encoding.ts';
import { type KeyCurve, spellingsOf } from '../public-key.ts';
import type { IdToken } from './id-token.ts';

/** The hash of the key's hex text exactly as the client sent it, not of the key's bytes (protocol/login 7.3). */
export const nonceOf = (publicKeyHex: string): string => sha256Hex(publicKeyHex);

/** Whether the token was issued for the holder of this key. */
export const isBoundTo = ({ nonce }: Pick<IdToken, 'nonce'>, publicKeyHex: string): boolean =>
  nonce?.toLowerCase() === nonceOf(publicKeyHex);

/** The same where the key may have been spelled otherwise when its holder asked for the token. */
export const isBoundToKey = (token: Pick<IdToken, 'nonce'>, curve: KeyCurve, publicKeyHex: string): boolean =>
  [publicKeyHex, ...spellingsOf(curve, publicKeyHex)].some((spelling) => isBoundTo(token, spelling));

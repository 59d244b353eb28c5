import type { Keyring } from './keyring.ts';
import type { LaunchedKeyring } from './launch.ts';
import type { Log } from './log.ts';
import type { KeyringObserver } from './observer.ts';
import { threadsOf } from './process/start.ts';
import type { Resealed } from './seal/reseal.ts';
import { parseRootKeySetting } from './seal/root-key-setting.ts';
import type { ServedAddress } from './socket/connect.ts';
import type { KeyringLimits } from './transfers/limits.ts';

export { ADDRESS_FORMATS, type AddressFormat, addressOf, caip2Prefix, hasFormat } from './address/index.ts';
export {
  type AddressDerivation,
  type AppProof,
  addressDerivationPayload,
  type PolicyOutcome,
  policyOutcomePayload,
} from './bundle/app-proof.ts';
export { sealForClient } from './bundle/credential-bundle.ts';
export { sealHpkeJson } from './bundle/hpke-json.ts';
export { normalizeOtpCode } from './bundle/otp.ts';
export type { Session, SessionProfile } from './bundle/session-jwt.ts';
export { type VerificationToken, verifyVerificationToken } from './bundle/verification-token.ts';
export type { Curve } from './curve.ts';
export type { MnemonicLanguage } from './derive/languages.ts';
export { parsePath } from './derive/path.ts';
export { KeyringError, type KeyringErrorCode } from './errors.ts';
export * from './keyring.ts';
export type { KeyringLoss, KeyringObserver } from './observer.ts';
export { RECIPIENTS_MAX, recipientFault } from './recovery-kit/recipients.ts';
export type { Binding } from './seal/layout.ts';
export type { Resealed } from './seal/reseal.ts';
export type { Signature } from './sign/signature.ts';
export type { ServedAddress } from './socket/connect.ts';
export { lookAtSocket } from './socket/place.ts';
export type { KeyringLimits, TransferLimits } from './transfers/limits.ts';
export { parseRootKeySetting };

/** A minute has 60 exports of an organization and 600 in all, and any number of imports, unless limits say otherwise. */
export interface KeyringOptions extends KeyringLimits {
  /** `file:PATH` of the key ring, or `passphrase-file:PATH` of a passphrase, whose ring is `PATH.ring`. */
  readonly rootKey: string;
  /** Create the ring when there is none. Without it a missing ring is an error, never a reason for a new key. */
  readonly create?: boolean;
  /** Whether keys live in this process or in one of their own. `inline` when absent. */
  readonly mode?: 'inline' | 'process';
  /** Threads of the keyring process, at most 8. As many as cores when absent. */
  readonly threads?: number;
  /** Set by a service: its keyring process then refuses the calls that change the ring. */
  readonly refusesAdministration?: boolean | undefined;
  /** The keyring to use, where it is a service of its own: it has the root key, which is then not looked at. */
  readonly served?: ServedAddress | undefined;
  /** The process to take over, where one was started ahead. */
  readonly launched?: LaunchedKeyring | undefined;
  /** Told how the keyring process does. */
  readonly observer?: KeyringObserver;
  /** Where a keyring in this process logs exports and imports; to standard error when absent. */
  readonly log?: Log | undefined;
}

/** Opens the key ring. What handles keys is loaded only into the process that holds them. */
export async function createKeyring(options: KeyringOptions): Promise<Keyring> {
  const { rootKey, create = false, mode = 'inline', exportLimits, importLimits, log, ...rest } = options;
  const threads = threadsOf(options.threads);
  if (mode === 'process' || options.served !== undefined) {
    const { ProcessKeyring } = await import('./process/client.ts');
    return ProcessKeyring.start({ ...rest, rootKey, create, exportLimits, importLimits, threads });
  }
  const [{ LocalKeyring }, { Ceilings }] = await Promise.all([
    import('./local-keyring.ts'),
    import('./transfers/ceiling.ts'),
  ]);
  return LocalKeyring.open(rootKey, create, new Ceilings({ exportLimits, importLimits }, { log }));
}

/** Removes copies of the ring that killed commands left beside it. Answers with those that may still be there. */
export async function removeRingLeftovers(rootKey: string): Promise<string[]> {
  const leftovers = await import('./seal/leftovers.ts');
  return leftovers.removeRingLeftovers(rootKey);
}

/**
 * Puts the bytes of a ring where the setting has none; false where there is one. The owner of its folder gets it, such as a
 * keyring with its own user. If root owns that folder, the owner of `folder` gets it.
 */
export async function installRing(rootKey: string, ring: Uint8Array, folder: string): Promise<boolean> {
  const { createPrivateFile, ownedFolder } = await import('./seal/private-file.ts');
  const { ringPath } = parseRootKeySetting(rootKey);
  return createPrivateFile(ringPath, ring, { like: await ownedFolder(ringPath, folder) });
}

/** Writes the keys of one ring into a new one: both are named as in the setting of the root key. */
export async function resealRing(from: string, to: string): Promise<Resealed> {
  const reseal = await import('./seal/reseal.ts');
  return reseal.resealRing(from, to);
}

import type { Keyring } from './keyring.ts';
import type { LaunchedKeyring } from './launch.ts';
import type { KeyringObserver } from './observer.ts';
import { threadsOf } from './process/start.ts';

export { ADDRESS_FORMATS, type AddressFormat, caip2Prefix, hasFormat } from './address/index.ts';
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
export type { Binding } from './seal/layout.ts';
export type { Signature } from './sign/signature.ts';

export interface KeyringOptions {
  /** `file:PATH` of the key ring, or `passphrase-file:PATH` of a passphrase, whose ring is `PATH.ring`. */
  readonly rootKey: string;
  /** Create the ring when there is none. Without it a missing ring is an error, never a reason for a new key. */
  readonly create?: boolean;
  /** Whether keys live in this process or in one of their own. `inline` when absent. */
  readonly mode?: 'inline' | 'process';
  /** Threads of the keyring process, at most 8. As many as cores when absent. */
  readonly threads?: number;
  /** The process to take over, where one was started ahead. */
  readonly launched?: LaunchedKeyring | undefined;
  /** Told how the keyring process does. */
  readonly observer?: KeyringObserver;
}

/** Opens the key ring. What handles keys is loaded only into the process that holds them. */
export async function createKeyring(options: KeyringOptions): Promise<Keyring> {
  const { rootKey, create = false, mode = 'inline', launched, observer } = options;
  const threads = threadsOf(options.threads);
  if (mode === 'process') {
    const { ProcessKeyring } = await import('./process/client.ts');
    return ProcessKeyring.start({ rootKey, create, threads, launched, observer });
  }
  const { LocalKeyring } = await import('./local-keyring.ts');
  return LocalKeyring.open(rootKey, create);
}

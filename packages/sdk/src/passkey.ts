import { CustosError } from './errors.ts';

/** The browser's credentials, or those that the caller brings. */
export function credentialsOf<Part extends Partial<CredentialsContainer>>(given: Part | undefined): Part {
  const found = given ?? (globalThis.navigator as Navigator | undefined)?.credentials;
  if (found === undefined) throw new CustosError('PASSKEY_UNAVAILABLE', 'passkeys need a browser and a secure page');
  return found as Part;
}

/** The user said no, took too long, or the browser refused. */
export function passkeyFailed(message: string, cause?: unknown): CustosError {
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  return new CustosError('PASSKEY_FAILED', `${message}${reason}`, { cause });
}

/** Why passkeys do not work on this page; undefined where they do. */
export function whyNoPasskeys(): { readonly reason: string; readonly elsewhere?: string } | undefined {
  const { hostname, port, protocol, pathname } = location;
  if (/^[\d.]+$|^\[/.test(hostname)) {
    const isLocal = hostname.startsWith('127.') || hostname === '[::1]';
    return {
      reason: 'A passkey belongs to a name, and this page was opened by an IP address.',
      ...(isLocal && { elsewhere: `${protocol}//localhost${port === '' ? '' : `:${port}`}${pathname}` }),
    };
  }
  if (!isSecureContext) return { reason: 'Browsers allow passkeys only over HTTPS, or on localhost.' };
  if (!('credentials' in navigator) || !('PublicKeyCredential' in globalThis)) {
    return { reason: 'This browser has no passkeys.' };
  }
  return undefined;
}

/** What the browser fills in once the passkey is made, for showing the request before. */
const MADE_BY_THE_BROWSER = 'MADE_BY_THE_BROWSER';

/** The request for a passkey that is not made yet. */
export const unmadePasskey = (userId: string, authenticatorName: string) => ({
  userId,
  authenticators: [
    {
      authenticatorName,
      challenge: MADE_BY_THE_BROWSER,
      attestation: {
        credentialId: MADE_BY_THE_BROWSER,
        clientDataJson: MADE_BY_THE_BROWSER,
        attestationObject: MADE_BY_THE_BROWSER,
        transports: [],
      },
    },
  ],
});
